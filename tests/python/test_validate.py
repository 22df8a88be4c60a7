"""Checks that other tools make before they run an FMU: FMPy's validation and the standard's XML schema."""

import itertools
import os
import zipfile
from pathlib import Path

import fmpy
import pytest
from conftest import EXAMPLES
from fmpy.validation import validate_fmu
from lxml import etree

from fmu import grapple

SCHEMA = Path(fmpy.__file__).parent / "schema" / "fmi2" / "fmi2ModelDescription.xsd"

KINDS = {"me": {"ModelExchange"}, "cs": {"CoSimulation"}, "both": {"ModelExchange", "CoSimulation"}}

# Combinations of three options of `grapple build`: kind, names, diagnostics. In the short form an
# example has all kinds with one of the four combinations of the others, in turn. scripts/long tests
# all twelve combinations.
FLAVOURS = list(itertools.product(KINDS, ["structured", "flat"], ["diagnostics", "without"]))
ARCHIVES = [
    pytest.param(example, *flavour, id="-".join([example.stem, *flavour]))
    for k, example in enumerate(EXAMPLES)
    for flavour in (FLAVOURS if "GRAPPLE_LONG" in os.environ else FLAVOURS[k % 4 :: 4])
]


def test_there_are_examples():
    assert {"two_link", "ssrms_type"} <= {path.stem for path in EXAMPLES}


@pytest.mark.parametrize(("example", "kind", "names", "diagnostics"), ARCHIVES)
def test_every_archive_is_valid_and_offers_what_was_requested(example, kind, names, diagnostics, tmp_path):
    fmu = tmp_path / f"{example.stem}.fmu"
    options = ["--without-diagnostics"] if diagnostics == "without" else []
    grapple("build", example, "--fmi-type", kind, "--names", names, *options, "--output", fmu)

    problems = validate_fmu(str(fmu))
    assert problems == [], f"FMPy found {len(problems)} problems, 0 allowed"

    with zipfile.ZipFile(fmu) as archive:
        assert archive.testzip() is None, "every file of the archive passes its checksum"
        root = etree.fromstring(archive.read("modelDescription.xml"))
    schema = etree.XMLSchema(file=str(SCHEMA))
    schema.validate(root)
    assert [str(error) for error in schema.error_log] == [], "the standard's schema has no objection"

    offered = {element.tag for element in root} & {"ModelExchange", "CoSimulation"}
    assert offered == KINDS[kind]
    assert root.get("variableNamingConvention") == names
    variables = [v.get("name") for v in root.find("ModelVariables")]
    assert len(set(variables)) == len(variables)
    # A controller has no bodies and therefore no energy.
    has_diagnostics = not options and 'kind = "controller"' not in example.read_text()
    assert ("system.energy" in variables or "system_energy" in variables) == has_diagnostics
    if names == "flat":
        assert all(name.isidentifier() for name in variables), "flat names are plain identifiers"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_names_stay_unique_after_the_mangling_of_openmodelica(example, examples):
    names = list(examples[example.stem].variables)
    mangled = {name.translate(str.maketrans(".[], ()", "_______")) for name in names}
    assert len(mangled) == len(names)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_building_twice_gives_the_same_bytes(example, tmp_path):
    archives = [tmp_path / f"{i}" / "craft.fmu" for i in range(2)]
    for archive in archives:
        archive.parent.mkdir()
        grapple("build", example, "--output", archive)
    first, second = (archive.read_bytes() for archive in archives)
    assert first == second
