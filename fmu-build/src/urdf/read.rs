//! Reader of the elements of a URDF file. All errors are reported at once, each with its position,
//! except that a syntax error, or xacro macros, are reported alone.

use super::visual::{materials, visuals};
use super::xml::Element;
use super::{Fault, Inertial, Joint, Kind, Link, Mimic, Placement, Robot};
use grapple::algebra::{Quaternion, Sym3, Vec3};
use grapple::spec::unknown;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Message for a file of xacro macros.
pub const XACRO: &str = "this is xacro, macros that make a URDF file, and the program xacro, which expands them, is not found: pip install xacro";

/// Reads a robot.
///
/// # Errors
/// All errors of the file; a syntax error of XML, or xacro macros, alone.
pub fn read(text: &str) -> Result<Robot, Vec<Fault>> {
    let root = Element::parse(text).map_err(|fault| vec![fault])?;
    let mut reader = Reader { faults: Vec::new() };
    match reader.robot(&root) {
        Some(robot) if reader.faults.is_empty() => Ok(robot),
        _ => Err(reader.faults),
    }
}

struct Reader {
    faults: Vec<Fault>,
}

impl Reader {
    fn report(&mut self, place: &Range<usize>, what: impl Into<String>) {
        self.faults.push((what.into(), Some(place.clone())));
    }

    fn robot(&mut self, root: &Element) -> Option<Robot> {
        if let Some(macros) = root.find(&|element| element.name.starts_with("xacro:")) {
            self.report(&macros.place, XACRO);
            return None;
        }
        if root.name != "robot" {
            let kind = match root.name.as_str() {
                "mujoco" => " (MuJoCo's MJCF)",
                "sdf" => " (Gazebo's SDF)",
                "COLLADA" => " (a mesh in COLLADA)",
                "fmiModelDescription" => " (the description of an FMU)",
                _ => "",
            };
            let what = format!("the root element must be <robot>, not <{}>{kind}", root.name);
            self.report(&root.place, what);
            return None;
        }
        let colours = materials(root);
        let (mut links, mut indices) = (Vec::new(), HashMap::new());
        for node in root.all("link") {
            let Some(name) = self.attribute(node, "name") else {
                continue;
            };
            if indices.insert(name.to_owned(), links.len()).is_some() {
                self.report(&node.place, format!("there are two links \"{name}\""));
            }
            let inertial = self.only(node, "inertial").and_then(|node| self.inertial(node, name));
            links.push(Link {
                name: name.to_owned(),
                inertial,
                visuals: visuals(node, &colours),
                place: node.place.clone(),
            });
        }
        let (mut joints, mut names) = (Vec::new(), HashSet::new());
        for node in root.all("joint") {
            if let Some(joint) = self.joint(node, &indices) {
                if !names.insert(joint.name.clone()) {
                    self.report(&node.place, format!("there are two joints \"{}\"", joint.name));
                }
                joints.push(joint);
            }
        }
        if links.is_empty() {
            self.report(&root.place, "there is no link");
        }
        let name = root.get("name").map(str::to_owned);
        Some(Robot { name, links, joints })
    }

    fn inertial(&mut self, node: &Element, link: &str) -> Option<Inertial> {
        let X = self.placement(node);
        let mass = self.needed(node, "mass");
        let m = mass.and_then(|mass| self.number(mass, "value"));
        let inertia = self.needed(node, "inertia")?;
        let moments = ["ixx", "iyy", "izz", "ixy", "ixz", "iyz"].map(|name| self.number(inertia, name));
        let m = m?;
        if m < 0.0 {
            self.report(&mass?.place, format!("link \"{link}\" has the mass {m} kg"));
        }
        let [xx, yy, zz, xy, xz, yz] = moments;
        let at_its_centre = Inertial {
            m,
            c: Vec3::zeros(),
            I_cm: Sym3 {
                d: [xx?, yy?, zz?],
                o: [xy?, xz?, yz?],
            },
        };
        let inertial = at_its_centre.seen_from(&X);
        if !inertial.is_finite() {
            self.report(&node.place, format!("the inertia of link \"{link}\" overflows"));
        }
        Some(inertial)
    }

    fn joint(&mut self, node: &Element, links: &HashMap<String, usize>) -> Option<Joint> {
        let name = self.attribute(node, "name")?;
        let kind = self.kind(node, name);
        let [parent, child] = ["parent", "child"].map(|end| {
            let node = self.needed(node, end)?;
            let link = self.attribute(node, "link")?;
            let index = links.get(link).copied();
            if index.is_none() {
                let what = unknown("link", link, links.keys());
                self.report(&node.place, format!("joint \"{name}\": {what}"));
            }
            index
        });
        let placement = self.placement(node);
        let axis = match self.only(node, "axis") {
            Some(axis) => self.vector(axis, "xyz").map_or_else(Vec3::x, Vec3::from),
            None => Vec3::x(),
        };
        if axis == Vec3::zeros() && !matches!(kind, Some(Kind::Fixed | Kind::Floating)) {
            self.report(&node.place, format!("joint \"{name}\": its axis has zero length"));
        }
        let [limit, dynamics, mimic] = ["limit", "dynamics", "mimic"].map(|element| self.only(node, element));
        let mut optional = |node: Option<&Element>, name: &str| {
            let node = node.filter(|node| node.get(name).is_some())?;
            self.number(node, name)
        };
        let [lower, upper, effort, velocity] =
            ["lower", "upper", "effort", "velocity"].map(|name| optional(limit, name));
        let [damping, friction] = ["damping", "friction"].map(|name| optional(dynamics, name).unwrap_or(0.0));
        let [multiplier, offset] = ["multiplier", "offset"].map(|name| optional(mimic, name));
        let leader = mimic.and_then(|node| self.attribute(node, "joint"));
        Some(Joint {
            name: name.to_owned(),
            kind: kind?,
            parent: parent?,
            child: child?,
            placement,
            axis,
            lower,
            upper,
            effort,
            velocity,
            damping,
            friction,
            mimic: leader.map(|joint| Mimic {
                joint: joint.to_owned(),
                multiplier: multiplier.unwrap_or(1.0),
                offset: offset.unwrap_or(0.0),
            }),
            place: node.place.clone(),
        })
    }

    fn kind(&mut self, node: &Element, name: &str) -> Option<Kind> {
        let what = match self.attribute(node, "type")? {
            "revolute" => return Some(Kind::Revolute),
            "continuous" => return Some(Kind::Continuous),
            "prismatic" => return Some(Kind::Prismatic),
            "fixed" => return Some(Kind::Fixed),
            "floating" => return Some(Kind::Floating),
            "planar" => "planar joints are not supported: use two prismatic joints and a revolute one, with \
                 links of some mass between them"
                .to_owned(),
            other => format!("unknown joint type \"{other}\""),
        };
        self.report(&node.place, format!("joint \"{name}\": {what}"));
        None
    }

    /// Reads the `<origin>` of an element; the default is the identity.
    fn placement(&mut self, node: &Element) -> Placement {
        let Some(origin) = self.only(node, "origin") else {
            return Placement::identity();
        };
        let mut vector = |name: &str| origin.get(name).and_then(|_| self.vector(origin, name));
        let p_AB = vector("xyz").map_or_else(Vec3::zeros, Vec3::from);
        let rpy = vector("rpy");
        let q_AB = match origin.get("quat_xyzw") {
            Some(_) if rpy.is_some() => {
                self.report(&origin.place, "write either rpy or quat_xyzw, not both");
                None
            }
            Some(_) => self.numbers::<4>(origin, "quat_xyzw").map(|[x, y, z, w]| {
                let q = Quaternion::new(w, x, y, z);
                if q.norm_squared() == 0.0 {
                    self.report(&origin.place, "quat_xyzw is zero: not an attitude");
                }
                q.normalised()
            }),
            None => rpy.map(turn),
        };
        Placement {
            p_AB,
            q_AB: q_AB.unwrap_or_else(Quaternion::identity),
            rpy,
        }
    }

    fn vector(&mut self, node: &Element, name: &str) -> Option<[f64; 3]> {
        self.numbers(node, name)
    }

    fn number(&mut self, node: &Element, name: &str) -> Option<f64> {
        self.numbers(node, name).map(|[number]| number)
    }

    /// Reads the `N` numbers of a required attribute.
    fn numbers<const N: usize>(&mut self, node: &Element, name: &str) -> Option<[f64; N]> {
        let text = self.attribute(node, name)?;
        let numbers = text
            .split_whitespace()
            .map(|word| word.parse().ok().filter(|x: &f64| x.is_finite()));
        let numbers: Option<[f64; N]> = numbers
            .collect::<Option<Vec<f64>>>()
            .and_then(|list| list.try_into().ok());
        if numbers.is_none() {
            let what = if N == 1 {
                "a number".to_owned()
            } else {
                format!("{N} numbers")
            };
            self.report(&node.place, format!("{name} = \"{text}\" is not {what}"));
        }
        numbers
    }

    fn attribute<'a>(&mut self, node: &'a Element, name: &str) -> Option<&'a str> {
        let value = node.get(name);
        match value {
            None => {
                let element = &node.name;
                self.report(&node.place, format!("this <{element}> has no {name}"));
            }
            Some(text) if text.contains("${") || text.contains("$(") => {
                self.report(&node.place, format!("{name} = \"{text}\": {XACRO}"));
                return None;
            }
            Some(_) => {}
        }
        value
    }

    fn needed<'a>(&mut self, node: &'a Element, name: &str) -> Option<&'a Element> {
        let found = self.only(node, name);
        if found.is_none() {
            let element = &node.name;
            self.report(&node.place, format!("this <{element}> has no <{name}>"));
        }
        found
    }

    /// Returns the child element of this name, if any; more than one are an error.
    fn only<'a>(&mut self, node: &'a Element, name: &str) -> Option<&'a Element> {
        let mut found = node.all(name);
        let first = found.next();
        if let Some(second) = found.next() {
            self.report(&second.place, format!("a second <{name}>"));
        }
        first
    }
}

/// Returns the attitude after rotations by roll, pitch and yaw about the fixed axes x, then y, then
/// z.
pub fn turn([roll, pitch, yaw]: [f64; 3]) -> Quaternion<f64> {
    let about = Quaternion::from_axis_angle;
    about(Vec3::z(), yaw) * about(Vec3::y(), pitch) * about(Vec3::x(), roll)
}
