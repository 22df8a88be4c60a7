use crate::algebra::{Twist, Vec3, Wrench};
use crate::dynamics::recursive::{CompositeAdjoint, Gradient, JointAdjoints};
use crate::elements::{FrameKinematics, OutputsAdjoint};
use crate::plant::context::Constants;
use crate::plant::frame_kinematics::FrameWorkspace;
use crate::plant::{Evaluation, Model};
use crate::system::{Carrier, Configuration, JointState};

/// Adjoints of the Jacobians of frames and of the momentum matrices among the outputs
/// (`docs/theory/adjoint.md`, *Jacobians of frames*, whose numbers the comments cite).
#[derive(Clone, Debug)]
pub(super) struct JacobianAdjoint {
    outputs: OutputsAdjoint,
    composite: CompositeAdjoint,
    /// Derivatives with respect to the frame's motion for each unit rate with the base at rest.
    fixed: Vec<Wrench<f64>>,
}

/// Derivatives to which those of the outputs are added.
pub(super) struct Bars<'a, 'b> {
    /// With respect to positions of bodies and stations.
    pub gradients: &'a mut [Gradient],
    /// With respect to the joints' columns.
    pub columns: &'a mut [Wrench<f64>],
    /// With respect to coordinates and rates.
    pub joints: &'a mut JointAdjoints<'b>,
}

impl JacobianAdjoint {
    /// Allocates for a model; `None` without such outputs.
    pub fn new(model: &Model) -> Option<Box<Self>> {
        let most = model.elements.kinematics.iter().map(|of| of.rates.len()).max()?;
        Some(Box::new(Self {
            outputs: OutputsAdjoint::new(most),
            composite: CompositeAdjoint::new(&model.system),
            fixed: vec![Wrench::zero(); model.system.nv],
        }))
    }

    /// Adds the derivatives of the outputs with the weights `seeds`, at the kinematics of `values`,
    /// to `bars`.
    pub fn add(
        &mut self,
        of: Constants,
        joints: JointState<f64>,
        seeds: &[f64],
        values: &mut Evaluation<f64>,
        bars: &mut Bars,
    ) {
        self.composite.begin();
        let Some(workspace) = values.frames.as_deref_mut() else {
            return;
        };
        if seeds.iter().all(|&seed| seed == 0.0) {
            return;
        }
        let at = of.at(&values.kinematics);
        workspace.composite.update(at.system, at.derived, at.kinematics);
        let mut seeds = seeds;
        for element in &of.model.elements.kinematics {
            let (own, rest) = seeds.split_at(element.count());
            seeds = rest;
            workspace.update(at, element);
            let motions = &workspace.motions[..element.rates.len()];
            element.weigh(of.parameters, motions, own, &mut self.outputs);
            self.fixed.fill(Wrench::zero());
            self.add_floating(at, element, workspace, bars);
            self.add_fixed(at, element, bars);
        }
        self.composite.finish(at, joints.q, bars.gradients, bars.joints.q);
    }

    /// Returns the derivative with respect to the mass of propellant `k`, relative to that at the
    /// start, after [`add`](Self::add).
    pub fn of_fill(&self, k: usize) -> f64 {
        self.composite.of_fill(k)
    }

    /// Adds the derivatives with respect to momenta, to the base's inertia and to the position of the
    /// frame relative to the base, (34); sets those with respect to the motions with the base at rest.
    fn add_floating(
        &mut self,
        at: Configuration<f64>,
        element: &FrameKinematics,
        workspace: &FrameWorkspace<f64>,
        bars: &mut Bars,
    ) {
        let composite = &workspace.composite;
        let own = self.outputs.motions.iter().zip(&workspace.motions).zip(&element.rates);
        let Some(base) = element.base else {
            for ((bar, _), &v) in own {
                self.fixed[v] = bar.fixed + bar.floating;
            }
            return;
        };
        let on = at.kinematics.carrier(at.system.carrier(element.frame));
        let r = on.p_WB - at.kinematics.bodies[base].p_WB + at.arm(element.frame).p;
        let factors = composite.inertia(base).factor();
        let mut of_r = Vec3::zeros();
        for ((bar, motion), &v) in own {
            self.fixed[v] = bar.fixed + bar.floating;
            if composite.roots[v] != base {
                continue;
            }
            let of_base = bar.base + bar.floating.shift(&r);
            of_r += bar.floating.f.cross(&motion.base.w);
            let weight = match &factors {
                Ok(factors) => factors.solve(&of_base) * -1.0,
                Err(_) => Twist::from_slice(&[f64::NAN; 6]),
            };
            self.composite.add_inertia(base, &weight, &motion.base);
            let of_momentum = weight + bar.momentum;
            let of_column = self
                .composite
                .add_momentum(at, composite, v, &of_momentum, bars.gradients);
            bars.columns[v] = bars.columns[v] + of_column;
        }
        for (k, weight) in self.outputs.inertia.iter().enumerate() {
            let unit: [f64; 6] = std::array::from_fn(|i| f64::from(u8::from(i == k)));
            self.composite.add_inertia(base, weight, &Twist::from_slice(&unit));
        }
        bars.gradients[base].pose.f -= of_r;
        add_at_frame(at, element, of_r, bars.gradients);
    }

    /// Adds the derivatives with respect to the columns of the joints that move the frame, and to
    /// their positions relative to it, (35).
    fn add_fixed(&self, at: Configuration<f64>, element: &FrameKinematics, bars: &mut Bars) {
        let (system, kinematics) = (at.system, at.kinematics);
        let p = kinematics.carrier(system.carrier(element.frame)).p_WB + at.arm(element.frame).p;
        let mut of_frame = Vec3::zeros();
        let mut next = system.carrying_body(element.frame);
        while let Some(i) = next {
            let joint = &system.bodies[i].joint;
            let r = p - kinematics.bodies[i].p_WB;
            for v in joint.v..joint.v + joint.nv {
                let bar = &self.fixed[v];
                bars.columns[v] = bars.columns[v] + bar.shift(&r);
                let of_r = bar.f.cross(&kinematics.H[v].w);
                bars.gradients[i].pose.f -= of_r;
                of_frame += of_r;
            }
            next = system.bodies[i].parent;
        }
        add_at_frame(at, element, of_frame, bars.gradients);
    }
}

/// Adds the derivatives with respect to the position of the frame of an element.
fn add_at_frame(at: Configuration<f64>, element: &FrameKinematics, of_p: Vec3<f64>, gradients: &mut [Gradient]) {
    let carrier = match at.system.carrier(element.frame) {
        Carrier::Body(i) => i,
        Carrier::Station(s) => at.system.bodies.len() + s,
        Carrier::World | Carrier::Point(_) => return,
    };
    let arm = at.arm(element.frame).p;
    gradients[carrier].pose = gradients[carrier].pose + Wrench::new(arm.cross(&of_p), of_p);
}
