"""The Python package of the wheel (`python/grapple_fmu`): results, and errors as exceptions with the tool's message.

Here it runs the tool in the environment variable GRAPPLE; `scripts/try-wheels` tests the wheels.
"""

import os
import shutil
import sys
import zipfile

import pytest

from programs import EXAMPLES

sys.path.insert(0, str(EXAMPLES.parent / "python"))

import grapple_fmu  # noqa: E402

PLATFORM = "linux64"
LIBRARY = f"binaries/{PLATFORM}/two_link.so"


@pytest.fixture
def spec(tmp_path):
    return shutil.copy(EXAMPLES / "two_link.toml", tmp_path)


@pytest.fixture(scope="module")
def fmu(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fmu")
    return grapple_fmu.build(EXAMPLES / "two_link.toml", folder / "two_link.fmu", platforms=[PLATFORM])


def damaged(fmu, path, change):
    """Writes a copy of an FMU with a changed library, and returns its path."""
    with zipfile.ZipFile(fmu) as whole, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as copy:
        for name in whole.namelist():
            data = whole.read(name)
            copy.writestr(name, change(data) if name == LIBRARY else data)
    return path


def message(caught):
    """Returns the text of an exception in one line."""
    return " ".join(str(caught.value).replace("│", " ").split())


def test_files_are_named_like_the_spec_and_next_to_it(spec, tmp_path):
    fmu = grapple_fmu.build(spec)
    assert fmu == tmp_path / "two_link.fmu" and zipfile.is_zipfile(fmu)
    table = grapple_fmu.simulate(fmu, stop_time=0.1, step=0.05, set={"forearm.mass": 2.0})
    assert table == tmp_path / "two_link.csv"
    assert [row.split(",")[0] for row in table.read_text().splitlines()] == ["time [s]", "0.0", "0.05", "0.1"]
    assert "</html>" in (tmp_path / "two_link.html").read_text()


def test_platforms_select_the_libraries_of_an_fmu(fmu):
    with zipfile.ZipFile(fmu) as archive:
        assert [name for name in archive.namelist() if name.startswith("binaries/")] == [LIBRARY]


def test_a_table_may_be_parquet_and_the_page_left_out(fmu, tmp_path):
    table = grapple_fmu.simulate(fmu, tmp_path / "two_link.parquet", page=False, stop_time=0.1)
    assert table.read_bytes()[:4] == b"PAR1"
    assert os.listdir(tmp_path) == ["two_link.parquet"]


def test_a_platform_without_library_is_an_error_that_lists_the_others(spec):
    with pytest.raises(grapple_fmu.GrappleError) as caught:
        grapple_fmu.build(spec, platforms=[PLATFORM, "linux32"])
    assert "contains no library for linux32, only for" in message(caught) and PLATFORM in message(caught)


def test_an_unknown_platform_is_an_error_that_lists_the_known_ones(spec):
    with pytest.raises(grapple_fmu.GrappleError) as caught:
        grapple_fmu.build(spec, platforms=["amiga"])
    assert "amiga" in message(caught) and "aarch64-linux, darwin64, linux32, linux64, win32, win64" in message(caught)


@pytest.mark.parametrize(
    "change, reason",
    [
        (lambda data: data[: len(data) // 2], ""),
        (lambda data: data[:-1], ""),
        (lambda data: bytes(1000), "it is not a library of any platform"),
        (lambda data: b"", "it is not a library of any platform"),
        # The number of the processor in the header of an ELF file, of IBM's S/390.
        (lambda data: data[:18] + bytes([22, 0]) + data[20:], "S390x, and linux64 needs 64-bit ELF (Linux) for x86-64"),
    ],
    ids=["half of it", "without the last byte", "zeros", "empty", "of another processor"],
)
def test_a_damaged_library_is_an_error(fmu, tmp_path, change, reason):
    with pytest.raises(grapple_fmu.GrappleError) as caught:
        grapple_fmu.simulate(damaged(fmu, tmp_path / "damaged.fmu", change))
    assert f"the FMU has no library that runs here ({PLATFORM})" in message(caught) and reason in message(caught)
    assert os.listdir(tmp_path) == ["damaged.fmu"]


def test_a_damaged_archive_is_an_error_that_names_it(fmu, tmp_path):
    data = bytearray(fmu.read_bytes())
    data[len(data) // 2] ^= 0xFF
    archive = tmp_path / "damaged.fmu"
    archive.write_bytes(data)
    with pytest.raises(grapple_fmu.GrappleError) as caught:
        grapple_fmu.simulate(archive)
    # A long path may be divided by the ends of lines.
    assert f"cannotunpack{archive}" in "".join(message(caught).split())


def test_a_missing_spec_is_an_error_that_names_it(tmp_path):
    for run in (grapple_fmu.build, grapple_fmu.simulate):
        with pytest.raises(grapple_fmu.GrappleError, match="No such file"):
            run(tmp_path / "nosuch.toml")


def test_the_errors_of_a_spec_have_line_and_name(spec):
    with open(spec, "a") as file:
        file.write("\n[frame.tool]\nbody = 'nosuch'\n")
    with pytest.raises(grapple_fmu.GrappleError) as caught:
        grapple_fmu.build(spec)
    assert "two_link.toml" in message(caught) and "nosuch" in message(caught) and "frame.tool" in message(caught)


def test_a_wrong_name_of_a_parameter_is_an_error(fmu):
    with pytest.raises(grapple_fmu.GrappleError) as caught:
        grapple_fmu.simulate(fmu, set={"forearm.mas": 2.0})
    assert 'there is no parameter or input "forearm.mas"' in message(caught)


def test_a_missing_tool_is_an_error(monkeypatch, tmp_path):
    monkeypatch.delenv("GRAPPLE")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda *_: str(tmp_path))
    with pytest.raises(FileNotFoundError, match="the tool grapple is neither in"):
        grapple_fmu.run("--version")
    monkeypatch.setenv("GRAPPLE", str(tmp_path / "nosuch"))
    with pytest.raises(FileNotFoundError, match="nosuch"):
        grapple_fmu.run("--version")
