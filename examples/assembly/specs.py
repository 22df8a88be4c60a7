"""The nine cases of Yang et al. 2023 as specs: each FMU contains plan, feed-forward and docking, and runs by itself.

    python examples/assembly/specs.py                       all nine, half a minute: table in out/assembly
    python examples/assembly/specs.py --cases 1 2           some of them

Each of case_1.toml to case_9.toml is built and run through the FMI for 360 s; its beams dock at 301 s.
docs/assembly.md shows the table. Needs FMPy and NumPy.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from craft import JOINTS  # noqa: E402
from planner import DURATION  # noqa: E402
from studies import Instance, command_line, options  # noqa: E402
from study import CASES, HEADING, digits  # noqa: E402

STEP, STOP = 0.1, 360.0  # s
MOMENTS = [*(f"{joint}.servo_torque" for joint in "BCD"), "DE.servo_torque[3]", *(f"{joint}.servo_torque" for joint in "EFG")]
TIPS = ["MN.tip_deflection[2]", "KI.tip_deflection[2]"]
ERRORS = [f"{joint}.servo_error" for joint in JOINTS]
CAPTURE = ["P.captured", "P.violation", "P.violation_angle"]


def simulate(tool, key, directory):
    """Runs the spec of a case. Returns times (s), moments (N m), tips (m), errors of the joints (rad)
    and, of the capture, whether it holds, the gap (m) and the angle (rad): rows are times."""
    fmu = directory / f"case_{key}.fmu"
    subprocess.run([tool, "build", HERE / f"case_{key}.toml", "--output", fmu], check=True, capture_output=True)
    groups = [MOMENTS, TIPS, ERRORS, CAPTURE]
    times = STEP * np.arange(round(STOP / STEP) + 1)
    with Instance(fmu) as host:
        rows = [host.get(sum(groups, []))]
        for t in times[:-1]:
            host.step(t, STEP)
            rows.append(host.get(sum(groups, [])))
    columns = np.split(np.array(rows), np.cumsum([len(group) for group in groups])[:-1], axis=1)
    return times, *columns


def row(key, run):
    """Returns the row of a case: largest moments, deflections and errors until 300 s, and the gap of the
    roots when they dock."""
    times, moments, tips, errors, capture = run
    approach = times <= DURATION + 1e-6
    largest = [*np.abs(moments[approach]).max(axis=0), *1e3 * np.abs(tips[approach]).max(axis=0)]
    held = capture[:, 0] > 0.5
    worst = np.degrees(np.abs(errors[approach]).max())
    gap = capture[held, 1][0]
    return [key, *map(digits, largest), f"{worst:.1e}", f"{gap:.1e}" if gap > 1e-12 else "< 1e-12"]


def table(runs):
    """Returns the results of runs by case as a Markdown table."""
    heading = ["case as a spec", *HEADING, "roots apart at 301 s, m"]
    rows = [heading, ["---"] * len(heading), *(row(key, run) for key, run in runs.items())]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def main():
    parser = command_line(__doc__.splitlines()[0], "out/assembly")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES), help="default: all")
    arguments = options(parser)
    arguments.output.mkdir(parents=True, exist_ok=True)
    runs = {}
    for key in arguments.cases:
        print(f"case {key}", file=sys.stderr)
        runs[key] = simulate(arguments.grapple, key, arguments.output)
    text = table(runs)
    (arguments.output / "specs.md").write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
