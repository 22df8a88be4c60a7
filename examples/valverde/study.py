"""The satellites of Valverde and Tsiotras (2018), in three formulations.

    python examples/valverde/study.py         tables and figure in out/valverde

Runs ../valverde_2018.toml for 70 s in the formulations `dual_quaternion`, `quaternion` and
`recursive`, without stabilisation, and draws the quantities of the paper's figures 5 and 6:
displacement of the mass centre, kinetic energy, the matrix's condition, momenta. two_arms.toml, the
architecture of the paper's appendix, runs for 20 s. docs/papers.md shows the results. Needs FMPy
and Matplotlib.
"""

import re
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

EXAMPLES = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(EXAMPLES))

from studies import Instance, build, command_line, names, options  # noqa: E402

STEP, TOLERANCE = 0.1, 2.3e-14  # s, relative
SATELLITE, TWO_ARMS = EXAMPLES / "valverde_2018.toml", EXAMPLES / "valverde" / "two_arms.toml"
STOP_TIMES = {SATELLITE: 70.0, TWO_ARMS: 20.0}  # s
TIPS = names("left_tip.r", 3) + names("right_tip.r", 3)
REST = (8.0, 15.0, 30.0)  # s: between the pulses, and after the last
CONSTRAINTS = {"dual_quaternion": "alpha = 0.0", "quaternion": "alpha = 0.0\nbeta = 0.0", "recursive": None}


def spec(formulation, file):
    """Returns the spec of a satellite in a formulation, without stabilisation; the condition of the
    paper's own matrix is an output."""
    text = file.read_text(encoding="utf-8")
    text = text.replace('formulation = "dual_quaternion"', f'formulation = "{formulation}"')
    constraints = CONSTRAINTS[formulation]
    section = f"[constraints]\n{constraints}\n\n" if constraints else ""
    text = re.sub(r"\[constraints\]\n.*?\n\n", section, text, flags=re.DOTALL)
    if formulation == "dual_quaternion":
        text = text.replace("reactions = true", "reactions = true\ncondition = true")
    return text


def run(fmu, stop_time):
    """Simulates an FMU; returns over time the norms of the changes of mass centre, momentum and
    angular momentum, then kinetic energy, and the condition and the tips' positions if there are
    any."""
    vectors = [names(f"system.{what}", 3) for what in ("mass_centre", "momentum", "angular_momentum")]
    with Instance(fmu, tolerance=TOLERANCE) as craft:
        others = [name for name in ("system.kinetic_energy", "system.condition", *TIPS) if name in craft.variables]
        rows = []
        for k in range(round(stop_time / STEP) + 1):
            rows.append(craft.get(sum(vectors, []) + others))
            craft.step(k * STEP, STEP)
    rows = np.array(rows)
    norms = [np.linalg.norm(rows[:, k : k + 3] - rows[0, k : k + 3], axis=1) for k in (0, 3, 6)]
    return norms + list(rows.T[9:])


def draw(times, runs, path):
    figure, axes = plt.subplots(3, 2, figsize=(9, 8), sharex=True, layout="constrained")
    (centre, energy), (linear, angular), (condition, unused) = axes
    for label, drifts in runs.items():
        for panel, drift in zip((centre, linear, angular), drifts):
            panel.semilogy(times[::4], drift[::4], lw=0.8, label=label)
    _, _, _, kinetic, conditions = runs["dual_quaternion"]
    energy.plot(times, kinetic)
    condition.plot(times, conditions)
    unused.set_axis_off()
    centre.set(ylabel="mass centre moves, m", ylim=(1e-17, 1e-12))
    energy.set(ylabel="kinetic energy, J")
    linear.set(ylabel="linear momentum, N·s", ylim=(1e-17, 1e-12))
    angular.set(ylabel="angular momentum, N·m·s", ylim=(1e-17, 1e-12), xlabel="t, s")
    condition.set(ylabel="condition of the matrix", xlabel="t, s")
    centre.legend()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def runs_of(tool, file, directory):
    """Runs a satellite in every formulation."""
    stop_time, name = STOP_TIMES[file], file.stem
    return {way: run(build(tool, f"{name}_{way}", spec(way, file), directory), stop_time) for way in CONSTRAINTS}


def study(tool, directory):
    """Runs the whole study into a folder; returns the text of the tables and the drifts of both
    satellites."""
    directory.mkdir(parents=True, exist_ok=True)
    runs, of_arms = (runs_of(tool, file, directory) for file in STOP_TIMES)
    times = np.arange(round(STOP_TIMES[SATELLITE] / STEP) + 1) * STEP
    draw(times, runs, directory / "valverde_2018.svg")
    text = "| formulation | kinetic energy at 8 s, J | at 15 s, J | at 30 s, J | condition, least | largest |\n|---|---|---|---|---|---|\n"
    for way, (_, _, _, energy, *condition) in runs.items():
        energies = [f"{energy[round(t / STEP)]:.10f}" for t in REST]
        ends = [f"{end(of):.1f}" for of in condition for end in (np.min, np.max)] or ["–", "–"]
        text += f"| `{way}` | {' | '.join(energies + ends)} |\n"
    text += "\n| two arms | kinetic energy at 20 s, J | left tip at 20 s: x, m | y, m | z, m | right tip: x, m | y, m | z, m |\n|---|---|---|---|---|---|---|---|\n"
    for way, (_, _, _, energy, *others) in of_arms.items():
        tips = [f"{tip[-1]:.9f}" for tip in others[-len(TIPS) :]]
        text += f"| `{way}` | {energy[-1]:.10f} | {' | '.join(tips)} |\n"
    (directory / "tables.md").write_text(text, encoding="utf-8")
    drifts = {way: [float(norm.max()) for norm in of[:3]] for way, of in runs.items()}
    return text, drifts | {f"two arms, {way}": [float(norm.max()) for norm in of[:3]] for way, of in of_arms.items()}


def main():
    arguments = options(command_line("The satellites of Valverde and Tsiotras, in three formulations.", "out/valverde"))
    text, drifts = study(arguments.grapple, arguments.output)
    print(text)
    for way, (centre, momentum, angular) in drifts.items():
        print(f"{way}: mass centre {centre:.1e} m, momentum {momentum:.1e} N·s, angular momentum {angular:.1e} N·m·s at most")
    print(f"{arguments.output}: tables.md, valverde_2018.svg")


if __name__ == "__main__":
    main()
