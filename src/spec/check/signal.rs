use super::Check;
use crate::spec::{Interpolation, JointMotion, References, Shaper, Signal, Waveform, derivative_of, empty_window};

impl Check<'_> {
    /// Validates a signal.
    pub(super) fn signal(&mut self, input: &str, signal: &Signal) {
        let is = |kinds: &[Waveform]| kinds.contains(&signal.waveform);
        let of_joint = input
            .strip_suffix(".motion")
            .and_then(|joint| self.spec.joint.get(joint));
        let switches = is(&[Waveform::Constant, Waveform::Step])
            || (is(&[Waveform::Table]) && signal.interpolation == Interpolation::Hold);
        if let Some(joint) = of_joint.filter(|joint| joint.motions.len() > 1) {
            self.command(input, signal, switches, &joint.motions);
        }
        let is_impact = match input.rsplit_once('.') {
            Some((port, "impact")) if self.spec.port.get(port).is_some_and(|port| port.impulse) => true,
            Some((contact, "impact" | "capture")) => self.spec.contact.contains_key(contact),
            _ => false,
        };
        if is_impact && !switches {
            let what = "a command is a constant, a step, or a table with interpolation = \"hold\"";
            self.report("signal", input, "type", what);
        }
        if signal.with_rate {
            self.trajectory(input, signal);
        }
        self.signal_fields(input, signal);
        self.shaped(input, signal);
        // In a signal inside the FMU these numbers are parameters, and are validated as such.
        if signal.from_importer {
            let empty = signal
                .from
                .zip(signal.until)
                .and_then(|(from, until)| empty_window(from, until));
            if let Some(what) = empty {
                self.report("signal", input, "until", what);
            }
            if let Some(frequency) = signal.frequency.filter(|frequency| *frequency < 0.0) {
                self.report("signal", input, "frequency", format!("{frequency} Hz is negative"));
            }
        }
        if let (Some(times), Some(values)) = (&signal.times, &signal.values) {
            if times.len() != values.len() || times.is_empty() {
                let what = format!("{} times, but {} values", times.len(), values.len());
                self.report("signal", input, "times", what);
            }
            let columns = [("rates", &signal.rates), ("accelerations", &signal.accelerations)];
            for (field, column) in columns {
                if let Some(column) = column.as_ref().filter(|column| column.len() != times.len()) {
                    let what = format!("{} times, but {} {field}", times.len(), column.len());
                    self.report("signal", input, field, what);
                }
            }
            if let Some(i) = times.windows(2).position(|pair| pair[1] <= pair[0]) {
                let what = format!("times must ascend, but {} follows {}", times[i + 1], times[i]);
                self.report("signal", input, "times", what);
            }
        }
    }

    /// Reports fields that a signal of this type needs or does not have.
    fn signal_fields(&mut self, input: &str, signal: &Signal) {
        let waveform = signal.waveform;
        let is = |kinds: &[Waveform]| kinds.contains(&waveform);
        let is_quintic = is(&[Waveform::Table]) && signal.interpolation == Interpolation::Quintic;
        let windowed = is(&[Waveform::Constant, Waveform::Sine, Waveform::Quintic]);
        let fields = [
            (
                "frequency",
                signal.frequency.is_some(),
                is(&[Waveform::Sine]),
                is(&[Waveform::Sine]),
            ),
            ("phase", signal.phase.is_some(), is(&[Waveform::Sine]), false),
            (
                "from",
                signal.from.is_some(),
                windowed || is(&[Waveform::Step]),
                is(&[Waveform::Step, Waveform::Quintic]),
            ),
            ("until", signal.until.is_some(), windowed, is(&[Waveform::Quintic])),
            (
                "times",
                signal.times.is_some(),
                is(&[Waveform::Table]),
                is(&[Waveform::Table]) && signal.file.is_none(),
            ),
            (
                "values",
                signal.values.is_some(),
                is(&[Waveform::Table]),
                is(&[Waveform::Table]) && signal.file.is_none(),
            ),
            (
                "rates",
                signal.rates.is_some(),
                is_quintic,
                is_quintic && signal.file.is_none(),
            ),
            (
                "accelerations",
                signal.accelerations.is_some(),
                is_quintic,
                is_quintic && signal.file.is_none(),
            ),
        ];
        let interpolation = format!("{:?}", signal.interpolation).to_lowercase();
        let kind = match waveform {
            Waveform::Table => format!("table with interpolation = \"{interpolation}\""),
            _ => format!("{waveform:?} signal").to_lowercase(),
        };
        for (field, written, allowed, needed) in fields {
            if written && !allowed {
                self.report("signal", input, field, format!("a {kind} has no `{field}`"));
            }
            if needed && !written {
                self.report("signal", input, "type", format!("a {kind} needs `{field}`"));
            }
        }
    }

    /// Validates the shapers of a signal.
    fn shaped(&mut self, input: &str, signal: &Signal) {
        for what in Shaper::problems(&signal.shaper) {
            self.report("signal", input, "shaper", what);
        }
        let is_endless = matches!(signal.waveform, Waveform::Constant | Waveform::Sine) && signal.from.is_none();
        if is_endless && !signal.shaper.is_empty() {
            let what = "a signal that has no begin cannot be shaped: write `from`, the time at which it begins";
            self.report("signal", input, "shaper", what);
        }
    }

    /// Validates a signal that also sets the derivatives of a reference.
    fn trajectory(&mut self, input: &str, signal: &Signal) {
        let joint = input.rsplit_once(".q_ref").map(|(joint, _)| joint);
        let spec = self.spec;
        let kind = joint.and_then(|joint| match &spec.controller {
            Some(controller) if spec.task.is_empty() => controller.joint.get(joint).map(|joint| joint.kind),
            _ => spec.joint.get(joint).map(|joint| joint.kind),
        });
        let vector = (spec.controller.as_ref()).is_some_and(|of| of.references == References::Vector);
        let has_reference = match vector {
            true => input.starts_with("q_ref["),
            false => kind.is_some_and(|kind| kind.has_plain_positions()),
        };
        let mut derivatives = ["qd_ref", "qdd_ref"]
            .into_iter()
            .filter_map(|of| derivative_of(input, of));
        let driven_twice = derivatives.find(|derivative| spec.signal.contains_key(derivative));
        let is_windowed = signal.from.is_some() || signal.until.is_some();
        let opens = matches!(signal.waveform, Waveform::Constant | Waveform::Sine) && is_windowed;
        let jumps = opens
            || signal.waveform == Waveform::Step
            || (signal.waveform == Waveform::Table && signal.interpolation == Interpolation::Hold);
        let what = if !has_reference {
            "only a signal on a reference `<joint>.q_ref` (not of a spherical joint) can set its rate".to_owned()
        } else if signal.from_importer {
            "an importer sets each input separately: write from_importer = false, so that the signal runs inside the FMU".to_owned()
        } else if jumps {
            "a signal with jumps has no rate".to_owned()
        } else if let Some(derivative) = driven_twice {
            format!("\"{derivative}\" has a signal of its own")
        } else {
            return;
        };
        self.report("signal", input, "with_rate", what);
    }

    /// Validates a signal that selects the motion of a joint.
    pub(super) fn command(&mut self, input: &str, signal: &Signal, switches: bool, motions: &[JointMotion]) {
        if !switches {
            let what =
                "a motion is a discrete input: write a constant, a step, or a table with interpolation = \"hold\"";
            return self.report("signal", input, "type", what);
        }
        let always = signal.waveform == Waveform::Constant && signal.from.is_none() && signal.until.is_none();
        let heights = match &signal.values {
            Some(values) => values.clone(),
            None if always => vec![1.0],
            None => vec![0.0, 1.0],
        };
        let values = heights
            .into_iter()
            .map(|height| signal.offset + signal.amplitude * height);
        let is_motion = |value: f64| motions.iter().any(|motion| f64::from(motion.number()) == value.round());
        if let Some(value) = values.into_iter().find(|&value| !is_motion(value)) {
            let motions = motions
                .iter()
                .map(|motion| format!("{} {}", motion.number(), motion.name()));
            let motions: Vec<String> = motions.collect();
            let what = format!("{value} is none of the joint's motions: {}", motions.join(", "));
            self.report("signal", input, "amplitude", what);
        }
    }
}
