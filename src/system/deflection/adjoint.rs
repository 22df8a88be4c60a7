//! Adjoints of flexible bodies: derivatives of the virtual power of the inertial forces, and of the
//! motion of stations (`docs/theory/adjoint.md`, whose numbers the comments cite).

use super::{Amplitude, BodyKinematics, Deflection, Elastic, StationConstants};
use crate::algebra::{Dual, Mat3, Scalar, TurnedFrame, Twist, Vec3, Wrench};
use crate::system::{Modes, System};

/// Amplitudes of the modes of a flexible body, their rates and second derivatives, and their rates
/// in the virtual motion.
#[derive(Clone, Copy, Debug)]
pub struct ModalMotion<'a> {
    /// Amplitudes `η`.
    pub eta: &'a [f64],
    /// Rates `η̇`.
    pub rate: &'a [f64],
    /// Second derivatives `η̈`.
    pub acceleration: &'a [f64],
    /// Virtual rates.
    pub virtual_rate: &'a [f64],
}

/// Adjoints of the amplitudes and rates of the modes of a body, to which derivatives are added.
#[derive(Debug)]
pub struct ModalAdjoints<'a> {
    /// Adjoints of the amplitudes.
    pub eta: &'a mut [f64],
    /// Adjoints of the rates.
    pub rate: &'a mut [f64],
}

/// Motion of a body's floating frame, world axes: angular velocity, acceleration, virtual motion.
#[derive(Clone, Copy, Debug)]
pub struct ReferenceMotion {
    /// Angular velocity.
    pub w: Vec3<f64>,
    /// Angular acceleration, and ordinary acceleration of the origin.
    pub A: Twist<f64>,
    /// Virtual angular velocity, and virtual velocity of the origin.
    pub virtual_motion: Twist<f64>,
}

impl Deflection<f64> {
    /// Adds the derivatives of the virtual power `W` of the body's inertial forces, (10), with
    /// respect to amplitudes and rates to `bars`. Returns the derivative with respect to the angular
    /// velocity beyond that of the rigid body with the same `h` and `J`, world axes.
    ///
    /// Requires the deflection at the same coordinates and rates. `fields` is a workspace.
    pub fn virtual_power(
        &self,
        elastic: &Elastic,
        at: &BodyKinematics<f64>,
        body: &ReferenceMotion,
        modes: ModalMotion,
        fields: &mut Vec<[f64; 4]>,
        bars: &mut ModalAdjoints,
    ) -> Vec3<f64> {
        let R = at.R_WB * elastic.axes;
        let [w, alpha, a, mu, nu] =
            [body.w, body.A.w, body.A.v, body.virtual_motion.w, body.virtual_motion.v].map(|v| R.tr_mul(&v));
        let mut by_w = Vec3::zeros();
        let of_spin = mu.cross(&w);
        for (k, mode) in elastic.modes.iter().enumerate() {
            by_w += (mode.b * modes.rate[k]).cross(&mu);
            bars.rate[k] += mode.b.dot(&of_spin);
        }
        fields.clear();
        fields.extend((0..elastic.fields.len()).map(|i| self.field(i, modes)));
        for (i, field) in elastic.fields.iter().enumerate() {
            let X = field.axis;
            let sums = sums(elastic, i, fields);
            let [Y, V, Z, D] = [field.Y + sums[0], sums[1], sums[2], sums[3]];
            let [_, rate, _, virtual_rate] = fields[i];
            // (11)
            let force = a * field.a + alpha.cross(&Y) + w.cross(&(w.cross(&Y) + V * 2.0)) + Z;
            let moved = nu * field.a + mu.cross(&Y) + D;
            let by_z = (force.cross(&mu) + moved.cross(&alpha) + w.cross(&w.cross(&moved)))[X];
            let by_rate = 2.0 * moved.cross(&w)[X];
            let along = Vec3::ith(X, 1.0);
            by_w +=
                along.cross(&moved) * (2.0 * rate) + (along * w.dot(&Y) + Y * w[X] - w * (2.0 * Y[X])) * virtual_rate;
            add_field(field.amplitude, [by_z, by_rate, moved[X], force[X]], modes, bars);
        }
        R * by_w
    }

    /// Returns `z`, `ż`, `z̈` and the virtual rate `ζ` of field `i`.
    fn field(&self, i: usize, modes: ModalMotion) -> [f64; 4] {
        let [z, rate, bias] = self.z[i];
        let start = [z, rate, bias, 0.0];
        self.fields[i]
            .dz()
            .iter()
            .fold(start, |[z, rate, second, zeta], &(k, dz)| {
                let second = second + dz * modes.acceleration[k];
                [z, rate, second, zeta + dz * modes.virtual_rate[k]]
            })
    }
}

/// Returns the sums `Σ A_ij e_j z_j` over all fields `j`, with each of their numbers `z`.
fn sums<const N: usize>(elastic: &Elastic, i: usize, fields: &[[f64; N]]) -> [Vec3<f64>; N] {
    let n = fields.len();
    let products = &elastic.products[i * n..(i + 1) * n];
    let mut sums = [Vec3::zeros(); N];
    for (axis, along) in elastic.along.iter().enumerate() {
        let terms = products[along.clone()].iter().zip(&fields[along.clone()]);
        let of_axis = terms.fold([0.0; N], |mut sum, (product, field)| {
            for (sum, z) in sum.iter_mut().zip(field) {
                *sum += product * z;
            }
            sum
        });
        for (sum, of_axis) in sums.iter_mut().zip(of_axis) {
            sum[axis] = of_axis;
        }
    }
    sums
}

/// Weights of a sum of the momenta and the kinetic energy of a flexible body, world axes.
#[derive(Clone, Copy, Debug)]
pub struct MomentumWeights {
    /// Weights per mass of the velocity at the body's origin and of the rotation.
    pub field: [Vec3<f64>; 2],
    /// Weight per mass of the position.
    pub position: Vec3<f64>,
    /// Velocity of the origin relative to that of the mass centre.
    pub v: Vec3<f64>,
    /// Angular velocity.
    pub w: Vec3<f64>,
    /// Weight of the angular momentum about the mass centre.
    pub spin: Vec3<f64>,
    /// Weight of the kinetic energy.
    pub energy: f64,
}

impl Deflection<f64> {
    /// Adds the derivatives of a weighted inertia, `½ P:J + p·h` with the weights `P` (`of_J`) and `p`
    /// (`of_h`) in the axes of the beam, with respect to the amplitudes `eta` to `eta_bar`, (37).
    /// `fields` is a workspace.
    pub fn weighted_inertia(
        &self,
        elastic: &Elastic,
        of_J: &Mat3<f64>,
        of_h: &Vec3<f64>,
        eta: &[f64],
        fields: &mut Vec<[f64; 4]>,
        eta_bar: &mut [f64],
    ) {
        let trace = of_J.trace();
        fields.clear();
        let z = &self.z[..elastic.fields.len()];
        fields.extend(z.iter().map(|[z, ..]| [*z, 0.0, 0.0, 0.0]));
        for (i, field) in elastic.fields.iter().enumerate() {
            let Y = field.Y + sums(elastic, i, fields)[0];
            let by_z = (of_h * field.a + Y * trace - of_J * Y)[field.axis];
            match field.amplitude {
                Amplitude::Mode(k) => eta_bar[k] += by_z,
                Amplitude::Pair(k, l) => {
                    eta_bar[k] += by_z * eta[l];
                    if k != l {
                        eta_bar[l] += by_z * eta[k];
                    }
                }
            }
        }
    }

    /// Adds the derivatives of a sum of the body's momenta and kinetic energy with respect to
    /// amplitudes and rates, whose values are `motion`, to `bars`, (15). `fields` is a workspace.
    pub fn momenta(
        &self,
        elastic: &Elastic,
        R_WB: &Mat3<f64>,
        of: &MomentumWeights,
        motion: [&[f64]; 2],
        fields: &mut Vec<[f64; 4]>,
        bars: &mut ModalAdjoints,
    ) {
        let R = R_WB * elastic.axes;
        let [start, turn] = of.field.map(|v| R.tr_mul(&v));
        let [position, v, w, spin] = [of.position, of.v, of.w, of.spin].map(|v| R.tr_mul(&v));
        let [eta, eta_dot] = motion;
        let rows = elastic.modes.iter().zip(self.M.chunks(eta.len().max(1)));
        for ((mode, row), rate) in rows.zip(&mut *bars.rate) {
            let momentum: f64 = row.iter().zip(eta_dot).map(|(M, rate)| M * rate).sum();
            *rate += mode.b.dot(&turn) + of.energy * momentum;
        }
        fields.clear();
        fields.extend(
            self.z[..elastic.fields.len()]
                .iter()
                .map(|[z, rate, _]| [*z, *rate, 0.0, 0.0]),
        );
        for (i, field) in elastic.fields.iter().enumerate() {
            let (X, [Y, V, ..]) = (field.axis, sums(elastic, i, fields));
            let Y = field.Y + Y;
            let weight = start * field.a + turn.cross(&Y) + V * of.energy;
            let relative = v * field.a + w.cross(&Y) + V;
            let by_z = (position * field.a + relative.cross(&spin) + weight.cross(&w))[X];
            let by_rate = weight[X];
            // The energy of the modes' own motion is in the modal mass.
            let of_momentum = by_rate - of.energy * V[X];
            let mut add = |k: usize, l: usize| {
                bars.eta[k] += by_z * eta[l] + by_rate * eta_dot[l];
                bars.rate[k] += of_momentum * eta[l];
            };
            match field.amplitude {
                Amplitude::Mode(k) => {
                    bars.eta[k] += by_z;
                    bars.rate[k] += of_momentum;
                }
                Amplitude::Pair(k, l) if k == l => add(k, k),
                Amplitude::Pair(k, l) => {
                    add(k, l);
                    add(l, k);
                }
            }
        }
    }
}

/// Acceleration field `g + G p` (m/s², 1/s²) at `p` from the origin of a body, and its change, in the
/// axes of the beam.
#[derive(Clone, Copy, Debug)]
pub struct FieldChange {
    /// `g` and `G`.
    pub value: (Vec3<f64>, Mat3<f64>),
    /// Their changes.
    pub change: (Vec3<f64>, Mat3<f64>),
}

impl Deflection<f64> {
    /// Returns the changes of the first and the second moment of mass about the origin, world axes,
    /// along the changes `along` of the amplitudes, with the attitude `R_WB`.
    pub fn moments_along(&self, elastic: &Elastic, R_WB: &Mat3<f64>, along: &[f64]) -> (Vec3<f64>, Mat3<f64>) {
        let R = R_WB * elastic.axes;
        let (mut first, mut half) = (Vec3::zeros(), Mat3::zeros());
        for (field, motion) in elastic.fields.iter().zip(&self.fields) {
            let change = motion.dz().iter().map(|&(k, dz)| dz * along[k]).sum::<f64>();
            first[field.axis] += field.a * change;
            let mut column = half.column_mut(field.axis);
            column += motion.Y * change;
        }
        (R * first, R * (half + half.transpose()) * R.transpose())
    }

    /// Adds the changes of the modal forces of an acceleration field
    /// ([`add_field`](Self::add_field)) along the changes `along` of the amplitudes `eta` and that of
    /// the field, to `eta_bar`. `fields` is a workspace.
    pub fn add_field_change(
        &self,
        elastic: &Elastic,
        of: &FieldChange,
        eta: &[f64],
        along: &[f64],
        fields: &mut Vec<[f64; 2]>,
        eta_bar: &mut [f64],
    ) {
        fields.clear();
        let all = elastic.fields.iter().zip(&self.fields);
        fields.extend(all.clone().map(|(_, motion)| {
            let change = motion.dz().iter().map(|&(k, dz)| dz * along[k]).sum();
            [change, 0.0]
        }));
        let ((g, G), (g_change, G_change)) = (&of.value, &of.change);
        for (i, (field, motion)) in all.enumerate() {
            let (X, a) = (field.axis, field.a);
            let Y_change = sums(elastic, i, fields)[0];
            let force = (g * a + G * motion.Y)[X];
            let change = (g_change * a + G_change * motion.Y + G * Y_change)[X];
            match field.amplitude {
                Amplitude::Mode(k) => eta_bar[k] += change,
                Amplitude::Pair(k, l) => {
                    eta_bar[k] += change * eta[l] + force * along[l];
                    if k != l {
                        eta_bar[l] += change * eta[k] + force * along[k];
                    }
                }
            }
        }
    }
}

/// Adds the derivatives `by` with respect to `z`, `ż`, `z̈` and `ζ` of a field, (12).
fn add_field(amplitude: Amplitude, by: [f64; 4], modes: ModalMotion, bars: &mut ModalAdjoints) {
    let [by_z, by_rate, by_second, by_virtual] = by;
    let mut add = |k: usize, l: usize| {
        bars.eta[k] += by_z * modes.eta[l]
            + by_rate * modes.rate[l]
            + by_second * modes.acceleration[l]
            + by_virtual * modes.virtual_rate[l];
        bars.rate[k] += by_rate * modes.eta[l] + 2.0 * by_second * modes.rate[l];
    };
    match amplitude {
        Amplitude::Mode(k) => {
            bars.eta[k] += by_z;
            bars.rate[k] += by_rate;
        }
        Amplitude::Pair(k, l) if k == l => add(k, k),
        Amplitude::Pair(k, l) => {
            add(k, l);
            add(l, k);
        }
    }
}

impl StationConstants {
    /// Adds the derivatives with respect to amplitudes and rates of a function of the station's
    /// motion to `bars`, (9): `G` are its derivatives with respect to a virtual displacement of the
    /// station and its first and second time derivative, `f` the wrench that multiplies the virtual
    /// motion; all about the station's origin, world axes. Returns `Σ p_kl η̇_k η̇_l`, world axes: the
    /// acceleration of the station due to the rates, as seen from the body, m/s².
    pub fn add_adjoints(
        &self,
        at: &BodyKinematics<f64>,
        body: &ReferenceMotion,
        modes: ModalMotion,
        G: &[Wrench<f64>; 3],
        f: &Wrench<f64>,
        bars: &mut ModalAdjoints,
    ) -> Vec3<f64> {
        let R = &at.R_WB;
        let [w, alpha, mu] = [body.w, body.A.w, body.virtual_motion.w].map(|v| R.tr_mul(&v));
        // Weights of a column in body axes, of its first and second derivative, and of its change by
        // the virtual motion.
        let weights = |part: fn(&Wrench<f64>) -> &Vec3<f64>| {
            let [g_0, g_1, g_2, f] = [part(&G[0]), part(&G[1]), part(&G[2]), part(f)].map(|g| R.tr_mul(g));
            let turned = g_2.cross(&w);
            let first = g_1 + turned * 2.0;
            let value = g_0 + g_1.cross(&w) + g_2.cross(&alpha) + turned.cross(&w) + f.cross(&mu);
            [value, first, g_2, f]
        };
        let [value, first, second, of_virtual] = weights(|G| &G.f);
        for (k, shape) in self.shape.iter().enumerate() {
            bars.eta[k] += shape.dot(&value);
            bars.rate[k] += shape.dot(&first);
        }
        let mut bias = Vec3::zeros();
        for (k, l, p) in &self.pairs {
            let by = [p.dot(&value), p.dot(&first), p.dot(&second), p.dot(&of_virtual)];
            add_field(Amplitude::Pair(*k, *l), by, modes, bars);
            let share = if k == l { 1.0 } else { 2.0 };
            bias += p * (share * modes.rate[*k] * modes.rate[*l]);
        }
        if self.slope.iter().any(|slope| *slope != Vec3::zeros()) {
            self.add_rotation(&weights(|G| &G.t), modes, bars);
        }
        R * bias
    }

    /// Adds the part of the rotation, with the weights of a column, of its derivatives and of its
    /// change by the virtual motion.
    fn add_rotation(&self, weights: &[Vec3<f64>; 4], modes: ModalMotion, bars: &mut ModalAdjoints) {
        let [value, first, second, of_virtual] = weights;
        let sum = |by: &[f64]| {
            let slopes = self.slope.iter().zip(by);
            slopes.fold(Vec3::zeros(), |theta, (slope, &by)| theta + slope * by)
        };
        let (theta, rate) = (sum(modes.eta), sum(modes.rate));
        let along = |value: &Vec3<f64>, change: &Vec3<f64>| Vec3::from_fn(|i, _| Dual::<1>::new(value[i], [change[i]]));
        // The value of a dual number is that at the instant, its derivative the time derivative.
        let moving = TurnedFrame::new(along(&theta, &rate));
        let rate = along(&rate, &sum(modes.acceleration));
        let still = |v: &Vec3<f64>| along(v, &Vec3::zeros());
        let by_first = moving.velocity_change(&rate, &still(first)).map(|x| x.re);
        let by_second = moving.velocity_change(&rate, &still(second));
        let virtual_rate = still(&sum(modes.virtual_rate));
        let by_virtual = moving.velocity_change(&virtual_rate, &still(of_virtual)).map(|x| x.re);
        let turning = moving.velocity().map(|x| x.value());
        let of_theta = turning.tr_mul(value) + by_first + by_second.map(|x| x.eps[0]) + by_virtual;
        let of_rate = turning.tr_mul(first) + by_second.map(|x| x.re) * 2.0;
        for (k, slope) in self.slope.iter().enumerate() {
            bars.eta[k] += slope.dot(&of_theta);
            bars.rate[k] += slope.dot(&of_rate);
        }
    }
}

/// Returns the sum of the velocity parts of a station's columns, weighted by `rates`.
pub fn along_modes(system: &System, T: &[Twist<f64>], modes: &Modes, station: usize, rates: &[f64]) -> Vec3<f64> {
    let first = system.stations[station].first;
    let columns = T[first..first + modes.n].iter().zip(rates);
    columns.fold(Vec3::zeros(), |sum, (T, &rate)| sum + T.v * rate)
}
