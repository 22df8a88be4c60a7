use super::element::{FrameField, Report, Table};
use super::{ContactShape, ContactShapeType, Method, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest number of points of a contact that may rest: each has event indicators.
const MOST_REST_POINTS: usize = 64;

/// Largest number of corners of a face of a polyhedron on which another one may rest.
const MOST_FACE_CORNERS: usize = 31;

/// Contact of two frames. When the input `<contact>.impact` rises above 0.5, an impulse acts
/// between them at that instant. For a law that captures, the input is `<contact>.capture`, and the
/// frames stay connected as long as it is above 0.5. With a `surface` the impact occurs whenever
/// the surfaces touch, without a command; a law that captures then does so at the first touch while
/// `<contact>.capture` is above 0.5. The law `compliant` is a contact force in place of an impact.
/// In place of a `surface`, both frames may have shapes with dimensions: `shape_a` and `shape_b`.
///
/// The impulse acts on `a` at the midpoint between the two origins or surfaces (for a capture, at
/// the origin of `a`), and its reverse on `b`. The outputs `<contact>.impulse[1..3]` and the others
/// of the impact keep their values until the next one. `docs/contacts.md` describes the laws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contact {
    /// Frame or body on which the impulse acts. For a law that captures also an ANCF beam or a
    /// frame on it.
    pub a: String,
    /// Frame, body or `world` (at its origin) on which the reverse of the impulse acts. If `a` is
    /// on an ANCF beam, also an ANCF beam or a frame on it.
    pub b: String,
    /// Normal from `b` towards `a`, in axes of `b`. Any length but zero. For the surface `sphere`
    /// the normal is the line of centres, and this field has no effect. Default `[0, 0, 1]`.
    #[serde(default = "super::default::z")]
    pub normal: [f64; 3],
    /// Surface of `b`, whose contact with `a` is detected. Default: none, impact on command only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface: Option<Surface>,
    /// Shape of `a`, whose contact with `shape_b` is detected. Default with a `shape_b`: `a` is a
    /// point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape_a: Option<ContactShape>,
    /// Shape of `b`, in place of `surface`, `radius_a`, `radius_b` and `normal`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape_b: Option<ContactShape>,
    /// Radius of a sphere about the origin of `a`, m, not negative. For the surfaces `plane` and
    /// `sphere`. Default: none, `a` is a point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius_a: Option<f64>,
    /// Radius of the `surface`, m, positive. Required for the surfaces `sphere` and `disc`, and
    /// only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius_b: Option<f64>,
    /// Law of the impact, the capture or the contact force. Default `restitution`.
    #[serde(default)]
    pub law: ImpactLaw,
    /// Coefficient of restitution, 0 (plastic) to 1 (elastic): ratio of the normal velocities
    /// (`restitution`), or root of the ratio of the normal work (`stronge`). Required for these two
    /// laws, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e: Option<f64>,
    /// Tangential restitution of the law `restitution`, −1 (no friction) to 1 (reversed slip).
    /// Default 0: sticking, within the limit of `mu`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e_t: Option<f64>,
    /// Coefficient of friction of the laws `restitution`, `stronge` and `compliant`, not negative.
    /// Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// Energy loss relative to that of a plastic, sticking impact, 0 to 1. Required for the law
    /// `energy_friction`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r_E: Option<f64>,
    /// Tangential impulse relative to that of a plastic, sticking impact, 0 to 2. Required for the
    /// law `energy_friction`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r_f: Option<f64>,
    /// Tangential impulse of which `r_f` is the ratio, with the law `energy_friction`. Default
    /// `plastic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tangential: Option<Tangential>,
    /// Treatment of an impact for which `r_E` and `r_f` are inconsistent, with the law
    /// `energy_friction`. Default `reject`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_inconsistent: Option<Inconsistent>,
    /// Gain α of captures, of contacts that rest and of compliant contacts with `slip = 0`, 1/s, not
    /// negative, of the stabilisation by which a constraint violation φ decays: `φ̈ + 2 α φ̇ + β² φ = 0`
    /// (Baumgarte). Default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Gain β of captures and of contacts that rest, 1/s, not negative (see `alpha`). Default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// Normal force at the penetration `depth`, N, not negative. Required for the law `compliant`,
    /// and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<f64>,
    /// Penetration at the normal force `force`, m, positive. Required for the law `compliant`, and
    /// only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<f64>,
    /// Exponent of the penetration in the force of the law `compliant`: 1.5 (round bodies) or 1.
    /// Default 1.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exponent: Option<f64>,
    /// Dissipation of the law `compliant`, s/m, not negative: relative increase of the force per
    /// speed of approach. At a low speed v the restitution is `1 − ⅔ · dissipation · v`. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dissipation: Option<f64>,
    /// Slip speed of the law `compliant` at which 71 % of the friction acts, m/s, not negative. A
    /// smaller value is closer to Coulomb's law, and stiffer; 0 is Coulomb's law, with surfaces that
    /// stick: for a sphere or a point on a plane or a sphere, and then no parameter. With `mu` only.
    /// Default 0.001.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slip: Option<f64>,
    /// Speed of approach up to which an impact is plastic, m/s, positive. The contact may then rest:
    /// points that do not separate stay in contact by constraints, and stick or slide. For the law
    /// `restitution` without `e_t`: a point or a sphere on a plane or a sphere, any other shape but a
    /// funnel on a plane, a box or a mesh on a box or a mesh. Default: none, impacts only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<f64>,
    /// Largest distance of the origins at which an impact or a capture on command acts, m, not
    /// negative. Not with a `surface` or shapes. Default 0.01.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<f64>,
    /// Group that has made this contact, for messages.
    #[serde(skip)]
    pub(crate) group: Option<String>,
}

/// Surface of `b` in a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    /// Plane through the origin of `b`, perpendicular to the normal. Points behind it penetrate.
    Plane,
    /// Sphere of `radius_b` about the origin of `b`.
    Sphere,
    /// Disc of `radius_b` about the origin of `b`, perpendicular to the normal. A point that
    /// crosses it against the normal makes contact; a point outside the radius, or one that comes
    /// from behind, does not.
    Disc,
}

/// Law of an impact, a capture or a contact force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImpactLaw {
    /// Restitution along the normal and along the surface, within the friction cone (Chatterjee and
    /// Ruina 1998): always solvable, and never gains energy.
    #[default]
    Restitution,
    /// Ratios of energy loss and of tangential impulse (Cyril et al. 1998).
    EnergyFriction,
    /// Coulomb friction integrated through the impact, with restitution by the work along the
    /// normal (Stronge).
    Stronge,
    /// Capture with a spherical connection: a plastic impact, then the two points stay together,
    /// free to rotate.
    CapturePin,
    /// Capture with a fixed connection: a plastic impact, then the two frames keep their relative
    /// pose.
    CaptureGrasp,
    /// Contact force that grows with the penetration (Hunt and Crossley), with friction that is
    /// regularised or sticks, for lasting contacts. It requires the surface `plane` or `sphere`, or shapes that
    /// touch at one point.
    Compliant,
}

impl ImpactLaw {
    /// Returns the name in a spec.
    pub fn name(self) -> &'static str {
        match self {
            Self::Restitution => "restitution",
            Self::EnergyFriction => "energy_friction",
            Self::Stronge => "stronge",
            Self::CapturePin => "capture_pin",
            Self::CaptureGrasp => "capture_grasp",
            Self::Compliant => "compliant",
        }
    }

    /// Returns true if the law captures.
    pub fn captures(self) -> bool {
        matches!(self, Self::CapturePin | Self::CaptureGrasp)
    }
}

/// Tangential impulse of which `r_f` is the ratio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tangential {
    /// The whole tangential impulse of the plastic, sticking impact.
    #[default]
    Plastic,
    /// Its component along the slip before the impact, as in Cyril et al. (1998), Eqs. 24 to 31. In
    /// a plane this is the whole; in space an impact with `r_E = r_f = 1` does not exist.
    Slip,
}

/// Treatment of ratios `r_E` and `r_f` that no impact has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Inconsistent {
    /// Rejection: no impulse acts.
    #[default]
    Reject,
    /// Replacement of `r_E` by the nearest consistent value.
    Clamp,
    /// Acceptance of an `r_E` below the consistent range: the surfaces separate faster than they
    /// approached (e > 1), and friction loses more than the impact as a whole. The message of the
    /// impact states e and the energy. An `r_E` above the range has no solution, and is rejected.
    Accept,
}

impl Table for Contact {
    fn frames(&self) -> Vec<FrameField<'_>> {
        vec![FrameField::new("a", &self.a), FrameField::new("b", &self.b).or_world()]
    }

    fn check(&self, spec: &Spec, report: &mut Report) {
        self.check_beams(spec, report);
        self.check_law(report);
        self.check_surface(report);
        self.check_shapes(report);
        self.check_rest(spec, report);
        self.check_stiction(spec, report);
    }
}

impl Contact {
    /// Reports contacts that ANCF beams do not have.
    fn check_beams(&self, spec: &Spec, report: &mut Report) {
        let beams = [&self.a, &self.b].map(|frame| spec.on_ancf_beam(frame));
        for ((field, frame), beam) in [("a", &self.a), ("b", &self.b)].into_iter().zip(beams) {
            let Some(beam) = beam else { continue };
            let what = match (self.law.captures(), beams[0]) {
                (true, Some(_)) => continue,
                (true, None) => "write it as `a`",
                (false, _) => "impacts on it are not supported; use a law that captures, or a [grasp]",
            };
            report.add(field, format!("\"{frame}\" is on the ANCF beam \"{beam}\": {what}"));
        }
        if let (Some(shape), Some(beam)) = (&self.shape_a, beams[0])
            && shape.kind != ContactShapeType::Sphere
        {
            let what = format!(
                "\"{}\" is on the ANCF beam \"{beam}\", which has a direction but no attitude: its shape is a sphere",
                self.a
            );
            report.add("shape_a", what);
        }
        let (true, Some(beam)) = (self.law.captures(), beams[1]) else {
            return;
        };
        if self.shape_b.is_some() {
            let what = format!(
                "\"{}\" is on the ANCF beam \"{beam}\": write surface = \"disc\"",
                self.b
            );
            report.add("shape_b", what);
        }
        let Some(surface) = self.surface else { return };
        let whose = format!("\"{}\" is on the ANCF beam \"{beam}\"", self.b);
        if surface != Surface::Disc {
            let what =
                "a capture draws the points of two beams together, so their surface is a disc, with a small radius";
            report.add("surface", format!("{whose}: {what}"));
        } else if self.normal[1..] != [0.0; 2] {
            let what = "which has no attitude about its direction x: the normal is [1, 0, 0] or [-1, 0, 0]";
            report.add("normal", format!("{whose}, {what}"));
        }
    }

    /// Reports fields that the law does not have, and missing ones.
    fn check_law(&self, report: &mut Report) {
        let law = self.law;
        let by_impulse = [ImpactLaw::Restitution, ImpactLaw::Stronge];
        let by_energy = [ImpactLaw::EnergyFriction];
        let captures = [ImpactLaw::CapturePin, ImpactLaw::CaptureGrasp];
        let rubs = [ImpactLaw::Restitution, ImpactLaw::Stronge, ImpactLaw::Compliant];
        let presses = [ImpactLaw::Compliant];
        let fields = [
            ("e", self.e.is_some(), by_impulse.as_slice(), true),
            ("e_t", self.e_t.is_some(), &[ImpactLaw::Restitution], false),
            ("mu", self.mu.is_some(), &rubs, false),
            ("r_E", self.r_E.is_some(), &by_energy, true),
            ("r_f", self.r_f.is_some(), &by_energy, true),
            ("tangential", self.tangential.is_some(), &by_energy, false),
            ("on_inconsistent", self.on_inconsistent.is_some(), &by_energy, false),
            ("alpha", self.alpha.is_some(), &captures, false),
            ("beta", self.beta.is_some(), &captures, false),
            ("force", self.force.is_some(), &presses, true),
            ("depth", self.depth.is_some(), &presses, true),
            ("exponent", self.exponent.is_some(), &presses, false),
            ("dissipation", self.dissipation.is_some(), &presses, false),
            ("slip", self.slip.is_some(), &presses, false),
        ];
        for (field, written, laws, needed) in fields {
            let rests = self.rest.is_some() && ["alpha", "beta"].contains(&field);
            let has = laws.contains(&law) || rests || field == "alpha" && self.sticks();
            if written && !has {
                let what = format!("the law \"{}\" has no `{field}`", law.name());
                report.add(field, what);
            } else if has && needed && !written {
                let what = format!("missing field `{field}`: the law \"{}\" needs it", law.name());
                report.add(field, what);
            }
        }
        if let Some(exponent) = self.exponent.filter(|exponent| ![1.0, 1.5].contains(exponent)) {
            let what = format!("{exponent} is neither 1 nor 1.5");
            report.add("exponent", what);
        }
        if self.slip.is_some() && self.mu.is_none() {
            report.add("slip", "there is no friction: write `mu` too");
        }
    }

    /// Returns true if both shapes are polyhedra.
    pub fn has_polyhedra(&self) -> bool {
        let is_polyhedron =
            |shape: &Option<ContactShape>| shape.as_ref().is_some_and(|shape| shape.kind.is_polyhedron());
        is_polyhedron(&self.shape_a) && is_polyhedron(&self.shape_b)
    }

    /// Returns true if the surfaces of a compliant contact stick by friction.
    pub fn sticks(&self) -> bool {
        self.law == ImpactLaw::Compliant && self.mu.is_some() && self.slip == Some(0.0)
    }

    /// Reports compliant contacts whose friction needs a slip speed.
    fn check_stiction(&self, spec: &Spec, report: &mut Report) {
        if !self.sticks() {
            return;
        }
        let kinds = [&self.shape_a, &self.shape_b].map(|shape| shape.as_ref().map(|shape| shape.kind));
        let fits = match kinds {
            [None | Some(ContactShapeType::Sphere), Some(of_b)] => {
                matches!(of_b, ContactShapeType::Plane | ContactShapeType::Sphere)
            }
            // Surfaces that the law does not have are reported elsewhere.
            [_, None] => true,
            [Some(_), Some(_)] => false,
        };
        if !fits {
            let what =
                "friction with slip = 0 is for a sphere or a point on a plane or a sphere: write a positive slip";
            report.add("slip", what);
        }
        if spec.solver.method == Method::Conserving {
            let what = "the method conserving does not support friction with slip = 0: write a positive slip";
            report.add("slip", what);
        }
    }

    /// Reports contacts that cannot rest.
    fn check_rest(&self, spec: &Spec, report: &mut Report) {
        if self.rest.is_none() {
            return;
        }
        if self.law != ImpactLaw::Restitution {
            let what = format!(
                "a contact that may rest has the law \"restitution\", not \"{}\"",
                self.law.name()
            );
            report.add("rest", what);
        }
        if self.e_t.is_some_and(|e_t| e_t != 0.0) {
            report.add(
                "e_t",
                "a contact that may rest has no tangential restitution: leave `e_t` out",
            );
        }
        if spec.solver.method == Method::Conserving {
            let what = "the method conserving does not support contacts that rest; use method = \"auto\"";
            report.add("rest", what);
        }
        let kinds = [&self.shape_a, &self.shape_b].map(|shape| shape.as_ref().map(|shape| shape.kind));
        let fits = match kinds {
            [None | Some(ContactShapeType::Sphere), Some(ContactShapeType::Sphere)] => true,
            [None, Some(ContactShapeType::Plane)] => true,
            [Some(of_a), Some(ContactShapeType::Plane)] => of_a.is_convex_body(),
            [Some(of_a), Some(of_b)] if of_a.is_polyhedron() => of_b.is_polyhedron(),
            [_, Some(_)] => false,
            [_, None] => matches!(self.surface, Some(Surface::Plane | Surface::Sphere)),
        };
        if !fits {
            let what = "only a sphere or a point on a sphere, a box or a mesh on a box or a mesh, and a point or any shape but a \
                        funnel as `shape_a` on a plane as `shape_b` may rest";
            report.add("rest", what);
        }
        if self.has_polyhedra() {
            for (field, shape) in [("shape_a", &self.shape_a), ("shape_b", &self.shape_b)] {
                let count = shape.as_ref().map_or(0, |shape| shape.most_corners());
                if count > MOST_FACE_CORNERS {
                    let what = format!(
                        "a face of the convex hull of the mesh has {count} corners: a contact of two polyhedra may rest with \
                         faces of at most {MOST_FACE_CORNERS} corners"
                    );
                    report.add(field, what);
                }
            }
            return;
        }
        let hull = self.shape_a.as_ref().and_then(|shape| shape.hull().ok());
        if let Some(count) = hull
            .map(|hull| hull.vertices.len())
            .filter(|&count| count > MOST_REST_POINTS)
        {
            let what = format!(
                "the convex hull of the mesh has {count} vertices: at most {MOST_REST_POINTS} points of a contact may rest"
            );
            report.add("rest", what);
        }
    }

    /// Reports fields that the surface does not have, and missing ones.
    fn check_surface(&self, report: &mut Report) {
        let written = self.surface.is_some();
        let is_round = matches!(self.surface, Some(Surface::Sphere | Surface::Disc));
        let fields = [
            (
                "radius_a",
                self.radius_a.is_some(),
                written && self.surface != Some(Surface::Disc),
                "requires the surface \"plane\" or \"sphere\"; for a disc `a` is a point",
            ),
            (
                "radius_b",
                self.radius_b.is_some(),
                is_round,
                "requires the surface \"sphere\" or \"disc\"",
            ),
            (
                "reach",
                self.reach.is_some(),
                !written && self.shape_b.is_none(),
                "is for contacts without a surface: with one, the impact occurs at zero gap",
            ),
        ];
        for (field, written, fits, what) in fields {
            if written && !fits {
                report.add(field, format!("`{field}` {what}"));
            }
        }
        if is_round && self.radius_b.is_none() {
            report.add("radius_b", "missing field `radius_b`: the surface needs it");
        }
        let is_compliant = self.law == ImpactLaw::Compliant && self.shape_b.is_none();
        if is_compliant && !matches!(self.surface, Some(Surface::Plane | Surface::Sphere)) {
            let what = "the law \"compliant\" needs the surface \"plane\" or \"sphere\", or a `shape_b`";
            report.add("surface", what);
        }
    }

    /// Reports errors in shapes, fields that shapes replace, and pairs of shapes without a distance
    /// or, with a contact force, without one contact point.
    fn check_shapes(&self, report: &mut Report) {
        for (side, shape) in [("shape_a", &self.shape_a), ("shape_b", &self.shape_b)] {
            shape.iter().for_each(|shape| shape.check(side, report));
        }
        let Some(of_b) = &self.shape_b else {
            if self.shape_a.is_some() {
                report.add(
                    "shape_b",
                    "missing field `shape_b`: the shape of `a` makes contact with it",
                );
            }
            return;
        };
        if self.surface.is_some() {
            report.add(
                "surface",
                "there is a `shape_b`: write either `surface` or shapes, not both",
            );
        }
        if self.normal != super::default::z() {
            report.add("normal", "shapes have their own normal: leave `normal` out");
        }
        let kinds = [self.shape_a.as_ref().map(|shape| shape.kind), Some(of_b.kind)];
        if let Some(what) = ContactShape::without_distance(kinds) {
            report.add("shape_b", what);
        } else if let (ImpactLaw::Compliant, [Some(a), Some(b)]) = (self.law, kinds)
            && ContactShape::has_flat_contact([a, b])
        {
            let what = format!(
                "a {} may touch a {} at several points at once, between which the force of the law \"compliant\" \
                 would jump: write one contact with a sphere for each of these points",
                a.name(),
                b.name()
            );
            report.add("law", what);
        }
    }
}
