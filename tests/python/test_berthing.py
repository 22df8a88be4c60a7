"""The study of Cyril et al.'s paper, run as by a user: its impacts, the motion after them, its figures, and its page.

Impacts are compared with those of an independent planar program (`planar_berthing.py`), and with
printed numbers of another program, up to their last decimal.
"""

import os
from pathlib import Path

import numpy as np
import pytest

from pages import figures, judge_figure, judge_page
from planar_berthing import impact
from programs import program

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "berthing-1998.md"

study = program("berthing/study")

LAWS = dict(pin="pin", grasp="grasp", elastic=(0.0, 0.0), half=(0.5, 0.5), none=(1.0, 0.0), rough=(0.5, 0.8), lively=(0.2, 0.5))
REFERENCE = {  # impulse, N·s; its number of decimals; energy, J
    "pin_locked_flexible": ((0.4185007, -1.5107245), 7, -0.0604642),
    "elastic_locked_flexible": ((0.0, -1.7776519), 7, 0.0),
    "half_locked_flexible": ((0.2092504, -1.8817413), 7, -0.0302321),
    "pin_braked_flexible": ((0.4187802, -1.5106029), 7, None),
    "pin_locked_rigid": ((0.361998, -2.138570), 6, None),
}
REFUSED = {"none_locked", "none_free", "none_braked", "half_free"}  # with flexible and with rigid links
ELASTIC_BY_MODES = {0: 3.549, 1: 2.778, 2: 1.778, 3: 1.435, 5: 0.937, 10: 0.481}  # N·s
PLASTIC_BY_MODES = {0: 2.139, 1: 1.854, 2: 1.511, 3: 1.453, 5: 1.340, 10: 1.248}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("berthing")


@pytest.fixture(scope="module")
def everything(directory):
    """`(results, by_modes, figures)` of one run of the study."""
    return study.study(os.environ["GRAPPLE"], directory)


@pytest.fixture(scope="module")
def reports(everything):
    return {key: report for key, (report, _) in everything[0].items()}


@pytest.fixture(scope="module")
def motions(everything):
    return {key: motion for key, (_, motion) in everything[0].items() if motion}


@pytest.fixture(scope="module")
def calms(directory):
    """The captured system, held in three ways: the runs by key, and their figure."""
    return study.study_rest(os.environ["GRAPPLE"], directory)


@pytest.mark.parametrize("key", REFERENCE)
def test_impulses_are_those_of_an_independent_program(key, reports, within):
    impulse, decimals, energy = REFERENCE[key]
    last = 10.0**-decimals
    off = np.abs(reports[key].impulse - impulse).max()
    within(f"berthing: impulse to {decimals} decimals, N·s", off, last, "the reference's last digit")
    if energy is not None:
        within("berthing: energy, J", abs(reports[key].energy - energy), 1e-7, "the reference's last digit")


@pytest.mark.parametrize("case", study.CASES, ids=lambda case: case.key)
def test_every_impact_is_that_of_the_planar_program(case, reports, within):
    """The impulse and the contact's other outputs. A braked hand has its impact 1 ns later: the arm
    has moved by 1e-10 m."""
    told, expected = reports[case.key], impact(LAWS[case.impact.key], case.hand, case.modes)
    assert told.done == (expected.p is not None)
    off = [told.kappa - expected.kappa, told.virtual_mass / expected.virtual_mass - 1.0]
    if case.impact.key != "grasp":
        off += np.subtract(told.band, expected.band).tolist()
    if told.done:
        off += (told.impulse - expected.p[:2]).tolist()
        off += [told.energy - expected.energy, told.restitution - expected.restitution]
        if case.impact.key == "grasp":
            off.append(told.moment - expected.p[2])
        within("berthing: rates after, °/s", np.abs(told.rates - expected.rates).max(), 2e-5, "10 ns later, hundreds of °/s²")
    within("berthing: impact against the planar program", np.abs(off).max(), 1e-8, "quadrature, and 1 ns")


def test_impossible_impact_is_refused_and_reported(reports):
    refused = {key for key, report in reports.items() if not report.done}
    assert refused == {f"{name}_{links}" for name in REFUSED for links in ("flexible", "rigid")}
    told = reports["none_locked_flexible"]
    assert told.band[1] == pytest.approx(0.738122, abs=5e-7)
    assert all(number in told.message for number in ("r_E = 1", "r_f = 0", "0 and 0.738122")), told.message
    assert not told.impulse.any() and (told.before == told.after).all()


def test_momentum_energy_and_captured_pose_are_constant_for_a_minute(motions, within):
    assert len(motions) == len(study.CASES) - 2 * len(REFUSED)
    for motion in motions.values():
        assert motion.t[-1] == 60.0
        worst = np.maximum(motion.momentum, motion.angular_momentum)
        within("berthing: momentum over 60 s, of the bodies' own", worst, 1e-9, "tolerance 3e-11")
        within("berthing: energy less work over 60 s, J", motion.energy_error, 1e-10, "tolerance 3e-11")
        within("berthing: hold over 60 s, m", motion.drift, 1e-9, "closed by the gains, at 3e-11")


def test_payload_extends_the_arm_reverses_and_turns_the_spacecraft(motions):
    """The paper's statements on its plastic case; they do not hold for a grasp with a locked
    hand."""
    for key in ("pin_locked", "pin_free", "grasp_free"):
        for links in ("flexible", "rigid"):
            motion = motions[f"{key}_{links}"]
            straight, back = motion.crosses(motion.joints[:, 1]), motion.crosses(motion.spin)
            assert 34.0 < straight < back < 40.0
            assert abs(np.interp(straight, motion.t, motion.pitch)) < 0.01 < 0.14 < motion.pitch[-1]
    assert motions["grasp_locked_flexible"].joints[:, 1].min() > 30.0
    assert np.abs(motions["grasp_locked_flexible"].turn).max() < 10.0


def test_a_locked_arm_that_rebounds_and_bends_touches_again(motions):
    for key in ("elastic", "half", "rough", "lively"):
        assert 0.7 < motions[f"{key}_locked_flexible"].touches_again < 1.2
    for key in ("elastic_locked_rigid", "half_locked_rigid"):
        assert motions[key].touches_again is None
    ways = [np.linalg.norm(np.diff(motions[f"{key}_locked_flexible"].arm[[0, -1], -1], axis=0)) for key in ("half", "lively")]
    assert ways[1] > 1.15 * ways[0], "with less energy lost the tip moves further"
    folds = [motions[f"elastic_locked_{links}"].joints[-1, 1] for links in ("rigid", "flexible")]
    assert folds[0] > 110.0 and folds[1] < 45.0, "the rigid arm folds back, the flexible one does not"


def test_flexibility_matters_more_to_rebounds_than_to_captures(motions):
    def apart(key):
        return np.linalg.norm(motions[f"{key}_flexible"].arm[-1, -1] - motions[f"{key}_rigid"].arm[-1, -1])

    captured, parted = np.max([apart(key) for key in ("pin_locked", "pin_free", "grasp_free")]), min(map(apart, ("elastic_locked", "half_locked")))
    assert captured < 0.1 and parted > 5.0, (captured, parted)


def test_a_brake_just_before_and_a_lock_from_the_start_are_nearly_the_same(motions):
    for key in ("pin", "grasp", "elastic", "half"):
        locked, braked = (motions[f"{key}_{hand}_flexible"] for hand in ("locked", "braked"))
        assert 1e-6 < np.abs(locked.pitch - braked.pitch).max() < 1e-3
        assert np.abs(locked.joints - braked.joints).max() < 0.1


def test_modes_are_part_of_the_model(everything):
    for modes, elastic, plastic in everything[1]:
        assert -elastic.impulse[1] == pytest.approx(ELASTIC_BY_MODES[modes], abs=5.1e-4)
        assert -plastic.impulse[1] == pytest.approx(PLASTIC_BY_MODES[modes], abs=5.1e-4)


def test_servos_end_all_motion_of_the_captured_spacecraft_except_the_common_drift(calms, within):
    """The remaining velocity is momentum over mass, which a moment cannot change."""
    servos, braked, free = (calms[0][key] for key in ("servos", "braked", "free"))
    assert 120.0 < servos.rests_from < 240.0
    assert braked.rests_from is None and free.rests_from is None
    k = servos.at(300.0)
    assert servos.rate[k] < 1e-3 and servos.speed[k] < 1e-4 and servos.energy[k] < 1e-5 * servos.energy[0]
    assert braked.energy[-1] > 0.5 and abs(free.energy[-1] / free.energy[0] - 1.0) < 1e-8
    assert np.linalg.norm(servos.drift[-1]) == pytest.approx(2.519e-4, abs=1e-7)
    within("berthing: velocities less momentum over mass, m/s", servos.speed[-1], 1e-5, "after 10 minutes")
    for calm in calms[0].values():
        within("berthing: momentum over 10 minutes, of the bodies' own", calm.momentum, 1e-9, "tolerance 1e-10")
        within("berthing: hold over 10 minutes, m", calm.gap, 1e-9, "tolerance 1e-10")
    judge_figure(calms[1])


def test_the_figures_are_svg_and_small(everything):
    assert len(everything[2]) == 6
    for figure in everything[2]:
        judge_figure(figure)


def test_the_page_shows_the_tables_that_the_study_writes(everything, calms, directory):
    written = (directory / "table.md").read_text(encoding="utf-8") + "\n" + (directory / "rest.md").read_text(encoding="utf-8")
    assert judge_page(PAGE, written) == 14


def test_the_page_shows_figures_that_exist(everything):
    shown = figures(PAGE)
    assert {path.name for path in shown} == {path.name for path in everything[2]} | {"rest.svg"}
    for path in shown:
        judge_figure(path)
