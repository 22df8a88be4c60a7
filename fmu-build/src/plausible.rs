//! Values of a valid spec that are legal but probably not intended.

use crate::text::{count, number};
use grapple::Problem;
use grapple::plant::{Model, Plant};
use grapple::spec::{Body, Inertia, Joint, PerAxis, SloshModel, Spec, WORLD};
use grapple::system::Unit;
use indexmap::IndexMap;
use std::collections::{HashMap, HashSet};
use std::f64::consts::TAU;
use std::sync::Arc;

/// Radius of gyration of a body, relative to the largest length of the spec, above which it is
/// reported.
const GYRATION: f64 = 10.0;

/// Mass of a body over the square of its radius of gyration, kg/m², below which it is reported in a
/// spec without lengths. Solar sails have 0.02 kg/m².
const LIGHTEST: f64 = 0.005;

/// Distance on a body, relative to the lengths on other bodies and to its own size, above which it
/// is reported. Millimetres in place of metres are a factor of 1000.
const FAR: f64 = 50.0;

/// Size, m, that a body is assumed to have at least.
const SMALLEST: f64 = 0.3;

/// Angle of a start or a reference, rad, above which degrees were probably meant: two turns.
const MOST_TURNS: f64 = 2.0 * TAU;

/// Angle of a limit, a phase or in a table, rad, above which degrees were probably meant: four turns.
const MOST_RANGE: f64 = 4.0 * TAU;

/// Returns values of a model's spec that are probably mistakes, each at its position in the spec.
///
/// # Errors
/// Those of [`Plant::new`].
pub fn implausible(model: &Arc<Model>) -> Result<Vec<Problem>, grapple::Error> {
    let spec = &model.spec;
    let mut found = Vec::new();
    if spec.controller.is_none() {
        let lengths = lengths(spec);
        let far = far(spec, &lengths);
        let (far, near): (Vec<_>, Vec<_>) = lengths.iter().zip(far).partition(|(_, is_far)| *is_far);
        let largest = near.iter().map(|(length, _)| length.length).fold(0.0, f64::max);
        found.extend(far.iter().map(|(length, _)| length.problem(largest)));
        found.extend(gyration(spec, largest));
        found.extend(floating(spec));
        found.extend(joint_angles(spec));
        found.extend(tanks(spec));
        found.extend(aliased_modes(model)?);
        found.extend(Plant::new(Arc::clone(model))?.doubtful_contacts());
    }
    found.extend(reference_angles(model));
    Ok(found)
}

fn problem<const N: usize>(at: [&str; N], what: String) -> Problem {
    Problem {
        at: at.map(str::to_owned).to_vec(),
        what,
    }
}

/// Length in a spec.
struct Length<'a> {
    /// Path of the field; of a size, which is not reported, the empty path.
    at: [&'a str; 3],
    /// Body on which it is.
    body: &'a str,
    /// The length, m.
    length: f64,
}

impl Length<'_> {
    fn is_size(&self) -> bool {
        self.at[0].is_empty()
    }

    fn problem(&self, largest: f64) -> Problem {
        let others = match largest > 0.0 {
            true => format!(
                ", and the other lengths of the spec are at most {} m",
                number(largest, 4)
            ),
            false => String::new(),
        };
        let what = format!(
            "this point is {} m away from the origin of body \"{}\"{others}: is it written in m?",
            number(self.length, 6),
            self.body
        );
        problem(self.at, what)
    }
}

fn norm(v: &[f64; 3]) -> f64 {
    v.iter().fold(0.0, |sum: f64, part| sum.hypot(*part))
}

/// Returns the distances of points on bodies, and the sizes of beams and shapes.
fn lengths(spec: &Spec) -> Vec<Length<'_>> {
    let mut found = Vec::new();
    let mut add = |at, body, length| found.push(Length { at, body, length });
    for (name, joint) in &spec.joint {
        add(["joint", name, "origin"], &*joint.parent, norm(&joint.origin));
    }
    for (name, frame) in &spec.frame {
        add(["frame", name, "origin"], &*frame.body, norm(&frame.origin));
    }
    for (name, body) in &spec.body {
        add(["body", name, "mass_centre"], name, norm(&body.mass_centre));
        add([""; 3], name, size(body));
    }
    for (name, beam) in &spec.ancf_beam {
        add([""; 3], name, beam.length.unwrap_or(f64::INFINITY));
    }
    // Frames of the world may be anywhere.
    found.retain(|length| length.body != WORLD);
    found
}

/// Returns the size of a body by its beam, modal data and shapes, m; infinite for a beam whose length
/// is not written.
fn size(body: &Body) -> f64 {
    let beam = body.beam.iter().map(|beam| {
        let sections = beam.sections.last().map_or(f64::INFINITY, |section| section.x);
        beam.length.unwrap_or(sections)
    });
    let exact = body.geometrically_exact_beam.iter();
    let exact = exact.map(|beam| beam.length.unwrap_or(f64::INFINITY));
    let nodes = body.modal.iter().flat_map(|data| data.node.values());
    let nodes = nodes.map(|node| norm(&node.position));
    let shapes = body.shape.values().map(|shape| {
        let size = shape.size.map_or(0.0, |size| norm(&size));
        let radius = shape.radius.unwrap_or(0.0);
        norm(&shape.origin) + size.max(radius).max(shape.length.unwrap_or(0.0))
    });
    beam.chain(exact).chain(nodes).chain(shapes).fold(0.0, f64::max)
}

/// Returns for each length true if it is a point that is out of scale on its body.
fn far(spec: &Spec, lengths: &[Length]) -> Vec<bool> {
    let sizes = lengths.iter().filter(|length| length.is_size());
    let sizes = sizes.map(|size| size.length).fold(SMALLEST, f64::max);
    // The largest distance on each body, in descending order.
    let mut largest: HashMap<&str, f64> = HashMap::new();
    for point in lengths.iter().filter(|length| !length.is_size()) {
        let known = largest.entry(point.body).or_default();
        *known = known.max(point.length);
    }
    let mut largest: Vec<(&str, f64)> = largest.into_iter().collect();
    largest.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let is_far = |point: &Length| {
        let on_others = largest.iter().find(|(body, _)| *body != point.body);
        let others = on_others.map_or(sizes, |(_, length)| length.max(sizes));
        let own = spec.body.get(point.body).and_then(radius_of_gyration).unwrap_or(0.0);
        !point.is_size() && point.length > FAR * others.max(own)
    };
    lengths.iter().map(is_far).collect()
}

/// Returns the largest moment of inertia of a body that is written, kg·m².
fn moment(body: &Body) -> Option<f64> {
    let moments = match body.inertia? {
        Inertia::Diagonal(moments) => moments,
        Inertia::Full([x, y, z, ..]) => [x, y, z],
    };
    Some(moments.into_iter().fold(0.0, f64::max))
}

/// Returns the largest radius of gyration of a body with a mass and an inertia, m.
fn radius_of_gyration(body: &Body) -> Option<f64> {
    Some((moment(body)? / body.mass?).sqrt())
}

/// Reports inertias that are far too large for the mass in a spacecraft of this size; `largest` is
/// its largest length, m.
fn gyration(spec: &Spec, largest: f64) -> impl Iterator<Item = Problem> {
    spec.body.iter().filter_map(move |(name, body)| {
        let (moment, mass, radius) = (moment(body)?, body.mass?, radius_of_gyration(body)?);
        let scale = match largest > 0.0 {
            true if radius > GYRATION * largest => {
                format!("the largest length of the spec is {} m", number(largest, 4))
            }
            false if mass / (radius * radius) < LIGHTEST => "nothing of this mass is so large".to_owned(),
            _ => return None,
        };
        let what = format!(
            "{} kg·m² with a mass of {} kg is a radius of gyration of {} m, and {scale}: are the moments in kg·m², about the \
             mass centre?",
            number(moment, 6),
            number(mass, 6),
            number(radius, 4)
        );
        Some(problem(["body", name, "inertia"], what))
    })
}

/// Reports bodies that float at the world's origin and that nothing else mentions: probably a joint
/// was forgotten. The largest spacecraft is one that is meant to float.
fn floating(spec: &Spec) -> Vec<Problem> {
    let carriers = spec.joint.values().map(|joint| (&*joint.child, &*joint.parent));
    let carriers: HashMap<&str, &str> = carriers.collect();
    let mut root: HashMap<&str, &str> = HashMap::new();
    for name in spec.body.keys() {
        let (mut way, mut at) = (Vec::new(), &**name);
        let end = loop {
            if let Some(known) = root.get(at) {
                break *known;
            }
            way.push(at);
            match carriers.get(at) {
                Some(parent) => at = parent,
                None => break at,
            }
        };
        root.extend(way.into_iter().map(|body| (body, end)));
    }
    let mut bodies_of: HashMap<&str, usize> = HashMap::new();
    for tree in root.values() {
        *bodies_of.entry(tree).or_default() += 1;
    }
    let bodies = spec.body.keys().map(|name| &**name);
    let mut floating: Vec<&str> = bodies.filter(|body| root.get(body) == Some(body)).collect();
    let is_on_world = bodies_of.contains_key(WORLD);
    if !is_on_world && spec.ancf_beam.is_empty() {
        // `max_by_key` returns the last of several.
        let largest = floating
            .iter()
            .rev()
            .max_by_key(|tree| bodies_of.get(*tree).copied())
            .copied();
        floating.retain(|tree| Some(*tree) != largest);
    }
    let mentioned: HashSet<&str> = (spec.connections().iter())
        .filter(|connection| !matches!(connection.section, "joint" | "measure"))
        .flat_map(|connection| &connection.bodies)
        .chain(spec.wheel.values().map(|wheel| &wheel.body))
        .filter_map(|body| root.get(&**body).copied())
        .collect();
    let is_meant = |tree: &str| {
        let body = &spec.body[tree];
        // A mounted spec floats if its mount says so.
        let is_mounted = tree.contains('.');
        body.start.is_some() || body.attitude_servo.is_some() || is_mounted || mentioned.contains(tree)
    };
    let forgotten = floating.into_iter().filter(|tree| !is_meant(tree));
    let report = |tree: &str| {
        let what = format!(
            "no joint carries it and nothing else names it, so it floats from the world's origin: if a joint is missing, add \
             one with child = \"{tree}\"; if it is meant to float, write its `start`"
        );
        problem(["body", tree], what)
    };
    forgotten.map(report).collect()
}

/// Density of a liquid, kg/m³, below and above which a tank is reported: hydrogen has 70, mercury
/// 13 500.
const LIQUIDS: [f64; 2] = [20.0, 20e3];

/// Reports tanks whose liquid has no density of a liquid, and pendulums that nothing restores.
fn tanks(spec: &Spec) -> Vec<Problem> {
    let has_gravity = spec.environment.gravity.is_some_and(|g| g != [0.0; 3]);
    let has_thrust = !spec.thruster.is_empty() || !spec.port.is_empty();
    let mut found = Vec::new();
    for (name, tank) in &spec.tank {
        if let Some(cylinder) = &tank.cylinder {
            let density = cylinder.density();
            if !(LIQUIDS[0]..=LIQUIDS[1]).contains(&density) {
                let what = format!(
                    "the density of the liquid is {} kg/m³: `radius` and `height` are in m, `mass` is in kg",
                    number(density, 3)
                );
                found.push(problem(["tank", name, "cylinder"], what));
            }
        }
        if tank.model == Some(SloshModel::Pendulum) && !has_gravity && !has_thrust {
            let what = "nothing accelerates the spacecraft (gravity, a thruster, a port), so little restores the pendulums of \
                        the liquid: in weightlessness write model = \"spring_mass\" with a `frequency`";
            found.push(problem(["tank", name, "model"], what.to_owned()));
        }
    }
    found
}

fn numbers(per_axis: &PerAxis) -> &[f64] {
    match per_axis {
        PerAxis::All(number) => std::slice::from_ref(number),
        PerAxis::Each(numbers) => numbers,
    }
}

/// Returns "90 rad are 14.3 turns".
fn turns(angle: f64) -> String {
    format!("{} rad are {} turns", number(angle, 6), number(angle.abs() / TAU, 3))
}

/// Reports angles of joints that are probably in degrees.
fn joint_angles(spec: &Spec) -> Vec<Problem> {
    let mut found = Vec::new();
    for (name, joint) in &spec.joint {
        let of = |joint: &Joint| -> [(&'static [&'static str], Option<PerAxis>, f64); 4] {
            let (start, range) = (joint.start.as_deref(), joint.range.as_deref());
            [
                (
                    &["start", "position"],
                    start.and_then(|start| start.position.clone()),
                    MOST_TURNS,
                ),
                (
                    &["spring", "rest"],
                    joint.spring.as_ref().and_then(|spring| spring.rest.clone()),
                    MOST_TURNS,
                ),
                (&["range", "min"], range.and_then(|range| range.min.clone()), MOST_RANGE),
                (&["range", "max"], range.and_then(|range| range.max.clone()), MOST_RANGE),
            ]
        };
        for (field, value, most) in of(joint) {
            let angles = value.iter().flat_map(numbers).enumerate();
            let mut angles = angles
                .filter(|(i, _)| joint.kind.is_angular(*i))
                .map(|(_, angle)| *angle);
            if let Some(angle) = angles.find(|angle| angle.abs() > most) {
                let hint = match field {
                    ["spring", _] => format!("write {} rad", number(angle.to_radians(), 6)),
                    [.., last] => format!("write {last}_deg = {}", number(angle, 6)),
                    [] => continue,
                };
                let at = ["joint", name]
                    .into_iter()
                    .chain(field.iter().copied())
                    .map(str::to_owned);
                found.push(Problem {
                    at: at.collect(),
                    what: format!("{}: if degrees are meant, {hint}", turns(angle)),
                });
            }
        }
    }
    found
}

/// Reports amplitudes and other angles of signals that are probably in degrees.
fn reference_angles(model: &Model) -> Vec<Problem> {
    let mut found = Vec::new();
    let inputs = model.inputs.iter().map(|input| &input.quantity);
    let angles = inputs.filter(|quantity| quantity.unit == Unit::Radian);
    let angles: HashSet<&str> = angles.map(|quantity| &*quantity.name).collect();
    for (input, signal) in &model.spec.signal {
        let is_angle = angles.contains(&**input);
        let values = signal.values.iter().flatten().copied();
        let largest = values.fold(
            0.0,
            |most: f64, value| if value.abs() > most.abs() { value } else { most },
        );
        for (field, angle, most, can_be) in [
            ("amplitude", signal.amplitude, MOST_TURNS, is_angle),
            ("offset", signal.offset, MOST_TURNS, is_angle),
            ("values", largest, MOST_RANGE, is_angle),
            ("phase", signal.phase.unwrap_or(0.0), MOST_RANGE, true),
        ] {
            if can_be && angle.abs() > most {
                let radians = number(angle.to_radians(), 6);
                let what = format!("{}: if degrees are meant, write {radians} rad", turns(angle));
                found.push(problem(["signal", input, field], what));
            }
        }
    }
    found
}

/// Reports flexible bodies with modes that the communication step does not resolve.
fn aliased_modes(model: &Arc<Model>) -> Result<Vec<Problem>, grapple::Error> {
    let step = model.spec.experiment.step;
    let highest = 0.5 / step;
    let plant = Plant::new(Arc::clone(model))?;
    let mut modes: IndexMap<&str, Vec<f64>> = IndexMap::new();
    for (i, constants) in plant.derived().bodies.iter().enumerate() {
        let own = constants.elastic.iter().flat_map(|elastic| &elastic.modes);
        let own = own.map(|mode| mode.stiffness.sqrt() / TAU).filter(|f| *f > highest);
        let system = model.system();
        let segment = system.bodies[system.whole(i)].name.as_str();
        let name = segment.split('[').next().unwrap_or(segment);
        modes.entry(name).or_default().extend(own);
    }
    let aliased = modes.into_iter().filter(|(_, modes)| !modes.is_empty());
    let report = |(body, modes): (&str, Vec<f64>)| {
        let fastest = modes.iter().copied().fold(0.0, f64::max);
        let what = format!(
            "{} above {} Hz, half the rate of the communication points ({} Hz at the fastest): results, and controllers in \
             other FMUs, see a slow vibration in its place; use an experiment.step below {} s, or fewer modes",
            count(modes.len(), "mode"),
            number(highest, 4),
            number(fastest, 4),
            number(0.5 / fastest, 3)
        );
        problem(["body", body], what)
    };
    Ok(aliased.map(report).collect())
}
