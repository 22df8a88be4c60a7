//! Step-by-step integration.

use super::auto::Auto;
use super::conserving::Conserving;
use super::dense::Dense;
use super::ends::FixedStep;
use super::equations::Equations;
use super::error::IntegrateError;
use super::explicit::Explicit;
use super::lanes::first_not_finite;
use super::linearly_implicit::LinearlyImplicit;
use super::memory::Memory;
use super::method::Method;
use super::method_selection::Candidate;
use super::midpoint::ImplicitMidpoint;
use super::one_step::OneStep;
use super::radau::Radau5;
use super::rosenbrock::Rosenbrock;
use super::settings::Settings;
use super::step::Step;
use super::{Next, Ode, Start, adaptive, bogacki_shampine, dop853, dopri5, fixed, rk4};

/// Integrates step by step with one method; holds the settings and the workspace.
///
/// Does not allocate after [`new`](Stepper::new).
#[derive(Clone, Debug)]
pub struct Stepper {
    settings: Settings,
    work: Work,
    /// Total number of derivative evaluations.
    evaluations: u64,
    /// Value of `evaluations` at the beginning of the call.
    call_start: u64,
}

/// Workspace of the selected method.
#[derive(Clone, Debug)]
enum Work {
    Explicit(Explicit),
    Radau5(Box<Radau5>),
    Rosenbrock(Rosenbrock),
    ImplicitMidpoint(FixedStep<ImplicitMidpoint>),
    LinearlyImplicit(FixedStep<LinearlyImplicit>),
    Conserving(Box<FixedStep<Conserving>>),
    Auto(Box<Auto>),
}

impl Work {
    fn new(settings: &Settings) -> Work {
        let n = settings.n_states();
        match settings.method {
            Method::Dopri5 => Work::Explicit(Explicit::new(&dopri5::TABLEAU, n)),
            Method::BogackiShampine => Work::Explicit(Explicit::new(&bogacki_shampine::TABLEAU, n)),
            Method::Dop853 => Work::Explicit(Explicit::new(&dop853::TABLEAU, n)),
            Method::Rk4 { .. } => Work::Explicit(Explicit::new(&rk4::TABLEAU, n)),
            Method::Radau5 => Work::Radau5(Box::new(Radau5::new(settings))),
            Method::Rosenbrock => Work::Rosenbrock(Rosenbrock::new(n)),
            Method::ImplicitMidpoint { .. } => Work::ImplicitMidpoint(FixedStep::new(n, ImplicitMidpoint::new(n))),
            Method::LinearlyImplicit { .. } => Work::LinearlyImplicit(FixedStep::new(n, LinearlyImplicit::new(n))),
            Method::Conserving { rates, .. } => Work::Conserving(Box::new(FixedStep::new(n, Conserving::new(rates)))),
            Method::Auto(with) => Work::Auto(Box::new(Auto::new(settings, with))),
        }
    }
}

impl Stepper {
    /// Creates a stepper with these settings.
    pub fn new(settings: Settings) -> Stepper {
        Stepper {
            work: Work::new(&settings),
            settings,
            evaluations: 0,
            call_start: 0,
        }
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Takes one step from `(t, x)`, at most to `t_limit`; writes the state at its end into `x`.
    ///
    /// A step that reaches the limit, or nearly so, ends on it: the time is then bit-identical to
    /// `t_limit`. `memory` keeps the step size that the controller selected, which the limit does
    /// not shorten. An infinite limit means no limit.
    ///
    /// # Errors
    ///
    /// See [`IntegrateError`]; `x` is then unchanged. `memory` is also unchanged, with two
    /// exceptions: the next attempt evaluates a new Jacobian, and after a work limit the memory
    /// contains the results of the rejected attempts.
    pub fn step<O: Ode + ?Sized>(
        &mut self,
        ode: &mut O,
        t: f64,
        t_limit: f64,
        x: &mut [f64],
        memory: &mut Memory,
    ) -> Result<Step, IntegrateError<O::Error>> {
        self.check(t, t_limit, x, memory)?;
        let Stepper {
            settings,
            work,
            evaluations,
            call_start,
        } = self;
        let equations = &mut Equations {
            ode,
            evaluations,
            call_start: *call_start,
            limit: settings.max_evaluations,
        };
        let times = (t, t_limit);
        match (work, settings.method.fixed_step()) {
            (Work::Explicit(method), Some(h)) => fixed::step(method, equations, settings, h, times, x, memory),
            (Work::Explicit(method), None) => adaptive::step(method, equations, settings, times, x, memory),
            (Work::ImplicitMidpoint(method), h) => {
                let h = h.expect("the rule has a fixed step");
                fixed::step(method, equations, settings, h, times, x, memory)
            }
            (Work::LinearlyImplicit(method), h) => {
                let h = h.expect("the rule has a fixed step");
                fixed::step(method, equations, settings, h, times, x, memory)
            }
            (Work::Conserving(method), h) => {
                let h = h.expect("its step is fixed");
                fixed::step(method.as_mut(), equations, settings, h, times, x, memory)
            }
            (Work::Rosenbrock(method), _) => adaptive::step(method, equations, settings, times, x, memory),
            (Work::Radau5(method), _) => adaptive::step(method.as_mut(), equations, settings, times, x, memory),
            (Work::Auto(auto), _) => auto.step(equations, settings, times, x, memory),
        }
    }

    /// Returns the attempt that [`step`](Self::step) would make next; `None` if it is not [evaluated
    /// ahead](super::LaneAttempt). `varies` returns true if the equations [vary in
    /// time](Ode::varies_in_time).
    pub fn next(&self, t: f64, t_limit: f64, memory: &Memory, varies: impl FnOnce() -> bool) -> Option<Next> {
        Next::of(&self.settings, t, t_limit, memory, varies)
    }

    /// Returns the start of an [attempt](Self::next) at the time `t` and the state `x`.
    pub fn start<'a>(&'a self, next: Next, t: f64, x: &'a [f64], memory: &'a Memory) -> Start<'a> {
        let dx = match &self.work {
            Work::Explicit(method) => method.known_start(t, x),
            Work::Auto(auto) => auto.known_start(next, t, x),
            _ => None,
        };
        let g = &memory.rows;
        Start { next, x, dx, g }
    }

    /// Returns the dense output of the last accepted step.
    ///
    /// Costs 3 evaluations per step with [`Method::Dop853`], 2 with [`Method::ImplicitMidpoint`],
    /// [`Method::LinearlyImplicit`] and [`Method::Conserving`], none with the others. Must be
    /// called before inputs, parameters or discrete states change. The work limit includes these
    /// evaluations.
    ///
    /// # Errors
    ///
    /// [`IntegrateError::NoStep`] if the last [`step`](Stepper::step) has failed, or after
    /// [`invalidate`](Stepper::invalidate); a failure of the model in one of the evaluations.
    pub fn dense<O: Ode + ?Sized>(&mut self, ode: &mut O) -> Result<Dense<'_>, IntegrateError<O::Error>> {
        let equations = &mut Equations {
            ode,
            evaluations: &mut self.evaluations,
            call_start: self.call_start,
            limit: self.settings.max_evaluations,
        };
        match &mut self.work {
            Work::Explicit(method) => inside(method, equations),
            Work::Radau5(method) => inside(method.as_mut(), equations),
            Work::Rosenbrock(method) => inside(method, equations),
            Work::ImplicitMidpoint(method) => inside(method, equations),
            Work::LinearlyImplicit(method) => inside(method, equations),
            Work::Conserving(method) => inside(method.as_mut(), equations),
            Work::Auto(auto) => match auto.taken {
                Candidate::Dopri5 => inside(auto.explicit(), equations),
                Candidate::Rosenbrock => inside(&mut auto.rosenbrock, equations),
                Candidate::Radau5 => inside(&mut auto.radau5, equations),
            },
        }
    }

    /// Discards all stored derivatives. Required after a change of inputs, parameters or discrete
    /// states; not after a change of `t` or `x` alone, which are compared bit by bit.
    ///
    /// The Jacobian in the memory is kept: it need not be exact while Newton's iteration converges
    /// fast.
    pub fn invalidate(&mut self) {
        match &mut self.work {
            Work::Explicit(method) => method.invalidate(),
            Work::Radau5(method) => method.invalidate(),
            Work::Rosenbrock(method) => method.invalidate(),
            Work::ImplicitMidpoint(method) => method.invalidate(),
            Work::LinearlyImplicit(method) => method.invalidate(),
            Work::Conserving(method) => method.invalidate(),
            Work::Auto(auto) => auto.invalidate(),
        }
    }

    /// Begins a call (in Co-Simulation one `fmi2DoStep`): the work limit counts evaluations from
    /// here.
    pub fn begin_call(&mut self) {
        self.call_start = self.evaluations;
    }

    /// Returns the number of derivative evaluations since [`begin_call`](Self::begin_call). A
    /// Jacobian counts as one evaluation per state, a derivative reused from an earlier call as
    /// one.
    pub fn evaluations(&self) -> u64 {
        self.evaluations - self.call_start
    }

    fn check<E>(&self, t: f64, t_limit: f64, x: &[f64], memory: &Memory) -> Result<(), IntegrateError<E>> {
        if !(t.is_finite() && t_limit > t) {
            return Err(IntegrateError::LimitNotAhead { t, t_limit });
        }
        let expected = self.settings.n_states();
        if x.len() != expected {
            return Err(IntegrateError::WrongLength {
                expected,
                found: x.len(),
            });
        }
        let expected = Memory::size_for(&self.settings);
        if memory.size() != expected {
            return Err(IntegrateError::WrongMemory {
                expected,
                found: memory.size(),
            });
        }
        match first_not_finite(x) {
            Some(component) => Err(IntegrateError::StateNotFinite { t, component }),
            None => Ok(()),
        }
    }
}

/// Returns the dense output of a method's last accepted step.
fn inside<'a, M: OneStep, O: Ode + ?Sized>(
    method: &'a mut M,
    equations: &mut Equations<O>,
) -> Result<Dense<'a>, IntegrateError<O::Error>> {
    let (t, h) = method.last_step().ok_or(IntegrateError::NoStep)?;
    match method.dense(equations) {
        Ok(dense) => dense.ok_or(IntegrateError::NoStep),
        Err(failure) => Err(failure.at(t, h)),
    }
}
