"""The gradient of one run by 1,000 control values, by adjoint derivatives of the FMU.

    python examples/optimisation/gradient.py          a table in out/optimisation

The arm of arm.toml, rigid and flexible, moves for 8 s by torques at its two joints that are constant
in each of 500 intervals. The classical Runge–Kutta method integrates the FMU of FMI 3.0 in Model
Exchange with one step for each interval. The cost is half the square distance of the last state from
the goal, all at rest with the joints turned. Its gradient is accumulated backwards through the steps
by `fmi3GetAdjointDerivative`, and is compared with directional derivatives along a run, and with
central differences of runs. docs/optimisation.md shows the table. Needs FMPy and NumPy.
"""

import ctypes
import re
import sys
import tempfile
import time
from pathlib import Path

import fmpy
import numpy as np
from fmpy.fmi3 import FMU3Model

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from studies import build, command_line, options  # noqa: E402

DURATION = 8.0  # s
INTERVALS = 500
H = DURATION / INTERVALS  # s
GOAL = {"shoulder.q": np.radians(-20.0), "elbow.q": np.radians(50.0)}
TORQUES = np.array([8.0, 3.0])  # N·m, amplitudes at shoulder and elbow
DIFFERENCE = 1e-2  # N·m, of central differences
ROUNDS = 5  # of which the shortest time counts


class Model:
    """The FMU as functions of the time, the states and the inputs; results are overwritten by the next call."""

    def __init__(self, fmu):
        folder = fmpy.extract(str(fmu), unzipdir=tempfile.mkdtemp(dir=Path(fmu).parent))
        description = fmpy.read_model_description(folder)
        derivatives = [unknown.variable for unknown in description.derivatives]
        inputs = [variable for variable in description.modelVariables if variable.causality == "input"]
        self.x = [variable.derivative.name for variable in derivatives]
        self.u = [variable.name for variable in inputs]
        self.fmu = FMU3Model(
            guid=description.guid,
            unzipDirectory=folder,
            modelIdentifier=description.modelExchange.modelIdentifier,
            instanceName=description.modelName,
        )
        self.fmu.instantiate()
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()
        self.fmu.updateDiscreteStates()
        self.fmu.enterContinuousTimeMode()
        self.inputs = self._references(inputs)
        self.unknowns = self._references(derivatives)
        self.knowns = self._references([*(variable.derivative for variable in derivatives), *inputs])
        self.state, self.input, self.rate, self.seed, self.bar, self.direction = (
            np.zeros(n) for n in (len(self.x), len(self.u), *[len(self.x)] * 2, *[len(self.x) + len(self.u)] * 2)
        )
        self.fmu.getContinuousStates(self._of(self.state), len(self.x))
        self.x0 = self.state.copy()

    @staticmethod
    def _references(variables):
        return (ctypes.c_uint32 * len(variables))(*(variable.valueReference for variable in variables))

    @staticmethod
    def _of(values):
        return values.ctypes.data_as(ctypes.POINTER(ctypes.c_double))

    def _set(self, t, x, u):
        self.state[:], self.input[:] = x, u
        self.fmu.setTime(t)
        self.fmu.setContinuousStates(self._of(self.state), len(self.state))
        self.fmu.fmi3SetFloat64(self.fmu.component, self.inputs, len(self.inputs), self._of(self.input), len(self.input))

    def derivatives(self, t, x, u):
        """Returns ẋ."""
        self._set(t, x, u)
        self.fmu.getContinuousStateDerivatives(self._of(self.rate), len(self.rate))
        return self.rate

    def adjoint(self, t, x, u, seed):
        """Returns seedᵀ ∂ẋ/∂x and seedᵀ ∂ẋ/∂u."""
        self._set(t, x, u)
        self.seed[:] = seed
        self._derivative(self.fmu.fmi3GetAdjointDerivative, self.seed, self.bar)
        return np.split(self.bar, [len(self.x)])

    def along(self, t, x, u, dx, du):
        """Returns ∂ẋ/∂x dx + ∂ẋ/∂u du."""
        self._set(t, x, u)
        self.direction[:] = np.append(dx, du)
        self._derivative(self.fmu.fmi3GetDirectionalDerivative, self.direction, self.rate)
        return self.rate

    def _derivative(self, function, seed, to):
        function(
            self.fmu.component,
            self.unknowns,
            len(self.unknowns),
            self.knowns,
            len(self.knowns),
            self._of(seed),
            len(seed),
            self._of(to),
            len(to),
        )


def stages(model, t, x, u, derivative):
    """Returns the four stages' arguments and results of a Runge–Kutta step from x."""
    arguments, slopes = [], []
    for part in (0.0, 0.5, 0.5, 1.0):
        at = x + part * H * slopes[-1] if slopes else x.copy()
        arguments.append(at)
        slopes.append(derivative(t + part * H, at, u).copy())
    return arguments, slopes


def end_of(slopes):
    return H / 6.0 * (slopes[0] + 2.0 * slopes[1] + 2.0 * slopes[2] + slopes[3])


def run(model, torques):
    """Returns the last state and, for each step, the states of its stages."""
    x, kept = model.x0, []
    for n, u in enumerate(torques):
        arguments, slopes = stages(model, n * H, x, u, model.derivatives)
        kept.append(arguments)
        x = x + end_of(slopes)
    return x, kept


def goal(model):
    target = model.x0.copy()
    for name, value in GOAL.items():
        target[model.x.index(name)] = value
    return target


def cost(model, torques):
    return 0.5 * np.sum((run(model, torques)[0] - goal(model)) ** 2)


def gradient(model, torques):
    """Returns the gradient of the cost by all torques: a run, and its steps once backwards."""
    x, kept = run(model, torques)
    by_x, by_u = x - goal(model), np.zeros_like(torques)
    for n in range(len(torques) - 1, -1, -1):
        # The adjoint of the slope of a stage: its weight in the step, and its part in the next stage.
        of_stages, of_next = np.zeros_like(by_x), np.zeros_like(by_x)
        for at, part, weight, shift in zip(kept[n][::-1], (1.0, 0.5, 0.5, 0.0), (1.0, 2.0, 2.0, 1.0), (0.0, 1.0, 0.5, 0.5)):
            seed = weight * H / 6.0 * by_x + shift * H * of_next
            of_next, of_u = (bar.copy() for bar in model.adjoint((n + part) * H, at, torques[n], seed))
            of_stages += of_next
            by_u[n] += of_u
        by_x = by_x + of_stages
    return by_u


def along(model, torques, direction):
    """Returns the derivative of the cost along a direction of the torques: one run with its tangent."""
    x, dx = model.x0, np.zeros_like(model.x0)
    for n, (u, du) in enumerate(zip(torques, direction)):
        arguments, slopes = stages(model, n * H, x, u, model.derivatives)
        at = iter(arguments)
        _, tangents = stages(model, n * H, dx, du, lambda t, of_x, of_u: model.along(t, next(at), u, of_x, of_u))
        x, dx = x + end_of(slopes), dx + end_of(tangents)
    return (x - goal(model)) @ dx


def shortest(function):
    """Returns the result, and the shortest processor time in seconds."""
    times = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        result = function()
        times.append(time.process_time() - begin)
    return result, min(times)


def evaluate(model, function, *seeds):
    """Returns the processor time of a function of the model, in seconds, the interpreter's included."""
    u = np.ones(len(model.u))
    return shortest(lambda: [function(0.0, model.x0, u, *seeds) for _ in range(2000)])[1] / 2000


def study(tool, directory):
    """Returns the measures of both arms, by their names."""
    directory.mkdir(parents=True, exist_ok=True)
    text = (HERE / "arm.toml").read_text(encoding="utf-8")
    specs = {"rigid arm": re.sub(r"\[body\.\w+\.beam\]\n(.+\n)*", "", text), "flexible arm": text}
    rng = np.random.default_rng(1)
    measured = {}
    for name, spec in specs.items():
        model = Model(build(tool, name.replace(" ", "_"), spec, directory, "--fmi", "3"))
        phases = 2.0 * np.pi * np.linspace(0.0, 1.0, INTERVALS)[:, None] * np.array([1.0, 1.5])
        torques = TORQUES * np.sin(phases)
        found, seconds = shortest(lambda: gradient(model, torques))
        _, of_run = shortest(lambda: run(model, torques))
        direction = rng.uniform(-1.0, 1.0, torques.shape)
        exact, of_tangent = shortest(lambda: along(model, torques, direction))
        differences = []
        for index in ((0, 0), (120, 1), (250, 0), (INTERVALS - 1, 1)):
            step = np.zeros_like(torques)
            step[index] = DIFFERENCE
            slope = (cost(model, torques + step) - cost(model, torques - step)) / (2.0 * DIFFERENCE)
            differences.append(abs(slope - found[index]))
        x, w = len(model.x), np.ones(len(model.x))
        measured[name] = {
            "states": x,
            "control values": found.size,
            "run": of_run,
            "gradient": seconds,
            "tangent": of_tangent,
            "ratio": seconds / of_run,
            "of adjoint": evaluate(model, model.adjoint, w) / evaluate(model, model.derivatives),
            "along": abs(np.sum(found * direction) - exact) / np.sum(np.abs(found * direction)),
            "differences": max(differences) / np.abs(found).max(),
        }
    return measured


def table(measured):
    """Returns the results of `study` as a Markdown table."""
    rows = {
        "states, control values": lambda of: f"{of['states']}, {of['control values']}",
        "processor time of the run, ms": lambda of: f"{1e3 * of['run']:.1f}",
        "of the run and its gradient, ms": lambda of: f"{1e3 * of['gradient']:.1f}",
        "run and gradient, in runs": lambda of: f"{of['ratio']:.1f}",
        "one adjoint derivative, in evaluations": lambda of: f"{of['of adjoint']:.1f}",
        "run with directional derivatives along one direction, ms": lambda of: f"{1e3 * of['tangent']:.1f}",
        "gradient along this direction less that, relative": lambda of: f"{of['along']:.0e}",
        "gradient less central differences, relative": lambda of: f"{of['differences']:.0e}",
    }
    lines = ["| | " + " | ".join(measured) + " |", "|---|" + "---|" * len(measured)]
    lines += [f"| {title} | " + " | ".join(cell(of) for of in measured.values()) + " |" for title, cell in rows.items()]
    return "\n".join(lines) + "\n"


def main():
    arguments = options(command_line("The gradient of a run by 1,000 control values.", "out/optimisation"))
    text = table(study(arguments.grapple, arguments.output))
    (arguments.output / "gradient.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
