//! Invalid beams, and the messages that report them.

use super::{each, general, uniform};
use crate::beam::{Beam, Boundary, Counts, Section};

#[test]
fn stations_out_of_order_are_reported() {
    let s = uniform().stations()[0];
    let refusal = |x: &[f64]| {
        Beam::new(x.iter().map(|&x| s.at(x)).collect())
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    assert!(refusal(&[]).contains("it has 0,"));
    assert!(refusal(&[0.0]).contains("it has 1,"));
    assert!(refusal(&[0.5, 1.0]).contains("it has 2, the first at x = 0.5 m"));
    for (stations, which) in [
        (&[0.0, 1.0, 0.5][..], 2),
        (&[0.0, 0.0, 1.0], 1),
        (&[0.0, 1.0, 1.0], 2),
        (&[0.0, 1.0, 1.0, 1.0, 2.0], 3),
        (&[0.0, f64::NAN], 1),
        (&[0.0, f64::INFINITY], 1),
    ] {
        let message = refusal(stations);
        assert!(message.starts_with(&format!("section {} at", which + 1)), "{message}");
    }
}

#[test]
fn invalid_section_values_are_reported() {
    let mut stations = general().stations().to_vec();
    stations[1].EI_z = -2.0;
    assert_eq!(
        Beam::new(stations).unwrap_err().to_string(),
        "EI_z at x = 1.1 m is -2: it must be finite and not negative"
    );
    let load = Boundary::ClampedLoaded {
        mass: 1.0,
        inertia: [0.0, f64::NAN, 0.0],
    };
    let message = uniform().modes(&load, each(1)).unwrap_err().to_string();
    assert_eq!(
        message,
        "Jyy of the load at x = 2 m is NaN: it must be finite and not negative"
    );
}

#[test]
fn zero_stiffness_is_an_error_only_for_requested_motions() {
    let limp = |s: Section| Section { GJ: 0.0, ..s };
    let beam = Beam::new(general().stations().iter().map(|&s| limp(s)).collect()).expect("a beam");
    let message = beam.modes(&Boundary::ClampedFree, each(1)).unwrap_err().to_string();
    assert_eq!(
        message,
        "the stiffness in torsion, `GJ`, is zero at x = 0 m: it must be positive"
    );
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
    let message = beam.modes(&Boundary::FreeFree, each(1)).unwrap_err().to_string();
    assert_eq!(
        message,
        "the stiffness in bending along y, `EI_z`, is zero at x = 0 m: it must be positive"
    ); // EI_z may vanish at a free end, but not everywhere
}

#[test]
fn nearly_coinciding_sections_are_rejected() {
    let s = uniform().stations()[0];
    let beam = |x: &[f64]| Beam::new(x.iter().map(|&x| s.at(x)).collect());
    let message = beam(&[0.0, 0.5, 0.50001, 1.0]).unwrap_err().to_string();
    println!("{message}");
    assert!(
        message.starts_with("sections 2 and 3 at x = 0.5 m are 0.0000")
            && message.ends_with("write a jump as two sections at the same x")
    );
    assert!(beam(&[0.0, 0.5, 0.5, 0.502, 1.0]).is_ok());
}

/// A cut within round-off of a section is placed at the section, so that no very short element
/// remains; the empty interval of a jump is skipped.
#[test]
fn parts_have_no_short_elements() {
    let s = uniform().stations()[0];
    let beam = Beam::new([0.0, 0.8, 1.6, 2.4, 3.2].map(|x| s.at(x)).to_vec()).expect("a beam");
    for j in 0..8 {
        let [a, b] = [j, j + 1].map(|j| 3.2 * f64::from(j) / 8.0 * (1.0 + f64::EPSILON));
        let part = beam.part(a, b).expect("a part");
        assert_eq!(part.stations().len(), 2, "{:?}", part.stations());
        assert!((part.length() - 0.4).abs() < 1e-15);
    }
    let stiff = crate::beam::Section {
        EI_y: 2.0 * s.EI_y,
        ..s
    };
    let stepped = Beam::new(vec![s.at(0.0), s.at(1.1), stiff.at(1.1), stiff.at(2.0)]).expect("a beam");
    for (a, b, expected) in [(1.0, 2.0, 4), (0.0, 1.1, 2), (1.1, 2.0, 2)] {
        let part = stepped.part(a, b).expect("a part");
        assert_eq!(part.stations().len(), expected, "{:?}", part.stations());
    }
    let message = stepped.part(1.0995, 2.0).unwrap_err().to_string();
    assert!(
        message.starts_with("the section at x = 1.1 m is too close to the end of a segment at x = 1.0995 m"),
        "{message}"
    );
    let message = stepped.part(0.0, 1.1005).unwrap_err().to_string();
    assert!(
        message.starts_with("the section at x = 1.1 m is too close to the end of a segment at x = 1.1005 m"),
        "{message}"
    );
}
