"""The published two-link spacecraft with rigid links, 5 s: reference numbers to 1e-7 degrees and 1e-8 m.

The numbers are given with eight decimals, accurate to 5e-9; the bounds are wider than that.
"""

import fmpy
import numpy as np
import pytest

from fmu import CoSimulation, ModelExchange

STOP_TIME = 5.0
ANGLES_DEG = {"base": -45.92802927, "shoulder": 48.82037995, "elbow": 104.92707873}
TIP = np.array([1.20038173, 0.67104602])
NAMES = [
    "base.q[1]",
    "base.q[2]",
    "base.q[3]",
    "base.q[4]",
    "shoulder.q",
    "elbow.q",
    "tip.r[1]",
    "tip.r[2]",
    "tip.r[3]",
]


def compare(row, within, how):
    q_w, q_x, q_y, q_z, shoulder, elbow, *tip = row
    within(f"two_link, {how}: base leaves the plane", np.hypot(q_x, q_y), 1e-12, "the motion is planar: round-off")
    within(f"two_link, {how}: tip leaves the plane, m", abs(tip[2]), 1e-12, "the motion is planar: round-off")
    reached = np.degrees([2.0 * np.arctan2(q_z, q_w), shoulder, elbow])
    off = np.abs(reached - list(ANGLES_DEG.values()))
    within(f"two_link, {how}: angles against the reference, degrees", off.max(), 1e-7, "the reference's decimals")
    off = np.abs(tip[:2] - TIP)
    within(f"two_link, {how}: tip against the reference, m", off.max(), 1e-8, "the reference's decimals")


@pytest.mark.parametrize("step", [0.01, 0.5])
def test_co_simulation_reaches_the_reference(step, examples, within):
    with CoSimulation(examples["two_link"], tolerance=1e-12) as cs:
        rows = cs.run(np.arange(1, round(STOP_TIME / step) + 1) * step, NAMES)
    compare(rows[-1], within, "CS at 1e-12")


def test_model_exchange_reaches_the_reference_with_dop853(examples, within):
    with ModelExchange(examples["two_link"]) as me:
        rows = me.integrate([STOP_TIME], NAMES, rtol=1e-12)
    compare(rows[-1], within, "ME with SciPy's DOP853 at 1e-12")


def test_model_exchange_reaches_the_reference_with_cvode(examples, within):
    result = fmpy.simulate_fmu(
        str(examples["two_link"].path),
        fmi_type="ModelExchange",
        solver="CVode",
        relative_tolerance=1e-11,
        stop_time=STOP_TIME,
        output_interval=0.01,
        output=NAMES,
    )
    assert result["time"][-1] == pytest.approx(STOP_TIME, abs=1e-12)
    compare([result[name][-1] for name in NAMES], within, "ME with FMPy's CVode at 1e-11")
