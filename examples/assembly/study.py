"""Two beams of a hundred metres or more, joined by a dual-arm robot in orbit.

    python examples/assembly/study.py                       case 1: table and figure in out/assembly
    python examples/assembly/study.py --cases 1 2 4         others, or all nine
    python examples/assembly/study.py --sweeps 8 9          cases with one number varied: 3 to 9, and tilt
    python examples/assembly/study.py --feed-forward quasi_static rigid         a run with each, compared in one table
    python examples/assembly/study.py --beams modal --start straight bent       a run with each combination
    python examples/assembly/study.py --scheme recursive natural                by our recursion, and by the paper's own scheme
    python examples/assembly/study.py --stop 10             the first ten seconds only

The spacecraft is an FMU built by grapple; plan and feed-forward are computed in Python (planner.py;
quasi_static.py, inverse_dynamics.py) and set with their derivatives at each communication point.
docs/assembly.md shows the results. Needs FMPy, NumPy and Matplotlib.
"""

import io
import re
import sys
import time
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from craft import BEAMS, JOINTS, SCHEMES, bent, spec  # noqa: E402
from inverse_dynamics import RigidTree  # noqa: E402
from planner import DURATION, HEIGHT, SIGNS, Planner  # noqa: E402
from quasi_static import RADII, Beam, QuasiStatic  # noqa: E402
from spatial import Spatial  # noqa: E402
from studies import Instance, build, command_line, names, options  # noqa: E402

STEP = 0.1  # s, between communication points


FEED_FORWARD = ("quasi_static", "rigid", "none")


@dataclass
class Case:
    """A row of table 2 of Yang et al. 2023."""

    modules: tuple = (1, 1)  # of MN and of KI
    feed_forward: str = "quasi_static"
    alpha: float = 0.0  # deg
    orbit: str | None = "LEO"
    beams: str = "nodal"
    start: str = "straight"  # or "bent": with the quasi-static deflection
    beta: float = 0.0  # deg
    scheme: str = "recursive"  # or "natural": the paper's own, with a conserving step

    def __post_init__(self):
        if self.start == "bent" and self.beams == "rigid":
            raise ValueError("rigid beams are straight: a bent start needs nodal or modal ones")
        if self.scheme == "natural" and self.beams == "modal":
            raise ValueError("natural coordinates have no modal beams: choose nodal ones")

    def setting(self):
        """Returns the arguments of an `Assembly`: beams, orbit's radius (m), alpha and beta
        (rad)."""
        beams = tuple(Beam(n) for n in self.modules)
        return beams, RADII[self.orbit] if self.orbit else None, np.radians(self.alpha), np.radians(self.beta)

    def closed_form(self):
        return (Spatial if self.beta else QuasiStatic)(*self.setting())

    def label(self):
        """Returns a label of the settings, for tables."""
        fed = {"quasi_static": "", "rigid": ", rigid feed-forward", "none": ", no feed-forward"}
        scheme = ", natural coordinates" if self.scheme == "natural" else ""
        return self.beams + scheme + (", bent at the start" if self.start == "bent" else "") + fed[self.feed_forward]


CASES = {
    "1": Case(),
    "2": Case(feed_forward="none"),
    "3": Case(alpha=80.0),
    "4": Case(modules=(1, 5)),
    "5": Case(modules=(5, 5)),
    "6": Case(orbit=None),
    "7": Case(modules=(5, 5), orbit=None),
    "8": Case(modules=(1, 5), alpha=-45.0),
    "9": Case(modules=(1, 5), alpha=-45.0, orbit="GEO"),
}


ALPHAS = tuple(range(-90, 91, 15))  # deg
MODULES = tuple(range(1, 11))
# Sweeps: a label of the varied number, and the cases by its value.
SWEEPS = {
    "3": ("α, deg", {alpha: Case(alpha=alpha) for alpha in ALPHAS}),
    "4": ("modules of KI", {n: Case(modules=(1, n)) for n in MODULES}),
    "5": ("modules of KI and of MN", {n: Case(modules=(n, n)) for n in MODULES}),
    "6": ("modules of KI", {n: Case(modules=(1, n), orbit=None) for n in MODULES}),
    "7": ("modules of KI and of MN", {n: Case(modules=(n, n), orbit=None) for n in MODULES}),
    "8": ("α, deg", {alpha: Case(modules=(1, 5), alpha=alpha) for alpha in ALPHAS}),
    "9": ("α, deg", {alpha: Case(modules=(1, 5), alpha=alpha, orbit="GEO") for alpha in ALPHAS}),
    # Not in the paper: the line is inclined to the orbit's plane.
    "tilt": ("β, deg", {beta: Case(modules=(1, 5), beta=beta, beams="modal", start="bent") for beta in (0, 30, 60, 90)}),
}


# Names of variables by group.
INPUTS = {
    "q": [f"{joint}.q_ref" for joint in JOINTS],
    "qd": [f"{joint}.qd_ref" for joint in JOINTS],
    "tau": [f"{joint}.tau" for joint in JOINTS],
    "platform": names("platform.t", 3),
}
OUTPUTS = {
    "servos": [f"{joint}.servo_torque" for joint in JOINTS],
    "platform": names("DE.servo_torque", 3),
    "errors": [f"{joint}.servo_error" for joint in JOINTS],
    "attitude": names("DE.q", 4),
}
TIPS = {"tips": [f"{beam}.tip_deflection[{i}]" for beam in BEAMS for i in (2, 3)]}
GRASPED = {"gaps": ["left.distance", "right.distance"], "angles": ["left.angle", "right.angle"]}
ROOTS = {"roots": names("MN.node[1].r", 3) + names("KI.node[1].r", 3)}
OF_BEAMS = {"nodal": TIPS | GRASPED | ROOTS, "modal": TIPS, "rigid": {}}  # additional outputs, by the kind of beams
ARMS = [0, 1, 2, 4, 5, 6]  # indices of the joints' moments among the seven; index 3 is the moment on the platform


def together(groups):
    """Returns all names of some groups."""
    return sum(groups.values(), [])


def apart(columns, groups):
    """Splits columns by group."""
    ends = np.cumsum([len(group) for group in groups.values()])
    return dict(zip(groups, np.split(columns, ends[:-1], axis=1)))


def drives(case, plans):
    """Returns the feed-forward moments as inputs of the FMU, N m: torques of the six joints, then
    the three components on the platform in its axes."""
    if case.feed_forward == "none":
        return np.zeros((len(plans), 9))
    model = RigidTree(*case.setting()) if case.feed_forward == "rigid" else case.closed_form()
    return np.array([np.append(SIGNS * model.moments(plan)[ARMS], model.platform(plan)) for plan in plans])


def inputs(case, plans, times):
    """Returns references and feed-forward of plans at evenly spaced times, and their derivatives:
    columns as in INPUTS."""
    q, qd, qdd = np.moveaxis(np.array([plan.joints() for plan in plans]), 1, 0)
    fed = drives(case, plans)
    return np.hstack([q, qd, fed]), np.hstack([qd, qdd, np.gradient(fed, times, axis=0)])


def run(fmu, start, values, rates, step, seen):
    """Runs an FMU whose inputs interpolate given values and rates; `step` is the time between rows,
    s.

    Returns the outputs `seen` at these times, one column for each, and the processor time of the
    FMU, s."""
    driven, took = together(INPUTS), 0.0
    with Instance(fmu, dict(zip(driven, values[0])) | start) as host:
        rows = [host.get(seen)]
        for k in range(len(values) - 1):
            host.lead(driven, (values[k], rates[k]), (values[k + 1], rates[k + 1]), step)
            begun = time.process_time()
            host.step(k * step, step)
            took += time.process_time() - begun
            rows.append(host.get(seen))
    return np.array(rows), took


def upright(model):
    """Returns the platform's reference relative to the LVLH frame: along the beams."""
    return dict(zip(names("DE.q_ref", 4), model.attitude(0.0)))


def turn(p, q):
    """Returns the angles between attitudes given as rows of unit quaternions, rad."""
    vector = p[:, :1] * q[:, 1:] - q[:, :1] * p[:, 1:] - np.cross(p[:, 1:], q[:, 1:])
    return 2 * np.arcsin(np.linalg.norm(vector, axis=1))


def simulate(tool, key, case, directory, stop):
    """Runs a case. Returns times, the seven moments and the moment on the platform (N m), the
    errors of the joints and the platform (deg), the tips (m), for ANCF beams the gaps (m) and
    angles (rad) of the grasps, and the processor time of the FMU (s)."""
    model, planner = case.closed_form(), Planner()
    times = STEP * np.arange(round(stop / STEP) + 1)
    plans = [planner.at(t) for t in times]
    fmu = build(tool, key, spec(model, plans[0], case.beams, case.scheme), directory)
    start = upright(model) | (bent(model, plans[0], case.beams) if case.start == "bent" else {})
    values, rates = inputs(case, plans, times)
    outputs = OUTPUTS | OF_BEAMS[case.beams]
    columns, took = run(fmu, start, values, rates, STEP, together(outputs))
    found, fed = apart(columns, outputs), apart(values, INPUTS)
    platform = found["platform"] + fed["platform"]
    error = turn(np.array([model.attitude(t) for t in times]), found["attitude"])
    if "roots" in found:
        found["roots"] = off_the_line(model, plans, times, found["roots"].reshape(-1, 2, 3))
    return found | {
        "times": times,
        "plan": np.array([[plan.x[0], *plan.interior()] for plan in plans]),
        "closed_form": closed_form(model, plans),
        "moments": np.insert(SIGNS * (found["servos"] + fed["tau"]), 3, platform[:, 2], axis=1),
        "platform": platform,
        "errors": np.degrees(np.column_stack([found["errors"], error])),
        "tips": found.get("tips", np.zeros((len(times), 4))).reshape(-1, 2, 2),
        "took": took,
    }


def off_the_line(model, plans, times, roots):
    """Returns the positions of M and K relative to the plan along the beams' line and across it, in the
    plane of the arms, m: (times, 2, 2). The line goes through the mass centre of the beams and the
    robot, `HEIGHT` above them."""
    along = (np.array(model.offsets) + np.outer([plan.x[0] for plan in plans], model.shares)) * [-1.0, 1.0]
    planned = np.dstack([along, np.full_like(along, -HEIGHT * model.m_R / model.mass)])
    turn = model.rate * times
    c, s = np.cos(turn)[:, None], np.sin(turn)[:, None]
    x, y, z = np.moveaxis(roots, 2, 0)
    lvlh = np.stack([c * x + s * y, c * y - s * x, z], axis=2)
    return (lvlh @ model.R_OB)[:, :, :2] - planned


def closed_form(model, plans):
    """Returns moments and tips as `simulate` does, by the quasi-static model."""
    return {of: np.array([getattr(model, of)(plan) for plan in plans]) for of in ("moments", "platform", "tips")}


def largest(found, during=slice(None)):
    """Returns the largest magnitudes of the seven moments (N m), then of the tips N and I (mm)."""
    moments = np.abs(found["moments"])
    moments[:, 3] = np.linalg.norm(found["platform"], axis=1)
    tips = 1e3 * np.linalg.norm(found["tips"], axis=2)
    return np.hstack([moments, tips])[during].max(axis=0)


def digits(value):
    """Formats a number with four figures, at most four decimals."""
    return f"{value:.{min(4, max(0, 3 - int(np.floor(np.log10(max(abs(value), 1e-4))))))}f}"


def worst(run):
    """Returns the largest control error while the beams approach, deg."""
    return np.abs(run["errors"][run["times"] <= DURATION]).max()


HEADING = [*(f"M{i}, N·m" for i in range(1, 8)), "v_N, mm", "v_I, mm", "worst error, deg"]


def table(runs, number="case"):
    """Returns the largest moments and deflections while the beams approach, as a Markdown table.

    `runs` are indexed by case (or varied number) and label; a row below them has the closed
    form."""
    heading = [number, "", *HEADING]
    rows = [heading, ["---"] * len(heading)]
    for key, variants in runs.items():
        for label, run in variants.items():
            during = run["times"] <= DURATION
            rows.append([str(key), label, *map(digits, largest(run, during)), f"{worst(run):.1e}"])
        rows.append([str(key), "closed form", *map(digits, largest(run["closed_form"], during)), ""])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def save(figure, path):
    """Saves a figure as SVG that is reproducible, the same bytes for the same numbers, with one
    decimal of the lines' coordinates (points)."""
    import matplotlib.pyplot as plt

    text = io.StringIO()
    with plt.rc_context({"svg.hashsalt": "assembly"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    shorter = re.sub(r"^[ML] [-.\d ]+", lambda line: re.sub(r"(\.\d)\d+", r"\1", line[0]), text.getvalue(), flags=re.MULTILINE)
    path.write_text(shorter, encoding="utf-8")


def draw(key, run, path):
    """Draws a run over time: the plan; moments and tips, with the closed form dashed; control errors;
    and, for ANCF beams, the roots' positions off the plan and the errors of the grasps."""
    import matplotlib.pyplot as plt

    shown = slice(None, None, max(1, len(run["times"]) // 150))
    times = run["times"][shown]
    closed = {of: values[shown] for of, values in run["closed_form"].items()}
    nodal = "roots" in run
    figure, axes = plt.subplots(4 if nodal else 2, 2, figsize=(9, 12 if nodal else 6), sharex=True, layout="constrained")
    panels = iter(axes.flat)

    def panel(unit, lines, dashed=None):
        axes = next(panels)
        for k, (name, values) in enumerate(lines):
            (line,) = axes.plot(times, values[shown], label=name, linewidth=1.0)
            if dashed is not None:
                axes.plot(times, dashed[:, k], "--", color=line.get_color(), linewidth=0.8)
        axes.set_ylabel(unit)
        axes.legend(ncols=4, fontsize=7)
        axes.grid(alpha=0.3)

    x, *theta = run["plan"].T
    panel("plan: distance of the roots [m]", [("$x_{MK}$", x)])
    panel("plan: angles [deg]", [(f"$\\theta_{i + 1}$", np.degrees(angle)) for i, angle in enumerate(theta)])
    panel("moment [N·m]", [(f"$M_{i + 1}$", run["moments"][:, i]) for i in range(7)], closed["moments"])
    tips = [(name, 1e3 * run["tips"][:, k, 0]) for k, name in enumerate(("$v_N$", "$v_I$"))]
    panel("tip deflection [mm]", tips, 1e3 * closed["tips"][:, :, 0])
    if nodal:
        joints = [f"${joint}$" for joint in JOINTS] + ["platform"]
        panel("control error [deg]", list(zip(joints, run["errors"].T)))
        roots = [(f"${name}_{axis}$", 1e3 * run["roots"][:, k, i]) for k, name in enumerate("MK") for i, axis in enumerate("xy")]
        panel("roots off the plan [mm]", roots)
        panel("grasps: distance [mm]", [(f"${name}$", 1e3 * run["gaps"][:, k]) for k, name in enumerate("AH")])
        panel("grasps: angle [deg]", [(f"${name}$", np.degrees(run["angles"][:, k])) for k, name in enumerate("AH")])
    for below in axes[-1]:
        below.set_xlabel("t [s]")
    figure.suptitle(f"Case {key}; dashed: closed form", fontsize=10)
    save(figure, path)


def draw_sweep(key, runs, path):
    """Draws the largest moments, those at the end of the approach, and the largest deflections over the
    varied number: markers are simulated, lines the closed form."""
    import matplotlib.pyplot as plt

    values, shown = list(runs), [next(iter(variants.values())) for variants in runs.values()]
    simulated = np.array([largest(run, run["times"] <= DURATION) for run in shown])
    closed = np.array([largest(run["closed_form"], run["times"] <= DURATION) for run in shown])
    at_end = [np.abs([of["moments"][-1] for of in found]) for found in (shown, [run["closed_form"] for run in shown])]
    figure, panels = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    moments = [f"$M_{i + 1}$" for i in range(7)]
    of_panels = [
        ("largest moment [N·m]", moments, simulated[:, :7], closed[:, :7]),
        ("moment at the end [N·m]", moments, *at_end),
        ("largest tip deflection [mm]", ["$v_N$", "$v_I$"], simulated[:, 7:], closed[:, 7:]),
    ]
    for axes, (what, labels, markers, lines) in zip(panels, of_panels):
        for i, name in enumerate(labels):
            (line,) = axes.plot(values, lines[:, i], linewidth=0.8)
            axes.plot(values, markers[:, i], "o", markersize=4, color=line.get_color(), label=name)
        axes.set_ylabel(what)
        axes.set_xlabel(SWEEPS[key][0])
        axes.legend(ncols=2, fontsize=8)
        axes.grid(alpha=0.3)
    figure.suptitle(f"{'Case ' if key in CASES else ''}{key}; lines: closed form", fontsize=10)
    save(figure, path)


def variants(tool, key, case, changes, directory, stop):
    """Runs a case with each of some changes of its fields. Returns the runs by label."""
    runs = {}
    for change in changes:
        changed = replace(case, **change)
        runs[changed.label()] = found = simulate(tool, key, changed, directory, stop)
        per_second = 1e3 * found["took"] / found["times"][-1]
        print(f"{key}, {changed.label()}: {found['times'][-1]:g} s, {per_second:.2f} ms of computing for each", file=sys.stderr)
    return runs


def study(tool, directory, cases=("1",), sweeps=(), stop=500.0, changes=({},)):
    """Runs cases and sweeps with each of some changes of their fields, draws the first of each, and
    returns their tables."""
    runs, texts = {}, []
    for key in cases:
        runs[key] = variants(tool, f"case{key}", CASES[key], changes, directory, stop)
        draw(key, next(iter(runs[key].values())), directory / f"case{key}.svg")
    if runs:
        texts.append(table(runs))
    for key in sweeps:
        number, varied = SWEEPS[key]
        found = {}
        for value, case in varied.items():
            found[value] = variants(tool, f"sweep{key}_{value}", case, changes, directory, min(stop, DURATION))
        draw_sweep(key, found, directory / f"sweep{key}.svg")
        texts.append(table(found, number))
    return "\n".join(texts)


def changes(arguments):
    """Returns all combinations of the changes asked for on the command line."""
    fields = ("beams", "start", "feed_forward", "scheme")
    asked = {field: getattr(arguments, field) for field in fields if getattr(arguments, field)}
    return [dict(zip(asked, values)) for values in product(*asked.values())]


def main():
    parser = command_line(__doc__.splitlines()[0], "out/assembly")
    parser.add_argument("--cases", nargs="+", choices=CASES, help="default: 1, or none beside sweeps")
    parser.add_argument("--sweeps", nargs="+", choices=SWEEPS, default=[], help="cases of which one number varies")
    parser.add_argument("--feed-forward", nargs="+", choices=FEED_FORWARD, help="instead of the case's: each in turn")
    parser.add_argument("--beams", nargs="+", choices=("nodal", "modal"), help="the same of the beams")
    parser.add_argument("--start", nargs="+", choices=("straight", "bent"), help="the beams' shape at the start")
    parser.add_argument("--scheme", nargs="+", choices=SCHEMES, help="equations of motion and solver: recursive, or natural as in the paper")
    parser.add_argument("--stop", type=float, default=500.0, help="when runs end, s; sweeps at 300 at the latest; default: %(default)s")
    arguments = options(parser)
    arguments.output.mkdir(parents=True, exist_ok=True)
    cases = arguments.cases or ([] if arguments.sweeps else ["1"])
    changed = changes(arguments)
    try:
        asked = [CASES[key] for key in cases] + [case for key in arguments.sweeps for case in SWEEPS[key][1].values()]
        [replace(case, **change) for case, change in product(asked, changed)]
    except ValueError as problem:
        parser.error(str(problem))
    text = study(arguments.grapple, arguments.output, cases, arguments.sweeps, arguments.stop, changed)
    (arguments.output / "table.md").write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
