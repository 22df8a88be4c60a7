"""Gaps and normals of the shapes of contacts, as outputs of a model, against Coal (the collision library of Pinocchio).

`GRAPPLE_LONG=1` compares 10⁶ pairs.
"""

import os

import coal
import numpy as np
from native import grapple_fmu as grapple

LONG = "GRAPPLE_LONG" in os.environ
MODELS, POSES, NORMALS = (100, 1000, 50) if LONG else (4, 100, 20)
BODY = {"mass": 1.0, "inertia": [1.0, 1.0, 1.0]}


def pairs(rng):
    """Returns pairs of shapes with random dimensions, as fields of the spec and of Coal."""
    r, q, length = rng.uniform([0.1, 0.1, 0.2], [0.5, 0.5, 1.5])
    size = rng.uniform(0.2, 1.0, 3)
    solids = {
        "sphere": ({"type": "sphere", "radius": r}, coal.Sphere(r)),
        "capsule": ({"type": "capsule", "radius": r, "length": length}, coal.Capsule(r, length)),
        "box": ({"type": "box", "size": size.tolist()}, coal.Box(*size)),
        "cylinder": ({"type": "cylinder", "radius": r, "length": length}, coal.Cylinder(r, length)),
        "cone": ({"type": "cone", "radius": r, "length": length}, coal.Cone(r, length)),
    }
    ball = ({"type": "sphere", "radius": q}, coal.Sphere(q))
    rod = ({"type": "capsule", "radius": q, "length": 0.7}, coal.Capsule(q, 0.7))
    plane = ({"type": "plane"}, coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0))
    upon = {f"sphere_{name}": (ball, solid) for name, solid in solids.items()}
    above = {f"{name}_plane": (solid, plane) for name, solid in solids.items()}
    return {**upon, **above, "capsules": (rod, solids["capsule"])}


def spec(shapes):
    contacts = {
        name: {"a": "one", "b": "other", "shape_a": a[0], "shape_b": b[0], "law": "capture_pin"}
        for name, (a, b) in shapes.items()
    }
    bodies = {"one": BODY, "other": {**BODY, "start": {"position": [9.0, 0.0, 0.0]}}}
    return grapple.load({"name": "shapes", "body": bodies, "contact": contacts})


def random_pose(rng):
    q = rng.normal(size=4)
    return rng.uniform(-0.8, 0.8, 3), q / np.linalg.norm(q)


def transform(p, q):
    w, x, y, z = q
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return coal.Transform3s(R, p)


def reference(a, b, at_a, at_b, tolerance=1e-13):
    """Returns gap and normal from b towards a."""
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    request.gjk_tolerance = tolerance
    request.gjk_max_iterations = 1000
    gap = coal.distance(a, transform(*at_a), b, transform(*at_b), request, result)
    return gap, -np.array(result.normal)


def test_gaps_and_normals_are_those_of_coal(within):
    rng = np.random.default_rng(41)
    worst, turned, compared, failed = 0.0, 0.0, 0, 0
    for _ in range(MODELS):
        shapes = pairs(rng)
        model = spec(shapes).model()
        names = list(model.state_names)
        places = [names.index(f"{body}.{state}[1]") for body in ("one", "other") for state in ("r", "q")]
        outputs = [model.output_index(f"{name}.gap") for name in shapes]
        poses = [[random_pose(rng), random_pose(rng)] for _ in range(POSES)]
        x = np.tile(model.x0, (POSES, 1))
        for row, ((p_a, q_a), (p_b, q_b)) in zip(x, poses, strict=True):
            for place, part in zip(places, (p_a, q_a, p_b, q_b), strict=True):
                row[place : place + len(part)] = part
        gaps = model.outputs(0.0, x)[:, outputs]
        for i, (at_a, at_b) in enumerate(poses):
            C = model.jacobian(0.0, x[i])[2] if i < NORMALS else None
            for k, (a, b) in enumerate(shapes.values()):
                gap, normal = reference(a[1], b[1], at_a, at_b)
                is_wrong = (gap <= 1e-9) != (gaps[i, k] <= 1e-9) or (gap > 0.0 and abs(gap - gaps[i, k]) > 1e-9)
                if is_wrong:
                    # Coal's iteration ends at a wrong distance of a few of 10⁶ cones; another
                    # tolerance has another path.
                    gap, normal = reference(a[1], b[1], at_a, at_b, 1e-12)
                    failed += 1
                    assert (gap <= 1e-9) == (gaps[i, k] <= 1e-9), (list(shapes)[k], gap, gaps[i, k])
                # Coal's penetration depths of shapes without a closed form are far less accurate.
                if gap <= 0.0 or gaps[i, k] <= 0.0:
                    continue
                compared += 1
                worst = max(worst, abs(gap - gaps[i, k]))
                if C is not None and gap > 1e-3:
                    ours = C[outputs[k], places[0] : places[0] + 3]
                    turned = max(turned, np.linalg.norm(ours - normal))
    assert compared > MODELS * POSES
    assert failed * 100_000 <= compared
    within("gap against Coal, m", worst, 1e-9, "the tolerance of an iterative distance")
    # A gap d with the error ε has a direction with the error √(2 ε/d): 1.4e-5 for 1e-13 m and 1e-3 m.
    within("normal against Coal", turned, 1e-5, "the direction of an iterative distance")
