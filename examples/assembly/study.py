"""Two beams of a hundred metres and more, joined by a dual-arm robot in orbit.

    python examples/assembly/study.py                       case 1: table and figure in out/assembly
    python examples/assembly/study.py --cases 1 2 4         others, or all nine
    python examples/assembly/study.py --sweeps 8 9          cases of which one number varies: 3 to 9
    python examples/assembly/study.py --stop 10             the first ten seconds only

The craft is grapple's FMU; the plan and the feed-forward are Python's (planner.py, quasi_static.py), handed over with their
derivatives at each communication point. docs/assembly.md tells what comes out. Needs FMPy, NumPy and Matplotlib.
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from craft import JOINTS, spec  # noqa: E402
from planner import DURATION, Planner  # noqa: E402
from quasi_static import RADII, Beam, QuasiStatic  # noqa: E402
from studies import Instance, build, command_line, names, options  # noqa: E402

STEP = 0.1  # s, between communication points


@dataclass
class Case:
    """A row of table 2 of Yang et al. 2023."""

    modules: tuple = (1, 1)  # of MN and of KI
    fed: float = 1.0  # K_FF
    alpha: float = 0.0  # deg
    orbit: str | None = "LEO"

    def model(self):
        radius = RADII[self.orbit] if self.orbit else None
        return QuasiStatic(tuple(Beam(n) for n in self.modules), radius, np.radians(self.alpha))


CASES = {
    "1": Case(),
    "2": Case(fed=0.0),
    "3": Case(alpha=80.0),
    "4": Case(modules=(1, 5)),
    "5": Case(modules=(5, 5)),
    "6": Case(orbit=None),
    "7": Case(modules=(5, 5), orbit=None),
    "8": Case(modules=(1, 5), alpha=-45.0),
    "9": Case(modules=(1, 5), alpha=-45.0, orbit="GEO"),
}


ALPHAS = tuple(range(-90, 91, 15))  # deg
MODULES = (1, 2, 3, 4, 5)
# Cases by the number that varies, which has a name.
SWEEPS = {
    "3": ("α, deg", {alpha: Case(alpha=alpha) for alpha in ALPHAS}),
    "4": ("modules of KI", {n: Case(modules=(1, n)) for n in MODULES}),
    "5": ("modules of KI and of MN", {n: Case(modules=(n, n)) for n in MODULES}),
    "6": ("modules of KI", {n: Case(modules=(1, n), orbit=None) for n in MODULES}),
    "7": ("modules of KI and of MN", {n: Case(modules=(n, n), orbit=None) for n in MODULES}),
    "8": ("α, deg", {alpha: Case(modules=(1, 5), alpha=alpha) for alpha in ALPHAS}),
    "9": ("α, deg", {alpha: Case(modules=(1, 5), alpha=alpha, orbit="GEO") for alpha in ALPHAS}),
}


INPUTS = (
    [f"{joint}.q_ref" for joint in JOINTS]
    + [f"{joint}.qd_ref" for joint in JOINTS]
    + [f"{joint}.tau" for joint in JOINTS]
    + ["platform.t[3]"]
)
# A moment that opens an interior angle turns the links of the left arm backwards.
SIGNS = np.array([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0])
OUTPUTS = (
    [f"{joint}.servo_torque" for joint in JOINTS]
    + ["DE.servo_torque[3]"]
    + [f"{joint}.servo_error" for joint in JOINTS]
    + names("DE.q", 4)
    + ["MN.tip_deflection[2]", "KI.tip_deflection[2]", "left.gap", "right.gap", "left.angle", "right.angle"]
)


def inputs(case, model, planner, t):
    """References and feed-forward at the time t."""
    plan = planner.at(t)
    q, qd, _ = plan.joints()
    M = case.fed * model.moments(plan)
    tau = SIGNS * M[[0, 1, 2, 4, 5, 6]]
    return np.concatenate([q, qd, tau, M[[3]]])


def rates(case, model, planner, t):
    """Their derivatives: of the feed-forward by central differences."""
    plan = planner.at(t)
    _, qd, qdd = plan.joints()
    h = 1e-3
    fed = len(JOINTS) * 2
    difference = (inputs(case, model, planner, t + h) - inputs(case, model, planner, t - h))[fed:] / (2 * h)
    return np.concatenate([qd, qdd, difference])


def upright(model):
    """The platform's reference: along the beams."""
    return {"DE.q_ref[1]": np.cos(model.alpha / 2), "DE.q_ref[4]": np.sin(model.alpha / 2)}


def simulate(tool, key, case, directory, stop, elements=2, branch="outside", seven=True):
    """Runs a case. Returns times, the seven moments (N m), the errors of the joints and the platform (deg), the tips
    (m), the gaps and angles of the grasps, and the seconds that the FMU took to compute."""
    model, planner = case.model(), Planner(seven=seven, branch=branch)
    fmu = build(tool, key, spec(model, planner.at(0.0), elements), directory)
    steps = int(round(stop / STEP))
    times = STEP * np.arange(steps + 1)
    rows = np.empty((steps + 1, len(OUTPUTS)))
    fed = np.empty((steps + 1, 7))
    took = 0.0
    here = (inputs(case, model, planner, 0.0), rates(case, model, planner, 0.0))
    start = dict(zip(INPUTS, here[0])) | upright(model)
    with Instance(fmu, start) as host:
        for k, t in enumerate(times):
            rows[k], fed[k] = host.get(OUTPUTS), here[0][12:]
            if k == steps:
                break
            end = times[k + 1]
            there = (inputs(case, model, planner, end), rates(case, model, planner, end))
            host.lead(INPUTS, here, there, STEP)
            begun = time.perf_counter()
            host.step(t, STEP)
            took += time.perf_counter() - begun
            here = there
    moments = rows[:, :7] + fed
    moments[:, :6] *= SIGNS
    moments = moments[:, [0, 1, 2, 6, 3, 4, 5]]
    turned = 2 * np.arctan2(rows[:, 16], rows[:, 13]) - model.rate * times - model.alpha
    platform = np.mod(turned + np.pi, 2 * np.pi) - np.pi
    return {
        "times": times,
        "closed_form": closed_form(model, [planner.at(t) for t in times]),
        "moments": moments,
        "errors": np.degrees(np.column_stack([rows[:, 7:13], platform])),
        "tips": rows[:, 17:19],
        "gaps": rows[:, 19:21],
        "angles": rows[:, 21:23],
        "took": took,
        "model": model,
        "planner": planner,
    }


def closed_form(model, plans):
    """The moments and the tips of the quasi-static model."""
    moments = np.array([model.moments(plan) for plan in plans])
    tips = np.array([[model.beam(which, plan.x).tip for which in (0, 1)] for plan in plans])
    return moments, tips


def peaks(run):
    """The largest magnitudes while the beams approach, simulated and in closed form: seven moments (N m), then the tips N
    and I (mm)."""
    during = run["times"] <= DURATION
    both = ((run["moments"], run["tips"]), run["closed_form"])
    return [np.abs(np.column_stack([moments, 1e3 * tips])[during]).max(axis=0) for moments, tips in both]


def digits(value):
    """Four figures, and no more than four decimals."""
    return f"{value:.{min(4, max(0, 3 - int(np.floor(np.log10(max(abs(value), 1e-4))))))}f}"


def table(runs, number="case"):
    """The largest moments and deflections of runs in Markdown, closed form below simulation, by the number that tells them apart."""
    heading = [number, ""] + [f"M{i}, N·m" for i in range(1, 8)] + ["v_N, mm", "v_I, mm", "worst error, deg"]
    rows = [heading, ["---"] * len(heading)]
    for key, run in runs.items():
        simulated, closed = peaks(run)
        worst = np.abs(run["errors"][run["times"] <= DURATION]).max()
        rows.append([str(key), "simulated", *map(digits, simulated), f"{worst:.1e}"])
        rows.append([str(key), "closed form", *map(digits, closed), ""])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def save(figure, path):
    """The same file from the same numbers."""
    import matplotlib.pyplot as plt

    with plt.rc_context({"svg.hashsalt": "assembly"}):
        figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def draw(key, run, path):
    """Moments and tips over time, beside the closed form."""
    import matplotlib.pyplot as plt

    shown = slice(None, None, max(1, len(run["times"]) // 250))
    times = run["times"][shown]
    moments, tips = (values[shown] for values in run["closed_form"])
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 7), sharex=True, layout="constrained")
    for i in range(7):
        (line,) = upper.plot(times, run["moments"][shown, i], label=f"$M_{i + 1}$")
        upper.plot(times, moments[:, i], "--", color=line.get_color(), linewidth=0.8)
    for which, name in enumerate(("$v_N$", "$v_I$")):
        (line,) = lower.plot(times, 1e3 * run["tips"][shown, which], label=name)
        lower.plot(times, 1e3 * tips[:, which], "--", color=line.get_color(), linewidth=0.8)
    upper.set_ylabel("moment [N·m]")
    lower.set_ylabel("tip deflection [mm]")
    lower.set_xlabel("t [s]")
    upper.set_title(f"Case {key}; dashed: closed form")
    for axes in (upper, lower):
        axes.legend(ncols=4, fontsize=8)
        axes.grid(alpha=0.3)
    save(figure, path)


def sweep(tool, key, directory, stop):
    """Runs the cases of a sweep. Returns their runs by the number that varies."""
    number, cases = SWEEPS[key]
    runs = {}
    for value, case in cases.items():
        runs[value] = simulate(tool, f"sweep{key}", case, directory, stop)
        print(f"sweep {key}, {number}: {value}", file=sys.stderr)
    return runs


def draw_sweep(key, runs, path):
    """Largest moments and deflections over the number that varies: marks are simulated, lines the closed form."""
    import matplotlib.pyplot as plt

    values = list(runs)
    simulated, closed = (np.array(both) for both in zip(*map(peaks, runs.values())))
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for i in range(9):
        axes, name = (left, f"$M_{i + 1}$") if i < 7 else (right, ("$v_N$", "$v_I$")[i - 7])
        (line,) = axes.plot(values, closed[:, i], linewidth=0.8)
        axes.plot(values, simulated[:, i], "o", markersize=4, color=line.get_color(), label=name)
    left.set_ylabel("largest moment [N·m]")
    right.set_ylabel("largest tip deflection [mm]")
    figure.suptitle(f"Case {key}; lines: closed form", fontsize=10)
    for axes in (left, right):
        axes.set_xlabel(SWEEPS[key][0])
        axes.legend(ncols=2, fontsize=8)
        axes.grid(alpha=0.3)
    save(figure, path)


def study(tool, directory, cases=("1",), sweeps=(), stop=500.0):
    """Runs cases and sweeps, draws them, and returns their tables."""
    runs, texts = {}, []
    for key in cases:
        runs[key] = run = simulate(tool, f"case{key}", CASES[key], directory, stop)
        per_second = 1e3 * run["took"] / run["times"][-1]
        print(f"case {key}: {run['times'][-1]:g} s, {per_second:.1f} ms of computing for each", file=sys.stderr)
        draw(key, run, directory / f"case{key}.svg")
    if runs:
        texts.append(table(runs))
    for key in sweeps:
        found = sweep(tool, key, directory, min(stop, DURATION))
        draw_sweep(key, found, directory / f"sweep{key}.svg")
        texts.append(table(found, SWEEPS[key][0]))
    return "\n".join(texts)


def main():
    parser = command_line(__doc__.splitlines()[0], "out/assembly")
    parser.add_argument("--cases", nargs="+", choices=CASES, help="default: 1, or none beside sweeps")
    parser.add_argument("--sweeps", nargs="+", choices=SWEEPS, default=[], help="cases of which one number varies")
    parser.add_argument("--stop", type=float, default=500.0, help="when runs end, s; sweeps at 300 at the latest; default: %(default)s")
    arguments = options(parser)
    arguments.output.mkdir(parents=True, exist_ok=True)
    cases = arguments.cases or ([] if arguments.sweeps else ["1"])
    text = study(arguments.grapple, arguments.output, cases, arguments.sweeps, arguments.stop)
    (arguments.output / "table.md").write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
