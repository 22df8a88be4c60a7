use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest number of points of a shape.
const MOST_POINTS: usize = 100;

/// Stress-free shape of a geometrically exact beam that is curved at rest: a circular arc (`radius`
/// and `angle` or `angle_deg`) or a smooth curve through `points`.
///
/// The axis starts at the body's origin along the body's x axis, where the axes of the section are
/// those of the body. Along the beam the x axis of the section is the tangent, and its y and z axes
/// do not rotate about the tangent; in an arc they keep their angle to its plane. All positions and
/// attitudes on the body (frames, joints) are written in the body's axes, for the stress-free
/// shape.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeamShape {
    /// Radius of an arc, m, positive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// Angle of an arc, rad, positive, at most a full circle. The length is `radius` times the
    /// angle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angle: Option<f64>,
    /// Angle of an arc in place of `angle`, degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angle_deg: Option<f64>,
    /// Direction from the root to the centre of an arc, body axes, normal to x. Any length but
    /// zero. Default `[0, 1, 0]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toward: Option<[f64; 3]>,
    /// Points of the axis after the root, m, body axes, 1 to 100; the last one is the tip. Between
    /// them the axis is the cubic spline with continuous curvature whose parameter is the length of
    /// the polygon through the points; it starts along x with unit slope and ends with a parabola.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<[f64; 3]>,
}

impl BeamShape {
    /// Returns the wrong combinations of fields: the field (empty for the whole table) and the
    /// reason.
    pub(crate) fn objections(&self) -> Vec<(&'static str, String)> {
        let arc = [
            ("radius", self.radius.is_some()),
            ("angle", self.angle.is_some()),
            ("angle_deg", self.angle_deg.is_some()),
            ("toward", self.toward.is_some()),
        ];
        let written = arc.into_iter().filter(|(_, written)| *written).map(|(field, _)| field);
        if !self.points.is_empty() {
            let what = |field| format!("`points` are the whole shape: leave `{field}` out");
            let mut found: Vec<(&str, String)> = written.map(|field| (field, what(field))).collect();
            if self.points.len() > MOST_POINTS {
                let what = format!("{} points: a shape has at most {MOST_POINTS}", self.points.len());
                found.push(("points", what));
            }
            return found;
        }
        if written.count() == 0 {
            let what = "the shape has no curve: write `radius` and `angle`, or `points`";
            return vec![("", what.to_owned())];
        }
        let mut found = Vec::new();
        if self.radius.is_none() {
            found.push(("radius", "missing field `radius`".to_owned()));
        }
        match (self.angle, self.angle_deg) {
            (None, None) => found.push(("angle", "missing field `angle`: write it, or `angle_deg`".to_owned())),
            (Some(_), Some(_)) => {
                found.push(("angle", "write either `angle` or `angle_deg`, not both".to_owned()));
            }
            _ => {}
        }
        found
    }
}
