use super::{Modes, Point};

/// A piece of a beam, as a point of mass on its axis.
///
/// Sums over a beam's particles are the integrals over its mass: exact for products of two modes, and to round-off for those with
/// foreshortening, which is a product itself. The particle at `x` goes to
///
/// ```text
///     p(x, η) = x e_x + Σ_k Φ_k(x) η_k + ½ Σ_kl G_kl(x) η_k η_l
/// ```
///
/// and its section turns by `Σ_k Ψ_k η_k`. Sections have inertia about the beam's axis only (a slender rod).
#[derive(Clone, Debug, PartialEq)]
pub struct Particle {
    /// Distance from the root, m.
    pub x: f64,
    /// Its share of the length, m.
    pub length: f64,
    /// Mass, kg.
    pub mass: f64,
    /// Inertia about the beam's axis, kg·m².
    pub polar_inertia: f64,
    /// How it moves, beam axes.
    pub point: Point,
}

impl Modes {
    /// The beam as particles, root first: at Gauss's points of every element. A load at the tip is not among them.
    pub fn particles(&self) -> Vec<Particle> {
        let gauss = self.gauss();
        let mut G = self.not_drawn_in();
        let mut particles = Vec::with_capacity(self.elements.len() * gauss.points.len());
        for (e, element) in self.elements.iter().enumerate() {
            let mut inner = element.a.x;
            for (x, dx) in gauss.on(element.a.x, element.b.x) {
                self.draw_in(&mut G, e, inner, x);
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
            self.draw_in(&mut G, e, inner, element.b.x);
        }
        particles
    }
}
