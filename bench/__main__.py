"""The command behind `scripts/bench`: run benchmarks, print their tables, write their JSON and Markdown."""

from __future__ import annotations

import argparse
import sys

from bench.environments import find_environment, set_up
from bench.model import load
from bench.places import CASES, PAGES, RESULTS, ROOT, benchmark_names
from bench.progress import Progress, announce
from bench.report import as_json, as_markdown, as_text
from bench.results import BenchmarkResult
from bench.run import Plan, run_benchmark


def main() -> int:
    """Run what the command line asks for; the exit code is 1 if anything failed."""
    options = _options()
    plan = Plan() if options.repetitions is None else Plan(options.repetitions, options.repetitions)
    problems: list[str] = []
    for name in options.names or benchmark_names():
        result = _run(name, plan)
        print(as_text(result), flush=True)
        if not options.no_write:
            _write(result)
        problems += result.problems
    return 1 if problems else 0


def _options() -> argparse.Namespace:
    known = benchmark_names()
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Compare viameter with its peers.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"benchmarks to run: {', '.join(known)}; or all")
    parser.add_argument(
        "--repetitions", type=int, help=f"timings of each variant ({Plan.most}, or {Plan.fewest} if slow)"
    )
    parser.add_argument("--no-write", action="store_true", help="print the tables and leave the files as they are")
    options = parser.parse_args()
    if unknown := set(options.names) - set(known):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if options.repetitions is not None and options.repetitions < 1:
        parser.error("at least one repetition is needed")
    return options


def _run(name: str, plan: Plan) -> BenchmarkResult:
    case_file = CASES / f"{name}.py"
    environments = {each: find_environment(each) for each in load(case_file).environments}
    for environment in environments.values():
        set_up(environment, announce)
    progress = Progress(name)
    try:
        return run_benchmark(case_file, environments, plan, progress)
    finally:
        progress.done()


def _write(result: BenchmarkResult) -> None:
    for directory, suffix, text in ((RESULTS, "json", as_json(result)), (PAGES, "md", as_markdown(result))):
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / f"{result.name}.{suffix}"
        path.write_text(text, encoding="utf-8")
        announce(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    sys.exit(main())
