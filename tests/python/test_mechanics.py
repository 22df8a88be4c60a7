"""Models in Python: the mechanics of rigid trees compared with Pinocchio, of flexible ones with differences; arrays,
batches, and bad arguments.
"""

import threading

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native import grapple_fmu as grapple
from programs import EXAMPLES
from trees import Judge, joints, random_state, random_tree

ROUND_OFF = "round-off of two O(n) recursions"
# Linear before angular in Pinocchio.
ANGULAR_FIRST = [3, 4, 5, 0, 1, 2]
FLEXIBLE = ["klak_2020", "ssrms_flexible", "berthing"]


@pytest.fixture(scope="module")
def models():
    return {name: grapple.load(EXAMPLES / f"{name}.toml").model() for name in FLEXIBLE}


def relative(ours, reference):
    return np.linalg.norm(ours - reference) / np.linalg.norm(reference)


def general(model, rng):
    """Returns a general state near the start, with normalised quaternions, and general inputs."""
    x = model.x0 + 0.1 * rng.normal(size=len(model.x0))
    for i, name in enumerate(model.state_names):
        if name.endswith(".q[1]") and name[:-3] + "[4]" in model.state_names:
            x[i : i + 4] /= np.linalg.norm(x[i : i + 4])
        if ".eta" in name:
            x[i] *= 0.1
    return x, model.u0 + 0.1 * rng.normal(size=len(model.u0))


class Pinocchio:
    """Quantities of the spec's rates by Pinocchio's model of a tree at a state."""

    def __init__(self, spec, model, state):
        self.judge = judge = Judge(spec)
        self.q, self.v = judge._convert(state)
        # P takes the rates to Pinocchio's; R_dot is the change of its axes of velocities.
        self.P = np.zeros((judge.model.nv, len(model.rate_names)))
        self.bias = np.zeros(judge.model.nv)
        index = {name: i for i, name in enumerate(model.rate_names)}
        for name, kind in joints(spec):
            if kind == "fixed":
                continue
            rows = np.arange(judge.model.nv)[judge._v(name)]
            if kind == "free":
                R = pin.Quaternion(*(state[f"{name}.q[{i}]"] for i in (1, 2, 3, 4))).toRotationMatrix()
                w, v = ([index[f"{name}.{part}[{i}]"] for i in (1, 2, 3)] for part in "wv")
                self.P[np.ix_(rows[:3], v)], self.P[np.ix_(rows[3:], w)] = R.T, np.eye(3)
                self.bias[rows[:3]] = -np.cross(self.v[rows[3:]], self.v[rows[:3]])
            else:
                single = f"{name}.qd" in index
                own = [index[f"{name}.qd"]] if single else [index[f"{name}.qd[{i + 1}]"] for i in range(len(rows))]
                self.P[rows, own] = 1.0

    def mass_matrix(self):
        M = pin.crba(self.judge.model, self.judge.data, self.q)
        M = np.triu(M) + np.triu(M, 1).T
        return self.P.T @ M @ self.P

    def gyroscopic_forces(self):
        model = self.judge.model.copy()
        model.gravity.linear[:] = 0.0
        return self.P.T @ pin.rnea(model, model.createData(), self.q, self.v, self.bias)

    def momentum_matrix(self):
        return pin.computeCentroidalMap(self.judge.model, self.judge.data, self.q)[ANGULAR_FIRST] @ self.P

    def jacobian(self, body):
        joint, X = self.judge.seat[body]
        model, data = self.judge.model, self.judge.data
        pin.computeJointJacobians(model, data, self.q)
        J = pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED)
        r = data.oMi[joint].rotation @ X.translation
        J = np.vstack([J[:3] - pin.skew(r) @ J[3:], J[3:]])
        return J[ANGULAR_FIRST] @ self.P

    def pose(self, body):
        joint, X = self.judge.seat[body]
        pin.forwardKinematics(self.judge.model, self.judge.data, self.q)
        return self.judge.data.oMi[joint] * X


@pytest.mark.parametrize("seed", range(12))
def test_mechanics_of_random_trees_agrees_with_pinocchio(seed, within):
    rng = np.random.default_rng(7000 + seed)
    spec = random_tree(rng, n_joints=3 + 3 * seed, decades=1, rotors=seed % 3 == 1, world=seed % 4 == 3)
    model = grapple.load(spec).model()
    for _ in range(3):
        state = random_state(rng, spec)
        x, theirs = model.pack_states(state), Pinocchio(spec, model, state)
        v = np.array([x[model.state_index(name)] for name in model.rate_names])
        off = relative(model.mass_matrix(x), theirs.mass_matrix())
        within("mass matrix against Pinocchio", off, 1e-12, ROUND_OFF)
        off = relative(model.gyroscopic_forces(x), theirs.gyroscopic_forces())
        within("gyroscopic forces against Pinocchio", off, 1e-12, ROUND_OFF)
        A = theirs.momentum_matrix()
        within("centroidal momentum matrix against Pinocchio", relative(model.momentum_matrix(x), A), 1e-12, ROUND_OFF)
        within("momentum against Pinocchio", relative(model.momentum(x), A @ v), 1e-12, ROUND_OFF)
        for body in spec["body"]:
            J, X = theirs.jacobian(body), theirs.pose(body)
            within("Jacobians of bodies against Pinocchio", relative(model.frame_jacobian(x, body), J), 1e-12, ROUND_OFF)
            p, R = model.frame_pose(x, body)
            off = np.linalg.norm(p - X.translation) + np.linalg.norm(R - X.rotation)
            within("poses of bodies against Pinocchio", off, 1e-12, ROUND_OFF)
            if seed % 4 != 3:
                base = model.free_base(body)
                b, m = np.arange(base, base + 6), np.delete(np.arange(len(v)), np.arange(base, base + 6))
                J = J[:, m] - J[:, b] @ np.linalg.solve(A[:, b], A[:, m])
                off = relative(model.generalized_jacobian(x, body), J)
                within("generalised Jacobians against Pinocchio", off, 1e-12, ROUND_OFF)


def test_generalised_jacobian_moves_the_hand_of_a_spacecraft_without_momentum(within):
    """The base gets the rates that cancel the momentum; no rate of the null space moves it."""
    rng = np.random.default_rng(5)
    spec = random_tree(rng, n_joints=12, decades=1)
    model, state = grapple.load(spec).model(), random_state(rng, spec)
    x, hand = model.pack_states(state), "b12"
    base, nv = model.free_base(hand), len(model.rate_names)
    others = np.delete(np.arange(nv), np.arange(base, base + 6))
    A, v = model.momentum_matrix(x), np.zeros(nv)
    v[others] = rng.normal(size=nv - 6)
    v[base : base + 6] = -np.linalg.solve(A[:, base : base + 6], A[:, others] @ v[others])
    x = model.pack_states(dict(zip(model.rate_names, v)), x)
    assert np.abs(model.momentum(x)).max() < 1e-12 * np.abs(A).max()
    off = relative(model.generalized_jacobian(x, hand) @ v[others], model.frame_velocity(x, hand))
    within("velocity by the generalised Jacobian", off, 1e-11, "round-off times the condition of the base's inertia")
    N = model.reaction_null_space(x, hand)
    assert N.shape == (nv - 6, nv - 12) and np.allclose(N.T @ N, np.eye(nv - 12))
    within("momentum of the reaction null space", np.abs(A[:, others] @ N).max() / np.abs(A).max(), 1e-13, "an SVD's round-off")
    turning = model.reaction_null_space(x, hand, motion="rotation")
    assert turning.shape == (nv - 6, nv - 9)
    within("angular momentum of that of rotation", np.abs(A[:3, others] @ turning).max() / np.abs(A).max(), 1e-13, "as above")


@pytest.mark.parametrize("name", FLEXIBLE)
def test_jacobians_of_flexible_models_agree_with_differences(name, models, within):
    model = models[name]
    x, u = general(model, np.random.default_rng(3))
    claim, reason = "against central differences of flexible models", "round-off of a difference with steps of 1e-6"

    def difference(f, at, h=1e-6):
        steps = h * np.eye(len(at))
        return (f(at + steps) - f(at - steps)).T / (2 * h)

    A, B, C, D = model.jacobian(0.0, x, u)
    smooth = [i for i in range(len(model.output_names)) if np.any(C[i]) or np.any(D[i])]
    scale = np.linalg.norm(A, axis=1, keepdims=True) + 1.0
    within(f"A {claim}", np.abs((difference(lambda x: model.derivatives(0.0, x, u), x) - A) / scale).max(), 1e-7, reason)
    if len(u):
        batch = np.broadcast_to(x, (len(u), len(x)))
        off = difference(lambda u: model.derivatives(0.0, batch, u), u) - B
        within(f"B {claim}", np.abs(off / (np.linalg.norm(B, axis=1, keepdims=True) + 1.0)).max(), 1e-7, reason)
    off = (difference(lambda x: model.outputs(0.0, x, u), x) - C)[smooth]
    within(f"C {claim}", np.abs(off / (np.linalg.norm(C[smooth], axis=1, keepdims=True) + 1.0)).max(), 1e-7, reason)
    # Along the motion a frame moves with its Jacobian times the rates.
    v = np.array([x[model.state_index(rate)] for rate in model.rate_names])
    x_dot = model.derivatives(0.0, x, u)
    for frame in model.frame_names:
        (p_0, R_0), (p_1, R_1) = (model.frame_pose(x + h * x_dot, frame) for h in (-1e-6, 1e-6))
        w_cross = (R_1 - R_0) / 2e-6 @ model.frame_pose(x, frame)[1].T
        numeric = np.array([w_cross[2, 1], w_cross[0, 2], w_cross[1, 0], *(p_1 - p_0) / 2e-6])
        exact = model.frame_jacobian(x, frame) @ v
        assert np.allclose(exact, model.frame_velocity(x, frame), rtol=0, atol=1e-12 * (1 + np.abs(exact).max()))
        within(f"frames' Jacobians {claim}", np.abs(numeric - exact).max() / (1 + np.abs(exact).max()), 1e-7, reason)


@pytest.mark.parametrize("name", FLEXIBLE)
def test_mechanics_of_flexible_models_is_consistent(name, models, within):
    model = models[name]
    x, u = general(model, np.random.default_rng(4))
    v = np.array([x[model.state_index(rate)] for rate in model.rate_names])
    v_dot = np.array([model.derivatives(0.0, x, u)[model.state_index(rate)] for rate in model.rate_names])
    M = model.mass_matrix(x)
    assert np.array_equal(M, M.T)
    kinetic, potential = model.energy(0.0, x, u)
    within("kinetic energy of the mass matrix", abs(v @ M @ v / 2 / kinetic - 1), 1e-13, "round-off")
    within("momentum of the momentum matrix", relative(model.momentum_matrix(x) @ v, model.momentum(x)), 1e-12, "round-off")
    forces = np.abs(M @ v_dot).max()
    needed = model.inverse_dynamics(0.0, x, u, v_dot)
    within("forces that the derivatives need", np.abs(needed).max() / forces, 1e-9, "round-off times the condition of M")
    assert np.allclose(M @ v_dot + model.inverse_dynamics(0.0, x, u), needed, rtol=0, atol=1e-12 * forces)
    outputs = dict(zip(model.output_names, model.outputs(0.0, x, u)))
    if "system.energy" in outputs:
        assert abs(outputs["system.energy"] - kinetic - potential) <= 1e-13 * (abs(kinetic) + abs(potential))
        assert np.allclose([outputs[f"system.mass_centre[{i}]"] for i in (1, 2, 3)], model.mass_centre(x), rtol=1e-13)


def test_batches_equal_single_points_and_fill_the_given_array(models):
    model, rng = models["berthing"], np.random.default_rng(6)
    points = [general(model, rng) for _ in range(6)]
    x, u = (np.array(part) for part in zip(*points))
    times = np.arange(6.0)
    for f in (model.derivatives, model.outputs, model.event_indicators, model.energy, model.inverse_dynamics):
        batch = f(times, x, u)
        assert np.array_equal(batch, [f(t, x, u) for t, x, u in zip(times, x, u)])
        out = np.full_like(batch, np.nan)
        assert f(times, x, u, out=out) is out and np.array_equal(out, batch)
        assert np.array_equal(f(times, x.reshape(2, 3, -1), u.reshape(2, 3, -1)), batch.reshape(2, 3, *batch.shape[1:]))
        assert np.array_equal(f(0.0, x), [f(0.0, x, model.u0) for x in x])
    for f in (model.mass_matrix, model.momentum_matrix, model.momentum, model.mass_centre, model.gyroscopic_forces):
        assert np.array_equal(f(x), [f(x) for x in x])
    for whole, parts in zip(model.jacobian(times, x, u), zip(*(model.jacobian(*point) for point in zip(times, x, u)))):
        assert np.array_equal(whole, parts)
    # Other layouts and types are converted.
    assert np.array_equal(model.derivatives(0.0, np.asfortranarray(x)), model.derivatives(0.0, x))
    assert np.array_equal(model.derivatives(0.0, list(x[0])), model.derivatives(0.0, x[0]))
    assert model.derivatives(0.0, np.zeros((0, len(model.x0)))).shape == (0, len(model.x0))


@pytest.mark.parametrize("name", FLEXIBLE)
def test_adjoint_derivatives_are_products_with_the_jacobians(name, models, within):
    model, rng = models[name], np.random.default_rng(8)
    points = [general(model, rng) for _ in range(4)]
    x, u = (np.array(part) for part in zip(*points))
    times = np.arange(4.0)
    dx, y = rng.normal(size=x.shape), rng.normal(size=(4, len(model.output_names)))
    A, B, C, D = model.jacobian(times, x, u)
    x_bar, u_bar = model.adjoint_derivatives(times, x, u, dx=dx, y=y)
    for bar, first, second in ((x_bar, A, C), (u_bar, B, D)):
        if not bar.size:
            continue
        terms = np.einsum("ki,kij->kj", dx, first), np.einsum("ki,kij->kj", y, second)
        scale = np.abs(dx[..., None] * first).sum(axis=1).max() + np.abs(y[..., None] * second).sum(axis=1).max()
        within("adjoints of batches against Jacobians", np.abs(bar - sum(terms)).max() / scale, 1e-12, "round-off")
    # One row of seeds serves a whole batch; seeds that are left out are zero.
    alone = [model.adjoint_derivatives(t, x, u, dx=dx[0]) for t, x, u in zip(times, x, u)]
    for together, parts in zip(model.adjoint_derivatives(times, x, u, dx=dx[0]), zip(*alone)):
        assert np.array_equal(together, parts)
    assert not np.any(model.adjoint_derivatives(times, x, u)[0])
    with pytest.raises(ValueError, match="dx has the shape"):
        model.adjoint_derivatives(0.0, x[0], u[0], dx=np.zeros(3))
    with pytest.raises(ValueError, match="y is a batch"):
        model.adjoint_derivatives(0.0, x[0], u[0], y=y)
    with pytest.raises(ValueError, match="not finite"):
        model.adjoint_derivatives(0.0, x[0], u[0], dx=np.full(len(x[0]), np.nan))


def test_parameters_of_a_model_are_set():
    spec = grapple.new("two_link")
    model = spec.model({"forearm.mass": 3.0})
    spec["body"]["forearm"]["mass"] = 3.0
    assert model.parameters["forearm.mass"] == 3.0
    assert np.array_equal(model.mass_matrix(model.x0), spec.model().mass_matrix(model.x0))
    with pytest.raises(grapple.GrappleError, match='did you mean "forearm.mass"'):
        spec.model({"forearm.mas": 3.0})
    with pytest.raises(grapple.GrappleError, match='"forearm", mass: the mass -3 kg is not positive'):
        spec.model({"forearm.mass": -3.0})


def test_wrong_arguments_are_named(models):
    model = models["klak_2020"]
    x = model.x0
    cases = [
        (lambda: model.derivatives(0.0, x[:-1]), ValueError, r"x has the shape \(\d+,\).* one for each state"),
        (lambda: model.derivatives(0.0, np.where(np.arange(len(x)) == 0, np.nan, x)), ValueError, "x: .* = NaN is not finite"),
        (lambda: model.derivatives(np.inf, x), ValueError, "t = inf is not finite"),
        (lambda: model.derivatives(0.0, "x"), TypeError, "x is no array of numbers"),
        (lambda: model.derivatives(0.0, 1j * x), TypeError, "x is no array of numbers: its type is complex128"),
        (lambda: model.derivatives(0.0, x, out=np.zeros(3)), ValueError, "out must be a contiguous and aligned array of the shape"),
        (lambda: model.derivatives(0.0, x, out=np.zeros(len(x), dtype=np.float32)), TypeError, "float64"),
        (lambda: model.derivatives(0.0, x, out=x), ValueError, "shares its memory"),
        (lambda: model.derivatives(0.0, np.stack([x, x]), np.stack([model.u0] * 3)), ValueError, "u is a batch"),
        (lambda: model.frame_jacobian(x, "foream"), grapple.GrappleError, 'did you mean "forearm"'),
        (lambda: model.state_index("elbow.qq"), grapple.GrappleError, "did you mean"),
        (lambda: model.pack_states({"elbow.q": "a"}), TypeError, "elbow.q"),
        (lambda: model.linearize(0.0, np.stack([x, x])), ValueError, "one vector"),
        (lambda: grapple.Model(3), TypeError, "expected a Spec"),
    ]
    for call, kind, message in cases:
        with pytest.raises(kind, match=message):
            call()
    read_only = np.zeros(len(x))
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        model.derivatives(0.0, x, out=read_only)
    skewed = np.frombuffer(bytearray(8 * len(x) + 1), offset=1)
    assert not skewed.flags.aligned
    skewed[:] = x
    assert np.array_equal(model.derivatives(0.0, skewed), model.derivatives(0.0, x))
    with pytest.raises(ValueError, match="aligned"):
        model.derivatives(0.0, x, out=skewed)


def test_frame_on_the_ground_has_no_generalised_jacobian():
    spec = random_tree(np.random.default_rng(8), n_joints=3, decades=1, world=True)
    model = grapple.load(spec).model()
    with pytest.raises(grapple.GrappleError, match="b1 is not on a spacecraft that floats freely"):
        model.generalized_jacobian(model.x0, "b1")


def test_ancf_beams_have_derivatives_but_no_mass_matrix():
    model = grapple.load(EXAMPLES / "beam_in_grasp.toml").model()
    assert model.derivatives(0.0, model.x0).shape == model.x0.shape
    with pytest.raises(grapple.GrappleError, match="ANCF"):
        model.mass_matrix(model.x0)


def test_threads_share_a_model(models):
    model, rng = models["ssrms_flexible"], np.random.default_rng(9)
    x = np.array([general(model, rng)[0] for _ in range(200)])
    expected, results = model.derivatives(0.0, x), {}
    threads = [threading.Thread(target=lambda i=i: results.update({i: model.derivatives(0.0, x)})) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all(np.array_equal(result, expected) for result in results.values())


NUMBERS = st.one_of(st.floats(), st.integers(-(2**70), 2**70), st.none(), st.booleans(), st.text(max_size=3), st.complex_numbers())
ARRAYS = st.one_of(
    NUMBERS,
    st.lists(NUMBERS, max_size=5),
    st.lists(st.lists(NUMBERS, max_size=3), max_size=3),
    st.builds(np.zeros, st.lists(st.integers(0, 30), max_size=3).map(tuple), st.sampled_from(["f8", "f4", "i8", "c16", "O", "U3", "M8[s]", "?"])),
    st.dictionaries(st.text(max_size=3), NUMBERS, max_size=2),
)
PERMITTED = (grapple.GrappleError, ValueError, TypeError, OverflowError, KeyError)
CALLS = ["derivatives", "outputs", "event_indicators", "jacobian", "energy", "inverse_dynamics", "linearize"]


@pytest.fixture(scope="module")
def fuzzed():
    spec = grapple.new("two_link")
    return spec.model(), spec.simulation(set={"solver.work_limit": 1000.0})


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_arguments_give_results_or_exceptions_with_text(data, fuzzed):
    model, simulation = fuzzed
    state = data.draw(st.one_of(ARRAYS, st.just(model.x0), st.just(np.stack([model.x0] * 2))))
    if data.draw(st.booleans()):
        name = data.draw(st.sampled_from(CALLS))
        call = getattr(model, name)
        more = {} if name in ("jacobian", "linearize") else {"out": data.draw(st.one_of(st.none(), ARRAYS, st.just(model.x0)))}
        arguments = [data.draw(st.one_of(st.just(0.0), ARRAYS)), state, data.draw(st.one_of(st.none(), st.just(model.u0), ARRAYS))]
    else:
        call, arguments, more = data.draw(
            st.sampled_from(
                [
                    (model.mass_matrix, [state], {}),
                    (model.momentum_matrix, [state], {}),
                    (model.frame_jacobian, [state, data.draw(st.text(max_size=4))], {}),
                    (model.generalized_jacobian, [state, "forearm"], {}),
                    (simulation.step, [data.draw(NUMBERS), data.draw(ARRAYS)], {}),
                    (simulation.set, [data.draw(ARRAYS)], {}),
                    (simulation.set_state, [state], {}),
                    (simulation.set_state, [data.draw(st.dictionaries(st.sampled_from(["elbow.q", "base.q[1]", "q"]), NUMBERS))], {}),
                    (simulation.restore, [data.draw(ARRAYS)], {}),
                    (simulation.read_saved, [data.draw(st.binary(max_size=64))], {}),
                    (simulation.__getitem__, [data.draw(st.text(max_size=4))], {}),
                    (grapple.load, [data.draw(st.dictionaries(st.text(max_size=3), ARRAYS, max_size=2))], {}),
                ]
            )
        )
    try:
        result = call(*arguments, **more)
        if isinstance(result, grapple.Spec):
            result.check()
    except PERMITTED as error:
        assert str(error)
