//! Adjoint of the outputs of `[kinematics.<name>]` (`docs/theory/adjoint.md`, *Jacobians of frames*).

use super::{FrameKinematics, NO_REACTION, UnitMotion};
use crate::algebra::{DampedInverse, NullSpace, Twist, Wrench};
use crate::spec::{Component, KinematicOutput};

/// Derivatives with respect to a [`UnitMotion`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitMotionAdjoint {
    pub fixed: Wrench<f64>,
    pub floating: Wrench<f64>,
    pub base: Wrench<f64>,
    pub momentum: Twist<f64>,
}

impl UnitMotionAdjoint {
    pub fn zero() -> Self {
        let zero = Wrench::zero();
        Self {
            fixed: zero,
            floating: zero,
            base: zero,
            momentum: Twist::zero(),
        }
    }
}

/// Workspace for the adjoint of the outputs of one element.
#[derive(Clone, Debug)]
pub(crate) struct OutputsAdjoint {
    /// Derivatives with respect to the motions of unit rates.
    pub motions: Vec<UnitMotionAdjoint>,
    /// Derivatives with respect to the columns of the base's inertia.
    pub inertia: [Twist<f64>; 6],
    scaled: [Vec<[f64; 6]>; 3],
}

impl OutputsAdjoint {
    /// Allocates for up to `most` rates.
    pub fn new(most: usize) -> Self {
        Self {
            motions: vec![UnitMotionAdjoint::zero(); most],
            inertia: [Twist::zero(); 6],
            scaled: [(); 3].map(|()| vec![[0.0; 6]; most]),
        }
    }
}

impl FrameKinematics {
    /// Computes the derivatives of the outputs, weighted by `seeds`, with respect to the motions of
    /// unit rates and the inertia of the base.
    pub fn weigh(&self, parameters: &[f64], motions: &[UnitMotion<f64>], seeds: &[f64], to: &mut OutputsAdjoint) {
        let n = motions.len();
        to.motions[..n].fill(UnitMotionAdjoint::zero());
        to.inertia.fill(Twist::zero());
        let mut seeds = seeds;
        for &output in &self.outputs {
            let (bars, rest) = seeds.split_at(self.size(output).iter().product());
            seeds = rest;
            if bars.iter().all(|&bar| bar == 0.0) {
                continue;
            }
            let column = |k: usize, of: usize| -> [f64; 6] { std::array::from_fn(|row| bars[of * row + k]) };
            match output {
                KinematicOutput::BaseInertia => {
                    for (k, of) in to.inertia.iter_mut().enumerate() {
                        *of = *of + Twist::from_slice(&column(k, 6));
                    }
                }
                KinematicOutput::ReactionNullSpace => self.weigh_null_space(parameters, motions, bars, to),
                KinematicOutput::SingularValue | KinematicOutput::Manipulability => {
                    self.weigh_number(parameters, motions, (output, bars[0]), to);
                }
                _ => {
                    for (k, motion) in to.motions[..n].iter_mut().enumerate() {
                        let bar = column(k, n);
                        let of = match output {
                            KinematicOutput::Jacobian => &mut motion.fixed,
                            KinematicOutput::BaseMotion => &mut motion.base,
                            KinematicOutput::CouplingInertia => {
                                motion.momentum = motion.momentum + Twist::from_slice(&bar);
                                continue;
                            }
                            _ => &mut motion.floating,
                        };
                        *of = *of + Wrench::from_slice(&bar);
                    }
                }
            }
        }
    }

    /// Adds those of the smallest singular value, or of the product of all.
    fn weigh_number(
        &self,
        parameters: &[f64],
        motions: &[UnitMotion<f64>],
        (output, bar): (KinematicOutput, f64),
        to: &mut OutputsAdjoint,
    ) {
        let n = motions.len();
        let columns = &mut to.scaled[0][..n];
        let floating = |motion: &UnitMotion<f64>| motion.floating.to_array();
        self.scale(parameters, &self.components, motions, floating, columns);
        match output {
            KinematicOutput::SingularValue => {
                DampedInverse::differentiate_singular_value(columns, self.components.len());
            }
            _ => DampedInverse::differentiate_volume(columns, self.components.len()),
        }
        for (k, (motion, column)) in to.motions.iter_mut().zip(&*columns).enumerate() {
            let of = self.spread(parameters, &self.components, k, column);
            motion.floating = motion.floating + of * bar;
        }
    }

    /// Adds those of the projector.
    fn weigh_null_space(&self, parameters: &[f64], motions: &[UnitMotion<f64>], bars: &[f64], to: &mut OutputsAdjoint) {
        let (n, components, length) = (motions.len(), &self.base_components, self.length(parameters));
        let [columns, unit_rows, workspace] = to.scaled.each_mut().map(|columns| &mut columns[..n]);
        let base = |motion: &UnitMotion<f64>| motion.base.to_array();
        self.scale(parameters, components, motions, base, columns);
        unit_rows.copy_from_slice(columns);
        let projector = NullSpace::new(unit_rows, components.len(), NO_REACTION);
        let bar = |i: usize, j: usize| {
            let bar = bars[i * n + j];
            match (self.axes[i].1, self.axes[j].1) {
                (true, false) => bar / length,
                (false, true) => bar * length,
                _ => bar,
            }
        };
        projector.differentiate(bar, columns, workspace);
        for (k, (motion, column)) in to.motions.iter_mut().zip(&*columns).enumerate() {
            motion.base = motion.base + self.spread(parameters, components, k, column);
        }
    }

    /// Returns the adjoint of motion `k` from that of its pure numbers, [`scale`](Self::scale).
    fn spread(&self, parameters: &[f64], components: &[Component], k: usize, column: &[f64; 6]) -> Wrench<f64> {
        let length = self.length(parameters);
        let rate = if self.axes[k].1 { 1.0 } else { length };
        Wrench::from_slice(&Component::spread(components, length, column, rate))
    }
}
