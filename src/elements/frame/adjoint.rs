//! Adjoints of the outputs of motions of frames (`docs/theory/adjoint.md`, *Motions of frames*, whose
//! numbers the comments cite).

use super::POSE;
use crate::algebra::{Dual, Mat3, Quaternion, Twist, Vec3, Wrench, roll_pitch_yaw};
use crate::dynamics::recursive::{Gradient, TreeAdjoint};
use crate::elements::outputs::FrameMotion;
use crate::elements::{Elements, Instant, View};
use crate::spec::Spec;
use crate::system::{Carrier, FrameRef, System};

/// Adjoints of the outputs of bodies, frames and relative motions that do not refer to ANCF beams:
/// derivatives of their sum, weighted by seeds, with respect to the motions of bodies and stations.
#[derive(Clone, Debug)]
pub(crate) struct FrameAdjoint {
    /// Index of the first output of each body, each frame and each relative motion.
    first: [Vec<usize>; 3],
    first_of_interfaces: Vec<usize>,
    /// Number of stations.
    stations: usize,
    /// Derivatives with respect to bodies, then stations.
    gradients: Vec<Gradient>,
    /// True if all derivatives are zero.
    are_zero: bool,
    /// True if accelerations have weights other than zero.
    pub has_accelerations: bool,
}

/// Derivatives with respect to the motion of a frame, world axes.
#[derive(Clone, Copy, Debug)]
pub(in crate::elements) struct FrameBar {
    /// With respect to a rotation of the axes and to the position of the origin.
    pub pose: Wrench<f64>,
    /// With respect to the angular velocity and the velocity of the origin.
    pub velocity: Wrench<f64>,
}

/// Adjoints of the loads on carriers.
pub(crate) struct LoadSeeds<'a> {
    /// Adjoint of the equations of motion, after its response.
    pub tree: &'a mut TreeAdjoint,
    /// Adjoint of the power of the loads.
    pub of_power: f64,
}

impl LoadSeeds<'_> {
    /// Returns the weight of a load on a carrier with the motion `V`, about its origin: the adjoint
    /// of the load, and that by its power. It is not defined for points of ANCF beams.
    pub(in crate::elements) fn of_load(&self, on: Carrier, V: &Twist<f64>) -> Twist<f64> {
        let of_wrench = match on {
            Carrier::Body(i) => self.tree.of_wrench(i),
            Carrier::Station(s) => self.tree.of_station(s),
            Carrier::World | Carrier::Point(_) => Twist::zero(),
        };
        of_wrench + *V * self.of_power
    }

    /// Takes the load `F` on a station, about its origin, from the loads on its body, of which it
    /// is part.
    pub(in crate::elements) fn place(&mut self, now: &Instant<f64>, on: Carrier, F: Wrench<f64>) {
        if let Carrier::Station(s) = on {
            self.tree.move_to_station(now.configuration(), s, F);
        }
    }
}

impl FrameBar {
    pub fn zero() -> Self {
        Self {
            pose: Wrench::zero(),
            velocity: Wrench::zero(),
        }
    }
}

impl FrameAdjoint {
    /// Allocates for the elements of a model.
    pub fn new(elements: &Elements, spec: &Spec, system: &System) -> Self {
        let first = elements.first_outputs(spec, system);
        Self {
            first: [first.bodies, first.frames, first.measures],
            first_of_interfaces: first.interfaces,
            stations: system.stations.len(),
            gradients: vec![Gradient::zero(); system.bodies.len() + system.stations.len()],
            are_zero: true,
            has_accelerations: false,
        }
    }

    /// Sets all derivatives to zero.
    pub fn clear(&mut self) {
        if self.are_zero {
            return;
        }
        self.gradients.fill(Gradient::zero());
        self.has_accelerations = false;
        self.are_zero = true;
    }

    /// Adds the derivatives to those with respect to bodies, then stations.
    pub fn add_to(&self, gradients: &mut [Gradient]) {
        if self.are_zero {
            return;
        }
        for (gradient, frame) in gradients.iter_mut().zip(&self.gradients) {
            gradient.pose = gradient.pose + frame.pose;
            gradient.velocity = gradient.velocity + frame.velocity;
            gradient.acceleration = gradient.acceleration + frame.acceleration;
        }
    }

    /// Computes the derivatives of the outputs with the weights `seeds`.
    pub fn weigh(&mut self, view: &View<f64>, seeds: &[f64]) {
        self.clear();
        let elements = view.elements;
        for k in 0..elements.bodies.len() {
            let first = self.first[0][k];
            elements.bodies[k].weigh(view, &seeds[first..], self);
        }
        for k in 0..elements.frames.len() {
            let first = self.first[1][k];
            let frame = FrameRef::Frame(elements.frames[k].0);
            self.add_motion(view, frame, &seeds[first..]);
        }
        for k in 0..elements.measures.len() {
            let first = self.first[2][k];
            elements.measures[k].weigh(view, &seeds[first..], self);
        }
    }

    /// Adds those of position, attitude, velocity and angular velocity of a frame,
    /// [`observe`](super::observe), (30).
    pub(in crate::elements) fn add_motion(&mut self, view: &View<f64>, frame: FrameRef, seeds: &[f64]) {
        if are_zero(&seeds[..POSE]) {
            return;
        }
        let F = view.frame(frame);
        let mut bar = FrameBar::zero();
        bar.pose.f = vector(seeds, 0);
        bar.pose.t = turn(F.q_WF, &seeds[3..]);
        bar.velocity.f = vector(seeds, 7);
        add_resolved(
            &F.R_WF,
            &F.V_WF.w,
            &vector(seeds, 10),
            &mut bar.velocity.t,
            &mut bar.pose.t,
        );
        self.add(view, frame, &F, &bar);
    }

    /// Adds those with respect to the motion `F` of a frame, (29).
    pub(in crate::elements) fn add(&mut self, view: &View<f64>, frame: FrameRef, F: &FrameMotion<f64>, bar: &FrameBar) {
        self.add_at(&view.now, frame, &F.V_WF.w, bar);
    }

    /// Adds those with respect to the motion of a frame with the angular velocity `w`, (29).
    pub(in crate::elements) fn add_at(&mut self, now: &Instant<f64>, frame: FrameRef, w: &Vec3<f64>, bar: &FrameBar) {
        // A difference of positions would lose digits far from the world's origin.
        let arm = now.configuration().arm(frame).p;
        if let Some(gradient) = self.of_carrier(now.system.carrier(frame)) {
            let moved = bar.pose.f + bar.velocity.f.cross(w);
            gradient.pose = gradient.pose + Wrench::new(bar.pose.t + arm.cross(&moved), bar.pose.f);
            gradient.velocity = gradient.velocity + bar.velocity.shift(&arm);
        }
    }

    /// Adds those of a load on a carrier: with respect to rotations of the carrier, and with
    /// respect to its velocity, by the load's power: the load about the carrier's origin, times the
    /// weight of the power.
    pub(in crate::elements) fn add_load(&mut self, on: Carrier, turn: Vec3<f64>, weighted: &Wrench<f64>) {
        if let Some(gradient) = self.of_carrier(on) {
            gradient.pose.t += turn;
            gradient.velocity = gradient.velocity + *weighted;
        }
    }

    /// Returns the derivatives with respect to a body or station; `None` for other carriers.
    fn of_carrier(&mut self, on: Carrier) -> Option<&mut Gradient> {
        let stations = self.gradients.len() - self.stations;
        self.are_zero = false;
        match on {
            Carrier::Body(i) => self.gradients.get_mut(i),
            Carrier::Station(s) => self.gradients.get_mut(stations + s),
            Carrier::World | Carrier::Point(_) => None,
        }
    }

    /// Adds those of ports and interfaces, and passes the derivatives with respect to inputs, by
    /// their indices, to `of_input`. `y` are the weights of all outputs.
    pub fn weigh_loads(
        &mut self,
        elements: &Elements,
        now: &Instant<f64>,
        seeds: &mut LoadSeeds,
        y: &[f64],
        mut of_input: impl FnMut(usize, f64),
    ) {
        for port in elements.ports.iter().filter(|port| !port.is_on_beam(now.system)) {
            port.weigh(now, seeds, self, &mut of_input);
        }
        for (k, interface) in elements.interfaces.iter().enumerate() {
            let first = self.first_of_interfaces[k];
            interface.weigh(now, seeds, &y[first..], self, &mut of_input);
        }
    }

    /// Adds those of the acceleration of the origin of a body in its own axes, with the weights `s`.
    pub(in crate::elements) fn add_acceleration(&mut self, view: &View<f64>, body: usize, s: &Vec3<f64>) {
        if *s == Vec3::zeros() {
            return;
        }
        self.has_accelerations = true;
        self.are_zero = false;
        let at = &view.now.kinematics.bodies[body];
        let A: Twist<f64> = at.A_bias + view.dynamics.A()[body];
        let gradient = &mut self.gradients[body];
        add_resolved(&at.R_WB, &A.v, s, &mut gradient.acceleration.f, &mut gradient.pose.t);
    }
}

/// Returns true if the outputs of a relative motion or of a frame are differentiated in closed form.
pub(in crate::elements) fn is_on_bodies(system: &System, frame: FrameRef) -> bool {
    !matches!(system.carrier(frame), Carrier::Point(_))
}

/// Returns three seeds from number `first` on.
pub(in crate::elements) fn vector(seeds: &[f64], first: usize) -> Vec3<f64> {
    Vec3::from_column_slice(&seeds[first..first + 3])
}

/// Returns true if all seeds are zero.
pub(in crate::elements) fn are_zero(seeds: &[f64]) -> bool {
    seeds.iter().all(|&seed| seed == 0.0)
}

/// Adds the derivatives of `s·(Rᵀ v)` with respect to `v` to `of_v`, and those with respect to a
/// rotation of the axes to `of_turn`.
pub(in crate::elements) fn add_resolved(
    R: &Mat3<f64>,
    v: &Vec3<f64>,
    s: &Vec3<f64>,
    of_v: &mut Vec3<f64>,
    of_turn: &mut Vec3<f64>,
) {
    let bar = R * s;
    *of_v += bar;
    *of_turn += bar.cross(v);
}

/// Returns the derivative of the sum of the components of an attitude `q_AB` with the weights `bar` with
/// respect to rotations `θ` in axes of A, by which `q` changes by `½ (0, θ) ⊗ q`.
pub(crate) fn turn(q: Quaternion<f64>, bar: &[f64]) -> Vec3<f64> {
    let (v, of_v) = (Vec3::new(q.x, q.y, q.z), vector(bar, 1));
    (of_v * q.w + v.cross(&of_v) - v * bar[0]) * 0.5
}

/// Returns the derivative of roll, pitch and yaw of an attitude `q_AB` with the weights `bar` with
/// respect to rotations in axes of A.
pub(in crate::elements) fn turn_of_angles(q: Quaternion<f64>, bar: &Vec3<f64>) -> Vec3<f64> {
    let Quaternion { w, x, y, z } = q;
    let part = |value: f64, change: [f64; 3]| Dual::<3>::new(value, change.map(|change| 0.5 * change));
    let angles = roll_pitch_yaw(Quaternion::from_slice(&[
        part(w, [-x, -y, -z]),
        part(x, [w, z, -y]),
        part(y, [-z, w, x]),
        part(z, [y, -x, w]),
    ]));
    Vec3::from_fn(|k, _| (0..3).map(|i| bar[i] * angles[i].eps[k]).sum())
}
