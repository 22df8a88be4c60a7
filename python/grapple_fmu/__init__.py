"""Dynamics of flexible space manipulators: specs, FMUs, runs, and the mathematics of the models.

    import grapple_fmu as grapple

    spec = grapple.load("arm.toml")                     # or a dictionary, grapple.new("ssrms_type"), import_urdf
    result = spec.simulate(stop_time=10.0)              # columns as NumPy arrays; shows its page in a notebook
    spec.build("arm.fmu")                               # runs in any tool that imports FMI 2.0
    linear = spec.linearize()                           # A, B, C, D with names and units
    model = spec.model()                                # derivatives, Jacobians, mass matrix, momentum
    simulation = spec.simulation()                      # step, save, restore, clone

Units are SI. Errors are raised as `GrappleError` with all problems and their places.
"""

from ._errors import GrappleError, Problem
from ._identify import Estimate, Identified, Residual, Sensitivities, identify
from ._linear import StateSpace
from ._model import Model, Simulation
from ._flexible_body import FlexibleBody
from ._modes import import_modes
from ._native import Saved, __version__
from ._page import Page, page
from ._result import Health, Result
from ._spec import Campaign, Fmu, Spec, build, campaign, import_urdf, load, new, simulate, templates

__all__ = [
    "Campaign",
    "Estimate",
    "FlexibleBody",
    "Fmu",
    "GrappleError",
    "Health",
    "Identified",
    "Model",
    "Page",
    "Problem",
    "Residual",
    "Result",
    "Saved",
    "Sensitivities",
    "Simulation",
    "Spec",
    "StateSpace",
    "__version__",
    "build",
    "campaign",
    "identify",
    "import_modes",
    "import_urdf",
    "load",
    "new",
    "page",
    "simulate",
    "templates",
]
