"""The arm of ETS-VII (examples/tasks/ets_vii.toml): its published inertias are refused; the
corrected model is compared with Pinocchio; it draws a line through a dynamic singularity, by its
own task and by a sampled controller outside the FMU, in libcosim.
"""

import tomllib

import numpy as np
import pytest
from native import grapple_fmu
from programs import EXAMPLES
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from test_hosts import Cosim
from test_mechanics import Pinocchio, relative
from trees import random_state

from fmu import Archive, grapple

TEXT = (EXAMPLES / "tasks/ets_vii.toml").read_text(encoding="utf-8")
SPEC = tomllib.loads(TEXT)
PUBLISHED = {"link_1": [0.25, 0.25, 1.69], "link_2": [0.1, 1.31, 3.75], "link_3": [0.1, 0.71, 2.53]}
TASK = SPEC["task"]["line"]
JOINTS = TASK["joints"]
POSITIONS = [f"{joint}.q" for joint in JOINTS]
REST, END = (np.array(waypoint["position"]) for waypoint in TASK["waypoint"])
START_TIME, END_TIME = (waypoint["time"] for waypoint in TASK["waypoint"])
SAMPLE = 0.01  # s
ASIDE = np.array([0.002, 0.0, 0.0])  # m
DAMPING = THRESHOLD = 0.05  # of the inverse, the task's defaults
ROUND_OFF = "round-off of two O(n) recursions"


def without_task():
    """The spec whose servos have references as inputs, in place of the task."""
    held = {f"{name}.q_ref": joint["start"]["position"] for name, joint in SPEC["joint"].items() if "start" in joint}
    return {**{key: value for key, value in SPEC.items() if key != "task"}, "input": held}


def for_pinocchio(spec):
    """Returns the spec with the fields that `trees.Judge` reads: quaternions and full inertias."""
    body, joint = {}, {}
    for name, fields in spec["body"].items():
        inertia = [*fields["inertia"], 0.0, 0.0, 0.0][:6]
        body[name] = {"mass_centre": [0.0, 0.0, 0.0], **fields, "inertia": inertia}
    for name, fields in spec["joint"].items():
        turn = Rotation.from_euler("xyz", fields.get("rpy_deg", [0.0, 0.0, 0.0]), degrees=True)
        joint[name] = {"axis": [0.0, 0.0, 1.0], **fields, "orientation": turn.as_quat(scalar_first=True)}
    return {"body": body, "joint": joint}


def jacobians(spec, model, state):
    """Returns by Pinocchio the Jacobian of the tool, with the base at rest and free-floating, and
    the motion of the base per unit rate of the joints, for zero momentum, all in world axes,
    angular before linear, with a column for each of JOINTS; and the centroidal momentum matrix."""
    theirs = Pinocchio(spec, model, state)
    J, A = theirs.jacobian("link_6"), theirs.momentum_matrix()
    x, y, z = theirs.pose("link_6").rotation @ SPEC["frame"]["tool"]["origin"]
    J[3:] -= np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) @ J[:3]
    base = slice(model.free_base("tool"), model.free_base("tool") + 6)
    columns = [model.rate_index(f"{joint}.qd") for joint in JOINTS]
    by_state = -np.linalg.solve(A[:, base], A[:, columns])
    R = Rotation.from_quat([state[f"base.q[{i}]"] for i in (1, 2, 3, 4)], scalar_first=True).as_matrix()
    motion = np.vstack([R @ by_state[:3], by_state[3:]])
    return J[:, columns], J[:, columns] + J[:, base] @ by_state, motion, A


def test_published_inertias_are_refused_with_the_links_and_the_reason(tmp_path):
    text, path = TEXT, tmp_path / "published.toml"
    for name, moments in PUBLISHED.items():
        ours = f"inertia = {SPEC['body'][name]['inertia']}"
        assert text.count(ours) == 1
        text = text.replace(ours, f"inertia = {moments}")
    path.write_text(text, encoding="utf-8")
    run = grapple("check", path, check=False)
    told = " ".join(run.stderr.replace("│", " ").split())  # lines break in long paths
    assert run.returncode == 1 and "3 problems" in told
    problems = grapple_fmu.load(path).check()
    for problem, (name, [low, middle, high]) in zip(problems, PUBLISHED.items(), strict=True):
        reason = f"moments {low}, {middle}, {high} kg·m² violate the triangle inequality ({high} > {low} + {middle})"
        assert f'body "{name}", inertia: no rigid body has this inertia' in str(problem) and reason in str(problem)
        assert f'body "{name}", inertia: no rigid body has this inertia' in run.stderr
    assert grapple("check", EXAMPLES / "tasks/ets_vii.toml").stderr == ""


def test_mechanics_of_the_corrected_arm_agree_with_pinocchio(within):
    spec, model = for_pinocchio(SPEC), grapple_fmu.load(without_task()).model()
    outputs = {name: i for i, name in enumerate(model.output_names)}
    rng = np.random.default_rng(1997)

    def matrix(y, name):
        return np.array([[y[outputs[f"arm.{name}[{i},{j}]"]] for j in (1, 2, 3)] for i in range(1, 7)])

    for _ in range(20):
        state = random_state(rng, spec)
        x = model.pack_states(state)
        y = model.outputs(0.0, x, model.u0)
        v = np.array([x[model.state_index(name)] for name in model.rate_names])
        J, generalised, base, A = jacobians(spec, model, state)
        for name, reference in {"jacobian": J, "generalized_jacobian": generalised, "base_motion": base}.items():
            within(f"{name} of ETS-VII", relative(matrix(y, name), reference), 1e-12, ROUND_OFF)
        within("momentum of ETS-VII", relative(model.momentum(x), A @ v), 1e-12, ROUND_OFF)
        least = np.linalg.svd(generalised[3:], compute_uv=False)[-1]
        within("singular value of ETS-VII", abs(y[outputs["arm.singular_value"]] - least), 1e-12, ROUND_OFF)


def test_the_line_is_one_through_a_dynamic_singularity():
    """Finds the example's line. In a singular position, where the generalised Jacobian J loses the
    direction u, a straight line passes if rates q̇ along it have `uᵀ J̇ q̇ = 0`: a quadratic equation
    for their part in the null space. The start is at the end of 0.25 m back along the line."""
    spec, model = for_pinocchio(SPEC), grapple_fmu.load(without_task()).model()
    start = {name: model.x0[model.state_index(name)] for name in model.state_names}

    def at(q, attitude):
        quaternion = dict(zip((f"base.q[{i}]" for i in (1, 2, 3, 4)), attitude.as_quat(scalar_first=True)))
        fixed, generalised, base, _ = jacobians(spec, model, {**start, **quaternion, **dict(zip(POSITIONS, q))})
        return generalised[3:], base[:3], fixed[3:]

    def moved(q, attitude, by):
        return q + by, Rotation.from_rotvec(at(q, attitude)[1] @ by) * attitude

    def slope(s, y):
        R = y[3:].reshape(3, 3)
        J, turning, _ = at(y[:3], Rotation.from_matrix(R))
        rates = np.linalg.solve(J, direction)
        return [*rates, *np.cross(turning @ rates, R, axisb=0, axisc=0).ravel()]

    here, level = np.array([1.63, 0.6, 0.0]), Rotation.identity()
    here[2] = brentq(lambda q: np.linalg.det(at([*here[:2], q], level)[0]), 0.9, 1.3, xtol=1e-15)
    J, _, fixed = at(here, level)
    U, values, V = np.linalg.svd(J)
    assert values[2] < 1e-14 and abs(np.linalg.svd(fixed, compute_uv=False)[2] - 0.103) < 1e-3
    lost, null = U[:, 2], V[2]
    direction = np.array([0.0, 0.94, -0.34])
    direction -= lost * (lost @ direction)
    direction /= np.linalg.norm(direction)
    least = np.linalg.pinv(J, rcond=1e-9) @ direction

    def bending(rates, h=1e-4):
        change = at(*moved(here, level, h * rates))[0] - at(*moved(here, level, -h * rates))[0]
        return lost @ change @ rates / (2 * h)

    a, c = bending(null), bending(least)
    b = bending(least + null) - a - c
    rates = least + null * min(np.roots([a, b, c]), key=abs)
    q, attitude = moved(here, level, -1e-4 * rates)
    y = [*q, *attitude.as_matrix().ravel()]
    run = solve_ivp(slope, (-1e-4, -0.25), y, "DOP853", rtol=1e-10, atol=1e-12)
    assert np.abs(run.y[:3, -1] - [SPEC["joint"][joint]["start"]["position"] for joint in JOINTS]).max() < 1e-6
    line = run.y[3:, -1].reshape(3, 3).T @ (0.3 * direction)
    assert np.abs(line - (END - REST)).max() < 1e-6
    assert np.abs(model.frame_pose(model.x0, "tool")[0] - REST).max() < 1e-6



def reference(t, end):
    """Returns position (m) and velocity (m/s) on the line to `end`, along the quintic of tasks."""
    duration = END_TIME - START_TIME
    s = np.clip((t - START_TIME) / duration, 0.0, 1.0)
    line = end - REST
    return REST + s**3 * (10 - 15 * s + 6 * s**2) * line, 30 * s**2 * (1 - s) ** 2 / duration * line


class Controller:
    """Resolved motion rate, sampled: references of the servos, held for SAMPLE s, from the measured
    position of the tool and the generalised Jacobian, with the task's gain and damping."""

    INPUTS = [f"{joint}.{field}" for field in ("q_ref", "qd_ref", "qdd_ref") for joint in JOINTS]

    def __init__(self, end, damping):
        self.end, self.damping = end, damping
        self.q = np.array([SPEC["joint"][joint]["start"]["position"] for joint in JOINTS])
        self.rates = np.zeros(3)

    def references(self, t, position, J):
        (r, _), (_, v) = reference(t, self.end), reference(t + 0.5 * SAMPLE, self.end)
        least = np.linalg.svd(J, compute_uv=False)[-1]
        damping = self.damping * max(1.0 - (least / THRESHOLD) ** 2, 0.0) ** 2
        rates = J.T @ np.linalg.solve(J @ J.T + damping**2 * np.eye(3), v + TASK["kp"] * (r - position))
        # The position is that in the middle of the interval; the acceleration is the backward
        # difference.
        values = [*(self.q + 0.5 * SAMPLE * rates), *rates, *((rates - self.rates) / SAMPLE)]
        self.q, self.rates = self.q + SAMPLE * rates, rates
        return values


def draw(archive, controller=None):
    """Runs the FMU in libcosim, by its own task or by a controller; returns the samples: positions
    of the tool (m), Jacobians of its position (m), free-floating and with the base at rest, rates
    of JOINTS (rad/s), and states."""
    from libcosimpy.CosimManipulator import CosimManipulator

    matrices = [f"arm.{name}[{i},{j}]" for name in ("generalized_jacobian", "jacobian") for i in (4, 5, 6) for j in (1, 2, 3)]
    names = [f"tool.r[{i}]" for i in (1, 2, 3)] + matrices + [f"{joint}.qd" for joint in JOINTS] + archive.states
    of = [archive.variables[name].valueReference for name in names]
    inputs = [archive.variables[name].valueReference for name in Controller.INPUTS]
    host = Cosim(archive, round(SAMPLE * 1e9))
    manipulator = CosimManipulator.create_override()
    assert host.execution.add_manipulator(manipulator=manipulator)
    times = SAMPLE * np.arange(1, round(SPEC["experiment"]["stop_time"] / SAMPLE) + 1)
    rows = []
    for t in times:
        host.step()
        row = np.array(host.read(of))
        rows.append(row)
        if controller:
            assert manipulator.slave_real_values(host.index, inputs, controller.references(t, row[:3], row[3:12].reshape(3, 3)))
    rows = np.array(rows)
    states = [dict(zip(archive.states, row[24:])) for row in rows]
    generalised, fixed = (rows[:, a : a + 9].reshape(-1, 3, 3) for a in (3, 12))
    return {"tool": rows[:, :3], "generalised": generalised, "fixed": fixed, "rates": rows[:, 21:24], "states": states}


def departures(run, end):
    """Returns the largest distance of the tool from the line, and the last one from its end, m."""
    along = (end - REST) / np.linalg.norm(end - REST)
    off = run["tool"] - REST
    return np.linalg.norm(off - np.outer(off @ along, along), axis=1).max(), np.linalg.norm(run["tool"][-1] - end)


@pytest.fixture(scope="module")
def fmus(tmp_path_factory):
    """The FMU with its task, for the line and for one that ends aside of it, and that whose servos
    have references as inputs."""
    folder = tmp_path_factory.mktemp("ets_vii")
    aside = TEXT.replace(f"position = {END.tolist()}", f"position = {(END + ASIDE).tolist()}")
    assert aside != TEXT
    specs = {"task": TEXT, "task aside": aside, "servos": without_task()}
    return {name: Archive.build(spec, folder / name.replace(" ", "_")) for name, spec in specs.items()}


CASES = {
    # FMU, damping of the controller, end of the line; bounds of the departure from the line (m), of
    # the last distance from its end (m), and of the joints' rates (rad/s).
    "task, line": ("task", None, END, 3e-4, 1e-5, 0.1),
    "controller, line": ("servos", DAMPING, END, 3e-4, 1e-5, 0.1),
    "task, line aside": ("task aside", None, END + ASIDE, 6e-3, 3e-4, 0.2),
    "controller, line aside": ("servos", DAMPING, END + ASIDE, 6e-3, 3e-4, 0.2),
}


@pytest.mark.parametrize("case", CASES)
def test_line_through_a_dynamic_singularity_is_drawn_in_libcosim(case, fmus, within):
    fmu, damping, end, off, left, fastest = CASES[case]
    run = draw(fmus[fmu], damping and Controller(end, damping))
    # The smallest singular value is zero between the samples at which the determinant changes sign.
    det = np.linalg.det(run["generalised"])
    (at,) = np.nonzero(det[1:] * det[:-1] < 0)[0]
    free, fixed = (np.linalg.svd(run[name], compute_uv=False)[:, -1] for name in ("generalised", "fixed"))
    assert free[at] < 1e-3 and fixed[at] > 0.1 and fixed.min() > 0.05
    reason = "about twice the number measured: the damping, and the interval between samples"
    departure, rest = departures(run, end)
    within(f"ETS-VII, {case}: departure, m", departure, off, reason)
    within(f"ETS-VII, {case}: from the end of the line, m", rest, left, reason)
    within(f"ETS-VII, {case}: rates of joints, rad/s", np.abs(run["rates"]).max(), fastest, reason)
    spec, model = for_pinocchio(SPEC), grapple_fmu.load(without_task()).model()
    for k in range(0, len(det), 50):
        fixed, generalised, _, A = jacobians(spec, model, run["states"][k])
        off = max(relative(run["fixed"][k], fixed[3:]), relative(run["generalised"][k], generalised[3:]))
        within("Jacobians of ETS-VII on the line", off, 1e-12, ROUND_OFF)
        momentum = A @ [run["states"][k][name] for name in model.rate_names]
        within("momentum of ETS-VII on the line, N·m·s and N·s", np.abs(momentum).max(), 1e-6, "tolerance of the solver, 1e-8")


def test_without_damping_joint_1_turns_fast_beside_the_singular_position(fmus, within):
    """On a line that ends 2 mm aside, the exact inverse turns joint 1 by a quarter turn."""
    run = draw(fmus["servos"], Controller(END + ASIDE, 0.0))
    departure, rest = departures(run, END + ASIDE)
    case, reason = "ETS-VII, controller without damping, line aside", "interval between samples"
    within(f"{case}: departure, m", departure, 5e-4, reason)
    within(f"{case}: from the end of the line, m", rest, 1e-5, reason)
    fastest = np.abs(run["rates"]).max()
    within(f"{case}: rates of joints, rad/s", fastest, 3.0, reason)
    turn = np.degrees(run["states"][-1]["joint_1.q"] - run["states"][0]["joint_1.q"])
    within(f"{case}: turn of joint 1, degrees", turn, 97.0, reason)
    assert fastest > 1.0 and turn > 95.0
