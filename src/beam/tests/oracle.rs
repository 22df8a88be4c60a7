//! Natural frequencies from independent methods: frequency equations, and shooting.

use crate::beam::{Beam, Boundary, Kind, Section};
use crate::larger::Larger;

/// Returns the first `count` roots of `f` above `from`, by a scan for sign changes and bisection to
/// the last bit.
pub fn roots(f: impl Fn(f64) -> f64, from: f64, step: f64, count: usize) -> Vec<f64> {
    let mut roots = Vec::new();
    let (mut a, mut f_a) = (from, f(from));
    while roots.len() < count {
        let (b, f_b) = (a + step, f(a + step));
        if (f_a > 0.0) != (f_b > 0.0) {
            roots.push(bisect(&f, a, b));
        }
        (a, f_a) = (b, f_b);
    }
    roots
}

fn bisect(f: impl Fn(f64) -> f64, mut a: f64, mut b: f64) -> f64 {
    let above = f(b) > 0.0;
    loop {
        let middle = 0.5 * (a + b);
        if middle <= a || middle >= b {
            return middle;
        }
        if (f(middle) > 0.0) == above {
            b = middle
        } else {
            a = middle
        }
    }
}

/// Returns `βL` of a uniform beam's elastic bending modes; the equations are divided by `cosh β` to
/// avoid overflow.
pub fn bending_roots(boundary: &Boundary, count: usize) -> Vec<f64> {
    let equation = |b: f64| match *boundary {
        Boundary::ClampedFree => b.cos() + 1.0 / b.cosh(),
        Boundary::ClampedClamped | Boundary::FreeFree => b.cos() - 1.0 / b.cosh(),
        Boundary::PinnedFree => b.sin() - b.cos() * b.tanh(),
        Boundary::ClampedLoaded { .. } => unreachable!("see loaded_roots"),
    };
    roots(equation, 0.5, 0.05, count) // below 0.5 there are the rigid modes' roots at zero only
}

/// Returns `βL` of a uniform cantilever with a load at its tip: `mass` relative to the beam's mass
/// `m`, `inertia` relative to `m L²`.
///
/// `w = A (cosh − cos) + B (sinh − sin)` with `w″ = inertia β⁴ w′`, `w‴ = −mass β⁴ w` at the tip.
pub fn loaded_roots(mass: f64, inertia: f64, count: usize) -> Vec<f64> {
    let equation = |b: f64| {
        let (s, c, sh, ch) = (b.sin() / b.cosh(), b.cos() / b.cosh(), b.tanh(), 1.0);
        let j = inertia * b.powi(3);
        let m = mass * b;
        let moment = [(ch + c) - j * (sh + s), (sh + s) - j * (ch - c)];
        let force = [(sh - s) + m * (ch - c), (ch + c) + m * (sh - s)];
        moment[0] * force[1] - moment[1] * force[0]
    };
    roots(equation, 0.01, 0.01, count)
}

/// Returns `ω` (rad/s) of the first elastic modes of any beam, by shooting: Runge–Kutta integration
/// of order four from the root, with `steps` steps between two stations; the frequencies that
/// satisfy the tip's conditions are found by a scan with the step `d_omega` (rad/s) and bisection.
pub fn shooting(beam: &Beam, kind: Kind, boundary: &Boundary, steps: usize, d_omega: f64, count: usize) -> Vec<f64> {
    let equation = |omega: f64| match kind {
        Kind::BendingY | Kind::BendingZ => bending_residual(beam, kind, boundary, steps, omega * omega),
        Kind::Torsion | Kind::Axial => rod_residual(beam, kind, boundary, steps, omega * omega),
    };
    roots(equation, 0.3 * d_omega, d_omega, count)
}

fn stiffness(kind: Kind, s: &Section) -> f64 {
    match kind {
        Kind::BendingY => s.EI_z,
        Kind::BendingZ => s.EI_y,
        Kind::Torsion => s.GJ,
        Kind::Axial => s.EA,
    }
}

fn inertia(kind: Kind, s: &Section) -> f64 {
    match kind {
        Kind::Torsion => s.polar_inertia_per_length,
        _ => s.mass_per_length,
    }
}

/// Returns the determinant of the tip's conditions, zero at a natural frequency, from `w′ = θ`,
/// `θ′ = M/EI`, `M′ = V`, `V′ = ω² μ w`.
fn bending_residual(beam: &Beam, kind: Kind, boundary: &Boundary, steps: usize, omega2: f64) -> f64 {
    let starts: [[f64; 4]; 2] = match boundary {
        Boundary::FreeFree => [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]],
        Boundary::PinnedFree => [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
        _ => [[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
    };
    let tip = starts.map(|y| {
        march(beam, kind, y, steps, |y, k, mu| {
            [y[1], y[2] / k, y[3], omega2 * mu * y[0]]
        })
    });
    let conditions = tip.map(|[w, theta, M, V]| match *boundary {
        Boundary::ClampedClamped => [w, theta],
        Boundary::ClampedLoaded { mass, inertia } => {
            let J = if kind == Kind::BendingY { inertia[2] } else { inertia[1] };
            [M - omega2 * J * theta, V + omega2 * mass * w]
        }
        _ => [M, V],
    });
    conditions[0][0] * conditions[1][1] - conditions[0][1] * conditions[1][0]
}

/// Returns the residual of the tip's condition, zero at a natural frequency, from `u′ = N/k`,
/// `N′ = −ω² μ u`.
fn rod_residual(beam: &Beam, kind: Kind, boundary: &Boundary, steps: usize, omega2: f64) -> f64 {
    let start = match boundary {
        Boundary::FreeFree => [1.0, 0.0],
        _ => [0.0, 1.0],
    };
    let [u, N] = march(beam, kind, start, steps, |y, k, mu| [y[1] / k, -omega2 * mu * y[0]]);
    match *boundary {
        Boundary::ClampedClamped => u,
        Boundary::ClampedLoaded { mass, inertia } => {
            N - omega2 * if kind == Kind::Torsion { inertia[0] } else { mass } * u
        }
        _ => N,
    }
}

fn march<const N: usize>(
    beam: &Beam,
    kind: Kind,
    mut y: [f64; N],
    steps: usize,
    slope: impl Fn(&[f64; N], f64, f64) -> [f64; N],
) -> [f64; N] {
    for pair in beam.stations().windows(2) {
        let (a, b) = (&pair[0], &pair[1]);
        let h = (b.x - a.x) / steps as f64;
        let mix = |of: fn(Kind, &Section) -> f64, t: f64| of(kind, a) + (of(kind, b) - of(kind, a)) * t / steps as f64;
        let f = |y: &[f64; N], t: f64| slope(y, mix(stiffness, t), mix(inertia, t));
        let along = |y: &[f64; N], d: &[f64; N], h: f64| std::array::from_fn(|i| y[i] + h * d[i]);
        for i in 0..if h > 0.0 { steps } else { 0 } {
            let t = i as f64;
            let k1 = f(&y, t);
            let k2 = f(&along(&y, &k1, 0.5 * h), t + 0.5);
            let k3 = f(&along(&y, &k2, 0.5 * h), t + 0.5);
            let k4 = f(&along(&y, &k3, h), t + 1.0);
            y = std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]));
        }
    }
    y
}

/// Returns the largest relative difference between two lists.
pub fn worst(found: impl IntoIterator<Item = f64>, expected: &[f64]) -> f64 {
    let mut worst: f64 = 0.0;
    let mut n = 0;
    for (a, b) in found.into_iter().zip(expected) {
        worst = worst.larger((a / b - 1.0).abs());
        n += 1;
    }
    assert_eq!(n, expected.len());
    worst
}
