"""The library of scripts/libraries for macOS, which nothing here can run, is inspected: processors, oldest system,
libraries that it links, exported functions, signature (`scripts/try-libraries`). So are the tools of
scripts/wheel for macOS (`scripts/try-wheels`), and the extension modules in the wheels.
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
# Numbers of Mach-O and of code signatures: kinds of files, platform, flag, kind of hash.
PROGRAM, LIBRARY, MACOS = 2, 6, 1
AD_HOC, SHA256 = 0x2, 2


def library():
    return images((TARGET / "libraries/darwin64/grapple.dylib").read_bytes())


def tool(processor):
    """Returns the image of the tool for a processor."""
    target = {"arm64": "aarch64", "x86_64": "x86_64"}[processor] + "-apple-darwin"
    found = images((TARGET / "portable" / target / "release/grapple").read_bytes())
    assert found.keys() == {processor}
    return found[processor]


def module(processor):
    """Returns the image of the extension module in the wheel for a processor."""
    (wheel,) = (TARGET / "wheels").glob(f"*-macosx_11_0_{processor}.whl")
    with zipfile.ZipFile(wheel) as archive:
        found = images(archive.read("grapple_fmu/_native.abi3.so"))
    assert found.keys() == {processor}
    return found[processor]


IMAGES = {"library": lambda processor: library()[processor], "tool": tool, "module": module}


@pytest.fixture(scope="module", params=[(kind, name) for kind in IMAGES for name in PROCESSORS], ids="-".join)
def image(request):
    """Returns the image of the library, the tool or the extension module for a processor."""
    kind, processor = request.param
    return IMAGES[kind](processor)


def test_the_library_is_for_both_processors_of_macs():
    assert library().keys() == PROCESSORS.keys()


def test_kind_of_file(image, request):
    assert image.kind == (PROGRAM if "tool" in request.node.name else LIBRARY)


def test_macos_11_is_the_oldest_system(image):
    assert image.build_version() == (MACOS, (11, 0))


def test_only_the_c_library_of_the_system_is_linked(image):
    assert image.linked() == [("needs", "/usr/lib/libSystem.B.dylib")]


@pytest.mark.parametrize("processor", PROCESSORS)
def test_the_library_exports_all_functions_of_fmi(processor):
    inspection = (ROOT / "fmu-build/src/binary.rs").read_text()
    functions = {f"_{name}" for name in re.findall(r'"(fmi[23][A-Z]\w+)"', inspection)}
    assert len(functions) == 119
    exported = set(library()[processor].exported())
    assert functions <= exported
    # Zig's linker ignores the list of symbols to export: these four are exported as well.
    others = {name for name in exported - functions if not name.endswith("9panicking11EMPTY_PANIC")}
    assert others <= {"___dso_handle", "__mh_dylib_header", "_rust_eh_personality"}


@pytest.mark.parametrize("kind", IMAGES)
def test_images_for_arm64_are_signed_ad_hoc(kind):
    """Macs with Apple's processors load nothing without a signature, or with pages changed after it."""
    image = IMAGES[kind]("arm64")
    directory, signed = image.code_directory()
    flags, hashes, _, _, pages, limit = struct.unpack_from(">6I", directory, 12)
    hash_size, hash_type, _, page_bits = struct.unpack_from(">4B", directory, 36)
    assert flags & AD_HOC and hash_type == SHA256 and hash_size == 32 and limit == signed
    page = 1 << page_bits
    assert pages == -(-limit // page)
    for i in range(pages):
        expected = directory[hashes + 32 * i : hashes + 32 * (i + 1)]
        assert hashlib.sha256(image.data[page * i : min(page * (i + 1), limit)]).digest() == expected, f"page {i}"
