"""Compares campaigns whose runs advance together, in lanes, with the same campaigns of single runs.

    scripts/libraries linux64 && cargo build --release
    python benches/campaign/compare.py target/release/grapple [--runs 64] [--rounds 3] [--only WORD]
    python benches/campaign/compare.py target/release/grapple --lanes AVX2=target/libraries/linux64/lanes-avx2

Masses and rates at the start are dispersed. All campaigns are made in turn, with one job each; the processor time
is that of all threads of the command, its start included, less that of a campaign of one run. The tables must be equal
to the byte. In lanes the tool uses its own library for this processor, or each of the libraries that are given
by name, in FMUs.
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


def study(folder, case, runs, model="model.toml"):
    """Writes the study of a model; returns its file."""
    name, _, step, end, mass = case
    spec = tomllib.loads((EXAMPLES / f"{name}.toml").read_text())
    joint = next(name for name, joint in spec["joint"].items() if joint["type"] == "revolute")
    file = folder / f"{model}{runs}.toml"
    file.write_text(
        f'model = "{model}"\nruns = {runs}\n[experiment]\nstop_time = {end}\nstep = {step}\ntolerance = 1e-6\n'
        f'[dispersion."{mass}"]\nnormal = {{ sigma = 0.05 }}\nrelative = true\n'
        f'[dispersion."{joint}.qd_start"]\nuniform = [-0.02, 0.02]\n'
        f'[output]\n"{joint}.q" = ["final", "peak"]\n"{joint}.qd" = ["rms"]\n'
    )
    return file


def campaign(grapple, file, to, *options):
    return processor_time([grapple, "campaign", file, "--output", to, "--jobs", "1", *options])


def times(folder, grapple, case, lanes, runs, rounds):
    """Returns the processor time of a run of a case in s: alone, and with each library for lanes."""
    name, solver, *_ = case
    text = (EXAMPLES / f"{name}.toml").read_text()
    (folder / "model.toml").write_text(f"{text}\n[solver]\n{solver}\n" if solver else text)
    ways = [("alone", "model.toml", ["--alone"])]
    for number, library in enumerate(lanes.values()):
        model = "model.toml" if library is None else f"model{number}.fmu"
        if library is not None:
            command = [grapple, "build", "model.toml", "--output", model, "--platform", "linux64", "--binary", f"linux64={library}"]
            subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
        ways.append((str(number), model, []))
    measured = {way: [] for way, *_ in ways}
    for k in range(rounds):
        tables = []
        for way, model, options in ways:
            one, many = (study(folder, case, count, model) for count in (1, runs))
            start = campaign(grapple, one, folder / f"one{k}{way}", *options)
            measured[way].append(campaign(grapple, many, folder / f"many{k}{way}", *options) - start)
            tables.append((folder / f"many{k}{way}" / "runs.csv").read_bytes())
        assert all(table == tables[0] for table in tables), f"{name}: the tables differ"
    return [min(of_way) / (runs - 1) for of_way in measured.values()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("grapple", type=Path)
    parser.add_argument("--runs", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--lanes", action="append", default=[], metavar="NAME=LIBRARY")
    arguments = parser.parse_args()
    grapple = arguments.grapple.resolve()
    given = (text.split("=", 1) for text in arguments.lanes)
    lanes = {name: Path(file).resolve() for name, file in given} or {"in lanes": None}
    print("| model | solver | outputs every | runs per s of a core, alone | " + " | ".join(lanes) + " |")
    for case in CASES:
        if arguments.only not in case[0]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            alone, *together = times(Path(folder), grapple, case, lanes, arguments.runs, arguments.rounds)
        name, solver, step, *_ = case
        solver = f"`{solver}`".replace("\n", ", ") if solver else "default"
        ratios = " | ".join(f"{alone / time:.2f}" for time in together)
        print(f"| `{name}` | {solver} | {step} s | {1 / alone:.1f} | {ratios} |", flush=True)


if __name__ == "__main__":
    main()
