use super::{Gradient, TreeAdjoint};
use crate::algebra::{Twist, Vec3, Wrench};
use crate::dynamics::recursive::ForwardDynamics;
use crate::system::Configuration;

/// Attitude of a free root body whose angular acceleration is given: a moment on the body is the
/// reaction.
#[derive(Clone, Copy, Debug)]
pub struct HeldAttitude {
    /// Index of the body.
    pub body: usize,
    /// Adjoint of the moment, world axes.
    pub moment_bar: Vec3<f64>,
    /// Adjoint `σ` of the given angular acceleration, world axes.
    pub sigma: Vec3<f64>,
}

impl TreeAdjoint {
    /// [`respond`](Self::respond) for held attitudes, whose moments are among the loads of
    /// [`begin`](Self::begin): solves (18) for `λ` and the adjoints `σ` of the accelerations, which
    /// are added to `gradients`.
    pub fn respond_with_held(
        &mut self,
        at: Configuration<f64>,
        dynamics: &mut ForwardDynamics<f64>,
        held: &mut [HeldAttitude],
        gradients: &mut [Gradient],
    ) {
        self.collect(at);
        dynamics.respond(at, &self.load, &mut self.response);
        for HeldAttitude {
            body,
            moment_bar,
            sigma,
        } in &mut *held
        {
            // The solution of the equations of motion reports singular ones.
            if let Ok(moment) = dynamics.turn(*body, &-*moment_bar) {
                *sigma = -moment;
                gradients[*body].acceleration.t -= *sigma;
            }
        }
        if !held.is_empty() {
            dynamics.carry_on(at, &mut self.response);
        }
        self.add_response(at, &dynamics.A, gradients);
    }

    /// Sets `λ` to the `rates`, with the accelerations `A` of the bodies by them, in place of a
    /// solution. Requires [`begin`](Self::begin).
    pub fn respond_as(&mut self, at: Configuration<f64>, A: &[Twist<f64>], rates: &[f64], gradients: &[Gradient]) {
        self.response.copy_from_slice(rates);
        self.add_response(at, A, gradients);
    }

    /// Adds the constant load `F` on a station, about its origin, world axes. Requires `λ`.
    pub fn load_station(&mut self, s: usize, F: Wrench<f64>) {
        let station = &mut self.stations[s];
        station.f = station.f - F;
        station.G[0].t -= station.virtual_motion.w.cross(&F.t);
        station.G[0].f -= F.f.cross(&station.cut.w);
    }

    /// Takes the constant load `F` on a station, about its origin, world axes, from the load on its
    /// body, of which it was part in [`begin`](Self::begin). Requires `λ`.
    pub fn move_to_station(&mut self, at: Configuration<f64>, s: usize, F: Wrench<f64>) {
        self.load_station(s, F);
        let F = F.shift(&at.kinematics.stations[s].r_PB_W);
        let body = &mut self.bodies[at.system.stations[s].body];
        body.own = body.own + F;
        body.f = body.f + F;
    }
}
