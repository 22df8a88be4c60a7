use crate::error::rounded;
use serde::{Deserialize, Serialize};

/// Unit of a variable of a model's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)] // the names state the units
pub enum Unit {
    One,
    /// Unit of a quantity with a free normalisation, such as a modal amplitude: its true unit
    /// contains half powers, and it is declared dimensionless.
    Scaled,
    Second,
    Metre,
    Radian,
    Hertz,
    PerSecond,
    PerSecond2,
    MetrePerSecond,
    SecondPerMetre,
    RadianPerSecond,
    MetrePerSecond2,
    RadianPerSecond2,
    Kilogram,
    KilogramMetre2,
    Newton,
    NewtonMetre,
    NewtonPerMetre,
    NewtonPerMetreOfLength,
    NewtonMetrePerRadian,
    NewtonMetrePerRadian3,
    NewtonSecondPerMetre,
    NewtonMetreSecondPerRadian,
    KilogramMetrePerSecond,
    KilogramMetre2PerSecond,
    Joule,
    Watt,
    Metre2,
    Metre4,
    KilogramMetre,
    KilogramPerMetre,
    KilogramPerMetre3,
    NewtonMetre2,
    NewtonSecond,
    NewtonMetreSecond,
    Pascal,
    Metre3PerSecond2,
    Degree,
    DegreePerSecond,
    Volt,
    Ampere,
    AmperePerSecond,
    Ohm,
    Henry,
    NewtonMetrePerAmpere,
    RadianPerMetre,
    Day,
    WattPerMetre2,
    Tesla,
    AmpereMetre2,
    KilogramPerSecond,
}

/// Number of radians in a degree.
const RADIANS: f64 = std::f64::consts::PI / 180.0;

/// The exponents of a unit's base units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Exponent of kg.
    pub kg: i32,
    /// Exponent of m.
    pub m: i32,
    /// Exponent of s.
    pub s: i32,
    /// Exponent of A.
    pub A: i32,
    /// Exponent of rad.
    pub rad: i32,
}

impl Unit {
    /// Returns the symbol in the notation of FMI and Modelica; empty for a pure number.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::One | Self::Scaled => "",
            Self::Second => "s",
            Self::Metre => "m",
            Self::Radian => "rad",
            Self::Hertz => "Hz",
            Self::PerSecond => "1/s",
            Self::PerSecond2 => "1/s2",
            Self::MetrePerSecond => "m/s",
            Self::SecondPerMetre => "s/m",
            Self::RadianPerSecond => "rad/s",
            Self::MetrePerSecond2 => "m/s2",
            Self::RadianPerSecond2 => "rad/s2",
            Self::Kilogram => "kg",
            Self::KilogramMetre2 => "kg.m2",
            Self::Newton => "N",
            Self::NewtonMetre => "N.m",
            Self::NewtonPerMetre | Self::NewtonPerMetreOfLength => "N/m",
            Self::NewtonMetrePerRadian => "N.m/rad",
            Self::NewtonMetrePerRadian3 => "N.m/rad3",
            Self::NewtonSecondPerMetre => "N.s/m",
            Self::NewtonMetreSecondPerRadian => "N.m.s/rad",
            Self::KilogramMetrePerSecond => "kg.m/s",
            Self::KilogramMetre2PerSecond => "kg.m2/s",
            Self::Joule => "J",
            Self::Watt => "W",
            Self::Metre2 => "m2",
            Self::Metre4 => "m4",
            Self::KilogramMetre => "kg.m",
            Self::KilogramPerMetre => "kg/m",
            Self::KilogramPerMetre3 => "kg/m3",
            Self::NewtonMetre2 => "N.m2",
            Self::NewtonSecond => "N.s",
            Self::NewtonMetreSecond => "N.m.s",
            Self::Pascal => "Pa",
            Self::Metre3PerSecond2 => "m3/s2",
            Self::Degree => "deg",
            Self::DegreePerSecond => "deg/s",
            Self::Volt => "V",
            Self::Ampere => "A",
            Self::AmperePerSecond => "A/s",
            Self::Ohm => "Ohm",
            Self::Henry => "H",
            Self::NewtonMetrePerAmpere => "N.m/A",
            Self::RadianPerMetre => "rad/m",
            Self::Day => "d",
            Self::WattPerMetre2 => "W/m2",
            Self::Tesla => "T",
            Self::AmpereMetre2 => "A.m2",
            Self::KilogramPerSecond => "kg/s",
        }
    }

    /// Returns the physical quantity, named as in the Modelica Standard Library; empty for a pure
    /// number.
    pub fn quantity(self) -> &'static str {
        match self {
            Self::One | Self::Scaled => "",
            Self::Second | Self::Day => "Time",
            Self::Metre => "Length",
            Self::Radian | Self::Degree => "Angle",
            Self::Hertz => "Frequency",
            Self::PerSecond => "Rate",
            Self::PerSecond2 => "RateOfRate",
            Self::MetrePerSecond => "Velocity",
            Self::SecondPerMetre => "Slowness",
            Self::RadianPerSecond | Self::DegreePerSecond => "AngularVelocity",
            Self::MetrePerSecond2 => "Acceleration",
            Self::RadianPerSecond2 => "AngularAcceleration",
            Self::Kilogram => "Mass",
            Self::KilogramMetre2 => "MomentOfInertia",
            Self::Newton => "Force",
            Self::NewtonMetre => "Torque",
            Self::NewtonPerMetre => "TranslationalSpringConstant",
            Self::NewtonPerMetreOfLength => "ForcePerLength",
            Self::NewtonMetrePerRadian => "RotationalSpringConstant",
            Self::NewtonMetrePerRadian3 => "RotationalHardeningConstant",
            Self::NewtonSecondPerMetre => "TranslationalDampingConstant",
            Self::NewtonMetreSecondPerRadian => "RotationalDampingConstant",
            Self::KilogramMetrePerSecond => "Momentum",
            Self::KilogramMetre2PerSecond => "AngularMomentum",
            Self::Joule => "Energy",
            Self::Watt => "Power",
            Self::Metre2 => "Area",
            Self::Metre4 => "SecondMomentOfArea",
            Self::KilogramMetre => "InertiaPerLength",
            Self::KilogramPerMetre => "LinearDensity",
            Self::KilogramPerMetre3 => "Density",
            Self::NewtonMetre2 => "FlexuralRigidity",
            Self::NewtonSecond => "Impulse",
            Self::NewtonMetreSecond => "AngularImpulse",
            Self::Pascal => "Pressure",
            Self::Metre3PerSecond2 => "GravitationalParameter",
            Self::Volt => "ElectricPotential",
            Self::Ampere => "ElectricCurrent",
            Self::AmperePerSecond => "CurrentSlope",
            Self::Ohm => "Resistance",
            Self::Henry => "Inductance",
            Self::NewtonMetrePerAmpere => "ElectricalTorqueConstant",
            Self::RadianPerMetre => "AnglePerLength",
            Self::WattPerMetre2 => "Irradiance",
            Self::Tesla => "MagneticFluxDensity",
            Self::AmpereMetre2 => "ElectromagneticMoment",
            Self::KilogramPerSecond => "MassFlowRate",
        }
    }

    /// Returns the name of the type of variables in this unit, one for each quantity and unit.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Day => "Time_d",
            Self::Degree => "Angle_deg",
            Self::DegreePerSecond => "AngularVelocity_deg",
            _ => self.quantity(),
        }
    }

    /// Returns the number of units of [`dimension`](Self::dimension) in one of this unit.
    pub fn factor(self) -> f64 {
        match self {
            Self::Degree | Self::DegreePerSecond => RADIANS,
            Self::Day => 86_400.0,
            _ => 1.0,
        }
    }

    /// Returns the exponents of kg, m, s, A and rad.
    ///
    /// Angles and their derivatives have rad; torque, momentum and energy follow the SI and have
    /// none.
    pub fn dimension(self) -> Dimension {
        let (kg, m, s, rad) = match self {
            Self::One | Self::Scaled | Self::Ampere => (0, 0, 0, 0),
            Self::Second | Self::Day => (0, 0, 1, 0),
            Self::Metre => (0, 1, 0, 0),
            Self::Radian | Self::Degree => (0, 0, 0, 1),
            Self::Hertz | Self::PerSecond | Self::AmperePerSecond => (0, 0, -1, 0),
            Self::PerSecond2 => (0, 0, -2, 0),
            Self::MetrePerSecond => (0, 1, -1, 0),
            Self::SecondPerMetre => (0, -1, 1, 0),
            Self::RadianPerMetre => (0, -1, 0, 1),
            Self::RadianPerSecond | Self::DegreePerSecond => (0, 0, -1, 1),
            Self::MetrePerSecond2 => (0, 1, -2, 0),
            Self::RadianPerSecond2 => (0, 0, -2, 1),
            Self::Kilogram => (1, 0, 0, 0),
            Self::KilogramMetre2 => (1, 2, 0, 0),
            Self::Newton => (1, 1, -2, 0),
            Self::NewtonMetre | Self::Joule | Self::NewtonMetrePerAmpere | Self::Henry => (1, 2, -2, 0),
            Self::Watt | Self::Volt | Self::Ohm => (1, 2, -3, 0),
            Self::WattPerMetre2 => (1, 0, -3, 0),
            Self::Tesla => (1, 0, -2, 0),
            Self::Metre2 | Self::AmpereMetre2 => (0, 2, 0, 0),
            Self::Metre4 => (0, 4, 0, 0),
            Self::KilogramMetre => (1, 1, 0, 0),
            Self::KilogramPerMetre => (1, -1, 0, 0),
            Self::KilogramPerMetre3 => (1, -3, 0, 0),
            Self::NewtonMetre2 => (1, 3, -2, 0),
            Self::NewtonSecond => (1, 1, -1, 0),
            Self::NewtonMetreSecond => (1, 2, -1, 0),
            Self::Pascal => (1, -1, -2, 0),
            Self::Metre3PerSecond2 => (0, 3, -2, 0),
            Self::NewtonPerMetre | Self::NewtonPerMetreOfLength => (1, 0, -2, 0),
            Self::NewtonMetrePerRadian => (1, 2, -2, -1),
            Self::NewtonMetrePerRadian3 => (1, 2, -2, -3),
            Self::NewtonSecondPerMetre | Self::KilogramPerSecond => (1, 0, -1, 0),
            Self::NewtonMetreSecondPerRadian => (1, 2, -1, -1),
            Self::KilogramMetrePerSecond => (1, 1, -1, 0),
            Self::KilogramMetre2PerSecond => (1, 2, -1, 0),
        };
        let A = match self {
            Self::Ampere | Self::AmperePerSecond | Self::AmpereMetre2 => 1,
            Self::Volt | Self::NewtonMetrePerAmpere | Self::Tesla => -1,
            Self::Ohm | Self::Henry => -2,
            _ => 0,
        };
        Dimension { kg, m, s, A, rad }
    }

    /// Returns the unit of the time derivative of a state in this unit; [`Scaled`](Self::Scaled)
    /// for modal amplitudes and for units that no state has.
    pub fn rate(self) -> Self {
        match self {
            Self::One => Self::PerSecond,
            Self::PerSecond => Self::PerSecond2,
            Self::Metre => Self::MetrePerSecond,
            Self::MetrePerSecond => Self::MetrePerSecond2,
            Self::Radian => Self::RadianPerSecond,
            Self::RadianPerSecond => Self::RadianPerSecond2,
            Self::Joule => Self::Watt,
            Self::Ampere => Self::AmperePerSecond,
            Self::Kilogram => Self::KilogramPerSecond,
            _ => Self::Scaled,
        }
    }

    /// Returns the preferred display unit, and the number of display units in one of this unit;
    /// `None` if there is no other.
    pub fn display(self) -> Option<(&'static str, f64)> {
        let degrees = 180.0 / std::f64::consts::PI;
        match self {
            Self::Radian => Some(("deg", degrees)),
            Self::RadianPerSecond => Some(("deg/s", degrees)),
            Self::RadianPerSecond2 => Some(("deg/s2", degrees)),
            _ => None,
        }
    }

    /// Formats a value in this unit for a message, with twelve significant digits at most; angles also
    /// in degrees.
    pub fn of(self, value: f64) -> String {
        let value = rounded(value, 12);
        match self.display() {
            Some((name, factor)) => {
                let displayed = (value * factor * 1e9).round() / 1e9;
                format!("{value} {} ({displayed} {name})", self.symbol())
            }
            None => format!("{value} {}", self.symbol()).trim_end().to_owned(),
        }
    }

    /// Formats a computed value in this unit for a message, rounded to seven significant digits.
    pub fn about(self, value: f64) -> String {
        let rounded = rounded(value, 7);
        let plain = rounded == 0.0 || (1e-4..1e9).contains(&rounded.abs());
        let number = if plain {
            format!("{rounded}")
        } else {
            format!("{rounded:e}")
        };
        format!("{number} {}", self.symbol()).trim_end().to_owned()
    }

    /// Returns the units of a joint coordinate that is an angle or a length.
    pub(crate) fn coordinate(angular: bool) -> CoordinateUnits {
        if angular {
            CoordinateUnits {
                position: Self::Radian,
                rate: Self::RadianPerSecond,
                acceleration: Self::RadianPerSecond2,
                force: Self::NewtonMetre,
                stiffness: Self::NewtonMetrePerRadian,
                damping: Self::NewtonMetreSecondPerRadian,
                inertia: Self::KilogramMetre2,
            }
        } else {
            CoordinateUnits {
                position: Self::Metre,
                rate: Self::MetrePerSecond,
                acceleration: Self::MetrePerSecond2,
                force: Self::Newton,
                stiffness: Self::NewtonPerMetre,
                damping: Self::NewtonSecondPerMetre,
                inertia: Self::Kilogram,
            }
        }
    }
}

/// Part of the natural scale of a quantity below which a value is round-off.
const ROUND_OFF: f64 = 1e-10;

/// Returns a computed value for a text, with zero in place of round-off relative to the natural scale
/// of the quantity.
pub fn significant(value: f64, scale: f64) -> f64 {
    match value.abs() <= ROUND_OFF * scale.abs() {
        true => 0.0,
        false => value,
    }
}

/// Units of one joint coordinate.
pub(crate) struct CoordinateUnits {
    pub position: Unit,
    pub rate: Unit,
    pub acceleration: Unit,
    pub force: Unit,
    pub stiffness: Unit,
    pub damping: Unit,
    pub inertia: Unit,
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::rounded;

    unit_tests![
        round_off_is_zero_relative_to_the_natural_scale,
        numbers_are_rounded_to_significant_digits,
    ];

    fn round_off_is_zero_relative_to_the_natural_scale() {
        use super::{Unit, significant};
        assert_eq!(significant(1.87e-17, 0.05), 0.0);
        assert_eq!(significant(-2e-17, 1.0), 0.0);
        assert_eq!(significant(1.87e-17, 1e-15), 1.87e-17);
        assert_eq!(significant(3.0, 0.0), 3.0, "a quantity without a scale");
        assert_eq!(Unit::Second.of(0.150_000_000_000_000_02), "0.15 s");
    }

    fn numbers_are_rounded_to_significant_digits() {
        for (value, expected) in [
            (4.123_46e-7, "0.0000004123"),
            (-0.0, "0"),
            (123_456.0, "123500"),
            (9.9999, "10"),
        ] {
            assert_eq!(rounded(value, 4).to_string(), expected);
        }
    }
}
