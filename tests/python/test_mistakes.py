"""Mistakes of a first week (mistakes.toml): kind, place and hint of each message, and the table of the messages
in docs/errors.md. GOLDEN=write writes the table."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from fmu import grapple

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/errors.md"
TABLE = re.compile(r"(?<=<!-- mistakes -->\n).*?(?=<!-- end of mistakes -->)", re.DOTALL)
DATA = tomllib.loads((HERE / "mistakes.toml").read_text(encoding="utf-8"))
FILES = DATA["file"]
CODES = {"spec": 1, "study": 1, "run": 1, "usage": 2, "warning": 0, "note": 0}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Files that the tool makes of the good ones, which have no warnings."""
    folder = tmp_path_factory.mktemp("made")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    specs = [folder / f"{name}.toml" for name in ("arm", "control", "servicer", "tanks")]
    for spec in specs:
        assert grapple("check", "--quiet", spec).stderr == "", spec
    grapple("build", specs[0], "-o", folder / "arm.fmu")
    grapple("couple", *specs[:2], "-o", folder / "system.ssp")
    grapple("simulate", specs[0], "--no-page", "-o", folder / "run.csv")
    return {name: (folder / name).read_bytes() for name in ("arm.fmu", "system.ssp", "run.csv")}


def message(run):
    """Returns the text of the report without excerpts and the lists of all options, and the lines
    of files that it names."""
    text = run.stderr.split("\n\nUsage")[0]
    places = set(re.findall(r"\[?([\w.]+:\d+):\d+\]", text))
    text = re.sub(r"^ *╭.*?╰─+", " ", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\[[\w.]+:\d+:\d+\]", "", text)
    return re.sub(r"[\s│×]+", " ", text.replace("For more information, try '--help'.", "")).strip(), places


def report(mistake, made, folder):
    """Returns the finished command of a mistake, its message and the places that it names."""
    # Points of a paraboloid are vertices of their convex hull.
    points = [(k, k % 17, k * k + (k % 17) ** 2) for k in range(mistake.get("vertices", 0))]
    mesh = "".join(f"v {x} {y} {z}\n" for x, y, z in points)
    mesh += "".join(f"f {k} {k + 1} {k + 2}\n" for k in range(1, len(points) - 1))
    meshes = {"hull.obj": mesh} if points else {}
    for name, text in {**FILES, **mistake.get("file", {}), **meshes}.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name, content in made.items():
        (folder / name).write_bytes(content)
    for name, good, bad in (mistake[key] for key in ("edit", "also") if key in mistake):
        text = (folder / name).read_text(encoding="utf-8")
        assert good in text, f"{mistake['what']}: {good!r} is not in {name}"
        (folder / name).write_text(text.replace(good, bad, 1), encoding="utf-8")
    command = [str(Path(os.environ["GRAPPLE"]).resolve()), *mistake["command"].split()]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    if mistake["kind"] == "note":
        lines = [line.strip() for line in run.stdout.splitlines() if mistake["hint"] in line]
        return run, " ".join(lines), set()
    return run, *message(run)


@pytest.fixture(scope="module")
def reports(made, tmp_path_factory):
    return {m["what"]: report(m, made, tmp_path_factory.mktemp("mistake")) for m in DATA["mistake"]}


@pytest.mark.parametrize("mistake", DATA["mistake"], ids=lambda mistake: mistake["what"].replace(" ", "_"))
def test_a_mistake_is_reported_with_its_kind_place_and_hint(mistake, reports):
    run, text, places = reports[mistake["what"]]
    said = f"{mistake['command']}\n{run.stdout}{run.stderr}"
    assert run.returncode == CODES[mistake["kind"]], said
    assert "panicked" not in said
    assert mistake["hint"] in text, said
    if re.fullmatch(r"[\w.]+:\d+", mistake["place"]):
        assert places == {mistake["place"]}, f"{places}\n{said}"
    else:
        assert mistake["place"] in text, said
    assert (mistake["kind"] == "warning") == ("warning: " in text), said


def test_the_page_has_all_mistakes_with_their_messages(reports):
    assert len(reports) == len(DATA["mistake"]) >= 40
    rows = ["| mistake | command | message |", "|---|---|---|"]
    for mistake in DATA["mistake"]:
        _, text, places = reports[mistake["what"]]
        shown = re.sub(r"^[\w.]+: \d+ problems? Error: ", "", text).replace(" Error: ", " … ").replace("|", "\\|")
        at = "".join(f" ({place})" for place in sorted(places))
        rows.append(f"| {mistake['what']} | `grapple {mistake['command']}` | {shown}{at} |")
    table = "\n".join(rows) + "\n"
    page = PAGE.read_text(encoding="utf-8")
    if os.environ.get("GOLDEN") == "write":
        PAGE.write_text(TABLE.sub(lambda _: table, page), encoding="utf-8")
        return
    (shown,) = TABLE.findall(page)
    assert shown == table, "GOLDEN=write writes the table anew"
