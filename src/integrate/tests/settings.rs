//! Invalid settings are rejected with a message that names the setting.

use super::super::{Method, Settings, SettingsError};

unit_tests![
    the_absolute_tolerance_is_the_relative_one_times_the_nominal,
    invalid_settings_are_rejected,
];

fn the_absolute_tolerance_is_the_relative_one_times_the_nominal() {
    let settings = Settings::new(Method::Dopri5, 1e-6, &[1.0, -0.001, 7000.0]).unwrap();
    let expected = [1e-6, 1e-6 * 0.001, 1e-6 * 7000.0];
    assert_eq!(settings.absolute_tolerance(), expected);
    assert_eq!((settings.n_states(), settings.relative_tolerance()), (3, 1e-6));
    assert_eq!(settings.method(), Method::Dopri5);
}

fn invalid_settings_are_rejected() {
    for tolerance in [0.0, -1e-3, 1e-16, 0.6, f64::NAN, f64::INFINITY] {
        let refused = Settings::new(Method::Dopri5, tolerance, &[1.0]).unwrap_err();
        assert!(matches!(refused, SettingsError::RelativeTolerance(_)), "{refused}");
    }
    for nominal in [0.0, 1e-305, f64::NAN, f64::INFINITY] {
        let refused = Settings::new(Method::Dopri5, 1e-6, &[1.0, nominal]).unwrap_err();
        assert!(
            matches!(refused, SettingsError::Nominal { component: 1, .. }),
            "{refused:?}"
        );
    }
    for h in [0.0, -1.0, f64::NAN] {
        let settings = || Settings::new(Method::Dop853, 1e-6, &[1.0]).unwrap();
        assert!(settings().with_h_max(h).is_err());
        assert!(settings().with_initial_step(h).is_err());
        assert!(Settings::new(Method::Rk4 { step: h }, 1e-6, &[1.0]).is_err());
        assert!(Settings::new(Method::ImplicitMidpoint { step: h }, 1e-6, &[1.0]).is_err());
        assert!(Settings::new(Method::LinearlyImplicit { step: h }, 1e-6, &[1.0]).is_err());
        assert!(Settings::new(Method::Conserving { step: h, rates: 1 }, 1e-6, &[1.0]).is_err());
    }
}
