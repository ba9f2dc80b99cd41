"""The coordinator: runs the variants of each case in turns, so that the noise of the machine hits all of them alike."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.environments import Environment
from bench.machine import describe_machine
from bench.model import Benchmark, load
from bench.progress import Progress
from bench.protocol import Description, Prepared, Request, Timed
from bench.results import BenchmarkResult, CaseResult, VariantResult
from bench.workers import NoResultError, Workers

__all__ = ["Plan", "run_benchmark", "turns"]


@dataclass(frozen=True)
class Plan:
    """How often to repeat: `most` times, or fewer, but `fewest`, where a case takes longer than `enough_seconds`."""

    most: int = 15
    fewest: int = 5
    enough_seconds: float = 30.0

    def goes_on(self, repetitions: int, elapsed_seconds: float) -> bool:
        """Whether a case has another repetition after so many, which took so long."""
        return repetitions < self.most and (repetitions < self.fewest or elapsed_seconds < self.enough_seconds)


def run_benchmark(
    case_file: Path, environments: Mapping[str, Environment], plan: Plan, progress: Progress
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
            date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            machine=machine,
            environments={name: _describe(workers, environments[name]) for name in benchmark.environments},
            cases=[_run_case(benchmark, index, workers, plan, progress) for index in range(len(benchmark.cases))],
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


def _run_case(benchmark: Benchmark, index: int, workers: Workers, plan: Plan, progress: Progress) -> CaseResult:
    case = benchmark.cases[index]
    place = f"case {index + 1}/{len(benchmark.cases)}: {case.title}"
    rows = [VariantResult(variant, case.units_of(variant)) for variant in case.variants]
    for position, row in enumerate(rows):
        progress.say(f"{place}: preparing {row.variant.name}")
        _prepare(row, workers, index, position)
    repetitions, start = 0, time.monotonic()
    while plan.goes_on(repetitions, time.monotonic() - start):
        progress.say(f"{place}: repetition {repetitions + 1}/{plan.most}")
        for position in turns(len(rows), repetitions):
            _time(rows[position], workers, index, position)
        repetitions += 1
    workers.forget()
    result = CaseResult(case, rows, repetitions)
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
