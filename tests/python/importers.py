"""Runs the FMUs of all examples, of both standards, in importers, and prints the table of docs/fmi3.md.

    cargo build --manifest-path tests/interop/Cargo.toml --example run
    GRAPPLE=$PWD/target/debug/grapple python tests/python/importers.py [NAME...]

The names are those of specs in `examples`, without their ending; without names all examples are
run. Reasons of cells that do not pass are printed below the table, and the program then fails.

- XML: the standard's schema and FMPy's validation find nothing.
- Co-Simulation (FMPy, `fmi-rs`, `fmi`, the C program): all Real outputs after 50 communication
  steps have the bits of FMI 2.0 in FMPy. Ecos computes its communication points in another way: both
  standards have equal bits, and differ from FMPy by less than 1e-8 of the values or nominal values.
- Model Exchange: FMPy integrates 50 steps with CVode and agrees with Co-Simulation at a tolerance of
  1e-10 within 1e-4 of the nominal values; `fmi-rs` and `fmi` get the derivatives and outputs of the start, by bits.
- CasADi: the derivatives of the start, by bits; adjoints are the transposed Jacobian's within 1e-13.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import casadi
import fmpy
import numpy as np
from fmpy.fmi3 import FMU3Slave
from fmpy.validation import validate_fmu
from lxml import etree
from test_hosts import _ecos

from fmu import Archive, CoSimulation, ModelExchange

ROOT = Path(__file__).resolve().parents[2]
RUN = ROOT / "tests/interop/target/debug/examples/run"
STEPS = 50
COLUMNS = ["XML", "FMPy CS", "FMPy ME", "`fmi-rs`", "`fmi`", "Ecos CS", "CasADi ME", "C CS"]


def specs():
    """Returns the specs of all examples that are models of their own."""
    names = re.findall(r"\[([\w/]+\.toml)\]", (ROOT / "examples/README.md").read_text())
    links = re.findall(r"\]\(([\w/]+\.toml)\)", (ROOT / "examples/README.md").read_text())
    paths = [ROOT / "examples" / name for name in dict.fromkeys([*names, *links])]
    # A net's threads amplify round-off as they become taut, also that of Ecos' communication points.
    others = {"campaign/capture_envelope", "identification/payload", "tethers/net"}
    return [path for path in paths if path.is_file() and name_of(path) not in others]


def name_of(path):
    return str(path.relative_to(ROOT / "examples").with_suffix(""))


class Example:
    """The FMUs of one example, and the values that all importers must get."""

    def __init__(self, path, folder):
        self.path = path
        self.archives = {
            2: Archive.build(path, folder / "2"),
            3: Archive.build(path, folder / "3", "--fmi", "3"),
        }
        two = self.archives[2]
        self.h = float(two.description.defaultExperiment.stepSize)
        three = self.archives[3].variables
        self.outputs = [name for name in two.outputs() if three[name].type == "Float64"]
        self.references = [two.variables[name].valueReference for name in self.outputs]
        with CoSimulation(two) as run:
            for k in range(STEPS):
                run.t = k * self.h
                run.step(self.h)
            self.values = run.read(self.outputs)
        with CoSimulation(two, tolerance=1e-10) as run:
            for k in range(STEPS):
                run.t = k * self.h
                run.step(self.h)
            self.last_states = run.read(two.states)
        with ModelExchange(two) as model:
            self.x = model.x
            self.dx = model.derivative(0.0, self.x)
            self.first = model.read(self.outputs)

    def nominal(self, names):
        return np.array([self.archives[2].nominal(name) for name in names])


def same(found, expected):
    found = np.asarray(found, float)
    assert found.shape == expected.shape, f"{found.shape} in place of {expected.shape}"
    assert found.tobytes() == expected.tobytes(), f"differs by {np.abs(found - expected).max():.1e}"


def xml(example, fmi):
    path = example.archives[fmi].path
    with zipfile.ZipFile(path) as archive:
        root = etree.fromstring(archive.read("modelDescription.xml"))
    schema = Path(fmpy.__file__).parent / "schema" / f"fmi{fmi}" / f"fmi{fmi}ModelDescription.xsd"
    etree.XMLSchema(file=str(schema)).assertValid(root)
    assert validate_fmu(str(path)) == []


def fmpy_cs(example, fmi):
    if fmi == 2:
        return  # The values with which the others are compared.
    archive = example.archives[3]
    slave = FMU3Slave(
        guid=archive.description.guid,
        unzipDirectory=str(archive.directory),
        modelIdentifier=archive.description.coSimulation.modelIdentifier,
        instanceName="it",
    )
    slave.instantiate()
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    for k in range(STEPS):
        slave.doStep(k * example.h, example.h)
    same(slave.getFloat64(example.references), example.values)
    slave.fmi3FreeInstance(slave.component)


def fmpy_me(example, fmi):
    archive = example.archives[fmi]
    if not archive.states:
        return "no states"
    table = fmpy.simulate_fmu(
        str(archive.path),
        fmi_type="ModelExchange",
        stop_time=STEPS * example.h,
        output_interval=example.h,
        output=archive.states,
        relative_tolerance=1e-9,
    )
    last = np.array([table[name][-1] for name in archive.states])
    off = np.abs(last - example.last_states) / example.nominal(archive.states)
    assert off.max() < 1e-4, f"{archive.states[off.argmax()]} differs by {off.max():.1e} of the nominal value"


def crate(name):
    """Returns the check of one of the crates."""

    def check(example, fmi):
        path = example.archives[fmi].path
        if name == "fmi" and fmi == 3:
            path = without_refused(path)
        for interface, count, expected in (
            ("cs", STEPS, example.values),
            ("me", len(example.x), np.concatenate([example.dx, example.first])),
        ):
            arguments = [name, fmi, interface, path, repr(example.h), count, *example.references]
            run = subprocess.run([RUN, *map(str, arguments)], capture_output=True, text=True)
            assert run.returncode == 0, run.stderr.strip()
            bits = np.array([int(line, 16) for line in run.stdout.split()], np.uint64)
            same(bits.view(float), expected)
        return "without units" if name == "fmi" and fmi == 3 else None

    return check


def without_refused(fmu):
    """Copies an FMU without what the crate `fmi` refuses in FMI 3.0."""
    target = fmu.with_name("plain.fmu")
    with zipfile.ZipFile(fmu) as archive, zipfile.ZipFile(target, "w") as copy:
        for item in archive.infolist():
            data = archive.read(item)
            if item.filename == "modelDescription.xml":
                data = REFUSED.sub(b"", data)
            copy.writestr(item, data, zipfile.ZIP_STORED)
    return target


# Units of variables, their definitions (with the base unit A), and nominal values.
REFUSED = re.compile(rb' (?:unit|displayUnit|nominal)="[^"]*"|<UnitDefinitions>.*</UnitDefinitions>', re.DOTALL)


def ecos(example, fmi):
    found = []
    for version in {2, fmi}:
        with _ecos(example.archives[version], example.h) as host:
            assert host.init()
            host.step(STEPS)
            found.append(np.array([host.get_real(f"arm::{name}") for name in example.outputs]))
            host.terminate()
    same(found[-1], found[0])
    off = np.abs(found[0] - example.values) / np.maximum(example.nominal(example.outputs), np.abs(example.values))
    assert off.max() < 1e-8, f"{example.outputs[off.argmax()]} differs by {off.max():.1e}"


def by_casadi(example, fmi):
    archive = example.archives[fmi]
    if not archive.states:
        return "no states"
    dae = casadi.DaeBuilder("it", str(archive.directory))
    f = dae.create("f", ["x", "u"], ["ode"])
    assert list(dae.x()) == archive.states
    u = np.array([float(archive.variables[name].start) for name in dae.u()])
    same(np.array(f(example.x, u)).ravel(), example.dx)
    w = 1.0 + 0.1 * np.arange(len(example.x))
    jacobian = np.array(casadi.DM(f.factory("J", ["x", "u"], ["jac:ode:x"])(example.x, u)))
    adjoint = np.array(f.factory("A", ["x", "u", "adj:ode"], ["adj:x"])(example.x, u, w)).ravel()
    # The terms of each sum over the unknowns.
    scale = np.abs(jacobian).T @ w
    off = np.abs(adjoint - jacobian.T @ w)
    assert np.all(off <= 1e-13 * scale.max()), f"adjoints differ by {off.max() / scale.max():.1e}"


def by_c(example, fmi):
    archive = example.archives[fmi]
    identifier = archive.description.coSimulation.modelIdentifier
    folder = {2: "linux64", 3: "x86_64-linux"}[fmi]
    resources = {2: f"file://{archive.directory}/resources", 3: f"{archive.directory}/resources/"}[fmi]
    arguments = [fmi, archive.directory / f"binaries/{folder}/{identifier}.so", archive.description.guid, resources]
    arguments += [repr(example.h), STEPS, *example.references]
    run = subprocess.run([HOST, *map(str, arguments)], capture_output=True, text=True)
    assert run.returncode == 0 and not run.stderr, run.stderr.strip()
    same([float.fromhex(line) for line in run.stdout.split()], example.values)


def compile_host(folder):
    headers = Path(fmpy.__file__).parent / "c-code"
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    command = [shutil.which("cc"), *strict, "-I", headers, Path(__file__).with_name("host.c"), "-ldl", "-o", folder / "host"]
    subprocess.run(command, check=True)
    return folder / "host"


CHECKS = [xml, fmpy_cs, fmpy_me, crate("fmi-rs"), crate("fmi"), ecos, by_casadi, by_c]


def cell(check, example, problems, column):
    """Returns the text of a cell: the standards that pass, each with its remark."""
    parts = []
    for fmi in 2, 3:
        try:
            remark = check(example, fmi)
            parts.append(f"{fmi}.0" if remark is None else f"{fmi}.0 ({remark})")
        except Exception as error:
            problems.append(f"{name_of(example.path)}, {column}, FMI {fmi}.0: {error}")
    if len(parts) == 2 and parts[0][3:] == parts[1][3:]:
        return "both" + parts[0][3:]
    return ", ".join(parts) or "–"


def main():
    global HOST
    # Libraries of importers print on standard output.
    table = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    chosen = [path for path in specs() if not sys.argv[1:] or name_of(path) in sys.argv[1:]]
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        HOST = compile_host(folder)
        print("| example | " + " | ".join(COLUMNS) + " |", file=table)
        print("|---" * (len(COLUMNS) + 1) + "|", file=table)
        for k, path in enumerate(chosen):
            example = Example(path, folder / str(k))
            cells = [cell(check, example, problems, column) for check, column in zip(CHECKS, COLUMNS)]
            print(f"| `{name_of(path)}` | " + " | ".join(cells) + " |", file=table, flush=True)
            shutil.rmtree(folder / str(k))
    print(*problems, sep="\n", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
