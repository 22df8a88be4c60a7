"""The library of `scripts/portable-library`: the versions of system symbols that it needs, and its results compared with the embedded library."""

import os
import platform
import re

import numpy as np
import pytest

from conftest import EXAMPLES
from fmu import CoSimulation, grapple

TWO_LINK = next(path for path in EXAMPLES if path.stem == "two_link")

pytestmark = pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"), reason="it is made for Linux on x86-64"
)


@pytest.fixture
def library():
    return os.environ["GRAPPLE_PORTABLE_LIBRARY"]


def test_library_needs_no_symbol_newer_than_glibc_2_17_and_exports_fmi_alone(library, tmp_path):
    told = grapple("build", TWO_LINK, "--library", library, "--output", tmp_path / "two_link.fmu").stdout
    (version,) = re.findall(r"needs GLIBC ([\d.]+)", told)
    assert tuple(map(int, version.split("."))) <= (2, 17)
    assert "exports" not in told


def test_portable_library_agrees_with_the_embedded_one(library, examples, build, within):
    names = ["base.q[4]", "shoulder.q", "elbow.q", "system.energy"]
    rows = []
    for archive in (examples["two_link"], build(TWO_LINK, "--library", library)):
        with CoSimulation(archive) as cs:
            rows.append(np.array(cs.run(np.arange(1, 51) * 0.1, names)))
    off = np.abs(rows[0] - rows[1]).max()
    within("portable library against the embedded one", off, 1e-12, "Zig brings its own compiler runtime: round-off")
