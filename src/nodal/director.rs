//! The element of a geometrically exact beam.

use crate::algebra::{Mat3, Scalar, Twist, Vec3, Wrench};

/// Element of a geometrically exact beam with torsion and shear (Simo and Reissner's theory) in
/// director form, between two nodes `a` and `b`, each with a position `r` and an orthonormal triad
/// `d1, d2, d3`; `d1` is along the undeformed beam.
///
/// Positions and directors are interpolated linearly; the strains are evaluated at the midpoint
/// (one Gauss point), which avoids shear locking. With a prime for d/dx, undeformed `0 … l`:
///
/// ```text
///     Γ_k = d_k·r′ − δ_k1                           stretch, shear along d2 and d3
///     K_1 = (d3·d2′ − d2·d3′)/2  and cyclic, 1/m    torsion, bending about d2 and d3
///     U = ½ l (Γᵀ diag(EA, GA_2, GA_3) Γ + Kᵀ diag(GJ, EI_2, EI_3) K)
/// ```
///
/// The strains are invariant under rigid motions and quadratic in positions and directors. With the
/// rotation `θ n` from `a` to `b`, `K = n sin θ / l`: the rotation of an element must be much less
/// than 90°. The moment that bends an element by θ is `M = (EI/l) sin θ cos θ`: it has a maximum at
/// 45° and is zero at 90°.
///
/// Theory: J. C. Simo, 10.1016/0045-7825(85)90050-7; interpolation of directors: I. Romero and F.
/// Armero, 10.1002/nme.486, and P. Betsch and P. Steinmann, 10.1002/nme.487.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectorElement {
    /// Undeformed length, m.
    pub l: f64,
    /// `EA`, `GA_2`, `GA_3`: stiffness of stretch and of shear along d2 and d3, N.
    pub stretch: Vec3<f64>,
    /// `GJ`, `EI_2`, `EI_3`: stiffness of torsion and of bending about d2 and d3, N·m².
    pub bend: Vec3<f64>,
}

/// Configuration of an element: the position of node `b` relative to node `a`, and both triads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span<S: Scalar> {
    /// Vector from `a` to `b`, m, world axes.
    pub r: Vec3<S>,
    /// The triads of a and of b, as the columns of `R_WA` and `R_WB`.
    pub triads: [Mat3<S>; 2],
}

/// Strains of an element, their rates, or their work-conjugate stresses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strain<S: Scalar> {
    /// `Γ` (dimensionless); as a stress the force in the section, N, in axes of the mean triad.
    pub gamma: Vec3<S>,
    /// `K`, 1/m; as a stress the moment in the section, N·m.
    pub kappa: Vec3<S>,
}

impl<S: Scalar> Span<S> {
    /// Returns the directors at the midpoint, as columns.
    fn midpoint(&self) -> Mat3<S> {
        (self.triads[0] + self.triads[1]) * S::lift(0.5)
    }

    /// Returns the rotation `R_AB` of `b` relative to `a`.
    fn turn(&self) -> Mat3<S> {
        self.triads[0].tr_mul(&self.triads[1])
    }
}

impl DirectorElement {
    /// Returns the strains of the configuration `span`.
    pub fn strain<S: Scalar>(&self, span: &Span<S>) -> Strain<S> {
        let per_l = S::lift(1.0 / self.l);
        let mut gamma = span.midpoint().tr_mul(&span.r) * per_l;
        gamma.x -= S::one();
        // K_1 = (R_32 − R_23)/2l of R = R_AB, and cyclic.
        let R = span.turn();
        let twice = Vec3::new(R.m32 - R.m23, R.m13 - R.m31, R.m21 - R.m12);
        Strain {
            gamma,
            kappa: twice * (per_l * S::lift(0.5)),
        }
    }

    /// Returns the mean of the strains at both ends of a step of length `h` (s) minus the strains
    /// at its midpoint, for the midpoint rates `rates` (m/s, 1/s). The work of the stresses of the
    /// mean strain equals the change of strain energy in the step.
    pub fn strain_of_step<S: Scalar>(&self, rates: &Span<S>, h: f64) -> Strain<S> {
        // The strains are quadratic forms plus a constant, and the mean of the squares at q̄ ± h
        // q̇/2 is q̄² + (h q̇/2)².
        let quarter = S::lift(0.25 * h * h);
        let Strain { mut gamma, kappa } = self.strain(rates);
        gamma.x += S::one();
        Strain {
            gamma: gamma * quarter,
            kappa: kappa * quarter,
        }
    }

    /// Returns the strain rates, 1/s and 1/(m·s), for the velocity `V` of `b` relative to `a`
    /// (about b, world axes).
    pub fn strain_rate<S: Scalar>(&self, span: &Span<S>, V: &Twist<S>) -> Strain<S> {
        let (per_l, half) = (S::lift(1.0 / self.l), S::lift(0.5));
        let [R_WA, R_WB] = &span.triads;
        let R = span.turn();
        let w = R_WA.tr_mul(&V.w);
        Strain {
            gamma: (span.midpoint().tr_mul(&V.v) + R_WB.tr_mul(&span.r.cross(&V.w)) * half) * per_l,
            kappa: (w * R.trace() - R * w) * (per_l * half),
        }
    }

    /// Returns force and moment in the section due to the strains.
    pub fn stress<S: Scalar>(&self, strain: &Strain<S>) -> Strain<S> {
        Strain {
            gamma: strain.gamma.zip_map(&self.stretch, |gamma, k| gamma * S::lift(k)),
            kappa: strain.kappa.zip_map(&self.bend, |kappa, k| kappa * S::lift(k)),
        }
    }

    /// Returns the strain energy, J.
    pub fn energy<S: Scalar>(&self, strain: &Strain<S>) -> S {
        let stress = self.stress(strain);
        (stress.gamma.dot(&strain.gamma) + stress.kappa.dot(&strain.kappa)) * S::lift(0.5 * self.l)
    }

    /// Returns the wrench of the stresses on `b` about its origin, world axes, by virtual work:
    /// `−F·V = l (N·Γ̇ + M·K̇)` with [`strain_rate`](Self::strain_rate). The opposite wrench about
    /// the same point acts on `a`: the energy is invariant under rigid motions, and the momentum is
    /// conserved.
    pub fn wrench<S: Scalar>(&self, span: &Span<S>, stress: &Strain<S>) -> Wrench<S> {
        let (N, M) = (&stress.gamma, &stress.kappa);
        let [R_WA, R_WB] = &span.triads;
        // For arbitrary directors, 2l δK_1 = δθ·(d_b2 × d_a3 − d_b3 × d_a2), and cyclic.
        let moment = (0..3).fold((R_WB * N).cross(&span.r), |moment, k| {
            let [i, j] = [(k + 1) % 3, (k + 2) % 3];
            let both = R_WB.column(i).cross(&R_WA.column(j)) - R_WB.column(j).cross(&R_WA.column(i));
            moment + both * M[k]
        });
        Wrench::new(moment * S::lift(-0.5), -(span.midpoint() * N))
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use crate::algebra::{Dual, Quaternion, exp};

    unit_tests![
        strains_equal_those_of_interpolated_directors,
        forces_and_moments_are_derivatives_of_the_energy,
        rigid_motions_cause_no_strain,
    ];

    const ELEMENT: DirectorElement = DirectorElement {
        l: 1.7,
        stretch: Vec3::new(900.0, 320.0, 410.0),
        bend: Vec3::new(25.0, 40.0, 60.0),
    };

    /// Returns position and attitude of two nodes in a general configuration.
    fn bent() -> [(Vec3<f64>, Quaternion<f64>); 2] {
        let q = Quaternion::new(0.3, -0.5, 0.6, 0.4).normalised();
        let r = Vec3::new(12.0, -7.0, 3.0);
        let p = q.rotate(Vec3::new(1.6, 0.25, -0.3));
        [(r, q), (r + p, q * exp(Vec3::new(0.4, -0.3, 0.5)))]
    }

    fn span<S: Scalar>([(r_a, q_a), (r_b, q_b)]: [(Vec3<S>, Quaternion<S>); 2]) -> Span<S> {
        Span {
            r: r_b - r_a,
            triads: [q_a.rotation(), q_b.rotation()],
        }
    }

    /// The strains equal their definition, director by director.
    fn strains_equal_those_of_interpolated_directors() {
        let here = span(bent());
        let strain = ELEMENT.strain(&here);
        let d = |k: usize| {
            let [a, b] = here.triads.map(|R| R.column(k).into_owned());
            ((a + b) / 2.0, (b - a) / ELEMENT.l)
        };
        for (k, (i, j)) in [(1, 2), (2, 0), (0, 1)].into_iter().enumerate() {
            let ((d_i, d_i_prime), (d_j, d_j_prime)) = (d(i), d(j));
            let gamma = d(k).0.dot(&here.r) / ELEMENT.l - f64::from(u8::from(k == 0));
            let kappa = (d_j.dot(&d_i_prime) - d_i.dot(&d_j_prime)) / 2.0;
            assert!((strain.gamma[k] - gamma).abs() < 1e-15 && (strain.kappa[k] - kappa).abs() < 1e-15);
        }
    }

    /// Forces and moments on both nodes are derivatives of the energy, and strain rates are
    /// derivatives of the strains, exactly.
    fn forces_and_moments_are_derivatives_of_the_energy() {
        let here = span(bent());
        let on_b = ELEMENT.wrench(&here, &ELEMENT.stress(&ELEMENT.strain(&here)));
        let on_a = Wrench::zero() - on_b.shift(&here.r);
        let scale = on_a.t.norm();
        let mut worst = [0.0f64; 2];
        for (node, F) in [on_a, on_b].into_iter().enumerate() {
            for along in 0..6 {
                let mut moved = bent().map(|(r, q)| (r.map(Dual::<1>::lift), q.lift()));
                let mut step = [Dual::<1>::lift(0.0); 6];
                step[along].eps[0] = 1.0;
                let (r, q) = &mut moved[node];
                *q = exp(Vec3::from_column_slice(&step[..3])) * *q;
                *r += Vec3::from_column_slice(&step[3..]);
                let strain = ELEMENT.strain(&span(moved));
                let work = ELEMENT.energy(&strain).eps[0] + F.to_array()[along];
                worst[0] = worst[0].max(work.abs() / scale);
                if node == 1 {
                    let V = Twist::from_slice(&std::array::from_fn::<f64, 6, _>(|k| f64::from(u8::from(k == along))));
                    let rate = ELEMENT.strain_rate(&here, &V);
                    let off = strain.gamma.map(|g| g.eps[0]) - rate.gamma;
                    let off = off.norm() + (strain.kappa.map(|k| k.eps[0]) - rate.kappa).norm();
                    worst[1] = worst[1].max(off);
                }
            }
        }
        println!(
            "forces {:.1e} (1e-14), rates of strain {:.1e} (1e-14)",
            worst[0], worst[1]
        );
        assert!(worst[0] < 1e-14 && worst[1] < 1e-14);
    }

    fn rigid_motions_cause_no_strain() {
        let [(r, q), _] = bent();
        let moved = [(r, q), (r + q.rotate(Vec3::x() * ELEMENT.l), q)];
        let strain = ELEMENT.strain(&span(moved));
        println!(
            "strains {:.1e} {:.1e} (1e-14)",
            strain.gamma.norm(),
            strain.kappa.norm()
        );
        // 12 m from the origin the round-off of a position is 2e-15 m.
        assert!(strain.gamma.norm() < 1e-14 && strain.kappa.norm() < 1e-15);
    }
}
