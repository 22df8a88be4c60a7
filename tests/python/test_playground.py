"""The playground (scripts/playground) in Chromium: messages at their places, completion, runs with
the bits of the native library, broken and endless specs. Its program takes minutes to compile: the
tests are skipped if there is no page, or one older than its sources; with GRAPPLE_LONG they then fail."""

import gzip
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "target/playground/index.html"
PARTS = ["src", "modelDescription/src", "fmu-build/src", "fmu-build/assets", "playground", "site/playground", "examples"]
PARTS += ["Cargo.toml", "Cargo.lock", "site/package-lock.json"]
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (Debian's package is called chromium)")
SOFTWARE = ["--no-sandbox", "--disable-background-networking", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
# A module of WebAssembly with a memory, whose function _start traps: a program that panics.
TRAP = "0061736d01000000010401600000030201000503010001071302066d656d6f72790200065f737461727400000a05010300000b"
# A body that moves with constant velocity.
BALL = 'name = "ball"\n\n[body.ball]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\nstart = { velocity = [1.0, 0.0, 0.0] }\n\n[experiment]\nstop_time = 2.0\nstep = 0.1\n'


def newest(paths):
    """Returns the time of the last change of files, and of those in folders."""
    files = (file for path in paths for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file())
    return max(file.stat().st_mtime for file in files)


@pytest.fixture(scope="module")
def built():
    """The path of the page."""
    if not PAGE.is_file() or newest([PAGE]) < newest([ROOT / part for part in PARTS]):
        assert "GRAPPLE_LONG" not in os.environ, "scripts/playground has not built the page"
        pytest.skip("there is no page of these sources: scripts/playground builds it")
    return PAGE


@pytest.fixture(scope="module")
def browser(built):
    """A Chromium, and what pages in it requested and reported."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=SOFTWARE)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser, request):
    """The playground after its first run, without a network. Ends with a check that nothing was
    loaded and no script failed."""
    tab = browser.new_context(offline=True, viewport={"width": 1400, "height": 850}).new_page()
    requests, errors = [], []
    tab.on("request", lambda asked: requests.append(asked.url))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto(PAGE.as_uri() + getattr(request, "param", ""))
    tab.wait_for_function("performance.getEntriesByName('motion').length")
    yield tab
    assert all(address.startswith(("file:", "data:", "blob:", "about:")) for address in requests), requests
    assert not errors, errors
    tab.context.close()


def opened(page, text, file="ball.toml"):
    """Opens a spec, waits for the end of its run, and returns the text above the picture."""
    page.evaluate("([file, text]) => playground.open(file, text)", [file, text])
    page.wait_for_function("!playground.state.running", timeout=120_000)
    return page.locator("#status").inner_text()


def typed(page, after, text, removed=0):
    """Writes a text after the first occurrence of another, in place of some characters there."""
    script = """([after, text, removed]) => {
      const { view } = playground.spec;
      const from = view.state.doc.toString().indexOf(after) + after.length;
      view.dispatch({ changes: { from, to: from + removed, insert: text }, selection: { anchor: from + text.length } });
      view.focus();
    }"""
    page.evaluate(script, [after, text, removed])


def completions(page, after, text):
    """Returns the words that are offered after a text has been written, and removes it."""
    before = page.evaluate("playground.spec.text")
    typed(page, after, text)
    page.keyboard.press("Control+Space")
    page.locator(".cm-tooltip-autocomplete li").first.wait_for()
    found = page.locator(".cm-tooltip-autocomplete .cm-completionLabel").all_inner_texts()
    page.keyboard.press("Escape")
    page.evaluate("text => playground.spec.open(text)", before)
    return found


def test_first_motion_comes_without_a_click_and_the_page_is_small(built, browser):
    assert len(gzip.compress(built.read_bytes(), 6)) < 6e6
    times = []
    for _ in range(3):
        tab = browser.new_page()
        tab.goto(built.as_uri())
        tab.wait_for_function("performance.getEntriesByName('motion').length")
        times.append(tab.evaluate("performance.getEntriesByName('motion')[0].startTime"))
        picture = tab.frames[1]
        at = picture.evaluate("Number(document.querySelector('#timeline').value)")
        picture.wait_for_function("at => Number(document.querySelector('#timeline').value) > at", arg=at)
        tab.close()
    print(f"first motion after {times[0]:.0f}, then {min(times[1:]):.0f} ms")


def test_errors_and_warnings_are_shown_at_their_places(page):
    opened(page, BALL)
    assert "no problems: 1 body, 0 joints" in page.locator("#messages").inner_text()
    typed(page, "mass", "e")
    error = page.locator(".message.error").first
    error.wait_for()
    assert error.inner_text().startswith("4:1\nbody \"ball\", masse: unknown field `masse`")
    assert page.locator(".cm-lint-marker-error").count() == 1
    assert page.locator(".cm-lintRange-error").all_inner_texts() == ["masse"]
    assert page.locator("#bar.error").inner_text().startswith("Not run: the spec has errors")
    error.click()
    assert page.evaluate("playground.spec.view.state.doc.lineAt(playground.spec.view.state.selection.main.head).number") == 4
    typed(page, "mass", "", 1)
    page.locator(".message.good").wait_for()
    page.wait_for_function("!playground.state.running")
    assert page.locator("#status").inner_text().startswith("21 rows, computed in")
    typed(page, "mass = ", "1e-9", 3)
    warning = page.locator(".message.warning").first
    warning.wait_for()
    assert re.match(r"\d+:\d+", warning.inner_text()) and page.locator(".cm-lint-marker-warning").count() == 1


def test_completion_offers_what_the_schema_has(page):
    assert {"body", "joint", "experiment", "solver"} <= set(completions(page, "step = 0.01\n", "\n["))
    assert {"beam", "start", "attitude_servo"} <= set(completions(page, "step = 0.01\n", "\n[body.base."))
    assert set(completions(page, "[frame.tip]\n", "o")) >= {"origin", "orientation"}
    assert '"prismatic"' in completions(page, "[joint.elbow]\ntype = ", '"')
    assert '"radau5"' in completions(page, "step = 0.01\n", '\n[solver]\nmethod = "r')
    assert {"position", "velocity"} <= set(completions(page, "mass = 4.0\n", "start = { "))
    assert {'"base"', '"forearm"', '"world"'} <= set(completions(page, "[frame.tip]\nbody = ", '"'))
    page.locator(".cm-line", has_text="mass_centre").first.locator("span", has_text="mass_centre").hover()
    page.locator(".cm-tooltip .field", has_text="mass centre").wait_for()


def numbers(page, file):
    """Returns the table of an example's run in the browser as text, or the reason why there is none."""
    script = """async ([file]) => {
      const data = JSON.parse(document.getElementById("data").textContent);
      const files = new Map(Object.entries(data.files).map(([name, text]) => [name, new TextEncoder().encode(text)]));
      const lines = [];
      const patience = { seconds: 900, why: () => "no end" };
      const words = ["run", file, "900", "run.html", "run.csv"];
      const written = await playground.engine.run(words, files, ["run.csv"], (line) => lines.push(line), patience);
      const table = written.get("run.csv");
      return [table ? new TextDecoder().decode(table) : null, lines];
    }"""
    return page.evaluate(script, [file])


def test_every_example_has_the_bits_of_the_native_library(page, tmp_path):
    examples = page.evaluate("JSON.parse(document.getElementById('data').textContent).examples.map((one) => one.file)")
    on_disk = {path.name for path in (ROOT / "examples").glob("*.toml")}
    assert {file.split("/")[1] for file in examples if file.count("/") == 1} == on_disk
    for file in examples:
        table, lines = numbers(page, file)
        assert table is not None, f"{file}: {lines}"
        to = tmp_path / "native.csv"
        run = subprocess.run([os.environ["GRAPPLE"], "simulate", ROOT / file, "--no-page", "--output", to], capture_output=True, text=True)
        assert run.returncode == (0 if lines[-1]["failure"] is None else 1), f"{file}: {run.stderr} {lines[-1]}"
        native = to.read_text(encoding="utf-8")
        rows = [k for k, (a, b) in enumerate(zip(table.splitlines(), native.splitlines())) if a != b]
        assert table == native, f"{file}: row {rows[:1]} of {len(native.splitlines())} differs"


@pytest.mark.parametrize("page", ["?limit=1"], indirect=True)
def test_endless_runs_end_and_the_page_stays_alive(page):
    # Many steps: the run ends at the limit, with the picture up to there.
    endless = BALL.replace("stop_time = 2.0", "stop_time = 1e5") + '[solver]\nmethod = "rk4"\nstep = 1e-4\n'
    status = opened(page, endless)
    assert "after 1 s of computing, the limit here" in status, status
    assert page.frame_locator("#frames iframe").locator("h1").inner_text() == "ball"
    # One step, which is longer than the solver's limit of evaluations.
    one = endless.replace("step = 0.1", "step = 1e5")
    status = opened(page, one)
    assert "work limit of 1000000 evaluations" in status, status
    # ... which is so large that it does not end.
    one += "work_limit = 1000000000\n"
    status = opened(page, one)
    assert status.startswith("Stopped: no end within 3 s of computing"), status
    # Stopped by hand.
    page.evaluate("text => void playground.open('ball.toml', text)", one)
    page.locator("#stop:not(:disabled)").click()
    assert page.locator("#status").inner_text() == "Stopped: the run was ended by you."
    assert opened(page, BALL).startswith("21 rows")


def test_broken_specs_and_panics_leave_the_page_alive(page):
    for text, part in {
        "": "missing field `name`",
        "a = [[[[\n": "expected `]`",
        "a = " + "[" * 100_000: "recursion",
        "\0\x7f": "",
        BALL + '[body.ball.shape.skin]\ntype = "mesh"\nfile = "foo.stl"\n': "This page has the files of the examples only.",
        'include = ["no.toml"]\n' + BALL: "cannot read no.toml",
        BALL.replace("0.1\n", "1e-12\n"): "100 million steps",
    }.items():
        status = opened(page, text)
        assert page.locator("#bar.error").count() == 1, f"{text[:40]!r}: {status}"
        assert part in page.locator("#left #messages").inner_text() + status, f"{text[:40]!r}"
    page.evaluate(
        """code => {
          const bytes = Uint8Array.from(code.match(/../g), (two) => parseInt(two, 16));
          playground.program = playground.engine.module;
          playground.engine.module = WebAssembly.compile(bytes);
        }""",
        TRAP,
    )
    assert opened(page, BALL).startswith("The program crashed and was started anew: RuntimeError: unreachable")
    page.evaluate("() => { playground.engine.module = playground.program; }")
    assert opened(page, BALL).startswith("21 rows")


def test_the_address_has_the_spec(page, browser):
    opened(page, BALL)
    page.locator("#share").click()
    page.wait_for_function("location.hash.includes('spec=')")
    other = browser.new_page()
    other.goto(page.url)
    other.wait_for_function("performance.getEntriesByName('motion').length")
    assert other.evaluate("playground.spec.text") == BALL
    assert other.frame_locator("#frames iframe").locator("h1").inner_text() == "ball"
    other.close()
