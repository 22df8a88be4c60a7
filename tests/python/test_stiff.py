"""A stiff craft: the implicit methods against SciPy's Radau, an implementation of the same method that nobody here wrote.

A light hand on a strongly damped hinge: its rate dies out with 1/λ = 20 µs, and the sine torque on the shoulder takes seconds.
"""

import numpy as np
import pytest

from fmu import CoSimulation, ModelExchange

CRAFT = {
    "name": "stiff",
    "body": {
        "base": {"mass": 50.0, "inertia": [4.0, 5.0, 6.0]},
        "arm": {"mass": 5.0, "mass_centre": [0.5, 0.0, 0.1], "inertia": [0.1, 0.4, 0.5]},
        "hand": {"mass": 0.1, "mass_centre": [0.1, 0.02, 0.0], "inertia": [1e-4, 2e-4, 3e-4]},
    },
    "joint": {
        "shoulder": {"type": "revolute", "parent": "base", "child": "arm", "origin": [0.5, 0.0, 0.0], "axis": [0.0, 1.0, 1.0]},
        "wrist": {
            "type": "revolute",
            "parent": "arm",
            "child": "hand",
            "origin": [1.0, 0.0, 0.0],
            "axis": [1.0, 0.0, 1.0],
            "damping": 50.0,
            "spring": {"stiffness": 40.0},
            "start": {"position_deg": 30.0, "rate": -0.42},
        },
    },
    "signal": {"shoulder.tau": {"type": "sine", "amplitude": 0.5, "frequency": 0.3, "from_host": False}},
}
TIMES = np.arange(1, 41) * 0.1
NAMES = ["shoulder.q", "wrist.q", "hand.r[1]", "hand.r[2]", "hand.r[3]"]


@pytest.fixture(scope="module")
def stiff(tmp_path_factory):
    from fmu import Archive

    def build(**solver):
        directory = tmp_path_factory.mktemp(solver["method"])
        return Archive.build({**CRAFT, "solver": solver}, directory)

    return build


@pytest.fixture(scope="module")
def reference(stiff):
    with ModelExchange(stiff(method="dopri5")) as me:
        return me.integrate(TIMES, NAMES, rtol=1e-10, method="Radau")


@pytest.mark.parametrize("method", ["radau5", "auto"])
def test_co_simulation_of_a_stiff_craft_agrees_with_scipys_radau(method, stiff, reference, within):
    with CoSimulation(stiff(method=method), tolerance=1e-9) as cs:
        rows = cs.run(TIMES, NAMES)
        messages = [message for _, _, message in cs.messages if "stiff" in message]
    assert len(messages) == (1 if method == "auto" else 0), messages
    off = np.abs(rows - reference).max()
    within(f"stiff craft, {method} at 1e-9 against SciPy's Radau at 1e-10", off, 1e-8, "ten tolerances, rad and m")


def test_the_implicit_midpoint_rule_follows_a_stiff_craft_with_order_two(stiff, reference, within):
    def error(step):
        with CoSimulation(stiff(method="implicit_midpoint", step=step)) as cs:
            return np.abs(cs.run(TIMES, NAMES) - reference).max()

    # What is stiff is not damped but rings: steps of a fraction of its 20 µs are not needed, small jumps at the start are.
    coarse, fine = error(0.002), error(0.001)
    within("stiff craft, implicit midpoint in steps of 1 ms", fine, 1e-6, "h² = 1e-6")
    assert coarse > 3.0 * fine, (coarse, fine)
