"""Rooms that were renamed: their old names still import, with a DeprecationWarning, for one version."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

HOME = "viameter.tables"
RENAMED = {"Question": "Query", "Ranking": "Query", "HeavyHitters": "Query", "SelectedAnswer": "Answer"}
"""Classes that were there, with what is in their place."""


class _Finder(MetaPathFinder, Loader):
    """Finds modules under an old name: they are the very modules of the new one."""

    def __init__(self, old: str) -> None:
        self.old = old

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not name.startswith(f"{self.old}.") or importlib.util.find_spec(self.now(name)) is None:
            return None
        return ModuleSpec(name, self, is_package=True)

    def now(self, name: str) -> str:
        """What a module is called now."""
        return f"{HOME}{name.removeprefix(self.old)}"

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.now(spec.name))
        warnings.warn(f"{spec.name} is called {module.__name__} now", DeprecationWarning, stacklevel=5)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state  # the module keeps the name that it has


def moved(old: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module that was renamed; modules below it are found under their old names too."""
    sys.meta_path.insert(0, _Finder(old))  # before whoever would load a file a second time
    vars(sys.modules[old])["__path__"] = []

    def get(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {old!r} has no attribute {name!r}")
        now = RENAMED.get(name, name)
        found = getattr(importlib.import_module(HOME), now)
        warnings.warn(f"{old} is called {HOME} now: {HOME}.{now}", DeprecationWarning, stacklevel=2)
        return found

    return get
