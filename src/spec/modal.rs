use super::{PerAxis, Spec, problem};
use crate::Problem;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What makes a body flexible by modal data from outside: what a finite-element program prints of its modes.
///
/// The modes are those of the body **clamped at its origin**, where its inboard joint holds it, and **mass-normalised**
/// (∫Φ·Φ dm = 1, Nastran's default). Everything is in body axes and SI units. In Nastran, with the body's origin and axes as the
/// basic coordinate system: `SOL 103`, an `SPC` of the interface grid, `MEFFMASS(PARTFAC, SUMMARY) = YES` and `DISPLACEMENT = ALL`.
///
/// The amplitudes' unit is m·√kg. What the data does not hold is left out: how the inertia about the mass centre changes as the body
/// bends, and the shortening that stiffens a body in fast rotation. A boom that turns fast is better a `beam`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModalData {
    /// Natural frequencies, Hz, in rising order (Nastran: `CYCLES` of the table of real eigenvalues).
    pub frequencies: Vec<f64>,
    /// Damping ratio of every mode, or of each. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping_ratio: Option<PerAxis>,
    /// Momentum per modal rate, one row of six numbers for each mode: linear, ∫Φ dm, √kg; then angular about the body's origin,
    /// ∫x×Φ dm, √kg·m (Nastran: `MODAL PARTICIPATION FACTORS`, T1 to R3). The squares are the effective masses.
    #[schemars(inner(length(equal = 6)))]
    pub participation: Vec<Vec<f64>>,
    /// Places where joints and frames stand, by any name. Each of them stands on the nearest node, rigidly offset from it. The
    /// body's origin is a node that does not move.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub node: IndexMap<String, ModalNode>,
}

/// A place of a body with modal data, and how it moves with each mode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModalNode {
    /// Where it is at rest, m, from the body's origin in body axes.
    pub position: [f64; 3],
    /// Displacement per amplitude, one row of three numbers for each mode, 1/√kg (Nastran: T1 to T3 of the eigenvector).
    #[schemars(inner(length(equal = 3)))]
    pub displacement: Vec<Vec<f64>>,
    /// Rotation per amplitude, one row of three numbers for each mode, rad/(m·√kg) (Nastran: R1 to R3 of the eigenvector; a grid of
    /// solid elements has none, an `RBE3` gives it some). Without: the node moves and does not turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(inner(length(equal = 3)))]
    pub rotation: Option<Vec<Vec<f64>>>,
}

/// More are finer than any body is known, and their products fill the memory.
const MOST_MODES: usize = 512;

impl ModalData {
    /// What can be seen to be wrong in it alone: the field, and what.
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
                "mode {} has {} Hz: a motion as a rigid body? The modes are those of the body clamped at its origin; its joint \
                 gives it the rigid motions",
                k + 1,
                self.frequencies[k]
            );
            object("frequencies", what);
        } else if let Some(k) = self.frequencies.windows(2).position(|pair| pair[1] < pair[0]) {
            let what = format!(
                "frequencies rise from mode to mode, but {} Hz follows {} Hz: does every row belong to its mode?",
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

/// Joints, frames and wheels away from the origin of a body that says of no other place how it moves.
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
            "the modal data of \"{body}\" has no nodes, so nobody knows how it moves at {origin:?} m: write a table \
             [body.{body}.modal.node.<name>] with `position` and `displacement`"
        );
        problem(section, name, field, what)
    };
    places.map(report).collect()
}
