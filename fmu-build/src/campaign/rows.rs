//! The tables of a campaign: a row for each run.

use super::folder::Record;
use super::plan::Campaign;
use crate::table::{Cells, Table};
use std::collections::BTreeMap;
use std::ops::Range;

/// Returns the table of the values that are set before these runs, without running them.
pub fn plan<'a>(campaign: &Campaign<'a>, runs: Range<usize>) -> Table<'a> {
    let rows: Vec<Vec<f64>> = runs.clone().map(|run| campaign.values(run)).collect();
    let mut table = Table::default();
    table.push("run", "", Cells::Whole(runs.map(|run| run as i64).collect()));
    for (i, setting) in campaign.settings.iter().enumerate() {
        let values: Vec<f64> = rows.iter().map(|row| row[i]).collect();
        let unit = campaign.fmu.unit(setting.variable);
        table.push(&setting.variable.name, unit, Cells::Real(values.into()));
    }
    table
}

/// Returns the table of values, results and status of each finished run.
pub fn table<'a>(campaign: &Campaign<'a>, records: &'a BTreeMap<usize, Record>) -> Table<'a> {
    let rows: Vec<&Record> = records.range(..campaign.total).map(|(_, record)| record).collect();
    let mut table = Table::default();
    table.push("run", "", Cells::Whole(rows.iter().map(|row| row.run as i64).collect()));
    for (i, setting) in campaign.settings.iter().enumerate() {
        let values: Vec<f64> = rows.iter().map(|row| row.values[i]).collect();
        let unit = campaign.fmu.unit(setting.variable);
        table.push(&setting.variable.name, unit, Cells::Real(values.into()));
    }
    for (i, (name, unit)) in results(campaign).into_iter().enumerate() {
        // A failed run has no results.
        let values = rows.iter().map(|row| row.results.get(i).copied().flatten());
        table.push(name, unit, Cells::Sparse(values.collect()));
    }
    let failures = || rows.iter().map(|row| row.failure.as_deref());
    let status = |failure: Option<&str>| if failure.is_some() { "failed" } else { "ok" };
    table.push("status", "", Cells::Words(failures().map(status).collect()));
    table.push(
        "message",
        "",
        Cells::Words(failures().map(Option::unwrap_or_default).collect()),
    );
    table
}

/// Returns names and units of a run's results: "peak(mount.q[1])", "rad".
pub fn results<'a>(campaign: &Campaign<'a>) -> Vec<(String, &'a str)> {
    let mut results = Vec::new();
    for output in &campaign.outputs {
        let (name, unit) = (&output.variable.name, campaign.fmu.unit(output.variable));
        results.extend(
            output
                .summarised()
                .map(|statistic| (format!("{}({name})", statistic.name()), unit)),
        );
    }
    results
}
