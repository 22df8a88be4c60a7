//! Resting contact: points that stay in contact by unilateral constraints, with dry friction.

use super::manifold::Manifold;
use super::rim::{QUARTERS, RimState, rims_of};
use super::shape::{Solid, box_corner};
use super::{Contact, ContactLaw, Trigger};
use crate::algebra::{Pose, Scalar, Vec3};
use crate::elements::{Cursor, Discrete, Elements, Outputs, Stored};
use crate::spec;
use crate::system::{Carrier, Configuration, FrameRef, ParamId, Quantity, System, Unit};

/// Sliding speed that counts as zero, m/s: it is far above the round-off of velocities, and a point
/// that slides at it for a minute moves by 60 nm.
pub(crate) const NO_SLIP: f64 = 1e-9;

/// Value of an event indicator of a point without force or without sliding: positive, as it causes
/// no event.
pub(super) const NO_EVENT: f64 = 1.0;

/// Points of a contact that may rest, with the gains of their constraints.
#[derive(Clone, Copy, Debug)]
pub struct Rest {
    /// Index of the first point among those of all contacts that may rest.
    pub first: usize,
    /// Number of points.
    pub count: usize,
    /// Index among the contacts whose points are on rims; `None` for points that are fixed in a.
    pub rims: Option<usize>,
    /// Place of its points in the discrete state, for two polyhedra; `None` for other contacts.
    pub manifold: Option<Manifold>,
    /// Speed of approach up to which an impact is plastic, m/s.
    pub(super) speed: ParamId,
    pub(super) alpha: ParamId,
    pub(super) beta: ParamId,
}

/// State of a point that may rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RestState {
    pub hold: Hold,
    /// Direction in which the sliding began or was last followed, unit vector in axes of b; zero
    /// unless the point slides with friction.
    pub direction: Vec3<f64>,
    /// Force on a when the constraint was last determined, N, axes of b. Where forces are not
    /// unique, those nearest to these are taken.
    pub reference: Vec3<f64>,
}

/// Constraint of a point that may rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Hold {
    /// The point transmits no force.
    #[default]
    Free = 0,
    /// The point has no velocity relative to b.
    Sticking = 1,
    /// The point slides, or is on the verge of it: the friction has its limit.
    Sliding = 2,
}

impl Stored for RestState {
    fn write(&self, to: &mut impl FnMut(f64)) {
        let Self {
            hold,
            direction,
            reference,
        } = self;
        (*hold as i32).write(to);
        direction.write(to);
        reference.write(to);
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        let hold = match i32::read(next)? {
            0 => Hold::Free,
            1 => Hold::Sticking,
            2 => Hold::Sliding,
            _ => return None,
        };
        Some(Self {
            hold,
            direction: Vec3::read(next)?,
            reference: Vec3::read(next)?,
        })
    }
}

/// Force of a point that may rest, at one instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointForce<S: Scalar> {
    /// Vector from the origin of a to the point, m, world axes.
    pub from_a: Vec3<S>,
    /// Normal from b towards a, world axes.
    pub n: Vec3<S>,
    /// Velocity of a relative to b along the surface, m/s, world axes.
    pub slip: Vec3<S>,
    /// Force on a, N, world axes.
    pub force: Vec3<S>,
    /// Normal force, N.
    pub normal: S,
}

impl<S: Scalar> PointForce<S> {
    /// Returns the state of a point without force.
    pub fn none() -> Self {
        let zero = Vec3::zeros();
        Self {
            from_a: zero,
            n: zero,
            slip: zero,
            force: zero,
            normal: S::zero(),
        }
    }
}

/// Geometry of a point: a ball touches a plane or a sphere that is fixed in b.
pub(super) struct Ball {
    /// Centre, m, axes of a.
    pub centre: Vec3<f64>,
    /// Radius of the rim about `centre` on which the ball is (m), and the point's number on it; `None`
    /// for a ball that is fixed in a.
    pub rim: Option<(f64, usize)>,
    /// Radius, m; zero for a corner.
    pub radius: f64,
    pub base: Base,
}

/// Surface of b.
pub(super) enum Base {
    /// Plane through the origin of b with this unit normal, axes of b.
    Plane(Vec3<f64>),
    /// Sphere of this radius (m) about the origin of b.
    Sphere(f64),
}

impl Rest {
    /// Returns Baumgarte's gains α and β of the points' constraints, 1/s.
    pub fn gains(&self, parameters: &[f64]) -> [f64; 2] {
        [self.alpha.of(parameters), self.beta.of(parameters)]
    }

    /// Returns the parameter indices of the gains α and β.
    pub(in crate::elements) fn gain_ids(&self) -> [ParamId; 2] {
        [self.alpha, self.beta]
    }

    /// Returns the speed of approach up to which an impact is plastic, m/s.
    pub fn speed(&self, parameters: &[f64]) -> f64 {
        self.speed.of(parameters)
    }

    /// Returns the indices of its points among those of all contacts that may rest.
    pub fn points(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.count
    }

    /// Returns the number of points of a contact that may rest.
    pub fn count_of(written: &spec::Contact) -> usize {
        use spec::ContactShapeType::{Box, Capsule, Cone, Cylinder, Disc, Mesh};
        let Some(shape) = &written.shape_a else { return 1 };
        if written.has_polyhedra() {
            let shapes = written.shape_a.iter().chain(&written.shape_b);
            return shapes.map(|shape| shape.most_corners()).sum();
        }
        match shape.kind {
            Box => 8,
            Capsule => 2,
            Cone if shape.end_radius.unwrap_or(0.0) == 0.0 => QUARTERS + 1,
            Cylinder | Cone => 2 * QUARTERS,
            Disc => QUARTERS,
            // A mesh without a hull is reported when a spec is read.
            Mesh => shape.hull().map_or(1, |hull| hull.vertices.len()),
            _ => 1,
        }
    }

    /// Returns true if the points of a contact that may rest are on rims.
    pub fn has_rims(written: &spec::Contact) -> bool {
        use spec::ContactShapeType::{Cone, Cylinder, Disc};
        let shape = written.shape_a.as_ref().map(|shape| shape.kind);
        matches!(shape, Some(Cone | Cylinder | Disc))
    }
}

impl Elements {
    /// Returns all points with contact detection, in the order of their numbers: the index of their
    /// contact, the contact and the point's index in it.
    pub fn detections(&self) -> impl Iterator<Item = (usize, &Contact, usize)> {
        let contacts = self.contacts.iter().enumerate();
        contacts.flat_map(|(index, contact)| (0..contact.point_count()).map(move |point| (index, contact, point)))
    }

    /// Returns all points that may rest, in the order of their numbers: their contact, its data and
    /// the point's index in it.
    pub fn rests(&self) -> impl Iterator<Item = (&Contact, Rest, usize)> {
        let rests = self
            .contacts
            .iter()
            .filter_map(|contact| Some((contact, contact.rest?)));
        rests.flat_map(|(contact, rest)| (0..rest.count).map(move |point| (contact, rest, point)))
    }

    /// Returns the number of contacts that may rest with points on rims.
    pub fn rim_count(&self) -> usize {
        let rests = self.contacts.iter().filter_map(|contact| contact.rest);
        rests.filter(|rest| rest.rims.is_some()).count()
    }

    /// Returns the number of contacts of polyhedra that may rest, and that of all their points.
    pub fn manifold_counts(&self) -> [usize; 2] {
        let rests = || self.contacts.iter().filter_map(|contact| contact.rest);
        let with_manifolds = || rests().filter(|rest| rest.manifold.is_some());
        [with_manifolds().count(), with_manifolds().map(|rest| rest.count).sum()]
    }

    /// Returns an upper bound of the number of independent scalar constraints of captures, loops,
    /// couplings and points that may rest; a contact between bodies has at most six.
    pub fn most_independent_rows(&self, system: &System) -> usize {
        let on_beam = |frame: FrameRef| matches!(system.carrier(frame), Carrier::Point(_));
        let of_contacts = self.contacts.iter().filter_map(|contact| {
            let rows = 3 * contact.rest?.count;
            let has_all = on_beam(contact.a) || on_beam(contact.b);
            Some(if has_all { rows } else { rows.min(6) })
        });
        self.most_rows() - 3 * self.resting_points() + of_contacts.sum::<usize>()
    }

    /// Returns the number of points that may rest and of contacts with [`Stiction`](super::Stiction).
    pub fn rest_points(&self) -> usize {
        self.resting_points() + self.stictions().count()
    }

    /// Returns the largest number of scalar constraints of these points: three of a point that rests,
    /// two of a contact with [`Stiction`](super::Stiction).
    pub fn point_rows(&self) -> usize {
        3 * self.resting_points() + 2 * self.stictions().count()
    }

    /// Returns the number of points that may rest.
    pub fn resting_points(&self) -> usize {
        self.contacts
            .iter()
            .filter_map(|contact| Some(contact.rest?.count))
            .sum()
    }
}

impl Contact {
    /// Returns the coefficients of restitution and friction of a contact that may rest.
    pub(crate) fn rest_coefficients(&self, parameters: &[f64]) -> [f64; 2] {
        match self.law {
            ContactLaw::Restitution { e, mu, .. } => [e.of(parameters), mu.of(parameters)],
            _ => [0.0; 2],
        }
    }

    pub(super) fn ball(&self, point: usize, parameters: &[f64]) -> Ball {
        let normal = || {
            let written = self.normal.and_then(|normal| normal.direction(parameters));
            Base::Plane(written.unwrap_or_else(Vec3::zeros))
        };
        match &self.trigger {
            Trigger::Command(_) => Ball {
                centre: Vec3::zeros(),
                rim: None,
                radius: 0.0,
                base: normal(),
            },
            Trigger::Touch(_, surface) => {
                let radius = |id: Option<ParamId>| id.map_or(0.0, |id| id.of(parameters));
                Ball {
                    centre: Vec3::zeros(),
                    rim: None,
                    radius: radius(surface.radius_a),
                    base: match surface.of_b {
                        spec::Surface::Sphere => Base::Sphere(radius(surface.radius_b)),
                        spec::Surface::Plane | spec::Surface::Disc => normal(),
                    },
                }
            }
            Trigger::Shapes(_, shapes) => {
                let [a, b] = shapes.solids(parameters);
                let mut rim = None;
                let (centre, radius) = match a {
                    Solid::Sphere { radius } => (Vec3::zeros(), radius),
                    Solid::Capsule { radius, half } => (Vec3::z() * if point == 0 { -half } else { half }, radius),
                    Solid::Box { half } => (box_corner(half, point), 0.0),
                    Solid::Hull(hull) => (hull.vertices[point], 0.0),
                    // Others are rejected when a spec is read.
                    _ => {
                        let rims = rims_of(&a).unwrap_or_default();
                        let [radius, z] = rims[point / QUARTERS % 2];
                        rim = Some((radius, point % QUARTERS));
                        (Vec3::z() * z, 0.0)
                    }
                };
                let base = match b {
                    Solid::Sphere { radius } => Base::Sphere(radius),
                    _ => Base::Plane(Vec3::z()),
                };
                Ball {
                    centre,
                    rim,
                    radius,
                    base,
                }
            }
        }
    }

    /// Returns the state of the rims of a contact that may rest; the default one without rims.
    pub(crate) fn rim_state(&self, discrete: &Discrete) -> RimState {
        let rims = self.rest.and_then(|rest| rest.rims);
        rims.map(|rims| discrete.rims[rims]).unwrap_or_default()
    }

    /// Returns the direction into the plane of b, axes of a (unit vector).
    pub(crate) fn down(&self, at: Configuration<f64>) -> Vec3<f64> {
        let [A, B] = self.poses(at);
        -A.R.tr_mul(&B.R.column(2))
    }

    /// Writes the event indicator of the rims, of a contact that may rest with points on rims.
    pub(super) fn indicate_rims(&self, at: Configuration<f64>, discrete: &Discrete, z: &mut Cursor<f64>) {
        if self.rest.is_some_and(|rest| rest.rims.is_some()) {
            z.number(self.rim_state(discrete).indicator(self.down(at)));
        }
    }

    /// Writes the event indicator of the points of two polyhedra that may rest.
    pub(super) fn indicate_manifold(
        &self,
        parameters: &[f64],
        at: Configuration<f64>,
        discrete: &Discrete,
        z: &mut Cursor<f64>,
    ) {
        let Some((rest, manifold)) = self.rest.and_then(|rest| Some((rest, rest.manifold?))) else {
            return;
        };
        let slots = &discrete.slots[manifold.first..manifold.first + rest.count];
        let frames = self.frames_at(parameters, at);
        z.number(frames.indicate_outline(&discrete.face_pair(manifold), slots, parameters));
    }

    /// Writes the event indicators of a point's force (N) and of its sliding (m/s, with friction
    /// only), at the velocities and forces of the point, if these are given.
    pub(super) fn indicate_rest(
        &self,
        parameters: &[f64],
        B: &Pose<f64>,
        state: &RestState,
        at: Option<&PointForce<f64>>,
        z: &mut Cursor<f64>,
    ) {
        let [force, slip] = at.map_or([NO_EVENT; 2], |at| {
            let [_, mu] = self.rest_coefficients(parameters);
            indicators(mu, state, at, B)
        });
        z.number(force);
        if self.has_friction() {
            z.number(slip);
        }
    }

    /// Returns true if a coefficient of friction is written in the spec.
    pub(crate) fn has_friction(&self) -> bool {
        self.rubs
    }

    /// Returns the number of event indicators of each point that may rest.
    pub(super) fn rest_indicators(&self) -> usize {
        1 + usize::from(self.has_friction())
    }

    /// Declares the outputs of the contact force and of the states of the points.
    pub(super) fn rest_outputs(&self, to: &mut Outputs) {
        let (name, [a, _]) = (&self.name, &self.names);
        let force = format!("force of contact {name} on {a} while it rests, sum of all points, inertial axes");
        to.continuous(Quantity::vector(&format!("{name}.force"), Unit::Newton, &force));
        let moment =
            format!("moment of the forces of contact {name} on {a} while it rests, about its origin, inertial axes");
        to.continuous(Quantity::vector(&format!("{name}.moment"), Unit::NewtonMetre, &moment));
        let number = |field: &str, what: &str| {
            let what = format!("number of points of contact {name} that {what}");
            Quantity::new(format!("{name}.{field}"), Unit::One, what)
        };
        to.count(number("resting", "rest or slide"));
        to.count(number("sliding", "slide"));
    }

    /// Returns the sum of the forces of all points on a (N) and of their moments about the origin of
    /// a (N·m), world axes.
    pub(super) fn rest_wrench<S: Scalar>(&self, points: &[PointForce<S>]) -> [Vec3<S>; 2] {
        let mut sum = [Vec3::zeros(); 2];
        for at in self
            .rest
            .iter()
            .flat_map(|rest| rest.points())
            .filter_map(|k| points.get(k))
        {
            sum[0] += at.force;
            sum[1] += at.from_a.cross(&at.force);
        }
        sum
    }

    /// Returns the numbers of points that transmit a force, and of those of them that slide.
    pub(super) fn resting(&self, discrete: &Discrete) -> [usize; 2] {
        let holds = || self.rest.iter().flat_map(|rest| &discrete.rests[rest.points()]);
        [
            holds().filter(|state| state.hold != Hold::Free).count(),
            holds().filter(|state| state.hold == Hold::Sliding).count(),
        ]
    }
}

/// Returns the event indicators of the force (N) and of the sliding (m/s) of a point with the
/// coefficient of friction `mu`; `B` is the pose of b. They are not positive once the state is no
/// longer valid.
pub(crate) fn indicators(mu: f64, state: &RestState, at: &PointForce<f64>, B: &Pose<f64>) -> [f64; 2] {
    let friction = at.force - at.n * at.normal;
    match state.hold {
        Hold::Free => [NO_EVENT; 2],
        Hold::Sticking => [mu * at.normal - friction.norm(), NO_EVENT],
        Hold::Sliding if state.direction == Vec3::zeros() => [at.normal, NO_EVENT],
        // The angle between the direction of sliding and that in which it began stays below 60°.
        Hold::Sliding => {
            let along = (B.R * state.direction).dot(&at.slip);
            [at.normal, along - 0.5 * at.slip.norm() + NO_SLIP]
        }
    }
}
