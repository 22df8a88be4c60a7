"""Steps of environments per second of CPU time, compared with MuJoCo (docs/gymnasium.md).

    pip install mujoco-core glfw imageio 'grapple-fmu[gym]'
    python benches/environments.py

The scene is the rigid servicer of the task `reach`: a free-floating base and six joints, without
contacts, driven by the same random torques, which are constant for 0.1 s. MuJoCo runs in
Gymnasium's own class for it, `MujocoEnv`, with the observation, reward and ends of the task computed
by NumPy. `error` is the largest error of a joint position after 15 s, compared with a run of grapple
with the tolerance 1e-12. Rates are the best of the rounds, in which all engines run in turn. Vectors
have eight environments; their rates are steps of one environment per second of CPU time of all
threads.
"""

import tempfile
import time
from pathlib import Path

import gymnasium
import mujoco
import numpy as np
from gymnasium.envs.mujoco import MujocoEnv

import grapple_fmu as grapple
import grapple_fmu.gym

STEP, STEPS, ROUNDS = 0.1, 150, 100
# Environments in a vector, and steps before any of them is reset.
COUNT, SHORT = 8, 90
# Integrator and time step, s.
SCENES = [("Euler", 0.01), ("Euler", 0.002), ("implicitfast", 0.01), ("RK4", 0.05), ("RK4", 0.02)]
TASK = grapple_fmu.gym.Task.of("reach")
MISS, SPEED = 0.05, 0.05


def text(numbers):
    return " ".join(repr(float(number)) for number in numbers)


def mjcf(spec, integrator, step):
    """Returns the servicer in MuJoCo's format, with the goal as a site."""

    def element(name, joint):
        body = spec["body"][name]
        motion, frames = "", ""
        if not joint:
            motion = "<freejoint/>"
        else:
            rotor, damping = joint["rotor_inertia"], joint["damping"]
            motion = f'<joint name="{joint["name"]}" axis="{text(joint["axis"])}" armature="{rotor}" damping="{damping}"/>'
        for frame, of in spec["frame"].items():
            if of["body"] == name:
                frames += f'<site name="{frame}" pos="{text(of["origin"])}"/>'
        inertial = f'mass="{body["mass"]!r}" pos="{text(body.get("mass_centre", [0] * 3))}" diaginertia="{text(body["inertia"])}"'
        children = "".join(element(of["child"], {**of, "name": j}) for j, of in spec["joint"].items() if of["parent"] == name)
        return f'<body name="{name}" pos="{text(joint.get("origin", [0] * 3))}">{motion}{frames}<inertial {inertial}/>{children}</body>'

    motors = ""
    for joint, of in spec["joint"].items():
        limit = of["motor"]["torque_limit"]
        motors += f'<motor joint="{joint}" ctrllimited="true" ctrlrange="{-limit} {limit}"/>'
    option = f'<option gravity="0 0 0" integrator="{integrator}" timestep="{step}"/>'
    site = '<site name="goal" pos="1.6 0.4 0.9"/>'
    return f"<mujoco>{option}<worldbody>{site}{element('base', {})}</worldbody><actuator>{motors}</actuator></mujoco>"


class Scene(MujocoEnv):
    """The task in MuJoCo."""

    metadata = {"render_modes": ["human", "rgb_array", "depth_array", "rgbd_tuple"]}

    def __init__(self, integrator, step):
        spec = grapple.load(TASK.spec.folder / "servicer.toml")
        self.start = np.array([of.get("start", {}).get("position", 0.0) for of in spec["joint"].values()])
        space = gymnasium.spaces.Box(-np.inf, np.inf, (17,), np.float64)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "servicer.xml"
            file.write_text(mjcf(spec, integrator, step))
            super().__init__(str(file), round(STEP / step), space)
        self.tool, self.goal = self.model.site("tool").id, self.model.site("goal").id

    def reset_model(self):
        position = self.init_qpos.copy()
        position[7:] = self.start
        self.set_state(position, np.zeros_like(self.init_qvel))
        return self.observe()

    def observe(self):
        data = self.data
        miss = data.site_xpos[self.tool] - data.site_xpos[self.goal]
        return np.concatenate([data.qpos[7:12], data.qvel[6:], data.qvel[3:6], miss])

    def step(self, action):
        self.do_simulation(action, self.frame_skip)
        data = self.data
        observation = self.observe()
        distance = np.linalg.norm(data.site_xpos[self.tool] - data.site_xpos[self.goal])
        used = action / self.action_space.high
        reward = -STEP * (distance + data.qvel[3:6] @ data.qvel[3:6] + 0.05 * (used @ used) / 6)
        velocity = np.zeros(6)
        mujoco.mj_objectVelocity(self.model, data, mujoco.mjtObj.mjOBJ_SITE, self.tool, velocity, 0)
        success = bool(distance < MISS and np.abs(velocity[3:]).max() < SPEED)
        return (
            observation,
            reward,
            success or bool(distance > 3.0),
            data.time > 10.0 - 1e-9,
            {"t": data.time, "is_success": success},
        )


def rates(cases):
    """Returns the most steps per second of CPU time of the process, for each case: its steps, what precedes them, and
    their number. The cases are timed in turn."""
    best = [np.inf] * len(cases)
    for _ in range(ROUNDS):
        for k, (call, before, _) in enumerate(cases):
            before()
            begin = time.process_time()
            call()
            best[k] = min(best[k], time.process_time() - begin)
    return [count / seconds for (*_, count), seconds in zip(cases, best)]


class Grapple:
    """A task in grapple, without dispersions."""

    def __init__(self, task, tolerance=None):
        self.env = grapple_fmu.gym.Env(task)
        if tolerance is not None:
            self.env.simulation = task.spec.simulation(tolerance=tolerance)
            self.env._start = self.env.simulation.save()

    def reset(self):
        self.env.reset(seed=1, options={"set": self.env.task.nominal})

    def plain(self, actions):
        run, inputs = self.env.simulation, self.env.simulation.inputs
        for action in actions:
            inputs[: len(action)] = action
            run.step(STEP, inputs)

    def positions(self):
        run = self.env.simulation
        return np.array([run[name.replace(".tau", ".q")] for name in self.env.task.action])


class Mujoco:
    """The scene in MuJoCo."""

    def __init__(self, integrator, step):
        self.env = Scene(integrator, step)

    def reset(self):
        self.env.reset(seed=1)

    def plain(self, actions):
        model, data, count = self.env.model, self.env.data, self.env.frame_skip
        for action in actions:
            data.ctrl[:] = action
            mujoco.mj_step(model, data, nstep=count)

    def positions(self):
        return self.env.data.qpos[7:]


def steps(env, actions):
    for action in actions:
        env.step(action)


def processor():
    """Returns the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        fields = dict(map(str.strip, line.split(":", 1)) for line in lines if ":" in line)
        return f"{fields['model name']} (family {fields['cpu family']}, model {fields['model']})"
    except (OSError, KeyError):
        import platform

        return platform.processor()


def torques(task):
    """Returns random actions, shape (STEPS, nu)."""
    limits = np.array(list(task.action.values()))
    return np.random.default_rng(1).uniform(-1.0, 1.0, (STEPS, len(limits))) * limits


def run(engine, actions):
    """Returns the joint positions after a run."""
    engine.reset()
    engine.plain(actions)
    return engine.positions()


def alone(engine, actions):
    """Returns the cases of an engine: with the environment, and without it."""
    calls = (lambda: steps(engine.env, actions), lambda: engine.plain(actions))
    return [(call, engine.reset, STEPS) for call in calls]


def together(envs, options):
    """Returns the case of environments that are stepped together."""
    high = envs.single_action_space.high
    actions = 0.3 * np.random.default_rng(1).uniform(-1.0, 1.0, (SHORT, COUNT, len(high))) * high
    return (lambda: steps(envs, actions), lambda: envs.reset(seed=1, options=options), SHORT * COUNT)


def vectors():
    """Returns vectors of environments by name, and the options of their reset."""
    made = {}
    for name in ("reach", "slew"):
        task = grapple_fmu.gym.Task.of(name)
        for threads, lanes in ((1, False), (2, False), (1, True), (2, True)):
            title = f"{name}, {threads} thread{'s' * (threads > 1)}{', lanes' * lanes}"
            made[title] = grapple_fmu.gym.VectorEnv(task, COUNT, threads=threads, lanes=lanes), {"set": task.nominal}
    for integrator, step in SCENES:
        scenes = [lambda: Scene(integrator, step)] * COUNT
        made[f"MuJoCo, {integrator}, {1e3 * step:g} ms"] = gymnasium.vector.SyncVectorEnv(scenes), None
    return made


def main():
    actions = torques(TASK)
    exact = run(Grapple(TASK, 1e-12), actions)
    engines = {"grapple, tolerance 1e-4 (the task)": Grapple(TASK), "grapple, tolerance 1e-7": Grapple(TASK, 1e-7)}
    engines |= {f"MuJoCo, {integrator}, {1e3 * step:g} ms": Mujoco(integrator, step) for integrator, step in SCENES}
    errors = [f"{np.abs(run(engine, actions) - exact).max():>12.1e}" for engine in engines.values()]
    cases = [case for engine in engines.values() for case in alone(engine, actions)]
    for name in ("capture", "slew"):
        task = grapple_fmu.gym.Task.of(name)
        engines[f"grapple, task {name}"] = Grapple(task)
        cases += alone(engines[f"grapple, task {name}"], 0.3 * torques(task))
        errors.append("")
    several = vectors()
    cases += [together(envs, options) for envs, options in several.values()]
    measured = iter(rates(cases))
    print(f"{processor()}; MuJoCo {mujoco.__version__}, Gymnasium {gymnasium.__version__}, NumPy {np.__version__}")
    print(f"{'':>36}{'steps/s':>12}{'without env':>12}{'error, rad':>12}")
    for name, error in zip(engines, errors):
        print(f"{name:>36}{next(measured):>12.0f}{next(measured):>12.0f}{error}")
    print(f"vectors of {COUNT} environments")
    for name, steps_per_s in zip(several, measured):
        print(f"{name:>36}{steps_per_s:>12.0f}")


if __name__ == "__main__":
    main()
