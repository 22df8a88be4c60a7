"""A system of four FMUs in four importers: the results and their differences.

    python examples/coupling/masters.py           a table in out/coupling

`grapple couple` connects a servicer, its client, its controller and the forces of a buffer (folder
system/) in one SSP file. It runs by `grapple simulate`, in FMPy, libcosim and Ecos; the reference is
one integration by CVode around the four Model Exchange FMUs. docs/coupling.md shows the table. Needs
FMPy, libcosimpy, ecospy (on Linux with tbb) and NumPy.
"""

import contextlib
import ctypes
import subprocess
import sys
import zipfile
from pathlib import Path

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Model

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from studies import Instance, build, command_line, names, options  # noqa: E402
from study import slopes, table  # noqa: E402

PARTS = ("servicer", "client", "controller", "buffer_forces")
FILES = {"buffer_forces": "environment"}
COMPARED = ["servicer.shoulder.q", "servicer.elbow.q", *names("client.client.r", 3)]
STOP_TIME = 3.0  # s
SAMPLE = 0.1  # s, between the times at which results are compared
STEPS = (0.004, 0.002)  # s, between communication points
TIMES = np.arange(1, round(STOP_TIME / SAMPLE) + 1) * SAMPLE


def couple(tool, directory):
    """Makes the SSP file; returns its path."""
    path = directory / "four.ssp"
    specs = [HERE / "system" / f"{FILES.get(part, part)}.toml" for part in PARTS]
    run = subprocess.run([tool, "couple", *specs, "--output", path], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr)
    return path


def by_grapple(tool, ssp, h, *more):
    """Runs the system by the tool; returns the compared variables at TIMES."""
    results = ssp.with_suffix(".csv")
    command = [tool, "simulate", ssp, "--step", str(h), "--no-page", "--output", results, *more]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr)
    with results.open(encoding="utf-8") as file:
        head = [title.split(" ")[0] for title in file.readline().strip().split(",")]
        rows = np.loadtxt(file, delimiter=",", usecols=[head.index(name) for name in ["time", *COMPARED]])
    return rows[np.searchsorted(rows[:, 0], TIMES - 1e-9), 1:]


def fmus_in(ssp):
    """Extracts the FMUs of the SSP file; returns their paths by name."""
    with zipfile.ZipFile(ssp) as archive:
        return {part: archive.extract(f"resources/{part}.fmu", ssp.parent) for part in PARTS}


def by_fmpy(ssp, h):
    """Steps the FMUs at once through FMPy. (Its function simulate_ssp sets all inputs to zero for the
    first step: the client would be pulled to the origin.)"""
    paths = fmus_in(ssp)
    with contextlib.ExitStack() as stack:
        fmus = {part: stack.enter_context(Instance(path)) for part, path in paths.items()}
        kinds = {part: {v.name: v.causality for v in fmpy.read_model_description(path).modelVariables} for part, path in paths.items()}
        wires = []
        for a in PARTS:
            for b in PARTS:
                shared = [name for name, kind in kinds[a].items() if kind == "output" and kinds[b].get(name) == "input"]
                wires += [(a, b, shared)] if a != b and shared else []
        rows = []
        for k in range(round(STOP_TIME / h)):
            for b, names_of, values in [(b, shared, fmus[a].get(shared)) for a, b, shared in wires]:
                fmus[b].set(names_of, values)
            for fmu in fmus.values():
                fmu.step(k * h, h)
            if (k + 1) % round(SAMPLE / h) == 0:
                rows.append([fmus[part].get([variable])[0] for part, variable in (name.split(".", 1) for name in COMPARED)])
    return np.array(rows)


def by_libcosim(ssp, h):
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
    from libcosimpy.CosimObserver import CosimObserver

    log_output_level(CosimLogLevel.ERROR)
    execution = CosimExecution.from_ssp_file(str(ssp), step_size=round(h * 1e9))
    observer = CosimObserver.create_last_value()
    assert execution.add_observer(observer=observer)
    paths, places = fmus_in(ssp), []
    for name in COMPARED:
        part, variable = name.split(".", 1)
        variables = fmpy.read_model_description(paths[part]).modelVariables
        reference = next(v.valueReference for v in variables if v.name == variable)
        places.append((execution.slave_index_from_instance_name(part), reference))
    rows = []
    for k in range(1, round(STOP_TIME / h) + 1):
        assert execution.step()
        if k % round(SAMPLE / h) == 0:
            rows.append([observer.last_real_values(slave_index=i, variable_references=[at])[0] for i, at in places])
    return np.array(rows)


def by_ecos(ssp, h):
    if sys.platform == "linux":
        # Ecos' library needs libtbb.so.12, which the wheel `tbb` installs outside the loader's path.
        ctypes.CDLL(str(Path(sys.prefix) / "lib" / "libtbb.so.12"), mode=ctypes.RTLD_GLOBAL)
    import ecospy

    ecospy.EcosLib.set_log_level("error")
    rows = []
    with ecospy.EcosSimulation(step_size=h, ssp_path=str(ssp)) as simulation:
        simulation.init()
        for k in range(1, round(STOP_TIME / h) + 1):
            simulation.step()
            if k % round(SAMPLE / h) == 0:
                rows.append([simulation.get_real(name.replace(".", "::", 1)) for name in COMPARED])
        simulation.terminate()
    return np.array(rows)


class Exchange:
    """A Model Exchange FMU of the system."""

    def __init__(self, fmu, start):
        folder = fmpy.extract(str(fmu))
        self.description = fmpy.read_model_description(folder)
        self.references = {v.name: v.valueReference for v in self.description.modelVariables}
        self.inputs = {v.name for v in self.description.modelVariables if v.causality == "input"}
        self.outputs = {v.name for v in self.description.modelVariables if v.causality == "output"}
        self.n = self.description.numberOfContinuousStates
        self.model = FMU2Model(
            guid=self.description.guid,
            unzipDirectory=folder,
            modelIdentifier=self.description.modelExchange.modelIdentifier,
            instanceName=self.description.modelName,
        )
        self.model.instantiate()
        self.model.setupExperiment(startTime=0.0)
        self.model.enterInitializationMode()
        for name, value in start.items():
            self.model.setReal([self.references[name]], [value])
        self.model.exitInitializationMode()
        self.event()

    def event(self):
        self.model.newDiscreteStates()
        self.model.enterContinuousTimeMode()


def by_cvode(tool, directory):
    """Integrates the four right-hand sides together, CVode's steps ending at the signals' corners."""
    from fmpy.sundials import CVodeSolver

    fmus = {}
    for part in PARTS:
        text = (HERE / "system" / f"{FILES.get(part, part)}.toml").read_text(encoding="utf-8")
        start = {"elbow.q_ref": -0.5} if part == "controller" else {}
        fmus[part] = Exchange(build(tool, part, text, directory), start)
    wires = [
        (a, [fmus[a].references[name] for name in shared], b, [fmus[b].references[name] for name in shared])
        for a in PARTS
        for b in PARTS
        if a != b and (shared := sorted(fmus[a].outputs & fmus[b].inputs))
    ]
    # Motions first, then the wrenches and torques that depend on them.
    wires.sort(key=lambda wire: wire[0] in ("controller", "buffer_forces") or (wire[0], wire[2]) == ("client", "servicer"))
    sizes = np.cumsum([0] + [fmus[part].n for part in PARTS])

    def exchange():
        for a, outputs, b, inputs in wires:
            fmus[b].model.setReal(inputs, fmus[a].model.getReal(outputs))

    def each(call, array):
        for part, begin in zip(PARTS, sizes):
            if fmus[part].n:
                pointer = np.ctypeslib.as_array(array, (sizes[-1],))[begin : begin + fmus[part].n]
                call(fmus[part].model, pointer)

    def of(method):
        return lambda model, part: getattr(model, method)(part.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), len(part))

    def derivatives(array, _):
        exchange()
        each(of("getDerivatives"), array)

    solver = CVodeSolver(
        nx=int(sizes[-1]),
        nz=0,
        get_x=lambda array, _: each(of("getContinuousStates"), array),
        set_x=lambda array, _: each(of("setContinuousStates"), array),
        get_dx=derivatives,
        get_z=lambda *_: None,
        get_nominals=lambda array, _: each(of("getNominalsOfContinuousStates"), array),
        set_time=lambda t: [fmu.model.setTime(t) for fmu in fmus.values()],
        input=type("Nothing", (), {"apply": staticmethod(lambda *_, **__: None)}),
        startTime=0.0,
        relativeTolerance=1e-10,
        maxNumSteps=100000,
    )
    rows, t = [], 0.0
    for stop in sorted({*np.round(TIMES, 12), 0.2, 2.2}):
        while t < stop - 1e-12:
            *_, t = solver.step(t, stop)
        if stop in (0.2, 2.2):
            for fmu in fmus.values():
                fmu.model.setTime(t)
                fmu.model.enterEventMode()
                fmu.event()
            solver.reset(t)
        if np.abs(TIMES - stop).min() < 1e-9:
            exchange()
            rows.append([fmus[name.split(".")[0]].model.getReal([fmus[name.split(".")[0]].references[name.split(".", 1)[1]]])[0] for name in COMPARED])
    for fmu in fmus.values():
        fmu.model.terminate()
        fmu.model.freeInstance()
    return np.array(rows)


def study(tool, directory):
    """Runs the system in all importers; returns the table of the largest differences."""
    directory.mkdir(parents=True, exist_ok=True)
    expected = by_cvode(tool, directory)
    ssp = couple(tool, directory)
    ways = {
        "grapple, Gauss-Seidel": lambda h: by_grapple(tool, ssp, h),
        "grapple, Jacobi": lambda h: by_grapple(tool, ssp, h, "--algorithm", "jacobi"),
        "grapple, linear": lambda h: by_grapple(tool, ssp, h, "--linear"),
        "FMPy": lambda h: by_fmpy(ssp, h),
        "libcosim": lambda h: by_libcosim(ssp, h),
        "Ecos": lambda h: by_ecos(ssp, h),
    }
    rows = []
    for way, run in ways.items():
        errors = [float(np.abs(run(h) - expected).max()) for h in STEPS]
        rows.append([way, *(f"{error:.2e}" for error in errors), f"{slopes(errors)[-1]:.2f}"])
    text = table(["", *(f"{1e3 * h:g} ms" for h in STEPS), "order"], rows)
    (directory / "masters.md").write_text(text, encoding="utf-8")
    return text


def main():
    arguments = options(command_line("A system of four FMUs in four importers.", "out/coupling"))
    print(study(arguments.grapple, arguments.output))


if __name__ == "__main__":
    main()
