//! Unit tests of the library that run whole models. They are compiled with the library that all tests
//! share (feature `inside`): a second library, for unit tests, would take minutes to compile.

#[allow(dead_code)] // its messages are recorded inside the library
#[path = "../messages/mod.rs"]
mod messages;

use std::process::Termination;

/// Declares the tests of a module of the library, and a test that none is left out.
macro_rules! tests {
    ($module:ident in $file:literal: $($name:ident)*) => {
        mod $module {
            use super::*;

            $(#[test]
            fn $name() -> impl Termination {
                grapple::inside::$module::$name()
            })*

            #[test]
            fn every_test_is_run() {
                let text = include_str!(concat!("../../", $file));
                let text = text.split("pub mod tests {").last().unwrap_or_default();
                let names = text.lines().filter_map(|line| line.trim_start().strip_prefix("pub fn "));
                let names: Vec<&str> = names.filter_map(|line| Some(line.split_once("()")?.0)).collect();
                let listed = [$(stringify!($name)),*];
                assert!(listed.iter().all(|name| names.contains(name)));
                assert_eq!(names.iter().filter(|name| !listed.contains(name)).count(), 0, "{names:?}");
            }
        }
    };
}

tests! {
    component in "src/fmu/component/tests.rs":
    parameters_are_validated_together_at_the_end_of_initialisation
    o3_parameters_set_in_event_mode_before_the_first_step_restart_the_run
    a_tunable_parameter_takes_effect_at_once_or_is_refused_at_once
    start_is_validated_only_before_the_run
    values_that_are_not_finite_are_refused_by_name
    one_evaluation_serves_all_gets_until_something_is_set
    steps_backwards_from_another_time_or_past_the_stop_time_are_refused
    step_at_the_work_limit_is_discarded_and_can_be_continued
    output_derivatives_agree_with_the_states_rates
    output_derivatives_are_exact_at_late_times
    input_derivatives_apply_to_one_step_and_the_input_keeps_its_final_value
    state_restored_in_another_instance_continues_with_identical_bits
    state_can_be_saved_and_restored_in_every_mode
    damaged_and_foreign_states_are_refused_without_effect
    state_with_an_invalid_tolerance_is_refused
    solver_statistics_are_logged_at_the_end_of_a_run
    reset_instance_equals_a_new_one
    event_without_changes_leaves_the_instance_unchanged
}

tests! {
    c_abi in "src/fmu/c_abi/tests.rs":
    panic_in_a_call_loses_the_instance_and_not_the_process
    a_call_from_inside_the_logger_is_refused
    two_threads_read_one_saved_state_at_the_same_time
    invalid_handles_are_refused
}

tests! {
    dependencies in "src/plant/dependencies/tests.rs":
    examples_have_all_exact_dependencies_and_no_input_without_effect
    every_load_in_every_formulation_has_all_exact_dependencies
    initial_accelerations_depend_on_all_parameters_of_their_tree
    effective_mass_depends_on_joints_and_masses_of_its_tree
    each_pair_of_factors_takes_each_pair_of_levels
}

tests! {
    description in "src/fmu/description.rs":
    dependencies_agree_with_the_mechanics
}

tests! {
    lanes in "src/plant/lanes.rs":
    constants_with_other_modes_or_joints_are_refused_by_the_name_of_the_body
}

tests! {
    linearly_implicit in "src/plant/linearly_implicit.rs":
    tangent_stiffness_and_damping_equal_differences
}

tests! {
    solver in "src/simulation/solver.rs":
    integrator_errors_use_the_names_of_the_model
    messages_on_settings_and_limits_name_the_remedy
}

tests! {
    registry in "src/fmu/registry.rs":
    value_references_are_indices_into_the_list
    names_of_every_kind_are_found
    names_that_an_importer_would_merge_are_refused_with_both
}

tests! {
    discrete in "src/elements/discrete.rs":
    only_possible_motor_states_are_restored
    impossible_discrete_states_are_refused
}

tests! {
    work in "src/plant/work.rs":
    the_default_limit_falls_with_the_cost_of_an_evaluation
}

tests! {
    names in "src/spec/mount/names.rs":
    each_text_of_the_schema_is_a_reference_or_names_no_part
}
