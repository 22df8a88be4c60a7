"""Overhead of the Python package (docs/python.md): minima, µs.

    cargo bench --bench derivatives      # the same evaluations in Rust: the column "evaluate"
    python benches/python.py             # with the installed package, from a wheel

A batch of 10,000 states is one call, so its time per state is that of the loop in Rust. One state alone costs
one call of Python more. With `rk4` a step has fixed work: a call over 100 steps against 100 calls is the overhead
of a call of `step`.
"""

import time
from pathlib import Path

import numpy as np

import grapple_fmu as grapple

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
BATCH, STEPS, ROUNDS = 10_000, 100, 15
# Communication step and step of the method, s.
STEP = 1e-4


def least(call, calls=1):
    """Returns the least time of a call, µs."""
    call()
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - begin) / calls)
    return 1e6 * min(times)


def main():
    titles = ["", "outputs, of a batch", "derivatives, of a batch", "one", "overhead", "step", "overhead", "save", "restore", "clone"]
    print("".join(f"{title:>24}" if i < 3 else f"{title:>10}" for i, title in enumerate(titles)))
    for name in ("two_link", "ssrms_type", "ssrms_flexible"):
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
        numbers = [of_outputs, of_batch, one, one - of_batch, calls, calls - whole, *copies]
        print(f"{name:>24}" + "".join(f"{n:>24.2f}" if i < 2 else f"{n:>10.2f}" for i, n in enumerate(numbers)))


if __name__ == "__main__":
    main()
