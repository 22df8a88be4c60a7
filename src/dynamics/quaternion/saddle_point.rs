use super::momentum::{MomentumRows, Rows};
use crate::algebra::{Scalar, Twist, Vec3, Wrench, spd};
use crate::dynamics::body::inertia_and_bias;
use crate::dynamics::rows::JointRows;
use crate::dynamics::{Applied, Singular, SingularPart};
use crate::system::{Carrier, Configuration, Derived, Joint, System};

/// Solver of the saddle-point system in O(n): computes accelerations and multipliers from loads, by
/// elimination from the leaves to the roots.
///
/// Unknowns are the accelerations `a = (A, η̈)` of each body's origin (beyond its `A_bias`) and
/// modes, and the multipliers `ν` of each joint's rows `W`. With the acceleration `u = X a_P` that
/// the carrier imparts to the body, joint torques `τ` and rotor inertias `ρ`:
///
/// ```text
///     M a + Σ_children Xᵀ F_c = f + F          (1)
///     F = V (τ − ρ q̈) − W ν,   q̈ = Vᵀ (A − u)   (2)
///     Wᵀ (A − u) = h                           (3)
/// ```
///
/// `F` is the reaction wrench of the joint. `h` is zero, except for a driven joint: its `V` are
/// constraint rows too, with the prescribed `q̈` as `h`. Together these equations are the matrix
/// `[M Bᵀ; B 0]` of Kłak and Jarzębowska's (2) and (10), with the rotors in `M`, and as sparse as
/// the tree. After elimination of its children, a body has
///
/// ```text
///     a = a₀ + a_u u,   ν = ν₀ + ν_u u,   F = F₀ + I u     (4)
/// ```
///
/// from the factorisation of its own `[M + V ρ Vᵀ + W σ Wᵀ, W; Wᵀ, 0]`. It is propagated to the
/// parent by `M_P += XᵀIX` and `f_P −= XᵀF₀`. The term `W σ Wᵀ` does not change the solution; it
/// makes the first block positive definite if a body alone has zero inertia about a constrained
/// axis (augmented Lagrangian: Benzi, Golub and Liesen, *Acta Numerica* 14 (2005), §3.5,
/// doi:10.1017/S0962492904000212).
#[derive(Clone, Debug)]
pub struct SaddlePoint<S: Scalar> {
    pub(super) nodes: Vec<BodyBlock<S>>,
    /// Accelerations of the bodies' origins beyond
    /// [`A_bias`](crate::system::BodyKinematics::A_bias), world axes.
    pub A: Vec<Twist<S>>,
    /// Reaction wrench of each body's joint on the body, about the body's origin, world axes.
    pub F: Vec<Wrench<S>>,
    pub(super) momentum: Option<MomentumRows<S>>,
    /// Zero torques, one for each rate.
    idle: Vec<S>,
}

/// A body and its joint.
#[derive(Clone, Debug)]
pub(super) struct BodyBlock<S: Scalar> {
    pub joint: JointRows<S>,
    /// `X`: the body's acceleration for each unit acceleration of its carrier, modes included.
    pub X: Vec<Twist<S>>,
    /// `M`, row-major; after factorisation the factors of `[M + V ρ Vᵀ + W σ Wᵀ]`.
    pub M: Vec<S>,
    /// `[M …]⁻¹ W`, column-major.
    MW: Vec<S>,
    /// Factors of `Wᵀ [M …]⁻¹ W`.
    Y: Vec<S>,
    /// `σ`, one for each row.
    sigma: Vec<S>,
    /// Copy of `f` as set up, before the elimination overwrites it.
    load: Vec<S>,
    /// Copy of `h` as set up.
    motion: Vec<S>,
    /// `f`; after elimination `a₀`, then `a`.
    pub f: Vec<S>,
    /// `h`; after elimination `ν₀`, then `ν`.
    pub h: Vec<S>,
    /// Momentum rows `R` of the body, if there are any.
    pub R: [Vec<S>; 6],
    /// `a_u` and `ν_u`, column-major.
    a_u: [Vec<S>; 6],
    nu_u: [Vec<S>; 6],
    /// Columns of `I` in (4): the reaction wrench for each unit component of `u`.
    I: [Wrench<S>; 6],
}

impl<S: Scalar> BodyBlock<S> {
    fn new(system: &System, i: usize) -> Self {
        let body = &system.bodies[i];
        let size = |i: usize| 6 + system.bodies[i].modes.as_ref().map_or(0, |modes| modes.n);
        let joint = JointRows::new(body.joint.nv);
        // Sized for all rows of the joint, which are constraints while it is driven.
        let held = if body.joint.is_drivable() { 6 } else { 6 - body.joint.nv };
        let (d, zeros) = (size(i), |n: usize| vec![S::zero(); n]);
        Self {
            joint,
            X: vec![Twist::zero(); body.parent.map_or(0, size)],
            M: zeros(d * d),
            MW: zeros(d * held),
            Y: zeros(held * held),
            sigma: zeros(held),
            load: zeros(d),
            motion: zeros(held),
            f: zeros(d),
            h: zeros(held),
            R: std::array::from_fn(|_| zeros(d)),
            a_u: std::array::from_fn(|_| zeros(d)),
            nu_u: std::array::from_fn(|_| zeros(held)),
            I: [Wrench::zero(); 6],
        }
    }

    /// Selects the joint's constraint rows, which include those of its rates if it is driven, and
    /// resizes the vectors to their number. Does not allocate.
    fn hold(&mut self, driven: bool) {
        self.joint.driven = driven;
        let (d, m) = (self.f.len(), self.joint.constraints().count());
        let rows = [&mut self.sigma, &mut self.motion, &mut self.h];
        for row in rows.into_iter().chain(&mut self.nu_u) {
            row.resize(m, S::zero());
        }
        self.MW.resize(d * m, S::zero());
        self.Y.resize(m * m, S::zero());
    }

    /// Returns the columns of `V ρ Vᵀ + W σ Wᵀ`, for the rotor inertias `rho`.
    fn stiffened(&self, rho: &[S::Constant]) -> [Wrench<S>; 6] {
        std::array::from_fn(|k| {
            let e = unit(k);
            let loaded = self.joint.loaded();
            let rotors = loaded.fold(Wrench::zero(), |sum, (j, V)| sum + *V * (V.power(&e) * S::lift(rho[j])));
            let held = self.joint.constraints().zip(&self.sigma);
            held.fold(rotors, |sum, (W, &sigma)| sum + *W * (W.power(&e) * sigma))
        })
    }

    /// Solves `[M + V ρ Vᵀ + W σ Wᵀ] a + W ν = f`, `Wᵀ a = h`: `a` replaces `f`, and `ν` replaces
    /// `h`. Requires the factorisations of `M` and `Y`.
    fn solve(&self, f: &mut [S], h: &mut [S]) {
        spd::solve(&self.M, f);
        let A = Twist::from_slice(f);
        for (h, W) in h.iter_mut().zip(self.joint.constraints()) {
            *h = W.power(&A) - *h;
        }
        spd::solve(&self.Y, h);
        for (&nu, column) in h.iter().zip(self.MW.chunks(f.len())) {
            for (f, &entry) in f.iter_mut().zip(column) {
                *f -= entry * nu;
            }
        }
    }

    /// Returns the joint's reaction wrench by (2), from the generalised force on each rate and the
    /// multipliers.
    fn transmitted(&self, on_rate: impl Fn(usize, &Wrench<S>) -> S, nu: &[S]) -> Wrench<S> {
        let loaded = self.joint.loaded();
        let loads = loaded.fold(Wrench::zero(), |F, (j, V)| F + *V * on_rate(j, V));
        self.joint.constraints().zip(nu).fold(loads, |F, (W, &nu)| F - *W * nu)
    }

    /// Returns the error for a vanishing pivot: it names the mode, or the joint rate whose `V` has
    /// the largest component in the pivot's row.
    fn singular(&self, body: usize, pivot: usize) -> Singular {
        let rates = self.joint.moved.iter().enumerate();
        let along = rates.map(|(j, V)| (j, V.to_array().get(pivot).map_or(0.0, |x| x.value().abs())));
        let what = match pivot {
            0..6 => SingularPart::Axis(along.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(j, _)| j)),
            _ => SingularPart::Mode(pivot - 6),
        };
        Singular { body, what }
    }
}

impl<S: Scalar> SaddlePoint<S> {
    /// Allocates for `system`, with the selected momentum rows.
    pub fn new(system: &System, rows: Rows) -> Self {
        let n = system.bodies.len();
        let momentum = match rows {
            Rows::Joints => None,
            Rows::Momentum => Some(MomentumRows::new(system, true)),
            Rows::MomentumWithoutModes => Some(MomentumRows::new(system, false)),
        };
        Self {
            nodes: (0..n).map(|i| BodyBlock::new(system, i)).collect(),
            A: vec![Twist::zero(); n],
            F: vec![Wrench::zero(); n],
            momentum,
            idle: vec![S::zero(); system.nv],
        }
    }

    /// Computes the rates' derivatives `qdd` (`nv`, rad/s² or m/s²), [`A`](Self::A) and
    /// [`F`](Self::F).
    ///
    /// # Errors
    /// [`Singular`] if a joint has zero inertia along a rate, or a mode has zero inertia (to
    /// round-off).
    pub fn solve(&mut self, at: Configuration<S>, applied: &Applied<S>, qdd: &mut [S]) -> Result<(), Singular> {
        let Configuration { system, derived, .. } = at;
        let mut momentum = self.momentum.take();
        self.set_up(at, applied);
        if let Some(momentum) = &mut momentum {
            self.set_up_rows(at, applied, momentum);
        }
        let factored = (0..self.nodes.len())
            .rev()
            .try_for_each(|i| self.factor(system, derived, i));
        if factored.is_ok() {
            self.pass(system, derived, &applied.tau);
            if let Some(momentum) = &mut momentum {
                self.hold_momentum(system, derived, &applied.tau, momentum);
            }
            for i in 0..self.nodes.len() {
                self.finish(system, derived, &applied.tau, i, qdd);
            }
        }
        self.momentum = momentum;
        factored
    }

    /// Computes the response to wrenches on bodies and forces on modes alone: the changes of `qdd`,
    /// [`A`](Self::A) and [`F`](Self::F) due to these loads. Reuses the factorisation of the last
    /// [`solve`](Self::solve) at the same instant.
    pub fn respond(&mut self, at: Configuration<S>, applied: &Applied<S>, qdd: &mut [S]) {
        let Configuration { system, derived, .. } = at;
        for ((node, body), wrench) in self.nodes.iter_mut().zip(&system.bodies).zip(&applied.wrench) {
            node.f[..6].copy_from_slice(&wrench.to_array());
            if let Some(modes) = &body.modes {
                node.f[6..].copy_from_slice(&applied.tau[modes.rates()]);
            }
            node.h.fill(S::zero());
            node.load.copy_from_slice(&node.f);
            node.motion.copy_from_slice(&node.h);
        }
        self.pass(system, derived, &applied.tau);
        if let Some(mut momentum) = self.momentum.take() {
            self.load_rows(at, applied, &mut momentum);
            self.hold_momentum(system, derived, &applied.tau, &mut momentum);
            self.momentum = Some(momentum);
        }
        for i in 0..self.nodes.len() {
            self.finish(system, derived, &applied.tau, i, qdd);
        }
    }

    /// Sets up the equations (1) to (3) of all bodies.
    pub(super) fn set_up(&mut self, at: Configuration<S>, applied: &Applied<S>) {
        for i in 0..self.nodes.len() {
            self.set_up_body(at, applied, i);
            let node = &mut self.nodes[i];
            node.load.copy_from_slice(&node.f);
            node.motion.copy_from_slice(&node.h);
        }
    }

    /// Solves for `a` and `ν` with the current `f` and `h` and the joint torques `tau`.
    fn pass(&mut self, system: &System, derived: &Derived<S::Constant>, tau: &[S]) {
        for i in (0..self.nodes.len()).rev() {
            self.reduce(system, derived, tau, i);
        }
        for i in 0..self.nodes.len() {
            self.substitute(system, i);
        }
    }

    /// Sets up a body's `M` and `f`, its joint rows and its `X`.
    fn set_up_body(&mut self, at: Configuration<S>, applied: &Applied<S>, i: usize) {
        let Configuration {
            system,
            derived,
            kinematics,
        } = at;
        let body = &system.bodies[i];
        let node = &mut self.nodes[i];
        let d = node.f.len();
        let (I, p) = inertia_and_bias(system, derived, kinematics, i);
        for k in 0..6 {
            let column = I.times(&unit(k)).to_array();
            for (l, &entry) in column.iter().enumerate() {
                node.M[l * d + k] = entry;
            }
        }
        node.f[..6].copy_from_slice(&(applied.wrench[i] - p).to_array());
        if let Some(modes) = &body.modes {
            let bent = &kinematics.deflections[modes.index];
            let A_bias = &kinematics.bodies[i].A_bias;
            for (k, (L, v)) in bent.L.iter().zip(modes.rates()).enumerate() {
                let row = (6 + k) * d;
                node.M[row..row + 6].copy_from_slice(&L.to_array());
                node.M[row + 6..row + d].copy_from_slice(&bent.M[k * modes.n..(k + 1) * modes.n]);
                node.f[6 + k] = applied.tau[v] - bent.modal_bias[k] - L.power(A_bias);
            }
        }
        node.joint.update(rates_of(&body.joint, &kinematics.H));
        node.hold(applied.driven[i]);
        node.h.fill(S::zero());
        if applied.driven[i] {
            node.h[6 - body.joint.nv..].copy_from_slice(rates_of(&body.joint, &applied.qdd));
        }
        let r = kinematics.bodies[i].r_PB_W;
        let (across, T) = match body.carrier() {
            Carrier::World | Carrier::Point(_) => return,
            Carrier::Body(_) => (r, [].as_slice()),
            Carrier::Station(s) => {
                let first = system.stations[s].first;
                let T = &kinematics.T[first..first + node.X.len() - 6];
                (r + kinematics.stations[s].r_PB_W, T)
            }
        };
        for (k, X) in node.X.iter_mut().enumerate() {
            *X = match k.checked_sub(6) {
                None => unit(k).shift(&across),
                Some(mode) => T[mode].shift(&r),
            };
        }
    }

    /// Computes `a_u`, `ν_u` and `I` of (4) and propagates `I` to the parent.
    fn factor(&mut self, system: &System, derived: &Derived<S::Constant>, i: usize) -> Result<(), Singular> {
        let joint = &system.bodies[i].joint;
        let rho = &derived.rotor_inertia[joint.v..joint.v + joint.nv];
        let (carriers, rest) = self.nodes.split_at_mut(i);
        let node = &mut rest[0];
        let (d, m) = (node.f.len(), node.h.len());
        // `σ` has the magnitude of the body's own inertia or mass.
        let mean = |first: usize| (first..first + 3).map(|k| node.M[k * d + k].value()).sum::<f64>() / 3.0;
        let (J, mass) = (mean(0), mean(3));
        for (sigma, W) in node.sigma.iter_mut().zip(node.joint.constraints()) {
            let slides = W.f.dot(&W.f).value() > 0.0;
            *sigma = S::lift(if slides { mass } else { J });
        }
        let stiff = node.stiffened(rho);
        for (l, column) in stiff.iter().enumerate() {
            for (k, entry) in column.to_array().into_iter().enumerate().skip(l) {
                node.M[k * d + l] += entry;
            }
        }
        spd::factor(&mut node.M, d).map_err(|pivot| node.singular(i, pivot))?;
        for (column, W) in node.MW.chunks_mut(d).zip(node.joint.constraints()) {
            column.fill(S::zero());
            column[..6].copy_from_slice(&W.to_array());
            spd::solve(&node.M, column);
        }
        for (row, W) in node.Y.chunks_mut(m.max(1)).zip(node.joint.constraints()) {
            for (entry, column) in row.iter_mut().zip(node.MW.chunks(d)) {
                *entry = W.power(&Twist::from_slice(column));
            }
        }
        // Fails only by round-off: the rows are independent, and the first block is positive
        // definite.
        spd::factor(&mut node.Y, m).map_err(|row| Singular {
            body: i,
            what: SingularPart::of_row(row, node.joint.held.len()),
        })?;
        if joint.nv == 6 || node.X.is_empty() {
            return Ok(());
        }
        for k in 0..6 {
            let e = unit(k);
            let (mut a, mut nu) = (std::mem::take(&mut node.a_u[k]), std::mem::take(&mut node.nu_u[k]));
            a.fill(S::zero());
            a[..6].copy_from_slice(&stiff[k].to_array());
            for (nu, W) in nu.iter_mut().zip(node.joint.constraints()) {
                *nu = W.power(&e);
            }
            node.solve(&mut a, &mut nu);
            let relative = Twist::from_slice(&a) - e;
            node.I[k] = node.transmitted(|j, V| -V.power(&relative) * S::lift(rho[j]), &nu);
            (node.a_u[k], node.nu_u[k]) = (a, nu);
        }
        let carrier = system.bodies[i].parent.map(|parent| &mut carriers[parent]);
        if let Some(carrier) = carrier {
            let d = carrier.f.len();
            for (l, X_l) in node.X.iter().enumerate() {
                let x = X_l.to_array();
                let IX = node.I.iter().zip(x).fold(Wrench::zero(), |sum, (I, x)| sum + *I * x);
                for (k, X_k) in node.X.iter().enumerate().skip(l) {
                    carrier.M[k * d + l] += IX.power(X_k);
                }
            }
        }
        Ok(())
    }

    /// Computes `a₀` and `ν₀` of (4) and propagates `F₀` to the parent.
    fn reduce(&mut self, system: &System, derived: &Derived<S::Constant>, tau: &[S], i: usize) {
        let joint = &system.bodies[i].joint;
        let (tau, rho) = (rates_of(joint, tau), rates_of(joint, &derived.rotor_inertia));
        let (carriers, rest) = self.nodes.split_at_mut(i);
        let node = &mut rest[0];
        let mut g = node.transmitted(|j, _| tau[j], &[]);
        for ((W, &sigma), &h) in node.joint.constraints().zip(&node.sigma).zip(&node.h) {
            g = g + *W * (sigma * h);
        }
        let (mut f, mut h) = (std::mem::take(&mut node.f), std::mem::take(&mut node.h));
        for (f, g) in f.iter_mut().zip(g.to_array()) {
            *f += g;
        }
        node.solve(&mut f, &mut h);
        let A = Twist::from_slice(&f);
        let F = node.transmitted(|j, V| tau[j] - V.power(&A) * S::lift(rho[j]), &h);
        (node.f, node.h) = (f, h);
        if let (Some(parent), 0..6) = (system.bodies[i].parent, joint.nv) {
            for (f, X) in carriers[parent].f.iter_mut().zip(&node.X) {
                *f -= F.power(X);
            }
        }
    }

    /// Evaluates (4) with the carrier's acceleration.
    fn substitute(&mut self, system: &System, i: usize) {
        if system.bodies[i].joint.nv < 6 {
            let u = self.carried(system, i);
            let node = &mut self.nodes[i];
            for ((a_u, nu_u), u) in node.a_u.iter().zip(&node.nu_u).zip(u.to_array()) {
                node.f.iter_mut().zip(a_u).for_each(|(a, &a_u)| *a += a_u * u);
                node.h.iter_mut().zip(nu_u).for_each(|(nu, &nu_u)| *nu += nu_u * u);
            }
        }
    }

    /// Returns `u`, the acceleration that the carrier imparts to the body.
    fn carried(&self, system: &System, i: usize) -> Twist<S> {
        let carrier = system.bodies[i].parent.map(|parent| &self.nodes[parent].f);
        let of_carrier = self.nodes[i].X.iter().zip(carrier.into_iter().flatten());
        of_carrier.fold(Twist::zero(), |u, (X, &a)| u + *X * a)
    }

    /// Extracts `qdd`, `A` and `F` from `a` and `ν`.
    fn finish(&mut self, system: &System, derived: &Derived<S::Constant>, tau: &[S], i: usize, qdd: &mut [S]) {
        let body = &system.bodies[i];
        let joint = &body.joint;
        self.A[i] = Twist::from_slice(&self.nodes[i].f);
        let relative = self.A[i] - self.carried(system, i);
        let node = &self.nodes[i];
        for (V, qdd) in node.joint.moved.iter().zip(&mut qdd[joint.v..]) {
            *qdd = V.power(&relative);
        }
        if let Some(modes) = &body.modes {
            qdd[modes.rates()].copy_from_slice(&node.f[6..]);
        }
        let (tau, rho) = (rates_of(joint, tau), rates_of(joint, &derived.rotor_inertia));
        let qdd = &qdd[joint.v..];
        self.F[i] = node.transmitted(|j, _| tau[j] - qdd[j] * S::lift(rho[j]), &node.h);
    }

    /// Computes `R` and `g` of the momentum rows.
    pub(super) fn set_up_rows(&mut self, at: Configuration<S>, applied: &Applied<S>, momentum: &mut MomentumRows<S>) {
        self.load_rows(at, applied, momentum);
        for (i, node) in self.nodes.iter_mut().enumerate() {
            let Some(spacecraft) = momentum.spacecraft[i] else {
                continue;
            };
            let r = at.kinematics.bodies[i].p_WB - momentum.rows[spacecraft].centre;
            for (k, R) in node.R.iter_mut().enumerate() {
                let U = unit(k).shift(&r);
                let d = R.len();
                for (l, R) in R.iter_mut().enumerate() {
                    *R = match l < 6 || momentum.with_modes {
                        true => Wrench::from_slice(&node.M[l * d..]).power(&U),
                        false => S::zero(),
                    };
                }
            }
        }
    }

    /// Computes `g` of the momentum rows from the loads.
    fn load_rows(&self, at: Configuration<S>, applied: &Applied<S>, momentum: &mut MomentumRows<S>) {
        let Configuration {
            system,
            derived,
            kinematics,
        } = at;
        momentum.begin(derived, kinematics);
        for (i, node) in self.nodes.iter().enumerate() {
            let Some(spacecraft) = momentum.spacecraft[i] else {
                continue;
            };
            let joint = &system.bodies[i].joint;
            let rows = &mut momentum.rows[spacecraft];
            let r = kinematics.bodies[i].p_WB - rows.centre;
            let mut F = Wrench::zero();
            if joint.nv == 6 {
                F = node.transmitted(|j, _| applied.tau[joint.v + j], &[]);
            }
            F = F + Wrench::from_slice(&node.load);
            for (k, g) in rows.g.iter_mut().enumerate() {
                *g += F.power(&unit(k).shift(&r));
            }
        }
    }

    /// Adds the forces `−Rᵀ σ` with which the accelerations satisfy the momentum rows `R a = g`,
    /// and solves again.
    fn hold_momentum(
        &mut self,
        system: &System,
        derived: &Derived<S::Constant>,
        tau: &[S],
        momentum: &mut MomentumRows<S>,
    ) {
        momentum.take_excess(self.nodes.iter().map(|node| (&node.R, node.f.as_slice())));
        let idle = std::mem::take(&mut self.idle);
        for l in 0..6 {
            for (node, spacecraft) in self.nodes.iter_mut().zip(&momentum.spacecraft) {
                match spacecraft {
                    Some(_) => node.f.copy_from_slice(&node.R[l]),
                    None => node.f.fill(S::zero()),
                }
                node.h.fill(S::zero());
            }
            self.pass(system, derived, &idle);
            momentum.take_response(l, self.nodes.iter().map(|node| (&node.R, node.f.as_slice())));
        }
        self.idle = idle;
        momentum.solve();
        for (node, spacecraft) in self.nodes.iter_mut().zip(&momentum.spacecraft) {
            node.f.copy_from_slice(&node.load);
            node.h.copy_from_slice(&node.motion);
            let sigma = spacecraft.map_or([S::zero(); 6], |spacecraft| momentum.rows[spacecraft].sigma);
            for (R, sigma) in node.R.iter().zip(sigma) {
                node.f.iter_mut().zip(R).for_each(|(f, &R)| *f -= R * sigma);
            }
        }
        self.pass(system, derived, tau);
    }
}

/// Returns the entries of a joint's rates in a vector of all rates.
pub(super) fn rates_of<'a, T>(joint: &Joint, rates: &'a [T]) -> &'a [T] {
    &rates[joint.v..joint.v + joint.nv]
}

/// Returns the twist whose component `k` of six is one, the others zero.
pub(super) fn unit<S: Scalar>(k: usize) -> Twist<S> {
    let axis = |first: usize| Vec3::from_fn(|i, _| if first + i == k { S::one() } else { S::zero() });
    Twist::new(axis(0), axis(3))
}
