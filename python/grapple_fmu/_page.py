"""Pages of results."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

PathLike = str | os.PathLike[str]

# Height of a page in a notebook.
_HEIGHT = "42rem"


class Page:
    """Page with charts, tables and an animation: one HTML file that needs no network.

    The last expression of a notebook's cell shows it; `save` writes it.
    """

    html: str
    """Text of the file."""

    def __init__(self, html: str) -> None:
        self.html = html

    def save(self, path: PathLike) -> Path:
        """Writes the page and returns its path."""
        path = Path(path)
        path.write_text(self.html, encoding="utf-8")
        return path

    def _repr_html_(self) -> str:
        source = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{source}" style="width: 100%; height: {_HEIGHT}; border: 0"></iframe>'

    def __repr__(self) -> str:
        return f"<Page of {len(self.html) / 1e6:.1f} MB: save(path) writes it>"


def page(
    results: PathLike | Sequence[PathLike],
    model: object,
    *,
    component: str | None = None,
    set: Mapping[str, float] | None = None,
) -> Page:
    """Returns the page of results that any program recorded: CSV or Parquet with a column `time` (s) and
    columns named as the variables of the FMU.

    With several files the charts show all runs; picture and tables are those of the first. `model` is a
    `Spec`, a spec's file or an FMU. `component` is the prefix of the model's variables if there are several;
    `set` gives parameters the values of the runs, in SI units.

    Raises GrappleError if a file is not a table of this model's variables. Parts that cannot be drawn are
    reported as warnings.

    Examples:
        >>> spec = grapple.new("two_link")
        >>> table = spec.simulate(stop_time=1.0).save("run.csv")
        >>> grapple.page(table, spec).save("run.html").name
        'run.html'
    """
    import warnings

    from . import _native
    from ._spec import items, package

    files = [results] if isinstance(results, (str, os.PathLike)) else list(results)
    if not files:
        raise ValueError("results: there is no file")
    text, remarks = _native.page([os.fspath(file) for file in files], package(model), component, items(set, "set"))
    for remark in remarks:
        warnings.warn(remark, stacklevel=2)
    return Page(text)
