"""The assembly with its controller outside the FMU: case 1 of study.py as a closed loop over the FMI.

    python examples/assembly/closed_loop.py                 table in out/assembly

A fast controller reads angles and rates at each communication point and sets seven moments, which
are held until the next; the servos inside the FMU are off. The links are light and their dampers
strong, so that the loop is unstable above a longest step. A slower program leaves the servos on and
sends them references and feed-forward, as held values or as cubics over each step.
docs/assembly.md shows the results. Needs FMPy and NumPy.
"""

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from craft import JOINTS, KD, KP, spec  # noqa: E402
from planner import Planner  # noqa: E402
from studies import Instance, build, command_line, options  # noqa: E402
from study import CASES, INPUTS, apart, inputs, run, together  # noqa: E402

CASE = CASES["1"]
STEPS = (0.0001, 0.001, 0.004, 0.005)  # s, between communication points at which moments are sent
SLOW_STEPS = (0.01, 0.1)  # s, between communication points at which references are sent
STOP = 2.0  # s
SPACING = 0.02  # s, between the times at which runs are compared
MEASURED = {
    "q": [f"{joint}.q" for joint in JOINTS],
    "qd": [f"{joint}.qd" for joint in JOINTS],
    "attitude": ["DE.q[1]", "DE.q[4]"],
    "rate": ["DE.w[3]"],
}
SWITCHES = [f"{joint}.servo" for joint in JOINTS] + ["DE.servo"]


def angles(columns):
    """Returns the seven angles of measured columns, the platform's last, and their rates."""
    found = apart(columns, MEASURED)
    w, z = found["attitude"].T
    return np.column_stack([found["q"], 2 * np.arctan2(z, w)]), np.column_stack([found["qd"], found["rate"]])


def outside(fmu, model, planner, step, stop=STOP):
    """Simulates with the controller outside the FMU. Returns the angles (rad) at each SPACING.  The
    run ends early if an angle is not finite or differs from its reference by 1 rad or more."""
    times = step * np.arange(round(stop / step) + 1)
    wanted = apart(inputs(CASE, [planner.at(t) for t in times], times)[0], INPUTS)
    q_ref = np.column_stack([wanted["q"], model.alpha + model.rate * times])
    qd_ref = np.column_stack([wanted["qd"], np.full(len(times), model.rate)])
    fed = np.hstack([wanted["tau"], wanted["platform"][:, 2:]])
    every, rows = round(SPACING / step), []
    with Instance(fmu, dict.fromkeys(SWITCHES, 0.0)) as host:
        for k, t in enumerate(times):
            [q], [qd] = angles(host.get(together(MEASURED))[None])
            if k % every == 0:
                rows.append(q)
            if not np.abs(q_ref[k] - q).max() < 1.0:
                break
            host.set(INPUTS["tau"] + INPUTS["platform"][2:], fed[k] + KP * (q_ref[k] - q) + KD * (qd_ref[k] - qd))
            host.step(t, step)
    return np.array(rows)


def inside(fmu, planner, step=SPACING, stop=STOP, held=False):
    """Simulates with the servos inside the FMU. Returns the angles (rad) at each step. References
    and feed-forward are cubics over each step, or constant during it if `held`."""
    times = step * np.arange(round(stop / step) + 1)
    wanted = inputs(CASE, [planner.at(t) for t in times], times)
    if not held:
        columns, _ = run(fmu, {}, *wanted, step, together(MEASURED))
        return angles(columns)[0]
    driven, measured = together(INPUTS), together(MEASURED)
    with Instance(fmu, dict(zip(driven, wanted[0][0]))) as host:
        rows = [host.get(measured)]
        for t, values in zip(times[:-1], wanted[0]):
            host.set(driven, values)
            host.step(t, step)
            rows.append(host.get(measured))
    return angles(np.array(rows))[0]


def study(tool, directory, steps=STEPS, slow_steps=SLOW_STEPS, stop=STOP):
    """Returns, by kind and step (s) of the values sent, the largest difference of the angles from
    the run with servos inside and cubic references, rad; infinite if a run ended early."""
    model, planner = CASE.closed_form(), Planner()
    fmu = build(tool, "closed_loop", spec(model, planner.at(0.0)), directory)
    expected = inside(fmu, planner, stop=stop)
    found = {}
    for step in steps:
        rows = outside(fmu, model, planner, step, stop)
        whole = len(rows) == len(expected)
        found["moments, held", step] = np.abs(rows - expected).max() if whole else np.inf
    for step in slow_steps:
        every, spaced = max(1, round(SPACING / step)), max(1, round(step / SPACING))
        for what, held in (("references, held", True), ("references, cubics", False)):
            rows = inside(fmu, planner, step, stop, held)
            found[what, step] = np.abs(rows[::every] - expected[::spaced]).max()
    return found


def table(found):
    """Returns the results of `study` as a Markdown table."""
    rows = ["| sent | step, ms | off the servos inside, rad |", "| --- | --- | --- |"]
    rows += [f"| {what} | {1e3 * step:g} | {f'{off:.1e}' if np.isfinite(off) else 'unstable'} |" for (what, step), off in found.items()]
    return "\n".join(rows) + "\n"


def main():
    arguments = options(command_line(__doc__.splitlines()[0], "out/assembly"))
    arguments.output.mkdir(parents=True, exist_ok=True)
    text = table(study(arguments.grapple, arguments.output))
    (arguments.output / "closed_loop.md").write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
