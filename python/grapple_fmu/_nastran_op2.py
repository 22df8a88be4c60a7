"""Contents of a binary results file of Nastran (`.op2`): grid points, modes, mass properties, matrices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._coordinates import Card, Coordinates, Grid, GridCard, Kind
from ._dmig import DAMPING, PAIRS, Dmig, assembled
from ._errors import GrappleError, optional
from ._modal_results import ModalResults, few_modes
from ._op2_file import Block, Op2File

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Words = NDArray[np.int64]

GRID = (4501, 45)
CORD1: dict[tuple[int, int], Kind] = {(1801, 18): "R", (1701, 17): "C", (1901, 19): "S"}
CORD2: dict[tuple[int, int], Kind] = {(2101, 21): "R", (2001, 20): "C", (2201, 22): "S"}
DMIG = (114, 1)
REAL_MODES, COMPLEX_MODES = 2, 9
"""Approach codes."""


@dataclass(frozen=True)
class Rows:
    """Displacements or forces of one mode, as `Vectors`."""

    mode: int
    eigenvalue: float
    nodes: Words
    values: Array
    largest: Array
    extent: tuple[int, int, int]


@dataclass(frozen=True)
class Vectors:
    """Displacements or forces of all modes of one subcase."""

    modes: tuple[int, ...]
    eigenvalues: Array
    nodes: NDArray[np.int64]
    values: Array
    """Shape (modes, nodes, 6)."""
    largest: Array
    """Largest displacement and rotation of all grid points in each mode; shape (modes, 2)."""
    extent: tuple[int, int, int]
    """Number of grid points in the file, the lowest and the highest one."""
    basic: bool


def open_op2(path: Path) -> tuple[Op2File, list[Block], tuple[str, ...]]:
    """Returns a file with its blocks, named by the directory of an external superelement if it has one, and remarks."""
    file = Op2File(path)
    blocks = list(file.blocks)
    if blocks and blocks[0].name == "XSOP2DIR":
        names = [file.text(record) for record in blocks[0].records]
        blocks = [
            Block(name, block.trailer, block.records) if block.name == "EXTDB" else block
            for name, block in zip(names, blocks[1:], strict=False)
        ]
    if not blocks:
        raise GrappleError(f"{path}: the file has no blocks: the run was stopped before it wrote results")
    text = f"{path.name} has no mark of the end: the run that wrote it may have been stopped; the last block is {blocks[-1].name}"
    return file, blocks, () if file.complete else (text,)


def op2_grids(file: Op2File, blocks: Iterable[Block]) -> dict[int, Grid]:
    """Returns the grid points of a file in the basic system; empty if it has none."""
    grids: dict[int, GridCard] = {}
    systems: dict[int, Card] = {}
    for block in blocks:
        if not block.name.startswith("GEOM1"):
            continue
        for record in block.records:
            words = file.integers(record)
            key = (int(words[0]), int(words[1])) if len(words) > 3 else (0, 0)
            if key == GRID:
                grids |= _grid_cards(file, record_words=words)
            elif key in CORD2:
                systems |= _cord2(file, words, CORD2[key])
            elif key in CORD1:
                for cid, _, _, a, b, c in _rows(file, words[3:], 6).tolist():
                    systems[cid] = Card(CORD1[key], (a, b, c))
    return Coordinates(str(file.path), grids, systems).grids() if grids else {}


def op2_file_grids(path: Path) -> dict[int, Grid]:
    """Returns the grid points of a file. Raises an error if it has none."""
    file, blocks, _ = open_op2(path)
    grids = op2_grids(file, blocks)
    if not grids:
        raise GrappleError(f"{path}: the file has no grid points (block GEOM1); PARAM,POST,-1 with PARAM,OGEOM,YES writes them")
    return grids


def _rows(file: Op2File, words: Words, width: int) -> Words:
    if len(words) % width != 0:
        raise GrappleError(f"{file.path}: the file is damaged: entries of {width} words take {len(words)} words in GEOM1")
    return words.reshape(-1, width)


def _singles(file: Op2File, words: Words) -> Array:
    """Returns integers as numbers of the word's size."""
    return np.frombuffer(words.astype(file.integer).tobytes(), file.real).astype(np.float64)


def _grid_cards(file: Op2File, record_words: Words) -> dict[int, GridCard]:
    """Returns entries GRID: eight words, or eleven with coordinates of 64 bits in a file of 32."""
    words = record_words[3:]
    # The third word of the record's code is 1 for coordinates of a word each, and 1120001 for those of two words.
    wide = file.size == 4 and (int(record_words[2]) == 1120001 or len(words) % 8 != 0)
    cards: dict[int, GridCard] = {}
    for row in _rows(file, words, 11 if wide else 8):
        x = file.doubles(row[2:8]) if wide else _singles(file, row[2:5])
        cards[int(row[0])] = GridCard(int(row[1]), x, int(row[8 if wide else 5]))
    return cards


def _cord2(file: Op2File, words: Words, kind: Kind) -> dict[int, Card]:
    """Returns entries CORD2R, CORD2C or CORD2S: 13 words, or 22 with coordinates of 64 bits in a file of 32."""
    wide = file.size == 4 and int(words[2]) > 100
    systems: dict[int, Card] = {}
    for row in _rows(file, words[3:], 22 if wide else 13):
        points = file.doubles(row[4:22]) if wide else _singles(file, row[4:13])
        systems[int(row[0])] = Card(kind, None, int(row[3]), points.reshape(3, 3))
    return systems


def op2_results(
    path: Path, grids: dict[int, Grid] | None, subcase: int | None, wanted: Iterable[int] | None = None
) -> ModalResults:
    """Reads the modes of one subcase, at the nodes `wanted` only if given. `grids` replaces the grid points of the file."""
    file, blocks, remarks = open_op2(path)
    shapes, reactions, others = _vectors(file, blocks, None if wanted is None else np.array(sorted(set(wanted)), dtype=np.int64))
    chosen = _subcase(path, sorted(shapes), subcase, blocks, others)
    found = shapes[chosen]
    if len(set(found.modes)) < len(found.modes):
        twice = next(mode for mode in found.modes if found.modes.count(mode) > 1)
        raise GrappleError(
            f"{path}: subcase {chosen} has mode {twice} more than once (cycles of an optimisation?); write one analysis"
        )
    eigenvalues, mu, more = _eigenvalues(file, blocks, chosen, found)
    forces = reactions.get(chosen)
    if forces is not None and forces.modes != found.modes:
        raise GrappleError(
            f"{path}: the eigenvectors have the modes {_listed(found.modes)}, the forces of constraints {_listed(forces.modes)}; the "
            "file is incomplete"
        )
    stored = next((file.matrix(block) for block in blocks if block.name == "MPFACS"), None)
    factors = stored.dense().T if stored is not None and stored.shape == (6, len(found.modes)) else None
    rigid, weight, notes = _mass_properties(file, blocks)
    return ModalResults(
        source=path.name,
        eigenvalues=eigenvalues,
        generalised_mass=mu,
        nodes=found.nodes,
        shapes=found.values,
        reactions=None if forces is None else (forces.nodes, forces.values),
        factors=factors,
        rigid=rigid,
        grids=op2_grids(file, blocks) if grids is None else grids,
        largest=found.largest,
        extent=found.extent,
        shapes_are_basic=found.basic,
        weight_factor=weight,
        warnings=remarks + more + notes,
    )


def _listed(modes: tuple[int, ...]) -> str:
    return f"{min(modes)} to {max(modes)}" if len(modes) > 1 else str(min(modes))


def _vectors(
    file: Op2File, blocks: Iterable[Block], wanted: Words | None = None
) -> tuple[dict[int, Vectors], dict[int, Vectors], set[str]]:
    """Returns eigenvectors and forces of constraints by subcase, and the kinds of other results.

    Rows of other nodes than `wanted`, and of forces that are zero, are left out mode by mode: a file may have millions.
    """
    parts: dict[tuple[int, int, bool], list[Rows]] = {}
    others: set[str] = set()
    for block in blocks:
        if not block.name.startswith(("OUG", "BOUG", "OPHIG", "BOPHIG", "OQG")) or block.name.startswith(("OUGPSD", "OUGRMS")):
            continue
        basic = block.name.startswith("B") or block.name.endswith("PAT")
        for ident, data in zip(block.records[::2], block.records[1::2], strict=False):
            head = file.integers(ident)
            if len(head) < 10:
                raise GrappleError(f"{file.path}: the file is damaged: the block {block.name} has a heading of {len(head)} words")
            approach, table = int(head[0]) // 10, int(head[1]) % 1000
            if approach != REAL_MODES or table not in (1, 3, 7) or int(head[8]) != 1:
                others.add("complex modes" if approach == COMPLEX_MODES or approach == REAL_MODES else _approach(approach))
                continue
            if int(head[1]) // 1000 in (2, 3, 6, 7):
                raise GrappleError(
                    f"{file.path}: the block {block.name} is sorted by grid points; request results sorted by modes: "
                    "DISPLACEMENT(SORT1, REAL), SPCFORCES(SORT1, REAL)"
                )
            width = int(head[9])
            words, numbers = file.integers(data), file.reals(data)
            if width != 8 or len(words) % 8 != 0:
                raise GrappleError(f"{file.path}: the file is damaged: the block {block.name} has entries of {width} words")
            words, numbers = words.reshape(-1, 8), numbers.reshape(-1, 8)
            at = words[:, 1] == 1
            entry = _rows_of(int(head[4]), float(file.reals(ident)[5]), words[at, 0] // 10, numbers[at, 2:], table == 3, wanted)
            parts.setdefault((3 if table == 3 else 7, int(head[3]), basic), []).append(entry)
    joined: tuple[dict[int, Vectors], dict[int, Vectors]] = ({}, {})
    for (table, subcase, basic), entries in sorted(parts.items()):
        joined[table == 3][subcase] = _joined(file, table, entries, basic)
    return (*joined, others)


def _approach(code: int) -> str:
    names = {
        1: "statics",
        5: "a frequency response",
        6: "a transient response",
        7: "buckling",
        8: "buckling",
        10: "nonlinear statics",
    }
    return names.get(code, f"an analysis of kind {code}")


def _rows_of(mode: int, eigenvalue: float, nodes: Words, numbers: Array, forces: bool, wanted: Words | None) -> Rows:
    """Returns the rows of a mode that are kept."""
    lengths = np.linalg.norm(numbers.reshape(-1, 2, 3), axis=2)
    extent = (len(nodes), int(nodes.min()), int(nodes.max())) if len(nodes) > 0 else (0, 0, 0)
    if forces:
        kept = (numbers != 0.0).any(axis=1)
    else:
        kept = np.ones(len(nodes), dtype=np.bool_) if wanted is None else np.isin(nodes, wanted)
    return Rows(mode, eigenvalue, nodes[kept], numbers[kept], lengths.max(axis=0, initial=0.0), extent)


def _joined(file: Op2File, table: int, entries: list[Rows], basic: bool) -> Vectors:
    """Returns the values of all modes."""
    nodes = np.unique(np.concatenate([entry.nodes for entry in entries]))
    values = np.zeros((len(entries), len(nodes), 6))
    for k, entry in enumerate(entries):
        if table == 7 and entry.extent != entries[0].extent:
            raise GrappleError(
                f"{file.path}: mode {entry.mode} has {entry.extent[0]} grid points, mode {entries[0].mode} has "
                f"{entries[0].extent[0]}; the file is incomplete"
            )
        values[k, np.searchsorted(nodes, entry.nodes)] = entry.values
    return Vectors(
        tuple(entry.mode for entry in entries),
        np.array([entry.eigenvalue for entry in entries]),
        nodes.astype(np.int64),
        values,
        np.array([entry.largest for entry in entries]),
        entries[0].extent,
        basic,
    )


def _subcase(path: Path, found: list[int], asked: int | None, blocks: Iterable[Block], others: set[str]) -> int:
    """Returns the subcase to read."""
    if not found:
        if others:
            what = " and ".join(sorted(others))
            hint = "the damping is not read: SOL 103" if "complex modes" in others else "SOL 103"
            raise GrappleError(
                f"{path}: the file has results of {what}, but no real modes; run normal modes without damping ({hint})"
            )
        names = ", ".join(dict.fromkeys(block.name for block in blocks))
        if asked is not None and {"KAAX", "MATK", "KGG", "KAA"} & {block.name for block in blocks}:
            raise GrappleError(f"{path}: the file has matrices and no modes; leave `subcase` out")
        raise GrappleError(
            f"{path}: no eigenvectors (OUGV1) and no matrices (KAAX and MAAX); the blocks are {names}; request DISPLACEMENT = ALL and "
            "SPCFORCES = ALL with PARAM,POST,-1, or EXTSEOUT"
        )
    if asked is None and len(found) > 1:
        raise GrappleError(f"{path}: the subcases {', '.join(map(str, found))} have modes; give one as `subcase`")
    if asked is not None and asked not in found:
        raise GrappleError(f"{path}: subcase {asked} has no modes; those with modes: {', '.join(map(str, found))}")
    return found[0] if asked is None else asked


def _eigenvalues(
    file: Op2File, blocks: Iterable[Block], subcase: int, found: Vectors
) -> tuple[Array, Array | None, tuple[str, ...]]:
    """Returns eigenvalues and generalised masses of the modes; without the table LAMA those of the eigenvectors' headings."""
    for block in blocks:
        if not block.name.startswith("LAMA"):
            continue
        for ident, data in zip(block.records[::2], block.records[1::2], strict=False):
            head = file.integers(ident)
            if len(head) > 3 and int(head[3]) not in (subcase, 0):
                continue
            words, numbers = file.integers(data), file.reals(data)
            if len(words) % 7 != 0:
                raise GrappleError(f"{file.path}: the file is damaged: the block {block.name} has {len(words)} words")
            rows = dict(zip(words[::7].tolist(), numbers.reshape(-1, 7), strict=True))
            if all(mode in rows for mode in found.modes):
                table = np.array([rows[mode] for mode in found.modes])
                scale = np.maximum(np.abs(table[:, 2]), np.finfo(float).tiny)
                if (np.abs(table[:, 2] - found.eigenvalues) > 1e-4 * scale).any() and (found.eigenvalues != 0.0).any():
                    continue
                return table[:, 2], table[:, 5], few_modes(len(rows), len(found.modes))
    if not (found.eigenvalues != 0.0).all():
        raise GrappleError(f"{file.path}: the eigenvalues are missing (table LAMA); PARAM,POST,-1 writes them")
    text = "no table of eigenvalues (LAMA) for these modes: they are taken as mass-normalised (EIGRL, NORM = MASS, the default)"
    return found.eigenvalues, None, (text,)


def _mass_properties(file: Op2File, blocks: Iterable[Block]) -> tuple[tuple[int, Array] | None, float | None, tuple[str, ...]]:
    """Returns reference point and mass matrix of the last grid point weight generator, and the factor WTMASS."""
    found: dict[str, list[tuple[int, Array]]] = {}
    weight: float | None = None
    for block in blocks:
        if block.name in ("OGPWG", "OGPWGM"):
            for ident, data in zip(block.records[::2], block.records[1::2], strict=False):
                numbers = file.reals(data)
                if len(numbers) < 36:
                    raise GrappleError(f"{file.path}: the file is damaged: the block {block.name} has {len(numbers)} words")
                found.setdefault(block.name, []).append((int(file.integers(ident)[2]), numbers[:36].reshape(6, 6)))
        elif block.name.startswith("PVT"):
            for record in block.records:
                weight = _parameter(file.raw(record), file, "WTMASS") or weight
    # OGPWGM has units of mass; OGPWG has those of the deck, before the factor WTMASS.
    name = "OGPWGM" if "OGPWGM" in found else "OGPWG"
    tables = found.get(name, [])
    if not tables:
        return None, weight, ()
    notes: tuple[str, ...] = ()
    if any(not np.allclose(matrix, tables[-1][1], rtol=1e-6) for _, matrix in tables):
        notes = (
            f"the file has {len(tables)} different mass properties (superelements, or cycles of an optimisation); the last is used",
        )
    return tables[-1], (1.0 if name == "OGPWGM" else weight), notes


def _parameter(raw: bytes, file: Op2File, name: str) -> float | None:
    """Returns a real parameter of the table PVT."""
    key = name.ljust(8).encode("ascii")
    if file.size == 8:
        key = key[:4].ljust(8) + key[4:].ljust(8)
    at = raw.find(key)
    if at < 0 or at % file.size != 0 or at + 4 * file.size > len(raw):
        return None
    kind = int(np.frombuffer(raw, file.integer, 1, at + 2 * file.size)[0])
    return float(np.frombuffer(raw, file.real, 1, at + 3 * file.size)[0]) if kind == 2 else None


def has_matrices(path: Path) -> bool:
    """Returns true if a file has a pair of matrices of stiffness and mass."""
    file, blocks, _ = open_op2(path)
    names = {block.name for block in blocks}
    for block in blocks:
        if block.name == "MATPOOL":
            for record in block.records:
                words = file.integers(record)
                names |= set(_dmig(file, words)) if len(words) > 3 and (int(words[0]), int(words[1])) == DMIG else set()
    return any(k in names and m in names for k, m in PAIRS)


def op2_matrices(path: Path) -> tuple[tuple[Any, Any], NDArray[np.int64] | None, dict[int, Grid], tuple[str, ...]] | None:
    """Returns stiffness and mass, node and component of each row if the file has them, grid points and remarks.

    None if the file has no pair of matrices.
    """
    file, blocks, remarks = open_op2(path)
    tables: dict[str, tuple[Block, Dmig | None]] = {}
    for block in blocks:
        found: dict[str, Dmig] = {}
        for record in block.records:
            words = file.integers(record)
            if len(words) > 3 and (int(words[0]), int(words[1])) == DMIG:
                found |= _dmig(file, words)
        if block.name == "MATPOOL":
            tables |= {name: (block, matrix) for name, matrix in found.items()}
        else:
            tables[block.name] = (block, next(iter(found.values())) if found else None)
    pair = next(((k, m) for k, m in PAIRS if k in tables and m in tables), None)
    if pair is None:
        return None
    damping = [name for name in DAMPING if name in tables]
    if damping:
        remarks += (f"the damping matrices {', '.join(damping)} are not read; give `damping_ratio`",)
    grids = op2_grids(file, blocks)
    K, M = (tables[name][1] for name in pair)
    if K is not None and M is not None:
        whole, rows = assembled((K, M), grids)
        return (whole[0], whole[1]), rows, grids, remarks
    sparse = optional("scipy.sparse", "import_modes")
    stored = [file.matrix(tables[name][0]) for name in pair]
    stiffness, mass = (sparse.coo_array((part.values, tuple(part.places)), shape=part.shape) for part in stored)
    return (stiffness, mass), _g_set(file, blocks) if pair == ("KGG", "MGG") else None, grids, remarks


def _g_set(file: Op2File, blocks: Iterable[Block]) -> NDArray[np.int64] | None:
    """Returns node and component of each row of the g-set, of the second record of the table EQEXIN."""
    block = next((block for block in blocks if block.name.startswith("EQEXIN")), None)
    if block is None or len(block.records) < 2:
        return None
    rows: list[tuple[int, int, int]] = []
    for node, code in file.integers(block.records[1]).reshape(-1, 2).tolist():
        first, kind = code // 10, code % 10
        rows += [(first + c, node, c + 1) for c in range(6)] if kind == 1 else [(first, node, 0)]
    return np.array([row[1:] for row in sorted(rows)], dtype=np.int64)


def _dmig(file: Op2File, words: Words) -> dict[str, Dmig]:
    """Returns the matrices of a record in the form of entries DMIG, by name."""
    found: dict[str, Dmig] = {}
    at = 3
    while at + 9 < len(words):
        name = file.string(words[at : at + 2])
        form, kind = int(words[at + 3]), int(words[at + 4])
        if kind in (3, 4):
            raise GrappleError(f"{file.path}: the matrix {name} is complex; it must be real, without structural damping")
        if kind not in (1, 2):
            raise GrappleError(f"{file.path}: the matrix {name} has the type {kind}; the file is damaged")
        wide = 2 if kind == 2 and file.size == 4 else 1
        at += 9
        values = found.setdefault(name, Dmig(form)).elements
        while at + 1 < len(words) and words[at] != -1:
            column = int(words[at]), int(words[at + 1])
            at += 2
            while at + 1 < len(words) and words[at] != -1:
                piece = words[at + 2 : at + 2 + wide]
                if len(piece) < wide:
                    raise GrappleError(f"{file.path}: the matrix {name} ends within an element; the file is damaged")
                value = file.doubles(piece) if kind == 2 or file.size == 8 else _singles(file, piece)
                values.append(((int(words[at]), int(words[at + 1])), column, float(value[0])))
                at += 2 + wide
            at += 2
        at += 2
    return found
