"""After berthing: the captured payload is brought to rest by servos of the joints and of the spacecraft's attitude.

The case is the grasp of the study, with flexible links and a servo on the hand. The gains are our
choice: the paper has none.
"""

from dataclasses import dataclass

import numpy as np
from variants import GRASP, LINKS, Case, build, names, simulate, spec_of

STOP_TIME = 600.0  # s
STEP = 0.25  # s, between samples
TOLERANCE = 1e-10
JOINTS = ("shoulder", "elbow", "wrist")
INSTANTS = (0.0, 30.0, 60.0, 120.0, 180.0, 240.0, 300.0, 450.0, 600.0)  # s, of the table
RATE = 0.005  # °/s: at rest are bodies that turn more slowly,
SPEED = 0.5e-3  # m/s: and that move more slowly relative to the common drift


@dataclass(frozen=True)
class Hold:
    """How the captured system is held: by an attitude servo with servos or brakes of the joints, or
    not at all."""

    key: str
    label: str
    attitude: tuple = ()  # gains, N·m/rad and N·m·s/rad
    joints: tuple = ()  # gains of each joint's servo, N·m/rad and N·m·s/rad
    brakes: bool = False


FREE = Hold("free", "nothing")
BRAKED = Hold("braked", "attitude servo, joints braked", (2000.0, 20000.0), brakes=True)
SERVOS = Hold("servos", "attitude and joint servos", (2000.0, 20000.0), ((40.0, 6000.0), (1000.0, 2000.0), (200.0, 200.0)))
HOLDS = (FREE, BRAKED, SERVOS)

SPINS = ["spacecraft.w[3]", "shoulder.qd", "elbow.qd", "wrist.qd", "payload.w[3]"]
ANGLES = ["shoulder.q", "elbow.q", "wrist.q"]
TIPS = [f"{link}.tip_deflection[2]" for link in LINKS]
VELOCITIES = [*names("spacecraft.v", 2), *names("payload.v", 2)]
ENERGIES = ["system.kinetic_energy", "system.potential_energy"]
TORQUES = ["spacecraft.servo_torque[3]"]
OUTPUT = [*SPINS, *ANGLES, *TIPS, *VELOCITIES, *ENERGIES, *TORQUES, *names("system.momentum", 2), "berth.violation"]
OUTPUT += [*names("spacecraft.q", 4), "system.momentum_scale", "system.angular_momentum[3]"]


@dataclass(frozen=True)
class Calm:
    """Samples of a run. One row for each time; vectors in the plane, inertial axes."""

    label: str
    t: np.ndarray  # s
    pitch: np.ndarray  # of the spacecraft, deg
    off: np.ndarray  # joint angles less those at the impact, deg
    rates: np.ndarray  # spacecraft, link 1, link 2, hand, payload, deg/s
    tips: np.ndarray  # deflections of both links' tips, m
    energy: np.ndarray  # kinetic energy relative to the common drift, and strain energy of the links, J
    velocity: np.ndarray  # of the spacecraft and the payload, m/s
    angular_momentum: np.ndarray  # about the mass centre, kg m²/s
    drift: np.ndarray  # velocity of the mass centre: momentum over mass, m/s
    torque: np.ndarray  # of the attitude servo, N m
    momentum: float  # largest momentum drift, relative to the largest sum of the bodies' momentum magnitudes
    gap: float  # largest distance of the captured frames, m

    @property
    def rate(self):
        """Returns the largest rate of spacecraft, joints and payload, deg/s."""
        return np.abs(self.rates).max(axis=1)

    @property
    def speed(self):
        """Returns the largest speed of spacecraft and payload relative to the common drift, m/s."""
        return np.linalg.norm(self.velocity - self.drift[:, None], axis=2).max(axis=1)

    def at(self, instant):
        """Returns the index of the sample nearest to an instant (s)."""
        return np.argmin(np.abs(self.t - instant))

    @property
    def rests_from(self):
        """Returns the first time after which all rates and speeds stay within `RATE` and `SPEED`,
        s, or None."""
        moving = np.flatnonzero((self.rate > RATE) | (self.speed > SPEED))
        return self.t[moving[-1] + 1] if moving[-1] + 1 < len(self.t) else None


def held(hold):
    """Returns the spec of the grasp, held from the impact on; references of servos are the angles
    at the impact."""
    spec = spec_of(Case(GRASP, "free"), STOP_TIME, STEP, TOLERANCE)
    spec["frame"] = {name: spec["frame"][name] for name in ("fingers", "rim")}
    if hold.joints:
        spec["solver"] = dict(method="radau5")  # dampers on a hand of 0.2 kg are stiff
    on = dict(type="constant", from_importer=False)
    for name in JOINTS if hold.brakes else ():
        spec["joint"][name]["motions"] = ["loads", "locked"]
        spec["signal"][f"{name}.motion"] = on
    for name, (kp, kd) in zip(JOINTS, hold.joints):
        joint = spec["joint"][name]
        joint["servo"] = dict(kp=kp, kd=kd)
        reference = float(np.radians(joint["start"].get("position_deg", 0.0)))
        spec["signal"][f"{name}.q_ref"] = on | dict(amplitude=reference)
    if hold.attitude:
        kp, kd = hold.attitude
        spec["body"]["spacecraft"]["attitude_servo"] = dict(kp=kp, kd=kd)
        spec["signal"]["spacecraft.servo"] = on
    return spec


def mass_of(spec):
    """Returns the mass of all bodies, kg."""
    bodies = spec["body"].values()
    return sum(b["mass"] if "mass" in b else b["beam"]["length"] * b["beam"]["mass_per_length"] for b in bodies)


def calm(tool, hold, directory):
    """Builds the captured system with a way of holding it, and runs it."""
    spec = held(hold)
    read, _ = simulate(build(tool, f"rest_{hold.key}", spec, directory), OUTPUT, spec)
    mass, momentum = mass_of(spec), read(*names("system.momentum", 2))
    kinetic, potential = read(*ENERGIES).T
    q, angles = read(*names("spacecraft.q", 4)), np.degrees(read(*ANGLES))
    return Calm(
        label=hold.label,
        t=read("time")[:, 0],
        pitch=np.degrees(2.0 * np.arctan2(q[:, 3], q[:, 0])),
        off=angles - angles[0],
        rates=np.degrees(read(*SPINS)),
        tips=read(*TIPS),
        energy=kinetic + potential - 0.5 * (momentum**2).sum(axis=1) / mass,
        velocity=read(*VELOCITIES).reshape(-1, 2, 2),
        momentum=np.linalg.norm(momentum - momentum[0], axis=1).max() / read("system.momentum_scale").max(),
        angular_momentum=read("system.angular_momentum[3]")[:, 0],
        drift=momentum / mass,
        torque=read(*TORQUES)[:, 0],
        gap=np.abs(read("berth.violation")).max(),
    )
