"""Robots described in URDF: the result of `grapple import`, compared with Pinocchio's own reader of URDF.

Both read the same file and share only the meaning of URDF; `trees.py` has the table of names and
conventions of the FMU and Pinocchio. Friction and damping, which Pinocchio reads but does not
apply, are added to its torques.

As a program it compares any files: `python tests/python/robots.py panda.urdf ur5.urdf`.
"""

import re
import sys
import tempfile
import tomllib
from pathlib import Path

import fmpy
import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from fmu import Archive, ModelExchange, grapple

GRAVITY = (0.4, -1.1, -9.3)
SLIP = 0.01  # `slip` of dry friction that the import writes, rad/s or m/s


def imported(urdf, directory, *options, coupled=True):
    """Imports a robot and sets gravity in its spec; returns the path of the spec and the tool's
    messages. Unless `coupled`, joints that mimic another move independently, as in Pinocchio's
    algorithms for trees."""
    spec = Path(directory) / f"{'_'.join([Path(urdf).stem, *options])}.toml"
    run = grapple("import", urdf, "-o", spec, *options)
    text = spec.read_text()
    with_gravity = text.replace("# [environment]\n# gravity = [0.0, 0.0, -9.80665]", f"[environment]\ngravity = {list(GRAVITY)}")
    assert with_gravity != text
    couplings = r"\[coupling\..*?(?=\n\[|\n# -|\Z)"
    spec.write_text(with_gravity if coupled else re.sub(couplings, "", with_gravity, flags=re.DOTALL))
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


class Visuals:
    """The visuals of a URDF file as Pinocchio reads them. Meshes are replaced by spheres: only poses
    are compared."""

    def __init__(self, robot, urdf):
        self.robot = robot
        text = re.sub(r"<mesh\b.*?(/>|</mesh>)", '<sphere radius="1"/>', Path(urdf).read_text(encoding="utf-8"), flags=re.DOTALL)
        text = re.sub(r"<capsule\b", "<cylinder", text)
        model = pin.buildModelFromUrdf(str(urdf), *([pin.JointModelFreeFlyer()] if robot.base else []))
        self.geometry = pin.buildGeomFromUrdfString(model, text, pin.GeometryType.VISUAL)
        held = [j for j in range(1, model.njoints) if model.names[j] not in list(robot.model.names)]
        if held:
            _, self.geometry = pin.buildReducedModel(model, self.geometry, held, pin.neutral(model))
        self.data = self.geometry.createData()
        self.index = {re.sub(r"\W", "_", g.name): k for k, g in enumerate(self.geometry.geometryObjects)}

    def differences(self, me, state, spec):
        """Returns for each shape of the spec the difference of its pose in the world from that of its
        visual: of positions in m, and of rotation matrices."""
        q, _ = self.robot._configuration(state)
        pin.updateGeometryPlacements(self.robot.model, self.robot.data, self.geometry, self.data, q)
        found = {}
        for name, body, _, X in shapes(spec):
            w, x, y, z = me.vector(f"{body}.q", 4)
            ours = pin.SE3(pin.Quaternion(w, x, y, z).toRotationMatrix(), np.array(me.vector(f"{body}.r"))) * X
            reference = self.data.oMg[self._visual(name)]
            found[name] = max(abs(ours.translation - reference.translation).max(), abs(ours.rotation - reference.rotation).max())
        return found

    def _visual(self, name):
        link, _, number = name.rpartition("_")
        named = [(name, 0), *([(link, int(number) - 1)] if number.isdigit() else [])]
        # A link with the name of a joint gets another one.
        keys = [f"{link}_{k}" for of, k in named for link in (of, of.removesuffix("_link"))]
        return next(self.index[key] for key in keys if key in self.index)


def shapes(spec):
    """Returns for each shape of a spec its name, its body, its fields and its pose in the body."""
    for body, of in tomllib.loads(Path(spec).read_text(encoding="utf-8"))["body"].items():
        for name, shape in of.get("shape", {}).items():
            R = np.eye(3)
            if "rpy_deg" in shape:
                R = pin.rpy.rpyToMatrix(*np.radians(shape["rpy_deg"]))
            if "orientation" in shape:
                w, x, y, z = shape["orientation"]
                R = pin.Quaternion(w, x, y, z).toRotationMatrix()
            yield name, body, shape, pin.SE3(R, np.array(shape.get("origin", [0.0, 0.0, 0.0])))


def mimicking(spec, directory):
    """Runs an imported robot in Co-Simulation with a constant load on each joint that others mimic.
    Returns the smallest motion of these joints, and the largest distance of the others from the
    positions that they mimic, in rad or m; none if no joint mimics another."""
    couplings = list(tomllib.loads(Path(spec).read_text(encoding="utf-8")).get("coupling", {}).values())
    if not couplings:
        return None
    fmu = Path(directory) / "coupled.fmu"
    grapple("build", spec, "-o", fmu, "--fmi-type", "cs")
    leaders = sorted({of["follows"] for of in couplings})
    names = sorted({of[end] for of in couplings for end in ("joint", "follows")})
    loads = {f"{leader}.tau": 0.02 for leader in leaders}
    run = fmpy.simulate_fmu(str(fmu), stop_time=0.5, output_interval=0.05, start_values=loads, output=[f"{name}.q" for name in names])
    off = max(np.abs(run[f"{of['joint']}.q"] - of["ratio"] * run[f"{of['follows']}.q"] - of["offset"]).max() for of in couplings)
    return float(min(np.ptp(run[f"{leader}.q"]) for leader in leaders)), float(off)


def difference(rates, reference):
    """Returns the relative difference in the norm over all rates of the reference."""
    a, b = (np.array([table[name] for name in reference]) for table in (rates, reference))
    return np.linalg.norm(a - b) / np.linalg.norm(b)


def disagreement(urdf, archive, rng, base=None, states=3, spec=None):
    """Returns the largest relative differences over random states: of accelerations, of the inverse
    mass matrix, between Pinocchio's two conventions; and, if the spec is given, the largest
    difference of the poses of its shapes from Pinocchio's visuals."""
    robot, worst = Robot(urdf, archive, base), np.zeros(4 if spec else 3)
    visuals = Visuals(robot, urdf) if spec else None
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
            poses = [max(visuals.differences(me, point[0], spec).values(), default=0.0)] if spec else []
            worst = np.maximum(worst, [difference(rates, reference), mass, itself, *poses])
    return worst


def free_body(archive):
    """Returns the name of the free body, whose states come first."""
    return archive.states[0].split(".")[0]


def main():
    """Prints the differences of each file; fails if one exceeds the round-off of Pinocchio's own."""
    wrong = []
    for urdf in map(Path, sys.argv[1:]):
        for base in ("fixed", "floating"):
            with tempfile.TemporaryDirectory() as directory:
                try:
                    spec, _ = imported(urdf, directory, "--base", base, coupled=False)
                    archive = Archive.build(spec, Path(directory) / "fmu", "--fmi-type", "me")
                except RuntimeError as error:
                    problems = re.findall(r"[×] (?!the spec)(.*)", str(error))
                    print(f"{urdf.name:40} {base:8} {problems[-1] if problems else error}", flush=True)
                    continue
                if not any(name.endswith((".qd", ".w[1]")) for name in archive.states):
                    print(f"{urdf.name:40} {base:8} nothing moves", flush=True)
                    continue
                body = free_body(archive) if base == "floating" else None
                a, mass, itself, poses = disagreement(urdf, archive, np.random.default_rng(7), body, spec=spec)
                text = f"{a:.1e} {mass:.1e} {itself:.1e}; {len(list(shapes(spec)))} visuals {poses:.1e}"
                mimics = mimicking(imported(urdf, directory, "--force")[0], directory) if base == "fixed" else None
                if mimics:
                    text += "; mimic joints move {:.1e}, off by {:.1e}".format(*mimics)
                if a > 1e-10 or mass > max(1e-10, 10 * itself) or poses > 1e-12 or (mimics and mimics[1] > 1e-9):
                    wrong.append(urdf.name)
                print(f"{urdf.name:40} {base:8} {text}", flush=True)
    sys.exit(f"differences that are no round-off: {', '.join(wrong)}" if wrong else 0)


if __name__ == "__main__":
    main()
