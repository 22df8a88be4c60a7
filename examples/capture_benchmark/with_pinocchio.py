"""The rigid capture benchmark with Pinocchio's articulated-body algorithm and SciPy's DOP853."""

import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

from problem import Problem, plastic, rotation_vector

# s: a first step without limit, from rest, would be rejected only after an overflow.
LONGEST_STEP = 0.1


class Model:
    """The equations of motion. A state is `q`, with quaternions x, y, z, w, then `v`, with
    velocities of free bodies in body axes, linear first."""

    def __init__(self, problem, links):
        self.problem = problem
        model = self.model = pin.Model()
        model.gravity = pin.Motion.Zero()
        self.place, free, rotors = {"world": (0, pin.SE3.Identity())}, [], {}
        for link in links:
            joint, place = self.place[link.parent]
            place = place * pin.SE3(link.attitude.as_matrix(), link.position)
            if link.kind != "fixed":
                kind = pin.JointModelFreeFlyer() if link.kind == "free" else pin.JointModelRevoluteUnaligned(link.axis)
                joint, place = model.addJoint(joint, kind, place, link.name), pin.SE3.Identity()
                rotors[joint] = link.rotor
            model.appendBodyToJoint(joint, pin.Inertia(link.mass, link.centre, link.inertia), place)
            self.place[link.name] = joint, place
            free += [joint] if link.kind == "free" else []
        self.data = model.createData()
        armature = np.zeros(model.nv)
        for joint, inertia in rotors.items():
            armature[model.joints[joint].idx_v] = inertia
        model.armature = armature
        self.free = [(model.joints[joint].idx_q, model.joints[joint].idx_v) for joint in free]
        joints = [model.joints[model.getJointId(name)] for name in problem.coordinates]
        self.iq, self.iv = np.array([[joint.idx_q, joint.idx_v] for joint in joints]).T

    def start(self):
        q, v = pin.neutral(self.model), np.zeros(self.model.nv)
        q[self.iq], v[self.iv], position, attitude, velocity, w = self.problem.start()
        i, k = self.free[-1]
        q[i : i + 7] = *position, *attitude.as_quat()
        v[k : k + 6] = *attitude.inv().apply(velocity), *w
        return np.concatenate([q, v])

    def split(self, y):
        """Returns q, with unit quaternions, and v."""
        q, v = y[: self.model.nq].copy(), y[self.model.nq :]
        for i, _ in self.free:
            q[i + 3 : i + 7] /= np.sqrt(q[i + 3 : i + 7] @ q[i + 3 : i + 7])
        return q, v

    def bus(self, q):
        """Returns the attitude of the bus, scalar first."""
        i = self.free[0][0]
        return np.roll(q[i + 3 : i + 7], 1)

    def torques(self, t, q, v):
        k, n = self.free[0][1], len(self.problem.arm)
        tau = np.zeros(self.model.nv)
        tau[self.iv] = self.problem.torques(t, self.bus(q), v[k + 3 : k + 6], q[self.iq[:n]], v[self.iv[:n]])
        return tau

    def derivative(self, t, y):
        q, v = self.split(y)
        a = pin.aba(self.model, self.data, q, v, self.torques(t, q, v))
        rates = np.empty(len(y))
        rates[self.iq] = v[self.iv]
        for i, k in self.free:
            (x, y, z, s), (a1, a2, a3) = q[i + 3 : i + 7], v[k + 3 : k + 6]
            rates[i : i + 3] = pin.Quaternion(s, x, y, z).toRotationMatrix() @ v[k : k + 3]
            turn = s * a1 + y * a3 - z * a2, s * a2 + z * a1 - x * a3, s * a3 + x * a2 - y * a1, -(x * a1 + y * a2 + z * a3)
            rates[i + 3 : i + 7] = 0.5 * np.array(turn)
        rates[len(q) :] = a
        return rates

    def pose(self, name):
        joint, place = self.place[name]
        return self.data.oMi[joint] * place

    def points(self, y):
        """Computes the kinematics; returns the palm, the handle and the target's attitude."""
        pin.forwardKinematics(self.model, self.data, *self.split(y))
        target = self.pose("target")
        return self.pose("hand").act(self.problem.palm), target.act(self.problem.handle), target.rotation

    def mass_matrix(self, q):
        upper = np.triu(pin.crba(self.model, self.data, q))
        return upper + np.triu(upper, 1).T

    def sample(self, t, y):
        """Returns a row of the table."""
        q, v = self.split(y)
        tau = self.torques(t, q, v)
        pin.forwardKinematics(self.model, self.data, q, v, pin.aba(self.model, self.data, q, v, tau))
        joint, place = self.place["target"]
        pose, motion, acceleration = self.pose("target"), place.actInv(self.data.v[joint]), place.actInv(self.data.a[joint])
        classical = acceleration.linear + np.cross(motion.angular, motion.linear)
        w, a, alpha = (pose.rotation @ part for part in (motion.angular, classical, acceleration.angular))
        palm = self.pose("hand").act(self.problem.palm)
        force, moment = self.problem.grip(pose.rotation, pose.translation, w, a, alpha, palm)
        momentum = pin.computeCentroidalMomentum(self.model, self.data, q, v)
        n, k = len(self.problem.arm), self.free[0][1]
        return {
            "bus_attitude": rotation_vector(self.bus(q)),
            "bus_rate": v[k + 3 : k + 6],
            "joint_position": q[self.iq[:n]],
            "joint_torque": tau[self.iv[:n]],
            "wheel_rate": v[self.iv[n:]],
            "wheel_torque": tau[self.iv[n:]],
            "target_rate": motion.angular,
            "grip_force": force,
            "grip_moment": moment,
            "momentum": momentum.linear,
            "angular_momentum": momentum.angular,
        }


def capture(problem, free, y):
    """Returns the model after the capture, its state, and the numbers of the impact."""
    palm, handle, _ = free.points(y)
    q, v = free.split(y)
    velocity = free.pose("hand").rotation @ point_velocity(free, "hand", problem.palm)
    velocity = velocity - free.pose("target").rotation @ point_velocity(free, "target", free.pose("target").actInv(palm))
    relative = free.pose("hand").inverse() * free.pose("target")
    held = Model(problem, problem.captured(relative.translation, relative.rotation))
    i, k = free.free[-1]
    joint, place = held.place["target"]
    jacobian = place.inverse().action @ pin.computeJointJacobian(held.model, held.data, q[:i], joint)
    expand = np.vstack([np.eye(k), jacobian])
    rates, energy = plastic(free.mass_matrix(q), v, held.mass_matrix(q[:i]), expand)
    # The impulse on the hand is the reverse of the target's change of momentum.
    change = pin.Motion(expand[k:] @ rates - v[k:])
    body = problem.links[-1]
    impulse = free.pose("target").act(pin.Inertia(body.mass, body.centre, body.inertia) * change)
    numbers = {
        "offset": problem.gap(palm, handle, free.pose("target").rotation)[1],
        "speed": np.linalg.norm(velocity),
        "impulse": -impulse.linear,
        "moment_impulse": -(impulse.angular - np.cross(palm, impulse.linear)),
        "energy_change": energy,
    }
    return held, np.concatenate([q[:i], rates]), numbers


def point_velocity(model, name, point):
    """Returns the velocity of a body's point, body axes."""
    joint, place = model.place[name]
    motion = place.actInv(model.data.v[joint])
    return motion.linear + np.cross(motion.angular, point)


def run(problem=None, stop_time=None, tolerance=1e-12):
    """Returns the table of the motion and the numbers of the capture."""
    problem = problem or Problem()
    stop_time = stop_time or problem.stop_time
    times = problem.grid * np.arange(round(stop_time / problem.grid) + 1)
    options = {"method": "DOP853", "rtol": tolerance, "atol": tolerance, "max_step": LONGEST_STEP, "dense_output": True}
    free = Model(problem, problem.links)

    def touch(t, y):
        return problem.gap(*free.points(y))[0]

    touch.terminal, touch.direction = True, -1
    approach = solve_ivp(free.derivative, (0.0, stop_time), free.start(), events=touch, **options)
    (time,), (state,) = approach.t_events[0], approach.y_events[0]
    held, state, numbers = capture(problem, free, state)
    assert numbers["offset"] < problem.radius, "the palm misses the disc"
    numbers |= {"time": time, "after": held.sample(time, state)}
    rest = solve_ivp(held.derivative, (time, stop_time), state, **options)
    rows = [free.sample(t, approach.sol(t)) if t <= time else held.sample(t, rest.sol(t)) for t in times]
    table = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return {"t": times, **table}, numbers
