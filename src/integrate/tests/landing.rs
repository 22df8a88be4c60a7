//! Steps end on communication points, which do not affect the natural step size.

use super::super::landing::Trial;
use super::super::{Memory, Method, Settings, Stepper};
use super::problems::{AUTO, distance, kepler, kepler_solution, ode, run};

unit_tests![
    many_communication_points_accumulate_no_drift,
    natural_step_is_unaffected_by_a_communication_point,
    step_is_stretched_to_avoid_a_small_remainder,
    fixed_step_divides_the_interval_into_the_fewest_equal_parts,
    steps_respect_the_maximum,
];

const METHODS: [Method; 10] = [
    Method::Dopri5,
    Method::BogackiShampine,
    Method::Dop853,
    Method::Rk4 { step: 0.004 },
    Method::Radau5,
    Method::Rosenbrock,
    Method::ImplicitMidpoint { step: 1e-4 },
    Method::LinearlyImplicit { step: 1e-4 },
    Method::Conserving { step: 1e-4, rates: 4 },
    AUTO,
];

fn many_communication_points_accumulate_no_drift() {
    for method in METHODS {
        let mut stepper = Stepper::new(Settings::new(method, 1e-9, &[1.0; 4]).unwrap());
        let (mut t, mut memory) = (0.0, Memory::new(stepper.settings()));
        let mut x = kepler_solution(0.6, 0.0);
        for k in 1..=1000 {
            let limit = f64::from(k) * 0.01;
            stepper.begin_call();
            loop {
                let step = stepper.step(&mut kepler(), t, limit, &mut x, &mut memory).unwrap();
                t = step.t;
                assert!(t <= limit);
                assert_eq!(step.landed, t == limit);
                if step.landed {
                    break;
                }
            }
            assert_eq!(t.to_bits(), (f64::from(k) * 0.01).to_bits());
            let steps_are_short = matches!(
                method,
                Method::ImplicitMidpoint { .. } | Method::LinearlyImplicit { .. } | Method::Conserving { .. }
            );
            if !steps_are_short {
                assert!(stepper.evaluations() < 200, "{}", stepper.evaluations());
            }
        }
        let error = distance(&x, &kepler_solution(0.6, 10.0));
        println!("{}: error after 1000 points {error:.1e}", method.name());
        assert!(error < 1e-5);
    }
}

fn natural_step_is_unaffected_by_a_communication_point() {
    for method in [
        Method::Dopri5,
        Method::BogackiShampine,
        Method::Radau5,
        Method::Rosenbrock,
        AUTO,
    ] {
        natural_step_survives(method);
    }
}

fn natural_step_survives(method: Method) {
    let settings = Settings::new(method, 1e-6, &[1.0; 4]).unwrap();
    let mut stepper = Stepper::new(settings);
    let (mut t, mut memory) = (0.0, Memory::new(stepper.settings()));
    let mut x = kepler_solution(0.6, 0.0);
    while t < 2.0 {
        t = stepper.step(&mut kepler(), t, 2.0, &mut x, &mut memory).unwrap().t;
    }
    let natural = memory.step_history.h_next;
    // Two communication points much closer than the natural step, then a distant limit.
    for limit in [2.000_001, 2.000_002] {
        t = stepper.step(&mut kepler(), t, limit, &mut x, &mut memory).unwrap().t;
        assert_eq!(t, limit);
        assert_eq!(memory.step_history.h_next, natural);
    }
    let free = stepper.step(&mut kepler(), t, 100.0, &mut x, &mut memory).unwrap();
    assert!((free.h - natural).abs() < 1e-12 && free.rejections == 0);
}

fn step_is_stretched_to_avoid_a_small_remainder() {
    let stretched = Trial::towards(1.0, 0.0995, 1.1);
    assert_eq!((stretched.t1, stretched.lands, stretched.shortened), (1.1, true, false));
    let halved = Trial::towards(1.0, 0.098, 1.1);
    assert!(!halved.lands && halved.shortened && (halved.h - 0.05).abs() < 1e-15);
    let free = Trial::towards(1.0, 0.04, 1.1);
    assert!(!free.lands && !free.shortened && (free.h - 0.04).abs() < 1e-15);
    let last = Trial::towards(1.0, 0.04, 1.0_f64.next_up());
    assert!(last.lands && last.shortened);
    let unlimited = Trial::towards(1.0, 0.04, f64::INFINITY);
    assert!(!unlimited.lands && !unlimited.shortened);
}

fn fixed_step_divides_the_interval_into_the_fewest_equal_parts() {
    let still = |method, t_end| {
        let settings = Settings::new(method, 1e-3, &[1.0]).unwrap();
        run(settings, &mut ode(|_, _, dx| dx[0] = 1.0), 0.0, t_end, &mut [0.0])
    };
    // In floating point 0.3/0.1 is 2.9999999999999996, and 0.7/0.1 is 6.999999999999999.
    for (step, t_end, count) in [(0.1, 0.3, 3), (0.1, 0.7, 7), (0.1, 1.0, 10), (0.3, 1.0, 4)] {
        let steps = still(Method::Rk4 { step }, t_end);
        assert_eq!(steps.len(), count);
        for taken in &steps {
            assert!((taken.h - t_end / count as f64).abs() < 1e-15);
        }
    }
    let mut stepper = Stepper::new(Settings::new(Method::Rk4 { step: 0.25 }, 1e-3, &[1.0]).unwrap());
    let mut memory = Memory::new(stepper.settings());
    let free = stepper
        .step(
            &mut ode(|_, _, dx| dx[0] = 1.0),
            1.0,
            f64::INFINITY,
            &mut [0.0],
            &mut memory,
        )
        .unwrap();
    assert_eq!((free.t, free.landed), (1.25, false));
    assert_eq!(memory, Memory::new(stepper.settings()));
}

fn steps_respect_the_maximum() {
    let settings = Settings::new(Method::Dop853, 1e-3, &[1.0]).unwrap();
    let settings = settings.with_h_max(0.125).unwrap();
    let steps = run(settings, &mut ode(|_, _, dx| dx[0] = 1.0), 0.0, 10.0, &mut [0.0]);
    assert!(steps.iter().all(|step| step.h <= 0.125 * 1.01));
}
