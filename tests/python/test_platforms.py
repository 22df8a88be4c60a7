"""Libraries of other systems, compiled by Zig with empty FMI functions: which are packed, and which are refused."""

import re
import subprocess
import sys
import zipfile

import pytest

from conftest import EXAMPLES
from fmu import grapple

pytest.importorskip("ziglang", reason="scripts/libraries brings it")

TWO_LINK = next(path for path in EXAMPLES if path.stem == "two_link")

TARGETS = {
    "linux64": "x86_64-linux-gnu.2.17",
    "linux-arm64": "aarch64-linux-gnu.2.17",
    "linux32": "x86-linux-gnu.2.17",
    "win64": "x86_64-windows-gnu",
    "win32": "x86-windows-gnu",
    "mac-intel": "x86_64-macos",
    "mac-arm64": "aarch64-macos",
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """Returns the path of a library for each target, and of a universal library for both Macs."""
    folder = tmp_path_factory.mktemp("libraries")
    inspection = (EXAMPLES[0].parents[1] / "fmu-build/src/binary.rs").read_text()
    functions = sorted(set(re.findall(r'"(fmi[23][A-Z]\w+)"', inspection)))
    assert len(functions) == 119, functions
    source = folder / "functions.c"
    # No C library is used, so that none has to be built.
    export = (
        "#ifdef _WIN32\n#define EXPORT __declspec(dllexport)\n"
        "int __stdcall DllMainCRTStartup(void *module, unsigned long why, void *reserved) { return 1; }\n"
        "#else\n#define EXPORT\n#endif\n"
    )
    source.write_text(export + "".join(f"EXPORT int {name}(void) {{ return 3; }}\n" for name in functions))
    made = {}
    for name, target in TARGETS.items():
        made[name] = folder / f"{name}.library"
        command = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-shared", "-nostdlib", "-o", made[name], source]
        subprocess.run(command, check=True, cwd=folder)
    made["universal"] = folder / "universal.library"
    script = EXAMPLES[0].parents[1] / "scripts/universal.py"
    subprocess.run([sys.executable, script, made["mac-intel"], made["mac-arm64"], made["universal"]], check=True)
    return made


def build(libraries, tmp_path, *options, check=True):
    given = [option for platform, name in options for option in ("--binary", f"{platform}={libraries[name]}")]
    return grapple("build", TWO_LINK, "--output", tmp_path / "two_link.fmu", *given, check=check)


@pytest.mark.parametrize(
    "platform, name, found",
    [
        ("linux64", "win64", "64-bit PE (Windows) for x86-64"),
        ("linux64", "universal", "64-bit Mach-O (macOS) for x86-64"),
        ("linux64", "linux-arm64", "64-bit ELF (Linux) for arm64"),
        ("linux64", "linux32", "32-bit ELF (Linux) for x86"),
        ("linux32", "linux64", "64-bit ELF (Linux) for x86-64"),
        ("win64", "linux64", "64-bit ELF (Linux) for x86-64"),
        ("win64", "win32", "32-bit PE (Windows) for x86"),
        ("win64", "mac-intel", "64-bit Mach-O (macOS) for x86-64"),
        ("win32", "win64", "64-bit PE (Windows) for x86-64"),
        ("darwin64", "linux64", "64-bit ELF (Linux) for x86-64"),
        ("darwin64", "win64", "64-bit PE (Windows) for x86-64"),
    ],
)
def test_a_library_for_another_platform_is_refused_with_what_it_is(platform, name, found, libraries, tmp_path):
    run = build(libraries, tmp_path, (platform, name), check=False)
    said = " ".join(run.stderr.replace("│", " ").split())
    assert run.returncode == 1 and found in said and platform in said, run.stderr
    assert f"{name}.library" in said, said
    assert not (tmp_path / "two_link.fmu").exists()


def test_one_archive_serves_every_platform(libraries, tmp_path):
    options = [("win64", "win64"), ("win32", "win32"), ("linux32", "linux32"), ("darwin64", "universal")]
    told = build(libraries, tmp_path, *options).stdout
    with zipfile.ZipFile(tmp_path / "two_link.fmu") as archive:
        packed = {name: archive.read(name) for name in archive.namelist() if name.startswith("binaries/")}
    assert packed.keys() > {
        "binaries/win64/two_link.dll",
        "binaries/win32/two_link.dll",
        "binaries/linux32/two_link.so",
        "binaries/darwin64/two_link.dylib",
    }
    assert packed["binaries/darwin64/two_link.dylib"] == libraries["universal"].read_bytes()
    assert "only (a universal" not in told, told


@pytest.mark.parametrize("name, machine", [("mac-intel", "x86-64"), ("mac-arm64", "arm64")])
def test_a_library_for_one_kind_of_mac_is_packed_and_said_to_be_that(name, machine, libraries, tmp_path):
    told = build(libraries, tmp_path, ("darwin64", name)).stdout
    assert f"for {machine} only" in " ".join(told.split()), told


def test_arm64_linux_has_a_folder_of_its_own_or_that_of_linux64(libraries, tmp_path):
    binary = ("aarch64-linux", "linux-arm64")
    for option, folder in (([], "aarch64-linux"), (["--arm64-in-linux64"], "linux64")):
        options = ["--binary", f"{binary[0]}={libraries[binary[1]]}", *option]
        told = grapple("build", TWO_LINK, "--output", tmp_path / "two_link.fmu", "--platform", "aarch64-linux", *options).stdout
        with zipfile.ZipFile(tmp_path / "two_link.fmu") as archive:
            packed = {name: archive.read(name) for name in archive.namelist() if name.startswith("binaries/")}
        assert packed == {f"binaries/{folder}/two_link.so": libraries["linux-arm64"].read_bytes()}, told


def test_a_platform_without_library_is_refused_with_those_that_have_one(tmp_path):
    run = grapple("build", TWO_LINK, "--output", tmp_path / "two_link.fmu", "--platform", "linux64,linux32", check=False)
    said = " ".join(run.stderr.replace("│", " ").split())
    assert run.returncode == 1 and "no library for linux32" in said and "linux64" in said, run.stderr
    assert not (tmp_path / "two_link.fmu").exists()
