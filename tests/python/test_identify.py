"""Identification: a payload from torques that MuJoCo made, intervals, undetermined parameters, errors."""

import os
import re

import numpy as np
import pytest
from fmu import grapple as tool
from native import grapple_fmu as grapple
from programs import EXAMPLES, program

payload = program("python/payload")


@pytest.fixture(scope="module")
def case():
    return payload.truth()


def test_run_agrees_with_mujoco_to_the_error_of_its_integrator(case, within):
    """Servos on the plan with the true payload, 20 s, at tolerance 1e-12."""
    names, times, rows = case
    run = grapple.load(payload.FOLDER / "arm.toml").simulate(set=payload.TRUE, tolerance=1e-12)
    np.testing.assert_allclose(run.time, times, rtol=1e-14)
    angles = np.array([run[f"{name}.q"] for name in names]).T
    within("difference to MuJoCo, RK4 with 1 ms", abs(angles - rows[:, : len(names)]).max(), 1e-10, "rad, of angles up to 1 rad")


def test_example_identifies_the_payload(tmp_path):
    """The command line with the table of the example; its intervals contain the truth, the mass to 1 %."""
    fit = tmp_path / "fit.csv"
    printed = tool("identify", EXAMPLES / "identification/payload.toml", "--output", fit).stdout.splitlines()
    rows = {line.split()[0]: line.split() for line in printed if line.startswith("  ")}
    for name, true in payload.TRUE.items():
        value, half = map(float, rows[name][1:3])
        assert abs(value - true) < 1.5 * half, rows[name]
    assert abs(float(rows["payload.mass"][1]) / payload.TRUE["payload.mass"] - 1.0) < 0.01
    with open(fit, encoding="utf-8") as file:
        assert len(file.readlines()) == 202


def test_measurement_of_the_example_is_reproducible(case, tmp_path, monkeypatch):
    monkeypatch.setattr(payload, "FOLDER", tmp_path)
    payload.write(payload.measurement(case, 0))
    ours, theirs = ((folder / "measured.csv").read_text().splitlines() for folder in (tmp_path, EXAMPLES / "identification"))
    assert ours[0] == theirs[0]
    numbers = [np.array([line.split(",") for line in lines[1:]], dtype=float) for lines in (ours, theirs)]
    np.testing.assert_allclose(*numbers, rtol=2e-5, atol=1e-6)  # the last of six digits


SLIDER = {
    "name": "slider",
    "body": {"mass": {"mass": 2.0, "inertia": [1.0, 1.0, 1.0]}},
    "joint": {
        "slide": {
            "type": "prismatic",
            "parent": "world",
            "child": "mass",
            "axis": [1.0, 0.0, 0.0],
            "spring": {"stiffness": 50.0},
            "damping": 0.7,
            "start": {"position": 0.3},
        }
    },
    "experiment": {"stop_time": 4.0, "step": 0.02, "tolerance": 1e-10},
}
TRUE = {"slide.stiffness": 46.0, "slide.damping": 0.9, "slide.q_start": 0.25}
# Repetitions of the noise.
SEEDS = range(40 if "GRAPPLE_LONG" in os.environ else 15)


@pytest.fixture(scope="module")
def slider():
    spec = grapple.Spec(SLIDER)
    return spec, spec.simulate(set=TRUE)


def measured(run, seed, sigma=2e-3):
    noise = np.random.default_rng(seed).normal(scale=sigma, size=len(run.time))
    return {"time": run.time, "slide.q": run["slide.q"] + noise}


def test_without_noise_the_values_are_exact(slider, within):
    spec, run = slider
    found = spec.identify(measured(run, 0, 0.0), list(TRUE))
    for name, true in TRUE.items():
        within("identified without noise", abs(found[name].value / true - 1.0), 1e-8, "accuracy of the run, 1e-10")
    assert found.iterations < 10 and not found.undetermined


def test_intervals_contain_the_truth_with_their_probability(slider):
    """Repetitions of the noise: 95 % of three intervals each, within 4 standard deviations of a binomial distribution.
    The normalised errors have a mean square of one."""
    spec, run = slider
    ratios = []
    for seed in SEEDS:
        found = spec.identify(measured(run, seed), list(TRUE))
        ratios.append([(of.value - TRUE[of.name]) / of.sigma for of in found.parameters])
        assert found.residuals[0].sigma == pytest.approx(2e-3, rel=0.25)
    inside = np.mean(np.abs(ratios) < 1.96)
    assert abs(inside - 0.95) < 4.0 * np.sqrt(0.95 * 0.05 / np.size(ratios)), inside
    assert np.mean(np.square(ratios)) == pytest.approx(1.0, abs=0.5)


def test_parameters_that_only_act_together_are_named(slider):
    """Mass, stiffness and damping: the motion depends on their ratios only."""
    spec, run = slider
    found = spec.identify(measured(run, 1), ["mass.mass", "slide.stiffness", "slide.damping", "slide.q_start"])
    (direction,) = found.undetermined
    assert set(direction) == {"mass.mass", "slide.stiffness", "slide.damping"}
    relative = {name: change / found[name].value for name, change in direction.items()}
    assert np.ptp(list(relative.values())) < 1e-4 * abs(relative["mass.mass"]), "all by the same factor"
    assert not np.isfinite(found["mass.mass"].sigma) and np.isfinite(found["slide.q_start"].sigma)
    assert "not determined" in str(found)
    # Knowledge of the mass determines the others.
    known = {"mass.mass": {"prior": {"mean": 2.0, "sigma": 0.02}}, "slide.stiffness": {}, "slide.damping": {}, "slide.q_start": {}}
    found = spec.identify(measured(run, 1), known)
    assert not found.undetermined and found["mass.mass"].sigma == pytest.approx(0.02, rel=0.01)
    assert found["slide.stiffness"].sigma > 46.0 * 0.0099


def test_missing_values_measured_inputs_and_given_noise(slider):
    """A force is measured as well, half of the angles are missing, and the noise is given."""
    spec, _ = slider
    times = np.linspace(0.0, 4.0, 201)
    force = 3.0 * np.sin(times)
    run = spec.simulate(set=TRUE, inputs={"slide.tau": (times, force)})
    data = {**measured(run, 3), "slide.tau": force, "remark": np.zeros(201)}
    data["slide.q"][1::2] = np.nan
    found = spec.identify(data, list(TRUE), measurements={"slide.q": {"sigma": 2e-3}})
    assert found.residuals[0].count == 101 and found.residuals[0].sigma == 2e-3
    assert all(abs(of.value - TRUE[of.name]) < 4.0 * of.sigma for of in found.parameters)
    assert any("remark" in warning for warning in found.warnings)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(data).set_index("time")
    assert spec.identify(frame, list(TRUE), measurements={"slide.q": {"sigma": 2e-3}}).values == found.values


def test_wrong_model_is_reported(slider):
    """Data of a spring with another law: the differences are not noise."""
    spec, run = slider
    data = measured(run, 2)
    data["slide.q"] += 0.01 * np.sin(3.0 * run.time)
    found = spec.identify(data, ["slide.stiffness"])
    assert found.residuals[0].correlation > 0.5 and any("not noise" in warning for warning in found.warnings)
    data["slide.q"][1::2] = np.nan
    assert spec.identify(data, ["slide.stiffness"]).residuals[0].correlation > 0.5
    found = spec.identify(measured(run, 2), list(TRUE), measurements={"slide.q": {"sigma": 1e-4}})
    assert any("is given as" in warning for warning in found.warnings)


def test_columns_without_noise_do_not_outweigh_the_others():
    """All columns of a run are compared; those that are constant, of the momentum, have no noise."""
    spec = grapple.new("two_link")
    run, random = spec.simulate(set={"forearm.mass": 1.7}), np.random.default_rng(0)
    data = {name: run[name] for name in run if np.ptp(run[name]) < 1e-9 and name not in spec.simulation().input_names}
    assert "system.momentum[1]" in data
    noisy = ["elbow.q", "elbow.qd", "shoulder.q"]
    data |= {"time": run.time} | {name: run[name] + 1e-3 * random.standard_normal(len(run.time)) for name in noisy}
    mass = spec.identify(data, ["forearm.mass"])["forearm.mass"]
    assert abs(mass.value - 1.7) < 4.0 * mass.sigma < 0.01


def test_exact_priors_and_values_at_a_limit(slider):
    spec, _ = slider
    undamped = spec.simulate(set={**TRUE, "slide.damping": 0.0})
    unknown = {"mass.mass": {"prior": {"mean": 2.0, "sigma": 1e-9}}, **{name: {} for name in TRUE}}
    found = spec.identify(measured(undamped, 0), unknown)
    assert not found.undetermined
    assert abs(found["slide.stiffness"].value - 46.0) < 4.0 * found["slide.stiffness"].sigma < 0.2
    for seed in range(6):
        found = spec.identify(measured(undamped, seed), list(TRUE))
        assert not found.undetermined and found["slide.damping"].value < 4.0 * found["slide.damping"].sigma


def test_few_values_have_wide_intervals_or_none(slider):
    """Five rows, three unknowns: 95 % of the intervals of Student's distribution contain the truth."""
    spec, run = slider
    inside = []
    for seed in SEEDS:
        data = {name: column[::50] for name, column in measured(run, seed).items()}
        found = spec.identify(data, list(TRUE))
        inside.append([abs(of.value - TRUE[of.name]) < of.half_interval for of in found.parameters])
    assert np.mean(inside) > 0.87
    with pytest.raises(grapple.GrappleError, match="3 measured values do not determine 3 parameters"):
        spec.identify({name: column[:3] for name, column in data.items()}, list(TRUE))


def test_errors_have_names_and_places(tmp_path, slider):
    spec, run = slider
    spec.save(tmp_path / "slider.toml")
    (tmp_path / "data.csv").write_text("time,slide.q [m],slide.qd\n0,0.3,\n0.1,0.2,\n")
    file = tmp_path / "id.toml"

    def problems(text):
        file.write_text(text)
        with pytest.raises(grapple.GrappleError) as caught:
            grapple.identify(file)
        return [(problem.line, problem.message) for problem in caught.value.problems]

    found = problems('model = "slider.toml"\ndata = "dat.csv"\nx = 1\n[parameter."slide.damping"]\nprior = { mean = 1.0, sigma = -1.0 }\n')
    assert [line for line, _ in found] == [2, 3, 5] and "dat.csv" in found[0][1] and "-1" in found[2][1]
    found = problems('model = "slider.toml"\ndata = "data.csv"\n[set]\n"slide.dampin" = 1\n[parameter."slide.stiffnes"]\n')
    assert [line for line, _ in found] == [4, 5] and all("did you mean" in message for _, message in found)
    found = problems('model = "slider.toml"\ndata = "data.csv"\n[parameter."slide.stiffness"]\n[measurement."slide.qd"]\n')
    assert found == [(4, found[0][1])] and "is empty" in found[0][1]
    (tmp_path / "data.csv").write_text("time,slide.q [mm]\n0,0.3\n0.1,0.2\n")
    assert "unit mm" in problems('model = "slider.toml"\ndata = "data.csv"\n[parameter."slide.stiffness"]\n')[0][1]
    with pytest.raises(grapple.GrappleError, match="nothing to compare"):
        spec.identify({"time": run.time, "slide": run["slide.q"]}, list(TRUE))
    with pytest.raises(ValueError, match="vectors of one length"):
        spec.identify({"time": run.time, "slide.q": [0.0]}, list(TRUE))
    with pytest.raises(grapple.GrappleError, match='two columns are called "slide.q"'):
        spec.identify({"time": run.time, "slide.q": run["slide.q"], "slide.q [m]": run["slide.q"]}, list(TRUE))
    with pytest.raises(grapple.GrappleError, match="last row is at 0 s"):
        spec.identify({"time": [0.0], "slide.q": [0.3]}, list(TRUE))
    with pytest.raises(TypeError, match="column 'time' has no numbers"):
        spec.identify({"time": np.array(["2026-01-01"], dtype="M8[s]"), "slide.q": [0.3]}, list(TRUE))
    with pytest.raises(TypeError, match="a list or a mapping"):
        spec.identify(measured(run, 0), "slide.stiffness")


def test_program_of_the_page_runs():
    (program_text,) = re.findall(r"```python\n(.*?)```", (EXAMPLES.parent / "docs/identification.md").read_text(), re.DOTALL)
    names = {}
    exec(compile(program_text, "program", "exec"), names)
    assert names["of"].derivatives.shape == (501, 2, 2) and max(names["of"].errors.values()) < 1e-5
