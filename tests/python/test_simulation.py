"""Runs that are advanced step by step in Python: the bits of the FMU's Co-Simulation, copies, saved states, errors."""

import threading

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
