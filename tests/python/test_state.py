"""A saved FMU state contains all that the future depends on: a continued run has the same bits.

Two arms: the SSRMS-type example, and a small one with states of events (a stop, a torque signal, a
servo's switch), the latter also with implicit methods, whose Jacobian is part of the state.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fmpy.fmi1 import FMICallException

from fmu import Archive, CoSimulation, ModelExchange

ARM = """
name = "arm"
environment.gravity = [0, -9.81, 0]
[body.upper]
mass = 3.0
mass_centre = [0.4, 0.02, -0.01]
inertia = [0.1, 0.3, 0.28, 0.01, -0.02, 0.005]
[body.lower]
mass = 1.5
mass_centre = [0.3, 0, 0.05]
inertia = [0.02, 0.1, 0.09]
[joint.shoulder]
type = "revolute"
parent = "world"
child = "upper"
servo = { kp = 20.0, kd = 2.0 }
[joint.elbow]
type = "revolute"
parent = "upper"
child = "lower"
origin = [0.8, 0, 0]
range = { min = -0.3, max = 0.5, stop = "compliant", stiffness = 300.0, damping = 0.5 }
damping = 0.05
[signal."elbow.tau"]
type = "constant"
amplitude = 2.0
from = 0.41
until = 1.73
from_importer = false
"""
STEPS = [0.1, 0.03, 0.2, 0.07, 0.1, 0.1, 0.25, 0.15]


@pytest.fixture(scope="module")
def arms(examples, tmp_path_factory):
    def arm(solver, formulation=""):
        return Archive.build(formulation + ARM + solver, tmp_path_factory.mktemp("arm"))

    return {
        "ssrms_type": examples["ssrms_type"],
        "arm with stops": arm(""),
        "arm with stops, radau5": arm('[solver]\nmethod = "radau5"\n'),
        "arm with stops, rosenbrock": arm('[solver]\nmethod = "rosenbrock"\n'),
        "arm with stops, midpoint": arm('[solver]\nmethod = "implicit_midpoint"\nstep = 0.004\n'),
        "arm with stops, linearly implicit": arm('[solver]\nmethod = "linearly_implicit"\nstep = 0.004\n'),
        "arm with stops, conserving": arm('[solver]\nmethod = "conserving"\nstep = 0.004\n', 'formulation = "natural"\n'),
    }


pytestmark = pytest.mark.parametrize(
    "arm",
    [
        "ssrms_type",
        "arm with stops",
        "arm with stops, radau5",
        "arm with stops, rosenbrock",
        "arm with stops, midpoint",
        "arm with stops, linearly implicit",
        "arm with stops, conserving",
    ],
)


def names_of(archive):
    return [*archive.states, *archive.outputs(), *archive.derivatives]


def drive(archive):
    """Returns the inputs that an importer sets during the run: the references of servos, if there
    are any."""
    return [name for name, v in archive.variables.items() if v.causality == "input" and name.endswith("q_ref")]


def continue_cs(cs, names):
    rows = []
    for i, h in enumerate(STEPS):
        for name in drive(cs.archive):
            cs.set({name: 0.3 * np.sin(i)})
        if i == 4 and "shoulder.servo" in cs.archive.variables:
            cs.set({"shoulder.servo": 0.0})
        cs.step(h)
        rows.append(cs.read(names))
    return np.array(rows)


def same(a, b):
    """Returns whether two arrays have identical bits, including the signs of zeros."""
    return a.tobytes() == b.tobytes()


def first_difference(a, b, names):
    rows, columns = np.nonzero(a != b)
    return (
        "identical"
        if len(rows) == 0
        else f"first differs {names[columns[0]]} at point {rows[0]}: {a[rows[0], columns[0]]!r} {b[rows[0], columns[0]]!r}"
    )


def test_co_simulation_continues_identically_in_the_same_instance(arm, arms):
    archive = arms[arm]
    names = names_of(archive)
    with CoSimulation(archive, tolerance=1e-8) as cs:
        continue_cs(cs, names)
        t = cs.t
        saved = cs.fmu.getFMUstate()
        once = continue_cs(cs, names)
        cs.fmu.setFMUstate(saved)
        cs.t = t
        again = continue_cs(cs, names)
        cs.fmu.setFMUstate(saved)
        cs.t = t
        third = continue_cs(cs, names)
        cs.fmu.freeFMUstate(saved)
        assert same(once, again), first_difference(once, again, names)
        assert same(once, third), "a state can be set more than once"


def test_co_simulation_continues_identically_in_another_instance(arm, arms):
    archive = arms[arm]
    names = names_of(archive)
    a_mass = next(name for name in archive.variables if name.endswith(".mass"))
    with CoSimulation(archive, tolerance=1e-8) as cs:
        continue_cs(cs, names)
        t = cs.t
        saved = cs.fmu.getFMUstate()
        code = cs.fmu.serializeFMUstate(saved)
        cs.fmu.freeFMUstate(saved)
        once = continue_cs(cs, names)
    # The other instance has another mass, tolerance and past: the state must replace all of them.
    with CoSimulation(archive, start={a_mass: 1.01 * float(archive.variables[a_mass].start)}, tolerance=1e-4) as other:
        other.step(0.37)
        loaded = other.fmu.deSerializeFMUstate(code)
        other.fmu.setFMUstate(loaded)
        other.t = t
        there = continue_cs(other, names)
        assert same(once, there), first_difference(once, there, names)
        assert other.fmu.serializeFMUstate(loaded) == code, "a state that went through bytes is the same bytes again"
        other.fmu.freeFMUstate(loaded)


def follow(me, t_end, h=1e-3):
    """Integrates by the classical Runge–Kutta method with events at the ends of steps. The
    importer's part is deterministic, so differences are the FMU's."""
    names = names_of(me.archive)
    rows = []
    z = me.indicators()
    while me.t < t_end - 1e-9:
        t, x = me.t, me.x
        k1 = me.derivative(t, x)
        k2 = me.derivative(t + h / 2, x + h / 2 * k1)
        k3 = me.derivative(t + h / 2, x + h / 2 * k2)
        k4 = me.derivative(t + h, x + h * k3)
        me.at(t + h, x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
        wants_event, _ = me.fmu.completedIntegratorStep()
        new = me.indicators()
        due = me.next_event is not None and me.t >= me.next_event
        if wants_event or due or np.any(np.sign(new) != np.sign(z)):
            me.event()
            new = me.indicators()
        z = new
        rows.append(me.read(names))
    return np.array(rows)


def test_model_exchange_continues_identically_in_both_instances(arm, arms):
    archive = arms[arm]
    names = names_of(archive)
    with ModelExchange(archive) as me, ModelExchange(archive) as other:
        follow(me, 0.3)
        t, next_event = me.t, me.next_event
        saved = me.fmu.getFMUstate()
        code = me.fmu.serializeFMUstate(saved)
        once = follow(me, 0.6)

        me.fmu.setFMUstate(saved)
        me.t, me.next_event = t, next_event
        again = follow(me, 0.6)
        assert same(once, again), first_difference(once, again, names)
        me.fmu.freeFMUstate(saved)

        follow(other, 0.1)
        loaded = other.fmu.deSerializeFMUstate(code)
        other.fmu.setFMUstate(loaded)
        other.t, other.next_event = t, next_event
        there = follow(other, 0.6)
        assert same(once, there), first_difference(once, there, names)
        other.fmu.freeFMUstate(loaded)


def go_on(instance, names):
    """Continues the run, in either interface."""
    if isinstance(instance, CoSimulation):
        return continue_cs(instance, names)
    return follow(instance, instance.t + 0.3)


@pytest.fixture(scope="module")
def elsewhere():
    """A function that continues a run in another process, one for all runs; see `go_on_elsewhere`."""
    call = "import test_state; test_state.serve()"
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", call], cwd=Path(__file__).parent, **streams) as process:

        def go_on(*arguments):
            print(json.dumps([str(argument) for argument in arguments]), file=process.stdin, flush=True)
            assert process.stdout.readline() == "done\n"

        yield go_on
        process.stdin.close()


def serve():
    for line in sys.stdin:
        go_on_elsewhere(*json.loads(line))
        print("done", flush=True)


@pytest.mark.parametrize("interface", [CoSimulation, ModelExchange])
def test_state_from_a_file_continues_identically_in_another_process(interface, arm, arms, elsewhere, tmp_path):
    archive = arms[arm]
    names = names_of(archive)
    instant = float(np.random.default_rng(2020).uniform(0.2, 0.6))
    with interface(archive, tolerance=1e-8) as here:
        if interface is CoSimulation:
            here.to(instant)
        else:
            follow(here, instant, instant / 400)
        saved = here.fmu.getFMUstate()
        (tmp_path / "state").write_bytes(here.fmu.serializeFMUstate(saved))
        here.fmu.freeFMUstate(saved)
        # Times that an importer stores itself; they are not part of the FMU's state.
        times = [repr(here.t), repr(getattr(here, "next_event", None))]
        once = go_on(here, names)
    there = tmp_path / "there"
    elsewhere(interface.__name__, archive.path, tmp_path / "state", there, *times)
    again = np.fromfile(there).reshape(once.shape)
    assert same(once, again), f"from {instant} s on: {first_difference(once, again, names)}"


def go_on_elsewhere(interface, path, state, there, t, next_event):
    """Continues the run in another process: with an archive unpacked anew, an instance with another
    tolerance, and the state from the file."""
    archive = Archive(path, f"{there} unpacked")
    with {"CoSimulation": CoSimulation, "ModelExchange": ModelExchange}[interface](archive) as other:
        loaded = other.fmu.deSerializeFMUstate(Path(state).read_bytes())
        other.fmu.setFMUstate(loaded)
        other.t, other.next_event = float(t), None if next_event == "None" else float(next_event)
        go_on(other, names_of(archive)).tofile(there)
        other.fmu.freeFMUstate(loaded)


def test_reset_gives_the_identical_run_again(arm, arms):
    archive = arms[arm]
    names = names_of(archive)
    a_mass = next(name for name in archive.variables if name.endswith(".mass"))
    with CoSimulation(archive, tolerance=1e-8) as cs:
        once = continue_cs(cs, names)
        cs.fmu.reset()
        cs.initialise({a_mass: 1.01 * float(archive.variables[a_mass].start)}, 1e-8, None)
        changed = continue_cs(cs, names)
        assert not same(once, changed), "another mass gives another run"
        cs.fmu.reset()
        cs.initialise({}, 1e-8, None)
        again = continue_cs(cs, names)
        assert same(once, again), first_difference(once, again, names)
    with ModelExchange(archive) as me:
        once = follow(me, 0.2)
        me.fmu.reset()
        me.initialise({}, None, None)
        again = follow(me, 0.2)
        assert same(once, again), first_difference(once, again, names)


def test_a_damaged_state_is_refused_and_changes_nothing(arm, arms):
    archive = arms[arm]
    names = names_of(archive)
    with CoSimulation(archive, tolerance=1e-8) as cs, CoSimulation(archive, tolerance=1e-8) as untouched:
        cs.step(0.1)
        untouched.step(0.1)
        saved = cs.fmu.getFMUstate()
        code = cs.fmu.serializeFMUstate(saved)
        cs.fmu.freeFMUstate(saved)
        middle = len(code) // 2
        damaged = {
            "a byte flipped": code[:middle] + bytes([code[middle] ^ 1]) + code[middle + 1 :],
            "cut short": code[:-1],
            "one byte more": code + b"\0",
            "empty": b"",
        }
        for what, bytes_ in damaged.items():
            with pytest.raises(FMICallException):
                cs.fmu.deSerializeFMUstate(bytes_)
                pytest.fail(f"a state with {what} was accepted")
        cs.step(0.1)
        untouched.step(0.1)
        assert same(cs.read(names), untouched.read(names))
