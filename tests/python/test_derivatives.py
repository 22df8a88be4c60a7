"""Partial derivatives through `fmi2GetDirectionalDerivative`, as FMPy calls it.

Those of forward dynamics are compared with Pinocchio's `computeABADerivatives`, in the norm of the
whole matrix; all others with differences of sixth order, each with its best step: dry friction is
steep, forces of a stiff beam are large.
"""

import tomllib

import numpy as np
import pytest
from conftest import EXAMPLES

from fmu import CoSimulation, ModelExchange, grapple
from trees import Judge, random_inputs, random_state, random_tree


@pytest.mark.parametrize("seed", range(12))
def test_derivatives_of_forward_dynamics_agree_with_pinocchio(seed, build, within):
    rng = np.random.default_rng(6000 + seed)
    spec = random_tree(
        rng,
        n_joints=4 + 2 * seed,
        decades=1,
        roots=1 + seed % 2,
        free_joints=seed % 3 == 1,
        world=seed % 4 == 3,
        damping=seed % 2 == 1,
        gravity=seed % 3 == 0,
        rotors=seed % 4 == 2,
    )
    judge = Judge(spec)
    with ModelExchange(build(spec, "--fmi-type", "me")) as me:
        for _ in range(2):
            state, inputs = random_state(rng, spec), random_inputs(rng, spec)
            me.dynamics(state, inputs)
            for block, pairs in judge.sensitivities(state, inputs).items():
                ours = np.array([me.along(list(changes), seeds) for seeds, changes in pairs])
                reference = np.array([list(changes.values()) for _, changes in pairs])
                within(
                    f"∂q̈/∂{block} of random trees against Pinocchio's",
                    np.linalg.norm(ours - reference) / np.linalg.norm(reference),
                    1e-10,
                    "round-off of two O(n) recursions, differentiated",
                )


def difference(read, write, now, h):
    """Returns the central difference of sixth order with the step `h`."""
    total = 0.0
    for steps, weight in [(1, 45.0), (2, -9.0), (3, 1.0)]:
        for sign in (1, -1):
            write(now + sign * steps * h)
            total = total + sign * weight * read()
    write(now)
    return total / (60.0 * h)


def worst(instance, unknowns, knowns, write):
    """Returns the largest relative distance of a column from its difference with the best step."""
    largest = 0.0
    for known in knowns:
        column = instance.along(unknowns, {known: 1.0})
        now = instance.get(known)
        off = []
        for h in (1e-2, 1e-3, 1e-4):
            step = h * instance.archive.nominal(known)
            other = difference(lambda: instance.read(unknowns), lambda value: write(known, value), now, step)
            off.append(np.linalg.norm(column - other) / max(np.linalg.norm(other), 1e-3))
        largest = np.maximum(largest, np.min(off))
    return largest


@pytest.mark.parametrize("example", [path.stem for path in EXAMPLES])
def test_every_example_in_model_exchange_and_co_simulation(example, examples, within):
    archive = examples[example]
    unknowns = archive.outputs()
    inputs = [v.name for v in archive.description.modelVariables if v.causality == "input"]
    for interface in (archive.description.modelExchange, archive.description.coSimulation):
        assert interface.providesDirectionalDerivative
    with ModelExchange(archive) as me:
        rng = np.random.default_rng(7)
        x = me.x + [archive.nominal(name) * rng.uniform(-0.5, 0.5) for name in archive.states]
        me.at(0.1, x)
        number = worst(me, unknowns, [*archive.states, *inputs], lambda name, value: me.set({name: value}))
        within("derivatives of every example through FMPy, Model Exchange", number, 1e-7, "differences")
        # One call along many knowns equals the sum of the columns, and changes no value.
        before = me.read(unknowns)
        seeds = {name: 0.1 * (k % 7) for k, name in enumerate([*archive.states, *inputs], 1)}
        columns = [me.along(unknowns, {name: seed}) for name, seed in seeds.items()]
        total = me.along(unknowns, seeds)
        within(
            "a direction is the sum of its columns",
            np.linalg.norm(total - sum(columns)) / np.linalg.norm(total),
            1e-12,
            "round-off",
        )
        assert (me.read(unknowns) == before).all()
    with CoSimulation(archive) as cs:
        cs.step(float(archive.description.defaultExperiment.stepSize))
        number = worst(cs, unknowns, inputs, lambda name, value: cs.set({name: value}))
        within("derivatives of every example through FMPy, Co-Simulation", number, 1e-7, "differences")


@pytest.mark.parametrize("example", [path.stem for path in EXAMPLES])
def test_linearize_gives_the_jacobians_of_the_fmu(example, examples, tmp_path, within):
    """A = S J T, where J is the Jacobian of the FMU's directional derivatives, at a start without
    rotation rates."""
    path = next(path for path in EXAMPLES if path.stem == example)
    if 'formulation = "dual_quaternion"' in path.read_text():
        refused = grapple("linearize", path, "-o", tmp_path / "linear.npz", check=False)
        assert refused.returncode != 0 and 'the formulation "dual_quaternion" cannot be linearised' in refused.stderr
        return
    grapple("linearize", path, "-o", tmp_path / "linear.npz")
    linear = np.load(tmp_path / "linear.npz")
    archive = examples[example]
    names = {key: list(linear[key].astype(str)) for key in ("coordinates", "inputs", "outputs", "states")}
    assert names["states"] == archive.states
    # An input that a signal inside the FMU drives is an input of the linear system, but not of the
    # FMU.
    ours = [k for k, name in enumerate(names["inputs"]) if archive.variables[name].causality == "input"]
    inputs = [names["inputs"][k] for k in ours]
    with ModelExchange(archive) as me:
        if inputs:
            me.set(dict(zip(inputs, linear["u"][ours])))
        # Switches are no inputs of the linear system; they are set as by the signals of the spec.
        signals = tomllib.loads(path.read_text()).get("signal", {})
        me.set({n: s.get("amplitude", 1.0) for n, s in signals.items() if n.endswith(".servo")})
        me.at(0.0, linear["x"])
        unknowns = [*archive.derivatives, *names["outputs"]]
        columns = [me.along(unknowns, {name: 1.0}) for name in [*archive.states, *inputs]]
    J, nx = np.array(columns).T, len(archive.states)
    T, S = linear["T"], linear["S"]
    # For a rotating body the tangent axes rotate with it, which adds a term to A.
    matrices = {"A": S @ J[:nx, :nx] @ T, "B": S @ J[:nx, nx:], "C": J[nx:, :nx] @ T, "D": J[nx:, nx:]}
    for i, name in enumerate(names["coordinates"]):
        if name.endswith(".theta[1]"):
            rates = (name.replace(".theta", field) for field in (".w", ".qd"))
            first = next(archive.states.index(rate) for rate in rates if rate in archive.states)
            x, y, z = linear["x"][first : first + 3]
            matrices["A"][i : i + 3, i : i + 3] -= 0.5 * np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    for letter, matrix in matrices.items():
        theirs = linear[letter][:, ours] if letter in "BD" else linear[letter]
        assert theirs.shape == matrix.shape
        off = np.linalg.norm(theirs - matrix) / max(np.linalg.norm(matrix), 1.0)
        within("grapple linearize against the FMU's directional derivatives", off, 1e-13, "round-off of the products")
