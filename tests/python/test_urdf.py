"""`grapple import`: the FMU of an imported robot compared with Pinocchio's own reader of the same URDF file.

Differences are relative in the norm over all rates, at random attitudes, angles, rates and torques,
with gravity. Accelerations depend on motions, loads and inertias, the inverse of the mass matrix on
the inertias alone.
"""

import re
from pathlib import Path

import airo_models
import fmpy
import numpy as np
import pinocchio as pin
import pytest

from fmu import ModelExchange, grapple
from robots import Robot, difference, disagreement, free_body, imported, inputs, mimicking, shapes, state

OURS = Path(__file__).parent / "urdf"
ROBOTS = {
    "branched_arm": OURS / "branched_arm.urdf",
    "chaser": OURS / "chaser.urdf",
    "gantry": OURS / "gantry.urdf",
    "ur3e": Path(airo_models.get_urdf_path("ur3e")),
    "ur5e": Path(airo_models.get_urdf_path("ur5e")),
}
ROUND_OFF = "round-off of two O(n) recursions, of masses within three decades"


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", ["branched_arm", "chaser", "ur3e", "ur5e"])
def test_an_imported_robot_moves_as_pinocchio_reads_it(name, base, tmp_path, build, within):
    spec, _ = imported(ROBOTS[name], tmp_path, "--base", base, coupled=False)
    archive = build(spec, "--fmi-type", "me")
    body = free_body(archive) if base == "floating" else None
    accelerations, inverse_mass, itself = disagreement(ROBOTS[name], archive, np.random.default_rng(60), body, states=10)
    within("URDF: Pinocchio in body axes against itself in world axes", itself, 1e-10, "the judge's own round-off")
    within("URDF: accelerations against Pinocchio's own reader", accelerations, 1e-10, ROUND_OFF)
    within("URDF: inverse mass matrix against Pinocchio's own reader", inverse_mass, 1e-10, ROUND_OFF)


def test_a_joint_that_mimics_another_moves_as_in_reduced_coordinates(tmp_path, build, within):
    """With `v = G v_r` the reduced accelerations are those of `Gᵀ M G` under the generalised forces
    `Gᵀ M a`, with Pinocchio's mass matrix and accelerations `a` without the coupling."""
    spec, _ = imported(ROBOTS["branched_arm"], tmp_path)
    archive = build(spec, "--fmi-type", "me")
    robot, rng = Robot(ROBOTS["branched_arm"], archive), np.random.default_rng(62)
    with ModelExchange(archive) as me:
        for _ in range(10):
            now, torques = state(rng, archive), inputs(rng, archive)
            now |= {"tail.q": -0.5 * now["shoulder.q"] + 0.1, "tail.qd": -0.5 * now["shoulder.qd"]}
            free, inverse = robot.dynamics(now, torques), robot.inverse_mass_matrix(now)
            joints = list(inverse)
            M = np.linalg.inv([list(row.values()) for row in inverse.values()])
            G = np.delete(np.eye(len(joints)), joints.index("tail"), axis=1)
            G[joints.index("tail")] = -0.5 * G[joints.index("shoulder")]
            a = np.array([free[f"der({joint}.qd)"] for joint in joints])
            reduced = G @ np.linalg.solve(G.T @ M @ G, G.T @ M @ a)
            reference = {f"der({joint}.qd)": rate for joint, rate in zip(joints, reduced)}
            off = difference(me.dynamics(now, torques), reference)
            within("URDF: accelerations with a mimic joint against Pinocchio's mass matrix, reduced", off, 1e-10, ROUND_OFF)


def test_robot_on_a_link_named_world_agrees_with_pinocchio(tmp_path, build, within):
    spec, _ = imported(ROBOTS["gantry"], tmp_path)
    archive = build(spec, "--fmi-type", "me")
    accelerations, inverse_mass, _ = disagreement(ROBOTS["gantry"], archive, np.random.default_rng(61), states=10)
    within("URDF: accelerations against Pinocchio's own reader", accelerations, 1e-10, ROUND_OFF)
    within("URDF: inverse mass matrix against Pinocchio's own reader", inverse_mass, 1e-10, ROUND_OFF)


def test_robot_detached_from_a_link_named_world_agrees_with_pinocchio(tmp_path, build, within):
    """With a floating base the column, cut loose from the link `world`, becomes the free body and
    carries the runway; Pinocchio floats the link `world`, to which the column is fixed."""
    text = ROBOTS["gantry"].read_text()
    on_the_column = text.replace('<parent link="world"/>\n    <child link="runway_frame"/>', '<parent link="column"/>\n    <child link="runway_frame"/>')
    assert on_the_column != text
    urdf = tmp_path / "floating_gantry.urdf"
    urdf.write_text(on_the_column)
    spec, _ = imported(urdf, tmp_path, "--base", "floating")
    archive = build(spec, "--fmi-type", "me")
    accelerations, inverse_mass, _ = disagreement(urdf, archive, np.random.default_rng(63), "column", states=10)
    within("URDF: accelerations against Pinocchio's own reader", accelerations, 1e-10, ROUND_OFF)
    within("URDF: inverse mass matrix against Pinocchio's own reader", inverse_mass, 1e-10, ROUND_OFF)
    with ModelExchange(archive) as me:
        assert np.allclose(me.vector("column.r"), [1.5, -0.5, 0.2], rtol=0, atol=1e-15), "it starts where it stood"


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", ["branched_arm", "chaser", "ur5e"])
def test_bodies_merged_over_fixed_joints_agree_with_separate_bodies(name, base, tmp_path, build, within):
    """Links on fixed joints are merged by Steiner's theorem; the same links as separate bodies on
    fixed joints have the same accelerations."""
    rng = np.random.default_rng(62)
    specs = [imported(ROBOTS[name], tmp_path, "--base", base, *more)[0] for more in ([], ["--keep-fixed"])]
    lumped, kept = (build(spec, "--fmi-type", "me") for spec in specs)
    assert lumped.states == kept.states
    bodies = [spec.read_text().count("[body.") for spec in specs]
    # The UR's only fixed joint between links is that of its base link, which has no mass.
    assert bodies[0] < bodies[1] or name == "ur5e", "the links on fixed joints are bodies of their own"
    with ModelExchange(lumped) as a, ModelExchange(kept) as b:
        for _ in range(10):
            point = state(rng, lumped), inputs(rng, lumped)
            reference = b.dynamics(*point)
            rates = {name: value for name, value in reference.items() if re.search(r"\.(qd|[vw]\[\d\])\)$", name)}
            within(
                "URDF: lumped bodies against the same on fixed joints",
                difference(a.dynamics(*point), rates),
                1e-12,
                "round-off of the same recursion over more bodies",
            )


def test_position_of_a_link_on_a_fixed_joint_agrees_with_pinocchio(tmp_path, build, within):
    """Positions and attitudes through chains of fixed joints."""
    urdf = ROBOTS["branched_arm"]
    spec, _ = imported(urdf, tmp_path)
    archive = build(spec, "--fmi-type", "me")
    model = pin.buildModelFromUrdf(str(urdf))
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    with ModelExchange(archive) as me:
        me.at(0.0, np.zeros(len(archive.states)))
        for link in ["plate", "housing", "motor", "tool0", "camera", "pointer"]:
            X = data.oMf[model.getFrameId(link, pin.BODY)]
            off = np.linalg.norm(me.vector(f"{link}.r") - X.translation)
            within("URDF: places of links on fixed joints, m", off, 1e-14, "round-off")
            w, x, y, z = me.vector(f"{link}.q", 4)
            R = pin.Quaternion(w, x, y, z).toRotationMatrix()
            within("URDF: attitudes of links on fixed joints", np.linalg.norm(R - X.rotation), 1e-14, "round-off")


def test_reaction_of_a_public_arm_rotates_its_free_base(tmp_path):
    """From the URDF file of a public arm to a run of its FMU in FMPy."""
    grapple("import", ROBOTS["ur5e"], "--base", "floating", "-o", tmp_path / "ur5e.toml")
    grapple("build", tmp_path / "ur5e.toml", "-o", tmp_path / "ur5e.fmu")
    result = fmpy.simulate_fmu(
        str(tmp_path / "ur5e.fmu"),
        stop_time=1.0,
        input=np.array([(0.0, 0.01), (1.0, 0.01)], dtype=[("time", float), ("shoulder_pan_joint.tau", float)]),
        output=["shoulder_pan_joint.q", "base_link.q[4]", "system.angular_momentum[3]"],
    )[-1]
    # The base has 0.0072 kg·m² and the arm a thousand times that: nearly all of the relative
    # rotation ½ τ t²/I = 0.69 rad is the base's.
    base = 2 * np.arcsin(result["base_link.q[4]"])
    assert abs(result["shoulder_pan_joint.q"] - 0.69) < 0.02 and abs(base + 0.69) < 0.02
    assert abs(result["system.angular_momentum[3]"]) < 1e-9


def test_fingers_of_a_public_gripper_move_by_mimic(tmp_path, within):
    spec, _ = imported(Path(airo_models.get_urdf_path("robotiq_2f_85")), tmp_path)
    moved, off = mimicking(spec, tmp_path)
    assert moved > 0.1, "rad"
    within("URDF: a joint from the one that it mimics, rad", off, 1e-9, "tolerance of the integration")


VISUALS = """
<robot name="visuals">
  <material name="gold"><color rgba="1 0.8 0 1"/></material>
  <link name="base"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0.1 0.2 -0.3" rpy="0.4 -0.7 1.9"/><geometry><box size="1 2 3"/></geometry><material name="gold"/></visual>
    <visual><origin xyz="0 0.5 0"/><geometry><sphere radius="0.3"/></geometry></visual>
    <visual><geometry><mesh filename="package://parts/none.stl"/></geometry></visual></link>
  <link name="base_2"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.5" rpy="-0.2 0.1 0.3"/><geometry><cylinder radius="0.2" length="0.7"/></geometry></visual>
    <visual><geometry><capsule radius="0.2" length="0.7"/></geometry></visual></link>
  <link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><sphere radius="0.1"/></geometry></visual>
    <visual><origin xyz="0.3 0 0"/><geometry><mesh filename="package://parts/one.stl" scale="0.001 0.001 -0.001"/></geometry></visual></link>
  <joint name="weld" type="fixed"><parent link="base"/><child link="base_2"/><origin xyz="1 2 3" rpy="0.3 0.2 0.1"/></joint>
  <joint name="hinge" type="continuous"><parent link="base_2"/><child link="arm"/><origin xyz="0 0 1" rpy="1 0 0"/><axis xyz="0 0 1"/></joint>
</robot>"""
ONE = "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 10 0 0\nvertex 0 10 0\nendloop\nendfacet\nendsolid s\n"


def test_visuals_have_the_poses_that_pinocchio_reads(tmp_path, within):
    package = tmp_path / "packages" / "parts"
    package.mkdir(parents=True)
    (package / "one.stl").write_text(ONE)
    (tmp_path / "visuals.urdf").write_text(VISUALS)
    told = grapple("import", tmp_path / "visuals.urdf", "-o", tmp_path / "visuals.toml", "--package-dir", package.parent).stderr
    assert "<capsule> is not supported" in told and "meshes not found" in told and "package://parts/none.stl" in told
    assert (tmp_path / "visuals_meshes" / "parts" / "one.stl").read_text() == ONE
    # Pinocchio reads no file that is missing, and no capsule.
    (package / "none.stl").write_text(ONE)
    (tmp_path / "visuals.urdf").write_text(VISUALS.replace("<capsule", "<cylinder"))
    grapple("check", tmp_path / "visuals.toml")
    found = list(shapes(tmp_path / "visuals.toml"))
    bodies = [("base", "base"), ("base_2", "base"), ("base_2_2", "base"), ("arm", "arm"), ("arm_2", "arm")]
    assert [(name, body) for name, body, *_ in found] == bodies
    box, _, cylinder, sphere, mesh = (shape for _, _, shape, _ in found)
    assert box["size"] == [1, 2, 3] and box["colour"] == "#ffcc00"
    assert cylinder["radius"] == 0.2 and cylinder["length"] == 0.7 and sphere["radius"] == 0.1
    assert mesh["file"] == "visuals_meshes/parts/one.stl" and mesh["scale"] == [0.001, 0.001, -0.001]
    compare_visuals(tmp_path / "visuals.urdf", tmp_path / "visuals.toml", [str(package.parent)], {"base": 0, "base_2": 1, "base_2_2": 0, "arm": 0, "arm_2": 1}, within)


def compare_visuals(urdf, spec, folders, which, within):
    """Compares the poses of shapes with Pinocchio's; `which` is the number of a shape's visual."""
    model = pin.buildModelFromUrdf(str(urdf))
    visuals = pin.buildGeomFromUrdf(model, str(urdf), pin.GeometryType.VISUAL, None, folders)
    data, placed = model.createData(), visuals.createData()
    pin.updateGeometryPlacements(model, data, visuals, placed, pin.neutral(model))
    pin.updateFramePlacements(model, data)
    found = {}
    for name, body, _, X in shapes(spec):
        link = re.sub(r"_\d+$", "", name) if name not in which else re.sub(r"_2$", "", name)
        geometry = visuals.getGeometryId(f"{link}_{which.get(name, 0)}")
        reference = data.oMf[model.getFrameId(body, pin.BODY)].actInv(placed.oMg[geometry])
        found[name] = max(abs(X.translation - reference.translation).max(), abs(X.rotation - reference.rotation).max())
        within("URDF: poses of visuals", found[name], 1e-12, "round-off, of angles in degrees")
    return found


@pytest.mark.parametrize("name", ["ur3e", "ur5e"])
def test_visuals_of_a_public_arm_have_the_poses_that_pinocchio_reads(name, tmp_path, within):
    spec = tmp_path / f"{name}.toml"
    grapple("import", ROBOTS[name], "-o", spec)
    found = list(shapes(spec))
    assert len(found) == 7 and all(shape["type"] == "mesh" for _, _, shape, _ in found)
    assert len(compare_visuals(ROBOTS[name], spec, [str(ROBOTS[name].parent)], {}, within)) == 7
