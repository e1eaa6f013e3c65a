"""Watches every kind that makes pods, and keeps only the owner and the charge of each object."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from usher import paths
from usher.authorities.gpu_quota import entries
from usher.authorities.gpu_quota.charge import ByClasses
from usher.authorities.gpu_quota.ledger import Holding
from usher.authorities.gpu_quota.live import holdings as live_holdings
from usher.authorities.gpu_quota.live.holdings import Held, Holdings
from usher.cluster.api import Target
from usher.cluster.watching import Reflecting, Reflector, StreamingApi
from usher.kinds import registry
from usher.kinds.kind import FactKind, Key

_ORDINARY: Final = ("cpu", "memory", "ephemeral-storage", "hugepages-")
"""The prefixes of resources other than accelerators."""

ChargeOf = Callable[[paths.Object], ByClasses]
"""Gives the charge of an object; empty where no quota holds for its namespace, or it is undecided which."""


def kinds(charge_of: ChargeOf) -> list[FactKind]:
    """All kinds that make pods; their objects are trimmed by `kept`."""
    return [
        FactKind(
            group=kind.group,
            versions=kind.versions,
            kind=kind.kind,
            plural=kind.plural,
            keep=lambda value: kept(value, charge_of),
            cluster_scoped=kind.cluster_scoped,
        )
        for kind in registry.WORKLOADS.values()
        if kind.plural and not kind.is_template
    ]


def kept(value: paths.Object, charge_of: ChargeOf) -> paths.Object:
    """The identity, owner and charge of an object; only the uid of a pod without accelerators."""
    if value.get("kind") == "Pod" and not _may_ask_accelerators(value):
        return {"kind": "Pod", "metadata": {"uid": live_holdings.metadata_text(value, "uid")}}
    result: paths.Object = {
        "apiVersion": value.get("apiVersion"),
        "kind": value.get("kind"),
        "metadata": {key: live_holdings.metadata_text(value, key) for key in ("name", "namespace", "uid")},
        "owner": live_holdings.owner_uid(value),
    }
    charge = charge_of(value)
    if charge:
        result["charge"] = [[list(classes), dict(of_units)] for classes, of_units in charge.items()]
        result["finished"] = registry.is_finished(value)
    return result


def held(value: paths.Object) -> Held | None:
    """The holding of a trimmed object; None where it neither holds accelerators nor has an owner."""
    uid, owner, charge = live_holdings.metadata_text(value, "uid"), paths.text(value.get("owner")), value.get("charge")
    if not uid or (charge is None and (value.get("kind") == "Pod" or not owner)):
        return None
    return Held(
        owner=owner,
        holding=Holding(
            uid=uid,
            group=paths.text(value.get("apiVersion")).rpartition("/")[0],
            kind=paths.text(value.get("kind")),
            namespace=live_holdings.namespace_of(value),
            name=live_holdings.metadata_text(value, "name"),
            charge=_charge(charge),
            finished=value.get("finished") is True,
        ),
    )


class HoldingsSink:
    """Writes the objects of one kind into holdings, until the holdings are cleared."""

    def __init__(self, holdings: Holdings) -> None:
        self._holdings = holdings
        self._epoch = holdings.epoch
        self._mine: set[str] = set()

    def replace(self, values: Iterable[paths.Object]) -> None:
        """Takes all objects of the kind."""
        there = [found for value in values if (found := held(value)) is not None]
        for gone in self._mine - {found.holding.uid for found in there}:
            self._holdings.remove(gone, epoch=self._epoch)
        self._mine = {found.holding.uid for found in there}
        for found in there:
            self._holdings.put(found, epoch=self._epoch)

    def put(self, value: paths.Object) -> None:
        found = held(value)
        if found is None:
            self.remove(value)
            return
        self._mine.add(found.holding.uid)
        self._holdings.put(found, epoch=self._epoch)

    def remove(self, value: paths.Object) -> None:
        uid = live_holdings.metadata_text(value, "uid")
        self._mine.discard(uid)
        self._holdings.remove(uid, epoch=self._epoch)

    def lacks(self) -> None:
        self.replace([])


class Observer:
    """Runs a watch for each kind, and ends all watches together."""

    def __init__(self, connect: Callable[[], StreamingApi], holdings: Holdings) -> None:
        """Takes a function that makes a connection. The observer owns its connection and ends all streams of it."""
        self._api = connect()
        self._holdings = holdings
        self._reflecting = Reflecting(self._api, purpose="observing")
        self._reflectors: dict[Key, Reflector] = {}

    def observe(self, kinds: Iterable[FactKind]) -> None:
        """Watches these kinds from now on, in addition to the watched kinds."""
        new = {
            kind.key: Reflector(self._api, Target(kind=kind), HoldingsSink(self._holdings))
            for kind in kinds
            if kind.key not in self._reflectors
        }
        # Other threads read the map while this one adds to it.
        self._reflectors = {**self._reflectors, **new}
        self._reflecting.start(new.values())

    @property
    def ready(self) -> bool:
        """Whether there are kinds to watch and all of their objects have been listed once."""
        return bool(self._reflectors) and all(reflector.settled for reflector in self._reflectors.values())

    @property
    def current(self) -> bool:
        """Whether changes of all kinds that were listed arrive at once."""
        return all(reflector.watching for reflector in self._reflectors.values() if reflector.known)

    @property
    def problems(self) -> dict[str, str]:
        """Current problems, by kind."""
        return {each.target.label: each.problem for each in self._reflectors.values() if each.problem}

    def stop(self, *, within: float = 5.0) -> None:
        """Ends all watches, and waits at most `within` seconds for their threads."""
        self._reflecting.stop(within=within)


def _may_ask_accelerators(pod: paths.Object) -> bool:
    """Whether a pod must be normalised. Most pods of a cluster ask only for cpu and memory."""
    spec, metadata = paths.mapping(pod.get("spec")), paths.mapping(pod.get("metadata"))
    containers = [each for key in ("containers", "initContainers") for each in paths.elements(spec.get(key))]
    named = (
        name
        for container in containers
        for field in ("limits", "requests")
        for name in paths.mapping(paths.mapping(paths.mapping(container).get("resources")).get(field))
    )
    return (
        bool(spec.get("resourceClaims"))
        or any(not name.startswith(_ORDINARY) for name in named)
        or any("gpu" in key or "devices" in key for key in paths.mapping(metadata.get("annotations")))
    )


def _charge(value: paths.Json) -> ByClasses:
    found: dict[tuple[str, ...], Mapping[str, int]] = {}
    for entry in paths.elements(value):
        match entry:
            case [list(classes), dict(of_units)]:
                units = {unit: nanos for unit, nanos in of_units.items() if isinstance(nanos, int)}
                found[tuple(map(str, classes))] = units
    return entries.tidy(found)
