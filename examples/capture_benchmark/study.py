"""The capture benchmark with other numbers of modes, and with other noise.

    python examples/capture_benchmark/study.py      two tables in out/capture_benchmark, minutes

The first table has metrics of the flexible version with one to four bending modes of each beam in
each plane, and of the rigid version. The second has mean and standard deviation of metrics of the
sampled version over 32 seeds of the noise, and the metrics with exact sensors, and with the
continuous controller of the rigid version. docs/capture_benchmark.md has both. Needs FMPy and NumPy.
"""

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from metrics import reference  # noqa: E402
from run import build, results  # noqa: E402
from studies import command_line, options  # noqa: E402

STOP_TIME = 120.0  # s
MODES = 1, 2, 3, 4
SEEDS = 32
COLUMNS = "continuous", "exact sensors", "mean", "standard deviation"
SHOWN = (
    "capture.time",
    "capture.impulse",
    "capture.energy_change",
    "peak.attitude",
    "peak.grip_force",
    "peak.grip_moment",
    "peak.elbow_pitch.torque",
    "peak.wheel_y.torque",
    "settled",
    "residual.target_rate",
    "residual.bus_attitude",
    "residual.angular_momentum",
)


def rows(title, columns, cell):
    """Returns a Markdown table with a row for each metric; `cell(column, metric)` is a text."""
    head = [f"| {title} | " + " | ".join(columns) + " |", "|---" + "|---" * len(columns) + "|"]
    return "\n".join([*head, *(f"| `{name}` | " + " | ".join(cell(c, name) for c in columns) + " |" for name in SHOWN)]) + "\n"


def modes(tool, folder):
    """Returns the metrics by the number of bending modes."""
    text = (HERE / "flexible.toml").read_text(encoding="utf-8")
    found = {}
    for n in MODES:
        part = folder / f"modes_{n}"
        part.mkdir(parents=True, exist_ok=True)
        (part / "rigid.toml").write_bytes((HERE / "rigid.toml").read_bytes())
        (part / "flexible.toml").write_text(text.replace("bending = 2", f"bending = {n}"), encoding="utf-8")
        build(tool, part, ["flexible"], part)
        found[f"{n}"] = results(part, "flexible", STOP_TIME)
    return found


def study(tool, folder):
    """Returns the two tables as text."""
    rigid = reference()["rigid"]
    by_modes = {"rigid": rigid} | modes(tool, folder)
    text = rows("bending modes", list(by_modes), lambda column, name: f"{by_modes[column][name][0]:.6g}")
    build(tool, folder, ["sampled"])
    exact = results(folder, "sampled", STOP_TIME, seed=None)
    noisy = [results(folder, "sampled", STOP_TIME, seed=seed) for seed in range(1, SEEDS + 1)]

    def cell(column, name):
        values = np.array([run[name][0] for run in noisy])
        return f"{dict(zip(COLUMNS, (rigid[name][0], exact[name][0], values.mean(), values.std(ddof=1))))[column]:.5g}"

    return text + "\n" + rows("sampled", COLUMNS, cell)


def main():
    arguments = options(command_line("Modes and noise of the capture benchmark.", "out/capture_benchmark"))
    text = study(arguments.grapple, arguments.output)
    (arguments.output / "tables.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
