"""Motions with closed-form solutions, through the FMU.

Every closed form is derived from the physics in this file; it shares only the meaning of the spec's
fields with the tool. The tolerance of the integration is 1e-12; a smooth motion of some tens of
radians then has ten correct digits, hence the bound 1e-9 of most comparisons.
"""

import fmpy
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from fmu import CoSimulation, ModelExchange

SMOOTH = 1e-9
SMOOTH_REASON = "a thousand times the integration tolerance of 1e-12"


def rotation(q_wxyz):
    w, x, y, z = q_wxyz
    return Rotation.from_quat([x, y, z, w])


def wxyz(rotation):
    x, y, z, w = rotation.as_quat()
    return [w, x, y, z]


def both_ways(archive, times, names, start=None, rtol=1e-12):
    """Yields the rows of a run in Co-Simulation, and of one in Model Exchange with DOP853."""
    with CoSimulation(archive, start=start, tolerance=rtol) as cs:
        yield "CS", cs.run(times, names)
    with ModelExchange(archive, start=start) as me:
        yield "ME", me.integrate(times, names, rtol)


def hinge(J=0.7, mass=2.0, distance=0.3, **joint):
    """Returns the spec of one arm on a hinge in the world, with the inertia J about the hinge,
    without gravity."""
    return {
        "name": "hinged_arm",
        "body": {
            "arm": {
                "mass": mass,
                "mass_centre": [0.8 * distance, -0.6 * distance, 0.1],
                "inertia": [0.5, 0.6, J - mass * distance**2],
            }
        },
        "joint": {
            "hinge": {
                "type": "revolute",
                "parent": "world",
                "child": "arm",
                "origin": [0.2, -0.1, 0.4],
                "orientation": wxyz(Rotation.from_rotvec([0.5, -0.7, 0.3])),
                **joint,
            }
        },
    }


# ---- free bodies -------------------------------------------------------------------------------------------------------


def test_a_torque_free_symmetric_top_precesses(build, within):
    """Inertia (A, A, C) about its mass centre: with λ = w₃ (C − A)/A and the angular momentum h,

        w₁ = a cos(λt + φ),  w₂ = a sin(λt + φ),  w₃ constant,
        R(t) = exp(t h/A) R(0) exp(−λt e₃),

    the mass centre moves on a straight line, and the body's origin rotates about it.
    """
    A, C, mass = 0.9, 1.5, 3.0
    axes = Rotation.from_rotvec([0.4, -0.9, 0.6])  # symmetry axes to body
    R_0 = Rotation.from_rotvec([-0.8, 0.3, 1.1])
    c = np.array([0.2, -0.35, 0.15])
    w_0 = axes.apply([0.7, -1.1, 2.3])
    r_0, v_0 = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.1, -0.2])
    archive = build(
        {
            "name": "top",
            "body": {
                "top": {
                    "mass": mass,
                    "mass_centre": c,
                    "inertia": [A, A, C],
                    "inertia_axes": wxyz(axes),
                    "start": {"position": r_0, "attitude": wxyz(R_0), "velocity": v_0, "angular_velocity": w_0},
                }
            },
        }
    )
    times = np.linspace(0, 20, 81)
    w_sym = axes.inv().apply(w_0)
    lam = w_sym[2] * (C - A) / A
    a, phase = np.hypot(*w_sym[:2]), np.arctan2(w_sym[1], w_sym[0])
    h = R_0.apply(axes.apply(np.array([A, A, C]) * w_sym))
    symmetry = axes.apply([0, 0, 1])
    w = axes.apply(np.array([a * np.cos(lam * times + phase), a * np.sin(lam * times + phase), w_sym[2] + 0 * times]).T)
    R = [Rotation.from_rotvec(t * h / A) * R_0 * Rotation.from_rotvec(-lam * t * symmetry) for t in times]
    centre_0 = r_0 + R_0.apply(c)
    centre_v = v_0 + R_0.apply(np.cross(w_0, c))
    r = np.array([centre_0 + t * centre_v - turn.apply(c) for t, turn in zip(times, R)])

    names = [f"top.{v}[{i + 1}]" for v, n in (("q", 4), ("r", 3), ("w", 3)) for i in range(n)]
    for how, rows in both_ways(archive, times, names):
        angle = np.max([(rotation(row[:4]).inv() * turn).magnitude() for row, turn in zip(rows, R)])
        within(f"symmetric top, {how}: attitude, rad", angle, SMOOTH, SMOOTH_REASON)
        within(f"symmetric top, {how}: position, m", np.abs(rows[:, 4:7] - r).max(), SMOOTH, SMOOTH_REASON)
        within(f"symmetric top, {how}: rates in body axes, rad/s", np.abs(rows[:, 7:] - w).max(), SMOOTH, SMOOTH_REASON)


SHAPES = {
    # Each force: its signal, and its impulse from 0 to 4 s.
    "pulse": ({"type": "constant", "amplitude": 3.0, "from": 0.737, "until": 2.411}, 3.0 * (2.411 - 0.737)),
    "steady": ({"type": "constant", "amplitude": -1.25, "offset": 0.5}, -0.75 * 4),
    "step": ({"type": "step", "amplitude": 2.0, "offset": -0.5, "from": 1.313}, 2.0 * (4 - 1.313) - 0.5 * 4),
    "sine": (
        {"type": "sine", "amplitude": 5.0, "frequency": 0.8, "phase": 0.4},
        5.0 * (np.cos(0.4) - np.cos(2 * np.pi * 0.8 * 4 + 0.4)) / (2 * np.pi * 0.8),
    ),
    "burst": (
        {"type": "sine", "amplitude": 5.0, "frequency": 1.7, "from": 0.471, "until": 3.097},
        5.0 * (np.cos(2 * np.pi * 1.7 * 0.471) - np.cos(2 * np.pi * 1.7 * 3.097)) / (2 * np.pi * 1.7),
    ),
    # By symmetry the mean over the rise is one half.
    "quintic": (
        {"type": "quintic", "amplitude": 4.0, "from": 0.627, "until": 2.849},
        4.0 * (0.5 * (2.849 - 0.627) + 4 - 2.849),
    ),
    "ramps": (
        {"type": "table", "amplitude": 2.0, "times": [0.333, 1.111, 2.777], "values": [1.0, -0.5, 2.0]},
        2.0 * (0.333 * 1.0 + 0.778 * 0.25 + 1.666 * 0.75 + (4 - 2.777) * 2.0),
    ),
    "stairs": (
        {"type": "table", "interpolation": "hold", "times": [0.333, 1.111, 2.777], "values": [1.0, -0.5, 2.0]},
        0.333 * 1.0 + 0.778 * 1.0 + 1.666 * -0.5 + (4 - 2.777) * 2.0,
    ),
}
IN_PIECES_CONSTANT = {"pulse", "steady", "step", "stairs"}


def test_the_impulse_of_every_signal_is_the_change_of_momentum(build, within):
    """Forces with discontinuities inside communication steps give their exact impulses."""
    spec = {"name": "pushed", "body": {}, "port": {}, "signal": {}}
    for i, (name, (signal, _)) in enumerate(SHAPES.items()):
        spec["body"][name + "_body"] = {"mass": 0.5 + i, "inertia": [0.4, 0.5, 0.6]}
        spec["port"][name] = {"frame": name + "_body"}
        spec["signal"][f"{name}.f[2]"] = {**signal, "from_importer": False}
    archive = build(spec)
    names = [f"{name}_body.v[2]" for name in SHAPES]
    masses = 0.5 + np.arange(len(SHAPES))
    expected = np.array([integral for _, integral in SHAPES.values()])
    exact = np.array([name in IN_PIECES_CONSTANT for name in SHAPES])
    for how, rows in both_ways(archive, np.linspace(0, 4, 18), names):
        off = np.abs(masses * rows[-1] - expected)
        within(
            f"impulses, {how}: constant pieces, N·s",
            off[exact].max(),
            1e-13,
            "each piece is integrated exactly: round-off of sums near 5 N·s",
        )
        within(f"impulses, {how}: curved pieces, N·s", off[~exact].max(), 1e-10, "a hundred times the tolerance")

    doubled = {"signal.pulse.f[2].amplitude": 6.0, "signal.pulse.f[2].until": 1.8}
    for how, rows in both_ways(archive, [4.0], names, start=doubled):
        impulse = masses[0] * rows[-1][0]
        within(
            f"impulses, {how}: pulse changed by parameters, N·s", abs(impulse - 6.0 * (1.8 - 0.737)), 1e-13, "round-off"
        )

    result = fmpy.simulate_fmu(
        str(archive.directory),
        model_description=archive.description,
        validate=False,
        fmi_type="ModelExchange",
        relative_tolerance=1e-10,
        stop_time=4.0,
        output_interval=0.02,
        output=names,
    )
    reached = masses * [result[name][-1] for name in names]
    within(
        "impulses, ME with FMPy's CVode at 1e-10, N·s",
        np.abs(reached - expected).max(),
        1e-6,
        "CVode's BDF keeps about a thousand times its tolerance, and the masses go up to 7.5 kg",
    )


# ---- pendulums --------------------------------------------------------------------------------------------------------


def double_pendulum_spec(g, tilt, angle, starts):
    """Returns two links in the plane of a tilted frame; gravity has a component in that plane, at
    `angle` from its x axis, and one normal to it."""
    down = tilt.apply([g * np.cos(angle), g * np.sin(angle), 0])
    return {
        "name": "double_pendulum",
        "environment": {"gravity": down + tilt.apply([0, 0, 2.5])},
        "body": {
            "one": {"mass": 1.7, "mass_centre": [0.45, 0.0, 0.07], "inertia": [0.05, 0.2, 0.21]},
            "two": {"mass": 0.9, "mass_centre": [0.3, 0.0, -0.02], "inertia": [0.03, 0.06, 0.08]},
        },
        "joint": {
            "pivot": {
                "type": "revolute",
                "parent": "world",
                "child": "one",
                "origin": [0.3, 1.0, -0.4],
                "orientation": wxyz(tilt),
                "start": {"position": starts[0], "rate": starts[2]},
            },
            "knee": {
                "type": "revolute",
                "parent": "one",
                "child": "two",
                "origin": [0.8, 0.0, 0.1],
                "start": {"position": starts[1], "rate": starts[3]},
            },
        },
    }


def test_a_double_pendulum_follows_lagranges_equations(build, within):
    """With absolute angles θ₁, θ₂ from the hanging line, Δ = θ₁ − θ₂:

    (I₁ + m₁c₁² + m₂L²) θ̈₁ + m₂Lc₂ cosΔ θ̈₂ + m₂Lc₂ sinΔ θ̇₂² + (m₁c₁ + m₂L) g sinθ₁ = 0
    (I₂ + m₂c₂²) θ̈₂ + m₂Lc₂ cosΔ θ̈₁ − m₂Lc₂ sinΔ θ̇₁² + m₂c₂ g sinθ₂ = 0
    """
    g, angle = 9.81, 0.6
    m_1, c_1, I_1, m_2, c_2, I_2, L = 1.7, 0.45, 0.21, 0.9, 0.3, 0.08, 0.8
    starts = [1.4, -0.7, 0.5, -1.2]  # q₁, q₂, rates

    def lagrange(_, y):
        th_1, th_2, w_1, w_2 = y
        D = th_1 - th_2
        M = np.array(
            [
                [I_1 + m_1 * c_1**2 + m_2 * L**2, m_2 * L * c_2 * np.cos(D)],
                [m_2 * L * c_2 * np.cos(D), I_2 + m_2 * c_2**2],
            ]
        )
        f = [
            -m_2 * L * c_2 * np.sin(D) * w_2**2 - (m_1 * c_1 + m_2 * L) * g * np.sin(th_1),
            m_2 * L * c_2 * np.sin(D) * w_1**2 - m_2 * c_2 * g * np.sin(th_2),
        ]
        return [w_1, w_2, *np.linalg.solve(M, f)]

    times = np.linspace(0, 8, 81)
    y_0 = [starts[0] - angle, starts[0] + starts[1] - angle, starts[2], starts[2] + starts[3]]
    th = solve_ivp(lagrange, (0, 8), y_0, "DOP853", t_eval=times, rtol=1e-13, atol=1e-13).y
    q = np.array([th[0] + angle, th[1] - th[0]]).T

    archive = build(double_pendulum_spec(g, Rotation.from_rotvec([0.9, -0.2, 0.5]), angle, starts))
    names = ["pivot.q", "knee.q", "system.energy", "system.work", "system.kinetic_energy"]
    for how, rows in both_ways(archive, times, names):
        within(
            f"double pendulum, {how}: angles, rad",
            np.abs(rows[:, :2] - q).max(),
            1e-8,
            "1e4 times the tolerance: neighbouring motions part by some hundred in 8 s",
        )
        energy, work, kinetic = rows[:, 2:].T
        within(
            f"double pendulum, {how}: energy, of the peak kinetic energy",
            np.abs(energy - energy[0]).max() / kinetic.max(),
            1e-10,
            "a hundred times the tolerance",
        )
        within(f"double pendulum, {how}: work without a motor, J", np.abs(work).max(), 0.0, "nothing works here")


def test_a_simple_pendulum_has_the_period_of_the_elliptic_integral(build, within):
    """T = 4 K(sin²(θ₀/2)) / ω₀, with K by the arithmetic-geometric mean."""
    J, mass, distance, theta_0 = 0.7, 2.0, 0.3, 2.1
    spec = hinge(J, mass, distance)
    # Gravity is in the plane of motion, along the arm at q = 0, so the arm hangs at q = 0.
    F = rotation(spec["joint"]["hinge"]["orientation"])
    spec["environment"] = {"gravity": F.apply([9.81 * 0.8, -9.81 * 0.6, 0.0])}
    spec["joint"]["hinge"]["start"] = {"position": theta_0}
    a, b = 1.0, np.cos(theta_0 / 2)
    for _ in range(8):
        a, b = (a + b) / 2, np.sqrt(a * b)
    period = 2 * np.pi / a / np.sqrt(mass * 9.81 * distance / J)
    for how, rows in both_ways(build(spec), [period, 5 * period], ["hinge.q", "hinge.qd"]):
        within(
            f"pendulum, {how}: after one and five periods, rad",
            np.abs(rows[:, 0] - theta_0).max(),
            SMOOTH,
            SMOOTH_REASON,
        )
        within(
            f"pendulum, {how}: rate after one and five periods, rad/s", np.abs(rows[:, 1]).max(), SMOOTH, SMOOTH_REASON
        )


# ---- loads on a joint -------------------------------------------------------------------------------------------------


def test_spring_between_floating_bodies_oscillates_with_the_reduced_inertia(build, within):
    """Two coaxial bodies: q̈ = −(k/J) (q − q₀) with 1/J = 1/J₁ + 1/J₂."""
    J_1, J_2, k, rest, q_0, qd_0 = 1.3, 0.4, 7.0, 0.25, 0.9, -0.6
    archive = build(
        {
            "name": "clock",
            "body": {
                "base": {"mass": 3.0, "mass_centre": [0.2, 0.1, 0.0], "inertia": [0.9, 0.8, J_1]},
                "wheel": {"mass": 1.0, "mass_centre": [0.0, 0.0, 0.3], "inertia": [0.3, 0.3, J_2]},
            },
            "joint": {
                "axle": {
                    "type": "revolute",
                    "parent": "base",
                    "child": "wheel",
                    "origin": [0.2, 0.1, 0.5],
                    "spring": {"stiffness": k, "rest": rest},
                    "start": {"position": q_0, "rate": qd_0},
                }
            },
        }
    )
    times = np.linspace(0, 10, 41)
    omega = np.sqrt(k * (1 / J_1 + 1 / J_2))
    q = rest + (q_0 - rest) * np.cos(omega * times) + qd_0 / omega * np.sin(omega * times)
    for how, rows in both_ways(archive, times, ["axle.q", "system.energy"]):
        within(f"spring, {how}: angle, rad", np.abs(rows[:, 0] - q).max(), SMOOTH, SMOOTH_REASON)
        within(f"spring, {how}: energy, J", np.ptp(rows[:, 1]), SMOOTH, SMOOTH_REASON)


def test_ball_on_a_spherical_spring_oscillates_about_a_fixed_axis(build, within):
    """An isotropic body held at its mass centre, rotated by θ₀ about n and released: θ = θ₀ cos
    √(k/J) t about n."""
    J, k, theta_0, n = 0.35, 2.2, 2.4, np.array([0.48, -0.6, 0.64])
    archive = build(
        {
            "name": "ball",
            "body": {"ball": {"mass": 2.0, "inertia": [J, J, J]}},
            "joint": {
                "socket": {
                    "type": "spherical",
                    "parent": "world",
                    "child": "ball",
                    "orientation": wxyz(Rotation.from_rotvec([1.0, 0.2, -0.4])),
                    "spring": {"stiffness": k},
                    "start": {"attitude": wxyz(Rotation.from_rotvec(theta_0 * n))},
                }
            },
        }
    )
    times = np.linspace(0, 10, 41)
    theta = theta_0 * np.cos(np.sqrt(k / J) * times)
    for how, rows in both_ways(archive, times, [f"socket.q[{i}]" for i in (1, 2, 3, 4)]):
        off = [(rotation(row).inv() * Rotation.from_rotvec(angle * n)).magnitude() for row, angle in zip(rows, theta)]
        within(f"spherical spring, {how}: attitude, rad", np.max(off), SMOOTH, SMOOTH_REASON)


def test_dry_friction_slows_by_its_regularised_law(build, within):
    """J q̈ = −τ tanh(q̇/s) gives sinh(q̇/s) = sinh(q̇₀/s) exp(−τt/(J s))."""
    J, tau, slip, qd_0 = 0.7, 0.45, 0.15, 1.2
    archive = build(hinge(J, friction={"coulomb": tau, "slip": slip}, start={"rate": qd_0}))
    times = np.linspace(0, 3, 31)
    qd = slip * np.arcsinh(np.sinh(qd_0 / slip) * np.exp(-tau * times / (J * slip)))
    for how, rows in both_ways(archive, times, ["hinge.qd", "system.energy", "system.work"]):
        within(f"friction, {how}: rate, rad/s", np.abs(rows[:, 0] - qd).max(), SMOOTH, SMOOTH_REASON)
        balance = rows[:, 1] - rows[0, 1] - rows[:, 2]
        within(f"friction, {how}: energy minus work, J", np.abs(balance).max(), SMOOTH, SMOOTH_REASON)


def test_a_rotor_adds_its_reflected_inertia(build, within):
    """(J + n²J_r) q̈ = τ with viscous friction c: q̇ = τ/c (1 − exp(−ct/(J + n²J_r)))."""
    J, rotor, c, tau = 0.7, 0.9, 0.35, 1.4
    archive = build(hinge(J, rotor_inertia=rotor, damping=c))
    times = np.linspace(0, 6, 25)
    qd = tau / c * (1 - np.exp(-c * times / (J + rotor)))
    for how, rows in both_ways(archive, times, ["hinge.qd", "system.energy", "system.work"], start={"hinge.tau": tau}):
        within(f"rotor, {how}: rate, rad/s", np.abs(rows[:, 0] - qd).max(), SMOOTH, SMOOTH_REASON)
        balance = rows[:, 1] - rows[0, 1] - rows[:, 2]
        within(f"rotor, {how}: energy minus work, J", np.abs(balance).max(), SMOOTH, "the rotor's energy is counted")


@pytest.mark.parametrize("kp, kd", [(9.0, 1.5), (9.0, 8.0)], ids=["underdamped", "overdamped"])
def test_step_response_of_a_servo_equals_its_second_order_equation(kp, kd, build, within):
    """J ë + kd ė + kp e = τ with e = q − q_ref: two exponentials about e = τ/kp, by the roots of J s² + kd s + kp."""
    J, q_ref, tau, q_0, qd_0 = 0.7, 1.1, 0.6, 0.2, -0.4
    archive = build(hinge(J, servo={"kp": kp, "kd": kd}, start={"position": q_0, "rate": qd_0}))
    times = np.linspace(0, 6, 25)
    s_1, s_2 = np.roots([J, kd, kp]).astype(complex)
    e_0 = q_0 - q_ref - tau / kp
    a = (qd_0 - s_2 * e_0) / (s_1 - s_2)
    q = q_ref + tau / kp + (a * np.exp(s_1 * times) + (e_0 - a) * np.exp(s_2 * times)).real
    for how, rows in both_ways(archive, times, ["hinge.q"], start={"hinge.q_ref": q_ref, "hinge.tau": tau}):
        within(f"servo, {how}: angle, rad", np.abs(rows[:, 0] - q).max(), SMOOTH, SMOOTH_REASON)


def test_servo_that_is_switched_off_has_no_torque(build, within):
    archive = build(hinge(servo={"kp": 9.0, "kd": 1.5}, start={"position": 0.2, "rate": -0.4}))
    with CoSimulation(archive, start={"hinge.q_ref": 1.0}, tolerance=1e-12) as cs:
        cs.run(np.linspace(0, 1, 11), ["hinge.q"])
        cs.set({"hinge.servo": 0.0})
        cs.to(1.1)
        rate = cs.get("hinge.qd")
        rows = cs.run(np.linspace(1.2, 3, 11), ["hinge.qd", "der(hinge.qd)"])
        within(
            "servo off, CS: rate of the free arm, rad/s", np.abs(rows[:, 0] - rate).max(), 1e-13, "round-off: no torque"
        )
        within(
            "servo off, CS: acceleration of the free arm, rad/s²",
            np.abs(rows[:, 1]).max(),
            1e-13,
            "round-off: no torque",
        )
        cs.set({"hinge.servo": 1.0})
        cs.to(4.0)
        assert abs(cs.get("der(hinge.qd)")) > 0.1, "switched on again, it pulls"
    with ModelExchange(archive, start={"hinge.q_ref": 1.0}) as me:
        assert abs(me.derivative(0.0, me.x)[me.archive.derivatives.index("der(hinge.qd)")]) > 1.0
        me.fmu.enterEventMode()
        me.set({"hinge.servo": 0.0})
        me.discrete()
        assert abs(me.derivative(0.0, me.x)[me.archive.derivatives.index("der(hinge.qd)")]) < 1e-13
    spec = hinge(servo={"kp": 9.0, "kd": 1.5, "on": False}, start={"rate": -0.4})
    for how, rows in both_ways(build(spec), [2.0], ["hinge.q"], start={"hinge.q_ref": 1.0}):
        within(f"servo off from the start, {how}: angle, rad", abs(rows[0, 0] + 0.8), 1e-12, "constant rate")


# ---- ranges and stops ------------------------------------------------------------------------------------------------

V_0, Q_MAX = 0.9, 0.5
TOUCH = Q_MAX / V_0


def cvode(archive, stop_time, names, tolerance=1e-10, logger=None):
    return fmpy.simulate_fmu(
        str(archive.directory),
        model_description=archive.description,
        validate=False,
        fmi_type="ModelExchange",
        relative_tolerance=tolerance,
        stop_time=stop_time,
        output_interval=stop_time / 400,
        output=names,
        logger=logger,
        debug_logging=logger is not None,
    )


def test_the_flag_rises_when_the_joint_leaves_its_range_and_one_message_says_so(build, within):
    spec = hinge(start={"rate": V_0}, range={"min": -0.5, "max": Q_MAX})
    archive = build(spec)
    with CoSimulation(archive, tolerance=1e-8) as cs:
        for t in np.linspace(0.01, 1.0, 100):
            cs.to(t)
            assert cs.get("hinge.out_of_range") == (t > TOUCH), f"t = {t}, left at {TOUCH}"
        said = [message for _, _, message in cs.messages if "hinge" in message and "range" in message]
    assert len(said) == 1 and "0.5" in said[0], f"one message with the limit, not {said}"

    said = []

    def log(environment, instance, status, category, message):
        said.append(message.decode())

    result = cvode(archive, 1.0, ["hinge.out_of_range", "hinge.q"], logger=log)
    rising = np.argmax(result["hinge.out_of_range"])
    within(
        "range flag, ME with FMPy's CVode: time of leaving, s",
        abs(result["time"][rising] - TOUCH),
        1e-6,
        "CVode's root finding, and the hysteresis of 1e-9 of the range",
    )
    assert result["hinge.out_of_range"][rising:].all() and not result["hinge.out_of_range"][:rising].any()
    said = [message for message in said if "hinge" in message and "range" in message]
    assert len(said) == 1, f"one message, not {said}"


def test_flag_changes_as_the_joint_leaves_and_reenters_its_range(build):
    """A spring makes the joint oscillate with twice the amplitude of its range: it is outside while
    |cos ωt| > ½."""
    J, k, amplitude = 0.7, 3.0, 0.8
    omega = np.sqrt(k / J)
    spec = hinge(J, spring={"stiffness": k}, start={"rate": amplitude * omega}, range={"min": -0.4, "max": 0.4})
    archive = build(spec)
    with CoSimulation(archive, tolerance=1e-8) as cs:
        for t in np.linspace(0.05, 8.0, 160):
            cs.to(t)
            assert cs.get("hinge.out_of_range") == (amplitude * abs(np.sin(omega * t)) > 0.4), f"t = {t}"
    result = cvode(archive, 8.0, ["hinge.out_of_range", "hinge.q"])
    flag, q = result["hinge.out_of_range"].astype(bool), np.abs(result["hinge.q"])
    assert (flag[q > 0.4 + 1e-6]).all() and not flag[q < 0.4 - 1e-6].any(), "flag and position tell the same story"
    crossings = [n * np.pi + phase for n in range(20) for phase in (np.pi / 6, 5 * np.pi / 6)]
    assert np.count_nonzero(np.diff(flag.astype(int))) == np.count_nonzero(np.array(crossings) < omega * 8.0)


@pytest.mark.parametrize("zeta", [0.0, 0.2, 0.6])
def test_rebound_from_a_compliant_stop_equals_its_closed_form(zeta, build, within):
    """A stop is a spring-damper that only pushes. Contact begins at δ = 0 with the rate v; during contact

        δ = v/ω_d exp(−ζωt) sin ω_d t,   ω² = k/J,  ω_d = ω √(1 − ζ²);

    it ends when kδ + cδ̇ = −J δ̈ is zero, at tan ω_d t = 2ζ√(1 − ζ²)/(2ζ² − 1), and the arm keeps that rate.
    """
    J, k = 0.7, 450.0
    omega = np.sqrt(k / J)
    omega_d = omega * np.sqrt(1 - zeta**2)
    contact = np.arctan2(2 * zeta * np.sqrt(1 - zeta**2), 2 * zeta**2 - 1) / omega_d
    decay = np.exp(-zeta * omega * contact)
    depth = V_0 / omega_d * decay * np.sin(omega_d * contact)
    rate = V_0 * decay * (np.cos(omega_d * contact) - zeta * omega / omega_d * np.sin(omega_d * contact))

    spec = hinge(
        J,
        start={"rate": V_0},
        range={"min": -100.0, "max": Q_MAX, "stop": "compliant", "stiffness": k, "damping": 2 * zeta * np.sqrt(k * J)},
    )
    archive = build(spec)
    t_end = 1.2
    q_end = Q_MAX + depth + rate * (t_end - TOUCH - contact)
    names = ["hinge.q", "hinge.qd", "system.energy", "system.work"]
    times = np.linspace(0, t_end, 37)

    with CoSimulation(archive, tolerance=1e-12) as cs:
        rows = cs.run(times, names)
    within("compliant stop, CS at 1e-12: rate after, rad/s", abs(rows[-1, 1] - rate), 1e-9, SMOOTH_REASON)
    within("compliant stop, CS at 1e-12: angle after, rad", abs(rows[-1, 0] - q_end), 1e-9, SMOOTH_REASON)
    energy = 0.5 * J * V_0**2
    balance = rows[:, 2] - rows[0, 2] - rows[:, 3]
    within(
        "compliant stop, CS at 1e-12: energy minus work, of the energy",
        np.abs(balance).max() / energy,
        1e-9,
        SMOOTH_REASON,
    )
    if zeta == 0.0:
        within(
            "compliant stop without damper, CS at 1e-12: energy lost",
            abs(rows[-1, 2] / energy - 1),
            1e-9,
            SMOOTH_REASON,
        )
    else:
        within(
            "compliant stop, CS at 1e-12: work is the energy lost, J",
            abs(rows[-1, 3] - (0.5 * J * rate**2 - energy)),
            1e-9,
            SMOOTH_REASON,
        )

    result = cvode(archive, t_end, names, tolerance=1e-10)
    within(
        "compliant stop, ME with FMPy's CVode at 1e-10: rate after, rad/s",
        abs(result["hinge.qd"][-1] - rate),
        1e-6,
        "1e4 times the tolerance: BDF, and a kink where the stop lets go",
    )
    within(
        "compliant stop, ME with FMPy's CVode at 1e-10: angle after, rad",
        abs(result["hinge.q"][-1] - q_end),
        1e-6,
        "the same",
    )


def test_a_pendulum_that_bounces_between_stops_keeps_its_energy(build, within):
    spec = hinge(
        start={"position": 0.9},
        range={"min": -0.4, "max": 1.0, "stop": "compliant", "stiffness": 200.0, "damping": 0.0},
    )
    F = rotation(spec["joint"]["hinge"]["orientation"])
    spec["environment"] = {"gravity": F.apply([9.81 * 0.8, -9.81 * 0.6, 0.0])}
    archive = build(spec)
    names = ["hinge.q", "system.energy", "system.kinetic_energy", "system.work"]
    with CoSimulation(archive, tolerance=1e-12) as cs:
        rows = cs.run(np.linspace(0, 10, 501), names)
    assert np.count_nonzero(np.diff((rows[:, 0] < -0.4).astype(int)) > 0) >= 5, "it bounces"
    within(
        "bouncing pendulum, CS at 1e-12: energy, of the peak kinetic energy",
        np.ptp(rows[:, 1]) / rows[:, 2].max(),
        1e-9,
        "a thousand times the tolerance, over a dozen bounces",
    )
    within(
        "bouncing pendulum, CS: work of an undamped stop, J",
        np.abs(rows[:, 3]).max(),
        1e-12,
        "its spring is potential energy",
    )


def test_parameter_changes_the_position_of_a_stop(build, within):
    archive = build(
        hinge(
            start={"rate": V_0},
            range={"min": -100.0, "max": Q_MAX, "stop": "compliant", "stiffness": 450.0, "damping": 0.0},
        )
    )
    with CoSimulation(archive, start={"hinge.q_max": 0.2}, tolerance=1e-10) as cs:
        rows = cs.run(np.linspace(0, 1.2, 1201), ["hinge.q"])
    deepest = 0.2 + V_0 / np.sqrt(450.0 / 0.7)
    within(
        "stop moved by a parameter, CS: farthest angle, rad",
        abs(rows.max() - deepest),
        2e-6,
        "sampled each millisecond: ½ v ω Δt²/4",
    )
