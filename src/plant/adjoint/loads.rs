//! Record of loads and outputs (`docs/theory/adjoint.md`).

use super::Seeds;
use super::recording::seed;
use crate::algebra::{Recorded, Scalar, Tape, Wrench};
use crate::dynamics::Applied;
use crate::dynamics::recursive::TreeAdjoint;
use crate::elements::{Elements, View};
use crate::plant::context::Constants;
use crate::plant::guided::Guidance;
use crate::plant::{Discrete, Evaluation, Model};
use crate::system::{Configuration, JointState};

/// Seeds the recorded loads on stations with their adjoints, and takes their values from the loads on
/// the bodies of `tree`, of which they are part. Requires `λ`.
pub(super) fn seed_stations(
    tape: &mut Tape,
    tree: &mut TreeAdjoint,
    at: Configuration<f64>,
    stations: &[Wrench<Recorded>],
) {
    for (s, F) in stations.iter().enumerate() {
        seed(tape, &F.to_array(), &tree.of_station(s).to_array());
        let [t, f] = [F.t, F.f].map(|part| part.map(Recorded::value));
        tree.move_to_station(at, s, Wrench::new(t, f));
    }
}

/// Returns the adjoint of the power of the loads without a potential.
pub(super) fn of_power(of: Constants, seeds: Seeds) -> f64 {
    of.model.split(seeds.dx).work.first().map_or(0.0, |seed| *seed)
}

/// Returns true if a load of the `recorded` elements, `None` for all, a row or the power of drives
/// may depend on positions, motions and reactions of bodies.
pub(super) fn read_bodies(model: &Model, recorded: Option<&Elements>) -> bool {
    let (elements, system) = (recorded.unwrap_or(&model.elements), &model.system);
    let reads = elements.reads();
    reads.bodies
        || reads.motions
        || elements.read_deflections()
        || system.frames.iter().any(|frame| frame.station.is_some())
        || elements.need_rigid_model()
        || elements.most_rows() > 0
        || !system.nodal.is_empty()
        || !system.propellant.is_empty()
        || system.bodies.iter().any(|body| body.joint.is_drivable())
}

impl Evaluation<Recorded> {
    /// Allocates the workspace for a record of loads: these keep wrenches on stations apart, and those
    /// of the rigid model are without gravity.
    pub(in crate::plant) fn for_loads(model: &Model) -> Self {
        let mut evaluation = Self::new(model);
        let apart = || Applied::apart(&model.system);
        evaluation.applied = apart();
        if let Some(closure) = &mut evaluation.closure {
            closure.loads = apart();
        }
        if let Some(feed_forward) = &mut evaluation.feed_forward {
            feed_forward.applied = apart();
            feed_forward.omit_gravity();
        }
        if let (Some(guidance), Some(guided)) = (&mut evaluation.guidance, model.guided.as_deref()) {
            **guidance = Guidance::with(Self::for_loads(&guided.spacecraft), guided);
        }
        evaluation
    }

    /// Records the outputs that are not differentiated in closed form, with the given energies of ANCF
    /// beams and of uniform gravity, which are not among the `elements`.
    pub(super) fn observe_rest(
        &mut self,
        of: Constants,
        x: &[Recorded],
        discrete: &Discrete,
        elements: &Elements,
        energies: &[Recorded],
        y: &mut [Recorded],
    ) {
        self.with_view(of, x, discrete, |view| {
            let view = View {
                elements,
                energies: Some(energies),
                omits_frames: true,
                ..*view
            };
            of.model.elements.observe(&view, &mut y[..of.model.first_of_frames()]);
        });
    }

    /// Records the equations of motion with constant reactions of captures, loops and couplings.
    pub(super) fn hold(&mut self, of: Constants, discrete: &Discrete, joints: JointState<Recorded>, reactions: &[f64]) {
        if let Some(closure) = &mut self.closure {
            let (kinematics, applied) = (&self.kinematics, &self.applied);
            closure.record_loads(of, discrete, kinematics, joints, applied, reactions);
            closure.record_residuals(&of.model.system, kinematics, self.dynamics.A(), &self.qdd);
        }
    }

    /// Records the reactions as the variables from number `first` on; returns the power of
    /// captures.
    pub(super) fn react(&mut self, of: Constants, first: usize, reactions: &[f64]) -> Recorded {
        match &mut self.closure {
            Some(closure) => closure.record_reactions(first, reactions, of.model, &self.kinematics, &mut self.applied),
            None => Recorded::lift(0.0),
        }
    }
}
