"""The parts that a merge counts: the newest of each cluster, and each shard once. It also reports omitted parts.

The list of clusters of a run is kept beside its parts, so that a merge names a cluster that wrote no part at all. A
shard writes it before it asks its cluster, because a cluster that does not answer writes nothing else.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Annotated, Final, Literal

import pydantic
from msgspec import Struct
from pydantic import Field, StringConstraints

from usher import errors
from usher.audit.document.audit_entries import Part
from usher.audit.document.fleet_document import FleetProblem, ProblemKind
from usher.audit.store import audit_parts, part_stores, shards
from usher.audit.store.audit_parts import Record

RUN: Final = timedelta(hours=24)
"""The longest time between parts of one run. An older shard belongs to an earlier run, and is missing in this one."""

OLD: Final = timedelta(days=8)
"""usher reports a cluster whose newest part is older than the newest of the fleet by more than this."""

_MOST_SHOWN: Final = 20


class FoundPart(Struct, frozen=True, kw_only=True):
    """A record and its place: the number of its store, and its folder there."""

    store: int
    folder: str
    record: Record


class ChosenCluster(Struct, frozen=True, kw_only=True):
    name: str
    """Unique in the fleet."""
    id: str
    of: int
    parts: tuple[FoundPart, ...]
    """By shard."""

    @property
    def taken(self) -> str:
        return max(each.record.taken for each in self.parts)


class Selection(Struct, frozen=True, kw_only=True):
    clusters: tuple[ChosenCluster, ...]
    """By name."""
    problems: tuple[FleetProblem, ...]


def select_parts(found: Iterable[FoundPart], *, version: str) -> Selection:
    """The parts to count; `version` is the version of this usher."""
    by_cluster = defaultdict[str, list[FoundPart]](list)
    for each in found:
        by_cluster[each.record.cluster_id or f"name {each.record.cluster}"].append(each)
    newest = max((each.record.taken for parts in by_cluster.values() for each in parts), default="")
    names = _cluster_names(by_cluster)
    clusters, problems = [], list[FleetProblem]()
    for key in sorted(by_cluster, key=names.__getitem__):
        parts = sorted(by_cluster[key], key=_age_order, reverse=True)
        chosen = _of_newest_run(parts)
        cluster = ChosenCluster(name=names[key], id=parts[0].record.cluster_id, of=parts[0].record.of, parts=chosen)
        clusters.append(cluster)
        problems += _problems_of_cluster(cluster, parts, newest=newest, version=version)
    return Selection(clusters=tuple(clusters), problems=tuple(problems))


def _age_order(found: FoundPart) -> tuple[str, int, str]:
    return found.record.taken, found.store, found.folder


def _cluster_names(by_cluster: dict[str, list[FoundPart]]) -> dict[str, str]:
    """A unique name for each cluster: for equal names, with the beginning of the cluster id."""
    plain = {key: max(parts, key=_age_order).record.cluster for key, parts in by_cluster.items()}
    taken = list(plain.values())
    return {
        key: f"{name} ({key[:13]})" if taken.count(name) > 1 and not key.startswith("name ") else name
        for key, name in plain.items()
    }


def _of_newest_run(parts: Sequence[FoundPart]) -> tuple[FoundPart, ...]:
    """The newest part of each shard in the run of the newest part. The given parts come newest first."""
    first = parts[0].record
    shards: dict[int, FoundPart] = {}
    for each in parts:
        if each.record.of == first.of and moment(first.taken) - moment(each.record.taken) <= RUN:
            shards.setdefault(each.record.shard, each)
    return tuple(shards[index] for index in sorted(shards))


def moment(text: str) -> datetime:
    """The time of a record, whose spelling is already checked. A date that does not exist counts as the oldest."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return datetime.fromisoformat("0001-01-01T00:00:00Z")


def _problems_of_cluster(
    cluster: ChosenCluster, parts: Sequence[FoundPart], *, newest: str, version: str
) -> Iterator[FleetProblem]:
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
        written = ", ".join(others[:_MOST_SHOWN])
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
    shown = ", ".join(map(str, missing[:_MOST_SHOWN])) + (", ..." if len(missing) > _MOST_SHOWN else "")
    what = f"shard {shown} of {of}" if len(missing) == 1 else f"shards {shown} of {of}"
    return f"{what}: the numbers leave out their namespaces; start the run again, which goes on with what is missing"


def _incomplete_reason(record: Record) -> str:
    shard = "" if record.of == 1 else f"shard {record.shard}: "
    first = f": {record.gaps[0].source}: {record.gaps[0].reason}" if record.gaps else ""
    more = f", and {len(record.gaps) - 1} more" if len(record.gaps) > 1 else ""
    return f"{shard}something could not be read{first}{more}"


MOST_RECORDS: Final = 50_000


class CopiedTable(Struct, frozen=True, kw_only=True):
    """A table of a part, on this machine."""

    table: str
    path: Path
    rows: int
    """The number of rows in the record."""


class GatheredRecords(Struct, frozen=True, kw_only=True):
    found: tuple[FoundPart, ...]
    problems: tuple[FleetProblem, ...]
    """Problems of records that cannot be read."""


def gathered_records(folders: Sequence[part_stores.Store]) -> GatheredRecords:
    """All records below the folders.

    Raises:
        InputError: a folder cannot be read, or has too many records.
    """
    found, problems = list[FoundPart](), list[FleetProblem]()
    for number, store in enumerate(folders):
        for name in store.find(audit_parts.RECORD_NAME):
            if len(found) + len(problems) >= MOST_RECORDS:
                raise errors.InputError(f"{store.place}: more than {MOST_RECORDS:,} parts; merge fewer folders at once")
            folder = name.removesuffix(f"/{audit_parts.RECORD_NAME}") if "/" in name else ""
            try:
                record = audit_parts.read_record(part_stores.read_file(store, name, most=audit_parts.MOST_RECORD_BYTES))
            except (OSError, ValueError) as error:
                problems.append(damaged_part("", f"{store.place}/{name}", _error_reason(error)))
            else:
                found.append(FoundPart(store=number, folder=folder, record=record))
    return GatheredRecords(found=tuple(found), problems=tuple(problems))


def copied_tables(
    found: FoundPart, store: part_stores.Store, target: Path, numbers: "count[int]", *, wanted: Collection[str]
) -> Iterator[CopiedTable]:
    """Copies the wanted tables of a part, with file names of our own.

    Raises:
        ValueError: a file is missing, or differs from the record; the message names it.
    """
    for file in found.record.files:
        if file.table not in wanted:
            continue
        path = target / f"{next(numbers)}.parquet"
        name = f"{found.folder}/{file.name}" if found.folder else file.name
        try:
            digest = part_stores.copy_file(store, name, path, most=min(file.size, audit_parts.MOST_OF_A_FILE))
        except OSError as error:
            raise ValueError(f"{file.name}: {_error_reason(error)}") from None
        if digest != file.sha256:
            raise ValueError(f"{file.name}: its content is not that of the record")
        yield CopiedTable(table=file.table, path=path, rows=file.rows)


def damaged_part(cluster: str, place: str, reason: str) -> FleetProblem:
    """The problem of a part that cannot be used, and so is missing."""
    return FleetProblem(kind=ProblemKind.DAMAGED, cluster=cluster, reason=f"{place}: {reason}; it is left out")


def _error_reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


LIST_NAME: Final = "clusters.json"
MOST_LIST_BYTES: Final = 8 << 20


class _ListFile(Part):
    api_version: Literal["gpu-usher.io/v1alpha1"] = "gpu-usher.io/v1alpha1"
    kind: Literal["AuditClusters"] = "AuditClusters"
    began: Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")]
    """When the last shard with this list began, in UTC."""
    names: Annotated[
        tuple[Annotated[str, StringConstraints(min_length=1, max_length=500)], ...],
        Field(min_length=1, max_length=shards.MOST_CLUSTERS),
    ]


class ClusterList(Struct, frozen=True, kw_only=True):
    """The clusters of a run, in the order of its shards."""

    began: str
    names: tuple[str, ...]


def write_cluster_list(store: part_stores.Store, names: Sequence[str], *, began: str) -> None:
    """Writes the list of a run. Every shard of it does so; equal lists share one file. Raises InputError."""
    digest = hashlib.sha256("\0".join(names).encode(errors="surrogatepass")).hexdigest()[:16]
    content = _ListFile(began=began, names=tuple(names)).model_dump_json(by_alias=True, indent=2)
    store.write(f"clusters-{digest}/{LIST_NAME}", content.encode() + b"\n")


def read_cluster_lists(folders: Sequence[part_stores.Store]) -> tuple[ClusterList, ...]:
    """The lists below some folders. It skips unreadable ones, because another shard writes them again.

    Raises:
        InputError: a folder cannot be read.
    """
    return tuple(each for store in folders for name in store.find(LIST_NAME) for each in _read_list(store, name))


def _read_list(store: part_stores.Store, name: str) -> Iterator[ClusterList]:
    try:
        found = _ListFile.model_validate_json(part_stores.read_file(store, name, most=MOST_LIST_BYTES))
    except (OSError, pydantic.ValidationError):
        return
    yield ClusterList(began=found.began, names=found.names)


def missing_clusters(lists: Sequence[ClusterList], chosen: Sequence[ChosenCluster]) -> list[FleetProblem]:
    """The clusters of the newest run that have no part, by name.

    Lists of earlier runs may name clusters that are gone.
    """
    taken = [each.taken for each in chosen]
    newest = max((*taken, *(each.began for each in lists)), default="")
    there = {part.record.cluster for each in chosen for part in each.parts}
    found: dict[str, FleetProblem] = {}
    for each in lists:
        if moment(newest) - moment(each.began) > RUN:
            continue
        for index, name in enumerate(each.names):
            if name not in there:
                shard = f"--shard {index}/{len(each.names)}"
                reason = f"--clusters names it, and it has no part: look at the run of {shard}, and start it again"
                found.setdefault(name, FleetProblem(kind=ProblemKind.ABSENT, cluster=name, reason=reason))
    return [found[name] for name in sorted(found)]
