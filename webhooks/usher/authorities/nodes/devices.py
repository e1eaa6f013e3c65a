"""Which nodes have the devices (DRA) that the claims of a pod ask for, and for how many pods at once.

It chooses devices in the order of the scheduler's allocator: pools by driver and name, slices by name, the first device
that fits (k8s.io/dynamic-resource-allocation structured/internal/incubating). Its search has a bound on steps.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import orjson

from usher import errors, memo, model, paths
from usher.accelerators.device_selectors import MOST_STEPS_OF_SEARCH, Selector, compiled
from usher.accelerators.names import CLAIM_PREFIX
from usher.authorities.knowledge import Knowledge
from usher.authorities.verdict import Room
from usher.cluster.facts import device_slices
from usher.cluster.facts.nodes import Amounts
from usher.documents.cel import EvaluationError, NotEvaluated
from usher.kinds.reading.values import Absence
from usher.model import placement

CLASS: Final = ("resource.k8s.io", "DeviceClass")
_DECIDING: Final = (device_slices.SLICE, device_slices.TAINT_RULE, CLASS)
"""The kinds that decide about the claims of pods."""

_MOST_STEPS: Final = 20_000
"""Steps of one search on one node; about a tenth of a second."""
_MOST_PICKS: Final = 160
"""Devices of one search; its recursion is as deep."""
_MOST_RESULTS: Final = 32
"""AllocationResultsMaxSize of k8s.io/api resource/v1 types.go."""
UNBOUNDED: Final = 2**62
_Now = device_slices.InUse | None


class _Option(NamedTuple):
    """The devices of a request, or of one of its alternatives."""

    names: tuple[str, ...]
    """The names by which constraints mean it."""
    selectors: tuple[Selector | NotEvaluated, ...]
    number: int | None
    """None for all devices."""
    admin: bool
    tolerations: tuple[Mapping[str, paths.Json], ...]
    amounts: Mapping[str, int]
    title: str


class _Claim(NamedTuple):
    title: str
    shared: bool
    requests: tuple[tuple[_Option, ...], ...]
    constraints: tuple[tuple[str, bool, frozenset[str]], ...] = ()
    """The attribute, whether all values must be equal (else all differ), and the requests; empty for all."""
    reachable: device_slices.Where | None = None
    """The nodes that reach its devices, if it has them already."""


class _Stop(Exception):  # noqa: N818 - ends a search
    """The allocator stops with an error, so the scheduler places the pod on no node."""


class _Unclear(Exception):  # noqa: N818 - ends a search
    """usher cannot say what a claim asks for, or whether devices suffice."""


class _Use(NamedTuple):
    """The part of a selected device that a request takes."""

    of_capacity: tuple[int, ...] = ()
    blocked: str = ""
    """Why it cannot have the device now."""
    unsure: str = ""
    """Why usher does not know whether it selects the device."""


class Claims:
    """`verdict.ClaimedDevices` by the devices of a cluster."""

    def __init__(
        self,
        table: device_slices.DeviceTable,
        classes: "_Classes",
        claims: Sequence[_Claim],
        *,
        unknown: str = "",
        stop: str = "",
    ) -> None:
        self.table, self._classes, self._claims = table, classes, claims
        self._unknown, self._stop = unknown, stop
        self._rooms: dict[object, Room] = {}
        self._steps = [MOST_STEPS_OF_SEARCH]

    @property
    def is_local(self) -> bool:
        return self.table.is_local

    @property
    def share_a_node(self) -> bool:
        return self.table.is_local and any(claim.shared for claim in self._claims)

    def most_of_all(self) -> int:
        if self._unknown or self.table.problem or any(pool.problem for pool in self.table.pools.values()):
            return UNBOUNDED
        devices = [one for pool in self.table.pools.values() for each in pool.slices for one in each.devices]
        counters = {each: amount for pool in self.table.pools.values() for each, amount in pool.counters.items()}
        return _Puzzle(self._claims, devices, counters, None, self._steps, of_one_node=False).most()

    def room(self, name: str, labels: Mapping[str, str], resources: Amounts, *, pods: int = 1) -> Room:
        return self._room(name, labels, resources, pods, None)

    def why_taken(self, in_use: device_slices.InUse, name: str, labels: Mapping[str, str], resources: Amounts) -> str:
        found = self._room(name, labels, resources, 1, in_use)
        return "" if found.sure else found.reason

    def _all_claims(self, resources: Amounts) -> list[_Claim]:
        if self._stop:
            raise _Stop(self._stop)
        if self._unknown or self.table.problem:
            raise _Unclear(self._unknown or self.table.problem)
        return [*self._claims, *([self._classes.claim_of_resources(resources)] if resources else [])]

    def _room(
        self, name: str, labels: Mapping[str, str], resources: Amounts, pods: int, in_use: device_slices.InUse | None
    ) -> Room:
        try:
            claims = self._all_claims(resources)
        except _Stop as stop:
            return Room(0, 0, str(stop), stops=True)
        except _Unclear as unclear:
            return Room(0, UNBOUNDED, str(unclear))
        if in_use is not None:
            beyond = [each for each in claims if each.reachable and not each.reachable.holds(name, labels)]
            if beyond:
                return Room(0, 0, f"{beyond[0].title} has its devices on other nodes already")
            claims = [each._replace(requests=()) if each.reachable else each for each in claims]
        found = [*self.table.of_node(name, labels)]
        problem = next((pool.problem for pool, _ in found if pool.problem and _may_come_from(pool.driver, claims)), "")
        devices = [device for pool, those in found if not pool.problem for device in those]
        counters = {each: amount for pool, _ in found for each, amount in pool.counters.items()}
        if in_use is not None:
            for each, amount in in_use.consumed(pool for pool, _ in found):
                counters[each] -= amount
        puzzle = _Puzzle(claims, devices, counters, in_use, self._steps)
        key = (puzzle.signature(), pods, problem, *sorted(resources.items()))
        if key not in self._rooms:
            if len(self._rooms) > _MOST_ROOMS:
                self._rooms.clear()
            self._rooms[key] = puzzle.room(pods, problem)
        return self._rooms[key]


_MOST_ROOMS: Final = 1024


def _may_come_from(driver: str, claims: Sequence[_Claim]) -> bool:
    """Whether unknown devices of a driver could matter. All devices of a node count for a request for all."""
    options = [option for claim in claims for request in claim.requests for option in request]
    return any(
        each.number is None or all(device_slices.may_select(one, driver) for one in each.selectors) for each in options
    )


class _Item(NamedTuple):
    """One request of one pod."""

    pod: int
    claim: int
    options: Sequence[int]


class _Puzzle:
    """The choice of devices of one node, or of all together, for the claims of several pods."""

    def __init__(  # noqa: PLR0913 - the claims, the devices, and what bounds both
        self,
        claims: Sequence[_Claim],
        devices: Sequence[device_slices.Device],
        counters: Mapping[tuple[str, ...], int],
        now: _Now,
        steps: list[int],
        *,
        of_one_node: bool = True,
    ) -> None:
        self._of_one_node, self._steps = of_one_node, steps
        in_use = device_slices.NOTHING_IN_USE if now is None else now
        self.claims, self.devices = claims, devices
        self.options = [option for claim in claims for request in claim.requests for option in request]
        self.items: list[_Item] = []
        for index, claim in enumerate(claims):
            for request in claim.requests:
                first = self.items[-1].options[-1] + 1 if self.items else 0
                self.items.append(_Item(0, index, range(first, first + len(request))))
        self.rows = [[_use_of(device, option, now, steps) for option in self.options] for device in devices]
        shares = [in_use.shares.get(device.id) for device in devices]
        self.left = [
            [each.value - (own[name] if own else 0) for name, each in device.capacity]
            for device, own in zip(devices, shares, strict=True)
        ]
        self.shared = [device.id in in_use.shares for device in devices]
        self.counters = {each: counters[each] for device in devices for each, _ in device.consumes}
        self.constraints = [(index, *each) for index, claim in enumerate(claims) for each in claim.constraints]
        self.values = [[device.attribute(attribute) for _, attribute, _, _ in self.constraints] for device in devices]

    def signature(self) -> object:
        """Equal for nodes whose devices serve the claims equally."""
        seen: dict[object, int] = {}
        rows = [tuple(str(each) if isinstance(each, _Stop) else each for each in row) for row in self.rows]
        return (
            tuple(rows),
            tuple(map(tuple, self.left)),
            tuple(tuple(each and seen.setdefault(each, len(seen) + 1) for each in values) for values in self.values),
            tuple(
                (device.subject.multiple, *((each[2:], amount) for each, amount in device.consumes))
                for device in self.devices
            ),
            tuple((each[2:], amount) for each, amount in self.counters.items()),
        )

    def room(self, pods: int, problem: str) -> Room:
        """How many pods the devices serve, up to `pods`; a problem of a pool leaves the most open."""
        limit = min(pods, _MOST_PICKS // max(sum(self._needs(each) for each in self.items), 1))
        reason = f"a pod asks for more than {_MOST_PICKS} devices"
        try:
            sure = _Search(self, hopeful=False).one_after_another(limit)
        except _Stop as stop:
            return Room(0, 0, str(stop), stops=True, weight=2)
        except _Unclear:
            sure, reason = 0, "its claims leave too many choices to try them all"
        if sure >= pods and not problem:
            return Room(sure, sure)
        most = self.most() if sure >= limit else self._tried(sure, limit)
        if problem:
            return Room(sure, UNBOUNDED, problem, stops=any(each.number is None for each in self.options))
        if most > sure:
            unsure = next(
                (each.unsure for row in self.rows for each in row if isinstance(each, _Use) and each.unsure), ""
            )
            return Room(sure, most, unsure or reason)
        return Room(sure, sure, *self._lack())

    def _tried(self, sure: int, limit: int) -> int:
        """The most pods, if `sure` of them are served one after another."""
        most = self.most()
        for pods in range(sure + 1, min(most, limit) + 1):
            items = [each for pod in range(pods) for each in self.items_of(pod)]
            try:
                if not _Search(self, hopeful=True).can_place(items):
                    return pods - 1
            except (_Unclear, _Stop):
                break
        return most

    def items_of(self, pod: int) -> list[_Item]:
        """The requests of one pod; a claim that pods share counts with the first of them."""
        return [each._replace(pod=pod) for each in self.items if pod == 0 or not self.claims[each.claim].shared]

    def matching(self, option: int, *, hopeful: bool = True) -> list[int]:
        """The devices that an option selects, or that it may select."""
        found = []
        for index, row in enumerate(self.rows):
            use = row[option]
            if isinstance(use, _Stop):
                raise use
            if use is not None and (hopeful or not use.unsure):
                found.append(index)
        return found

    def _selected(self, item: _Item) -> set[int]:
        return {index for index, row in enumerate(self.rows) for each in item.options if isinstance(row[each], _Use)}

    def _needs(self, item: _Item) -> int:
        # A request for all devices takes all of one node; of those of all nodes together it takes at least one.
        every = max(len(self._selected(item)), 1) if self._of_one_node else 1
        return min((self.options[each].number or every for each in item.options), default=0)

    def _shares(self, index: int, options: Iterable[int]) -> int:
        """How many requests one device can serve at most."""
        if not self.devices[index].subject.multiple:
            return 1
        uses = [each for each in (self.rows[index][option] for option in options) if isinstance(each, _Use)]
        return max(
            min(
                (left // one for left, one in zip(self.left[index], each.of_capacity, strict=True) if one),
                default=UNBOUNDED,
            )
            for each in uses
        )

    def most(self) -> int:
        """A bound on the pods, by the number of devices and their capacity alone."""
        own = [each for each in self.items_of(1) if not any(self.options[option].admin for option in each.options)]
        for claim in range(len(self.claims)):
            if sum(self._needs(each) for each in self.items if each.claim == claim) > _MOST_RESULTS:
                return 0
        groups = [[each] for each in own] + ([own] if len(own) > 1 else [])
        most = UNBOUNDED
        for group in groups:
            options = [option for each in group for option in each.options]
            devices = {index for each in group for index in self._selected(each)}
            supply = sum(self._shares(index, options) for index in devices)
            most = min(most, supply // max(sum(map(self._needs, group)), 1))
        return most

    def _refusing(self, option: _Option) -> str:
        selectors = [each for each in option.selectors if isinstance(each, Selector)]
        return device_slices.refusing(selectors, [each.subject for each in self.devices], self._steps)

    def _lack(self) -> tuple[str, bool, float]:
        """Why one pod more finds no devices, and the part of them that is there."""
        wanted = sum(map(self._needs, self.items))
        there = sum(min(len(self._selected(each)), self._needs(each)) for each in self.items)
        for item in self.items:
            needs, found = self._needs(item), len(self._selected(item))
            if found < needs:
                names = " or ".join(dict.fromkeys(self.options[each].title for each in item.options))
                reason = "" if found or len(item.options) > 1 else self._refusing(self.options[item.options[0]])
                has = f"its {len(self.devices)} devices do not meet {reason}" if reason else f"it has {found}"
                return f"{self.claims[item.claim].title} asks for {needs} {names}, and {has}", False, there / wanted
        blocked = next(
            (each.blocked for row in self.rows for each in row if isinstance(each, _Use) and each.blocked), ""
        )
        reason = "its devices cannot be had together: their counters, their capacity or the constraints forbid it"
        return blocked or reason, False, 1.0


class _Search:
    """A search for devices, with the state of what it has taken."""

    def __init__(self, puzzle: _Puzzle, *, hopeful: bool) -> None:
        self._puzzle, self._hopeful = puzzle, hopeful
        self._steps = 0
        self._used = set[int]()
        self._shared = [*puzzle.shared]
        self._left = [[*each] for each in puzzle.left]
        self._counters = dict(puzzle.counters)
        self._values: defaultdict[tuple[int, int], list[object]] = defaultdict(list)
        self._results: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        self._firsts: dict[int, int] = {}

    def one_after_another(self, limit: int) -> int:
        """How many pods find devices if each takes the first that fit, as the scheduler does."""
        for pod in range(limit):
            self._firsts.clear()
            if not self.can_place(self._puzzle.items_of(pod)):
                return pod
        return limit

    def can_place(self, items: Sequence[_Item], at: int = 0) -> bool:
        if at == len(items):
            return True
        return any(self._fill(items, at, option, 0, 0) for option in items[at].options)

    def _fill(self, items: Sequence[_Item], at: int, option: int, taken: int, start: int) -> bool:
        self._step()
        item, asked = items[at], self._puzzle.options[option]
        every = self._puzzle.matching(option, hopeful=self._hopeful) if asked.number is None else None
        number = len(every) if every is not None else asked.number or 1
        if not number or len(self._results[item.pod, item.claim]) + number - taken > _MOST_RESULTS:
            return False
        if taken == number:
            return self.can_place(items, at + 1)
        # Equal pods may exchange their devices, so each begins at the first device of the one before.
        if not taken and item.claim == items[0].claim and item.options == items[0].options:
            start = self._firsts.get(option, 0)
        for index in range(start, len(self._puzzle.devices)) if every is None else [every[taken]]:
            self._step()
            before = self._firsts.get(option)
            undo = self._take(item, option, index)
            if undo is None:
                continue
            if not taken:
                self._firsts[option] = index
            if self._fill(items, at, option, taken + 1, index + 1):
                return True
            if before is not None:
                self._firsts[option] = before
            undo()
        return False

    def _step(self) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise _Unclear

    def _take(self, item: _Item, option: int, index: int) -> Callable[[], None] | None:
        """Takes a device, and returns what gives it back; None where the request cannot have it."""
        use = self._free(item, option, index)
        if use is None:
            return None
        asked, device, shared = self._puzzle.options[option], self._puzzle.devices[index], self._shared[index]
        multiple, results = device.subject.multiple, self._results[item.pod, item.claim]
        counted = () if multiple and shared else device.consumes
        if any(self._counters[each] < amount for each, amount in counted):
            return None
        lists = self._values_to_extend(item, asked, index)
        if lists is None and asked.number is None:
            raise _Stop(f"a constraint of {self._puzzle.claims[item.claim].title} forbids to take all {asked.title}")
        if lists is None:
            return None
        first, capacity = not (multiple or asked.admin or index in self._used), use.of_capacity if multiple else ()
        self._change(index, counted, capacity, -1)
        self._shared[index] = shared or multiple
        if first:
            self._used.add(index)
        results.append(index)
        for found, value in lists:
            found.append(value)

        def undo() -> None:
            self._change(index, counted, capacity, 1)
            self._shared[index] = shared
            if first:
                self._used.discard(index)
            results.pop()
            for found, _ in lists:
                found.pop()

        return undo

    def _free(self, item: _Item, option: int, index: int) -> _Use | None:
        """The part that an option takes of a device that is not taken yet; None for other devices."""
        admin, multiple = self._puzzle.options[option].admin, self._puzzle.devices[index].subject.multiple
        in_use = index in self._results[item.pod, item.claim] if admin else index in self._used
        if in_use and not multiple:
            return None
        use = self._puzzle.rows[index][option]
        if isinstance(use, _Stop):
            raise use
        if use is None or use.blocked or (use.unsure and not self._hopeful):
            return None
        room = zip(self._left[index], use.of_capacity, strict=True) if multiple else ()
        return None if any(left < one for left, one in room) else use

    def _change(
        self, index: int, counted: Iterable[tuple[tuple[str, ...], int]], capacity: Sequence[int], by: int
    ) -> None:
        for each, amount in counted:
            self._counters[each] += by * amount
        for place, amount in enumerate(capacity):
            self._left[index][place] += by * amount

    def _values_to_extend(self, item: _Item, asked: _Option, index: int) -> list[tuple[list[object], object]] | None:
        """The values that constraints have seen, with the one of this device; None if a constraint forbids it."""
        found = []
        for number, (claim, _, same, names) in enumerate(self._puzzle.constraints):
            if claim != item.claim or (names and names.isdisjoint(asked.names)):
                continue
            value, before = self._puzzle.values[index][number], self._values[item.pod, number]
            if value is None or (before and before[0] != value if same else value in before):
                return None
            found.append((before, value))
        return found


def _use_of(device: device_slices.Device, option: _Option, now: _Now, steps: list[int]) -> _Use | _Stop | None:
    """The part of a device that an option takes; None where it does not select the device."""
    if now is not None and not option.admin and device.id in now.whole_devices:
        return _Use(blocked=f"device {device.id[2]} is in use")
    unsure = ""
    for selector in option.selectors:
        try:
            if isinstance(selector, NotEvaluated):
                raise selector
            if not selector.matches(device.subject, steps):
                return None
        except NotEvaluated as error:
            unsure = f"a selector of {option.title} has {error}, which usher does not evaluate"
        except EvaluationError as error:
            return _Stop(f"a selector of {option.title} fails on device {device.id[2]} of {device.id[1]}: {error}")
    amounts = device.consumed(option.amounts)
    if amounts is None:
        return None
    kept_off = placement.untolerated(option.tolerations, device.taints) if now is not None else []
    blocked = f"{option.title} does not tolerate the taint {kept_off[0]} of device {device.id[2]}" if kept_off else ""
    return _Use(amounts, blocked, unsure)


class _Classes:
    """The device classes of a cluster, by name and by the resource that they serve."""

    def __init__(self, classes: Mapping[str, paths.Object]) -> None:
        self._classes = classes
        self._serving: defaultdict[str, list[str]] = defaultdict(list)
        for name, value in sorted(classes.items()):
            self._serving[paths.text(paths.mapping(value.get("spec")).get("extendedResourceName"))].append(name)

    def option(self, names: tuple[str, ...], asked: Mapping[str, paths.Json]) -> _Option:
        name = paths.text(asked.get("deviceClassName"))
        if not name or not device_slices.is_shaped(asked, device_slices.ASKED_SHAPE):
            raise _Unclear("a request of a claim has a field of a wrong type")
        if name not in self._classes:
            raise _Stop(f"DeviceClass {name} does not exist")
        if not device_slices.is_shaped(self._classes[name], {"spec": device_slices.CLASS_SHAPE}):
            raise _Unclear(f"DeviceClass {name} has a field of a wrong type")
        spec = paths.mapping(self._classes[name].get("spec"))
        texts = [
            paths.text(paths.mapping(each.get("cel")).get("expression"))
            for selectors in (spec.get("selectors"), asked.get("selectors"))
            for each in device_slices.mappings(selectors)
        ]
        amounts = paths.mapping(paths.mapping(asked.get("capacity")).get("requests"))
        return _Option(
            names=names,
            selectors=tuple(map(_selector, texts)),
            number=None if asked.get("allocationMode") == "All" else device_slices.integer(asked.get("count"), 1) or 1,
            admin=asked.get("adminAccess") is True,
            tolerations=tuple(device_slices.mappings(asked.get("tolerations"))),
            amounts={each: device_slices.nanos(value) for each, value in amounts.items()},
            title=name,
        )

    def claim(self, each: model.DeviceClaim) -> _Claim:
        if not device_slices.is_shaped(each.spec, device_slices.CLAIM_SHAPE):
            raise _Unclear(f"{each.title} has a field of a wrong type")
        devices = paths.mapping(paths.mapping(each.spec).get("devices"))
        requests = []
        for request in device_slices.mappings(devices.get("requests")):
            name = paths.text(request.get("name"))
            first = [*device_slices.mappings(request.get("firstAvailable"))]
            exactly = request.get("exactly")
            forms = first or [exactly if isinstance(exactly, dict) else request]
            requests.append(
                tuple(
                    self.option((name, f"{name}/{paths.text(form.get('name'))}") if first else (name,), form)
                    for form in forms
                )
            )
        constraints = tuple(
            (
                paths.text(one.get("matchAttribute") or one.get("distinctAttribute")),
                bool(one.get("matchAttribute")),
                frozenset(map(str, names if isinstance(names := one.get("requests"), list) else ())),
            )
            for one in device_slices.mappings(devices.get("constraints"))
        )
        where = device_slices.Where.of({"nodeSelector": each.node_selector, "allNodes": each.node_selector is None})
        reachable = where if each.allocated else None
        return _Claim(each.title, bool(each.shared), tuple(requests), constraints, reachable)

    def claim_of_resources(self, resources: Amounts) -> _Claim:
        """The claim that the scheduler makes for extended resources (extendeddynamicresources.go)."""
        requests = []
        for resource, asked in sorted(resources.items()):
            names = self._serving.get(resource, [resource.removeprefix(CLAIM_PREFIX)])
            if len(names) > 1:
                raise _Unclear(f"the DeviceClasses {' and '.join(names)} both serve {resource}")
            requests.append((self.option((resource,), {"deviceClassName": names[0], "count": asked}),))
        return _Claim("it", shared=False, requests=tuple(requests))


def claims_of(pod_set: model.PodSet, resources: frozenset[str], known: Knowledge) -> Claims | None:
    """The claims of a pod; None where the devices of nodes are not known.

    Args:
        resources: the extended resources of the pod that device classes may serve.
    """
    slices, classes = known.facts.objects(*device_slices.SLICE), known.facts.objects(*CLASS)
    if isinstance(slices, Absence) or isinstance(classes, Absence):
        return None
    table = device_slices.read_devices(known.facts, slices)
    made = known.derived("device classes", [CLASS], lambda: _Classes(classes))
    kept: dict[bytes, Claims] = known.derived("claims of pods", _DECIDING, dict)
    digest = memo.digest(
        orjson.dumps(
            [[each.title, each.spec, each.shared, each.allocated, each.node_selector] for each in pod_set.claims]
        )
    )
    key = memo.digest(digest + str(pod_set.device_claims).encode() + ",".join(sorted(resources)).encode())
    if key not in kept:
        if len(kept) > _MOST_ROOMS:
            kept.clear()
        kept[key] = _read_claims(pod_set, resources, table, made)
    return kept[key]


def _read_claims(
    pod_set: model.PodSet, resources: frozenset[str], table: device_slices.DeviceTable, classes: _Classes
) -> Claims:
    by_operator = [
        each.name for each in pod_set.requests if each.route is model.Route.CLAIM and each.name not in resources
    ]
    if len(pod_set.claims) < pod_set.device_claims or (by_operator and not pod_set.device_claims):
        return Claims(table, classes, (), unknown="it claims devices, and usher does not know what the claims ask for")
    try:
        return Claims(table, classes, [classes.claim(each) for each in pod_set.claims])
    except _Stop as stop:
        return Claims(table, classes, (), stop=str(stop))
    except (errors.QuantityError, _Unclear) as error:
        return Claims(table, classes, (), unknown=f"a claim of the pod cannot be read: {error}")


def _selector(text: str) -> Selector | NotEvaluated:
    try:
        return compiled(text)
    except NotEvaluated as error:
        return error
