"""Compares grapple with Basilisk: a hub with hinged panels, sloshing masses and reaction wheels, of hub.toml, over 600 s.

    pip install -r benches/basilisk/requirements.txt
    GRAPPLE=target/release/grapple python benches/basilisk/compare.py [--rounds 5]

First both are converged: Basilisk by RKF78, grapple by DOP853, and their states are compared once a
second, in parts of the largest change of each kind of state. Then both run at several tolerances and
steps, alternately. The processor time is that of the whole run without building the models, the
error that relative to the tool's own converged run, of position, velocity, attitude, angular velocity
and panels. grapple runs through the FMI, called by compiled code (../host/host.c) that measures the
processor time of its thread; that of Basilisk is the time of the process around ExecuteSimulation,
and contains its recorders of states, once a second. Basilisk's adaptive integrators start anew in
each step of its task.
"""

import argparse
import copy
import functools
import statistics
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import numpy as np
from Basilisk.architecture import messaging
from Basilisk.simulation import (
    hingedRigidBodyStateEffector,
    linearSpringMassDamper,
    reactionWheelStateEffector,
    spacecraft,
    svIntegrators,
)
from Basilisk.utilities import SimulationBaseClass, macros

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "host"))

from host import Archive, Host  # noqa: E402

EVERY, END = 1.0, 600.0  # s: how often the states are read, and until when
# Integrators with the step of the task, s, and the tolerance of adaptive ones.
BASILISK = [
    ("RKF78", 1.0, 1e-6),
    ("RKF78", 0.5, 1e-6),
    ("RKF78", 1.0, 1e-9),
    ("RKF45", 1.0, 1e-6),
    ("RK4", 0.1, None),
    ("RK4", 0.5, None),
]
GRAPPLE = [
    ("auto", None, 1e-4),
    ("dopri5", None, 1e-6),
    ("dop853", None, 1e-6),
    ("dop853", None, 1e-9),
    ("rk4", 0.1, None),
    ("rk4", 0.5, None),
]
ALLOWED = 1e-8  # round-off of 600 s at the tolerance 1e-13, amplified by the mechanism


def column(vector):
    return [[float(value)] for value in vector]


def tensor(six):
    xx, yy, zz, xy, xz, yz = (*six, 0.0, 0.0, 0.0)[:6]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


class Basilisk:
    """The spacecraft of hub.toml as Basilisk's effectors."""

    def __init__(self, spec, step, integrator, tolerance=None):
        self.spec, self.sim = spec, SimulationBaseClass.SimBaseClass()
        process = self.sim.CreateNewProcess("process")
        process.addTask(self.sim.CreateNewTask("task", macros.sec2nano(step)))
        self.craft = spacecraft.Spacecraft()
        self.craft.ModelTag = "hub"
        self.integrator = getattr(svIntegrators, f"svIntegrator{integrator}")(self.craft)
        if tolerance is not None:
            self.integrator.relTol = self.integrator.absTol = tolerance
        self.craft.setIntegrator(self.integrator)
        self.panels = [self._panel(name) for name in ("left", "right")]
        self.slosh = [self._slosh(name) for name in spec["joint"] if name.startswith("slosh")]
        self._wheels()
        self._hub()
        self.sim.AddModelToTask("task", self.craft)
        every = macros.sec2nano(EVERY)
        self.states = self.craft.scStateOutMsg.recorder(every)
        self.panel_states = [panel.hingedRigidBodyOutMsg.recorder(every) for panel in self.panels]
        for recorder in (self.states, *self.panel_states):
            self.sim.AddModelToTask("task", recorder)
        self.sim.InitializeSimulation()

    def _panel(self, name):
        joint = self.spec["joint"][name]
        body = self.spec["body"][joint["child"]]
        panel = hingedRigidBodyStateEffector.HingedRigidBodyStateEffector()
        panel.ModelTag = panel.nameOfThetaState = f"{name}_theta"
        panel.nameOfThetaDotState = f"{name}_theta_dot"
        centre = np.array(body["mass_centre"])
        # The mass centre is at -d along the first axis; the hinge is the second.
        d = np.linalg.norm(centre)
        first, hinge = -centre / d, np.array(joint["axis"])
        axes = np.array([first, hinge, np.cross(first, hinge)])
        panel.mass, panel.d = body["mass"], d
        panel.IPntS_S = (axes @ tensor(body["inertia"]) @ axes.T).tolist()
        panel.k, panel.c = joint["spring"]["stiffness"], joint.get("damping", 0.0)
        panel.r_HB_B, panel.dcm_HB = column(joint["origin"]), axes.tolist()
        panel.thetaInit, panel.thetaDotInit = joint["start"]["position"], 0.0
        self.craft.addStateEffector(panel)
        self.sim.AddModelToTask("task", panel)
        return panel

    def _slosh(self, name):
        joint = self.spec["joint"][name]
        slosh = linearSpringMassDamper.LinearSpringMassDamper()
        slosh.ModelTag = name
        slosh.nameOfRhoState, slosh.nameOfRhoDotState, slosh.nameOfMassState = (
            f"{name}_rho",
            f"{name}_rho_dot",
            f"{name}_mass",
        )
        slosh.k, slosh.c = joint["spring"]["stiffness"], joint["damping"]
        slosh.r_PB_B, slosh.pHat_B = column(joint["origin"]), column(joint["axis"])
        slosh.rhoInit, slosh.rhoDotInit = joint["start"]["position"], 0.0
        slosh.massInit = self.spec["body"][joint["child"]]["mass"]
        self.craft.addStateEffector(slosh)
        self.sim.AddModelToTask("task", slosh)
        return slosh

    def _wheels(self):
        self.wheels = reactionWheelStateEffector.ReactionWheelStateEffector()
        self.wheels.ModelTag = "wheels"
        torques = []
        for name, wheel in self.spec["wheel"].items():
            config = reactionWheelStateEffector.RWConfigPayload()
            config.gsHat_B, config.rWB_B = column(wheel["axis"]), column(wheel["position"])
            config.Js, config.mass, config.Omega = wheel["inertia"], wheel["mass"], wheel["rate"]
            config.RWModel = reactionWheelStateEffector.BalancedWheels
            config.Omega_max = config.u_max = config.P_max = -1.0  # no limits
            self.wheels.addReactionWheel(config)
            torques.append(self.spec["input"][f"{name}.tau"])
        command = messaging.ArrayMotorTorqueMsgPayload()
        command.motorTorque = torques
        self.command = messaging.ArrayMotorTorqueMsg().write(command)
        self.wheels.rwMotorCmdInMsg.subscribeTo(self.command)
        self.craft.addStateEffector(self.wheels)
        self.sim.AddModelToTask("task", self.wheels)

    def _hub(self):
        """The hub of Basilisk includes its wheels and the inertia of the sloshing masses as spheres."""
        hub, start = self.spec["body"]["hub"], self.spec["body"]["hub"]["start"]
        mass, moment, inertia = hub["mass"], np.zeros(3), tensor(hub["inertia"])
        for wheel in self.spec["wheel"].values():
            axis, p = np.array(wheel["axis"]), np.array(wheel["position"])
            spin = np.outer(axis, axis)
            inertia = inertia + wheel["inertia"] * spin + wheel["transverse_inertia"] * (np.eye(3) - spin)
            inertia = inertia + wheel["mass"] * (p @ p * np.eye(3) - np.outer(p, p))
            mass, moment = mass + wheel["mass"], moment + wheel["mass"] * p
        for name, joint in self.spec["joint"].items():
            if name.startswith("slosh"):
                inertia = inertia + tensor(self.spec["body"][joint["child"]]["inertia"])
        centre = moment / mass
        inertia = inertia - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
        self.craft.hub.mHub, self.craft.hub.r_BcB_B = mass, column(centre)
        self.craft.hub.IHubPntBc_B = inertia.tolist()
        self.craft.hub.r_CN_NInit, self.craft.hub.v_CN_NInit = column(start["position"]), column(start["velocity"])
        self.craft.hub.sigma_BNInit, self.craft.hub.omega_BN_BInit = (
            column(np.zeros(3)),
            column(start["angular_velocity"]),
        )

    def run(self, end):
        """Runs until `end` s and returns the processor time, s."""
        self.sim.ConfigureStopTime(macros.sec2nano(end))
        before = time.process_time()
        self.sim.ExecuteSimulation()
        return time.process_time() - before

    def unrecorded(self):
        """Returns states without a message of the present time: of sloshing masses, and rates of wheels."""
        state = self.craft.dynManager.getStateObject
        return {
            "sloshing masses, m": [state(slosh.nameOfRhoState).getState()[0][0] for slosh in self.slosh],
            "sloshing masses, m/s": [state(slosh.nameOfRhoDotState).getState()[0][0] for slosh in self.slosh],
            "wheels' rates, rad/s": [row[0] for row in state(self.wheels.nameOfReactionWheelOmegasState).getState()],
        }

    def rows(self):
        """Returns the states by kind, one row per second from the start."""
        return {
            "position, m": np.array(self.states.r_BN_N),
            "velocity, m/s": np.array(self.states.v_BN_N),
            "attitude": quaternions(np.array(self.states.sigma_BN)),
            "angular velocity, rad/s": np.array(self.states.omega_BN_B),
            "panels' angles, rad": np.stack([panel.theta for panel in self.panel_states], axis=1),
            "panels' rates, rad/s": np.stack([panel.thetaDot for panel in self.panel_states], axis=1),
        }


def quaternions(sigma):
    """Returns quaternions, scalar first and not negative, of modified Rodrigues parameters."""
    squared = (sigma**2).sum(axis=1, keepdims=True)
    q = np.hstack([1.0 - squared, 2.0 * sigma]) / (1.0 + squared)
    return np.where(q[:, :1] < 0.0, -q, q)


class Grapple:
    """The FMU of hub.toml, with the start of Basilisk's run: it takes the position of the mass centre of all parts."""

    def __init__(self, spec, rows, scratch):
        self.spec, self.scratch, self.host = copy.deepcopy(spec), scratch, Host(scratch)
        start = self.spec["body"]["hub"]["start"]
        start["position"], start["velocity"] = rows["position, m"][0].tolist(), rows["velocity, m/s"][0].tolist()

    def model(self, method, step=None):
        spec = self.spec | {"solver": {"method": method} | ({"step": step} if step else {})}
        return Archive.build(spec, tempfile.mkdtemp(dir=self.scratch))

    def run(self, archive, tolerance=None):
        """Returns the processor time, s, and the states after each second by kind."""
        names = {
            "position, m": [f"hub.r[{i}]" for i in (1, 2, 3)],
            "velocity, m/s": [f"hub.v[{i}]" for i in (1, 2, 3)],
            "attitude": [f"hub.q[{i}]" for i in (1, 2, 3, 4)],
            "angular velocity, rad/s": [f"hub.w[{i}]" for i in (1, 2, 3)],
            "panels' angles, rad": ["left.q", "right.q"],
            "panels' rates, rad/s": ["left.qd", "right.qd"],
            "wheels' rates, rad/s": [f"wheel_{axis}.qd" for axis in "xyz"],
            "sloshing masses, m": [f"slosh_{axis}.q" for axis in "xyz"],
            "sloshing masses, m/s": [f"slosh_{axis}.qd" for axis in "xyz"],
        }
        used, table = self.host.run(archive, EVERY, round(END / EVERY), sum(names.values(), []), tolerance)
        ends = np.cumsum([len(group) for group in names.values()])
        rows = dict(zip(names, np.split(table, ends[:-1], axis=1)))
        q = rows["attitude"]
        return used, rows | {"attitude": np.where(q[:, :1] < 0.0, -q, q)}


def errors(rows, reference):
    """Returns the largest difference of each kind of state, in parts of its largest change from the first row."""
    return {kind: np.abs(rows[kind] - of).max() / np.abs(of - of[0]).max() for kind, of in reference.items()}


def converged(spec):
    """Returns the states of Basilisk at a small tolerance by kind, one row per second from the start: recorded, others."""
    basilisk = Basilisk(spec, EVERY, "RKF78", 1e-13)
    others = [basilisk.unrecorded()]
    for second in range(1, round(END / EVERY) + 1):
        basilisk.run(second * EVERY)
        others.append(basilisk.unrecorded())
    return basilisk.rows(), {kind: np.array([row[kind] for row in others]) for kind in others[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each setting")
    rounds = parser.parse_args().rounds
    spec = tomllib.loads((HERE / "hub.toml").read_text())
    start, others = converged(spec)
    reference = {kind: values[1:] for kind, values in start.items()}
    with tempfile.TemporaryDirectory() as scratch:
        grapple = Grapple(spec, start, scratch)
        exact = grapple.run(grapple.model("dop853"), 1e-13)[1]
        print("converged runs, largest difference over 600 s in parts of the largest change")
        found = errors(exact, reference | {kind: values[1:] for kind, values in others.items()})
        for kind, error in found.items():
            print(f"  {error:8.1e}  {kind}")
        if not all(error <= ALLOWED for error in found.values()):
            sys.exit(f"the two differ by more than {ALLOWED:g}")

        settings = {}
        for integrator, step, tolerance in BASILISK:
            run = functools.partial(timed, spec, step, integrator, tolerance)
            settings[f"Basilisk, {integrator}, {value(step, tolerance)}"] = run, reference
        for method, step, tolerance in GRAPPLE:
            run = functools.partial(grapple.run, grapple.model(method, step), tolerance)
            settings[f"grapple, {method}, {value(step, tolerance)}"] = run, exact
        times = {name: [] for name in settings}
        worst = {}
        for _ in range(rounds):
            for name, (run, of) in settings.items():
                used, rows = run()
                times[name].append(used)
                worst[name] = max(
                    errors({kind: rows[kind] for kind in reference}, {kind: of[kind] for kind in reference}).values()
                )
        print(f"{'processor time, ms':>20}  {'largest error':>13}")
        for name, used in times.items():
            print(f"{1e3 * statistics.median(used):20.2f}  {worst[name]:13.1e}  {name}")


def value(step, tolerance):
    parts = [f"step {step:g} s"] if step else []
    return ", ".join(parts + ([f"tolerance {tolerance:g}"] if tolerance else []))


def timed(spec, step, integrator, tolerance):
    """Runs Basilisk. Returns the processor time, s, and the recorded states after each second."""
    basilisk = Basilisk(spec, step, integrator, tolerance)
    used = basilisk.run(END)
    return used, {kind: values[1:] for kind, values in basilisk.rows().items()}


if __name__ == "__main__":
    main()
