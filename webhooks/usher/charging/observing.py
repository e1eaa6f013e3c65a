"""What exists in a cluster, kind by kind: each object is read as it comes, and only what it holds is kept."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Protocol

from usher import paths
from usher.authorities.gpu_quota import entries
from usher.authorities.gpu_quota.charge import ByClasses
from usher.authorities.gpu_quota.reconciliation import Holding
from usher.charging.holdings import Held, Holdings
from usher.kinds import registry
from usher.kinds.kept_fields import FactKind

_ORDINARY: Final = ("cpu", "memory", "ephemeral-storage", "hugepages-")
"""Prefixes of resources of which no pod gets an accelerator."""


class Tariff(Protocol):
    """What objects are charged."""

    def of(self, value: paths.Object) -> ByClasses:
        """What an object takes of the quota of its namespace; nothing where none is for it, or nobody can tell."""
        ...


def kinds(tariff: Callable[[], Tariff]) -> list[FactKind]:
    """All kinds that make pods, each trimmed to what its objects hold by the tariff that is in service then."""

    def keep(value: paths.Object) -> paths.Object:
        return kept(value, tariff())

    return [
        FactKind(
            group=kind.group,
            versions=kind.versions,
            kind=kind.kind,
            plural=kind.plural,
            keep=keep,
            cluster_scoped=kind.cluster_scoped,
        )
        for kind in registry.WORKLOADS.values()
        if kind.plural and not kind.is_template
    ]


def kept(value: paths.Object, tariff: Tariff) -> paths.Object:
    """Identity, owner and charge of an object; of a pod that holds nothing, as most do, no more than its uid."""
    metadata = _mapping(value.get("metadata"))
    if value.get("kind") == "Pod" and not _may_hold(value):
        return {"kind": "Pod", "metadata": {"uid": metadata.get("uid")}}
    result: paths.Object = {
        "apiVersion": value.get("apiVersion"),
        "kind": value.get("kind"),
        "metadata": {key: metadata.get(key) for key in ("name", "namespace", "uid")},
        "owner": owner(value),
    }
    charge = tariff.of(value)
    if charge:
        result["charge"] = [[list(classes), dict(of_units)] for classes, of_units in charge.items()]
        result["finished"] = registry.is_finished(value)
    return result


def held(value: paths.Object) -> Held | None:
    """What an object holds, from what was kept of it; None where nobody needs to know."""
    metadata, charge = _mapping(value.get("metadata")), value.get("charge")
    uid, above = _text(metadata.get("uid")), _text(value.get("owner"))
    is_pod = value.get("kind") == "Pod"
    if not uid or (charge is None and (is_pod or not above)):
        return None
    group = _text(value.get("apiVersion")).rpartition("/")[0]
    return Held(
        owner=above,
        holding=Holding(
            uid=uid,
            group=group,
            kind=_text(value.get("kind")),
            namespace=_text(metadata.get("namespace")),
            name=_text(metadata.get("name")),
            charge=_charge(charge),
            finished=value.get("finished") is True,
        ),
    )


def owner(value: paths.Object) -> str:
    """The uid of the controlling owner that an object names; empty where it names none."""
    reference = controller(value)
    return _text(reference.get("uid")) if reference is not None else ""


def namespace(value: paths.Object) -> str:
    """That of an object; empty where it stands in none."""
    return _text(_mapping(value.get("metadata")).get("namespace"))


def controller(value: paths.Object) -> Mapping[str, paths.Json] | None:
    """The owner reference of the controller; anybody can write one."""
    references = _mapping(value.get("metadata")).get("ownerReferences")
    for reference in references if isinstance(references, list) else []:
        if isinstance(reference, dict) and reference.get("controller") is True:
            return reference
    return None


class InHoldings:
    """A sink for the objects of one kind."""

    def __init__(self, holdings: Holdings) -> None:
        """Takes where to put them, for as long as not everything there is forgotten."""
        self._holdings = holdings
        self._epoch = holdings.epoch
        self._mine: set[str] = set()

    def replace(self, values: Iterable[paths.Object]) -> None:
        """Takes all that exist of the kind."""
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
        uid = _text(_mapping(value.get("metadata")).get("uid"))
        self._mine.discard(uid)
        self._holdings.remove(uid, epoch=self._epoch)

    def lacks(self) -> None:
        self.replace([])


def _may_hold(pod: paths.Object) -> bool:
    """Whether it is worth to read a pod: most pods of a cluster ask for nothing but cpu and memory."""
    spec, metadata = _mapping(pod.get("spec")), _mapping(pod.get("metadata"))
    containers = [each for key in ("containers", "initContainers") for each in _list(spec.get(key))]
    named = (
        name
        for container in containers
        for field in ("limits", "requests")
        for name in _mapping(_mapping(_mapping(container).get("resources")).get(field))
    )
    return (
        bool(spec.get("resourceClaims"))
        or any(not name.startswith(_ORDINARY) for name in named)
        or any("gpu" in key or "devices" in key for key in _mapping(metadata.get("annotations")))
    )


def _charge(value: paths.Json) -> ByClasses:
    found: dict[tuple[str, ...], Mapping[str, int]] = {}
    for entry in _list(value):
        match entry:
            case [list(classes), dict(of_units)]:
                units = {unit: nanos for unit, nanos in of_units.items() if isinstance(nanos, int)}
                found[tuple(map(str, classes))] = units
    return entries.tidy(found)


def _mapping(value: paths.Json) -> Mapping[str, paths.Json]:
    return value if isinstance(value, dict) else {}


def _list(value: paths.Json) -> list[paths.Json]:
    return value if isinstance(value, list) else []


def _text(value: paths.Json) -> str:
    return value if isinstance(value, str) else ""
