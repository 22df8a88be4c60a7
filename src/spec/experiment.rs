use super::Orbit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What surrounds the craft.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// Uniform gravity, m/s², world axes. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gravity: Option<[f64; 3]>,
    /// The orbit near which the craft are, with the gravity there. Default: none, free space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orbit: Option<Orbit>,
}

/// Which outputs the FMU offers beside joints, free bodies, frames and measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// Pose and twist of every body that a joint carries. Default: yes.
    pub bodies: bool,
    /// Momentum, mass centre, energies and the work of actuators and friction of the whole system. Default: yes.
    pub diagnostics: bool,
    /// The wrench that each joint transmits. Default: no.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reactions: bool,
    /// Condition number of the saddle-point matrix, of a formulation that has one. It costs far more than the rest, and has no derivative where eigenvalues at the end of the
    /// spectrum are equal. Default: no.
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

/// The run that `grapple simulate` makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Experiment {
    /// When it ends, s. Default 10.
    pub stop_time: f64,
    /// Communication step and spacing of the results, s. Default 0.01.
    pub step: f64,
    /// Relative tolerance of the integration; a variable's absolute tolerance is this times its nominal. Default 1e-8.
    pub tolerance: f64,
    /// Highest frequency that matters, Hz: a warning tells of beams that leave out modes below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<f64>,
}

impl Default for Experiment {
    fn default() -> Self {
        Self {
            stop_time: 10.0,
            step: 0.01,
            tolerance: 1e-8,
            bandwidth: None,
        }
    }
}

/// The Co-Simulation solver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Solver {
    /// The method. Default `dopri5`. `radau5`, `auto` and `implicit_midpoint` solve for all states at once, and take at most 2000 of them.
    pub method: Method,
    /// Sub-step of `rk4`, `implicit_midpoint`, `linearly_implicit` and `conserving`, s; the longest step of the adaptive methods, if given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// Most evaluations of the dynamics within one communication step; past it the step is
    /// discarded at the time reached. Default: as many as take about two seconds, from 50 000 (large models) to 1 000 000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_limit: Option<f64>,
}

impl Default for Solver {
    fn default() -> Self {
        Self {
            method: Method::Dopri5,
            step: None,
            work_limit: None,
        }
    }
}

/// Integration methods of Co-Simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Dormand and Prince, order 5(4), adaptive.
    Dopri5,
    /// Dormand and Prince, order 8(5,3), adaptive: fewer steps at tolerances below about 1e-9.
    Dop853,
    /// The classical Runge–Kutta method, order 4, with the fixed sub-step `step`.
    Rk4,
    /// Hairer and Wanner's RADAU5, order 5, adaptive, implicit: for stiff craft, whose fastest motions are damped before they matter.
    Radau5,
    /// The implicit midpoint rule, order 2, with the fixed sub-step `step`: stable with steps longer than the fastest
    /// vibration, which it does not damp.
    ImplicitMidpoint,
    /// A midpoint rule that takes the stiffness and damping of modes and joints implicitly and makes two evaluations a step, order 2, with the
    /// fixed sub-step `step`: stable with steps longer than the vibrations of flexible bodies, which it does not damp. What contacts,
    /// grasps and attitude servos do is taken explicitly. It asks for `formulation = "recursive"`.
    LinearlyImplicit,
    /// The midpoint rule in natural coordinates, order 2, with the fixed sub-step `step`: it keeps energy (a rotor's and a turned grasp's to the order of the step), momentum and
    /// every joint whatever the step, and damps nothing. It asks for `formulation = "natural"`.
    Conserving,
    /// `dopri5` where the craft is not stiff, `radau5` where it is; the log tells of each change.
    Auto,
}

impl Method {
    /// The method's name in a spec.
    pub fn name(self) -> &'static str {
        match self {
            Method::Dopri5 => "dopri5",
            Method::Dop853 => "dop853",
            Method::Rk4 => "rk4",
            Method::Radau5 => "radau5",
            Method::ImplicitMidpoint => "implicit_midpoint",
            Method::LinearlyImplicit => "linearly_implicit",
            Method::Conserving => "conserving",
            Method::Auto => "auto",
        }
    }

    /// Whether it solves for all states at once, by matrices as large as their number squared.
    pub fn is_dense(self) -> bool {
        matches!(self, Method::Radau5 | Method::Auto | Method::ImplicitMidpoint)
    }

    /// Whether its step is fixed, and has to be given.
    pub fn has_fixed_step(self) -> bool {
        matches!(
            self,
            Method::Rk4 | Method::ImplicitMidpoint | Method::LinearlyImplicit | Method::Conserving
        )
    }
}
