"""Writes chain description files (format: head of chain.hpp) with a fixed seed.

    python chains.py DIR n [n ...]      ->  DIR/chain_<n>.txt

The chains are general: no axis, frame or inertia is aligned with another, so that no program gains
speed, or hides an error, by a special case.
"""

import argparse
from pathlib import Path

import numpy as np


def unit(rng, k):
    v = rng.normal(size=k)
    return v / np.linalg.norm(v)


def rotation(quat):
    w, x, y, z = quat
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])


def body(rng):
    mass = 10 ** rng.uniform(0, 1)
    com = rng.uniform(-0.2, 0.2, 3)
    # Inertia from positive second moments of the mass along three axes: it then satisfies the
    # triangle inequality strictly.
    second = mass * rng.uniform(0.05, 0.2, 3) ** 2
    R = rotation(unit(rng, 4))
    inertia = R @ np.diag(second.sum() - second) @ R.T
    return [mass, *com, *inertia[[0, 1, 2], [0, 1, 2]], *inertia[[0, 0, 1], [1, 2, 2]]]


def joint(rng, parent):
    origin = rng.uniform(0.3, 0.5) * unit(rng, 3)
    return [parent, *origin, *unit(rng, 4), *unit(rng, 3)]


def state(rng, n):
    return [
        ("base position", rng.uniform(-2, 2, 3)),
        ("base quaternion wxyz", unit(rng, 4)),
        ("q", rng.uniform(-np.pi, np.pi, n)),
        ("base linear velocity, world axes", rng.uniform(-1, 1, 3)),
        ("base angular velocity, body axes", rng.uniform(-0.5, 0.5, 3)),
        ("qd", rng.uniform(-1, 1, n)),
        ("tau", rng.uniform(-5, 5, n)),
    ]


def line(values):
    # repr of a float is the shortest text that is read back as the same number
    return " ".join(repr(v) if isinstance(v, int) else repr(float(v)) for v in values)


def write(path, n, states, seed):
    rng = np.random.default_rng([seed, n])
    out = [f"# floating-base chain, written by chains.py, seed {seed}", f"{n}"]
    out.append("# bodies: mass, com, ixx iyy izz ixy ixz iyz")
    out += [line(body(rng)) for _ in range(n + 1)]
    out.append("# joints: parent, origin, quaternion wxyz, axis")
    out += [line(joint(rng, i)) for i in range(n)]
    out += ["# states", f"{states}"]
    for k in range(states):
        for label, values in state(rng, n):
            out += [f"# {label} [{k}]", line(values)]
    path.write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("dir", type=Path)
    p.add_argument("n", type=int, nargs="+")
    p.add_argument("--states", type=int, default=16)
    p.add_argument("--seed", type=int, default=2024)
    a = p.parse_args()
    a.dir.mkdir(parents=True, exist_ok=True)
    for n in a.n:
        write(a.dir / f"chain_{n}.txt", n, a.states, a.seed)
