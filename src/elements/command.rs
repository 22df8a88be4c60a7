use crate::system::{Declarations, InputKind, Quantity, Unit};

/// Command for an impulse, which acts once when the command rises above 0.5, or for a capture,
/// which is also released when the command falls to 0.5 or less.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// Index of its input.
    input: usize,
    /// Target of the command.
    pub what: Target,
}

/// Target of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Index of the port on which the impulse set by its inputs acts.
    Port(usize),
    /// Index of the contact whose frames impact or are captured.
    Contact(usize),
}

impl Command {
    /// Declares the command's input and returns the command.
    pub(super) fn declare(name: &str, description: String, what: Target, declare: &mut Declarations) -> Self {
        let quantity = Quantity::new(name, Unit::One, description);
        Self {
            input: declare.input(quantity, 0.0, InputKind::Switch),
            what,
        }
    }

    /// Returns the index of its input.
    pub fn input(&self) -> usize {
        self.input
    }

    /// Returns true if the command is above 0.5.
    pub fn is_on(&self, inputs: &[f64]) -> bool {
        inputs[self.input] > 0.5
    }
}
