"""Modal results and matrices of Nastran (`.op2`, `.f06`): files of Nastran, and files of modes that are known."""

import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import nastran_files
import numpy as np
import pytest
import scipy.linalg
from native import ROOT
from native import grapple_fmu as grapple
from test_modes import exact, frame, reduced, spacecraft, vibrations

from grapple_fmu._modal_results import _participation
from grapple_fmu._nastran_f06 import f06_results
from grapple_fmu._nastran_op2 import op2_file_grids, op2_matrices, op2_results, open_op2

FILES = Path(__file__).parent / "nastran"
"""Blocks of files that Nastran has written, from pyNastran's models."""


@dataclass(frozen=True)
class Modes:
    """Modes of a body that is clamped at a node, in the units and axes of a file."""

    nodes: dict
    clamped: int
    eigenvalues: np.ndarray
    mu: np.ndarray
    shapes: np.ndarray
    forces: np.ndarray
    rigid: np.ndarray
    cylinder: np.ndarray | None = None


def local_axes(cylinder, position):
    """Returns the axes (columns) of a cylindrical system of three points at a position."""
    z = (cylinder[1] - cylinder[0]) / np.linalg.norm(cylinder[1] - cylinder[0])
    arm = position - cylinder[0]
    radial = arm - z * (z @ arm)
    radial /= np.linalg.norm(radial)
    return np.column_stack([radial, np.cross(z, radial), z])


def clamped_modes(count=8, cylinder=None, normalised=True):
    """Returns modes of the frame, clamped at its first node: from matrices alone."""
    K, M, nodes = frame()
    w, phi = scipy.linalg.eigh(K[6:, 6:], M[6:, 6:], subset_by_index=[0, count - 1])
    mu = np.ones(count)
    if not normalised:
        # As with NORM = MAX.
        largest = np.abs(phi).max(axis=0)
        phi, mu = phi / largest, 1.0 / largest**2
    forces = (K[:6, 6:] @ phi - w * (M[:6, 6:] @ phi)).T
    shapes = np.concatenate([np.zeros((count, 1, 6)), phi.T.reshape(count, -1, 6)], axis=1)
    R = np.zeros((len(K), 6))
    for i, (x, y, z) in enumerate(nodes.values()):
        R[6 * i : 6 * i + 6] = np.eye(6)
        R[6 * i : 6 * i + 3, 3:] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
    modes = Modes(nodes, 10, w, mu, shapes, forces, R.T @ M @ R)
    if cylinder is None:
        return modes
    turns = [np.kron(np.eye(2), local_axes(cylinder, x)) for x in nodes.values()]
    turned = np.stack([modes.shapes[:, i] @ turns[i] for i in range(len(turns))], axis=1)
    return replace(modes, shapes=turned, forces=forces @ turns[0], cylinder=cylinder)


def in_millimetres(modes):
    """Returns the modes in mm and tonnes: √t·mm for √kg·m."""
    length = np.repeat([1.0, 1e3], 3)
    to_mass = np.sqrt(1e3)
    return replace(
        modes,
        nodes={node: 1e3 * x for node, x in modes.nodes.items()},
        cylinder=None if modes.cylinder is None else 1e3 * modes.cylinder,
        # Displacement per amplitude in 1/√t, rotation in 1/(mm·√t).
        shapes=modes.shapes * to_mass / np.repeat([1.0, 1e3], 3),
        forces=modes.forces * to_mass * np.repeat([1e-3, 1.0], 3),
        rigid=1e-3 * length[:, None] * modes.rigid * length,
    )


def write(tmp_path, modes, name="frame.op2", **options):
    path = tmp_path / name
    if name.endswith(".f06"):
        path.write_text(nastran_files.f06(modes, **options), encoding="latin-1")
    else:
        path.write_bytes(nastran_files.op2(modes, **options))
    return path


def difference(body, reference, attached="tip"):
    """Returns the largest relative difference of two bodies' data, with the sign of each mode as in the reference."""
    signs = np.sign(np.einsum("ij,ij->i", body.participation, reference.participation))
    parts = [body.frequencies / reference.frequencies - 1.0, body.mass / reference.mass - 1.0]
    for mine, other in (
        (signs[:, None] * body.participation, reference.participation),
        (signs[:, None] * body.nodes[attached].displacement, reference.nodes[attached].displacement),
        (signs[:, None] * body.nodes[attached].rotation, reference.nodes[attached].rotation),
        (body.nodes[attached].position, reference.nodes[attached].position),
        (body.mass_centre, reference.mass_centre),
        (body.inertia, reference.inertia),
    ):
        assert mine.shape == other.shape
        parts.append((mine - other) / np.abs(other).max())
    return max(np.abs(part).max() for part in parts)


def matrix_path(count=8):
    K, M, nodes = frame()
    return grapple.import_modes(K, M, nodes=nodes, clamped=10, attach={"tip": max(nodes)}, modes=count, residual=False)


CYLINDER = np.array([[-0.3, 0.2, -0.1], [-0.2, 0.5, 0.9], [0.8, 0.1, 0.2]])


@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        ({}, 1e-6),
        ({"order": ">"}, 1e-6),
        ({"double_grids": True}, 1e-6),
        ({"size": 8}, 1e-9),
        ({"size": 8, "order": ">"}, 1e-9),
    ],
)
@pytest.mark.parametrize("system", ["basic", "cylindrical", "millimetres", "maximum"])
def test_modal_results_describe_the_body_of_the_matrices(tmp_path, within, options, allowed, system):
    modes = clamped_modes(cylinder=CYLINDER if system in ("cylindrical", "millimetres") else None, normalised=system != "maximum")
    units = {"length": 1e-3, "mass_unit": 1e3} if system == "millimetres" else {}
    path = write(tmp_path, in_millimetres(modes) if units else modes, **options)
    body = grapple.import_modes(path, clamped=10, attach={"tip": max(modes.nodes)}, **units)
    reason = "numbers of 32 bits" if allowed > 1e-8 else "round-off times the condition of the stiffness"
    within(f"data of .op2 files, {8 * options.get('size', 4)} bits", difference(body, matrix_path()), allowed, reason)


@pytest.mark.parametrize("system", ["basic", "cylindrical"])
def test_printed_output_describes_the_body_of_the_matrices(tmp_path, within, system):
    modes = clamped_modes(cylinder=CYLINDER if system == "cylindrical" else None)
    path, grids = write(tmp_path, modes, "frame.f06"), write(tmp_path, modes, size=8)
    body = grapple.import_modes(path, nodes=grids, clamped=10, attach={"tip": max(modes.nodes)})
    within("data of .f06 files", difference(body, matrix_path()), 2e-6, "seven digits")
    assert any("7 digits" in warning for warning in body.warnings)


def test_spacecraft_with_a_body_of_modal_results_has_its_vibrations(tmp_path, within):
    """All modes of the clamped frame are those of the whole structure in other coordinates."""
    K, M, nodes = frame(2)
    modes = clamped_modes()
    body = grapple.import_modes(write(tmp_path, modes), clamped=10, attach={"tip": max(modes.nodes)})
    arrays = matrix_path()
    tip = modes.nodes[max(modes.nodes)]
    error = np.abs(vibrations(spacecraft(body, tip), 4) / vibrations(spacecraft(arrays, tip), 4) - 1.0).max()
    within("frequencies of a spacecraft by an .op2 file", error, 1e-6, "numbers of 32 bits")
    K, M, nodes = frame()
    error = np.abs(vibrations(spacecraft(body, tip), 4) / exact(K, M, len(nodes), 4) - 1.0).max()
    within("frequencies of a spacecraft by modes without static deflections", error, 1e-2, "modes that are left out")


def test_forces_of_constraints_give_the_participation_factors_of_nastran(within):
    """Beam with a mass at its tip; Simcenter Nastran has written the factors as well (MPFACS)."""
    results = op2_results(FILES / "tip_mass.op2", None, None)
    factors, warnings = _participation(results, 1, results.generalised_mass)
    error = np.abs(factors - results.factors).max() / np.abs(results.factors).max()
    within("participation factors by forces against those of Nastran", error, 1e-7, "numbers of 32 bits")
    assert warnings == []
    _, (warning,) = _participation(replace(results, factors=1.01 * results.factors), 1, results.generalised_mass)
    assert "differ by" in warning
    about, (warning,) = _participation(replace(results, reactions=None), 1, results.generalised_mass)
    assert np.array_equal(about, results.factors) and "about the origin of the basic system" in warning


def test_matrices_of_an_external_superelement_have_the_frequencies_of_nastran(within):
    """Plate; the reference is in the results of the run of Simcenter Nastran that has reduced it (extse04c.op2), Hz."""
    (K, M), rows, grids, _ = op2_matrices(FILES / "external_superelement.op2")
    assert rows.tolist()[-4:] == [[100001 + k, 0] for k in range(4)] and {1, 2, 3, 4} <= grids.keys()
    omega2 = np.sort(1.0 / scipy.linalg.eigh(M, K + 1e3 * M, eigvals_only=True)[::-1][:10]) - 1e3
    found = np.sqrt(np.abs(omega2)) / (2.0 * np.pi)
    reference = np.array([180.550937, 261.289680, 332.987953, 459.571301])
    within("frequencies of a superelement", np.abs(found[6:] / reference - 1.0).max(), 1e-7, "numbers of 32 bits")
    body = grapple.import_modes(
        FILES / "external_superelement.op2", clamped=1, attach={"corner": 4}, modes=10, length=1e-3, mass_unit=1.0
    )
    # The plate is symmetric about its centre.
    assert body.mass_centre == pytest.approx(body.nodes["corner"].position / 2.0, abs=0.003)


def test_printed_output_and_binary_results_of_a_run_agree(within):
    grids = op2_file_grids(FILES / "solids.op2")
    binary, printed = op2_results(FILES / "solids.op2", None, None), f06_results(FILES / "solids.f06", grids, None)
    assert printed.nodes.tolist() == binary.nodes.tolist()
    nodes = printed.reactions[0].tolist()
    at = [binary.reactions[0].tolist().index(node) for node in nodes]
    for claim, mine, other in (
        ("shapes", printed.shapes, binary.shapes),
        ("forces", printed.reactions[1], binary.reactions[1][:, at]),
        ("eigenvalues", printed.eigenvalues, binary.eigenvalues),
    ):
        scale = np.abs(other).max()
        within(f"{claim} of printed output", np.abs(mine - other).max() / scale, 6e-7, "seven digits")
    binary, printed = op2_results(FILES / "beam.op2", None, None), f06_results(FILES / "beam.f06", {}, None)
    assert printed.rigid[0] == binary.rigid[0] == 0
    assert printed.rigid[1] == pytest.approx(binary.rigid[1], rel=1e-6)
    # The shapes of its double eigenvalues are those of another run.
    assert printed.eigenvalues == pytest.approx(binary.eigenvalues, rel=1e-6)
    assert printed.generalised_mass[4] == pytest.approx(binary.generalised_mass[4], rel=1e-6)


def test_displacements_of_a_cylindrical_system_are_those_of_the_basic_one(within):
    """Static deflections of one structure by Nastran, in the basic system and in a cylindrical one."""
    found = {}
    for name in ("static_basic.op2", "static_cylindrical.op2"):
        file, blocks, _ = open_op2(FILES / name)
        grids = op2_file_grids(FILES / name)
        data = next(block for block in blocks if block.name == "OUGV1").records[1]
        nodes = file.integers(data).reshape(-1, 8)[:, 0] // 10
        values = file.reals(data).reshape(-1, 8)[:, 2:5]
        axes = [np.eye(3) if grids[node].axes is None else grids[node].axes for node in nodes.tolist()]
        found[name] = np.array([A @ u for A, u in zip(axes, values)])
    one, other = found.values()
    within("displacements in cylindrical axes", np.abs(one - other).max() / np.abs(one).max(), 1e-7, "numbers of 32 bits")


@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize("form", ["MATPOOL", "XSOP2DIR", "KGG", "KAA"])
def test_matrices_in_a_binary_file(tmp_path, within, form, size):
    K, M, nodes = frame()
    Kr, Mr, freedoms = reduced(K, M, 12)
    ends = {1: nodes[10], 2: nodes[max(nodes)]}
    arguments = {"clamped": 1, "attach": {"tip": 2}, "modes": 18}
    file = nastran_files.Op2(size)
    grids = file.integers(4501, 45, 1) + b"".join(
        file.integers(node, 0) + file.reals(x) + file.integers(0, 0, 0) for node, x in ends.items()
    )
    if form == "MATPOOL":
        file.table("GEOM1", [grids])
        code = file.integers(114, 1, 120)
        file.table("MATPOOL", [code + file.dmig("KAAX", Kr, freedoms) + file.dmig("MAAX", Mr, freedoms)])
    elif form == "XSOP2DIR":
        names = [file.name(name) for name in ("XSOP2DIR", "PVT0", "GEOM1EX", "MATK", "MATM")]
        file.table("XSOP2DIR", names[1:])
        file.table("PVTS", [file.integers(0)])
        file.table("EXTDB", [grids])
        for matrix in (Kr, Mr):
            file.table("EXTDB", [file.integers(114, 1, 120) + file.dmig("EXTDB", matrix, freedoms)])
    else:
        file.table("GEOM1", [grids])
        order = [(node, c) for node in (2, 1) for c in range(1, 7)] + freedoms[12:]
        at = [freedoms.index(row) for row in order]
        if form == "KGG":
            # Node 2 is the first in Nastran's internal order.
            sils = [(1, 71), (2, 11)] + [(node, 10 * (13 + k) + 2) for k, (node, _) in enumerate(freedoms[12:])]
            file.table("EQEXINS", [file.integers(0), file.integers(*(number for row in sils for number in row))])
        else:
            arguments["freedoms"] = order
        for name, matrix in ((form, Kr), (form.replace("K", "M"), Mr)):
            file.matrix(name, matrix[np.ix_(at, at)])
    path = tmp_path / "frame.op2"
    path.write_bytes(file.end())
    arguments["nodes"] = ends
    if size == 8:
        del arguments["nodes"]
    body = grapple.import_modes(path, **arguments)
    arguments |= {"nodes": ends, "freedoms": freedoms}
    arrays = grapple.import_modes(Kr, Mr, **arguments)
    error = np.abs(body.frequencies / arrays.frequencies - 1.0).max()
    within("frequencies of matrices in a binary file", error, 1e-7, "round-off times the condition of the stiffness")
    assert body.residual.tolist() == arrays.residual.tolist()


def test_mass_in_units_of_weight(tmp_path):
    """The grid point weight generator prints the mass before the factor WTMASS is applied."""
    modes = clamped_modes()
    in_weight = replace(modes, rigid=modes.rigid / 0.00259)
    reference = matrix_path()
    body = grapple.import_modes(write(tmp_path, in_weight, wtmass=0.00259), clamped=10)
    assert body.mass == pytest.approx(reference.mass, rel=1e-6)
    path = write(tmp_path, in_weight)
    assert grapple.import_modes(path, clamped=10, wtmass=0.00259).mass == pytest.approx(reference.mass, rel=1e-6)
    printed, grids = write(tmp_path, in_weight, "frame.f06"), write(tmp_path, modes)
    printed.write_text("                 1-        PARAM   WTMASS  2.59-3\n" + printed.read_text())
    assert grapple.import_modes(printed, nodes=grids, clamped=10).mass == pytest.approx(reference.mass, rel=1e-6)
    with pytest.raises(grapple.GrappleError, match="times the body's effective mass in T.*PARAM,WTMASS"):
        grapple.import_modes(write(tmp_path, replace(modes, rigid=modes.rigid * 0.00259)), clamped=10)


def test_mass_properties_about_another_grid(tmp_path):
    modes = clamped_modes()
    K, M, _ = frame()
    R = np.zeros((len(K), 6))
    for i, node in enumerate(modes.nodes):
        x, y, z = modes.nodes[node] - modes.nodes[14]
        R[6 * i : 6 * i + 6] = np.eye(6)
        R[6 * i : 6 * i + 3, 3:] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
    other = grapple.import_modes(write(tmp_path, replace(modes, rigid=R.T @ M @ R), reference=14), clamped=10)
    one = grapple.import_modes(write(tmp_path, modes), clamped=10)
    assert other.mass_centre == pytest.approx(one.mass_centre, abs=1e-6)
    assert other.inertia == pytest.approx(one.inertia, abs=1e-6 * np.abs(one.inertia).max())


def test_files_that_pynastran_has_written(tmp_path, within):
    """An independent writer of both formats, run by scripts/long."""
    reason = "pyNastran needs NumPy 1; scripts/long runs this test"
    writer = pytest.importorskip("pyNastran.op2.op2_geom", reason=reason, exc_type=Exception)
    from pyNastran.op2.result_objects.grid_point_weight import GridPointWeight
    from pyNastran.op2.tables.lama_eigenvalues.lama_objects import RealEigenvalues
    from pyNastran.op2.tables.oqg_constraintForces.oqg_spc_forces import RealSPCForcesArray
    from pyNastran.op2.tables.oug.oug_eigenvectors import RealEigenvectorArray

    modes = clamped_modes()
    model = writer.OP2Geom(debug=None)
    count, cycles = len(modes.eigenvalues), np.sqrt(modes.eigenvalues) / (2.0 * np.pi)
    for node, x in modes.nodes.items():
        model.add_grid(node, x)
    zero, S = np.zeros((3, 3)), np.eye(3)
    weight = GridPointWeight(0, modes.rigid, S, np.ones(3), zero, zero, np.ones(3), S, title="", subtitle="", label="")
    model.grid_point_weight[""] = weight
    lama = RealEigenvalues("frame", "LAMA", count)
    for k, (w, mu) in enumerate(zip(modes.eigenvalues, modes.mu)):
        lama.add_f06_line((k + 1, k + 1, w, np.sqrt(w), cycles[k], mu, mu * w), k)
    model.eigenvalues["frame"] = lama
    shown = (np.arange(1, count + 1), modes.eigenvalues, cycles)
    for kind, table, nodes, values, of in (
        (RealEigenvectorArray, "OUGV1", list(modes.nodes), modes.shapes, model.eigenvectors),
        (RealSPCForcesArray, "OQG1", [modes.clamped], modes.forces[:, None], model.spc_forces),
    ):
        types = np.array([(node, 1) for node in nodes], dtype="int32")
        of[1] = kind.add_modal_case(table, types, values.astype("float32"), 1, *shown)
    model.write_op2(str(tmp_path / "frame.op2"), nastran_format="msc")
    body = grapple.import_modes(tmp_path / "frame.op2", clamped=10, attach={"tip": max(modes.nodes)})
    within("data of pyNastran's .op2 files", difference(body, matrix_path()), 1e-6, "numbers of 32 bits")
    # Its forces of constraints have no eigenvalue, other than those of Nastran.
    model.subcase_key[1] = [1]
    model.write_f06(str(tmp_path / "frame.f06"), matrix_filename=None)
    results = f06_results(tmp_path / "frame.f06", {}, None)
    error = np.abs(results.shapes - modes.shapes).max() / np.abs(modes.shapes).max()
    within("shapes of pyNastran's .f06 files", error, 1e-6, "seven digits")
    assert results.eigenvalues == pytest.approx(modes.eigenvalues, rel=1e-6)
    assert results.rigid[1] == pytest.approx(modes.rigid, abs=1e-6 * np.abs(modes.rigid).max())


def two_subcases(modes):
    first, second = nastran_files.op2(modes, subcase=1), nastran_files.op2(modes, subcase=2, leave=("GEOM1", "OGPWG"))
    # Without the mark of the end of the first file and the header of the second.
    return first[:-12] + second[len(nastran_files.Op2().data) :]


def test_subcases(tmp_path):
    path = tmp_path / "two.op2"
    path.write_bytes(two_subcases(clamped_modes()))
    with pytest.raises(grapple.GrappleError, match="the subcases 1, 2 have modes; give one as `subcase`"):
        grapple.import_modes(path, clamped=10)
    with pytest.raises(grapple.GrappleError, match="subcase 3 has no modes; those with modes: 1, 2"):
        grapple.import_modes(path, clamped=10, subcase=3)
    assert len(grapple.import_modes(path, clamped=10, subcase=2).frequencies) == 8


def moved(modes):
    shapes = modes.shapes.copy()
    shapes[2, 0, 4] = 0.5
    return replace(modes, shapes=shapes)


def free(modes):
    eigenvalues = modes.eigenvalues.copy()
    eigenvalues[0] = 1e-9
    return replace(modes, eigenvalues=eigenvalues)


def without_mass(modes):
    return replace(modes, mu=0.0 * modes.mu)


def not_finite(modes):
    shapes = modes.shapes.copy()
    shapes[1, 3, 2] = np.nan
    return replace(modes, shapes=shapes)


@pytest.mark.parametrize(
    ("change", "options", "arguments", "message"),
    [
        (None, {"leave": ("OGPWG",)}, {}, "the mass properties are missing; .*PARAM,GRDPNT,0"),
        (None, {"leave": ("OQG1",)}, {}, "no forces of constraints in the modes .* SPCFORCES = ALL"),
        (None, {"leave": ("OUGV1",)}, {}, "no eigenvectors .* the blocks are GEOM1, OGPWG, LAMA, OQG1; request DISPLACEMENT = ALL"),
        (None, {"leave": ("GEOM1",)}, {}, "the position of grid point 10 is unknown: the file has no grid points"),
        (None, {"approach": 9}, {}, "the file has results of complex modes, but no real modes"),
        (None, {"approach": 1}, {}, "results of statics, but no real modes"),
        (None, {"form": 2}, {}, "complex modes"),
        (None, {}, {"clamped": 9}, "`clamped`: the eigenvectors have no grid point 9"),
        (None, {}, {"attach": {"tip": 77}}, 'attach "tip": the eigenvectors have no grid point 77'),
        (None, {}, {"clamped": 12}, "grid point 12 is not clamped: its displacement"),
        (None, {}, {"subcase": 4}, "subcase 4 has no modes; those with modes: 1"),
        (None, {}, {"modes": 0}, "1 to 512 modes"),
        (None, {}, {"highest_frequency": 0.1}, "no mode below 0.1 Hz"),
        (None, {}, {"wtmass": -1.0}, "wtmass = -1.0"),
        (None, {}, {"mass": "M.mtx"}, "an .op2 file is given alone"),
        (None, {}, {"stiffness": "model.h5"}, "model.h5: .h5 files are not read; write an .op2 file"),
        (moved, {}, {}, "grid point 10 is not clamped: its rotation R2 in mode 3"),
        (free, {}, {}, "mode 1 has .* Hz .* motion as a rigid body or of a mechanism; constrain the interface"),
        (without_mass, {}, {}, "the generalised mass of mode 1 is 0"),
        (not_finite, {}, {}, "an eigenvector has values that are not finite"),
    ],
)
def test_results_that_cannot_serve_are_refused(tmp_path, change, options, arguments, message):
    modes = clamped_modes()
    path = write(tmp_path, modes if change is None else change(modes), **options)
    with pytest.raises(grapple.GrappleError, match=message):
        grapple.import_modes(**({"stiffness": path, "clamped": 10} | arguments))


def test_missing_table_of_eigenvalues_is_a_remark(tmp_path):
    body = grapple.import_modes(write(tmp_path, clamped_modes(), leave=("LAMA",)), clamped=10)
    assert any("taken as mass-normalised" in warning for warning in body.warnings)
    assert body.frequencies == pytest.approx(matrix_path().frequencies, rel=1e-6)


def test_modes_without_shapes_give_a_warning(tmp_path):
    modes = clamped_modes()
    first = replace(modes, eigenvalues=modes.eigenvalues[:5], shapes=modes.shapes[:5], forces=modes.forces[:5])
    table = nastran_files.op2(modes, leave=("OUGV1", "OQG1"))[:-12]
    shapes = nastran_files.op2(first, leave=("GEOM1", "OGPWG", "LAMA"))[len(nastran_files.Op2().data) :]
    (tmp_path / "frame.op2").write_bytes(table + shapes)
    body = grapple.import_modes(tmp_path / "frame.op2", clamped=10)
    assert len(body.frequencies) == 5
    assert "the table of eigenvalues has 8 modes, but 5 have eigenvectors (OMODES, or the file is incomplete)" in body.warnings


def test_damaged_and_truncated_files_are_refused(tmp_path):
    """No file raises another error than GrappleError, and no truncated one is read without a remark."""
    whole = nastran_files.op2(clamped_modes())
    path, generator = tmp_path / "frame.op2", np.random.default_rng(5)
    path.write_bytes(b"")
    with pytest.raises(grapple.GrappleError, match="no .op2 file: it is empty"):
        grapple.import_modes(path, clamped=10)
    path.write_text("$ENDGRID\n" * 20)
    with pytest.raises(grapple.GrappleError, match="it is text; write it binary"):
        grapple.import_modes(path, clamped=10)
    with pytest.raises(grapple.GrappleError, match="No such file"):
        grapple.import_modes(tmp_path / "none.op2", clamped=10)
    for length in generator.integers(1, len(whole), 40):
        path.write_bytes(whole[:length])
        try:
            assert any("no mark of the end" in warning for warning in grapple.import_modes(path, clamped=10).warnings)
        except grapple.GrappleError as error:
            assert "frame.op2" in str(error)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(grapple.GrappleError, match="ends within a record, .* the last complete block is"):
        grapple.import_modes(path, clamped=10)
    for _ in range(300):
        damaged = bytearray(whole)
        at = 4 * int(generator.integers(0, len(whole) // 4))
        damaged[at : at + 4] = generator.choice([b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f", b"\1\0\0\0"])
        path.write_bytes(bytes(damaged))
        try:
            grapple.import_modes(path, clamped=10)
        except grapple.GrappleError:
            pass


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("R E A L   E I G E N V E C T O R", "C O M P L E X   E I G E N V E C T O R", "complex modes, but no real ones"),
        ("R E A L   E I G E N V E C T O R", "D I S P L A C E M E N T", "no eigenvectors; request DISPLACEMENT"),
        ("W E I G H T   G E N E R A T O R", "W E I G H T", "the mass properties are missing"),
        ("F O R C E S   O F   S I N G L E", "L O A D S   O F   S I N G L E", "no forces of constraints"),
        ("REFERENCE POINT =        0", "REFERENCE POINT = ", "page 1: the table of the grid point weight generator has no"),
        ("            11      G", "            11      G    1.0", "page 3: grid point 11 has 7 numbers; 6 are expected"),
        ("            11      G", "            12      G", "page 3: grid point 12 has a second row"),
        ("SUBCASE 1", "SUBCASE 2", "subcase 1 has no modes; those with modes: 2"),
        ("PAGE     5", "PAGE     5\n *** USER FATAL MESSAGE 9137 (SEKRRS)", "the run has failed: USER FATAL MESSAGE 9137"),
        ("1.000000E+00", "2.000000E+00", "the numbers of mode 1 contradict each other"),
    ],
)
def test_printed_output_that_cannot_serve_is_refused(tmp_path, old, new, message):
    modes = clamped_modes()
    path, grids = write(tmp_path, modes, "frame.f06"), write(tmp_path, modes)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(grapple.GrappleError, match=message):
        grapple.import_modes(path, nodes=grids, clamped=10, subcase=1)


def test_printed_output_needs_positions_and_its_end(tmp_path):
    modes = clamped_modes()
    path, grids = write(tmp_path, modes, "frame.f06"), write(tmp_path, modes)
    with pytest.raises(grapple.GrappleError, match="an .f06 file has no positions; give `nodes`"):
        grapple.import_modes(path, clamped=10)
    lines = path.read_text().splitlines()
    for length in range(20, len(lines) - 4, 7):
        path.write_text("\n".join(lines[:length]) + "\n")
        with pytest.raises(grapple.GrappleError):
            grapple.import_modes(path, nodes=grids, clamped=10)


def test_node_on_a_polar_axis_is_refused(tmp_path):
    modes = clamped_modes(cylinder=CYLINDER)
    axis = {**modes.nodes, 20: CYLINDER[0] + 0.7 * (CYLINDER[1] - CYLINDER[0])}
    path = write(tmp_path, replace(modes, nodes=axis))
    with pytest.raises(grapple.GrappleError, match="grid point 20 is on the polar axis"):
        grapple.import_modes(path, clamped=10, attach={"tip": 20})


def test_matrices_in_output_axes(within):
    """Rows of a node with CD are those of its axes."""
    K, M, nodes = frame()
    from grapple_fmu._coordinates import Grid
    from grapple_fmu._finite_elements import _turn

    grids = {node: Grid(x, local_axes(CYLINDER, x)) for node, x in nodes.items()}
    table = np.array([(node, c) for node in nodes for c in range(1, 7)])
    T = _turn(table, grids).toarray()
    for i, (node, grid) in enumerate(grids.items()):
        u = np.arange(1.0, 7.0)
        rows = T[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] @ u
        assert rows == pytest.approx(np.concatenate([grid.axes.T @ u[:3], grid.axes.T @ u[3:]]))
    with pytest.raises(grapple.GrappleError, match="2 of three components of node 10"):
        _turn(table[1:], grids)


def test_command_line_of_modal_results(tmp_path):
    modes = clamped_modes()
    write(tmp_path, in_millimetres(modes))
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'tests/python')!r}); import native; from grapple_fmu.__main__ import main; sys.exit(main())"
    words = ["import-modes", "frame.op2", "--clamped", "10", "--attach", f"tip={max(modes.nodes)}", "--units", "mm-t-s"]
    words += ["--body", "boom"]
    run = subprocess.run([sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert f"mass {matrix_path().mass:.6g} kg" in run.stdout and "residual vectors" in run.stderr
    spec = (
        'include = ["boom.toml"]\nname = "s"\n[body.hub]\nmass = 20.0\ninertia = [3.0, 4.0, 5.0]\n'
        '[joint.root]\ntype = "fixed"\nparent = "hub"\nchild = "boom"\n'
    )
    (tmp_path / "s.toml").write_text(spec)
    assert [p for p in grapple.load(tmp_path / "s.toml").check() if p.kind == "error"] == []
    for more, message in (
        (["--length", "1"], "--units gives both units"),
        (["--subcase", "7"], "subcase 7 has no modes"),
    ):
        run = subprocess.run(
            [sys.executable, "-c", code, *words, *more, "--force"], cwd=tmp_path, capture_output=True, text=True
        )
        assert run.returncode == 1 and message in run.stderr and "Traceback" not in run.stderr


def test_positions_in_the_bulk_data_serve_printed_output(tmp_path, within):
    modes = clamped_modes(cylinder=CYLINDER)
    path, bulk = write(tmp_path, modes, "frame.f06"), tmp_path / "frame.bdf"
    numbers = [",".join(repr(float(x)) for x in CYLINDER.ravel()[at]) for at in (slice(0, 6), slice(6, 9))]
    lines = [f"GRID,{node},0,{x[0]!r},{x[1]!r},{x[2]!r},5" for node, x in ((n, x.tolist()) for n, x in modes.nodes.items())]
    bulk.write_text(f"BEGIN BULK\nCORD2C,5,0,{numbers[0]}\n,{numbers[1]}\n" + "\n".join(lines) + "\nENDDATA\n")
    body = grapple.import_modes(path, nodes=bulk, clamped=10, attach={"tip": max(modes.nodes)})
    within("data of .f06 files", difference(body, matrix_path()), 2e-6, "seven digits")


def test_model_in_millimetres_without_units_gives_a_warning(tmp_path):
    modes = in_millimetres(clamped_modes())
    path = write(tmp_path, modes)
    assert any("2600 m long" in warning for warning in grapple.import_modes(path, clamped=10).warnings)
    units = {"length": 1e-3, "mass_unit": 1e3}
    assert not any("m long" in warning for warning in grapple.import_modes(path, clamped=10, **units).warnings)


def test_other_supports_and_missing_rotations_give_warnings(tmp_path):
    modes = clamped_modes()
    last, path = max(modes.nodes), tmp_path / "frame.op2"
    shapes = modes.shapes.copy()
    shapes[:, :, 3:] = 0.0
    forces = np.concatenate([modes.forces[:, None], 0.1 * modes.forces[:, None]], axis=1)
    file = nastran_files.op2(modes, leave=("OUGV1", "OQG1"))[:-12]
    more = nastran_files.Op2(header=False)
    for name, table, nodes, values in (("OQG1", 3, [10, 20], forces), ("OUGV1", 7, list(modes.nodes), shapes)):
        records = []
        for k, w in enumerate(modes.eigenvalues):
            records += [nastran_files.ident(more, 2, table, 1, k + 1, w), nastran_files.points(more, nodes, values[k])]
        more.table(name, records)
    path.write_bytes(file + more.end())
    # The forces at the second node are no part of the frame: it is heavy enough for them.
    warnings = grapple.import_modes(path, clamped=10, attach={"tip": last}, wtmass=10.0).warnings
    assert any("also held at grid point 20: these supports move with node 10" in warning for warning in warnings)
    assert any(f'attach "tip": the node {last} has no rotations' in warning for warning in warnings)
