"""Closed loop: a controller written in Python controls the spacecraft's arm step by step.

    python examples/hosts/fmpy_closed_loop.py         out/hosts/closed_loop.svg and a line for each communication step

At each communication point the controller reads the measured and the reference angles and rates of
../servoed_arm.toml and sets the torques, which are held until the next. The servos inside the FMU,
with the same law and gains, are the reference: the error of a loop that is closed every H seconds
is proportional to H (docs/coupling.md has the theory, and better ways). Needs FMPy and Matplotlib.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

EXAMPLES = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(EXAMPLES))

from studies import Instance, build, command_line, options  # noqa: E402

STOP_TIME = 12.0  # s
SAMPLE = 0.04  # s, between the times at which runs are compared
STEPS = (0.004, 0.002)  # s, between communication points
TOLERANCE = 1e-11

JOINTS = ("shoulder", "elbow")
KP = np.array([900.0, 400.0])  # N·m/rad
KD = np.array([600.0, 250.0])  # N·m·s/rad
TORQUES, SERVOS, Q, QD, Q_REF, QD_REF = (
    [f"{joint}.{field}" for joint in JOINTS] for field in ("tau", "servo", "q", "qd", "q_ref", "qd_ref")
)


def torques(q, qd, q_ref, qd_ref, tau_ff=0.0):
    """Returns the torques of proportional-derivative control: a direct feed-through of the measured
    values."""
    return tau_ff + KP * (q_ref - q) + KD * (qd_ref - qd)


def closed_loop(fmu, h):
    """Simulates the loop closed in Python every `h` s; returns the joints' angles every SAMPLE
    s."""
    every = round(SAMPLE / h)
    with Instance(fmu, tolerance=TOLERANCE) as craft:
        rows = [craft.get(Q)]
        for k in range(round(STOP_TIME / h)):
            craft.set(TORQUES, torques(*(craft.get(names) for names in (Q, QD, Q_REF, QD_REF))))
            craft.step(k * h, h)
            if (k + 1) % every == 0:
                rows.append(craft.get(Q))
    return np.array(rows)


def servos_inside(fmu, stop_time=STOP_TIME):
    """Simulates the servos inside the FMU, whose torques act continuously; returns the joints'
    angles every SAMPLE s."""
    with Instance(fmu, dict.fromkeys(SERVOS, 1.0), TOLERANCE) as craft:
        rows = [craft.get(Q)]
        for k in range(round(stop_time / SAMPLE)):
            craft.step(k * SAMPLE, SAMPLE)
            rows.append(craft.get(Q))
    return np.array(rows)


def compare(tool, directory):
    """Returns the reference, and by step the loop's angles and their largest error, rad."""
    directory.mkdir(parents=True, exist_ok=True)
    fmu = build(tool, "servoed_arm", (EXAMPLES / "servoed_arm.toml").read_text(encoding="utf-8"), directory)
    reference = servos_inside(fmu)
    runs = {h: closed_loop(fmu, h) for h in STEPS}
    return reference, runs, {h: np.abs(rows - reference).max() for h, rows in runs.items()}


def draw(reference, runs, path):
    figure, (above, below) = plt.subplots(2, sharex=True, figsize=(7, 6), layout="constrained")
    times = SAMPLE * np.arange(len(reference))
    above.plot(times, reference, label=[f"{joint}.q" for joint in JOINTS])
    above.set(ylabel="angle, rad")
    above.legend()
    for h, rows in runs.items():
        below.plot(times, 1e6 * (rows - reference)[:, 1], label=f"{1e3 * h:g} ms")
    below.set(xlabel="t, s", ylabel="elbow.q less servo inside, µrad")
    below.legend(title="communication step")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main():
    arguments = options(command_line("A controller in Python around the FMU.", "out/hosts"))
    reference, runs, errors = compare(arguments.grapple, arguments.output)
    draw(reference, runs, arguments.output / "closed_loop.svg")
    for h, error in errors.items():
        print(f"every {1e3 * h:g} ms: off the servos inside by at most {error:.2e} rad")


if __name__ == "__main__":
    main()
