use super::{Beam, Section};

/// An interval of the beam on which section properties are linear and modes are polynomials.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Element {
    /// The section at its inner end, nearer to the root.
    pub a: Section,
    /// The section at its outer end.
    pub b: Section,
}

impl Element {
    /// Returns the length, m.
    pub fn length(&self) -> f64 {
        self.b.x - self.a.x
    }

    /// Returns the local coordinate `s ∈ [−1, 1]` of `x` (m).
    pub fn local(&self, x: f64) -> f64 {
        ((x - self.a.x) - (self.b.x - x)) / self.length()
    }

    /// Returns the section at `x` (m from the beam's root).
    pub fn section(&self, x: f64) -> Section {
        Section::between(&self.a, &self.b, x)
    }
}

/// Maximum number of half waves of a mode on one element: it limits the required polynomial degree.
const WAVES_PER_ELEMENT: f64 = 6.0;

/// Returns the elements of a beam, root first, for modes with up to `waves` half waves: each
/// interval between two stations is one element, or is divided into several.
pub(super) fn elements(beam: &Beam, waves: usize) -> Vec<Element> {
    let mut elements = Vec::new();
    for pair in beam.stations().windows(2) {
        let [a, b] = [pair[0], pair[1]];
        let length = b.x - a.x;
        // A jump (two coinciding stations) has no element.
        let parts = (length / beam.length() * (waves as f64 / WAVES_PER_ELEMENT)).ceil();
        let parts = (parts as usize).clamp(usize::from(length > 0.0), waves.max(1));
        let at = |i: usize| match i {
            0 => a,
            _ if i == parts => b,
            _ => Section::between(&a, &b, a.x + length * i as f64 / parts as f64),
        };
        elements.extend((0..parts).map(|i| Element { a: at(i), b: at(i + 1) }));
    }
    elements
}

/// Returns the index of the element that contains `x` (m); between two elements, of the outer one.
pub(super) fn find(elements: &[Element], x: f64) -> usize {
    elements.partition_point(|e| e.b.x <= x).min(elements.len() - 1)
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::{Section, elements};
    use crate::beam::Beam;

    unit_tests![number_of_elements_is_independent_of_the_length];

    fn number_of_elements_is_independent_of_the_length() {
        let section = Section {
            x: 0.0,
            mass_per_length: 1.5,
            EI_y: 700.0,
            EI_z: 400.0,
            EA: 2e6,
            GJ: 300.0,
            polar_inertia_per_length: 0.02,
        };
        for length in [1e-300, 1e-3, 2.0, 1e9, 1e300, f64::MAX] {
            let beam = Beam::uniform(length, section).expect("a beam");
            assert_eq!(elements(&beam, 13).len(), 3, "{length} m");
        }
    }
}
