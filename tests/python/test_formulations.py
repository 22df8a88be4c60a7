"""A spec that is the same but for `formulation` is the same system: the same parameters, inputs and outputs, and as the tolerance
falls the same motion.

Distances are those of `test_agreement`: the worst over all variables that both have and over time, relative to the variable's range.
"""

import fmpy
import numpy as np
import pytest
from conftest import EXAMPLES

from fmu import CoSimulation, ModelExchange

TOLERANCES = [1e-6, 1e-8, 1e-10]
POINTS = 120
CRAFT = ["ssrms_type", "solar_arrays"]


def in_quaternions(example):
    """The text of an example, in maximal coordinates."""
    text = next(path for path in EXAMPLES if path.stem == example).read_text()
    return text.replace("\ndescription", '\nformulation = "quaternion"\ndescription', 1)


@pytest.fixture(scope="module")
def pairs(examples, tmp_path_factory):
    """Each craft in both formulations, built once."""
    archives = {}

    def pair(example):
        if example not in archives:
            directory = tmp_path_factory.mktemp(f"{example}_quaternion")
            archives[example] = type(examples[example]).build(in_quaternions(example), directory)
        return examples[example], archives[example]

    return pair


@pytest.mark.parametrize("example", CRAFT)
def test_parameters_inputs_and_outputs_are_the_same(example, pairs):
    recursive, quaternion = pairs(example)
    assert fmpy.validation.validate_fmu(str(quaternion.path)) == []

    def named(archive, causality):
        return {name for name, v in archive.variables.items() if v.causality == causality}

    assert named(quaternion, "input") == named(recursive, "input")
    own = {"constraints.alpha", "constraints.beta"}
    assert named(quaternion, "parameter") - own == named(recursive, "parameter")
    missing = named(recursive, "output") - named(quaternion, "output")
    # Derivatives belong to states, and states to the formulation.
    assert all(name.startswith("der(") for name in missing), missing


@pytest.mark.parametrize("example", CRAFT)
def test_both_make_the_same_motion_for_sixty_seconds(example, pairs, within):
    times = np.linspace(0.0, 60.0, POINTS + 1)
    recursive, quaternion = pairs(example)
    names = [name for name in recursive.outputs() if name in quaternion.variables]
    runs = {}
    for archive in (recursive, quaternion):
        for tolerance in TOLERANCES:
            with CoSimulation(archive, tolerance=tolerance) as cs:
                runs[archive, tolerance] = cs.run(times, names)
    scale = recursive.scales(names, runs[recursive, TOLERANCES[-1]])

    def apart(tolerance):
        return (np.abs(runs[recursive, tolerance] - runs[quaternion, tolerance]) / scale).max()

    far, near, nearest = map(apart, TOLERANCES)
    print(f"{example}: formulations apart by {far:.1e}, {near:.1e}, {nearest:.1e} at {TOLERANCES}")
    assert far > 3 * near and near > 3 * nearest
    within(f"{example}, 60 s: the formulations at 1e-10, of each range", nearest, 1e-6, "agreement asked for at 1e-10")

    # The other interface, with an integrator that is not ours; at 55 s no signal jumps.
    last = POINTS * 55 // 60
    with ModelExchange(quaternion) as me:
        there = me.integrate(times[: last + 1], names, rtol=1e-10)[-1]
    off = (np.abs(there - runs[quaternion, 1e-10][last]) / scale).max()
    within(f"{example}, quaternion, 55 s: ME against CS at 1e-10, of each range", off, 1e-6, "agreement asked for at 1e-10")
