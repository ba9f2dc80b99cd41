"""Places: where the rows of a dataset are, in words that are the same for the same rows, and which places share rows.

Rows that are reached in two ways would have two budgets. These ways are seen, whichever is registered first, when a
dataset is registered and whenever it is opened:

- a file by another path, by a symbolic link or by a hard link;
- a table of a DuckDB file in other capitals, or without its schema; a view in the file beside a table that it reads, or
  beside another view that reads the same table;
- a table of a PostgreSQL server by another address, user or source; a partition or a table that inherits beside its
  parent; a view or a materialized view beside what it reads, by way of other views and of functions in SQL whose
  bodies the server has parsed (BEGIN ATOMIC), too;
- a table of Spark by another name.

These are not, and whoever registers rows vouches for them: copies of rows; foreign tables, which may be of the same
server; functions whose bodies are text; views of Spark, and tables of Spark over the same files; one file that is read
by DuckDB and by Spark; operators and domains of PostgreSQL; views with `security_invoker` over tables with policies, of
which each user sees other rows. What is attached to a table or written into a view while a dataset is open is seen
when it is opened next.

A place is a name, so that rows can be loaded anew under it. So these are not seen either, after a dataset was
registered: names that are changed or swapped, files that are moved, views that are dropped or replaced, partitions
that are detached. Whoever may do that in a source must be trusted with the budgets of its rows.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from viameter.errors import ParameterError
from viameter.service.state import SAME_ROWS, Registered
from viameter.tables.engines import Place

MAYBE_SAME = (
    "these rows may be those of {!r}: tables and databases have the same names, and a server does not say which one it "
    "is; let the users of both sources execute pg_control_system() before they are registered"
)


def place_of(source: Any, table: str | None, rows: Any) -> Place:
    """Where rows are that were opened.

    What is opened and what is looked for here was found once: links may move in between.
    """
    return Place((source,), "#") if table is None else rows.on.engine.place(rows.on.backend, source, table)


def refuse_same(place: Place, name: str, others: Iterable[Registered]) -> None:
    """Refuse rows that are, or may be, in another dataset."""
    ends = (place.end, *place.sharing)
    for other in others:
        if other.name == name:
            continue
        if any(start + end == other.place for start in place.starts for end in ends):
            raise ParameterError(SAME_ROWS.format(other.name))
        here = [end for end in ends if other.place.endswith(end)]
        if any(_is_linked(other.place.removesuffix(end), place.starts[0]) for end in here):
            raise ParameterError(SAME_ROWS.format(other.name))
        is_certain = place.starts[0].startswith(place.certain) and other.place.startswith(place.certain)
        if here and place.certain and not is_certain:
            raise ParameterError(MAYBE_SAME.format(other.name))


def _is_linked(one: str, other: str) -> bool:
    """Whether two paths lead to one file."""
    try:
        return os.path.isabs(one) and Path(one).samefile(other)  # noqa: PTH117, other words are no paths
    except (OSError, ValueError):  # gone by now
        return False
