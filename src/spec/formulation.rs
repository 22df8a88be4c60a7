use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the equations of motion are written. Parameters, inputs and outputs are the same in all; states are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Formulation {
    /// Coordinates of joints and modes, by recursion over the tree: the fastest, without constraints that could drift.
    #[default]
    Recursive,
    /// Thirteen states for each body, joints as constraints with multipliers (Kłak and Jarzębowska 2020).
    Quaternion,
    /// Coordinates of joints, and of every rigid body its dual velocity, with the wrenches of all joints as unknowns (Valverde and Tsiotras 2018).
    DualQuaternion,
    /// Of every body the place of its origin and its three axes (natural coordinates), joints as constraints with multipliers (Yang et al. 2023, there in the plane).
    Natural,
}

/// What a formulation may be asked for and not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Beams and bodies with modal data.
    Flexible,
    /// Constraints between bodies that may drift: Baumgarte's gains, outputs that tell the drift, the condition number.
    Constraints,
    /// Constraints between the places of bodies, and not between their velocities alone: a gain for gaps.
    Gaps,
    /// Rows for the balance of momentum, couplings of the modes.
    QuaternionOptions,
    /// Linearisation in tangent coordinates.
    Linearisation,
    /// Beams in absolute nodal coordinates.
    AncfBeams,
    /// The conserving step for Co-Simulation.
    ConservingStep,
    /// Added inertia on single rates, by which the linearly implicit step takes stiffness and damping implicitly.
    LinearlyImplicit,
}

impl Capability {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Flexible,
        Self::Constraints,
        Self::Gaps,
        Self::QuaternionOptions,
        Self::Linearisation,
        Self::AncfBeams,
        Self::ConservingStep,
        Self::LinearlyImplicit,
    ];
}

impl Formulation {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Recursive, Self::Quaternion, Self::DualQuaternion, Self::Natural];

    /// The name in a spec.
    pub fn name(self) -> &'static str {
        match self {
            Self::Recursive => "recursive",
            Self::Quaternion => "quaternion",
            Self::DualQuaternion => "dual_quaternion",
            Self::Natural => "natural",
        }
    }

    /// Whether it has what it is asked for. All else every formulation has.
    pub fn has(self, capability: Capability) -> bool {
        use Capability::{
            AncfBeams, ConservingStep, Constraints, Flexible, Gaps, Linearisation, LinearlyImplicit, QuaternionOptions,
        };
        match capability {
            Flexible | AncfBeams => self != Self::DualQuaternion,
            Linearisation => matches!(self, Self::Recursive | Self::Quaternion),
            LinearlyImplicit => self == Self::Recursive,
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

/// How constraints that have drifted apart are brought together: `φ̈ + 2 α φ̇ + β² φ = 0` (Baumgarte). For formulations whose joints are
/// constraints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Constraints {
    /// `α`, 1/s. Default 10.
    pub alpha: f64,
    /// `β`, 1/s. Default 10. `dual_quaternion`, whose bodies cannot come apart, does not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
}

impl Constraints {
    /// `β`, 1/s.
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
    /// Whether the balance of momentum of each free-floating craft is among the constraints, six rows more (Kłak and Jarzębowska's (7) and (8), with
    /// the modes' part and with the loads from outside). Default: no, since it follows from the other equations.
    pub momentum_rows: bool,
    /// How bending and motion are coupled. Default `full`.
    pub coupling: Coupling,
}

impl QuaternionOptions {
    /// Whether there are momentum rows.
    pub fn has_momentum_rows(&self) -> bool {
        self.momentum_rows || self.coupling == Coupling::PaperLiteral
    }
}

/// How the bending of a flexible body and its motion are coupled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Coupling {
    /// By the whole kinetic energy: momentum and energy are kept.
    #[default]
    Full,
    /// Kłak and Jarzębowska's (13)–(16): by the accelerations alone, with the matrices of the body at rest. It leaves out what is of first order in
    /// the deflection with the rates, and momentum with it: on their own craft that is six times the deflection's whole effect.
    Linear,
    /// Their (17) to the letter, for reproducing the paper and nothing else: as `linear`, with momentum rows that know nothing of the modes and are held
    /// by forces from nowhere.
    PaperLiteral,
}
