//! References of tasks: poses set by the importer, and paths through waypoints.

use crate::algebra::{Quaternion, Scalar, Twist, Vec3, exp, lift3, log};
use crate::elements::Sensed;
use crate::spec::{self, at};
use crate::system::{Declarations, InputKind, ParamId, Quantity, Unit};

/// Source of the reference pose.
#[derive(Clone, Debug)]
pub(super) enum Reference {
    /// Poses in their order, and the index of the first of three inputs: path parameter, its rate
    /// and its acceleration. The parameter grows by one from each waypoint to the next.
    Path { s: usize, poses: Vec<PoseIds> },
    /// Indices of the first of nine inputs of the position, and of ten of the attitude.
    Inputs {
        position: Option<usize>,
        attitude: Option<usize>,
    },
}

/// Position and attitude of a waypoint, as far as they are controlled.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoseIds {
    position: Option<ParamId>,
    attitude: Option<ParamId>,
}

/// Pose and motion of a frame in axes of another: position and velocity of its origin, and
/// accelerations, as seen by an observer in these axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelativeMotion<S: Scalar> {
    pub r: Vec3<S>,
    pub q: Quaternion<S>,
    pub V: Twist<S>,
    pub A: Twist<S>,
}

impl<S: Scalar> RelativeMotion<S> {
    /// Returns the reference's own pose, at rest.
    pub fn rest() -> Self {
        Self {
            r: Vec3::zeros(),
            q: Quaternion::identity(),
            V: Twist::zero(),
            A: Twist::zero(),
        }
    }
}

impl PoseIds {
    fn declare(
        task: &str,
        number: usize,
        written: &spec::Waypoint,
        turns: [bool; 2],
        declare: &mut Declarations,
    ) -> Self {
        let place = at("task", task, "waypoint");
        let [moves, turns] = turns;
        let what = format!("position at waypoint {number} of task {task}");
        let name = format!("{task}.waypoint_{number}");
        let position = written.position.filter(|_| moves).map(|position| {
            let quantities = Quantity::vector(&format!("{name}.position"), Unit::Metre, &what);
            declare.parameters(quantities, &position, false, &place)
        });
        let what = format!("attitude at waypoint {number} of task {task}, quaternion");
        let attitude = turns.then(|| {
            let quantities = Quantity::quaternion(&format!("{name}.attitude"), &what);
            declare.parameters(quantities, &written.attitude().to_array(), false, &place)
        });
        Self { position, attitude }
    }

    fn values(self, parameters: &[f64]) -> (Vec3<f64>, Quaternion<f64>) {
        let position = self.position.map_or_else(Vec3::zeros, |id| id.vector(parameters));
        let attitude = self.attitude.map(|id| id.quaternion(parameters).normalised());
        (position, attitude.unwrap_or_else(Quaternion::identity))
    }
}

impl Reference {
    pub fn declare(task: &str, written: &spec::Task, declare: &mut Declarations) -> Self {
        let controlled = [written.moves(), written.turns()];
        if !written.waypoint.is_empty() {
            let number = |(k, waypoint)| PoseIds::declare(task, k + 1, waypoint, controlled, declare);
            let poses = written.waypoint.iter().enumerate().map(number).collect();
            let s = declare.inputs.len();
            for (field, unit, what) in [
                ("s", Unit::One, "path parameter"),
                ("s_rate", Unit::PerSecond, "rate of the path parameter"),
                ("s_acceleration", Unit::PerSecond2, "acceleration of the path parameter"),
            ] {
                let what = format!("{what} of task {task}, which grows by one from each waypoint to the next");
                declare.input(
                    Quantity::new(format!("{task}.{field}"), unit, what),
                    0.0,
                    InputKind::Continuous,
                );
            }
            return Self::Path { s, poses };
        }
        let mut vector = |field: &str, unit, what: &str| {
            let what = format!("reference {what} of task {task}, axes of {}", written.reference_axes());
            for quantity in Quantity::vector(&format!("{task}.{field}"), unit, &what) {
                declare.input(quantity, 0.0, InputKind::Continuous);
            }
        };
        let [moves, turns] = controlled;
        let mut count = 0;
        if moves {
            vector("r_ref", Unit::Metre, "position");
            vector("v_ref", Unit::MetrePerSecond, "velocity");
            vector("a_ref", Unit::MetrePerSecond2, "acceleration");
            count += 9;
        }
        if turns {
            vector("w_ref", Unit::RadianPerSecond, "angular velocity");
            vector("wd_ref", Unit::RadianPerSecond2, "angular acceleration");
            let what = format!(
                "reference attitude of task {task} in {}, quaternion",
                written.reference_axes()
            );
            let quantities = Quantity::quaternion(&format!("{task}.q_ref"), &what);
            for (quantity, start) in quantities.into_iter().zip([1.0, 0.0, 0.0, 0.0]) {
                declare.input(quantity, start, InputKind::Continuous);
            }
            count += 10;
        }
        let first = declare.inputs.len() - count;
        Self::Inputs {
            position: moves.then_some(first),
            attitude: turns.then_some(if moves { first + 9 } else { first }),
        }
    }

    /// Returns the inputs that it reads.
    pub fn inputs(&self) -> impl Iterator<Item = usize> {
        let ranges = match self {
            Self::Path { s, .. } => [*s..*s + 3, 0..0],
            Self::Inputs { position, attitude } => [
                position.map_or(0..0, |first| first..first + 9),
                attitude.map_or(0..0, |first| first..first + 10),
            ],
        };
        ranges.into_iter().flatten()
    }

    pub fn at<S: Scalar>(&self, now: &Sensed<S>) -> RelativeMotion<S> {
        let inputs = now.inputs;
        let vector = |first: usize| Vec3::from_column_slice(&inputs[first..first + 3]);
        match self {
            Self::Path { s, poses } => on_path(
                poses,
                S::numbers(now.parameters),
                [inputs[*s], inputs[s + 1], inputs[s + 2]],
            ),
            Self::Inputs { position, attitude } => {
                let of =
                    |first: &Option<usize>, k: usize| first.map_or_else(Vec3::zeros, |first| vector(first + 3 * k));
                let q = attitude.map(|first| Quaternion::from_slice(&inputs[first + 6..]).normalised());
                RelativeMotion {
                    r: of(position, 0),
                    q: q.unwrap_or_else(Quaternion::identity),
                    V: Twist::new(of(attitude, 0), of(position, 1)),
                    A: Twist::new(of(attitude, 1), of(position, 2)),
                }
            }
        }
    }
}

/// Returns the reference on a path for the path parameter, its rate and its acceleration.
fn on_path<S: Scalar>(poses: &[PoseIds], parameters: &[f64], [s, rate, acceleration]: [S; 3]) -> RelativeMotion<S> {
    // Path and rates are continuous where the waypoint changes, because the path rests there.
    let last = poses.len().saturating_sub(2);
    let i = (s.value() as usize).min(last);
    let (r_0, q_0) = poses[i].values(parameters);
    let (r_1, q_1) = poses[(i + 1).min(poses.len() - 1)].values(parameters);
    let along = Twist::new(lift3::<S>(&log(q_1 * q_0.conjugate())), lift3(&(r_1 - r_0)));
    let c = s - S::lift(i as f64);
    let (is_before, is_after) = ((-c).exceeds(0.0), c.exceeds(1.0));
    let inside = |inside: S, before: f64, after: f64| {
        S::select(is_before, S::lift(before), S::select(is_after, S::lift(after), inside))
    };
    let c = inside(c, 0.0, 1.0);
    let (rate, acceleration) = (inside(rate, 0.0, 0.0), inside(acceleration, 0.0, 0.0));
    RelativeMotion {
        r: lift3::<S>(&r_0) + along.v * c,
        q: exp(along.w * c) * q_0.lift(),
        V: along * rate,
        A: along * acceleration,
    }
}
