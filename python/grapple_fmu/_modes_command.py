"""The command `grapple import-modes`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ._errors import GrappleError
from ._modes import import_modes


UNITS = {
    "m-kg-s": (1.0, 1.0),
    "mm-t-s": (1e-3, 1e3),
    "mm-kg-s": (1e-3, 1.0),
    "in-lbf-s": (0.0254, 4.4482216152605 / 0.0254),
    "ft-lbf-s": (0.3048, 4.4482216152605 / 0.3048),
}
"""Units of length, m, and mass, kg, by name; with lbf the unit of mass is lbf·s² over the length."""


def _attached(text: str) -> tuple[str, int]:
    """Returns name and number of NAME=NODE."""
    name, _, node = text.partition("=")
    if not name or not node.isdigit():
        raise argparse.ArgumentTypeError(f"expected NAME=NODE, such as tip=1002, not {text!r}")
    return name, int(node)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="grapple import-modes",
        description="Computes the modal data of a flexible body from finite-element matrices of the free structure, or reads them from "
        "modal results of Nastran, and writes them as a file for `include` of a spec.",
    )
    parser.add_argument(
        "stiffness",
        type=Path,
        metavar="FILE",
        help="stiffness matrix (.mtx), or a file of Nastran: both matrices (.pch, .op2), or modal results (.op2, .f06)",
    )
    parser.add_argument("mass", type=Path, nargs="?", metavar="MASS", help="mass matrix (.mtx)")
    parser.add_argument(
        "--nodes",
        type=Path,
        metavar="FILE",
        help="positions: CSV with the columns node, x, y, z, or bulk data of Nastran, or an .op2 file",
    )
    parser.add_argument(
        "--freedoms", type=Path, metavar="FILE", help="node and component (1 to 6; 0 generalised) of each row: CSV"
    )
    parser.add_argument(
        "--clamped", type=int, required=True, metavar="NODE", help="node at the body's origin, which its joint holds"
    )
    parser.add_argument(
        "--attach", type=_attached, action="append", default=[], metavar="NAME=NODE", help="node for a joint or frame; repeat"
    )
    parser.add_argument("--modes", type=int, metavar="N", help="natural modes (default: 20 of matrices, all of modal results)")
    parser.add_argument("--highest-frequency", type=float, metavar="HZ", help="natural modes up to this frequency only")
    parser.add_argument("--no-residual", action="store_true", help="without static deflections as modes")
    parser.add_argument(
        "--damping-ratio", type=float, default=0.0, metavar="RATIO", help="damping ratio of all modes (default: 0)"
    )
    parser.add_argument(
        "--units", choices=UNITS, help="the model's units of length, mass and time, in place of --length and --mass-unit"
    )
    parser.add_argument("--length", type=float, metavar="M", help="the model's unit of length, m (default: 1; 0.001 for mm)")
    parser.add_argument(
        "--mass-unit", type=float, metavar="KG", help="the model's unit of mass, kg (default: 1; 1000 for tonnes)"
    )
    parser.add_argument("--subcase", type=int, metavar="N", help="subcase of modal results, if several have modes")
    parser.add_argument(
        "--wtmass", type=float, metavar="FACTOR", help="PARAM,WTMASS of modal results, if the file does not contain it"
    )
    parser.add_argument("--body", required=True, metavar="NAME", help="name of the body")
    parser.add_argument("--output", type=Path, metavar="FILE", help="file to write (default: NAME.toml)")
    parser.add_argument("--force", action="store_true", help="replace an existing file")
    return parser


def main(words: Sequence[str]) -> int:
    """Runs the command and returns its exit code."""
    arguments = _parser().parse_args(words)
    output: Path = arguments.output or Path(f"{arguments.body}.toml")
    try:
        if not arguments.body:
            raise GrappleError("--body is empty; the body needs a name")
        names = [name for name, _ in arguments.attach]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise GrappleError(f"--attach names {twice!r} twice; each node needs a name of its own")
        if arguments.units is not None and (arguments.length is not None or arguments.mass_unit is not None):
            raise GrappleError("--units gives both units; leave out --length and --mass-unit")
        length, mass_unit = UNITS[arguments.units or "m-kg-s"]
        if output.exists() and not arguments.force:
            raise GrappleError(f"{output} exists; --force replaces it")
        body = import_modes(
            arguments.stiffness,
            arguments.mass,
            nodes=arguments.nodes,
            clamped=arguments.clamped,
            attach=dict(arguments.attach),
            modes=arguments.modes,
            highest_frequency=arguments.highest_frequency,
            residual=not arguments.no_residual,
            damping_ratio=arguments.damping_ratio,
            freedoms=arguments.freedoms,
            length=length if arguments.length is None else arguments.length,
            mass_unit=mass_unit if arguments.mass_unit is None else arguments.mass_unit,
            subcase=arguments.subcase,
            wtmass=arguments.wtmass,
        )
        body.write(output, arguments.body)
    except (GrappleError, ImportError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(body)
    for warning in body.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    print(f"{output}: use it by include = [{str(output)!r}]".replace("'", '"'))
    return 0
