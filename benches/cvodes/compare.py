"""Compares the default of Co-Simulation with CVODES on the Model Exchange part of the same FMU:
processor time at equal error.

    pip install -r benches/cvodes/requirements.txt
    GRAPPLE=target/debug/grapple python benches/cvodes/compare.py

CasADi imports the FMU, evaluates it in compiled code, and gives CVODES its Jacobian by the FMU's
directional derivatives, in the pattern of `ModelStructure`, and the nominal values of the states as
scales. CVODES makes the whole run in one call; with held torques it is initialised anew at each of
their steps. Co-Simulation is called by compiled code (../host/host.c). Both errors, of coordinates
(m or rad) and of modal amplitudes as fractions of the largest one, are relative to `dop853` at a
tolerance of 1e-11, at all instants. For each linear multistep method and iteration of CVODES the
tolerance is reduced until both errors are at most those of the default; the two largest such
tolerances run again, alternately with the default.
"""

import argparse
import statistics
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import casadi
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches/host"))

from host import Archive, Host, ModelExchange  # noqa: E402

TOLERANCES = (1e-2, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 3e-8, 1e-8, 1e-9, 1e-10)
LONG = 1.0  # s: longer runs are not repeated
JOINTS = {  # of the servicer: amplitude of the torque, N·m, and frequency, Hz
    "shoulder_roll": (6.0, 0.2),
    "shoulder_yaw": (6.0, 0.25),
    "shoulder_pitch": (6.0, 0.3),
    "elbow_pitch": (3.0, 0.35),
    "wrist_pitch": (0.6, 0.4),
    "wrist_yaw": (0.6, 0.45),
    "wrist_roll": (0.3, 0.5),
}


def spacecraft():
    """Yields name, spec and held inputs (name: one value for each step)."""
    read = lambda path: tomllib.loads((ROOT / path).read_text())  # noqa: E731
    yield "klak_2020", read("examples/klak_2020.toml"), {}
    yield "arm of benches/exudyn", read("benches/exudyn/arm.toml"), {}
    servicer = read("benches/defaults/servicer.toml")
    # CasADi handles no events.
    for wheel in servicer["wheel"].values():
        wheel["torque_limit"], wheel["rate_limit"] = 100.0, 1e4
    times = np.arange(0.0, servicer["experiment"]["stop_time"], servicer["experiment"]["step"])
    sampled = {f"{name}.tau": a * np.sin(2 * np.pi * f * times) for name, (a, f) in JOINTS.items()}
    smooth = {f"{name}.tau": {"type": "sine", "amplitude": a, "frequency": f, "from_importer": False} for name, (a, f) in JOINTS.items()}
    yield "servicer, smooth torques", servicer | {"signal": smooth}, {}
    yield "servicer, torques held for 10 ms", servicer, sampled


class Spacecraft:
    def __init__(self, spec, held, scratch):
        spec = spec | {"solver": {}, "experiment": {key: spec["experiment"][key] for key in ("stop_time", "step")}}
        self.step = spec["experiment"]["step"]
        self.steps = round(spec["experiment"]["stop_time"] / self.step)
        self.inputs, self.held = list(held), np.array(list(held.values())).T
        self.archive = Archive.build(spec, tempfile.mkdtemp(dir=scratch))
        reference = Archive.build(spec | {"solver": {"method": "dop853", "work_limit": 1e9}}, tempfile.mkdtemp(dir=scratch))
        self.host = Host(scratch)
        self.names = self.archive.states
        _, self.reference = self.default(1e-11, reference)
        bodies = [name.split(".")[0] for name in self.names]
        coordinates = [name.split(".")[-1].split("[")[0] in ("q", "r") for name in self.names]
        self.coordinates = [i for i in np.flatnonzero(coordinates) if bodies[i] not in spec.get("wheel", {})]
        self.amplitudes = [i for i, name in enumerate(self.names) if ".eta[" in name]

    def default(self, tolerance=None, archive=None):
        """Returns the processor time of a run in Co-Simulation, s, and the states, one row per step."""
        held = self.held if self.inputs else None
        return self.host.run(archive or self.archive, self.step, self.steps, self.names, tolerance, self.inputs, held)

    def errors(self, rows):
        """Returns the largest errors of coordinates, m or rad, and of amplitudes, relative."""
        off = np.abs(rows - self.reference).max(axis=0)
        largest = {}
        for i in self.amplitudes:
            largest[self.body(i)] = max(largest.get(self.body(i), 0.0), np.abs(self.reference[:, i]).max())
        relative = [off[i] / largest[self.body(i)] for i in self.amplitudes]
        return np.array([off[self.coordinates].max(initial=0.0), max(relative, default=0.0)])

    def body(self, i):
        """Returns the body of amplitude `i`."""
        return self.names[i].split(".eta[")[0]


class Cvodes:
    def __init__(self, craft):
        dae = casadi.DaeBuilder("fmu", str(craft.archive.directory))
        model = dae.create("model", ["t", "x", "u"], ["ode"])
        t, x, u = (casadi.MX.sym(name, n) for name, n in (("t", 1), ("x", len(dae.x())), ("u", len(dae.u()))))
        self.nominal = np.array([craft.archive.nominal(name) for name in dae.x()])
        # Without the parameters, which CasADi would set at every evaluation.
        self.model = {"t": t, "x": x, "u": u, "ode": model(t, self.nominal * x, u) / self.nominal}
        with ModelExchange(craft.archive) as instance:
            start, inputs = dict(zip(craft.names, instance.x)), instance.read(dae.u())
        self.order = [craft.names.index(name) for name in dae.x()]
        self.x0 = np.array([start[name] for name in dae.x()])
        self.craft, self.u = craft, np.tile(inputs[:, None], craft.steps)
        for name, values in zip(craft.inputs, craft.held.T):
            self.u[dae.u().index(name)] = values

    def settings(self):
        """Yields multistep method, iteration, and the runs with decreasing tolerances."""
        for method, iteration in ("bdf", "newton"), ("adams", "newton"), ("adams", "functional"):
            yield f"{method}, {iteration} iteration", ((tolerance, self.setting(method, iteration, tolerance)) for tolerance in TOLERANCES)

    def setting(self, method, iteration, tolerance):
        options = {
            "linear_multistep_method": method,
            "nonlinear_solver_iteration": iteration,
            "newton_scheme": "direct",
            "reltol": tolerance,
            "abstol": tolerance,
            "always_recalculate_jacobian": False,
            "max_num_steps": 10_000_000,
            "show_eval_warnings": False,
        }
        step, steps = self.craft.step, self.craft.steps
        if self.craft.inputs:
            # Each call initialises CVODES. Only the inputs depend on the time.
            integrator = casadi.integrator("run", "cvodes", self.model, 0.0, step, options).mapaccum(steps)
        else:
            integrator = casadi.integrator("run", "cvodes", self.model, 0.0, list(step * np.arange(1, steps + 1)), options)
        return lambda: self.run(integrator)

    def run(self, integrator):
        start = time.process_time()
        rows = np.array(integrator(x0=self.x0 / self.nominal, u=self.u)["xf"]).T * self.nominal
        used = time.process_time() - start
        back = np.empty_like(rows)
        back[:, self.order] = rows
        return used, back


def compare(name, craft, rounds):
    _, rows = craft.default()
    errors = craft.errors(rows)
    print(f"{name}: {len(craft.names)} states, {craft.steps} steps of {1e3 * craft.step:g} ms", flush=True)
    runs, reached, times = {"default": craft.default}, {"default": errors}, {"default": []}
    for setting, tolerances in Cvodes(craft).settings():
        found = 0
        for tolerance, run in tolerances:
            try:
                used, rows = run()
            except RuntimeError as problem:
                print(f"  {setting}, tolerance {tolerance:g}: {str(problem).splitlines()[-1]}")
                continue
            off = craft.errors(rows)
            if (off <= errors).all():
                label, found = f"CVODES, {setting}, tolerance {tolerance:g}", found + 1
                # A long run is not repeated.
                runs[label], reached[label], times[label] = run, off, [used] if used > LONG else []
            # The error does not always fall with the tolerance.
            if found == 2:
                break
    for _ in range(rounds):
        for label, run in runs.items():
            if times[label][:1] <= [LONG]:
                times[label].append(run()[0])
    medians = {label: statistics.median(kept) for label, kept in times.items()}
    for label, median in medians.items():
        a, b = reached[label]
        print(f"  {1e3 * median:9.2f} ms, {median / medians['default']:5.1f} times the default; errors {a:.1e}, {b:.1e}; {label}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("name", nargs="?", default="", help="part of the spacecraft's name")
    arguments = parser.parse_args()
    print(f"CasADi {casadi.__version__}")
    with tempfile.TemporaryDirectory() as scratch:
        for name, spec, held in spacecraft():
            if arguments.name in name:
                compare(name, Spacecraft(spec, held, scratch), arguments.rounds)


if __name__ == "__main__":
    main()
