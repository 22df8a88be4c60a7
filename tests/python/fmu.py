"""Builds FMUs with the finished tool and calls them through FMPy, by variable names.

This module has no notion of bodies or joints: a variable is a name, a value reference and a number.
The calls go through FMPy's own classes (`FMU2Model`, `FMU2Slave`), so FMPy checks every call; only
its loops over lists are replaced by arrays that are allocated once.
"""

import ctypes
import os
import subprocess
from pathlib import Path

import fmpy
import numpy as np
from fmpy import fmi2
from scipy.integrate import solve_ivp

DOUBLE_P = ctypes.POINTER(ctypes.c_double)
FORMULATIONS = ["recursive", "quaternion", "dual_quaternion", "natural"]


def grapple(*arguments, check=True):
    """Runs the tool whose path is in the environment variable GRAPPLE; returns the finished
    process."""
    tool = os.environ.get("GRAPPLE")
    if not tool or not Path(tool).is_file():
        raise RuntimeError(f"the environment variable GRAPPLE must be the path of the tool: {tool!r} is no file")
    run = subprocess.run([str(Path(tool).resolve()), *map(str, arguments)], capture_output=True, text=True)
    if check and run.returncode != 0:
        raise RuntimeError(f"grapple {' '.join(map(str, arguments))}\n{run.stdout}{run.stderr}")
    return run


def toml(table, path=()):
    """Returns nested dictionaries as the text of a spec. Numbers are written so that they read back
    exactly."""
    lines, tables = [], []
    for key, value in table.items():
        if isinstance(value, dict):
            tables.append((key, value))
        else:
            lines.append(f"{_key(key)} = {_value(value)}")
    text = "\n".join(lines) + "\n" if lines else ""
    if path and lines:
        text = f"\n[{'.'.join(map(_key, path))}]\n" + text
    return text + "".join(toml(value, (*path, key)) for key, value in tables)


def _key(key):
    return key if key.replace("_", "").isalnum() else f'"{key}"'


def _value(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (int, float, np.floating, np.integer)):
        return repr(float(value)) if not isinstance(value, (int, np.integer)) else str(int(value))
    return "[" + ", ".join(_value(item) for item in value) + "]"


class Archive:
    """An FMU that was built and unpacked."""

    def __init__(self, path, directory, validate=False):
        self.path = Path(path)
        self.directory = Path(directory)
        fmpy.extract(str(path), unzipdir=str(directory))
        self.description = fmpy.read_model_description(str(directory), validate=validate)
        self.variables = {v.name: v for v in self.description.modelVariables}
        self.derivatives = [d.variable.name for d in self.description.derivatives]
        self.states = [d.variable.derivative.name for d in self.description.derivatives]

    @classmethod
    def build(cls, spec, directory, *options):
        """Builds an FMU from a spec: a `Path`, a text or a dictionary."""
        directory = Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        if isinstance(spec, dict):
            spec = toml(spec)
        if isinstance(spec, str):
            file = directory / "spec.toml"
            file.write_text(spec)
            spec = file
        fmu = directory / f"{Path(spec).stem}.fmu"
        grapple("build", spec, "--output", fmu, *options)
        return cls(fmu, directory / "unpacked")

    def outputs(self):
        """Names of the outputs that are Real."""
        return [v.name for v in self.description.modelVariables if v.causality == "output" and v.type == "Real"]

    def nominal(self, name):
        return float(self.variables[name].nominal or 1.0)

    def scales(self, names, rows):
        """Returns each variable's range over the rows, or its nominal value if the range is below
        0.1 % of that (conserved quantities)."""
        nominals = np.array([self.nominal(name) for name in names])
        ranges = np.ptp(rows, axis=0)
        return np.where(ranges > 1e-3 * nominals, ranges, nominals)


class _Instance:
    """Common part of Model Exchange and Co-Simulation."""

    def __init__(self, archive, model_class, identifier, start, tolerance, stop_time):
        self.archive = archive
        self.messages = []
        self.fmu = model_class(
            guid=archive.description.guid,
            unzipDirectory=str(archive.directory),
            modelIdentifier=identifier,
            instanceName="instance",
        )
        callbacks = fmi2.fmi2CallbackFunctions()
        callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(self._log)
        callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(fmpy.calloc)
        callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(fmpy.free)
        self._readers = {}
        self._writers = {}
        self.fmu.instantiate(callbacks=callbacks, loggingOn=True)
        self.component = self.fmu.component
        self.initialise(start or {}, tolerance, stop_time)

    def _log(self, environment, instance, status, category, message):
        self.messages.append((status, category.decode(), message.decode()))

    def initialise(self, start, tolerance, stop_time):
        self.t = 0.0
        self.fmu.setupExperiment(tolerance=tolerance, startTime=0.0, stopTime=stop_time)
        self.set(start)
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()

    def set(self, values):
        """Sets variables of any type by name."""
        numbers = {}
        for name, value in values.items():
            variable = self.archive.variables[name]
            if variable.type == "Real":
                numbers[name] = value
            else:
                getattr(self.fmu, f"set{variable.type}")([variable.valueReference], [value])
        if numbers:
            self.write(tuple(numbers), np.fromiter(numbers.values(), float))

    def write(self, names, values):
        """Sets many Real variables at once."""
        if names not in self._writers:
            self._writers[names] = self._references(names)
        references = self._writers[names]
        values = np.ascontiguousarray(values, dtype=float)
        self.fmu.fmi2SetReal(self.component, references, len(names), values.ctypes.data_as(DOUBLE_P))

    def read(self, names):
        """Returns the values of many Real variables as a new array."""
        names = tuple(names)
        if names not in self._readers:
            buffer = np.zeros(len(names))
            self._readers[names] = (self._references(names), buffer, buffer.ctypes.data_as(DOUBLE_P))
        references, buffer, pointer = self._readers[names]
        self.fmu.fmi2GetReal(self.component, references, len(names), pointer)
        return buffer.copy()

    def get(self, name):
        """Returns one variable of any type; see `vector` for `name[1..n]`."""
        variable = self.archive.variables[name]
        value = getattr(self.fmu, f"get{variable.type}")([variable.valueReference])[0]
        return bool(value) if variable.type == "Boolean" else value

    def along(self, unknowns, seeds):
        """Returns directional derivatives of `unknowns` along `{known: seed}`."""
        variables = self.archive.variables
        references = [[variables[name].valueReference for name in names] for names in (unknowns, seeds)]
        return np.array(self.fmu.getDirectionalDerivative(*references, list(seeds.values())))

    def vector(self, name, n=3):
        return self.read([f"{name}[{i + 1}]" for i in range(n)])

    def _references(self, names):
        variables = self.archive.variables
        return (ctypes.c_uint * len(names))(*(variables[name].valueReference for name in names))

    def close(self):
        if self.component is not None:
            # The library stays loaded: other instances of the same archive may exist.
            self.fmu.fmi2FreeInstance(self.component)
            self.component = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class ModelExchange(_Instance):
    """An instance in Continuous-Time Mode: an ODE with named variables."""

    def __init__(self, archive, start=None, tolerance=None, stop_time=None):
        identifier = archive.description.modelExchange.modelIdentifier
        super().__init__(archive, fmi2.FMU2Model, identifier, start, tolerance, stop_time)

    def initialise(self, start, tolerance, stop_time):
        super().initialise(start, tolerance, stop_time)
        self.discrete()
        self.n = len(self.archive.states)
        self.n_indicators = self.archive.description.numberOfEventIndicators
        self._x, self._dx, self._z = np.zeros(self.n), np.zeros(self.n), np.zeros(self.n_indicators)
        self._px, self._pdx, self._pz = (a.ctypes.data_as(DOUBLE_P) for a in (self._x, self._dx, self._z))

    def discrete(self):
        """Iterates the event and leaves Event Mode. Sets `next_event` to the time of the next time
        event, or None."""
        while True:
            needed, self.terminate, _, changed, defined, t = self.fmu.newDiscreteStates()
            if not needed:
                break
        self.next_event = t if defined else None
        self.fmu.enterContinuousTimeMode()
        return changed

    def event(self):
        self.fmu.enterEventMode()
        return self.discrete()

    @property
    def x(self):
        self.fmu.fmi2GetContinuousStates(self.component, self._px, self.n)
        return self._x.copy()

    def at(self, t, x):
        """Sets time and states."""
        self.t = t
        self._x[:] = x
        self.fmu.fmi2SetTime(self.component, float(t))
        self.fmu.fmi2SetContinuousStates(self.component, self._px, self.n)

    def derivative(self, t, x):
        """Returns the right-hand side of the ODE."""
        self.at(t, x)
        self.fmu.fmi2GetDerivatives(self.component, self._pdx, self.n)
        return self._dx.copy()

    def dynamics(self, state, inputs=None):
        """Returns the forward dynamics at one state: `{state: value}, {input: value}` to
        `{derivative: value}`."""
        if inputs:
            self.set(inputs)
        dx = self.derivative(self.t, [state[name] for name in self.archive.states])
        return dict(zip(self.archive.derivatives, dx))

    def indicators(self):
        self.fmu.fmi2GetEventIndicators(self.component, self._pz, self.n_indicators)
        return self._z.copy()

    def integrate(self, times, names, rtol, method="DOP853"):
        """Integrates with a method of SciPy, stopping at time events; returns the outputs at
        `times`. For systems without state events."""
        nominals = np.array([self.archive.nominal(name) for name in self.archive.states])
        rows, x = [], self.x
        times = np.asarray(times, dtype=float)
        t_now, pending = 0.0, list(times)
        while pending:
            end = times[-1] if self.next_event is None else min(times[-1], self.next_event)
            here = [t for t in pending if t <= end]
            pending = pending[len(here) :]
            if end > t_now:
                run = solve_ivp(
                    self.derivative,
                    (t_now, end),
                    x,
                    method,
                    t_eval=sorted({*here, end}),
                    rtol=rtol,
                    atol=rtol * nominals,
                )
                assert run.success, run.message
                columns = dict(zip(run.t, run.y.T))
            else:
                columns = {end: x}
            for t in here:
                self.at(t, columns[t])
                rows.append(self.read(names))
            t_now, x = end, columns[end]
            self.at(t_now, x)
            if self.next_event is not None and t_now >= self.next_event:
                if self.event():
                    x = self.x
        return np.array(rows)


class CoSimulation(_Instance):
    """A Co-Simulation instance after initialisation."""

    def __init__(self, archive, start=None, tolerance=None, stop_time=None):
        identifier = archive.description.coSimulation.modelIdentifier
        super().__init__(archive, fmi2.FMU2Slave, identifier, start, tolerance, stop_time)

    def step(self, h):
        self.fmu.fmi2DoStep(self.component, self.t, h, 1)
        self.t += h

    def to(self, t):
        """Makes one step that ends exactly at `t`."""
        self.fmu.fmi2DoStep(self.component, self.t, t - self.t, 1)
        self.t = t

    def run(self, times, names):
        """Returns the values of `names` at increasing `times`; the first may be the present
        time."""
        rows = []
        for t in times:
            if t > self.t:
                self.to(t)
            rows.append(self.read(names))
        return np.array(rows)
