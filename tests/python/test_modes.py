"""Modal data of finite-element matrices: the spacecraft that carries the body has the vibrations of the whole structure."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.io
import scipy.linalg
import scipy.sparse
from native import ROOT
from native import grapple_fmu as grapple

from grapple_fmu._flexible_body import fitted

E, G, RHO = 70e9, 27e9, 2700.0
AREA, IY, IZ, J = 4e-4, 3e-8, 8e-8, 5e-8


def element(a, b):
    """Returns stiffness and consistent mass of a beam between two points; rows are the freedoms of both (12 × 12)."""
    x = b - a
    L = np.linalg.norm(x)
    x = x / L
    z = np.cross(x, [0.3, -0.2, 0.9])
    z /= np.linalg.norm(z)
    R = np.kron(np.eye(4), np.stack([x, np.cross(z, x), z]))
    K, M = np.zeros((12, 12)), np.zeros((12, 12))
    m = RHO * AREA * L
    rod, consistent = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([[2.0, 1.0], [1.0, 2.0]]) / 6.0
    K[np.ix_([0, 6], [0, 6])], M[np.ix_([0, 6], [0, 6])] = E * AREA / L * rod, m * consistent
    polar = RHO * (IY + IZ) * L
    K[np.ix_([3, 9], [3, 9])], M[np.ix_([3, 9], [3, 9])] = G * J / L * rod, polar * consistent
    for rows, inertia, sign in (([1, 5, 7, 11], IZ, 1.0), ([2, 4, 8, 10], IY, -1.0)):
        s = np.array([1.0, sign, 1.0, sign])
        k = np.array(
            [
                [12, 6 * L, -12, 6 * L],
                [6 * L, 4 * L**2, -6 * L, 2 * L**2],
                [-12, -6 * L, 12, -6 * L],
                [6 * L, 2 * L**2, -6 * L, 4 * L**2],
            ]
        )
        c = np.array(
            [
                [156, 22 * L, 54, -13 * L],
                [22 * L, 4 * L**2, 13 * L, -3 * L**2],
                [54, 13 * L, 156, -22 * L],
                [-13 * L, -3 * L**2, -22 * L, 4 * L**2],
            ]
        )
        K[np.ix_(rows, rows)] = E * inertia / L**3 * k * np.outer(s, s)
        M[np.ix_(rows, rows)] = m / 420.0 * c * np.outer(s, s)
    return R.T @ K @ R, R.T @ M @ R


def frame(elements=6):
    """Returns matrices and positions of a frame of three beams that lie in no plane, free in space."""
    corners = np.array([[0.0, 0.0, 0.0], [0.1, 1.2, 0.0], [0.9, 1.4, 0.3], [1.0, 2.6, 0.8]])
    points = [corners[0]]
    for a, b in zip(corners, corners[1:]):
        points += [a + (b - a) * k / elements for k in range(1, elements + 1)]
    n = len(points)
    K, M = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n))
    for i in range(n - 1):
        k, m = element(points[i], points[i + 1])
        K[6 * i : 6 * i + 12, 6 * i : 6 * i + 12] += k
        M[6 * i : 6 * i + 12, 6 * i : 6 * i + 12] += m
    return K, M, {10 + i: point for i, point in enumerate(points)}


def spacecraft(body, tip):
    """Returns a spec: a hub in space, the body on it, and a payload at the node `tip`."""
    spec = grapple.load({"name": "spacecraft", "body": {"hub": {"mass": 20.0, "inertia": [3.0, 4.0, 5.0]}}, "joint": {}})
    spec["body"]["frame"] = body.table()
    spec["body"]["payload"] = {"mass": 0.7, "inertia": [0.01, 0.02, 0.015]}
    spec["joint"]["root"] = {"type": "fixed", "parent": "hub", "child": "frame"}
    spec["joint"]["tip"] = {"type": "fixed", "parent": "frame", "child": "payload", "origin": list(tip)}
    return spec


def vibrations(spec, count):
    """Returns the lowest natural frequencies of a spec at rest, rad/s."""
    values = np.linalg.eigvals(spec.linearize().A)
    return np.sort(values.imag[values.imag > 1.0])[:count]


def exact(K, M, n, count):
    """Returns the lowest natural frequencies of the frame with the hub and the payload as rigid bodies at its ends."""
    M = M.copy()
    M[:6, :6] += np.diag([20.0] * 3 + [3.0, 4.0, 5.0])
    M[6 * n - 6 :, 6 * n - 6 :] += np.diag([0.7] * 3 + [0.01, 0.02, 0.015])
    return np.sqrt(np.abs(scipy.linalg.eigh(K, M, eigvals_only=True)))[6 : 6 + count]


def test_spacecraft_has_the_vibrations_of_the_whole_structure(within):
    K, M, nodes = frame()
    last = max(nodes)
    reference = exact(K, M, len(nodes), 8)
    errors = {}
    for residual in (False, True):
        body = grapple.import_modes(K, M, nodes=nodes, clamped=10, attach={"tip": last}, modes=8, residual=residual)
        found = vibrations(spacecraft(body, nodes[last]), 8)
        errors[residual] = np.abs(found / reference - 1.0)
    # Static deflections make the modes exact to fourth order in the ratio to the first one left out.
    within(
        "frequencies of a spacecraft by 8 modes with static deflections", errors[True][:4].max(), 1e-6, "modes that are left out"
    )
    assert errors[False][:4].max() > 100 * errors[True][:4].max()
    # All modes: the same structure in other coordinates. Round-off grows with the highest frequency.
    body = grapple.import_modes(K, M, nodes=nodes, clamped=10, attach={"tip": last}, modes=500)
    assert len(body.frequencies) == len(K) - 6 and not body.residual.any()
    worst = np.abs(vibrations(spacecraft(body, nodes[last]), 8) / reference - 1.0).max()
    within("frequencies of a spacecraft by all modes", worst, 1e-8, "round-off of stiffness over that of the softest mode")


def test_mass_properties_and_effective_masses(within):
    K, M, nodes = frame()
    body = grapple.import_modes(K, M, nodes=nodes, clamped=10, modes=500)
    points = np.array(list(nodes.values()))
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    middles = (points[1:] + points[:-1]) / 2.0
    assert body.mass == pytest.approx(RHO * AREA * lengths.sum(), rel=1e-12)
    assert body.mass_centre == pytest.approx(lengths @ middles / lengths.sum(), abs=1e-12)
    # With all modes the effective mass is that of the body without the share of the clamped node.
    kept = np.arange(6, len(K))
    R = np.zeros((len(K), 3))
    R[np.arange(len(K)) % 6 < 3] = np.tile(np.eye(3), (len(nodes), 1))
    loaded = M[kept] @ R
    whole = np.diag(loaded.T @ np.linalg.solve(M[np.ix_(kept, kept)], loaded))
    error = np.abs(body.effective_mass.sum(axis=0)[:3] - whole).max() / body.mass
    within("effective masses of all modes", error, 1e-9, "round-off of the eigenproblem")


def test_static_deflection_is_exact(within):
    K, M, nodes = frame()
    last = max(nodes)
    body = grapple.import_modes(K, M, nodes=nodes, clamped=10, attach={"tip": last}, modes=2)
    shapes = np.hstack([body.nodes["tip"].displacement, body.nodes["tip"].rotation])
    compliance = shapes.T @ (shapes / (2 * np.pi * body.frequencies[:, None]) ** 2)
    reference = np.linalg.inv(K[6:, 6:])[-6:, -6:]
    error = np.abs(compliance - reference).max() / np.abs(reference).max()
    within(
        "static compliance of two modes with static deflections", error, 1e-9, "round-off times the condition of the stiffness"
    )


def reduced(K, M, modes):
    """Returns the Craig–Bampton matrices of the frame with its ends as interfaces, and the freedoms."""
    n = len(K)
    b = np.r_[0:6, n - 6 : n]
    i = np.arange(6, n - 6)
    constraint = -np.linalg.solve(K[np.ix_(i, i)], K[np.ix_(i, b)])
    _, normal = scipy.linalg.eigh(K[np.ix_(i, i)], M[np.ix_(i, i)], subset_by_index=[0, modes - 1])
    T = np.zeros((n, 12 + modes))
    T[np.ix_(b, np.arange(12))] = np.eye(12)
    T[i, :12], T[i, 12:] = constraint, normal
    freedoms = [(node, c) for node in (1, 2) for c in range(1, 7)] + [(100 + k, 0) for k in range(modes)]
    return T.T @ K @ T, T.T @ M @ T, freedoms


def test_craig_bampton_matrices_serve_as_well(within):
    K, M, nodes = frame()
    Kr, Mr, freedoms = reduced(K, M, 12)
    ends = {1: nodes[10], 2: nodes[max(nodes)]}
    body = grapple.import_modes(Kr, Mr, nodes=ends, freedoms=freedoms, clamped=1, attach={"tip": 2}, modes=18)
    assert len(body.frequencies) == 18
    error = np.abs(vibrations(spacecraft(body, ends[2]), 4) / exact(K, M, len(nodes), 4) - 1.0).max()
    within("frequencies of a spacecraft by Craig-Bampton matrices", error, 1e-4, "modes that are left out")


def test_sparse_matrices_have_the_modes_of_full_ones(within, monkeypatch):
    K, M, nodes = frame(20)
    full = grapple.import_modes(K, M, nodes=nodes, clamped=10, attach={"tip": max(nodes)}, modes=6)
    monkeypatch.setattr("grapple_fmu._modes.LARGEST_DENSE", 100)
    sparse = scipy.sparse.csr_array(K), scipy.sparse.csr_array(M)
    body = grapple.import_modes(*sparse, nodes=nodes, clamped=10, attach={"tip": max(nodes)}, modes=6)
    error = np.abs(body.frequencies / full.frequencies - 1.0).max()
    within("frequencies of sparse matrices", error, 1e-6, "round-off of stiffness over that of the softest mode")
    error = np.abs(body.effective_mass - full.effective_mass).max() / body.mass
    within("effective masses of sparse matrices", error, 1e-6, "round-off of stiffness over that of the softest mode")


def test_units_of_the_model(within):
    K, M, nodes = frame()
    si = grapple.import_modes(K, M, nodes=nodes, clamped=10, attach={"tip": max(nodes)})
    # In mm and tonnes: translations are a thousand times as large, energies 1e9 times (t·mm²/s²).
    D = np.diag(np.where(np.arange(len(K)) % 6 < 3, 1e-3, 1.0))
    in_mm = {node: 1000.0 * position for node, position in nodes.items()}
    mm = grapple.import_modes(
        D @ K @ D * 1e3, D @ M @ D * 1e3, nodes=in_mm, clamped=10, attach={"tip": max(nodes)}, length=1e-3, mass_unit=1e3
    )
    assert mm.mass == pytest.approx(si.mass, rel=1e-12)
    error = np.abs(mm.frequencies / si.frequencies - 1.0).max()
    within("frequencies in millimetres and tonnes", error, 1e-7, "round-off times the condition of the stiffness")


def test_written_file_and_command_line(tmp_path):
    K, M, nodes = frame()
    scipy.io.mmwrite(tmp_path / "K.mtx", scipy.sparse.coo_array(K), symmetry="symmetric", precision=17)
    scipy.io.mmwrite(tmp_path / "M.mtx", scipy.sparse.coo_array(M), symmetry="symmetric", precision=17)
    lines = [f"{node},{','.join(map(repr, map(float, position)))}" for node, position in nodes.items()]
    (tmp_path / "nodes.csv").write_text("node,x,y,z\n" + "\n".join(lines) + "\n")
    arguments = ["K.mtx", "M.mtx", "--nodes", "nodes.csv", "--clamped", "10", "--attach", f"tip={max(nodes)}", "--modes", "8"]
    arguments += ["--damping-ratio", "0.005", "--body", "boom", "--output", "boom.toml"]
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'tests/python')!r}); import native; from grapple_fmu.__main__ import main; sys.exit(main())"
    run = subprocess.run([sys.executable, "-c", code, "import-modes", *arguments], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "boom.toml" in run.stdout and "residual" in run.stdout
    (tmp_path / "craft.toml").write_text(
        'include = ["boom.toml"]\nname = "craft"\n[body.hub]\nmass = 20.0\ninertia = [3.0, 4.0, 5.0]\n'
        '[joint.root]\ntype = "fixed"\nparent = "hub"\nchild = "boom"\n'
    )
    spec = grapple.load(tmp_path / "craft.toml")
    body = grapple.import_modes(
        tmp_path / "K.mtx", tmp_path / "M.mtx", nodes=tmp_path / "nodes.csv", clamped=10, attach={"tip": max(nodes)}, modes=8
    )
    parameters = spec.simulate(stop_time=0.001).parameters
    assert [parameters[f"boom.frequency[{k + 1}]"] for k in range(8)] == body.frequencies[:8].tolist()
    assert parameters["boom.mass"] == body.mass
    run = subprocess.run([sys.executable, "-c", code, "import-modes", "K.mtx"], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 2 and "--clamped" in run.stderr
    for wrong, message in (
        (["--body", ""], "--body is empty"),
        (["--attach", "tip=11"], "--attach names 'tip' twice"),
    ):
        words = ["import-modes", *arguments, *wrong]
        run = subprocess.run([sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True)
        assert run.returncode == 1 and message in run.stderr and "Traceback" not in run.stderr
    arguments[arguments.index("10")] = "9"
    arguments += ["--force"]
    run = subprocess.run([sys.executable, "-c", code, "import-modes", *arguments], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 1 and "there is no node 9" in run.stderr and "Traceback" not in run.stderr


def grounded(K, M, nodes):
    K[0, 0] += 1e6
    return K, M, nodes


def without_symmetry(K, M, nodes):
    K[0, 8] += 1e6
    return K, M, nodes


def with_another_order(K, M, nodes):
    order = np.concatenate([np.r_[3:6, 0:3] + 6 * i for i in range(len(nodes))])
    return K[np.ix_(order, order)], M[np.ix_(order, order)], nodes


def with_a_loose_node(K, M, nodes):
    none = np.zeros((6, 6))
    return scipy.linalg.block_diag(K, none), scipy.linalg.block_diag(M, np.eye(6)), nodes | {99: np.ones(3)}


def without_mass(K, M, nodes):
    return K, 0.0 * M, nodes


def with_moved_nodes(K, M, nodes):
    return K, M, nodes | {12: nodes[12] + 0.05}


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (grounded, "resists a motion T1"),
        (without_symmetry, "the stiffness matrix is not symmetric"),
        (with_another_order, "resists a motion"),
        (with_moved_nodes, "resists a motion R"),
        (with_a_loose_node, "mechanism: no stiffness at 99 T1, 99 T2"),
        (without_mass, "the mass of the structure is 0 kg"),
    ],
)
def test_matrices_that_are_not_of_a_free_structure_are_refused(spoil, message):
    K, M, nodes = spoil(*frame())
    with pytest.raises(grapple.GrappleError, match=message):
        grapple.import_modes(K, M, nodes=nodes, clamped=10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"clamped": 9}, "there is no node 9"),
        ({"attach": {"tip": 77}}, 'attach "tip": there is no node 77'),
        ({"modes": 0}, "1 to 512 modes"),
        ({"damping_ratio": -0.1}, "must not be negative"),
        ({"highest_frequency": 0.001}, "no mode below 0.001 Hz"),
        ({"freedoms": [(10, 1)]}, "has 1 rows"),
        ({"length": 0.0}, "must be positive"),
        ({"highest_frequency": 0.0}, "highest_frequency = 0.0 Hz: it must be positive"),
        ({"highest_frequency": float("nan")}, "highest_frequency = nan Hz"),
        ({"freedoms": [(10, 1), (10, 1.9)]}, "`freedoms`, row 2: node 10, component 1.9"),
        ({"nodes": {10: [0.0, 0.0, float("nan")]}}, "the position of node 10 is .*three finite numbers"),
        ({"nodes": {10: [0.0, 0.0]}}, "the position of node 10 is .*three finite numbers"),
        ({"nodes": {10.5: [0.0, 0.0, 0.0]}}, "10.5 is no number of a node"),
    ],
)
def test_arguments_that_cannot_be_are_refused(arguments, message):
    K, M, nodes = frame()
    with pytest.raises(grapple.GrappleError, match=message):
        grapple.import_modes(K, M, **({"clamped": 10, "nodes": nodes} | arguments))


def test_complex_matrices_are_refused():
    K, M, nodes = frame()
    with pytest.raises(grapple.GrappleError, match="the stiffness matrix has values of type complex128"):
        grapple.import_modes((1.0 + 0.01j) * K, M, nodes=nodes, clamped=10)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("12,0.1,nan,0.0", "nodes.csv:4: y is nan; it must be finite"),
        ("nan,0.1,0.2,0.0", "nodes.csv:4: node is nan; it must be finite"),
        ("1.5,0.1,0.2,0.0", "nodes.csv:4: node is 1.5; it must be a whole number"),
        ("12,0.1,0.2", "nodes.csv:4: node, x, y, z must be numbers"),
    ],
)
def test_cells_that_cannot_be_are_refused_with_their_line(tmp_path, row, message):
    K, M, _ = frame()
    (tmp_path / "nodes.csv").write_text(f"node,x,y,z\n\n10,0.0,0.0,0.0\n{row}\n")
    with pytest.raises(grapple.GrappleError, match=message):
        grapple.import_modes(K, M, nodes=tmp_path / "nodes.csv", clamped=10)


def test_soft_supports_give_a_warning():
    """Springs at the tip, N/m, that raise the first frequency by 0.2 and by 11 %; the diagonal of a fine mesh hides them."""
    K, M, nodes = frame(20)
    assert grapple.import_modes(K, M, nodes=nodes, clamped=10).warnings == ()
    for spring in (1.0, 50.0):
        supported = K.copy()
        supported[range(-6, -3), range(-6, -3)] += spring
        (warning,) = grapple.import_modes(supported, M, nodes=nodes, clamped=10).warnings[-1:]
        assert "has supports, or the matrices have too few digits" in warning


def lumped(M):
    """Returns the masses at the nodes, without rotary inertia."""
    translations = np.arange(len(M)) % 6 < 3
    masses = np.zeros(len(M))
    for axis in range(3):
        rows = np.arange(axis, len(M), 6)
        masses[rows] = M[np.ix_(rows, rows)].sum(axis=1)
    # The translations across a beam have couplings with its rotations, but their own rows sum to the mass.
    return np.diag(np.where(translations, masses, 0.0))


def test_lumped_masses():
    """Complete modes have no deflection of the rotations, which have no mass, but all the inertia about the origin."""
    K, M, nodes = frame(12)
    last = max(nodes)
    all_modes = {"nodes": nodes, "clamped": 10, "attach": {"tip": last}, "modes": 500}
    (warning,) = grapple.import_modes(K, lumped(M), **all_modes).warnings
    assert f"{last} R1" in warning and f"{last} R2" in warning and f"{last} T1" not in warning
    # With few modes the deflections of the rotations carry translations, and so have mass.
    assert grapple.import_modes(K, lumped(M), **all_modes | {"modes": 8}).warnings == ()
    K, M, nodes = frame(20)
    body = grapple.import_modes(K, lumped(M), nodes=nodes, clamped=10, attach={"tip": max(nodes)}, modes=500)
    assert body.effective_fraction[3:] == pytest.approx(1.0, abs=1e-9)
    problems = grapple.load(spacecraft(body, nodes[max(nodes)])).check()
    assert [problem for problem in problems if problem.kind == "error"] == []


def test_more_modes_than_sparse_matrices_have_are_refused(monkeypatch):
    K, M, nodes = frame(12)
    monkeypatch.setattr("grapple_fmu._modes.LARGEST_DENSE", 50)
    with pytest.raises(grapple.GrappleError, match="the 150 lowest modes were not found; keep fewer modes"):
        grapple.import_modes(K, lumped(M), nodes=nodes, clamped=10, modes=150)


def test_static_deflections_with_nearly_no_mass_give_a_warning():
    K, M, nodes = frame()
    last = max(nodes)
    # A light bracket at the tip, whose deflection beside that of the tip is a residual mode.
    end = nodes[last] + np.array([0.1, 0.0, 0.0])
    k, _ = element(nodes[last], end)
    K, M = np.pad(K, (0, 6)), scipy.linalg.block_diag(M, 1e-6 * np.eye(6))
    K[-12:, -12:] += k
    given = {"nodes": nodes | {99: end}, "clamped": 10, "modes": 8}
    assert grapple.import_modes(K, M, attach={"tip": last}, **given).warnings == ()
    (warning,) = grapple.import_modes(K, M, attach={"tip": last, "bracket": 99}, **given).warnings
    assert "more than 1000 times as high as the natural ones" in warning


def test_effective_masses_above_those_of_the_body_by_round_off_are_reduced():
    rigid = np.diag([3.0, 3.0, 3.0, 2.0, 1.0, 0.5])
    exact = np.sqrt(rigid)
    for excess, changed in ((0.0, False), (1e-10, True), (1e-9, True), (1e-3, False)):
        participation = exact * (1.0 + excess)
        reduced = fitted(participation, rigid)
        assert (reduced is not participation and bool((reduced != participation).any())) == changed
        if changed:
            assert np.linalg.eigvalsh(rigid - reduced.T @ reduced)[0] > -1e-12
            assert np.abs(reduced / np.where(exact > 0.0, exact, np.inf)).max() > 1.0 - 1e-8


def test_node_with_some_rotations_gives_a_warning():
    K, M, nodes = frame()
    rows = np.arange(len(K) - 1)
    freedoms = [(node, component) for node in nodes for component in range(1, 7)][:-1]
    last = max(nodes)
    body = grapple.import_modes(
        K[np.ix_(rows, rows)], M[np.ix_(rows, rows)], nodes=nodes, freedoms=freedoms, clamped=10, attach={"tip": last}
    )
    assert any('attach "tip": the node has no R3' in warning for warning in body.warnings)


def test_nastran_punch_file(tmp_path, within):
    """Large fields have 16 columns, so that the numbers have ten digits."""
    K, M, nodes = frame()
    Kr, Mr, freedoms = reduced(K, M, 12)
    with (tmp_path / "frame.pch").open("w") as file:
        for node, position in ((1, nodes[10]), (2, nodes[max(nodes)])):
            file.write("GRID*   " + f"{node:16d}{'':16}" + "".join(f"{x:16.9E}" for x in position[:2]) + "\n")
            file.write("*       " + f"{position[2]:16.9E}\n")
        for name, matrix in (("KAAX", Kr), ("MAAX", Mr)):
            file.write(f"DMIG    {name:8}{0:8d}{6:8d}{2:8d}{0:8d}{'':8}{'':8}{len(matrix):8d}\n")
            for j in range(len(matrix)):
                file.write(f"DMIG*   {name:16}{'':0}{freedoms[j][0]:16d}{freedoms[j][1]:16d}\n")
                for i in range(j + 1):
                    if matrix[i, j] != 0.0:
                        number = f"{matrix[i, j]:16.9E}".replace("E", "D")
                        file.write(f"*       {freedoms[i][0]:16d}{freedoms[i][1]:16d}{number}\n")
    body = grapple.import_modes(tmp_path / "frame.pch", clamped=1, attach={"tip": 2}, modes=18)
    arrays = grapple.import_modes(
        Kr, Mr, nodes={1: nodes[10], 2: nodes[max(nodes)]}, freedoms=freedoms, clamped=1, attach={"tip": 2}, modes=18
    )
    error = np.abs(body.frequencies[:6] / arrays.frequencies[:6] - 1.0).max()
    within("frequencies of a punch file", error, 1e-6, "its ten digits")
