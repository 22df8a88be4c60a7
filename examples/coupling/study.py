"""A controller inside the spacecraft's FMU, compared with the same controller as a separate FMU.

    python examples/coupling/study.py             tables and a figure in out/coupling

It builds ../servoed_arm.toml and ../arm_controller.toml with the tool `grapple` and closes the loop
in Python through FMPy: at each communication point the controller receives the measured angles and
rates of the spacecraft, and the spacecraft receives the controller's torques. The servos inside the
spacecraft's FMU are the reference. docs/coupling.md shows the results. Needs FMPy, NumPy, SciPy and
Matplotlib.
"""

import functools
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import expm

EXAMPLES = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(EXAMPLES))

from studies import Instance, build, command_line, options  # noqa: E402

JOINTS = ("shoulder", "elbow")
STOP_TIME = 12.0  # s
SAMPLE = 0.04  # s, between the times at which runs are compared
STEPS = (0.004, 0.002, 0.001, 0.0005)  # s, between communication points
SAMPLE_TIME = 0.01  # s, of the sampled controller
NEAR_LIMIT = (0.95, 1.05)  # factors of the longest stable step
ORDERS = {"held": 1, "extrapolated": 2, "parallel": 1}  # order of accuracy in the step, by the way of coupling
TOLERANCE = 3e-12


def instance(fmu, start=None, tolerance=TOLERANCE):
    """Opens an FMU with the study's tolerance."""
    return Instance(fmu, start, tolerance)


def of_joints(field):
    return [f"{joint}.{field}" for joint in JOINTS]


MEASURED = of_joints("q") + of_joints("qd")
TORQUES = of_joints("tau")


def inside(arm, h=SAMPLE, stop_time=STOP_TIME):
    """Simulates the servos inside the FMU; returns, every `h` s: times, measured angles and
    rates."""
    with instance(arm, {f"{joint}.servo": 1.0 for joint in JOINTS}) as craft:
        times = np.arange(round(stop_time / h) + 1) * h
        rows = [craft.get(MEASURED)]
        for t in times[:-1]:
            craft.step(t, h)
            rows.append(craft.get(MEASURED))
    return times, np.array(rows)


def outside(arm, controller, h, way="held", is_sampled=False, stop_time=STOP_TIME, tolerance=TOLERANCE):
    """Simulates the loop closed every `h` s; returns times, and measured angles and rates.

    held: the controller steps first; its torque at a communication point acts until the next
    (zero-order hold).

    extrapolated: the torque follows the line through its last two values.

    parallel: spacecraft and controller step at once, as with most co-simulation algorithms
    (Jacobi); the torque that acts is one step old.

    The torques of a sampled controller are read after its step, those of a continuous one as soon
    as its inputs are set."""
    with instance(arm, tolerance=tolerance) as craft, instance(controller) as control:
        rows, before = [craft.get(MEASURED)], None
        if way == "parallel":
            before = control.get(TORQUES)
        for k in range(round(stop_time / h)):
            t = k * h
            control.set(MEASURED, rows[-1])
            if is_sampled or way == "parallel":
                control.step(t, h)
                torques = control.get(TORQUES)
            else:
                torques = control.get(TORQUES)
                control.step(t, h)
            craft.set(TORQUES, before if way == "parallel" else torques)
            if way == "extrapolated" and before is not None:
                craft.set_derivatives(TORQUES, (torques - before) / h)
            before = torques
            craft.step(t, h)
            rows.append(craft.get(MEASURED))
            if np.abs(rows[-1]).max() > 10.0:
                break
    return np.arange(len(rows)) * h, np.array(rows)


def off(*runs):
    """Returns the largest difference of the angles of two runs at their common times, multiples of
    SAMPLE, rad."""
    rows = [rows[:: round(SAMPLE / (times[1] - times[0])), : len(JOINTS)] for times, rows in runs]
    return np.abs(rows[0] - rows[1]).max()


def linear(arm, controller):
    """Returns the system linearised at the start: joints and modes `ẋ = A x + B τ`, measured values
    `y = C x`, controller `τ = −K y`. The result is a function of a time (s) that returns the blocks of
    the exact step in x over that time: of x, of the torques and of their rates (constant); C; K."""
    with instance(arm) as craft, instance(controller) as control:
        inner = [name for name in craft.states if not name.startswith(("satellite.", "system."))]
        A = craft.matrix([f"der({name})" for name in inner], inner)
        B = craft.matrix([f"der({name})" for name in inner], TORQUES)
        C = np.array([[float(name == measured) for name in inner] for measured in MEASURED])
        K = -control.matrix(TORQUES, MEASURED)
    n, m = B.shape
    whole = np.zeros((n + 2 * m, n + 2 * m))
    whole[:n, :n], whole[:n, n : n + m] = A, B
    whole[n : n + m, n + m :] = np.eye(m)

    @functools.cache  # all ways examine the same times
    def transition(h):
        step = expm(whole * h)
        return step[:n, :n], step[:n, n : n + m], step[:n, n + m :]

    return transition, C, K


def growth(loop, h, way):
    """Returns the spectral radius of the loop's map from one communication point to the next; above
    1 it is unstable."""
    transition, C, K = loop
    free, held, rising = transition(h)
    gain, none = -K @ C, np.zeros((len(K), len(K)))
    # The previous torques are states as well if they enter: as old torques, or in the rates (τ −
    # τ_before)/h.
    matrix = {
        "held": free + held @ gain,
        "extrapolated": np.block([[free + (held + rising / h) @ gain, -rising / h], [gain, none]]),
        "parallel": np.block([[free, held], [gain, none]]),
    }[way]
    return np.abs(np.linalg.eigvals(matrix)).max()


def longest_step(loop, way):
    """Returns the communication step above which the loop is unstable, s."""
    h = 1e-3
    while growth(loop, h, way) <= 1.0:
        h *= 1.01
    low, high = h / 1.01, h
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if growth(loop, middle, way) <= 1.0 else (low, middle)
    return low


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def slopes(errors):
    """Returns the orders of convergence between neighbours; each step is half the one before."""
    return [None] + [float(np.log2(coarse / fine)) for coarse, fine in zip(errors, errors[1:])]


def convergence(reference, runs, steps):
    """Returns the errors over the communication steps by the way of coupling, and their table with
    orders."""
    errors = {way: [off(run, reference) for run in of_way] for way, of_way in runs.items()}
    rows = []
    for i, h in enumerate(steps):
        row = [f"{1e3 * h:g}"]
        for of_way in errors.values():
            order = slopes(of_way)[i]
            row += [f"{of_way[i]:.2e}", "" if order is None else f"{order:.2f}"]
        rows.append(row)
    return errors, table(["step, ms"] + [cell for way in errors for cell in (f"{way}: error, rad", "order")], rows)


def draw(errors, steps, near, path):
    """Draws errors over steps, and the elbow just below and above the longest stable step."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    steps = 1e3 * np.array(steps)
    for way, of_way in errors.items():
        (line,) = left.loglog(steps, of_way, "o", label=way)
        left.loglog(steps, of_way[-1] * (steps / steps[-1]) ** ORDERS[way], "--", color=line.get_color(), lw=0.8)
    left.set_xticks(steps, [f"{h:g}" for h in steps])
    left.minorticks_off()
    left.set(xlabel="communication step, ms", ylabel="largest difference of the joints' angles, rad")
    left.set_title("outside against inside, with slopes 1 and 2", fontsize=10)
    left.legend(loc="lower right")
    for ((times, rows), (_, expected)), part in zip(near, NEAR_LIMIT):
        difference = np.abs(rows - expected[: len(rows)])[:, len(JOINTS) + 1]
        right.semilogy(times[1:], difference[1:], lw=0.8, label=f"{part:g} of the longest stable step")
    right.set(xlabel="t, s", ylabel="elbow's rate, outside less inside, rad/s", xlim=(0.0, 6.0), ylim=(1e-8, 1e2))
    right.set_title("held, at both sides of the limit", fontsize=10)
    right.legend(loc="upper right")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def study(tool, directory, steps=STEPS):
    """Runs the study with communication steps (s) into a folder; returns the text of the tables."""
    directory.mkdir(parents=True, exist_ok=True)
    specs = [(EXAMPLES / f"{name}.toml").read_text(encoding="utf-8") for name in ("servoed_arm", "arm_controller")]
    arm = build(tool, "servoed_arm", specs[0], directory)
    controller = build(tool, "arm_controller", specs[1], directory)
    sampling = f"[controller]\nsample_time = {SAMPLE_TIME}\n"
    sampled = build(tool, "sampled", specs[1].replace("[controller]\n", sampling), directory)

    reference = inside(arm)
    runs = {way: [outside(arm, controller, h, way) for h in steps] for way in ORDERS}
    errors, text = convergence(reference, runs, steps)

    loop = linear(arm, controller)
    limits = {way: longest_step(loop, way) for way in ORDERS}
    text += "\n" + table(("way", "longest stable step, ms"), [[way, f"{1e3 * limits[way]:.2f}"] for way in ORDERS])
    near = [(outside(arm, controller, h), inside(arm, h)) for h in (part * limits["held"] for part in NEAR_LIMIT)]
    largest = [np.abs(rows).max() for (_, rows), _ in near]
    text += "\n" + table(
        ("part of the longest stable step, held", "largest angle or rate of a joint, rad or rad/s"),
        [[f"{part:g}", "grows beyond 10" if most > 10.0 else f"{most:.3f}"] for part, most in zip(NEAR_LIMIT, largest)],
    )

    following = outside(arm, controller, SAMPLE_TIME)
    sampled_off = [
        (h, off(outside(arm, sampled, h, is_sampled=True), following)) for h in (SAMPLE_TIME / n for n in (1, 2, 10))
    ]
    text += "\n" + table(
        ("step, ms", f"sampled every {1e3 * SAMPLE_TIME:g} ms, less held over {1e3 * SAMPLE_TIME:g} ms: difference, rad"),
        [[f"{1e3 * h:g}", "below 1e-12" if error < 1e-12 else f"{error:.1e}"] for h, error in sampled_off],
    )

    draw(errors, steps, near, directory / "coupling.svg")
    (directory / "tables.md").write_text(text, encoding="utf-8")
    return text


def main():
    arguments = options(command_line("A controller inside the craft's FMU and outside of it.", "out/coupling"))
    print(study(arguments.grapple, arguments.output))
    print(f"{arguments.output}: tables.md, coupling.svg")


if __name__ == "__main__":
    main()
