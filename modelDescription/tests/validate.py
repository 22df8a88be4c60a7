"""The golden file before the standard's own schema and FMPy's checks: python tests/validate.py (needs fmpy)."""
import io
import sys
import zipfile
from pathlib import Path

import fmpy
from fmpy.validation import validate_fmu
from lxml import etree

schemas = Path(fmpy.__file__).parent / "schema"
schemas = {
    version: etree.XMLSchema(file=str(schemas / f"fmi{version}/fmi{version}ModelDescription.xsd")) for version in "23"
}
failed = False
for path in sys.argv[1:] or sorted(map(str, (Path(__file__).parent.parent / "golden").glob("*.xml"))):
    document = etree.parse(path)
    schema = schemas[document.getroot().get("fmiVersion")[0]]
    problems = [] if schema.validate(document) else [str(e) for e in schema.error_log]
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as z:
        z.write(path, "modelDescription.xml")
    archive.seek(0)
    problems += validate_fmu(archive)
    print(path, problems or "valid")
    failed |= bool(problems)
sys.exit(failed)
