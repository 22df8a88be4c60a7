"""The study of Kłak and Jarzębowska's paper, run as by a user: its numbers, its figures, and its page.

The reference numbers are from two programs independent of the tool, a planar Lagrange model and a
saddle-point model; they agree to 4e-10 mm and are given with five decimals of a mm and of a degree.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from pages import figures, judge_figure, judge_page
from programs import program

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "klak-2020.md"

study = program("klak_2020/study")

DECIMALS = 0.5e-5  # rounding of the reference, added to every tolerance
MM = 1e-5 + DECIMALS
DEGREES = 1e-6 + DECIMALS
SAMPLE = study.STEP / 2 + 1e-9  # s: a peak's time is that of a sample

# The columns: tip, its time, tip at the end, undeformed, its time, deflection (mm, s); base, joint
# 1, joint 2 (degrees); eta, its time, eta's rate, its time
FULL = (0.60562, 4.260, 0.36075, 1.69528, 4.753, 1.7156, 0.00114, 0.00423, 0.09835, 8.57793e-4, 0.255, 9.1135e-3, 0.027)
LINEAR = (
    3.66843,
    5.000,
    3.66843,
    3.65572,
    5.000,
    1.7151,
    0.00751,
    0.18892,
    0.22764,
    8.57546e-4,
    0.255,
    9.1135e-3,
    0.027,
)
LITERAL = (
    1.21110,
    4.786,
    0.93197,
    1.71137,
    4.260,
    1.9149,
    0.05552,
    0.09209,
    0.14639,
    9.57455e-4,
    0.272,
    9.7733e-3,
    0.077,
)
REFERENCE = {
    "recursive": FULL,
    "full": FULL,
    "full_rows": FULL,
    "linear": LINEAR,
    "linear_rows": LINEAR,
    "paper_literal": LITERAL,
}
TIP_AT_THE_END = {  # m
    "rigid": (1.20038173, 0.67104602),
    "full": (1.200729915, 0.671140397),
    "linear": (1.199047247, 0.667628929),
    "paper_literal": (1.199646464, 0.670473357),
}
RIGID_ANGLES = (-45.92802927, 48.82037995, 104.92707873)  # degrees


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("klak_2020")


@pytest.fixture(scope="module")
def results(directory):
    """`(motions, comparisons, figures)` of one run of the study."""
    return study.study(os.environ["GRAPPLE"], directory)


@pytest.mark.parametrize("key", REFERENCE)
def test_motion_of_the_flexible_spacecraft_agrees_with_the_reference(key, results, within):
    _, comparisons, _ = results
    c = comparisons[key]
    tip, tip_time, tip_end, undeformed, undeformed_time, deflection, *angles = REFERENCE[key][:9]
    off = np.abs(np.subtract((c.tip, c.tip_end, c.undeformed), (tip, tip_end, undeformed)))
    within("klak_2020: tip against the reference, mm", off.max(), MM, "the reference's decimals")
    within("klak_2020: deflection, mm", abs(c.deflection - deflection), 6e-5, "four decimals")
    off = np.abs(np.subtract((c.base, c.joint_1, c.joint_2), angles))
    within("klak_2020: angles, degrees", off.max(), DEGREES, "the reference's decimals")
    off = np.abs(np.subtract((c.tip_time, c.undeformed_time), (tip_time, undeformed_time)))
    within("klak_2020: times of the peaks, s", off.max(), 2 * SAMPLE, "samples, and three decimals")


@pytest.mark.parametrize("key", REFERENCE)
def test_modal_amplitude_agrees_with_the_reference(key, results, within):
    _, comparisons, _ = results
    c = comparisons[key]
    eta, eta_time, etad, etad_time = REFERENCE[key][9:]
    within("klak_2020: amplitude of the mode", abs(c.eta - eta), 1e-9, "five decimals")
    within("klak_2020: rate of the mode", abs(c.etad - etad), 1e-7, "four decimals")
    off = np.abs(np.subtract((c.eta_time, c.etad_time), (eta_time, etad_time)))
    within("klak_2020: times of the mode's peaks, s", off.max(), 2 * SAMPLE, "samples, and three decimals")


@pytest.mark.parametrize("key", TIP_AT_THE_END)
def test_final_position_of_the_tip_agrees_with_the_reference(key, results, within):
    motions, _, _ = results
    off = 1e3 * np.abs(motions[key].tip[-1, :2] - TIP_AT_THE_END[key])
    within("klak_2020: tip at the end, mm", off.max(), 1e-5, "the reference's decimals")


def test_final_position_of_the_rigid_spacecraft_agrees_with_the_reference(results, within):
    motions, _, _ = results
    off = np.abs(motions["rigid"].angles[-1] - RIGID_ANGLES)
    within("klak_2020: rigid craft's angles at the end, degrees", off.max(), 1e-6, "the reference's decimals")


def test_the_formulations_agree_and_consistent_momentum_rows_change_nothing(results, within):
    motions, _, _ = results
    for key, other in (("full", "recursive"), ("full_rows", "full"), ("linear_rows", "linear")):
        off = study.distance(motions[key].tip, motions[other].tip).max()
        within("klak_2020: tip, one model written in two ways, mm", off, 1e-8, "both are integrated to 1e-12")


def test_only_the_full_coupling_conserves_momentum_and_energy(results, within):
    _, comparisons, _ = results
    for key in ("recursive", "full", "full_rows"):
        c = comparisons[key]
        worst = np.max([c.momentum, c.angular_momentum, c.energy_error])
        within("klak_2020: momentum and energy", worst, 1e-11, "the integrator's error")
    assert comparisons["linear"].momentum > 2e-3
    assert comparisons["paper_literal"].momentum > 7e-3
    assert comparisons["paper_literal"].force == pytest.approx(0.162, abs=5e-4)


def test_the_figures_are_svg_and_small(results):
    _, _, figures = results
    assert len(figures) == 4
    for figure in figures:
        judge_figure(figure)


def test_stabilisation_bounds_the_constraint_violations(directory, within):
    drifts = {drift.gain: drift for drift in study.study_drift(os.environ["GRAPPLE"], directory, longest=5.0)}
    assert drifts[0.0].gap[-1] > 5.0 * drifts[10.0].gap[-1]
    for gain, drift in drifts.items():
        within("klak_2020, drift: gap after 5 s, m", drift.gap[-1], 1e-11, "rk4 with 1 ms")
        within("klak_2020, drift: gap angle after 5 s", drift.gap_angle[-1], 1e-14, "planar: round-off")
        within("klak_2020, drift: energy after 5 s, J", drift.energy_error[-1], 1e-11, "rk4 with 1 ms")
    judge_figure(directory / "drift.svg")


def test_the_page_shows_the_tables_that_the_study_writes(results, directory):
    assert judge_page(PAGE, (directory / "table.md").read_text(encoding="utf-8")) == 4


def test_the_page_shows_figures_that_exist():
    shown = figures(PAGE)
    assert len(shown) == 5
    for figure in shown:
        judge_figure(figure)
