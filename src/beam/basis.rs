//! Shape functions and quadrature of a beam element.

/// Field of a mode, by the derivative that its strain energy contains: first or second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// Stretch or torsion: `∫ EA u′²`, `∫ GJ ψ′²`.
    Rod,
    /// Deflection: `∫ EI w″²`.
    Bending,
}

impl Field {
    /// Returns the order of the derivative in the strain energy. It equals the number of unknowns
    /// per node: `u`, or `w` and `w′`.
    pub fn order(self) -> usize {
        match self {
            Field::Rod => 1,
            Field::Bending => 2,
        }
    }
}

/// Hierarchical basis of polynomials up to a degree on one element, `s ∈ [−1, 1]`.
///
/// The nodal functions come first (linear for a rod, Hermite's cubics for bending). The other
/// functions, the bubbles, are Legendre polynomials integrated once (rod) or twice (bending),
///
/// ```text
///     rod       N_n′ = P_n,   N_n = (P_{n+1} − P_{n−1}) / (2n+1),                   n = 1 … p−1
///     bending   N_n″ = P_n,   N_n = P_{n+2} / ((2n+1)(2n+3)) − 2 P_n / ((2n−1)(2n+3))
///                                   + P_{n−2} / ((2n−1)(2n+1)),                     n = 2 … p−2
/// ```
///
/// each times `√(n + ½)`. All nodal unknowns of a bubble are zero at both ends. For constant
/// stiffness the stiffness matrix of the bubbles is the identity, so a high degree does not impair
/// the conditioning.
///
/// Source: B. Szabó, I. Babuška, *Finite Element Analysis*, Wiley 1991, section 3.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Basis {
    pub field: Field,
    pub degree: usize,
}

impl Basis {
    /// Returns the number of functions on an element.
    pub fn len(self) -> usize {
        self.degree + 1
    }

    /// Returns all functions on an element of length `h` at `s`: value, first and second derivative
    /// of each with respect to `x`, with `dx = ½ h ds`.
    pub fn at(self, s: f64, h: f64) -> Vec<[f64; 3]> {
        let P = legendre(self.degree, s);
        let mut N = Vec::with_capacity(self.len());
        let scales = [2.0 / h, 4.0 / (h * h)];
        let mut push = |value: f64, first: f64, second: f64| N.push([value, first * scales[0], second * scales[1]]);
        match self.field {
            Field::Rod => {
                push(0.5 * (1.0 - s), -0.5, 0.0);
                push(0.5 * (1.0 + s), 0.5, 0.0);
                let mut slopes = [0.0, 1.0]; // P′_{n−1} and P′_n; P′_{n+1} = P′_{n−1} + (2n+1) P_n
                for n in 1..self.degree {
                    let k = (n as f64 + 0.5).sqrt();
                    let odd = (2 * n + 1) as f64;
                    push(k * (P[n + 1] - P[n - 1]) / odd, k * P[n], k * slopes[1]);
                    slopes = [slopes[1], slopes[0] + odd * P[n]];
                }
            }
            Field::Bending => {
                let (r, half) = (1.0 - s * s, 0.5 * h);
                push(0.25 * (1.0 - s) * (1.0 - s) * (2.0 + s), -0.75 * r, 1.5 * s);
                push(
                    half * 0.25 * r * (1.0 - s),
                    half * 0.25 * (s - 1.0) * (3.0 * s + 1.0),
                    half * 0.5 * (3.0 * s - 1.0),
                );
                push(0.25 * (1.0 + s) * (1.0 + s) * (2.0 - s), 0.75 * r, -1.5 * s);
                push(
                    half * -0.25 * r * (1.0 + s),
                    half * 0.25 * (s + 1.0) * (3.0 * s - 1.0),
                    half * 0.5 * (3.0 * s + 1.0),
                );
                for n in 2..self.degree - 1 {
                    let k = (n as f64 + 0.5).sqrt();
                    let [a, b, c] = [2 * n - 1, 2 * n + 1, 2 * n + 3].map(|odd| odd as f64);
                    let value = P[n + 2] / (b * c) - 2.0 * P[n] / (a * c) + P[n - 2] / (a * b);
                    push(k * value, k * (P[n + 1] - P[n - 1]) / b, k * P[n]);
                }
            }
        }
        N
    }
}

/// Returns `P_0(s) … P_n(s)`, `n ≥ 1`.
fn legendre(n: usize, s: f64) -> Vec<f64> {
    let mut P = Vec::with_capacity(n + 1);
    P.extend([1.0, s]);
    for k in 1..n {
        P.push(next_legendre(k, s, [P[k - 1], P[k]]));
    }
    P
}

/// Returns `P_{k+1}(s)` from `P_{k−1}(s)` and `P_k(s)`.
fn next_legendre(k: usize, s: f64, [before, last]: [f64; 2]) -> f64 {
    let k = k as f64;
    ((2.0 * k + 1.0) * s * last - k * before) / (k + 1.0)
}

/// Gauss points and weights on `[−1, 1]`; `n` points are exact for polynomials up to degree
/// `2n − 1`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Gauss {
    /// Pairs of point and weight, points ascending.
    pub points: Vec<(f64, f64)>,
}

impl Gauss {
    /// Computes the roots of `P_n` by Newton's iteration.
    pub fn new(n: usize) -> Self {
        let point = |i: usize| {
            let n_ = n as f64;
            let mut s = -libm::cos(std::f64::consts::PI * (i as f64 + 0.75) / (n_ + 0.5));
            let mut slope = 0.0;
            for _ in 0..6 {
                // The starting value is Tricomi's, with an error O(n⁻³): four of the six steps
                // reach round-off.
                let [before, last] = (1..n).fold([1.0, s], |P, k| [P[1], next_legendre(k, s, P)]);
                slope = n_ * (s * last - before) / (s * s - 1.0);
                s -= last / slope;
            }
            (s, 2.0 / ((1.0 - s * s) * slope * slope))
        };
        Self {
            points: (0..n).map(point).collect(),
        }
    }

    /// Returns the rule that is exact for a product of two functions of `degree` and a linear
    /// section property.
    pub fn of(degree: usize) -> Self {
        Self::new(degree + 1)
    }

    /// Returns the points `x` and the weights `dx` of the rule on `[a, b]`.
    pub fn on(&self, a: f64, b: f64) -> impl Iterator<Item = (f64, f64)> {
        let half = 0.5 * (b - a);
        self.points
            .iter()
            .map(move |&(s, weight)| (a + half * (1.0 + s), half * weight))
    }
}

#[cfg(feature = "inside")]
#[allow(clippy::disallowed_methods)] // expected values
pub(super) mod tests {
    use super::*;
    use crate::larger::Larger;

    unit_tests![
        quadrature_is_exact_up_to_its_degree,
        bubbles_of_a_uniform_element_are_orthonormal_in_strain_energy_and_vanish_at_the_ends,
        basis_derivatives_are_consistent,
    ];

    fn quadrature_is_exact_up_to_its_degree() {
        let mut worst: f64 = 0.0;
        for n in [1, 2, 5, 12, 33] {
            for degree in 0..2 * n {
                let sum: f64 = Gauss::new(n)
                    .on(0.0, 1.0)
                    .map(|(x, dx)| x.powi(degree as i32) * dx)
                    .sum();
                worst = worst.larger((sum * (degree + 1) as f64 - 1.0).abs());
            }
        }
        println!("monomials: {worst:.1e}");
        assert!(worst < 1e-14); // weights and points are accurate to a few round-offs
    }

    fn bubbles_of_a_uniform_element_are_orthonormal_in_strain_energy_and_vanish_at_the_ends() {
        for field in [Field::Rod, Field::Bending] {
            let basis = Basis { field, degree: 14 };
            let order = field.order();
            let mut worst: f64 = 0.0;
            for s in [-1.0, 1.0] {
                let N = basis.at(s, 2.0);
                for n in 2 * order..basis.len() {
                    worst = (0..order).fold(worst, |w, d| w.max(N[n][d].abs()));
                }
            }
            for i in 0..basis.len() {
                for j in 2 * order..basis.len() {
                    let product = |(s, ds)| {
                        let N = basis.at(s, 2.0);
                        N[i][order] * N[j][order] * ds
                    };
                    let energy: f64 = Gauss::of(14).on(-1.0, 1.0).map(product).sum();
                    worst = worst.larger((energy - if i == j { 1.0 } else { 0.0 }).abs());
                }
            }
            println!("{field:?}: {worst:.1e}");
            assert!(worst < 1e-14, "{field:?}: {worst:e}"); // round-off of fourteen terms
        }
    }

    fn basis_derivatives_are_consistent() {
        for field in [Field::Rod, Field::Bending] {
            let basis = Basis { field, degree: 7 };
            let (s, h, step) = (0.3, 1.7, 1e-4);
            let [before, here, after] = [-step, 0.0, step].map(|d| basis.at(s + d, h));
            let dx = 0.5 * h * step;
            for n in 0..basis.len() {
                for d in 0..2 {
                    let quotient = (after[n][d] - before[n][d]) / (2.0 * dx);
                    let off = (quotient - here[n][d + 1]).abs() / (1.0 + here[n][d + 1].abs());
                    assert!(off < 1e-6, "{field:?} {n} {d}: {off:e}"); // step² times the next derivatives, below 100
                }
            }
        }
    }
}
