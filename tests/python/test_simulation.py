"""Runs that are advanced step by step in Python: the bits of the FMU's Co-Simulation, copies, saved states, errors."""

import re
import signal
import threading
import time

import numpy as np
import pytest
from native import grapple_fmu as grapple
from programs import EXAMPLES

from fmu import CoSimulation

# Flexible links, contacts, a capture, servos and wheels in orbit, a closed loop, an ANCF beam.
NAMES = ["klak_2020", "docking", "berthing", "servicer_orbit", "bricard", "beam_in_grasp"]
STEPS = 40
# Commands from the start.
COMMANDS = {"docking": {"latch.capture": 1.0}}


def general_inputs(rng, archive):
    """Returns values of all continuous inputs; switches and commands keep theirs."""
    inputs = [v for v in archive.description.modelVariables if v.causality == "input" and v.variability != "discrete"]
    return {v.name: float(v.start or 0.0) + 0.01 * rng.normal() for v in inputs}


@pytest.mark.parametrize("name", NAMES)
def test_steps_have_the_bits_of_the_fmu(name, examples):
    """States and outputs after steps of general lengths with inputs that change, and the bytes of the saved state."""
    rng, archive = np.random.default_rng(1), examples[name]
    simulation = grapple.load(EXAMPLES / f"{name}.toml").simulation()
    names = [*simulation.state_names, *simulation.output_names]
    reals = tuple(name for name in names if archive.variables[name].type == "Real")
    stop = float(archive.description.defaultExperiment.stopTime)
    with CoSimulation(archive) as slave:
        for k in range(STEPS):
            inputs = general_inputs(rng, archive) if k % 3 == 0 else {}
            inputs |= COMMANDS.get(name, {}) if k == 0 else {}
            slave.set(inputs)
            dt = stop / STEPS * rng.uniform(0.5, 1.0)
            slave.fmu.doStep(currentCommunicationPoint=simulation.time, communicationStepSize=dt)
            simulation.step(dt, inputs)
            ours = dict(zip(names, [*simulation.state, *simulation.outputs]))
            assert np.array_equal([ours[name] for name in reals], slave.read(reals)), f"step {k}"
        state = slave.fmu.getFMUState()
        assert slave.fmu.serializeFMUState(state) == simulation.save().to_bytes()
        slave.fmu.freeFMUState(state)
        texts = [text for _, category, text in slave.messages if category == "logEvents"]
    assert name != "docking" or any(event["event"] == "impact" for event in simulation.events)
    assert [event["text"] for event in simulation.events] == [text.replace("%%", "%").replace("##", "#") for text in texts]


@pytest.fixture(scope="module")
def docking():
    return grapple.load(EXAMPLES / "docking.toml")


def recorded(simulation, steps=10, dt=0.5):
    """Returns states and outputs after each of some steps."""
    rows = []
    for _ in range(steps):
        simulation.step(dt)
        rows.append([simulation.time, *simulation.state, *simulation.outputs])
    return np.array(rows)


def test_restored_and_copied_runs_repeat_the_bits(docking):
    simulation = docking.simulation(set=COMMANDS["docking"])
    recorded(simulation, 5)
    saved, copy = simulation.save(), simulation.clone()
    events = simulation.events
    expected = recorded(simulation)
    assert saved.time == copy.time and np.array_equal(saved.state, copy.state)
    assert np.array_equal(recorded(copy), expected) and copy.events == simulation.events
    assert [event["event"] for event in simulation.events[len(events) :]] == ["impact"], "the capture is in between"
    simulation.restore(saved)
    assert simulation.events == events and np.array_equal(recorded(simulation), expected)
    other = docking.simulation()
    other.restore(other.read_saved(saved.to_bytes()))
    assert np.array_equal(recorded(other), expected)


def test_model_of_a_run_has_its_discrete_state_and_parameters(docking):
    simulation = docking.simulation(set={"target.mass": 150.0, **COMMANDS["docking"]})
    recorded(simulation, 20)
    assert any(event["event"] == "impact" for event in simulation.events)
    model = simulation.model()
    assert np.array_equal(model.x0, simulation.state) and model.parameters["target.mass"] == 150.0
    assert np.array_equal(model.outputs(simulation.time, model.x0), simulation.outputs)
    free = docking.model()
    assert not np.array_equal(free.derivatives(simulation.time, model.x0), model.derivatives(simulation.time, model.x0))
    assert type(simulation.clone()) is grapple.Simulation and type(model) is grapple.Model


def two_link():
    """Returns the example without signals, whose joints have torques as inputs."""
    spec = grapple.new("two_link")
    del spec["signal"]
    return spec


def test_inputs_by_name_or_as_a_vector_and_values_by_name():
    simulation = two_link().simulation()
    vector = simulation.inputs
    vector[simulation.input_names.index("elbow.tau")] = 0.2
    other = simulation.clone()
    simulation.step(0.1, vector)
    other.step(0.1, {"elbow.tau": 0.2})
    assert np.array_equal(simulation.state, other.state)
    assert simulation["elbow.tau"] == 0.2 and simulation["elbow.q"] == dict(zip(simulation.state_names, simulation.state))["elbow.q"]
    simulation.set({"elbow.tau": 0.3})
    assert simulation["elbow.tau"] == 0.3


def test_wrong_calls_are_named_and_change_nothing():
    simulation = two_link().simulation(stop_time=1.0)
    before = simulation.save().to_bytes()
    other = grapple.new("ssrms_type").simulation().save()
    for call, kind, message in [
        (lambda: simulation.step(-0.1), grapple.GrappleError, "goes backwards"),
        (lambda: simulation.step(np.nan), grapple.GrappleError, "not finite"),
        (lambda: simulation.step(2.0), grapple.GrappleError, "passes the stop time"),
        (lambda: simulation.step("a"), TypeError, None),
        (lambda: simulation.step(0.1, {"elbow.taw": 1.0}), grapple.GrappleError, 'did you mean "elbow.tau"'),
        (lambda: simulation.step(0.1, {"elbow.tau": np.nan}), grapple.GrappleError, "elbow.tau = NaN is not finite"),
        (lambda: simulation.step(0.1, [1.0]), ValueError, "one for each input"),
        (lambda: simulation.set({"elbow.q": 1.0}), grapple.GrappleError, "is a state"),
        (lambda: simulation["elbow.qq"], grapple.GrappleError, "did you mean"),
        (lambda: simulation.restore(other), grapple.GrappleError, "another"),
        (lambda: simulation.read_saved(b"abc"), grapple.GrappleError, None),
        (lambda: grapple.new("two_link").simulation(tolerance=-1.0), grapple.GrappleError, "tolerance"),
        (lambda: grapple.new("two_link").simulation(set={"forearm.mass": -1.0}), grapple.GrappleError, "forearm"),
    ]:
        with pytest.raises(kind, match=message):
            call()
    assert simulation.save().to_bytes() == before


def test_second_thread_is_refused_and_gets_a_copy_instead():
    spec = grapple.load(EXAMPLES / "ssrms_flexible.toml")
    spec["solver"] = {"method": "rk4", "step": 1e-4}  # 20,000 steps
    simulation = spec.simulation()
    copy = simulation.clone()
    thread = threading.Thread(target=lambda: simulation.step(2.0))
    thread.start()
    refused = False
    while thread.is_alive() and not refused:
        assert 'Simulation "ssrms_flexible"' in repr(simulation)
        try:
            simulation.save()
        except grapple.GrappleError as error:
            refused = "another thread uses this simulation" in str(error)
    copy.step(2.0)
    thread.join()
    assert refused and np.array_equal(copy.state, simulation.state)


def test_copy_takes_no_options():
    simulation = two_link().simulation()
    for option in ({"tolerance": 1e-3}, {"start_time": 1.0}, {"stop_time": 2.0}, {"set": {"forearm.mass": 1.0}}):
        with pytest.raises(ValueError, match="a copy of a simulation"):
            grapple.Simulation(simulation, **option)


def test_tolerance_and_start_time_are_those_of_the_fmu():
    spec = two_link()
    loose, tight = (spec.simulation(tolerance=tolerance, start_time=2.0) for tolerance in (1e-3, 1e-10))
    for simulation in (loose, tight):
        assert simulation.time == 2.0
        simulation.step(1.0, {"elbow.tau": 0.1})
        assert simulation.time == 3.0
    assert not np.array_equal(loose.state, tight.state) and np.allclose(loose.state, tight.state, atol=1e-2)


# ---- states that are set


def starts(names):
    """Returns the names of the start values of states."""
    return [re.sub(r"(\[|$)", r"_start\1", name, count=1) for name in names]


@pytest.mark.parametrize("name", NAMES)
def test_states_that_are_set_to_their_values_change_nothing(name):
    """At the start, where the integrator has no memory."""
    spec = grapple.load(EXAMPLES / f"{name}.toml")
    commands = COMMANDS.get(name, {})
    simulation, other = (spec.simulation(set=commands) for _ in range(2))
    other.set_state(other.state)
    dt = spec["experiment"]["stop_time"] / 200
    assert np.array_equal(recorded(simulation, 5, dt), recorded(other, 5, dt)) and simulation.events == other.events


def held(**joint):
    """Returns an arm on the world with one joint, whose torque is an input."""
    body = {"arm": {"mass": 2.0, "mass_centre": [0.5, 0.0, 0.0], "inertia": [0.1, 0.1, 0.1]}}
    hinge = {"type": "revolute", "parent": "world", "child": "arm", "axis": [0.0, 0.0, 1.0], **joint}
    return grapple.load({"name": "held", "body": body, "joint": {"hinge": hinge}})


@pytest.mark.parametrize(
    "spec, values",
    [
        (two_link(), {"elbow.q": 0.3, "shoulder.qd": -0.2, "base.w[2]": 0.1}),
        (held(friction={"coulomb": 0.5, "breakaway": 0.8, "stribeck": 0.1}), {"hinge.qd": 0.4}),
    ],
    ids=["free", "joint that stuck"],
)
def test_run_from_states_that_are_set_is_that_which_starts_there(spec, values):
    """Bit for bit: limits, stops and friction are those of the new states, and the integrator starts anew."""
    fresh = spec.simulation(set=dict(zip(starts(values), values.values())))
    simulation = spec.simulation()
    simulation.step(0.05)
    simulation.set_state(fresh.state)
    assert np.array_equal(simulation.state, fresh.state)
    assert np.array_equal(simulation.outputs, fresh.outputs)
    by_name = spec.simulation()
    by_name.set_state(values)
    assert np.array_equal(by_name.state, fresh.state)
    texts = lambda of: [re.sub(r"^.*?: ", "", event["text"]) for event in of.events]
    assert texts(simulation) == texts(by_name) == texts(fresh)
    assert np.array_equal(recorded(by_name, 20, 0.02), recorded(fresh.clone(), 20, 0.02))
    # The time differs, and with it round-off.
    assert np.allclose(recorded(simulation)[:, 1:], recorded(fresh)[:, 1:], rtol=0, atol=1e-9)


def test_stop_acts_on_states_beyond_its_limit_at_once():
    """As in the run that has come there; and it releases a joint that is set inside again."""
    limits = {"min": -0.5, "max": 0.5, "stop": "compliant", "stiffness": 100.0, "damping": 5.0}
    spec = held(range=limits, start={"rate": 2.0})
    simulation, other = (spec.simulation(tolerance=1e-11) for _ in range(2))
    while simulation["hinge.q"] < 0.6:
        simulation.step(0.01)
    other.set_state(simulation.state)
    assert np.array_equal(other.outputs, simulation.outputs) and other["der(hinge.qd)"] < -1.0
    assert [event["event"] for event in other.events] == ["range_left"]
    assert np.allclose(recorded(other, 5, 0.05)[:, 1:], recorded(simulation, 5, 0.05)[:, 1:], rtol=0, atol=1e-8)
    other.set_state({"hinge.q": 0.1, "hinge.qd": 0.0})
    assert other["der(hinge.qd)"] == other["hinge.out_of_range"] == 0.0
    other.step(1.0)
    assert other["hinge.q"] == pytest.approx(0.1, abs=1e-12)


def test_capture_stays_and_its_violation_ends_the_run(docking):
    simulation = docking.simulation(set=COMMANDS["docking"])
    recorded(simulation, 20, 1.0)
    assert simulation["latch.captured"] == 1.0
    free = simulation.clone()
    free.set_state(free.state)
    assert np.allclose(free.outputs, simulation.outputs, rtol=0, atol=1e-9)
    assert np.allclose(recorded(free, 5), recorded(simulation, 5), rtol=0, atol=1e-5)
    assert free["latch.captured"] == 1.0 and free.events == simulation.events
    free.set_state({"target.r[1]": free["target.r[1]"] + 0.1})
    with pytest.raises(grapple.GrappleError, match='contact "latch"'):
        free.step(0.1)


def test_wrong_states_are_named_and_change_nothing():
    spec = two_link()
    spec["joint"]["elbow"]["motion"] = "locked"
    simulation = spec.simulation()
    simulation.step(0.1, {"shoulder.tau": 0.1})
    before, x = simulation.save().to_bytes(), simulation.state
    index = {name: i for i, name in enumerate(simulation.state_names)}

    def changed(name, value):
        values = x.copy()
        values[index[name]] = value
        return values

    for states, kind, message in [
        (x[1:], ValueError, "one for each state"),
        (x[None], ValueError, "one vector"),
        (changed("shoulder.q", np.nan), ValueError, "x: shoulder.q = NaN is not finite"),
        ({"shoulder.q": np.inf}, ValueError, "shoulder.q = inf"),
        ({"shoulder.qq": 0.1}, grapple.GrappleError, 'no state "shoulder.qq"; did you mean "shoulder.q"'),
        ({f"base.q[{i}]": 0.0 for i in range(1, 5)}, grapple.GrappleError, "base: the quaternion .* has zero norm"),
        ({"elbow.qd": 0.1}, grapple.GrappleError, 'joint "elbow" is locked, but its rate is 0.1'),
        ("a", TypeError, "x is no array of numbers"),
    ]:
        with pytest.raises(kind, match=message):
            simulation.set_state(states)
        assert simulation.save().to_bytes() == before
    simulation.set_state({f"base.q[{i + 1}]": value for i, value in enumerate([2.0, 0.0, 0.0, 2.0])})
    assert simulation["base.q[1]"] == simulation["base.q[4]"] == pytest.approx(np.sqrt(0.5), rel=1e-15)
    with pytest.raises(grapple.GrappleError, match="forearm.mass is fixed"):
        simulation.set({"forearm.mass": 2.0})


def test_restored_start_takes_all_parameters():
    """A saved start is a run that has not begun: masses and start values can be set, without compiling again."""
    spec, simulation = two_link(), two_link().simulation(tolerance=1e-9)
    start = simulation.save()
    for mass in (1.5, 3.0):
        values = {"forearm.mass": mass, "elbow.q_start": 0.1 * mass}
        simulation.restore(start)
        simulation.set(values)
        fresh = spec.simulation(set=values, tolerance=1e-9)
        for _ in range(3):
            simulation.step(0.1, {"elbow.tau": 0.1})
            fresh.step(0.1, {"elbow.tau": 0.1})
        assert simulation.save().to_bytes() == fresh.save().to_bytes()


# ---- interruption


def test_ctrl_c_ends_a_step_and_leaves_the_simulation_as_before(interruptible):
    spec = two_link()
    spec["solver"] = {"method": "rk4", "step": 1e-4, "work_limit": 1e15}
    simulation = spec.simulation()
    simulation.step(0.5, {"elbow.tau": 0.2})
    before, other = simulation.save().to_bytes(), simulation.clone()
    timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        simulation.step(1e7)
    assert time.monotonic() - begin < 60, "it has not ended by itself"
    assert simulation.save().to_bytes() == before and simulation.events == other.events
    assert np.array_equal(recorded(simulation, 3, 0.05), recorded(other, 3, 0.05))


def test_signal_handler_without_an_exception_does_not_end_a_step(interruptible):
    """And it cannot use the simulation, whose step is not complete."""
    spec, refused = two_link(), []
    spec["solver"] = {"method": "rk4", "step": 1e-4, "work_limit": 1e15}
    simulation, other = spec.simulation(), spec.simulation()

    def handler(*_):
        try:
            simulation.save()
        except grapple.GrappleError as error:
            refused.append(f"{error} {simulation}")

    signal.signal(signal.SIGINT, handler)
    dt = 0.1
    while not refused:
        timer = threading.Timer(0.05, lambda: signal.raise_signal(signal.SIGINT))
        timer.start()
        simulation.step(dt)
        other.step(dt)
        timer.join()
        dt *= 2
    assert "another thread uses" in refused[0] and "used by another thread" in refused[0]
    assert np.array_equal(simulation.state, other.state)
