//! Outputs: their declaration, and the data from which elements compute their values.

use super::{Closed, Discrete, Element, Elements, Instant, PointForce, TaskState};
use crate::algebra::fused::rotated_back;
use crate::algebra::{Mat3, Quaternion, Scalar, Twist, Vec3, Wrench, lift33};
use crate::dynamics::invariants::Invariants;
use crate::dynamics::{Applied, Dynamics};
use crate::spec::{JointType, Spec};
use crate::system::{Frame, FrameRef, PER_BODY, Quantity, Recovered, System};

/// Variable that the model computes for the importer.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Name, unit, description.
    pub quantity: Quantity,
    /// Type and variability.
    pub kind: OutputKind,
    /// Motions of all free bodies together that do not change it.
    pub(crate) invariance: Invariance,
}

/// Motions that may be superposed on all free bodies and ANCF beams together.
///
/// A quantity of an accelerated system (an acceleration, a reaction) is invariant only if its loads
/// are, see [`Elements::read_world`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Invariance {
    #[default]
    None,
    /// Displacements and uniform translations.
    Shift,
    /// Displacements and rotations by constant angles.
    Pose,
    /// Displacements, rotations by constant angles, and uniform translations.
    Galilean,
    /// All rigid motions.
    Objective,
}

impl Invariance {
    /// Returns true if invariance under `motions` follows from this invariance.
    pub fn includes(self, motions: Self) -> bool {
        match self {
            Self::None => false,
            Self::Shift | Self::Pose => self == motions,
            Self::Galilean => motions != Self::Objective,
            Self::Objective => true,
        }
    }

    /// Returns `self` if `condition` is true, else no invariance.
    pub fn when(self, condition: bool) -> Self {
        if condition { self } else { Self::None }
    }
}

/// Type and variability of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// Real number that changes at any time.
    Continuous,
    /// Real number that changes at events only.
    Discrete,
    /// Integer that changes at events only; a real number in FMI 2.0.
    Count,
    /// Boolean, true (1) or false (0), that changes at events only; a real number in FMI 2.0.
    Switch,
    /// Boolean, true (1) or false (0), that changes at events only.
    Flag,
}

impl OutputKind {
    /// Returns true for an output that changes at any time.
    pub fn is_continuous(self) -> bool {
        self == Self::Continuous
    }
}

/// Declared outputs, in the order in which the elements write their values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outputs {
    /// All outputs.
    pub declared: Vec<Output>,
    /// Pairs of the index of a flag and a coordinate on which it depends, one pair for each
    /// coordinate.
    pub flags: Vec<(usize, usize)>,
}

impl Outputs {
    /// Declares continuous outputs.
    pub fn continuous(&mut self, quantities: impl IntoIterator<Item = Quantity>) {
        self.declare(quantities, OutputKind::Continuous);
    }

    /// Declares continuous outputs with an invariance.
    pub fn invariant(&mut self, invariance: Invariance, quantities: impl IntoIterator<Item = Quantity>) {
        let first = self.declared.len();
        self.continuous(quantities);
        (self.declared[first..].iter_mut()).for_each(|output| output.invariance = invariance);
    }

    /// Declares outputs that change at events only.
    pub fn discrete(&mut self, quantities: impl IntoIterator<Item = Quantity>) {
        self.declare(quantities, OutputKind::Discrete);
    }

    /// Declares an integer that changes at events only.
    pub fn count(&mut self, quantity: Quantity) {
        self.declare([quantity], OutputKind::Count);
    }

    /// Declares a state that is on (1) or off (0).
    pub fn switch(&mut self, quantity: Quantity) {
        self.declare([quantity], OutputKind::Switch);
    }

    /// Declares a flag that depends on the given coordinates.
    pub fn flag(&mut self, quantity: Quantity, watched: impl Iterator<Item = usize>) {
        let row = self.declared.len();
        self.flags.extend(watched.map(|coordinate| (row, coordinate)));
        self.declare([quantity], OutputKind::Flag);
    }

    fn declare(&mut self, quantities: impl IntoIterator<Item = Quantity>, kind: OutputKind) {
        self.declared.extend(quantities.into_iter().map(|quantity| Output {
            quantity,
            kind,
            invariance: Invariance::None,
        }));
    }
}

/// Declares [`FirstOutputs`] for all lists of elements.
macro_rules! first_outputs {
    ($($doc:literal $list:ident: $Kind:ty $([$section:ident: $Section:ty])?,)+) => {
        /// Index of the first output of each element, in the lists of [`Elements`].
        #[allow(dead_code)] // Not all lists are read.
        pub(crate) struct FirstOutputs {
            $(pub $list: Vec<usize>,)+
        }

        impl Elements {
            /// Returns the index of the first output of each element.
            pub(crate) fn first_outputs(&self, spec: &Spec, system: &System) -> FirstOutputs {
                let mut to = Outputs::default();
                FirstOutputs {
                    $($list: self.$list.iter().map(|element| {
                        let first = to.declared.len();
                        element.outputs(spec, system, &mut to);
                        first
                    }).collect(),)+
                }
            }
        }
    };
}

for_each_element!(first_outputs);

/// Writer of output values, one after the other.
pub(crate) struct Cursor<'a, S> {
    y: &'a mut [S],
    next: usize,
}

impl<'a, S: Scalar> Cursor<'a, S> {
    /// Starts at the first output.
    pub fn new(y: &'a mut [S]) -> Self {
        Self { y, next: 0 }
    }

    /// Asserts that as many values have been written as were declared.
    pub fn assert_full(&self) {
        assert_eq!(self.next, self.y.len(), "as many values are written as declared");
    }

    /// Leaves out a number of values.
    pub fn skip(&mut self, count: usize) {
        self.next += count;
    }

    /// Writes one value.
    pub fn number(&mut self, value: S) {
        self.y[self.next] = value;
        self.next += 1;
    }

    /// Writes a flag, 1 or 0.
    pub fn flag(&mut self, value: bool) {
        self.number(S::lift(f64::from(value)));
    }

    /// Writes three components.
    pub fn vector(&mut self, v: &Vec3<S>) {
        v.iter().for_each(|&component| self.number(component));
    }

    /// Writes four components, the scalar part first.
    pub fn quaternion(&mut self, q: Quaternion<S>) {
        q.to_array().into_iter().for_each(|part| self.number(part));
    }

    /// Writes the force of a wrench, then its moment.
    pub fn wrench(&mut self, F: &Wrench<S>) {
        self.vector(&F.f);
        self.vector(&F.t);
    }
}

/// Data of one instant from which the outputs are computed.
#[derive(Clone, Copy)]
pub(crate) struct View<'a, S: Scalar> {
    /// Data on which the loads depend.
    pub now: Instant<'a, S>,
    /// All elements.
    pub elements: &'a Elements,
    /// Solution of the dynamics: accelerations and transmitted wrenches.
    pub dynamics: &'a Dynamics<S>,
    /// Derivatives of the rates of joints and modes; valid if the model has sensors.
    pub qdd: &'a [S],
    /// Loads.
    pub applied: &'a Applied<S>,
    /// Attitudes of the bodies.
    pub q_WB: &'a [Quaternion<S>],
    /// Positions and motions of bodies in maximal coordinates, and the joint coordinates recovered
    /// from them.
    pub recovered: Option<&'a Recovered<S>>,
    /// Discrete state.
    pub discrete: &'a Discrete,
    /// Dual velocities of all bodies, if they are states.
    pub velocities: Option<&'a [S]>,
    /// State of each capture and loop.
    pub closed: &'a [Closed<S>],
    /// Force of each point that may rest.
    pub points: &'a [PointForce<S>],
    /// Result of each task.
    pub tasks: &'a [TaskState<S>],
    /// Outputs of the tasks of a controller.
    pub guidance: &'a [S],
    /// Momenta and energy if they have been computed; else `None`.
    pub invariants: Option<&'a Invariants<S>>,
    /// Strain energies of the ANCF beams, then the energy in uniform gravity, if they have been
    /// computed, J; then `elements` have none of these. Else `None`.
    pub energies: Option<&'a [S]>,
    /// True if outputs of motions of frames on bodies are not written, because their adjoint
    /// derivatives are computed in closed form.
    pub omits_frames: bool,
}

/// Pose and velocity of a frame in the world.
pub(crate) struct FrameMotion<S: Scalar> {
    pub q_WF: Quaternion<S>,
    pub R_WF: Mat3<S>,
    pub p_WF: Vec3<S>,
    pub V_WF: Twist<S>,
}

impl<S: Scalar> View<'_, S> {
    /// Returns pose and velocity of a frame.
    pub fn frame(&self, frame: FrameRef) -> FrameMotion<S> {
        let now = &self.now;
        let q_WF = match frame {
            FrameRef::World => Quaternion::identity(),
            FrameRef::Body(body) => self.q_WB[body],
            FrameRef::Point(point) => Quaternion::from_rotation(&now.kinematics.points[point].at.R_WB),
            FrameRef::Frame(frame) => {
                let Frame {
                    body,
                    station,
                    is_turned,
                    ..
                } = now.system.frames[frame];
                let bent = station.map(|station| now.system.bent(now.derived, station, now.q));
                let q_WB = bent.map_or(self.q_WB[body], |bent| self.q_WB[body] * bent);
                match is_turned {
                    true => q_WB * now.derived.frames[frame].q_BF.lift(),
                    false => q_WB,
                }
            }
        };
        let arm = now.kinematics.arm(now.system, now.derived, frame);
        FrameMotion {
            q_WF,
            R_WF: arm.R,
            p_WF: now.kinematics.pose(now.system, now.derived, frame).p,
            V_WF: now.kinematics.carrier(now.system.carrier(frame)).V_WB.shift(&arm.p),
        }
    }

    /// Returns the angular velocity of a rigid body in its own axes if it is a state.
    pub fn state_spin(&self, body: usize) -> Option<Vec3<S>> {
        let system = self.now.system;
        let w = match self.velocities {
            Some(velocities) => &velocities[PER_BODY * body..],
            None if self.recovered.is_none() && system.is_root(body) => &self.now.qd[system.bodies[body].joint.v..],
            None => return None,
        };
        Some(Vec3::new(w[0], w[1], w[2]))
    }

    /// Returns the angular velocity of a frame in its own axes; `of` is its motion.
    pub fn spin(&self, frame: FrameRef, of: &FrameMotion<S>) -> Vec3<S> {
        let now = &self.now;
        let w = match frame {
            FrameRef::Body(body) => self.state_spin(body),
            FrameRef::Frame(frame) => {
                let Frame {
                    body,
                    station,
                    is_turned,
                    ..
                } = now.system.frames[frame];
                let R_BF = || lift33::<S>(&now.derived.frames[frame].X_BF.R);
                let w = self.state_spin(body).filter(|_| station.is_none());
                w.map(|w| if is_turned { rotated_back(&R_BF(), &w) } else { w })
            }
            FrameRef::World | FrameRef::Point(_) => None,
        };
        w.unwrap_or_else(|| rotated_back(&of.R_WF, &of.V_WF.w))
    }

    /// Returns the wrench that the joint of a body transmits to it, about the body's origin, world
    /// axes; zero for a free joint.
    pub fn transmitted(&self, body: usize) -> Wrench<S> {
        let transmitted = self.dynamics.transmitted(self.now.system, body);
        transmitted.unwrap_or_else(Wrench::zero)
    }

    /// Returns true if the joint of a body is free, so that it transmits no wrench.
    pub fn is_free(&self, body: usize) -> bool {
        self.now.system.bodies[body].joint.kind == JointType::Free
    }
}
