"""`grapple page`: the page of results that other programs recorded equals that of the tool's own run."""

import base64
import json
import re

import fmpy
import numpy as np
import pandas as pd
import pytest
from conftest import EXAMPLES
from fmu import grapple

FOLDER = EXAMPLES[0].parent
# Example: duration of its run, s.
RUNS = {"docking": 8, "beam_in_grasp": 0.5, "servicer_orbit": 1, "klak_2020_quaternion": 0.5}
QUANTITIES = ("r", "q", "slope", "q_lvlh", "tip_deflection", "distance")


def data(path):
    """Returns the data that the tool wrote into a page."""
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', path.read_text(encoding="utf-8"), re.S)[1])


def refused(*arguments):
    """Returns the message with which the tool refuses to make a page, in one line."""
    run = grapple("page", *arguments, check=False)
    assert run.returncode == 1, run.stdout
    return re.sub(r"\s+[│╰─▶]*\s*", " ", run.stderr)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Each example's table, page and spec."""
    folder = tmp_path_factory.mktemp("runs")
    made = {}
    for name, stop in RUNS.items():
        table, page, spec = folder / f"{name}.parquet", folder / f"{name}.html", FOLDER / f"{name}.toml"
        grapple("simulate", spec, "--stop-time", stop, "--output", table, "--page", page)
        made[name] = pd.read_parquet(table), page, spec
    return made


def of(table, spec, folder, *options, name="run.csv", **written):
    """Returns the data of the page of a table, written as CSV, and the tool's warnings."""
    path, page = folder / name, folder / "page.html"
    table.to_csv(path, index=False, **written)
    said = grapple("page", path, "--model", spec, "--output", page, *options)
    return data(page), said.stderr


@pytest.mark.parametrize("name", RUNS)
def test_the_page_of_a_table_has_the_charts_motion_and_impacts_of_the_run(name, runs, tmp_path):
    table, own, spec = runs[name]
    expected, (found, said) = data(own), of(table, spec, tmp_path)
    assert said == ""
    for part in ("name", "time", "charts", "motion", "variables"):
        assert found[part] == expected[part], part
    impacts = [next((t["rows"] for t in page["tables"] if t["title"] == "Impacts and captures"), []) for page in (found, expected)]
    assert impacts[0] == impacts[1]
    assert len(impacts[0]) == (name == "docking")


def floats(text):
    return np.frombuffer(base64.b64decode(text), "<f4")


def assert_motion_is(found, expected, tolerance):
    """Asserts that two pages draw bodies, frames and beams at the same positions."""
    assert [body["name"] for body in found["bodies"]] == [body["name"] for body in expected["bodies"]]
    for part in ("bodies", "frames"):
        for one, other in zip(found[part], expected[part], strict=True):
            for field in {"r", "q"} & one.keys():
                assert floats(one[field]) == pytest.approx(floats(other[field]), abs=tolerance), (one["name"], field)
    for one, other in zip(found["nodal"], expected["nodal"], strict=True):
        for field in ("r", "slope"):
            for a, b in zip(one[field], other[field], strict=True):
                assert floats(a) == pytest.approx(floats(b), abs=tolerance)
    for one, other in zip(found["beams"], expected["beams"], strict=True):
        assert floats(one["bent"]) == pytest.approx(floats(other["bent"]), abs=tolerance)


@pytest.mark.parametrize("name", RUNS)
def test_positions_are_computed_from_the_states_alone(name, runs, tmp_path):
    table, own, spec = runs[name]
    states = grapple("describe", spec).stdout.split("states (")[1].split("\n\n")[0].splitlines()[1:]
    states = [line.split()[0] for line in states]
    found, said = of(table[["time", *states]], spec, tmp_path)
    assert said == ""
    # Single precision, of positions up to 30 m.
    assert_motion_is(found["motion"], data(own)["motion"], 4e-6)
    titles = {chart["title"] for chart in data(own)["charts"] if "Path" in chart["title"] or "Attitude" in chart["title"]}
    assert titles <= {chart["title"] for chart in found["charts"]}


def test_parts_that_cannot_be_drawn_are_named(runs, tmp_path):
    table, _, spec = runs["docking"]
    arm = [name for name in table if re.match(r"(mount|boom|tip|probe)", name)]
    page, said = of(table.drop(columns=arm), spec, tmp_path)
    assert [body["name"] for body in page["motion"]["bodies"]] == ["servicer", "target"]
    assert "boom is not drawn: the table lacks boom.r and q, or mount.q." in said
    assert [remark in said for remark in page["messages"]] == [True] * len(page["messages"]) != []
    page, said = of(table.drop(columns=[name for name in table if ".eta" in name]), spec, tmp_path)
    assert "boom is drawn with the deflection of the start" in said


def test_momentum_is_rated_if_all_external_loads_are_known(tmp_path):
    spec, table = tmp_path / "pushed.toml", tmp_path / "pushed.csv"
    spec.write_text((FOLDER / "two_link.toml").read_text() + '[port.push]\nframe = "tip"\n')
    grapple("simulate", spec, "--stop-time", 0.5, "-o", table, "--no-page")
    table = pd.read_csv(table)

    def rated(table):
        return {tile["label"]: tile["verdict"] for tile in of(table, spec, tmp_path)[0]["diagnostics"]}

    assert rated(table) == {"Linear momentum drift": "good", "Angular momentum drift": "good", "Energy balance": "good"}
    forces = [name for name in table if name.startswith("push.")]
    assert forces and rated(table.drop(columns=forces)) == {"Momentum": "note", "Energy balance": "good"}


def test_tables_of_fmpy_are_read_from_both_interfaces(examples, tmp_path):
    archive = examples["docking"]
    outputs = [name for name in archive.variables if re.match(r"(servicer|target|mount|boom|latch)\.(r|q|eta|captured|count|time|impulse|energy)", name)]
    for fmi_type in ("CoSimulation", "ModelExchange"):
        result = fmpy.simulate_fmu(str(archive.path), fmi_type=fmi_type, stop_time=8, output_interval=0.1, output=outputs, start_values={"latch.capture": 1})
        fmpy.util.write_csv(tmp_path / "fmpy.csv", result)
        page = tmp_path / "page.html"
        # A table from FMPy; the model is an FMU.
        said = grapple("page", tmp_path / "fmpy.csv", "--model", archive.path, "-o", page).stderr
        (impact,) = next(table["rows"] for table in data(page)["tables"] if table["title"] == "Impacts and captures")
        assert impact["cells"][1] == "latch" and "captures" in impact["cells"][2]
        assert len(data(page)["motion"]["bodies"]) == 3, said


def test_components_of_a_system_and_flat_names_are_found(runs, tmp_path):
    table, own, spec = runs["docking"]
    motion = data(own)["motion"]
    for prefix in ("craft.", "model.root.craft."):
        other = pd.DataFrame({f"{prefix[:-6]}control.u[{k}]": table["time"] for k in (1, 2)})
        renamed = table.rename(columns=lambda name: name if name == "time" else prefix + name)
        page, said = of(pd.concat([renamed, other], axis=1), spec, tmp_path)
        assert (page["motion"], said) == (motion, "")
    page, said = of(table.rename(columns=lambda name: re.sub(r"[.\[\], ()]", "_", name)), spec, tmp_path)
    assert (page["motion"], said) == (motion, "")
    twice = [table.rename(columns=lambda name: name if name == "time" else f"{arm}.{name}") for arm in ("left", "right")]
    twice = pd.concat([twice[0], twice[1].drop(columns="time")], axis=1)
    twice.to_csv(tmp_path / "twice.csv", index=False)
    assert "left and right have variables of the model; --component chooses one" in refused(tmp_path / "twice.csv", "--model", spec)
    page, _ = of(twice, spec, tmp_path, "--component", "right")
    assert page["motion"] == motion


def test_separators_irregular_times_and_columns_of_others(runs, tmp_path):
    table, own, spec = runs["docking"]
    page, _ = of(table, spec, tmp_path, sep=";", decimal=",")
    assert page["motion"] == data(own)["motion"]
    some = table.iloc[[0, 1, 2, 5, 30, 30, 77]].assign(wind=1.5)
    page, said = of(some, spec, tmp_path)
    assert page["time"] == pytest.approx(some["time"].to_list())
    assert page["variables"][-1]["name"] == "wind"
    assert "wind is not of the model, and only in charts" in said
    some.rename(columns={"servicer.r[1]": "serviccer.r[1]"}).to_parquet(tmp_path / "run.parquet", index=False)
    said = grapple("page", tmp_path / "run.parquet", "--model", spec, "-o", tmp_path / "page.html").stderr
    assert 'serviccer.r[1] and wind are not of the model, and only in charts (serviccer.r[1]: did you mean "servicer.r[1]"?)' in said
    assert "servicer is not drawn: the table lacks servicer.r." in said


def test_several_runs_are_in_one_page(runs, tmp_path):
    table, own, spec = runs["docking"]
    table.to_csv(tmp_path / "a.csv", index=False)
    table.iloc[::3].to_parquet(tmp_path / "b.parquet")
    grapple("page", tmp_path / "a.csv", tmp_path / "b.parquet", "--model", spec, "-o", tmp_path / "page.html")
    page = data(tmp_path / "page.html")
    assert page["label"] == "a" and [other["label"] for other in page["others"]] == ["b"]
    assert page["others"][0]["time"] == pytest.approx(table["time"][::3].to_list())
    assert [chart["title"] for chart in page["others"][0]["charts"]] == [chart["title"] for chart in page["charts"]]


WRONG = {
    "time,servicer.r[1]\n": "it has no rows",
    "": "it is empty",
    "t,servicer.r[1]\n0,1\n": 'there is no column "time" (s)',
    "time,servicer.r[1]\n0,1\n2,1\n1,1\n": "row 4: the time decreases from 2 s to 1 s",
    "time,servicer.r[1]\n0,1\nx,1\n": 'column "time", line 3: "x" is not a number',
    "time,servicer.r[1]\n0,\n": 'row 2, column "servicer.r[1]": there is no finite number',
    "time,servicer.r[1]\r\n0,1\r\n0,one\r\n": 'column "servicer.r[1]", line 3: "one" is not a number',
    "time,servicer.r[1]\n0,one\n": 'column "servicer.r[1]", line 2: "one" is not a number',
    "time,servicer.r[1] [mm]\n0,1\n": 'column "servicer.r[1]" has the unit mm; the variable is m',
    "time,servicer.r[1],servicer.r[1]\n0,1,1\n": 'two columns are called "servicer.r[1]"',
    "time,servicr.r[1]\n0,1\n": 'no column is a variable of the model: there is no variable "servicr.r[1]"; did you mean "servicer.r[1]"?',
    "time,servicer.r[1]\n0,1,2\n": "found record with 3 fields",
    b"\x89HDF\r\n": "tables are CSV or Parquet, and this file is HDF5",
    b"PAR1 and no more": "cannot read",
}


@pytest.mark.parametrize("content", WRONG, ids=WRONG.values())
def test_a_table_that_is_no_result_is_refused(content, tmp_path):
    path = tmp_path / "run.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    message = refused(path, "--model", FOLDER / "docking.toml")
    assert WRONG[content] in message, message
    assert list(tmp_path.iterdir()) == [path]


def test_other_kinds_of_files_are_named(examples, tmp_path):
    spec = FOLDER / "docking.toml"
    assert "this file is a spec" in refused(spec, "--model", spec)
    assert "this file is an FMU" in refused(examples["docking"].path, "--model", spec)
