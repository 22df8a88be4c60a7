"""The numerical study of Kłak and Jarzębowska (2020), "Quaternion-Based Constrained Dynamics
Modeling of a Space Manipulator with Flexible Arms for Servicing Tasks", J. Vib. Eng. Technol.

    python examples/klak_2020/study.py            tables and figures 2 to 5, in out/klak_2020
    python examples/klak_2020/study.py --drift    in addition, the drift of the joints' constraints in 500 s

It builds variants of ../two_link.toml and ../klak_2020.toml with the tool `grapple`, runs them as
FMUs in Co-Simulation, and compares the flexible spacecraft with the rigid one. docs/klak-2020.md
shows the results.
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import fmpy
import matplotlib.pyplot as plt
import numpy as np

EXAMPLES = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(EXAMPLES))

from studies import build, command_line, names, options  # noqa: E402

STOP_TIME = 5.0  # s
STEP = 1e-3  # s, between samples, so that peaks are resolved
TOLERANCE = 1e-12

DRIFT_TIME = 500.0  # s
DRIFT_STEP = 0.1  # s, between samples
DRIFT_METHOD = 'method = "rk4"\nstep = 1e-3'
DRIFT_GAINS = ((0.0, DRIFT_TIME), (10.0, DRIFT_TIME), (50.0, 50.0))  # alpha = beta in 1/s, and the duration in s


# Variants of the specs, and their runs.


@dataclass(frozen=True)
class Case:
    """One model of the spacecraft."""

    key: str
    label: str
    spec: str
    formulation: str
    quaternion: str = ""  # lines of the table [quaternion]


RIGID = Case("rigid", "rigid", "two_link.toml", "recursive")
FLEXIBLE = (
    Case("recursive", "full, `recursive`", "klak_2020.toml", "recursive"),
    Case("full", "full", "klak_2020.toml", "quaternion", 'coupling = "full"'),
    Case("full_rows", "full, momentum rows", "klak_2020.toml", "quaternion", 'coupling = "full"\nmomentum_rows = true'),
    Case("linear", "linear", "klak_2020.toml", "quaternion", 'coupling = "linear"'),
    Case(
        "linear_rows",
        "linear, momentum rows",
        "klak_2020.toml",
        "quaternion",
        'coupling = "linear"\nmomentum_rows = true',
    ),
    Case("paper_literal", "literal (17)", "klak_2020.toml", "quaternion", 'coupling = "paper_literal"'),
)
DRAWN = ("full", "linear", "paper_literal")


def spec_of(case, solver='method = "dop853"'):
    """Returns the text of a case's spec: the example with a line before its first table, and tables
    after its last."""
    head, first, tables = (EXAMPLES / case.spec).read_text(encoding="utf-8").partition("\n[")
    text = f'{head}\nformulation = "{case.formulation}"\n{first}{tables}\n[solver]\n{solver}\n'
    return text + f"\n[quaternion]\n{case.quaternion}\n" if case.quaternion else text


def simulate(fmu, output, stop_time, step, start=None):
    """Simulates an FMU from 0 to `stop_time` (s), sampled every `step` s; returns a function from
    names to columns.

    Variables that the FMU does not have are zero: a rigid spacecraft has no modes."""
    model = {variable.name for variable in fmpy.read_model_description(str(fmu)).modelVariables}
    result = fmpy.simulate_fmu(
        str(fmu),
        fmi_type="CoSimulation",
        stop_time=stop_time,
        output_interval=step,
        relative_tolerance=TOLERANCE,
        start_values=start or {},
        output=[name for name in output if name in model],
    )
    zero = np.zeros(len(result))
    return lambda *columns: np.stack([result[c] if c in model | {"time"} else zero for c in columns], axis=-1)


# Outputs of a run.


@dataclass(frozen=True)
class Motion:
    """Samples of a run. One row for each time; vectors in inertial axes."""

    t: np.ndarray  # s
    angles: np.ndarray  # base, joint 1, joint 2, deg
    tip: np.ndarray  # m, with the deflection
    undeformed: np.ndarray  # tip less its deflection, m
    deflection: np.ndarray  # of the tip, in the plane, m
    eta: np.ndarray  # of the mode in the plane, mass-normalised, m √kg
    etad: np.ndarray  # m √kg/s
    momentum: np.ndarray  # kg m/s
    angular_momentum: np.ndarray  # about the mass centre, kg m²/s
    energy_error: np.ndarray  # energy less the work done, J


def rotate(q, v):
    """Returns `R(q) v` for rows of quaternions (w, x, y, z) and of vectors."""
    w, u = q[:, :1], q[:, 1:]
    return v + 2.0 * np.cross(u, w * v + np.cross(u, v))


def motion_of(fmu):
    """Runs an FMU of the study; returns its motion."""
    base, forearm = names("base.q", 4), names("forearm.q", 4)
    joints, tip, deflection = ["shoulder.q", "elbow.q"], names("tip.r", 3), names("forearm.tip_deflection", 3)
    mode = ["forearm.eta[1]", "forearm.etad[1]"]
    momenta = names("system.momentum", 3), names("system.angular_momentum", 3)
    energy = ["system.energy", "system.work"]
    output = [*base, *forearm, *joints, *tip, *deflection, *mode, *momenta[0], *momenta[1], *energy]
    read = simulate(fmu, output, STOP_TIME, STEP)

    q = read(*base)
    bent = read(*deflection)
    modes = read(*mode)
    return Motion(
        t=read("time")[:, 0],
        angles=np.degrees(np.column_stack([2.0 * np.arctan2(q[:, 3], q[:, 0]), read(*joints)])),
        tip=read(*tip),
        undeformed=read(*tip) - rotate(read(*forearm), bent),
        deflection=bent[:, 1],
        eta=modes[:, 0],
        etad=modes[:, 1],
        momentum=read(*momenta[0]),
        angular_momentum=read(*momenta[1]),
        energy_error=-np.diff(read(*energy))[:, 0],
    )


@dataclass(frozen=True)
class Comparison:
    """A flexible spacecraft compared with the rigid one: largest magnitudes over the run."""

    label: str
    tip: float  # largest distance from the rigid tip, mm
    tip_time: float  # its time, s
    tip_end: float  # distance from the rigid tip at the end, mm
    undeformed: float  # distance of the undeformed tip from the rigid tip, mm
    undeformed_time: float  # s
    deflection: float  # of the tip, elastic, mm
    from_full: float  # distance from the tip with full coupling, mm
    base: float  # difference of angles from the rigid spacecraft, deg
    joint_1: float  # deg
    joint_2: float  # deg
    eta: float  # m √kg
    eta_time: float  # s
    etad: float  # m √kg/s
    etad_time: float  # s
    momentum: float  # kg m/s; exact value zero
    angular_momentum: float  # kg m²/s; exact value zero
    force: float  # rate of change of the momentum, N; exact value zero
    energy_error: float  # J


def peak(t, values):
    """Returns the largest magnitude and its time."""
    k = np.argmax(np.abs(values))
    return abs(values[k]), t[k]


def distance(a, b):
    """Returns the distances of the points in rows, in mm; the points are in m."""
    return 1e3 * np.linalg.norm(a - b, axis=1)


def compare(label, flexible, full, rigid):
    """Compares a run of a flexible spacecraft with those of the full coupling and of the rigid
    spacecraft."""
    t = flexible.t
    tip, tip_time = peak(t, distance(flexible.tip, rigid.tip))
    undeformed, undeformed_time = peak(t, distance(flexible.undeformed, rigid.tip))
    eta, eta_time = peak(t, flexible.eta)
    etad, etad_time = peak(t, flexible.etad)
    base, joint_1, joint_2 = np.abs(flexible.angles - rigid.angles).max(axis=0)
    force = np.gradient(flexible.momentum, t, axis=0)
    return Comparison(
        label=label,
        tip=tip,
        tip_time=tip_time,
        tip_end=distance(flexible.tip, rigid.tip)[-1],
        undeformed=undeformed,
        undeformed_time=undeformed_time,
        deflection=1e3 * np.abs(flexible.deflection).max(),
        from_full=distance(flexible.tip, full.tip).max(),
        base=base,
        joint_1=joint_1,
        joint_2=joint_2,
        eta=eta,
        eta_time=eta_time,
        etad=etad,
        etad_time=etad_time,
        momentum=np.linalg.norm(flexible.momentum, axis=1).max(),
        angular_momentum=np.linalg.norm(flexible.angular_momentum, axis=1).max(),
        force=np.linalg.norm(force, axis=1).max(),
        energy_error=np.abs(flexible.energy_error).max(),
    )


# Tables.


def small(number):
    """Formats a number that is zero up to round-off."""
    return "< 1e-10" if number < 1e-10 else f"{number:.2e}"


COMPARISON_TABLES = (
    (
        ("model", lambda c: c.label),
        ("tip, max (mm)", lambda c: f"{c.tip:.5f}"),
        ("at (s)", lambda c: f"{c.tip_time:.3f}"),
        ("tip, end (mm)", lambda c: f"{c.tip_end:.5f}"),
        ("undeformed, max (mm)", lambda c: f"{c.undeformed:.5f}"),
        ("at (s)", lambda c: f"{c.undeformed_time:.3f}"),
        ("deflection, max (mm)", lambda c: f"{c.deflection:.5f}"),
        ("tip from full, max (mm)", lambda c: f"{c.from_full:.5f}"),
    ),
    (
        ("model", lambda c: c.label),
        ("base (°)", lambda c: f"{c.base:.5f}"),
        ("joint 1 (°)", lambda c: f"{c.joint_1:.5f}"),
        ("joint 2 (°)", lambda c: f"{c.joint_2:.5f}"),
        ("η, max (m·√kg)", lambda c: f"{c.eta:.5e}"),
        ("at (s)", lambda c: f"{c.eta_time:.3f}"),
        ("dη/dt, max (m·√kg/s)", lambda c: f"{c.etad:.4e}"),
        ("at (s)", lambda c: f"{c.etad_time:.3f}"),
    ),
    (
        ("model", lambda c: c.label),
        ("momentum (kg·m/s)", lambda c: small(c.momentum)),
        ("angular momentum (kg·m²/s)", lambda c: small(c.angular_momentum)),
        ("net force (N)", lambda c: small(c.force)),
        ("energy balance (J)", lambda c: small(c.energy_error)),
    ),
)

END_TABLE = (  # from a label and a motion
    ("model", lambda run: run[0]),
    ("base (°)", lambda run: f"{run[1].angles[-1, 0]:.6f}"),
    ("joint 1 (°)", lambda run: f"{run[1].angles[-1, 1]:.6f}"),
    ("joint 2 (°)", lambda run: f"{run[1].angles[-1, 2]:.6f}"),
    ("tip x (m)", lambda run: f"{run[1].tip[-1, 0]:.8f}"),
    ("tip y (m)", lambda run: f"{run[1].tip[-1, 1]:.8f}"),
)


def table(columns, rows):
    """Returns a Markdown table with aligned columns; a column is a heading and a function from a
    row to its text."""
    cells = [[heading for heading, _ in columns], *([text(row) for _, text in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    cells.insert(1, ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])])
    lines = ([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])] for line in cells)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def tables(motions, comparisons):
    """Returns all tables of the study: three of the flexible spacecraft compared with the rigid
    one, and one of the state at the end of each run."""
    ends = [(case.label, motions[case.key]) for case in (RIGID, *FLEXIBLE)]
    return "\n".join([*(table(columns, comparisons.values()) for columns in COMPARISON_TABLES), table(END_TABLE, ends)])


# Figures.

STYLE = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "klak_2020",  # reproducible: the same file for the same numbers
    "path.simplify_threshold": 0.3,
    "font.size": 9,
    "lines.linewidth": 1.1,
    "axes.grid": True,
    "grid.linewidth": 0.4,
    "grid.alpha": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}
LINES = {
    "full": dict(color="#1f4e9c", label="full", zorder=3),
    "linear": dict(color="#d9730d", label="linear", linestyle=(0, (4, 3)), zorder=4),
    "paper_literal": dict(color="#2b8a5a", label="literal (17)", zorder=2),
}
DRIFT_COLOURS = ("#555555", "#1f4e9c", "#d9730d")


def save(figure, path):
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    return path


def draw_modal_state(motions, path):
    """The mode in the plane and its rate, over the run and at its start (the paper's Fig. 2)."""
    figure, axes = plt.subplots(2, 2, figsize=(7.4, 4.2), sharex="col", sharey="row", width_ratios=(3, 2))
    for key in DRAWN:
        motion = motions[key]
        for row, values in zip(axes, (1e3 * motion.eta, 1e3 * motion.etad)):
            early = motion.t <= 0.5
            row[0].plot(motion.t, values, **LINES[key])
            row[1].plot(motion.t[early], values[early], **LINES[key])
    axes[0, 0].set_ylabel("η (10⁻³ m·√kg)")
    axes[1, 0].set_ylabel("dη/dt (10⁻³ m·√kg/s)")
    axes[0, 0].set_title("the run")
    axes[0, 1].set_title("its first half second")
    for axis in axes[1]:
        axis.set_xlabel("time (s)")
    axes[0, 1].legend()
    return save(figure, path)


def draw_tip(motions, rigid, path):
    """The tip's path, the path relative to the rigid spacecraft's tip, and their distance (the paper's Fig. 3)."""
    figure, axes = plt.subplot_mosaic(
        [["path", "relative"], ["distance", "relative"]], figsize=(7.4, 4.6), width_ratios=(5, 3)
    )
    axes["path"].plot(rigid.tip[:, 0], rigid.tip[:, 1], color="black")
    for which, style in ((0, "o"), (-1, "s")):
        axes["path"].plot(*rigid.tip[which, :2], style, color="black", markersize=4)
        axes["path"].annotate(
            f"{rigid.t[which]:.0f} s", rigid.tip[which, :2], textcoords="offset points", xytext=(7, 3)
        )
    for key in DRAWN:
        motion = motions[key]
        relative = 1e3 * (motion.tip - rigid.tip)
        axes["relative"].plot(relative[:, 0], relative[:, 1], **LINES[key])
        axes["distance"].plot(motion.t, distance(motion.tip, rigid.tip), **LINES[key])
    axes["path"].set(title="tip, rigid craft", xlabel="x (m)", ylabel="y (m)", aspect="equal", xlim=(1.0, 2.75))
    axes["relative"].set(title="tip, flexible − rigid", xlabel="Δx (mm)", ylabel="Δy (mm)", aspect="equal")
    axes["distance"].set(xlabel="time (s)", ylabel="distance of the tips (mm)", ylim=(0.0, None))
    axes["distance"].legend(loc="upper left")
    return save(figure, path)


def draw_angle_differences(motions, rigid, path):
    """Angles of the flexible spacecraft less those of the rigid one (the paper's Fig. 4)."""
    figure, axes = plt.subplots(3, 1, figsize=(7.4, 5.6), sharex=True)
    for k, (axis, name) in enumerate(zip(axes, ("base", "joint 1", "joint 2"))):
        for key in DRAWN:
            axis.plot(rigid.t, (motions[key].angles - rigid.angles)[:, k], **LINES[key])
        axis.set_ylabel(f"Δ {name} (°)")
    axes[1].legend(loc="lower left")
    axes[-1].set_xlabel("time (s)")
    return save(figure, path)


def draw_angles(motion, path):
    """Angles of the base and the joints of the flexible spacecraft (the paper's Fig. 5)."""
    figure, axis = plt.subplots(figsize=(7.4, 3.2))
    for angle, name, style in zip(motion.angles.T, ("base", "joint 1", "joint 2"), ("-", "--", "-.")):
        axis.plot(motion.t, angle, style, label=name)
    axis.set(xlabel="time (s)", ylabel="angle (°)")
    axis.legend(loc="upper left")
    return save(figure, path)


def draw(motions, rigid, directory):
    """All figures of the study; returns their paths."""
    with plt.rc_context(STYLE):
        return [
            draw_modal_state(motions, directory / "fig2_modal_state.svg"),
            draw_tip(motions, rigid, directory / "fig3_tip.svg"),
            draw_angle_differences(motions, rigid, directory / "fig4_angle_differences.svg"),
            draw_angles(motions["full"], directory / "fig5_angles.svg"),
        ]


# Drift of the constraints.


@dataclass(frozen=True)
class Drift:
    """A run of the rigid spacecraft with joints as constraints: largest magnitudes up to each
    time."""

    gain: float  # alpha = beta, 1/s
    t: np.ndarray  # s
    gap: np.ndarray  # constraint violation, m
    gap_angle: np.ndarray  # constraint violation, rad
    gap_velocity: np.ndarray  # constraint violation on velocity level, m/s
    momentum: np.ndarray  # kg m/s
    energy_error: np.ndarray  # J


DRIFT_TABLE = (
    ("α = β (1/s)", lambda d: f"{d.gain:g}"),
    ("time (s)", lambda d: f"{d.t[-1]:.0f}"),
    ("gap (m)", lambda d: f"{d.gap[-1]:.1e}"),
    ("gap angle (rad)", lambda d: f"{d.gap_angle[-1]:.1e}"),
    ("gap velocity (m/s)", lambda d: f"{d.gap_velocity[-1]:.1e}"),
    ("momentum (kg·m/s)", lambda d: f"{d.momentum[-1]:.1e}"),
    ("energy balance (J)", lambda d: f"{d.energy_error[-1]:.1e}"),
)


def drift_of(fmu, gain, stop_time):
    """Runs the rigid spacecraft with the gains `alpha = beta = gain`, 1/s, for `stop_time` s."""
    gaps = ["system.violation", "system.violation_angle", "system.violation_velocity"]
    momentum, energy = names("system.momentum", 3), ["system.energy", "system.work"]
    gains = {"constraints.alpha": gain, "constraints.beta": gain}
    read = simulate(fmu, [*gaps, *momentum, *energy], stop_time, DRIFT_STEP, gains)
    magnitudes = [*read(*gaps).T, np.linalg.norm(read(*momentum), axis=1), np.abs(np.diff(read(*energy))[:, 0])]
    return Drift(gain, read("time")[:, 0], *map(np.maximum.accumulate, magnitudes))


def draw_drift(drifts, path):
    """Constraint violations and energy balance: the largest values so far, over time."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(3, 1, figsize=(7.4, 6.4), sharex=True)
        for drift, colour in zip(drifts, DRIFT_COLOURS):
            for axis, values in zip(axes, (drift.gap, drift.gap_angle, drift.energy_error)):
                axis.loglog(drift.t[1:], values[1:], color=colour, label=f"α = β = {drift.gain:g} 1/s")
        for axis, label in zip(axes, ("gap (m)", "gap angle (rad)", "energy balance (J)")):
            axis.set_ylabel(label)
        axes[-1].set_xlabel("time (s)")
        axes[0].legend(loc="upper left")
        return save(figure, path)


# The study.


def timed(label, work, *arguments):
    """Does a task, prints its duration and returns its result."""
    start = time.perf_counter()
    result = work(*arguments)
    print(f"{label}: {time.perf_counter() - start:.1f} s", file=sys.stderr)
    return result


def study(tool, directory):
    """Runs all models and writes table.md and the figures; returns the runs and the comparisons by
    key, and the figures' paths."""
    directory.mkdir(parents=True, exist_ok=True)
    motions = {case.key: timed(case.label, motion_of, build(tool, case.key, spec_of(case), directory)) for case in (RIGID, *FLEXIBLE)}
    rigid, full = motions[RIGID.key], motions["full"]
    comparisons = {case.key: compare(case.label, motions[case.key], full, rigid) for case in FLEXIBLE}
    text = tables(motions, comparisons)
    (directory / "table.md").write_text(text, encoding="utf-8")
    print(text)
    return motions, comparisons, draw(motions, rigid, directory)


def study_drift(tool, directory, longest=DRIFT_TIME):
    """Runs the rigid spacecraft with several gains, at most `longest` s, and writes drift.md and
    its figure; returns the runs."""
    directory.mkdir(parents=True, exist_ok=True)
    case = Case("rigid_quaternion", "rigid", "two_link.toml", "quaternion")
    fmu = build(tool, case.key, spec_of(case, DRIFT_METHOD), directory)
    drifts = [
        timed(f"drift, α = β = {gain:g} 1/s", drift_of, fmu, gain, min(stop_time, longest))
        for gain, stop_time in DRIFT_GAINS
    ]
    text = table(DRIFT_TABLE, drifts)
    (directory / "drift.md").write_text(text, encoding="utf-8")
    print(text)
    draw_drift(drifts, directory / "drift.svg")
    return drifts


def main():
    parser = command_line("The numerical study of Kłak and Jarzębowska (2020).", "out/klak_2020")
    parser.add_argument(
        "--drift", action="store_true", help=f"also run {DRIFT_TIME:.0f} s to see the constraints drift"
    )
    arguments = options(parser)
    study(arguments.grapple, arguments.output)
    if arguments.drift:
        study_drift(arguments.grapple, arguments.output)


if __name__ == "__main__":
    main()
