"""Derivatives of runs with respect to parameters, and identification."""

from __future__ import annotations

import csv
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from . import _native
from ._errors import optional
from ._progress import Progress, reported

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._page import PathLike


@dataclass(frozen=True, eq=False)
class Sensitivities:
    """A run, and its derivatives with respect to parameters, start values and constant inputs.

    `of["elbow.q", "forearm.mass"]` is a derivative over time, `of["elbow.q"]` the column itself. The
    derivatives are those of the computed run with its events, by differences of the fourth order of runs that
    take the same steps.

    Examples:
        >>> spec = grapple.new("two_link")
        >>> of = spec.sensitivities(["forearm.mass", "elbow.q_start"], outputs=["elbow.q"], stop_time=1.0)
        >>> of.derivatives.shape
        (101, 1, 2)
        >>> float(of["elbow.q", "elbow.q_start"][0])
        1.0
    """

    time: NDArray[np.float64]
    """Times, s, n."""
    columns: tuple[str, ...]
    """Names of the m columns."""
    units: tuple[str, ...]
    """Units of the columns in FMI's notation."""
    values: NDArray[np.float64]
    """The run, n × m."""
    parameters: tuple[str, ...]
    """Names of the p parameters."""
    parameter_units: tuple[str, ...]
    """Units of the parameters."""
    derivatives: NDArray[np.float64]
    """Derivatives, n × m × p; each has the unit of its column over that of the parameter."""
    errors: dict[str, float]
    """Estimated error of the differences for each parameter, relative to the largest derivative of a column, without
    the error of the run itself."""
    differing: tuple[str, ...]
    """Parameters for which neighbouring runs have other events up to a row, where derivatives do not exist, or other
    steps, with which they are less accurate."""
    switching: tuple[str, ...]
    """Compliant contacts, and joints with compliant stops: derivatives across a switch of their forces are not
    accurate."""

    def __getitem__(self, name: str | tuple[str, str]) -> NDArray[np.float64]:
        if isinstance(name, str):
            return self.values[:, _place(self.columns, name, "column")]
        column, parameter = name
        return self.derivatives[:, _place(self.columns, column, "column"), _place(self.parameters, parameter, "parameter")]

    def to_pandas(self) -> Any:
        """Returns the derivatives as a `pandas.DataFrame`: the time is the index, a column is a pair of names.
        Raises ImportError without pandas."""
        pandas = optional("pandas", "to_pandas")
        names = pandas.MultiIndex.from_product([self.columns, self.parameters])
        return pandas.DataFrame(self.derivatives.reshape(len(self.time), -1), index=self.time, columns=names)


def _place(names: tuple[str, ...], name: str, what: str) -> int:
    try:
        return names.index(name)
    except ValueError:
        raise KeyError(f"there is no {what} {name!r}; there are {', '.join(names)}") from None


def sensitivities_of(parts: dict[str, Any]) -> Sensitivities:
    """Returns the derivatives that the library computed."""
    columns = parts["columns"]
    names = tuple(name for name, *_ in parts["parameters"])
    found = Sensitivities(
        time=parts["time"],
        columns=tuple(name for name, *_ in columns),
        units=tuple(unit for _, unit, _ in columns),
        values=np.array([values for *_, values in columns]).reshape(len(columns), len(parts["time"])).T,
        parameters=names,
        parameter_units=tuple(unit for _, unit, _ in parts["parameters"]),
        derivatives=parts["derivatives"],
        errors=dict(zip(names, parts["errors"], strict=True)),
        differing=tuple(parts["differing"]),
        switching=tuple(parts["switching"]),
    )
    if found.switching:
        which = ", ".join(found.switching)
        warnings.warn(f"forces of {which} switch inside steps: derivatives across a switch are not accurate", stacklevel=3)
    if found.differing:
        which = ", ".join(found.differing)
        warnings.warn(f"runs with neighbouring values of {which} have other events up to a row, or other steps", stacklevel=3)
    return found


@dataclass(frozen=True)
class Estimate:
    """An identified parameter, start value or input."""

    name: str
    """Name."""
    unit: str
    """Unit in FMI's notation; empty for a pure number."""
    guess: float
    """First guess."""
    value: float
    """Estimate."""
    sigma: float
    """Standard deviation of its error; infinite if the measurement does not determine it."""
    half_interval: float
    """Half of the length of the interval that contains the true value with 95 % probability."""


@dataclass(frozen=True)
class Residual:
    """Differences of the measured values of a variable and those of the model."""

    name: str
    """Name of the variable."""
    unit: str
    """Unit in FMI's notation; empty for a pure number."""
    count: int
    """Number of measured values."""
    sigma: float
    """Standard deviation of the noise: as given, or estimated."""
    rms: float
    """Root mean square of the differences."""
    correlation: float
    """Lag-1 correlation, of successive differences: nearly zero if they are noise."""


@dataclass(frozen=True, eq=False)
class Identified:
    """Result of an identification. `found["payload.mass"]` is an `Estimate`; `print` shows all."""

    parameters: tuple[Estimate, ...]
    """The identified parameters."""
    correlation: NDArray[np.float64]
    """Correlation matrix of their errors, p × p; NaN for those that the measurement does not determine."""
    undetermined: tuple[dict[str, float], ...]
    """Changes of parameters without effect on the measured variables, in their units."""
    residuals: tuple[Residual, ...]
    """The differences of measurement and model."""
    iterations: int
    """Number of Gauss–Newton steps."""
    fit: dict[str, NDArray[np.float64]]
    """The run with the estimates: `time` (s) and the measured variables."""
    warnings: tuple[str, ...]
    """Reasons for which the intervals may be wrong; columns that were not used."""
    _text: str = field(repr=False)

    def __getitem__(self, name: str) -> Estimate:
        return self.parameters[_place(tuple(of.name for of in self.parameters), name, "parameter")]

    @property
    def values(self) -> dict[str, float]:
        """Estimates by name: `set` of a run."""
        return {of.name: of.value for of in self.parameters}

    def __str__(self) -> str:
        return self._text


def identify(file: PathLike, *, progress: Progress = None) -> Identified:
    """Identifies the parameters in the file of an identification (TOML); see `Spec.identify`.

    Raises GrappleError with all errors of the file, or if the search does not converge.
    """
    with reported(progress, "steps") as report:
        parts = _native.identify(os.fspath(file), report)
    return Identified(
        parameters=tuple(Estimate(*of) for of in parts["parameters"]),
        correlation=parts["correlation"],
        undetermined=tuple(dict(of) for of in parts["undetermined"]),
        residuals=tuple(Residual(*of) for of in parts["residuals"]),
        iterations=parts["iterations"],
        fit={"time": parts["time"], **{name: values for name, _, values in parts["columns"]}},
        warnings=tuple(parts["warnings"]),
        _text=parts["text"].rstrip(),
    )


def write_table(data: Any, path: Path) -> None:
    """Writes a mapping of columns, or a DataFrame with a column or index `time`, as CSV."""
    if hasattr(data, "columns") and hasattr(data, "index"):  # a DataFrame
        columns: dict[str, Any] = {str(name): data[name] for name in data.columns}
        if data.index.name == "time":
            columns["time"] = data.index
    elif isinstance(data, Mapping):
        columns = {str(name): values for name, values in cast("Mapping[Any, Any]", data).items()}
    else:
        raise TypeError(f"data must be a mapping, a table or the path of a file, not {type(data).__name__}")
    arrays = {name: _numbers(name, values) for name, values in columns.items()}
    if len({array.shape for array in arrays.values()}) != 1 or any(array.ndim != 1 for array in arrays.values()):
        raise ValueError("the columns of data must be vectors of one length")
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(arrays)
        rows: list[list[float]] = np.column_stack(list(arrays.values())).tolist()
        writer.writerows(["" if number != number else repr(number) for number in row] for row in rows)


def _numbers(name: str, values: Any) -> NDArray[np.float64]:
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"data: column {name!r} has no numbers but {array.dtype}; times are in s")
    return array.astype(np.float64)
