use super::Incidence;
use super::reactions::{Mat6, Reactions, Vec6};
use crate::algebra::{DualInertia, DualQuaternion, Quaternion, Scalar, Twist, Vec3, Wrench, lift3};
use crate::dynamics::{Applied, JointRows, Singular, SingularPart};
use crate::spec::JointType;
use crate::system::joint::{Motion, part, with_joint};
use crate::system::{Body, Configuration, Kinematics, System};
use nalgebra::DMatrix;

/// Solver for accelerations and joint wrenches from loads, by the Newton–Euler equations of each
/// rigid body in dual form (50),
///
/// ```text
///     [ S11 S12 ] [ ẏ ]   [ B1 ]
///     [ S21  0  ] [ T ] = [ B2 ]
/// ```
///
/// `y` holds the bodies' dual velocities about their mass centres in body axes, `T` the joint
/// wrenches. The columns of `V` are the wrenches that a joint can transmit, in the axes of its
/// distal body, about its origin there (tables 4 and 5). With the pose `q_id` of the distal body's
/// mass centre frame in the joint frame `i`, and the pose `q_ki` of the joint frame in the proximal
/// mass centre frame,
///
/// ```text
///     S11 = H(M)                                                              (51)
///     S12 = −q_id* V q_id  (distal body),   q_ki V q_ki*  (proximal body)     (53)
///     S21 = −S12ᵀ SW,   which is (54) with Λ = Vᵀ SW
///     B1  = W − ω × (M ∗ ωˢ)                                                  (55)
///     B2  = Λ (ω_ki × ω_i + Ḣ q̇ − 2α ω_i)                                     (56)
/// ```
///
/// where `ω_ki = q_ki* ω_k q_ki` is the proximal body's dual velocity at the joint and `ω_i` the
/// joint's own. `Ḣ q̇` is nonzero for universal joints only, whose axes move in the distal body;
/// `2α` is Baumgarte's damping term. In the solution (60), `S12ᵀ M⁻¹ S12` is symmetric, positive
/// definite and as sparse as the tree.
///
/// Each joint has six rows. The row of a rate is inactive (`T = 0`, the torque is in `B1`), with
/// two exceptions: if a drive prescribes the motion, the row is a constraint, and its `T` is the
/// drive torque (§3.4); with a rotor of inertia `ρ`, `T = τ − ρ q̈`, a row with `1/ρ` on the
/// diagonal.
#[derive(Clone, Debug)]
pub struct NewtonEuler<S: Scalar> {
    nodes: Vec<BodyEquations<S>>,
    reactions: Reactions<S>,
    /// Accelerations of the bodies' origins beyond
    /// [`A_bias`](crate::system::BodyKinematics::A_bias), world axes.
    pub A: Vec<Twist<S>>,
    /// Reaction wrench of each body's joint on the body, about the body's origin, world axes.
    pub F: Vec<Wrench<S>>,
}

/// A body and its joint.
#[derive(Clone, Debug)]
struct BodyEquations<S: Scalar> {
    M: DualInertia<S>,
    /// Reference velocity, m/s, world axes: that of a free root, else zero. Its subtraction avoids
    /// cancellation at orbital velocities; no result depends on it.
    v_0: Vec3<S>,
    /// The body's part of `y`, relative to `v_0`.
    w: DualQuaternion<S>,
    /// The body's part of `B1`; after the solution it includes the joint wrenches.
    load: DualQuaternion<S>,
    /// The body's part of `ẏ`.
    w_dot: DualQuaternion<S>,
    rows: JointRows<S>,
    /// `V`: the constraint wrenches, then the wrenches of the rates.
    V: [DualQuaternion<S>; 6],
    /// Poses of the distal body's mass centre in the joint frame, and of the joint frame in the
    /// proximal body's mass centre frame.
    q_id: DualQuaternion<S>,
    q_ki: DualQuaternion<S>,
    /// `−S12`, one column for each row; zero for an inactive row.
    distal: [DualQuaternion<S>; 6],
    proximal: [DualQuaternion<S>; 6],
    row_types: [Row<S>; 6],
    /// `Vᵀ SW (ω_ki × ω_i + Ḣ q̇)`.
    bias: [S; 6],
    /// `T`; for an inactive row the applied torque, which `B1` already contains.
    T: [S; 6],
}

/// The type of a joint's row.
#[derive(Clone, Copy, Debug)]
enum Row<S> {
    /// Constraint, with the prescribed derivative of the relative velocity.
    Motion(S),
    /// Inactive row, with the applied torque or force.
    Load(S),
    /// Row of a rotor, with the applied torque or force and `1/ρ`.
    Rotor(S, S),
}

impl<S: Scalar> BodyEquations<S> {
    fn new(rows: JointRows<S>) -> Self {
        let (zero, none) = (DualQuaternion::zero(), [DualQuaternion::zero(); 6]);
        Self {
            M: DualInertia::unit(),
            v_0: Vec3::zeros(),
            w: zero,
            load: zero,
            w_dot: zero,
            rows,
            V: none,
            q_id: DualQuaternion::identity(),
            q_ki: DualQuaternion::identity(),
            distal: none,
            proximal: none,
            row_types: [Row::Load(S::zero()); 6],
            bias: [S::zero(); 6],
            T: [S::zero(); 6],
        }
    }

    /// Returns the number of constraint rows; the rows of the rates follow them.
    fn held(&self) -> usize {
        self.rows.held.len()
    }
}

/// Returns `Cᵀ M⁻¹ D`, the response of the velocities along `C` to the wrenches `D` on a body.
fn compliance<S: Scalar>(C: &[DualQuaternion<S>; 6], M: &DualInertia<S>, D: &[DualQuaternion<S>; 6]) -> Mat6<S> {
    let per_M = D.map(|D| M.motion(D).swap());
    Mat6::from_fn(|k, l| C[k].circle(per_M[l]))
}

impl<S: Scalar> NewtonEuler<S> {
    /// Allocates for a system of rigid bodies.
    pub fn new(system: &System) -> Self {
        let n = system.bodies.len();
        let nodes = system
            .bodies
            .iter()
            .map(|body| BodyEquations::new(JointRows::new(body.joint.nv)));
        Self {
            nodes: nodes.collect(),
            reactions: Reactions::new(&Incidence::new(system), n),
            A: vec![Twist::zero(); n],
            F: vec![Wrench::zero(); n],
        }
    }

    /// Computes the derivatives `qdd` (`nv`, rad/s² or m/s²) of the joint rates at the coordinates
    /// `q`, [`A`](Self::A) and [`F`](Self::F).
    ///
    /// # Errors
    /// [`Singular`] if a body has zero inertia about one of its axes.
    pub fn solve(
        &mut self,
        at: Configuration<S>,
        applied: &Applied<S>,
        q: &[S],
        qdd: &mut [S],
    ) -> Result<(), Singular> {
        let Configuration {
            system,
            derived,
            kinematics,
        } = at;
        self.set_up(at, applied, q)?;
        for i in 0..self.nodes.len() {
            self.assemble(system, i);
        }
        self.reactions.solve().map_err(|(body, row)| Singular {
            body,
            what: SingularPart::of_row(row, self.nodes[body].held()),
        })?;
        for i in 0..self.nodes.len() {
            self.transmit(system, kinematics, i);
        }
        for (i, (body, at)) in system.bodies.iter().zip(&kinematics.bodies).enumerate() {
            let node = &mut self.nodes[i];
            node.w_dot = node.M.motion(node.load);
            let (w, w_dot) = (node.w.twist(), node.w_dot.twist());
            let c = lift3::<S>(&derived.bodies[i].p_BoBcm);
            let of_centre = w_dot.v + w.w.cross(&w.v);
            let of_origin = of_centre - w_dot.w.cross(&c) - w.w.cross(&w.w.cross(&c));
            self.A[i] = Twist::new(w_dot.w, of_origin).express(&at.R_WB) - at.A_bias;
            let relative = self.relative(body.parent, i, |node| node.w_dot).1;
            let node = &self.nodes[i];
            let moved = node.V.iter().zip(&node.bias).skip(node.held());
            for ((V, &bias), qdd) in moved.zip(&mut qdd[body.joint.v..]) {
                *qdd = V.circle(relative.swap()) - bias;
            }
        }
        Ok(())
    }

    /// Computes the response to wrenches on bodies and torques of joints alone: the changes of
    /// `qdd`, [`A`](Self::A) and [`F`](Self::F) due to these loads. Reuses the factorisation of the last
    /// [`solve`](Self::solve) at the same instant.
    pub fn respond(&mut self, at: Configuration<S>, applied: &Applied<S>, qdd: &mut [S]) {
        let Configuration {
            system,
            derived,
            kinematics,
        } = at;
        let bodies = kinematics.bodies.iter().zip(&derived.bodies).zip(&applied.wrench);
        for (node, ((at, constants), wrench)) in self.nodes.iter_mut().zip(bodies) {
            let c = lift3::<S>(&constants.p_BoBcm);
            node.load = DualQuaternion::from_wrench(&wrench.express(&at.R_WB.transpose()).shift(&-c));
            node.T = [S::zero(); 6];
        }
        for (i, body) in system.bodies.iter().enumerate() {
            self.load_joint(body, i, &applied.tau);
        }
        for (i, body) in system.bodies.iter().enumerate() {
            let mut b = self.of_loads(system, i);
            let node = &self.nodes[i];
            let moved = node.row_types.iter().enumerate().skip(node.held());
            for ((k, row), &tau) in moved.zip(&applied.tau[body.joint.v..]) {
                if let Row::Rotor(_, per_rho) = row {
                    b[k] += tau * *per_rho;
                }
            }
            self.reactions.joint(i).b = b;
        }
        self.reactions.solve_again();
        for i in 0..self.nodes.len() {
            self.transmit(system, kinematics, i);
        }
        for (i, (body, at)) in system.bodies.iter().zip(&kinematics.bodies).enumerate() {
            let node = &mut self.nodes[i];
            node.w_dot = node.M.motion(node.load);
            let of_centre = node.w_dot.twist();
            let c = lift3::<S>(&derived.bodies[i].p_BoBcm);
            self.A[i] = of_centre.shift(&-c).express(&at.R_WB);
            let relative = self.relative(body.parent, i, |node| node.w_dot).1;
            let node = &self.nodes[i];
            let moved = node.V.iter().skip(node.held());
            for (V, qdd) in moved.zip(&mut qdd[body.joint.v..body.joint.v + body.joint.nv]) {
                *qdd = V.circle(relative.swap());
            }
        }
    }

    /// Adds the torques `tau` of joint `i` to the loads of its two bodies, except on axes with
    /// rotors and of driven joints.
    fn load_joint(&mut self, body: &Body, i: usize, tau: &[S]) {
        let held = self.nodes[i].held();
        for (k, &tau) in (held..6).zip(&tau[body.joint.v..body.joint.v + body.joint.nv]) {
            let node = &mut self.nodes[i];
            if let Row::Load(_) = node.row_types[k] {
                node.T[k] = tau;
                node.load = node.load + node.q_id.conjugate().adjoint(node.V[k]) * tau;
                let on_carrier = node.q_ki.adjoint(node.V[k]) * tau;
                if let Some(parent) = body.parent {
                    self.nodes[parent].load = self.nodes[parent].load - on_carrier;
                }
            }
        }
    }

    /// Sets up all bodies and joint rows; `B1` includes the applied torques.
    fn set_up(&mut self, at: Configuration<S>, applied: &Applied<S>, q: &[S]) -> Result<(), Singular> {
        let Configuration {
            system,
            derived,
            kinematics,
        } = at;
        for (i, body) in system.bodies.iter().enumerate() {
            let (at, constants) = (&kinematics.bodies[i], &derived.bodies[i]);
            let v_0 = match body.parent {
                Some(parent) => self.nodes[parent].v_0,
                None if body.joint.kind == JointType::Free => at.V_WB.v,
                None => Vec3::zeros(),
            };
            let node = &mut self.nodes[i];
            node.v_0 = v_0;
            let M = DualInertia::new(constants.m, &constants.I_Bcm).ok_or(Singular {
                body: i,
                what: SingularPart::Body,
            })?;
            let (R_BW, c) = (at.R_WB.transpose(), lift3(&constants.p_BoBcm));
            node.M = M.lift::<S>();
            let V = Twist::new(at.V_WB.w, at.V_WB.v - v_0);
            node.w = DualQuaternion::from_twist(&V.express(&R_BW).shift(&c));
            let W = DualQuaternion::from_wrench(&applied.wrench[i].express(&R_BW).shift(&-c));
            node.load = W - node.w.cross(node.M.momentum(node.w));
        }
        for i in 0..self.nodes.len() {
            self.set_up_joint(at, applied, q, i);
        }
        Ok(())
    }

    fn set_up_joint(&mut self, at: Configuration<S>, applied: &Applied<S>, q: &[S], i: usize) {
        let Configuration {
            system,
            derived,
            kinematics,
        } = at;
        let (body, constants) = (&system.bodies[i], &derived.bodies[i]);
        let (v, nv) = (body.joint.v, body.joint.nv);
        let R_BW = kinematics.bodies[i].R_WB.transpose();
        let mut H = [Twist::zero(); 6];
        for (H, H_W) in H.iter_mut().zip(&kinematics.H[v..v + nv]) {
            *H = H_W.express(&R_BW);
        }
        let (attitude, p) = with_joint!(&constants.joint, joint => {
            let q = part(q, body.joint.q);
            (joint.attitude(q), joint.pose(q).p)
        });
        let p_k = body
            .parent
            .map_or_else(Vec3::zeros, |parent| derived.bodies[parent].p_BoBcm);
        let node = &mut self.nodes[i];
        node.q_id = DualQuaternion::from_pose(Quaternion::identity(), &lift3(&constants.p_BoBcm));
        node.q_ki = DualQuaternion::from_pose(attitude.normalised(), &(lift3::<S>(&(constants.p_PF - p_k)) + p));
        node.rows.update(&H[..nv]);
        let wrenches = node.rows.held.iter().chain(&node.rows.moved);
        node.V
            .iter_mut()
            .zip(wrenches)
            .for_each(|(V, W)| *V = DualQuaternion::from_wrench(W));
        node.distal = node.V.map(|V| node.q_id.conjugate().adjoint(V));
        node.proximal = match body.parent {
            Some(_) => node.V.map(|V| DualQuaternion::zero() - node.q_ki.adjoint(V)),
            None => [DualQuaternion::zero(); 6],
        };

        let (of_proximal, relative) = self.relative(body.parent, i, |node| node.w);
        let node = &mut self.nodes[i];
        let held = node.held();
        let mut qd = [S::zero(); 6];
        let rates = qd.iter_mut().zip(&node.V[held..]);
        rates.for_each(|(qd, V)| *qd = V.circle(relative.swap()));
        // The derivative in the distal axes, which rotate with the body, differs from that in the
        // proximal axes by this cross product.
        let allowed = (0..nv).fold(Twist::zero(), |V, k| V + H[k] * qd[k]);
        let H_dot_qd = with_joint!(&constants.joint, joint => joint.bias(part(&kinematics.H, v), part(&qd, 0)));
        let H_dot_qd = H_dot_qd.express(&R_BW) - Twist::new(Vec3::zeros(), allowed.w.cross(&allowed.v));
        let bias = of_proximal.cross(relative) + DualQuaternion::from_twist(&H_dot_qd);
        node.bias = node.V.map(|V| V.circle(bias.swap()));

        let damping = S::lift(kinematics.damping);
        for k in 0..6 {
            let V = &node.V[k];
            node.row_types[k] = match k.checked_sub(held).map(|axis| v + axis) {
                None => Row::Motion(-V.circle(relative.swap()) * damping),
                Some(rate) if applied.driven[i] => Row::Motion(applied.qdd[rate]),
                Some(rate) => match derived.rotor_inertia[rate] {
                    rho if rho == S::Constant::number(0.0) => Row::Load(applied.tau[rate]),
                    rho => Row::Rotor(applied.tau[rate], S::lift(S::Constant::number(1.0) / rho)),
                },
            };
        }
        for k in 0..6 {
            let node = &mut self.nodes[i];
            if let Row::Load(tau) = node.row_types[k] {
                let (distal, proximal) = (node.distal[k], node.proximal[k]);
                (node.distal[k], node.proximal[k]) = (DualQuaternion::zero(), DualQuaternion::zero());
                node.T[k] = tau;
                node.load = node.load + distal * tau;
                if let Some(parent) = body.parent {
                    self.nodes[parent].load = self.nodes[parent].load + proximal * tau;
                }
            }
        }
    }

    /// Returns the dual velocity (or its derivative, as `of` selects) of the proximal body, and
    /// that of the distal body relative to it, both at joint `i` in the axes of the joint.
    fn relative(
        &self,
        parent: Option<usize>,
        i: usize,
        of: impl Fn(&BodyEquations<S>) -> DualQuaternion<S>,
    ) -> (DualQuaternion<S>, DualQuaternion<S>) {
        let node = &self.nodes[i];
        let proximal = parent.map_or_else(DualQuaternion::zero, |parent| {
            node.q_ki.conjugate().adjoint(of(&self.nodes[parent]))
        });
        (proximal, node.q_id.adjoint(of(node)) - proximal)
    }

    /// Assembles the rows of joint `i` in (60): matrix blocks and right-hand side.
    fn assemble(&mut self, system: &System, i: usize) {
        let b = self.of_loads(system, i);
        let (nodes, node) = (&self.nodes, &self.nodes[i]);
        let joint = self.reactions.joint(i);
        joint.b = b;
        let carrier = system.bodies[i].parent.map(|parent| (parent, &nodes[parent]));
        joint.X = compliance(&node.distal, &node.M, &node.distal);
        if let Some((parent, carrier)) = carrier {
            joint.X += compliance(&node.proximal, &carrier.M, &node.proximal);
            for (j, block) in &mut joint.coupled {
                let other = if *j == parent {
                    &carrier.distal
                } else {
                    &nodes[*j].proximal
                };
                *block = compliance(&node.proximal, &carrier.M, other);
            }
        }
        for (k, row_types) in node.row_types.iter().enumerate() {
            match *row_types {
                Row::Motion(target) => joint.b[k] += target + node.bias[k],
                Row::Rotor(tau, per_rho) => {
                    joint.X[(k, k)] += per_rho;
                    joint.b[k] += tau * per_rho + node.bias[k];
                }
                Row::Load(_) => joint.X[(k, k)] = S::one(),
            }
        }
    }

    /// Returns the contribution of the loads on the two bodies at joint `i` to the right-hand side
    /// `b` of (60).
    fn of_loads(&self, system: &System, i: usize) -> Vec6<S> {
        let node = &self.nodes[i];
        let own = node.M.motion(node.load).swap();
        let mut b = -Vec6::from_fn(|k, _| node.distal[k].circle(own));
        if let Some(carrier) = system.bodies[i].parent.map(|parent| &self.nodes[parent]) {
            let its = carrier.M.motion(carrier.load).swap();
            b -= Vec6::from_fn(|k, _| node.proximal[k].circle(its));
        }
        b
    }

    /// Adds the wrench of joint `i` to the loads of its two bodies, and stores it in
    /// [`F`](Self::F).
    fn transmit(&mut self, system: &System, kinematics: &Kinematics<S>, i: usize) {
        let T = self.reactions.joint(i).b;
        let node = &mut self.nodes[i];
        let mut on_proximal = DualQuaternion::zero();
        let mut F = DualQuaternion::zero();
        for k in 0..6 {
            if !matches!(node.row_types[k], Row::Load(_)) {
                node.T[k] = T[k];
                node.load = node.load + node.distal[k] * T[k];
                on_proximal = on_proximal + node.proximal[k] * T[k];
            }
            F = F + node.V[k] * node.T[k];
        }
        self.F[i] = F.wrench().express(&kinematics.bodies[i].R_WB);
        if let Some(parent) = system.bodies[i].parent {
            self.nodes[parent].load = self.nodes[parent].load + on_proximal;
        }
    }

    /// Returns the matrix of (50), symmetrised: the Newton–Euler rows are multiplied by `SW`, and
    /// the constraint rows are negated, which does not change the condition number. For diagnostics
    /// only; the solution does not use it.
    ///
    /// # Errors
    /// As for [`solve`](Self::solve).
    pub fn matrix(&self, at: Configuration<S>, applied: &Applied<S>, q: &[S]) -> Result<DMatrix<S>, Singular> {
        let mut parts = self.clone();
        parts.set_up(at, applied, q)?;
        let active = |node: &BodyEquations<S>| (0..6).filter(|&k| !matches!(node.row_types[k], Row::Load(_))).collect();
        let rows: Vec<Vec<usize>> = parts.nodes.iter().map(active).collect();
        let accelerations = 8 * parts.nodes.len();
        let size = accelerations + rows.iter().map(Vec::len).sum::<usize>();
        let mut matrix = DMatrix::zeros(size, size);
        let mut row = accelerations;
        for (i, (node, rows)) in parts.nodes.iter().zip(&rows).enumerate() {
            let H = node.M.H();
            for k in 0..4 {
                for l in 0..8 {
                    (matrix[(8 * i + k, 8 * i + l)], matrix[(8 * i + 4 + k, 8 * i + l)]) = (H[(4 + k, l)], H[(k, l)]);
                }
            }
            for &k in rows {
                let columns = [
                    (Some(i), node.distal[k]),
                    (at.system.bodies[i].parent, node.proximal[k]),
                ];
                for (body, column) in columns {
                    let Some(first) = body.map(|body| 8 * body) else {
                        continue;
                    };
                    for (l, entry) in column.swap().to_vector().into_iter().enumerate() {
                        (matrix[(first + l, row)], matrix[(row, first + l)]) = (-*entry, -*entry);
                    }
                }
                if let Row::Rotor(_, per_rho) = node.row_types[k] {
                    matrix[(row, row)] = -per_rho;
                }
                row += 1;
            }
        }
        Ok(matrix)
    }
}
