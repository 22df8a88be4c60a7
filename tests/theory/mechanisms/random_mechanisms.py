"""Random closed-loop mechanisms with reference accelerations and reactions, written to a file as JSON.

    python random_mechanisms.py mechanisms.json

`sample.json` has 60 of the 300 mechanisms, without the fields that the test does not read.

Tree joint: frame F on the parent at `origin` (parent axes; no own rotation), child body frame placed in F:
  revolute    R = Rot(axis, q0)                               rates [q0']
  prismatic   R = 1, shift = axis q0                          rates [q0']
  cylindrical R = Rot(axis, q0), shift = axis q1              rates [q0', q1']
  universal   R = Rot(axis, q0) Rot(axis2, q1)                rates [q0', q1']   axis.axis2 = 0
  spherical   R = Rot(quaternion, child -> F)                 rates = angular velocity rel. to parent, CHILD axes
  free        (parent world) position = [qw,qx,qy,qz, x,y,z]  rates = [angular velocity CHILD axes, d/dt(x,y,z)]
Accelerations are the time derivatives of the rate components.
Body velocities/accelerations are also given: omega, v (body origin), alpha, a: all in WORLD axes.

bodies: mass, com (body axes, from the body origin), inertia (about the mass centre, body axes). Indices from 0; "world".
joints: in the order of the tree coordinates (child index ascending, parents before children).
frames: name, body, origin (body axes), rotation (3x3 rows; frame axes -> body axes: x_body = rotation x_frame).
loops: type, a, b (frame names), axis (components in frame b and, for revolute/prismatic/cylindrical/planar, also in
  frame a), axis2 (components in frame a, universal), length (distance).
reference: dof_tree, loop_rows, rank (of loop rows x tree motion, relative tolerance 1e-9), mobility = dof_tree - rank,
  singular_values of that matrix (ours; row scaling matters), accelerations (per joint, derivative of rates),
  loops[i]: force, torque on frame a's body about frame a's origin, world axes, from the multipliers of least norm over
  the loop rows; force_unique / torque_unique tell whether redundancy leaves them undetermined (then do NOT compare);
  loop_generalized_forces: A^T lambda per tree coordinate rate (always unique), i.e. power of the loop reactions
  per unit rate; kinetic_energy, potential_energy (-sum m g.c).
"""
import json, sys
import numpy as np
from reference import (System, Body, Frame, Constraint, State, axis_rot, q_rot, q_from_rot, perp_basis, skew)

NDOF = dict(revolute=1, prismatic=1, cylindrical=2, universal=2, spherical=3, free=6)
TOL = 1e-9


def unit(v):
    return np.asarray(v, float) / np.linalg.norm(v)


def rnd_axis(rng):
    return unit(rng.normal(size=3))


def rnd_quat(rng):
    q = unit(rng.normal(size=4))
    return q if q[0] >= 0 else -q


def rnd_body(rng, scale=1.0):
    """Returns a random physical body: sum of point masses, so that the inertia satisfies the
    triangle inequalities."""
    P = rng.normal(size=(6, 3)) * 0.25 * scale
    m = rng.uniform(0.1, 0.8, size=6)
    com = m @ P / m.sum()
    D = P - com
    I = sum(mi * (d @ d * np.eye(3) - np.outer(d, d)) for mi, d in zip(m, D))
    I = 0.5 * (I + I.T)
    return dict(mass=float(m.sum()), com=com.tolist(), inertia=I.tolist())


# ---------------------------------------------------------------- tree kinematics
def joint_motion(j):
    """Returns R (child -> F), shift (F axes), S columns (relative omega, relative v of the child
    origin) in F axes, and the rate-quadratic parts of (relative omega', relative a) in F axes."""
    t, q, u = j["type"], np.array(j["position"], float), np.array(j["rate"], float)
    z = np.zeros(3)
    ax = None if j.get("axis") is None else np.array(j["axis"], float)
    if t == "revolute":
        R = axis_rot(ax, q[0])
        return R, z, [(ax, z)], z
    if t == "prismatic":
        return np.eye(3), ax * q[0], [(z, ax)], z
    if t == "cylindrical":
        return axis_rot(ax, q[0]), ax * q[1], [(ax, z), (z, ax)], z
    if t == "universal":
        R1 = axis_rot(ax, q[0])
        a2 = R1 @ np.array(j["axis2"], float)
        R = R1 @ axis_rot(j["axis2"], q[1])
        return R, z, [(ax, z), (a2, z)], np.cross(ax * u[0], a2) * u[1]
    if t == "spherical":
        R = q_rot(q)
        # omega_rel = R u ; d/dt in F axes = R u' + omega_rel x omega_rel = R u'
        return R, z, [(R[:, k], z) for k in range(3)], z
    if t == "free":
        R = q_rot(q[:4])
        return R, q[4:], [(R[:, k], z) for k in range(3)] + [(z, np.eye(3)[k]) for k in range(3)], z
    raise ValueError(t)


def tree_state(mech):
    """Returns State, S (nu = S qdot), bias (nu' = S qddot + bias). Bodies are ordered parents
    first."""
    n = len(mech["bodies"])
    nd = sum(NDOF[j["type"]] for j in mech["joints"])
    pos, Rm, om, ve = [None] * n, [None] * n, [None] * n, [None] * n
    S, bias = np.zeros((6 * n, nd)), np.zeros(6 * n)
    k0 = 0
    quat = [None] * n
    for j in mech["joints"]:
        c = j["child"]
        nj = NDOF[j["type"]]
        u = np.array(j["rate"], float)
        R, s, cols, w0 = joint_motion(j)
        if j["parent"] == "world":
            Rp, pp, wp, vp = np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3)
            Sp, bp = np.zeros((6, nd)), np.zeros(6)
        else:
            p = j["parent"]
            Rp, pp, wp, vp = Rm[p], pos[p], om[p], ve[p]
            Sp, bp = S[6*p:6*p+6], bias[6*p:6*p+6]
        d = Rp @ (np.array(j["origin"], float) + s)
        wr = sum((Rp @ a * x for (a, _), x in zip(cols, u)), np.zeros(3))
        vr = sum((Rp @ b * x for (_, b), x in zip(cols, u)), np.zeros(3))
        Rm[c], pos[c] = Rp @ R, pp + d
        om[c], ve[c] = wp + wr, vp + np.cross(wp, d) + vr
        Sc = np.zeros((6, nd))
        Sc[:3] = Sp[:3]
        Sc[3:] = Sp[3:] - skew(d) @ Sp[:3]
        for i, (a, b) in enumerate(cols):
            Sc[:3, k0+i] += Rp @ a
            Sc[3:, k0+i] += Rp @ b
        S[6*c:6*c+6] = Sc
        # omega_c' = omega_p' + Rp(...)' ; relative part: Rp w0 + omega_p x wr   (w0: in-F rate-quadratic part)
        bias[6*c:6*c+3] = bp[:3] + Rp @ w0 + np.cross(wp, wr)
        # a_c = a_p + al_p x d + w_p x (w_p x d) + 2 w_p x vr
        bias[6*c+3:6*c+6] = bp[3:] + np.cross(bp[:3], d) + np.cross(wp, np.cross(wp, d)) + 2 * np.cross(wp, vr)
        k0 += nj
        quat[c] = q_from_rot(Rm[c])
    for c in range(n):                                  # bodies not yet attached to the mechanism
        if pos[c] is None:
            pos[c], quat[c], om[c], ve[c] = np.zeros(3), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3)
    return State(pos, quat, om, ve), S, bias


def build_system(mech):
    """Builds the maximal-coordinate system: tree joints first (as constraints), then loops."""
    bodies = [Body(b["mass"], b["com"], b["inertia"]) for b in mech["bodies"]]
    cons = []
    for j in mech["joints"]:
        if j["type"] == "free":
            continue
        par = j["parent"]
        cons.append(Constraint(j["type"], Frame(j["child"]), Frame(par, j["origin"]), j.get("axis"), j.get("axis2")))
    nt = len(cons)
    fr = {f["name"]: Frame(f["body"], f["origin"], f["rotation"]) for f in mech["frames"]}
    for l in mech["loops"]:
        cons.append(Constraint(l["type"], fr[l["a"]], fr[l["b"]], l.get("axis"), l.get("axis2"), l.get("length")))
    return System(bodies, cons, mech["gravity"]), nt


def joint(type, parent, child, origin, axis=None, axis2=None, position=(), rate=None):
    return dict(type=type, parent=parent, child=child, origin=[float(x) for x in origin],
                axis=None if axis is None else [float(x) for x in axis],
                axis2=None if axis2 is None else [float(x) for x in axis2],
                position=[float(x) for x in position], rate=[0.0] * NDOF[type] if rate is None else rate)


# ---------------------------------------------------------------- closing a loop
def pose_of(mech, st, body):
    return (np.eye(3), np.zeros(3)) if body == "world" else (st.R[body], st.pos[body])


def close(mech, rng, type, A, B, fa=None, axis=None, axis2=None, X=None, name=""):
    """Adds a loop of `type` between body A (frame a, random unless given as (origin, rotation)) and
    body B."""
    st, _, _ = tree_state(mech)
    axis = rnd_axis(rng) if axis is None else unit(axis)
    if type == "universal":
        axis2 = unit(np.cross(axis, rnd_axis(rng))) if axis2 is None else axis2
    oa, Ra = (rng.normal(size=3) * 0.4, q_rot(rnd_quat(rng))) if fa is None else fa
    RA, pA = pose_of(mech, st, A)
    RB, pB = pose_of(mech, st, B)
    Rw, pw = RA @ Ra, pA + RA @ oa
    th, s = rng.uniform(-2.5, 2.5), rng.uniform(-0.8, 0.8)
    length = None
    if X is None:
        if type == "revolute":
            X = axis_rot(axis, th), np.zeros(3)
        elif type == "prismatic":
            X = np.eye(3), axis * s
        elif type == "cylindrical":
            X = axis_rot(axis, th), axis * s
        elif type == "universal":
            X = axis_rot(axis, th) @ axis_rot(axis2, rng.uniform(-2, 2)), np.zeros(3)
        elif type == "spherical":
            X = q_rot(rnd_quat(rng)), np.zeros(3)
        elif type == "planar":
            e1, e2 = perp_basis(axis)
            X = axis_rot(axis, th), e1 * s + e2 * rng.uniform(-0.8, 0.8)
        elif type == "fixed":
            X = np.eye(3), np.zeros(3)
        elif type == "point_on_line":
            X = q_rot(rnd_quat(rng)), axis * s
        elif type == "distance":
            X = q_rot(rnd_quat(rng)), rnd_axis(rng) * rng.uniform(0.5, 1.5)
    RX, dX = X
    RF = Rw @ RX.T
    pF = pw - RF @ dX
    Rb, ob = RB.T @ RF, RB.T @ (pF - pB)
    if type == "distance":
        length = float(np.linalg.norm(pw - (pB + RB @ ob)))
    k = len(mech["loops"])
    na, nb = f"a{k}", f"b{k}"
    mech["frames"].append(dict(name=na, body=A, origin=np.asarray(oa).tolist(), rotation=np.asarray(Ra).tolist()))
    mech["frames"].append(dict(name=nb, body=B, origin=ob.tolist(), rotation=Rb.tolist()))
    mech["loops"].append(dict(type=type, a=na, b=nb, axis=None if type in ("spherical", "fixed", "distance") else axis.tolist(),
                              axis2=axis2.tolist() if type == "universal" else None, length=length))


# ---------------------------------------------------------------- generators
LOOPS = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "fixed", "point_on_line", "distance")
ROWS = Constraint.NROWS


def rnd_joint(rng, type, parent, child):
    ax = rnd_axis(rng)
    ax2 = unit(np.cross(ax, rnd_axis(rng)))
    o = rng.normal(size=3) * 0.5
    if type == "free":
        return joint(type, "world", child, (0, 0, 0), position=[*rnd_quat(rng), *rng.normal(size=3)])
    if type == "spherical":
        return joint(type, parent, child, o, position=rnd_quat(rng))
    n = NDOF[type]
    q = rng.uniform(-2.5, 2.5, size=n)
    if type == "prismatic":
        q = rng.uniform(-0.8, 0.8, size=1)
    if type == "cylindrical":
        q[1] = rng.uniform(-0.8, 0.8)
    if type == "universal":
        q[1] = rng.uniform(-1.3, 1.3)
    return joint(type, parent, child, o, ax, ax2 if type == "universal" else None, q)


def new(kind, n, rng):
    return dict(kind=kind, gravity=(rnd_axis(rng) * rng.uniform(5, 12)).tolist(), bodies=[rnd_body(rng) for _ in range(n)],
                joints=[], frames=[], loops=[])


def generic(rng, loop_types, floating):
    n = int(rng.integers(3, 9))
    m = new("generic", n, rng)
    for c in range(n):
        if c == 0:
            t = "free" if floating else str(rng.choice(["revolute", "prismatic", "cylindrical", "spherical", "universal"]))
            m["joints"].append(rnd_joint(rng, t, "world", 0))
            continue
        t = str(rng.choice(["revolute", "revolute", "prismatic", "cylindrical", "spherical", "universal"]))
        parent = int(rng.integers(max(0, c - 2), c))
        if not floating and rng.random() < 0.12:
            parent = "world"
        m["joints"].append(rnd_joint(rng, t, parent, c))
    parents = [j["parent"] for j in m["joints"]]

    def to_root(x):
        p = []
        while x != "world":
            p.append(x); x = parents[x]
        return p

    def path_dof(A, B):
        pa, pb = to_root(A), (to_root(B) if B != "world" else [])
        return sum(NDOF[m["joints"][c]["type"]] for c in set(pa) ^ set(pb))

    for t in loop_types:
        locked_ok = rng.random() < 0.1          # some loops lock joints and are redundant
        for _ in range(200):
            A = int(rng.integers(0, n))
            B = "world" if (rng.random() < (0.2 if floating else 0.35)) else int(rng.integers(0, n))
            if A != B and (locked_ok or path_dof(A, B) >= ROWS[t] + (rng.random() < 0.7)):
                break
        else:
            return None
        if A == B:
            return None
        if rng.random() < 0.12 and B != "world":      # some loops have frame a on the world
            close_world_a(m, rng, t, B)
        else:
            close(m, rng, t, A, B)
    return m


def close_world_a(m, rng, t, B):
    close(m, rng, t, "world", B)


def base_body(m, rng, floating, n_extra):
    """Adds body 0 as a free base if floating; returns the base ("world" or 0)."""
    if floating:
        m["joints"].append(rnd_joint(rng, "free", "world", 0))
        return 0
    return "world"


def add_rev(m, parent, child, origin, axis, angle):
    m["joints"].append(joint("revolute", parent, child, origin, axis, position=[angle]))


def chain_frame(rng):
    """Returns a random orientation of a special mechanism in its base, and a random origin. Body
    frames are parallel to the parent's at q=0, so general directions come from one rotation Q."""
    return q_rot(rnd_quat(rng)), rng.normal(size=3) * 0.3


def fourbar(rng, floating):
    n = 3 + floating
    m = new("planar_fourbar_revolute", n, rng)
    base = base_body(m, rng, floating, 3)
    Q, o = chain_frame(rng)
    z = Q[:, 2]
    k = int(floating)
    par, org = base, o
    for i in range(3):
        add_rev(m, par, k + i, org, z, rng.uniform(-2, 2))
        org = Q @ np.array([*rng.uniform(0.3, 1.0, 2) * rng.choice([-1, 1], 2), rng.uniform(-0.2, 0.2)])
        par = k + i
    close(m, rng, "revolute", par, base, fa=(org, np.eye(3)), axis=z, X=(axis_rot(z, rng.uniform(-2, 2)), np.zeros(3)))
    return m


def parallelogram(rng, floating, closing="revolute", double=False):
    """A crank with coupler; crank 2 (tree joint on the base) closes on the coupler; crank 3 is
    redundant. With closing="distance" the cranks 2 and 3 are distance constraints (massless
    rods)."""
    nb = (3 if closing == "distance" else 4) + floating
    m = new("parallelogram_third_crank" if closing == "revolute" else "parallelogram_two_distances", nb, rng)
    base = base_body(m, rng, floating, nb)
    Q, o = chain_frame(rng)
    z = Q[:, 2]
    k = int(floating)
    L = rng.uniform(0.5, 1.2)
    r0 = Q @ np.array([L, 0, 0])
    th = rng.choice([-1, 1]) * rng.uniform(0.4, 2.6)
    a2 = np.array([rng.uniform(0.6, 1.5), 0, rng.uniform(-.2, .2)])
    a3 = np.array([rng.uniform(-1.5, -0.4), 0, rng.uniform(-.2, .2)]) if rng.random() < .5 else \
        np.array([*rng.uniform(0.3, 1.0, 2), rng.uniform(-.2, .2)])
    if closing == "revolute":
        phi = rng.uniform(-1, 1)
        add_rev(m, base, k, o, z, th)
        add_rev(m, k, k + 1, r0, z, phi - th)         # coupler turned by phi w.r.t. the base, constant
        for i, a in enumerate((a2, a3)):
            add_rev(m, base, k + 2 + i, o + Q @ a, z, th)
        for i, a in enumerate((a2, a3)):
            # point on the coupler, whose origin is at o + Rot(th) r0
            close(m, rng, "revolute", k + 2 + i, k + 1, fa=(r0, np.eye(3)), axis=z,
                  X=(axis_rot(z, th - phi), np.zeros(3)))
        return m
    add_rev(m, base, k, o, z, th)
    phi = rng.uniform(-1, 1)
    add_rev(m, k, k + 1, r0, z, phi - th)
    st, _, _ = tree_state(m)
    Rb, pb = pose_of(m, st, base)
    for i, a in enumerate((a2, a3)):
        # anchor on base: o + Q a (base axes); on coupler: same vector, coupler axes = Rot(z,phi)^T Q a
        oc = axis_rot(z, phi).T @ (Q @ a)
        Rw, pw = pose_of(m, st, k + 1)
        kk = len(m["loops"])
        m["frames"].append(dict(name=f"a{kk}", body=k + 1, origin=oc.tolist(), rotation=q_rot(rnd_quat(rng)).tolist()))
        m["frames"].append(dict(name=f"b{kk}", body=base, origin=(o + Q @ a).tolist(), rotation=q_rot(rnd_quat(rng)).tolist()))
        m["loops"].append(dict(type="distance", a=f"a{kk}", b=f"b{kk}", axis=None, axis2=None, length=float(np.linalg.norm(r0))))
    m["joints"].append(rnd_joint(rng, "spherical", k + 1, k + 2))    # a body attached to the coupler
    return m


def double_rod(rng, floating):
    """A generic mechanism with one distance loop twice (the frames differ in rotation only; b and a
    are exchanged)."""
    m = generic(rng, ["distance"], floating)
    if m is None:
        return None
    m["kind"] = "distance_twice"
    f = {x["name"]: x for x in m["frames"]}
    l = m["loops"][0]
    m["frames"].append(dict(f[l["b"]], name="a1", rotation=q_rot(rnd_quat(rng)).tolist()))
    m["frames"].append(dict(f[l["a"]], name="b1", rotation=q_rot(rnd_quat(rng)).tolist()))
    m["loops"].append(dict(type="distance", a="a1", b="b1", axis=None, axis2=None, length=l["length"]))
    return m


def dh_chain(rng, floating, kind, links, Q, o, thetas, nb):
    """Closed chain of revolutes: links = [(a, alpha, d)], DH: Rot z theta, Trans z d, Trans x a,
    Rot x alpha. The bodies' frames are parallel to F at q=0, the chain's joint axes are expressed
    in each body's axes."""
    m = new(kind, nb + floating, rng)
    base = base_body(m, rng, floating, nb)
    k = int(floating)
    # body i (frame parallel to parent's at theta=0). Joint axis i in the parent's axes: zc; x axis direction at theta=0: xc
    C, org, par = Q.copy(), o.copy(), base
    for i in range(nb):
        z, x = C[:, 2], C[:, 0]
        add_rev(m, par, k + i, org, z, thetas[i])
        a, al, d = links[i]
        org = z * d + x * a
        C = C @ axis_rot([1, 0, 0], al)
        par = k + i
    zc = C[:, 2]
    close(m, rng, "revolute", par, base, fa=(org, np.eye(3)), axis=zc, X=(axis_rot(zc, rng.uniform(-2, 2)), np.zeros(3)))
    return m


def bennett(rng, floating):
    al, be = rng.uniform(0.5, 1.2), rng.uniform(1.3, 2.2)
    a = rng.uniform(0.5, 1.2)
    b = a * np.sin(be) / np.sin(al)
    th1 = rng.choice([-1, 1]) * rng.uniform(0.4, 2.6)
    # tan(th1/2) tan(th2/2) = sin((be+al)/2)/sin((be-al)/2); th3 = -th1 (2pi - th1), th4 = -th2
    K = np.sin((be + al) / 2) / np.sin((be - al) / 2)
    links = [(a, al, 0), (b, be, 0), (a, al, 0), (b, be, 0)]
    best = None
    for sgn in (1, -1):
        th2 = 2 * np.arctan(sgn * K / np.tan(th1 / 2))
        R, p = np.eye(3), np.zeros(3)
        for (aa, ll, d), t in zip(links, (th1, th2, -th1, -th2)):
            R = R @ axis_rot([0, 0, 1], t); p = p + R @ np.array([aa, 0, d]); R = R @ axis_rot([1, 0, 0], ll)
        e = np.abs(R - np.eye(3)).max() + np.abs(p).max()
        if best is None or e < best[0]:
            best = (e, th2)
    assert best[0] < 1e-12, best
    Q, o = chain_frame(rng)
    return dh_chain(rng, floating, "bennett", links, Q, o, [th1, best[1], -th1], 3)


def spherical4(rng, floating):
    links = [(0, rng.uniform(0.5, 1.4), 0) for _ in range(3)]
    Q, o = chain_frame(rng)
    return dh_chain(rng, floating, "spherical_fourbar_revolute", links, Q, o, rng.uniform(-2, 2, 3), 3)


def sarrus(rng, floating):
    """Two planar RRR chains; the hinge axes of the second are rotated by a general angle; the
    platform translates."""
    m = new("sarrus", 5 + floating, rng)
    base = base_body(m, rng, floating, 5)
    k = int(floating)
    Q, o = chain_frame(rng)
    n = Q[:, 2]                                        # translation direction of the platform
    t1 = rng.choice([-1, 1]) * rng.uniform(0.3, 1.2)
    L1, L2 = rng.uniform(0.5, 1.0, 2)
    # leg 1: hinge axis y1 = Q e_y; link directions x1 turned by angles about y1, platform keeps the base attitude
    y1, x1 = Q[:, 1], Q[:, 0]
    t2 = np.arcsin(np.clip(rng.uniform(-0.8, 0.8), -1, 1))
    add_rev(m, base, k, o, y1, t1)
    add_rev(m, k, k + 1, x1 * L1, y1, t2 - t1 + np.pi / 3)
    add_rev(m, k + 1, k + 2, x1 * L2, y1, -(t2 + np.pi / 3))   # platform k+2 parallel to the base
    st, _, _ = tree_state(m)
    Rb, pb = pose_of(m, st, base)
    P = Rb.T @ (st.pos[k + 2] - pb)                     # platform origin in base axes
    # leg 2: in the plane of n and x2, hinge axis y2 = n x x2
    psi = rng.uniform(0.6, 2.5)
    x2 = axis_rot(n, psi) @ x1
    y2 = axis_rot(n, psi) @ y1
    # closing hinge on the platform at P + g (g random); foot on the base at f, triangle in the (x2, n) plane
    g = rng.normal(size=3) * 0.4
    e = P + g
    h = (e - o) @ n
    foot_r = rng.uniform(0.2, 0.6) * rng.choice([-1, 1])
    f = e - n * h - x2 * foot_r + y2 * rng.uniform(-.2, .2)
    e2 = e
    v = e2 - f
    vx, vn = v @ x2, v @ n
    D = np.hypot(vx, vn)
    M1 = D * rng.uniform(0.7, 1.1); M2 = D * rng.uniform(0.7, 1.1)
    ca = (M1**2 + D**2 - M2**2) / (2 * M1 * D)
    # rotation about y2 by angle a takes x2 to x2 cos a - n sin a
    base_ang = np.arctan2(-vn, vx)
    a1 = base_ang + np.arccos(ca)
    tip = np.array([M1 * np.cos(a1), -M1 * np.sin(a1)])
    a2 = np.arctan2(-(vn - tip[1]), vx - tip[0])
    add_rev(m, base, k + 3, f, y2, a1)
    add_rev(m, k + 3, k + 4, x2 * M1, y2, a2 - a1)
    off = x2 * M2 + y2 * (v @ y2)
    close(m, rng, "revolute", k + 4, k + 2, fa=(off, np.eye(3)), axis=y2, X=(axis_rot(y2, a2), np.zeros(3)))
    return m


def bricard(rng, floating):
    """The Bricard mechanism of the benchmark A04, scaled, at a general configuration: cos A cos B + cos A + cos B = 0."""
    points = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], float)
    axes = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]], float)
    A = rng.uniform(-1.4, 1.4)
    B = np.arccos(-np.cos(A) / (1 + np.cos(A)))
    q = -1.0 * (np.array([A, B, A, B, A, B]) - np.pi / 2)
    m = new("bricard", 5 + floating, rng)
    base = base_body(m, rng, floating, 5)
    k = int(floating)
    Q, o = chain_frame(rng)
    s = rng.uniform(0.5, 1.5)
    par, org = base, o
    for i in range(5):
        add_rev(m, par, k + i, org, Q @ axes[i], q[i])
        org = Q @ (points[i+1] - points[i]) * s
        par = k + i
    z = Q @ axes[5]
    close(m, rng, "revolute", par, base, fa=(org, np.eye(3)), axis=z, X=(axis_rot(z, -q[5]), np.zeros(3)))
    return m


# ---------------------------------------------------------------- the reference numbers
def set_rates(mech, qd):
    k = 0
    for j in mech["joints"]:
        n = NDOF[j["type"]]
        j["rate"] = [float(x) for x in qd[k:k+n]]
        k += n


def evaluate(mech, rng):
    """Sets the start rates (projected onto the constraints) and computes the results; returns None
    if the configuration is too near to a singularity."""
    sysm, nt = build_system(mech)
    nd = sum(NDOF[j["type"]] for j in mech["joints"])
    st, S, bias = tree_state(mech)
    phi, J, gam = sysm.constraint_rows(st)
    r0 = sysm.rows[nt].start
    A = J[r0:] @ S
    U, s, Vt = np.linalg.svd(A)
    rank = int((s > TOL * s[0]).sum())
    # requires a clear gap between singular values of independent and of dependent rows
    if s[rank - 1] < 2e-2 * s[0] or (rank < len(s) and s[rank] > 1e-12 * s[0]):
        return None
    qd = rng.normal(size=nd) * 1.0
    qd = Vt[rank:].T @ (Vt[rank:] @ qd)
    if nd > rank:
        nrm = np.linalg.norm(qd)
        if nrm > 4: qd *= 4 / nrm
        qd = Vt[rank:].T @ (Vt[rank:] @ qd)
    set_rates(mech, qd)
    st, S, bias = tree_state(mech)
    r = sysm.solve(st, tol=TOL)
    phi, J, gam = r["phi"], r["J"], r["gamma"]
    acc = r["acc"]
    A = J[r0:] @ S
    # tree accelerations from the maximal-coordinate accelerations
    qdd, *_ = np.linalg.lstsq(S, acc - bias, rcond=None)
    fit = np.abs(S @ qdd + bias - acc).max()
    # second method: KKT system in reduced tree coordinates
    n6 = 6 * sysm.n
    M = np.zeros((n6, n6))
    for i, Mi in enumerate(r["Ms"]):
        M[6*i:6*i+6, 6*i:6*i+6] = Mi
    H = S.T @ M @ S
    h = S.T @ (r["Q"] - M @ bias)
    g = gam[r0:] + J[r0:] @ bias
    nl = A.shape[0]
    K = np.block([[H, -A.T], [A, np.zeros((nl, nl))]])
    x = np.linalg.lstsq(K, np.concatenate([h, -g]), rcond=1e-10)[0]
    qdd2, lam2 = x[:nd], x[nd:]
    # loop multipliers of least norm over the loop rows: the null-space part is removed
    U, s, Vt = np.linalg.svd(A)
    null = U[:, rank:]
    lam = r["lam"][r0:]
    lam = lam - null @ (null.T @ lam)
    tau = A.T @ lam
    full = np.zeros(sysm.nrows); full[r0:] = lam
    loops_out = []
    sc = 1 + np.abs(acc).max()
    for i, l in enumerate(mech["loops"]):
        k = nt + i
        f, t = sysm.reaction(st, k, J, full)
        nf = nt_ = 0.0
        for col in null.T:
            c = np.zeros(sysm.nrows); c[r0:] = col
            a, b = sysm.reaction(st, k, J, c)
            nf, nt_ = max(nf, np.abs(a).max()), max(nt_, np.abs(b).max())
        sl = sysm.rows[k]
        loops_out.append(dict(force=f.tolist(), torque=t.tolist(), force_unique=bool(nf < 1e-8), torque_unique=bool(nt_ < 1e-8),
                              rows=sl.stop - sl.start))
    F, Hm = sysm.momentum_rate(st, acc)
    has_world = any(j["parent"] == "world" and j["type"] != "free" for j in mech["joints"]) or any(f["body"] == "world" for f in mech["frames"])
    T, V = sysm.energy(st)
    checks = dict(phi=float(np.abs(phi).max()), phidot=float(np.abs(J @ st.nu).max()), acc_rows=float(r["residual_acc"]),
                  tree_fit=float(fit), two_paths=float(np.abs(qdd - qdd2).max()), tau_two_paths=float(np.abs(tau - A.T @ lam2).max()),
                  energy_rate=float(abs(sysm.energy_rate(st, acc))), inconsistent=float(r["inconsistent"]),
                  maximal_rank_ok=bool(r["rank"] == 6 * sysm.n - nd + rank),
                  momentum_rate=None if has_world else float(max(np.abs(F).max(), np.abs(Hm).max())), scale=float(sc))
    mech["reference"] = dict(
        dof_tree=nd, loop_rows=nl, rank=rank, mobility=nd - rank, redundant_rows=nl - rank,
        singular_values=s.tolist(),
        accelerations=[], body_state=[dict(position=st.pos[i].tolist(), quaternion=st.quat[i].tolist(), omega=st.omega[i].tolist(),
                       velocity=st.vel[i].tolist(), alpha=acc[6*i:6*i+3].tolist(), acceleration=acc[6*i+3:6*i+6].tolist()) for i in range(sysm.n)],
        loops=loops_out, reactions_unique=bool(nl == rank), loop_generalized_forces=[],
        kinetic_energy=T, potential_energy=V, floating_without_world=not has_world, checks=checks)
    k = 0
    for j in mech["joints"]:
        n = NDOF[j["type"]]
        mech["reference"]["accelerations"].append(qdd[k:k+n].tolist())
        mech["reference"]["loop_generalized_forces"].append(tau[k:k+n].tolist())
        k += n
    return mech


def generate(seed=20240501, total=300):
    rng = np.random.default_rng(seed)
    out = []
    special = [lambda f: fourbar(rng, f), lambda f: parallelogram(rng, f), lambda f: parallelogram(rng, f, "distance"),
               lambda f: double_rod(rng, f), lambda f: bennett(rng, f), lambda f: sarrus(rng, f), lambda f: spherical4(rng, f),
               lambda f: bricard(rng, f)]
    rejected = 0
    nspecial = 96                        # 12 of each of the eight
    i = 0
    while len(out) < nspecial:
        m = special[i % 8](bool((i // 8) % 2))
        m = m and evaluate(m, rng)
        if m:
            m["name"] = f"m{len(out):03d}"; out.append(m); i += 1
        else:
            rejected += 1
    # generic mechanisms: every loop type in turn as the first loop
    while len(out) < total:
        k = len(out) - nspecial
        nl = 1 + (k // 9) % 3
        types = [LOOPS[k % 9]] + [str(x) for x in rng.choice(LOOPS, size=nl - 1)]
        m = generic(rng, types, bool((k // 27) % 2))
        if m is None:
            rejected += 1; continue
        nd = sum(NDOF[j["type"]] for j in m["joints"])
        rows = sum(ROWS[t] for t in types)
        if nd - rows < (0 if rng.random() < 0.06 else 1):
            rejected += 1; continue
        m = evaluate(m, rng)
        if m is None or (m["reference"]["mobility"] == 0 and rng.random() < 0.5):
            rejected += 1; continue
        m["name"] = f"m{len(out):03d}"; out.append(m)
    return out, rejected


if __name__ == "__main__":
    ms, rej = generate()
    from collections import Counter
    print("mechanisms", len(ms), "rejected", rej)
    print("kinds", Counter(m["kind"] for m in ms))
    print("loop types", Counter(l["type"] for m in ms for l in m["loops"]))
    print("tree joints", Counter(j["type"] for m in ms for j in m["joints"]))
    print("loops per mechanism", Counter(len(m["loops"]) for m in ms), "bodies", sorted(Counter(len(m["bodies"]) for m in ms).items()))
    print("mobility", sorted(Counter(m["reference"]["mobility"] for m in ms).items()))
    print("redundant rows", sorted(Counter(m["reference"]["redundant_rows"] for m in ms).items()))
    for k in ("phi", "phidot", "acc_rows", "tree_fit", "two_paths", "tau_two_paths", "energy_rate", "inconsistent", "momentum_rate"):
        v = [(m["reference"]["checks"][k] / m["reference"]["checks"]["scale"], m["reference"]["checks"][k], m["name"], m["kind"]) for m in ms if m["reference"]["checks"][k] is not None]
        print(f"check {k:14s} n={len(v)} max relative to 1+max|acc| {max(v)[0]:.2e}  ({max(v)[1]:.2e} in {max(v)[2]} {max(v)[3]})")
    print("maximal-coordinate rank agrees:", all(m["reference"]["checks"]["maximal_rank_ok"] for m in ms))
    print("max |acc|", max(m["reference"]["checks"]["scale"] for m in ms))
    for kind in sorted({m["kind"] for m in ms}):
        if kind != "generic":
            print(kind, Counter((m["reference"]["dof_tree"], m["reference"]["loop_rows"], m["reference"]["rank"], m["reference"]["mobility"]) for m in ms if m["kind"] == kind), "(dof, rows, rank, mobility)")
    with open(sys.argv[1], "w") as f:
        json.dump(dict(conventions=__doc__, seed=20240501, mechanisms=ms), f, indent=None)
