"""The assembly with its controller outside: case 1 of study.py, closed over the FMI by sample and hold.

    python examples/assembly/closed_loop.py                 table in out/assembly

At each communication point the host reads angles and rates, and sets the seven moments until the next: the servos inside
the FMU are off. The links are light where their dampers are strong, so there is a longest step. docs/assembly.md tells
what comes out. Needs FMPy and NumPy.
"""

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from craft import JOINTS, KD, KP, spec  # noqa: E402
from planner import Planner  # noqa: E402
from studies import Instance, build, command_line, options  # noqa: E402
from study import CASES, INPUTS, SIGNS, inputs, rates  # noqa: E402

STEPS = (0.0001, 0.001, 0.004, 0.005)  # s
STOP = 2.0  # s
SPACING = 0.02  # s, where runs are compared
MEASURED = [f"{joint}.{part}" for part in ("q", "qd") for joint in JOINTS] + ["DE.q[1]", "DE.q[4]", "DE.w[3]"]
MOMENTS = [f"{joint}.tau" for joint in JOINTS] + ["platform.t[3]"]
SWITCHES = [f"{joint}.servo" for joint in JOINTS] + ["DE.servo"]


def wanted(model, planner, t):
    """References of all seven angles, their rates, and the feed-forward moments as the FMU takes them."""
    plan = planner.at(t)
    q, qd, _ = plan.joints()
    turned = model.alpha + model.rate * t
    M = model.moments(plan)
    return np.append(q, turned), np.append(qd, model.rate), np.append(SIGNS * M[[0, 1, 2, 4, 5, 6]], M[3])


def measured(host):
    """The seven angles and their rates."""
    values = host.get(MEASURED)
    angle = 2 * np.arctan2(values[13], values[12])
    return np.append(values[:6], angle), np.append(values[6:12], values[14])


def outside(fmu, model, planner, step, stop=STOP):
    """A run with the controller outside: angles (rad) at each SPACING, as far as they stay finite and below a radian off."""
    every, n = round(SPACING / step), round(stop / step)
    rows = []
    with Instance(fmu, dict.fromkeys(SWITCHES, 0.0)) as host:
        for k in range(n + 1):
            t = k * step
            q, qd = measured(host)
            q_ref, qd_ref, fed = wanted(model, planner, t)
            if k % every == 0:
                rows.append(q)
            if k == n or not np.abs(q_ref - q).max() < 1.0:
                break
            host.set(MOMENTS, fed + KP * (q_ref - q) + KD * (qd_ref - qd))
            host.step(t, step)
    return np.array(rows)


def inside(fmu, model, planner, stop=STOP):
    """The same by the servos in the FMU."""
    rows = []
    case = CASES["1"]
    with Instance(fmu) as host:
        for k in range(round(stop / SPACING) + 1):
            t = k * SPACING
            here = (inputs(case, model, planner, t), rates(case, model, planner, t))
            there = (inputs(case, model, planner, t + SPACING), rates(case, model, planner, t + SPACING))
            host.lead(INPUTS, here, there, SPACING)
            rows.append(measured(host)[0])
            host.step(t, SPACING)
    return np.array(rows)


def study(tool, directory, steps=STEPS, stop=STOP):
    """For each step the largest difference of the angles from those with the servos inside, rad; infinite if it grows beyond a radian."""
    model, planner = CASES["1"].model(), Planner()
    fmu = build(tool, "closed_loop", spec(model, planner.at(0.0)), directory)
    expected = inside(fmu, model, planner, stop)
    found = {}
    for step in steps:
        rows = outside(fmu, model, planner, step, stop)
        whole = len(rows) == len(expected)
        found[step] = np.abs(rows - expected).max() if whole else np.inf
    return found


def table(found):
    """What `study` has found in Markdown."""
    rows = ["| step, ms | off the servos inside, rad |", "| --- | --- |"]
    rows += [f"| {1e3 * step:g} | {f'{off:.1e}' if np.isfinite(off) else 'unstable'} |" for step, off in found.items()]
    return "\n".join(rows) + "\n"


def main():
    arguments = options(command_line(__doc__.splitlines()[0], "out/assembly"))
    arguments.output.mkdir(parents=True, exist_ok=True)
    text = table(study(arguments.grapple, arguments.output))
    (arguments.output / "closed_loop.md").write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
