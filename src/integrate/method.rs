//! The integration methods.

use super::{bogacki_shampine, dop853, dopri5, rk4, rosenbrock};

/// Integration method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Dormand and Prince's pair of order 5(4): the default for moderate accuracy (1e-3 … 1e-8).
    Dopri5,
    /// Bogacki and Shampine's pair of order 3(2), three evaluations a step: for steps so short that
    /// accuracy does not limit them.
    BogackiShampine,
    /// Dormand and Prince's method of order 8 with estimators of order 5 and 3: for smooth problems
    /// and high accuracy (1e-7 … 1e-13).
    Dop853,
    /// The classical Runge-Kutta method of order 4 with a fixed step: the computing time is
    /// predictable.
    ///
    /// No error is estimated and the tolerances are not used. The interval to the limit of
    /// [`Stepper::step`](super::Stepper::step) is divided into equal steps of at most `step`; a
    /// `step` that divides the communication step is used unchanged.
    Rk4 {
        /// Maximum step, in units of `t`.
        step: f64,
    },
    /// Hairer and Wanner's RADAU5, the Radau IIA method of order 5: implicit, for stiff equations.
    ///
    /// Its error estimate is of order 3. As in their code, it is compared with `0.1 rel^(2/3)` in
    /// place of the relative tolerance `rel`; absolute tolerances are scaled by the same factor.
    /// The global error is then proportional to `rel`, as with the other methods.
    Radau5,
    /// The implicit midpoint rule, of order 2, with a fixed step: A-stable, symplectic, conserves
    /// quadratic invariants to round-off. It does not damp stiff components.
    ///
    /// Step lengths as for [`Method::Rk4`]. The work of a step is bounded: at most 20 Newton
    /// corrections with an old Jacobian and 20 with a new one; without convergence the step fails.
    ImplicitMidpoint {
        /// Maximum step, in units of `t`.
        step: f64,
    },
    /// The implicit midpoint rule, of order 2, with a fixed step; two corrections, each of one
    /// evaluation, replace the exact solution of its equations. The equations must provide the
    /// stiff part of their Jacobian in [`Ode::correct`](super::Ode::correct): linear equations with
    /// their exact Jacobian are integrated A-stably and without damping. Stiff terms that the
    /// correction does not contain are damped or unstable.
    ///
    /// Step lengths as for [`Method::Rk4`]; the work is equal in all steps except the first, which
    /// has three corrections.
    LinearlyImplicit {
        /// Maximum step, in units of `t`.
        step: f64,
    },
    /// A Rosenbrock-W method of order 3 with an error estimate of order 2: five evaluations a step,
    /// in short ones four, no Newton iteration. The equations must provide the stiff part of their
    /// Jacobian in [`Ode::stage`](super::Ode::stage); stiff terms that it does not contain limit
    /// the step, as in an explicit method.
    Rosenbrock,
    /// The step that the equations define ([`OwnStep`](super::OwnStep)), which conserves their
    /// invariants: of order 2, with a fixed step as for [`Method::Rk4`].
    Conserving {
        /// Maximum step, in units of `t`.
        step: f64,
        /// Number of midpoint rates, the unknowns of the step.
        rates: usize,
    },
    /// Selects [`Method::Dopri5`], [`Method::Rosenbrock`] or [`Method::Radau5`] during the run, by
    /// trials of the methods and their counted cost per time integrated; limited steps that would be
    /// too accurate with [`Method::Dopri5`] are taken with [`Method::BogackiShampine`].
    Auto(Alternatives),
}

/// Methods that [`Method::Auto`] may select besides [`Method::Dopri5`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alternatives {
    /// [`Method::Rosenbrock`]; only for equations that provide [`Ode::stage`](super::Ode::stage).
    pub rosenbrock: bool,
    /// True for equations with fast vibrations. The run then begins with [`Method::Rosenbrock`], and
    /// DOPRI5 takes stable steps only: at its limit of stability it excites vibrations above the
    /// tolerance, which the other methods would then have to resolve.
    pub vibrates: bool,
    /// [`Method::Radau5`]; its memory and workspace grow with the square of the number of states.
    pub radau5: bool,
}

impl Method {
    /// Returns the name used in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Method::Dopri5 => "dopri5",
            Method::BogackiShampine => "bogacki_shampine",
            Method::Dop853 => "dop853",
            Method::Rk4 { .. } => "rk4",
            Method::Radau5 => "radau5",
            Method::ImplicitMidpoint { .. } => "implicit_midpoint",
            Method::LinearlyImplicit { .. } => "linearly_implicit",
            Method::Rosenbrock => "rosenbrock",
            Method::Conserving { .. } => "conserving",
            Method::Auto(_) => "auto",
        }
    }

    /// Returns the order `p` of the solution at the end of a step, with [`Method::Auto`] the lowest
    /// one: the local error is O(hᵖ⁺¹).
    pub fn order(&self) -> u32 {
        match self {
            Method::Dopri5 => dopri5::TABLEAU.order,
            Method::BogackiShampine => bogacki_shampine::TABLEAU.order,
            Method::Dop853 => dop853::TABLEAU.order,
            Method::Rk4 { .. } => rk4::TABLEAU.order,
            Method::Radau5 => 5,
            Method::Rosenbrock => rosenbrock::ORDER,
            Method::Auto(_) => bogacki_shampine::TABLEAU.order,
            Method::ImplicitMidpoint { .. } | Method::LinearlyImplicit { .. } | Method::Conserving { .. } => 2,
        }
    }

    /// Returns the order `q` of the dense output: its error in a step with exact initial state is
    /// O(hᵠ⁺¹).
    pub fn dense_order(&self) -> u32 {
        match self {
            Method::Dopri5 => dopri5::TABLEAU.dense_order,
            Method::BogackiShampine => bogacki_shampine::TABLEAU.dense_order,
            Method::Dop853 => dop853::TABLEAU.dense_order,
            Method::Rk4 { .. } => rk4::TABLEAU.dense_order,
            Method::Radau5 => 3,
            Method::Rosenbrock => rosenbrock::DENSE_ORDER,
            Method::Auto(with) if with.rosenbrock => rosenbrock::DENSE_ORDER,
            Method::Auto(_) => 3,
            Method::ImplicitMidpoint { .. } | Method::LinearlyImplicit { .. } | Method::Conserving { .. } => 2,
        }
    }

    /// Returns true if the method evaluates the Jacobian of the derivative
    /// ([`Ode::jacobian`](super::Ode::jacobian)).
    pub fn needs_jacobian(&self) -> bool {
        match self {
            Method::Radau5 | Method::ImplicitMidpoint { .. } => true,
            Method::Auto(with) => with.radau5,
            Method::Dopri5
            | Method::BogackiShampine
            | Method::Dop853
            | Method::Rk4 { .. }
            | Method::Rosenbrock
            | Method::LinearlyImplicit { .. }
            | Method::Conserving { .. } => false,
        }
    }

    /// Returns true if a step with an event inside must be repeated as a shorter step that ends at
    /// the event. The state is not interpolated at the event, because interpolation in a long step
    /// would add energy to vibrations with shorter periods.
    pub fn steps_to_events(&self) -> bool {
        match self {
            Method::ImplicitMidpoint { .. } | Method::LinearlyImplicit { .. } | Method::Conserving { .. } => true,
            Method::Dopri5
            | Method::BogackiShampine
            | Method::Dop853
            | Method::Rk4 { .. }
            | Method::Radau5
            | Method::Rosenbrock
            | Method::Auto(_) => false,
        }
    }

    /// Returns the maximum length of the fixed steps; `None` for an adaptive method.
    pub fn fixed_step(&self) -> Option<f64> {
        match self {
            Method::Rk4 { step }
            | Method::ImplicitMidpoint { step }
            | Method::LinearlyImplicit { step }
            | Method::Conserving { step, .. } => Some(*step),
            Method::Dopri5
            | Method::BogackiShampine
            | Method::Dop853
            | Method::Radau5
            | Method::Rosenbrock
            | Method::Auto(_) => None,
        }
    }
}
