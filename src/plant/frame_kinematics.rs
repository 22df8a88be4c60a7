//! Jacobians of frames and momentum matrices, as outputs.

use super::context::ConstantsOf;
use super::evaluation::Evaluation;
use super::model::Model;
use crate::algebra::{Scalar, Twist, Wrench};
use crate::dynamics::recursive::{CompositeBodies, frame_columns};
use crate::elements::{Cursor, FrameKinematics, UnitMotion};
use crate::system::Configuration;

/// Workspace for the outputs of `[kinematics.<name>]`.
#[derive(Clone, Debug)]
pub(super) struct FrameWorkspace<S: Scalar> {
    pub composite: CompositeBodies<S>,
    columns: Vec<Twist<S>>,
    pub motions: Vec<UnitMotion<S>>,
    scaled: Vec<[S; 6]>,
}

impl Model {
    /// Returns the index of the first of these outputs, which precede those of effective masses.
    pub(super) fn first_of_frames(&self) -> usize {
        let count = self.elements.kinematics.iter().map(FrameKinematics::count);
        self.first_effective_mass() - count.sum::<usize>()
    }
}

impl<S: Scalar> FrameWorkspace<S> {
    /// Allocates the workspace; `None` if the model has no such outputs.
    pub fn new(model: &Model) -> Option<Box<Self>> {
        let most = model.elements.kinematics.iter().map(|of| of.rates.len()).max()?;
        let system = &model.system;
        Some(Box::new(Self {
            composite: CompositeBodies::new(system),
            columns: vec![Twist::zero(); system.nv],
            motions: vec![UnitMotion::zero(); most],
            scaled: vec![[S::zero(); 6]; most],
        }))
    }
}

impl<S: Scalar> FrameWorkspace<S> {
    /// Computes the motions of unit rates of one element at the kinematics `at`, of which
    /// [`composite`](Self::composite) is.
    ///
    /// The unit rate of a joint has the momentum `F` about the origin of the base, and the
    /// composite inertia of the spacecraft is `I`: without momentum the base has the motion `−I⁻¹
    /// F`, and the frame `J − shift(I⁻¹ F, r)`, which is Umetani and Yoshida's generalised
    /// Jacobian. Bodies that are captured are not among those of the spacecraft. The motion of a
    /// base without inertia is NaN.
    pub fn update(&mut self, at: Configuration<S>, element: &FrameKinematics) {
        let Self {
            composite,
            columns,
            motions,
            ..
        } = self;
        let kinematics = at.kinematics;
        frame_columns(at, element.frame, columns);
        let floating = element.base.map(|base| {
            let on = kinematics.carrier(at.system.carrier(element.frame));
            (base, on.p_WB - kinematics.bodies[base].p_WB + at.arm(element.frame).p)
        });
        let inertia = element.base.map(|base| composite.inertia(base).factor());
        for (motion, &v) in motions.iter_mut().zip(&element.rates) {
            let base = match (floating, &inertia) {
                (Some((base, _)), Some(Ok(inertia))) if composite.roots[v] == base => {
                    inertia.solve(&composite.momenta[v]) * -S::one()
                }
                (Some(_), Some(Err(_))) => Twist::from_slice(&[S::lift(f64::NAN); 6]),
                _ => Twist::zero(),
            };
            let momentum = match floating {
                Some((base, _)) if composite.roots[v] == base => composite.momenta[v],
                _ => Wrench::zero(),
            };
            let r = floating.map(|(_, r)| r);
            *motion = UnitMotion {
                fixed: columns[v],
                floating: r.map_or(columns[v], |r| columns[v] + base.shift(&r)),
                base,
                momentum,
            };
        }
    }
}

impl<S: Scalar> Evaluation<S> {
    /// Writes the Jacobians of frames and the momentum matrices into `y`, at the present kinematics.
    pub(super) fn frame_kinematics(&mut self, of: ConstantsOf<S>, y: &mut [S]) {
        let Some(workspace) = &mut self.frames else {
            return;
        };
        let at = of.at(&self.kinematics);
        workspace.composite.update(at.system, at.derived, at.kinematics);
        let mut y = Cursor::new(y);
        for element in &of.model.elements.kinematics {
            workspace.update(at, element);
            let FrameWorkspace {
                composite,
                motions,
                scaled,
                ..
            } = &mut **workspace;
            let inertia = element.base.map(|base| composite.inertia(base));
            element.write(
                S::numbers(of.parameters),
                inertia,
                &motions[..element.rates.len()],
                scaled,
                &mut y,
            );
        }
    }
}
