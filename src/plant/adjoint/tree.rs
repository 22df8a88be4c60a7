use super::Seeds;
use super::recording::{check, seed, set_variables};
use crate::Error;
use crate::algebra::{Mat3, Recorded, Scalar, Tape, Twist, Vec3, Wrench};
use crate::dynamics::Applied;
use crate::dynamics::recursive::{Gradient, JointAdjoints, Partials, TreeAdjoint, add_kinematics};
use crate::plant::context::Constants;
use crate::plant::coordinates::Coordinates;
use crate::plant::{Discrete, Evaluation, Model, OperatingPoint};
use crate::system::{BodyKinematics, JointState, System};

/// Adjoint derivatives with the recursive formulation, for trees of rigid bodies: the equations of
/// motion are differentiated by recursion ([`TreeAdjoint`]), loads and outputs are recorded.
///
/// The variables of the record are, in this order, those of [`Variables`].
#[derive(Clone, Debug)]
pub(super) struct ByTree {
    values: Evaluation<f64>,
    dx: Vec<f64>,
    recorded: Evaluation<Recorded>,
    x: Vec<Recorded>,
    u: Vec<Recorded>,
    qdd: Vec<Recorded>,
    /// Recorded derivatives of the work and of currents.
    rest: Vec<Recorded>,
    y: Vec<Recorded>,
    tape: Tape,
    tree: TreeAdjoint,
    gradients: Vec<Gradient>,
    /// Derivatives with respect to the joints' columns.
    columns: Vec<Wrench<f64>>,
    direct: Vec<f64>,
}

/// Indices of the first variable of each kind.
struct Variables {
    u: usize,
    /// Derivatives of the rates.
    qdd: usize,
    /// Columns of the joints, six numbers each.
    H: usize,
    /// Bodies, [`PER_BODY`] numbers each.
    bodies: usize,
    /// Reaction wrenches, six numbers each.
    reactions: usize,
    count: usize,
}

/// Rotation matrix, position, position from the carrier, velocity, acceleration.
const PER_BODY: usize = 9 + 3 + 3 + 6 + 6;

impl Variables {
    fn new(model: &Model) -> Self {
        let system = &model.system;
        let u = model.states.len();
        let qdd = u + model.inputs.len();
        let H = qdd + system.nv;
        let bodies = H + 6 * system.nv;
        let reactions = bodies + PER_BODY * system.bodies.len();
        let of_reactions = system.bodies.iter().filter(|body| body.reaction_index.is_some());
        Self {
            u,
            qdd,
            H,
            bodies,
            reactions,
            count: reactions + 6 * of_reactions.count(),
        }
    }
}

impl ByTree {
    /// Returns true for the models that this method supports.
    pub fn supports(model: &Model) -> bool {
        let (system, elements) = (&model.system, &model.elements);
        matches!(model.coordinates, Coordinates::Minimal)
            && system.flexible().next().is_none()
            && system.nodal.is_empty()
            && system.propellant.is_empty()
            && elements.closures() == 0
            && !elements.need_rigid_model()
            && elements.effective_masses.is_empty()
    }

    pub fn new(model: &Model) -> Self {
        let system = &model.system;
        let buffer = |n: usize| vec![Recorded::lift(0.0); n];
        Self {
            values: Evaluation::new(model),
            dx: vec![0.0; model.states.len()],
            recorded: Evaluation::new(model),
            x: buffer(model.states.len()),
            u: buffer(model.inputs.len()),
            qdd: buffer(system.nv),
            rest: buffer(model.states.len()),
            y: buffer(model.outputs.len()),
            tape: Tape::default(),
            tree: TreeAdjoint::new(system),
            gradients: vec![Gradient::zero(); system.bodies.len()],
            columns: vec![Wrench::zero(); system.nv],
            direct: vec![0.0; system.nv],
        }
    }

    /// Computes the adjoints of states and inputs.
    ///
    /// # Errors
    /// Those of the evaluation, and values that are not finite.
    pub fn evaluate(
        &mut self,
        of: Constants,
        at: OperatingPoint,
        seeds: Seeds,
        x_bar: &mut [f64],
        u_bar: &mut [f64],
    ) -> Result<(), Error> {
        let (model, system) = (of.model, &of.model.system);
        let (nq, nv) = (system.nq, system.nv);
        self.values.derivative(of, at, &mut self.dx)?;
        super::check(&self.dx, at.t, |i| model.derivatives[i].name.clone())?;
        let kinematics = &self.values.kinematics;
        let configuration = of.at(kinematics);
        let rates = nq..nq + nv;
        let (values, tree) = (&self.values, &mut self.tree);
        tree.begin(
            configuration,
            &values.applied,
            values.dynamics.A(),
            &seeds.dx[rates.clone()],
        );
        let variables = Variables::new(model);
        self.set_variables(system, &variables, at);
        let loads = self.record(of, at.t, at.discrete, variables.count, seeds.has_outputs())?;
        // The derivatives of the rates and coordinates are not recorded.
        seed(&mut self.tape, &self.rest[rates.end..], &seeds.dx[rates.end..]);
        if seeds.has_outputs() {
            check(&self.y, at.t, |i| &model.outputs[i].quantity.name)?;
            seed(&mut self.tape, &self.y, seeds.y);
        }
        self.tape.sweep(loads);
        self.read_gradients(system, &variables);
        let configuration = of.at(&self.values.kinematics);
        self.tree.accelerations(configuration, &self.gradients, &self.direct);
        let configuration = of.at(&self.values.kinematics);
        self.tree
            .respond(configuration, &mut self.values.dynamics, &self.gradients);
        seed_loads(&mut self.tape, &self.recorded.applied, &self.tree, &self.values, system);
        self.tape.sweep(0);
        self.read_gradients(system, &variables);
        for (k, to) in x_bar.iter_mut().enumerate() {
            *to = self.tape.adjoint(k);
        }
        for (k, to) in u_bar.iter_mut().enumerate() {
            *to = self.tape.adjoint(variables.u + k);
        }
        let joints = JointState {
            q: &at.x[..nq],
            qd: &at.x[rates.clone()],
        };
        let (q, rest) = x_bar.split_at_mut(nq);
        let mut bars = JointAdjoints { q, qd: &mut rest[..nv] };
        let configuration = of.at(&self.values.kinematics);
        let partials = Partials {
            bodies: &self.gradients,
            columns: &self.columns,
        };
        self.tree
            .coordinates(configuration, partials, joints, &self.dx[rates], &mut bars);
        add_kinematics(system, joints, &seeds.dx[..nq], &mut bars);
        Ok(())
    }

    /// Sets the variables of the record to the values of the evaluation.
    fn set_variables(&mut self, system: &System, variables: &Variables, at: OperatingPoint) {
        let rates = system.nq..system.nq + system.nv;
        set_variables(&mut self.x, at.x, 0);
        set_variables(&mut self.u, at.u, variables.u);
        set_variables(&mut self.qdd, &self.dx[rates], variables.qdd);
        let values = &self.values.kinematics;
        let recorded = &mut self.recorded.kinematics;
        for (v, (to, from)) in recorded.H.iter_mut().zip(&values.H).enumerate() {
            *to = twist(from, variables.H + 6 * v);
        }
        for (i, (to, from)) in recorded.bodies.iter_mut().zip(&values.bodies).enumerate() {
            let first = variables.bodies + PER_BODY * i;
            let mut R_WB = Mat3::<Recorded>::zeros();
            set_variables(R_WB.as_mut_slice(), from.R_WB.as_slice(), first);
            *to = BodyKinematics {
                R_WB,
                p_WB: vector(&from.p_WB, first + 9),
                r_PB_W: vector(&from.r_PB_W, first + 12),
                V_WB: twist(&from.V_WB, first + 15),
                // The whole acceleration: that of the recorded dynamics is zero.
                A_bias: twist(self.tree.acceleration(i), first + 21),
            };
        }
        let reactions = (0..system.bodies.len()).filter_map(|i| self.values.dynamics.transmitted(system, i));
        let reactions = reactions.enumerate().map(|(k, F)| {
            let first = variables.reactions + 6 * k;
            Wrench::new(vector(&F.t, first), vector(&F.f, first + 3))
        });
        self.recorded.dynamics.set_reactions(reactions);
    }

    /// Records the loads, then the power, the derivatives of currents and the outputs; returns the
    /// number of operations of the loads.
    fn record(
        &mut self,
        of: Constants,
        t: f64,
        discrete: &Discrete,
        variables: usize,
        has_outputs: bool,
    ) -> Result<usize, Error> {
        let model = of.model;
        let Self {
            recorded,
            x,
            u,
            qdd,
            rest,
            y,
            tape,
            ..
        } = self;
        tape.record(variables, || {
            recorded.read_inputs(of, t, u, x, discrete);
            let here = model.split(x.as_slice());
            let joints = JointState {
                q: here.positions,
                qd: here.rates,
            };
            let mut power = recorded.load(of, joints, discrete)?;
            let loads = Tape::position();
            let at = of.at(&recorded.kinematics);
            power += recorded.dynamics.drive(at, &recorded.applied, joints.qd, qdd);
            let to = model.split_mut(rest);
            if let Some(work) = to.work.first_mut() {
                *work = power;
            }
            if !to.currents.is_empty() {
                let circuits = model.elements.circuits(of.parameters, &recorded.inputs, discrete);
                for (circuit, (to, &i)) in circuits.zip(to.currents.iter_mut().zip(here.currents)) {
                    *to = circuit.current_rate(i, joints.qd[circuit.rate], 0.0);
                }
            }
            if has_outputs {
                recorded.outputs(of, x, discrete, y);
            }
            Ok(loads)
        })
    }

    /// Reads the derivatives with respect to bodies, columns and the rates' derivatives.
    fn read_gradients(&mut self, system: &System, variables: &Variables) {
        let tape = &self.tape;
        let three = |first: usize| Vec3::new(tape.adjoint(first), tape.adjoint(first + 1), tape.adjoint(first + 2));
        let six = |first: usize| Wrench::new(three(first), three(first + 3));
        for (v, (column, direct)) in self.columns.iter_mut().zip(&mut self.direct).enumerate() {
            *column = six(variables.H + 6 * v);
            *direct = tape.adjoint(variables.qdd + v);
        }
        let bodies = self.values.kinematics.bodies.iter().zip(&mut self.gradients);
        for (i, (here, gradient)) in bodies.enumerate() {
            let first = variables.bodies + PER_BODY * i;
            let axes = [0, 1, 2].map(|k| here.R_WB.column(k).cross(&three(first + 3 * k)));
            *gradient = Gradient {
                pose: Wrench::new(axes[0] + axes[1] + axes[2], three(first + 9) + three(first + 12)),
                velocity: six(first + 15),
                acceleration: six(first + 21),
                reaction: Twist::zero(),
            };
        }
        let mut first = variables.reactions;
        for i in 0..system.bodies.len() {
            // The position from the carrier moves with both ends.
            if let Some(parent) = system.bodies[i].parent {
                let of_arm = three(variables.bodies + PER_BODY * i + 12);
                self.gradients[parent].pose.f -= of_arm;
            }
            if system.bodies[i].reaction_index.is_some() {
                self.gradients[i].reaction = Twist::new(three(first), three(first + 3));
                first += 6;
            }
        }
    }
}

/// Seeds the recorded loads and prescribed motions with their adjoints.
fn seed_loads(
    tape: &mut Tape,
    applied: &Applied<Recorded>,
    tree: &TreeAdjoint,
    values: &Evaluation<f64>,
    system: &System,
) {
    for (i, F) in applied.wrench.iter().enumerate() {
        seed(tape, &F.to_array(), &tree.of_wrench(i).to_array());
    }
    for (v, tau) in applied.tau.iter().enumerate() {
        tape.seed(*tau, tree.of_tau(v));
    }
    for (i, body) in system.bodies.iter().enumerate().filter(|(i, _)| applied.driven[*i]) {
        for v in body.joint.v..body.joint.v + body.joint.nv {
            tape.seed(applied.qdd[v], tree.of_driven(&values.kinematics, i, v));
        }
    }
}

/// Returns a vector of the variables from number `first` on.
fn vector(v: &Vec3<f64>, first: usize) -> Vec3<Recorded> {
    Vec3::from_fn(|k, _| Recorded::variable(v[k], first + k))
}

/// Returns a twist of the variables from number `first` on, angular part first.
fn twist(V: &Twist<f64>, first: usize) -> Twist<Recorded> {
    Twist::new(vector(&V.w, first), vector(&V.v, first + 3))
}
