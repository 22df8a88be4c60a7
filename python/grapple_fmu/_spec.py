"""Specs and FMUs: from a file to results."""

from __future__ import annotations

import copy
import os
import shutil
import tempfile
import tomllib
import warnings
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from . import _native
from ._distributed import distribute
from ._errors import GrappleError, Problem, optional
from ._identify import Identified, Sensitivities, identify, sensitivities_of, write_table
from ._linear import StateSpace
from ._page import PathLike
from ._progress import Progress, reported
from ._result import Result

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ._model import Model, Simulation


def items(of: Mapping[str, float] | None, what: str) -> list[tuple[str, float]]:
    """Returns names and values of settings."""
    if of is None:
        return []
    if not isinstance(of, Mapping):
        raise TypeError(f"{what} must be a mapping of names to numbers, not {type(of).__name__}")
    settings: list[tuple[str, float]] = []
    for name, value in of.items():
        try:
            settings.append((str(name), float(value)))
        except (TypeError, ValueError):
            raise TypeError(f"{what}: the value of {name} is no number: {value!r}") from None
    return settings


def package(of: object) -> _native.Package:
    """Returns the compiled spec or the FMU of a `Spec`, an `Fmu`, or a file."""
    if isinstance(of, _Runnable):
        return of._package()
    if isinstance(of, (str, os.PathLike)):
        return _native.Package.open(os.fspath(of))
    raise TypeError(f"expected a Spec, an Fmu or the path of a file, not {type(of).__name__}")


class _Runnable:
    """Functions that specs and FMUs share."""

    def _package(self) -> _native.Package:
        raise NotImplementedError

    def simulate(
        self,
        *,
        stop_time: float | None = None,
        step: float | None = None,
        tolerance: float | None = None,
        set: Mapping[str, float] | None = None,
        inputs: object = None,
        progress: Progress = None,
    ) -> Result:
        """Runs the FMU in Co-Simulation and returns its outputs, states and inputs over time.

        `stop_time` (s), `step` (s, communication step and spacing of the results) and the relative
        `tolerance` replace those of the spec's experiment. `set` gives parameters, and inputs without a
        signal, other values in SI units. `inputs` replaces signals: a mapping from an input's name to a number
        or to `(times, values)`, a table with a column or index `time` (a mapping of columns, a DataFrame), or
        the path of a CSV file. Between its rows a table is interpolated linearly; inputs that change at events
        have steps. `progress` is a function of the part that is done (s) and the whole, or True or False for a
        bar; by default there is one on a terminal and in notebooks if tqdm is installed.

        Raises GrappleError for an unknown name, an invalid value or a run that fails; its `result` has the
        rows up to there. Ctrl-C ends the run.

        Examples:
            >>> result = grapple.new("two_link").simulate(stop_time=1.0, step=0.1, set={"forearm.mass": 3.0})
            >>> result.parameters["forearm.mass"]
            3.0
        """
        settings = items(set, "set")
        tables, numbers, file = _inputs(inputs)
        with reported(progress, "s") as report:
            run = self._package().simulate(stop_time, step, tolerance, settings + numbers, tables, file, report)
        result = Result(run)
        if result.failure:
            raise GrappleError(result.failure, [(result.failure, None, None, None)], result)
        return result

    def linearize(self, at: float = 0.0, *, inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> StateSpace:
        """Linearises the model with exact derivatives at the time `at` (s) of its own run.

        `inputs` are the columns of B and D, by default all but switches and commands; `outputs` (also states)
        the rows of C and D, by default all. `"push.f"` stands for its components.

        Raises GrappleError for an unknown name, and for a formulation without linearisation.

        Examples:
            >>> grapple.new("berthing").linearize(inputs=["elbow.tau"], outputs=["elbow.q"]).D.shape
            (1, 1)
        """
        if isinstance(inputs, str) or isinstance(outputs, str):
            raise TypeError("inputs and outputs must be lists of names")
        return StateSpace._of(self._package().linearize(at, list(inputs), list(outputs)))

    def model(self, set: Mapping[str, float] | None = None) -> Model:
        """Returns the model with its derivatives, outputs and mechanics, at the start of a run; `set` gives
        parameters other values."""
        from ._model import Model

        return Model(self, set)

    def simulation(
        self,
        *,
        start_time: float = 0.0,
        stop_time: float | None = None,
        tolerance: float | None = None,
        set: Mapping[str, float] | None = None,
    ) -> Simulation:
        """Returns a run at its start, to be advanced step by step; see `Simulation`."""
        from ._model import Simulation

        return Simulation(self, start_time=start_time, stop_time=stop_time, tolerance=tolerance, set=set)

    def sensitivities(
        self,
        with_respect_to: Sequence[str],
        *,
        outputs: Sequence[str] = (),
        stop_time: float | None = None,
        step: float | None = None,
        tolerance: float | None = None,
        set: Mapping[str, float] | None = None,
        inputs: object = None,
        progress: Progress = None,
    ) -> Sensitivities:
        """Runs the model and differentiates the run with respect to parameters, start values and constant inputs.

        `outputs` are outputs, states and inputs, by default all. The other arguments are those of `simulate`.

        Raises GrappleError for an unknown name, an input that is driven by a signal or changes at events, an
        invalid value or a run that fails. Ctrl-C ends the work.
        """
        if isinstance(with_respect_to, str) or isinstance(outputs, str):
            raise TypeError("with_respect_to and outputs must be lists of names")
        settings = items(set, "set")
        tables, numbers, file = _inputs(inputs)
        experiment = (stop_time, step, tolerance)
        names, outputs = list(with_respect_to), list(outputs)
        with reported(progress, "s") as report:
            parts = _native.sensitivities(self._package(), experiment, settings + numbers, tables, file, names, outputs, report)
        return sensitivities_of(parts)

    def identify(
        self,
        data: object,
        parameters: Iterable[str] | Mapping[str, Mapping[str, Any]],
        *,
        measurements: Mapping[str, Mapping[str, Any]] | None = None,
        set: Mapping[str, float] | None = None,
        interpolation: Literal["linear", "hold"] = "linear",
        tolerance: float | None = None,
        progress: Progress = None,
    ) -> Identified:
        """Identifies parameters, start values and constant inputs from a measured run.

        `data` is a mapping of columns or a DataFrame, with a column or index `time` (s), or the path of a CSV or Parquet file. Columns
        with names of inputs drive the model, without noise; those with names of outputs and states are compared
        with it: all of them, or those in `measurements`, where `{"sigma": 1e-4}` gives the standard deviation of
        the noise (estimated by default) and `{"column": "q3"}` the title of the column. NaN is a value that was
        not measured. `parameters` are names, each with a `guess` (by default the prior's mean, else the model's value) and a `prior`
        (`{"mean": 5.0, "sigma": 2.0}`) if there is one. `set` gives other parameters their values.

        Raises GrappleError for unknown names, wrong units, and if the search does not converge.
        """
        if isinstance(parameters, str):
            raise TypeError("parameters must be a list or a mapping of names")
        unknown: dict[str, Mapping[str, Any]]
        if isinstance(parameters, Mapping):
            unknown = dict(cast("Mapping[str, Mapping[str, Any]]", parameters))
        else:
            unknown = {name: {} for name in parameters}
        with tempfile.TemporaryDirectory(prefix="grapple-") as name:
            folder = Path(name)
            self._save_fmu(folder / "model.fmu")
            if isinstance(data, (str, os.PathLike)):
                table = Path(cast("PathLike", data)).absolute()
            else:
                table = folder / "data.csv"
                write_table(data, table)
            study: dict[str, Any] = {"model": "model.fmu", "data": str(table), "interpolation": interpolation}
            study |= {"parameter": unknown, "measurement": dict(measurements or {})}
            study |= {"set": dict(items(set, "set"))} | ({} if tolerance is None else {"tolerance": float(tolerance)})
            file = folder / "identification.toml"
            file.write_text(_native.to_toml(study), encoding="utf-8")
            return identify(file, progress=progress)

    def campaign(
        self,
        study: Mapping[str, Any],
        output: PathLike,
        *,
        jobs: int | None = None,
        executor: Executor | None = None,
        progress: Progress = None,
    ) -> Campaign:
        """Makes many runs with dispersed parameters, on all cores, and leaves their table in the folder
        `output`.

        `study` has the sections of a study's file without `model`: `runs`, `seed`, `experiment`, `set`,
        `dispersion`, `output`. `jobs` is the number of parallel runs. A campaign that was interrupted
        continues where it ended, if it is called again.

        With an `executor` (of `concurrent.futures`, Dask, mpi4py, …) its workers make the runs, in `jobs` parts,
        by default four for each core of this machine. The FMU and the results travel with the parts: workers
        need this package, but no common folder. The table is the same bit for bit.

        Examples:
            >>> study = {"runs": 4, "experiment": {"stop_time": 0.2}, "output": {"elbow.q": ["final"]}}
            >>> study["dispersion"] = {"forearm.mass": {"uniform": [1.0, 2.0]}}
            >>> grapple.new("two_link").campaign(study, "study").runs
            4
        """
        with tempfile.TemporaryDirectory(prefix="grapple-") as folder:
            model = Path(folder) / "model.fmu"
            self._save_fmu(model)
            file = Path(folder) / "study.toml"
            file.write_text(_native.to_toml({**study, "model": str(model)}), encoding="utf-8")
            return campaign(file, output, jobs=jobs, executor=executor, progress=progress)

    def _save_fmu(self, path: Path) -> None:
        raise NotImplementedError


class Fmu(_Runnable):
    """An FMU that grapple built."""

    def __init__(self, path: PathLike) -> None:
        self.path = Path(path)
        """Path of the FMU."""
        self._opened = _native.Package.open(os.fspath(path))

    def _package(self) -> _native.Package:
        return self._opened

    def _save_fmu(self, path: Path) -> None:
        shutil.copyfile(self.path, path)

    def __repr__(self) -> str:
        return f"<Fmu {str(self.path)!r}>"


class Spec(_Runnable, MutableMapping[str, Any]):
    """A spec: the tables of its TOML file as an editable dictionary.

    `spec["body"]["forearm"]["mass"] = 3.0` changes a number; lists may be NumPy arrays. Units are SI. A spec
    keeps the text of its file, with comments, until it is edited. Files that it names are relative to `folder`.

    Examples:
        >>> spec = grapple.new("two_link")
        >>> spec["body"]["forearm"]["mass"] = 3.0
        >>> spec.is_edited
        True
        >>> spec["joint"]["elbow"]["parent"]
        'upper_arm'
    """

    def __init__(self, data: Mapping[str, Any] | None = None, *, folder: PathLike = ".") -> None:
        self._data: dict[str, Any] = copy.deepcopy(dict(data or {}))
        self._text: str | None = None
        self._written: dict[str, Any] | None = None
        self._compiled: tuple[str, _native.Package] | None = None
        self.path: Path | None = None
        """File that the spec was read from."""
        self.folder = Path(folder)
        """Folder of the files that the spec names."""

    @classmethod
    def _of_text(cls, text: str, path: Path | None, folder: PathLike) -> Spec:
        spec = cls(folder=folder)
        spec.path, spec._text = path, text
        try:
            spec._data = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            # The library reports all problems with their positions.
            _native.Package.parse(text, os.fspath(folder), spec._file(False))
            raise
        spec._written = copy.deepcopy(spec._data)
        return spec

    def __getitem__(self, key: str) -> Any:
        return self._data[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._data[key] = value

    def __delitem__(self, key: str) -> None:
        del self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        parts = [
            f"{len(cast('Mapping[str, Any]', value))} × {key}"
            for key, value in self._data.items()
            if isinstance(value, Mapping) and key in ("body", "joint")
        ]
        return f"<Spec {self._data.get('name', 'without name')!r}: {', '.join(parts) or 'no bodies'}>"

    def copy(self) -> Spec:
        """Returns an independent copy."""
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Spec:
        other = type(self)(copy.deepcopy(self._data, memo), folder=self.folder)
        other.path, other._text, other._written, other._compiled = self.path, self._text, self._written, self._compiled
        return other

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_compiled": None}

    @property
    def is_edited(self) -> bool:
        """True if the dictionary differs from the file."""
        if self._written is None:
            return True
        try:
            return bool(self._data != self._written)
        except ValueError:  # of arrays of NumPy
            return True

    def to_toml(self) -> str:
        """Returns the text: that of the file, or of the edited dictionary, without comments."""
        if self._text is not None and not self.is_edited:
            return self._text
        return _native.to_toml(self._data)

    def save(self, path: PathLike) -> Path:
        """Writes the text and returns the path. Files that the spec names remain relative to `folder`."""
        path = Path(path)
        path.write_text(self.to_toml(), encoding="utf-8")
        return path

    def _file(self, edited: bool) -> str:
        if self.path is None:
            return "spec"
        return f"{self.path} (edited)" if edited else str(self.path)

    def _package(self) -> _native.Package:
        text = self.to_toml()
        if self._compiled is None or self._compiled[0] != text:
            edited = text is not self._text
            self._compiled = text, _native.Package.parse(text, os.fspath(self.folder), self._file(edited))
        return self._compiled[1]

    def check(self) -> list[Problem]:
        """Returns all errors with their places; for a spec without errors its warnings, and notes on its
        integration (`kind` is "error", "warning" or "note")."""
        text = self.to_toml()
        found = _native.Package.problems(text, os.fspath(self.folder), self._file(text is not self._text))
        if found:
            return [Problem(*problem) for problem in found]
        warned, notes, _ = self._package().check()
        return [Problem(text, kind="warning") for text in warned] + [Problem(text, kind="note") for text in notes]

    def tree(self) -> str:
        """Returns the tree of bodies with masses, and the positions and rotations at the start, as text."""
        return self._package().check()[2]

    def build(
        self,
        path: PathLike | None = None,
        *,
        platforms: Iterable[str] | None = None,
        fmi: Literal[2, 3] = 2,
        arrays: bool = False,
        reference: bool = False,
        fmi_type: Literal["me", "cs", "both"] = "both",
        names: Literal["structured", "flat"] = "structured",
        diagnostics: bool = True,
    ) -> Path:
        """Builds the FMU and returns its path, by default the model's name with .fmu.

        `platforms` selects among those whose libraries this package contains ("linux64", "aarch64-linux",
        "win64", "darwin64"); by default the FMU runs on all of them. `fmi` is the version of the standard
        (FMI 2.0 or 3.0); with `arrays`, in FMI 3.0 only, vectors and quaternions are one variable each.
        With `reference` it includes the spec and the results of its experiment. `fmi_type` are its interfaces (Model Exchange, Co-Simulation), `names` the naming
        of its variables. Without `diagnostics` it has no variables `system.*`.

        Raises GrappleError for an invalid spec, for a platform without library, and for other versions.

        Examples:
            >>> grapple.new("two_link").build(platforms=["linux64"]).name
            'two_link.fmu'
        """
        compiled = self._package()
        path = Path(f"{compiled.name}.fmu") if path is None else Path(path)
        if self.path is not None and path.resolve() == self.path.resolve():
            raise GrappleError(f"{path} is the file of the spec")
        selected = None if platforms is None else [platforms] if isinstance(platforms, str) else list(platforms)
        compiled.build(os.fspath(path), selected, fmi, arrays, reference, fmi_type, names, diagnostics)
        return path

    def _save_fmu(self, path: Path) -> None:
        self.build(path)


def load(source: PathLike | Mapping[str, Any], *, folder: PathLike | None = None) -> Spec:
    """Reads a spec: from the path of a file, a dictionary, or a text with several lines.

    Files that a dictionary or a text names are relative to `folder`, by default the current one.

    Raises GrappleError for a text that is no TOML, OSError for a file that cannot be read. All other errors
    are those of `check`, and are raised when the spec is used.

    Examples:
        >>> grapple.load({"name": "probe", "body": {"hull": {"mass": 20.0, "inertia": [1.0, 1.0, 0.8]}}})
        <Spec 'probe': 1 × body>
    """
    if isinstance(source, Mapping):
        return Spec(source, folder=folder or ".")
    if isinstance(source, str) and "\n" in source:
        return Spec._of_text(source, None, folder or ".")
    path = Path(source)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise GrappleError(f"{path} is not text in UTF-8; an FMU is opened by Fmu(path)") from None
    return Spec._of_text(text, path, path.parent if folder is None else folder)


def build(
    spec: PathLike | Spec,
    output: PathLike | None = None,
    *,
    platforms: Iterable[str] | None = None,
    fmi: Literal[2, 3] = 2,
) -> Path:
    """Builds the FMU of a spec and returns its path, by default that of the spec's file with .fmu.

    `platforms` and `fmi` are those of `Spec.build`.
    """
    spec = spec if isinstance(spec, Spec) else load(spec)
    if output is None and spec.path is not None:
        output = spec.path.with_suffix(".fmu")
    return spec.build(output, platforms=platforms, fmi=fmi)


def simulate(model: PathLike | Spec | Fmu, **options: Any) -> Result:
    """Runs a spec or an FMU; the options are those of `Spec.simulate`."""
    if not isinstance(model, _Runnable):
        is_fmu = os.fspath(model).lower().endswith(".fmu")
        model = Fmu(model) if is_fmu else load(model)
    return model.simulate(**options)


def templates() -> dict[str, str]:
    """Returns the names of the templates with their descriptions.

    Examples:
        >>> grapple.templates()["two_link"]
        'Two links on a free-floating base, driven by sine torques'
    """
    return dict(_native.templates())


def new(template: str = "arm", name: str | None = None) -> Spec:
    """Returns a commented spec to start from; `name` is that of the model, by default the template's.

    Raises GrappleError for an unknown template.
    """
    return Spec._of_text(_native.template(template, name or template), None, ".")


def import_urdf(
    urdf: PathLike,
    output: PathLike | None = None,
    *,
    base: Literal["fixed", "floating"] = "fixed",
    base_mass: float | None = None,
    base_inertia: Sequence[float] | None = None,
    on: tuple[PathLike, str] | None = None,
    keep_fixed: bool = False,
    package_dirs: Iterable[PathLike] = (),
    force: bool = False,
) -> Spec:
    """Converts a robot description in URDF to a spec, which is written to `output` (by default the file's name
    with .toml, in the current folder), and returns it.

    The root link is fixed to the world, or floats; if it has no mass, it gets `base_mass` (kg) and
    `base_inertia` about the link's origin, link axes (kg·m²: xx, yy, zz, or with xy, xz, yz). `on`, the file
    of a spec and a frame in it, also writes a spec with the robot on that frame, beside that file, and
    returns it. Meshes are copied beside the spec. `keep_fixed` keeps links on fixed joints as bodies.
    `package_dirs` are folders with ROS packages. Unlikely data are reported as warnings.

    Raises GrappleError with all errors of the file, FileExistsError for a spec that is there, unless `force`.
    """
    urdf = Path(urdf)
    output = Path(urdf.stem + ".toml") if output is None else Path(output)
    if base not in ("fixed", "floating"):
        raise ValueError(f"base must be 'fixed' or 'floating', not {base!r}")
    if (base_mass is None) != (base_inertia is None):
        raise ValueError("base_mass and base_inertia are given together")
    mass = None
    if base_mass is not None and base_inertia is not None:
        inertia = [float(number) for number in base_inertia]
        if len(inertia) not in (3, 6):
            raise ValueError(f"base_inertia has 3 or 6 numbers, not {len(inertia)}")
        mass = float(base_mass), (inertia + [0.0, 0.0, 0.0])[:6]
    text, name, meshes, remarks = _native.import_urdf(
        os.fspath(urdf),
        base == "floating",
        keep_fixed,
        mass,
        [os.fspath(folder) for folder in package_dirs],
        f"{output.stem}_meshes",
    )
    files = {output: text}
    if on is not None:
        host, of_host = _native.mount_urdf(name, os.fspath(output), os.fspath(on[0]), on[1])
        files[Path(host)] = of_host
    if not force and (there := [file for file in files if file.exists()]):
        raise FileExistsError(f"{there[0]} exists; force=True replaces it")
    for source, mesh in meshes:
        target = output.parent / mesh
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or force:
            shutil.copyfile(source, target)
    for file, contents in files.items():
        file.write_text(contents, encoding="utf-8")
    for remark in remarks:
        warnings.warn(remark, stacklevel=2)
    return load(list(files)[-1])


@dataclass(frozen=True)
class Campaign:
    """The runs of a campaign."""

    table: Path | None
    """Table with a row for each run; None if runs of other shards are not done."""
    runs: int
    """Number of runs that are done."""
    failed: dict[int, str]
    """Reasons of failed runs by their numbers."""

    def to_pandas(self) -> Any:
        """Returns the table as a `pandas.DataFrame`. Raises ImportError without pandas."""
        pandas = optional("pandas", "to_pandas")
        if self.table is None:
            raise GrappleError("the table is written when all runs are done")
        return pandas.read_parquet(self.table) if self.table.suffix == ".parquet" else pandas.read_csv(self.table)


def campaign(
    study: PathLike,
    output: PathLike | None = None,
    *,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: Progress = None,
) -> Campaign:
    """Makes the runs of a study's file (TOML) and leaves their table in the folder `output`, by default the
    file's name without suffix; see `Spec.campaign`. Runs that fail are listed, not raised."""
    output = Path(study).with_suffix("").name if output is None else output
    if jobs is not None and int(jobs) < 1:
        raise ValueError(f"jobs = {jobs} is not positive")
    if executor is not None and not hasattr(executor, "submit"):
        raise TypeError(f"executor must be one of concurrent.futures, not {type(executor).__name__}")
    with reported(progress, "runs") as report:
        if executor is None:
            cores = os.cpu_count() or 1 if jobs is None else int(jobs)
            table, runs, failed = _native.Package.campaign(study, output, cores, None, report)
        else:
            make = distribute(Path(study), executor, jobs, report)
            table, runs, failed = _native.Package.distributed_campaign(study, output, make)
    return Campaign(None if table is None else Path(table), runs, dict(failed))


def _inputs(inputs: Any) -> tuple[list[tuple[str, object, object]], list[tuple[str, float]], str | None]:
    """Returns tables of inputs (name, times, values), constant inputs, and the file of a table."""
    if inputs is None:
        return [], [], None
    if isinstance(inputs, (str, os.PathLike)):
        return [], [], os.fspath(inputs)
    if hasattr(inputs, "columns") and hasattr(inputs, "index"):  # a DataFrame
        times = inputs["time"] if "time" in inputs.columns else inputs.index
        inputs = {str(name): inputs[name] for name in inputs.columns if name != "time"}
    elif isinstance(inputs, Mapping):
        table = dict(cast("Mapping[str, Any]", inputs))
        times, inputs = table.pop("time", None), table
    else:
        raise TypeError(f"inputs must be a mapping, a table or the path of a file, not {type(inputs).__name__}")
    tables: list[tuple[str, object, object]] = []
    numbers: list[tuple[str, float]] = []
    for name, values in cast("dict[str, Any]", inputs).items():
        name = name.split(" [")[0]  # "elbow.tau [N.m]" as in tables of results
        if times is not None:
            tables.append((name, times, values))
        elif isinstance(values, (int, float)):
            numbers.append((name, float(values)))
        elif isinstance(values, Sequence) and len(pair := cast("Sequence[object]", values)) == 2:
            tables.append((name, pair[0], pair[1]))
        else:
            raise TypeError(f"inputs: {name} must be a number or (times, values)")
    return tables, numbers, None
