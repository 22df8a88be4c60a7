use super::coordinates::{Constrained, Coordinates};
use super::parts::Parts;
use super::{Jacobians, LANES, Model, OperatingPoint, Plant, Tangent};
use crate::Error;
use crate::algebra::{Quaternion, Vec3};
use crate::elements::Samples;
use crate::spec::{Capability, JointType};
use crate::system::{Body, Quantity, Unit};
use nalgebra::{DMatrix, DVector, Matrix4x3};

/// Linearisation of a plant at one instant of a motion, in tangent coordinates `ξ`:
/// `ξ̇ = A ξ + B δu`, `δy = C ξ + D δu`.
///
/// Tangent coordinates are the changes of the states, with two differences. A quaternion (of free
/// and spherical joints; of every body in maximal coordinates) is replaced by three numbers
/// `<owner>.theta[1..3]`: the rotation vector `θ` (rad) of the body relative to the motion, in body
/// axes,
///
/// ```text
///     q = q̄ ⊗ exp(θ),   δq = ½ q̄ ⊗ (0, θ),   θ̇ = δw − w̄ × θ
/// ```
///
/// and `system.work` and unwrapped angles, on which nothing depends, are left out. There are
/// [`pairs`](Self::pairs) position coordinates and as many rates, in the same order: number `i` and
/// number `pairs + i` correspond. The currents of motors with inductance and the masses of
/// propellants follow. [`T`](Self::T) maps `ξ` to the states, [`S`](Self::S) back.
///
/// The discrete state is constant; the quaternions are normalised.
#[derive(Clone, Debug, PartialEq)]
pub struct Linearisation {
    /// Tangent coordinates, `n`.
    pub coordinates: Vec<Quantity>,
    /// Number of position coordinates.
    pub pairs: usize,
    /// Inputs, `m`.
    pub inputs: Vec<Quantity>,
    /// Continuous outputs, `p`.
    pub outputs: Vec<Quantity>,
    /// State matrix, `n × n`.
    pub A: DMatrix<f64>,
    /// Input matrix, `n × m`.
    pub B: DMatrix<f64>,
    /// Output matrix, `p × n`.
    pub C: DMatrix<f64>,
    /// Feed-through matrix, `p × m`.
    pub D: DMatrix<f64>,
    /// Map `δx = T ξ`, states × `n`.
    pub T: DMatrix<f64>,
    /// Map `ξ = S δx`, `n` × states; `S T = 1`.
    pub S: DMatrix<f64>,
    /// States at the point of linearisation.
    pub x: Vec<f64>,
    /// Derivatives of the states there; zero at an equilibrium.
    pub dx: Vec<f64>,
}

/// Attitude among the states: indices of its quaternion and its angular velocity among the states,
/// and of its tangent coordinates.
struct Attitude {
    /// Name of the joint or the body.
    owner: String,
    q: usize,
    theta: usize,
    w: usize,
}

impl Linearisation {
    /// Linearises a plant at an operating point.
    ///
    /// # Errors
    /// [`Error::NotLinearised`] for a formulation without linearisation; those of
    /// [`Plant::evaluate`], of values and of partial derivatives.
    pub fn new(plant: &mut Plant, at: OperatingPoint) -> Result<Self, Error> {
        let model = plant.model().clone();
        let formulation = model.spec.formulation;
        if !formulation.has(Capability::Linearisation) {
            return Err(Error::NotLinearised(formulation.name()));
        }
        let parts = model.split(&model.states);
        let Parts {
            positions,
            rates,
            currents,
            unwound,
            masses,
            ..
        } = parts;
        let attitudes = attitudes(&model);
        let pairs = rates.len();
        let states = rates.iter().chain(currents).chain(unwound).chain(masses).cloned();
        let coordinates: Vec<Quantity> = tangent(positions, &attitudes).into_iter().chain(states).collect();
        let mut x = at.x.to_vec();
        for attitude in &attitudes {
            let q = &mut x[attitude.q..attitude.q + 4];
            q.copy_from_slice(&Quaternion::from_slice(q).normalised().to_array());
        }
        let (nx, n) = (x.len(), coordinates.len());
        let (T, S) = chart(model.unwound.end + masses.len(), &attitudes, &x, n);

        let mut jacobians = Jacobians::new(&model);
        // Laws of tasks are linearised as continuous ones.
        let mut discrete = at.discrete.clone();
        if model.controller().is_none() {
            discrete.samples.iter_mut().for_each(Samples::discard);
        }
        let discrete = &discrete;
        let at = OperatingPoint { x: &x, discrete, ..at };
        Tangent::<LANES>::new(&model).jacobians(plant, at, &mut jacobians)?;
        let mut A = &S * &jacobians.A * &T;
        for attitude in &attitudes {
            // The tangent axes rotate with the body: d(S δx)/dt includes Ṡ δx, and Ṡ T = −½ [w]×.
            let w = &x[attitude.w..attitude.w + 3];
            let mut block = A.fixed_view_mut::<3, 3>(attitude.theta, attitude.theta);
            block -= Vec3::new(w[0], w[1], w[2]).cross_matrix() * 0.5;
        }
        let real: Vec<usize> = (0..model.outputs.len())
            .filter(|&i| model.outputs[i].kind.is_continuous())
            .collect();
        let (mut dx, mut y) = (vec![0.0; nx], vec![0.0; model.outputs.len()]);
        plant.evaluate(at, &mut dx, &mut y)?;
        Ok(Self {
            coordinates,
            inputs: model.inputs.iter().map(|input| input.quantity.clone()).collect(),
            outputs: real.iter().map(|&i| model.outputs[i].quantity.clone()).collect(),
            B: &S * jacobians.B,
            C: jacobians.C.select_rows(&real) * &T,
            D: jacobians.D.select_rows(&real),
            A,
            T,
            S,
            x,
            dx,
            pairs,
        })
    }

    /// Returns the coordinates whose parts in a mode are counted: each position together with its
    /// rate, and each current.
    pub fn participants(&self) -> impl Iterator<Item = &Quantity> {
        let (positions, rest) = self.coordinates.split_at(self.pairs);
        positions.iter().chain(&rest[self.pairs..])
    }

    /// Returns the index of coordinate `k` among the [participants](Self::participants).
    pub fn participant(&self, k: usize) -> usize {
        if k < self.pairs { k } else { k - self.pairs }
    }

    /// Returns the rate with the largest derivative, with that derivative; at an equilibrium all
    /// derivatives are zero.
    pub fn fastest(&self) -> Option<(&str, f64)> {
        let changes = &self.S * DVector::from_column_slice(&self.dx);
        let rates = self.coordinates.iter().zip(&changes).skip(self.pairs);
        rates
            .take(self.pairs)
            .map(|(rate, &change)| (rate.name.as_str(), change))
            .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
    }
}

/// Returns all attitudes among the states.
fn attitudes(model: &Model) -> Vec<Attitude> {
    let (system, nq) = (&model.system, model.coordinates.positions(&model.system));
    let mut turned = 0;
    let mut attitude = |owner: &str, q: usize, w: usize| {
        // Each attitude has four positions, but three tangent coordinates.
        let theta = q - turned;
        turned += 1;
        Attitude {
            owner: owner.to_owned(),
            q,
            theta,
            w: nq + w,
        }
    };
    let bodies = system.bodies.iter().enumerate();
    let of = |(i, body): (usize, &Body)| match &model.coordinates {
        // The rates are not derivatives of joint attitudes; this formulation is not linearised.
        Coordinates::Velocities(_) => None,
        Coordinates::Minimal => {
            let joint = &body.joint;
            let turns = matches!(joint.kind, JointType::Free | JointType::Spherical);
            turns.then(|| attitude(&joint.name, joint.q, joint.v))
        }
        Coordinates::Maximal(Constrained { layout, .. }) => {
            Some(attitude(&body.name, layout.position(i), layout.motion(i)))
        }
    };
    bodies.filter_map(of).collect()
}

/// Returns the tangent coordinates of the positions.
fn tangent(positions: &[Quantity], attitudes: &[Attitude]) -> Vec<Quantity> {
    let mut coordinates = Vec::new();
    let mut next = 0;
    for attitude in attitudes {
        coordinates.extend_from_slice(&positions[next..attitude.q]);
        let what = format!("small rotation at {}, body axes", attitude.owner);
        coordinates.extend(Quantity::vector(
            &format!("{}.theta", attitude.owner),
            Unit::Radian,
            &what,
        ));
        next = attitude.q + 4;
    }
    coordinates.extend_from_slice(&positions[next..]);
    coordinates
}

/// Returns the maps `T` (tangent coordinates to states) and `S` (states to tangent coordinates) at
/// the states `x`. The first `rows` states are positions, quaternions included, rates and currents;
/// the others have no tangent coordinates. `n` is the number of tangent coordinates.
fn chart(rows: usize, attitudes: &[Attitude], x: &[f64], n: usize) -> (DMatrix<f64>, DMatrix<f64>) {
    let mut T = DMatrix::zeros(x.len(), n);
    let mut column = 0;
    for row in 0..rows {
        match attitudes
            .iter()
            .find(|attitude| (attitude.q..attitude.q + 4).contains(&row))
        {
            Some(attitude) if row > attitude.q => {}
            Some(_) => {
                let [w, x, y, z] = std::array::from_fn(|i| x[row + i]);
                let half_q = Matrix4x3::new(-x, -y, -z, w, -z, y, z, w, -x, -y, x, w) * 0.5;
                T.fixed_view_mut::<4, 3>(row, column).copy_from(&half_q);
                column += 3;
            }
            None => {
                T[(row, column)] = 1.0;
                column += 1;
            }
        }
    }
    // The columns of `T` are orthogonal; those of attitudes have the norm ½.
    let mut S = T.transpose();
    for attitude in attitudes {
        let mut rows = S.fixed_rows_mut::<3>(attitude.theta);
        rows *= 4.0;
    }
    (T, S)
}
