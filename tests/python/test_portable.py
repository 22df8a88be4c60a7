"""The library of `scripts/libraries` for Linux on x86-64: the versions of system symbols that it needs."""

import re

import pytest

from conftest import EXAMPLES
from fmu import grapple

TWO_LINK = next(path for path in EXAMPLES if path.stem == "two_link")
LIBRARY = EXAMPLES[0].parents[1] / "target/libraries/linux64/grapple.so"


@pytest.mark.skipif(not LIBRARY.exists(), reason="scripts/libraries linux64 has not been run")
def test_library_of_the_script_needs_glibc_2_17_at_most_and_exports_fmi_alone(tmp_path):
    options = ["--platform", "linux64", "--library", LIBRARY, "--output", tmp_path / "two_link.fmu"]
    told = grapple("build", TWO_LINK, *options).stdout
    (version,) = re.findall(r"needs GLIBC ([\d.]+)", told)
    assert tuple(map(int, version.split("."))) <= (2, 17)
    assert "exports" not in told
