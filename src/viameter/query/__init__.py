"""Questions over real tables: every question is a Measurement that an engine runs.

- `units`, `spaces`, `database`, `rows`: whose presence is hidden, and where private rows live. `theorems`: stability.
- `expressions`: what can be computed of a row. `relation`, `public_tables`: filters, columns, joins. `keys`: groups.
- `aggregates`, `statistics`, `estimates`: what is asked, the integers that it takes, the numbers that they give.
- `bounding`, `collecting`, `contributing`, `planning`: from a loss to one pass over the kept rows, with noise.
- `engines`: DuckDB, Spark, PostgreSQL. `answer`, `preview`, `showing`: what people see.
"""

from viameter.query.aggregates import count_units, maximum, median, minimum, quantile, std, variance
from viameter.query.answer import Answer
from viameter.query.expressions import case
from viameter.query.preview import Preview
from viameter.query.public_tables import public
from viameter.query.units import Unit, per, per_entity, per_event, per_row

__all__ = [
    "Answer",
    "Preview",
    "Unit",
    "case",
    "count_units",
    "maximum",
    "median",
    "minimum",
    "per",
    "per_entity",
    "per_event",
    "per_row",
    "public",
    "quantile",
    "std",
    "variance",
]
