"""The numbers and laws of the capture benchmark, for engines that nobody here wrote.

The numbers are those of rigid.toml; the laws are those of docs/capture_benchmark.md, written here
without the project's code.
"""

import math
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

FOLDER = Path(__file__).resolve().parent


@dataclass
class Link:
    """A body with the joint that carries it: "free", "fixed", "revolute", or "elastic", small
    rotations about x, y and z against springs."""

    name: str
    parent: str
    kind: str
    position: np.ndarray  # m, of the joint's frame in the parent
    attitude: Rotation  # of the joint's frame in the parent
    mass: float
    centre: np.ndarray  # m, mass centre in body axes
    inertia: np.ndarray  # kg·m², about the mass centre, body axes
    axis: np.ndarray = field(default_factory=lambda: np.zeros(3))
    rotor: float = 0.0  # kg·m², reflected inertia of the motor
    stiffness: tuple = ()  # N·m/rad, about x, y and z
    damping: tuple = ()  # N·m·s/rad


def attitude(table):
    """Returns the attitude of a table of the spec: roll, pitch, yaw about fixed axes."""
    return Rotation.from_euler("xyz", table.get("rpy_deg", [0, 0, 0]), degrees=True)


def matrix(numbers):
    x, y, z, xy, xz, yz = [*numbers, 0.0, 0.0, 0.0][:6]
    return np.array([[x, xy, xz], [xy, y, yz], [xz, yz, z]])


def rotation_vector(q):
    """Returns the rotation vector of a quaternion, scalar first."""
    x = np.array(q[1:]) if q[0] >= 0.0 else -np.array(q[1:])
    sine, cosine = math.sqrt(x @ x), abs(q[0])
    return x * (2.0 * math.atan2(sine, cosine) / sine if sine > 1e-9 else 2.0)


class Problem:
    """Bodies, start, control law, event and impact."""

    def __init__(self, path=FOLDER / "rigid.toml"):
        spec = self.spec = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        self.arm = [name for name, joint in spec["joint"].items() if joint["type"] == "revolute"]
        self.wheels = list(spec["wheel"])
        # Engines name a joint after its child; a wheel is a body of its own name.
        self.coordinates = [*(spec["joint"][name]["child"] for name in self.arm), *self.wheels]
        self.links = self._links()
        self.gains = np.array([[spec["joint"][name]["servo"][k] for k in ("kp", "kd")] for name in self.arm]).T
        signals = [spec["signal"][f"{name}.q_ref"] for name in self.arm]
        self.offset, self.rise, self.begin, self.end = (
            np.array([signal[key] for signal in signals]) for key in ("offset", "amplitude", "from", "until")
        )
        servo = spec["body"]["bus"]["attitude_servo"]
        self.kp, self.kd = servo["kp"], servo["kd"]
        contact = spec["contact"]["latch"]
        self.palm, self.handle = (np.array(spec["frame"][contact[side]]["origin"]) for side in "ab")
        self.normal = np.array(contact["normal"]) / np.linalg.norm(contact["normal"])
        self.radius = contact["radius_b"]
        self.stop_time, self.grid = spec["experiment"]["stop_time"], spec["experiment"]["step"]

    def _links(self):
        spec, links = self.spec, []
        zero, level = np.zeros(3), Rotation.identity()
        of_child = {joint["child"]: joint for joint in spec["joint"].values()}
        for name, body in spec["body"].items():
            own = body["mass"], np.array(body.get("mass_centre", zero)), matrix(body["inertia"])
            joint = of_child.get(name)
            if joint:
                place = np.array(joint.get("origin", zero)), attitude(joint)
                axis = np.array(joint.get("axis", zero))
                links.append(Link(name, joint["parent"], joint["type"], *place, *own, axis, joint.get("rotor_inertia", 0.0)))
            else:
                links.append(Link(name, "world", "free", zero, level, *own))
            for wheel, rotor in spec["wheel"].items():
                if rotor["body"] == name:
                    axis, across = np.array(rotor["axis"]), rotor["transverse_inertia"]
                    inertia = across * np.eye(3) + (rotor["inertia"] - across) * np.outer(axis, axis)
                    links.append(Link(wheel, name, "revolute", zero, level, rotor["mass"], zero, inertia, axis))
        # Parents before children, the target last.
        ordered = ["world"]
        while links:
            link = next(link for link in links if link.parent in ordered and (link.name != "target" or len(links) == 1))
            links.remove(link)
            ordered.append(link.name)
            ordered.append(link)
        return [entry for entry in ordered if isinstance(entry, Link)]

    def captured(self, position, rotation):
        """Returns the links after the capture: the target is fixed to the hand at this pose."""
        fixed = {"parent": "hand", "kind": "fixed", "position": position, "attitude": Rotation.from_matrix(rotation)}
        return [*self.links[:-1], replace(self.links[-1], **fixed)]

    def start(self):
        """Returns positions of the joints and wheels, their rates, and position, attitude, velocity
        and angular velocity (body axes) of the target."""
        spec = self.spec
        q = [*(spec["joint"][name]["start"]["position"] for name in self.arm), *(0.0 for _ in self.wheels)]
        qd = [*(0.0 for _ in self.arm), *(spec["wheel"][name]["rate"] for name in self.wheels)]
        start = spec["body"]["target"]["start"]
        position, velocity, w = (np.array(start[key]) for key in ("position", "velocity", "angular_velocity"))
        return q, qd, position, attitude(start), velocity, w

    def torques(self, t, bus, w, q, qd):
        """Returns the torques of the arm's joints, then of the wheels, from the attitude of the bus
        (a quaternion, scalar first), its angular velocity (body axes), and the arm's positions and
        rates."""
        s = np.clip((t - self.begin) / (self.end - self.begin), 0.0, 1.0)
        q_ref = self.offset + self.rise * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
        qd_ref = self.rise * 30.0 * s**2 * (1.0 - s) ** 2 / (self.end - self.begin)
        kp, kd = self.gains
        wheels = self.kp * rotation_vector(bus) + self.kd * w  # the reverse of the moment on the bus
        return np.concatenate([kp * (q_ref - q) + kd * (qd_ref - qd), wheels])

    def gap(self, palm, handle, rotation):
        """Returns the distance of the palm from the plane of the disc, and its distance from the
        disc's axis, from the two points and the target's attitude."""
        d = rotation.T @ (palm - handle)
        height = self.normal @ d
        return height, np.linalg.norm(d - height * self.normal)

    def grip(self, rotation, origin, w, a, alpha, palm):
        """Returns force and moment (at the palm) of the target on the hand, inertial axes, by
        Newton's and Euler's laws for the target, from its pose, angular velocity w, acceleration a
        of its origin and angular acceleration alpha, all in inertial axes."""
        body = self.links[-1]
        arm, inertia = rotation @ body.centre, rotation @ body.inertia @ rotation.T
        force = body.mass * (a + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm)))
        moment = inertia @ alpha + np.cross(w, inertia @ w)
        return -force, -(moment + np.cross(origin + arm - palm, force))


def plastic(before, rates, after, expand):
    """Returns the rates after a plastic impact and the change of kinetic energy: the generalised
    momentum along the remaining freedoms is conserved. `before` and `after` are mass matrices,
    `expand` maps the rates after to those before."""
    new = np.linalg.solve(after, expand.T @ before @ rates)
    return new, 0.5 * new @ after @ new - 0.5 * rates @ before @ rates
