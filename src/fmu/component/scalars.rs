use super::{Component, Fault};
use crate::fmu::arrays::Arrays;

/// Variables with several elements (FMI 3.0, §2.2.6).
impl Component {
    /// Makes arrays of the variables, as [`Arrays::of`] finds them.
    pub(super) fn make_arrays(&mut self) {
        self.arrays = Some(Box::new(Arrays::of(&self.registry)));
    }

    /// Calls `act` with the scalars of the given variables: elements of arrays in their order. `values`
    /// is the number of values that the importer passes, with the name of that argument.
    ///
    /// # Errors
    /// `fmi3Error` if there are more or less values than scalars, or for an unknown reference; those of
    /// `act`.
    pub fn with_scalars<T>(
        &mut self,
        references: &[u32],
        (name, values): (&str, usize),
        act: impl FnOnce(&mut Self, &[u32]) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let Some(arrays) = &mut self.arrays else {
            return match values == references.len() {
                true => act(self, references),
                false => Err(Fault::error(format!(
                    "{name} is {values} for {} variables; all variables are scalars",
                    references.len()
                ))),
            };
        };
        let scalars = arrays.scalars(references)?;
        let outcome = match values == scalars.len() {
            true => act(self, &scalars),
            false => Err(Fault::error(format!(
                "{name} is {values} for {} variables with {} elements",
                references.len(),
                scalars.len()
            ))),
        };
        if let Some(arrays) = &mut self.arrays {
            arrays.keep(scalars);
        }
        outcome
    }

    /// Calls `act` with the scalars of the given variables, as [`with_scalars`](Self::with_scalars), and
    /// with the order of each scalar, which is that of its variable.
    ///
    /// # Errors
    /// Those of [`with_scalars`](Self::with_scalars).
    pub fn with_orders<T>(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: usize,
        act: impl FnOnce(&mut Self, &[u32], &[i32]) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let repeated = self.arrays.as_mut().map(|arrays| arrays.orders(references, orders));
        let outcome = self.with_scalars(references, ("nValues", values), |component, scalars| {
            act(component, scalars, repeated.as_deref().unwrap_or(orders))
        });
        if let (Some(arrays), Some(repeated)) = (&mut self.arrays, repeated) {
            arrays.keep_orders(repeated);
        }
        outcome
    }
}
