"""A disc that docks between two walls: the planar motion of examples/contacts/probe_drogue.toml, independent of the tool.

Velocities of points are written link by link, mass matrices are sums over the bodies, SciPy integrates between events,
and the impact laws are those of a plane.
"""

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp


def along(angle):
    return np.array([np.cos(angle), np.sin(angle)])


def across(v):
    return np.array([-v[1], v[0]])


@dataclass
class Chain:
    """Links in a plane with a body on each. Coordinates: x and y of the first body's mass centre, m, its angle, and the
    angles of the other links relative to the link before, rad."""

    masses: list
    inertias: list
    reaches: list  # m, along the link to the next joint, of the first one from its mass centre
    centres: list  # m, likewise to the mass centre
    stiffness: float = 0.0  # of the joints, N·m/rad
    damping: float = 0.0  # N·m·s/rad

    def pivots(self, q):
        """Returns the first mass centre, all joints and the tip (m), and the angles of the links (rad)."""
        angles = np.cumsum(q[2:])
        return np.cumsum([q[:2], *(reach * along(a) for reach, a in zip(self.reaches, angles))], axis=0), angles

    def tip(self, q):
        return self.pivots(q)[0][-1]

    def inwards(self, q, v):
        """Returns the acceleration of the tip while the rates are constant, m/s²."""
        return -sum(
            reach * rate**2 * along(a) for reach, rate, a in zip(self.reaches, np.cumsum(v[2:]), self.pivots(q)[1])
        )

    def rows(self, q, point, link=-1):
        """Returns the rows of the velocity of a point (m) of a link."""
        pivots = self.pivots(q)[0][:-1]
        turns = [across(point - pivot) if k <= link % len(pivots) else np.zeros(2) for k, pivot in enumerate(pivots)]
        return np.hstack([np.eye(2), np.transpose(turns)])

    def equations(self, q, v):
        """Returns the mass matrix, and the generalised forces less the terms quadratic in the rates."""
        M, f = np.zeros((len(q), len(q))), np.zeros(len(q))
        f[3:] = -self.stiffness * q[3:] - self.damping * v[3:]
        (pivots, angles), rates = self.pivots(q), np.cumsum(v[2:])
        inwards = np.zeros(2)  # acceleration of the pivot while the rates are constant
        for k, (mass, inertia) in enumerate(zip(self.masses, self.inertias)):
            J = self.rows(q, pivots[k] + self.centres[k] * along(angles[k]), k)
            turn = np.concatenate([[0.0, 0.0], np.arange(len(angles)) <= k])
            M += mass * J.T @ J + inertia * np.outer(turn, turn)
            f -= mass * J.T @ (inwards - self.centres[k] * rates[k] ** 2 * along(angles[k]))
            inwards = inwards - self.reaches[k] * rates[k] ** 2 * along(angles[k])
        return M, f


@dataclass
class Scene:
    """A chain with a sphere about its tip, and a body with the drogue, whose cone opens along the body's axis −x.

    `law` maps the matrix W (1/kg) and the relative velocity (m/s), normal before tangential, to the impulse (N·s);
    without it the contact is a force of the fields of `contact`."""

    probe: Chain
    client: Chain
    funnel: dict  # inner radii, length, m
    middle: float  # m, of the cone's axis, on the client's axis
    sphere: float  # radius, m
    law: callable = None
    contact: dict = None

    def split(self, y):
        n = len(y) // 2
        return y[: n - 3], y[n - 3 : n], y[n : 2 * n - 3], y[2 * n - 3 :]

    def place(self, y):
        """Returns the position of the sphere's centre relative to the middle of the cone, axes of the client, m."""
        a, b, _, _ = self.split(y)
        d, x = self.probe.tip(a) - b[:2], along(b[2])
        return np.array([d @ x - self.middle, d @ across(x)])

    def nearest(self, y, side):
        """Returns the gap to the wall on one side (±1) of the axis, m, and the normal from the wall to the sphere."""
        angle, place = self.split(y)[1][2], self.place(y)
        half = 0.5 * self.funnel["length"]
        throat, mouth = np.array([[half, side * self.funnel["end_radius"]], [-half, side * self.funnel["radius"]]])
        wall = mouth - throat
        d = place - throat - wall * np.clip((place - throat) @ wall / (wall @ wall), 0.0, 1.0)
        distance = np.linalg.norm(d)
        return distance - self.sphere, (d[0] * along(angle) + d[1] * across(along(angle))) / distance

    def rows(self, y, point, axes):
        """Returns the rows of the velocities of a point (m) of the probe and of the client, along two axes."""
        a, b, _, _ = self.split(y)
        return axes @ self.probe.rows(a, point), axes @ self.client.rows(b, point)

    def touching(self, y, side):
        """Returns the normal and the tangent, and the rows of the velocities at the point halfway between the surfaces."""
        gap, normal = self.nearest(y, side)
        axes = np.array([normal, across(normal)])
        return axes, self.rows(y, self.probe.tip(self.split(y)[0]) - (self.sphere + 0.5 * gap) * normal, axes)

    def accelerations(self, y):
        a, b, v_a, v_b = self.split(y)
        (M_a, f_a), (M_b, f_b) = self.probe.equations(a, v_a), self.client.equations(b, v_b)
        for side in (-1.0, 1.0) if self.contact else ():
            if (gap := self.nearest(y, side)[0]) < 0.0:
                _, (J_a, J_b) = self.touching(y, side)
                force = self.force(-gap, J_a @ v_a - J_b @ v_b)
                f_a, f_b = f_a + J_a.T @ force, f_b - J_b.T @ force
        return np.linalg.solve(M_a, f_a), np.linalg.solve(M_b, f_b)

    def force(self, depth, u):
        """Returns the force of Hunt and Crossley with smoothed friction, normal and tangential, N."""
        of = self.contact
        normal = of["force"] * (depth / of["depth"]) ** 1.5 * max(0.0, 1.0 - of["dissipation"] * u[0])
        return np.array([normal, -of["mu"] * normal * u[1] / np.hypot(u[1], of["slip"])])

    def rate(self, _, y):
        _, _, v_a, v_b = self.split(y)
        return np.concatenate([v_a, v_b, *self.accelerations(y)])

    def held(self, _, y):
        """Returns the rate while the tip is held at its place in the client: the accelerations of both points are equal,
        with the gains 10 1/s of a violation that is zero here."""
        a, b, v_a, v_b = self.split(y)
        tip = self.probe.tip(a)
        W, by_a, by_b, (J_a, J_b) = self.response(y, self.rows(y, tip, np.eye(2)))
        A_a, A_b = self.accelerations(y)
        inwards = self.probe.inwards(a, v_a) + v_b[2] ** 2 * (tip - b[:2])
        force = np.linalg.solve(W, J_b @ A_b - J_a @ A_a - inwards)
        return np.concatenate([v_a, v_b, A_a + by_a @ force, A_b - by_b @ force])

    def response(self, y, rows):
        a, b, v_a, v_b = self.split(y)
        by_a = np.linalg.solve(self.probe.equations(a, v_a)[0], rows[0].T)
        by_b = np.linalg.solve(self.client.equations(b, v_b)[0], rows[1].T)
        return rows[0] @ by_a + rows[1] @ by_b, by_a, by_b, rows

    def struck(self, y, rows, law):
        """Returns the state after an impact, and the relative velocity after it, m/s."""
        a, b, v_a, v_b = self.split(y)
        W, by_a, by_b, (J_a, J_b) = self.response(y, rows)
        u = J_a @ v_a - J_b @ v_b
        p = law(W, u)
        return np.concatenate([a, b, v_a + by_a @ p, v_b - by_b @ p]), u + W @ p

    def captured(self, y):
        """Returns the state after the plastic impact of a capture at the tip."""
        rows = self.rows(y, self.probe.tip(self.split(y)[0]), np.eye(2))
        return self.struck(y, rows, lambda W, u: -np.linalg.solve(W, u))[0]

    def fly(self, y, span, events=()):
        """Returns the time and the state at the first event or the end, and the event's number or None."""
        for event in events:
            event.terminal, event.direction = True, -1.0
        # After an impact the gap is zero, with either sign: at the end of a short first step it is positive.
        accuracy = dict(rtol=1e-13, atol=1e-14, first_step=min(1e-6, span[1] - span[0]), max_step=0.05)
        run = solve_ivp(self.rate, span, y, "DOP853", events=events, **accuracy)
        hit = [k for k in range(len(events)) if run.t_events[k].size]
        return run.t[-1], run.y[:, -1], hit[0] if hit else None

    def stay(self, y, span):
        """Returns the state at the end, with the tip held at its place in the client."""
        return solve_ivp(self.held, span, y, "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]

    def impacts(self, y, end):
        """Returns the impacts: time, state after it, relative velocity after it, inertial axes of the plane."""
        t, found = 0.0, []
        events = [lambda _, y, side=side: self.nearest(y, side)[0] for side in (-1.0, 1.0)]
        while True:
            t, y, wall = self.fly(y, (t, end), events)
            if wall is None:
                return found
            axes, rows = self.touching(y, (-1.0, 1.0)[wall])
            y, u = self.struck(y, rows, self.law)
            found.append((t, y, axes.T @ u))


def restitution(e, mu):
    """The law of Chatterjee and Ruina (1998) without tangential restitution, as printed: of the impulses that end the
    approach and all relative motion, the second one takes part up to the edge of the friction cone."""

    def law(W, u):
        first, both = np.array([-u[0] / W[0, 0], 0.0]), -np.linalg.solve(W, u)
        p = (1.0 + e) * first + both - first
        if abs(p[1]) > mu * p[0]:
            part = mu * (1.0 + e) * first[0] / (abs(both[1]) - mu * (both[0] - first[0]))
            p = (1.0 + e) * first + part * (both - first)
        return p

    return law


def stronge(e, mu):
    """Routh's straight lines: the ratio of tangential and normal impulse is constant until the sliding stops. The impact
    ends when the normal work of restitution is −e² times that of compression."""

    def law(W, u):
        p, work, compressed = np.zeros(2), 0.0, None
        while True:
            side = np.sign(u[1])
            if u[1] == 0.0:  # sticks, or slides on to the side to which a larger normal impulse pushes it
                ratio = -W[0, 1] / W[1, 1]
                if abs(ratio) > mu:
                    ratio = mu * np.sign(ratio)
            else:
                ratio = -mu * side
            rate = W @ [1.0, ratio]  # of u over the normal impulse
            stop = -u[1] / rate[1] if u[1] * rate[1] < 0.0 else np.inf
            if compressed is None:
                last = -u[0] / rate[0]
            else:
                # u_n h + rate_n h²/2 is the work of restitution that is left
                last = (-u[0] + np.sqrt(u[0] ** 2 + 2.0 * rate[0] * (-(e**2) * compressed - work))) / rate[0]
            h = min(stop, last)
            work += u[0] * h + 0.5 * rate[0] * h**2
            p, u = p + h * np.array([1.0, ratio]), u + h * rate
            if h == stop:
                u[1] = 0.0
            elif compressed is None:
                compressed, work, u[0] = work, 0.0, 0.0
            else:
                return p

    return law
