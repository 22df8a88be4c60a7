"""The capture benchmark by its FMUs, in Co-Simulation through FMPy.

    python examples/capture_benchmark/run.py [rigid] [flexible] [sampled] [--fmi 3]

Builds the FMUs of rigid.toml, flexible.toml, and sampled.toml with controller.toml by the tool
`grapple` (or reads them from --fmus, and needs no tool), of FMI 2.0, or of FMI 3.0 with --fmi 3. Runs
them, prints the metrics and compares them, and the motion at the checkpoints, with reference.json. It
exits with 1 if a number differs by more than the allowed part of its scale. --write makes
reference.json anew, with error estimates from runs with ten times the tolerance.
docs/capture_benchmark.md has the tables; study.py and engines.py print the others. Needs FMPy and
NumPy.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from metrics import CHECKPOINTS, COLUMNS, GRID, JOINTS, WHEELS  # noqa: E402
from metrics import checkpoints, difference, metrics, reference  # noqa: E402
from sensors import SAMPLE_TIME, Sensors  # noqa: E402
from studies import Instance, command_line, names, options  # noqa: E402

VERSIONS = "rigid", "flexible", "sampled"
SEED = 1  # of the noise of the reference
# s after the capture, at which the loads just after it are read. The fastest decay changes them by
# 1e-9 of themselves in this time, and the event is located to 1e-14 s.
JUST_AFTER = 1e-11
# Largest difference to the reference, of each number's scale: about ten times the error estimates.
ALLOWED = {"rigid": 1e-9, "flexible": 1e-8, "sampled": 1e-9}
COARSE = 1e-11  # tolerance of the error estimates

OUTPUTS = {
    "bus_attitude": names("bus.q", 4),
    "bus_rate": names("bus.w", 3),
    "joint_position": [f"{joint}.q" for joint in JOINTS],
    "joint_torque": [f"{joint}.servo_torque" for joint in JOINTS],
    "wheel_rate": [f"{wheel}.qd" for wheel in WHEELS],
    "wheel_torque": [f"{wheel}.motor_torque" for wheel in WHEELS],
    "target_rate": names("target.w", 3),
    "grip_force": names("latch.force", 3),
    "grip_moment": names("latch.moment", 3),
    "momentum": names("system.momentum", 3),
    "angular_momentum": names("system.angular_momentum", 3),
}
NUMBERS = {"impulse": names("latch.impulse", 3), "moment_impulse": names("latch.moment_impulse", 3)}


def sample(fmu, torques):
    """Returns a row of the table; `torques` are the names of the joints' torques."""
    row = {name: fmu.get(variables) for name, variables in (OUTPUTS | {"joint_torque": torques}).items()}
    s, *x = row["bus_attitude"]
    x = np.array(x) * np.copysign(1.0, s)
    sine = np.linalg.norm(x)
    row["bus_attitude"] = x * (2.0 * np.arctan2(sine, abs(s)) / sine if sine > 1e-9 else 2.0)
    return row


def captured(fmu, torques):
    """Returns the numbers of the capture, just after it."""
    numbers = {name: fmu.get(variables) for name, variables in NUMBERS.items()}
    s, *x = fmu.get(names("target.q", 4))
    d = rotate(s, -np.array(x), fmu.get(names("palm.r", 3)) - fmu.get(names("handle.r", 3)))
    return numbers | {
        "time": fmu.get(["latch.time"])[0],
        "offset": np.linalg.norm(d[1:]),  # the disc's axis is x of the target
        "speed": np.linalg.norm(fmu.get(names("latch.velocity_before", 3))),
        "energy_change": fmu.get(["latch.energy_change"])[0],
        "after": sample(fmu, torques),
    }


def rotate(s, x, v):
    """Returns v rotated by the quaternion with scalar s and vector x."""
    return v + 2.0 * np.cross(x, np.cross(x, v) + s * v)


class Controller:
    """The controller's FMU, with the sensors before it."""

    def __init__(self, fmu, sensors):
        self.fmu, self.sensors = fmu, sensors
        self.measured = [*OUTPUTS["bus_attitude"], *OUTPUTS["bus_rate"], *(f"{j}.{c}" for c in ("q", "qd") for j in JOINTS)]
        self.references = [f"{joint}.{c}" for joint in JOINTS for c in ("q_ref", "qd_ref")]
        self.torques = [f"{part}.tau" for part in (*JOINTS, *WHEELS)]

    def sample(self, t, spacecraft):
        """Measures, and sets the torques until the next sample."""
        n = len(JOINTS)
        motion = np.split(spacecraft.get(self.measured), [4, 7, 7 + n])
        self.fmu.set(self.measured, np.concatenate(self.sensors.measured(t, *motion)))
        self.fmu.set(self.references, spacecraft.get(self.references))
        self.fmu.step(t, SAMPLE_TIME)
        spacecraft.set(self.torques, self.fmu.get(self.torques))


def run(spacecraft, stop_time, controller=None):
    """Runs the instance of a spacecraft's FMU from the start; returns the table of the motion and
    the numbers of the capture."""
    h = SAMPLE_TIME if controller else GRID
    torques = OUTPUTS["joint_torque"] if controller is None else controller.torques[: len(JOINTS)]
    rows, numbers = [sample(spacecraft, torques)], None
    for k in range(round(stop_time / h)):
        t = k * h
        if controller:
            controller.sample(t, spacecraft)
        before = None if numbers else spacecraft.slave.getFMUState()
        spacecraft.step(t, h)
        if not numbers and spacecraft.get(["latch.captured"])[0] > 0.5:
            just_after = spacecraft.get(["latch.time"])[0] + JUST_AFTER
            spacecraft.slave.setFMUState(before)
            spacecraft.step(t, just_after - t)
            numbers = captured(spacecraft, torques)
            spacecraft.step(just_after, t + h - just_after)
        if before is not None:
            spacecraft.slave.freeFMUState(before)
        if (k + 1) % round(GRID / h) == 0:
            rows.append(sample(spacecraft, torques))
    if not numbers:
        sys.exit(f"no capture before {stop_time} s")
    table = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return {"t": GRID * np.arange(len(rows)), **table}, numbers


def file(name, fmi):
    """Returns the name of the file of an FMU of a version of FMI, 2 or 3."""
    return f"capture_{name}{'_fmi3' if fmi == 3 else ''}.fmu"


def results(folder, version, stop_time, tolerance=None, seed=SEED, fmi=2):
    """Runs a version from its FMUs, of FMI 2.0 or 3.0, in a folder; returns `{name: (value, unit,
    scale)}` of metrics and checkpoints. Without a tolerance it is that of the FMU's default
    experiment."""
    with Instance(folder / file(version, fmi), tolerance=tolerance) as spacecraft:
        if version != "sampled":
            table, numbers = run(spacecraft, stop_time)
        else:
            with Instance(folder / file("controller", fmi)) as fmu:
                table, numbers = run(spacecraft, stop_time, Controller(fmu, Sensors(seed)))
    return metrics(table, numbers) | checkpoints(table)


def build(tool, folder, versions, specs=HERE, fmi=2):
    """Builds the FMUs of versions, of FMI 2.0 or 3.0, in a folder, from specs in another."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in [*versions, *(["controller"] if "sampled" in versions else [])]:
        command = [tool, "build", specs / f"{name}.toml", "--fmi", str(fmi), "--output", folder / file(name, fmi)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{done.stdout}{done.stderr}")


def table(found):
    """Returns the metrics of versions as a Markdown table."""
    rows = ["| metric | unit | " + " | ".join(found) + " |", "|---" * (2 + len(found)) + "|"]
    for name, (_, unit, _) in next(iter(found.values())).items():
        if "[" not in name:
            rows.append(f"| `{name}` | {unit} | " + " | ".join(f"{metric[name][0]:.7g}" for metric in found.values()) + " |")
    return "\n".join(rows) + "\n"


def motion(values):
    """Returns the motion at the checkpoints as two Markdown tables."""
    times = [f"{time:g} s" for time in CHECKPOINTS if f"{time:g} s: bus_attitude[1]" in values]
    text = []
    for columns in (("bus_attitude", "target_rate", "wheel_rate"), ("joint_position",)):
        parts = [f"{column}[{i + 1}]" for column in columns for i in range(COLUMNS[column][0])]
        rows = ["| time | " + " | ".join(f"`{part}`" for part in parts) + " |", "|---" * (1 + len(parts)) + "|"]
        rows += [f"| {time} | " + " | ".join(f"{values[f'{time}: {part}'][0]:.7g}" for part in parts) + " |" for time in times]
        text.append("\n".join(rows) + "\n")
    return "\n".join(text)


def estimates(found, folder, stop_time, fmi):
    """Returns `{version: {name: error estimate}}` in the metrics' units, from runs with ten times
    the tolerance."""
    errors = {}
    for version, values in found.items():
        coarse = results(folder, version, stop_time, COARSE, fmi=fmi)
        errors[version] = {name: abs(value - coarse[name][0]) for name, (value, *_) in values.items()}
    return errors


def main():
    parser = command_line("The capture benchmark by its FMUs.", "out/capture_benchmark")
    parser.add_argument("versions", nargs="*", help=f"of {', '.join(VERSIONS)}; default: all")
    parser.add_argument("--fmus", type=Path, help="folder of the FMUs; default: they are built in --output")
    parser.add_argument("--fmi", type=int, choices=(2, 3), default=2, help="version of FMI; default: %(default)s")
    parser.add_argument("--stop-time", type=float, default=CHECKPOINTS[-1], help="s; default: %(default)s")
    parser.add_argument("--write", action="store_true", help="replace the reference, with error estimates")
    arguments = parser.parse_args()
    if not arguments.fmus:
        options(parser)  # with an error if there is no tool
    versions = arguments.versions or VERSIONS
    if not set(versions) <= set(VERSIONS):
        parser.error(f"versions are {', '.join(VERSIONS)}")
    folder = arguments.fmus or arguments.output
    if not arguments.fmus:
        build(arguments.grapple, folder, versions, fmi=arguments.fmi)
    found = {version: results(folder, version, arguments.stop_time, fmi=arguments.fmi) for version in versions}
    print(table(found))
    if "rigid" in found:
        print(motion(found["rigid"]))
    if arguments.write:
        stored = reference() if (HERE / "reference.json").exists() else {}
        errors = estimates(found, folder, arguments.stop_time, arguments.fmi)
        stored |= {v: {name: [value, errors[v][name]] for name, (value, *_) in found[v].items()} for v in versions}
        (HERE / "reference.json").write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    failed = False
    for version, values in found.items():
        off = difference(values, reference()[version])
        worst = max(off, key=off.get)
        failed |= not off[worst] <= ALLOWED[version]
        print(f"{version}: {len(off)} numbers differ from reference.json by at most {off[worst]:.1e} of their scales ({worst})")
    sys.exit("differs from the reference" if failed else 0)


if __name__ == "__main__":
    main()
