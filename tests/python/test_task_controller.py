"""A task in a controller's FMU: the example of a flexible servicer in the tool's run and in FMPy, saved states, the law of a
rigid servicer in Model Exchange, margins."""

import re
import subprocess
import sys
import tomllib

import numpy as np
import pytest
from fmpy.fmi3 import FMU3Slave
from programs import EXAMPLES

from fmu import Archive, CoSimulation, ModelExchange, grapple, toml

FOLDER = EXAMPLES / "tasks/outside"
H, STOP = 0.004, 12.0
ERROR = tuple(f"reach_out.error[{i}]" for i in range(1, 7))


def spec(name):
    return tomllib.loads((FOLDER / f"{name}.toml").read_text())


def wires(a, b):
    """Names of the outputs of `a` that are inputs of `b`."""
    has = {name for name, variable in b.variables.items() if variable.causality == "input"}
    return tuple(name for name in a.outputs() if name in has)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """The FMUs of the example, and the SSP file of both."""
    directory = tmp_path_factory.mktemp("outside")
    told = grapple("couple", FOLDER / "servicer.toml", FOLDER / "guidance.toml", "--output", directory / "loop.ssp")
    assert "2 FMUs, 31 connections" in told.stdout, told.stdout
    assert "warning" not in told.stderr + told.stdout, told.stderr
    archives = [Archive.build(FOLDER / f"{name}.toml", directory / name) for name in ("servicer", "guidance")]
    return directory / "loop.ssp", *archives


def stepped(craft, control, h, stop, names):
    """Steps the controller first, then the spacecraft; returns the `names` of the controller after each step, and the
    attitude of the base."""
    measured, commanded = wires(craft.archive, control.archive), wires(control.archive, craft.archive)
    rows = []
    for _ in range(round((stop - craft.t) / h)):
        control.write(measured, craft.read(measured))
        control.step(h)
        craft.write(commanded, control.read(commanded))
        craft.step(h)
        rows.append(np.concatenate([control.read(names), craft.vector("base.q", 4)]))
    return np.array(rows)


def test_tool_is_on_its_line_in_the_run_of_the_wired_file(pair, within):
    """By the tool, which steps the controller first, and by FMPy in the same order."""
    ssp, craft, control = pair
    table = ssp.with_suffix(".csv")
    grapple("simulate", ssp, "--no-page", "--output", table)
    with table.open() as file:
        head = [title.split(" ")[0] for title in file.readline().strip().split(",")]
        columns = [f"guidance.{name}" for name in ERROR] + [f"servicer.base.q[{i}]" for i in range(1, 5)]
        columns += [f"servicer.tool.r[{i}]" for i in range(1, 4)]
        rows = np.loadtxt(file, delimiter=",", usecols=[head.index(name) for name in columns])
    rows, tool = rows[:, :-3], rows[:, -3:]
    with CoSimulation(craft) as craft, CoSimulation(control) as control:
        found = stepped(craft, control, H, STOP, ERROR)
    within("task in a controller: tool against FMPy", np.abs(found - rows[1:]).max(), 1e-9, "digits of the table")
    worst = np.abs(rows[:, :6]).max()
    within("task in a controller: undeformed arm off its line, m and rad", worst, 2e-5, "4 ms between samples, vibration")
    assert worst > 1e-7
    begin, end = (np.array(waypoint["position"]) for waypoint in spec("guidance")["task"]["reach_out"]["waypoint"])
    along = (end - begin) / np.linalg.norm(end - begin)
    aside = np.linalg.norm(np.cross(tool - begin, along), axis=1).max()
    within("task in a controller: flexible arm's tool off its line, m", aside, 1e-5, "4 ms between samples, vibration")
    turned = 2.0 * np.arccos(abs(rows[-1, 6:] @ rows[0, 6:]))
    assert turned > 0.1, turned


def test_modes_are_not_measured(pair):
    _, craft, control = pair
    inputs = {name for name, variable in control.variables.items() if variable.causality == "input"}
    assert inputs == set(wires(craft, control)) and len(inputs) == 13 + 12
    assert any("forearm.eta" in name for name in craft.outputs())
    assert control.states == [] and control.variables["elbow.tau"].variability == "discrete"
    assert control.variables["forearm.mass_per_length"].causality == "parameter"


def test_restored_controller_repeats_its_run(pair):
    _, craft, control = pair
    with CoSimulation(craft) as craft, CoSimulation(control) as control:
        stepped(craft, control, H, 2.0, ERROR)
        # Between two samples.
        control.step(0.3 * H)
        states = [(instance, instance.fmu.getFMUState(), instance.t) for instance in (craft, control)]
        runs = []
        for _ in range(2):
            for instance, state, t in states:
                instance.fmu.setFMUState(state)
                instance.t = t
            held = control.read(ERROR)
            control.step(0.7 * H)
            assert np.array_equal(control.read(ERROR), held)
            craft.step(H)
            runs.append(stepped(craft, control, H, 2.5, ERROR))
        for instance, state, _ in states:
            instance.fmu.freeFMUState(state)
    assert np.array_equal(runs[0], runs[1]) and np.ptp(runs[0]) > 0.1


def rigid():
    """Specs of a rigid servicer: with its task inside, without it, and of the controller; continuous."""
    craft, law = spec("servicer"), spec("guidance")
    craft["body"]["forearm"] = {"mass": 9.0, "mass_centre": [0.45, 0.0, 0.0], "inertia": [0.04, 0.7, 0.7]}
    for joint in craft["joint"].values():
        del joint["motor"]
    inside = tomllib.loads(toml(craft))
    for joint in inside["joint"].values():
        joint["servo"] = {"kp": 0.0, "kd": 0.0, "feed_forward": "rigid"}
    # Without waypoints the references are inputs.
    task = {key: value for key, value in law["task"]["reach_out"].items() if key != "waypoint"}
    task = {"task": {"reach_out": task}}
    law = toml({**craft, **task, "name": "law", "kind": "controller"}) + "[controller]\n"
    return {**inside, **task}, craft, law


def test_controller_has_the_right_hand_side_of_the_task_inside(build, within):
    inside, craft, law = (build(spec) for spec in rigid())
    random = np.random.default_rng(5)
    with ModelExchange(inside) as inside, ModelExchange(craft) as craft, ModelExchange(law) as law:
        assert craft.archive.states == inside.archive.states
        measured, commanded = wires(craft.archive, law.archive), wires(law.archive, craft.archive)
        assert (len(measured), len(commanded)) == (25, 6)
        for _ in range(20):
            x = inside.x + 0.1 * random.standard_normal(inside.n)
            reference = {f"reach_out.{name}[{i}]": random.standard_normal() for name in ("r_ref", "w_ref") for i in (1, 2, 3)}
            for instance in (inside, law):
                instance.set(reference)
            craft.at(0.0, x)
            law.write(measured, craft.read(measured))
            craft.write(commanded, law.read(commanded))
            expected, found = inside.derivative(0.0, x), craft.derivative(0.0, x)
            off = np.abs(found - expected)[:-1].max() / np.abs(expected)[:-1].max()
            within("task in a controller: derivatives against the task inside", off, 1e-12, "round-off")
            seeds = {"elbow.q": 1.0, "base.w[2]": -0.5, "reach_out.r_ref[1]": 0.3}
            exact, h = law.along(commanded, seeds), 1e-6
            before = {name: law.get(name) for name in seeds}
            values = []
            for sign in (1.0, -1.0):
                law.set({name: before[name] + sign * h * seed for name, seed in seeds.items()})
                values.append(law.read(commanded))
            quotient = (values[0] - values[1]) / (2.0 * h)
            off = np.abs(quotient - exact).max() / np.abs(exact).max()
            within("task in a controller: directional derivatives", off, 1e-7, "difference quotient with 1e-6")


def test_dependencies_of_a_continuous_controller(build):
    law = build(rigid()[2])
    names = [variable.name for variable in law.description.modelVariables]
    known = {unknown.variable.name: {of.name for of in unknown.dependencies} for unknown in law.description.outputs}
    assert {"elbow.q", "elbow.qd", "base.q[1]", "base.w[3]", "reach_out.r_ref[2]"} <= known["elbow.tau"]
    # The pose error depends on no rates.
    assert "elbow.q" in known["reach_out.error[1]"] and "elbow.qd" not in known["reach_out.error[1]"]
    assert "elbow.servo" not in names and "elbow.tau" in names and law.variables["elbow.tau"].causality == "output"


def test_margins_of_a_task_in_a_controller(tmp_path):
    """The sampled loop of a slide is stable for T (kp + kd) < 2, if T kp kd < 2 (kp + kd)."""
    slide = {
        "name": "slide",
        "body": {"slide": {"mass": 2.0, "inertia": [0.1, 0.1, 0.1]}},
        "joint": {"rail": {"type": "prismatic", "parent": "world", "child": "slide", "axis": [1.0, 0.0, 0.0]}},
    }
    task = {"frame": "slide", "joints": ["rail"], "components": ["x"], "kp": 5.0, "kd": 100.0}
    law = {**slide, "name": "law", "kind": "controller", "controller": {"sample_time": 0.01}, "task": {"reach": task}}
    for name, spec in (("slide", slide), ("law", law)):
        (tmp_path / f"{name}.toml").write_text(toml(spec))
    text = grapple("margin", tmp_path / "slide.toml", tmp_path / "law.toml").stdout
    found = float(re.findall(r": stable up to ([0-9.e-]+) s", text)[0])
    assert found == pytest.approx(2.0 / 105.0, rel=1e-3), text


@pytest.mark.parametrize("has_rotors, expected", [(True, [1.24e-2, 4.83e-3]), (False, [1.72e-3, 7.8e-4])])
def test_longest_stable_sample_times_of_the_example(tmp_path, has_rotors, expected):
    """For a controller that is stepped first, and with Jacobi stepping."""
    for name in ("servicer", "guidance"):
        lines = (FOLDER / f"{name}.toml").read_text().splitlines()
        kept = [line for line in lines if has_rotors or not line.startswith("rotor_inertia")]
        (tmp_path / f"{name}.toml").write_text("\n".join(kept) + "\n")
    text = grapple("margin", tmp_path / "servicer.toml", tmp_path / "guidance.toml").stdout
    found = [float(number) for number in re.findall(r": stable up to ([0-9.e-]+) s", text)]
    assert found == pytest.approx(expected, rel=1e-2), text


def test_four_zeros_are_no_attitude(pair):
    """FMPy's function sets all inputs to zero for the first step. In a process of its own: after a run with
    a logger FMPy calls that one, which no longer exists, for the messages of all FMUs."""
    text = f"from fmpy.ssp.simulation import simulate_ssp; simulate_ssp({str(pair[0])!r}, stop_time=0.1, step_size={H})"
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert run.returncode == 1 and "fmi2DoStep failed" in run.stderr, run.stderr
    assert "set base.q before the first step" in run.stdout + run.stderr, run.stdout


def test_controller_in_orbit_repeats_its_run_after_reset_and_with_arrays(tmp_path):
    """FMI 2.0 before and after fmi2Reset, FMI 3.0 with scalars and with arrays: equal bits at equal inputs."""
    law = {**spec("servicer"), **spec("guidance"), "environment": {"orbit": {"semi_major_axis": 6878137.0}}}
    del law["include"], law["task"]["reach_out"]["waypoint"]
    two = Archive.build(law, tmp_path / "2")
    inputs = [v for v in two.description.modelVariables if v.causality == "input"]
    random = np.random.default_rng(8)
    start = np.array([float(v.start) for v in inputs])
    measured = [start + 0.02 * random.standard_normal(len(start)) for _ in range(500)]
    rows = []
    with CoSimulation(two) as run:
        for _ in range(2):
            for row in measured:
                run.write(tuple(v.name for v in inputs), row)
                run.step(H)
                rows.append(run.read(two.outputs()))
            run.fmu.reset()
            run.initialise({}, None, None)
    runs = np.split(np.array(rows), 2)
    assert runs[0].tobytes() == runs[1].tobytes() and np.ptp(runs[0], axis=0).max() > 0.1
    count = {}
    for kind in ["scalars"], ["arrays", "--arrays"]:
        archive = Archive.build(law, tmp_path / kind[0], "--fmi", "3", *kind[1:])
        variables = {c: [v for v in archive.description.modelVariables if v.causality == c] for c in ("input", "output")}
        references = {c: [v.valueReference for v in found if v.type == "Float64"] for c, found in variables.items()}
        count[kind[0]] = len(references["input"])
        slave = FMU3Slave(
            guid=archive.description.guid,
            unzipDirectory=str(archive.directory),
            modelIdentifier=archive.description.coSimulation.modelIdentifier,
            instanceName="law",
        )
        slave.instantiate()
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        rows = []
        for k, row in enumerate(measured):
            slave.setFloat64(references["input"], row.tolist())
            slave.doStep(k * H, H)
            rows.append(slave.getFloat64(references["output"], nValues=len(two.outputs())))
        slave.fmi3FreeInstance(slave.component)
        assert np.array(rows).tobytes() == runs[0].tobytes(), kind
    assert count["arrays"] < count["scalars"] == len(inputs)
