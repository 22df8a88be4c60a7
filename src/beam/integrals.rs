use nalgebra::DMatrix;

use super::basis::Gauss;
use super::mesh::Element;
use super::mode::Values;
use super::{Kind, Modes, Section};
use crate::algebra::{Mat3, Pose, Sym3, Vec3};

/// What the dynamics of a flexible body needs to know of a beam: integrals over its mass, without a load at its tip.
///
/// The beam's particle at `x` (from the origin, in stated axes) goes to
///
/// ```text
///     p(x, η) = x + Σ_k Φ_k η_k + ½ Σ_kl G_kl η_k η_l
/// ```
///
/// and its section turns by `Σ_k Ψ_k η_k`. Units are those of modal amplitudes in √kg·m, as mass-normalised modes have
/// them. Sections have inertia about the beam's axis only (a slender rod).
#[derive(Clone, Debug, PartialEq)]
pub struct Integrals {
    /// Mass `∫dm`, kg.
    pub m: f64,
    /// First moment `∫x dm`, kg·m.
    pub c0: Vec3<f64>,
    /// Inertia about the origin `∫(|x|²1 − x xᵀ) dm + e_x e_xᵀ ∫ρI_p dx`, kg·m².
    pub J0: Sym3<f64>,
    /// `∫Φ_k dm`, √kg: momentum per modal rate.
    pub C_k: Vec<Vec3<f64>>,
    /// `∫x ⊗ Φ_k dm`, √kg·m: row of `x`, column of `Φ_k`.
    pub S_k: Vec<Mat3<f64>>,
    /// `e_x ∫ρI_p ψ_k dx`, √kg·m: angular momentum of a twisting mode's sections per modal rate.
    pub h_k: Vec<Vec3<f64>>,
    /// `∫Φ_k ⊗ Φ_l dm`.
    pub S_kl: DMatrix<Mat3<f64>>,
    /// `∫G_kl dm`, 1.
    pub c_kl: DMatrix<Vec3<f64>>,
    /// `∫x ⊗ G_kl dm`, m.
    pub D_kl: DMatrix<Mat3<f64>>,
    /// Modal mass `∫Φ_k·Φ_l dm + ∫ρI_p ψ_k ψ_l dx`: the identity, unless the boundary was loaded.
    pub M_kl: DMatrix<f64>,
    /// Modal stiffness, 1/s²: strain energy is `½ Σ_kl K_kl η_k η_l`. `ω_k²` on the diagonal, else zero.
    pub K_kl: DMatrix<f64>,
}

impl Modes {
    /// The integrals in beam axes about the root.
    pub fn integrals(&self) -> Integrals {
        let n = self.list().len();
        let mut sum = Integrals::zero(n);
        let degree = self.list().iter().map(|mode| mode.shape.degree).fold(0, usize::max);
        let gauss = Gauss::of(degree.max(1));
        let mut outboard = Outboard::default();
        for e in (0..self.elements.len()).rev() {
            let element = &self.elements[e];
            for (x, dx) in gauss.on(element.a.x, element.b.x) {
                let s = element.local(x);
                let values: Vec<Values> = self.list().iter().map(|mode| mode.shape.on(e, s)).collect();
                let section = element.section(x);
                sum.add_rigid(&section, dx);
                self.add_modal(&mut sum, &section, &values, dx);
                self.add_foreshortening(&mut sum, &outboard.and_from(element, x), &values, dx);
            }
            outboard = outboard.and_from(element, element.a.x);
        }
        sum
    }

    fn add_modal(&self, sum: &mut Integrals, section: &Section, values: &[Values], dx: f64) {
        let x = Vec3::x() * section.x;
        let dm = section.mass_per_length * dx;
        for (k, mode) in self.list().iter().enumerate() {
            let Phi = mode.kind.displacement() * values[k].value;
            sum.C_k[k] += Phi * dm;
            sum.S_k[k] += x * Phi.transpose() * dm;
            if mode.kind == Kind::Torsion {
                sum.h_k[k] += Vec3::x() * (section.polar_inertia_per_length * values[k].value * dx);
            }
            for (l, other) in self.list().iter().enumerate() {
                let Phi_l = other.kind.displacement() * values[l].value;
                sum.S_kl[(k, l)] += Phi * Phi_l.transpose() * dm;
                if other.kind == mode.kind {
                    let kind = mode.kind;
                    sum.M_kl[(k, l)] += kind.inertia(section) * values[k].value * values[l].value * dx;
                    sum.K_kl[(k, l)] +=
                        kind.stiffness(section) * kind.strain(&values[k]) * kind.strain(&values[l]) * dx;
                }
            }
        }
    }

    /// Foreshortening at a place pulls in everything beyond it, so the order of the integrations can be changed:
    ///
    /// ```text
    ///     ∫₀ᴸ μ(x) ∫₀ˣ φ_k′ φ_l′ ds dx = ∫₀ᴸ φ_k′ φ_l′ ∫ₛᴸ μ(x) dx ds
    /// ```
    fn add_foreshortening(&self, sum: &mut Integrals, outboard: &Outboard, values: &[Values], dx: f64) {
        for (k, mode) in self.list().iter().enumerate() {
            for (l, other) in self.list().iter().enumerate() {
                if mode.kind.foreshortens_with(other.kind) {
                    let g = values[k].slope * values[l].slope * dx;
                    sum.c_kl[(k, l)].x -= g * outboard.m;
                    sum.D_kl[(k, l)].m11 -= g * outboard.c;
                }
            }
        }
    }
}

impl Integrals {
    /// Mass (kg), mass centre (m) and inertia about it (kg·m²) at rest.
    pub fn about_centre(&self) -> (f64, Vec3<f64>, Sym3<f64>) {
        let centre = self.c0 / self.m;
        (self.m, centre, self.J0 + Sym3::point_mass(-self.m, &centre))
    }

    fn zero(n: usize) -> Self {
        Self {
            m: 0.0,
            c0: Vec3::zeros(),
            J0: Sym3::zero(),
            C_k: vec![Vec3::zeros(); n],
            S_k: vec![Mat3::zeros(); n],
            h_k: vec![Vec3::zeros(); n],
            S_kl: DMatrix::from_element(n, n, Mat3::zeros()),
            c_kl: DMatrix::from_element(n, n, Vec3::zeros()),
            D_kl: DMatrix::from_element(n, n, Mat3::zeros()),
            M_kl: DMatrix::zeros(n, n),
            K_kl: DMatrix::zeros(n, n),
        }
    }

    fn add_rigid(&mut self, section: &Section, dx: f64) {
        let dm = section.mass_per_length * dx;
        let x = Vec3::x() * section.x;
        self.m += dm;
        self.c0 += x * dm;
        self.J0 = self.J0 + Sym3::point_mass(dm, &x);
        self.J0.d[0] += section.polar_inertia_per_length * dx;
    }

    /// The integrals about a body's origin and in its axes, for a beam whose root frame is at `X_BR` in the body.
    ///
    /// With `X_BR = (R, r)` particles are at `r + R x` and move along `R Φ_k`.
    pub fn placed(&self, X_BR: &Pose<f64>) -> Self {
        let (R, r) = (&X_BR.R, &X_BR.p);
        let vector = |v: &Vec3<f64>| R * v;
        let tensor = |S: &Mat3<f64>| R * S * R.transpose();
        let c = R * self.c0;
        // Steiner: ∫(|r+x|² 1 − (r+x)(r+x)ᵀ) dm = J + m(|r|²1 − r rᵀ) + 2(r·c) 1 − (r cᵀ + c rᵀ)
        let shift = Mat3::identity() * (2.0 * r.dot(&c)) - (r * c.transpose() + c * r.transpose());
        let moments = |S: &Mat3<f64>, C: &Vec3<f64>| tensor(S) + r * (R * C).transpose();
        Self {
            m: self.m,
            c0: r * self.m + c,
            J0: self.J0.express(R) + Sym3::point_mass(self.m, r) + Sym3::from_upper(&shift),
            C_k: self.C_k.iter().map(vector).collect(),
            S_k: self.S_k.iter().zip(&self.C_k).map(|(S, C)| moments(S, C)).collect(),
            h_k: self.h_k.iter().map(vector).collect(),
            S_kl: self.S_kl.map(|S| tensor(&S)),
            c_kl: self.c_kl.map(|c| vector(&c)),
            D_kl: self.D_kl.zip_map(&self.c_kl, |D, c| moments(&D, &c)),
            M_kl: self.M_kl.clone(),
            K_kl: self.K_kl.clone(),
        }
    }
}

/// Mass (kg) and first moment about the root (kg·m) of what lies beyond a place.
#[derive(Clone, Copy, Default)]
struct Outboard {
    m: f64,
    c: f64,
}

impl Outboard {
    /// Adds the element's part beyond `x`; exact for a linear mass per length.
    fn and_from(&self, element: &Element, x: f64) -> Self {
        let end = element.b.x;
        let middle = 0.5 * (x + end);
        let mu = |x: f64| element.section(x).mass_per_length;
        Self {
            m: self.m + (end - x) * mu(middle),
            c: self.c + (end - x) / 6.0 * (x * mu(x) + 4.0 * middle * mu(middle) + end * mu(end)),
        }
    }
}
