use super::Element;

/// A point of an ANCF beam: its element, and the weights of the element's nodal coordinates `e_k`
/// in its position `r` and slope `r′`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Site {
    /// Index of the element.
    pub element: usize,
    /// Weights of the position: `r = Σ shape_k e_k`.
    pub shape: [f64; 4],
    /// Weights of the slope: `r′ = Σ slope_k e_k`.
    pub slope: [f64; 4],
}

impl Site {
    /// Returns the distance of the point from the root along the undeformed beam, m.
    pub fn place(&self, elements: &[Element]) -> f64 {
        let before = elements.iter().take(self.element).map(|element| element.l);
        let root = before.fold(0.0, |sum, l| sum + l);
        let l = elements.get(self.element).map_or(0.0, |element| element.l);
        // Positions and slopes of the element's nodes, along the beam.
        let nodes = [0.0, 1.0, l, 1.0];
        root + self
            .shape
            .iter()
            .zip(nodes)
            .fold(0.0, |sum, (shape, e)| sum + shape * e)
    }

    /// Returns the point at `x` (m) along the undeformed beam; outside the beam the nearer end.
    pub fn at(elements: &[Element], x: f64) -> Self {
        let mut left = x;
        let last = elements.len().saturating_sub(1);
        for (i, element) in elements.iter().enumerate() {
            if left <= element.l || i == last {
                let xi = (left / element.l).clamp(0.0, 1.0);
                return Self {
                    element: i,
                    shape: element.shape(xi),
                    slope: element.slope(xi),
                };
            }
            left -= element.l;
        }
        Self::default()
    }
}
