use super::Unit;
use crate::spec::PerAxis;

/// One number that enters or leaves the model, declared where it lives. The FMU's XML, the CSV's
/// header and the plots' legends are read from this.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Structured name, e.g. `elbow.q` or `base.r[1]`.
    pub name: String,
    /// Unit.
    pub unit: Unit,
    /// Typical magnitude: an absolute tolerance is the relative one times this.
    pub nominal: f64,
    /// One sentence: what, of what, in which axes.
    pub description: String,
    /// Where its values must lie.
    pub bound: Bound,
}

/// Where the values of a quantity must lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Anywhere.
    None,
    /// At zero or above.
    NotNegative,
    /// Above zero.
    Positive,
    /// Between two numbers, which are allowed too.
    Between(i32, i32),
}

impl Bound {
    /// What is wrong with a value, if it is.
    pub fn broken_by(self, value: f64) -> Option<String> {
        match self {
            Self::NotNegative if value < 0.0 => Some("negative".to_owned()),
            Self::Positive if value <= 0.0 => Some("not positive".to_owned()),
            Self::Between(low, high) if !(f64::from(low)..=f64::from(high)).contains(&value) => {
                Some(format!("not between {low} and {high}"))
            }
            _ => None,
        }
    }

    /// The least and the largest number that it allows, or that no allowed one reaches.
    pub fn limits(self) -> [Option<f64>; 2] {
        match self {
            Self::None => [None, None],
            Self::NotNegative | Self::Positive => [Some(0.0), None],
            Self::Between(low, high) => [low, high].map(|limit| Some(f64::from(limit))),
        }
    }
}

impl Quantity {
    /// A quantity with nominal 1.
    pub fn new(name: impl Into<String>, unit: Unit, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            unit,
            nominal: 1.0,
            description: description.into(),
            bound: Bound::None,
        }
    }

    /// The same, with values that must lie within `bound`.
    pub fn bounded(self, bound: Bound) -> Self {
        Self { bound, ..self }
    }

    /// The three components `name[1]`, `name[2]`, `name[3]` of a vector.
    pub fn vector(name: &str, unit: Unit, description: &str) -> [Self; 3] {
        Self::indexed(name, ["x", "y", "z"], unit, description)
    }

    /// The four numbers `name[1]` … `name[4]` of a unit quaternion.
    pub fn quaternion(name: &str, description: &str) -> [Self; 4] {
        Self::indexed(name, ["w", "x", "y", "z"], Unit::One, description)
    }

    fn indexed<const N: usize>(name: &str, parts: [&str; N], unit: Unit, description: &str) -> [Self; N] {
        std::array::from_fn(|i| {
            Self::new(
                format!("{name}[{}]", i + 1),
                unit,
                format!("{description}, {}", parts[i]),
            )
        })
    }
}

/// A number of the spec that a host may change.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Name, unit, description.
    pub quantity: Quantity,
    /// The value in the spec.
    pub start: f64,
    /// Whether it may change while the simulation runs; the others are fixed when initialisation ends.
    pub tunable: bool,
    /// Where it stands in the spec, for messages.
    pub at: Vec<String>,
}

/// An input: what the host sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Name, unit, description.
    pub quantity: Quantity,
    /// Value until the host sets another.
    pub start: f64,
    /// Whether it is a switch (on above 0.5), a command (the nearest whole number) or what a command takes, rather than a continuous signal.
    pub discrete: bool,
}

/// Index of a parameter in the model's parameter vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamId(pub usize);

impl ParamId {
    /// The value.
    #[inline(always)]
    pub fn of(self, parameters: &[f64]) -> f64 {
        parameters[self.0]
    }

    /// The value and the two that follow, as a vector.
    #[inline(always)]
    pub fn vector(self, parameters: &[f64]) -> nalgebra::Vector3<f64> {
        nalgebra::Vector3::new(parameters[self.0], parameters[self.0 + 1], parameters[self.0 + 2])
    }

    /// The unit vector along that vector, if it [has a direction](crate::algebra::direction).
    pub fn direction(self, parameters: &[f64]) -> Option<nalgebra::Vector3<f64>> {
        crate::algebra::direction(&self.vector(parameters))
    }

    /// The value and the three that follow, as a quaternion.
    pub fn quaternion(self, parameters: &[f64]) -> crate::algebra::Quaternion<f64> {
        crate::algebra::Quaternion::from_slice(&parameters[self.0..])
    }
}

/// The model's parameters and inputs while they are being declared.
#[derive(Clone, Debug, Default)]
pub struct Declarations {
    /// All parameters.
    pub parameters: Vec<Parameter>,
    /// All inputs, whether the host or a signal inside the model drives them.
    pub inputs: Vec<Input>,
}

impl Declarations {
    /// Declares a parameter that stands at `at` in the spec.
    pub fn parameter(&mut self, quantity: Quantity, start: f64, tunable: bool, at: &[String]) -> ParamId {
        self.parameters.push(Parameter {
            quantity,
            start,
            tunable,
            at: at.to_vec(),
        });
        ParamId(self.parameters.len() - 1)
    }

    /// Declares several that follow one another; gives the first.
    pub fn parameters(
        &mut self,
        quantities: impl IntoIterator<Item = Quantity>,
        starts: &[f64],
        tunable: bool,
        at: &[String],
    ) -> ParamId {
        let first = ParamId(self.parameters.len());
        for (quantity, &start) in quantities.into_iter().zip(starts) {
            self.parameter(quantity, start, tunable, at);
        }
        first
    }

    /// Declares three gains along a frame's axes, which are not negative; gives the first.
    pub fn gains(&mut self, name: &str, value: &PerAxis, unit: Unit, what: &str, at: &[String]) -> ParamId {
        let quantities = Quantity::vector(name, unit, what).map(|quantity| quantity.bounded(Bound::NotNegative));
        self.parameters(quantities, &[0, 1, 2].map(|i| value.get(i)), true, at)
    }

    /// Declares an input; gives its index.
    pub fn input(&mut self, quantity: Quantity, start: f64, discrete: bool) -> usize {
        self.inputs.push(Input {
            quantity,
            start,
            discrete,
        });
        self.inputs.len() - 1
    }

    /// The spec's values of all parameters.
    pub fn starts(&self) -> Vec<f64> {
        self.parameters.iter().map(|p| p.start).collect()
    }
}
