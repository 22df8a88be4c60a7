"""`grapple split`: one spacecraft in two FMUs, by grasp and joint, against the whole; the limits that
it states against a search over steps; and its errors."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from pages import figures, judge_figure, judge_page
from programs import program

from fmu import grapple

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "split.md"

study = program("coupling/split")
# Two steps show the order; with GRAPPLE_LONG the study has all steps of the page.
STEPS = study.STEPS if "GRAPPLE_LONG" in os.environ else study.STEPS[:2]
TEXT = (ROOT / "examples/coupling/held_payload.toml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("split")


@pytest.fixture(scope="module")
def tables(directory):
    return study.study(os.environ["GRAPPLE"], directory, STEPS)


def rows(text, number):
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.split("\n\n")[number].splitlines()[2:]]


def test_two_parts_converge_to_the_whole_at_the_order_of_the_wrench(tables, within):
    for row in rows(tables, 0)[1:]:
        for cell, order in zip(row[2::2], (1, 1, 2, 2)):
            within("order of the coupled parts, off one and two", abs(float(cell) - order), 0.1, "the next power of the step")


def test_a_held_wrench_diverges_where_the_tool_says_so_and_a_linear_one_converges(tables):
    parallel, held, extrapolated, iterated = rows(tables, 2)
    for row in (parallel, held):
        assert float(row[1]) < 1e3 * study.BEYOND and row[2] == "diverges"
    assert float(iterated[2]) < float(extrapolated[2]) < 1e-4


def test_the_page_shows_what_the_study_writes(tables, directory):
    assert judge_page(PAGE, tables, whole=STEPS == study.STEPS) == 3
    judge_figure(directory / "split.svg")
    (shown,) = figures(PAGE)
    assert shown.is_file() and shown.name == "split.svg"


def at_rest(damping=1.0):
    """The example without a manoeuvre; the payload starts a little off."""
    text = re.sub(r"(amplitude = )[-0-9.]+", r"\g<1>0.0", TEXT).replace("[4.8, 0.0, 0.0]", "[4.8, 1e-6, 1e-6]")
    return re.sub(r"(?m)^((?:angular_)?damping = )([0-9.]+)", lambda found: f"{found[1]}{damping * float(found[2]):g}", text)


@pytest.fixture(scope="module", params=[1.0, 0.05])
def resting(directory, request):
    """The parts of the example at rest with a factor on its damping, and the limits of their steps."""
    key = f"rest_{request.param:g}".replace(".", "_")
    text = at_rest(request.param).replace('"held_payload"', f'"{key}"')
    _, parts, limits = study.divide(os.environ["GRAPPLE"], key, text, directory)
    return parts, limits


@pytest.mark.parametrize("way", ["parallel", "held"])
def test_longest_stable_step_is_that_of_a_search_over_steps(resting, way):
    parts, limits = resting
    limit = limits[("parallel", "held").index(way)]

    def grows(h):
        with study.Instance(parts[0], tolerance=1e-9) as carrier, study.Instance(parts[1], tolerance=1e-9) as carried:
            coupled = study.Parts(carrier, carried)
            sizes = []
            for k in range(300):
                getattr(coupled, way)(k * h, h)
                sizes.append(np.abs(coupled.wrench).max())
                if sizes[-1] > 1e3:
                    return True
            return max(sizes[-50:]) > max(sizes[150:200])

    assert not grows(0.98 * limit) and grows(1.02 * limit)


def test_a_cut_at_a_joint_divides_its_child_and_converges_to_the_whole_as_it_becomes_stiff(directory, within):
    """The interface between two halves of the forearm moves them apart by less for a higher frequency:
    the error falls with its square."""
    fmu = study.build(os.environ["GRAPPLE"], "joint", TEXT.replace('"held_payload"', '"joint"'), directory)
    expected = study.whole(fmu, 0.48)
    errors = []
    for frequency in (20, 40):
        folder = directory / f"at_{frequency}"
        grapple("split", directory / "joint.toml", "--at", "elbow", "--frequency", frequency, "-o", folder)
        parts = [
            study.build(os.environ["GRAPPLE"], part, (folder / f"{part}.toml").read_text(encoding="utf-8"), folder)
            for part in ("joint_carrier", "joint_carried")
        ]
        found, _ = study.coupled(parts, 0.001, "extrapolated", 0.48, "elbow_cut")
        errors.append(np.abs(found - expected)[:, :3].max())
    ratio = errors[0] / errors[1]
    within("error of a stiff interface, ratio for twice the frequency, off four", abs(ratio - 4.0), 0.6, "the next power")


@pytest.mark.parametrize(
    ("at", "change", "says"),
    [
        ("grip", ("", ""), "gripper"),
        ("shoulder", ('parent = "satellite"', 'parent = "world"'), "world"),
        ("gripper", ("[signal.", '[spring.line]\na = "satellite"\nb = "payload"\nstiffness = 1.0\n\n[signal.'), 'spring "line"'),
        ("gripper", ("angular_damping = 80.0", "angular_damping = 80.0\non = false"), "gripper.on"),
        ("elbow", ("mass = 10.0\nmass_centre = [0.9, 0.0, 0.0]\ninertia = [0.1, 3.0, 3.0]", "[body.forearm.beam]\nlength = 2.0\nmass_per_length = 5.0\nEI = 1e5\npolar_inertia_per_length = 0.01"), "forearm"),
    ],
)
def test_errors_name_what_prevents_the_cut(tmp_path, at, change, says):
    spec = tmp_path / "held.toml"
    spec.write_text(TEXT.replace(*change, 1) if change[0] else TEXT, encoding="utf-8")
    run = grapple("split", spec, "--at", at, "-o", tmp_path, check=False)
    assert run.returncode == 1 and says in run.stderr, run.stderr
    assert not list(tmp_path.glob("*.ssp"))


@pytest.mark.parametrize("at", ["gripper", "elbow"])
def test_a_moving_spacecraft_is_divided_and_starts_relaxed(tmp_path, at):
    """Both parts drift and turn together: the wrench at the start is that of a slow spin only."""
    start = "position = [4.8, 0.0, 0.0], velocity = [0.1, 0.02, 0.0], angular_velocity = [0.0, 0.0, 0.001]"
    text = TEXT.replace("start = { position = [4.8, 0.0, 0.0] }", "start = { " + start.replace("0.02,", "0.0248,") + " }")
    text = text.replace("inertia = [90.0, 90.0, 80.0]", "inertia = [90.0, 90.0, 80.0]\nstart = { velocity = [0.1, 0.02, 0.0], angular_velocity = [0.0, 0.0, 0.001] }")
    spec = tmp_path / "held_payload.toml"
    spec.write_text(text, encoding="utf-8")
    run = grapple("split", spec, "--at", at, "--step", "0.009" if at == "gripper" else "0.001", "-o", tmp_path)
    if at == "gripper":
        assert "gripper is unstable" in run.stderr and "Jacobi" in run.stderr
    grapple("simulate", tmp_path / "held_payload_split.ssp", "--step", "1e-4", "--stop-time", "1e-4", "--no-page", "-o", tmp_path / "run.csv")
    head, first, *_ = (tmp_path / "run.csv").read_text(encoding="utf-8").splitlines()
    values = dict(zip((title.split(" ")[0] for title in head.split(",")), map(float, first.split(","))))
    cut = "gripper" if at == "gripper" else "elbow_cut"
    assert max(abs(values[f"held_payload_carried.{cut}.{name}[{i}]"]) for name in "ft" for i in (1, 2, 3)) < 1e-3


def test_a_cut_at_a_fixed_joint_keeps_start_values_and_signals(tmp_path):
    welded = TEXT[: TEXT.index("[grasp.gripper]")].replace("start = { position = [4.8, 0.0, 0.0] }", "")
    welded += '[joint.weld]\ntype = "fixed"\nparent = "forearm"\nchild = "payload"\norigin = [2.0, 0.0, 0.0]\n'
    welded += '[port.push]\nframe = "payload"\n[signal."push.f[2]"]\ntype = "constant"\namplitude = 3.0\n[input]\n"elbow.tau" = 2.0\n'
    spec = tmp_path / "held_payload.toml"
    spec.write_text(welded, encoding="utf-8")
    grapple("split", spec, "--at", "weld", "--frequency", "30", "-o", tmp_path)
    carrier, carried = ((tmp_path / f"held_payload_{part}.toml").read_text(encoding="utf-8") for part in ("carrier", "carried"))
    assert '"elbow.tau" = 2.0' in carrier and "push" not in carrier and "weld" in carrier
    assert '[signal."push.f[2]"]' in carried and "from_importer = false" in carried and "elbow" not in carried
    ends = []
    for model, name in ((spec, "payload.r[2]"), (tmp_path / "held_payload_split.ssp", "held_payload_carried.payload.r[2]")):
        grapple("simulate", model, "--stop-time", "1", "--step", "0.0005", "--no-page", "-o", tmp_path / "run.csv")
        lines = (tmp_path / "run.csv").read_text(encoding="utf-8").splitlines()
        column = [title.split(" ")[0] for title in lines[0].split(",")].index(name)
        ends.append(float(lines[-1].split(",")[column]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-4) and abs(ends[0]) > 1e-3


def test_couple_warns_of_a_step_beyond_the_limit(tmp_path):
    spec = tmp_path / "held_payload.toml"
    spec.write_text(TEXT, encoding="utf-8")
    grapple("split", spec, "--at", "gripper", "--step", "0.009", "-o", tmp_path)
    parts = [tmp_path / f"held_payload_{part}.toml" for part in ("carried", "carrier")]
    run = grapple("couple", *parts, "-o", tmp_path / "loop.ssp")
    assert "gripper is unstable" in run.stderr and "Jacobi" in run.stderr
    assert "Gauss-Seidel" not in run.stderr


def test_effective_masses_are_outputs_of_both_parts_as_printed(tmp_path, within):
    spec = tmp_path / "held_payload.toml"
    spec.write_text(TEXT, encoding="utf-8")
    grapple("split", spec, "--at", "gripper", "-o", tmp_path)
    parts = [tmp_path / f"held_payload_{part}.toml" for part in ("carrier", "carried")]
    printed = [list(map(float, line.split()[1:])) for line in grapple("margin", *parts).stdout.splitlines() if re.match(r"\s*[xyz] ", line)]
    for column, (part, table) in enumerate(zip(parts, ("port", "interface"))):
        text = part.read_text(encoding="utf-8")
        assert f"[{table}.gripper]\n" in text
        part.write_text(text.replace(f"[{table}.gripper]\n", f"[{table}.gripper]\neffective_mass = true\n"), encoding="utf-8")
        grapple("simulate", part, "--stop-time", "1e-3", "--no-page", "-o", tmp_path / "run.csv")
        head, first, *_ = (tmp_path / "run.csv").read_text(encoding="utf-8").splitlines()
        values = dict(zip((title.split(" ")[0] for title in head.split(",")), map(float, first.split(","))))
        for i, row in enumerate(printed):
            for field, expected in (("mass", row[column]), ("inertia", row[2 + column])):
                found = values[f"gripper.effective_{field}[{i + 1}]"]
                within("effective mass in the FMU, relative to the printed one", abs(found / expected - 1.0), 5e-4, "four printed digits")
