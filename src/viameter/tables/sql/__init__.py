"""SQL: a question as text, in the words of SQL and of BigQuery's differential privacy. It is read, and never executed.

>>> asked = read_sql("SELECT ward, COUNT(*) AS n FROM visits WHERE wait > 60 GROUP BY ward ORDER BY n DESC")
>>> print(asked.question)
table.filter(wait > 60).group_by(ward).agg(n=count())
>>> asked.columns, asked.order_by
(('ward', 'n'), (Ordering(of='n', descending=True, unknown_first=False),))
"""

from viameter.tables.sql.asking import SqlQuery
from viameter.tables.sql.clause import Options
from viameter.tables.sql.reading import read_sql
from viameter.tables.sql.shaping import Ordering, Output, SqlAnswer, SqlQuestion

__all__ = ["Options", "Ordering", "Output", "SqlAnswer", "SqlQuery", "SqlQuestion", "read_sql"]
