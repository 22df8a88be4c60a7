//! Validation of the fields of a shape.

use grapple::spec::{Shape, ShapeType};

/// Passes each wrong field of a shape, with a message, to `report`.
pub fn check(shape: &Shape, report: &mut impl FnMut(&str, String)) {
    use ShapeType::{Box, Cone, Cylinder, Mesh, Panel, Sphere, Truss};
    let kind = shape.kind;
    // For each field: written, the types that have it, and whether these need it.
    let fields: [(&str, bool, &[ShapeType], bool); 5] = [
        ("size", shape.size.is_some(), &[Box, Panel, Truss], true),
        ("radius", shape.radius.is_some(), &[Cylinder, Cone, Sphere], true),
        ("length", shape.length.is_some(), &[Cylinder, Cone], true),
        ("file", shape.file.is_some(), &[Mesh], true),
        ("scale", shape.scale.is_some(), &[Mesh], false),
    ];
    for (field, is_written, kinds, is_needed) in fields {
        let belongs = kinds.contains(&kind);
        if is_written && !belongs {
            report(field, format!("a {} has no `{field}`: leave it out", kind.name()));
        } else if belongs && is_needed && !is_written {
            report(field, format!("missing field `{field}`: a {} needs it", kind.name()));
        }
    }
    for (field, values) in [
        ("size", shape.size.as_ref().map(<[f64; 3]>::as_slice)),
        ("radius", shape.radius.as_slice().into()),
        ("length", shape.length.as_slice().into()),
    ] {
        if let Some(value) = values.into_iter().flatten().find(|value| **value <= 0.0) {
            report(field, format!("{value} is not positive"));
        }
    }
    if shape.scale.is_some_and(|scale| scale.contains(&0.0)) {
        report("scale", "a factor is zero, which leaves no volume".to_owned());
    }
    if let Some(q) = shape.orientation {
        let length = q.iter().map(|part| part * part).sum::<f64>().sqrt();
        if (length - 1.0).abs() > 1e-6 {
            report(
                "orientation",
                format!("the quaternion {q:?} is not of unit length: |q| = {length}"),
            );
        }
        if shape.rpy_deg.is_some() {
            report(
                "orientation",
                "write either `orientation` or `rpy_deg`, not both".to_owned(),
            );
        }
    }
    if let Some(colour) = shape.colour.as_ref().filter(|colour| super::colour(colour).is_none()) {
        let what = format!("{colour:?} is not a colour of CSS: write a name, e.g. \"gold\", or \"#rrggbb\"");
        report("colour", what);
    }
}
