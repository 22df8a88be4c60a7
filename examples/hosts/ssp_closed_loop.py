"""Plant and controller as two FMUs in one SSP file, run by FMPy.

    python examples/hosts/ssp_closed_loop.py          a line for each communication step

`grapple couple` makes the SSP file from ../servoed_arm.toml and ../arm_controller.toml. FMPy steps
both at once (Jacobi), so the torques act one step late: first order in the step, stable up to 6.33
ms (docs/coupling.md). Needs FMPy.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
from fmpy.ssp.simulation import simulate_ssp

EXAMPLES = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(EXAMPLES), str(EXAMPLES / "hosts")]

from fmpy_closed_loop import Q, SAMPLE, servos_inside  # noqa: E402
from studies import build, command_line, options  # noqa: E402

STOP_TIME = 4.0  # s
STEPS = (0.004, 0.002)  # s


def couple(tool, directory):
    """Makes the SSP file of the spacecraft and its controller; returns its path."""
    path = directory / "loop.ssp"
    specs = [EXAMPLES / f"{name}.toml" for name in ("servoed_arm", "arm_controller")]
    run = subprocess.run([tool, "couple", *specs, "--output", path], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr)
    return path


def compare(tool, directory):
    """Returns by communication step the largest difference of the joints' angles from those with
    the servos inside the FMU, rad."""
    directory.mkdir(parents=True, exist_ok=True)
    loop = couple(tool, directory)
    fmu = build(tool, "servoed_arm", (EXAMPLES / "servoed_arm.toml").read_text(encoding="utf-8"), directory)
    expected = servos_inside(fmu, STOP_TIME)
    errors = {}
    for h in STEPS:
        result = simulate_ssp(str(loop), stop_time=STOP_TIME, step_size=h)
        every = round(SAMPLE / h)
        # The row that FMPy labels with a time has the values at the end of the step from that time.
        rows = np.array([result[f"servoed_arm.{name}"][every - 1 :: every] for name in Q]).T
        n = min(len(rows), len(expected) - 1)
        errors[h] = np.abs(rows[:n] - expected[1 : n + 1]).max()
    return errors


def main():
    arguments = options(command_line("Plant and controller wired into one SSP file.", "out/hosts"))
    for h, error in compare(arguments.grapple, arguments.output).items():
        print(f"every {1e3 * h:g} ms: off the servos inside by at most {error:.2e} rad")


if __name__ == "__main__":
    main()
