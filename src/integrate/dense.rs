//! The solution inside a step.

/// The solution inside the last accepted step.
///
/// With `θ = (t − t₀)/h`, `ϑ = 1 − θ` and `Δ = x₁ − x₀`, `f₀`, `f₁` the derivatives at both ends,
///
/// ```text
///     x(θ) = x₀ + θ(r₁ + ϑ(r₂ + θ(r₃ + ϑ(r₄ + θ(r₅ + …)))))                        (1)
///     r₁ = Δ,   r₂ = h f₀ − Δ,   r₃ = Δ − h f₁ − r₂                                 (2)
///     r₄, r₅, … = h Σⱼ dᵢⱼ kⱼ                                                       (3)
/// ```
///
/// With (2) alone it is the cubic Hermite interpolant; every method adds its own rows (3). The form is that
/// of `CONTD5` and `CONTD8` in Hairer and Wanner's codes `dopri5.f` and `dop853.f` (HNW II.6). It is
/// continuous with its first derivative from step to step, and its ends are the accepted states bit by bit.
#[derive(Clone, Copy, Debug)]
pub struct Dense<'a> {
    pub(super) t0: f64,
    pub(super) t1: f64,
    pub(super) x0: &'a [f64],
    pub(super) x1: &'a [f64],
    /// The rows r₁, r₂, … one after the other.
    pub(super) rows: &'a [f64],
}

impl Dense<'_> {
    /// Where the step starts.
    pub fn t_start(&self) -> f64 {
        self.t0
    }

    /// Where the step ends.
    pub fn t_end(&self) -> f64 {
        self.t1
    }

    /// Writes the state at `t` into `out`.
    ///
    /// A time outside of the step is taken as its nearer end. Components beyond the shorter of `out` and the
    /// state are left alone.
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
        let factors = [theta, 1.0 - theta];
        out.fill(0.0);
        // (1), from the innermost bracket outwards.
        let rows = self.rows.chunks_exact(self.x0.len().max(1));
        for (i, row) in rows.enumerate().rev() {
            let factor = factors[i % 2];
            for (x, r) in out.iter_mut().zip(row) {
                *x = (*x + r) * factor;
            }
        }
        for (x, x0) in out.iter_mut().zip(self.x0) {
            *x += x0;
        }
    }
}
