use super::solved::Solved;
use super::{
    Body, DirectorConstants, Elastic, Joint, JointModel, Location, NodalConstants, OrbitConstants, ParamId, Parameter,
    RigidMass, StationConstants, System, joint,
};
use crate::Problem;
use crate::algebra::{Lanes, Pose, Quaternion, Scalar, Sym3, Transposed, Vec3, transposed};
use crate::error::rounded;
use crate::nodal::Site;
use crate::spec::{JointType, problem};
use std::sync::Arc;

/// Constants of the dynamics, computed from the parameters' values.
#[derive(Clone, Debug)]
pub struct Derived<C: Scalar = f64> {
    /// Constants of each body.
    pub bodies: Vec<BodyConstants<C>>,
    /// Reflected rotor inertia of each rate, kg·m² or kg.
    pub rotor_inertia: Vec<C>,
    /// Constants of each named frame.
    pub frames: Vec<FrameConstants<C>>,
    /// Constants of each station.
    pub stations: Vec<StationConstants<C>>,
    /// Constants of each geometrically exact beam.
    pub directors: Vec<DirectorConstants>,
    /// Constants of each ANCF beam.
    pub nodal: Vec<NodalConstants>,
    /// Location of each point of the ANCF beams.
    pub sites: Vec<Site>,
    /// The reference orbit.
    pub orbit: Option<OrbitConstants>,
    /// Constants with the ANCF beams in grippers as rigid parts of the bodies that hold them, for
    /// feed-forward torques; `None` without such torques and beams.
    pub with_held_beams: Option<Arc<Self>>,
    /// Constants of the spacecraft of a controller with tasks; `None` for other specs.
    pub spacecraft: Option<Arc<Self>>,
    /// For each body, its beam with the computed modes, if it has one.
    beams: Vec<Option<Arc<Solved>>>,
}

/// Constants of a body and of its joint.
#[derive(Clone, Debug)]
pub struct BodyConstants<C: Scalar = f64> {
    /// Mass, kg.
    pub m: C,
    /// Mass centre from the body's origin, m, body axes.
    pub p_BoBcm: Vec3<C>,
    /// Inertia about the mass centre, kg·m², body axes.
    pub I_Bcm: Sym3<C>,
    /// First moment of mass about the body's origin, `m p_BoBcm`, kg·m, body axes.
    pub h: Vec3<C>,
    /// Inertia about the body's origin, kg·m², body axes.
    pub J_Bo: Sym3<C>,
    /// Joint's origin from that of its carrier (the parent, or a station on it), m, parent axes.
    pub p_PF: Vec3<C>,
    /// The joint.
    pub joint: JointModel<C>,
    /// Elastic constants, if the body is flexible.
    pub elastic: Option<Box<Elastic<C>>>,
}

/// Constant pose of a frame in its carrier: its body or, on a flexible body, its station.
#[derive(Clone, Copy, Debug)]
pub struct FrameConstants<C: Scalar = f64> {
    /// Pose in the carrier: position from its origin, m.
    pub X_BF: Pose<C>,
    /// Attitude in the carrier.
    pub q_BF: Quaternion<C>,
}

transposed! {
    BodyConstants { m, p_BoBcm, I_Bcm, h, J_Bo, p_PF, joint, elastic }
    FrameConstants { X_BF, q_BF }
}

impl Transposed for Derived {
    type InLanes<const N: usize> = Derived<Lanes<N>>;

    /// Combines the constants of trees; `None` also if there are others, which have no lanes: those of
    /// orbits, of ANCF beams and geometrically exact beams, and of the spacecraft of controllers.
    fn transposed<const N: usize>(runs: [&Self; N]) -> Option<Derived<Lanes<N>>> {
        let is_tree = |run: &Self| {
            run.directors.is_empty()
                && run.nodal.is_empty()
                && run.sites.is_empty()
                && run.orbit.is_none()
                && run.with_held_beams.is_none()
                && run.spacecraft.is_none()
        };
        if !runs.iter().all(|run| is_tree(run)) {
            return None;
        }
        Some(Derived {
            bodies: Transposed::transposed(runs.map(|run| &run.bodies))?,
            rotor_inertia: Transposed::transposed(runs.map(|run| &run.rotor_inertia))?,
            frames: Transposed::transposed(runs.map(|run| &run.frames))?,
            stations: Transposed::transposed(runs.map(|run| &run.stations))?,
            directors: Vec::new(),
            nodal: Vec::new(),
            sites: Vec::new(),
            orbit: None,
            with_held_beams: None,
            spacecraft: None,
            beams: Vec::new(),
        })
    }
}

impl Derived {
    /// Returns the total mass of bodies and ANCF beams, kg.
    pub fn mass(&self) -> f64 {
        let beams = self.nodal.iter().map(|beam| beam.m);
        self.bodies.iter().map(|body| body.m).chain(beams).sum()
    }
}

impl System {
    /// Computes the constants and validates the parameters; every problem is reported, with its
    /// value.
    ///
    /// `before` are earlier parameter values and their constants: the modes of beams whose
    /// parameters have not changed since are copied.
    pub fn derive(
        &self,
        declared: &[Parameter],
        values: &[f64],
        before: Option<(&[f64], &Derived)>,
        problems: &mut Vec<Problem>,
    ) -> Derived {
        let mut validator = Validator {
            declared,
            values,
            problems,
        };
        let known = |i: usize, body: &Body| {
            let ((old, derived), beam) = (before?, body.beam.as_ref()?);
            let same = old[beam.shape()] == values[beam.shape()];
            derived.beams[i].clone().filter(|_| same)
        };
        let bodies = self.bodies.iter().enumerate();
        let beams: Vec<Option<Arc<Solved>>> = bodies
            .map(|(i, body)| known(i, body).or_else(|| validator.beam(body).map(Arc::new)))
            .collect();
        let stations: Vec<StationConstants> = (0..self.stations.len())
            .map(|s| self.derive_station(s, values, &beams, before))
            .collect();
        let directors: Vec<DirectorConstants> = (self.directors.iter())
            .map(|beam| beam.derive(declared, values, validator.problems))
            .collect();
        let bodies = self.bodies.iter().zip(&beams).enumerate();
        let bodies = bodies
            .map(|(i, (body, solved))| validator.body(self, i, body, solved.as_deref(), &stations, &directors))
            .collect();
        let mut rotor_inertia = vec![0.0; self.nv];
        for body in &self.bodies {
            if let Some(id) = body.joint.rotor_inertia {
                for k in 0..body.joint.nv {
                    let id = id.nth(k);
                    rotor_inertia[body.joint.v + k] = id.of(values);
                }
            }
        }
        let frames = self.frames.iter().map(|frame| {
            let q_BF = validator.attitude(frame.orientation);
            if let Some(node) = self.node_pose(frame.body, &directors) {
                let X_BF = Pose::from_parts(q_BF, frame.origin.vector(values));
                let X_BF = node.inverse().compose(&X_BF);
                let q_BF = Quaternion::from_rotation(&X_BF.R);
                return FrameConstants { X_BF, q_BF };
            }
            let node = self.node_place(frame.body, &directors);
            let p = frame.origin.vector(values) - frame.station.map_or(node, |s| stations[s].written);
            FrameConstants {
                X_BF: Pose::from_parts(q_BF, p),
                q_BF,
            }
        });
        let frames = frames.collect();
        let orbit = self
            .orbit
            .as_ref()
            .map(|orbit| orbit.derive(declared, values, problems));
        let epoch = orbit.as_ref().map(|orbit| orbit.at(0.0));
        let (nodal, sites) = self.derive_nodal(declared, values, epoch.as_ref(), problems);
        Derived {
            bodies,
            rotor_inertia,
            frames,
            stations,
            directors,
            nodal,
            sites,
            orbit,
            with_held_beams: None,
            spacecraft: None,
            beams,
        }
    }

    /// Computes the constants of station `s`, or copies them from `before` if its beam and location
    /// have not changed.
    fn derive_station(
        &self,
        s: usize,
        values: &[f64],
        beams: &[Option<Arc<Solved>>],
        before: Option<(&[f64], &Derived)>,
    ) -> StationConstants {
        let station = &self.stations[s];
        if let (Location::Near(point), Some(data)) = (station.location, &self.bodies[station.body].modal) {
            return data.nearest(&point.vector(values)).0.constants().clone();
        }
        let Some(solved) = &beams[station.body] else {
            return StationConstants::default();
        };
        let known = before.filter(|(_, derived)| match &derived.beams[station.body] {
            Some(other) => Arc::ptr_eq(other, solved),
            None => false,
        });
        match (station.location, known) {
            (Location::Near(point), Some((old, derived))) if point.vector(old) == point.vector(values) => {
                derived.stations[s].clone()
            }
            (Location::Near(point), _) => solved.near(&point.vector(values)),
            (Location::Tip, Some((_, derived))) => derived.stations[s].clone(),
            (Location::Tip, None) => {
                let beam = self.bodies[station.body].beam.as_ref();
                StationConstants {
                    is_aligned: beam.is_some_and(|beam| beam.orientation().is_none()),
                    ..solved.tip()
                }
            }
        }
    }
}

/// Validates parameters and collects the problems.
struct Validator<'a> {
    declared: &'a [Parameter],
    values: &'a [f64],
    problems: &'a mut Vec<Problem>,
}

impl Validator<'_> {
    fn report(&mut self, id: ParamId, what: String) {
        self.problems.push(Problem {
            at: self.declared[id.0].at.clone(),
            what,
        });
    }

    fn body(
        &mut self,
        system: &System,
        index: usize,
        body: &Body,
        solved: Option<&Solved>,
        stations: &[StationConstants],
        directors: &[DirectorConstants],
    ) -> BodyConstants {
        let (values, before) = (self.values, self.problems.len());
        let (m, p_BoBcm, I_Bcm) = match (body.mass, solved) {
            (Some(mass), _) => self.rigid_mass(system, index, mass),
            (None, Some(solved)) => solved.about_centre(),
            (None, None) if let Some(index) = body.director => {
                system.directors[index].node(values, &directors[index], body.segment)
            }
            // The modes of the beam could not be computed, which has been reported: placeholders.
            (None, None) => (1.0, Vec3::zeros(), Sym3::isotropic(1.0)),
        };
        let node = |body: usize| system.node_place(body, directors);
        // Position of the node that carries the body, from the origin of the parent in the spec.
        let from_root = body.parent.map_or_else(Vec3::zeros, node);
        let mut p_PF = match body.joint.origin {
            Some(id) => id.vector(values) - body.station.map_or(from_root, |s| stations[s].written),
            None => node(index) - from_root,
        };
        let mut q_PM = self.attitude(body.joint.orientation);
        // On a curved beam `written` is the joint's pose in the stress-free shape, in axes of the
        // root.
        if let Some(X_P) = body.parent.and_then(|parent| system.node_pose(parent, directors)) {
            let written = body.joint.origin.map(|id| Pose::from_parts(q_PM, id.vector(values)));
            let at_rest = written.or_else(|| system.node_pose(index, directors).copied());
            let X_PM = X_P.inverse().compose(&at_rest.unwrap_or(*X_P));
            (p_PF, q_PM) = (X_PM.p, Quaternion::from_rotation(&X_PM.R));
        }
        let mut constants = BodyConstants {
            m,
            p_BoBcm,
            I_Bcm,
            h: p_BoBcm * m,
            J_Bo: I_Bcm + Sym3::point_mass(m, &p_BoBcm),
            p_PF,
            joint: self.joint(&body.joint, q_PM),
            elastic: None,
        };
        if let (Some(beam), Some(solved)) = (&body.beam, solved) {
            let elastic = solved.elastic(&constants, |k| beam.damping_ratio(values, k));
            if !elastic.fits(&constants) {
                let (m_beam, centre, own) = solved.about_centre();
                let [[x, y, z], [xx, yy, zz]] = [centre.into(), own.d].map(|v: [f64; 3]| v.map(|x| rounded(x, 4)));
                self.report(
                    body.mass.map_or(beam.place(), |mass| mass.inertia),
                    format!(
                        "the modes of \"{}\" carry more momentum than its mass ({m} kg), mass centre and inertia allow; the beam \
                         alone has {} kg, its mass centre at [{x}, {y}, {z}] m and [{xx}, {yy}, {zz}] kg·m² about it: check \
                         that the inertia is about the mass centre, and the origin and attitude of the beam's root",
                        body.name,
                        rounded(m_beam, 4)
                    ),
                );
            }
            constants.elastic = Some(Box::new(elastic));
        }
        if let Some(data) = &body.modal {
            let elastic = data.elastic(values, &constants);
            // A wrong or missing mass has been reported.
            if body.mass.is_some() && self.problems.len() == before && !elastic.fits(&constants) {
                let what = data.misfit(&constants);
                self.problems
                    .push(problem("body", &body.name, "modal.participation", what));
            }
            constants.elastic = Some(Box::new(elastic));
        }
        constants
    }

    fn rigid_mass(&mut self, system: &System, index: usize, mass: RigidMass) -> (f64, Vec3<f64>, Sym3<f64>) {
        let m = mass.m.of(self.values);
        if m <= 0.0 {
            let body = &system.bodies[index];
            let ends_a_chain = body.parent.is_some() && !system.bodies.iter().any(|b| b.parent == Some(index));
            let hint = if ends_a_chain {
                ": a body at the end of a chain needs a mass; if it only marks a position, make it a [frame]"
            } else {
                ""
            };
            self.report(mass.m, format!("the mass {m} kg is not positive{hint}"));
        }
        let i = mass.inertia.0;
        let [xx, yy, zz, xy, xz, yz] = std::array::from_fn(|k| self.values[i + k]);
        let I_Bcm = Sym3 {
            d: [xx, yy, zz],
            o: [xy, xz, yz],
        };
        self.inertia(mass.inertia, &I_Bcm);
        (m, mass.centre.vector(self.values), I_Bcm)
    }

    /// Returns the beam of a body with its modes; `None` without a beam or with invalid parameters.
    fn beam(&mut self, body: &Body) -> Option<Solved> {
        let beam = body.beam.as_ref()?;
        let q_BR = self.attitude(beam.orientation());
        match beam.solve(self.values, q_BR, body.segment) {
            Ok(solved) => Some(solved),
            Err(error) => {
                let mut at = self.declared[beam.place().0].at.clone();
                at.pop();
                // A parameter that violates its bound is reported separately.
                let mut own = self
                    .declared
                    .iter()
                    .zip(self.values)
                    .filter(|(p, _)| p.at.starts_with(&at));
                let is_reported = own.any(|(p, &value)| p.quantity.bound.broken_by(value).is_some());
                at.extend(beam.is_tabulated().then(|| "sections".to_owned()));
                // An error of one segment may recur in the following ones; it is reported once.
                if !is_reported && !self.problems.iter().any(|problem| problem.at == at) {
                    let what = match body.segment {
                        0 => error.to_string(),
                        segment => format!("segment {}: {error}", segment + 1),
                    };
                    self.problems.push(Problem { at, what });
                }
                None
            }
        }
    }

    /// Validates a rigid body's inertia: principal moments are positive, and none exceeds the sum
    /// of the other two.
    fn inertia(&mut self, id: ParamId, I_Bcm: &Sym3<f64>) {
        let mut moments = I_Bcm.full().symmetric_eigenvalues();
        moments.as_mut_slice().sort_by(f64::total_cmp);
        let [low, middle, high] = [moments[0], moments[1], moments[2]];
        if low <= 0.0 {
            self.report(
                id,
                format!(
                    "the inertia is not positive definite: its principal moments are {low}, {middle}, {high} kg·m²"
                ),
            );
        } else if high > (low + middle) * (1.0 + 1e-9) {
            self.report(
                id,
                format!(
                    "no rigid body has this inertia: its principal moments {low}, {middle}, {high} kg·m² violate the triangle \
                    inequality ({high} > {low} + {middle})"
                ),
            );
        }
    }

    fn joint(&mut self, joint: &Joint, q_PM: Quaternion<f64>) -> JointModel {
        let R_PM = q_PM.rotation();
        // The axis of a drive train's rotor is that of its joint, where it is reported.
        let axis = R_PM
            * match (joint.axis, &joint.drives) {
                (None, _) => Vec3::z(),
                (Some(id), None) => self.direction(id),
                (Some(id), Some(_)) => id.direction(self.values).unwrap_or_else(Vec3::z),
            };
        match joint.kind {
            JointType::Fixed => JointModel::Fixed(joint::Fixed::new(q_PM)),
            JointType::Revolute => {
                let ratio = joint.ratio.map_or(1.0, |id| id.of(self.values));
                if let Some(id) = joint.ratio.filter(|_| ratio == 0.0) {
                    self.report(id, "a ratio of zero turns nothing".to_owned());
                }
                JointModel::Revolute(joint::Revolute::new(axis, ratio, q_PM))
            }
            JointType::Prismatic => JointModel::Prismatic(joint::Prismatic::new(axis, q_PM)),
            JointType::Cylindrical => JointModel::Cylindrical(joint::Cylindrical::new(axis, q_PM)),
            JointType::Screw => {
                let pitch = joint.pitch.map_or(0.0, |id| id.of(self.values));
                if let Some(id) = joint.pitch.filter(|_| pitch == 0.0) {
                    self.report(id, "a screw joint without travel is a revolute joint".to_owned());
                }
                JointModel::Screw(joint::Screw::new(axis, pitch, q_PM))
            }
            JointType::Planar => JointModel::Planar(Box::new(joint::Planar::new(&axis, q_PM))),
            JointType::Rectangular => JointModel::Rectangular(joint::Rectangular::new(q_PM)),
            JointType::Cartesian => JointModel::Cartesian(joint::Cartesian::new(q_PM)),
            JointType::Spherical => {
                self.start_attitude(joint);
                JointModel::Spherical(joint::Spherical::new(q_PM))
            }
            JointType::Universal => {
                let axis2 = joint.axis2.map_or_else(Vec3::zeros, |id| R_PM * self.direction(id));
                if let Some(id) = joint.axis2
                    && axis.cross(&axis2).norm() < 1e-6
                {
                    self.report(id, "the two axes of the universal joint are parallel".to_owned());
                }
                JointModel::Universal(Box::new(joint::Universal::new(axis, axis2, q_PM)))
            }
            JointType::Free => {
                self.start_attitude(joint);
                JointModel::Free(match joint.written {
                    true => joint::Free::new(q_PM),
                    false => joint::Free::unwritten(),
                })
            }
        }
    }

    fn direction(&mut self, id: ParamId) -> Vec3<f64> {
        id.direction(self.values).unwrap_or_else(|| {
            let [x, y, z] = id.vector(self.values).into();
            self.report(id, format!("the axis [{x}, {y}, {z}] has zero length"));
            Vec3::z()
        })
    }

    fn attitude(&mut self, id: Option<ParamId>) -> Quaternion<f64> {
        let Some(id) = id else {
            return Quaternion::identity();
        };
        let q = id.quaternion(self.values);
        if q.norm_squared() < 1e-12 {
            self.report(id, format!("the quaternion {:?} has zero norm", q.to_array()));
            return Quaternion::identity();
        }
        q.normalised()
    }

    fn start_attitude(&mut self, joint: &Joint) {
        self.attitude(joint.q_start);
    }
}
