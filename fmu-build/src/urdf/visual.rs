//! Visuals of links: read, and written as shapes of bodies. Nothing in them is an error, since they
//! have no influence on the dynamics: a visual that cannot be converted is left out with a remark.

use super::names::Names;
use super::read::turn;
use super::spec::{Page, list};
use super::tree::Tree;
use super::xml::Element;
use super::{Placement, Robot};
use crate::import::MeshOptions;
use crate::shapes::hex;
use crate::shapes::mesh::Mesh;
use grapple::algebra::{Quaternion, Vec3};
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

/// A visual of a link.
pub struct Visual {
    geometry: Geometry,
    /// Pose in the link.
    placement: Placement,
    /// Red, green, blue and opacity, 0 to 1.
    colour: Option<[f32; 4]>,
}

enum Geometry {
    Box([f64; 3]),
    Cylinder { radius: f64, length: f64 },
    Sphere(f64),
    Mesh { file: String, scale: [f64; 3] },
}

type Colours = HashMap<String, [f32; 4]>;

/// Returns the colours of the materials that are defined for the whole robot.
pub fn materials(robot: &Element) -> Colours {
    let named = robot.all("material").filter_map(|material| {
        let colour = numbers(material.all("color").next()?, "rgba").ok()?;
        Some((material.get("name")?.to_owned(), colour.map(|part| part as f32)))
    });
    named.collect()
}

/// Returns the visuals of a link, or the reason why one is left out.
pub fn visuals(link: &Element, materials: &Colours) -> Vec<Result<Visual, String>> {
    link.all("visual").map(|visual| read(visual, materials)).collect()
}

fn read(visual: &Element, materials: &Colours) -> Result<Visual, String> {
    let shape = visual
        .all("geometry")
        .next()
        .and_then(|geometry| geometry.children.first());
    let shape = shape.ok_or("it has no geometry")?;
    let number = |name: &str| numbers(shape, name).map(|[number]| number);
    let geometry = match shape.name.as_str() {
        "box" => Geometry::Box(numbers(shape, "size")?),
        "cylinder" => Geometry::Cylinder {
            radius: number("radius")?,
            length: number("length")?,
        },
        "sphere" => Geometry::Sphere(number("radius")?),
        "mesh" => Geometry::Mesh {
            file: shape.get("filename").ok_or("its mesh has no filename")?.to_owned(),
            scale: shape.get("scale").map_or(Ok([1.0; 3]), |_| numbers(shape, "scale"))?,
        },
        other => return Err(format!("<{other}> is not supported")),
    };
    let mut placement = Placement::identity();
    if let Some(origin) = visual.all("origin").next() {
        if origin.get("xyz").is_some() {
            let xyz: [f64; 3] = numbers(origin, "xyz")?;
            placement.p_AB = xyz.into();
        }
        if origin.get("rpy").is_some() {
            let rpy = numbers(origin, "rpy")?;
            (placement.q_AB, placement.rpy) = (turn(rpy), Some(rpy));
        } else if origin.get("quat_xyzw").is_some() {
            let [x, y, z, w] = numbers(origin, "quat_xyzw")?;
            placement.q_AB = Quaternion::new(w, x, y, z).normalised();
        }
    }
    let material = visual.all("material").next();
    let own = material.and_then(|material| numbers(material.all("color").next()?, "rgba").ok());
    let named = || materials.get(material?.get("name")?).copied();
    Ok(Visual {
        geometry,
        placement,
        colour: own
            .map(|colour: [f64; 4]| colour.map(|part| part as f32))
            .or_else(named),
    })
}

fn numbers<const N: usize>(element: &Element, name: &str) -> Result<[f64; N], String> {
    let text = element
        .get(name)
        .ok_or_else(|| format!("<{}> has no {name}", element.name))?;
    let words = text
        .split_whitespace()
        .map(|word| word.parse().ok().filter(|x: &f64| x.is_finite()));
    let numbers: Option<Vec<f64>> = words.collect();
    numbers
        .and_then(|numbers| numbers.try_into().ok())
        .ok_or_else(|| format!("{name} = \"{text}\" is not {N} numbers"))
}

/// A file to be copied beside the spec: its source, and its path from the spec's folder.
pub type MeshCopy = (PathBuf, PathBuf);

/// Writes the visuals of all links as shapes of their bodies; returns the files of their meshes.
pub fn shapes(
    page: &mut Page,
    robot: &Robot,
    tree: &Tree,
    names: &Names,
    options: &MeshOptions,
    remarks: &mut Vec<String>,
) -> Vec<MeshCopy> {
    let own = tree
        .bodies
        .iter()
        .enumerate()
        .map(|(body, of)| (of.link, body, Placement::identity()));
    let fixed = tree.fixed_links.iter().map(|of| (of.link, of.body, of.placement));
    let mut placed: Vec<(usize, usize, Placement)> = own.chain(fixed).collect();
    placed.sort_by_key(|(_, body, _)| *body);
    let mut files = Files {
        options,
        meshes: HashMap::new(),
        copies: Vec::new(),
        missing: Vec::new(),
    };
    let (mut is_first, mut taken) = (true, HashSet::new());
    for (link, body, X) in &placed {
        let visuals = &robot.links[*link].visuals;
        for (k, visual) in visuals.iter().enumerate() {
            let fields = match visual {
                Ok(visual) => files.fields(visual, X),
                Err(what) => Err(what.clone()),
            };
            match fields {
                Ok(fields) => {
                    if std::mem::take(&mut is_first) {
                        page.section("shapes");
                        page.line("# The visuals, for pictures only.");
                    }
                    let (body, link) = (names.body(tree, *body), &names.links[*link]);
                    let numbers = std::iter::once(String::new()).chain((2..).map(|n| format!("_{n}")));
                    let mut others = numbers.skip(k).map(|number| format!("{body}.shape.{link}{number}"));
                    // Another link of the body may have the name of a link with a number.
                    let name = others.find(|name| taken.insert(name.clone())).unwrap_or_default();
                    page.line(&format!("\n[body.{name}]\n{fields}"));
                }
                Err(what) if what.is_empty() => {}
                Err(what) => {
                    remarks.push(format!(
                        "link \"{}\": a visual is left out: {what}",
                        robot.links[*link].name
                    ));
                }
            }
        }
    }
    let on_bodies: HashSet<usize> = placed.iter().map(|(link, ..)| *link).collect();
    let others = robot
        .links
        .iter()
        .enumerate()
        .filter(|(i, link)| !on_bodies.contains(i) && !link.visuals.is_empty());
    let others: Vec<&str> = others.map(|(_, link)| link.name.as_str()).collect();
    if !others.is_empty() {
        remarks.push(format!(
            "visuals of links on the world are left out: {}",
            others.join(", ")
        ));
    }
    if !files.missing.is_empty() {
        remarks.push(format!(
            "meshes not found, their visuals are left out: {}; --package-dir FOLDER names the folder of packages",
            files.missing.join(", ")
        ));
    }
    files.copies
}

/// The meshes of a robot.
struct Files<'a> {
    options: &'a MeshOptions,
    /// For each name in the URDF, the path from the spec's folder and whether the mesh has colours.
    meshes: HashMap<String, Result<(PathBuf, bool), String>>,
    copies: Vec<MeshCopy>,
    missing: Vec<String>,
}

impl Files<'_> {
    /// Returns the fields of a shape; its link has the pose `X` in its body.
    ///
    /// # Errors
    /// The reason why it is left out; empty if a list reports it.
    fn fields(&mut self, visual: &Visual, X: &Placement) -> Result<String, String> {
        let mut colour = visual.colour;
        let mut fields = match &visual.geometry {
            Geometry::Box(size) => format!("type = \"box\"\nsize = {}\n", list(positive(size)?)),
            Geometry::Sphere(radius) => format!("type = \"sphere\"\nradius = {:?}\n", positive(&[*radius])?[0]),
            Geometry::Cylinder { radius, length } => {
                positive(&[*radius, *length])?;
                format!("type = \"cylinder\"\nradius = {radius:?}\nlength = {length:?}\n")
            }
            Geometry::Mesh { file, scale } => {
                let (path, is_coloured) = self.mesh(file)?;
                colour = colour.filter(|_| !is_coloured);
                if scale.contains(&0.0) {
                    return Err("its scale is zero".to_owned());
                }
                let path = path.components().map(|part| part.as_os_str().to_string_lossy());
                let path = toml::Value::from(path.collect::<Vec<_>>().join("/"));
                let scale = (*scale != [1.0; 3]).then(|| format!("scale = {}\n", list(scale)));
                format!("type = \"mesh\"\nfile = {path}\n{}", scale.unwrap_or_default())
            }
        };
        let pose = X.compose(&visual.placement);
        if pose.p_AB != Vec3::zeros() {
            fields += &format!("origin = {}\n", list(pose.p_AB.as_slice()));
        }
        if pose.is_turned() {
            fields += &match pose.rpy {
                Some(rpy) => format!("rpy_deg = {}\n", list(&rpy.map(f64::to_degrees))),
                None => format!("orientation = {}\n", list(&pose.q_AB.normalised().to_array())),
            };
        }
        if let Some(colour) = colour {
            fields += &format!("colour = \"{}\"\n", hex(colour.map(|part| part.clamp(0.0, 1.0))));
        }
        Ok(fields.trim_end().to_owned())
    }

    /// Returns the path of a mesh from the spec's folder, and whether it has colours of its own.
    fn mesh(&mut self, file: &str) -> Result<(PathBuf, bool), String> {
        if let Some(known) = self.meshes.get(file) {
            return known.clone();
        }
        let found = self.read(file);
        self.meshes.insert(file.to_owned(), found.clone());
        found
    }

    fn read(&mut self, file: &str) -> Result<(PathBuf, bool), String> {
        let Some((source, inner)) = self.options.find(file) else {
            self.missing.push(file.to_owned());
            return Err(String::new());
        };
        let mesh = Mesh::read(&source).map_err(|what| format!("{}: {what}", source.display()))?;
        let mut target = Path::new(&self.options.folder).join(&inner);
        while self.copies.iter().any(|(from, to)| *to == target && *from != source) {
            let name = target.file_name().unwrap_or_default().to_owned();
            target = target.with_file_name("other").join(name);
        }
        let folders = source.parent().zip(target.parent());
        for read in &mesh.reads[1..] {
            let below = folders.and_then(|(from, to)| Some(to.join(read.strip_prefix(from).ok()?)));
            self.copies.extend(below.map(|to| (read.clone(), to)));
        }
        self.copies.push((source, target.clone()));
        Ok((target, mesh.parts.iter().any(|part| part.colour.is_some())))
    }
}

/// Returns the numbers if all are positive.
fn positive(numbers: &[f64]) -> Result<&[f64], String> {
    match numbers.iter().find(|number| **number <= 0.0) {
        Some(number) => Err(format!("its size {number} is not positive")),
        None => Ok(numbers),
    }
}

impl MeshOptions {
    /// Returns the path of a mesh that a URDF file names, and a path for it in a folder of meshes;
    /// `None` if it is not found.
    fn find(&self, file: &str) -> Option<(PathBuf, PathBuf)> {
        let in_package = ["package://", "model://"]
            .iter()
            .find_map(|scheme| file.strip_prefix(scheme));
        let inner: PathBuf = Path::new(in_package.unwrap_or(file.trim_start_matches("file://")))
            .components()
            .filter(|part| matches!(part, Component::Normal(_)))
            .collect();
        let Some(path) = in_package else {
            let source = self.urdf_folder.join(file.strip_prefix("file://").unwrap_or(file));
            let name = if Path::new(file).is_relative() {
                inner
            } else {
                inner.file_name()?.into()
            };
            return source.is_file().then_some((source, name));
        };
        let (package, rest) = path.split_once('/')?;
        // A folder of packages, or the package itself; last, the folders above the URDF file.
        let above = self.urdf_folder.canonicalize().ok();
        let above: Vec<PathBuf> = above
            .iter()
            .flat_map(|folder| folder.ancestors())
            .map(Path::to_owned)
            .collect();
        let places = self.package_dirs.iter().chain(&above).flat_map(|folder| {
            let is_package = folder.file_name().is_some_and(|name| name == package);
            let own = is_package.then(|| folder.join(rest));
            std::iter::once(folder.join(package).join(rest)).chain(own)
        });
        places
            .into_iter()
            .find(|place| place.is_file())
            .map(|place| (place, inner))
    }
}
