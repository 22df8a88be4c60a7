"""The planar five-body case of Cyril et al. (1998), tables 1 and 2, and its impacts: a program independent of the tool.

Velocities of points are written link by link, the mass matrix is a quadrature over them, and a
link's modes are those of a clamped beam in closed form. Coordinates: x, y and pitch of the
spacecraft, link 1, link 2, hand, modes of link 1, of link 2, x, y and angle of the payload.
"""

from dataclasses import dataclass

import numpy as np

DEGREE = np.pi / 180.0
LENGTH, LINE = 8.13, 20.0 / 8.13  # length of a link, m; mass per length, kg/m
HAND, RADIUS = 0.2, 1.0  # m: length of the hand; radius of the payload
SHOULDER = np.array([0.0, 2.45])  # m, position of the shoulder on the spacecraft
ANGLES = 67.3 * DEGREE, 45.4 * DEGREE  # rad: of link 1, and of link 2 relative to link 1
RATES = np.array([0.836, -1.81, 0.903]) * DEGREE  # of link 1, link 2 and hand
SPIN = -3.0 * DEGREE  # of the payload
NORMAL = np.array([0.0, -1.0])  # from the payload to the hand
BETA = (1.8751040687119611, 4.694091132974174, 7.854757438237613, 10.995540734875467, 14.13716839104647)  # cosh β cos β = −1
WRIST = 5  # index of the hand's coordinate


@dataclass
class Impact:
    """Result of an impact. The impulse `p` has a third number, the moment, for a grasp; it is None
    if the impact is refused."""

    p: np.ndarray | None
    energy: float
    restitution: float
    kappa: float
    band: tuple
    virtual_mass: float
    rates: np.ndarray  # after: spacecraft, link 1, link 2, hand, payload, deg/s


def across(v):
    return np.array([-v[1], v[0]])


def shape(k, x):
    """Returns deflection and slope of a clamped beam's mass-normalised mode `k` at x (m)."""
    b = BETA[k]
    z, s = b * x / LENGTH, (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
    unit = 1.0 / np.sqrt(LINE * LENGTH)
    deflection = np.cosh(z) - np.cos(z) - s * (np.sinh(z) - np.sin(z))
    slope = np.sinh(z) + np.sin(z) - s * (np.cosh(z) - np.cos(z))
    return unit * deflection, unit * b / LENGTH * slope


def craft(modes):
    """Returns the mass matrix, the rows of the relative velocity and rate of rotation of hand and
    payload, and the velocities of table 2."""
    n = 6 + 2 * modes + 3
    along = [np.array([np.cos(a), np.sin(a)]) for a in (ANGLES[0], sum(ANGLES))]
    own = range(6, 6 + modes), range(6 + modes, 6 + 2 * modes)

    def link(k, x):
        """Returns the rows of the velocity of a point of link `k` (straight) at x (m), and of the
        link's rate of rotation."""
        if k == 0:
            J, turn = np.zeros((2, n)), np.zeros(n)
            J[0, 0] = J[1, 1] = turn[2] = 1.0
            J[:, 2] = across(SHOULDER)
        else:
            J, turn = link(0, LENGTH)
        turn[3 + k] = 1.0
        J = J + np.outer(across(x * along[k]), turn)
        for mode, column in enumerate(own[k]):
            deflection, slope = shape(mode, x)
            J[:, column] += deflection * across(along[k])
            turn[column] += slope
        return J, turn

    M = np.zeros((n, n))
    M[range(3), range(3)] = 10000.0, 10000.0, 40000.0
    M[range(n - 3, n), range(n - 3, n)] = 1000.0, 1000.0, 500.0
    places, weights = np.polynomial.legendre.leggauss(40)
    for k in (0, 1):
        for x, w in zip(places, weights):
            J, _ = link(k, 0.5 * LENGTH * (1.0 + x))
            M += 0.5 * LENGTH * w * LINE * J.T @ J
    J, turn = link(1, LENGTH)
    turn = turn + np.eye(n)[WRIST]
    centre = J + np.outer(across(0.5 * HAND * along[1]), turn)
    M += 0.2 * centre.T @ centre + 0.2 * HAND**2 / 12.0 * np.outer(turn, turn)
    fingers = J + np.outer(across(HAND * along[1]), turn)
    rim = np.zeros((2, n))
    rim[0, -3] = rim[1, -2] = 1.0
    rim[:, -1] = across(np.array([0.0, -RADIUS]))
    v = np.zeros(n)
    v[3:6], v[-1] = RATES, SPIN
    return M, np.vstack([fingers - rim, turn - np.eye(n)[-1]]), v


def impact(law, hand, modes):
    """Computes the impact with `law` ("pin", "grasp" or `(r_E, r_f)`) and the hand "free", "locked"
    (from the start) or "braked"."""
    M, J, v = craft(modes)
    there = np.ones(len(v), bool)
    there[WRIST] = hand == "free"
    if hand == "braked":
        column = np.linalg.inv(M)[:, WRIST]
        v = v - column * v[WRIST] / column[WRIST]
    v[WRIST] *= hand == "free"
    respond = np.zeros_like(M)
    respond[np.ix_(there, there)] = np.linalg.inv(M[np.ix_(there, there)])
    J = J if law == "grasp" else J[:2]
    W, u = J @ respond @ J.T, J @ v
    # Quantities of the point of contact alone, without a grasp's moment.
    point, slip = W[:2, :2], u[:2]
    stick = -np.linalg.solve(point, slip)
    loss, mass = -0.5 * slip @ stick, 1.0 / (NORMAL @ point @ NORMAL)
    kappa = 1.0 - 0.5 * (NORMAL @ slip) ** 2 * mass / loss
    band = (kappa, 1.0)
    if isinstance(law, str):
        p = -np.linalg.solve(W, u)
    else:
        r_E, r_f = law
        band = kappa * r_f * (2.0 - r_f), 1.0 - kappa * (1.0 - r_f) ** 2
        tangential = r_f * (stick - NORMAL * (NORMAL @ stick))
        # p = tangential + x NORMAL dissipates r_E loss: a quadratic in x, whose larger root
        # separates.
        b = NORMAL @ (slip + point @ tangential)
        c = tangential @ slip + 0.5 * tangential @ point @ tangential + r_E * loss
        root = b**2 - 2.0 * c / mass
        p = tangential + NORMAL * mass * (np.sqrt(max(root, 0.0)) - b)
        if not band[0] <= r_E <= band[1]:
            return Impact(None, 0.0, 0.0, kappa, band, mass, np.zeros(5))
    after = u + W @ p
    rates = v + respond @ J.T @ p
    return Impact(
        p=p,
        energy=0.5 * p @ (u + after),
        restitution=-(NORMAL @ after[:2]) / (NORMAL @ slip),
        kappa=kappa,
        band=band,
        virtual_mass=mass,
        rates=rates[[2, 3, 4, 5, -1]] / DEGREE,
    )
