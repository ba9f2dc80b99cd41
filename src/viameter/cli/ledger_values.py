"""What `viameter ledger` takes as text: budgets, whom they are for, parts; and text that is safe to show."""

from __future__ import annotations

import json
import sys
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from viameter.core import Loss
from viameter.errors import FormatError, ParameterError
from viameter.neighborhood.declared import Written, read_amount, read_granularity
from viameter.neighborhood.declared.kinds import GRANULARITIES

UNITS = "expected 'row', 'per COLUMN', 'event COLUMN', or 'event COLUMN window 7'"


def read_budget(written: str, where: str) -> Loss:
    """A loss: a measure and its numbers.

    >>> read_budget("zcdp 1/2", "budget"), read_budget("approx 1 1e-6", "budget"), read_budget("renyi 2=0.1", "budget")
    (zcdp(1/2), approx(1, 1/1000000), renyi({2: 1/10}))
    """
    measure, *numbers = written.split() or [""]
    place = f"{where} {written!r}"
    if not numbers:
        raise FormatError(f"{place}: expected a measure and its numbers, as in 'zcdp 1/2' or 'approx 1 1e-6'")
    if measure != "renyi":
        return read_amount(measure, numbers[0] if len(numbers) == 1 else numbers, place)
    pairs = [item.split("=") for item in numbers]
    if any(len(pair) != 2 for pair in pairs) or len({pair[0] for pair in pairs}) < len(pairs):
        raise FormatError(f"{place}: expected a bound for each order, each order once, as in 'renyi 2=0.1 4=0.3'")
    return read_amount(measure, dict(pairs), place)


def read_neighbors(of: str | None, unit: str | None, parts: Any) -> Any:
    """Whom a budget is for: by `--of` or by `--unit`; parts say it themselves."""
    if of is not None and unit is not None:
        raise FormatError("give either --of or --unit: both say whom the budget is for")
    if of is not None:
        return read_of(of)
    if unit is not None:
        return read_unit(unit)
    if parts is not None and "granularity" in parts:
        return read_granularity(parts["granularity"], "parts.granularity")
    raise FormatError('whom is the budget for? Give --of, as in --of unbounded, or --unit, as in --unit "per patient"')


def read_of(written: str) -> Any:
    """A granularity by its name, or as a table of TOML with its parameters; other text as it is.

    >>> read_of("user"), read_of('{ name = "w-event", w = 3 }'), read_of("SymmetricIdDistance(id='patient')")
    (user(), w_event(w=3), "SymmetricIdDistance(id='patient')")
    """
    text = written.strip()
    if text.startswith("{"):
        return read_granularity(_toml(text, "--of"), "--of")
    name = text.replace("_", "-")
    if name in GRANULARITIES:
        return read_granularity(name, "--of")
    # A name that is misspelled would be a budget for neighbors that nobody has.
    close = get_close_matches(name, GRANULARITIES, 1, 0.75)
    if close and text.replace("-", "").replace("_", "").isalpha():
        raise FormatError(f"--of {written!r} is no granularity: did you mean {close[0]!r}?")
    return text


def read_unit(written: str) -> Any:
    """The distance that `vm.open` counts units of a table by.

    >>> read_unit("per patient"), read_unit("row")
    (UnitDistance('user', by='patient'), UnitDistance('unbounded'))
    >>> read_unit("event day window 7")
    UnitDistance('w-event', by='day', replaces=True, window=7)
    """
    import viameter as vm
    from viameter.tables.spaces import UnitDistance
    from viameter.tables.units import read_unit as read_unit_table

    text = written.strip()
    word, _, rest = text.partition(" ")
    column = rest.strip()
    if text.startswith("{"):
        try:
            return UnitDistance.of(read_unit_table(_toml(text, "--unit")))
        except TypeError:
            raise FormatError(f"--unit {written!r}: {UNITS}, or a table as in files of questions") from None
    if text == "row":
        return UnitDistance.of(vm.per_row())
    if word == "per" and column:
        return UnitDistance.of(vm.per(column))
    if word == "event" and column:
        name, window, times = column.rpartition(" window ")
        if window and times.strip().isdecimal():
            return UnitDistance.of(vm.per_event(name.strip(), window=int(times)))
        return UnitDistance.of(vm.per_event(column))
    raise FormatError(f"--unit {written!r}: {UNITS}")


def read_parts(path: str) -> dict[str, Any]:
    """Parts as a TOML file declares them: a granularity, a cut, and perhaps names."""
    try:
        found = tomllib.loads(Path(path).read_text(encoding="utf-8"), parse_float=Written)
    except OSError as problem:
        raise FormatError(f"{path} cannot be read: {problem.strerror}") from None
    except (ValueError, RecursionError) as problem:
        raise FormatError(f"{path} is not TOML: {problem}") from None
    try:
        json.dumps(found)  # what a ledger keeps of it
    except (TypeError, ValueError, RecursionError):
        raise FormatError(f'{path}: expected text and whole numbers; other numbers go in quotes, as "0.1"') from None
    return found


def read_public_key(written: str | None) -> str | None:
    """A public key of 32 bytes in hexadecimal."""
    if written is None:
        return None
    text = written.strip().lower()
    if len(text) != 64 or any(letter not in "0123456789abcdef" for letter in text):
        raise ParameterError("--public-key: expected 64 hexadecimal digits, as `viameter ledger init` printed them")
    return text


def _toml(text: str, where: str) -> Any:
    try:
        return tomllib.loads(f"given = {text}", parse_float=Written)["given"]
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise FormatError(f"{where} {text!r} is not a table of TOML: {problem}") from None


def one_line(text: str) -> str:
    r"""Text on one line, with nothing in it that a terminal would obey: whoever chose a label may not be trusted.

    >>> print(one_line("May\n\x1b[2Jreport"))
    May\n\x1b[2Jreport
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


def writable(text: str, encoding: str | None) -> str:
    r"""Text as an output of that encoding can write it; letters that it lacks as their numbers.

    >>> print(writable("caf\u00e9", "ascii"))
    caf\xe9
    """
    try:
        text.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return text.encode("ascii", "backslashreplace").decode("ascii")
    return text


def say(text: str) -> None:
    """A line of output."""
    click.echo(writable(one_line(text), getattr(sys.stdout, "encoding", None)))
