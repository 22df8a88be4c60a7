"""The documentation's site (scripts/site): it loads nothing from elsewhere, its links lead to
anchors, its equations and notebooks are there. With GRAPPLE_LONG all notebooks are executed."""

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from urllib.parse import unquote, urlsplit

import pytest
from lxml import html
from native import ROOT
from native import grapple_fmu as grapple

pytest.importorskip("mkdocs", reason="site/requirements.txt is not installed")
SITE = ROOT / "target/site"
SOURCES = ROOT / "target/site-source/pages"
NOTEBOOKS = [] if os.environ.get("GRAPPLE_LONG") else ["mathematics_of_a_model", "robot_on_a_bus"]


@pytest.fixture(scope="module")
def pages():
    """The pages of the built site by their paths, parsed."""
    environment = {**os.environ, "PYTHON": sys.executable}
    run = subprocess.run(["bash", ROOT / "scripts/site", *NOTEBOOKS], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return {path: html.parse(path).getroot() for path in sorted(SITE.rglob("*.html"))}


def elsewhere(address):
    """Returns whether an address leads to another host."""
    return bool(urlsplit(address).netloc)


def of_styles(text):
    """Returns the addresses in style sheets that are not the data themselves."""
    assert "@import" not in text
    found = [address.strip(" '\"") for address in re.findall(r"url\(([^)]*)\)", text)]
    return [address for address in found if not address.startswith("data:")]


def test_no_page_loads_anything_from_elsewhere(pages):
    for path, page in pages.items():
        loaded = page.xpath("//@src | //@poster | //object/@data | //link[not(@rel = 'canonical')]/@href")
        assert not [address for address in loaded if elsewhere(address)], path
        assert not of_styles("".join(page.xpath("//style/text() | //@style"))), path
        # Scripts of the theme load diagrams and facts about a repository for these elements only.
        assert not page.xpath("//*[contains(@class, 'mermaid') or @data-md-component = 'source']"), path
    for path in SITE.rglob("*.css"):
        for address in of_styles(path.read_text(encoding="utf-8")):
            assert (path.parent / address).is_file(), f"{path}: {address}"


def test_links_lead_to_files_and_anchors(pages):
    anchors = {path: set(page.xpath("//@id | //a/@name")) for path, page in pages.items()}
    for path, page in pages.items():
        for address in page.xpath("//a/@href"):
            link = urlsplit(address)
            if link.scheme or link.netloc:
                continue
            target = (path.parent / unquote(link.path)).resolve() if link.path else path
            assert target.is_file(), f"{path}: {address}"
            assert not link.fragment or unquote(link.fragment) in anchors[target], f"{path}: {address}"


def test_every_equation_is_rendered(pages):
    counts = {}
    for source in [*SOURCES.glob("docs/*.md"), *SOURCES.glob("docs/theory/*.md")]:
        text = source.read_text(encoding="utf-8")
        counts[source] = len(re.findall(r"^ *```math$", text, re.MULTILINE)) + text.count("$$") // 2
    assert sum(counts.values()) > 50
    for source, expected in counts.items():
        path = SITE / source.relative_to(SOURCES).with_suffix(".html")
        page = pages[path.with_name("index.html") if source.name == "README.md" else path]
        assert len(page.xpath("//*[@class = 'katex-display']")) == expected, source
        equations = page.xpath("//*[@class = 'arithmatex']")
        assert all(equation.xpath("./span[starts-with(@class, 'katex')]") for equation in equations), source
        assert not page.xpath("//*[contains(@class, 'katex-error')]"), source
        # Dollars of equations that were not recognised.
        prose = page.xpath("//article//text()[not(ancestor::code or ancestor::annotation)]")
        assert not [text for text in prose if "$" in text], source


def test_the_reference_has_the_whole_package(pages):
    anchors = set(pages[SITE / "docs/api.html"].xpath("//@id"))
    internal = {"Model.linearisation", "Simulation.event_log", "Simulation.set_values"}
    for name in set(grapple.__all__) - {"__version__"}:
        of = getattr(grapple, name)
        public = {name}
        for base in inspect.getmro(of) if inspect.isclass(of) else ():
            if base.__module__.startswith("grapple_fmu"):
                public |= {f"{name}.{part}" for part in {*vars(base), *vars(base).get("__annotations__", ())} if not part.startswith("_")}
        missing = {f"grapple_fmu.{part}" for part in public - internal} - anchors
        assert not missing, "without a docstring"


def test_notebooks_have_their_outputs(pages):
    for name in NOTEBOOKS or [path.stem for path in (ROOT / "docs/notebooks").glob("*.md")]:
        notebook = json.loads((SITE / f"docs/notebooks/{name}.ipynb").read_text(encoding="utf-8"))
        outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
        assert any("image/png" in of.get("data", {}) or "text/html" in of.get("data", {}) for of in outputs), name
    (frame,) = pages[SITE / "docs/notebooks/robot_on_a_bus.html"].xpath("//article//iframe/@src")
    page = (SITE / "docs/notebooks" / frame).read_text(encoding="utf-8")
    assert "ur5e.shoulder_lift_joint" in page and page.rstrip().endswith("</html>")


@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
def test_pages_work_in_a_browser_without_network(pages):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_context(offline=True).new_page()
        requests, errors = [], []
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((SITE / "docs/notebooks/robot_on_a_bus.html").as_uri())
        page.frame_locator("article iframe").locator("canvas").first.wait_for()
        page.goto((SITE / "docs/theory/impacts.html").as_uri())
        assert page.locator(".katex-display").first.bounding_box()["height"] > 10
        fonts = page.evaluate("document.fonts.ready.then(() => [...document.fonts].filter(f => f.status == 'loaded').map(f => f.family))")
        assert {"KaTeX_Main", "KaTeX_Math", "Inter Variable"} <= set(fonts), fonts
        page.locator("input.md-search__input").fill("reaction null space")
        page.locator(".md-search-result__item a", has_text="Python").first.wait_for()
        browser.close()
    assert len(requests) > 20 and all(address.startswith(("file:", "data:", "blob:", "about:")) for address in requests), requests
    assert not errors, errors
