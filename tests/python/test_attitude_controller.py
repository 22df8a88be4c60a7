"""Attitude laws of controllers as FMUs: law, allocation to wheels, loop with a spacecraft, margins."""

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from fmu import CoSimulation, ModelExchange, grapple, toml

KP, KD = [60.0, 50.0, 40.0], [120.0, 110.0, 90.0]
AXES = [[1.0, 0.0, 1.0], [-1.0, 0.2, 1.0], [0.1, 1.0, 0.7], [0.0, -1.0, 1.3]]
WHEELS = {f"w{i + 1}": axis for i, axis in enumerate(AXES)}
SERVO = {"kp": KP, "kd": KD}
MEASURED = tuple([f"hub.q[{i}]" for i in (1, 2, 3, 4)] + [f"hub.w[{i}]" for i in (1, 2, 3)])
TORQUES = tuple(f"{name}.tau" for name in WHEELS)


def spacecraft(servo=None, wheels=WHEELS, limit=100.0, **sections):
    """A rigid hub with wheels, tilted and tumbling; `servo` is its own attitude servo."""
    hub = {
        "mass": 300.0,
        "inertia": [40.0, 55.0, 70.0],
        "start": {"rpy_deg": [20.0, -15.0, 30.0], "angular_velocity": [0.02, -0.03, 0.01]},
    }
    if servo is not None:
        hub["attitude_servo"] = servo
    wheel = {"body": "hub", "mass": 5.0, "inertia": 0.08, "torque_limit": limit, "rate_limit": 5000.0}
    return {
        "name": "craft",
        "body": {"hub": hub},
        "wheel": {name: {**wheel, "axis": axis} for name, axis in wheels.items()},
        "experiment": {"tolerance": 1e-11},
        **sections,
    }


def controller(wheels=WHEELS, sample_time=None, **fields):
    attitude = {**SERVO, "wheel": {name: {"axis": axis} for name, axis in wheels.items()}, **fields}
    timing = {} if sample_time is None else {"sample_time": sample_time}
    return {"name": "control", "kind": "controller", "controller": {**timing, "attitude": {"hub": attitude}}}


def quaternion(rotation):
    return rotation.as_quat()[[3, 0, 1, 2]]


def numbered(name, values):
    return {f"{name}[{i + 1}]": value for i, value in enumerate(values)}


def random_inputs(random):
    """Measured and reference attitude and velocity, with the moment that the law commands."""
    q, q_ref = (Rotation.from_rotvec(0.8 * random.standard_normal(3)) for _ in range(2))
    w, w_ref = random.standard_normal((2, 3))
    theta = (q.inv() * q_ref).as_rotvec()
    values = {
        **numbered("hub.q", quaternion(q)),
        **numbered("hub.w", w),
        **numbered("hub.q_ref", quaternion(q_ref)),
        **numbered("hub.w_ref", w_ref),
    }
    return values, np.array(KP) * theta + np.array(KD) * (w_ref - w), theta


@pytest.mark.parametrize("n", [3, 4, 6, 9])
def test_wheel_torques_are_the_least_norm_solution(build, within, n):
    random = np.random.default_rng(n)
    axes = random.standard_normal((n, 3))
    wheels = {f"w{i + 1}": list(axis) for i, axis in enumerate(axes)}
    A = (axes / np.linalg.norm(axes, axis=1)[:, None]).T
    with CoSimulation(build(controller(wheels))) as cs:
        for _ in range(20):
            values, moment, theta = random_inputs(random)
            cs.set(values)
            tau = cs.read([f"{name}.tau" for name in wheels])
            least = np.linalg.lstsq(A, -moment, rcond=None)[0]
            size = np.abs(moment).max()
            reason = "round-off times the condition number of A Aᵀ, at most 1e2 here"
            within("moment of the law", np.abs(cs.vector("hub.servo_torque") - moment).max() / size, 1e-13, "round-off")
            within("attitude error", np.abs(cs.vector("hub.attitude_error") - theta).max(), 1e-14, "round-off")
            within("A tau + M, relative", np.abs(A @ tau + moment).max() / size, 1e-13, reason)
            within("wheel torques against lstsq", np.abs(tau - least).max() / np.abs(least).max(), 1e-13, reason)


@pytest.mark.parametrize("outside", ["wheels", "port"])
def test_controller_has_the_right_hand_side_of_the_servo_inside(build, within, outside):
    """At random states the derivatives of the spacecraft are those with its own servo."""
    if outside == "wheels":
        inside = build(spacecraft({**SERVO, "wheels": list(WHEELS)}))
        craft, control, torques = build(spacecraft()), build(controller()), TORQUES
    else:
        port = {"port": {"pusher": {"frame": "hub", "axes": "frame"}}}
        inside = build(spacecraft(SERVO))
        craft, control = build(spacecraft(**port)), build(controller({}, port="pusher"))
        torques = tuple(f"pusher.t[{i}]" for i in (1, 2, 3))
    random = np.random.default_rng(1)
    with ModelExchange(inside) as reference, ModelExchange(craft) as craft, ModelExchange(control) as control:
        start = reference.x
        assert craft.archive.states == reference.archive.states
        for _ in range(20):
            x = start + 0.3 * random.standard_normal(len(start))
            q_ref = numbered("hub.q_ref", quaternion(Rotation.from_rotvec(random.standard_normal(3))))
            w_ref = numbered("hub.w_ref", random.standard_normal(3))
            for instance in (reference, control):
                instance.set({**q_ref, **w_ref})
            craft.at(0.0, x)
            control.write(MEASURED, craft.read(MEASURED))
            craft.write(torques, control.read(torques))
            expected, found = reference.derivative(0.0, x), craft.derivative(0.0, x)
            scale = np.abs(expected).max()
            within("derivatives against the servo inside", np.abs(found - expected).max() / scale, 1e-13, "round-off")


def test_sampled_loop_converges_to_the_servo_inside_at_the_first_order(build, within):
    """Zero-order hold over the sample time H delays the torque by H/2 on average: error O(H)."""
    times = np.linspace(0.0, 6.0, 31)
    with CoSimulation(build(spacecraft({**SERVO, "wheels": list(WHEELS)}))) as inside:
        expected = inside.run(times, MEASURED)
    assert np.abs(expected[-1] - expected[0]).max() > 0.2
    errors = []
    for h in (0.02, 0.01, 0.005):
        control = build(controller(sample_time=h))
        with CoSimulation(build(spacecraft())) as craft, CoSimulation(control) as control:
            rows = []
            for k in range(round(6.0 / h) + 1):
                measured = craft.read(MEASURED)
                if k % round(0.2 / h) == 0:
                    rows.append(measured)
                control.write(MEASURED, measured)
                control.step(h)
                craft.write(TORQUES, control.read(TORQUES))
                craft.step(h)
        errors.append(np.abs(np.array(rows) - expected).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    within("order of the sampled attitude loop, off one", np.abs(orders - 1.0).max(), 0.05, "the next power of the step")
    assert errors[-1] < 2e-3


def test_wheel_torque_is_limited_with_an_event(build):
    limited = controller()
    limited["controller"]["attitude"]["hub"]["wheel"]["w2"]["torque_limit"] = 0.5
    with ModelExchange(build(limited)) as me, ModelExchange(build(controller())) as free:
        assert len(me.indicators()) == 1 and me.indicators()[0] > 0.0
        for instance in (me, free):
            instance.set({"hub.w[1]": 0.1, "hub.w[2]": 0.1})
        assert abs(free.get("w2.tau")) > 0.5 and me.indicators()[0] < 0.0
        me.event()
        assert me.get("w2.tau") == np.sign(free.get("w2.tau")) * 0.5 and me.indicators()[0] > 0.0
        assert me.get("w1.tau") == free.get("w1.tau")


def test_couple_connects_an_attitude_controller_with_its_spacecraft(tmp_path):
    for name, spec in (("craft", spacecraft()), ("control", controller(sample_time=0.01))):
        (tmp_path / f"{name}.toml").write_text(toml(spec))
    specs = [tmp_path / f"{name}.toml" for name in ("craft", "control")]
    told = grapple("couple", *specs, "--output", tmp_path / "loop.ssp").stdout
    assert "2 FMUs, 11 connections" in told and "w4.tau    control → craft" in told
    assert "a controller of 1 attitude, 0 states, 14 inputs, 10 outputs" in grapple("check", specs[1]).stdout


@pytest.mark.parametrize("start", [[0.0, 0.0, 0.0], [50.0, -40.0, 120.0]])
def test_longest_stable_step_of_an_attitude_loop_is_that_of_jury(tmp_path, within, start):
    """About an axis of inertia J the sampled loop is stable for H < min(2 J / kd, 2 kd / kp), at any
    attitude, since the reference is the attitude at which the loop is linearised."""
    inertia, kp, kd = [40.0, 55.0, 70.0], [60.0, 5.0, 4.0], [1500.0, 1800.0, 2100.0]
    hub = {"mass": 300.0, "inertia": inertia, "start": {"rpy_deg": start}}
    craft = {"name": "craft", "body": {"hub": hub}, "port": {"pusher": {"frame": "hub", "axes": "frame"}}}
    control = controller({}, port="pusher", kp=kp, kd=kd)
    for name, spec in (("craft", craft), ("control", control)):
        (tmp_path / f"{name}.toml").write_text(toml(spec))
    text = grapple("margin", tmp_path / "craft.toml", tmp_path / "control.toml").stdout
    found = float(re.findall(r": stable up to ([0-9.e-]+) s", text)[0])
    expected = min(min(2.0 * J / d, 2.0 * d / p) for J, p, d in zip(inertia, kp, kd))
    within("longest stable step of an attitude loop", abs(found / expected - 1.0), 1e-3, "four printed digits")


ARM = {
    "rail": {"type": "cylindrical", "kp": [3.0, 4.0], "kd": 0.5},
    "elbow": {"kp": 40.0, "kd": 5.0, "torque_limit": 60.0},
}


def arm(**fields):
    return {"name": "arm", "kind": "controller", "controller": {**fields, "joint": ARM}}


def test_references_as_vectors_and_in_degrees_give_the_same_torques(build):
    torques = ["rail.tau[1]", "rail.tau[2]", "elbow.tau", "elbow.servo_error"]
    plain = ("rail.q_ref[1]", "rail.q_ref[2]", "elbow.q_ref", "rail.qd_ref[1]", "rail.qd_ref[2]", "elbow.qd_ref")
    vector = ("q_ref[1]", "q_ref[2]", "q_ref[3]", "qd_ref[1]", "qd_ref[2]", "qd_ref[3]")
    angular = np.array([True, False, True] * 2)
    measured = {"rail.q[1]": 0.2, "rail.q[2]": -0.4, "elbow.q": 0.7, "elbow.qd": 0.1, "elbow.tau_ff": 1.5}
    random = np.random.default_rng(3)
    variants = {
        "plain": (plain, arm()),
        "vector": (vector, arm(references="vector")),
        "degrees": (plain, arm(reference_unit="deg")),
        "both": (vector, arm(references="vector", reference_unit="deg")),
    }
    archives = {name: (names, build(spec)) for name, (names, spec) in variants.items()}
    for _ in range(10):
        degrees = 40.0 * random.standard_normal(6)
        found = {}
        for name, (names, archive) in archives.items():
            si = np.where(angular, np.radians(degrees), degrees)
            with CoSimulation(archive, start=measured) as cs:
                cs.write(names, degrees if name in ("degrees", "both") else si)
                found[name] = list(cs.read(torques))
        assert found["vector"] == found["plain"] and found["degrees"] == found["plain"] == found["both"]
    both = archives["both"][1]
    assert [both.variables[name].unit for name in vector] == ["deg", "m", "deg", "deg/s", "m/s", "deg/s"]
    assert both.variables["rail.q[1]"].unit == "rad" and both.variables["elbow.servo_error"].unit == "rad"
    base = {unit.name: unit.baseUnit for unit in both.description.unitDefinitions}
    assert base["deg"].rad == 1 and base["deg"].factor == np.pi / 180.0
    assert (base["deg/s"].rad, base["deg/s"].s, base["deg/s"].factor) == (1, -1, np.pi / 180.0)
    assert "elbow.q_ref" not in both.variables


def test_signal_sets_an_element_of_a_reference_vector_with_its_rate(build):
    plan = {"type": "quintic", "amplitude": 90.0, "from": 0.0, "until": 2.0, "from_importer": False, "with_rate": True}
    spec = {**arm(references="vector", reference_unit="deg"), "signal": {"q_ref[3]": plan}}
    with CoSimulation(build(spec)) as cs:
        cs.step(1.0)
        # Half way through a quintic from 0 to a in T: a/2, at the rate 15/8 a/T.
        rate = 15.0 / 8.0 * np.pi / 4.0
        assert cs.get("elbow.tau") == pytest.approx(40.0 * np.pi / 4.0 + 5.0 * rate, abs=1e-12)
