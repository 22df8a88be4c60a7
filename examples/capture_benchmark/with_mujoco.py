"""The capture benchmark with MuJoCo: its equations of motion, its Runge-Kutta method of order 4."""

import mujoco
import numpy as np
from scipy.optimize import brentq

from problem import Problem, plastic, rotation_vector


def text(numbers):
    return " ".join(repr(float(number)) for number in numbers)


def mjcf(links):
    """Returns links in MuJoCo's format."""

    def element(link):
        motion = {
            "free": f'<freejoint name="{link.name}"/>',
            "fixed": "",
            "revolute": f'<joint name="{link.name}" axis="{text(link.axis)}" armature="{link.rotor!r}"/>',
            "elastic": "".join(
                f'<joint axis="{text(axis)}" stiffness="{text([k])}" damping="{text([d])}"/>'
                for axis, k, d in zip(np.eye(3), link.stiffness, link.damping)
            ),
        }[link.kind]
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = link.inertia
        diagonal = not (xy or xz or yz)
        inertia = f'diaginertia="{text([xx, yy, zz])}"' if diagonal else f'fullinertia="{text([xx, yy, zz, xy, xz, yz])}"'
        inertial = f'mass="{link.mass!r}" pos="{text(link.centre)}" {inertia}'
        children = "".join(element(child) for child in links if child.parent == link.name)
        place = f'pos="{text(link.position)}" quat="{text(link.attitude.as_quat(scalar_first=True))}"'
        return f'<body name="{link.name}" {place}>{motion}<inertial {inertial}/>{children}</body>'

    bodies = "".join(element(link) for link in links if link.parent == "world")
    option = '<option gravity="0 0 0" integrator="RK4"/><compiler angle="radian" balanceinertia="true"/>'
    return f"<mujoco>{option}<worldbody>{bodies}</worldbody></mujoco>"


class Model:
    """A model with its control law, and a motion."""

    def __init__(self, problem, links):
        self.problem = problem
        self.model = mujoco.MjModel.from_xml_string(mjcf(links))
        for link in links:
            # Short pieces of a beam whose section has a polar inertia only: no rigid body has such
            # an inertia, and MuJoCo has replaced it.
            if np.trace(link.inertia) < 2.0 * link.inertia.max():
                self.model.body(link.name).inertia[:] = np.diag(link.inertia)
        self.data = mujoco.MjData(self.model)
        mujoco.mj_setConst(self.model, self.data)
        joints = [self.model.joint(name) for name in problem.coordinates]
        self.iq, self.iv = np.array([[joint.qposadr[0], joint.dofadr[0]] for joint in joints]).T
        self.hand, self.target = self.model.body("hand").id, self.model.body("target").id
        self.held = None  # torques of a sampled controller

    def motion(self):
        """Returns attitude and angular velocity of the bus, positions and rates of the arm."""
        n, q, v = len(self.problem.arm), self.data.qpos, self.data.qvel
        return q[3:7].copy(), v[3:6].copy(), q[self.iq[:n]], v[self.iv[:n]]

    def control(self, *_):
        """Sets the torques of arm and wheels, at every stage of a step."""
        torques = self.problem.torques(self.data.time, *self.motion()) if self.held is None else self.held
        self.data.qfrc_applied[self.iv] = torques

    def step(self, h):
        self.model.opt.timestep = h
        mujoco.set_mjcb_control(self.control)
        try:
            mujoco.mj_step(self.model, self.data)
        finally:
            mujoco.set_mjcb_control(None)

    def forward(self):
        """Computes everything that depends on the state."""
        self.control(self.model, self.data)
        mujoco.mj_forward(self.model, self.data)

    def state(self):
        return self.data.time, self.data.qpos.copy(), self.data.qvel.copy()

    def set(self, state):
        self.data.time, self.data.qpos[:], self.data.qvel[:] = state

    def pose(self, body):
        return self.data.xpos[body], self.data.xmat[body].reshape(3, 3)

    def point(self, body, point):
        position, rotation = self.pose(body)
        return position + rotation @ point

    def points(self):
        """Returns the palm, the handle and the target's attitude, after `forward`."""
        palm = self.point(self.hand, self.problem.palm)
        return palm, self.point(self.target, self.problem.handle), self.pose(self.target)[1]

    def gap(self):
        mujoco.mj_kinematics(self.model, self.data)
        return self.problem.gap(*self.points())

    def jacobian(self, body, point):
        """Returns the Jacobians of a point's velocity and of the body's angular velocity, inertial
        axes."""
        linear, angular = np.zeros((2, 3, self.model.nv))
        mujoco.mj_jac(self.model, self.data, linear, angular, point, body)
        return linear, angular

    def mass_matrix(self):
        dense = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, dense)
        return dense

    def sample(self):
        """Returns a row of the table."""
        self.forward()
        model, data, n = self.model, self.data, len(self.problem.arm)
        mujoco.mj_rnePostConstraint(model, data)
        mujoco.mj_subtreeVel(model, data)
        motion = np.zeros(6)
        mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_XBODY, self.target, motion, 0)
        position, rotation = self.pose(self.target)
        w = self.jacobian(self.target, position)[1] @ data.qvel
        force, moment = self.problem.grip(rotation, position, w, motion[3:], motion[:3], self.points()[0])
        tau = data.qfrc_applied[self.iv]
        return {
            "bus_attitude": rotation_vector(data.qpos[3:7]),
            "bus_rate": data.qvel[3:6].copy(),
            "joint_position": data.qpos[self.iq[:n]],
            "joint_torque": tau[:n],
            "wheel_rate": data.qvel[self.iv[n:]],
            "wheel_torque": tau[n:],
            "target_rate": rotation.T @ w,
            "grip_force": force,
            "grip_moment": moment,
            "momentum": model.body_subtreemass[0] * data.subtree_linvel[0],
            "angular_momentum": data.subtree_angmom[0].copy(),
        }


def capture(problem, free):
    """Returns the model after the capture and the numbers of the impact, with `free` at the
    event."""
    free.forward()
    palm, handle, rotation = free.points()
    (p_hand, R_hand), (p_target, R_target) = free.pose(free.hand), free.pose(free.target)
    v = free.data.qvel.copy()
    speed = np.linalg.norm((free.jacobian(free.hand, palm)[0] - free.jacobian(free.target, palm)[0]) @ v)
    held = Model(problem, problem.captured(R_hand.T @ (p_target - p_hand), R_hand.T @ R_target))
    n = held.model.nv
    held.set((free.data.time, free.data.qpos[: held.model.nq], v[:n]))
    held.forward()
    linear, angular = held.jacobian(held.target, p_target)
    expand = np.vstack([np.eye(n), linear, R_target.T @ angular])
    rates, energy = plastic(free.mass_matrix(), v, held.mass_matrix(), expand)
    held.data.qvel[:], held.held = rates, free.held
    # The impulse on the hand is the reverse of the target's change of momentum.
    body = problem.links[-1]
    arm, turn = R_target @ body.centre, R_target @ (expand[n + 3 :] @ rates - v[n + 3 :])
    impulse = body.mass * (expand[n : n + 3] @ rates - v[n : n + 3] + np.cross(turn, arm))
    spin = R_target @ body.inertia @ R_target.T @ turn
    return held, {
        "offset": problem.gap(palm, handle, rotation)[1],
        "speed": speed,
        "impulse": -impulse,
        "moment_impulse": -(spin + np.cross(p_target + arm - palm, impulse)),
        "energy_change": energy,
        "time": held.data.time,
        "after": held.sample(),
    }


def run(problem=None, stop_time=None, step=0.005, sensors=None):
    """Returns the table of the motion and the numbers of the capture, with steps of at most `step`;
    with `sensors` the controller is sampled."""
    problem = problem or Problem()
    stop_time = stop_time or problem.stop_time
    times = problem.grid * np.arange(round(stop_time / problem.grid) + 1)
    parts = round(problem.grid / step)
    model, numbers, rows = Model(problem, problem.links), None, []
    data = model.data
    data.qpos[model.iq], data.qvel[model.iv], position, attitude, velocity, w = problem.start()
    data.qpos[-7:] = *position, *attitude.as_quat(scalar_first=True)
    data.qvel[-6:] = *velocity, *w
    model.held = None if sensors is None else np.zeros(len(model.iv))
    rows.append(model.sample())
    for begin, end in zip(times, times[1:]):
        for part in range(parts):
            until = begin + (end - begin) * (part + 1) / parts
            before = model.state()
            if sensors and sensors.scheduled(before[0]):
                model.held = problem.torques(before[0], *sensors.measured(before[0], *model.motion()))
            model.step(until - before[0])
            if numbers is None and model.gap()[0] < 0.0:

                def gap(h):
                    model.set(before)
                    model.step(h)
                    return model.gap()[0]

                gap(brentq(gap, 1e-9, until - before[0], xtol=1e-14))
                model, numbers = capture(problem, model)
                assert numbers["offset"] < problem.radius, "the palm misses the disc"
                model.step(until - model.data.time)
        rows.append(model.sample())
    table = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return {"t": times, **table}, numbers
