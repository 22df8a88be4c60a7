"""Errors of the library, and the problems of a spec."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal


def optional(module: str, user: str) -> Any:
    """Returns a module of a package that may be missing. Raises ImportError with the function that needs it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise ImportError(f"{user} needs {package}: pip install {package}") from None


@dataclass(frozen=True)
class Problem:
    """Something about a spec, a study or a robot description, with its place.

    `line` and `column` count from one. Without a file they are those of `Spec.to_toml()`. The text of a
    warning or a note names the part of the model instead.

    Examples:
        >>> spec = grapple.load({"name": "probe", "body": {"hull": {"mass": -2.0, "inertia": [1.0, 1.0, 0.8]}}})
        >>> print(spec.check()[0])
        spec:4:1: body "hull", mass: the mass -2 kg is not positive
    """

    message: str
    """Description of the problem."""
    file: str | None = None
    """File that contains it."""
    line: int | None = None
    """Line, from one."""
    column: int | None = None
    """Column, from one."""
    kind: Literal["error", "warning", "note"] = "error"
    """Severity: a spec with errors cannot be used."""

    @property
    def hint(self) -> str | None:
        """The part of the message after its first semicolon, which says what to do: `did you mean "elbow.q"?`,
        `use another start`; None if the message has none."""
        return self.message.partition("; ")[2] or None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        return f"{place}: {self.message}" if place else self.message


class GrappleError(RuntimeError):
    """Error of the library: an invalid spec, an unknown name, a failed run.

    Examples:
        >>> try:
        ...     grapple.new("two_link").simulate(set={"forearm.mas": 3.0})
        ... except grapple.GrappleError as error:
        ...     print(error)
        there is no parameter or input "forearm.mas"; did you mean "forearm.mass"?
    """

    problems: list[Problem]
    """One entry for each error of a spec, with the messages that the tool prints."""
    result: object | None
    """What a run had recorded before it failed (a `Result`), otherwise None."""

    def __init__(
        self, message: str, problems: Iterable[tuple[str, str | None, int | None, int | None]] = (), result: object | None = None
    ) -> None:
        super().__init__(message)
        self.problems = [Problem(*problem) for problem in problems]
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:
        parts = [(problem.message, problem.file, problem.line, problem.column) for problem in self.problems]
        return type(self), (str(self), parts, self.result)
