"""FMUs for WebAssembly (draft FMI-LS-WASM) in Wasmtime: all values have the bits of the native library.

The component is the one that `scripts/libraries wasm` has left."""

import functools
import os
import zipfile

import numpy as np
import pytest
from conftest import EXAMPLES
from fmpy.fmi3 import FMU3Model
from lxml import etree

from fmu import DOUBLE_P, Archive, grapple
from test_fmi3 import free, slave

wasmtime = pytest.importorskip("wasmtime", reason="an engine of WebAssembly: pip install wasmtime==50.0.1")
from wasmtime.component import Component, Linker  # noqa: E402

LIBRARY = EXAMPLES[0].parents[1] / "target/libraries/wasm/grapple.wasm"
pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason="scripts/libraries wasm has not been run")
NAMES = [path.stem for path in EXAMPLES if os.environ.get("GRAPPLE_LONG") or path.stem in ("two_link", "docking", "servicer_orbit", "beam_in_grasp")]
STEPS = 20
BOTH = "--fmi", "3", "--binary", f"wasm={LIBRARY}"


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """The FMUs of the examples for this platform and for WebAssembly, by name."""

    class Archives(dict):
        def __missing__(self, name):
            path = next(path for path in EXAMPLES if path.stem == name)
            self[name] = Archive.build(path, tmp_path_factory.mktemp(name), *BOTH)
            return self[name]

    return Archives()


ENGINE = wasmtime.Engine()


@functools.cache
def component(archive):
    """Compiled for this machine: seconds."""
    [file] = (archive.directory / "binaries/wasm32-wasip2").iterdir()
    return Component(ENGINE, file.read_bytes())


class Host:
    """A component of its own, and the messages that it has sent."""

    def __init__(self, archive):
        self.description, self.messages = archive.description, []
        self.store, linker = wasmtime.Store(ENGINE), Linker(ENGINE)
        self.store.set_wasi(wasmtime.WasiConfig())
        linker.add_wasip2()
        with linker.root() as root, root.add_instance("fmi:fmi3/callbacks@3.0.0") as callbacks:
            callbacks.add_func("log-message", lambda _, *message: self.messages.append(message))
        self.instance = linker.instantiate(self.store, component(archive))

    def call(self, interface, function, *arguments):
        place = self.instance.get_export_index(self.store, f"fmi:fmi3/{interface}@3.0.0")
        found = self.instance.get_func(self.store, self.instance.get_export_index(self.store, function, place))
        value = found(self.store, *arguments)
        found.post_return(self.store)
        return value


class Wasm:
    """An instance; functions are called by their names in FMI-LS-WASM, with `_` for `-`."""

    def __init__(self, host, interface, token=None, events=False):
        self.host, self.interface = host, interface
        more = [events, events, []] if interface == "co-simulation" else []
        token = host.description.guid if token is None else token
        self.resource = host.call(interface, f"[static]{interface}-instance.instantiate-{interface}", "arm", token, "/", False, True, *more)

    def __getattr__(self, name):
        function = f"[method]{self.interface}-instance.{name.replace('_', '-')}"
        return lambda *arguments: self.host.call(self.interface, function, self.resource, *arguments)

    def initialise(self):
        assert self.enter_initialization_mode(None, 0.0, None) == "ok" and self.exit_initialization_mode() == "ok"
        return self


def field(record, name):
    return getattr(record, name)


def outputs(archive):
    return [v.valueReference for v in archive.description.modelVariables if v.causality == "output" and v.type == "Float64"]


@pytest.mark.parametrize("name", NAMES)
def test_co_simulation_has_the_bits_of_the_native_library(archives, name):
    archive = archives[name]
    native, wasm = slave(archive), Wasm(Host(archive), "co-simulation").initialise()
    step, references = float(archive.description.defaultExperiment.stepSize), outputs(archive)
    for k in range(STEPS):
        assert native.getFloat64(references) == wasm.get_float64(references)
        native.doStep(k * step, step)
        assert field(wasm.do_step(k * step, step, True), "last-successful-time") == pytest.approx(k * step + step)
    assert native.getFloat64(references) == wasm.get_float64(references)
    free(native)


@pytest.mark.parametrize("name", NAMES)
def native_model(archive):
    """The native library in Continuous-Time Mode."""
    description = archive.description
    model = FMU3Model(
        guid=description.guid,
        unzipDirectory=str(archive.directory),
        modelIdentifier=description.modelExchange.modelIdentifier,
        instanceName="native",
    )
    model.instantiate()
    model.enterInitializationMode()
    model.exitInitializationMode()
    model.updateDiscreteStates()
    model.enterContinuousTimeMode()
    return model


@pytest.mark.parametrize("name", NAMES)
def test_model_exchange_has_the_bits_of_the_native_library(archives, name):
    """Derivatives of the states, event indicators, directional and adjoint derivatives at a random state."""
    archive = archives[name]
    description, native = archive.description, native_model(archive)
    wasm = Wasm(Host(archive), "model-exchange").initialise()
    count, indicators = len(description.derivatives), description.numberOfEventIndicators
    assert (wasm.get_number_of_continuous_states(), wasm.get_number_of_event_indicators()) == (count, indicators)
    assert field(wasm.update_discrete_states(), "new-discrete-states-needed") is False
    assert wasm.enter_continuous_time_mode() == "ok"
    rng = np.random.default_rng(3)
    moved = np.array(wasm.get_continuous_states()) + 1e-3 * rng.standard_normal(count)
    x, rates, found = moved.copy(), np.zeros(count), np.zeros(max(indicators, 1))
    native.setTime(0.01)
    native.setContinuousStates(x.ctypes.data_as(DOUBLE_P), count)
    native.getContinuousStateDerivatives(rates.ctypes.data_as(DOUBLE_P), count)
    native.getEventIndicators(found.ctypes.data_as(DOUBLE_P), indicators)
    assert wasm.set_time(0.01) == "ok" and wasm.set_continuous_states(moved.tolist()) == "ok"
    assert wasm.get_continuous_state_derivatives() == rates.tolist()
    assert wasm.get_event_indicators() == found[:indicators].tolist()
    knowns = [d.variable.derivative.valueReference for d in description.derivatives]
    unknowns = [d.variable.valueReference for d in description.derivatives]
    seed = rng.standard_normal(count).tolist()
    along = wasm.get_directional_derivative(unknowns, knowns, seed)
    assert along == native.getDirectionalDerivative(unknowns, knowns, seed)
    assert wasm.get_adjoint_derivative(unknowns, knowns, seed) == native.getAdjointDerivative(unknowns, knowns, seed)
    assert field(wasm.completed_integrator_step(True), "enter-event-mode") is False
    free(native)


def test_a_saved_state_goes_to_the_native_library_and_back(archives):
    archive = archives["two_link"]
    references = outputs(archive)
    native, wasm = slave(archive), Wasm(Host(archive), "co-simulation").initialise()
    for k in range(3):
        wasm.do_step(0.1 * k, 0.1, False)
    bytes_ = wasm.get_fmu_state()
    state = native.deserializeFMUState(bytes_ if isinstance(bytes_, bytes) else bytes(bytes_))
    native.setFMUState(state)
    assert native.getFloat64(references) == wasm.get_float64(references)
    native.doStep(0.3, 0.1)
    wasm.do_step(0.3, 0.1, False)
    expected = wasm.get_float64(references)
    assert native.getFloat64(references) == expected
    assert wasm.set_fmu_state(bytes_) == "ok"
    wasm.do_step(0.3, 0.1, False)
    assert wasm.get_float64(references) == expected
    native.freeFMUState(state)
    free(native)


def test_two_instances_are_independent(archives):
    archive = archives["two_link"]
    host, references = Host(archive), outputs(archive)
    a, b = (Wasm(host, "co-simulation").initialise() for _ in range(2))
    before = b.get_float64(references)
    a.do_step(0.0, 0.1, True)
    assert b.get_float64(references) == before != a.get_float64(references)
    a.resource.drop(host.store)
    assert field(b.do_step(0.0, 0.1, True), "last-successful-time") == 0.1


def test_mistakes_are_refused_with_a_message(archives):
    archive = archives["two_link"]
    host = Host(archive)
    assert Wasm(host, "co-simulation", token="{}").resource is None
    assert "belongs to another build" in host.messages.pop()[3]
    wasm = Wasm(host, "co-simulation").initialise()
    for failure in (
        wasm.get_float64([10**9]),
        wasm.get_int32([1]),
        wasm.enter_configuration_mode(),
        wasm.set_fmu_state(b"grapple"),
        wasm.do_step(0.0, -1.0, True),
        wasm.set_input_derivatives([(1, 1)], [0.0]),
    ):
        assert failure == "error"
        name, status, category, message = host.messages.pop()
        assert (name, status, category) == ("arm", "error", "logStatusError") and message
    assert field(wasm.do_step(0.0, 0.1, True), "last-successful-time") == 0.1


def test_a_model_of_many_pages_is_read(tmp_path):
    """A table of 20,000 rows: the model takes more than ten pages of memory. Instances that are made
    and dropped use the memory behind it."""
    times = np.arange(20_000) * 1e-3
    signal = {"type": "table", "times": times.tolist(), "values": np.sin(times).tolist(), "from_importer": False}
    hub = {"mass": 2.0, "inertia": [1.0, 1.0, 1.0]}
    port = {"frame": "hub"}
    spec = {"name": "long", "body": {"hub": hub}, "port": {"push": port}, "signal": {"push.f[1]": signal}}
    archive = Archive.build(spec, tmp_path, *BOTH)
    model = archive.directory / "resources/model.json"
    assert model.stat().st_size > 10 << 16
    host, references = Host(archive), outputs(archive)
    for _ in range(3):
        native, wasm = slave(archive), Wasm(host, "co-simulation").initialise()
        for k in range(50):
            native.doStep(0.1 * k, 0.1)
            wasm.do_step(0.1 * k, 0.1, True)
        assert native.getFloat64(references) == wasm.get_float64(references)
        wasm.resource.drop(host.store)
        free(native)


def test_the_archive_has_the_manifest_and_no_other_platform_if_asked(tmp_path):
    fmu = tmp_path / "arm.fmu"
    grapple("build", EXAMPLES[0].parent / "two_link.toml", "-o", fmu, *BOTH, "--platform", "wasm")
    with zipfile.ZipFile(fmu) as archive:
        names = archive.namelist()
        [manifest] = [name for name in names if name.endswith("manifest.xml")]
        root = etree.fromstring(archive.read(manifest))
    assert manifest == "extra/org.modelica.fmi-ls-wasm/manifest.xml"
    assert root.get("{http://fmi-standard.org/fmi-ls-manifest}fmi-ls-name") == "org.modelica.fmi-ls-wasm"
    assert [name for name in names if name.startswith("binaries/")] == ["binaries/wasm32-wasip2/two_link.wasm"]


@pytest.mark.parametrize("options, problem", [((), "FMI 3.0"), (("--fmi", "3", "--arrays"), "--arrays")])
def test_fmi_2_and_arrays_are_refused(tmp_path, options, problem):
    spec = EXAMPLES[0].parent / "two_link.toml"
    run = grapple("build", spec, "-o", tmp_path / "arm.fmu", "--binary", f"wasm={LIBRARY}", *options, check=False)
    assert run.returncode == 1 and problem in run.stderr


def test_another_file_is_refused(tmp_path):
    other = tmp_path / "other.wasm"
    for contents, problem in ((b"\0asm\x01\0\0\0", "not a WebAssembly component"), (b"\0asm\x0d\0\x01\0", "no place for a model"), (b"\0asm\x0d\0\x01\0\x01\xff", "broken")):
        other.write_bytes(contents)
        run = grapple("build", EXAMPLES[0].parent / "two_link.toml", "-o", tmp_path / "a.fmu", "--fmi", "3", "--binary", f"wasm={other}", check=False)
        assert run.returncode == 1 and problem in " ".join(run.stderr.split())
