"""Outputs at general states of random trees, compared with Pinocchio's kinematics, momenta and energies.

Vectors are compared in the norm, attitudes as rotations (q and −q are equal), all relative to their
own magnitude, or to one SI unit if they are smaller (frames on one body do not move relative to
each other). The bound 1e-12 is round-off over a chain of some tens of frames.
"""

import numpy as np
import pytest

from fmu import FORMULATIONS, ModelExchange
from trees import Judge, random_inputs, random_state, random_tree

BOUND, REASON = 1e-12, "round-off along the chains"


def difference(name, ours, reference):
    """Returns the relative difference in the norm; for a quaternion the sine of half the angle
    between the attitudes."""
    if name.endswith(".q"):
        across = [
            np.cross(ours[1:], reference[1:]) + ours[1:] * reference[0] - reference[1:] * ours[0],
            [np.linalg.norm(ours) - 1.0],
        ]
        return np.linalg.norm(np.concatenate(across))
    return np.linalg.norm(ours - reference) / max(np.linalg.norm(reference), 1.0)


def grouped(names):
    """Groups components by vector: `{"tip.r": ["tip.r[1]", …]}`."""
    groups = {}
    for name in names:
        groups.setdefault(name.partition("[")[0], []).append(name)
    return groups


@pytest.mark.parametrize("seed", range(8))
def test_outputs_agree_with_pinocchio(seed, build, within):
    rng = np.random.default_rng(4000 + seed)
    spec = random_tree(
        rng,
        n_joints=6 + 4 * seed,
        decades=1,
        roots=1 + seed % 2,
        free_joints=True,
        world=seed % 3 == 2,
        ports=2,
        gravity=seed % 2 == 1,
        damping=True,
        rotors=seed % 2 == 1,
        measures=3,
    )
    spec["output"] = {"bodies": True, "diagnostics": True}
    archive = build(spec, "--fmi-type", "me")
    judge = Judge(spec)
    with ModelExchange(archive) as me:
        for _ in range(2):
            state, inputs = random_state(rng, spec) | {"system.work": 0.0}, random_inputs(rng, spec)
            me.dynamics(state, inputs)
            reference = judge.outputs(state, inputs)
            reference["system.energy"] = reference["system.kinetic_energy"] + reference["system.potential_energy"]
            numbers = dict(zip(archive.outputs(), me.read(archive.outputs())))
            for group, names in grouped(reference).items():
                ours, expected = (np.array([table[name] for name in names]) for table in (numbers, reference))
                kind = group.partition(".")[2] if not group.startswith("system") else group
                within(f"outputs against Pinocchio: {kind}", difference(group, ours, expected), BOUND, REASON)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("seed", range(6))
def test_reactions_agree_with_pinocchio(seed, formulation, build, within):
    """Reactions of all joints in every formulation, and the accelerations of the bases; compared in
    the norm over all joints."""
    rng = np.random.default_rng(6000 + seed)
    spec = random_tree(
        rng,
        n_joints=6 + 5 * seed,
        decades=1,
        roots=1 + seed % 2,
        free_joints=True,
        world=seed % 3 == 2,
        ports=2,
        gravity=seed % 2 == 1,
        damping=True,
        rotors=seed % 2 == 1,
    )
    spec["formulation"] = formulation
    spec["output"] = {"bodies": False, "diagnostics": False, "reactions": True}
    state, inputs = random_state(rng, spec), random_inputs(rng, spec)
    archive, judge = build(spec, "--fmi-type", "me"), Judge(spec)
    start = {"[".join([f"{name.partition('[')[0]}_start", *name.split("[")[1:]]): value for name, value in state.items()}
    with ModelExchange(archive, start=start) as me:
        me.set(inputs)
        expected = judge.reactions(state, inputs)
        accelerations = {name: value for name, value in judge.outputs(state, inputs).items() if ".a_body" in name}
        for what, reference in (("reactions", expected), ("accelerations of bases", accelerations)):
            if reference:
                ours, numbers = me.read([*reference]), np.array([*reference.values()])
                off = np.linalg.norm(ours - numbers) / np.linalg.norm(numbers)
                within(f"{what} against Pinocchio, {formulation}", off, 1e-11, "round-off of two algorithms")
