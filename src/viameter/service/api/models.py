"""What requests and replies look like: the shapes that the OpenAPI description shows, and that requests are held to."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from viameter.tables.aggregates import WORDS

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$", max_length=64)]
Text = Annotated[str, Field(max_length=10_000)]
Why = Annotated[str, Field(min_length=1, max_length=10_000, description="The reason, which is kept.")]
LOSS = (
    'A loss: {"zcdp": "1/100"}, {"pure": "1/10"}, {"approx": ["1", "1e-6"]}, {"approx_zcdp": [...]}; '
    "or as replies write it. Numbers are text, so that they are exact."
)
LossIn = Annotated[dict[str, Any], Field(description=LOSS, examples=[{"zcdp": "1/100"}], min_length=1, max_length=4)]
EXPRESSION = (
    'Text such as "wait > 60 and ward == \'A\'", or a document: {"column": name}, {"value": constant}, '
    '{"operation": "gt", "arguments": [...], "options": [...]}. It is read as data and never executed.'
)

_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


class Closed(BaseModel):
    """A body with these names and no others."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _can_be_sent_back(cls, body: Any) -> Any:
        """Refuse what Python reads as JSON and nobody else does: a reply or a table that repeats it would fail."""
        if isinstance(body, bytes):  # of another type than JSON, and refused as that
            return body
        try:
            text = json.dumps(body, allow_nan=False, ensure_ascii=False)
            text.encode()
        except ValueError:
            raise ValueError("expected JSON, which has no NaN, no infinity and no half of a sign") from None
        if _NUL.search(text):
            raise ValueError("expected no sign of code 0, which databases do not keep")
        return body


class Reply(BaseModel):
    """A reply; later versions may have more names."""

    model_config = ConfigDict(extra="allow")


def described(says: str, *examples: Any) -> Any:
    """A part of a question: what it is. Its value is read by `viameter.tables.document` and `viameter.tables.cost`."""
    return Field(None, description=says, examples=list(examples) or None)


class Limit(Closed):
    """What counts of a unit at most, and which rows are kept."""

    rows: Any = None
    groups: Any = None
    per_group: Any = None
    keep: Any = described('"uniform", or "first by" and a column.', "first by time")


class Question(Closed):
    """A question: which rows, by which groups, what of them, and what it may cost."""

    version: Any = described("1, or 2 if there are steps; 1 unless said.")
    derive: Any = described("Columns by name, each with its expression.", {"hours": "wait / 60"})
    filter: Any = described(
        EXPRESSION, "wait > 60", {"operation": "gt", "arguments": [{"column": "wait"}, {"value": 60}]}
    )
    steps: Any = described(
        'In any order, instead of derive and filter: {"filter": expression}, {"select": [columns]}, '
        '{"derive": {name: expression}}, {"sample": "1/10"}, '
        '{"join": {"public": {"columns": {name: [values]}}}, "on": [columns]}.',
        [{"filter": "wait > 60"}, {"derive": {"hours": "wait / 60"}}],
    )
    limit: Limit | None = None
    group_by: Any = described("A column, or a list of them.", "ward", ["ward", "day"])
    keys: Any = described("The groups, which are public: a list, or lists by column.", ["A", "B"], {"ward": ["A", "B"]})
    edges: Any = described("Numbers that rise: groups are the intervals between them.", [0, 30, 60])
    other: Any = described("Whether all other rows make one more group.", True)
    aggregates: Any = described(
        f"By name, each with one of {', '.join(WORDS)}, of a column, with its options.",
        {"n": {"count": True}, "wait": {"mean": "wait", "bounds": [0, 240]}},
    )
    top: Any = described("How many groups are asked for that have most, in order.", 3)
    by: Any = described('What they have most of: "rows" or "units".', "rows")
    heavy_hitters: Any = described("A column, or a list of them, whose frequent values are found.", "ward")
    find_bounds: Any = described(
        "Bounds between which most of a column lies, looked for within a public range.",
        {"column": "wait", "within": [0, 10000]},
    )
    spend: Any = described(LOSS, {"zcdp": "1/100"})
    within: Any = described("Widths by aggregate, instead of a loss.", {"n": "25"})
    alpha: Any = described("How often an interval may miss; 1/20 unless said.", "1/10")
    weights: Any = described("How the loss is shared among aggregates, by name.", {"n": 2})
    raw: Any = described("Whether numbers are given before what cannot be true is cut off.", True)
    selection_share: Any = described("Of groups that are found: the part that finds them.", "1/4")

    def document(self) -> dict[str, Any]:
        """The question as it was written, its parts in the order above."""
        given = {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}
        if self.limit is not None:
            given["limit"] = {name: value for name, value in self.limit if value is not None}
        return {name: value for name, value in given.items() if value is not None}


class ErrorBody(Reply):
    """What went wrong."""

    code: str = Field(examples=["over_budget"])
    message: str
    request: str = Field(description="The number of the request, which the log has too.")
    details: dict[str, Any]


class Error(Reply):
    """The one shape of errors."""

    error: ErrorBody


class Loss(Reply):
    """A loss, exactly, and in words."""

    measure: str
    text: str


class Budget(Reply):
    """What may be spent, what was, what is left."""

    budget: Loss
    spent: Loss
    left: Loss
    ever_spent: Loss
    share_spent: float
    renews: str | None
    renewal: str | None = Field(description="What a budget bounds that starts over, in words.")


class Retired(Reply):
    """That a dataset is not asked any more: since when, by whose decision, and why."""

    at: str
    by: str
    why: str


class Dataset(Budget):
    """What is public of a dataset."""

    name: str
    title: str
    description: str
    unit: dict[str, Any] = Field(description="Whose presence answers hide: in words, and as it was registered.")
    measure: str
    registered: str
    retired: Retired | None
    differs: list[str] | None = Field(
        description="For custodians: what the configuration says otherwise; what is registered counts."
    )
    roles: list[str]
    least_spend: Loss = Field(description="What a question must spend at least; by its first number, epsilon or rho.")


class Datasets(Reply):
    """Those that one may see."""

    datasets: list[Dataset]


class NewDataset(Closed):
    """A dataset with its budget."""

    name: Name
    source: Name = Field(description="A source of the configuration.")
    table: Annotated[str, Field(min_length=1, max_length=300)] = Field(
        description="A table of the source, or a file in its folder (FILE#TABLE for a table of a database file)."
    )
    unit: dict[str, Any] = Field(examples=[{"per": "patient", "rows": 5}, {"row": True}])
    budget: LossIn | None = None
    renews: Literal["day", "week", "month", "quarter", "year", "rows"] | None = Field(
        default=None, description="When the budget starts over; else never. With new rows, by POST .../renew."
    )
    types: dict[str, str] | None = None
    strict: bool = Field(
        default=True, description="Refuse values that are not of the types said, or else read them as NULL."
    )
    order: Literal["native", "portable"] | None = None
    title: Text | None = None
    description: Text | None = None
    columns: dict[str, dict[str, Any]] | None = None
    why: Text | None = None


class Description(Closed):
    """What is said of a dataset."""

    title: Text | None = None
    description: Text | None = None
    columns: dict[str, dict[str, Any]] | None = None


class Schema(Reply):
    """The columns of a dataset."""

    columns: list[dict[str, Any]]
    unusable: list[str]
    unit: str


class NewBudget(Closed):
    """Another budget, and the reason for it."""

    budget: LossIn
    why: Why


class Reason(Closed):
    """Why something is done."""

    why: Why


class Budgets(Reply):
    """The budget of a dataset, and the limits of single people."""

    dataset: Budget
    people: dict[str, Budget]


class Paying(Reply):
    """A budget that would pay for a question, as it stands: what may be spent, what was, what is left."""

    budget: Loss
    spent: Loss
    left: Loss
    fits: bool = Field(description="Whether it has room for the question.")


class PayingBudgets(Reply):
    """The budgets that would pay for a question: that of the dataset and, if you have one, your own limit."""

    dataset: Paying
    person: Paying | None


class Preview(Reply):
    """What a question would cost, and how far its answers may be from the truth."""

    question: str
    loss: Loss
    budgets: PayingBudgets
    binding: Literal["dataset", "person"] = Field(
        description="Which of them limits the question: one without room for it, else the one of which least is left."
    )
    spent: Loss = Field(description="What was spent of the budget that limits it.")
    left: Loss = Field(description="What is left of the same budget.")
    fits: bool = Field(description="Whether all budgets that would pay have room for it.")
    alpha: str
    unit: str
    kept: str
    notes: list[str]
    aggregates: list[dict[str, Any]]


class Release(Reply):
    """A question and what came of it."""

    key: str
    by: str
    dataset: str
    asked: str
    question: dict[str, Any]
    state: Literal["released", "running", "failed", "lost"]
    waits: bool | None = Field(
        default=None, description="Of one that runs: whether it waits for the engine, and nothing is charged yet."
    )
    entry: int | None
    replayed: bool | None
    seconds: float | None
    answer: dict[str, Any] | None


class Line(Reply):
    """A line of a dataset's history: a charge, or a decision about a budget or a limit."""

    entry: int
    at: str
    by: str
    kind: str
    text: str
    key: str
    loss: Loss | None
    spent_after: Loss | None
    outcome: Literal["answered", "failed", "lost", "running"] | None = Field(
        description="What came of a charge; what was charged stays charged whatever it is. Null for decisions. "
        "Failed and lost ones (cut off before an answer was stored) have no answer: asked under a new key, the same "
        "question is charged anew."
    )
    theorems: list[str]
    has_certificate: bool


class History(Reply):
    """Lines of a dataset's history, the newest first."""

    lines: list[Line]
    more: bool
    before: int | None = Field(description="What to ask for next, if there is more.")


class LineDetail(Reply):
    """A charge and the theorems behind it."""

    line: Line
    claim: str | None
    derivation: dict[str, Any] | None


class GrantBody(Closed):
    """A role for a dataset, or for all ("*")."""

    role: Literal["admin", "custodian", "analyst", "auditor"]
    dataset: Annotated[str, Field(max_length=64)] = "*"


class NewPerson(Closed):
    """A new person."""

    name: Name
    grants: list[GrantBody] = []


class Grants(Closed):
    """What somebody is granted."""

    grants: list[GrantBody]


class Roles(Closed):
    """What somebody is for a dataset."""

    roles: list[Literal["analyst", "auditor"]]


class Active(Closed):
    """Whether somebody is let in."""

    active: bool


class NewToken(Closed):
    """A token that is to be made."""

    label: Annotated[str, Field(max_length=200)] = ""
    days: Annotated[int, Field(ge=1, le=3650)] | None = None


class TokenShown(Reply):
    """A token, this once."""

    token: str
    id: str
    expires: str


class Tokens(Reply):
    """Tokens that were given out."""

    tokens: list[dict[str, Any]]


class Me(Reply):
    """Who one is."""

    name: str
    grants: list[dict[str, str]]
    datasets: list[str]


class People(Reply):
    """Everybody."""

    people: list[dict[str, Any]]


class Acts(Reply):
    """What was administered, the newest first."""

    acts: list[dict[str, Any]]


class Checked(Reply):
    """Whether a certificate holds."""

    holds: bool
    report: str


class LedgerChecked(Reply):
    """Whether the whole ledger adds up."""

    holds: bool
    entries: int
    report: str


class CertificateBody(Closed):
    """A certificate, as it was downloaded."""

    certificate: dict[str, Any]


class ProgramBody(Closed):
    """Programs to verify: text as it stands in a file, with @vm.program(adjacent=...) above each."""

    source: Annotated[str, Field(min_length=1, max_length=100_000)]
    bound: Annotated[str, Field(max_length=200)] | None = None


class Verdicts(Reply):
    """A verdict for each program."""

    verdicts: list[dict[str, Any]]


class Done(Reply):
    """It was done."""

    done: bool = True
