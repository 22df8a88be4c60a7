"""Mass of a captured payload from the servo torques of a seven-joint arm, measured in MuJoCo.

    python examples/python/payload.py [--repetitions 200]
    python examples/python/payload.py --write    makes examples/identification/measured.csv

MuJoCo moves the spacecraft of examples/identification/arm.toml with another payload. Its encoders
and the torques of its servos are sampled with noise at 10 Hz, and `grapple_fmu.identify` estimates
mass and mass centre of the payload and the damping of the elbow, once for each repetition of the
noise. The program prints the share of 95 % intervals that contain the true value.
Needs grapple_fmu, mujoco-core and NumPy.
"""

import argparse
import csv
from pathlib import Path

import mujoco
import numpy as np

import grapple_fmu as grapple

FOLDER = Path(__file__).resolve().parents[1] / "identification"
TRUE = {
    "payload.mass": 480.0,  # kg
    "payload.mass_centre[1]": 0.12,  # m
    "payload.mass_centre[2]": -0.2,
    "payload.mass_centre[3]": 0.75,
    "elbow_pitch.damping": 14.0,  # N·m·s/rad
}
STOP, SAMPLE, STEP = 20.0, 0.1, 1e-3  # s; the last is that of MuJoCo's RK4
ENCODER = 2e-4  # rad, standard deviation of the noise
TORQUE = 0.05  # of each torque's root mean square




def merged(one, other):
    """Returns a spec with the values of another, as `include` merges them."""
    if not isinstance(other, dict):
        return other
    return {**one, **{key: merged(one.get(key, {}), value) for key, value in other.items()}}


def true_spec():
    """Returns the tables of the arm with the true payload."""
    files = [FOLDER / "arm.toml", FOLDER.parent / "ssrms_type.toml"]
    arm, base = (dict(grapple.load(file)) for file in files)
    spec = merged(base, arm)
    payload = {"mass": TRUE["payload.mass"], "mass_centre": [TRUE[f"payload.mass_centre[{i}]"] for i in (1, 2, 3)]}
    elbow = {"damping": TRUE["elbow_pitch.damping"]}
    return merged(spec, {"body": {"payload": payload}, "joint": {"elbow_pitch": elbow}})


def mjcf(spec):
    """Returns the spec in MuJoCo's format."""
    text = lambda numbers: " ".join(repr(float(number)) for number in numbers)

    def element(name, joint, of_joint):
        body = spec["body"][name]
        motion = "" if joint else "<freejoint/>"
        if "axis" in joint:
            motion = f'<joint name="{of_joint}" axis="{text(joint["axis"])}" damping="{joint["damping"]!r}"/>'
        centre = text(body.get("mass_centre", [0] * 3))
        inertial = f'<inertial mass="{body["mass"]!r}" pos="{centre}" diaginertia="{text(body["inertia"])}"/>'
        children = [(j["child"], j, key) for key, j in spec["joint"].items() if j["parent"] == name]
        inside = motion + inertial + "".join(element(*child) for child in children)
        return f'<body pos="{text(joint.get("origin", [0] * 3))}">{inside}</body>'

    option = f'<option gravity="0 0 0" integrator="RK4" timestep="{STEP}"/>'
    return f"<mujoco>{option}<worldbody>{element('base', {}, '')}</worldbody></mujoco>"


def signals(spec, names, field):
    """Returns amplitudes, angular frequencies and offsets of the sines on an input of each joint."""
    of = [spec["signal"][f"{name}.{field}"] for name in names]
    parts = [[signal.get(key, 0.0) for signal in of] for key in ("amplitude", "frequency", "offset")]
    return np.array(parts) * [[1.0], [2.0 * np.pi], [1.0]]


def truth():
    """Returns the names of the joints, the times, and the angles and servo torques at them."""
    spec = true_spec()
    model = mujoco.MjModel.from_xml_string(mjcf(spec))
    data = mujoco.MjData(model)
    names = [model.joint(i).name for i in range(1, model.njnt)]
    joints = [spec["joint"][name] for name in names]
    kp, kd = (np.array([joint["servo"][gain] for joint in joints]) for gain in ("kp", "kd"))
    amplitude, frequency, offset = signals(spec, names, "q_ref")
    torque, of_torque, _ = signals(spec, names, "tau")

    def servo(data):
        phase = frequency * data.time
        q_ref, rate_ref = offset + amplitude * np.sin(phase), amplitude * frequency * np.cos(phase)
        return kp * (q_ref - data.qpos[7:]) + kd * (rate_ref - data.qvel[6:])

    def control(_, data):
        data.qfrc_applied[6:] = servo(data) + torque * np.sin(of_torque * data.time)

    data.qpos[7:] = np.radians([joint["start"]["position_deg"] for joint in joints])
    times = SAMPLE * np.arange(round(STOP / SAMPLE) + 1)
    rows = []
    mujoco.set_mjcb_control(control)
    try:
        for _ in times:
            rows.append(np.concatenate([data.qpos[7:], servo(data)]))
            mujoco.mj_step(model, data, round(SAMPLE / STEP))
    finally:
        mujoco.set_mjcb_control(None)
    return names, times, np.array(rows)


def measurement(case, seed):
    """Returns the measured table of a repetition: a column of numbers for each title."""
    names, times, rows = case
    random = np.random.default_rng(seed)
    angles, torques = np.hsplit(rows, 2)
    angles = angles + ENCODER * random.standard_normal(angles.shape)
    torques = torques + TORQUE * np.sqrt(np.mean(torques**2, axis=0)) * random.standard_normal(torques.shape)
    columns = {"time": times}
    columns |= {f"{name}.q": column for name, column in zip(names, angles.T)}
    return columns | {f"{name}.servo_torque": column for name, column in zip(names, torques.T)}


def write(table):
    """Writes a measured table, with six digits, to examples/identification."""
    units = {"time": "s", "q": "rad", "servo_torque": "N.m"}
    with open(FOLDER / "measured.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([f"{title} [{units[title.split('.')[-1]]}]" for title in table])
        writer.writerows([f"{number:.6g}" for number in row] for row in zip(*table.values()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repetitions", type=int, default=4, metavar="N")
    parser.add_argument("--write", action="store_true", help="write the table of the first repetition")
    arguments = parser.parse_args()
    case = truth()
    if arguments.write:
        write(measurement(case, 0))
        return
    unknown = {name: {} for name in TRUE} | {"elbow_pitch.damping": {"prior": {"mean": 10.0, "sigma": 10.0}}}
    spec = grapple.load(FOLDER / "arm.toml")
    hits, errors = [], []
    for seed in range(arguments.repetitions):
        found = spec.identify(measurement(case, seed), unknown)
        inside = [abs(of.value - TRUE[of.name]) <= of.half_interval for of in found.parameters]
        mass = found.parameters[0]
        errors.append(abs(mass.value / TRUE["payload.mass"] - 1.0))
        hits.append(inside)
        if seed < 4:
            print(f"repetition {seed}: " + ", ".join(f"{of.name} {of.value:.5g} ± {of.half_interval:.2g}" for of in found.parameters))
    for name, share in zip(TRUE, np.mean(hits, axis=0)):
        print(f"{name}: {100.0 * share:.1f} % of the 95 % intervals contain the true value")
    print(f"largest error of the payload's mass: {100.0 * max(errors):.2f} %")


if __name__ == "__main__":
    main()
