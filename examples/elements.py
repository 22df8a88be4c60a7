"""Figures of the pages on tanks, momentum devices, sensors, the space environment, modal data and nets.

    python examples/elements.py --output docs/elements

Each function draws a figure of a run: of the example that its page names, or of the spec below. Names
select figures: `python examples/elements.py tanks gyros`. Closed forms are dashed. Needs grapple_fmu,
NumPy and Matplotlib.
"""

import argparse
from pathlib import Path

import matplotlib
import numpy as np

import grapple_fmu as grapple

matplotlib.use("Agg")
import matplotlib.pyplot as plt

plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "elements", "path.simplify_threshold": 0.3})
plt.rcParams.update({"font.size": 9, "legend.fontsize": 8, "lines.linewidth": 1.2})

HERE = Path(__file__).resolve().parent
DASHED = {"ls": "--", "lw": 1.0, "color": "black"}

# A satellite of 100 kg whose wheel runs up in 20 s, to which two arrays are added.
SATELLITE = """
name = "jitter"
[body.bus]
mass = {mass}
inertia = [20.0, 20.0, 20.0]
[wheel.wheel]
body = "bus"
axis = [0.0, 0.0, 1.0]
mass = 5.0
inertia = 0.02
torque_limit = 1.0
rate_limit = 400.0
rate = 30.0
static_imbalance_g_cm = 5.0
[sensor.jitter]
type = "accelerometer"
frame = "bus"
[signal."wheel.tau"]
type = "constant"
amplitude = 0.28
from_importer = false
[experiment]
stop_time = 20.0
step = 0.002
tolerance = 1e-8
"""
ARRAY = """
[body.{side}.beam]
length = 2.0
mass_per_length = 5.0
first_frequency = 12.0
polar_inertia_per_length = 0.01
GJ = 1e4
bending = 1
damping_ratio = 0.01
[joint.{side}_root]
type = "fixed"
parent = "bus"
child = "{side}"
rpy_deg = [0.0, 0.0, {turn}]
"""


def figure(layout, **more):
    """Returns a figure and its plots by name; a column has one abscissa."""
    drawing, plots = plt.subplot_mosaic(layout, layout="constrained", **{"figsize": (7.5, 5.5), **more})
    for plot in plots.values():
        plot.grid(lw=0.3)
    return drawing, plots


def tank_sketch(plot, tank):
    """Draws the pendulums of a cylinder by equations (4) to (6) of docs/theory/slosh.md."""
    radius, height, depth = tank["radius"], tank["height"], tank["fill"] * tank["height"]
    plot.fill_between([-radius, radius], depth, color="tab:blue", alpha=0.15, lw=0)
    plot.plot([-radius, -radius, radius, radius, -radius], [0, height, height, 0, 0], "k", lw=1)
    for root, name in ((1.8412, "mode 1"), (5.3314, "mode 2")):
        k = root / radius
        length, low = 1 / (k * np.tanh(k * depth)), depth - 2 / k * np.tanh(k * depth / 2)
        mass = tank["mass"] * 2 * np.tanh(k * depth) / (k * depth * (root**2 - 1))
        (line,) = plot.plot([0, 0], [low + length, low], label=f"{name}: {mass:.3g} kg")
        plot.plot(0, low, "o", ms=1.5 * np.sqrt(mass) + 2, color=line.get_color())
    plot.set(aspect="equal", xlabel="x, m", ylim=(-0.05, 1.6), title="pendulums of the fuel")
    plot.set(ylabel="height over the bottom, m")
    plot.legend(loc="upper center")


def tanks():
    """Pendulums of a tank; their angles during a burn, the forces of the liquids, the rate of the hub."""
    spec = grapple.load(HERE / "tanks/slosh_and_gyros.toml")
    run = spec.simulate(step=0.2, progress=False)
    drawing, plots = figure([["tank", "angle"], ["tank", "force"], ["tank", "rate"]], width_ratios=[1, 2])
    tank_sketch(plots["tank"], spec["tank"]["fuel"]["cylinder"])
    for k in (1, 2):
        plots["angle"].plot(run.time, np.degrees(run[f"fuel_mode{k}.q"][:, 1]), label=f"mode {k}")
    drawing.suptitle("the engine burns from 2 to 30 s (grey), the gyros turn from 10 to 30 s", fontsize=10)
    plots["angle"].set(ylabel="angle, °")
    for name in ("fuel", "oxidiser"):
        plots["force"].plot(run.time, run[f"{name}.force"][:, 0], label=f"of the {name} on the hub, x")
    plots["force"].set(ylabel="force, N")
    plots["rate"].plot(run.time, 1e3 * run["servicer.w"][:, 1], label="of the hub, y")
    plots["rate"].set(ylabel="rate, mrad/s", xlabel="time, s")
    for name in ("angle", "force", "rate"):
        plots[name].axvspan(2.0, 30.0, color="tab:gray", alpha=0.12, lw=0)
        plots[name].tick_params(labelbottom=name == "rate")
        plots[name].legend(loc="lower left")
    return drawing


def gyros():
    """Gimbal angles of a scissored pair, and its momentum beside `2 h sin δ₁`."""
    spec = grapple.load(HERE / "tanks/slosh_and_gyros.toml")
    rotor = spec["cmg"]["gyro_1"]["rotor"]
    run = spec.simulate(step=0.2, progress=False)
    drawing, plots = figure([["angle"], ["momentum"], ["rate"]], sharex=True)
    for k in (1, 2):
        plots["angle"].plot(run.time, np.degrees(run[f"gyro_{k}_gimbal.q"]), label=f"gimbal {k}")
    plots["angle"].set(ylabel="angle, °")
    total = run["gyro_1.momentum"] + run["gyro_2.momentum"]
    for i, axis in enumerate("xyz"):
        plots["momentum"].plot(run.time, total[:, i], label=f"both gyros, {axis}")
    exact = 2 * rotor["inertia"] * rotor["rate"] * np.sin(run["gyro_1_gimbal.q"])
    plots["momentum"].plot(run.time, exact, label="2 h sin δ₁", **DASHED)
    plots["momentum"].set(ylabel="momentum, N·m·s")
    plots["rate"].plot(run.time, 1e3 * run["servicer.w"][:, 1], label="of the hub, y")
    plots["rate"].set(ylabel="rate, mrad/s", xlabel="time, s")
    for plot in plots.values():
        plot.legend(loc="lower left")
    return drawing


def imbalance():
    """Acceleration of a satellite during the run-up of its wheel, beside `U_s Ω²/m`."""
    drawing, plots = figure([["jitter"]], figsize=(6.5, 4.0))
    plot = plots["jitter"]
    arrays = ARRAY.format(side="left", turn=90.0) + ARRAY.format(side="right", turn=-90.0)
    for mass, more, label in ((95.0, "", "rigid satellite"), (75.0, arrays, "two arrays of 10 kg, clamped 12 Hz")):
        run = grapple.load(SATELLITE.format(mass=mass) + more).simulate(progress=False)
        # Largest acceleration, and mean rate, of each tenth of a second.
        jitter = np.abs(run["jitter.f"][1:, 0]).reshape(-1, 50).max(axis=1)
        rate = run["wheel.qd"][1:].reshape(-1, 50).mean(axis=1)
        plot.semilogy(rate / (2 * np.pi), 1e3 * jitter, label=label)
    plot.semilogy(rate / (2 * np.pi), 1e3 * 5e-5 * rate**2 / 100.0, label="U_s Ω²/m", **DASHED)
    plot.set(xlabel="rate of the wheel, Hz", ylabel="acceleration of the bus, mm/s²")
    plot.legend()
    return drawing


def sensors():
    """Readings of an encoder, an accelerometer and a star tracker beside the true values."""
    spec = grapple.load(HERE / "sensors/satellite.toml")
    spec["sensor"]["ideal"] = {"type": "accelerometer", "frame": "imu_mount"}
    run = spec.simulate(stop_time=5.0, step=0.0025, progress=False)
    drawing, plots = figure([["encoder"], ["imu"], ["tracker"]], figsize=(7.0, 7.0))
    top = np.argmax(run["hinge.q"][run.time < 2.5])
    part = slice(top - 60, top + 60)
    plots["encoder"].plot(run.time[part], 1e3 * run["hinge.q"][part], label="angle")
    plots["encoder"].step(run.time[part], 1e3 * run["hinge_encoder.q"][part], where="post", label="encoder")
    plots["encoder"].set(ylabel="mrad", title="hinge: an encoder of 16 bits, 100 samples a second")
    part = slice(400, 480)
    plots["imu"].plot(run.time[part], 1e3 * run["ideal.f"][part, 1], label="specific force")
    plots["imu"].step(run.time[part], 1e3 * run["imu.f"][part, 1], where="post", label="accelerometer")
    plots["imu"].set(ylabel="mm/s²", title="tip of the mast, y: 100 samples a second, two samples late, with noise")
    every = slice(0, None, 80)
    true, read = run["tracker_head.q"][every], run["tracker.q"][every]
    # Of the rotation from the true attitude to the reading, which is small, half the vector.
    half = true[:, :1] * read[:, 1:] - read[:, :1] * true[:, 1:] - np.cross(true[:, 1:], read[:, 1:])
    for i, axis in enumerate("xyz"):
        plots["tracker"].plot(run.time[every], np.degrees(2 * half[:, i]) * 3600, ".-", lw=0.5, label=axis)
    plots["tracker"].set(
        ylabel="error, arcsec", xlabel="time, s", title="star tracker: five samples a second, z is its boresight"
    )
    for plot in plots.values():
        plot.legend(loc="lower right")
    return drawing


def environment():
    """One orbit: forces, bending of an array by its temperature, momenta of the wheels."""
    spec = grapple.load(HERE / "environment/low_orbit.toml")
    period, step = 5560.0, 20.0
    sunlight = spec.simulate(stop_time=period, step=step, progress=False)["orbit.sunlight"]
    # 20 K over the 2 cm of a panel of 1e-6/K in the Sun, with a lag of 100 s.
    warm, heat = [0.0], 1e-6 * 20.0 / 0.02
    for visible in sunlight[1:]:
        warm.append(visible + (warm[-1] - visible) * np.exp(-step / 100.0))
    times, curvature = step * np.arange(len(warm)), heat * np.array(warm)
    tables = {f"{side}_heat.curvature[2]": (times, curvature) for side in ("left", "right")}
    run = spec.simulate(stop_time=period, step=step, inputs=tables, progress=False)
    drawing, plots = figure([["force"], ["bending"], ["wheel"]], sharex=True)
    surfaces = {kind: [name for name, of in spec["exposed_surface"].items() if kind in of] for kind in ("radiation", "drag")}
    for kind, names in surfaces.items():
        total = np.linalg.norm(sum(run[f"{name}.{kind}_force"] for name in names), axis=1)
        plots["force"].semilogy(run.time, np.where(total > 0.0, 1e3 * total, np.nan), label=kind)
    plots["force"].set(ylabel="force, mN", title="one orbit, in the Earth's shadow where grey")
    plots["bending"].plot(run.time, 1e3 * run["left_array.tip_deflection"][:, 2], label="tip of the left array, z")
    plots["bending"].plot(times, 1e3 * curvature * 6.0**2 / 2, label="κ L²/2", **DASHED)
    plots["bending"].set(ylabel="deflection, mm")
    for axis in "xyz":
        plots["wheel"].plot(run.time, 1e3 * run[f"wheel_{axis}.momentum"], label=f"wheel {axis}")
    plots["wheel"].set(ylabel="momentum, mN·m·s", xlabel="time, s")
    for plot, place in zip(plots.values(), ("center", "lower right", "lower left")):
        plot.fill_between(
            times, 0, 1, where=sunlight < 0.5, color="tab:gray", alpha=0.12, lw=0, transform=plot.get_xaxis_transform()
        )
        plot.legend(loc=place)
    return drawing


def modal():
    """Effective masses of an array given by modal data, and its deflection after a turn and a pulse."""
    spec = grapple.load(HERE / "modal_array.toml")
    array = spec["body"]["array"]
    mass, centre = array["mass"], np.array(array["mass_centre"])
    about = np.array(array["inertia"][:3]) + mass * (centre @ centre - centre**2)
    parts = np.array(array["modal"]["participation"]) ** 2 / np.concatenate([[mass] * 3, about])
    drawing, plots = figure([["mass"], ["tip"]])
    names = ["x", "y", "z", "about x", "about y", "about z"]
    below = np.zeros(6)
    for frequency, row in zip(array["modal"]["frequencies"], parts):
        plots["mass"].bar(names, 100 * row, bottom=100 * below, label=f"{frequency:.2f} Hz")
        below = below + row
    plots["mass"].set(
        ylabel="effective mass, %", ylim=(0, 100), title="parts of the array's mass, and of its inertia about its joint"
    )
    run = spec.simulate(step=0.2, progress=False)
    for i, axis in enumerate("xyz"):
        plots["tip"].plot(run.time, 1e3 * run["magnetometer.deflection"][:, i], label=axis)
    plots["tip"].set(ylabel="deflection, mm", xlabel="time, s")
    plots["tip"].set(title="magnetometer: quarter turn from 5 to 65 s, thruster pulse at 80 s")
    plots["mass"].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    plots["tip"].legend(loc="upper left")
    return drawing


def net():
    """A net at four times from the side; the area of its mouth, energy, and knots in contact over time."""
    spec = grapple.load(HERE / "tethers/net.toml")
    run = spec.simulate(progress=False)
    client, threads = spec["body"]["client"]["contact_shape"], spec["spring"].values()
    knots = [body for body in spec["body"] if body != "client"]
    drawing, plots = figure([list("abcd"), ["mouth"] * 4, ["energy"] * 4], figsize=(7.5, 6.0), height_ratios=[1.6, 1, 1])
    for plot, time in zip("abcd", (1.0, 2.7, 4.5, 14.0)):
        i = np.argmin(np.abs(run.time - time))
        side = {name: run[f"{name}.r"][i][[0, 2]] - run["client.r"][i][[0, 2]] for name in knots}
        for thread in threads:
            plots[plot].plot(*np.transpose([side[thread["a"]], side[thread["b"]]]), color="tab:blue", lw=0.8)
        for name in knots:
            is_bullet = name.startswith("bullet")
            plots[plot].plot(*side[name], "o", ms=5 if is_bullet else 2, color="tab:red" if is_bullet else "tab:blue")
        # The capsule's axis is z of the client, as columns of its attitude.
        w, x, y, z = run["client.q"][i]
        axis = 0.5 * client["length"] * np.array([2 * (x * z + w * y), 1 - 2 * (x * x + y * y)])
        for end in np.linspace(-1, 1, 9):
            plots[plot].add_patch(plt.Circle(end * axis, client["radius"], color="0.85", lw=0, zorder=0))
        plots[plot].set(aspect="equal", xlim=(-5.4, 2.6), ylim=(-2.6, 2.6), title=f"{time:g} s", xlabel="x, m")
        plots[plot].tick_params(labelleft=plot == "a")
    plots["a"].set(ylabel="z, m")
    corners = [run[f"bullet_{k}.r"] for k in range(1, 5)]
    area = 0.5 * np.linalg.norm(np.cross(corners[2] - corners[0], corners[3] - corners[1]), axis=1)
    plots["mouth"].plot(run.time, area, label="area between the bullets")
    plots["mouth"].axhline(16.0, label="of the taut net", **DASHED)
    plots["mouth"].set(ylabel="area, m²")
    touching = sum(run[f"wrap.{name}.client.gap"] < 0 for name in knots)
    plots["energy"].plot(run.time, run["system.energy"], label="energy, J")
    plots["energy"].plot(run.time, touching / 10, label="knots in contact, tens")
    plots["energy"].set(xlabel="time, s")
    for name in ("mouth", "energy"):
        plots[name].axvspan(4.5, 9.85, color="tab:gray", alpha=0.12, lw=0)
        plots[name].legend(loc="upper right")
    drawing.suptitle("a net closes around a tank: side view relative to the tank; the winches wind in the grey time", fontsize=10)
    return drawing


FIGURES = {draw.__name__: draw for draw in (tanks, gyros, imbalance, sensors, environment, modal, net)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("figure", nargs="*", help=f"{', '.join(FIGURES)}; default: all")
    parser.add_argument("--output", type=Path, default=Path("out/elements"), help="default: %(default)s")
    arguments = parser.parse_args()
    for name in set(arguments.figure) - set(FIGURES):
        parser.error(f"there is no figure {name!r}")
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name in arguments.figure or FIGURES:
        path = arguments.output / f"{name}.svg"
        drawing = FIGURES[name]()
        drawing.savefig(path, metadata={"Date": None})
        plt.close(drawing)
        print(path)


if __name__ == "__main__":
    main()
