"""Figures of the elements' pages: drawn from their runs, with the closed forms beside them."""

import re

import numpy as np
import pytest
from fmu import grapple as tool
from native import grapple_fmu  # noqa: F401  the package that the example imports
from pages import figures, judge_figure
from programs import EXAMPLES, program

PAGES = {
    "tanks": "tanks",
    "gyros": "control",
    "imbalance": "control",
    "sensors": "sensors",
    "environment": "space-environment",
    "modal": "modal-data",
    "net": "tethers",
}

elements = program("elements")


@pytest.fixture(scope="module")
def drawn():
    """Returns a function of a figure's name that draws it once."""
    found = {}

    def draw(name):
        if name not in found:
            found[name] = elements.FIGURES[name]()
        return found[name]

    yield draw
    for drawing in found.values():
        elements.plt.close(drawing)


def lines(drawing):
    """Returns the ordinates of the lines by their labels."""
    return {line.get_label(): line.get_ydata() for plot in drawing.axes for line in plot.lines}


def test_all_figures_are_tested():
    assert set(PAGES) == set(elements.FIGURES)


@pytest.mark.parametrize("name", PAGES)
def test_figure_is_drawn_and_on_its_page(name, drawn, tmp_path):
    drawn(name).savefig(tmp_path / "figure.svg")
    judge_figure(tmp_path / "figure.svg")
    shown = [path for path in figures(EXAMPLES.parent / f"docs/{PAGES[name]}.md") if path.stem == name]
    assert len(shown) == 1 and shown[0].is_file()


def test_momentum_of_the_pair_is_the_closed_form(drawn, within):
    found = lines(drawn("gyros"))
    within("momentum of a scissored pair", np.abs(found["both gyros, y"] - found["2 h sin δ₁"]).max(), 1e-12, "N·m·s, of 25")


def test_jitter_of_a_rigid_satellite_is_the_closed_form(drawn, within):
    """The rate rises by 4 % in a tenth of a second at the start."""
    found = lines(drawn("imbalance"))
    off = np.abs(found["rigid satellite"] / found["U_s Ω²/m"] - 1.0)
    within("jitter of an imbalanced wheel", off.max(), 0.06, "the rate is the mean of a tenth of a second")


def test_array_bends_by_its_curvature(drawn, within):
    found = lines(drawn("environment"))
    off = np.abs(found["tip of the left array, z"] - found["κ L²/2"]).max()
    within("tip of a warm array", off, 1.5, "mm of 18: lag between rows, two modes, and drag")


def test_effective_masses_are_those_of_the_check(drawn):
    bars = drawn("modal").axes[0].patches
    tops = {}
    for bar in bars:
        centre = round(bar.get_x() + bar.get_width() / 2)
        tops[centre] = max(tops.get(centre, 0.0), bar.get_y() + bar.get_height())
    printed = tool("check", EXAMPLES / "modal_array.toml").stdout
    of = re.search(r"effective masses along x, y, z are ([\d.]+), ([\d.]+), ([\d.]+) %", printed)
    np.testing.assert_allclose([tops[i] for i in range(3)], [float(text) for text in of.groups()], atol=0.051)


def test_mouth_of_the_net_opens_and_closes(drawn):
    mouth = lines(drawn("net"))["area between the bullets"]
    assert 14.0 < mouth.max() < 16.5 and mouth[-1] < 0.5


def test_pendulum_masses_are_those_of_the_check(drawn):
    printed = tool("check", EXAMPLES / "tanks/slosh_and_gyros.toml").stdout
    for label in lines(drawn("tanks")):
        if found := re.fullmatch(r"mode (\d): ([\d.]+) kg", label):
            mass = re.search(rf"fuel_mode{found[1]}_mass +([\d.]+) kg", printed)
            assert float(found[2]) == pytest.approx(float(mass[1]), rel=5e-3)
