"""Validity of assumed modes at large deflections: a clamped beam under a force at its tip, against the elastica.

    python examples/deflection.py             the table of docs/limits.md

The beam has three bending modes, or two in each segment. The force is transverse to the undeformed
beam and keeps its direction; it increases slowly under strong damping, so that the run ends at
rest. Needs FMPy, NumPy and SciPy.
"""

import numpy as np
from scipy.integrate import solve_bvp

from studies import Instance, build, command_line, options

LENGTH, EI = 1.0, 1.0  # m, N·m²
DEFLECTIONS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)  # of the tip, relative to the length
STOP_TIME = 200.0  # s; the first period of the beam is 1.8 s

SPEC = """\
name = "{name}"
[body.beam.beam]
length = 1.0
mass_per_length = 1.0
polar_inertia_per_length = 1e-3
EI = 1.0
bending = {bending}
segments = {segments}
damping_ratio = 0.7
[joint.root]
type = "fixed"
parent = "world"
child = "beam"
[frame.tip]
body = "beam"
origin = [1.0, 0.0, 0.0]
[port.push]
frame = "tip"
[signal."push.f[2]"]
type = "quintic"
amplitude = 1.0
from = 0.0
until = 150.0
from_importer = false
[solver]
method = "radau5"
"""
BEAMS = {"3 modes": (3, 1), "2 segments": (2, 2), "4 segments": (2, 4), "8 segments": (2, 8)}


def elastica(force):
    """Returns the tip of the exact beam under a transverse force (N): x, y (m) and angle (rad)."""
    s = np.linspace(0.0, LENGTH, 41)
    run = solve_bvp(
        lambda s, y: [y[1], -force / EI * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])],
        lambda a, b: [a[0], b[1], a[2], a[3]],
        s,
        np.array([s * 0.1, 0.1 + 0 * s, s, 0.05 * s]),
        tol=1e-10,
        max_nodes=10**5,
    )
    assert run.success, run.message
    return run.y[2, -1], run.y[3, -1], run.y[0, -1]


def force_for(deflection):
    """Returns the force (N) that gives the exact beam a relative deflection, by the secant
    method."""
    a, b = 0.0, 3.0 * EI * deflection
    fa, fb = -deflection, elastica(b)[1] / LENGTH - deflection
    while abs(fb) > 1e-9:
        a, b, fa = b, b - fb * (b - a) / (fb - fa), fb
        fb = elastica(b)[1] / LENGTH - deflection
    return b


def tip(fmu, force):
    """Returns the tip's position x, y (m) of the FMU's beam at rest under a force (N)."""
    with Instance(fmu, {"signal.push.f[2].amplitude": force}, tolerance=1e-9) as beam:
        beam.step(0.0, STOP_TIME)
        return beam.get(["tip.r[1]", "tip.r[2]"])


def study(tool, directory):
    """Returns the table of tip errors, relative to the tip's deflection."""
    directory.mkdir(parents=True, exist_ok=True)
    fmus = {
        name: build(tool, name.replace(" ", "_"), SPEC.format(name="limit", bending=bending, segments=segments), directory)
        for name, (bending, segments) in BEAMS.items()
    }
    lines = ["| deflection over length | " + " | ".join(f"{name}, %" for name in fmus) + " |", "|---|" + "---|" * len(fmus)]
    for deflection in DEFLECTIONS:
        force = force_for(deflection)
        exact = np.array(elastica(force)[:2])
        off = [np.hypot(*(tip(fmu, force) - exact)) / (deflection * LENGTH) for fmu in fmus.values()]
        lines.append(f"| {deflection:g} | " + " | ".join(f"{100 * part:.2f}" for part in off) + " |")
    return "\n".join(lines) + "\n"


def main():
    arguments = options(command_line("How far a link of modes may bend.", "out/deflection"))
    print(study(arguments.grapple, arguments.output))


if __name__ == "__main__":
    main()
