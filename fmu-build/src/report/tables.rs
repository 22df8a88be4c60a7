//! What happened, and what it cost, in numbers.

use crate::events::Event;
use crate::page::{Row, Table};
use crate::results::Results;
use crate::run::Run;
use crate::text::number;

/// All tables that there is something for.
pub fn tables(run: &Run) -> Vec<Table> {
    [impacts(run), events(run), solver(run)].into_iter().flatten().collect()
}

/// Impacts, captures and releases.
fn impacts(run: &Run) -> Option<Table> {
    let row = |event: Event| {
        let contact = event.contact()?;
        let numbers = last_strike(&run.results, &event);
        let what = match numbers {
            Some(_) => without_numbers(event.action()),
            None => event.action().to_owned(),
        };
        let cells = [time(event.time), contact.to_owned(), what];
        let numbers = numbers
            .unwrap_or_default()
            .map(|value| value.map_or("–".to_owned(), shown));
        Some(Row {
            time: Some(event.time),
            cells: cells.into_iter().chain(numbers).collect(),
        })
    };
    table(
        "Impacts and captures",
        "p on the first of the two; u of the first relative to the second where they meet, before and after; e = −u⁺/u⁻ along the normal; \
         ΔE work of the impulse; m mass that it meets along the normal",
        &[
            "t [s]",
            "Contact",
            "What happened",
            "|p| [N·s]",
            "|u⁻| [m/s]",
            "|u⁺| [m/s]",
            "e",
            "ΔE [J]",
            "m [kg]",
        ],
        told(run).filter_map(row).collect(),
    )
}

/// The FMU's numbers of an impact. They stand until the next one of the same contact: if that came before anyone could look, there are none.
fn last_strike(results: &Results, event: &Event) -> Option<[Option<f64>; 6]> {
    let contact = event.contact().filter(|_| event.is_impact())?;
    let get = |what: &str| results.get(&format!("{contact}.{what}"));
    let (time, count) = (get("time")?, get("count")?);
    let row = (0..time.len()).find(|&row| time[row] == event.time && count[row] > 0.0)?;
    let norm = |what: &str| {
        let v = results.get_vector::<3>(&format!("{contact}.{what}"))?;
        Some(v.map(|part| part[row].powi(2)).iter().sum::<f64>().sqrt())
    };
    let value = |what: &str| Some(get(what)?[row]);
    Some([
        norm("impulse"),
        norm("velocity_before"),
        norm("velocity_after"),
        value("restitution"),
        value("energy_change"),
        value("virtual_mass"),
    ])
}

/// What an impact's message says beside the numbers of the table.
fn without_numbers(action: &str) -> String {
    let (what, numbers) = action.split_once(": ").unwrap_or((action, ""));
    match numbers.split_once("; ") {
        Some((_, remark)) => format!("{what}; {remark}"),
        None => what.to_owned(),
    }
}

/// Everything else that happened at an instant.
fn events(run: &Run) -> Option<Table> {
    let row = |event: Event| Row {
        time: Some(event.time),
        cells: vec![time(event.time), event.text.to_owned()],
    };
    let others = told(run).filter(|event| event.contact().is_none());
    table(
        "Events",
        "in the FMU's words",
        &["t [s]", "What happened"],
        others.map(row).collect(),
    )
}

/// The work of the FMU's solver: the counts that it tells, and what follows from them.
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
    let note = "accepted and rejected steps, evaluations of the dynamics, changes of modes";
    table("Solver", note, &columns, vec![Row { time: None, cells }])
}

/// The counts in `928 steps (3 rejected), 6188 evaluations`.
fn counts(told: &str) -> Vec<(&str, u64)> {
    let words: Vec<&str> = told
        .split([' ', ',', '(', ')'])
        .filter(|word| !word.is_empty())
        .collect();
    words
        .windows(2)
        .filter_map(|pair| Some((pair[1], pair[0].parse().ok()?)))
        .collect()
}

/// What was told of an instant.
fn told(run: &Run) -> impl Iterator<Item = Event<'_>> {
    run.events.iter().filter_map(|message| Event::told(message))
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

/// With a true minus.
fn shown(value: f64) -> String {
    number(value, 6).replacen('-', "−", usize::from(value < 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impacts_numbers_are_not_said_twice() {
        let told = "strikes, \"a\" on \"b\": 2 N.s, work -1 J; r_E was clamped to between 0.1 and 0.2";
        let expected = "strikes, \"a\" on \"b\"; r_E was clamped to between 0.1 and 0.2";
        assert_eq!(without_numbers(told), expected);
        assert_eq!(without_numbers("lets go"), "lets go");
    }

    #[test]
    fn the_solvers_counts_are_read_from_its_own_words() {
        let told = grapple::simulation::Statistics {
            steps: 928,
            rejected: 3,
            evaluations: 6188,
            events: 2,
        };
        let expected = [("steps", 928), ("rejected", 3), ("evaluations", 6188), ("events", 2)];
        assert_eq!(counts(&told.to_string()), expected);
    }
}
