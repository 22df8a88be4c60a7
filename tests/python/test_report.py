"""The HTML page of a run, opened in a real browser: Debian's Chromium, without a network."""

import base64
import csv
import io
import json
import os
import re
import shutil
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import EXAMPLES
from fmu import grapple
from PIL import Image
from playwright.sync_api import sync_playwright

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (Debian's package is called chromium)")

# Example: duration of its run, s.
RUNS = {"docking": 60, "ssrms_flexible": 5, "servicer_orbit": 20, "beam_in_grasp": 2, "klak_2020_quaternion": 2}
# Examples that are drawn and charted: a modal and an ANCF beam; with GRAPPLE_LONG all of RUNS.
DRAWN = list(RUNS) if "GRAPPLE_LONG" in os.environ else ["docking", "beam_in_grasp"]
# A bouncing ball of radius 0.1 m.
BOUNCE = """
name = "bounce"
[environment]
gravity = [0.0, 0.0, -9.81]
[body.ball]
mass = 1.0
inertia = [0.004, 0.004, 0.004]
start = { position = [0.0, 0.0, 1.0], velocity = [0.3, 0.0, 0.0] }
[body.ball.shape.skin]
type = "sphere"
radius = 0.1
[contact.floor]
a = "ball"
b = "world"
surface = "plane"
radius_a = 0.1
e = 0.7
[experiment]
stop_time = 2.0
step = 0.05
"""
DIRECTOR = """
name = "director"
[body.hub]
mass = 20.0
inertia = [2.0, 3.0, 4.0]
start = { angular_velocity = [0.2, 0.0, 1.0] }
[body.boom.geometrically_exact_beam]
length = 3.0
elements = 6
mass_per_length = 0.7
polar_inertia_per_length = 0.03
EA = 9e3
GA = 400.0
GJ = 50.0
EI_y = 6.0
EI_z = 3.0
[joint.root]
type = "fixed"
parent = "hub"
child = "boom"
[frame.tip]
body = "boom"
origin = [3.0, 0.0, 0.0]
[experiment]
stop_time = 1.0
step = 0.05
"""
# Every type of shape, on a rigid body, a modal beam, a geometrically exact beam and an ANCF beam.
SHAPES = """
name = "shapes"
[body.bus]
mass = 500.0
inertia = [80.0, 90.0, 100.0]
[body.bus.shape]
hull = { type = "box", size = [1.0, 1.2, 1.4], colour = "gold" }
tank = { type = "sphere", radius = 0.4, origin = [0.0, 0.0, 0.9] }
nozzle = { type = "cone", radius = 0.3, length = 0.5, origin = [0.0, 0.0, -0.9], colour = "#44444488" }
dish = { type = "cylinder", radius = 0.5, length = 0.1, origin = [0.0, -0.8, 0.2], rpy_deg = [90.0, 0.0, 0.0] }
fin = { type = "mesh", file = "fin.stl", scale = [2.0, 2.0, -2.0], colour = "#ff00ff" }
[body.mast.beam]
length = 6.0
mass_per_length = 1.0
EI = 1e4
GJ = 2e3
polar_inertia_per_length = 0.1
bending = 2
torsion = 1
[body.mast.shape.truss]
type = "truss"
size = [6.0, 0.4, 0.4]
origin = [3.0, 0.0, 0.0]
[joint.root]
type = "fixed"
parent = "bus"
child = "mast"
origin = [0.5, 0.0, 0.0]
[body.sail.geometrically_exact_beam]
length = 3.0
elements = 3
mass_per_length = 0.7
polar_inertia_per_length = 0.03
EA = 9e3
GA = 400.0
GJ = 50.0
EI = 6.0
[body.sail.shape.panel]
type = "panel"
size = [3.0, 1.8, 0.04]
origin = [1.5, 0.0, 0.0]
[joint.sail_root]
type = "fixed"
parent = "bus"
child = "sail"
origin = [-0.5, 0.0, 0.0]
[ancf_beam.rope]
length = 4.0
elements = 2
mass_per_length = 0.5
EA = 1e4
EI = 1.0
start = { position = [0.0, 1.5, 0.0] }
[ancf_beam.rope.shape.band]
type = "panel"
size = [4.0, 0.5, 0.02]
origin = [2.0, 0.0, 0.0]
[frame.knot]
body = "rope"
origin = [4.0, 0.0, 0.0]
[wheel.spin]
body = "bus"
mass = 10.0
inertia = 0.8
torque_limit = 1.0
rate_limit = 100.0
rate = 3.0
[port.push]
frame = "bus"
[signal."push.f[3]"]
type = "constant"
amplitude = 100.0
from_importer = false
[experiment]
stop_time = 0.5
step = 0.05
"""
FIN = "solid f\nfacet normal 0 0 0\nouter loop\nvertex 0 0 1\nvertex 1 0 1\nvertex 0 1 2\nendloop\nendfacet\nendsolid f\n"
HELD = """
type = "table"
times = [0.0, 30.0]
values = [1.0, 0.0]
interpolation = "hold"
"""
# Frames whose names coincide with names that the tool would choose for its own objects.
TAKEN = "".join(f"\n[frame.line{stem}_{k}]\nbody = 'target'\n" for stem in ("1", "_1") for k in range(17))
# WebGL by SwiftShader; charts are painted without it, in a fraction of the time.
SOFTWARE = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-accelerated-2d-canvas"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Each example's page and the rows of its run: `pages["docking"]`."""
    folder = tmp_path_factory.mktemp("pages")

    class Pages(dict):
        def __missing__(self, name):
            path = next(path for path in EXAMPLES if path.stem == name)
            page, table = folder / f"{name}.html", folder / f"{name}.csv"
            grapple("simulate", path, "--stop-time", RUNS[name], "--output", table, "--report", page)
            with table.open(encoding="utf-8") as lines:
                self[name] = page, list(csv.DictReader(lines))
            return self[name]

    return Pages()


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Page, rows and the tool's output of runs of specs that are not examples."""
    folder = tmp_path_factory.mktemp("written")
    docking, dual_arm = ((EXAMPLES[0].parent / f"{name}.toml").read_text(encoding="utf-8") for name in ("docking", "dual_arm"))
    released = docking.replace('type = "constant"', HELD)
    assert released != docking
    made = {}
    (folder / "fin.stl").write_text(FIN, encoding="utf-8")
    specs = {"bounce": BOUNCE, "director": DIRECTOR, "shapes": SHAPES, "released": released, "taken": docking + TAKEN, "braked": dual_arm}
    for name, spec in specs.items():
        path, page, table = (folder / f"{name}.{extension}" for extension in ("toml", "html", "csv"))
        path.write_text(spec, encoding="utf-8")
        said = grapple("simulate", path, "--output", table, "--report", page).stdout
        with table.open(encoding="utf-8") as lines:
            made[name] = page, [{column: float(value) for column, value in row.items()} for row in csv.DictReader(lines)], said
    return made


@pytest.fixture(scope="module")
def chromium():
    """Returns a tab of a Chromium with the arguments; each is started once. The tests share the tab,
    since the first page in a new one takes twice the time."""
    with sync_playwright() as playwright:
        running, tabs = [], {}

        def tab(arguments):
            if arguments not in tabs:
                running.append(playwright.chromium.launch(executable_path=CHROMIUM, args=[*arguments]))
                page = tabs[arguments] = running[-1].new_page()
                page.on("console", lambda message: page.told.append(message.text))
                page.on("pageerror", lambda error: page.told.append(str(error)))
                page.on("request", lambda asked: page.asked.append(asked.url))
            return tabs[arguments]

        yield tab
        for one in running:
            one.close()


@pytest.fixture
def browser(request, chromium):
    """A browser page; it records its console messages (`told`) and its requests (`asked`)."""
    page = chromium(("--no-sandbox", "--disable-background-networking", *getattr(request, "param", SOFTWARE)))
    page.set_viewport_size({"width": 1000, "height": 700})
    page.told, page.asked = [], []
    yield page
    page.goto("about:blank")


def drawn(page):
    """Returns a screenshot of the canvas."""
    return Image.open(io.BytesIO(page.locator("#craft canvas").first.screenshot())).convert("RGB")


def scrub(page, i):
    """Moves the time slider to row `i`."""
    page.evaluate("i => { const t = document.querySelector('#timeline'); t.value = i; t.dispatchEvent(new Event('input')); }", i)


def choose(page, option, label):
    """Selects an entry of one of the bar's lists."""
    page.locator("label", has_text=option).locator("select").select_option(label=label)


def coloured(page, name, picture=None):
    """Returns the number of pixels in the picture, or in one drawn before, with one of the page's
    colours."""
    colour = page.evaluate("name => getComputedStyle(document.documentElement).getPropertyValue(name)", name).strip()
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])
    return int((np.abs(np.asarray(picture or drawn(page), dtype=int) - rgb).max(axis=2) <= 2).sum())


def data(path):
    """Returns the data that the tool wrote into a page."""
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', path.read_text(encoding="utf-8"), re.S)[1])


def shown(text):
    """Returns a number shown on the page."""
    return float(text.replace("−", "-"))


def silent(page, path):
    assert page.told == []
    assert page.asked == [path.as_uri()]


@pytest.mark.parametrize("name", DRAWN)
def test_the_spacecraft_is_drawn_and_animated(name, pages, browser):
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
    # At the end of the slider the clock shows the stop time.
    scrub(browser, 10**9)
    assert browser.inner_text("#clock") == f"{RUNS[name]} s"
    assert float(rows[-1]["time [s]"]) == RUNS[name]
    assert browser.told == []
    assert browser.asked == [path.as_uri()]


@pytest.mark.parametrize("name", DRAWN)
def test_any_variable_can_be_charted_with_the_numbers_of_the_table(name, pages, browser):
    path, rows = pages[name]
    browser.goto(path.as_uri())
    columns = [column for column in rows[-1] if column != "time [s]"]
    listed = browser.evaluate("() => [...document.querySelectorAll('#names option')].map((option) => option.value)")
    names = [column.split(" [")[0] for column in columns]
    assert listed[: len(names)] == names
    assert set(listed[len(names) :]) == {f"|{name[:-3]}|" for name in names if name.endswith("[2]")}
    for column in columns[:: len(columns) // 7]:
        variable = column.split(" [")[0]
        browser.fill("[name=variable]", variable)
        browser.click("text=New chart")
        card = browser.locator(".card").filter(has=browser.get_by_role("heading", name=variable, exact=True)).first
        shown = card.locator(".u-series .u-value").last.inner_text().replace("−", "-")
        # The page has single precision, and four digits for numbers with an exponent.
        assert float(shown) == pytest.approx(float(rows[-1][column]), rel=6e-4, abs=1e-38), variable
    assert browser.told == []


def test_impacts_and_releases_are_marked_where_and_when_they_happen(written, browser):
    path, rows, _ = written["released"]
    browser.goto(path.as_uri())
    time = [row["time [s]"] for row in rows]
    events = {rows[-1]["latch.time [s]"]: "captures", 30.0: "releases"}
    marks = browser.locator(".mark.contact")
    assert marks.count() == len(events)
    slider = browser.locator("#timeline").bounding_box()
    for k, (t, what) in enumerate(events.items()):
        mark = marks.nth(k)
        assert f'contact "latch" {what}' in mark.get_attribute("aria-label")
        box = mark.bounding_box()
        # The slider's thumb has a radius of 8 pixels.
        expected = slider["x"] + 8 + (slider["width"] - 16) * t / time[-1]
        assert box["x"] + box["width"] / 2 == pytest.approx(expected, abs=1)
        mark.click()
        first = next(instant for instant in time if instant >= t)
        assert shown(browser.inner_text("#clock").removesuffix(" s")) == pytest.approx(first, abs=1e-5)
    # The marker of the contact has the colour of a capture while the bodies are captured.
    for i in (0, 48, 49, 299, 300, len(time) - 1):
        scrub(browser, i)
        picture = drawn(browser)
        assert (coloured(browser, "--good", picture) > 50) == (rows[i]["latch.captured"] == 1), i
        assert coloured(browser, "--warn", picture) < 50
    silent(browser, path)


def test_the_table_of_impacts_has_the_numbers_of_the_run(written, browser):
    path, rows, _ = written["bounce"]
    browser.goto(path.as_uri())
    table = browser.locator("#tables .card").filter(has=browser.get_by_role("heading", name="Impacts and captures"))
    listed = [line.locator("td").all_inner_texts() for line in table.locator("tbody tr").all()]
    assert len(listed) == rows[-1]["floor.count"] > 3

    def norm(row, name):
        return float(np.linalg.norm([value for column, value in row.items() if column.startswith(f"floor.{name}[")]))

    for k, (t, contact, what, *numbers) in enumerate(listed):
        i = next(i for i, row in enumerate(rows) if row["floor.count"] == k + 1)
        row = rows[i]
        assert (contact, what) == ("floor", 'impacts, "ball" on "world"')
        assert shown(t) == pytest.approx(row["floor.time [s]"], rel=1e-8)
        expected = [norm(row, name) for name in ("impulse", "velocity_before", "velocity_after")]
        expected += [row["floor.restitution"], row["floor.energy_change [J]"], row["floor.virtual_mass [kg]"]]
        assert [shown(number) for number in numbers] == pytest.approx(expected, rel=1e-5)
        table.locator("tbody tr").nth(k).click()
        assert browser.input_value("#timeline") == str(i)
        # Just after an impact the contact's marker has the warning colour.
        assert coloured(browser, "--warn") > 50
    scrub(browser, 0)
    assert coloured(browser, "--warn") < 50
    silent(browser, path)


def test_brake_is_reported_and_the_page_opens_at_the_requested_time(written, browser):
    path, _, said = written["braked"]
    (t, what) = re.search(r't = (\S+) s: (joint "right_yaw" is locked; .*)', said).groups()
    browser.goto(f"{path.as_uri()}#t={t}")
    assert browser.inner_text("#clock") == f"{t} s"
    scrub(browser, 0)
    assert browser.locator(".mark").get_attribute("aria-label") == f"{t} s: {what}"
    row = browser.locator("#tables tbody tr").first
    assert row.locator("td").all_inner_texts() == [t, what]
    row.focus()
    browser.keyboard.press("Enter")
    assert browser.inner_text("#clock") == f"{t} s"
    assert browser.told == []


def test_there_is_no_table_of_impacts_without_impacts(pages, browser):
    path, _ = pages["ssrms_flexible"]
    browser.goto(path.as_uri())
    assert browser.locator("#tables h2").all_inner_texts() == ["Solver"]
    assert browser.locator(".mark").count() == 0


def test_solver_counts_equal_those_in_its_log(written, browser):
    path, _, said = written["released"]
    browser.goto(path.as_uri())
    table = browser.locator("#tables .card").filter(has=browser.get_by_role("heading", name="Solver"))
    counts = dict(zip(table.locator("th").all_inner_texts(), table.locator("td").all_inner_texts(), strict=True))
    for what in ("steps", "rejected", "evaluations", "events"):
        assert re.search(rf"\b{counts[what]} {what}\b", said), what
    assert shown(counts["mean step [s]"]) == pytest.approx(60 / int(counts["steps"]), rel=5e-3)


def test_bending_is_magnified_by_the_number_beside_the_slider(pages, browser):
    path, _ = pages["docking"]
    browser.goto(path.as_uri())
    scrub(browser, 52)
    pictures = {}
    for exponent, text in [(0, "1×"), (1.5, "32×"), (3, "1000×")]:
        browser.evaluate("v => { const s = document.querySelector('#magnify'); s.value = v; s.dispatchEvent(new Event('input')); }", exponent)
        assert browser.inner_text("#magnify + output") == text
        pictures[text] = drawn(browser).tobytes()
    assert len(set(pictures.values())) == 3
    silent(browser, path)


def test_a_trail_grows_with_time(written, browser):
    path, _, _ = written["bounce"]
    browser.goto(path.as_uri())
    scrub(browser, 40)
    assert coloured(browser, "--c4") == 0
    choose(browser, "trail", "ball")
    lengths = []
    for i in (5, 20, 40):
        scrub(browser, i)
        # The line is antialiased: not all of its pixels have its full colour.
        lengths.append(coloured(browser, "--c4"))
    assert 10 < lengths[0] < lengths[1] < lengths[2]
    choose(browser, "trail", "none")
    assert coloured(browser, "--c4") == 0
    silent(browser, path)


def test_followed_body_stays_in_the_centre_of_the_view(pages, browser):
    path, _ = pages["servicer_orbit"]
    browser.goto(path.as_uri())

    def middle():
        picture = drawn(browser)
        return np.array(picture.getpixel((picture.width // 2, picture.height // 2)), dtype=int)

    start = middle()
    scrub(browser, 10**9)
    assert np.abs(middle() - start).max() < 30
    scrub(browser, 0)
    choose(browser, "follow", "nothing")
    scrub(browser, 10**9)
    assert np.abs(middle() - start).max() > 30


def test_camera_axes_are_those_of_the_followed_body(written, browser):
    """A hub turns by 1 rad with its boom: the boom's tip stays where it is in the hub's axes, up to
    its deflection, and moves across the picture in inertial axes."""
    path, _, _ = written["director"]
    browser.goto(path.as_uri())
    browser.get_by_role("button", name="names", exact=True).click()
    choose(browser, "follow", "hub")
    browser.locator("#craft canvas").hover()
    browser.mouse.wheel(0, 800)

    def tip():
        box = browser.locator(".name.of-frame", has_text="tip").bounding_box()
        return np.array([box["x"], box["y"]])

    def moved():
        scrub(browser, 0)
        start = tip()
        scrub(browser, 20)
        return np.linalg.norm(tip() - start)

    inertial = moved()
    choose(browser, "camera axes", "its own")
    assert moved() < 0.3 * inertial and inertial > 50, "pixels"
    silent(browser, path)


def test_the_scale_is_that_of_the_picture(written, browser):
    path, _, _ = written["bounce"]
    browser.goto(path.as_uri())
    choose(browser, "follow", "ball")
    browser.get_by_role("button", name="x", exact=True).click()
    scrub(browser, 0)
    text = browser.inner_text(".scale")
    length, unit = text.split()
    metres = float(length) * {"m": 1, "mm": 1e-3}[unit]
    picture = np.asarray(drawn(browser), dtype=int)
    row = picture[picture.shape[0] // 2]
    ball = int((np.abs(row - picture[5, 5]).max(axis=1) > 40).sum())
    assert ball / browser.locator(".scale").bounding_box()["width"] * metres == pytest.approx(0.2, rel=0.05)
    browser.locator("#craft canvas").hover()
    for _ in range(10):
        browser.mouse.wheel(0, -500)
    browser.wait_for_function("text => document.querySelector('.scale').textContent !== text", arg=text)


def test_the_picture_follows_the_theme(written, browser):
    path, _, _ = written["released"]
    browser.goto(path.as_uri())
    scrub(browser, 100)
    before = drawn(browser)
    assert coloured(browser, "--good", before) > 50
    browser.emulate_media(color_scheme="dark")
    browser.wait_for_timeout(100)
    assert coloured(browser, "--good") > 50
    browser.emulate_media(color_scheme="light")
    browser.wait_for_timeout(100)
    assert drawn(browser).tobytes() == before.tobytes()
    silent(browser, path)


def test_geometrically_exact_beam_is_a_curve_through_its_nodes(written, browser):
    path, rows, _ = written["director"]
    motion = data(path)["motion"]
    assert [body["name"] for body in motion["bodies"]] == ["hub", "boom"]
    assert [[shape["kind"] for shape in body["shapes"]] for body in motion["bodies"]] == [["box"], []]
    (boom,) = motion["nodal"]
    (bar,) = boom["shapes"]
    # A bar of one material: EI_y/EI_z = z²/y² and 12 · 0.03/0.7 = y² + z².
    assert bar["kind"] == "box" and bar["size"] == pytest.approx([3.0, (12 * 0.03 / 0.7 / 3) ** 0.5, (12 * 0.03 / 0.7 * 2 / 3) ** 0.5])
    assert boom["elements"] == pytest.approx([0.5] * 6)
    (*_, r), (*_, q) = boom["r"], boom["q"]
    assert len(boom["r"]) == len(boom["q"]) == 7

    def floats(text, width=3):
        return np.frombuffer(base64.b64decode(text), "<f4").reshape(-1, width)

    tip = np.array([[row[f"tip.r[{k}] [m]"] for k in (1, 2, 3)] for row in rows])
    assert floats(r) == pytest.approx(tip, abs=1e-6)
    attitude = np.array([[row[f"boom.node[7].q[{k}]"] for k in (1, 2, 3, 4)] for row in rows])
    assert floats(q, 4) == pytest.approx(attitude, abs=1e-6)
    browser.goto(path.as_uri())
    scrub(browser, 0)
    before = drawn(browser).tobytes()
    scrub(browser, 10**9)
    assert drawn(browser).tobytes() != before
    silent(browser, path)


def test_no_name_of_a_spec_hides_how_beams_bend(pages, written):
    beams = data(pages["docking"][0])["motion"]["beams"]
    assert len(beams) == 1
    assert data(written["taken"][0])["motion"]["beams"] == beams


def saved(page, folder, act):
    """Returns the path of the file that the page saves when `act` is called."""
    with page.expect_download(timeout=60_000) as download:
        act()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def chosen(page, text):
    """Makes a chart of a quantity; returns its card."""
    page.fill("[name=variable]", text)
    page.click("text=New chart")
    return page.locator("#charts .card").filter(has=page.get_by_role("heading", name=text, exact=True)).first


def test_norms_differences_units_and_scales_of_charts(pages, browser, tmp_path):
    path, rows = pages["docking"]
    browser.goto(path.as_uri())
    v = np.array([[float(row[f"{body}.v[{k}] [m/s]"]) for k in (1, 2, 3)] for body in ("servicer", "target") for row in rows])
    speed = np.linalg.norm(v, axis=1).reshape(2, -1)

    def table(text, *choices):
        card = chosen(browser, text)
        for choose in choices:
            choose(card)
        lines = saved(browser, tmp_path, card.get_by_role("button", name="CSV").click).read_text(encoding="utf-8").splitlines()
        return lines[0], np.array([[float(cell) if cell else np.nan for cell in line.split(",")] for line in lines[1:]])

    title, norm = table("|servicer.v|", lambda card: card.locator("select").select_option(label="mm/s"))
    assert title == "time [s],|servicer.v| (value [mm/s])"
    assert norm[:, 0] == pytest.approx([float(row["time [s]"]) for row in rows])
    assert norm[:, 1] == pytest.approx(1e3 * speed[0], rel=1e-6, abs=1e-9)
    title, difference = table("|servicer.v| - |target.v|", lambda card: card.get_by_role("button", name="log").click())
    assert title.endswith("(magnitude of value [m/s])")
    expected = np.abs(speed[0] - speed[1])
    assert np.nan_to_num(difference[:, 1]) == pytest.approx(expected, rel=1e-4, abs=1e-8)
    drawing = saved(browser, tmp_path, chosen(browser, "|target.v|").get_by_role("button", name="SVG").click)
    assert "<path" in drawing.read_text(encoding="utf-8") and ElementTree.parse(drawing).getroot().tag.endswith("svg")
    # Quantities with different units have no difference.
    browser.fill("[name=variable]", "servicer.r[1] - servicer.v[1]")
    browser.click("text=New chart")
    assert "has the unit m," in browser.eval_on_selector("[name=variable]", "e => e.validationMessage")
    silent(browser, path)


def test_picture_and_film_are_saved(written, browser, tmp_path):
    path, _, _ = written["bounce"]
    browser.goto(path.as_uri())
    scrub(browser, 20)
    picture = Image.open(saved(browser, tmp_path, browser.get_by_role("button", name="PNG").click))
    assert picture.size == Image.open(io.BytesIO(browser.locator("#craft canvas").screenshot())).size
    assert len(picture.convert("RGB").getcolors(1 << 20)) > 100
    browser.get_by_role("button", name="names", exact=True).click()
    box, view = (browser.locator(of).first.bounding_box() for of in (".name:visible", "#craft canvas"))
    x, y = (round(box[side] - view[side]) for side in ("x", "y"))
    area = (x, y, x + round(box["width"]), y + round(box["height"]))
    named = Image.open(saved(browser, tmp_path, browser.get_by_role("button", name="PNG").click))
    assert picture.crop(area).tobytes() != named.crop(area).tobytes(), "the ball's name is in the picture"

    def film_a_part():
        browser.get_by_role("button", name="WebM").click()
        browser.wait_for_function("Number(document.querySelector('#timeline').value) === 3")
        browser.click("#play")

    film = saved(browser, tmp_path, film_a_part)
    assert film.name == "bounce.webm" and film.read_bytes()[:4] == b"\x1a\x45\xdf\xa3"
    silent(browser, path)


def test_picture_and_bar_stay_on_the_screen(written, browser):
    path, _, _ = written["released"]
    for width, height in [(1366, 768), (390, 844), (844, 390)]:
        browser.set_viewport_size({"width": width, "height": height})
        browser.goto(path.as_uri())
        for place in (0, 10**6):
            browser.evaluate("y => scrollTo(0, y)", place)
            for part in ("#craft canvas", "#play", "#timeline", "#clock"):
                box = browser.locator(part).bounding_box()
                assert box["x"] >= 0 and box["y"] > -1, (width, part)
                assert box["x"] + box["width"] <= width and box["y"] + box["height"] <= height, (width, part)
            assert browser.locator("#craft canvas").bounding_box()["height"] > 0.3 * height
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.told == []


def test_a_page_without_a_spacecraft_begins_with_its_title(browser, tmp_path):
    spec, page = next(path for path in EXAMPLES if path.stem == "arm_controller"), tmp_path / "page.html"
    grapple("simulate", spec, "--stop-time", 1, "-o", tmp_path / "run.csv", "--page", page)
    browser.goto(page.as_uri())
    assert not browser.is_visible("#craft")
    assert browser.locator("h1").bounding_box()["y"] < 60
    silent(browser, page)


def test_a_finger_scrolls_the_page_and_two_turn_the_picture(written, browser):
    path, _, _ = written["released"]
    browser.set_viewport_size({"width": 390, "height": 844})
    browser.goto(path.as_uri())
    touch = browser.context.new_cdp_session(browser)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})

    def drag(*ends):
        for k in range(11):
            points = [{"x": a + (c - a) * k / 10, "y": b + (d - b) * k / 10, "id": i} for i, (a, b, c, d) in enumerate(ends)]
            touch.send("Input.dispatchTouchEvent", {"type": "touchMove" if k else "touchStart", "touchPoints": points})
            browser.wait_for_timeout(16)
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    drag((200, 300, 200, 100))
    browser.wait_for_function("scrollY > 100")
    browser.wait_for_timeout(500)
    before, place = drawn(browser), browser.evaluate("scrollY")
    drag((100, 100, 100, 300), (200, 100, 200, 300))
    assert drawn(browser).tobytes() != before.tobytes()
    assert browser.evaluate("scrollY") == place
    silent(browser, path)


def test_keys_move_in_time_and_to_events(written, browser):
    path, rows, _ = written["released"]
    browser.goto(path.as_uri())

    def pressed(key):
        browser.keyboard.press(key)
        return int(browser.input_value("#timeline"))

    assert [pressed("ArrowRight"), pressed("ArrowRight"), pressed("ArrowLeft")] == [1, 2, 1]
    browser.focus("#timeline")
    first = next(i for i, row in enumerate(rows) if row["latch.captured"] == 1)
    assert [pressed("PageDown"), pressed("PageDown"), pressed("PageUp"), pressed("Home")] == [first, 300, first, 0]
    browser.get_by_role("button", name="next event").click()
    assert browser.input_value("#timeline") == str(first)
    browser.keyboard.press("f")
    browser.wait_for_function("document.fullscreenElement !== null")
    # Every control has a name for screen readers.
    names = browser.evaluate("""() => [...document.querySelectorAll("button, select, input")].map((e) =>
      e.ariaLabel || e.textContent.trim() || e.labels?.[0]?.textContent)""")
    assert all(names) and len(names) > 40
    silent(browser, path)


def test_two_runs_share_their_charts(browser, tmp_path):
    spec, page = next(path for path in EXAMPLES if path.stem == "klak_2020_quaternion"), tmp_path / "page.html"
    for name, step in (("coarse", 0.02), ("fine", 0.01)):
        grapple("simulate", spec, "--stop-time", 2, "--step", step, "-o", tmp_path / f"{name}.parquet", "--no-page")
    grapple("page", tmp_path / "coarse.parquet", tmp_path / "fine.parquet", "--model", spec, "-o", page)
    browser.goto(page.as_uri())
    card = browser.locator("#charts .card").first
    names = card.locator(".u-series th").all_inner_texts()[1:]
    half = len(names) // 2
    assert [name.split(" · ") for name in names] == [[name.split(" · ")[0], run] for run in ("coarse", "fine") for name in names[:half]]
    samples = card.locator(".u-marker").evaluate_all("all => all.slice(1).map((e) => e.style.background)")
    assert len(set(samples)) == len(names) and sum("gradient" in sample for sample in samples) == half
    _, *values = saved(browser, tmp_path, card.get_by_role("button", name="CSV").click).read_text(encoding="utf-8").splitlines()
    # Every second time is that of the fine run only.
    assert len(values) == 201 and [line.split(",")[1] == "" for line in values] == [i % 2 == 1 for i in range(201)]
    silent(browser, page)


@pytest.mark.parametrize("browser", [["--disable-gpu", "--disable-3d-apis"]], indirect=True)
def test_without_webgl_the_page_says_so_and_draws_the_charts(pages, browser):
    path, _ = pages["docking"]
    browser.goto(path.as_uri())
    assert "WebGL" in browser.locator("#craft").inner_text()
    assert browser.locator(".card canvas").count() > 3
    assert not any("Uncaught" in told for told in browser.told)


def test_shapes_axes_names_and_forces_are_drawn(written, browser):
    path, rows, _ = written["shapes"]
    motion = data(path)["motion"]
    (bus,) = [body for body in motion["bodies"] if body["name"] == "bus"]
    assert [shape["kind"] for shape in bus["shapes"]] == ["box", "sphere", "cone", "cylinder", "mesh"]
    assert [shape.get("colour") for shape in bus["shapes"]] == ["#ffd700", None, "#44444488", None, "#ff00ff"]
    (wheel,), (arrow,) = motion["wheels"], motion["arrows"]
    angle = np.frombuffer(base64.b64decode(wheel["angle"]), "<f4")
    assert angle == pytest.approx([row["spin.q [rad]"] for row in rows], rel=1e-6)
    assert (arrow["name"], arrow["unit"], arrow["at"]) == ("push", "N", "bus")
    browser.goto(path.as_uri())
    scrub(browser, 5)
    pictures = [drawn(browser).tobytes()]
    for layer in ("axes", "names", "forces"):
        button = browser.get_by_role("button", name=layer, exact=True)
        pressed = button.get_attribute("aria-pressed")
        button.click()
        assert button.get_attribute("aria-pressed") != pressed
        pictures.append(drawn(browser).tobytes())
    assert len(set(pictures)) == 4
    names = browser.locator(".name:visible").all_inner_texts()
    assert {"bus", "mast", "knot"} <= set(names) and not any("100 N" in name for name in names)
    silent(browser, path)


def test_shapes_on_a_beam_follow_its_axis(written, browser):
    """A box along a quarter of a circle with radius 4: a vertex at x, y has the radius 4 − y."""
    path, _, _ = written["shapes"]
    browser.goto(path.as_uri())
    rest, bent = browser.evaluate("""() => {
        const shapes = craftShapes(THREE, []);
        const R = 4, lengths = Array.from({ length: 257 }, (_, k) => (k / 256) * R * Math.PI / 2);
        const box = { kind: "box", size: [lengths.at(-1), 0.6, 0.2], r: [lengths.at(-1) / 2, 0, 0], q: [1, 0, 0, 0] };
        const { surface } = shapes.made(box, lengths.at(-1)).surfaces[0];
        const rest = Array.from(surface.attributes.position.array);
        shapes.follower(surface, lengths)(lengths.flatMap((s) => {
            const [sin, cos] = [Math.sin(s / R), Math.cos(s / R)];
            return [R * sin, R - R * cos, 0, -sin, cos, 0, 0, 0, 1];
        }));
        return [rest, Array.from(surface.attributes.position.array)];
    }""")
    (x, y, z), bent = np.reshape(rest, (-1, 3)).T, np.reshape(bent, (-1, 3))
    assert len(set(x.round(6))) > 40, "it is divided along the axis"
    exact = np.stack([(4 - y) * np.sin(x / 4), 4 - (4 - y) * np.cos(x / 4), z], axis=1)
    assert bent == pytest.approx(exact, abs=1e-4)
