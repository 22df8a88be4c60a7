use super::Orbit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Gravity, or the reference orbit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// Uniform gravity, m/s², world axes. Not with `orbit`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gravity: Option<[f64; 3]>,
    /// Reference orbit, with the gravity of its central body. Default: none, free space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orbit: Option<Orbit>,
}

/// Outputs of the FMU in addition to those of joints, free bodies, frames and measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// Position, attitude, velocity and angular velocity of every body that is a joint's child.
    /// Default: yes.
    pub bodies: bool,
    /// Run diagnostics `system.…`: momentum, mass centre, energies, and the work of actuators and
    /// friction. Default: yes.
    pub diagnostics: bool,
    /// Reaction force and moment of each joint. Default: no.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reactions: bool,
    /// Condition number of the saddle-point matrix, `system.condition`, in formulations that have
    /// one (all but `recursive`). It costs far more than all other outputs, and has no derivative
    /// at states with equal eigenvalues at an end of the spectrum. Default: no.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub condition: bool,
}

impl Default for Output {
    fn default() -> Self {
        Self {
            bodies: true,
            diagnostics: true,
            reactions: false,
            condition: false,
        }
    }
}

/// Run of `grapple simulate`, and default experiment of the FMU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Experiment {
    /// End of the run, s, positive. Default 10.
    pub stop_time: f64,
    /// Communication step and interval of the results, s, positive. Default 0.01.
    pub step: f64,
    /// Relative tolerance of the integration, positive; the absolute tolerance of a state is its
    /// product with the state's nominal value. In Co-Simulation that value is 1 m·√kg/s for the rate
    /// of a mode, and for its amplitude the rate's value divided by the angular frequency, at most
    /// 0.2 m·√kg. Default 1e-4.
    pub tolerance: f64,
    /// Highest frequency of interest, Hz, positive: `grapple check` warns of beams that leave out
    /// modes below it, and of modal data whose modes end below it. Default: none, no warning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<f64>,
}

impl Default for Experiment {
    fn default() -> Self {
        Self {
            stop_time: 10.0,
            step: 0.01,
            tolerance: 1e-4,
            bandwidth: None,
        }
    }
}

/// Integration method of Co-Simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Solver {
    /// Integration method. Default `auto`. `radau5` and `implicit_midpoint` solve for all states at
    /// once, at most 2000.
    pub method: Method,
    /// Step, s, positive: the fixed step of `rk4`, `implicit_midpoint`, `linearly_implicit` and
    /// `conserving` (required), or the longest step of the adaptive methods (without it unlimited).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// Largest number of evaluations of the dynamics in one communication step, at least 1; beyond
    /// it `fmi2DoStep` returns `fmi2Discard` with the time reached. Default: as many as take about
    /// two seconds, from 50 000 (large models) to 1 000 000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_limit: Option<f64>,
}

impl Default for Solver {
    fn default() -> Self {
        Self {
            method: Method::Auto,
            step: None,
            work_limit: None,
        }
    }
}

/// Integration method of Co-Simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Explicit Runge–Kutta method of Dormand and Prince, order 5(4), adaptive.
    Dopri5,
    /// Explicit Runge–Kutta method of Bogacki and Shampine, order 3(2), adaptive, with three
    /// evaluations of the dynamics in a step (`dopri5`: six): for communication steps so short that
    /// accuracy does not limit the step.
    BogackiShampine,
    /// Explicit Runge–Kutta method of Dormand and Prince, order 8(5,3), adaptive: fewer steps at
    /// tolerances below about 1e-9.
    Dop853,
    /// Classical Runge–Kutta method, order 4, with the fixed step `step`.
    Rk4,
    /// Hairer and Wanner's RADAU5, implicit, order 5, adaptive: for stiff systems whose fastest
    /// motions decay and are of no interest.
    Radau5,
    /// Implicit midpoint rule, order 2, with the fixed step `step`: stable with steps longer than
    /// the period of the fastest vibration, without numerical damping.
    ImplicitMidpoint,
    /// Linearly implicit midpoint rule, order 2, with the fixed step `step` and two evaluations of
    /// the dynamics in a step. Stiffness and damping of modes and joints are implicit: stable with
    /// steps longer than the vibrations of flexible bodies, without numerical damping. Contacts,
    /// grasps and attitude servos are explicit. It requires `formulation = "recursive"`.
    LinearlyImplicit,
    /// Rosenbrock-W method of order 3(2), adaptive, with four evaluations of the dynamics in a step
    /// and no matrix of all states. Stiffness and damping of modes and joints are implicit, as in
    /// `linearly_implicit`: for flexible spacecraft with sampled inputs. Vibrations below the
    /// tolerance are not resolved. It requires `formulation = "recursive"`.
    Rosenbrock,
    /// Midpoint rule in natural coordinates, order 2, with the fixed step `step`. Momentum, joint
    /// constraints and energy are conserved at any step size (the energy of rotors and of rotated
    /// grasps to the order of the step), without numerical damping. It requires `formulation =
    /// "natural"`.
    Conserving,
    /// Automatic choice between `dopri5`, `rosenbrock` and `radau5`, during the run: the methods are
    /// tried from time to time, and the one of the least cost is used. Each change is logged.
    /// `bogacki_shampine` takes the steps of `dopri5` that a communication point, sample or event
    /// makes short, if its error estimate is at most a hundredth of the tolerance.
    /// Spacecraft with ANCF or geometrically exact beams use `radau5` (up to 2000 states). `rosenbrock` is tried
    /// with `formulation = "recursive"` and tolerances from 1e-7, `radau5` with up to 500 states.
    Auto,
}

impl Method {
    /// Returns the name in a spec.
    pub fn name(self) -> &'static str {
        match self {
            Method::Dopri5 => "dopri5",
            Method::BogackiShampine => "bogacki_shampine",
            Method::Dop853 => "dop853",
            Method::Rk4 => "rk4",
            Method::Radau5 => "radau5",
            Method::ImplicitMidpoint => "implicit_midpoint",
            Method::LinearlyImplicit => "linearly_implicit",
            Method::Rosenbrock => "rosenbrock",
            Method::Conserving => "conserving",
            Method::Auto => "auto",
        }
    }

    /// Returns true if the method factors matrices of all states.
    pub fn is_dense(self) -> bool {
        matches!(self, Method::Radau5 | Method::ImplicitMidpoint)
    }

    /// Returns true if the step is fixed, and required in the spec.
    pub fn has_fixed_step(self) -> bool {
        matches!(
            self,
            Method::Rk4 | Method::ImplicitMidpoint | Method::LinearlyImplicit | Method::Conserving
        )
    }

    /// Returns the least number of evaluations of the dynamics in a step.
    pub fn least_evaluations(self) -> u32 {
        match self {
            Method::Rk4 => 4,
            Method::LinearlyImplicit => 2,
            _ => 1,
        }
    }
}
