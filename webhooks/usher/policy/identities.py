"""Who asks: the identities of usher.yaml that a user has.

Users and groups come from the API server, never from an object.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

from usher.config import models


class Identities:
    """Answers for one configuration; kept, because the same few controllers make most pods."""

    def __init__(self, config: models.Config) -> None:
        self._known = {**models.DEFAULT_IDENTITIES, **config.identities}
        self._kept = lru_cache(maxsize=1024)(self._of)

    def of(self, user: str, groups: Sequence[str]) -> tuple[str, ...]:
        """Names of the identities, sorted."""
        return self._kept(user, tuple(groups))

    def _of(self, user: str, groups: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(sorted(name for name, identity in self._known.items() if _has(identity, user, groups)))


def _has(identity: models.Identity, user: str, groups: tuple[str, ...]) -> bool:
    return any(fnmatchcase(user, pattern) for pattern in identity.users) or any(
        fnmatchcase(group, pattern) for pattern in identity.groups for group in groups
    )
