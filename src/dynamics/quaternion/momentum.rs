use crate::algebra::{Scalar, SmallSpd, Vec3, lift3};
use crate::system::{Derived, Kinematics, System};

/// Which rows there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Those of the joints.
    Joints,
    /// Those of momentum too.
    Momentum,
    /// The same without the modes' part, to the letter of Kłak and Jarzębowska's (17).
    MomentumWithoutModes,
}

/// The balance of momentum of each free-floating craft as six rows more, `R a = g`: Kłak and Jarzębowska's (7) and (8),
/// differentiated,
///
/// ```text
///     Σ_bodies (I A + Σ L_k η̈_k) = Σ_bodies f,   moments about the craft's mass centre,
/// ```
///
/// with the modes' part, which the paper leaves out, and with all loads from outside in `f`, so that a thrust moves the craft; with the
/// paper's `p = p₀` the rows would cancel it. They follow from the bodies' own equations: their multipliers are zero to round-off.
/// To the letter of the paper's (17) (without the modes' part) they do not, and forces from nowhere hold them.
#[derive(Clone, Debug)]
pub(super) struct MomentumRows<S: Scalar> {
    /// Which craft each body belongs to; none if it is joined to the world.
    pub craft: Vec<Option<usize>>,
    /// Whether the modes' momentum is in them.
    pub with_modes: bool,
    /// One for each craft.
    pub rows: Vec<CraftRows<S>>,
}

/// The rows of one craft.
#[derive(Clone, Debug)]
pub(super) struct CraftRows<S: Scalar> {
    /// Its mass, kg.
    mass: f64,
    /// Its mass centre, m, from the world's origin.
    pub centre: Vec3<S>,
    /// `g`.
    pub g: [S; 6],
    /// `R K⁻¹ Rᵀ`, with the saddle-point matrix `K`.
    pub response: [[S; 6]; 6],
    /// The multipliers `σ`.
    pub sigma: [S; 6],
}

impl<S: Scalar> MomentumRows<S> {
    pub fn new(system: &System, with_modes: bool) -> Self {
        let (mut craft, mut rows): (Vec<Option<usize>>, Vec<CraftRows<S>>) = (Vec::new(), Vec::new());
        for body in &system.bodies {
            craft.push(match body.joint.nv {
                6 => {
                    rows.push(CraftRows {
                        mass: 0.0,
                        centre: Vec3::zeros(),
                        g: [S::zero(); 6],
                        response: [[S::zero(); 6]; 6],
                        sigma: [S::zero(); 6],
                    });
                    Some(rows.len() - 1)
                }
                _ => body.parent.and_then(|parent| craft[parent]),
            });
        }
        Self {
            craft,
            with_modes,
            rows,
        }
    }

    /// Finds the mass centres, of bodies at rest, and clears the sums.
    pub fn begin(&mut self, derived: &Derived, kinematics: &Kinematics<S>) {
        for rows in &mut self.rows {
            (rows.mass, rows.centre, rows.g) = (0.0, Vec3::zeros(), [S::zero(); 6]);
        }
        for ((body, at), craft) in derived.bodies.iter().zip(&kinematics.bodies).zip(&self.craft) {
            if let Some(craft) = *craft {
                let rows = &mut self.rows[craft];
                rows.mass += body.m;
                rows.centre += (at.p_WB + at.R_WB * lift3::<S>(&body.p_BoBcm)) * S::lift(body.m);
            }
        }
        for rows in &mut self.rows {
            rows.centre /= S::lift(rows.mass);
        }
    }

    /// Takes `R a − g` of the bodies' `R` and `a`.
    pub fn take_excess<'a>(&mut self, bodies: impl Iterator<Item = (&'a [Vec<S>; 6], &'a [S])>) {
        for rows in &mut self.rows {
            rows.sigma = rows.g.map(|g| -g);
        }
        for (craft, (R, a)) in self.craft.iter().zip(bodies) {
            if let Some(craft) = *craft {
                let sigma = self.rows[craft].sigma.iter_mut().zip(R);
                sigma.for_each(|(sum, R)| *sum += product(R, a));
            }
        }
    }

    /// Takes what the bodies' accelerations `a` for a unit of row `l` are in all rows.
    pub fn take_response<'a>(&mut self, l: usize, bodies: impl Iterator<Item = (&'a [Vec<S>; 6], &'a [S])>) {
        for rows in &mut self.rows {
            rows.response.iter_mut().for_each(|row| row[l] = S::zero());
        }
        for (craft, (R, a)) in self.craft.iter().zip(bodies) {
            if let Some(craft) = *craft {
                let response = self.rows[craft].response.iter_mut().zip(R);
                response.for_each(|(row, R)| row[l] += product(R, a));
            }
        }
    }

    /// Solves for the multipliers.
    pub fn solve(&mut self) {
        for rows in &mut self.rows {
            // Six rows that no joint can resist: positive definite, unless something is not a number, which then shows elsewhere.
            let factors = SmallSpd::factor(&rows.response);
            rows.sigma = factors.map_or([S::lift(f64::NAN); 6], |factors| factors.solve(&rows.sigma));
        }
    }
}

fn product<S: Scalar>(a: &[S], b: &[S]) -> S {
    a.iter().zip(b).fold(S::zero(), |sum, (&a, &b)| sum + a * b)
}
