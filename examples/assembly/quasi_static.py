"""The beams and the robot's moments in closed form: Yang et al. 2023, 10.1007/s11071-023-08395-w, Eqs. 18-42.

Gravity gradient, Coriolis and closing forces along two straight beams that a massless robot holds
in an orbit; linear bending without vibration. The index 0 is the beam MN, which goes from its root
M towards -x, 1 is KI, from K towards +x.
"""

from dataclasses import dataclass

import numpy as np

from planner import LENGTHS, PER_LENGTH

MU = 3.986e14  # m3/s2
RADII = {"LEO": 7136636.0, "GEO": 42164142.0}  # m


@dataclass
class Beam:
    """A beam of modules of 100 m."""

    modules: int = 1
    mass_per_length: float = 30.0  # kg/m
    EA: float = 6.9e9  # N
    EI: float = 9.545e7  # N m2

    @property
    def length(self):
        return 100.0 * self.modules

    @property
    def mass(self):
        return self.mass_per_length * self.length


@dataclass
class Loads:
    """Loads that a beam exerts on the robot at its root, and the deflection of its tip."""

    moment: float  # N m, M_MN or M_KI
    force_x: float  # N
    force_y: float  # N
    tip: float  # m, positive along +y of KI, -y of MN


class Assembly:
    """Two beams (MN, KI), the orbit's radius (m; None: no orbit) and the direction of the beams'
    line: the attitude alpha in the orbit's plane and the elevation beta out of it (rad).

    LVLH axes O have x upwards, y along track and z along the orbit's angular momentum; platform
    axes B have x along the beams and z normal to the arms' plane. Expressed in B: `Omega`, the LVLH
    frame's angular velocity (rad/s), and `G`, the matrix that maps a position to the specific force
    of gravity gradient and centrifugal force (1/s^2)."""

    def __init__(self, beams, radius, alpha, beta=0.0):
        self.beams, self.radius, self.alpha, self.beta = beams, radius, alpha, beta
        self.rate = 0.0 if radius is None else np.sqrt(MU / radius**3)
        (c, s), (c_b, s_b) = ((np.cos(angle), np.sin(angle)) for angle in (alpha, beta))
        self.R_OB = np.array([[c * c_b, -s, -c * s_b], [s * c_b, c, -s * s_b], [s_b, 0.0, c_b]])  # Rz(alpha) Ry(-beta)
        self.Omega = self.rate * self.R_OB[2]
        self.G = self.rate**2 * self.R_OB.T @ np.diag([3.0, 0.0, -1.0]) @ self.R_OB
        m_M, m_K = (beam.mass for beam in beams)
        L_M, L_K = (beam.length for beam in beams)
        self.m_R = PER_LENGTH * LENGTHS.sum()
        self.mass = m_M + m_K + self.m_R
        # The root of a beam is at offset + share x_MK from the mass centre, along the line.
        x_SP = (m_M * L_M - m_K * L_K) / (2 * self.mass)
        self.offsets = (-x_SP, x_SP)
        share = (2 * m_M + self.m_R) / (2 * self.mass)
        self.shares = (1 - share, share)

    def attitude(self, t):
        """Returns the platform's attitude relative to the inertial axes that coincide with the LVLH
        axes at time 0: a quaternion, scalar first."""
        turn, rise = 0.5 * (self.alpha + self.rate * t), 0.5 * self.beta
        c, s = np.cos(turn), np.sin(turn)
        return np.array([c * np.cos(rise), s * np.sin(rise), -c * np.sin(rise), s * np.cos(rise)])


class QuasiStatic(Assembly):
    """The closed form of section 3 of the paper, in the plane of the orbit."""

    def beam(self, which, x):
        """Returns the loads of a beam for the distance x_MK and its two derivatives, `x`."""
        beam, w, alpha = self.beams[which], self.rate, self.alpha
        o, o_1, _ = self.shares[which] * x + np.array([self.offsets[which], 0.0, 0.0])
        o_2 = self.shares[which] * x[2]
        L, rho, EI = beam.length, beam.mass_per_length, beam.EI
        s2, c2 = np.sin(2 * alpha), np.cos(alpha) ** 2
        tip = -rho / EI * (11 / 80 * L**5 * w**2 * s2 + 3 / 16 * L**4 * w**2 * s2 * o + L**4 * w * o_1 / 4)
        moment = -rho * L**2 * w * (o_1 + L * w * s2 / 2 + 3 / 4 * w * s2 * o)
        force_x = rho * L / 2 * (3 * L * w**2 * c2 + 6 * w**2 * c2 * o - 2 * o_2)
        force_y = -rho * L * w / 4 * (8 * o_1 + 3 * L * w * s2 + 6 * w * s2 * o)
        return Loads(moment, force_x, force_y, tip)

    def along(self, which, x, xi):
        """Returns transverse and axial loads per length (N/m) and the deflection (m) at the
        distance xi from the root."""
        beam, w, alpha = self.beams[which], self.rate, self.alpha
        o = self.offsets[which] + self.shares[which] * x[0]
        o_1, o_2 = self.shares[which] * x[1], self.shares[which] * x[2]
        L, rho, EI = beam.length, beam.mass_per_length, beam.EI
        s2, c2 = np.sin(2 * alpha), np.cos(alpha) ** 2
        transverse = -rho * (1.5 * w**2 * s2 * (o + xi) + 2 * w * o_1)
        axial = rho * (3 * w**2 * c2 * (o + xi) - o_2)
        cubic = xi**5 / 120 - L**2 * xi**3 / 12 + L**3 * xi**2 / 6
        even = xi**4 / 24 - L * xi**3 / 6 + L**2 * xi**2 / 4
        deflection = -rho / EI * (1.5 * w**2 * s2 * cubic + (1.5 * w**2 * s2 * o + 2 * w * o_1) * even)
        return transverse, axial, deflection

    def deflection(self, which, x, xi):
        """Returns the deflection of a beam at the distances xi from the root, m: (n, 2).

        The components are along y and z of the beam's own axes, whose x goes from its root to its
        tip."""
        _, _, bent = self.along(which, x, xi)
        return np.column_stack([bent, np.zeros(len(bent))])

    def moments(self, plan):
        """Returns the seven moments M_1 ... M_7 of the joints, N m; M_4 acts on the platform."""
        mn, ki = self.beam(0, plan.x), self.beam(1, plan.x)
        theta_1, theta_2, _ = plan.interior()
        l = LENGTHS
        both = theta_1 + theta_2
        M_7 = -ki.moment - ki.force_x * l[6]
        M_6 = M_7 + l[5] * (ki.force_x * np.cos(theta_1) - ki.force_y * np.sin(theta_1))
        M_5 = M_6 - l[4] * (ki.force_x * np.cos(both) - ki.force_y * np.sin(both))
        M_1 = mn.moment - mn.force_x * l[0]
        M_2 = M_1 + l[1] * (mn.force_x * np.cos(theta_1) + mn.force_y * np.sin(theta_1))
        M_3 = M_2 - l[2] * (mn.force_x * np.cos(both) + mn.force_y * np.sin(both))
        M_4 = -ki.moment - mn.moment - ki.force_y * plan.x[0]
        return np.array([M_1, M_2, M_3, M_4, M_5, M_6, M_7])

    def platform(self, plan):
        """Returns the moment on the platform in its axes, N m: M_4 about z."""
        return np.array([0.0, 0.0, self.moments(plan)[3]])

    def tips(self, plan):
        """Returns the deflections of the two tips along y and z of each beam, whose x goes from its
        root to its tip, m: (2, 2)."""
        return np.array([[self.beam(which, plan.x).tip, 0.0] for which in (0, 1)])
