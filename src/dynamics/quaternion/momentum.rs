use crate::algebra::{Scalar, SmallSpd, Vec3, lift3};
use crate::system::{Derived, Kinematics, System};

/// Selection of the rows of the saddle-point system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Constraint rows of the joints.
    Joints,
    /// Joint rows and momentum rows.
    Momentum,
    /// As [`Momentum`](Self::Momentum) without the modes' part, as in Kłak and Jarzębowska's (17).
    MomentumWithoutModes,
}

/// Momentum balance of each free-floating spacecraft as six further rows, `R a = g`: Kłak and
/// Jarzębowska's (7) and (8), differentiated,
///
/// ```text
///     Σ_bodies (I A + Σ L_k η̈_k) = Σ_bodies f,   moments about the spacecraft's mass centre,
/// ```
///
/// with the modes' part, which the paper omits, and with all external loads in `f`; the paper's
/// `p = p₀` would cancel a thrust. The rows are redundant: they follow from the bodies' equations,
/// and their multipliers are zero to round-off. Without the modes' part (the paper's (17)) they are
/// not, and their multipliers act as spurious external forces.
#[derive(Clone, Debug)]
pub(super) struct MomentumRows<S: Scalar> {
    /// Index of each body's spacecraft; `None` if the body is connected to the world.
    pub spacecraft: Vec<Option<usize>>,
    /// True if the rows include the momentum of the modes.
    pub with_modes: bool,
    /// The rows of each spacecraft.
    pub rows: Vec<SpacecraftRows<S>>,
}

/// The momentum rows of one spacecraft.
#[derive(Clone, Debug)]
pub(super) struct SpacecraftRows<S: Scalar> {
    /// Mass, kg.
    mass: S::Constant,
    /// Mass centre from the world's origin, m.
    pub centre: Vec3<S>,
    /// Right-hand side `g`.
    pub g: [S; 6],
    /// `R K⁻¹ Rᵀ`, with the saddle-point matrix `K`.
    pub response: [[S; 6]; 6],
    /// The multipliers `σ`.
    pub sigma: [S; 6],
}

impl<S: Scalar> MomentumRows<S> {
    pub fn new(system: &System, with_modes: bool) -> Self {
        let (mut spacecraft, mut rows): (Vec<Option<usize>>, Vec<SpacecraftRows<S>>) = (Vec::new(), Vec::new());
        for body in &system.bodies {
            spacecraft.push(match body.joint.nv {
                6 => {
                    rows.push(SpacecraftRows {
                        mass: S::Constant::number(0.0),
                        centre: Vec3::zeros(),
                        g: [S::zero(); 6],
                        response: [[S::zero(); 6]; 6],
                        sigma: [S::zero(); 6],
                    });
                    Some(rows.len() - 1)
                }
                _ => body.parent.and_then(|parent| spacecraft[parent]),
            });
        }
        Self {
            spacecraft,
            with_modes,
            rows,
        }
    }

    /// Computes the mass centre of each spacecraft with undeformed bodies, and sets `g` to zero.
    pub fn begin(&mut self, derived: &Derived<S::Constant>, kinematics: &Kinematics<S>) {
        for rows in &mut self.rows {
            (rows.mass, rows.centre, rows.g) = (S::Constant::number(0.0), Vec3::zeros(), [S::zero(); 6]);
        }
        for ((body, at), spacecraft) in derived.bodies.iter().zip(&kinematics.bodies).zip(&self.spacecraft) {
            if let Some(spacecraft) = *spacecraft {
                let rows = &mut self.rows[spacecraft];
                rows.mass += body.m;
                rows.centre += (at.p_WB + at.R_WB * lift3::<S>(&body.p_BoBcm)) * S::lift(body.m);
            }
        }
        for rows in &mut self.rows {
            rows.centre /= S::lift(rows.mass);
        }
    }

    /// Computes the residual `R a − g` from the bodies' `R` and `a`, into `sigma`.
    pub fn take_excess<'a>(&mut self, bodies: impl Iterator<Item = (&'a [Vec<S>; 6], &'a [S])>) {
        for rows in &mut self.rows {
            rows.sigma = rows.g.map(|g| -g);
        }
        for (spacecraft, (R, a)) in self.spacecraft.iter().zip(bodies) {
            if let Some(spacecraft) = *spacecraft {
                let sigma = self.rows[spacecraft].sigma.iter_mut().zip(R);
                sigma.for_each(|(sum, R)| *sum += product(R, a));
            }
        }
    }

    /// Computes column `l` of the response from the bodies' accelerations `a` for a unit
    /// multiplier.
    pub fn take_response<'a>(&mut self, l: usize, bodies: impl Iterator<Item = (&'a [Vec<S>; 6], &'a [S])>) {
        for rows in &mut self.rows {
            rows.response.iter_mut().for_each(|row| row[l] = S::zero());
        }
        for (spacecraft, (R, a)) in self.spacecraft.iter().zip(bodies) {
            if let Some(spacecraft) = *spacecraft {
                let response = self.rows[spacecraft].response.iter_mut().zip(R);
                response.for_each(|(row, R)| row[l] += product(R, a));
            }
        }
    }

    /// Solves for the multipliers, from the residual in `sigma`.
    pub fn solve(&mut self) {
        for rows in &mut self.rows {
            // No joint constrains the six rigid motions of a spacecraft: the matrix is positive
            // definite, unless an entry is NaN, which the caller detects in the accelerations.
            let factors = SmallSpd::factor(&rows.response);
            rows.sigma = factors.map_or([S::lift(f64::NAN); 6], |factors| factors.solve(&rows.sigma));
        }
    }
}

fn product<S: Scalar>(a: &[S], b: &[S]) -> S {
    a.iter().zip(b).fold(S::zero(), |sum, (&a, &b)| sum + a * b)
}
