"""FMUs of FMI 3.0 and the tool's own commands: runs, terminals, reference results, arrays."""

import os
import shutil
import zipfile

import fmpy
import numpy as np
import pytest
from conftest import EXAMPLES
from fmpy.fmi3 import FMU3Model
from fmpy.validation import validate_fmu
from lxml import etree
from native import grapple_fmu

from fmu import Archive, grapple
from test_fmi3 import SCHEMA, free, slave

TERMINALS = SCHEMA.parent / "fmi3TerminalsAndIcons.xsd"
LS_REF = "extra/org.fmi-standard.fmi-ls-ref/"


def example(name):
    """The path of an example's spec."""
    return next(path for path in EXAMPLES if path.stem == name)


def replaced(fmu, target, name, change):
    """Copies an FMU with another content of one file."""
    with zipfile.ZipFile(fmu) as archive, zipfile.ZipFile(target, "w") as copy:
        for item in archive.infolist():
            data = archive.read(item)
            copy.writestr(item, change(data) if item.filename == name else data, zipfile.ZIP_STORED)
    return target


@pytest.mark.parametrize("name", ["two_link", "docking", "arm_controller", "berthing"])
def test_simulate_writes_the_bytes_of_fmi_2(name, tmp_path):
    tables = []
    for fmi in "2", "3":
        fmu = tmp_path / f"{name}_{fmi}.fmu"
        grapple("build", example(name), "--fmi", fmi, "--output", fmu)
        run = grapple("simulate", fmu, "--no-page", "--stop-time", "2", "--output", tmp_path / f"{fmi}.csv")
        assert "inputs are held" not in run.stdout
        tables.append((tmp_path / f"{fmi}.csv").read_bytes())
    assert tables[0] == tables[1]


def test_describe_reads_and_build_does_not_replace_an_fmu_of_fmi_3(tmp_path):
    fmu = tmp_path / "two_link.fmu"
    grapple("build", example("two_link"), "--fmi", "3", "--output", fmu)
    text = grapple("describe", fmu).stdout
    assert "FMI 3.0" in text and "shoulder.tau" in text
    before = fmu.read_bytes()
    refused = grapple("build", example("servoed_arm"), "--output", fmu, check=False)
    assert refused.returncode != 0
    assert '"two_link"' in refused.stderr and "--force" in refused.stderr
    assert fmu.read_bytes() == before


def test_simulate_reports_inputs_that_fmi_3_holds(tmp_path):
    """A ramp of the importer within a step is held at its value at the start of the step."""
    table = tmp_path / "inputs.csv"
    table.write_text("time,shoulder.tau\n0,0\n1,2\n")
    spec = example("two_link").read_text().replace("from_importer = false", "from_importer = true")
    (tmp_path / "two_link.toml").write_text(spec)
    results = {}
    for fmi in "2", "3":
        fmu = tmp_path / f"{fmi}.fmu"
        grapple("build", tmp_path / "two_link.toml", "--fmi", fmi, "--output", fmu)
        arguments = ["--no-page", "--stop-time", "1", "--step", "0.1", "--inputs", table]
        run = grapple("simulate", fmu, *arguments, "--output", tmp_path / f"{fmi}.csv")
        assert ("inputs are held in each communication step" in run.stdout) == (fmi == "3")
        results[fmi] = np.genfromtxt(tmp_path / f"{fmi}.csv", delimiter=",", skip_header=1)
    assert np.abs(results["2"] - results["3"]).max() > 1e-4


def test_python_builds_both_standards(tmp_path):
    spec = grapple_fmu.load(example("two_link"))
    for fmi, version in (2, "2.0"), (3, "3.0"):
        path = spec.build(tmp_path / f"{fmi}.fmu", fmi=fmi)
        assert fmpy.read_model_description(str(path)).fmiVersion == version
        grapple("build", example("two_link"), "--fmi", fmi, "--output", tmp_path / f"tool_{fmi}.fmu")
        assert path.read_bytes() == (tmp_path / f"tool_{fmi}.fmu").read_bytes()
    with pytest.raises(grapple_fmu.GrappleError, match="fmi is 4, not 2 or 3"):
        spec.build(tmp_path / "4.fmu", fmi=4)
    with pytest.raises(grapple_fmu.GrappleError, match="FMI 2.0 has no arrays"):
        spec.build(tmp_path / "2.fmu", arrays=True)


def terminals(fmu):
    """Returns the root of an FMU's terminals."""
    with zipfile.ZipFile(fmu) as archive:
        return etree.fromstring(archive.read("terminalsAndIcons/terminalsAndIcons.xml"))


def members(terminal):
    return [m.get("memberName") for m in terminal.findall("TerminalMemberVariable")]


# Each example with structured or flat names in turn; with GRAPPLE_LONG with both.
NAMED = [
    pytest.param(path, names, id=f"{path.stem}-{names}")
    for k, path in enumerate(EXAMPLES)
    for names in (["structured", "flat"] if "GRAPPLE_LONG" in os.environ else [("structured", "flat")[k % 2]])
]


@pytest.mark.parametrize(("path", "names"), NAMED)
def test_terminals_are_valid(path, names, tmp_path):
    fmu = tmp_path / f"{path.stem}.fmu"
    grapple("build", path, "--fmi", "3", "--names", names, "--output", fmu)
    root = terminals(fmu)
    schema = etree.XMLSchema(file=str(TERMINALS))
    schema.validate(root)
    assert [str(error) for error in schema.error_log] == []
    variables = {v.name: v.causality for v in fmpy.read_model_description(str(fmu)).modelVariables}
    with zipfile.ZipFile(fmu) as archive:
        files = set(archive.namelist())
    top = root.findall("Terminals/Terminal")
    assert len({t.get("name") for t in top}) == len(top) > 0
    listed = set()
    for terminal in top:
        assert len(set(members(terminal))) == len(members(terminal)) > 0
        for member in terminal.findall("TerminalMemberVariable"):
            assert variables[member.get("variableName")] in ("input", "output")
            listed.add(member.get("variableName"))
        icon = terminal.find("TerminalGraphicalRepresentation").get("iconBaseName")
        assert f"terminalsAndIcons/{icon}.png" in files
    # No input is outside of all terminals, but for those without an owner.
    inputs = {n for n, causality in variables.items() if causality == "input" and "." in n}
    assert inputs <= listed
    assert grapple("check", fmu).returncode == 0


def test_terminals_of_spacecraft_and_controller_match(tmp_path):
    """Each joint of the controller has a terminal with the members of the spacecraft's."""
    found = {}
    for name in "servoed_arm", "arm_controller":
        fmu = tmp_path / f"{name}.fmu"
        grapple("build", example(name), "--fmi", "3", "--output", fmu)
        found[name] = {t.get("name"): t for t in terminals(fmu).findall("Terminals/Terminal")}
    joints = [n for n, t in found["arm_controller"].items() if t.get("terminalKind") == "_grapple_joint"]
    assert joints
    for joint in joints:
        assert members(found["arm_controller"][joint]) == ["q", "qd", "tau"]
        assert found["arm_controller"][joint].get("matchingRule") == "plug"
        assert joint in found["servoed_arm"]


def test_terminals_of_ports_and_interfaces_match(tmp_path):
    spec = """
        name = "{name}"
        [body.hull]
        mass = 20.0
        inertia = [1.0, 1.0, 0.8]
        """
    port = spec.format(name="carrier") + '[port.hook]\nframe = "hull"\naxes = "frame"\n'
    other = spec.format(name="carried") + (
        '[interface.hook]\nframe = "hull"\nstiffness = 1e3\ndamping = 10.0\n'
        "angular_stiffness = 1e2\nangular_damping = 1.0\n"
    )
    found = []
    for text in port, other:
        archive = Archive.build(text, tmp_path / str(len(found)), "--fmi", "3")
        (hook,) = (t for t in terminals(archive.path).findall("Terminals/Terminal") if t.get("name") == "hook")
        found.append(hook)
    assert [t.get("terminalKind") for t in found] == ["_grapple_port"] * 2
    assert [t.get("matchingRule") for t in found] == ["plug"] * 2
    assert members(found[0]) == members(found[1])
    assert len(members(found[0])) == 3 + 4 + 3 + 3 + 3 + 3


def test_sensors_and_further_inputs_have_terminals_of_their_own(tmp_path):
    """Sensors are no frames: their terminals have all their outputs."""
    fmu = tmp_path / "satellite.fmu"
    grapple("build", example("two_link").parent / "sensors" / "satellite.toml", "--fmi", "3", "--output", fmu)
    outputs = [v.name for v in fmpy.read_model_description(str(fmu)).modelVariables if v.causality == "output"]
    found = {t.get("name"): t for t in terminals(fmu).findall("Terminals/Terminal")}
    for sensor in "imu", "tracker", "hinge_encoder":
        assert found[sensor].get("terminalKind") == "_grapple_sensor"
        assert found[sensor].get("matchingRule") == "bus"
        own = [n.removeprefix(f"{sensor}.") for n in outputs if n.startswith(f"{sensor}.")]
        assert members(found[sensor]) == own

    fmu = tmp_path / "servoed_arm.fmu"
    grapple("build", example("servoed_arm"), "--fmi", "3", "--output", fmu)
    found = {t.get("name"): t for t in terminals(fmu).findall("Terminals/Terminal")}
    commands = found["shoulder.commands"]
    assert commands.get("terminalKind") == "_grapple_commands"
    assert "servo" in members(commands) and not {"q_ref", "qd_ref"} & set(members(commands))


@pytest.mark.parametrize("fmi", ["2", "3"])
@pytest.mark.parametrize("name", ["two_link", "servoed_arm", "docking", "arm_controller"])
def test_reference_results_are_compared(name, fmi, tmp_path):
    fmu = tmp_path / f"{name}.fmu"
    grapple("build", example(name), "--fmi", fmi, "--reference", "--output", fmu)
    assert validate_fmu(str(fmu)) == []
    assert "all bits equal" in grapple("check", fmu).stdout
    description = fmpy.read_model_description(str(fmu))
    with zipfile.ZipFile(fmu) as archive:
        manifest = etree.fromstring(archive.read(LS_REF + "fmi-ls-manifest.xml"))
        experiment = etree.fromstring(archive.read(LS_REF + "experiments.exp")).find("Experiment")
        spec = archive.read(LS_REF + f"{name}.toml").decode()
        titles = archive.read(LS_REF + "reference.csv").decode().split("\n", 1)[0]
        files = archive.namelist()
    assert manifest.tag == "fmiReferences"
    assert manifest.get("{http://fmi-standard.org/fmi-ls-manifest}fmi-ls-name") == "org.fmi-standard.fmi-ls-ref"
    for related in manifest:
        assert LS_REF + related.get("source") in files
    assert float(experiment.get("stopTime")) == float(description.defaultExperiment.stopTime)
    outputs = [v.name for v in description.modelVariables if v.causality == "output"]
    assert sorted(titles.replace('"', "").split(",")) == sorted(["time", *outputs]) or "[1,1]" in titles
    has_inputs = any(v.causality == "input" for v in description.modelVariables)
    assert (LS_REF + "stimuli.csv" in files) == has_inputs
    (tmp_path / "again.toml").write_text(spec)
    shutil.copytree(example(name).parent, tmp_path / "tables", dirs_exist_ok=True)
    grapple("check", tmp_path / "again.toml", "--quiet")


def test_a_corrupted_reference_is_an_error_with_the_variable(tmp_path):
    fmu = tmp_path / "two_link.fmu"
    grapple("build", example("two_link"), "--fmi", "3", "--reference", "--output", fmu)

    def corrupt(data):
        lines = data.decode().split("\n")
        column = lines[0].split(",").index("elbow.q")
        cells = lines[101].split(",")
        cells[column] = repr(float(cells[column]) + 1e-6)
        lines[101] = ",".join(cells)
        return "\n".join(lines).encode()

    other = replaced(fmu, tmp_path / "corrupted.fmu", LS_REF + "reference.csv", corrupt)
    run = grapple("check", other, check=False)
    assert run.returncode == 1
    assert "largest deviation 1e-6 rad of elbow.q at t = 1 s" in run.stdout
    assert "1 problem of the FMU" in run.stderr and "elbow.q at t = 1 s" in run.stderr

    renamed = replaced(
        fmu, tmp_path / "renamed.fmu", LS_REF + "reference.csv", lambda data: data.replace(b"elbow.q,", b"elbow.p,", 1)
    )
    run = grapple("check", renamed, check=False)
    assert run.returncode == 1 and 'the FMU has no variable "elbow.p"' in run.stderr

    short = replaced(fmu, tmp_path / "short.fmu", LS_REF + "reference.csv", lambda data: data[: len(data) // 2] + b"x")
    run = grapple("check", short, check=False)
    assert run.returncode == 1 and "reference.csv" in run.stderr


def test_check_reports_violations_of_the_standard(tmp_path):
    fmu = tmp_path / "two_link.fmu"
    grapple("build", example("two_link"), "--fmi", "3", "--output", fmu)
    text = grapple("check", fmu).stdout
    assert "FMI 3.0 Model Exchange and Co-Simulation" in text and "runs here" in text and "no reference results" in text
    wrong = replaced(
        fmu,
        tmp_path / "wrong.fmu",
        "modelDescription.xml",
        lambda data: data.replace(b'name="elbow.qd"', b'name="elbow.q"', 1),
    )
    run = grapple("check", wrong, check=False)
    assert run.returncode == 1 and 'variable "elbow.q": the name is not unique' in run.stderr
    wrong = replaced(
        fmu,
        tmp_path / "terminal.fmu",
        "terminalsAndIcons/terminalsAndIcons.xml",
        lambda data: data.replace(b'variableName="elbow.qd"', b'variableName="elbow.speed"', 1),
    )
    run = grapple("check", wrong, check=False)
    text = " ".join(run.stderr.replace("│", " ").split())
    assert run.returncode == 1 and 'terminal "elbow": there is no variable "elbow.speed"' in text


@pytest.fixture(scope="module")
def arrays(tmp_path_factory):
    """FMUs of FMI 3.0 by name: with scalars and with arrays."""

    class Archives(dict):
        def __missing__(self, name):
            folder = tmp_path_factory.mktemp(name)
            self[name] = [
                Archive.build(example(name), folder / kind, "--fmi", "3", *options)
                for kind, options in (("scalars", []), ("arrays", ["--arrays"]))
            ]
            return self[name]

    return Archives()


def size(variable):
    return int(np.prod([int(d.start) for d in variable.dimensions])) if variable.dimensions else 1


# A compliant contact has a parameter `force` and the outputs `force[1]` to `force[3]`.
@pytest.mark.parametrize(("path", "names"), [*NAMED, (EXAMPLES[0].parent / "contacts/probe_drogue.toml", "structured")])
def test_arrays_are_valid_and_have_all_scalars(path, names, tmp_path):
    scalar, array = (
        Archive.build(path, tmp_path / str(i), "--fmi", "3", "--names", names, *options)
        for i, options in enumerate(([], ["--arrays"]))
    )
    assert validate_fmu(str(array.path)) == []
    with zipfile.ZipFile(array.path) as archive:
        root = etree.fromstring(archive.read("modelDescription.xml"))
    schema = etree.XMLSchema(file=str(SCHEMA))
    schema.validate(root)
    assert [str(error) for error in schema.error_log] == []
    assert sum(map(size, array.description.modelVariables)) == len(scalar.description.modelVariables)
    # A controller of single joints has no vectors.
    fewer = len(scalar.description.modelVariables) - len(array.description.modelVariables)
    assert fewer > 0 or path.stem == "arm_controller"
    text = grapple("check", array.path).stdout
    assert ("has arrays" in text) == (fewer > 0)
    if fewer > 0:
        refused = grapple("simulate", array.path, check=False)
        assert refused.returncode == 1 and "built without --arrays" in refused.stderr


@pytest.mark.parametrize("name", ["two_link", "solar_arrays", "docking", "arm_controller"])
def test_arrays_have_the_bits_of_scalars(name, arrays):
    scalar, array = arrays[name]
    quaternion = [v for v in array.description.modelVariables if v.name in ("base.q", "servicer.q")]
    assert all(size(v) == 4 for v in quaternion)
    runs = []
    for archive in scalar, array:
        variables = [v for v in archive.description.modelVariables if v.type == "Float64" and v.causality != "local"]
        references, n = [v.valueReference for v in variables], sum(map(size, variables))
        instance = slave(archive)
        rows, h = [], float(archive.description.defaultExperiment.stepSize)
        for k in range(20):
            rows.append(instance.getFloat64(references, nValues=n))
            instance.doStep(k * h, h)
        free(instance)
        runs.append(np.array(rows))
    assert runs[0].tobytes() == runs[1].tobytes()


@pytest.mark.parametrize("kind", ["ModelExchange", "CoSimulation"])
def test_fmpy_runs_arrays(kind, arrays):
    tables = [
        fmpy.simulate_fmu(str(archive.path), fmi_type=kind, stop_time=2.0, output_interval=0.01, output=output)
        for archive, output in zip(arrays["two_link"], (["base.q[1]", "base.q[4]", "elbow.q"], ["base.q", "elbow.q"]))
    ]
    q = np.array(tables[1]["base.q"])
    assert q.shape[1] == 4
    assert np.array_equal(q[:, 0], tables[0]["base.q[1]"]) and np.array_equal(q[:, 3], tables[0]["base.q[4]"])
    assert np.array_equal(tables[0]["elbow.q"], tables[1]["elbow.q"])


def test_values_and_derivatives_of_arrays(arrays, tmp_path):
    """Set, get and differentiate with respect to whole arrays; wrong counts are refused."""
    instances = []
    for archive in arrays["two_link"]:
        description = archive.description
        instance = FMU3Model(
            guid=description.guid,
            unzipDirectory=str(archive.directory),
            modelIdentifier=description.modelExchange.modelIdentifier,
            instanceName="instance",
        )
        instance.instantiate(loggingOn=False)
        instance.enterInitializationMode()
        instance.exitInitializationMode()
        instances.append(instance)
    scalar, array = (a.variables for a in arrays["two_link"])
    one, other = instances
    w = [scalar[f"base.w[{i}]"].valueReference for i in (1, 2, 3)]
    dw = [scalar[f"der(base.w[{i}])"].valueReference for i in (1, 2, 3)]
    values = [0.1, -0.2, 0.3]
    one.setFloat64(w, values)
    other.setFloat64([array["base.w"].valueReference], values)
    assert other.getFloat64([array["base.w"].valueReference], nValues=3) == values
    seed = [1.0, 2.0, -0.5]
    expected = one.getDirectionalDerivative(dw, w, seed)
    unknowns, knowns = ([array[n].valueReference] for n in ("der(base.w)", "base.w"))
    found = np.array(other.getDirectionalDerivative(unknowns, knowns, seed, nSensitivity=3))
    assert found.tobytes() == np.array(expected).tobytes() and np.any(found != 0.0)
    expected = one.getAdjointDerivative(dw, w, seed)
    found = np.array(other.getAdjointDerivative(unknowns, knowns, seed, nSensitivity=3))
    assert found.tobytes() == np.array(expected).tobytes() and np.any(found != 0.0)
    columns = [one.getDirectionalDerivative(dw, w, unit) for unit in np.eye(3).tolist()]
    assert np.allclose(found, np.array(columns) @ seed, rtol=1e-12, atol=1e-14)
    with pytest.raises(Exception, match="failed"):
        other.getFloat64([array["base.w"].valueReference], nValues=2)
    with pytest.raises(Exception, match="failed"):
        other.getFloat64([array["base.w"].valueReference + 1], nValues=1)
    for instance in instances:
        free(instance)
