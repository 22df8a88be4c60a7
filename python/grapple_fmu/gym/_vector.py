"""Environments that are stepped together, in threads and in the lanes of vectors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from .._native import Together
from ._env import Env
from ._task import Task

if TYPE_CHECKING:
    from numpy.typing import NDArray


class VectorEnv(SyncVectorEnv):
    """Environments of one task whose runs advance in threads; the rest is `gymnasium.vector.SyncVectorEnv`.

    `threads` is the number of threads, by default that of the cores. The interpreter is released while the
    equations are integrated, not for observations and rewards: a thread more is of use where a step is long,
    as in flexible models. With `lanes`, the runs of a thread advance together, four in the lanes of vectors.
    Results depend on neither. The other arguments are those of `Env`.

    Raises GrappleError with the reason if the model does not run in lanes.

    Examples:
        >>> envs = grapple.gym.VectorEnv("reach", num_envs=3)
        >>> observations, info = envs.reset(seed=1)     # seeds 1, 2 and 3
        >>> observations.shape, envs.action_space.shape
        ((3, 17), (3, 6))
        >>> envs.close()
    """

    def __init__(
        self,
        task: str | os.PathLike[str] | Mapping[str, Any] | Task,
        num_envs: int = 1,
        *,
        threads: int | None = None,
        lanes: bool = False,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        **options: Any,
    ) -> None:
        threads = os.cpu_count() or 1 if threads is None else int(threads)
        if num_envs < 1 or threads < 1:
            raise ValueError(f"num_envs = {num_envs} and threads = {threads} must be positive")
        task = Task.of(task)
        # Types of spaces are left open by gymnasium.
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            [lambda: Env(task, **options)] * num_envs, autoreset_mode=autoreset_mode
        )
        self._runs: list[Any] = [env.unwrapped for env in self.envs]
        self._step = task.step
        self._parts = [range(k, num_envs, threads) for k in range(min(threads, num_envs))]
        self._together = [Together([self._runs[i].simulation for i in part]) if lanes else None for part in self._parts]
        self._pool = ThreadPoolExecutor(len(self._parts), "grapple-env")

    def step(self, actions: Any) -> Any:
        """Advances all environments by a step; those that have ended are reset as `autoreset_mode` says."""
        waits = self._autoreset_envs if self.autoreset_mode == AutoresetMode.NEXT_STEP else np.zeros(self.num_envs, bool)
        done = [self._pool.submit(self._advance, k, actions, waits) for k in range(1, len(self._parts))]
        try:
            self._advance(0, actions, waits)
        finally:
            failed = [error for part in done if (error := part.exception()) is not None]
        if failed:
            raise failed[0]
        return super().step(actions)

    def _advance(self, number: int, actions: NDArray[np.float64], waits: NDArray[np.bool_]) -> None:
        part, together = self._parts[number], self._together[number]
        if together is None:
            for i in part:
                if not waits[i]:
                    self._runs[i].advance(actions[i])
            return
        inputs = [None if waits[i] else self._runs[i].prepare(actions[i]) for i in part]
        errors = together.step(self._step, inputs)
        # Runs without an error first, since an error ends the loop.
        for i, error in sorted(zip(part, errors), key=lambda of: of[1] is not None):
            if not waits[i]:
                self._runs[i].finish(error)

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the threads."""
        self._pool.shutdown()
        super().close_extras(**kwargs)
