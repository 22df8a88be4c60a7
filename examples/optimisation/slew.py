"""A slew that leaves no vibration: CasADi and IPOPT plan the joint torques of a flexible arm on a
free-floating satellite, through its FMU.

    python examples/optimisation/slew.py          a table in out/optimisation

CasADi's DaeBuilder imports the Model Exchange FMU of arm.toml with its exact directional and adjoint
derivatives. IPOPT finds the torques of least mean square that turn the joints from rest to rest by
direct collocation (Radau, five points in an interval of constant torque) within their limits. FMPy
replays the torques in Co-Simulation, and the vibration after the slew is measured: that of plans
with Jacobians by directional and by adjoint derivatives, of a plan with CasADi's finite differences,
and of a plan for the same arm without elasticity.
docs/optimisation.md shows the table. Needs CasADi, FMPy and NumPy.
"""

import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import casadi as ca
import fmpy
import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from studies import Instance, build, command_line, names, options  # noqa: E402

DURATION = 8.0  # s
AFTER = 10.0  # s, in which the vibration after the slew is measured
STEP = 0.01  # s, between communication points of the replay
INTERVALS = 40  # of constant torques
DEGREE = 5  # collocation points in an interval
GOAL = {"shoulder.q": np.radians(-20.0), "elbow.q": np.radians(50.0)}
LIMITS = {"shoulder.tau": 40.0, "elbow.tau": 20.0}  # N·m
# The constraints' part of the matrix of IPOPT's steps is large and its Hessian zero in most places:
# MUMPS' default pivots are too small for it. The Hessian is convex: IPOPT tests that along its
# steps.
IPOPT = {
    "tol": 1e-6,
    "max_iter": 100,
    "neg_curv_test_tol": 1e-12,
    "mumps_pivtol": 0.1,
    "mumps_scaling": 7,
    "print_level": 0,
    "sb": "yes",
}
DIFFERENCES = {"uses_directional_derivatives": False}
DEFLECTIONS = ["upper_arm.tip_deflection[2]", "forearm.tip_deflection[2]"]
MOMENTA = names("system.momentum", 3) + names("system.angular_momentum", 3)
SEEN = [*GOAL, "satellite.q[4]", *DEFLECTIONS, *names("tip.v", 3), *MOMENTA]


class Model:
    """The FMU as functions of CasADi: `derivatives(x, u)`, and `jacobian(x, u)` with ∂ẋ/∂x and
    ∂ẋ/∂u, by directional derivatives, with `options` DIFFERENCES, or by adjoint derivatives. The
    sparsity pattern determines their number, `directions`."""

    def __init__(self, fmu, options=None, by_adjoints=False):
        # A new folder, since a library that is loaded must not be overwritten.
        self.folder = tempfile.mkdtemp(dir=fmu.parent)
        fmpy.extract(str(fmu), unzipdir=self.folder)
        dae = ca.DaeBuilder(fmu.stem, self.folder)
        self.x, self.u = dae.x(), dae.u()
        self.derivatives = dae.create("derivatives", ["x", "u"], ["ode"])
        # A function of its own: options of `create` are not those of its derivatives.
        self.jacobian = dae.create("jacobian", ["x", "u"], ["jac_ode_x", "jac_ode_u"], options or {})
        pattern = ca.horzcat(*(self.jacobian.sparsity_out(i) for i in (0, 1)))
        colours = (pattern.T if by_adjoints else pattern).uni_coloring()
        self.directions = colours.size2()
        if by_adjoints:
            self.jacobian = self._by_adjoints(pattern, colours)
        # The start of a state is a parameter of the FMU, which CasADi does not read.
        with Instance(fmu) as instance:
            self.x0 = instance.get(self.x)

    def _by_adjoints(self, pattern, colours):
        """Returns the function `jacobian` from adjoints of sums of ẋ: the rows of one colour have no
        common column."""
        adjoint = self.derivatives.factory("adjoint", ["x", "u", "adj:ode"], ["adj:x", "adj:u"])
        x, u = ca.MX.sym("x", len(self.x)), ca.MX.sym("u", len(self.u))
        seeds = ca.horzsplit(ca.densify(ca.DM(colours, 1.0)))
        sums = ca.horzcat(*(ca.vertcat(*adjoint(x, u, seed)) for seed in seeds))
        of_row = dict(zip(*colours.get_triplet()))
        rows, columns = pattern.get_triplet()
        entries = ca.vec(sums)[[column + pattern.size2() * of_row[row] for row, column in zip(rows, columns)]]
        whole = ca.MX(pattern, entries)
        return ca.Function("jacobian", [x, u], ca.horzsplit(whole, [0, len(self.x), pattern.size2()]))


@dataclass
class Plan:
    states: np.ndarray  # at the collocation points
    torques: np.ndarray  # in each interval, N·m
    stats: dict
    seconds: float  # processor time of IPOPT with its evaluations


def plan(model, intervals=INTERVALS):
    """Returns the slew of least mean square torque."""
    points, h, n = intervals * DEGREE, DURATION / intervals, len(model.x)
    slopes, _, _ = ca.collocation_coeff(ca.collocation_points(DEGREE, "radau"))
    limits = np.array([LIMITS[name] for name in model.u])
    x, u = ca.MX.sym("x", n, points), ca.MX.sym("u", len(model.u), intervals)
    unknowns, held = ca.veccat(x, u), ca.kron(ca.diag(limits) @ u, ca.DM.ones(1, DEGREE))
    # Residual: the polynomials' slopes less the states' derivatives, and rest at the goal. The last
    # Radau point is the end of its interval.
    starts = ca.horzsplit(ca.horzcat(ca.DM(model.x0), x[:, DEGREE - 1 : -1 : DEGREE]))
    parts = ca.horzsplit(x, DEGREE)
    rates = ca.MX.sym("rates", n, points)
    at_rest = {name: 0.0 for name in model.x if name.endswith(".qd") or ".eta" in name}
    end = [x[model.x.index(name), -1] - value for name, value in (GOAL | at_rest).items()]
    defects = ca.horzcat(*(ca.horzcat(start, part) @ slopes for start, part in zip(starts, parts))) - h * rates
    residual = ca.vertcat(ca.vec(defects), *end)
    # Its Jacobian is composed of those of the FMU: CasADi's products of the FMU's Jacobian with
    # several directions are wrong if one direction is zero.
    by_x, by_u = model.jacobian.map(points)(x, held)
    of_rates = ca.horzcat(
        ca.diagcat(*ca.horzsplit(by_x, n)),
        ca.diagcat(*ca.horzsplit(by_u, len(model.u))) @ ca.jacobian(ca.vec(held), ca.vec(u)),
    )
    jacobian = ca.jacobian(residual, unknowns) + ca.jacobian(residual, rates) @ of_rates
    residual = ca.substitute(residual, rates, model.derivatives.map(points)(x, held))
    # The Hessian is that of the objective, without the curvature of the constraints.
    objective, none = ca.sumsqr(u) / intervals, ca.MX.sym("none", 0)
    factor, multipliers = ca.MX.sym("factor"), ca.MX.sym("multipliers", residual.shape[0])
    hessian = ca.triu(factor * ca.hessian(objective, unknowns)[0])
    solver = ca.nlpsol(
        "solver",
        "ipopt",
        {"x": unknowns, "f": objective, "g": residual},
        {
            "jac_g": ca.Function("jac_g", [unknowns, none], [residual, jacobian]),
            "hess_lag": ca.Function("hess_lag", [unknowns, none, factor, multipliers], [hessian]),
            "ipopt": IPOPT,
            "print_time": False,
        },
    )
    # First guess: the joints move along a quintic, all else is at rest.
    s = np.arange(1, points + 1) / points
    guess = np.tile(model.x0[:, None], points)
    for name, value in GOAL.items():
        guess[model.x.index(name)] += (value - model.x0[model.x.index(name)]) * s**3 * (10 - 15 * s + 6 * s * s)
    bound = np.append(np.full(n * points, np.inf), np.ones(len(model.u) * intervals))
    begin = time.process_time()
    found = solver(x0=ca.veccat(guess, np.zeros(u.shape)), lbx=-bound, ubx=bound, lbg=0.0, ubg=0.0)
    seconds = time.process_time() - begin
    if not solver.stats()["success"]:
        sys.exit(f"IPOPT: {solver.stats()['return_status']}")
    states, torques = np.split(np.array(found["x"]).ravel(), [n * points])
    return Plan(states.reshape(points, n), limits * torques.reshape(intervals, -1), solver.stats(), seconds)


def replay(model, torques):
    """Runs the FMU in Co-Simulation with held torques, and none after the slew; returns FMPy's
    table of SEEN."""
    steps = round(DURATION / len(torques) / STEP)
    held = np.vstack([np.repeat(torques, steps, axis=0), np.zeros((1, torques.shape[1]))])
    rows = [(k * STEP, *row) for k, row in enumerate(held)]
    return fmpy.simulate_fmu(
        model.folder,
        fmi_type="CoSimulation",
        stop_time=DURATION + AFTER,
        step_size=STEP,
        output_interval=STEP,
        relative_tolerance=1e-9,
        input=np.array(rows, dtype=[("time", float), *((name, float) for name in model.u)]),
        output=SEEN,
    )


def measure(run):
    """Returns the largest deflection of a boom and speed of the tip after the slew (m, m/s), the
    largest error of a joint at its end (rad), and the largest momentum of the run (kg·m/s or
    kg·m²/s)."""
    after = run[round(DURATION / STEP) :]
    return {
        "deflection": max(np.abs(after[name]).max() for name in DEFLECTIONS),
        "speed": np.sqrt(sum(after[name] ** 2 for name in names("tip.v", 3))).max(),
        "error": max(abs(after[name][0] - value) for name, value in GOAL.items()),
        "momentum": max(np.abs(run[name]).max() for name in MOMENTA),
    }


def jacobian_error(model, exact, states, torques):
    """Returns the largest difference of two models' Jacobians along a plan, relative to the largest
    element."""
    held = np.repeat(torques, len(states) // len(torques), axis=0)
    pairs = [(model.jacobian(x, u), exact.jacobian(x, u)) for x, u in zip(states, held)]
    blocks = [(np.array(a), np.array(b)) for pair in pairs for a, b in zip(*pair)]
    return max(np.abs(a - b).max() for a, b in blocks) / max(np.abs(b).max() for _, b in blocks)


def study(tool, directory, intervals=INTERVALS):
    """Plans and replays the slews; returns models, plans and measures by the name of the plan."""
    directory.mkdir(parents=True, exist_ok=True)
    text = (HERE / "arm.toml").read_text(encoding="utf-8")
    rigid = re.sub(r"\[body\.\w+\.beam\]\n(.+\n)*", "", text)
    flexible = build(tool, "flexible", text, directory)
    models = {
        "directional derivatives": Model(flexible),
        "adjoint derivatives": Model(build(tool, "adjoint", text, directory, "--fmi", "3"), by_adjoints=True),
        "finite differences": Model(flexible, DIFFERENCES),
        "rigid arm": Model(build(tool, "rigid", rigid, directory)),
    }
    plans = {name: plan(model, intervals) for name, model in models.items()}
    measured = {name: measure(replay(models["directional derivatives"], found.torques)) for name, found in plans.items()}
    return models, plans, measured


def table(models, plans, measured):
    """Returns the results of `study` as a Markdown table."""

    def counted(name):
        stats, points, directions = plans[name].stats, len(plans[name].states), models[name].directions
        evaluations = points * (stats["n_call_nlp_g"] + stats["n_call_nlp_jac_g"])
        partial = points * directions * stats["n_call_nlp_jac_g"]
        if name == "finite differences":
            return evaluations + partial, 0, 0
        return (evaluations, 0, partial) if name == "adjoint derivatives" else (evaluations, partial, 0)

    exact = plans["directional derivatives"]
    off = jacobian_error(models["finite differences"], models["directional derivatives"], exact.states, exact.torques)
    rows = {
        "largest torques of shoulder and elbow, N·m": lambda name: "{:.1f}, {:.1f}".format(*np.abs(plans[name].torques).max(axis=0)),
        "largest deflection after the slew, mm": lambda name: f"{1e3 * measured[name]['deflection']:.2g}",
        "largest speed of the tip after it, mm/s": lambda name: f"{1e3 * measured[name]['speed']:.2g}",
        "error of the joints at its end, rad": lambda name: f"{measured[name]['error']:.1e}",
        "largest momentum, kg·m/s or kg·m²/s": lambda name: f"{measured[name]['momentum']:.0e}",
        "iterations of IPOPT": lambda name: f"{plans[name].stats['iter_count']}",
        "evaluations of the states' derivatives": lambda name: f"{counted(name)[0]}",
        "directional derivatives": lambda name: f"{counted(name)[1]}",
        "adjoint derivatives": lambda name: f"{counted(name)[2]}",
        "error of the Jacobian, relative": lambda name: f"{off:.0e}" if name == "finite differences" else "–",
        "processor time in the FMU, s": lambda name: f"{sum(plans[name].stats[f't_proc_nlp_{part}'] for part in ('g', 'jac_g')):.2f}",
        "processor time of IPOPT in all, s": lambda name: f"{plans[name].seconds:.1f}",
    }
    lines = ["| | " + " | ".join(plans) + " |", "|---|" + "---|" * len(plans)]
    lines += [f"| {title} | " + " | ".join(cell(name) for name in plans) + " |" for title, cell in rows.items()]
    return "\n".join(lines) + "\n"


def main():
    arguments = options(command_line("A slew of a flexible arm that leaves no vibration.", "out/optimisation"))
    text = table(*study(arguments.grapple, arguments.output))
    (arguments.output / "table.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
