//! Impedance of the tool: virtual inertia under forces and torques, contacts with a wall and with a
//! free target, in closed form.

use super::{DRIVEN, FED, arm, error, joints, left, run_in, waypoint};
use crate::numbers::Larger;
use crate::run::Run;
use grapple::algebra::{Quaternion, Vec3};
use grapple::spec::Formulation;
use nalgebra::{Matrix4, Vector4};

/// Gains of [`joints`], 1/s.
const GAINS: [f64; 2] = [2.0, 10.0];
/// Virtual mass, kg, and stiffness of contacts, N/m.
const M: f64 = 20.0;
const K_CONTACT: f64 = 2e4;
/// Outward normal of the wall and of the target, world axes.
const NORMAL: [f64; 3] = [-0.6, 0.0, 0.8];

pub fn normal() -> Vec3<f64> {
    Vec3::from(NORMAL)
}

/// Returns damping and stiffness of the virtual mass.
fn virtual_law() -> [f64; 2] {
    let [kp, kd] = GAINS;
    [M * (kp + kd), M * kp * kd]
}

/// Returns [`arm`] on a base that floats, or is fixed, with the tip at the world's origin; and the
/// attitude of the tip.
pub fn arm_at_origin(actuator: &str, is_fixed: bool) -> (String, Quaternion<f64>) {
    let start = "start = { attitude = [0.8, 0.36, -0.48, 0.0], position = [0.3, -0.2, 0.5] }";
    let text = arm(actuator);
    assert!(text.contains(start));
    let at = |p: Vec3<f64>| {
        let p = p.as_slice();
        if is_fixed {
            let mount =
                format!("[joint.mount]\ntype = \"fixed\"\nparent = \"world\"\nchild = \"base\"\norigin = {p:?}\n");
            text.replace(start, "") + &mount
        } else {
            text.replace(
                start,
                &format!("start = {{ attitude = [0.8, 0.36, -0.48, 0.0], position = {p:?} }}"),
            )
        }
    };
    let tip = |text: &str| {
        let run = run_in(Formulation::Recursive, text, 1e-9);
        (run.vector("tip.r"), run.attitude("tip"))
    };
    let (r, q) = tip(&at(Vec3::zeros()));
    let text = at(-r);
    assert!(tip(&text).0.norm() < 1e-14);
    (text, q)
}

/// Returns a contact of the tip with a plane through the origin of a body, frictionless and linear.
pub fn touch(b: &str) -> String {
    format!(
        "[contact.touch]\na = \"tip\"\nb = \"{b}\"\nsurface = \"plane\"\nnormal = {NORMAL:?}\nlaw = \"compliant\"\n\
         force = {K_CONTACT:?}\ndepth = 1.0\nexponent = 1\n"
    )
}

/// Returns the task that holds the tip at a pose with the virtual mass, and measures the contact.
pub fn held(relative_to: &str, r: Vec3<f64>, q: Quaternion<f64>) -> String {
    format!(
        "[task.reach]\nframe = \"tip\"\nrelative_to = \"{relative_to}\"\n{}mass = {M:?}\ncontacts = [\"touch\"]\n{}",
        joints(),
        waypoint(0.0, r, q)
    )
}

/// A constant force along fixed axes, and a constant torque about an axis of the tip, move the tip
/// of a free-floating arm as virtual inertias, different for each axis: `(F/K)(1 − left(t))` with
/// `K = M kp kd`. Components without virtual inertia stay. Tolerance: that of the integration.
#[test]
fn frame_yields_to_force_and_torque_as_its_virtual_inertia() {
    let (mass, inertia, axis) = ([30.0, 50.0, 80.0], 4.0, Vec3::new(0.48, 0.64, 0.6));
    let port = "[port.push]\nframe = \"tip\"\n";
    for actuator in [DRIVEN, FED] {
        for is_force in [true, false] {
            let (text, q) = arm_at_origin(actuator, false);
            let yields = match is_force {
                true => format!("mass = {mass:?}\n"),
                false => format!("inertia = {inertia:?}\n"),
            };
            let task = format!(
                "[task.reach]\nframe = \"tip\"\nports = [\"push\"]\n{}{yields}{}",
                joints(),
                waypoint(0.0, Vec3::zeros(), q)
            );
            let mut run = run_in(Formulation::Recursive, &(text + port + &task), 1e-12);
            let load = match is_force {
                true => Vec3::new(3.0, -2.0, 4.0),
                false => q.rotate(axis) * 3.0,
            };
            let kind = if is_force { "f" } else { "t" };
            (0..3).for_each(|i| run.set(&format!("push.{kind}[{}]", i + 1), load[i]));
            let stiffness = GAINS[0] * GAINS[1];
            let mut worst = 0.0f64;
            for t in [0.1, 0.3, 0.8, 1.5] {
                run.go(t);
                let found = |first: usize| Vec3::from_fn(|i, _| run.value(&format!("reach.error[{}]", first + i)));
                let at = |inertia: f64| -(1.0 - left(t)) / (inertia * stiffness);
                let expected = match is_force {
                    true => [Vec3::from_fn(|i, _| load[i] * at(mass[i])), Vec3::zeros()],
                    false => [Vec3::zeros(), load * at(inertia)],
                };
                worst = worst.larger((found(1) - expected[0]).norm() + (found(4) - expected[1]).norm());
                assert_eq!(run.value("reach.applied_damping"), 0.0);
            }
            println!("{kind}: off by {worst:.1e}");
            assert!(worst < 1e-10, "{kind}: {worst:e}");
        }
    }
}

/// With a damping ratio ζ below one, a virtual mass and a virtual inertia vibrate after a step of
/// force and torque as `(F/K)(1 − exp(−ζωt)(cos ω_d t + ζω/ω_d sin ω_d t))`, with `ω² = kp kd`; above
/// one they creep. A component without virtual inertia has the gains of the task. Tolerance: that
/// of the integration.
#[test]
fn virtual_damper_has_the_given_damping_ratio() {
    let w = (GAINS[0] * GAINS[1]).sqrt();
    for ratio in [0.2, 0.7, 2.5] {
        for (kind, inertia, component) in [("f", 40.0, 1), ("t", 5.0, 4)] {
            let (text, q) = arm_at_origin(DRIVEN, false);
            let field = if kind == "f" { "mass" } else { "inertia" };
            let task = format!(
                "[port.push]\nframe = \"tip\"\n[task.reach]\nframe = \"tip\"\nports = [\"push\"]\n{}{field} = {inertia:?}\n\
                 damping_ratio = {ratio:?}\n{}",
                joints(),
                waypoint(0.0, Vec3::zeros(), q)
            );
            let mut run = run_in(Formulation::Recursive, &(text + &task), 1e-12);
            let load = match kind {
                "f" => Vec3::new(3.0, -2.0, 4.0),
                _ => q.rotate(Vec3::new(0.48, 0.64, 0.6)) * 3.0,
            };
            (0..3).for_each(|i| run.set(&format!("push.{kind}[{}]", i + 1), load[i]));
            let (mut worst, mut most) = (0.0f64, 0.0f64);
            for k in 1..=20 {
                let t = 0.1 * f64::from(k);
                run.go(t);
                let left = if ratio < 1.0 {
                    let (s, w_d) = (ratio * w, w * (1.0 - ratio * ratio).sqrt());
                    (-s * t).exp() * ((w_d * t).cos() + s / w_d * (w_d * t).sin())
                } else {
                    let [a, b] = [-1.0, 1.0].map(|sign: f64| w * (ratio + sign * (ratio * ratio - 1.0).sqrt()));
                    (b * (-a * t).exp() - a * (-b * t).exp()) / (b - a)
                };
                let found = |first: usize| Vec3::from_fn(|i, _| run.value(&format!("reach.error[{}]", first + i)));
                let expected = -load * ((1.0 - left) / (inertia * w * w));
                worst = worst.larger((found(component) - expected).norm() + found(5 - component).norm());
                most = most.larger(1.0 - left);
                assert_eq!(run.value("reach.applied_damping"), 0.0);
            }
            println!("{kind}, {ratio}: overshoot {:.3}, off by {worst:.1e}", most - 1.0);
            assert!(worst < 1e-10 && (most > 1.0) == (ratio < 1.0), "{worst:e}");
        }
    }
}

/// Returns the penetration and its rate at the time `t` (s), of a virtual mass that is drawn to the
/// depth `d` (m) behind the surface of an immovable wall, from rest at the surface.
fn pressed(d: f64, t: f64) -> [f64; 2] {
    let [D, K] = virtual_law();
    let (s, w_2) = (0.5 * D / M, (K + K_CONTACT) / M);
    let w = (w_2 - s * s).sqrt();
    let (sin, cos) = (w * t).sin_cos();
    let end = K * d / (K + K_CONTACT);
    [
        end * (1.0 - (-s * t).exp() * (cos + s / w * sin)),
        end * (-s * t).exp() * (w_2 / w) * sin,
    ]
}

/// The tool is drawn to a point behind a compliant wall: `M p̈ + D ṗ + (K + k) p = K d`, in steady
/// state `p = K d/(K + k)`. Bases float or are fixed, joints have drives or motors. Tolerance: that
/// of the integration.
#[test]
fn tool_presses_on_a_wall_as_the_virtual_mass() {
    let d = 0.02;
    for is_fixed in [false, true] {
        for actuator in [DRIVEN, FED] {
            let (text, q) = arm_at_origin(actuator, is_fixed);
            let text = text + &touch("world") + &held("world", normal() * -d, q);
            let mut run = run_in(Formulation::Recursive, &text, 1e-12);
            let mut off = [0.0f64; 3];
            for t in [0.02, 0.1, 0.2, 0.4, 0.8, 1.2] {
                run.go(t);
                let [p, rate] = pressed(d, t);
                let force = normal() * (p * K_CONTACT);
                off[0] = off[0].larger((run.vector("tip.r") + normal() * p).norm());
                off[1] = off[1].larger((run.vector("tip.v") + normal() * rate).norm());
                off[2] = off[2].larger((run.vector("touch.force") - force).norm());
                assert_eq!(run.value("reach.applied_damping"), 0.0);
            }
            let [_, K] = virtual_law();
            let end = K * d / (K + K_CONTACT);
            let [p, _] = pressed(d, 1.2);
            let [r, v, force] = off;
            println!("off by {r:.1e} m, {v:.1e} m/s, {force:.1e} N; at the end {p:.3e} of {end:.3e} m");
            assert!(off[0] < 1e-10 && off[1] < 1e-9 && off[2] < 1e-6, "{off:?}");
        }
    }
}

/// Returns a target with its origin at the world's, of the mass `m`, at the velocity `v` along the
/// normal.
fn target(m: f64, v: f64) -> String {
    format!(
        "[body.target]\nmass = {m:?}\ninertia = [2.0, 3.0, 4.0]\nstart = {{ velocity = {:?} }}\n",
        (normal() * v).as_slice()
    )
}

/// Returns the exponential of a matrix with a norm of about one.
fn exponential(matrix: Matrix4<f64>) -> Matrix4<f64> {
    let (mut sum, mut term) = (Matrix4::identity(), Matrix4::identity());
    for k in 1..30 {
        term = term * matrix / f64::from(k);
        sum += term;
    }
    sum
}

/// A free target touches the tool: the virtual mass and the target are a system of two masses with
/// a contact spring, `M ẍ + D ẋ + K x = k (s − x)` and `m s̈ = −k (s − x)`. Its energy falls by the
/// work of the virtual damper. Tolerances: those of the integration, and of Simpson's rule.
#[test]
fn free_target_and_tool_are_a_system_of_two_masses() {
    let (m, v) = (30.0, 0.05);
    let [D, K] = virtual_law();
    for is_fixed in [false, true] {
        for actuator in [DRIVEN, FED] {
            let (text, q) = arm_at_origin(actuator, is_fixed);
            let text = text + &touch("target") + &target(m, v) + &held("world", Vec3::zeros(), q);
            let mut run = run_in(Formulation::Recursive, &text, 1e-12);
            #[rustfmt::skip]
            let matrix = Matrix4::new(
                0.0, 1.0, 0.0, 0.0,
                -(K + K_CONTACT) / M, -D / M, K_CONTACT / M, 0.0,
                0.0, 0.0, 0.0, 1.0,
                K_CONTACT / m, 0.0, -K_CONTACT / m, 0.0,
            );
            let energy = |y: &Vector4<f64>| {
                0.5 * (M * y[1] * y[1] + K * y[0] * y[0] + m * y[3] * y[3] + K_CONTACT * (y[2] - y[0]).powi(2))
            };
            let (mut worst, mut power) = (0.0f64, vec![0.0]);
            let (step, mut last) = (0.001, Vector4::zeros());
            let of_step = exponential(matrix * step);
            let mut exact = Vector4::new(0.0, 0.0, 0.0, v);
            for k in 1..=80 {
                let t = step * f64::from(k);
                run.go(t);
                let along = |name: &str| run.vector(name).dot(&normal());
                last = Vector4::new(along("tip.r"), along("tip.v"), along("target.r"), along("target.v"));
                exact = of_step * exact;
                assert!(exact[2] > exact[0] && energy(&last) < 0.5 * m * v * v, "t = {t} s");
                worst = worst.larger((last - exact).amax());
                power.push(D * last[1] * last[1]);
            }
            let ends = power[0] + power[80];
            let inner: f64 = (1..80).map(|k| power[k] * if k % 2 == 1 { 4.0 } else { 2.0 }).sum();
            let lost = (ends + inner) * step / 3.0;
            let balance = (energy(&last) + lost) / (0.5 * m * v * v) - 1.0;
            println!(
                "off by {worst:.1e}, damper {:.2} of the energy, balance {balance:.1e}",
                lost / (0.5 * m * v * v)
            );
            assert!(worst < 1e-10 && balance.abs() < 1e-5, "{worst:e}, {balance:e}");
        }
    }
}

/// Without virtual stiffness and damping the contact of tool and free target lasts `π √(μ/k)` with
/// the reduced mass `μ = M m/(M + m)`, the largest force is `v √(k μ)`, and the velocities
/// afterwards are those of an elastic impact of `M` and `m`: the arm's inertia has no
/// effect. Tolerance: that of the integration, and of the gains of 1e-9/s.
#[test]
fn contact_of_a_virtual_mass_has_the_duration_of_the_reduced_mass() {
    let (m, v) = (30.0, 0.05);
    let reduced = M * m / (M + m);
    let duration = std::f64::consts::PI * (reduced / K_CONTACT).sqrt();
    for (actuator, is_fixed) in [(DRIVEN, false), (FED, false), (DRIVEN, true)] {
        let (text, q) = arm_at_origin(actuator, is_fixed);
        let task = held("world", Vec3::zeros(), q).replace("kp = 2.0\nkd = 10.0", "kp = 1e-9\nkd = 1e-9");
        let text = text + &touch("target") + &target(m, v) + &task;
        let mut run = run_in(Formulation::Recursive, &text, 1e-12);
        run.go(0.5 * duration);
        let force = run.vector("touch.force").norm() / (v * (K_CONTACT * reduced).sqrt()) - 1.0;
        // The gap is zero at the end of the contact, at the relative velocity v.
        let gap = run.go(duration).value("touch.gap");
        run.go(2.0 * duration);
        let expected = [2.0 * m * v / (M + m), (m - M) * v / (M + m)];
        let found = ["tip.v", "target.v"].map(|name| run.vector(name).dot(&normal()));
        let off = (found[0] - expected[0]).abs().max((found[1] - expected[1]).abs());
        println!("{duration:.4} s: force off by {force:.1e}, gap {gap:.1e} m, velocities off by {off:.1e}");
        assert!(
            force.abs() < 1e-8 && gap.abs() < 1e-9 && off < 1e-9,
            "{force:e}, {gap:e}, {off:e}"
        );
    }
}

/// Relative to the target that it touches, the tool obeys the law of the wall for any mass of the
/// target: the reverse of the measured force is among the target's loads in `A`.
#[test]
fn tool_presses_on_a_free_target_in_its_axes() {
    let d = 0.02;
    for actuator in [DRIVEN, FED] {
        let (text, q) = arm_at_origin(actuator, false);
        let text = text + &touch("target") + &target(30.0, 0.0) + &held("target", normal() * -d, q);
        let mut run = run_in(Formulation::Recursive, &text, 1e-12);
        let mut off = 0.0f64;
        for t in [0.02, 0.1, 0.3, 0.6] {
            run.go(t);
            let p = -run.value("touch.gap");
            off = off.larger((p - pressed(d, t)[0]).abs());
        }
        let moved = run.vector("target.r").norm();
        println!("penetration off by {off:.1e}, target moved by {moved:.3} m");
        assert!(off < 1e-10 && moved > 0.01 && error(&run) < 0.021, "{off:e}");
    }
}

/// The example's servicer touches its client with less than half the largest force of a tool without
/// virtual mass, and the momentum of both stays zero.
#[test]
fn virtual_mass_reduces_the_force_on_the_client_of_the_example() {
    let directory = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/tasks"));
    let text = std::fs::read_to_string(directory.join("touch.toml")).expect("a file");
    let most = ["", "mass = 10.0"].map(|mass| {
        let text = text.replace("mass = 10.0", mass);
        let mut run = Run::of(crate::plant_in(Formulation::Recursive, &text, directory), 1e-8);
        let mut most = 0.0f64;
        for k in 0..=1000 {
            most = most.larger(run.go(8.0 + 0.007 * f64::from(k)).vector("touch.force").norm());
        }
        let momentum = run.vector("system.momentum").norm();
        let client = run.vector("client.v").norm();
        println!("{mass:?}: largest force {most:.2} N, client {client:.1e} m/s, momentum {momentum:.1e}");
        assert!(momentum < 1e-6 && client > 1e-4, "{momentum:e}, {client:e}");
        most
    });
    assert!(most[1] < 0.5 * most[0], "{most:?}");
}
