//! Selection of a run's charts: joints, base, tip, deflections, actuators, momentum, energy.

use crate::diagnostics::{drift, imbalance};
use crate::html::Digits;
use crate::page::{Chart, Path, Series};
use crate::results::Results;
use crate::text::typeset;
use grapple::spec::{Joint, JointType, Spec};

/// Approximate limit of a chart's points; a screen does not resolve more.
const POINTS: usize = 2000;

/// Returns the indices of the plotted rows: every n-th, and the last.
pub fn rows(of: usize) -> Vec<usize> {
    let stride = of.div_ceil(POINTS).max(1);
    (0..of).filter(|i| i % stride == 0 || i + 1 == of).collect()
}

/// Returns the charts of a run and the times of their points. The momentum's drift is plotted if
/// the momentum is conserved.
pub fn charts(spec: &Spec, results: &Results, is_conserved: bool) -> (Vec<Digits>, Vec<Chart>) {
    let draw = Draw {
        spec,
        results,
        is_conserved,
        rows: rows(results.time.len()),
    };
    let charts = [
        draw.joints(true),
        draw.attitudes(),
        draw.paths(),
        draw.joints(false),
        draw.measures(),
        draw.deflections(),
        draw.servos(true),
        draw.servos(false),
        draw.motors(),
        draw.wheels(),
        draw.propellants(),
        draw.inputs(),
        draw.momenta(),
        draw.energies(),
    ];
    (draw.thinned(&results.time, 1.0), charts.into_iter().flatten().collect())
}

struct Draw<'a> {
    spec: &'a Spec,
    results: &'a Results,
    is_conserved: bool,
    rows: Vec<usize>,
}

impl Draw<'_> {
    /// Returns the plotted points.
    fn thinned(&self, values: &[f64], factor: f64) -> Vec<Digits> {
        self.rows.iter().map(|&row| Digits(factor * values[row])).collect()
    }

    fn series(&self, name: impl Into<String>, values: &[f64], factor: f64) -> Series {
        Series {
            name: name.into(),
            values: self.thinned(values, factor),
            dashed: false,
        }
    }

    fn variable(&self, name: &str, label: &str) -> Option<Series> {
        self.results.get(name).map(|values| self.series(label, values, 1.0))
    }

    /// Returns a quantity of each element with one of these names.
    fn each<'n>(&self, names: impl Iterator<Item = &'n String>, quantity: &str) -> Vec<Series> {
        let series = names.filter_map(|name| self.variable(&format!("{name}.{quantity}"), name));
        series.collect()
    }

    /// Returns the components of a vector, named x, y, z.
    fn components(&self, name: &str) -> Vec<Series> {
        let part = |(i, axis): (usize, &&str)| self.variable(&format!("{name}[{}]", i + 1), axis);
        ["x", "y", "z"].iter().enumerate().filter_map(part).collect()
    }

    /// Returns a quantity of the rotational axes of a joint, in degrees, or of its sliding axes.
    fn axes(&self, (name, kind): (&str, JointType), quantity: &str, angles: bool) -> Vec<Series> {
        let several = kind.rates() > 1;
        let factor = if angles { 1f64.to_degrees() } else { 1.0 };
        let axis = |i| {
            let (index, label) = match several {
                true => (format!("[{}]", i + 1), format!("{name} {}", i + 1)),
                false => (String::new(), name.to_owned()),
            };
            let values = self.results.get(&format!("{name}.{quantity}{index}"))?;
            Some(self.series(label, values, factor))
        };
        let axes = (0..kind.rates()).filter(|&i| kind.is_angular(i) == angles);
        axes.filter_map(axis).collect()
    }

    /// Returns the chart of the joints' angles, or of their distances.
    fn joints(&self, angles: bool) -> Vec<Chart> {
        let mut series = Vec::new();
        for (name, joint) in &self.spec.joint {
            match joint.kind {
                JointType::Fixed | JointType::Free => {}
                JointType::Spherical if angles => series.extend(self.attitude(&format!("{name}.q"), name)),
                JointType::Spherical => {}
                kind => series.extend(self.axes((name, kind), "q", angles)),
            }
        }
        let (title, label) = if angles {
            ("Joint angles", "q [deg]")
        } else {
            ("Joint positions", "q [m]")
        };
        over_time(title, "position of each joint", label, series)
    }

    /// Returns roll, pitch and yaw of every free body.
    fn attitudes(&self) -> Vec<Chart> {
        let free = self
            .spec
            .body
            .keys()
            .filter(|body| !self.spec.joint.values().any(|j| j.child == **body));
        let (suffix, axes) = match self.spec.environment.orbit {
            Some(_) => ("_lvlh", "LVLH"),
            None => ("", "inertial"),
        };
        let attitude = |body: &String| {
            over_time(
                &format!("Attitude of {body}"),
                &format!("rotation about the axes x, then y, then z of the {axes} frame"),
                "angle [deg]",
                self.attitude(&format!("{body}.q{suffix}"), ""),
            )
        };
        free.flat_map(attitude).collect()
    }

    /// Returns roll, pitch and yaw of the quaternion `name[1]` … `name[4]`.
    fn attitude(&self, name: &str, label: &str) -> Vec<Series> {
        let Some(q) = self.results.get_vector::<4>(name) else {
            return Vec::new();
        };
        let angles = roll_pitch_yaw(q);
        let names = ["roll", "pitch", "yaw"].into_iter().zip(angles);
        names
            .map(|(axis, angles)| self.series(format!("{label} {axis}").trim(), &angles, 1f64.to_degrees()))
            .collect()
    }

    /// Returns the paths of the named frames (of the last body, if there are none), in the planes
    /// in which they extend.
    fn paths(&self) -> Vec<Chart> {
        let mut names: Vec<&String> = self.spec.frame.keys().collect();
        if names.is_empty() {
            names.extend(self.spec.body.keys().next_back());
        }
        let paths: Vec<(&String, [&[f64]; 3])> = names
            .into_iter()
            .filter_map(|name| Some((name, self.results.get_vector(&format!("{name}.r"))?)))
            .collect();
        let title = match paths.as_slice() {
            [] => return Vec::new(),
            [(only, _)] => format!("Path of {only}"),
            _ => "Paths of the frames".to_owned(),
        };
        let extent: [f64; 3] =
            std::array::from_fn(|axis| paths.iter().map(|(_, r)| range(r[axis])).fold(0.0, f64::max));
        let planes = planes(extent);
        let plane = |&[h, v]: &[usize; 2]| Chart::Path {
            title: format!("{title}, {}–{} plane", AXES[h], AXES[v]),
            note: "inertial axes; ○ start, ● end".to_owned(),
            x: format!("{} [m]", AXES[h]),
            y: format!("{} [m]", AXES[v]),
            paths: paths
                .iter()
                .map(|(name, r)| Path {
                    name: (*name).clone(),
                    x: self.thinned(r[h], 1.0),
                    y: self.thinned(r[v], 1.0),
                })
                .collect(),
        };
        planes.iter().map(plane).collect()
    }

    fn measures(&self) -> Vec<Chart> {
        let series = self.each(self.spec.measure.keys(), "distance");
        let note = "between the two frames of each measure";
        over_time("Distances", note, "distance [m]", series)
    }

    /// Returns the tip deflections of flexible bodies.
    fn deflections(&self) -> Vec<Chart> {
        let mut series = Vec::new();
        for body in self.spec.body.keys().chain(self.spec.ancf_beam.keys()) {
            for component in self.components(&format!("{body}.tip_deflection")) {
                // In a planar motion some components are always zero.
                if component.values.iter().any(|value| value.0 != 0.0) {
                    let name = format!("{body} {}", component.name);
                    series.push(Series { name, ..component });
                }
            }
        }
        let note = "displacement of each tip from its undeformed position, axes of the root";
        over_time("Tip deflections", note, "deflection [m]", series)
    }

    /// Returns the chart of the servos' tracking errors, of angles or of distances.
    fn servos(&self, angles: bool) -> Vec<Chart> {
        let joints = self.spec.joint.iter().filter(|(_, joint)| joint.servo.is_some());
        let series = joints.flat_map(|(name, joint)| self.axes((name, joint.kind), "servo_error", angles));
        let (title, label) = match angles {
            true => ("Servo errors", "error [deg]"),
            false => ("Servo errors, sliding joints", "error [m]"),
        };
        over_time(title, "reference minus position of each joint", label, series.collect())
    }

    /// Returns the torques of the motors of revolute joints and wheels.
    fn motors(&self) -> Vec<Chart> {
        let has_motor = |joint: &Joint| joint.motor.is_some() || joint.dc_motor.is_some();
        let joints = self.spec.joint.iter().filter(|(_, joint)| has_motor(joint));
        let revolute = joints.filter(|(_, joint)| joint.kind == JointType::Revolute);
        let motors = revolute.map(|(name, _)| name).chain(self.spec.wheel.keys());
        let series = self.each(motors, "motor_torque");
        let note = "torque of each motor, within its limits";
        over_time("Motor torques", note, "torque [N·m]", series)
    }

    /// Returns the momenta stored by the wheels.
    fn wheels(&self) -> Vec<Chart> {
        let series = self.each(self.spec.wheel.keys(), "momentum");
        let note = "of each wheel about its axis, relative to its body";
        over_time("Momentum of the wheels", note, "h [N·m·s]", series)
    }

    /// Returns the masses of the propellants that thrusters draw.
    fn propellants(&self) -> Vec<Chart> {
        let series = self.each(self.spec.tank.keys(), "propellant");
        over_time("Propellant", "mass that is left in each tank", "m [kg]", series)
    }

    /// Returns the inputs, one chart per unit.
    fn inputs(&self) -> Vec<Chart> {
        let mut groups: Vec<(&str, Vec<Series>)> = Vec::new();
        for input in self.spec.signal.keys() {
            let Some(column) = self.results.column(input) else {
                continue;
            };
            let series = self.series(input, &column.values, 1.0);
            match groups.iter_mut().find(|(unit, _)| *unit == column.unit) {
                Some((_, group)) => group.push(series),
                None => groups.push((&column.unit, vec![series])),
            }
        }
        let chart = |(unit, series): (&str, Vec<Series>)| {
            let label = if unit.is_empty() {
                "value".to_owned()
            } else {
                format!("value [{}]", typeset(unit))
            };
            over_time("Inputs", "the signals that drive the run", &label, series)
        };
        groups.into_iter().flat_map(chart).collect()
    }

    /// Returns charts of linear and angular momentum, each with the sum of the bodies' magnitudes,
    /// and of their drift if they are conserved.
    fn momenta(&self) -> Vec<Chart> {
        let mut charts = Vec::new();
        let mut drifts = Vec::new();
        for (name, title, note, label, scale) in [
            (
                "momentum",
                "Linear momentum",
                "of the whole system, inertial axes; dashed: sum of its bodies' magnitudes",
                "p [kg·m/s]",
                "Σ|m v|",
            ),
            (
                "angular_momentum",
                "Angular momentum",
                "about the mass centre, inertial axes; dashed: sum of its bodies' magnitudes",
                "h [kg·m²/s]",
                "Σ|h|",
            ),
        ] {
            let mut series = self.components(&format!("system.{name}"));
            let sum = self.variable(&format!("system.{name}_scale"), scale);
            series.extend(sum.map(|sum| Series { dashed: true, ..sum }));
            charts.extend(over_time(title, note, label, series));
            let short = if name == "momentum" { "linear" } else { "angular" };
            let drift = self.is_conserved.then(|| drift(self.results, name)).flatten();
            drifts.extend(drift.map(|drift| self.series(short, &drift, 1.0)));
        }
        let note = "change since the start, relative to the largest of the dashed sums";
        charts.extend(over_time("Momentum drift", note, "relative change", drifts));
        charts
    }

    fn energies(&self) -> Vec<Chart> {
        let parts = [
            ("kinetic_energy", "kinetic"),
            ("potential_energy", "potential"),
            ("energy", "total"),
            ("work", "work done"),
        ];
        // Without potential energy the total is the kinetic energy.
        let potential = self
            .results
            .get("system.potential_energy")
            .is_some_and(|v| range(v) > 0.0);
        let parts = parts
            .into_iter()
            .filter(|(name, _)| potential || matches!(*name, "kinetic_energy" | "work"));
        let series = parts.filter_map(|(name, label)| self.variable(&format!("system.{name}"), label));
        let mut series: Vec<Series> = series.collect();
        if let Some(work) = series.iter_mut().find(|s| s.name == "work done") {
            work.dashed = true;
        }
        let note = "dashed: work of all loads without a potential";
        let mut charts = over_time("Energy", note, "E [J]", series);
        let balance = imbalance(self.results).map(|gap| self.series("balance", &gap, 1.0));
        charts.extend(over_time(
            "Energy balance",
            "energy − start − work, relative to the peak kinetic energy",
            "relative error",
            balance.into_iter().collect(),
        ));
        charts
    }
}

const AXES: [&str; 3] = ["x", "y", "z"];

/// Returns a chart over time, if there is any series.
fn over_time(title: &str, note: &str, label: &str, series: Vec<Series>) -> Vec<Chart> {
    if series.is_empty() {
        return Vec::new();
    }
    vec![Chart::Time {
        title: title.to_owned(),
        note: note.to_owned(),
        label: label.to_owned(),
        series,
    }]
}

/// Returns the planes (horizontal and vertical axis) that show paths of this extent: one if they
/// are planar, else two.
fn planes(extent: [f64; 3]) -> Vec<[usize; 2]> {
    let largest = extent.into_iter().fold(0.0, f64::max);
    let flat: Vec<usize> = (0..3).filter(|&axis| extent[axis] <= 1e-6 * largest).collect();
    match flat.as_slice() {
        [] => vec![[0, 1], [0, 2]],
        [0] => vec![[1, 2]],
        [1] | [0, 1] => vec![[0, 2]],
        _ => vec![[0, 1]],
    }
}

fn range(values: &[f64]) -> f64 {
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (v.min(low), v.max(high))
        });
    (high - low).max(0.0)
}

/// Returns the angles, rad, of `R = Rz(yaw) Ry(pitch) Rx(roll)` over time, without jumps by full
/// turns.
fn roll_pitch_yaw(q: [&[f64]; 4]) -> [Vec<f64>; 3] {
    let mut angles: [Vec<f64>; 3] = Default::default();
    for i in 0..q[0].len() {
        let [w, x, y, z] = q.map(|part| part[i]);
        angles[0].push(f64::atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)));
        angles[1].push(libm::asin((2.0 * (w * y - z * x)).clamp(-1.0, 1.0)));
        angles[2].push(f64::atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)));
    }
    angles.iter_mut().for_each(|angle| unwind(angle));
    angles
}

/// Removes jumps by full turns.
fn unwind(angles: &mut [f64]) {
    use std::f64::consts::TAU;
    for i in 1..angles.len() {
        let turns = ((angles[i] - angles[i - 1]) / TAU).round();
        angles[i] -= turns * TAU;
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![yaw_of_a_rotating_body_has_no_jumps, planar_path_is_drawn_in_its_plane,];

    fn yaw_of_a_rotating_body_has_no_jumps() {
        let yaw: Vec<f64> = (0..200).map(|i| -0.1 * f64::from(i)).collect();
        let (w, z): (Vec<f64>, Vec<f64>) = yaw.iter().map(|a| ((0.5 * a).cos(), (0.5 * a).sin())).unzip();
        let zero = vec![0.0; 200];
        let [roll, pitch, turned] = roll_pitch_yaw([&w, &zero, &zero, &z]);
        assert_eq!((range(&roll), range(&pitch)), (0.0, 0.0));
        // Round-off of atan2, and of three full turns that are removed.
        assert!(turned.iter().zip(&yaw).all(|(a, b)| (a - b).abs() < 1e-13));
    }

    fn planar_path_is_drawn_in_its_plane() {
        assert_eq!(planes([1.0, 0.5, 1e-12]), [[0, 1]]);
        assert_eq!(planes([0.0, 0.5, 0.7]), [[1, 2]]);
        assert_eq!(planes([1.0, 0.5, 0.2]), [[0, 1], [0, 2]]);
        assert_eq!(planes([0.0; 3]), [[0, 1]]);
    }
}
