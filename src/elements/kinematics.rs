//! Jacobians of frames and their singular values, as outputs.

use super::{Compiler, Cursor, Element, Outputs};
use crate::algebra::{DampedInverse, Scalar, Twist};
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
    length: Option<ParamId>,
}

/// Motions of a frame and of its base for the unit rate of a joint, world axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitMotion<S: Scalar> {
    /// With the base at rest.
    pub fixed: Twist<S>,
    /// On a free-floating base, for zero momentum of the spacecraft's own bodies.
    pub floating: Twist<S>,
    /// Of the base, for zero momentum of the spacecraft's own bodies.
    pub base: Twist<S>,
}

impl<S: Scalar> UnitMotion<S> {
    pub fn zero() -> Self {
        let zero = Twist::zero();
        Self {
            fixed: zero,
            floating: zero,
            base: zero,
        }
    }
}

impl FrameKinematics {
    /// Returns the number of its outputs.
    pub fn count(&self) -> usize {
        let of = |output: &KinematicOutput| if output.is_matrix() { 6 * self.rates.len() } else { 1 };
        self.outputs.iter().map(of).sum()
    }

    /// Writes the outputs for the motions of unit rates; `columns` is workspace for as many.
    pub fn write<S: Scalar>(
        &self,
        parameters: &[f64],
        motions: &[UnitMotion<S>],
        columns: &mut [[S; 6]],
        y: &mut Cursor<S>,
    ) {
        for output in &self.outputs {
            let column: fn(&UnitMotion<S>) -> &Twist<S> = match output {
                KinematicOutput::Jacobian => |motion| &motion.fixed,
                KinematicOutput::BaseMotion => |motion| &motion.base,
                _ => |motion| &motion.floating,
            };
            if output.is_matrix() {
                for row in 0..6 {
                    motions
                        .iter()
                        .for_each(|motion| y.number(column(motion).to_array()[row]));
                }
                continue;
            }
            let length = self.length.map_or(1.0, |id| id.of(parameters));
            for ((scaled, motion), (_, is_angular)) in columns.iter_mut().zip(motions).zip(&self.axes) {
                let rate = if *is_angular { 1.0 } else { length };
                *scaled = Component::select(&self.components, length, &column(motion).to_array(), rate);
            }
            let inverse = DampedInverse::undamped(&columns[..motions.len()], self.components.len());
            y.number(match output {
                KinematicOutput::SingularValue => inverse.singular_value,
                _ => inverse.volume(),
            });
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
            let is_scaled = written.outputs.iter().any(|output| !output.is_matrix());
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
            for (row, part) in Component::ALL.iter().cycle().skip(3).take(6).enumerate() {
                to.continuous(self.axes.iter().enumerate().map(|(k, (rate, is_angular))| {
                    let unit = match (part.is_angular(), *is_angular) {
                        (true, false) => Unit::RadianPerMetre,
                        (false, true) => Unit::Metre,
                        _ => Unit::One,
                    };
                    let what = format!("{what} per unit of {rate}: {}, world axes", part.text());
                    Quantity::new(format!("{name}.{field}[{},{}]", row + 1, k + 1), unit, what)
                }));
            }
        }
    }
}
