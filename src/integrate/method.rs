//! The closed list of methods.

use super::{dop853, dopri5, rk4};

/// How a step is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Dormand and Prince's pair of order 5(4): the default for moderate accuracy (1e-3 … 1e-8).
    Dopri5,
    /// Dormand and Prince's method of order 8 with estimators of order 5 and 3: for smooth problems and
    /// high accuracy (1e-7 … 1e-13).
    Dop853,
    /// The classical method of order 4 with a fixed step: the work per second is known beforehand.
    ///
    /// No error is estimated and the tolerances are not read. The way to the limit is divided into equal
    /// steps no longer than `step`, so a `step` that divides the communication interval is taken as it is.
    Rk4 {
        /// The longest step, in units of `t`.
        step: f64,
    },
    /// Hairer and Wanner's RADAU5, the Radau IIA method of order 5: implicit, for stiff equations.
    ///
    /// Its error estimate is of order 3. As in their code it is compared not with the tolerance `rel` but with
    /// `0.1 rel^(2/3)`, each state's absolute tolerance in proportion: then the errors at the end of a run follow `rel` as those of
    /// the other methods do.
    Radau5,
    /// The implicit midpoint rule, of order 2, with a fixed step: stable for whatever is stable, symplectic, and it keeps
    /// quadratic invariants to round-off. It does not damp what is stiff.
    ///
    /// Steps as with [`Method::Rk4`]. The work of one step has a bound, of 20 corrections with a Jacobian at hand and 20 with a
    /// new one; equations not solved by then are an error.
    ImplicitMidpoint {
        /// The longest step, in units of `t`.
        step: f64,
    },
    /// The implicit midpoint rule, of order 2 and with a fixed step, of which two corrections are made instead of a solution: two evaluations for each step.
    /// What is stiff has to be known by the equations ([`Ode::correct`](super::Ode::correct)): of linear equations that they know, whatever is
    /// stable is so, and nothing is damped. What a stiffness does that they do not know depends on how they correct.
    ///
    /// Steps as with [`Method::Rk4`]; the work of a step is the same in every step but the first, of three corrections.
    LinearlyImplicit {
        /// The longest step, in units of `t`.
        step: f64,
    },
    /// The equations' [own step](super::OwnStep), which knows what they conserve: of order 2, with a fixed step as with [`Method::Rk4`].
    Conserving {
        /// The longest step, in units of `t`.
        step: f64,
        /// How many mean rates it solves for.
        rates: usize,
    },
    /// [`Method::Dopri5`] where the equations are not stiff, [`Method::Radau5`] where they are.
    ///
    /// What changes the method are steps limited by stability, of eigenvalues that are damped: a fast vibration
    /// almost without damping is followed by DOPRI5.
    Auto,
}

impl Method {
    /// The name used in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Method::Dopri5 => "dopri5",
            Method::Dop853 => "dop853",
            Method::Rk4 { .. } => "rk4",
            Method::Radau5 => "radau5",
            Method::ImplicitMidpoint { .. } => "implicit_midpoint",
            Method::LinearlyImplicit { .. } => "linearly_implicit",
            Method::Conserving { .. } => "conserving",
            Method::Auto => "auto",
        }
    }

    /// Order `p` of the solution at the end of a step: the error of one step is O(hᵖ⁺¹).
    pub fn order(&self) -> u32 {
        match self {
            Method::Dopri5 | Method::Auto => dopri5::TABLEAU.order,
            Method::Dop853 => dop853::TABLEAU.order,
            Method::Rk4 { .. } => rk4::TABLEAU.order,
            Method::Radau5 => 5,
            Method::ImplicitMidpoint { .. } | Method::LinearlyImplicit { .. } | Method::Conserving { .. } => 2,
        }
    }

    /// Order `q` of the dense output: its error inside a step that starts exactly is O(hᵠ⁺¹).
    pub fn dense_order(&self) -> u32 {
        match self {
            Method::Dopri5 => dopri5::TABLEAU.dense_order,
            Method::Dop853 => dop853::TABLEAU.dense_order,
            Method::Rk4 { .. } => rk4::TABLEAU.dense_order,
            Method::Radau5 | Method::Auto => 3,
            Method::ImplicitMidpoint { .. } | Method::LinearlyImplicit { .. } | Method::Conserving { .. } => 2,
        }
    }

    /// Whether it ever asks for the Jacobian of the derivative ([`Ode::jacobian`](super::Ode::jacobian)).
    pub fn asks_for_jacobian(&self) -> bool {
        match self {
            Method::Radau5 | Method::ImplicitMidpoint { .. } | Method::Auto => true,
            Method::Dopri5
            | Method::Dop853
            | Method::Rk4 { .. }
            | Method::LinearlyImplicit { .. }
            | Method::Conserving { .. } => false,
        }
    }

    /// Whether an event inside a step asks for a shorter step to it. What these methods keep of vibrations that are faster than their steps,
    /// an interpolation between a long step's ends has not: it would add to their energy.
    pub fn steps_to_events(&self) -> bool {
        match self {
            Method::ImplicitMidpoint { .. } | Method::LinearlyImplicit { .. } | Method::Conserving { .. } => true,
            Method::Dopri5 | Method::Dop853 | Method::Rk4 { .. } | Method::Radau5 | Method::Auto => false,
        }
    }

    /// The fixed step, or `None` for an adaptive method.
    pub fn fixed_step(&self) -> Option<f64> {
        match self {
            Method::Rk4 { step }
            | Method::ImplicitMidpoint { step }
            | Method::LinearlyImplicit { step }
            | Method::Conserving { step, .. } => Some(*step),
            Method::Dopri5 | Method::Dop853 | Method::Radau5 | Method::Auto => None,
        }
    }
}
