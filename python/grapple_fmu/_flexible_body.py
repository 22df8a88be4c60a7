"""Flexible body that is described by modal data: the table `[body.<name>.modal]` with mass properties."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import GrappleError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._page import PathLike

    Array = NDArray[np.float64]

AXES = ("T1", "T2", "T3", "R1", "R2", "R3")

MOST_MODES = 512
"""Modes that a body may have."""

LARGEST = 150.0
"""Extent above which a model without units is probably in millimetres, m."""


@dataclass(frozen=True)
class Node:
    """Point of a flexible body: position and mode shapes."""

    position: Array
    """Position from the body's origin, m, body axes; shape (3,)."""
    displacement: Array
    """Displacement of each mode, 1/√kg; shape (modes, 3)."""
    rotation: Array | None
    """Rotation of each mode, rad/(m·√kg); shape (modes, 3). None: the node has no rotations."""


@dataclass(frozen=True)
class FlexibleBody:
    """Mass properties and modal data of a flexible body that is clamped at its origin; see `import_modes`.

    `table()` is the table `[body.<name>]` of a spec, `write(path, name)` writes it as a file for `include`.
    """

    mass: float
    """Mass, kg."""
    mass_centre: Array
    """Position of the mass centre from the origin, m; shape (3,)."""
    inertia: Array
    """Inertia about the mass centre, kg·m²; shape (3, 3)."""
    frequencies: Array
    """Natural frequencies, Hz, ascending; shape (modes,)."""
    participation: Array
    """Momentum per modal rate, linear in √kg, angular about the origin in √kg·m; shape (modes, 6)."""
    nodes: dict[str, Node]
    """Points at which joints and frames attach."""
    residual: NDArray[np.bool_]
    """True for the modes that are static deflections and no natural modes; shape (modes,)."""
    damping_ratio: float = 0.0
    """Damping ratio of all modes."""
    source: str = ""
    """Files from which the data comes."""
    warnings: tuple[str, ...] = ()
    """Remarks on the data, such as stiffness against a motion as a rigid body."""

    @property
    def effective_mass(self) -> Array:
        """Effective mass of each mode along x, y, z (kg) and effective inertia about the origin (kg·m²); shape (modes, 6)."""
        return self.participation**2

    @property
    def effective_fraction(self) -> Array:
        """Effective masses of all modes together, as parts of the body's mass and of its inertia about the origin;
        shape (6,). NaN where the body has none."""
        c = self.mass_centre
        about_origin = self.inertia + self.mass * (c @ c * np.eye(3) - np.outer(c, c))
        whole = np.concatenate([np.full(3, self.mass), np.diag(about_origin)])
        return np.divide(self.effective_mass.sum(axis=0), whole, out=np.full(6, np.nan), where=whole > 0.0)

    def table(self) -> dict[str, Any]:
        """Returns the table `[body.<name>]` of a spec: `spec["body"]["panel"] = body.table()`."""
        I = self.inertia
        modal: dict[str, Any] = {"frequencies": self.frequencies.tolist(), "damping_ratio": self.damping_ratio}
        modal["participation"] = self.participation.tolist()
        modal["node"] = {
            name: {"position": node.position.tolist(), "displacement": node.displacement.tolist()}
            | ({} if node.rotation is None else {"rotation": node.rotation.tolist()})
            for name, node in self.nodes.items()
        }
        return {
            "mass": self.mass,
            "mass_centre": self.mass_centre.tolist(),
            "inertia": [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]],
            "modal": modal,
        }

    def write(self, path: PathLike, name: str) -> Path:
        """Writes the table `[body.<name>]` with all digits as a file for `include`, and returns the path."""
        path, key, table = Path(path), _key(name), self.table()
        modal = table["modal"]
        lines = [f"# Flexible body of {self.source or 'a finite-element model'}, {datetime.date.today().isoformat()}.", "#"]
        lines += [f"# {line}" for line in str(self).splitlines()]
        lines += ["", f"[body.{key}]", f"mass = {table['mass']!r}", f"mass_centre = {_row(table['mass_centre'])}"]
        lines += [f"inertia = {_row(table['inertia'])}", "", f"[body.{key}.modal]"]
        lines += [f"frequencies = {_row(modal['frequencies'])}", f"damping_ratio = {self.damping_ratio!r}"]
        lines += _rows("participation", modal["participation"])
        for node, values in modal["node"].items():
            lines += ["", f"[body.{key}.modal.node.{_key(node)}]", f"position = {_row(values['position'])}"]
            lines += _rows("displacement", values["displacement"])
            lines += _rows("rotation", values["rotation"]) if "rotation" in values else []
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def __str__(self) -> str:
        c = self.mass_centre
        text = [f"mass {self.mass:.6g} kg, mass centre ({c[0]:.6g}, {c[1]:.6g}, {c[2]:.6g}) m"]
        text += ["effective masses as parts of the body's, inertias about its origin"]
        text += [f"{'mode':>4} {'Hz':>11}" + "".join(f"{axis:>8}" for axis in ("x", "y", "z", "rx", "ry", "rz"))]
        whole = np.divide(
            self.effective_mass.sum(axis=0), self.effective_fraction, out=np.full(6, np.inf), where=self.effective_fraction > 0.0
        )
        for k, frequency in enumerate(self.frequencies):
            parts = "".join(f"{part:8.4f}" for part in self.effective_mass[k] / whole)
            text.append(f"{k + 1:4d} {frequency:11.6g}{parts}" + ("  residual" if self.residual[k] else ""))
        text.append(f"{'sum':>16}" + "".join(f"{part:8.4f}" for part in self.effective_fraction))
        return "\n".join(text)


def _key(name: str) -> str:
    """Returns a name as a key of TOML."""
    bare = name and all(c.isascii() and (c.isalnum() or c in "_-") for c in name)
    return name if bare else '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _row(values: Sequence[float]) -> str:
    return "[" + ", ".join(repr(float(value)) for value in values) + "]"


def _rows(name: str, rows: Sequence[Sequence[float]]) -> list[str]:
    return [f"{name} = [", *(f"    {_row(row)}," for row in rows), "]"]


def fitted(participation: Array, rigid: Array, parts: Sequence[float] = (0.0, 1e-10, 1e-9, 1e-8)) -> Array:
    """Returns participation factors whose effective masses are not above those of the body.

    Complete modes of lumped masses have all of the body's inertia about its origin, and by round-off of the eigenproblem
    more: a small excess is removed by a factor that differs from one by the last of `parts` at most, 1e-8 by default. A larger
    one is left, and refused when the spec is checked.
    """
    weights = np.repeat([rigid[0, 0], rigid[3:, 3:].diagonal().max()], 3) ** -0.5
    for less in parts:
        reduced = (1.0 - less) * participation
        rest = weights[:, None] * (rigid - reduced.T @ reduced) * weights
        if np.linalg.eigvalsh(rest)[0] > -1e-13:
            return reduced
    return participation


def size_remark(positions: Sequence[Array], length: float) -> list[str]:
    """Returns a warning for a structure, with positions in m, whose size is probable in millimetres only."""
    extent = float(np.ptp(np.array(positions), axis=0).max()) if positions else 0.0
    if length != 1.0 or extent <= LARGEST:
        return []
    return [f"the structure is {extent:.4g} m long: if the model is in millimetres, give its units (mm and tonnes: mm-t-s)"]


def mass_properties(rigid: Array) -> tuple[float, Array, Array]:
    """Returns mass, mass centre and inertia about it, from the mass matrix of rigid-body motions about the origin."""
    translation, coupling = rigid[:3, :3], rigid[:3, 3:]
    m = float(np.trace(translation) / 3.0)
    if not m > 0.0:
        raise GrappleError(f"the mass of the structure is {m:.6g} kg; it must be positive")
    if np.abs(translation - m * np.eye(3)).max() > 1e-6 * m:
        masses = ", ".join(f"{value:.6g}" for value in np.diag(translation))
        raise GrappleError(
            f"the mass is {masses} kg along x, y and z; it must be the same in all directions: rows are missing, or `freedoms` has "
            "another order"
        )
    # The momentum of a rotation θ is m θ×c = −m [c]× θ.
    cross = -(coupling - coupling.T) / 2.0 / m
    centre = np.array([cross[2, 1], cross[0, 2], cross[1, 0]])
    inertia = rigid[3:, 3:] - m * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    return m, centre, (inertia + inertia.T) / 2.0
