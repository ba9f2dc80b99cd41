"""The coordinator: runs the variants of each case in turns, so that the noise of the machine hits all of them alike."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from bench.environments import Environment
from bench.machine import describe_machine
from bench.model import Benchmark, load
from bench.progress import Progress
from bench.protocol import Description, Prepared, Request, Timed
from bench.results import BenchmarkResult, CaseResult, VariantResult
from bench.workers import NoResultError, Workers

__all__ = ["run_benchmark", "turns"]


def run_benchmark(
    case_file: Path, environments: Mapping[str, Environment], repetitions: int, progress: Progress
) -> BenchmarkResult:
    """Run every case of a file, whatever happens to single variants."""
    benchmark = load(case_file)
    machine = describe_machine()
    with Workers(case_file, environments) as workers:
        progress.say("starting a worker in each environment: " + ", ".join(benchmark.environments))
        return BenchmarkResult(
            name=case_file.stem,
            title=benchmark.title,
            about=benchmark.about,
            repetitions=repetitions,
            date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            machine=machine,
            environments={name: _describe(workers, environments[name]) for name in benchmark.environments},
            cases=[
                _run_case(benchmark, index, workers, repetitions, progress) for index in range(len(benchmark.cases))
            ],
        )


def turns(variants: int, repetition: int) -> list[int]:
    """The order of the variants in a repetition.

    Within as many repetitions as there are variants each comes first, second, ... once; after that the order is
    shuffled anew, so that no variant always runs after the same other one, with the caches that it left.
    """
    block, shift = divmod(repetition, variants)
    order = list(range(variants))
    random.Random(block).shuffle(order)
    return order[shift:] + order[:shift]


def _describe(workers: Workers, environment: Environment) -> Description | str:
    try:
        return Description(**workers.ask(environment.name, Request("describe", libraries=environment.libraries)))
    except NoResultError as reason:
        return str(reason)


def _run_case(benchmark: Benchmark, index: int, workers: Workers, repetitions: int, progress: Progress) -> CaseResult:
    case = benchmark.cases[index]
    place = f"case {index + 1}/{len(benchmark.cases)}: {case.title}"
    rows = [VariantResult(variant, case.units_of(variant)) for variant in case.variants]
    for position, row in enumerate(rows):
        progress.say(f"{place}: preparing {row.variant.name}")
        _prepare(row, workers, index, position)
    for repetition in range(repetitions):
        progress.say(f"{place}: repetition {repetition + 1}/{repetitions}")
        for position in turns(len(rows), repetition):
            _time(rows[position], workers, index, position)
    workers.forget()
    result = CaseResult(case, rows)
    result.check_digests()
    return result


def _prepare(row: VariantResult, workers: Workers, case: int, position: int) -> None:
    try:
        prepared = Prepared(**workers.ask(row.variant.environment, Request("prepare", case, position)))
    except NoResultError as reason:
        row.give_up(str(reason), absent=reason.absent)
    else:
        row.loops, row.digest, row.peak_growth = prepared.loops, prepared.digest, prepared.peak_growth


def _time(row: VariantResult, workers: Workers, case: int, position: int) -> None:
    if not row.timed:
        return
    try:
        timed = Timed(**workers.ask(row.variant.environment, Request("time", case, position, loops=row.loops)))
    except NoResultError as reason:
        row.give_up(str(reason), absent=reason.absent)
    else:
        row.seconds_per_call.append(timed.seconds_per_call)
