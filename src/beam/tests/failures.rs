//! Invalid beams, and the messages that report them.

use super::{each, general, uniform};
use crate::beam::{Beam, BeamError, Boundary, Counts, Kind, Section};
use crate::messages;

unit_tests![
    stations_out_of_order_are_reported,
    invalid_section_values_are_reported,
    zero_stiffness_is_an_error_only_for_requested_motions,
    nearly_coinciding_sections_are_rejected,
    parts_have_no_short_elements,
];

fn stations_out_of_order_are_reported() {
    let _section = messages::of_this_test();
    let s = uniform().stations()[0];
    let refusal = |x: &[f64]| {
        let refused = Beam::new(x.iter().map(|&x| s.at(x)).collect()).unwrap_err();
        messages::record(&refused);
        refused
    };
    let none = refusal(&[]);
    assert!(matches!(none, BeamError::Ends { stations: 0, .. }), "{none:?}");
    for x in [&[0.0][..], &[0.5, 1.0]] {
        let (stations, first) = (x.len(), x[0]);
        assert_eq!(refusal(x), BeamError::Ends { stations, first });
    }
    for (stations, which) in [
        (&[0.0, 1.0, 0.5][..], 2),
        (&[0.0, 0.0, 1.0], 1),
        (&[0.0, 1.0, 1.0], 2),
        (&[0.0, 1.0, 1.0, 1.0, 2.0], 3),
        (&[0.0, f64::NAN], 1),
        (&[0.0, f64::INFINITY], 1),
    ] {
        let refused = refusal(stations);
        assert!(
            matches!(refused, BeamError::Order { station, .. } if station == which),
            "{refused:?}"
        );
    }
}

fn invalid_section_values_are_reported() {
    let _section = messages::of_this_test();
    let mut stations = general().stations().to_vec();
    stations[1].EI_z = -2.0;
    let refused = Beam::new(stations).unwrap_err();
    messages::record(&refused);
    let (name, x, value) = ("EI_z", 1.1, -2.0);
    assert_eq!(refused, BeamError::Value { name, x, value });
    let load = Boundary::ClampedLoaded {
        mass: 1.0,
        inertia: [0.0, f64::NAN, 0.0],
    };
    let refused = uniform().modes(&load, each(1)).unwrap_err();
    messages::record(&refused);
    assert!(
        matches!(refused, BeamError::Value { name: "Jyy of the load", x: 2.0, value } if value.is_nan()),
        "{refused:?}"
    );
}

fn zero_stiffness_is_an_error_only_for_requested_motions() {
    let _section = messages::of_this_test();
    let limp = |s: Section| Section { GJ: 0.0, ..s };
    let beam = Beam::new(general().stations().iter().map(|&s| limp(s)).collect()).expect("a beam");
    let refused = beam.modes(&Boundary::ClampedFree, each(1)).unwrap_err();
    messages::record(&refused);
    let kind = Kind::Torsion;
    assert_eq!(refused, BeamError::NoStiffness { kind, x: 0.0 });
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
    let refused = beam.modes(&Boundary::FreeFree, each(1)).unwrap_err();
    messages::record(&refused);
    let kind = Kind::BendingY;
    assert_eq!(refused, BeamError::NoStiffness { kind, x: 0.0 }); // EI_z may vanish at a free end, but not everywhere
}

fn nearly_coinciding_sections_are_rejected() {
    let _section = messages::of_this_test();
    let s = uniform().stations()[0];
    let beam = |x: &[f64]| Beam::new(x.iter().map(|&x| s.at(x)).collect());
    let refused = beam(&[0.0, 0.5, 0.50001, 1.0]).unwrap_err();
    println!("{refused}");
    messages::record(messages::without_decimals(&refused));
    assert!(
        matches!(refused, BeamError::Close { station: 1, x: 0.5, apart, .. } if (apart - 1e-5).abs() < 1e-15),
        "{refused:?}"
    );
    assert!(beam(&[0.0, 0.5, 0.5, 0.502, 1.0]).is_ok());
}

/// A cut within round-off of a section is placed at the section, so that no very short element
/// remains; the empty interval of a jump is skipped.
fn parts_have_no_short_elements() {
    let _section = messages::of_this_test();
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
    for (a, b, end) in [(1.0995, 2.0, 1.0995), (0.0, 1.1005, 1.1005)] {
        let refused = stepped.part(a, b).unwrap_err();
        messages::record(messages::without_decimals(&refused));
        assert!(
            matches!(refused, BeamError::Cut { section: 1.1, cut, .. } if cut == end),
            "{refused:?}"
        );
    }
}
