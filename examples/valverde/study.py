"""The satellite of Valverde and Tsiotras (2018), in three formulations.

    python examples/valverde/study.py         table and figure in out/valverde

Runs ../valverde_2018.toml for 70 s in the formulations `dual_quaternion`, `quaternion` and
`recursive`, without stabilisation, and draws the quantities of the paper's figures 5 and 6:
displacement of the mass centre, kinetic energy, the matrix's condition, momenta. docs/papers.md
shows the results. Needs FMPy and Matplotlib.
"""

import re
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

EXAMPLES = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(EXAMPLES))

from studies import Instance, build, command_line, names, options  # noqa: E402

STOP_TIME, STEP, TOLERANCE = 70.0, 0.1, 2.3e-14  # s, s, relative
REST = (8.0, 15.0, 30.0)  # s: between the pulses, and after the last
CONSTRAINTS = {"dual_quaternion": "alpha = 0.0", "quaternion": "alpha = 0.0\nbeta = 0.0", "recursive": None}


def spec(formulation):
    """Returns the example's spec in a formulation, without stabilisation; the condition of the
    paper's own matrix is an output."""
    text = (EXAMPLES / "valverde_2018.toml").read_text(encoding="utf-8")
    text = text.replace('formulation = "dual_quaternion"', f'formulation = "{formulation}"')
    constraints = CONSTRAINTS[formulation]
    section = f"[constraints]\n{constraints}\n\n" if constraints else ""
    text = re.sub(r"\[constraints\]\n.*?\n\n", section, text, flags=re.DOTALL)
    if formulation == "dual_quaternion":
        text = text.replace("reactions = true", "reactions = true\ncondition = true")
    return text


def run(fmu):
    """Simulates an FMU; returns over time the norms of the changes of mass centre, momentum and
    angular momentum, then kinetic energy, and the condition if there is one."""
    vectors = [names(f"system.{what}", 3) for what in ("mass_centre", "momentum", "angular_momentum")]
    with Instance(fmu, tolerance=TOLERANCE) as craft:
        others = [name for name in ("system.kinetic_energy", "system.condition") if name in craft.references]
        rows = []
        for k in range(round(STOP_TIME / STEP) + 1):
            rows.append(craft.get(sum(vectors, []) + others))
            craft.step(k * STEP, STEP)
    rows = np.array(rows)
    norms = [np.linalg.norm(rows[:, k : k + 3] - rows[0, k : k + 3], axis=1) for k in (0, 3, 6)]
    return norms + list(rows.T[9:])


def draw(times, runs, path):
    figure, axes = plt.subplots(2, 2, figsize=(9, 6), sharex=True, layout="constrained")
    for label, (centre, _, angular, *_) in runs.items():
        axes[0, 0].semilogy(times[::4], centre[::4], lw=0.8, label=label)
        axes[1, 1].semilogy(times[::4], angular[::4], lw=0.8, label=label)
    *_, energy, condition = runs["dual_quaternion"]
    axes[0, 1].plot(times, energy)
    axes[1, 0].plot(times, condition)
    axes[0, 0].set(ylabel="mass centre moves, m", ylim=(1e-17, 1e-12))
    axes[0, 1].set(ylabel="kinetic energy, J")
    axes[1, 0].set(ylabel="condition of the matrix", xlabel="t, s")
    axes[1, 1].set(ylabel="angular momentum, N·m·s", xlabel="t, s", ylim=(1e-17, 1e-12))
    axes[0, 0].legend()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def study(tool, directory):
    """Runs the whole study into a folder; returns the text of the table."""
    directory.mkdir(parents=True, exist_ok=True)
    runs = {way: run(build(tool, way, spec(way), directory)) for way in CONSTRAINTS}
    times = np.arange(round(STOP_TIME / STEP) + 1) * STEP
    draw(times, runs, directory / "valverde_2018.svg")
    text = "| formulation | kinetic energy at 8 s, J | at 15 s, J | at 30 s, J | condition, least | largest |\n|---|---|---|---|---|---|\n"
    for way, (_, _, _, energy, *condition) in runs.items():
        energies = [f"{energy[round(t / STEP)]:.10f}" for t in REST]
        ends = [f"{end(of):.1f}" for of in condition for end in (np.min, np.max)] or ["–", "–"]
        text += f"| `{way}` | {' | '.join(energies + ends)} |\n"
    (directory / "tables.md").write_text(text, encoding="utf-8")
    return text, {way: [float(norm.max()) for norm in of[:3]] for way, of in runs.items()}


def main():
    arguments = options(command_line("The satellite of Valverde and Tsiotras, in three formulations.", "out/valverde"))
    text, drifts = study(arguments.grapple, arguments.output)
    print(text)
    for way, (centre, momentum, angular) in drifts.items():
        print(f"{way}: mass centre {centre:.1e} m, momentum {momentum:.1e} N·s, angular momentum {angular:.1e} N·m·s at most")
    print(f"{arguments.output}: tables.md, valverde_2018.svg")


if __name__ == "__main__":
    main()
