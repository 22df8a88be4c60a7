//! Geometrically exact beams: closed forms of torsion, shear and bending, invariants of free
//! flight, agreement of the formulations and with the ANCF element.

use crate::elastic_line::{ElasticLine, Plane};
use crate::linearisation::at_start;
use crate::nodal::{beside_a_bar, elastica_tip};
use crate::numbers::{Larger, few, orders};
use crate::run::Run;
use grapple::algebra::{Dual, Mat3, Quaternion, Scalar, Vec3, Wrench, exp};
use grapple::nodal::{DirectorElement, Span};
use grapple::spec::Formulation;
use nalgebra::{DMatrix, DVector};
use std::f64::consts::{FRAC_PI_2, TAU};
use std::path::Path;

/// Number of load increments.
const STEPS: u32 = 100;

/// Returns positions and attitudes of the nodes of a clamped chain of `n` elements, of length 1 and
/// `EI = 1`, in equilibrium under a dead force and a moment (world axes) at its tip, by Newton's
/// method.
fn bent(n: usize, [EA, GA]: [f64; 2], load: Wrench<f64>) -> Vec<(Vec3<f64>, Quaternion<f64>)> {
    let element = DirectorElement {
        l: 1.0 / n as f64,
        stretch: Vec3::new(EA, GA, GA),
        bend: Vec3::new(0.8, 1.0, 1.0),
    };
    let along = |k: usize| (Vec3::x() * (element.l * k as f64), Quaternion::identity());
    let mut nodes: Vec<(Vec3<f64>, Quaternion<f64>)> = (0..=n).map(along).collect();
    for step in 1..=STEPS {
        let load = load.to_array().map(|part| part * f64::from(step) / f64::from(STEPS));
        // The increments in between are only starts.
        let enough = if step == STEPS { 1e-12 } else { 1e-3 };
        for _ in 0..40 {
            let (J, F) = slopes(&element, &nodes, &load);
            let change = J.lu().solve(&F).expect("it is held");
            for (k, (r, q)) in nodes.iter_mut().skip(1).enumerate() {
                let part = |i: usize| Vec3::from_fn(|axis, _| -change[6 * k + i + axis]);
                *q = (exp(part(0)) * *q).normalised();
                *r += part(3);
            }
            if change.norm() < enough {
                break;
            }
        }
    }
    nodes
}

/// Returns the forces on all nodes but the first, and their derivatives with respect to rotations
/// (world axes) and positions, computed element by element in its twelve directions.
fn slopes(
    element: &DirectorElement,
    nodes: &[(Vec3<f64>, Quaternion<f64>)],
    load: &[f64; 6],
) -> (DMatrix<f64>, DVector<f64>) {
    let n = 6 * (nodes.len() - 1);
    let (mut J, mut F) = (DMatrix::zeros(n, n), DVector::zeros(n));
    F.rows_mut(n - 6, 6).copy_from_slice(load);
    for (k, pair) in nodes.windows(2).enumerate() {
        for along in 0..12 {
            let moved: [(Vec3<Dual<1>>, Mat3<Dual<1>>); 2] = std::array::from_fn(|node| {
                let mut step = [Dual::<1>::lift(0.0); 6];
                if along / 6 == node {
                    step[along % 6].eps[0] = 1.0;
                }
                let turn = exp(Vec3::from_column_slice(&step[..3])) * pair[node].1.lift();
                let r = pair[node].0.map(Dual::lift) + Vec3::from_column_slice(&step[3..]);
                (r, turn.rotation())
            });
            let span = Span {
                r: moved[1].0 - moved[0].0,
                triads: moved.map(|(_, R)| R),
            };
            let on_b = element.wrench(&span, &element.stress(&element.strain(&span)));
            let on_a = Wrench::zero() - on_b.shift(&span.r);
            for (node, F_node) in [on_a, on_b].into_iter().enumerate().filter(|(node, _)| k + node > 0) {
                let row = 6 * (k + node - 1);
                for (i, part) in F_node.to_array().into_iter().enumerate() {
                    if along == 0 {
                        F[row + i] += part.value();
                    }
                    if k + along / 6 > 0 {
                        J[(row + i, 6 * (k + along / 6 - 1) + along % 6)] += part.eps[0];
                    }
                }
            }
        }
    }
    (J, F)
}

/// A moment `2πEI/L` at the tip bends a beam to a full circle, in either plane, with the order of
/// the element.
#[test]
fn moment_bends_a_geometrically_exact_beam_to_a_circle() {
    for axis in [Vec3::z(), Vec3::y()] {
        let open = |n: usize| {
            let nodes = bent(n, [1e4, 4e3], Wrench::new(axis * TAU, Vec3::zeros()));
            nodes[n].0.norm()
        };
        let off = [16, 32, 64].map(open);
        println!("open by {} of the length, orders {:.2?}", few(&off), orders(&off));
        // EI K = M with `K = sin θ/l`, and a lever cos θ: an element rotates too far by a relative
        // ⅔θ², and the circle is off by the same fraction of its length.
        let own = 2.0 / 3.0 * (TAU / 64.0).powi(2);
        assert!(orders(&off)[1] > 1.95 && (off[2] / own - 1.0).abs() < 0.1);
    }
}

/// Transverse tip force, `P L²/EI = 10`: the elastica of an extensible, shearable beam, from an
/// independent integration.
#[test]
fn force_bends_a_geometrically_exact_beam_to_the_elastica() {
    let (load, EA, GA) = (10.0, 1e4, 500.0);
    // θ″ = −(1 + Γ₁) N₂ + Γ₂ N₁ with N = P (sin θ, cos θ) along and across the beam.
    let [x, y] = elastica_tip(|s| {
        let (sine, cosine) = s[0].sin_cos();
        let (along, across) = (load * sine, load * cosine);
        let (stretched, sheared) = (1.0 + along / EA, across / GA);
        [
            s[1],
            sheared * along - stretched * across,
            stretched * cosine - sheared * sine,
            stretched * sine + sheared * cosine,
        ]
    });
    let off = [8, 16, 32].map(|n| {
        let nodes = bent(n, [EA, GA], Wrench::new(Vec3::zeros(), Vec3::y() * load));
        (nodes[n].0 - Vec3::new(x, y, 0.0)).norm()
    });
    println!(
        "tip at ({x:.6}, {y:.6}): off by {}, orders {:.2?}",
        few(&off),
        orders(&off)
    );
    // An element rotates by 0.14 rad near the root, and too far by a relative ⅔θ²: 1.3e-2 of 1.4
    // rad over a part of the length.
    assert!(orders(&off)[1] > 1.95 && off[2] < 3e-3);
}

/// Returns a clamped beam with six different stiffnesses.
fn cantilever(elements: usize) -> String {
    format!(
        "name = \"beam\"\n[body.boom.geometrically_exact_beam]\nlength = 3.0\nelements = {elements}\nmass_per_length = 0.7\npolar_inertia_per_length = 0.03\n\
         EA = 9e3\nGA_y = 400.0\nGA_z = 700.0\nGJ = 50.0\nEI_y = 60.0\nEI_z = 90.0\n\
         [joint.clamp]\ntype = \"fixed\"\nparent = \"world\"\nchild = \"boom\"\norientation = [0.5, 0.5, 0.5, 0.5]\n\
         [frame.tip]\nbody = \"boom\"\norigin = [3.0, 0.0, 0.0]\n[port.push]\nframe = \"tip\"\naxes = \"frame\"\n"
    )
}

/// Returns the undamped natural frequencies about rest, rad/s: `ẍ = −ω² x`.
fn frequencies(text: &str) -> Vec<f64> {
    let A = at_start(&mut crate::plant(text)).A;
    let half = A.nrows() / 2;
    let squares = A.view((half, 0), (half, half)).clone_owned().complex_eigenvalues();
    squares.iter().map(|square| (-square.re).max(0.0).sqrt()).collect()
}

/// Small tip forces and moments on a clamped beam: stretch and torsion as in the closed forms;
/// deflections and slopes of Timoshenko's beam, with a relative error of `1/4n²` of the bending due
/// to a force.
#[test]
fn clamped_geometrically_exact_beam_deflects_as_timoshenko() {
    let (L, EA, GJ, n) = (3.0f64, 9e3, 50.0, 6);
    let found = at_start(&mut crate::plant(&cantilever(n)));
    let rest = found.A.clone().lu().solve(&found.B).expect("it is held");
    let gain = &found.D - &found.C * rest;
    let of = |output: &str, input: &str| {
        let place = |all: &[grapple::system::Quantity], name: &str| {
            let at = all.iter().position(|quantity| quantity.name == name);
            at.unwrap_or_else(|| panic!("nothing is called {name}"))
        };
        gain[(place(&found.outputs, output), place(&found.inputs, input))]
    };
    let by_element = 1.0 - 0.25 / (n * n) as f64;
    let mut worst = 0.0f64;
    let mut check = |output: &str, input: &str, expected: f64| {
        worst = worst.larger((of(output, input) / expected - 1.0).abs());
    };
    check("boom.tip_deflection[1]", "push.f[1]", L / EA);
    check("boom.tip_turn[1]", "push.t[1]", L / GJ);
    for (y, z, EI, GA, sign) in [(2, 3, 90.0, 400.0, 1.0), (3, 2, 60.0, 700.0, -1.0)] {
        let deflection = format!("boom.tip_deflection[{y}]");
        let turn = format!("boom.tip_turn[{z}]");
        let (f, t) = (format!("push.f[{y}]"), format!("push.t[{z}]"));
        check(&deflection, &f, L.powi(3) / (3.0 * EI) * by_element + L / GA);
        check(&deflection, &t, sign * L * L / (2.0 * EI));
        check(&turn, &f, sign * L * L / (2.0 * EI));
        check(&turn, &t, L / EI);
    }
    println!("{worst:.1e} (1e-12)");
    // Round-off of about 70 equations.
    assert!(worst < 1e-12);
}

/// The torsional frequencies of a clamped beam are `(2/l) √(GJ/j) sin((2k − 1)π/4n)`, with the
/// limit `(2k − 1)π/2L √(GJ/j)`.
#[test]
fn clamped_geometrically_exact_beam_has_its_torsional_frequencies() {
    let (L, GJ, j) = (3.0, 50.0f64, 0.03);
    let c = (GJ / j).sqrt();
    let off = [4, 8, 16].map(|n: usize| {
        let found = frequencies(&cantilever(n));
        let nearest = |w: f64| found.iter().map(|f| (f / w - 1.0).abs()).fold(f64::INFINITY, f64::min);
        let discrete = 2.0 * n as f64 / L * c * (FRAC_PI_2 / (2 * n) as f64).sin();
        println!("{n} elements: {:.1e} off the element's own (1e-10)", nearest(discrete));
        assert!(nearest(discrete) < 1e-10);
        (discrete / (FRAC_PI_2 / L * c) - 1.0).abs()
    });
    println!("off by {}, orders {:.2?}", few(&off), orders(&off));
    assert!(orders(&off)[1] > 1.95);
}

/// The frequencies of a slender free beam are `(βL)² √(EI/ρAL⁴)`, cos βL cosh βL = 1: the inertia
/// of the bars compensates the excess stiffness, so that the relative error is `(βl)⁴/1440`, from
/// below (of cubic elements from above).
#[test]
fn free_geometrically_exact_beam_has_its_bending_frequencies() {
    let off = |n: usize| {
        let text = format!(
            "name = \"beam\"\n[body.rod.geometrically_exact_beam]\nlength = 1.0\nelements = {n}\nmass_per_length = 1.0\npolar_inertia_per_length = 1e-9\n\
             EA = 1e4\nGA = 1e8\nGJ = 1.0\nEI = 1.0\n"
        );
        let found = frequencies(&text);
        [4.730_040_744_862_704f64, 7.853_204_624_095_838].map(|root| {
            let misses = found.iter().map(|w| (w / (root * root) - 1.0).abs());
            misses.fold(f64::INFINITY, f64::min)
        })
    };
    let off = [8, 16].map(off);
    for (mode, root) in [4.730_040f64, 7.853_204].into_iter().enumerate() {
        let off = off.map(|off| off[mode]);
        let own = off[1] / ((root / 16.0).powi(4) / 1440.0);
        println!(
            "mode {}: off by {}, orders {:.2?}; {own:.2} of (βl)⁴/1440",
            mode + 1,
            few(&off),
            orders(&off)
        );
        // The next term is of relative order (βl)², and shear contributes 1e-7.
        assert!(orders(&off)[0] > 3.6 && (own - 1.0).abs() < 0.1);
    }
}

/// A short free beam whose sections have an inertia that is not in proportion to `EI`.
const SHORT: ElasticLine = ElasticLine {
    length: 1.0,
    mass_per_length: 2.0,
    inertia: Vec3::new(0.0272, 0.02, 0.0072),
    stretch: Vec3::new(5e3, 900.0, 700.0),
    bend: Vec3::new(6.0, 9.0, 20.0),
    curvature: Vec3::new(0.0, 0.0, 0.0),
};

/// The frequencies of a short free beam are those of Timoshenko's equations with the rotary inertia
/// of the spec in each plane, with the element's order; without own numbers the rotary inertia is
/// `polar_inertia_per_length` in proportion to `EI`.
#[test]
fn rotary_inertia_of_sections_lowers_the_frequencies_as_timoshenko() {
    let text = |n: usize, inertia: &str| {
        format!(
            "name = \"beam\"\n[body.rod.geometrically_exact_beam]\nlength = 1.0\nelements = {n}\nmass_per_length = 2.0\n{inertia}\n\
             EA = 5e3\nGA_y = 900.0\nGA_z = 700.0\nGJ = 6.0\nEI_y = 9.0\nEI_z = 20.0\n"
        )
    };
    let nearest = |found: &[f64], w: f64| found.iter().map(|f| (f / w - 1.0).abs()).fold(f64::INFINITY, f64::min);
    let slender = ElasticLine {
        inertia: Vec3::new(0.0272, 1e-9, 1e-9),
        ..SHORT
    };
    let own = "inertia_y_per_length = 0.02\ninertia_z_per_length = 0.0072";
    let found = [8, 16, 32].map(|n| frequencies(&text(n, own)));
    for plane in [Plane::In, Plane::Out] {
        // The first is bending in both planes.
        let exact = SHORT.frequencies(2, (5.0, 1.0), plane);
        let lower = 1.0 - exact[0] / slender.frequencies(1, (5.0, 1.0), plane)[0];
        for w in &exact {
            let off = [0, 1, 2].map(|k| nearest(&found[k], *w));
            println!(
                "{plane:?} {w:.4} rad/s: off by {}, orders {:.2?}; the first is {:.1} % lower by the rotary inertia",
                few(&off),
                orders(&off),
                100.0 * lower
            );
            assert!(orders(&off)[1] > 1.95 && off[2] < 2e-3 && lower > 0.03);
        }
    }
    // In proportion to `EI` the same numbers result from the polar inertia.
    let [y, z] = [9.0, 20.0].map(|EI| 0.0272 * EI / 29.0);
    let split = format!("inertia_y_per_length = {y:?}\ninertia_z_per_length = {z:?}");
    let polar = frequencies(&text(4, "polar_inertia_per_length = 0.0272"));
    let worst = frequencies(&text(4, &split))
        .into_iter()
        .filter(|w| *w > 1.0)
        .map(|w| nearest(&polar, w))
        .fold(0.0, f64::larger);
    println!("split {worst:.1e} (1e-9)");
    assert!(worst < 1e-9);
}

/// A soft free beam after a tip force and moment, with large bending, torsion and shear: the
/// momenta and energy given by the load are conserved to the integration error.
#[test]
fn free_geometrically_exact_beam_conserves_momentum_and_energy() {
    let text = "name = \"beam\"\n[body.whip]\nstart = { position = [3.0, -1.0, 2.0], angular_velocity = [0.0, 0.5, 2.0], velocity = [0.4, 0.1, -0.2] }\n\
         [body.whip.geometrically_exact_beam]\nlength = 2.0\nelements = 8\nmass_per_length = 0.5\npolar_inertia_per_length = 1e-3\nEA = 2e3\nGA_y = 300.0\nGA_z = 500.0\nGJ = 0.4\nEI_y = 0.9\nEI_z = 1.5\n\
         [frame.tip]\nbody = \"whip\"\norigin = [2.0, 0.0, 0.0]\n[port.throw]\nframe = \"tip\"\n[solver]\nmethod = \"dop853\"\n";
    let mut run = Run::new(text, 1e-12);
    run.look();
    // Initially a straight bar: momentum, and angular momentum about its midpoint, in body axes.
    let p_0 = run.vector("system.momentum");
    let expected = Vec3::new(0.4, 0.1, -0.2) + Vec3::new(0.0, 0.5, 2.0).cross(&Vec3::x());
    assert!((p_0 - expected).norm() < 1e-15);
    let across = 1.0 / 3.0;
    let h = Vec3::new(0.0, (across + 2e-3 * 0.375) * 0.5, (across + 2e-3 * 0.625) * 2.0);
    assert!((run.vector("system.angular_momentum") - h).norm() < 1e-15);
    let balance = run.value("system.energy") - run.value("system.work");
    let f = Vec3::new(-1.0, 2.0, 1.5);
    for i in 0..3 {
        run.set(&format!("throw.f[{}]", i + 1), f[i]);
        run.set(&format!("throw.t[{}]", i + 1), 0.01 * f[i]);
    }
    run.go(0.4);
    let given = run.vector("system.momentum") - p_0;
    for part in ["f", "t"] {
        (0..3).for_each(|i| run.set(&format!("throw.{part}[{}]", i + 1), 0.0));
    }
    let (p, h) = (run.vector("system.momentum"), run.vector("system.angular_momentum"));
    let (mut bent, mut twisted) = (0.0f64, 0.0f64);
    for k in 1..=20 {
        run.go(0.4 + 0.1 * f64::from(k));
        bent = bent.larger(run.vector("whip.tip_deflection").norm());
        twisted = twisted.larger(run.value("whip.tip_turn[1]").abs());
    }
    let drift = (run.vector("system.momentum") - p).norm() / p.norm();
    let turned = (run.vector("system.angular_momentum") - h).norm() / h.norm();
    let energy =
        (run.value("system.energy") - run.value("system.work") - balance).abs() / run.value("system.kinetic_energy");
    println!(
        "given {:.1e} (1e-10); tip off by {bent:.2} m of 2 m, twisted by {twisted:.2} rad; momentum {drift:.1e} {turned:.1e} (1e-10), energy {energy:.1e} (1e-10)",
        (given - f * 0.4).norm()
    );
    // Integration tolerance: in relative node coordinates all three are nonlinear in the states.
    assert!((given - f * 0.4).norm() < 1e-10 && (0.5..2.0).contains(&bent) && twisted > 0.2);
    assert!(drift < 1e-10 && turned < 1e-10 && energy < 1e-10);
}

/// A beam on a rotating hub, with different stiffnesses in all directions, a jointed load at its
/// tip, and a frame between its nodes.
const ON_A_HUB: &str = "name = \"craft\"\n[body.hub]\nmass = 3.0\ninertia = [0.4, 0.6, 0.5]\nstart = { angular_velocity = [0.8, -0.5, 0.6], velocity = [0.1, 0.3, -0.2] }\n\
    [joint.root]\ntype = \"revolute\"\nparent = \"hub\"\nchild = \"boom\"\norigin = [0.2, 0.1, 0.0]\nrpy_deg = [20.0, -30.0, 10.0]\nstart = { rate = 0.7 }\n\
    [joint.root.spring]\nstiffness = 4.0\n\
    [body.boom.geometrically_exact_beam]\nlength = 1.5\nelements = 3\nmass_per_length = 0.4\npolar_inertia_per_length = 2e-3\nEA = 500.0\nGA_y = 80.0\nGA_z = 120.0\nGJ = 0.9\nEI_y = 1.2\nEI_z = 2.0\ndamping_time = 0.01\n\
    [body.load]\nmass = 0.5\ninertia = [0.02, 0.03, 0.04]\n[joint.tip]\ntype = \"spherical\"\nparent = \"boom\"\nchild = \"load\"\norigin = [1.6, 0.05, 0.0]\n\
    [frame.middle]\nbody = \"boom\"\norigin = [0.8, 0.1, -0.05]\n[solver]\nmethod = \"dop853\"\n";

/// Elements are loads between bodies, available in every formulation.
#[test]
fn formulations_agree_on_a_geometrically_exact_beam() {
    let end = |formulation| {
        let mut run = Run::of(crate::plant_in(formulation, ON_A_HUB, Path::new(".")), 1e-12);
        run.go(1.0);
        let nodes = (2..=4).flat_map(|k| ["r", "v", "w"].map(|field| format!("boom.node[{k}].{field}")));
        let others = [
            "boom.r",
            "boom.w",
            "load.r",
            "load.w",
            "hub.r",
            "hub.w",
            "middle.r",
            "boom.tip_deflection",
        ];
        let names: Vec<String> = nodes.chain(others.map(str::to_owned)).collect();
        names.iter().map(|name| run.vector(name)).collect::<Vec<_>>()
    };
    let expected = end(Formulation::Recursive);
    for &formulation in &Formulation::ALL[1..] {
        let off = expected.iter().zip(end(formulation)).map(|(a, b)| (a - b).norm());
        let off = off.fold(0.0, f64::larger);
        println!("{}: {off:.1e} (3e-11)", formulation.name());
        // A hundred times the error at a tolerance of 1e-12; the bound from the tolerance and the
        // fastest shear wave of 1e2 rad/s is 1e-10.
        assert!(off < 3e-11);
    }
}

/// A beam on a hub conserves momentum; the energy loss in its dampers is the work.
#[test]
fn geometrically_exact_beam_on_a_hub_conserves_momentum() {
    let mut run = Run::new(ON_A_HUB, 1e-12);
    run.look();
    let (p, h) = (run.vector("system.momentum"), run.vector("system.angular_momentum"));
    let energy = run.value("system.energy");
    run.go(2.0);
    let drift = (run.vector("system.momentum") - p).norm() / p.norm();
    let turned = (run.vector("system.angular_momentum") - h).norm() / h.norm();
    let work = run.value("system.work");
    let balance = (run.value("system.energy") - work - energy).abs() / energy;
    println!(
        "momentum {drift:.1e} {turned:.1e} (1e-10), energy {balance:.1e} (1e-10), work {work:.4} J of {energy:.2} J"
    );
    assert!(drift < 1e-10 && turned < 1e-10 && balance < 1e-10 && work < -1e-3 * energy);
}

/// Without damping a free vibration persists; with damping its ratio is `ωτ/2`.
#[test]
fn damping_ratio_is_proportional_to_the_frequency() {
    let time = 1e-3;
    let text = cantilever(4).replace("EI_z = 90.0\n", &format!("EI_z = 90.0\ndamping_time = {time}\n"));
    let A = at_start(&mut crate::plant(&text)).A;
    let mut worst = 0.0f64;
    let mut count = 0;
    for value in A.complex_eigenvalues().iter().filter(|value| value.im > 1e-3) {
        let w = value.norm_sqr().sqrt();
        worst = worst.larger((-value.re / w - 0.5 * w * time).abs() / (0.5 * w * time));
        count += 1;
    }
    println!("{count} damping ratios: {worst:.1e} (1e-9)");
    assert!(worst < 1e-9 && count == 24);
}

/// In the same planar flight a shear-stiff geometrically exact beam converges to the ANCF element.
#[test]
fn geometrically_exact_beam_converges_to_the_ancf_beam() {
    let beam = "length = 2.0\nmass_per_length = 0.5\nEA = 1e4\n";
    let start = "{ angular_velocity = [0.0, 0.0, 0.5], velocity = [0.4, 0.1, 0.0] }";
    let frame = "[frame.tip]\nbody = \"whip\"\norigin = [2.0, 0.0, 0.0]\n[port.throw]\nframe = \"tip\"\n[signal.\"throw.f[2]\"]\ntype = \"sine\"\namplitude = 0.6\nfrequency = 0.5\nfrom_importer = false\n[solver]\nmethod = \"dop853\"\n";
    let fly = |text: &str| {
        let mut run = Run::new(text, 1e-8);
        run.go(1.0);
        (run.vector("tip.r"), run.vector("whip.tip_deflection").norm())
    };
    let (expected, _) = fly(&format!(
        "name = \"cable\"\n[ancf_beam.whip]\n{beam}EI = 0.3\nelements = 20\ncurvature = \"exact\"\nstart = {start}\n{frame}"
    ));
    let off = [8, 16, 32].map(|elements| {
        let (tip, bent) = fly(&format!(
            "name = \"director\"\n[body.whip]\nstart = {start}\n[body.whip.geometrically_exact_beam]\n{beam}elements = {elements}\npolar_inertia_per_length = 1e-6\nGA = 1e4\nGJ = 0.3\nEI = 0.3\n{frame}"
        ));
        assert!(bent > 0.2, "{bent}");
        println!("{elements} elements, bent by {bent:.2} m");
        (tip - expected).norm()
    });
    println!("tips off by {} m, orders {:.2?}", few(&off), orders(&off));
    // Second order; axial waves and short bending waves, excited because the force is not smooth
    // enough, are of the next order.
    assert!(off[2] < 1e-3 && orders(&off)[0] > 1.8 && orders(&off)[1] > 1.8);
}

/// A stiff beam in orbit, tilted out of the orbital plane, moves as a rigid bar of its mass.
#[test]
fn stiff_geometrically_exact_beam_in_orbit_equals_a_rigid_bar() {
    let polar = 2.0;
    let across = 600.0 * 200.0 * 200.0 / 12.0 + 0.5 * polar * 200.0;
    let start = "start = { axes = \"lvlh\", position = [40.0, 30.0, -20.0], rpy_deg = [0.0, 25.0, 35.0], angular_velocity = [0.002, 0.0, 0.001] }";
    let beam = format!(
        "[body.beam]\n{start}\n[body.beam.geometrically_exact_beam]\nlength = 200.0\nelements = 2\nmass_per_length = 3.0\npolar_inertia_per_length = {polar}\n\
         EA = 1e10\nGA = 1e10\nGJ = 1e10\nEI = 1e11"
    );
    let [worst, moved] = beside_a_bar(&beam, [polar * 200.0, across], start, [200.0, 3.0, 0.0]);
    // The gravity due to the second moment of mass alone moves it by 1e-4 m; its own bending is
    // about 11/80 ρω²L⁵/EI = 1.4e-6 m.
    assert!(worst < 3e-6 && moved > 1000.0);
}

/// All numbers are parameters: values set by the importer have the same effect as those of the
/// spec.
#[test]
fn values_of_a_geometrically_exact_beam_are_parameters() {
    let (one, other) = (
        cantilever(4),
        cantilever(4)
            .replace("length = 3.0", "length = 2.4")
            .replace("GA_y = 400.0", "GA_y = 90.0"),
    );
    let mut plant = crate::plant(&one);
    let mut values = plant.parameters().to_vec();
    for (name, value) in [("boom.length", 2.4), ("boom.GA_y", 90.0)] {
        let place = plant.model().parameters.iter().position(|p| p.quantity.name == name);
        values[place.expect("a parameter")] = value;
    }
    plant.set_parameters(&values).expect("good numbers");
    let shape = |plant| {
        let mut run = Run::of(plant, 1e-10);
        run.set("push.f[2]", 3.0);
        run.go(0.3);
        (run.vector("boom.tip_deflection"), run.vector("boom.node[5].r"))
    };
    let (set, written) = (shape(plant), shape(crate::plant(&other)));
    assert!((set.0 - written.0).norm() < 1e-15 && set.0.norm() > 0.01);
    // The frame at 3.0 m, on which the force acts, keeps its position: its offset from the node
    // grows.
    assert!((set.1 - written.1).norm() < 1e-15);
}
