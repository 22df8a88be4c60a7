"""One spacecraft in two FMUs that are coupled mechanically, compared with the same in one FMU.

    python examples/coupling/split.py             tables and a figure in out/coupling

`grapple split` divides held_payload.toml at its gripper: the satellite with its arm is the carrier,
which gives the motion of its tool and takes a wrench; the payload with the gripper's spring is
carried. Python couples the two through FMPy by four co-simulation algorithms. docs/split.md shows the
results. Needs FMPy, NumPy and Matplotlib.
"""

import re
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from studies import Instance, build, command_line, names, options  # noqa: E402
from study import slopes, table  # noqa: E402

MODEL = "held_payload"
CUT = "gripper"
COMPARED = names("payload.r", 3)
ENERGY = ["system.energy"]
STOP_TIME = 3.2  # s
SAMPLE = 0.08  # s, between the times at which runs are compared
STEPS = (0.004, 0.002, 0.001)  # s, between communication points
ORDERS = {"parallel": 1, "held": 1, "extrapolated": 2, "iterated": 2}  # order of accuracy in the step
TOLERANCE = 1e-11
LIGHT = 0.05  # factor on the gripper's damping, for steps beyond the limit of stability
BEYOND = 0.02  # s


class Parts:
    """The two FMUs with what they exchange at the interface `cut`."""

    def __init__(self, carrier, carried, cut=CUT):
        self.carrier, self.carried = carrier, carried
        fields = (("r", 3), ("q", 4), ("v", 3), ("w", 3))
        self.names = [name for field, n in fields for name in names(f"{cut}.{field}", n)]
        self.of_wrench = names(f"{cut}.f", 3) + names(f"{cut}.t", 3)
        self.carried.set(self.names, self.carrier.get(self.names))
        self.motion, self.wrench = self.carrier.get(self.names), self.carried.get(self.of_wrench)
        self.velocities, self.before = self.motion[7:], None
        self.created = 0.0  # J, energy that the coupling has added

    def exchange(self, h, acted, given, motion):
        """Ends a step. The energy that the coupling has added is that of the mean wrench that acted
        on the carrier, less that of the mean wrench that the carried part gave."""
        excess = acted - given
        self.created += 0.5 * h * (self.power(excess, self.motion) + self.power(excess, motion))
        self.before, self.velocities, self.motion = self.velocities, motion[7:], motion

    @staticmethod
    def power(wrench, motion):
        """Power of a wrench in axes of the tool, W."""
        w, x, y, z = motion[3:7]
        rotation = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        return (rotation @ wrench[:3]) @ motion[7:10] + wrench[3:] @ motion[10:]

    def parallel(self, t, h):
        """Both at once (Jacobi)."""
        acting = self.wrench
        self.carrier.set(self.of_wrench, acting)
        self.carried.set(self.names, self.motion)
        self.carrier.step(t, h)
        self.carried.step(t, h)
        before, self.wrench = self.wrench, self.carried.get(self.of_wrench)
        self.exchange(h, acting, 0.5 * (before + self.wrench), self.carrier.get(self.names))

    def held(self, t, h):
        """The payload first; its wrench at the end of the step is held (Gauss-Seidel)."""
        self.carried.set(self.names, self.motion)
        self.carried.step(t, h)
        before, self.wrench = self.wrench, self.carried.get(self.of_wrench)
        self.carrier.set(self.of_wrench, self.wrench)
        self.carrier.step(t, h)
        self.exchange(h, self.wrench, 0.5 * (before + self.wrench), self.carrier.get(self.names))

    def extrapolated(self, t, h):
        """The payload first, with velocities along the line through their last two values; then the
        wrench along the line between its values at the ends of the step."""
        self.carried.set(self.names, self.motion)
        if self.before is not None:
            self.carried.set_derivatives(self.names[7:], (self.velocities - self.before) / h)
        self.carried.step(t, h)
        before, self.wrench = self.wrench, self.carried.get(self.of_wrench)
        self.carrier.set(self.of_wrench, before)
        self.carrier.set_derivatives(self.of_wrench, (self.wrench - before) / h)
        self.carrier.step(t, h)
        mean = 0.5 * (before + self.wrench)
        self.exchange(h, mean, mean, self.carrier.get(self.names))

    def iterated(self, t, h):
        """As `extrapolated`, but repeated from the saved states with the velocities along the line
        between their values at the ends of the step, until they do not change."""
        saved = [part.slave.getFMUState() for part in (self.carrier, self.carried)]
        before, end = self.wrench, self.motion
        for _ in range(50):
            self.carried.set(self.names, self.motion)
            self.carried.set_derivatives(self.names[7:], (end[7:] - self.velocities) / h)
            self.carried.step(t, h)
            self.wrench = self.carried.get(self.of_wrench)
            self.carrier.set(self.of_wrench, before)
            self.carrier.set_derivatives(self.of_wrench, (self.wrench - before) / h)
            self.carrier.step(t, h)
            last, end = end, self.carrier.get(self.names)
            if np.abs(end - last).max() < 1e-11:
                break
            for part, state in zip((self.carrier, self.carried), saved):
                part.slave.setFMUState(state)
        for part, state in zip((self.carrier, self.carried), saved):
            part.slave.freeFMUState(state)
        mean = 0.5 * (before + self.wrench)
        self.exchange(h, mean, mean, end)


def coupled(fmus, h, way, stop_time=STOP_TIME, cut=CUT):
    """Simulates the two parts; returns, every SAMPLE, the payload's position and the energy of both
    parts, and the estimate of the energy that the coupling has added, J. A run that diverges ends
    there."""
    with Instance(fmus[0], tolerance=TOLERANCE) as carrier, Instance(fmus[1], tolerance=TOLERANCE) as carried:
        parts = Parts(carrier, carried, cut)
        def row():
            return [*carried.get(COMPARED), carrier.get(ENERGY)[0] + carried.get(ENERGY)[0]]

        rows = [row()]
        every = round(SAMPLE / h)
        for k in range(round(stop_time / h)):
            getattr(parts, way)(k * h, h)
            if np.abs(parts.velocities).max() > 100.0:
                break
            if (k + 1) % every == 0:
                rows.append(row())
    return np.array(rows), parts.created


def whole(fmu, stop_time=STOP_TIME):
    """Simulates the spacecraft in one FMU; returns the payload's position and the energy every
    SAMPLE."""
    with Instance(fmu, tolerance=TOLERANCE) as craft:
        rows = [craft.get(COMPARED + ENERGY)]
        for k in range(round(stop_time / SAMPLE)):
            craft.step(k * SAMPLE, SAMPLE)
            rows.append(craft.get(COMPARED + ENERGY))
    return np.array(rows)


def divide(tool, key, text, directory):
    """Divides a spec at the gripper; returns the FMU of the whole and those of the parts, and what
    the tool says of the stable steps, s."""
    fmu = build(tool, key, text, directory)
    run = subprocess.run(
        [tool, "split", directory / f"{key}.toml", "--at", CUT, "-o", directory], capture_output=True, text=True
    )
    if run.returncode != 0:
        sys.exit(run.stdout + run.stderr)
    limits = [float(limit) for limit in re.findall(r"stable up to ([0-9.e-]+) s", run.stdout)]
    parts = []
    for part in (f"{key}_carrier", f"{key}_carried"):
        parts.append(build(tool, part, (directory / f"{part}.toml").read_text(encoding="utf-8"), directory))
    return fmu, parts, limits


def lightly_damped(text):
    """Returns the spec with little damping in the gripper."""
    def less(found):
        return f"{found[1]}{LIGHT * float(found[2]):g}"

    return re.sub(r"(?m)^((?:angular_)?damping = )([0-9.]+)", less, text).replace(f'"{MODEL}"', '"light"')


def convergence(expected, parts, steps):
    """Returns the errors over the communication steps by the algorithm, and their tables."""
    errors, rows = {}, [[f"{1e3 * h:g}"] for h in steps]
    energies = [[f"{1e3 * h:g}"] for h in steps]
    for way in ORDERS:
        runs = [coupled(parts, h, way) for h in steps]
        off = [np.abs(run - expected).max(axis=0) for run, _ in runs]
        errors[way] = [of_run[:3].max() for of_run in off]
        for row, error, order in zip(rows, errors[way], slopes(errors[way])):
            row += [f"{error:.2e}", "" if order is None else f"{order:.2f}"]
        for row, of_run, (_, created) in zip(energies, off, runs):
            row += [f"{of_run[3]:.1e}"] + ([f"{created:.1e}"] if ORDERS[way] == 1 else [])
    head = ["step, ms"] + [cell for way in ORDERS for cell in (f"{way}: error, m", "order")]
    text = table(head, rows)
    head = ["step, ms"]
    for way, order in ORDERS.items():
        head += [f"{way}: energy, J"] + (["added, J"] if order == 1 else [])
    return errors, text + "\n" + table(head, energies)


def draw(errors, steps, path):
    figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
    steps = 1e3 * np.array(steps)
    for way, of_way in errors.items():
        (line,) = axes.loglog(steps, of_way, "o", label=way)
        axes.loglog(steps, of_way[-1] * (steps / steps[-1]) ** ORDERS[way], "--", color=line.get_color(), lw=0.8)
    axes.set_xticks(steps, [f"{h:g}" for h in steps])
    axes.minorticks_off()
    axes.set(xlabel="communication step, ms", ylabel="largest difference of the payload's position, m")
    axes.set_title("two FMUs against one, with slopes 1 and 2", fontsize=10)
    axes.legend(loc="lower right")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def study(tool, directory, steps=STEPS):
    """Runs the study with communication steps (s) into a folder; returns the text of the tables."""
    directory.mkdir(parents=True, exist_ok=True)
    text = (HERE / f"{MODEL}.toml").read_text(encoding="utf-8")
    fmu, parts, _ = divide(tool, MODEL, text, directory)
    errors, tables = convergence(whole(fmu), parts, steps)
    fmu, parts, limits = divide(tool, "light", lightly_damped(text), directory)
    expected = whole(fmu)
    rows = []
    for way, limit in zip(ORDERS, [*limits, None, None]):
        found = coupled(parts, BEYOND, way)[0]
        diverges = len(found) < len(expected)
        error = "diverges" if diverges else f"{np.abs(found - expected)[:, :3].max():.2e}"
        rows.append([way, "" if limit is None else f"{1e3 * limit:.2f}", error])
    tables += "\n" + table(["", "stable up to, ms", f"steps of {1e3 * BEYOND:g} ms: error, m"], rows)
    draw(errors, steps, directory / "split.svg")
    (directory / "split.md").write_text(tables, encoding="utf-8")
    return tables


def main():
    arguments = options(command_line("A spacecraft in two coupled FMUs and in one.", "out/coupling"))
    print(study(arguments.grapple, arguments.output))
    print(f"{arguments.output}: split.md, split.svg")


if __name__ == "__main__":
    main()
