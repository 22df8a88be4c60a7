"""The page of a campaign, opened in a real browser: Debian's Chromium, without a network."""

import base64
import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from conftest import EXAMPLES
from fmu import grapple, toml
from playwright.sync_api import sync_playwright

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (Debian's package is called chromium)")
ARGUMENTS = ["--no-sandbox", "--disable-background-networking"]
RUNS = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a campaign of a docking, in which the smallest masses have no rigid body."""
    folder = tmp_path_factory.mktemp("campaign")
    study = {
        "description": "Capture over the <start> of the target",
        "model": str(EXAMPLES[0].parent / "docking.toml"),
        "runs": RUNS,
        "seed": 3,
        "experiment": {"stop_time": 40.0, "step": 0.5, "tolerance": 1e-6},
        "set": {"latch.capture": 1.0},
        "dispersion": {
            "target.r_start[2]": {"uniform": [-0.2, 0.2]},
            "servicer.v_start[1]": {"uniform": [0.02, 0.12]},
            "target.inertia_xx": {"list": [40.0, 40.0, 40.0, 40.0, 40.0, 1e9]},
        },
        "output": {"latch.captured": ["final"], "mount.q[1]": ["peak", "final"], "approach.distance": ["initial"]},
    }
    (folder / "study.toml").write_text(toml(study), encoding="utf-8")
    run = grapple("campaign", folder / "study.toml", "-o", folder / "results", check=False)
    assert run.returncode == 3, run.stderr
    return folder / "results"


@pytest.fixture(scope="module")
def table(folder):
    table = pd.read_csv(folder / "runs.csv")
    table.columns = table.columns.str.split(" ").str[0]
    return table


@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def page(folder, chromium):
    """The page in a browser that has no network and no errors."""
    tab = chromium.new_context(offline=True, viewport={"width": 1400, "height": 900}).new_page()
    told = []
    tab.on("console", lambda message: message.type == "error" and told.append(message.text))
    tab.on("pageerror", lambda error: told.append(str(error)))
    tab.goto((folder / "runs.html").as_uri())
    tab.wait_for_selector("#charts .card canvas")
    tab.wait_for_timeout(300)
    yield tab
    assert told == []


def card(page, title):
    return page.locator(f'#charts .card[aria-label="{title}"]')


def coloured(page, title, variable):
    """Returns the number of pixels of a chart with about the colour of a CSS variable."""
    return card(page, title).locator("canvas").evaluate(
        """(canvas, name) => {
            const probe = document.body.appendChild(document.createElement("i"));
            probe.style.color = `var(${name})`;
            const wanted = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
            probe.remove();
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            let n = 0;
            for (let i = 0; i < data.length; i += 4) n += data[i + 3] > 150 && wanted.every((c, k) => Math.abs(data[i + k] - c) < 12);
            return n;
        }""",
        variable,
    )


def label(page, title):
    return card(page, title).locator("[role=img]").get_attribute("aria-label")


def test_the_page_has_the_numbers_of_the_table(folder, table):
    text = (folder / "runs.html").read_text(encoding="utf-8")
    assert not re.search(r"""(src|href)=["']?https?:""", text)
    data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)[1])
    assert [column["name"] for column in data["parameters"]] == ["target.r_start[2]", "servicer.v_start[1]", "target.inertia_xx"]
    assert [column["name"] for column in data["initial"]] == ["initial(approach.distance)"]
    assert [column["name"] for column in data["results"]] == ["final(latch.captured)", "peak(mount.q[1])", "final(mount.q[1])"]
    for column in data["parameters"] + data["initial"] + data["results"]:
        values = np.frombuffer(base64.b64decode(column["values"]), "<f4")
        np.testing.assert_allclose(values, table[column["name"]], rtol=1e-7, equal_nan=True)
    failed = table[table["status"] == "failed"]
    assert data["failed"] == len(failed) == RUNS // 6
    assert [run for run, _ in data["failures"]] == failed["run"].tolist()


def test_the_map_counts_and_colours_the_outcomes(page, table):
    captured = int((table["final(latch.captured)"] == 1).sum())
    failed = int((table["status"] == "failed").sum())
    expected = {"captured": captured, "missed": RUNS - captured - failed, "error": failed}
    assert min(expected.values()) > 3
    legend = card(page, "Map of outcomes").locator(".readout").inner_text()
    assert {name: int(count) for name, count in re.findall(r"(captured|missed|error) (\d+)", legend)} == expected
    for variable in ("--c2", "--c1"):
        assert coloured(page, "Map of outcomes", variable) > 20
    # A failed run has no distance at the start.
    assert coloured(page, "Map of outcomes", "--c6") == 0


def test_axes_are_quantities_at_the_start_and_varied_parameters_and_have_units(page):
    expected = "Map of captured, missed, error over initial(approach.distance) [m] and target.r_start[2] [m]"
    assert label(page, "Map of outcomes") == expected
    x = card(page, "Map of outcomes").get_by_label("x", exact=True)
    assert x.locator("option").all_inner_texts() == [
        "initial(approach.distance)",
        "target.r_start[2]",
        "servicer.v_start[1]",
        "target.inertia_xx",
    ]
    x.select_option(label="target.inertia_xx")
    assert "over target.inertia_xx [kg.m2] and" in label(page, "Map of outcomes")
    assert coloured(page, "Map of outcomes", "--c6") > 20
    x.select_option(label="initial(approach.distance)")


def test_the_map_draws_the_fraction_captured_in_classes(page, table):
    of_map = card(page, "Map of outcomes")
    of_map.get_by_label("draw").select_option(label="fraction")
    expected = "Map of the fraction captured over initial(approach.distance) [m] and target.r_start[2] [m]"
    assert label(page, "Map of outcomes") == expected
    with page.expect_download() as download:
        of_map.get_by_role("button", name="CSV").click()
    cells = pd.read_csv(download.value.path())
    runs = table[table["status"] == "ok"]
    assert cells["runs"].sum() == len(runs)
    assert (cells["runs"] * cells["fraction captured"]).sum() == pytest.approx(runs["final(latch.captured)"].sum(), rel=1e-6)
    # Classes in which all runs or none are captured have the colours of these outcomes.
    assert coloured(page, "Map of outcomes", "--c2") > 500 and coloured(page, "Map of outcomes", "--c1") > 500
    of_map.get_by_label("draw").select_option(label="points")


def test_statistics_and_histograms_follow_the_selection(page, table):
    title = "Statistic over a parameter"
    assert label(page, title) == "Chart of peak(mount.q[1]) [rad] over initial(approach.distance) [m]"
    line = coloured(page, title, "--c0")
    assert line > 50
    card(page, title).get_by_label("draw").select_option(label="points")
    assert coloured(page, title, "--c0") == 0 and coloured(page, title, "--c2") > 20
    readout = card(page, "Histogram").locator(".readout").inner_text()
    values = table["peak(mount.q[1])"].dropna()
    count, mean = re.match(r"(\d+) runs, mean (\S+),", readout).groups()
    assert int(count) == len(values)
    assert float(mean.replace("−", "-")) == pytest.approx(values.mean(), rel=1e-3)
    bars = coloured(page, "Histogram", "--c0")
    card(page, "Histogram").get_by_label("value").select_option(label="servicer.v_start[1]")
    assert label(page, "Histogram") == "Histogram of servicer.v_start[1] [m/s]"
    assert coloured(page, "Histogram", "--c0") != bars > 100


def test_failed_runs_have_their_messages(page, table):
    rows = page.locator("#tables table tr").all_inner_texts()[1:]
    failed = table[table["status"] == "failed"]
    assert len(rows) == len(failed)
    for row, run, message in zip(rows, failed["run"], failed["message"], strict=True):
        number, text, *_ = row.split("\t")
        assert int(number) == run and text == message and "inertia" in text


def test_a_study_without_outcomes_and_with_one_parameter_has_its_charts(tmp_path, chromium):
    study = {
        "model": str(EXAMPLES[0].parent / "two_link.toml"),
        "experiment": {"stop_time": 0.2, "step": 0.1},
        "dispersion": {"forearm.mass": {"grid": {"from": 0.5, "to": 1.5, "count": 3}}},
        "output": {"elbow.q": ["final"]},
    }
    (tmp_path / "study.toml").write_text(toml(study), encoding="utf-8")
    said = grapple("campaign", tmp_path / "study.toml", "-o", tmp_path / "results").stdout
    assert "results/runs.html" in said
    tab = chromium.new_page()
    told = []
    tab.on("pageerror", lambda error: told.append(str(error)))
    tab.goto((tmp_path / "results/runs.html").as_uri())
    tab.wait_for_selector("#charts .card canvas")
    titles = tab.locator("#charts h2").all_inner_texts()
    assert titles == ["Statistic over a parameter", "Histogram"] and told == []
