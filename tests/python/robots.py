"""Robots described in URDF: the result of `grapple import`, compared with Pinocchio's own reader of URDF.

Both read the same file and share only the meaning of URDF; `trees.py` has the table of names and
conventions of the FMU and Pinocchio. Friction and damping, which Pinocchio reads but does not
apply, are added to its torques.

As a program it compares any files: `python tests/python/robots.py panda.urdf ur5.urdf`.
"""

import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from fmu import Archive, ModelExchange, grapple

GRAVITY = (0.4, -1.1, -9.3)
SLIP = 0.01  # `slip` of dry friction that the import writes, rad/s or m/s


def imported(urdf, directory, *options):
    """Imports a robot and sets gravity in its spec; returns the path of the spec and the tool's
    messages."""
    spec = Path(directory) / f"{'_'.join([Path(urdf).stem, *options])}.toml"
    run = grapple("import", urdf, "-o", spec, *options)
    text = spec.read_text()
    with_gravity = text.replace("# [environment]\n# gravity = [0.0, 0.0, -9.80665]", f"[environment]\ngravity = {list(GRAVITY)}")
    assert with_gravity != text
    spec.write_text(with_gravity)
    return spec, run.stderr


def state(rng, archive):
    """Returns random values of the FMU's states: unit quaternions, and rates below the motors'
    limits."""
    values = {name: rng.uniform(-1, 1) for name in archive.states}
    for name in archive.states:
        if name.endswith(".q[1]"):
            q = Rotation.random(random_state=rng).as_quat(scalar_first=True)
            values |= {f"{name[:-2]}{i + 1}]": q[i] for i in range(4)}
        if name.endswith(".qd"):
            values[name] *= 0.5 * min(1.0, limit(archive, f"{name[:-3]}.motor.rate_limit"))
    return values


def inputs(rng, archive):
    names = [name for name in archive.variables if name.endswith(".tau") and archive.variables[name].causality == "input"]
    return {name: rng.uniform(-0.9, 0.9) * min(20.0, limit(archive, f"{name[:-4]}.motor.torque_limit")) for name in names}


def limit(archive, parameter):
    variable = archive.variables.get(parameter)
    return float(variable.start) if variable else np.inf


class Robot:
    """Pinocchio's model of a URDF file, with the FMU's names.

    `base` is the body that floats in the FMU, or None; Pinocchio's root joint moves the root link,
    to which `base` is fixed. Joints that the FMU does not have carry no mass: they stay at zero."""

    def __init__(self, urdf, archive, base=None):
        self.base = base
        model = pin.buildModelFromUrdf(str(urdf), *([pin.JointModelFreeFlyer()] if base else []))
        names = {name: re.sub(r"\W", "_", name) for name in model.names}
        if base:
            names["root_joint"] = base
        states = set(archive.states)
        held = [j for j in range(1, model.njoints) if not {f"{names[model.names[j]]}{x}" for x in (".q", ".r[1]")} & states]
        self.model = pin.buildReducedModel(model, held, pin.neutral(model)) if held else model
        self.model.gravity.linear[:] = GRAVITY
        self.names = [names[name] for name in self.model.names]
        bodies = {re.sub(r"\W", "_", frame.name): frame.placement for frame in self.model.frames if frame.type == pin.BODY}
        self.X_RB = bodies[base] if base else pin.SE3.Identity()
        self.data = self.model.createData()

    def _on_joint(self, name):
        """Returns the pose of the FMU's body in the frame of Pinocchio's free joint."""
        return self.X_RB if name == self.base else pin.SE3.Identity()

    def _configuration(self, state):
        q, v = pin.neutral(self.model), np.zeros(self.model.nv)
        for j in range(1, self.model.njoints):
            name = self.names[j]
            i, n, k, m = self.model.idx_qs[j], self.model.nqs[j], self.model.idx_vs[j], self.model.nvs[j]
            if m == 6:
                w, x, y, z = (state[f"{name}.q[{c}]"] for c in (1, 2, 3, 4))
                r, v_P, w_B = (np.array([state[f"{name}.{s}[{c}]"] for c in (1, 2, 3)]) for s in "rvw")
                X_PB = pin.SE3(pin.Quaternion(w, x, y, z).toRotationMatrix(), r)
                X_BJ = self._on_joint(name).inverse()
                q[i : i + 7] = pin.SE3ToXYZQUAT(X_PB * X_BJ)
                v[k : k + 6] = X_BJ.actInv(pin.Motion(X_PB.rotation.T @ v_P, w_B))
            elif n == 2:
                angle = state[f"{name}.q"]
                q[i : i + 2], v[k] = [np.cos(angle), np.sin(angle)], state[f"{name}.qd"]
            else:
                q[i], v[k] = state[f"{name}.q"], state[f"{name}.qd"]
        return q, v

    def dynamics(self, state, inputs, convention=pin.Convention.LOCAL):
        """Returns the accelerations: `{derivative of a rate: value}`."""
        q, v = self._configuration(state)
        tau = -self.model.damping * v - self.model.friction * np.tanh(v / SLIP)
        for j in range(1, self.model.njoints):
            if self.model.nvs[j] == 1:
                tau[self.model.idx_vs[j]] += inputs[f"{self.names[j]}.tau"]
        a = pin.aba(self.model, self.data, q, v, tau, convention)
        rates = {}
        for j in range(1, self.model.njoints):
            name, k = self.names[j], self.model.idx_vs[j]
            if self.model.nvs[j] == 6:
                R_PB = pin.Quaternion(*(state[f"{name}.q[{c}]"] for c in (1, 2, 3, 4))).toRotationMatrix()
                A, V = (self._on_joint(name).actInv(pin.Motion(vector[k : k + 6])) for vector in (a, v))
                ordinary = R_PB @ (A.linear + np.cross(V.angular, V.linear))
                for c in range(3):
                    rates[f"der({name}.v[{c + 1}])"] = ordinary[c]
                    rates[f"der({name}.w[{c + 1}])"] = A.angular[c]
            else:
                rates[f"der({name}.qd)"] = a[k]
        return rates

    def inverse_mass_matrix(self, state):
        """Returns the inverse mass matrix of the joints with one coordinate: `{joint: {joint:
        value}}`."""
        q, _ = self._configuration(state)
        upper = np.triu(pin.computeMinverse(self.model, self.data, q))
        M = upper + np.triu(upper, 1).T
        at = {self.names[j]: self.model.idx_vs[j] for j in range(1, self.model.njoints) if self.model.nvs[j] == 1}
        return {a: {b: M[i, k] for b, k in at.items()} for a, i in at.items()}


def difference(rates, reference):
    """Returns the relative difference in the norm over all rates of the reference."""
    a, b = (np.array([table[name] for name in reference]) for table in (rates, reference))
    return np.linalg.norm(a - b) / np.linalg.norm(b)


def disagreement(urdf, archive, rng, base=None, states=3):
    """Returns the largest relative differences over random states: of accelerations, of the inverse
    mass matrix, and between Pinocchio's two conventions."""
    robot, worst = Robot(urdf, archive, base), np.zeros(3)
    with ModelExchange(archive) as me:
        for _ in range(states):
            point = state(rng, archive), inputs(rng, archive)
            rates, reference = me.dynamics(*point), robot.dynamics(*point)
            of_states = {f"der({name})" for name in archive.states if re.search(r"\.(qd|[vw]\[\d\])$", name)}
            assert set(reference) == of_states, "both have the same rates"
            itself = difference(robot.dynamics(*point, pin.Convention.WORLD), reference)
            M = robot.inverse_mass_matrix(point[0])
            theirs = np.array([list(row.values()) for row in M.values()])
            unknowns = [f"der({joint}.qd)" for joint in M]
            ours = np.array([me.along(unknowns, {f"{joint}.tau": 1.0}) for joint in M])
            mass = np.linalg.norm(ours - theirs) / np.linalg.norm(theirs) if M else 0.0
            worst = np.maximum(worst, [difference(rates, reference), mass, itself])
    return worst


def free_body(archive):
    """Returns the name of the free body, whose states come first."""
    return archive.states[0].split(".")[0]


def main():
    for urdf in map(Path, sys.argv[1:]):
        for base in ("fixed", "floating"):
            with tempfile.TemporaryDirectory() as directory:
                try:
                    spec, _ = imported(urdf, directory, "--base", base)
                    archive = Archive.build(spec, Path(directory) / "fmu", "--fmi-type", "me")
                except RuntimeError as error:
                    problems = re.findall(r"[×] (?!the spec)(.*)", str(error))
                    print(f"{urdf.name:40} {base:8} {problems[-1] if problems else error}", flush=True)
                    continue
                if not any(name.endswith((".qd", ".w[1]")) for name in archive.states):
                    print(f"{urdf.name:40} {base:8} nothing moves", flush=True)
                    continue
                body = free_body(archive) if base == "floating" else None
                a, mass, itself = disagreement(urdf, archive, np.random.default_rng(7), body)
                print(f"{urdf.name:40} {base:8} {a:.1e} {mass:.1e} {itself:.1e}", flush=True)


if __name__ == "__main__":
    main()
