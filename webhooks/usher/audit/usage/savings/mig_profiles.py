"""Workloads with whole GPUs whose memory and activity fit a MIG profile of the board."""

from typing import Final

from usher import model
from usher.accelerators import boards
from usher.accelerators.profiles import Board, Offer, Variant
from usher.audit.document.usage import Saving
from usher.audit.usage.savings import case as cases
from usher.audit.usage.savings.case import Case

KIND: Final = "smaller MIG profile"

MARGIN: Final = 1.2
"""Times the peak of memory: room for what the window did not show."""

_USABLE: Final = 0.95
"""A device has a little less than its slices: `nvidia-smi mig -lgip` lists 9.5 GiB for 1g.10gb of an A100-80."""

_MOST_OF_THE_TIME: Final = 0.95

_ROLES: Final = frozenset({model.Role.INFERENCE, model.Role.INTERACTIVE, model.Role.SERVICE, model.Role.BATCH})
"""Training needs whole GPUs: MIG devices have no NVLink and no peer-to-peer access (docs/domain/mig.md)."""

_WHOLE: Final = "nvidia.com/gpu"


def find(case: Case) -> Saving | None:
    tally = case.tally
    board = _board(case)
    activity = tally.activity_at(_MOST_OF_THE_TIME)
    if board is None or activity is None or not tally.memory_peak or not case.is_measured:
        return None
    offer = _smallest(board, activity=activity, peak=tally.memory_peak, memory=tally.memory_total)
    if offer is None:
        return None
    profile, compute = offer.names[0], offer.shape.compute / board.compute_slices
    freed = 1 - max(compute, offer.shape.memory / board.memory_slices)
    return cases.saving(
        case,
        kind=KIND,
        evidence=(
            (
                f"Memory peak {tally.memory_peak / 1024:.1f} GiB on one device; {profile} of {board.name} has about "
                f"{_memory(board, offer, tally.memory_total) / 1024:.1f} GiB, which leaves a margin of "
                f"{cases.percent(MARGIN - 1)} or more"
            ),
            (
                f"Activity at most {cases.percent(activity)} in 95 % of the GPU-hours; {profile} has "
                f"{offer.shape.compute} of {board.compute_slices} compute slices ({cases.percent(compute)})"
            ),
        ),
        change=(
            f"In {case.templates} of {case.workload.identity}, replace resources.limits {_WHOLE}: 1 by "
            f"{profile.resource}: 1, on nodes that offer the profile"
        ),
        gpu_hours=tally.allocated * freed,
        cost=case.money(case.each(entry.tally.allocated * freed for entry in case.entries)),
    )


def _board(case: Case) -> Board | None:
    """The board of all its GPUs, where each of its pods holds one whole GPU of a board that MIG divides."""
    if case.workload.role not in _ROLES or not case.holding:
        return None
    for pod in case.holding:
        node = case.nodes.get(pod.node)
        shared = node is None or node.shared_by > 1 or node.partition
        if shared or {name: amount.number for name, amount in pod.devices.items()} != {_WHOLE: 1}:
            return None
    found = {boards.by_product(entry.what.product) for entry in case.entries if not entry.profile}
    known = found.pop() if len(found) == 1 and not any(entry.profile for entry in case.entries) else None
    return known.board if known is not None else None


def _smallest(board: Board, *, activity: float, peak: float, memory: float) -> Offer | None:
    fitting = [
        offer
        for offer in board.offers
        if offer.names[0].variant is Variant.PLAIN
        and offer.shape.compute < board.compute_slices
        and activity <= offer.shape.compute / board.compute_slices
        and peak * MARGIN <= _memory(board, offer, memory)
    ]
    return min(fitting, key=lambda offer: (offer.shape.compute, offer.shape.memory), default=None)


def _memory(board: Board, offer: Offer, memory: float) -> float:
    """MiB of a profile: its memory slices of what the device was measured to have, or of what the board has."""
    return _USABLE * (memory or board.memory * 1024) * offer.shape.memory / board.memory_slices
