"""A result as a table for the terminal, as a page of Markdown for the docs, and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from bench.protocol import Description
from bench.results import BenchmarkResult, CaseResult, VariantResult
from bench.spread import Spread
from bench.units import memory, number, seconds

__all__ = ["as_json", "as_markdown", "as_text"]

HOW_TO_READ = (
    "A ratio is the time of a variant over that of the first variant of its case: above 1 the variant is slower. "
    "Times are medians. Ratios and differences are taken within each repetition; shown are their medians, "
    "with the 10th and 90th percentiles over the repetitions."
)
HOW_TO_READ_MEMORY = " Memory is by how much the peak of the process rose during a call."


def as_text(result: BenchmarkResult) -> str:
    """The table with aligned columns, under a line with the title."""
    header, *rows = _table(result)
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    lines = [_aligned(row, widths) for row in (header, ["─" * width for width in widths], *rows)]
    heading = f"{result.title} ({result.name}, {result.repetitions})"
    return "\n".join([heading, "", *lines, *(f"! {problem}" for problem in result.problems)]) + "\n"


def as_markdown(result: BenchmarkResult) -> str:
    """A page of the docs: what was measured, the table, and the machine."""
    header, *rows = _table(result)
    table = [_piped(row) for row in (header, ["---", "---", *["---:"] * (len(header) - 2)], *rows)]
    problems = [f"- {_literal(problem)}" for problem in result.problems]
    sections = [
        f"# {result.title}",
        result.about,
        f"Made by `make bench ONLY={result.name}` on {result.date}, with {result.repetitions}.",
        HOW_TO_READ + (HOW_TO_READ_MEMORY if _with_memory(result) else ""),
        "\n".join(table),
        *(["## Problems", "\n".join(problems)] if problems else []),
        "## Machine",
        "\n".join(f"- {name}: {value}" for name, value in _machine(result).items()),
    ]
    return "\n\n".join(sections) + "\n"


def as_json(result: BenchmarkResult) -> str:
    """Everything, with the times of each repetition."""
    document = {
        "benchmark": result.name,
        "title": result.title,
        "command": f"make bench ONLY={result.name}",
        "date": result.date,
        "machine": result.machine,
        "environments": {
            name: asdict(description) if isinstance(description, Description) else {"problem": description}
            for name, description in result.environments.items()
        },
        "cases": [_case_document(case) for case in result.cases],
    }
    return json.dumps(document, indent=1) + "\n"


def _case_document(result: CaseResult) -> dict[str, Any]:
    case = result.case
    return {
        "name": case.name,
        "parameters": dict(case.parameters),
        "repetitions": result.repetitions,
        "unit": case.unit,
        "reference": result.reference.variant.name,
        "difference_to": case.difference_to,
        "variants": [_variant_document(result, row) for row in result.variants],
    }


def _variant_document(result: CaseResult, row: VariantResult) -> dict[str, Any]:
    return {
        "name": row.variant.name,
        "environment": row.variant.environment,
        "status": row.status,
        "message": row.message,
        "units_per_call": row.units,
        "loops": row.loops,
        "seconds_per_unit": _optional_document(result.time(row)),
        "ratio": _optional_document(result.ratio(row)),
        "difference_seconds": _optional_document(result.difference(row)),
        "peak_growth_bytes": row.peak_growth,
        "seconds_per_call": row.seconds_per_call,
    }


def _optional_document(value: Spread | None) -> dict[str, float] | None:
    return None if value is None else asdict(value)


def _table(result: BenchmarkResult) -> list[list[str]]:
    """Header and rows; the columns that only some benchmarks have are left out where no case asks for them."""
    bases = [case.case.difference_to for case in result.cases if case.case.difference_to is not None]
    with_memory = _with_memory(result)
    header = ["case", "variant", "time", "ratio"]
    header += [f"minus {' or '.join(dict.fromkeys(bases))}"] if bases else []
    header += ["memory of a call"] if with_memory else []
    rows = []
    for case in result.cases:
        for row in case.variants:
            cells = [case.case.title if row is case.reference else "", row.variant.name]
            cells += [_time_cell(case, row), _ratio_cell(case, row)]
            cells += [_difference_cell(case, row)] if bases else []
            cells += ["" if row.peak_growth is None else memory(row.peak_growth)] if with_memory else []
            rows.append(cells)
    return [header, *rows]


def _with_memory(result: BenchmarkResult) -> bool:
    return any(case.case.memory for case in result.cases)


def _time_cell(case: CaseResult, row: VariantResult) -> str:
    time = case.time(row)
    if time is None:
        return row.status
    shown = f"{seconds(time.median)}/{case.case.unit}"
    return shown if row.status == "measured" else f"{shown} ({row.status})"


def _ratio_cell(case: CaseResult, row: VariantResult) -> str:
    ratio = case.ratio(row)
    if ratio is None:
        return ""
    if row is case.reference:
        return "1"
    return f"{number(ratio.median)} ({number(ratio.low)}–{number(ratio.high)})"


def _difference_cell(case: CaseResult, row: VariantResult) -> str:
    difference = case.difference(row)
    if difference is None:
        return ""
    low, median, high = (f"{value * 1e3:+.1f}" for value in (difference.low, difference.median, difference.high))
    return f"{median} ms ({low} to {high})"


def _machine(result: BenchmarkResult) -> dict[str, str]:
    environments = {}
    for name, description in result.environments.items():
        if isinstance(description, Description):
            parts = [f"{library} {version}" for library, version in description.versions.items()]
            environments[f"environment {name}"] = ", ".join([description.python, *parts])
        else:
            environments[f"environment {name}"] = _literal(description)
    return {**result.machine, **environments}


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    texts = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
    numbers = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
    return "  ".join(texts + numbers).rstrip()


def _piped(row: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def _literal(text: str) -> str:
    """Text of others as inline code, where Markdown finds no markup."""
    return "`" + text.replace("`", "'") + "`"
