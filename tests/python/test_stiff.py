"""A stiff spacecraft: the implicit methods compared with SciPy's Radau, an independent implementation of the same method.

A light hand on a strongly damped hinge: its rate decays with the time constant 1/λ = 20 µs, while
the sine torque on the shoulder takes seconds.
"""

import ctypes

import fmpy
import numpy as np
import pytest
from fmpy.sundials import NV_DATA_S, CVodeSolver, N_Vector, SUNMatrix
from fmpy.sundials.libraries import sundials_cvode, sundials_sunmatrixdense

from fmu import Archive, CoSimulation, ModelExchange, grapple

CRAFT = {
    "name": "stiff",
    "body": {
        "base": {"mass": 50.0, "inertia": [4.0, 5.0, 6.0]},
        "arm": {"mass": 5.0, "mass_centre": [0.5, 0.0, 0.1], "inertia": [0.1, 0.4, 0.5]},
        "hand": {"mass": 0.1, "mass_centre": [0.1, 0.02, 0.0], "inertia": [1e-4, 2e-4, 3e-4]},
    },
    "joint": {
        "shoulder": {"type": "revolute", "parent": "base", "child": "arm", "origin": [0.5, 0.0, 0.0], "axis": [0.0, 1.0, 1.0]},
        "wrist": {
            "type": "revolute",
            "parent": "arm",
            "child": "hand",
            "origin": [1.0, 0.0, 0.0],
            "axis": [1.0, 0.0, 1.0],
            "damping": 50.0,
            "spring": {"stiffness": 40.0},
            "start": {"position_deg": 30.0, "rate": -0.42},
        },
    },
    "signal": {"shoulder.tau": {"type": "sine", "amplitude": 0.5, "frequency": 0.3, "from_importer": False}},
}
TIMES = np.arange(1, 41) * 0.1
NAMES = ["shoulder.q", "wrist.q", "hand.r[1]", "hand.r[2]", "hand.r[3]"]


@pytest.fixture(scope="module")
def stiff(tmp_path_factory):
    def build(**solver):
        directory = tmp_path_factory.mktemp(solver["method"])
        return Archive.build({**CRAFT, "solver": solver}, directory)

    return build


@pytest.fixture(scope="module")
def reference(stiff):
    with ModelExchange(stiff(method="dopri5")) as me:
        return me.integrate(TIMES, NAMES, rtol=1e-10, method="Radau")


@pytest.mark.parametrize("method", ["radau5", "auto"])
def test_co_simulation_of_a_stiff_spacecraft_agrees_with_scipys_radau(method, stiff, reference, within):
    with CoSimulation(stiff(method=method), tolerance=1e-9) as cs:
        rows = cs.run(TIMES, NAMES)
        messages = [message for _, _, message in cs.messages if "integration continues" in message]
    assert len(messages) == (1 if method == "auto" else 0), messages
    off = np.abs(rows - reference).max()
    within(f"stiff craft, {method} at 1e-9 against SciPy's Radau at 1e-10", off, 1e-8, "ten tolerances, rad and m")


def test_implicit_midpoint_rule_converges_with_order_two_on_a_stiff_spacecraft(stiff, reference, within):
    def error(step):
        with CoSimulation(stiff(method="implicit_midpoint", step=step)) as cs:
            return np.abs(cs.run(TIMES, NAMES) - reference).max()

    # The midpoint rule does not damp the stiff mode but lets it oscillate: steps may be much longer
    # than 20 µs if the stiff mode is hardly excited at the start.
    coarse, fine = error(0.002), error(0.001)
    within("stiff craft, implicit midpoint in steps of 1 ms", fine, 1e-6, "h² = 1e-6")
    assert coarse > 3.0 * fine, (coarse, fine)


class Host(CVodeSolver):
    """FMPy's CVODE on an instance, with the Jacobian by differences or from the FMU; counts the
    evaluations of derivatives and of Jacobians."""

    def __init__(self, me, exact, tolerance):
        self.evaluations = self.jacobians = 0
        self.me = me
        fmu = me.fmu
        super().__init__(
            nx=me.n,
            nz=me.n_indicators,
            get_x=fmu.getContinuousStates,
            set_x=fmu.setContinuousStates,
            get_dx=fmu.getDerivatives,
            get_z=fmu.getEventIndicators,
            get_nominals=fmu.getNominalsOfContinuousStates,
            set_time=fmu.setTime,
            input=None,
            startTime=0.0,
            relativeTolerance=tolerance,
            maxNumSteps=100000,
        )
        if exact:
            # A function of SUNDIALS that FMPy does not declare.
            data = sundials_sunmatrixdense.SUNDenseMatrix_Data
            data.argtypes, data.restype = [SUNMatrix], ctypes.POINTER(ctypes.c_double)
            self.data = data
            vector = N_Vector
            prototype = ctypes.CFUNCTYPE(
                ctypes.c_int, ctypes.c_double, vector, vector, SUNMatrix, ctypes.c_void_p, vector, vector, vector
            )
            self.jacobian_ = prototype(self.jacobian)
            sundials_cvode.CVodeSetJacFn.argtypes = [ctypes.c_void_p, prototype]
            assert sundials_cvode.CVodeSetJacFn(self.cvode_mem, self.jacobian_) == 0

    def f(self, *arguments):
        self.evaluations += 1
        return super().f(*arguments)

    def g(self, t, y, gout, user_data):
        return 0

    def jacobian(self, t, y, fy, matrix, *_):
        self.jacobians += 1
        self.set_time(t)
        self.set_x(NV_DATA_S(y), self.nx)
        columns = np.ctypeslib.as_array(self.data(matrix), (self.nx, self.nx))
        for column, state in zip(columns, self.me.archive.states):
            column[:] = self.me.along(self.me.archive.derivatives, {state: 1.0})
        return 0


def test_cvode_with_the_fmus_jacobian_follows_the_same_path_with_fewer_evaluations(stiff, reference, within):
    runs = {}
    for exact in (False, True):
        with ModelExchange(stiff(method="dopri5")) as me:
            host, rows, t = Host(me, exact, 1e-8), [], 0.0
            for end in TIMES:
                host.step(t, end)
                rows.append(me.read(NAMES))
                t = end
            runs[exact] = host
            how = "the FMU's Jacobian" if exact else "a Jacobian by differences"
            within(
                f"stiff craft, CVODE at 1e-8 with {how} against SciPy's Radau at 1e-10",
                np.abs(np.array(rows) - reference).max(),
                1e-5,
                "BDF keeps about a thousand times its tolerance, rad and m",
            )
    exact, differences = runs[True], runs[False]
    print(f"{exact.evaluations} evaluations and {exact.jacobians} Jacobians, {differences.evaluations} with differences")
    assert exact.jacobians > 0 and exact.evaluations <= differences.evaluations - exact.nx


def test_the_assembly_template_runs_in_model_exchange_by_fmpys_bdf_method(tmp_path, within):
    spec = tmp_path / "ring.toml"
    grapple("new", spec, "--template", "assembly")
    archive = Archive.build(spec, tmp_path / "ring")
    ends = {}
    for interface in ("ModelExchange", "CoSimulation"):
        # FMPy's defaults: CVODE's BDF method of orders 1 to 5, at most 500 steps to an output, the
        # tolerance of the FMU.
        result = fmpy.simulate_fmu(str(archive.path), fmi_type=interface, output_interval=0.5, output=["ends.distance"])
        assert result["time"][-1] == 300.0
        # Model Exchange has an additional row for the event at the end.
        ends[interface] = np.interp(np.arange(0.0, 300.5, 0.5), result["time"], result["ends.distance"])
    off = np.abs(ends["ModelExchange"] - ends["CoSimulation"]).max()
    within("template assembly, CVODE's BDF in Model Exchange against Co-Simulation", off, 1e-3, "BDF keeps about a thousand times its tolerance, m")
