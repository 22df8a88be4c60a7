"""`grapple modelica`: the package's text, by a Modelica compiler (rumoca), and its conventions against the FMUs.

Rumoca does not import FMUs. In their place are models with the same variables, and in place of the
Modelica Standard Library `standard_library.mo`, or the library itself if MODELICAPATH is set to its
folder.
"""

import os
import re
from pathlib import Path

import numpy as np
import pytest
import rumoca
from fmpy import read_model_description
from pages import same, tables
from scipy.integrate import solve_ivp

from fmu import FORMULATIONS, Archive, ModelExchange, grapple

ROOT = Path(__file__).resolve().parents[2]
HOSTS = ROOT / "examples" / "hosts"
PAGE = (HOSTS / "README.md").read_text(encoding="utf-8")
SPECS = sorted((ROOT / "examples").glob("*.toml"))
STAND_IN = (Path(__file__).parent / "standard_library.mo").read_text(encoding="utf-8")
LIBRARY = os.environ.get("MODELICAPATH")
KEYWORDS = set(
    "algorithm and annotation block break class connect connector constant constrainedby der discrete each else elseif "
    "elsewhen encapsulated end enumeration equation expandable extends external false final flow for function if import "
    "impure in initial inner input loop model not operator or outer output package parameter partial protected public pure "
    "record redeclare replaceable return stream then true type when while within".split()
)


def mangled(name):
    return re.sub(r"[.\[\], ()]", "_", name)


class Package:
    """The package of some specs in a folder."""

    def __init__(self, folder, *specs, options=()):
        self.folder = folder
        self.done = grapple("modelica", *specs, "-o", folder, *options)
        self.text = (folder / "Spacecraft.mo").read_text(encoding="utf-8")

    def model(self, name):
        """Returns the text of a wrapper without its documentation."""
        text = re.search(rf"^  model {name} .*?^  end {name};", self.text, re.MULTILINE | re.DOTALL)[0]
        return re.sub(r'info = ".*"', "", text, flags=re.DOTALL)

    def description(self, name):
        return read_model_description(self.folder / name / f"{name}.fmu")

    def stand_in(self, name, values=None, equations="", starts=None):
        """Returns a model in place of the imported FMU: its outputs are constants, or `values`;
        None is for one that the equations determine, from its start if it has one."""
        values = dict(values or {})
        starts = {name: f"(start = {start}, fixed = true)" for name, start in (starts or {}).items()}
        declared, given = [], []
        for i, variable in enumerate(self.description(name).modelVariables):
            identifier, kind = mangled(variable.name), variable.type
            if variable.causality in ("input", "output"):
                declared.append(f"  Modelica.Blocks.Interfaces.{kind}{variable.causality.capitalize()} {identifier}{starts.get(identifier, '')};")
            if variable.causality == "output":
                value = values.pop(identifier, repr(0.001 * i) if kind == "Real" else ("false", "true")[i % 2])
                given += [f"  {identifier} = {value};"] if value is not None else []
        assert not values, f"the FMU has no outputs {list(values)}"
        return f"model {name}_me_FMU\n" + "\n".join([*declared, "equation", *given, equations]) + f"\nend {name}_me_FMU;\n"

    def simulate(self, model, *others, until=0.02, dt=0.01):
        library = "" if LIBRARY else STAND_IN
        session = rumoca.Session(roots=[LIBRARY] if LIBRARY else [])
        return session.loads(library + "".join(others) + self.text, model=model).simulate(until, dt=dt)


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    """The package of the specs in examples/hosts, as its page makes it."""
    return Package(tmp_path_factory.mktemp("hosts"), *specs_of_the_page())


def specs_of_the_page():
    command = re.search(r"^grapple modelica ((?:.|\\\n)*?) -o out/modelica", PAGE, re.MULTILINE)[1]
    return [ROOT / spec for spec in command.replace("\\\n", " ").split()]


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_each_variable_is_connected_once_and_each_input_has_its_start_value(spec, tmp_path):
    package = Package(tmp_path, spec)
    name = re.search(r'^name = "(\w+)"', spec.read_text(encoding="utf-8"), re.MULTILINE)[1]
    text = package.model(name)
    declarations, equations = text.split("  equation\n")
    inputs, outputs = ({mangled(v.name): v for v in package.description(name).modelVariables if v.causality == c} for c in ("input", "output"))

    set_by = re.findall(r"^    fmu\.(\w+) = commands\.\1;", equations, re.MULTILINE)
    set_by += re.findall(r"lag\*der\(fmu\.(\w+)\) \+ fmu\.\1 = ", equations)
    set_by += re.findall(r"fmu\.(\w+)", "".join(re.findall(r"^    \{(.*)\} = \w+_port\.[ft];", equations, re.MULTILINE)))
    set_by += [v for v in re.findall(r"connect\(fmu\.(\w+), \w+_axis\w*\.\w+\)", equations) if v in inputs]
    assert sorted(set_by) == sorted(inputs)
    read = re.findall(r"connect\(fmu\.(\w+), sensors\.\1\)", equations)
    assert sorted(read) == sorted(outputs)
    used = set(re.findall(r"fmu\.(\w+)", equations))
    assert used <= inputs.keys() | outputs.keys(), "every name is one that omc makes"

    fields = dict(re.findall(r"^      Real (\w+)(?:\(.*?\))? = (\S+) ", declarations, re.MULTILINE))
    for field, start in fields.items():
        assert float(start) == float(inputs[field].start)
    for field in inputs.keys() - fields.keys():
        assert float(inputs[field].start) == 0.0, "a connector without connections exerts nothing"
    for kind, field, unit in re.findall(r'^      (Real|Boolean) (\w+)(?:\(unit = "(.*?)"\))?', declarations, re.MULTILINE):
        variable = (inputs | outputs)[field]
        assert (kind, unit or None) == (variable.type, variable.unit)
    assert not KEYWORDS & {*inputs, *outputs, *re.findall(r"(\w+) \"", declarations)}


@pytest.mark.parametrize("name", ["docking", "dual_arm", "beam_in_grasp", "modal_array", "servicer_orbit"])
def test_the_compiled_model_sets_start_values_and_reads_every_output(name, tmp_path):
    package = Package(tmp_path, ROOT / "examples" / f"{name}.toml")
    run = package.simulate(f"Spacecraft.{name}", package.stand_in(name))
    for i, variable in enumerate(package.description(name).modelVariables):
        identifier = mangled(variable.name)
        if variable.causality == "input":
            assert run[f"fmu.{identifier}"][-1] == float(variable.start), identifier
        elif variable.causality == "output" and variable.type == "Real":
            assert run[f"sensors.{identifier}"][-1] == pytest.approx(0.001 * i, abs=1e-12), identifier


def test_a_modification_replaces_a_start_value(tmp_path):
    package = Package(tmp_path, ROOT / "examples" / "beam_in_grasp.toml")
    model = "model Release\n  Spacecraft.beam_in_grasp craft(commands(grip_on = if time < 0.055 then 1 else 0));\nend Release;\n"
    run = package.simulate("Release", package.stand_in("beam_in_grasp"), model, until=0.1)
    assert [run["craft.fmu.grip_on"][k] for k in (0, 3, -1)] == [1.0, 1.0, 0.0]
    assert run["craft.fmu.shoulder_servo"][-1] == 1.0


ARM = {"shoulder": (6.0, 1.0), "elbow": (3.0, -1.5)}


def wheels(package):
    """Returns in place of servoed_arm two wheels with the rotors' inertia, which follow the plan."""
    values, equations = {}, []
    for joint, (inertia, angle) in ARM.items():
        values |= {
            f"{joint}_q": None,
            f"{joint}_qd": None,
            f"der_{joint}_qd_": f"{joint}_tau/{inertia}",
            f"{joint}_q_ref": f"{angle}*(1 - cos(time))",
            f"{joint}_qd_ref": f"{angle}*sin(time)",
        }
        equations += [f"  der({joint}_q) = {joint}_qd;", f"  {inertia}*der({joint}_qd) = {joint}_tau;"]
    return package.stand_in("servoed_arm", values, "\n".join(equations))


def tracks(run, craft):
    for joint, (_, angle) in ARM.items():
        off = np.array(run[f"{craft}.{joint}_q"]) - angle * (1 - np.cos(np.array(run.time)))
        assert np.abs(off).max() < 0.05, "the torque has the right sign"


def test_springs_at_the_flanges_make_the_joints_track_their_plan(hosts):
    example = (HOSTS / "modelica" / "ClosedLoop.mo").read_text(encoding="utf-8")
    tracks(hosts.simulate("ClosedLoop", wheels(hosts), example, until=3.0, dt=0.1), "craft.fmu")


def test_flanges_of_a_controller_connect_to_those_of_the_spacecraft(tmp_path):
    package = Package(tmp_path, *(ROOT / "examples" / f"{name}.toml" for name in ("servoed_arm", "arm_controller")))
    law = {"shoulder": (900, 600), "elbow": (400, 250)}
    torques = {
        f"{joint}_tau": f"{kp}*({angle}*(1 - cos(time)) - {joint}_q) + {kd}*({angle}*sin(time) - {joint}_qd) + {joint}_tau_ff"
        for (joint, (_, angle)), (kp, kd) in zip(ARM.items(), law.values())
    }
    model = """model Loop
  Spacecraft.servoed_arm craft;
  Spacecraft.arm_controller control;
equation
  connect(craft.shoulder_flange, control.shoulder_flange);
  connect(craft.elbow_flange, control.elbow_flange);
end Loop;
"""
    parts = wheels(package), package.stand_in("arm_controller", torques), model
    tracks(package.simulate("Loop", *parts, until=3.0, dt=0.1), "craft.fmu")
    assert "simulate(Spacecraft.arm_controller)" not in (tmp_path / "run.mos").read_text(), "its flanges need connections"


def test_a_prismatic_axis_has_a_translational_flange_and_a_spherical_joint_none(tmp_path):
    text = Package(tmp_path, ROOT / "examples" / "dual_arm.toml").model("dual_arm")
    assert "Modelica.Mechanics.Translational.Interfaces.Flange_a left_extend_flange " in text
    assert "Modelica.Mechanics.Rotational.Interfaces.Flange_a left_roll_flange_1 " in text
    assert "Modelica.Mechanics.Translational.Interfaces.Flange_a left_roll_flange_2 " in text, "it is cylindrical"
    assert "left_ball_flange" not in text and "fmu.left_ball_tau_3_ = commands.left_ball_tau_3_;" in text


PORT = """
name = "port_{axes}"
formulation = "{formulation}"
[body.hub]
mass = 4.0
inertia = [0.4, 0.5, 0.6]
[body.hub.start]
position = [1.0, -2.0, 3.0]
attitude = [0.5, 0.1, -0.7, 0.5]
velocity = [0.2, 0.3, -0.1]
angular_velocity = [0.3, -0.5, 0.4]
[frame.dock]
body = "hub"
origin = [0.3, 0.4, -0.2]
rpy_deg = [20.0, -35.0, 110.0]
[port.latch]
frame = "dock"
axes = "{axes}"
"""
FORCE, TORQUE = np.array([1.0, 2.0, 3.0]), np.array([-0.4, 0.5, 0.6])


def rotation(q):
    """Returns the matrix of the rotation by a unit quaternion (w, x, y, z)."""
    w, v = q[0], np.asarray(q[1:])
    skew = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * w * skew + 2 * skew @ skew


@pytest.mark.parametrize("axes", ["world", "frame"])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_frame_has_the_pose_of_the_fmu_and_its_force_acts_on_the_fmu(axes, formulation, tmp_path, within):
    spec = tmp_path / "port.toml"
    spec.write_text(PORT.format(axes=axes, formulation=formulation))
    package = Package(tmp_path / "out", spec)
    name = f"port_{axes}"
    archive = Archive(tmp_path / "out" / name / f"{name}.fmu", tmp_path / "unpacked")
    source = f"""model Source "Force and torque on the component at its frame, that frame's axes"
  Modelica.Mechanics.MultiBody.Interfaces.Frame_b frame;
equation
  frame.f = -{{{", ".join(map(str, FORCE))}}};
  frame.t = -{{{", ".join(map(str, TORQUE))}}};
end Source;
model Probe
  Spacecraft.{name} craft(lag = 1e-3);
  Source source;
equation
  connect(craft.latch_frame, source.frame);
end Probe;
"""

    def vector(owner, field, n=3):
        return [f"{owner}.{field}[{i}]" for i in range(1, n + 1)]

    with ModelExchange(archive) as me:
        outputs = {variable: value for variable, value in zip(archive.outputs(), me.read(archive.outputs()))}
        stand_in = package.stand_in(name, {mangled(v): repr(float(value)) for v, value in outputs.items()})
        run = package.simulate("Probe", stand_in, source, until=0.05)
        frame = "craft.latch_frame"
        T = np.array([[run[f"{frame}.R.T[{i},{j}]"][-1] for j in (1, 2, 3)] for i in (1, 2, 3)])
        r, w = (np.array([run[f"{frame}.{field}[{i}]"][-1] for i in (1, 2, 3)]) for field in ("r_0", "R.w"))
        inputs = {v: run[f"craft.fmu.{mangled(v)}"][-1] for v in archive.variables if archive.variables[v].causality == "input"}

        # The pose: origins and velocities of the body and of the frame are outputs of the FMU.
        hub, dock, v_hub, v_dock = me.read([*vector("hub", "r"), *vector("dock", "r"), *vector("hub", "v"), *vector("dock", "v")]).reshape(4, 3)
        arm = rotation(me.read(vector("hub", "q", 4))).T @ (dock - hub)
        tilt = rotation_of_rpy(20.0, -35.0, 110.0)
        within("frame of a port: origin, m", np.abs(r - dock).max(), 1e-12, "round-off")
        within("frame of a port: attitude", np.abs(T @ (dock - hub) - tilt.T @ arm).max(), 1e-12, "round-off")
        within("frame of a port: rotation", np.abs(T.T @ np.cross(w, T @ (dock - hub)) - (v_dock - v_hub)).max(), 1e-12, "round-off")

        # The wrench: accelerations of the rigid body by Newton's and Euler's equations.
        me.set(dict.fromkeys(inputs, 0.0))
        free = np.array(me.read([*vector("hub", "a_body")]))
        spin = angular_acceleration(me, archive)
        me.set(inputs)
        loaded = np.array(me.read([*vector("hub", "a_body")]))
        F, M = tilt @ FORCE, tilt @ TORQUE
        within("force of a frame: acceleration, m/s²", np.abs(loaded - free - F / 4.0).max(), 1e-8, "the tolerance of rumoca")
        moment = (M + np.cross(arm, F)) / [0.4, 0.5, 0.6]
        within("torque of a frame: angular acceleration, rad/s²", np.abs(angular_acceleration(me, archive) - spin - moment).max(), 1e-7, "difference over 1e-6 s")


def rotation_of_rpy(*degrees):
    x, y, z = np.radians(degrees)
    Rx = np.array([[1, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]])
    Ry = np.array([[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]])
    Rz = np.array([[np.cos(z), -np.sin(z), 0], [np.sin(z), np.cos(z), 0], [0, 0, 1]])
    return Rz @ Ry @ Rx


def angular_acceleration(me, archive):
    """Returns the hub's, body axes, by the difference of its angular velocity over a short time."""
    dt, x = 1e-6, me.x
    dx = me.derivative(0.0, x)
    names = [f"hub.w[{i}]" for i in (1, 2, 3)]
    before, after = ((me.at(0.0, x + s * dt * dx), me.read(names))[1] for s in (-1, 1))
    me.at(0.0, x)
    return (np.array(after) - np.array(before)) / (2 * dt)


def test_a_tether_between_two_frames_conserves_momentum_and_pulls(hosts):
    """Two rigid bodies in place of the spacecraft, in axes that rotate with them."""
    bodies = []
    for name, port, frame, mass, x in (("chaser", "hook", "tip", 60.0, 0.0), ("target", "eye", "edge", 40.0, 3.0)):
        r, v, w, f = ([f"{owner}_{i}_" for i in (1, 2, 3)] for owner in (f"{frame}_r", f"{frame}_v", f"{frame}_w", f"{port}_f"))
        # The chaser's port is in axes of its frame: a quarter turn about z.
        force, attitude = ([f"-{f[1]}", f[0], f[2]], [0.5**0.5, 0, 0, 0.5**0.5]) if name == "chaser" else (f, [1, 0, 0, 0])
        values = dict.fromkeys([*r, *v]) | dict.fromkeys(w, "0.0") | {f"{frame}_q_{i + 1}_": repr(q) for i, q in enumerate(attitude)}
        equations = [f"  der({r}) = {v};\n  {mass}*der({v}) = {f};" for r, v, f in zip(r, v, force)]
        bodies.append(hosts.stand_in(name, values, "\n".join(equations), dict.fromkeys([*r, *v], 0) | {r[0]: x}))
    example = (HOSTS / "modelica" / "TwoSpacecraft.mo").read_text(encoding="utf-8")
    run = hosts.simulate("TwoSpacecraft", *bodies, example, until=10.0, dt=0.5)
    chaser, target = (np.array(run[f"{name}.fmu.{frame}_v_1_"]) for name, frame in (("chaser", "tip"), ("target", "edge")))
    assert chaser[1] > 0 > target[1], "the tether pulls"
    assert np.abs(60.0 * chaser + 40.0 * target).max() < 1e-5
    # The damped oscillation of the distance about the tether's length.
    m, c, d = 24.0, 20.0, 10.0
    exact = solve_ivp(lambda _, y: [y[1], -(c * y[0] + d * y[1]) / m], (0, 10), [2.0, 0.0], t_eval=run.time, rtol=1e-9, atol=1e-9).y[0]
    s = np.array(run["target.fmu.edge_r_1_"]) - np.array(run["chaser.fmu.tip_r_1_"])
    assert np.abs(s - 1.0 - exact).max() < 5e-3, "but for the lag of 1 ms"


def test_the_page_gives_the_numbers_of_the_two_spacecraft(hosts, tmp_path, within):
    """The equations of TwoSpacecraft.mo, solved by SciPy around both FMUs."""
    text = (HOSTS / "modelica" / "TwoSpacecraft.mo").read_text(encoding="utf-8")
    assert "c = 20, d = 10, s_unstretched = 1" in text and "lag(unit = \"s\") = 1e-3" in hosts.text
    shown = {row[0]: row[1] for table in tables(PAGE) for row in table[1:]}
    one, two = (Archive(hosts.folder / name / f"{name}.fmu", tmp_path / name) for name in ("chaser", "target"))
    lag = 1e-3
    with ModelExchange(one) as chaser, ModelExchange(two) as target:
        n = chaser.n

        def pose(me, frame):
            return me.read([f"{frame}.{field}[{i}]" for field in ("r", "v") for i in (1, 2, 3)]).reshape(2, 3)

        def derivative(t, y):
            forces = y[-6:].reshape(2, 3)
            for me, x, port, force in ((chaser, y[:n], "hook", forces[0]), (target, y[n:-6], "eye", forces[1])):
                me.set({f"{port}.f[{i + 1}]": force[i] for i in range(3)})
                me.at(t, x)
            (r1, v1), (r2, v2) = pose(chaser, "tip"), pose(target, "edge")
            s = np.linalg.norm(r2 - r1)
            e = (r2 - r1) / s
            pull = (20.0 * (s - 1.0) + 10.0 * (e @ (v2 - v1))) * e
            R = rotation(chaser.read([f"tip.q[{i}]" for i in (1, 2, 3, 4)]))
            wanted = np.concatenate([R.T @ pull, -pull])
            return np.concatenate([chaser.derivative(t, y[:n]), target.derivative(t, y[n:-6]), (wanted - y[-6:]) / lag])

        start = np.concatenate([chaser.x, target.x, np.zeros(6)])
        run = solve_ivp(derivative, (0.0, 10.0), start, "Radau", rtol=1e-7, atol=1e-9)
        y = run.y[:, -1]
        chaser.at(10.0, y[:n])
        target.at(10.0, y[n:-6])
        values = {
            "`chaser.sensors.hub_r_1_` at 10 s": chaser.read(["hub.r[1]"])[0],
            "`target.sensors.platform_r_1_` at 10 s": target.read(["platform.r[1]"])[0],
            "`chaser.sensors.hinge_q` at 10 s": chaser.read(["hinge.q"])[0],
        }
        momentum = [me.read([f"system.momentum[{i}]" for i in (1, 2, 3)]) for me in (chaser, target)]
        within("two spacecraft: momentum of both, N·s", np.abs(momentum[0] + momentum[1]).max(), 0.02, "the lag of the forces, in axes that rotate")
    for name, value in values.items():
        assert same(f"{value:.5f}", shown[name]), f"{name}: {value:.5f}"


def test_each_fmu_is_imported_by_an_absolute_path_into_a_folder_of_its_own(hosts):
    load, run = ((hosts.folder / name).read_text(encoding="utf-8") for name in ("load.mos", "run.mos"))
    names = [path.stem for path in specs_of_the_page()]
    for name in names:
        assert f'importFMU("{name}/{name}.fmu", cd() + "/{name}");' in load, "the working folder of an import is absolute"
        assert f'loadFile("{name}/{name}_me_FMU.mo");' in load and f"simulate(Spacecraft.{name});" in run
        description = hosts.description(name)
        assert description.modelExchange is not None and description.coSimulation is None
    assert "loadModel(Modelica);" in load and '"--allowNonStandardModelica=reinitInAlgorithms"' in load, "the option that importFMU's models need"
    assert load.index("loadModel(Modelica)") < load.index("importFMU") < load.index('loadFile("Spacecraft.mo")')
    script = (HOSTS / "modelica" / "examples.mos").read_text(encoding="utf-8")
    for name in ("ClosedLoop", "TwoSpacecraft"):
        assert f'loadFile("{name}.mo");' in script and f"simulate({name});" in script and (HOSTS / "modelica" / f"{name}.mo").is_file()


def test_text_of_the_spec_is_escaped(tmp_path):
    spec = tmp_path / "a.toml"
    spec.write_text('name = "quoted"\ndescription = "a \\"b\\" \\\\ c < d & e"\n[body.hub]\nmass = 1.0\ninertia = [1, 1, 1]\n')
    package = Package(tmp_path / "out", spec)
    assert r'model quoted "a \"b\" \\ c < d & e"' in package.text and r"<p>a \"b\" \\ c &lt; d &amp; e</p>" in package.text
    package.simulate("Spacecraft.quoted", package.stand_in("quoted"))


ANCF = """
name = "rope"
[ancf_beam.rope]
length = 2.0
elements = 2
EA = 1e5
EI = 10.0
mass_per_length = 1.0
[frame.middle]
body = "rope"
origin = [1.0, 0.0, 0.0]
[port.thruster]
frame = "middle"
"""


@pytest.mark.parametrize("missing", ["input thruster.f[1]", "output middle.q[1]"])
def test_a_port_without_a_frame_is_offered_as_signals_with_the_reason(missing, tmp_path):
    spec = ROOT / "examples" / "modal_array.toml"
    if "middle" in missing:
        spec = tmp_path / "rope.toml"
        spec.write_text(ANCF)
    package = Package(tmp_path / "out", spec)
    reason = f"port thruster has no frame, its inputs are commands: the FMU has no {missing}"
    assert reason in package.done.stderr and reason in package.text
    assert "thruster_frame" not in package.text and "fmu.thruster_f_2_ = commands.thruster_f_2_;" in package.text


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_flange_has_the_acceleration_where_the_rate_is_a_state(formulation, tmp_path):
    spec = tmp_path / "arm.toml"
    text = (ROOT / "examples" / "berthing.toml").read_text(encoding="utf-8")
    rigid = re.sub(r"\[body\.link\d\.beam\]\n(?:.+\n)*", lambda m: m[0].split(".beam")[0] + "]\nmass = 20.0\ninertia = [1, 99, 99]\n", text)
    spec.write_text(f'formulation = "{formulation}"\n' + rigid.split("[contact.berth]")[0])
    package = Package(tmp_path / "out", spec)
    model = package.model("berthing")
    has_acceleration = "connect(fmu.der_elbow_qd_, elbow_axis.pder2);" in model
    assert has_acceleration == (formulation == "recursive") == ("elbow_axis(use_pder2 = false)" not in model)
    package.simulate("Spacecraft.berthing", package.stand_in("berthing"))


BAD = {
    "no such file": (["nowhere.toml"], ["cannot read nowhere.toml"]),
    "an FMU": (["a.fmu"], ["a.fmu is an FMU", "give its spec"]),
    "two of one name": (["a.toml", "same.toml"], ['two of the specs are called "A"', "change `name`"]),
    "a name of the package's": (["port.toml"], ['can be called "Port"', "change `name` in port.toml"]),
    "an invalid package": (["a.toml", "--package", "2go"], ['"2go" is not a legal name', "--package"]),
    "the library's name": (["a.toml", "--package", "Modelica"], ["Modelica Standard Library", "--package"]),
    "the model's name": (["a.toml", "--package", "a"], ['can be called "a"']),
}


@pytest.mark.parametrize("case", BAD)
def test_mistakes_are_refused_with_a_hint(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file, name in (("a", "a"), ("same", "A"), ("port", "Port")):
        Path(f"{file}.toml").write_text(f'name = "{name}"\n[body.hub]\nmass = 1.0\ninertia = [1, 1, 1]\n')
    arguments, expected = BAD[case]
    run = grapple("modelica", *arguments, "-o", "out", check=False)
    message = " ".join(re.sub(r"[│×╰▶─]", " ", run.stderr).split())
    assert run.returncode == 1 and all(text in message for text in expected), run.stderr
    assert not Path("out").exists(), "nothing is written"
