//! Monitoring of a run: distance of captures and loops from a singular position, constraint
//! violations, energy.

use super::closure::{Scaled, Side};
use super::context::{ConstantsOf, OperatingPoint};
use super::evaluation::{Engine, Evaluation, joint_coordinates};
use super::{Discrete, Model, Plant};
use crate::Error;
use crate::algebra::fused::dot;
use crate::algebra::{Scalar, Twist};
use crate::dynamics::LeastNorm;
use crate::dynamics::invariants::Invariants;
use crate::elements::Closed;
use crate::system::Kinematics;

/// Squared sine of the angle between a redundant row and the others, above which the row is
/// independent and the rank has risen.
const INDEPENDENT: f64 = 1e-4;

/// Least singular value of the rows of captures and loops, monitored over a step.
///
/// The factors `D` scale the rows so that the largest response of their two bodies at the joint, in
/// any direction, is one. `u` and `v` are the singular vectors of the least singular value `σ` of
/// `D J M^(-1/2)` at the step's start, `v` as rates. Along a step `s = uᵀ D J v` begins at `σ`. At
/// a singular position `J` loses rank and `s` passes zero: the motion then has two continuations,
/// and the equations do not determine which one a step takes.
#[derive(Clone, Debug)]
pub(super) struct SingularityMonitor {
    /// Kinematics at the rates `v`.
    kinematics: Kinematics<f64>,
    least_norm: LeastNorm<f64>,
    scaled: Scaled,
    scale: Vec<f64>,
    u: Vec<f64>,
    /// Singular vector, in combinations of the scaled rows.
    combined_u: Vec<f64>,
    v: Vec<f64>,
    /// Velocities of the bodies at the rates `v`.
    V: Vec<Twist<f64>>,
    dx: Vec<f64>,
    /// True if there is no singular position.
    is_regular: bool,
    /// Workspace for the bodies that constraints connect.
    trees: Vec<usize>,
    /// Least singular value `σ`: sine of the least angle between a row and the others.
    sigma: f64,
}

/// Kinetic and potential energy, and the work of all loads without a potential, J.
#[derive(Clone, Copy, Debug)]
pub struct Energies {
    /// Kinetic energy, J.
    pub kinetic: f64,
    /// Potential energy, J.
    pub potential: f64,
    /// Work since the start, J.
    pub work: f64,
    /// About twice the kinetic energy with a velocity of 1 m/s and an angular velocity of 1 rad/s:
    /// mass and moment of inertia of the system, J.
    pub at_unit_rates: f64,
}

impl SingularityMonitor {
    /// Allocates the workspace for a model; `None` if it has neither captures nor loops.
    pub fn new(model: &Model) -> Option<Box<Self>> {
        let rows = model.elements.most_rows();
        let n = model.elements.most_independent_rows(&model.system);
        (rows > 0).then(|| {
            Box::new(Self {
                kinematics: Kinematics::new(&model.system),
                least_norm: LeastNorm::new(n),
                scaled: Scaled::new(rows, n),
                scale: vec![0.0; rows],
                u: vec![0.0; rows],
                combined_u: vec![0.0; n],
                v: vec![0.0; model.system.nv],
                V: vec![Twist::zero(); model.system.bodies.len()],
                dx: vec![0.0; model.states.len()],
                is_regular: false,
                trees: vec![0; 1 + model.system.bodies.len()],
                sigma: 1.0,
            })
        })
    }
}

impl Plant {
    /// Returns true if constraints are active that are monitored: not while a contact slides, since its
    /// friction makes `W` asymmetric.
    pub fn is_closed(&self, discrete: &Discrete) -> bool {
        discrete.rank > 0 && !discrete.slides(&self.base.model.elements)
    }

    /// Begins the monitoring of a step at an operating point. Returns the sine of the least angle
    /// between a row of captures and loops and the others; it is zero in a singular position.
    ///
    /// # Errors
    /// Those of [`derivative`](Self::derivative); [`Error::SingularLoop`] if redundant rows have
    /// become independent.
    pub fn begin_singularity_check(&mut self, at: OperatingPoint) -> Result<f64, Error> {
        let of = self.base.constants();
        let (model, discrete) = (of.model, at.discrete);
        let (Some(monitor), true) = (
            &mut self.singularity,
            discrete.rank > 0 && !discrete.slides(&self.base.model.elements),
        ) else {
            return Ok(1.0);
        };
        let known = self.evaluation.known_derivative(at);
        let is_known = known.map(|known| monitor.dx.copy_from_slice(known)).is_some();
        let evaluation: &mut Evaluation<f64> = &mut self.evaluation;
        if !is_known {
            evaluation.derivative(of, at, &mut monitor.dx)?;
        }
        let Some(closure) = &mut evaluation.closure else {
            return Ok(1.0);
        };
        monitor.is_regular = closure.holds_alone(&model.system, discrete.rank, &mut monitor.trees);
        if monitor.is_regular {
            monitor.sigma = 1.0;
            if monitor.dx.iter().all(|d| d.is_finite()) {
                self.evaluation.set(at, &monitor.dx);
            }
            return Ok(1.0);
        }
        let engine = Engine {
            kinematics: &evaluation.kinematics,
            applied: &mut evaluation.applied,
            dynamics: &mut evaluation.dynamics,
        };
        closure.complete_responses(of, discrete, engine, &mut monitor.v);
        for (scale, response) in monitor.scale.iter_mut().zip(closure.responses()) {
            *scale = response.sqrt().recip();
        }
        closure.scaled(&monitor.scale, &mut monitor.scaled);
        let (scaled, n) = (&monitor.scaled, closure.row_count());
        let factored = monitor
            .least_norm
            .factor(&scaled.W, scaled.len(), discrete.rank, &scaled.responses);
        let combination = factored.err().or_else(|| {
            let risen = monitor.least_norm.beyond() > INDEPENDENT;
            risen.then(|| monitor.least_norm.next_row())
        });
        if let Some(combination) = combination {
            let closure = closure.name_of(model, scaled.row(combination));
            return Err(Error::SingularLoop { closure });
        }
        let u = &mut monitor.combined_u[..scaled.len()];
        monitor.sigma = monitor.least_norm.least_eigenvector(u).unwrap_or(1.0);
        scaled.expand(u, &mut monitor.u[..n]);
        for (u, scale) in monitor.u[..n].iter_mut().zip(&monitor.scale) {
            *u *= scale;
        }
        let (kinematics, applied) = (&evaluation.kinematics, &mut evaluation.applied);
        applied.clear();
        closure.push(Side::Reactions, model, kinematics, applied, &monitor.u[..n]);
        let dynamics = &mut evaluation.dynamics;
        dynamics.respond(of.at(kinematics), applied, &mut monitor.v);
        monitor.v.iter_mut().for_each(|v| *v /= monitor.sigma);
        Ok(monitor.sigma)
    }

    /// Returns the states' derivatives at the last
    /// [`begin_singularity_check`](Self::begin_singularity_check).
    pub fn checked_derivative(&self) -> &[f64] {
        self.singularity.as_ref().map_or(&[], |monitor| &monitor.dx)
    }

    /// Returns the kind and name of the capture or loop whose row was nearest to linear dependence
    /// at the last [`begin_singularity_check`](Self::begin_singularity_check).
    pub fn least_closure(&self, discrete: &Discrete) -> String {
        match (&self.singularity, &self.evaluation.closure) {
            (Some(monitor), Some(closure)) if discrete.rank > 0 => {
                let row = monitor.scaled.row(monitor.least_norm.last_pivot());
                closure.name_of(&self.base.model, row)
            }
            _ => String::new(),
        }
    }

    /// Returns `s` at the states `x`, for the last
    /// [`begin_singularity_check`](Self::begin_singularity_check). Its sign changes only if a
    /// singular position is passed.
    pub fn singularity_indicator(&mut self, x: &[f64], discrete: &Discrete) -> f64 {
        let of = self.base.constants();
        let is_current = self.evaluation.has_rows_at(x, discrete);
        if !is_current {
            self.evaluation.update_kinematics(of, x);
        }
        let evaluation = self.evaluation.keep();
        let at = joint_coordinates(evaluation.recovered.as_deref(), &of.model.split(x));
        let (Some(monitor), Some(closure)) = (&mut self.singularity, &mut evaluation.closure) else {
            return 1.0;
        };
        if !is_current {
            closure.set_up(of, false, discrete, &evaluation.kinematics, at);
        }
        if monitor.is_regular {
            return 1.0;
        }
        let system = &of.model.system;
        monitor.kinematics.update(system, of.derived, at.q, &monitor.v);
        let velocities = monitor.kinematics.bodies.iter().map(|body| body.V_WB);
        monitor.V.iter_mut().zip(velocities).for_each(|(to, V)| *to = V);
        let along = closure.along_rows(system, &evaluation.kinematics, &monitor.V, &monitor.v);
        along.zip(&monitor.u).map(|(rate, u)| rate * u).sum()
    }

    /// Returns the capture or loop with the largest constraint violation at the last
    /// [`singularity_indicator`](Self::singularity_indicator): its index, and the violations of
    /// offsets, m, and of angles, rad, beyond those from which it draws two beams together.
    pub fn worst_violation(&self) -> Option<(usize, [f64; 2])> {
        let closure = self.evaluation.closure.as_ref()?;
        let beyond = |closed: &Closed<f64>| {
            let violation = closed.violation();
            std::array::from_fn(|kind| violation[kind] - closed.drawn[kind])
        };
        let violations = closure.state.iter().map(beyond).enumerate();
        let worst =
            violations.max_by(|(_, a): &(usize, [f64; 2]), (_, b)| a[0].max(a[1]).total_cmp(&b[0].max(b[1])))?;
        let (index, [angle, offset]) = worst;
        Some((index, [offset, angle]))
    }

    /// Ends the tolerance for the offsets from which captures draw two beams together, where they
    /// are within `limit` (m, rad) at the last
    /// [`singularity_indicator`](Self::singularity_indicator).
    pub fn end_drawing(&self, discrete: &mut Discrete, limit: f64) {
        let closed = self.evaluation.closure.iter().flat_map(|closure| &closure.state);
        for (captured, closed) in discrete.captures.iter_mut().zip(closed) {
            if closed.held && closed.violation().iter().all(|violation| *violation <= limit) {
                captured.drawn = [0.0; 2];
            }
        }
    }

    /// Returns the positions of the joints at the states `x` as text, at most eight of them.
    pub fn configuration(&mut self, x: &[f64]) -> String {
        const MOST: usize = 8;
        let of = self.base.constants();
        let model = of.model;
        let q = self.evaluation.coordinates(of, x).q;
        let states = model.system.states();
        let of_joints = model.system.bodies.iter().filter(|body| body.joint.written);
        let indices = of_joints.flat_map(|body| body.joint.q..body.joint.q + body.joint.nq);
        let words: Vec<String> = indices.map(|i| format!("{} = {:.6}", states[i].name, q[i])).collect();
        match words.len() > MOST {
            true => format!("{}, …", words[..MOST].join(", ")),
            false => words.join(", "),
        }
    }

    /// Returns true if [`energies`](Self::energies) are computed at the states `x`.
    pub(crate) fn monitors_energy(&self, x: &[f64]) -> bool {
        !self.base.model.split(x).work.is_empty()
    }

    /// Computes the energies at an operating point; `None` without diagnostics, or if they are not
    /// finite.
    pub fn energies(&mut self, at: OperatingPoint) -> Option<Energies> {
        let of = self.base.constants();
        let work = *of.model.split(at.x).work.first()?;
        if let Some(known) = self.evaluation.known_results(at).and_then(|of| of.energies) {
            return Energies::of(known, work);
        }
        let evaluation = match self.evaluation.is_at(at) {
            true => self.evaluation.keep(),
            false => {
                let evaluation: &mut Evaluation<f64> = &mut self.evaluation;
                evaluation.read_inputs(of, at.t, at.u, at.x, at.discrete);
                evaluation.update_kinematics(of, at.x);
                evaluation
            }
        };
        Energies::of(evaluation.energies(of, at.x, at.discrete), work)
    }
}

impl Energies {
    /// Returns the energies with these [numbers](Evaluation::energies); `None` if they are not finite.
    fn of(numbers: [f64; 3], work: f64) -> Option<Self> {
        let [kinetic, potential, at_unit_rates] = numbers;
        numbers.iter().all(|energy| energy.is_finite()).then_some(Self {
            at_unit_rates,
            kinetic,
            potential,
            work,
        })
    }
}

impl<S: Scalar> Evaluation<S> {
    /// Returns the kinetic and the potential energy, and [`Energies::at_unit_rates`], at the present
    /// kinematics and inputs, J.
    pub(super) fn energies(&self, of: ConstantsOf<S>, x: &[S], discrete: &Discrete) -> [S; 3] {
        let model = of.model;
        let joints = joint_coordinates(self.recovered.as_deref(), &model.split(x));
        let now = self.instant(of, joints, discrete);
        let directors = self
            .recovered
            .as_deref()
            .and_then(|recovered| recovered.directors_rates.as_deref());
        let at = of.at(&self.kinematics);
        let sum = Invariants::new(at, joints, directors);
        let bodies = of.derived.bodies.iter().zip(&self.kinematics.bodies);
        let inertia = bodies.map(|(body, at)| {
            let from_centre = at.p_WB - sum.mass_centre;
            let own = body.J_Bo.d.iter().fold(S::zero(), |sum, &d| sum + S::lift(d));
            S::lift(body.m) * dot(&from_centre, &from_centre) + S::lift(0.5) * own
        });
        let at_unit_rates = inertia.fold(sum.mass, |sum, of| sum + of);
        [sum.kinetic_energy, model.elements.potential_energy(&now), at_unit_rates]
    }
}
