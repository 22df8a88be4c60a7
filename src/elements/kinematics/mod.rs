//! Jacobians of frames, their singular values and momentum matrices, as outputs.

mod adjoint;

pub(crate) use adjoint::OutputsAdjoint;

use super::{Compiler, Cursor, Element, Outputs};
use crate::algebra::{ArticulatedInertia, DampedInverse, NullSpace, Scalar, Twist, Wrench};
use crate::spec::{self, Component, KinematicOutput, Spec, at, problem};
use crate::system::{Bound, Carrier, FrameRef, ParamId, Quantity, System, Unit};

/// Jacobians of a frame, as outputs.
///
/// The plant computes the values before those of effective masses: elements have no workspace. The
/// list of these elements is therefore the last but one.
#[derive(Clone, Debug)]
pub(crate) struct FrameKinematics {
    name: String,
    /// Frame that moves.
    pub frame: FrameRef,
    /// Root of its tree if that is a free body.
    pub base: Option<usize>,
    /// Rates of the joints.
    pub rates: Vec<usize>,
    /// For each rate its variable, and true for an angular one.
    axes: Vec<(String, bool)>,
    outputs: Vec<KinematicOutput>,
    components: Vec<Component>,
    base_components: Vec<Component>,
    length: Option<ParamId>,
}

/// Singular value of the base's motion per unit rate below which it counts as zero. The rates there
/// are pure numbers, with round-off of about 1e-16.
const NO_REACTION: f64 = 1e-10;

/// Motions of a frame and of its base for the unit rate of a joint, world axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitMotion<S: Scalar> {
    /// With the base at rest.
    pub fixed: Twist<S>,
    /// On a free-floating base, for zero momentum of the spacecraft's own bodies.
    pub floating: Twist<S>,
    /// Of the base, for zero momentum of the spacecraft's own bodies.
    pub base: Twist<S>,
    /// Momentum with the base at rest, about the origin of a free-floating base.
    pub momentum: Wrench<S>,
}

impl<S: Scalar> UnitMotion<S> {
    pub fn zero() -> Self {
        let zero = Twist::zero();
        Self {
            fixed: zero,
            floating: zero,
            base: zero,
            momentum: Wrench::zero(),
        }
    }
}

impl FrameKinematics {
    /// Returns the number of rows and columns of an output.
    fn size(&self, output: KinematicOutput) -> [usize; 2] {
        let n = self.rates.len();
        match output {
            KinematicOutput::BaseInertia => [6, 6],
            KinematicOutput::ReactionNullSpace => [n, n],
            _ if output.is_matrix() => [6, n],
            _ => [1, 1],
        }
    }

    /// Returns the number of its outputs.
    pub fn count(&self) -> usize {
        let of = |&output: &KinematicOutput| self.size(output).iter().product::<usize>();
        self.outputs.iter().map(of).sum()
    }

    /// Writes the outputs for the motions of unit rates and the `inertia` of the spacecraft about
    /// the origin of a free-floating base; `columns` is workspace for as many motions.
    pub fn write<S: Scalar>(
        &self,
        parameters: &[f64],
        inertia: Option<&ArticulatedInertia<S>>,
        motions: &[UnitMotion<S>],
        columns: &mut [[S; 6]],
        y: &mut Cursor<S>,
    ) {
        let columns = &mut columns[..motions.len()];
        for output in &self.outputs {
            let column: fn(&UnitMotion<S>) -> [S; 6] = match output {
                KinematicOutput::Jacobian => |motion| motion.fixed.to_array(),
                KinematicOutput::BaseMotion => |motion| motion.base.to_array(),
                KinematicOutput::CouplingInertia => |motion| motion.momentum.to_array(),
                KinematicOutput::BaseInertia => {
                    write_inertia(inertia, y);
                    continue;
                }
                KinematicOutput::ReactionNullSpace => {
                    self.write_null_space(parameters, motions, columns, y);
                    continue;
                }
                _ => |motion| motion.floating.to_array(),
            };
            if output.is_matrix() {
                for row in 0..6 {
                    motions.iter().for_each(|motion| y.number(column(motion)[row]));
                }
                continue;
            }
            self.scale(parameters, &self.components, motions, column, columns);
            let inverse = DampedInverse::undamped(columns, self.components.len());
            y.number(match output {
                KinematicOutput::SingularValue => inverse.singular_value,
                _ => inverse.volume(columns),
            });
        }
    }

    /// Fills `to` with a matrix of pure numbers: its `components`, with lengths in units of `length`.
    fn scale<S: Scalar>(
        &self,
        parameters: &[f64],
        components: &[Component],
        motions: &[UnitMotion<S>],
        column: fn(&UnitMotion<S>) -> [S; 6],
        to: &mut [[S; 6]],
    ) {
        let length = self.length(parameters);
        for ((scaled, motion), (_, is_angular)) in to.iter_mut().zip(motions).zip(&self.axes) {
            let rate = if *is_angular { 1.0 } else { length };
            *scaled = Component::select(components, length, &column(motion), rate);
        }
    }

    /// Writes the projector `P`. With rates `q̇ = D ẋ` of which those of joints that translate count
    /// in units of `length`, that of ẋ is orthogonal, and `P = D Pₓ D⁻¹`.
    fn write_null_space<S: Scalar>(
        &self,
        parameters: &[f64],
        motions: &[UnitMotion<S>],
        columns: &mut [[S; 6]],
        y: &mut Cursor<S>,
    ) {
        let components = &self.base_components;
        self.scale(
            parameters,
            components,
            motions,
            |motion| motion.base.to_array(),
            columns,
        );
        let projector = NullSpace::new(columns, components.len(), NO_REACTION);
        let length = self.length(parameters);
        for (i, (_, row)) in self.axes.iter().enumerate() {
            for (entry, (_, column)) in projector.row(i).zip(&self.axes) {
                y.number(match (row, column) {
                    (true, false) => entry / S::lift(length),
                    (false, true) => entry * S::lift(length),
                    _ => entry,
                });
            }
        }
    }

    fn length(&self, parameters: &[f64]) -> f64 {
        self.length.map_or(1.0, |id| id.of(parameters))
    }

    /// Returns the unit and the description of an entry of a matrix.
    fn entry(&self, output: KinematicOutput, [row, column]: [usize; 2]) -> (Unit, String) {
        let [_, what] = output.texts();
        let part = |k: usize| Component::ALL[(k + 3) % 6];
        if output == KinematicOutput::BaseInertia {
            let [to, by] = [part(row), part(column)];
            let what = format!(
                "{what} per unit velocity of it, for {}: {}, world axes",
                by.text(),
                to.text()
            );
            return (inertia_unit([to.is_angular(), by.is_angular()]), what);
        }
        let (rate, is_angular) = &self.axes[column];
        if output == KinematicOutput::ReactionNullSpace {
            let (to, to_is_angular) = &self.axes[row];
            let what = format!("{what}: {to} per unit of {rate}");
            return (motion_unit([*to_is_angular, *is_angular]), what);
        }
        let part = part(row);
        let what = format!("{what} per unit of {rate}: {}, world axes", part.text());
        let kinds = [part.is_angular(), *is_angular];
        match output {
            KinematicOutput::CouplingInertia => (inertia_unit(kinds), what),
            _ => (motion_unit(kinds), what),
        }
    }

    fn check(&self, written: &spec::Kinematics, spec: &Spec, system: &System) -> Result<(), (&'static str, String)> {
        let frame = &written.frame;
        let bodies = &system.bodies;
        if system.rigid_carrier(self.frame) == Carrier::World {
            return Err(("frame", format!("\"{frame}\" is fixed to the world: it does not move")));
        }
        let of_tree = system.carrying_body(self.frame).map(|body| system.root(body));
        let joint = |name: &&String| bodies.iter().position(|body| body.joint.name == **name);
        let is_apart = |name: &&String| joint(name).map(|body| system.root(body)) != of_tree;
        if let Some(joint) = written.joints.iter().find(is_apart) {
            let what = format!("joint \"{joint}\" is not on the spacecraft of \"{frame}\", and does not move it");
            return Err(("joints", what));
        }
        let Some(base) = self.base else {
            let needs_base = self.outputs.iter().find(|output| output.needs_base());
            return needs_base.map_or(Ok(()), |output| {
                let what = format!("{}: \"{frame}\" is not on a free-floating base", output.texts()[0]);
                Err(("outputs", what))
            });
        };
        // Other parts take momentum, which the composite inertia of the tree does not include.
        let is_floating = |output: &&KinematicOutput| **output != KinematicOutput::Jacobian;
        if let Some(output) = self.outputs.iter().find(is_floating)
            && (spec.has_nonlinear_beams() || !spec.closed_loop.is_empty())
        {
            let what = format!(
                "{}: the motion of a free-floating base does not include loops, ANCF beams and geometrically exact beams",
                output.texts()[0]
            );
            return Err(("outputs", what));
        }
        // The wrench of a free joint on its parent is zero, so its child is another spacecraft.
        let mut free = bodies.iter().enumerate().skip(base + 1);
        let inside = |(i, body): &(usize, &crate::system::Body)| {
            body.joint.kind == spec::JointType::Free && system.root(*i) == base && *i != base
        };
        match free.find(inside) {
            Some((_, body)) => {
                let what = format!(
                    "\"{frame}\" is on a spacecraft with the free joint \"{}\" inside",
                    body.joint.name
                );
                Err(("frame", what))
            }
            None => Ok(()),
        }
    }
}

impl Element for FrameKinematics {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let mut found = Vec::new();
        for (name, written) in &from.spec.kinematics {
            let Some(frame) = from.frame(["kinematics", name, "frame"], &written.frame) else {
                continue;
            };
            let system = from.system;
            let joint = |name: &String| system.bodies.iter().find(|body| body.joint.name == *name);
            let joints: Vec<_> = written
                .joints
                .iter()
                .filter_map(joint)
                .map(|body| &body.joint)
                .collect();
            let axes = joints.iter().flat_map(|joint| {
                (0..joint.nv).map(move |i| (joint.v + i, (joint.quantity_name("qd", i), joint.kind.is_angular(i))))
            });
            let (rates, axes): (Vec<usize>, Vec<(String, bool)>) = axes.unzip();
            let is_free = |&body: &usize| system.bodies[body].joint.kind == spec::JointType::Free;
            let is_scaled = written.outputs.iter().any(|output| output.is_scaled());
            let length = is_scaled.then(|| {
                let what = format!("length that scales singular values of kinematics {name}");
                let quantity = Quantity::new(format!("{name}.length"), Unit::Metre, what).bounded(Bound::Positive);
                from.declare
                    .parameter(quantity, written.length, true, &at("kinematics", name, "length"))
            });
            let element = Self {
                name: name.clone(),
                frame,
                base: system
                    .carrying_body(frame)
                    .map(|body| system.root(body))
                    .filter(is_free),
                rates,
                axes,
                outputs: written.outputs.clone(),
                components: written.components.clone(),
                base_components: written.base_components.clone(),
                length,
            };
            if let Err((field, what)) = element.check(written, from.spec, system) {
                from.problems.push(problem("kinematics", name, field, what));
            }
            found.push(element);
        }
        found
    }

    fn outputs(&self, _: &Spec, _: &System, to: &mut Outputs) {
        let name = &self.name;
        for output in &self.outputs {
            let [field, what] = output.texts();
            if !output.is_matrix() {
                to.continuous([Quantity::new(
                    format!("{name}.{field}"),
                    Unit::One,
                    format!("{what} of {name}"),
                )]);
                continue;
            }
            let [rows, columns] = self.size(*output);
            for row in 0..rows {
                to.continuous((0..columns).map(|column| {
                    let (unit, what) = self.entry(*output, [row, column]);
                    Quantity::new(format!("{name}.{field}[{},{}]", row + 1, column + 1), unit, what)
                }));
            }
        }
    }
}

/// Returns the unit of a motion per unit rate, of which each may be angular.
fn motion_unit(kinds: [bool; 2]) -> Unit {
    match kinds {
        [true, false] => Unit::RadianPerMetre,
        [false, true] => Unit::Metre,
        _ => Unit::One,
    }
}

/// Returns the unit of a momentum per unit rate, of which each may be angular.
fn inertia_unit(kinds: [bool; 2]) -> Unit {
    match kinds {
        [true, true] => Unit::KilogramMetre2,
        [false, false] => Unit::Kilogram,
        _ => Unit::KilogramMetre,
    }
}

/// Writes the momentum per unit motion of the base; NaN without a base.
fn write_inertia<S: Scalar>(inertia: Option<&ArticulatedInertia<S>>, y: &mut Cursor<S>) {
    let unit = |k: usize| {
        Twist::from_slice(&std::array::from_fn::<S, 6, _>(|i| {
            S::lift(f64::from(u8::from(i == k)))
        }))
    };
    let column = |k: usize| inertia.map_or([S::lift(f64::NAN); 6], |inertia| inertia.times(&unit(k)).to_array());
    let columns: [[S; 6]; 6] = std::array::from_fn(column);
    for row in 0..6 {
        columns.iter().for_each(|column| y.number(column[row]));
    }
}
