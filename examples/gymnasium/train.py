"""Trains a linear policy of a task by CMA-ES, and prints the learning curve: the baseline of
docs/gymnasium.md.

    pip install cma matplotlib 'grapple-fmu[gym]'
    python examples/gymnasium/train.py reach --generations 200 --curve reach.csv --policy reach.npy
    python examples/gymnasium/train.py reach --policy reach.npy --page reach.html   # an episode of it
    python examples/gymnasium/train.py --figure curves.svg reach.csv capture.csv slew.csv

The action is that of a linear policy, u = W o + b, of scaled observations o, limited to the range of
the actions. The search starts from a policy that holds the joints where they are at the start: a
spring and a damper on each. A candidate's fitness is its mean return in episodes that all candidates
of its generation share; the curve is the mean return in other episodes, of the policy at the mean of
the search distribution. CMA-ES adapts variances only (Ros and Hansen 2008), then covariances.
"""

import argparse
import csv
from pathlib import Path

import numpy as np

import grapple_fmu.gym

# Seed of the episodes of the curve; those of the training have the seed of the option.
TEST_SEED, TEST_EPISODES = 1_000_000, 50
# Stiffness and damping of the first policy, scaled.
STIFFNESS, DAMPING = 0.5, 0.1
TITLES = ["generation", "episodes", "mean return", "standard deviation", "success", "steps"]


def first_policy(env, seed):
    """Returns the policy that the search starts from, shape (nu, no + 1)."""
    start = np.mean([env.reset(seed=seed, options={"run": run})[0] for run in range(50)], axis=0)
    observed = list(env.task.observation)
    weights = np.zeros((len(env.task.action), len(observed)))
    for i, name in enumerate(env.task.action):
        joint = name.removesuffix(".tau")
        for variable, gain in ((f"{joint}.q", STIFFNESS), (f"{joint}.qd", DAMPING)):
            if variable in observed:
                weights[i, observed.index(variable)] = -gain
    return np.column_stack([weights, -weights @ start])


def act(policy, observation):
    """Returns the scaled action of a policy, shape (nu, no + 1)."""
    return np.minimum(np.maximum(policy[:, :-1] @ observation + policy[:, -1], -1.0), 1.0)


def episode(env, policy, seed, run):
    """Returns return, success and number of steps of an episode."""
    observation, _ = env.reset(seed=seed, options={"run": run})
    total, steps, ended = 0.0, 0, False
    while not ended:
        observation, reward, terminated, truncated, info = env.step(act(policy, observation))
        total, steps, ended = total + reward, steps + 1, terminated or truncated
    return total, info["is_success"], steps


def test(env, policy, episodes=TEST_EPISODES):
    """Returns mean and standard deviation of the return, the part of successes, the mean number of steps."""
    returns, successes, steps = np.array([episode(env, policy, TEST_SEED, run) for run in range(episodes)]).T
    return returns.mean(), returns.std(), successes.mean(), steps.mean()


def train(env, generations, population=16, episodes=4, seed=1, sigma=0.1, every=10):
    """Trains a policy; yields rows of the curve with the policy."""
    import cma

    start = first_policy(env, seed)
    shape = start.shape
    options = {"seed": seed, "popsize": population, "verbose": -9, "CMA_diagonal": 100, "maxiter": generations}
    search = cma.CMAEvolutionStrategy(start.ravel(), sigma, options)
    for generation in range(generations + 1):
        if generation % every == 0:
            policy = search.mean.reshape(shape).copy()
            yield [generation, generation * population * episodes, *test(env, policy)], policy
        if generation < generations:
            runs = range(generation * episodes, (generation + 1) * episodes)
            candidates = search.ask()
            costs = [-np.mean([episode(env, x.reshape(shape), seed, run)[0] for run in runs]) for x in candidates]
            search.tell(candidates, costs)


def figure(path, curves):
    """Draws learning curves."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    fig, axes = pyplot.subplots(2, len(curves), figsize=(3.6 * len(curves), 5.0), sharex="col", squeeze=False)
    for (top, bottom), curve in zip(axes.T, curves):
        with open(curve, newline="", encoding="utf-8") as file:
            rows = np.array([[float(number) for number in row] for row in list(csv.reader(file))[1:]]).T
        _, episodes, mean, deviation, success, _ = rows
        top.fill_between(episodes, mean - deviation, mean + deviation, alpha=0.2)
        top.plot(episodes, mean)
        top.set_title(Path(curve).stem)
        bottom.plot(episodes, 100.0 * success)
        bottom.set_ylim(0.0, 100.0)
        bottom.set_xlabel("episodes")
    axes[0][0].set_ylabel("return")
    axes[1][0].set_ylabel("success, %")
    fig.tight_layout()
    fig.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="*", help="a task of the package or its file; curves for --figure")
    parser.add_argument("--generations", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--curve", help="file of the learning curve (CSV)")
    parser.add_argument("--policy", help="file of the policy (NumPy): written after a training, else read")
    parser.add_argument("--page", help="file of the page of one episode")
    parser.add_argument("--figure", help="file of a figure of learning curves")
    options = parser.parse_args()
    if options.figure:
        return figure(options.figure, options.task)
    env = grapple_fmu.gym.Env(options.task[0], scaled=True, render_mode="html" if options.page else None)
    rows = [TITLES]
    print("".join(f"{title:>20}" for title in TITLES))
    if options.generations:
        for row, policy in train(env, options.generations, seed=options.seed):
            rows.append([round(float(number), 6) for number in row])
            print("".join(f"{number:>20.6g}" for number in row), flush=True)
            if options.curve:
                with open(options.curve, "w", newline="", encoding="utf-8") as file:
                    csv.writer(file).writerows(rows)
            if options.policy:
                np.save(options.policy, policy)
    else:
        policy = np.load(options.policy)
        print(episode(env, policy, TEST_SEED, 0) if options.page else test(env, policy))
    if options.page:
        Path(options.page).write_text(env.render(), encoding="utf-8")


if __name__ == "__main__":
    main()
