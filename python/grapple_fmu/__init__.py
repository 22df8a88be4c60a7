"""The tool `grapple`: dynamics of flexible space manipulators as an FMU.

A spec (TOML) describes a spacecraft. `build` makes an FMU of it, `simulate` runs a spec or an FMU and
leaves its results as a table.

The functions run the tool of this package. The environment variable GRAPPLE may name another one.
"""

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path

__all__ = ["GrappleError", "build", "run", "simulate"]

PathLike = str | os.PathLike[str]


class GrappleError(RuntimeError):
    """Message of the tool about a failed command, with all problems of a spec and their places."""


def _tool() -> str:
    """Returns the path of the tool: that in the environment variable GRAPPLE, that of this installation, or else the
    one on the PATH.
    """
    name = "grapple.exe" if os.name == "nt" else "grapple"
    if given := os.environ.get("GRAPPLE"):
        if not Path(given).is_file():
            raise FileNotFoundError(f"the environment variable GRAPPLE must be the path of the tool: {given} is no file")
        return given
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))]
    for folder in folders:
        if (Path(folder) / name).is_file():
            return str(Path(folder) / name)
    if found := shutil.which(name):
        return found
    raise FileNotFoundError(f"the tool grapple is neither in {' nor in '.join(folders)} nor on the PATH")


def run(*arguments: object) -> str:
    """Runs `grapple` with these arguments and returns the text that it prints.

    Raises GrappleError if the command fails, FileNotFoundError without the tool.
    """
    words = [_tool(), *(os.fspath(word) if isinstance(word, os.PathLike) else str(word) for word in arguments)]
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", env={**os.environ, "NO_COLOR": "1"})
    if done.returncode != 0:
        raise GrappleError(done.stderr.strip() or done.stdout.strip() or f"grapple ended with exit code {done.returncode}")
    return done.stdout


def build(spec: PathLike, output: PathLike | None = None, *, platforms: Iterable[str] | None = None) -> Path:
    """Builds the FMU of a spec and returns its path.

    `output` is by default the spec's path with the suffix .fmu. `platforms` selects among those
    whose libraries the tool contains ("linux64", "aarch64-linux", "win64", "darwin64"); by default
    the FMU runs on all of them.
    """
    output = Path(spec).with_suffix(".fmu") if output is None else Path(output)
    selected = [] if platforms is None else ["--platform", ",".join(platforms)]
    run("build", spec, "--output", output, *selected)
    return output


def simulate(
    model: PathLike,
    output: PathLike | None = None,
    *,
    page: PathLike | bool = True,
    stop_time: float | None = None,
    step: float | None = None,
    tolerance: float | None = None,
    set: Mapping[str, float] | None = None,
) -> Path:
    """Runs a spec or an FMU and returns the path of the table with its results.

    `output` is a CSV file, or Parquet if it is named .parquet; by default the model's path with the
    suffix .csv. `page` is the file of the page with plots and an animation (by default beside the
    table), False for none. Times are in s; `set` gives parameters, or inputs without a signal, other
    values, in SI units.
    """
    output = Path(model).with_suffix(".csv") if output is None else Path(output)
    if page is True:
        page = output.with_suffix(".html")
    options = ["--no-page"] if page is False else ["--page", page]
    for name, value in (("--stop-time", stop_time), ("--step", step), ("--tolerance", tolerance)):
        if value is not None:
            options += [name, repr(float(value))]
    for name, value in (set or {}).items():
        options += ["--set", f"{name}={float(value)!r}"]
    run("simulate", model, "--output", output, *options)
    return output
