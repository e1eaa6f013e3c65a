"""Possible savings: idle workloads, smaller MIG profiles, spot nodes, and fewer replicas at night.

The largest saving comes first. Of several for one workload the largest that can be made now adds up. A profile that
nodes offer comes first. Without one the saving names the GPU to divide, which is work of the platform team, so it does
not add up.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import model
from usher.accelerators import boards, mig
from usher.accelerators.mig import Board, Variant
from usher.audit.document import Saving
from usher.audit.gather import estate, gpus
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import CapacityType, Estate
from usher.audit.gather.gpus import WHOLE_GPU, Offer, Offers
from usher.audit.standing.situation import HalfStarted, half_started
from usher.audit.usage import gpu_hours
from usher.audit.usage.gpu_hours import HOURS_OF_DAY, Entry
from usher.audit.usage.saving_cases import Candidate, Case, hours_text, percent_text, saving_of
from usher.audit.usage.series import Grid
from usher.config.models import Audit
from usher.config.selection import seconds

IDLE_WORKLOAD: Final = "idle workload"

_MOSTLY: Final = 0.5
"""Idle share of the measured GPU-hours above which a workload has too many replicas."""

_NEARLY_ALWAYS: Final = 0.8
"""Idle share of the measured GPU-hours above which the whole workload may be stopped."""

_STOPPED: Final = "kubeflow-resource-stopped"
"""The annotation by which Kubeflow stops a Notebook (kinds/job_groups.py)."""

_MOST_OF_THE_TIME: Final = 0.95

_NOT_USED: Final = 0.01
"""Mean activity below which the workload needs no replica."""


def find_idle(case: Case) -> Candidate | None:
    tally = case.tally
    least = _MOSTLY if case.replicas_path else _NEARLY_ALWAYS
    if not case.holding or not case.is_measured or tally.idle < least * tally.measured:
        return None
    kept = _replicas_to_keep(case)
    part = 1 - kept / len(case.holding)
    if part <= 0:
        return None
    idle = case.config.idle
    found = saving_of(
        case,
        kind=IDLE_WORKLOAD,
        evidence=(
            (
                f"{hours_text(tally.idle)} of {hours_text(tally.measured)} measured GPU-hours were idle: activity "
                f"below {percent_text(idle.below)} for at least {seconds(idle.lasting) / 60:.0f} minutes"
            ),
            (
                f"Mean activity {percent_text(tally.activity or 0)}; at most "
                f"{percent_text(tally.activity_at(_MOST_OF_THE_TIME) or 0)} in 95 % of the GPU-hours"
            ),
            f"{len(case.holding)} {'pod holds' if len(case.holding) == 1 else 'pods hold'} GPUs now",
            *_other_half(case),
        ),
        change=_idle_change(case, kept),
        gpu_hours=tally.idle * part,
        paid_hours=case.each(entry.tally.idle * part for entry in case.entries),
    )
    return Candidate(saving=found)


def _half(case: Case) -> HalfStarted | None:
    return half_started(case.workload, datetime.fromtimestamp(case.grid.end, UTC))


def _other_half(case: Case) -> Iterator[str]:
    """The reason why a gang is idle: its other pods have no room."""
    half = _half(case)
    if half is not None:
        waiting = half.waiting
        number = f"{len(waiting)} of its pods {'waits' if len(waiting) == 1 else 'wait'}"
        yield f"It is half of a gang: {number} for a node, and without them the others only hold their GPUs"
        yield from _room_for_others(case, waiting)


def _room_for_others(case: Case, waiting: Sequence[estate.Pod]) -> Iterator[str]:
    """How many of the waiting pods the free devices of its boards have room for."""
    if not case.offers.free_known:
        return
    products = {entry.node_type.product for entry in case.entries}
    for resource, number in sorted(
        {(name, int(amount.number)) for pod in waiting for name, amount in pod.devices.items()}
    ):
        offers = [each for each in case.offers.all if each.resource == resource and each.node.product in products]
        fitting = sum(each.free // number for each in offers) if number else 0
        yield (
            f"Free now on nodes with its board: {sum(each.free for each in offers)} {resource}, which is room for "
            f"{fitting} of the {len(waiting)} pods with {number} each"
        )


def _replicas_to_keep(case: Case) -> int:
    """The replicas that do the work of 95 % of the time at the highest target activity; 0 if there was no work."""
    activity = case.tally.activity_at(_MOST_OF_THE_TIME) or 0.0
    if not case.replicas_path or (case.tally.activity or 0.0) < _NOT_USED:
        return 0
    return min(max(1, math.ceil(activity * len(case.holding) / case.config.targets.activity.high)), len(case.holding))


def _idle_change(case: Case, kept: int) -> str:
    name = str(case.workload.identity)
    if case.workload.identity.kind == "Notebook":
        return f"Stop {name}: set the annotation {_STOPPED} to the time of now. Its volumes stay"
    if case.replicas_path:
        return f"Set {case.replicas_path} of {name} from {len(case.holding)} to {kept}"
    if case.suspend_path and _half(case) is not None:
        return (
            f"Set {case.suspend_path} of {name} to true, and start it again in a queue that starts all its pods "
            "together (Kueue, Volcano). To stop it as a whole frees the most"
        )
    if case.suspend_path:
        return f"Set {case.suspend_path} of {name} to true, or delete it"
    stays = " Its volumes stay" if case.workload.role is model.Role.INTERACTIVE else ""
    return f"Delete {name} after its owner agrees.{stays}".rstrip(".")


SMALLER_MIG_PROFILE: Final = "smaller MIG profile"

MARGIN: Final = 1.2
"""Factor on the peak of memory: room for peaks outside the window."""

_USABLE: Final = 0.95
"""Usable share: a device has a little less than its slices. `nvidia-smi mig -lgip` lists 9.5 GiB for 1g.10gb of an
A100-80.
"""

_DIVIDING_ROLES: Final = frozenset({model.Role.INFERENCE, model.Role.INTERACTIVE, model.Role.SERVICE, model.Role.BATCH})
"""Training needs whole GPUs: MIG devices have no NVLink and no peer-to-peer access (docs/domain/mig.md)."""

_MOST_NODES: Final = 3
"""The most nodes that one sentence names; it counts the others."""


class _Choice(Struct, frozen=True, kw_only=True):
    """A profile, and the nodes with the same board that offer it; empty if no node does."""

    offer: mig.Offer
    profile: mig.Profile
    on: tuple[Offer, ...] = ()

    @property
    def free(self) -> int:
        return sum(each.free for each in self.on)


def find_mig_profile(case: Case) -> Candidate | None:
    tally = case.tally
    board = _divided_board(case)
    activity = tally.activity_at(_MOST_OF_THE_TIME)
    if board is None or activity is None or not tally.memory_peak or not case.is_measured:
        return None
    fitting = _fitting(board, activity=activity, peak=tally.memory_peak, memory=tally.memory_total)
    if not fitting:
        return None
    choice = _offered(case, board, fitting) or _Choice(offer=fitting[0], profile=fitting[0].names[0])
    profile, shape = choice.profile, choice.offer.shape
    compute = shape.compute / board.compute_slices
    freed = 1 - max(compute, shape.memory / board.memory_slices)
    found = saving_of(
        case,
        kind=SMALLER_MIG_PROFILE,
        evidence=(
            (
                f"Memory peak {tally.memory_peak / 1024:.1f} GiB on one device; {profile} of {board.name} has about "
                f"{_profile_memory(board, choice.offer, tally.memory_total) / 1024:.1f} GiB, which leaves a margin of "
                f"{percent_text(MARGIN - 1)} or more"
            ),
            (
                f"Activity at most {percent_text(activity)} in 95 % of the GPU-hours; {profile} has "
                f"{shape.compute} of {board.compute_slices} compute slices ({percent_text(compute)})"
            ),
            _where_offered(case, board, choice),
        ),
        change=_profile_change(case, choice),
        gpu_hours=tally.allocated * freed,
        paid_hours=case.each(entry.tally.allocated * freed for entry in case.entries),
        needs="" if choice.on else _divided_gpus(case, board, choice),
    )
    return Candidate(saving=found, takes=choice.on, number=len(case.holding))


def _offered(case: Case, board: Board, fitting: Sequence[mig.Offer]) -> _Choice | None:
    """The smallest profile with enough free devices, else the smallest that nodes offer."""
    found = []
    for offer in fitting:
        for profile in offer.names:
            on = case.offers.of(board, profile.resource)
            if on:
                found.append(_Choice(offer=offer, profile=profile, on=on))
    enough = [each for each in found if each.free >= len(case.holding)]
    return next(iter([*enough, *found]), None)


def _where_offered(case: Case, board: Board, choice: _Choice) -> str:
    resource = choice.profile.resource
    if choice.on:
        number = sum(each.devices for each in choice.on)
        rest = f"{choice.free} of them free now" if case.offers.free_known else "not known how many are free"
        return f"Nodes with this board offer {number} {resource}, {rest}: {_node_names(choice.on)}"
    others = case.offers.elsewhere(board, resource)
    free = sum(each.free for each in others)
    beside = f"; {free} are free on nodes with another board: {_node_names(others)}" if free else ""
    return f"No node with this board offers {resource}{beside}"


def _node_names(offers: Sequence[Offer]) -> str:
    return fields.listing(list(dict.fromkeys(each.node.name for each in offers)), most=_MOST_NODES)


def _profile_change(case: Case, choice: _Choice) -> str:
    resource = choice.profile.resource
    place = f"In {case.templates} of {case.workload.identity}"
    queue = case.workload.queue
    quota = f". Its queue {queue} needs quota for {resource}" if queue else ""
    let = "let nodeSelector, affinity and tolerations admit nodes that offer it"
    if choice.on:
        let = f"let nodeSelector, affinity and tolerations admit {_node_names(choice.on)}"
    if choice.on and all(each.node.partition == resource for each in choice.on):
        return f"{place}, {let}: there {WHOLE_GPU}: 1 is one {choice.profile} (MIG strategy single)"
    return f"{place}, replace resources.limits {WHOLE_GPU}: 1 by {resource}: 1, and {let}{quota}"


def _divided_gpus(case: Case, board: Board, choice: _Choice) -> str:
    """A sentence: which GPUs the platform team has to divide, and whether they are free."""
    each = choice.offer.shape.maximum
    number = -(-len(case.holding) // each)
    gpus = "1 GPU" if number == 1 else f"{number} GPUs"
    free = max(case.offers.of(board, WHOLE_GPU), key=lambda offer: offer.free, default=None)
    where = f"no node with this board has {'a free GPU' if number == 1 else f'{gpus} free'} now, so first empty {gpus}"
    if not case.offers.free_known:
        where = "this audit did not read all pods, so it does not know which are free"
    elif free is not None and free.free >= number:
        where = f"node {free.node.name} has {free.free} free {WHOLE_GPU}"
    return (
        f"The platform team divides {gpus} of a node with {board.name} into {choice.profile} (nvidia.com/mig.config; "
        f"{each} fit on one GPU): {where}"
    )


def _divided_board(case: Case) -> Board | None:
    """The board of all its GPUs, if each of its pods holds one whole GPU of a board that MIG can divide."""
    if case.workload.role not in _DIVIDING_ROLES or not case.holding:
        return None
    for pod in case.holding:
        node = case.nodes.get(pod.node)
        shared = node is None or node.shared_by > 1 or node.partition
        if shared or {name: amount.number for name, amount in pod.devices.items()} != {WHOLE_GPU: 1}:
            return None
    found = {boards.by_product(entry.node_type.product) for entry in case.entries if not entry.profile}
    known = found.pop() if len(found) == 1 and not any(entry.profile for entry in case.entries) else None
    return known.board if known is not None else None


def _fitting(board: Board, *, activity: float, peak: float, memory: float) -> list[mig.Offer]:
    """The profiles with enough room for the work, the smallest first."""
    fitting = [
        offer
        for offer in board.offers
        if offer.names[0].variant is Variant.PLAIN
        and offer.shape.compute < board.compute_slices
        and activity <= offer.shape.compute / board.compute_slices
        and peak * MARGIN <= _profile_memory(board, offer, memory)
    ]
    return sorted(fitting, key=lambda offer: (offer.shape.compute, offer.shape.memory))


def _profile_memory(board: Board, offer: mig.Offer, memory: float) -> float:
    """The memory of a profile in MiB: its slices of the measured memory of the device, or else of the board's."""
    return _USABLE * (memory or board.memory * 1024) * offer.shape.memory / board.memory_slices


SPOT_NODES: Final = "spot"

_INTERRUPTIBLE_ROLES: Final = frozenset({model.Role.TRAINING, model.Role.BATCH})

_SPOT_LABELS: Final = (
    ("karpenter.sh/capacity-type", "spot"),
    ("eks.amazonaws.com/capacityType", "SPOT"),
    ("cloud.google.com/gke-spot", "true"),
    ("kubernetes.azure.com/scalesetpriority", "spot"),
)


def find_spot(case: Case) -> Candidate | None:
    """A saving of money only: the GPU-hours stay."""
    if case.workload.role not in _INTERRUPTIBLE_ROLES or not case.holding:
        return None
    saved: dict[int, float] = {}
    pairs: set[tuple[str, float, float]] = set()
    for index, entry in enumerate(case.entries):
        if entry.price is None or entry.node_type.capacity_type is not CapacityType.ON_DEMAND:
            continue
        spot = gpus.price_per_hour(case.config.prices, replace(entry.node_type, capacity_type=CapacityType.SPOT))
        if spot is not None and spot < entry.price and entry.tally.allocated:
            saved[index] = entry.tally.allocated * (1 - spot / entry.price)
            pairs.add((entry.node_type.product, entry.price, spot))
    if not saved:
        return None
    currency = case.config.prices.currency
    hours = sum(case.entries[index].tally.allocated for index in saved)
    found = saving_of(
        case,
        kind=SPOT_NODES,
        evidence=(
            f"{hours_text(hours)} GPU-hours on on-demand nodes, by a workload for {case.workload.role}",
            *(
                f"{product}: {price:g} {currency} on demand, {spot:g} {currency} on spot nodes, by audit.prices"
                for product, price, spot in sorted(pairs)
            ),
            "Spot nodes may end at any time: it has to write checkpoints, or repeat little work",
        ),
        change=(
            f"In {case.templates} of {case.workload.identity}, add nodeSelector {_spot_selector(case.nodes.values())}, "
            "and a toleration for the taint of these nodes"
        ),
        gpu_hours=0,
        paid_hours=saved,
        needs=_missing_spot_nodes(case, {product for product, _, _ in pairs}),
    )
    return Candidate(saving=found)


def _missing_spot_nodes(case: Case, products: set[str]) -> str:
    there = {node.product for node in case.nodes.values() if node.capacity_type is CapacityType.SPOT}
    missing = ", ".join(sorted(products - there))
    return f"The platform team adds spot nodes with {missing}: the cluster has none of them now" if missing else ""


def _spot_selector(nodes: Iterable[estate.Node]) -> str:
    """The label that selects the spot nodes of the cluster; Karpenter's if the cluster has no spot nodes."""
    for node in nodes:
        for key, value in _SPOT_LABELS:
            if node.capacity_type is CapacityType.SPOT and node.labels.get(key) == value:
                return f"{key}: {value}"
    return ": ".join(_SPOT_LABELS[0])


FEWER_AT_NIGHT: Final = "fewer replicas at night"

_FEWEST_DAYS: Final = 3
_SHORTEST: Final = 4
_LONGEST: Final = 16
"""Hours in a row. A service that is quiet for longer has too many replicas all day, which is another saving."""

_SERVICE_ROLES: Final = frozenset({model.Role.INFERENCE, model.Role.SERVICE})


def find_nights(case: Case) -> Candidate | None:
    replicas = len(case.holding)
    if case.workload.role not in _SERVICE_ROLES or not case.replicas_path or replicas < 2:
        return None
    if case.days < _FEWEST_DAYS or not case.is_measured:
        return None
    needed = _needed_replicas(case, replicas)
    busiest = max((count for count in needed if count is not None), default=0)
    quiet = _longest_run([count is not None and count <= busiest / 2 for count in needed])
    if not _SHORTEST <= len(quiet) <= _LONGEST:
        return None
    high = case.config.targets.activity.high
    kept = max(needed[hour] or 0 for hour in quiet)
    part = 1 - kept / replicas
    saved = [sum(entry.tally.allocated_by_hour[hour] for hour in quiet) * part for entry in case.entries]
    first, end = quiet[0], (quiet[-1] + 1) % HOURS_OF_DAY
    busy = [_activity_of_hour(case, hour) for hour in range(HOURS_OF_DAY) if hour not in quiet]
    found = saving_of(
        case,
        kind=FEWER_AT_NIGHT,
        evidence=(
            (
                f"Mean activity from {first:02}:00 to {end:02}:00 UTC at most "
                f"{percent_text(max(_activity_of_hour(case, hour) or 0 for hour in quiet))}, else up to "
                f"{percent_text(max((each for each in busy if each is not None), default=0))}"
            ),
            f"{kept} of {replicas} replicas do this work at {percent_text(high)} activity",
        ),
        change=(
            f"Set {case.replicas_path} of {case.workload.identity} from {replicas} to {kept} between {first:02}:00 "
            f"and {end:02}:00 UTC, for example by the cron scaler of KEDA"
        ),
        gpu_hours=sum(saved),
        paid_hours=case.each(saved),
    )
    return Candidate(saving=found)


def _activity_of_hour(case: Case, hour: int) -> float | None:
    measured = case.tally.measured_by_hour[hour]
    return case.tally.used_by_hour[hour] / measured if measured else None


def _needed_replicas(case: Case, replicas: int) -> list[int | None]:
    """The replicas that the work of each hour of the day needs; None for an hour without a measurement."""
    high = case.config.targets.activity.high
    return [
        None if activity is None else max(1, math.ceil(activity * replicas / high - 1e-9))
        for activity in (_activity_of_hour(case, hour) for hour in range(HOURS_OF_DAY))
    ]


def _longest_run(quiet: list[bool]) -> list[int]:
    """The hours of the longest quiet run, which may pass midnight."""
    best: list[int] = []
    for start in range(HOURS_OF_DAY):
        run: list[int] = []
        while len(run) < HOURS_OF_DAY and quiet[(start + len(run)) % HOURS_OF_DAY]:
            run.append((start + len(run)) % HOURS_OF_DAY)
        if len(run) > len(best):
            best = run
    return best


_KINDS = (find_idle, find_mig_profile, find_spot, find_nights)

_Taken = Counter[tuple[str, str]]
"""Number of devices that larger savings take, by node and resource."""


def all_savings(
    estate: Estate, entries: Mapping[int, Sequence[Entry]], *, config: Audit, grid: Grid
) -> tuple[Saving, ...]:
    """All savings. Each free device counts for one saving, so that the savings in the sum can be made together.

    Args:
        entries: the measured entries, by the place of the workload in the estate.
    """
    nodes = {node.name: node for node in estate.nodes or ()}
    offered = gpus.device_offers(estate)
    cases = (
        Case(
            workload=workload,
            entries=tuple(entries[index]),
            tally=gpu_hours.total_tally(entry.tally for entry in entries[index]),
            nodes=nodes,
            offers=offered,
            config=config,
            grid=grid,
        )
        for index, workload in enumerate(estate.workloads)
        if index in entries
    )
    by_case = [sorted(_candidates(case), key=lambda each: _size(each.saving)) for case in cases]
    taken: _Taken = Counter()
    result = [
        each
        for candidates in sorted(filter(None, by_case), key=_case_order)
        for each in _savings_of_workload(candidates, taken, offered)
    ]
    return tuple(sorted(result, key=lambda each: (*_size(each), each.subject.namespace, each.subject.name, each.kind)))


def _candidates(case: Case) -> list[Candidate]:
    return [found for found in (find(case) for find in _KINDS) if found is not None]


def _savings_of_workload(candidates: list[Candidate], taken: _Taken, offered: Offers) -> Iterator[Saving]:
    chosen = False
    for each in candidates:
        if chosen or each.saving.needs:
            yield each.saving.model_copy(update={"adds_up": False})
            continue
        short = _missing_devices_sentence(each, taken, offered)
        if short:
            yield each.saving.model_copy(update={"needs": short, "adds_up": False})
            continue
        _take_devices(each, taken)
        chosen = True
        yield each.saving


def _missing_devices_sentence(candidate: Candidate, taken: _Taken, offered: Offers) -> str:
    """The sentence about missing devices for a saving; empty if enough are free."""
    left = sum(offer.free - taken[offer.node.name, offer.resource] for offer in candidate.takes)
    if left >= candidate.number:
        return ""
    resource = candidate.takes[0].resource
    if not offered.free_known:
        return f"It takes {candidate.number} {resource}; an audit of all pods of the cluster says whether they are free"
    return (
        f"The platform team makes more {resource} available: it takes {candidate.number}, and {left} are left now, "
        "without those that larger savings take"
    )


def _take_devices(candidate: Candidate, taken: _Taken) -> None:
    missing = candidate.number
    for offer in candidate.takes:
        number = min(missing, offer.free - taken[offer.node.name, offer.resource])
        taken[offer.node.name, offer.resource] += number
        missing -= number


def _case_order(candidates: list[Candidate]) -> tuple[float, float, str, str]:
    largest = candidates[0].saving
    return (*_size(largest), largest.subject.namespace, largest.subject.name)


def _size(saving: Saving) -> tuple[float, float]:
    """A sort key, smaller for a larger saving: by money, else by GPU-hours."""
    return -(saving.cost or 0), -saving.gpu_hours
