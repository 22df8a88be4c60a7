"""The moments of the assembly robot with the mass of its links, without bending: inverse dynamics of the rigid tree.

Yang et al. 2023, 10.1007/s11071-023-08395-w, Eqs. 36-42, neglects the links' inertia, gravity
gradient and Coriolis forces, and lets the beams' line instead of the mass centre move along the
orbit.

Every body is a thin rod, modelled by six equal particles with its mass, mass centre and inertia:
two at its ends, four around its centre ("equimomental" in E. J. Routh, Dynamics of a System of
Rigid Bodies). In axes that turn with the orbit, relative to the mass centre on it, a particle at r
needs the force

    f = m (r'' + 2 Omega x r' - G r),      G = w0^2 diag(3, 0, -1) in LVLH axes                          (1)

(Hill's equations; G is gravity gradient and centrifugal force). A joint's moment is the sum of the
moments of the forces on the outboard bodies.
"""

import numpy as np

from planner import DIAMETER, LENGTHS, PER_LENGTH
from quasi_static import Assembly


class RigidTree(Assembly):
    """Inverse dynamics of the robot and two rigid beams."""

    def __init__(self, beams, radius, alpha, beta=0.0):
        super().__init__(beams, radius, alpha, beta)
        mn, ki = beams
        self.lengths = np.array([mn.length, *LENGTHS, ki.length])
        self.masses = np.array([mn.mass, *PER_LENGTH * LENGTHS, ki.mass])
        self.diameters = np.array([0.0, *np.full(7, DIAMETER), 0.0])

    def particles(self, plan):
        """Returns positions of the six particles of each rod, MN, AB ... GH, KI, and of the points
        A ... H, m, with two derivatives.

        In axes along the beams, from the mass centre of all: (3, 9, 6, 3) and (3, 8, 3)."""
        beam = np.array([[1.0], [0.0], [0.0]])
        u = np.hstack([beam, plan.directions(), beam])  # vectors in the plane are complex numbers
        ends = np.cumsum(self.lengths * u, axis=1)
        along = 0.5 * self.lengths * u
        across = np.sqrt(3) / 4 * self.diameters
        places = np.zeros((3, 9, 6, 3))
        offsets = np.stack([along, -along, 1j * across * u, -1j * across * u, 0 * u, 0 * u], axis=2)
        planar = (ends - along)[..., None] + offsets
        places[..., 0], places[..., 1] = planar.real, planar.imag
        places[0, :, 4, 2], places[0, :, 5, 2] = across, -across
        points = np.stack([ends[:, :-1].real, ends[:, :-1].imag, np.zeros((3, 8))], axis=2)
        centre = np.einsum("b,kbpi->ki", self.masses, places) / (6 * self.masses.sum())
        return places - centre[:, None, None], points - centre[:, None]

    def moments_about(self, plan):
        """Returns moments of the forces (1) of each rod about the points A ... H, N m: (8, 9,
        3)."""
        (r, v, a), (points, _, _) = self.particles(plan)
        f = self.masses[:, None, None] / 6 * (a + 2 * np.cross(self.Omega, v) - r @ self.G)
        return np.cross(r - points[:, None, None], f).sum(axis=2)

    def moments(self, plan):
        """Returns the seven moments M_1 ... M_7 of the joints B, C, D, the platform and E, F, G, N
        m.

        A positive moment of a joint opens the angle between its links: it turns the outboard links
        in the positive sense on the right arm, in the negative sense on the left."""
        about = self.moments_about(plan)[..., 2]
        left = [-about[k, : k + 1].sum() for k in (1, 2, 3)]
        right = [about[k, k + 1 :].sum() for k in (4, 5, 6)]
        return np.array([*left, self.platform(plan)[2], *right])

    def platform(self, plan):
        """Returns the moment on the platform in its axes, N m. The sum of all forces is zero, so
        the moment is the same about every point."""
        return self.moments_about(plan)[0].sum(axis=0)
