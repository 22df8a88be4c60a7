"""Bulk data of Nastran (`.bdf`, `.dat`, `.pch`): grid points, coordinate systems and matrices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from ._coordinates import Card, Coordinates, Grid, GridCard, Kind
from ._dmig import Dmig
from ._errors import GrappleError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

READ = {"GRID", "GRDSET", "DMIG", "CORD1R", "CORD1C", "CORD1S", "CORD2R", "CORD2C", "CORD2S"}
DEEPEST = 10
"""Levels of INCLUDE statements."""


@dataclass(frozen=True)
class Entry:
    """Entry of the bulk data with its fields, from the second on."""

    path: Path
    line: int
    name: str
    fields: tuple[str, ...]

    def error(self, text: str) -> GrappleError:
        return GrappleError(f"{self.path}:{self.line}: {self.name}: {text}")

    def text(self, at: int) -> str:
        return self.fields[at] if at < len(self.fields) else ""

    def integer(self, at: int, default: int | None = None) -> int:
        """Returns a whole number. Raises an error if the field is blank and there is no default."""
        text = self.text(at)
        if not text and default is not None:
            return default
        if re.fullmatch(r"[-+]?\d+", text) is None:
            raise self.error(f"field {at + 2} is {text!r}; it must be a whole number")
        return int(text)

    def real(self, at: int) -> float:
        """Returns a number, 0 for a blank field; `1.5-3` and `1.5D-3` are 1.5e-3."""
        text = re.sub(r"(?<=[0-9.])([-+]\d+)$", r"E\1", self.text(at).upper().replace("D", "E"))
        try:
            value = float(text or 0.0)
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            raise self.error(f"field {at + 2} is {self.text(at)!r}; it must be a number")
        return value

    def reals(self, at: int, count: int) -> Array:
        return np.array([self.real(at + k) for k in range(count)])


def _lines(path: Path, root: Path | None = None, depth: int = 0) -> Iterator[tuple[Path, int, str]]:
    """Yields the lines of the main bulk data, with those of included files; comments are left out.

    Parts of superelements, behind a second BEGIN, are not read.
    """
    if depth > DEEPEST:
        raise GrappleError(f"{path}: INCLUDE statements are nested more than {DEEPEST} deep")
    try:
        text = path.read_text(encoding="latin-1").splitlines()
    except OSError as error:
        raise GrappleError(
            f"{path}: {'no such file' if isinstance(error, FileNotFoundError) else error.strerror or error}"
        ) from None
    lines = [(number, line.partition("$")[0].rstrip()) for number, line in enumerate(text, 1)]
    begins = [k for k, (_, line) in enumerate(lines) if re.match(r"\s*BEGIN\b", line, re.I)]
    for number, line in lines[begins[0] + 1 if begins else 0 : begins[1] if begins[1:] else None]:
        if re.match(r"ENDDATA\b", line, re.I):
            return
        if match := re.match(r"\s*INCLUDE\s+(.*)$", line, re.I):
            name = match[1].strip().strip("'\"")
            if match[1].strip()[:1] in ("'", '"') and match[1].strip()[0] not in match[1].strip()[1:]:
                raise GrappleError(f"{path}:{number}: INCLUDE: the name continues in the next line, which is not read")
            # Relative to the file, or to the first one.
            places = [path.parent / name, (root or path).parent / name]
            yield from _lines(next((place for place in places if place.is_file()), places[0]), root or path, depth + 1)
        elif line.lstrip()[:1] in ("=", "*") and re.match(r"\s*=|.*,\s*(=|\*\(?[-+.\d])", line):
            raise GrappleError(f"{path}:{number}: replicated entries (=) are not read; write all entries, or give the .op2 file")
        elif line.strip():
            yield path, number, line


def _fields(line: str) -> list[str]:
    """Returns the fields of a line: the name (or the mark of a continuation), then eight, or four wide ones."""
    if "," in line:
        fields = [field.strip() for field in line.split(",")]
        count = 4 if fields[0].endswith("*") else 8
        return (fields + [""] * count)[: count + 1]
    line = line.expandtabs(8)
    name = line[:8].strip()
    width = 16 if "*" in name else 8
    return [name, *(line[at : at + width].strip() for at in range(8, 72, width))]


def entries(path: Path) -> Iterator[Entry]:
    """Yields the entries that are read. Raises GrappleError with file and line."""
    current: tuple[Path, int, str] | None = None
    fields: list[str] = []
    for file, number, line in _lines(path):
        name, *rest = _fields(line)
        if name == "" or name[0] in "+*":
            fields += rest
            continue
        if current is not None:
            yield Entry(*current, tuple(fields))
        name = name.rstrip("*").strip().upper()
        current, fields = ((file, number, name), rest) if name in READ else (None, [])
    if current is not None:
        yield Entry(*current, tuple(fields))


def bulk_data(path: Path) -> tuple[dict[int, Grid], dict[str, Dmig]]:
    """Returns grid points and matrices of a file, the latter by name."""
    grids: dict[int, Entry] = {}
    systems: dict[int, Card] = {}
    matrices: dict[str, Dmig] = {}
    default = (0, 0)
    for entry in entries(path):
        if entry.name == "GRID":
            node = entry.integer(0)
            if node in grids and entry.fields != grids[node].fields:
                raise entry.error(f"grid point {node} is also in line {grids[node].line}, with other numbers")
            grids[node] = entry
        elif entry.name == "GRDSET":
            default = entry.integer(1, 0), entry.integer(5, 0)
        elif entry.name == "DMIG":
            _dmig(entry, matrices)
        else:
            systems |= _systems(entry)
    cards = {
        node: GridCard(entry.integer(1, default[0]), entry.reals(2, 3), entry.integer(5, default[1]))
        for node, entry in grids.items()
    }
    return Coordinates(str(path), cards, systems).grids(), matrices


def _systems(entry: Entry) -> dict[int, Card]:
    """Returns the coordinate systems of an entry; CORD1R, CORD1C and CORD1S may have two."""
    kind = cast("Kind", entry.name[-1])
    if entry.name.startswith("CORD2"):
        return {entry.integer(0): Card(kind, None, entry.integer(1, 0), entry.reals(2, 9).reshape(3, 3))}
    starts = [at for at in (0, 4) if entry.text(at)]
    return {entry.integer(at): Card(kind, (entry.integer(at + 1), entry.integer(at + 2), entry.integer(at + 3))) for at in starts}


def _dmig(entry: Entry, matrices: dict[str, Dmig]) -> None:
    """Reads a heading or a column of a matrix."""
    name = entry.text(0).upper()
    if entry.text(1) == "0":
        form, kind = entry.integer(2), entry.integer(3)
        matrices[name] = Dmig(form, kind in (3, 4))
        return
    if name not in matrices:
        raise entry.error(f"the column of the matrix {name} is before its heading")
    column = entry.integer(1), entry.integer(2, 0)
    for at in range(4, len(entry.fields), 4):
        if entry.text(at):
            matrices[name].elements.append(((entry.integer(at), entry.integer(at + 1, 0)), column, entry.real(at + 2)))
