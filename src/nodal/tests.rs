use super::*;
use crate::algebra::{Dual, Quaternion, Scalar, Vec3};
use crate::larger::Larger;

unit_tests![
    mass_matrix_is_the_integral_of_the_shapes,
    slopes_and_bends_are_derivatives_of_the_shapes,
    forces_are_derivatives_of_the_energy,
    rigid_motions_cause_no_strain,
    forces_have_no_resultant_and_no_moment,
    factored_mass_inverts_the_assembled_mass,
    a_site_is_a_point_of_the_beam,
];

const ELEMENT: Element = Element {
    l: 1.7,
    mass_per_length: 2.3,
    EA: 900.0,
    EI: 40.0,
};

/// Returns a generator of pseudo-random numbers of order one.
fn some(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

fn bent(seed: u64) -> [Vec3<f64>; 4] {
    let mut next = some(seed);
    let straight = [Vec3::zeros(), Vec3::x(), Vec3::x() * ELEMENT.l, Vec3::x()];
    straight.map(|e| e + Vec3::new(next(), next(), next()) * 0.2)
}

/// Integrates over the element by seven Gauss points, exact to degree 13.
fn integral(f: impl Fn(f64) -> f64) -> f64 {
    let points = [
        (0.0, 0.417_959_183_673_469_4),
        (0.405_845_151_377_397_2, 0.381_830_050_505_118_9),
        (0.741_531_185_599_394_4, 0.279_705_391_489_276_7),
        (0.949_107_912_342_758_5, 0.129_484_966_168_869_7),
    ];
    let both = |(x, w): (f64, f64)| 0.25 * w * (f(0.5 + 0.5 * x) + f(0.5 - 0.5 * x));
    ELEMENT.l
        * points
            .into_iter()
            .map(|(x, w)| both((x, if x == 0.0 { w } else { 2.0 * w })))
            .sum::<f64>()
}

fn mass_matrix_is_the_integral_of_the_shapes() {
    let M = ELEMENT.mass_matrix();
    for k in 0..4 {
        let centre = integral(|xi| ELEMENT.shape(xi)[k]) / ELEMENT.l;
        assert!((centre - ELEMENT.centre()[k]).abs() < 1e-15);
        for l in 0..4 {
            let m = integral(|xi| ELEMENT.shape(xi)[k] * ELEMENT.shape(xi)[l]) * ELEMENT.mass_per_length;
            assert!((m - M[k][l]).abs() < 1e-14, "{k} {l}: {m} {}", M[k][l]);
        }
    }
}

/// Slopes and curvatures are derivatives of the shape functions, and the quadratic bending energy
/// is the integral of `|r″|²`.
fn slopes_and_bends_are_derivatives_of_the_shapes() {
    for xi in [0.0, 0.3, 0.5, 0.9, 1.0] {
        let h = 1e-5;
        for k in 0..4 {
            let along = |f: fn(&Element, f64) -> [f64; 4]| {
                (f(&ELEMENT, xi + h)[k] - f(&ELEMENT, xi - h)[k]) / (2.0 * h * ELEMENT.l)
            };
            assert!((along(Element::shape) - ELEMENT.slope(xi)[k]).abs() < 1e-9);
            assert!((along(Element::slope) - ELEMENT.bend(xi)[k]).abs() < 1e-9);
        }
    }
    let e = bent(3);
    let only_bent = Element { EA: 0.0, ..ELEMENT };
    let squared = |xi: f64| {
        let bends = ELEMENT.bend(xi);
        (0..4).map(|k| e[k] * bends[k]).sum::<Vec3<f64>>().norm_squared()
    };
    let expected = 0.5 * ELEMENT.EI * integral(squared);
    let energy = only_bent.energy(&e, Curvature::Quadratic);
    assert!((energy - expected).abs() < 1e-13 * expected, "{energy} {expected}");
}

/// The forces are exact derivatives of the energy, for both curvature measures.
fn forces_are_derivatives_of_the_energy() {
    for curvature in [Curvature::Quadratic, Curvature::Exact] {
        let e = bent(7);
        let mut Q = [Vec3::zeros(); 4];
        ELEMENT.add_forces(&e, curvature, &mut Q);
        let gradient = ELEMENT.energy_gradient(&e, curvature);
        let mut worst = 0.0f64;
        for (k, axis) in (0..4).flat_map(|k| (0..3).map(move |axis| (k, axis))) {
            let mut along = e.map(|e| e.map(Dual::<1>::lift));
            along[k][axis].eps[0] = 1.0;
            let slope = ELEMENT.energy(&along, curvature).eps[0];
            worst = worst
                .larger((slope + Q[k][axis]).abs())
                .larger((slope - gradient[k][axis]).abs());
        }
        let scale = Q.iter().map(Vec3::norm).fold(0.0, f64::larger);
        println!("{curvature:?}: {:.1e} (1e-14)", worst / scale);
        assert!(worst < 1e-14 * scale);
    }
}

/// A rigid motion causes no strain energy and no forces, up to the round-off of the positions.
fn rigid_motions_cause_no_strain() {
    let q = Quaternion::new(0.3, -0.5, 0.6, 0.4).normalised();
    let r = Vec3::new(12.0, -7.0, 3.0);
    let t = q.rotate(Vec3::x());
    let e = [r, t, r + t * ELEMENT.l, t];
    for curvature in [Curvature::Quadratic, Curvature::Exact] {
        let mut Q = [Vec3::zeros(); 4];
        ELEMENT.add_forces(&e, curvature, &mut Q);
        let off = Q.iter().map(Vec3::norm).fold(0.0, f64::larger);
        assert!(off < 1e-14 * 20.0 * ELEMENT.EA, "{curvature:?}: {off:e}");
        assert!(ELEMENT.energy(&e, curvature).abs() < 1e-26 * 400.0 * ELEMENT.EA);
    }
}

/// The elastic forces have no resultant and no moment, because the energy is invariant under rigid
/// motions.
fn forces_have_no_resultant_and_no_moment() {
    for curvature in [Curvature::Quadratic, Curvature::Exact] {
        let e = bent(11);
        let mut Q = [Vec3::zeros(); 4];
        ELEMENT.add_forces(&e, curvature, &mut Q);
        let force = Q[0] + Q[2];
        let moment: Vec3<f64> = e.iter().zip(&Q).map(|(e, Q)| e.cross(Q)).sum();
        let scale = Q.iter().map(Vec3::norm).fold(0.0, f64::larger);
        assert!(force.norm() < 1e-14 * scale && moment.norm() < 1e-14 * scale * ELEMENT.l);
    }
}

fn factored_mass_inverts_the_assembled_mass() {
    let mut next = some(5);
    let elements: Vec<Element> = (0..5)
        .map(|_| Element {
            l: 1.5 + next(),
            mass_per_length: 2.0 + next(),
            ..ELEMENT
        })
        .collect();
    let accelerations: Vec<f64> = (0..36).map(|_| next()).collect();
    let mut Q = vec![0.0; 36];
    for (i, element) in elements.iter().enumerate() {
        for (k, row) in element.mass_matrix().into_iter().enumerate() {
            for (l, entry) in row.into_iter().enumerate() {
                for axis in 0..3 {
                    Q[6 * i + 3 * k + axis] += entry * accelerations[6 * i + 3 * l + axis];
                }
            }
        }
    }
    Mass::new(&elements).solve(&mut Q);
    let off = Q
        .iter()
        .zip(&accelerations)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::larger);
    assert!(off < 1e-11, "{off:e}"); // the condition number of an element's matrix is some thousands
}

fn a_site_is_a_point_of_the_beam() {
    let elements = [ELEMENT, Element { l: 0.8, ..ELEMENT }];
    let nodes = [0.0, 1.7, 2.5];
    for x in [0.0, 0.4, 1.7, 2.1, 2.5] {
        let site = Site::at(&elements, x);
        let [a, b] = [nodes[site.element], nodes[site.element + 1]];
        let e = [a, 1.0, b, 1.0];
        let sum = |weights: [f64; 4]| (0..4).map(|k| weights[k] * e[k]).sum::<f64>();
        assert!((sum(site.shape) - x).abs() < 1e-15 && (sum(site.slope) - 1.0).abs() < 1e-15);
    }
    assert_eq!(Site::at(&elements, 9.0), Site::at(&elements, 2.5));
}
