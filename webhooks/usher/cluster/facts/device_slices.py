"""The devices (DRA) of a cluster, as the ResourceSlices of drivers show them.

Every version since v1alpha3 is read. Of a pool only the slices of the newest generation count, and only if the pool is
complete (k8s.io/dynamic-resource-allocation structured/internal/incubating/pools_incubating.go).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from usher import errors, paths, quantities
from usher.accelerators.device_selectors import Selector, Subject, compiled
from usher.cluster.facts.nodes import Taint
from usher.cluster.facts.store import Store
from usher.documents.cel import EvaluationError, NotEvaluated
from usher.kinds.reading.values import Absence
from usher.model import placement

SLICE: Final = ("resource.k8s.io", "ResourceSlice")
TAINT_RULE: Final = ("resource.k8s.io", "DeviceTaintRule")
CLAIM: Final = ("resource.k8s.io", "ResourceClaim")

DeviceId = tuple[str, str, str]
"""Driver, pool and name of a device."""


class _Unreadable(Exception):  # noqa: N818 - never leaves this module
    pass


class Where(NamedTuple):
    """The nodes that reach a device."""

    name: str = ""
    everywhere: bool = False
    terms: tuple[Mapping[str, paths.Json], ...] = ()

    @classmethod
    def of(cls, value: Mapping[str, paths.Json]) -> "Where":
        terms = paths.mapping(value.get("nodeSelector")).get("nodeSelectorTerms")
        return cls(paths.text(value.get("nodeName")), value.get("allNodes") is True, tuple(mappings(terms)))

    def holds(self, name: str, labels: Mapping[str, str]) -> bool:
        if self.name:
            return self.name == name
        return self.everywhere or any(placement.term_matches(each, labels=labels, name=name) for each in self.terms)


class Capacity(NamedTuple):
    value: int
    """In nanos, like all amounts here."""
    default: int | None
    values: tuple[int, ...]
    least: int | None
    most: int | None
    step: int | None

    def consumed(self, asked: int | None) -> int | None:
        """The amount that a request takes; None for an amount that the driver's policy refuses.

        Source: structured/internal/incubating/consumable_capacity.go calculateConsumedCapacity and violatesPolicy.
        """
        if asked is None:
            asked = self.value if self.default is None else self.default
        elif self.least is not None:
            asked = max(asked, self.least)
            if self.step:
                asked = self.least + -(-(asked - self.least) // self.step) * self.step
        elif self.values:
            asked = min((each for each in self.values if each >= asked), default=asked)
        has_policy = self.default is not None or bool(self.values) or self.least is not None
        if not has_policy or asked == self.default:
            return asked
        if self.least is not None and self.most is not None and asked > self.most:
            return None
        return None if self.values and asked not in self.values else asked


class Device(Struct, frozen=True, kw_only=True, eq=False):
    id: DeviceId
    subject: Subject
    capacity: tuple[tuple[str, Capacity], ...]
    taints: tuple[Taint, ...]
    consumes: tuple[tuple[tuple[str, ...], int], ...]
    """Amounts of counters, each by driver, pool, set and name."""
    where: Where | None
    """None where the slice says it for all its devices."""

    def attribute(self, name: str) -> object:
        """The value of an attribute with its domain, comparable with others; None without it."""
        domain, _, short = name.rpartition("/")
        found = self.subject.attributes.get((domain, short))
        return None if found is None else (type(found).__name__, str(found))

    def consumed(self, asked: Mapping[str, int]) -> tuple[int, ...] | None:
        """The part of each capacity that a request takes; None if even a free device could not serve it."""
        if not asked.keys() <= {name for name, _ in self.capacity}:
            return None
        found = []
        for name, each in self.capacity:
            amount = each.consumed(asked.get(name))
            if amount is None or amount > each.value:
                return None
            found.append(amount)
        return tuple(found)


class _Slice(NamedTuple):
    name: str
    where: Where | None
    devices: tuple[Device, ...]


class Pool(Struct, frozen=True, kw_only=True, eq=False):
    slices: tuple[_Slice, ...]
    driver: str
    counters: Mapping[tuple[str, ...], int]
    problem: str = ""
    """Why the scheduler takes no device of the pool; empty for a usable pool."""


class _TaintRule(NamedTuple):
    """A DeviceTaintRule: a taint for the devices that it selects."""

    selects: Mapping[str, str]
    """The driver, the pool and the name of the devices, as far as the rule names them."""
    selectors: tuple[str, ...]
    taint: Taint

    @classmethod
    def of(cls, value: paths.Object) -> "_TaintRule | None":
        """The rule; None if it taints nothing, or if it selects by a class, which v1alpha3 had and usher does not read.

        Source: DeviceTaintSelector in staging/src/k8s.io/api/resource/v1alpha3/types.go of kubernetes/kubernetes v1.35:
        without a selector no devices are matched, and the empty selector matches all.
        """
        spec = paths.mapping(value.get("spec"))
        wanted, taint = spec.get("deviceSelector"), paths.mapping(spec.get("taint"))
        if not isinstance(wanted, dict) or not is_shaped(value, _TAINT_RULE) or wanted.get("deviceClassName"):
            return None
        named = {key: paths.text(wanted[key]) for key in ("driver", "pool", "device") if wanted.get(key)}
        selectors = (paths.mapping(each.get("cel")).get("expression") for each in mappings(wanted.get("selectors")))
        found = Taint(*(paths.text(taint.get(key)) for key in ("key", "value", "effect")))
        return cls(named, tuple(map(paths.text, selectors)), found) if found.effect in _KEEPING_OFF else None

    def matches(self, device: Device) -> bool:
        own = dict(zip(("driver", "pool", "device"), device.id, strict=True))
        try:
            return self.selects.items() <= own.items() and all(
                compiled(each).matches(device.subject) for each in self.selectors
            )
        except (NotEvaluated, EvaluationError):
            return False


def _tainted(pool: Pool, rules: Sequence[_TaintRule]) -> Pool:
    """The pool with the taints of rules on its devices."""
    if not rules:
        return pool
    slices = tuple(
        each._replace(
            devices=tuple(
                replace(one, taints=(*one.taints, *(rule.taint for rule in rules if rule.matches(one))))
                for one in each.devices
            )
        )
        for each in pool.slices
    )
    return replace(pool, slices=slices)


_LONGEST_TEXT: Final = 160
_MOST_VALUES: Final = 4


def refusing(selectors: Iterable[Selector], devices: Sequence[Subject], left: list[int]) -> str:
    """The first selector that no device meets of those that earlier ones leave, and the values that it reads.

    `device.attributes["gpu.nvidia.com"].profile == "1g.5gb" (profile is 1g.10gb)`; empty where devices are left,
    where the list is empty, and where usher cannot say.
    """
    try:
        for selector in selectors if devices else ():
            selected = [each for each in devices if selector.matches(each, left)]
            if not selected:
                values = selector.values(devices)
                there = "; ".join(f"{name} is {', '.join(sorted(of)[:_MOST_VALUES])}" for name, of in values.items())
                return f"{selector.text[:_LONGEST_TEXT]}{f' ({there})' if there else ''}"
            devices = selected
    except (NotEvaluated, EvaluationError):
        return ""
    return ""


def may_select(selector: Selector | NotEvaluated, driver: str) -> bool:
    """Whether a selector may select devices of a driver that are not known."""
    try:
        return isinstance(selector, NotEvaluated) or selector.matches(Subject(driver, {}, {}))
    except (NotEvaluated, EvaluationError):
        return True


class DeviceTable:
    """The devices of a cluster, as its ResourceSlices show them."""

    def __init__(self, slices: Iterable[paths.Object], rules: Iterable[paths.Object] = ()) -> None:
        """The table of these ResourceSlices, with the taints of DeviceTaintRules."""
        grouped: defaultdict[tuple[str, str], list[paths.Object]] = defaultdict(list)
        self.problem = ""
        """Why nothing follows from the slices; empty where all can be read."""
        for value in slices:
            readable = is_shaped(value, _SLICE) and paths.mapping(paths.mapping(value.get("spec")).get("pool")).get(
                "name"
            )
            if not readable or not paths.mapping(value.get("spec")).get("driver"):
                self.problem = f"ResourceSlice {paths.text(paths.metadata(value).get('name'))} cannot be read"
                continue
            spec = paths.mapping(value.get("spec"))
            pool = paths.text(paths.mapping(spec.get("pool")).get("name"))
            grouped[paths.text(spec.get("driver")), pool].append(value)
        read = [each for value in rules if (each := _TaintRule.of(value)) is not None]
        self.pools = {key: _tainted(_read_pool(key, values), read) for key, values in sorted(grouped.items())}
        self._by_node: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        self._anywhere: list[tuple[str, str]] = []
        for key, values in grouped.items():
            names = {paths.text(paths.mapping(value.get("spec")).get("nodeName")) for value in values}
            for name in names:
                (self._by_node[name] if name else self._anywhere).append(key)

    @property
    def is_local(self) -> bool:
        """Whether each device belongs to one node."""
        return not self._anywhere

    def of_node(self, name: str, labels: Mapping[str, str]) -> Iterator[tuple[Pool, tuple[Device, ...]]]:
        """The pools with devices that a node reaches, in the order of the allocator."""
        for key in sorted({*self._by_node.get(name, ()), *self._anywhere}):
            pool, found = self.pools[key], list[Device]()
            for each in pool.slices:
                if each.where is None or each.where.holds(name, labels):
                    found += (one for one in each.devices if one.where is None or one.where.holds(name, labels))
            if found or (pool.problem and not pool.slices):
                yield pool, tuple(found)


def read_devices(facts: Store, slices: Mapping[str, paths.Object]) -> DeviceTable:
    """The devices of these ResourceSlices of the facts; made once for each state of the facts."""
    rules = facts.objects(*TAINT_RULE)
    known = () if isinstance(rules, Absence) else rules.values()
    return facts.derived("devices", [SLICE, TAINT_RULE], lambda: DeviceTable(slices.values(), known))


_ANYTHING: Final[Mapping[str, Any]] = {}
_REQUIRED: Final[list[Any]] = [{"key": str, "operator": str, "values": [str]}]
_DEVICE: Final[dict[str, Any]] = {
    "name": str,
    "attributes": {"*": {"string": str, "int": int, "bool": bool, "version": str}},
    "capacity": {"*": object},
    "allowMultipleAllocations": bool,
    "consumesCounters": [{"counterSet": str, "counters": {"*": _ANYTHING}}],
    "taints": [{"key": str, "value": str, "effect": str}],
    "nodeName": str,
    "allNodes": bool,
    "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": _REQUIRED, "matchFields": _REQUIRED}]},
}
_SLICE: Final[dict[str, Any]] = {
    "spec": {
        "driver": str,
        "pool": {"name": str, "generation": int, "resourceSliceCount": int},
        "nodeName": str,
        "allNodes": bool,
        "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": _REQUIRED, "matchFields": _REQUIRED}]},
        "perDeviceNodeSelection": bool,
        "sharedCounters": [{"name": str, "counters": {"*": _ANYTHING}}],
        "devices": [{**_DEVICE, "basic": _DEVICE}],
    }
}


_SELECTORS: Final[list[Any]] = [{"cel": {"expression": str}}]
_TAINT_RULE: Final[dict[str, Any]] = {
    "spec": {
        "deviceSelector": {"driver": str, "pool": str, "device": str, "selectors": _SELECTORS},
        "taint": {"key": str, "value": str, "effect": str},
    }
}
_KEEPING_OFF: Final = ("NoSchedule", "NoExecute")
CLASS_SHAPE: Final[dict[str, Any]] = {"selectors": _SELECTORS, "extendedResourceName": str}
ASKED_SHAPE: Final[dict[str, Any]] = {
    "selectors": _SELECTORS,
    "deviceClassName": str,
    "allocationMode": str,
    "count": int,
    "adminAccess": bool,
    "tolerations": [{"key": str, "operator": str, "value": str, "effect": str}],
    "capacity": {"requests": {}},
}
CLAIM_SHAPE: Final[dict[str, Any]] = {
    "devices": {
        "requests": [{"name": str, "exactly": {}, "firstAvailable": [{"name": str}]}],
        "constraints": [{"requests": [str], "matchAttribute": str, "distinctAttribute": str}],
    }
}


def is_shaped(value: object, shape: Any) -> bool:  # noqa: ANN401 - types, and lists and objects of them
    """Whether all fields of a shape have its types; fields may be missing, and `*` means all fields."""
    if value is None:
        return True
    if isinstance(shape, list):
        return isinstance(value, list) and all(each is not None and is_shaped(each, shape[0]) for each in value)
    if isinstance(shape, Mapping):
        return isinstance(value, dict) and all(
            is_shaped(each, shape.get(name, shape.get("*", object))) for name, each in value.items()
        )
    return isinstance(value, shape) and not (shape is int and isinstance(value, bool))


def shared_memory(table: DeviceTable, classes: Mapping[str, paths.Object]) -> dict[str, tuple[int, int | None]]:
    """Classes whose devices claims share by memory: the step to which it is rounded up, and the default, in bytes.

    A class counts only if all devices that it selects are shared in this way.
    """
    devices = [one for pool in table.pools.values() for each in pool.slices for one in each.devices]
    shared = [each for each in devices if each.subject.multiple]
    found: dict[str, tuple[int, int | None]] = {}
    for name, value in classes.items() if shared else ():
        texts = [
            paths.text(paths.mapping(each.get("cel")).get("expression"))
            for each in mappings(paths.mapping(value.get("spec")).get("selectors"))
        ]
        try:
            selectors = [compiled(text) for text in texts]
            selected = [each for each in devices if all(one.matches(each.subject) for one in selectors)]
        except (NotEvaluated, EvaluationError):
            continue
        memory = [dict(each.capacity).get("memory") for each in selected if each.subject.multiple]
        known = [each for each in memory if each is not None]
        if selected and len(known) == len(selected):
            step = max(each.step or each.least or quantities.NANO for each in known)
            default = max((each.default or 0 for each in known), default=0)
            found[name] = max(step // quantities.NANO, 1), default // quantities.NANO or None
    return found


def _read_pool(key: tuple[str, str], values: Sequence[paths.Object]) -> Pool:
    """A pool of its newest slices (pools_incubating.go GatherPools)."""
    title = f"pool {key[1]} of {key[0]}"
    try:
        specs = [(paths.text(paths.metadata(each).get("name")), paths.mapping(each.get("spec"))) for each in values]
        newest = max(integer(paths.mapping(spec.get("pool")).get("generation"), 0) for _, spec in specs)
        specs = [each for each in specs if integer(paths.mapping(each[1].get("pool")).get("generation"), 0) == newest]
        wanted = integer(paths.mapping(specs[0][1].get("pool")).get("resourceSliceCount"), 1)
        counters: dict[tuple[str, ...], int] = {
            (*key, paths.text(each.get("name")), name): nanos(paths.mapping(value).get("value"))
            for _, spec in specs
            for each in mappings(spec.get("sharedCounters"))
            for name, value in paths.mapping(each.get("counters")).items()
        }
        slices = tuple(_read_slice(name, spec, key, counters) for name, spec in sorted(specs, key=lambda each: each[0]))
    except (_Unreadable, errors.QuantityError, EvaluationError) as error:
        return Pool(slices=(), driver=key[0], counters={}, problem=f"{title} cannot be read: {error}")
    problem = "" if wanted == len(specs) else f"{title} has {len(specs)} of {wanted} slices, so its driver changes it"
    names = [device.id for each in slices for device in each.devices]
    if len({*names}) < len(names):
        problem = f"two devices of {title} have one name"
    return Pool(slices=slices, driver=key[0], counters=counters, problem=problem)


def _read_slice(
    name: str, spec: Mapping[str, paths.Json], key: tuple[str, str], counters: Mapping[tuple[str, ...], int]
) -> _Slice:
    each_its_own = spec.get("perDeviceNodeSelection") is True
    devices = [_read_device(value, key, counters, each_its_own) for value in mappings(spec.get("devices"))]
    return _Slice(name, None if each_its_own else Where.of(spec), tuple(devices))


def _read_device(
    value: Mapping[str, paths.Json],
    key: tuple[str, str],
    counters: Mapping[tuple[str, ...], int],
    each_its_own: bool,  # noqa: FBT001 - a field of the slice
) -> Device:
    """A device; until v1beta1 its fields were in `basic`, and in v1alpha3 a capacity was a quantity."""
    fields = paths.mapping(value.get("basic")) or value
    capacity = {
        name: _capacity(each if isinstance(each, dict) else {"value": each})
        for name, each in paths.mapping(fields.get("capacity")).items()
    }
    consumes = tuple(
        ((*key, paths.text(each.get("counterSet")), name), nanos(paths.mapping(amount).get("value")))
        for each in mappings(fields.get("consumesCounters"))
        for name, amount in paths.mapping(each.get("counters")).items()
    )
    if any(counter not in counters for counter, _ in consumes):
        raise _Unreadable("a device takes from a counter that the pool does not have")
    taints = [
        Taint(paths.text(each.get("key")), paths.text(each.get("value")), paths.text(each.get("effect")))
        for each in mappings(fields.get("taints"))
    ]
    subject = Subject(
        driver=key[0],
        attributes={
            _qualified(name, key[0]): _attribute(each) for name, each in paths.mapping(fields.get("attributes")).items()
        },
        capacity={_qualified(name, key[0]): quantities.Quantity(each.value) for name, each in capacity.items()},
        multiple=fields.get("allowMultipleAllocations") is True,
    )
    return Device(
        id=(*key, paths.text(value.get("name"))),
        subject=subject,
        capacity=tuple(sorted(capacity.items())),
        taints=tuple(each for each in taints if each.effect in _KEEPING_OFF),
        consumes=consumes,
        where=Where.of(fields) if each_its_own else None,
    )


def _qualified(name: str, driver: str) -> tuple[str, str]:
    domain, _, short = name.rpartition("/")
    return domain or driver, short


def _attribute(value: paths.Json) -> object:
    for form, each in paths.mapping(value).items():
        if form == "version" and isinstance(each, str):
            return quantities.Version.parse(each)
        if form == "versions" and isinstance(each, list):
            return [quantities.Version.parse(str(one)) for one in each]
        if form in ("string", "int", "bool", "strings", "ints", "bools"):
            return each
    raise _Unreadable("an attribute has no value that usher reads")


def _capacity(value: Mapping[str, paths.Json]) -> Capacity:
    if not is_shaped(value.get("requestPolicy"), {"validRange": {}, "validValues": [object]}):
        raise _Unreadable("the policy of a capacity has a field of a wrong type")
    policy = paths.mapping(value.get("requestPolicy"))
    within = paths.mapping(policy.get("validRange"))
    known = {name: nanos(each) for name, each in within.items() if each is not None}
    listed = policy.get("validValues")
    return Capacity(
        nanos(value.get("value")),
        nanos(policy["default"]) if policy.get("default") is not None else None,
        tuple(map(nanos, listed)) if isinstance(listed, list) else (),
        known.get("min"),
        known.get("max"),
        known.get("step"),
    )


def nanos(value: object) -> int:
    return quantities.parse(value).nanos


def integer(value: object, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def mappings(value: object) -> Iterator[Mapping[str, paths.Json]]:
    yield from (each for each in value if isinstance(each, dict)) if isinstance(value, list) else ()


class InUse:
    """The devices that claims have now, by the status of the claims."""

    def __init__(self, claims: Iterable[paths.Object]) -> None:
        self.whole_devices = set[DeviceId]()
        self.shares: defaultdict[DeviceId, Counter[str]] = defaultdict(Counter)
        for claim in claims:
            allocation = paths.mapping(paths.mapping(claim.get("status")).get("allocation"))
            for each in mappings(paths.mapping(allocation.get("devices")).get("results")):
                if each.get("adminAccess") is True:
                    continue
                found = (paths.text(each.get("driver")), paths.text(each.get("pool")), paths.text(each.get("device")))
                consumed = paths.mapping(each.get("consumedCapacity"))
                if consumed or each.get("shareID"):
                    for name, amount in consumed.items():
                        self.shares[found][name] += _nanos_or_none(amount) or 0
                else:
                    self.whole_devices.add(found)

    def consumed(self, pools: Iterable[Pool]) -> Iterator[tuple[tuple[str, ...], int]]:
        """The part of the counters of pools that the devices in use take."""
        for pool in pools:
            for device in (one for each in pool.slices for one in each.devices):
                if device.id in self.whole_devices or device.id in self.shares:
                    yield from device.consumes


NOTHING_IN_USE: Final = InUse(())


def _nanos_or_none(value: object) -> int | None:
    try:
        return nanos(value)
    except errors.QuantityError:
        return None
