"""The runner of the fault tests: ask while something is wrong, mend it, and look at three things.

What is charged, what the analyst sees, and whether another dataset notices.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from tests.system.crash.served import API, Reply
from tests.system.faults.client import PATIENCE, TooLate, request, vanish
from tests.system.faults.faults import Fault, suffering
from tests.system.faults.model import CHARGED, KINDS, Asked, Journal, Outcome, read_books
from tests.system.faults.stage import OTHERS, PEOPLE, QUERIES, Stage

NUMBERS = itertools.count()
HEALTHY = ("remote", "file", *OTHERS)
"""Datasets that answer, when all is well."""
LATEST = 8
"""How many kinds of trouble are told that a service logged, the latest ones."""


@dataclass
class Company:
    """People who ask a stage's service, and the journal of what they were told."""

    stage: Stage
    journal: Journal = field(default_factory=Journal)
    unsettled: list[Asked] = field(default_factory=list)
    """Keys that were not asked again yet."""
    read: int = 0
    """How much of the log was looked at."""
    is_well: bool = True
    """Whether nothing was wrong so far: what is wrong with a service that was broken before tells nothing new."""

    def ask(self, dataset: str, kind: str, *, again: Asked | None = None, person: str = "", wait: int = 10) -> Outcome:
        """Ask under a new key, or again under an old one."""
        number = next(NUMBERS)
        who = person or PEOPLE[number % len(PEOPLE)]
        asked = again or self.journal.begin(who, f"{kind}-{number}", dataset, kind)
        if again is None:
            self.unsettled.append(asked)
        reply = self._send(asked, wait)
        return self.journal.note(asked, reply, self.stage.secrets)

    def _send(self, asked: Asked, wait: int) -> Reply | None:
        path = f"{API}/datasets/{asked.dataset}/releases"
        headers = {"Idempotency-Key": asked.key, "Prefer": f"wait={wait}"}
        try:
            return self._request("POST", path, asked.person, KINDS[asked.kind], **headers)
        except TooLate as late:
            self.journal.seen.append(f"{asked.dataset}, {asked.kind}, {asked.key}: {late}")
            return None

    def _request(self, method: str, path: str, person: str, document: object = None, **headers: str) -> Reply | None:
        return request(self.stage.served.port, self.stage.tokens[person], method, path, document, **headers)

    def preview(self, dataset: str) -> None:
        """Ask what a question would cost, which reads no row and spends nothing."""
        try:
            reply = self._request("POST", f"{API}/datasets/{dataset}/preview", "ann", KINDS["grouped"])
        except TooLate as late:
            self.journal.seen.append(str(late))
            return
        if reply is not None and reply.status not in (200, 503):
            self.journal.seen.append(f"preview of {dataset}: {reply.status} {reply.body[:200]!r}")

    def vanish(self, dataset: str, kind: str, *, sent: float) -> None:
        """Ask, and be gone before there is a reply."""
        asked = self.journal.begin("ann", f"{kind}-{next(NUMBERS)}", dataset, kind)
        self.unsettled.append(asked)
        path = f"/datasets/{dataset}/releases"
        vanish(self.stage.served.port, self.stage.tokens["ann"], path, KINDS[kind], asked.key, sent=sent)
        self.journal.note(asked, None, [])

    def answered_before(self, dataset: str) -> Asked:
        """A key that has an answer."""
        assert self.ask(dataset, "count", person="ann") is Outcome.ANSWERED, self.journal.seen
        return self.unsettled[-1]

    def recovers(self, dataset: str) -> bool:
        """Whether a dataset answers again, by itself."""
        until = time.monotonic() + PATIENCE
        while self.ask(dataset, "count") is not Outcome.ANSWERED:
            if time.monotonic() > until:
                return False
            time.sleep(0.2)
        return True

    def charges(self, dataset: str) -> int:
        """How many questions to a dataset are charged by now."""
        return list(read_books(self.stage.ledger).scope.values()).count(dataset)

    def notices(self, others: Iterable[str]) -> list[str]:
        """Which of some datasets do not answer a plain count."""
        outcomes = {other: self.ask(other, "count") for other in others}
        return [
            f"{other} notices: {outcome.name}" for other, outcome in outcomes.items() if outcome is not Outcome.ANSWERED
        ]

    def leaves(self, found: list[str]) -> list[str]:
        """What was found, and whatever else is wrong once all faults are mended."""
        began = self.read
        lost = [f"{each} does not recover: {self.unsettled[-1].told}" for each in HEALTHY if not self.recovers(each)]
        found = [*found, *lost, *self.problems()]
        self.is_well = not found
        return found if self.is_well else [*found, *self._circumstances(began)]

    def _circumstances(self, began: int) -> list[str]:
        """What helps to find out why something is wrong: trouble in the log from a place on, and the room on disks."""
        troubles: dict[str, None] = {}
        for line in self.stage.served.log()[began:].splitlines():
            try:
                logged = json.loads(line) if line.startswith("{") else {}
            except ValueError:  # it is being written
                continue
            if "error" in logged:
                why = logged.get("why") or f"{logged['error']} at {', '.join(logged['where'][-3:])}"
                said = f"logged: {logged['event']}: {why}"
                troubles.pop(said, None)  # in the order in which they were last said
                troubles[said] = None
        left = [f"the disk {name} has {room} bytes left" for name, room in self.stage.left().items()]
        return [*list(troubles)[-LATEST:], *left]

    def problems(self) -> list[str]:
        """Compare with the books, ask again under every key, compare again."""
        found = self.journal.problems(read_books(self.stage.ledger))
        with ThreadPoolExecutor(QUERIES) as threads:
            settled = list(threads.map(self._settle, self.unsettled))
        unknown: dict[str, list[str]] = {}
        for asked, wrong in zip(self.unsettled, settled, strict=True):
            if wrong is not None:
                unknown.setdefault(wrong, []).append(asked.key)
        found += [f"{wrong}; {len(keys)} keys: {', '.join(keys[:5])}" for wrong, keys in unknown.items()]
        self.unsettled.clear()
        found += [*self.journal.problems(read_books(self.stage.ledger)), *self._logged()]
        self.journal.seen.clear()
        return sorted(set(found))

    def _settle(self, asked: Asked) -> str | None:
        """Ask again until it is known what came of a key; what is wrong with that."""
        until = time.monotonic() + PATIENCE
        ran = Outcome.RUNNING in asked.outcomes  # and may still: then whoever asks is told what came of it meanwhile
        while (outcome := self.ask(asked.dataset, asked.kind, again=asked)) not in CHARGED:
            if outcome is Outcome.RUNNING and self.stage.restarts:
                return None  # a process that is gone may be another one that runs, for all that this one knows
            if (outcome is not Outcome.RUNNING and not ran) or time.monotonic() > until:
                return f"a key of {asked.dataset} is {outcome.name} when all is well: {asked.told}"
            ran = outcome is Outcome.RUNNING
            time.sleep(0.05)
        return None

    def _logged(self) -> list[str]:
        """What the log should not hold, of what was written since it was looked at."""
        log = self.stage.served.log()[self.read :]
        self.read += len(log)
        found = [f"the log holds {secret[:8]}..." for secret in self.stage.secrets if secret in log]
        return found + [f"logged: {line}" for line in log.splitlines() if re.search('"status": 500|Traceback', line)]


def run(
    company: Company,
    fault: Fault,
    kinds: list[str],
    dataset: str,
    *,
    in_flight: bool = False,
    unopened: bool = False,
) -> list[str]:
    """One fault, and questions of some kinds to a dataset meanwhile, all at once; whatever is wrong.

    If they are in flight, one of them is charged before the fault begins. If the dataset is unopened, the service is
    started while something is wrong, and finds out when it opens the dataset.
    """
    company.is_well = False
    found: list[str] = []
    before = company.answered_before(dataset) if not in_flight else None
    with ThreadPoolExecutor(len(kinds) + 2) as threads, contextlib.ExitStack() as suffers:
        if not in_flight:
            suffers.enter_context(suffering(company.stage, fault))
        if unopened:
            company.stage.served.kill()
            threads.submit(company.stage.restart).result(2 * PATIENCE)
        charged = company.charges(dataset)
        asking = {kind: threads.submit(company.ask, dataset, kind, wait=fault.wait) for kind in kinds}
        if before is not None:
            asking["replay"] = threads.submit(company.ask, dataset, before.kind, again=before, wait=fault.wait)
        if in_flight:
            wait_until(lambda: company.charges(dataset) > charged)
            suffers.enter_context(suffering(company.stage, fault))
        threads.submit(company.preview, dataset)
        if fault.replies:
            found += company.notices(OTHERS if fault.dataset else ())
            wait(asking.values())
            if fault.charges is not None and (more := company.charges(dataset) - charged) > fault.charges:
                found.append(f"{more} questions are charged meanwhile")
        suffers.close()
        outcomes = {kind: asked.result() for kind, asked in asking.items()}
    # Whoever waits for two seconds may be told that it runs: no machine is always fast enough. It is looked up later.
    told = fault.told | {Outcome.RUNNING}
    again = {Outcome.ANSWERED, Outcome.UNSURE}  # what is stored is read with the columns of its dataset
    allowed = {kind: told | (again if kind == "replay" else set()) for kind in outcomes}
    found += [f"{kind}: {outcome.name}" for kind, outcome in outcomes.items() if outcome not in allowed[kind]]
    return company.leaves(found)


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for something that comes by itself."""
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)
