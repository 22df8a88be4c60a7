"""Results of a run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._errors import optional
from ._page import Page, PathLike

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._model import Model


@dataclass(frozen=True)
class Health:
    """Diagnostics of a run: relative errors of conserved quantities, and the effort."""

    momentum: float | None
    """Largest change of the linear momentum relative to its scale; None if it is not conserved."""
    angular_momentum: float | None
    """Largest change of the angular momentum relative to its scale; None if it is not conserved."""
    momentum_note: str | None
    """Reason why the momentum is not rated."""
    energy: float | None
    """Largest error of the energy balance relative to the peak of the kinetic energy."""
    good: bool
    """True if no error is larger than expected for the tolerance."""
    steps: int
    """Number of communication steps."""
    solver: str | None
    """Statistics of the integrator."""
    real_time_factor: float
    """Simulated time divided by computing time."""
    text: str
    """All in one line."""

    def __str__(self) -> str:
        return self.text


class Result(Mapping[str, "NDArray[np.float64]"]):
    """Results of a run: a column (float64) for each variable, by its name, in SI units.

    `result["elbow.q"]` has the shape (rows,). `result["base.r"]` joins `base.r[1]`, `base.r[2]`, … to the shape
    (rows, 3). `result.time` are the times, s. In a notebook the result shows its page.

    Examples:
        >>> result = grapple.new("two_link").simulate(stop_time=1.0, step=0.1)
        >>> result["elbow.q"].shape, result.units["elbow.q"]
        ((11,), 'rad')
        >>> result["base.r"].shape
        (11, 3)
        >>> result.health.good
        True
    """

    def __init__(self, run: _native.Run) -> None:
        self._run = run
        self._index = {name: i for i, (name, _) in enumerate(run.columns)}
        self._columns: dict[str, NDArray[np.float64]] = {}
        self.time: NDArray[np.float64] = run.time
        """Times, s."""
        self.units: dict[str, str] = dict(run.columns)
        """Unit of each column in FMI's notation; empty for a pure number."""
        self.parameters: dict[str, float] = dict(run.parameters)
        """Values of the parameters that the run used."""

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        if name not in self._columns:
            if name in self._index:
                column = self._run.column(self._index[name])
                assert column is not None
                self._columns[name] = column
            elif f"{name}[1]" in self._index:
                parts: list[NDArray[np.float64]] = []
                while (part := f"{name}[{len(parts) + 1}]") in self._index:
                    parts.append(self[part])
                self._columns[name] = np.stack(parts, axis=1)
            elif name == "time":
                return self.time
            else:
                raise KeyError(self._unknown(name))
        return self._columns[name]

    def _unknown(self, name: str) -> str:
        import difflib

        near = difflib.get_close_matches(str(name), self._index, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "the result lists its names"
        return f"there is no variable {name!r}; {hint}"

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._run.name

    @property
    def events(self) -> list[dict[str, Any]]:
        """Table of the events: a row with the time `t` (s), the kind `event`, the `text`, and the values of
        the kind. `pandas.DataFrame(result.events)` is a frame."""
        return [json.loads(values) | {"text": text} for _, text, values in self._run.events]

    @property
    def messages(self) -> list[str]:
        """Messages of the FMU that are not events."""
        return self._run.messages

    @property
    def failure(self) -> str | None:
        """Reason why the run ended early, otherwise None."""
        return self._run.failure

    @property
    def health(self) -> Health:
        """Diagnostics: drift of conserved quantities, effort."""
        return Health(**self._run.health())

    def page(self) -> Page:
        """Returns the page of the run, with charts, tables and the animated spacecraft."""
        return Page(self._run.page())

    def save(self, path: PathLike) -> Path:
        """Writes the table: Parquet if the name ends in `.parquet`, otherwise CSV."""
        self._run.write(os.fspath(path))
        return Path(path)

    def model(self) -> Model:
        """Returns the model with the parameters of the run."""
        from ._model import Model

        return Model(self)

    def to_mcap(self, path: PathLike) -> Path:
        """Writes the run as an MCAP file (Protobuf), which Foxglove and Rerun open, and returns the path.

        Topics: `/tf` with the poses of all bodies and frames (foxglove.FrameTransforms, parent `world`; none
        for a model with ANCF beams); one for each owner of variables, `/elbow` with the fields `q`, `qd`, `der_qd`, …;
        `/events` (foxglove.Log). Units are in the metadata record `units`; times are rounded to nanoseconds.

        Raises ImportError without the packages of `grapple-fmu[mcap]`.
        """
        from ._mcap import write

        write(self, Path(path))
        return Path(path)

    def to_pandas(self) -> Any:
        """Returns a `pandas.DataFrame` with the time as its index, and the units in `attrs["units"]`.

        Raises ImportError without pandas.
        """
        pandas = optional("pandas", "to_pandas")
        frame = pandas.DataFrame(dict(self), index=pandas.Index(self.time, name="time"))
        frame.attrs["units"] = {"time": "s", **self.units}
        return frame

    def to_arrow(self) -> Any:
        """Returns a `pyarrow.Table` with the column `time`, and the units in the metadata of its fields.

        Raises ImportError without pyarrow.
        """
        pyarrow = optional("pyarrow", "to_arrow")
        units = {"time": "s", **self.units}
        columns = {"time": self.time, **self}
        fields = [pyarrow.field(name, pyarrow.float64(), metadata={"unit": units[name]}) for name in columns]
        return pyarrow.table(list(columns.values()), schema=pyarrow.schema(fields))

    def _repr_html_(self) -> str:
        return self.page()._repr_html_()

    def __repr__(self) -> str:
        end = f"{self.time[-1]:g} s" if len(self.time) else "no rows"
        failed = f", failed: {self.failure}" if self.failure else ""
        return f"<Result of {self.name!r}: {len(self.time)} rows to {end}, {len(self)} variables{failed}>"
