use super::BeamError;
use super::basis::Gauss;
use crate::algebra::{integer_power, square};

/// Minimum distance of two sections, relative to the beam's length, unless they coincide (a jump):
/// the round-off of bending on an element of the length `h` is `ε (L/h)³`, here 2e-7.
const CLOSEST: f64 = 1e-3;

/// A cut (an end of a part) within this distance of a section, relative to the beam's length, is
/// placed at the section: the difference is round-off.
const AT_SECTION: f64 = 1e-9;

/// Properties of a beam's cross-section at a station.
///
/// Beam axes: `x` along the beam from its root, `y` and `z` the section's principal axes. Mass
/// centre, area centroid and shear centre of every section are on the x axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Section {
    /// Distance from the root, m.
    pub x: f64,
    /// Mass per length, kg/m.
    pub mass_per_length: f64,
    /// Stiffness of deflection along **z**, N·m²: bending about y, in the plane of x and z;
    /// `E ∫z² dA`.
    pub EI_y: f64,
    /// Stiffness of deflection along **y**, N·m²: bending about z, in the plane of x and y;
    /// `E ∫y² dA`.
    pub EI_z: f64,
    /// Axial stiffness, N.
    pub EA: f64,
    /// Torsional stiffness, N·m².
    pub GJ: f64,
    /// Inertia about x per length, kg·m: `∫ρ (y² + z²) dA`.
    pub polar_inertia_per_length: f64,
}

impl Section {
    /// Returns the section with the position `x` (m).
    pub fn at(self, x: f64) -> Self {
        Self { x, ..self }
    }

    /// Returns the section at `x` by linear interpolation between `a` and `b`.
    pub(super) fn between(a: &Self, b: &Self, x: f64) -> Self {
        let t = (x - a.x) / (b.x - a.x);
        let mix = |property: fn(&Self) -> f64| (1.0 - t) * property(a) + t * property(b);
        Self {
            x,
            mass_per_length: mix(|s| s.mass_per_length),
            EI_y: mix(|s| s.EI_y),
            EI_z: mix(|s| s.EI_z),
            EA: mix(|s| s.EA),
            GJ: mix(|s| s.GJ),
            polar_inertia_per_length: mix(|s| s.polar_inertia_per_length),
        }
    }

    fn validate(&self) -> Result<(), BeamError> {
        let properties = [
            ("mass per length", self.mass_per_length),
            ("EI_y", self.EI_y),
            ("EI_z", self.EI_z),
            ("EA", self.EA),
            ("GJ", self.GJ),
            ("polar inertia per length", self.polar_inertia_per_length),
        ];
        for (name, value) in properties {
            if !(value.is_finite() && value >= 0.0) {
                return Err(BeamError::Value { name, x: self.x, value });
            }
        }
        Ok(())
    }
}

/// A homogeneous cross-section: material and geometry, from which [`section`](Self::section)
/// computes a [`Section`].
///
/// ```
/// # use grapple::beam::Profile;
/// // An aluminium tube, radii 60 mm and 57 mm.
/// let (outer, inner) = (0.060_f64, 0.057_f64);
/// let area = std::f64::consts::PI * (outer.powi(2) - inner.powi(2));
/// let I = area * (outer.powi(2) + inner.powi(2)) / 4.0;
/// let tube = Profile { E: 70e9, rho: 2700.0, A: area, I_y: I, I_z: I, GJ: 26e9 * 2.0 * I };
/// assert!((tube.section(0.0).mass_per_length - 2.977).abs() < 1e-3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    /// Young's modulus, Pa.
    pub E: f64,
    /// Density, kg/m³.
    pub rho: f64,
    /// Area, m².
    pub A: f64,
    /// `∫z² dA`, m⁴, for deflection along z.
    pub I_y: f64,
    /// `∫y² dA`, m⁴, for deflection along y.
    pub I_z: f64,
    /// Torsional stiffness, N·m²: shear modulus times torsion constant, which is `I_y + I_z` for
    /// tubes and circular rods only.
    pub GJ: f64,
}

impl Profile {
    /// Returns the section at `x` (m).
    pub fn section(&self, x: f64) -> Section {
        Section {
            x,
            mass_per_length: self.rho * self.A,
            EI_y: self.E * self.I_y,
            EI_z: self.E * self.I_z,
            EA: self.E * self.A,
            GJ: self.GJ,
            polar_inertia_per_length: self.rho * (self.I_y + self.I_z),
        }
    }
}

/// A straight beam: its sections from root to tip.
///
/// Between stations the properties vary linearly; two coinciding stations are a jump of the
/// properties.
#[derive(Clone, Debug, PartialEq)]
pub struct Beam {
    stations: Vec<Section>,
}

impl Beam {
    /// Creates a beam from its stations, root first.
    ///
    /// # Errors
    ///
    /// If stations are missing, out of order or too close to each other, or a property is negative
    /// or not finite. A stiffness or inertia may be zero as long as no requested mode needs it.
    pub fn new(stations: Vec<Section>) -> Result<Self, BeamError> {
        let first = stations.first().map_or(f64::NAN, |s| s.x);
        if stations.len() < 2 || first != 0.0 {
            return Err(BeamError::Ends {
                stations: stations.len(),
                first,
            });
        }
        let last = stations.len() - 1;
        for i in 1..=last {
            let x = stations[i].x;
            let jump = i > 1 && i < last && x == stations[i - 1].x && x > stations[i - 2].x;
            if !(x.is_finite() && x > stations[i - 1].x || jump) {
                return Err(BeamError::Order { station: i, x });
            }
        }
        let near = stations.windows(2).enumerate().find(|(_, pair)| {
            let apart = pair[1].x - pair[0].x;
            apart > 0.0 && apart < CLOSEST * stations[last].x
        });
        if let Some((i, pair)) = near {
            return Err(BeamError::Close {
                station: i,
                x: pair[0].x,
                apart: pair[1].x - pair[0].x,
                least: CLOSEST * stations[last].x,
            });
        }
        stations.iter().try_for_each(Section::validate)?;
        Ok(Self { stations })
    }

    /// Creates a beam with the same section from root to tip, `length` in m.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn uniform(length: f64, section: Section) -> Result<Self, BeamError> {
        Self::new(vec![section.at(0.0), section.at(length)])
    }

    /// Returns the part between `a` and `b` (m), with its root at `a`.
    ///
    /// # Errors
    ///
    /// [`BeamError::Ends`] if the beam does not extend from `a` to `b`, [`BeamError::Cut`] if a
    /// section is too close to `a` or `b` without coinciding.
    pub fn part(&self, a: f64, b: f64) -> Result<Self, BeamError> {
        let nearest = |x: f64| {
            self.stations
                .iter()
                .map(|s| s.x)
                .find(|s| (s - x).abs() <= AT_SECTION * self.length())
        };
        let [a, b] = [a, b].map(|x| nearest(x).unwrap_or(x));
        // The interval between the two stations of a jump is empty.
        let overlaps = |pair: &&[Section]| pair[0].x < pair[1].x && pair[0].x < b && a < pair[1].x;
        let pieces = self.stations.windows(2).filter(overlaps);
        let ends = pieces.flat_map(|pair| {
            let at = |x: f64| Section::between(&pair[0], &pair[1], x).at(x - a);
            [at(pair[0].x.max(a)), at(pair[1].x.min(b))]
        });
        let mut stations: Vec<Section> = ends.collect();
        stations.dedup();
        Self::new(stations).map_err(|error| match error {
            // The stations of the whole beam are far enough apart: one of the two is an end of the
            // part.
            BeamError::Close {
                station,
                x,
                apart,
                least,
            } => {
                let (section, cut) = if station == 0 { (a + apart, a) } else { (a + x, b) };
                BeamError::Cut { section, cut, least }
            }
            other => other,
        })
    }

    /// Returns the mass (kg) and the moments of inertia about the beam's axes at its root (kg·m²):
    /// the beam as a rigid load.
    pub fn as_load(&self) -> (f64, [f64; 3]) {
        let (mut m, mut inertia) = (0.0, [0.0; 3]);
        let gauss = Gauss::new(2); // exact for x² times a linear section property
        for pair in self.stations.windows(2) {
            for (x, dx) in gauss.on(pair[0].x, pair[1].x).filter(|&(_, dx)| dx > 0.0) {
                let section = Section::between(&pair[0], &pair[1], x);
                let dm = section.mass_per_length * dx;
                m += dm;
                inertia[0] += section.polar_inertia_per_length * dx;
                inertia[1] += x * x * dm;
                inertia[2] += x * x * dm;
            }
        }
        (m, inertia)
    }

    /// Returns the length, m.
    pub fn length(&self) -> f64 {
        self.stations[self.stations.len() - 1].x
    }

    /// Returns the stations, root first.
    pub fn stations(&self) -> &[Section] {
        &self.stations
    }
}

/// Returns the `EI` (N·m²) for which a uniform cantilever of `mass` (kg) and `length` (m) has the
/// first bending frequency `frequency` (Hz): `EI = (2πf)² m L³ / β⁴`, `cos β cosh β = −1`.
///
/// ```
/// # use grapple::beam::cantilever_EI;
/// assert!((cantilever_EI(5.0, 1.0, 1.0) - 79.84).abs() < 0.01);
/// ```
pub fn cantilever_EI(frequency: f64, mass: f64, length: f64) -> f64 {
    const BETA: f64 = 1.875_104_068_711_961_2;
    square(std::f64::consts::TAU * frequency) * mass * integer_power(length, 3) / integer_power(BETA, 4)
}
