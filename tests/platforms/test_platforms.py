"""The libraries of scripts/libraries, run: results and saved states are equal bit for bit on Linux on x86-64 and on
arm64 (under qemu) and on Windows (under Wine). Libraries for macOS are inspected only.

    scripts/try-libraries
"""

import csv
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as xml
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).parent
FOLDERS = [ROOT / "examples", ROOT / "examples" / "contacts"]
EXAMPLES = [*(path for folder in FOLDERS for path in sorted(folder.glob("*.toml"))), HERE / "in_contact.toml"]
GRAPPLE = os.environ["GRAPPLE"]

# For each platform the compiler's target, the name of a program, and the command that runs it.
PLATFORMS = {
    "linux64": ("x86_64-linux-gnu.2.17", "host", []),
    "aarch64-linux": ("aarch64-linux-gnu.2.17", "host", ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"]),
    "win64": ("x86_64-windows-gnu", "host.exe", ["wine"]),
}
OTHERS = ["aarch64-linux", "win64"]
SUFFIXES = {"linux64": ".so", "aarch64-linux": ".so", "win64": ".dll"}
# Number of communication steps of a run; emulation is slow.
STEPS = 24


def compile_c(target, source, output, *options):
    # Without fused multiply-add, which arm64 has and plain x86-64 has not.
    exact = ["-O2", "-ffp-contract=off"]
    command = [sys.executable, "-m", "ziglang", "cc", *exact, "-target", target, "-o", output, source, *options]
    subprocess.run([str(part) for part in command], check=True)


@pytest.fixture(scope="session")
def hosts(tmp_path_factory):
    """Returns the program that runs a library, for each platform."""
    programs = {}
    for platform, (target, name, _) in PLATFORMS.items():
        folder = tmp_path_factory.mktemp(platform)
        programs[platform] = folder / name
        compile_c(target, HERE / "host.c", folder / name, *([] if platform == "win64" else ["-ldl"]))
        if platform == "win64":
            compile_c(target, HERE / "prng.c", folder / "bcryptprimitives.dll", "-shared")
    return programs


class Unpacked:
    """FMU of an example, for every platform, unpacked."""

    def __init__(self, example, folder):
        archive = folder / "example.fmu"
        subprocess.run([GRAPPLE, "build", str(example), "-o", str(archive)], check=True, stdout=subprocess.DEVNULL)
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(folder)
        description = xml.parse(folder / "modelDescription.xml").getroot()
        self.folder = folder
        self.guid = description.get("guid")
        self.identifier = description.find("CoSimulation").get("modelIdentifier")
        variables = description.find("ModelVariables")
        outputs = [v.get("valueReference") for v in variables if v.get("causality") == "output" and v.find("Real") is not None]
        states = len(description.findall("ModelStructure/Derivatives/Unknown"))
        indicators = description.get("numberOfEventIndicators") or "0"
        self.stop = float(description.find("DefaultExperiment").get("stopTime"))
        self.plan = folder / "plan.txt"
        self.rest = f"{STEPS} {states} {indicators} {len(outputs)}\n" + "\n".join(outputs) + "\n"
        self.plan_until(self.stop)

    def plan_until(self, stop):
        self.plan.write_text(f"{stop} {self.rest}")

    def run(self, hosts, platform, *options):
        """Returns the printed lines of a run."""
        done = self.attempt(hosts, platform, *options)
        assert done.returncode == 0, done.stderr
        return done.stdout.replace("\r", "").splitlines()

    def attempt(self, hosts, platform, *options):
        _, _, emulator = PLATFORMS[platform]
        name = (lambda path: f"Z:{path}") if platform == "win64" else str
        library = self.folder / "binaries" / platform / (self.identifier + SUFFIXES[platform])
        resources = ("file:///Z:" if platform == "win64" else "file://") + str(self.folder / "resources")
        command = [*emulator, hosts[platform], name(library), self.guid, resources, name(self.plan), *options]
        environment = {**os.environ, "WINEDEBUG": "-all"}
        return subprocess.run(command, capture_output=True, text=True, env=environment)


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda path: path.stem)
def unpacked(request, tmp_path_factory):
    return Unpacked(request.param, tmp_path_factory.mktemp(request.param.stem))


@pytest.mark.parametrize("interface", ["cs", "me"])
def test_results_and_states_are_the_same_bits(unpacked, hosts, interface):
    if interface == "me":
        # The host's method is explicit: stiff models need short steps, hence a short run.
        spans = (unpacked.stop / 10**k for k in range(7))
        for span in spans:
            unpacked.plan_until(span)
            if unpacked.attempt(hosts, "linux64", interface).returncode == 0:
                break
    else:
        unpacked.plan_until(unpacked.stop)
    expected = unpacked.run(hosts, "linux64", interface)
    assert len(expected) > STEPS
    for platform in OTHERS:
        found = unpacked.run(hosts, platform, interface)
        differ = [i for i, lines in enumerate(zip(expected, found)) if lines[0] != lines[1]]
        assert len(found) == len(expected) and not differ, f"{platform}: lines {differ[:3]} of {len(expected)}"


def test_the_state_in_contact_is_saved_in_it(tmp_path):
    table = tmp_path / "run.csv"
    subprocess.run([GRAPPLE, "simulate", HERE / "in_contact.toml", "--no-page", "--output", table], check=True)
    with open(table) as file:
        gaps = [float(row["floor.gap [m]"]) for row in csv.DictReader(file)]
    assert len(gaps) == 41 and max(gaps) < -5e-5


def test_a_state_saved_on_one_platform_is_continued_on_another(unpacked, hosts):
    unpacked.plan_until(unpacked.stop)
    state = unpacked.folder / "state"
    run = unpacked.run(hosts, "linux64", "cs", str(state), "save")
    expected = run[run.index("restored") :]
    for platform in OTHERS:
        path = f"Z:{state}" if platform == "win64" else str(state)
        continued = unpacked.run(hosts, platform, "cs", path, "restore")
        assert continued[continued.index("restored") :] == expected, platform
