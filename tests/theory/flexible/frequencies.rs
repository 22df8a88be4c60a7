//! Natural frequencies of spacecraft at rest, from mass matrix and modal stiffness, compared with
//! closed forms.

use super::roots;
use crate::numbers::{few, orders};
use crate::vibration::{mass_and_stiffness, squares};
use nalgebra::Matrix4;
use std::f64::consts::PI;

pub(super) const L: f64 = 2.0;
pub(super) const M: f64 = 3.0; // kg, the beam's
pub(super) const EI: f64 = 400.0;

/// Returns the nonzero frequencies of the spacecraft at rest, as `β = (ω² M L³/EI)^¼`, ascending.
pub(super) fn frequencies(text: &str) -> Vec<f64> {
    let squares = squares(&mass_and_stiffness(&crate::plant(text)));
    let unit = EI / (M * L.powi(3));
    let elastic = squares.iter().filter(|&&square| square > 1e-6 * unit);
    elastic.map(|square| (square / unit).powf(0.25)).collect()
}

/// Returns a spacecraft: the beam on the body `base`, with further fields `rest`, and a body at its
/// tip if `tip` has a mass and an inertia.
fn craft(base: &str, rest: &str, tip: Option<(f64, f64)>) -> String {
    let mut text = format!(
        "name = \"craft\"\n{base}\n[body.beam.beam]\nlength = {L}\nmass_per_length = {}\nEI = {EI}\n{rest}\n",
        M / L
    );
    if let Some((mass, inertia)) = tip {
        text += &format!(
            "[body.tip]\nmass = {mass}\ninertia = [{inertia}, {inertia}, {inertia}]\n\
             [joint.grip]\ntype = \"fixed\"\nparent = \"beam\"\nchild = \"tip\"\norigin = [{L}, 0.0, 0.0]\n"
        );
    }
    text
}

/// Returns a free body that carries the beam at the radius `r`.
fn hub(mass: f64, inertia: f64, r: f64) -> String {
    format!(
        "[body.hub]\nmass = {mass}\ninertia = [{inertia}, {inertia}, {inertia}]\n\
         [joint.root]\ntype = \"fixed\"\nparent = \"hub\"\nchild = \"beam\"\norigin = [{r}, 0.0, 0.0]\n"
    )
}

/// Masses and inertias at the ends of the beam, in units of the beam: mass over `M`, inertia over
/// `M L²`.
#[derive(Clone, Copy)]
struct Loads {
    hub_mass: f64,
    hub_inertia: f64,
    radius: f64, // over L
    mass: f64,
    inertia: f64,
}

/// Returns the determinant of the boundary conditions of
/// `w = a cos βx + b sin βx + c cosh βx + d sinh βx`, with `y = w − r w′` and `w′` the hub's
/// motion, from the virtual work at the ends:
///
/// ```text
///     w‴(0) = β⁴ m_h y          −w″(0) = β⁴ (J_h w′(0) − m_h r y)
///     w‴(1) = −β⁴ m_t w(1)       w″(1) = β⁴ J_t w′(1)
/// ```
fn frequency_equation(b: f64, loads: Loads) -> f64 {
    let Loads {
        hub_mass,
        hub_inertia,
        radius,
        mass,
        inertia,
    } = loads;
    let b4 = b.powi(4);
    // Derivatives 0 to 3 of the four functions.
    let at = |x: f64| {
        let (s, c, sh, ch) = ((b * x).sin(), (b * x).cos(), (b * x).sinh(), (b * x).cosh());
        let powers = [1.0, b, b * b, b * b * b];
        [[c, s, ch, sh], [-s, c, sh, ch], [-c, -s, ch, sh], [s, -c, sh, ch]]
            .iter()
            .zip(powers)
            .map(|(row, power)| row.map(|value| value * power))
            .collect::<Vec<_>>()
    };
    let (root, tip) = (at(0.0), at(1.0));
    let matrix = Matrix4::from_fn(|i, j| {
        let y = root[0][j] - radius * root[1][j];
        match i {
            0 => root[3][j] - b4 * hub_mass * y,
            1 => root[2][j] + b4 * (hub_inertia * root[1][j] - hub_mass * radius * y),
            2 => tip[3][j] + b4 * mass * tip[0][j],
            _ => tip[2][j] - b4 * inertia * tip[1][j],
        }
    });
    matrix.determinant()
}

/// Returns the frequency equation of the cantilever, `1 + cos cosh + …`, with a load at the tip.
fn loaded_cantilever(b: f64, mass: f64, inertia: f64) -> f64 {
    let (s, c, sh, ch) = (b.sin(), b.cos(), b.sinh(), b.cosh());
    let moved = mass * b * (c * sh - s * ch) - inertia * b.powi(3) * (c * sh + s * ch);
    1.0 + c * ch + moved + mass * inertia * b.powi(4) * (1.0 - c * ch)
}

/// The exact derivatives of the equations of motion at rest are `δq̈ = −M⁻¹ K δq`.
#[test]
fn linearised_spacecraft_has_the_frequencies_of_its_mass_and_stiffness() {
    let base = hub(5.0, 0.8, 0.3);
    let text = craft(
        &base,
        "polar_inertia_per_length = 0.02\nbending_y = 5\nbending_z = 3",
        Some((0.4, 0.05)),
    );
    let linear = crate::linearisation::at_start(&mut crate::plant(&text));
    let nv = linear.A.nrows() / 2;
    let block = linear.A.view((nv, 0), (nv, nv)).into_owned();
    let unit = EI / (M * L.powi(3));
    let mut found: Vec<f64> = block
        .complex_eigenvalues()
        .iter()
        .filter(|square| square.re.abs() > 1e-6 * unit)
        .map(|square| (-square.re / unit).powf(0.25))
        .collect();
    found.sort_by(f64::total_cmp);
    let expected = frequencies(&text);
    println!("{found:.6?}");
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        let off = (found / expected - 1.0).abs();
        assert!(off < 1e-10, "{found} instead of {expected}: {off:e}");
    }
}

/// `cosh β cos β = 1`. The coefficients of the curvature of a free–free shape ψ in the curvatures
/// of clamped–free shapes are `β⁴∫ψφ_k/β_k²`, with `β_k⁴∫ψφ_k = ψ′φ_k″ − ψφ_k‴` at the root,
/// `→ 4β_k² (β_k − βσ)`: Ritz's relative error of `ω` is `8 β⁴ Σ (1 − βσ/β_k)²/β_k⁶` over the
/// omitted shapes, with the limit `8β⁴/(5π⁶n⁵)`.
#[test]
fn a_free_beam_has_free_free_frequencies_with_the_fifth_order_of_its_modes() {
    let expected = roots(|b| b.cos() - 1.0 / b.cosh(), 0.2, 60);
    for (k, &beta) in expected.iter().filter(|b| **b > 1.0).take(2).enumerate() {
        let errors = [4, 8, 16, 32].map(|n| {
            // Without inertia about its axis the beam could not float freely.
            let rest = format!("polar_inertia_per_length = 0.02\nbending_y = {n}");
            (frequencies(&craft("", &rest, None))[k] / beta).powi(2) - 1.0
        });
        let sigma = (beta.cosh() - beta.cos()) / (beta.sinh() - beta.sin());
        let omitted = |k: i32| {
            let b = PI * (f64::from(k) - 0.5);
            (1.0 - beta * sigma / b).powi(2) / b.powi(6)
        };
        let share = errors[2] / (8.0 * beta.powi(4) * (17..10_000).map(omitted).sum::<f64>());
        println!(
            "mode {}: errors {}, orders {:.2?}, {share:.5} of the law",
            k + 1,
            few(&errors),
            orders(&errors)
        );
        assert!((orders(&errors)[2] - 5.0).abs() < 0.25, "{errors:?}");
        // The relative error of the first-order law is (β/β_17)⁴, below 1e-3.
        assert!((share - 1.0).abs() < 1e-3, "{share}");
    }
}

const BASE: f64 = 1e18; // kg: so large that the body moves by less than round-off

/// Shapes that include the tip load make each first frequency exact with one mode. Tolerance:
/// round-off.
#[test]
fn a_cantilever_with_the_load_of_its_shapes_has_one_exact_frequency_with_one_mode() {
    for (mass, inertia) in [(0.5, 0.2), (2.0, 0.03), (50.0, 1.0), (1.0, 0.0)] {
        let expected = roots(|b| loaded_cantilever(b, mass, inertia), 0.05, 100)[0];
        // A body needs some inertia about the tip; the shapes may have the same.
        let inertia_kgm2 = (inertia * M * L * L).max(1e-12);
        let rest = format!(
            "bending_y = 1\nboundary = \"clamped_loaded\"\ntip_mass = {}\ntip_inertia = [{inertia_kgm2}, {inertia_kgm2}, {inertia_kgm2}]",
            mass * M
        );
        let text = craft(&hub(BASE, BASE, 0.0), &rest, Some((mass * M, inertia_kgm2)));
        let off = frequencies(&text)[0] / expected - 1.0;
        println!("mass {mass}, inertia {inertia}: {off:.1e}");
        assert!(off.abs() < 1e-12, "{off:e}");
    }
}

/// A point mass loads the tip by its force, `w‴(L)`: the error of free shapes is `4 w‴² Σ β_k⁻⁴`,
/// of third order. An inertia loads it by its moment, `w″(L)`: `4 w″² Σ β_k⁻²`, of first order.
#[test]
fn free_shapes_converge_with_third_order_for_a_tip_mass_and_first_for_a_tip_inertia() {
    for (mass, inertia, order) in [(1.0, 0.0, 3.0), (1.0, 0.2, 1.0)] {
        let expected = roots(|b| loaded_cantilever(b, mass, inertia), 0.05, 100)[0];
        let errors = [4, 8, 16, 32].map(|n| {
            let tip = Some((mass * M, (inertia * M * L * L).max(1e-12)));
            let text = craft(&hub(BASE, BASE, 0.0), &format!("bending_y = {n}"), tip);
            (frequencies(&text)[0] / expected).powi(2) - 1.0
        });
        println!(
            "inertia {inertia}: errors {}, orders {:.2?}",
            few(&errors),
            orders(&errors)
        );
        assert!(
            errors.iter().all(|error| *error > 0.0),
            "Ritz approaches from above: {errors:?}"
        );
        assert!((orders(&errors)[2] - order).abs() < 0.1, "{errors:?}");
    }
}

/// A free hub, the beam at a radius, a body at the tip: shapes that include the tip load converge
/// with fifth order, as those of the free beam.
#[test]
fn a_free_hub_with_beam_and_tip_body_has_the_frequencies_of_the_frequency_equation() {
    let loads = Loads {
        hub_mass: 1.5,
        hub_inertia: 0.4,
        radius: 0.3,
        mass: 0.5,
        inertia: 0.05,
    };
    let expected = roots(|b| frequency_equation(b, loads), 0.05, 200);
    let expected: Vec<f64> = expected.into_iter().filter(|b| *b > 0.5).collect();
    let J = loads.inertia * M * L * L;
    let base = hub(loads.hub_mass * M, loads.hub_inertia * M * L * L, loads.radius * L);
    for k in 0..3 {
        let errors = [4, 8, 16].map(|n| {
            let rest = format!(
                "bending_y = {n}\nboundary = \"clamped_loaded\"\ntip_mass = {}\ntip_inertia = [{J}, {J}, {J}]",
                loads.mass * M
            );
            let found = frequencies(&craft(&base, &rest, Some((loads.mass * M, J))));
            (found[k] / expected[k]).powi(2) - 1.0
        });
        println!(
            "β {:.6}: errors {}, orders {:.2?}",
            expected[k],
            few(&errors),
            orders(&errors)
        );
        // The n-th shape is the (n − 2)-nd of a clamped beam: (n − 2)⁻⁵ from 8 to 16 corresponds to
        // the order 6 in n, decreasing.
        let order = orders(&errors)[1];
        assert!(order > 5.0 && order < 6.0, "{errors:?}");
        assert!(errors[2] > 0.0 && errors[2] < 1e-7, "{errors:?}");
    }
}

/// Returns the two lowest frequencies of a clamped array, as `β = (ω² M L³/EI)^¼`, from the linearised
/// equations: of `n` rigid panels on spring hinges, or of a beam with three modes for none.
fn of_array(n: u32) -> [f64; 2] {
    let mut text = String::from("name = \"array\"\n");
    let mut parent = "world".to_owned();
    let part = L / f64::from(n.max(1));
    for i in 1..=n {
        let mass = M / f64::from(n);
        let across = mass * part * part / 12.0;
        // The hinge stands for the bending of half a panel on each side, at the root for one half.
        let (origin, halves) = if i == 1 { (0.0, 2.0) } else { (part, 1.0) };
        text += &format!(
            "[body.panel_{i}]\nmass = {mass:?}\nmass_centre = [{:?}, 0.0, 0.0]\ninertia = [{across:?}, {across:?}, {across:?}]\n\
             [joint.hinge_{i}]\ntype = \"revolute\"\nparent = \"{parent}\"\nchild = \"panel_{i}\"\norigin = [{origin:?}, 0.0, 0.0]\n\
             axis = [0.0, 1.0, 0.0]\nspring = {{ stiffness = {:?} }}\n",
            0.5 * part,
            halves * EI / part
        );
        parent = format!("panel_{i}");
    }
    if n == 0 {
        text += &format!(
            "[body.beam.beam]\nlength = {L}\nmass_per_length = {}\nEI = {EI}\nbending_y = 0\nbending_z = 3\n\
             [joint.root]\ntype = \"fixed\"\nparent = \"world\"\nchild = \"beam\"\n",
            M / L
        );
    }
    let linear = crate::linearisation::at_start(&mut crate::plant(&text));
    let values = linear.A.complex_eigenvalues();
    let mut found: Vec<f64> = values.iter().map(|value| value.im).filter(|w| *w > 0.0).collect();
    found.sort_by(f64::total_cmp);
    let unit = EI / (M * L.powi(3));
    [found[0], found[1]].map(|w| (w * w / unit).powf(0.25))
}

/// An array with three modes has the frequencies of a clamped beam; a chain of rigid panels on spring
/// hinges, by which programs without flexible bodies replace it, tends to them with the square of the
/// number of panels.
#[test]
fn array_needs_no_hinges() {
    let exact = [1.875_104_068_711_961, 4.694_091_132_974_175];
    let off = [0, 16, 32].map(|n| {
        let found = of_array(n);
        [0, 1].map(|i| found[i] / exact[i] - 1.0)
    });
    println!("three modes off by {}", few(&off[0]));
    println!("16 and 32 hinges off by {} and {}", few(&off[1]), few(&off[2]));
    assert!(off[0].iter().all(|off| off.abs() < 1e-9), "{off:?}");
    let ratio = off[1][0] / off[2][0];
    assert!((ratio - 4.0).abs() < 0.3 && off[2][1].abs() < 1e-2, "{off:?}");
}
