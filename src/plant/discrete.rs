use super::Model;
use super::layout::POSE;
use crate::algebra::{Mat3, Vec3};
use std::ops::Range;

/// What changes at events only.
#[derive(Debug, Default, PartialEq)]
pub struct Discrete {
    /// Pieces of signals, sides of ranges and of linear limits, touches, limits of motors, motions of joints, commands, captures, the rank of their rows, limits of a
    /// controller.
    pub modes: Vec<i32>,
    /// Numbers that stand from one event to the next: what the last impacts did, how captured frames met, where surfaces met, what a controller holds,
    /// commands that were none of their joints' motions and of which the user knows.
    pub numbers: Vec<f64>,
}

/// Of a joint whose last command was one of its motions. (As a command it would be refused without a word.)
pub(super) const NONE_REFUSED: f64 = f64::MAX;

impl Clone for Discrete {
    fn clone(&self) -> Self {
        Self {
            modes: self.modes.clone(),
            numbers: self.numbers.clone(),
        }
    }

    /// Copies without taking memory, between those of one model.
    fn clone_from(&mut self, source: &Self) {
        let Self { modes, numbers } = self;
        modes.clone_from(&source.modes);
        numbers.clone_from(&source.numbers);
    }
}

impl Discrete {
    /// Room for a model's.
    pub fn new(model: &Model) -> Self {
        Self {
            modes: vec![0; model.layout.modes],
            numbers: vec![0.0; model.layout.numbers],
        }
    }

    /// Whether a run can have these modes: each one that it can have, and no other.
    pub fn is_possible(&self, model: &Model) -> bool {
        let within = |range: Range<usize>, least: i32, most: i32| {
            let mut modes = self.modes[range].iter();
            modes.all(|mode| (least..=most).contains(mode))
        };
        let layout = &model.layout;
        let most_rank = i32::try_from(model.loads.most_rows()).unwrap_or(i32::MAX);
        let (sides, motions) = (model.motor_sides(&self.modes), model.motions(&self.modes));
        let (mut motors, mut drives) = (model.loads.motors(), model.loads.drives.iter());
        within(0..layout.ranges, 0, i32::MAX)
            && within(layout.ranges..layout.limits, -1, 1)
            && within(layout.limits..layout.touches, 0, 1)
            && within(layout.touches..layout.motors, -1, i32::MAX - 1)
            && motors.all(|(motor, places)| {
                let mut sides = sides[places].iter().zip(motor.largest_sides());
                sides.all(|(side, largest)| (-largest..=largest).contains(side))
            })
            && drives.all(|drive| {
                let mode = drive.mode().map(|mode| motions[mode]);
                mode.is_none_or(|mode| drive.motions().iter().any(|motion| motion.number() == mode))
            })
            && within(layout.commands..layout.rank, 0, 1)
            && within(layout.rank..layout.controlled, 0, most_rank)
            && within(layout.controlled..self.modes.len(), -1, 1)
    }

    /// Whether a capture holds.
    #[inline]
    pub(super) fn is_held(&self, model: &Model, capture: usize) -> bool {
        self.modes[model.layout.captures + capture] != 0
    }

    /// Sets the same.
    pub(super) fn set_held(&mut self, model: &Model, capture: usize, held: bool) {
        self.modes[model.layout.captures + capture] = i32::from(held);
    }

    /// The rank of the rows of all captures that hold and of all loops.
    #[inline]
    pub(super) fn rank(&self, model: &Model) -> usize {
        let range = model.layout.rank..model.layout.controlled;
        self.modes[range]
            .first()
            .map_or(0, |&rank| usize::try_from(rank).unwrap_or(0))
    }

    /// Sets the same.
    pub(super) fn set_rank(&mut self, model: &Model, rank: usize) {
        let range = model.layout.rank..model.layout.controlled;
        let rank = i32::try_from(rank).unwrap_or(i32::MAX);
        self.modes[range].iter_mut().for_each(|mode| *mode = rank);
    }

    /// Where frame a was in b when it was captured: the place of its origin, m, and its rotation.
    #[inline]
    pub(super) fn captured(&self, model: &Model, capture: usize) -> (Vec3<f64>, Mat3<f64>) {
        let pose = &self.numbers[model.layout.poses + capture * POSE..];
        (
            Vec3::from_column_slice(&pose[..3]),
            Mat3::from_column_slice(&pose[3..POSE]),
        )
    }

    /// Sets the same.
    pub(super) fn set_captured(&mut self, model: &Model, capture: usize, (p, R): (&Vec3<f64>, &Mat3<f64>)) {
        let first = model.layout.poses + capture * POSE;
        self.numbers[first..first + 3].copy_from_slice(p.as_slice());
        self.numbers[first + 3..first + POSE].copy_from_slice(R.as_slice());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A motor's torque is at one limit or the other, its rate among the last or beyond, where it is limited.
    #[test]
    fn motors_have_the_sides_that_they_can_have_and_no_others() {
        let joint = |name: &str, parent: &str, limits: &str| {
            format!(
                "[body.{name}]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n[joint.{name}_root]\ntype = \"revolute\"\nparent = \"{parent}\"\nchild = \"{name}\"\n\
                 motor = {{ {limits} }}\n"
            )
        };
        let text = format!(
            "name = \"motors\"\n{}{}",
            joint("a", "world", "torque_limit = 1.0, rate_limit = 2.0"),
            joint("b", "a", "torque_limit = 1.0")
        );
        let model = Model::read(&text, std::path::Path::new(".")).expect("a craft");
        let most = (0..model.layout.modes).map(|i| {
            let mut discrete = Discrete::new(&model);
            let mut is_possible = |mode| {
                discrete.modes[i] = mode;
                discrete.is_possible(&model)
            };
            assert!(!is_possible(i32::MIN) && !is_possible(i32::MAX));
            let possible: Vec<i32> = (-4..=4).filter(|&mode| is_possible(mode)).collect();
            let most = *possible.last().expect("none but at all limits");
            assert!(possible.into_iter().eq(-most..=most));
            most
        });
        assert_eq!(most.collect::<Vec<_>>(), [1, 2, 1, 0]);
    }
}
