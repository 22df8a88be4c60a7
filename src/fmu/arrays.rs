//! Array variables of FMI 3.0: scalars `base.q[1]` … `base.q[4]` as the one variable `base.q`.
//!
//! The value reference of an array is that of its first element, and its elements are the scalars with
//! this and the following references. The component below computes scalars in either case, so results
//! and saved states do not depend on it.

use std::collections::HashSet;

use super::component::Fault;
use super::registry::{Registry, Slot, Variable};

/// End of the instantiation token of an FMU with arrays; what precedes it is the GUID of the FMU with
/// scalars, so that both read each other's saved states.
pub const TOKEN: &str = "[arrays]";

/// Number of buffers: directional derivatives have lists of knowns and of unknowns.
const BUFFERS: usize = 2;

/// The arrays of a registry.
#[derive(Clone, Debug)]
pub struct Arrays {
    /// Number of elements by value reference; zero for an element that is not the first.
    lengths: Vec<u32>,
    /// Workspace for lists of scalars.
    buffers: Vec<Vec<u32>>,
    /// Workspace for an order of each scalar.
    orders: Vec<i32>,
}

impl Arrays {
    /// Finds the arrays of a registry: variables with consecutive value references, the same name but
    /// for the last index, which counts from 1, and the same unit, bounds, nominal and attributes.
    /// Event indicators remain scalars, and vectors whose name a scalar has: a compliant contact has
    /// the parameter `force` and the outputs `force[1]` to `force[3]`.
    pub fn of(registry: &Registry) -> Self {
        let variables: Vec<Variable> = registry.variables().collect();
        let names: HashSet<&str> = variables
            .iter()
            .map(|variable| variable.quantity.name.as_str())
            .collect();
        let is_free = |first: &Variable| element(&first.quantity.name).is_some_and(|(name, _)| !names.contains(&*name));
        let mut lengths = vec![1; variables.len()];
        let mut i = 0;
        while i < variables.len() {
            let n = run(&variables[i..]);
            let is_array = n > 1
                && is_free(&variables[i])
                && variables[i..i + n].iter().all(|other| is_alike(&variables[i], other));
            if is_array {
                lengths[i..i + n].fill(0);
                lengths[i] = n as u32;
            }
            i += n;
        }
        let buffer = || Vec::with_capacity(variables.len());
        Self {
            buffers: (0..BUFFERS).map(|_| buffer()).collect(),
            orders: Vec::with_capacity(lengths.len()),
            lengths,
        }
    }

    /// Returns the number of elements of the variable with this value reference, 1 for a scalar; zero
    /// if it is an element of an array but the first, none if there is no such variable.
    pub fn length(&self, reference: u32) -> Option<u32> {
        self.lengths.get(usize::try_from(reference).ok()?).copied()
    }

    /// Returns the scalars of variables, in a buffer for [`keep`](Self::keep).
    ///
    /// # Errors
    /// `fmi3Error` for a reference of no variable.
    pub(super) fn scalars(&mut self, references: &[u32]) -> Result<Vec<u32>, Fault> {
        let mut scalars = self.buffers.pop().unwrap_or_default();
        scalars.clear();
        for &reference in references {
            match self.length(reference) {
                Some(n @ 1..) => scalars.extend(reference..reference + n),
                _ => {
                    self.keep(scalars);
                    return Err(Fault::error(format!(
                        "unknown value reference {reference}; an array has one reference, that of its first element"
                    )));
                }
            }
        }
        Ok(scalars)
    }

    /// Returns the order of each scalar, that of its variable, in a buffer for
    /// [`keep_orders`](Self::keep_orders). References of no variable are left out.
    pub(super) fn orders(&mut self, references: &[u32], orders: &[i32]) -> Vec<i32> {
        let mut repeated = std::mem::take(&mut self.orders);
        repeated.clear();
        for (&reference, &order) in references.iter().zip(orders) {
            let n = self.length(reference).unwrap_or(0) as usize;
            repeated.extend(std::iter::repeat_n(order, n));
        }
        repeated
    }

    /// Keeps a buffer of orders for the next call.
    pub(super) fn keep_orders(&mut self, buffer: Vec<i32>) {
        self.orders = buffer;
    }

    /// Keeps a buffer for the next call.
    pub(super) fn keep(&mut self, buffer: Vec<u32>) {
        self.buffers.push(buffer);
    }
}

/// Returns the number of variables at the beginning of a list that are elements of one array by their
/// names and kinds; at least one.
fn run(variables: &[Variable]) -> usize {
    let Some((name, 1)) = element(&variables[0].quantity.name) else {
        return 1;
    };
    let kind = std::mem::discriminant(&variables[0].slot);
    let belongs = |(i, other): (usize, &Variable)| {
        std::mem::discriminant(&other.slot) == kind && element(&other.quantity.name) == Some((name.clone(), i + 1))
    };
    match variables[0].slot {
        Slot::Indicator(_) => 1,
        _ => variables
            .iter()
            .enumerate()
            .take_while(|&(i, v)| belongs((i, v)))
            .count(),
    }
}

/// Splits the structured name of an element into the array's name and the index: `base.q[2]` is `base.q`
/// and 2, `der(base.q[2])` is `der(base.q)` and 2. None for other names.
pub fn element(name: &str) -> Option<(String, usize)> {
    if let Some(inner) = name.strip_prefix("der(").and_then(|rest| rest.strip_suffix(')')) {
        let (array, index) = element(inner)?;
        return Some((format!("der({array})"), index));
    }
    let (array, index) = name.strip_suffix(']')?.rsplit_once('[')?;
    Some((array.to_owned(), index.parse().ok()?))
}

/// Returns true if two variables can be elements of one array, which has one unit, minimum, maximum and
/// nominal.
fn is_alike(a: &Variable, b: &Variable) -> bool {
    let attributes = |v: &Variable| (v.value_type, v.causality, v.variability, v.initial, v.start.is_some());
    attributes(a) == attributes(b)
        && a.quantity.unit == b.quantity.unit
        && a.quantity.nominal == b.quantity.nominal
        && a.quantity.bound.limits() == b.quantity.bound.limits()
}
