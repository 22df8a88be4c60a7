"""Translates a spec of grapple to Exudyn: an open chain of rigid bodies and uniform beams without
damping, on hinges driven by sines. Beams are geometrically exact elements, or a solid mesh reduced
to Craig–Bampton modes.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

sys.exudynFast = True  # the build without range checks, for processors with AVX2

import exudyn as exu
import netgen.csg as csg
import ngsolve
import numpy as np
from exudyn.FEM import FEMinterface, HCBstaticModeSelection, ObjectFFRFreducedOrderInterface
from exudyn.utilities import (
    CreateSymbolicUserFunction,
    GenericJoint,
    LoadTorqueVector,
    MarkerBodyRigid,
    MarkerNodeRigid,
    MarkerSuperElementRigid,
    NodeRigidBodyRotVecLG,
    ObjectBeamGeometricallyExact,
    ObjectJointRevoluteZ,
    ObjectRigidBody,
    RigidBodyInertia,
    RotationVector2RotationMatrix,
    SensorBody,
)


class Section:
    """Square section of a solid beam with the spec's mass, stiffness and polar inertia per
    length."""

    def __init__(self, beam):
        self.length, self.EI, self.GJ, self.rho_A = (beam[k] for k in ("length", "EI", "GJ", "mass_per_length"))
        self.spin = beam["polar_inertia_per_length"]
        self.side = np.sqrt(6 * self.spin / self.rho_A)
        self.E, self.rho = 12 * self.EI / self.side**4, self.rho_A / self.side**2
        self.G = self.GJ / (self.side**4 / 6)  # one quadratic element across does not warp
        self.nu = self.E / (2 * self.G) - 1
        self.EA, self.GA = self.E * self.side**2, 5 / 6 * self.G * self.side**2


@dataclass
class Link:
    """A body: its Exudyn number if it is one object, and a function `marker(position, axes)` in
    body axes. A body fixed to it may be placed on its node, `node(position)`."""

    number: int | None
    marker: Callable
    node: Callable | None = None


@cache
def reduced(length, side, E, nu, rho, n):
    """Returns a mesh with six constraint modes of its tip and `n` fixed-interface modes, and the
    nodes at the corners of its tip."""
    half = side / 2
    geometry = csg.CSGeometry()
    geometry.Add(csg.OrthoBrick(csg.Pnt(0, -half, -half), csg.Pnt(length, half, half)))
    mesh = ngsolve.Mesh(geometry.GenerateMesh(maxh=1.2 * side))
    fem = FEMinterface()
    fem.ImportMeshFromNGsolve(mesh, density=rho, youngsModulus=E, poissonsRatio=nu, meshOrder=2)
    ends = [fem.GetNodesInPlane([x, 0, 0], [1, 0, 0]) for x in (0, length)]
    fem.ComputeHurtyCraigBamptonModes(ends, n, computationMode=HCBstaticModeSelection.RBE2)
    return fem, [fem.GetNodeAtPoint([length, y, z]) for y in (-half, half) for z in (-half, half)]


def frame(turn, place=(0, 0, 0)):
    return exu.HT(rotation=turn, translation=list(place))


def sine(amplitude, frequency):
    """Returns a sine torque about z, compiled by Exudyn."""
    omega = 2 * np.pi * frequency

    def torque(mbs, t, loadVector):
        return [0.0, 0.0, amplitude * exu.symbolic.sin(omega * t)]

    return torque


class Spacecraft:
    """An Exudyn system made from a spec. `kind` is `beam` with `n` elements for each flexible link,
    or `modes` with `n` modes in addition to those of the tip. `tip` is the frame whose path is
    recorded."""

    def __init__(self, spec, kind, n, tip):
        self.system = exu.SystemContainer()  # must outlive `mbs`
        self.mbs = self.system.AddSystem()
        self.kind, self.n, self.torques = kind, n, []
        above = {joint["child"]: joint for joint in spec["joint"].values()}
        poses, links = {}, {}
        for name, body in spec["body"].items():
            joint = above.get(name)
            poses[name] = R, p = self.pose(joint, poses)
            if self.shares(joint, links):
                links[name] = self.on_node(body, links[joint["parent"]].node(joint["origin"]))
                continue
            make = self.rigid if "beam" not in body else {"beam": self.beam, "modes": self.modal}[kind]
            links[name] = make(body, R, p)
        for name, joint in spec["joint"].items():
            if not self.shares(joint, links):
                self.join(joint, links, spec["signal"].get(f"{name}.tau"))
        sensor = SensorBody(
            bodyNumber=links[spec["frame"][tip]["body"]].number,
            localPosition=spec["frame"][tip]["origin"],
            storeInternal=True,
            writeToFile=False,
            outputVariableType=exu.OutputVariableType.Position,
        )
        self.sensor = self.mbs.AddSensor(sensor)
        self.mbs.Assemble()

    @staticmethod
    def shares(joint, links):
        """Returns whether the child of a joint is placed on a node of its parent: a rigid grip then
        needs no separate node and constraint."""
        return joint is not None and joint["type"] == "fixed" and links[joint["parent"]].node is not None

    @staticmethod
    def pose(joint, poses):
        if joint is None:
            return np.eye(3), np.zeros(3)
        R, p = poses[joint["parent"]]
        turn = np.radians(joint.get("start", {}).get("position_deg", 0.0)) * np.array(joint.get("axis", [0, 0, 1]))
        return R @ RotationVector2RotationMatrix(turn), p + R @ joint["origin"]

    @staticmethod
    def inertia(body):
        centre = np.array(body.get("mass_centre", [0, 0, 0]))
        return RigidBodyInertia(body["mass"], np.diag(body["inertia"]), centre, inertiaTensorAtCOM=True)

    @staticmethod
    def of_body(number):
        return Link(number, lambda place, turn: MarkerBodyRigid(bodyNumber=number, localHT=frame(turn, place)))

    def rigid(self, body, R, p):
        number = self.mbs.CreateRigidBody(
            referencePosition=list(p),
            referenceRotationMatrix=R,
            inertia=self.inertia(body),
            nodeType=exu.NodeType.RotationRotationVector if self.kind == "beam" else exu.NodeType.RotationEulerParameters,
        )
        return self.of_body(number)

    def on_node(self, body, node):
        """Adds a rigid body on an existing node; its axes and origin are the node's."""
        inertia = self.inertia(body)
        made = ObjectRigidBody(
            nodeNumber=node,
            physicsMass=inertia.Mass(),
            physicsInertia=inertia.GetInertia6D(),
            physicsCenterOfMass=inertia.COM(),
        )
        return self.of_body(self.mbs.AddObject(made))

    def beam(self, body, R, p):
        s = Section(body["beam"])
        section = exu.BeamSection()
        section.massPerLength = s.rho_A
        section.inertia = np.diag([s.spin, s.spin / 2, s.spin / 2])
        section.stiffnessMatrix = np.diag([s.EA, s.GA, s.GA, s.GJ, s.EI, s.EI])
        turn = frame(R).GetRotationVector()
        places = [p + R @ [x, 0, 0] for x in np.linspace(0, s.length, self.n + 1)]
        nodes = [self.mbs.AddNode(NodeRigidBodyRotVecLG(referenceCoordinates=[*place, *turn])) for place in places]
        for ends in zip(nodes, nodes[1:]):
            element = ObjectBeamGeometricallyExact(nodeNumbers=list(ends), length=s.length / self.n, sectionData=section)
            self.mbs.AddObject(element)
        end = lambda place: nodes[0 if place[0] == 0 else -1]
        return Link(None, lambda place, turn: MarkerNodeRigid(nodeNumber=end(place), localHT=frame(turn)), end)

    def modal(self, body, R, p):
        s = Section(body["beam"])
        fem, tip = reduced(s.length, s.side, s.E, s.nu, s.rho, self.n)
        interface = ObjectFFRFreducedOrderInterface(fem)
        made = interface.AddObjectFFRFreducedOrder(self.mbs, positionRef=list(p), rotationMatrixRef=R)
        number = made["oFFRFreducedOrder"]

        def marker(place, turn):
            if place[0] == 0:  # the modes do not move the root in the body's frame
                return MarkerNodeRigid(nodeNumber=made["nRigidBody"], localHT=frame(turn))
            weights = np.full(len(tip), 1 / len(tip))
            return MarkerSuperElementRigid(
                bodyNumber=number, meshNodeNumbers=tip, weightingFactors=weights, localHT=frame(turn)
            )

        return Link(number, marker)

    def join(self, joint, links, signal):
        """Adds a hinge about z of both markers with its torque, or a rigid grip."""
        z = np.array(joint.get("axis", [0.0, 0.0, 1.0]))
        x = np.roll(z, 1)
        turn = np.column_stack([x, np.cross(z, x), z])
        ends = ("parent", joint["origin"]), ("child", [0.0, 0.0, 0.0])
        markers = [self.mbs.AddMarker(links[joint[end]].marker(place, turn)) for end, place in ends]
        if joint["type"] == "fixed":
            self.mbs.AddObject(GenericJoint(markerNumbers=markers))
            return
        self.mbs.AddObject(ObjectJointRevoluteZ(markerNumbers=markers))
        for marker, sign in zip(markers, (-1, 1)):
            load = self.mbs.AddLoad(LoadTorqueVector(markerNumber=marker, loadVector=[0, 0, 1], bodyFixed=True))
            torque = sine(sign * signal["amplitude"], signal["frequency"])
            compiled = CreateSymbolicUserFunction(self.mbs, torque, "loadVectorUserFunction", load)
            self.mbs.SetLoadParameter(load, "loadVectorUserFunction", compiled)
            self.torques.append(compiled)

    def run(self, seconds, step, write, *, rho, full, tolerance, linear="EXUdense"):
        """Integrates by the generalized-α method with the spectral radius `rho`, full or modified
        Newton. Returns processor time (s), and rows of time and position."""
        settings = exu.SimulationSettings()
        integration = settings.timeIntegration
        integration.endTime = seconds
        integration.numberOfSteps = round(seconds / step)
        integration.adaptiveStep = False
        integration.newton.useModifiedNewton = not full
        integration.newton.relativeTolerance = tolerance
        integration.generalizedAlpha.spectralRadius = rho
        integration.verboseMode = 0
        settings.linearSolver.solverType = getattr(exu.LinearSolverType, linear)
        settings.parallel.numberOfThreads = 1
        settings.solutionSettings.writeSolutionToFile = False
        settings.solutionSettings.sensorsWritePeriod = write
        start = time.thread_time()
        self.mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.GeneralizedAlpha, showHints=False)
        used = time.thread_time() - start
        return used, np.array(self.mbs.GetSensorStoredData(self.sensor))
