use super::{Spec, problem, source};
use crate::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What drives one input over time.
///
/// All numbers are in the input's unit; every one is a parameter `signal.<input>.<field>` of the FMU
/// where the signal runs inside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Signal {
    /// The shape.
    #[serde(rename = "type")]
    pub waveform: Waveform,
    /// Whether `grapple simulate` feeds it through the FMI (the FMU then has the input), or it runs
    /// inside the FMU (exact at every evaluation; the FMU then has an output of that name). Default: from the host.
    #[serde(default = "from_host")]
    pub from_host: bool,
    /// Value of a constant, in the input's unit; height of a step, a sine's amplitude, a quintic's rise; of a table, its scale. Default 1.
    #[serde(default = "one")]
    pub amplitude: f64,
    /// Added to everything, in the input's unit, inside and outside the window. Default 0.
    #[serde(default)]
    pub offset: f64,
    /// Frequency of a sine, Hz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency: Option<f64>,
    /// Phase of a sine at t = 0, rad.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<f64>,
    /// When it begins, s: the time of a step, the start of a quintic, the opening of a window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// When it ends, s: the end of a quintic, the closing of a window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
    /// Times of a table, s, rising.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Vec<f64>>,
    /// Values of a table, in the input's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<f64>>,
    /// A CSV file with two columns, time (s) and value, beside the spec; one header line is skipped. At most 256 MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// How a table goes from one value to the next. Before the first and after the last time its
    /// end values stand.
    #[serde(default)]
    pub interpolation: Interpolation,
    /// On the reference `<joint>.q_ref` of a servo, inside the FMU: whether it drives `<joint>.qd_ref` too, by its derivative, and `<joint>.qdd_ref` where there is one, by its second. A trajectory, which has to start where the joint does.
    /// Default: no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_rate: bool,
}

fn from_host() -> bool {
    true
}

fn one() -> f64 {
    1.0
}

/// The shapes of signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Waveform {
    /// `amplitude`; with a window `from`–`until`: a pulse.
    Constant,
    /// 0 before `from`, `amplitude` after.
    Step,
    /// `amplitude · sin(2π frequency t + phase)`, inside the window if there is one.
    Sine,
    /// From 0 at `from` to `amplitude` at `until`, `10s³ − 15s⁴ + 6s⁵`: at rest at both ends.
    Quintic,
    /// `amplitude` times the table.
    Table,
}

/// How a table is read between its times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// Straight lines.
    #[default]
    Linear,
    /// The last value holds.
    Hold,
}

/// A larger file is not read: it is no table.
const TABLE_LIMIT: u64 = 256 << 20;

/// Replaces every `file` by the times and values in it, so that the spec stands alone.
pub(super) fn load_tables(spec: &mut Spec, directory: &Path, problems: &mut Vec<Problem>) {
    for (input, signal) in &mut spec.signal {
        let Some(file) = signal.file.clone() else {
            continue;
        };
        let mut report = |what| problems.push(problem("signal", input, "file", what));
        if signal.times.is_some() || signal.values.is_some() {
            report("write either `file` or `times` and `values`".to_owned());
            continue;
        }
        match source::read_text(&directory.join(&file), TABLE_LIMIT) {
            Err(e) => report(format!("cannot read {file:?}: {e}")),
            Ok(text) => match parse_table(&text) {
                Err(what) => report(format!("{file:?}: {what}")),
                Ok((times, values)) => {
                    signal.times = Some(times);
                    signal.values = Some(values);
                    signal.file = None;
                }
            },
        }
    }
}

fn parse_table(text: &str) -> Result<(Vec<f64>, Vec<f64>), String> {
    let mut columns = (Vec::new(), Vec::new());
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let numbers: Option<Vec<f64>> = line
            .split([',', ';', '\t'])
            .map(|field| field.trim().parse().ok().filter(|x: &f64| x.is_finite()))
            .collect();
        match numbers.as_deref() {
            Some([time, value]) => {
                columns.0.push(*time);
                columns.1.push(*value);
            }
            _ if columns.0.is_empty() && i == 0 => {} // the header
            _ => return Err(format!("line {}: expected `time, value`, found {line:?}", i + 1)),
        }
    }
    Ok(columns)
}
