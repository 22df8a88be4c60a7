"""Matrices of a finite-element model: Matrix Market and Nastran punch files, arrays."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ._errors import GrappleError, optional

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

AXES = ("T1", "T2", "T3", "R1", "R2", "R3")


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


def read(stiffness: Any, mass: Any, nodes: Any, freedoms: Any, length: float, mass_unit: float) -> tuple[Structure, str]:
    """Reads matrices, positions and freedoms, in SI units. Returns them with the names of the files."""
    if not (length > 0.0 and mass_unit > 0.0):
        raise GrappleError("length and mass_unit must be positive")
    named = [_path(part).name for part in (stiffness, mass, nodes) if _is_path(part)]
    if mass is not None:
        matrices, rows = (_matrix(stiffness, "stiffness"), _matrix(mass, "mass")), freedoms
    elif _is_path(stiffness):
        matrices, rows = _punch(_path(stiffness))
        rows = rows if freedoms is None else freedoms
        nodes = stiffness if nodes is None else nodes
    else:
        raise GrappleError("the mass matrix is missing; only a Nastran punch file has both matrices")
    positions = {node: length * position for node, position in _positions(nodes).items()}
    n = matrices[0].shape[0]
    if matrices[1].shape[0] != n:
        raise GrappleError(f"the stiffness matrix has {n} rows, the mass matrix {matrices[1].shape[0]}")
    table = _freedoms(rows, positions, n)
    unknown = sorted({int(node) for node, component in table if component > 0 and int(node) not in positions})
    if unknown:
        more = f" ({len(unknown)} nodes)" if unknown[1:] else ""
        raise GrappleError(f"the position of node {unknown[0]} is missing in `nodes`{more}")
    sparse = optional("scipy.sparse", "import_modes")
    to_model = sparse.diags(np.where((table[:, 1] >= 1) & (table[:, 1] <= 3), 1.0 / length, 1.0))
    stiff, heavy = (mass_unit * length**2 * (to_model @ matrix @ to_model).tocsr() for matrix in matrices)
    # Rows without any entry are degrees of freedom that no element has, such as rotations of solids.
    used = np.flatnonzero((np.abs(stiff).sum(axis=1) + np.abs(heavy).sum(axis=1)).ravel() > 0.0)
    return Structure(stiff[used][:, used], heavy[used][:, used], table[used], positions), ", ".join(named)


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


def _punch(path: Path) -> tuple[tuple[Any, Any], NDArray[np.int_]]:
    """Reads the matrices KAAX and MAAX of a Nastran punch file."""
    bdf = _bdf(path)
    names = {name.upper(): name for name in bdf.dmig}
    pairs = [(names.get(k), names.get(m)) for k, m in (("KAAX", "MAAX"), ("KAA", "MAA"))]
    pair = next(((k, m) for k, m in pairs if k and m), None)
    if pair is None:
        raise GrappleError(
            f"{path}: no matrices KAAX and MAAX, but {', '.join(names) or 'none'}; punch them by EXTSEOUT(…, DMIGPCH)"
        )
    sparse = optional("scipy.sparse", "import_modes")
    if any(bdf.dmig[name].is_complex for name in pair):
        raise GrappleError(
            f"{path}: the matrices {' and '.join(pair)} are complex; they must be real, without structural damping"
        )
    read = [bdf.dmig[name].get_matrix(is_sparse=False, apply_symmetry=True) for name in pair]
    rows = [[rows[i] for i in range(len(rows))] for _, rows, _ in read]
    every = sorted({tuple(int(part) for part in row) for of in rows for row in of})
    place = {row: i for i, row in enumerate(every)}
    matrices: list[Any] = []
    for (values, _, columns), of, what in zip(read, rows, ("stiffness", "mass"), strict=True):
        whole = np.zeros((len(every), len(every)))
        i = [place[int(row[0]), int(row[1])] for row in of]
        j = [place[int(columns[k][0]), int(columns[k][1])] for k in range(len(columns))]
        whole[np.ix_(i, j)] = values
        matrices.append(_symmetric(sparse.csr_array(whole), what))
    return (matrices[0], matrices[1]), np.array(every)


def _bdf(path: Path) -> Any:
    """Reads a Nastran file without executive control, such as a punch file, by pyNastran."""
    try:
        reader: Any = importlib.import_module("pyNastran.bdf.bdf").BDF(debug=None)
    except Exception as error:  # pyNastran 1.4 raises errors of several kinds with NumPy 2
        need = "import_modes of Nastran files needs pyNastran: pip install pyNastran 'numpy<2'"
        raise ImportError(f"{need} ({error})") from None
    try:
        reader.read_bdf(str(path), xref=False, punch=True, validate=False)
    except FileNotFoundError:
        raise GrappleError(f"{path}: no such file") from None
    except Exception as error:  # pyNastran has exceptions of many kinds for damaged files
        raise GrappleError(f"{path}: pyNastran cannot read it: {error}") from None
    return reader


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


def _positions(of: Any) -> dict[int, Array]:
    """Returns the positions of all nodes."""
    if isinstance(of, Mapping):
        positions = cast("Mapping[int, Any]", of)
        return {_whole(node): _position(node, position) for node, position in positions.items()}
    if _is_path(of):
        path = _path(of)
        if path.suffix.lower() == ".csv":
            return {int(row[0]): row[1:] for row in _columns(path, ("node", "x", "y", "z"))}
        bdf = _bdf(path)
        for node, grid in bdf.nodes.items():
            if grid.cd not in (0, None):
                raise GrappleError(
                    f"{path}: GRID {node} has displacements in the coordinate system {grid.cd}; they must be in the basic one (CD 0)"
                )
        return {int(node): np.array(grid.get_position_no_xref(bdf), float) for node, grid in bdf.nodes.items()}
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


def _freedoms(of: Any, positions: Mapping[int, Array], n: int) -> NDArray[np.int_]:
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
