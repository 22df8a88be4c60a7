"""Reference motion of the arms of the assembly robot: Yang et al. 2023, 10.1007/s11071-023-08395-w, Eqs. 70-74.

The distance between the grasped ends decreases as a quintic; the arms are symmetric, and the
robot's mass centre keeps its distance from the line of the beams. The angles `a` of the outer and
`b` of the inner links are relative to the beams' line; all other quantities follow from them.
"""

from dataclasses import dataclass

import numpy as np

LENGTHS = np.array([2.0, 7.0, 7.0, 2.0, 7.0, 7.0, 2.0])  # m, of the links AB, BC, CD, DE, EF, FG, GH
PER_LENGTH = 10.0 * np.pi  # kg/m: cylinders of 0.2 m and 1000 kg/m3
DIAMETER = 0.2  # m
HEIGHT = 6.0  # m, from the beams' line to the robot's mass centre
DISTANCE = 18.0  # m, between the ends at the start
DURATION = 300.0  # s
# Sign of a joint's coordinate for the moment that opens its interior angle.
SIGNS = np.array([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0])

# First guesses of a and b: with the elbows outside, and with arms that cross at the end.
BRANCHES = {"outside": np.radians([79.309, -16.796]), "crossing": np.radians([29.545, 74.164])}


@dataclass
class Plan:
    """State of the plan at one time: distance (m), the angles a and b (rad), each with two
    derivatives."""

    x: np.ndarray
    a: np.ndarray
    b: np.ndarray

    def links(self):
        """Returns the angles of the seven links, from left to right, to the beams' line, with two
        derivatives, rad: rows are derivatives."""
        a, b = self.a, self.b
        right, none = np.array([np.pi / 2, 0.0, 0.0]), np.zeros(3)
        return np.array([right, a, b, none, -b, -a, -right]).T

    def directions(self):
        """Returns unit vectors along the links, from left to right, with two derivatives, as
        complex numbers in axes along the beams: (3, 7)."""
        phi, phi_1, phi_2 = self.links()
        u = np.exp(1j * phi)
        return np.array([u, 1j * phi_1 * u, (1j * phi_2 - phi_1**2) * u])

    def points(self):
        """Returns positions of A ... H relative to A in axes along the beams, z normal to the arms'
        plane, m: (8, 3)."""
        ends = np.append(0.0, np.cumsum(LENGTHS * self.directions()[0]))
        return np.column_stack([ends.real, ends.imag, np.zeros(8)])

    def joints(self):
        """Returns the coordinates of the joints B, C, D, E, F, G with two derivatives, rad: rows
        are derivatives.

        A coordinate is the angle of a link relative to the next one towards the platform."""
        return SIGNS * np.diff(self.links())

    def interior(self):
        """Returns the interior angles theta_1, theta_2, theta_3, rad; theta_7, theta_6, theta_5
        equal them."""
        q = self.joints()[0]
        return np.mod(-np.pi - q[:3], 2 * np.pi)


def quintic(s):
    """Returns the remaining fraction of a distance at the fraction s of the duration, and two
    derivatives with respect to s (Eqs. 70 and 71).

    It decreases from 1 to 0, with zero rates and accelerations at both ends."""
    return np.array(
        [
            1 - s**3 * (10 - 15 * s + 6 * s * s),
            -30 * s**2 * (1 - s) ** 2,
            -60 * s * (1 - s) * (1 - 2 * s),
        ]
    )


class Planner:
    """The plan over time.

    With `seven` the mass centre includes all seven links; without, it omits the two links that hold
    the beams, as in the printed Eq. 74. `branch` is one of BRANCHES."""

    def __init__(self, seven=True, branch="outside", distance=DISTANCE, duration=DURATION):
        masses = PER_LENGTH * LENGTHS * (1.0 if seven else np.array([0, 1, 1, 1, 1, 1, 0]))
        m, l = masses, LENGTHS
        total = masses.sum()
        inner = 2 * m[1] + 2 * m[2] + m[3]
        # Height of the mass centre: c0 + c_a sin a + c_b sin b.
        self.c0 = (m[0] * l[0] + inner * l[0]) / total
        self.c = np.array([(m[1] + 2 * m[2] + m[3]) * l[1], (m[2] + m[3]) * l[2]]) / total
        self.distance, self.duration = distance, duration
        self.known = [(0.0, self._solve(distance, BRANCHES[branch]))]

    def _residual(self, x, angles):
        reach = LENGTHS[1] * np.cos(angles[0]) + LENGTHS[2] * np.cos(angles[1])
        return np.array([reach - 0.5 * (x - LENGTHS[3]), self.c0 + self.c @ np.sin(angles) - HEIGHT])

    def _jacobian(self, angles):
        return np.array([-LENGTHS[1:3] * np.sin(angles), self.c * np.cos(angles)])

    def _solve(self, x, guess):
        angles = np.array(guess)
        for _ in range(50):
            step = np.linalg.solve(self._jacobian(angles), self._residual(x, angles))
            angles -= step
            if np.abs(step).max() < 1e-15:
                break
        if np.abs(self._residual(x, angles)).max() > 1e-9:
            raise ValueError(f"the arms do not reach: no angles for a distance of {x} m at a height of {HEIGHT} m")
        return angles

    def at(self, t):
        """Returns the plan at the time t, s; times may come in any order."""
        s = np.clip(t / self.duration, 0.0, 1.0)
        x = self.distance * quintic(s) / self.duration ** np.arange(3)
        # Continuation from the nearest earlier solution: the two branches do not meet on the way.
        start, angles = max((k for k in self.known if k[0] <= s), key=lambda k: k[0])
        for part in np.linspace(start, s, 1 + int(np.ceil((s - start) / 0.02)))[1:]:
            angles = self._solve(self.distance * quintic(part)[0], angles)
        if s - start > 0.01:
            self.known.append((s, angles))
        J = self._jacobian(angles)
        sine, cosine = np.sin(angles), np.cos(angles)
        rates = np.linalg.solve(J, [0.5 * x[1], 0.0])
        bias = np.array([LENGTHS[1:3] @ (cosine * rates**2), self.c @ (sine * rates**2)])
        accelerations = np.linalg.solve(J, np.array([0.5 * x[2], 0.0]) + bias)
        a, b = np.array([angles, rates, accelerations]).T
        return Plan(x, a, b)
