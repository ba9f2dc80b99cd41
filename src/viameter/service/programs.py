"""Programs that users submit as text, verified in a process of their own.

The text of a stranger is read and verified by a fresh Python (`python -m viameter.service.programs`): it sees nothing
of this process's environment, may use so much memory and time, and writes no file. It gets a request as JSON on its
standard input, and says lines of JSON on its standard output: that it has started, which programs there are, and then
the verdict on each as soon as it is known, so that what was found out before it was stopped is not lost.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

from viameter.core.measure import Loss
from viameter.errors import FormatError, ParameterError, ViameterError, plain
from viameter.logic.bounds import read_bound
from viameter.logic.errors import SolverMissing
from viameter.logic.front.decorator import ProgramFunction
from viameter.logic.front.errors import ProgramError
from viameter.logic.front.submitted import LONGEST, names_from_text, programs_from_text
from viameter.logic.present.proved import stated
from viameter.logic.solving.z3bridge import load
from viameter.logic.verify import claim_about, verify
from viameter.service.sandbox import limit_this_process, run_alone

Reply = dict[str, Any]
"""A JSON object."""
LONGEST_BOUND = 1_000
LONGEST_ERROR = 2_000
LARGEST_REPLY = 16 << 20
"""Characters of a whole reply, at most, shared among its programs: a longer proof is not sent."""
LEAST_MEMORY = 256 << 20
"""Bytes without which not even the simplest program can be verified: the solver's code alone takes most of them."""
ALLOWANCE = 10
"""Seconds to start in, and to end a question to the solver in, beside the seconds that the request has."""

OUT_OF_TIME = "the time that the request has was over before anything was found out about this program"
OUT_OF_MEMORY = "more memory than the request has was needed to verify this program"
TOO_DEEP = "this program is nested too deeply to be verified"
TOO_LONG = "what was found out about this program is too long to be sent"
STOPPED = "the search was stopped, most likely since it needed more memory or time than the request has"
FAILED = "the search ended with an error"
UNREADABLE = "the text needs more memory or time to be read than the request has: make it simpler"


def verify_submitted(text: str, *, bound: str | None = None, seconds: float = 20, memory: int = 1 << 30) -> list[Reply]:
    """The verdicts on the programs of a text, in their order, from a process that is given so much time and memory.

    `bound` is as `viameter verify --bound` takes it, and is claimed of every program; without one the least that can
    be proved is looked for. `seconds` are for all programs together, and `memory` is in bytes of address space.

    Each verdict has `program` (its name), `status` ("PROVED", "REFUTED" or "UNKNOWN"), `bound` (text, or None),
    `explanation` (text), `html`, `certificate` (what `viameter check` reads, or None) and `seconds`. The `html` is a
    fragment, the proof tree or the counterexample, made by `viameter.logic.present.html`: it puts every text, names
    and lines of the user among them, through `html.escape` (quotes too), and none into an attribute; it has a `<style>`
    element and a `style` attribute, and no script, link or image.

    What is not finished when time or memory is over is UNKNOWN; the process is killed `ALLOWANCE` seconds after its
    time at the latest. A text that is wrong is a ProgramError with its line, or a FormatError, which is also what a
    text is that takes more memory to be read. May be called from many threads at once.
    """
    _check(text, bound, seconds, memory)
    request = {"text": text, "bound": bound, "seconds": seconds}
    reply, timed_out = run_alone(_command(seconds, memory), json.dumps(request).encode(), seconds + ALLOWANCE)
    said = _lines(reply)
    started = False
    names: list[str] = []
    found: dict[str, Reply] = {}
    for line in said:
        match line:
            case {"started": _}:
                started = True
            case {"programs": [*given]}:
                names = given
            case {"verdict": {"program": str(name)} as verdict}:
                found[name] = verdict
            case {"error": {} as problem}:
                raise _error(problem)
    if not started:
        raise ViameterError(
            f"the process that verifies programs did not start with memory={memory} within {ALLOWANCE} s: give it more"
        )
    if not names:
        raise FormatError(UNREADABLE)
    return [found.get(name) or _unknown(name, OUT_OF_TIME if timed_out else STOPPED) for name in names]


def _check(text: str, bound: str | None, seconds: float, memory: int) -> None:
    if not isinstance(text, str):
        raise ParameterError(f"{plain(text)}: expected the text of programs")
    if len(text) > LONGEST:
        raise FormatError(f"the text has {len(text)} characters: expected at most {LONGEST}")
    if bound is not None and (not isinstance(bound, str) or len(bound) > LONGEST_BOUND):
        raise FormatError(f"bound={plain(bound)}: expected text such as 2*eps, of at most {LONGEST_BOUND} characters")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        raise ParameterError(f"seconds={plain(seconds)}: expected a positive number")
    if isinstance(memory, bool) or not isinstance(memory, int) or memory < LEAST_MEMORY:
        raise ParameterError(f"memory={plain(memory)}: expected a number of bytes, at least {LEAST_MEMORY}")


def _unknown(name: str, why: str, seconds: float = 0.0) -> Reply:
    """The verdict on a program of which nothing was found out; `why` is one of the texts above."""
    return {
        "program": name,
        "status": "UNKNOWN",
        "bound": None,
        "explanation": f"UNKNOWN: {why}.",
        "html": f"<p><strong>UNKNOWN</strong>: {why}.</p>",
        "certificate": None,
        "seconds": round(seconds, 3),
    }


# The process, from outside.


def _command(seconds: float, memory: int) -> list[str]:
    """Python without the user's own modules and settings; the limits come before everything that is in the request."""
    limits = (str(math.ceil(seconds + ALLOWANCE)), str(memory))
    return [sys.executable, "-I", "-B", "-X", "utf8", "-m", "viameter.service.programs", *limits]


def _lines(said: bytes) -> Iterator[Any]:
    """The lines that were said to their end: of one that was cut off nothing is known."""
    for line in said.split(b"\n")[:-1]:
        with contextlib.suppress(ValueError):
            yield json.loads(line)


def _error(problem: Reply) -> ViameterError:
    """An error of the process as an error of this one."""
    match problem:
        case {"solver": str(name)}:
            return SolverMissing(name)
        case {"what": str(what), "line": int(line), "hint": str(hint), "message": str(message)}:
            found = ProgramError(what, file="<text>", line=line, hint=hint)
            found.args = (message,)  # with the line of the text that it is about
            return found
    return FormatError(str(problem.get("message", UNREADABLE)))


# The process, from inside.


def main() -> None:
    """Read a request from standard input, and say what is found out on standard output."""
    limit_this_process(int(sys.argv[1]), int(sys.argv[2]))
    # What libraries may print is no part of the reply.
    replies = os.dup(1)
    os.dup2(2, 1)

    def say(reply: Reply) -> None:
        line = json.dumps(reply).encode() + b"\n"
        while line:
            line = line[os.write(replies, line) :]

    if find_spec("z3") is None:
        say({"error": {"solver": "z3"}})
        return
    # At its own limit the solver gives up in order; at the process's limit it may do so anywhere.
    load().set_param("memory_max_size", int(sys.argv[2]) // 2 >> 20)
    say({"started": True})
    try:
        _answer(json.loads(sys.stdin.buffer.read()), say)
    except ProgramError as problem:
        parts = {"what": problem.what, "hint": problem.hint, "message": str(problem)}
        cut = {name: part[:LONGEST_ERROR] for name, part in parts.items()}
        say({"error": {**cut, "line": problem.line}})
    except ViameterError as problem:
        say({"error": {"message": str(problem)[:LONGEST_ERROR]}})
    except Exception:
        say({"error": {"message": UNREADABLE}})


def _answer(request: Reply, say: Callable[[Reply], None]) -> None:
    """Say which programs there are, and then the verdict on each."""
    until = time.monotonic() + request["seconds"]
    names = names_from_text(request["text"])
    say({"programs": names})
    programs = programs_from_text(request["text"])
    bound = None if request["bound"] is None else _bound(request["bound"], programs)
    room = LARGEST_REPLY // len(programs)
    over = ""
    for place, (name, program) in enumerate(programs.items()):
        left = until - time.monotonic()
        if not over and left <= 0:
            over = OUT_OF_TIME
        try:
            share = left / (len(programs) - place)
            said = _unknown(name, over) if over else _verdict(name, program, bound, share, room)
        except MemoryError:  # what a solver says after it ran out of memory is not relied on
            over = OUT_OF_MEMORY
            said = _unknown(name, over)
        say({"verdict": said})


def _bound(written: str, programs: dict[str, ProgramFunction]) -> str | Loss:
    """A bound that says something of every program."""
    bound = read_bound(written)
    for name, program in programs.items():
        try:
            claim_about(program, bound)
        except ViameterError as problem:
            raise FormatError(f"the bound does not fit {name}: {problem}") from None
        except RecursionError:
            raise FormatError("the bound is nested too deeply") from None
    return bound


def _verdict(name: str, program: ProgramFunction, bound: str | Loss | None, seconds: float, room: int) -> Reply:
    """What is said of one program, in so many characters at most; a MemoryError, if there is too little of it."""
    begun = time.monotonic()
    try:
        verdict = verify(program, bound, seconds=seconds)
        found = {
            "program": name,
            "status": str(verdict.status),
            "bound": None if verdict.bound is None else stated(verdict),
            "explanation": verdict.explain(),
            "html": verdict.to_html(),
            "certificate": None if verdict.certificate is None else verdict.certificate.to_json(),
            "seconds": round(verdict.seconds, 3),
        }
        if len(json.dumps(found)) <= room:
            return found
        why = TOO_LONG
    except MemoryError:
        raise
    except ViameterError as problem:  # a hint or an adjacency that means nothing
        raise ProgramError(str(problem), file="<text>", line=program.line) from None
    except RecursionError:
        why = TOO_DEEP
    except Exception as problem:
        if isinstance(problem, load().Z3Exception) and "memory" in str(problem):
            raise MemoryError from None
        why = FAILED
    return _unknown(name, why, time.monotonic() - begun)


if __name__ == "__main__":
    main()
