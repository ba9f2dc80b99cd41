"""Access: who may do what. Roles are granted for one dataset, or for all of them; this table is the only place."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

ALL = "*"
"""In a grant: every dataset, those to come too."""


class Role(enum.Enum):
    """What a person is, for a dataset or for all."""

    ADMIN = "admin"
    """Manages people, tokens and grants; sees what is public of datasets, and asks nothing."""
    CUSTODIAN = "custodian"
    """Registers datasets, sets budgets, lets analysts in, reads all of the history."""
    ANALYST = "analyst"
    """Previews and releases, and sees what they asked themselves."""
    AUDITOR = "auditor"
    """Reads history, certificates and what was administered; changes and asks nothing."""


class Action(enum.Enum):
    """What a request does. The first group is about one dataset, the second about the whole service."""

    SEE = "see"
    """Name, columns, unit, budget, what is left."""
    ASK = "ask"
    """Preview, release, read one's own answers and charges."""
    READ_ALL = "read all"
    """Charges and answers of everybody, with their certificates."""
    MANAGE = "manage"
    """Budgets, descriptions, who may ask."""

    REGISTER = "register"
    """New datasets."""
    PEOPLE = "people"
    """People, their tokens and all grants."""
    OVERSEE = "oversee"
    """What was administered; whether the ledger holds; metrics."""
    SIGNED_IN = "signed in"
    """What everybody may who has a token: see themselves, check certificates and programs."""


OF_A_DATASET: dict[Action, frozenset[Role]] = {
    Action.SEE: frozenset(Role),
    Action.ASK: frozenset({Role.ANALYST}),
    Action.READ_ALL: frozenset({Role.CUSTODIAN, Role.AUDITOR}),
    Action.MANAGE: frozenset({Role.CUSTODIAN}),
}
OF_ALL: dict[Action, frozenset[Role]] = {
    Action.REGISTER: frozenset({Role.CUSTODIAN}),
    Action.PEOPLE: frozenset({Role.ADMIN}),
    Action.OVERSEE: frozenset({Role.ADMIN, Role.AUDITOR}),
}


def roles_for(action: Action) -> str:
    """Which roles may do something, in words.

    >>> roles_for(Action.MANAGE), roles_for(Action.OVERSEE)
    ('custodian', 'admin or auditor of all datasets')
    """
    named = " or ".join(sorted(role.value for role in (OF_ALL.get(action) or OF_A_DATASET[action])))
    return f"{named} of all datasets" if action in OF_ALL else named


GRANTED_BY_CUSTODIANS = frozenset({Role.ANALYST, Role.AUDITOR})
"""What a custodian may grant for their dataset, to others: nobody lets themselves ask. An admin may, and is seen to."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A role for a dataset, or for all."""

    role: Role
    dataset: str = ALL


@dataclass(frozen=True, slots=True)
class Person:
    """Who asks: a name, and what they were granted."""

    name: str
    grants: frozenset[Grant]
    token: str = ""
    """The number of the token that they came with."""

    def may(self, action: Action, dataset: str | None = None) -> bool:
        """Whether a person may do something: with a dataset, or to the service as a whole.

        >>> ann = Person("ann", frozenset({Grant(Role.ANALYST, "visits")}))
        >>> ann.may(Action.ASK, "visits"), ann.may(Action.ASK, "wages"), ann.may(Action.PEOPLE)
        (True, False, False)
        """
        if action is Action.SIGNED_IN:
            return True
        if action in OF_ALL:
            return any(grant.role in OF_ALL[action] and grant.dataset == ALL for grant in self.grants)
        if dataset is None or dataset == ALL:
            return False
        return any(grant.role in OF_A_DATASET[action] and grant.dataset in (ALL, dataset) for grant in self.grants)

    def roles(self, dataset: str) -> frozenset[Role]:
        """What a person is for a dataset."""
        return frozenset(grant.role for grant in self.grants if grant.dataset in (ALL, dataset))

    def visible(self, datasets: Iterable[str]) -> list[str]:
        """Those of the datasets that a person may see."""
        return [name for name in datasets if self.may(Action.SEE, name)]
