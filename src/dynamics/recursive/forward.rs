use super::inertia_and_bias;
use super::modal::Modal;
use crate::algebra::{ArticulatedInertia, Scalar, SmallSpd, Twist, Vec3, Wrench};
use crate::dynamics::{Applied, Singular, What};
use crate::system::joint::{Free, Motion, part, part_mut, with_joint};
use crate::system::{BodyKinematics, Derived, JointModel, Kinematics, System};

/// Accelerations from loads, in O(n): the articulated-body recursion.
///
/// What is left of a body and everything outboard of it, seen through its joint, is a wrench that is
/// linear in its acceleration beyond `A_bias`, `F = I A + p`. Going inwards, with the joint's columns `H`,
/// torques `τ` and rotor inertias `ρ`:
///
/// ```text
///     U = I H,   D = Hᵀ U + diag ρ,   K = D⁻¹ Uᵀ,   k = D⁻¹ (τ − Hᵀ p)           (1)
///     I' = I − U K,   p' = p + U k                                              (2)
///     I_P += shift(I', r),   p_P += shift(p', r)                               (3)
/// ```
///
/// and going outwards:
///
/// ```text
///     A' = shift(A_P, r),   q̈ = k − K A',   A = A' + H q̈                        (4)
/// ```
///
/// (Featherstone 2008, table 7.1, with the velocity-product accelerations gathered in `A_bias` on the way out.)
/// A flexible body's modes are taken out by (1) and (2) before its joint is; what hangs on its stations acts on them.
/// A free joint transmits nothing: there `A = −I⁻¹ p` and `q̈` follows.
#[derive(Clone, Debug)]
pub struct ForwardDynamics<S: Scalar> {
    /// What hangs on each body: articulated inertia and bias of all its children, about its origin.
    pub(super) hanging: Vec<(ArticulatedInertia<S>, Wrench<S>)>,
    /// The modal part of each flexible body.
    pub(super) modal: Vec<Modal<S>>,
    /// Rows of `K`, one for each rate.
    pub(super) gain: Vec<Wrench<S>>,
    /// `k`, one for each rate.
    pub(super) offset: Vec<S>,
    /// Rows of `D⁻¹`, one for each rate; zero where the motion is given.
    pub(super) compliance: Vec<[S; 3]>,
    /// The factored inertia of each free body with everything on it.
    pub(super) free: Vec<SmallSpd<S, 6>>,
    /// What is left of a [kept](crate::system::Body::kept) body and of all outboard of it, its modes taken out.
    remaining: Vec<(ArticulatedInertia<S>, Wrench<S>)>,
    /// Whether flexible bodies keep the shape that they have.
    is_rigid: bool,
    /// Accelerations of the bodies' origins beyond [`A_bias`](BodyKinematics::A_bias), world axes.
    pub A: Vec<Twist<S>>,
    /// The same of the stations.
    pub A_station: Vec<Twist<S>>,
}

impl<S: Scalar> ForwardDynamics<S> {
    /// Room for a system.
    pub fn new(system: &System) -> Self {
        let n = system.bodies.len();
        Self {
            hanging: vec![(ArticulatedInertia::zero(), Wrench::zero()); n],
            gain: vec![Wrench::zero(); system.nv],
            offset: vec![S::zero(); system.nv],
            compliance: vec![[S::zero(); 3]; system.nv],
            free: vec![SmallSpd::identity(); n],
            modal: Modal::of(system),
            remaining: vec![
                (ArticulatedInertia::zero(), Wrench::zero());
                system.bodies.iter().filter(|body| body.kept.is_some()).count()
            ],
            is_rigid: false,
            A: vec![Twist::zero(); n],
            A_station: vec![Twist::zero(); system.stations.len()],
        }
    }

    /// Room for a system whose flexible bodies keep the shape that they have: their modes' rates and derivatives are zero.
    pub fn rigid(system: &System) -> Self {
        Self {
            is_rigid: true,
            ..Self::new(system)
        }
    }

    /// Computes the rates' derivatives `qdd` (`nv` numbers, rad/s² or m/s²).
    ///
    /// # Errors
    /// [`Singular`] if a joint moves no inertia (to round-off).
    pub fn solve(
        &mut self,
        system: &System,
        derived: &Derived,
        kinematics: &Kinematics<S>,
        applied: &Applied<S>,
        qdd: &mut [S],
    ) -> Result<(), Singular> {
        for (i, body) in system.bodies.iter().enumerate() {
            if let Some(modes) = &body.modes {
                let (modal, bent) = (&mut self.modal[modes.index], &kinematics.deflections[modes.index]);
                modal.begin(bent, &kinematics.bodies[i].A_bias);
                self.hanging[i] = (ArticulatedInertia::zero(), Wrench::zero());
            }
        }
        for i in (0..system.bodies.len()).rev() {
            self.inwards(system, derived, kinematics, applied, i)?;
        }
        for i in 0..system.bodies.len() {
            self.outwards(system, derived, kinematics, i, qdd);
        }
        Ok(())
    }

    /// The wrench that its joint transmits to the body `i`, about the body's origin, world axes; after
    /// [`solve`](Self::solve). None if the body is not [kept](crate::system::Body::kept).
    pub fn transmitted(&self, system: &System, i: usize) -> Option<Wrench<S>> {
        let (I, p) = &self.remaining[system.bodies[i].kept?];
        Some(I.times(&self.A[i]) + *p)
    }

    #[inline(always)]
    fn inwards(
        &mut self,
        system: &System,
        derived: &Derived,
        kinematics: &Kinematics<S>,
        applied: &Applied<S>,
        i: usize,
    ) -> Result<(), Singular> {
        let body = &system.bodies[i];
        let v = body.joint.v;
        let at = &kinematics.bodies[i];
        let constants = &derived.bodies[i];
        let (mut I, mut p) = inertia_and_bias(system, derived, kinematics, i);
        p = p - applied.wrench[i];
        if !body.is_leaf {
            let (inertia, bias) = &self.hanging[i];
            I += inertia;
            p = p + *bias;
        }
        // Of a rigid craft's modes gain and offset are zero for ever.
        if let Some(modes) = body.modes.as_ref().filter(|_| !self.is_rigid) {
            let (gain, offset) = (&mut self.gain[modes.rates()], &mut self.offset[modes.rates()]);
            self.modal[modes.index]
                .eliminate((&mut I, &mut p), &applied.tau[modes.rates()], gain, offset)
                .map_err(|mode| Singular {
                    body: i,
                    what: What::Mode(mode),
                })?;
        }
        if let Some(kept) = body.kept {
            self.remaining[kept] = (I, p);
        }
        let joint = &constants.joint;
        if let JointModel::Free(_) = joint {
            if let (Some(parent), true, None) = (body.parent, body.is_last_child, body.station) {
                // The first to arrive hands nothing on.
                self.hanging[parent] = (ArticulatedInertia::zero(), Wrench::zero());
            }
            return self.free_body(i, (&I, &p), part(&applied.tau, v), part(&kinematics.H, v));
        }
        let taken = with_joint!(joint, joint => eliminate(
            joint,
            part(&kinematics.H, v),
            if applied.driven[i] { Drive::Motion(part(&applied.qdd, v)) } else { Drive::Load(part(&applied.tau, v)) },
            part(&derived.rotor_inertia, v),
            (&mut I, &mut p),
            (
                part_mut(&mut self.gain, v),
                part_mut(&mut self.offset, v),
                part_mut(&mut self.compliance, v),
            ),
        ));
        taken.map_err(|axis| Singular {
            body: i,
            what: What::Axis(axis),
        })?;
        if let Some(parent) = body.parent {
            I = I.shift(&at.r_PB_W);
            p = p.shift(&at.r_PB_W);
            if let (Some(station), Some(modes)) = (body.station, &system.bodies[parent].modes) {
                self.modal[modes.index].hang(system, kinematics, station, (&mut I, &mut p));
            }
            let (inertia, bias) = &mut self.hanging[parent];
            if body.is_last_child && body.station.is_none() {
                // The first to arrive, going inwards.
                (*inertia, *bias) = (I, p);
            } else {
                *inertia += &I;
                *bias = *bias + p;
            }
        }
        Ok(())
    }

    /// A free body with everything on it: `A = I⁻¹ (F − p)`, with the wrench `F` of the joint's torques.
    fn free_body(
        &mut self,
        i: usize,
        (I, p): (&ArticulatedInertia<S>, &Wrench<S>),
        tau: &[S; 6],
        H: &[Twist<S>; 6],
    ) -> Result<(), Singular> {
        let (J, B, M) = (I.J.full(), &I.B, I.M.full());
        let rows: [[S; 6]; 6] = std::array::from_fn(|r| {
            std::array::from_fn(|c| match (r < 3, c < 3) {
                (true, true) => J[(r, c)],
                (true, false) => B[(r, c - 3)],
                (false, true) => B[(c, r - 3)],
                (false, false) => M[(r - 3, c - 3)],
            })
        });
        let mut F = Wrench::zero() - *p;
        for k in 0..3 {
            F.t += H[k].w * tau[k];
            F.f += H[k + 3].v * tau[k + 3];
        }
        let factors = SmallSpd::factor(&rows).map_err(|axis| Singular {
            body: i,
            what: What::Axis(axis),
        })?;
        let a = factors.solve(&[F.t.x, F.t.y, F.t.z, F.f.x, F.f.y, F.f.z]);
        self.A[i] = Twist::new(Vec3::new(a[0], a[1], a[2]), Vec3::new(a[3], a[4], a[5]));
        self.free[i] = factors;
        Ok(())
    }

    #[inline(always)]
    pub(super) fn outwards(
        &mut self,
        system: &System,
        derived: &Derived,
        kinematics: &Kinematics<S>,
        i: usize,
        qdd: &mut [S],
    ) {
        let body = &system.bodies[i];
        let v = body.joint.v;
        let at = &kinematics.bodies[i];
        let carrier = body.carrier();
        let carried = carrier
            .of(&self.A, &self.A_station)
            .map_or_else(Twist::zero, |A| A.shift(&at.r_PB_W));
        match &derived.bodies[i].joint {
            JointModel::Free(joint) => {
                let R_WF = carrier
                    .of(&kinematics.bodies, &kinematics.stations)
                    .map_or_else(|| BodyKinematics::world().R_WB, |P| P.R_WB);
                let relative = self.A[i] - carried;
                *part_mut(qdd, v) = Free::rates(joint, &relative, &R_WF, &at.R_WB);
            }
            joint => {
                self.A[i] = with_joint!(joint, joint => accelerate(
                    joint,
                    carried,
                    part(&kinematics.H, v),
                    part(&self.gain, v),
                    part(&self.offset, v),
                    part_mut(qdd, v),
                ));
            }
        }
        if let Some(modes) = &body.modes {
            let A = self.A[i];
            let rows = self.gain[modes.rates()].iter().zip(&self.offset[modes.rates()]);
            for (qdd, (K, k)) in qdd[modes.rates()].iter_mut().zip(rows) {
                *qdd = *k - K.power(&A);
            }
            for s in modes.stations.clone() {
                self.A_station[s] = kinematics.beyond_bias(system, modes, s, &A, &qdd[modes.rates()]);
            }
        }
    }
}

/// What is known of a joint.
#[derive(Clone, Copy)]
enum Drive<'a, S, const NV: usize> {
    /// The torques and forces on it.
    Load(&'a [S; NV]),
    /// The rates' derivatives, whatever they take: then `K = 0` and `k = q̈`.
    Motion(&'a [S; NV]),
}

/// Equations (1) and (2): takes one joint out, so that what remains is in `I` and `p`.
///
/// # Errors
/// The axis whose inertia vanishes.
#[inline(always)]
fn eliminate<J: Motion<NQ, NV>, const NQ: usize, const NV: usize, S: Scalar>(
    _joint: &J,
    H: &[Twist<S>; NV],
    drive: Drive<S, NV>,
    rotor: &[f64; NV],
    (I, p): (&mut ArticulatedInertia<S>, &mut Wrench<S>),
    (K, k, inverse): (&mut [Wrench<S>; NV], &mut [S; NV], &mut [[S; 3]; NV]),
) -> Result<(), usize> {
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
        D[j][j] += S::lift(rotor[j]);
    }
    match drive {
        Drive::Load(tau) => {
            for j in 0..NV {
                k[j] = tau[j] - on_joint(p, j);
                // About the axis of a slender beam there is round-off only.
                let turns = D[j][j].value() > 1e-14 * I.J.trace().value();
                if J::ROTATES && !J::TRANSLATES && !turns {
                    return Err(j);
                }
            }
            let D = SmallSpd::factor(&D)?;
            *k = D.solve(k);
            solve_rows(&D, &U, K);
            for (j, inverse) in inverse.iter_mut().enumerate() {
                let row = D.solve(&std::array::from_fn(|l| if l == j { S::one() } else { S::zero() }));
                inverse.iter_mut().zip(row).for_each(|(to, entry)| *to = entry);
            }
        }
        Drive::Motion(qdd) => {
            *k = *qdd;
            K.fill(Wrench::zero());
            inverse.fill([S::zero(); 3]);
        }
    }
    deduct(I, p, &U, K, k);
    Ok(())
}

/// Equation (2).
#[inline(always)]
pub(super) fn deduct<S: Scalar>(
    I: &mut ArticulatedInertia<S>,
    p: &mut Wrench<S>,
    U: &[Wrench<S>],
    K: &[Wrench<S>],
    k: &[S],
) {
    for ((U, K), &k) in U.iter().zip(K).zip(k) {
        I.J = I.J.minus_outer(&U.t, &K.t);
        I.B -= U.t * K.f.transpose();
        I.M = I.M.minus_outer(&U.f, &K.f);
        *p = *p + *U * k;
    }
}

/// `K = D⁻¹ Uᵀ`, row by row.
#[inline(always)]
fn solve_rows<S: Scalar, const NV: usize>(D: &SmallSpd<S, NV>, U: &[Wrench<S>; NV], K: &mut [Wrench<S>; NV]) {
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
}

/// Equation (4).
#[inline(always)]
fn accelerate<J: Motion<NQ, NV>, const NQ: usize, const NV: usize, S: Scalar>(
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
