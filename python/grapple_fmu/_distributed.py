"""Campaigns whose runs are made by an executor: other processes, other machines."""

from __future__ import annotations

import os
import tempfile
import tomllib
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from pathlib import Path
from typing import TypeAlias

from . import _native
from ._errors import GrappleError

_Part: TypeAlias = "futures.Future[dict[str, bytes]]"

# Parts of a campaign for each core of this machine, by default.
_PARTS = 4

# Campaigns of this process that were cancelled: their parts in other threads end.
_cancelled: set[str] = set()


def _part(campaign: str, fmu: bytes, study: str, runs: list[int]) -> dict[str, bytes]:
    """Makes some runs of a study in any process; returns the files of their folder by name."""

    def check(done: float, whole: float) -> None:
        if campaign in _cancelled:
            raise futures.CancelledError

    with tempfile.TemporaryDirectory(prefix="grapple-") as root:
        folder, file = Path(root, "part"), Path(root, "study.toml")
        Path(root, "model.fmu").write_bytes(fmu)
        file.write_text(study, encoding="utf-8")
        _native.Package.campaign(file, folder, 1, runs, check)
        files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"]
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def distribute(
    study: Path, executor: futures.Executor, jobs: int | None, report: Callable[[float, float], object] | None
) -> Callable[[list[int]], Iterator[str]]:
    """Returns the function that has runs of a study made by an executor, in `jobs` parts, and yields a
    folder for each part."""

    def make(left: list[int]) -> Iterator[str]:
        from ._spec import load

        campaign, data = uuid.uuid4().hex, tomllib.loads(study.read_text(encoding="utf-8"))
        model = study.parent / data["model"]
        with tempfile.TemporaryDirectory(prefix="grapple-") as root:
            if model.suffix.lower() != ".fmu":
                model = load(model).build(Path(root, "model.fmu"))
            fmu, text = model.read_bytes(), _native.to_toml({**data, "model": "model.fmu"})
            count = min(_PARTS * (os.cpu_count() or 1) if jobs is None else jobs, len(left))
            parts: dict[_Part, list[int]] = {}
            done = 0
            try:
                for k in range(count):
                    parts[executor.submit(_part, campaign, fmu, text, left[k::count])] = left[k::count]
                for part in _completed(parts):
                    with tempfile.TemporaryDirectory(dir=root) as folder:
                        for name, contents in _files(part).items():
                            Path(folder, name).parent.mkdir(exist_ok=True)
                            Path(folder, name).write_bytes(contents)
                        yield folder
                    done += len(parts[part])
                    if report is not None:
                        report(done, len(left))
            finally:
                _cancelled.add(campaign)
                for part in parts:
                    part.cancel()

    return make


def _completed(parts: Iterable[_Part]) -> Iterator[_Part]:
    """Yields parts as they are completed; unlike `as_completed` it is interrupted by Ctrl-C on all systems."""
    pending = set(parts)
    while pending:
        done, pending = futures.wait(pending, timeout=0.1, return_when=futures.FIRST_COMPLETED)
        yield from done


def _files(part: _Part) -> dict[str, bytes]:
    """Returns the result of a part."""
    try:
        return part.result()
    except GrappleError:
        raise
    except Exception as error:
        text = f"a worker of the campaign failed: {error!r}; runs that are done are kept, the same call continues"
        raise GrappleError(text) from error
