"""The tools of scripts/wheel, run: on Linux on x86-64 and on arm64 (under qemu) and on Windows (under Wine) the same command
leaves the same bytes, in CSV, Parquet, the tables of campaigns and FMUs.

    scripts/try-wheels
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
WHEELS = TARGET / "wheels"

# For each platform Rust's target, the name of the tool, and the command that runs it.
PLATFORMS = {
    "linux64": ("x86_64-unknown-linux-gnu", "grapple", []),
    "aarch64-linux": ("aarch64-unknown-linux-gnu", "grapple", ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"]),
    "win64": ("x86_64-pc-windows-gnu", "grapple.exe", ["wine"]),
}
OTHERS = ["aarch64-linux", "win64"]
# Number of steps of a run, and its part of an example's time; emulation is slow, and test_platforms.py runs all of it.
STEPS, PART = 20, 0.1

# Normal distributions with and without bounds, and a uniform one.
CAMPAIGN = """
model = "docking.toml"
runs = 6
seed = 3
[experiment]
stop_time = 6.0
step = 0.1
[dispersion."servicer.v_start[1]"]
normal = { sigma = 0.012, bounds = [0.02, 0.12] }
[dispersion."target.r_start[2]"]
normal = { mean = 0.0, sigma = 0.06 }
[dispersion."target.w_start[3]"]
uniform = [-0.02, 0.02]
[dispersion."boom.EI"]
normal = { sigma = 0.1, bounds = [-0.3, 0.3] }
relative = true
[output]
"latch.gap" = ["min", "final"]
"mount.q[1]" = ["peak", "rms", "mean"]
"system.energy" = ["max"]
"""


@pytest.fixture(scope="session")
def tools(tmp_path_factory):
    """Returns the command of the tool of each platform."""
    commands = {}
    for platform, (target, name, emulator) in PLATFORMS.items():
        folder = tmp_path_factory.mktemp(platform)
        tool = shutil.copy(TARGET / "portable" / target / "release" / name, folder)
        commands[platform] = [*emulator, str(tool)]
        if platform == "win64":
            compiler = [sys.executable, "-m", "ziglang", "cc", "-O2", "-target", "x86_64-windows-gnu", "-shared"]
            source = pathlib.Path(__file__).parent / "prng.c"
            subprocess.run([*compiler, "-o", folder / "bcryptprimitives.dll", source], check=True)
    return commands


def run(tools, platform, folder, *arguments):
    """Runs the tool in a folder; returns the finished process."""
    environment = {**os.environ, "WINEDEBUG": "-all"}
    return subprocess.run([*tools[platform], *arguments], cwd=folder, capture_output=True, env=environment)


def results(tools, platform, folder, inputs, *commands):
    """Runs commands in a new folder with these input files. Returns the printed texts, without the speed of a run and
    with / in paths, and the files that the commands leave.
    """
    folder = folder / platform
    folder.mkdir()
    for path in inputs:
        shutil.copytree(path, folder / path.name) if path.is_dir() else shutil.copy(path, folder)
    given = {path for path in folder.rglob("*") if path.is_file()}
    printed = []
    for command in commands:
        done = run(tools, platform, folder, *command)
        assert done.returncode == 0, f"{platform}: {done.stderr.decode()}"
        printed.append(re.sub(rb"; \S+ times real time", b"", done.stdout).replace(b"\\", b"/"))
    left = {path for path in folder.rglob("*") if path.is_file()} - given
    return printed, {path.relative_to(folder).as_posix(): path.read_bytes() for path in left}


def compare(tools, tmp_path, inputs, *commands, but=()):
    """Asserts that the commands print the same texts and leave the same bytes on all platforms, but for the files `but`;
    returns the files.
    """
    expected = results(tools, "linux64", tmp_path, inputs, *commands)
    for platform in OTHERS:
        printed, files = results(tools, platform, tmp_path, inputs, *commands)
        assert printed == expected[0], platform
        assert files.keys() == expected[1].keys(), platform
        differ = [name for name in files if name not in but and files[name] != expected[1][name]]
        assert not differ, f"{platform}: {differ}"
    return expected[1]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_tables_are_the_same_bytes(tools, tmp_path, example):
    name = example.name
    with open(example, "rb") as file:
        stop = PART * tomllib.load(file)["experiment"]["stop_time"]
    options = [name, "--no-page", "--stop-time", repr(stop), "--step", repr(stop / STEPS)]
    commands = [["simulate", *options, "--output", "run.csv"], ["simulate", *options, "--output", "run.parquet"]]
    inputs = [example, *(path for path in example.parent.iterdir() if path.is_dir() and path.name == example.stem)]
    files = compare(tools, tmp_path, inputs, ["check", name], *commands)
    assert files.keys() == {"run.csv", "run.parquet"}
    assert files["run.csv"].count(b"\n") >= STEPS + 2 and b"\r" not in files["run.csv"]


def test_fmus_are_the_same_bytes_and_run_on_every_platform(tools, tmp_path):
    files = compare(tools, tmp_path, [ROOT / "examples/two_link.toml"], ["build", "two_link.toml"])
    (tmp_path / "two_link.fmu").write_bytes(files["two_link.fmu"])
    with zipfile.ZipFile(tmp_path / "two_link.fmu") as archive:
        libraries = [name for name in archive.namelist() if name.startswith("binaries/")]
    assert libraries == [
        "binaries/aarch64-linux/two_link.so",
        "binaries/darwin64/two_link.dylib",
        "binaries/linux64/two_link.so",
        "binaries/win64/two_link.dll",
    ]
    (tmp_path / "runs").mkdir()
    compare(tools, tmp_path / "runs", [tmp_path / "two_link.fmu"], ["simulate", "two_link.fmu", "--no-page"])


def test_the_table_of_a_campaign_is_the_same_bytes(tools, tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(CAMPAIGN)
    # The journal has the order in which runs end, study.json a hash of the library.
    but = ["study/runs-0-of-1.jsonl", "study/study.json"]
    inputs = [ROOT / "examples/docking.toml", study]
    files = compare(tools, tmp_path, inputs, ["campaign", "study.toml", "--jobs", "2"], but=but)
    table = files["study/runs.csv"].decode().splitlines()
    assert len(table) == 7 and all(",ok," in row for row in table[1:]), table


@pytest.mark.parametrize("platform", ["manylinux_2_12_x86_64", "manylinux_2_17_i686", "win32", "macosx_10_15_x86_64"])
def test_pip_refuses_the_wheels_on_a_system_that_is_too_old(tmp_path, platform):
    for wheel in WHEELS.glob("*.whl"):
        options = ["--no-deps", "--no-index", "--only-binary", ":all:", "--platform", platform, "--target", tmp_path]
        done = subprocess.run([sys.executable, "-m", "pip", "install", *options, wheel], capture_output=True, text=True)
        assert done.returncode != 0 and f"{wheel.name} is not a supported wheel on this platform" in done.stderr
    assert not list(tmp_path.iterdir())
