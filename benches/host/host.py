"""An importer in C (host.c), so that Python's time is not measured. It needs a C compiler and the
headers of FMPy."""

import ctypes
import subprocess
import sys
from pathlib import Path

import fmpy
import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/python"))

from fmu import Archive, CoSimulation, ModelExchange  # noqa: E402, F401


class Host:
    def __init__(self, folder):
        """Compiles host.c in a folder."""
        library, headers = Path(folder) / "host.so", Path(fmpy.__path__[0]) / "c-code"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-I", headers, HERE / "host.c", "-o", library], check=True)
        self._run = ctypes.CDLL(str(library)).run
        pointer, count = ctypes.c_void_p, ctypes.c_size_t
        self._run.restype = ctypes.c_double
        self._run.argtypes = [pointer] * 4 + [ctypes.c_double, ctypes.c_int, pointer, count, pointer, pointer, count, pointer]

    def run(self, archive, step, steps, names, tolerance=None, inputs=(), held=None):
        """Runs a Co-Simulation FMU in steps of `step` s; `held` has a row of input values for each.
        Returns the processor time of the thread for the steps, s, and the named values after each
        step, one row per step."""
        rows, held = np.zeros((steps, len(names))), np.ascontiguousarray(np.zeros((steps, 0)) if held is None else held)
        with CoSimulation(archive, tolerance=tolerance) as instance:
            calls = [getattr(instance.fmu.dll, name) for name in ("fmi2DoStep", "fmi2GetReal", "fmi2SetReal")]
            calls = [ctypes.cast(call, ctypes.c_void_p) for call in calls]
            to, of = self._references(archive, inputs), self._references(archive, names)
            used = self._run(instance.component, *calls, step, steps, to, len(to), held.ctypes.data, of, len(of), rows.ctypes.data)
        if used < 0.0:
            raise RuntimeError("fmi2DoStep failed with status: " + instance.messages[-1][2])
        return used, rows

    @staticmethod
    def _references(archive, names):
        return (ctypes.c_uint * len(names))(*(archive.variables[name].valueReference for name in names))
