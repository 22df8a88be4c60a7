"""Examples in folders of their own: Model Exchange agrees with Co-Simulation, and what is conserved is conserved.

They have values that vanish up to round-off, or samples with noise, so that the general comparisons of all outputs do not apply.
"""

import fmpy
import numpy as np
import pytest
from fmu import Archive
from native import grapple_fmu as grapple
from programs import EXAMPLES

CASES = {
    "contacts/probe_drogue": (8.0, ["client.w[2]", "probe.v[3]", "servicer.v[1]", "head.gap"]),
    "contacts/crate_on_panel": (1.2, ["crate.r[1]", "crate.w[3]", "panel.eta[3]", "feet.force[3]"]),
    "contacts/gripper": (3.5, ["client.v[3]", "palm.v[3]", "servicer.v[3]", "knuckle_1.q"]),
    "impacts/debris": (2.0, ["satellite.r[3]", "satellite.w[2]", "panel.eta[4]", "debris.v[3]", "strike.impulse[3]"]),
    "environment/low_orbit": (20.0, ["bus.w[1]", "bus.w[2]", "left_array.eta[1]"]),
    "tanks/kick_stage": (4.0, ["stage.w[1]", "stage.v[3]", "boom_x.eta[1]", "main.propellant"]),
    "tanks/slosh_and_gyros": (4.0, ["servicer.w[2]", "fuel_mode1.q[2]", "left_array.etad[1]", "right_array.etad[1]"]),
    "tethers/harpoon": (4.0, ["harpoon.r[1]", "line.unwound", "debris.w[3]", "hit.impulse[1]"]),
    "tethers/tug": (60.0, ["servicer.r[1]", "line.unwound", "line_point1.q[2]"]),
}


@pytest.mark.parametrize("name", CASES)
def test_both_interfaces_agree(name, tmp_path, within):
    stop, names = CASES[name]
    # CVODE takes at most 500 steps between two outputs. Contacts that are pressed and masses on a
    # reel are stiff.
    parts = 500 if name in ("contacts/gripper", "tethers/harpoon", "tethers/tug") else 20
    archive = Archive.build(EXAMPLES / f"{name}.toml", tmp_path)
    runs = {}
    for kind, tolerance in (("ModelExchange", 1e-9), ("CoSimulation", 1e-11)):
        runs[kind] = fmpy.simulate_fmu(
            str(archive.path),
            fmi_type=kind,
            stop_time=stop,
            output_interval=stop / parts,
            output=names,
            relative_tolerance=tolerance,
            record_events=False,
        )
    me, cs = runs["ModelExchange"], runs["CoSimulation"]
    for column in names:
        off = np.abs(me[column] - cs[column]).max() / max(np.ptp(cs[column]), 1e-6)
        within(f"{name}: Model Exchange against Co-Simulation", off, 2e-5, "CVODE at 1e-9")


def test_imu_on_a_flexible_mast_measures_its_vibration():
    """The torque of the hinge excites the mast: 0.09 m/s² across it, with a noise of 1e-3 m/s²."""
    run = grapple.load(EXAMPLES / "sensors/satellite.toml").simulate(stop_time=4.0, step=0.05)
    assert 0.05 < np.abs(run["imu.f[2]"]).max() < 0.2
