//! Closed forms of a tug and its debris on a taut tether.

use crate::linearisation::at_start;
use crate::numbers::Larger;
use crate::run::Run;
use std::f64::consts::{PI, TAU};

/// Masses of tug and debris, kg.
const TUG: f64 = 500.0;
const DEBRIS: f64 = 3000.0;

/// Returns tug and debris on a tether of 30 m between their mass centres, whose distance at the start is
/// `distance` (m). The hook is `b` (m) in front of the debris' mass centre, about which its inertia is
/// 9000 kg·m².
fn pair(distance: f64, b: f64, start: &str, tether: &str, more: &str) -> String {
    format!(
        "name = \"pair\"\n[body.tug]\nmass = {TUG:?}\ninertia = [90.0, 80.0, 100.0]\n\
         start = {{ position = [{distance:?}, 0.0, 0.0]{start} }}\n\
         [body.debris]\nmass = {DEBRIS:?}\ninertia = [3e3, 9e3, 9e3]\n\
         [frame.hook]\nbody = \"debris\"\norigin = [{b:?}, 0.0, 0.0]\n\
         [tether.line]\na = \"tug\"\nb = \"hook\"\nlength = 30.0\n{tether}\n{more}"
    )
}

/// Returns the tether's fields for one mass of 0.1 g, which stands for none, and the stiffness `k` (N/m)
/// and damping `c` (N·s/m) of the whole.
fn light(k: f64, c: f64) -> String {
    format!(
        "linear_density = {:?}\naxial_stiffness = {:?}\ndamping = {:?}\nmasses = 1",
        1e-4 / 30.0,
        30.0 * k,
        30.0 * c
    )
}

/// An engine of the tug that pulls from the start.
const ENGINE: &str = "[thruster.motor]\nframe = \"tug\"\ndirection = [1.0, 0.0, 0.0]\nthrust = 40.0\n\
    [signal.\"motor.on\"]\ntype = \"constant\"\nfrom_importer = false\n";

/// With the thrust `F` and the mass `M` of all, the tension at the unstretched distance `s` from the
/// hook is `(m₂ + ρ s) F/M`, as under the weight at the acceleration `F/M`; the whole elongation is
/// `(m₂ L + ρ L²/2) F/(M EA)`. The bounce has decayed.
#[test]
fn towed_debris_takes_its_share_of_the_thrust() {
    let (density, stiffness, length, thrust) = (0.5, 3e4, 30.0, 40.0);
    for n in [1, 5] {
        let tether =
            format!("linear_density = {density:?}\naxial_stiffness = {stiffness:?}\ndamping = 1.5e4\nmasses = {n}");
        let text = pair(30.0, 0.0, "", &tether, ENGINE) + "[solver]\nmethod = \"radau5\"\n";
        let mut run = Run::new(&text, 1e-10);
        run.go(120.0);
        let a = thrust / (TUG + DEBRIS + density * length);
        let elongation = (DEBRIS * length + 0.5 * density * length * length) * a / stiffness;
        let exact = [(DEBRIS + density * length) * a, DEBRIS * a, length + elongation];
        let found = run.values(["line.tension_a", "line.tension_b", "line.stretched_length"]);
        let off = (0..3).fold(0.0f64, |off, i| off.larger((found[i] / exact[i] - 1.0).abs()));
        println!("{n} masses: tensions {found:.4?} off by {off:.1e} (1e-8)");
        assert!(off < 1e-8, "{found:?} for {exact:?}");
    }
}

/// Returns the frequency (rad/s) of tug and debris on a tether of the mass `m`, kg, without thrust,
/// that is nearest to `exact`, with `n` masses.
fn bounce(m: f64, n: usize, exact: f64) -> f64 {
    let tether = format!("linear_density = {:?}\naxial_stiffness = 3e4\nmasses = {n}", m / 30.0);
    let linear = at_start(&mut crate::plant(&pair(30.0 + 1e-6, 0.0, "", &tether, "")));
    let values = linear.A.complex_eigenvalues();
    let nearest = values.iter().map(|value| value.im);
    nearest.fold(f64::INFINITY, |best, w| {
        if (w - exact).abs() < (best - exact).abs() {
            w
        } else {
            best
        }
    })
}

/// A tether of the mass `m` between the masses `m₁` and `m₂` vibrates as a bar: `ω = (β/L) √(EA/ρ)` with
/// `tan β (β² μ₁ μ₂ − 1) = β (μ₁ + μ₂)` and `μ = m₁/m`, `m₂/m`. The first is the bounce of the tug; it
/// tends to `√(k (m₁ + m₂)/(m₁ m₂))` for a light tether. The error of `n` masses is proportional to
/// `1/n²`.
#[test]
fn tug_and_debris_on_a_heavy_tether_vibrate_as_masses_at_the_ends_of_a_bar() {
    let k: f64 = 3e4 / 30.0;
    for (m, first) in [(30.0, true), (30.0, false), (1e-4, true)] {
        let [mu_1, mu_2] = [TUG / m, DEBRIS / m];
        let rest = |beta: f64| beta.sin() * (beta * beta * mu_1 * mu_2 - 1.0) - beta * (mu_1 + mu_2) * beta.cos();
        // Below π/2 is the bounce, between π and 3π/2 the first vibration of the tether.
        let (mut low, mut high) = if first { (1e-9, 0.5 * PI) } else { (PI, 1.5 * PI) };
        let sign = rest(high).signum();
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if rest(middle) * sign < 0.0 {
                low = middle
            } else {
                high = middle
            }
        }
        let exact = low * (k / m).sqrt();
        let reduced = (k * (1.0 / TUG + 1.0 / DEBRIS)).sqrt();
        if m < 1.0 {
            let off = (bounce(m, 1, exact) / reduced - 1.0).abs();
            println!("light tether: {reduced:.5} rad/s, off by {off:.1e} (1e-6)");
            assert!(off < 1e-6 && (exact / reduced - 1.0).abs() < 1e-6, "{off:e}");
            continue;
        }
        let off = [6, 12].map(|n| bounce(m, n, exact) / exact - 1.0);
        let ratio = off[0] / off[1];
        println!("{exact:.5} rad/s ({reduced:.5} without mass): off by {off:?}, ratio {ratio:.3} (4)");
        assert!((ratio - 4.0).abs() < 0.1 && off[1].abs() < 1e-2, "{off:?}");
    }
}

/// A slack tether of stiffness `k` becomes taut at the separating speed `v`: with the reduced mass `m`
/// and `ω = √(k/m)` the peak tension is `v √(k m)` after `π/2ω`, and the speed reverses. With damping the
/// segment is slack again when spring and damper cancel, after `t` with
/// `tan ω_d t = −2ζ √(1 − ζ²)/(1 − 2ζ²)`, at the speed `v exp(−ζ ω t) (cos ω_d t − ζ/√(1 − ζ²) sin ω_d t)`.
#[test]
fn snap_has_the_peak_and_the_rebound_of_the_reduced_mass() {
    let (k, v, slack) = (1000.0f64, 0.2, 0.05);
    let mass = TUG * DEBRIS / (TUG + DEBRIS);
    let w = (k / mass).sqrt();
    for zeta in [0.0f64, 0.2] {
        let text = pair(
            30.0 - slack,
            0.0,
            &format!(", velocity = [{v:?}, 0.0, 0.0]"),
            &light(k, 2.0 * zeta * (k * mass).sqrt()),
            "[solver]\nmethod = \"radau5\"\n",
        );
        let mut run = Run::new(&text, 1e-10);
        let w_d = w * (1.0 - zeta * zeta).sqrt();
        let ratio = zeta / (1.0 - zeta * zeta).sqrt();
        let taut = slack / v;
        if zeta == 0.0 {
            run.go(taut + 0.5 * PI / w);
            let (peak, exact) = (run.value("line.tension_b"), v * (k * mass).sqrt());
            let off = (peak / exact - 1.0).abs();
            println!("peak {peak:.4} N, off by {off:.1e} (1e-5: the tether's mass)");
            assert!(off < 1e-5, "{peak} for {exact}");
        }
        let ends = (PI - (2.0 * zeta * (1.0 - zeta * zeta).sqrt()).atan2(1.0 - 2.0 * zeta * zeta)) / w_d;
        let exact = v * (-zeta * w * ends).exp() * ((w_d * ends).cos() - ratio * (w_d * ends).sin());
        run.go(taut + ends + 0.1);
        let speed = run.value("tug.v[1]") - run.value("debris.v[1]");
        let off = (speed - exact).abs() / v;
        println!("ζ = {zeta}: separates at {speed:.6} m/s, off by {off:.1e} (1e-5)");
        assert!(off < 1e-5 && run.value("line.tension_b") == 0.0, "{speed} for {exact}");
    }
}

/// Small angles φ of the tether and θ of the debris against the constant thrust `F`, at the tension
/// `T = F m₂/(m₁ + m₂)`, with both bodies free (equation (12) of the theory): the frequencies are
/// those of `ω⁴ − (A + B (1 + b/l)) ω² + A B = 0` with `A = T/(m l)` and `B = T b/J`.
#[test]
fn debris_under_tow_oscillates_with_the_two_frequencies_of_tether_and_debris() {
    let (k, b, J, thrust, small) = (1000.0, 2.0, 9e3, 40.0, 1e-3);
    let tension = thrust * DEBRIS / (TUG + DEBRIS);
    let l = 30.0 + tension / k;
    let (A, B, r) = (tension * (1.0 / TUG + 1.0 / DEBRIS) / l, tension * b / J, b / l);
    let sum = A + B * (1.0 + r);
    let root = (sum * sum - 4.0 * A * B).sqrt();
    let squares = [0.5 * (sum - root), 0.5 * (sum + root)];
    // θ¨ = B (φ − θ) relates both angles of a mode: φ = (1 − ω²/B) θ. At the start φ = 0.
    let shape = squares.map(|square| 1.0 - square / B);
    let parts = [-shape[1] / (shape[0] - shape[1]), shape[0] / (shape[0] - shape[1])].map(|part| part * small);
    let angle = small / 2.0;
    // The hook is on the x axis through the tug.
    let text = pair(
        l,
        b,
        "",
        &light(k, 0.0),
        &format!(
            "{ENGINE}[body.debris.start]\nattitude = [{:?}, 0.0, 0.0, {:?}]\nposition = [{:?}, {:?}, 0.0]\n",
            angle.cos(),
            angle.sin(),
            -b * small.cos(),
            -b * small.sin()
        ),
    );
    let mut run = Run::new(&text, 1e-9);
    let mut off = 0.0f64;
    for part in [0.3, 0.7, 1.1, 1.9] {
        let t = part * TAU / squares[0].sqrt();
        run.go(t);
        let exact: f64 = [0, 1].iter().map(|&i| parts[i] * (squares[i].sqrt() * t).cos()).sum();
        let found = 2.0 * run.value("debris.q[4]").atan2(run.value("debris.q[1]"));
        off = off.larger((found - exact).abs() / small);
    }
    let periods = squares.map(|square| TAU / square.sqrt());
    println!("periods {periods:.2?} s: angle off by {off:.1e} (1e-4: the tether's mass, second order)");
    assert!(off < 1e-4, "{off:e}");
}

/// A dumbbell on a tether in a circular orbit librates with the frequencies √3 n in the plane of the orbit
/// and 2 n across it (V. V. Beletsky and E. M. Levin, *Dynamics of Space Tether Systems*, 1993).
#[test]
fn dumbbell_on_a_tether_librates_with_the_published_frequencies() {
    let (m, half, radius, small) = (100.0, 500.0, 7.0e6f64, 2e-3f64);
    let n = (3.986004418e14 / radius.powi(3)).sqrt();
    let stretched = half * (1.0 + 3.0 * m * n * n * half / 1e4);
    for (axis, factor) in [(1, 3f64.sqrt()), (2, 2.0)] {
        let mut end = [stretched * small.cos(), 0.0, 0.0];
        end[axis] = stretched * small.sin();
        let body = |name: &str, end: [f64; 3]| {
            format!(
                "[body.{name}]\nmass = {m:?}\ninertia = [1.0, 1.0, 1.0]\nstart = {{ axes = \"lvlh\", position = {end:?} }}\n"
            )
        };
        let text = format!(
            "name = \"dumbbell\"\n[environment.orbit]\nsemi_major_axis = {radius:?}\n[output]\nbodies = true\n{}{}\
             [tether.line]\na = \"upper\"\nb = \"lower\"\nlength = 1000.0\nlinear_density = 1e-5\n\
             axial_stiffness = 1e4\ndamping = 3e4\nmasses = 1\n[solver]\nmethod = \"radau5\"\n",
            body("upper", end),
            body("lower", end.map(|x| -x))
        );
        let mut run = Run::new(&text, 1e-9);
        let mut off = 0.0f64;
        for part in [0.3, 0.5, 1.0] {
            let t = part * TAU / (factor * n);
            run.go(t);
            let d = [1, axis + 1]
                .map(|i| run.value(&format!("upper.r_lvlh[{i}]")) - run.value(&format!("lower.r_lvlh[{i}]")));
            off = off.larger((d[1].atan2(d[0]) / small - (factor * n * t).cos()).abs());
        }
        println!("{factor:.4} n: angle off by {off:.1e} (1e-3: terms of higher order)");
        assert!(off < 1e-3, "{off:e}");
    }
}

/// Two heavy bodies move apart at the rate at which the tether between them is unwound, under the
/// tension `T` and the thrust that balances it: tension and speed stay. Each mass that leaves the reel
/// gets its momentum `m v` by the tension alone, which deviates by `v √(k m)` of the lump at most.
#[test]
fn taut_tether_is_unwound_at_constant_tension() {
    let (v, tension, stiffness, density) = (0.1, 10.0, 5e3, 0.01);
    let start = 30.0 * (1.0 + tension / stiffness);
    let text = format!(
        "name = \"apart\"\n[body.winch]\nmass = 1e5\ninertia = [1e4, 1e4, 1e4]\n\
         start = {{ position = [{start:?}, 0.0, 0.0], velocity = [{v:?}, 0.0, 0.0] }}\n\
         [body.load]\nmass = 1e5\ninertia = [1e4, 1e4, 1e4]\n\
         [tether.line]\na = \"winch\"\nb = \"load\"\nlength = 100.0\nlinear_density = {density:?}\n\
         axial_stiffness = {stiffness:?}\ndamping = 200.0\nmasses = 10\nreel = {{ unwound = 30.0 }}\n\
         [signal.\"line.rate\"]\ntype = \"constant\"\namplitude = {v:?}\nfrom_importer = false\n\
         [thruster.ahead]\nframe = \"winch\"\ndirection = [1.0, 0.0, 0.0]\nthrust = {tension:?}\n\
         [thruster.back]\nframe = \"load\"\ndirection = [-1.0, 0.0, 0.0]\nthrust = {tension:?}\n\
         [signal.\"ahead.on\"]\ntype = \"constant\"\nfrom_importer = false\n\
         [signal.\"back.on\"]\ntype = \"constant\"\nfrom_importer = false\n[solver]\nmethod = \"radau5\"\n"
    );
    let mut run = Run::new(&text, 1e-8);
    // Of a mass of 0.1 kg at half the length between two masses.
    let jerk = v * (stiffness / 5.0 * density * 10.0_f64).sqrt();
    let mut most = 0.0f64;
    for k in 1..=800 {
        run.go(0.5 * f64::from(k));
        most = most.larger((run.value("line.tension_b") - tension).abs());
    }
    let speed = run.value("winch.v[1]") - run.value("load.v[1]");
    let unwound = run.value("line.unwound");
    let slack = 30.0 + v * 400.0 - unwound;
    println!(
        "{unwound:.3} m unwound: tension off by {most:.3} N of {tension} N ({jerk:.3} N), speed by {:.1e} m/s",
        speed - v
    );
    assert!(
        most < jerk && (speed - v).abs() < 1e-3 && slack.abs() < 1e-9,
        "{most} N, {speed} m/s"
    );
}
