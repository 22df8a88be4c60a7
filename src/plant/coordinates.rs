use super::parts::Parts;
use crate::algebra::{Quaternion, Scalar};
use crate::spec::{Capability, Formulation, JointType, Spec, at};
use crate::system::{
    Attitude, Baumgarte, Body, Bound, Declarations, JointState, Kinematics, Maximal, MaximalState, Mechanism, Modes,
    PER_BODY, ParamId, Quantity, Recovered, System, Unit,
};

/// Choice of the coordinates that are the states: positions first, then rates. There are as many of
/// each, except that an attitude has more numbers than rates.
#[derive(Clone, Debug)]
pub(super) enum Coordinates {
    /// Coordinates of joints and modes, as in the [`System`] (`recursive`).
    Minimal,
    /// Positions and velocities of all bodies (`quaternion`, `natural`).
    Maximal(Constrained),
    /// Coordinates of joints and velocities of all bodies (`dual_quaternion`), with the parameter
    /// of Baumgarte's α.
    Velocities(ParamId),
}

/// Maximal coordinates with the stabilisation of the joints' constraints.
#[derive(Clone, Debug)]
pub(super) struct Constrained {
    pub layout: Maximal,
    alpha: ParamId,
    beta: ParamId,
}

impl Coordinates {
    /// Returns the coordinates of the spec's formulation and declares their parameters.
    pub fn compile(spec: &Spec, system: &System, declare: &mut Declarations) -> Self {
        if spec.formulation == Formulation::Recursive {
            return Self::Minimal;
        }
        let written = spec.constraints.clone().unwrap_or_default();
        let mut gain = |name: &str, value: f64, what: &str| {
            let quantity = Quantity {
                nominal: 10.0,
                ..Quantity::new(format!("constraints.{name}"), Unit::PerSecond, what)
            };
            let quantity = quantity.bounded(Bound::NotNegative);
            declare.parameter(quantity, value, true, &at("constraints", "", name))
        };
        let alpha = gain(
            "alpha",
            written.alpha,
            "Baumgarte gain alpha of the joints (velocity-level constraint violation)",
        );
        if !spec.formulation.has(Capability::Gaps) {
            return Self::Velocities(alpha);
        }
        let attitude = match spec.formulation {
            Formulation::Natural => Attitude::Directors,
            _ => Attitude::Quaternion,
        };
        Self::Maximal(Constrained {
            layout: Maximal::new(system, attitude).of_points(spec.state_point()),
            alpha,
            beta: gain(
                "beta",
                written.beta(),
                "Baumgarte gain beta of the joints (position-level constraint violation)",
            ),
        })
    }

    /// Returns the gains of the constraints' stabilisation.
    pub fn baumgarte<S: Scalar>(&self, parameters: &[S::Constant]) -> Baumgarte {
        match self {
            Self::Minimal => Baumgarte::NONE,
            Self::Maximal(constrained) => Baumgarte {
                alpha: constrained.alpha.of(S::numbers(parameters)),
                beta: constrained.beta.of(S::numbers(parameters)),
            },
            Self::Velocities(alpha) => Baumgarte {
                alpha: alpha.of(S::numbers(parameters)),
                beta: 0.0,
            },
        }
    }

    /// Returns true if the states are the coordinates and rates of joints and modes.
    pub fn are_of_joints(&self) -> bool {
        matches!(self, Self::Minimal)
    }

    /// Returns names, units and descriptions of the states.
    pub fn states(&self, system: &System) -> Vec<Quantity> {
        match self {
            Self::Minimal => system.states(),
            Self::Maximal(constrained) => system.maximal_states(&constrained.layout),
            Self::Velocities(_) => system.velocity_states(),
        }
    }

    /// Returns the number of positions among the states.
    pub fn positions(&self, system: &System) -> usize {
        match self {
            Self::Minimal | Self::Velocities(_) => system.nq,
            Self::Maximal(constrained) => constrained.layout.nq,
        }
    }

    /// Returns the number of rates among the states.
    pub fn rates(&self, system: &System) -> usize {
        match self {
            Self::Minimal => system.nv,
            Self::Maximal(constrained) => constrained.layout.nv,
            Self::Velocities(_) => PER_BODY * system.bodies.len(),
        }
    }

    /// Returns the index of body `i`'s first amplitude among the positions and of its rate among
    /// the rates.
    pub fn of_modes(&self, i: usize, modes: &Modes) -> [usize; 2] {
        match self {
            Self::Minimal | Self::Velocities(_) => [modes.q, modes.v],
            Self::Maximal(Constrained { layout, .. }) => layout.modes(i),
        }
    }

    /// Returns the index of each quaternion among the positions, with the name of its owner.
    pub fn quaternions<'a>(&self, system: &'a System) -> Vec<(usize, &'a str)> {
        let bodies = system.bodies.iter().enumerate();
        let of = |(i, body): (usize, &'a Body)| match self {
            Self::Maximal(Constrained { layout, .. }) => {
                let is_quaternion = layout.attitude == Attitude::Quaternion;
                is_quaternion.then(|| (layout.position(i), body.name.as_str()))
            }
            Self::Minimal | Self::Velocities(_) => {
                let turns = matches!(body.joint.kind, JointType::Free | JointType::Spherical);
                turns.then_some((body.joint.q, body.joint.name.as_str()))
            }
        };
        bodies.filter_map(of).collect()
    }

    /// Returns the number of unwrapped-angle states.
    pub fn unwrapped(&self) -> usize {
        match self {
            Self::Minimal | Self::Velocities(_) => 0,
            Self::Maximal(constrained) => constrained.layout.unwrapped,
        }
    }

    /// Writes the states that correspond to the coordinates `q` and the rates `qd` of joints and
    /// modes.
    pub fn write<S: Scalar>(&self, mechanism: Mechanism<'_, S::Constant>, joints: JointState<S>, to: Parts<&mut [S]>) {
        let Mechanism { system, derived } = mechanism;
        let JointState { q, qd } = joints;
        let Parts {
            positions,
            rates,
            unwrapped,
            ..
        } = to;
        match self {
            Self::Minimal => {
                positions.copy_from_slice(q);
                rates.copy_from_slice(qd);
            }
            Self::Velocities(_) => {
                let mut kinematics = Kinematics::new(system);
                kinematics.update(system, derived, q, qd);
                positions.copy_from_slice(q);
                system.write_velocities(derived, &kinematics, rates);
            }
            Self::Maximal(constrained) => {
                let mut kinematics = Kinematics::new(system);
                kinematics.update(system, derived, q, qd);
                let mut q_WB = vec![Quaternion::identity(); system.bodies.len()];
                system.attitudes(derived, q, &mut q_WB);
                let states = MaximalState {
                    positions,
                    rates,
                    unwrapped,
                };
                let joints = JointState { q, qd };
                constrained.layout.write(mechanism, &kinematics, joints, &q_WB, states);
            }
        }
    }

    /// Allocates the workspace to recover joints' coordinates and rates; `None` if they are the
    /// states.
    pub fn workspace<S: Scalar>(&self, system: &System) -> Option<Box<Recovered<S>>> {
        match self {
            Self::Minimal => None,
            Self::Maximal(constrained) => Some(Box::new(Recovered::new(system, Some(constrained.layout.attitude)))),
            Self::Velocities(_) => Some(Box::new(Recovered::new(system, None))),
        }
    }
}
