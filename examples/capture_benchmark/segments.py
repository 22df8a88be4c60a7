"""The flexible capture benchmark in MuJoCo, with beams of rigid segments.

    python examples/capture_benchmark/segments.py [--segments 3 6] [--stop-time 40]

Each beam is a chain of rigid segments with n elastic joints between them, at the middles of n equal
parts, of stiffness n EI/L in bending and n GJ/L in torsion: an independent model of the same beams,
with an error of order 2 in 1/n. The damping of the joints is proportional to the stiffness, with
the given ratio for the first bending mode. The program prints some results for both numbers of
segments, their extrapolation, and the results of the FMU's modes from reference.json. It takes
minutes. Needs mujoco-core, NumPy and SciPy.
"""

import argparse
import tomllib
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

import with_mujoco
from metrics import checkpoints, metrics, reference
from problem import FOLDER, Link, Problem

SHOWN = (
    "capture.time",
    "capture.impulse",
    "peak.attitude",
    "peak.wheel_y.torque",
    *(f"20 s: {name}[{i}]" for name in ("bus_attitude", "target_rate", "joint_position") for i in (1, 2, 3)),
    *(f"40 s: bus_attitude[{i}]" for i in (1, 2, 3)),
)
FIRST = 1.8751040687119611  # first root of cosh β cos β = −1


class Segmented(Problem):
    """The problem of the flexible version with n segments for each beam."""

    def __init__(self, n):
        self.n = n
        self.beams = {}
        for name, body in tomllib.loads((FOLDER / "flexible.toml").read_text(encoding="utf-8"))["body"].items():
            self.beams[name] = body["beam"]
        super().__init__()

    def _links(self):
        links = []
        for link in super()._links():
            beam = self.beams.get(link.parent)
            if beam:
                # All that a beam carries is at its tip, half a part from the last joint.
                assert abs(link.position[0] - beam["length"]) < 1e-12
                half = np.array([beam["length"] / (2 * self.n), 0.0, 0.0])
                link = replace(link, parent=f"{link.parent}_{self.n}", position=half)
            links += self._chain(link) if link.name in self.beams else [link]
        return links

    def _chain(self, link):
        beam, n = self.beams[link.name], self.n
        part = beam["length"] / n
        stiffness = np.array([beam["GJ"], beam["EI"], beam["EI"]]) / part
        omega = FIRST**2 / beam["length"] ** 2 * np.sqrt(beam["EI"] / beam["mass_per_length"])
        elastic = {"stiffness": tuple(stiffness), "damping": tuple(2.0 * beam["damping_ratio"] / omega * stiffness)}
        chain = [replace(link, **rod(beam, part / 2))]
        for i in range(n):
            own = rod(beam, part if i + 1 < n else part / 2)
            place = np.array([part / 2 if i == 0 else part, 0.0, 0.0])
            parent = f"{link.name}_{i}" if i else link.name
            chain.append(Link(f"{link.name}_{i + 1}", parent, "elastic", place, Rotation.identity(), **own, **elastic))
        return chain


def rod(beam, length):
    """Returns mass properties of a piece of a beam that begins at the origin."""
    mass = beam["mass_per_length"] * length
    across = mass * length**2 / 12.0
    inertia = np.diag([beam["polar_inertia_per_length"] * length, across, across])
    return {"mass": mass, "centre": np.array([length / 2, 0.0, 0.0]), "inertia": inertia}


def step(problem):
    """Returns a stable step of a method of order 4: the grid divided by a whole number."""
    model = with_mujoco.Model(problem, problem.links)
    model.forward()
    stiffness = np.zeros((model.model.nv, model.model.nv))
    joints = model.model.jnt_dofadr
    stiffness[joints, joints] = model.model.jnt_stiffness.reshape(len(joints), -1)[:, 0]
    fastest = np.sqrt(np.linalg.eigvals(np.linalg.solve(model.mass_matrix(), stiffness)).real.max())
    return problem.grid / np.ceil(problem.grid * fastest / 1.5)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--segments", type=int, nargs=2, default=[3, 6])
    parser.add_argument("--stop-time", type=float, default=40.0, help="s; default: %(default)s")
    arguments = parser.parse_args()
    coarse, fine = arguments.segments
    runs = []
    for n in (coarse, fine):
        problem = Segmented(n)
        table, numbers = with_mujoco.run(problem, arguments.stop_time, step(problem))
        runs.append(metrics(table, numbers) | checkpoints(table))
    modes, part = reference()["flexible"], 1.0 / ((fine / coarse) ** 2 - 1.0)
    print(f"| number | {coarse} segments | {fine} segments | extrapolated | modes |\n|---|---|---|---|---|")
    for name in SHOWN:
        a, b = (run[name][0] for run in runs)
        print(f"| `{name}` | " + " | ".join(f"{value:.7g}" for value in (a, b, b + (b - a) * part, modes[name][0])) + " |")


if __name__ == "__main__":
    main()
