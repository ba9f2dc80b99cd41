"""Errors of the front end: what is outside the subset of Python, where it stands, and what to write instead."""

from __future__ import annotations

from viameter.errors import ParameterError


class ProgramError(ParameterError):
    """A function that is no program: `file` and `line` say where, `hint` what to write instead."""

    def __init__(self, what: str, *, file: str, line: int, text: str = "", hint: str = "") -> None:
        self.what, self.file, self.line, self.hint = what, file, line, hint
        place = f"{file}:{line}: {text.strip()} : " if text.strip() else f"{file}:{line}: "
        super().__init__(place + what + (f"; {hint}" if hint else ""))
