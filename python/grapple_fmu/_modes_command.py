"""The command `grapple import-modes`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ._errors import GrappleError
from ._modes import import_modes


def _attached(text: str) -> tuple[str, int]:
    """Returns name and number of NAME=NODE."""
    name, _, node = text.partition("=")
    if not name or not node.isdigit():
        raise argparse.ArgumentTypeError(f"expected NAME=NODE, such as tip=1002, not {text!r}")
    return name, int(node)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="grapple import-modes",
        description="Computes the modal data of a flexible body from finite-element matrices of the free structure, and writes them as "
        "a file for `include` of a spec.",
    )
    parser.add_argument("stiffness", type=Path, help="stiffness matrix (.mtx), or a Nastran punch file with both matrices (.pch)")
    parser.add_argument("mass", type=Path, nargs="?", help="mass matrix (.mtx)")
    parser.add_argument(
        "--nodes", type=Path, metavar="FILE", help="positions: CSV with the columns node, x, y, z, or Nastran GRID cards"
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
    parser.add_argument("--modes", type=int, default=20, metavar="N", help="natural modes (default: 20)")
    parser.add_argument("--highest-frequency", type=float, metavar="HZ", help="natural modes up to this frequency only")
    parser.add_argument("--no-residual", action="store_true", help="without static deflections as modes")
    parser.add_argument(
        "--damping-ratio", type=float, default=0.0, metavar="RATIO", help="damping ratio of all modes (default: 0)"
    )
    parser.add_argument("--length", type=float, default=1.0, metavar="M", help="the model's unit of length, m (0.001 for mm)")
    parser.add_argument(
        "--mass-unit", type=float, default=1.0, metavar="KG", help="the model's unit of mass, kg (1000 for tonnes)"
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
            length=arguments.length,
            mass_unit=arguments.mass_unit,
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
