"""FMUs of FMI 3.0 in FMPy: valid, and with the results of FMI 2.0."""

import os
import zipfile
from pathlib import Path

import fmpy
import numpy as np
import pytest
from conftest import EXAMPLES
from fmpy.fmi3 import FMU3Slave
from fmpy.validation import validate_fmu
from lxml import etree

from fmu import Archive, CoSimulation, grapple

SCHEMA = Path(fmpy.__file__).parent / "schema" / "fmi3" / "fmi3ModelDescription.xsd"
NAMES = [path.stem for path in EXAMPLES]
# Communication points of a run in Co-Simulation that are compared.
STEPS = 40


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """The FMUs of FMI 3.0 of all examples by name."""

    class Archives(dict):
        def __missing__(self, name):
            path = next(path for path in EXAMPLES if path.stem == name)
            self[name] = Archive.build(path, tmp_path_factory.mktemp(name), "--fmi", "3")
            return self[name]

    return Archives()


def slave(archive, start=None, tolerance=None, early=False, events=False, update=None):
    """Returns an initialised instance in Co-Simulation, with Event Mode in Step Mode."""
    description = archive.description
    instance = FMU3Slave(
        guid=description.guid,
        unzipDirectory=str(archive.directory),
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="instance",
    )
    instance.instantiate(loggingOn=False, earlyReturnAllowed=early, eventModeUsed=events, intermediateUpdate=update)
    for name, value in (start or {}).items():
        write(instance, archive.variables[name], value)
    instance.enterInitializationMode(tolerance=tolerance)
    instance.exitInitializationMode()
    if events:
        instance.updateDiscreteStates()
        instance.enterStepMode()
    return instance


def write(instance, variable, value):
    """Sets a variable of any type from a number."""
    as_type = {"Float64": float, "Int32": int, "Boolean": bool}[variable.type]
    getattr(instance, f"set{variable.type}")([variable.valueReference], [as_type(value)])


def read(instance, variables):
    """Returns variables of any type as numbers."""
    values = {}
    for of_type in "Float64", "Int32", "Boolean":
        references = [v.valueReference for v in variables if v.type == of_type]
        if references:
            values |= zip(references, getattr(instance, f"get{of_type}")(references))
    return [float(values[v.valueReference]) for v in variables]


def free(instance):
    # The library stays loaded: other instances of the same archive may exist.
    instance.fmi3FreeInstance(instance.component)
    instance.component = None


# Each example with one kind in turn; with GRAPPLE_LONG with all three.
KINDS = ["me", "cs", "both"]
ARCHIVES = [
    pytest.param(example, kind, id=f"{example.stem}-{kind}")
    for k, example in enumerate(EXAMPLES)
    for kind in (KINDS if "GRAPPLE_LONG" in os.environ else KINDS[k % 3 : k % 3 + 1])
]


@pytest.mark.parametrize(("example", "kind"), ARCHIVES)
def test_every_archive_is_valid(example, kind, tmp_path):
    fmu = tmp_path / f"{example.stem}.fmu"
    names = "flat" if kind == "me" else "structured"
    grapple("build", example, "--fmi", "3", "--fmi-type", kind, "--names", names, "--output", fmu)
    assert validate_fmu(str(fmu)) == []
    with zipfile.ZipFile(fmu) as archive:
        root = etree.fromstring(archive.read("modelDescription.xml"))
        binaries = [name for name in archive.namelist() if name.startswith("binaries/")]
        is_drawn = not example.stem.endswith("controller")
        assert ("terminalsAndIcons/icon.png" in archive.namelist()) == is_drawn
        assert "model.png" not in archive.namelist()
    schema = etree.XMLSchema(file=str(SCHEMA))
    schema.validate(root)
    assert [str(error) for error in schema.error_log] == []
    offered = {element.tag for element in root} & {"ModelExchange", "CoSimulation"}
    assert offered == {"me": {"ModelExchange"}, "cs": {"CoSimulation"}}.get(kind, {"ModelExchange", "CoSimulation"})
    identifier = next(root.iter("ModelExchange", "CoSimulation")).get("modelIdentifier")
    assert [Path(name).stem for name in binaries] == [identifier] * len(binaries)
    systems = {Path(name).parent.name.rsplit("-", 1)[-1] for name in binaries}
    assert systems <= {"linux", "windows", "darwin"}
    references = [int(v.get("valueReference")) for v in root.find("ModelVariables")]
    assert len(set(references)) == len(references)


@pytest.mark.parametrize("name", NAMES)
def test_co_simulation_gives_the_bits_of_fmi_2(name, archives, examples):
    two, three = examples[name], archives[name]
    assert three.description.guid == two.description.guid, "a saved state of one continues in the other"
    names = two.outputs()
    h = float(two.description.defaultExperiment.stepSize)
    times = np.arange(STEPS + 1) * h
    with CoSimulation(two) as reference:
        expected = reference.run(times, names)
    instance = slave(three)
    outputs = [three.variables[n] for n in names]
    rows = [read(instance, outputs)]
    t = 0.0
    for end in times[1:]:
        event, terminate, early, reached = instance.doStep(t, end - t)
        assert (event, terminate, early) == (False, False, False)
        assert reached == t + (end - t)
        t = end
        rows.append(read(instance, outputs))
    free(instance)
    assert np.array(rows).tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", ["two_link", "docking", "servoed_arm", "dual_arm"])
@pytest.mark.parametrize("kind", ["ModelExchange", "CoSimulation"])
def test_fmpy_runs_both_interfaces_with_the_results_of_fmi_2(name, kind, archives, examples, within):
    stop = min(2.0, float(examples[name].description.defaultExperiment.stopTime))
    states = examples[name].states
    tables = [
        fmpy.simulate_fmu(
            str(archives_of[name].path),
            fmi_type=kind,
            stop_time=stop,
            output_interval=0.01,
            output=states,
            relative_tolerance=1e-8,
        )
        for archives_of in (archives, examples)
    ]
    rows = [np.array([table[n] for n in ("time", *states)]).T for table in tables]
    if kind == "CoSimulation":
        assert rows[0].tobytes() == rows[1].tobytes()
        return
    # FMPy records events at times of its own; the common times are compared.
    times = np.intersect1d(rows[0][:, 0], rows[1][:, 0])
    assert len(times) > 0.9 * stop / 0.01
    last = [table[np.array([np.flatnonzero(table[:, 0] == t)[-1] for t in times])] for table in rows]
    off = np.abs(last[0] - last[1]) / np.array([1.0, *(examples[name].nominal(n) for n in states)])
    within("FMI 3.0 and 2.0 agree in Model Exchange", off.max(), 1e-6, "the tolerance of CVode, 1e-8, over 200 steps")


def test_steps_end_at_the_capture_if_the_importer_allows_it(archives, examples):
    """docking: the probe touches the target within a communication step."""
    archive = archives["docking"]
    names = examples["docking"].outputs()
    outputs = [archive.variables[n] for n in names]
    h = 0.5
    stop = float(archive.description.defaultExperiment.stopTime)

    def run(early):
        instance, t, returns = slave(archive, {"latch.capture": 1.0}, early=early), 0.0, []
        for end in np.arange(1, round(stop / h) + 1) * h:
            while t < end:
                _, _, is_early, reached = instance.doStep(t, end - t)
                assert is_early == (reached < end)
                t = reached if is_early else end
                returns += [reached] if is_early else []
        values = read(instance, outputs)
        free(instance)
        return np.array(values), returns

    plain, none = run(False)
    early, returns = run(True)
    assert none == []
    (t,) = returns
    assert abs(t - plain[names.index("latch.time")]) < 1e-12
    assert early[names.index("latch.captured")] == 1.0
    assert early.tobytes() == plain.tobytes()


def test_event_mode_applies_the_capture_where_the_probe_touches(archives, examples):
    """docking, with Event Mode and early return: values before and after the capture at one instant."""
    archive = archives["docking"]
    names = examples["docking"].outputs()
    outputs = [archive.variables[n] for n in names]
    captured = names.index("latch.captured")
    states = [names.index(n) for n in examples["docking"].states]
    h = 0.5
    stop = float(archive.description.defaultExperiment.stopTime)
    plain = slave(archive, {"latch.capture": 1.0})
    for k in range(round(stop / h)):
        plain.doStep(k * h, h)
    expected = np.array(read(plain, outputs))
    free(plain)
    instance, t, jumps = slave(archive, {"latch.capture": 1.0}, early=True, events=True), 0.0, []
    for end in np.arange(1, round(stop / h) + 1) * h:
        while t < end:
            needs_event, _, is_early, reached = instance.doStep(t, end - t)
            assert is_early == (reached < end)
            t = reached if is_early else end
            if not needs_event:
                continue
            before = read(instance, outputs)
            instance.enterEventMode()
            assert read(instance, outputs) == before
            needs_update, _, _, has_jumped, _, _ = instance.updateDiscreteStates()
            assert not needs_update
            after = read(instance, outputs)
            instance.enterStepMode()
            if has_jumped:
                jumps.append((t, before, after))
    values = np.array(read(instance, outputs))
    free(instance)
    ((t, before, after),) = jumps
    touch = expected[names.index("latch.time")]
    print(f"capture at {touch} s, event {abs(t - touch):.1e} s from it")
    assert abs(t - touch) < 1e-12
    assert (before[captured], after[captured]) == (0.0, 1.0)
    jump = max(abs(after[k] - before[k]) for k in states)
    assert jump > 1e-3, jump
    assert values.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", ["docking", "servoed_arm", "arm_controller"])
def test_fmpy_runs_event_mode_and_early_return(name, archives):
    """FMPy's own loop, at the common communication points with the bits of the run without events."""
    start = {"latch.capture": 1.0} if name == "docking" else {}
    h, n = (0.5, 100) if name == "docking" else (0.01, 200)
    tables = [
        fmpy.simulate_fmu(
            str(archives[name].path),
            fmi_type="CoSimulation",
            stop_time=n * h,
            output_interval=h,
            start_values=start,
            early_return_allowed=early,
            use_event_mode=events,
        )
        for early, events in [(False, False), (True, True), (False, True)]
    ]
    plain = tables[0]
    for table in tables[1:]:
        last = {row["time"]: row for row in table}
        common = [k for k, t in enumerate(plain["time"]) if t in last]
        assert len(common) > 0.9 * n
        assert all(plain[k].tobytes() == last[plain["time"][k]].tobytes() for k in common)


def test_intermediate_updates_read_values_at_internal_steps(archives, examples):
    archive = archives["docking"]
    names = examples["docking"].states
    references = [archive.variables[n].valueReference for n in names]
    updates, box = [], []

    def update(environment, t, is_set_requested, may_get, is_finished, can_return_early, requested, time):
        updates.append((t, box[0].getFloat64(references), is_set_requested, may_get, is_finished))

    instance = slave(archive, {"latch.capture": 1.0}, update=update)
    box.append(instance)
    for k in range(4):
        instance.doStep(k * 0.5, 0.5)
    times = [t for t, *_ in updates]
    assert len(times) > 8 and times == sorted(set(times)) and times[-1] == 2.0
    assert all(flags == [False, True, True] for _, _, *flags in updates)
    assert updates[-1][1] == instance.getFloat64(references)
    free(instance)
