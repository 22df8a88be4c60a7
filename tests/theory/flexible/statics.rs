//! Static deflection of a cantilever under a load.

use super::{KLAK, cantilever_roots};
use crate::numbers::few;
use crate::run::Run;
use grapple::simulation::State;

const L: f64 = 2.0;
const EI: f64 = 40.0;
/// Load, N or N·m: the relative deflection is 1e-6, so that second-order terms are below 1e-11.
const LOAD: f64 = 1e-4;

/// Returns the beam on the world, with critically damped modes and a tip load.
fn cantilever(modes: usize) -> Run {
    let text = format!(
        r#"
name = "cantilever"
[body.beam.beam]
length = {L}
mass_per_length = 1.5
EI = {EI}
bending_y = {modes}
damping_ratio = 1.0
[joint.root]
type = "fixed"
parent = "world"
child = "beam"
[frame.tip]
body = "beam"
origin = [{L}, 0.0, 0.0]
[port.load]
frame = "tip"
[line_load.wind]
body = "beam"
"#
    );
    Run::new(&text, 1e-12)
}

/// Returns tip deflection, tip slope, and force and moment at the root, after 60 time constants of
/// the slowest mode under a load on `input`.
fn at_rest(modes: usize, input: &str) -> [f64; 4] {
    let first = cantilever_roots(1)[0].powi(2) * (EI / 1.5).sqrt() / (L * L);
    let mut run = cantilever(modes);
    run.set(input, LOAD);
    run.go(60.0 / first).values([
        "beam.tip_deflection[2]",
        "beam.tip_slope[3]",
        "beam.root_force[2]",
        "beam.root_moment[3]",
    ])
}

/// Returns `(φ_k(L), φ_k′(L) L, β_k⁴)` of the clamped–free beam with `∫φ² dx = L`: `(±2, ±2 β σ)`.
fn tip_of_each_mode(n: usize) -> impl Iterator<Item = (f64, f64, f64)> {
    cantilever_roots(n).into_iter().enumerate().map(|(k, b)| {
        let sigma = (1.0 + b.cos() / b.cosh()) / (b.tanh() + b.sin() / b.cosh());
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        (2.0 * sign, 2.0 * sign * b * sigma, b.powi(4))
    })
}

/// The deflection is `F Σ φ_k(L)²/ω_k²` over n modes, less than the exact `F L³/(3EI)` by
/// `4/(3π⁴n³)` of `F L³/EI`; the root transmits `F` and `F L` for any number of modes.
#[test]
fn tip_force_deflection_is_the_modal_sum_and_root_reaction_is_exact() {
    let unit = LOAD * L.powi(3) / EI;
    for n in [1, 2, 4, 8] {
        let [y, slope, force, moment] = at_rest(n, "load.f[2]");
        let sum: f64 = tip_of_each_mode(n).map(|(y, _, b4)| y * y / b4).sum();
        let turned: f64 = tip_of_each_mode(n).map(|(y, slope, b4)| y * slope / b4).sum();
        let off = [
            y / (unit * sum) - 1.0,
            slope / (unit / L * turned) - 1.0,
            force / -LOAD - 1.0,
            moment / (-LOAD * L) - 1.0,
        ];
        let lacks = (1.0 / 3.0 - y / unit) / (4.0 / (3.0 * std::f64::consts::PI.powi(4) * (n as f64).powi(3)));
        println!(
            "{n} modes: off the sum, root {}; lacks {lacks:.4} of 4/(3π⁴n³)",
            few(&off)
        );
        // The tolerance of 1e-12 of the nominal amplitude 1e-2, relative to an amplitude of about
        // 1e-5, and a factor of ten for the accumulation over steps.
        assert!(off.iter().all(|off| off.abs() < 1e-8), "{off:?}");
        // The next term of Euler and Maclaurin is a relative 1/(4 n²); β_1 is not quite π/2.
        assert!((lacks - 1.0).abs() < 0.5 / (n * n) as f64, "{lacks}");
    }
}

/// The slope is `M Σ φ_k′(L)²/ω_k²` over n modes, less than the exact one by `4/(π²n)` of `M L/EI`;
/// the deflection equals the slope due to the tip force (Maxwell and Betti), with the limit `M
/// L²/(2EI)`.
#[test]
fn tip_moment_slope_is_the_modal_sum() {
    let unit = LOAD * L / EI;
    for n in [1, 2, 4, 8] {
        let [y, slope, force, moment] = at_rest(n, "load.t[3]");
        let sum: f64 = tip_of_each_mode(n).map(|(_, slope, b4)| slope * slope / b4).sum();
        let moved: f64 = tip_of_each_mode(n).map(|(y, slope, b4)| y * slope / b4).sum();
        let off = [
            slope / (unit * sum) - 1.0,
            y / (unit * L * moved) - 1.0,
            force * L / LOAD,
            moment / -LOAD - 1.0,
        ];
        let lacks = (1.0 - slope / unit) / (4.0 / (std::f64::consts::PI.powi(2) * n as f64));
        println!(
            "{n} modes: off the sum, root {}; slope lacks {lacks:.4} of 4/(π²n); y {:.6} of ½",
            few(&off),
            y / unit / L
        );
        assert!(off.iter().all(|off| off.abs() < 1e-8), "{off:?}"); // as above
        assert!((lacks - 1.0).abs() < 0.5 / (n * n) as f64, "{lacks}");
    }
}

/// The deflection is `q Σ φ_k(L) ∫φ_k dx/ω_k²` over n modes, with `∫φ_k dx = 2σ/β L` and the limit
/// `q L⁴/(8EI)`; the root transmits `q L` and `q L²/2`.
#[test]
fn distributed_load_deflection_is_the_modal_sum() {
    let unit = LOAD * L.powi(4) / EI;
    for n in [1, 2, 4] {
        let [y, _, force, moment] = at_rest(n, "wind.f[2]");
        let of_each = cantilever_roots(n).into_iter().zip(tip_of_each_mode(n));
        // The slope at the tip is 2βσ with the sign of the deflection.
        let sum: f64 = of_each.map(|(b, (y, slope, b4))| y * slope.abs() / (b * b) / b4).sum();
        let off = [
            y / (unit * sum) - 1.0,
            force / (-LOAD * L) - 1.0,
            moment / (-LOAD * L * L / 2.0) - 1.0,
        ];
        println!("{n} modes: off the sum, root {}; {:.7} of 1/8", few(&off), y / unit);
        assert!(off.iter().all(|off| off.abs() < 1e-8), "{off:?}"); // as above
        let next = 4.0 / (std::f64::consts::PI * (n as f64 + 0.5)).powi(5);
        assert!((y / unit - 0.125).abs() < 1.1 * next, "{} {next}", y / unit - 0.125);
    }
}

/// The linear limit of a beam has the same flag at each call for a deflection that is not a number,
/// and for a limit that overflows.
#[test]
fn flag_of_the_linear_limit_is_unique() {
    let text = "name = \"rod\"\n[body.rod.beam]\nlength = 20.0\nmass_per_length = 1.0\nEI = 10.0\n\
        polar_inertia_per_length = 0.01\nbending = 1\nlinear_limit = 1e308\n";
    let mut simulation = Run::new(text, 1e-8).simulation;
    let before = simulation.state.discrete.clone();
    for _ in 0..3 {
        let State { x, u, discrete, .. } = &mut simulation.state;
        simulation.plant.initialise_modes(0.0, x, u, discrete);
        assert!(*discrete == before);
    }
    let mut simulation = Run::new(KLAK, 1e-8).simulation;
    let model = simulation.plant.model().clone();
    let eta = model
        .states
        .iter()
        .position(|state| state.name.contains(".eta["))
        .expect("a mode");
    let state = &mut simulation.state;
    state.x[eta] = f64::NAN;
    let before = state.discrete.clone();
    for _ in 0..2 {
        simulation
            .plant
            .initialise_modes(0.0, &state.x, &state.u, &mut state.discrete);
        assert!(state.discrete == before);
    }
}
