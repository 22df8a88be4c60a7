"""The extension module. `Model` and `Simulation` are used through the classes of `grapple_fmu`."""

from collections.abc import Callable, Iterator, Mapping
from os import PathLike
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Array: TypeAlias = NDArray[np.float64]
_Path: TypeAlias = str | PathLike[str]
_Problem: TypeAlias = tuple[str, str | None, int | None, int | None]
_Runs: TypeAlias = tuple[str | None, int, list[tuple[int, str]]]
_Progress: TypeAlias = Callable[[float, float], object] | None

__version__: str

def command_line(words: list[str]) -> int: ...
def to_toml(data: dict[str, Any]) -> str: ...
def dispersed(dispersion: Mapping[str, Any], nominal: float, seed: int, name: str, run: int) -> float: ...
def templates() -> list[tuple[str, str]]: ...
def template(template: str, name: str) -> str: ...
def import_urdf(
    urdf: _Path,
    floating: bool,
    keep_fixed: bool,
    base: tuple[float, list[float]] | None,
    packages: list[str],
    meshes: str,
) -> tuple[str, str, list[tuple[str, str]], list[str]]: ...
def mount_urdf(name: str, file: _Path, on: _Path, frame: str) -> tuple[str, str]: ...
def page(results: list[str], model: Package, component: str | None, set: list[tuple[str, float]]) -> tuple[str, list[str]]: ...
def sensitivities(
    package: Package,
    experiment: tuple[float | None, float | None, float | None],
    set: list[tuple[str, float]],
    inputs: list[tuple[str, object, object]],
    table: _Path | None,
    with_respect_to: list[str],
    outputs: list[str],
    progress: _Progress,
) -> dict[str, Any]: ...
def identify(file: _Path, progress: _Progress) -> dict[str, Any]: ...

class Package:
    @staticmethod
    def open(path: _Path) -> Package: ...
    @staticmethod
    def parse(text: str, folder: _Path, file: str) -> Package: ...
    @staticmethod
    def problems(text: str, folder: _Path, file: str) -> list[_Problem]: ...
    @property
    def name(self) -> str: ...
    def check(self) -> tuple[list[str], list[str], str]: ...
    def build(
        self,
        output: _Path,
        platforms: list[str] | None,
        fmi: int,
        arrays: bool,
        reference: bool,
        fmi_type: str,
        names: str,
        diagnostics: bool,
    ) -> None: ...
    def simulate(
        self,
        stop_time: float | None,
        step: float | None,
        tolerance: float | None,
        set: list[tuple[str, float]],
        inputs: list[tuple[str, object, object]],
        table: str | None,
        progress: _Progress,
    ) -> Run: ...
    def linearize(self, at: float, inputs: list[str], outputs: list[str]) -> dict[str, Any]: ...
    @staticmethod
    def campaign(study: _Path, output: _Path, jobs: int, only: list[int] | None, progress: _Progress) -> _Runs: ...
    @staticmethod
    def distributed_campaign(study: _Path, output: _Path, make: Callable[[list[int]], Iterator[_Path]]) -> _Runs: ...

class Run:
    @property
    def name(self) -> str: ...
    @property
    def time(self) -> _Array: ...
    @property
    def columns(self) -> list[tuple[str, str]]: ...
    def column(self, i: int) -> _Array | None: ...
    @property
    def parameters(self) -> list[tuple[str, float]]: ...
    @property
    def events(self) -> list[tuple[float, str, str]]: ...
    @property
    def messages(self) -> list[str]: ...
    @property
    def failure(self) -> str | None: ...
    def health(self) -> dict[str, Any]: ...
    def page(self) -> str: ...
    def write(self, path: _Path) -> None: ...

class Model:
    def __new__(cls, source: Package | Run | Simulation, set: list[tuple[str, float]]) -> Self: ...
    @property
    def name(self) -> str:
        """Name of the model."""
    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the states, in the order of x."""
    @property
    def state_units(self) -> tuple[str, ...]:
        """Units of the states in FMI's notation; empty for pure numbers."""
    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the inputs, in the order of u."""
    @property
    def input_units(self) -> tuple[str, ...]:
        """Units of the inputs."""
    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the outputs, in the order of y."""
    @property
    def output_units(self) -> tuple[str, ...]:
        """Units of the outputs."""
    @property
    def rate_names(self) -> tuple[str, ...]:
        """Names of the rates of joints and modes (v): rows and columns of the mass matrix."""
    @property
    def rate_units(self) -> tuple[str, ...]:
        """Units of the rates."""
    @property
    def rate_roots(self) -> tuple[int, ...]:
        """Index of the root body of each rate's tree; equal for the rates of one spacecraft."""
    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of bodies and frames."""
    @property
    def parameters(self) -> dict[str, float]:
        """Values of the parameters by name."""
    @property
    def x0(self) -> _Array:
        """States at the start, shape (nx,); of the model of a simulation its states."""
    @property
    def u0(self) -> _Array:
        """Inputs at the start, shape (nu,), used where u is left out."""
    def state_index(self, name: str) -> int:
        """Returns the index of a state in x. Raises GrappleError for an unknown name."""
    def input_index(self, name: str) -> int:
        """Returns the index of an input in u. Raises GrappleError for an unknown name."""
    def output_index(self, name: str) -> int:
        """Returns the index of an output in y. Raises GrappleError for an unknown name."""
    def rate_index(self, name: str) -> int:
        """Returns the index of a rate in v. Raises GrappleError for an unknown name."""
    def derivatives(self, t: ArrayLike, x: ArrayLike, u: ArrayLike | None = None, *, out: _Array | None = None) -> _Array:
        """Returns the derivatives of the states, shape (..., nx), in their units per second.

        The discrete state is constant: captures, brakes, limits and friction that sticks remain as they are.
        """
    def outputs(self, t: ArrayLike, x: ArrayLike, u: ArrayLike | None = None, *, out: _Array | None = None) -> _Array:
        """Returns the outputs, shape (..., ny); flags are 0 or 1."""
    def event_indicators(self, t: ArrayLike, x: ArrayLike, u: ArrayLike | None = None, *, out: _Array | None = None) -> _Array:
        """Returns the event indicators, shape (..., nz): one that falls to zero is an event."""
    def jacobian(self, t: ArrayLike, x: ArrayLike, u: ArrayLike | None = None) -> tuple[_Array, _Array, _Array, _Array]:
        """Returns A = ∂ẋ/∂x, B = ∂ẋ/∂u, C = ∂y/∂x and D = ∂y/∂u, exact to round-off (dual numbers).

        Shapes (..., nx, nx), (..., nx, nu), (..., ny, nx), (..., ny, nu). Quaternions are four states;
        `linearize` has three rotations in their place. Rows of flags are zero.
        """
    def adjoint_derivatives(
        self,
        t: ArrayLike,
        x: ArrayLike,
        u: ArrayLike | None = None,
        *,
        dx: ArrayLike | None = None,
        y: ArrayLike | None = None,
    ) -> tuple[_Array, _Array]:
        """Returns the adjoints dxᵀ A + yᵀ C of the states and dxᵀ B + yᵀ D of the inputs, exact to round-off.

        Shapes (..., nx) and (..., nu); `dx`, shape (nx,) or (..., nx), are the seeds of the states' derivatives, `y`,
        shape (ny,) or (..., ny), those of the outputs, zero where left out. The matrices are those of `jacobian`,
        but are not computed: the cost does not depend on the number of states and inputs (reverse accumulation).
        """
    def linearisation(self, t: ArrayLike, x: ArrayLike, u: ArrayLike | None = None) -> dict[str, Any]: ...
    def mass_matrix(self, x: ArrayLike, *, out: _Array | None = None) -> _Array:
        """Returns the mass matrix M of the rates, shape (..., nv, nv): the kinetic energy is vᵀ M v / 2.

        Rotor inertias are included. Closed loops and captures are not: M is that of the tree.
        """
    def momentum_matrix(self, x: ArrayLike, *, out: _Array | None = None) -> _Array:
        """Returns the centroidal momentum matrix, shape (..., 6, nv).

        Its product with v is the angular momentum about the mass centre of the whole system (kg·m²/s) and the
        linear momentum (kg·m/s), world axes. Rotor inertias are not included.
        """
    def momentum(self, x: ArrayLike, *, out: _Array | None = None) -> _Array:
        """Returns the angular momentum about the mass centre (kg·m²/s) and the linear momentum (kg·m/s), shape
        (..., 6), world axes."""
    def mass_centre(self, x: ArrayLike, *, out: _Array | None = None) -> _Array:
        """Returns the mass centre of the whole system, shape (..., 3), m, world axes."""
    def energy(self, t: ArrayLike, x: ArrayLike, u: ArrayLike | None = None, *, out: _Array | None = None) -> _Array:
        """Returns kinetic and potential energy, shape (..., 2), J.

        Potentials are those of springs, stops, compliant contacts, uniform gravity and elastic deflections.
        """
    def gyroscopic_forces(self, x: ArrayLike, *, out: _Array | None = None) -> _Array:
        """Returns the gyroscopic, Coriolis and centrifugal forces c(q, v), shape (..., nv), N·m or N: the
        generalised forces that constant rates require without loads."""
    def inverse_dynamics(
        self,
        t: ArrayLike,
        x: ArrayLike,
        u: ArrayLike | None = None,
        v_dot: ArrayLike | None = None,
        *,
        out: _Array | None = None,
    ) -> _Array:
        """Returns M v̇ + c − τ, shape (..., nv), N·m or N: the generalised forces that lead to the derivatives
        `v_dot` of the rates in addition to all loads τ (gravity, springs, elasticity, actuators, inputs).

        Without `v_dot` the rates are constant: the bias forces. Forces of closed loops, captures, drives and
        brakes are not among the loads.
        """
    def frame_pose(self, x: ArrayLike, frame: str) -> tuple[_Array, _Array]:
        """Returns the position of a frame's origin, shape (..., 3), m, and the matrix that takes components in
        the frame to world axes, shape (..., 3, 3)."""
    def frame_velocity(self, x: ArrayLike, frame: str, *, out: _Array | None = None) -> _Array:
        """Returns angular velocity (rad/s) and velocity of the origin (m/s) of a frame, shape (..., 6), world
        axes."""
    def frame_jacobian(self, x: ArrayLike, frame: str, *, out: _Array | None = None) -> _Array:
        """Returns the Jacobian of a frame, shape (..., 6, nv): its product with v is `frame_velocity`."""
    def generalized_jacobian(self, x: ArrayLike, frame: str, *, out: _Array | None = None) -> _Array:
        """Returns the generalised Jacobian of a frame of a free-floating spacecraft, shape (..., 6, nv − 6).

        Its product with the rates without the six of the base (`free_base`) is `frame_velocity` if the
        momentum is zero (Y. Umetani and K. Yoshida, IEEE Trans. Robotics and Automation 5 (1989) 303–314).
        """
    def free_base(self, frame: str) -> int:
        """Returns the index of the first of the six rates of the free base that carries a frame.

        Raises GrappleError if the frame's spacecraft does not float freely.
        """

class Together:
    def __new__(cls, runs: list[Simulation]) -> Self:
        """Combines runs of one model. Raises GrappleError if it does not run in lanes."""
    def step(self, dt: float, inputs: list[NDArray[np.float64] | None]) -> list[Exception | None]:
        """Integrates each run over `dt` (s) with all its inputs (shape (nu,)); one without inputs stays where it
        is. Returns the error of each, or None."""

class Simulation:
    def __new__(
        cls,
        source: Package | Simulation,
        start_time: float,
        stop_time: float | None,
        tolerance: float | None,
        set: list[tuple[str, float]],
    ) -> Self: ...
    @property
    def name(self) -> str:
        """Name of the model."""
    @property
    def time(self) -> float:
        """Time, s."""
    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the states."""
    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the inputs."""
    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the outputs."""
    @property
    def state(self) -> _Array:
        """States, shape (nx,)."""
    @property
    def inputs(self) -> _Array:
        """Inputs, shape (nu,)."""
    @property
    def outputs(self) -> _Array:
        """Outputs, shape (ny,); flags are 0 or 1."""
    @property
    def event_log(self) -> list[tuple[float, str, str]]: ...
    def step(self, dt: float, inputs: ArrayLike | Mapping[str, float] | None = None) -> None:
        """Integrates over `dt` (s) with constant inputs, and handles the events in between.

        `inputs` are all inputs (shape (nu,)) or some by name; the others keep their values.

        Raises GrappleError if the step fails; the time is then that which was reached. After Ctrl-C the
        simulation is as before the step, with the new inputs.
        """
    def set_state(self, x: ArrayLike | Mapping[str, float]) -> None:
        """Replaces the states at the present time: all (shape (nx,)) or some by name.

        Captures, locked and prescribed joints, and surfaces in contact stay as they are. Limits, stops and
        friction that sticks are those of the new states, and events whose conditions hold there occur at once.
        The integrator starts anew: other steps, other last bits. Quaternions are normalised. Fixed parameters
        can no longer change. States that violate a capture or closed loop by more than
        `monitor.constraint_violation` end the next step.

        Raises GrappleError for an unknown name, a quaternion of zero norm, and a rate of a locked joint,
        ValueError for a wrong shape and numbers that are not finite. The simulation is then unchanged.
        """
    def set_values(self, values: list[tuple[str, float]]) -> None: ...
    def __getitem__(self, name: str, /) -> float: ...
    def save(self) -> Saved:
        """Returns a copy of the complete state: time, states, inputs, parameters, discrete state, and the
        memory of the integrator."""
    def restore(self, saved: Saved) -> None:
        """Restores a copy, also one of another simulation of the same model. Later events are dropped.

        Raises GrappleError for a copy of another model.
        """
    def read_saved(self, bytes: bytes) -> Saved:
        """Returns the copy in bytes from `Saved.to_bytes` or from the model's FMU (fmi2SerializeFMUstate).

        Raises GrappleError for other bytes.
        """

class Saved:
    """A copy of the complete state of a run."""

    @property
    def time(self) -> float:
        """Time, s."""
    @property
    def state(self) -> _Array:
        """States, shape (nx,)."""
    def to_bytes(self) -> bytes:
        """Returns the copy as bytes: those of fmi2SerializeFMUstate."""
