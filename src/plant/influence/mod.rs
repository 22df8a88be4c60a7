mod probe;
mod table;

use super::OutputKind;
use super::model::Model;
use probe::{Limits, Probe, Random};
use std::f64::consts::TAU;
use std::ops::Range;
use table::{Changes, Table};

/// Which known numbers each computed one depends on, as the model's structure gives it.
///
/// It is found on the craft that is written and on random craft of the same structure: what has a partial derivative, at random
/// states, depends. Parameters and switches, which have none, are changed one by one, and what then changes depends on them.
/// Special values of the spec (a mass centre on the axis, a start at rest) hide nothing, for the states are random, and
/// the parameters too.
#[derive(Clone, Debug, PartialEq)]
pub struct Influence {
    /// Of states and inputs on the states' derivatives.
    pub derivatives: Vec<Knowns>,
    /// Of states and inputs on the outputs.
    pub outputs: Vec<Knowns>,
    /// Of parameters and inputs on the initial states.
    pub initial_states: Vec<Knowns>,
    /// Of parameters and inputs on the derivatives of the initial states.
    pub initial_derivatives: Vec<Knowns>,
    /// Of parameters and inputs on the outputs at the start.
    pub initial_outputs: Vec<Knowns>,
}

/// The known numbers that one computed number depends on, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Knowns {
    /// Indices of parameters.
    pub parameters: Vec<usize>,
    /// Indices of states.
    pub states: Vec<usize>,
    /// Indices of the host's inputs.
    pub inputs: Vec<usize>,
    /// Those of the states that enter with a factor that no craft of this structure changes.
    pub constant_states: Vec<usize>,
    /// Those of the inputs.
    pub constant_inputs: Vec<usize>,
}

/// How many random craft are looked at, beside the one that is written.
const CRAFT: u64 = 4;
/// How far states are taken from their start, in nominal values: a joint's range is small beside the second.
const SPREAD: [f64; 2] = [1.0, 20.0];

impl Influence {
    /// Finds what depends on what; none if there is a way to move in which no craft could be evaluated, so that not all is known.
    pub fn of(model: &Model) -> Option<Self> {
        Self::seen(Probe::new(model, 0), model)
    }

    fn seen(mut probe: Probe, model: &Model) -> Option<Self> {
        let (n, p, u) = (model.states.len(), model.parameters.len(), model.sources.len());
        let rows = n + model.outputs.len();
        let outputs = model.outputs.iter().map(|output| &output.quantity);
        let nominals: Vec<f64> = model.derivatives.iter().chain(outputs).map(|of| of.nominal).collect();
        let mut running = Table::new(rows, n + u);
        let mut initial = Table::new(n + rows, p + u);
        // Beams are bent a little only, as their amplitudes' nominal says: their equations hold no further.
        let bends = model.amplitudes();
        let motions = probe.motions();
        // In motion within limits and at them; at the start also where each happens to be.
        let (held, started): (&[Limits], &[Limits]) = match probe.has_limits() {
            true => (
                &[Limits::Within, Limits::At],
                &[Limits::Within, Limits::At, Limits::Own],
            ),
            false => (&[Limits::Own], &[Limits::Own]),
        };
        let mut seen = vec![vec![false; held.len()]; motions.len()];
        let mut seen_starts = vec![false; started.len()];
        for seed in 0..=CRAFT {
            let mut random = Random::new(seed);
            let craft = match seed {
                CRAFT => probe.written(),
                _ => probe.craft(&mut random),
            };
            let Some((parameters, derived)) = craft else {
                continue;
            };
            // Every switch is on: what is switched acts.
            let slots: Vec<f64> = random.vector(u).iter().map(|unit| 0.5 + 0.5 * unit.abs()).collect();
            let Some(start) = probe.start(&parameters, &derived) else {
                continue;
            };
            let turns = SPREAD
                .into_iter()
                .flat_map(|spread| motions.iter().enumerate().map(move |way| (spread, way)));
            for (spread, (way, motions)) in turns {
                probe.switch(motions);
                let slots: Vec<f64> = slots.iter().map(|slot| spread * slot).collect();
                let x = model
                    .states
                    .iter()
                    .zip(&start)
                    .zip(&bends)
                    .map(|((state, start), &bends)| {
                        let spread = if bends { 1.0 } else { spread };
                        start + spread * state.nominal * random.unit()
                    });
                let x: Vec<f64> = x.collect();
                for (limits, seen) in held.iter().zip(&mut seen[way]) {
                    probe.hold(*limits);
                    let Some(now) = probe.values(&parameters, &derived, &x, &slots) else {
                        continue;
                    };
                    let Some(slopes) = probe.slopes((&parameters, &derived), &x, &slots, &running) else {
                        continue;
                    };
                    *seen = true;
                    running.enter_slopes(slopes, model);
                    let mut changes = Changes::new(&now, nominals.iter().copied());
                    for j in 0..u {
                        let mut slots = slots.clone();
                        slots[j] = spread - slots[j];
                        changes.record(n + j, probe.values(&parameters, &derived, &x, &slots));
                    }
                    // A winding tells the turn, and has no derivative either.
                    for j in model.windings() {
                        let mut x = x.clone();
                        x[j] += TAU;
                        changes.record(j, probe.values(&parameters, &derived, &x, &slots));
                    }
                    changes.enter(&mut running);
                }
            }

            probe.switch(&motions[0]);
            // On the written craft, which may be stiff, a difference has too much round-off.
            if seed == CRAFT || model.is_assembled() {
                continue;
            }
            for (limits, seen) in started.iter().zip(&mut seen_starts) {
                probe.hold(*limits);
                let Some(first) = probe.initial(&parameters, &derived, &slots) else {
                    continue;
                };
                *seen = true;
                let states = model.states.iter().map(|state| state.nominal);
                let mut changes = Changes::new(&first, states.chain(nominals.iter().copied()));
                for j in 0..p {
                    let neighbours: Vec<_> = probe.neighbours((&parameters, &derived), j, &mut random).collect();
                    for (parameters, derived) in neighbours {
                        changes.record(j, probe.initial(&parameters, &derived, &slots));
                    }
                }
                for j in 0..u {
                    let mut slots = slots.clone();
                    slots[j] = 1.0 - slots[j];
                    changes.record(p + j, probe.initial(&parameters, &derived, &slots));
                }
                changes.enter(&mut initial);
            }
        }
        // How loops are closed at the start depends on all numbers together.
        if model.is_assembled() {
            (0..n + rows).for_each(|row| (0..p + u).for_each(|known| initial.mark(row, known)));
            seen_starts.fill(true);
        }
        if seen.iter().flatten().chain(&seen_starts).any(|seen| !seen) {
            return None;
        }
        // Of what could not be changed nobody knows on what it acts.
        running.mark_unchanged(n..n + u);
        initial.mark_unchanged(0..p + u);
        // A flag changes at events, and has no derivative.
        for (row, coordinate) in model.flags.iter().copied() {
            for state in model.states_of(coordinate) {
                running.mark(n + row, state);
            }
        }
        // So does what strikes leave behind, and it depends on all that moves and on what strikes.
        for (row, output) in model.outputs.iter().enumerate() {
            if output.kind == OutputKind::Discrete {
                let inputs = model.elements.command_inputs().map(|input| n + input);
                (0..n).chain(inputs).for_each(|known| running.mark(n + row, known));
            }
        }
        // What depends on a state depends at the start on the parameters that the state starts from.
        let is_start = model.is_start();
        for p in (0..p).filter(|&p| is_start[p]) {
            for row in 0..rows {
                if (0..n).any(|k| initial.depends(k, p) && running.depends(row, k)) {
                    initial.mark(n + row, p);
                }
            }
        }
        let running = |rows: Range<usize>| rows.map(|row| running.knowns(row, model, false)).collect();
        let initial = |rows: Range<usize>| rows.map(|row| initial.knowns(row, model, true)).collect();
        Some(Self {
            derivatives: running(0..n),
            outputs: running(n..rows),
            initial_states: initial(0..n),
            initial_derivatives: initial(n..2 * n),
            initial_outputs: initial(2 * n..n + rows),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// What is round-off is seen by moving the states a little; which way they are moved decides nothing, on any example.
    #[test]
    fn round_off_decides_nothing() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
        let mut examples = 0;
        for file in std::fs::read_dir(&folder).expect("the examples") {
            let path = file.expect("a file").path();
            if path.extension().is_none_or(|extension| extension != "toml") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a text");
            let model = Model::read(&text, &folder).expect("a craft");
            let seen = [0, 1, 2].map(|echo| Influence::seen(Probe::new(&model, echo), &model));
            assert!(
                seen[0].is_some() && seen[1] == seen[0] && seen[2] == seen[0],
                "{}",
                path.display()
            );
            examples += 1;
        }
        assert!(examples > 10);
    }
}
