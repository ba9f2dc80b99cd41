"""Routes about questions: what one would cost, its release under a key, and what came of it."""

from __future__ import annotations

import asyncio
import re
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Header, Path, Query, Response

from viameter.errors import AnswerLost, ParameterError, plain
from viameter.service.access import Action
from viameter.service.api import models as m
from viameter.service.api.needing import Visit, needs
from viameter.service.config import NAME
from viameter.service.desk import Job
from viameter.service.problems import NOTHING_SPENT, UNKNOWN_OUTCOME, Problem, explained, not_found
from viameter.service.secrets import fresh_id

router = APIRouter(prefix="/datasets/{dataset}", tags=["questions"])
KEY = r"[\x21-\x7e]{1,200}"
"""A key: signs that can be seen."""
READING = 10.0
"""Seconds within which a question is understood, unless what it is read with cannot be reached."""
LARGE = 2_000
"""Cells of an answer from which on it is written in a thread of its own."""
DatasetName = Annotated[str, Path(max_length=64)]


@router.post("/preview", response_model=m.Preview)
async def preview(dataset: DatasetName, question: m.Question, visit: Visit = needs(Action.ASK)) -> dict[str, Any]:
    """What a question would cost and how wide its intervals would be. No row is read, and nothing is spent."""
    made = visit.service.desk.preview(visit.person.name, dataset, question.document())
    return await asyncio.wrap_future(made)


@router.post("/releases", response_model=m.Release, responses={202: {"model": m.Release}})
async def release(
    dataset: DatasetName,
    question: m.Question,
    response: Response,
    key: Annotated[str | None, Header(alias="Idempotency-Key", description="One key is one question.")] = None,
    prefer: Annotated[
        str | None, Header(description="`wait=5`: reply after so many seconds, whatever is known.")
    ] = None,
    visit: Visit = needs(Action.ASK),
) -> Any:
    """Spend, run, and answer. Under a key that was used for the same question, the same answer, for nothing more.

    A question that is not done after the time to wait is replied to with 202; its answer is had from Location.
    """
    service = visit.service
    chosen = read_key(key) if key is not None else fresh_id()
    # Before anything is reserved, or even read.
    service.releases.take(visit.person.name)
    wait = min(_seconds(prefer), service.config.limits.seconds + 5)
    asked = (visit.person.name, dataset, question.document(), chosen)
    with explained(NOTHING_SPENT):
        # What cannot be understood is refused here, and leaves nothing behind.
        reading = service.desk.read(*asked)
        if not reading.done():
            try:
                await asyncio.wait_for(asyncio.wrap_future(reading), READING)
            except TimeoutError:
                raise Problem(503, "busy", f"the question waits to be read. {NOTHING_SPENT}", retry_after=2) from None
        job = service.desk.ask(*asked)
    # Whoever named no key learns the one that was chosen.
    with explained(UNKNOWN_OUTCOME, key=chosen):
        return await _reply(response, visit, job, wait)


async def _reply(response: Response, visit: Visit, job: Job, wait: float) -> Any:
    """What came of a release that was begun, or that it runs still."""
    service, dataset, key = visit.service, job.asked.dataset, job.asked.key
    loop = asyncio.get_running_loop()
    future = asyncio.wrap_future(job.future)
    try:
        done = await asyncio.wait_for(asyncio.shield(future), wait)
    except TimeoutError:
        try:
            found = await loop.run_in_executor(None, _look, visit, dataset, key)
        except Problem:
            # Refused just now: who waits is told so.
            return await future
        future.add_done_callback(lambda late: late.exception())
        return _later(response, found, visit)
    except AnswerLost as lost:
        if not await loop.run_in_executor(None, service.desk.is_running_elsewhere, lost):
            raise
        return _later(response, await loop.run_in_executor(None, _look, visit, dataset, key), visit)
    # To write a large one takes long, and all others would wait for it.
    return await loop.run_in_executor(None, _written, done) if _is_large(done) else done


@router.get("/releases/{key:path}", response_model=m.Release)
def show_release(
    dataset: DatasetName,
    key: Annotated[str, Path(max_length=200)],
    by: Annotated[str | None, Query(max_length=64, description="Who asked; you, unless you may read all.")] = None,
    visit: Visit = needs(Action.SEE),
) -> Any:
    """What came of a question: running, released, failed, or lost (charged, and cut off). Nothing is spent."""
    found = look_up(visit, dataset, key, by)
    if not _is_large(found):
        return found
    visit.service.releases.take(visit.person.name)  # as much work as another release
    return _written(found)


def _is_large(found: dict[str, Any]) -> bool:
    answer = found["answer"]
    return answer is not None and len(answer["rows"]) * len(answer["columns"]) > LARGE


def _written(found: dict[str, Any]) -> Response:
    """A reply as it is sent, made in the thread that calls this."""
    return Response(m.Release.model_validate(found).model_dump_json(by_alias=True), media_type="application/json")


def look_up(visit: Visit, dataset: str, key: str, by: str | None) -> dict[str, Any]:
    """What came of a question that a person asked, or may read."""
    own = by is None or by == visit.person.name
    if not visit.may(Action.ASK if own else Action.READ_ALL) or not re.fullmatch(KEY, key):
        raise not_found()
    if by is not None and not re.fullmatch(NAME, by):
        raise not_found()
    return visit.service.desk.look(by or visit.person.name, dataset, key)


def read_key(given: str) -> str:
    """A key as somebody chose it."""
    if not re.fullmatch(KEY, given):
        raise ParameterError(f"Idempotency-Key={plain(given)}: expected 1 to 200 signs of ASCII without spaces")
    return given


def _look(visit: Visit, dataset: str, key: str) -> dict[str, Any]:
    return visit.service.desk.look(visit.person.name, dataset, key)


def _later(response: Response, found: dict[str, Any], visit: Visit) -> dict[str, Any]:
    if found["state"] == "running":
        key = found["key"]
        prefix = visit.service.config.server.prefix
        response.status_code = 202
        response.headers["Location"] = f"{prefix}/api/v1/datasets/{found['dataset']}/releases/{quote(key, safe='')}"
        response.headers["Retry-After"] = "1"
        response.headers["Preference-Applied"] = "wait"
        response.headers["X-Release-Key"] = key
    return found


def _seconds(prefer: str | None) -> float:
    found = re.search(r"\bwait=(\d{1,6})\b", prefer or "")
    return float(found[1]) if found else float("inf")
