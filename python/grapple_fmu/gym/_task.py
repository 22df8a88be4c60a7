"""Tasks: actions, observations, costs and ends of an episode, as data."""

from __future__ import annotations

import copy
import math
import os
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, cast

from .. import _native
from .._errors import GrappleError
from .._model import Simulation
from .._spec import Spec, load

FOLDER = Path(__file__).parent / "tasks"
# Tasks of this package: files in its folder `tasks`.
TASKS = ("reach", "capture", "slew")

_T = TypeVar("_T")

_FIELDS = (
    "spec",
    "description",
    "step",
    "duration",
    "set",
    "dispersion",
    "action",
    "observation",
    "cost",
    "reward",
    "success",
    "failure",
)


@dataclass(frozen=True)
class Cost:
    """A running cost: weight · |value − target|^power, per second."""

    weight: float
    """Weight, 1/s per unit of the value to the power."""
    target: float = 0.0
    """Value without cost, in its unit."""
    power: float = 2.0
    """Exponent, positive."""


@dataclass
class Task:
    """A task: the model, and the meaning of actions, observations, reward and end of an episode.

    `Task.of` reads it from a file; docs/gymnasium.md describes the fields. Names of vectors stand for their
    components. All numbers are in the variables' units.

    Examples:
        >>> task = grapple.gym.Task.of("reach")
        >>> task.action["elbow.tau"], task.step, task.success["miss.distance"]
        (20.0, 0.1, (0.0, 0.05))
    """

    name: str
    """Name: that of the file, or of the model."""
    spec: Spec
    """The model."""
    step: float
    """Time of a step of the environment, s."""
    duration: float
    """Time after which an episode is truncated, s."""
    action: dict[str, float]
    """Inputs that an action sets, each with its largest magnitude."""
    observation: dict[str, float]
    """Variables of an observation, each with its scale."""
    cost: dict[str, Cost] = field(default_factory=dict[str, Cost])
    """Running costs of variables."""
    effort: float = 0.0
    """Cost of the mean square of actions over their largest magnitudes, 1/s."""
    rewards: tuple[float, float] = (0.0, 0.0)
    """Rewards at success and at failure."""
    success: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    """Ranges of variables; an episode ends with success if all are in them."""
    failure: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    """Ranges of variables; an episode ends with failure if any is in its own."""
    set: dict[str, float] = field(default_factory=dict[str, float])
    """Parameters and inputs with other values than the model's, in all episodes."""
    dispersion: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """Parameters and inputs that differ between episodes, as in a campaign."""
    nominal: dict[str, float] = field(default_factory=dict[str, float])
    """The model's values of the dispersed variables."""

    @staticmethod
    def of(source: str | os.PathLike[str] | Mapping[str, Any] | Task) -> Task:
        """Reads a task: a name in `TASKS`, the path of a file (TOML), or a mapping with its fields.

        The field `spec` is a path relative to the file (to the current folder in a mapping), or a `Spec`.

        Raises GrappleError with all errors of the task and OSError for a file that cannot be read.
        """
        if isinstance(source, Task):
            return source
        if isinstance(source, Mapping):
            return _Reader("task", source, Path()).task()
        is_known = isinstance(source, str) and source in TASKS
        path = FOLDER / f"{source}.toml" if is_known else Path(source)
        if not is_known and path.suffix != ".toml":
            raise GrappleError(
                f"there is no task {str(source)!r}; tasks of the package are {', '.join(TASKS)}, others are files *.toml"
            )
        try:
            fields = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise GrappleError(f"{path}: {error}") from None
        return _Reader(path.stem if is_known else str(path), fields, path.parent).task()

    def simulation(self) -> Simulation:
        """Returns a run at its start, with the values of `set`."""
        simulation = self.spec.simulation()
        simulation.set(self.set)
        return simulation

    def values(self, seed: int, run: int) -> dict[str, float]:
        """Returns the dispersed values of an episode: those of `run` in a campaign with this seed."""
        return {name: _native.dispersed(of, self.nominal[name], seed, name, run) for name, of in self.dispersion.items()}


class _Reader:
    """Reads and validates the fields of a task."""

    def __init__(self, name: str, fields: Mapping[str, Any], folder: Path) -> None:
        self.name, self.fields, self.folder = name, fields, folder
        self.problems: list[str] = []

    def task(self) -> Task:
        """Returns the task. Raises GrappleError with all problems."""
        for key in self.fields:
            if key not in _FIELDS:
                near = get_close_matches(key, _FIELDS, 1)
                self.report(
                    key, f"there is no such field; {f'did you mean {near[0]!r}?' if near else 'fields are ' + ', '.join(_FIELDS)}"
                )
        spec = self.fields.get("spec")
        if not isinstance(spec, (str, os.PathLike, Spec)):
            raise GrappleError(f'{self.name}: spec: the file of the model is missing; write spec = "arm.toml"')
        model = spec.copy() if isinstance(spec, Spec) else load(self.folder / spec)
        # A text is compiled once; a dictionary may be edited.
        model = load(model.to_toml(), folder=model.folder) if model.is_edited else model
        self.run = model.simulation()
        self.outputs = {*self.run.output_names, *self.run.state_names}
        reward = self.table("reward", self.number, only=("effort", "success", "failure"))
        task = Task(
            self.name,
            model,
            step=self.positive("step"),
            duration=self.positive("duration"),
            action=self.table("action", self.limit, self.run.input_names),
            observation=self.table("observation", self.scale, self.outputs),
            cost=self.table("cost", self.cost, self.outputs),
            effort=reward.get("effort", 0.0),
            rewards=(reward.get("success", 0.0), reward.get("failure", 0.0)),
            success=self.table("success", self.range, self.outputs),
            failure=self.table("failure", self.range, self.outputs),
            set=self.table("set", self.number),
            dispersion=copy.deepcopy(cast("dict[str, Any]", self.mapping("dispersion"))),
        )
        for key in ("action", "observation"):
            if not self.mapping(key):
                self.report(key, "it is missing; name at least one variable")
        if task.duration < task.step:
            self.report("duration", f"{task.duration} s is shorter than a step of {task.step} s")
        self.campaign(task)
        if self.problems:
            count = f"{len(self.problems)} problem{'s' * (len(self.problems) > 1)}"
            text = "\n  ".join([f"{self.name}: {count}", *self.problems])
            raise GrappleError(text, [(problem, None, None, None) for problem in self.problems])
        task.nominal = {name: self.run[name] for name in task.dispersion}
        return task

    def report(self, key: str, text: str) -> None:
        self.problems.append(f"{key}: {text}")

    def mapping(self, key: str) -> Mapping[str, Any]:
        value = self.fields.get(key, {})
        if isinstance(value, Mapping):
            return cast("Mapping[str, Any]", value)
        self.report(key, f"a table of names is expected, not {value!r}")
        return {}

    def table(
        self, key: str, read: Callable[[str, str, Any], _T | None], names: Any = None, only: tuple[str, ...] = ()
    ) -> dict[str, _T]:
        """Returns the entries of a table, vectors by their components."""
        entries: dict[str, _T] = {}
        for name, value in self.mapping(key).items():
            if only and name not in only:
                self.report(key, f"there is no {name!r}; it has {', '.join(only)}")
                continue
            components = [name] if names is None else self.components(key, name, names)
            if components and (entry := read(key, name, value)) is not None:
                entries |= dict.fromkeys(components, entry)
        return entries

    def components(self, key: str, name: str, names: Any) -> list[str]:
        """Returns the variable, or the components of a vector; reports an unknown name."""
        if name in names:
            return [name]
        found = [
            component
            for component in self.run.state_names + self.run.output_names + self.run.input_names
            if component.startswith(f"{name}[")
        ]
        if found and all(component in names for component in found):
            return found
        try:
            _ = self.run[found[0] if found else name]
        except GrappleError as error:
            self.report(key, str(error))
        else:
            known = ", ".join(self.run.input_names) or "there are none"
            self.report(
                key,
                f"{name!r} is no input; inputs are {known}" if key == "action" else f"{name!r} is neither an output nor a state",
            )
        return []

    def positive(self, key: str) -> float:
        value = self.number(key, "", self.fields.get(key))
        if value is not None and not value > 0.0:
            self.report(key, f"{value} s is not positive")
        return 1.0 if value is None or not value > 0.0 else value

    def number(self, key: str, name: str, value: Any) -> float | None:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
        self.report(key, f"{name + ': ' if name else ''}a finite number is expected, not {value!r}")
        return None

    def scale(self, key: str, name: str, value: Any) -> float | None:
        value = self.number(key, name, value)
        if value is not None and not value > 0.0:
            self.report(key, f"{name}: {value} is not positive")
        return value

    def limit(self, key: str, name: str, value: Any) -> float | None:
        """Returns the largest magnitude of an input; `"model"` is the limit of the model's motor."""
        if value != "model":
            return self.scale(key, name, value)
        limit = f"{name.rpartition('.')[0]}.torque_limit"
        try:
            return self.run[limit]
        except GrappleError:
            self.report(
                key,
                f"{name}: the model has no {limit!r}; write motor = {{ torque_limit = … }} there, or the largest magnitude here",
            )
            return None

    def range(self, key: str, name: str, value: Any) -> tuple[float, float] | None:
        numbers: list[Any] = list(cast("list[Any]", value)) if isinstance(value, (list, tuple)) else []
        if len(numbers) == 2 and all(isinstance(number, (int, float)) for number in numbers) and numbers[0] <= numbers[1]:
            return float(numbers[0]), float(numbers[1])
        self.report(key, f"{name}: [lowest, highest] is expected, not {value!r}")
        return None

    def cost(self, key: str, name: str, value: Any) -> Cost | None:
        if not isinstance(value, Mapping):
            value = {"weight": value}
        entries = cast("Mapping[str, Any]", value)
        if unknown := sorted(entries.keys() - {"weight", "target", "power"}):
            self.report(key, f"{name}: there is no {unknown[0]!r}; a cost has weight, target, power")
            return None
        numbers = {entry: self.number(key, f"{name}.{entry}", number) for entry, number in entries.items()}
        if any(number is None for number in numbers.values()) or "weight" not in numbers:
            return (
                None
                if numbers.get("weight", 0.0) is None
                else self.report(key, f"{name}: the weight is missing or a number is wrong")
            )
        cost = Cost(**{entry: number for entry, number in numbers.items() if number is not None})
        if not cost.power > 0.0:
            self.report(key, f"{name}: the power {cost.power} is not positive")
        return cost

    def campaign(self, task: Task) -> None:
        """Validates the values of `set` and the dispersions as the tool does those of a study."""
        for name, of in task.dispersion.items():
            if isinstance(of, Mapping) and "grid" in of:
                self.report("dispersion", f"{name}: episodes have no end, a grid has; use a list")
                return
        if not (task.set or task.dispersion) or not task.observation:
            return
        study: dict[str, Any] = {"model": "model.fmu", "runs": 1, "set": task.set, "dispersion": task.dispersion}
        study["output"] = {next(iter(task.observation)): ["final"]}
        with tempfile.TemporaryDirectory(prefix="grapple-") as name:
            folder = Path(name)
            task.spec._save_fmu(folder / "model.fmu")
            (folder / "study.toml").write_text(_native.to_toml(study), encoding="utf-8")
            try:
                _native.Package.campaign(folder / "study.toml", folder / "study", 1, [], None)
            except GrappleError as error:
                self.problems += [problem.message for problem in error.problems] or [str(error)]
