//! The page of a campaign: a self-contained HTML file with maps and charts over all runs.
//!
//! The program selects the numbers; `assets/campaign.js` draws them.

use super::folder::Record;
use super::plan::{Campaign, Output};
use super::rows;
use super::statistic::Statistic;
use crate::html::{Floats, escaped, filled};
use crate::text::count;
use serde::Serialize;
use std::collections::BTreeMap;

/// Largest number of failed runs that are listed with their messages.
const LISTED: usize = 1000;

/// Contents of the page.
#[derive(Serialize)]
struct Page<'a> {
    /// Name of the model.
    name: &'a str,
    /// Purpose of the study.
    description: &'a str,
    /// Key facts: label and value.
    facts: Vec<(&'static str, String)>,
    /// Values that differ from run to run.
    parameters: Vec<Column<'a>>,
    /// Results at the start of the runs: further axes of maps.
    initial: Vec<Column<'a>>,
    /// Other results.
    results: Vec<Column<'a>>,
    /// Numbers and messages of failed runs.
    failures: Vec<(usize, &'a str)>,
    /// Number of failed runs.
    failed: usize,
    /// Notes at the foot of the page.
    foot: Vec<String>,
}

/// A number of each run.
#[derive(Serialize)]
struct Column<'a> {
    name: String,
    /// Unit; empty for a pure number.
    unit: &'a str,
    /// One value for each run, by their numbers; NaN where a run has none.
    values: Floats,
}

/// Returns the page of a campaign whose runs are finished.
pub fn html<'a>(campaign: &'a Campaign, records: &'a BTreeMap<usize, Record>) -> String {
    let rows: Vec<&Record> = records.range(..campaign.total).map(|(_, record)| record).collect();
    let settings = campaign.settings.iter().enumerate().map(|(i, setting)| {
        let values: Vec<f64> = rows.iter().map(|row| row.values[i]).collect();
        (setting, values)
    });
    let varied = settings.filter(|(_, values)| values.iter().any(|value| *value != values[0]));
    let parameters = varied.map(|(setting, values)| Column {
        name: setting.variable.name.clone(),
        unit: campaign.fmu.unit(setting.variable),
        values: Floats(values),
    });
    let results = rows::results(campaign).into_iter().enumerate();
    let results = results.map(|(i, (name, unit))| {
        let values = rows.iter().map(|row| row.results.get(i).copied().flatten());
        Column {
            name,
            unit,
            values: Floats(values.map(|value| value.unwrap_or(f64::NAN)).collect()),
        }
    });
    let is_initial = campaign.outputs.iter().flat_map(Output::summarised);
    let is_initial = is_initial.map(|statistic| statistic == Statistic::Initial);
    let (initial, results): (Vec<_>, Vec<_>) = results.zip(is_initial).partition(|(_, is_initial)| *is_initial);
    let columns = |of: Vec<(Column<'a>, bool)>| of.into_iter().map(|(column, _)| column).collect();
    let failures = rows.iter().filter_map(|row| Some((row.run, row.failure.as_deref()?)));
    let failed = failures.clone().count();
    let times = campaign.plan.times;
    let page = Page {
        name: &campaign.fmu.description.model_name,
        description: &campaign.study.description,
        facts: vec![
            ("Runs", campaign.total.to_string()),
            ("Failed", failed.to_string()),
            ("Duration of a run", format!("{} s", times.stop)),
            ("Tolerance", format!("{:e}", times.tolerance)),
            ("Seed", campaign.study.seed.to_string()),
        ],
        parameters: parameters.collect(),
        initial: columns(initial),
        results: columns(results),
        failures: failures.take(LISTED).collect(),
        failed,
        foot: vec![format!(
            "grapple {}: {} of the campaign, with seven digits. The table runs.{} has all digits.",
            env!("CARGO_PKG_VERSION"),
            count(rows.len(), "run"),
            campaign.study.format.extension()
        )],
    };
    let data = serde_json::to_string(&page).expect("a page is plain JSON");
    // Inside <script> only "</" and "<!" could end the data.
    let data = data.replace('<', "\\u003c");
    let parts = [
        ("title", &*escaped(&format!("{}: campaign", page.name))),
        ("uplot_css", include_str!("../../assets/uPlot.min.css")),
        ("page_css", include_str!("../../assets/page.css")),
        ("uplot_licence", include_str!("../../assets/uPlot-LICENSE")),
        ("uplot_js", include_str!("../../assets/uPlot.iife.min.js")),
        ("charts_js", include_str!("../../assets/charts.js")),
        ("exports_js", include_str!("../../assets/exports.js")),
        ("campaign_js", include_str!("../../assets/campaign.js")),
        ("data", &data),
    ];
    filled(include_str!("../../assets/campaign.html"), &parts)
}
