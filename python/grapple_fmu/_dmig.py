"""Matrices of Nastran whose rows and columns are named by grid point and component (entries DMIG)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Element = tuple[tuple[int, int], tuple[int, int], float]
"""Node and component of row and column, value."""

PAIRS = (("KAAX", "MAAX"), ("MATK", "MATM"), ("KGG", "MGG"), ("KAA", "MAA"))
"""Stiffness and mass matrices, by name."""
DAMPING = ("MATB", "MATK4", "BAAX", "K4AAX", "BAA", "K4AA")
"""Damping matrices, by name."""
SYMMETRIC = 6


@dataclass
class Dmig:
    """Matrix by elements."""

    form: int
    """1 for square, 6 for symmetric with one of each pair of elements."""
    is_complex: bool = False
    elements: list[Element] = field(default_factory=list[Element])


def assembled(matrices: Sequence[Dmig], grids: Iterable[int]) -> tuple[list[Array], NDArray[np.int64]]:
    """Returns square matrices with the rows of all of them, and node and component of each row."""
    points = set(grids)
    points |= {node for matrix in matrices for i, j, _ in matrix.elements for node, component in (i, j) if component > 1}

    def named(row: tuple[int, int]) -> tuple[int, int]:
        # Nastran writes the component of scalar points as 0 in rows and as 1 in columns.
        return row if row[0] in points else (row[0], 0)

    rows = sorted({named(row) for matrix in matrices for i, j, _ in matrix.elements for row in (i, j)})
    place = {row: k for k, row in enumerate(rows)}
    whole = [np.zeros((len(rows), len(rows))) for _ in matrices]
    for values, matrix in zip(whole, matrices, strict=True):
        for i, j, value in matrix.elements:
            values[place[named(i)], place[named(j)]] = value
            if matrix.form == SYMMETRIC:
                values[place[named(j)], place[named(i)]] = value
    return whole, np.array(rows, dtype=np.int64).reshape(-1, 2)
