"""Impacts commanded by an importer, in both interfaces and every formulation."""

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException

from fmu import FORMULATIONS, CoSimulation, ModelExchange, grapple

# A ball of 2 kg impacts on one of 3 kg at the end of a spacecraft's arm.
SPEC = """
name = "balls"
formulation = "{formulation}"
[body.cue]
mass = 2.0
inertia = [0.1, 0.1, 0.1]
start = {{ velocity = [1.0, 0.3, 0.0] }}
[body.craft]
mass = 8.0
inertia = [0.8, 0.9, 1.0]
start = {{ position = [1.0, 0.0, 0.0] }}
[body.target]
mass = 3.0
inertia = [0.2, 0.2, 0.2]
[joint.arm]
type = "revolute"
parent = "craft"
child = "target"
origin = [0.0, 1.0, 0.0]
[port.thruster]
frame = "cue"
impulse = true
[contact.shot]
a = "cue"
b = "target"
normal = [-1.0, 0.0, 0.0]
reach = 10.0
e = {e}
e_t = 0.3
mu = {mu}
"""
MOMENTA = [f"system.{name}[{i}]" for name in ("momentum", "angular_momentum") for i in (1, 2, 3)]
REPORT = [f"shot.{name}[{i}]" for name in ("impulse", "velocity_before", "velocity_after") for i in (1, 2, 3)]


@pytest.fixture(params=FORMULATIONS)
def archive(request, build):
    return build(SPEC.format(formulation=request.param, e=0.5, mu=0.4))


def test_impact_is_commanded_in_model_exchange(archive, within):
    """The states jump at the event, once for each rise of the command; the outputs of the report
    keep their values until the next impact."""
    with ModelExchange(archive) as me:
        me.integrate([0.0, 0.5], ["shot.count"], rtol=1e-10)
        before, x = me.read(MOMENTA), me.x
        me.fmu.enterEventMode()
        me.set({"shot.impact": 1.0})
        assert me.discrete(), "the values of the states have changed"
        assert np.abs(me.x - x).max() > 0.1
        within("momentum over an impact", np.abs(me.read(MOMENTA) - before).max(), 1e-13, "round-off of 1 kg·m/s")
        report = me.read(REPORT)
        impulse, u, after = report[:3], report[3:6], report[6:]
        assert abs(after[0] + 0.5 * u[0]) < 1e-14, "the normal's velocity is given back by half"
        assert abs(me.read(["shot.energy_change"])[0] - impulse @ (u + after) / 2) < 1e-14
        assert me.read(["shot.status", "shot.count"]).tolist() == [1.0, 1.0]
        assert any('"shot" impacts' in text for _, category, text in me.messages if category == "logEvents")
        # A command that stays on has no further effect; switched off and on again, it has none
        # either, since the balls separate.
        assert not me.event()
        me.fmu.enterEventMode()
        me.set({"shot.impact": 0.0})
        assert not me.discrete()
        # A command set outside Event Mode is reported by fmi2CompletedIntegratorStep.
        me.set({"shot.impact": 1.0})
        x = me.x
        assert me.fmu.completedIntegratorStep() == (1, 0)
        assert not me.event(), "they move apart: no state changes"
        assert (me.x == x).all()
        assert me.read(["shot.status", "shot.count"]).tolist() == [3.0, 1.0]


def test_impact_is_commanded_in_co_simulation(archive):
    """The impulses are the same as in Model Exchange, at a communication point."""
    with ModelExchange(archive) as me, CoSimulation(archive, tolerance=1e-10) as cs:
        me.integrate([0.0, 0.5], ["shot.count"], rtol=1e-10)
        me.set({"shot.impact": 1.0})
        me.event()
        cs.to(0.5)
        cs.set({"shot.impact": 1.0})
        cs.to(0.6)
        assert np.abs(cs.read(REPORT) - me.read(REPORT)).max() < 1e-8
        kick = {"thruster.impulse[1]": 0.8, "thruster.impulse[2]": -0.5, "thruster.impact": 1.0}
        momentum = cs.read(MOMENTA)[:3]
        cs.set(kick)
        cs.to(0.7)
        cs.to(0.8)
        assert np.abs(cs.read(MOMENTA)[:3] - momentum - [0.8, -0.5, 0.0]).max() < 1e-10


def test_impact_report_is_part_of_the_saved_state(archive):
    """A restored state has the report of its impact, and continues with the same bits."""
    with CoSimulation(archive, tolerance=1e-8) as cs:
        cs.set({"shot.impact": 1.0})
        cs.to(0.2)
        state = cs.fmu.getFMUstate()
        data = cs.fmu.serializeFMUstate(state)
        struck = cs.read(REPORT)
        cs.to(0.7)
        end = cs.read(MOMENTA + ["shot.status", "shot.count", "target.r[1]", "cue.v[1]"])
    with CoSimulation(archive, tolerance=1e-8) as other:
        assert not other.read(REPORT).any()
        other.fmu.setFMUstate(other.fmu.deSerializeFMUstate(data))
        other.t = 0.2
        assert (other.read(REPORT) == struck).all() and np.abs(struck).max() > 0.1
        other.to(0.7)
        assert (other.read(MOMENTA + ["shot.status", "shot.count", "target.r[1]", "cue.v[1]"]) == end).all()
        assert end[7] == 1.0, "the command is still on: no second impact"


@pytest.mark.parametrize("interface", ["ModelExchange", "CoSimulation"])
def test_impact_is_commanded_by_an_input_table(build, interface):
    """FMPy sets the command from a table, interpolated at communication points; there is one
    impact."""
    archive = build(SPEC.format(formulation="recursive", e=1.0, mu=0.0))
    table = np.array([(0.0, 0.0), (0.3, 0.0), (0.3, 1.0), (1.0, 1.0)], dtype=[("time", float), ("shot.impact", float)])
    end = fmpy.simulate_fmu(
        str(archive.path),
        fmi_type=interface,
        stop_time=1.0,
        output_interval=0.1,
        relative_tolerance=1e-8,
        input=table,
        output=["shot.count", "shot.restitution", "system.energy"],
    )
    assert end["shot.count"][-1] == 1.0 and end["shot.restitution"][-1] == pytest.approx(1.0, abs=1e-12)
    assert end["shot.count"][2] == 0.0, "not before the table's step"
    assert np.ptp(end["system.energy"]) < 1e-6


def test_signal_commands_an_impact_at_its_time(tmp_path):
    """A step signal at 0.25 s: the impact is exactly at that time, also in a run of the command
    line."""
    text = SPEC.format(formulation="recursive", e=1.0, mu=0.0)
    signal = '[signal."shot.impact"]\ntype = "step"\nfrom = 0.25\nfrom_importer = false\n[experiment]\nstop_time = 0.5\nstep = 0.05\n'
    (tmp_path / "shot.toml").write_text(text + signal)
    told = grapple("simulate", tmp_path / "shot.toml", "-o", tmp_path / "shot.csv", "--page", tmp_path / "shot.html").stdout
    rows = np.genfromtxt(tmp_path / "shot.csv", delimiter=",", names=True, deletechars="")
    count = next(name for name in rows.dtype.names if "shot" in name and "count" in name)
    assert rows[count][0] == 0.0 and rows[count][-1] == 1.0
    assert "t = 0.25 s" in told, told


CATCH = SPEC.replace("reach = 10.0", "reach = 1.5").split("e = {e}")[0] + 'law = "{law}"\n'
POSE = [f"{body}.{name}[{i}]" for body in ("cue", "craft") for name in ("r", "v") for i in (1, 2, 3)]


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("law", ["capture_pin", "capture_grasp"])
def test_capture_and_release_are_commanded(build, within, formulation, law):
    """Both interfaces capture, hold and release alike; momentum is conserved, and the captured
    frames do not drift apart."""
    archive = build(CATCH.format(formulation=formulation, law=law))
    with ModelExchange(archive) as me, CoSimulation(archive, tolerance=1e-10) as cs:
        before = me.read(MOMENTA)
        me.fmu.enterEventMode()
        me.set({"shot.capture": 1.0})
        assert me.discrete(), "the values of the states have changed"
        cs.set({"shot.capture": 1.0})
        rows = me.integrate([0.0, 1.0, 2.0], POSE + ["shot.captured", "shot.violation"], rtol=1e-10)
        other = cs.run([1.0, 2.0], POSE + ["shot.captured", "shot.violation"])
        assert (rows[:, -2] == 1.0).all()
        within(f"{law}, {formulation}: drift, m", np.maximum(rows[-1, -1], other[-1, -1]), 1e-9, "closed by the gains, at 1e-10")
        within(f"{law}, {formulation}: ME against CS", np.abs(rows[1:, :-2] - other[:, :-2]).max(), 1e-7, "two integrators at 1e-10")
        assert np.abs(cs.read(MOMENTA) - before).max() < 1e-9
        assert np.abs(cs.read(["shot.force[1]", "shot.force[2]"])).max() > 1e-4
        cs.set({"shot.capture": 0.0})
        cs.to(2.1)
        assert not cs.read(["shot.captured", "shot.force[1]", "shot.force[2]"]).any()
        assert any('"shot" releases' in text for _, _, text in cs.messages)


BALLS = """
name = "balls"
formulation = "{formulation}"
[body.cue]
mass = 2.0
inertia = [0.1, 0.1, 0.1]
start = {{ velocity = [1.0, 0.1, 0.05], angular_velocity = [0.3, 0.2, -0.4] }}
[body.target]
mass = 3.0
inertia = [0.2, 0.2, 0.2]
start = {{ position = [1.0, 0.0, 0.0] }}
[contact.shot]
a = "cue"
b = "target"
surface = "sphere"
radius_a = 0.1
radius_b = 0.2
e = 0.7
mu = 0.2
"""
# An arm with a flexible link swings its tip against a ball that passes.
ARM = """
name = "arm"
formulation = "{formulation}"
[body.craft]
mass = 50.0
inertia = [8.0, 9.0, 10.0]
[body.boom.beam]
length = 3.0
mass_per_length = 0.8
polar_inertia_per_length = 0.001
EI = 60.0
bending_y = 1
bending_z = 2
damping_ratio = 0.01
[joint.shoulder]
type = "revolute"
parent = "craft"
child = "boom"
origin = [0.5, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
start = {{ rate = 0.4 }}
[frame.tip]
body = "boom"
origin = [3.0, 0.0, 0.0]
[body.target]
mass = 3.0
inertia = [0.2, 0.2, 0.2]
start = {{ position = [3.3, 1.5, 0.0], velocity = [-0.05, -0.02, 0.01] }}
[contact.shot]
a = "tip"
b = "target"
surface = "sphere"
radius_a = 0.05
radius_b = 0.2
e = 0.7
mu = 0.2
"""


def struck(archive, interface, tolerance, stop):
    """Simulates; returns the time of the first impact, and the motion at the end."""
    names = ["shot.count", "shot.time", "target.v[1]", "target.v[2]", "target.r[1]"]
    rows = fmpy.simulate_fmu(
        str(archive.path),
        fmi_type=interface,
        solver="CVode",
        stop_time=stop,
        output_interval=stop / 20,
        relative_tolerance=tolerance,
        output=names,
    )
    return rows["shot.time"][rows["shot.count"] == 1.0][0], np.array([rows[name][-1] for name in names[2:]])


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_impact_of_free_bodies_has_the_same_time_in_both_interfaces(build, within, formulation):
    """CVode's root in Model Exchange and the root inside the step of Co-Simulation agree with the
    time at which the centres, on straight lines, have the distance 0.3 m."""
    archive = build(BALLS.format(formulation=formulation))
    v = np.array([1.0, 0.1, 0.05])
    t = (v[0] - np.sqrt(v[0] ** 2 - v @ v * (1 - 0.3**2))) / (v @ v)
    me, after = struck(archive, "ModelExchange", 1e-10, 2.0)
    cs, other = struck(archive, "CoSimulation", 1e-10, 2.0)
    within(f"{formulation}: ME, s", abs(me - t), 1e-8, "a hundred times CVode's tolerance of 1e-10")
    within(f"{formulation}: CS, s", abs(cs - t), 1e-12, "straight lines, and a root to round-off")
    within(f"{formulation}: motion after it", np.abs(after - other).max(), 1e-7, "two integrators at 1e-10")


def test_impact_of_an_arm_has_the_same_time_in_both_interfaces(build, within):
    """The difference of the impact's time decreases with the tolerance."""
    archive = build(ARM.format(formulation="recursive"))
    best, _ = struck(archive, "CoSimulation", 1e-12, 4.0)
    off = {}
    for tolerance in (1e-5, 1e-7, 1e-10):
        off[tolerance] = [abs(struck(archive, way, tolerance, 4.0)[0] - best) for way in ("ModelExchange", "CoSimulation")]
        print(f"tolerance {tolerance:.0e}: ME {off[tolerance][0]:.1e} s, CS {off[tolerance][1]:.1e} s off")
    within("an arm: ME against CS, s", sum(off[1e-10]), 1e-5, "two integrators at 1e-10")
    assert max(off[1e-7]) < max(off[1e-5]) and max(off[1e-10]) < max(off[1e-7])


def test_a_ball_bounces_in_model_exchange_too(build, within):
    """Each impact is one event of the importer, at its closed-form time."""
    archive = build(
        """
name = "bounce"
[environment]
gravity = [0.0, 0.0, -9.81]
[body.ball]
mass = 2.0
inertia = [0.01, 0.01, 0.01]
start = { position = [0.0, 0.0, 1.1] }
[contact.floor]
a = "ball"
b = "world"
surface = "plane"
radius_a = 0.1
e = 0.8
"""
    )
    fall = np.sqrt(2 / 9.81)
    times = fall * (2 * np.cumsum(0.8 ** np.arange(8)) - 1)
    for interface, tolerance in (("ModelExchange", 1e-8), ("CoSimulation", 1e-12)):
        rows = fmpy.simulate_fmu(
            str(archive.path),
            fmi_type=interface,
            solver="CVode",
            stop_time=2.5,
            output_interval=0.01,
            relative_tolerance=1e-10,
            output=["floor.count", "floor.time", "floor.gap"],
        )
        seen = np.array([rows["floor.time"][rows["floor.count"] == k].max() for k in range(1, 5)])
        within(f"{interface}: four bounces, s", np.abs(seen - times[:4]).max(), tolerance, "the host's root, or ours to round-off")
        assert rows["floor.gap"].min() > -1e-8


def test_too_many_impacts_are_an_error_and_the_instance_stays_usable(build):
    """The step fails with the contact's name in the log; the instance returns the time reached, and
    a saved state can be restored."""
    archive = build(BALLS.format(formulation="recursive").replace("e = 0.7\nmu = 0.2", "e = 0.0") + """
[port.push]
frame = "cue"
""")
    with CoSimulation(archive, tolerance=1e-8) as cs:
        state = cs.fmu.getFMUstate()
        cs.set({"push.f[1]": 5.0})
        with pytest.raises(FMICallException):
            for k in range(1, 30):
                cs.to(0.1 * k)
        assert any('contact "shot" chatters' in text for _, _, text in cs.messages), cs.messages
        assert cs.read(["shot.count"])[0] >= 100
        cs.fmu.setFMUstate(state)
        cs.t = 0.0
        cs.set({"push.f[1]": 0.0})
        cs.to(0.5)
        assert cs.read(["shot.count"])[0] == 0.0
