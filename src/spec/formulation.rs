use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Coordinates and equations of motion. All formulations have the same parameters, inputs and
/// outputs; the states differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Formulation {
    /// Coordinates of joints and modes, by the articulated-body recursion: the fastest, without
    /// joint constraints that could be violated.
    #[default]
    Recursive,
    /// Maximal coordinates with quaternions, 13 states for each body and two for each mode; joints
    /// as constraints with multipliers (Kłak and Jarzębowska 2020).
    Quaternion,
    /// Coordinates of joints and the dual velocity of every body, with the wrenches of all joints
    /// as unknowns (Valverde and Tsiotras 2018). For rigid bodies.
    DualQuaternion,
    /// Maximal coordinates with directors (natural coordinates): position of the origin and three
    /// axes of every body; joints as constraints with multipliers (in the plane Yang et al. 2023).
    Natural,
}

/// Capability that not all formulations have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Modal beams and bodies with modal data.
    Flexible,
    /// Constraints that may be violated: Baumgarte's gains, outputs of the constraint violation,
    /// the condition number.
    Constraints,
    /// Constraints on position level, not on velocity level alone: the gain β.
    Gaps,
    /// Options of `[quaternion]`: momentum rows, and the coupling of the modes.
    QuaternionOptions,
    /// Linearisation, in tangent coordinates.
    Linearisation,
    /// ANCF beams.
    AncfBeams,
    /// Conserving step of Co-Simulation.
    ConservingStep,
    /// Linearly implicit methods of Co-Simulation, which need inertia added on single rates to
    /// treat stiffness and damping implicitly.
    LinearlyImplicit,
    /// Masses of bodies that are states: propellant that thrusters draw from tanks.
    ChangingMass,
}

impl Capability {
    /// All capabilities.
    pub const ALL: [Self; 9] = [
        Self::Flexible,
        Self::Constraints,
        Self::Gaps,
        Self::QuaternionOptions,
        Self::Linearisation,
        Self::AncfBeams,
        Self::ConservingStep,
        Self::LinearlyImplicit,
        Self::ChangingMass,
    ];
}

impl Formulation {
    /// All formulations.
    pub const ALL: [Self; 4] = [Self::Recursive, Self::Quaternion, Self::DualQuaternion, Self::Natural];

    /// Returns the name in a spec.
    pub fn name(self) -> &'static str {
        match self {
            Self::Recursive => "recursive",
            Self::Quaternion => "quaternion",
            Self::DualQuaternion => "dual_quaternion",
            Self::Natural => "natural",
        }
    }

    /// Returns true if the formulation has `capability`.
    pub fn has(self, capability: Capability) -> bool {
        use Capability::{
            AncfBeams, ChangingMass, ConservingStep, Constraints, Flexible, Gaps, Linearisation, LinearlyImplicit,
            QuaternionOptions,
        };
        match capability {
            Flexible | AncfBeams => self != Self::DualQuaternion,
            Linearisation => matches!(self, Self::Recursive | Self::Quaternion),
            LinearlyImplicit | ChangingMass => self == Self::Recursive,
            Constraints => self != Self::Recursive,
            Gaps => matches!(self, Self::Quaternion | Self::Natural),
            QuaternionOptions => self == Self::Quaternion,
            ConservingStep => self == Self::Natural,
        }
    }

    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Baumgarte stabilisation of the joints' constraints, by which a constraint violation φ decays:
/// `φ̈ + 2 α φ̇ + β² φ = 0`. For formulations whose joints are constraints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Constraints {
    /// Gain `α`, 1/s, not negative. Default 10.
    pub alpha: f64,
    /// Gain `β`, 1/s, not negative. Not for `dual_quaternion`, which has constraints on velocities
    /// only. Default 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
}

impl Constraints {
    /// Returns the gain `β`, 1/s; 10 if it is not written.
    pub fn beta(&self) -> f64 {
        self.beta.unwrap_or(10.0)
    }
}

impl Default for Constraints {
    fn default() -> Self {
        Self {
            alpha: 10.0,
            beta: None,
        }
    }
}

/// Options of the formulation `quaternion`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QuaternionOptions {
    /// Momentum balance of each free-floating spacecraft as six additional constraint rows (Kłak
    /// and Jarzębowska's (7) and (8), with the modes' part and with external loads). The rows
    /// follow from the other equations. Default: no.
    pub momentum_rows: bool,
    /// Coupling of the deflection and the motion of flexible bodies. Default `full`.
    pub coupling: Coupling,
    /// Point of each body whose position and velocity are states. Default `origin`.
    pub point: StatePoint,
}

impl QuaternionOptions {
    /// Returns true if there are momentum rows.
    pub fn has_momentum_rows(&self) -> bool {
        self.momentum_rows || self.coupling == Coupling::PaperLiteral
    }
}

/// Point of a body whose position and velocity are states of the formulation `quaternion`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatePoint {
    /// The body's origin: the states are `<body>.r[1..3]` and `<body>.v[1..3]`.
    #[default]
    Origin,
    /// The mass centre of the deformed body, as in Kłak and Jarzębowska: the states are
    /// `<body>.r_cm[1..3]` and `<body>.v_cm[1..3]`. Linear momentum is then a linear function of
    /// the states, which Runge–Kutta methods conserve to round-off. It needs the coupling `full`.
    MassCentre,
}

/// Coupling of the deflection and the motion of a flexible body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Coupling {
    /// Complete kinetic energy: momentum and energy are conserved.
    #[default]
    Full,
    /// Kłak and Jarzębowska's (13)–(16): coupling by accelerations only, with the matrices of the
    /// undeformed body. Terms of first order in the deflection that contain rates are left out, so
    /// momentum is not conserved; in the paper's example the error is six times the whole effect of
    /// the deflection. It needs `stiffening = false` of each beam.
    Linear,
    /// The paper's (17) as printed, only to reproduce its results: as `linear`, with momentum rows
    /// that omit the modes and that fictitious forces enforce.
    PaperLiteral,
}
