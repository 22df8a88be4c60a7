"""Checks that grapple and the peers agree, and that the common result satisfies the equations of motion.

    python compare.py BUILD CHAINS [n ...]          (default: 2 6 12 25)

Runs every program of BUILD, and grapple's benchmark, with --check and, for each n, prints the worst over the states of

  difference   ||a - b|| / ||a||  between two programs' acceleration vectors;
  residual     of the equations of motion, by a Newton-Euler recursion in the world frame
               written here from the file format alone. It shares neither code nor conventions
               with the libraries or the C++ reader, so an error made alike in both peers
               (inertia signs, a transposed quaternion) is detected.

Fails (exit 1) above 1e-10.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np

from chains import rotation

LIMIT = 1e-10


def read(path):
    text = "\n".join(l.split("#")[0] for l in Path(path).read_text().splitlines())
    tokens = iter(text.split())
    take = lambda k: np.array([float(next(tokens)) for _ in range(k)])
    n = int(next(tokens))
    bodies = [(take(1)[0], take(3), take(6)) for _ in range(n + 1)]
    joints = [(int(next(tokens)), take(3), take(4), take(3)) for _ in range(n)]
    states = [dict(pos=take(3), quat=take(4), q=take(n), v=take(3), w=take(3), qd=take(n),
                   tau=take(n)) for _ in range(int(next(tokens)))]
    return n, bodies, joints, states


def about(axis, angle):
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K  # Rodrigues


def residual(n, bodies, joints, s, acc):
    """Returns the largest relative residual of forces, of moments (about the base origin) and of
    joint torques: each over the sum of the magnitudes of its terms."""
    R, p, w, v, al, a = ([None] * (n + 1) for _ in range(6))
    R[0] = rotation(s["quat"])
    p[0], v[0], w[0] = s["pos"], s["v"], R[0] @ s["w"]
    al[0], a[0] = R[0] @ acc[:3], acc[3:6]
    axes = [None] * (n + 1)
    for i, (b, origin, quat, axis) in enumerate(joints, start=1):
        RJ = R[b] @ rotation(quat)
        z = axes[i] = RJ @ axis
        R[i] = RJ @ about(axis, s["q"][i - 1])
        r = R[b] @ origin
        p[i] = p[b] + r
        v[i] = v[b] + np.cross(w[b], r)
        a[i] = a[b] + np.cross(al[b], r) + np.cross(w[b], np.cross(w[b], r))
        w[i] = w[b] + z * s["qd"][i - 1]
        al[i] = al[b] + z * acc[5 + i] + np.cross(w[b], z * s["qd"][i - 1])
    F, M, scale_f, scale_m = np.zeros((n + 1, 3)), np.zeros((n + 1, 3)), 0.0, 0.0
    for i, (mass, com, (xx, yy, zz, xy, xz, yz)) in enumerate(bodies):
        I = R[i] @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R[i].T
        c = R[i] @ com
        F[i] = mass * (a[i] + np.cross(al[i], c) + np.cross(w[i], np.cross(w[i], c)))
        M[i] = I @ al[i] + np.cross(w[i], I @ w[i]) + np.cross(c, F[i])  # about origin i
        scale_f += np.linalg.norm(F[i])
        scale_m += np.linalg.norm(M[i]) + np.linalg.norm(p[i] - p[0]) * np.linalg.norm(F[i])
    worst = 0.0
    for i in range(n, 0, -1):
        worst = np.maximum(worst, abs(axes[i] @ M[i] - s["tau"][i - 1]) / scale_m)
        b = joints[i - 1][0]
        F[b] += F[i]
        M[b] += M[i] + np.cross(p[i] - p[b], F[i])
    return np.max([worst, np.linalg.norm(F[0]) / scale_f, np.linalg.norm(M[0]) / scale_m])


def run(command, n):
    out = subprocess.run([*map(str, command), "--check", str(n)], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    rows = [l.split() for l in out.splitlines()]
    assert all(int(r[0]) == n and int(r[1]) == k for k, r in enumerate(rows))
    return np.array([[float(x) for x in r[2:]] for r in rows])


def main():
    ap = argparse.ArgumentParser(description=__doc__,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("build", type=Path)
    ap.add_argument("chains", type=Path)
    ap.add_argument("n", type=int, nargs="*", default=[2, 6, 12, 25])
    args = ap.parse_args()

    build = args.build.resolve()
    directory = ["--dir", args.chains.resolve()]
    manifest = Path(__file__).resolve().parents[2] / "Cargo.toml"
    grapple = ["cargo", "bench", "--quiet", "--manifest-path", manifest, "--bench", "forward_dynamics", "--"]
    peers = {"pinocchio": [build / "pinocchio_aba", *directory]}
    for key in ("--joint=unaligned", "--convention=world"):
        peers["pinocchio " + key] = [build / "pinocchio_aba", key, *directory]
    peers["pinocchio, novec"] = [build / "pinocchio_aba_novec", *directory]
    peers["pinocchio, novec, world"] = [*peers["pinocchio, novec"], "--convention=world"]
    peers["pinocchio, wheel's aba"] = [build / "pinocchio_aba_wheel", *directory]
    peers["grapple"] = [*grapple, *directory]
    peers["mujoco"] = [build / "mujoco_forward", *directory]
    peers["mujoco --flags=none"] = [build / "mujoco_forward", "--flags=none", *directory]

    ok = True
    print(f"{'n':>4}  {'program':28} {'difference to pinocchio':>24} {'residual':>10}")
    for n in args.n:
        chain = read(args.chains / f"chain_{n}.txt")
        reference = None
        for name, command in peers.items():
            acc = run(command, n)
            assert acc.shape == (len(chain[3]), n + 6)
            reference = acc if reference is None else reference
            diff = np.max([np.linalg.norm(a - b) / np.linalg.norm(b)
                           for a, b in zip(acc, reference)])
            res = np.max([residual(*chain[:3], s, a) for s, a in zip(chain[3], acc)])
            bad = not (diff < LIMIT and res < LIMIT)
            ok = ok and not bad
            print(f"{n:4d}  {name:28} {diff:24.2e} {res:10.2e}{'  TOO LARGE' if bad else ''}")
    print("agree" if ok else f"DISAGREE (limit {LIMIT:g})")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
