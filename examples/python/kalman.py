"""Unscented Kalman filter of a free-floating arm that holds a satellite of unknown mass.

    python examples/python/kalman.py [--seeds 8] [--stop-time 10.0]

MuJoCo moves the spacecraft by known torques with noise, and its encoders, gyro, star tracker and
position are sampled with noise at 20 Hz. The filter estimates the motion, and the payload's mass
and mass centre: with the torques' noise 31 random numbers, hence 62 sigma points. Each is
propagated by a run that starts at the point. The program prints the estimated mass with its
standard deviation, the share of errors within 3σ, and the normalised estimation error squared
(NEES), whose expected value is the number of unknowns. After Ctrl-C it continues on request, with
the same bits. Needs grapple_fmu, mujoco-core, NumPy and SciPy.
"""

import argparse

import mujoco
import numpy as np
from scipy.linalg import block_diag
from scipy.spatial.transform import Rotation
from scipy.stats import chi2

import grapple_fmu as grapple

STEP = 0.05  # s between samples
# Of each joint: axis, origin on the link before, position at the start; of its link: mass, distance
# of its mass centre, transverse inertia; damping of the joint (N·m·s/rad).
ARM = [
    ([0, 0, 1], [0.8, 0, 0.3], 0.4, 15.0, 0.1, 0.3, 40.0),
    ([0, 1, 0], [0.3, 0, 0.0], -0.6, 25.0, 0.6, 3.0, 40.0),
    ([0, 1, 0], [1.2, 0, 0.0], 1.1, 20.0, 0.5, 2.0, 40.0),
    ([0, 0, 1], [1.0, 0, 0.0], 0.3, 8.0, 0.1, 0.2, 10.0),
    ([1, 0, 0], [0.3, 0, 0.0], 0.5, 8.0, 0.1, 0.2, 10.0),
]
JOINTS = len(ARM)
PAYLOAD = np.array([np.log(120.0), 0.5, 0.1, -0.05])  # logarithm of the mass (kg), mass centre (m)
# The estimate has the states of the model, then those of the payload. Its errors have a rotation
# vector in base axes in place of the quaternion: rotation, position, joints, their rates, payload.
N = 12 + 2 * JOINTS + len(PAYLOAD)
STATES = 13 + 2 * JOINTS
MEASURED = np.arange(9 + JOINTS)  # star tracker, position, encoders, gyro: some of the states
NOISE = np.repeat([1e-3, 5e-3, 1e-3, 2e-4], [3, 3, JOINTS, 3])  # rad, m, rad, rad/s
START = np.repeat([0.02, 0.05, 0.01, 0.005, 0.01, 0.01, 0.2, 0.05], [3, 3, JOINTS, 3, 3, JOINTS, 1, 3])
TORQUE_NOISE = 0.5  # N·m, of each joint, constant from sample to sample


def spacecraft():
    """Returns the spec of the base with arm and payload."""
    bodies = {"base": {"mass": 600.0, "inertia": [180.0, 200.0, 160.0]}}
    bodies["base"]["start"] = {"angular_velocity": [0.01, -0.02, 0.015]}
    joints, parent = {}, "base"
    for i, (axis, origin, position, mass, centre, inertia, damping) in enumerate(ARM, 1):
        link = f"link{i}"
        bodies[link] = {"mass": mass, "mass_centre": [centre, 0, 0], "inertia": [0.5 * inertia, inertia, inertia]}
        joints[f"j{i}"] = {"type": "revolute", "parent": parent, "child": link, "origin": origin, "axis": axis}
        joints[f"j{i}"] |= {"start": {"position": position}, "damping": damping}
        parent = link
    bodies["payload"] = {"mass": np.exp(PAYLOAD[0]), "mass_centre": PAYLOAD[1:], "inertia": [15.0, 12.0, 18.0]}
    joints["grip"] = {"type": "fixed", "parent": parent, "child": "payload", "origin": [0.3, 0, 0]}
    # A text is compiled once; a dictionary may have been edited.
    return grapple.load(grapple.load({"name": "kalman", "body": bodies, "joint": joints}).to_toml())


def mjcf(spec, step):
    """Returns the spec in MuJoCo's format."""
    text = lambda numbers: " ".join(repr(float(number)) for number in numbers)

    def element(name, joint):
        body = spec["body"][name]
        motion = "" if joint else "<freejoint/>"
        if "axis" in joint:
            motion = f'<joint axis="{text(joint["axis"])}" damping="{joint["damping"]}"/>'
        inertial = f'mass="{body["mass"]!r}" pos="{text(body.get("mass_centre", [0] * 3))}" diaginertia="{text(body["inertia"])}"'
        children = "".join(element(j["child"], j) for j in spec["joint"].values() if j["parent"] == name)
        return f'<body pos="{text(joint.get("origin", [0] * 3))}">{motion}<inertial {inertial}/>{children}</body>'

    option = f'<option gravity="0 0 0" integrator="RK4" timestep="{step}"/>'
    return f"<mujoco>{option}<worldbody>{element('base', {})}</worldbody></mujoco>"


def torques(samples):
    """Returns the torques of the joints, constant from sample to sample."""
    phase = np.linspace(0.6, 1.8, JOINTS) * STEP * np.arange(samples)[:, None] + np.arange(JOINTS)
    return 0.4 * np.array([row[-1] for row in ARM]) * np.cos(phase)


def truth(spec, tau, step=5e-3):
    """Returns the states that MuJoCo computes at the samples, in the order of the estimate."""
    model = mujoco.MjModel.from_xml_string(mjcf(spec, step))
    data = mujoco.MjData(model)
    data.qpos[7:] = [row[2] for row in ARM]
    data.qvel[3:6] = spec["body"]["base"]["start"]["angular_velocity"]
    states = []
    for row in tau:
        q, v = data.qpos, data.qvel
        states.append(np.concatenate([q[3:7], q[:3], q[7:], v[3:6], v[:3], v[6:], PAYLOAD]))
        data.qfrc_applied[6:] = row
        mujoco.mj_step(model, data, round(STEP / step))
    return np.array(states)


def attitude(x):
    return Rotation.from_quat(x[..., :4], scalar_first=True)


def plus(x, error):
    """Returns estimates that differ by errors from x."""
    q = (attitude(x) * Rotation.from_rotvec(error[..., :3])).as_quat(scalar_first=True)
    return np.concatenate([q, x[..., 4:] + error[..., 3:]], axis=-1)


def minus(y, x):
    """Returns the errors of y relative to x."""
    return np.concatenate([(attitude(x).inv() * attitude(y)).as_rotvec(), y[..., 4:] - x[..., 4:]], axis=-1)


def mean(points):
    """Returns the mean of estimates."""
    q = attitude(points).mean().as_quat(scalar_first=True)
    return np.concatenate([q, points[:, 4:].mean(axis=0)])


class Filter:
    """The filter, from an estimate before the first sample. `history` has the estimates and
    covariances of all samples so far. Nothing else changes: an interruption loses at most one
    step."""

    def __init__(self, spec, x):
        self.start, self.history = (x, np.diag(START**2)), []
        self.simulation = spec.simulation(tolerance=1e-8)
        self.begin = self.simulation.save()

    def propagate(self, x, tau):
        """Returns a sigma point after a step."""
        payload = {f"payload.mass_centre[{i}]": number for i, number in enumerate(x[STATES + 1 :], 1)}
        # Masses are fixed once a run has begun, and this run begins anew.
        self.simulation.restore(self.begin)
        self.simulation.set({"payload.mass": np.exp(x[STATES]), **payload})
        self.simulation.set_state([*x[:STATES], 0.0])  # the last state is the work
        self.simulation.step(STEP, tau)
        return np.concatenate([self.simulation.state[:STATES], x[STATES:]])

    def predict(self, x, covariance, tau):
        """Returns estimate and covariance after a step, from pairs of sigma points of equal weight.
        The points of a pair differ from x in the state, or in one of the torques."""
        root = block_diag(np.linalg.cholesky(covariance).T, TORQUE_NOISE * np.eye(JOINTS))
        rows = np.sqrt(len(root)) * np.concatenate([root, -root])
        points = np.array([self.propagate(plus(x, row[:N]), tau + row[N:]) for row in rows])
        x = mean(points)
        error = minus(points, x)
        return x, error.T @ error / len(points)

    def correct(self, x, covariance, measured):
        """Returns estimate and covariance after a measurement."""
        rows = covariance[MEASURED]
        gain = np.linalg.solve(rows[:, MEASURED] + np.diag(NOISE**2), rows).T
        covariance = covariance - gain @ rows
        return plus(x, gain @ minus(measured, x)[MEASURED]), (covariance + covariance.T) / 2

    def run(self, measurements, tau):
        """Continues to the last measurement."""
        for k in range(len(self.history), len(measurements)):
            x, covariance = self.predict(*self.history[-1], tau[k - 1]) if k else self.start
            self.history.append(self.correct(x, covariance, measurements[k]))


def case(spec, samples, seed):
    """Returns a filter with an error at the start, true states, measurements, and torques."""
    rng = np.random.default_rng(seed)
    tau = torques(samples)
    states = truth(spec, tau + TORQUE_NOISE * rng.normal(size=tau.shape))
    noise = np.zeros((samples, N))
    noise[:, MEASURED] = NOISE * rng.normal(size=(samples, len(MEASURED)))
    return Filter(spec, plus(states[0], START * rng.normal(size=N))), states, plus(states, noise), tau


def assess(states, history):
    """Returns the errors of a filter relative to their standard deviations, and the NEES, of all
    samples."""
    error = np.array([minus(x, state) for state, (x, _) in zip(states, history)])
    covariance = np.array([covariance for _, covariance in history])
    nees = np.sum(error * np.linalg.solve(covariance, error[..., None])[..., 0], axis=-1)
    return error / np.sqrt(np.diagonal(covariance, axis1=1, axis2=2)), nees


def interval(runs):
    """Returns the 99.9 % interval of the mean NEES of some runs at one sample."""
    return chi2.ppf([0.0005, 0.9995], N * runs) / runs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--stop-time", type=float, default=10.0)
    arguments = parser.parse_args()
    spec, samples = spacecraft(), round(arguments.stop_time / STEP) + 1
    print(f"payload: {np.exp(PAYLOAD[0]):.2f} kg")
    runs = []
    for seed in range(arguments.seeds):
        ukf, states, measurements, tau = case(spec, samples, seed)
        while len(ukf.history) < samples:
            try:
                ukf.run(measurements, tau)
            except KeyboardInterrupt:
                input(f"sample {len(ukf.history)} of {samples}. Enter continues, Ctrl-C ends ")
        runs.append(assess(states, ukf.history))
        x, covariance = ukf.history[-1]
        mass = np.exp(x[STATES])
        print(f"seed {seed}: {mass:.2f} kg ± {mass * np.sqrt(covariance[-4, -4]):.2f} kg")
    ratios, nees = (np.array(part)[:, round(1.0 / STEP) :] for part in zip(*runs))
    low, high = interval(len(runs))
    of_samples = nees.mean(axis=0)
    inside = np.mean((low <= of_samples) & (of_samples <= high))
    print(f"after 1 s: {100 * np.mean(abs(ratios) <= 3):.2f} % of the errors within 3σ")
    print(f"mean NEES {nees.mean():.1f} of {N} unknowns; at {100 * inside:.1f} % of the samples in {low:.1f} to {high:.1f}")


if __name__ == "__main__":
    main()
