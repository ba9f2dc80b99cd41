"""Sessions: private tables under a budget. Open one, ask what a question would cost, and only then spend.

- `opening`: `vm.open`. `budget`: what was spent, and what is left. `table`: a table, filtered and joined.
- `question`: aggregates by group; preview, release. `within`: from a width to what it costs. `consistency`.
- `selecting`, `ranking`, `finding_bounds`: keys that nobody listed, the most frequent ones, bounds.
- `parts`, `asked_together`, `touching`, `overlapping`, `counting`: budgets for parts, and questions asked in one go.
- `practice`, `report`: made-up rows to try questions on, and a page about answers.
"""

from viameter.query import (
    Answer,
    Preview,
    case,
    count_units,
    maximum,
    median,
    minimum,
    per,
    per_entity,
    per_event,
    per_row,
    public,
    quantile,
    std,
    variance,
)
from viameter.session.asked_together import together
from viameter.session.budget import Charged, Session
from viameter.session.finding_bounds import FoundBounds
from viameter.session.opening import open
from viameter.session.question import Grouped, Question
from viameter.session.ranking import HeavyHitters, Ranked, Ranking
from viameter.session.selecting import SelectedAnswer
from viameter.session.table import Table, Tables

__all__ = [
    "Answer",
    "Charged",
    "FoundBounds",
    "Grouped",
    "HeavyHitters",
    "Preview",
    "Question",
    "Ranked",
    "Ranking",
    "SelectedAnswer",
    "Session",
    "Table",
    "Tables",
    "case",
    "count_units",
    "maximum",
    "median",
    "minimum",
    "open",
    "per",
    "per_entity",
    "per_event",
    "per_row",
    "public",
    "quantile",
    "std",
    "together",
    "variance",
]
