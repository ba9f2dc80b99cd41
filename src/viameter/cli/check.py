"""Certificates, checked by the checker that shares no code with the library."""

from __future__ import annotations

from viameter.errors import FormatError
from viameter_check.command import Unreadable, check_file, shown


def check_certificate(path: str, *, as_json: bool) -> tuple[bool, str]:
    """Whether the certificate in a file holds, and the report as text."""
    try:
        report = check_file(path)
    except Unreadable as problem:
        raise FormatError(str(problem)) from None
    return report.ok, shown(report, as_json=as_json)
