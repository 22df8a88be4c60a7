//! The model description of FMI 2.0 and 3.0: `modelDescription.xml` as plain data.
//!
//! | module | contents |
//! |---|---|
//! | [`description`](ModelDescription) | the root element and its direct children |
//! | [`interface`](ModelExchange) | capabilities for Model Exchange and Co-Simulation |
//! | [`unit`](Unit), [`simple_type`](SimpleType) | units and types |
//! | [`variable`](ScalarVariable), [`value`](Real) | variables, and the attributes of each base type |
//! | [`structure`](ModelStructure) | outputs, derivatives, initial unknowns and their dependencies |
//! | [`terminals`](TerminalsAndIcons) | terminals and icons of FMI 3.0, a file of their own |
//! | [`legal`](legal_initials) | the table causality × variability × initial |
//! | [`check`](ModelDescription::check) | validation; reports all problems at once |
//! | [`xml`](ModelDescription::to_xml) | the writer and the reader |
//!
//! Both versions have one description: structs, fields and elements have the names of FMI 2.0, and
//! [`FmiVersion`] selects the XML. FMI 3.0 refers to variables by value references, which are unique,
//! and has one element per type (`Float64` for `Real`, `Int32` for `Integer`).
//!
//! Section numbers are those of the FMI standard, version 2.0.4. Every struct has its fields in the
//! order of the standard's XML schema; a field is the attribute of the same name in `snake_case`.
//! An attribute that is `None`, or a Boolean or number with the schema's default, is not written.
//!
//! An *index* is the position of a variable in the list, counted from 1 as everywhere in FMI; a
//! *value reference* is its handle in the C functions.
//!
//! ```
//! use model_description::*;
//!
//! let height = ScalarVariable {
//!     name: "ball.h".into(),
//!     causality: Causality::Output,
//!     initial: Some(Initial::Exact),
//!     kind: Kind::Real(Real { start: Some(1.0), ..Real::default() }),
//!     ..ScalarVariable::default()
//! };
//! let ball = ModelDescription {
//!     model_name: "Ball".into(),
//!     guid: "{8c4e810f}".into(),
//!     model_exchange: Some(ModelExchange { model_identifier: "ball".into(), ..Default::default() }),
//!     model_variables: vec![height],
//!     model_structure: ModelStructure { outputs: vec![Unknown::of(1)], ..Default::default() },
//!     ..ModelDescription::default()
//! };
//! assert_eq!(ball.check(), []);
//! assert_eq!(ModelDescription::from_xml(&ball.to_xml()?)?, ball);
//! # Ok::<(), Error>(())
//! ```

#![deny(missing_docs, unsafe_code)]

mod check;
mod description;
mod interface;
mod legal;
mod simple_type;
mod structure;
mod terminals;
mod unit;
mod value;
mod variable;
mod xml;

pub use check::Problem;
pub use description::{Category, DefaultExperiment, FmiVersion, ModelDescription, NamingConvention, Tool};
pub use interface::{CoSimulation, ModelExchange};
pub use legal::legal_initials;
pub use simple_type::{EnumerationType, IntegerType, Item, RealType, SimpleType, TypeKind};
pub use structure::{DependencyKind, ModelStructure, Unknown};
pub use terminals::{
    CoordinateSystem, Extent, GraphicalRepresentation, Member, Terminal, TerminalGraphicalRepresentation, Terminals,
    TerminalsAndIcons,
};
pub use unit::{BaseUnit, DisplayUnit, Unit};
pub use value::{Boolean, Enumeration, Integer, Real, Text};
pub use variable::{Causality, Initial, Kind, ScalarVariable, Variability};
pub use xml::Error;
