use crate::system::{Declarations, Quantity, Unit};

/// A command that lets an impulse act, once, when it rises.
#[derive(Clone, Copy, Debug)]
pub struct Strike {
    /// Its input.
    input: usize,
    /// What it strikes.
    pub what: Struck,
}

/// What a command strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Struck {
    /// A port, by the impulse that the host gives: its index.
    Port(usize),
    /// Two frames each other: index of the contact.
    Contact(usize),
}

impl Strike {
    /// The command of this name.
    pub(super) fn declare(name: &str, description: String, what: Struck, declare: &mut Declarations) -> Self {
        let quantity = Quantity::new(name, Unit::One, description);
        Self {
            input: declare.input(quantity, 0.0, true),
            what,
        }
    }

    /// Its input.
    pub fn input(&self) -> usize {
        self.input
    }

    /// Whether it is on.
    pub fn is_on(&self, inputs: &[f64]) -> bool {
        inputs[self.input] > 0.5
    }
}
