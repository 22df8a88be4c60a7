"""The FMUs in Co-Simulation importers that share no code with FMPy, and loading and unloading of the library in a process.

libcosim (Open Simulation Platform; it loads FMUs through FMI Library) and Ecos (with its own
loader) run as installed from PyPI. Their results must equal FMPy's with the same communication
points.
"""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import EXAMPLES

from fmu import Archive, CoSimulation

NAMES = [path.stem for path in EXAMPLES]
REASON = "the same solver over the same communication points; the hosts' times differ by round-off"


def grid(archive, steps=None):
    """Returns the communication points of the default experiment, and the nanoseconds between
    them."""
    experiment = archive.description.defaultExperiment
    h, stop = float(experiment.stepSize), float(experiment.stopTime)
    nanoseconds = round(h * 1e9)
    n = min(round(stop / h), steps or round(stop / h))
    return np.arange(n + 1) * (nanoseconds * 1e-9), nanoseconds


def judge(within, claim, archive, names, rows, reference):
    """Checks the largest difference from the reference, relative to each output's scale.

    With an implicit solver, round-off of the times may change the number of Newton iterations: two
    runs then agree within the solver's tolerance, which is relative to the nominal value."""
    off, scales = np.abs(np.asarray(rows) - reference), archive.scales(names, reference)
    if 'method = "auto"' in next(path for path in EXAMPLES if path.stem == archive.path.stem).read_text():
        scales = np.maximum(scales, [archive.nominal(name) for name in names])
        tolerance = float(archive.description.defaultExperiment.tolerance)
        within(f"{claim}, implicit solver", np.max(off / scales), tolerance, "the solver's tolerance")
    else:
        within(claim, np.max(off / scales), 1e-9, REASON)


class Cosim:
    """One instance of an archive in libcosim; an observer reads all its variables."""

    def __init__(self, archive, nanoseconds, start=None):
        from libcosimpy.CosimExecution import CosimExecution
        from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
        from libcosimpy.CosimObserver import CosimObserver
        from libcosimpy.CosimSlave import CosimLocalSlave

        log_output_level(CosimLogLevel.ERROR)
        self.execution = CosimExecution.from_step_size(step_size=nanoseconds)
        self.slave = CosimLocalSlave(fmu_path=str(archive.path), instance_name="arm")
        self.index = self.execution.add_local_slave(local_slave=self.slave)
        assert self.index >= 0
        self.observer = CosimObserver.create_last_value()
        assert self.execution.add_observer(observer=self.observer)
        for name, value in (start or {}).items():
            reference = archive.variables[name].valueReference
            assert self.execution.real_initial_value(self.index, reference, value)

    def step(self):
        assert self.execution.step()

    def read(self, references):
        return self.observer.last_real_values(self.index, references)


@pytest.mark.parametrize("name", NAMES)
def test_results_of_libcosim_equal_those_of_fmpy(name, examples, within):
    archive = examples[name]
    names = archive.outputs()
    references = [archive.variables[n].valueReference for n in names]
    times, nanoseconds = grid(archive)
    host = Cosim(archive, nanoseconds)
    rows = []
    for _ in times[1:]:
        host.step()
        rows.append(host.read(references))
    with CoSimulation(archive) as fmpy:
        reference = fmpy.run(times[1:], names)
    judge(within, "libcosim and FMPy agree", archive, names, rows, reference)


def test_libcosim_sets_start_values_before_initialisation_ends(examples):
    archive = examples["two_link"]
    start = {"elbow.q_start": 0.7, "forearm.mass": 2.5}
    times, nanoseconds = grid(archive, 20)
    host = Cosim(archive, nanoseconds, start)
    for _ in times[1:]:
        host.step()
    names = ["elbow.q", "elbow.qd", "forearm.mass"]
    found = host.read([archive.variables[n].valueReference for n in names])
    with CoSimulation(archive, start) as fmpy:
        reference = fmpy.run(times[1:], names)[-1]
    np.testing.assert_allclose(found, reference, rtol=1e-9)


def test_libcosim_opens_and_closes_an_archive_again_and_again(examples):
    archive = examples["two_link"]
    Cosim(archive, 10_000_000).step()
    before = _open_files()
    for _ in range(20):
        Cosim(archive, 10_000_000).step()
    assert _open_files() <= before


def _ecos(archive, h):
    if sys.platform == "linux":
        # Ecos' library needs libtbb.so.12; the wheel `tbb` installs it outside the loader's search
        # path.
        ctypes.CDLL(str(Path(sys.prefix) / "lib" / "libtbb.so.12"), mode=ctypes.RTLD_GLOBAL)
    import ecospy

    ecospy.EcosLib.set_log_level("error")
    with ecospy.EcosSimulationStructure() as structure:
        structure.add_model("arm", str(archive.path))
        return ecospy.EcosSimulation(step_size=h, structure=structure)


@pytest.mark.parametrize("name", NAMES)
def test_results_of_ecos_equal_those_of_fmpy(name, examples, within):
    archive = examples[name]
    names = archive.outputs()
    times, nanoseconds = grid(archive, 400)
    rows = []
    with _ecos(archive, nanoseconds * 1e-9) as host:
        assert host.init()
        for _ in times[1:]:
            host.step()
            rows.append([host.get_real(f"arm::{n}") for n in names])
        host.terminate()
    with CoSimulation(archive) as fmpy:
        reference = fmpy.run(times[1:], names)
    judge(within, "Ecos and FMPy agree", archive, names, rows, reference)


def test_ecos_resets_a_run_and_gets_the_same_bits(examples):
    archive = examples["two_link"]
    names = archive.outputs()
    runs = []
    with _ecos(archive, 0.01) as host:
        for _ in range(3):
            assert host.init()
            host.step(50)
            runs.append([host.get_real(f"arm::{n}") for n in names])
            host.reset()
    assert runs[0] == runs[1] == runs[2]
    assert runs[0][names.index("shoulder.q")] != 0.0


def _open_files():
    return len(os.listdir("/proc/self/fd"))


def _resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _library(archive):
    identifier = archive.description.coSimulation.modelIdentifier
    (path,) = (archive.directory / "binaries").glob(f"*/{identifier}.so")
    return path


def _live(library, archive):
    """Creates an instance without a logger, initialises it, makes a step and frees it."""
    library.fmi2Instantiate.restype = ctypes.c_void_p
    step = library.fmi2DoStep
    step.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_int]
    setup = library.fmi2SetupExperiment
    setup.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_double, ctypes.c_double, ctypes.c_int, ctypes.c_double]
    c = library.fmi2Instantiate(
        b"arm", 1, archive.description.guid.encode(), (archive.directory / "resources").as_uri().encode(), None, 0, 1
    )
    assert c
    c = ctypes.c_void_p(c)
    assert setup(c, 0, 0.0, 0.0, 0, 0.0) == 0
    assert library.fmi2EnterInitializationMode(c) == 0
    assert library.fmi2ExitInitializationMode(c) == 0
    assert step(c, 0.0, 0.01, 1) == 0
    library.fmi2FreeInstance(c)


# A rigid and a flexible arm, closed loops, an ANCF beam, a contact, a controller; with GRAPPLE_LONG all.
LOADED = NAMES if "GRAPPLE_LONG" in os.environ else ["two_link", "ssrms_flexible", "dual_arm", "beam_in_grasp", "docking", "arm_controller"]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("name", LOADED)
def test_the_library_is_unloaded_and_loaded_again_100_times_without_growth(name, examples, tmp_path, within):
    from _ctypes import dlclose

    # A separate copy of the library, which nothing else in this process keeps loaded.
    path = tmp_path / "own.so"
    path.write_bytes(_library(examples[name]).read_bytes())

    def round():
        library = ctypes.CDLL(str(path))
        _live(library, examples[name])
        dlclose(library._handle)

    for _ in range(5):
        round()
    memory, files = _resident_bytes(), _open_files()
    for _ in range(100):
        round()
        assert str(path) not in Path("/proc/self/maps").read_text(), "dlclose really unloads it"
    assert _open_files() <= files
    growth = (_resident_bytes() - memory) / 100
    within("growth of memory per unload and reload, bytes", growth, 4096, "less than a page each")


@pytest.mark.skipif(sys.platform != "linux", reason="reads the output of a process")
def test_nothing_is_ever_written_to_stdout_or_stderr(examples):
    archive: Archive = examples["two_link"]
    run = subprocess.run(
        [sys.executable, "-c", SILENT, str(_library(archive)), archive.description.guid, str(archive.directory)],
        capture_output=True,
        timeout=120,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


# Valid calls, refused calls and calls out of order, with logging on but without a logger.
SILENT = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.fmi2Instantiate.restype = ctypes.c_void_p
guid, location = sys.argv[2].encode(), ("file://" + sys.argv[3] + "/resources").encode()
assert not library.fmi2Instantiate(b"arm", 1, b"{wrong}", location, None, 1, 1)
assert not library.fmi2Instantiate(b"arm", 1, guid, None, None, 1, 1)
assert not library.fmi2Instantiate(None, 9, guid, location, None, 1, 1)
for kind in (0, 1):
    c = ctypes.c_void_p(library.fmi2Instantiate(b"arm", kind, guid, location, None, 1, 1))
    assert c
    assert library.fmi2SetDebugLogging(c, 1, ctypes.c_size_t(0), None) == 0
    double = ctypes.c_double
    assert library.fmi2DoStep(c, double(0.0), double(0.1), 1) == 3
    assert library.fmi2EnterInitializationMode(c) == 0
    assert library.fmi2EnterInitializationMode(c) == 3
    assert library.fmi2ExitInitializationMode(c) == 0
    nan = ctypes.c_double(float("nan"))
    assert library.fmi2SetReal(c, ctypes.byref(ctypes.c_uint(0)), ctypes.c_size_t(1), ctypes.byref(nan)) == 3
    if kind == 1:
        assert library.fmi2DoStep(c, double(0.0), double(0.1), 1) == 0
        assert library.fmi2DoStep(c, double(0.1), double(-0.1), 1) == 3
    assert library.fmi2Terminate(c) == 0
    assert library.fmi2Reset(c) == 0
    library.fmi2FreeInstance(c)
assert library.fmi2Reset(None) == 3
"""
