"""The metrics of the capture benchmark, from a table of its motion.

A table is a dictionary of arrays with a row for each time of the grid, `t`, and the numbers of the
capture; every engine fills it. docs/capture_benchmark.md defines rows and metrics.
"""

import json
from pathlib import Path

import numpy as np

JOINTS = ("shoulder_yaw", "shoulder_pitch", "elbow_pitch", "wrist_yaw", "wrist_pitch", "wrist_roll")
WHEELS = ("wheel_x", "wheel_y", "wheel_z")
AXES = "xyz"
GRID = 0.05  # s, between rows of a table
WHEEL_INERTIA = 0.1  # kg·m²
SETTLED = 1e-3  # rad/s: rate of the target below which it counts as stabilised
CHECKPOINTS = 10.0, 20.0, 40.0, 120.0  # s
PEAKS_BY = 40.0  # s, by which all peaks are reached
# Columns of a table beside `t`, with the number of components, the unit, and the scale: a number to
# which errors are relative.
COLUMNS = {
    "bus_attitude": (3, "rad", 1e-2),
    "bus_rate": (3, "rad/s", 1e-2),
    "joint_position": (6, "rad", 1.0),
    "joint_torque": (6, "N·m", 10.0),
    "wheel_rate": (3, "rad/s", 50.0),
    "wheel_torque": (3, "N·m", 1.0),
    "target_rate": (3, "rad/s", 1e-2),
    "grip_force": (3, "N", 10.0),
    "grip_moment": (3, "N·m", 10.0),
    "momentum": (3, "N·s", 1.0),
    "angular_momentum": (3, "N·m·s", 10.0),
}
PEAKS = {"attitude": "bus_attitude", "rate": "bus_rate", "grip_force": "grip_force", "grip_moment": "grip_moment"}
CAPTURE = {
    "time": ("s", 1.0),
    "offset": ("m", 0.1),
    "speed": ("m/s", 0.1),
    "impulse": ("N·s", 1.0),
    "moment_impulse": ("N·m·s", 1.0),
    "energy_change": ("J", 0.1),
}


def norm(rows):
    return np.linalg.norm(rows, axis=-1)


def metrics(table, capture):
    """Returns `{name: (value, unit, scale)}`; those that need a longer run than the table's are
    left out."""
    t = table["t"]
    after = t > capture["time"]
    result = {}

    def add(name, value, unit, scale):
        result[name] = (float(value), unit, scale)

    for name, (unit, scale) in CAPTURE.items():
        value = np.asarray(capture[name])
        for axis, number in zip(AXES, value) if value.ndim else ():
            add(f"capture.{name}_{axis}", number, unit, scale)
        add(f"capture.{name}", norm(value) if value.ndim else value, unit, scale)
    if t[-1] >= PEAKS_BY:
        # The largest values are those just after the impact, or at later times of the grid.
        later = {name: np.vstack([capture["after"][name], table[name][after]]) for name in COLUMNS}
        for name, column in PEAKS.items():
            add(f"peak.{name}", norm(later[column]).max(), *COLUMNS[column][1:])
        for column, parts in (("joint_torque", JOINTS), ("wheel_torque", WHEELS)):
            for part, values in zip(parts, np.abs(later[column]).max(axis=0)):
                add(f"peak.{part}.torque", values, *COLUMNS[column][1:])
    if t[-1] >= CHECKPOINTS[-1]:
        speed = norm(table["target_rate"])
        last = np.nonzero(speed > SETTLED)[0][-1]
        part = (speed[last] - SETTLED) / (speed[last] - speed[last + 1])
        add("settled", t[last] + part * (t[last + 1] - t[last]), "s", 1.0)
        add("residual.target_rate", speed[-1], "rad/s", 1e-2)
        add("residual.bus_rate", norm(table["bus_rate"][-1]), "rad/s", 1e-2)
        add("residual.bus_attitude", norm(table["bus_attitude"][-1]), "rad", 1e-2)
        wheels = WHEEL_INERTIA * (table["wheel_rate"][-1] + table["bus_rate"][-1])
        left = table["angular_momentum"][-1] - rotated(table["bus_attitude"][-1], wheels)
        add("residual.angular_momentum", norm(left), "N·m·s", 1.0)
    return result


def rotated(vector, v):
    """Returns v rotated by a rotation vector."""
    angle = norm(vector)
    if angle < 1e-12:
        return v
    axis = vector / angle
    return v * np.cos(angle) + np.cross(axis, v) * np.sin(angle) + axis * (axis @ v) * (1.0 - np.cos(angle))


def checkpoints(table):
    """Returns `{name: (value, unit, scale)}` of all columns at the checkpoints, up to the table's
    end."""
    result = {}
    for time in CHECKPOINTS:
        if time > table["t"][-1]:
            continue
        row = int(np.argmin(np.abs(table["t"] - time)))
        for name, (n, unit, scale) in COLUMNS.items():
            for i in range(n):
                result[f"{time:g} s: {name}[{i + 1}]"] = (float(table[name][row, i]), unit, scale)
    return result


def reference():
    """Returns the stored results, `{version: {name: [value, error estimate]}}`."""
    return json.loads((Path(__file__).parent / "reference.json").read_text(encoding="utf-8"))


def difference(found, other):
    """Returns `{name: difference}` of the common names, each as a part of the number's scale."""
    return {name: abs(value - other[name][0]) / scale for name, (value, _, scale) in found.items() if name in other}
