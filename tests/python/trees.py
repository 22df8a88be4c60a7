"""Random trees of bodies, and their forward dynamics by Pinocchio.

A tree is a spec as a dictionary: `random_tree` generates it, `fmu.toml` writes it for the tool, and
`Judge` builds Pinocchio's model from the same dictionary. Only the meanings of the spec's fields are
shared with the tool. The conventions of both programs:

|                         | spec and FMU                              | Pinocchio                              |
|-------------------------|-------------------------------------------|----------------------------------------|
| quaternion              | (w, x, y, z)                              | (x, y, z, w)                           |
| state of a free body    | q, r; w in body axes, v in parent axes    | r, q; v and w, both in body axes       |
| its acceleration        | ordinary, of the origin, in parent axes   | spatial: v̇ in body axes, without w × v |
| 6-vectors               | angular first                             | linear first                           |

Spherical, universal, cylindrical and cartesian rates have the same meaning in both programs.
"""

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

MOVING = ["revolute", "prismatic", "cylindrical", "screw", "planar", "cartesian", "spherical", "universal"]
RATES = {
    "fixed": 0,
    "revolute": 1,
    "prismatic": 1,
    "screw": 1,
    "planar": 3,
    "cylindrical": 2,
    "universal": 2,
    "cartesian": 3,
    "spherical": 3,
    "free": 6,
}


# ---- generation
# ----------------------------------------------------------------------------------------------------


def random_tree(
    rng,
    n_joints,
    decades,
    roots=1,
    free_joints=False,
    world=False,
    ports=0,
    gravity=False,
    damping=False,
    rotors=False,
    measures=0,
):
    """Returns a spec with `n_joints` joints of all kinds on a floating base, and masses within
    `decades` decades.

    `roots`: number of trees. `world`: the root body is attached to the inertial frame by a joint
    instead of floating."""
    spec = {"name": "tree", "output": {"bodies": False, "diagnostics": False}, "body": {}, "joint": {}}
    if gravity:
        spec["environment"] = {"gravity": rng.uniform(-10, 10, 3)}
    bodies = []
    for i in range(roots):
        spec["body"][f"b{i}"] = random_body(rng, decades)
        bodies.append(f"b{i}")
    if world:
        spec["joint"]["anchor"] = random_joint(rng, "revolute", "world", "b0", damping, rotors)
    for i in range(n_joints):
        child = f"b{roots + i}"
        # Long chains with branches: half of the joints are attached to the body of the joint
        # before.
        parent = bodies[-1] if rng.random() < 0.5 else bodies[rng.integers(len(bodies))]
        draw = rng.random()
        if draw < 0.1:
            kind = "fixed"
        elif draw < 0.15 and free_joints:
            kind = "free"
        elif draw < 0.45:
            kind = "revolute"
        else:
            kind = MOVING[rng.integers(len(MOVING))]
        spec["body"][child] = random_body(rng, decades)
        spec["joint"][f"j{i}"] = random_joint(rng, kind, parent, child, damping, rotors)
        bodies.append(child)
    for i in range(measures):
        places = [*bodies, "world"]
        spec.setdefault("frame", {})[f"m{i}"] = {
            "body": bodies[rng.integers(len(bodies))],
            "origin": rng.uniform(-0.5, 0.5, 3),
            "orientation": random_quaternion(rng),
        }
        spec.setdefault("measure", {})[f"seen{i}"] = {"from": places[rng.integers(len(places))], "to": f"m{i}"}
    for i in range(ports):
        body = bodies[rng.integers(len(bodies))]
        frame = body
        if rng.random() < 0.7:
            frame = f"f{i}"
            spec.setdefault("frame", {})[frame] = {
                "body": body,
                "origin": rng.uniform(-0.5, 0.5, 3),
                "orientation": random_quaternion(rng),
            }
        axes = ["world", "frame"][rng.integers(2)]
        spec.setdefault("port", {})[f"p{i}"] = {"frame": frame, "axes": axes}
    return spec


def random_quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def random_body(rng, decades):
    """Returns mass, mass centre and a full inertia that satisfies the triangle inequality."""
    mass = 10.0 ** rng.uniform(0, decades)
    # Second moments of mass about the mass centre; the inertia is trace(S) 1 − S.
    turn = Rotation.from_quat(random_quaternion(rng)).as_matrix()
    second = turn @ np.diag(mass * rng.uniform(0.05, 0.3, 3)) @ turn.T
    inertia = np.trace(second) * np.eye(3) - second
    body = {
        "mass": mass,
        "mass_centre": rng.uniform(-0.4, 0.4, 3),
        "inertia": inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]],
    }
    if rng.random() < 0.3:
        body["inertia_axes"] = random_quaternion(rng)
    return body


def random_joint(rng, kind, parent, child, damping, rotors):
    joint = {"type": kind, "parent": parent, "child": child, "origin": rng.uniform(-0.6, 0.6, 3)}
    if rng.random() < 0.8:
        joint["orientation"] = random_quaternion(rng)
    if kind in ("revolute", "prismatic", "cylindrical", "screw", "planar", "universal"):
        joint["axis"] = rng.normal(size=3)
    if kind == "screw":
        joint["pitch"] = rng.uniform(0.1, 3) * rng.choice([-1, 1])
    if kind == "universal":
        axis2 = rng.normal(size=3)
        if rng.random() < 0.5:
            axis2 = np.cross(joint["axis"], axis2)
        joint["axis2"] = axis2
    if kind not in ("fixed", "free"):
        if damping and rng.random() < 0.5:
            joint["damping"] = rng.uniform(0, 2, RATES[kind]) if rng.random() < 0.5 else rng.uniform(0, 2)
        if rotors and kind != "spherical" and rng.random() < 0.5:
            joint["rotor_inertia"] = rng.uniform(0, 1, RATES[kind]) if rng.random() < 0.5 else rng.uniform(0, 1)
    return joint


def random_state(rng, spec):
    """Returns `{state: value}` at random."""
    state = {}
    for name, kind in joints(spec):
        numbers = lambda field, values: state.update(_named(f"{name}.{field}", values))
        if kind == "free":
            numbers("q", random_quaternion(rng))
            numbers("r", rng.uniform(-1, 1, 3))
            numbers("w", rng.normal(size=3))
            numbers("v", rng.normal(size=3))
        elif kind != "fixed":
            n = RATES[kind]
            position = random_quaternion(rng) if kind == "spherical" else rng.uniform(-2, 2, n)
            rate = rng.normal(size=n)
            if n == 1:
                state[f"{name}.q"], state[f"{name}.qd"] = position[0], rate[0]
            else:
                numbers("q", position)
                numbers("qd", rate)
    return state


def random_inputs(rng, spec):
    """Returns `{input: value}`: a torque on every rate and a wrench on every port, proportional to
    the mean mass."""
    inputs = {}
    typical = np.mean([body["mass"] for body in spec["body"].values()])
    for name, joint in spec["joint"].items():
        n = 0 if joint["type"] == "free" else RATES[joint["type"]]
        tau = typical * rng.normal(size=n)
        inputs.update({f"{name}.tau": tau[0]} if n == 1 else _named(f"{name}.tau", tau))
    for name in spec.get("port", {}):
        inputs.update(_named(f"{name}.f", typical * rng.normal(size=3)))
        inputs.update(_named(f"{name}.t", typical * rng.normal(size=3)))
    return inputs


def _named(name, values):
    return {f"{name}[{i + 1}]": value for i, value in enumerate(values)}


def carriers(spec):
    """Returns `{body: (name of its joint, the joint)}`; a body without a joint has a free joint
    with the body's name."""
    carried = {joint["child"]: (name, joint) for name, joint in spec["joint"].items()}
    return {
        body: carried.get(body, (body, {"type": "free", "parent": "world", "origin": np.zeros(3)}))
        for body in spec["body"]
    }


def depth_first(spec, parent="world"):
    """Yields `(body, name of its joint, the joint)`, each body before its children, one branch
    after the other.

    Pinocchio's derivatives need the rates of a branch next to each other in the vector; its other
    algorithms do not."""
    for body, (name, joint) in carriers(spec).items():
        if joint["parent"] == parent:
            yield body, name, joint
            yield from depth_first(spec, body)


def joints(spec):
    return [(name, joint["type"]) for name, joint in carriers(spec).values()]


# ---- reference
# -----------------------------------------------------------------------------------------------------


def _matrix(q_wxyz):
    w, x, y, z = q_wxyz
    return pin.Quaternion(w, x, y, z).normalized().toRotationMatrix()


def _placement(thing):
    return pin.SE3(_matrix(thing.get("orientation", (1, 0, 0, 0))), np.array(thing.get("origin", np.zeros(3))))


def _inertia(body):
    xx, yy, zz, xy, xz, yz = body["inertia"]
    R = _matrix(body.get("inertia_axes", (1, 0, 0, 0)))
    return pin.Inertia(
        body["mass"], np.array(body["mass_centre"]), R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
    )


def _unit(v):
    return np.array(v) / np.linalg.norm(v)


def _joint_model(joint):
    kind = joint["type"]
    if kind == "free":
        return pin.JointModelFreeFlyer()
    if kind == "spherical":
        return pin.JointModelSpherical()
    if kind == "cartesian":
        return pin.JointModelTranslation()
    axis = _unit(joint["axis"])
    if kind == "revolute":
        return pin.JointModelRevoluteUnaligned(axis)
    if kind == "prismatic":
        return pin.JointModelPrismaticUnaligned(axis)
    if kind == "cylindrical":
        model = pin.JointModelComposite(pin.JointModelRevoluteUnaligned(axis))
        model.addJoint(pin.JointModelPrismaticUnaligned(axis))
        return model
    if kind == "screw":
        return pin.JointModelHelicalUnaligned(axis, joint["pitch"] / (2 * np.pi))
    raise ValueError(kind)


def _simple_joints(joint):
    """Returns Pinocchio's joints, without bodies between them, for a joint whose subspace rotates with
    its own coordinates: Pinocchio's derivatives omit that rotation."""
    axis = _unit(joint["axis"])
    if joint["type"] == "universal":
        return [pin.JointModelRevoluteUnaligned(of) for of in (axis, _unit(joint["axis2"]))]
    cross = np.cross([0, 0, 1], axis)  # random axes are never parallel to z
    across = Rotation.from_rotvec(_unit(cross) * np.arccos(axis[2])).as_matrix()
    slides = [pin.JointModelPrismaticUnaligned(across[:, k]) for k in (0, 1)]
    return [*slides, pin.JointModelRevoluteUnaligned(axis)]


class Judge:
    """Pinocchio's model of a spec, the reference for the FMU."""

    # Coordinates of a planar joint, angle first, among those of Pinocchio's three joints.
    ANGLE_FIRST = np.array([2, 0, 1])

    def __init__(self, spec):
        self.spec = spec
        self.model = pin.Model()
        self.model.gravity.linear[:] = spec.get("environment", {}).get("gravity", np.zeros(3))
        self.index, self.kind = {}, {}  # joint name -> Pinocchio's (first) joint index, the spec's type
        self.seat = {"world": (0, pin.SE3.Identity())}  # body -> (Pinocchio's joint, pose of the body in it)
        armature = {}
        for body, name, joint in depth_first(spec):
            above, X = self.seat[joint["parent"]]
            X = X * _placement(joint)
            if joint["type"] == "fixed":
                self.seat[body] = (above, X)
                self.model.appendBodyToJoint(above, _inertia(spec["body"][body]), X)
                continue
            if joint["type"] in ("universal", "planar"):
                first, *others = _simple_joints(joint)
                j = self.index[name] = self.model.addJoint(above, first, X, name)
                for k, other in enumerate(others, 2):
                    j = self.model.addJoint(j, other, pin.SE3.Identity(), f"{name}, axis {k}")
            else:
                j = self.index[name] = self.model.addJoint(above, _joint_model(joint), X, name)
            self.model.appendBodyToJoint(j, _inertia(spec["body"][body]), pin.SE3.Identity())
            self.seat[body] = (j, pin.SE3.Identity())
            self.kind[name] = joint["type"]
            armature[name] = joint.get("rotor_inertia", 0.0)
        for name, value in armature.items():
            self.model.armature[self._v(name)] = value
        self.data = self.model.createData()

    def _q(self, name):
        j = self.index[name]
        if self.kind[name] == "planar":
            return self.model.idx_qs[j] + self.ANGLE_FIRST
        n = 2 if self.kind[name] == "universal" else self.model.nqs[j]
        return slice(self.model.idx_qs[j], self.model.idx_qs[j] + n)

    def _v(self, name):
        j = self.index[name]
        if self.kind[name] == "planar":
            return self.model.idx_vs[j] + self.ANGLE_FIRST
        return slice(self.model.idx_vs[j], self.model.idx_vs[j] + RATES[self.kind[name]])

    def _convert(self, state):
        q, v = pin.neutral(self.model), np.zeros(self.model.nv)
        for name, kind in joints(self.spec):
            if kind == "fixed":
                continue
            if kind == "free":
                w, x, y, z = _values(state, f"{name}.q", 4)
                R = _matrix((w, x, y, z))
                q[self._q(name)] = [*_values(state, f"{name}.r", 3), x, y, z, w]
                v[self._v(name)] = [*(R.T @ _values(state, f"{name}.v", 3)), *_values(state, f"{name}.w", 3)]
            elif kind == "spherical":
                w, x, y, z = _values(state, f"{name}.q", 4)
                q[self._q(name)] = [x, y, z, w]
                v[self._v(name)] = _values(state, f"{name}.qd", 3)
            else:
                q[self._q(name)] = _values(state, f"{name}.q", RATES[kind])
                v[self._v(name)] = _values(state, f"{name}.qd", RATES[kind])
        return q, v

    def _forces(self, state, inputs, v):
        tau = np.zeros(self.model.nv)
        for name, joint in self.spec["joint"].items():
            kind = joint["type"]
            if kind not in ("fixed", "free"):
                tau[self._v(name)] = _values(inputs, f"{name}.tau", RATES[kind])
                tau[self._v(name)] -= np.array(joint.get("damping", 0.0)) * v[self._v(name)]
        wrenches = [pin.Force.Zero() for _ in range(self.model.njoints)]
        frames = self.spec.get("frame", {})
        for name, port in self.spec.get("port", {}).items():
            frame = frames.get(port["frame"], {"body": port["frame"]})
            j, X = self.seat[frame["body"]]
            X = X * _placement(frame)
            f, t = _values(inputs, f"{name}.f", 3), _values(inputs, f"{name}.t", 3)
            if port["axes"] == "world":
                R = (self.data.oMi[j] * X).rotation
                f, t = R.T @ f, R.T @ t
            wrenches[j] += X.act(pin.Force(f, t))
        return tau, wrenches

    def dynamics(self, state, inputs, convention=pin.Convention.LOCAL):
        """Returns the accelerations: `{derivative of a rate: value}`."""
        q, v = self._convert(state)
        pin.forwardKinematics(self.model, self.data, q)
        tau, wrenches = self._forces(state, inputs, v)
        a = pin.aba(self.model, self.data, q, v, tau, wrenches, convention)
        rates = {}
        for name, kind in joints(self.spec):
            if kind == "fixed":
                continue
            if kind == "free":
                R = _matrix(_values(state, f"{name}.q", 4))
                v_B, w_B = np.split(v[self._v(name)], 2)
                a_B, alpha_B = np.split(a[self._v(name)], 2)
                rates.update({f"der({key})": value for key, value in _named(f"{name}.w", alpha_B).items()})
                ordinary = R @ (a_B + np.cross(w_B, v_B))
                rates.update({f"der({key})": value for key, value in _named(f"{name}.v", ordinary).items()})
            elif RATES[kind] == 1:
                rates[f"der({name}.qd)"] = a[self._v(name)][0]
            else:
                rates.update({f"der({key})": value for key, value in _named(f"{name}.qd", a[self._v(name)]).items()})
        return rates

    def sensitivities(self, state, inputs):
        """Returns the derivatives of forward dynamics: `{"q" or "v" or "tau": [({state or input:
        seed}, {derivative of a rate: change})]}`.

        There is one pair for each direction of Pinocchio's tangent space, converted to the FMU's
        states: a quaternion changes by `½ q ⊗ (0, δθ)`, and a free body's velocity in parent axes
        rotates with the body, `δv = R (δθ × v_B + δv_B)`."""
        q, v = self._convert(state)
        pin.forwardKinematics(self.model, self.data, q)
        tau, wrenches = self._forces(state, inputs, v)
        by_q, by_v, M_inverse = (np.array(J) for J in pin.computeABADerivatives(self.model, self.data, q, v, tau, wrenches))
        by_tau = np.triu(M_inverse) + np.triu(M_inverse, 1).T
        a = np.array(self.data.ddq)
        damping = np.zeros(self.model.nv)
        for name, joint in self.spec["joint"].items():
            if joint["type"] not in ("fixed", "free"):
                damping[self._v(name)] = joint.get("damping", 0.0)
        by_v = by_v - by_tau * damping
        nothing, unit = np.zeros(self.model.nv), np.eye(self.model.nv)
        pairs = {"q": [], "v": [], "tau": []}
        for i in range(self.model.nv):
            for kind, d_q, d_v, d_a in [("q", unit[i], nothing, by_q[:, i]), ("v", nothing, unit[i], by_v[:, i])]:
                pairs[kind].append((self._seeds(state, v, d_q, d_v), self._changes(state, (v, a), (d_q, d_v, d_a))))
        for name, kind in joints(self.spec):
            if kind not in ("fixed", "free"):
                for k, i in enumerate(np.arange(self.model.nv)[self._v(name)]):
                    torque = f"{name}.tau" if RATES[kind] == 1 else f"{name}.tau[{k + 1}]"
                    changes = self._changes(state, (v, a), (nothing, nothing, by_tau[:, i]))
                    pairs["tau"].append(({torque: 1.0}, changes))
        return pairs

    def _seeds(self, state, v, d_q, d_v):
        """Returns the change of the FMU's states for a change in Pinocchio's tangent space."""
        seeds = {}
        for name, kind in joints(self.spec):
            if kind == "fixed":
                continue
            d_position, d_rate = d_q[self._v(name)], d_v[self._v(name)]
            if kind == "free":
                R, (v_B, _) = _matrix(_values(state, f"{name}.q", 4)), np.split(v[self._v(name)], 2)
                (d_r, d_theta), (d_linear, d_angular) = np.split(d_position, 2), np.split(d_rate, 2)
                seeds |= _named(f"{name}.q", _turned(_values(state, f"{name}.q", 4), d_theta))
                seeds |= _named(f"{name}.r", R @ d_r) | _named(f"{name}.w", d_angular)
                seeds |= _named(f"{name}.v", R @ (np.cross(d_theta, v_B) + d_linear))
            elif kind == "spherical":
                seeds |= _named(f"{name}.q", _turned(_values(state, f"{name}.q", 4), d_position))
                seeds |= _named(f"{name}.qd", d_rate)
            elif RATES[kind] == 1:
                seeds |= {f"{name}.q": d_position[0], f"{name}.qd": d_rate[0]}
            else:
                seeds |= _named(f"{name}.q", d_position) | _named(f"{name}.qd", d_rate)
        return seeds

    def _changes(self, state, now, changes):
        """Returns the change of the FMU's derivatives of rates for a change of Pinocchio's
        accelerations."""
        rates = {}
        for name, kind in joints(self.spec):
            if kind == "fixed":
                continue
            (v, a), (d_q, d_v, d_a) = ([vector[self._v(name)] for vector in vectors] for vectors in (now, changes))
            if kind == "free":
                R = _matrix(_values(state, f"{name}.q", 4))
                (v_B, w_B), (a_B, _), (_, d_theta) = np.split(v, 2), np.split(a, 2), np.split(d_q, 2)
                (d_linear, d_angular), (d_a_B, d_alpha) = np.split(d_v, 2), np.split(d_a, 2)
                ordinary = np.cross(d_theta, a_B + np.cross(w_B, v_B)) + d_a_B
                ordinary += np.cross(d_angular, v_B) + np.cross(w_B, d_linear)
                rates |= _named(f"{name}.w", d_alpha) | _named(f"{name}.v", R @ ordinary)
            elif RATES[kind] == 1:
                rates[f"{name}.qd"] = d_a[0]
            else:
                rates |= _named(f"{name}.qd", d_a)
        return {f"der({rate})": change for rate, change in rates.items()}

    def reactions(self, state, inputs):
        """Returns `{output: value}`: the reaction of every joint on its child, about the child's
        origin in child axes; fixed joints are omitted."""
        self.dynamics(state, inputs)
        q, v = self._convert(state)
        _, wrenches = self._forces(state, inputs, v)
        pin.rnea(self.model, self.data, q, v, self.data.ddq.copy(), wrenches)
        values = {}
        for name, joint in self.spec["joint"].items():
            if joint["type"] not in ("fixed", "free"):
                F = self.data.f[self.seat[joint["child"]][0]]
                values |= _named(f"{name}.reaction_force", F.linear) | _named(f"{name}.reaction_moment", F.angular)
        return values

    def frame(self, name):
        """Returns the pose in the world of a body, a frame or the world itself, and its twist in
        its own axes. Call after `dynamics`."""
        if name == "world":
            return pin.SE3.Identity(), pin.Motion.Zero()
        thing = self.spec.get("frame", {}).get(name, {"body": name})
        j, X = self.seat[thing["body"]]
        X = X * _placement(thing)
        return self.data.oMi[j] * X, X.actInv(self.data.v[j])

    def outputs(self, state, inputs):
        """Returns `{output: value}`: motion of all bodies and frames, measures, momentum, mass
        centre and energies."""
        q, v = self._convert(state)
        self.dynamics(state, inputs)
        pin.forwardKinematics(self.model, self.data, q, v, self.data.ddq.copy())
        values = {}
        carried = {joint["child"] for joint in self.spec["joint"].values()}
        for name in [*(body for body in self.spec["body"] if body in carried), *self.spec.get("frame", {})]:
            X, V = self.frame(name)
            values |= _named(f"{name}.r", X.translation) | _named(f"{name}.v", X.rotation @ V.linear)
            values |= _named(f"{name}.w", V.angular) | _named(f"{name}.q", _wxyz(X.rotation))
        for body, (_, joint) in carriers(self.spec).items():
            if joint["type"] == "free":
                j, _ = self.seat[body]
                a = pin.getClassicalAcceleration(self.model, self.data, j, pin.LOCAL).linear
                values |= _named(f"{body}.a_body", a)
        for name, measure in self.spec.get("measure", {}).items():
            (X_A, V_A), (X_B, V_B) = self.frame(measure["from"]), self.frame(measure["to"])
            X_AB = X_A.actInv(X_B)
            # The twist of B relative to A, about B's origin, then expressed in A's axes.
            V = V_B - X_AB.actInv(V_A)
            values |= _named(f"{name}.r", X_AB.translation) | _named(f"{name}.v", X_AB.rotation @ V.linear)
            values |= _named(f"{name}.w", X_AB.rotation @ V.angular) | _named(f"{name}.q", _wxyz(X_AB.rotation))
            values[f"{name}.distance"] = np.linalg.norm(X_AB.translation)
        h = pin.computeCentroidalMomentum(self.model, self.data, q, v)
        values |= _named("system.momentum", h.linear) | _named("system.angular_momentum", h.angular)
        values |= _named("system.mass_centre", pin.centerOfMass(self.model, self.data, q))
        # The rotors' energy ½ n²J q̇² is added here, since Pinocchio 4.1 includes it for some types
        # of joints only.
        bare = self.model.copy()
        bare.armature[:] = 0.0
        rotors = 0.5 * v @ (self.model.armature * v)
        values["system.kinetic_energy"] = pin.computeKineticEnergy(bare, bare.createData(), q, v) + rotors
        values["system.potential_energy"] = pin.computePotentialEnergy(self.model, self.data, q)
        return values


def _turned(q_wxyz, d_theta):
    """Returns `½ q ⊗ (0, δθ)`: the change of a quaternion by a small rotation in body axes."""
    w, v = q_wxyz[0], q_wxyz[1:]
    return 0.5 * np.array([-v @ d_theta, *(w * d_theta + np.cross(v, d_theta))])


def _wxyz(R):
    q = pin.Quaternion(R)
    return [q.w, q.x, q.y, q.z]


def _values(table, name, n):
    return np.array([table[name]] if n == 1 else [table[f"{name}[{i + 1}]"] for i in range(n)])
