"""Models with their mathematics, and runs that are advanced step by step."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from . import _native
from ._linear import StateSpace
from ._result import Result
from ._spec import items, package

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Model(_native.Model):
    """A model: derivatives, outputs, Jacobians and the mechanics, at values of its parameters.

    Model(source, set=None): `source` is a `Spec`, an `Fmu`, a file, a `Result` (whose parameters it then has), or
    a `Simulation` (also its discrete state: captures, brakes, limits). `set` gives parameters other values.

    Vectors are NumPy arrays of float64 in the order of `state_names` (x), `input_names` (u), `output_names` (y)
    and `rate_names` (v, the rates of joints and modes). Any axes before the last are a batch: x of the shape
    (10000, nx) gives 10000 results. `u` is one vector for all, or a batch like x; left out, it is `u0`. `t` is
    the time (s), or one for each point. `out` receives the result without an allocation: a contiguous array of
    float64. Units are SI; motions, wrenches and momenta are angular first, in world axes.

    Raises GrappleError for unknown names and points without a solution, ValueError for wrong shapes and
    numbers that are not finite, TypeError for no numbers. Threads may share a model; their calls wait for each
    other.

    Examples:
        >>> model = grapple.new("ssrms_type").model()
        >>> x = model.pack_states({"shoulder_pitch.q": 0.3, "elbow_pitch.q": -0.6})
        >>> model.mass_matrix(x).shape
        (13, 13)
        >>> many = np.repeat(x[None], 100, axis=0)
        >>> model.derivatives(0.0, many).shape
        (100, 28)
    """

    def __new__(cls, source: object, set: Mapping[str, float] | None = None) -> Self:
        if isinstance(source, Result):
            of: _native.Simulation | _native.Run | _native.Package = source._run
        else:
            of = source if isinstance(source, _native.Simulation) else package(source)
        return super().__new__(cls, of, items(set, "set"))

    def linearize(self, t: float, x: ArrayLike, u: ArrayLike | None = None) -> StateSpace:
        """Returns the linear model about a point, in tangent coordinates, with the present discrete state.

        `t` is the time (s), `x` one vector of states, shape (nx,), and `u` one of inputs, shape (nu,).
        """
        return StateSpace._of(self.linearisation(t, x, u))

    def reaction_null_space(
        self, x: ArrayLike, frame: str, *, motion: Literal["full", "rotation"] = "full", tolerance: float = 1e-9
    ) -> NDArray[np.float64]:
        """Returns an orthonormal basis of the rates of joints and modes that do not move the free base of a
        frame's spacecraft: shape (nv − 6, k), rows as the columns of `generalized_jacobian`.

        Such rates have no momentum while the base stands still (D. N. Nenchev, Y. Umetani and K. Yoshida, IEEE
        Trans. Robotics and Automation 8 (1992) 1–6). With `motion="rotation"` the base may translate, and only
        the angular momentum about the mass centre is zero. Singular values below `tolerance` times the largest
        count as zero. `x` is one vector.

        Raises GrappleError for an unknown frame and a spacecraft that does not float freely, ValueError for a batch.

        Examples:
            >>> model = grapple.new("ssrms_type").model()
            >>> model.reaction_null_space(model.x0, "tip", motion="rotation").shape
            (7, 4)
        """
        if motion not in ("full", "rotation"):
            raise ValueError(f"motion must be 'full' or 'rotation', not {motion!r}")
        x = np.asarray(x, dtype=float)
        if x.ndim != 1:
            raise ValueError("x must be one vector, not a batch")
        base = self.free_base(frame)
        roots = np.array(self.rate_roots)
        own = roots == roots[base]
        matrix = self.momentum_matrix(x)[: 3 if motion == "rotation" else 6]
        scales = np.abs(matrix).max(axis=1, keepdims=True)
        matrix = matrix / np.where(scales > 0, scales, 1.0)
        matrix[:, ~own] = 0.0
        others = np.delete(np.arange(len(roots)), slice(base, base + 6))
        # Rates of other spacecraft are no part of the null space.
        moving = np.flatnonzero(own[others])
        _, values, rows = np.linalg.svd(matrix[:, others[moving]])
        rank = int(np.sum(values > tolerance * values.max(initial=0.0)))
        basis = np.zeros((len(others), len(moving) - rank))
        basis[moving] = rows[rank:].T
        return basis

    def pack_states(self, values: Mapping[str, float], x: ArrayLike | None = None) -> NDArray[np.float64]:
        """Returns `x` (by default `x0`), shape (..., nx), with other values of the named states.

        Raises GrappleError for an unknown name.
        """
        packed = self.x0 if x is None else np.array(x, dtype=float)
        for name, value in items(values, "values"):
            packed[..., self.state_index(name)] = value
        return packed

    def pack_inputs(self, values: Mapping[str, float], u: ArrayLike | None = None) -> NDArray[np.float64]:
        """Returns `u` (by default `u0`), shape (..., nu), with other values of the named inputs.

        Raises GrappleError for an unknown name.
        """
        packed = self.u0 if u is None else np.array(u, dtype=float)
        for name, value in items(values, "values"):
            packed[..., self.input_index(name)] = value
        return packed


class Simulation(_native.Simulation):
    """A run that is advanced step by step: Co-Simulation, with the results of the FMU bit for bit.

    Simulation(source, *, start_time=0.0, stop_time=None, tolerance=None, set=None): `source` is a `Spec`, an
    `Fmu`, a file, or a run to be copied, without options; `set` gives parameters and inputs other values.
    Signals that the tool applies to inputs are not applied: the inputs keep their start values until `step`
    or `set` change them.

    `simulation["elbow.q"]` is the value of any variable. A simulation belongs to one thread at a time;
    `clone` makes one for another thread. An error leaves it at the time that it has reached.

    Examples:
        >>> simulation = grapple.new("berthing").simulation()
        >>> start = simulation.save()
        >>> simulation.step(0.05, {"elbow.tau": 2.0})
        >>> simulation.time, simulation.input_names
        (0.05, ('shoulder.tau', 'elbow.tau', 'wrist.tau'))
        >>> simulation.restore(start)
        >>> simulation.time
        0.0
    """

    def __new__(
        cls,
        source: object,
        *,
        start_time: float = 0.0,
        stop_time: float | None = None,
        tolerance: float | None = None,
        set: Mapping[str, float] | None = None,
    ) -> Self:
        is_copy = isinstance(source, _native.Simulation)
        if is_copy and (start_time, stop_time, tolerance, set) != (0.0, None, None, None):
            raise ValueError(
                "a copy of a simulation has its times, tolerance and values: set() changes inputs and tunable parameters"
            )
        of = source if is_copy else package(source)
        return super().__new__(cls, of, start_time, stop_time, tolerance, items(set, "set"))

    def clone(self) -> Simulation:
        """Returns an independent copy, with the same time, states, memory of the integrator and events."""
        return Simulation(self)

    def model(self) -> Model:
        """Returns the model with the present parameters and discrete state; `x0` and `u0` are the present
        states and inputs."""
        return Model(self)

    @property
    def events(self) -> list[dict[str, Any]]:
        """Events since the start: rows with the time `t` (s), the kind `event`, the `text` and the values of
        the kind."""
        return [json.loads(values) | {"text": text} for _, text, values in self.event_log]

    def set(self, values: Mapping[str, float]) -> None:
        """Sets tunable parameters and inputs by name, in SI units; before the first step, also at a start that
        `restore` has restored, all parameters."""
        self.set_values(items(values, "values"))
