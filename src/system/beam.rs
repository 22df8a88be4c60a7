use super::solved::Solved;
use super::{Bound, Declarations, ParamId, Quantity, Unit};
use crate::algebra::{Pose, Quaternion, Vec3};
use crate::beam::{self, BeamError, Counts};
use crate::spec::{self, at};
use std::ops::Range;

/// The beam of a flexible link: the indices of its parameters and its structural data.
#[derive(Clone, Debug)]
pub struct Beam {
    boundary: spec::Boundary,
    counts: Counts,
    stiffening: bool,
    /// Sections of a tapered beam, without the factors `mass_scale` and `stiffness_scale`.
    sections: Vec<spec::Section>,
    numbers: Numbers,
    /// Index range of all parameters that affect the modes.
    shape: Range<usize>,
    /// Damping ratio of each mode, if specified.
    damping_ratio: Option<ParamId>,
    /// Limit of linear bending: ratio of the tip's deflection to the length.
    linear_limit: ParamId,
    /// First initial amplitude and first initial rate; each has one value for each mode, segment by
    /// segment.
    start: (ParamId, ParamId),
    /// Number of segments.
    segments: usize,
}

/// Indices of the numerical parameters; `None` for those that the spec omits.
#[derive(Clone, Debug)]
struct Numbers {
    origin: ParamId,
    orientation: Option<ParamId>,
    length: Option<ParamId>,
    mass_per_length: Option<ParamId>,
    EI: Option<ParamId>,
    EI_y: Option<ParamId>,
    EI_z: Option<ParamId>,
    first_frequency: Option<ParamId>,
    EA: Option<ParamId>,
    GJ: Option<ParamId>,
    polar_inertia_per_length: Option<ParamId>,
    E: Option<ParamId>,
    density: Option<ParamId>,
    area: Option<ParamId>,
    I_y: Option<ParamId>,
    I_z: Option<ParamId>,
    mass_scale: Option<ParamId>,
    stiffness_scale: Option<ParamId>,
    tip_mass: Option<ParamId>,
    tip_inertia: Option<ParamId>,
}

impl Numbers {
    /// Declares the numerical parameters of the beam of the body `name`.
    fn declare(name: &str, written: &spec::Beam, declare: &mut Declarations) -> Self {
        let (origin, orientation) = super::declare::declare_placement(
            &format!("{name}.beam"),
            &at("body", name, "beam"),
            "body",
            written.origin,
            (written.orientation, written.rpy_deg),
            declare,
        );
        let mut number = |field: &str, value: Option<f64>| {
            let (unit, what) = unit_and_meaning(field);
            let bound = match field {
                "tip_mass" => Bound::NotNegative,
                _ => Bound::Positive,
            };
            let quantity = Quantity::new(format!("{name}.{field}"), unit, format!("{what} of {name}")).bounded(bound);
            let place = at("body", name, &format!("beam.{field}"));
            value.map(|value| declare.parameter(quantity, value, false, &place))
        };
        let tabulated = (!written.sections.is_empty()).then_some(1.0);
        Self {
            origin,
            orientation,
            length: number("length", written.length),
            mass_per_length: number("mass_per_length", written.mass_per_length),
            EI: number("EI", written.EI),
            EI_y: number("EI_y", written.EI_y),
            EI_z: number("EI_z", written.EI_z),
            first_frequency: number("first_frequency", written.first_frequency),
            EA: number("EA", written.EA),
            GJ: number("GJ", written.GJ),
            polar_inertia_per_length: number("polar_inertia_per_length", written.polar_inertia_per_length),
            E: number("E", written.E),
            density: number("density", written.density),
            area: number("area", written.area),
            I_y: number("I_y", written.I_y),
            I_z: number("I_z", written.I_z),
            mass_scale: number("mass_scale", tabulated),
            stiffness_scale: number("stiffness_scale", tabulated),
            tip_mass: number("tip_mass", written.tip_mass),
            tip_inertia: written.tip_inertia.map(|inertia| {
                let quantities = ["xx", "yy", "zz"].map(|part| {
                    let what = format!("inertia of the tip load in the modal analysis of {name}, {part}");
                    Quantity::new(format!("{name}.tip_inertia_{part}"), Unit::KilogramMetre2, what)
                        .bounded(Bound::NotNegative)
                });
                declare.parameters(quantities, &inertia, false, &at("body", name, "beam.tip_inertia"))
            }),
        }
    }
}

/// Returns unit and description of a numerical parameter.
fn unit_and_meaning(field: &str) -> (Unit, &'static str) {
    match field {
        "length" => (Unit::Metre, "length"),
        "mass_per_length" => (Unit::KilogramPerMetre, "mass per length"),
        "EI" => (Unit::NewtonMetre2, "bending stiffness"),
        "EI_y" => (Unit::NewtonMetre2, "bending stiffness about y (deflection along z)"),
        "EI_z" => (Unit::NewtonMetre2, "bending stiffness about z (deflection along y)"),
        "first_frequency" => (Unit::Hertz, "first bending frequency of the clamped beam"),
        "EA" => (Unit::Newton, "axial stiffness"),
        "GJ" => (Unit::NewtonMetre2, "torsional stiffness"),
        "polar_inertia_per_length" => (Unit::KilogramMetre, "polar inertia per length"),
        "E" => (Unit::Pascal, "Young's modulus"),
        "density" => (Unit::KilogramPerMetre3, "density"),
        "area" => (Unit::Metre2, "cross-section area"),
        "I_y" => (Unit::Metre4, "second moment of area about y"),
        "I_z" => (Unit::Metre4, "second moment of area about z"),
        "mass_scale" => (Unit::One, "factor on the tabulated inertias"),
        "stiffness_scale" => (Unit::One, "factor on the tabulated stiffnesses"),
        "tip_mass" => (Unit::Kilogram, "mass of the tip load in the modal analysis"),
        _ => unreachable!("every numerical parameter has a unit"),
    }
}

/// Mass and inertia of the tip load in the modal analysis of one of several segments, relative to
/// those of the segment. Doubling the load changes the shapes by 1/200.
const HEAVY: f64 = 100.0;

/// Returns the name of a segment; the first one has the body's name.
pub(super) fn segment_name(body: &str, segment: usize) -> String {
    match segment {
        0 => body.to_owned(),
        _ => format!("{body}[{}]", segment + 1),
    }
}

impl Beam {
    /// Declares the parameters of the beam of the body `name`.
    pub(super) fn declare(name: &str, written: &spec::Beam, declare: &mut Declarations) -> Self {
        let numbers = Numbers::declare(name, written, declare);
        let shape = numbers.origin.0..declare.parameters.len();
        let linear_limit = declare.parameter(
            Quantity::new(
                format!("{name}.linear_limit"),
                Unit::One,
                format!("limit of linear bending of {name}: tip deflection relative to the length"),
            )
            .bounded(Bound::Positive),
            written.linear_limit,
            true,
            &at("body", name, "beam.linear_limit"),
        );
        let counts = written.counts();
        let n: usize = counts.iter().sum();
        let segments = written.segments.max(1);
        let mut each = |field: &str, values: Vec<f64>, tunable: bool, bound: Bound, what: &str| {
            let quantities = (0..values.len()).map(|k| {
                let segment = segment_name(name, k / n);
                let quantity = Quantity::new(
                    format!("{segment}.{field}[{}]", k % n + 1),
                    Unit::One,
                    format!("{what} of {segment}"),
                );
                // Amplitudes are small; the nominal value of a ratio is one.
                let nominal = if tunable { 1.0 } else { 1e-2 };
                Quantity {
                    nominal,
                    ..quantity.bounded(bound)
                }
            });
            let place = at("body", name, &format!("beam.{field}"));
            declare.parameters(quantities, &values, tunable, &place)
        };
        let damping_ratio = written.damping_ratio.as_ref().map(|ratio| {
            let ratios = (0..n).map(|k| ratio.get(k)).collect();
            let what = "damping ratio of a mode";
            each("damping_ratio", ratios, true, Bound::NotNegative, what)
        });
        let mut start = |field: &str, what: &str| each(field, vec![0.0; n * segments], false, Bound::None, what);
        let start = (
            start("eta_start", "initial amplitude (m·√kg) of a mode"),
            start("etad_start", "initial rate (m·√kg/s) of a mode"),
        );
        let [bending_y, bending_z, torsion, axial] = counts;
        Self {
            boundary: written.boundary,
            counts: Counts {
                bending_y,
                bending_z,
                torsion,
                axial,
            },
            stiffening: written.stiffening,
            sections: written.sections.clone(),
            numbers,
            shape,
            damping_ratio,
            linear_limit,
            start,
            segments,
        }
    }

    /// Returns the number of segments.
    pub fn segments(&self) -> usize {
        self.segments
    }

    /// Returns the index of the segment that carries the point `p` (m, from the origin and in axes
    /// of the spec's body); between two segments, of the inner one.
    pub(super) fn segment_at(&self, values: &[f64], p: &Vec3<f64>) -> usize {
        let length = self.beam(values).map_or(0.0, |beam| beam.length());
        let q_BR = self
            .numbers
            .orientation
            .map_or_else(Quaternion::identity, |id| id.quaternion(values));
        let along = q_BR.rotation().tr_mul(&(p - self.numbers.origin.vector(values))).x;
        let ends = (1..self.segments).map(|j| length * j as f64 / self.segments as f64);
        ends.filter(|end| along > end * (1.0 + 1e-9)).count()
    }

    /// Returns the number of modes of a segment.
    pub fn modes(&self) -> usize {
        let Counts {
            bending_y,
            bending_z,
            torsion,
            axial,
        } = self.counts;
        bending_y + bending_z + torsion + axial
    }

    /// Returns the parameter indices of the initial amplitude and the initial rate of a segment's
    /// first mode; those of its other modes follow.
    pub fn start(&self, segment: usize) -> (ParamId, ParamId) {
        let first = |id: ParamId| id.nth(segment * self.modes());
        (first(self.start.0), first(self.start.1))
    }

    /// Returns the index range of all parameters that affect the modes.
    pub(super) fn shape(&self) -> Range<usize> {
        self.shape.clone()
    }

    /// Returns the index of the parameter `linear_limit`: the limit of linear bending, as the ratio
    /// of the tip's deflection to the length.
    pub fn linear_limit(&self) -> ParamId {
        self.linear_limit
    }

    /// Returns true if the spec defines the beam by a table of sections.
    pub(super) fn is_tabulated(&self) -> bool {
        !self.sections.is_empty()
    }

    /// Returns a parameter whose location in the spec is in the beam's table, for messages about
    /// the whole beam.
    pub(super) fn place(&self) -> ParamId {
        self.numbers.origin
    }

    /// Computes the modes of a segment for the parameters' values; `q_BR` is the attitude of the
    /// beam's axes in the body.
    ///
    /// The modes of one of several segments are computed with a heavy load at the tip: the first
    /// two are then the shapes due to a force and a moment at the tip, independent of the attached
    /// mass, and the others vanish at the tip. The segments together are a finite-element beam.
    pub(super) fn solve(&self, values: &[f64], q_BR: Quaternion<f64>, segment: usize) -> Result<Solved, BeamError> {
        let whole = self.beam(values)?;
        let length = whole.length();
        let [a, b] = [segment, segment + 1].map(|j| length * j as f64 / self.segments as f64);
        let (shapes, whole) = match self.segments {
            1 => (whole.modes(&self.boundary(values), self.counts)?, None),
            _ => {
                let part = whole.part(a, b)?;
                let (mass, inertia) = part.as_load();
                let heavy = beam::Boundary::ClampedLoaded {
                    mass: HEAVY * mass,
                    inertia: inertia.map(|J| HEAVY * J),
                };
                let none = whole.modes(&beam::Boundary::ClampedFree, Counts::default())?;
                (
                    part.modes(&heavy, self.counts).map_err(|error| error.beyond(a))?,
                    Some(none),
                )
            }
        };
        let root = self.numbers.origin.vector(values);
        let (origin, root) = match segment {
            0 => (Vec3::zeros(), root),
            _ => (root + q_BR.rotation() * Vec3::x() * a, Vec3::zeros()),
        };
        let X_BR = Pose::from_parts(q_BR, root);
        Ok(Solved::new(shapes, whole, origin, X_BR, self.stiffening))
    }

    fn boundary(&self, values: &[f64]) -> beam::Boundary {
        let numbers = &self.numbers;
        match self.boundary {
            spec::Boundary::ClampedFree => beam::Boundary::ClampedFree,
            spec::Boundary::ClampedClamped => beam::Boundary::ClampedClamped,
            spec::Boundary::ClampedLoaded => beam::Boundary::ClampedLoaded {
                mass: numbers.tip_mass.map_or(0.0, |id| id.of(values)),
                inertia: numbers.tip_inertia.map_or([0.0; 3], |id| id.vector(values).into()),
            },
        }
    }

    pub(super) fn orientation(&self) -> Option<ParamId> {
        self.numbers.orientation
    }

    fn beam(&self, values: &[f64]) -> Result<beam::Beam, BeamError> {
        let numbers = &self.numbers;
        let of = |id: Option<ParamId>| id.map(|id| id.of(values));
        if let (Some(mass), Some(stiffness)) = (of(numbers.mass_scale), of(numbers.stiffness_scale)) {
            let sections = self.sections.iter().map(|s| beam::Section {
                x: s.x,
                mass_per_length: mass * s.mass_per_length,
                EI_y: stiffness * s.EI_y,
                EI_z: stiffness * s.EI_z,
                EA: stiffness * s.EA,
                GJ: stiffness * s.GJ,
                polar_inertia_per_length: mass * s.polar_inertia_per_length,
            });
            return beam::Beam::new(sections.collect());
        }
        let length = of(numbers.length).unwrap_or(0.0);
        let profile = match [numbers.E, numbers.density, numbers.area, numbers.I_y, numbers.I_z].map(of) {
            [Some(E), Some(rho), Some(A), Some(I_y), Some(I_z)] => {
                let GJ = of(numbers.GJ).unwrap_or(0.0);
                beam::Profile {
                    E,
                    rho,
                    A,
                    I_y,
                    I_z,
                    GJ,
                }
                .section(0.0)
            }
            _ => {
                let mass_per_length = of(numbers.mass_per_length).unwrap_or(0.0);
                let from_frequency =
                    of(numbers.first_frequency).map(|f| beam::cantilever_EI(f, mass_per_length * length, length));
                let EI = of(numbers.EI).or(from_frequency);
                beam::Section {
                    x: 0.0,
                    mass_per_length,
                    EI_y: of(numbers.EI_y).or(EI).unwrap_or(0.0),
                    EI_z: of(numbers.EI_z).or(EI).unwrap_or(0.0),
                    EA: of(numbers.EA).unwrap_or(0.0),
                    GJ: of(numbers.GJ).unwrap_or(0.0),
                    polar_inertia_per_length: of(numbers.polar_inertia_per_length).unwrap_or(0.0),
                }
            }
        };
        beam::Beam::uniform(length, profile)
    }

    /// Returns true if its modes have damping ratios.
    pub fn is_damped(&self) -> bool {
        self.damping_ratio.is_some()
    }

    /// Returns the damping ratio of mode `k` of a segment.
    pub(super) fn damping_ratio(&self, values: &[f64], k: usize) -> f64 {
        self.damping_ratio.map_or(0.0, |id| values[id.0 + k])
    }
}
