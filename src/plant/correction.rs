use super::{Discrete, Evaluation, Model, Plant};
use crate::Error;
use crate::system::{Derived, JointModel};

impl Plant {
    /// Corrects `g`, which stands for the states' derivatives in the middle of a step from the states `x0`, at the time `t` (s) and `theta` (s)
    /// after its start. `middle` is room for states.
    ///
    /// Of the equations of motion `M v̇ = F`, what resists on single rates ([`Loads::resist`](crate::loads::Loads::resist)), with stiffnesses `K` and damping `C`,
    /// is taken where the new derivatives lead, everything else where the old ones do:
    ///
    /// ```text
    ///     (M + θ C + θ² K) v̇ = F + (θ C + θ² K) v̇₀
    /// ```
    ///
    /// with the old `v̇₀` and all of `F` and `M` at `x₀ + θ g`. So it is Newton's iteration for `g = f(t, x₀ + θ g)`, without the derivatives
    /// of all other loads and of inertia, and the recursion solves it in O(n) as it does forward dynamics: `θ C + θ² K` is
    /// [added inertia](crate::dynamics::Applied::inertia).
    ///
    /// # Errors
    /// [`Error::Singular`], with the name.
    pub fn correct(
        &mut self,
        (t, theta): (f64, f64),
        (x0, u, discrete): (&[f64], &[f64], &Discrete),
        g: &mut [f64],
        middle: &mut [f64],
    ) -> Result<(), Error> {
        let numbers = (&self.derived, self.parameters.as_slice());
        let given = (x0, u, discrete);
        let corrected = self
            .evaluation
            .correct(&self.model, numbers, (t, theta), given, g, middle);
        self.evaluation.applied.inertia.fill(0.0);
        corrected
    }
}

impl Evaluation<f64> {
    fn correct(
        &mut self,
        model: &Model,
        (derived, parameters): (&Derived, &[f64]),
        (t, theta): (f64, f64),
        (x0, u, discrete): (&[f64], &[f64], &Discrete),
        g: &mut [f64],
        middle: &mut [f64],
    ) -> Result<(), Error> {
        let (numbers, system) = ((derived, parameters), &model.system);
        for ((middle, x0), g) in middle.iter_mut().zip(x0).zip(&*g) {
            *middle = x0 + theta * g;
        }
        // Coordinates go where the rates in the middle lead.
        let (to, here) = (model.split_mut(g), model.split_mut(middle));
        system.q_dot(derived, (&*here.positions, &*here.rates), &mut *to.positions);
        for ((middle, x0), g) in here.positions.iter_mut().zip(x0).zip(&*to.positions) {
            *middle = x0 + theta * g;
        }
        self.listen(model, numbers, t, (u, discrete));
        self.stand(model, numbers, middle);
        let here = model.split(&*middle);
        let at = (here.positions, here.rates);
        let power = self.load(model, numbers, (at, discrete))?;

        let around = (self.orbit.as_ref(), &self.kinematics);
        let now = model.instant(numbers, around, (at.0, at.1, &self.slots), &discrete.modes);
        let inertia = &mut self.applied.inertia;
        model.loads.resist(&now, |rate, of| {
            inertia[rate] += theta * (of.damping + theta * of.stiffness)
        });
        for (body, constants) in system.bodies.iter().zip(&derived.bodies) {
            // The recursion adds none there.
            if let JointModel::Free(_) = constants.joint {
                inertia[body.joint.v..body.joint.v + body.joint.nv].fill(0.0);
            }
        }
        let rates = model.split(&*g).rates;
        for ((tau, inertia), v_dot) in self.applied.tau.iter_mut().zip(&*inertia).zip(rates) {
            *tau += inertia * v_dot;
        }
        self.accelerate(model, (derived, Some(parameters)), (power, discrete), middle, g)?;
        let (from, to, here) = (model.split(x0), model.split_mut(g), model.split_mut(middle));
        for ((middle, x0), g) in here.rates.iter_mut().zip(from.rates).zip(&*to.rates) {
            *middle = x0 + theta * g;
        }
        system.q_dot(derived, (&*here.positions, &*here.rates), to.positions);
        Ok(())
    }
}
