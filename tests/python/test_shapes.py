"""Gaps and normals of the shapes of contacts, as outputs of a model, against Coal (the collision library of Pinocchio),
and against FCL (python-fcl).

`GRAPPLE_LONG=1` compares 3.8·10⁶ pairs with Coal and 3·10⁶ with FCL.
"""

import os

import coal
import fcl
import numpy as np
from native import grapple_fmu as grapple
from scipy.spatial import ConvexHull

LONG = "GRAPPLE_LONG" in os.environ
MODELS, POSES, NORMALS = (100, 1000, 50) if LONG else (3, 50, 10)
BODY = {"mass": 1.0, "inertia": [1.0, 1.0, 1.0]}


def random_solids(rng):
    """Returns a shape of each type with random dimensions, as fields of the spec and of Coal."""
    r, length = rng.uniform([0.1, 0.2], [0.5, 1.5])
    size = rng.uniform(0.2, 1.0, 3)
    points = rng.uniform(-0.5, 0.5, (12, 3))
    corners = coal.StdVec_Vec3s()
    for point in points:
        corners.append(point)
    return {
        "sphere": ({"type": "sphere", "radius": r}, coal.Sphere(r)),
        "capsule": ({"type": "capsule", "radius": r, "length": length}, coal.Capsule(r, length)),
        "box": ({"type": "box", "size": size.tolist()}, coal.Box(*size)),
        "cylinder": ({"type": "cylinder", "radius": r, "length": length}, coal.Cylinder(r, length)),
        "cone": ({"type": "cone", "radius": r, "length": length}, coal.Cone(r, length)),
        "mesh": ({"type": "mesh", "vertices": points.tolist()}, coal.Convex.convexHull(corners, True, "Qt")),
    }


def pairs(rng):
    """Returns pairs of shapes of all types with random dimensions."""
    solids, others = random_solids(rng), random_solids(rng)
    q = rng.uniform(0.1, 0.5)
    ball = ({"type": "sphere", "radius": q}, coal.Sphere(q))
    rod = ({"type": "capsule", "radius": q, "length": 0.7}, coal.Capsule(q, 0.7))
    plane = ({"type": "plane"}, coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0))
    upon = {f"sphere_{name}": (ball, solid) for name, solid in solids.items()}
    above = {f"{name}_plane": (solid, plane) for name, solid in solids.items()}
    names = [name for name in solids if name != "sphere"]
    both = {f"{one}_{other}": (solids[one], others[other]) for one in names for other in names}
    return {**upon, **above, "capsules": (rod, solids["capsule"]), **both}


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


def extent_along(shape, u):
    """Returns the largest coordinate of a point of a shape along the unit vector u, by definition."""
    across = np.hypot(u[0], u[1])
    r, half = shape.get("radius", 0.0), 0.5 * shape.get("length", 0.0)
    match shape["type"]:
        case "sphere":
            return r
        case "capsule":
            return half * abs(u[2]) + r
        case "box":
            return 0.5 * np.abs(u) @ shape["size"]
        case "cylinder":
            return half * abs(u[2]) + r * across
        case "cone":
            return max(half * u[2], r * across - half * u[2])
        case "mesh":
            return np.max(np.array(shape["vertices"]) @ u)


def between_planes(a, b, at_a, at_b, n):
    """Returns the distance of two planes perpendicular to n that touch the shapes; no gap is smaller."""
    (p_a, R_a), (p_b, R_b) = [(p, transform(p, q).getRotation()) for p, q in (at_a, at_b)]
    return n @ (p_a - p_b) - extent_along(a, -R_a.T @ n) - extent_along(b, R_b.T @ n)


def test_gaps_and_normals_are_those_of_coal(within):
    rng = np.random.default_rng(41)
    worst, turned, planes, compared, failed = 0.0, 0.0, 0.0, 0, 0
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
            C = None
            for k, (a, b) in enumerate(shapes.values()):
                gap, normal = reference(a[1], b[1], at_a, at_b)
                is_other = (gap <= 1e-9) != (gaps[i, k] <= 1e-9) or (gap > 0.0 and abs(gap - gaps[i, k]) > 1e-9)
                if is_other:
                    # Coal's iteration ends at a wrong distance of some pairs with cones and cylinders;
                    # another tolerance has another path.
                    gap, normal = reference(a[1], b[1], at_a, at_b, 1e-12)
                # Coal's penetration depths of shapes without a closed form are far less accurate.
                if max(gap, gaps[i, k]) <= 1e-9:
                    continue
                compared += 1
                is_other = abs(gap - gaps[i, k]) > 1e-9
                if not is_other:
                    worst = max(worst, abs(gap - gaps[i, k]))
                if C is None and (i < NORMALS or is_other):
                    C = model.jacobian(0.0, x[i])[2]
                if C is None:
                    continue
                ours = C[outputs[k], places[0] : places[0] + 3]
                if b[0]["type"] != "plane":
                    planes = max(planes, abs(between_planes(a[0], b[0], at_a, at_b, ours) - gaps[i, k]))
                # Touching planes bound the gap from below: a smaller one is wrong, and the larger one of
                # Coal's nearest points is not the least.
                failed += is_other
                if abs(gap - gaps[i, k]) < 1e-12 and gap > 1e-2:
                    turned = max(turned, np.linalg.norm(ours - normal))
    assert compared > 5 * MODELS * POSES
    assert failed * 500 <= compared, (failed, compared)
    within("gap against Coal, m", worst, 1e-9, "the tolerance of an iterative distance")
    within("gap against planes that touch both shapes, m", planes, 1e-13, "closed forms")
    # A gap d with the error ε has a direction with the error √(2 ε/d): 1.4e-5 for 1e-12 m and 1e-2 m.
    within("normal against Coal", turned, 2e-5, "the direction of an iterative distance")


def in_fcl(shape):
    """Returns a shape of the spec for FCL."""
    r, length = shape.get("radius", 0.0), shape.get("length", 0.0)
    match shape["type"]:
        case "sphere":
            return fcl.Sphere(r)
        case "capsule":
            return fcl.Capsule(r, length)
        case "box":
            return fcl.Box(*shape["size"])
        case "cylinder":
            return fcl.Cylinder(r, length)
        case "cone":
            return fcl.Cone(r, length)
        case "mesh":
            points = np.array(shape["vertices"])
            hull = ConvexHull(points)
            # Faces are counter-clockwise from outside.
            inner = points[hull.vertices].mean(axis=0)
            turned = [np.linalg.det(points[face] - inner) for face in hull.simplices]
            faces = [face if det > 0.0 else face[::-1] for face, det in zip(hull.simplices, turned, strict=True)]
            return fcl.Convex(points, len(faces), np.concatenate([[3, *face] for face in faces]))
        case "plane":
            return fcl.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)


def test_gaps_are_those_of_fcl(within):
    """Of separated pairs. FCL's iteration ends at a tolerance of 1e-6, or at a wrong distance; where it differs, planes
    that touch both shapes prove the gap (of differences below 2e-6 m in the first poses): no distance is less."""
    rng = np.random.default_rng(14)
    near, far, planes, compared, less, most = 0.0, 0, 0.0, 0, 0.0, 0.0
    for _ in range(MODELS):
        shapes = pairs(rng)
        shapes.pop("capsules")
        model = spec(shapes).model()
        names = list(model.state_names)
        places = [names.index(f"{body}.{state}[1]") for body in ("one", "other") for state in ("r", "q")]
        outputs = [model.output_index(f"{name}.gap") for name in shapes]
        poses = [[random_pose(rng), random_pose(rng)] for _ in range(POSES)]
        x = np.tile(model.x0, (POSES, 1))
        for row, ((p_a, q_a), (p_b, q_b)) in zip(x, poses, strict=True):
            # Farther apart than random poses, so that most pairs are separated.
            for place, part in zip(places, (2.0 * p_a, q_a, 2.0 * p_b, q_b), strict=True):
                row[place : place + len(part)] = part
        gaps = model.outputs(0.0, x)[:, outputs]
        solids = [(a[0], b[0], in_fcl(a[0]), in_fcl(b[0])) for a, b in shapes.values()]
        for i, ((p_a, q_a), (p_b, q_b)) in enumerate(poses):
            at = fcl.Transform(q_a, 2.0 * p_a), fcl.Transform(q_b, 2.0 * p_b)
            C = None
            for k, (a, b, of_a, of_b) in enumerate(solids):
                if gaps[i, k] <= 1e-6 or b["type"] == "plane":
                    continue
                gap = fcl.distance(fcl.CollisionObject(of_a, at[0]), fcl.CollisionObject(of_b, at[1]))
                compared += 1
                less = max(less, gaps[i, k] - gap)
                if abs(gap - gaps[i, k]) <= 1e-9:
                    near = max(near, abs(gap - gaps[i, k]))
                    continue
                most = max(most, gap - gaps[i, k])
                far += 1
                if i >= NORMALS and gap - gaps[i, k] < 2e-6:
                    continue
                if C is None:
                    C = model.jacobian(0.0, x[i])[2]
                n = C[outputs[k], places[0] : places[0] + 3]
                placed = (2.0 * p_a, q_a), (2.0 * p_b, q_b)
                planes = max(planes, abs(between_planes(a, b, *placed, n) - gaps[i, k]))
    assert compared > 5 * MODELS * POSES
    print(f"{compared} pairs, {far} of them differ from FCL by more than 1e-9 m, at most by {most:.1e} m")
    within("gap less than that of FCL, m", less, 1e-9, "the tolerance of an iterative distance")
    within("gap against FCL where it has converged, m", near, 1e-9, "the tolerance of an iterative distance")
    within("gap against planes that touch both shapes, m", planes, 1e-13, "closed forms")
