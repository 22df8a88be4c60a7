//! Bodies and joints for which tables of a spec are shorthand.

use super::{Cmg, Report, Spec, Wheel, unknown};

/// Bodies and joints that a table adds to a spec.
pub(crate) struct Added<'a> {
    /// Section and name of the table.
    pub section: &'static str,
    pub name: &'a str,
    /// Body that carries them; `None` if they are in the world.
    pub carrier: Option<&'a str>,
    /// Names of the bodies, each with that of its joint.
    pub parts: Vec<[String; 2]>,
}

impl Spec {
    /// Returns the bodies and joints of wheels, control moment gyros, tanks and tethers.
    pub(crate) fn added(&self) -> Vec<Added<'_>> {
        let wheels = self.wheel.iter().map(|(name, wheel)| Added {
            section: "wheel",
            name,
            carrier: Some(&wheel.body),
            parts: vec![[Wheel::rotor(name), name.clone()]],
        });
        let gyros = self.cmg.iter().map(|(name, cmg)| Added {
            section: "cmg",
            name,
            carrier: Some(&cmg.body),
            parts: Cmg::parts(name).to_vec(),
        });
        let tanks = self.tank.iter().map(|(name, tank)| Added {
            section: "tank",
            name,
            carrier: Some(&tank.body),
            parts: tank.parts(name),
        });
        let tethers = self.tether.iter().map(|(name, tether)| Added {
            section: "tether",
            name,
            carrier: None,
            parts: tether.parts(name),
        });
        wheels.chain(gyros).chain(tanks).chain(tethers).collect()
    }

    /// Returns the spec with the bodies and joints added for which tables are shorthand: those of
    /// wheels, drive trains, control moment gyros, tanks and tethers; none if there are no such tables.
    #[inline(never)] // importers call from threads with small stacks
    pub(crate) fn with_added(&self) -> Option<Box<Self>> {
        let has_bodies = !self.wheel.is_empty() || !self.cmg.is_empty() || !self.tank.is_empty();
        let has_tables = has_bodies || !self.tether.is_empty();
        if !has_tables && self.joint.values().all(|joint| joint.drive_train.is_none()) {
            return None;
        }
        let mut spec = Box::new(self.clone());
        spec.add_drive_trains();
        spec.add_wheels();
        spec.add_cmgs();
        spec.add_tanks();
        spec.add_tethers();
        Some(spec)
    }
}

impl Spec {
    /// Returns the message for a name that is that of no frame and no body of the spec: a tether is named
    /// with its ends, a body or joint that a table adds with the table.
    pub(super) fn no_frame(&self, name: &str) -> String {
        if let Some(tether) = self.tether.get(name) {
            let [a, b] = [&tether.a, &tether.b];
            return format!("\"{name}\" is a tether: name what it ends at, \"{a}\" or \"{b}\"");
        }
        let all = self.added();
        let has_part = |added: &&Added| added.name != name && added.parts.iter().flatten().any(|part| part == name);
        let owner = all.iter().find(has_part);
        match owner {
            Some(Added { section, name: of, .. }) => {
                format!("\"{name}\" is a part of the {section} \"{of}\", to which nothing else is attached")
            }
            None => unknown("frame or body", name, self.frames()),
        }
    }
}

/// Reports a body that is not there, is a frame or an ANCF beam, or is flexible. `what` has its
/// article.
pub(super) fn on_rigid_body(spec: &Spec, what: &str, body: &str, report: &mut Report) {
    let of_frame = spec.frame.get(body).map(|frame| &frame.body);
    match spec.body.get(body) {
        Some(written) if written.is_rigid() => {}
        Some(_) => report.add(
            "body",
            format!("{what} is on a rigid body, and \"{body}\" is flexible: add a rigid body on a fixed joint"),
        ),
        None if of_frame.is_some_and(|owner| spec.body.contains_key(owner)) => report.add(
            "body",
            format!("\"{body}\" is a frame: write its body, and `position` and `axis` on it"),
        ),
        None if spec.has_frame(body) => report.add("body", unknown("body", body, spec.body.keys())),
        // A name that does not exist is reported as that of a frame.
        None => {}
    }
}
