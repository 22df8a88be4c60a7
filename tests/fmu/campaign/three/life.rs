//! Sequences of calls of FMI 3.0: valid calls, with invalid ones in between.

use super::subject::Subject;
use super::trace::{euler, event, go_on, read, straight};
use crate::campaign::OK;
use crate::campaign::fuzzing::{Dice, Fuzz};
use crate::campaign::trace::same;
use crate::driver::{CS, Log, ME};
use crate::fmi3::modes::Of;
use grapple::fmu::lifecycle::fmi3::Call;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// One sequence of the campaign on one instance.
pub struct Life<'a, 'b> {
    subject: &'b mut Subject<'a>,
    /// A second instance of the same kind, to which serialised states are transferred.
    twin: Option<Subject<'a>>,
    /// An instance of another FMU or of the other interface, with a saved state that must be refused.
    stranger: Option<Subject<'a>>,
    dice: Dice,
    /// True if the last step has reported an event.
    is_event: bool,
}

impl<'a, 'b> Life<'a, 'b> {
    pub fn new(
        subject: &'b mut Subject<'a>,
        [twin, stranger]: [Option<Subject<'a>>; 2],
        random: ChaCha8Rng,
        level: f64,
    ) -> Self {
        Self {
            subject,
            twin,
            stranger,
            dice: Dice { random, level },
            is_event: false,
        }
    }

    /// Makes one valid or invalid call or a group of calls.
    pub fn act(&mut self) {
        if self.dice.random.random_bool(self.dice.level) {
            return self.stray();
        }
        if self.dice.random.random_bool(0.15) {
            return self.keep();
        }
        match self.subject.mode {
            'i' => self.prepare(),
            'n' => self.initialise(),
            'e' => self.handle_event(),
            'c' => self.move_on(),
            's' => self.step(),
            _ => self.end(),
        }
    }

    fn prepare(&mut self) {
        match self.dice.which(8) {
            0..=2 => self.set_some(),
            3 => self.look(),
            _ => {
                // The default work limit, a million evaluations, takes longer than a test may.
                let limit = self.dice.any_of(&[30.0, 100.0, 300.0, 1000.0]);
                let work_limit = self.subject.target.work_limit;
                straight(|fuzz| self.subject.set_floats(&[work_limit], &[limit], fuzz));
                let start = self.dice.any_of(&[None, Some(0.0), Some(1.0), Some(-3.5)]);
                let tolerance = self.dice.any_of(&[None, Some(1e-6), Some(1e-3), Some(1e-9)]);
                let stop = self.dice.any_of(&[None, None, Some(100.0)]);
                let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
                self.subject.initialise([tolerance, start, stop], &mut fuzz);
            }
        }
    }

    fn initialise(&mut self) {
        match self.dice.which(8) {
            0 | 1 => self.set_some(),
            2 => self.look(),
            3 => self.differentiate(),
            _ => {
                // With extreme parameters the initialisation may fail for ever.
                let status = self.subject.plain(Call::ExitInitializationMode);
                if status != OK && self.dice.random.random_bool(0.5) {
                    self.subject.plain(Call::Reset);
                }
            }
        }
    }

    fn handle_event(&mut self) {
        match self.dice.which(8) {
            0 => self.set_some(),
            1 => self.look(),
            2 => self.differentiate(),
            3 => {
                let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
                self.subject.update_discrete_states(&mut fuzz);
            }
            _ => {
                let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
                event(self.subject, &mut fuzz);
            }
        }
    }

    fn move_on(&mut self) {
        match self.dice.which(16) {
            0 => self.set_some(),
            1 | 2 => self.look(),
            3 => self.differentiate(),
            4 => _ = self.subject.plain(Call::EnterEventMode),
            5 => self.set_states(),
            6 => {
                let t = self.subject.t;
                let t = self.dice.fuzz().number(t);
                self.subject.set_time(t);
            }
            7 if self.dice.which(10) == 0 => _ = self.subject.plain(Call::Terminate),
            _ => {
                let h = self.dice.step_size();
                let mut fuzz = Fuzz::new(&mut self.dice.random, 0.1 * self.dice.level);
                euler(self.subject, h, &mut fuzz);
            }
        }
    }

    fn step(&mut self) {
        if std::mem::take(&mut self.is_event) && self.dice.random.random_bool(0.8) {
            self.subject.plain(Call::EnterEventMode);
            return;
        }
        match self.dice.which(12) {
            0 | 1 => self.set_some(),
            2 | 3 => self.look(),
            4 => self.differentiate(),
            5 => {
                let target = self.subject.target;
                let references = self.dice.fuzz().references(&target.three.unknowns, target.count_three);
                let mut fuzz = Fuzz::new(&mut self.dice.random, 0.3 * self.dice.level);
                self.subject.output_derivatives(&references, &mut fuzz);
            }
            6 if self.subject.kind.has_events() => _ = self.subject.plain(Call::EnterEventMode),
            7 if self.dice.which(10) == 0 => _ = self.subject.plain(Call::Terminate),
            _ => {
                let (t, h) = (self.subject.t, self.dice.step_size());
                let t = match self.dice.random.random_bool(0.3 * self.dice.level) {
                    true => self.dice.fuzz().number(t),
                    false => t,
                };
                let (_, end) = self.subject.do_step(t, h);
                self.is_event = end.is_some_and(|end| end.event);
            }
        }
    }

    fn end(&mut self) {
        match self.dice.which(4) {
            0 => self.look(),
            1 => self.differentiate(),
            _ => _ = self.subject.plain(Call::Reset),
        }
    }

    /// Saves, restores, serialises and frees states at random.
    fn keep(&mut self) {
        let n = self.subject.saved.len();
        let some = (n > 0).then(|| self.dice.which(n));
        let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
        match (fuzz.random.random_range(0..8), some) {
            (0..=1, _) if n < 6 => _ = self.subject.save(None, &mut fuzz),
            (2, Some(i)) => _ = self.subject.save(Some(i), &mut fuzz),
            (3, Some(i)) => {
                self.subject.restore(Some(i));
                self.is_event = false;
            }
            (4, Some(i)) => self.subject.free_state(Some(i)),
            (5, Some(i)) => {
                let at = (self.subject.saved[i].mode, self.subject.saved[i].t);
                if let Some(bytes) = self.subject.serialize(i, &mut fuzz).filter(|_| n < 6) {
                    self.subject.deserialize(&bytes, at, &mut fuzz);
                }
            }
            (6, _) => self.pass_on(),
            _ => self.go_back(),
        }
    }

    /// Asserts that a restored state gives the same values and the same next step as the original,
    /// and so do its bytes deserialised in the twin.
    fn go_back(&mut self) {
        let h = self.dice.step_size();
        let subject = &mut *self.subject;
        subject.save_plainly();
        let i = subject.saved.len() - 1;
        let at = (subject.mode, subject.t);
        let bytes = straight(|fuzz| subject.serialize(i, fuzz)).expect("a saved state can be written");
        let mut expected = read(subject);
        expected.extend(go_on(subject, h));
        subject.restore(Some(i));
        let mut again = read(subject);
        again.extend(go_on(subject, h));
        same("a restored state", &expected, &again);
        if let Some(twin) = &mut self.twin {
            straight(|fuzz| twin.deserialize(&bytes, at, fuzz));
            twin.restore(Some(0));
            let mut there = read(twin);
            there.extend(go_on(twin, h));
            same("a state's bytes in another instance", &expected, &there);
            twin.free_state(Some(0));
        }
        if self.dice.random.random_bool(0.5) {
            self.subject.restore(Some(i));
        }
        self.subject.free_state(Some(i));
        self.is_event = false;
    }

    /// Asserts that an instance of FMI 2.0 restores the bytes of the present state, and that its own
    /// state has bytes that this instance restores, with the same values.
    fn pass_on(&mut self) {
        let subject = &mut *self.subject;
        subject.save_plainly();
        let i = subject.saved.len() - 1;
        let bytes = straight(|fuzz| subject.serialize(i, fuzz)).expect("a saved state can be written");
        let (log, target) = (Log::new(), subject.target);
        let kind = if subject.kind.of == Of::ModelExchange { ME } else { CS };
        let two = target.fmu.instance_with_log(&log, kind);
        let (status, state) = two.deserialize(&bytes);
        assert_eq!(status, OK, "{:?}", log.take());
        two.restore(state);
        two.free_state(state);
        let back = two.bytes();
        let expected = read(subject);
        let mode = match (subject.mode, subject.kind.of) {
            ('e', Of::CoSimulation | Of::CoSimulationWithEvents) => 's',
            (mode, _) => mode,
        };
        straight(|fuzz| subject.deserialize(&back, (mode, subject.t), fuzz));
        let j = subject.saved.len() - 1;
        subject.restore(Some(j));
        same("a state that FMI 2.0 has passed on", &expected, &read(subject));
        subject.restore(Some(i));
        subject.free_state(Some(j));
        subject.free_state(Some(i));
    }

    /// Makes any call, legal or not in the current mode, or one on a foreign pointer.
    fn stray(&mut self) {
        use Call::*;
        let call = Call::ALL[self.dice.which(Call::ALL.len())];
        if self.dice.random.random_bool(0.2) {
            let n = self.subject.saved.len();
            let other = (n > 0 && self.dice.random.random_bool(0.5)).then(|| self.dice.which(n));
            let other = other.map_or(std::ptr::null_mut(), |i| self.subject.saved[i].state);
            return self.subject.elsewhere(call, other);
        }
        let target = self.subject.target;
        let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
        match call {
            // The instance is freed at its end; freeing null has no effect.
            FreeInstance => self.subject.elsewhere(call, std::ptr::null_mut()),
            SetDebugLogging => self.subject.logging(&mut fuzz),
            EnterInitializationMode if self.subject.mode == 'i' => self.prepare(),
            EnterInitializationMode => {
                self.subject.initialise([Some(1e-6), Some(0.0), Some(1.0)], &mut fuzz);
            }
            ExitInitializationMode | Terminate | Reset | EnterEventMode | EnterContinuousTimeMode | EnterStepMode => {
                self.subject.plain(call);
            }
            GetFloat64 => self.look(),
            GetBoolean => {
                let references = fuzz.references(&target.three.booleans, target.count_three);
                self.subject.get_booleans(&references, &mut fuzz);
            }
            GetInt32 => {
                let references = fuzz.references(&target.three.integers, target.count_three);
                self.subject.get_integers(&references, &mut fuzz);
            }
            SetFloat64 => self.set_some(),
            SetBoolean => {
                let references = fuzz.references(&target.three.boolean_inputs, target.count_three);
                self.subject.set_booleans(&references, &mut fuzz);
            }
            SetInt32 => {
                let references = fuzz.references(&target.three.integer_inputs, target.count_three);
                self.subject.set_integers(&references, &mut fuzz);
            }
            GetFMUState if self.subject.saved.len() < 6 => {
                fuzz.level = 0.5;
                self.subject.save(None, &mut fuzz);
            }
            GetFMUState | SerializedFMUStateSize | SerializeFMUState | DeserializeFMUState => self.keep(),
            SetFMUState => {
                let own = self.subject.c;
                match (fuzz.random.random_range(0..3), &self.stranger) {
                    (0, _) => self.subject.mistake(own, false),
                    (1, Some(stranger)) => self.subject.mistake(stranger.saved[0].state, true),
                    _ => _ = self.subject.restore(None),
                }
            }
            FreeFMUState => self.subject.free_state(None),
            GetDirectionalDerivative | GetAdjointDerivative => self.differentiate(),
            UpdateDiscreteStates => _ = self.subject.update_discrete_states(&mut fuzz),
            CompletedIntegratorStep => _ = self.subject.completed_step(&mut fuzz),
            SetTime => {
                let t = fuzz.odd(self.subject.t);
                self.subject.set_time(t);
            }
            SetContinuousStates => self.set_states(),
            GetEventIndicators
            | GetContinuousStates
            | GetContinuousStateDerivatives
            | GetNominalsOfContinuousStates => {
                let right = match call {
                    GetEventIndicators => target.fmu.indicator_count(),
                    _ => target.state_count,
                };
                let n = fuzz
                    .any(&[right, right, 0, 1, right + 1, right.saturating_sub(1)])
                    .unwrap_or(0);
                self.subject.vector(call, n, &mut fuzz);
            }
            GetOutputDerivatives => {
                let references = fuzz.references(&target.three.unknowns, target.count_three);
                self.subject.output_derivatives(&references, &mut fuzz);
            }
            DoStep => {
                let (t, h) = (fuzz.number(self.subject.t), fuzz.odd(0.01));
                self.subject.do_step(t, h);
            }
            call => self.subject.empty(call),
        }
    }

    /// Sets some inputs, parameters or (in Model Exchange) states.
    fn set_some(&mut self) {
        let target = self.subject.target;
        if self.dice.random.random_bool(0.3) {
            let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
            let booleans = fuzz.references(&target.three.boolean_inputs, target.count_three);
            let integers = fuzz.references(&target.three.integer_inputs, target.count_three);
            fuzz.level *= 0.3;
            self.subject.set_booleans(&booleans, &mut fuzz);
            return self.subject.set_integers(&integers, &mut fuzz);
        }
        let is_run = !matches!(self.subject.mode, 'i' | 'n');
        let of = match self.dice.which(if self.subject.kind.of == Of::ModelExchange {
            3
        } else {
            2
        }) {
            0 => &target.three.float_inputs,
            1 if is_run => &target.tunable,
            1 => &target.parameters,
            _ => &target.states,
        };
        let level = self.dice.level;
        let mut fuzz = Fuzz::new(&mut self.dice.random, level);
        let references = fuzz.references(of, target.count_three);
        let registry = &target.fmu.registry;
        let elements = references
            .iter()
            .flat_map(|&vr| (0..target.length(vr)).map(move |k| vr + k as u32));
        let values = elements.map(|reference| {
            let variable = registry.variables().nth(reference as usize);
            let usual = variable.map_or(1.0, |v| v.start.unwrap_or(v.quantity.nominal));
            let value = fuzz.number(usual);
            // A step with a work limit of 1e18 evaluations might never end.
            if reference == target.work_limit {
                value.min(1000.0)
            } else {
                value
            }
        });
        let values: Vec<f64> = values.collect();
        fuzz.level = 0.3 * level;
        self.subject.set_floats(&references, &values, &mut fuzz);
    }

    /// Reads some variables at random.
    fn look(&mut self) {
        let target = self.subject.target;
        let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
        match fuzz.chance(0.2) {
            true => {
                let booleans = fuzz.references(&target.three.booleans, target.count_three);
                let integers = fuzz.references(&target.three.integers, target.count_three);
                self.subject.get_booleans(&booleans, &mut fuzz);
                self.subject.get_integers(&integers, &mut fuzz);
            }
            false => {
                let references = fuzz.references(&target.three.floats, target.count_three);
                fuzz.level *= 0.3;
                self.subject.get_floats(&references, &mut fuzz);
            }
        }
    }

    /// Computes directional or adjoint derivatives.
    fn differentiate(&mut self) {
        let is_adjoint = self.dice.random.random_bool(0.5);
        let target = self.subject.target;
        let starting = self.subject.mode == 'n';
        let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
        let unknowns = fuzz.references(&target.three.unknowns, target.count_three);
        let of = match fuzz.random.random_range(0..3) {
            0 => &target.three.float_inputs,
            1 => {
                if starting {
                    &target.parameters
                } else {
                    &target.tunable
                }
            }
            _ => &target.states,
        };
        // A derivative with respect to a parameter takes at least twenty evaluations.
        let mut knowns = fuzz.references(of, target.count_three);
        knowns.truncate(2);
        let (call, seeded) = if is_adjoint {
            (Call::GetAdjointDerivative, &unknowns)
        } else {
            (Call::GetDirectionalDerivative, &knowns)
        };
        let seeds: Vec<f64> = (0..target.size(seeded)).map(|_| fuzz.number(1.0)).collect();
        fuzz.level *= 0.3;
        self.subject.derivative(call, &unknowns, &knowns, &seeds, &mut fuzz);
    }

    fn set_states(&mut self) {
        let n = self.subject.target.state_count;
        let (status, mut x) = straight(|fuzz| self.subject.vector(Call::GetContinuousStates, n, fuzz));
        if status != OK {
            x = vec![0.5; n];
        }
        let level = self.dice.level;
        let mut fuzz = Fuzz::new(&mut self.dice.random, 0.1 * level);
        for x in &mut x {
            if fuzz.chance(0.1 * level) {
                *x = fuzz.odd(*x);
            } else if fuzz.chance(0.3) {
                *x += fuzz.random.random_range(-0.01..0.01);
            }
        }
        if fuzz.chance(level * 0.1) {
            x.push(0.0);
        }
        self.subject.set_states(&x, &mut fuzz);
    }
}
