//! Parameters declared by bodies, joints and frames.

use super::{Bound, Declarations, Joint, ParamId, Quantity, RigidMass, Unit};
use crate::spec::{self, Axes, FreeStart, Inertia, JointStart, JointType, at};

pub(super) fn declare_mass(name: &str, mass: f64, body: &spec::Body, declare: &mut Declarations) -> RigidMass {
    let place = |field| at("body", name, field);
    RigidMass {
        m: declare.parameter(
            Quantity::new(format!("{name}.mass"), Unit::Kilogram, format!("mass of {name}")).bounded(Bound::Positive),
            mass,
            false,
            &place("mass"),
        ),
        centre: declare.parameters(
            Quantity::vector(
                &format!("{name}.mass_centre"),
                Unit::Metre,
                &format!("mass centre of {name}, body axes"),
            ),
            &body.mass_centre,
            false,
            &place("mass_centre"),
        ),
        inertia: declare.parameters(
            ["xx", "yy", "zz", "xy", "xz", "yz"].iter().map(|part| {
                let moment = part[..1] == part[1..];
                Quantity::new(
                    format!("{name}.inertia_{part}"),
                    Unit::KilogramMetre2,
                    format!("inertia of {name} about its mass centre, body axes, {part}"),
                )
                .bounded(if moment { Bound::Positive } else { Bound::None })
            }),
            &inertia_in_body_axes(body),
            false,
            &place("inertia"),
        ),
    }
}

fn inertia_in_body_axes(body: &spec::Body) -> [f64; 6] {
    let (d, o) = match body.inertia {
        Some(Inertia::Diagonal(d)) => (d, [0.0; 3]),
        Some(Inertia::Full([xx, yy, zz, xy, xz, yz])) => ([xx, yy, zz], [xy, xz, yz]),
        None => ([0.0; 3], [0.0; 3]),
    };
    let mut inertia = crate::algebra::Sym3 { d, o };
    if let Some(axes) = body.inertia_axes {
        inertia = inertia.express(&spec::rotation(Some(axes), None).rotation());
    }
    let ([xx, yy, zz], [xy, xz, yz]) = (inertia.d, inertia.o);
    [xx, yy, zz, xy, xz, yz]
}

/// Declares origin and attitude of `name` in its `carrier`; `place` is its location in the spec.
/// Returns the indices of the first values; there is no attitude parameter if the spec omits it.
pub(super) fn declare_placement(
    name: &str,
    place: &[String],
    carrier: &str,
    origin: [f64; 3],
    (quaternion, rpy_deg): (Option<[f64; 4]>, Option<[f64; 3]>),
    declare: &mut Declarations,
) -> (ParamId, Option<ParamId>) {
    let named = |field: &str| [place, &[field.to_owned()]].concat();
    let p = declare.parameters(
        Quantity::vector(
            &format!("{name}.origin"),
            Unit::Metre,
            &format!("origin of {name}, {carrier} axes"),
        ),
        &origin,
        false,
        &named("origin"),
    );
    let written = quaternion.is_some() || rpy_deg.is_some();
    let q = written.then(|| {
        let field = if quaternion.is_some() { "orientation" } else { "rpy_deg" };
        declare.parameters(
            Quantity::quaternion(
                &format!("{name}.orientation"),
                &format!("attitude of {name} in its {carrier}, quaternion"),
            ),
            &spec::rotation(quaternion, rpy_deg).to_array(),
            false,
            &named(field),
        )
    });
    (p, q)
}

pub(super) fn declare_free_start(joint: &mut Joint, start: &FreeStart, place: &[String], declare: &mut Declarations) {
    let name = &joint.name;
    let named = |field: &str| [place, &[field.to_owned()]].concat();
    joint.start_axes = start.axes;
    let frame = match (joint.written, start.axes) {
        (true, _) => "joint frame",
        (false, Axes::World) => "inertial axes",
        (false, Axes::Lvlh) => "LVLH axes",
    };
    let relative = match start.axes {
        Axes::World => "",
        Axes::Lvlh => " relative to the LVLH frame",
    };
    joint.q_start = Some(declare.parameters(
        Quantity::quaternion(
            &format!("{name}.q_start"),
            &format!("initial attitude of {name}{relative}, quaternion"),
        ),
        &spec::rotation(start.attitude, start.rpy_deg).to_array(),
        false,
        &named("attitude"),
    ));
    declare.parameters(
        Quantity::vector(
            &format!("{name}.r_start"),
            Unit::Metre,
            &format!("initial position of {name}, {frame}"),
        ),
        &start.position,
        false,
        &named("position"),
    );
    joint.v_start = Some(declare.parameters(
        Quantity::vector(
            &format!("{name}.w_start"),
            Unit::RadianPerSecond,
            &format!("initial angular velocity of {name}{relative}, body axes"),
        ),
        &start.angular_velocity,
        false,
        &named("angular_velocity"),
    ));
    declare.parameters(
        Quantity::vector(
            &format!("{name}.v_start"),
            Unit::MetrePerSecond,
            &format!("initial velocity of {name}, {frame}"),
        ),
        &start.velocity,
        false,
        &named("velocity"),
    );
}

pub(super) fn declare_start(joint: &mut Joint, start: &JointStart, place: &[String], declare: &mut Declarations) {
    let name = joint.name.clone();
    let named = |field: &str| [place, &[field.to_owned()]].concat();
    let number = |plain: &Option<spec::PerAxis>, degrees: &Option<spec::PerAxis>, i: usize| {
        let degrees = degrees.as_ref().map(|d| d.get(i).to_radians());
        degrees.or(plain.as_ref().map(|p| p.get(i))).unwrap_or(0.0)
    };
    let field = |base: &str, degrees: &Option<spec::PerAxis>| {
        named(&if degrees.is_some() {
            format!("{base}_deg")
        } else {
            base.to_owned()
        })
    };
    joint.q_start = Some(if joint.kind == JointType::Spherical {
        declare.parameters(
            Quantity::quaternion(
                &format!("{name}.q_start"),
                &format!("initial attitude at {name}, quaternion"),
            ),
            &spec::rotation(start.attitude, start.rpy_deg).to_array(),
            false,
            &named("attitude"),
        )
    } else {
        let values: Vec<f64> = (0..joint.nv)
            .map(|i| number(&start.position, &start.position_deg, i))
            .collect();
        let quantities = (0..joint.nv).map(|i| {
            Quantity::new(
                joint.quantity_name("q_start", i),
                Unit::coordinate(joint.kind.is_angular(i)).position,
                format!("initial position of {name}"),
            )
        });
        declare.parameters(quantities, &values, false, &field("position", &start.position_deg))
    });
    let values: Vec<f64> = (0..joint.nv).map(|i| number(&start.rate, &start.rate_deg, i)).collect();
    let quantities = (0..joint.nv).map(|i| {
        Quantity::new(
            joint.quantity_name("qd_start", i),
            Unit::coordinate(joint.kind.is_angular(i)).rate,
            format!("initial rate of {name}"),
        )
    });
    joint.v_start = Some(declare.parameters(quantities, &values, false, &field("rate", &start.rate_deg)));
}
