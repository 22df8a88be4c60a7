//! Steps of several instances of one model, which advance together.

use super::co_simulation::Step;
use super::{Component, Fault};
use crate::fmu::lifecycle::{Call, Rule, Standard, fmi3};
use crate::integrate::Span;
use crate::plant::{NoLanes, Plant};
use crate::simulation::{LaneRuns, Run};

impl<const N: usize> LaneRuns<N> {
    /// Allocates for one to `N` instances of Co-Simulation.
    ///
    /// # Errors
    /// [`NoLanes`] if they are not instances of one model that runs in lanes.
    ///
    /// # Panics
    /// Without an instance, or with more than `N`.
    pub fn of_components(components: &[&Component]) -> Result<Self, NoLanes> {
        let plants: Vec<&Plant> = components.iter().map(|of| &of.simulation.plant).collect();
        Self::new(&plants)
    }
}

impl Component {
    /// Returns the rule of the function that makes a step in Co-Simulation.
    pub fn step_rule(&self) -> &'static Rule {
        match self.standard {
            Standard::Fmi2 => Call::DoStep.rule(),
            Standard::Fmi3 => fmi3::Call::DoStep.rule(),
        }
    }
}

/// Makes a step of each instance, as [`Component::do_step`], with the same results. The instances are
/// those of `lanes`, in their order; `span` returns the step of an instance, by its number, and `None` if it
/// stays where it is.
pub fn step_together<const N: usize>(
    components: &mut [&mut Component],
    lanes: &mut LaneRuns<N>,
    span: impl Fn(usize, &Component) -> Option<Span>,
) -> Vec<Result<(), Fault>> {
    let begin = |(k, of): (usize, &mut &mut Component)| match span(k, of) {
        Some(Span { t, h }) => begin(of, t, h),
        None => Ok(None),
    };
    let begun: Vec<_> = components.iter_mut().enumerate().map(begin).collect();
    let runs = components.iter_mut().zip(&begun).map(|(of, begun)| {
        let Component { simulation, events, .. } = &mut **of;
        let end = begun.as_ref().ok().copied().flatten().map(|step| step.end);
        Run::new(simulation, end, events)
    });
    let mut runs: Vec<Run> = runs.collect();
    lanes.advance(&mut runs);
    let outcomes: Vec<_> = runs.into_iter().map(|run| run.outcome).collect();
    let ended = components
        .iter_mut()
        .zip(begun)
        .zip(outcomes)
        .map(|((of, begun), outcome)| {
            if let Some(step) = begun? {
                of.end_step(step, outcome)?;
            }
            Ok(())
        });
    ended.collect()
}

fn begin(component: &mut Component, t: f64, h: f64) -> Result<Option<Step>, Fault> {
    component.permit(component.step_rule())?;
    component.begin_step(t, h)
}
