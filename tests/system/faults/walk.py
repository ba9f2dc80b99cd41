"""Random walks: faults that come and go at any time, while people ask, ask again, and vanish."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from tests.system.faults.faults import FAULTS, PROCESS_FAULTS, Fault, suffering
from tests.system.faults.model import KINDS, Outcome
from tests.system.faults.scenario import Company
from tests.system.faults.stage import OTHERS

ASKED = ("remote", "remote", "file", "file", "slow", *OTHERS)


@dataclass(frozen=True)
class Ask:
    """Somebody asks a question, and waits in a thread of their own; of a part that is less than 1, they vanish."""

    dataset: str
    kind: str
    sent: float | None = None


@dataclass(frozen=True)
class Again:
    """Somebody asks again under a key: the so-manieth of this walk, from the end."""

    back: int


@dataclass(frozen=True)
class Notice:
    """Datasets to which nothing happens must answer, unless something is wrong with the whole service."""


@dataclass(frozen=True)
class Begin:
    """Something goes wrong: until the next thing at the same place, or the end. Without replies, it is over at once."""

    fault: Fault

    def __str__(self) -> str:
        return str(self.fault)


Step = Ask | Again | Notice | Begin


def steps_of(seed: int, length: int, faults: Sequence[Fault] = (*FAULTS, *PROCESS_FAULTS)) -> Iterator[Step]:
    """The steps of a walk."""
    dice = random.Random(seed)
    for _ in range(length):
        which = dice.random()
        if which < 0.3:
            yield Begin(dice.choice(faults))
        elif which < 0.7:
            sent = dice.choice([0.5, 1.0]) if dice.random() < 0.2 else None
            yield Ask(dice.choice(ASKED), dice.choice(list(KINDS)), sent)
        else:
            yield Again(dice.randrange(1, 5)) if dice.random() < 0.6 else Notice()


def walk(company: Company, steps: Sequence[Step]) -> list[str]:
    """Take all steps, mend everything, and say whatever is wrong."""
    company.is_well = False
    wrong: dict[str, tuple[Fault, contextlib.ExitStack]] = {}
    found: list[str] = []
    asking: list[Future[Outcome]] = []
    with ThreadPoolExecutor(len(steps)) as threads, contextlib.ExitStack() as everything:
        for step in steps:
            if isinstance(step, Begin):
                if step.fault.place in wrong:
                    wrong.pop(step.fault.place)[1].close()
                mended = everything.enter_context(contextlib.ExitStack())
                mended.enter_context(suffering(company.stage, step.fault))
                if step.fault.replies:
                    wrong[step.fault.place] = step.fault, mended
                else:
                    mended.close()
            elif isinstance(step, Notice):
                found += company.notices(OTHERS if all(fault.dataset for fault, _ in wrong.values()) else ())
            elif isinstance(step, Again):
                if len(company.unsettled) >= step.back:
                    asked = company.unsettled[-step.back]
                    asking.append(threads.submit(company.ask, asked.dataset, asked.kind, again=asked))
            elif step.sent is not None:
                company.vanish(step.dataset, step.kind, sent=step.sent)
            else:
                asking.append(threads.submit(company.ask, step.dataset, step.kind))
    for asked_for in asking:
        asked_for.result()
    return company.leaves(found)
