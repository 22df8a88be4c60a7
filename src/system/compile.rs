use super::beam::segment_name;
use super::declare::{declare_free_start, declare_mass, declare_placement, declare_start};
use super::{
    Beam, Body, Bound, Declarations, Frame, Joint, Location, ModalData, Modes, Orbit, ParamId, Quantity, RigidMass,
    Station, System, Unit,
};
use crate::spec::{self, Axes, Coupling, JointMotion, JointType, Spec, Tank, WORLD, at};
use std::collections::HashMap;
use std::sync::Arc;

impl Joint {
    /// Returns a fixed joint of `body` without parameters; `(q, v)` are its offsets among all
    /// coordinates and rates.
    pub(super) fn fixed(body: &str, (q, v): (usize, usize)) -> Self {
        Self {
            name: body.to_owned(),
            written: false,
            kind: JointType::Fixed,
            motion: JointMotion::Loads,
            motions: vec![JointMotion::Loads],
            q,
            v,
            nq: 0,
            nv: 0,
            origin: None,
            orientation: None,
            axis: None,
            axis2: None,
            pitch: None,
            drives: None,
            ratio: None,
            rotor_inertia: None,
            q_start: None,
            v_start: None,
            start_axes: Axes::World,
        }
    }
}

impl System {
    /// Sorts the bodies in tree order, lays out the state and declares the parameters of bodies,
    /// joints and frames.
    ///
    /// References of the spec are expected to be [checked](crate::spec::read). A dangling reference
    /// is an error here too, because [`Model::compile`](crate::plant::Model::compile) also accepts
    /// specs that were not checked.
    pub fn compile(spec: &Spec, declare: &mut Declarations) -> Result<Self, crate::Error> {
        let mut system = Self {
            bodies: Vec::new(),
            frames: Vec::with_capacity(spec.frame.len()),
            stations: Vec::new(),
            directors: Vec::new(),
            nodal: Vec::new(),
            points: Vec::new(),
            propellant: Vec::new(),
            nq: 0,
            nv: 0,
            couples_linearly: spec
                .quaternion
                .as_ref()
                .is_some_and(|options| options.coupling != Coupling::Full),
            orbit: (spec.environment.orbit.as_ref()).map(|orbit| Orbit::declare(orbit, declare)),
        };
        let mut indices = Vec::with_capacity(spec.body.len());
        for (name, parent, joint) in tree_order(spec)? {
            let joint = system.joint(name, joint.and_then(|j| spec.joint.get_key_value(j)), spec, declare);
            let parent = parent.map(|parent| match joint.origin {
                Some(origin) => system.segment_at(indices[parent], origin, declare),
                None => indices[parent],
            });
            let body = &spec.body[name];
            let mass = body
                .mass
                .zip(body.inertia)
                .map(|(mass, _)| declare_mass(name, mass, body, declare));
            let beam = body
                .beam
                .as_ref()
                .map(|written| Arc::new(Beam::declare(name, written, declare)));
            indices.push(system.bodies.len());
            let segments = beam.as_ref().map_or(1, |beam| beam.segments());
            let modal = body.modal.as_ref();
            let modal = modal.map(|written| Box::new(ModalData::declare(name, written, declare)));
            system.body(name.to_owned(), parent, joint, (beam.clone(), 0), modal, mass);
            for segment in 1..segments {
                let name = segment_name(name, segment);
                let joint = Joint::fixed(&name, (system.nq, system.nv));
                let inner = system.bodies.len() - 1;
                system.body(name, Some(inner), joint, (beam.clone(), segment), None, None);
            }
            if let Some(written) = &body.geometrically_exact_beam {
                system.geometrically_exact_beam(name, written, declare);
            }
        }
        system.mark_carriers();
        let liquid = |tank: &String| system.bodies.iter().position(|body| body.name == Tank::liquid(tank));
        system.propellant = spec.drawn_tanks().filter_map(liquid).collect();
        system.number_reactions(spec);
        system.ancf_beams(spec, declare);
        for (name, frame) in &spec.frame {
            if system.point(name, &frame.body, frame.origin[0], declare) {
                continue;
            }
            let (origin, orientation) = declare_placement(
                name,
                &at("frame", name, ""),
                "body",
                frame.origin,
                (frame.orientation, frame.rpy_deg),
                declare,
            );
            let body = system
                .bodies
                .iter()
                .position(|b| b.name == frame.body)
                .ok_or_else(|| dangling("frame", name))?;
            let body = system.segment_at(body, origin, declare);
            let is_turned = orientation.is_some() || system.is_turned_node(body);
            system.frames.push(Frame {
                name: name.clone(),
                body,
                station: None,
                origin,
                orientation,
                is_turned,
            });
        }
        system.place_stations();
        Ok(system)
    }

    /// Appends a body and its joint.
    pub(super) fn body(
        &mut self,
        name: String,
        parent: Option<usize>,
        joint: Joint,
        (beam, segment): (Option<Arc<Beam>>, usize),
        modal: Option<Box<ModalData>>,
        mass: Option<RigidMass>,
    ) {
        let of = beam.as_ref().map(|beam| (beam.modes(), beam.is_damped()));
        let of = of.or_else(|| modal.as_ref().map(|data| (data.modes(), data.is_damped())));
        let modes = of.map(|(n, are_damped)| self.modes(n, are_damped));
        self.bodies.push(Body {
            name,
            parent,
            is_leaf: true,
            joint,
            station: None,
            reaction_index: None,
            modes,
            beam,
            segment,
            director: None,
            modal,
            mass,
        });
    }

    /// Returns the segment or node that carries the point `origin` of a body of the spec, whose
    /// first segment or node is `first`.
    fn segment_at(&self, first: usize, origin: ParamId, declare: &Declarations) -> usize {
        let body = &self.bodies[first];
        if body.beam.is_none() && body.director.is_none() {
            return first;
        }
        let values = declare.starts();
        let position = origin.vector(&values);
        match &body.beam {
            Some(beam) => first + beam.segment_at(&values, &position),
            None => self.node_at(first, &values, &position),
        }
    }

    /// Appends coordinates and rates for the `n` modes of a flexible body.
    fn modes(&mut self, n: usize, are_damped: bool) -> Modes {
        let index = self.flexible().count();
        let (q, v) = (self.nq, self.nv);
        self.nq += n;
        self.nv += n;
        Modes {
            index,
            q,
            v,
            n,
            are_damped,
            stations: 0..0,
            tip: None,
        }
    }

    /// Creates one station for every joint and frame on a flexible body and for a beam's tip,
    /// grouped by body.
    fn place_stations(&mut self) {
        let mut column = 0;
        for i in 0..self.bodies.len() {
            let Some(n) = self.bodies[i].modes.as_ref().map(|modes| modes.n) else {
                continue;
            };
            let is_beam = self.bodies[i].beam.is_some();
            let first = self.stations.len();
            let stations = &mut self.stations;
            let mut locate = |location: Location| {
                stations.push(Station {
                    body: i,
                    location,
                    first: column,
                });
                column += n;
                Some(stations.len() - 1)
            };
            for body in self
                .bodies
                .iter_mut()
                .filter(|body| body.parent == Some(i) && body.segment == 0)
            {
                body.station = body.joint.origin.and_then(|origin| locate(Location::Near(origin)));
            }
            for frame in self.frames.iter_mut().filter(|frame| frame.body == i) {
                frame.station = locate(Location::Near(frame.origin));
            }
            let tip = is_beam.then(|| locate(Location::Tip)).flatten();
            let carrying = self.stations.len() - usize::from(is_beam);
            let next = |body: &&mut Body| body.parent == Some(i) && body.segment > 0;
            let carries = self
                .bodies
                .iter_mut()
                .find(next)
                .map(|body| body.station = tip)
                .is_some();
            if let Some(modes) = &mut self.bodies[i].modes {
                modes.stations = first..carrying + usize::from(carries);
                modes.tip = tip;
            }
        }
    }

    /// Numbers the bodies whose joint reaction is computed.
    fn number_reactions(&mut self, spec: &Spec) {
        let all = spec.output.reactions;
        let added = spec.added();
        let is_observed = |joint: &String| {
            let mut observed = added.iter().filter(|of| of.section != "wheel");
            observed.any(|of| of.parts.iter().any(|[_, part]| part == joint))
        };
        let is_held = |joint: &Joint| {
            let written = spec.joint.get(&joint.name).filter(|_| joint.written);
            written.is_some_and(|written| written.feeds_forward() || written.sticks())
                || spec
                    .sensor
                    .values()
                    .any(|sensor| joint.written && sensor.reads_reaction(&joint.name))
        };
        let computed = self.bodies.iter_mut().filter(|body| {
            let joint = &body.joint;
            all || body.modes.is_some() || joint.is_drivable() || is_held(joint) || is_observed(&joint.name)
        });
        for (index, body) in computed.enumerate() {
            body.reaction_index = Some(index);
        }
    }

    fn mark_carriers(&mut self) {
        for i in 0..self.bodies.len() {
            if let Some(parent) = self.bodies[i].parent {
                self.bodies[parent].is_leaf = false;
            }
        }
    }

    fn joint(
        &mut self,
        body: &str,
        written: Option<(&String, &spec::Joint)>,
        spec: &Spec,
        declare: &mut Declarations,
    ) -> Joint {
        let kind = written.map_or(JointType::Free, |(_, joint)| joint.kind);
        let nv = kind.rates();
        let nq = kind.coordinates();
        let (q, v) = (self.nq, self.nv);
        self.nq += nq;
        self.nv += nv;
        let motion = written.map_or(JointMotion::Loads, |(_, joint)| joint.motion);
        let mut joint = Joint {
            name: written.map_or(body, |(name, _)| name).to_owned(),
            written: written.is_some(),
            kind,
            motion,
            motions: JointMotion::ALL
                .into_iter()
                .filter(|&way| way == motion || written.is_some_and(|(_, joint)| joint.motions.contains(&way)))
                .collect(),
            nq,
            nv,
            ..Joint::fixed(body, (q, v))
        };
        let Some((name, from)) = written else {
            let start = spec.body[body].start.clone().unwrap_or_default();
            declare_free_start(&mut joint, &start, &at("body", body, "start"), declare);
            return joint;
        };
        if let Some(geared) = &from.geared {
            self.place_rotor(&mut joint, geared, declare);
            return joint;
        }
        let (origin, orientation) = declare_placement(
            name,
            &at("joint", name, ""),
            "parent",
            from.origin,
            (from.orientation, from.rpy_deg),
            declare,
        );
        joint.origin = Some(origin);
        joint.orientation = orientation;
        // A reaction wheel has no axis parameter: its axis is the z axis of its orientation.
        declare_axes(&mut joint, from, !spec.wheel.contains_key(name), declare);
        if let Some(inertia) = &from.rotor_inertia {
            let values: Vec<f64> = (0..nv).map(|i| inertia.get(i)).collect();
            let quantities = (0..nv).map(|i| {
                Quantity::new(
                    joint.quantity_name("rotor_inertia", i),
                    Unit::coordinate(kind.is_angular(i)).inertia,
                    format!("motor inertia seen at {name}, n²J"),
                )
                .bounded(Bound::NotNegative)
            });
            joint.rotor_inertia =
                Some(declare.parameters(quantities, &values, false, &at("joint", name, "rotor_inertia")));
        }
        let start = from.start.clone().unwrap_or_default();
        let place = at("joint", name, "start");
        if kind == JointType::Free {
            declare_free_start(&mut joint, &start.as_free(), &place, declare);
        } else if kind != JointType::Fixed && !from.is_placed && !spec.coupling.values().any(|of| of.joint == *name) {
            declare_start(&mut joint, &start, &place, declare);
        }
        joint
    }
}

impl System {
    /// Copies to the rotor of a drive train the position, the axis and the start of the joint that
    /// it drives, which precedes it in the tree.
    fn place_rotor(&mut self, rotor: &mut Joint, geared: &spec::Geared, declare: &mut Declarations) {
        let name = &geared.joint;
        let driven = self.bodies.iter().map(|body| &body.joint);
        if let Some(joint) = driven.into_iter().find(|joint| joint.written && joint.name == *name) {
            (rotor.origin, rotor.orientation, rotor.axis) = (joint.origin, joint.orientation, joint.axis);
            (rotor.q_start, rotor.v_start) = (joint.q_start, joint.v_start);
        }
        let what = format!("turns of the rotor per turn of joint {name}");
        let quantity = Quantity::new(format!("{name}.ratio"), Unit::One, what);
        let place = at("joint", name, "drive_train.ratio");
        rotor.ratio = Some(declare.parameter(quantity, geared.ratio, false, &place));
        rotor.drives = Some(name.clone());
    }
}

/// Declares the axes of a joint of the spec as parameters; the first one only if `has_first`.
fn declare_axes(joint: &mut Joint, written: &spec::Joint, has_first: bool, declare: &mut Declarations) {
    let name = joint.name.clone();
    let mut axis = |field: &str, value: [f64; 3], what: &str| {
        let quantities = Quantity::vector(
            &format!("{name}.{field}"),
            Unit::One,
            &format!("{what} of {name}, joint frame"),
        );
        Some(declare.parameters(quantities, &value, false, &at("joint", &name, field)))
    };
    if joint.kind.has_axis() && has_first {
        joint.axis = axis("axis", written.axis.unwrap_or([0.0, 0.0, 1.0]), "axis");
    }
    if joint.kind == JointType::Universal {
        joint.axis2 = axis("axis2", written.axis2.unwrap_or([0.0, 1.0, 0.0]), "second axis");
    }
    if let Some(pitch) = written.pitch {
        let what = format!("travel of {name} per turn");
        let quantity = Quantity::new(format!("{name}.pitch"), Unit::Metre, what);
        joint.pitch = Some(declare.parameter(quantity, pitch, false, &at("joint", &name, "pitch")));
    }
}

/// A body's name, the index of its parent in the tree order, and its joint's name.
type Placed<'a> = (&'a str, Option<usize>, Option<&'a str>);

/// Returns the bodies in depth-first order, parents first.
fn tree_order(spec: &Spec) -> Result<Vec<Placed<'_>>, crate::Error> {
    let mut carried: HashMap<&str, (&str, &spec::Joint)> = HashMap::new();
    let mut children: HashMap<&str, Vec<&str>> = HashMap::new();
    for (name, joint) in &spec.joint {
        carried.insert(&joint.child, (name, joint));
        children.entry(&joint.parent).or_default().push(&joint.child);
    }
    let is_root = |body: &str| carried.get(body).is_none_or(|(_, joint)| joint.parent == WORLD);
    let mut order = Vec::with_capacity(spec.body.len());
    let mut stack: Vec<(&str, Option<usize>)> = spec
        .body
        .keys()
        .rev()
        .filter(|body| is_root(body))
        .map(|body| (body.as_str(), None))
        .collect();
    while let Some((body, parent)) = stack.pop() {
        let joint = carried.get(body).map(|(name, _)| *name);
        if !spec.body.contains_key(body) {
            return Err(dangling("joint", joint.unwrap_or(body)));
        }
        let index = order.len();
        order.push((body, parent, joint));
        let below = children.get(body).into_iter().flatten().rev();
        stack.extend(below.map(|child| (*child, Some(index))));
    }
    match spec
        .body
        .keys()
        .find(|body| !order.iter().any(|(done, ..)| done == *body))
    {
        Some(lost) => Err(dangling("body", lost)),
        None => Ok(order),
    }
}

/// Returns the error for a dangling reference, possible only if the spec was not
/// [checked](crate::spec::read).
fn dangling(section: &str, name: &str) -> crate::Error {
    crate::Error::Spec(vec![spec::problem(
        section,
        name,
        "",
        "it is not connected to the tree of bodies".to_owned(),
    )])
}
