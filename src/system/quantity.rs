use super::Unit;
use crate::algebra::Scalar;
use crate::spec::PerAxis;

/// A scalar variable of the model's interface. The FMU's XML, the CSV header and the plots' legends
/// are generated from these data.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Structured name, e.g. `elbow.q` or `base.r[1]`.
    pub name: String,
    /// Unit.
    pub unit: Unit,
    /// Typical magnitude; an absolute tolerance is the relative one times this.
    pub nominal: f64,
    /// One sentence: the quantity, its object, its axes.
    pub description: String,
    /// Admissible range.
    pub bound: Bound,
}

/// Admissible range of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Unbounded.
    None,
    /// Zero or positive.
    NotNegative,
    /// Positive.
    Positive,
    /// Closed interval.
    Between(i32, i32),
}

impl Bound {
    /// Returns the reason for which a value is inadmissible, for a message; `None` if it is
    /// admissible.
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

    /// Returns the lower and the upper limit of the range; `None` if unlimited. The limit zero of
    /// [`Positive`](Self::Positive) is not itself admissible.
    pub fn limits(self) -> [Option<f64>; 2] {
        match self {
            Self::None => [None, None],
            Self::NotNegative | Self::Positive => [Some(0.0), None],
            Self::Between(low, high) => [low, high].map(|limit| Some(f64::from(limit))),
        }
    }
}

impl Quantity {
    /// Creates a quantity with nominal 1.
    pub fn new(name: impl Into<String>, unit: Unit, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            unit,
            nominal: 1.0,
            description: description.into(),
            bound: Bound::None,
        }
    }

    /// Returns the quantity with the range `bound`.
    pub fn bounded(self, bound: Bound) -> Self {
        Self { bound, ..self }
    }

    /// Returns the three components `name[1]`, `name[2]`, `name[3]` of a vector.
    pub fn vector(name: &str, unit: Unit, description: &str) -> [Self; 3] {
        Self::indexed(name, ["x", "y", "z"], unit, description)
    }

    /// Returns the four components `name[1]` … `name[4]` of a unit quaternion.
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

/// A numerical parameter of the spec that the importer may change.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Name, unit, description, range.
    pub quantity: Quantity,
    /// The value in the spec.
    pub start: f64,
    /// True if it may change during the simulation; otherwise it is fixed after initialisation.
    pub tunable: bool,
    /// Location in the spec, for messages.
    pub at: Vec<String>,
}

/// An input, set by the importer.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Name, unit, description.
    pub quantity: Quantity,
    /// Initial value.
    pub start: f64,
    /// Type and variability.
    pub kind: InputKind,
}

/// Type and variability of an input; all are real numbers in FMI 2.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// Real number, a continuous signal.
    Continuous,
    /// Real number that is read when a command acts.
    Held,
    /// Boolean, on above 0.5.
    Switch,
    /// Integer, to which a number is rounded.
    Mode,
}

impl Input {
    /// Returns true for an input that changes at events only.
    pub fn is_discrete(&self) -> bool {
        self.kind != InputKind::Continuous
    }
}

/// Index of a parameter in the model's parameter vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamId(pub usize);

impl ParamId {
    /// Returns the parameter's value.
    #[inline(always)]
    pub fn of<C: Copy>(self, parameters: &[C]) -> C {
        parameters[self.0]
    }

    /// Returns the parameter whose index is greater by `i`.
    pub(crate) fn nth(self, i: usize) -> Self {
        Self(self.0 + i)
    }

    /// Returns the values of this parameter and the next two, as a vector.
    #[inline(always)]
    pub fn vector<C: nalgebra::Scalar + Copy>(self, parameters: &[C]) -> nalgebra::Vector3<C> {
        nalgebra::Vector3::new(parameters[self.0], parameters[self.0 + 1], parameters[self.0 + 2])
    }

    /// Returns the unit vector along [`vector`](Self::vector), if it [has a
    /// direction](crate::algebra::direction).
    pub fn direction<C: Scalar>(self, parameters: &[C]) -> Option<nalgebra::Vector3<C>> {
        crate::algebra::direction(&self.vector(parameters))
    }

    /// Returns the values of this parameter and the next three, as a quaternion.
    pub fn quaternion<C: Scalar>(self, parameters: &[C]) -> crate::algebra::Quaternion<C> {
        crate::algebra::Quaternion::from_slice(&parameters[self.0..])
    }
}

/// Parameters and inputs collected during compilation.
#[derive(Clone, Debug, Default)]
pub struct Declarations {
    /// All parameters.
    pub parameters: Vec<Parameter>,
    /// All inputs, set by the importer or by a signal inside the model.
    pub inputs: Vec<Input>,
}

impl Declarations {
    /// Declares a parameter at the location `at` in the spec.
    pub fn parameter(&mut self, quantity: Quantity, start: f64, tunable: bool, at: &[String]) -> ParamId {
        self.parameters.push(Parameter {
            quantity,
            start,
            tunable,
            at: at.to_vec(),
        });
        ParamId(self.parameters.len() - 1)
    }

    /// Returns the index of the parameter that is declared next.
    pub fn next_parameter(&self) -> ParamId {
        ParamId(self.parameters.len())
    }

    /// Declares consecutive parameters; returns the index of the first.
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

    /// Declares three tunable, non-negative gains along a frame's axes; returns the index of the
    /// first.
    pub fn gains(&mut self, name: &str, value: &PerAxis, unit: Unit, what: &str, at: &[String]) -> ParamId {
        let quantities = Quantity::vector(name, unit, what).map(|quantity| quantity.bounded(Bound::NotNegative));
        self.parameters(quantities, &[0, 1, 2].map(|i| value.get(i)), true, at)
    }

    /// Declares an input; returns its index.
    pub fn input(&mut self, quantity: Quantity, start: f64, kind: InputKind) -> usize {
        self.inputs.push(Input { quantity, start, kind });
        self.inputs.len() - 1
    }

    /// Returns the values of all parameters in the spec.
    pub fn starts(&self) -> Vec<f64> {
        self.parameters.iter().map(|p| p.start).collect()
    }
}
