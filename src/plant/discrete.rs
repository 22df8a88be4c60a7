use super::Model;
use super::report::Report;
use super::sampling::Samples;
use super::touch::Surfaces;
use crate::algebra::{Mat3, Vec3};
use crate::elements::{Limit, MotorState, Stored};
use crate::spec::JointMotion;

/// Discrete state: variables that change at events only.
#[derive(Debug, Default, PartialEq)]
pub struct Discrete {
    /// Segment index of each internal signal.
    pub(super) segments: Vec<i32>,
    /// Limit state of each joint range.
    pub(super) ranges: Vec<Limit>,
    /// True for each beam whose tip deflection exceeds its linear limit.
    pub(super) deflections: Vec<bool>,
    /// Contact state of each pair of surfaces.
    pub(super) surfaces: Vec<Surfaces>,
    /// Limit state of each motor.
    pub(super) motors: Vec<MotorState>,
    /// Motion of each joint whose motion can be switched.
    pub motions: Vec<JointMotion>,
    /// True for each command for an impulse or a capture that is on.
    pub(super) commands: Vec<bool>,
    /// Last invalid command of each drive that has been reported.
    pub(super) refused: Vec<Option<f64>>,
    /// State of each capture.
    pub(super) captures: Vec<Captured>,
    /// Rank of the rows of all active captures and all loops.
    pub(super) rank: usize,
    /// Last impact of each contact.
    pub(super) reports: Vec<Report>,
    /// Limit state of each torque of a controller.
    pub(super) controlled: Vec<Limit>,
    /// Samples of a sampled controller.
    pub(super) samples: Samples,
}

/// State of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Captured {
    /// True while the capture is active.
    pub holds: bool,
    /// Origin of frame a in frame b when the capture closed, m.
    pub p: Vec3<f64>,
    /// Rotation from a to b when the capture closed.
    pub R: Mat3<f64>,
}

impl Stored for Captured {
    fn write(&self, to: &mut impl FnMut(f64)) {
        let Self { holds, p, R } = self;
        holds.write(to);
        p.write(to);
        R.write(to);
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        Some(Self {
            holds: bool::read(next)?,
            p: Vec3::read(next)?,
            R: Mat3::read(next)?,
        })
    }
}

impl Clone for Discrete {
    fn clone(&self) -> Self {
        let mut clone = Self::default();
        clone.clone_from(self);
        clone
    }

    /// Copies without allocation between states of one model.
    fn clone_from(&mut self, source: &Self) {
        let Self {
            segments,
            ranges,
            deflections,
            surfaces,
            motors,
            motions,
            commands,
            refused,
            captures,
            rank,
            reports,
            controlled,
            samples,
        } = self;
        segments.clone_from(&source.segments);
        ranges.clone_from(&source.ranges);
        deflections.clone_from(&source.deflections);
        surfaces.clone_from(&source.surfaces);
        motors.clone_from(&source.motors);
        motions.clone_from(&source.motions);
        commands.clone_from(&source.commands);
        refused.clone_from(&source.refused);
        captures.clone_from(&source.captures);
        *rank = source.rank;
        reports.clone_from(&source.reports);
        controlled.clone_from(&source.controlled);
        samples.clone_from(&source.samples);
    }
}

fn write_all<T: Stored>(values: &[T], to: &mut impl FnMut(f64)) {
    values.iter().for_each(|value| value.write(to));
}

fn read_all<T: Stored>(values: &mut [T], next: &mut impl FnMut() -> f64) -> Option<()> {
    for value in values {
        *value = T::read(next)?;
    }
    Some(())
}

impl Discrete {
    /// Returns the discrete state of a model before its start: joints have their initial motions.
    pub fn new(model: &Model) -> Self {
        let loads = &model.elements;
        let switched = loads.drives.iter().filter(|drive| drive.mode().is_some());
        let controller = model.controller.as_ref();
        Self {
            segments: vec![0; model.signals.len()],
            ranges: vec![Limit::Within; loads.ranges.len()],
            deflections: vec![false; model.limits.len()],
            surfaces: vec![Surfaces::Apart; loads.touching().count()],
            motors: vec![MotorState::default(); loads.motors.len()],
            motions: switched.map(|drive| drive.motion()).collect(),
            commands: vec![false; loads.strikes.len()],
            refused: vec![None; loads.drives.len()],
            captures: vec![Captured::default(); loads.captures().count()],
            rank: 0,
            reports: vec![Report::default(); loads.contacts.len()],
            controlled: vec![Limit::Within; controller.map_or(0, |controller| controller.axes.len())],
            samples: controller.map_or_else(Samples::default, Samples::new),
        }
    }

    /// Writes all its numbers; [`read`](Self::read) reads them in the same order.
    pub fn write(&self, to: &mut impl FnMut(f64)) {
        let Self {
            segments,
            ranges,
            deflections,
            surfaces,
            motors,
            motions,
            commands,
            refused,
            captures,
            rank,
            reports,
            controlled,
            samples,
        } = self;
        write_all(segments, to);
        write_all(ranges, to);
        write_all(deflections, to);
        write_all(surfaces, to);
        write_all(motors, to);
        write_all(motions, to);
        write_all(commands, to);
        write_all(refused, to);
        write_all(captures, to);
        rank.write(to);
        write_all(reports, to);
        write_all(controlled, to);
        samples.write(to);
    }

    /// Reads its values from the next numbers; `None` if no run of the model can have them.
    pub fn read(&mut self, model: &Model, next: &mut impl FnMut() -> f64) -> Option<()> {
        read_all(&mut self.segments, next)?;
        read_all(&mut self.ranges, next)?;
        read_all(&mut self.deflections, next)?;
        read_all(&mut self.surfaces, next)?;
        read_all(&mut self.motors, next)?;
        read_all(&mut self.motions, next)?;
        read_all(&mut self.commands, next)?;
        read_all(&mut self.refused, next)?;
        read_all(&mut self.captures, next)?;
        self.rank = usize::read(next)?;
        read_all(&mut self.reports, next)?;
        read_all(&mut self.controlled, next)?;
        self.samples.read(next)?;
        self.is_possible(model).then_some(())
    }

    /// Returns the count of its numbers.
    pub fn size(&self) -> usize {
        let mut count = 0;
        self.write(&mut |_| count += 1);
        count
    }

    /// Returns true if a run of the model can have these values.
    fn is_possible(&self, model: &Model) -> bool {
        let loads = &model.elements;
        let mut motors = loads.motors.iter().zip(&self.motors);
        let mut drives = loads.drives.iter();
        self.segments.iter().all(|&segment| segment >= 0)
            && self.rank <= loads.most_rows()
            && motors.all(|(motor, state)| motor.can_have(state))
            && drives.all(|drive| drive.motions().contains(&drive.motion_now(&self.motions)))
    }

    /// Returns true while a capture is active.
    #[inline]
    pub(super) fn is_held(&self, capture: usize) -> bool {
        self.captures[capture].holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(text: &str) -> Model {
        Model::read(text, std::path::Path::new(".")).expect("a spacecraft")
    }

    /// A motor's rate has limit states only if it has a limit.
    #[test]
    fn motors_have_the_states_that_they_can_have_and_no_others() {
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
            let mut written = Discrete::new(&model);
            let torque = Limit::Above;
            written.motors[motor] = MotorState {
                torque,
                rate,
                is_beyond,
            };
            let mut numbers = Vec::new();
            written.write(&mut |number| numbers.push(number));
            let (mut read, mut next) = (Discrete::new(&model), numbers.into_iter());
            let is_read = read.read(&model, &mut || next.next().expect("as many")).is_some();
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

    #[test]
    fn numbers_that_no_run_can_have_are_refused() {
        let model = model(
            "name = \"one\"\n[body.a]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n[joint.a_root]\ntype = \"revolute\"\n\
             parent = \"world\"\nchild = \"a\"\nrange = { min = -1.0, max = 1.0 }\n",
        );
        let read = |range: f64| {
            let mut discrete = Discrete::new(&model);
            let mut next = std::iter::once(range).chain(std::iter::repeat(0.0));
            let read = discrete.read(&model, &mut || next.next().expect("endless"));
            read.map(|()| discrete.ranges[0])
        };
        assert_eq!(read(-1.0), Some(Limit::Below));
        for number in [2.0, 0.5, f64::NAN, f64::INFINITY, -3e9] {
            assert_eq!(read(number), None, "{number}");
        }
    }
}
