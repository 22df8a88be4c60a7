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
    /// inside the FMU (exact at every evaluation; the FMU then has an output of that name). Default: yes.
    #[serde(default = "super::default::yes")]
    pub from_importer: bool,
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
    /// A CSV file with two columns, time (s) and value, beside the spec; a first line of words is skipped, lines that begin with # too. At most 256 MiB.
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

/// What is wrong with a window, s, if nothing is in it.
pub(crate) fn empty_window(from: f64, until: f64) -> Option<String> {
    (from >= until).then(|| format!("it ends at {until} s and begins at {from} s: `until` is after `from`"))
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

/// Two columns. A line of words before all others is their header.
fn parse_table(text: &str) -> Result<(Vec<f64>, Vec<f64>), String> {
    let mut columns = (Vec::new(), Vec::new());
    let mut may_be_header = true;
    // Programs of Windows mark a text's coding by its first character.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fields = line
            .split([',', ';', '\t'])
            .map(|field| field.trim().parse::<f64>().ok());
        let fields: Vec<Option<f64>> = fields.collect();
        match fields.as_slice() {
            [Some(time), Some(value)] if time.is_finite() && value.is_finite() => {
                columns.0.push(*time);
                columns.1.push(*value);
            }
            words if may_be_header && words.iter().all(Option::is_none) => {}
            _ => return Err(format!("line {}: expected `time, value`, found {line:?}", i + 1)),
        }
        may_be_header = false;
    }
    if columns.0.is_empty() {
        return Err("the table is empty".to_owned());
    }
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use super::parse_table;

    /// Only words before all numbers are a header: what is mistyped in the first line is no less wrong than in the last one.
    #[test]
    fn a_header_is_a_first_line_of_words() {
        let two = Ok((vec![0.0, 1.0], vec![2.0, 3.0]));
        for good in [
            "0, 2\n1, 3",
            "time, value\n0, 2\n1, 3\n",
            "\u{feff}0;2\r\n1;3",
            "\u{feff}t\tv\n0\t2\n1\t3",
            "# by hand\n\ntime, value\n# in s\n0, 2\n1, 3",
        ] {
            assert_eq!(parse_table(good), two, "{good:?}");
        }
        for (bad, line) in [
            ("0.0,1.O\n1,3", 1),
            ("0,nan\n1,3", 1),
            ("0,1,2\n1,3", 1),
            ("time, value\nt, v\n1,3", 2),
            ("# by hand\n0, 2\ntime, value\n", 3),
        ] {
            let said = parse_table(bad).expect_err(bad);
            assert!(
                said.starts_with(&format!("line {line}: expected `time, value`")),
                "{said}"
            );
        }
        for empty in ["", "\u{feff}", "time, value\n", "# nothing\n"] {
            assert_eq!(parse_table(empty), Err("the table is empty".to_owned()));
        }
    }
}
