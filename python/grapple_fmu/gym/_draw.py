"""Values of a campaign's dispersions (docs/campaigns.md): functions of seed, name and number of the run."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any, cast

_NORMAL = NormalDist()


def drawn(dispersion: Mapping[str, Any], nominal: float, seed: int, name: str, run: int) -> float:
    """Returns the value of a variable in a run; `dispersion` has been validated by the tool.

    `nominal` is the model's value. It is that of `grapple campaign --plan`, normally distributed values to
    the last digits.
    """
    relative = bool(dispersion.get("relative", False))

    def absolute(number: float) -> float:
        return nominal * (1.0 + number) if relative else float(number)

    u = uniform(seed, name, run)
    if "uniform" in dispersion:
        low, high = sorted(absolute(end) for end in dispersion["uniform"])
        return min(max(low + (high - low) * u, low), high)
    if "list" in dispersion:
        values = [absolute(number) for number in dispersion["list"]]
        return values[min(int(u * len(values)), len(values) - 1)] if dispersion.get("draw") else values[run % len(values)]
    normal = cast("Mapping[str, Any]", dispersion["normal"])
    mean = absolute(normal["mean"]) if "mean" in normal else nominal
    sigma = normal["sigma"] * abs(nominal) if relative else float(normal["sigma"])
    if "bounds" not in normal:
        return mean + sigma * _NORMAL.inv_cdf(u)
    low, high = sorted(absolute(bound) for bound in normal["bounds"])
    a, b = (low - mean) / sigma, (high - mean) / sigma
    # In the left tail, where differences of probabilities lose no digits.
    mirrored = a > 0.0
    left, right = (-b, -a) if mirrored else (a, b)
    share = _probability(right) - _probability(left)
    p = _probability(-a) - u * share if mirrored else _probability(a) + u * share
    z = -_NORMAL.inv_cdf(p) if mirrored else _NORMAL.inv_cdf(p)
    return min(max(mean + sigma * min(max(z, a), b), low), high)


def uniform(seed: int, name: str, run: int) -> float:
    """Returns the uniform number behind a value, above 0 and below 1."""
    digest = hashlib.sha256(f"{seed} {name} {run}".encode()).digest()
    return ((int.from_bytes(digest[:8], "big") >> 12) + 0.5) / 2**52


def _probability(z: float) -> float:
    """Returns the standard normal distribution function."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))
