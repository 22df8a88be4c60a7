"""Compares campaigns whose runs advance together, in lanes, with the same campaigns of single runs.

    scripts/libraries linux64 && cargo build --release
    python benches/campaign/compare.py target/release/grapple [--runs 64] [--rounds 3]

Masses and rates at the start are dispersed. Both campaigns are made in turn, with one job each; the processor time
is that of all threads of the command, its start included, less that of a campaign of one run. The tables must be equal
to the byte.
"""

import argparse
import resource
import subprocess
import tempfile
import tomllib
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

# Model, its method (none: the default), time between outputs (s), end (s), and the dispersed values.
CASES = [
    ("two_link", "", 0.05, 5.0, "base.mass"),
    ("two_link", 'method = "rk4"\nstep = 5e-3', 0.05, 5.0, "base.mass"),
    ("ssrms_type", "", 0.5, 60.0, "base.mass"),
    ("ssrms_type", 'method = "rk4"\nstep = 0.02', 0.5, 60.0, "base.mass"),
    ("ssrms_type", "", 0.05, 60.0, "base.mass"),
    ("ssrms_flexible", "", 0.5, 10.0, "base.mass"),
    ("ssrms_flexible", 'method = "linearly_implicit"\nstep = 5e-3', 0.05, 10.0, "base.mass"),
    ("ssrms_flexible", 'method = "linearly_implicit"\nstep = 5e-3', 0.5, 10.0, "base.mass"),
    ("ssrms_flexible", 'method = "rk4"\nstep = 2e-3', 0.5, 10.0, "base.mass"),
    ("ssrms_flexible", 'method = "rosenbrock"', 0.5, 10.0, "base.mass"),
    ("solar_arrays", "", 0.5, 60.0, "servicer.mass"),
]


def processor_time(command):
    """Runs a command; returns its processor time, s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def study(folder, case, runs):
    """Writes model and study; returns the file of the study."""
    name, solver, step, end, mass = case
    text = (EXAMPLES / f"{name}.toml").read_text()
    (folder / "model.toml").write_text(f"{text}\n[solver]\n{solver}\n" if solver else text)
    spec = tomllib.loads(text)
    joint = next(name for name, joint in spec["joint"].items() if joint["type"] == "revolute")
    file = folder / f"study{runs}.toml"
    file.write_text(
        f'model = "model.toml"\nruns = {runs}\n[experiment]\nstop_time = {end}\nstep = {step}\ntolerance = 1e-6\n'
        f'[dispersion."{mass}"]\nnormal = {{ sigma = 0.05 }}\nrelative = true\n'
        f'[dispersion."{joint}.qd_start"]\nuniform = [-0.02, 0.02]\n'
        f'[output]\n"{joint}.q" = ["final", "peak"]\n"{joint}.qd" = ["rms"]\n'
    )
    return file


def campaign(grapple, file, to, *options):
    return processor_time([grapple, "campaign", file, "--output", to, "--jobs", "1", *options])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("grapple", type=Path)
    parser.add_argument("--runs", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    grapple = arguments.grapple.resolve()
    print("model | solver | outputs every | runs per s of a core: alone | in lanes | ratio")
    for case in CASES:
        if arguments.only not in case[0]:
            continue
        times = {"--alone": [], None: []}
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            many, one = study(folder, case, arguments.runs), study(folder, case, 1)
            for k in range(arguments.rounds):
                for option, measured in times.items():
                    options = [option] if option else []
                    start = campaign(grapple, one, folder / f"one{k}{option}", *options)
                    measured.append(campaign(grapple, many, folder / f"many{k}{option}", *options) - start)
                tables = [(folder / f"many{k}{option}" / "runs.csv").read_bytes() for option in times]
                assert tables[0] == tables[1], f"{case[0]}: the tables differ"
        alone, together = (min(measured) / (arguments.runs - 1) for measured in times.values())
        name, solver, step, *_ = case
        solver = solver.replace("\n", ", ") or "default"
        print(f"{name} | {solver} | {step} s | {1 / alone:.1f} | {1 / together:.1f} | {alone / together:.2f}", flush=True)


if __name__ == "__main__":
    main()
