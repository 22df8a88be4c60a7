"""The study's figures: angles and deflections over time, and drawings of the spacecraft at instants."""

import io
import re

import matplotlib.pyplot as plt
import numpy as np

SIDE = 4.9  # m, of the spacecraft: a cube with its mass and inertia; the shoulder is on one face
RADIUS = 1.0  # m, of the payload: a disc with its mass and inertia; the contact is on its rim
THIN = 4  # where motion is slow, every THIN-th sample is drawn

STYLE = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "berthing",  # reproducible: the same file for the same numbers
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
COLOURS = {
    "pin": "#1f4e9c",
    "grasp": "#2b8a5a",
    "elastic": "#d9730d",
    "half": "#8e44ad",
    "rough": "#b3261e",
    "lively": "#8a6d00",
}
LABELS = {
    "pin": "pin",
    "grasp": "grasp",
    "elastic": "(0, 0)",
    "half": "(0.5, 0.5)",
    "rough": "(0.5, 0.8)",
    "lively": "(0.2, 0.5)",
}
BODY = "#333333"
INSTANTS = (0.0, 15.0, 30.0, 37.0, 45.0, 60.0)  # s, of captures; the arm is straight at about the fourth
PATH_INSTANTS = (0.0, 20.0, 40.0, 60.0)  # s, of rebounds


def save(figure, path):
    """Writes a figure as SVG with coordinates rounded to 0.01 pt; returns the path."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    path.write_text(re.sub(r"(\d\.\d\d)\d+", r"\1", text.getvalue()), encoding="utf-8")
    return path


def line(impact, links):
    """Returns the line style of a case: a colour for the impact, dashes for rigid links."""
    rigid = links == "rigid"
    return dict(
        color=COLOURS[impact],
        linestyle=(0, (4, 2)) if rigid else "-",
        linewidth=0.9 if rigid else 1.2,
        alpha=0.85 if rigid else 1.0,
        label=f"{LABELS[impact]}, {links}",
    )


def draw_angles(motions, columns, rows, path):
    """Angles over time: a column for each state of the hand with its impacts, a row for each angle."""
    figure, axes = plt.subplots(len(rows), len(columns), figsize=(7.4, 1.55 * len(rows) + 0.5), sharex=True, sharey="row")
    for column, (hand, impacts) in zip(axes.T, columns):
        column[0].set_title(f"hand {hand}")
        for axis, (name, values) in zip(column, rows):
            for impact in impacts:
                for links in ("flexible", "rigid"):
                    motion = motions[f"{impact}_{hand}_{links}"]
                    axis.plot(motion.t[::THIN], values(motion)[::THIN], **line(impact, links))
        column[-1].set_xlabel("time (s)")
    for axis, (name, _) in zip(axes[:, 0], rows):
        axis.set_ylabel(name)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return save(figure, path)


ANGLES = (
    ("spacecraft (°)", lambda motion: motion.pitch),
    ("link 1 (°)", lambda motion: motion.joints[:, 0]),
    ("link 2 (°)", lambda motion: motion.joints[:, 1]),
    ("hand (°)", lambda motion: motion.joints[:, 2]),
    ("payload (°)", lambda motion: motion.turn),
)


def draw_tips(motions, cases, path):
    """Deflections of both links' tips over time, a row for each case with flexible links."""
    figure, axes = plt.subplots(len(cases), 2, figsize=(7.4, 1.25 * len(cases) + 0.6), sharex=True, sharey="col")
    for row, (impact, hand) in zip(axes, cases):
        motion = motions[f"{impact}_{hand}_flexible"]
        for k, axis in enumerate(row):
            axis.plot(motion.t, 1e3 * motion.tips[:, k], color=COLOURS[impact], linewidth=0.7)
        row[0].set_ylabel(f"{LABELS[impact]}\nhand {hand}\n(mm)")
    for k, (top, bottom) in enumerate(zip(axes[0], axes[-1])):
        top.set_title(f"tip of link {k + 1}")
        bottom.set_xlabel("time (s)")
    return save(figure, path)


def draw_craft(axis, motion, k, colour, alpha=1.0):
    """Draws the spacecraft at sample `k`: its square, the bent links, the hand, the payload's disc
    with a spoke to its rim."""
    ink = dict(alpha=alpha, linewidth=1.0, solid_capstyle="round", solid_joinstyle="round")
    pitch, turn = np.radians([motion.pitch[k], motion.turn[k]])
    corners = 0.5 * SIDE * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)])
    turned = motion.spacecraft[k] + corners @ np.array([(np.cos(pitch), np.sin(pitch)), (-np.sin(pitch), np.cos(pitch))])
    axis.plot(*turned.T, color=BODY, **ink)
    arm = motion.arm[k]
    axis.plot(*arm.T, color=colour, **ink | dict(linewidth=1.4))
    joints = arm[[0, (len(arm) - 2) // 2, -2]]
    axis.plot(*joints.T, "o", color=colour, markersize=2.6, alpha=alpha)
    around = np.linspace(0.0, 2.0 * np.pi, 61)
    axis.plot(*(motion.payload[k] + RADIUS * np.column_stack([np.cos(around), np.sin(around)])).T, color=BODY, **ink)
    rim = motion.payload[k] + RADIUS * np.array([np.sin(turn), -np.cos(turn)])
    axis.plot(*np.array([motion.payload[k], rim]).T, color=BODY, **ink)


def draw_captures(motions, path):
    """The captured system at instants, a row for each case (the paper's Fig. 4)."""
    rows = (("pin_locked", "pin, hand locked"), ("pin_free", "pin, hand free"), ("grasp_free", "grasp, hand free"))
    rows += (("grasp_locked", "grasp, hand locked"),)
    figure, axes = plt.subplots(len(rows), len(INSTANTS), figsize=(7.4, 9.6), sharex=True, sharey=True)
    for row, (key, name) in zip(axes, rows):
        motion = motions[f"{key}_flexible"]
        for axis, instant in zip(row, INSTANTS):
            draw_craft(axis, motion, np.argmin(np.abs(motion.t - instant)), COLOURS[key.split("_")[0]])
            axis.set(aspect="equal", xlim=(-5.2, 5.2), ylim=(-3.4, 20.6), xticks=(-4, 0, 4), yticks=(0, 5, 10, 15, 20))
        row[0].set_ylabel(f"{name}\ny (m)")
    for axis, instant in zip(axes[0], INSTANTS):
        axis.set_title(f"{instant:.0f} s")
    for axis in axes[-1]:
        axis.set_xlabel("x (m)")
    return save(figure, path)


def draw_rebounds(motions, path):
    """The system after rebounds at instants, and the paths of the fingers (the paper's Figs. 7 to
    10)."""
    cases = [(impact, "flexible") for impact in ("elastic", "half", "rough", "lively")] + [("elastic", "rigid")]
    figure, axes = plt.subplots(1, len(cases) + 1, figsize=(7.4, 3.0))
    limits = dict(xlim=(-7.2, 5.0), ylim=(-3.4, 20.6), xticks=(-5, 0, 5), xlabel="x (m)")
    for axis, (impact, links) in zip(axes, cases):
        motion = motions[f"{impact}_locked_{links}"]
        for shade, instant in zip(np.linspace(0.25, 1.0, len(PATH_INSTANTS)), PATH_INSTANTS):
            draw_craft(axis, motion, np.argmin(np.abs(motion.t - instant)), COLOURS[impact], shade)
        if links == "flexible":
            axes[-1].plot(*motion.arm[::THIN, -1].T, color=COLOURS[impact])
        axis.set(aspect="equal", **limits, title=f"{LABELS[impact]}\n{links}")
    for axis in axes[1:-1]:
        axis.tick_params(labelleft=False)
    axes[0].set_ylabel("y (m)")
    axes[-1].set(title="path of\nthe fingers", xlabel="x (m)", box_aspect=24.0 / 12.2)
    axes[-1].yaxis.tick_right()
    axes[-1].spines[["left", "right"]].set_visible(False)
    return save(figure, path)


def draw_rest(calms, path):
    """The captured system, held in several ways: energy and speed relative to the common drift,
    angles and rates under servos."""
    with plt.rc_context(STYLE):
        return _draw_rest(calms, path)


def _draw_rest(calms, path):
    figure, ((energy, speed), (angles, rates)) = plt.subplots(2, 2, figsize=(7.4, 5.2))
    for key, colour in (("free", "#777777"), ("braked", "#b3261e"), ("servos", "#2b8a5a")):
        calm = calms[key]
        ink = dict(color=colour, linewidth=0.9, label=calm.label)
        energy.semilogy(calm.t[::THIN], calm.energy[::THIN], **ink)
        speed.semilogy(calm.t[::THIN], 1e3 * calm.speed[::THIN], **ink)
    calm = calms["servos"]
    names = ("spacecraft", "link 1", "link 2", "hand", "payload")
    for k, (name, colour) in enumerate(zip(names, (BODY, "#1f4e9c", "#d9730d", "#8e44ad", "#2b8a5a"))):
        rates.semilogy(calm.t, np.abs(calm.rates[:, k]), color=colour, linewidth=0.7, label=name)
        if k < 4:
            values = calm.pitch if k == 0 else calm.off[:, k - 1]
            angles.plot(calm.t[::THIN], values[::THIN], color=colour, label=name)
    energy.set(ylabel="energy beside the drift (J)", ylim=(1e-8, 2.0))
    speed.set(ylabel="speed beside the drift (mm/s)", ylim=(1e-3, 100.0))
    angles.set(ylabel="angle from that at the impact (°)", xlabel="time (s)", xlim=(-10.0, 300.0), title="under servos")
    angles.legend(loc="lower right", fontsize=8)
    rates.set(ylabel="rate (°/s)", xlabel="time (s)", ylim=(1e-5, 10.0), title="under servos")
    energy.legend(loc="lower left", fontsize=8)
    rates.legend(loc="upper right", fontsize=8, ncols=2)
    return save(figure, path)


def draw(motions, directory):
    """All figures of the study; returns their paths."""
    captures = (("locked", ("pin", "grasp")), ("free", ("pin", "grasp")))
    rebounds = (("locked", ("elastic", "half")), ("free", ("elastic",)))
    held = (("pin", "locked"), ("pin", "free"), ("grasp", "free"), ("grasp", "locked"))
    parted = (("elastic", "locked"), ("half", "locked"), ("rough", "locked"), ("lively", "locked"), ("elastic", "free"))
    with plt.rc_context(STYLE):
        return [
            draw_angles(motions, captures, ANGLES, directory / "fig2_captured_angles.svg"),
            draw_tips(motions, held, directory / "fig3_captured_tips.svg"),
            draw_captures(motions, directory / "fig4_captured_craft.svg"),
            draw_angles(motions, rebounds, ANGLES[:3], directory / "fig5_rebound_angles.svg"),
            draw_tips(motions, parted, directory / "fig6_rebound_tips.svg"),
            draw_rebounds(motions, directory / "fig7_rebound_craft.svg"),
        ]
