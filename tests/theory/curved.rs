//! Geometrically exact beams with a curved stress-free shape: mass and frequencies of an arc in
//! closed form, a published static case, invariants, agreement of the formulations.

use crate::elastic_line::{ElasticLine, Plane};
use crate::linearisation::at_start;
use crate::long::long;
use crate::numbers::{Larger, few, orders};
use crate::run::Run;
use grapple::algebra::{Mat3, Quaternion, Vec3, exp};
use grapple::spec::Formulation;
use std::path::Path;

/// Section of the beams below, with different properties in all directions.
const SECTION: &str = "mass_per_length = 0.6\ninertia_y_per_length = 4e-3\ninertia_z_per_length = 9e-3\n\
    EA = 900.0\nGA_y = 150.0\nGA_z = 220.0\nGJ = 1.1\nEI_y = 1.4\nEI_z = 2.3\n";

/// A curve with bending in both planes and torsion, through its points.
const POINTS: &str = "shape = { points = [[0.5, 0.05, 0.1], [0.9, 0.35, 0.3], [1.05, 0.8, 0.25]] }";

/// Returns the body `boom` with `elements` along `shape`.
fn beam(shape: &str, elements: usize) -> String {
    format!("[body.boom.geometrically_exact_beam]\n{shape}\nelements = {elements}\n{SECTION}")
}

/// At rest in its stress-free shape a beam has no strain energy and no accelerations; its tip, its
/// frames and the bodies on it have the positions of the spec, which are in axes of the root.
#[test]
fn curved_beam_is_at_rest_in_its_shape() {
    let attitude = exp(Vec3::new(0.4, -0.9, 0.7));
    let [w, x, y, z] = attitude.to_array();
    let arc = "shape = { radius = 1.2, angle_deg = 75.0, toward = [0.0, 3.0, -4.0] }";
    let angle = 75f64.to_radians();
    let of_arc = Vec3::new(angle.sin(), 0.6 * (1.0 - angle.cos()), -0.8 * (1.0 - angle.cos())) * 1.2;
    for (shape, tip) in [(arc, of_arc), (POINTS, Vec3::new(1.05, 0.8, 0.25))] {
        let [p, q, r]: [f64; 3] = tip.into();
        let text = format!(
            "name = \"beam\"\n[body.boom]\nstart = {{ position = [3.0, -1.0, 2.0], attitude = [{w}, {x}, {y}, {z}] }}\n{}\
             [frame.tip]\nbody = \"boom\"\norigin = [{p}, {q}, {r}]\n\
             [frame.turned]\nbody = \"boom\"\norigin = [{p}, {q}, {r}]\nrpy_deg = [30.0, 20.0, -50.0]\n\
             [body.load]\nmass = 0.5\ninertia = [0.02, 0.03, 0.04]\n\
             [joint.grip]\ntype = \"fixed\"\nparent = \"boom\"\nchild = \"load\"\norigin = [{p}, {q}, {r}]\nrpy_deg = [30.0, 20.0, -50.0]\n",
            beam(shape, 6)
        );
        for formulation in Formulation::ALL {
            let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-10);
            run.look();
            let own = Quaternion::from_rotation(
                &(exp(Vec3::z() * (-50f64).to_radians())
                    * exp(Vec3::y() * 20f64.to_radians())
                    * exp(Vec3::x() * 30f64.to_radians()))
                .rotation(),
            );
            let expected = Vec3::new(3.0, -1.0, 2.0) + attitude.rotate(tip);
            let mut worst = run.vector("boom.tip_deflection").norm() + run.vector("boom.tip_turn").norm();
            for (name, q) in [("tip", attitude), ("turned", attitude * own), ("load", attitude * own)] {
                let apart = run.attitude(name).conjugate() * q;
                worst = worst.larger((run.vector(&format!("{name}.r")) - expected).norm());
                worst = worst.larger(apart.vector().norm());
            }
            let node = run.vector("boom.node[7].r") - expected;
            let (energy, before) = (run.value("boom.elastic_energy"), run.vector("load.r"));
            run.go(1.0);
            let moved = (run.vector("load.r") - before).norm();
            println!(
                "{}: off by {worst:.1e} (1e-14), last node by {:.1e} (1e-14), energy {energy:.1e} J (1e-26), moved by {moved:.1e} m in 1 s (1e-13)",
                formulation.name(),
                node.norm()
            );
            assert!(worst < 1e-14 && node.norm() < 1e-14 && energy < 1e-26 && moved < 1e-13);
        }
    }
}

/// Mass, mass centre and inertia of a circular arc with the inertia of its sections, from momentum
/// and angular momentum of its rotation about the root.
#[test]
fn arc_has_its_mass_mass_centre_and_inertia() {
    let (R, angle) = (1.2f64, 1.9f64);
    let w = Vec3::new(0.7, -0.4, 0.9);
    let text = format!(
        "name = \"arc\"\n[body.boom]\nstart = {{ angular_velocity = [0.7, -0.4, 0.9] }}\n{}",
        beam("shape = { radius = 1.2, angle = 1.9 }", 3)
    );
    let mut run = Run::new(&text, 1e-10);
    run.look();
    let (sine, cosine) = angle.sin_cos();
    let m = 0.6 * R * angle;
    let centre = Vec3::new(1.0 - cosine, angle - sine, 0.0) * (R / angle);
    // Integrals over the arc with x = R sin φ, y = R (1 − cos φ).
    let k = 0.6 * R.powi(3);
    let xx = k * (angle - sine * cosine) / 2.0;
    let yy = k * (1.5 * angle - 2.0 * sine + 0.5 * sine * cosine);
    let xy = k * (1.0 - cosine - 0.5 * sine * sine);
    // The section's axis x is (cos φ, sin φ), y is (−sin φ, cos φ).
    let [j_y, j_z] = [4e-3 * R, 9e-3 * R];
    let j_x = j_y + j_z;
    let [square_cosine, square_sine] = [1.0, -1.0].map(|sign| 0.5 * (angle + sign * sine * cosine));
    let both = 0.5 * sine * sine * (j_x - j_y);
    let J = Mat3::new(
        yy + j_x * square_cosine + j_y * square_sine,
        both - xy,
        0.0,
        both - xy,
        xx + j_x * square_sine + j_y * square_cosine,
        0.0,
        0.0,
        0.0,
        xx + yy + j_z * angle,
    );
    let p = w.cross(&centre) * m;
    // The output is about the mass centre.
    let h = J * w - centre.cross(&p);
    let off = [
        (run.vector("system.momentum") - p).norm() / p.norm(),
        (run.vector("system.angular_momentum") - h).norm() / h.norm(),
        (run.value("system.kinetic_energy") / (0.5 * w.dot(&(J * w))) - 1.0).abs(),
    ];
    println!("momentum, angular momentum, energy: {} (1e-14)", few(&off));
    assert!(off.iter().all(|&off| off < 1e-14), "{off:?}");
}

/// Returns the angular frequencies of a free beam at rest, rad/s.
fn frequencies(text: &str) -> Vec<f64> {
    let A = at_start(&mut crate::plant(text)).A;
    let half = A.nrows() / 2;
    let squares = A.view((half, 0), (half, half)).clone_owned().complex_eigenvalues();
    squares.iter().map(|square| (-square.re).max(0.0).sqrt()).collect()
}

/// The frequencies of a free circular arc, in its plane and out of it (bending with torsion), are
/// those of the differential equations with shear, stretch and rotary inertia, with the element's
/// order.
#[test]
fn free_arc_has_its_frequencies() {
    let (R, angle) = (1.2, 2.0);
    let line = ElasticLine {
        length: R * angle,
        mass_per_length: 0.6,
        inertia: Vec3::new(13e-3, 4e-3, 9e-3),
        stretch: Vec3::new(900.0, 150.0, 220.0),
        bend: Vec3::new(1.1, 1.4, 2.3),
        curvature: Vec3::z() / R,
    };
    let found = [8, 16, 32].map(|n| {
        frequencies(&format!(
            "name = \"arc\"\n{}",
            beam("shape = { radius = 1.2, angle = 2.0 }", n)
        ))
    });
    for plane in [Plane::In, Plane::Out] {
        for w in line.frequencies(3, (0.5, 0.25), plane) {
            let off = [0, 1, 2].map(|k| {
                let misses = found[k].iter().map(|f| (f / w - 1.0).abs());
                misses.fold(f64::INFINITY, f64::min)
            });
            println!(
                "{plane:?} {w:.4} rad/s: off by {}, orders {:.2?}",
                few(&off),
                orders(&off)
            );
            assert!(orders(&off)[1] > 1.9 && off[2] < 5e-3, "{off:?}");
        }
    }
}

/// Returns the displacement of the tip of the 45° bend of K.-J. Bathe and S. Bolourchi
/// (10.1002/nme.1620140703) under a force of 600 lb out of its plane, in: radius 100 in, section
/// 1 in × 1 in, E = 1e7 psi, ν = 0, torsion constant 1/6 in⁴, no shear correction.
fn bend_of_45_degrees(elements: usize) -> Vec3<f64> {
    let text = format!(
        "name = \"bend\"\n[body.bend.geometrically_exact_beam]\nshape = {{ radius = 100.0, angle_deg = 45.0 }}\nelements = {elements}\n\
         mass_per_length = 1.0\npolar_inertia_per_length = {polar:?}\nEA = 1e7\nGA = 5e6\nGJ = {GJ:?}\nEI = {EI:?}\n\
         [joint.root]\ntype = \"fixed\"\nparent = \"world\"\nchild = \"bend\"\n\
         [frame.tip]\nbody = \"bend\"\norigin = [{x:?}, {y:?}, 0.0]\n[port.load]\nframe = \"tip\"\n\
         [signal.\"load.f[3]\"]\ntype = \"constant\"\namplitude = 600.0\nfrom_importer = false\n[assembly]\nequilibrium = true\n",
        polar = 1.0 / 6.0,
        GJ = 5e6 / 6.0,
        EI = 1e7 / 12.0,
        x = 100.0 * 0.5f64.sqrt(),
        y = 100.0 * (1.0 - 0.5f64.sqrt()),
    );
    let mut run = Run::new(&text, 1e-10);
    run.look();
    run.vector("bend.tip_deflection")
}

/// The 45° bend converges with order two to the displacements of Exudyn (`benches/exudyn/bend.py`),
/// whose elements have another interpolation.
#[test]
fn bend_of_45_degrees_deflects_as_in_an_independent_code() {
    let expected = Vec3::new(-23.5602, -13.6045, 53.4749);
    let elements = if long() { [16, 32, 64] } else { [8, 16, 32] };
    let found = elements.map(bend_of_45_degrees);
    let limit = found[2] + (found[2] - found[1]) / 3.0;
    let order = ((found[1] - found[0]).norm() / (found[2] - found[1]).norm()).log2();
    let off = |tip: &Vec3<f64>| [0, 1, 2].map(|k| (tip[k] / expected[k] - 1.0).abs());
    for tip in found.iter().chain([&limit]) {
        let [x, y, z]: [f64; 3] = (*tip).into();
        println!("{x:.4}, {y:.4}, {z:.4} in: off by {}", few(&off(tip)));
    }
    println!("order {order:.2}");
    // The element's own error is ⅔θ² of its rotation under the load, of about 1 rad over their number.
    let own = 1e-3 * (64.0 / elements[2] as f64).powi(2);
    assert!(order > 1.95 && off(&found[2]).iter().all(|&off| off < own));
    assert!(off(&limit).iter().all(|&off| off < 1e-4));
}

/// A free curved beam after a tip force and moment, with large bending and torsion: the momenta and
/// energy given by the load are conserved to the integration error.
#[test]
fn free_curved_beam_conserves_momentum_and_energy() {
    let text = format!(
        "name = \"beam\"\n[body.boom]\nstart = {{ position = [3.0, -1.0, 2.0], angular_velocity = [0.0, 0.5, 2.0], velocity = [0.4, 0.1, -0.2] }}\n{}\
         [frame.tip]\nbody = \"boom\"\norigin = [1.05, 0.8, 0.25]\n[port.throw]\nframe = \"tip\"\n[solver]\nmethod = \"dop853\"\n",
        beam(POINTS, 6)
    );
    let mut run = Run::new(&text, 1e-12);
    run.look();
    let p_0 = run.vector("system.momentum");
    let balance = run.value("system.energy") - run.value("system.work");
    let f = Vec3::new(-1.0, 2.0, 1.5);
    for i in 0..3 {
        run.set(&format!("throw.f[{}]", i + 1), f[i]);
        run.set(&format!("throw.t[{}]", i + 1), 0.1 * f[i]);
    }
    run.go(0.4);
    let given = (run.vector("system.momentum") - p_0 - f * 0.4).norm();
    for part in ["f", "t"] {
        (0..3).for_each(|i| run.set(&format!("throw.{part}[{}]", i + 1), 0.0));
    }
    let (p, h) = (run.vector("system.momentum"), run.vector("system.angular_momentum"));
    let (mut bent, mut twisted) = (0.0f64, 0.0f64);
    for k in 1..=20 {
        run.go(0.4 + 0.1 * f64::from(k));
        bent = bent.larger(run.vector("boom.tip_deflection").norm());
        twisted = twisted.larger(run.vector("boom.tip_turn").norm());
    }
    let drift = (run.vector("system.momentum") - p).norm() / p.norm();
    let turned = (run.vector("system.angular_momentum") - h).norm() / h.norm();
    let energy =
        (run.value("system.energy") - run.value("system.work") - balance).abs() / run.value("system.kinetic_energy");
    println!(
        "given {given:.1e} (1e-10); tip off by {bent:.2} m, turned by {twisted:.2} rad; momentum {drift:.1e} {turned:.1e} (1e-10), energy {energy:.1e} (1e-10)"
    );
    assert!(given < 1e-10 && bent > 0.2 && twisted > 0.3);
    assert!(drift < 1e-10 && turned < 1e-10 && energy < 1e-10);
}

/// A damped curved beam on a rotating hub, with a jointed load at its tip and a turned frame
/// between its nodes.
fn on_a_hub() -> String {
    format!(
        "name = \"craft\"\n[body.hub]\nmass = 3.0\ninertia = [0.4, 0.6, 0.5]\nstart = {{ angular_velocity = [0.8, -0.5, 0.6], velocity = [0.1, 0.3, -0.2] }}\n\
         [joint.root]\ntype = \"revolute\"\nparent = \"hub\"\nchild = \"boom\"\norigin = [0.2, 0.1, 0.0]\nrpy_deg = [20.0, -30.0, 10.0]\nstart = {{ rate = 0.7 }}\n\
         {}damping_time = 0.01\n\
         [body.load]\nmass = 0.5\ninertia = [0.02, 0.03, 0.04]\n[joint.tip]\ntype = \"universal\"\nparent = \"boom\"\nchild = \"load\"\norigin = [1.1, 0.85, 0.3]\n\
         rpy_deg = [10.0, 40.0, -20.0]\naxis = [1.0, 0.0, 0.0]\naxis2 = [0.0, 1.0, 0.2]\n\
         [frame.middle]\nbody = \"boom\"\norigin = [0.6, 0.2, 0.1]\nrpy_deg = [10.0, 20.0, 30.0]\n[solver]\nmethod = \"dop853\"\n",
        beam(POINTS, 4)
    )
}

/// The formulations agree on a curved beam; momentum is conserved, and the energy loss in its
/// dampers is the work.
#[test]
fn formulations_agree_on_a_curved_beam_and_conserve_momentum() {
    let end = |formulation| {
        let mut run = Run::of(crate::plant_in(formulation, &on_a_hub(), Path::new(".")), 1e-12);
        run.look();
        let invariants = |run: &Run| {
            let (p, h) = (run.vector("system.momentum"), run.vector("system.angular_momentum"));
            (p, h, run.value("system.energy") - run.value("system.work"))
        };
        let (p, h, energy) = invariants(&run);
        run.go(1.0);
        let (p_1, h_1, energy_1) = invariants(&run);
        let drift = [(p_1 - p).norm(), (h_1 - h).norm(), (energy_1 - energy).abs()];
        let work = run.value("system.work");
        println!(
            "{}: momentum, angular momentum, energy {} (1e-10), work {work:.3} J",
            formulation.name(),
            few(&drift)
        );
        assert!(drift.iter().all(|&off| off < 1e-10) && work < -1e-3);
        let nodes = (2..=5).flat_map(|k| ["r", "v", "w"].map(|field| format!("boom.node[{k}].{field}")));
        let others = [
            "boom.r",
            "load.r",
            "load.w",
            "hub.r",
            "middle.r",
            "middle.w",
            "boom.tip_deflection",
            "boom.tip_turn",
        ];
        let names: Vec<String> = nodes.chain(others.map(str::to_owned)).collect();
        names.iter().map(|name| run.vector(name)).collect::<Vec<_>>()
    };
    let expected = end(Formulation::Recursive);
    for &formulation in &Formulation::ALL[1..] {
        let off = expected.iter().zip(end(formulation)).map(|(a, b)| (a - b).norm());
        let off = off.fold(0.0, f64::larger);
        println!("{}: {off:.1e} (1e-10)", formulation.name());
        // The error of the tolerance in the fastest shear waves of 1e2 rad/s.
        assert!(off < 1e-10);
    }
}

/// A spline through points of an arc deflects as the arc, and through points of a straight line as
/// the straight beam.
#[test]
fn shape_through_points_deflects_as_the_arc_and_the_line() {
    let bent = |shape: &str| {
        let text = format!(
            "name = \"beam\"\n{}[joint.root]\ntype = \"fixed\"\nparent = \"world\"\nchild = \"boom\"\n[environment]\ngravity = [0.3, -0.5, 0.4]\n[assembly]\nequilibrium = true\n",
            beam(shape, 8)
        );
        let mut run = Run::new(&text, 1e-10);
        run.look();
        run.vector("boom.tip_deflection")
    };
    let arc = bent("shape = { radius = 1.5, angle = 1.0 }");
    let off = [4, 8, 16].map(|n: usize| {
        let point = |k: usize| {
            let angle = k as f64 / n as f64;
            format!("[{:?}, {:?}, 0.0]", 1.5 * angle.sin(), 1.5 * (1.0 - angle.cos()))
        };
        let points: Vec<String> = (1..=n).map(point).collect();
        (bent(&format!("shape = {{ points = [{}] }}", points.join(", "))) - arc).norm() / arc.norm()
    });
    let line = bent("length = 1.5");
    let through = (bent("shape = { points = [[0.4, 0.0, 0.0], [1.5, 0.0, 0.0]] }") - line).norm();
    println!(
        "bent by {:.3} and {:.3} m; arc through points: off by {}, orders {:.2?}; line {through:.1e} m (1e-9)",
        arc.norm(),
        line.norm(),
        few(&off),
        orders(&off)
    );
    // The bound of the search for the equilibrium.
    assert!(orders(&off)[1] > 2.8 && off[2] < 1e-4 && through < 1e-9);
}

/// The numbers of a shape are parameters: values set by the importer have the same effect as those
/// of the spec.
#[test]
fn values_of_a_shape_are_parameters() {
    let text = |shape: &str| {
        let joint = "[joint.root]\ntype = \"fixed\"\nparent = \"world\"\nchild = \"boom\"\n";
        format!(
            "name = \"beam\"\n{}{joint}[environment]\ngravity = [0.3, -0.5, 0.4]\n",
            beam(shape, 4)
        )
    };
    for (one, other, changes) in [
        (
            "shape = { radius = 1.0, angle = 1.0, toward = [0.0, 1.0, 0.0] }",
            "shape = { radius = 1.3, angle = 0.9, toward = [0.0, 0.6, 0.8] }",
            vec![("radius", 1.3), ("angle", 0.9), ("toward[2]", 0.6), ("toward[3]", 0.8)],
        ),
        (
            "shape = { points = [[0.5, 0.1, 0.0], [0.9, 0.4, 0.1]] }",
            "shape = { points = [[0.6, 0.1, 0.0], [0.9, 0.4, 0.2]] }",
            vec![("point[1].r[1]", 0.6), ("point[2].r[3]", 0.2)],
        ),
    ] {
        let mut plant = crate::plant(&text(one));
        let mut values = plant.parameters().to_vec();
        for (name, value) in changes {
            let name = format!("boom.{name}");
            let place = plant.model().parameters.iter().position(|p| p.quantity.name == name);
            values[place.expect("a parameter")] = value;
        }
        plant.set_parameters(&values).expect("good numbers");
        let [set, written] = [plant, crate::plant(&text(other))].map(|plant| {
            let mut run = Run::of(plant, 1e-10);
            run.go(0.3);
            (run.vector("boom.tip_deflection"), run.vector("boom.node[5].r"))
        });
        assert!((set.0 - written.0).norm() < 1e-15 && (set.1 - written.1).norm() < 1e-15);
        assert!(set.0.norm() > 0.01, "{}", set.0.norm());
    }
}
