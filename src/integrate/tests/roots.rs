//! Location of sign changes: bounded work for any function, minima that reach zero.

use super::super::root::{
    Bracket, RootError, find_change, first_change, first_change_by_rate, first_crossing, first_crossing_by_rate,
};

unit_tests![
    irregular_functions_are_narrowed_to_round_off_within_the_bound,
    smooth_functions_take_far_fewer_evaluations_than_bisection,
    a_crossing_next_to_an_end_is_found,
    invalid_arguments_are_rejected,
    crossing_is_found_in_spite_of_nan_values,
    minimum_is_found_at_any_phase_of_the_step,
    first_of_several_minima_is_found_by_a_bound_of_the_rate,
    evaluations_with_a_bound_of_the_rate_are_bounded,
    without_a_minimum_no_evaluation_is_made,
];

fn find(f: impl Fn(f64) -> f64, t0: f64, t1: f64) -> Bracket {
    find_change([t0, t1].map(|t| (t, f(t))), f).unwrap()
}

/// Returns the width to which a bracket is narrowed.
fn width(t0: f64, t1: f64) -> f64 {
    4.0 * f64::EPSILON * t0.abs().max(t1.abs())
}

/// Returns the number of evaluations of bisection to that width, plus 3.
fn bound(t0: f64, t1: f64) -> u32 {
    ((t1 - t0) / width(t0, t1)).log2().ceil() as u32 + 3
}

type Nasty = (&'static str, fn(f64) -> f64, f64, f64);

const NASTY: [Nasty; 16] = [
    ("linear", |t| t - 0.3, 0.0, 1.0),
    ("cosine", |t| t.cos() - t, 0.0, 1.0),
    ("Lambert", |t| t * t.exp() - 1.0, -1.0, 1.0),
    ("triple root", |t| (t - 0.3).powi(3), 0.0, 1.0),
    ("ninth root of a line", |t| (t - 0.3).powi(9), 0.0, 1.0),
    ("cube root", |t| (t - 0.3).cbrt(), 0.0, 1.0),
    ("step", |t| if t < 0.3 { -1.0 } else { 1.0 }, 0.0, 1.0),
    ("uneven step", |t| if t < 0.3 { -1e-300 } else { 1e300 }, 0.0, 1.0),
    ("pole", |t| 1.0 / (t - 0.3), 0.0, 1.0),
    (
        "infinite step",
        |t| {
            if t < 0.3 { f64::NEG_INFINITY } else { f64::INFINITY }
        },
        0.0,
        1.0,
    ),
    ("flat, then steep", |t| (50.0 * (t - 0.99)).exp() - 1e-20, -1.0, 1.0),
    ("zero up to the crossing", |t| (t - 0.3).max(0.0), 0.0, 1.0),
    ("zero from the crossing", |t| (0.3 - t).max(0.0), 0.0, 1.0),
    ("many crossings", |t| (1.0 / (t + 0.0165)).sin(), 0.0, 1.0),
    ("noise", |t| (t - 0.3) + 1e-3 * (1e6 * t).sin(), 0.0, 1.0),
    ("late in time", |t| t - 86_400.123_456, 86_400.0, 86_401.0),
];

fn irregular_functions_are_narrowed_to_round_off_within_the_bound() {
    for (name, f, t0, t1) in NASTY {
        let bracket = find(f, t0, t1);
        let found = bracket.t_after - bracket.t_before;
        println!("{name}: {} evaluations", bracket.evaluations);
        assert!(found > 0.0 && found <= width(t0, t1), "{name}: {found:e}");
        assert!(bracket.evaluations <= bound(t0, t1), "{name}");
        // `f_before` and `f_after` are the values at the ends of the bracket; their signs are those
        // at the ends of the interval.
        assert_eq!(bracket.f_before, f(bracket.t_before), "{name}");
        assert_eq!(bracket.f_after, f(bracket.t_after), "{name}");
        assert_eq!(bracket.f_before > 0.0, f(t0) > 0.0, "{name}");
        assert_eq!(bracket.f_after > 0.0, f(t1) > 0.0, "{name}");
    }
}

fn smooth_functions_take_far_fewer_evaluations_than_bisection() {
    for (name, f, t0, t1) in &NASTY[..3] {
        let bracket = find(f, *t0, *t1);
        println!("{name}: {} evaluations, bisection 50", bracket.evaluations);
        assert!(bracket.evaluations <= 14, "{name}: {}", bracket.evaluations);
    }
}

fn a_crossing_next_to_an_end_is_found() {
    for root in [0.0, f64::MIN_POSITIVE, 1e-30, 1e-16, 1.0 - 1e-16] {
        let bracket = find(|t| t - root, 0.0, 1.0);
        assert!(bracket.t_before <= root && root <= bracket.t_after, "{root:e}");
    }
    let neighbours = find(|t| t - 1.0, 1.0, 1.0_f64.next_up());
    assert_eq!((neighbours.t_before, neighbours.evaluations), (1.0, 0));
    let tiny = find(|t| t - 1e-310, 0.0, 1e-308);
    assert!(tiny.t_before <= 1e-310 && 1e-310 <= tiny.t_after);
}

fn invalid_arguments_are_rejected() {
    let look = |t0, f0, t1, f1| find_change([(t0, f0), (t1, f1)], |_| f64::NAN);
    let nan = f64::NAN;
    for (t0, t1) in [(1.0, 1.0), (1.0, 0.0), (nan, 1.0), (0.0, f64::INFINITY)] {
        let refused = look(t0, -1.0, t1, 1.0).unwrap_err();
        assert!(matches!(refused, RootError::Interval { .. }), "{refused}");
    }
    assert_eq!(look(0.0, 1.0, 1.0, 2.0), Err(RootError::SameSide { f0: 1.0, f1: 2.0 }));
    assert_eq!(
        look(0.0, -1.0, 1.0, 0.0),
        Err(RootError::SameSide { f0: -1.0, f1: 0.0 })
    );
    assert_eq!(look(0.0, 1.0, 1.0, nan), Err(RootError::NotANumber { t: 1.0 }));
    let poisoned = look(0.0, -1.0, 1.0, 1.0);
    assert!(matches!(poisoned, Err(RootError::NotANumber { .. })));
}

fn crossing_is_found_in_spite_of_nan_values() {
    let falls = looks(0.0, |t| 0.6 - t);
    assert_eq!(first_crossing(&falls, |_| f64::NAN), Some(0.625));
    let crossing = first_crossing(&falls, |t| 0.6 - t).unwrap();
    assert!((0.6..0.6 + 1e-15).contains(&crossing));
    assert_eq!(first_crossing(&looks(0.0, |t| 1.5 - t), |t| 1.5 - t), None);
}

/// Returns nine samples of `f` over a step of 1 s from `start`.
fn looks(start: f64, f: impl Fn(f64) -> f64) -> [(f64, f64); 9] {
    std::array::from_fn(|k| (start + k as f64 / 8.0, f(start + k as f64 / 8.0)))
}

/// A ball passes another at the distance `offset` (m) between centres, with `speed` (m/s); the sum
/// of the radii is 0.3 m. For steps at any phase relative to the closest approach, the first
/// crossing of the gap to zero is found in one of the steps if the balls touch, and none if not.
fn minimum_is_found_at_any_phase_of_the_step() {
    for (speed, offset) in [
        (10.0, 0.0),
        (20.0, 0.0),
        (20.0, 0.29),
        (10.0, 0.2999),
        (10.0, 0.299_999_999),
        (10.0, 0.300_000_001),
        (10.0, 0.31),
    ] {
        let (phases, reaches) = (1000, offset < 0.3);
        let (mut found, mut most) = (0, 0);
        for phase in 0..=phases {
            let closest = f64::from(phase) / f64::from(phases);
            let gap = |t: f64| (speed * (t - closest)).hypot(offset) - 0.3;
            for start in [-1.0, 0.0, 1.0] {
                let mut evaluations = 0;
                let mut counted = |t: f64| {
                    evaluations += 1;
                    gap(t)
                };
                let change = first_change(&looks(start, gap), &mut counted);
                most = most.max(evaluations);
                if let Some([before, after]) = change {
                    assert!(before.1 > 0.0 && after.1 <= 0.0 && before.1 == gap(before.0) && after.1 == gap(after.0));
                    assert!(before.0 < closest && after.0 > before.0 && after.0 <= closest + 0.3 / speed);
                    found += 1;
                    break;
                }
            }
        }
        println!(
            "{speed} m/s past {offset} m: {found} of {} found, {most} evaluations at most",
            phases + 1
        );
        assert_eq!(found, if reaches { phases + 1 } else { 0 });
    }
}

/// A ball of radius 0.05 m passes two plates of 0.02 m at ±0.2 m within a step: at any phase of the
/// step and any speed its first contact is found, although the gap in the slit is not convex.
fn first_of_several_minima_is_found_by_a_bound_of_the_rate() {
    for speed in [1.0, 4.0, 20.0] {
        let mut most = 0;
        for phase in 0..=1000 {
            let middle = f64::from(phase) / 1000.0;
            let x = |t: f64| speed * (t - middle);
            let gap = |t: f64| (x(t).abs() - 0.2).abs() - 0.06;
            let touches = middle - 0.26 / speed;
            if touches <= 1e-9 {
                continue;
            }
            let mut evaluations = 0;
            let mut counted = |t: f64| {
                evaluations += 1;
                gap(t)
            };
            let found = first_crossing_by_rate(&looks(0.0, gap), speed, &mut counted);
            let off = (found.expect("a contact") - touches).abs();
            assert!(off < 1e-14, "{speed} m/s, phase {middle}: {off:e}");
            most = most.max(evaluations);
        }
        println!("{speed} m/s through two plates: {most} evaluations at most");
        assert!(most < 150);
    }
}

/// The number of evaluations is bounded for functions that stay close to zero, are not numbers, or
/// change faster than stated.
fn evaluations_with_a_bound_of_the_rate_are_bounded() {
    let odd: [fn(f64) -> f64; 5] = [
        |_| 1e-4,
        |_| 1e-300,
        |_| f64::NAN,
        |t| 1e-6 + 1e-7 * (1e5 * t).sin(),
        |t| if t > 0.3 { -1.0 } else { 1.0 },
    ];
    for f in odd {
        let mut evaluations = 0;
        let mut counted = |t: f64| {
            evaluations += 1;
            f(t)
        };
        let change = first_change_by_rate(&looks(0.0, f), 1.0, &mut counted);
        assert_eq!(change.is_some(), f(1.0) < 0.0);
        assert!(evaluations < 10_000, "{evaluations}");
        println!("{evaluations} evaluations");
    }
    let far = first_change_by_rate(&looks(0.0, |t| 2.0 + t), 1.0, &mut |_| panic!("evaluated"));
    assert_eq!(far, None);
}

/// The function falls or rises at all samples, and its chords exclude a minimum below zero next to
/// either end: no evaluation is made.
fn without_a_minimum_no_evaluation_is_made() {
    let falls: [fn(f64) -> f64; 3] = [|t| 1.5 - t, |t| 1e-9 + (1.0 - t), |t| (-3.0 * t).exp()];
    for falls in falls {
        for f in [falls, |t| 1e-9 + t] {
            let change = first_change(&looks(0.0, f), &mut |_| panic!("evaluated"));
            assert_eq!(change, None);
        }
    }
}
