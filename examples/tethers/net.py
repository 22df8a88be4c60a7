"""Writes net.toml: a square net of knots and threads that four bullets throw over a client.

    python examples/tethers/net.py > examples/tethers/net.toml

The numbers below change the net; the comment in net.toml describes the present ones. A thread touches
nothing, only knots do: a client passes through a mesh whose knots are farther apart than its own width.
"""

KNOTS = 5  # along each edge
EDGE = 4.0  # m, of the taut net
PACKED = 0.12  # fraction of the edge at the start
KNOT, BULLET = (0.03, 0.05), (0.5, 0.08)  # mass, kg, and radius, m
SPEED = (2.0, 0.8)  # of the bullets, m/s: towards the client, and along y and z outwards
STIFFNESS, DAMPING = 200.0, 0.5  # of a thread, N/m, N·s/m

HEAD = """\
# A net captures a spent tank: four bullets carry it over the client, then winches close its mouth.
#
# The net has 25 knots on threads that pull only, slack at the start. Its corners are the bullets, which
# fly apart and towards the client at 2.3 m/s and spread the net to nearly its whole area. The knots
# touch the client after 2.7 s and decelerate the middle, and the bullets swing around behind it. From 4.5 s
# on a winch in each bullet winds the cord that leads to the next one, until the mouth is too narrow for
# the client. Only knots and bullets have contact, threads and cords do not.
#
# In free fall. The numbers are of no real mission. Written by net.py beside it, which makes other nets.
name = "net"
description = "Net that four bullets throw over a spent tank and that winches close behind it"
"""

CLIENT = """
[body.client]                    # a spent tank, its axis is z
mass = 80.0                      # kg
inertia = [34.0, 34.0, 28.0]     # kg·m²
contact_shape = { type = "capsule", radius = 0.85, length = 0.4 }

[body.client.start]
position = [5.0, 0.1, -0.05]
angular_velocity = [0.1, 0.15, -0.05]

[body.client.shape.middle]
type = "cylinder"
radius = 0.85
length = 0.4
"""

CONTACT = """
[contact_group.wrap]
a = [
{knots}
]
b = ["client"]
law = "compliant"
force = 5.0                      # N
depth = 0.02                     # m
exponent = 1.0
dissipation = 5.0                # s/m
mu = 0.2
slip = 0.1                       # m/s
"""

CORD = """
[tether.cord_{k}]
a = "bullet_{k}"
b = "bullet_{next}"
length = 4.4                     # m
linear_density = 0.0005          # kg/m
axial_stiffness = 20.0           # N
damping = 2.0                    # N·s
masses = 1
reel = {{ unwound = 4.3 }}         # m

[signal."cord_{k}.rate"]           # m/s
type = "table"
times = [4.5, 5.0, 9.35, 9.85]
values = [0.0, -0.8, -0.8, 0.0]
from_importer = false
"""

EXPERIMENT = """
[experiment]
stop_time = 14.0                 # s
step = 0.05
tolerance = 1e-5
"""

# Bullets by row and column, around the mouth.
CORNERS = {(1, 1): 1, (1, KNOTS): 2, (KNOTS, KNOTS): 3, (KNOTS, 1): 4}
PLACES = [(i, j) for i in range(1, KNOTS + 1) for j in range(1, KNOTS + 1)]


def name(place):
    """Returns the name of the knot or bullet at a row and a column."""
    row, column = place
    between = "_" if KNOTS > 9 else ""
    return f"bullet_{CORNERS[place]}" if place in CORNERS else f"knot_{row}{between}{column}"


def body(place):
    """Returns the line of a knot or bullet in the table `body`."""
    mass, radius = BULLET if place in CORNERS else KNOT
    inertia = f"{0.4 * mass * radius**2:.3g}"
    mesh = PACKED * EDGE / (KNOTS - 1)
    y, z = (mesh * (along - (KNOTS + 1) / 2) for along in place)
    start = f"position = [0.0, {y:.6g}, {z:.6g}]"
    if place in CORNERS:
        out = [SPEED[1] if along > 1 else -SPEED[1] for along in place]
        start += f", velocity = [{SPEED[0]}, {out[0]}, {out[1]}]"
    shape = f'contact_shape = {{ type = "sphere", radius = {radius} }}'
    fields = f"mass = {mass}, inertia = [{inertia}, {inertia}, {inertia}], {shape}, start = {{ {start} }}"
    return f"{name(place)} = {{ {fields} }}"


def threads():
    """Returns the lines of the table `spring`."""
    lines = []
    for row, column in PLACES:
        for end in ((row + 1, column), (row, column + 1)):
            if max(end) <= KNOTS:
                ends = f'a = "{name((row, column))}", b = "{name(end)}"'
                law = f"rest_length = {EDGE / (KNOTS - 1)}, stiffness = {STIFFNESS}, damping = {DAMPING}"
                lines.append(f"thread_{len(lines) + 1} = {{ {ends}, {law}, tension_only = true }}")
    return lines


def net():
    """Returns the spec."""
    rows = [PLACES[k : k + KNOTS] for k in range(0, len(PLACES), KNOTS)]
    knots = "\n".join("    " + ", ".join(f'"{name(place)}"' for place in row) + "," for row in rows)
    cords = [CORD.format(k=k, next=k % 4 + 1) for k in range(1, 5)]
    bodies = ["", "[body]                           # kg, kg·m², m, m/s", *map(body, PLACES)]
    springs = ["", "[spring]                         # m, N/m, N·s/m", *threads(), ""]
    lines = "\n".join(bodies + springs)
    return "".join([HEAD, CLIENT, lines, CONTACT.format(knots=knots), *cords, EXPERIMENT])


if __name__ == "__main__":
    print(net(), end="")
