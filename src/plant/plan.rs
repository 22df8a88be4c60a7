//! Plans: trajectories of joints by inverse kinematics, computed when a spec is compiled.

use super::context::Constants;
use super::model::{Model, boxed};
use super::plan_law::Law;
use crate::algebra::{Mat3, Quaternion, Vec3, log};
use crate::elements::hermite;
use crate::spec::{self, Interpolation, Kept, Plan, Signal, Spec};
use crate::system::{Body, Configuration, FrameRef, Kinematics, Unit};
use crate::{Error, Problem};
use nalgebra::{ColPivQR, DMatrix, DVector, Dyn};

/// Largest error of the positions between the knots of a plan, rad or m.
const BETWEEN: f64 = 1e-9;
/// Smallest and largest number of intervals between the knots, in each segment of the motion law.
const INTERVALS: [usize; 2] = [16, 1024];
/// Number of intervals of all segments from which on none are halved.
const MOST_INTERVALS: usize = 16 * INTERVALS[1];
/// Largest number of Newton steps at one time.
const MOST_STEPS: usize = 50;
/// Largest distance from the goals, m or rad, per metre of the largest distance of a frame from the
/// world's origin or from another frame (1 m at least).
const REACHED: f64 = 1e-12;
/// Least [regularity](LeastSquares::regularity) of the Jacobian at which the goals determine the
/// joints.
const SINGULAR: f64 = 1e-6;

/// Positions, rates and accelerations of a plan's joints over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// Names of the joints.
    pub joints: Vec<String>,
    /// Times of the knots, s.
    pub times: Vec<f64>,
    /// For each joint positions (rad, m), rates and accelerations at the knots.
    pub courses: Vec<[Vec<f64>; 3]>,
}

/// Positions, rates and accelerations of all joints at one time.
struct Knot {
    q: DVector<f64>,
    rate: DVector<f64>,
    acceleration: DVector<f64>,
}

impl Planned {
    /// Returns position, rate and acceleration of the joint with this index at the time `t` (s).
    /// Before and after the plan the joints rest.
    pub fn at(&self, joint: usize, t: f64) -> [f64; 3] {
        let [positions, rates, accelerations] = &self.courses[joint];
        let knot = |k: usize| [positions[k], rates[k], accelerations[k]];
        let last = self.times.len() - 1;
        let next = self.times.partition_point(|&end| end <= t).clamp(1, last);
        let (from, to) = (self.times[next - 1], self.times[next]);
        let s = ((t - from) / (to - from)).clamp(0.0, 1.0);
        let [position, rate, acceleration, _] = hermite([knot(next - 1), knot(next)], to - from, s);
        [position, rate, acceleration]
    }

    /// Returns the signals that the plan becomes, with the names of their inputs.
    fn signals(&self) -> impl Iterator<Item = (String, Signal)> {
        self.joints.iter().zip(&self.courses).map(|(joint, course)| {
            let [values, rates, accelerations] = course.clone().map(Some);
            let signal = Signal {
                from_importer: false,
                times: Some(self.times.clone()),
                values,
                rates,
                accelerations,
                with_rate: true,
                ..Signal::table(Interpolation::Quintic)
            };
            (format!("{joint}.q_ref"), signal)
        })
    }
}

/// Returns the spec in which plans are replaced by their signals, `None` without plans.
///
/// # Errors
/// [`Error::Spec`] with the joints that do not reach their goals, or are not determined by them.
#[inline(never)]
pub(super) fn expand(spec: &Spec) -> Result<Option<Box<Spec>>, Error> {
    if spec.plan.is_empty() {
        return Ok(None);
    }
    let mut expanded = boxed(spec);
    expanded.plan.clear();
    for (_, planned) in plans(spec)? {
        expanded.signal.extend(planned.signals());
    }
    spec::check(&expanded)?;
    Ok(Some(expanded))
}

/// Computes the plans of a spec, with their names.
///
/// # Errors
/// [`Error::Spec`] with every problem of the plans, or those of the rest of the spec.
#[inline(never)]
pub fn plans(spec: &Spec) -> Result<Vec<(String, Planned)>, Error> {
    let mut still = boxed(spec);
    still.plan.clear();
    let (model, derived) = Model::compile_and_derive(&still)?;
    let parameters = model.parameter_starts();
    let of = Constants {
        model: &model,
        derived: &derived,
        parameters: &parameters,
    };
    let (mut planned, mut problems) = (Vec::new(), Vec::new());
    for (name, plan) in &spec.plan {
        match Planner::new(of, plan).and_then(|mut planner| planner.plan(plan)) {
            Ok(courses) => planned.push((name.clone(), courses)),
            Err(what) => problems.push(Problem {
                at: spec::at("plan", name, ""),
                what,
            }),
        }
    }
    match problems.is_empty() {
        true => Ok(planned),
        false => Err(Error::Spec(problems)),
    }
}

/// Coordinate of a goal.
struct Row {
    moves: Moved,
    relative_to: FrameRef,
    what: Measured,
    /// Values at the start and at the end, m or rad.
    course: [f64; 2],
    /// Description for messages.
    text: String,
}

/// Frame or mass centre that moves.
#[derive(Clone)]
enum Moved {
    Frame(FrameRef),
    /// Bodies with their masses, kg.
    MassCentre(Vec<(usize, f64)>),
}

/// Measured coordinate.
#[derive(Clone, Copy)]
enum Measured {
    /// Position along an axis of the reference.
    Along(usize),
    /// Component, along an axis of the reference, of the rotation from the attitude at the start,
    /// `R_AM = exp(θ) R_AM(0)`.
    About(usize, Mat3<f64>),
}

/// Motion of a point and its axes, in world axes. Accelerations are those for constant rates of the
/// joints.
struct Moving {
    R: Mat3<f64>,
    /// Position, m.
    p: Vec3<f64>,
    /// Velocity, m/s.
    v: Vec3<f64>,
    /// Angular velocity, rad/s.
    w: Vec3<f64>,
    /// Acceleration, m/s².
    a: Vec3<f64>,
    /// Angular acceleration, rad/s².
    alpha: Vec3<f64>,
}

impl Moving {
    fn of_frame(of: Configuration<f64>, frame: FrameRef) -> Self {
        let (pose, arm) = (of.pose(frame), of.arm(frame).p);
        let at = of.kinematics.carrier(of.system.carrier(frame));
        let (V, A, w) = (at.V_WB.shift(&arm), at.A_bias.shift(&arm), at.V_WB.w);
        Self {
            R: pose.R,
            p: pose.p,
            v: V.v,
            w,
            a: A.v + w.cross(&w.cross(&arm)),
            alpha: A.w,
        }
    }

    fn of(of: Configuration<f64>, moves: &Moved) -> Self {
        let bodies = match moves {
            Moved::Frame(frame) => return Self::of_frame(of, *frame),
            Moved::MassCentre(bodies) => bodies,
        };
        let mass: f64 = bodies.iter().map(|(_, m)| m).sum();
        let none = Vec3::zeros();
        let mut whole = Self {
            R: Mat3::identity(),
            p: none,
            v: none,
            w: none,
            a: none,
            alpha: none,
        };
        for &(body, m) in bodies {
            let at = &of.kinematics.bodies[body];
            let (c, c_dot) = of.kinematics.mass_centre(of.mechanism(), body);
            let (share, w) = (m / mass, at.V_WB.w);
            whole.p += (at.p_WB + c) * share;
            whole.v += (at.V_WB.v + c_dot) * share;
            whole.a += (at.A_bias.shift(&c).v + w.cross(&w.cross(&c))) * share;
        }
        whole
    }
}

impl Row {
    /// Returns the coordinate, its rate, and its second derivative for constant rates of the
    /// joints.
    fn measure(&self, of: Configuration<f64>) -> [f64; 3] {
        let (A, M) = (Moving::of_frame(of, self.relative_to), Moving::of(of, &self.moves));
        match self.what {
            Measured::Along(axis) => {
                let d = M.p - A.p;
                let u = M.v - A.v - A.w.cross(&d);
                let carried = A.a + A.alpha.cross(&d) + A.w.cross(&A.w.cross(&d)) + A.w.cross(&u) * 2.0;
                let e = A.R.column(axis);
                [e.dot(&d), e.dot(&u), e.dot(&(M.a - carried))]
            }
            Measured::About(axis, start) => {
                let turned = log(Quaternion::from_rotation(&(A.R.tr_mul(&M.R) * start.transpose())));
                let (w, e) = (M.w - A.w, A.R.column(axis));
                [turned[axis], e.dot(&w), e.dot(&(M.alpha - A.alpha - A.w.cross(&w)))]
            }
        }
    }

    /// Returns the goal and its two derivatives at the time `s` of the `law`.
    fn goal(&self, s: f64, law: &Law) -> [f64; 3] {
        let [from, to] = self.course;
        let ([part, rate, second], duration) = (law.at(s), law.duration);
        let way = to - from;
        [
            from + way * part,
            way * rate / duration,
            way * second / (duration * duration),
        ]
    }
}

/// Inverse kinematics of one plan.
struct Planner<'a> {
    of: Constants<'a>,
    kinematics: Kinematics<f64>,
    /// Coordinates and rates of the whole spacecraft; those outside the plan stay as at the start.
    q: Vec<f64>,
    qd: Vec<f64>,
    /// Names of the plan's joints, with the indices of their coordinates and rates.
    joints: Vec<(String, [usize; 2])>,
    rows: Vec<Row>,
    /// Scale of distances, m.
    length: f64,
}

impl<'a> Planner<'a> {
    /// Prepares the plan; the spec is checked already.
    fn new(of: Constants<'a>, plan: &Plan) -> Result<Self, String> {
        let (model, derived) = (of.model, of.derived);
        let system = &model.system;
        let (q, mut qd) = model.start_at(derived, 0.0, of.parameters);
        qd.fill(0.0);
        let joints = plan.joints.iter().map(|name| {
            let mut joints = system.bodies.iter().map(|body| &body.joint);
            let joint = joints.find(|joint| joint.name == *name && joint.nv == 1);
            let joint = joint.ok_or_else(|| format!("there is no joint \"{name}\" with one coordinate"))?;
            Ok((name.clone(), [joint.q, joint.v]))
        });
        let joints = joints.collect::<Result<Vec<_>, String>>()?;
        // Written so that NaN is refused.
        if joints.is_empty() || plan.goal.is_empty() || !(plan.from < plan.until && plan.until.is_finite()) {
            return Err("a plan has joints, goals, and an end after its begin".to_owned());
        }
        let mut planner = Self {
            of,
            kinematics: Kinematics::new(system),
            q,
            qd,
            joints,
            rows: Vec::new(),
            length: 1.0,
        };
        planner.update();
        planner.add_rows(plan)?;
        Ok(planner)
    }

    fn update(&mut self) {
        let Constants { model, derived, .. } = self.of;
        self.kinematics.update(&model.system, derived, &self.q, &self.qd);
    }

    fn at(&self) -> Configuration<'_, f64> {
        self.of.at(&self.kinematics)
    }

    /// Adds the coordinates of all goals with their values at the start.
    fn add_rows(&mut self, plan: &Plan) -> Result<(), String> {
        let (system, derived) = (&self.of.model.system, self.of.derived);
        let find = |name: &str| {
            system
                .frame(name)
                .ok_or_else(|| format!("there is no frame or body \"{name}\""))
        };
        let mut rows = Vec::new();
        for goal in &plan.goal {
            let relative_to = find(&goal.relative_to)?;
            let moves = match &goal.frame {
                Some(frame) => Moved::Frame(find(frame)?),
                None => {
                    let is_named = |body: usize| goal.mass_centre.contains(&system.bodies[system.whole(body)].name);
                    let added = self.of.model.spec.added();
                    let is_carried = |name: &String| {
                        let of = added.iter().find(|of| of.parts.iter().any(|[part, _]| part == name));
                        of.is_some_and(|of| goal.mass_centre.iter().any(|body| of.carrier == Some(body.as_str())))
                    };
                    let is_meant = |body: usize| {
                        let Body {
                            name, joint, parent, ..
                        } = &system.bodies[body];
                        is_named(body) || is_carried(name) || (joint.drives.is_some() && parent.is_some_and(is_named))
                    };
                    let bodies = (0..system.bodies.len()).filter(|&body| is_meant(body));
                    Moved::MassCentre(bodies.map(|body| (body, derived.bodies[body].m)).collect())
                }
            };
            let start = {
                let (A, M) = (Moving::of_frame(self.at(), relative_to), Moving::of(self.at(), &moves));
                A.R.tr_mul(&M.R)
            };
            let mut add = |what: Measured, coordinate: &str, to: Option<f64>| {
                let text = format!("{coordinate} of {} relative to \"{}\"", goal.moves(), goal.relative_to);
                let mut row = Row {
                    moves: moves.clone(),
                    relative_to,
                    what,
                    course: [0.0; 2],
                    text,
                };
                let [from, ..] = row.measure(self.at());
                row.course = [from, to.unwrap_or(from)];
                rows.push(row);
            };
            let axes = [("x", Kept::X), ("y", Kept::Y), ("z", Kept::Z)].into_iter();
            for (axis, ((name, kept), to)) in axes.zip(goal.to.to_array()).enumerate() {
                if to.is_some() || goal.keep.contains(&kept) {
                    add(Measured::Along(axis), name, to);
                }
            }
            if goal.keep.contains(&Kept::Attitude) {
                (0..3).for_each(|axis| add(Measured::About(axis, start), "attitude", None));
            }
        }
        let of = self.at();
        let places =
            |row: &Row| [Moving::of_frame(of, row.relative_to).p, Moving::of(of, &row.moves).p].map(|p| p.norm());
        let distances = rows
            .iter()
            .flat_map(|row: &Row| [row.course.map(f64::abs), places(row)]);
        self.length = distances.flatten().fold(1.0, f64::max);
        self.rows = rows;
        Ok(())
    }

    /// Computes the plan, with as many knots as the accuracy between them requires.
    fn plan(&mut self, plan: &Plan) -> Result<Planned, String> {
        let law = Law::new(plan);
        let start = self.q.clone();
        let segments = law.segments();
        let mut intervals = (INTERVALS[0] / segments).max(4);
        loop {
            self.q.copy_from_slice(&start);
            let fine = self.course(2 * intervals, &law, plan.from)?;
            let length = |k: usize| law.segment(k, intervals).1[1] * law.duration / intervals as f64;
            let parts = fine.windows(3).step_by(2).enumerate();
            let error = largest(parts.map(|(k, part)| between(part, length(k))));
            if error <= BETWEEN {
                let knots: Vec<&Knot> = fine.iter().step_by(2).collect();
                let time = |k: usize| {
                    let (segment, [begin, length]) = law.segment(k, intervals);
                    let within = law.duration * length * (k - segment * intervals) as f64 / intervals as f64;
                    plan.from + (law.duration * begin + within)
                };
                let course = |j: usize| {
                    let of = |part: fn(&Knot) -> &DVector<f64>| knots.iter().map(|knot| part(knot)[j]).collect();
                    [of(|knot| &knot.q), of(|knot| &knot.rate), of(|knot| &knot.acceleration)]
                };
                return Ok(Planned {
                    joints: self.joints.iter().map(|(name, _)| name.clone()).collect(),
                    times: (0..=segments * intervals).map(time).collect(),
                    courses: (0..self.joints.len()).map(course).collect(),
                });
            }
            if intervals >= INTERVALS[1] || segments * intervals >= MOST_INTERVALS {
                return Err(format!(
                    "the motion is not smooth: between {} times the positions are {error:.1e} rad (m) off; the joints pass \
                     near a singular position, or change to another solution",
                    segments * intervals + 1
                ));
            }
            intervals *= 2;
        }
    }

    /// Returns the knots at the ends of `n` intervals of each segment of the `law`.
    fn course(&mut self, n: usize, law: &Law, from: f64) -> Result<Vec<Knot>, String> {
        let knot = |k: usize| {
            let (segment, [begin, length]) = law.segment(k, n);
            let s = begin + length * (k - segment * n) as f64 / n as f64;
            self.knot(s, law)
                .map_err(|what| format!("at {} s {what}", from + law.duration * s))
        };
        (0..=law.segments() * n).map(knot).collect()
    }

    /// Returns positions, rates and accelerations at the time `s` of the `law`, starting from the
    /// positions of the last knot.
    fn knot(&mut self, s: f64, law: &Law) -> Result<Knot, String> {
        self.reach(s, law)?;
        for range in &self.of.model.elements.ranges {
            if let Some([value, min, max]) = range.outside(self.of.parameters, &self.q) {
                let name = &range.coordinate_name;
                return Err(format!("{name} is {value}, outside its range {min} to {max}"));
            }
        }
        let n = self.joints.len();
        let inverse = self.inverse();
        if inverse.as_ref().is_none_or(|inverse| inverse.regularity() <= SINGULAR) {
            let what = match s == 0.0 {
                true => {
                    "the goals do not determine the positions of all joints: add a goal, or coordinates to `keep`; or the \
                     joints are in a singular position"
                }
                false => "the joints come to a singular position, where the goals do not determine their rates",
            };
            return Err(what.to_owned());
        }
        let singular = || "the joints come to a singular position".to_owned();
        let inverse = inverse.ok_or_else(singular)?;
        let solve = |right: DVector<f64>| inverse.solve(&right).ok_or_else(singular);
        let goals: Vec<[f64; 3]> = self.rows.iter().map(|row| row.goal(s, law)).collect();
        let rate = solve(DVector::from_iterator(goals.len(), goals.iter().map(|goal| goal[1])))?;
        for ((_, [_, v]), rate) in self.joints.iter().zip(&rate) {
            self.qd[*v] = *rate;
        }
        self.update();
        let of = self.at();
        let bias = self.rows.iter().map(|row| row.measure(of)[2]);
        let right = DVector::from_iterator(goals.len(), goals.iter().zip(bias).map(|(goal, bias)| goal[2] - bias));
        let acceleration = solve(right)?;
        self.qd.fill(0.0);
        let positions = self.joints.iter().map(|(_, [q, _])| self.q[*q]);
        Ok(Knot {
            q: DVector::from_iterator(n, positions),
            rate,
            acceleration,
        })
    }

    /// Moves the joints to the goals by Newton's method (least squares).
    fn reach(&mut self, s: f64, law: &Law) -> Result<(), String> {
        let mut before = f64::INFINITY;
        for _ in 0..MOST_STEPS {
            self.update();
            let of = self.at();
            let off = self.rows.iter().map(|row| row.goal(s, law)[0] - row.measure(of)[0]);
            let off = DVector::from_iterator(self.rows.len(), off);
            let size = off.amax();
            // A further step after convergence reduces the round-off.
            if size == 0.0 || (size <= REACHED * self.length && size >= 0.5 * before) {
                return Ok(());
            }
            before = size;
            let Some(step) = self.inverse().and_then(|inverse| inverse.solve(&off)) else {
                break;
            };
            for ((_, [q, _]), step) in self.joints.iter().zip(&step) {
                self.q[*q] += step;
            }
        }
        let of = self.at();
        let off = |row: &Row| (row.goal(s, law)[0] - row.measure(of)[0]).abs();
        let worst = self.rows.iter().max_by(|a, b| off(a).total_cmp(&off(b)));
        let is_reached = |row: &&Row| off(row) <= REACHED * self.length;
        // Written so that NaN is not reached.
        match worst.filter(|row| !is_reached(row)) {
            None => Ok(()),
            Some(row) => {
                let [goal, ..] = row.goal(s, law);
                let goal = match row.what {
                    Measured::Along(_) => format!(" = {}", Unit::Metre.about(goal)),
                    Measured::About(..) => " of the start".to_owned(),
                };
                Err(format!(
                    "the joints do not reach the goals: they cannot have {}{goal}",
                    row.text
                ))
            }
        }
    }

    /// Returns the least-squares inverse of the [Jacobian](Self::jacobian); `None` if there are
    /// fewer coordinates than joints.
    fn inverse(&mut self) -> Option<LeastSquares> {
        (self.rows.len() >= self.joints.len()).then(|| LeastSquares::new(self.jacobian()))
    }

    /// Returns the derivatives of the coordinates' values with respect to the joints' positions.
    fn jacobian(&mut self) -> DMatrix<f64> {
        let mut J = DMatrix::zeros(self.rows.len(), self.joints.len());
        for j in 0..self.joints.len() {
            let v = self.joints[j].1[1];
            self.qd[v] = 1.0;
            self.update();
            self.qd[v] = 0.0;
            let of = self.at();
            for (i, row) in self.rows.iter().enumerate() {
                J[(i, j)] = row.measure(of)[1];
            }
        }
        self.update();
        J
    }
}

/// Least-squares solution by a QR decomposition with column pivoting, `A P = Q R`. (A singular
/// value decomposition would call the operating system's `hypot`, whose last digit depends on the
/// platform.)
struct LeastSquares(ColPivQR<f64, Dyn, Dyn>);

impl LeastSquares {
    fn new(A: DMatrix<f64>) -> Self {
        Self(A.col_piv_qr())
    }

    /// Returns the least pivot relative to the largest: zero for dependent columns.
    fn regularity(&self) -> f64 {
        let pivots = self.0.r().diagonal().abs();
        let most = pivots.max();
        if most > 0.0 { pivots.min() / most } else { 0.0 }
    }

    /// Returns the `x` with the least `|A x − b|`; `None` for dependent columns.
    fn solve(&self, b: &DVector<f64>) -> Option<DVector<f64>> {
        let mut x = self.0.q().tr_mul(b);
        let is_solved = self.0.r().solve_upper_triangular_mut(&mut x);
        self.0.p().inv_permute_rows(&mut x);
        is_solved.then_some(x)
    }
}

/// Returns the largest distance of the second of three knots from the interpolation between the
/// others, `h` (s) apart.
fn between(knots: &[Knot], h: f64) -> f64 {
    let [a, middle, b] = knots else { return 0.0 };
    let off = |j: usize| {
        let ends = [a, b].map(|knot| [knot.q[j], knot.rate[j], knot.acceleration[j]]);
        (hermite(ends, h, 0.5)[0] - middle.q[j]).abs()
    };
    largest((0..a.q.len()).map(off))
}

/// Returns the largest of some numbers that are not negative; NaN if one is NaN.
fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |most: f64, number| if number <= most { most } else { number })
}
