"""The example examples/python/kalman.py: estimates of a spacecraft that MuJoCo simulates, and their
interruption."""

import signal

import numpy as np
import pytest
from native import grapple_fmu  # noqa: F401  the package that the example imports
from programs import program

kalman = program("python/kalman")


@pytest.fixture(scope="module")
def spec():
    return kalman.spacecraft()


def test_run_agrees_with_mujoco_to_the_error_of_its_integrator(spec, within):
    """Torques without noise, 5 s: the difference is the error of RK4 in MuJoCo, of fourth order."""
    tau = kalman.torques(101)
    run = spec.simulation(tolerance=1e-12)
    ours = []
    for row in tau:
        ours.append(np.concatenate([run.state[: kalman.STATES], kalman.PAYLOAD]))
        run.step(kalman.STEP, row)
    coarse, fine = (abs(kalman.minus(kalman.truth(spec, tau, step), np.array(ours))).max() for step in (1e-2, 5e-3))
    within("difference to MuJoCo, RK4 with 5 ms", fine, 1e-10, "rad, m, rad/s and m/s, of angles up to 1 rad")
    assert 14.0 < coarse / fine < 18.0


def test_errors_agree_with_their_covariance(spec):
    runs, samples = 3, 51
    ratios, nees = [], []
    for seed in range(runs):
        ukf, states, measurements, tau = kalman.case(spec, samples, seed)
        ukf.run(measurements, tau)
        for part, values in zip((ratios, nees), kalman.assess(states, ukf.history)):
            part.append(values[round(1.0 / kalman.STEP) :])
        deviation = np.sqrt(ukf.history[-1][1][-4, -4])
        assert deviation < kalman.START[-4] / 5, "the torques do not determine the mass"
    assert np.mean(np.abs(ratios) <= 3.0) >= 0.99
    low, high = kalman.interval(runs)
    of_samples = np.mean(nees, axis=0)
    assert low <= of_samples.min() and of_samples.max() <= high


def test_interrupted_filter_continues_with_the_same_bits(spec, monkeypatch, interruptible):
    """SIGINT between runs of sigma points, several times: the estimates are those without it."""
    samples, calls = 6, 0
    (ukf, _, measurements, tau), (other, *_) = (kalman.case(spec, samples, 7) for _ in range(2))
    ukf.run(measurements, tau)
    propagate = kalman.Filter.propagate

    def interrupted(self, x, torques):
        nonlocal calls
        calls += 1
        if calls % 100 == 0:
            signal.raise_signal(signal.SIGINT)
        return propagate(self, x, torques)

    monkeypatch.setattr(kalman.Filter, "propagate", interrupted)
    interruptions = 0
    while len(other.history) < samples:
        try:
            other.run(measurements, tau)
        except KeyboardInterrupt:
            interruptions += 1
    assert interruptions >= 3
    for expected, got in zip(ukf.history, other.history, strict=True):
        assert np.array_equal(expected[0], got[0]) and np.array_equal(expected[1], got[1])
