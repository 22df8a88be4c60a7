"""Examples in folders of their own: Model Exchange agrees with Co-Simulation, and what is conserved is conserved.

They have values that vanish up to round-off, or samples with noise, so that the general comparisons of all outputs do not apply.
"""

import fmpy
import numpy as np
import pytest
from fmu import Archive
from fmu import grapple as tool
from native import grapple_fmu as grapple
from programs import EXAMPLES, program

CASES = {
    "contacts/probe_drogue": (8.0, ["client.w[2]", "probe.v[3]", "servicer.v[1]", "head.gap"]),
    "contacts/crate_on_panel": (1.2, ["crate.r[1]", "crate.w[3]", "panel.eta[3]", "feet.force[3]"]),
    "contacts/stack_on_deck": (16.0, ["upper.r[1]", "upper.v[3]", "lower.r[1]", "feet.force[1]"]),
    "contacts/lander": (12.0, ["lander.r[1]", "lander.v[1]", "lander.r[3]", "lander.v[3]"]),
    "contacts/gripper": (3.5, ["client.v[3]", "palm.v[3]", "servicer.v[3]", "knuckle_1.q"]),
    "impacts/debris": (2.0, ["satellite.r[3]", "satellite.w[2]", "panel.eta[4]", "debris.v[3]", "strike.impulse[3]"]),
    "environment/low_orbit": (20.0, ["bus.w[1]", "bus.w[2]", "left_array.eta[1]"]),
    "tanks/kick_stage": (4.0, ["stage.w[1]", "stage.v[3]", "boom_x.eta[1]", "main.propellant"]),
    "tanks/slosh_and_gyros": (4.0, ["servicer.w[2]", "fuel_mode1.q[2]", "left_array.etad[1]", "right_array.etad[1]"]),
    "tethers/harpoon": (4.0, ["harpoon.r[1]", "line.unwound", "debris.w[3]", "hit.impulse[1]"]),
    "tethers/net": (2.0, ["bullet_1.v[2]", "knot_33.r[1]", "knot_12.v[3]", "system.energy"]),
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


@pytest.mark.parametrize("name", CASES)
def test_example_runs_with_its_own_settings(name, tmp_path):
    table = tmp_path / "run.csv"
    tool("simulate", EXAMPLES / f"{name}.toml", "--no-page", "--output", table)
    assert len(table.read_text().splitlines()) > 10


def test_net_is_written_by_its_program():
    assert program("tethers/net").net() == (EXAMPLES / "tethers/net.toml").read_text(encoding="utf-8")


def test_net_wraps_the_client_and_holds_it(within):
    """Until the winches pull, at 4.5 s, energy never grows. From 5 s on the client's mass centre is within the
    convex hull of the knots: in each direction a knot is farther than it by at least the depth."""
    spec = grapple.load(EXAMPLES / "tethers/net.toml")
    run = spec.simulate(progress=False)
    knots = [body for body in spec["body"] if body != "client"]
    energy, work = run["system.energy"], run["system.work"]
    gain = np.diff(energy[run.time <= 4.5]).max()
    within("energy of a net before its winches pull, gained from row to row", gain, 1e-3, "J of 5.9 J: steps at 1e-5")
    within("energy less work of a net", np.abs(energy - work - energy[0]).max(), 5e-3, "J: the same")
    for name, allowed in (("momentum", 1e-12), ("angular_momentum", 1e-5)):
        off = np.linalg.norm(run[f"system.{name}"] - run[f"system.{name}"][0], axis=1).max()
        within(f"{name} of a net", off, allowed, "N·s, N·m·s, of 4 and 6: round-off; attitudes at 1e-5")
    touched = [name for name in knots if (run[f"wrap.{name}.client.gap"] < 0).any()]
    directions = np.random.default_rng(1).normal(size=(1000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    rows = np.flatnonzero(run.time > 5.0)[::5]
    net = np.array([run[f"{name}.r"][rows] - run["client.r"][rows] for name in knots])
    depth = np.einsum("krx,dx->krd", net, directions).max(axis=0).min()
    corners = [run[f"bullet_{k}.r"] for k in range(1, 5)]
    mouth = 0.5 * np.linalg.norm(np.cross(corners[2] - corners[0], corners[3] - corners[1]), axis=1)
    print(f"{len(touched)} knots touched; depth {depth:.3f} m; mouth {mouth.max():.2f} m², then {mouth[-1]:.3f} m²")
    assert len(touched) > 12 and depth > 0.5
    assert mouth.max() > 14.0 and mouth[run.time > 10.0].max() < 1.0


def test_imu_on_a_flexible_mast_measures_its_vibration():
    """The torque of the hinge excites the mast: 0.09 m/s² across it, with a noise of 1e-3 m/s²."""
    run = grapple.load(EXAMPLES / "sensors/satellite.toml").simulate(stop_time=4.0, step=0.05)
    assert 0.05 < np.abs(run["imu.f[2]"]).max() < 0.2
