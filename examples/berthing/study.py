"""The numerical study of X. Cyril, S.-W. Kim, M. Ingham, A. Misra and G. Jaar, "Post-impact
dynamics of two multi-body systems attempting docking/berthing", Acta Astronautica (1998).

    python examples/berthing/study.py           tables and figures 2 to 10, in out/berthing
    python examples/berthing/study.py --rest    in addition, the captured system brought to rest by servos

It builds variants of ../berthing.toml with the tool `grapple` and runs them as FMUs in
Co-Simulation: several impacts, with the hand free, locked or braked, and with flexible or rigid
links. docs/berthing-1998.md shows the results. Needs FMPy, NumPy and Matplotlib.
"""

import sys
import time
from dataclasses import dataclass

import figures
import numpy as np
import rest
from variants import (
    ELASTIC,
    GRASP,
    HALF,
    LINKS,
    LIVELY,
    NONE,
    PIN,
    PLASTIC,
    ROUGH,
    STATIONS,
    Case,
    build,
    names,
    simulate,
    spec_of,
)

from studies import command_line, options  # isort: skip; variants says where it is

STOP_TIME = 60.0  # s after the impact
STEP = 0.05  # s, between samples
TOLERANCE = 3e-11
AFTER = 1e-8  # s: a time at which the impact is over and the motion since is negligible

HANDS = ("locked", "free", "braked")
IMPACTS = (PIN, GRASP, ELASTIC, HALF, NONE)
CASES = [Case(impact, hand, modes) for hand in HANDS for impact in IMPACTS for modes in (2, 0)]
CASES += [Case(impact, "locked") for impact in (ROUGH, LIVELY)]  # of the paper's Figs. 9 and 10
MODES = (0, 1, 2, 3, 5, 10)  # of each link
PARTED = 1e-6  # m: a larger gap counts as separation after the impact


# Outputs of a run.

RATES = ["spacecraft.w[3]", "shoulder.qd", "elbow.qd", "wrist.qd", "payload.w[3]"]
TOLD = ["status", "energy_change", "restitution", "kappa", "r_E_min", "r_E_max", "virtual_mass", "moment_impulse[3]"]
PAIRS = ["impulse", "velocity_before", "velocity_after"]
REPORT = [*(f"berth.{name}" for name in TOLD), *(c for pair in PAIRS for c in names(f"berth.{pair}", 2)), *RATES]

ANGLES = ["shoulder.q", "elbow.q", "wrist.q"]
ARM = [point for link in LINKS for point in (link, *(f"{link}_{k}" for k in range(1, STATIONS + 1)))] + ["hand", "fingers"]
TIPS = [f"{link}.tip_deflection[2]" for link in LINKS]
FREE = [c for body in ("spacecraft", "payload") for c in (*names(f"{body}.q", 4), *names(f"{body}.r", 2))]
MOMENTA = [c for kind in ("", "angular_") for c in (*names(f"system.{kind}momentum", 3), f"system.{kind}momentum_scale")]
MOTION = [*ANGLES, *(c for point in ARM for c in names(f"{point}.r", 2)), *TIPS, *FREE, *MOMENTA, *RATES]
MOTION += ["system.energy", "system.work", "berth.violation"]


@dataclass(frozen=True)
class Report:
    """The FMU's report of an impact. Vectors in the plane, inertial axes."""

    label: str
    done: bool  # False: the impact was refused
    message: str  # of the log
    impulse: np.ndarray  # on the hand, N s
    moment: float  # moment impulse of a grasp on the hand, N m s
    before: np.ndarray  # velocity of the fingers relative to the rim, m/s
    after: np.ndarray  # m/s
    energy: float  # change, J
    restitution: float
    kappa: float
    band: tuple  # admissible range of r_E
    virtual_mass: float  # effective mass of the contact along its normal, kg
    rates: np.ndarray  # after: spacecraft, link 1, link 2, hand, payload, deg/s


@dataclass(frozen=True)
class Motion:
    """Samples of a run. One row for each time; vectors in the plane, inertial axes."""

    t: np.ndarray  # s
    pitch: np.ndarray  # of the spacecraft, deg
    joints: np.ndarray  # link 1, link 2, hand, deg
    turn: np.ndarray  # the payload's angle, deg
    spin: np.ndarray  # the payload's rate, deg/s
    tips: np.ndarray  # deflections of both links' tips, m
    spacecraft: np.ndarray  # m
    arm: np.ndarray  # points along both links and the hand, m
    payload: np.ndarray  # m
    momentum: float  # largest momentum drift, relative to the largest sum of the bodies' momentum magnitudes
    angular_momentum: float  # largest drift of the angular momentum, relative likewise
    energy_error: float  # largest change of energy less work, J
    drift: float  # largest distance of the captured frames, m

    @property
    def gap(self):
        """Distance from the payload's rim to the fingers, m; negative: penetration."""
        return np.linalg.norm(self.arm[:, -1] - self.payload, axis=1) - figures.RADIUS

    @property
    def touches_again(self):
        """Returns the time at which the fingers touch the rim again, s, or None."""
        parted = np.flatnonzero(self.gap > PARTED)
        return self.crosses(self.gap, parted[0]) if len(parted) else None

    def crosses(self, values, start=0):
        """Returns the first time at which values have changed sign since sample `start`, s, or
        None; interpolated linearly."""
        k = start + np.flatnonzero(values[start:] * values[start] < 0.0)
        return np.interp(0.0, *zip(*sorted((values[i], self.t[i]) for i in (k[0] - 1, k[0])))) if len(k) else None


def report_of(case, fmu, spec):
    """Returns the contact's outputs right after the impact."""
    read, messages = simulate(fmu, REPORT, spec, AFTER, case.impact.start)
    status, energy, restitution, kappa, least, most, mass, moment = read(*(f"berth.{name}" for name in TOLD))[-1]
    impulse, before, after = (read(*names(f"berth.{pair}", 2))[-1] for pair in PAIRS)
    return Report(
        label=case.label,
        done=status == 1.0,
        message=next(message for message in messages if '"berth"' in message),
        impulse=impulse,
        moment=moment,
        before=before,
        after=after,
        energy=energy,
        restitution=restitution,
        kappa=kappa,
        band=(least, most),
        virtual_mass=mass,
        rates=np.degrees(read(*RATES)[-1]),
    )


def angle(read, body):
    """Returns a free body's angle about z over time, deg."""
    q = read(*names(f"{body}.q", 4))
    return np.degrees(np.unwrap(2.0 * np.arctan2(q[:, 3], q[:, 0])))


def drift_of(read, kind):
    """Returns the largest change of a momentum, relative to the largest sum of the bodies' momentum
    magnitudes."""
    momentum = read(*names(f"system.{kind}momentum", 3))
    return np.linalg.norm(momentum - momentum[0], axis=1).max() / read(f"system.{kind}momentum_scale").max()


def motion_of(case, fmu, spec):
    """Runs a case; returns its motion."""
    read, _ = simulate(fmu, MOTION, spec, start=case.impact.start)
    balance = read("system.energy") - read("system.work")
    return Motion(
        t=read("time")[:, 0],
        pitch=angle(read, "spacecraft"),
        joints=np.degrees(read(*ANGLES)),
        turn=angle(read, "payload"),
        spin=np.degrees(read("payload.w[3]")[:, 0]),
        tips=read(*TIPS),
        spacecraft=read(*names("spacecraft.r", 2)),
        arm=np.stack([read(*names(f"{point}.r", 2)) for point in ARM], axis=1),
        payload=read(*names("payload.r", 2)),
        momentum=drift_of(read, ""),
        angular_momentum=drift_of(read, "angular_"),
        energy_error=np.abs(balance - balance[0]).max(),
        drift=np.abs(read("berth.violation")).max(),
    )


def run(tool, case, directory, fmus):
    """Runs a case, and builds its FMU if there is none yet; returns the report of its impact and
    the motion, None if the impact was refused."""
    spec = spec_of(case, STOP_TIME, STEP, TOLERANCE)
    if case.model not in fmus:
        fmus[case.model] = build(tool, case.model, spec, directory)
    report = report_of(case, fmus[case.model], spec)
    return report, motion_of(case, fmus[case.model], spec) if report.done else None


# Tables.


def small(number):
    """Formats a number that is zero up to round-off."""
    return "< 1e-10" if number < 1e-10 else f"{number:.1e}"


def fixed(number, digits):
    """Formats a number with fixed digits, without the sign of a zero."""
    return f"{number:.{digits}f}" if abs(number) >= 0.5 * 10.0**-digits else f"{0.0:.{digits}f}"


def at(time):
    """Formats a time, or None."""
    return "–" if time is None else fixed(time, 2)


def of_done(text):
    """Returns a column's function that prints a dash for a refused impact."""
    return lambda report: text(report) if report.done else "–"


def is_grasp(report):
    return report.label.startswith(GRASP.label)


IMPACT_TABLE = (
    ("impulse x (N·s)", of_done(lambda r: fixed(r.impulse[0], 6))),
    ("y (N·s)", of_done(lambda r: fixed(r.impulse[1], 6))),
    ("moment (N·m·s)", lambda r: fixed(r.moment, 6) if is_grasp(r) else "–"),
    ("energy (J)", of_done(lambda r: fixed(r.energy, 7))),
    ("e", of_done(lambda r: fixed(r.restitution, 5))),
    ("mass (kg)", lambda r: fixed(r.virtual_mass, 4)),
    ("κ", lambda r: fixed(r.kappa, 6)),
    ("r_E from", lambda r: "–" if is_grasp(r) else fixed(r.band[0], 6)),
    ("to", lambda r: "–" if is_grasp(r) else fixed(r.band[1], 6)),
)
BODIES = ("spacecraft", "link 1", "link 2", "hand", "payload")
RATE_TABLE = tuple(
    (f"{name} (°/s)", lambda r, k=k: fixed(r.rates[k], 4))
    for k, name in enumerate(BODIES)
)
MOTION_TABLE = (  # from a motion
    ("pitch, end (°)", lambda m: fixed(m.pitch[-1], 3)),
    ("tip 1, max (mm)", lambda m: fixed(1e3 * np.abs(m.tips[:, 0]).max(), 1)),
    ("tip 2, max (mm)", lambda m: fixed(1e3 * np.abs(m.tips[:, 1]).max(), 1)),
    ("momentum", lambda m: small(m.momentum)),
    ("angular momentum", lambda m: small(m.angular_momentum)),
    ("energy (J)", lambda m: small(m.energy_error)),
    ("hold (m)", lambda m: small(m.drift)),
)
CAPTURED_TABLE = (
    ("arm straight (s)", lambda m: at(m.crosses(m.joints[:, 1]))),
    ("pitch then (°)", lambda m: fixed(np.interp(m.crosses(m.joints[:, 1]), m.t, m.pitch), 3)),
    ("payload turns back (s)", lambda m: at(m.crosses(m.spin))),
    ("its spin, end (°/s)", lambda m: fixed(m.spin[-1], 2)),
    ("pitch, end (°)", lambda m: fixed(m.pitch[-1], 3)),
)
REBOUND_TABLE = (
    ("touches again (s)", lambda m: at(m.touches_again)),
    ("deepest (m)", lambda m: fixed(-min(m.gap.min(), 0.0), 3)),
    ("gap, end (m)", lambda m: fixed(m.gap[-1], 3)),
    ("link 2, end (°)", lambda m: fixed(m.joints[-1, 1], 2)),
    ("fingers moved by x (m)", lambda m: fixed(*(m.arm[-1, -1] - m.arm[0, -1])[:1], 3)),
    ("y (m)", lambda m: fixed(*(m.arm[-1, -1] - m.arm[0, -1])[1:], 3)),
    ("pitch, end (°)", lambda m: fixed(m.pitch[-1], 3)),
)
MODES_TABLE = (  # from a row: number of modes, and the reports of the elastic and of the plastic impact
    ("modes of each link", lambda row: f"{row[0]}"),
    ("(0, 0), y (N·s)", lambda row: fixed(row[1].impulse[1], 4)),
    ("(1, 1), x (N·s)", lambda row: fixed(row[2].impulse[0], 4)),
    ("y (N·s)", lambda row: fixed(row[2].impulse[1], 4)),
    ("link 1 after (°/s)", lambda row: fixed(row[2].rates[1], 2)),
    ("link 2 after (°/s)", lambda row: fixed(row[2].rates[2], 2)),
)


def table(columns, rows):
    """Returns a Markdown table with aligned columns; a column is a heading and a function from a
    row to its text."""
    cells = [[heading for heading, _ in columns], *([text(row) for _, text in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    cells.insert(1, ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])])
    lines = ([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])] for line in cells)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def tables(results, by_modes):
    """Returns all tables of the study: for each state of the hand its impacts, rates and motions;
    captures, rebounds, modes."""

    def of(kind, part, columns, cases):
        """Returns a table of one part of the results, 0 the report or 1 the motion, for the cases
        that have it."""
        rows = [(case, results[case.key][part]) for case in cases if results[case.key][part]]
        return table([kind, *((heading, lambda row, text=text: text(row[1])) for heading, text in columns)], rows)

    done = [case for case in CASES if results[case.key][1]]
    found = []
    for part, kind, columns, cases in (
        (0, "impact", IMPACT_TABLE, CASES),
        (0, "rates", RATE_TABLE, done),
        (1, "60 s", MOTION_TABLE, done),
    ):
        for hand in HANDS:
            heading = (f"hand {hand}: {kind}", lambda row: row[0].label)
            found.append(of(heading, part, columns, [case for case in cases if case.hand == hand]))
    named = (lambda row: f"hand {row[0].hand}, {row[0].label}",)
    turns = [case for case in done if case.impact is PIN or case.impact is GRASP and case.hand == "free"]
    found.append(of(("captured, free to turn", *named), 1, CAPTURED_TABLE, turns))
    found.append(of(("rebound", *named), 1, REBOUND_TABLE, [case for case in done if not case.impact.captures]))
    return "\n".join([*found, table(MODES_TABLE, by_modes)])


# The study.


class Progress:
    """Prints one line for each task: label, number of the total, duration."""

    def __init__(self, total):
        self.total, self.done = total, 0

    def __call__(self, label, work, *arguments):
        start = time.perf_counter()
        result = work(*arguments)
        self.done += 1
        print(f"{self.done} of {self.total}: {label}: {time.perf_counter() - start:.1f} s", file=sys.stderr)
        return result


def impacts_with(tool, modes, directory):
    """Returns the reports of the elastic and the plastic impact with a number of modes, the hand
    locked."""
    elastic, plastic = (Case(impact, "locked", modes) for impact in (ELASTIC, PLASTIC))
    spec = spec_of(elastic, STOP_TIME, STEP, TOLERANCE)
    spec["frame"] = {name: spec["frame"][name] for name in ("fingers", "rim")}
    fmu = build(tool, f"impact_{modes}_modes", spec, directory)
    return [report_of(case, fmu, spec) for case in (elastic, plastic)]


def study(tool, directory):
    """Runs all cases and writes table.md and the figures; returns `(report, motion)` by the case's
    key, and the figures' paths."""
    directory.mkdir(parents=True, exist_ok=True)
    timed = Progress(len(CASES) + len(MODES))
    fmus = {}
    results = {case.key: timed(f"hand {case.hand}, {case.label}", run, tool, case, directory, fmus) for case in CASES}
    by_modes = [(modes, *timed(f"modes: {modes}", impacts_with, tool, modes, directory)) for modes in MODES]
    text = tables(results, by_modes)
    (directory / "table.md").write_text(text, encoding="utf-8")
    print(text)
    motions = {key: motion for key, (_, motion) in results.items()}
    return results, by_modes, figures.draw(motions, directory)


REST_TABLE = (  # from a run of a held system
    ("held by", lambda c: c.label),
    ("at rest from (s)", lambda c: at(c.rests_from)),
    *((f"energy, {t:.0f} s (J)", lambda c, t=t: f"{c.energy[c.at(t)]:.2e}") for t in (0.0, 60.0, 300.0, 600.0)),
    ("drift x (mm/s)", lambda c: fixed(1e3 * c.drift[-1, 0], 4)),
    ("y (mm/s)", lambda c: fixed(1e3 * c.drift[-1, 1], 4)),
    ("beside it, 600 s (mm/s)", lambda c: fixed(1e3 * c.speed[-1], 3)),
    ("momentum", lambda c: small(c.momentum)),
    ("hold (m)", lambda c: small(c.gap)),
)
CALM_TABLE = (  # from a row: the run under servos, and an index of a sample
    ("time (s)", lambda row: f"{row[0].t[row[1]]:.0f}"),
    *((f"{name} (°/s)", lambda row, k=k: fixed(row[0].rates[row[1], k], 5)) for k, name in enumerate(BODIES)),
    ("beside the drift (mm/s)", lambda row: fixed(1e3 * row[0].speed[row[1]], 4)),
    ("energy (J)", lambda row: f"{row[0].energy[row[1]]:.2e}"),
    ("pitch (°)", lambda row: fixed(row[0].pitch[row[1]], 4)),
    ("angular momentum (kg·m²/s)", lambda row: fixed(row[0].angular_momentum[row[1]], 3)),
    ("torque (N·m)", lambda row: fixed(row[0].torque[row[1]], 3)),
)


def study_rest(tool, directory):
    """Brings the captured system to rest and writes rest.md and its figure; returns the runs by
    key, and the figure's path."""
    directory.mkdir(parents=True, exist_ok=True)
    timed = Progress(len(rest.HOLDS))
    calms = {hold.key: timed(f"held by {hold.label}", rest.calm, tool, hold, directory) for hold in rest.HOLDS}
    under_servos = calms[rest.SERVOS.key]
    rows = [(under_servos, under_servos.at(instant)) for instant in rest.INSTANTS]
    text = "\n".join([table(REST_TABLE, calms.values()), table(CALM_TABLE, rows)])
    (directory / "rest.md").write_text(text, encoding="utf-8")
    print(text)
    return calms, figures.draw_rest(calms, directory / "rest.svg")


def main():
    parser = command_line("The numerical study of Cyril et al. (1998).", "out/berthing")
    parser.add_argument("--rest", action="store_true", help="also bring the captured craft to rest")
    arguments = options(parser)
    study(arguments.grapple, arguments.output)
    if arguments.rest:
        study_rest(arguments.grapple, arguments.output)


if __name__ == "__main__":
    main()
