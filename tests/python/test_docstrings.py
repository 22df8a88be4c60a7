"""Examples in the docstrings of the Python package give the results that they show."""

import ast
import doctest

import numpy as np
import pytest
from native import ROOT
from native import grapple_fmu as grapple

import grapple_fmu.gym  # noqa: F401  (an attribute of the package)

PARSER = doctest.DocTestParser()


def examples():
    """Returns the docstrings with examples, those of the extension module's stub among them."""
    found = []
    for path in sorted((ROOT / "python/grapple_fmu").rglob("*.py*")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ">>>" in (text := ast.get_docstring(node) or ""):
                found.append(pytest.param(text, f"{path.name}, {node.name}", id=node.name))
    return found


@pytest.mark.parametrize("text, place", examples())
def test_examples_in_docstrings_run(text, place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test = PARSER.get_doctest(text, {"grapple": grapple, "np": np}, place, place, 0)
    printed = []
    assert not doctest.DocTestRunner().run(test, out=printed.append).failed, "".join(printed)
