//! Runs with contacts of shapes: closed forms, invariants, other forms of the same contact.

use crate::impact::Balance;
use crate::numbers::Larger;
use crate::run::Run;
use grapple::algebra::{Quaternion, Vec3};
use grapple::spec::Formulation;
use std::path::Path;

/// Returns a ball of radius 0.05 m at `p` (m) with the velocity `v` (m/s), in a funnel that is
/// fixed to the world, with a tip at z = −0.4 m and a mouth of radius 0.3 m at z = 0.4 m.
fn in_funnel(p: Vec3<f64>, v: Vec3<f64>, law: &str) -> String {
    let [p, v]: [[f64; 3]; 2] = [p.into(), v.into()];
    format!(
        "name = \"ball\"\n[body.ball]\nmass = 2.0\ninertia = [0.002, 0.002, 0.002]\n\
         start = {{ position = {p:?}, velocity = {v:?} }}\n\
         [contact.wall]\na = \"ball\"\nb = \"world\"\n\
         shape_a = {{ type = \"sphere\", radius = 0.05 }}\n\
         shape_b = {{ type = \"funnel\", radius = 0.3, length = 0.8, thickness = 0.01 }}\n{law}\n"
    )
}

/// Returns the time (s), the velocity after it (m/s) of each impact of a ball in a cone until it
/// leaves it. The ball's centre is within the cone `|(x, y)| = (z − z₀) tan α`, whose tip lies
/// `r/sin α` above the tip of the wall: the times are roots of a quadratic equation, and an impact
/// with the restitution `e` reverses the velocity along the normal.
fn reflections(mut p: Vec3<f64>, mut v: Vec3<f64>, e: f64) -> Vec<(f64, Vec3<f64>)> {
    let (sine, cosine) = (0.3f64 / 0.8).atan().sin_cos();
    let (k, z_0) = ((sine / cosine).powi(2), -0.4 + 0.05 / sine);
    let (mut t, mut impacts) = (0.0, Vec::new());
    while impacts.len() < 50 {
        // x² + y² = k (z − z₀)²
        let z = p.z - z_0;
        let a = v.x * v.x + v.y * v.y - k * v.z * v.z;
        let b = p.x * v.x + p.y * v.y - k * z * v.z;
        let c = p.x * p.x + p.y * p.y - k * z * z;
        let root = (b * b - a * c).max(0.0).sqrt();
        // After an impact c is zero to round-off, and one root is the present time.
        let times = [(-b - root) / a, (-b + root) / a];
        let later = times.into_iter().filter(|h| *h > 1e-9 && p.z + v.z * h > z_0);
        let Some(h) = later.reduce(f64::min).filter(|h| p.z + v.z * h < 0.35) else {
            break;
        };
        p += v * h;
        t += h;
        let rho = p.x.hypot(p.y);
        let n = Vec3::new(-p.x / rho * cosine, -p.y / rho * cosine, sine);
        v -= n * ((1.0 + e) * n.dot(&v));
        impacts.push((t, v));
    }
    impacts
}

/// A smooth ball in a cone has the impacts of straight lines and reflections, in a plane and in
/// space, elastic or not; then it flies out of the mouth.
#[test]
fn ball_in_a_cone_has_its_reflections() {
    let cases = [
        // In a plane through the axis.
        (Vec3::new(0.05, 0.0, 0.3), Vec3::new(0.1, 0.0, -0.6), 1.0),
        // Askew.
        (Vec3::new(0.05, 0.02, 0.3), Vec3::new(0.1, 0.15, -0.6), 1.0),
        (Vec3::new(0.05, 0.02, 0.3), Vec3::new(0.1, -0.2, -0.6), 0.8),
    ];
    for (p, v, e) in cases {
        let expected = reflections(p, v, e);
        assert!(expected.len() > 2, "{}", expected.len());
        let mut run = Run::new(&in_funnel(p, v, &format!("e = {e}")), 1e-10);
        let mut worst = 0.0f64;
        for (i, (t, v)) in expected.iter().enumerate() {
            let next = expected.get(i + 1).map_or(t + 0.05, |next| next.0);
            run.go(0.5 * (t + next));
            assert_eq!(run.value("wall.count"), i as f64 + 1.0);
            worst = worst.larger((run.value("wall.time") - t).abs());
            worst = worst.larger((run.vector("ball.v") - v).norm());
        }
        println!("{} impacts in a cone, e = {e}: {worst:.1e} s, m/s", expected.len());
        // Each reflection multiplies errors of the place by the wall's curvature.
        assert!(worst < 1e-11, "{worst}");
        run.go(20.0);
        assert_eq!(run.value("wall.count"), expected.len() as f64);
        assert!(run.value("ball.r[3]") > 1.0);
    }
}

/// A compliant contact in the funnel without dissipation and friction conserves the energy; with
/// them the energy never grows.
#[test]
fn compliant_ball_in_a_cone_never_gains_energy() {
    let (p, v) = (Vec3::new(0.05, 0.02, 0.3), Vec3::new(0.1, -0.2, -0.6));
    let law = "law = \"compliant\"\nforce = 100.0\ndepth = 0.001\n";
    let solver = "[solver]\nmethod = \"dopri5\"\n";
    for (rest, loses) in [("", false), ("dissipation = 0.5\nmu = 0.2\nslip = 0.01\n", true)] {
        let mut run = Run::new(&in_funnel(p, v, &format!("{law}{rest}{solver}")), 1e-11);
        run.look();
        let start = run.value("system.energy");
        let (mut last, mut touched, mut grown) = (start, false, 0.0f64);
        for step in 1..=3000 {
            run.go(f64::from(step) * 1e-3);
            let energy = run.value("system.energy");
            touched |= run.vector("wall.force").norm() > 0.0;
            grown = grown.larger(if loses { energy - last } else { (energy - start).abs() });
            last = energy;
        }
        println!("energy {start:.4} J, then {last:.4} J; largest growth {grown:.1e} J");
        // The force begins with the power 3/2, so that the step at each touch has an error above the
        // tolerance.
        assert!(touched && grown < 1e-8 && (last < 0.8 * start) == loses);
    }
}

/// Spheres and planes as shapes have the impacts of the same surfaces.
#[test]
fn shapes_have_the_impacts_of_surfaces() {
    let text = |contact: &str| {
        format!(
            "name = \"balls\"\n[body.cue]\nmass = 2.0\ninertia = [0.008, 0.008, 0.008]\n\
             start = {{ velocity = [0.7, 0.1, 0.05], angular_velocity = [1.0, 2.0, 3.0] }}\n\
             [body.target]\nmass = 3.0\ninertia = [0.048, 0.048, 0.048]\nstart = {{ position = [1.0, 0.0, 0.0] }}\n\
             [contact.shot]\na = \"cue\"\nb = \"target\"\nlaw = \"stronge\"\ne = 0.7\nmu = 0.3\n{contact}\n"
        )
    };
    let pairs = [
        (
            "surface = \"sphere\"\nradius_a = 0.1\nradius_b = 0.2",
            "shape_a = { type = \"sphere\", radius = 0.1 }\nshape_b = { type = \"sphere\", radius = 0.2 }",
        ),
        (
            "surface = \"sphere\"\nradius_b = 0.2",
            "shape_b = { type = \"sphere\", radius = 0.2 }",
        ),
    ];
    for (surface, shape) in pairs {
        for formulation in Formulation::ALL {
            let [one, other] = [surface, shape].map(|contact| {
                let plant = crate::plant_in(formulation, &text(contact), Path::new("."));
                let mut run = Run::of(plant, 1e-10);
                run.go(4.0);
                run
            });
            assert_eq!(one.value("shot.count"), 1.0);
            for name in ["cue.r", "cue.v", "cue.w", "target.r", "target.v", "shot.impulse"] {
                assert!((one.vector(name) - other.vector(name)).norm() < 1e-12, "{name}");
            }
        }
    }
}

/// A box, a cylinder, a cone and a capsule that fall on a plane or the face of a solid with a corner
/// or a rim first rebound as rigid bodies: the impulse `(1 + e) v/(1/m + (r × n)·J⁻¹(r × n))` acts
/// at the deepest point.
#[test]
fn tilted_solids_rebound_by_their_deepest_point() {
    // The deepest points for a rotation by 30° about y, in body axes.
    let (sine, cosine) = 30f64.to_radians().sin_cos();
    let down = Vec3::new(sine, 0.0, -cosine);
    let cases = [
        ("type = \"box\", size = [0.4, 0.2, 0.6]", Vec3::new(0.2, 0.0, -0.3)),
        (
            "type = \"cylinder\", radius = 0.2, length = 0.6",
            Vec3::new(0.2, 0.0, -0.3),
        ),
        ("type = \"cone\", radius = 0.2, length = 0.6", Vec3::new(0.2, 0.0, -0.3)),
        (
            "type = \"capsule\", radius = 0.2, length = 0.6",
            Vec3::new(0.0, 0.0, -0.3) + down * 0.2,
        ),
    ];
    let floors = [
        ("type = \"plane\"", 0.0),
        ("type = \"box\", size = [20.0, 20.0, 2.0]", 1.0),
        ("type = \"cylinder\", radius = 10.0, length = 2.0", 1.0),
    ];
    for ((shape, deepest), (floor, top)) in cases.iter().flat_map(|case| floors.map(|floor| (*case, floor))) {
        let text = format!(
            "name = \"drop\"\n[body.solid]\nmass = 2.0\ninertia = [0.1, 0.05, 0.08]\n\
             start = {{ position = [0.0, 0.0, {:?}], attitude = [{}, 0.0, {}, 0.0], velocity = [0.0, 0.0, -0.5] }}\n\
             [contact.floor]\na = \"solid\"\nb = \"world\"\nshape_a = {{ {shape} }}\nshape_b = {{ {floor} }}\ne = 0.6\nmu = 0.0\ne_t = -1.0\n",
            1.0 + top,
            15f64.to_radians().cos(),
            15f64.to_radians().sin()
        );
        let mut run = Run::new(&text, 1e-10);
        let r = Vec3::new(
            cosine * deepest.x + sine * deepest.z,
            0.0,
            -sine * deepest.x + cosine * deepest.z,
        );
        let t = (1.0 + r.z) / 0.5;
        run.go(t + 1e-3);
        assert!((run.value("floor.time") - t).abs() < 1e-13, "{shape}");
        // r × n has the component −r.x about y.
        let impulse = 1.6 * 0.5 / (1.0 / 2.0 + r.x * r.x / 0.05);
        assert!(
            (run.vector("floor.impulse") - Vec3::z() * impulse).norm() < 1e-13,
            "{shape}"
        );
        assert!((run.value("solid.v[3]") - (impulse / 2.0 - 0.5)).abs() < 1e-13);
        assert!((run.value("solid.w[2]") + r.x * impulse / 0.05).abs() < 1e-12);
    }
}

/// Equal solids that meet face to face or side by side exchange their velocities without rotation: the
/// impulse acts at the middle of the area or the line that they have in common.
#[test]
fn solids_face_to_face_exchange_their_velocities() {
    let cases = [
        ("type = \"box\", size = [0.4, 0.3, 0.2]", 0.4),
        ("type = \"cylinder\", radius = 0.2, length = 0.5", 0.4),
        ("type = \"capsule\", radius = 0.2, length = 0.5", 0.4),
    ];
    for (shape, width) in cases {
        let text = format!(
            "name = \"pair\"\n[body.one]\nmass = 2.0\ninertia = [0.1, 0.05, 0.08]\nstart = {{ velocity = [0.5, 0.0, 0.0] }}\n\
             [body.other]\nmass = 2.0\ninertia = [0.1, 0.05, 0.08]\nstart = {{ position = [1.0, 0.0, 0.0] }}\n\
             [contact.hit]\na = \"one\"\nb = \"other\"\nshape_a = {{ {shape} }}\nshape_b = {{ {shape} }}\ne = 1.0\nmu = 0.2\n"
        );
        let mut run = Run::new(&text, 1e-10);
        run.go(2.0);
        assert_eq!(run.value("hit.count"), 1.0, "{shape}");
        assert!((run.value("hit.time") - (1.0 - width) / 0.5).abs() < 1e-13, "{shape}");
        let rest = run.vector("one.v").norm() + run.vector("one.w").norm() + run.vector("other.w").norm();
        assert!(rest < 1e-13, "{shape}: {rest:e}");
        assert!((run.vector("other.v") - Vec3::x() * 0.5).norm() < 1e-13, "{shape}");
    }
}

/// A sphere at the tip of a bent flexible boom presses on a box: momentum is conserved, and the energy
/// changes by the work of the friction.
#[test]
fn sphere_on_a_flexible_boom_pushes_a_box() {
    let text = "name = \"boom\"\n[body.hub]\nmass = 50.0\ninertia = [5.0, 6.0, 7.0]\n\
        start = { angular_velocity = [0.0, 0.0, 0.4] }\n\
        [body.boom.beam]\nlength = 2.0\nmass_per_length = 1.0\npolar_inertia_per_length = 0.01\nEI = 30.0\nbending = 2\n\
        [joint.root]\ntype = \"fixed\"\nparent = \"hub\"\nchild = \"boom\"\norigin = [0.5, 0.0, 0.0]\n\
        [frame.tip]\nbody = \"boom\"\norigin = [2.0, 0.0, 0.0]\n\
        [body.crate]\nmass = 10.0\ninertia = [1.0, 1.0, 1.0]\nstart = { position = [2.3, 0.6, 0.05], attitude = [0.9, 0.1, 0.3, -0.2] }\n\
        [contact.hit]\na = \"tip\"\nb = \"crate\"\nshape_a = { type = \"sphere\", radius = 0.05 }\n\
        shape_b = { type = \"box\", size = [0.5, 0.3, 0.4] }\n\
        law = \"compliant\"\nforce = 50.0\ndepth = 0.001\nmu = 0.2\nslip = 0.01\n";
    let q = Quaternion::new(0.9, 0.1, 0.3, -0.2).normalised().to_array();
    let text = text.replace("[0.9, 0.1, 0.3, -0.2]", &format!("{q:?}"));
    let mut run = Run::new(&text, 1e-11);
    run.look();
    let before = Balance::of(&run);
    let mut pushed = 0.0f64;
    for step in 1..=300 {
        run.go(f64::from(step) * 0.01);
        pushed = pushed.larger(run.vector("hit.force").norm());
    }
    let after = Balance::of(&run);
    let deflection = run.vector("tip.deflection").norm();
    let drift = before.off(&after);
    println!("force {pushed:.2} N, deflection {deflection:.3} m, momentum {drift:.1e}");
    assert!(pushed > 1.0 && deflection > 1e-4);
    assert!(drift < 1e-9);
    assert!((after.energy - run.value("system.work") - before.energy).abs() < 1e-7);
}

/// The probe of the example slides into the drogue and is latched; momentum is conserved, and the
/// energy never grows.
#[test]
fn probe_and_drogue_dock() {
    let text = include_str!("../../../examples/contacts/probe_drogue.toml");
    for formulation in [Formulation::Recursive, Formulation::DualQuaternion] {
        let plant = crate::plant_in(formulation, text, Path::new("."));
        let mut run = Run::of(plant, 1e-10);
        run.set("latch.capture", 1.0);
        run.look();
        let before = Balance::of(&run);
        let (mut last, mut grown, mut off) = (run.value("system.energy"), 0.0f64, 0.0f64);
        let (mut touched, mut latched) = (None, None);
        for step in 1..=600 {
            let t = f64::from(step) * 0.1;
            run.go(t);
            let energy = run.value("system.energy");
            (grown, last) = (grown.larger(energy - last), energy);
            off = off.larger(before.off(&Balance::of(&run)));
            if run.vector("head.force").norm() > 0.0 {
                touched = touched.or(Some(t));
            }
            if run.value("latch.captured") > 0.5 {
                latched = latched.or(Some(t));
            }
        }
        println!(
            "{}: touches {touched:?} s, latched {latched:?} s, momentum {off:.1e}, energy grows {grown:.1e} J to {last:.4} J",
            formulation.name()
        );
        assert!(touched < latched && touched.is_some());
        // Errors of the steps in stiff contact: 1.8e-11 in joint coordinates, 1.6e-9 in dual quaternions.
        assert!(off < 1e-8 && grown < 1e-9);
    }
}

/// Compliant contacts whose force may jump with the position are reported: balls that do not pass
/// through a funnel, and capsules that start nearly parallel.
#[test]
fn compliant_contacts_along_a_line_are_reported() {
    let law = "law = \"compliant\"\nforce = 100.0\ndepth = 0.001\n";
    let funnel = |end: f64| {
        format!("{{ type = \"funnel\", radius = 0.3, end_radius = {end:?}, length = 0.8, thickness = 0.01 }}")
    };
    let ball = "{ type = \"sphere\", radius = 0.05 }";
    let rod = "{ type = \"capsule\", radius = 0.05, length = 1.0 }";
    let reported = |[a, b]: [&str; 2], law: &str, attitude: [f64; 4]| {
        let text = format!(
            "name = \"pressed\"\n[body.one]\nmass = 2.0\ninertia = [0.2, 0.2, 0.2]\n\
             start = {{ position = [3.0, 0.0, 0.0], attitude = {attitude:?} }}\n\
             [contact.seat]\na = \"one\"\nb = \"world\"\nshape_a = {a}\nshape_b = {b}\n{law}"
        );
        crate::plant(&text).doubtful_contacts()
    };
    let upright = [1.0, 0.0, 0.0, 0.0];
    let (sine, cosine) = 0.3f64.sin_cos();
    let tilted = [cosine, sine, 0.0, 0.0];
    for (shapes, law, attitude, expected) in [
        ([ball, &funnel(0.0)], law, upright, 1),
        ([ball, &funnel(0.05)], law, upright, 1),
        ([ball, &funnel(0.06)], law, upright, 0),
        ([&funnel(0.04), ball], law, upright, 1),
        ([ball, &funnel(0.0)], "e = 0.5\n", upright, 0),
        ([rod, rod], law, upright, 1),
        ([rod, rod], law, tilted, 0),
        ([rod, rod], "e = 0.5\n", upright, 0),
        ([ball, rod], law, upright, 0),
    ] {
        let found = reported(shapes, law, attitude);
        assert_eq!(found.len(), expected, "{shapes:?} {found:?}");
        for problem in found {
            println!("{problem}");
            assert_eq!(problem.at, ["contact", "seat", "law"]);
        }
    }
}
