use super::{Modes, Point};

/// A point mass on the beam's axis, from the discretisation of the beam.
///
/// Sums over a beam's particles are the integrals over its mass: exact for products of two modes,
/// and to round-off for integrands with foreshortening, whose polynomial degree is higher. The
/// particle at `x` is at
///
/// ```text
///     p(x, η) = x e_x + Σ_k Φ_k(x) η_k + ½ Σ_kl G_kl(x) η_k η_l
/// ```
///
/// and its section rotates by `Σ_k Ψ_k η_k`. Sections have a moment of inertia about the beam's
/// axis only (slender rod).
#[derive(Clone, Debug, PartialEq)]
pub struct Particle {
    /// Distance from the root, m.
    pub x: f64,
    /// Length of the beam that it represents, m.
    pub length: f64,
    /// Mass, kg.
    pub mass: f64,
    /// Inertia about the beam's axis, kg·m².
    pub polar_inertia: f64,
    /// Displacement and rotation of its section with the modes, beam axes.
    pub point: Point,
}

impl Modes {
    /// Returns the particles, root first, at the Gauss points of every element. A load at the tip
    /// is not included.
    pub fn particles(&self) -> Vec<Particle> {
        let gauss = &self.gauss;
        let mut G = self.no_foreshortening();
        let mut particles = Vec::with_capacity(self.elements.len() * gauss.points.len());
        for (e, element) in self.elements.iter().enumerate() {
            let mut inner = element.a.x;
            for (x, dx) in gauss.on(element.a.x, element.b.x) {
                self.add_foreshortening(&mut G, e, inner, x);
                inner = x;
                let section = element.section(x);
                particles.push(Particle {
                    x,
                    length: dx,
                    mass: section.mass_per_length * dx,
                    polar_inertia: section.polar_inertia_per_length * dx,
                    point: self.point(e, x, G.clone()),
                });
            }
            self.add_foreshortening(&mut G, e, inner, element.b.x);
        }
        particles
    }
}
