use super::contact::BOTTOMLESS;
use super::{
    Captured, Contact, ContactState, Controller, Elements, FacePair, Hold, ImpactReport, Limit, Memory, MotorState,
    Rest, RestState, RimState, Samples, Sliding, Slot, StoredAll,
};
use crate::spec::JointMotion;

/// Declares [`Discrete`], with methods that copy, write and read its fields in their order.
macro_rules! discrete {
    ($($(#[$doc:meta])* $visible:vis $field:ident: $Type:ty,)+) => {
        /// Discrete state: variables that change at events only.
        #[derive(Debug, Default, PartialEq)]
        pub struct Discrete {
            $($(#[$doc])* $visible $field: $Type,)+
        }

        impl Clone for Discrete {
            fn clone(&self) -> Self {
                Self { $($field: self.$field.clone(),)+ }
            }

            /// Copies without allocation between states of one model.
            fn clone_from(&mut self, source: &Self) {
                $(self.$field.clone_from(&source.$field);)+
            }
        }

        impl Discrete {
            /// Writes all its numbers; [`read`](Self::read) reads them in the same order.
            pub fn write(&self, to: &mut impl FnMut(f64)) {
                $(self.$field.write_all(to);)+
            }

            /// Reads its values from the next numbers; `None` if no run of the model can have them.
            pub fn read(&mut self, elements: &Elements, next: &mut impl FnMut() -> f64) -> Option<()> {
                $(self.$field.read_all(next)?;)+
                self.is_possible(elements).then_some(())
            }
        }
    };
}

discrete! {
    /// Segment index of each internal signal, or of each of its copies by a shaper.
    pub(crate) segments: Vec<i32>,
    /// Limit state of each joint range.
    pub(crate) ranges: Vec<Limit>,
    /// True for each beam, or segment of a beam, whose tip deflection exceeds its linear limit.
    pub(crate) deflections: Vec<bool>,
    /// Contact state of each pair of surfaces.
    pub(crate) surfaces: Vec<ContactState>,
    /// Limit state of each motor.
    pub(crate) motors: Vec<MotorState>,
    /// Limit state of each limited voltage of a motor.
    pub(crate) voltages: Vec<Limit>,
    /// Sticking or sliding of each joint whose dry friction sticks.
    pub(crate) sliding: Vec<Sliding>,
    /// True for each tank that is empty, of those from which thrusters draw.
    pub(crate) empty: Vec<bool>,
    /// Motion of each joint whose motion can be switched.
    pub motions: Vec<JointMotion>,
    /// True for each command for an impulse or a capture that is on.
    pub(crate) commands: Vec<bool>,
    /// Last invalid command of each drive that was reported, so that it is reported once only.
    pub(crate) refused: Vec<Option<f64>>,
    /// State of each capture.
    pub(crate) captures: Vec<Captured>,
    /// Rank of the constraint rows of all active captures and all loops.
    pub(crate) rank: usize,
    /// Report of the last impact of each contact.
    pub(crate) reports: Vec<ImpactReport>,
    /// Limit state of each torque of a controller.
    pub(crate) controlled: Vec<Limit>,
    /// True for each attitude of a controller whose wheels are being desaturated.
    pub(crate) desaturating: Vec<bool>,
    /// Memories of the filters of a controller.
    pub(crate) filters: Vec<Memory>,
    /// Samples of controllers, tasks and sensors, without results for those that are not sampled.
    pub(crate) samples: Vec<Samples>,
    /// State of each point of the contacts that may rest, then of each contact with stiction.
    pub(crate) rests: Vec<RestState>,
    /// State of the points on rims, of each contact that may rest and has them.
    pub(crate) rims: Vec<RimState>,
    /// Pair of faces of each contact of polyhedra that may rest.
    pub(crate) manifolds: Vec<FacePair>,
    /// Points of these contacts.
    pub(crate) slots: Vec<Slot>,
}

impl Discrete {
    /// Returns the discrete state before the start: joints have their initial motions.
    pub(crate) fn new(elements: &Elements) -> Self {
        let switched = elements.drives.iter().filter(|drive| drive.mode().is_some());
        let controller = elements.controllers.first();
        let [manifolds, slots] = elements.manifold_counts();
        Self {
            segments: vec![0; elements.signals.last().map_or(0, |last| last.segments().end)],
            ranges: vec![Limit::Within; elements.ranges.len()],
            deflections: vec![false; elements.deflection_limits.len()],
            surfaces: vec![ContactState::Apart; elements.detections().count()],
            motors: vec![MotorState::default(); elements.motors.len()],
            voltages: vec![Limit::Within; elements.dc_motors.iter().filter(|motor| motor.is_limited()).count()],
            sliding: vec![Sliding::Stuck; elements.sticking.len()],
            empty: vec![false; elements.tanks.iter().filter(|tank| tank.is_drawn()).count()],
            motions: switched.map(|drive| drive.motion()).collect(),
            commands: vec![false; elements.commands.len()],
            refused: vec![None; elements.drives.len()],
            captures: vec![Captured::default(); elements.captures().count()],
            rank: 0,
            reports: vec![ImpactReport::default(); elements.contacts.len()],
            controlled: vec![Limit::Within; controller.map_or(0, Controller::limit_count)],
            desaturating: vec![false; controller.map_or(0, Controller::attitude_count)],
            filters: vec![None; controller.map_or(0, Controller::filter_count)],
            samples: Samples::of(elements),
            rests: vec![RestState::default(); elements.rest_points()],
            rims: vec![RimState::default(); elements.rim_count()],
            manifolds: vec![FacePair::default(); manifolds],
            slots: vec![Slot::default(); slots],
        }
    }

    /// Returns true if the loads of elements that are evaluated in lanes depend on both discrete states
    /// alike, apart from signals.
    pub fn loads_as(&self, other: &Self) -> bool {
        self.motors == other.motors
            && self.voltages == other.voltages
            && self.sliding == other.sliding
            && self.rests == other.rests
            && self.empty == other.empty
            && self.motions == other.motions
    }

    /// Returns true if the outputs of elements that are evaluated in lanes depend on both discrete
    /// states alike, apart from signals.
    pub fn shows_as(&self, other: &Self) -> bool {
        self.loads_as(other) && self.ranges == other.ranges && self.deflections == other.deflections
    }

    /// Returns the count of its numbers.
    pub fn size(&self) -> usize {
        let mut count = 0;
        self.write(&mut |_| count += 1);
        count
    }

    /// Returns true if a run of the model can have these values.
    fn is_possible(&self, elements: &Elements) -> bool {
        let mut motors = elements.motors.iter().zip(&self.motors);
        let mut drives = elements.drives.iter();
        self.segments.iter().all(|&segment| segment >= 0)
            && self.rank <= elements.most_rows()
            && elements.contacts.iter().all(|contact| contact.has_outline(self))
            && motors.all(|(motor, state)| motor.can_have(state))
            && drives.all(|drive| drive.motions().contains(&drive.motion_now(&self.motions)))
    }

    /// Returns true while a capture is active.
    #[inline]
    pub(crate) fn is_held(&self, capture: usize) -> bool {
        self.captures[capture].holds
    }
}

impl Discrete {
    /// Returns true if the outputs of a controller's tasks are those of a sample.
    pub(crate) fn holds_guidance(&self) -> bool {
        self.samples.first().is_some_and(Samples::are_taken)
    }

    /// Returns true if the surfaces of a contact touch; always true for contacts without surfaces,
    /// which act on command.
    pub(crate) fn may_capture(&self, elements: &Elements, contact: usize) -> bool {
        let number = elements.contacts[contact].detection_number();
        number.is_none_or(|number| matches!(self.surfaces[number], ContactState::Touching { .. }))
    }

    /// Ends the detection of impacts of surfaces until they separate, because an impact was
    /// refused.
    pub(crate) fn suspend_detection(&mut self, elements: &Elements, contact: usize) {
        if let Some(number) = elements.contacts[contact].detection_number()
            && let ContactState::Touching { floor, .. } = &mut self.surfaces[number]
        {
            *floor = BOTTOMLESS;
        }
    }

    /// Returns true if the surfaces are kept in contact at a point: by a capture, since the point
    /// rests, or since it is on a face that rests.
    pub(crate) fn is_held_together(&self, contact: &Contact, point: usize) -> bool {
        let rests = contact.rest.map(|rest| self.keeps_touching(contact, rest, point));
        rests.unwrap_or(false) || self.is_captured(contact)
    }

    /// Returns true if a point rests, or was in contact when three others of its contact began to rest:
    /// these determine its gap, of which only integration errors are left. Points of polyhedra do so while
    /// their faces are flat on each other.
    pub(crate) fn keeps_touching(&self, contact: &Contact, rest: Rest, point: usize) -> bool {
        let holds = |state: &RestState| state.hold != Hold::Free;
        let touches = |first| matches!(self.surfaces[first + point], ContactState::Touching { .. });
        holds(&self.rests[rest.first + point])
            || rest.manifold.is_none_or(|manifold| self.face_pair(manifold).is_flat)
                && contact.detection_number().is_some_and(touches)
                && self.rests[rest.points()].iter().filter(|state| holds(state)).count() >= 3
    }

    /// Lets all compliant contacts with stiction transmit no friction.
    pub(crate) fn free_stictions(&mut self, elements: &Elements) {
        let stictions = self.rests[elements.resting_points()..].iter_mut();
        stictions.for_each(|state| state.hold = Hold::Free);
    }

    /// Returns true if a point that rests slides.
    pub(crate) fn slides(&self, elements: &Elements) -> bool {
        let rests = &self.rests[..elements.resting_points()];
        rests.iter().any(|state| state.hold == Hold::Sliding)
    }

    /// Returns true if the frames of a contact are captured: their surfaces then count as touching,
    /// whatever the integration error of the gap.
    pub(crate) fn is_captured(&self, contact: &Contact) -> bool {
        let capture = contact.capture();
        capture.is_some_and(|capture| self.is_held(capture.number))
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![
        only_possible_motor_states_are_restored,
        impossible_discrete_states_are_refused,
    ];

    fn model(text: &str) -> crate::plant::Model {
        crate::plant::Model::read(text, std::path::Path::new(".")).expect("a spacecraft")
    }

    /// A motor's rate has limit states only if it has a limit.
    fn only_possible_motor_states_are_restored() {
        let joint = |name: &str, parent: &str, limits: &str| {
            format!(
                "[body.{name}]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n[joint.{name}_root]\ntype = \"revolute\"\nparent = \"{parent}\"\nchild = \"{name}\"\n\
                 motor = {{ {limits} }}\n"
            )
        };
        let model = model(&format!(
            "name = \"motors\"\n{}{}",
            joint("a", "world", "torque_limit = 1.0, rate_limit = 2.0"),
            joint("b", "a", "torque_limit = 1.0")
        ));
        let limits = [Limit::Below, Limit::Within, Limit::Above];
        let possible = |motor: usize, rate: Limit, is_beyond: bool| {
            let mut written = Discrete::new(&model.elements);
            let torque = Limit::Above;
            written.motors[motor] = MotorState {
                torque,
                rate,
                is_beyond,
            };
            let mut numbers = Vec::new();
            written.write(&mut |number| numbers.push(number));
            let (mut read, mut next) = (Discrete::new(&model.elements), numbers.into_iter());
            let is_read = read
                .read(&model.elements, &mut || next.next().expect("as many"))
                .is_some();
            assert!(!is_read || read == written);
            is_read
        };
        for rate in limits {
            assert!(possible(0, rate, false));
            assert_eq!(possible(0, rate, true), rate.is_reached());
            assert_eq!(possible(1, rate, false), !rate.is_reached());
            assert!(!possible(1, rate, true));
        }
    }

    fn impossible_discrete_states_are_refused() {
        let model = model(
            "name = \"one\"\n[body.a]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n[joint.a_root]\ntype = \"revolute\"\n\
             parent = \"world\"\nchild = \"a\"\nrange = { min = -1.0, max = 1.0 }\n",
        );
        let read = |range: f64| {
            let mut discrete = Discrete::new(&model.elements);
            let mut next = std::iter::once(range).chain(std::iter::repeat(0.0));
            let read = discrete.read(&model.elements, &mut || next.next().expect("endless"));
            read.map(|()| discrete.ranges[0])
        };
        assert_eq!(read(-1.0), Some(Limit::Below));
        for number in [2.0, 0.5, f64::NAN, f64::INFINITY, -3e9] {
            assert_eq!(read(number), None, "{number}");
        }
    }
}
