"""Orbit, motors, wheels and thrusters through the FMI."""

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException

from fmu import FORMULATIONS, CoSimulation

MU, RADIUS = 3.986e14, 7136636.0
# A hub in orbit, aligned with the LVLH frame, with a wheel and a thruster; the torque limit of its
# arm's motor is reached when the servo's reference steps.
SPEC = """
name = "hub"
formulation = "{formulation}"
[environment.orbit]
semi_major_axis = 7136636.0
mu = 3.986e14
inclination_deg = 28.0
[body.hub]
mass = 50.0
inertia = [40.0, 45.0, 50.0]
start = {{ axes = "lvlh", position = [0.0, 20.0, 0.0] }}
[body.arm]
mass = 5.0
mass_centre = [0.5, 0.0, 0.0]
inertia = [0.1, 1.0, 1.0]
[joint.shoulder]
type = "revolute"
parent = "hub"
child = "arm"
origin = [0.5, 0.0, 0.0]
servo = {{ kp = 8.0, kd = 12.0 }}
motor = {{ torque_limit = 1.5 }}
[wheel.spin]
body = "hub"
mass = 2.0
inertia = 0.02
torque_limit = 0.5
rate_limit = 100.0
[thruster.jet]
frame = "hub"
direction = [0.0, 1.0, 0.0]
thrust = 2.0
"""
NAMES = [
    "shoulder.q",
    "shoulder.motor_torque",
    "spin.qd",
    "spin.motor_torque",
    "hub.r_lvlh[2]",
    "hub.rpy_lvlh[3]",
    "jet.force",
]


@pytest.fixture(params=FORMULATIONS)
def archive(request, build):
    return build(SPEC.format(formulation=request.param))


def commands(stop):
    """Returns the inputs: a step of the shoulder's reference at 1 s, the wheel driven to its rate
    limit and back, a pulse of the thruster."""
    signals = np.dtype([(name, float) for name in ("time", "shoulder.q_ref", "spin.tau", "jet.on")])
    rows = [(0, 0, 0.4, 0), (1, 0, 0.4, 0), (1, 1, 0.4, 0), (3, 1, 0.4, 0), (3, 1, 0.4, 1), (4, 1, 0.4, 1), (4, 1, 0.4, 0)]
    rows += [(7, 1, 0.4, 0), (7, 1, -2.0, 0), (stop, 1, -2.0, 0)]
    return np.array(rows, signals)


def test_motors_saturate_alike_in_both_interfaces(archive, within):
    """Model Exchange with FMPy's CVode, which locates the zeros of the event indicators, agrees
    with Co-Simulation under the same commands."""
    stop, step = 10.0, 0.05
    runs = {}
    for kind, solver in (("ModelExchange", "CVode"), ("CoSimulation", None)):
        runs[kind] = fmpy.simulate_fmu(
            str(archive.directory),
            model_description=archive.description,
            validate=False,
            fmi_type=kind,
            solver=solver,
            relative_tolerance=1e-10,
            stop_time=stop,
            step_size=step,
            output_interval=step,
            input=commands(stop),
            output=NAMES,
            record_events=False,
        )
    me, cs = (runs[kind] for kind in runs)
    told = fmpy.simulate_fmu(str(archive.directory), validate=False, fmi_type="ModelExchange", stop_time=stop, step_size=step, input=commands(stop), record_events=True)["time"]
    found = told[1:][np.diff(told) == 0]
    # The commands change at whole seconds; events in between are limits of torque or rate, located
    # by their indicators.
    assert (np.abs(found - np.round(found)) > 1e-3).sum() >= 2
    n = min(len(me), len(cs))
    assert np.allclose(me["time"][:n], cs["time"][:n], atol=1e-9)
    # At the instants of the commands' steps an output may have the value before or after.
    steps = np.min(np.abs(me["time"][:n, None] - np.array([1.0, 3.0, 4.0, 7.0])), axis=1) > 1e-6
    for name in NAMES:
        apart = np.abs(me[name][:n] - cs[name][:n])[steps].max()
        within(f"{name}: CVode against Co-Simulation", apart / max(1.0, np.abs(cs[name]).max()), 1e-7, "tolerance 1e-10, ten seconds with corners")
    for run in (me, cs):
        assert np.abs(run["shoulder.motor_torque"]).max() <= 1.5 and (run["shoulder.motor_torque"] == 1.5).any()
        # At its rate limit the wheel's motor gives no more torque in that direction; driven beyond
        # its torque limit in the other, it gives the limit.
        # (It still accelerates with the base, by less than 1e-3 rad/s²: 0.02 kg·m² times that.)
        assert abs(run["spin.qd"].max() - 100.0) < 1e-3 and np.abs(run["spin.motor_torque"]).min() < 2e-5
        assert run["spin.motor_torque"].min() == -0.5
        assert set(run["jet.force"]) == {0.0, 2.0}


def test_the_orbit_is_a_parameter(build, within):
    """An importer sets another orbit: the spacecraft starts aligned with its LVLH frame, and the
    orbital rate agrees."""
    archive = build(SPEC.format(formulation="recursive"))
    for a, e in ((RADIUS, 0.0), (8.0e6, 0.1)):
        with CoSimulation(archive, start={"orbit.semi_major_axis": a, "orbit.eccentricity": e}) as cs:
            r, v, rate = (np.array(cs.read(names)) for names in (["orbit.r[1]", "orbit.r[2]", "orbit.r[3]"], ["orbit.v[1]", "orbit.v[2]", "orbit.v[3]"], ["orbit.rate"]))
            energy = 0.5 * v @ v - MU / np.linalg.norm(r)
            within("energy of the reference orbit", abs(energy * 2 * a / MU + 1), 1e-14, "round-off")
            within("rate of the LVLH frame", abs(rate[0] * (r @ r) / np.linalg.norm(np.cross(r, v)) - 1), 1e-14, "round-off")
            place = np.array(cs.read(["hub.r_lvlh[1]", "hub.r_lvlh[2]", "hub.r_lvlh[3]", "hub.rpy_lvlh[3]"]))
            within("where the hub starts in LVLH axes", np.abs(place - [0, 20, 0, 0]).max(), 1e-14, "round-off of 20 m")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("orbit.semi_major_axis", 4.0e5, "inside the central body"),
        ("orbit.eccentricity", 1.5, "not that of a closed orbit"),
        ("orbit.semi_major_axis", float("nan"), "not finite"),
        ("spin.torque_limit", 0.0, "not positive"),
    ],
)
def test_a_wrong_number_is_refused_with_its_reason(build, name, value, words):
    instance = CoSimulation.__new__(CoSimulation)
    try:
        with pytest.raises(FMICallException):
            instance.__init__(build(SPEC.format(formulation="recursive")), start={name: value})
    finally:
        said = " ".join(message for _, _, message in instance.messages)
        instance.close()
    assert words in said, said
