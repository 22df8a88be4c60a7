"""`grapple campaign`: values, shards, interruptions, grids, and the same runs by other programs.

The texts of errors are tested in `fmu-build/tests/cli/campaign.rs`.
"""

import hashlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from dask.distributed import Client, LocalCluster
from scipy import stats

from fmu import CoSimulation, grapple, toml
from programs import EXAMPLES, program

RUNS = 1000


def read(path):
    """Returns a campaign's table with column names without units."""
    table = pd.read_csv(path, keep_default_na=False)
    table.columns = table.columns.str.split(" ").str[0]
    return table


def study(folder, **changes):
    """Writes the file of a short study of the two-link spacecraft; returns its path."""
    content = {
        "model": str(EXAMPLES / "two_link.toml"),
        "runs": RUNS,
        "seed": 20,
        "experiment": {"stop_time": 1.0, "step": 0.1, "tolerance": 1e-8},
        "dispersion": {
            "forearm.mass": {"uniform": [0.5, 1.5]},
            "shoulder.qd_start": {"normal": {"sigma": 0.2}},
            "elbow.q_start": {"normal": {"mean": 0.1, "sigma": 0.3, "bounds": [-0.2, 0.3]}},
        },
        "output": {"elbow.q": ["final", "rms"], "base.w[3]": ["min", "max", "peak", "mean"]},
    }
    content.update(changes)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "study.toml"
    path.write_text(toml(content))
    return path


def campaign(path, *options):
    """Runs the campaign of a study with its results in the same folder; returns their folder."""
    folder = path.parent / "results"
    grapple("campaign", path, "--output", folder, *options)
    return folder


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The results' folder of one campaign that most tests use."""
    return campaign(study(tmp_path_factory.mktemp("campaign")))


@pytest.fixture(scope="module")
def table(results):
    return read(results / "runs.csv")


@pytest.mark.parametrize("shards", [3, 7])
def test_shards_give_the_same_bytes(shards, results, tmp_path):
    path = study(tmp_path)
    # Shards may run in any order: here the last first.
    for shard in reversed(range(shards)):
        folder = tmp_path / "results"
        assert not (folder / "runs.csv").exists()
        campaign(path, "--shard", f"{shard}/{shards}", "--jobs", 1 + shard % 2)
    assert (folder / "runs.csv").read_bytes() == (results / "runs.csv").read_bytes()


def test_separate_shards_are_one_campaign_after_their_files_are_merged(results, tmp_path):
    for shard in (0, 1):
        path = study(tmp_path / str(shard))
        campaign(path, "--shard", f"{shard}/2")
    (source,) = (tmp_path / "1/results").glob("runs-*.jsonl")
    source.rename(tmp_path / "0/results" / source.name)
    folder = campaign(study(tmp_path / "0"))
    assert (folder / "runs.csv").read_bytes() == (results / "runs.csv").read_bytes()


@pytest.mark.parametrize("torn", [False, True])
def test_killed_and_restarted_campaign_gives_the_same_bytes(torn, results, tmp_path):
    path = study(tmp_path)
    folder = tmp_path / "results"
    journal = folder / "runs-0-of-1.jsonl"
    tool = Path(os.environ["GRAPPLE"]).resolve()
    process = subprocess.Popen([tool, "campaign", path, "--output", folder, "--jobs", "1"])
    while not journal.exists() or journal.read_bytes().count(b"\n") < RUNS // 10:
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(1e-3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = journal.read_bytes().count(b"\n")
    assert RUNS // 10 <= done < RUNS and not (folder / "runs.csv").exists()
    if torn:
        with journal.open("ab") as file:
            file.write(b'{"run":%d,"values":[1.0' % (RUNS - 1))
    campaign(path)
    assert (folder / "runs.csv").read_bytes() == (results / "runs.csv").read_bytes()


def test_two_programs_do_not_work_on_one_shard(tmp_path):
    runs = 50 * RUNS
    path = study(tmp_path, runs=runs)
    tool = Path(os.environ["GRAPPLE"]).resolve()
    journal = tmp_path / "results" / "runs-0-of-1.jsonl"
    first = subprocess.Popen([tool, "campaign", path, "--output", tmp_path / "results", "--jobs", "1"])
    while not journal.exists() or not journal.read_bytes():
        assert first.poll() is None
        time.sleep(1e-3)
    second = grapple("campaign", path, "--output", tmp_path / "results", check=False)
    first.send_signal(signal.SIGINT)
    interrupted = first.wait()
    assert second.returncode == 1 and "another grapple is running this shard" in " ".join(second.stderr.split())
    assert interrupted == 130
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    assert len({record["run"] for record in records}) == len(records) < runs
    assert not any(record["failure"] for record in records)


def recipes(language):
    """Returns the recipes in a language on the page about campaigns."""
    page = (EXAMPLES.parent / "docs/campaigns.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def tools(folder):
    """Returns a `PATH` with grapple and with a stand-in for Slurm's `srun`."""
    folder.mkdir()
    (folder / "grapple").symlink_to(Path(os.environ["GRAPPLE"]).resolve())
    (folder / "srun").write_text('#!/bin/sh\nexec "$@"\n')
    (folder / "srun").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def test_the_recipe_for_slurm_makes_the_campaign(results, tmp_path):
    (script,) = [recipe for recipe in recipes("sh") if "#SBATCH" in recipe]
    first, last = map(int, re.search(r"--array=(\d+)-(\d+)", script).groups())
    study(tmp_path)
    (tmp_path / "job.sh").write_text(script)
    variables = {**os.environ, "PATH": tools(tmp_path / "bin"), "SLURM_SUBMIT_DIR": str(tmp_path)}
    for task in range(first, last + 1):
        variables["SLURM_ARRAY_TASK_ID"] = str(task)
        subprocess.run(["sh", "job.sh"], cwd=tmp_path, env=variables, check=True, capture_output=True)
    assert (tmp_path / "study/runs.csv").read_bytes() == (results / "runs.csv").read_bytes()


def test_the_recipe_for_kubernetes_makes_the_campaign(results, tmp_path):
    (text,) = recipes("yaml")
    job = yaml.safe_load(text)["spec"]
    assert job["completionMode"] == "Indexed"
    (container,) = job["template"]["spec"]["containers"]
    study(tmp_path)
    # This folder stands for the mounted volume.
    (mount,) = container["volumeMounts"]
    command = [part.replace(mount["mountPath"], str(tmp_path)) for part in container["command"]]
    variables = {**os.environ, "PATH": tools(tmp_path / "bin")}
    for pod in range(job["completions"]):
        variables["JOB_COMPLETION_INDEX"] = str(pod)
        subprocess.run(command, env=variables, check=True, capture_output=True)
    assert (tmp_path / "study/runs.csv").read_bytes() == (results / "runs.csv").read_bytes()


def uniform(name, runs, seed=20):
    """Returns the documented uniform number behind each run's value."""
    digests = [hashlib.sha256(f"{seed} {name} {run}".encode()).digest() for run in runs]
    return np.array([((int.from_bytes(digest[:8]) >> 12) + 0.5) / 2**52 for digest in digests])


def truncated(mean, sigma, low, high):
    return stats.truncnorm((low - mean) / sigma, (high - mean) / sigma, loc=mean, scale=sigma)


LAWS = {
    "forearm.mass": stats.uniform(0.5, 1.0),
    "shoulder.qd_start": stats.norm(0.0, 0.2),
    "elbow.q_start": truncated(0.1, 0.3, -0.2, 0.3),
}


@pytest.mark.parametrize("name", LAWS)
def test_values_are_the_documented_function_of_seed_name_and_run(name, table, within):
    expected = LAWS[name].ppf(uniform(name, range(RUNS)))
    off = np.abs(table[name] - expected).max()
    within("values of a campaign against SciPy's quantiles", off, 1e-14, "two implementations of the normal quantile, round-off")


@pytest.mark.parametrize("name", LAWS)
def test_values_are_distributed_as_the_study_says(name, table):
    assert stats.kstest(table[name], LAWS[name].cdf).pvalue > 0.01
    # The test rejects a distribution that is wider by 20 %, and one shifted by a tenth of the
    # standard deviation.
    deviation = LAWS[name].std()
    wider = lambda x: LAWS[name].cdf(LAWS[name].mean() + (np.asarray(x) - LAWS[name].mean()) / 1.2)
    shifted = lambda x: LAWS[name].cdf(np.asarray(x) - 0.1 * deviation)
    assert min(stats.kstest(table[name], cdf).pvalue for cdf in (wider, shifted)) < 0.01


def test_dispersions_are_uncorrelated(table):
    ranks = stats.spearmanr(table[list(LAWS)]).statistic
    # A rank correlation of independent variables is normal with 1/√(n − 1); four deviations have a
    # probability of 1/16 000.
    assert np.abs(ranks[~np.eye(len(LAWS), dtype=bool)]).max() < 4.0 / np.sqrt(RUNS - 1)


def test_another_dispersion_changes_none_of_the_others(table, tmp_path):
    plan = tmp_path / "plan.csv"
    more = study(tmp_path)
    content = tomllib.loads(more.read_text())
    content["dispersion"] = {"base.mass": {"uniform": [3.0, 5.0]}, **dict(reversed(content["dispersion"].items()))}
    plan.write_text(grapple("campaign", study(tmp_path, **content), "--plan").stdout)
    planned = read(plan)
    for name in LAWS:
        assert (planned[name] == table[name]).all(), name
    content["seed"] = 21
    plan.write_text(grapple("campaign", study(tmp_path, **content), "--plan").stdout)
    assert (read(plan)["forearm.mass"] != table["forearm.mass"]).all()


def test_the_values_of_a_row_are_what_its_run_used(table, examples):
    names = ["elbow.q", "base.w[3]"]
    # The FMU with the values of each run: it has their start values, and its whole run gives the
    # table's results.
    for _, row in table.sample(20, random_state=1).iterrows():
        start = {name: row[name] for name in LAWS}
        with CoSimulation(examples["two_link"], start, tolerance=1e-8, stop_time=1.0) as cs:
            assert cs.get("forearm.mass") == row["forearm.mass"]
            assert cs.get("elbow.q") == row["elbow.q_start"]
            assert cs.get("shoulder.qd") == row["shoulder.qd_start"]
            values = cs.run([k * 0.1 for k in range(10)] + [1.0], names)
        assert values[-1, 0] == row["final(elbow.q)"]
        w = values[:, 1]
        assert (w.min(), w.max(), np.abs(w).max()) == tuple(row[f"{s}(base.w[3])"] for s in ("min", "max", "peak"))
        np.testing.assert_allclose(np.trapezoid(w, dx=0.1), row["mean(base.w[3])"], rtol=1e-12)
        rms = np.sqrt(np.trapezoid(values[:, 0] ** 2, dx=0.1))
        np.testing.assert_allclose(rms, row["rms(elbow.q)"], rtol=1e-12)


def test_a_grid_has_every_point_and_each_point_its_runs(tmp_path):
    dispersion = {
        "forearm.mass": {"grid": [0.5, 1.0, 2.0]},
        "shoulder.qd_start": {"uniform": [-0.1, 0.1]},
        "elbow.q_start": {"grid": {"from": -0.2, "to": 0.2, "count": 5}},
        "base.mass": {"grid": [-0.1, 0.1], "relative": True},
        "tip.origin[1]": {"list": [0.9, 1.0, 1.1]},
    }
    path = study(tmp_path, runs=4, dispersion=dispersion)
    table = read(campaign(path) / "runs.csv")
    sides = ["forearm.mass", "elbow.q_start", "base.mass"]
    points = list(itertools.product([0.5, 1.0, 2.0], np.linspace(-0.2, 0.2, 5), [4.0 * 0.9, 4.0 * 1.1]))
    assert len(table) == 4 * len(points)
    np.testing.assert_allclose(table[sides], np.tile(points, (4, 1)), rtol=1e-15, atol=1e-16)
    assert table["shoulder.qd_start"].nunique() == len(table)
    assert (table["tip.origin[1]"] == np.repeat([0.9, 1.0, 1.1, 0.9], len(points))).all()
    assert (table["status"] == "ok").all()


def test_a_list_is_drawn_from_evenly(tmp_path):
    dispersion = {"base.mass": {"list": [3.0, 4.0, 5.0], "draw": True}}
    plan = tmp_path / "plan.csv"
    plan.write_text(grapple("campaign", study(tmp_path, dispersion=dispersion), "--plan").stdout)
    drawn = read(plan)["base.mass"]
    expected = np.array([3.0, 4.0, 5.0])[(uniform("base.mass", range(RUNS)) * 3).astype(int)]
    assert (drawn == expected).all()
    assert stats.chisquare(drawn.value_counts()).pvalue > 0.01


def test_parquet_has_the_bits_of_csv_the_names_of_the_fmu_and_units(results, tmp_path):
    folder = campaign(study(tmp_path, format="parquet"))
    table = pd.read_parquet(folder / "runs.parquet")
    pd.testing.assert_frame_equal(table, read(results / "runs.csv"), check_exact=True)
    assert table.attrs["units"]["forearm.mass"] == "kg" and table.attrs["units"]["rms(elbow.q)"] == "rad"

    series = {"elbow.q": ["series"], "base.w[3]": ["final"], "system.energy": ["series"]}
    runs = [study(tmp_path / kind, runs=2, format=kind, output=series) for kind in ("csv", "parquet")]
    csv, parquet = (campaign(path) / "series" for path in runs)
    of_one = pd.read_parquet(parquet / "000001.parquet")
    assert list(of_one) == ["time", "elbow.q", "system.energy"] and of_one.attrs["units"]["time"] == "s"
    pd.testing.assert_frame_equal(of_one, read(csv / "000001.csv"), check_exact=True)


def test_the_parquet_file_of_a_run_has_the_bits_of_its_csv(tmp_path):
    for output in ("run.csv", "run.parquet"):
        grapple("simulate", EXAMPLES / "docking.toml", "--output", tmp_path / output, "--page", tmp_path / "page.html")
    table = pd.read_parquet(tmp_path / "run.parquet")
    pd.testing.assert_frame_equal(table, read(tmp_path / "run.csv"), check_exact=True)
    assert len(table) == 601
    header = (tmp_path / "run.csv").read_text().split("\n", 1)[0].split(",")
    units = table.attrs["units"]
    assert header == [f"{name} [{units[name]}]" if name in units else name for name in table]


def planned(path, model, folder):
    """Builds the FMU of a study and writes its plan; returns their paths."""
    grapple("build", model, "--output", folder / "model.fmu")
    (folder / "plan.csv").write_text(grapple("campaign", path, "--plan").stdout)
    return folder / "model.fmu", folder / "plan.csv"


@pytest.mark.skipif("GRAPPLE_LONG" not in os.environ, reason="the long form: worker processes start in ten seconds")
def test_dask_makes_the_same_table(tmp_path):
    text = (EXAMPLES / "campaign" / "docking.toml").read_text()
    model = EXAMPLES / "docking.toml"
    path = tmp_path / "docking.toml"
    path.write_text(text.replace('"../docking.toml"', f'"{model}"').replace("runs = 500", "runs = 40"))
    local = read(campaign(path) / "runs.csv")
    fmu, plan = planned(path, model, tmp_path)
    script = EXAMPLES / "campaign" / "on_dask.py"
    subprocess.run([sys.executable, script, fmu, path, plan, "--output", tmp_path / "dask.csv"], check=True)
    pd.testing.assert_frame_equal(read(tmp_path / "dask.csv"), local, check_exact=True)
    captured = local["final(latch.captured)"]
    assert 0 < captured.sum() < len(captured), "a study of what is certain tells nothing"


def test_dask_has_a_row_for_a_run_that_fails(tmp_path):
    path = study(tmp_path, runs=2, dispersion={"base.inertia_zz": {"list": [0.4, 0.9]}})
    fmu, plan = planned(path, EXAMPLES / "two_link.toml", tmp_path)
    # A worker in this process, which starts in no time.
    with LocalCluster(n_workers=1, processes=False, dashboard_address=None, local_directory=tmp_path) as cluster:
        with Client(cluster) as client:
            table = program("campaign/on_dask").campaign(client, fmu, tomllib.loads(path.read_text()), read(plan))
    assert table["status"].tolist() == ["ok", "failed"]
    assert "triangle inequality" in table["message"][1]


def test_capture_envelope_counts_runs_and_ends_at_the_mouth_of_the_drogue(tmp_path):
    envelope = program("campaign/capture_envelope")
    fraction, count = envelope.fractions(
        np.array([0.1, 0.1, 0.6, 0.1]), np.array([0.2, 0.3, 0.2, 0.7]), np.array([1.0, 0.0, 1.0, 1.0]), [[0.0, 0.5, 1.0]] * 2
    )
    assert count.tolist() == [[2.0, 1.0], [1.0, 0.0]]
    assert fraction[0].tolist() == [0.5, 1.0]
    assert fraction[1, 0] == 1.0
    assert np.isnan(fraction[1, 1])

    content = tomllib.loads((EXAMPLES / "campaign/capture_envelope.toml").read_text())
    model = str(EXAMPLES / "contacts/probe_drogue.toml")
    path = tmp_path / "study.toml"
    path.write_text(toml(content | {"model": model, "runs": 300}))
    runs = envelope.read(campaign(path) / "runs.csv")
    values, captured = envelope.quantities(runs), runs["final(latch.captured)"] > 0.5
    # The FMU normalises the quaternion (1, 0, y, z) of the client, whose mouth is 0.7 m before its origin.
    y, z = runs["client.q_start[3]"], runs["client.q_start[4]"]
    square = 1.0 + y * y + z * z
    x_axis = np.array([1.0 - 2.0 * (y * y + z * z) / square, 2.0 * z / square, -2.0 * y / square])
    mouth = np.array([runs["client.r_start[2]"], runs["client.r_start[3]"]]) - 0.7 * x_axis[1:]
    np.testing.assert_allclose(values["offset, m"], np.hypot(*mouth), rtol=1e-12)
    np.testing.assert_allclose(values["misalignment, deg"], np.degrees(np.arccos(x_axis[0])), rtol=1e-9)
    offset, speed = values["offset, m"], values["speed, m/s"]
    inside = (offset < 0.15) & (speed > 0.1)
    # Outside the mouth (0.25 m) the head, of 0.03 m, misses but for the motion of the client.
    assert inside.sum() > 10
    assert captured[inside].mean() > 0.9
    assert not captured[(offset > 0.35) & (speed > 0.1)].any()
