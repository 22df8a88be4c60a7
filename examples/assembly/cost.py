"""Processor time per simulated second of the assembly: case 1 of study.py with ANCF and modal beams, by solver and step.

    python examples/assembly/cost.py                        table in out/assembly

The time is the least of several runs over the first minute, without the importer's own work and
without the start. Needs FMPy and NumPy.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from fmpy.fmi1 import FMICallException

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from craft import SCHEMES, spec  # noqa: E402
from planner import Planner  # noqa: E402
from studies import build, command_line, options  # noqa: E402
from study import CASES, inputs, run, upright  # noqa: E402

STOP = 60.0  # s
# Solver, its step (s), relative tolerance, and the spacing of communication points (s).
SETTINGS = [
    ("radau5", None, 1e-8, 0.1),
    ("radau5", None, 1e-5, 0.1),
    ("radau5", None, 1e-5, 1.0),
    ("auto", None, 1e-5, 0.1),
    ("dopri5", None, 1e-5, 0.1),
    ("implicit_midpoint", 0.1, 1e-5, 0.1),
    ("implicit_midpoint", 0.01, 1e-5, 0.1),
    ("conserving", 0.1, 1e-5, 0.1),
    ("conserving", 0.01, 1e-5, 0.1),
]
SEEN = [f"{joint}.servo_error" for joint in "BCDEFG"]


def measure(tool, beams, setting, directory, runs, stop):
    """Returns processor time per simulated second (ms) and the errors of the joints at each full
    second (rad); None if the solver fails or does not support these beams."""
    method, step, tolerance, spacing = setting
    if (method, beams) == ("conserving", "modal"):
        return None
    case, planner = replace(CASES["1"], beams=beams), Planner()
    model = case.closed_form()
    solver = f'method = "{method}"' + (f"\nstep = {step}" if step else "")
    scheme = "natural" if method == "conserving" else "recursive"
    text = spec(model, planner.at(0.0), beams, scheme).replace(SCHEMES[scheme][1], solver)
    fmu = build(tool, "cost", text.replace("tolerance = 1e-8", f"tolerance = {tolerance}"), directory)
    times = spacing * np.arange(round(stop / spacing) + 1)
    values, rates = inputs(case, [planner.at(t) for t in times], times)
    took = []
    for _ in range(runs):
        try:
            errors, seconds = run(fmu, upright(model), values, rates, spacing, SEEN)
        except FMICallException as problem:
            print(f"{beams}, {method}: {problem}", file=sys.stderr)
            return None
        took.append(seconds)
    return 1e3 * min(took) / stop, errors[:: round(1.0 / spacing)]


def study(tool, directory, settings=SETTINGS, runs=5, stop=STOP):
    """Returns, for each setting, for modal and for ANCF beams: processor time per simulated second
    (ms), and the largest difference of the joints' errors from those with the first setting
    (rad)."""
    found, expected = {}, []
    for setting in settings:
        both = [measure(tool, beams, setting, directory, runs, stop) for beams in ("modal", "nodal")]
        expected = expected or [errors for _, errors in both]
        found[setting] = [of and (of[0], np.abs(of[1] - to).max()) for of, to in zip(both, expected)]
    return found


def table(found):
    """Returns the results of `study` as a Markdown table."""
    heading = ["solver", "its step, s", "tolerance", "communication step, s", "modal, ms", "off, rad", "nodal, ms", "off, rad"]
    rows = [heading, ["---"] * len(heading)]
    for (method, step, tolerance, spacing), both in found.items():
        cells = [text for of in both for text in ((f"{of[0]:.2f}", f"{of[1]:.0e}") if of else ("–", ""))]
        rows.append([method, str(step or ""), f"{tolerance:.0e}", str(spacing), *cells])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def main():
    parser = command_line(__doc__.splitlines()[0], "out/assembly")
    parser.add_argument("--runs", type=int, default=5, help="default: %(default)s")
    arguments = options(parser)
    arguments.output.mkdir(parents=True, exist_ok=True)
    text = table(study(arguments.grapple, arguments.output, runs=arguments.runs))
    (arguments.output / "cost.md").write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
