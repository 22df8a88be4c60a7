"""Modal data of a flexible body from a finite-element model: the table `[body.<name>.modal]` with mass properties."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ._errors import GrappleError, optional
from ._finite_elements import Structure, read, read_grids
from ._flexible_body import AXES, MOST_MODES, FlexibleBody, Node, fitted, mass_properties, size_remark
from ._modal_results import ModalResults, flexible_body
from ._nastran_f06 import f06_results
from ._nastran_op2 import has_matrices, op2_results

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


LARGEST_DENSE = 1500
"""Degrees of freedom up to which all modes are computed at once, with full matrices."""


def import_modes(
    stiffness: Any,
    mass: Any = None,
    *,
    nodes: Any = None,
    clamped: int,
    attach: Mapping[str, int] | None = None,
    modes: int | None = None,
    highest_frequency: float | None = None,
    residual: bool = True,
    damping_ratio: float = 0.0,
    freedoms: Any = None,
    length: float = 1.0,
    mass_unit: float = 1.0,
    subcase: int | None = None,
    wtmass: float | None = None,
) -> FlexibleBody:
    """Computes the modal data of a flexible body from matrices or modal results of a finite-element model.

    `stiffness` and `mass` are symmetric matrices of the **free** structure, without supports: NumPy or SciPy
    arrays, paths of Matrix Market files (`.mtx`), or, as `stiffness` alone, a file of Nastran with both: punched
    (`.pch`, matrices KAAX and MAAX of `EXTSEOUT(…, DMIGPCH)`) or binary (`.op2`, also of `EXTSEOUT(…, DMIGOP2 = …)`).
    A model that another program has reduced (Guyan, Craig–Bampton) serves as well; its generalised coordinates have
    the component 0.

    An `.op2` file without matrices, or an `.f06` file, has the modes of the body **clamped** at its interface, with
    forces of constraints and mass properties. No static deflections are added to them; `subcase` selects the modes
    if several subcases have some, and `wtmass` replaces `PARAM,WTMASS`.

    `nodes` gives the positions: a mapping from numbers of nodes to three numbers, a CSV file with the columns
    `node`, `x`, `y`, `z`, or a Nastran file with `GRID` entries or an `.op2` file. Displacements in another system
    than the basic one (CD) are turned into it. `freedoms` are node and component (1 to 3
    translations, 4 to 6 rotations) of each row, as an array of shape (n, 2) or a CSV file with the columns
    `node`, `component`; by default each node has six rows, in the order of `nodes`.

    The body's origin is the node `clamped`, at which its joint holds it; axes are those of the model. `attach`
    names the nodes to which joints and frames attach. The lowest `modes` natural modes of the clamped body are
    kept (20 of matrices, by default, and all of modal results), below `highest_frequency` (Hz) if given. With `residual`, static deflections under unit forces and
    moments at the attached nodes, and under accelerations of the origin, are added as modes of their own, so
    that the static compliance of the body is exact; they have high frequencies. The deflection of freedoms without
    mass is no mode: a warning names the components whose compliance is off by more than 1e-3. `damping_ratio` is
    that of all modes. `length` and `mass_unit` are the model's units in m and kg: 0.001 and 1000 for mm and tonnes.

    Raises GrappleError if the matrices are not those of a free structure: not symmetric, not positive, with
    supports, with another mass in each direction, or with a mechanism. Supports that are soft, or matrices with
    few digits, give a warning: the squared frequency of the free body in its supports is more than 1e-3 of that of
    the lowest mode. Raises GrappleError if modal results lack a table, are complex, are not clamped at the node, or have
    more effective mass than the body.

    Sources: Craig and Bampton, AIAA Journal 6 (1968), doi:10.2514/3.4741, for the basis of clamped modes and
    static deflections; Craig and Kurdila, Fundamentals of Structural Dynamics, 2nd ed., ch. 17.
    """
    attach = {str(name): int(node) for name, node in (attach or {}).items()}
    _require_sensible(modes, damping_ratio, highest_frequency, length, mass_unit)
    results = _results(stiffness, mass, nodes, subcase, [clamped, *attach.values()])
    if results is not None:
        return flexible_body(
            results,
            clamped=clamped,
            attach=attach,
            modes=modes,
            highest_frequency=highest_frequency,
            damping_ratio=damping_ratio,
            length=length,
            mass_unit=mass_unit,
            weight_factor=wtmass,
        )
    if subcase is not None or wtmass is not None:
        raise GrappleError("`subcase` and `wtmass` are of modal results, in an .op2 or .f06 file; matrices have none")
    structure, source, remarks = read(stiffness, mass, nodes, freedoms, length, mass_unit)
    remarks = (*remarks, *size_remark(list(structure.positions.values()), length))
    body = _of_structure(structure, clamped, attach, 20 if modes is None else modes, highest_frequency, residual)
    return replace(body, damping_ratio=float(damping_ratio), source=source, warnings=(*remarks, *body.warnings))


def _of_structure(
    structure: Structure, clamped: int, attach: Mapping[str, int], modes: int, highest_frequency: float | None, residual: bool
) -> FlexibleBody:
    """Returns the body of matrices, without damping."""
    origin_rows = _clamped_rows(structure, clamped)
    node_rows = {name: _attached_rows(structure, name, node) for name, node in attach.items()}
    R = structure.rigid_motions(structure.positions[clamped])
    warnings = _require_free(structure, R) + [text for name, rows in node_rows.items() for text in _part_rotations(name, rows)]
    rigid = R.T @ (structure.M @ R)
    mass_kg, centre, inertia = mass_properties(rigid)

    kept = np.setdiff1d(np.arange(len(structure.freedoms)), origin_rows)
    K, M = structure.K[kept][:, kept].tocsc(), structure.M[kept][:, kept].tocsc()
    loaded = sorted({row for rows in node_rows.values() for row in rows.values()} - set(origin_rows))
    forces = np.zeros((len(R), len(loaded)))
    forces[loaded, np.arange(len(loaded))] = 1.0
    forces = np.hstack([forces, structure.M @ R])[kept] if residual else np.zeros((len(kept), 0))
    solve = _factorised(K, structure.freedoms[kept])
    static = solve(forces)
    omega2, shapes, is_residual = _modes(K, M, solve, static, modes, highest_frequency)
    warnings += _resistance(structure, R, omega2[0])
    if residual:
        warnings += _left_out(structure.freedoms, kept, loaded, static, omega2, shapes) + _too_high(omega2, is_residual)
    natural = int(np.count_nonzero(~is_residual))
    if highest_frequency is not None and natural == modes < len(kept):
        warnings.append(f"all {modes} modes are below {highest_frequency} Hz, so there may be more; increase `modes`")
    if len(omega2) > MOST_MODES:
        raise GrappleError(
            f"{len(omega2)} modes with the static deflections, but a body may have {MOST_MODES}; attach fewer nodes or keep fewer modes"
        )

    Phi = np.zeros((len(R), len(omega2)))
    Phi[kept] = shapes
    return FlexibleBody(
        mass=mass_kg,
        mass_centre=centre,
        inertia=inertia,
        frequencies=np.sqrt(omega2) / (2.0 * np.pi),
        participation=fitted(Phi.T @ (structure.M @ R), rigid),
        nodes={name: _node(structure, Phi, attach[name], clamped, rows) for name, rows in node_rows.items()},
        residual=is_residual,
        warnings=tuple(warnings),
    )


def _results(stiffness: Any, mass: Any, nodes: Any, subcase: int | None, wanted: Sequence[int]) -> ModalResults | None:
    """Returns the modal results of a file of Nastran, at least at the nodes `wanted`; None for matrices."""
    path = Path(cast("str", stiffness)) if isinstance(stiffness, (str, os.PathLike)) else None
    kind = None if path is None else path.suffix.lower()
    if path is not None and kind in (".h5", ".xdb", ".op4", ".hdf5"):
        raise GrappleError(f"{path}: {kind} files are not read; write an .op2 file (PARAM,POST,-1)")
    if path is None or kind not in (".op2", ".f06"):
        return None
    if mass is not None:
        raise GrappleError(f"{path}: an {kind} file is given alone; there is no second file with the mass matrix")
    if kind == ".op2":
        if subcase is None and has_matrices(path):
            return None
        return op2_results(path, None if nodes is None else read_grids(nodes), subcase, wanted)
    if nodes is None:
        raise GrappleError(
            f"{path}: an .f06 file has no positions; give `nodes`: the bulk data (.bdf, .dat), the .op2 file of the run, or a CSV file"
        )
    return f06_results(path, read_grids(nodes), subcase)


def _require_sensible(
    modes: int | None, damping_ratio: float, highest_frequency: float | None, length: float, mass_unit: float
) -> None:
    """Raises an error for arguments out of their ranges."""
    if not (0.0 < length < np.inf and 0.0 < mass_unit < np.inf):
        raise GrappleError("length and mass_unit must be positive")
    if modes is not None and not 1 <= modes <= MOST_MODES:
        raise GrappleError(f"modes = {modes}: a body may have 1 to {MOST_MODES} modes")
    if not 0.0 <= damping_ratio < np.inf:
        raise GrappleError(f"damping_ratio = {damping_ratio}: it must not be negative")
    if highest_frequency is not None and not highest_frequency > 0.0:
        raise GrappleError(f"highest_frequency = {highest_frequency} Hz: it must be positive")


def _node(structure: Structure, Phi: Array, node: int, clamped: int, rows: Mapping[int, int]) -> Node:
    """Returns position and shapes of an attached node."""
    shapes = np.zeros((Phi.shape[1], 6))
    for component, row in rows.items():
        shapes[:, component - 1] = Phi[row]
    rotates = any(component > 3 for component in rows)
    return Node(structure.positions[node] - structure.positions[clamped], shapes[:, :3], shapes[:, 3:] if rotates else None)


def _clamped_rows(structure: Structure, node: int) -> list[int]:
    """Returns the six rows of the clamped node."""
    rows = structure.rows(node)
    if not rows:
        raise GrappleError(f"there is no node {node} in the matrices; `clamped` is the node at which the body's joint holds it")
    missing = [AXES[c - 1] for c in range(1, 7) if c not in rows]
    if missing:
        raise GrappleError(
            f"the clamped node {node} has no {', '.join(missing)}; connect it to the structure by a rigid element (RBE2), so that it "
            "has six degrees of freedom"
        )
    return [rows[c] for c in range(1, 7)]


def _attached_rows(structure: Structure, name: str, node: int) -> dict[int, int]:
    """Returns the rows of an attached node by component."""
    rows = structure.rows(node)
    if not rows:
        raise GrappleError(f'attach "{name}": there is no node {node} in the matrices')
    missing = [AXES[c - 1] for c in range(1, 4) if c not in rows]
    if missing:
        raise GrappleError(f'attach "{name}": the node {node} has no {", ".join(missing)}; its displacement is unknown')
    return rows


def _require_free(structure: Structure, R: Array) -> list[str]:
    """Raises an error if the structure resists motions as a rigid body. Returns a warning if it does so little."""
    scale = np.abs(R).T @ (structure.K.diagonal()[:, None] * np.abs(R))
    energy = np.abs(np.diag(R.T @ (structure.K @ R))) / np.maximum(np.diag(scale), np.finfo(float).tiny)
    worst = int(np.argmax(energy))
    text = (
        f"the stiffness resists a motion {AXES[worst]} as a rigid body: its energy is {energy[worst]:.1e} of that of the diagonal"
    )
    if not energy[worst] <= 1e-5:
        raise GrappleError(
            f"{text}; the matrices must be those of the free structure, without supports, and positions in the same units"
        )
    return [f"{text} (1e-8 is usual)"] if energy[worst] > 1e-8 else []


def _resistance(structure: Structure, R: Array, lowest: float) -> list[str]:
    """Returns a warning if the stiffness resists motions as a rigid body, in parts of the lowest mode's ω².

    It is no error, because matrices with ten digits have as much by round-off, which grows with the mesh: 0.2 for three
    beams of 40 elements each. The clamped modes that are computed are little affected by that.
    """
    inertia = np.diag(R.T @ (structure.M @ R)).copy()
    inertia[3:] = inertia[3:].max()
    omega2 = np.abs(np.diag(R.T @ (structure.K @ R))) / np.maximum(inertia, np.finfo(float).tiny)
    worst = int(np.argmax(omega2))
    part = omega2[worst] / lowest
    if part <= 1e-3:
        return []
    return [
        f"the stiffness resists a motion {AXES[worst]} as a rigid body: its squared frequency is {part:.1e} of that of the lowest "
        "mode (below 1e-6 is usual); either the structure has supports, or the matrices have too few digits for their mesh"
    ]


def _left_out(
    freedoms: NDArray[np.int_], kept: NDArray[np.int_], loaded: Sequence[int], static: Array, omega2: Array, shapes: Array
) -> list[str]:
    """Returns warnings for the attached components whose static compliance the modes do not have."""
    at = np.searchsorted(kept, loaded)
    exact = static[at, np.arange(len(loaded))]
    lacking = 1.0 - (shapes[at] ** 2 / omega2).sum(axis=1) / exact
    parts = [
        f"{node} {AXES[component - 1]} ({part:.1%})"
        for (node, component), part in zip(freedoms[loaded], lacking, strict=True)
        if not abs(part) <= 1e-3
    ]
    if not parts:
        return []
    return [
        "the deflections of freedoms without mass are no modes, so the body is too stiff under static loads at the node and "
        f"component {', '.join(parts)}: give the nodes mass and rotary inertia"
    ]


def _too_high(omega2: Array, is_residual: NDArray[np.bool_]) -> list[str]:
    """Returns a warning if a static deflection has nearly no mass."""
    natural = omega2[~is_residual].max()
    high = np.flatnonzero(is_residual & (omega2 > 1e6 * natural))
    if len(high) == 0:
        return []
    return [
        f"residual modes from number {high[0] + 1} on are more than 1000 times as high as the natural ones, up to "
        f"{np.sqrt(omega2[-1]) / (2.0 * np.pi):.3g} Hz: the deflections at the attached nodes have nearly no mass; give these "
        "nodes mass and rotary inertia, keep more modes, or leave residual modes out"
    ]


def _part_rotations(name: str, rows: Mapping[int, int]) -> list[str]:
    """Returns a warning for an attached node that has some rotations only."""
    missing = [AXES[c - 1] for c in range(4, 7) if c not in rows]
    if not 1 <= len(missing) <= 2:
        return []
    return [f'attach "{name}": the node has no {", ".join(missing)}; a joint or frame there does not turn about these axes']


def _modes(
    K: Any, M: Any, solve: Callable[[Array], Array], static: Array, modes: int, highest_frequency: float | None
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Returns squared angular frequencies, mass-normalised shapes (columns), and marks of the static deflections."""
    limit = np.inf if highest_frequency is None else (2.0 * np.pi * highest_frequency) ** 2
    omega2, shapes = _natural_modes(K, M, solve, modes)
    omega2, shapes = omega2[omega2 <= limit], shapes[:, omega2 <= limit]
    if len(omega2) == 0:
        raise GrappleError(f"the body has no mode below {highest_frequency} Hz; leave `modal` out, it is rigid")
    before = np.sqrt(np.einsum("ij,ij->j", static, M @ static))
    # Twice, since one projection leaves round-off of the large first modes.
    for _ in range(2):
        static = static - shapes @ (shapes.T @ (M @ static))
    lengths = np.sqrt(np.einsum("ij,ij->j", static, M @ static))
    static = static[:, lengths > 1e-6 * before] / lengths[lengths > 1e-6 * before]
    weights, vectors = np.linalg.eigh(static.T @ (M @ static))
    static = static @ (vectors / np.sqrt(np.maximum(weights, np.finfo(float).tiny)))[:, weights > 1e-10]
    stiffness, vectors = np.linalg.eigh(static.T @ (K @ static))
    all_omega2 = np.concatenate([omega2, stiffness])
    order = np.argsort(all_omega2, kind="stable")
    marks = np.arange(len(all_omega2)) >= len(omega2)
    return all_omega2[order], np.hstack([shapes, static @ vectors])[:, order], marks[order]


def _factorised(K: Any, freedoms: NDArray[np.int_]) -> Callable[[Array], Array]:
    """Returns the function that solves K x = f for columns f."""
    splu = optional("scipy.sparse.linalg", "import_modes").splu
    try:
        factors = splu(K)
        pivots = np.abs(np.asarray(factors.U.diagonal(), dtype=np.float64))
        regular = bool(pivots.min() > 1e-14 * pivots.max())
    except RuntimeError:
        factors, regular = None, False
    if factors is None or not regular:
        empty = [f"{node} {AXES[c - 1] if c > 0 else 'generalised'}" for node, c in freedoms[K.diagonal() == 0.0][:5]]
        where = f": no stiffness at {', '.join(empty)}" if empty else ""
        raise GrappleError(f"the clamped structure is a mechanism{where}; constrain or remove what moves without stiffness")
    return lambda forces: factors.solve(forces) if forces.shape[1] else forces


def _natural_modes(K: Any, M: Any, solve: Callable[[Array], Array], modes: int) -> tuple[Array, Array]:
    """Returns the lowest natural modes."""
    n = K.shape[0]
    if n <= LARGEST_DENSE:
        dense = optional("scipy.linalg", "import_modes")
        try:
            # The eigenvalues are 1/ω², so that rows without mass are permitted.
            compliance, vectors = dense.eigh(M.toarray(), K.toarray())
        except dense.LinAlgError:
            raise GrappleError("the stiffness of the clamped structure is not positive definite") from None
        if compliance[0] < -1e-9 * compliance[-1]:
            raise GrappleError("the mass matrix is not positive semi-definite")
        order = np.argsort(-compliance)[:modes]
        order = order[compliance[order] > 1e-14 * compliance[-1]]
        return 1.0 / compliance[order], vectors[:, order] / np.sqrt(compliance[order])
    linalg = optional("scipy.sparse.linalg", "import_modes")

    def apply(force: Array) -> Array:
        return solve(force.reshape(-1, 1)).ravel()

    inverse = linalg.LinearOperator(K.shape, matvec=apply, dtype=np.float64)
    # Fixed, so that the modes are reproducible to the last bit on one machine.
    start = np.cos(np.arange(n, dtype=np.float64) ** 2)
    try:
        omega2, shapes = linalg.eigsh(K, k=min(modes, n - 1), M=M, sigma=0.0, OPinv=inverse, v0=start)
    except linalg.ArpackError as error:
        raise GrappleError(f"the {modes} lowest modes were not found; keep fewer modes ({error})") from None
    order = np.argsort(omega2)
    if omega2[order[0]] <= 0.0:
        raise GrappleError("the stiffness of the clamped structure is not positive definite")
    shapes = shapes[:, order]
    return omega2[order], shapes / np.sqrt(np.einsum("ij,ij->j", shapes, M @ shapes))
