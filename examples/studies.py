"""Common parts of the studies in the folders beside this file: the tool that builds FMUs, access to
FMU variables by name, and the command line."""

import argparse
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Slave
from fmpy.fmi3 import FMU3Slave


@functools.cache
def _unpacked(fmu, changed):
    folder = tempfile.TemporaryDirectory()
    fmpy.extract(str(fmu), folder.name)
    return folder, fmpy.read_model_description(folder.name)


def unpacked(fmu):
    """Returns the folder and the model description of an FMU. It is unpacked once in a process; the
    folder is removed at the end."""
    folder, description = _unpacked(Path(fmu), Path(fmu).stat().st_mtime_ns)
    return folder.name, description


class Instance:
    """An FMU of FMI 2.0 or 3.0 in Co-Simulation whose variables are accessed by name. `start` values
    are set before the end of initialisation. Derivatives of inputs and `matrix` are those of FMI
    2.0."""

    def __init__(self, fmu, start=None, tolerance=None):
        folder, description = unpacked(fmu)
        self.variables = {variable.name: variable for variable in description.modelVariables}
        self.states = [derivative.variable.derivative.name for derivative in description.derivatives]
        fmi3 = description.fmiVersion.startswith("3")
        self.slave = (FMU3Slave if fmi3 else FMU2Slave)(
            guid=description.guid,
            unzipDirectory=folder,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName=description.modelName,
        )
        self.slave.instantiate()
        if fmi3:
            self.slave.enterInitializationMode(startTime=0.0, tolerance=tolerance)
        else:
            self.slave.setupExperiment(startTime=0.0, tolerance=tolerance)
            self.slave.enterInitializationMode()
        for name, value in (start or {}).items():
            self.set([name], [value])
        self.slave.exitInitializationMode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.slave.terminate()
        self.slave.freeInstance()

    def of(self, names):
        return [self.variables[name].valueReference for name in names]

    def by_type(self, names):
        """Returns for each type of variables its name, the places in `names`, and the references."""
        types = {}
        for place, name in enumerate(names):
            variable = self.variables[name]
            places, references = types.setdefault(variable.type, ([], []))
            places.append(place)
            references.append(variable.valueReference)
        return [(of, *lists) for of, lists in types.items()]

    def get(self, names):
        values = np.empty(len(names))
        for of, places, references in self.by_type(names):
            values[places] = getattr(self.slave, f"get{of}")(references)
        return values

    def set(self, names, values):
        for of, places, references in self.by_type(names):
            converted = {"Boolean": bool, "Int32": int}.get(of, float)
            getattr(self.slave, f"set{of}")(references, [converted(values[place]) for place in places])

    def set_derivatives(self, names, values, order=1):
        self.slave.setRealInputDerivatives(self.of(names), [order] * len(names), list(values))

    def lead(self, names, here, there, h):
        """Sets inputs and derivatives so that the inputs follow cubics during `h` s; `here` and
        `there` are values and rates at the ends."""
        delta = (there[0] - here[0]) / h
        self.set(names, here[0])
        self.set_derivatives(names, here[1])
        self.set_derivatives(names, (6 * delta - 4 * here[1] - 2 * there[1]) / h, 2)
        self.set_derivatives(names, (6 * here[1] + 6 * there[1] - 12 * delta) / h**2, 3)

    def step(self, t, h):
        self.slave.doStep(currentCommunicationPoint=t, communicationStepSize=h)

    def matrix(self, unknowns, knowns):
        """Returns partial derivatives of the unknowns, a column for each known."""
        unknowns = self.of(unknowns)
        columns = [self.slave.getDirectionalDerivative(unknowns, [known], [1.0]) for known in self.of(knowns)]
        return np.array(columns).T


def build(tool, key, text, directory, *options):
    """Writes a spec, `<key>.toml`, and builds its FMU with the tool's options; returns the FMU's path.
    An invalid spec ends the study with the tool's report."""
    spec, fmu = directory / f"{key}.toml", directory / f"{key}.fmu"
    spec.write_text(text, encoding="utf-8")
    run = subprocess.run([tool, "build", spec, "--output", fmu, *options], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{tool} build {spec}\n{run.stdout}{run.stderr}")
    return fmu


def names(name, n):
    """Returns the names of a vector's components."""
    return [f"{name}[{i + 1}]" for i in range(n)]


def command_line(description, output):
    """Returns a parser with the options of every study; a study may add its own."""
    parser = argparse.ArgumentParser(description=description)
    tool = os.environ.get("GRAPPLE", "grapple")
    parser.add_argument("--grapple", default=tool, help="the tool; default: $GRAPPLE, or grapple")
    parser.add_argument("--output", type=Path, default=Path(output), help="default: %(default)s")
    return parser


def options(parser):
    """Returns the parsed options; exits with an error if the tool does not exist."""
    arguments = parser.parse_args()
    arguments.output = arguments.output.resolve()  # FMPy needs the absolute path of what it unpacks there
    if not shutil.which(arguments.grapple):
        parser.error(f"{arguments.grapple!r} is no program: install grapple, or give its path with --grapple")
    return arguments
