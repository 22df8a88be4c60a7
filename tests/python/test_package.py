"""The Python package: specs, builds, runs, linear models, campaigns, pages, and errors with their places."""

import os
import pickle
import re
import shutil
import signal
import sys
import threading
import time
import zipfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pandas
import pytest
from native import ROOT
from native import grapple_fmu as grapple
from programs import EXAMPLES
from test_urdf import ROBOTS

from fmu import grapple as tool

PLATFORM = "linux64"
LIBRARY = f"binaries/{PLATFORM}/two_link.so"
SHORT = {"stop_time": 0.2, "step": 0.05}


@pytest.fixture
def spec(tmp_path):
    return grapple.load(shutil.copy(EXAMPLES / "two_link.toml", tmp_path))


@pytest.fixture(scope="module")
def fmu(tmp_path_factory):
    path = tmp_path_factory.mktemp("fmu") / "two_link.fmu"
    return grapple.load(EXAMPLES / "two_link.toml").build(path, platforms=[PLATFORM])


def damaged(fmu, path, change):
    """Writes a copy of an FMU with a changed library, and returns its path."""
    with zipfile.ZipFile(fmu) as whole, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as copy:
        for name in whole.namelist():
            data = whole.read(name)
            copy.writestr(name, change(data) if name == LIBRARY else data)
    return path


# ---- specs


def test_spec_keeps_its_text_until_it_is_edited(spec):
    text = (EXAMPLES / "two_link.toml").read_text()
    assert spec.to_toml() == text and not spec.is_edited
    spec["body"]["forearm"]["mass"] = 3.0
    assert spec.is_edited and "#" not in spec.to_toml()
    assert grapple.load(spec.to_toml())["body"]["forearm"]["mass"] == 3.0
    spec["body"]["forearm"]["mass"] = grapple.load(text)["body"]["forearm"]["mass"]
    assert spec.to_toml() == text and spec.model() is not None
    for same in (spec.copy(), pickle.loads(pickle.dumps(spec))):
        assert same.to_toml() == text and same.path == spec.path


def test_dictionary_with_arrays_of_numpy_is_the_spec_of_its_text(spec):
    bodies = {"hub": {"mass": np.float64(2.0), "inertia": np.array([1.0, 1.0, 1.0])}}
    own = grapple.load({"name": "hub", "body": bodies, "experiment": {"stop_time": 1, "step": 0.5}})
    assert own.check() and {problem.kind for problem in own.check()} == {"note"}
    other = grapple.load('name = "hub"\n[body.hub]\nmass = 2.0\ninertia = [1.0, 1.0, 1.0]\n[experiment]\nstop_time = 1.0\nstep = 0.5\n')
    assert list(own.model().x0) == list(other.model().x0)


def test_check_lists_all_errors_with_their_lines(spec):
    lines = spec.to_toml().splitlines()
    spec.path.write_text("\n".join([*lines, "[frame.tool]", "body = 'nosuch'", "[body.forearm.beam]", "length = -1.0"]))
    problems = grapple.load(spec.path).check()
    assert {problem.kind for problem in problems} == {"error"} and len(problems) >= 2
    (of_frame,) = [problem for problem in problems if "nosuch" in problem.message]
    assert of_frame.file == str(spec.path) and of_frame.line == len(lines) + 2
    with pytest.raises(grapple.GrappleError) as caught:
        grapple.build(spec.path)
    assert caught.value.problems == problems and f"{spec.path}:{of_frame.line}" in str(caught.value)
    spec["frame"] = {"tool": {"body": "forarm"}}
    (problem,) = spec.check()
    assert problem.hint == 'did you mean "forearm"?' and problem.hint in str(problem)
    assert pickle.loads(pickle.dumps(caught.value)).problems == problems


def test_errors_of_an_edited_spec_are_at_lines_of_its_text(spec):
    spec["frame"] = {"tool": {"body": "nosuch"}}
    (problem,) = spec.check()
    assert "nosuch" in spec.to_toml().splitlines()[problem.line - 1]


def test_text_that_is_no_toml_is_an_error_with_its_line(tmp_path):
    file = tmp_path / "broken.toml"
    file.write_text('name = "a"\nmass == 3\n')
    with pytest.raises(grapple.GrappleError) as caught:
        grapple.load(file)
    assert caught.value.problems[0].line == 2


def test_missing_file_is_an_error_that_names_it(tmp_path):
    with pytest.raises(FileNotFoundError, match="nosuch.toml"):
        grapple.load(tmp_path / "nosuch.toml")


def test_template_is_that_of_the_tool(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tool("new", "arm", "--template", "ssrms_type")
    assert grapple.new("ssrms_type", "arm").to_toml() == (tmp_path / "arm.toml").read_text()
    assert "blank" in grapple.templates()
    with pytest.raises(grapple.GrappleError, match='there is no template "two_lin"; did you mean "two_link"'):
        grapple.new("two_lin")


@pytest.mark.parametrize("name", ["chaser", "ur5e"])
def test_imported_robot_is_that_of_the_tool(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tool").mkdir()
    tool("import", ROBOTS[name], "--base", "floating", "--output", tmp_path / "tool/robot.toml")
    own = grapple.import_urdf(ROBOTS[name], "robot.toml", base="floating")
    assert own.to_toml() == (tmp_path / "tool/robot.toml").read_text()
    with pytest.raises(FileExistsError, match="robot.toml"):
        grapple.import_urdf(ROBOTS[name], "robot.toml")


# ---- builds and runs


def test_fmu_has_the_bytes_of_the_tool(spec, tmp_path):
    tool("build", spec.path, "--output", tmp_path / "tool.fmu")
    assert spec.build(tmp_path / "own.fmu").read_bytes() == (tmp_path / "tool.fmu").read_bytes()
    assert grapple.build(spec.path) == tmp_path / "two_link.fmu"
    with pytest.raises(grapple.GrappleError, match="is the file of the spec"):
        spec.build(spec.path)


def test_results_are_those_of_the_tool(spec, tmp_path):
    tool("simulate", spec.path, "--output", tmp_path / "tool.csv", "--no-page", "--stop-time", 0.2, "--set", "forearm.mass=2.5")
    result = spec.simulate(stop_time=0.2, set={"forearm.mass": 2.5})
    assert result.save(tmp_path / "own.csv").read_bytes() == (tmp_path / "tool.csv").read_bytes()
    assert result.parameters["forearm.mass"] == 2.5
    frame, table = result.to_pandas(), result.to_arrow()
    assert np.array_equal(frame["elbow.q"], result["elbow.q"]) and frame.attrs["units"]["elbow.q"] == "rad"
    assert table.column("elbow.q").to_pylist() == list(result["elbow.q"])
    assert np.array_equal(result["base.r"], np.stack([result[f"base.r[{i}]"] for i in (1, 2, 3)], axis=1))
    health = result.health
    assert health.good and health.momentum < 1e-8 and health.energy < 1e-6
    with pytest.raises(KeyError, match="did you mean 'elbow.q'"):
        result["elbow.qq"]


def test_page_is_html_that_a_notebook_shows(spec, tmp_path):
    result = spec.simulate(**SHORT)
    assert "</html>" in result.page().save(tmp_path / "page.html").read_text()
    assert result._repr_html_().startswith("<iframe srcdoc=")
    recorded = grapple.page([result.save(tmp_path / "run.csv")], spec)
    assert "</html>" in recorded.html


def test_events_are_a_table_and_a_missing_run_keeps_its_rows():
    result = grapple.simulate(EXAMPLES / "berthing.toml")
    table = pandas.DataFrame(result.events)
    assert {"t", "event", "text"} <= set(table.columns) and len(table) > 0 and (table["t"] <= result.time[-1]).all()


def test_failed_run_raises_and_keeps_its_rows():
    spec = grapple.new("two_link")
    spec["solver"] = {"method": "rk4", "step": 1e-3, "work_limit": 100}
    problems = spec.check()
    if any(problem.kind == "error" for problem in problems):
        pytest.fail(str(problems))
    with pytest.raises(grapple.GrappleError, match="evaluations") as caught:
        spec.simulate(stop_time=1.0, step=0.5)
    assert caught.value.result.failure and len(caught.value.result.time) >= 1


def test_inputs_replace_signals(spec, tmp_path):
    for of_input in spec["signal"].values():
        of_input["from_importer"] = True
    times = np.linspace(0, 0.2, 5)
    torque = 0.1 * np.sin(times)
    by_pair = spec.simulate(**SHORT, inputs={"elbow.tau": (times, torque)})
    columns = pandas.DataFrame({"time": times, "elbow.tau [N.m]": torque})
    columns.to_csv(tmp_path / "inputs.csv", index=False)
    for same in (columns, columns.set_index("time"), tmp_path / "inputs.csv", {"time": times, "elbow.tau": torque}):
        assert np.array_equal(spec.simulate(**SHORT, inputs=same)["elbow.q"], by_pair["elbow.q"])
    assert np.allclose(by_pair["elbow.tau"], torque, rtol=0, atol=1e-15)
    for wrong, message in [
        ({"elbow.ta": (times, torque)}, 'did you mean "elbow.tau"'),
        ({"elbow.tau": (times, torque[1:])}, "5 times for 4 values"),
        ({"elbow.tau": (times[::-1], torque)}, "the time decreases"),
        ({"elbow.tau": (times, np.nan * torque)}, "NaN is not a finite number"),
    ]:
        with pytest.raises(grapple.GrappleError, match=message):
            spec.simulate(**SHORT, inputs=wrong)


def test_platforms_select_the_libraries_of_an_fmu(fmu, spec, tmp_path):
    with zipfile.ZipFile(fmu) as archive:
        assert [name for name in archive.namelist() if name.startswith("binaries/")] == [LIBRARY]
    with pytest.raises(grapple.GrappleError, match="contains no library for linux32, only for .*" + PLATFORM):
        spec.build(tmp_path / "a.fmu", platforms=[PLATFORM, "linux32"])
    with pytest.raises(grapple.GrappleError, match="aarch64-linux, darwin64, linux32, linux64, wasm, win32, win64"):
        spec.build(tmp_path / "a.fmu", platforms=["amiga"])


@pytest.mark.parametrize(
    "change, reason",
    [
        (lambda data: data[: len(data) // 2], ""),
        (lambda data: data[:-1], ""),
        (lambda data: bytes(1000), "it is not a library of any platform"),
        (lambda data: b"", "it is not a library of any platform"),
        # The number of the processor in the header of an ELF file, of IBM's S/390.
        (lambda data: data[:18] + bytes([22, 0]) + data[20:], "S390x, and linux64 needs 64-bit ELF (Linux) for x86-64"),
    ],
    ids=["half of it", "without the last byte", "zeros", "empty", "of another processor"],
)
def test_a_damaged_library_is_an_error(fmu, tmp_path, change, reason):
    with pytest.raises(grapple.GrappleError) as caught:
        grapple.simulate(damaged(fmu, tmp_path / "damaged.fmu", change))
    assert f"the FMU has no library that runs here ({PLATFORM})" in str(caught.value) and reason in str(caught.value)
    assert os.listdir(tmp_path) == ["damaged.fmu"]


def test_a_damaged_archive_is_an_error_that_names_it(fmu, tmp_path):
    data = bytearray(fmu.read_bytes())
    data[len(data) // 2] ^= 0xFF
    archive = tmp_path / "damaged.fmu"
    archive.write_bytes(data)
    with pytest.raises(grapple.GrappleError, match=f"cannot unpack .*{archive.name}"):
        grapple.simulate(archive)


def test_campaign_has_the_table_of_the_tool(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = {
        "runs": 4,
        "experiment": {"stop_time": 0.2, "step": 0.1},
        "dispersion": {"forearm.mass": {"uniform": [1.0, 2.0]}},
        "output": {"elbow.q": ["final"]},
    }
    done = spec.campaign(study, tmp_path / "own")
    (tmp_path / "study.toml").write_text(grapple.load({"model": str(spec.path), **study}).to_toml())
    tool("campaign", "study.toml", "--output", tmp_path / "tool")
    assert done.table.read_bytes() == (tmp_path / "tool/runs.csv").read_bytes()
    assert done.runs == len(done.to_pandas()) == 4 and not done.failed
    with pytest.raises(grapple.GrappleError, match="forearm.mas"):
        spec.campaign({**study, "dispersion": {"forearm.mas": {"uniform": [1.0, 2.0]}}}, tmp_path / "other")


# Some runs fail: no rigid body has their inertia.
STUDY = {
    "runs": 7,
    "experiment": {"stop_time": 0.2, "step": 0.1},
    "dispersion": {"forearm.mass": {"uniform": [1.0, 2.0]}, "base.inertia_zz": {"list": [0.4, 0.4, 0.9]}},
    "output": {"elbow.q": ["final", "series"], "system.energy": ["max"]},
}


@pytest.fixture(scope="module")
def in_process(tmp_path_factory):
    """A campaign that this process makes."""
    folder = tmp_path_factory.mktemp("campaign")
    return grapple.load(EXAMPLES / "two_link.toml").campaign(STUDY, folder), folder


def dask():
    from distributed import Client

    return Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None)


def assert_same(done, folder, expected, its_folder):
    assert done.table.read_bytes() == expected.table.read_bytes()
    assert (done.runs, done.failed) == (expected.runs, expected.failed) and len(done.failed) == 2
    series = sorted(path.name for path in (its_folder / "series").iterdir())
    assert series == sorted(path.name for path in (folder / "series").iterdir()) and len(series) == 5
    for name in series:
        assert (folder / "series" / name).read_bytes() == (its_folder / "series" / name).read_bytes()


@pytest.mark.parametrize("kind", ["threads", "processes", "dask"])
def test_campaign_of_an_executor_has_the_bytes_of_that_of_this_process(kind, in_process, spec, tmp_path):
    progress = []
    with {"threads": ThreadPoolExecutor, "processes": ProcessPoolExecutor, "dask": dask}[kind]() as pool:
        executor = pool.get_executor() if kind == "dask" else pool
        options = {"executor": executor, "progress": lambda *parts: progress.append(parts)}
        # A spec that is a dictionary, and the file of a study.
        done = grapple.load(dict(spec)).campaign(STUDY, tmp_path / "own", jobs=3, **options)
        assert_same(done, tmp_path / "own", *in_process)
        assert [whole for _, whole in progress] == [7, 7, 7] and progress[-1][0] == 7
        text = grapple.load({"model": "two_link.toml", **STUDY, "format": "parquet"}).to_toml()
        (tmp_path / "study.toml").write_text(text)
        done = grapple.campaign(tmp_path / "study.toml", tmp_path / "file", **options)
    assert done.to_pandas().equals(grapple.campaign(tmp_path / "study.toml", tmp_path / "again").to_pandas())


def test_worker_that_fails_is_an_error_and_the_same_call_continues(in_process, spec, tmp_path):
    class Failing(ThreadPoolExecutor):
        count = 0

        def submit(self, function, *arguments):
            self.count += 1
            return super().submit(os.stat, "/nosuch") if self.count == 3 else super().submit(function, *arguments)

    with Failing(1) as executor, pytest.raises(grapple.GrappleError, match="a worker .* failed: FileNotFoundError"):
        spec.campaign(STUDY, tmp_path / "own", jobs=4, executor=executor)
    journal = tmp_path / "own/runs-0-of-1.jsonl"
    kept = journal.read_text().splitlines()
    assert 2 <= len(kept) < 7
    assert_same(spec.campaign(STUDY, tmp_path / "own"), tmp_path / "own", *in_process)
    assert journal.read_text().splitlines()[: len(kept)] == kept
    with pytest.raises(grapple.GrappleError, match="forearm.mas"), ThreadPoolExecutor() as executor:
        wrong = {**STUDY, "dispersion": {"forearm.mas": {"uniform": [1.0, 2.0]}}}
        spec.campaign(wrong, tmp_path / "other", executor=executor)
    with pytest.raises(TypeError, match="executor must be one of concurrent.futures, not int"):
        spec.campaign(STUDY, tmp_path / "other", executor=2)


# ---- linear models


def test_linear_model_has_names_and_converts(spec):
    linear = spec.linearize(at=0.1, inputs=["elbow.tau"], outputs=["elbow.q", "system.energy"])
    assert linear.inputs == ("elbow.tau",) and linear.outputs == ("elbow.q", "system.energy")
    assert linear.A.shape == (len(linear.states),) * 2 and linear.D.shape == (2, 1) and linear.t == 0.1
    assert linear.input_units == ("N.m",) and "zero eigenvalue" in linear.text
    assert np.array_equal(linear.to_scipy().B, linear.B)
    with pytest.raises(grapple.GrappleError, match='did you mean "elbow.tau"'):
        spec.linearize(inputs=["elbow.taw"])
    model = spec.model()
    again = model.linearize(0.0, model.x0)
    assert np.array_equal(again.A, spec.linearize().A) and again.modes is None


def test_missing_package_is_an_error_that_names_it(spec, monkeypatch):
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(ImportError, match="pip install control"):
        spec.linearize().to_control()


def test_every_template_is_a_spec():
    assert {"arm", "controller", "two_link"} <= set(grapple.templates())
    for name in grapple.templates():
        assert all(problem.kind != "error" for problem in grapple.new(name, "craft").check()), name
    for name in ("study", "pair", "two_lin"):
        with pytest.raises(grapple.GrappleError, match="template"):
            grapple.new(name)


# ---- the page docs/python.md


@pytest.mark.parametrize("number", range(4))
def test_programs_of_the_page_run(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    programs = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.DOTALL)
    assert len(programs) == 4
    names = {}
    exec(compile(programs[number], f"program {number}", "exec"), names)
    if number == 0:
        assert names["result"].health.good and names["linear"].outputs == ("bus.w[1]", "bus.w[2]", "bus.w[3]")
        assert "</html>" in (tmp_path / "arm.html").read_text()
    if number == 3:
        assert np.abs(names["solved"].y[:, -1] - names["run"].state).max() < 1e-9
        assert max(abs(names["simulation"][name]) for name in names["joints"]) < 1e-6
        assert max(names["poles"].real) < -0.1


# ---- interruption, threads, the tool


def test_ctrl_c_ends_a_run_and_a_campaign(tmp_path, interruptible):
    spec = grapple.load(EXAMPLES / "ssrms_type.toml")
    slow = spec.copy()
    slow["solver"], slow["experiment"] = {"method": "rk4", "step": 1e-4}, {"stop_time": 1e7, "step": 1e7}
    study = {"runs": 100, "experiment": {"stop_time": 1e3}, "output": {"system.energy": ["final"]}}

    def distributed(spec, study, folder):
        with ThreadPoolExecutor(2) as executor:
            spec.campaign(study, folder, executor=executor)

    for work in (
        lambda: spec.simulate(stop_time=3e4, step=10.0),
        lambda: spec.campaign(study, tmp_path / "campaign"),
        lambda: spec.linearize(at=1e7),
        # A single communication step.
        lambda: slow.linearize(at=1e7),
        lambda: distributed(spec, study, tmp_path / "distributed"),
    ):
        spec.simulate(stop_time=0.1)
        timer = threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT))
        timer.start()
        begin = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            work()
        assert time.monotonic() - begin < 60, "it has not ended by itself"


def test_interpreter_runs_during_a_run_and_progress_is_reported():
    counts, stop, parts = [0], threading.Event(), []

    def count():
        while not stop.is_set():
            counts[0] += 1
            time.sleep(1e-3)

    other = threading.Thread(target=count)
    other.start()
    grapple.load(EXAMPLES / "ssrms_type.toml").simulate(progress=lambda done, whole: parts.append((done, whole)))
    stop.set()
    other.join()
    assert counts[0] > 10
    assert parts and all(0 <= done <= whole for done, whole in parts) and parts[-1][0] == parts[-1][1]


def test_exception_in_a_progress_function_ends_the_run():
    def fail(done, whole):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        grapple.load(EXAMPLES / "ssrms_type.toml").simulate(stop_time=3e4, step=10.0, progress=fail)


def test_command_line_is_that_of_the_tool(capfd):
    from grapple_fmu import _native

    assert _native.command_line(["grapple", "--version"]) == 0
    printed = capfd.readouterr().out
    assert printed == tool("--version").stdout
    assert _native.command_line(["grapple", "chek"]) == 2 and "tip" in capfd.readouterr().err
    assert _native.command_line(["grapple", "check", "/nosuch.toml"]) == 1


def test_stub_declares_what_the_module_has():
    import ast
    import inspect

    from grapple_fmu import _native

    stub = ast.parse((ROOT / "python/grapple_fmu/_native.pyi").read_text())
    declared = {node.name for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert declared == {name for name in vars(_native) if not name.startswith("_")}
    for node in stub.body:
        if isinstance(node, ast.FunctionDef):
            own = list(inspect.signature(getattr(_native, node.name)).parameters)
            assert own == [argument.arg for argument in node.args.args], node.name
        if isinstance(node, ast.ClassDef):
            of = getattr(_native, node.name)
            declared = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            public = {name for name in vars(of) if not name.startswith("_")}
            assert public == {name for name in declared if not name.startswith("_")}, node.name
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and not item.decorator_list and not item.name.startswith("_"):
                    arguments = [*item.args.args, *item.args.kwonlyargs]
                    own = inspect.signature(getattr(of, item.name)).parameters
                    assert [argument.arg for argument in arguments][1:] == list(own)[1:], item.name
