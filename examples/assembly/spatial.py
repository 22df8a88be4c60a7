"""The closed form of quasi_static.py for beams along any direction: the line has the elevation beta to the orbit's plane.

A beam lies along a unit vector a that is constant in the LVLH frame. The specific force on its
point at the distance s from the mass centre, relative to axes that turn with the orbit, is

    f = s G a - 2 s' Omega x a - s'' a,      G = w0^2 diag(3, 0, -1) in LVLH axes                        (1)

from gravity gradient, centrifugal, Coriolis and closing motion (Hill's equations). For beta = 0 its
components are Eqs. 20 and 21 of Yang et al. 2023, 10.1007/s11071-023-08395-w; the bending is that
of section 3, in both transverse planes.
"""

from dataclasses import dataclass

import numpy as np

from quasi_static import Assembly


@dataclass
class Loads:
    """Loads that a beam exerts on the robot at its root, and the deflection of its tip; vectors in
    platform axes."""

    force: np.ndarray  # N
    moment: np.ndarray  # N m, about the root
    tip: np.ndarray  # m


def along_x(vector):
    """Returns the cross product of the unit vector along x with a vector."""
    return np.array([0.0, -vector[2], vector[1]])


def about_z(points, force):
    """Returns the z components of the cross products of points, a row each, with a force."""
    return points[:, 0] * force[1] - points[:, 1] * force[0]


class Spatial(Assembly):
    """The closed form in three dimensions. For the beams MN and KI, in platform axes: the
    directions `a`, and of (1) the factor of s, `grows` (1/s^2), and the factor of -s', `coriolis`
    (1/s)."""

    def __init__(self, beams, radius, alpha, beta=0.0):
        super().__init__(beams, radius, alpha, beta)
        self.a = np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
        self.grows = self.a @ self.G
        self.coriolis = 2 * np.cross(self.Omega, self.a)

    def specific(self, which, x):
        """Returns (1) at the root of a beam, m/s^2, and its derivative along the beam, 1/s^2; `x`
        is the distance x_MK with two derivatives."""
        o, o_1, o_2 = self.shares[which] * x + np.array([self.offsets[which], 0.0, 0.0])
        grows = self.grows[which]
        return o * grows - o_1 * self.coriolis[which] - o_2 * self.a[which], grows

    def beam(self, which, x):
        """Returns the loads of a beam."""
        beam = self.beams[which]
        a, (root, grows) = self.a[which], self.specific(which, x)
        L, rho = beam.length, beam.mass_per_length
        force = rho * (root * L + grows * L**2 / 2)
        moment = rho * a[0] * along_x(root * L**2 / 2 + grows * L**3 / 3)
        tip = rho / beam.EI * (root * L**4 / 8 + grows * L**5 * 11 / 120)
        return Loads(force, moment, tip - a * (a @ tip))

    def along(self, which, x, xi):
        """Returns the load per length at the distances xi from the root, N/m, platform axes: (n,
        3)."""
        root, grows = self.specific(which, x)
        return self.beams[which].mass_per_length * (root + np.multiply.outer(xi, grows))

    def deflection(self, which, x, xi):
        """Returns the deflection of the beam at the distances xi from the root, m, along y and z of
        its own axes: (n, 2)."""
        beam = self.beams[which]
        root, grows = self.specific(which, x)
        L = beam.length
        cubic = xi**5 / 120 - L**2 * xi**3 / 12 + L**3 * xi**2 / 6
        even = xi**4 / 24 - L * xi**3 / 6 + L**2 * xi**2 / 4
        bent = beam.mass_per_length / beam.EI * (np.multiply.outer(cubic, grows) + np.multiply.outer(even, root))
        return self.own_axes(which, bent)

    @staticmethod
    def own_axes(which, vectors):
        """Returns y and z components in a beam's own axes, from platform axes: those of MN are
        turned by 180 degrees about z."""
        return vectors[..., 1:] * [(-1.0, 1.0)[which], 1.0]

    def tips(self, plan):
        """Returns the deflections of the two tips along y and z of each beam, m: (2, 2)."""
        return np.array([self.own_axes(which, self.beam(which, plan.x).tip) for which in (0, 1)])

    def moments(self, plan):
        """Returns the seven moments of the joints and the platform, N m; M_4 is the z component of
        `platform`."""
        points = plan.points()
        mn, ki = self.beam(0, plan.x), self.beam(1, plan.x)
        left = mn.moment[2] + about_z(points[0] - points[[1, 2, 3]], mn.force)
        right = -ki.moment[2] - about_z(points[7] - points[[4, 5, 6]], ki.force)
        return np.array([*left, self.platform(plan)[2], *right])

    def platform(self, plan):
        """Returns the moment on the platform in its axes, N m, about the root M."""
        mn, ki = self.beam(0, plan.x), self.beam(1, plan.x)
        return -(mn.moment + ki.moment + plan.x[0] * along_x(ki.force))
