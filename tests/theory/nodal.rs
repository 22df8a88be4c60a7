//! ANCF beams: closed forms, large bending, invariants of free flight, orbit. Grasps (switched
//! spring-dampers between two frames) on rigid bodies and on beams.

use crate::messages;
use crate::numbers::{Larger, few};
use crate::run::Run;
use grapple::Error;
use grapple::algebra::{Dual, Scalar, Vec3};
use grapple::nodal::{Curvature, Element};
use grapple::plant::{Linearisation, OperatingPoint};
use grapple::spec::{Capability, Formulation};
use nalgebra::{DMatrix, DVector};
use std::f64::consts::{PI, TAU};
use std::path::Path;

/// The beam of Yang et al. 2023: its module of 100 m.
const MODULE: &str = "length = 100.0\nmass_per_length = 30.0\nEA = 6.9e9\nEI = 9.545e7\n";

/// Returns the nodal coordinates of a clamped chain of elements in equilibrium under a dead force
/// and a moment at its tip, in its plane, by Newton's method.
fn bent(elements: &[Element], curvature: Curvature, (force, moment): (Vec3<f64>, f64)) -> Vec<Vec3<f64>> {
    let mut e: Vec<Vec3<f64>> = vec![Vec3::zeros(), Vec3::x()];
    for element in elements {
        let last = e[e.len() - 2];
        e.extend([last + Vec3::x() * element.l, Vec3::x()]);
    }
    let n = 2 * (e.len() - 2);
    for step in 1..=40 {
        let part = f64::from(step) / 40.0;
        for _ in 0..30 {
            // The derivatives are computed in one direction at a time: the systems are small, and
            // speed is irrelevant.
            let mut J = DMatrix::zeros(n, n);
            let mut Q = DVector::zeros(n);
            for along in 0..n {
                let mut lifted: Vec<Vec3<Dual<1>>> = e.iter().map(|e| e.map(Dual::lift)).collect();
                lifted[2 + along / 2][along % 2].eps[0] = 1.0;
                let mut forces = vec![Vec3::<Dual<1>>::zeros(); e.len()];
                for (i, element) in elements.iter().enumerate() {
                    let here: [_; 4] = std::array::from_fn(|k| lifted[2 * i + k]);
                    let mut Q = [Vec3::zeros(); 4];
                    element.add_forces(&here, curvature, &mut Q);
                    (0..4).for_each(|k| forces[2 * i + k] += Q[k]);
                }
                let last = e.len() - 1;
                forces[last - 1] += force.map(|f| Dual::lift(f * part));
                let slope = lifted[last];
                let turned = Vec3::new(-slope.y, slope.x, Dual::lift(0.0));
                forces[last] += turned * (Dual::lift(moment * part) / slope.dot(&slope));
                for row in 0..n {
                    J[(row, along)] = forces[2 + row / 2][row % 2].eps[0];
                    Q[row] = forces[2 + row / 2][row % 2].value();
                }
            }
            let change = J.lu().solve(&Q).expect("it is held");
            for (row, change) in change.iter().enumerate() {
                e[2 + row / 2][row % 2] -= change;
            }
            if change.norm() < 1e-12 {
                break;
            }
        }
    }
    e
}

fn chain(n: usize, length: f64, EA: f64, EI: f64) -> Vec<Element> {
    let element = Element {
        l: length / n as f64,
        mass_per_length: 1.0,
        EA,
        EI,
    };
    vec![element; n]
}

/// A moment `2πEI/L` at the tip bends a beam to a full circle. With exact curvature the closure
/// error has the order of the cubic element, for any section; with `|r″|²` its limit is the model
/// error, of the order `(2π)² I/(A L²)`.
#[test]
fn moment_bends_an_ancf_beam_to_a_circle() {
    let (L, EI) = (1.0, 1.0);
    let open = |n: usize, EA: f64, curvature| {
        let e = bent(&chain(n, L, EA, EI), curvature, (Vec3::zeros(), TAU * EI / L));
        e[e.len() - 2].norm() / L
    };
    let exact: Vec<f64> = [8, 16, 32].map(|n| open(n, 1e4, Curvature::Exact)).to_vec();
    let order = (exact[1] / exact[2]).log2();
    println!(
        "exact curvature, open by {} of the length; order {order:.2}",
        few(&exact)
    );
    // Each element contributes `(2π/n)⁴` over about 250: 6e-6.
    assert!(order > 3.8 && exact[2] < 1e-5);
    for EA in [1e4, 1e5] {
        // The beam is shorter by ε = (2π)² I/AL², and its curvature larger by 2ε.
        let model = 2.0 * TAU * TAU * EI / (EA * L * L);
        let quadratic = open(32, EA, Curvature::Quadratic);
        println!(
            "|r\"|², I/AL² = {:.0e}: open by {quadratic:.1e}, its model's error {model:.1e}",
            EI / EA
        );
        assert!((quadratic / model - 1.0).abs() < 0.05);
    }
}

/// Returns the tip position of a clamped beam of length 1 by shooting, with θ(0) = 0 and θ′(1) = 0;
/// `rate` gives the derivatives of angle, curvature and position along the beam.
pub fn elastica_tip(rate: impl Fn([f64; 4]) -> [f64; 4]) -> [f64; 2] {
    let shoot = |curvature: f64| {
        let n = 4000;
        let h = 1.0 / f64::from(n);
        let mut s = [0.0, curvature, 0.0, 0.0];
        for _ in 0..n {
            let add = |s: [f64; 4], k: [f64; 4], h: f64| std::array::from_fn(|i| s[i] + h * k[i]);
            let k1 = rate(s);
            let k2 = rate(add(s, k1, 0.5 * h));
            let k3 = rate(add(s, k2, 0.5 * h));
            let k4 = rate(add(s, k3, h));
            s = std::array::from_fn(|i| s[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]));
        }
        s
    };
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if shoot(middle)[1] < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let [.., x, y] = shoot(low);
    [x, y]
}

/// Transverse tip force, `P L²/EI = 10`: the elastica of an extensible beam, from an independent
/// integration.
#[test]
fn force_bends_an_ancf_beam_to_the_elastica() {
    let (load, EA) = (10.0, 1e4);
    // The axial force stretches the beam by λ: EA λ (λ² − 1)/2 = P sin θ.
    let stretch = |angle: f64| {
        (0..5).fold(1.0, |s: f64, _| {
            let off = 0.5 * EA * s * (s * s - 1.0) - load * angle.sin();
            s - off / (0.5 * EA * (3.0 * s * s - 1.0))
        })
    };
    // θ″ = −P λ cos θ; x′ = λ cos θ, y′ = λ sin θ.
    let [x, y] = elastica_tip(|s| {
        let (sine, cosine) = s[0].sin_cos();
        let stretch = stretch(s[0]);
        [s[1], -load * stretch * cosine, stretch * cosine, stretch * sine]
    });
    let off: Vec<f64> = [8, 16, 32]
        .map(|n| {
            let e = bent(&chain(n, 1.0, EA, 1.0), Curvature::Exact, (Vec3::y() * load, 0.0));
            (e[e.len() - 2] - Vec3::new(x, y, 0.0)).norm()
        })
        .to_vec();
    let order = (off[1] / off[2]).log2();
    println!(
        "elastica, tip at ({x:.6}, {y:.6}): off by {}, order {order:.2}",
        few(&off)
    );
    // An element bends as a cubic: the error at its ends is of fourth order in its angle of about
    // 1/20 rad.
    assert!(order > 3.8 && off[2] < 1e-6);
}

/// The frequencies of a free beam are `(βL)² √(EI/ρAL⁴)` with cos βL cosh βL = 1; elements of
/// length l have the relative error `(βl)⁴/1440`.
#[test]
fn free_ancf_beam_has_its_bending_frequencies() {
    let off = |elements: usize| {
        let text = format!("name = \"beam\"\n[ancf_beam.span]\n{MODULE}elements = {elements}\n");
        let mut plant = crate::plant(&text);
        let mut run = Run::of(plant.clone(), 1e-9);
        run.go(0.0);
        let state = &run.simulation.state;
        let at = OperatingPoint::new(0.0, state.x.as_slice(), state.u.as_slice(), &state.discrete);
        let A = Linearisation::new(&mut plant, at).expect("linear").A;
        // Bending only: axial modes are faster.
        let mut found: Vec<f64> = A
            .complex_eigenvalues()
            .iter()
            .map(|value| value.im)
            .filter(|w| *w > 0.5)
            .collect();
        found.sort_by(f64::total_cmp);
        let unit = (9.545e7f64 / 30.0).sqrt() / 1e4;
        // Each frequency occurs in two planes.
        [4.730_040_744_862_704, 7.853_204_624_095_838].map(|root| {
            let expected = root * root * unit;
            found
                .iter()
                .map(|w| (w / expected - 1.0).abs())
                .fold(f64::INFINITY, f64::min)
        })
    };
    let off: Vec<[f64; 2]> = [4, 8, 16].map(off).to_vec();
    let order = (off[1][0] / off[2][0]).log2();
    let firsts: Vec<f64> = off.iter().map(|off| off[0]).collect();
    println!("free-free frequencies off by {}; order {order:.2}", few(&firsts));
    for (root, off) in [4.730_04, 7.853_20].into_iter().zip(off[2]) {
        assert!((off / ((root / 16.0f64).powi(4) / 1440.0) - 1.0).abs() < 0.05);
    }
    assert!(order > 3.9);
}

/// A soft free beam after a tip force, with large bending: momentum is conserved to round-off,
/// energy to the integration error; both curvature measures.
#[test]
fn free_ancf_beam_conserves_momentum_and_energy() {
    for curvature in ["quadratic", "exact"] {
        let text = format!(
            "name = \"beam\"\n[ancf_beam.whip]\nlength = 2.0\nelements = 6\nmass_per_length = 0.5\nEA = 2e4\nEI = 0.3\ncurvature = \"{curvature}\"\n\
             start = {{ position = [3.0, -1.0, 2.0], angular_velocity = [0.0, 0.5, 2.0], velocity = [0.4, 0.1, -0.2] }}\n\
             [frame.tip]\nbody = \"whip\"\norigin = [2.0, 0.0, 0.0]\n[port.throw]\nframe = \"tip\"\n\
             [solver]\nmethod = \"dop853\"\n"
        );
        let mut run = Run::new(&text, 1e-11);
        run.look();
        let p_0 = run.vector("system.momentum");
        let balance = run.value("system.energy") - run.value("system.work");
        assert!((p_0 - Vec3::new(0.4, 0.1, -0.2) - Vec3::new(0.0, 2.0, -0.5)).norm() < 1e-14);
        let f = Vec3::new(-1.0, 2.0, 1.5);
        (0..3).for_each(|i| run.set(&format!("throw.f[{}]", i + 1), f[i]));
        (0..3).for_each(|i| run.set(&format!("throw.t[{}]", i + 1), 0.02 * f[i]));
        run.go(0.4);
        let given = run.vector("system.momentum") - p_0;
        assert!((given - f * 0.4).norm() < 1e-12, "{given}");
        for part in ["f", "t"] {
            (0..3).for_each(|i| run.set(&format!("throw.{part}[{}]", i + 1), 0.0));
        }
        let (p, h) = (run.vector("system.momentum"), run.vector("system.angular_momentum"));
        let mut bent = 0.0f64;
        for k in 1..=20 {
            run.go(0.4 + 0.1 * f64::from(k));
            bent = bent.larger(run.vector("whip.tip_deflection").norm());
        }
        let drift = (run.vector("system.momentum") - p).norm() / p.norm();
        let turned = (run.vector("system.angular_momentum") - h).norm() / h.norm();
        let energy = (run.value("system.energy") - run.value("system.work") - balance).abs()
            / run.value("system.kinetic_energy");
        println!(
            "{curvature}: tip off by {bent:.2} m of 2 m; momentum {drift:.1e} {turned:.1e} (1e-12), energy {energy:.1e} (1e-12)"
        );
        // Integration tolerance: angular momentum and energy are quadratic in the states.
        assert!(bent > 1.0 && drift < 1e-12 && turned < 1e-12 && energy < 1e-12);
    }
}

/// Returns the largest distance of a point of a stiff beam of 200 m and 600 kg, named `beam`, from
/// that of a rigid bar, during 600 s in an orbit, tilted out of its plane; and the point's
/// displacement, m.
pub fn beside_a_bar(beam: &str, [along, across]: [f64; 2], start: &str, place: [f64; 3]) -> [f64; 2] {
    let text = format!(
        "name = \"two\"\n[environment.orbit]\nsemi_major_axis = 7136636.0\neccentricity = 0.01\nmu = 3.986e14\nJ2 = 1.08262668e-3\n\
         [body.bar]\nmass = 600.0\nmass_centre = [100.0, 0.0, 0.0]\ninertia = [{along}, {across}, {across}]\n{start}\n{beam}\n\
         [frame.bar_tip]\nbody = \"bar\"\norigin = {place:?}\n[frame.beam_tip]\nbody = \"beam\"\norigin = {place:?}\n\
         [solver]\nmethod = \"radau5\"\n"
    );
    let mut run = Run::new(&text, 1e-10);
    let (mut worst, mut moved) = (0.0f64, 0.0f64);
    for k in 1..=10 {
        run.go(60.0 * f64::from(k));
        let [bar, beam] = ["bar_tip.r", "beam_tip.r"].map(|name| run.vector(name));
        worst = worst.larger((bar - beam).norm());
        moved = moved.larger(bar.norm());
    }
    println!("{worst:.1e} m apart after 600 s, {moved:.0} m away (3e-6)");
    [worst, moved]
}

/// A stiff beam in orbit, tilted out of the orbital plane, moves as a rigid bar of its mass with
/// little strain.
#[test]
fn stiff_ancf_beam_in_orbit_equals_a_rigid_bar() {
    let start = "start = { axes = \"lvlh\", position = [40.0, 30.0, -20.0], rpy_deg = [0.0, 25.0, 35.0] }";
    let beam =
        format!("[ancf_beam.beam]\nlength = 200.0\nelements = 2\nmass_per_length = 3.0\nEA = 1e10\nEI = 1e11\n{start}");
    let [worst, moved] = beside_a_bar(&beam, [1e-5, 2e6], start, [200.0, 0.0, 0.0]);
    // Without the net force of gravity on the second moment of mass, the tips would be 1e-4 m apart.
    // The bending of the beam, which the rigid bar lacks, remains: 11/80 ρω²L⁵/EI = 1.4e-6 m.
    assert!(worst < 3e-6 && moved > 1000.0);
}

/// Two free bodies connected by a grasp: the frequencies are `√(k (1/m₁ + 1/m₂))` and
/// `√(k_t (1/J₁ + 1/J₂))`, and momentum is conserved with any damping.
#[test]
fn grasp_is_a_spring_between_two_bodies() {
    let (k, k_t, m, J) = (900.0, 20.0, [2.0, 3.0], [0.4, 0.6]);
    let craft = |c: f64, c_t: f64, start: &str| {
        format!(
            "name = \"pair\"\n[body.one]\nmass = {}\ninertia = [{j0}, {j0}, {j0}]\n[body.two]\nmass = {}\ninertia = [{j1}, {j1}, {j1}]\nstart = {{ {start} }}\n\
             [grasp.grip]\na = \"one\"\nb = \"two\"\nstiffness = {k}\ndamping = {c}\nangular_stiffness = {k_t}\nangular_damping = {c_t}\n[solver]\nmethod = \"dop853\"\n",
            m[0],
            m[1],
            j0 = J[0],
            j1 = J[1],
        )
    };
    let mut run = Run::new(
        &craft(0.0, 0.0, "position = [0.01, 0.0, 0.0], rpy_deg = [0.0, 2.0, 0.0]"),
        1e-12,
    );
    let (w, w_t) = (
        (k * (1.0 / m[0] + 1.0 / m[1])).sqrt(),
        (k_t * (1.0 / J[0] + 1.0 / J[1])).sqrt(),
    );
    let mut worst = 0.0f64;
    for i in 1..=20 {
        let t = 0.05 * f64::from(i);
        run.go(t);
        let gap = run.value("two.r[1]") - run.value("one.r[1]");
        worst = worst.larger((gap - 0.01 * (w * t).cos()).abs() / 0.01);
        assert!((run.value("grip.distance") - gap.abs()).abs() < 1e-15);
        assert!((run.value("grip.force[1]") - k * gap).abs() < 1e-9);
        worst = worst
            .larger((run.value("grip.angle") - (2.0 / 180.0 * PI * (w_t * t).cos()).abs()).abs() / (2.0 / 180.0 * PI));
    }
    println!("two bodies on a spring: {worst:.1e} (1e-9)");
    assert!(worst < 1e-9);

    // General motion, with dampers; the grasp is released at half time.
    let start = "position = [0.05, -0.1, 0.02], rpy_deg = [20.0, -10.0, 15.0], velocity = [0.3, 0.1, -0.4], angular_velocity = [0.5, -0.7, 0.9]";
    let mut run = Run::new(&craft(8.0, 0.5, start), 1e-11);
    run.look();
    let (p, h) = (run.vector("system.momentum"), run.vector("system.angular_momentum"));
    let energy = run.value("system.energy");
    run.go(1.0);
    run.set("grip.on", 0.0);
    run.go(2.0);
    assert_eq!(run.vector("grip.force").norm(), 0.0);
    let drift = (run.vector("system.momentum") - p).norm() / p.norm();
    let turned = (run.vector("system.angular_momentum") - h).norm() / h.norm();
    let balance = (run.value("system.energy") - run.value("system.work") - energy).abs() / energy;
    println!("momentum {drift:.1e} {turned:.1e} (1e-11), energy {balance:.1e} (1e-9)");
    assert!(drift < 1e-11 && turned < 1e-11 && balance < 1e-9);
}

/// An ANCF beam in a stiff grasp is equivalent to a modal cantilever: each is on a heavy hub with
/// the same excitation.
#[test]
fn grasped_ancf_beam_bends_as_the_modal_link() {
    let hub = |name: &str, rest: &str| {
        format!(
            "[body.{name}]\nmass = 50000.0\ninertia = [4e6, 4e6, 4e6]\n{rest}\n[port.push_{name}]\nframe = \"{name}\"\n"
        )
    };
    let text = format!(
        "name = \"two\"\n{}{}\
         [body.link]\nbeam = {{ length = 100.0, mass_per_length = 30.0, EI = 9.545e7, polar_inertia_per_length = 1.0, bending = 6 }}\n\
         [joint.weld]\ntype = \"fixed\"\nparent = \"left\"\nchild = \"link\"\n\
         [ancf_beam.span]\n{MODULE}elements = 12\nstart = {{ position = [0.0, 500.0, 0.0] }}\n\
         [grasp.clamp]\na = \"right\"\nb = \"span\"\nstiffness = 1e9\ndamping = 1e5\nangular_stiffness = 1e12\nangular_damping = 1e8\n\
         [solver]\nmethod = \"radau5\"\n",
        hub("left", ""),
        hub("right", "start = { position = [0.0, 500.0, 0.0] }"),
    );
    let mut run = Run::new(&text, 1e-9);
    for name in ["left", "right"] {
        run.set(&format!("push_{name}.f[2]"), 4000.0);
        run.set(&format!("push_{name}.f[3]"), -1000.0);
    }
    let (mut worst, mut most) = (0.0f64, 0.0f64);
    for k in 1..=20 {
        run.go(f64::from(k));
        let [modal, nodal] = ["link", "span"].map(|name| run.vector(&format!("{name}.tip_deflection")));
        // Transverse axes differ by a rotation about the beam, since those of a link are fixed in
        // its hub: only magnitudes are compared.
        worst = worst.larger((modal.yz().norm() - nodal.yz().norm()).abs());
        most = most.larger(modal.norm());
    }
    println!("tips {:.1e} of their {most:.2} m apart (5e-4)", worst / most);
    // Errors: 1e-4 by the truncation after six modes; the spin of the booms is of second order.
    assert!(worst < 5e-4 * most && most > 0.1);
}

/// A rod in a grasp with six different stiffnesses and dampers on a rotating body; the axes of the
/// grasping frame are not the rod's.
const ON_A_HUB: &str = "name = \"two\"\n[body.hub]\nmass = 3.0\ninertia = [0.4, 0.6, 0.5]\nstart = { angular_velocity = [0.8, -0.5, 0.6], velocity = [0.1, 0.3, -0.2] }\n\
                [frame.hand]\nbody = \"hub\"\norigin = [0.2, 0.1, 0.0]\nrpy_deg = [20.0, -30.0, 10.0]\n\
                [ancf_beam.rod]\nlength = 1.5\nelements = 3\nmass_per_length = 0.4\nEA = 5e3\nEI = 2.0\nstart = { position = [0.25, 0.15, 0.05] }\n\
                [frame.middle]\nbody = \"rod\"\norigin = [0.6, 0.0, 0.0]\n\
                [grasp.grip]\na = \"hand\"\nb = \"middle\"\nstiffness = [400.0, 300.0, 200.0]\ndamping = [1.0, 2.0, 3.0]\nangular_stiffness = [5.0, 9.0, 14.0]\nangular_damping = [0.1, 0.3, 0.2]\n\
                [solver]\nmethod = \"dop853\"\n";

/// A beam in a grasp with different stiffnesses and dampers about the axes, on a rotating body:
/// without external loads momentum is conserved to round-off, energy minus the grasp's work to the
/// integration error, also after release. In `a` the axes are not the beam's.
#[test]
fn beam_in_a_grasp_conserves_momentum() {
    let mut run = Run::new(ON_A_HUB, 1e-11);
    run.look();
    let (p, h) = (run.vector("system.momentum"), run.vector("system.angular_momentum"));
    let energy = run.value("system.energy");
    let mut worst = [0.0f64; 3];
    for k in 1..=20 {
        if k == 15 {
            run.set("grip.on", 0.0);
        }
        run.go(0.1 * f64::from(k));
        let balance = run.value("system.energy") - run.value("system.work") - energy;
        worst[0] = worst[0].larger((run.vector("system.momentum") - p).norm() / p.norm());
        worst[1] = worst[1].larger((run.vector("system.angular_momentum") - h).norm() / h.norm());
        worst[2] = worst[2].larger(balance.abs() / energy);
    }
    println!(
        "momentum {:.1e} {:.1e} (1e-12), energy {:.1e} (1e-10)",
        worst[0], worst[1], worst[2]
    );
    // A hundred times round-off of a light spacecraft, and the energy error at a tolerance of
    // 1e-11.
    assert!(worst[0] < 3e-12 && worst[1] < 1e-12 && worst[2] < 1e-10);
}

/// A grasp is a load, available in every formulation.
#[test]
fn formulations_agree_on_a_grasp() {
    let text = "name = \"two\"\n[body.hub]\nmass = 3.0\ninertia = [0.4, 0.6, 0.5]\nstart = { angular_velocity = [0.8, -0.5, 0.6] }\n\
                [body.arm]\nmass = 1.0\ninertia = [0.1, 0.2, 0.3]\n[joint.elbow]\ntype = \"revolute\"\nparent = \"hub\"\nchild = \"arm\"\norigin = [0.5, 0.0, 0.0]\n\
                [body.load]\nmass = 2.0\ninertia = [0.3, 0.2, 0.4]\nstart = { position = [0.55, 0.02, -0.03], rpy_deg = [5.0, 10.0, -4.0] }\n\
                [grasp.grip]\na = \"arm\"\nb = \"load\"\nstiffness = 80.0\ndamping = 2.0\nangular_stiffness = [5.0, 9.0, 14.0]\n[solver]\nmethod = \"dop853\"\n";
    let end = |formulation| {
        let mut run = Run::of(crate::plant_in(formulation, text, Path::new(".")), 1e-12);
        run.go(2.0);
        run.vector("load.r")
    };
    let expected = end(Formulation::Recursive);
    for &formulation in &Formulation::ALL[1..] {
        let off = (end(formulation) - expected).norm();
        println!("{}: {off:.1e} m (5e-13)", formulation.name());
        // A hundred times the error at a tolerance of 1e-12.
        assert!(off < 5e-13);
    }
}

/// ANCF beams are independent of the bodies' formulation.
#[test]
fn formulations_agree_on_a_beam_in_a_grasp() {
    let end = |formulation| {
        let mut run = Run::of(crate::plant_in(formulation, ON_A_HUB, Path::new(".")), 1e-11);
        run.go(1.5);
        let nodes =
            (1..=4).flat_map(|k| ["r", "slope", "v", "slope_rate"].map(|field| format!("rod.node[{k}].{field}")));
        let names: Vec<String> = nodes.chain(["hub.r", "hub.v", "hub.w"].map(str::to_owned)).collect();
        names.iter().map(|name| run.vector(name)).collect::<Vec<_>>()
    };
    let expected = end(Formulation::Recursive);
    let others = Formulation::ALL.into_iter().skip(1);
    for formulation in others.filter(|formulation| formulation.has(Capability::AncfBeams)) {
        let off = expected.iter().zip(end(formulation)).map(|(a, b)| (a - b).norm());
        let off = off.fold(0.0, f64::larger);
        println!("{}: {off:.1e} (1e-8)", formulation.name());
        // The tolerance, times the rod's fastest axial mode of 1e3 rad/s over the run.
        assert!(off < 1e-8);
    }
}

/// Values set by the importer are validated like those of the spec: a zero quaternion or a zero
/// slope of a node is rejected.
#[test]
fn zero_quaternion_is_rejected() {
    let _section = messages::of_this_test();
    let mut plant = crate::plant(&format!("name = \"beam\"\n[ancf_beam.span]\n{MODULE}elements = 1\n"));
    for (name, value, field) in [
        ("span.q_start[1]", 0.0, "ancf_beam.span.start.attitude"),
        ("span.node[2].slope_start[1]", -1.0, "ancf_beam.span.start_nodes"),
    ] {
        let mut values = plant.parameters().to_vec();
        let place = plant.model().parameters.iter().position(|p| p.quantity.name == name);
        values[place.expect("a start")] = value;
        let Err(Error::Spec(problems)) = plant.set_parameters(&values) else {
            panic!("no direction");
        };
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].at.join("."), field);
        messages::record(&problems[0]);
    }
}

/// A beam that starts in the shape of a cantilever under its weight stays in equilibrium while its
/// hub has the corresponding acceleration; a straight beam follows the modal series of a
/// cantilever. Both in a stiff grasp and in a capture.
#[test]
fn beam_started_in_its_equilibrium_shape_stays_in_it() {
    let (L, EI, rho, g, n) = (10.0f64, 1e4, 2.0, 0.05, 4);
    // v = w x² (6 L² − 4 L x + x²)/24 EI, in −y, for a cantilever under the load w = ρA g.
    let load = rho * g;
    let nodes: Vec<String> = (0..=n)
        .map(|k| {
            let x = L * f64::from(k) / f64::from(n);
            let v = load * x * x * (6.0 * L * L - 4.0 * L * x + x * x) / (24.0 * EI);
            let slope = load * x * (3.0 * L * L - 3.0 * L * x + x * x) / (6.0 * EI);
            format!(
                "{{ displacement = [0.0, {}, 0.0], slope = [0.0, {}, 0.0] }}",
                -v, -slope
            )
        })
        .collect();
    // The hub is so heavy that the beam hardly moves it; it has the acceleration g along y. The
    // grasp's dampers suppress the grasp's own vibration at once.
    let clamp = "[grasp.clamp]\na = \"hub\"\nb = \"boom\"\nstiffness = 1e7\ndamping = 1e5\nangular_stiffness = 1e8\nangular_damping = 1e6\n";
    let capture = "[contact.clamp]\na = \"boom\"\nb = \"hub\"\nlaw = \"capture_grasp\"\n[signal.\"clamp.capture\"]\ntype = \"constant\"\namplitude = 1.0\nfrom_importer = false\n";
    let craft = |start: &str, hold: &str| {
        format!(
            "name = \"shaken\"\n[body.hub]\nmass = 1e8\ninertia = [1e10, 1e10, 1e10]\n[port.push]\nframe = \"hub\"\n[signal.\"push.f[2]\"]\ntype = \"constant\"\namplitude = {}\n\
             from_importer = false\n[ancf_beam.boom]\nlength = {L}\nelements = {n}\nmass_per_length = {rho}\nEA = 1e7\nEI = {EI}\n{start}\
             {hold}[solver]\nmethod = \"radau5\"\n",
            1e8 * g
        )
    };
    let static_tip = load * L.powi(4) / (8.0 * EI);
    // Contributions of a cantilever's first four modes to the tip deflection under a dead load, and
    // their (βL)².
    let modes = [
        (1.01339, 3.51602),
        (-0.01430, 22.0345),
        (0.00107, 61.6972),
        (-0.00020, 120.902),
    ];
    let series = |t: f64| -> f64 {
        let unit = (EI / rho).sqrt() / L.powi(2);
        modes
            .iter()
            .map(|(part, beta)| part * (1.0 - (beta * unit * t).cos()))
            .sum()
    };
    let furthest = |start: &str, hold: &str, expected: &dyn Fn(f64) -> f64| {
        let mut run = Run::new(&craft(start, hold), 1e-8);
        (0..=80).fold(0.0f64, |worst, k| {
            let t = 0.05 * f64::from(k);
            run.go(t);
            worst.larger((-run.value("boom.tip_deflection[2]") / static_tip - expected(t)).abs())
        })
    };
    let straight = [clamp, capture].map(|hold| furthest("", hold, &series));
    let bent = furthest(&format!("start_nodes = [{}]\n", nodes.join(", ")), clamp, &|_| 1.0);
    println!(
        "tip off the closed form, over its deflection at rest: bent {bent:.1e} (1e-3), straight {:.1e}, captured {:.1e} (1e-2)",
        straight[0], straight[1]
    );
    // Bent start: initially the clamp is not deformed, and its deformations wL/k and wL²/2k_t
    // change the tip by 1e-5 of the deflection; the error of linear theory is slope² ≈ 3e-6.
    // Straight start: four elements give the frequency of the second mode, whose share of the
    // deflection is 0.014, to 0.3 %, over the 10 periods of the run.
    assert!(bent < 1e-3 && straight.iter().all(|&off| off < 1e-2));
}
