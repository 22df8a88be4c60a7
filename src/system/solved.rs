use super::BodyConstants;
use super::elastic::{Amplitude, Elastic, Field, MassTerm, ModeConstants, StationConstants};
use crate::algebra::{Pose, Sym3, Vec3, square};
use crate::beam::{Kind, Mode, Modes as Shapes, Particle};
use std::collections::BTreeMap;

/// A beam, or a segment of one, with its modes and its pose in the body.
#[derive(Clone, Debug)]
pub(super) struct Solved {
    shapes: Shapes,
    /// For a segment: the whole beam clamped at its root. No modes are kept, so its
    /// [`omitted`](Shapes::omitted) are the first frequencies.
    whole: Option<Shapes>,
    particles: Vec<Particle>,
    /// Position of the body's origin in the spec's body, m: nonzero for segments after the first,
    /// whose origin is their root.
    origin: Vec3<f64>,
    /// Pose of the beam frame in the body.
    X_BR: Pose<f64>,
    stiffening: bool,
}

impl Solved {
    /// Creates the beam with its root frame at `X_BR` in the body.
    pub fn new(shapes: Shapes, whole: Option<Shapes>, origin: Vec3<f64>, X_BR: Pose<f64>, stiffening: bool) -> Self {
        Self {
            particles: shapes.particles(),
            shapes,
            whole,
            origin,
            X_BR,
            stiffening,
        }
    }

    /// Returns mass (kg), mass centre (m) and inertia about it (kg·m²) of the beam alone, body
    /// axes.
    pub fn about_centre(&self) -> (f64, Vec3<f64>, Sym3<f64>) {
        let sum = |of: &dyn Fn(&Particle) -> f64| self.particles.iter().map(of).sum::<f64>();
        let m = sum(&|piece| piece.mass);
        let centre = sum(&|piece| piece.mass * piece.x) / m;
        let across = sum(&|piece| piece.mass * square(piece.x - centre));
        let I = Sym3 {
            d: [sum(&|piece| piece.polar_inertia), across, across],
            o: [0.0; 3],
        };
        (m, self.on_axis(centre), I.express(&self.X_BR.R))
    }

    /// Returns the undeformed position at `x` (m) on the axis, m, body axes.
    fn on_axis(&self, x: f64) -> Vec3<f64> {
        self.X_BR.p + self.X_BR.R * Vec3::x() * x
    }

    /// Returns the station on the beam's axis nearest to the point `p` (m) of the undeformed body
    /// in the spec.
    pub fn near(&self, p: &Vec3<f64>) -> StationConstants {
        let along = self.X_BR.R.tr_mul(&(p - self.origin - self.X_BR.p)).x;
        self.at(along.clamp(0.0, self.shapes.length()))
    }

    /// Returns the station at the tip.
    pub fn tip(&self) -> StationConstants {
        self.at(self.shapes.length())
    }

    /// Returns the station at `x` (m) along the beam's axis.
    fn at(&self, x: f64) -> StationConstants {
        let point = self.shapes.at(x).express(&self.X_BR.R);
        StationConstants {
            p: self.on_axis(x),
            written: self.origin + self.on_axis(x),
            shape: point.Phi.iter().copied().collect(),
            slope: point.Psi.iter().copied().collect(),
            pairs: self.pairs().map(|(k, l)| (k, l, point.G[(k, l)])).collect(),
            is_aligned: false,
        }
    }

    /// Returns the pairs of modes `k ≤ l` whose product causes foreshortening; none without
    /// `stiffening`.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let list = self.shapes.list();
        let all = (0..list.len()).flat_map(|k| (k..list.len()).map(move |l| (k, l)));
        all.filter(|&(k, l)| self.stiffening && list[k].foreshortens_with(&list[l]))
    }

    /// Returns the constants of the dynamics, for the mass properties of the whole body (with the
    /// beam) and the modes' damping ratios.
    pub fn elastic(&self, body: &BodyConstants, damping_ratio: impl Fn(usize) -> f64) -> Elastic {
        let list = self.shapes.list();
        let n = list.len();
        let axes = self.X_BR.R;
        let (fields, products) = self.fields();
        let (spin, mut mass) = self.spin();
        let mut terms: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for (i, a) in fields.iter().enumerate() {
            for (j, b) in fields.iter().enumerate().filter(|(_, b)| b.axis == a.axis) {
                let product = products[i * fields.len() + j];
                for (k, of_k) in a.amplitude.slopes() {
                    for (l, of_l) in b.amplitude.slopes() {
                        let power = match (of_k, of_l) {
                            (None, None) => {
                                mass[k * n + l] += product;
                                continue;
                            }
                            _ if k < l => continue,
                            (None, Some(of)) | (Some(of), None) => of,
                            (Some(x), Some(y)) => n + x.max(y) * (x.max(y) + 1) / 2 + x.min(y),
                        };
                        *terms.entry((power, k * n + l)).or_default() += product;
                    }
                }
            }
        }
        let terms = terms.into_iter().filter(|(_, factor)| *factor != 0.0);
        let mass_terms = terms.map(|((power, entry), factor)| MassTerm { entry, power, factor });
        let modes = list.iter().zip(spin).enumerate().map(|(k, (mode, b))| ModeConstants {
            b,
            stiffness: mode.omega * mode.omega,
            damping: 2.0 * damping_ratio(k) * self.per_omega(mode) * mode.omega,
            of_curvature: self.shapes.forces_of_curvature(mode),
        });
        let has_modes = |kind: &Kind| list.iter().any(|mode| mode.kind == *kind);
        let kinds = Kind::ALL.into_iter().filter(has_modes);
        Elastic {
            modes: modes.collect(),
            along: Field::ranges(&fields),
            fields,
            products,
            mass_terms: mass_terms.collect(),
            h: axes.tr_mul(&body.h),
            J: body.J_Bo.express(&axes.transpose()),
            mass,
            root: self.X_BR.p,
            axes,
            length: self.shapes.length(),
            line: axes.tr_mul(&self.on_axis(0.5 * self.shapes.length())) * self.shapes.length(),
            omitted: kinds.filter_map(|kind| self.shapes.omitted(kind)).collect(),
        }
    }

    /// Returns the factor of a mode's damping ratio: one, or for a segment the ratio of the mode's
    /// frequency to the whole beam's first frequency of that type (stiffness-proportional damping).
    fn per_omega(&self, mode: &Mode) -> f64 {
        let first = self.whole.as_ref().and_then(|whole| whole.omitted(mode.kind));
        first.map_or(1.0, |first| mode.omega / first)
    }

    /// Returns the displacement fields, ordered by axis, and the integrals of their products,
    /// row-major.
    fn fields(&self) -> (Vec<Field>, Vec<f64>) {
        let list = self.shapes.list();
        let root = self.X_BR.R.tr_mul(&self.X_BR.p);
        let modes = (0..list.len()).filter_map(|k| Some((list[k].kind.axis()?, Amplitude::Mode(k))));
        let foreshortened = self.pairs().map(|(k, l)| (0, Amplitude::Pair(k, l)));
        let mut amplitudes: Vec<(usize, Amplitude)> = modes.chain(foreshortened).collect();
        amplitudes.sort_by_key(|(axis, _)| *axis);
        let (mut fields, mut values): (Vec<Field>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
        for (axis, amplitude) in amplitudes {
            let value = |piece: &Particle| match amplitude {
                Amplitude::Mode(k) => piece.point.Phi[k][axis],
                Amplitude::Pair(k, l) => piece.point.G[(k, l)][axis],
            };
            let f: Vec<f64> = self.particles.iter().map(value).collect();
            let pieces = || self.particles.iter().zip(&f);
            fields.push(Field {
                amplitude,
                axis,
                a: pieces().map(|(piece, f)| piece.mass * f).sum(),
                l: pieces().map(|(piece, f)| piece.length * f).sum(),
                Y: pieces()
                    .map(|(piece, f)| (root + Vec3::x() * piece.x) * (piece.mass * f))
                    .sum(),
            });
            values.push(f);
        }
        let product = |a: &Vec<f64>, b: &Vec<f64>| {
            let both = a.iter().zip(b).zip(&self.particles);
            both.map(|((a, b), piece)| piece.mass * a * b).sum::<f64>()
        };
        let rows = values.iter().flat_map(|a| values.iter().map(move |b| product(a, b)));
        let products = rows.collect();
        (fields, products)
    }

    /// Returns the sections' angular momentum per unit of each mode's rate, and their contribution
    /// to the modal mass, row-major.
    fn spin(&self) -> (Vec<Vec3<f64>>, Vec<f64>) {
        let n = self.shapes.list().len();
        let mut spin = vec![Vec3::zeros(); n];
        let mut mass = vec![0.0; n * n];
        for piece in &self.particles {
            let twist = |k: usize| piece.point.Psi[k].x;
            for k in 0..n {
                spin[k].x += piece.polar_inertia * twist(k);
                for l in 0..n {
                    mass[k * n + l] += piece.polar_inertia * twist(k) * twist(l);
                }
            }
        }
        (spin, mass)
    }
}
