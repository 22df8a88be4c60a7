"""Coordinate systems of Nastran: positions and output axes of grid points in the basic system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from ._errors import GrappleError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Kind = Literal["R", "C", "S"]


@dataclass(frozen=True)
class Grid:
    """Grid point in the basic system."""

    position: Array
    """Position, in the model's unit of length; shape (3,)."""
    axes: Array | None = None
    """Axes of its displacements as columns (system CD); shape (3, 3). None: those of the basic system."""
    on_polar_axis: bool = False
    """True if the axes are arbitrary, since the point is on the polar axis of a cylindrical or spherical system."""


@dataclass(frozen=True)
class Card:
    """Entry CORD1R, CORD1C, CORD1S (three grids) or CORD2R, CORD2C, CORD2S (three points in another system)."""

    kind: Kind
    grids: tuple[int, int, int] | None = None
    reference: int = 0
    points: Array = field(default_factory=lambda: np.zeros((3, 3)))
    """Origin, a point on the z axis, a point in the xz plane."""


@dataclass(frozen=True)
class GridCard:
    """Entry GRID: coordinates in the system `cp`, displacements in the system `cd`."""

    cp: int
    x: Array
    cd: int


class Coordinates:
    """Resolves the entries of a model. Raises GrappleError for systems or grids that are missing or circular."""

    def __init__(self, where: str, grids: Mapping[int, GridCard], systems: Mapping[int, Card]) -> None:
        self.where = where
        self.cards = grids
        self.systems = systems
        self.known: dict[int, tuple[Kind, Array, Array]] = {0: ("R", np.zeros(3), np.eye(3))}
        self.busy: set[int] = set()

    def grids(self) -> dict[int, Grid]:
        """Returns all grid points."""
        for what, numbers in (
            *((f"GRID {number}", card.x) for number, card in self.cards.items()),
            *((f"the coordinate system {number}", card.points) for number, card in self.systems.items()),
        ):
            if not (np.abs(numbers) < 1e100).all():
                raise GrappleError(f"{self.where}: {what} has the coordinates {numbers.ravel().tolist()}; they must be finite")
        return {number: self._grid(card) for number, card in self.cards.items()}

    def _grid(self, card: GridCard) -> Grid:
        position = self._point(card.cp, card.x)
        # CD −1 marks a fluid point, which has a pressure and no displacements.
        return Grid(position) if card.cd <= 0 else Grid(position, *self._axes(card.cd, position))

    def _system(self, number: int) -> tuple[Kind, Array, Array]:
        """Returns kind, origin and axes (columns)."""
        if number in self.known:
            return self.known[number]
        card = self.systems.get(number)
        if card is None:
            raise GrappleError(f"{self.where}: the coordinate system {number} is missing")
        if number in self.busy:
            raise GrappleError(f"{self.where}: the coordinate system {number} refers to itself")
        self.busy.add(number)
        if card.grids is not None:
            missing = next((grid for grid in card.grids if grid not in self.cards), None)
            if missing is not None:
                raise GrappleError(f"{self.where}: the coordinate system {number} needs GRID {missing}, which is missing")
            points = np.array([self._point(self.cards[grid].cp, self.cards[grid].x) for grid in card.grids])
        else:
            points = np.array([self._point(card.reference, point) for point in card.points])
        z, plane = points[1] - points[0], points[2] - points[0]
        y: Array = np.cross(z, plane).astype(np.float64)
        if not np.linalg.norm(y) > 1e-9 * np.linalg.norm(z) * np.linalg.norm(plane):
            raise GrappleError(f"{self.where}: the three points of the coordinate system {number} are on a line")
        z, y = z / np.linalg.norm(z), y / np.linalg.norm(y)
        axes: Array = np.stack([np.cross(y, z).astype(np.float64), y, z], axis=1)
        self.known[number] = card.kind, points[0], axes
        self.busy.remove(number)
        return self.known[number]

    def _point(self, system: int, x: Array) -> Array:
        """Returns the position of a point with the coordinates `x` of a system."""
        kind, origin, axes = self._system(system)
        if kind == "C":
            r, theta, z = x[0], np.radians(x[1]), x[2]
            x = np.array([r * np.cos(theta), r * np.sin(theta), z])
        elif kind == "S":
            r, theta, phi = x[0], np.radians(x[1]), np.radians(x[2])
            x = r * np.array([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)])
        return origin + axes @ x

    def _axes(self, system: int, position: Array) -> tuple[Array, bool]:
        """Returns the local axes (columns) of a system at a position, and True if they are arbitrary (azimuth zero here)."""
        kind, origin, axes = self._system(system)
        if kind == "R":
            return axes, False
        x, y, z = axes.T @ (position - origin)
        radius, whole = np.hypot(x, y), np.sqrt(x * x + y * y + z * z)
        # Coordinates of 32 bits have a part of 6e-8 as round-off, which is the azimuth of a point on the axis in Nastran.
        polar = not radius > 2e-7 * whole
        c, s = (1.0, 0.0) if polar else (x / radius, y / radius)
        if kind == "C":
            return axes @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), polar
        st, ct = (radius / whole, z / whole) if whole > 0.0 else (0.0, 1.0)
        return axes @ np.array([[st * c, ct * c, -s], [st * s, ct * s, c], [ct, -st, 0.0]]), polar


def require_axes(where: str, grids: Mapping[int, Grid], nodes: Iterable[int]) -> None:
    """Raises an error if the axes of a grid point's displacements are arbitrary."""
    for node in nodes:
        if node in grids and grids[node].on_polar_axis:
            raise GrappleError(
                f"{where}: grid point {node} is on the polar axis of its output coordinate system (CD), where the directions of its "
                "displacements are arbitrary; give it a rectangular system"
            )
