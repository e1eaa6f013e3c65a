"""Reads Kueue's queues and cohorts of v1beta1 and v1beta2 (docs/domain/kueue.md#objects).

The field for a ClusterQueue's cohort is `cohort` in v1beta1 and `cohortName` in v1beta2. Both are read, because the API
server serves every object in both versions.
"""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import errors, paths, quantities
from usher.kinds.reading.known_keys import checks_of, exclusion
from usher.kinds.reading.values import Reading

UNLIMITED: Final = quantities.MAX_INT64
"""Kueue's value for an amount that does not fit into 64 bits."""

FlavorResource = tuple[str, str]
"""A flavor and a resource in it."""


class FlavorQuota(Struct, frozen=True, kw_only=True):
    """The quota of one resource in one flavor, as amounts."""

    nominal: int = 0
    borrowing: int | None = None
    """The most that the queue may borrow; None where only the cohort limits it."""
    lending: int | None = None
    """The most that the queue may lend; None where it may lend everything."""


NO_QUOTA: Final = FlavorQuota()


class ResourceGroup(Struct, frozen=True, kw_only=True):
    """Resources that a pod set gets in one flavor. Kueue tries `flavors` in this order."""

    resources: frozenset[str]
    flavors: tuple[str, ...]


class FlavorQuotas(Struct, frozen=True, kw_only=True):
    groups: tuple[ResourceGroup, ...]
    by_flavor: Mapping[FlavorResource, FlavorQuota]

    def group_of(self, resource: str) -> ResourceGroup | None:
        """The group that covers a resource; the API allows only one."""
        return next((group for group in self.groups if resource in group.resources), None)


def amount(resource: str, quantity: quantities.Quantity) -> int:
    """A quantity as Kueue counts it: thousandths of cpu, whole numbers of other resources, rounded up."""
    return quantity.milli if resource == "cpu" else quantity.value


def quantity_of(resource: str, number: int) -> quantities.Quantity:
    """The quantity of an amount."""
    return quantities.Quantity(number * (quantities.MILLI if resource == "cpu" else quantities.NANO))


def plus(left: int, right: int) -> int:
    """A sum of amounts. Unlimited plus any amount is unlimited."""
    return min(left + right, UNLIMITED)


def minus(left: int, right: int) -> int:
    """A difference of amounts, never below 0. As in Kueue, unlimited minus unlimited is 0."""
    if left == UNLIMITED:
        return 0 if right == UNLIMITED else UNLIMITED
    return max(left - right, 0)


def read(value: paths.Json, path: str, reading: Reading) -> FlavorQuotas:
    """The `resourceGroups` of a ClusterQueue or a Cohort, of any version.

    An unreadable number is recorded, and counts as 0: no quota, no borrowing, no lending. A workload that fits with
    these numbers fits with any.
    """
    groups: list[ResourceGroup] = []
    by_flavor: dict[FlavorResource, FlavorQuota] = {}
    for group_path, group in reading.items(value, path):
        flavors: list[str] = []
        for flavor_path, flavor in reading.items(group.get("flavors"), group_path + "/flavors"):
            name = reading.text(flavor.get("name"), flavor_path + "/name")
            flavors.append(name)
            for quota_path, quota in reading.items(flavor.get("resources"), flavor_path + "/resources"):
                resource = reading.text(quota.get("name"), quota_path + "/name")
                by_flavor[name, resource] = _quota(quota, resource, quota_path, reading)
        covered = reading.texts(group.get("coveredResources"), group_path + "/coveredResources")
        groups.append(ResourceGroup(resources=frozenset(covered), flavors=tuple(dict.fromkeys(flavors))))
    return FlavorQuotas(groups=tuple(groups), by_flavor=by_flavor)


def _quota(value: Mapping[str, paths.Json], resource: str, path: str, reading: Reading) -> FlavorQuota:
    return FlavorQuota(
        nominal=_amount(value.get("nominalQuota"), resource, path + "/nominalQuota", reading) or 0,
        borrowing=_amount(value.get("borrowingLimit"), resource, path + "/borrowingLimit", reading),
        lending=_amount(value.get("lendingLimit"), resource, path + "/lendingLimit", reading),
    )


def _amount(value: paths.Json, resource: str, path: str, reading: Reading) -> int | None:
    if value is None:
        return None
    try:
        quantity = quantities.parse(value)
    except errors.QuantityError as error:
        reading.unknown(path, str(error))
        return 0
    if quantity.nanos < 0:
        reading.unknown(path, f"{quantity} is negative; a quota must be 0 or more")
        return 0
    return amount(resource, quantity)


GROUP = "kueue.x-k8s.io"

_READY_REASONS = ("", "Ready")

_NO_SELECTOR = ""
"""Replaces the selector of an unreadable spec; it is an invalid selector."""


class State(Struct, frozen=True, kw_only=True):
    """Whether a queue admits workloads now. Its state may change, so it never leads to NEVER."""

    stop_policy: str = ""
    """`Hold` or `HoldAndDrain`; empty where the queue is not stopped."""
    inactive: str = ""
    """Kueue's reason why the queue is not active; empty where the queue is active, or may be."""
    message: str = ""
    """Kueue's message for the reason."""


class LocalQueue(Struct, frozen=True, kw_only=True):
    name: str
    cluster_queue: str
    state: State
    problems: tuple[str, ...] = ()


class Fungibility(Struct, frozen=True, kw_only=True):
    """When Kueue tries the next flavor, although a flavor could do."""

    borrows_last: bool = False
    """Whether it first tries the flavors in which the queue need not borrow."""
    may_preempt_first: bool = False
    """Whether it may choose a flavor where it has to preempt before one with free room."""


class ClusterQueue(Struct, frozen=True, kw_only=True):
    name: str
    cohort: str
    """Empty where the queue is not in a cohort."""
    namespace_selector: paths.Json
    """The selector as in the manifest; None selects no namespace."""
    quotas: FlavorQuotas
    state: State
    fungibility: Fungibility = Fungibility()
    has_checks: bool | None = False
    """Whether it has AdmissionChecks, which may make nodes, or send workloads to other clusters; None where unread."""
    checks: tuple[str, ...] = ()
    """Their names."""
    partial_checks: tuple[str, ...] = ()
    """The names of those for some flavors only."""
    is_reported: bool = False
    """Whether Kueue has said whether the queue is active."""
    problems: tuple[str, ...] = ()
    """Unreadable fields, each with its path."""
    stray: bool = False
    """Whether the queue may be in any cohort, because the name of its cohort is unreadable."""


class Cohort(Struct, frozen=True, kw_only=True):
    name: str
    parent: str
    """The parent cohort; empty for the root of a tree."""
    quotas: FlavorQuotas
    problems: tuple[str, ...] = ()
    stray: bool = False
    """Whether the cohort may have any parent, because the name of its parent is unreadable."""


def local_queue(name: str, value: Mapping[str, paths.Json]) -> LocalQueue:
    """A LocalQueue of any version."""
    reading = Reading()
    spec = reading.mapping(value.get("spec"), "/spec")
    return LocalQueue(
        name=name,
        cluster_queue=reading.text(spec.get("clusterQueue"), "/spec/clusterQueue"),
        state=_state(spec, value, reading),
        problems=problems_of("LocalQueue", name, reading),
    )


def _has_checks(spec: Mapping[str, paths.Json], *, is_read: bool) -> bool | None:
    """Whether AdmissionChecks hold its workloads back; None where the spec has a wrong type."""
    if spec.get("admissionChecks") or spec.get("admissionChecksStrategy"):
        return True
    return False if is_read else None


def with_checks(queue: ClusterQueue, specs: Callable[[str], Mapping[str, paths.Json]]) -> ClusterQueue:
    """The queue, inactive where its AdmissionChecks keep it so; as it is where Kueue has said whether it is active."""
    if queue.is_reported or not queue.checks or queue.state != State():
        return queue
    found = exclusion([(each, each in queue.partial_checks) for each in queue.checks], specs)
    return queue if found is None else replace(queue, state=State(inactive=found.reason, message=found.text))


def cluster_queue(name: str, value: Mapping[str, paths.Json]) -> ClusterQueue:
    """A ClusterQueue of any version."""
    reading = Reading()
    spec = reading.mapping(value.get("spec"), "/spec")
    newer = reading.text(spec.get("cohortName"), "/spec/cohortName")
    older = reading.text(spec.get("cohort"), "/spec/cohort")
    return ClusterQueue(
        name=name,
        cohort=newer or older,
        namespace_selector=_NO_SELECTOR if reading.unknowns and not spec else spec.get("namespaceSelector"),
        quotas=read(spec.get("resourceGroups"), "/spec/resourceGroups", reading),
        state=_state(spec, value, reading),
        fungibility=_fungibility(spec.get("flavorFungibility"), reading),
        has_checks=_has_checks(spec, is_read=not reading.unknowns),
        checks=tuple(name for _, name, _ in checks_of(spec)),
        partial_checks=tuple(name for _, name, is_partial in checks_of(spec) if is_partial),
        is_reported=bool(paths.elements(paths.mapping(value.get("status")).get("conditions"))),
        problems=problems_of("ClusterQueue", name, reading),
        stray=_is_unread(reading, "/spec", "/spec/cohortName", "/spec/cohort"),
    )


def _fungibility(value: paths.Json, reading: Reading) -> Fungibility:
    """KQ:apis/kueue/v1beta2/clusterqueue_types.go:456. In v1beta1, MayStopSearch is also called Borrow or Preempt."""
    place = "/spec/flavorFungibility"
    found = reading.mapping(value, place)
    borrow, preempt, preference = (
        reading.text(found.get(key), f"{place}/{key}") for key in ("whenCanBorrow", "whenCanPreempt", "preference")
    )
    return Fungibility(
        borrows_last=borrow == "TryNextFlavor",
        may_preempt_first=preempt in ("MayStopSearch", "Preempt") or preference == "PreemptionOverBorrowing",
    )


def cohort(name: str, value: Mapping[str, paths.Json]) -> Cohort:
    """A Cohort; v1alpha1 calls the parent `parent`."""
    reading = Reading()
    spec = reading.mapping(value.get("spec"), "/spec")
    newer = reading.text(spec.get("parentName"), "/spec/parentName")
    older = reading.text(spec.get("parent"), "/spec/parent")
    return Cohort(
        name=name,
        parent=newer or older,
        quotas=read(spec.get("resourceGroups"), "/spec/resourceGroups", reading),
        problems=problems_of("Cohort", name, reading),
        stray=_is_unread(reading, "/spec", "/spec/parentName", "/spec/parent"),
    )


def _is_unread(reading: Reading, *places: str) -> bool:
    return any(unknown.path in places for unknown in reading.unknowns)


def problems_of(kind: str, name: str, reading: Reading) -> tuple[str, ...]:
    """Texts about the unreadable fields of an object; each names the object and the field."""
    return tuple(f"{kind} {name}, {paths.readable(unknown.path)}: {unknown.reason}" for unknown in reading.found())


def _state(spec: Mapping[str, paths.Json], value: Mapping[str, paths.Json], reading: Reading) -> State:
    policy = reading.text(spec.get("stopPolicy"), "/spec/stopPolicy")
    reason, message = _inactive(value)
    return State(stop_policy="" if policy == "None" else policy, inactive=reason, message=message)


def _inactive(value: Mapping[str, paths.Json]) -> tuple[str, str]:
    """The reason and message of the condition Active where it is False.

    Unreadable parts of a status are ignored, because only Kueue writes it and it does not change quota.
    """
    status = value.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    for condition in conditions if isinstance(conditions, list) else ():
        if isinstance(condition, dict) and condition.get("type") == "Active" and condition.get("status") == "False":
            reason, message = condition.get("reason") or "", condition.get("message")
            if not isinstance(reason, str):
                break
            return ("Unknown" if reason in _READY_REASONS else reason, message if isinstance(message, str) else "")
    return "", ""
