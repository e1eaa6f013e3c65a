"""Which declared pools a pod set fits, and why it does not fit the others, for people."""

from collections.abc import Iterator

from usher import model
from usher.accelerators import offers
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import pool_slice, pool_uses
from usher.config import pools as config_pools
from usher.dataclass import dataclass
from usher.scheduling.pool_placement import Placement


@dataclass(frozen=True, slots=True)
class PoolReason:
    """One pool and one pod set."""

    pool: str
    fits: bool
    reason: str


def of(pod_set: model.PodSet, *, workload: model.Workload, known: Knowledge) -> tuple[PoolReason, ...]:
    """All pools, those that fit first; empty for pods without accelerators and where no pool is declared."""
    if not pod_set.asks_accelerators or not known.config.pools:
        return ()
    where = pool_slice.placements(known).where(pod_set, workload=workload)
    offering = {pool.name for pool in offers.offering(pod_set, known.config.pools, known.vocabulary).pools}
    return tuple(sorted(_reasons(where, known.config.pools, offering), key=lambda each: not each.fits))


def _reasons(where: Placement, pools: list[config_pools.Pool], offering: set[str]) -> Iterator[PoolReason]:
    fitting = {fit.pool.name: fit for fit in where.fits}
    kept_off = {kept.pool.name: kept.reason for kept in where.kept_off}
    for pool in pools:
        fit = fitting.get(pool.name)
        if fit is not None:
            about = [*_about(pool), *(f"taint {taint.key} not tolerated yet" for taint in fit.untolerated)]
            yield PoolReason(pool.name, True, f"fits{''.join(f', {text}' for text in about)}")
        elif pool.name in kept_off:
            yield PoolReason(pool.name, False, kept_off[pool.name])
        elif pool.name not in offering:
            yield PoolReason(pool.name, False, "it does not offer every device that the pods ask for")
        else:
            yield PoolReason(pool.name, False, "its labels are not those that the pods select")


def _about(pool: config_pools.Pool) -> Iterator[str]:
    board = pool_uses.board(pool)
    if board:
        yield f"board {board}"
    if pool.fabric is not None:
        yield f"fabric {pool.fabric}"
