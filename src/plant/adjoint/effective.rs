use crate::algebra::{Recorded, Tape, Twist, Wrench};
use crate::dynamics::Applied;
use crate::dynamics::recursive::{Gradient, JointAdjoints, TreeAdjoint};
use crate::elements::EffectiveMass;
use crate::plant::context::{Constants, OperatingPoint};
use crate::plant::effective_mass::{least_response, unit_wrench};
use crate::plant::{Evaluation, Model};
use crate::system::{Carrier, Configuration, JointState, Kinematics};

/// Adjoints of effective masses (`docs/theory/adjoint.md`, *Effective masses*), without captures and
/// loops.
#[derive(Clone, Debug)]
pub(super) struct EffectiveAdjoint {
    /// True if a frame is on an ANCF beam, which is not supported.
    pub is_on_beam: bool,
    rest: Kinematics<f64>,
    tree: TreeAdjoint,
    load: Applied<f64>,
    qdd: Vec<f64>,
    /// Response of the bodies and of the rates, times the weight of the response.
    A: Vec<Twist<f64>>,
    rates: Vec<f64>,
    gradients: Vec<Gradient>,
    zeros: Vec<f64>,
    /// Adjoints of rates at rest, which are constants.
    unused: Vec<f64>,
    q_bar: Vec<f64>,
}

/// Response of a carrier to a unit wrench on it.
struct Response {
    on: Carrier,
    F: Wrench<f64>,
    A: Twist<f64>,
}

impl EffectiveAdjoint {
    /// Allocates for a model; `None` without effective masses.
    pub fn new(model: &Model) -> Option<Box<Self>> {
        let system = &model.system;
        let zeros = || vec![0.0; system.nv];
        (!model.elements.effective_masses.is_empty()).then(|| {
            let mut frames = model.elements.effective_masses.iter().map(|mass| mass.frame);
            Box::new(Self {
                is_on_beam: frames.any(|frame| matches!(system.carrier(frame), Carrier::Point(_))),
                rest: Kinematics::new(system),
                tree: TreeAdjoint::new(system),
                load: Applied::none(system),
                qdd: zeros(),
                A: vec![Twist::zero(); system.bodies.len()],
                rates: zeros(),
                gradients: vec![Gradient::zero(); system.bodies.len() + system.stations.len()],
                zeros: zeros(),
                unused: zeros(),
                q_bar: vec![0.0; system.nq],
            })
        })
    }

    /// Computes the adjoints of the coordinates for the seeds `y` of the effective masses, and seeds
    /// the relative masses `fills`. Overwrites the accelerations of `values`.
    pub fn evaluate(
        &mut self,
        of: Constants,
        at: OperatingPoint,
        y: &[f64],
        values: &mut Evaluation<f64>,
        fills: &[Recorded],
        tape: &mut Tape,
    ) {
        let system = &of.model.system;
        self.q_bar.fill(0.0);
        if y.iter().all(|&seed| seed == 0.0) {
            return;
        }
        self.rest.fills.copy_from_slice(&values.kinematics.fills);
        self.rest.update(system, of.derived, &at.x[..system.nq], &self.zeros);
        let frames = of.model.elements.effective_masses.iter().map(|mass| mass.frame);
        for (frame, seeds) in frames.zip(y.chunks_exact(EffectiveMass::OUTPUTS)) {
            let mut responses = [0.0; EffectiveMass::OUTPUTS];
            for (i, response) in responses.iter_mut().enumerate() {
                let (on, F) = unit_wrench(of.at(&self.rest), frame, i);
                *response = F.power(&self.respond(of, on, F, values));
            }
            for (i, (&response, &seed)) in responses.iter().zip(seeds).enumerate() {
                let least = least_response(&responses[i / 3 * 3..i / 3 * 3 + 3]);
                if seed != 0.0 && response > least {
                    let (on, F) = unit_wrench(of.at(&self.rest), frame, i);
                    let A = self.respond(of, on, F, values);
                    self.add(of, at, Response { on, F, A }, -seed / (response * response), values);
                    for (&body, fill) in system.propellant.iter().zip(fills) {
                        tape.seed(*fill, self.tree.of_fill(of.at(&self.rest), body));
                    }
                }
            }
        }
    }

    /// Computes the response to the wrench `F` on a carrier; returns that of the carrier.
    fn respond(&mut self, of: Constants, on: Carrier, F: Wrench<f64>, values: &mut Evaluation<f64>) -> Twist<f64> {
        let (system, dynamics) = (&of.model.system, &mut values.dynamics);
        self.load.clear();
        self.load.push(system, &self.rest, on, F);
        dynamics.respond(of.at(&self.rest), &self.load, &mut self.qdd);
        self.rest.beyond_bias_of(system, on, dynamics.A(), &self.qdd)
    }

    /// Adds the derivatives of the response `F·A` with a weight.
    fn add(
        &mut self,
        of: Constants,
        at: OperatingPoint,
        Response { on, F, A }: Response,
        weight: f64,
        values: &Evaluation<f64>,
    ) {
        let system = &of.model.system;
        let rest: Configuration<f64> = of.at(&self.rest);
        let response = values.dynamics.A();
        (self.A.iter_mut().zip(response)).for_each(|(to, A)| *to = *A * weight);
        (self.rates.iter_mut().zip(&self.qdd)).for_each(|(to, rate)| *to = rate * weight);
        self.gradients.fill(Gradient::zero());
        self.load.clear();
        let loaded = match on {
            Carrier::Body(i) => {
                self.load.wrench[i] = F * 2.0;
                i
            }
            Carrier::Station(s) => system.bodies.len() + s,
            Carrier::World | Carrier::Point(_) => return,
        };
        self.gradients[loaded].pose.t = (F.t.cross(&A.w) + F.f.cross(&A.v)) * (2.0 * weight);
        self.tree.begin(rest, &self.load, response, &self.qdd, &self.zeros);
        self.tree.respond_as(rest, &self.A, &self.rates, &self.gradients);
        if let Carrier::Station(s) = on {
            self.tree.load_station(s, F * 2.0);
        }
        let joints = JointState {
            q: &at.x[..system.nq],
            qd: &self.zeros,
        };
        let mut bars = JointAdjoints {
            q: &mut self.q_bar,
            qd: &mut self.unused,
        };
        self.tree
            .coordinates_at_rest(rest, &self.gradients, joints, &self.qdd, &mut bars);
    }

    /// Adds the adjoints of the coordinates to those of the states.
    pub fn add_coordinates(&self, x_bar: &mut [f64]) {
        let of_masses = x_bar.iter_mut().zip(&self.q_bar);
        of_masses.for_each(|(to, bar)| *to += bar);
    }
}
