//! Tables of events and of the solver's work.

use crate::page::{Row, Table};
use crate::results::Results;
use crate::run::Run;
use crate::text::number;
use grapple::Event;
use grapple::system::significant;

/// Returns all tables that are not empty.
pub fn tables(run: &Run) -> Vec<Table> {
    [impacts(run), events(run), solver(run)].into_iter().flatten().collect()
}

/// Returns the table of impacts, captures and releases.
fn impacts(run: &Run) -> Option<Table> {
    let row = |event: &Event| {
        let contact = event.contact()?;
        let numbers = last_impact(&run.results, event);
        let cells = [time(event.t), contact.to_owned(), event.what.action()];
        let numbers = numbers
            .unwrap_or_default()
            .map(|value| value.map_or("–".to_owned(), shown));
        Some(Row {
            time: Some(event.t),
            cells: cells.into_iter().chain(numbers).collect(),
        })
    };
    table(
        "Impacts and captures",
        "p impulse on the first of the two; u velocity of the first relative to the second at the contact point, before and after; e = −u⁺/u⁻ along the normal; \
         ΔE work of the impulse; m effective mass along the normal",
        &[
            "t [s]",
            "Contact",
            "Event",
            "|p| [N·s]",
            "|u⁻| [m/s]",
            "|u⁺| [m/s]",
            "e",
            "ΔE [J]",
            "m [kg]",
        ],
        run.events.iter().filter_map(row).collect(),
    )
}

/// Returns the outputs that report an impact; none if another impact of the same contact followed
/// before the next row of the results, since outputs report a contact's last impact only.
fn last_impact(results: &Results, event: &Event) -> Option<[Option<f64>; 6]> {
    let contact = event.contact().filter(|_| event.is_impact())?;
    let get = |what: &str| results.get(&format!("{contact}.{what}"));
    let (time, count) = (get("time")?, get("count")?);
    let row = (0..time.len()).find(|&row| time[row] == event.t && count[row] > 0.0)?;
    let norm = |what: &str| {
        let v = results.get_vector::<3>(&format!("{contact}.{what}"))?;
        Some(v.map(|part| part[row] * part[row]).iter().sum::<f64>().sqrt())
    };
    let value = |what: &str| Some(get(what)?[row]);
    // The natural scales: the velocity before, one, and the work that would stop it.
    let (p, before, mass) = (norm("impulse"), norm("velocity_before"), value("virtual_mass"));
    let of = |value: Option<f64>, scale: Option<f64>| Some(significant(value?, scale.unwrap_or(0.0)));
    let product = |a: Option<f64>, b: Option<f64>| Some(a? * b?);
    Some([
        of(p, product(mass, before)),
        before,
        of(norm("velocity_after"), before),
        of(value("restitution"), Some(1.0)),
        of(value("energy_change"), product(p, before)),
        mass,
    ])
}

/// Returns the table of all other events.
fn events(run: &Run) -> Option<Table> {
    let row = |event: &Event| Row {
        time: Some(event.t),
        cells: vec![time(event.t), event.what.to_string()],
    };
    let others = run
        .events
        .iter()
        .filter(|event| event.contact().is_none() && !event.is_of_solver());
    table(
        "Events",
        "messages of the FMU",
        &["t [s]", "Event"],
        others.map(row).collect(),
    )
}

/// Returns the table of the solver's work: the counts in its log message, and derived numbers.
fn solver(run: &Run) -> Option<Table> {
    let counts = counts(run.solver.as_ref()?);
    let (mut columns, mut cells): (Vec<String>, Vec<String>) = counts
        .iter()
        .map(|(what, n)| ((*what).to_owned(), n.to_string()))
        .unzip();
    let of = |wanted: &str| counts.iter().find(|(what, _)| *what == wanted).map(|(_, n)| *n as f64);
    let duration = run.results.time.last()? - run.results.time.first()?;
    let wall = run.effort.wall.as_secs_f64();
    for (what, part) in [
        ("mean step [s]", of("steps").map(|steps| duration / steps)),
        (
            "evaluations per step",
            of("evaluations")
                .zip(of("steps"))
                .map(|(evaluations, steps)| evaluations / steps),
        ),
        (
            "time per evaluation [µs]",
            of("evaluations").map(|evaluations| 1e6 * wall / evaluations),
        ),
    ] {
        let Some(part) = part.filter(|part| part.is_finite()) else {
            continue;
        };
        columns.push(what.to_owned());
        cells.push(number(part, 3));
    }
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let note = "accepted and rejected steps, evaluations of the dynamics, changes of discrete states";
    table("Solver", note, &columns, vec![Row { time: None, cells }])
}

/// Returns the counts in a message like `928 steps (3 rejected), 6188 evaluations`.
fn counts(message: &str) -> Vec<(&str, u64)> {
    let words: Vec<&str> = message
        .split([' ', ',', '(', ')'])
        .filter(|word| !word.is_empty())
        .collect();
    words
        .windows(2)
        .filter_map(|pair| Some((pair[1], pair[0].parse().ok()?)))
        .collect()
}

fn table(title: &str, note: &str, columns: &[&str], rows: Vec<Row>) -> Option<Table> {
    (!rows.is_empty()).then(|| Table {
        title: title.to_owned(),
        note: note.to_owned(),
        columns: columns.iter().map(|&column| column.to_owned()).collect(),
        rows,
    })
}

fn time(t: f64) -> String {
    number(t, 9)
}

/// Formats a number with a true minus sign.
fn shown(value: f64) -> String {
    number(value, 6).replacen('-', "−", usize::from(value < 0.0))
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![solver_counts_are_parsed_from_its_log_message];

    fn solver_counts_are_parsed_from_its_log_message() {
        let message = grapple::simulation::Statistics {
            steps: 928,
            rejected: 3,
            evaluations: 6188,
            events: 2,
        };
        let expected = [("steps", 928), ("rejected", 3), ("evaluations", 6188), ("events", 2)];
        assert_eq!(counts(&message.to_string()), expected);
    }
}
