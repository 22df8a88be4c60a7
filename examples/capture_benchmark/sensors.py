"""The sensors of the sampled version of the capture benchmark: samples with reproducible noise.

The noise of a sample depends on seed, channel and number of the sample only, as values of a
campaign do (docs/campaigns.md): with the first 52 bits n of the SHA-256 of
"<seed> <channel> <sample>", it is the normal distribution's quantile at (n + 1/2) / 2^52.
"""

import hashlib
from statistics import NormalDist

import numpy as np

SAMPLE_TIME = 0.01  # s
JOINTS = ("shoulder_yaw", "shoulder_pitch", "elbow_pitch", "wrist_yaw", "wrist_pitch", "wrist_roll")
# Standard deviations by channel.
NOISE = {
    **{f"{joint}.q": 2e-5 for joint in JOINTS},  # rad
    **{f"{joint}.qd": 1e-4 for joint in JOINTS},  # rad/s
    **{f"star_tracker[{i}]": 5e-5 for i in (1, 2, 3)},  # rad, about the axes of the bus
    **{f"gyro[{i}]": 2e-5 for i in (1, 2, 3)},  # rad/s
}
BIAS = np.array([1e-5, -2e-5, 1.5e-5])  # rad/s, of the gyro


def noise(seed, sample):
    """Returns the noise of all channels, in their order."""
    normal = NormalDist().inv_cdf

    def unit(channel):
        digest = hashlib.sha256(f"{seed} {channel} {sample}".encode()).digest()
        return normal(((int.from_bytes(digest[:8], "big") >> 12) + 0.5) / 2**52)

    return np.array([sigma * unit(channel) for channel, sigma in NOISE.items()])


class Sensors:
    """Measured values at multiples of the sample time; without a seed they are exact."""

    def __init__(self, seed=None):
        self.seed = seed

    @staticmethod
    def scheduled(t):
        return abs(t / SAMPLE_TIME - round(t / SAMPLE_TIME)) < 1e-6

    def measured(self, t, bus, w, q, qd):
        """Returns measured attitude of the bus (a quaternion, scalar first), angular velocity (body
        axes), and positions and rates of the arm."""
        if self.seed is None:
            return bus, w, q, qd
        n, error = len(JOINTS), noise(self.seed, round(t / SAMPLE_TIME))
        return turned(bus, error[2 * n : 2 * n + 3]), w + BIAS + error[2 * n + 3 :], q + error[:n], qd + error[n : 2 * n]


def turned(q, vector):
    """Returns the quaternion of an attitude that is turned by a rotation vector in body axes."""
    angle = np.linalg.norm(vector)
    s, x = np.cos(angle / 2), vector * np.sinc(angle / (2 * np.pi)) / 2
    return np.array([q[0] * s - q[1:] @ x, *(q[0] * x + s * q[1:] + np.cross(q[1:], x))])
