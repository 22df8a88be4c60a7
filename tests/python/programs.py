"""Imports programs of the examples as modules, although several have the same name `study`."""

import importlib.util
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def program(name):
    """Returns the program `name` of the examples, such as "assembly/study", as a module. Modules
    that it imports from its own folder are removed from `sys.modules`."""
    path = EXAMPLES / f"{name}.py"
    modules, folders = set(sys.modules), list(sys.path)
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(name.replace("/", "_"), path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path[:] = folders
    for found in set(sys.modules) - modules:
        if EXAMPLES in Path(getattr(sys.modules[found], "__file__", None) or "/").parents:
            del sys.modules[found]
    return module
