"""State: what the service keeps beside the ledger, in SQLite or PostgreSQL. No secret is in it, only hashes of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from viameter.errors import ParameterError, ViameterError, plain
from viameter.service.access import Grant, Person, Role
from viameter.service.database import Database
from viameter.service.secrets import fresh_id, fresh_secret, fresh_token, hashed, is_token
from viameter.service.tables import ACTS, DATASETS, GRANTS, LOGINS, PEOPLE, QUESTIONS, TOKENS

RESERVED = "service"
"""Who did what the service does by itself; nobody else is called so."""
SAME_ROWS = (
    "these rows, or some of them, are registered as {!r}: a second budget for the same rows would be spent on top of "
    "the first"
)

# Asked with every request, and so written once.
_WHO = (
    sa.select(TOKENS, PEOPLE.c.active, GRANTS.c.role, GRANTS.c.dataset)
    .join(PEOPLE, PEOPLE.c.name == TOKENS.c.person)
    .outerjoin(GRANTS, GRANTS.c.person == TOKENS.c.person)
)
_WHO_HAS = _WHO.where(TOKENS.c.hash == sa.bindparam("hash"))
_WHO_IS = _WHO.where(TOKENS.c.id == sa.bindparam("id"))
_REMEMBER = sa.insert(QUESTIONS)


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token that was given out; the token itself is not."""

    id: str
    person: str
    label: str
    created: str
    expires: str
    revoked: str | None

    def is_valid(self, now: str) -> bool:
        """Whether it still opens anything."""
        return self.revoked is None and now < self.expires


@dataclass(frozen=True, slots=True)
class Retired:
    """That a dataset is not asked any more: since when, by whose decision, and why."""

    at: str
    by: str
    why: str


@dataclass(frozen=True, slots=True)
class Registered:
    """A dataset as it was registered."""

    name: str
    document: Mapping[str, Any]
    registered: str
    by: str
    place: str
    """Where its rows were then."""
    retired: Retired | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it was asked, under its key."""

    by: str
    key: str
    dataset: str
    document: Mapping[str, Any]
    asked: str


@dataclass(frozen=True, slots=True)
class Act:
    """Something that was administered: when, by whom, what, and about what."""

    at: str
    by: str
    what: str
    about: Mapping[str, Any]


def now() -> str:
    """The time, as it is kept: sorted as text, it is sorted by time."""
    return _written(datetime.now(UTC))


def _written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


class State(Database):
    """The tables, open: what is asked of them, and each change with the act that tells of it."""

    # People and what they were granted.

    def people(self) -> list[dict[str, Any]]:
        """Everybody, with what they were granted."""
        granted: dict[str, list[Grant]] = {}
        for row in self._read(sa.select(GRANTS)):
            granted.setdefault(row.person, []).append(Grant(Role(row.role), row.dataset))
        rows = self._read(sa.select(PEOPLE).order_by(PEOPLE.c.name))
        return [
            {"name": row.name, "created": row.created, "active": row.active, "grants": granted.get(row.name, [])}
            for row in rows
        ]

    def person(self, name: str) -> dict[str, Any] | None:
        """One of them."""
        return next((one for one in self.people() if one["name"] == name), None)

    def add_person(self, name: str, grants: Iterable[Grant], *, by: str) -> None:
        """A new person. Names are not used twice, nor in other capitals: in the ledger they say who asked."""
        with self._write() as connection:
            _lock_person(connection, name)
            taken = connection.execute(sa.select(PEOPLE.c.name).where(_same_name(PEOPLE.c.name, name))).scalar()
            if taken is not None or name.lower() == RESERVED:
                raise ParameterError(f"name={plain(name)}: there is somebody of that name, {taken or RESERVED!r}")
            connection.execute(sa.insert(PEOPLE).values(name=name, created=now(), active=True))
            self._grant(connection, name, grants)
            self._act(connection, by, "added a person", {"person": name, "grants": _listed(grants)})

    def set_active(self, name: str, active: bool, *, by: str) -> None:
        """Let somebody in again, or shut them out with all their tokens."""
        with self._write() as connection:
            _require_person(connection, name)
            connection.execute(sa.update(PEOPLE).where(PEOPLE.c.name == name).values(active=active))
            self._act(connection, by, "let in again" if active else "shut out", {"person": name})

    def set_grants(self, name: str, grants: Iterable[Grant], *, by: str) -> None:
        """What somebody is granted from now on, in all."""
        wanted = list(grants)
        with self._write() as connection:
            _require_person(connection, name)
            connection.execute(sa.delete(GRANTS).where(GRANTS.c.person == name))
            self._grant(connection, name, wanted)
            self._act(connection, by, "set grants", {"person": name, "grants": _listed(wanted)})

    def set_roles(self, name: str, grants: Iterable[Grant], *, among: Iterable[Role], dataset: str, by: str) -> None:
        """Which of these roles somebody has for a dataset from now on; other roles stay, whatever they are by now."""
        wanted = list(grants)
        with self._write() as connection:
            _require_person(connection, name)
            theirs = (GRANTS.c.person == name) & (GRANTS.c.dataset == dataset)
            connection.execute(sa.delete(GRANTS).where(theirs & GRANTS.c.role.in_([one.value for one in among])))
            self._grant(connection, name, wanted)
            about = {"person": name, "grants": _listed(wanted), "dataset": dataset}
            self._act(connection, by, "set grants", about)

    @staticmethod
    def _grant(connection: sa.Connection, name: str, grants: Iterable[Grant]) -> None:
        rows = [{"person": name, "role": one.role.value, "dataset": one.dataset} for one in dict.fromkeys(grants)]
        if rows:
            connection.execute(sa.insert(GRANTS), rows)

    # Tokens and logins.

    def add_token(
        self, person: str, *, label: str, days: float, by: str, number: str | None = None
    ) -> tuple[str, Token]:
        """A new token, which nobody will see again; under a number, it is made once."""
        secret, number = fresh_token(), number or fresh_id()
        began = datetime.now(UTC)
        made = Token(number, person, label, _written(began), _written(began + timedelta(days=days)), None)
        with self._write() as connection:
            _require_person(connection, person)
            if connection.execute(sa.select(TOKENS.c.id).where(TOKENS.c.id == number)).first() is not None:
                raise MadeAlready
            values = {"person": person, "label": label, "created": made.created, "expires": made.expires}
            connection.execute(sa.insert(TOKENS).values(id=number, hash=hashed(secret), **values))
            about = {"person": person, "token": number, "label": label, "expires": made.expires}
            self._act(connection, by, "made a token", about)
        return secret, made

    def tokens(self, person: str) -> list[Token]:
        """The tokens of a person, the newest first."""
        wanted = sa.select(TOKENS).where(TOKENS.c.person == person).order_by(TOKENS.c.created.desc(), TOKENS.c.id)
        return [_token(row) for row in self._read(wanted)]

    def revoke(self, person: str, number: str, *, by: str) -> bool:
        """Make a token worthless, at once, and with it whoever signed in by it; False if there is none."""
        with self._write() as connection:
            place = (TOKENS.c.id == number) & (TOKENS.c.person == person)
            if connection.execute(sa.select(TOKENS).where(place)).first() is None:
                return False
            connection.execute(sa.update(TOKENS).where(place & TOKENS.c.revoked.is_(None)).values(revoked=now()))
            connection.execute(sa.delete(LOGINS).where(LOGINS.c.token == number))
            self._act(connection, by, "revoked a token", {"person": person, "token": number})
        return True

    def revoke_all(self, person: str, *, by: str) -> None:
        """Make all tokens of a person worthless."""
        for token in self.tokens(person):
            if token.revoked is None:
                self.revoke(person, token.id, by=by)

    def who_has(self, token: str) -> Person | None:
        """Whose token it is; None if it is nobody's, was revoked or has expired."""
        return self._who(_WHO_HAS, hash=hashed(token)) if is_token(token) else None

    def who_signed_in(self, secret: str) -> Person | None:
        """Who signed in with this cookie; None if nobody did, or their token is worth nothing any more."""
        rows = self._read(sa.select(LOGINS).where(LOGINS.c.hash == hashed(secret)))
        return self._who(_WHO_IS, id=rows[0].token) if rows and now() < rows[0].expires else None

    def _who(self, wanted: sa.Select[Any], **which: str) -> Person | None:
        rows = self._read(wanted, **which)
        if not rows or not rows[0].active or not _token(rows[0]).is_valid(now()):
            return None
        grants = frozenset(Grant(Role(row.role), row.dataset) for row in rows if row.role is not None)
        return Person(rows[0].person, grants, rows[0].id)

    def sign_in(self, person: Person, *, hours: float) -> str:
        """The secret of a cookie for whoever showed a token."""
        secret = fresh_secret()
        expires = _written(datetime.now(UTC) + timedelta(hours=hours))
        with self._write() as connection:
            connection.execute(sa.delete(LOGINS).where(LOGINS.c.expires < now()))
            connection.execute(sa.insert(LOGINS).values(hash=hashed(secret), token=person.token, expires=expires))
        return secret

    def sign_out(self, secret: str) -> None:
        """Make a cookie worthless."""
        with self._write() as connection:
            connection.execute(sa.delete(LOGINS).where(LOGINS.c.hash == hashed(secret)))

    # Datasets.

    def datasets(self) -> list[Registered]:
        """All that were registered, by name."""
        rows = self._read(sa.select(DATASETS).order_by(DATASETS.c.name))
        return [_registered(row) for row in rows]

    def dataset(self, name: str) -> Registered | None:
        """One of them."""
        rows = self._read(sa.select(DATASETS).where(DATASETS.c.name == name))
        return _registered(rows[0]) if rows else None

    def add_dataset(self, name: str, document: Mapping[str, Any], *, place: str, by: str) -> None:
        """A new dataset; refused if its name is taken, or its rows have a budget under another name."""
        with self._write() as connection:
            if not self._is_file:
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext('viameter datasets'))"))
            taken = connection.execute(sa.select(DATASETS.c.name).where(_same_name(DATASETS.c.name, name))).scalar()
            if taken is not None:
                raise ParameterError(f"name={plain(name)}: there is a dataset of that name, {taken!r}")
            same = connection.execute(sa.select(DATASETS.c.name).where(DATASETS.c.place == place)).scalar()
            if same is not None:
                raise ParameterError(SAME_ROWS.format(same))
            values = {"place": place, "registered": now(), "by": by, "document": json.dumps(document)}
            connection.execute(sa.insert(DATASETS).values(name=name, **values))
            self._act(connection, by, "registered a dataset", {"dataset": name})

    def drop_dataset(self, name: str, *, by: str) -> None:
        """Take back a dataset that could not be given a budget."""
        with self._write() as connection:
            connection.execute(sa.delete(DATASETS).where(DATASETS.c.name == name))
            self._act(connection, by, "took a registration back", {"dataset": name})

    def describe_dataset(self, name: str, document: Mapping[str, Any], *, by: str, changed: Iterable[str]) -> None:
        """Say something else of a dataset."""
        with self._write() as connection:
            connection.execute(sa.update(DATASETS).where(DATASETS.c.name == name).values(document=json.dumps(document)))
            self._act(connection, by, "described a dataset", {"dataset": name, "changed": sorted(changed)})

    def set_retired(self, name: str, retired: bool, *, by: str, why: str) -> None:
        """Let a dataset be asked no more, or again; refused if it is so already. Its rows stay registered."""
        with self._write() as connection:
            at = now()
            said = json.dumps(asdict(Retired(at, by, why))) if retired else None
            # As one statement: of two who do it at once, one is told that it was done.
            is_other = DATASETS.c.retired.is_(None) if retired else DATASETS.c.retired.is_not(None)
            changed = sa.update(DATASETS).where((DATASETS.c.name == name) & is_other).values(retired=said)
            if connection.execute(changed).rowcount != 1:
                raise ParameterError(f"the dataset {plain(name)} is {'' if retired else 'not '}retired")
            self._act(connection, by, "retired a dataset" if retired else "reinstated a dataset",
                      {"dataset": name, "why": why})  # fmt: skip

    # Questions.

    def remember(self, asked: Asked) -> Asked | None:
        """Keep a question under its key; what is there under that key stays, and is returned."""
        values = {"document": json.dumps(asked.document), "asked": asked.asked, "dataset": asked.dataset}
        try:
            with self._write() as connection:
                connection.execute(_REMEMBER, {"by": asked.by, "key": asked.key, **values})
        except sa.exc.IntegrityError:
            return self.asked(asked.by, asked.key)
        return None

    def forget(self, by: str, key: str) -> None:
        """Let go of a question that was not charged."""
        with self._write() as connection:
            connection.execute(sa.delete(QUESTIONS).where((QUESTIONS.c.by == by) & (QUESTIONS.c.key == key)))

    def asked(self, by: str, key: str) -> Asked | None:
        """The question under a key."""
        rows = self._read(sa.select(QUESTIONS).where((QUESTIONS.c.by == by) & (QUESTIONS.c.key == key)))
        return _asked(rows[0]) if rows else None

    # What was administered.

    def act(self, by: str, what: str, about: Mapping[str, Any]) -> None:
        """Write down something that was administered."""
        with self._write() as connection:
            self._act(connection, by, what, about)

    @staticmethod
    def _act(connection: sa.Connection, by: str, what: str, about: Mapping[str, Any]) -> None:
        connection.execute(sa.insert(ACTS).values(at=now(), by=by, what=what, about=json.dumps(dict(about))))

    def acts(self, *, last: int) -> list[Act]:
        """What was administered, the newest first."""
        rows = self._read(sa.select(ACTS).order_by(ACTS.c.id.desc()).limit(last))
        return [Act(row.at, row.by, row.what, json.loads(row.about)) for row in rows]


def _listed(grants: Iterable[Grant]) -> list[str]:
    return sorted(f"{one.role.value} of {one.dataset}" for one in grants)


def _token(row: Any) -> Token:
    return Token(row.id, row.person, row.label, row.created, row.expires, row.revoked)


def _registered(row: Any) -> Registered:
    retired = None if row.retired is None else Retired(**json.loads(row.retired))
    return Registered(row.name, json.loads(row.document), row.registered, row.by, row.place, retired)


def _asked(row: Any) -> Asked:
    return Asked(row.by, row.key, row.dataset, json.loads(row.document), row.asked)


def _lock_person(connection: sa.Connection, name: str) -> None:
    """Whoever changes something of a person waits for others who do, and so does whoever adds one of that name."""
    if connection.dialect.name == "postgresql":
        key = {"name": f"viameter {name.lower()}"}
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext(:name))"), key)


def _require_person(connection: sa.Connection, name: str) -> None:
    _lock_person(connection, name)
    if connection.execute(sa.select(PEOPLE).where(PEOPLE.c.name == name)).first() is None:
        raise UnknownPerson(name)


def _same_name(column: sa.Column[Any], name: str) -> sa.ColumnElement[bool]:
    """Whether a name is another one but for capitals: people would take the two for one. Names are of ASCII."""
    return sa.func.lower(column) == name.lower()


class MadeAlready(ViameterError):
    """A token was asked for twice by the same form."""

    def __init__(self) -> None:
        super().__init__("this token was made and shown already: make another one")


class DatasetRetired(ViameterError):
    """A dataset that is not asked any more."""

    def __init__(self, name: str, retired: Retired) -> None:
        self.name, self.retired = name, retired
        super().__init__(
            f"the dataset {plain(name)} was retired at {retired.at} by {retired.by} ({retired.why}): it is not asked "
            "any more. What was asked of it is in its history"
        )


class UnknownPerson(ViameterError):
    """Nobody of that name is known to the service."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"there is nobody called {plain(name)}")
