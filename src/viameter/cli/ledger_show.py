"""A ledger in the terminal: what it rests on, every scope with a bar and a curve, and charges without an answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from viameter.cli.ledger_values import one_line, writable
from viameter.ledger import Ledger, Scope
from viameter.ledger.exporting import scope_as_json
from viameter.ledger.lines import line_of
from viameter.ledger.plots import Step, burndown_of, chosen_axis, counted_charges, percent, share, steps
from viameter.viz import Burndown

MOST_DRAWN = 8
"""Up to so many scopes have a curve each; more are a table with a bar each."""
MOST_LISTED = 10
"""Charges without an answer, and parts, that are listed one by one."""
ROWS = 5
_EIGHTHS = " ▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Looks:
    """What can be drawn here: block characters, or ASCII only."""

    encoding: str

    @property
    def plain(self) -> bool:
        """Whether only ASCII can be written."""
        return not self.encoding.lower().startswith("utf")

    def text(self, given: str, style: str = "") -> Text:
        """Text as it is: nothing in it is markup, or obeyed by the terminal."""
        return Text(writable(one_line(given), self.encoding), style=style)

    def filled(self, height: float) -> str:
        """One character that is filled up to a height from 0 to 1; what is not empty can be seen."""
        if self.plain:
            return " " if height <= 0 else "#" if height >= 1 else "."
        return _EIGHTHS[0 if height <= 0 else min(max(math.floor(8 * height), 1), 8)]

    def pick(self, blocks: str, ascii: str) -> str:
        """A character, or what stands for it in ASCII."""
        return ascii if self.plain else blocks


def unanswered(ledger: Ledger) -> list[dict[str, Any]]:
    """Charges without an answer: they are running somewhere, or were cut off."""
    found = []
    for request in ledger.store.requests():
        if request.settled is None:
            line = line_of(ledger.entry(request.reserved))
            found.append({"entry": line.seq, "at": line.at, "by": line.by, "key": line.key, "text": line.text})
    return found


def about(ledger: Ledger) -> dict[str, Any]:
    """What a ledger rests on."""
    head, witness = ledger.head, ledger.witness
    seen = None if witness is None else witness.read()
    return {
        "place": ledger.place,
        "id": ledger.id,
        "head": {"seq": head.seq, "hash": head.hash},
        "witness": None if witness is None else witness.place,
        "witness_saw": None if seen is None else seen.head.seq,
        "public_key": ledger.public_key,
        "kept": ledger.store.facts(),
    }


def as_json(ledger: Ledger, scopes: Sequence[Scope]) -> dict[str, Any]:
    """All that `show` shows, as plain JSON values."""
    return {
        **about(ledger),
        "scopes": [scope_as_json(scope) for scope in scopes],
        "unanswered": unanswered(ledger),
    }


def draw(ledger: Ledger, scopes: Sequence[Scope], console: Console) -> None:
    """Draw it."""
    looks = Looks(console.encoding)
    for name, text in _facts(about(ledger)).items():
        # Not wrapped: hashes and keys are there to be copied.
        console.print(looks.text(f"{name:<8} ", "dim").append_text(looks.text(text, "not dim")), soft_wrap=True)
    if not scopes:
        console.print(looks.text("no scopes yet: `viameter ledger define` makes one"))
    elif len(scopes) > MOST_DRAWN:
        console.print(_table(scopes, looks, console.width))
    else:
        now = datetime.now(UTC)
        made = steps(ledger, [scope.name for scope in scopes], now=now)
        for scope in scopes:
            console.print(_panel(scope, made[scope.name], looks, console.width, now))
    _draw_unanswered(unanswered(ledger), looks, console)


def _facts(found: Mapping[str, Any]) -> dict[str, str]:
    head, seen = found["head"], found["witness_saw"]
    witness = "none: an older copy in its place would not be noticed"
    if found["witness"] is not None:
        witness = f"{found['witness']}, " + ("which is not there yet" if seen is None else f"saw entry {seen}")
    return {
        "ledger": f"{found['place']} ({found['id'][:12]})",
        "head": f"entry {head['seq']}, {head['hash']}",
        "witness": witness,
        "signed": f"by {found['public_key']}" if found["public_key"] else "no: who can write it can rewrite it",
        "kept by": ", ".join([str(found["kept"].get("database", "memory")), *_settings(found["kept"])]),
    }


def _settings(kept: Mapping[str, Any]) -> list[str]:
    return [f"{name} = {value}" for name, value in kept.items() if name != "database"]


def _panel(scope: Scope, made: Sequence[Step], looks: Looks, width: int, now: datetime) -> RenderableType:
    room = max(min(width, 100) - 4, 16)
    lines: list[RenderableType] = [looks.text(text) for text in _said(scope)]
    lines.append(_bar(scope, looks, room))
    charges = sum(step.kind == "charge" for step in made)
    if charges and room >= 36:
        picture = burndown_of(scope.name, made, chosen_axis([made]), now)
        lines += ["", *_curve(picture, looks, room)]
    lines += [looks.text(text, "dim") for text in _by_part(scope)]
    return Panel(
        Group(*lines),
        title=looks.text(scope.name, "bold"),
        title_align="left",
        width=min(width, 100),
        box=box.ASCII if looks.plain else box.ROUNDED,
    )


def _said(scope: Scope) -> list[str]:
    terms = scope.terms
    apart = "" if terms.d_in == 1 else f", {terms.d_in} apart"
    said = [f"budget {scope.budget!r} for {terms.neighborhood}{apart}"]
    if scope.cap != scope.budget:
        said.append(f"counted as {scope.cap!r} by the rule {terms.rule!r}")
    said.append(f"spent {scope.spent!r}, left {scope.left!r}")
    if terms.renews is not None:
        when = "when new rows arrive" if terms.renews == "rows" else f"every {terms.renews}"
        said.append(f"starts over {when}, now in {scope.period}; {scope.lifetime!r} in its lifetime")
    if terms.parent is not None:
        said.append(f"paid for by {terms.parent!r}")
    return said


def _by_part(scope: Scope) -> list[str]:
    listed = [f"  {part or 'all parts'}: {loss!r}" for part, loss in scope.by_part.items()]
    more = len(listed) - MOST_LISTED
    return [*listed[:MOST_LISTED], f"  and {more} more parts"] if more > 0 else listed


def _color(scope: Scope) -> str:
    used = share(scope.spent, scope.cap)
    return "green" if used < 0.7 else "yellow" if used < 0.9 else "red"


def _bar(scope: Scope, looks: Looks, room: int) -> Text:
    used, said = share(scope.spent, scope.cap), percent(share(scope.spent, scope.cap))
    length = max(min(room - 10, 50), 4)
    # Neither the first charge nor the last bit of budget is rounded away.
    full = math.floor(used * length) if used < 1 else length
    full = max(full, 1) if used > 0 else 0
    bar = Text(looks.pick("█", "#") * full, style=_color(scope))
    bar.append(looks.pick("░", ".") * (length - full), style="dim")
    return bar.append(f" {said}", style="")


def _curve(picture: Burndown, looks: Looks, room: int) -> list[Text]:
    """What was spent, from left to right, below a line for the budget; ticks where it started over."""
    top = max(level for _, level in picture.budget)
    label = f"{top:.4g}" if picture.unit != "percent of the budget" else "100 %"
    left = max(len(label), 1) + 1
    columns = max(min(room - left - 2, 60), 8)
    start, end = picture.spent[0][0], picture.end
    places = [start + (end - start) * (column + 1) / columns for column in range(columns)]  # type: ignore[operator]
    spent = [_held(picture.spent, place) / top if top else 1.0 for place in places]
    limits = [math.ceil(_held(picture.budget, place) / top * ROWS) if top else ROWS for place in places]
    lines = []
    for row in range(ROWS, -1, -1):
        line = Text((label if row == ROWS else "").rjust(left - 1) + looks.pick(" ┤" if row == ROWS else " │", " |"))
        for level, limit in zip(spent, limits, strict=True):
            if row == limit:
                line.append(looks.pick("╌", "-"), style="red")
            else:
                line.append(looks.filled(level * ROWS - row), style="cyan")
        lines.append(line)
    ticks = {min(range(columns), key=lambda column: abs(places[column] - place)) for place in picture.renewals}  # type: ignore[operator]
    axis = "".join(looks.pick("┴" if at in ticks else "─", "^" if at in ticks else "-") for at in range(columns))
    lines.append(Text("0".rjust(left - 1) + looks.pick(" └", " +") + axis))
    first, last = _ends(picture)
    lines.append(Text(" " * (left + 1) + first + last.rjust(max(columns - len(first), len(last) + 1)), style="dim"))
    return lines


def _held(levels: Sequence[tuple[Any, float]], place: Any) -> float:
    """The level that holds at a place."""
    found = levels[0][1]
    for begins, level in levels:
        if begins > place:
            break
        found = level
    return found


def _ends(picture: Burndown) -> tuple[str, str]:
    charges = counted_charges(len(picture.charges))
    if isinstance(picture.end, datetime):
        return f"{picture.spent[0][0]:%Y-%m-%d}", f"{charges}, {picture.end:%Y-%m-%d}"
    return "0", charges


def _table(scopes: Sequence[Scope], looks: Looks, width: int) -> RenderableType:
    table = Table(box=box.ASCII if looks.plain else box.SIMPLE_HEAD, width=min(width, 140))
    for name in ("scope", "spent", "left", "budget", "for"):
        table.add_column(name, overflow="fold")
    table.add_column("", no_wrap=True, width=18)
    for scope in scopes:
        said = (scope.name, repr(scope.spent), repr(scope.left), repr(scope.cap), scope.terms.neighborhood)
        table.add_row(*(looks.text(text) for text in said), _bar(scope, looks, 18))
    return table


def _draw_unanswered(found: Sequence[Mapping[str, Any]], looks: Looks, console: Console) -> None:
    if not found:
        return
    what = "1 charge has" if len(found) == 1 else f"{len(found)} charges have"
    console.print(looks.text(f"{what} no answer: still running, or cut off; what was charged stays spent", "yellow"))
    for line in found[-MOST_LISTED:]:
        said = f"  entry {line['entry']}, {line['at']}, by {line['by']}, key {line['key']!r}: {line['text']}"
        console.print(looks.text(said), soft_wrap=True)
    if len(found) > MOST_LISTED:
        console.print(looks.text(f"  and {len(found) - MOST_LISTED} before them (--json lists all)"))


class Told:
    """A bar on stderr that is told how far something is; nothing where nobody looks at it."""

    def __init__(self, what: str) -> None:
        console = Console(stderr=True)
        columns = (TextColumn(what), BarColumn(), MofNCompleteColumn())
        self._bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._bar.add_task(what, total=None)

    def __enter__(self) -> Callable[..., None]:
        self._bar.start()
        return self._tell

    def _tell(self, done: int, of: int | None = None) -> None:
        self._bar.update(self._task, completed=done, total=of)

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
