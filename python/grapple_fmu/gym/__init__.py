"""Environments of Gymnasium: tasks of free-floating manipulators, with values drawn as in a campaign.

    import gymnasium
    import grapple_fmu.gym                              # registers the environments below

    env = gymnasium.make("grapple/Reach-v0")            # the tool reaches a goal, the base floats freely
    env = gymnasium.make("grapple/Capture-v0")          # the tool captures a client that tumbles
    env = gymnasium.make("grapple/Slew-v0")             # a flexible arm slews and stops without vibration
    env = grapple_fmu.gym.Env("my_task.toml")           # any spec with a task: docs/gymnasium.md
    envs = gymnasium.make_vec("grapple/Reach-v0", 8)    # in threads

It needs the package gymnasium (`pip install 'grapple-fmu[gym]'`). Spaces and rewards have SI units;
`scaled=True` divides observations by the task's scales, and actions range from -1 to 1.
"""

from .._errors import optional

_gymnasium = optional("gymnasium", "grapple_fmu.gym")

from ._env import Env, State
from ._task import TASKS, Cost, Task
from ._vector import VectorEnv

__all__ = ["TASKS", "Cost", "Env", "State", "Task", "VectorEnv"]

for _name in TASKS:
    _gymnasium.register(
        f"grapple/{_name.capitalize()}-v0",
        entry_point="grapple_fmu.gym:Env",
        vector_entry_point="grapple_fmu.gym:VectorEnv",
        kwargs={"task": _name},
    )
