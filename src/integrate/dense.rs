//! Dense output.

use super::equations::StateAndDerivative;

/// Dense output of the last accepted step.
///
/// With `θ = (t − t₀)/h`, `ϑ = 1 − θ`, `Δ = x₁ − x₀`, and the derivatives `f₀`, `f₁` at both ends,
///
/// ```text
///     x(θ) = x₀ + θ(r₁ + ϑ(r₂ + θ(r₃ + ϑ(r₄ + θ(r₅ + …)))))                        (1)
///     r₁ = Δ,   r₂ = h f₀ − Δ,   r₃ = Δ − h f₁ − r₂                                 (2)
///     r₄, r₅, … = h Σⱼ dᵢⱼ kⱼ                                                       (3)
/// ```
///
/// (2) alone is the cubic Hermite interpolant; DOPRI5 and DOP853 add rows (3) of their own. The
/// form is that of `CONTD5` and `CONTD8` in Hairer and Wanner's codes `dopri5.f` and `dop853.f`
/// (HNW II.6). Radau IIA and the
/// Rosenbrock-W method have other rows `r₂` and `r₃` than (2).
///
/// The interpolant is continuous from step to step, its ends are bit-identical to the accepted
/// states, and its first derivative is continuous except for these two.
#[derive(Clone, Copy, Debug)]
pub struct Dense<'a> {
    pub(super) t0: f64,
    pub(super) t1: f64,
    pub(super) x0: &'a [f64],
    pub(super) x1: &'a [f64],
    /// The rows r₁, r₂, … consecutively.
    pub(super) rows: &'a [f64],
}

impl Dense<'_> {
    /// Returns the start of the step.
    pub fn t_start(&self) -> f64 {
        self.t0
    }

    /// Returns the end of the step.
    pub fn t_end(&self) -> f64 {
        self.t1
    }

    /// Writes the state at `t` into `out`.
    ///
    /// Times outside the step are clamped to its ends. If `out` is shorter than the state, only its
    /// components are computed; if longer, the further ones are unchanged.
    pub fn interpolate(&self, t: f64, out: &mut [f64]) {
        let n = self.x0.len().min(out.len());
        let out = &mut out[..n];
        if t <= self.t0 {
            return out.copy_from_slice(&self.x0[..n]);
        }
        if t >= self.t1 {
            return out.copy_from_slice(&self.x1[..n]);
        }
        let theta = (t - self.t0) / (self.t1 - self.t0);
        polynomial(self.rows, self.x0.len(), theta, out);
        for (x, x0) in out.iter_mut().zip(self.x0) {
            *x += x0;
        }
    }
}

/// Computes `x(θ) − x₀` of (1), for `θ` inside or outside the step; the rows have length `n`.
pub(super) fn polynomial(rows: &[f64], n: usize, theta: f64, out: &mut [f64]) {
    let factors = [theta, 1.0 - theta];
    out.fill(0.0);
    // Horner's scheme, from the innermost bracket.
    for (i, row) in rows.chunks_exact(n.max(1)).enumerate().rev() {
        let factor = factors[i % 2];
        for (x, r) in out.iter_mut().zip(row) {
            *x = (*x + r) * factor;
        }
    }
}

/// Computes the rows (2) from the states and derivatives at both ends of a step of length `h`.
pub(super) fn hermite(h: f64, start: StateAndDerivative, end: StateAndDerivative, rows: &mut [f64]) {
    let StateAndDerivative { x: x0, dx: f0 } = start;
    let StateAndDerivative { x: x1, dx: f1 } = end;
    let n = x0.len();
    let (r1, rest) = rows.split_at_mut(n);
    let (r2, r3) = rest.split_at_mut(n);
    for i in 0..n {
        r1[i] = x1[i] - x0[i];
        r2[i] = h * f0[i] - r1[i];
        r3[i] = r1[i] - h * f1[i] - r2[i];
    }
}
