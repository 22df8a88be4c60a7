"""Fixtures of all tests, and the table of the errors that were reached."""

import os
import re
import signal
import zipfile
from pathlib import Path

import fmpy
import fmpy.simulation
import lark
import pytest

from fmu import Archive

_FOLDER = Path(__file__).resolve().parents[2] / "examples"
EXAMPLES = [*sorted(_FOLDER.glob("*.toml")), _FOLDER / "tasks/reach.toml"]

_reached = {}


_parse, _forms = lark.Lark.parse, set()


def _form(name):
    """Returns a name with identifiers and numbers of one character, which is valid if and only if the
    name is: the grammar has no words but `der(`. Quoted names, with their escapes, stay."""
    if "'" in name:
        return name
    short = {"der(": "der("}
    return re.sub(
        r"[A-Za-z_][A-Za-z0-9_]*\(?|[0-9]+",
        lambda word: short.get(word[0], "1" if word[0].isdigit() else "a(" if word[0].endswith("(") else "a"),
        name,
    )


def _parse_once(parser, name):
    """FMPy's validation parses every variable's name, which takes milliseconds, and needs only the
    error; a few forms of names recur in all archives."""
    if (parser.source_grammar, _form(name)) not in _forms:
        _parse(parser, name)
        _forms.add((parser.source_grammar, _form(name)))


lark.Lark.parse = _parse_once


_extract, _libraries = fmpy.extract, {}


def _extract_once(filename, unzipdir=None, include=None):
    """FMPy decompresses the library for every archive, 8 MB that are mostly the same in all of them:
    the bytes of one with the same checksum and size are written again."""
    with zipfile.ZipFile(filename) as archive:
        items = [item for item in archive.infolist() if item.filename.startswith("binaries/") and not item.is_dir()]
        items = {item.filename: item for item in items if include is None or include(item.filename)}
        folder = Path(_extract(filename, unzipdir, lambda name: name not in items and (include is None or include(name))))
        for name, item in items.items():
            key = item.CRC, item.file_size
            if key not in _libraries:
                _libraries[key] = archive.read(item)
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(_libraries[key])
    return folder


fmpy.extract = fmpy.simulation.extract = _extract_once


@pytest.fixture(autouse=True)
def working_folder():
    """FMPy stays in an FMU's folder if it fails to load the library: without this, every later test of
    the process would fail once that folder is removed."""
    folder = os.getcwd()
    yield
    os.chdir(folder)


@pytest.fixture(scope="session")
def examples(tmp_path_factory):
    """The FMUs of all examples by name, each built once in each process: `examples["two_link"]`."""

    class Examples(dict):
        def __missing__(self, name):
            path = next(path for path in EXAMPLES if path.stem == name)
            self[name] = Archive.build(path, tmp_path_factory.mktemp(name))
            return self[name]

    return Examples()


@pytest.fixture
def build(tmp_path):
    """A function that builds the FMU of a spec: `build(dictionary_or_text)`."""
    count = 0

    def build(spec, *options):
        nonlocal count
        count += 1
        return Archive.build(spec, tmp_path / str(count), *options)

    return build


@pytest.fixture
def interruptible():
    """SIGINT raises KeyboardInterrupt; the processes of pytest-xdist ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def within(request):
    """`within(claim, number, tolerance, reason)` asserts that a number is at most the tolerance,
    and keeps the largest number of each claim for the table at the end."""

    def within(claim, number, tolerance, reason):
        number = float(number)
        request.node.user_properties.append(("within", (claim, number, tolerance)))
        assert number <= tolerance, f"{claim}: reached {number:.3g}, allowed {tolerance:.3g} ({reason})"

    return within


def pytest_runtest_logreport(report):
    # With pytest-xdist the reports of all processes come to the one that prints.
    if report.when == "call":
        for name, value in report.user_properties:
            if name == "within":
                claim, number, tolerance = value
                worst, _ = _reached.get(claim, (-1.0, tolerance))
                if not number <= worst:
                    _reached[claim] = (number, tolerance)


def pytest_terminal_summary(terminalreporter):
    if _reached:
        terminalreporter.section("worst number reached, and the number allowed")
        for claim, (number, tolerance) in _reached.items():
            terminalreporter.write_line(f"{number:9.2e}  of {tolerance:7.0e}  {claim}")
