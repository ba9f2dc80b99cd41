"""The command: check a file, and say what was found."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from viameter_check.checker import check
from viameter_check.document import MOST_TEXT, NotJson, parse
from viameter_check.report import Refused, Report
from viameter_check.version import VERSION

HOLDS, FAILS, UNREADABLE = 0, 1, 2
"""What the command exits with."""


class Unreadable(Exception):
    """The file cannot be read, or holds no JSON."""


def check_file(path: str | Path) -> Report:
    """Check the certificate in a file."""
    try:
        if Path(path).stat().st_size > 4 * MOST_TEXT:
            raise Unreadable(f"{path} is too large for a certificate")
        text = Path(path).read_text(encoding="utf-8")
        parse(text)
    except OSError as problem:
        raise Unreadable(f"{path} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise Unreadable(f"{path} is not text in UTF-8") from None
    except NotJson as problem:
        raise Unreadable(f"{path} {problem}") from None
    except Refused:
        pass  # the report says why
    return check(text)


def shown(report: Report, *, as_json: bool) -> str:
    """A report as it is printed."""
    return json.dumps(report.to_json(), indent=2) if as_json else str(report)


def run(arguments: Sequence[str]) -> int:
    """Check the file that is named, print the report, and return what to exit with."""
    parser = argparse.ArgumentParser(prog="python -m viameter_check", description="Derive a certificate again.")
    parser.add_argument("file", metavar="FILE", help="a certificate, as JSON")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--version", action="version", version=f"viameter_check {VERSION}")
    chosen = parser.parse_args(arguments)
    try:
        report = check_file(chosen.file)
    except Unreadable as problem:
        parser.error(str(problem))
    print(shown(report, as_json=chosen.json))
    return HOLDS if report.ok else FAILS
