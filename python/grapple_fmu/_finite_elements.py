"""Matrices of a finite-element model: Matrix Market and Nastran punch files, arrays."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ._bulk_data import bulk_data
from ._coordinates import Grid, require_axes
from ._dmig import DAMPING, PAIRS, assembled
from ._errors import GrappleError, optional
from ._nastran_op2 import op2_file_grids, op2_matrices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class Structure:
    """Matrices of a free structure in SI units, with the node and component of each row."""

    K: Any
    """Stiffness, sparse; shape (n, n)."""
    M: Any
    """Mass, sparse; shape (n, n)."""
    freedoms: NDArray[np.int_]
    """Node and component (1 to 6; 0 for a generalised coordinate) of each row; shape (n, 2)."""
    positions: dict[int, Array]
    """Positions of the nodes, m."""

    def rows(self, node: int) -> dict[int, int]:
        """Returns the row of each component of a node."""
        return {int(self.freedoms[i, 1]): int(i) for i in np.flatnonzero(self.freedoms[:, 0] == node) if self.freedoms[i, 1] > 0}

    def rigid_motions(self, origin: Array) -> Array:
        """Returns translations along, and rotations about, the axes at `origin`; shape (n, 6)."""
        R = np.zeros((len(self.freedoms), 6))
        for i, (node, component) in enumerate(self.freedoms):
            if 1 <= component <= 3:
                x, y, z = self.positions[int(node)] - origin
                R[i, component - 1] = 1.0
                # Displacement θ × x of a rotation θ.
                R[i, 3:] = ((0.0, z, -y), (-z, 0.0, x), (y, -x, 0.0))[component - 1]
            elif component >= 4:
                R[i, component - 1] = 1.0
        return R


def read(
    stiffness: Any, mass: Any, nodes: Any, freedoms: Any, length: float, mass_unit: float
) -> tuple[Structure, str, tuple[str, ...]]:
    """Reads matrices, positions and freedoms, in SI units. Returns them with the names of the files and remarks."""
    named = [_path(part).name for part in (stiffness, mass, nodes) if _is_path(part)]
    grids = None if nodes is None else read_grids(nodes)
    remarks: tuple[str, ...] = ()
    if mass is not None:
        matrices, rows = (_matrix(stiffness, "stiffness"), _matrix(mass, "mass")), None
    elif _is_path(stiffness) and is_op2(stiffness):
        matrices, rows, own, remarks = _op2(_path(stiffness))
        grids = own if grids is None else grids
    elif _is_path(stiffness):
        matrices, rows, own, remarks = _punch(_path(stiffness))
        grids = own if grids is None else grids
    else:
        raise GrappleError("the mass matrix is missing; only a Nastran punch file (.pch) or .op2 file has both matrices")
    if grids is None:
        raise GrappleError("`nodes` must be a mapping of positions, a CSV file or a Nastran file")
    n = matrices[0].shape[0]
    if matrices[1].shape[0] != n:
        raise GrappleError(f"the stiffness matrix has {n} rows, the mass matrix {matrices[1].shape[0]}")
    table = _freedoms(rows if freedoms is None else freedoms, grids, n)
    unknown = sorted({int(node) for node, component in table if component > 0 and int(node) not in grids})
    if unknown:
        more = f" ({len(unknown)} nodes)" if unknown[1:] else ""
        raise GrappleError(f"the position of node {unknown[0]} is missing in `nodes`{more}")
    sparse = optional("scipy.sparse", "import_modes")
    to_model = _turn(table, grids) @ sparse.diags(np.where((table[:, 1] >= 1) & (table[:, 1] <= 3), 1.0 / length, 1.0))
    stiff, heavy = (mass_unit * length**2 * (to_model.T @ matrix @ to_model).tocsr() for matrix in matrices)
    # Rows without any entry are degrees of freedom that no element has, such as rotations of solids.
    used = np.flatnonzero((np.abs(stiff).sum(axis=1) + np.abs(heavy).sum(axis=1)).ravel() > 0.0)
    positions = {node: length * grid.position for node, grid in grids.items()}
    return Structure(stiff[used][:, used], heavy[used][:, used], table[used], positions), ", ".join(named), remarks


def _turn(table: NDArray[np.int_], grids: Mapping[int, Grid]) -> Any:
    """Returns the matrix that takes displacements in basic axes to those in the output axes of the grid points."""
    sparse = optional("scipy.sparse", "import_modes")
    T = sparse.eye_array(len(table), format="lil")
    places: dict[tuple[int, int], dict[int, int]] = {}
    for i, (node, component) in enumerate(table.tolist()):
        if component > 0 and grids[node].axes is not None:
            places.setdefault((node, (component - 1) // 3), {})[(component - 1) % 3] = i
    require_axes("the matrices", grids, (node for node, _ in places))
    for (node, _), rows in places.items():
        axes = grids[node].axes
        if axes is None or np.array_equal(axes, np.eye(3)):
            continue
        if len(rows) < 3:
            raise GrappleError(
                f"the matrices have {len(rows)} of three components of node {node} in its output coordinate system (CD); give it CD 0"
            )
        for i, row in rows.items():
            for j, column in rows.items():
                T[row, column] = axes[j, i]
    return T.tocsr()


def is_op2(of: Any) -> bool:
    """Returns true for a path of a binary results file of Nastran."""
    return _is_path(of) and _path(of).suffix.lower() == ".op2"


def _op2(path: Path) -> tuple[tuple[Any, Any], NDArray[np.int64] | None, dict[int, Grid], tuple[str, ...]]:
    """Reads the matrices of a binary results file."""
    found = op2_matrices(path)
    if found is None:
        raise GrappleError(f"{path}: no pair of matrices KAAX and MAAX; EXTSEOUT(…, DMIGOP2 = unit) writes them")
    (K, M), rows, grids, remarks = found
    sparse = optional("scipy.sparse", "import_modes")
    stiffness, mass = (_symmetric(sparse.csr_array(matrix), what) for matrix, what in ((K, "stiffness"), (M, "mass")))
    return (stiffness, mass), rows, grids, remarks


def _is_path(of: Any) -> bool:
    return isinstance(of, (str, os.PathLike))


def _path(of: Any) -> Path:
    return Path(cast("str", of))


def _matrix(of: Any, what: str) -> Any:
    """Returns a symmetric sparse matrix of an array or a Matrix Market file."""
    sparse = optional("scipy.sparse", "import_modes")
    if _is_path(of):
        path = _path(of)
        try:
            of = optional("scipy.io", "import_modes").mmread(path)
        except (OSError, ValueError) as error:
            raise GrappleError(f"{path}: no Matrix Market file: {error}") from None
    matrix = sparse.csr_array(of)
    if matrix.dtype.kind not in "biuf":
        raise GrappleError(f"the {what} matrix has values of type {matrix.dtype}; they must be real")
    matrix = matrix.astype(np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise GrappleError(f"the {what} matrix has the shape {matrix.shape}; it must be square")
    return _symmetric(matrix, what)


def _symmetric(matrix: Any, what: str) -> Any:
    """Raises an error for a matrix that is not symmetric or has values that are not finite."""
    if not np.isfinite(matrix.data).all():
        raise GrappleError(f"the {what} matrix has values that are not finite")
    difference, largest = abs(matrix - matrix.T).max(), abs(matrix).max()
    if difference > 1e-8 * largest:
        raise GrappleError(f"the {what} matrix is not symmetric: {difference:.1e} beside a largest element of {largest:.1e}")
    return (matrix + matrix.T) / 2.0


def _punch(path: Path) -> tuple[tuple[Any, Any], NDArray[np.int64], dict[int, Grid], tuple[str, ...]]:
    """Reads the matrices KAAX and MAAX of a Nastran punch file."""
    grids, matrices = bulk_data(path)
    pair = next(((k, m) for k, m in PAIRS if k in matrices and m in matrices), None)
    if pair is None:
        raise GrappleError(
            f"{path}: no matrices KAAX and MAAX, but {', '.join(matrices) or 'none'}; punch them by EXTSEOUT(…, DMIGPCH)"
        )
    if any(matrices[name].is_complex for name in pair):
        raise GrappleError(
            f"{path}: the matrices {' and '.join(pair)} are complex; they must be real, without structural damping"
        )
    damping = [name for name in DAMPING if name in matrices]
    remarks = (f"the damping matrices {', '.join(damping)} are not read; give `damping_ratio`",) if damping else ()
    sparse = optional("scipy.sparse", "import_modes")
    whole, rows = assembled([matrices[name] for name in pair], grids)
    stiffness, mass = (
        _symmetric(sparse.csr_array(matrix), what) for matrix, what in zip(whole, ("stiffness", "mass"), strict=True)
    )
    return (stiffness, mass), rows, grids, remarks


def _columns(path: Path, names: Sequence[str]) -> Array:
    """Reads the columns of a CSV file; shape (rows, columns)."""
    try:
        text = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise GrappleError(f"{path}: {error}") from None
    (_, header), *lines = [(number, line) for number, line in enumerate(text, 1) if line.strip()] or [(1, "")]
    titles = [title.strip() for title in header.split(",")]
    missing = [name for name in names if name not in titles]
    if missing:
        raise GrappleError(f"{path}: there is no column {', '.join(missing)}; the columns are {', '.join(names)}")
    rows: list[list[float]] = []
    for number, line in lines:
        cells = line.split(",")
        try:
            row = [float(cells[titles.index(name)]) for name in names]
        except (ValueError, IndexError):
            raise GrappleError(f"{path}:{number}: {', '.join(names)} must be numbers") from None
        for name, value in zip(names, row, strict=True):
            if not np.isfinite(value):
                raise GrappleError(f"{path}:{number}: {name} is {value}; it must be finite")
            if name in ("node", "component") and not value.is_integer():
                raise GrappleError(f"{path}:{number}: {name} is {value}; it must be a whole number")
        rows.append(row)
    return np.array(rows).reshape(-1, len(names))


def read_grids(of: Any) -> dict[int, Grid]:
    """Returns the grid points of a mapping, a CSV file, an .op2 file or a file with Nastran's bulk data."""
    if isinstance(of, Mapping):
        positions = cast("Mapping[int, Any]", of)
        return {_whole(node): Grid(_position(node, position)) for node, position in positions.items()}
    if _is_path(of):
        path = _path(of)
        if path.suffix.lower() == ".csv":
            return {int(row[0]): Grid(row[1:]) for row in _columns(path, ("node", "x", "y", "z"))}
        if is_op2(path):
            return op2_file_grids(path)
        grids, _ = bulk_data(path)
        if not grids:
            raise GrappleError(f"{path}: the file has no GRID entries, nor is it a CSV file (.csv)")
        return grids
    raise GrappleError("`nodes` must be a mapping of positions, a CSV file or a Nastran file")


def _whole(node: Any) -> int:
    """Returns the number of a node."""
    try:
        if int(node) == node:
            return int(node)
    except (TypeError, ValueError, OverflowError):
        pass
    raise GrappleError(f"`nodes`: {node!r} is no number of a node; it must be a whole number")


def _position(node: Any, of: Any) -> Array:
    """Returns three finite numbers."""
    try:
        position = np.array(of, dtype=np.float64).reshape(3)
    except (TypeError, ValueError):
        position = np.full(3, np.nan)
    if not np.isfinite(position).all():
        raise GrappleError(f"`nodes`: the position of node {node} is {of}; it must be three finite numbers")
    return position


def _freedoms(of: Any, positions: Mapping[int, Grid], n: int) -> NDArray[np.int_]:
    """Returns node and component of each row; shape (n, 2)."""
    if _is_path(of):
        of = _columns(_path(of), ("node", "component"))
    if of is None:
        if n != 6 * len(positions):
            raise GrappleError(
                f"the matrices have {n} rows, but {len(positions)} nodes have {6 * len(positions)} degrees of freedom; give node and "
                "component of each row as `freedoms`"
            )
        of = [(node, component) for node in positions for component in range(1, 7)]
    try:
        numbers = np.array(of, dtype=np.float64).reshape(-1, 2)
    except (TypeError, ValueError):
        raise GrappleError("`freedoms` must have two numbers for each row, node and component") from None
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers == np.rint(numbers))).all(axis=1))
    if len(wrong) > 0:
        node, component = numbers[wrong[0]]
        raise GrappleError(f"`freedoms`, row {wrong[0] + 1}: node {node:g}, component {component:g}; they must be whole numbers")
    table = numbers.astype(int)
    if len(table) != n:
        raise GrappleError(f"`freedoms` has {len(table)} rows, the matrices have {n}")
    if ((table[:, 1] < 0) | (table[:, 1] > 6)).any():
        raise GrappleError("a component of `freedoms` must be 1 to 6, or 0 for a generalised coordinate")
    physical = [tuple(row) for row in table if row[1] > 0]
    if len(set(physical)) != len(physical):
        raise GrappleError("`freedoms` has a component of a node twice")
    return table
