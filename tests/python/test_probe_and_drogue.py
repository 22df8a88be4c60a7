"""A probe in the cone of a drogue, compared with the independent planar solution of planar_docking.py.

The scene is that of examples/contacts/probe_drogue.toml, moved in a plane that is inclined to all axes: its contact with
impacts, with and without the arm, and as it is, with a contact force and the latch.
"""

import copy
import tomllib
from pathlib import Path

import numpy as np
import pytest
from planar_docking import Chain, Scene, restitution, stronge
from scipy.spatial.transform import Rotation

from fmu import FORMULATIONS, CoSimulation

EXAMPLE = tomllib.loads((Path(__file__).resolve().parents[2] / "examples/contacts/probe_drogue.toml").read_text())
PLANE = Rotation.from_euler("xyz", [40.0, -65.0, 110.0], degrees=True)  # axes of the plane to inertial axes
LAWS = dict(restitution=restitution, stronge=stronge)


def docking(probe, offset, turn, arm=True, **contact):
    """Returns the spec and its planar scene. `probe` has the velocity of the probe's spacecraft along x and y (m/s) and its
    rate of rotation (rad/s), `offset` is that of the client along y, m, and `turn` its rate of rotation."""
    spec = copy.deepcopy(EXAMPLE)
    bodies, head = spec["body"], spec["contact"]["head"]
    del spec["measure"], spec["experiment"]
    if contact:
        head.clear()
        head |= {key: EXAMPLE["contact"]["head"][key] for key in ("a", "b", "shape_a", "shape_b")} | contact
        head["shape_b"] = dict(head["shape_b"], end_radius=0.02)  # the sphere does not pass through it
        del spec["contact"]["latch"], spec["signal"], spec["frame"]["throat"], spec["joint"]["head_joint"]["damping"]
    joint, link = spec["joint"]["head_joint"], bodies["probe"]
    if arm:
        masses, inertias = zip(*((bodies[name]["mass"], bodies[name]["inertia"][2]) for name in ("servicer", "probe")))
        reaches, centres = [joint["origin"][0], spec["frame"]["tip"]["origin"][0]], [0.0, link["mass_centre"][0]]
        chain = Chain(masses, inertias, reaches, centres, joint["spring"]["stiffness"], joint.get("damping", 0.0))
        first = "servicer"
    else:
        first, mass = "probe", link["mass"]
        bodies["probe"] = dict(mass=mass, inertia=[0.4 * mass * head["shape_a"]["radius"] ** 2] * 3)
        spec["frame"]["tip"]["origin"] = [0.0, 0.0, 0.0]
        del bodies["servicer"], spec["joint"]
        chain = Chain([mass], [bodies["probe"]["inertia"][2]], [0.0], [0.0])
    distance = 2.6 if arm else 0.9
    for name, place, motion in ((first, [0.0, 0.0], probe), ("client", [distance, offset], [0.0, 0.0, turn])):
        bodies[name]["start"] = dict(
            attitude=PLANE.as_quat(scalar_first=True).tolist(),
            position=PLANE.apply([*place, 0.0]).tolist(),
            velocity=PLANE.apply([*motion[:2], 0.0]).tolist(),
            angular_velocity=[0.0, 0.0, motion[2]],
        )
    client = Chain([bodies["client"]["mass"]], [bodies["client"]["inertia"][2]], [0.0], [0.0])
    law = LAWS[contact["law"]](contact["e"], contact["mu"]) if contact else None
    middle = spec["frame"]["drogue"]["origin"][0]
    scene = Scene(chain, client, head["shape_b"], middle, head["shape_a"]["radius"], law, None if contact else head)
    rest = [0.0] * (len(chain.masses) - 1)
    start = np.concatenate([[0.0, 0.0, 0.0], rest, [distance, offset, 0.0], probe, rest, [0.0, 0.0, turn]])
    return spec, scene, start


def state(instance, scene, y):
    """Returns the state of the planar scene from outputs of the model, with angles in the turn of those of `y`."""
    arm, values = len(scene.probe.masses) > 1, []
    for which in ("r", "v"):
        for name in ("servicer" if arm else "probe", "client"):
            values += [*in_plane(instance.vector(f"{name}.{which}"))]
            if which == "v":
                values.append(instance.get(f"{name}.w[3]"))
            else:
                attitude = PLANE.inv() * Rotation.from_quat(instance.vector(f"{name}.q", 4), scalar_first=True)
                angle, near = attitude.as_rotvec()[2], y[len(values)]
                values.append(angle + 2.0 * np.pi * np.round((near - angle) / (2.0 * np.pi)))
            if name == "servicer":
                values.append(instance.get("head_joint.q[2]" if which == "r" else "head_joint.qd[2]"))
    return np.array(values)


def in_plane(vector):
    vector = PLANE.inv().apply(vector)
    assert abs(vector[2]) < 1e-9, "the motion stays in its plane"
    return vector[:2]


def compare_impacts(instance, scene, start, end, within, wanted):
    """Compares all impacts until a time, and the states at the times halfway between them."""
    found = scene.impacts(start, end)
    assert len(found) == wanted
    times, speeds, states = [], [], []
    for k, (t, after, u) in enumerate(found):
        instance.to(0.5 * (t + (found[k + 1][0] if k + 1 < len(found) else end)))
        assert instance.get("head.count") == k + 1
        _, y, _ = scene.fly(after, (t, instance.t))
        times.append(abs(instance.get("head.time") - t))
        speeds.append(np.abs(in_plane(instance.vector("head.velocity_after")) - u).max())
        states.append(np.abs(state(instance, scene, y) - y).max())
    instance.to(end)
    assert instance.get("head.count") == len(found)
    reason = "round-off of some 1e-15, which each reflection between converging walls magnifies"
    within("times of impacts of probe and drogue, s", max(times), 1e-9, reason)
    within("relative velocities after impacts of probe and drogue, m/s", max(speeds), 1e-9, reason)
    within("states between impacts of probe and drogue", max(states), 1e-9, reason)


# Motion, restitution, end (s), and the number of impacts by either law.
BOUNCES = {
    "ball": (dict(probe=[0.3, 0.06, -8.0], offset=0.02, turn=0.05, arm=False), 0.7, 10.0, (2, 2)),
    "ball spins": (dict(probe=[0.2, -0.1, 30.0], offset=-0.2, turn=-0.03, arm=False), 0.9, 10.0, (2, 2)),
    "arm": (dict(probe=[0.2, 0.0, 0.0], offset=0.1, turn=0.0), 0.9, 1.985, (22, 60)),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("case", BOUNCES)
def test_impacts_are_those_of_a_planar_solution(case, law, build, within):
    motion, e, end, counts = BOUNCES[case]
    spec, scene, start = docking(**motion, law=law, e=e, mu=0.2)
    with CoSimulation(build(spec), tolerance=1e-12) as instance:
        compare_impacts(instance, scene, start, end, within, counts[list(LAWS).index(law)])


@pytest.mark.parametrize("formulation", FORMULATIONS[1:])
def test_impacts_are_the_same_in_every_formulation(formulation, build, within):
    spec, scene, start = docking([0.2, 0.0, 0.0], 0.1, 0.0, law="stronge", e=0.9, mu=0.2)
    with CoSimulation(build(spec | dict(formulation=formulation)), tolerance=1e-12) as instance:
        compare_impacts(instance, scene, start, 1.91, within, 4)


def test_contact_and_latch_are_those_of_a_planar_solution(build, within):
    """The example as it is: the sphere slides down the cone by a contact force, and is latched at the throat."""
    spec, scene, y = docking([0.08, 0.0, 0.0], 0.12, 0.006)
    with CoSimulation(build(spec), {"latch.capture": 1.0}, tolerance=1e-12) as instance:
        t, y, latched = scene.fly(y, (0.0, 20.0), [lambda _, y: 0.5 * scene.funnel["length"] - scene.place(y)[0]])
        assert latched == 0 and abs(scene.place(y)[1]) < spec["contact"]["latch"]["radius_b"]
        instance.to(t + 2.0)
        y = scene.stay(scene.captured(y), (t, t + 2.0))
        reason = "tolerances 1e-12 and 1e-13 of both, over two seconds of stiff contact"
        within("time of the latch of probe and drogue, s", abs(instance.get("latch.time") - t), 1e-9, reason)
        within("state of the latched probe", np.abs(state(instance, scene, y) - y).max(), 1e-9, reason)
