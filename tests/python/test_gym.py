"""Environments of Gymnasium: the interface, the same bits for a seed, dispersions, exact states, errors."""

import csv
import io
import os
import re
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from native import ROOT
from native import grapple_fmu as grapple
from programs import program

import grapple_fmu.gym as gym

NAMES = {name: f"grapple/{name.capitalize()}-v0" for name in gym.TASKS}
# gymnasium reports these of spaces in physical units.
EXPECTED = ("space minimum value is -infinity", "space maximum value is infinity", "symmetric and normalized space")


@pytest.fixture(scope="module")
def tasks():
    """The tasks of the package by name, each compiled once."""
    return {name: gym.Task.of(name) for name in gym.TASKS}


def actions(env, count, seed=0):
    env.action_space.seed(seed)
    return [0.3 * env.action_space.sample() for _ in range(count)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scaled", [False, True])
def test_environments_pass_the_check_of_gymnasium(name, scaled):
    env = gymnasium.make(NAMES[name], scaled=scaled)
    with warnings.catch_warnings(record=True) as reported:
        warnings.simplefilter("always")
        check_env(env.unwrapped, skip_render_check=scaled)
    texts = [str(warning.message) for warning in reported]
    assert not [text for text in texts if not any(part in text for part in EXPECTED)], texts
    assert scaled == (not [text for text in texts if EXPECTED[2] in text])
    env.close()


@pytest.mark.parametrize("name", NAMES)
def test_an_episode_has_the_same_bits_for_seed_and_number_and_others_for_others(name, tasks):
    def episode(env, **options):
        first, info = env.reset(**options)
        rows = [first, *(env.step(action)[0] for action in actions(env, 8))]
        return np.array(rows).tobytes(), info

    env, other = gym.Env(tasks[name]), gym.Env(tasks[name])
    first, drawn = episode(env, seed=7)
    second, _ = episode(env)
    assert first != second
    # In another environment, in another order.
    assert episode(other, seed=7, options={"run": 1})[0] == second
    repeated, info = episode(other, options={"run": 0})
    assert repeated == first and info == drawn
    assert episode(other, seed=8)[0] != first


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_state_is_restored_to_the_bit(name, tasks):
    env, other = gym.Env(tasks[name]), gym.Env(tasks[name])
    env.reset(seed=3)
    taken = actions(env, 10)
    for action in taken[:5]:
        env.step(action)
    saved = env.save()
    ends = [[env.step(action) for action in taken[5:]], env.reset()[0]]
    for restored in (env, other):
        restored.restore(saved)
        for expected, action in zip(ends[0], taken[5:]):
            observation, *rest = restored.step(action)
            assert observation.tobytes() == expected[0].tobytes() and rest == list(expected[1:])
        assert restored.reset()[0].tobytes() == ends[1].tobytes()


def test_dispersed_values_are_those_of_a_campaign(tmp_path):
    """Uniform values and lists are equal; normal values come from quantile functions of two libraries."""
    spec = grapple.load(gym.Task.of("reach").spec.folder / "servicer.toml")
    del spec["output"]
    spec.save(tmp_path / "arm.toml")
    dispersion = {
        "base.mass": {"uniform": [-0.1, 0.3], "relative": True},
        "hand.mass": {"uniform": [1.0, 3.0]},
        "palm.mass": {"list": [1.0, 2.0, 3.0]},
        "wrist.mass": {"list": [1.0, 2.0, 3.0], "draw": True},
        "elbow.q_start": {"normal": {"sigma": 0.2}},
        "wrist_yaw.q_start": {"normal": {"mean": 0.1, "sigma": 0.2, "bounds": [0.0, 0.5]}},
        "upper.mass": {"normal": {"sigma": 0.1, "bounds": [0.05, 0.2]}, "relative": True},
        "shoulder_pitch.q_start": {"normal": {"sigma": 0.1, "bounds": [-0.1, 0.1]}, "relative": True},
    }
    fields = {"spec": tmp_path / "arm.toml", "step": 0.1, "duration": 1.0, "dispersion": dispersion}
    task = gym.Task.of({**fields, "action": {"elbow.tau": 1.0}, "observation": {"elbow.q": 1.0}})
    study = {"model": "arm.toml", "runs": 60, "seed": 11, "dispersion": dispersion, "output": {"elbow.q": ["final"]}}
    (tmp_path / "study.toml").write_text(grapple.load(study).to_toml())
    tool = os.environ.get("GRAPPLE", ROOT / "target/debug/grapple")
    command = [tool, "campaign", tmp_path / "study.toml", "--plan"]
    rows = list(csv.DictReader(io.StringIO(subprocess.run(command, check=True, capture_output=True, text=True).stdout)))
    assert len(rows) == 60
    for run, row in enumerate(rows):
        values = task.values(11, run)
        for name, value in values.items():
            assert value == float(next(text for title, text in row.items() if title.split(" ")[0] == name)), name


def test_dispersed_values_reach_the_model(tasks):
    env = gym.Env(tasks["reach"])
    _, info = env.reset(seed=5)
    for name, value in info["values"].items():
        assert env.simulation[name] == value
    env.reset(options={"set": {"base.mass": 123.0}})
    assert env.simulation["base.mass"] == 123.0
    env.reset()
    assert env.simulation["base.mass"] != 123.0


def test_threads_and_lanes_do_not_change_results(tasks):
    """Environments in a vector are those alone with the seeds from the first on, also after they are reset."""
    short = {**vars(tasks["slew"]), "duration": 0.5}
    task = gym.Task(**short)
    results = []
    for threads, lanes in ((1, False), (1, True), (3, True)):
        envs = gym.VectorEnv(task, 6, threads=threads, lanes=lanes)
        rows = [envs.reset(seed=20)[0]]
        envs.action_space.seed(1)
        for step in range(8):
            if step == 3:
                envs.envs[4].reset()  # its time, masses and the end of its episode differ from the others'
            observation, reward, terminated, truncated, _ = envs.step(envs.action_space.sample())
            rows += [observation, reward, terminated, truncated]
        results.append(b"".join(np.asarray(row).tobytes() for row in rows))
        assert truncated.shape == (6,)
        envs.close()
    assert results[0] == results[1] == results[2]
    alone, envs = gym.Env(task), gym.VectorEnv(task, 2, threads=2)
    envs.reset(seed=20)
    alone.reset(seed=21)
    action = np.full((2, 2), 3.0)
    assert envs.step(action)[0][1].tobytes() == alone.step(action[1])[0].tobytes()
    envs.close()


def test_models_outside_lanes_are_refused_by_name(tasks):
    with pytest.raises(grapple.GrappleError, match="contact"):
        gym.VectorEnv(tasks["capture"], 2, lanes=True)


def test_error_of_a_run_in_lanes_names_its_episode(tasks):
    envs = gym.VectorEnv(tasks["reach"], 4, threads=1, lanes=True)
    envs.reset(seed=3)
    envs.envs[2].unwrapped.simulation.set_state({"elbow.qd": 1e200})
    with pytest.raises(grapple.GrappleError, match="episode with seed 5 and run 0"):
        envs.step(np.zeros((4, 6)))
    envs.close()


def test_make_vec_runs_in_threads_and_in_processes_of_gymnasium():
    for options in ({}, {"vectorization_mode": "sync"}):
        envs = gymnasium.make_vec(NAMES["reach"], num_envs=2, **options)
        assert isinstance(envs.unwrapped, gym.VectorEnv) == (not options)
        observation, _ = envs.reset(seed=1)
        assert observation.shape == (2, 17)
        envs.close()


def test_reward_and_limits_have_their_units(tasks):
    task = tasks["reach"]
    env, scaled = gym.Env(task), gym.Env(task, scaled=True)
    assert env.action_space.high.tolist() == [20.0, 20.0, 20.0, 5.0, 5.0, 5.0]
    _, _ = env.reset(seed=1), scaled.reset(seed=1)
    # Beyond the limits the limits act; the scaled action 1 is the limit.
    observation, reward, terminated, truncated, info = env.step(np.full(6, 1e3))
    of_scaled, *rest = scaled.step(np.ones(6))
    assert rest == [reward, terminated, truncated, info]
    assert np.array_equal(of_scaled, observation / list(task.observation.values()))
    run = env.simulation
    rates = np.array([run[f"base.w[{i}]"] for i in (1, 2, 3)])
    assert reward == pytest.approx(-0.1 * (run["miss.distance"] + rates @ rates + 0.05), rel=1e-14)


def test_reach_succeeds_capture_is_detected_and_duration_truncates(tasks):
    env = gym.Env(tasks["reach"])
    _, info = env.reset(seed=1)
    start = [env.simulation[f"tool.r[{i}]"] for i in (1, 2, 3)]
    goal = {f"goal_position.origin[{i}]": value for i, value in enumerate(start, 1)}
    env.reset(options={"run": 0, "set": goal})
    _, reward, terminated, truncated, info = env.step(np.zeros(6))
    assert terminated and info["is_success"] and not truncated and reward == pytest.approx(5.0, abs=1e-9)
    env.reset(options={"set": {"goal_position.origin[1]": 9.0}})
    _, reward, terminated, _, info = env.step(np.zeros(6))
    assert terminated and not info["is_success"] and reward < -20.0
    env.reset()
    ends = [env.step(np.zeros(6))[2:4] for _ in range(100)]
    assert ends == [(False, False)] * 99 + [(False, True)]

    env = gym.Env(tasks["capture"])
    # The client approaches the tool along its axis: slowly, then fast.
    for speed, success in ((-0.08, True), (-0.3, False)):
        env.reset(seed=1)
        tool = [env.simulation[f"tool.r[{i}]"] for i in (1, 2, 3)]
        at = {f"client.r_start[{i}]": value for i, value in enumerate(np.add(tool, [0.52, 0.0, 0.0]), 1)}
        at |= {f"client.w_start[{i}]": 0.0 for i in (1, 2, 3)} | {"client.v_start[1]": speed}
        env.reset(options={"set": at})
        for _ in range(5):
            _, reward, terminated, _, info = env.step(np.zeros(6))
            if terminated:
                break
        assert terminated and info["is_success"] == success, (speed, info)
        assert env.simulation["latch.captured"] == 1.0
    # A step that fails names the episode.
    env.simulation.set_state({"client.r[1]": 9.0})
    with pytest.raises(grapple.GrappleError, match=r"episode with seed 1 and run 1, t = 0.1 s: .*constraint violation"):
        env.step(np.zeros(6))


def test_the_page_of_an_episode_is_rendered(tasks):
    env = gym.Env(tasks["slew"], render_mode="html")
    env.reset(seed=1)
    for action in actions(env, 3):
        env.step(action)
    assert "shoulder.q" in env.render()
    assert gym.Env(tasks["slew"]).render() is None


def test_errors_of_a_task_are_reported_together_with_hints(tasks):
    with pytest.raises(grapple.GrappleError, match="tasks of the package are reach, capture, slew"):
        gym.Task.of("reech")
    fields = {"spec": gym.Task.of("reach").spec, "step": 0.1, "duration": -1.0}
    fields |= {"action": {"elbow.taw": 1.0, "shoulder_yaw.q": 1.0}, "observation": {"grip.r": 1.0, "mis.r[1]": 1.0}}
    fields |= {"cost": {"miss.distance": {"weigth": 1.0}}, "succes": {}, "failure": {"miss.distance": [2.0, 1.0]}}
    fields |= {"dispersion": {"base.mas": {"uniform": [1.0, 2.0]}}}
    with pytest.raises(grapple.GrappleError) as raised:
        gym.Task.of(fields)
    text = str(raised.value)
    for part in (
        "duration: -1.0 s is not positive",
        'action: there is no variable "elbow.taw"; did you mean "elbow.tau"?',
        "action: 'shoulder_yaw.q' is no input; inputs are",
        'observation: there is no variable "grip.r"',
        'did you mean "miss.r[1]"?',
        "miss.distance: there is no 'weigth'; a cost has weight, target, power",
        "succes: there is no such field; did you mean 'success'?",
        "failure: miss.distance: [lowest, highest] is expected",
    ):
        assert part in text, text
    assert len(raised.value.problems) == 8


def test_errors_of_limits_dispersions_and_end_effectors_have_hints(tasks):
    spec = grapple.new("two_link")
    del spec["signal"]
    fields = {"spec": spec, "step": 0.1, "duration": 1.0, "observation": {"elbow.q": 1.0}}
    with pytest.raises(grapple.GrappleError, match=r"elbow.tau: the model has no 'elbow.torque_limit'; write motor"):
        gym.Task.of({**fields, "action": {"elbow.tau": "model"}})
    fields["action"] = {"elbow.tau": 1.0}
    with pytest.raises(grapple.GrappleError, match='there is no parameter or input "forearm.mas"; did you mean "forearm.mass"?'):
        gym.Task.of({**fields, "dispersion": {"forearm.mas": {"uniform": [1.0, 2.0]}}})
    with pytest.raises(grapple.GrappleError, match="a grid has; use a list"):
        gym.Task.of({**fields, "dispersion": {"forearm.mass": {"grid": [1.0, 2.0]}}})
    spec["measure"] = {"miss": {"from": "base", "to": "hand"}}
    with pytest.raises(grapple.GrappleError, match='there is no frame or body "hand"|"hand"'):
        gym.Task.of(fields)


def test_wrong_calls_are_refused(tasks):
    env = gym.Env(tasks["slew"])
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros(2))
    env.reset(seed=1)
    for action in (np.zeros(3), [np.nan, 0.0]):
        with pytest.raises(ValueError, match="2 finite numbers"):
            env.step(action)
    with pytest.raises(ValueError, match="options are 'run' and 'set'"):
        env.reset(options={"runs": 1})
    with pytest.raises(grapple.GrappleError, match='did you mean "payload.mass"'):
        env.reset(options={"set": {"payload.mas": 1.0}})
    with pytest.raises(ValueError, match="render_mode"):
        gym.Env(tasks["slew"], render_mode="human")


def test_the_search_of_the_example_is_repeatable(tasks):
    """It starts from a policy that holds the arm, and counts its episodes."""
    train = program("gymnasium/train")
    env = gym.Env(gym.Task(**{**vars(tasks["slew"]), "duration": 1.0}), scaled=True)
    curves = [list(train.train(env, 4, population=6, episodes=1, every=4)) for _ in range(2)]
    (first, policy), (last, better) = curves[0]
    assert policy.shape == (2, env.observation_space.shape[0] + 1)
    assert np.array_equal(policy, train.first_policy(env, 1)) and first[:2] == [0, 0] and last[:2] == [4, 24]
    assert np.isfinite(first + last).all() and last[2] != first[2]
    assert np.array_equal(better, curves[1][1][1])


def test_program_and_task_of_the_page_run(tmp_path):
    page = (ROOT / "docs/gymnasium.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    values = {}
    exec(program, values)
    assert values["truncated"] or values["terminated"]
    (task,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    spec = grapple.new("two_link")
    del spec["signal"]
    spec["joint"]["shoulder"]["motor"] = {"torque_limit": 2.0}
    spec["measure"] = {"miss": {"from": "base", "to": "tip"}}
    spec.save(tmp_path / "my_arm.toml")
    (tmp_path / "my_task.toml").write_text(task, encoding="utf-8")
    env = gym.Env(tmp_path / "my_task.toml")
    observation, info = env.reset(seed=1)
    assert observation.shape == (4,) and env.action_space.high.tolist() == [2.0, 10.0]
    assert env.simulation["forearm.mass"] == 1.2 and 3.2 <= info["values"]["base.mass"] <= 4.8


def test_a_missing_gymnasium_is_named(tmp_path):
    (tmp_path / "gymnasium.py").write_text("raise ImportError")
    program = "import native, sys\nsys.modules.pop('gymnasium', None)\nimport grapple_fmu.gym"
    path = os.pathsep.join([str(tmp_path), str(ROOT / "tests/python")])
    run = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert run.returncode == 1 and "grapple_fmu.gym needs gymnasium: pip install gymnasium" in run.stderr.splitlines()[-1]
