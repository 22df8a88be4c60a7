use super::*;
use crate::messages;

unit_tests![
    rows_are_in_the_order_of_the_calls,
    every_call_is_legal_in_some_mode_unless_it_is_never_legal,
    tolerated_calls_have_a_reason_and_are_not_standard,
    a_lost_instance_can_only_be_freed,
    a_call_of_the_other_interface_is_refused_by_name,
    a_call_of_the_other_standard_is_refused_by_name,
];

const BOTH: [Interface; 2] = [Interface::ModelExchange, Interface::CoSimulation];

/// Returns the rules of both standards.
fn rules() -> impl Iterator<Item = &'static Rule> {
    let of_fmi3 = fmi3::Call::ALL.iter().map(|call| call.rule());
    Call::ALL.iter().map(|call| call.rule()).chain(of_fmi3)
}

fn rows_are_in_the_order_of_the_calls() {
    for (i, call) in Call::ALL.iter().enumerate() {
        assert_eq!((*call as usize, call.name()), (i, format!("fmi2{call:?}").as_str()));
    }
    for (i, call) in fmi3::Call::ALL.iter().enumerate() {
        assert_eq!((*call as usize, call.name()), (i, format!("fmi3{call:?}").as_str()));
    }
}

fn every_call_is_legal_in_some_mode_unless_it_is_never_legal() {
    for rule in rules() {
        let legal = BOTH.iter().any(|&i| Mode::ALL.iter().any(|&m| rule.is_standard(i, m)));
        assert_eq!(legal, rule.never.is_empty(), "{}", rule.name);
    }
    let never = Call::ALL.iter().filter(|call| !call.rule().never.is_empty());
    assert_eq!(never.collect::<Vec<_>>(), [&Call::CancelStep]);
}

fn tolerated_calls_have_a_reason_and_are_not_standard() {
    for rule in rules() {
        assert_eq!(rule.beyond == 0, rule.why.is_empty(), "{}", rule.name);
        for mode in Mode::ALL
            .into_iter()
            .filter(|&mode| rule.beyond & (1 << mode as u8) != 0)
        {
            let has = |&i: &Interface| rule.belongs_to(i) && (mode.belongs_to(i) || mode == Mode::Lost);
            let adds = BOTH.into_iter().filter(has).any(|i| !rule.is_standard(i, mode));
            assert!(adds, "{} {mode:?}", rule.name);
        }
    }
}

fn a_lost_instance_can_only_be_freed() {
    for rule in rules() {
        let freeing = rule.name.ends_with("FreeInstance") || rule.name.to_lowercase().ends_with("freefmustate");
        for interface in BOTH {
            assert_eq!(rule.is_legal(interface, Mode::Lost), freeing, "{}", rule.name);
        }
    }
}

fn a_call_of_the_other_interface_is_refused_by_name() {
    let _section = messages::of_this_test();
    let refusal = |call: Call, interface, mode| {
        let why = call.rule().permit(Standard::Fmi2, interface, mode);
        let why = why.expect_err("illegal");
        messages::record(&why);
        why
    };
    let why = refusal(Call::DoStep, Interface::ModelExchange, Mode::Event);
    assert!(why.contains("Co-Simulation"), "{why}");
    let why = refusal(Call::SetTime, Interface::CoSimulation, Mode::StepComplete);
    assert!(why.contains("Model Exchange"), "{why}");
    refusal(Call::CancelStep, Interface::CoSimulation, Mode::StepComplete);
}

fn a_call_of_the_other_standard_is_refused_by_name() {
    let _section = messages::of_this_test();
    for (rule, own) in [
        (Call::DoStep.rule(), Standard::Fmi3),
        (fmi3::Call::DoStep.rule(), Standard::Fmi2),
    ] {
        let why = rule.permit(own, Interface::CoSimulation, Mode::StepComplete);
        let why = why.expect_err("illegal");
        messages::record(&why);
        assert!(why.contains(own.name()) && why.contains(rule.standard.name()), "{why}");
    }
}
