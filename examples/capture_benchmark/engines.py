"""The rigid and the sampled capture benchmark in Pinocchio and MuJoCo.

    python examples/capture_benchmark/engines.py [--stop-time 120]

Both engines read the numbers of rigid.toml, and nothing else of this project: the equations of
motion are the engine's, the laws of control, event and impact are those of
docs/capture_benchmark.md, in problem.py. SciPy's DOP853 integrates Pinocchio's articulated-body
algorithm, MuJoCo uses its own Runge-Kutta method. The program prints the differences of each engine
to reference.json, and the error estimates there, and exits with 1 if a difference is larger than
allowed. Needs pin, mujoco-core, NumPy and SciPy.
"""

import argparse
import sys

import with_mujoco
import with_pinocchio
from metrics import checkpoints, difference, metrics, reference
from sensors import Sensors

SEED = 1  # of the noise of the reference
# Of each run: version, engine, its fine and its coarse setting, and the largest difference to the
# reference, of each number's scale. MuJoCo's error is that of its steps in the decay after the
# impact, whose time constants are down to 10 ms; held torques have no such decay.
RUNS = {
    "rigid, Pinocchio": ("rigid", with_pinocchio.run, {"tolerance": 1e-12}, {"tolerance": 1e-10}, 1e-8),
    "rigid, MuJoCo": ("rigid", with_mujoco.run, {"step": 0.0025}, {"step": 0.005}, 2e-6),
    "sampled, MuJoCo": ("sampled", with_mujoco.run, {"step": 0.005}, {"step": 0.01}, 1e-8),
}


def results(version, run, setting, stop_time):
    """Returns `{name: (value, unit, scale)}` of metrics and checkpoints."""
    sensors = {"sensors": Sensors(SEED)} if version == "sampled" else {}
    table, numbers = run(stop_time=stop_time, **setting, **sensors)
    return metrics(table, numbers) | checkpoints(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stop-time", type=float, default=120.0, help="s; default: %(default)s")
    arguments = parser.parse_args()
    stored, columns, passed = reference(), {}, True
    for name, (version, run, fine, coarse, allowed) in RUNS.items():
        found = results(version, run, fine, arguments.stop_time)
        off, own = difference(found, stored[version]), difference(found, results(version, run, coarse, arguments.stop_time))
        worst = max(off, key=off.get)
        passed &= off[worst] <= allowed
        columns[name] = {key: abs(value - stored[version][key][0]) for key, (value, *_) in found.items()}
        print(f"{name}: {len(off)} numbers differ by at most {off[worst]:.0e} of their scales ({worst}),")
        print(f"    and by {max(own.values()):.0e} from those with {next(iter(coarse.items()))}")
    for version in ("rigid", "flexible"):
        columns[f"{version}, FMU"] = {key: error for key, (_, error) in stored[version].items()}
    print("\n| metric | unit | " + " | ".join(columns) + " |\n|---" + "|---" * (1 + len(columns)) + "|")
    for name, (_, unit, _) in found.items():
        if "[" not in name:
            print(f"| `{name}` | {unit} | " + " | ".join(f"{column[name]:.0e}" for column in columns.values()) + " |")
    sys.exit(0 if passed else "an engine differs from the reference")


if __name__ == "__main__":
    main()
