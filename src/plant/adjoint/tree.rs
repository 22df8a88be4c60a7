use super::Seeds;
use super::carriers::{vector, vector_of};
use super::closed::Closing;
use super::control::ControlAdjoint;
use super::effective::EffectiveAdjoint;
use super::guidance::GuidanceAdjoint;
use super::jacobians::{Bars, JacobianAdjoint};
use super::loads::{of_power, read_bodies, seed_stations};
use super::recording::{check, seed, set_variables};
use super::tasks::keep_solutions;
use super::variables::Variables;
use crate::Error;
use crate::algebra::{Quaternion, Recorded, Scalar, Tape, Twist, Wrench};
use crate::dynamics::invariants::{Invariants, InvariantsAdjoint};
use crate::dynamics::recursive::{Gradient, JointAdjoints, Partials, TreeAdjoint, add_kinematics};
use crate::elements::{Elements, FrameAdjoint, GravityAdjoint, GravitySeeds, LoadSeeds, add_beam_adjoint, turn};
use crate::plant::context::Constants;
use crate::plant::{Evaluation, Model, OperatingPoint};
use crate::system::{JointState, Orbit, System};

/// Adjoint derivatives with the recursive formulation, for trees of rigid and flexible bodies: the
/// equations of motion are differentiated by recursion ([`TreeAdjoint`]); loads, rows of captures,
/// loops and couplings, and outputs are recorded.
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
    /// Strain energies of the ANCF beams, and the potential energy in uniform gravity.
    energies: Vec<Recorded>,
    tape: Tape,
    variables: Variables,
    tree: TreeAdjoint,
    gradients: Vec<Gradient>,
    /// Derivatives with respect to the joints' columns.
    columns: Vec<Wrench<f64>>,
    direct: Vec<f64>,
    /// True if a recorded load depends on the deflections of bodies.
    loads_read_deflections: bool,
    /// True if a load, a row or the power of drives may depend on positions, motions and reactions of
    /// bodies.
    loads_read_bodies: bool,
    /// True if positions, motions and reactions of bodies are operands of the present record.
    has_bodies: bool,
    invariants: InvariantsAdjoint,
    /// Elements without the loads that are differentiated along `λ`; `None` without such loads.
    elements: Option<Box<Elements>>,
    gravity: GravityAdjoint,
    /// Adjoints of captures, loops and couplings; `None` if the model can have none.
    closing: Option<Box<Closing>>,
    /// Adjoints of feed-forward and tasks; `None` without these.
    control: Option<Box<ControlAdjoint>>,
    /// Adjoint of the law of a controller's tasks; `None` without it.
    guidance: Option<Box<GuidanceAdjoint>>,
    /// Adjoints of the motions of frames among the outputs.
    frames: FrameAdjoint,
    /// Adjoints of the Jacobians of frames; `None` without these.
    jacobians: Option<Box<JacobianAdjoint>>,
    /// Adjoints of effective masses; `None` without these.
    effective: Option<Box<EffectiveAdjoint>>,
}

impl ByTree {
    pub fn new(model: &Model) -> Self {
        let (system, variables) = (&model.system, Variables::new(model));
        let elements = model.elements.recorded(system).map(Box::new);
        let buffer = |n: usize| vec![Recorded::lift(0.0); n];
        let mut values = Evaluation::new(model);
        keep_solutions(&mut values, model);
        Self {
            variables,
            values,
            dx: vec![0.0; model.states.len()],
            recorded: Evaluation::for_loads(model),
            x: buffer(model.states.len()),
            u: buffer(model.inputs.len()),
            qdd: buffer(system.nv),
            rest: buffer(model.states.len()),
            y: buffer(model.outputs.len()),
            energies: buffer(system.nodal.len() + 1),
            tape: Tape::default(),
            tree: TreeAdjoint::new(system),
            gradients: vec![Gradient::zero(); system.bodies.len() + system.stations.len()],
            columns: vec![Wrench::zero(); system.nv],
            direct: vec![0.0; system.nv],
            invariants: InvariantsAdjoint::new(system),
            gravity: GravityAdjoint::new(system),
            closing: Closing::new(model),
            control: ControlAdjoint::new(model, variables.count),
            guidance: GuidanceAdjoint::new(model, variables.count),
            frames: FrameAdjoint::new(&model.elements, &model.spec, system),
            jacobians: JacobianAdjoint::new(model),
            effective: EffectiveAdjoint::new(model),
            loads_read_deflections: elements.as_deref().unwrap_or(&model.elements).read_deflections(),
            loads_read_bodies: read_bodies(model, elements.as_deref()),
            elements,
            has_bodies: true,
        }
    }

    /// Computes the adjoints of states and inputs. Returns false if those of effective masses are
    /// not part of them, because captures or loops constrain the spacecraft, or because a frame is on
    /// an ANCF beam.
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
    ) -> Result<bool, Error> {
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
            &self.dx[rates.clone()],
            &seeds.dx[rates.clone()],
        );
        let variables = self.variables;
        let has_outputs = seeds.has_outputs();
        self.has_bodies = has_outputs || self.loads_read_bodies;
        self.set_variables(system, &variables, at);
        let joints = JointState {
            q: &at.x[..nq],
            qd: &at.x[rates.clone()],
        };
        let invariants = match has_outputs {
            true => self.give_outputs(of, joints, &variables),
            false => None,
        };
        let loads = self.record(of, at, &variables, has_outputs)?;
        match has_outputs {
            true => {
                let frames = &mut self.frames;
                (self.values).with_view(of, at.x, at.discrete, |view| frames.weigh(view, seeds.y));
            }
            false => self.frames.clear(),
        }
        // The derivatives of the rates and coordinates are not recorded.
        seed(&mut self.tape, &self.rest[rates.end..], &seeds.dx[rates.end..]);
        if has_outputs {
            check(&self.y, at.t, |i| &model.outputs[i].quantity.name)?;
            seed(&mut self.tape, &self.y, seeds.y);
        }
        self.tape.sweep(loads);
        if let Some(invariants) = &invariants {
            self.weigh_invariants(of, joints, invariants, variables.invariants);
        }
        self.respond(of, at, &variables);
        let observes_masses = self.observe_masses(of, at, seeds);
        self.weigh_loads(of, at, joints, seeds);
        self.tape.sweep(0);
        for (k, to) in x_bar.iter_mut().chain(u_bar).enumerate() {
            *to = self.tape.adjoint(k);
        }
        self.add_coordinates(of, at, seeds, invariants.is_some(), x_bar);
        if observes_masses && let Some(effective) = &self.effective {
            effective.add_coordinates(x_bar);
        }
        Ok(observes_masses || self.effective.is_none())
    }

    /// Adds the derivatives with respect to the operands of the record, and those of what is not
    /// recorded, to the adjoints of the states.
    fn add_coordinates(
        &mut self,
        of: Constants,
        at: OperatingPoint,
        seeds: Seeds,
        observes_invariants: bool,
        x_bar: &mut [f64],
    ) {
        let (model, system) = (of.model, &of.model.system);
        let (nq, nv) = (system.nq, system.nv);
        let rates = nq..nq + nv;
        let joints = JointState {
            q: &at.x[..nq],
            qd: &at.x[rates.clone()],
        };
        let variables = self.variables;
        self.read_gradients(system, &variables);
        let (q, rest) = x_bar.split_at_mut(nq);
        let mut bars = JointAdjoints { q, qd: &mut rest[..nv] };
        let of_power = of_power(of, seeds);
        if self.elements.is_some() {
            self.add_gravity(of, at, joints, of_power, &mut bars);
        }
        if let Some(jacobians) = &mut self.jacobians {
            let mut to = Bars {
                gradients: &mut self.gradients,
                columns: &mut self.columns,
                joints: &mut bars,
            };
            let seeds = &seeds.y[model.first_of_frames()..model.first_effective_mass()];
            jacobians.add(of, joints, seeds, &mut self.values, &mut to);
        }
        let configuration = of.at(&self.values.kinematics);
        if observes_invariants {
            self.invariants
                .add(configuration, joints, &mut self.gradients, &mut bars);
        }
        let partials = Partials {
            bodies: &self.gradients,
            columns: &self.columns,
        };
        self.tree
            .coordinates(configuration, partials, joints, &self.dx[rates], &mut bars);
        add_kinematics(system, joints, &seeds.dx[..nq], &mut bars);
        (variables.carriers).add_points(of.mechanism(), &self.values.kinematics, &self.tape, joints, &mut bars);
        if self.elements.is_some() {
            let now = self.values.instant(of, joints, at.discrete);
            let of_energy = |beam: usize| self.tape.adjoint(variables.energies + beam);
            add_beam_adjoint(&now, self.tree.lambda(), of_power, of_energy, bars.q, bars.qd);
        }
        self.add_masses(of, observes_invariants, x_bar);
        if let Some(closing) = &self.closing {
            closing.add_redundant_rows(x_bar);
        }
        if let Some(control) = &self.control {
            control.add_rates(x_bar);
        }
    }

    /// Solves the adjoint equations of motion and propagates their solution to loads, rows, and
    /// feed-forward, after the sweep of what depends on accelerations.
    fn respond(&mut self, of: Constants, at: OperatingPoint, variables: &Variables) {
        let system = &of.model.system;
        // Derivatives of states by loads alone do not depend on accelerations and reactions.
        if self.tape.are_zero(variables.qdd..variables.rows) && !self.frames.has_accelerations {
            self.gradients.fill(Gradient::zero());
        } else {
            self.read_gradients(system, variables);
            let configuration = of.at(&self.values.kinematics);
            self.tree.accelerations(configuration, &self.gradients, &self.direct);
        }
        let configuration = of.at(&self.values.kinematics);
        self.tree
            .respond(configuration, &mut self.values.dynamics, &self.gradients);
        if let Some(closing) = &mut self.closing {
            let (tape, values) = (&self.tape, &mut self.values);
            let of_reactions = (variables.rows..).map(|row| tape.adjoint(row));
            let rank = at.discrete.rank;
            closing.constrain(of, rank, values, of_reactions, &mut self.tree, &mut self.gradients);
        }
        self.seed_loads(of);
        if let (Some(closing), Some(closure)) = (&mut self.closing, &self.recorded.closure) {
            closing.redundant_rows(of, at, closure, &self.recorded.kinematics.fills, &mut self.tape);
        }
        if let Some(control) = &mut self.control {
            control.sweep(of, at, &mut self.values, &mut self.tape);
        }
        let evaluations = (&mut self.values.guidance, &self.recorded.guidance);
        if let (Some(guidance), (Some(values), Some(recorded))) = (&mut self.guidance, evaluations)
            && !at.discrete.holds_guidance()
        {
            guidance.sweep(of, at.t, values, recorded, &mut self.tape);
        }
    }

    /// Adds the derivatives of the loads of frames in closed form, and seeds their inputs.
    fn weigh_loads(&mut self, of: Constants, at: OperatingPoint, joints: JointState<f64>, seeds: Seeds) {
        let now = self.values.instant(of, joints, at.discrete);
        let (inputs, tape) = (&self.recorded.inputs, &mut self.tape);
        let mut of_loads = LoadSeeds {
            tree: &mut self.tree,
            of_power: of_power(of, seeds),
        };
        (self.frames).weigh_loads(&of.model.elements, &now, &mut of_loads, seeds.y, |input, bar| {
            tape.seed(inputs[input], bar);
        });
        let orbit = of.model.system.orbit.as_ref().filter(|_| self.elements.is_some());
        if orbit.is_some_and(Orbit::attracts_by_inputs) {
            let seeds = GravitySeeds {
                of_wrench: |body: usize| self.tree.of_wrench(body),
                lambda: self.tree.lambda(),
                of_power: of_power(of, seeds),
                of_energy: 0.0,
            };
            self.gravity
                .add_positions(&now, seeds, |input, bar| tape.seed(inputs[input], bar));
        }
    }

    /// Computes the adjoints of effective masses; returns false if it does not support them.
    fn observe_masses(&mut self, of: Constants, at: OperatingPoint, seeds: Seeds) -> bool {
        let closure = self.values.closure.as_ref();
        if closure.is_some_and(|closure| closure.row_count() > 0) {
            return false;
        }
        let Some(effective) = self.effective.as_mut().filter(|of| !of.is_on_beam) else {
            return false;
        };
        let (values, fills) = (&mut self.values, &self.recorded.kinematics.fills);
        let seeds = &seeds.y[of.model.first_effective_mass()..];
        effective.evaluate(of, at, seeds, values, fills, &mut self.tape);
        true
    }

    /// Adds the derivatives of gravity along its adjoints.
    fn add_gravity(
        &mut self,
        of: Constants,
        at: OperatingPoint,
        joints: JointState<f64>,
        of_power: f64,
        bars: &mut JointAdjoints,
    ) {
        let energy = self.variables.energies + self.energies.len() - 1;
        let seeds = GravitySeeds {
            of_wrench: |body: usize| self.tree.of_wrench(body),
            lambda: self.tree.lambda(),
            of_power,
            of_energy: self.tape.adjoint(energy),
        };
        let now = self.values.instant(of, joints, at.discrete);
        for gravity in &of.model.elements.gravity {
            self.gravity.add(gravity, &now, seeds, &mut self.gradients, bars);
        }
    }

    /// Adds the derivatives with respect to the masses of propellants, (21).
    fn add_masses(&self, of: Constants, observes_invariants: bool, x_bar: &mut [f64]) {
        let at = of.at(&self.values.kinematics);
        let masses = of.model.split_mut(x_bar).masses;
        for (k, (&body, mass)) in at.system.propellant.iter().zip(masses).enumerate() {
            let of_invariants = if observes_invariants {
                self.invariants.of_fill(k)
            } else {
                0.0
            };
            let of_jacobians = self.jacobians.as_ref().map_or(0.0, |of| of.of_fill(k));
            let sum = self.tree.of_fill(at, body) + of_invariants + of_jacobians + self.gravity.of_fill(k);
            *mass += sum / of.derived.bodies[body].m;
        }
    }

    /// Sets the variables of the record to the values of the evaluation.
    fn set_variables(&mut self, system: &System, variables: &Variables, at: OperatingPoint) {
        let rates = system.nq..system.nq + system.nv;
        set_variables(&mut self.x, at.x, 0);
        set_variables(&mut self.u, at.u, variables.u);
        set_variables(&mut self.qdd, &self.dx[rates], variables.qdd);
        if !self.has_bodies {
            return;
        }
        variables
            .carriers
            .set(&self.values.kinematics, &self.tree, &mut self.recorded.kinematics);
        let reactions = (0..system.bodies.len()).filter_map(|i| self.values.dynamics.transmitted(system, i));
        let reactions = reactions.enumerate().map(|(k, F)| {
            let first = variables.reactions + 6 * k;
            Wrench::new(vector(&F.t, first), vector(&F.f, first + 3))
        });
        self.recorded.dynamics.set_reactions(reactions);
    }

    /// Sets the variables of the record from which outputs are computed, beside those of the loads:
    /// attitudes, invariants and energies. Returns the values of the invariants if they are outputs.
    fn give_outputs(
        &mut self,
        of: Constants,
        joints: JointState<f64>,
        variables: &Variables,
    ) -> Option<Invariants<f64>> {
        let Constants { model, derived, .. } = of;
        model.system.attitudes(derived, joints.q, &mut self.values.q_WB);
        let attitudes = self.recorded.q_WB.iter_mut().zip(&self.values.q_WB);
        for (i, (to, from)) in attitudes.enumerate() {
            let first = variables.attitudes + 4 * i;
            let mut parts = [Recorded::lift(0.0); 4];
            set_variables(&mut parts, &from.to_array(), first);
            *to = Quaternion::from_slice(&parts);
        }
        // Their values are no factors of other outputs.
        for (k, energy) in self.energies.iter_mut().enumerate() {
            *energy = Recorded::variable(0.0, variables.energies + k);
        }
        let at = of.at(&self.values.kinematics);
        let observed = model.elements.observe_invariants();
        let values = observed.then(|| Invariants::new(at, joints, None));
        let of = values.unwrap_or_else(Invariants::zero);
        let first = variables.invariants;
        let number = |value: f64, k: usize| Recorded::variable(value, first + k);
        self.recorded.invariants = Some(Invariants {
            mass: Recorded::lift(of.mass),
            p: vector(&of.p, first),
            h: vector(&of.h, first + 3),
            mass_centre: vector(&of.mass_centre, first + 6),
            kinetic_energy: number(of.kinetic_energy, 9),
            p_scale: number(of.p_scale, 10),
            h_scale: number(of.h_scale, 11),
        });
        values
    }

    /// Computes the derivatives with respect to the motions of the bodies from those with respect to
    /// the invariants, the variables from number `first` on.
    fn weigh_invariants(&mut self, of: Constants, joints: JointState<f64>, values: &Invariants<f64>, first: usize) {
        let tape = &self.tape;
        let number = |k: usize| tape.adjoint(first + k);
        let three = |k: usize| vector_of(tape, first + k);
        let bar = Invariants {
            mass: 0.0,
            p: three(0),
            h: three(3),
            mass_centre: three(6),
            kinetic_energy: number(9),
            p_scale: number(10),
            h_scale: number(11),
        };
        self.invariants
            .weigh(of.at(&self.values.kinematics), joints, values, &bar);
    }

    /// Records the loads, then the power, the derivatives of currents and the outputs; returns the
    /// number of operations of the loads.
    fn record(
        &mut self,
        of: Constants,
        at: OperatingPoint,
        variables: &Variables,
        has_outputs: bool,
    ) -> Result<usize, Error> {
        let (model, OperatingPoint { t, discrete, .. }) = (of.model, at);
        let Self {
            values,
            control,
            guidance,
            tree,
            recorded,
            x,
            u,
            qdd,
            rest,
            y,
            energies,
            tape,
            loads_read_deflections,
            elements,
            ..
        } = self;
        recorded.qdd.copy_from_slice(qdd);
        // The accelerations of stations include those by the modes.
        for modes in model.system.flexible() {
            recorded.qdd[modes.rates()].fill(Recorded::lift(0.0));
        }
        let of_control = control.as_ref().map(|control| control.end);
        let of_guidance = guidance.as_ref().map(|guidance| guidance.end);
        let count = of_control.or(of_guidance).unwrap_or(variables.count);
        tape.record(count, || {
            recorded.copy_inputs(of, t, values, u, x);
            let here = model.split(x.as_slice());
            let joints = JointState {
                q: here.positions,
                qd: here.rates,
            };
            recorded.fill_tanks(of, here.masses);
            if *loads_read_deflections {
                recorded.kinematics.bend_all(of.mechanism(), joints);
                // Stations are operands.
                variables
                    .carriers
                    .set_stations(&values.kinematics, tree, &mut recorded.kinematics);
            }
            if let Some(control) = control {
                control.record(of, at, values, recorded, joints)?;
            }
            let elements = elements.as_deref().unwrap_or(&model.elements);
            // The law of a controller's tasks has a record of its own.
            let mut law = recorded.guidance.take();
            let loaded = recorded.load_controlled(elements, of, joints, discrete);
            let guided = match (guidance, &mut values.guidance, &mut law) {
                (Some(guidance), Some(values), Some(law)) if !discrete.holds_guidance() => {
                    guidance.record(of, t, values, law, &recorded.inputs)
                }
                _ => Ok(()),
            };
            recorded.guidance = law;
            let mut power = loaded?;
            guided?;
            let closure = values.closure.as_ref();
            let reactions = closure.map_or(&[][..], |closure| closure.reactions());
            recorded.hold(of, discrete, joints, reactions);
            let loads = Tape::position();
            power += recorded.react(of, variables.rows, reactions);
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
            model.elements.unwind(of.parameters, &recorded.inputs, to.unwound);
            if !to.masses.is_empty() {
                let now = recorded.instant(of, joints, discrete);
                model.elements.draw(&now, to.masses);
            }
            if has_outputs {
                recorded.observe_rest(of, x, discrete, elements, energies, y);
            }
            Ok(loads)
        })
    }

    /// Seeds the recorded loads, rows and prescribed motions with their adjoints.
    fn seed_loads(&mut self, of: Constants) {
        let Self {
            values,
            tape,
            tree,
            recorded,
            ..
        } = self;
        let (at, system) = (of.at(&values.kinematics), &of.model.system);
        let applied = match &recorded.closure {
            Some(closure) => closure.held_loads(),
            None => &recorded.applied,
        };
        for (i, F) in applied.wrench.iter().enumerate() {
            seed(tape, &F.to_array(), &tree.of_wrench(i).to_array());
        }
        seed_stations(tape, tree, at, &applied.stations);
        for (tau, &of) in applied.tau.iter().zip(tree.lambda()) {
            tape.seed(*tau, of);
        }
        for (i, body) in system.bodies.iter().enumerate().filter(|(i, _)| applied.driven[*i]) {
            for v in body.joint.v..body.joint.v + body.joint.nv {
                tape.seed(applied.qdd[v], tree.of_driven(&values.kinematics, i, v));
            }
        }
        if let (Some(closure), Some(closing)) = (&recorded.closure, &self.closing) {
            seed(tape, closure.residuals(), closing.sigma());
        }
    }

    /// Reads the derivatives with respect to bodies, columns and the rates' derivatives.
    fn read_gradients(&mut self, system: &System, variables: &Variables) {
        let Self {
            values,
            tape,
            columns,
            gradients,
            frames,
            ..
        } = self;
        for (v, direct) in self.direct.iter_mut().enumerate() {
            *direct = tape.adjoint(variables.qdd + v);
        }
        if !self.has_bodies {
            gradients.fill(Gradient::zero());
            frames.add_to(gradients);
            columns.fill(Wrench::zero());
            return;
        }
        variables
            .carriers
            .read(system, &values.kinematics, tape, gradients, columns);
        frames.add_to(gradients);
        let three = |first: usize| vector_of(tape, first);
        let mut first = variables.reactions;
        for (i, body) in system.bodies.iter().enumerate() {
            let (q, first_of_q) = (&values.q_WB[i], variables.attitudes + 4 * i);
            if tape.are_zero(first_of_q..first_of_q + 4) && body.reaction_index.is_none() {
                continue;
            }
            gradients[i].pose.t += turn(*q, &[0, 1, 2, 3].map(|k| tape.adjoint(first_of_q + k)));
            if body.reaction_index.is_some() {
                gradients[i].reaction = Twist::new(three(first), three(first + 3));
                first += 6;
            }
        }
    }
}
