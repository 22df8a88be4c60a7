"""Common checks of a study and of its page: tables in Markdown, figures in SVG."""

import re
from xml.etree import ElementTree


def judge_figure(path, largest=200_000):
    """Asserts that a figure is SVG, and not too large for a repository."""
    assert ElementTree.parse(path).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert path.stat().st_size < largest, f"{path}: {path.stat().st_size} bytes"


def judge_page(page, text, whole=True):
    """Asserts that the page has all tables of a study's text with equal numbers; if not `whole`,
    that it has their rows among others."""
    written = tables(text)
    shown = {}
    for heading, *rows in tables(page.read_text(encoding="utf-8")):
        shown.setdefault(heading, [heading]).extend(rows)
    for table in written:
        assert table[0] in shown, f"the page has no table {table[0]}"
        here = shown[table[0]]
        if whole:
            assert len(here) == len(table), table[0]
        for k, row in enumerate(table):
            cells = [here[k]] if whole else here
            assert any(len(row) == len(of) and all(map(same, row, of)) for of in cells), f"the study: {row}\nthe page:  {cells}"
    return len(written)


def figures(page):
    """Returns the paths of the figures on a page."""
    return [page.parent / path for path in re.findall(r"!\[[^]]+\]\(([^)]+)\)", page.read_text(encoding="utf-8"))]


def tables(text):
    """Returns the tables of a Markdown text: each as a list of rows, the heading first, of tuples
    of cells."""
    blocks = re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE)
    lines = ([tuple(cell.strip() for cell in line.strip("| ").split("|")) for line in b.splitlines()] for b in blocks)
    return [[heading, *rows] for heading, _, *rows in lines]


def same(a, b):
    """Returns whether two cells have the same text, or numbers that differ by at most one in the
    last digit."""
    number = r"-?\d+\.(\d+)(?:e([-+]\d+))?"
    shape = re.fullmatch(number, a)
    if a == b or not shape or not re.fullmatch(number, b):
        return a == b
    unit = 10.0 ** (int(shape[2] or 0) - len(shape[1]))
    return abs(float(a) - float(b)) < 1.5 * unit
