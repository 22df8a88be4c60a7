"""`grapple simulate` of SSP files: the co-simulation algorithms against other importers, FMUs of other
tools, start values, parameter sets, and errors."""

import io
import os
import re
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest
from pages import judge_page
from programs import program

from fmu import Archive, grapple

ROOT = Path(__file__).resolve().parents[2]
COUPLING = ROOT / "examples" / "coupling"

study = program("coupling/study")
masters = program("coupling/masters")


def columns(path):
    """Returns the columns of a CSV file by name."""
    with path.open(encoding="utf-8") as file:
        head = [title.split(" ")[0] for title in file.readline().strip().split(",")]
        return dict(zip(head, np.loadtxt(file, delimiter=",", unpack=True)))


def couple(folder, *specs, options=()):
    path = folder / "loop.ssp"
    return path, grapple("couple", *specs, "-o", path, *options)


@pytest.fixture(scope="module")
def sampled(tmp_path_factory):
    """The spacecraft and its sampled controller: specs and SSP file."""
    folder = tmp_path_factory.mktemp("sampled")
    controller = folder / "sampled.toml"
    text = (ROOT / "examples/arm_controller.toml").read_text(encoding="utf-8")
    text = text.replace("[controller]\n", "[controller]\nsample_time = 0.01\n").replace('"arm_controller"', '"sampled"')
    controller.write_text(text, encoding="utf-8")
    arm = ROOT / "examples/servoed_arm.toml"
    return couple(folder, arm, controller)[0], arm, controller


def test_a_sampled_controller_goes_first_and_loses_no_sample(sampled, tmp_path, within):
    ssp, arm, controller = sampled
    told = grapple("simulate", ssp, "--stop-time", "3", "--tolerance", "3e-12", "--no-page", "-o", tmp_path / "run.csv").stdout
    assert "Gauss-Seidel algorithm: sampled, servoed_arm" in told
    run = columns(tmp_path / "run.csv")
    fmus = [Archive.build(spec, tmp_path / spec.stem).path for spec in (arm, controller)]
    _, expected = study.outside(*fmus, 0.01, is_sampled=True, stop_time=3.0)
    found = np.array([run[f"servoed_arm.{name}"] for name in study.MEASURED]).T
    within("Gauss-Seidel by the tool and in Python", np.abs(found - expected).max(), 1e-13, "the same calls")


def test_jacobi_steps_all_at_once(sampled, tmp_path, within):
    ssp, arm, controller = sampled
    command = ("simulate", ssp, "--stop-time", "1", "--step", "0.005", "--tolerance", "3e-12", "--algorithm", "jacobi", "--no-page")
    told = grapple(*command, "-o", tmp_path / "run.csv").stdout
    assert "Jacobi algorithm" in told
    run = columns(tmp_path / "run.csv")
    fmus = [Archive.build(spec, tmp_path / spec.stem).path for spec in (arm, controller)]
    _, expected = study.outside(*fmus, 0.005, "parallel", stop_time=1.0)
    found = np.array([run[f"servoed_arm.{name}"] for name in study.MEASURED]).T
    within("Jacobi by the tool and in Python", np.abs(found - expected).max(), 1e-13, "the same calls")


def test_four_fmus_give_the_same_results_in_four_importers(tmp_path, within):
    text = masters.study(os.environ["GRAPPLE"], tmp_path)
    assert judge_page(ROOT / "docs" / "coupling.md", text) == 1
    for line in text.splitlines()[2:]:
        name, *errors, order = [cell.strip() for cell in line.strip("| ").split("|")]
        expected = 2 if "linear" in name else 1
        within(f"order of {name}, off that of the algorithm", abs(float(order) - expected), 0.05, "the next power")
        assert float(errors[-1]) < 1e-3


def test_inputs_start_where_they_are_connected_and_references_at_their_joints(tmp_path):
    specs = [COUPLING / "system" / f"{name}.toml" for name in ("servicer", "client", "controller", "environment")]
    path, _ = couple(tmp_path, *specs)
    with zipfile.ZipFile(path) as archive:
        archive.extract("resources/controller.fmu", tmp_path)
    variables = Archive(tmp_path / "resources/controller.fmu", tmp_path / "unpacked").variables
    starts = {name: float(variables[name].start) for name in ("elbow.q", "elbow.q_ref", "shoulder.q")}
    assert starts == {"elbow.q": -0.5, "elbow.q_ref": -0.5, "shoulder.q": 0.0}


def test_values_of_couple_are_a_parameter_set_and_those_of_simulate_replace_them(sampled, tmp_path):
    _, arm, controller = sampled
    path, _ = couple(tmp_path, arm, controller, options=("--set", "servoed_arm.forearm.mass=50", "--set", "sampled.elbow.tau_ff=3"))
    with zipfile.ZipFile(path) as archive:
        ssv = archive.read("resources/parameters.ssv").decode()
    assert 'name="servoed_arm.forearm.mass"' in ssv and 'value="50"' in ssv

    def first_torque(*options):
        grapple("simulate", path, "--stop-time", "0.01", "--no-page", "-o", tmp_path / "run.csv", *options)
        return columns(tmp_path / "run.csv")["sampled.elbow.tau"][-1]

    assert first_torque() == pytest.approx(3.0) and first_torque("--set", "sampled.elbow.tau_ff=5") == pytest.approx(5.0)


def test_values_that_the_spec_writes_stay_and_signals_of_the_importer_are_named(sampled, tmp_path):
    arm, controller = COUPLING / "system" / "servicer.toml", tmp_path / "control.toml"
    controller.write_text(
        'name = "control"\nkind = "controller"\n[controller.joint.elbow]\nkp = 1.0\nkd = 1.0\n[input]\n"elbow.q_ref" = 0.3\n', encoding="utf-8"
    )
    _, told = couple(tmp_path, arm, controller)
    assert "elbow.q starts at -0.5 rad, its reference in control at 0.3 rad" in told.stderr
    told = grapple("simulate", sampled[0], "--stop-time", "0.01", "--no-page", "-o", tmp_path / "run.csv").stdout
    assert "servoed_arm.shoulder.servo keeps its start value" in told


def test_a_page_shows_each_spacecraft(sampled, tmp_path):
    ssp = sampled[0]
    told = grapple("simulate", ssp, "--stop-time", "0.1", "-o", tmp_path / "run.csv", "--page", tmp_path / "run.html").stdout
    assert "run_servoed_arm.html: open it in a browser" in told
    assert [page.name for page in tmp_path.glob("*.html")] == ["run_servoed_arm.html"]


GAIN = r"""
#include <stdlib.h>
#include <string.h>
typedef void *fmi2Component; typedef unsigned fmi2ValueReference; typedef double fmi2Real; typedef int fmi2Boolean;
typedef int fmi2Status; typedef const char *fmi2String; typedef int fmi2Integer;
struct gain { double u, k; };
fmi2Component fmi2Instantiate(fmi2String n, int t, fmi2String g, fmi2String r, const void *f, fmi2Boolean v, fmi2Boolean l)
{ struct gain *c = calloc(1, sizeof *c); c->k = 2.0; return c; }
void fmi2FreeInstance(fmi2Component c) { free(c); }
fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean o, size_t n, const fmi2String *s) { return 0; }
fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean d, fmi2Real t, fmi2Real a, fmi2Boolean s, fmi2Real e) { return 0; }
fmi2Status fmi2EnterInitializationMode(fmi2Component c) { return 0; }
fmi2Status fmi2ExitInitializationMode(fmi2Component c) { return 0; }
fmi2Status fmi2Terminate(fmi2Component c) { return 0; }
fmi2Status fmi2Reset(fmi2Component c) { ((struct gain *)c)->k = 2.0; return 0; }
fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference *r, size_t n, fmi2Real *v)
{ struct gain *g = c; for (size_t i = 0; i < n; i++) v[i] = r[i] == 0 ? g->u : r[i] == 1 ? g->k : g->k * g->u; return 0; }
fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference *r, size_t n, const fmi2Real *v)
{ struct gain *g = c; for (size_t i = 0; i < n; i++) { if (r[i] == 0) g->u = v[i]; else if (r[i] == 1) g->k = v[i]; else return 3; } return 0; }
fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference *r, size_t n, fmi2Boolean *v) { return n ? 3 : 0; }
fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference *r, size_t n, const fmi2Integer *o, const fmi2Real *v) { return 3; }
fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean n) { return t > 0.35 ? 3 : 0; }
"""
GAIN_XML = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="gain" guid="{1}">
  <CoSimulation modelIdentifier="gain"/>
  <UnitDefinitions><Unit name="rad"><BaseUnit rad="1"/></Unit><Unit name="N.m"><BaseUnit kg="1" m="2" s="-2"/></Unit></UnitDefinitions>
  <ModelVariables>
    <ScalarVariable name="elbow.q" valueReference="0" causality="input"><Real unit="rad" start="0"/></ScalarVariable>
    <ScalarVariable name="k" valueReference="1" causality="parameter" variability="fixed"><Real start="2"/></ScalarVariable>
    <ScalarVariable name="elbow.tau" valueReference="2" causality="output" initial="calculated"><Real unit="N.m"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="3"/></Outputs></ModelStructure>
</fmiModelDescription>"""


@pytest.fixture
def foreign(tmp_path):
    """The FMU of another tool: a torque proportional to an angle. Its step at 0.4 s fails."""
    source, library = tmp_path / "gain.c", tmp_path / "gain.so"
    source.write_text(GAIN, encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", "-w", source, "-o", library], check=True)
    path = tmp_path / "gain.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", GAIN_XML)
        archive.write(library, "binaries/linux64/gain.so")
    return path


def test_an_fmu_of_another_tool_takes_part_and_its_failure_ends_the_run_with_the_rows_so_far(foreign, tmp_path):
    arm = tmp_path / "arm.toml"
    text = (ROOT / "examples/servoed_arm.toml").read_text(encoding="utf-8")
    arm.write_text(re.sub(r'(?s)\[signal\."elbow.q_ref"\].*?\n\n', "", text).replace('child = "forearm"', 'child = "forearm"\nstart = { position = 0.3 }'), encoding="utf-8")
    path, _ = couple(tmp_path, arm, foreign, options=("--set", "gain.k=-50"))
    run = grapple("simulate", path, "--step", "0.1", "--no-page", "-o", tmp_path / "run.csv", check=False)
    assert run.returncode == 1 and "gain" in run.stderr and "t = 0.4 s" in run.stderr, run.stderr
    found = columns(tmp_path / "run.csv")
    assert len(found["time"]) == 5 and found["gain.elbow.tau"][1] == pytest.approx(-50.0 * found["servoed_arm.elbow.q"][0])


def altered(ssp, path, change):
    """Copies an SSP file with another structure; `change` gets and returns its text, or None to leave
    out the named entry."""
    with zipfile.ZipFile(ssp) as old, zipfile.ZipFile(path, "w") as new:
        for entry in old.namelist():
            content = old.read(entry)
            if entry == "SystemStructure.ssd":
                content = change(content.decode()).encode()
            new.writestr(entry, content)
    return path


WIRE = '<ssd:Connection startElement="sampled" startConnector="elbow.tau" endElement="servoed_arm" endConnector="elbow.tau"/>'


BINDING = (
    '<ssd:ParameterBindings><ssd:ParameterBinding prefix="sampled."><ssd:ParameterValues><ssv:ParameterSet xmlns:ssv="v" name="x">'
    '<ssv:Parameters><ssv:Parameter name="elbow.tau_ff">{}</ssv:Parameter></ssv:Parameters></ssv:ParameterSet>'
    "</ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings>"
)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace("resources/sampled.fmu", "resources/none.fmu"), 'the FMU of "sampled" is missing'),
        (lambda text: text.replace("resources/sampled.fmu", "../none.fmu"), "is not a file in the archive"),
        (lambda text: text.replace('startConnector="elbow.tau"', 'startConnector="elbow.tua"'), "elbow.tua"),
        (lambda text: text.replace('endElement="sampled"', 'endElement="sampler"'), "sampler"),
        (lambda text: text.replace(WIRE, WIRE.replace('endConnector="elbow.tau"', 'endConnector="elbow.servo"')), "N.m"),
        (lambda text: text.replace(WIRE, WIRE * 2), "servoed_arm.elbow.tau has two connections"),
        (lambda text: text.replace("<ssd:Elements>", '<ssd:Elements><ssd:System name="inner"/>'), "inner"),
        (lambda text: text.replace('name="sampled"', 'name="servoed_arm"'), 'two FMUs are called "servoed_arm"'),
        (lambda text: text.replace('name="sampled"', 'name="../sampled"'), "is not a name for an FMU"),
        (lambda text: re.sub(r"(?s)<ssd:Elements>.*</ssd:Connections>", "", text), "has no FMU"),
        (lambda text: re.sub('stopTime="[0-9.]+"', 'stopTime="-1"', text), "the stop time -1 is not positive"),
        (lambda text: text.replace('startTime="0"', 'startTime="1"'), "does not start at 0 s"),
        (lambda text: text.replace("<ssd:Elements>", BINDING.format('<ssv:Real value="3" unit="deg"/>') + "<ssd:Elements>"), 'its value in "deg"'),
        (lambda text: text.replace("<ssd:Elements>", BINDING.format("<ssv:Integer/>") + "<ssd:Elements>"), "is not a Real"),
        (lambda text: text[:500], "SystemStructure.ssd"),
    ],
)
def test_errors_of_a_system_name_what_is_wrong(sampled, tmp_path, change, words):
    ssp = sampled[0]
    with zipfile.ZipFile(ssp) as archive:
        assert re.sub(r"\s+", "", WIRE) in re.sub(r"\s+", "", archive.read("SystemStructure.ssd").decode())
    path = altered(ssp, tmp_path / "bad.ssp", change)
    run = grapple("simulate", path, "-o", tmp_path / "bad.csv", check=False)
    told = " ".join(run.stderr.replace("│", " ").split())
    assert run.returncode == 1 and words in told, told
    assert not (tmp_path / "bad.csv").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--set", "sampled.elbow.kpp=1"), "elbow.kp"),
        (("--set", "sample.elbow.kp=1"), "sampled"),
        (("--set", "elbow=1"), "COMPONENT.VARIABLE"),
        (("--set", "sampled.elbow.q=1"), "sampled.elbow.q is connected"),
        (("--inputs", "x.csv"), "--inputs is for one FMU"),
    ],
)
def test_options_that_do_not_fit_a_system_are_refused(sampled, tmp_path, options, words):
    run = grapple("simulate", sampled[0], *options, "-o", tmp_path / "bad.csv", check=False)
    told = " ".join(run.stderr.replace("│", " ").split())
    assert run.returncode == 1 and words in told, told


def test_an_algebraic_loop_is_refused(tmp_path):
    """Two continuous control laws, each the reference of the other."""
    law = 'name = "NAME"\nkind = "controller"\n[controller.joint.OWN]\ntype = "prismatic"\nkp = 1.0\nkd = 1.0\n'
    specs = []
    for name in ("one", "two"):
        specs.append(tmp_path / f"{name}.toml")
        specs[-1].write_text(law.replace("NAME", name).replace("OWN", name), encoding="utf-8")
    arm = ROOT / "examples/servoed_arm.toml"
    fmus = [Archive.build(spec, tmp_path / spec.stem).path for spec in specs]
    structure = io.StringIO()
    structure.write('<ssd:SystemStructureDescription xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription" version="1.0" name="ring"><ssd:System name="ring"><ssd:Elements>')
    for spec in specs:
        structure.write(f'<ssd:Component name="{spec.stem}" source="resources/{spec.stem}.fmu"/>')
    structure.write("</ssd:Elements><ssd:Connections>")
    for a, b in (("one", "two"), ("two", "one")):
        structure.write(f'<ssd:Connection startElement="{a}" startConnector="{a}.servo_error" endElement="{b}" endConnector="{b}.q_ref"/>')
    structure.write("</ssd:Connections></ssd:System></ssd:SystemStructureDescription>")
    path = tmp_path / "ring.ssp"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("SystemStructure.ssd", structure.getvalue())
        for fmu in fmus:
            archive.write(fmu, f"resources/{Path(fmu).stem}.fmu")
    run = grapple("simulate", path, "-o", tmp_path / "ring.csv", check=False)
    told = " ".join(run.stderr.replace("│", " ").split())
    assert run.returncode == 1 and "algebraic loop through one, two" in told, told
    run = grapple("simulate", arm, "--linear", check=False)
    assert run.returncode == 1 and "SSP" in run.stderr


def test_start_values_of_inputs_are_checked(build, tmp_path):
    spec = {"name": "c", "kind": "controller", "controller": {"joint": {"elbow": {"kp": 1.0, "kd": 0.0}}}}
    archive = build({**spec, "input": {"elbow.q_ref": 0.3}})
    assert float(archive.variables["elbow.q_ref"].start) == 0.3
    bad = tmp_path / "bad.toml"
    bad.write_text('name = "c"\nkind = "controller"\n[controller.joint.elbow]\nkp = 1.0\nkd = 1.0\n[input]\n"elbow.qref" = 1.0\n"elbow.q" = inf\n', encoding="utf-8")
    run = grapple("check", bad, check=False)
    assert run.returncode == 1 and "elbow.q_ref" in run.stderr and "inf is not a finite number" in run.stderr, run.stderr
