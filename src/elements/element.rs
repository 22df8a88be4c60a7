use super::{Command, Cursor, Discrete, EventContext, Instant, Outputs, View};
use crate::Problem;
use crate::algebra::Scalar;
use crate::dynamics::Applied;
use crate::event::Event;
use crate::spec::{Spec, problem};
use crate::system::{Declarations, Derived, FrameRef, Parameter, System};
use std::ops::BitOrAssign;

/// Interface of the elements. The default of each method is for an element that has nothing to do
/// there.
pub(crate) trait Element: Sized {
    /// Creates all elements of this kind and declares their parameters and inputs. Elements of a
    /// joint are created by [`joint::declare`](super::joint::declare).
    fn compile(_from: &mut Compiler) -> Vec<Self> {
        Vec::new()
    }

    /// Validates the values of the parameters and reports problems.
    fn validate(&self, _of: Values, _problems: &mut Vec<Problem>) {}

    /// Declares the outputs; [`observe`](Self::observe) writes their values in the same order.
    fn outputs(&self, _spec: &Spec, _system: &System, _to: &mut Outputs) {}

    /// Writes the values of the outputs.
    fn observe<S: Scalar>(&self, _view: &View<S>, _y: &mut Cursor<S>) {}

    /// Returns the state dependencies of the loads.
    fn reads(&self) -> Reads {
        Reads::default()
    }

    /// Returns true if loads or constraints depend on a free body's position, attitude or velocity
    /// in the world, other than by the rotation of the load with the body.
    fn reads_world(&self, _system: &System) -> bool {
        self.reads().bodies || self.reads().motions
    }

    /// Returns true if loads without a potential are wrenches on bodies, whose power has to be
    /// summed.
    fn works_on_bodies(&self) -> bool {
        false
    }

    /// Adds the loads without a potential.
    fn add_active<S: Scalar>(&self, _now: &Instant<S>, _applied: &mut Applied<S>) {}

    /// Adds the loads with a potential.
    fn add_conservative<S: Scalar>(&self, _now: &Instant<S>, _applied: &mut Applied<S>) {}

    /// Adds the difference between the discrete gradient of the potential over a step of length `h`
    /// (s) from the coordinates `q_0` and the loads at the midpoint `now`; see
    /// [`Elements::add_of_step`](super::Elements::add_of_step).
    fn add_of_step<S: Scalar>(&self, _now: &Instant<S>, _h: f64, _q_0: &[f64], _applied: &mut Applied<S>) {}

    /// Passes the tangent stiffness and damping to `on`; see
    /// [`Elements::resist`](super::Elements::resist).
    fn resist<S: Scalar<Constant = S>>(&self, _now: &Instant<S>, _on: &mut impl FnMut(usize, Resistance<S>)) {}

    /// Returns the potential energy, J; `None` without a potential.
    fn potential_energy<S: Scalar>(&self, _now: &Instant<S>) -> Option<S> {
        None
    }

    /// Returns the number of event indicators.
    fn indicator_count(&self) -> usize {
        0
    }

    /// Returns the data other than coordinates and rates that [`indicate`](Self::indicate) and
    /// [`update`](Self::update) read.
    fn watches(&self) -> Watched {
        Watched::default()
    }

    /// Writes the event indicators: positive while the discrete state is valid, negative once it
    /// has to change.
    fn indicate(&self, _now: &EventContext, _discrete: &Discrete, _z: &mut Cursor<f64>) {}

    /// Writes for each event indicator an upper bound of its rate, in its unit per second, if it
    /// may have several minima within a step; zero for the others.
    fn bound_rates(&self, _now: &EventContext, _discrete: &Discrete, rates: &mut Cursor<f64>) {
        (0..self.indicator_count()).for_each(|_| rates.number(0.0));
    }

    /// Updates the discrete state and appends the events of limits that have just been exceeded.
    /// Returns true if the discrete state changed.
    fn update(&self, _now: &EventContext, _discrete: &mut Discrete, _events: &mut Vec<Event>) -> bool {
        false
    }
}

/// Spec and system from which elements are compiled, and the lists to which they add variables,
/// problems and commands.
pub(crate) struct Compiler<'a> {
    pub spec: &'a Spec,
    pub system: &'a System,
    pub declare: &'a mut Declarations,
    pub problems: &'a mut Vec<Problem>,
    /// Commands for impulses and captures.
    pub commands: Vec<Command>,
}

impl Compiler<'_> {
    /// Returns the frame that is written at `section.name.field`; reports one that does not exist.
    pub fn frame(&mut self, at: [&str; 3], frame: &str) -> Option<FrameRef> {
        self.system.written_frame(at, frame, self.problems)
    }

    /// Returns the frames that are written at the fields `a` and `b` of a table; reports those that
    /// do not exist.
    pub fn pair(&mut self, section: &str, name: &str, [a, b]: [&str; 2]) -> Option<[FrameRef; 2]> {
        let (a, b) = (self.frame([section, name, "a"], a), self.frame([section, name, "b"], b));
        Some([a?, b?])
    }

    /// Returns the frames as [`pair`](Self::pair); reports also those that cannot move relative to
    /// each other.
    pub fn moving_pair(&mut self, section: &str, name: &str, [a, b]: [&str; 2]) -> Option<[FrameRef; 2]> {
        let frames = self.pair(section, name, [a, b])?;
        let [carrier_a, carrier_b] = frames.map(|frame| self.system.rigid_carrier(frame));
        if carrier_a == carrier_b {
            let what = format!("\"{a}\" and \"{b}\" belong to one rigid body, or to several on fixed joints");
            self.problems.push(problem(section, name, "b", what));
        }
        Some(frames)
    }
}

/// Declared parameters with their values, and the constants derived from them.
#[derive(Clone, Copy)]
pub(crate) struct Values<'a> {
    pub declared: &'a [Parameter],
    pub values: &'a [f64],
    pub derived: &'a Derived,
}

/// Tangent stiffness and damping of a load on one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resistance<S = f64> {
    /// Stiffness `−∂τ/∂q`, N·m/rad or N/m.
    pub stiffness: S,
    /// Damping `−∂τ/∂q̇`, N·m·s/rad or N·s/m.
    pub damping: S,
}

impl<S: Scalar> std::ops::AddAssign for Resistance<S> {
    fn add_assign(&mut self, other: Self) {
        self.stiffness += other.stiffness;
        self.damping += other.damping;
    }
}

impl<S: Scalar> Resistance<S> {
    pub(super) fn of(stiffness: S, damping: S) -> Self {
        Self { stiffness, damping }
    }

    /// Returns the resistance of no load.
    pub(crate) fn none() -> Self {
        Self::of(S::zero(), S::zero())
    }

    /// Returns the resistance where the condition holds, else none.
    pub(super) fn only_where(self, condition: S::Mask) -> Self {
        let Self { stiffness, damping } = self;
        let [stiffness, damping] = [stiffness, damping].map(|of| S::select(condition, of, S::zero()));
        Self { stiffness, damping }
    }

    /// Returns the inertia `θ C + θ² K` that a linearly implicit method with the coefficient
    /// `theta` (s) adds to the rate, kg·m² or kg.
    pub fn added_inertia(&self, theta: S) -> S {
        theta * (self.damping + theta * self.stiffness)
    }
}

/// Data other than coordinates and rates on which event indicators depend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Watched {
    /// True if they depend on inputs, the orbit or feed-forward torques.
    pub inputs: bool,
    /// True if they depend on positions and motions of bodies.
    pub kinematics: bool,
    /// True if they depend on the torques that hold joints which stick.
    pub holds: bool,
    /// True if they depend on the forces of contacts that may rest.
    pub points: bool,
}

impl BitOrAssign for Watched {
    fn bitor_assign(&mut self, other: Self) {
        self.inputs |= other.inputs;
        self.kinematics |= other.kinematics;
        self.holds |= other.holds;
        self.points |= other.points;
    }
}

/// State dependencies of loads, apart from those on the modes of flexible bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// True if a load on a joint depends on the joint's coordinates or rates.
    pub joints: bool,
    /// True if a load on a body depends on the body's attitude.
    pub bodies: bool,
    /// True if a load on a body depends on velocities or on the positions of bodies, or if a servo
    /// has a feed-forward torque.
    pub motions: bool,
}

impl Reads {
    /// Dependencies of a load on a joint that depends on the joint's coordinates or rates.
    pub(super) const JOINT: Self = Self {
        joints: true,
        bodies: false,
        motions: false,
    };
    /// Dependencies of a load on a body that depends on the body's attitude.
    pub(super) const ATTITUDE: Self = Self {
        joints: false,
        bodies: true,
        motions: false,
    };
    /// Dependencies of a load that depends on velocities or positions of bodies.
    pub(super) const MOTION: Self = Self {
        joints: false,
        bodies: false,
        motions: true,
    };

    /// Returns `self` if `condition` is true, else no dependencies.
    pub(super) fn when(self, condition: bool) -> Self {
        if condition { self } else { Self::default() }
    }
}

impl BitOrAssign for Reads {
    fn bitor_assign(&mut self, other: Self) {
        self.joints |= other.joints;
        self.bodies |= other.bodies;
        self.motions |= other.motions;
    }
}
