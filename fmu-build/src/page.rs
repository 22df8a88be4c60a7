//! One self-contained HTML page: texts, charts and their numbers, and the script that draws them.
//!
//! The program decides what is shown; `assets/page.js` only draws. Charts are uPlot's (MIT), 51 kB of
//! script inside the page, where Plotly's would be 4.7 MB in every file. It has no third dimension:
//! a path is shown as an engineering drawing shows it, in the planes it extends in.

use crate::health::Verdict;
use crate::html::{Digits, Floats, escaped, filled};
use crate::motion::Motion;
use serde::Serialize;

/// Everything on the page.
#[derive(Serialize)]
pub struct Page {
    /// The model's name.
    pub name: String,
    /// One sentence on it.
    pub description: String,
    /// Key facts: label and value.
    pub facts: Vec<(String, String)>,
    /// What the model had to say of the whole run.
    pub messages: Vec<String>,
    /// What happened during the run.
    pub marks: Vec<Mark>,
    /// The verdict, tile by tile.
    pub health: Vec<Tile>,
    /// Times of all values, s.
    pub time: Vec<Digits>,
    /// Numbers that belong to no instant, or to single ones.
    pub tables: Vec<Table>,
    /// The charts, in the order they are shown.
    pub charts: Vec<Chart>,
    /// The craft in motion, if it is one.
    pub motion: Option<Motion>,
    /// All variables.
    pub variables: Vec<Variable>,
    /// Small print.
    pub foot: Vec<String>,
}

/// One number of the verdict.
#[derive(Serialize)]
pub struct Tile {
    /// What it is.
    pub label: String,
    /// The number.
    pub value: String,
    /// Relative to what, or why there is none.
    pub detail: String,
    /// How to take it.
    pub verdict: Verdict,
}

/// A mark at an instant.
#[derive(Serialize)]
pub struct Mark {
    /// When, s.
    pub time: f64,
    /// What happened.
    pub text: String,
    /// Whether craft met, or parted.
    pub contact: bool,
}

/// A table.
#[derive(Serialize)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// One line of explanation.
    pub note: String,
    /// The heads of its columns.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// A row of a table.
#[derive(Serialize)]
pub struct Row {
    /// The instant that it is about, s.
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
        /// What it shows.
        title: String,
        /// One line of explanation.
        note: String,
        /// The vertical axis, with unit.
        label: String,
        /// The lines.
        series: Vec<Series>,
    },
    /// Paths in a plane, both axes to one scale.
    Path {
        /// What it shows.
        title: String,
        /// One line of explanation.
        note: String,
        /// The horizontal axis, with unit.
        x: String,
        /// The vertical axis, with unit.
        y: String,
        /// The paths.
        paths: Vec<Path>,
    },
}

/// A line over time.
#[derive(Serialize)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// One value for each time.
    pub values: Vec<Digits>,
    /// Whether it is a reference for the others.
    pub dashed: bool,
}

/// A line in a plane.
#[derive(Serialize)]
pub struct Path {
    /// Its name in the legend.
    pub name: String,
    /// Horizontal positions, one for each time.
    pub x: Vec<Digits>,
    /// Vertical positions.
    pub y: Vec<Digits>,
}

/// A variable over time, of which the page can make a chart.
#[derive(Serialize)]
pub struct Variable {
    /// Name in the FMU.
    pub name: String,
    /// Unit; empty for a pure number.
    pub unit: String,
    /// One value for each time, or one for all of them.
    pub values: Floats,
}

impl Page {
    /// The page as one HTML file.
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
            ("scene_js", include_str!("../assets/scene.js")),
            ("page_js", include_str!("../assets/page.js")),
            ("data", &data),
        ];
        filled(include_str!("../assets/page.html"), &parts)
    }
}
