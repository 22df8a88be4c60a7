"""Every command in the help of a verb is run, in a folder (also its HOME) with the files that it names."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import airo_models
import pytest

from fmu import grapple

ROOT = Path(__file__).resolve().parents[2]

# Commands that need libraries of another platform or of an old system.
NOT_HERE = ("win64=", "old_glibc/")

BUS = """
name = "bus"
[body.bus]
mass = 400.0
inertia = [60.0, 70.0, 80.0]
[frame.port]
body = "bus"
"""

STUDY = """
model = "my_arm.toml"
runs = 10
[dispersion."forearm.mass"]
uniform = [1.0, 2.0]
[output]
"elbow.q" = ["final"]
"""

IDENTIFICATION = """
model = "my_arm.toml"
data = "run.csv"
[parameter."elbow.q_start"]
guess = 0.1
"""


def verbs():
    listed = grapple("--help").stdout.split("Commands:\n")[1].split("\n\n")[0]
    return [verb for verb in re.findall(r"^  (\w+) ", listed, re.MULTILINE) if verb != "help"]


def examples(verb):
    """Returns the commands in a verb's help, without their descriptions."""
    lines = re.findall(rf"^  (grapple {verb} .*)$", grapple(verb, "--help").stdout, re.MULTILINE)
    assert all(len(line) <= 78 for line in lines), f"{verb}: help breaks in a window of 80 columns"
    return [re.split(r"\s{2,}", line)[0] for line in lines]


EXAMPLES = [command for verb in verbs() for command in examples(verb)] if "GRAPPLE" in os.environ else []


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a spec from a template, a spacecraft and its controller as specs and as FMUs,
    results of runs, an identification, and a robot as URDF."""
    folder = tmp_path_factory.mktemp("files")
    grapple("new", folder / "my_arm")
    for name, example in (("arm", "servoed_arm"), ("arm_controller", "arm_controller"), ("controller", "arm_controller"), ("bricard", "bricard")):
        shutil.copy(ROOT / "examples" / f"{example}.toml", folder / f"{name}.toml")
    shutil.copy(ROOT / "examples/coupling/held_payload.toml", folder)
    shutil.copy(ROOT / "examples/assembly/approach.toml", folder)
    grapple("split", folder / "held_payload.toml", "--at", "gripper", "-o", folder)
    for part in ("carrier", "carried"):
        (folder / f"held_payload_{part}.toml").rename(folder / f"{part}.toml")
    for name in ("my_arm", "arm", "controller"):
        grapple("build", folder / f"{name}.toml", "--output", folder / f"{name}.fmu")
    grapple("couple", folder / "arm.toml", folder / "arm_controller.toml", "-o", folder / "loop.ssp")
    for model, table in (("my_arm.toml", "run.csv"), ("my_arm.toml", "a.parquet"), ("my_arm.toml", "b.csv"), ("loop.ssp", "loop.csv")):
        grapple("simulate", folder / model, "--stop-time", 0.1, "--no-page", "-o", folder / table)
    shutil.copy(airo_models.get_urdf_path("ur5e"), folder / "arm.urdf")
    (folder / "docking.toml").write_text(STUDY, encoding="utf-8")
    (folder / "bus.toml").write_text(BUS, encoding="utf-8")
    (folder / "payload.toml").write_text(IDENTIFICATION, encoding="utf-8")
    for name in ("out", ".zfunc", ".config/fish/completions", ".local/share/bash-completion/completions"):
        (folder / name).mkdir(parents=True)
    return folder


@pytest.mark.parametrize("command", EXAMPLES)
def test_a_command_of_the_help_runs(command, files, tmp_path):
    if any(words in command for words in NOT_HERE):
        pytest.skip("it needs a library of another platform")
    folder = tmp_path / "folder"

    def not_named(_, names):
        return [name for name in names if name.endswith((".fmu", ".ssp")) and name not in command]

    shutil.copytree(files, folder, ignore=not_named)
    if " new " in command or " import " in command:
        for name in ("my_arm.toml", "arm.toml"):
            (folder / name).unlink()
    if " check " in command:
        for name in ("docking.toml", "payload.toml"):
            (folder / name).unlink()  # a study and an identification, which `check` would refuse as specs
    tool = Path(os.environ["GRAPPLE"]).resolve().parent
    environment = {**os.environ, "HOME": str(folder), "PATH": f"{tool}{os.pathsep}{os.environ['PATH']}"}
    run = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], cwd=folder, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, f"{command}\n{run.stdout}{run.stderr}"


def test_every_verb_has_an_example():
    assert {command.split()[1] for command in EXAMPLES} == set(verbs())
    assert len(EXAMPLES) > 25
