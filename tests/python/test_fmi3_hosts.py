"""FMUs of FMI 3.0 in importers that share no code with FMPy: Ecos in Co-Simulation, CasADi in Model Exchange.

Both import FMI 2.0 as well, and get the same bits from the FMUs of both standards.
"""

from pathlib import Path

import casadi
import importers
import numpy as np
import pytest
from conftest import EXAMPLES
from pages import tables
from test_hosts import _ecos

from fmu import Archive, CoSimulation

NAMES = [path.stem for path in EXAMPLES]


@pytest.fixture(scope="module")
def archives(tmp_path_factory, examples):
    """For each example the FMUs of FMI 2.0 and of FMI 3.0."""

    class Archives(dict):
        def __missing__(self, name):
            path = next(path for path in EXAMPLES if path.stem == name)
            self[name] = examples[name], Archive.build(path, tmp_path_factory.mktemp(name), "--fmi", "3")
            return self[name]

    return Archives()


@pytest.mark.parametrize("name", NAMES)
def test_ecos_gets_the_bits_of_fmi_2(name, archives):
    two, three = archives[name]
    types = {"Float64": "get_real", "Boolean": "get_bool", "Int32": "get_integer"}
    names = {n: types[three.variables[n].type] for n in two.outputs()}
    h = float(two.description.defaultExperiment.stepSize)
    runs = []
    for archive in archives[name]:
        with _ecos(archive, h) as host:
            assert host.init()
            host.step(50)
            getters = {n: "get_real" if archive is two else of for n, of in names.items()}
            runs.append([float(getattr(host, get)(f"arm::{n}")) for n, get in getters.items()])
            host.terminate()
    assert np.array(runs[0]).tobytes() == np.array(runs[1]).tobytes()


@pytest.mark.parametrize("name", ["two_link", "servoed_arm", "docking", "solar_arrays"])
def test_casadi_gets_the_derivatives_and_jacobians_of_fmi_2(name, archives, within):
    """At a state of a run and with inputs that are not zero; the adjoint is the transposed Jacobian's."""
    found = []
    for archive in archives[name]:
        dae = casadi.DaeBuilder(name, str(archive.directory))
        f = dae.create("f", ["x", "u"], ["ode"])
        states, inputs = list(dae.x()), list(dae.u())
        with CoSimulation(archives[name][0]) as run:
            x = run.run(np.arange(0.0, 0.3, 0.05), states)[-1]
        u = np.full(len(inputs), 0.1)
        w = 1.0 + 0.1 * np.arange(len(x))
        jacobian = np.array(casadi.DM(f.factory("J", ["x", "u"], ["jac:ode:x"])(x, u)))
        adjoint = np.array(f.factory("A", ["x", "u", "adj:ode"], ["adj:x"])(x, u, w)).ravel()
        expected = jacobian.T @ w
        error = np.abs(adjoint - expected).max() / np.abs(expected).max()
        within("CasADi's adjoint less the transposed Jacobian's, relative", error, 1e-13, "round-off of sums over the states")
        found.append((states, inputs, np.array(f(x, u)).tobytes(), jacobian.tobytes()))
    assert found[0] == found[1]


def test_the_page_has_every_example_in_every_importer():
    """The table is written by importers.py."""
    page = (Path(__file__).resolve().parents[2] / "docs/fmi3.md").read_text(encoding="utf-8")
    head, *rows = next(table for table in tables(page) if list(table[0][1:]) == importers.COLUMNS)
    assert [row[0].strip("`") for row in rows] == [importers.name_of(path) for path in importers.specs()]
    for row in rows:
        for column, cell in zip(head[1:], row[1:]):
            passed = "2.0, 3.0 (without units)" if column == "`fmi`" else "both"
            assert cell.removesuffix(" (no states)") == passed, (row[0], column)


def test_a_program_in_c_gets_the_bits_of_fmpy_in_both_standards(tmp_path):
    importers.HOST = importers.compile_host(tmp_path)
    path = next(path for path in EXAMPLES if path.stem == "docking")
    example = importers.Example(path, tmp_path)
    for fmi in 2, 3:
        importers.by_c(example, fmi)
