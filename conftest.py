"""Every example in docstrings, README and docs is run as a test; which tests go to one worker together."""

from doctest import ELLIPSIS
from typing import Any

import pytest
from sybil import Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.markdown import PythonCodeBlockParser
from sybil.parsers.rest import DocTestParser
from sybil.sybil import SybilCollection

docstrings = Sybil(
    path="src",
    pattern="*.py",
    parsers=[DocTestParser(optionflags=ELLIPSIS)],
    document_types={".py": PythonDocStringDocument},
)
pages = [
    Sybil(path=path, pattern=pattern, parsers=[PythonCodeBlockParser(doctest_optionflags=ELLIPSIS)])
    for path, pattern in ((".", "README.md"), ("docs", "*.md"))
]
pytest_collect_file = SybilCollection([docstrings, *pages]).pytest()


SLOW = ("spark", "tests/service/", "tests/ledger/crash/", "tests/ledger/tampering/", "tests/project/", "tests/query/")
"""Where files have few tests that take long."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `--dist loadfile`, tests of a file go to one worker together, and so do those of Spark, of whatever file.

    A Spark takes long to start and to warm up, and two of them take the cores from each other.
    """
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

    class FilesAndSpark(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            # Of a test the one who deals them out knows the name alone; tests/query/conftest.py sees to it.
            file, _, name = nodeid.partition("::")
            return "spark" if file.startswith("tests/query/") and "spark" in name else file

        def _assign_work_unit(self, node: Any) -> None:
            # Files with most tests come first, unless there are slow ones: in the end nobody waits for one of those.
            slow = next((scope for word in SLOW for scope in self.workqueue if scope.startswith(word)), None)
            if slow is not None:
                self.workqueue.move_to_end(slow, last=False)
            super()._assign_work_unit(node)

    return FilesAndSpark(config, log)
