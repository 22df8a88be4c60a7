"""Texts and commands of the documentation's pages give the results that the pages show, and links have targets."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import airo_models
import pytest
from pages import judge_page
from programs import program

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "examples").rglob("*.md")])


def blocks(page):
    """Returns the fenced blocks of a page, in order: pairs of language and text."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def named_blocks(page, languages):
    """Returns the files of a page, `{name: text}`: blocks that begin with the name in a comment."""
    pattern = rf"```(?:{languages})\n# (\S+)\n(.*?)^```$"
    return dict(re.findall(pattern, (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))


def shell(commands, folder):
    """Runs command lines, with the tool and this Python on the PATH."""
    path = os.pathsep.join([str(Path(os.environ["GRAPPLE"]).resolve().parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(["bash", "-c", commands], cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True)


def lines(text):
    """Returns the lines of a text without trailing white space, without blank ones."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def test_the_quick_start_runs_as_it_is_written(tmp_path):
    written = named_blocks("quick-start.md", "toml|python")
    assert set(written) == {"my_arm.toml", "control.py"}
    for name, text in written.items():
        (tmp_path / name).write_text(text)
    commands = [text for language, text in blocks("quick-start.md") if language == "sh"]
    assert len(commands) == 2
    outputs = []
    for command in commands:
        run = shell(f"set -e\n{command}", tmp_path)
        assert run.returncode == 0, f"{command}{run.stderr}"
        outputs.append(run.stdout)
    assert "no problems: 3 bodies, 2 joints" in outputs[0]
    assert (tmp_path / "my_arm.html").is_file() and (tmp_path / "my_arm.csv").is_file()
    shown = [text for language, text in blocks("quick-start.md") if language == "text"][-1]
    assert outputs[1] == shown
    momentum = outputs[1].split("momentum ")[1]
    assert abs(float(momentum.split()[0])) < 1e-6


def test_the_plan_on_its_page_is_that_of_the_tool():
    (shown,) = [text for language, text in blocks("plans.md") if language == "text"]
    run = shell("grapple plan examples/assembly/approach.toml", ROOT)
    assert lines(run.stdout) == lines(shown), run.stderr


def test_spec_and_program_of_the_front_page_run(tmp_path):
    """A sine of 0.5 N·m at 1 Hz, starting at zero phase, gives the free arm a mean velocity, so it
    swings to one side."""
    front = blocks("../README.md")
    (spec,), (program,) = [[text for language, text in front if language == wanted] for wanted in ("toml", "python")]
    (tmp_path / "two_link.toml").write_text(spec)
    run = shell("set -e\ngrapple check two_link.toml\ngrapple simulate two_link.toml\ngrapple build two_link.toml", tmp_path)
    assert run.returncode == 0, run.stderr
    rows = (tmp_path / "two_link.csv").read_text().splitlines()
    shoulder = [name.split()[0] for name in rows[0].split(",")].index("shoulder.q")
    assert abs(float(rows[-1].split(",")[shoulder])) > 0.1
    # `native` makes the package of this clone importable, without an installation.
    (tmp_path / "program.py").write_text(f'import native\n\n{program}print(result["shoulder.q"][-1])\n')
    run = shell(f"PYTHONPATH={Path(__file__).parent} python program.py", tmp_path)
    assert run.returncode == 0, run.stderr
    assert float(run.stdout) > 0.1


def test_commands_of_the_front_page_run_as_typed(tmp_path):
    """They are run in their order, in a folder with a robot in URDF, a spec with a frame, and an identification."""
    (typed,) = [text for language, text in blocks("../README.md") if "grapple new my_arm" in text]
    commands = re.findall(r"^(grapple .*?)(?: {2,}#.*)?$", typed, re.MULTILINE)
    assert len(commands) > 15
    shutil.copy(airo_models.get_urdf_path("ur5e"), tmp_path / "arm.urdf")
    bus = '[body.bus]\nmass = 400.0\ninertia = [60.0, 70.0, 80.0]\n[frame.port]\nbody = "bus"\n'
    (tmp_path / "bus.toml").write_text(f'name = "bus"\n{bus}')
    measurement = 'model = "my_arm.toml"\ndata = "my_arm.csv"\n[parameter."elbow.q_start"]\nguess = 0.1\n'
    (tmp_path / "my_measurement.toml").write_text(measurement)
    for command in commands:
        if " import " in command:
            (tmp_path / "arm.toml").unlink(missing_ok=True)
        if "run.csv" in command:
            shutil.copy(tmp_path / "my_arm.csv", tmp_path / "run.csv")
        if " demo" not in command:  # a test of the tool runs it
            run = shell(command, tmp_path)
            assert run.returncode == 0, f"{command}\n{run.stdout}{run.stderr}"


def frequencies(folder):
    """Returns the vibrations of a spacecraft that `linearize` prints: frequency (Hz), and index of
    the mode with the largest share."""
    run = shell("grapple linearize boom.toml", folder)
    assert run.returncode == 0, run.stderr
    rows = re.findall(r"^ +\d+ +(\S+) +\S+ +stable +boom\.eta\[(\d+)\]", run.stdout, re.MULTILINE)
    return [(float(frequency), int(mode)) for frequency, mode in rows]


def test_the_page_on_flexible_links_has_the_frequencies_of_its_boom(tmp_path):
    page = "flexible-links.md"
    spec = named_blocks(page, "toml")["boom.toml"]
    (tmp_path / "boom.toml").write_text(spec)
    (commands,) = [text for language, text in blocks(page) if language == "sh"]
    run = shell(f"set -e\n{commands}", tmp_path)
    assert run.returncode == 0, run.stderr
    (shown,) = [text for language, text in blocks(page) if language == "text"]
    checked = lines(run.stdout)[: len(lines(shown))]
    assert lines(shown)[:-1] == checked[:-1]
    # The speed is measured.
    assert lines(shown)[-1].rpartition(": ")[0] == checked[-1].rpartition(": ")[0]

    (load,) = [text for language, text in blocks(page) if language == "toml" and text.startswith("boundary")]
    table = re.findall(r"^\| (\d), (\d)( with the tip's load)? \| (.*) \|$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert len(table) == 5
    for bending, torsion, loaded, cells in table:
        text = spec.replace("bending = 2 ", f"bending = {bending} ").replace("torsion = 1", f"torsion = {torsion}")
        (tmp_path / "boom.toml").write_text(text.replace("damping_ratio", f"{load}damping_ratio") if loaded else text)
        found = frequencies(tmp_path)
        twisting = 2 * int(bending) + 1  # index of the first torsion mode, after those of bending
        bent = [frequency for frequency, mode in found if mode < twisting]
        (*expected, twist) = cells.split(" | ")
        for told, frequency in zip(expected, bent):
            assert told == f"{frequency:.4f}"
        assert all(told == "–" for told in expected[len(bent) :])
        assert twist == f"{next(frequency for frequency, mode in found if mode >= twisting):.4f}"


MISTAKES = [
    pytest.param(spec, message, id=re.search(r"× (.{12,40}?)[\n:;,]", message)[1].replace(" ", "_"))
    for (language, spec), (_, message) in zip(blocks("errors.md"), blocks("errors.md")[1:])
    if language == "toml"
]


@pytest.mark.parametrize("spec, message", MISTAKES)
def test_a_mistake_gives_the_message_that_the_page_shows(spec, message, tmp_path):
    (tmp_path / "craft.toml").write_text(spec)
    run = shell("grapple check craft.toml", tmp_path)
    assert run.returncode == 1
    assert lines(run.stderr) == lines(message)


def test_the_page_on_errors_has_six_mistakes_and_a_run_that_is_refused(tmp_path):
    assert len(MISTAKES) == 6
    (commands,) = [text for language, text in blocks("errors.md") if language == "sh"]
    run = shell(commands, tmp_path)
    assert run.returncode == 1
    assert lines(run.stderr) == lines(blocks("errors.md")[-1][1])


def anchors(page):
    """Returns the anchors by which GitHub's links reach the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"(?<!\[)`[^`]*`(?!\])", "", text)):
        if re.match(r"\w+:", link):
            continue
        path, _, heading = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link}: there is no {target}"
        assert not heading or heading in anchors(target), f"{link}: {sorted(anchors(target))}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_all_rows_of_a_table_have_its_columns(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for table in re.findall(r"(?:^\|.*\|[ ]*\n)+", text, re.MULTILINE):
        columns = [len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()]
        assert len(set(columns)) == 1, table


def test_the_page_on_limits_has_the_deflections_of_its_program(tmp_path):
    assert judge_page(DOCS / "limits.md", program("deflection").study(os.environ["GRAPPLE"], tmp_path)) == 1


def test_the_page_of_examples_leads_to_every_spec():
    linked = set(re.findall(r"\]\((\w+\.toml)\)", (ROOT / "examples/README.md").read_text(encoding="utf-8")))
    assert linked == {path.name for path in (ROOT / "examples").glob("*.toml")}


def test_the_index_leads_to_every_page():
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    linked = {(DOCS / link).resolve() for link in re.findall(r"\]\(([^)#:\s]+)", index)}
    theory = {page.resolve() for page in (DOCS / "theory").glob("*.md")}
    missing = {page.resolve() for page in DOCS.rglob("*.md")} - linked - theory - {DOCS.resolve() / "README.md"}
    assert not missing, sorted(page.name for page in missing)
