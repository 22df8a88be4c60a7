"""Imports the Python package of this clone, with the extension module that cargo has built beside the tool in the
environment variable GRAPPLE (`cargo build --package grapple-python`), or with that in GRAPPLE_NATIVE.
"""

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def load():
    """Returns the package `grapple_fmu`."""
    if "grapple_fmu" not in sys.modules:
        tool = Path(os.environ.get("GRAPPLE", ROOT / "target/debug/grapple")).resolve()
        native = os.environ.get("GRAPPLE_NATIVE", tool.parent / "lib_native.so")
        loader = importlib.machinery.ExtensionFileLoader("grapple_fmu._native", str(native))
        spec = importlib.util.spec_from_file_location("grapple_fmu._native", native, loader=loader)
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        sys.modules["grapple_fmu._native"] = module
        sys.path.insert(0, str(ROOT / "python"))
    import grapple_fmu

    return grapple_fmu


grapple_fmu = load()
