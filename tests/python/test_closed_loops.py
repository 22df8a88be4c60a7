"""Closed loops through the FMI: the Bricard mechanism compared with one equation of motion, rounded
starts, loops that cannot be closed, and the energy balance that stops a run.

The reference shares no code with the tool. The mechanism has one degree of freedom, the position q
of the odd hinges. With A = π/2 − q and B = π/2 − (position of the even hinges), cos A cos B + cos A
+ cos B = 0, and Lagrange's equation is M(q) q̈ + ½ M′(q) q̇² + V′(q) = 0. M and V are sums over the
rods; a complex step gives their derivatives without error.
"""

import csv
import re
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from scipy.integrate import solve_ivp

from fmu import CoSimulation, grapple

# Positions of the hinges at the start, m, in the world of examples/bricard.toml, and axes of the
# first five.
POINTS = np.array([[0, 0, -1], [1, 0, -1], [1, -1, -1], [1, -1, 0], [0, -1, 0], [0, 0, 0]], dtype=float)
AXES = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
# Inertia of a rod of 1 kg and 1 m with a square section of 0.1 m, about its centre, kg·m².
ACROSS, ALONG = 1.01 / 12.0, 0.02 / 12.0
GRAVITY = 9.81
TIMES = np.linspace(0.0, 10.0, 101)
THIRD = [f"rod3.r[{i}]" for i in (1, 2, 3)]
HINGES = [f"hinge{k}" for k in range(1, 6)]
POSITIONS = [f"{hinge}.q" for hinge in HINGES]


def joints(q):
    """Returns the positions of the five hinges with the odd ones at q, and their derivatives with
    respect to q."""
    A = np.pi / 2 - q
    B = np.arccos(-np.cos(A) / (1 + np.cos(A)))
    slope = -np.sin(A) / ((1 + np.cos(A)) ** 2 * np.sin(B))
    even = np.pi / 2 - B
    return np.array([q, even, q, even, q]), np.array([1, slope, 1, slope, 1])


def rotation(axis, angle):
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def mechanism(q):
    """Returns M(q) (kg·m²), V(q) (J) and the positions of the hinges (m)."""
    angles, slopes = joints(q)
    R, w, v, p = np.eye(3), np.zeros(3), np.zeros(3), POINTS[0]
    M, V, points = 0.0, 0.0, [p]
    for k in range(5):
        # w and v are derivatives with respect to q: angular velocity and velocity at the hinge for
        # a rate of one.
        w = w + R @ AXES[k] * slopes[k]
        R = R @ rotation(AXES[k], angles[k])
        rod = R @ (POINTS[k + 1] - POINTS[k])
        centre = v + cross(w, rod / 2)
        M = M + centre @ centre + ACROSS * (w @ w) + (ALONG - ACROSS) * (w @ rod) ** 2
        V = V + GRAVITY * (p + rod / 2)[1]
        v, p = v + cross(w, rod), p + rod
        points.append(p)
    return M, V, np.array(points)


@pytest.fixture(scope="module")
def reference():
    """Returns q and q̇ at TIMES. Short steps keep the interpolation error between them small."""
    h = 1e-30

    def derivative(_, y):
        M, V, _ = mechanism(y[0] + 1j * h)
        return [y[1], -(0.5 * M.imag / h * y[1] ** 2 + V.imag / h) / M.real]

    run = solve_ivp(derivative, (0.0, 10.0), [0.0, 0.0], "DOP853", TIMES, rtol=1e-12, atol=1e-14, max_step=0.02)
    assert run.success, run.message
    at = [mechanism(q) for q in run.y[0]]
    energy = np.array([0.5 * M * rate**2 + V for (M, V, _), rate in zip(at, run.y[1])])
    assert np.ptp(energy) < 1e-12
    closing = max(np.abs(points[5]).max() for _, _, points in at)
    assert closing < 1e-14, "the rods end where they begin: at the ground"
    return run.y.T


def deviations(rows, reference):
    """Returns the largest deviation of rows of THIRD and POSITIONS: from the reference's path (m),
    and from the closed form (rad)."""
    path = np.array([mechanism(q)[2][2] for q, _ in reference])
    A, B = np.pi / 2 - rows[:, [3, 5, 7]], np.pi / 2 - rows[:, [4, 6]]
    forms = [np.cos(a) * np.cos(b) + np.cos(a) + np.cos(b) for a in A.T for b in B.T]
    return np.abs(rows[:, :3] - path).max(), np.abs(forms).max()


def test_bricard_mechanism_in_co_simulation_follows_the_reference(examples, reference, within):
    """This path is sensitive: the mechanism stops at both ends of its swing, where a small error of
    energy is a large error of time."""
    with CoSimulation(examples["bricard"], tolerance=1e-10) as cs:
        rows = cs.run(TIMES, THIRD + POSITIONS + ["hinge6.violation", "hinge6.violation_angle"])
    path, form = deviations(rows[:, :8], reference)
    within("Bricard, dopri5 at 1e-10: third hinge over 10 s", path, 1e-10, "the tolerance, m")
    within("Bricard, dopri5 at 1e-10: closed form of the hinges", form, 1e-10, "the tolerance")
    within("Bricard, dopri5 at 1e-10: constraint violation", rows[:, 8:].max(), 1e-10, "the tolerance, m and rad")


def test_bricard_mechanism_in_model_exchange_with_cvode_follows_the_reference(examples, reference, within):
    """In Model Exchange there is no monitor: the importer integrates, and Baumgarte's gains keep
    the loop closed."""
    archive = examples["bricard"]
    names = THIRD + POSITIONS + ["hinge6.violation", "hinge6.violation_angle"]
    result = fmpy.simulate_fmu(
        str(archive.path),
        fmi_type="ModelExchange",
        solver="CVode",
        relative_tolerance=1e-10,
        stop_time=10.0,
        output_interval=0.1,
        output=names,
    )
    assert np.allclose(result["time"], TIMES)
    rows = np.array([result[name] for name in names]).T
    path, form = deviations(rows[:, :8], reference)
    within("Bricard, CVode at 1e-10: third hinge over 10 s", path, 1e-8, "a hundred times the tolerance, m")
    within("Bricard, CVode at 1e-10: closed form of the hinges", form, 1e-8, "a hundred times the tolerance")
    within("Bricard, CVode at 1e-10: constraint violation", rows[:, 8:].max(), 1e-8, "a hundred times the tolerance, m and rad")


@pytest.mark.parametrize("digits", [4, 6, 9, 12, 15])
def test_rounded_starts_are_assembled_and_run(digits, examples, reference, within):
    """Positions and rates at ten times of the run, rounded to some digits, are assembled; one of
    five constraints is redundant."""
    violation, moved = 0.0, 0.0
    for k in range(10, 101, 10):
        q, qd = reference[k]
        positions, slopes = joints(q)
        start = {f"{hinge}.q_start": float(f"{x:.{digits}g}") for hinge, x in zip(HINGES, positions)}
        start |= {f"{hinge}.qd_start": float(f"{x:.{digits}g}") for hinge, x in zip(HINGES, slopes * qd)}
        with CoSimulation(examples["bricard"], start, tolerance=1e-8) as cs:
            rows = cs.run(np.linspace(0.0, 1.0, 11), POSITIONS + ["hinge6.violation", "hinge6.violation_angle"])
        moved = max(moved, np.abs(rows[0, :5] - positions).max())
        violation = max(violation, rows[:, 5:].max())
    within(f"Bricard from {digits} digits: constraint violation over 1 s", violation, 1e-9, "a tenth of the tolerance, m and rad")
    within(f"Bricard from {digits} digits: start", moved, max(10.0 ** (1 - digits), 1e-13), "ten units of the last digit, rad")


def test_a_loop_that_parameters_open_is_named_when_initialisation_ends(examples):
    """With the first hinge at 5 m the rods do not reach the last one: the message names the loop.
    The instance can be reset and used."""
    with CoSimulation(examples["bricard"]) as cs:
        cs.fmu.reset()
        with pytest.raises(FMICallException):
            cs.initialise({"hinge1.origin[1]": 5.0}, None, None)
        (message,) = [text for _, category, text in cs.messages if category == "logStatusError"]
        assert "hinge6" in message, message
        cs.fmu.reset()
        cs.initialise({"hinge1.origin[1]": 0.0}, None, None)
        cs.step(0.01)
        assert cs.get("hinge6.violation") < 1e-9


PENDULUM = {
    "name": "pendulum",
    "environment": {"gravity": [0.0, 0.0, -GRAVITY]},
    "body": {"rod": {"mass": 1.0, "mass_centre": [0.5, 0.0, 0.0], "inertia": [0.0001, 0.0833, 0.0833]}},
    "joint": {
        "hinge": {
            "type": "revolute",
            "parent": "world",
            "child": "rod",
            "axis": [0.0, 1.0, 0.0],
            "start": {"position_deg": -80.0, "rate": 3.0},
        }
    },
    # A step of a quarter of the period: the method is stable here, but inaccurate.
    "solver": {"method": "rk4", "step": 0.5},
    "experiment": {"stop_time": 20.0, "step": 0.5},
}


def test_a_step_that_is_too_long_is_stopped_by_the_energy_balance(build, tmp_path):
    archive = build(PENDULUM)
    table = tmp_path / "run.csv"
    run = grapple("simulate", archive.path, "--output", table, "--no-page", check=False)
    assert run.returncode == 1 and "energy balance" in run.stderr, run.stderr
    with table.open() as file:
        times = [float(row[0]) for row in list(csv.reader(file))[1:]]
    assert times and times == [0.5 * k for k in range(len(times))] and times[-1] < 20.0
    # An importer gets the same error; the limit is a parameter.
    with CoSimulation(archive) as cs, pytest.raises(FMICallException):
        while cs.t < 20.0:
            cs.step(0.5)
    assert cs.t == times[-1]
    message = cs.messages[-1][2]
    assert "energy balance" in message and "monitor.energy_balance" in message, message
    grapple("simulate", archive.path, "--output", table, "--no-page", "--set", "monitor.energy_balance=1e9")
    with table.open() as file:
        assert float(list(csv.reader(file))[-1][0]) == 20.0


def test_the_page_on_closed_loops_shows_what_the_tool_prints(tmp_path):
    """The page's three specs, the outputs of `assemble` and `equilibrium`, and the deflection at
    rest of the cantilever."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "closed-loops.md").read_text(encoding="utf-8")
    specs = re.findall(r"```toml\n(# (\S+)\n.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert [name for _, name in specs] == ["four_bar.toml", "hang.toml", "cantilever.toml"]
    for text, name in specs:
        (tmp_path / name).write_text(text)
    pairs = re.findall(r"```sh\ngrapple (\w+) (\S+)\n```\n\n```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert [verb for verb, *_ in pairs] == ["assemble", "equilibrium"]
    for verb, name, shown in pairs:
        printed = grapple(verb, tmp_path / name).stdout
        # Residuals are round-off, which depends on the machine, and so may the number of steps.
        seen, expected = [re.sub(r"\S+ m, 0 rad\n|after \d+ steps.*\n", "\n", text) for text in (printed, shown)]
        assert seen == expected
    grapple("simulate", tmp_path / "cantilever.toml", "--output", tmp_path / "run.csv", "--no-page")
    with (tmp_path / "run.csv").open() as file:
        head, first, *_, last = list(csv.reader(file))
    column = next(k for k, name in enumerate(head) if name.startswith("tip.r[3]"))
    assert all(f"{float(row[column]):.6f}" == "-0.156817" for row in (first, last))
    assert "`tip.r[3]` = −0.156817 m" in page
