"""Derivatives of runs: closed forms, with an impact as well, variational equations by SciPy, all methods, errors."""

import numpy as np
import pytest
from native import grapple_fmu as grapple
from programs import EXAMPLES
from scipy.integrate import solve_ivp

OSCILLATOR = {
    "name": "oscillator",
    "body": {"mass": {"mass": 2.0, "inertia": [1.0, 1.0, 1.0]}},
    "joint": {
        "slide": {
            "type": "prismatic",
            "parent": "world",
            "child": "mass",
            "axis": [1.0, 0.0, 0.0],
            "spring": {"stiffness": 50.0},
            "damping": 0.7,
            "start": {"position": 0.3, "rate": -0.2},
        }
    },
}


def complex_step(function, values, name):
    """Returns the derivative of a closed form with respect to one of its values, to round-off."""
    return np.imag(function(**{**values, name: values[name] + 1e-30j})) / 1e-30


def test_damped_vibration(within):
    """Mass, stiffness, damping, start and a constant force of a mass on a spring."""
    spec = grapple.Spec(OSCILLATOR)
    of = spec.sensitivities(
        ["mass.mass", "slide.stiffness", "slide.damping", "slide.q_start", "slide.qd_start", "slide.tau"],
        outputs=["slide.q", "slide.qd"],
        stop_time=20.0,
        step=0.1,
        tolerance=1e-13,
        set={"slide.tau": 1.5},
    )

    def position(m, k, d, x0, v0, f):
        delta, rest = d / (2.0 * m), f / k
        w = np.sqrt(k / m - delta**2)
        a, b = x0 - rest, (v0 + delta * (x0 - rest)) / w
        return rest + np.exp(-delta * of.time) * (a * np.cos(w * of.time) + b * np.sin(w * of.time))

    values = dict(zip("m k d x0 v0 f".split(), [2.0, 50.0, 0.7, 0.3, -0.2, 1.5]))
    assert abs(of["slide.q"] - position(**values)).max() < 1e-12
    for name, parameter in zip(values, of.parameters):
        exact = complex_step(position, values, name)
        error = abs(of["slide.q", parameter] - exact).max() / abs(exact).max()
        within("derivatives of a damped vibration, closed form", error, 1e-8, "round-off 1e-14 over a step of 1e-5")
        assert of.errors[parameter] < 1e-6
    assert of.differing == ()


BALL = {
    "name": "ball",
    "body": {"ball": {"mass": 1.0, "inertia": [1.0, 1.0, 1.0]}},
    "joint": {
        "fall": {"type": "prismatic", "parent": "world", "child": "ball", "origin": [0.0, 0.0, 1.0], "axis": [0.0, 0.0, 1.0]}
    },
    "contact": {"floor": {"a": "ball", "b": "world", "surface": "plane", "radius_a": 0.1, "e": 0.8}},
    "environment": {"gravity": [0.0, 0.0, -2.0]},
}


def test_impact(within):
    """A ball that falls on a floor twice: the derivatives jump where it bounces, with its velocity."""
    spec = grapple.Spec(BALL)
    of = spec.sensitivities(
        ["floor.e", "fall.q_start", "fall.qd_start"], outputs=["fall.q", "fall.qd"], stop_time=3.0, step=0.1, tolerance=1e-12
    )
    floor = -1.0 + 0.1

    def motion(e, x0, v0):
        position = np.empty(len(of.time), dtype=type(e + x0 + v0))
        rate = np.empty_like(position)
        for k, t in enumerate(of.time):
            # Falls from x with the velocity v at the time 0, which the bounces shift.
            x, v, begin = x0, v0, 0.0
            while True:
                touch = begin + (v + np.sqrt(v * v + 4.0 * (x - floor))) / 2.0
                if t <= np.real(touch):
                    break
                v = -e * (v - 2.0 * (touch - begin))
                x, begin = floor, touch
            position[k], rate[k] = x + v * (t - begin) - (t - begin) ** 2, v - 2.0 * (t - begin)
        return np.array([position, rate])

    values = {"e": 0.8, "x0": 0.0, "v0": 0.0}
    assert abs(np.array([of["fall.q"], of["fall.qd"]]) - motion(**values)).max() < 1e-10
    bounces = np.count_nonzero(np.diff(of["fall.qd"]) > 0.0)
    assert bounces == 2
    for name, parameter in zip(values, of.parameters):
        exact = complex_step(motion, values, name)
        ours = np.array([of["fall.q", parameter], of["fall.qd", parameter]])
        within("derivatives across impacts, closed form", abs(ours - exact).max(), 1e-6, "time of an impact to 1e-12 s over 1e-5")


@pytest.mark.parametrize("at", ["the end", "a row"])
def test_event_in_some_of_the_neighbouring_runs_only(at):
    """The impact is at a row of the results: runs that start higher or lower have it before or after."""
    spec = grapple.Spec(BALL)
    touch = float(np.sqrt(0.9)) + 1e-8
    times = {"stop_time": touch, "step": 0.1} if at == "the end" else {"stop_time": 2.0 * touch, "step": touch}
    with pytest.warns(UserWarning, match="fall.q_start"):
        of = spec.sensitivities(["fall.q_start"], outputs=["fall.qd"], **times)
    assert of.differing == ("fall.q_start",)


def test_forces_that_switch_inside_steps_are_reported():
    """A compliant stop that the mass reaches: all methods compute the run, with a warning."""
    stop = {"min": -0.2, "max": 0.2, "stop": "compliant", "stiffness": 1e4, "damping": 10.0}
    joint = {"slide": {**OSCILLATOR["joint"]["slide"], "range": stop, "start": {"position": 0.0, "rate": 2.0}}}
    for method in ("dopri5", "dop853", "radau5", "rosenbrock", "auto"):
        spec = grapple.Spec({**OSCILLATOR, "joint": joint, "solver": {"method": method}})
        with pytest.warns(UserWarning, match="forces of slide switch inside steps"):
            of = spec.sensitivities(["slide.qd_start"], outputs=["slide.q"], tolerance=1e-10, stop_time=1.0, step=0.09)
        assert of.switching == ("slide",)


@pytest.fixture(scope="module")
def arm():
    """Flexible arm on a free base, whose servos follow a plan from the start."""
    spec = grapple.load(EXAMPLES / "servoed_arm.toml")
    spec["signal"] = {name: signal for name, signal in spec["signal"].items() if not name.endswith(".servo")}
    for signal in spec["signal"].values():
        signal |= {"from": 0.0, "until": 8.0}
    return spec


SWITCHES = {"shoulder.servo": 1.0, "elbow.servo": 1.0}
VARIED = ["boom.EI", "forearm.mass", "forearm.mass_centre[1]", "elbow.kp", "boom.eta_start[1]", "satellite.w_start[3]"]


@pytest.fixture(scope="module")
def variational(arm):
    """States after 1 s, their derivatives by `Ṡ = A S + ∂f/∂p` with the exact Jacobian A, and the sizes of the
    parameters, which are the units of these derivatives."""
    model = arm.model()
    u = np.array([SWITCHES.get(name, 0.0) for name in model.input_names])
    start, defaults = model.pack_states({}), {name: arm.simulation()[name] for name in VARIED}
    sizes = {name: abs(value) or 0.1 for name, value in defaults.items()}

    def parameter(name):
        """Returns functions that are derivatives with respect to a parameter, by differences of order four."""
        offsets, weights = [1, 2], [2 / 3, -1 / 12]
        step = 5e-4 * sizes[name]
        pairs = [[arm.model(set={name: defaults[name] + sign * k * step}) for sign in (1, -1)] for k in offsets]

        def of(evaluate):
            return sum(w * (evaluate(up) - evaluate(down)) for w, (up, down) in zip(weights, pairs)) / 5e-4

        return (lambda t, x: of(lambda m: m.derivatives(t, x, u))), of(lambda m: m.pack_states({}))

    forcing = [parameter(name) for name in VARIED]
    n = len(start)

    def right_hand_side(t, z):
        x, S = z[:n], z[n:].reshape(n, -1)
        A = model.jacobian(t, x, u)[0]
        b = np.array([force(t, x) for force, _ in forcing]).T
        return np.concatenate([model.derivatives(t, x, u), (A @ S + b).ravel()])

    z = np.concatenate([start, np.array([at_start for _, at_start in forcing]).T.ravel()])
    z = solve_ivp(right_hand_side, (0.0, 1.0), z, method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
    return list(model.state_names), z[:n], z[n:].reshape(n, -1), np.array(list(sizes.values()))


# Tolerance of the run, or fixed step, and of the derivatives.
METHODS = {
    "dop853": (1e-11, 5e-7),
    "dopri5": (1e-9, 5e-6),
    "rosenbrock": (1e-9, 5e-6),
    "radau5": (1e-9, 5e-6),
    "auto": (1e-9, 5e-6),
    "linearly_implicit": (2e-4, 3e-5),
}


@pytest.mark.parametrize("method", METHODS)
def test_variational_equations(method, arm, variational, within):
    """Section data, masses, gains and starts of a flexible arm, with every kind of method."""
    (names, x, S, sizes), (given, accuracy) = variational, METHODS[method]
    is_fixed = method == "linearly_implicit"
    arm["solver"] = {"method": method} | ({"step": given} if is_fixed else {})
    tolerance = None if is_fixed else given
    of = arm.sensitivities(VARIED, outputs=names, stop_time=1.0, step=0.25, tolerance=tolerance, set=SWITCHES)
    assert abs(of.values[-1] - x).max() < 1e-5
    error = (abs(of.derivatives[-1] * sizes - S) / abs(S).max(axis=0)).max()
    within(f"derivatives of a flexible arm, {method}, SciPy", error, accuracy, "error of the run; round-off 1e-15 over a step of 1e-6")


def test_wrong_arguments_are_errors_with_names(arm):
    spec = grapple.new("two_link")
    for names, outputs, expected in [
        (["forearm.mas"], [], "forearm.mass"),
        (["elbow.q"], [], "elbow.q_start"),
        (["forearm.mass"], ["elbow.x"], "elbow.x"),
    ]:
        with pytest.raises(grapple.GrappleError, match=expected):
            spec.sensitivities(names, outputs=outputs)
    driven = grapple.new("two_link")
    driven["signal"] = {"elbow.tau": {"type": "constant", "amplitude": 0.1}}
    with pytest.raises(grapple.GrappleError, match="elbow.tau is driven by a signal"):
        driven.sensitivities(["elbow.tau"])
    with pytest.raises(grapple.GrappleError, match="shoulder.servo is a switch or a command"):
        arm.sensitivities(["shoulder.servo"])
    with pytest.raises(TypeError, match="lists of names"):
        spec.sensitivities("forearm.mass")
    of = spec.sensitivities(["forearm.mass"], outputs=["elbow.q"], stop_time=0.1)
    with pytest.raises(KeyError, match="there is no parameter 'elbow.q'"):
        of["elbow.q", "elbow.q"]
