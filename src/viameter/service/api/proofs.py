"""Routes about proofs: certificates, programs, and whether the ledger adds up."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter

from viameter.errors import LedgerUnavailable
from viameter.ledger import verify
from viameter.service.access import Action
from viameter.service.api import models as m
from viameter.service.api.needing import Visit, needs
from viameter.service.checking import check_submitted
from viameter.service.problems import Problem
from viameter.service.programs import verify_submitted

router = APIRouter(tags=["proofs"])


@router.post("/certificates/check", response_model=m.Checked)
def check_certificate(body: m.CertificateBody, visit: Visit = needs(Action.SIGNED_IN)) -> dict[str, Any]:
    """Derive every number of a certificate again, by the checker that shares no code with what made it."""
    visit.service.releases.take(visit.person.name)
    return check_submitted(json.dumps(body.certificate))


@router.post("/programs/verify", response_model=m.Verdicts)
def verify_program(body: m.ProgramBody, visit: Visit = needs(Action.SIGNED_IN)) -> dict[str, Any]:
    """Prove or refute programs. Their text is parsed and never executed; it takes up to some seconds."""
    return {"verdicts": verified(visit, body.source, body.bound)}


@router.get("/ledger/verify", response_model=m.LedgerChecked)
def verify_ledger(visit: Visit = needs(Action.OVERSEE)) -> dict[str, Any]:
    """Read the whole ledger and add everything up anew."""
    visit.service.releases.take(visit.person.name)
    report = verify(visit.service.ledger)
    for problem in report.problems[:1]:
        if isinstance(problem, LedgerUnavailable):  # nobody knows whether it holds
            raise problem
    return {"holds": report.ok, "entries": report.entries, "report": str(report)}


def verified(visit: Visit, source: str, bound: str | None) -> list[dict[str, Any]]:
    """Verdicts on submitted programs; so many requests at once, and others are told to come back."""
    limits = visit.service.config.limits
    visit.service.releases.take(visit.person.name)
    free = visit.service.verifications
    if not free.acquire(blocking=False):
        raise Problem(503, "busy", "other programs are being verified: try again", retry_after=5)
    try:
        return verify_submitted(source, bound=bound, seconds=limits.verify_seconds)
    finally:
        free.release()
