"""Modal results in the printed output of Nastran (`.f06`): eigenvalues, eigenvectors, forces of constraints, masses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ._coordinates import Grid
from ._errors import GrappleError
from ._modal_results import ModalResults, few_modes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

EIGENVALUES = "R E A L   E I G E N V A L U E S"
EIGENVECTOR = "R E A L   E I G E N V E C T O R   N O ."
FORCES = "F O R C E S   O F   S I N G L E - P O I N T   C O N S T R A I N T"
WEIGHT = "O U T P U T   F R O M   G R I D   P O I N T   W E I G H T   G E N E R A T O R"
COMPLEX = "C O M P L E X   E I G E N V"
HEADING = "POINT ID."
DIGITS = 7
"""Digits of a printed number."""


@dataclass
class _Subcase:
    """Tables of one subcase."""

    eigenvalues: dict[int, tuple[float, float]] = field(default_factory=dict[int, tuple[float, float]])
    """Eigenvalue and generalised mass by mode."""
    shapes: dict[int, dict[int, tuple[float, ...]]] = field(default_factory=dict[int, dict[int, tuple[float, ...]]])
    forces: list[tuple[float, dict[int, tuple[float, ...]]]] = field(
        default_factory=list[tuple[float, dict[int, tuple[float, ...]]]]
    )
    """Eigenvalue, and forces by grid point, in the order of printing."""


class _Reader:
    """Reads the tables of a file. Errors name page and line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.lines = path.read_text(encoding="latin-1").splitlines()
        except OSError as error:
            raise GrappleError(f"{path}: {error.strerror or error}") from None
        self.at = 0
        self.page = 0
        self.subcase = 1
        self.eigenvalue: float | None = None
        self.subcases: dict[int, _Subcase] = {}
        self.rigid: tuple[int, Array] | None = None
        self.weight: float | None = None
        self.complex = False
        self.notes: list[str] = []

    def error(self, text: str, at: int | None = None) -> GrappleError:
        page = f", page {self.page}" if self.page else ""
        return GrappleError(f"{self.path}:{(self.at if at is None else at) + 1}{page}: {text}")

    def read(self) -> None:
        """Reads all tables."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.startswith(("1", "0")):
                self._heading(line)
            if "*** USER FATAL MESSAGE" in line or "*** SYSTEM FATAL MESSAGE" in line:
                raise self.error(f"the run has failed: {line.strip(' *')}")
            if COMPLEX in line:
                self.complex = True
            if match := re.match(r"\s*EIGENVALUE =\s*(\S+)", line):
                self.eigenvalue = self._number(match[1])
            elif EIGENVALUES in line:
                self._eigenvalues()
                continue
            elif EIGENVECTOR in line:
                self._eigenvector(line)
                continue
            elif FORCES in line:
                self._forces()
                continue
            elif WEIGHT in line:
                self._weight()
                continue
            elif match := re.search(r"\bPARAM\*?[ ,]+WTMASS[ ,]+([-+.0-9EeDd]+)", line):
                self.weight = self._number(match[1])
            self.at += 1

    def _heading(self, line: str) -> None:
        """Reads page and subcase of a heading."""
        if line.startswith("1") and (match := re.search(r"\bPAGE\s+(\d+)", line)):
            self.page = int(match[1])
            # Without a number of a subcase on the page the only one is meant.
            self.subcase = 1
            self.eigenvalue = None
        elif line.startswith("0") and (match := re.search(r"\bSUBCASE\s+(\d+)\s*$", line)):
            self.subcase = int(match[1])

    def _number(self, text: str) -> float:
        """Returns a number, also with the exponent D or, if it has three digits, without a letter."""
        text = re.sub(r"(?<=[0-9.])([-+]\d+)$", r"E\1", text.replace("D", "E").replace("d", "E"))
        try:
            value = float(text)
        except ValueError:
            raise self.error(f"{text!r} is no number") from None
        if not np.isfinite(value):
            raise self.error(f"{text} is not finite")
        return value

    def _case(self) -> _Subcase:
        return self.subcases.setdefault(self.subcase, _Subcase())

    def _eigenvalues(self) -> None:
        """Reads rows of seven numbers: mode, order, eigenvalue, rad/s, Hz, generalised mass and stiffness."""
        self.at += 1
        while self.at < len(self.lines) and not re.match(r"\s*\d+\s+\d+\s+\S", self.lines[self.at]):
            if (
                self.lines[self.at].startswith("1")
                or "NO.       ORDER" not in self.lines[self.at]
                and self.lines[self.at].startswith("0")
            ):
                return
            self.at += 1
        case = self._case()
        while self.at < len(self.lines) and re.match(r"\s+\d+\s+\d+\s+\S", self.lines[self.at]):
            words = self.lines[self.at].split()
            if len(words) != 7:
                raise self.error(f"the table of eigenvalues has {len(words)} columns; 7 are expected")
            eigenvalue, omega, cycles, mu, stiffness = (self._number(word) for word in words[2:])
            scale = max(abs(eigenvalue), 1e-6)
            if eigenvalue > 1e-6 and (
                abs(omega**2 - eigenvalue) > 1e-5 * scale
                or abs(2.0 * np.pi * cycles - omega) > 1e-5 * omega
                or abs(mu * eigenvalue - stiffness) > 1e-5 * abs(stiffness)
            ):
                raise self.error(f"the numbers of mode {words[0]} contradict each other")
            case.eigenvalues[int(words[0])] = eigenvalue, mu
            self.at += 1

    def _points(self, what: str) -> dict[int, tuple[float, ...]]:
        """Reads rows of grid point, type and six numbers; other types than G are skipped."""
        start = self.at
        self.at += 1
        while self.at < len(self.lines) and HEADING not in self.lines[self.at]:
            if self.lines[self.at].strip() or self.at > start + 3:
                raise self.error(f"the table of {what} has no heading of columns", start)
            self.at += 1
        self.at += 1
        rows: dict[int, tuple[float, ...]] = {}
        while self.at < len(self.lines) and (match := re.match(r"\s+(\d+)\s+([A-Z])\s+(.*)$", self.lines[self.at])):
            words = match[3].split()
            if match[2] == "G":
                if len(words) != 6:
                    raise self.error(f"grid point {match[1]} has {len(words)} numbers; 6 are expected")
                if int(match[1]) in rows:
                    raise self.error(f"grid point {match[1]} has a second row")
                rows[int(match[1])] = tuple(self._number(word) for word in words)
            self.at += 1
        if self.at >= len(self.lines):
            raise self.error(
                f"the file ends within the table of {what}: the run was stopped, or the copy is incomplete", self.at - 1
            )
        return rows

    def _eigenvector(self, line: str) -> None:
        match = re.search(r"N O \.\s*(\d+)", line)
        if match is None:
            raise self.error("the number of the mode is missing")
        mode, case, start = int(match[1]), self._case(), self.at
        rows = self._points("an eigenvector")
        shape = case.shapes.setdefault(mode, {})
        twice = next((node for node in rows if node in shape), None)
        if twice is not None:
            raise self.error(f"mode {mode} has grid point {twice} for a second time; the file has more than one analysis", start)
        shape.update(rows)

    def _forces(self) -> None:
        eigenvalue, case, start = self.eigenvalue, self._case(), self.at
        rows = self._points("forces of constraints")
        if eigenvalue is None:
            # Forces of a static analysis.
            return
        last = case.forces[-1] if case.forces else None
        if (
            last is not None
            and last[0] == eigenvalue
            and rows
            and last[1]
            and min(rows) > max(last[1])
            and self._page_starts(start)
        ):
            last[1].update(rows)
        else:
            case.forces.append((eigenvalue, rows))

    def _page_starts(self, at: int) -> bool:
        """Returns true if only the heading of a page is between a line and the table before it."""
        return any(line.startswith("1") for line in self.lines[max(at - 6, 0) : at])

    def _weight(self) -> None:
        """Reads the reference point and the matrix MO."""
        start = self.at
        reference = None
        rows: list[list[float]] = []
        for line in self.lines[start + 1 : start + 14]:
            if len(rows) == 6:
                break
            self.at += 1
            if match := re.search(r"REFERENCE POINT =\s*(\d+)", line):
                reference = int(match[1])
            elif line.strip().startswith("*") and len(rows) < 6:
                rows.append([self._number(word) for word in line.strip().strip("*").split()])
        if reference is None or len(rows) != 6 or any(len(row) != 6 for row in rows):
            raise self.error("the table of the grid point weight generator has no reference point or no 6 × 6 matrix M O", start)
        self.at += 1
        matrix = np.array(rows)
        if self.rigid is not None and not np.allclose(self.rigid[1], matrix, rtol=1e-5):
            self.notes = [
                "the file has different mass properties (superelements, or cycles of an optimisation); the last is used"
            ]
        self.rigid = reference, matrix


def f06_results(path: Path, grids: Mapping[int, Grid], subcase: int | None) -> ModalResults:
    """Reads the modes of one subcase. `grids` are the grid points, which the file does not have."""
    reader = _Reader(path)
    reader.read()
    found = {number: case for number, case in reader.subcases.items() if case.shapes}
    if not found:
        if reader.complex:
            raise GrappleError(
                f"{path}: the file has complex modes, but no real ones; run normal modes without damping (SOL 103)"
            )
        raise GrappleError(
            f"{path}: no eigenvectors; request DISPLACEMENT(PRINT) = ALL and SPCFORCES(PRINT) = ALL of SOL 103, sorted by modes (SORT1)"
        )
    if subcase is None and len(found) > 1:
        raise GrappleError(f"{path}: the subcases {', '.join(map(str, sorted(found)))} have modes; give one as `subcase`")
    if subcase is not None and subcase not in found:
        raise GrappleError(f"{path}: subcase {subcase} has no modes; those with modes: {', '.join(map(str, sorted(found)))}")
    case = found[next(iter(found)) if subcase is None else subcase]
    modes = sorted(case.shapes)
    nodes = sorted(case.shapes[modes[0]])
    other = next((mode for mode in modes if sorted(case.shapes[mode]) != nodes), None)
    if other is not None:
        raise GrappleError(
            f"{path}: mode {other} has {len(case.shapes[other])} grid points, mode {modes[0]} has {len(nodes)}; the file is incomplete"
        )
    # One table may serve several subcases that differ in output only.
    tables = [case.eigenvalues, *(other.eigenvalues for other in reader.subcases.values())]
    table = next((table for table in tables if table), tables[0])
    missing = next((mode for mode in modes if mode not in table), None)
    if missing is not None:
        raise GrappleError(f"{path}: the table of eigenvalues has no mode {missing}, but there is its eigenvector")
    eigenvalues = np.array([table[mode][0] for mode in modes])
    fewer = few_modes(len(table), len(modes))
    warnings = (
        f"{path.name} has numbers of {DIGITS} digits; the .op2 file of the run, of the same accuracy, has also the grid points",
        *reader.notes,
        *fewer,
    )
    return ModalResults(
        source=path.name,
        eigenvalues=eigenvalues,
        generalised_mass=np.array([table[mode][1] for mode in modes]),
        nodes=np.array(nodes, dtype=np.int64),
        shapes=np.array([[case.shapes[mode][node] for node in nodes] for mode in modes]),
        reactions=_reactions(path, case, modes, eigenvalues),
        factors=None,
        rigid=reader.rigid,
        grids=grids,
        weight_factor=reader.weight,
        digits=2e-6,
        warnings=warnings,
    )


def _reactions(path: Path, case: _Subcase, modes: list[int], eigenvalues: Array) -> tuple[NDArray[np.int64], Array] | None:
    """Returns the forces of constraints of all modes, which are printed in their order with their eigenvalues."""
    if not case.forces:
        return None
    if len(case.forces) != len(modes):
        raise GrappleError(
            f"{path}: {len(modes)} modes have eigenvectors, {len(case.forces)} have forces of constraints; the file is incomplete"
        )
    for mode, eigenvalue, (printed, _) in zip(modes, eigenvalues, case.forces, strict=True):
        if abs(printed - eigenvalue) > 1e-5 * abs(eigenvalue):
            raise GrappleError(
                f"{path}: the forces of constraints of mode {mode} have the eigenvalue {printed:.6E}, the mode {eigenvalue:.6E}"
            )
    nodes = sorted({node for _, rows in case.forces for node in rows})
    zero = (0.0,) * 6
    values = np.array([[rows.get(node, zero) for node in nodes] for _, rows in case.forces])
    return np.array(nodes, dtype=np.int64), values
