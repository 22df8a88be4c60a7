use super::{Mount, Part, named, names};
use crate::algebra::{Quaternion, Vec3};
use crate::spec::{Frame, WORLD, rotation, unknown};
use serde::Deserialize;
use toml::{Table, Value};

/// Error of a mount: field, message.
type Objection = (&'static str, String);

/// Pose in a body.
#[derive(Clone, Copy, Default)]
struct Placement {
    origin: Option<[f64; 3]>,
    attitude: Option<Quaternion<f64>>,
}

impl Placement {
    fn new(origin: Option<[f64; 3]>, orientation: Option<[f64; 4]>, rpy_deg: Option<[f64; 3]>) -> Self {
        let is_turned = orientation.is_some() || rpy_deg.is_some();
        Self {
            origin,
            attitude: is_turned.then(|| rotation(orientation, rpy_deg)),
        }
    }

    fn is_none(&self) -> bool {
        self.origin.is_none() && self.attitude.is_none()
    }

    /// Returns the pose of C in A from this one of B in A and that of C in B. Numbers that are not
    /// written leave the others unchanged to the bit.
    fn compose(self, other: Self) -> Self {
        let turned = |p: [f64; 3]| match self.attitude {
            Some(q) => q.normalised().rotate(Vec3::from(p)).into(),
            None => p,
        };
        let origin = match (self.origin, other.origin.map(turned)) {
            (Some(a), Some(b)) => Some([0, 1, 2].map(|i| a[i] + b[i])),
            (a, b) => a.or(b),
        };
        let attitude = match (self.attitude, other.attitude) {
            (Some(a), Some(b)) => Some(a * b),
            (a, b) => a.or(b),
        };
        Self { origin, attitude }
    }

    /// Writes the pose into the table of a joint or a frame.
    fn write(self, table: &mut Table) {
        let numbers = |values: &[f64]| Value::Array(values.iter().copied().map(Value::Float).collect());
        if let Some(origin) = self.origin {
            table.insert("origin".to_owned(), numbers(&origin));
        }
        if let Some(attitude) = self.attitude {
            table.remove("rpy_deg");
            table.insert("orientation".to_owned(), numbers(&attitude.to_array()));
        }
    }
}

/// Body (or the world) that carries a mounted spec, with the pose of the frame `on` in it; `None`
/// for a mount without `on`.
pub(super) struct Carrier(Option<(String, Placement)>);

impl Carrier {
    /// Returns the carrier of a mount on a frame of the host or of another part.
    ///
    /// # Errors
    /// An unknown frame, or one on an ANCF beam.
    pub fn of(mount: &Mount, host: &Table, parts: &[Part]) -> Result<Self, Objection> {
        let Some(on) = &mount.on else {
            return Ok(Self(None));
        };
        let tables: Vec<&Table> = std::iter::once(host)
            .chain(parts.iter().map(|part| &part.table))
            .collect();
        let find = |section: &str, name: &str| {
            let mut all = tables.iter().flat_map(|table| named(table, section));
            all.find(|(known, _)| *known == name).map(|(_, value)| value)
        };
        let frame = match find("frame", on) {
            // Errors of the frame are reported where the spec is parsed.
            Some(frame) => match Frame::deserialize(frame.clone()) {
                Ok(frame) => frame,
                Err(_) => return Ok(Self(Some((WORLD.to_owned(), Placement::default())))),
            },
            None => Frame {
                body: on.clone(),
                origin: [0.0; 3],
                orientation: None,
                rpy_deg: None,
                contact_shape: None,
            },
        };
        if let Some(beam) = find("ancf_beam", &frame.body).map(|_| &frame.body) {
            let what = format!(
                "\"{on}\" is on the ANCF beam \"{beam}\", which no joint connects: leave `on` out, and use a [grasp], or a \
                 [contact] with a law that captures"
            );
            return Err(("on", what));
        }
        if frame.body != WORLD && find("body", &frame.body).is_none() {
            let known = tables
                .iter()
                .flat_map(|table| named(table, "frame").chain(named(table, "body")));
            return Err(("on", unknown("frame or body", on, known.map(|(name, _)| name))));
        }
        let origin = (frame.origin != [0.0; 3]).then_some(frame.origin);
        let placement = Placement::new(origin, frame.orientation, frame.rpy_deg);
        Ok(Self(Some((frame.body, placement))))
    }
}

impl Part {
    /// Attaches the mounted spec to its carrier by a joint, or places its root.
    ///
    /// # Errors
    /// Fields that do not fit together, or a root that is not determined.
    pub fn attach(&mut self, carrier: Carrier) -> Result<(), Objection> {
        let mount = &self.mount;
        let Carrier(Some((body, frame))) = carrier else {
            let written = [
                ("origin", mount.origin.is_some()),
                ("orientation", mount.orientation.is_some()),
                ("rpy_deg", mount.rpy_deg.is_some()),
                ("joint", mount.joint.is_some()),
            ];
            if let Some((field, _)) = written.into_iter().find(|(_, is_written)| *is_written) {
                let what = "it belongs to a mount with `on`; `start` places one without";
                return Err((field, what.to_owned()));
            }
            return self.place();
        };
        if mount.start.is_some() {
            let what = "it is attached with `on`: write `joint.start`, or leave `on` out";
            return Err(("start", what.to_owned()));
        }
        if mount.orientation.is_some() && mount.rpy_deg.is_some() {
            return Err((
                "orientation",
                "write either `orientation` or `rpy_deg`, not both".to_owned(),
            ));
        }
        let own = Placement::new(mount.origin, mount.orientation, mount.rpy_deg);
        let placement = frame.compose(own);
        match self.root()? {
            Some(root) => self.join(&body, placement, &root),
            None => self.ground(&body, placement, own),
        }
    }

    /// Returns the body that is attached, or `None` for the world of the mounted spec.
    ///
    /// # Errors
    /// Several bodies of which none is selected, or a selected one that a joint carries.
    fn root(&self) -> Result<Option<String>, Objection> {
        let joints: Vec<&Value> = named(&self.table, "joint").map(|(_, joint)| joint).collect();
        let names = |field: &str, name: &str| {
            let is = |joint: &&&Value| joint.get(field).and_then(Value::as_str) == Some(name);
            joints.iter().any(|joint| is(&joint))
        };
        let all: Vec<&String> = (named(&self.table, "body").chain(named(&self.table, "ancf_beam")))
            .map(|(name, _)| name)
            .collect();
        let free: Vec<&String> = all.iter().copied().filter(|name| !names("child", name)).collect();
        let own = |name: &str| name[self.name.len() + 1..].to_owned();
        if let Some(root) = &self.mount.root {
            let root = format!("{}.{root}", self.name);
            return match free.contains(&&root) {
                true => Ok(Some(root)),
                false if all.contains(&&root) => Err(("root", "a joint of its file carries it".to_owned())),
                false => {
                    let known: Vec<String> = all.iter().map(|name| own(name)).collect();
                    Err(("root", unknown("body", &own(&root), known.iter())))
                }
            };
        }
        let is_grounded = names("parent", WORLD);
        match (free.as_slice(), is_grounded) {
            ([root], false) => Ok(Some((*root).clone())),
            ([], true) => Ok(None),
            ([], false) => Err(("spec", "there is no body in it that could be attached".to_owned())),
            (free, _) => {
                let free: Vec<String> = free.iter().map(|name| format!("\"{}\"", own(name))).collect();
                let others = if is_grounded { ", and joints on the world" } else { "" };
                let what = format!(
                    "it has bodies that no joint carries, {}{others}: select one, `root = {}`",
                    free.join(", "),
                    free[0]
                );
                Err(("spec", what))
            }
        }
    }

    /// Attaches the root by the mount's joint.
    fn join(&mut self, body: &str, placement: Placement, root: &str) -> Result<(), Objection> {
        if named(&self.table, "ancf_beam").any(|(name, _)| name == root) {
            let what = format!("no joint connects its ANCF beam \"{root}\": leave `on` out, and use a [grasp]");
            return Err(("on", what));
        }
        if let Some(Value::Table(root)) = self.section("body").get_mut(root) {
            root.remove("start");
        }
        let fixed = || Table::from_iter([("type".to_owned(), Value::from("fixed"))]);
        let mut joint = self.mount.joint.clone().unwrap_or_else(fixed);
        let elsewhere = ["parent", "child", "origin", "orientation", "rpy_deg"];
        if let Some(field) = elsewhere.into_iter().find(|field| joint.contains_key(*field)) {
            let what = match field {
                "parent" | "child" => format!("`{field}` follows from `on` and `root`: leave it out"),
                _ => format!("write `{field}` in the mount, not in its joint"),
            };
            return Err(("joint", what));
        }
        joint.insert("parent".to_owned(), body.into());
        joint.insert("child".to_owned(), root.into());
        placement.write(&mut joint);
        let name = self.name.clone();
        let joints = self.section("joint");
        let others = std::mem::take(joints);
        joints.insert(name, Value::Table(joint));
        joints.extend(others);
        Ok(())
    }

    /// Puts the carrier in the place of the mounted spec's world.
    fn ground(&mut self, body: &str, placement: Placement, own: Placement) -> Result<(), Objection> {
        if self.mount.joint.is_some() {
            let what = "its own joints attach it, since its bodies stand on the world: leave `joint` out";
            return Err(("joint", what.to_owned()));
        }
        for (_, joint) in self.section("joint").iter_mut() {
            let Value::Table(joint) = joint else { continue };
            if joint.get("parent").and_then(Value::as_str) != Some(WORLD) {
                continue;
            }
            #[derive(Deserialize)]
            struct Pose {
                origin: Option<[f64; 3]>,
                orientation: Option<[f64; 4]>,
                rpy_deg: Option<[f64; 3]>,
            }
            // Values of a wrong type are reported where the spec is parsed.
            if let Ok(pose) = Pose::deserialize(joint.clone()) {
                let inner = Placement::new(pose.origin, pose.orientation, pose.rpy_deg);
                let is_double = pose.orientation.is_some() && pose.rpy_deg.is_some();
                if !placement.is_none() && !is_double {
                    placement.compose(inner).write(joint);
                }
            }
            joint.insert("parent".to_owned(), body.into());
        }
        if body == WORLD && placement.is_none() {
            return Ok(());
        }
        let on = self.mount.on.clone().unwrap_or_default();
        let frame = if own.is_none() { on } else { self.name.clone() };
        let mut is_used = false;
        names::each_reference(&mut self.table, |name| {
            if name == WORLD {
                is_used = true;
                name.clone_from(&frame);
            }
        });
        if is_used && !own.is_none() {
            if body == WORLD {
                let what = "it refers to its world, which has no frame at this place: attach it to a body";
                return Err(("on", what.to_owned()));
            }
            let mut fields = Table::from_iter([("body".to_owned(), body.into())]);
            placement.write(&mut fields);
            let name = self.name.clone();
            self.section("frame").insert(name, Value::Table(fields));
        }
        Ok(())
    }

    /// Merges the start of the mount over that of the root.
    fn place(&mut self) -> Result<(), Objection> {
        let Some(start) = self.mount.start.clone() else {
            if self.mount.root.is_some() {
                return Err((
                    "root",
                    "it selects the body of `on` or of `start`: write one of them".to_owned(),
                ));
            }
            return Ok(());
        };
        let Some(root) = self.root()? else {
            return Err((
                "start",
                "its bodies stand on the world: write `on` and `origin`".to_owned(),
            ));
        };
        for section in ["body", "ancf_beam"] {
            if let Some(Value::Table(root)) = self.table.get_mut(section).and_then(|of| of.get_mut(&root)) {
                let start = Table::from_iter([("start".to_owned(), Value::Table(start.clone()))]);
                let written = |field: &str| start.get("start").is_some_and(|start| start.get(field).is_some());
                if (written("attitude") || written("rpy_deg"))
                    && let Some(Value::Table(before)) = root.get_mut("start")
                {
                    before.remove("attitude");
                    before.remove("rpy_deg");
                }
                super::merge(root, start);
            }
        }
        Ok(())
    }

    /// Returns a section, which is added if it is missing.
    fn section(&mut self, name: &str) -> &mut Table {
        let section = self.table.entry(name).or_insert_with(|| Value::Table(Table::new()));
        if !section.is_table() {
            *section = Value::Table(Table::new());
        }
        section.as_table_mut().expect("a table")
    }
}
