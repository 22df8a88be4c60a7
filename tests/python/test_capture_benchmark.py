"""The capture benchmark: its FMUs and two other engines give the reference results, and its page
states the specs.

The runs are short forms of 40 s: the capture is at 16 s, and by then all peaks are reached. The
programs of the benchmark, `run.py` and `engines.py`, run 120 s.
"""

import os
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from fmu import grapple
from pages import judge_page, tables
from programs import EXAMPLES, program

FOLDER = EXAMPLES / "capture_benchmark"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "capture_benchmark.md"
END = 40.0  # s, of the runs: a checkpoint

run = program("capture_benchmark/run")
engines = program("capture_benchmark/engines")
segments = program("capture_benchmark/segments")
study = program("capture_benchmark/study")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of the FMUs."""
    folder = tmp_path_factory.mktemp("capture_benchmark")
    run.build(os.environ["GRAPPLE"], folder, run.VERSIONS)
    return folder


@pytest.fixture(scope="module")
def found(folder):
    """Results of the versions."""
    return {version: run.results(folder, version, END) for version in run.VERSIONS}


@pytest.mark.parametrize("version", run.VERSIONS)
def test_fmu_gives_the_reference_results(version, found, within):
    off = run.difference(found[version], run.reference()[version])
    assert len(off) == 142
    claim = f"capture benchmark, {version}, FMU: difference to reference.json, of scales"
    within(claim, max(off.values()), run.ALLOWED[version], "ten times the error estimates")


@pytest.mark.parametrize("version", ["rigid", "sampled"])
def test_fmu_of_fmi_3_gives_the_same_bits(version, found, folder):
    run.build(os.environ["GRAPPLE"], folder, [version], fmi=3)
    assert run.results(folder, version, END, fmi=3) == found[version]


def test_the_page_has_the_results_of_the_fmus(found):
    """The rows that a short form has: metrics of the three versions, and checkpoints of the rigid
    one."""
    assert judge_page(PAGE, run.table(found) + "\n" + run.motion(found["rigid"]), whole=False) == 3


@pytest.mark.parametrize("name, fine, coarse, allowed", [
    ("rigid, Pinocchio", {"tolerance": 1e-11}, None, 5e-9),
    ("rigid, MuJoCo", {"step": 0.01}, {"step": 0.0125}, 2e-4),
    ("sampled, MuJoCo", {"step": 0.01}, None, 1e-9),
])  # fmt: skip
def test_other_engine_gives_the_reference_results(name, fine, coarse, allowed, within):
    version, engine, *_ = engines.RUNS[name]
    off, rough = (
        engines.difference(engines.results(version, engine, setting, END), engines.reference()[version]) if setting else None
        for setting in (fine, coarse)
    )
    assert len(off) == 142
    within(f"capture benchmark, {name}: difference to reference.json, of scales", max(off.values()), allowed, "its own error")
    if rough:
        order = np.log(max(rough.values()) / max(off.values())) / np.log(coarse["step"] / fine["step"])
        assert abs(order - 4.0) < 0.5, f"order {order}: the difference is the error of the method of order 4"


def test_momentum_and_energy_balance_are_kept_through_the_capture(folder, within):
    with run.Instance(folder / "capture_rigid.fmu") as fmu:
        energy, work = fmu.get(["system.energy", "system.work"])
        table, numbers = run.run(fmu, 17.0)
        later, done = fmu.get(["system.energy", "system.work"])
        held = fmu.get(["latch.violation", "latch.violation_angle"])
    for name in ("momentum", "angular_momentum"):
        within(f"capture benchmark: change of {name}", np.ptp(table[name], axis=0).max(), 1e-11, "integration at 1e-12")
    balance = abs(later - energy - done + work)
    within("capture benchmark: error of the energy balance, J of 250", balance, 1e-9, "integration at 1e-12")
    within("capture benchmark: motion in the lock, m and rad", held.max(), 1e-11, "integration at 1e-12")
    assert numbers["energy_change"] < 0.0


def test_other_formulation_gives_the_impact_of_the_flexible_version(tmp_path, found, within):
    """Maximal coordinates with quaternions share no solution step with the recursion."""
    for name in ("rigid", "flexible"):
        (tmp_path / f"{name}.toml").write_text((FOLDER / f"{name}.toml").read_text())
    spec = tmp_path / "flexible.toml"
    text = spec.read_text().replace('include = ["rigid.toml"]', 'include = ["rigid.toml"]\nformulation = "quaternion"')
    spec.write_text(text + '\n[solver]\nmethod = "radau5"\n')
    run.build(os.environ["GRAPPLE"], tmp_path, ["flexible"], tmp_path)
    other = run.results(tmp_path, "flexible", 16.05, 1e-8)
    names = [name for name in other if name.startswith("capture.")]
    off = max(abs(other[name][0] - found["flexible"][name][0]) / other[name][2] for name in names)
    within("capture benchmark, flexible: impact in two formulations, of scales", off, 1e-6, "integration at 1e-8")


def test_study_gives_the_numbers_of_the_page(tmp_path, monkeypatch):
    """Of the capture, with one bending mode and with exact sensors."""
    for name, value in {"STOP_TIME": 17.0, "MODES": (1,), "SEEDS": 2, "SHOWN": ("capture.time", "capture.impulse")}.items():
        monkeypatch.setattr(study, name, value)
    for heading, *short in tables(study.study(os.environ["GRAPPLE"], tmp_path)):
        shown = {row[0]: row for row in rows(heading[0])}
        assert len(short) == 2 and all(row[:3] == shown[row[0]][:3] for row in short)


def test_segments_have_the_frequency_of_the_clamped_beam(within):
    """The error of a wing's first frequency is of order 2 in the length of the segments."""
    errors = []
    for n in (8, 16):
        problem = segments.Segmented(n)
        engine = engines.with_mujoco.Model(problem, problem.links)
        engine.forward()
        model, beam = engine.model, problem.beams["left_wing"]
        joints = [k for k, body in enumerate(model.jnt_bodyid) if model.body(body).name.startswith("left_wing_")]
        assert len(joints) == 3 * n
        dofs, stiffness = model.jnt_dofadr[joints], np.diag(model.jnt_stiffness.reshape(model.njnt, -1)[joints, 0])
        squares = np.linalg.eigvals(np.linalg.solve(engine.mass_matrix()[np.ix_(dofs, dofs)], stiffness)).real
        exact = segments.FIRST**2 / beam["length"] ** 2 * np.sqrt(beam["EI"] / beam["mass_per_length"])
        errors.append(abs(np.sqrt(squares.min()) / exact - 1.0))
    within("capture benchmark: first frequency of a wing of 16 segments, relative", errors[1], 1e-3, "0.23/16²")
    assert abs(np.log2(errors[0] / errors[1]) - 2.0) < 0.1


def numbers(cell):
    """Returns the numbers of a cell of the page; fractions are computed."""
    found = re.findall(r"-?\d+(?:\.\d+)?(?:/\d+)?(?:·10\S+)?", cell.replace("−", "-"))
    powers = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
    return [eval(re.sub(r"·10(\S+)", lambda m: f"e{m[1].translate(powers)}", number)) for number in found]


def rows(heading):
    """Returns the rows of the page's table whose first cell is `heading`."""
    return next(rows[1:] for rows in tables(PAGE.read_text(encoding="utf-8")) if rows[0][0] == heading)


def test_the_page_states_the_numbers_of_the_specs():
    rigid, flexible = (tomllib.loads((FOLDER / f"{name}.toml").read_text()) for name in ("rigid", "flexible"))
    of = lambda cell: re.findall(r"`(\w+)`", cell.replace("`_", "`wheel_" if "wheel" in cell else "`"))
    for cell, mass, centre, inertia in rows("body"):
        for name in of(cell):
            body = rigid["wheel"].get(name) or rigid["body"][name]
            assert numbers(mass) == [body["mass"]] and numbers(centre) == body.get("mass_centre", [0, 0, 0])
            shown = [*numbers(inertia), 0.0][:6] if name == "target" else numbers(inertia)
            own = body["inertia"] if name not in rigid["wheel"] else [body["inertia"], body["transverse_inertia"]]
            assert np.allclose(shown[: len(own)], own, rtol=1e-15), name
    joints = {joint["child"]: (name, joint) for name, joint in rigid["joint"].items()}
    for cell, parent, child, origin, axis, rotor, kp, kd in rows("joint"):
        for body in of(child):
            if body in rigid["wheel"]:
                continue
            name, joint = joints[body]
            assert [joint["parent"]] == of(parent) and numbers(origin) == joint.get("origin", [0, 0, 0])
            assert numbers(cell)[:1] == ([joint["rpy_deg"][2]] if "rpy_deg" in joint else numbers(cell)[:1])
            if joint["type"] == "revolute":
                assert name in cell and "xyz".index(axis) == np.argmax(joint["axis"])
                assert [*numbers(rotor), *numbers(kp), *numbers(kd)] == [joint["rotor_inertia"], *joint["servo"].values()]
    names = [name for name, joint in rigid["joint"].items() if joint["type"] == "revolute"]
    for (label, *cells), field in zip(rows("joint 1 to 6"), ("offset", "amplitude")):
        assert [numbers(cell)[0] for cell in cells] == [rigid["signal"][f"{name}.q_ref"][field] for name in names], label
    fields = "length", "mass_per_length", "polar_inertia_per_length", "EI", "GJ", "damping_ratio"
    for cell, *shown in rows("beam"):
        for name in of(cell) or ["left_wing", "right_wing"]:
            beam, body = flexible["body"][name]["beam"], rigid["body"][name]
            assert [numbers(number)[0] for number in shown] == [beam[field] for field in fields]
            assert body["mass"] == pytest.approx(beam["mass_per_length"] * beam["length"], rel=1e-15)
            assert body["inertia"][1] == pytest.approx(body["mass"] * beam["length"] ** 2 / 12, rel=1e-15)


def test_controller_of_the_sampled_version_has_the_gains_of_the_servos():
    rigid, control = (tomllib.loads((FOLDER / f"{name}.toml").read_text()) for name in ("rigid", "controller"))
    control = control["controller"]
    assert control["joint"] == {name: joint["servo"] for name, joint in rigid["joint"].items() if "servo" in joint}
    servo, attitude = rigid["body"]["bus"]["attitude_servo"], control["attitude"]["bus"]
    assert [servo[k] for k in ("kp", "kd")] == [attitude[k] for k in ("kp", "kd")]
    assert {name: wheel["axis"] for name, wheel in rigid["wheel"].items()} == {n: w["axis"] for n, w in attitude["wheel"].items()}
    assert control["sample_time"] == run.SAMPLE_TIME


def test_couple_connects_controller_and_plant(folder, tmp_path):
    ssp = tmp_path / "sampled.ssp"
    output = grapple("couple", FOLDER / "sampled.toml", FOLDER / "controller.toml", "--output", ssp).stdout
    assert ssp.is_file() and "wheel_x.tau" in output
