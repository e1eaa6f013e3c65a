"""Who answers for an object that names an owner: what is known to exist, and else what the API server says now."""

import re
import time
from collections.abc import Callable
from typing import Final

from usher import errors, paths
from usher.authorities.gpu_quota.reconciliation import Holding
from usher.charging import observing
from usher.charging.holdings import MOST_OWNERS, Holdings
from usher.charging.observing import Tariff
from usher.cluster.api import Lists, root
from usher.kinds.registry import WORKLOADS

_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)
"""A name that may stand in the path of a request; whoever writes a reference may write anything."""

_VERSION: Final = re.compile(r"v[0-9a-z]{1,62}", re.ASCII)

_UNSEEN: Final = (403, 404)
"""Of what is not there, and of what we may not see, nothing is known."""


class Owners:
    """Follows owner references from an object to the workload that was charged for it."""

    def __init__(
        self,
        api: Lists,
        holdings: Holdings,
        tariff: Callable[[], Tariff],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Takes whom to ask, what is known to exist, what objects are charged, and a clock in seconds."""
        self._api = api
        self._holdings = holdings
        self._tariff = tariff
        self._clock = clock

    def answering(self, value: paths.Object, *, until: float | None = None) -> Holding | None:
        """The topmost charged workload above an object; None where there is none that exists.

        A controller makes pods the moment after it was made itself: what no watch has told of yet is read.

        Raises:
            ClusterError: the API server does not answer, or it is later than `until`.
        """
        lowest = observing.owner(value)
        below = value
        for _ in range(MOST_OWNERS):
            uid = observing.owner(below)
            if not uid or self._holdings.get(uid) is not None:
                break
            if until is not None and self._clock() > until:
                raise errors.ClusterError("its owners could not be read in time")
            found = self._read(below)
            if found is None:
                break
            held = observing.held(observing.kept(found, self._tariff()))
            if held is not None:
                self._holdings.put_read(held)
            below = found
        return self._holdings.answering(lowest, observing.namespace(value)) if lowest else None

    def _read(self, owned: paths.Object) -> paths.Object | None:
        """The owner that an object names, if it is there with that uid and of a kind that we know."""
        reference = observing.controller(owned) or {}
        api_version, kind, name, uid = (reference.get(key) for key in ("apiVersion", "kind", "name", "uid"))
        if not (isinstance(api_version, str) and isinstance(kind, str) and isinstance(name, str)):
            return None
        group, _, version = api_version.rpartition("/")
        known = WORKLOADS.get((group, kind))
        if known is None or not known.plural or version not in known.versions:
            return None
        found = read(self._api, known.plural, group=group, version=version, of=owned, name=name, uid=uid)
        # Whatever comes back stands where it was looked for.
        return None if found is None else {**found, "apiVersion": api_version, "kind": kind}


def read(  # noqa: PLR0913 - what names an object, all named
    api: Lists, plural: str, *, group: str, version: str, of: paths.Object, name: str, uid: paths.Json
) -> paths.Object | None:
    """An object beside another one, in its namespace; None where it is not there, has another uid, or is not for us.

    Raises:
        ClusterError: the API server does not answer, or cannot.
    """
    namespace = observing.namespace(of)
    if not (_NAME.fullmatch(namespace) and _NAME.fullmatch(name) and _VERSION.fullmatch(version)):
        return None
    answer = api.get(f"{root(group, version)}/namespaces/{namespace}/{plural}/{name}")
    if answer.status in _UNSEEN:
        return None
    if answer.status != 200:
        raise errors.ClusterError(f"{plural} {namespace}/{name} cannot be read: {answer.message}")
    found = answer.value.get("metadata")
    same = isinstance(found, dict) and uid in (None, found.get("uid"))
    return {**answer.value} if same else None
