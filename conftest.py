"""Every example in docstrings, README and docs is run as a test."""

from doctest import ELLIPSIS

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
