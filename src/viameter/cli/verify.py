"""`viameter verify`: every program of a Python file, proved, refuted, or neither."""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
import tokenize
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TextIO

from viameter.core.measure import Loss
from viameter.errors import FormatError, ViameterError
from viameter.logic.bounds import read_bound
from viameter.logic.front.decorator import ProgramFunction
from viameter.logic.front.errors import ProgramError
from viameter.logic.present.text import WIDEST, wrapped
from viameter.logic.present.unknown import place_of
from viameter.logic.solving.z3bridge import load
from viameter.logic.verdict import Status, Verdict
from viameter.logic.verify import claim_about, verify

MODULE = "__viameter_verify__"
"""What the file is called while it runs: not `__main__`, so that it does not do what it does as a script."""
PAGE = '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{}</title>\n{}\n</html>\n'


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for on the command line."""

    file: str
    bound: str | None = None
    only: str | None = None
    seconds: float = 60.0
    explain: bool = False
    as_json: bool = False
    certificate: str | None = None
    html: str | None = None
    latex: str | None = None


def verify_file(request: Request, say: Callable[[str], None]) -> int:
    """Say the report on the programs of a file, write the files that were asked for, and return the exit code."""
    # Else z3 takes Ctrl-C for the end of one question, and the search goes on with the next.
    load().set_param("ctrl_c", False)
    bound = None if request.bound is None else read_bound(request.bound, where="--bound")
    with _imports_beside(request.file):
        programs = _chosen(programs_of(request.file), request)
        _check_targets(request, len(programs))
        for name, program in programs.items():
            _check_bound(bound, name, program)
        verdicts: dict[str, Verdict] = {}
        for place, (name, program) in enumerate(programs.items(), start=1):
            which = f"{name} ({place} of {len(programs)})" if len(programs) > 1 else name
            with ProgressLine(sys.stderr, which) as line:
                verdicts[name] = verify(program, bound, seconds=request.seconds, progress=line.say)
    say(_report(request, verdicts))
    try:
        _write_files(request, verdicts)
    except OSError as problem:
        raise FormatError(f"{problem.filename} cannot be written: {problem.strerror}") from None
    return exit_code(verdicts.values())


def exit_code(verdicts: Iterable[Verdict]) -> int:
    """0 if all are proved, 3 if one is refuted, else 4."""
    return {Status.PROVED: 0, Status.REFUTED: 3, Status.UNKNOWN: 4}[min(verdict.status for verdict in verdicts)]


def programs_of(file: str) -> dict[str, ProgramFunction]:
    """The programs that a Python file defines, by name, in their order. The file is executed, as a module."""
    found: dict[str, ProgramFunction] = {}
    for name, value in vars(_executed(file)).items():
        own = isinstance(value, ProgramFunction) and (value.file == file or value.file.startswith("<"))
        if own and not any(value is other for other in found.values()):
            found[name] = value
    if not found:
        raise FormatError(f"{file} defines no program: put @vm.program(adjacent=...) above a function in it")
    return found


def _executed(file: str) -> ModuleType:
    if Path(file).suffix != ".py":
        raise FormatError(f"{file} is no Python file: expected one that ends in .py, with functions under @vm.program")
    try:
        with tokenize.open(file) as opened:
            text = opened.read()
        code = compile(text, file, "exec")
    except OSError as problem:
        raise FormatError(f"{file} cannot be read: {problem.strerror}") from None
    except SyntaxError as problem:
        raise FormatError(f"{file}:{problem.lineno or 1}: this is not Python: {problem.msg}") from None
    except ValueError as problem:
        raise FormatError(f"{file} cannot be read: {problem}") from None
    module = ModuleType(MODULE)
    module.__file__ = file
    before = sys.modules.get(MODULE)
    sys.modules[MODULE] = module
    try:
        # What it prints is no part of the report.
        with contextlib.redirect_stdout(sys.stderr):
            exec(code, module.__dict__)
    except ProgramError:
        raise
    except (Exception, SystemExit) as problem:
        raise FormatError(f"{_line_in(file, problem)}: {type(problem).__name__}: {problem}") from None
    finally:
        if before is None:
            sys.modules.pop(MODULE)
        else:
            sys.modules[MODULE] = before
    return module


def _line_in(file: str, problem: BaseException) -> str:
    """The last line of the file that an error came through."""
    lines = [entry.lineno for entry in traceback.extract_tb(problem.__traceback__) if entry.filename == file]
    return f"{file}:{lines[-1]}" if lines else file


@contextlib.contextmanager
def _imports_beside(file: str) -> Iterator[None]:
    """Let a file import what lies beside it, as `python FILE` does."""
    folder = str(Path(file).resolve().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)


def _chosen(programs: dict[str, ProgramFunction], request: Request) -> dict[str, ProgramFunction]:
    if request.only is None:
        return programs
    found = {name: program for name, program in programs.items() if request.only in (name, program.name)}
    if not found:
        raise FormatError(f"{request.file} defines no program {request.only}; it defines {', '.join(programs)}")
    return found


def _check_bound(bound: str | Loss | None, name: str, program: ProgramFunction) -> None:
    """Refuse a bound that says nothing of a program before the search begins."""
    try:
        if bound is not None:
            claim_about(program, bound)
    except ViameterError as problem:
        raise FormatError(f"--bound does not fit {name}: {problem}; --only verifies one program") from None


def _check_targets(request: Request, count: int) -> None:
    """Refuse files that cannot be written before the search begins."""
    for option, target in (
        ("--html", request.html),
        ("--latex", request.latex),
        ("--certificate", request.certificate),
    ):
        if target is None:
            continue
        path = Path(target)
        several = option == "--certificate" and (count > 1 or path.is_dir())
        if several and path.exists() and not path.is_dir():
            raise FormatError(f"{option} {target} is a file: for {count} programs give a directory")
        if not several and (path.is_dir() or not path.resolve().parent.is_dir()):
            raise FormatError(f"{option} {target} cannot be written: expected a file in a directory that exists")


def _write_files(request: Request, verdicts: dict[str, Verdict]) -> None:
    if request.certificate is not None:
        path = Path(request.certificate)
        several = len(verdicts) > 1 or path.is_dir()
        for name, verdict in verdicts.items():
            if verdict.certificate is None:
                print(f"no certificate of {name}: it is {verdict.status}", file=sys.stderr)
                continue
            if several:
                path.mkdir(parents=True, exist_ok=True)
            verdict.certificate.write(path / f"{name}.json" if several else path)
    if request.html is not None:
        fragments = "\n<hr>\n".join(verdict.to_html() for verdict in verdicts.values())
        Path(request.html).write_text(PAGE.format("viameter verify", fragments), encoding="utf-8")
    if request.latex is not None:
        fragments = "\n\n\\bigskip\n".join(verdict.to_latex() for verdict in verdicts.values())
        Path(request.latex).write_text(f"{fragments}\n", encoding="utf-8")


def _report(request: Request, verdicts: dict[str, Verdict]) -> str:
    if request.as_json:
        return json.dumps([verdict.to_json() for verdict in verdicts.values()], indent=2, ensure_ascii=False)
    texts = [verdict.explain() for verdict in verdicts.values()] if request.explain or len(verdicts) == 1 else []
    if len(verdicts) == 1:
        return texts[0]
    blocks = ["\n".join(summary(verdicts)), *texts]
    if not texts:
        missing = [line for name, verdict in verdicts.items() for line in _why(name, verdict)]
        blocks += ["\n".join(missing)] if missing else []
        blocks.append("--explain shows the proofs and witnesses, --only NAME those of one program.")
    return f"\n\n{'─' * 100}\n\n".join(blocks) if texts else "\n\n".join(blocks)


def summary(verdicts: dict[str, Verdict]) -> list[str]:
    """One line for each program, in columns: status, name, bound, adjacency, time."""
    rows = [
        (
            str(verdict.status),
            name,
            "-" if verdict.bound is None else _bound_of(verdict),
            f"({verdict.adjacency})",
            f"{verdict.seconds:.1f} s",
        )
        for name, verdict in verdicts.items()
    ]
    widths = [max(len(row[place]) for row in rows) for place in range(5)]
    widths[3] = min(widths[3], max(20, WIDEST - 8 - sum(widths[:3]) - widths[4]))
    rows = [(*row[:3], _cut(row[3], widths[3]), row[4]) for row in rows]
    return [
        "  ".join([*(f"{c:{w}}" for c, w in zip(r[:4], widths, strict=False)), f"{r[4]:>{widths[4]}}"]) for r in rows
    ]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _bound_of(verdict: Verdict) -> str:
    if verdict.measure == "zcdp":
        return f"rho {verdict.bound}"
    return f"{verdict.bound}" if verdict.delta is None else f"({verdict.bound}, {verdict.delta})"


def _why(name: str, verdict: Verdict) -> Iterator[str]:
    if verdict.status is Status.UNKNOWN and verdict.missing is not None:
        yield from wrapped(f"{name}: what is missing{place_of(verdict)[0]}: {verdict.missing.what}", 100, "  ")


class ProgressLine:
    """One line that says what is being tried, rewritten while a person looks on; nothing where nobody does."""

    def __init__(self, stream: TextIO, which: str) -> None:
        self._stream, self._which = stream, which
        self._seen = stream.isatty()

    def say(self, text: str) -> None:
        """Show what is being tried now."""
        if self._seen:
            room = max(20, shutil.get_terminal_size().columns) - 1
            shown = f"{self._which}: {text}".replace("\n", " ")
            self._stream.write(f"\r\x1b[K{_cut(shown, room)}")
            self._stream.flush()

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._seen:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
