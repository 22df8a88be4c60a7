//! Detection of modes for which BDF methods (backward differentiation formulas) of higher order
//! are unstable.

use crate::modes::{Mode, Modes};
use crate::text::{count, number};
use grapple::plant::Linearisation;

/// Orders of BDF methods with their angles of A(α)-stability, degrees (E. Hairer and G. Wanner,
/// *Solving Ordinary Differential Equations II*, Table V.2.1).
const ANGLES: [(u32, f64); 3] = [(3, 86.03), (4, 73.35), (5, 51.84)];

/// Cycles in a communication step above which a vibration cannot be resolved: within CVODE's
/// default limit of 500 internal steps, fewer than 12.5 steps remain for each cycle.
const CYCLES: f64 = 40.0;

/// Returns advice on Model Exchange with a communication step (s) if there are such modes.
pub fn advice(linear: &Linearisation, modes: &Modes, step: f64) -> Option<String> {
    let (number_of, order, mode) = worst(&modes.modes, step)?;
    let (owner, _) = (mode.participation.iter().zip(linear.participants()))
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .and_then(|(_, coordinate)| coordinate.name.rsplit_once('.'))?;
    let orders = match order {
        3 => "orders 3 to 5",
        4 => "orders 4 and 5",
        _ => "order 5",
    };
    Some(format!(
        "Model Exchange with a BDF method: {} of more than {} Hz ({CYCLES} cycles in a communication step of {} s), the fastest in \
         {owner} with {} Hz and a damping ratio of {}, for which BDF methods of {orders} are unstable. Limit the order to 2 \
         (CVODE: CVodeSetMaxOrd) or use Co-Simulation.",
        count(number_of, "vibration"),
        number(CYCLES / step, 3),
        number(step, 3),
        number(mode.frequency(), 4),
        number(mode.damping() + 0.0, 2),
    ))
}

/// Returns the number of modes that lie outside the stable sector of some order and are not
/// resolved in a communication step (s), the lowest such order, and its fastest mode.
fn worst(modes: &[Mode], step: f64) -> Option<(usize, u32, &Mode)> {
    let unstable = |mode: &Mode| {
        let angle = libm::acos(mode.damping()).to_degrees();
        let (order, _) = ANGLES.into_iter().find(|(_, stable)| angle > *stable)?;
        Some(order)
    };
    let fast = modes
        .iter()
        .filter(|mode| mode.imaginary > 0.0 && mode.damping() >= 0.0);
    let fast = fast.filter(|mode| mode.frequency() * step > CYCLES);
    let found: Vec<(u32, &Mode)> = fast.filter_map(|mode| Some((unstable(mode)?, mode))).collect();
    let least = found.iter().map(|(order, _)| *order).min()?;
    let of_least = found.iter().filter(|(order, _)| *order == least);
    let (_, mode) = of_least.max_by(|(_, a), (_, b)| a.frequency().total_cmp(&b.frequency()))?;
    Some((found.len(), least, mode))
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![
        the_least_unstable_order_follows_from_the_angle_of_the_eigenvalue,
        resolved_vibrations_are_not_reported,
    ];

    fn mode(hertz: f64, damping: f64) -> Mode {
        let omega = std::f64::consts::TAU * hertz;
        Mode {
            real: -damping * omega,
            imaginary: omega * (1.0 - damping * damping).sqrt(),
            closes_gaps: false,
            participation: vec![1.0],
            round_off: 0.0,
            inputs: Vec::new(),
        }
    }

    /// cos 86.03° = 0.0692, cos 73.35° = 0.287, cos 51.84° = 0.618.
    fn the_least_unstable_order_follows_from_the_angle_of_the_eigenvalue() {
        for (damping, order) in [
            (0.0, Some(3)),
            (0.068, Some(3)),
            (0.071, Some(4)),
            (0.28, Some(4)),
            (0.29, Some(5)),
            (0.61, Some(5)),
            (0.63, None),
        ] {
            let modes = [mode(500.0, damping)];
            assert_eq!(worst(&modes, 0.5).map(|(_, order, _)| order), order, "{damping}");
        }
    }

    fn resolved_vibrations_are_not_reported() {
        assert!(worst(&[mode(79.0, 0.005)], 0.5).is_none());
        assert!(worst(&[mode(81.0, 0.005)], 0.5).is_some());
        let modes = [mode(100.0, 0.005), mode(200.0, 0.005), mode(900.0, 0.3)];
        let (number_of, order, fastest) = worst(&modes, 0.5).expect("found");
        assert_eq!((number_of, order), (3, 3));
        assert!((fastest.frequency() - 200.0).abs() < 1e-9);
    }
}
