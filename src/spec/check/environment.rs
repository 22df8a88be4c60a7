use super::Check;
use crate::spec::{EARTH_MU, Ephemeris, Epoch, Orbit, ThirdBody};

/// Smallest number of entries of a table of the atmosphere.
const FEWEST: usize = 2;

impl Check<'_> {
    /// Validates the epoch of an orbit, the parts that need one, and the table of its atmosphere.
    pub(super) fn sky(&mut self, orbit: &Orbit) {
        let mut report = |field: &str, what: String| self.report("environment", "orbit", field, what);
        match &orbit.epoch {
            Some(epoch) => {
                if let Err(what) = Epoch::read(epoch) {
                    report("epoch", what);
                }
            }
            None => {
                let needs = |what: &str| format!("{what} with the date: write `epoch` beside it");
                if !orbit.third_bodies.is_empty() {
                    report("third_bodies", needs("Sun and Moon move"));
                }
                if orbit.magnetic_field.is_some() {
                    report("magnetic_field", needs("the magnetic field rotates"));
                }
                if orbit.sun == Ephemeris::Input {
                    report("sun", needs("the input starts at the Sun's position"));
                }
            }
        }
        if orbit.moon == Ephemeris::Input && !orbit.third_bodies.contains(&ThirdBody::Moon) {
            let what = "no load depends on the Moon: write \"moon\" in `third_bodies`, or leave `moon` out";
            report("moon", what.to_owned());
        }
        if let Some(twice) =
            (1..orbit.third_bodies.len()).find(|&i| orbit.third_bodies[..i].contains(&orbit.third_bodies[i]))
        {
            let what = format!("{:?} is written twice", orbit.third_bodies[twice]);
            report("third_bodies", what);
        }
        let Some(atmosphere) = &orbit.atmosphere else { return };
        let (altitude, density) = (&atmosphere.altitude, &atmosphere.density);
        if altitude.is_empty() && density.is_empty() {
            if (orbit.mu / EARTH_MU - 1.0).abs() > 0.01 {
                let what = "the default table is that of the Earth, but `mu` is that of another body: write `altitude` and \
                            `density`";
                report("atmosphere", what.to_owned());
            }
            return;
        }
        let counts = [altitude.len(), density.len()];
        if counts[0] != counts[1] {
            let what = format!(
                "{} altitudes and {} densities: write one density for each",
                counts[0], counts[1]
            );
            report("atmosphere.altitude", what);
        } else if counts[0] < FEWEST {
            report("atmosphere.altitude", format!("a table has {FEWEST} or more altitudes"));
        }
        if let Some(pair) = altitude.windows(2).find(|pair| pair[1] <= pair[0]) {
            let what = format!("{} m follows {} m: altitudes are ascending", pair[1], pair[0]);
            report("atmosphere.altitude", what);
        }
        if let Some(value) = density.iter().find(|&&value| value <= 0.0) {
            report("atmosphere.density", format!("{value} kg/m³ is not positive"));
        }
    }
}
