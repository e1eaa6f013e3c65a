"""Finds the workload that was charged for an object with an owner."""

import time
from collections.abc import Callable
from typing import Final

from usher import errors, paths
from usher.authorities.gpu_quota.live import object_metadata, observer
from usher.authorities.gpu_quota.live.holdings import MOST_OWNERS, Holdings
from usher.authorities.gpu_quota.live.observer import ChargeOf
from usher.authorities.gpu_quota.reconciliation import Holding
from usher.cluster import api as cluster_api
from usher.cluster.api import Lists, ObjectPath
from usher.kinds.registry import WORKLOADS

_TOO_LATE: Final = "its owners could not be read in time"


class Owners:
    """Follows owner references from an object to the workload that was charged for it."""

    def __init__(
        self,
        api: Lists,
        holdings: Holdings,
        charge_of: ChargeOf,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Takes the API server, the existing objects, a function that gives their charges, and a clock in seconds."""
        self._api = api
        self._holdings = holdings
        self._charge_of = charge_of
        self._clock = clock

    def charged_owner(self, value: paths.Object, *, until: float | None = None) -> Holding | None:
        """The topmost charged workload above an object; None where no owner was charged.

        A new controller makes pods at once, so an owner that no watch has shown yet is read.

        Raises:
            ClusterError: the API server does not answer, or it is later than `until`.
        """
        lowest = object_metadata.owner_uid(value)
        below = value
        for _ in range(MOST_OWNERS):
            uid = object_metadata.owner_uid(below)
            if not uid or self._holdings.get(uid) is not None:
                break
            if until is not None and self._clock() > until:
                raise errors.ClusterError(_TOO_LATE)
            found = self._read(below)
            if found is None:
                break
            held = observer.held(observer.kept(found, self._charge_of))
            if held is not None:
                self._holdings.put_read(held)
            below = found
        return self._holdings.charged_owner(lowest, object_metadata.namespace(value)) if lowest else None

    def _read(self, owned: paths.Object) -> paths.Object | None:
        """The owner that an object names, if it exists with that uid and its kind is known."""
        reference = object_metadata.controller(owned) or {}
        api_version, kind, name, uid = (reference.get(key) for key in ("apiVersion", "kind", "name", "uid"))
        if not (isinstance(api_version, str) and isinstance(kind, str) and isinstance(name, str)):
            return None
        group, _, version = api_version.rpartition("/")
        known = WORKLOADS.get((group, kind))
        if known is None or not known.plural or version not in known.versions:
            return None
        place = object_metadata.namespace(owned)
        at = ObjectPath(group=group, version=version, plural=known.plural, namespace=place, name=name)
        found = cluster_api.read_object(self._api, at, uid=uid)
        # The answer to a read of one object need not name its kind.
        return None if found is None else {**found, "apiVersion": api_version, "kind": kind}
