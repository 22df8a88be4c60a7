"""Computes the tip of the 45° bend of K.-J. Bathe and S. Bolourchi (10.1002/nme.1620140703) by Exudyn.

    pip install exudyn==1.13.6 numpy==2.4.6
    python benches/exudyn/bend.py [elements …]

A circular cantilever of radius 100 in under 600 lb at its tip, out of its plane: section 1 in × 1 in,
E = 1e7 psi, ν = 0, torsion constant 1/6 in⁴, no shear correction. The nodes' reference attitudes
follow the arc, and the elements have the arc length. Printed are the displacement along the root's
tangent, towards the centre of curvature and out of the plane (in), and the limit of the last two
numbers of elements by Richardson's extrapolation of second order, which is the reference of
`tests/theory/curved.rs`.
"""

import sys

import exudyn as exu
import numpy as np
from exudyn.utilities import (
    GenericJoint,
    LoadForceVector,
    MarkerBodyRigid,
    MarkerNodePosition,
    MarkerNodeRigid,
    NodeRigidBodyRotVecLG,
    ObjectBeamGeometricallyExact,
    ObjectGround,
)

RADIUS, ANGLE = 100.0, np.pi / 4
E, G, SIDE_FORCE = 1e7, 5e6, 600.0
STEPS = 500  # load increments: fewer do not converge


def section():
    made = exu.BeamSection()
    made.massPerLength = 1.0
    made.inertia = np.diag([1 / 6, 1 / 12, 1 / 12])
    made.stiffnessMatrix = np.diag([E, G, G, G / 6, E / 12, E / 12])
    return made


def displacement(elements):
    """Returns the displacement of the tip, in."""
    container = exu.SystemContainer()  # must outlive `system`
    system = container.AddSystem()

    def node(angle):
        place = [RADIUS * np.sin(angle), RADIUS * (1 - np.cos(angle)), 0]
        return system.AddNode(NodeRigidBodyRotVecLG(referenceCoordinates=[*place, 0, 0, angle]))

    nodes = [node(angle) for angle in np.linspace(0, ANGLE, elements + 1)]
    for ends in zip(nodes, nodes[1:]):
        length = RADIUS * ANGLE / elements
        beam = ObjectBeamGeometricallyExact(nodeNumbers=list(ends), length=length, sectionData=section())
        system.AddObject(beam)
    ground = system.AddMarker(MarkerBodyRigid(bodyNumber=system.AddObject(ObjectGround())))
    root = system.AddMarker(MarkerNodeRigid(nodeNumber=nodes[0]))
    system.AddObject(GenericJoint(markerNumbers=[ground, root], constrainedAxes=[1] * 6))
    tip = system.AddMarker(MarkerNodePosition(nodeNumber=nodes[-1]))
    system.AddLoad(LoadForceVector(markerNumber=tip, loadVector=[0, 0, SIDE_FORCE]))
    system.Assemble()
    settings = exu.SimulationSettings()
    settings.staticSolver.numberOfLoadSteps = STEPS
    settings.staticSolver.newton.relativeTolerance = 1e-7
    settings.staticSolver.newton.absoluteTolerance = 1e-6
    settings.staticSolver.newton.maxIterations = 200
    settings.staticSolver.verboseMode = 0
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    settings.solution.file.write = False
    system.SolveStatic(settings, showHints=False)
    return np.array(system.GetNodeOutput(nodes[-1], exu.OutputVariableType.Displacement))


def main():
    counts = [int(count) for count in sys.argv[1:]] or [8, 16, 32, 64]
    before = None
    for count in counts:
        tip = displacement(count)
        print(f"{count:4} elements  {tip.round(4)}")
        if before is not None:
            print(f"       limit    {(tip + (tip - before) / 3).round(4)}")
        before = tip


if __name__ == "__main__":
    main()
