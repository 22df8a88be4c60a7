"""A free-floating arm, driven by its joints for 60 s: momentum is conserved, and energy changes by the work alone.

Drifts are relative to the greatest sum of the bodies' momentum magnitudes over the run (Σ|mᵢvᵢ|, Σ|hᵢ|),
because the total is zero throughout.
"""

import numpy as np
import pytest

from fmu import CoSimulation

TOLERANCES = [1e-8, 1e-10, 1e-12]
TIMES = np.linspace(0.0, 60.0, 601)
SCALARS = ["momentum_scale", "angular_momentum_scale", "kinetic_energy", "energy", "work"]
VECTORS = ["momentum", "angular_momentum"]
NAMES = [f"system.{s}" for s in SCALARS] + [f"system.{v}[{i}]" for v in VECTORS for i in (1, 2, 3)]


def drifts(archive, tolerance):
    with CoSimulation(archive, tolerance=tolerance) as cs:
        rows = cs.run(TIMES, NAMES)
    columns = dict(zip(NAMES, rows.T))
    scalar = {s: columns[f"system.{s}"] for s in SCALARS}
    vector = {v: np.array([columns[f"system.{v}[{i}]"] for i in (1, 2, 3)]) for v in VECTORS}
    assert scalar["kinetic_energy"].max() > 0.0, "the arm moves"

    def drift(v):
        return np.linalg.norm(vector[v] - vector[v][:, :1], axis=0).max() / scalar[f"{v}_scale"].max()

    balance = (scalar["energy"] - scalar["energy"][0]) - (scalar["work"] - scalar["work"][0])
    return {
        "momentum": drift("momentum"),
        "angular momentum": drift("angular_momentum"),
        "energy minus work": np.abs(balance).max() / scalar["kinetic_energy"].max(),
    }


@pytest.fixture(scope="module")
def runs(examples):
    return {tolerance: drifts(examples["ssrms_type"], tolerance) for tolerance in TOLERANCES}


@pytest.mark.parametrize("what", ["momentum", "angular momentum"])
def test_momentum_is_conserved_when_the_base_floats(what, runs, within):
    within(
        f"ssrms_type, 60 s at 1e-12: drift of {what}",
        runs[1e-12][what],
        1e-11,
        "ten times the tolerance over some hundred steps of independent error",
    )


def test_energy_changes_by_the_work_of_the_motors(runs, within):
    within(
        "ssrms_type, 60 s at 1e-12: energy minus work, of the peak kinetic energy",
        runs[1e-12]["energy minus work"],
        1e-10,
        "a hundred times the tolerance",
    )


@pytest.mark.parametrize("what", ["momentum", "angular momentum", "energy minus work"])
def test_drift_falls_at_least_tenfold_per_hundredfold_tolerance(what, runs):
    coarse, middle, fine = (runs[tolerance][what] for tolerance in TOLERANCES)
    print(f"{what}: {coarse:.1e}, {middle:.1e}, {fine:.1e} at {TOLERANCES}")
    # Errors below 1e-14 are round-off, which does not decrease with the tolerance.
    floor = 1e-14
    assert middle <= max(coarse / 10, floor), f"{what}: {coarse:.1e} at 1e-8, {middle:.1e} at 1e-10"
    assert fine <= max(middle / 10, floor), f"{what}: {middle:.1e} at 1e-10, {fine:.1e} at 1e-12"
