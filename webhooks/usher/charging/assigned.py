"""By which quota the objects of each namespace were read: where that changes, they have to be read anew."""

from usher.authorities.gpu_quota.assignment import Undecided
from usher.authorities.gpu_quota.definitions import Quota
from usher.charging.tariffs import Tariff

_NOBODY_KNOWS = "?"
"""No name of a quota."""


class Assigned:
    """Filled by the threads that read objects."""

    def __init__(self) -> None:
        self._quotas: dict[str, str] = {}
        self._contradicted = False
        self._compared: object = None
        """What the quotas of namespaces followed from when they were last compared, and for how many."""

    def note(self, namespace: str, quota: Quota | Undecided | None) -> None:
        """An object of a namespace was read by a quota."""
        if self._quotas.setdefault(namespace, _name(quota)) != _name(quota):
            self._contradicted = True

    def changed(self, tariff: Tariff) -> bool:
        """Whether for any of the namespaces another quota holds now."""
        state = (tariff.assignment, len(self._quotas))
        if state != self._compared:
            self._compared = state
            noted = list(self._quotas.items())
            self._contradicted |= any(_name(tariff.quota(namespace)) != name for namespace, name in noted)
        return self._contradicted


def _name(quota: Quota | Undecided | None) -> str:
    if quota is None:
        return ""
    return _NOBODY_KNOWS if isinstance(quota, Undecided) else str(quota)
