"""Open loop: a run with torques given over time.

    python examples/hosts/fmpy_open_loop.py           out/hosts/open_loop.svg and two lines of numbers

A torque on the elbow of ../servoed_arm.toml acts for a second, then the opposite one for a second,
with the servos off. FMPy runs the FMU in Co-Simulation, integrated by the FMU, and in Model
Exchange, integrated by FMPy's CVODE; the two have to agree. Needs FMPy and Matplotlib.
"""

import sys
from pathlib import Path

import fmpy
import matplotlib.pyplot as plt
import numpy as np

EXAMPLES = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(EXAMPLES))

from studies import build, command_line, options  # noqa: E402

STOP_TIME = 5.0  # s
STEP = 0.01  # s
TORQUE = 5.0  # N·m
OUTPUTS = ["shoulder.q", "elbow.q", "satellite.q[4]", "system.energy", "system.work", "system.angular_momentum[3]"]

# FMPy makes an event of two rows with the same time: no integration step crosses the discontinuity.
PUSHES = np.array(
    [(0.0, TORQUE), (1.0, TORQUE), (1.0, -TORQUE), (2.0, -TORQUE), (2.0, 0.0), (STOP_TIME, 0.0)],
    dtype=[("time", float), ("elbow.tau", float)],
)


def run(fmu, interface):
    return fmpy.simulate_fmu(
        str(fmu),
        fmi_type=interface,
        stop_time=STOP_TIME,
        step_size=STEP,
        output_interval=STEP,
        relative_tolerance=1e-9,
        input=PUSHES,
        output=OUTPUTS,
    )


def open_loop(tool, directory):
    """Runs the FMU through both interfaces; returns both results and their largest difference in
    the angles."""
    directory.mkdir(parents=True, exist_ok=True)
    fmu = build(tool, "servoed_arm", (EXAMPLES / "servoed_arm.toml").read_text(encoding="utf-8"), directory)
    cs, me = (run(fmu, interface) for interface in ("CoSimulation", "ModelExchange"))
    difference = max(np.abs(np.interp(cs["time"], me["time"], me[name]) - cs[name]).max() for name in OUTPUTS[:3])
    return cs, me, difference


def draw(cs, me, path):
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for name in OUTPUTS[:2]:
        (line,) = axes.plot(cs["time"], cs[name], label=f"{name}, Co-Simulation")
        axes.plot(me["time"][::25], me[name][::25], "o", color=line.get_color(), label=f"{name}, Model Exchange")
    axes.set(xlabel="t, s", ylabel="angle, rad")
    axes.legend()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main():
    arguments = options(command_line("Torques over time, in both interfaces.", "out/hosts"))
    cs, me, difference = open_loop(arguments.grapple, arguments.output)
    draw(cs, me, arguments.output / "open_loop.svg")
    end = cs[-1]
    print(f"t = {end['time']:g} s: shoulder.q = {end['shoulder.q']:.6f} rad, elbow.q = {end['elbow.q']:.6f} rad")
    print(f"Model Exchange differs by {difference:.1e} rad, energy less work is {end['system.energy'] - end['system.work']:.1e} J")


if __name__ == "__main__":
    main()
