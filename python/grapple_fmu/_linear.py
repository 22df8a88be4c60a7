"""Linear models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import optional

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class StateSpace:
    """Linear model `ξ̇ = A ξ + B δu`, `δy = C ξ + D δu` about one instant of a motion.

    The states `ξ` are tangent coordinates: changes of the model's states, except that a quaternion is
    replaced by three small rotations `<owner>.theta[1..3]` (rad) about body axes. `δx = T ξ` and `ξ = S δx`
    convert.

    Examples:
        >>> linear = grapple.new("two_link").linearize(outputs=["elbow.q", "base.w"])
        >>> linear.outputs, linear.output_units
        (('elbow.q', 'base.w[1]', 'base.w[2]', 'base.w[3]'), ('rad', 'rad/s', 'rad/s', 'rad/s'))
        >>> linear.C.shape
        (4, 16)
    """

    A: NDArray[np.float64]
    """State matrix, n × n."""
    B: NDArray[np.float64]
    """Input matrix, n × m."""
    C: NDArray[np.float64]
    """Output matrix, p × n."""
    D: NDArray[np.float64]
    """Feed-through matrix, p × m."""
    states: tuple[str, ...]
    """Names of the n states ξ."""
    state_units: tuple[str, ...]
    """Units of the states in FMI's notation."""
    inputs: tuple[str, ...]
    """Names of the m inputs."""
    input_units: tuple[str, ...]
    """Units of the inputs."""
    outputs: tuple[str, ...]
    """Names of the p outputs."""
    output_units: tuple[str, ...]
    """Units of the outputs."""
    pairs: int
    """Number of position coordinates; their rates follow in the same order."""
    T: NDArray[np.float64]
    """Changes of the model's states of unit changes of ξ, nx × n."""
    S: NDArray[np.float64]
    """Changes of ξ of unit changes of the model's states, n × nx."""
    t: float
    """Time of the instant, s."""
    x: NDArray[np.float64]
    """States of the model at that instant, shape (nx,)."""
    u: NDArray[np.float64]
    """Inputs at that instant, shape (m,)."""
    dx: NDArray[np.float64]
    """Derivatives of the model's states at that instant, shape (nx,); zero at an equilibrium."""
    modes: NDArray[np.complex128] | None = None
    """Eigenvalues with positive or zero imaginary part without the zero ones, 1/s, sorted; None for the
    linearisation of a `Model`."""
    text: str = field(default="", repr=False)
    """Table of the modes, as the tool prints it."""

    @classmethod
    def _of(cls, parts: dict[str, Any]) -> StateSpace:
        modes = parts.pop("modes", None)
        if modes is not None:
            modes = np.array([complex(*mode) for mode in modes], dtype=complex)
        names = {"coordinates": "states", "coordinate_units": "state_units"}
        return cls(modes=modes, **{names.get(name, name): value for name, value in parts.items()})

    def poles(self) -> NDArray[np.complex128]:
        """Returns all eigenvalues of A, 1/s. Those that are zero are only so to round-off; `modes` has
        none of them."""
        return np.linalg.eigvals(self.A).astype(complex)

    def to_scipy(self) -> Any:
        """Returns a `scipy.signal.StateSpace`. Raises ImportError without SciPy."""
        return optional("scipy.signal", "to_scipy").StateSpace(self.A, self.B, self.C, self.D)

    def to_control(self) -> Any:
        """Returns a `control.StateSpace` with the names of states, inputs and outputs, in which `.` is
        replaced by `_`. Raises ImportError without python-control."""
        control = optional("control", "to_control")

        def names(of: tuple[str, ...]) -> list[str]:
            return [name.replace(".", "_") for name in of]

        return control.ss(
            self.A, self.B, self.C, self.D, states=names(self.states), inputs=names(self.inputs), outputs=names(self.outputs)
        )

    def __repr__(self) -> str:
        n, m, p = len(self.states), len(self.inputs), len(self.outputs)
        return f"<StateSpace: {n} states, {m} inputs, {p} outputs, at t = {self.t} s>"
