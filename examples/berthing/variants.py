"""Variants of ../berthing.toml: their specs, their FMUs, and Co-Simulation runs through FMPy."""

import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import fmpy
import numpy as np

EXAMPLES = Path(__file__).resolve().parents[1]
EXAMPLE = EXAMPLES / "berthing.toml"
sys.path.insert(0, str(EXAMPLES))

import studies  # noqa: E402
from studies import names  # noqa: E402, F401
LINKS = ("link1", "link2")
STATIONS = 7  # points of a boom, between its ends, at which its deflection is read
LATER = 1e-9  # s: delay of the impact after the brake


@dataclass(frozen=True)
class Impact:
    """A kind of impact of hand and payload: fields of the contact's table, without its frames."""

    key: str
    label: str
    contact: dict = field(hash=False)

    @property
    def captures(self):
        return self.contact["law"].startswith("capture")

    @property
    def start(self):
        """Returns start values of the FMU's parameters: one FMU serves for all impacts with the
        same law."""
        return {f"berth.{name}": value for name, value in self.contact.items() if name != "law"}


def ratios(r_E, r_f):
    return dict(law="energy_friction", r_E=r_E, r_f=r_f)


PIN = Impact("pin", "pin", dict(law="capture_pin"))
GRASP = Impact("grasp", "grasp", dict(law="capture_grasp"))
ELASTIC = Impact("elastic", "(0, 0)", ratios(0.0, 0.0))
HALF = Impact("half", "(0.5, 0.5)", ratios(0.5, 0.5))
NONE = Impact("none", "(1, 0)", ratios(1.0, 0.0))
PLASTIC = Impact("plastic", "(1, 1)", ratios(1.0, 1.0))
ROUGH = Impact("rough", "(0.5, 0.8)", ratios(0.5, 0.8))
LIVELY = Impact("lively", "(0.2, 0.5)", ratios(0.2, 0.5))


@dataclass(frozen=True)
class Case:
    """An impact with a hand that is `free`, `locked` or `braked`, and with a number of modes of
    each link."""

    impact: Impact
    hand: str
    modes: int = 2

    @property
    def links(self):
        return {0: "rigid", 2: "flexible"}.get(self.modes, f"{self.modes}_modes")

    @property
    def key(self):
        return f"{self.impact.key}_{self.hand}_{self.links}"

    @property
    def model(self):
        """Returns the name of the case's FMU."""
        return f"{self.impact.contact['law']}_{self.hand}_{self.links}"

    @property
    def label(self):
        return f"{self.impact.label}, {self.links}"


def spec_of(case, stop_time=60.0, step=0.05, tolerance=1e-10):
    """Returns a case's spec as nested dictionaries: the example with other links, another wrist and
    another contact.

    The command is on from the start, so that the impact acts in the configuration of table 2. The
    brake of a braked hand is on from the start, too; the impact comes LATER, because an impact at
    the instant at which a brake closes acts on the free joint."""
    spec = tomllib.loads(EXAMPLE.read_text(encoding="utf-8"))
    wrist = spec["joint"]["wrist"]
    del wrist["damping"]  # the paper has none
    if case.hand == "locked":
        spec["joint"]["wrist"] = {key: wrist[key] for key in ("parent", "child", "origin")} | {"type": "fixed"}
    for link in LINKS:
        beam = spec["body"][link]["beam"]
        length, mass = beam["length"], beam["length"] * beam["mass_per_length"]
        beam["bending_y"] = case.modes
        if case.modes == 0:
            moment = mass * length**2 / 12.0
            spec["body"][link] = dict(mass=mass, mass_centre=[length / 2, 0.0, 0.0], inertia=[0.1, moment, moment])
        for k in range(1, STATIONS + 1):
            spec["frame"][f"{link}_{k}"] = dict(body=link, origin=[k * length / (STATIONS + 1), 0.0, 0.0])
    place = {key: value for key, value in spec["contact"]["berth"].items() if key not in ("law", "r_E", "r_f")}
    spec["contact"]["berth"] = place | case.impact.contact
    command = "berth.capture" if case.impact.captures else "berth.impact"
    spec["signal"] = {command: dict(type="constant", from_importer=False)}
    if case.hand == "braked":
        wrist["motions"] = ["loads", "locked"]
        spec["signal"]["wrist.motion"] = dict(type="constant", from_importer=False)
        spec["signal"][command] = {"type": "step", "from": LATER, "from_importer": False}
    spec["experiment"] = dict(stop_time=stop_time, step=step, tolerance=tolerance)
    spec["solver"] = dict(method="dop853")
    return spec


def toml(table, path=()):
    """Returns nested dictionaries as TOML. Numbers are written so that they read back exactly."""
    text, tables = "", ""
    for key, value in table.items():
        name = key if key.replace("_", "").isalnum() else f'"{key}"'
        if isinstance(value, dict):
            tables += toml(value, (*path, name))
        else:
            text += f"{name} = {_value(value)}\n"
    return (f"\n[{'.'.join(path)}]\n" if path and text else "") + text + tables


def _value(value):
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else repr(value)


def build(tool, key, spec, directory):
    """Builds the FMU of a spec; returns its path."""
    return studies.build(tool, key, toml(spec), directory)


def simulate(fmu, output, spec, stop_time=None, start=None):
    """Simulates an FMU to the end of the spec's experiment, or to `stop_time` (s) in one step.

    Returns a function from names to columns, and the logged messages. Variables that the FMU does
    not have are zero: a locked hand has no rate, rigid links no deflection."""
    folder, description = studies.unpacked(fmu)
    model = {variable.name for variable in description.modelVariables}
    experiment, messages = spec["experiment"], []
    result = fmpy.simulate_fmu(
        folder,
        fmi_type="CoSimulation",
        stop_time=stop_time or experiment["stop_time"],
        output_interval=stop_time or experiment["step"],
        relative_tolerance=experiment["tolerance"],
        start_values=start or {},
        output=[name for name in dict.fromkeys(output) if name in model],
        model_description=description,
        debug_logging=True,
        logger=lambda *message: messages.append(message[-1].decode()),
    )
    zero = np.zeros(len(result))
    return lambda *columns: np.stack([result[c] if c in model | {"time"} else zero for c in columns], axis=-1), messages
