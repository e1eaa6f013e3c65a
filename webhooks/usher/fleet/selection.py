"""Which parts a merge counts: of each cluster the newest, each shard once. It says what is left out."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from usher.audit.document.fleet import FleetProblem, ProblemKind
from usher.dataclass import dataclass
from usher.fleet.records import Record

RUN: Final = timedelta(hours=24)
"""Parts of one run are at most this far apart; an older shard is of an earlier run, and missing in this one."""

OLD: Final = timedelta(days=8)
"""A cluster whose newest part is older than the newest of the fleet by more than this is reported."""

_SHOWN: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A record, and where it is: the number of its store, and its folder there."""

    store: int
    folder: str
    record: Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenCluster:
    name: str
    """Unique in the fleet."""
    id: str
    of: int
    parts: tuple[Found, ...]
    """By shard."""

    @property
    def taken(self) -> str:
        return max(each.record.taken for each in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    clusters: tuple[ChosenCluster, ...]
    """By name."""
    problems: tuple[FleetProblem, ...]


def select(found: Iterable[Found], *, version: str) -> Selection:
    """The parts to count; `version` is that of this usher."""
    by_cluster = defaultdict[str, list[Found]](list)
    for each in found:
        by_cluster[each.record.cluster_id or f"name {each.record.cluster}"].append(each)
    newest = max((each.record.taken for parts in by_cluster.values() for each in parts), default="")
    names = _names(by_cluster)
    clusters, problems = [], list[FleetProblem]()
    for key in sorted(by_cluster, key=names.__getitem__):
        parts = sorted(by_cluster[key], key=_order, reverse=True)
        chosen = _of_newest_run(parts)
        cluster = ChosenCluster(name=names[key], id=parts[0].record.cluster_id, of=parts[0].record.of, parts=chosen)
        clusters.append(cluster)
        problems += _problems(cluster, parts, newest=newest, version=version)
    return Selection(clusters=tuple(clusters), problems=tuple(problems))


def _order(found: Found) -> tuple[str, int, str]:
    return found.record.taken, found.store, found.folder


def _names(by_cluster: dict[str, list[Found]]) -> dict[str, str]:
    """A name for each cluster; where two have one name, the beginning of their ids makes them differ."""
    plain = {key: max(parts, key=_order).record.cluster for key, parts in by_cluster.items()}
    taken = list(plain.values())
    return {
        key: f"{name} ({key[:13]})" if taken.count(name) > 1 and not key.startswith("name ") else name
        for key, name in plain.items()
    }


def _of_newest_run(parts: Sequence[Found]) -> tuple[Found, ...]:
    """The newest part of each shard, among those of the run of the newest part. The parts come newest first."""
    first = parts[0].record
    shards: dict[int, Found] = {}
    for each in parts:
        if each.record.of == first.of and moment(first.taken) - moment(each.record.taken) <= RUN:
            shards.setdefault(each.record.shard, each)
    return tuple(shards[index] for index in sorted(shards))


def moment(text: str) -> datetime:
    """The time of a record, whose spelling is checked; one that no calendar has is the oldest."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return datetime.fromisoformat("0001-01-01T00:00:00Z")


def _problems(cluster: ChosenCluster, parts: Sequence[Found], *, newest: str, version: str) -> Iterator[FleetProblem]:
    def problem(kind: ProblemKind, reason: str, number: int = 1) -> FleetProblem:
        return FleetProblem(kind=kind, cluster=cluster.name, reason=reason, number=number)

    if missing := missing_shards(cluster):
        yield problem(ProblemKind.MISSING, _missing_reason(missing, cluster.of), len(missing))
    for each in cluster.parts:
        if not each.record.complete:
            yield problem(ProblemKind.INCOMPLETE, _incomplete_reason(each.record))
    if doubled := len(parts) - len(cluster.parts):
        what = "1 older part is" if doubled == 1 else f"{doubled:,} older parts are"
        yield problem(ProblemKind.DOUBLED, f"{what} left out; those of {cluster.taken} count", doubled)
    if others := sorted({each.record.version for each in cluster.parts} - {version}):
        written = ", ".join(others[:_SHOWN])
        yield problem(
            ProblemKind.VERSION, f"written by usher {written}, merged by {version}; findings may differ for that reason"
        )
    if moment(newest) - moment(cluster.taken) > OLD:
        days = (moment(newest) - moment(cluster.taken)).days
        yield problem(ProblemKind.AGE, f"its newest part is of {cluster.taken}, {days} days older than that of others")


def missing_shards(cluster: ChosenCluster) -> tuple[int, ...]:
    """The shards without a part."""
    there = {each.record.shard for each in cluster.parts}
    return tuple(index for index in range(cluster.of) if index not in there)


def _missing_reason(missing: Sequence[int], of: int) -> str:
    shown = ", ".join(map(str, missing[:_SHOWN])) + (", ..." if len(missing) > _SHOWN else "")
    what = f"shard {shown} of {of}" if len(missing) == 1 else f"shards {shown} of {of}"
    return f"{what}: the numbers leave out their namespaces; start the run again, which goes on with what is missing"


def _incomplete_reason(record: Record) -> str:
    shard = "" if record.of == 1 else f"shard {record.shard}: "
    first = f": {record.gaps[0].source}: {record.gaps[0].reason}" if record.gaps else ""
    more = f", and {len(record.gaps) - 1} more" if len(record.gaps) > 1 else ""
    return f"{shard}something could not be read{first}{more}"
