"""The environment of a task."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import gymnasium
import numpy as np

from .._errors import GrappleError
from .._native import Saved
from ._task import Task

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Array: TypeAlias = "NDArray[np.float64]"


@dataclass(frozen=True)
class State:
    """A copy of the complete state of an environment."""

    saved: Saved
    """State of the run."""
    steps: int
    """Steps since the start of the episode."""
    episode: tuple[int, int]
    """Seed and number of the episode."""
    random: Mapping[str, Any]
    """State of `np_random`."""


class Env(gymnasium.Env[_Array, _Array]):
    """The environment of a task: a run that is advanced by actions of constant inputs.

    Env(task, *, scaled=False, render_mode=None): `task` is a name in `TASKS`, the path of a task's file, or a `Task`.
    Actions and observations are vectors of float64 in the order of `task.action` and `task.observation`, in
    the units of the variables; actions beyond the limits are replaced by them. With `scaled` observations are divided
    by the task's scales, and actions range from -1 to 1.

    `reset(seed=s)` starts episode 0 of the seed, `reset()` the next one, and `reset(options={"run": k})` episode
    k: its dispersed values are those of run k in a campaign with this seed. `options={"set": {…}}` gives
    other values. The same seed, episode and actions give the same bits. With `render_mode="html"`, `render()`
    returns the page of the episode so far.

    Raises GrappleError for errors of the task, and for a step that fails.

    Examples:
        >>> env = grapple.gym.Env("reach")
        >>> observation, info = env.reset(seed=1)
        >>> observation.shape, info["run"], sorted(info["values"])[0]
        ((17,), 0, 'base.mass')
        >>> observation, reward, terminated, truncated, info = env.step(np.zeros(6))
        >>> round(info["t"], 6), terminated, truncated
        (0.1, False, False)
    """

    metadata: dict[str, Any] = {"render_modes": ["html"], "render_fps": 10}

    def __init__(
        self,
        task: str | os.PathLike[str] | Mapping[str, Any] | Task,
        *,
        scaled: bool = False,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, "html"):
            raise ValueError(f"render_mode must be 'html' or None, not {render_mode!r}")
        self.task = task = Task.of(task)
        """The task."""
        self.render_mode = render_mode
        self.metadata = {**type(self).metadata, "render_fps": 1.0 / task.step}
        self.simulation = task.simulation()
        """The run."""
        self._start = self.simulation.save()
        self._limits = np.array(list(task.action.values()))
        self._scales = np.array(list(task.observation.values()))
        self._is_scaled = scaled
        largest = np.ones_like(self._limits) if scaled else self._limits
        self.action_space = gymnasium.spaces.Box(-largest, largest, dtype=np.float64)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, self._scales.shape, np.float64)
        self._set_up()
        self._inputs = self.simulation.inputs
        self._steps = 0
        self._seed, self._run = 0, -1
        self._is_reset = self._is_advanced = False
        self._rows: list[_Array] = []
        self._values: dict[str, float] = {}

    def _set_up(self) -> None:
        """Finds the variables of the task in outputs, then states."""
        task, run = self.task, self.simulation
        index = {name: i for i, name in enumerate(run.output_names + run.state_names)}
        self._has_states = any(
            index[name] >= len(run.output_names) for name in [*task.observation, *task.cost, *task.success, *task.failure]
        )
        inputs = {name: i for i, name in enumerate(run.input_names)}
        self._to_inputs = np.array([inputs[name] for name in task.action])
        self._observed = np.array([index[name] for name in task.observation])
        self._costly = np.array([index[name] for name in task.cost], dtype=int)
        self._weight, self._target, self._power = (
            np.array([(cost.weight, cost.target, cost.power) for cost in task.cost.values()]).reshape(-1, 3).T
        )
        # Ranges of success, then of failure.
        self._ranged = np.array([index[name] for name in [*task.success, *task.failure]], dtype=int)
        self._low, self._high = np.array([*task.success.values(), *task.failure.values()]).reshape(-1, 2).T

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[_Array, dict[str, Any]]:
        """Starts an episode: with a seed episode 0, otherwise the next one, or that of `options={"run": k}`.

        `options={"set": {name: value}}` gives parameters and inputs other values. The dictionary has the time `t` (s), the
        `seed`, the episode's number `run` and the dispersed `values`.

        Raises GrappleError for unknown names and invalid values, ValueError for other options.
        """
        super().reset(seed=seed)
        options = options or {}
        if unknown := sorted(options.keys() - {"run", "set"}):
            raise ValueError(f"options: there is no {unknown[0]!r}; options are 'run' and 'set'")
        if seed is not None:
            self._seed, self._run = seed, -1
        elif self._run < 0 and not self._is_reset:
            self._seed = int(self.np_random.integers(2**63))
        self._run = int(options.get("run", self._run + 1))
        if self._run < 0:
            raise ValueError(f"options: the run {self._run} is negative")
        values = self.task.values(self._seed, self._run) | dict(options.get("set", {}))
        self.simulation.restore(self._start)
        self.simulation.set(values)
        self._inputs = self.simulation.inputs
        self._values, self._steps = values, 0
        self._is_reset, self._is_advanced = True, False
        read = self._read()
        self._rows = []
        self._record()
        info = {"t": self.simulation.time, "seed": self._seed, "run": self._run, "values": dict(values)}
        return self._observe(read), info

    def step(self, action: _Array) -> tuple[_Array, float, bool, bool, dict[str, Any]]:
        """Advances the run by a step with constant inputs.

        Returns the observation, the reward, True if the episode has succeeded or failed, True if its duration
        is over, and a dictionary with the time `t` (s) and `is_success`.

        Raises GrappleError if the run fails, ValueError for an action of another shape or without finite numbers.
        """
        if not self._is_advanced:
            self.advance(action)
        self._is_advanced = False
        self._steps += 1
        read = self._read()
        self._record()
        used = self._inputs[self._to_inputs] / self._limits
        of_costs = self._weight @ np.abs(read[self._costly] - self._target) ** self._power
        reward = -self.task.step * (of_costs + self.task.effort * (used @ used) / len(used))
        ranged, conditions = read[self._ranged], len(self.task.success)
        inside = (ranged >= self._low) & (ranged <= self._high)
        succeeds = conditions > 0 and bool(inside[:conditions].all())
        fails = not succeeds and bool(inside[conditions:].any())
        reward += succeeds * self.task.rewards[0] + fails * self.task.rewards[1]
        ended = self._steps * self.task.step >= self.task.duration * (1.0 - 1e-9)
        info = {"t": self.simulation.time, "is_success": succeeds}
        return self._observe(read), float(reward), succeeds or fails, ended, info

    def advance(self, action: _Array) -> None:
        """Integrates over a step; the next call of `step` returns its result. Other threads run meanwhile."""
        inputs = self.prepare(action)
        failed = None
        try:
            self.simulation.step(self.task.step, inputs)
        except GrappleError as error:
            failed = error
        self.finish(failed)

    def prepare(self, action: _Array) -> _Array:
        """Returns the inputs of the run for a step with this action."""
        if not self._is_reset:
            raise gymnasium.error.ResetNeeded("call reset before step")
        action = np.asarray(action, dtype=np.float64)
        if action.shape != self._limits.shape or not np.isfinite(action).all():
            raise ValueError(f"an action has {len(self._limits)} finite numbers, not {action!r}")
        if self._is_scaled:
            action = action * self._limits
        self._inputs[self._to_inputs] = np.minimum(np.maximum(action, -self._limits), self._limits)
        return self._inputs

    def finish(self, error: Exception | None) -> None:
        """Ends a step of the run: raises its error, if there is one, with the episode."""
        if isinstance(error, GrappleError):
            where = f"episode with seed {self._seed} and run {self._run}, t = {self.simulation.time} s"
            raise GrappleError(f"{where}: {error}", result=error.result) from error
        if error is not None:
            raise error
        self._is_advanced = True

    def save(self) -> State:
        """Returns a copy of the complete state: of the run, the episode and `np_random`."""
        random = self.np_random.bit_generator.state
        return State(self.simulation.save(), self._steps, (self._seed, self._run), random)

    def restore(self, state: State) -> _Array:
        """Restores a copy, also one of another environment of the same task, and returns the observation.

        The page of an episode begins anew.
        """
        self.simulation.restore(state.saved)
        self._inputs, self._steps = self.simulation.inputs, state.steps
        (self._seed, self._run), self.np_random.bit_generator.state = state.episode, state.random
        self._values = self.task.values(self._seed, self._run)
        self._is_reset, self._is_advanced, self._rows = True, False, []
        self._record()
        return self._observe(self._read())

    def _read(self) -> _Array:
        """Returns outputs, and states if the task has any."""
        run = self.simulation
        return np.concatenate((run.outputs, run.state)) if self._has_states else run.outputs

    def _observe(self, read: _Array) -> _Array:
        observed = read[self._observed]
        return observed / self._scales if self._is_scaled else observed

    def _record(self) -> None:
        if self.render_mode is not None:
            run = self.simulation
            self._rows.append(np.concatenate(([run.time], run.outputs, run.state, run.inputs)))

    def render(self) -> str | None:
        """Returns the page of the episode so far, with charts and an animation, as HTML; None without `render_mode`."""
        if self.render_mode is None:
            return None
        import tempfile
        from pathlib import Path

        from .._identify import write_table
        from .._page import page

        run = self.simulation
        names = ["time", *run.output_names, *run.state_names, *run.input_names]
        with tempfile.TemporaryDirectory(prefix="grapple-") as folder:
            table = Path(folder) / "episode.csv"
            write_table(dict(zip(names, np.array(self._rows).T)), table)
            values = (self.task.set | self._values).items()
            return page(table, self.task.spec, set={name: value for name, value in values if name not in run.input_names}).html
