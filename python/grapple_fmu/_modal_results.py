"""Modal results of a finite-element program, without matrices, and the flexible body that they describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ._coordinates import Grid, require_axes
from ._errors import GrappleError
from ._flexible_body import AXES, MOST_MODES, FlexibleBody, Node, fitted, mass_properties, size_remark

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

LOWEST_FREQUENCY = 1e-3
"""Frequency below which a mode is a motion as a rigid body or of a mechanism, Hz."""

TOLERANCE = 1e-4
"""Relative difference that the digits of a results file explain."""


@dataclass(frozen=True)
class ModalResults:
    """Modes of one analysis in the units of the model, as the program has normalised them."""

    source: str
    """Name of the file."""
    eigenvalues: Array
    """Squared angular frequencies, 1/s², ascending; shape (modes,)."""
    generalised_mass: Array | None
    """Generalised masses; shape (modes,). None: unknown."""
    nodes: NDArray[np.int64]
    """Numbers of the grid points with shapes; shape (nodes,)."""
    shapes: Array
    """Displacements T1 to R3; shape (modes, nodes, 6)."""
    reactions: tuple[NDArray[np.int64], Array] | None
    """Grid points with forces of single-point constraints, and these forces; shapes (n,), (modes, n, 6)."""
    factors: Array | None
    """Modal participation factors about the origin of the basic system; shape (modes, 6)."""
    rigid: tuple[int, Array] | None
    """Reference grid (0: the origin) and mass matrix of motions as a rigid body about it, basic axes; shape (6, 6)."""
    grids: Mapping[int, Grid]
    """Grid points; empty if the file has none."""
    largest: Array | None = None
    """Largest displacement and rotation of each mode, where `shapes` has a part of the nodes; shape (modes, 2)."""
    extent: tuple[int, int, int] | None = None
    """Number of the grid points in the file, and the lowest and highest one."""
    shapes_are_basic: bool = False
    """True if the displacements are in basic axes; otherwise they are in the output axes of each grid point."""
    weight_factor: float | None = None
    """Factor `PARAM,WTMASS` by which `rigid` is to be multiplied; None: unknown."""
    digits: float = 2e-6
    """Relative accuracy of the numbers."""
    warnings: tuple[str, ...] = field(default=())
    """Remarks of the reader."""


def flexible_body(
    results: ModalResults,
    *,
    clamped: int,
    attach: Mapping[str, int],
    modes: int | None,
    highest_frequency: float | None,
    damping_ratio: float,
    length: float,
    mass_unit: float,
    weight_factor: float | None,
) -> FlexibleBody:
    """Returns the body of modal results in SI units. Arguments are those of `import_modes`.

    The participation factors follow from the forces q of the constraints, since the free structure's stiffness resists
    no motion as a rigid body: Rᵀq = −ω² RᵀMφ (docs/modal-data.md).
    """
    warnings = list(results.warnings)
    results = _ascending(results)
    where = results.source
    _require_grids(results, clamped, attach)
    largest = np.zeros(0) if results.largest is None else results.largest
    if not ((np.abs(results.shapes) < 1e100).all() and (largest < 1e100).all()):
        raise GrappleError(f"{where}: an eigenvector has values that are not finite")
    shapes = _turned(results, results.nodes, results.shapes, results.shapes_are_basic)
    _require_clamped(results, shapes, clamped)
    if results.generalised_mass is None:
        mu = np.ones(len(results.eigenvalues))
    else:
        mu = results.generalised_mass
        if not (np.isfinite(mu) & (mu > 0.0)).all():
            worst = int(np.argmin(mu))
            raise GrappleError(f"{where}: the generalised mass of mode {worst + 1} is {mu[worst]:.6g}; it must be positive")
    factors, remarks = _participation(results, clamped, mu)
    rigid, more = _rigid(results, clamped, weight_factor)
    warnings += remarks + more + _supports(results, clamped)
    mass, centre, inertia = mass_properties(_scaled(rigid, length, mass_unit))
    shapes = shapes / np.sqrt(mu)[:, None, None] / np.sqrt(mass_unit)
    shapes[:, :, 3:] /= length
    factors = factors * np.sqrt(mass_unit)
    factors[:, 3:] *= length
    factors = _checked(where, factors, _scaled(rigid, length, mass_unit), results.digits)
    frequencies = np.sqrt(results.eigenvalues) / (2.0 * np.pi)
    kept = _kept(frequencies, modes, highest_frequency, warnings)
    nodes: dict[str, Node] = {}
    origin = results.grids[clamped].position
    for name, node in attach.items():
        shape = shapes[:kept, int(np.flatnonzero(results.nodes == node)[0])]
        rotates = bool((shape[:, 3:] != 0.0).any())
        if not rotates and node != clamped:
            warnings.append(f'attach "{name}": the node {node} has no rotations, as in solid elements; an RBE3 defines them')
        nodes[name] = Node(length * (results.grids[node].position - origin), shape[:, :3], shape[:, 3:] if rotates else None)
    warnings += size_remark([length * grid.position for grid in results.grids.values()], length)
    if any(node != clamped for node in attach.values()):
        warnings.append(
            "the static deflections at the attached nodes are those of the modes in the file: request residual vectors there "
            "(USET,U6 of these grids, RESVEC = YES), or import matrices, which complete them"
        )
    return FlexibleBody(
        mass=mass,
        mass_centre=centre,
        inertia=inertia,
        frequencies=frequencies[:kept],
        participation=factors[:kept],
        nodes=nodes,
        residual=np.zeros(kept, dtype=np.bool_),
        damping_ratio=float(damping_ratio),
        source=where,
        warnings=tuple(warnings),
    )


def few_modes(table: int, shapes: int) -> tuple[str, ...]:
    """Returns a warning if the table of eigenvalues has more modes than there are shapes."""
    if shapes >= table:
        return ()
    return (f"the table of eigenvalues has {table} modes, but {shapes} have eigenvectors (OMODES, or the file is incomplete)",)


def _ascending(results: ModalResults) -> ModalResults:
    """Returns the results with ascending eigenvalues. Raises an error for modes that are no vibrations."""
    values = results.eigenvalues
    if not (np.abs(values) < 1e100).all():
        raise GrappleError(f"{results.source}: an eigenvalue is not finite")
    low = np.flatnonzero(values < (2.0 * np.pi * LOWEST_FREQUENCY) ** 2)
    if len(low) > 0:
        if values[low[0]] < -((2.0 * np.pi * LOWEST_FREQUENCY) ** 2):
            raise GrappleError(
                f"{results.source}: mode {low[0] + 1} has the negative eigenvalue {values[low[0]]:.3g}: the stiffness is not positive "
                "definite, or the structure is free; constrain the interface by an SPC, the body is clamped there"
            )
        frequency = np.sqrt(abs(values[low[0]])) / (2.0 * np.pi)
        raise GrappleError(
            f"{results.source}: mode {low[0] + 1} has {frequency:.3g} Hz (eigenvalue {values[low[0]]:.3g}), so it is a motion as a "
            "rigid body or of a mechanism; constrain the interface by an SPC, the body is clamped there"
        )
    order = np.argsort(values, kind="stable")
    if (order == np.arange(len(values))).all():
        return results
    q = results.reactions
    return replace(
        results,
        eigenvalues=values[order],
        generalised_mass=None if results.generalised_mass is None else results.generalised_mass[order],
        shapes=results.shapes[order],
        reactions=None if q is None else (q[0], q[1][order]),
        factors=None if results.factors is None else results.factors[order],
        largest=None if results.largest is None else results.largest[order],
    )


def _require_grids(results: ModalResults, clamped: int, attach: Mapping[str, int]) -> None:
    """Raises an error for a node without shapes or position."""
    where = results.source
    for what, node in (("`clamped`", clamped), *((f'attach "{name}"', node) for name, node in attach.items())):
        if node not in results.nodes:
            count, low, high = results.extent or (len(results.nodes), results.nodes.min(initial=0), results.nodes.max(initial=0))
            has = f"{count} grid points, {low} to {high}"
            raise GrappleError(
                f"{where}: {what}: the eigenvectors have no grid point {node} (they have {has}); request DISPLACEMENT = ALL, or a SET "
                "with this grid"
            )
    need = [clamped, *attach.values(), *(results.reactions[0].tolist() if results.reactions is not None else ())]
    require_axes(where, results.grids, need if not results.shapes_are_basic or results.reactions is not None else [])
    missing = next((node for node in need if node not in results.grids), None)
    if missing is not None:
        hint = "the file has no grid points (PARAM,POST,-1 writes them)" if not results.grids else "the grid points lack it"
        raise GrappleError(
            f"{where}: the position of grid point {missing} is unknown: {hint}; give `nodes`: the bulk data, a CSV file or an .op2 file"
        )


def _turned(results: ModalResults, nodes: NDArray[np.int64], values: Array, basic: bool) -> Array:
    """Returns displacements or forces, shape (modes, nodes, 6), in basic axes."""
    values = values.copy()
    if basic:
        return values
    for i, node in enumerate(nodes.tolist()):
        grid = results.grids.get(node)
        if grid is not None and grid.axes is not None:
            values[:, i, :3] = values[:, i, :3] @ grid.axes.T
            values[:, i, 3:] = values[:, i, 3:] @ grid.axes.T
    return values


def _require_clamped(results: ModalResults, shapes: Array, clamped: int) -> None:
    """Raises an error if the clamped node moves in a mode."""
    at = int(np.flatnonzero(results.nodes == clamped)[0])
    for k, unit in enumerate(("displacement", "rotation")):
        first = 3 * k
        part = np.abs(shapes[:, :, first : first + 3])
        lengths = np.linalg.norm(part, axis=2)
        largest = lengths.max(axis=1, initial=0.0) if results.largest is None else results.largest[:, k]
        moved = lengths[:, at] / np.where(largest > 0.0, largest, 1.0)
        if moved.max() > 1e-6:
            mode = int(np.argmax(moved))
            axis = AXES[first + int(np.argmax(part[mode, at]))]
            raise GrappleError(
                f"{results.source}: grid point {clamped} is not clamped: its {unit} {axis} in mode {mode + 1} is {moved[mode]:.2g} of "
                "the largest one; constrain it by an SPC (123456), or import matrices of the free structure"
            )


def _participation(results: ModalResults, clamped: int, mu: Array) -> tuple[Array, list[str]]:
    """Returns the momentum per modal rate about the clamped node, of mass-normalised modes; shape (modes, 6)."""
    origin = results.grids[clamped].position
    stored = None
    if results.factors is not None:
        stored = results.factors * np.sqrt(mu)[:, None]
        stored[:, 3:] -= np.cross(origin, stored[:, :3])
    if results.reactions is None:
        if stored is None:
            raise GrappleError(
                f"{results.source}: there are no forces of constraints in the modes and no participation factors; request SPCFORCES = ALL"
            )
        text = "the participation factors are taken as about the origin of the basic system; MEFFMASS(GRID = …) refers them to another"
        return stored, [f"{text} point: request SPCFORCES = ALL"]
    nodes, q = results.reactions
    if not (np.abs(q) < 1e100).all():
        raise GrappleError(f"{results.source}: a force of constraint is not finite")
    q = _turned(results, nodes, q, False)
    arms = np.array([results.grids[node].position - origin for node in nodes.tolist()]).reshape(-1, 3)
    force = q[:, :, :3].sum(axis=1)
    moment = (q[:, :, 3:] + np.cross(arms, q[:, :, :3])).sum(axis=1)
    factors = -np.hstack([force, moment]) / (results.eigenvalues * np.sqrt(mu))[:, None]
    if stored is not None:
        scale = np.abs(factors[:, :3]).max(initial=0.0)
        worst = np.abs(factors[:, :3] - stored[:, :3]).max(initial=0.0)
        if worst > TOLERANCE * scale:
            mode = int(np.argmax(np.abs(factors[:, :3] - stored[:, :3]).max(axis=1)))
            return factors, [
                f"the forces of constraints and the participation factors of mode {mode + 1} differ by {worst / scale:.1e} of the "
                "largest: the structure is connected to the ground elsewhere, or modes of another analysis are in the file"
            ]
    return factors, []


def _rigid(results: ModalResults, clamped: int, weight_factor: float | None) -> tuple[Array, list[str]]:
    """Returns the mass matrix of motions as a rigid body about the clamped node; shape (6, 6)."""
    if results.rigid is None:
        raise GrappleError(
            f"{results.source}: the mass properties are missing; request the grid point weight generator: PARAM,GRDPNT,0"
        )
    reference, matrix = results.rigid
    if not (np.abs(matrix) < 1e100).all():
        raise GrappleError(f"{results.source}: the mass properties have values that are not finite")
    if reference not in (0, *results.grids):
        raise GrappleError(
            f"{results.source}: the position of grid point {reference}, to which the mass properties refer, is unknown"
        )
    at = np.zeros(3) if reference == 0 else results.grids[reference].position
    x, y, z = results.grids[clamped].position - at
    # A rotation about the clamped node moves the reference point by θ × (at − origin).
    T = np.eye(6)
    T[:3, 3:] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
    factor = results.weight_factor if weight_factor is None else weight_factor
    if factor is not None and not 0.0 < factor < np.inf:
        raise GrappleError(f"wtmass = {factor}: it must be positive")
    return T.T @ ((matrix + matrix.T) / 2.0) @ T * (1.0 if factor is None else factor), []


def _supports(results: ModalResults, clamped: int) -> list[str]:
    """Returns a warning for forces of constraints at other nodes."""
    if results.reactions is None:
        return []
    nodes, q = results.reactions
    largest = np.abs(q).reshape(len(q), -1, 2, 3).max(axis=(1, 3))
    part = (np.abs(q).reshape(len(q), -1, 2, 3).max(axis=3) / np.where(largest > 0.0, largest, 1.0)[:, None, :]).max(axis=(0, 2))
    others = [int(node) for node, size in zip(nodes, part, strict=True) if node != clamped and size > TOLERANCE]
    if not others:
        return []
    listed = ", ".join(str(node) for node in others[:5]) + (f" and {len(others) - 5} more" if others[5:] else "")
    return [
        f"the structure is also held at grid point {listed}: these supports move with node {clamped}, as parts of a rigid interface; "
        "the data is wrong if they belong to the ground"
    ]


def _scaled(rigid: Array, length: float, mass_unit: float) -> Array:
    """Returns the matrix in SI units."""
    scale = np.repeat([1.0, length], 3)
    return mass_unit * scale[:, None] * rigid * scale


def _checked(where: str, factors: Array, rigid: Array, digits: float) -> Array:
    """Returns participation factors that are consistent with the body's mass. Raises an error for those that are not."""
    if not np.isfinite(factors).all():
        raise GrappleError(f"{where}: a participation factor is not finite")
    masses = (factors**2).sum(axis=0)
    part = masses / np.maximum(np.diag(rigid), np.finfo(float).tiny)
    significant = np.diag(rigid) > 1e-9 * np.repeat([rigid[0, 0], np.diag(rigid)[3:].max()], 3)
    part = np.where(significant, part, 0.0)
    worst = int(np.argmax(part[:3] if part[:3].max() > 1.0 + 10.0 * digits else part))
    if part[worst] > 1.0 + 10.0 * digits:
        what = "effective mass" if worst < 3 else "effective inertia about the clamped node"
        raise GrappleError(
            f"{where}: the modes have {part[worst]:.4g} times the body's {what} in {AXES[worst]}, but at most 1 is possible: the mass "
            "properties are in other units (PARAM,WTMASS: give `wtmass`) or of another model, or the modes are not normalised"
        )
    return fitted(factors, rigid, (0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 2e-5))


def _kept(frequencies: Array, modes: int | None, highest_frequency: float | None, warnings: list[str]) -> int:
    """Returns the number of modes to keep."""
    limit = np.inf if highest_frequency is None else highest_frequency
    below = int(np.count_nonzero(frequencies <= limit))
    if below == 0:
        raise GrappleError(f"the body has no mode below {highest_frequency} Hz; leave `modal` out, it is rigid")
    kept = min(below, MOST_MODES if modes is None else modes)
    if modes is None and below > MOST_MODES:
        warnings.append(f"the {MOST_MODES} lowest of {below} modes are kept; a body may have no more")
    if modes is not None and modes > len(frequencies):
        warnings.append(f"the file has {len(frequencies)} modes, fewer than {modes}")
    if highest_frequency is not None and below == len(frequencies) and (modes is None or modes > below):
        warnings.append(f"all {below} modes of the file are below {highest_frequency} Hz, so the body may have more")
    return kept
