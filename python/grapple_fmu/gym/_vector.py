"""Environments that are stepped together, in threads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from ._env import Env
from ._task import Task

if TYPE_CHECKING:
    from numpy.typing import NDArray


class VectorEnv(SyncVectorEnv):
    """Environments of one task whose runs advance in threads; the rest is `gymnasium.vector.SyncVectorEnv`.

    `threads` is the number of threads, by default that of the cores; results do not depend on it. The
    interpreter is released while the equations are integrated, not for observations and rewards: a thread
    more is of use where a step is long, as in flexible models. The other arguments are those of `Env`.

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
        self._threads = min(threads, num_envs)
        self._pool = ThreadPoolExecutor(self._threads, "grapple-env")

    def step(self, actions: Any) -> Any:
        """Advances all environments by a step; those that have ended are reset as `autoreset_mode` says."""
        waits = self._autoreset_envs if self.autoreset_mode == AutoresetMode.NEXT_STEP else np.zeros(self.num_envs, bool)
        moving = [i for i in range(self.num_envs) if not waits[i]]
        parts = [moving[k :: self._threads] for k in range(self._threads)]
        done = [self._pool.submit(self._advance, part, actions) for part in parts[1:] if part]
        try:
            self._advance(parts[0], actions)
        finally:
            failed = [error for part in done if (error := part.exception()) is not None]
        if failed:
            raise failed[0]
        return super().step(actions)

    def _advance(self, part: list[int], actions: NDArray[np.float64]) -> None:
        for i in part:
            self._runs[i].advance(actions[i])

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the threads."""
        self._pool.shutdown()
        super().close_extras(**kwargs)
