use crate::system::Derived;

/// The values of a model's parameters, and the constants that follow from them.
#[derive(Clone, Copy)]
pub(super) struct Numbers<'a> {
    pub derived: &'a Derived,
    pub parameters: &'a [f64],
}
