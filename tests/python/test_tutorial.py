"""The commands of docs/tutorial.md run as they are written, print the page's lines, and the captured
spacecraft keeps its momentum and comes to rest."""

import re

import numpy as np
import pandas as pd
import pytest
from fmu import grapple
from test_pages import DOCS, ROOT, blocks, lines, named_blocks, shell

PAGE = "tutorial.md"
# The installation, which needs the network.
INSTALL = ("python3 -m venv venv", ". venv/bin/activate", "pip install fmpy pandas")
MARK = "=== block"


@pytest.fixture(scope="module")
def tutorial(tmp_path_factory):
    """The folder of the tutorial after all its commands, and the output of each block of commands."""
    clone = tmp_path_factory.mktemp("clone")
    (clone / "examples").symlink_to(ROOT / "examples")
    (clone / "servicer").mkdir()
    for name, text in named_blocks(PAGE, "toml|python").items():
        (clone / "servicer" / name).write_text(text)
    commands = [text for language, text in blocks(PAGE) if language == "sh"]
    script = "".join(f"echo {MARK}\n{text}" for text in commands)
    for line in INSTALL:
        assert f"\n{line}\n" in script
        script = script.replace(f"\n{line}\n", "\n")
    run = shell(f"set -e\n{script.replace('mkdir servicer', 'mkdir -p servicer')}", clone)
    assert run.returncode == 0, run.stderr
    return clone / "servicer", run.stdout.split(f"{MARK}\n")[1:]


def vector(run, name):
    return run[[f"{name}[{i}]" for i in (1, 2, 3)]].to_numpy()


def table(path):
    run = pd.read_csv(path)
    return run.rename(columns=lambda column: column.split(" [")[0])


def after_capture(run):
    return int(np.argmax(run["latch.captured"] > 0.5))


def test_the_commands_print_the_lines_of_the_page(tutorial):
    folder, outputs = tutorial
    text = (DOCS / PAGE).read_text(encoding="utf-8")
    shown = re.findall(r"^```sh\n.*?^```\n\n```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    with_lines = re.findall(r"^```(sh)\n.*?^```(\n\n```text)?$", text, re.MULTILINE | re.DOTALL)
    outputs = [output for output, (_, has) in zip(outputs, with_lines, strict=True) if has]
    assert len(shown) == len(outputs) >= 5
    for expected, output in zip(shown, outputs):
        printed = iter(lines(output))
        for line in lines(expected):
            assert line in printed, f"{line}\n---\n{output}"
    assert all((folder / name).stat().st_size > 0 for name in ("capture.html", "capture.fmu", "fmpy.csv"))


def test_capture_conserves_momentum_and_the_wheels_take_it_up(tutorial, within):
    folder, _ = tutorial
    run = table(folder / "capture.csv")
    after = after_capture(run)
    assert 15 < run["time"][after] < 20
    reason = "tolerance of the integration"
    p, h = vector(run, "system.momentum"), vector(run, "system.angular_momentum")
    balance = run["system.energy"] - run["system.work"]
    within("tutorial: momentum, N·s", abs(p - p[0]).max(), 1e-8, reason)
    within("tutorial: angular momentum, N·m·s", abs(h - h[0]).max(), 1e-8, reason)
    within("tutorial: energy balance, J", abs(balance - balance[0]).max(), 1e-8, reason)
    # The captured bodies are at rest, and what remains of the momentum is in the wheels.
    rates = [np.linalg.norm(vector(run, f"{body}.w"), axis=1) for body in ("bus", "client.hull")]
    assert rates[1][0] > 0.026 and max(rate[-1] for rate in rates) < 1e-5, "rad/s"
    wheels = run[[f"wheel_{axis}.momentum" for axis in "xyz"]].to_numpy()
    assert np.linalg.norm(h[-1]) > 0.5 and np.linalg.norm(wheels[-1] - h[-1]) < 1e-3
    fingers = run[["arm7.finger.q", "arm7.finger_2.q"]].to_numpy()
    within("tutorial: finger from the one that it mimics, m", abs(fingers[:, 0] - fingers[:, 1]).max(), 1e-9, reason)
    assert fingers[0, 0] == pytest.approx(0.035) and fingers[-1, 0] == pytest.approx(0.005, abs=1e-6)


def test_impulse_of_the_capture_conserves_momentum_and_energy_to_round_off(tutorial, within):
    folder, _ = tutorial
    path = folder / "tight.csv"
    grapple("simulate", folder / "capture.toml", "--tolerance", 1e-12, "--stop-time", 17.2, "--no-page", "--output", path)
    run = table(path)
    after = after_capture(run)
    assert np.linalg.norm(vector(run, "latch.impulse")[after]) > 0.3, "N·s"
    for name, values in {
        "momentum, N·s": vector(run, "system.momentum"),
        "angular momentum, N·m·s": vector(run, "system.angular_momentum"),
        "energy less work, J": (run["system.energy"] - run["system.work"]).to_numpy(),
    }.items():
        within(f"tutorial: jump of {name} at the capture", abs(values[after] - values[after - 1]).max(), 1e-13, "round-off")
    assert run["latch.energy_change"][after] == pytest.approx(-0.00317, abs=1e-5), "energy of the relative motion, J"
