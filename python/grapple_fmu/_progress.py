"""Progress of long work by tqdm."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Generator
from typing import Any

Progress = bool | Callable[[float, float], object] | None
"""`True` shows a bar, `False` none, `None` one on a terminal or in a notebook if tqdm is installed; a
function is called with the part that is done and the whole."""

# Time until a bar appears, s.
_DELAY = 1.0


def _is_interactive() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


@contextlib.contextmanager
def reported(progress: Progress, unit: str) -> Generator[Callable[[float, float], object] | None]:
    """Yields the function that reports progress, or None; closes the bar at the end."""
    if callable(progress):
        yield progress
        return
    if progress is False or (progress is None and not _is_interactive()):
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if progress:
            raise ImportError("progress=True needs tqdm: pip install tqdm") from None
        yield None
        return
    begin = time.monotonic()
    bars: list[Any] = []

    def report(done: float, whole: float) -> None:
        if not bars:
            if time.monotonic() - begin < _DELAY:
                return
            bars.append(
                tqdm(total=whole, unit=unit, bar_format="{l_bar}{bar}| {n:.4g}/{total:.4g} {unit} [{elapsed}<{remaining}]")
            )
        bars[0].n = done
        bars[0].refresh()

    try:
        yield report
    finally:
        for bar in bars:
            bar.close()
