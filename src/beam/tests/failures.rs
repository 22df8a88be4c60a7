//! What makes no beam, and how it is said.

use super::{each, general, uniform};
use crate::beam::{Beam, Boundary, Counts, Section};

#[test]
fn stations_out_of_order_are_named() {
    let s = uniform().stations()[0];
    let refusal = |x: &[f64]| {
        Beam::new(x.iter().map(|&x| s.at(x)).collect())
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    assert!(refusal(&[]).contains("0 given"));
    assert!(refusal(&[0.0]).contains("1 given"));
    assert!(refusal(&[0.5, 1.0]).contains("first at x = 0.5 m"));
    for (stations, which) in [
        (&[0.0, 1.0, 0.5][..], 2),
        (&[0.0, 0.0, 1.0], 1),
        (&[0.0, 1.0, 1.0], 2),
        (&[0.0, 1.0, 1.0, 1.0, 2.0], 3),
        (&[0.0, f64::NAN], 1),
        (&[0.0, f64::INFINITY], 1),
    ] {
        let said = refusal(stations);
        assert!(said.starts_with(&format!("section {} at", which + 1)), "{said}");
    }
}

#[test]
fn numbers_that_no_beam_has_are_named() {
    let mut stations = general().stations().to_vec();
    stations[1].EI_z = -2.0;
    assert_eq!(
        Beam::new(stations).unwrap_err().to_string(),
        "EI_z is -2 at x = 1.1 m: not a number from zero upwards"
    );
    let load = Boundary::ClampedLoaded {
        mass: 1.0,
        inertia: [0.0, f64::NAN, 0.0],
    };
    let said = uniform().modes(&load, each(1)).unwrap_err().to_string();
    assert_eq!(
        said,
        "Jyy of the load is NaN at x = 2 m: not a number from zero upwards"
    );
}

#[test]
fn stiffness_is_missed_only_by_those_who_need_it() {
    let limp = |s: Section| Section { GJ: 0.0, ..s };
    let beam = Beam::new(general().stations().iter().map(|&s| limp(s)).collect()).expect("a beam");
    let said = beam.modes(&Boundary::ClampedFree, each(1)).unwrap_err().to_string();
    assert_eq!(said, "the beam has no stiffness in torsion, `GJ`, at x = 0 m");
    let counts = Counts { torsion: 0, ..each(1) };
    assert_eq!(
        beam.modes(&Boundary::ClampedFree, counts).expect("modes").list().len(),
        3
    );
    let nothing = Section {
        EI_z: 0.0,
        ..uniform().stations()[0]
    };
    let beam = Beam::uniform(1.0, nothing).expect("a beam");
    let said = beam.modes(&Boundary::FreeFree, each(1)).unwrap_err().to_string();
    assert_eq!(said, "the beam has no stiffness in bending along y, `EI_z`, at x = 0 m"); // though both ends may be pointed
}
