"""Forward dynamics of random trees: the FMU compared with Pinocchio's articulated-body algorithm.

Differences are relative in the norm over all rates, ‖Δa‖ / ‖a‖: a component that is small by cancellation
has no relative accuracy in either program. Round-off grows with the range of the masses, and so do the
bounds: 1e-12 for masses within one decade, 1e-10 within four.
"""

import numpy as np
import pinocchio as pin
import pytest

from fmu import ModelExchange
from trees import Judge, random_inputs, random_state, random_tree

STATES_PER_TREE = 3


def compare(spec, rng, build, within, claim, tolerance, reason):
    archive = build(spec, "--fmi-type", "me")
    judge = Judge(spec)
    with ModelExchange(archive) as me:
        for _ in range(STATES_PER_TREE):
            state, inputs = random_state(rng, spec), random_inputs(rng, spec)
            ours = me.dynamics(state, inputs)
            reference = judge.dynamics(state, inputs)
            assert set(reference) <= set(ours), "every rate of the judge is a state of the FMU"
            a, a_ref = (np.array([table[name] for name in reference]) for table in (ours, reference))
            again = judge.dynamics(state, inputs, pin.Convention.WORLD)
            own = np.linalg.norm(a_ref - [again[name] for name in reference]) / np.linalg.norm(a_ref)
            within(
                f"{claim}: Pinocchio in body axes against itself in world axes",
                own,
                tolerance,
                "the judge's own round-off",
            )
            within(claim, np.linalg.norm(a - a_ref) / np.linalg.norm(a_ref), tolerance, reason)


@pytest.mark.parametrize("seed", range(40))
def test_forward_dynamics_agrees_when_masses_span_one_decade(seed, build, within):
    rng = np.random.default_rng(1000 + seed)
    spec = random_tree(
        rng,
        n_joints=5 + (55 * seed) // 39,
        decades=1,
        ports=seed % 4,
        damping=seed % 2 == 1,
        gravity=seed % 3 == 1,
        rotors=seed % 5 == 2,
    )
    compare(
        spec,
        rng,
        build,
        within,
        "forward dynamics, trees of 5 to 60 joints, masses within one decade",
        1e-12,
        "round-off of two O(n) recursions",
    )


@pytest.mark.parametrize("seed", range(20))
def test_forward_dynamics_agrees_when_masses_span_four_decades(seed, build, within):
    rng = np.random.default_rng(2000 + seed)
    spec = random_tree(
        rng,
        n_joints=5 + (55 * seed) // 19,
        decades=4,
        ports=seed % 3,
        damping=seed % 2 == 0,
        gravity=seed % 4 == 1,
        rotors=seed % 5 == 3,
    )
    compare(
        spec,
        rng,
        build,
        within,
        "forward dynamics, trees of 5 to 60 joints, masses within four decades",
        1e-10,
        "round-off, grown by the spread of the masses",
    )


@pytest.mark.parametrize("seed", range(6))
def test_forward_dynamics_agrees_with_several_trees_free_joints_and_anchored_roots(seed, build, within):
    rng = np.random.default_rng(3000 + seed)
    spec = random_tree(
        rng,
        n_joints=12,
        decades=1,
        roots=1 + seed % 3,
        free_joints=True,
        world=seed % 2 == 0,
        ports=2,
        gravity=True,
        damping=True,
        rotors=True,
    )
    compare(
        spec,
        rng,
        build,
        within,
        "forward dynamics, several trees, free joints, roots on the world",
        1e-12,
        "round-off of two O(n) recursions",
    )


@pytest.mark.parametrize("seed", range(4))
def test_an_evaluation_depends_on_its_state_alone(seed, build):
    """The same state gives the same bits, whatever was evaluated in between."""
    rng = np.random.default_rng(5000 + seed)
    spec = random_tree(
        rng, n_joints=14, decades=1, roots=1 + seed % 2, free_joints=True, ports=2, gravity=True, damping=True
    )
    points = [(random_state(rng, spec), random_inputs(rng, spec)) for _ in range(3)]
    with ModelExchange(build(spec, "--fmi-type", "me")) as me:
        first = [me.dynamics(*point) for point in points]
        again = [me.dynamics(*point) for point in reversed(points)][::-1]
    assert first == again
