"""Gaps and normals of the shapes of contacts, as outputs of a model, against Coal (the collision library of Pinocchio),
and against FCL (python-fcl).

`GRAPPLE_LONG=1` compares 3.5·10⁶ gaps and 10⁶ normals with Coal, and 3·10⁶ gaps with FCL.
"""

import os

import coal
import fcl
import numpy as np
from native import grapple_fmu as grapple
from scipy.spatial import ConvexHull

LONG = "GRAPPLE_LONG" in os.environ
MODELS, POSES, NORMALS = (100, 1000, 370) if LONG else (3, 50, 10)
# Coal adds points 1e-10 of the size outside these, and approximates their rims by iteration.
ROUND = ("cylinder", "cone")
STEP = 1e-3  # m, of differences of gaps
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


def requests():
    """Returns requests with different paths of the iteration, each of which ends at a wrong distance of some pairs."""
    default, nesterov, polyak = coal.GJKVariant.values.values()
    gap, plain = coal.GJKConvergenceCriterion.DualityGap, coal.GJKConvergenceCriterion.Default
    for tolerance, variant, criterion in [
        (1e-13, default, gap),
        (1e-13, nesterov, gap),
        (1e-15, default, gap),
        (1e-14, polyak, gap),
        (1e-12, default, gap),
        (1e-11, default, plain),
        (1e-11, nesterov, plain),
        (1e-10, polyak, gap),
        (1e-9, default, gap),
    ]:
        request = coal.DistanceRequest()
        request.enable_signed_distance = True
        request.gjk_tolerance = request.epa_tolerance = tolerance
        request.gjk_max_iterations = request.epa_max_iterations = 1000
        request.gjk_variant, request.gjk_convergence_criterion = variant, criterion
        request.gjk_convergence_criterion_type = coal.GJKConvergenceCriterionType.Absolute
        yield request


REQUESTS = list(requests())


def reference(a, b, at_a, at_b):
    """Returns gap, normal from b towards a, and the difference of the gap from that of touching planes perpendicular
    to this normal: of the request for which it is least. If Coal has converged, it bounds the error of its gap."""
    best = np.nan, np.full(3, np.nan), np.inf
    for request in REQUESTS:
        result = coal.DistanceResult()
        gap = coal.distance(a[1], at_a, b[1], at_b, request, result)
        normal = -np.array(result.normal)
        if b[0]["type"] == "plane":
            return gap, normal, 0.0
        between = abs(gap - between_planes(a[0], b[0], at_a, at_b, normal))
        if between < best[2]:
            best = gap, normal, between
        if between < 1e-13:
            break
    return best


def slopes_across(a, b, at_a, at_b, n):
    """Returns the rates of Coal's gap for motions of a in two directions perpendicular to n, by differences with
    Richardson's extrapolation, and a bound of their error. They are zero if n is the normal. Where only the longer step
    crosses a kink of the normal, the extrapolation has a third of the difference of both; errors e of the gaps are
    those of planes, of which the differences have 1.5 e / STEP."""
    across, error = np.linalg.svd(n[None])[2][1:], 0.0

    def gap(t, step):
        nonlocal error
        found, _, between = reference(a, b, coal.Transform3s(at_a.getRotation(), at_a.getTranslation() + step * t), at_b)
        error = max(error, between)
        return found

    def slopes(step):
        return np.array([(gap(t, step) - gap(t, -step)) / (2.0 * step) for t in across])

    one, two = slopes(STEP), slopes(2.0 * STEP)
    return (4.0 * one - two) / 3.0, np.max(np.abs(one - two)) / 3.0 + 1.5 * error / STEP


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
    (p_a, R_a), (p_b, R_b) = [(at.getTranslation(), at.getRotation()) for at in (at_a, at_b)]
    return n @ (p_a - p_b) - extent_along(a, -R_a.T @ n) - extent_along(b, R_b.T @ n)


def have_near_axes(a, b, gap):
    """Returns True for two capsules that penetrate until their axes are nearer than 1 cm: the normal has the error of
    round-off divided by this distance."""
    return a["type"] == b["type"] == "capsule" and gap + a["radius"] + b["radius"] < 0.01


def test_gaps_and_normals_are_those_of_coal(within):
    """Of all pairs that are apart, and of those that penetrate unless one is round and the other no plane: Coal's
    depths of these are far less accurate. Normals of round shapes are compared with differences of Coal's gaps, where
    these are smooth: its own normals have the error √(2 ε/d) of a gap d with the error ε, 1e-5 for ε = 5e-11 m."""
    rng = np.random.default_rng(41)
    gaps_differ, rims_differ, open_differ, planes_differ = [], [], [], []
    normals_differ, slopes_differ, directions_differ, rough = [], [], [], 0
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
        for i, pose in enumerate(poses):
            at_a, at_b = [transform(*part) for part in pose]
            C = model.jacobian(0.0, x[i])[2] if i < NORMALS else None
            for k, (a, b) in enumerate(shapes.values()):
                is_plane = b[0]["type"] == "plane"
                is_round = not is_plane and (a[0]["type"] in ROUND or b[0]["type"] in ROUND)
                gap, normal, between = reference(a, b, at_a, at_b)
                if is_round and max(gap, gaps[i, k]) <= 1e-9:
                    continue
                # Coal does not converge for few pairs with gaps below 1e-3 m.
                has_converged = between < 9e-10
                differ = gaps_differ if not is_round else rims_differ if has_converged else open_differ
                differ.append(gap - gaps[i, k])
                if C is None and has_converged:
                    continue
                C = model.jacobian(0.0, x[i])[2] if C is None else C
                ours = C[outputs[k], places[0] : places[0] + 3]
                if not is_plane and not have_near_axes(a[0], b[0], gaps[i, k]):
                    unit = ours / np.linalg.norm(ours)
                    planes_differ.append(between_planes(a[0], b[0], at_a, at_b, unit) - gaps[i, k])
                if not is_round and abs(gap) > 1e-6:
                    normals_differ.append(ours - normal)
                elif is_round and gap > 0.05:
                    slopes, bound = slopes_across(a, b, at_a, at_b, ours)
                    if bound < 5e-8:
                        slopes_differ.append(slopes)
                        directions_differ.append(ours - normal)
                    else:
                        rough += 1
    compared, count = len(gaps_differ) + len(rims_differ), len(normals_differ) + len(slopes_differ)
    print(f"{compared} gaps, {len(open_differ)} beside them not converged; {count} normals, {rough} not smooth")
    assert compared > 30 * MODELS * POSES and count > 25 * MODELS * NORMALS
    assert len(open_differ) < 1e-4 * compared and rough < len(slopes_differ)
    gap, rims, unsure = [np.max(np.abs([0.0, *rows])) for rows in (gaps_differ, rims_differ, open_differ)]
    turned, sloped, coarse = [np.max(np.linalg.norm(rows, axis=1)) for rows in (normals_differ, slopes_differ, directions_differ)]
    within("gap against Coal, without rims, m", gap, 1e-12, "polyhedra and spheres")
    within("gap against Coal, with rims, m", rims, 1e-9, "the tolerance of an iterative distance")
    within("gap against Coal where it has not converged, m", unsure, 1e-5, "its error")
    within("normal against Coal, without rims", turned, 1e-7, "polyhedra and spheres")
    within("normal against differences of Coal's gap, with rims", sloped, 1e-7, "differences")
    within("normal against Coal's own, with rims", coarse, 2e-5, "the direction of an iterative distance")
    planes = np.max(np.abs(planes_differ))
    within("gap or depth against planes that touch both shapes, m", planes, 1e-13, "closed forms")


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
                placed = transform(2.0 * p_a, q_a), transform(2.0 * p_b, q_b)
                planes = max(planes, abs(between_planes(a, b, *placed, n) - gaps[i, k]))
    assert compared > 5 * MODELS * POSES
    print(f"{compared} pairs, {far} of them differ from FCL by more than 1e-9 m, at most by {most:.1e} m")
    within("gap less than that of FCL, m", less, 1e-9, "the tolerance of an iterative distance")
    within("gap against FCL where it has converged, m", near, 1e-9, "the tolerance of an iterative distance")
    within("gap against planes that touch both shapes, m", planes, 1e-13, "closed forms")
