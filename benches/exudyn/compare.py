"""Compares grapple with Exudyn: processor time of a manoeuvre of a flexible arm at a tip error of 1 % of the peak deflection.

    pip install -r benches/exudyn/requirements.txt
    GRAPPLE=target/release/grapple python benches/exudyn/compare.py [--slower 3]

Both read arm.toml. Each tool's error is relative to its own converged run: the largest error of the
tip's path, sampled every half second; the converged runs are compared with each other first. Then
settings are scanned, one run each, and the three cheapest of each tool that reach 1 % run again,
alternately. The measured time is the processor time of the thread for the run alone: `fmi2DoStep`
and `fmi2GetReal` of the tip, called by compiled code (../host/host.c); `SolveDynamic` with the tip's
sensor. Building models, meshes and modes is not counted.
"""

import argparse
import contextlib
import copy
import io
import statistics
import sys
import tempfile
import tomllib
from itertools import product
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "host"))

from host import Archive, Host  # noqa: E402
from model import Spacecraft, exu  # noqa: E402

EVERY = 0.5  # s: how often the tip is read
TIP = [f"tip.r[{i}]" for i in (1, 2, 3)]
# Numbers of modes along y, along z and of torsion.
MODES = [(1, 1, 1), (2, 1, 1), (1, 2, 1), (2, 2, 1)]
# Communication steps that divide the interval between readings.
STEPS = [EVERY / n for n in (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40, 50, 64, 80, 100)]


def manoeuvre(slower):
    """Returns the spec with the tip's path unchanged and slowed down by a factor."""
    spec = tomllib.loads((HERE / "arm.toml").read_text())
    for signal in spec["signal"].values():
        signal["amplitude"] /= slower**2
        signal["frequency"] /= slower
    spec["experiment"]["stop_time"] *= slower
    return spec


class Grapple:
    def __init__(self, spec, scratch):
        self.spec, self.scratch = spec, scratch
        self.booms = [name for name, body in spec["body"].items() if "beam" in body]
        self.steps = round(spec["experiment"]["stop_time"] / EVERY)
        self.host = Host(scratch)

    def model(self, modes, method, step=None, stiffening=True):
        """Returns an FMU."""
        spec = copy.deepcopy(self.spec)
        for boom in self.booms:
            beam = spec["body"][boom]["beam"]
            beam["bending_y"], beam["bending_z"], beam["torsion"] = modes
            beam["stiffening"] = stiffening
        spec["solver"] = {"method": method} | ({"step": step} if step else {})
        return Archive.build(spec, tempfile.mkdtemp(dir=self.scratch))

    def run(self, archive, tolerance, names=TIP):
        return self.host.run(archive, EVERY, self.steps, names, tolerance)

    def settings(self):
        for modes in MODES:
            yield from self.adaptive(modes, {"dopri5": (1e-2, 1e-3), "dop853": (1e-2, 1e-3), "radau5": (0.3, 0.1, 0.03)})
            for step in STEPS:
                for method, stiffening in ("implicit_midpoint", True), ("linearly_implicit", True), ("linearly_implicit", False):
                    archive = self.model(modes, method, step, stiffening)
                    name = f"{method}, step {step:.4g} s, modes {modes}" + ("" if stiffening else ", without stiffening")
                    yield name, lambda a=archive: self.run(a, 1e-6)

    def automatic(self):
        """Yields the default method at several tolerances."""
        for modes in MODES:
            yield from self.adaptive(modes, {"auto": (1e-1, 1e-2, 1e-3, 1e-4)})

    def adaptive(self, modes, methods):
        for method, tolerances in methods.items():
            archive = self.model(modes, method)
            for tolerance in tolerances:
                yield f"{method}, tolerance {tolerance:g}, modes {modes}", lambda a=archive, t=tolerance: self.run(a, t)


class Exudyn:
    def __init__(self, spec):
        self.spec, self.end = spec, spec["experiment"]["stop_time"]

    def run(self, spacecraft, step, **settings):
        with contextlib.redirect_stdout(io.StringIO()):
            used, path = spacecraft.run(self.end, step, EVERY, **settings)
        return used, path[1:, 1:]

    def converged(self, kind, n, step, tolerance):
        return self.run(Spacecraft(self.spec, kind, n, "tip"), step, tolerance=tolerance, rho=0.95, full=True)[1]

    def settings(self, kind, counts, reference, allowed):
        """Yields all models and steps with usual settings, then the three cheapest within the
        allowed error with all settings.

        Newton iteration is modified: with a Jacobian for every correction a run takes more than
        twice as long."""
        what = "elements" if kind == "beam" else "inner modes"
        spacecraft = {n: Spacecraft(self.spec, kind, n, "tip") for n in counts}

        def setting(n, step, tolerance=1e-5, rho=0.6, linear="EXUdense"):
            name = f"{n} {what}, step {step:.4g} s, {linear}, Newton to {tolerance:g}, spectral radius {rho}"
            return name, lambda: self.run(spacecraft[n], step, tolerance=tolerance, rho=rho, linear=linear, full=False)

        pairs = {setting(n, step)[0]: (n, step) for n, step in product(counts, STEPS)}
        # A margin of 1.25: with other settings such a model may come within the limit.
        for name, *_ in scan((setting(*pair) for pair in pairs.values()), reference, 1.25 * allowed):
            others = product((1e-2, 1e-3, 1e-4, 1e-5, 1e-6), (0.6, 0.95), ("EXUdense", "EigenDense", "EigenSparse"))
            yield from (setting(*pairs[name], *other) for other in others)


def off(path, reference):
    """Returns the largest distance between two paths, m."""
    return np.linalg.norm(path - reference, axis=1).max()


def scan(settings, reference, allowed):
    """Returns the names, errors and runs of the three cheapest settings within the allowed
    error."""
    good = []
    for name, run in settings:
        try:
            used, path = run()
        except Exception as problem:  # both tools raise several types for a step that is too long
            if "failed with status" not in str(problem) and not isinstance(problem, exu.SolverError):
                raise
            continue
        if (error := off(path, reference)) <= allowed:
            good.append((used, name, error, run))
    good.sort(key=lambda setting: setting[0])
    return [setting[1:] for setting in good[:3]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slower", type=float, default=1.0, help="factor by which the path is slowed down")
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    spec = manoeuvre(arguments.slower)
    with tempfile.TemporaryDirectory() as scratch:
        compare(Grapple(spec, scratch), Exudyn(spec), arguments.rounds)


def compare(grapple, exudyn, rounds):
    deflections = [f"{boom}.tip_deflection[{i}]" for boom in grapple.booms for i in (1, 2, 3)]
    _, rows = grapple.run(grapple.model((3, 3, 2), "dop853"), 1e-10, TIP + deflections)
    converged, bent = rows[:, :3], np.linalg.norm(rows[:, 3:].reshape(len(rows), -1, 3), axis=2).max()
    # Newton's residual of beam elements does not decrease as far as that of modes.
    beams = exudyn.converged("beam", 16, 0.02, 1e-4)
    modes = exudyn.converged("modes", 8, 0.01, 1e-8)
    length = np.linalg.norm(np.diff(converged, axis=0), axis=1).sum()
    print(f"Exudyn {exu.__version__}; peak deflection {1e3 * bent:.1f} mm, the tip moves {length:.2f} m")
    for name, other in ("beams", beams), ("modes", modes):
        apart = off(other, converged)
        print(f"converged: Exudyn's {name} and grapple differ by {1e3 * apart:.3f} mm, {100 * apart / bent:.2f} % of it")

    allowed = 0.01 * bent
    settings = {
        "grapple": scan(grapple.settings(), converged, allowed),
        "grapple, auto": scan(grapple.automatic(), converged, allowed),
        "Exudyn, modes": scan(exudyn.settings("modes", (0, 2), modes, allowed), modes, allowed),
        "Exudyn, beams": scan(exudyn.settings("beam", (2, 3, 4), beams, allowed), beams, allowed),
    }
    times = {tool: [[] for _ in found] for tool, found in settings.items()}
    for _ in range(rounds):
        for tool, found in settings.items():
            for kept, (*_, run) in zip(times[tool], found):
                kept.append(run()[0])
    best = {}
    for tool, found in settings.items():
        medians = [statistics.median(kept) for kept in times[tool]]
        k = medians.index(min(medians))
        best[tool] = medians[k]
        for median, kept, (name, error, _) in sorted(zip(medians, times[tool], found), key=lambda setting: setting[0]):
            print(f"{tool:16} {1e3 * median:8.2f} ms, least {1e3 * min(kept):.2f}; error {100 * error / bent:.2f} %; {name}")
    for tool in list(settings)[2:]:
        ratios = [f"{best[tool] / best[own]:.1f} times the time of {own}" for own in list(settings)[:2]]
        print(f"{tool}: {', '.join(ratios)}")


if __name__ == "__main__":
    main()
