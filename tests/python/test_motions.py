"""Joints whose motion an importer switches: brakes and drives, in both interfaces and every formulation."""

import numpy as np
import pytest

from fmu import FORMULATIONS, CoSimulation, ModelExchange, grapple

SPEC = """
name = "brakes"
formulation = "{formulation}"
[body.base]
mass = 8.0
inertia = [0.8, 0.9, 1.0]
start = {{ angular_velocity = [0.1, -0.2, 0.3] }}
[body.upper]
mass = 2.0
mass_centre = [0.5, 0.1, 0.0]
inertia = [0.1, 0.2, 0.25]
[body.lower]
mass = 1.0
mass_centre = [0.4, 0.0, 0.1]
inertia = [0.05, 0.1, 0.1]
[joint.shoulder]
type = "revolute"
parent = "base"
child = "upper"
origin = [0.5, 0.0, 0.0]
motions = ["loads", "locked"]
start = {{ rate = 0.6 }}
[joint.elbow]
type = "revolute"
parent = "upper"
child = "lower"
origin = [1.0, 0.0, 0.0]
axis = [0.0, 1.0, 0.2]
motions = ["loads", "locked", "prescribed"]
start = {{ rate = -0.9 }}
"""
MOMENTA = [f"system.{name}[{i}]" for name in ("momentum", "angular_momentum") for i in (1, 2, 3)]


@pytest.fixture(params=FORMULATIONS)
def archive(request, build):
    return build(SPEC.format(formulation=request.param))


def test_moving_joint_is_locked_in_model_exchange(archive, within):
    """The states change at the event, momentum does not, and the brake's torque balances the
    load."""
    with ModelExchange(archive) as me:
        me.integrate([0.0, 0.5], ["elbow.qd"], rtol=1e-10)
        before, rate = me.read(MOMENTA), me.read(["elbow.qd"])[0]
        assert abs(rate) > 0.1
        me.fmu.enterEventMode()
        me.set({"elbow.motion": 1.0, "elbow.tau": 0.3})
        assert me.discrete(), "the values of the states have changed"
        after, (rate, brake) = me.read(MOMENTA), me.read(["elbow.qd", "elbow.drive"])
        within("momentum over a locking", np.abs(after - before).max(), 1e-13, "round-off of 1 kg·m/s")
        assert abs(rate) < 1e-14 and brake != 0.0
        # A command set outside Event Mode is reported by fmi2CompletedIntegratorStep.
        assert me.fmu.completedIntegratorStep() == (0, 0)
        me.set({"shoulder.motion": 1.0})
        assert me.fmu.completedIntegratorStep() == (1, 0)
        assert me.event()
        assert me.fmu.completedIntegratorStep() == (0, 0)
        # An event without a command changes nothing.
        assert not me.event()
        me.fmu.enterEventMode()
        me.set({"elbow.motion": 0.0})
        assert not me.discrete(), "letting go, the states go on from where they are"
        assert me.read(["elbow.drive"])[0] == 0.0
        assert any("locked" in text for _, category, text in me.messages if category == "logEvents")


def test_joint_is_locked_driven_and_released_in_co_simulation(archive):
    with CoSimulation(archive, tolerance=1e-10) as cs:
        cs.to(0.5)
        before = cs.read(MOMENTA)
        cs.set({"shoulder.motion": 1.0})
        cs.to(0.6)
        angle, rate = cs.read(["shoulder.q", "shoulder.qd"])
        assert abs(rate) < 1e-12
        cs.set({"elbow.motion": 2.0, "elbow.qdd": 0.4})
        rate = cs.read(["elbow.qd"])[0]
        cs.to(1.6)
        assert abs(cs.read(["elbow.qd"])[0] - rate - 0.4) < 1e-8, "a second at 0.4 rad/s²"
        assert abs(cs.read(["shoulder.q"])[0] - angle) < 1e-10, "the brake holds"
        assert np.abs(cs.read(MOMENTA) - before).max() < 1e-8
        cs.set({"shoulder.motion": 0.0, "elbow.motion": 0.0})
        cs.to(2.0)
        assert abs(cs.read(["shoulder.qd"])[0]) > 1e-3
        # A value that selects none of the joint's motions is reported and has no effect.
        cs.set({"shoulder.motion": 7.0})
        cs.to(2.1)
        assert abs(cs.read(["shoulder.qd"])[0]) > 1e-3
        cs.to(2.2)
        assert sum("shoulder.motion = 7" in text for _, _, text in cs.messages) == 1


def test_command_at_the_start_is_in_the_linearisation(tmp_path):
    """With a brake that a signal closes at the start, the joint's rate in the linear system neither
    changes nor forms a mode."""
    text = SPEC.format(formulation="recursive").replace("start = { rate = 0.6 }", "").replace("start = { rate = -0.9 }", "")
    signal = '[signal."elbow.motion"]\ntype = "constant"\n'
    (tmp_path / "craft.toml").write_text(text + signal)
    grapple("linearize", tmp_path / "craft.toml", "-o", tmp_path / "linear.npz")
    linear = np.load(tmp_path / "linear.npz")
    row = list(linear["coordinates"].astype(str)).index("elbow.qd")
    assert not linear["A"][row].any() and not linear["B"][row].any()
    other = list(linear["coordinates"].astype(str)).index("shoulder.qd")
    assert linear["A"][other].any() and linear["B"][other].any()
