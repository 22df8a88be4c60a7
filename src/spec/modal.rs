use super::{PerAxis, Spec, problem};
use crate::Problem;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Modal data of a flexible body, from a finite-element program.
///
/// The modes are those of the body **clamped at its origin**, the point of its joint, and
/// **mass-normalised** (∫Φ·Φ dm = 1, Nastran's default). All data is in body axes and SI units. In
/// Nastran, with the body's origin and axes as the basic coordinate system: `SOL 103`, an `SPC` of
/// the interface grid, `MEFFMASS(PARTFAC, SUMMARY) = YES` and `DISPLACEMENT = ALL`.
///
/// Amplitudes are in m·√kg. Effects that the data does not contain are left out: the change of the
/// inertia about the mass centre with the deflection, and the shortening that stiffens a body in
/// fast rotation. For a boom that rotates fast use a `beam`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModalData {
    /// Natural frequencies, Hz, positive, in ascending order, 1 to 512 (Nastran: `CYCLES` of the
    /// table of real eigenvalues).
    pub frequencies: Vec<f64>,
    /// Damping ratio of the modes, not negative: one number, or one for each mode. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping_ratio: Option<PerAxis>,
    /// Participation factors (momentum per modal rate), one row of six numbers for each mode:
    /// linear, ∫Φ dm, √kg; then angular about the body's origin, ∫x×Φ dm, √kg·m (Nastran: `MODAL
    /// PARTICIPATION FACTORS`, T1 to R3). Their squares are the effective masses and inertias,
    /// which must not exceed those of the body.
    #[schemars(inner(length(equal = 6)))]
    pub participation: Vec<Vec<f64>>,
    /// Nodes to which joints, frames and wheels attach, by any name. Each attaches to the nearest
    /// node, at a rigid offset. The body's origin is a node without deflection.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub node: IndexMap<String, ModalNode>,
}

/// Node of a body with modal data: position and mode shapes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModalNode {
    /// Position on the undeformed body, m, from the body's origin in body axes.
    pub position: [f64; 3],
    /// Displacement per amplitude, 1/√kg, one row of three numbers for each mode (Nastran: T1 to T3
    /// of the eigenvector).
    #[schemars(inner(length(equal = 3)))]
    pub displacement: Vec<Vec<f64>>,
    /// Rotation per amplitude, rad/(m·√kg), one row of three numbers for each mode (Nastran: R1 to
    /// R3 of the eigenvector; a grid of solid elements has no rotation, an `RBE3` defines one).
    /// Default: none, the node does not rotate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(inner(length(equal = 3)))]
    pub rotation: Option<Vec<Vec<f64>>>,
}

/// Largest number of modes of a body. The memory for their products grows with the square of it.
const MOST_MODES: usize = 512;

impl ModalData {
    /// Returns the errors that are found from the data alone, as pairs of a field and a message.
    pub(super) fn objections(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut object = |field: &str, what: String| found.push((field.to_owned(), what));
        let n = self.frequencies.len();
        if n > MOST_MODES {
            let what = format!("{n} modes: a body may have {MOST_MODES}");
            object("frequencies", what);
        }
        if n == 0 {
            object(
                "frequencies",
                "a body without modes is rigid: leave `modal` out".to_owned(),
            );
        }
        if let Some(k) = self.frequencies.iter().position(|f| *f <= 0.0) {
            let what = format!(
                "mode {} has {} Hz, as a rigid-body mode: the modes must be those of the body clamped at its origin; its \
                 rigid-body motion is that of its joint",
                k + 1,
                self.frequencies[k]
            );
            object("frequencies", what);
        } else if let Some(k) = self.frequencies.windows(2).position(|pair| pair[1] < pair[0]) {
            let what = format!(
                "frequencies must ascend, but {} Hz follows {} Hz: check that every row belongs to its mode",
                self.frequencies[k + 1],
                self.frequencies[k]
            );
            object("frequencies", what);
        }
        if let Some(PerAxis::Each(list)) = &self.damping_ratio
            && list.len() != n
        {
            let what = format!("{} numbers, but there are {n} frequencies", list.len());
            object("damping_ratio", what);
        }
        let about = "three of the linear momentum, three of the angular about the body's origin";
        let mut rows = |field: &str, rows: &[Vec<f64>], numbers: usize, about: &str| {
            if rows.len() != n {
                object(field, format!("{} rows, but there are {n} frequencies", rows.len()));
            }
            if let Some(k) = rows.iter().position(|row| row.len() != numbers) {
                let found = rows[k].len();
                object(
                    field,
                    format!("the row of mode {} has {found} numbers, not {numbers}: {about}", k + 1),
                );
            }
        };
        rows("participation", &self.participation, 6, about);
        for (name, node) in &self.node {
            let field = |field: &str| format!("node.{name}.{field}");
            rows(&field("displacement"), &node.displacement, 3, "along x, y, z");
            if let Some(rotation) = &node.rotation {
                rows(&field("rotation"), rotation, 3, "about x, y, z");
            }
        }
        found
    }
}

/// Returns a problem for each joint, frame and wheel away from the origin of a body whose modal
/// data has no nodes.
pub(super) fn without_node(spec: &Spec) -> Vec<Problem> {
    let joints = spec
        .joint
        .iter()
        .map(|(name, joint)| ("joint", name, "parent", &joint.parent, joint.origin));
    let frames = spec
        .frame
        .iter()
        .map(|(name, frame)| ("frame", name, "body", &frame.body, frame.origin));
    let wheels = (spec.wheel.iter()).map(|(name, wheel)| ("wheel", name, "body", &wheel.body, wheel.position));
    let places = joints.chain(frames).chain(wheels).filter(|(.., body, origin)| {
        let modal = spec.body.get(*body).and_then(|body| body.modal.as_ref());
        modal.is_some_and(|modal| modal.node.is_empty()) && *origin != [0.0; 3]
    });
    let report = |(section, name, field, body, origin): (&str, &String, &str, &String, [f64; 3])| {
        let what = format!(
            "the modal data of \"{body}\" has no nodes, so its deflection at {origin:?} m is unknown: write a table \
             [body.{body}.modal.node.<name>] with `position` and `displacement`"
        );
        problem(section, name, field, what)
    };
    places.map(report).collect()
}
