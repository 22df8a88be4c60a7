"""Records of the binary results file of Nastran (`.op2`): blocks of words, written by the module OUTPUT2."""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ._errors import GrappleError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Words = NDArray[np.int64]

MATRIX = 1
"""Type of a record that is the column of a matrix."""


@dataclass(frozen=True)
class Record:
    """Logical record of a block."""

    kind: int
    """0 in tables; 1 for the column of a matrix."""
    pieces: tuple[tuple[int, int], ...]
    """Offset and length of the parts in the file, bytes."""


@dataclass(frozen=True)
class Block:
    """Table or matrix in a file."""

    name: str
    """Name in the file, such as OUGV1."""
    trailer: tuple[int, ...]
    """Numbers that describe a matrix: columns, rows, form and type are the second to fifth."""
    records: tuple[Record, ...]
    """All records after the block's header."""


@dataclass(frozen=True)
class Matrix:
    """Elements of a matrix that are stored."""

    shape: tuple[int, int]
    places: NDArray[np.int64]
    """Row and column of each element; shape (2, n)."""
    values: Array

    def dense(self) -> Array:
        """Returns all elements."""
        whole = np.zeros(self.shape)
        whole[self.places[0], self.places[1]] = self.values
        return whole


class Op2File:
    """Blocks of a file with words of 32 or 64 bits, of either byte order. Raises GrappleError if it is damaged.

    Source: pyNastran's documentation of the format (`OUTPUT2`, unformatted), MSC and Simcenter Nastran DMAP guides.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                size = path.stat().st_size
                self.data: bytes | mmap.mmap = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size > 0 else b""
        except OSError as error:
            raise GrappleError(f"{path}: {error.strerror or error}") from None
        start = bytes(self.data[:4])
        orders = {struct.pack(f"{order}i", length): (order, length) for length in (4, 8) for order in ("<", ">")}
        if start not in orders:
            text = "it is empty" if not start else "it does not start as a binary file of OUTPUT2"
            if start and all(byte in b"\t\n\r" or 32 <= byte < 127 for byte in bytes(self.data[:64])):
                text = "it is text; write it binary: ASSIGN OUTPUT2='name.op2', UNFORMATTED"
            raise GrappleError(f"{path}: no .op2 file: {text}")
        self.order, self.size = orders[start]
        self.integer = np.dtype(f"{self.order}i{self.size}")
        self.real = np.dtype(f"{self.order}f{self.size}")
        self.position = 0
        self.blocks: list[Block] = []
        self.complete = self._scan()

    def _part(self) -> tuple[int, int]:
        """Returns offset and length of the next Fortran record."""
        at = self.position
        if at + 8 > len(self.data):
            raise GrappleError(self._truncated())
        (length,) = struct.unpack_from(f"{self.order}i", self.data, at)
        end = at + 4 + length
        if length < 0:
            raise GrappleError(f"{self.path}: the file is damaged at byte {at}: a record has the length {length}")
        if end + 4 > len(self.data):
            raise GrappleError(self._truncated())
        if struct.unpack_from(f"{self.order}i", self.data, end)[0] != length:
            raise GrappleError(f"{self.path}: the file is damaged at byte {at}: a record has two different lengths")
        self.position = end + 4
        return at + 4, length

    def _truncated(self) -> str:
        after = f"; the last complete block is {self.blocks[-1].name}" if self.blocks else ""
        return (
            f"{self.path}: the file ends within a record, at byte {len(self.data)}{after}: the run was stopped, or the copy is "
            "incomplete"
        )

    def _marker(self) -> int:
        offset, length = self._part()
        if length != self.size:
            raise GrappleError(f"{self.path}: the file is damaged at byte {offset - 4}: {length} bytes in place of a marker")
        return int(struct.unpack_from(self.order + ("i" if self.size == 4 else "q"), self.data, offset)[0])

    def _scan(self) -> bool:
        """Lists the blocks. Returns False if the mark of the end is missing."""
        while self.position < len(self.data):
            records: list[list[tuple[int, int]]] = []
            parts: list[tuple[int, int]] = []
            while True:
                if self.position == len(self.data):
                    return False
                marker = self._marker()
                if marker == 0:
                    break
                if marker < 0:
                    records.append(parts)
                    parts = []
                    continue
                offset, length = self._part()
                # A string of a matrix has its row before the number of words that the marker counts.
                if length not in (marker * self.size, (marker + 1) * self.size):
                    raise GrappleError(
                        f"{self.path}: the file is damaged at byte {offset - 4}: {length} bytes in place of {marker} words"
                    )
                parts.append((offset, length))
            if not records:
                return True
            self._add(records)
        return False

    def _add(self, records: list[list[tuple[int, int]]]) -> None:
        if not records[0]:
            raise GrappleError(f"{self.path}: the file is damaged at byte {self.position}: a block has no name")
        if len(records) == 1:
            # Date, tape code and version of the program, at the start of the file.
            return
        # Later versions write their number behind the name.
        offset, length = records[0][0]
        name = self._text(bytes(self.data[offset : offset + length]))
        trailer = () if not records[1] else tuple(int(word) for word in self._words(records[1][0]))
        kept = [
            Record(int(self._words(parts[0])[0]) if parts[0][1] == self.size else 0, tuple(parts[1:]))
            for parts in records[2:]
            if parts
        ]
        self.blocks.append(Block(name, trailer, tuple(kept[1:])))

    def _words(self, part: tuple[int, int]) -> NDArray[np.integer]:
        offset, length = part
        return np.frombuffer(self.data, self.integer, length // self.size, offset)

    def _text(self, raw: bytes) -> str:
        """Returns text, of which words of 64 bits have four characters each, or eight."""
        if self.size == 8 and len(raw) >= 16 and raw[4:8] == b"    " and raw[12:16] == b"    ":
            raw = b"".join(raw[i : i + 4] for i in range(0, len(raw), 8))
        return raw.decode("latin-1").strip()

    def raw(self, record: Record) -> bytes:
        """Returns the bytes of a record."""
        return b"".join(bytes(self.data[offset : offset + length]) for offset, length in record.pieces)

    def integers(self, record: Record) -> Words:
        """Returns the words of a record as integers."""
        return np.frombuffer(self.raw(record), self.integer).astype(np.int64)

    def reals(self, record: Record) -> Array:
        """Returns the words of a record as numbers."""
        return np.frombuffer(self.raw(record), self.real).astype(np.float64)

    def text(self, record: Record) -> str:
        """Returns the words of a record as text."""
        return self._text(self.raw(record))

    def string(self, words: Words) -> str:
        """Returns integers as text."""
        return self._text(words.astype(self.integer).tobytes())

    def doubles(self, words: Words) -> Array:
        """Returns integers as numbers of 64 bits."""
        return np.frombuffer(words.astype(self.integer).tobytes(), f"{self.order}f8").astype(np.float64)

    def matrix(self, block: Block) -> Matrix:
        """Returns the elements of a matrix of real numbers. Raises GrappleError if it is complex or damaged."""
        where = f"{self.path}: the matrix {block.name}"
        if len(block.trailer) < 5:
            raise GrappleError(f"{where} has no size; the file is damaged")
        columns, rows, _, kind = block.trailer[1:5]
        if kind in (3, 4):
            raise GrappleError(f"{where} is complex; it must be real, without structural damping")
        if kind not in (1, 2) or min(columns, rows) < 1:
            raise GrappleError(f"{where} has {rows} rows, {columns} columns and the type {kind}; the file is damaged")
        number = np.dtype(f"{self.order}f8") if kind == 2 or self.size == 8 else self.real
        at: list[NDArray[np.int64]] = []
        values: list[Array] = []
        for j, record in enumerate(record for record in block.records if record.kind == MATRIX):
            for offset, length in record.pieces:
                row = int(self._words((offset, self.size))[0]) - 1
                count = (length - self.size) // number.itemsize
                if not (0 <= row and row + count <= rows and j < columns):
                    raise GrappleError(
                        f"{where} has an element in row {row + count}, column {j + 1}, out of its {rows} × {columns}"
                    )
                at.append(np.stack([np.arange(row, row + count), np.full(count, j)]))
                values.append(np.frombuffer(self.data, number, count, offset + self.size).astype(np.float64))
        places = np.concatenate(at, axis=1) if at else np.zeros((2, 0), dtype=np.int64)
        return Matrix((rows, columns), places, np.concatenate(values) if values else np.zeros(0))
