"""The runner of the fault tests: ask while something is wrong, mend it, and look at three things.

What is charged, what the analyst sees, and whether another dataset notices.
"""

from __future__ import annotations

import itertools
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from tests.service.crash.served import API, Reply
from tests.service.faults.client import PATIENCE, TooLate, request, vanish
from tests.service.faults.faults import Fault, suffering
from tests.service.faults.model import KINDS, Asked, Journal, Outcome, read_books
from tests.service.faults.stage import OTHERS, PEOPLE, Stage

NUMBERS = itertools.count()


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

    def ask(self, dataset: str, kind: str, *, again: Asked | None = None, person: str = "") -> Outcome:
        """Ask under a new key, or again under an old one."""
        number = next(NUMBERS)
        who = person or PEOPLE[number % len(PEOPLE)]
        asked = again or self.journal.begin(who, f"{kind}-{number}", dataset, kind)
        if again is None:
            self.unsettled.append(asked)
        reply = self._send(asked)
        return self.journal.note(asked, reply, self.stage.secrets)

    def _send(self, asked: Asked) -> Reply | None:
        path = f"{API}/datasets/{asked.dataset}/releases"
        headers = {"Idempotency-Key": asked.key}
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

    def problems(self) -> list[str]:
        """Compare with the books, ask again under every key, compare again."""
        found = self.journal.problems(read_books(self.stage.ledger))
        for asked in self.unsettled:
            until = time.monotonic() + PATIENCE
            while (outcome := self.ask(asked.dataset, asked.kind, again=asked)) is Outcome.RUNNING:
                if self.stage.restarts or time.monotonic() > until:
                    break  # what a process that is gone has not stored may run elsewhere, for all that another knows
                time.sleep(0.05)
            final = {Outcome.ANSWERED, Outcome.FAILED, Outcome.LOST} | (
                {Outcome.RUNNING} if self.stage.restarts else set()
            )
            if outcome not in final:
                found.append(f"{asked.key} of {asked.dataset} is {outcome.name} when all is well")
        self.unsettled.clear()
        found += [*self.journal.problems(read_books(self.stage.ledger)), *self._logged()]
        self.journal.seen.clear()
        return sorted(set(found))

    def _logged(self) -> list[str]:
        """What the log should not hold, of what was written since it was looked at."""
        log = self.stage.served.log()[self.read :]
        self.read += len(log)
        found = [f"the log holds {secret[:8]}..." for secret in self.stage.secrets if secret in log]
        return found + [f"logged: {line}" for line in log.splitlines() if re.search('"status": 500|Traceback', line)]


def run(company: Company, fault: Fault, kinds: list[str], dataset: str) -> list[str]:
    """One fault, and questions of some kinds to a dataset meanwhile, all at once; whatever is wrong."""
    company.is_well = False
    before = company.answered_before(dataset)
    found: list[str] = []
    with ThreadPoolExecutor(len(kinds) + 2) as threads:
        with suffering(company.stage, fault):
            asking = {kind: threads.submit(company.ask, dataset, kind) for kind in kinds}
            asking["replay"] = threads.submit(company.ask, dataset, before.kind, again=before)
            previewing = threads.submit(company.preview, dataset)
            if fault.replies:
                for other in OTHERS if fault.dataset else ():
                    if (outcome := company.ask(other, "count")) is not Outcome.ANSWERED:
                        found.append(f"{other} notices: {outcome.name}")
                outcomes = {kind: asked.result() for kind, asked in asking.items()}
        previewing.result()
        outcomes = {kind: asked.result() for kind, asked in asking.items()}
    allowed = {kind: fault.told | ({Outcome.ANSWERED} if kind == "replay" else set()) for kind in outcomes}
    found += [f"{kind}: {outcome.name}" for kind, outcome in outcomes.items() if outcome not in allowed[kind]]
    for each in (dataset, *OTHERS):
        if not company.recovers(each):
            found.append(f"{each} does not recover")
    found += company.problems()
    company.is_well = not found
    return found
