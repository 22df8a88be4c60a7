"""Compares a probe in the cone of a drogue (docking.toml) with MuJoCo and Drake.

    pip install -r benches/docking/requirements.txt
    GRAPPLE=target/release/grapple python benches/docking/compare.py [--rounds 7]

MuJoCo and Drake have no shape that is a cone seen from inside: there the drogue is a ring of flat plates, whose inner faces
touch the cone. Drake's contact has the stiffness, dissipation and friction of grapple's; MuJoCo's has a time constant
instead. Steps are 2 ms, MuJoCo's default, and of grapple also 0.1 s. The reference is grapple at a tolerance of 1e-11.
Energies and momenta are computed here from positions and velocities, equally for all. grapple runs through the FMI, called
by compiled code (../host/host.c) that measures the processor time of its thread, and reads positions after each step.
MuJoCo makes all steps in one call, Drake too; the time is that of the process around it. Models are made before.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "host"))

from host import Archive, Host  # noqa: E402

STEP, LONG, END, AFTER = 0.002, 0.1, 10.0, 0.5  # s; the state is compared AFTER the first touch and at the END
SPEC = tomllib.loads((HERE / "docking.toml").read_text())
BODIES, JOINT, CONTACT = SPEC["body"], SPEC["joint"]["head_joint"], SPEC["contact"]["head"]
FUNNEL, RADIUS = CONTACT["shape_b"], CONTACT["shape_a"]["radius"]
TIP, MIDDLE = SPEC["frame"]["tip"]["origin"], SPEC["frame"]["drogue"]["origin"]
STIFFNESS = CONTACT["force"] / CONTACT["depth"]  # N/m


def text(numbers):
    return " ".join(repr(float(number)) for number in numbers)


def plates(count):
    """Returns centre (m, client's axes), attitude and half sizes (m) of the plates of a ring. Their inner faces touch the
    cone along its lines; sideways they end where the neighbours begin at the mouth, and overlap at the throat."""
    wide, narrow, length, thickness = (FUNNEL[key] for key in ("radius", "end_radius", "length", "thickness"))
    slope = np.arctan2(wide - narrow, length)
    half = np.array([0.5 * length / np.cos(slope), wide * np.tan(np.pi / count), 0.5 * thickness])
    # Along the axis −x of the client to the mouth: x along the plate, z outwards.
    tilt = Rotation.from_matrix(
        np.transpose([[-np.cos(slope), 0.0, np.sin(slope)], [0.0, -1.0, 0.0], [np.sin(slope), 0.0, np.cos(slope)]])
    )
    for angle in 2.0 * np.pi * np.arange(count) / count:
        turn = Rotation.from_rotvec([angle, 0.0, 0.0])
        centre = tilt.apply([0.0, 0.0, half[2]]) + [0.0, 0.0, 0.5 * (wide + narrow)]
        yield np.array(MIDDLE) + turn.apply(centre), turn * tilt, half


def summary(rows):
    """Returns energy (J) and momentum (N·s) at each row of position of the origin, quaternion, velocity of the origin
    (inertial axes) and angular velocity (body axes), for servicer, probe and client."""
    energy, momentum = 0.0, 0.0
    for k, body in enumerate(BODIES.values()):
        _, q, v, w = np.split(rows[:, 13 * k : 13 * k + 13], [3, 7, 10], axis=1)
        v = v + Rotation.from_quat(q, scalar_first=True).apply(np.cross(w, body.get("mass_centre", [0.0] * 3)))
        energy = energy + 0.5 * body["mass"] * (v**2).sum(axis=1) + 0.5 * (body["inertia"] * w**2).sum(axis=1)
        momentum = momentum + body["mass"] * v
    servicer, probe = (Rotation.from_quat(rows[:, 13 * k + 3 : 13 * k + 7], scalar_first=True) for k in (0, 1))
    angles = (servicer.inv() * probe).as_euler("YZX")[:, :2]
    return energy + 0.5 * JOINT["spring"]["stiffness"] * (angles**2).sum(axis=1), momentum


def head(rows):
    """Returns the sphere's centre in the drogue (m, client's axes), and its gap to the cone's inner surface (m)."""
    tip = rows[:, 13:16] + Rotation.from_quat(rows[:, 16:20], scalar_first=True).apply(TIP)
    d = Rotation.from_quat(rows[:, 29:33], scalar_first=True).inv().apply(tip - rows[:, 26:29]) - MIDDLE
    slope = (FUNNEL["radius"] - FUNNEL["end_radius"]) / FUNNEL["length"]
    wall = 0.5 * (FUNNEL["radius"] + FUNNEL["end_radius"]) - slope * d[:, 0]
    gap = (wall - np.hypot(d[:, 1], d[:, 2])) / np.hypot(1.0, slope) - RADIUS
    return d, gap


class Grapple:
    """grapple's model through the FMI."""

    names = [f"{body}.{name}[{i}]" for body in BODIES for name in ("r", "q", "v", "w") for i in range(1, 4 + (name == "q"))]
    places = [name for name in names if ".r[" in name]

    def __init__(self, archive, host, step, tolerance):
        self.archive, self.host, self.step, self.tolerance = archive, host, step, tolerance
        self.every, self.is_timed = round(step / STEP), True

    def run(self):
        """Returns the processor time of the run, s."""
        return self.host.run(self.archive, self.step, round(END / self.step), self.places, self.tolerance)[0]

    def record(self):
        """Returns the rows of `summary` after each `every` steps of 2 ms."""
        return self.host.run(self.archive, self.step, round(END / self.step), self.names, self.tolerance)[1]


class MuJoCo:
    """MuJoCo's model."""

    step, every, is_timed = STEP, 1, True

    def __init__(self, count, **options):
        solref = options.pop("solref", "0.02 1")
        surface = f'friction="{CONTACT["mu"]} 0 0" condim="3" solref="{solref}"'
        ring = "".join(
            f'<geom type="box" pos="{text(at)}" quat="{text(turn.as_quat(scalar_first=True))}" size="{text(half)}" {surface}/>'
            for at, turn, half in plates(count)
        )
        inertial = {
            name: f'<inertial pos="{text(body.get("mass_centre", [0.0] * 3))}" mass="{body["mass"]}" '
            f'diaginertia="{text(body["inertia"])}"/>'
            for name, body in BODIES.items()
        }
        joints = "".join(
            f'<joint axis="{text(JOINT[axis])}" stiffness="{JOINT["spring"]["stiffness"]}" damping="{JOINT["damping"]}"/>'
            for axis in ("axis", "axis2")
        )
        sphere = f'<geom type="sphere" pos="{text(TIP)}" size="{RADIUS}" {surface}/>'
        client = BODIES["client"]["start"]
        options = " ".join(f'{key}="{value}"' for key, value in options.items())
        self.model = mujoco.MjModel.from_xml_string(f"""<mujoco><option timestep="{STEP}" gravity="0 0 0" {options}/><worldbody>
            <body name="servicer"><freejoint/>{inertial["servicer"]}
                <body name="probe" pos="{text(JOINT["origin"])}">{joints}{inertial["probe"]}{sphere}</body></body>
            <body name="client" pos="{text(client["position"])}"><freejoint/>{inertial["client"]}{ring}</body>
            </worldbody></mujoco>""")

    def start(self):
        data = mujoco.MjData(self.model)
        data.qvel[:3] = BODIES["servicer"]["start"]["velocity"]
        data.qvel[-3:] = BODIES["client"]["start"]["angular_velocity"]
        mujoco.mj_forward(self.model, data)
        return data

    def run(self):
        data, begin = self.start(), time.process_time()
        mujoco.mj_step(self.model, data, round(END / STEP))
        return time.process_time() - begin

    def record(self):
        data, rows, twist = self.start(), [], np.zeros(6)
        for _ in range(round(END / STEP)):
            mujoco.mj_step(self.model, data)
            mujoco.mj_kinematics(self.model, data)
            mujoco.mj_comPos(self.model, data)
            mujoco.mj_comVel(self.model, data)
            row = []
            for body in range(1, 4):
                mujoco.mj_objectVelocity(self.model, data, mujoco.mjtObj.mjOBJ_XBODY, body, twist, 0)
                turned = data.xmat[body].reshape(3, 3).T @ twist[:3]
                row += [*data.xpos[body], *data.xquat[body], *twist[3:], *turned]
            rows.append(row)
        return np.array(rows)


class Drake:
    """Drake's model: discrete, with point contact. The universal joint is two revolute ones, since those have springs."""

    def __init__(self, count, approximation, step=STEP):
        from pydrake.geometry import AddContactMaterial, Box, ProximityProperties, Sphere
        from pydrake.math import RigidTransform, RotationMatrix
        from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, ContactModel, CoulombFriction
        from pydrake.multibody.plant import DiscreteContactApproximation
        from pydrake.multibody.tree import FixedOffsetFrame, RevoluteJoint, RevoluteSpring, RotationalInertia, SpatialInertia
        from pydrake.systems.analysis import Simulator
        from pydrake.systems.framework import DiagramBuilder

        builder = DiagramBuilder()
        plant, _ = AddMultibodyPlantSceneGraph(builder, step)
        plant.set_discrete_contact_approximation(getattr(DiscreteContactApproximation, approximation))
        plant.set_contact_model(ContactModel.kPoint)
        plant.mutable_gravity_field().set_gravity_vector([0.0] * 3)
        self.bodies = []
        for name, body in BODIES.items():
            inertia = SpatialInertia.MakeFromCentralInertia(
                body["mass"], body.get("mass_centre", [0.0] * 3), RotationalInertia(*body["inertia"])
            )
            self.bodies.append(plant.AddRigidBody(name, inertia))
        servicer, probe, client = self.bodies
        cross = plant.AddRigidBody("cross", SpatialInertia.Zero())
        for parent, child, axis, origin in ((servicer, cross, "axis", JOINT["origin"]), (cross, probe, "axis2", [0.0] * 3)):
            carrier = plant.AddFrame(FixedOffsetFrame(f"{axis} carrier", parent.body_frame(), RigidTransform(origin)))
            joint = plant.AddJoint(RevoluteJoint(axis, carrier, child.body_frame(), JOINT[axis], damping=JOINT["damping"]))
            plant.AddForceElement(RevoluteSpring(joint, 0.0, JOINT["spring"]["stiffness"]))
        surface, friction = ProximityProperties(), CoulombFriction(CONTACT["mu"], CONTACT["mu"])
        # The stiffness is that of two surfaces in series.
        AddContactMaterial(CONTACT["dissipation"], 2.0 * STIFFNESS, friction, surface)
        plant.RegisterCollisionGeometry(probe, RigidTransform(TIP), Sphere(RADIUS), "head", surface)
        for k, (at, turn, half) in enumerate(plates(count)):
            pose = RigidTransform(RotationMatrix(turn.as_matrix()), at)
            plant.RegisterCollisionGeometry(client, pose, Box(*(2.0 * half)), f"plate_{k}", surface)
        plant.Finalize()
        self.plant, self.diagram, self.Simulator = plant, builder.Build(), Simulator
        self.step, self.every, self.is_timed = step, 1, step == STEP
        self.at = RigidTransform(BODIES["client"]["start"]["position"])

    def start(self):
        from pydrake.multibody.math import SpatialVelocity

        simulator = self.Simulator(self.diagram)
        context = self.plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
        servicer, _, client = self.bodies
        speed, turn = BODIES["servicer"]["start"]["velocity"], BODIES["client"]["start"]["angular_velocity"]
        self.plant.SetFreeBodySpatialVelocity(context, servicer, SpatialVelocity([0.0] * 3, speed))
        self.plant.SetFreeBodyPose(context, client, self.at)
        self.plant.SetFreeBodySpatialVelocity(context, client, SpatialVelocity(turn, [0.0] * 3))
        simulator.Initialize()
        return simulator, context

    def run(self):
        simulator, _ = self.start()
        begin = time.process_time()
        simulator.AdvanceTo(END)
        return time.process_time() - begin

    def record(self):
        simulator, context = self.start()
        rows = []
        for k in range(round(END / STEP)):
            simulator.AdvanceTo((k + 1) * STEP)
            row = []
            for body in self.bodies:
                pose = self.plant.EvalBodyPoseInWorld(context, body)
                twist = self.plant.EvalBodySpatialVelocityInWorld(context, body)
                turned = pose.rotation().inverse().multiply(twist.rotational())
                row += [*pose.translation(), *pose.rotation().ToQuaternion().wxyz(), *twist.translational(), *turned]
            rows.append(row)
        return np.array(rows)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--without-drake", action="store_true")
    options = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rivals, reference = models(Path(folder), not options.without_drake)
        times = {key: [] for key in rivals}
        for _ in range(options.rounds):
            for key, rival in rivals.items():
                if rival.is_timed:
                    times[key].append(rival.run())
        print_table(rivals, times, reference.record())


def models(folder, with_drake):
    """Returns the models by the name of their row, and the reference."""
    host = Host(folder)

    def grapple(step, tolerance, method="auto"):
        path = folder / f"{method}.fmu"
        if not path.exists():
            solver = {"auto": ""}.get(method, f'[solver]\nmethod = "{method}"\nstep = {STEP}\n')
            (folder / f"{method}.toml").write_text((HERE / "docking.toml").read_text() + solver)
            build = [os.environ["GRAPPLE"], "build", folder / f"{method}.toml", "-o", path]
            subprocess.run(build, check=True, capture_output=True)
        return Grapple(Archive(path, folder / f"{method}_{step}_{tolerance}"), host, step, tolerance)

    rivals = {f"grapple, `{method}`, 2 ms": grapple(STEP, None, method) for method in ("linearly_implicit", "rk4")}
    for step, tolerance in ((STEP, 1e-4), (LONG, 1e-4), (LONG, 1e-6)):
        rivals[f"grapple, {1e3 * step:.0f} ms, tolerance {tolerance:.0e}"] = grapple(step, tolerance)
    for count in (16, 64):
        rivals[f"MuJoCo, {count} plates"] = MuJoCo(count, cone="elliptic")
        stiff = dict(integrator="implicitfast", solref="0.004 1")
        rivals[f"MuJoCo, {count} plates, `implicitfast`, 4 ms"] = MuJoCo(count, cone="elliptic", **stiff)
    for count, approximation in ((16, "kTamsi"), (64, "kTamsi"), (64, "kLagged"), (64, "kSap")) if with_drake else ():
        rivals[f"Drake, {count} plates, `{approximation}`"] = Drake(count, approximation)
    if with_drake:
        rivals["Drake, 256 plates, `kLagged`, steps of 0.2 ms"] = Drake(256, "kLagged", 2e-4)
    return rivals, grapple(STEP, 1e-11)


def print_table(rivals, times, reference):
    """Prints the times of the runs, s, and the differences from the rows of the reference, which has steps of 2 ms."""
    gap, start = head(reference)[1], reference[0, 33:36]
    k = np.argmax(gap < 0.0)
    touch = STEP * (k + gap[k - 1] / (gap[k - 1] - gap[k]))
    energy, momentum = summary(reference)
    soon = int(np.ceil((touch + AFTER) / LONG) * LONG / STEP + 0.5)
    lost = 1e3 * (energy[0] - energy[-1])
    print(
        f"reference: first touch {touch:.5f} s, greatest depth {-1e3 * gap.min():.4f} mm, energy lost {lost:.4f} mJ of "
        f"{1e3 * energy[0]:.1f} mJ; states compared at {soon * STEP:.1f} s and {END:.0f} s\n"
    )
    columns = ["µs per step", f"ms for {END:.0f} s", "touch, s", "depth, mm"]
    columns += [f"head at {soon * STEP:.1f} s, mm", f"at {END:.0f} s, mm"]
    columns += [f"client at {END:.0f} s, mm/s", "energy lost, mJ", "momentum, N·s"]
    print(f"| | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}")
    for key, rival in rivals.items():
        rows, every = rival.record(), rival.every
        energy, momentum = summary(rows)
        (at, gap), (right, _) = head(rows), head(reference)
        off = [1e3 * np.linalg.norm(at[round(n / every) - 1] - right[n - 1]) for n in (soon, len(reference))]
        speed = 1e3 * np.linalg.norm(rows[-1, 33:36] - reference[-1, 33:36])
        moved = every * STEP * (1 + np.argmax(np.linalg.norm(rows[:, 33:36] - start, axis=1) > 1e-9))
        cost = "| | "
        if times[key]:
            used = statistics.median(times[key])
            cost = f"| {1e6 * used * rival.step / END:.2f} | {1e3 * used:.1f} "
        print(
            f"| {key} {cost}| {moved:.3f} | {-1e3 * gap.min():.3f} | {off[0]:.2g} | {off[1]:.2g} | {speed:.2g} "
            f"| {1e3 * (energy[0] - energy[-1]):.2f} | {np.abs(momentum - momentum[0]).max():.1e} |"
        )


if __name__ == "__main__":
    main()
