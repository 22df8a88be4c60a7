use super::{Shaper, Spec, problem, source};
use crate::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Course of one input over time.
///
/// Values are in the unit of the input. In a signal inside the FMU (`from_importer = false`) the
/// numbers, except those of a table and of shapers, are parameters `signal.<input>.<field>` of the
/// FMU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Signal {
    /// Waveform.
    #[serde(rename = "type")]
    pub waveform: Waveform,
    /// Source of the signal. `true`: `grapple simulate` sets the input through the FMI, and the FMU
    /// has the input. `false`: the signal runs inside the FMU, exact at every evaluation, and the
    /// FMU has an output of that name. Default: yes.
    #[serde(default = "super::default::yes")]
    pub from_importer: bool,
    /// Value of a constant, height of a step, amplitude of a sine or rise of a quintic, in the
    /// input's unit. For a table: its scale factor. Default 1.
    #[serde(default = "one")]
    pub amplitude: f64,
    /// Offset that is added at all times, inside and outside the window, in the input's unit.
    /// Default 0.
    #[serde(default)]
    pub offset: f64,
    /// Frequency of a sine, Hz, not negative. Required for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency: Option<f64>,
    /// Phase of a sine at the time 0, rad. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<f64>,
    /// Begin, s: the time of a step or the begin of a quintic (required for both), or the begin of
    /// the window of a constant or a sine (without it the window has no begin).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// End, s, later than `from`: the end of a quintic (required), or the end of the window of a
    /// constant or a sine (without it the window has no end).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
    /// Times of a table, s, in ascending order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Vec<f64>>,
    /// Values of a table, in the input's unit, one for each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<f64>>,
    /// First derivatives of the values of a table, in the input's unit per second, one for each
    /// time. Required for the interpolation `quintic`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<Vec<f64>>,
    /// Second derivatives of the values of a table, in the input's unit per second squared, one for
    /// each time. Required for the interpolation `quintic`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accelerations: Option<Vec<f64>>,
    /// CSV file of a table, in place of `times` and `values`: two columns, time (s) and value; for
    /// the interpolation `quintic` two more, the first and the second derivative. Its path is
    /// relative to the file that names it, its size at most 256 MiB. A header line and lines that
    /// begin with `#` are skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Interpolation of a table between its times. Before the first time the first value applies,
    /// after the last time the last one. Default `linear`.
    #[serde(default)]
    pub interpolation: Interpolation,
    /// Trajectory: a signal on a reference `<joint>.q_ref`, inside the FMU, then also sets
    /// `<joint>.qd_ref` by its first derivative and, if that input exists, `<joint>.qdd_ref` by its
    /// second derivative. It has no jumps, and starts at the start position of the joint. Default:
    /// no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_rate: bool,
    /// Input shapers, one for each mode of vibration that the signal must not excite: a signal on an
    /// input that is no command, and one that begins (no constant or sine without `from`). The
    /// signal then ends later by half a period of each mode, or a period. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shaper: Vec<Shaper>,
}

impl Signal {
    /// Returns a table without columns that the importer sets.
    pub fn table(interpolation: Interpolation) -> Self {
        Self {
            waveform: Waveform::Table,
            from_importer: true,
            amplitude: 1.0,
            offset: 0.0,
            frequency: None,
            phase: None,
            from: None,
            until: None,
            times: None,
            values: None,
            rates: None,
            accelerations: None,
            file: None,
            interpolation,
            with_rate: false,
            shaper: Vec::new(),
        }
    }
}

/// Returns the error message for a window (s) that is empty, `None` if it is not.
pub(crate) fn empty_window(from: f64, until: f64) -> Option<String> {
    (from >= until).then(|| format!("it ends at {until} s and begins at {from} s: `until` must be later than `from`"))
}

fn one() -> f64 {
    1.0
}

/// Waveform of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Waveform {
    /// `amplitude`; with a window from `from` to `until` a pulse.
    Constant,
    /// 0 before `from`, `amplitude` after it.
    Step,
    /// `amplitude · sin(2π frequency t + phase)`; with a window 0 outside it.
    Sine,
    /// Rise from 0 at `from` to `amplitude` at `until`, `amplitude · (10s³ − 15s⁴ + 6s⁵)` with `s`
    /// from 0 to 1: first and second derivative are zero at both ends.
    Quintic,
    /// `amplitude` times the values of the table.
    Table,
}

/// Interpolation of a table between its times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// Linear interpolation.
    #[default]
    Linear,
    /// Zero-order hold: a value applies until the next time.
    Hold,
    /// Polynomials of degree five with the values, `rates` and `accelerations` of the table.
    Quintic,
}

/// Largest size of a table's file, bytes.
const TABLE_LIMIT: u64 = 256 << 20;

/// Replaces every `file` by its times and values, so that the spec is self-contained. Files that
/// cannot be read or parsed are added to `problems`.
pub(super) fn load_tables(spec: &mut Spec, directory: &Path, problems: &mut Vec<Problem>) {
    for (input, signal) in &mut spec.signal {
        let Some(file) = signal.file.clone() else {
            continue;
        };
        let mut report = |what| problems.push(problem("signal", input, "file", what));
        let written = [&signal.times, &signal.values, &signal.rates, &signal.accelerations];
        if written.iter().any(|column| column.is_some()) {
            report("write either `file` or the columns of the table".to_owned());
            continue;
        }
        let columns = match signal.interpolation {
            Interpolation::Quintic => 4,
            _ => 2,
        };
        match source::read_text(&directory.join(&file), TABLE_LIMIT) {
            Err(e) => report(format!("cannot read {file:?}: {e}")),
            Ok(text) => match parse_table(&text, columns) {
                Err(what) => report(format!("{file:?}: {what}")),
                Ok(table) => {
                    let mut table = table.into_iter().map(Some);
                    signal.times = table.next().flatten();
                    signal.values = table.next().flatten();
                    signal.rates = table.next().flatten();
                    signal.accelerations = table.next().flatten();
                    signal.file = None;
                }
            },
        }
    }
}

/// Names of the columns of a table.
const COLUMNS: [&str; 4] = ["time", "value", "rate", "acceleration"];

/// Parses a table of two or four columns: times, values and their derivatives. A first line in
/// which no field is a number is a header.
///
/// # Errors
/// A message for the first line that is neither empty, a comment nor as many finite numbers, or for
/// an empty table.
fn parse_table(text: &str, columns: usize) -> Result<Vec<Vec<f64>>, String> {
    let mut table = vec![Vec::new(); columns];
    let mut may_be_header = true;
    // Windows programs write a byte-order mark at the beginning of a UTF-8 file.
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
        let is_header = may_be_header && fields.iter().all(Option::is_none);
        may_be_header = false;
        let numbers: Option<Vec<f64>> = fields
            .into_iter()
            .map(|number| number.filter(|x| x.is_finite()))
            .collect();
        match numbers.filter(|numbers| numbers.len() == columns) {
            Some(numbers) => table
                .iter_mut()
                .zip(numbers)
                .for_each(|(column, number)| column.push(number)),
            None if is_header => {}
            None => {
                let expected = COLUMNS[..columns].join(", ");
                return Err(format!("line {}: expected `{expected}`, found {line:?}", i + 1));
            }
        }
    }
    if table[0].is_empty() {
        return Err("the table is empty".to_owned());
    }
    Ok(table)
}

/// Returns the name of the input `qd_ref` or `qdd_ref` that belongs to the reference position
/// `input`; `None` if `input` is no reference position.
pub(crate) fn derivative_of(input: &str, derivative: &str) -> Option<String> {
    let (owner, field) = input.split_at(input.rfind('.').map_or(0, |point| point + 1));
    let index = field.strip_prefix("q_ref")?;
    Some(format!("{owner}{derivative}{index}"))
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::parse_table;
    use crate::messages;

    unit_tests![header_is_a_first_line_without_numbers];

    /// A mistyped number is an error in the first line as in any other: a header has no numbers.
    fn header_is_a_first_line_without_numbers() {
        let _section = messages::of_this_test();
        let two = Ok(vec![vec![0.0, 1.0], vec![2.0, 3.0]]);
        for good in [
            "0, 2\n1, 3",
            "time, value\n0, 2\n1, 3\n",
            "\u{feff}0;2\r\n1;3",
            "\u{feff}t\tv\n0\t2\n1\t3",
            "# by hand\n\ntime, value\n# in s\n0, 2\n1, 3",
        ] {
            assert_eq!(parse_table(good, 2), two, "{good:?}");
        }
        for (bad, line) in [
            ("0.0,1.O\n1,3", 1),
            ("0,nan\n1,3", 1),
            ("0,1,2\n1,3", 1),
            ("time, value\nt, v\n1,3", 2),
            ("# by hand\n0, 2\ntime, value\n", 3),
        ] {
            let message = parse_table(bad, 2).expect_err(bad);
            assert!(message.starts_with(&format!("line {line}: ")), "{message}");
            messages::record(message);
        }
        for empty in ["", "\u{feff}", "time, value\n", "# nothing\n"] {
            messages::record(parse_table(empty, 2).expect_err(empty));
        }
    }
}
