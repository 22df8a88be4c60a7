//! A spacecraft in two FMUs that are coupled mechanically.
//!
//! The *carrier* gives the motion of a frame and takes a wrench there ([`grapple::spec::Port`]); the
//! *carried* part takes the motion and gives the wrench of a spring-damper between that frame and
//! its own ([`ElasticInterface`]). A cut at a grasp keeps its gains. A cut at a joint has gains from
//! a frequency and a damping ratio,
//!
//! ```text
//!     k = (2π f)² μ,   c = 2 ζ (2π f) μ,   1/μ = 1/m_carrier + 1/m_carried,
//! ```
//!
//! with the effective masses of both sides along each axis of the frame (inertias for rotations):
//! `1/m` is the acceleration of the frame by a unit force at the start of the part, with all its
//! joints free.

use crate::compiled_spec::CompiledSpec;
use crate::error::{Context, Result, invalid};
use crate::linearize::{LinearizeOptions, choose};
use crate::point::Point;
use grapple::elements::interface::ElasticInterface;
use grapple::plant::Model;
use grapple::spec::{Body, Frame, FreeStart, Inertia, JointType, PerAxis, Port, PortAxes, Spec};
use nalgebra::{Matrix3, Quaternion, UnitQuaternion};
use std::f64::consts::TAU;
use std::path::Path;
use std::sync::Arc;

/// Place of the cut, and the gains of the interface there.
#[derive(Clone, Debug)]
pub struct SplitOptions {
    /// A grasp, or a joint. A fixed joint is replaced by the interface; of any other joint the child
    /// is divided into two halves.
    pub at: String,
    /// Frequency of the two parts' relative motion on the interface at a joint, Hz.
    pub frequency: f64,
    /// Damping ratio of that motion.
    pub damping_ratio: f64,
}

impl SplitOptions {
    /// Returns the options for a cut at a grasp or a joint: 10 Hz, damping ratio 0.7.
    pub fn at(name: impl Into<String>) -> Self {
        Self {
            at: name.into(),
            frequency: 10.0,
            damping_ratio: 0.7,
        }
    }
}

/// The two parts.
#[derive(Clone, Debug)]
pub struct Split {
    /// Name of the interface, the port and its frame.
    pub interface: String,
    /// Part that gives the motion.
    pub carrier: Spec,
    /// Part that gives the wrench.
    pub carried: Spec,
}

/// Effective mass of a frame along its axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EffectiveMass {
    /// Force for a unit acceleration of the origin, kg.
    pub mass: [f64; 3],
    /// Moment for a unit angular acceleration, kg·m².
    pub inertia: [f64; 3],
}

/// Divides a spec in two at a grasp or a joint.
///
/// # Errors
/// A spec of a controller; no such grasp or joint; a cut that does not separate the bodies, or at
/// the world, an ANCF beam or a grasp that is switched; a flexible child of a joint that moves; gains
/// that are not positive; those of the two parts.
pub fn split(whole: &CompiledSpec, options: &SplitOptions) -> Result<Split> {
    let spec = &whole.model.spec;
    let at = options.at.as_str();
    for (what, value) in [
        ("frequency", options.frequency),
        ("damping ratio", options.damping_ratio),
    ] {
        if !(value > 0.0 && value.is_finite()) {
            return Err(invalid!("the {what} {value} is not positive and finite"));
        }
    }
    if spec.controller.is_some() {
        return Err(invalid!(
            "{} is a controller: only a spacecraft can be divided",
            whole.file
        ));
    }
    if spec.assembly.as_ref().is_some_and(|assembly| assembly.equilibrium) {
        return Err(invalid!(
            "{}: a start in equilibrium cannot be divided: leave `equilibrium` in [assembly] out",
            whole.file
        ));
    }
    if spec.grasp.contains_key(at) {
        at_grasp(spec, at)
    } else if spec.joint.contains_key(at) {
        at_joint(spec, options)
    } else {
        let names: Vec<&str> = spec.grasp.keys().chain(spec.joint.keys()).map(String::as_str).collect();
        Err(invalid!(
            "{} has no joint or grasp {at:?}; it has {}",
            whole.file,
            names.join(", ")
        ))
    }
}

fn at_grasp(spec: &Spec, at: &str) -> Result<Split> {
    let grasp = &spec.grasp[at];
    let switch = format!("{at}.on");
    if !grasp.on || spec.signal.contains_key(&switch) || spec.input.contains_key(&switch) {
        return Err(invalid!(
            "grasp \"{at}\" is switched, and an interface is not: write `on = true`, without a signal or a start value \
             of \"{switch}\""
        ));
    }
    let [Some(a), Some(b)] = [&grasp.a, &grasp.b].map(|frame| spec.body_of(frame)) else {
        return Err(invalid!("grasp \"{at}\" holds the world, which is part of both FMUs"));
    };
    if spec.ancf_beam.contains_key(b) {
        return Err(invalid!(
            "grasp \"{at}\" holds the ANCF beam \"{b}\", which has no attitude: divide at another place"
        ));
    }
    let mut cut = spec.clone();
    cut.grasp.shift_remove(at);
    let carried = separate(&cut, at, [a, b])?;
    let frame = cut.frame.get(&grasp.a).cloned();
    let frame = frame.unwrap_or_else(|| on_body(a));
    // The frame of the cut and the port have one name, so that outputs and inputs have it too.
    cut.frame.insert(at.to_owned(), frame);
    let mut divided = Divided::new(&cut, at, &carried);
    let start = Start::of(&cut)?;
    divided.carried.interface.insert(
        at.to_owned(),
        ElasticInterface {
            frame: grasp.b.clone(),
            stiffness: grasp.stiffness.clone(),
            damping: grasp.damping.clone(),
            angular_stiffness: grasp.angular_stiffness.clone(),
            angular_damping: grasp.angular_damping.clone(),
            position: start.vector(at, "r")?,
            attitude: start.vector(at, "q")?,
            effective_mass: false,
        },
    );
    divided.moves(&start)?;
    divided.finish()
}

fn at_joint(spec: &Spec, options: &SplitOptions) -> Result<Split> {
    let at = options.at.as_str();
    let joint = &spec.joint[at];
    let child = joint.child.as_str();
    if let Some((fed, _)) = spec.joint.iter().find(|(_, joint)| joint.feeds_forward()) {
        return Err(invalid!(
            "the feed-forward torque of joint \"{fed}\" would not include the carried part: leave `feed_forward` out"
        ));
    }
    if let Some((sensor, _)) = spec.sensor.iter().find(|(_, of)| of.joint.as_deref() == Some(at)) {
        return Err(invalid!(
            "sensor \"{sensor}\" measures joint \"{at}\", which is cut: leave the sensor out, or divide elsewhere"
        ));
    }
    let Some(parent) = spec.body_of(&joint.parent) else {
        return Err(invalid!(
            "joint \"{at}\" connects \"{child}\" with the world, which is part of both FMUs"
        ));
    };
    let mut cut = spec.clone();
    cut.joint.shift_remove(at);
    let carried = separate(&cut, at, [parent, child])?;
    let is_fixed = joint.kind == JointType::Fixed;
    let body = &spec.body[child];
    if !is_fixed && (body.beam.is_some() || body.geometrically_exact_beam.is_some() || body.modal.is_some()) {
        return Err(invalid!(
            "joint \"{at}\" moves and its child \"{child}\" is flexible: only a rigid child can be divided into two \
             halves; divide at a fixed joint"
        ));
    }
    let name = if is_fixed { at.to_owned() } else { format!("{at}_cut") };
    let mut whole = spec.clone();
    let frame = match is_fixed {
        true => Frame {
            body: parent.to_owned(),
            origin: joint.origin,
            orientation: joint.orientation,
            rpy_deg: joint.rpy_deg,
            contact_shape: None,
        },
        false => on_body(child),
    };
    let mut connections = cut.connections().into_iter().map(|connection| connection.name);
    if spec.frames().any(|known| *known == name) || connections.any(|known| known == name) {
        return Err(invalid!(
            "the interface would be called \"{name}\", a name that is taken: rename that"
        ));
    }
    whole.frame.insert(name.clone(), frame.clone());
    let start = Start::of(&whole)?;
    cut.frame.insert(name.clone(), frame);
    let mut divided = Divided::new(&cut, &name, &carried);
    if !is_fixed {
        let half = half(body);
        divided.carrier.body.insert(child.to_owned(), half.clone());
        divided.carrier.joint.insert(at.to_owned(), joint.clone());
        divided.carrier.frame.insert(name.clone(), on_body(child));
        divided.carried.frame.shift_remove(&name);
        divided.carried.body.insert(child.to_owned(), half);
    }
    divided.carried.body[child].start = Some(FreeStart {
        position: start.vector(child, "r")?,
        attitude: Some(start.vector(child, "q")?),
        velocity: start.vector(child, "v")?,
        angular_velocity: start.vector(child, "w")?,
        ..FreeStart::default()
    });
    let masses = effective_masses(&divided.carrier, &divided.carried, &name, child)?;
    let along = |parts: [[f64; 3]; 2], factor: f64| {
        let gain = |i: usize| three_digits(factor / (1.0 / parts[0][i] + 1.0 / parts[1][i]));
        PerAxis::Each([0, 1, 2].map(gain).to_vec())
    };
    let (mass, inertia) = (masses.map(|of| of.mass), masses.map(|of| of.inertia));
    let w = TAU * options.frequency;
    let (stiffness, damping) = (w * w, 2.0 * options.damping_ratio * w);
    divided.carried.interface.insert(
        name.clone(),
        ElasticInterface {
            frame: child.to_owned(),
            stiffness: along(mass, stiffness),
            damping: along(mass, damping),
            angular_stiffness: Some(along(inertia, stiffness)),
            angular_damping: Some(along(inertia, damping)),
            position: start.vector(&name, "r")?,
            attitude: start.vector(&name, "q")?,
            effective_mass: false,
        },
    );
    divided.moves(&start)?;
    divided.finish()
}

/// Returns the bodies on the side of the second of two bodies that are connected by the cut only.
fn separate(cut: &Spec, at: &str, [first, second]: [&str; 2]) -> Result<Vec<String>> {
    let connections = cut.connections();
    let mut found = vec![(second.to_owned(), None)];
    let mut k = 0;
    while k < found.len() {
        let body = found[k].0.clone();
        for (i, connection) in connections.iter().enumerate() {
            if !connection.bodies.contains(&body) {
                continue;
            }
            for other in &connection.bodies {
                if !found.iter().any(|(known, _)| known == other) {
                    found.push((other.clone(), Some((k, i))));
                }
            }
        }
        k += 1;
    }
    let Some(mut place) = found.iter().position(|(body, _)| body == first) else {
        return Ok(found.into_iter().map(|(body, _)| body).collect());
    };
    let mut way = Vec::new();
    while let Some((before, i)) = found[place].1 {
        way.push(format!("{} \"{}\"", connections[i].section, connections[i].name));
        place = before;
    }
    way.reverse();
    Err(invalid!(
        "\"{at}\" does not separate \"{first}\" from \"{second}\": they are also connected by {}",
        way.join(", ")
    ))
}

fn on_body(body: &str) -> Frame {
    Frame {
        body: body.to_owned(),
        origin: [0.0; 3],
        orientation: None,
        rpy_deg: None,
        contact_shape: None,
    }
}

/// Returns a rigid body with half the mass.
fn half(body: &Body) -> Body {
    let mut half = body.clone();
    half.mass = body.mass.map(|mass| 0.5 * mass);
    half.inertia = body.inertia.map(|inertia| match inertia {
        Inertia::Diagonal(moments) => Inertia::Diagonal(moments.map(|of| 0.5 * of)),
        Inertia::Full(all) => Inertia::Full(all.map(|of| 0.5 * of)),
    });
    half
}

fn three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// The two parts of a spec, without the interface.
struct Divided {
    name: String,
    carrier: Spec,
    carried: Spec,
}

impl Divided {
    /// Divides a spec whose frame `name` is that of the cut, on the carrier.
    fn new(cut: &Spec, name: &str, carried: &[String]) -> Self {
        let is_carried = |body: &str| carried.iter().any(|known| known == body);
        let mut parts = [cut.part(|body| !is_carried(body)), cut.part(is_carried)];
        for (part, suffix) in parts.iter_mut().zip(["carrier", "carried"]) {
            part.name = format!("{}_{suffix}", cut.name);
            if part.closed_loop.is_empty() {
                part.assembly = None;
            }
            if let Some(assembly) = &mut part.assembly {
                let joints = &part.joint;
                assembly.fixed.retain(|name| joints.contains_key(name));
                assembly.weights.retain(|name, _| joints.contains_key(name));
            }
        }
        let [mut carrier, carried] = parts;
        let port = Port {
            frame: name.to_owned(),
            axes: PortAxes::Frame,
            impulse: false,
            effective_mass: false,
        };
        carrier.port.insert(name.to_owned(), port);
        Self {
            name: name.to_owned(),
            carrier,
            carried,
        }
    }

    /// Sets the start values of the interface's velocities.
    fn moves(&mut self, start: &Start) -> Result<()> {
        for field in ["v", "w"] {
            let velocity: [f64; 3] = start.vector(&self.name, field)?;
            for (i, value) in velocity.into_iter().enumerate().filter(|(_, value)| *value != 0.0) {
                self.carried
                    .input
                    .insert(format!("{}.{field}[{}]", self.name, i + 1), value);
            }
        }
        Ok(())
    }

    /// Keeps the signals and start values of the inputs of each part.
    fn finish(mut self) -> Result<Split> {
        for part in [&mut self.carrier, &mut self.carried] {
            let (mut signals, mut starts) = (std::mem::take(&mut part.signal), std::mem::take(&mut part.input));
            let model = Model::compile(part)?;
            let has = |name: &String| model.inputs.iter().any(|input| input.quantity.name == *name);
            signals.retain(|name, _| has(name));
            starts.retain(|name, _| has(name));
            // The importer of the two parts does not read the spec, so signals act inside the FMUs.
            signals.values_mut().for_each(|signal| signal.from_importer = false);
            (part.signal, part.input) = (signals, starts);
            let text = grapple::spec::to_toml(part).context(|| format!("{} cannot be written", part.name))?;
            CompiledSpec::parse(&text, Path::new(""), &part.name)?;
        }
        Ok(Split {
            interface: self.name,
            carrier: self.carrier,
            carried: self.carried,
        })
    }
}

/// Values of outputs and states at the start of a spec.
struct Start(Vec<(String, f64)>);

impl Start {
    fn of(spec: &Spec) -> Result<Self> {
        let mut spec = spec.clone();
        spec.signal.clear();
        spec.input.clear();
        spec.output.bodies = true;
        let model = Arc::new(Model::compile(&spec)?);
        Ok(Self(Point::start(&model)?.values()?))
    }

    /// Returns the components of `owner.field`.
    fn vector<const N: usize>(&self, owner: &str, field: &str) -> Result<[f64; N]> {
        let mut vector = [0.0; N];
        for (i, component) in vector.iter_mut().enumerate() {
            let name = format!("{owner}.{field}[{}]", i + 1);
            let found = self.0.iter().find(|(known, _)| *known == name);
            *component = found.ok_or_else(|| invalid!("there is no variable {name}"))?.1;
        }
        Ok(vector)
    }
}

/// Returns the effective masses, at the start, of a carrier with a frame and a port of this name, and
/// of a carried part at its `frame`.
///
/// # Errors
/// Those of the linearisation.
pub fn effective_masses(carrier: &Spec, carried: &Spec, name: &str, frame: &str) -> Result<[EffectiveMass; 2]> {
    let mut probe = carried.clone();
    probe.interface.clear();
    probe.input.clear();
    let of = probe.frame.get(frame).cloned();
    probe
        .frame
        .insert(name.to_owned(), of.unwrap_or_else(|| on_body(frame)));
    probe.port.insert(name.to_owned(), carrier.port[name].clone());
    Ok([EffectiveMass::of(carrier, name)?, EffectiveMass::of(&probe, name)?])
}

impl EffectiveMass {
    /// Returns the effective mass of a frame of a spec with a port of the same name, at the start:
    /// the inverse diagonal of `C B`, by which the frame accelerates under a wrench.
    fn of(spec: &Spec, name: &str) -> Result<Self> {
        let mut spec = spec.clone();
        spec.signal.clear();
        spec.input.clear();
        let model = Arc::new(Model::compile(&spec)?);
        let mut point = Point::start(&model)?;
        let mut linear = point.linearised()?;
        let named = |fields: [&str; 2]| fields.map(|field| format!("{name}.{field}")).to_vec();
        let options = LinearizeOptions {
            at: 0.0,
            inputs: named(["f", "t"]),
            outputs: named(["v", "w"]),
        };
        let u = vec![0.0; linear.inputs.len()];
        choose(&mut linear, &model, &options, &u)?;
        let mobility = linear.C * linear.B;
        let start = Start::of(&spec)?;
        let [w, x, y, z] = start.vector(name, "q")?;
        let R = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)).to_rotation_matrix();
        let block = |i: usize| Matrix3::from_fn(|row, column| mobility[(i + row, i + column)]);
        let (linear, angular) = (R.matrix().transpose() * block(0), block(3));
        Ok(Self {
            mass: [0, 1, 2].map(|i| 1.0 / linear[(i, i)]),
            inertia: [0, 1, 2].map(|i| 1.0 / angular[(i, i)]),
        })
    }
}
