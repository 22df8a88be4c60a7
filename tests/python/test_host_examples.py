"""The examples for importers in examples/hosts: those that can run here run, and give the numbers of their page."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import fmpy
import numpy as np
import pytest
from pages import same, tables
from programs import program
from scipy.integrate import solve_ivp

from fmu import CoSimulation, ModelExchange

HOSTS = Path(__file__).resolve().parents[2] / "examples" / "hosts"
PAGE = (HOSTS / "README.md").read_text(encoding="utf-8")
NUMBER = r"-?\d+\.\d+(?:e-?\d+)?"

closed_loop = program("hosts/fmpy_closed_loop")


def printed(name, directory):
    """Runs a program; returns pairs of the numbers in its lines and in the page's lines, whose
    texts must agree."""
    run = subprocess.run([sys.executable, HOSTS / name, "--output", directory], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    shown = re.search(rf"^{re.escape(name)}\n(.*?)\n(?:\n|```)", PAGE, re.MULTILINE | re.DOTALL)[1].split("\n")
    # FMPy warns of variables without an input.
    lines = [line for line in run.stdout.splitlines() if not line.startswith("Warning: missing input")]
    assert [re.sub(NUMBER, "#", line) for line in lines] == [re.sub(NUMBER, "#", line) for line in shown]
    return [(re.findall(NUMBER, here), re.findall(NUMBER, there)) for here, there in zip(lines, shown)]


def test_open_loop_agrees_in_both_interfaces_and_conserves_energy(tmp_path, within):
    angles, (differences, _) = printed("fmpy_open_loop.py", tmp_path)
    assert all(map(same, *angles))
    within("open loop, Model Exchange in CVODE against Co-Simulation, rad", differences[0], 1e-8, "tolerances of 1e-9")
    within("open loop, energy less work, J", abs(float(differences[1])), 1e-9, "the tolerance times 1 J")
    assert (tmp_path / "open_loop.svg").is_file()


@pytest.mark.parametrize("name", ["fmpy_closed_loop.py", "ssp_closed_loop.py"])
def test_external_control_loop_differs_from_internal_servos_by_the_documented_first_order(name, tmp_path, within):
    lines = printed(name, tmp_path)
    assert all(same(a, b) for here, there in lines for a, b in zip(here, there))
    errors = np.array([float(here[0]) for here, _ in lines])
    orders = np.log2(errors[:-1] / errors[1:])
    within("order of the loops in examples/hosts, off one", np.abs(orders - 1.0).max(), 0.05, "the next power of the step")


@pytest.mark.skipif(sys.platform != "linux", reason="it loads the library of 64-bit Linux")
def test_importer_in_c_prints_the_values_of_fmpy(examples, tmp_path):
    archive = examples["servoed_arm"]
    compiler = shutil.which("cc") or pytest.skip("there is no C compiler")
    headers = Path(fmpy.__file__).parent / "c-code"
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    host = tmp_path / "host"
    subprocess.run([compiler, *strict, "-I", headers, HOSTS / "co_simulation.c", "-ldl", "-o", host], check=True)
    run = subprocess.run([host, archive.directory], capture_output=True, text=True)
    assert run.returncode == 0 and not run.stderr
    rows = np.array([line.split() for line in run.stdout.splitlines()], float)
    assert rows.shape == (51, 3)
    with CoSimulation(archive) as cs:
        for k, row in enumerate(rows):
            assert tuple(row[1:]) == tuple(cs.read(["shoulder.q", "elbow.q"])), "the same calls give the same bits"
            cs.set({"elbow.tau": 5.0 if k < 10 else -5.0 if k < 20 else 0.0})
            cs.t = 0.1 * k
            cs.step(0.1)
    assert abs(rows[-1, 2]) > 0.1, "it moves"


def test_the_page_gives_the_numbers_of_the_modelica_model(examples):
    """The model's equations, solved by SciPy around the Model Exchange FMU."""
    shown = {row[0]: row[1] for table in tables(PAGE) for row in table[1:] if row[0].startswith("`craft.")}
    archive = examples["servoed_arm"]
    text = (HOSTS / "modelica" / "ClosedLoop.mo").read_text()
    assert "shoulder(c = 900, d = 600)" in text and "elbow(c = 400, d = 250)" in text
    lag, until = 1e-3, 5.0
    with ModelExchange(archive) as me:
        measured = [name for of in (closed_loop.Q, closed_loop.QD, closed_loop.Q_REF, closed_loop.QD_REF) for name in of]

        def derivative(t, y):
            me.set(dict(zip(closed_loop.TORQUES, y[-2:])))
            dx = me.derivative(t, y[:-2])
            asked = closed_loop.torques(*me.read(measured).reshape(4, 2))
            return np.concatenate([dx, (asked - y[-2:]) / lag])

        y, t = np.concatenate([me.x, np.zeros(2)]), 0.0
        while t < until:
            end = min(until, me.next_event or until)
            run = solve_ivp(derivative, (t, end), y, "RK45", rtol=1e-8, atol=1e-9)
            y, t = run.y[:, -1], end
            me.at(t, y[:-2])
            if t < until:
                me.event()
        q = me.read(closed_loop.Q)
    for joint, value in zip(closed_loop.JOINTS, q):
        assert same(f"{value:.6f}", shown[f"`craft.sensors.{joint}_q` at 5 s"]), f"{joint}.q = {value:.6f} rad"
