"""The assembly robot with its two beams as a spec of grapple.

The platform DE is the free body; the links are attached to it in two chains of revolute joints. The
beams are ANCF beams held by the two grippers, or bodies of the tree fixed to the grippers: with
bending modes, or rigid. A joint's coordinate is the angle of a link relative to the next one
towards the platform, so the interior angles of Yang et al. 2023 are `theta = -pi - q` on the left
side and `q - pi` on the right.
"""

import numpy as np
from scipy.integrate import cumulative_trapezoid

from cantilever import amplitudes
from planner import DIAMETER, HEIGHT, LENGTHS, PER_LENGTH

BEAMS = ("MN", "KI")
GRASPS = [("left", "A", "MN"), ("right", "H", "KI")]  # grasp, frame of its gripper, beam that it holds
JOINTS = ("B", "C", "D", "E", "F", "G")
ELEMENTS = 2  # ANCF elements in a module of 100 m
KP, KD = 1e6, 2e4  # N m/rad, N m s/rad: Eqs. 76 and 77
ANGULAR_STIFFNESS = 2e7  # N m/rad
GRASP = f"""stiffness = 1e6
damping = 1e4
angular_stiffness = {ANGULAR_STIFFNESS!r}
angular_damping = 2e4
"""


def link(name, length, centre):
    mass = PER_LENGTH * length
    axial, across = mass * DIAMETER**2 / 8, mass * (length**2 / 12 + DIAMETER**2 / 16)
    return f"""[body.{name}]
mass = {mass!r}
mass_centre = [{centre!r}, 0.0, 0.0]
inertia = [{axial!r}, {across!r}, {across!r}]
"""


def joint(name, parent, child, x, angle):
    return f"""[joint.{name}]
type = "revolute"
parent = "{parent}"
child = "{child}"
origin = [{x!r}, 0.0, 0.0]
servo = {{ kp = {KP!r}, kd = {KD!r} }}
start = {{ position = {float(angle)!r} }}
"""


def nodal(name, beam, start):
    return f"""[ancf_beam.{name}]
length = {beam.length!r}
elements = {ELEMENTS * beam.modules}
mass_per_length = {beam.mass_per_length!r}
EA = {beam.EA!r}
EI = {beam.EI!r}
{start}
"""


def modes(beam):
    """Returns the number of bending modes of a modal beam in each plane. A sudden load excites more
    modes of longer beams."""
    return max(2, beam.modules)


def modal(name, beam, spatial):
    across = f"bending_z = {modes(beam)}\n" if spatial else ""
    return f"""[body.{name}.beam]
length = {beam.length!r}
mass_per_length = {beam.mass_per_length!r}
EI = {beam.EI!r}
bending_y = {modes(beam)}
{across}"""


def rigid(name, beam):
    across = beam.mass * beam.length**2 / 12
    axial = 1e-12 * across  # The inertia of a body must be positive.
    return f"""[body.{name}]
mass = {beam.mass!r}
mass_centre = [{beam.length / 2!r}, 0.0, 0.0]
inertia = [{axial!r}, {across!r}, {across!r}]
"""


# Positions of the grippers: link, and x in its frame (m).
PLACES = {"A": ("AB", -float(LENGTHS[0])), "H": ("GH", float(LENGTHS[6]))}


def gripper(name):
    link, x = PLACES[name]
    return f"""[frame.{name}]
body = "{link}"
origin = [{x!r}, 0.0, 0.0]
rpy_deg = [0.0, 0.0, 90.0]
"""


def weld(name, beam):
    link, x = PLACES[name]
    return f"""[joint.{name}]
type = "fixed"
parent = "{link}"
child = "{beam}"
origin = [{x!r}, 0.0, 0.0]
rpy_deg = [0.0, 0.0, 90.0]
"""


def held(model, beams, starts):
    """Returns the text of the two beams and of their connections to the grippers. `beams` is
    "nodal" (ANCF), "modal" or "rigid"."""
    pairs = list(zip(BEAMS, model.beams))
    if beams == "nodal":
        bodies = [nodal(*pair, start) for pair, start in zip(pairs, starts)]
        grasps = [f"[grasp.{side}]\na = \"{at}\"\nb = \"{name}\"\n{GRASP}" for side, at, name in GRASPS]
        return "".join([*bodies, *map(gripper, PLACES), *grasps])
    bodies = [modal(*pair, model.beta != 0) if beams == "modal" else rigid(*pair) for pair in pairs]
    return "".join(bodies + [weld(at, name) for _, at, name in GRASPS])


def bent(model, plan, beams):
    """Returns start parameters of modal or ANCF beams for the quasi-static deflection of the closed
    form."""
    start = {}
    for which, (name, beam) in enumerate(zip(BEAMS, model.beams)):
        def deflection(xi, which=which):
            return model.deflection(which, plan.x, xi)

        if beams == "modal":
            planes = amplitudes(beam, modes(beam), deflection).T
            etas = planes if model.beta else planes[:1]
            start |= {f"{name}.eta_start[{k + 1}]": value for k, value in enumerate(etas.flat)}  # m sqrt(kg)
            continue
        elements, fine = ELEMENTS * beam.modules, 20
        xi = np.linspace(0.0, beam.length, fine * elements + 1)
        h = 1e-3 * beam.length
        below, here, above = (deflection(xi + step) for step in (-h, 0.0, h))
        # The moment at the beam's root turns the gripper by `turn` against its angular stiffness.
        turn = beam.EI * (above - 2 * here + below)[0] / h**2 / ANGULAR_STIFFNESS
        across, slope = here + np.outer(xi, turn), (above - below) / (2 * h) + turn
        # A bent beam keeps its length. Otherwise a beam of 500 m would vibrate axially for the
        # whole run.
        shorter = np.sqrt(1.0 + (slope**2).sum(axis=1))
        along = cumulative_trapezoid(1.0 / shorter - 1.0, xi, initial=0.0)
        off = {
            "displacement": np.column_stack([along, across])[::fine],  # m
            "slope": np.column_stack([1.0 / shorter - 1.0, slope / shorter[:, None]])[::fine],
        }
        start |= {
            f"{name}.node[{k + 1}].{of}_start[{axis + 1}]": value
            for of, values in off.items()
            for (k, axis), value in np.ndenumerate(values)
        }
    return start


# The scheme by which a spacecraft is simulated: our own, and that of the paper.
SCHEMES = {
    "recursive": ("recursive", 'method = "radau5"'),
    "natural": ("natural", 'method = "conserving"\nstep = 0.01'),
}


def spec(model, plan, beams="nodal", scheme="recursive"):
    """Returns the spec of an assembly at its start, undeformed and at rest in the LVLH frame; its
    beams are "nodal" (ANCF), "modal" or "rigid"."""
    formulation, solver = SCHEMES[scheme]
    a, b = plan.a[0], plan.b[0]
    # The position of M in axes along the beams: the mass centre of the whole system is on the
    # orbit.
    x = plan.x[0]
    x_M = -(model.offsets[0] + model.shares[0] * x)
    y_M = -HEIGHT * model.m_R / model.mass

    def start(x, y, backwards=False):
        """Returns the start of a body at (x, y) in axes along the beams; its x axis points along
        the beams' line, or against it."""
        r = [float(of) for of in model.R_OB @ [x, y, 0.0]]
        alpha, beta = np.degrees([model.alpha, model.beta])
        rpy = [0.0, float(beta), float(alpha + 180.0)] if backwards else [0.0, float(-beta), float(alpha)]
        axes = ', axes = "lvlh"' if model.rate else ""
        return f"start = {{ position = {r}, rpy_deg = {rpy}{axes} }}"

    height = LENGTHS[0] + LENGTHS[1] * np.sin(a) + LENGTHS[2] * np.sin(b)
    orbit = f"""[environment.orbit]
semi_major_axis = {model.radius!r}
mu = 3.986e14
""" if model.rate else ""
    axes = 'axes = "lvlh"\n' if model.rate else ""
    angles = plan.joints()[0]
    names = ("AB", "BC", "CD", "DE", "EF", "FG", "GH")
    # Links of the left arm extend towards -x from their joint.
    centres = [-l / 2 for l in LENGTHS[:3]] + [0.0] + [l / 2 for l in LENGTHS[4:]]
    bodies = [link(*of) for of in zip(names, map(float, LENGTHS), map(float, centres))]
    bodies[3] += f"""{start(x_M + x / 2, y_M + height)}
[body.DE.attitude_servo]
kp = {KP!r}
kd = {KD!r}
{axes}"""
    half = float(LENGTHS[3] / 2)
    joints = [
        joint("D", "DE", "CD", -half, angles[2]),
        joint("C", "CD", "BC", -float(LENGTHS[2]), angles[1]),
        joint("B", "BC", "AB", -float(LENGTHS[1]), angles[0]),
        joint("E", "DE", "EF", half, angles[3]),
        joint("F", "EF", "FG", float(LENGTHS[4]), angles[4]),
        joint("G", "FG", "GH", float(LENGTHS[5]), angles[5]),
    ]
    return f"""name = "assembly"
description = "Two large beams joined by a dual-arm robot in orbit (Yang et al. 2023)"
formulation = "{formulation}"
{orbit}
{"".join(bodies)}
{"".join(joints)}
{held(model, beams, [start(x_M, y_M, backwards=True), start(x_M + x, y_M)])}
[port.platform]
frame = "DE"
axes = "frame"
[solver]
{solver}
[experiment]
stop_time = 500.0
step = 0.1
tolerance = 1e-8
"""
