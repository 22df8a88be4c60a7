//! Couplings of joints: gears, cable drives and mimic joints.

use super::{Compiler, Cursor, Element, Outputs, Values, View, report};
use crate::Problem;
use crate::algebra::Scalar;
use crate::spec::{JointMotion, Report, Spec, Table, at, unknown};
use crate::system::{Bound, Joint, ParamId, Quantity, System, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Linear coupling of two joints, `q = ratio q_f + offset`: a gear, a cable drive or a mimic joint.
/// The positions of the two joints at the start and during the run satisfy it.
///
/// Its reaction is a torque (force) on `joint`, and `−ratio` times it on the joint that it follows.
/// Outputs: `<coupling>.torque`, N·m (N), and `<coupling>.violation`, rad (m).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinearCoupling {
    /// Joint that follows: revolute, prismatic or screw. It has no `start`, since the coupling
    /// determines it, and is the `joint` of one coupling at most.
    pub joint: String,
    /// Joint that it follows: revolute, prismatic or screw.
    pub follows: String,
    /// Ratio of the positions, not zero; in rad/rad, m/rad, rad/m or m/m, as the two joints are
    /// revolute (screw) or prismatic.
    pub ratio: f64,
    /// Position of `joint` with the other joint at zero, rad (m). Default 0.
    #[serde(default)]
    pub offset: f64,
    /// Gain α, 1/s, not negative, of the stabilisation by which a constraint violation φ decays:
    /// `φ̈ + 2 α φ̇ + β² φ = 0` (Baumgarte). Default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Gain β of the stabilisation, 1/s, not negative (see `alpha`). Default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
}

impl Table for LinearCoupling {
    fn check(&self, spec: &Spec, report: &mut Report) {
        for (field, name) in [("joint", &self.joint), ("follows", &self.follows)] {
            match spec.joint.get(name) {
                None => report.add(field, unknown("joint", name, spec.joint.keys())),
                Some(joint) if joint.kind.rates() != 1 => {
                    let kind = joint.kind.name();
                    report.add(
                        field,
                        format!("\"{name}\" is a {kind} joint: a coupled joint has one coordinate"),
                    );
                }
                _ => {}
            }
        }
        if self.ratio == 0.0 {
            report.add(
                "ratio",
                "a ratio of zero would hold the joint: write motion = \"locked\"".to_owned(),
            );
        }
        if spec.joint.get(&self.joint).is_some_and(|joint| joint.start.is_some()) {
            let what = format!(
                "the start of \"{}\" follows from the coupling: leave it out",
                self.joint
            );
            report.add("joint", what);
        }
        let driven = spec.joint.get(&self.joint).filter(|joint| {
            let may = |motion| joint.motion == motion || joint.motions.contains(&motion);
            joint.drive_train.is_none() && (may(JointMotion::Locked) || may(JointMotion::Prescribed))
        });
        if driven.is_some() {
            let what = format!(
                "\"{}\" cannot be locked or prescribed beside its coupling: do that with \"{}\"",
                self.joint, self.follows
            );
            report.add("joint", what);
        }
        let also = spec.coupling.values().filter(|other| other.joint == self.joint).count();
        if also > 1 {
            report.add("joint", format!("\"{}\" follows two joints", self.joint));
        } else if self.is_cyclic(spec) {
            report.add("follows", format!("\"{}\" follows itself", self.joint));
        }
        if let Some(what) = spec.objection_of_feed_forward("couplings") {
            report.add("", what);
        }
        let uncoupled = [
            ("loops", !spec.closed_loop.is_empty()),
            (
                "an equilibrium as its start",
                spec.assembly.as_ref().is_some_and(|assembly| assembly.equilibrium),
            ),
            (
                "the method conserving",
                spec.solver.method == crate::spec::Method::Conserving,
            ),
        ];
        for (what, _) in uncoupled.into_iter().filter(|(_, has)| *has) {
            report.add("", format!("couplings are not supported in a model with {what}"));
        }
    }
}

impl LinearCoupling {
    /// Returns true if the followed joint follows this coupling's joint, directly or not.
    fn is_cyclic(&self, spec: &Spec) -> bool {
        let mut name = &self.follows;
        for _ in 0..spec.coupling.len() {
            if *name == self.joint {
                return true;
            }
            match spec.coupling.values().find(|other| other.joint == *name) {
                Some(next) => name = &next.follows,
                None => return false,
            }
        }
        true
    }
}

/// Coupling of two joint coordinates, `φ = q − r q_f − q_0 = 0`.
#[derive(Clone, Debug)]
pub struct Coupling {
    /// Index among the couplings.
    number: usize,
    /// Name in the spec.
    pub name: String,
    /// Names of the joint and of the joint that it follows.
    joints: [String; 2],
    /// Indices of their coordinates.
    pub coordinates: [usize; 2],
    /// Indices of their rates.
    pub rates: [usize; 2],
    /// True if the joint turns, false if it slides.
    pub is_angular: bool,
    ratio: ParamId,
    offset: ParamId,
    alpha: ParamId,
    beta: ParamId,
}

impl Element for Coupling {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let mut couplings: Vec<Self> = Vec::new();
        for (name, written) in in_order(from.spec) {
            let [joint, follows] = [&written.joint, &written.follows].map(|name| joint(from.system, name));
            let (Some(joint), Some(follows)) = (joint, follows) else {
                continue;
            };
            let unit = Unit::coordinate(joint.kind.is_angular(0));
            let mut parameter = |field: &str, unit, value, what: String, is_tunable, bound| {
                let quantity = Quantity::new(format!("{name}.{field}"), unit, what).bounded(bound);
                from.declare
                    .parameter(quantity, value, is_tunable, &at("coupling", name, field))
            };
            let mut gain = |field: &str, value: Option<f64>| {
                let what = format!("Baumgarte gain {field} of coupling {name}");
                parameter(
                    field,
                    Unit::PerSecond,
                    value.unwrap_or(10.0),
                    what,
                    true,
                    Bound::NotNegative,
                )
            };
            let [alpha, beta] = [gain("alpha", written.alpha), gain("beta", written.beta)];
            let ratio = format!(
                "ratio of the position of joint {} to that of joint {}",
                joint.name, follows.name
            );
            let offset = format!("position of joint {} with joint {} at zero", joint.name, follows.name);
            couplings.push(Self {
                number: couplings.len(),
                name: name.clone(),
                joints: [joint.name.clone(), follows.name.clone()],
                coordinates: [joint.q, follows.q],
                rates: [joint.v, follows.v],
                is_angular: joint.kind.is_angular(0),
                ratio: parameter("ratio", Unit::One, written.ratio, ratio, false, Bound::None),
                offset: parameter("offset", unit.position, written.offset, offset, false, Bound::None),
                alpha,
                beta,
            });
        }
        couplings
    }

    fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        if self.ratio.of(of.values) == 0.0 {
            let what = format!("a ratio of zero would hold joint {}", self.joints[0]);
            report(of.declared, self.ratio, problems, what);
        }
    }

    fn outputs(&self, _: &Spec, _: &System, to: &mut Outputs) {
        let (name, [joint, follows]) = (&self.name, &self.joints);
        let unit = Unit::coordinate(self.is_angular);
        let torque = format!("torque (force) of coupling {name} on joint {joint}");
        let violation = format!(
            "constraint violation of coupling {name}, joint {joint} less the position that joint {follows} determines"
        );
        to.continuous([
            Quantity::new(format!("{name}.torque"), unit.force, torque),
            Quantity::new(format!("{name}.violation"), unit.position, violation),
        ]);
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let before = view.closed.len() - view.elements.couplings.len();
        y.number(view.closed[before + self.number].torque);
        y.number(self.violation(S::numbers(view.now.parameters), view.now.q));
    }
}

/// Returns the couplings in an order in which each follows those that its followed joint follows.
fn in_order(spec: &Spec) -> Vec<(&String, &LinearCoupling)> {
    let depth = |coupling: &LinearCoupling| {
        let next = |of: &&LinearCoupling| spec.coupling.values().find(|other| other.joint == of.follows);
        std::iter::successors(Some(coupling), next)
            .take(spec.coupling.len())
            .count()
    };
    let mut couplings: Vec<_> = spec.coupling.iter().collect();
    couplings.sort_by_key(|(_, coupling)| depth(coupling));
    couplings
}

/// Returns the joint of the spec with this name.
fn joint<'a>(system: &'a System, name: &str) -> Option<&'a Joint> {
    let mut joints = system.bodies.iter().map(|body| &body.joint);
    joints.find(|joint| joint.written && joint.name == name)
}

impl Coupling {
    /// Returns Baumgarte's gains α and β, 1/s.
    pub fn gains(&self, parameters: &[f64]) -> [f64; 2] {
        self.gain_ids().map(|id| id.of(parameters))
    }

    /// Returns the parameter indices of the gains α and β.
    pub(super) fn gain_ids(&self) -> [ParamId; 2] {
        [self.alpha, self.beta]
    }

    /// Returns the ratio `r`.
    pub fn ratio(&self, parameters: &[f64]) -> f64 {
        self.ratio.of(parameters)
    }

    /// Returns the constraint violation `φ`, rad or m.
    pub fn violation<S: Scalar>(&self, parameters: &[f64], q: &[S]) -> S {
        let [joint, follows] = self.coordinates.map(|i| q[i]);
        joint - follows * S::lift(self.ratio.of(parameters)) - S::lift(self.offset.of(parameters))
    }

    /// Returns `φ̇`, rad/s or m/s, or `φ̈` for accelerations.
    pub fn rate<S: Scalar>(&self, parameters: &[f64], qd: &[S]) -> S {
        let [joint, follows] = self.rates.map(|v| qd[v]);
        joint - follows * S::lift(self.ratio.of(parameters))
    }

    /// Sets position and rate of the joint from those of the joint that it follows, with the
    /// parameter `values`.
    pub fn start<S: Scalar>(&self, values: &[S], q: &mut [S], qd: &mut [S]) {
        let [ratio, offset] = [self.ratio, self.offset].map(|id| values[id.0]);
        q[self.coordinates[0]] = q[self.coordinates[1]] * ratio + offset;
        qd[self.rates[0]] = qd[self.rates[1]] * ratio;
    }
}
