"""Savings for workloads with whole GPUs whose memory and activity fit a MIG profile of the board.

It prefers a profile that nodes offer. Otherwise the saving names the GPU that the platform team would have to divide,
and does not count in the sum.
"""

from collections.abc import Sequence
from typing import Final

from usher import model
from usher.accelerators import boards, mig
from usher.accelerators.mig import Board, Variant
from usher.audit import fields
from usher.audit.usage.savings import case as cases
from usher.audit.usage.savings.case import Candidate, Case
from usher.audit.usage.savings.offers import WHOLE, Offer
from usher.dataclass import dataclass

KIND: Final = "smaller MIG profile"

MARGIN: Final = 1.2
"""Factor on the peak of memory: room for peaks outside the window."""

_USABLE: Final = 0.95
"""Usable share: a device has a little less than its slices. `nvidia-smi mig -lgip` lists 9.5 GiB for 1g.10gb of an
A100-80.
"""

_MOST_OF_THE_TIME: Final = 0.95

_ROLES: Final = frozenset({model.Role.INFERENCE, model.Role.INTERACTIVE, model.Role.SERVICE, model.Role.BATCH})
"""Training needs whole GPUs: MIG devices have no NVLink and no peer-to-peer access (docs/domain/mig.md)."""

_NAMED: Final = 3
"""The most nodes that one sentence names; it counts the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """A profile, and the nodes with the same board that offer it; empty if no node does."""

    offer: mig.Offer
    profile: mig.Profile
    on: tuple[Offer, ...] = ()

    @property
    def free(self) -> int:
        return sum(each.free for each in self.on)


def find(case: Case) -> Candidate | None:
    tally = case.tally
    board = _board(case)
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
    found = cases.saving(
        case,
        kind=KIND,
        evidence=(
            (
                f"Memory peak {tally.memory_peak / 1024:.1f} GiB on one device; {profile} of {board.name} has about "
                f"{_memory(board, choice.offer, tally.memory_total) / 1024:.1f} GiB, which leaves a margin of "
                f"{cases.percent(MARGIN - 1)} or more"
            ),
            (
                f"Activity at most {cases.percent(activity)} in 95 % of the GPU-hours; {profile} has "
                f"{shape.compute} of {board.compute_slices} compute slices ({cases.percent(compute)})"
            ),
            _where(case, board, choice),
        ),
        change=_change(case, choice),
        gpu_hours=tally.allocated * freed,
        paid_hours=case.each(entry.tally.allocated * freed for entry in case.entries),
        needs="" if choice.on else _needs(case, board, choice),
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


def _where(case: Case, board: Board, choice: _Choice) -> str:
    resource = choice.profile.resource
    if choice.on:
        number = sum(each.devices for each in choice.on)
        rest = f"{choice.free} of them free now" if case.offers.free_known else "not known how many are free"
        return f"Nodes with this board offer {number} {resource}, {rest}: {_names(choice.on)}"
    others = case.offers.elsewhere(board, resource)
    free = sum(each.free for each in others)
    beside = f"; {free} are free on nodes with another board: {_names(others)}" if free else ""
    return f"No node with this board offers {resource}{beside}"


def _names(offers: Sequence[Offer]) -> str:
    return fields.listing(list(dict.fromkeys(each.node.name for each in offers)), most=_NAMED)


def _change(case: Case, choice: _Choice) -> str:
    resource = choice.profile.resource
    place = f"In {case.templates} of {case.workload.identity}"
    queue = case.workload.queue
    quota = f". Its queue {queue} needs quota for {resource}" if queue else ""
    let = "let nodeSelector, affinity and tolerations admit nodes that offer it"
    if choice.on:
        let = f"let nodeSelector, affinity and tolerations admit {_names(choice.on)}"
    if choice.on and all(each.node.partition == resource for each in choice.on):
        return f"{place}, {let}: there {WHOLE}: 1 is one {choice.profile} (MIG strategy single)"
    return f"{place}, replace resources.limits {WHOLE}: 1 by {resource}: 1, and {let}{quota}"


def _needs(case: Case, board: Board, choice: _Choice) -> str:
    """A sentence: which GPUs the platform team has to divide, and whether they are free."""
    each = choice.offer.shape.maximum
    number = -(-len(case.holding) // each)
    gpus = "1 GPU" if number == 1 else f"{number} GPUs"
    free = max(case.offers.of(board, WHOLE), key=lambda offer: offer.free, default=None)
    where = f"no node with this board has {'a free GPU' if number == 1 else f'{gpus} free'} now, so first empty {gpus}"
    if not case.offers.free_known:
        where = "this audit did not read all pods, so it does not know which are free"
    elif free is not None and free.free >= number:
        where = f"node {free.node.name} has {free.free} free {WHOLE}"
    return (
        f"The platform team divides {gpus} of a node with {board.name} into {choice.profile} (nvidia.com/mig.config; "
        f"{each} fit on one GPU): {where}"
    )


def _board(case: Case) -> Board | None:
    """The board of all its GPUs, if each of its pods holds one whole GPU of a board that MIG can divide."""
    if case.workload.role not in _ROLES or not case.holding:
        return None
    for pod in case.holding:
        node = case.nodes.get(pod.node)
        shared = node is None or node.shared_by > 1 or node.partition
        if shared or {name: amount.number for name, amount in pod.devices.items()} != {WHOLE: 1}:
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
        and peak * MARGIN <= _memory(board, offer, memory)
    ]
    return sorted(fitting, key=lambda offer: (offer.shape.compute, offer.shape.memory))


def _memory(board: Board, offer: mig.Offer, memory: float) -> float:
    """The memory of a profile in MiB: its slices of the measured memory of the device, or else of the board's."""
    return _USABLE * (memory or board.memory * 1024) * offer.shape.memory / board.memory_slices
