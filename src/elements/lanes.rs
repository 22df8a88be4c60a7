//! Elements whose loads are evaluated in the lanes of several runs.

use super::Elements;
use crate::spec::Spec;
use crate::system::System;
use indexmap::IndexMap;

impl Elements {
    /// Returns kind and name of an element that is not evaluated in lanes; `None` without one.
    ///
    /// An element is evaluated in lanes if its loads branch on values only by the methods of
    /// [`Scalar`](crate::algebra::Scalar) that distinguish lanes, and read all parameters as constants
    /// of the scalar.
    pub(crate) fn outside_lanes(&self, spec: &Spec, system: &System) -> Option<String> {
        // Without `..`: a new kind of element is classified here.
        let Self {
            controllers,
            orbits,
            bodies: _,
            attitude_servos,
            joint_servos,
            torques: _,
            dampers: _,
            frictions: _,
            joint_springs: _,
            ball_joint_springs: _,
            drive_trains: _,
            axis_servos: _,
            ball_servos: _,
            modes: _,
            motors,
            dc_motors: _,
            wheels: _,
            cmgs: _,
            tanks,
            ports: _,
            thrusters: _,
            line_loads: _,
            thermal_bending: _,
            exposed_surfaces,
            magnetic_dipoles,
            drives: _,
            sticking: _,
            reactions: _,
            beams: _,
            modal_bodies: _,
            geometrically_exact_beams,
            deflection_limits: _,
            frames: _,
            ancf_beams,
            points,
            measures: _,
            sensors,
            ranges: _,
            contacts,
            closed_loops,
            couplings,
            grasps,
            interfaces,
            springs: _,
            tethers,
            tasks,
            gravity: _,
            signals: _,
            diagnostics: _,
            kinematics: _,
            effective_masses: _,
            commands: _,
            reads: _,
            works_on_bodies: _,
            watched: _,
        } = self;
        let of_joint = |kind: &str, name: &str| Some(format!("the {kind} of joint \"{name}\""));
        let joint = |body: usize| &system.bodies[body].joint.name;
        let fed = joint_servos.iter().find(|servo| servo.fed.is_some());
        let by_wheels = motors.iter().find(|motor| motor.attitude.is_some());
        let drawn = spec.tank.keys().zip(tanks).find(|(_, tank)| tank.is_drawn());
        let is_fed = attitude_servos.iter().any(|servo| servo.wd_ref.is_some());
        let has_beams = !geometrically_exact_beams.is_empty() || !ancf_beams.is_empty() || !points.is_empty();
        let found = [
            (!controllers.is_empty()).then(|| "the controller".to_owned()),
            (!orbits.is_empty()).then(|| "the orbit".to_owned()),
            has_beams.then(|| "an ANCF beam or a geometrically exact beam".to_owned()),
            is_fed.then(|| "the feed-forward of an attitude servo".to_owned()),
            fed.and_then(|servo| of_joint("feed-forward", joint(servo.body))),
            by_wheels.and_then(|motor| of_joint("attitude servo with the wheel", joint(motor.body))),
            drawn.map(|(name, _)| format!("tank \"{name}\" with thrusters")),
            named("exposed_surface", exposed_surfaces, &spec.exposed_surface),
            named("magnetic_dipole", magnetic_dipoles, &spec.magnetic_dipole),
            named("sensor", sensors, &spec.sensor),
            named("contact", contacts, &spec.contact),
            named("loop", closed_loops, &spec.closed_loop),
            named("coupling", couplings, &spec.coupling),
            named("grasp", grasps, &spec.grasp),
            named("interface", interfaces, &spec.interface),
            named("tether", tethers, &spec.tether),
            named("task", tasks, &spec.task),
        ];
        found.into_iter().flatten().next()
    }

    /// Returns true if the outputs, too, can be evaluated in lanes, for a model whose loads
    /// [can](Self::outside_lanes).
    pub(crate) fn are_observed_in_lanes(&self) -> bool {
        self.kinematics.is_empty() && self.effective_masses.is_empty()
    }
}

/// Returns kind and name of the first of these elements.
fn named<E, T>(kind: &str, elements: &[E], section: &IndexMap<String, T>) -> Option<String> {
    elements.first()?;
    let name = section.keys().next().map_or("", String::as_str);
    Some(format!("{kind} \"{name}\""))
}
