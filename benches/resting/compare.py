"""Compares resting contact with MuJoCo and Drake: a box that lands flat, slides and stops (slide.toml), and three boxes
at rest on each other (stack.toml).

    pip install -r benches/resting/requirements.txt
    GRAPPLE=target/release/grapple python benches/resting/compare.py [--rounds 7]

Each run has steps of 2 ms, MuJoCo's default, and of grapple also of 50 ms: its error does not depend on the step. The
positions at the end are compared with the closed form: the box lands
after t = sqrt(2 h/g) at w = g t, loses μ w of its speed v in the impact, and stops after v t + (v - μ w)²/(2 μ g). Drift
is the largest displacement of a box between 2 s and the end. grapple runs through the FMI, called by compiled code
(../host/host.c) that measures the processor time of its thread, and reads the positions after each step. MuJoCo makes
all steps in one call, Drake too; the time is that of the process around it. Models are made before.
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

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "host"))

from host import Archive, Host  # noqa: E402

STEP, LONG, END, SETTLED = 0.002, 0.05, 10.0, 2.0  # s
GRAVITY, MU, HEIGHT, SPEED = 9.81, 0.5, 0.02, 1.0  # of slide.toml
SIZE = np.array([0.4, 0.3, 0.2])
MODULUS, DISSIPATION = 1e8, 50.0  # of Drake's hydroelastic contact, Pa and s/m


def text(numbers):
    return " ".join(repr(float(number)) for number in numbers)


class Grapple:
    """A run of the FMU of a spec in steps of `step` s."""

    def __init__(self, name, spec, folder, host, method, step):
        written = (HERE / f"{name}.toml").read_text() + f'\n[solver]\nmethod = "{method}"\n'
        source, self.archive = folder / f"{name}_{method}_{step}.toml", folder / f"{name}_{method}_{step}.fmu"
        source.write_text(written)
        subprocess.run([os.environ["GRAPPLE"], "build", source, "-o", self.archive], check=True, capture_output=True)
        self.archive, self.host = Archive(self.archive, folder / f"{name}_{method}_{step}"), host
        self.step = step
        self.names = [f"{body}.r[{i}]" for body in spec["body"] for i in (1, 2, 3)]

    def run(self):
        """Returns the processor time of the run, s, and the positions at 2 s and at the end, m."""
        used, rows = self.host.run(self.archive, self.step, round(END / self.step), self.names)
        return used, *(rows[round(t / self.step) - 1].reshape(-1, 3) for t in (SETTLED, END))


class MuJoCo:
    """MuJoCo's model of the same boxes."""

    step = STEP

    def __init__(self, spec, **options):
        bodies = ""
        for name, body in spec["body"].items():
            start = body["start"]
            geometry = f'<geom type="box" size="{text(SIZE / 2)}" friction="{MU} 0 0"/>'
            inertial = f'<inertial pos="0 0 0" mass="{body["mass"]}" diaginertia="{text(body["inertia"])}"/>'
            bodies += f'<body name="{name}" pos="{text(start["position"])}"><freejoint/>{inertial}{geometry}</body>'
        options = " ".join(f'{key}="{value}"' for key, value in options.items())
        plane = f'<geom type="plane" size="0 0 1" friction="{MU} 0 0"/>'
        option = f'<option timestep="{STEP}" gravity="0 0 {-GRAVITY}" {options}/>'
        self.model = mujoco.MjModel.from_xml_string(f"<mujoco>{option}<worldbody>{plane}{bodies}</worldbody></mujoco>")
        self.speeds = [body["start"].get("velocity", [0.0] * 3) for body in spec["body"].values()]

    def run(self):
        data = mujoco.MjData(self.model)
        for k, speed in enumerate(self.speeds):
            data.qvel[6 * k : 6 * k + 3] = speed
        used, positions, done = 0.0, [], 0.0
        for t in (SETTLED, END):
            begin = time.process_time()
            mujoco.mj_step(self.model, data, round((t - done) / STEP))
            used += time.process_time() - begin
            done = t
            positions.append(data.qpos.reshape(-1, 7)[:, :3].copy())
        return used, *positions


class Drake:
    """Drake's model of the same boxes: discrete, with hydroelastic contact. Its point contact has one point for each
    pair, on which a stack of boxes does not stand."""

    step = STEP

    def __init__(self, spec, approximation):
        from pydrake.geometry import AddCompliantHydroelasticProperties, AddContactMaterial, AddRigidHydroelasticProperties
        from pydrake.geometry import Box, HalfSpace, ProximityProperties
        from pydrake.math import RigidTransform
        from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction, DiscreteContactApproximation
        from pydrake.multibody.tree import RotationalInertia, SpatialInertia
        from pydrake.systems.analysis import Simulator
        from pydrake.systems.framework import DiagramBuilder

        builder = DiagramBuilder()
        plant, _ = AddMultibodyPlantSceneGraph(builder, STEP)
        plant.set_discrete_contact_approximation(getattr(DiscreteContactApproximation, approximation))
        plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -GRAVITY])
        rigid, soft = ProximityProperties(), ProximityProperties()
        AddRigidHydroelasticProperties(rigid)
        AddCompliantHydroelasticProperties(1.0, MODULUS, soft)
        for properties in (rigid, soft):
            AddContactMaterial(dissipation=DISSIPATION, friction=CoulombFriction(MU, MU), properties=properties)
        plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "floor", rigid)
        self.plant, self.Simulator, self.start, bodies = plant, Simulator, [], []
        for name, body in spec["body"].items():
            inertia = SpatialInertia.MakeFromCentralInertia(body["mass"], [0, 0, 0], RotationalInertia(*body["inertia"]))
            bodies.append(plant.AddRigidBody(name, inertia))
            plant.RegisterCollisionGeometry(bodies[-1], RigidTransform(), Box(*SIZE), name, soft)
        plant.Finalize()
        self.diagram, self.bodies = builder.Build(), bodies
        for body in spec["body"].values():
            start = body["start"]
            self.start.append((RigidTransform(start["position"]), start.get("velocity", [0.0] * 3)))

    def run(self):
        from pydrake.multibody.math import SpatialVelocity

        simulator = self.Simulator(self.diagram)
        context = self.plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
        for body, (pose, speed) in zip(self.bodies, self.start):
            self.plant.SetFreeBodyPose(context, body, pose)
            self.plant.SetFreeBodySpatialVelocity(context, body, SpatialVelocity([0.0] * 3, speed))
        simulator.Initialize()
        used, positions = 0.0, []
        for t in (SETTLED, END):
            begin = time.process_time()
            simulator.AdvanceTo(t)
            used += time.process_time() - begin
            places = [self.plant.EvalBodyPoseInWorld(context, body).translation() for body in self.bodies]
            positions.append(np.array(places))
        return used, *positions


def expected(name, spec):
    """Returns the positions at rest in closed form, m."""
    places = np.array([body["start"]["position"] for body in spec["body"].values()])
    if name == "slide":
        fall = np.sqrt(2.0 * HEIGHT / GRAVITY)
        left = SPEED - MU * GRAVITY * fall
        places[0, 0], places[0, 2] = SPEED * fall + left**2 / (2.0 * MU * GRAVITY), SIZE[2] / 2
    return places


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--without-drake", action="store_true")
    options = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        host = Host(folder)
        for name in ("slide", "stack"):
            spec = tomllib.loads((HERE / f"{name}.toml").read_text())
            rivals = {}
            for method, step in (("auto", STEP), ("dopri5", STEP), ("auto", LONG)):
                rivals[f"grapple, `{method}`, {step} s"] = Grapple(name, spec, folder, host, method, step)
            rivals["MuJoCo, defaults"] = MuJoCo(spec)
            rivals["MuJoCo, `implicitfast`, elliptic cones"] = MuJoCo(spec, integrator="implicitfast", cone="elliptic")
            rivals["MuJoCo, the same, `noslip_iterations` 10"] = MuJoCo(
                spec, integrator="implicitfast", cone="elliptic", noslip_iterations=10
            )
            if not options.without_drake:
                for approximation in ("kSap", "kLagged", "kTamsi"):
                    rivals[f"Drake, `{approximation}`"] = Drake(spec, approximation)
            times, places = {key: [] for key in rivals}, {}
            for _ in range(options.rounds):
                for key, rival in rivals.items():
                    used, *places[key] = rival.run()
                    times[key].append(used)
            at = expected(name, spec)
            columns = ["µs per step", "ms for 10 s", "off along the floor, m", "off in height, m", "drift, m/s"]
            print(f"\n| {name} | {' | '.join(columns)} |\n|---|---|---|---|---|---|")
            for key, (settled, end) in places.items():
                off = np.abs(end - at)
                drift = np.abs(end - settled).max() / (END - SETTLED)
                used = statistics.median(times[key])
                of_step = 1e6 * used * rivals[key].step / END
                print(
                    f"| {key} | {of_step:.2f} | {1e3 * used:.1f} | {off[:, :2].max():.1e} | {off[:, 2].max():.1e} "
                    f"| {drift:.1e} |"
                )


if __name__ == "__main__":
    main()
