"""What the studies in the folders beside this file have in common: the tool that they build with, and their command line."""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path


def build(tool, key, text, directory):
    """Writes a spec, `<key>.toml`, and builds its FMU; returns the FMU's path. What is wrong with the spec ends the study."""
    spec, fmu = directory / f"{key}.toml", directory / f"{key}.fmu"
    spec.write_text(text, encoding="utf-8")
    run = subprocess.run([tool, "build", spec, "--output", fmu], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{tool} build {spec}\n{run.stdout}{run.stderr}")
    return fmu


def names(name, n):
    """The names of a vector's components."""
    return [f"{name}[{i + 1}]" for i in range(n)]


def command_line(description, output):
    """The options of every study; it may add its own."""
    parser = argparse.ArgumentParser(description=description)
    tool = os.environ.get("GRAPPLE", "grapple")
    parser.add_argument("--grapple", default=tool, help="the tool; default: $GRAPPLE, or grapple")
    parser.add_argument("--output", type=Path, default=Path(output), help="default: %(default)s")
    return parser


def options(parser):
    """The options as they are given; that there is the tool is made sure."""
    arguments = parser.parse_args()
    if not shutil.which(arguments.grapple):
        parser.error(f"{arguments.grapple!r} is no program: install grapple, or give its path with --grapple")
    return arguments
