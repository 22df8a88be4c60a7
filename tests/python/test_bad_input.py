"""Typical mistakes in a spec: each is reported with file, line, name and value, and all of them at once.

In each case the comment `# here` marks the line that the message must name.
"""

import re

import pytest

from fmu import grapple

GOOD = """\
name = "craft"
[body.base]
mass = 4.0
inertia = [0.4, 0.5, 0.6]
[body.arm]
mass = 1.0
inertia = [0.1, 0.1, 0.1]
[joint.hinge]
type = "revolute"
parent = "base"
child = "arm"
[frame.tip]
body = "arm"
"""

# Mistakes: ((a line of the good spec, its replacement), words that the message must contain).
MISTAKES = {
    "mass that is not positive": (("mass = 1.0", "mass = -1.5 # here"), ["arm", "-1.5"]),
    "massless chain tip": (("mass = 1.0", "mass = 0.0 # here"), ["arm", "mass", "frame"]),
    "inertia that is not positive definite": (
        ("inertia = [0.1, 0.1, 0.1]", "inertia = [0.1, 0.1, -0.07] # here"),
        ["arm", "-0.07"],
    ),
    "products that spoil the inertia": (
        ("inertia = [0.1, 0.1, 0.1]", "inertia = [0.1, 0.1, 0.1, 0.2, 0, 0] # here"),
        ["arm", "positive"],
    ),
    "inertia that breaks the triangle inequality": (
        ("inertia = [0.1, 0.1, 0.1]", "inertia = [0.25, 0.25, 1.69] # here"),
        ["arm", "triangle", "1.69"],
    ),
    "inertia with five numbers": (
        ("inertia = [0.1, 0.1, 0.1]", "inertia = [1, 1, 1, 0, 0] # here"),
        ["6 numbers", "Ixy"],
    ),
    "parent that does not exist": (('parent = "base"', 'parent = "bsae" # here'), ["hinge", "bsae", "base"]),
    "child that does not exist": (('child = "arm"', 'child = "am" # here'), ["hinge", "am", "arm"]),
    "frame on no body": (('body = "arm"', 'body = "leg" # here'), ["tip", "leg"]),
    "axis without direction": (('child = "arm"', 'child = "arm"\naxis = [0, 0, 0] # here'), ["hinge", "axis", "0"]),
    "axis where there is none": (
        ('type = "revolute"', 'type = "spherical"\naxis = [0, 0, 1] # here'),
        ["hinge", "spherical", "axis"],
    ),
    "quaternion that is not normalised": (
        ('child = "arm"', 'child = "arm"\norientation = [1, 1, 0, 0] # here'),
        ["hinge", "orientation", "1.41"],
    ),
    "range that is empty": (
        ('child = "arm"', 'child = "arm"\nrange = { min = 2.0, max = 1.0 } # here'),
        ["hinge", "2", "1"],
    ),
    "start outside the range": (
        ('child = "arm"', 'child = "arm"\nstart = { position = 0.75 } # here\nrange = { min = -0.5, max = 0.5 }'),
        ["hinge", "0.75", "0.5"],
    ),
    "two damping numbers for one axis": (
        ('child = "arm"', 'child = "arm"\ndamping = [1.0, 2.0] # here'),
        ["hinge", "damping", "2"],
    ),
    "negative damping": (('child = "arm"', 'child = "arm"\ndamping = -0.25 # here'), ["hinge", "-0.25"]),
    "degrees and radians at once": (
        ('child = "arm"', 'child = "arm"\nstart = { position = 1.0, position_deg = 3.0 } # here'),
        ["hinge", "position"],
    ),
    "compliant stop without stiffness": (
        ('child = "arm"', 'child = "arm"\nrange = { min = -1, max = 1, stop = "compliant" } # here'),
        ["hinge", "stiffness"],
    ),
    "field that does not exist": (("mass = 1.0", "mass = 1.0\nmas = 2.0 # here"), ["mas"]),
    "joint type that does not exist": (('type = "revolute"', 'type = "revolut" # here'), ["revolut", "revolute"]),
    "field that is missing": (("[frame.tip]", '[joint.loose] # here\ntype = "fixed"\nparent = "base"\n[frame.tip]'), ["child"]),
    "number that is a text": (("mass = 1.0", 'mass = "heavy" # here'), ["heavy"]),
    "number that is not a number": (("mass = 1.0", "mass = nan # here"), ["arm", "mass", "nan"]),
    "number that is infinite": (
        ("mass = 4.0", "mass = 4.0\nmass_centre = [0, inf, 0] # here"),
        ["base", "mass_centre", "inf"],
    ),
    "TOML that is broken": (("mass = 1.0", "mass = = 1.0 # here"), []),
    "table that is written twice": (("[frame.tip]", "[body.arm] # here"), ["duplicate"]),
    "name that two things have": (("[frame.tip]", "[frame.arm] # here"), ["arm", "body"]),
    "name with a hyphen": (("[frame.tip]", "[frame.tool-tip] # here"), ["tool-tip"]),
    "name of the importer": (("[frame.tip]", "[frame.time] # here"), ["time"]),
    "name of the tool": (("[frame.tip]", "[frame.system] # here"), ["system"]),
    "name that is a keyword of Modelica": (("[frame.tip]", "[frame.outer] # here"), ["outer"]),
    "name of the model": (('name = "craft"', 'name = "2 link" # here'), ["2 link"]),
    "signal on no input": (
        ('body = "arm"', 'body = "arm"\n[signal."hinge.torque"] # here\ntype = "constant"'),
        ["hinge.torque"],
    ),
    "signal without frequency": (
        ('body = "arm"', 'body = "arm"\n[signal."hinge.tau"]\ntype = "sine" # here'),
        ["hinge.tau", "frequency"],
    ),
    "signal that ends before it begins": (
        (
            'body = "arm"',
            'body = "arm"\n[signal."hinge.tau"]\ntype = "constant"\nfrom = 3.0\nuntil = 2.0 # here\nfrom_importer = false',
        ),
        ["hinge.tau", "2", "3"],
    ),
    "table whose times fall": (
        (
            'body = "arm"',
            'body = "arm"\n[signal."hinge.tau"]\ntype = "table"\ntimes = [0, 2, 1] # here\nvalues = [1, 2, 3]',
        ),
        ["hinge.tau", "2", "1"],
    ),
    "table file that is not there": (
        ('body = "arm"', 'body = "arm"\n[signal."hinge.tau"]\ntype = "table"\nfile = "nowhere.csv" # here'),
        ["hinge.tau", "nowhere.csv"],
    ),
    "port on no frame": (
        ('body = "arm"', 'body = "arm"\n[port.thruster]\nframe = "nozzle" # here'),
        ["thruster", "nozzle"],
    ),
    "measure to no frame": (
        ('body = "arm"', 'body = "arm"\n[measure.gap]\nfrom = "tip"\nto = "target" # here'),
        ["gap", "target"],
    ),
    "tolerance that is not positive": (
        ('body = "arm"', 'body = "arm"\n[experiment]\ntolerance = -1e-8 # here'),
        ["tolerance", "-0.00000001"],
    ),
    "runge-kutta without a step": (('body = "arm"', 'body = "arm"\n[solver]\nmethod = "rk4" # here'), ["step"]),
    "midpoint rule without a step": (('body = "arm"', 'body = "arm"\n[solver]\nmethod = "implicit_midpoint" # here'), ["step"]),
}

CIRCLE = """\
name = "circle"
[body.base]
mass = 1
inertia = [1, 1, 1]
[body.a]
mass = 1
inertia = [1, 1, 1]
[body.b]
mass = 1
inertia = [1, 1, 1]
[joint.one]
type = "revolute"
parent = "b" # here
child = "a"
[joint.two]
type = "revolute"
parent = "a"
child = "b"
"""
CARRIED_TWICE = CIRCLE.replace('parent = "b" # here', 'parent = "b"').replace(
    'parent = "a"\nchild = "b"', 'parent = "base"\nchild = "a" # here'
)


def specs():
    for what, ((line, replacement), words) in MISTAKES.items():
        assert line in GOOD, what
        yield pytest.param(GOOD.replace(line, replacement), words, id=what.replace(" ", "_"))
    yield pytest.param(CIRCLE, ["one", "cycle", "a", "b"], id="bodies_in_a_circle")
    yield pytest.param(CARRIED_TWICE, ["two", "one", "a"], id="body_that_two_joints_carry")


def complain(text, tmp_path, verb="check", *options):
    """Returns the messages about a bad spec (without the excerpts of the file), the lines that they
    name, and the whole report."""
    file = tmp_path / "craft_spec.toml"
    file.write_text(text)
    run = grapple(verb, file, *options, check=False)
    assert run.returncode == 1, f"exit code {run.returncode}, 1 expected\n{run.stdout}{run.stderr}"
    assert run.stdout == "", "problems go to the error stream"
    assert "panicked" not in run.stderr
    lines = {int(line) for line in re.findall(r"craft_spec\.toml:(\d+)", run.stderr)}
    messages = re.sub(r"╭.*?╰", " ", run.stderr, flags=re.DOTALL)
    return re.sub(r"[\s│×─]+", " ", messages), lines, run.stderr


def marked(text):
    return {i + 1 for i, line in enumerate(text.splitlines()) if "# here" in line}


def test_valid_spec_has_no_problem(tmp_path):
    file = tmp_path / "good.toml"
    file.write_text(GOOD)
    assert "no problem" in grapple("check", file).stdout


@pytest.mark.parametrize("text, words", list(specs()))
def test_a_mistake_is_reported_with_file_line_name_and_value(text, words, tmp_path):
    messages, lines, report = complain(text, tmp_path)
    assert lines == marked(text), f"line {marked(text)} expected, {lines} named\n{report}"
    for word in words:
        assert word in messages, f"{word!r} is not in the message\n{report}"


ALL = """\
name = "craft"
[body.base]
mass = -4.0 # here
inertia = [0.4, 0.5, 1.6] # here
[body.arm]
mass = 1.0
mass_centre = [inf, 0, 0] # here
inertia = [0.1, 0.1, 0.1]
[body.time] # here
mass = 1.0
inertia = [0.1, 0.1, 0.1]
[joint.hinge]
type = "revolute"
parent = "bsae" # here
child = "arm"
axis = [0, 0, 0] # here
[joint.slide]
type = "prismatic"
parent = "arm"
child = "time"
orientation = [1, 1, 0, 0] # here
damping = [1, 2] # here
[frame.hinge] # here
body = "arm"
[port.thruster]
frame = "nozzle" # here
[signal."hinge.torque"] # here
type = "constant"
[experiment]
stop_time = -1.0 # here
"""


def test_all_mistakes_are_reported_at_once(tmp_path):
    _, lines, report = complain(ALL, tmp_path)
    assert marked(ALL) <= lines, f"lines {sorted(marked(ALL) - lines)} are missing of {sorted(marked(ALL))}\n{report}"


MISREAD = """\
description = 5 # here
[body.base]
mass = [4.0] # here
inertia = [0.4, 0.5, 0.6]
[body.arm]
mass = inf # here
[joint.hinge]
type = "revolut" # here
parent = "base"
child = "arm"
[joint.wrist] # here
parent = "arm"
child = "hand"
[signal]
"hinge.tau" = { type = "sinus" } # here
"wrist.tau" = { type = "constant", amplitude = "high" } # here
[environment.orbit] # here
altitude = 400e3 # here
[solver]
methd = "rk4" # here
"""


def test_things_that_cannot_be_read_are_reported_at_once(tmp_path):
    """The missing name has no line. A misspelt field is not reported as a missing one too."""
    messages, lines, report = complain(MISREAD, tmp_path)
    assert marked(MISREAD) == lines, report
    assert "missing field `name`" in messages, report


@pytest.mark.parametrize("verb", ["build", "simulate"])
def test_every_verb_refuses_an_invalid_spec(verb, tmp_path):
    text = GOOD.replace("mass = 1.0", "mass = -1.5 # here")
    messages, lines, _ = complain(text, tmp_path, verb)
    assert lines == marked(text) and "-1.5" in messages
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"craft_spec.toml"}, f"a bad spec leaves nothing behind, but there is {left}"


def test_a_file_that_is_not_there_is_named(tmp_path):
    run = grapple("check", tmp_path / "nowhere.toml", check=False)
    assert run.returncode == 1 and "nowhere.toml" in run.stderr.replace("\n", "").replace(" ", "")


def test_a_wrong_parameter_value_is_refused_with_name_and_value(build):
    """A value that an importer sets is validated like that of a spec."""
    from fmpy.fmi1 import FMICallException

    from fmu import CoSimulation

    archive = build(GOOD)
    for name, value in [("arm.mass", -2.5), ("arm.inertia_zz", 7.0), ("base.mass", 0.0)]:
        instance = None
        try:
            with pytest.raises(FMICallException):
                instance = CoSimulation.__new__(CoSimulation)
                instance.__init__(archive, start={name: value})
                instance.step(0.1)
        finally:
            said = " ".join(message for _, _, message in instance.messages)
            instance.close()
        body = name.split(".")[0]
        assert body in said and f"{value:g}" in said, f"{name} = {value}: {said!r}"
