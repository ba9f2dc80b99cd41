"""The two tables of a coupling, as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from viameter.arith import show
from viameter.logic.couplings.reading import STAR, Joint

if TYPE_CHECKING:
    from viameter.logic.couplings.coupling import Coupling

SHOWN = 16
"""How many rows and columns a table shows."""
_MOST_PLACES = 6
_WIDEST = 24


def headline(coupling: Coupling) -> str:
    """Factor, epsilon and delta in one line."""
    numbers = ", ".join(_equation(name, getattr(coupling, name)) for name in ("factor", "epsilon", "delta"))
    return numbers if coupling.exact else f"{numbers}, an upper bound"


def draw_text(coupling: Coupling) -> str:
    """The tables of mu_L and mu_R one above the other; a star has its row or column only if it is used."""
    lines = [f"coupling: {headline(coupling)}"]
    for name, rows in _tables(coupling):
        cells = [[name, *rows[0][1:]], *rows[1:]]
        widths = [max(len(row[place]) for row in cells) for place in range(len(cells[0]))]
        lines += ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
    return "\n".join(lines)


def draw_html(coupling: Coupling) -> str:
    """The same as HTML."""
    parts = [f"<p>coupling: {escape(headline(coupling))}</p>"]
    for name, (head, *rows) in _tables(coupling):
        top = "".join(f"<th>{escape(text)}</th>" for text in head[1:])
        body = "".join(
            f"<tr><th>{escape(row[0])}</th>{''.join(f'<td>{escape(text)}</td>' for text in row[1:])}</tr>"
            for row in rows
        )
        symbol = f"&mu;<sub>{name[-1]}</sub>"
        parts.append(f"<table><thead><tr><th>{symbol}</th>{top}</tr></thead><tbody>{body}</tbody></table>")
    return "".join(parts)


def _tables(coupling: Coupling) -> list[tuple[str, list[list[str]]]]:
    """Each table by its name: rows of texts, the first row and the first column being the values."""
    above, below = list(coupling.mu1), list(coupling.mu2)
    with_star = [*below, STAR] if any(b is STAR for _, b in coupling.left) else below
    left = _table(coupling.left, above, with_star)
    with_star = [*above, STAR] if any(a is STAR for a, _ in coupling.right) else above
    right = _table(coupling.right, with_star, below)
    return [("mu_L", left), ("mu_R", right)]


def _table(joint: Joint, rows: list[Any], columns: list[Any]) -> list[list[str]]:
    places = _decimal_places(joint.values())
    shown_rows, shown_columns = rows[:SHOWN], columns[:SHOWN]
    table = [["", *map(_label, shown_columns)]]
    for a in shown_rows:
        cells = [_number(joint[a, b], places) if (a, b) in joint else "" for b in shown_columns]
        table.append([_label(a), *cells])
    if len(columns) > SHOWN:
        table[0].append(f"and {len(columns) - SHOWN} more")
        for row in table[1:]:
            row.append("")
    if len(rows) > SHOWN:
        table.append([f"and {len(rows) - SHOWN} more", *[""] * (len(table[0]) - 1)])
    return table


def _decimal_places(numbers: Iterable[Fraction]) -> int | None:
    """How many decimal places write all the numbers exactly; None if many or no number of places does."""
    numbers = list(numbers)
    for places in range(_MOST_PLACES + 1):
        if all((number * 10**places).denominator == 1 for number in numbers):
            return places
    return None


def _number(number: Fraction, places: int | None) -> str:
    return show(number) if places is None else f"{float(number):.{places}f}"


def _equation(name: str, number: Fraction) -> str:
    text = show(number)
    return f"{name} <= {text.removeprefix('<=')}" if text.startswith("<=") else f"{name} = {text}"


def _label(value: object) -> str:
    text = value if isinstance(value, str) and value.isprintable() and value else repr(value)
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."
