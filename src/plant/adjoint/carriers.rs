use super::recording::set_variables;
use crate::algebra::{Mat3, Recorded, Scalar, Tape, Twist, Vec3, Wrench};
use crate::dynamics::recursive::{Gradient, JointAdjoints, TreeAdjoint};
use crate::system::{
    BodyKinematics, Carrier, JointState, Kinematics, Mechanism, PointGradient, PointKinematics, System,
};

/// Positions and motions of a tree and of the points of ANCF beams as variables of a record, given by
/// the indices of the first variables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carriers {
    /// Columns of the joints, six numbers each.
    H: usize,
    /// Bodies, then stations, [`PER_BODY`] numbers each.
    bodies: usize,
    /// Points of ANCF beams, [`PER_POINT`] numbers each.
    points: usize,
    /// Index after the last variable.
    pub end: usize,
}

/// Rotation matrix, position, position from the carrier, velocity, acceleration.
const PER_BODY: usize = 9 + 3 + 3 + 6 + 6;

/// Rotation matrix, position, velocity, angular part of the bias acceleration, slope.
const PER_POINT: usize = 9 + 3 + 6 + 3 + 3;

impl Carriers {
    /// Assigns the variables from number `first` on.
    pub fn new(system: &System, first: usize) -> Self {
        let bodies = first + 6 * system.nv;
        let points = bodies + PER_BODY * (system.bodies.len() + system.stations.len());
        Self {
            H: first,
            bodies,
            points,
            end: points + PER_POINT * system.points.len(),
        }
    }

    /// Sets `recorded` to variables with the given values, and with the accelerations of `tree` in
    /// place of `A_bias`.
    pub fn set(self, values: &Kinematics<f64>, tree: &TreeAdjoint, recorded: &mut Kinematics<Recorded>) {
        for (v, (to, from)) in recorded.H.iter_mut().zip(&values.H).enumerate() {
            *to = twist(from, self.H + 6 * v);
        }
        for (i, (to, from)) in recorded.bodies.iter_mut().zip(&values.bodies).enumerate() {
            *to = carrier(from, tree.acceleration(i), self.bodies + PER_BODY * i);
        }
        self.set_stations(values, tree, recorded);
        for (p, (to, from)) in recorded.points.iter_mut().zip(&values.points).enumerate() {
            *to = point(from, self.points + PER_POINT * p);
        }
    }

    /// Sets the stations of `recorded` alone, as [`set`](Self::set): accelerations are among the
    /// operands of outputs and tasks, not among those of loads.
    pub fn set_stations(self, values: &Kinematics<f64>, tree: &TreeAdjoint, recorded: &mut Kinematics<Recorded>) {
        let stations = recorded.stations.iter_mut().zip(&values.stations);
        for (s, (to, from)) in stations.enumerate() {
            let i = values.bodies.len() + s;
            *to = carrier(from, tree.acceleration(i), self.bodies + PER_BODY * i);
        }
    }

    /// Reads the derivatives with respect to bodies and stations, and with respect to columns.
    pub fn read(
        self,
        system: &System,
        values: &Kinematics<f64>,
        tape: &Tape,
        gradients: &mut [Gradient],
        columns: &mut [Wrench<f64>],
    ) {
        let three = |first: usize| vector_of(tape, first);
        let six = |first: usize| Wrench::new(three(first), three(first + 3));
        for (v, column) in columns.iter_mut().enumerate() {
            *column = six(self.H + 6 * v);
        }
        let carriers = values.bodies.iter().chain(&values.stations);
        for (i, (here, gradient)) in carriers.zip(&mut *gradients).enumerate() {
            let first = self.bodies + PER_BODY * i;
            if tape.are_zero(first..first + PER_BODY) {
                *gradient = Gradient::zero();
                continue;
            }
            *gradient = Gradient {
                pose: Wrench::new(turn(&here.R_WB, tape, first), three(first + 9) + three(first + 12)),
                velocity: six(first + 15),
                acceleration: six(first + 21),
                reaction: Twist::zero(),
            };
        }
        let bodies = system.bodies.len();
        let arm = |i: usize| three(self.bodies + PER_BODY * i + 12);
        for (s, station) in system.stations.iter().enumerate() {
            gradients[station.body].pose.f -= arm(bodies + s);
        }
        for (i, body) in system.bodies.iter().enumerate() {
            // The position from the carrier moves with both ends.
            match body.carrier() {
                Carrier::Body(parent) => gradients[parent].pose.f -= arm(i),
                Carrier::Station(s) => gradients[bodies + s].pose.f -= arm(i),
                Carrier::World | Carrier::Point(_) => {}
            }
        }
    }

    /// Adds the derivatives with respect to the points of ANCF beams to those with respect to the
    /// nodal coordinates and rates.
    pub fn add_points(
        self,
        of: Mechanism,
        values: &Kinematics<f64>,
        tape: &Tape,
        joints: JointState<f64>,
        bars: &mut JointAdjoints,
    ) {
        let three = |first: usize| vector_of(tape, first);
        for (p, (here, point)) in values.points.iter().zip(&of.system.points).enumerate() {
            let first = self.points + PER_POINT * p;
            if tape.are_zero(first..first + PER_POINT) {
                continue;
            }
            let gradient = PointGradient {
                pose: Wrench::new(turn(&here.at.R_WB, tape, first), three(first + 9)),
                velocity: Wrench::new(three(first + 12), three(first + 15)),
                bias: three(first + 18),
                slope: three(first + 21),
            };
            let (beam, constants) = (&of.system.nodal[point.beam], &of.derived.nodal[point.beam]);
            here.add_adjoint(beam, constants, joints, &gradient, bars.q, bars.qd);
        }
    }
}

/// Returns the moment of the derivatives with respect to the columns of a rotation matrix, the
/// variables from number `first` on: the derivative with respect to rotations in world axes.
fn turn(R: &Mat3<f64>, tape: &Tape, first: usize) -> Vec3<f64> {
    let axes = [0, 1, 2].map(|k| R.column(k).cross(&vector_of(tape, first + 3 * k)));
    axes[0] + axes[1] + axes[2]
}

/// Returns the adjoint of a vector of the variables from number `first` on.
pub(super) fn vector_of(tape: &Tape, first: usize) -> Vec3<f64> {
    Vec3::new(tape.adjoint(first), tape.adjoint(first + 1), tape.adjoint(first + 2))
}

/// Returns a vector of the variables from number `first` on.
pub(super) fn vector(v: &Vec3<f64>, first: usize) -> Vec3<Recorded> {
    Vec3::from_fn(|k, _| Recorded::variable(v[k], first + k))
}

/// Returns position and motion of a body or a station of the variables from number `first` on; the
/// acceleration `A` is the whole one: that of the recorded dynamics is zero.
fn carrier(from: &BodyKinematics<f64>, A: &Twist<f64>, first: usize) -> BodyKinematics<Recorded> {
    let mut R_WB = Mat3::<Recorded>::from_element(Recorded::lift(0.0));
    set_variables(R_WB.as_mut_slice(), from.R_WB.as_slice(), first);
    BodyKinematics {
        R_WB,
        p_WB: vector(&from.p_WB, first + 9),
        r_PB_W: vector(&from.r_PB_W, first + 12),
        V_WB: twist(&from.V_WB, first + 15),
        A_bias: twist(A, first + 21),
    }
}

/// Returns position and motion of a point of the variables from number `first` on.
fn point(from: &PointKinematics<f64>, first: usize) -> PointKinematics<Recorded> {
    let mut R_WB = Mat3::<Recorded>::from_element(Recorded::lift(0.0));
    set_variables(R_WB.as_mut_slice(), from.at.R_WB.as_slice(), first);
    let at = BodyKinematics {
        R_WB,
        p_WB: vector(&from.at.p_WB, first + 9),
        r_PB_W: Vec3::zeros(),
        V_WB: twist(&from.at.V_WB, first + 12),
        A_bias: Twist::new(vector(&from.at.A_bias.w, first + 18), Vec3::zeros()),
    };
    PointKinematics::at_site_of(from, at, vector(from.slope(), first + 21))
}

/// Returns a twist of the variables from number `first` on, angular part first.
pub(super) fn twist(V: &Twist<f64>, first: usize) -> Twist<Recorded> {
    Twist::new(vector(&V.w, first), vector(&V.v, first + 3))
}
