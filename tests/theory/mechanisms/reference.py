"""Independent maximal-coordinate rigid multibody reference with closed loops (numpy/scipy only).

State of a body: pos (3, body origin, world), quat (4, scalar first, body -> world),
                 omega (3, WORLD axes), vel (3, velocity of the body origin, WORLD axes).
Generalised velocity nu = [omega_1, vel_1, omega_2, vel_2, ...]; accelerations are its time derivative.
Body: mass, com (body axes, from the origin), inertia (3x3 about the mass centre, body axes).
Frame: (body index or "world", origin in body axes, rotation 3x3 frame -> body).
Constraint(type, a, b, axis, axis2, length): b carries the joint frame F; rows below (n. of rows):
  revolute 5, prismatic 5, cylindrical 4, universal 4, spherical 3, planar 3, fixed 6, point_on_line 2, distance 1.
  axis: components in frame b (and the same in frame a for revolute/prismatic/cylindrical/planar);
  universal: axis in b, axis2 in a.
Reaction of a constraint: force and torque it applies to a's body, about a's frame origin, world axes.
Equations: M nu' = Q + J^T lambda,  J nu' + gamma = 0.
"""
import numpy as np
from scipy.integrate import DOP853

I3 = np.eye(3)


def skew(v):
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def q_mul(p, q):
    w, x, y, z = p
    a, b, c, d = q
    return np.array([w*a - x*b - y*c - z*d, w*b + x*a + y*d - z*c, w*c - x*d + y*a + z*b, w*d + x*c - y*b + z*a])


def q_rot(q):
    """Returns the rotation matrix of a quaternion, which need not have unit norm."""
    w, x, y, z = q / np.linalg.norm(q)
    return np.array([[1 - 2*(y*y + z*z), 2*(x*y - w*z), 2*(x*z + w*y)],
                     [2*(x*y + w*z), 1 - 2*(x*x + z*z), 2*(y*z - w*x)],
                     [2*(x*z - w*y), 2*(y*z + w*x), 1 - 2*(x*x + y*y)]])


def q_exp(phi):
    """Returns the unit quaternion of the rotation vector phi."""
    th = np.linalg.norm(phi)
    s = 0.5 * np.sinc(th / (2 * np.pi))          # sin(th/2)/th
    return np.concatenate(([np.cos(th / 2)], s * np.asarray(phi)))


def q_from_rot(R):
    """Returns the quaternion of a rotation matrix (branch of the largest component)."""
    t = np.array([np.trace(R), R[0, 0], R[1, 1], R[2, 2]])
    k = int(np.argmax(t))
    if k == 0:
        q = np.array([1 + t[0], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    else:
        i = k - 1
        j, m = (i + 1) % 3, (i + 2) % 3
        q = np.empty(4)
        q[0] = R[m, j] - R[j, m]
        q[1 + i] = 1 + R[i, i] - R[j, j] - R[m, m]
        q[1 + j] = R[j, i] + R[i, j]
        q[1 + m] = R[m, i] + R[i, m]
    q /= np.linalg.norm(q)
    return q if q[0] >= 0 else -q


def axis_rot(u, a):
    u = np.asarray(u, float)
    K = skew(u / np.linalg.norm(u))
    return I3 + np.sin(a) * K + (1 - np.cos(a)) * (K @ K)


def perp_basis(u):
    u = np.asarray(u, float) / np.linalg.norm(u)
    k = int(np.argmin(np.abs(u)))
    e1 = np.cross(u, I3[k])
    e1 /= np.linalg.norm(e1)
    return e1, np.cross(u, e1)


class Body:
    def __init__(self, mass, com, inertia):
        self.mass, self.com, self.inertia = float(mass), np.array(com, float), np.array(inertia, float)


class Frame:
    def __init__(self, body, origin=(0, 0, 0), rotation=None):
        self.body = None if body in ("world", None) else int(body)
        self.origin = np.array(origin, float)
        self.rotation = I3.copy() if rotation is None else np.array(rotation, float)


class Constraint:
    NROWS = dict(revolute=5, prismatic=5, cylindrical=4, universal=4, spherical=3, planar=3, fixed=6,
                 point_on_line=2, distance=1)

    def __init__(self, type, a, b, axis=None, axis2=None, length=None):
        self.type, self.a, self.b = type, a, b
        unit = lambda v: None if v is None else np.array(v, float) / np.linalg.norm(v)
        self.axis, self.axis2, self.length = unit(axis), unit(axis2), length
        self.nrows = self.NROWS[type]


class _Fr:
    """Kinematics of a frame: pose, velocity, and the velocity-quadratic part of the
    acceleration."""
    __slots__ = ("k", "p", "R", "v", "w", "d", "acc0", "ww")

    def __init__(self, fr, st):
        self.k = fr.body
        if fr.body is None:
            self.p, self.R = fr.origin, fr.rotation
            self.v = self.w = self.acc0 = self.d = np.zeros(3)
        else:
            Rb = st.R[fr.body]
            self.d = Rb @ fr.origin
            self.p = st.pos[fr.body] + self.d
            self.R = Rb @ fr.rotation
            self.w = st.omega[fr.body]
            self.v = st.vel[fr.body] + cross(self.w, self.d)
            self.acc0 = cross(self.w, cross(self.w, self.d))     # acceleration with omega'=vel'=0


class State:
    def __init__(self, pos, quat, omega, vel):
        self.pos, self.quat = np.array(pos, float), np.array(quat, float)
        self.omega, self.vel = np.array(omega, float), np.array(vel, float)
        self.quat = self.quat / np.linalg.norm(self.quat, axis=1)[:, None]
        self.R = [q_rot(q) for q in self.quat]

    @property
    def nu(self):
        return np.hstack([self.omega, self.vel]).ravel()

    def with_nu(self, nu):
        x = np.asarray(nu).reshape(-1, 6)
        return State(self.pos, self.quat, x[:, :3], x[:, 3:])

    def moved(self, delta):
        """Returns the state with poses changed by a small or finite twist delta = [rotation vector
        (world), translation] per body."""
        x = np.asarray(delta).reshape(-1, 6)
        q = np.array([q_mul(q_exp(x[i, :3]), self.quat[i]) for i in range(len(x))])
        return State(self.pos + x[:, 3:], q, self.omega, self.vel)


class System:
    def __init__(self, bodies, constraints, gravity=(0, 0, 0)):
        self.bodies, self.constraints = list(bodies), list(constraints)
        self.gravity = np.array(gravity, float)
        self.n = len(self.bodies)
        self.rows, r = [], 0
        for c in self.constraints:
            self.rows.append(slice(r, r + c.nrows))
            r += c.nrows
        self.nrows = r

    # ---- constraint equations -------------------------------------------------------------
    def constraint_rows(self, st):
        """Returns Phi, J (Phi' = J nu), gamma (Phi'' = J nu' + gamma)."""
        phi, J, gam = np.zeros(self.nrows), np.zeros((self.nrows, 6 * self.n)), np.zeros(self.nrows)
        for c, sl in zip(self.constraints, self.rows):
            fa, fb = _Fr(c.a, st), _Fr(c.b, st)
            r = [sl.start]

            def put(value, wa, va, wb, vb, g):
                """Adds a row: wa.omega_a + va.(velocity of a's frame point) + wb.omega_b +
                vb.(velocity of b's frame point)."""
                i = r[0]
                phi[i], gam[i] = value, g
                for f, w, v in ((fa, wa, va), (fb, wb, vb)):
                    if f.k is not None:
                        J[i, 6*f.k:6*f.k+3] += w + cross(f.d, v)     # v.(omega x d) = omega.(d x v)
                        J[i, 6*f.k+3:6*f.k+6] += v
                r[0] += 1

            d, dv = fa.p - fb.p, fa.v - fb.v
            da0 = fa.acc0 - fb.acc0                    # velocity-quadratic part of d''
            z = np.zeros(3)

            def point():
                for k in range(3):
                    put(d[k], z, I3[k], z, -I3[k], da0[k])

            def dot(ua, ub):
                """Adds the row u.w with u fixed in a's frame and w in b's (components given)."""
                u, w = fa.R @ ua, fb.R @ ub
                ud, wd = cross(fa.w, u), cross(fb.w, w)
                g = cross(fa.w, ud) @ w + 2 * (ud @ wd) + u @ cross(fb.w, wd)
                x = cross(u, w)
                put(u @ w, x, z, -x, z, g)

            def along(ub):
                """Adds the row w.(p_a - p_b) with w fixed in b's frame."""
                w = fb.R @ ub
                wd = cross(fb.w, w)
                g = cross(fb.w, wd) @ d + 2 * (wd @ dv) + w @ da0
                put(w @ d, z, w, cross(w, d), -w, g)    # (omega_b x w).d = omega_b.(w x d)

            t = c.type
            if c.axis is not None:
                e1, e2 = perp_basis(c.axis)
            if t == "revolute":
                point(); dot(c.axis, e1); dot(c.axis, e2)
            elif t == "prismatic":
                for i, j in ((0, 1), (1, 2), (2, 0)):
                    dot(I3[i], I3[j])
                along(e1); along(e2)
            elif t == "cylindrical":
                dot(c.axis, e1); dot(c.axis, e2); along(e1); along(e2)
            elif t == "universal":
                point(); dot(c.axis2, c.axis)
            elif t == "spherical":
                point()
            elif t == "planar":
                dot(c.axis, e1); dot(c.axis, e2); along(c.axis)
            elif t == "fixed":
                point()
                for i, j in ((0, 1), (1, 2), (2, 0)):
                    dot(I3[i], I3[j])
            elif t == "point_on_line":
                along(e1); along(e2)
            elif t == "distance":
                L = np.linalg.norm(d)
                n = d / L
                put(L - c.length, z, n, z, -n, n @ da0 + (dv @ dv - (n @ dv)**2) / L)
            else:
                raise ValueError(t)
            assert r[0] == sl.stop
        return phi, J, gam

    # ---- dynamics -------------------------------------------------------------------------
    def mass_force(self, st, wrenches=None):
        """Returns the bodies' mass matrices and Q - bias; wrenches: {body: (force at the origin,
        torque about it)} in world axes."""
        Ms, Q = [], np.zeros(6 * self.n)
        for i, b in enumerate(self.bodies):
            R, w = st.R[i], st.omega[i]
            c = R @ b.com
            Ic = R @ b.inertia @ R.T
            S = skew(c)
            M = np.zeros((6, 6))
            M[:3, :3] = Ic - b.mass * (S @ S)
            M[:3, 3:] = b.mass * S
            M[3:, :3] = -b.mass * S
            M[3:, 3:] = b.mass * I3
            ac0 = cross(w, cross(w, c))
            f = b.mass * (self.gravity - ac0)
            tau = cross(c, f) - cross(w, Ic @ w)
            if wrenches and i in wrenches:
                f = f + np.asarray(wrenches[i][0]); tau = tau + np.asarray(wrenches[i][1])
            Q[6*i:6*i+3], Q[6*i+3:6*i+6] = tau, f
            Ms.append(M)
        return Ms, Q

    def solve(self, st, wrenches=None, tol=1e-9):
        """Returns accelerations nu', multipliers of least norm, reactions, rank, mobility.

        With M = L L^T the KKT system [M -J^T; J 0] is reduced to B = J L^-T and solved for the
        accelerations by the SVD of B; the multipliers are the least-norm solution of J^T lambda = M
        nu' - Q, by the SVD of J^T (equal to the pseudoinverse solution of the KKT matrix)."""
        phi, J, gam = self.constraint_rows(st)
        Ms, Q = self.mass_force(st, wrenches)
        n6 = 6 * self.n
        B, y0 = np.empty_like(J), np.empty(n6)
        Ls = [np.linalg.cholesky(M) for M in Ms]
        for i, L in enumerate(Ls):
            s = slice(6*i, 6*i+6)
            B[:, s] = np.linalg.solve(L, J[:, s].T).T
            y0[s] = np.linalg.solve(L, Q[s])
        res = {}
        if self.nrows:
            U, sv, Vt = np.linalg.svd(J, full_matrices=True)
            rank = int((sv > tol * sv[0]).sum())
            Ub, sb, Vbt = np.linalg.svd(B, full_matrices=False)
            rhs = -gam - B @ y0
            y = y0 + Vbt[:rank].T @ ((Ub[:, :rank].T @ rhs) / sb[:rank])
            inconsistent = np.linalg.norm(Ub[:, rank:].T @ rhs) if rank < len(rhs) else 0.0
        else:
            rank, y, sv, inconsistent = 0, y0, np.zeros(0), 0.0
        nud = np.concatenate([np.linalg.solve(L.T, y[6*i:6*i+6]) for i, L in enumerate(Ls)])
        Mnud = np.concatenate([Ms[i] @ nud[6*i:6*i+6] for i in range(self.n)])
        if self.nrows:
            lam = U[:, :rank] @ ((Vt[:rank] @ (Mnud - Q)) / sv[:rank])
            null = U[:, rank:]                      # null space of J^T
        else:
            lam, null = np.zeros(0), np.zeros((0, 0))
        res.update(acc=nud, lam=lam, rank=rank, mobility=n6 - rank, phi=phi, J=J, gamma=gam, Ms=Ms, Q=Q,
                   sv=sv, inconsistent=inconsistent, null=null,
                   residual_dyn=np.abs(Mnud - Q - J.T @ lam).max() if n6 else 0.0,
                   residual_acc=np.abs(J @ nud + gam).max() if self.nrows else 0.0)
        res["reactions"] = [self.reaction(st, k, J, lam) for k in range(len(self.constraints))]
        # A wrench is unique if no null-space multiplier changes it.
        uniq = []
        for k in range(len(self.constraints)):
            f = t = 0.0
            for col in null.T:
                a, b = self.reaction(st, k, J, col)
                f, t = max(f, np.abs(a).max()), max(t, np.abs(b).max())
            uniq.append((bool(f < 1e-8), bool(t < 1e-8)))
        res["unique"] = uniq
        return res

    def reaction(self, st, k, J, lam):
        """Returns (force, torque) on a's body about a's frame origin, world axes."""
        c, sl = self.constraints[k], self.rows[k]
        if c.a.body is None:        # a on the world: minus the wrench on b's body, shifted to a's frame origin
            i = c.b.body
            g = -(J[sl, 6*i:6*i+6].T @ lam[sl])
            arm = c.a.origin - st.pos[i]
            return g[3:], g[:3] - cross(arm, g[3:])
        i = c.a.body
        if c.b.body == i:
            raise ValueError("constraint within one body")
        g = J[sl, 6*i:6*i+6].T @ lam[sl]
        return g[3:], g[:3] - cross(st.R[i] @ c.a.origin, g[3:])

    def kkt(self, st, wrenches=None, rcond=1e-11):
        """Returns (nu', lambda) from the dense KKT system by its pseudoinverse (SVD)."""
        phi, J, gam = self.constraint_rows(st)
        Ms, Q = self.mass_force(st, wrenches)
        n = 6 * self.n
        K = np.zeros((n + self.nrows, n + self.nrows))
        for i, M in enumerate(Ms):
            K[6*i:6*i+6, 6*i:6*i+6] = M
        K[:n, n:], K[n:, :n] = -J.T, J
        x = np.linalg.lstsq(K, np.concatenate([Q, -gam]), rcond=rcond)[0]
        return x[:n], x[n:]

    def energy(self, st):
        T = V = 0.0
        for i, b in enumerate(self.bodies):
            R, w = st.R[i], st.omega[i]
            c = R @ b.com
            vc = st.vel[i] + cross(w, c)
            T += 0.5 * b.mass * vc @ vc + 0.5 * w @ (R @ (b.inertia @ (R.T @ w)))
            V -= b.mass * self.gravity @ (st.pos[i] + c)
        return T, V

    def energy_rate(self, st, nud):
        """Returns d(T+V)/dt from the accelerations (0 without external wrenches), by the power on
        each body."""
        P = 0.0
        for i, b in enumerate(self.bodies):
            R, w = st.R[i], st.omega[i]
            al, a = nud[6*i:6*i+3], nud[6*i+3:6*i+6]
            c = R @ b.com
            Ic = R @ b.inertia @ R.T
            vc = st.vel[i] + np.cross(w, c)
            ac = a + np.cross(al, c) + np.cross(w, np.cross(w, c))
            P += b.mass * vc @ (ac - self.gravity) + w @ (Ic @ al)
        return P

    def momentum_rate(self, st, nud):
        """Returns (d/dt linear momentum - total weight, d/dt angular momentum about the world
        origin - moment of weights)."""
        F, H = np.zeros(3), np.zeros(3)
        for i, b in enumerate(self.bodies):
            R, w = st.R[i], st.omega[i]
            al, a = nud[6*i:6*i+3], nud[6*i+3:6*i+6]
            c = R @ b.com
            Ic = R @ b.inertia @ R.T
            ac = a + np.cross(al, c) + np.cross(w, np.cross(w, c))
            F += b.mass * (ac - self.gravity)
            H += np.cross(st.pos[i] + c, b.mass * (ac - self.gravity)) + Ic @ al + np.cross(w, Ic @ w)
        return F, H

    # ---- projection -----------------------------------------------------------------------
    def assemble(self, st, tol=1e-14, iters=50, rank_tol=1e-9, velocities=True):
        """Returns the assembled state: Gauss-Newton (SVD, least norm) on the poses, then a
        least-norm correction of the velocities."""
        best = np.inf
        for _ in range(iters):
            phi, J, _g = self.constraint_rows(st)
            e = np.abs(phi).max() if self.nrows else 0.0
            if e <= tol or (e < 1e-12 and e >= best):
                break
            best = min(best, e)
            U, s, Vt = np.linalg.svd(J, full_matrices=False)
            # Rank by the gap of singular values. Far from closure redundant rows are not yet
            # dependent, hence the milder tolerance.
            keep = s > max(rank_tol, min(1e-3, 1e-2 * e)) * s[0]
            st = st.moved(-(Vt[keep].T @ ((U[:, keep].T @ phi) / s[keep])))
        if velocities and self.nrows:
            _p, J, _g = self.constraint_rows(st)
            U, s, Vt = np.linalg.svd(J, full_matrices=False)
            keep = s > rank_tol * s[0]
            nu = st.nu
            nu = nu - Vt[keep].T @ (Vt[keep] @ nu)
            st = st.with_nu(nu)
        return st

    # ---- time integration -------------------------------------------------------------------
    def _pack(self, st):
        return np.concatenate([st.pos.ravel(), st.quat.ravel(), st.omega.ravel(), st.vel.ravel()])

    def _unpack(self, y):
        n = self.n
        return State(y[:3*n].reshape(n, 3), y[3*n:7*n].reshape(n, 4), y[7*n:10*n].reshape(n, 3), y[10*n:].reshape(n, 3))

    def rhs(self, t, y, wrenches=None):
        st = self._unpack(y)
        n = self.n
        acc = self._acc(st, wrenches).reshape(-1, 6)
        qd = np.array([0.5 * q_mul(np.concatenate(([0.0], st.omega[i])), y[3*n+4*i:3*n+4*i+4]) for i in range(n)])
        return np.concatenate([st.vel.ravel(), qd.ravel(), acc[:, :3].ravel(), acc[:, 3:].ravel()])

    def _acc(self, st, wrenches=None, tol=1e-9):
        phi, J, gam = self.constraint_rows(st)
        Ms, Q = self.mass_force(st, wrenches)
        Ls = [np.linalg.cholesky(M) for M in Ms]
        B, y0 = np.empty_like(J), np.empty(6 * self.n)
        for i, L in enumerate(Ls):
            s = slice(6*i, 6*i+6)
            B[:, s] = np.linalg.solve(L, J[:, s].T).T
            y0[s] = np.linalg.solve(L, Q[s])
        y = y0
        if self.nrows:
            U, s, Vt = np.linalg.svd(B, full_matrices=False)
            k = s > max(tol, 10 * np.abs(phi).max()) * s[0]   # stage states are off the manifold by O(h^p)
            y = y0 + Vt[k].T @ ((U[:, k].T @ (-gam - B @ y0)) / s[k])
        return np.concatenate([np.linalg.solve(L.T, y[6*i:6*i+6]) for i, L in enumerate(Ls)])

    def simulate(self, st, t_end, rtol=1e-10, t_out=None, project=True, verbose=True, callback=None):
        """Integrates by DOP853 with projection onto the constraints after every step; returns a
        list of (t, State)."""
        t_out = np.linspace(0, t_end, 11) if t_out is None else np.asarray(t_out, float)
        st = self.assemble(st)
        E0 = sum(self.energy(st))
        out = [(t_out[0], st)]
        y, h = self._pack(st), None
        drift = 0.0
        for a, b in zip(t_out[:-1], t_out[1:]):
            sol = DOP853(self.rhs, a, y, b, rtol=rtol, atol=rtol * 1e-2, first_step=None if h is None else min(h, b - a))
            while sol.status == "running":
                sol.step()
                if project:
                    s2 = self.assemble(self._unpack(sol.y), tol=1e-15)
                    sol.y = self._pack(s2)
                    sol.f = self.rhs(sol.t, sol.y)
                if sol.status == "running":
                    h = sol.h_abs
            if sol.status != "finished":
                raise RuntimeError(f"integration failed at t={sol.t:g}")
            y = sol.y
            s = self._unpack(y)
            E = sum(self.energy(s))
            drift = max(drift, abs(E - E0))
            out.append((b, s))
            if callback:
                callback(b, s)
        if verbose:
            print(f"simulate: t_end={t_out[-1]:g} rtol={rtol:g} E0={E0:.15g} energy drift={drift:.3e} "
                  f"max|phi|={np.abs(self.constraint_rows(out[-1][1])[0]).max() if self.nrows else 0:.1e}")
        return out
