#!/usr/bin/env python3
"""Judges an FMU of examples/two_link.toml with FMPy and runs it on this machine in both interfaces: `try-archive.py two_link.fmu`."""

import math
import platform
import sys

import fmpy
import fmpy.validation

# Where two independent codes bring the craft in 5 s, degrees; the same as in tests/theory/examples.rs.
REFERENCE = {"base": -45.92802927, "shoulder.q": 48.82037995, "elbow.q": 104.92707873}


def main(archive: str) -> None:
    problems = fmpy.validation.validate_fmu(archive)
    if problems:
        sys.exit("\n".join(problems))
    for interface in ("CoSimulation", "ModelExchange"):
        outputs = ["base.q[1]", "base.q[4]", "shoulder.q", "elbow.q"]
        run = fmpy.simulate_fmu(
            archive, fmi_type=interface, stop_time=5.0, output_interval=0.01, relative_tolerance=1e-9, output=outputs
        )
        end = run[-1]
        found = {
            "base": 2.0 * math.degrees(math.atan2(end["base.q[4]"], end["base.q[1]"])),
            "shoulder.q": math.degrees(end["shoulder.q"]),
            "elbow.q": math.degrees(end["elbow.q"]),
        }
        off = max(abs(found[name] - REFERENCE[name]) for name in REFERENCE)
        # In Model Exchange the host's own integrator makes most of the error.
        limit = 1e-5 if interface == "CoSimulation" else 1e-4
        print(f"{platform.platform()}, {interface}: {off:.1e} degrees from the reference, {limit:g} allowed")
        if not off <= limit:
            sys.exit(f"{interface}: {found} instead of {REFERENCE}")


if __name__ == "__main__":
    main(*sys.argv[1:])
