#!/usr/bin/env python3
"""Checks the files of a release on this machine: `try-release.py two_link.csv two_link.fmu`.

The table is the tool's result for examples/two_link.toml; the FMU is validated by FMPy and run in
both interfaces.
"""

import csv
import math
import platform
import sys

import fmpy
import fmpy.validation

# State of the spacecraft after 5 s from two independent codes, degrees; as in tests/theory/examples.rs.
REFERENCE = {"base": -45.92802927, "shoulder": 48.82037995, "elbow": 104.92707873}
COLUMNS = {"base.q[1]": "", "base.q[4]": "", "shoulder.q": " [rad]", "elbow.q": " [rad]"}

# FMPy 0.3.32 looks for CVode on Intel Macs in a folder that it does not contain; the library of the
# other Macs is universal.
if fmpy.platform_tuple == "x86_64-darwin":
    fmpy.platform_tuple = "aarch64-darwin"


def check(what: str, end: dict[str, float], limit: float) -> None:
    """Exits unless the final values agree with the reference to `limit` degrees."""
    found = {
        "base": 2.0 * math.degrees(math.atan2(end["base.q[4]"], end["base.q[1]"])),
        "shoulder": math.degrees(end["shoulder.q"]),
        "elbow": math.degrees(end["elbow.q"]),
    }
    off = [abs(found[name] - REFERENCE[name]) for name in REFERENCE]
    print(f"{platform.platform()}, {what}: {max(off):.1e} degrees from the reference, {limit:g} allowed")
    if not all(angle <= limit for angle in off):
        sys.exit(f"{what}: {found} instead of {REFERENCE}")


def table(path: str) -> None:
    with open(path, newline="", encoding="utf-8") as file:
        *_, last = csv.DictReader(file)
    check("tool", {name: float(last[name + unit]) for name, unit in COLUMNS.items()}, 1e-5)


def archive(path: str) -> None:
    problems = fmpy.validation.validate_fmu(path)
    if problems:
        sys.exit("\n".join(problems))
    # In Model Exchange most of the error is that of the importer's integrator.
    for interface, limit in (("CoSimulation", 1e-5), ("ModelExchange", 1e-4)):
        run = fmpy.simulate_fmu(
            path, fmi_type=interface, stop_time=5.0, output_interval=0.01, relative_tolerance=1e-9, output=list(COLUMNS)
        )
        check(interface, {name: float(run[-1][name]) for name in COLUMNS}, limit)


if __name__ == "__main__":
    for path in sys.argv[1:]:
        (archive if path.endswith(".fmu") else table)(path)
