"""What declared leaves cost together, as a report: guarantee, worst neighbors, conditions, verdict on a claim."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import viameter as vm
from viameter import neighborhood as nb
from viameter.arith import write
from viameter.cli.declared import read_declared
from viameter.cli.verdicts import Verdict, judge, read_claim
from viameter.core.conversion import convert
from viameter.errors import NoTheorem
from viameter.measures.records import MEASURES
from viameter.theorem import Derivation, Explanation


@dataclass(frozen=True, slots=True)
class Report:
    """All that is said of a file."""

    composed: nb.Composed
    why_not_tight: str | None
    c1: nb.Check
    c2: nb.Check
    loss: vm.Loss
    """The loss that is reported: the composed one, or what it is at the delta that was asked for."""
    derivation: Derivation
    verdict: Verdict | None


def compose_declared(
    path: str, *, into: str | None, delta: str | None, claim: str | None, as_json: bool
) -> tuple[int, str]:
    """The exit code and the report, as text, on what a TOML file declares."""
    declared = read_declared(path)
    claimed = declared.claim if claim is None else read_claim(claim)
    # An epsilon at a delta is made of the total, and not of each loss.
    measure = None if into is None or (into == "approx" and delta is not None) else MEASURES[into]
    composed = nb.compose(declared.granularity, declared.leaves, measure=measure)
    loss, derivation = composed.loss, composed.explain().derivation
    if delta is not None:
        converted = convert(loss, vm.ApproxDP, delta=delta)
        for step in converted.steps:
            derivation = step.over((derivation,))
        loss = converted.loss
    verdict = None
    if claimed is not None:
        verdict = judge(claimed, composed, at_delta=None if delta is None else loss)
    report = Report(
        composed,
        composed.why_not_tight,
        _checked(composed.check_c1),
        _checked(composed.check_c2),
        loss,
        derivation,
        verdict,
    )
    shown = json.dumps(_as_json(report), indent=2, ensure_ascii=False) if as_json else _as_text(report)
    return (0 if verdict is None else verdict.exit_code), shown


def _checked(check: Callable[[], nb.Check]) -> nb.Check:
    try:
        return check()
    except NoTheorem as problem:  # a group of steps may be bounded one by one only
        return nb.Check(None, str(problem))


def _as_text(report: Report) -> str:
    composed, granularity = report.composed, report.composed.granularity
    amount = repr(composed.loss) if composed.loss.is_finite else f"{composed.loss!r}, which is no guarantee"
    count = len(composed.leaves)
    lines = [
        f"Guarantee: {f'these {count} leaves together cost' if count > 1 else 'this leaf costs'} {amount}.",
        f"Neighbors: two datasets are neighbors in {granularity!r} if {granularity.protects}.",
        _least(report),
    ]
    if report.loss != composed.loss:
        lines.append(f"At this delta: {report.loss!r}.")
    lines += [f"For the class {name}: {loss!r}." for name, loss in composed.by_class]
    lines += ["", f"The costliest neighbors: {_witness(composed.witness)}", ""]
    lines.append(f"C1, neighbors differ in one part at most: {_condition(report.c1)}")
    lines.append(f"C2, each part moves by at most one step of {granularity!r}: {_condition(report.c2)}")
    if report.verdict is not None:
        verdict = report.verdict
        lines += ["", f"The claim {verdict.claim!r} is {verdict.word}: {verdict.reason}."]
    return "\n".join([*lines, "", str(Explanation("Why:", report.derivation))])


def _least(report: Report) -> str:
    if report.why_not_tight is not None:
        return f"Is less possible? Not known: {report.why_not_tight}."
    if not report.composed.loss.is_finite:
        return "Is less possible? No: some mechanisms with these losses tell the neighbors below apart by any amount."
    return "Is less possible? No: some mechanisms with these losses cost just this on the neighbors below."


def _witness(witness: nb.Witness) -> str:
    return str(witness) if witness.parts else "no step reaches a part that costs anything."


def _condition(check: nb.Check) -> str:
    answer = {True: "yes", False: "no", None: "not known"}[check.holds]
    return f"{answer}; {check.reason}."


def _as_json(report: Report) -> dict[str, Any]:
    composed = report.composed
    content: dict[str, Any] = {
        "granularity": repr(composed.granularity),
        "neighbors": composed.granularity.protects,
        "leaves": len(composed.leaves),
        "loss": report.loss.to_json(),
        "tight": report.why_not_tight is None,
        "why_not_tight": report.why_not_tight,
        "witness": _witness_as_json(composed.witness),
        "c1": {"holds": report.c1.holds, "reason": report.c1.reason},
        "c2": {"holds": report.c2.holds, "reason": report.c2.reason},
        "theorems": list(dict.fromkeys(node.theorem.slug for node in report.derivation.nodes())),
    }
    if report.loss != composed.loss:
        content["composed"] = {"loss": composed.loss.to_json(), "tight": content["tight"]}
        content |= {"tight": False, "why_not_tight": "an epsilon at a delta is known from above only"}
    if composed.by_class:
        content["classes"] = {name: loss.to_json() for name, loss in composed.by_class}
    if report.verdict is not None:
        verdict = report.verdict
        content["claim"] = {"loss": verdict.claim.to_json(), "verdict": verdict.word, "reason": verdict.reason}
    return content


def _witness_as_json(witness: nb.Witness) -> dict[str, Any]:
    parts = [
        {
            "part": name,
            "before": None if seen.before is None else repr(seen.before),
            "after": None if seen.after is None else repr(seen.after),
            "steps": write(seen.steps),
        }
        for name, seen in witness.parts.items()
    ]
    shown = {"before": witness.before, "after": witness.after}
    datasets = {name: None if data is None else repr(data) for name, data in shown.items()}
    return {"text": _witness(witness), "attained": witness.attained, **datasets, "parts": parts}
