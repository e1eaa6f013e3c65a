"""What is to be decided: an object, how it was made, and which identities of usher.yaml the user has.

Users and groups come from the API server alone.
"""

from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache

from usher import paths
from usher.authorities.authority import QuotaRefusal
from usher.config import models
from usher.facts.store import Store
from usher.reading import lookup


class Operation(StrEnum):
    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Who asks, as the API server says."""

    name: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be decided: an object, and how it comes about."""

    value: paths.Object
    operation: Operation = Operation.CREATE
    namespace: str = ""
    """The namespace to assume where the object names none."""
    old_value: paths.Object | None = None
    objects: lookup.Lookup = lookup.NOTHING
    """Where to look up what the object refers to by name."""
    facts: Store | None = None
    """What is known of the cluster, where it is another one than the evaluator's."""
    place: models.Place = "admission"
    sub_resource: str = ""
    refusal: QuotaRefusal | None = None
    """Where somebody has tried to charge a quota for it, and could not."""
    user: User | None = None
    """None where nobody asks, as in CI."""


class Identities:
    """Answers for one configuration; kept, because the same few controllers make most pods."""

    def __init__(self, config: models.Config) -> None:
        self._known = {**models.DEFAULT_IDENTITIES, **config.identities}
        self._kept = lru_cache(maxsize=1024)(self._of)

    def of(self, user: User | None) -> tuple[str, ...] | None:
        """Names of the user's identities, sorted; None where there is no user, as in CI."""
        return None if user is None else self._kept(user)

    def _of(self, user: User) -> tuple[str, ...]:
        return tuple(sorted(name for name, identity in self._known.items() if _has(identity, user)))


def _has(identity: models.Identity, user: User) -> bool:
    return any(fnmatchcase(user.name, pattern) for pattern in identity.users) or any(
        fnmatchcase(group, pattern) for pattern in identity.groups for group in user.groups
    )
