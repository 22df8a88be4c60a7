"""Desaturation of wheels by thrusters in a controller: levels, hysteresis, a run with a spacecraft."""

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.spatial.transform import Rotation
from test_attitude_controller import MEASURED, SERVO, TORQUES, WHEELS, numbered, quaternion, spacecraft

from fmu import CoSimulation, ModelExchange

# Regularisation of the levels, relative to the largest component of a thruster's torque.
EPSILON = 1e-4
AXES = {"wx": [1.0, 0.0, 0.0], "wy": [0.0, 1.0, 0.0], "wz": [0.0, 0.0, 1.0]}
RATES = tuple(f"{name}.qd" for name in AXES)


def controller(torques, wheels=AXES, inertia=1.0, limit=1e-3, time=1.0, sample_time=None, **fields):
    attitude = {
        **SERVO,
        "momentum_limit": limit,
        "desaturation_time": time,
        **fields,
        "wheel": {name: {"axis": axis, "inertia": inertia} for name, axis in wheels.items()},
        "thruster": {f"j{i + 1}": {"torque": list(torque)} for i, torque in enumerate(torques)},
    }
    timing = {} if sample_time is None else {"sample_time": sample_time}
    return {"name": "control", "kind": "controller", "controller": {**timing, "attitude": {"hub": attitude}}}


def spans(A):
    """True if nonnegative levels exert a moment in every direction."""
    return all(nnls(A, side * axis)[1] < 1e-9 for axis in np.eye(3) for side in (1.0, -1.0))


def random_thrusters(random, n):
    while True:
        A = random.standard_normal((3, n))
        if spans(A):
            return A


def levels(cs, n):
    return cs.read([f"j{i + 1}.level" for i in range(n)])


@pytest.mark.parametrize("n", [4, 5, 6, 8, 12, 24])
def test_levels_are_nonnegative_least_squares(build, within, n):
    random = np.random.default_rng(n)
    A = random_thrusters(random, n)
    scale = np.abs(A).max()
    with CoSimulation(build(controller(A.T))) as cs:
        for _ in range(40):
            h = 0.02 * random.standard_normal(3)
            cs.write(RATES, h)
            x = levels(cs, n)
            expected = nnls(np.vstack([A / scale, EPSILON * np.eye(n)]), np.concatenate([-h / scale, np.zeros(n)]))[0]
            assert x.min() >= 0.0 and expected.max() < 1.0
            reason = "round-off times the condition number of the thrusters that are on"
            within("levels against SciPy's nnls", np.abs(x - expected).max() / expected.max(), 1e-9, reason)
            reason = "the regularisation 1e-8 over the square of the least singular value"
            within("A x + h / T", np.abs(A @ x + h).max() / np.abs(h).max(), 1e-5, reason)
            exerted = cs.vector("hub.thruster_torque")
            within("moment of the thrusters", np.abs(exerted - A @ x).max() / np.abs(h).max(), 1e-14, "round-off")
            assert np.array_equal(cs.vector("hub.wheel_momentum"), h)
            # At rest the wheels exert the opposite moment.
            tau = cs.read([f"{name}.tau" for name in AXES])
            within("wheels against the thrusters", np.abs(tau - exerted).max() / np.abs(h).max(), 1e-14, "round-off")


def test_levels_above_one_are_scaled_together(build):
    random = np.random.default_rng(2)
    A = random_thrusters(random, 8)
    with CoSimulation(build(controller(A.T))) as cs:
        h = np.array([30.0, -20.0, 40.0])
        cs.write(RATES, h)
        x, moment = levels(cs, 8), cs.vector("hub.thruster_torque")
        assert x.max() == 1.0 and x.min() >= 0.0
        assert np.linalg.norm(np.cross(moment, -h)) < 1e-5 * np.linalg.norm(moment) * np.linalg.norm(h)


def test_desaturation_begins_and_ends_with_hysteresis_at_events(build):
    archive = build(controller(np.vstack([np.eye(3), -np.eye(3)]), limit=2.0, momentum_release=0.5))
    with ModelExchange(archive) as me:
        is_on = False
        for rate, changes in [(1.9, False), (2.1, True), (1.0, False), (1.9, False), (0.51, False), (0.49, True), (1.9, False), (2.1, True)]:
            me.set({"wy.qd": rate})
            assert (me.get("j5.level") > 0.0) == is_on, "it changes at events only"
            assert (me.indicators()[0] < 0.0) == changes
            me.event()
            is_on ^= changes
            assert (me.get("j5.level") > 0.0) == is_on and me.indicators()[0] > 0.0
    default = build(controller(np.vstack([np.eye(3), -np.eye(3)]), limit=2.0))
    with CoSimulation(default) as cs:
        for rate, is_on in [(2.1, True), (0.21, True), (0.19, False)]:
            cs.set({"wy.qd": rate})
            assert (cs.get("j5.level") > 0.0) == is_on


def test_derivatives_of_levels_and_torques_while_desaturated(build, within):
    random = np.random.default_rng(5)
    A = random_thrusters(random, 6)
    archive = build(controller(A.T))
    outputs = [f"j{i + 1}.level" for i in range(6)] + [f"{name}.tau" for name in AXES]
    knowns = {unknown.variable.name: {known.name for known in unknown.dependencies} for unknown in archive.description.outputs}
    assert all(set(RATES) <= knowns[name] for name in outputs)
    with ModelExchange(archive) as me:
        h = np.array([0.02, -0.03, 0.01])
        me.write(RATES, h)
        me.event()
        for i, rate in enumerate(RATES):
            found = me.along(outputs, {rate: 1.0})
            moved = []
            for side in (1.0, -1.0):
                me.write(RATES, h + side * 1e-6 * np.eye(3)[i])
                moved.append(me.read(outputs))
            me.write(RATES, h)
            expected = (moved[0] - moved[1]) / 2e-6
            within("derivatives of levels", np.abs(found - expected).max(), 1e-7, "central differences of linear functions")


H = 0.02
THRUST = 40.0


def thrusters():
    """Positions, unit directions and torques of six thrusters on the hub."""
    random = np.random.default_rng(11)
    while True:
        position, direction = random.standard_normal((2, 6, 3))
        direction /= np.linalg.norm(direction, axis=1)[:, None]
        torque = np.cross(position, THRUST * direction)
        if spans(torque.T) and np.linalg.cond(torque) < 3.0:
            return position, direction, torque


def desaturated_craft():
    position, direction, torque = thrusters()
    frames = {f"n{i + 1}": {"body": "hub", "origin": list(p)} for i, p in enumerate(position)}
    jets = {
        f"j{i + 1}": {"frame": f"n{i + 1}", "direction": list(d), "thrust": THRUST, "throttle": "level"}
        for i, d in enumerate(direction)
    }
    spec = spacecraft(frame=frames, thruster=jets)
    spec["body"]["hub"]["start"] = {"rpy_deg": [20.0, -15.0, 30.0]}
    for rate, wheel in zip((250.0, -120.0, 200.0, 90.0), spec["wheel"].values()):
        wheel["rate"] = rate
    return spec, torque


JETS = tuple(f"j{i + 1}.level" for i in range(6))
WHEEL_RATES = tuple(f"{name}.qd" for name in WHEELS)
START = quaternion(Rotation.from_euler("ZYX", [30.0, -15.0, 20.0], degrees=True))
SPIN = tuple(f"system.angular_momentum[{i}]" for i in (1, 2, 3))


def advance(craft, control, steps):
    """Closes the loop; returns momentum of the wheels, thrusters' moment and attitude error at each
    sample."""
    rows = []
    seen = tuple(f"hub.{field}[{i}]" for field in ("wheel_momentum", "thruster_torque", "attitude_error") for i in (1, 2, 3))
    for _ in range(steps):
        control.write(MEASURED + WHEEL_RATES, craft.read(MEASURED + WHEEL_RATES))
        control.step(H)
        craft.write(TORQUES + JETS, control.read(TORQUES + JETS))
        craft.step(H)
        rows.append(control.read(seen))
    return np.array(rows).reshape(steps, 3, 3)


@pytest.fixture
def loop(build):
    """The spacecraft and its sampled controller."""
    spec, torque = desaturated_craft()
    control = controller(torque, WHEELS, inertia=0.08, limit=15.0, time=8.0, sample_time=H, momentum_release=1.5)
    with CoSimulation(build(spec)) as craft:
        with CoSimulation(build(control), start=numbered("hub.q_ref", START)) as control:
            yield craft, control


def test_desaturation_takes_the_momentum_and_leaves_the_attitude(loop, within):
    craft, control = loop
    before = craft.read(SPIN)
    rows = advance(craft, control, 3000)
    stored, exerted, error = np.linalg.norm(rows[:, 0], axis=1), rows[:, 1], rows[:, 2]
    is_on = np.abs(exerted).max(axis=1) > 0.0
    assert stored[0] > 15.0 and stored[-1] < 1.5
    assert is_on[0] and not is_on[-1] and np.count_nonzero(np.diff(is_on)) == 1, "no chatter"
    within("attitude error during desaturation, rad", np.abs(error).max(), 1e-12, "round-off: the moments cancel at rest")
    impulse = Rotation.from_quat(START[[1, 2, 3, 0]]).apply(exerted.sum(axis=0) * H)
    balance = np.abs(craft.read(SPIN) - before - impulse).max() / np.abs(impulse).max()
    within("angular momentum less the impulse of the thrusters", balance, 1e-11, "round-off of 3000 steps")


def test_saved_states_resume_desaturation_with_the_same_bits(loop):
    craft, control = loop
    advance(craft, control, 100)
    states = [(instance, instance.fmu.getFMUState(), instance.t) for instance in loop]
    first = advance(craft, control, 900)
    for instance, state, t in states:
        instance.fmu.setFMUState(state)
        instance.fmu.freeFMUState(state)
        instance.t = t
    is_on = np.abs(first[:, 1]).max(axis=1) > 0.0
    assert is_on[0]
    assert np.array_equal(advance(craft, control, 900), first)
