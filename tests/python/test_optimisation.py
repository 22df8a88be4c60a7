"""The programs of examples/optimisation: CasADi's import of the Model Exchange FMU, the plan of a slew
replayed in Co-Simulation, and the gradient of a run by adjoint derivatives."""

import os

import numpy as np
import pytest
from programs import program

gradient = program("optimisation/gradient")
slew = program("optimisation/slew")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """`(models, plans, measures)` of the study."""
    return slew.study(os.environ["GRAPPLE"], tmp_path_factory.mktemp("slew"))


def test_a_planned_slew_leaves_a_hundredth_of_the_vibration_of_an_unshaped_one(results):
    models, plans, measured = results
    unshaped = measured["rigid arm"]
    for name in ("directional derivatives", "adjoint derivatives", "finite differences"):
        planned = measured[name]
        assert 100.0 * planned["deflection"] < unshaped["deflection"]
        assert 100.0 * planned["speed"] < unshaped["speed"]
    assert unshaped["deflection"] > 0.005, "the arm is flexible enough to vibrate"
    for name, plan in plans.items():
        largest = np.abs(plan.torques).max(axis=0) / [slew.LIMITS[joint] for joint in models[name].u]
        assert largest.max() <= 1.0 + 1e-7, "IPOPT relaxes bounds by 1e-8"


def test_replay_ends_at_the_plan_and_conserves_momentum(results, within):
    models, plans, measured = results
    model, plan = models["directional derivatives"], plans["directional derivatives"]
    run = slew.replay(model, plan.torques)
    planned = plan.states[-1, model.x.index("satellite.q[4]")]
    reached = run["satellite.q[4]"][round(slew.DURATION / slew.STEP)]
    assert abs(planned) > 0.1, "the reaction of the arm turns the satellite"
    within("CasADi's plan in the replay, attitude", abs(planned - reached), 1e-5, "error of the collocation")
    within("CasADi's plan in the replay, joints (rad)", measured["directional derivatives"]["error"], 1e-5, "error of the collocation")
    momentum = max(values["momentum"] for values in measured.values())
    within("momentum of the replay, kg·m²/s", momentum, 1e-9, "it is zero; round-off and the tolerance of the run")


def test_casadi_reads_exact_jacobians_of_the_fmu(results, within):
    models, plans, _ = results
    exact, plan = models["directional derivatives"], plans["directional derivatives"]
    error = slew.jacobian_error(models["finite differences"], exact, plan.states, plan.torques)
    within("CasADi's forward differences, relative", error, 3e-6, "steps of 1e-6")
    error = slew.jacobian_error(models["adjoint derivatives"], exact, plan.states, plan.torques)
    within("CasADi's Jacobian by adjoint less by directional derivatives, relative", error, 1e-13, "round-off")
    size, worst = 0.0, 0.0
    for x, u in zip(plan.states[:: 8 * slew.DEGREE], plan.torques[::8]):
        whole = np.hstack([np.array(block) for block in exact.jacobian(x, u)])
        point = np.append(x, u)
        columns = []
        for step in 1e-5 * np.eye(len(point)):
            ends = [np.array(exact.derivatives(*np.split(end, [len(x)]))) for end in (point + step, point - step)]
            columns.append((ends[0] - ends[1]) / 2e-5)
        worst = max(worst, np.abs(np.hstack(columns) - whole).max())
        size = max(size, np.abs(whole).max())
    within("CasADi's Jacobian less central differences, relative", worst / size, 1e-8, "steps of 1e-5")


def test_the_gradient_of_a_run_agrees_with_directional_derivatives_and_differences(tmp_path, within):
    for name, of in gradient.study(os.environ["GRAPPLE"], tmp_path).items():
        assert of["control values"] == 1000
        within(f"gradient less directional derivatives of the {name}, relative", of["along"], 1e-13, "round-off of the sum")
        within(f"gradient less central differences of the {name}, relative", of["differences"], 1e-8, "steps of 0.01 N·m")
