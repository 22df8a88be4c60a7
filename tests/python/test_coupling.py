"""Controllers as FMUs: law, samples and limits in both interfaces, the loop with a spacecraft in three importers, and its page."""

import os
from pathlib import Path

import numpy as np
import pytest
from pages import figures, judge_figure, judge_page
from programs import program

from fmu import Archive, CoSimulation, ModelExchange, grapple

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "coupling.md"

study = program("coupling/study")
# Three steps show the order; with GRAPPLE_LONG the study has all steps of the page.
STEPS = study.STEPS if "GRAPPLE_LONG" in os.environ else study.STEPS[:3]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("coupling")


@pytest.fixture(scope="module")
def text(directory):
    """The tables of one run of the study."""
    return study.study(os.environ["GRAPPLE"], directory, STEPS)


def rows(text, number):
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.split("\n\n")[number].splitlines()[2:]]


def test_a_controller_outside_converges_to_the_servos_inside_at_its_order(text, within):
    for row in rows(text, 0)[1:]:
        for cell, order in ((row[2], 1), (row[4], 2), (row[6], 1)):
            within("order of the coupling, off one and two", abs(float(cell) - order), 0.05, "the next power of the step")


def test_control_loop_is_unstable_just_above_the_longest_stable_step_only(text):
    below, above = rows(text, 2)
    assert float(below[1]) < 1.6 and above[1] == "grows beyond 10"


def test_sampled_controller_equals_one_stepped_at_its_samples(text):
    assert {row[1] for row in rows(text, 3)} == {"below 1e-12"}


def test_the_page_shows_what_the_study_writes(text, directory):
    assert judge_page(PAGE, text, whole=STEPS == study.STEPS) == 4
    judge_figure(directory / "coupling.svg")
    (shown,) = figures(PAGE)
    assert shown.is_file() and shown.name == "coupling.svg"


CONTROLLER = {
    "name": "control",
    "kind": "controller",
    "controller": {"joint": {"elbow": {"kp": 40.0, "kd": 5.0, "torque_limit": 10.0}}},
}
SAMPLED = {**CONTROLLER, "controller": {"sample_time": 0.1, **CONTROLLER["controller"]}}
SLIDES = {
    "name": "slides",
    "kind": "controller",
    "controller": {"joint": {"rail": {"type": "cylindrical", "kp": [3.0, 4.0], "kd": 0.5}}},
}


def law(q, qd, q_ref=0.0, qd_ref=0.0, tau_ff=0.0):
    return float(np.clip(tau_ff + 40.0 * (q_ref - q) + 5.0 * (qd_ref - qd), -10.0, 10.0))


def test_torques_follow_the_inputs_within_their_limits_in_both_interfaces(build):
    archive = build(CONTROLLER)
    values = [(0.1, 0.2, 0.3, 0.0, 1.0), (0.0, 0.0, 1.0, 0.0, 0.0), (0.0, 0.0, -2.0, 1.0, 3.0), (0.0, 0.0, 0.0, 0.0, 0.0)]
    names = ("elbow.q", "elbow.qd", "elbow.q_ref", "elbow.qd_ref", "elbow.tau_ff")
    with ModelExchange(archive) as me, CoSimulation(archive) as cs:
        for k, row in enumerate(values):
            for instance in (me, cs):
                instance.set(dict(zip(names, row)))
            me.event()
            cs.step(0.1)
            for instance in (me, cs):
                assert abs(instance.get("elbow.tau") - law(*row)) < 1e-13, row
                assert instance.get("elbow.servo_error") == row[2] - row[0]


def test_torques_are_those_of_the_inputs_that_have_just_been_set(build):
    """The torques follow the inputs without a step in between, as importers need it that evaluate
    the controller first."""
    with CoSimulation(build(CONTROLLER)) as cs:
        for t in range(3):
            for q_ref in (1.0, -1.0, 0.1, 2.0, 0.0, -3.0):
                cs.set({"elbow.q_ref": q_ref})
                assert cs.get("elbow.tau") == pytest.approx(law(0.0, 0.0, q_ref), abs=1e-13)
            cs.step(0.1)


def test_sample_at_a_jump_of_a_signal_uses_the_value_after_it_in_both_interfaces(build):
    step = {"signal": {"elbow.q_ref": {"type": "step", "amplitude": 0.1, "from": 0.2, "from_importer": False}}}
    archive = build({**SAMPLED, **step})
    with ModelExchange(archive) as me, CoSimulation(archive) as cs:
        for expected in (0.0, 4.0, 4.0):
            me.fmu.setTime(me.next_event)
            me.event()
            cs.step(0.1)
            assert me.get("elbow.tau") == pytest.approx(expected, abs=1e-13)
        assert cs.get("elbow.tau") == pytest.approx(4.0, abs=1e-13)


def test_a_limit_is_an_event_in_model_exchange(build):
    with ModelExchange(build(CONTROLLER)) as me:
        for q_ref, positive in ((0.2499, True), (0.2501, False)):
            me.set({"elbow.q_ref": q_ref})
            assert (me.indicators()[0] > 0.0) == positive
        # The torque is limited only after the event.
        assert me.get("elbow.tau") > 10.0
        me.event()
        assert me.get("elbow.tau") == 10.0 and me.indicators()[0] > 0.0
        me.set({"elbow.q_ref": 0.2})
        assert me.indicators()[0] < 0.0
        me.event()
        assert me.get("elbow.tau") == 8.0


def test_inputs_of_the_start_count_before_the_first_sample(build):
    for spec in (CONTROLLER, SAMPLED):
        with CoSimulation(build(spec), start={"elbow.q_ref": 1.0}) as cs:
            assert cs.get("elbow.tau") == 10.0


def test_samples_are_time_events_with_constant_outputs_in_between(build):
    archive = build(SAMPLED)
    assert archive.variables["elbow.tau"].variability == "discrete" and archive.description.numberOfEventIndicators == 0
    with ModelExchange(archive) as me:
        assert me.next_event == pytest.approx(0.1, abs=1e-15)
        me.set({"elbow.q_ref": 0.1})
        assert me.get("elbow.tau") == 0.0
        for k in range(1, 40):
            me.fmu.setTime(me.next_event)
            me.set({"elbow.q": 1e-3 * k})
            before = me.get("elbow.tau")
            me.event()
            assert me.get("elbow.tau") == pytest.approx(law(1e-3 * k, 0.0, 0.1), abs=1e-13) != before
            assert me.next_event == pytest.approx(0.1 * (k + 1), rel=1e-14)
    with CoSimulation(archive) as cs:
        seen = []
        for k in range(80):
            cs.set({"elbow.q_ref": 1e-3 * k})
            cs.step(0.025)
            seen.append(cs.get("elbow.tau"))
        # A step that begins at a multiple of 0.1 s takes the sample first, from the inputs set
        # before the step.
        expected = np.repeat([law(0.0, 0.0, 1e-3 * k) for k in range(0, 80, 4)], 4)
        assert np.abs(np.array(seen) - expected).max() < 1e-13


def test_saved_state_of_a_sampled_controller_continues_identically(build):
    with CoSimulation(build(SAMPLED)) as cs:
        cs.set({"elbow.q_ref": 0.1})
        cs.step(0.05)
        state = cs.fmu.getFMUState()
        cs.set({"elbow.q_ref": 0.2})
        cs.step(0.1)
        assert cs.get("elbow.tau") == pytest.approx(8.0, abs=1e-13)
        cs.fmu.setFMUState(state)
        cs.fmu.freeFMUState(state)
        cs.t = 0.05
        cs.set({"elbow.q_ref": 0.2})
        cs.step(0.025)
        assert cs.get("elbow.tau") == pytest.approx(4.0, abs=1e-13)


def test_each_axis_of_a_joint_has_its_units_and_gains(build):
    archive = build(SLIDES)
    assert [archive.variables[f"rail.tau[{i}]"].unit for i in (1, 2)] == ["N.m", "N"]
    with CoSimulation(archive) as cs:
        cs.set({"rail.q_ref[1]": 1.0, "rail.q_ref[2]": 1.0, "rail.qd_ref[2]": 2.0})
        assert [cs.get(f"rail.tau[{i}]") for i in (1, 2)] == [3.0, 5.0]


@pytest.fixture(scope="module")
def loop(tmp_path_factory):
    """`(SSP file, spacecraft's FMU, controller's FMU)` of the example."""
    folder = tmp_path_factory.mktemp("loop")
    specs = [ROOT / "examples" / f"{name}.toml" for name in ("servoed_arm", "arm_controller")]
    told = grapple("couple", *specs, "--output", folder / "loop.ssp").stdout
    assert "shoulder.tau  arm_controller → servoed_arm" in told and "2 FMUs, 6 connections" in told
    return folder / "loop.ssp", *(Archive.build(spec, folder / spec.stem) for spec in specs)


def test_libcosim_runs_the_wired_file_as_two_fmus_that_step_at_once(loop, within):
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
    from libcosimpy.CosimObserver import CosimObserver

    path, craft, controller = loop
    h, stop_time = 0.005, 3.0
    _, expected = study.outside(craft.path, controller.path, h, "parallel", stop_time=stop_time, tolerance=None)
    log_output_level(CosimLogLevel.ERROR)
    execution = CosimExecution.from_ssp_file(str(path), step_size=round(h * 1e9))
    observer = CosimObserver.create_last_value()
    assert execution.add_observer(observer=observer)
    index = execution.slave_index_from_instance_name("servoed_arm")
    references = [craft.variables[name].valueReference for name in study.MEASURED]
    seen = []
    for _ in expected:
        seen.append(observer.last_real_values(slave_index=index, variable_references=references))
        assert execution.step()
    off = np.abs(np.array(seen) - expected).max()
    within("SSP in libcosim, angles and rates", off, 1e-9, "the same exchange; the hosts' times differ by round-off")


def test_fmpy_runs_the_wired_file_at_the_first_order(loop, within):
    from fmpy.ssp.simulation import simulate_ssp

    path, craft, _ = loop
    times = np.arange(76) * study.SAMPLE
    with CoSimulation(craft, start={"shoulder.servo": 1.0, "elbow.servo": 1.0}) as inside:
        expected = inside.run(times, ["shoulder.q", "elbow.q"])
    errors = []
    for h in (0.002, 0.001):
        # The row that FMPy labels with a time has the values at the end of the step from that time.
        result = simulate_ssp(str(path), stop_time=times[-1], step_size=h)
        every = round(study.SAMPLE / h)
        rows = np.array([result[f"servoed_arm.{joint}.q"][every - 1 :: every] for joint in study.JOINTS]).T
        n = min(len(rows), len(times) - 1)
        errors.append(np.abs(rows[:n] - expected[1 : n + 1]).max())
    within("order of FMPy's SSP master, off one", abs(np.log2(errors[0] / errors[1]) - 1.0), 0.05, "the next power")
    assert errors[1] < 1e-3


def test_connections_that_cannot_be_made_are_reported(tmp_path):
    control = tmp_path / "control.toml"
    control.write_text((ROOT / "examples" / "arm_controller.toml").read_text())
    other = ROOT / "examples" / "docking.toml"
    slide = tmp_path / "slide.toml"
    slide.write_text(
        'name = "slide"\n[body.cart]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n'
        '[joint.elbow]\ntype = "prismatic"\nparent = "world"\nchild = "cart"\n'
    )
    for models, words in (
        ((control, control), 'two of them are called "arm_controller"'),
        ((control, other), "there is nothing to connect: no input of arm_controller, docking"),
        ((control, tmp_path / "none.toml"), "none.toml"),
        ((control, slide), "elbow.q is Real m in slide and Real rad in arm_controller"),
    ):
        run = grapple("couple", *models, "--output", tmp_path / "x.ssp", check=False)
        told = " ".join(run.stderr.replace("│", " ").split())
        assert run.returncode == 1 and words in told, told
        assert not (tmp_path / "x.ssp").exists()
