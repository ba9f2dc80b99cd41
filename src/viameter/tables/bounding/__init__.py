"""The engine query that keeps at most so many rows of each unit and adds up whole numbers per group.

- `limits`: how much of a unit may be kept, and what that bounds.
- `projection`: the columns that take part.
- `keeping`: which rows are kept; the stability of it.
- `summing`: the whole query.
- `asking`: the query as text, which is compiled once and has another salt each time.
"""

from viameter.tables.bounding.asking import statement
from viameter.tables.bounding.limits import Limits
from viameter.tables.bounding.summing import contributions, kept_rows

__all__ = ["Limits", "contributions", "kept_rows", "statement"]
