//! Sequences of calls on instances in the campaign: valid calls, with invalid ones in between.

use crate::campaign::fuzzing::{Dice, Fuzz};
use crate::campaign::machine::Mode;
use crate::campaign::subject::{Expect, Subject};
use crate::campaign::trace::{euler, event, go_on, read, same};
use crate::driver::{ME, OK};
use grapple::fmu::fmi2::fmi2Status;
use grapple::fmu::lifecycle::Call;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// One sequence of the campaign: about `calls` calls on one instance, from its creation to its end.
pub struct Life<'a, 'b> {
    subject: &'b mut Subject<'a>,
    /// A second instance of the same FMU, to which serialised states are transferred.
    twin: Option<Subject<'a>>,
    /// An instance of another FMU or of the other interface, with a saved state: its pointers and
    /// bytes must be refused.
    stranger: Option<Subject<'a>>,
    dice: Dice,
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
            Mode::Instantiated => self.prepare(),
            Mode::Initialization => self.initialise(),
            Mode::Event => self.handle_event(),
            Mode::ContinuousTime => self.move_on(),
            Mode::StepComplete | Mode::StepFailed => self.step(),
            Mode::Terminated => self.end(),
        }
    }

    fn prepare(&mut self) {
        match self.dice.which(10) {
            0..=2 => self.set_some(),
            3 => self.look(),
            4 | 5 => {
                let start = self.dice.any_of(&[Some(0.0), Some(1.0), Some(-3.5)]);
                let tolerance = self.dice.any_of(&[None, Some(1e-6), Some(1e-3), Some(1e-9)]);
                let stop = self.dice.any_of(&[None, None, Some(100.0)]);
                let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
                self.subject.setup([tolerance, start, stop], &mut fuzz);
            }
            _ => {
                self.plain(Call::EnterInitializationMode);
            }
        }
    }

    fn initialise(&mut self) {
        match self.dice.which(8) {
            0 | 1 => self.set_some(),
            2 => self.look(),
            3 => self.differentiate(),
            4 => self.set_input_derivatives(),
            _ => {
                // With extreme parameters `fmi2ExitInitializationMode` may fail for ever: half of
                // the failed attempts reset the instance.
                if self.plain(Call::ExitInitializationMode) != OK && self.dice.random.random_bool(0.5) {
                    self.plain(Call::Reset);
                }
            }
        }
    }

    fn handle_event(&mut self) {
        match self.dice.which(8) {
            0 => self.set_some(),
            1 => self.look(),
            2 => self.differentiate(),
            3 | 4 => {
                let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
                self.subject.new_discrete_states(&mut fuzz);
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
            4 => {
                self.plain(Call::EnterEventMode);
            }
            5 => self.set_states(),
            6 => {
                let t = self.subject.t;
                let t = self.dice.fuzz().number(t);
                self.subject.set_time(t);
            }
            7 if self.dice.which(10) == 0 => {
                self.plain(Call::Terminate);
            }
            _ => {
                let h = self.dice.step_size();
                let mut fuzz = Fuzz::new(&mut self.dice.random, 0.1 * self.dice.level);
                euler(self.subject, h, &mut fuzz);
            }
        }
    }

    fn step(&mut self) {
        match self.dice.which(12) {
            0 | 1 => self.set_some(),
            2 | 3 => self.look(),
            4 => self.differentiate(),
            5 => self.set_input_derivatives(),
            6 => self.output_derivatives(),
            7 => {
                let calls = [
                    Call::GetStatus,
                    Call::GetRealStatus,
                    Call::GetIntegerStatus,
                    Call::GetBooleanStatus,
                    Call::GetStringStatus,
                ];
                let call = self.dice.any_of(&calls);
                let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
                self.subject.status(call, &mut fuzz);
            }
            8 if self.dice.which(10) == 0 => {
                self.plain(Call::Terminate);
            }
            _ => {
                let (t, h) = (self.subject.t, self.dice.step_size());
                let t = match self.dice.random.random_bool(0.3 * self.dice.level) {
                    true => self.dice.fuzz().number(t),
                    false => t,
                };
                self.subject.do_step(t, h);
            }
        }
    }

    fn end(&mut self) {
        match self.dice.which(4) {
            0 => self.look(),
            1 => self.differentiate(),
            _ => {
                self.plain(Call::Reset);
            }
        }
    }

    /// Saves, restores, serialises and frees states at random.
    fn keep(&mut self) {
        let n = self.subject.saved.len();
        let some = (n > 0).then(|| self.dice.which(n));
        match (self.dice.which(8), some) {
            (0..=1, _) if n < 6 => {
                let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
                self.subject.save(None, &mut fuzz);
            }
            (2, Some(i)) => {
                let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
                self.subject.save(Some(i), &mut fuzz);
            }
            (3, Some(i)) => {
                self.subject.restore(Some(i));
            }
            (4, Some(i)) => self.subject.free_state(Some(i)),
            (5, Some(i)) => {
                let (mode, t) = (self.subject.saved[i].mode, self.subject.saved[i].t);
                let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
                if let Some(bytes) = self.subject.serialize(i, &mut fuzz)
                    && self.subject.saved.len() < 6
                {
                    let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
                    self.subject.deserialize(&bytes, (mode, t), &mut fuzz);
                }
            }
            _ => self.go_back(),
        }
    }

    /// Asserts that a restored state gives the same values and the same next step as the original,
    /// and so do its bytes deserialised in the twin.
    fn go_back(&mut self) {
        let h = self.dice.step_size();
        let mut straight = ChaCha8Rng::seed_from_u64(0);
        let fuzz = &mut Fuzz::new(&mut straight, 0.0);
        let subject = &mut *self.subject;
        subject.save(None, fuzz);
        let i = subject.saved.len() - 1;
        let at = (subject.mode, subject.t);
        let bytes = subject.serialize(i, fuzz).expect("a saved state can be written");
        let mut expected = read(subject);
        expected.extend(go_on(subject, h));
        subject.restore(Some(i));
        let mut again = read(subject);
        again.extend(go_on(subject, h));
        same("a restored state", &expected, &again);
        if let Some(twin) = &mut self.twin {
            twin.deserialize(&bytes, at, fuzz);
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
        match call {
            // The instance is freed at its end; freeing null has no effect.
            FreeInstance => self.subject.elsewhere(call, std::ptr::null_mut()),
            SetDebugLogging => {
                let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
                self.subject.logging(&mut fuzz);
            }
            SetupExperiment => {
                let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
                self.subject.setup([Some(1e-6), Some(0.0), Some(1.0)], &mut fuzz);
            }
            EnterInitializationMode
            | ExitInitializationMode
            | Terminate
            | Reset
            | EnterEventMode
            | EnterContinuousTimeMode
            | CancelStep => {
                self.plain(call);
            }
            GetReal => self.look(),
            GetBoolean => {
                let target = self.subject.target;
                let references = self.dice.fuzz().references(&target.flags, target.count);
                let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
                self.subject.get_boolean(&references, &mut fuzz);
            }
            SetReal => self.set_some(),
            GetInteger | GetString | SetInteger | SetBoolean | SetString => {
                let target = self.subject.target;
                let references = self.dice.fuzz().references(&target.flags, target.count);
                let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
                self.subject.no_such(call, &references, &mut fuzz);
            }
            GetFMUstate if self.subject.saved.len() < 6 => {
                let mut fuzz = Fuzz::new(&mut self.dice.random, 0.5);
                self.subject.save(None, &mut fuzz);
            }
            GetFMUstate | SerializedFMUstateSize | SerializeFMUstate | DeSerializeFMUstate => self.keep(),
            SetFMUstate => {
                let own = self.subject.c;
                match (self.dice.which(3), &self.stranger) {
                    (0, _) => self.subject.mistake(own, false),
                    (1, Some(stranger)) => {
                        let state = stranger.saved[0].state;
                        self.subject.mistake(state, true);
                    }
                    _ => {
                        self.subject.restore(None);
                    }
                }
            }
            FreeFMUstate => self.subject.free_state(None),
            GetDirectionalDerivative => self.differentiate(),
            NewDiscreteStates => {
                let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
                self.subject.new_discrete_states(&mut fuzz);
            }
            CompletedIntegratorStep => {
                let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
                self.subject.completed_step(&mut fuzz);
            }
            SetTime => {
                let t = self.subject.t;
                let t = self.dice.fuzz().odd(t);
                self.subject.set_time(t);
            }
            SetContinuousStates => self.set_states(),
            GetEventIndicators | GetContinuousStates | GetDerivatives | GetNominalsOfContinuousStates => {
                let right = match call {
                    GetEventIndicators => self.subject.target.fmu.indicator_count(),
                    _ => self.subject.target.states.len(),
                };
                let n = self
                    .dice
                    .any_of(&[right, right, 0, 1, right + 1, right.saturating_sub(1)]);
                let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
                self.subject.vector(call, n, &mut fuzz);
            }
            SetRealInputDerivatives => self.set_input_derivatives(),
            GetRealOutputDerivatives => self.output_derivatives(),
            DoStep => {
                let (t, h) = (self.subject.t, self.dice.step_size());
                let mut fuzz = self.dice.fuzz();
                let (t, h) = (fuzz.number(t), fuzz.odd(h));
                self.subject.do_step(t, h);
            }
            GetStatus | GetRealStatus | GetIntegerStatus | GetBooleanStatus | GetStringStatus => {
                let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
                self.subject.status(call, &mut fuzz);
            }
        }
    }

    fn plain(&mut self, call: Call) -> fmi2Status {
        // The default work limit, a million evaluations, takes longer than a test may.
        if call == Call::EnterInitializationMode && self.subject.mode == Mode::Instantiated {
            self.limit_work();
        }
        let open = matches!(call, Call::ExitInitializationMode | Call::EnterContinuousTimeMode);
        self.subject.plain(call, if open { Expect::Open } else { Expect::Good })
    }

    fn limit_work(&mut self) {
        let limit = self.dice.any_of(&[30.0, 100.0, 300.0, 1000.0]);
        let mut fuzz = Fuzz::new(&mut self.dice.random, 0.0);
        self.subject
            .set_real(&[self.subject.target.work_limit], &[limit], &mut fuzz);
    }

    /// Sets some inputs, parameters or (in Model Exchange) states.
    fn set_some(&mut self) {
        let target = self.subject.target;
        let of = match self.dice.which(if self.subject.kind == ME { 3 } else { 2 }) {
            0 => &target.inputs,
            1 => &target.parameters,
            _ => &target.states,
        };
        let references = self.dice.fuzz().references(of, target.count);
        let values = self.values_of(&references);
        let mut fuzz = Fuzz::new(&mut self.dice.random, 0.3 * self.dice.level);
        self.subject.set_real(&references, &values, &mut fuzz);
    }

    /// Returns values for these variables: start or nominal values with small changes, or arbitrary
    /// numbers.
    fn values_of(&mut self, references: &[u32]) -> Vec<f64> {
        let (target, level) = (self.subject.target, self.dice.level);
        let registry = &target.fmu.registry;
        let mut fuzz = Fuzz::new(&mut self.dice.random, level);
        let values = references.iter().map(|&reference| {
            let slot = registry.slot(reference);
            let variable = registry.variables().nth(reference as usize).filter(|_| slot.is_some());
            let usual = variable.map_or(1.0, |v| v.start.unwrap_or(v.quantity.nominal));
            let value = fuzz.number(usual);
            // A step with a work limit of 1e18 evaluations might never end.
            match reference == target.work_limit {
                true => value.min(1000.0),
                false => value,
            }
        });
        values.collect()
    }

    /// Reads some variables at random.
    fn look(&mut self) {
        let target = self.subject.target;
        let references = self.dice.fuzz().references(&target.reals, target.count);
        let level = self.dice.level;
        let mut fuzz = Fuzz::new(&mut self.dice.random, 0.3 * level);
        match fuzz.chance(0.2) {
            true => {
                let flags = fuzz.references(&target.flags, target.count);
                self.subject.get_boolean(&flags, &mut fuzz);
            }
            false => {
                self.subject.get_real(&references, &mut fuzz);
            }
        }
    }

    fn differentiate(&mut self) {
        let (target, level) = (self.subject.target, self.dice.level);
        let starting = self.subject.mode == Mode::Initialization;
        let mut fuzz = Fuzz::new(&mut self.dice.random, level);
        let unknowns = fuzz.references(&target.unknowns, target.count);
        let of = match fuzz.chance(0.5) {
            true => &target.inputs,
            false if starting => &target.parameters,
            false => &target.states,
        };
        // A derivative with respect to a parameter takes at least twenty evaluations.
        let mut knowns = fuzz.references(of, target.count);
        knowns.truncate(if starting { 2 } else { 40 });
        let seeds: Vec<f64> = knowns.iter().map(|_| fuzz.number(1.0)).collect();
        fuzz.level *= 0.3;
        self.subject.directional(&unknowns, &knowns, &seeds, &mut fuzz);
    }

    fn set_states(&mut self) {
        let n = self.subject.target.states.len();
        let mut straight = ChaCha8Rng::seed_from_u64(0);
        let (status, mut x) = self
            .subject
            .vector(Call::GetContinuousStates, n, &mut Fuzz::new(&mut straight, 0.0));
        if status != OK {
            x = vec![0.5; n];
        }
        let level = self.dice.level;
        let mut fuzz = Fuzz::new(&mut self.dice.random, 0.1 * level);
        let moved = fuzz.random.random_range(0.0..1.0);
        for x in &mut x {
            if fuzz.chance(moved * level) {
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

    fn set_input_derivatives(&mut self) {
        let target = self.subject.target;
        let references = self.dice.fuzz().references(&target.inputs, target.count);
        let mut fuzz = Fuzz::new(&mut self.dice.random, self.dice.level);
        let values: Vec<f64> = references.iter().map(|_| fuzz.number(0.5)).collect();
        fuzz.level *= 0.3;
        self.subject.set_input_derivatives(&references, &values, &mut fuzz);
    }

    fn output_derivatives(&mut self) {
        let target = self.subject.target;
        let references = self.dice.fuzz().references(&target.unknowns, target.count);
        let mut fuzz = Fuzz::new(&mut self.dice.random, 0.3 * self.dice.level);
        self.subject.output_derivatives(&references, &mut fuzz);
    }
}
