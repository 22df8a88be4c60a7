//! The table of legal combinations (§2.2.7).

use crate::Causality::{self, CalculatedParameter, Independent, Input, Local, Output, Parameter};
use crate::Initial::{self, Approx, Calculated, Exact};
use crate::Variability::{self, Constant, Continuous, Discrete, Fixed, Tunable};

// Legal values of `initial` under the letters of the standard's table; the default is first.
const A: &[Initial] = &[Exact];
const B: &[Initial] = &[Calculated, Approx];
const C: &[Initial] = &[Calculated, Exact, Approx];
const D: &[Initial] = &[];
const E: &[Initial] = &[];

/// Returns the legal values of `initial` for a causality and a variability, the default first.
///
/// | | parameter | calculatedParameter | input | output | local | independent |
/// |---|---|---|---|---|---|---|
/// | constant | – | – | – | A | A | – |
/// | fixed | A | B | – | – | B | – |
/// | tunable | A | B | – | – | B | – |
/// | discrete | – | – | D | C | C | – |
/// | continuous | – | – | D | C | C | E |
///
/// A: exact. B: calculated or approx. C: calculated, exact or approx. D and E: `initial` must be
/// absent, so the list is empty. Returns `None` for an illegal pair.
///
/// ```
/// use model_description::{Causality, Initial, Variability, legal_initials};
///
/// let state = legal_initials(Causality::Local, Variability::Continuous);
/// assert_eq!(state.map(|legal| legal[0]), Some(Initial::Calculated));
/// assert_eq!(legal_initials(Causality::Input, Variability::Fixed), None);
/// ```
pub fn legal_initials(causality: Causality, variability: Variability) -> Option<&'static [Initial]> {
    match (variability, causality) {
        (Constant, Output | Local) => Some(A),
        (Fixed | Tunable, Parameter) => Some(A),
        (Fixed | Tunable, CalculatedParameter | Local) => Some(B),
        (Discrete | Continuous, Output | Local) => Some(C),
        (Discrete | Continuous, Input) => Some(D),
        (Continuous, Independent) => Some(E),
        _ => None,
    }
}
