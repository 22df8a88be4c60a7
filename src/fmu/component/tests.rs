//! Instances: buffered and refused parameters, steps, time derivatives, saved and damaged states.

use super::*;
use crate::fmu::status::Status;
use crate::fmu::testing::{Outcome, TWO_LINK, instance, instance_of};
use crate::larger::Larger;
use crate::messages;

unit_tests![
    parameters_are_validated_together_at_the_end_of_initialisation,
    o3_parameters_set_in_event_mode_before_the_first_step_restart_the_run,
    a_tunable_parameter_takes_effect_at_once_or_is_refused_at_once,
    start_is_validated_only_before_the_run,
    values_that_are_not_finite_are_refused_by_name,
    one_evaluation_serves_all_gets_until_something_is_set,
    steps_backwards_from_another_time_or_past_the_stop_time_are_refused,
    step_at_the_work_limit_is_discarded_and_can_be_continued,
    output_derivatives_agree_with_the_states_rates,
    output_derivatives_are_exact_at_late_times,
    input_derivatives_apply_to_one_step_and_the_input_keeps_its_final_value,
    state_restored_in_another_instance_continues_with_identical_bits,
    state_can_be_saved_and_restored_in_every_mode,
    damaged_and_foreign_states_are_refused_without_effect,
    state_with_an_invalid_tolerance_is_refused,
    solver_statistics_are_logged_at_the_end_of_a_run,
    reset_instance_equals_a_new_one,
    event_without_changes_leaves_the_instance_unchanged,
];

/// Returns an instance in a mode, reached by the calls of an importer.
fn in_mode(interface: Interface, mode: Mode) -> Result<Component, Box<dyn std::error::Error>> {
    let mut component = instance(interface)?;
    let fail = |fault: Fault| fault.what;
    // Only an importer that uses Event Mode has it in Co-Simulation.
    component.use_events(mode == Mode::Event, false);
    if mode == Mode::Instantiated {
        return Ok(component);
    }
    component.setup_experiment(None, 0.0, None).map_err(fail)?;
    component.enter_initialization_mode();
    if mode == Mode::Initialization {
        return Ok(component);
    }
    component.exit_initialization_mode().map_err(fail)?;
    match mode {
        Mode::ContinuousTime => component.enter_continuous_time_mode().map_err(fail)?,
        Mode::StepFailed => component.mode = Mode::StepFailed,
        Mode::Terminated => component.terminate(),
        Mode::Lost => component.lose(),
        _ => {}
    }
    assert_eq!(component.mode(), mode);
    Ok(component)
}

fn reference(component: &Component, name: &str) -> Result<u32, String> {
    component
        .registry()
        .find(name)
        .map(|v| v.value_reference)
        .ok_or_else(|| name.to_owned())
}

fn get(component: &mut Component, name: &str) -> Result<f64, String> {
    let mut value = [f64::NAN];
    let reference = reference(component, name)?;
    component.get_real(&[reference], &mut value).map_err(|f| f.what)?;
    Ok(value[0])
}

fn set(component: &mut Component, name: &str, value: f64) -> Result<(), Fault> {
    let reference = reference(component, name).map_err(Fault::error)?;
    component.set_real(&[reference], &[value])
}

fn parameters_are_validated_together_at_the_end_of_initialisation() -> Outcome {
    let _section = messages::of_this_test();
    let mut c = in_mode(Interface::CoSimulation, Mode::Initialization)?;
    set(&mut c, "base.mass", -1.0).map_err(|f| f.what)?;
    set(&mut c, "link1.inertia_xx", 99.0).map_err(|f| f.what)?;
    let refused = c.exit_initialization_mode();
    let what = refused.err().map(|f| f.what).unwrap_or_default();
    messages::record(messages::without_decimals(&what));
    assert!(
        what.contains("base") && what.contains("-1") && what.contains("link1"),
        "{what}"
    );
    assert_eq!(c.mode(), Mode::Initialization);
    set(&mut c, "base.mass", 5.0).map_err(|f| f.what)?;
    set(&mut c, "link1.inertia_xx", 0.1).map_err(|f| f.what)?;
    c.exit_initialization_mode().map_err(|f| f.what)?;
    assert_eq!(get(&mut c, "base.mass")?, 5.0);
    Ok(())
}

fn o3_parameters_set_in_event_mode_before_the_first_step_restart_the_run() -> Outcome {
    let _section = messages::of_this_test();
    let mut c = in_mode(Interface::ModelExchange, Mode::Event)?;
    assert_eq!(get(&mut c, "elbow.q")?, 0.3);
    set(&mut c, "elbow.q_start", 0.7).map_err(|f| f.what)?;
    assert_eq!(get(&mut c, "elbow.q")?, 0.7);
    c.enter_continuous_time_mode().map_err(|f| f.what)?;
    c.enter_event_mode().map_err(|f| f.what)?;
    let refused = set(&mut c, "elbow.q_start", 0.8);
    let what = refused.err().map(|f| f.what).unwrap_or_default();
    messages::record(&what);
    assert!(what.contains("elbow.q_start"), "{what}");
    assert_eq!(get(&mut c, "elbow.q_start")?, 0.7);
    Ok(())
}

fn a_tunable_parameter_takes_effect_at_once_or_is_refused_at_once() -> Outcome {
    let mut c = in_mode(Interface::CoSimulation, Mode::StepComplete)?;
    c.do_step(0.0, 0.1).map_err(|f| f.what)?;
    let tunable = c
        .registry()
        .variables()
        .find(|v| v.variability == model_description::Variability::Tunable);
    let name = tunable.ok_or("no tunable parameter")?.name.into_owned();
    let before = get(&mut c, &name)?;
    assert!(set(&mut c, &name, -1.0).is_err(), "{name}");
    assert_eq!(get(&mut c, &name)?, before);
    set(&mut c, &name, 2.0 * before + 1.0).map_err(|f| f.what)?;
    assert_eq!(
        c.simulation.plant.parameters(),
        &c.parameters[..c.model().parameters.len()]
    );
    Ok(())
}

/// The start of a run is validated only before the run: a range that is set later may exclude it.
fn start_is_validated_only_before_the_run() -> Outcome {
    let _section = messages::of_this_test();
    let mut c = in_mode(Interface::CoSimulation, Mode::Initialization)?;
    set(&mut c, "elbow.q_min", 0.4).map_err(|f| f.what)?;
    let refused = c.exit_initialization_mode().err().map(|f| f.what).unwrap_or_default();
    messages::record(&refused);
    assert!(refused.contains("elbow.q"), "{refused}");
    set(&mut c, "elbow.q_min", -2.0).map_err(|f| f.what)?;
    c.exit_initialization_mode().map_err(|f| f.what)?;
    c.do_step(0.0, 0.1).map_err(|f| f.what)?;
    set(&mut c, "elbow.q_min", 0.4).map_err(|f| f.what)?;
    c.do_step(0.1, 0.1).map_err(|f| f.what)?;
    Ok(())
}

fn values_that_are_not_finite_are_refused_by_name() -> Outcome {
    let mut c = in_mode(Interface::ModelExchange, Mode::ContinuousTime)?;
    let tau = get(&mut c, "elbow.tau")?;
    let refused = set(&mut c, "elbow.tau", f64::NAN);
    assert!(refused.is_err_and(|f| f.status == Status::Error && f.what.contains("elbow.tau")));
    assert_eq!(get(&mut c, "elbow.tau")?, tau);
    let refused = set(&mut c, "elbow.q", f64::INFINITY);
    assert!(refused.is_err_and(|f| f.status == Status::Discard && f.what.contains("elbow.q")));
    assert!(c.set_time(f64::NAN).is_err_and(|f| f.status == Status::Discard));
    let mut x = vec![0.0; c.model().states.len()];
    c.get_continuous_states(&mut x).map_err(|f| f.what)?;
    x[8] = f64::NAN;
    let name = c.model().states[8].name.clone();
    assert!(c.set_continuous_states(&x).is_err_and(|f| f.what.contains(&name)));
    c.get_derivatives(&mut x).map_err(|f| f.what)?;
    assert!(x.iter().all(|d| d.is_finite()));
    Ok(())
}

fn one_evaluation_serves_all_gets_until_something_is_set() -> Outcome {
    let mut c = in_mode(Interface::ModelExchange, Mode::ContinuousTime)?;
    get(&mut c, "system.energy")?;
    assert_eq!(c.cached, Cached::Everything);
    let tau = get(&mut c, "elbow.tau")?;
    set(&mut c, "elbow.tau", tau).map_err(|f| f.what)?;
    let t = c.time();
    c.set_time(t).map_err(|f| f.what)?;
    assert_eq!(c.cached, Cached::Everything);
    set(&mut c, "elbow.tau", tau + 1.0).map_err(|f| f.what)?;
    assert_eq!(c.cached, Cached::Nothing);
    Ok(())
}

fn steps_backwards_from_another_time_or_past_the_stop_time_are_refused() -> Outcome {
    let mut c = instance(Interface::CoSimulation)?;
    c.setup_experiment(Some(1e-8), 1.0, Some(2.0)).map_err(|f| f.what)?;
    c.enter_initialization_mode();
    c.exit_initialization_mode().map_err(|f| f.what)?;
    for (t, h) in [
        (0.0, 0.1),
        (1.0, -0.1),
        (1.0, f64::NAN),
        (f64::NAN, 0.1),
        (1.0, 1.5),
        (1.0, f64::INFINITY),
    ] {
        assert!(c.do_step(t, h).is_err_and(|f| f.status == Status::Error), "{t} {h}");
        assert_eq!(c.time(), 1.0);
    }
    c.do_step(1.0, 0.0).map_err(|f| f.what)?;
    c.do_step(1.0, 0.5).map_err(|f| f.what)?;
    // The sum of an importer's steps has a round-off error: the step ends at the importer's time.
    c.do_step(1.500_000_03, 0.5 - 3e-8).map_err(|f| f.what)?;
    assert_eq!(c.time(), 1.500_000_03 + (0.5 - 3e-8));
    Ok(())
}

fn step_at_the_work_limit_is_discarded_and_can_be_continued() -> Outcome {
    let _section = messages::of_this_test();
    let mut c = instance(Interface::CoSimulation)?;
    set(&mut c, "solver.work_limit", 60.0).map_err(|f| f.what)?;
    c.enter_initialization_mode();
    c.exit_initialization_mode().map_err(|f| f.what)?;
    set(&mut c, "elbow.tau", 2.0).map_err(|f| f.what)?;
    let Err(discarded) = c.do_step(0.0, 5.0) else {
        return Err("too little work suffices".into());
    };
    assert_eq!(discarded.status, Status::Discard);
    messages::record(messages::without_decimals(&discarded.what));
    let reached = c.time();
    assert!(reached > 0.0 && reached < 5.0, "{reached}");
    assert_eq!(c.mode(), Mode::StepFailed);
    c.do_step(reached, 1e-3).map_err(|f| f.what)?;
    assert_eq!(c.mode(), Mode::StepComplete);
    Ok(())
}

fn output_derivatives_agree_with_the_states_rates() -> Outcome {
    let mut c = in_mode(Interface::CoSimulation, Mode::StepComplete)?;
    set(&mut c, "elbow.tau", 0.7).map_err(|f| f.what)?;
    c.do_step(0.0, 0.25).map_err(|f| f.what)?;
    let names = ["elbow.q", "link2.r[1]", "link2.r[2]"];
    let mut references = Vec::new();
    for name in names {
        references.push(reference(&c, name)?);
    }
    let mut slopes = [f64::NAN; 3];
    c.get_real_output_derivatives(&references, &[1; 3], &mut slopes)
        .map_err(|f| f.what)?;
    for (slope, rate) in slopes.into_iter().zip(["elbow.qd", "link2.v[1]", "link2.v[2]"]) {
        let rate = get(&mut c, rate)?;
        // Both are sums of equal terms in different order.
        assert!((slope - rate).abs() < 1e-14, "{slope} {rate}");
    }
    c.get_real_output_derivatives(&references, &[2; 3], &mut slopes)
        .map_err(|f| f.what)?;
    assert_eq!(slopes, [0.0; 3]);
    assert!(
        c.get_real_output_derivatives(&references, &[0; 3], &mut slopes)
            .is_err()
    );
    Ok(())
}

/// The time derivative of the tracking error of a joint with a sine as its reference agrees with
/// the closed form at any time. A difference quotient over 1e-5 s would lose digits to the rounding
/// of the time.
fn output_derivatives_are_exact_at_late_times() -> Outcome {
    let sine = "[signal.\"shoulder.q_ref\"]\ntype = \"sine\"\namplitude = 0.8\nfrequency = 0.3\nphase = 0.2\nfrom_importer = false\n";
    let mut worst = 0.0_f64;
    for late in [0.0, 1e3, 1e5, 1e9] {
        let mut c = instance_of(Interface::CoSimulation, &format!("{TWO_LINK}{sine}"))?;
        c.setup_experiment(None, late, None).map_err(|f| f.what)?;
        c.enter_initialization_mode();
        c.exit_initialization_mode().map_err(|f| f.what)?;
        c.do_step(late, 0.25).map_err(|f| f.what)?;
        let error = reference(&c, "shoulder.servo_error")?;
        let mut slope = [f64::NAN];
        c.get_real_output_derivatives(&[error], &[1], &mut slope)
            .map_err(|f| f.what)?;
        let w = std::f64::consts::TAU * 0.3;
        let exact = 0.8 * w * libm::cos(w * c.time() + 0.2) - get(&mut c, "shoulder.qd")?;
        println!("t = {late} s: {:e}", slope[0] - exact);
        worst = worst.larger((slope[0] - exact).abs());
    }
    // A few roundings of numbers of order one.
    assert!(worst < 1e-14, "{worst:e}");
    Ok(())
}

fn input_derivatives_apply_to_one_step_and_the_input_keeps_its_final_value() -> Outcome {
    let mut c = in_mode(Interface::CoSimulation, Mode::StepComplete)?;
    let tau = reference(&c, "elbow.tau")?;
    set(&mut c, "elbow.tau", 0.5).map_err(|f| f.what)?;
    c.set_real_input_derivatives(&[tau, tau], &[1, 2], &[2.0, -4.0])
        .map_err(|f| f.what)?;
    c.do_step(0.0, 0.5).map_err(|f| f.what)?;
    assert!((get(&mut c, "elbow.tau")? - (0.5 + 1.0 - 0.5)).abs() < 1e-15);
    c.do_step(0.5, 0.5).map_err(|f| f.what)?;
    assert!((get(&mut c, "elbow.tau")? - 1.0).abs() < 1e-15);
    assert!(c.set_real_input_derivatives(&[tau], &[4], &[1.0]).is_err());
    assert!(c.set_real_input_derivatives(&[tau], &[0], &[1.0]).is_err());
    assert!(c.set_real_input_derivatives(&[tau], &[1], &[f64::NAN]).is_err());
    Ok(())
}

/// Returns the bits of every value that an importer can read.
fn all_bits(c: &mut Component) -> Result<Vec<u64>, String> {
    let reals = |v: &crate::fmu::registry::Variable| v.value_type == crate::fmu::registry::ValueType::Real;
    let references: Vec<u32> = c
        .registry()
        .variables()
        .filter(reals)
        .map(|v| v.value_reference)
        .collect();
    let mut values = vec![0.0; references.len()];
    c.get_real(&references, &mut values).map_err(|f| f.what)?;
    Ok(values.into_iter().map(f64::to_bits).collect())
}

fn state_restored_in_another_instance_continues_with_identical_bits() -> Outcome {
    let mut a = instance(Interface::CoSimulation)?;
    a.setup_experiment(Some(1e-6), 0.0, Some(9.0)).map_err(|f| f.what)?;
    set(&mut a, "elbow.q_start", 0.9).map_err(|f| f.what)?;
    set(&mut a, "link2.mass", 1.7).map_err(|f| f.what)?;
    a.enter_initialization_mode();
    a.exit_initialization_mode().map_err(|f| f.what)?;
    set(&mut a, "shoulder.tau", 0.8).map_err(|f| f.what)?;
    a.do_step(0.0, 0.37).map_err(|f| f.what)?;
    let tau = reference(&a, "elbow.tau")?;
    a.set_real_input_derivatives(&[tau], &[1], &[0.3]).map_err(|f| f.what)?;
    let bytes = a.save().to_bytes();
    assert_eq!(bytes.len(), a.save().serialized_size());

    let mut b = in_mode(Interface::CoSimulation, Mode::Instantiated)?;
    let saved = b.read_state(&bytes).map_err(|f| f.what)?;
    assert_eq!(saved, a.save());
    b.restore(&saved).map_err(|f| f.what)?;
    for (t, h) in [(0.37, 0.2), (0.57, 0.01), (0.57 + 0.01, 1.0)] {
        a.do_step(t, h).map_err(|f| f.what)?;
        b.do_step(t, h).map_err(|f| f.what)?;
        assert_eq!(all_bits(&mut a)?, all_bits(&mut b)?);
    }
    // Back to the first instance.
    let end = all_bits(&mut a)?;
    a.restore(&saved).map_err(|f| f.what)?;
    for (t, h) in [(0.37, 0.2), (0.57, 0.01), (0.57 + 0.01, 1.0)] {
        a.do_step(t, h).map_err(|f| f.what)?;
    }
    assert_eq!(end, all_bits(&mut a)?);
    Ok(())
}

fn state_can_be_saved_and_restored_in_every_mode() -> Outcome {
    for interface in [Interface::ModelExchange, Interface::CoSimulation] {
        for mode in Mode::ALL.into_iter().filter(|m| m.belongs_to(interface)) {
            let mut c = in_mode(interface, mode)?;
            let saved = c.save();
            let bits = all_bits(&mut c)?;
            let mut other = instance(interface)?;
            other.use_events(mode == Mode::Event, false);
            set(&mut other, "base.mass", 7.0).map_err(|f| f.what)?;
            let read = other.read_state(&saved.to_bytes()).map_err(|f| f.what)?;
            other.restore(&read).map_err(|f| f.what)?;
            assert_eq!(other.save(), saved);
            assert_eq!(other.mode(), mode);
            assert_eq!(all_bits(&mut other)?, bits, "{mode:?}");
        }
    }
    Ok(())
}

fn damaged_and_foreign_states_are_refused_without_effect() -> Outcome {
    let _section = messages::of_this_test();
    let mut c = in_mode(Interface::CoSimulation, Mode::StepComplete)?;
    c.do_step(0.0, 0.2).map_err(|f| f.what)?;
    let before = c.save();
    let good = before.to_bytes();
    for length in 0..good.len() {
        assert!(c.read_state(&good[..length]).is_err(), "{length} bytes");
    }
    let mut longer = good.clone();
    longer.push(0);
    assert!(c.read_state(&longer).is_err());
    for bit in 0..8 * good.len() {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(c.read_state(&bytes).is_err(), "bit {bit}");
    }
    let me = in_mode(Interface::ModelExchange, Mode::Event)?;
    let refused = c.read_state(&me.save().to_bytes());
    let what = refused.err().map(|f| f.what).unwrap_or_default();
    messages::record(&what);
    assert!(what.contains("Model Exchange"), "{what}");
    assert!(c.restore(&me.save()).is_err());
    let mut foreign = before.clone();
    foreign.guid = Guid([7; 16]);
    for refused in [c.restore(&foreign), c.read_state(&foreign.to_bytes()).map(|_| ())] {
        let what = refused.err().map(|f| f.what).unwrap_or_default();
        messages::record(what.replace(&before.guid.to_string(), "{GUID}"));
    }
    assert_eq!(c.save(), before);
    Ok(())
}

fn state_with_an_invalid_tolerance_is_refused() -> Outcome {
    let mut c = in_mode(Interface::CoSimulation, Mode::StepComplete)?;
    c.do_step(0.0, 0.2).map_err(|f| f.what)?;
    let mut forged = c.save();
    for tolerance in [-1e-6, 0.0, f64::INFINITY] {
        forged.experiment.tolerance = Some(tolerance);
        let refused = c.read_state(&forged.to_bytes());
        assert!(refused.is_err_and(|f| f.what.contains("tolerance")), "{tolerance}");
    }
    // An experiment may have this tolerance, which is above every integrator's range.
    forged.experiment.tolerance = Some(0.9);
    let coarse = c.read_state(&forged.to_bytes()).map_err(|f| f.what)?;
    c.restore(&coarse).map_err(|f| f.what)?;
    c.do_step(0.2, 0.1).map_err(|f| f.what)?;
    Ok(())
}

/// The solver's statistics are logged once at the end of a run, however it ends.
fn solver_statistics_are_logged_at_the_end_of_a_run() -> Outcome {
    let ends: [fn(&mut Component); 3] = [Component::terminate, Component::reset, |c| {
        c.terminate();
        c.terminate();
        c.reset();
    }];
    for end in ends {
        let mut c = in_mode(Interface::CoSimulation, Mode::StepComplete)?;
        c.set_debug_logging(true, &["logSolver"]).map_err(|f| f.what)?;
        c.do_step(0.0, 0.2).map_err(|f| f.what)?;
        end(&mut c);
        let messages = c.log.take();
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert!(messages[0].text.contains("steps"), "{messages:?}");
    }
    Ok(())
}

fn reset_instance_equals_a_new_one() -> Outcome {
    for interface in [Interface::ModelExchange, Interface::CoSimulation] {
        for mode in Mode::ALL.into_iter().filter(|m| m.belongs_to(interface)) {
            let mut c = in_mode(interface, mode)?;
            // Sets a parameter and an input in the modes that allow it.
            let _ = set(&mut c, "base.mass", 9.0);
            let _ = set(&mut c, "elbow.tau", 9.0);
            let _ = get(&mut c, "elbow.q");
            c.reset();
            let mut new = instance(interface)?;
            assert_eq!(c.mode(), Mode::Instantiated);
            assert_eq!(all_bits(&mut c)?, all_bits(&mut new)?);
            assert_eq!(c.save(), new.save());
        }
    }
    Ok(())
}

fn event_without_changes_leaves_the_instance_unchanged() -> Outcome {
    let mut c = in_mode(Interface::ModelExchange, Mode::Event)?;
    let first = c.new_discrete_states().map_err(|f| f.what)?;
    assert_eq!((first.states_changed, first.next_event), (false, None));
    let before = c.save();
    assert_eq!(c.new_discrete_states().map_err(|f| f.what)?, first);
    assert_eq!(c.save(), before);
    Ok(())
}
