"""Overhead of the Python package (docs/benchmarks.md): minima, µs.

    cargo build --release --bench derivatives                      # the peer, compiled as the package is
    python benches/python.py target/release/deps/derivatives-…     # with the installed package

The peer, which runs before and after, evaluates the same states in Rust: derivatives and outputs, as `outputs`
does. A batch of 10,000 states is one call. One state alone costs one call of Python more. With `rk4` a step has
fixed work: a call over 100 steps against 100 calls is the overhead of a call of `step`.
"""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import grapple_fmu as grapple

MODELS = ("two_link", "ssrms_type", "ssrms_flexible")
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
BATCH, STEPS, ROUNDS = 10_000, 100, 15
# Communication step and step of the method, s.
STEP = 1e-4


def least(call, calls=1):
    """Returns the least CPU time of a call, µs: a batch takes longer than an undisturbed time slice."""
    call()
    times = []
    for _ in range(ROUNDS):
        begin = time.thread_time()
        for _ in range(calls):
            call()
        times.append((time.thread_time() - begin) / calls)
    return 1e6 * min(times)


def in_rust(program):
    """Returns the times of an evaluation in Rust by the names of the models, µs."""
    lines = subprocess.run([program, "--bench"], check=True, capture_output=True, text=True).stdout.splitlines()
    return {words[0]: float(words[2]) for words in map(str.split, lines[2:]) if words[0] in MODELS}


def main():
    titles = ["", "Rust", "outputs", "ratio", "derivatives", "of one", "overhead", "step", "overhead", "save", "restore", "clone"]
    print("".join(f"{title:>15}" if i == 0 else f"{title:>12}" for i, title in enumerate(titles)))
    peers = [in_rust(sys.argv[1])]
    rows = [measured(name) for name in MODELS]
    peers.append(in_rust(sys.argv[1]))
    for name, (of_outputs, *others) in zip(MODELS, rows):
        rust = min(peer[name] for peer in peers)
        numbers = [rust, of_outputs, of_outputs / rust, *others]
        print(f"{name:>15}" + "".join(f"{number:>12.2f}" for number in numbers))


def measured(name):
    """Returns the times of a model."""
    spec = grapple.load(EXAMPLES / f"{name}.toml")
    model = spec.model()
    x, u = model.x0, np.full_like(model.u0, 0.3)
    states = np.repeat(x[None], BATCH, axis=0)
    y, dx = (np.empty((BATCH, len(names))) for names in (model.output_names, model.state_names))
    of_outputs = least(lambda: model.outputs(0.0, states, u, out=y)) / BATCH
    of_batch = least(lambda: model.derivatives(0.0, states, u, out=dx)) / BATCH
    row = dx[0]
    one = least(lambda: model.derivatives(0.0, x, u, out=row), 2000)
    spec["solver"] = {"method": "rk4", "step": STEP}
    simulation = spec.simulation()
    start, inputs = simulation.save(), simulation.inputs

    def many():
        simulation.restore(start)
        for _ in range(STEPS):
            simulation.step(STEP, inputs)

    def at_once():
        simulation.restore(start)
        simulation.step(STEPS * STEP, inputs)

    calls, whole = least(many) / STEPS, least(at_once) / STEPS
    copies = [least(simulation.save, 200), least(lambda: simulation.restore(start), 200), least(simulation.clone, 20)]
    return [of_outputs, of_batch, one, one - of_batch, calls, calls - whole, *copies]


if __name__ == "__main__":
    main()
