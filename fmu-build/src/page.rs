//! One self-contained HTML page: texts, charts and their numbers, and the script that draws them.
//!
//! The program selects the contents; `assets/page.js` draws them. Charts use uPlot (MIT), 51 kB of
//! script in the page; Plotly would add 4.7 MB to every file. uPlot draws no 3D: paths are drawn as
//! in an engineering drawing, in the planes in which they extend.

use crate::diagnostics::Verdict;
use crate::html::{Digits, Floats, escaped, filled};
use crate::motion::Motion;
use serde::Serialize;

/// Contents of the page.
#[derive(Serialize)]
pub struct Page {
    /// The model's name.
    pub name: String,
    /// One sentence about the model.
    pub description: String,
    /// Key facts: label and value.
    pub facts: Vec<(String, String)>,
    /// Messages about the whole run.
    pub messages: Vec<String>,
    /// Events of the run.
    pub marks: Vec<Mark>,
    /// Run diagnostics, tile by tile.
    pub diagnostics: Vec<Tile>,
    /// Times of all values, s.
    pub time: Vec<Digits>,
    /// Tables of values at single instants, or without a time.
    pub tables: Vec<Table>,
    /// The charts, in the order they are shown.
    pub charts: Vec<Chart>,
    /// Label of the run in charts; empty if there are no other runs.
    pub label: String,
    /// Other runs, which the charts show as well.
    pub others: Vec<OtherRun>,
    /// The animated spacecraft, if there is one.
    pub motion: Option<Motion>,
    /// All variables.
    pub variables: Vec<Variable>,
    /// Notes at the foot of the page.
    pub foot: Vec<String>,
}

/// Charts and variables of another run of the same model.
#[derive(Serialize)]
pub struct OtherRun {
    /// Label of the run.
    pub label: String,
    /// Times of its values, s.
    pub time: Vec<Digits>,
    /// Its charts.
    pub charts: Vec<Chart>,
    /// Its variables.
    pub variables: Vec<Variable>,
}

/// One diagnostic of the run.
#[derive(Serialize)]
pub struct Tile {
    /// Title.
    pub label: String,
    /// Value.
    pub value: String,
    /// Reference of the value, or reason why there is none.
    pub detail: String,
    /// Rating.
    pub verdict: Verdict,
}

/// A mark at an instant.
#[derive(Serialize)]
pub struct Mark {
    /// Time, s.
    pub time: f64,
    /// Text.
    pub text: String,
    /// Set for an impact, a contact or a separation.
    pub contact: bool,
}

/// A table.
#[derive(Serialize)]
pub struct Table {
    /// Title.
    pub title: String,
    /// One line of explanation.
    pub note: String,
    /// Column heads.
    pub columns: Vec<String>,
    /// Rows.
    pub rows: Vec<Row>,
}

/// A row of a table.
#[derive(Serialize)]
pub struct Row {
    /// Time of the row, s, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// One text for each column.
    pub cells: Vec<String>,
}

/// One chart.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Chart {
    /// Values over time.
    Time {
        /// Title.
        title: String,
        /// One line of explanation.
        note: String,
        /// Label of the vertical axis, with unit.
        label: String,
        /// The lines.
        series: Vec<Series>,
    },
    /// Paths in a plane, with the same scale on both axes.
    Path {
        /// Title.
        title: String,
        /// One line of explanation.
        note: String,
        /// Label of the horizontal axis, with unit.
        x: String,
        /// Label of the vertical axis, with unit.
        y: String,
        /// The paths.
        paths: Vec<Path>,
    },
}

/// A line over time.
#[derive(Serialize)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// One value for each time.
    pub values: Vec<Digits>,
    /// Set for a reference curve.
    pub dashed: bool,
}

/// A line in a plane.
#[derive(Serialize)]
pub struct Path {
    /// Name in the legend.
    pub name: String,
    /// Horizontal positions, one for each time.
    pub x: Vec<Digits>,
    /// Vertical positions.
    pub y: Vec<Digits>,
}

/// A variable over time, which the page can plot on request.
#[derive(Serialize)]
pub struct Variable {
    /// Name in the FMU.
    pub name: String,
    /// Unit; empty for a pure number.
    pub unit: String,
    /// One value for each time, or one for all of them.
    pub values: Floats,
}

/// Script of the animated spacecraft.
const SCENE: [&str; 3] = [
    include_str!("../assets/shapes.js"),
    include_str!("../assets/layers.js"),
    include_str!("../assets/scene.js"),
];

impl Page {
    /// Returns the page as one HTML file.
    pub fn to_html(&self) -> String {
        let data = serde_json::to_string(self).expect("a page is plain JSON");
        // Inside <script> only "</" and "<!" could end the data.
        let data = data.replace('<', "\\u003c");
        let parts = [
            ("title", &*escaped(&self.name)),
            ("uplot_css", include_str!("../assets/uPlot.min.css")),
            ("page_css", include_str!("../assets/page.css")),
            ("uplot_licence", include_str!("../assets/uPlot-LICENSE")),
            ("uplot_js", include_str!("../assets/uPlot.iife.min.js")),
            ("three_licence", include_str!("../assets/three-LICENSE")),
            ("three_js", include_str!("../assets/three.iife.min.js")),
            ("scene_js", &SCENE.concat()),
            ("charts_js", include_str!("../assets/charts.js")),
            ("exports_js", include_str!("../assets/exports.js")),
            ("page_js", include_str!("../assets/page.js")),
            ("data", &data),
        ];
        filled(include_str!("../assets/page.html"), &parts)
    }
}
