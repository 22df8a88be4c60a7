//! Elements and nodes of an initially curved beam.

use super::curve::GAUSS;
use super::{Curve, DirectorElement, Span};
use crate::algebra::{Mat3, Pose, Quaternion, Scalar, Sym3, Twist, Vec3, exp, lift33, log};

/// Largest rotation between the ends of an element in the stress-free shape, rad.
pub const MOST_ROTATION: f64 = std::f64::consts::FRAC_PI_4;

/// Element of an initially curved beam: the element of a [straight beam](DirectorElement) along the
/// chord between its nodes, with directors that are fixed to the nodes and parallel in the
/// stress-free shape.
///
/// With the constant rotations `R_AE`, `R_BE` from the element's axes E (`x` along the chord) to
/// those of the nodes in the stress-free shape, the directors are the columns of `R_WA R_AE` and
/// `R_WB R_BE`. All strains are zero in that shape and invariant under rigid motions, and the
/// rotation in them is the one from it: as accurate as in a straight beam. The section's compliance
/// on the arc length `s` acts on the chord length `l`: the stiffnesses are those of the section
/// times `l/s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvedElement {
    /// The element along the chord.
    pub element: DirectorElement,
    /// `R_AE` and `R_BE`.
    axes: [Mat3<f64>; 2],
}

impl CurvedElement {
    /// Creates the element between two nodes with the given poses in the stress-free shape, on the
    /// arc length `section.l` (m).
    fn new(section: &DirectorElement, [a, b]: [&Pose<f64>; 2]) -> Self {
        let turn = log(Quaternion::from_rotation(&a.R.tr_mul(&b.R)));
        let middle = a.R * exp(turn * 0.5).rotation();
        let chord = b.p - a.p;
        let l = chord.norm();
        let (x, along) = (middle.column(0).into_owned(), chord / l);
        let R_WE = Quaternion::between(&x, &along).rotation() * middle;
        let ratio = l / section.l;
        Self {
            element: DirectorElement {
                l,
                stretch: section.stretch * ratio,
                bend: section.bend * ratio,
            },
            axes: [a, b].map(|node| node.R.tr_mul(&R_WE)),
        }
    }

    /// Returns `span` with the element's directors in place of the axes of its nodes. The map is
    /// linear: rates of axes become rates of directors.
    pub fn span<S: Scalar>(&self, span: Span<S>) -> Span<S> {
        let [A, B] = span.triads;
        Span {
            r: span.r,
            triads: [A * lift33(&self.axes[0]), B * lift33(&self.axes[1])],
        }
    }

    /// Expresses the rates of the free joint between the nodes (angular velocity in axes of b,
    /// velocity in axes of a that are parallel to those of b in the stress-free shape) in axes of
    /// the directors at b and a.
    pub fn rates<S: Scalar>(&self, own: Twist<S>) -> Twist<S> {
        own.express(&lift33(&self.axes[1].transpose()))
    }
}

/// Mass, mass centre and inertia of a node in its axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeMass {
    /// Mass, kg.
    pub m: f64,
    /// Mass centre from the node, m.
    pub centre: Vec3<f64>,
    /// Inertia about the mass centre, kg·m².
    pub inertia: Sym3<f64>,
}

/// Section of a beam of constant section: stiffness and mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SectionOfBeam {
    /// `EA`, `GA_y`, `GA_z`, N.
    pub stretch: Vec3<f64>,
    /// `GJ`, `EI_y`, `EI_z`, N·m².
    pub bend: Vec3<f64>,
    /// Mass per length, kg/m.
    pub mass: f64,
    /// Inertia about x, y and z per length, kg·m.
    pub inertia: [f64; 3],
}

/// A curved beam in its stress-free shape.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvedBeam {
    /// Poses of the nodes from the root, root axes.
    pub nodes: Vec<Pose<f64>>,
    /// Masses of the nodes.
    pub masses: Vec<NodeMass>,
    /// Elements.
    pub elements: Vec<CurvedElement>,
}

impl CurvedBeam {
    /// Creates `n` elements of equal length along `curve`. A node consists of the adjacent halves
    /// of its elements in their stress-free shape, so that mass, mass centre and inertia of the
    /// whole beam are exact.
    ///
    /// # Errors
    /// The largest rotation between the ends of an element, rad, if it exceeds [`MOST_ROTATION`].
    pub fn new(curve: &Curve, n: usize, section: &SectionOfBeam) -> Result<Self, f64> {
        let l = curve.length() / n as f64;
        let samples: Vec<Samples> = (0..=n).map(|k| Samples::of_node(curve, k, n)).collect();
        let at: Vec<f64> = samples.iter().flat_map(|samples| samples.at.iter().copied()).collect();
        let poses = curve.poses(&at);
        let mut rest = poses.as_slice();
        let (mut nodes, mut masses) = (Vec::new(), Vec::new());
        for samples in &samples {
            let (own, others) = rest.split_at(samples.at.len());
            rest = others;
            nodes.push(own[samples.node]);
            masses.push(samples.mass(section, own));
        }
        let rotation = |pair: &[Pose<f64>]| {
            let R = pair[0].R.tr_mul(&pair[1].R);
            libm::acos((0.5 * (R.trace() - 1.0)).clamp(-1.0, 1.0))
        };
        let most = nodes.windows(2).map(rotation).fold(0.0, f64::max);
        if most > MOST_ROTATION * (1.0 + 1e-9) {
            return Err(most);
        }
        let straight = DirectorElement {
            l,
            stretch: section.stretch,
            bend: section.bend,
        };
        let pairs = nodes.windows(2);
        Ok(Self {
            elements: pairs
                .map(|pair| CurvedElement::new(&straight, [&pair[0], &pair[1]]))
                .collect(),
            nodes,
            masses,
        })
    }

    /// Returns the index of the node nearest to the position `place` (m, root axes).
    pub fn nearest(&self, place: &Vec3<f64>) -> usize {
        let distance = |pose: &Pose<f64>| (pose.p - place).norm_squared();
        let nodes = self.nodes.iter().map(distance).enumerate();
        nodes
            .min_by(|(_, a), (_, b)| a.total_cmp(b))
            .map_or(0, |(nearest, _)| nearest)
    }
}

/// Points of the halves of elements that belong to a node, for integrals along the curve.
struct Samples {
    /// Distances from the root, m, ascending, with that of the node.
    at: Vec<f64>,
    /// Weights of the points, m; zero for the node.
    weights: Vec<f64>,
    /// Index of the node among the points.
    node: usize,
}

impl Samples {
    /// Returns the points for the node `k` of `n` elements. Between the knots of the curve the
    /// integrals are exact to round-off.
    fn of_node(curve: &Curve, k: usize, n: usize) -> Self {
        let half = 0.5 * curve.length() / n as f64;
        let place = 2.0 * half * k as f64;
        let mut samples = Self {
            at: Vec::new(),
            weights: Vec::new(),
            node: 0,
        };
        if k > 0 {
            samples.add(curve, [place - half, place]);
        }
        samples.node = samples.at.len();
        samples.at.push(place);
        samples.weights.push(0.0);
        if k < n {
            samples.add(curve, [place, place + half]);
        }
        samples
    }

    fn add(&mut self, curve: &Curve, [first, last]: [f64; 2]) {
        let inner = curve.knots().iter().filter(|knot| first < **knot && **knot < last);
        let mut from = first;
        for &until in inner.chain([&last]) {
            let width = until - from;
            self.at.extend(GAUSS.map(|(x, _)| from + width * x));
            self.weights.extend(GAUSS.map(|(_, weight)| weight * width));
            from = until;
        }
    }

    /// Returns the mass of the node for the `poses` of the points.
    fn mass(&self, section: &SectionOfBeam, poses: &[Pose<f64>]) -> NodeMass {
        let to_node = poses[self.node].inverse();
        let poses: Vec<Pose<f64>> = poses.iter().map(|pose| to_node.compose(pose)).collect();
        let length: f64 = self.weights.iter().sum();
        let parts = || poses.iter().zip(&self.weights);
        let centre: Vec3<f64> = parts().map(|(pose, ds)| pose.p * (ds / length)).sum();
        let inertia = parts().fold(Sym3::zero(), |sum, (pose, &ds)| {
            let own = Sym3 {
                d: section.inertia.map(|per_length| per_length * ds),
                o: [0.0; 3],
            };
            sum + own.express(&pose.R) + Sym3::point_mass(section.mass * ds, &(pose.p - centre))
        });
        NodeMass {
            m: section.mass * length,
            centre,
            inertia,
        }
    }
}

#[cfg(feature = "inside")]
#[allow(clippy::disallowed_methods)] // expected values
pub(super) mod tests {
    use super::*;
    use crate::algebra::{Dual, Wrench};
    use crate::larger::Larger;
    use crate::nodal::{Spline, Strain};

    unit_tests![
        shape_at_rest_has_no_strain,
        energy_of_a_bent_element_is_invariant_under_rigid_motions,
        wrenches_of_a_curved_element_are_derivatives_of_its_energy,
        straight_points_make_the_straight_element,
    ];

    const SECTION: SectionOfBeam = SectionOfBeam {
        stretch: Vec3::new(900.0, 320.0, 410.0),
        bend: Vec3::new(25.0, 40.0, 60.0),
        mass: 0.7,
        inertia: [0.05, 0.02, 0.03],
    };

    /// A curve with bending in both planes and torsion.
    fn curve() -> Curve {
        let points = [[1.0, 0.1, 0.2], [1.8, 0.7, 0.6], [2.1, 1.6, 0.5]];
        Curve::Spline(Spline::new(&points.map(Vec3::from)).expect("a smooth curve"))
    }

    fn beam() -> CurvedBeam {
        CurvedBeam::new(&curve(), 5, &SECTION).expect("enough elements")
    }

    /// Returns position and attitude of the two nodes of the third element, moved from their
    /// stress-free poses by the rotation vectors and displacements of `change`.
    fn moved<S: Scalar>(change: &[[S; 6]; 2]) -> [(Vec3<S>, Mat3<S>); 2] {
        let beam = beam();
        std::array::from_fn(|k| {
            let node = &beam.nodes[2 + k];
            let [turn, shift] = [0, 3].map(|i| Vec3::from_column_slice(&change[k][i..i + 3]));
            let r = node.p.map(S::lift) + shift;
            (r, exp(turn).rotation() * lift33(&node.R))
        })
    }

    fn span<S: Scalar>([(r_a, R_a), (r_b, R_b)]: [(Vec3<S>, Mat3<S>); 2]) -> Span<S> {
        Span {
            r: r_b - r_a,
            triads: [R_a, R_b],
        }
    }

    const BENT: [[f64; 6]; 2] = [[0.3, -0.2, 0.1, 0.04, 0.1, -0.05], [-0.2, 0.3, 0.25, 0.1, -0.06, 0.08]];

    fn energy<S: Scalar>(nodes: [(Vec3<S>, Mat3<S>); 2]) -> S {
        let CurvedElement { element, .. } = beam().elements[2];
        let span = beam().elements[2].span(span(nodes));
        element.energy(&element.strain(&span))
    }

    /// All strains are zero in the stress-free shape, wherever it is.
    fn shape_at_rest_has_no_strain() {
        let beam = beam();
        let turn = exp(Vec3::new(0.7, -1.1, 0.4)).rotation();
        let mut worst = 0.0f64;
        for (element, pair) in beam.elements.iter().zip(beam.nodes.windows(2)) {
            let nodes = [0, 1].map(|k| (turn * pair[k].p, turn * pair[k].R));
            let Strain { gamma, kappa } = element.element.strain(&element.span(span(nodes)));
            worst = worst.larger(gamma.norm()).larger(kappa.norm());
        }
        println!("strains {worst:.1e} (3e-15)");
        assert!(worst < 3e-15);
    }

    /// A rigid motion of a bent element does not change its energy.
    fn energy_of_a_bent_element_is_invariant_under_rigid_motions() {
        let bent = moved(&BENT);
        let (turn, shift) = (exp(Vec3::new(-1.3, 0.8, 2.0)).rotation(), Vec3::new(3.0, -4.0, 2.0));
        let elsewhere = bent.map(|(r, R)| (turn * r + shift, turn * R));
        let [here, there] = [bent, elsewhere].map(energy);
        println!("{here} J, {:.1e} (1e-14)", there / here - 1.0);
        assert!(here > 0.1 && (there / here - 1.0).abs() < 1e-14);
    }

    /// The wrenches on both nodes are derivatives of the energy.
    fn wrenches_of_a_curved_element_are_derivatives_of_its_energy() {
        let CurvedElement { element, .. } = beam().elements[2];
        let here = beam().elements[2].span(span(moved(&BENT)));
        let on_b = element.wrench(&here, &element.stress(&element.strain(&here)));
        let on_a = Wrench::zero() - on_b.shift(&here.r);
        let mut worst = 0.0f64;
        for (node, F) in [on_a, on_b].into_iter().enumerate() {
            for along in 0..6 {
                let mut nodes = moved(&BENT).map(|(r, R)| (r.map(Dual::<1>::lift), lift33(&R)));
                let mut step = [Dual::<1>::lift(0.0); 6];
                step[along].eps[0] = 1.0;
                let (r, R) = &mut nodes[node];
                *R = exp(Vec3::from_column_slice(&step[..3])).rotation() * *R;
                *r += Vec3::from_column_slice(&step[3..]);
                worst = worst.larger((energy(nodes).eps[0] + F.to_array()[along]).abs());
            }
        }
        let scale = on_a.t.norm();
        println!("wrenches {:.1e} (1e-14)", worst / scale);
        assert!(worst < 1e-14 * scale);
    }

    /// Points on the x axis make the straight beam, and an arc that turns too far in an element is
    /// refused.
    fn straight_points_make_the_straight_element() {
        let line = Curve::Spline(Spline::new(&[Vec3::x(), Vec3::x() * 2.0]).expect("a line"));
        let beam = CurvedBeam::new(&line, 4, &SECTION).expect("straight");
        for element in &beam.elements {
            assert!((element.element.l - 0.5).abs() < 1e-15);
            let off = element.axes.map(|R| (R - Mat3::identity()).norm());
            assert!(off[0] < 1e-15 && off[1] < 1e-15);
        }
        let bar = &beam.masses[1];
        let across = 0.7 * 0.5f64.powi(3) / 12.0;
        let expected = Vec3::new(0.025, across + 0.01, across + 0.015);
        assert!((Vec3::from(bar.inertia.d) - expected).norm() < 1e-15 && bar.centre.norm() < 1e-15);
        let ring = Curve::Arc {
            radius: 1.0,
            angle: std::f64::consts::TAU,
            toward: Vec3::z(),
        };
        assert!(CurvedBeam::new(&ring, 8, &SECTION).is_ok());
        assert!(
            CurvedBeam::new(&ring, 7, &SECTION).is_err_and(|most| (most - std::f64::consts::TAU / 7.0).abs() < 1e-9)
        );
    }
}
