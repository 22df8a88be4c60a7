"""The page of a run in a real browser: Debian's Chromium, without a network."""

import csv
import io
import shutil

import pytest
from conftest import EXAMPLES
from fmu import grapple
from PIL import Image
from playwright.sync_api import sync_playwright

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (Debian's package is called chromium)")

# Name, seconds of the run.
RUNS = {"docking": 60, "ssrms_flexible": 5, "servicer_orbit": 20, "beam_in_grasp": 2, "klak_2020_quaternion": 2}
SOFTWARE = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The page and the rows of each run."""
    folder = tmp_path_factory.mktemp("pages")
    made = {}
    for path in EXAMPLES:
        if path.stem in RUNS:
            page, table = folder / f"{path.stem}.html", folder / f"{path.stem}.csv"
            grapple("simulate", path, "--stop-time", RUNS[path.stem], "--output", table, "--report", page)
            with table.open(encoding="utf-8") as lines:
                made[path.stem] = page, list(csv.DictReader(lines))
    return made


@pytest.fixture
def browser(request):
    """Opens a page; told afterwards is what it logged and asked for."""
    arguments = ["--no-sandbox", "--disable-background-networking", *getattr(request, "param", SOFTWARE)]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        page = chromium.new_page(viewport={"width": 1400, "height": 900})
        page.told, page.asked = [], []
        page.on("console", lambda message: page.told.append(message.text))
        page.on("pageerror", lambda error: page.told.append(str(error)))
        page.on("request", lambda asked: page.asked.append(asked.url))
        yield page
        chromium.close()


def drawn(page):
    """What the canvas shows."""
    return Image.open(io.BytesIO(page.locator("#craft canvas").first.screenshot())).convert("RGB")


@pytest.mark.parametrize("name", RUNS)
def test_the_craft_is_drawn_and_plays(name, pages, browser):
    path, rows = pages[name]
    browser.goto(path.as_uri())
    browser.wait_for_timeout(500)
    before = drawn(browser)
    colours = before.getcolors(1 << 20)
    assert len(colours) > 100, "the picture is blank"
    browser.click("#play")
    browser.wait_for_function("Number(document.querySelector('#timeline').value) > 3")
    browser.click("#play")
    assert drawn(browser).tobytes() != before.tobytes()
    # Scrubbed to the end, the clock says when that is.
    browser.evaluate("() => { const t = document.querySelector('#timeline'); t.value = t.max; t.dispatchEvent(new Event('input')); }")
    assert browser.inner_text("#clock") == f"{RUNS[name]} s"
    assert float(rows[-1]["time [s]"]) == RUNS[name]
    assert browser.told == []
    assert browser.asked == [path.as_uri()]


@pytest.mark.parametrize("name", RUNS)
def test_any_variable_can_be_charted_with_the_numbers_of_the_table(name, pages, browser):
    path, rows = pages[name]
    browser.goto(path.as_uri())
    columns = [column for column in rows[-1] if column != "time [s]"]
    listed = browser.evaluate("() => [...document.querySelectorAll('#names option')].map((option) => option.value)")
    assert listed == [column.split(" [")[0] for column in columns]
    for column in columns[:: len(columns) // 7]:
        variable = column.split(" [")[0]
        browser.fill("[name=variable]", variable)
        browser.click("text=New chart")
        card = browser.locator(".card").filter(has=browser.get_by_role("heading", name=variable, exact=True)).first
        shown = card.locator(".u-series .u-value").last.inner_text().replace("−", "-")
        # Single precision, and four digits where there is an exponent.
        assert float(shown) == pytest.approx(float(rows[-1][column]), rel=6e-4, abs=1e-38), variable
    assert browser.told == []


@pytest.mark.parametrize("browser", [["--disable-gpu", "--disable-3d-apis"]], indirect=True)
def test_without_webgl_the_page_says_so_and_draws_the_charts(pages, browser):
    path, _ = pages["docking"]
    browser.goto(path.as_uri())
    assert "WebGL" in browser.locator("#craft").inner_text()
    assert browser.locator(".card canvas").count() > 3
    assert not any("Uncaught" in told for told in browser.told)
