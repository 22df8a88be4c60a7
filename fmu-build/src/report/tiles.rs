//! Run diagnostics, tile by tile.

use crate::diagnostics::{Diagnostics, Momentum, Verdict};
use crate::page::Tile;
use crate::text::{number, typeset};
use std::time::Duration;

/// Returns the tiles of a run's diagnostics; those of its effort only if `is_simulated`.
pub fn tiles(diagnostics: &Diagnostics, is_simulated: bool) -> Vec<Tile> {
    let mut tiles = Vec::new();
    let mut tile = |label: &str, value: String, detail: String, verdict| {
        tiles.push(Tile {
            label: label.to_owned(),
            value,
            detail,
            verdict,
        });
    };
    match &diagnostics.momentum {
        Some(Momentum::Conserved { linear, angular }) => {
            for (label, ratio, scale, unit) in [
                ("Linear momentum drift", linear, "Σ|m v|", "kg.m/s"),
                ("Angular momentum drift", angular, "Σ|h|", "kg.m2/s"),
            ] {
                let detail = format!("of the largest {scale}, {} {}", number(ratio.scale, 4), typeset(unit));
                tile(label, number(ratio.value(), 2), detail, diagnostics.verdict(ratio));
            }
        }
        Some(Momentum::Not(why)) => tile("Momentum", "–".to_owned(), why.clone(), Verdict::Note),
        None => {}
    }
    if let Some(balance) = &diagnostics.energy {
        let peak = number(balance.scale, 4);
        let detail = format!("energy − start − work, of the peak kinetic energy {peak} J");
        tile(
            "Energy balance",
            number(balance.value(), 2),
            detail,
            diagnostics.verdict(balance),
        );
    }
    if !is_simulated {
        return tiles;
    }
    let detail = diagnostics.solver.clone().unwrap_or_default();
    tile(
        "Communication steps",
        diagnostics.steps.to_string(),
        detail,
        Verdict::Note,
    );
    let factor = diagnostics.real_time_factor();
    let detail = format!("times real time: computed in {}", duration(diagnostics.wall));
    let verdict = if factor < 1.0 { Verdict::Warn } else { Verdict::Note };
    tile("Speed", number(factor, 3), detail, verdict);
    tiles
}

/// Formats a duration.
fn duration(wall: Duration) -> String {
    match wall.as_secs_f64() {
        s if s < 1.0 => format!("{} ms", number(1e3 * s, 3)),
        s => format!("{} s", number(s, 3)),
    }
}
