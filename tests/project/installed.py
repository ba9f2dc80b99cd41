"""Run the examples of pages as after a plain `pip install .` with the extras that the pages name, and no others."""

from __future__ import annotations

import doctest
import re
import sys
import tomllib
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.metadata import packages_distributions
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


def extras_named(text: str) -> set[str]:
    """The extras that a page tells its readers to install."""
    named = re.findall(r"pip install ['\"](?:\.|viameter)\[([a-z,]+)\]", text)
    return {extra for one in named for extra in one.split(",")}


def distributions_of(extras: set[str]) -> set[str]:
    """The distributions that extras bring by name, those of extras among them included."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    found: set[str] = set()
    for extra in extras:
        for wanted in declared[extra]:
            nested = re.match(r"viameter\[([a-z,]+)\]", wanted)
            found |= distributions_of(set(nested[1].split(","))) if nested else {re.split(r"[\[<>=]", wanted)[0]}
    return found


class Missing(MetaPathFinder):
    """Makes modules of distributions that were not installed impossible to import."""

    def __init__(self, distributions: set[str]) -> None:
        self.leave_out(distributions)

    def leave_out(self, distributions: set[str]) -> None:
        """From now on these are missing, and no others."""
        self.modules = {
            module for module, owners in packages_distributions().items() if distributions & {x.lower() for x in owners}
        }

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Refuse what is not there."""
        if name.partition(".")[0] in self.modules:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def failures(page: Path) -> int:
    """Run the examples of a page, each block with the extras that were named above it; how many of them fail."""
    text = page.read_text(encoding="utf-8")
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    missing = Missing(set())
    sys.meta_path.insert(0, missing)
    names: dict[str, object] = {}
    for block in re.finditer(r"```python\n(.*?)```", text, re.DOTALL):
        missing.leave_out(distributions_of({"all"}) - distributions_of(extras_named(text[: block.start()])))
        line = text.count("\n", 0, block.start()) + 1
        test = doctest.DocTestParser().get_doctest(block[1], names, page.name, str(page), line)
        runner.run(test, clear_globs=False)
        names = test.globs
    sys.meta_path.remove(missing)
    return runner.failures


if __name__ == "__main__":
    sys.exit(sum(failures(Path(page)) for page in sys.argv[1:]) > 0)
