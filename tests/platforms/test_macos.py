"""The library of scripts/libraries for macOS, which nothing here can run, is inspected: processors, oldest system,
libraries that it links, exported functions, signature.

    scripts/try-libraries

So is the tool in the wheel for macOS, if scripts/wheel has built it: scripts/try-wheels.
"""

import hashlib
import os
import pathlib
import re
import struct
import zipfile

import pytest

from macho import PROCESSORS, images

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROGRAM, LIBRARY, MACOS = 2, 6, 1
AD_HOC, SHA256 = 0x2, 2


@pytest.fixture(scope="module", params=["library", "tool"])
def made(request, tmp_path_factory):
    """Returns the kind of a file, and its images by the name of their processor."""
    if request.param == "library":
        return LIBRARY, images(TARGET / "libraries/darwin64/grapple.dylib")
    wheels = list((TARGET / "wheels").glob("*macosx*universal2.whl"))
    if not wheels:
        pytest.skip("scripts/wheel has not been run")
    (wheel,) = wheels
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("/scripts/grapple")]
        return PROGRAM, images(pathlib.Path(archive.extract(name, tmp_path_factory.mktemp("tool"))))


def test_both_processors_of_macs_are_there(made):
    kind, found = made
    assert found.keys() == PROCESSORS.keys()
    assert {image.kind for image in found.values()} == {kind}


@pytest.mark.parametrize("processor", PROCESSORS)
def test_macos_11_is_the_oldest_system(made, processor):
    assert made[1][processor].build_version() == (MACOS, (11, 0))


@pytest.mark.parametrize("processor", PROCESSORS)
def test_only_the_c_library_of_the_system_is_linked(made, processor):
    assert made[1][processor].linked() == [("needs", "/usr/lib/libSystem.B.dylib")]


@pytest.mark.parametrize("processor", PROCESSORS)
def test_the_library_exports_all_functions_of_fmi(made, processor):
    kind, found = made
    if kind != LIBRARY:
        pytest.skip("a program")
    binding = "".join(path.read_text() for path in (ROOT / "src/fmu/c_abi").glob("*.rs"))
    functions = {f"_{name}" for name in re.findall(r"\bfn (fmi2[A-Z]\w+)", binding)}
    assert len(functions) == 44
    exported = set(found[processor].exported())
    assert functions <= exported
    # Zig's linker ignores the list of symbols to export: these four are exported as well.
    others = {name for name in exported - functions if not name.endswith("9panicking11EMPTY_PANIC")}
    assert others <= {"___dso_handle", "__mh_dylib_header", "_rust_eh_personality"}


def test_the_image_for_arm64_is_signed_ad_hoc(made):
    """Macs with Apple's processors load nothing without a signature, or with pages changed after it."""
    image = made[1]["arm64"]
    directory, signed = image.code_directory()
    flags, hashes, _, _, pages, limit = struct.unpack_from(">6I", directory, 12)
    hash_size, hash_type, _, page_bits = struct.unpack_from(">4B", directory, 36)
    assert flags & AD_HOC and hash_type == SHA256 and hash_size == 32 and limit == signed
    page = 1 << page_bits
    assert pages == -(-limit // page)
    for i in range(pages):
        expected = directory[hashes + 32 * i : hashes + 32 * (i + 1)]
        assert hashlib.sha256(image.data[page * i : min(page * (i + 1), limit)]).digest() == expected, f"page {i}"
