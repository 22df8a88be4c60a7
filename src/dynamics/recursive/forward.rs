use super::modal::Modal;
use crate::algebra::{ArticulatedInertia, InertiaFactors, Scalar, SmallSpd, Twist, Vec3, Wrench, outlined, zero3};
use crate::dynamics::body::{changing_body, flexible_body, rigid_body};
use crate::dynamics::{Applied, Singular, SingularPart};
use crate::system::joint::{Free, Motion, part, part_mut, with_joint};
use crate::system::{BodyKinematics, Carrier, Configuration, Derived, JointModel, Kinematics, System};

/// Forward dynamics (accelerations from loads) in O(n), by the articulated-body algorithm.
///
/// The reaction wrench of a joint is linear in the body's acceleration `A` beyond `A_bias`,
/// `F = I A + p`, with the articulated inertia `I` and bias `p` of the body and its outboard part.
/// Backward pass, with the joint's columns `H`, torques `τ`, and the sum `ρ` of rotor inertias and
/// [added](Applied::inertia) inertias:
///
/// ```text
///     U = I H,   D = Hᵀ U + diag ρ,   K = D⁻¹ Uᵀ,   k = D⁻¹ (τ − Hᵀ p)           (1)
///     I' = I − U K,   p' = p + U k                                              (2)
///     I_P += shift(I', r),   p_P += shift(p', r)                               (3)
/// ```
///
/// Forward pass:
///
/// ```text
///     A' = shift(A_P, r),   q̈ = k − K A',   A = A' + H q̈                        (4)
/// ```
///
/// (Featherstone 2008, table 7.1; the velocity-product accelerations are in `A_bias`.) The modes of
/// a flexible body are condensed by (1) and (2) before its joint; bodies attached to its stations
/// act on the modes. A free joint transmits no wrench to a parent: with the wrench `F` of the
/// generalised forces on it, `A = I⁻¹ (F − p)`, from which `q̈` follows.
#[derive(Clone, Debug)]
pub struct ForwardDynamics<S: Scalar> {
    /// `I` and `p` of each body about its origin, including its outboard part.
    pub(super) articulated: Vec<Articulated<S>>,
    /// Modal part of each flexible body.
    pub(super) modal: Vec<Modal<S>>,
    /// Rows of `K`, one for each rate.
    pub(super) gain: Vec<Wrench<S>>,
    /// `k`, one for each rate.
    pub(super) offset: Vec<S>,
    /// Rows of `D⁻¹`, one for each rate; zero for prescribed motions.
    pub(super) compliance: Vec<[S; 3]>,
    /// Factored articulated inertia of each free body.
    pub(super) free: Vec<InertiaFactors<S>>,
    /// Articulated inertia and bias, with condensed modes, of each body whose joint reaction is
    /// [computed](crate::system::Body::reaction_index).
    remaining: Vec<Articulated<S>>,
    /// True if the biases in `remaining` are the reactions, which
    /// [`set_reactions`](Self::set_reactions) sets.
    has_reactions: bool,
    /// True if flexible bodies are frozen in their current shape.
    pub(super) is_rigid: bool,
    /// Accelerations of the bodies' origins beyond [`A_bias`](BodyKinematics::A_bias), world axes.
    pub A: Vec<Twist<S>>,
    /// Accelerations of the stations beyond `A_bias`, world axes.
    pub A_station: Vec<Twist<S>>,
}

/// Articulated inertia and bias of a body with its outboard part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Articulated<S: Scalar> {
    pub I: ArticulatedInertia<S>,
    pub p: Wrench<S>,
}

impl<S: Scalar> Articulated<S> {
    fn zero() -> Self {
        Self {
            I: ArticulatedInertia::zero(),
            p: Wrench::zero(),
        }
    }
}

impl<S: Scalar> ForwardDynamics<S> {
    /// Allocates for `system`.
    pub fn new(system: &System) -> Self {
        let n = system.bodies.len();
        Self {
            articulated: vec![Articulated::zero(); n],
            gain: vec![Wrench::zero(); system.nv],
            offset: vec![S::zero(); system.nv],
            compliance: vec![[S::zero(); 3]; system.nv],
            free: vec![InertiaFactors::identity(); n],
            modal: Modal::of(system),
            remaining: vec![
                Articulated::zero();
                system
                    .bodies
                    .iter()
                    .filter(|body| body.reaction_index.is_some())
                    .count()
            ],
            has_reactions: false,
            is_rigid: false,
            A: vec![Twist::zero(); n],
            A_station: vec![Twist::zero(); system.stations.len()],
        }
    }

    /// Allocates for `system` with flexible bodies frozen in their current shape: the derivatives
    /// of their modal rates are zero.
    pub fn rigid(system: &System) -> Self {
        Self {
            is_rigid: true,
            ..Self::new(system)
        }
    }

    /// Computes the rates' derivatives `qdd` (`nv`, rad/s² or m/s²), [`A`](Self::A) and
    /// [`A_station`](Self::A_station).
    ///
    /// # Errors
    /// [`Singular`] if a rate of a joint, a mode or a free body has zero inertia (to round-off).
    pub fn solve(&mut self, at: Configuration<S>, applied: &Applied<S>, qdd: &mut [S]) -> Result<(), Singular> {
        self.has_reactions = false;
        self.passes(at.system, at.derived, at.kinematics, applied, qdd)
    }

    /// Both passes of [`solve`](Self::solve). The parts of the configuration are separate arguments
    /// for speed: the compiler assumes that writes do not change data behind a reference argument,
    /// but reloads data behind a reference in a struct after each write.
    #[inline(never)]
    fn passes(
        &mut self,
        system: &System,
        derived: &Derived<S::Constant>,
        kinematics: &Kinematics<S>,
        applied: &Applied<S>,
        qdd: &mut [S],
    ) -> Result<(), Singular> {
        for (i, body) in system.bodies.iter().enumerate() {
            // One call in each arm: after a common call the compiler would spill the inertia to
            // memory.
            let mut begin = |(I, p): (ArticulatedInertia<S>, Wrench<S>)| {
                let p = p - applied.wrench[i];
                self.articulated[i] = Articulated { I, p };
            };
            match &body.modes {
                None => begin(rigid_body(&derived.bodies[i], &kinematics.bodies[i])),
                Some(modes) => {
                    let (bent, A_bias) = (&kinematics.deflections[modes.index], &kinematics.bodies[i].A_bias);
                    begin(flexible_body(&derived.bodies[i], bent, A_bias));
                    self.modal[modes.index].begin(bent, A_bias);
                }
            }
        }
        for (&i, &fill) in system.propellant.iter().zip(&kinematics.fills) {
            let (I, p) = changing_body(&derived.bodies[i], &kinematics.bodies[i], fill);
            let p = p - applied.wrench[i];
            self.articulated[i] = Articulated { I, p };
        }
        for i in (0..system.bodies.len()).rev() {
            self.backward_pass(system, derived, kinematics, applied, i)?;
        }
        self.forward_pass(system, derived, kinematics, qdd);
        Ok(())
    }

    /// Returns the reaction wrench of its joint on body `i`, about the body's origin, world axes;
    /// requires [`solve`](Self::solve). `None` if the body's reaction is not
    /// [computed](crate::system::Body::reaction_index).
    pub fn transmitted(&self, system: &System, i: usize) -> Option<Wrench<S>> {
        let Articulated { I, p } = &self.remaining[system.bodies[i].reaction_index?];
        match self.has_reactions {
            true => Some(*p),
            false => Some(I.times(&self.A[i]) + *p),
        }
    }

    /// Sets the reaction wrenches of the joints (in world axes, about the bodies' origins) that
    /// [`transmitted`](Self::transmitted) returns, in the order of
    /// [`reaction_index`](crate::system::Body::reaction_index), and all accelerations to zero.
    pub fn set_reactions(&mut self, reactions: impl Iterator<Item = Wrench<S>>) {
        self.has_reactions = true;
        self.A.fill(Twist::zero());
        for (remaining, p) in self.remaining.iter_mut().zip(reactions) {
            remaining.p = p;
        }
    }

    /// Gives a free body the angular acceleration `wd` (rad/s², world axes) and returns the external
    /// moment on it that this takes, N·m, world axes: `t = Λ⁻¹ (wd − ẇ)` with the present angular
    /// acceleration ẇ and the angular block Λ of `I⁻¹`. Requires [`solve`](Self::solve); the other
    /// accelerations are valid after [`carry_on`](Self::carry_on).
    ///
    /// # Errors
    /// [`Singular`] if Λ is so to round-off.
    pub fn turn(&mut self, body: usize, wd: &Vec3<S>) -> Result<Vec3<S>, Singular> {
        let inverse = &self.free[body];
        let response = |i: usize| {
            let mut moment = zero3();
            moment[i] = S::one();
            inverse.solve(&Wrench::new(moment, zero3()))
        };
        let responses = [response(0), response(1), response(2)];
        let missing = wd - self.A[body].w;
        let block = responses.map(|of| [of.w.x, of.w.y, of.w.z]);
        let inertia = SmallSpd::factor(&block).map_err(|_| Singular {
            body,
            what: SingularPart::Body,
        })?;
        let [x, y, z] = inertia.solve(&[missing.x, missing.y, missing.z]);
        for (of, t) in responses.iter().zip([x, y, z]) {
            self.A[body] = self.A[body] + *of * t;
        }
        Ok(Vec3::new(x, y, z))
    }

    /// Computes all accelerations again from those of the free bodies.
    pub fn carry_on(&mut self, at: Configuration<S>, qdd: &mut [S]) {
        self.forward_pass(at.system, at.derived, at.kinematics, qdd);
    }

    /// Backward pass, (1) to (3), over one body.
    #[inline(always)]
    fn backward_pass(
        &mut self,
        system: &System,
        derived: &Derived<S::Constant>,
        kinematics: &Kinematics<S>,
        applied: &Applied<S>,
        i: usize,
    ) -> Result<(), Singular> {
        let body = &system.bodies[i];
        let v = body.joint.v;
        let constants = &derived.bodies[i];
        // With `is_rigid`, modes are not condensed; gain and offset keep their initial zeros.
        if let Some(modes) = body.modes.as_ref().filter(|_| !self.is_rigid) {
            let (gain, offset) = (&mut self.gain[modes.rates()], &mut self.offset[modes.rates()]);
            let (inertia, Q) = (&applied.inertia[modes.rates()], &applied.tau[modes.rates()]);
            self.modal[modes.index]
                .eliminate(&mut self.articulated[i], inertia, Q, gain, offset)
                .map_err(|mode| Singular {
                    body: i,
                    what: SingularPart::Mode(mode),
                })?;
        }
        if let Some(k) = body.reaction_index {
            self.remaining[k] = self.articulated[i];
        }
        let joint = &constants.joint;
        if let JointModel::Free(_) = joint {
            return self.free_body(i, part(&applied.tau, v), part(&kinematics.H, v));
        }
        // The propagation is part of the code of each joint type: I' and p' stay in registers.
        with_joint!(joint, joint => {
            let given = match applied.driven[i] {
                true => Given::Acceleration(part(&applied.qdd, v)),
                false => Given::Torque(part(&applied.tau, v)),
            };
            let (rotor, added) = (part(&derived.rotor_inertia, v), part(&applied.inertia, v));
            let rows = CondensedRows {
                K: part_mut(&mut self.gain, v),
                k: part_mut(&mut self.offset, v),
                inverse: part_mut(&mut self.compliance, v),
            };
            let left = eliminate(joint, part(&kinematics.H, v), given, rotor, added, &self.articulated[i], rows);
            let Articulated { I, p } = left.map_err(|axis| Singular {
                body: i,
                what: SingularPart::Axis(axis),
            })?;
            self.propagate_to_parent(system, kinematics, i, &I, &p);
        });
        Ok(())
    }

    /// Propagates `I'` and `p'` to the parent or the parent's station, by (3).
    #[inline(always)]
    fn propagate_to_parent(
        &mut self,
        system: &System,
        kinematics: &Kinematics<S>,
        i: usize,
        I: &ArticulatedInertia<S>,
        p: &Wrench<S>,
    ) {
        let body = &system.bodies[i];
        let Some(parent) = body.parent else { return };
        let r = &kinematics.bodies[i].r_PB_W;
        let carrier = &mut self.articulated[parent];
        let mut arrive = |I: &ArticulatedInertia<S>, p: Wrench<S>| {
            carrier.I += I;
            carrier.p = carrier.p + p;
        };
        let (I, p) = (I.shift(r), p.shift(r));
        match (body.station, &system.bodies[parent].modes) {
            (Some(station), Some(modes)) => {
                let (I, p) = self.modal[modes.index].attach(system, kinematics, station, &I, &p);
                arrive(&I, p);
            }
            _ => arrive(&I, p),
        }
    }

    /// Computes the acceleration of a free body, `A = I⁻¹ (F − p)`, with the wrench `F` of the
    /// generalised forces on its joint.
    fn free_body(&mut self, i: usize, tau: &[S; 6], H: &[Twist<S>; 6]) -> Result<(), Singular> {
        let Articulated { I, p } = &self.articulated[i];
        let mut F = Wrench::zero() - *p;
        for k in 0..3 {
            F.t += H[k].w * tau[k];
            F.f += H[k + 3].v * tau[k + 3];
        }
        // The pivot belongs to a world axis and not to a rate of the joint.
        let factors = I.factor().map_err(|_| Singular {
            body: i,
            what: SingularPart::Body,
        })?;
        self.A[i] = factors.solve(&F);
        self.free[i] = factors;
        Ok(())
    }

    /// Forward pass: evaluates (4) for all bodies.
    #[inline(always)]
    pub(super) fn forward_pass(
        &mut self,
        system: &System,
        derived: &Derived<S::Constant>,
        kinematics: &Kinematics<S>,
        qdd: &mut [S],
    ) {
        let mut before = Twist::zero();
        for i in 0..system.bodies.len() {
            before = self.body_forward(system, derived, kinematics, i, before, qdd);
        }
    }

    /// Evaluates (4) for body `i` and returns its acceleration; `before` is that of body `i − 1`.
    #[inline(always)]
    fn body_forward(
        &mut self,
        system: &System,
        derived: &Derived<S::Constant>,
        kinematics: &Kinematics<S>,
        i: usize,
        before: Twist<S>,
        qdd: &mut [S],
    ) -> Twist<S> {
        let body = &system.bodies[i];
        let v = body.joint.v;
        let at = &kinematics.bodies[i];
        let carrier = body.carrier();
        let A_P = match carrier {
            // `before` is still in registers; loading `A[parent]` just after its store is slower.
            Carrier::Body(parent) if parent + 1 == i => before,
            _ => carrier
                .of(&self.A, &self.A_station)
                .copied()
                .unwrap_or_else(Twist::zero),
        };
        let carried = A_P.shift(&at.r_PB_W);
        let A = match &derived.bodies[i].joint {
            JointModel::Free(joint) => {
                let R_WF = carrier
                    .of(&kinematics.bodies, &kinematics.stations)
                    .map_or_else(|| BodyKinematics::world().R_WB, |P| P.R_WB);
                let relative = self.A[i] - carried;
                *part_mut(qdd, v) = Free::rates(joint, &relative, &R_WF, &at.R_WB);
                self.A[i]
            }
            joint => with_joint!(joint, joint => accelerate(
                joint,
                carried,
                part(&kinematics.H, v),
                part(&self.gain, v),
                part(&self.offset, v),
                part_mut(qdd, v),
            )),
        };
        self.A[i] = A;
        if let Some(modes) = &body.modes {
            let rows = self.gain[modes.rates()].iter().zip(&self.offset[modes.rates()]);
            for (qdd, (K, k)) in qdd[modes.rates()].iter_mut().zip(rows) {
                *qdd = *k - K.power(&A);
            }
            for s in modes.stations.clone() {
                self.A_station[s] = kinematics.beyond_bias(system, modes, s, &A, &qdd[modes.rates()]);
            }
        }
        A
    }
}

/// Given quantity of a joint: the forces or the accelerations of its rates.
#[derive(Clone, Copy)]
enum Given<'a, S, const NV: usize> {
    /// Generalised forces.
    Torque(&'a [S; NV]),
    /// Derivatives of the rates, by a drive: then `K = 0` and `k = q̈`.
    Acceleration(&'a [S; NV]),
}

/// Results of (1) for a joint, one row for each rate.
struct CondensedRows<'a, S: Scalar, const NV: usize> {
    K: &'a mut [Wrench<S>; NV],
    k: &'a mut [S; NV],
    /// `D⁻¹`.
    inverse: &'a mut [[S; 3]; NV],
}

/// Condenses one joint by (1) and (2), with the inertias of rotors and the added ones; returns `I'`
/// and `p'`.
///
/// # Errors
/// The index of the rate with zero inertia.
#[inline(always)]
fn eliminate<J: Motion<S, NQ, NV>, const NQ: usize, const NV: usize, S: Scalar>(
    _joint: &J,
    H: &[Twist<S>; NV],
    given: Given<S, NV>,
    rotor: &[S::Constant; NV],
    added: &[S::Constant; NV],
    body: &Articulated<S>,
    joint_rows: CondensedRows<S, NV>,
) -> Result<Articulated<S>, usize> {
    let Articulated { I, p } = body;
    let CondensedRows { K, k, inverse } = joint_rows;
    let on_joint = |F: &Wrench<S>, j: usize| match (J::ROTATES, J::TRANSLATES) {
        (true, false) => H[j].w.dot(&F.t),
        (false, true) => H[j].v.dot(&F.f),
        _ => F.power(&H[j]),
    };
    // (1)
    let mut U = [Wrench::zero(); NV];
    let mut D = [[S::zero(); NV]; NV];
    for j in 0..NV {
        U[j] = match (J::ROTATES, J::TRANSLATES) {
            (true, false) => Wrench::new(I.J.times(&H[j].w), I.B.tr_mul(&H[j].w)),
            (false, true) => Wrench::new(I.B * H[j].v, I.M.times(&H[j].v)),
            _ => I.times(&H[j]),
        };
        for a in j..NV {
            D[a][j] = on_joint(&U[j], a);
        }
        D[j][j] += S::lift(rotor[j] + added[j]);
    }
    let mut rows = [Wrench::zero(); NV];
    let mut offset;
    match given {
        Given::Torque(tau) => {
            offset = *tau;
            for j in 0..NV {
                offset[j] -= on_joint(p, j);
                // Below this bound the inertia is round-off, as about the axis of a slender beam.
                let turns = S::holds(D[j][j], I.J.trace(), |own, trace| own > 1e-14 * trace);
                if J::ROTATES && !J::TRANSLATES && !turns {
                    return Err(j);
                }
            }
            let D = SmallSpd::factor(&D)?;
            offset = D.solve(&offset);
            solve_rows(&D, &U, &mut rows);
            for (j, inverse) in inverse.iter_mut().enumerate() {
                let row = D.solve(&std::array::from_fn(|l| if l == j { S::one() } else { S::zero() }));
                inverse.iter_mut().zip(row).for_each(|(to, entry)| *to = entry);
            }
        }
        Given::Acceleration(qdd) => {
            offset = *qdd;
            inverse.fill([S::zero(); 3]);
        }
    }
    (*K, *k) = (rows, offset);
    let (mut I, mut p) = (*I, *p);
    condense(&mut I, &mut p, &U, &rows, &offset);
    Ok(Articulated { I, p })
}

/// Replaces `I` and `p` by `I'` and `p'` of (2).
#[inline(always)]
pub(super) fn condense<S: Scalar>(
    I: &mut ArticulatedInertia<S>,
    p: &mut Wrench<S>,
    U: &[Wrench<S>],
    K: &[Wrench<S>],
    k: &[S],
) {
    outlined!(S, {
        for ((U, K), &k) in U.iter().zip(K).zip(k) {
            I.J = I.J.minus_outer(&U.t, &K.t);
            I.B -= U.t * K.f.transpose();
            I.M = I.M.minus_outer(&U.f, &K.f);
            *p = *p + *U * k;
        }
    })
}

/// Computes `K = D⁻¹ Uᵀ`, row by row.
#[inline(always)]
fn solve_rows<S: Scalar, const NV: usize>(D: &SmallSpd<S, NV>, U: &[Wrench<S>; NV], K: &mut [Wrench<S>; NV]) {
    outlined!(S, {
        for axis in 0..3 {
            let (mut t, mut f) = ([S::zero(); NV], [S::zero(); NV]);
            for j in 0..NV {
                (t[j], f[j]) = (U[j].t[axis], U[j].f[axis]);
            }
            (t, f) = (D.solve(&t), D.solve(&f));
            for j in 0..NV {
                K[j].t[axis] = t[j];
                K[j].f[axis] = f[j];
            }
        }
    })
}

/// Evaluates (4): computes `q̈` and returns `A`, from `A' = carried`.
#[inline(always)]
fn accelerate<J: Motion<S, NQ, NV>, const NQ: usize, const NV: usize, S: Scalar>(
    _joint: &J,
    carried: Twist<S>,
    H: &[Twist<S>; NV],
    K: &[Wrench<S>; NV],
    k: &[S; NV],
    qdd: &mut [S; NV],
) -> Twist<S> {
    let mut A = carried;
    for j in 0..NV {
        qdd[j] = k[j] - K[j].power(&carried);
        if J::ROTATES {
            A.w += H[j].w * qdd[j];
        }
        if J::TRANSLATES {
            A.v += H[j].v * qdd[j];
        }
    }
    A
}
