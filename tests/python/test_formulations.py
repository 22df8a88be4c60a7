"""Specs that differ only in `formulation` are the same system: equal parameters, inputs and
outputs, and, as the tolerance falls, the same motion.

Distances are those of `test_agreement`: the largest over all common variables and over time,
relative to the variable's range.
"""

import fmpy
import numpy as np
import pytest
from conftest import EXAMPLES

from fmu import CoSimulation, ModelExchange

TOLERANCES = [1e-6, 1e-8, 1e-11]
POINTS = 120
CRAFT = [(example, formulation) for example in ("ssrms_type", "solar_arrays") for formulation in ("quaternion", "natural")]
CRAFT += [("ssrms_type", "dual_quaternion")]
STABILISATION = {"constraints.alpha", "constraints.beta"}
OWN_PARAMETERS = {"quaternion": STABILISATION, "natural": STABILISATION, "dual_quaternion": {"constraints.alpha"}}


def written_in(formulation, example):
    """Returns the text of an example in another formulation."""
    text = next(path for path in EXAMPLES if path.stem == example).read_text()
    return text.replace("\ndescription", f'\nformulation = "{formulation}"\ndescription', 1)


@pytest.fixture(scope="module")
def pairs(examples, tmp_path_factory):
    """A function that returns the FMUs of an example in the default and in another formulation,
    built once."""
    archives = {}

    def pair(example, formulation):
        if (example, formulation) not in archives:
            directory = tmp_path_factory.mktemp(f"{example}_{formulation}")
            archives[example, formulation] = type(examples[example]).build(written_in(formulation, example), directory)
        return examples[example], archives[example, formulation]

    return pair


@pytest.mark.parametrize(("example", "formulation"), CRAFT)
def test_parameters_inputs_and_outputs_are_the_same(example, formulation, pairs):
    recursive, other = pairs(example, formulation)
    assert fmpy.validation.validate_fmu(str(other.path)) == []

    def named(archive, causality):
        return {name for name, v in archive.variables.items() if v.causality == causality}

    assert named(other, "input") == named(recursive, "input")
    assert named(other, "parameter") - OWN_PARAMETERS[formulation] == named(recursive, "parameter")
    missing = named(recursive, "output") - named(other, "output")
    # The only missing outputs are derivatives: they belong to the states, which depend on the
    # formulation.
    assert all(name.startswith("der(") for name in missing), missing


@pytest.mark.parametrize(("example", "formulation"), CRAFT)
def test_both_give_the_same_motion_for_60_s(example, formulation, pairs, within):
    times = np.linspace(0.0, 60.0, POINTS + 1)
    recursive, other = pairs(example, formulation)
    names = [name for name in recursive.outputs() if name in other.variables]
    runs = {}
    for archive in (recursive, other):
        for tolerance in TOLERANCES:
            with CoSimulation(archive, tolerance=tolerance) as cs:
                runs[archive, tolerance] = cs.run(times, names)
    scale = recursive.scales(names, runs[recursive, TOLERANCES[-1]])

    def apart(tolerance):
        return (np.abs(runs[recursive, tolerance] - runs[other, tolerance]) / scale).max()

    far, near, nearest = map(apart, TOLERANCES)
    print(f"{example}, {formulation}: apart by {far:.1e}, {near:.1e}, {nearest:.1e} at {TOLERANCES}")
    assert far > 3 * near and near > 3 * nearest
    what = f"{example}, 60 s: recursive and {formulation} at 1e-11, of each range"
    within(what, nearest, 1e-6, "agreement asked for at 1e-11")

    # The other interface, integrated by SciPy; at 55 s no signal jumps.
    last = POINTS * 55 // 60
    with ModelExchange(other) as me:
        there = me.integrate(times[: last + 1], names, rtol=1e-10)[-1]
    off = (np.abs(there - runs[other, 1e-11][last]) / scale).max()
    within(f"{example}, {formulation}, 55 s: ME at 1e-10 against CS at 1e-11, of each range", off, 1e-6, "agreement asked for at 1e-10")
