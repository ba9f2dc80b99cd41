"""Questions of a service: what they would cost, and their release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from viameter.arith import Number
from viameter.core import Loss
from viameter.errors import ParameterError, plain
from viameter.service.client.answers import RemoteAnswer, RemotePreview, RemoteRanked
from viameter.service.client.releasing import fresh_key, read_key, release
from viameter.service.client.replies import answer_of, preview_of, understood
from viameter.service.client.writing import written_aggregates, written_cost
from viameter.tables.expressions import Kind

if TYPE_CHECKING:
    from viameter.service.client.table import RemoteTable


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RemoteGrouped:
    """Rows by group, of which aggregates can be asked."""

    table: RemoteTable
    groups: Mapping[str, Any]
    """What the document says of groups; nothing for all rows as one."""

    def agg(self, **aggregates: Any) -> RemoteQuestion:
        """What is asked of each group, by the name that it has in the answer."""
        schema, measure = self.table.schema, self.table.dataset.measure
        asked = {**self.groups, "aggregates": written_aggregates(aggregates, schema, measure)}
        by = ", ".join(self.groups.get("group_by", ()))
        text = f"{f'group_by({by}).' if by else ''}agg({', '.join(aggregates)})"
        return RemoteQuestion(self.table, asked, text)

    def top(self, k: int, *, by: str = "rows") -> RemoteRanking:
        """Which k of the groups have the most rows, or the most units; in order, without their numbers."""
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise ParameterError(f"top: k={plain(k)}: expected a whole number from 1 to the number of keys")
        if by not in ("rows", "units"):
            raise ParameterError(f"top: by={plain(by)}: expected 'rows' or 'units'")
        named = self.groups["group_by"]
        is_listed = "keys" in self.groups or "edges" in self.groups
        if not is_listed and any(self.table.schema[name].kind is not Kind.BOOLEAN for name in named):
            raise ParameterError("top: which groups are there? group_by(..., keys=[...]); else heavy_hitters(...)")
        asked = {**self.groups, "top": k, "by": by}
        return RemoteRanking(self.table, asked, f"group_by({', '.join(named)}).top({k}, by={by!r})")

    def __repr__(self) -> str:
        return f"{self.table.name}{self.table.written}.group_by({', '.join(self.groups.get('group_by', ()))})"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Asked:
    """What is asked of a private table elsewhere. It is public, and says nothing of the rows."""

    table: RemoteTable
    asked: Mapping[str, Any]
    """What the document says beside rows and cost."""
    text: str

    def document(self, **cost: Any) -> dict[str, Any]:
        """The question with what it may cost, as it is sent."""
        given = {"spend": None, "within": None, **cost}
        return {**self.table.steps.document(), **self.asked, **written_cost(self.table.dataset.measure, **given)}

    def _preview(self, **cost: Any) -> RemotePreview:
        dataset, sent = self.table.dataset, self.document(**cost)
        found = dataset.wire.ask(f"/datasets/{quote(dataset.name, safe='')}/preview", sent)
        with understood():
            return preview_of(found, dataset.name, dataset.budget)

    def _release(self, key: str | None, **cost: Any) -> Any:
        dataset, sent = self.table.dataset, self.document(**cost)
        found = release(dataset.wire, dataset.name, sent, fresh_key() if key is None else read_key(key))
        with understood():
            return answer_of(found, dataset.schema, dataset.proofs)

    def __repr__(self) -> str:
        return f"{self.table.name}{self.table.written}.{self.text}"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RemoteQuestion(Asked):
    """Numbers by group."""

    def preview(
        self,
        *,
        spend: Loss | None = None,
        within: Mapping[str, Number] | None = None,
        alpha: Number | None = None,
        weights: Mapping[str, Number] | None = None,
    ) -> RemotePreview:
        """What it would cost, and how wide intervals would be; no row is read, and nothing is spent."""
        return self._preview(spend=spend, within=within, alpha=alpha, weights=weights)

    def release(
        self,
        *,
        spend: Loss | None = None,
        within: Mapping[str, Number] | None = None,
        alpha: Number | None = None,
        weights: Mapping[str, Number] | None = None,
        raw: bool = False,
        key: str | None = None,
    ) -> RemoteAnswer:
        """Spend, run, and answer: `spend` is the loss; or `within` names widths, and the least loss that buys them.

        Every release has a key, a fresh one unless it is given: under it the question is sent again if the connection
        is lost, and charged once. The same question under the same `key` has the same answer, and costs nothing more.
        `weights` says how the loss is shared among aggregates; counts below 0 are set to 0 unless `raw` is asked for.
        """
        found: RemoteAnswer = self._release(key, spend=spend, within=within, alpha=alpha, weights=weights, raw=raw)
        return found


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RemoteRanking(Asked):
    """Which groups have the most."""

    def preview(self, *, spend: Loss, alpha: Number | None = None) -> RemotePreview:
        """What it would cost, and how far behind a better key one may be that is picked; nothing is read or spent."""
        return self._preview(spend=spend, alpha=alpha)

    def release(self, *, spend: Loss, key: str | None = None) -> RemoteRanked:
        """Spend, run, and answer; the same under the same `key` is the same answer."""
        found: RemoteRanked = self._release(key, spend=spend)
        return found
