"""The part of a shard: its document without objects of other shards, its tables as Parquet, and its record.

The record says which shard is done, what it lacks, and the digests of its files. It is written last, so a part with a
record is whole. A merge reads records of others, so each field has its bounds.

A merge counts the newest part of each cluster, and each shard once. It also reports omitted parts. The list of clusters
of a run is kept beside its parts, so that a merge names a cluster that wrote no part at all. A shard writes it before
it asks its cluster, because a cluster that does not answer writes nothing else.
"""

import hashlib
import re
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
from usher.audit import document_entries
from usher.audit.document import Audit
from usher.audit.document.audit_entries import Part
from usher.audit.document.fleet_document import FleetProblem, ProblemKind
from usher.audit.reports import data_tables
from usher.audit.store import part_stores, shards
from usher.audit.store.shards import MOST_SHARDS, Shard

RECORD_NAME: Final = "record.json"
MOST_RECORD_BYTES: Final = 1 << 20
"""The most bytes of a record."""

MOST_GAPS: Final = 100
LONGEST_TEXT: Final = 500
"""Characters of a text."""

API_VERSION: Final = "gpu-usher.io/v1alpha1"

_BoundedText = Annotated[str, StringConstraints(max_length=LONGEST_TEXT)]
_Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
_FileName = Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,40}-[0-9a-f]{16}\.parquet$")]
"""The table and the beginning of the digest. It names a file beside the record and nothing else."""

_Time = Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")]
_Count = Annotated[int, Field(ge=0, le=2**53)]


class PartFile(Part):
    table: Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,40}$")]
    name: _FileName
    size: _Count
    """Bytes."""
    sha256: _Digest
    rows: _Count


class PartGap(Part):
    source: _BoundedText
    reason: _BoundedText
    read: _Count = 0


class Record(Part):
    api_version: Literal["gpu-usher.io/v1alpha1"] = API_VERSION
    kind: Literal["AuditPart"] = "AuditPart"
    version: _BoundedText
    """The version of the usher that wrote the record."""
    cluster: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_TEXT)]
    cluster_id: _BoundedText = ""
    """The uid of the namespace kube-system, by which two clusters of one name differ; empty where it is not known."""
    shard: Annotated[int, Field(ge=0, lt=MOST_SHARDS)]
    of: Annotated[int, Field(ge=1, le=MOST_SHARDS)]
    taken: _Time
    complete: bool
    gaps: Annotated[tuple[PartGap, ...], Field(max_length=MOST_GAPS)] = ()
    files: Annotated[tuple[PartFile, ...], Field(max_length=40)]

    @pydantic.model_validator(mode="after")
    def _check(self) -> "Record":
        if self.shard >= self.of:
            raise ValueError("shards count from 0")
        if len({each.table for each in self.files}) < len(self.files):
            raise ValueError("a table has two files")
        return self


def read_record(content: bytes) -> Record:
    """The record of a JSON text.

    Raises:
        ValueError: it is not a record of this version; the message says why, and quotes nothing of the text.
    """
    try:
        return Record.model_validate_json(content)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))[:80]
        raise ValueError(f"{where}: {first['msg']}" if where else first["msg"]) from None


def record_json(record: Record) -> bytes:
    return record.model_dump_json(by_alias=True, indent=2).encode() + b"\n"


def part_folder(cluster: str, cluster_id: str, shard: Shard) -> str:
    """The folder of a part, which two clusters never share: a readable name, a digest of the name, and the shard."""
    readable = re.sub(r"[^a-z0-9-]+", "-", cluster.lower()).strip("-")[:40] or "cluster"
    digest = hashlib.sha256(f"{cluster}\0{cluster_id}".encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{readable}-{digest}/{shard.index}-of-{shard.of}"


_MADE_WHOLE_BY_MERGE: Final = ("gpus_usable", "gpus_free", "readiness")
"""Fields that no shard knows by itself. The merge completes them: it subtracts from the usable GPUs those that the
pods of each shard hold there, and gives each item of the checklist its verdict in the worst shard."""


def reduced_to_shard(audit: Audit, shard: Shard, *, shared: int = 0) -> Audit:
    """The document with the objects of the shard alone.

    Args:
        shard: which one it is.
        shared: how many objects without a namespace it has read, as every shard does; they count in shard 0.
    """
    if shard.is_whole:
        return audit
    found = document_entries.document_of_objects(audit, shard, keeping=_MADE_WHOLE_BY_MERGE)
    if shard.has_nodes:
        return found
    objects = max(0, found.completeness.objects - shared)
    return found.model_copy(update={"completeness": found.completeness.model_copy(update={"objects": objects})})


MOST_OF_A_FILE: Final = 1 << 30
"""Bytes of one table of one shard; a merge refuses more."""


class PartKey(Struct, frozen=True, kw_only=True):
    """A part of a run, by the values that are known before the audit."""

    cluster: str
    cluster_id: str
    shard: Shard

    @property
    def folder(self) -> str:
        return part_folder(self.cluster, self.cluster_id, self.shard)


def is_done(store: part_stores.Store, key: PartKey) -> bool:
    """Whether the part is there and complete: its record, and each of its files with the digest of the record.

    Raises:
        InputError: the store cannot be used at all, so that no part could be written either.
    """
    try:
        record = read_record(part_stores.read_file(store, f"{key.folder}/{RECORD_NAME}", most=MOST_RECORD_BYTES))
    except (OSError, ValueError):
        return False
    if (record.cluster, record.cluster_id, record.shard, record.of) != (
        _whole_characters(key.cluster),
        key.cluster_id,
        key.shard.index,
        key.shard.of,
    ):
        return False
    return record.complete and all(_is_intact(store, key.folder, each) for each in record.files)


def _is_intact(store: part_stores.Store, folder: str, file: PartFile) -> bool:
    digest = hashlib.sha256()
    try:
        for chunk in store.chunks(f"{folder}/{file.name}", most=file.size):
            digest.update(chunk)
    except OSError:
        return False
    return digest.hexdigest() == file.sha256


def tables_of(audit: Audit) -> Iterator[tuple[str, bytes, int]]:
    """Each table of a document: its name, its Parquet file and the number of its rows.

    Raises:
        InputError: DuckDB is not installed, or the disk is full.
    """
    for table, (_, content) in zip(data_tables.TABLES, data_tables.parquet_files(audit), strict=True):
        yield table.name, content, sum(1 for _ in table.parts(audit))


def write_part(
    store: part_stores.Store, key: PartKey, audit: Audit, tables: Iterable[tuple[str, bytes, int]], *, version: str
) -> Record:
    """Writes the files and then the record. A part that ends before its record is written again as a whole.

    The names of files hold their digests, so two writers of one part never mix: the record that is written last names
    files that are there.

    Args:
        store: the folder of the run.
        key: which part it is.
        tables: each table's name, its Parquet file and the number of its rows.

    Raises:
        InputError: a file cannot be written, or is larger than a merge takes.
    """
    files = tuple(_files(store, key.folder, tables))
    gaps = audit.completeness.gaps
    record = Record(
        version=version,
        cluster=_whole_characters(key.cluster),
        cluster_id=key.cluster_id,
        shard=key.shard.index,
        of=key.shard.of,
        taken=audit.taken,
        complete=audit.completeness.complete,
        gaps=tuple(
            PartGap(source=_bounded_text(each.source), reason=_bounded_text(each.reason), read=max(each.read, 0))
            for each in gaps[:MOST_GAPS]
        ),
        files=files,
    )
    store.write(f"{key.folder}/{RECORD_NAME}", record_json(record))
    return record


def _bounded_text(text: str) -> str:
    return _whole_characters(text[:LONGEST_TEXT])


def _whole_characters(text: str) -> str:
    """Half of a surrogate pair becomes a question mark, because JSON files hold only whole characters."""
    return text.encode(errors="replace").decode()


def _files(store: part_stores.Store, folder: str, tables: Iterable[tuple[str, bytes, int]]) -> Iterator[PartFile]:
    for table, content, rows in tables:
        if len(content) > MOST_OF_A_FILE:
            raise errors.InputError(f"{folder}: the table {table} has {len(content):,} bytes; use more shards")
        digest = hashlib.sha256(content).hexdigest()
        name = f"{table}-{digest[:16]}.parquet"
        store.write(f"{folder}/{name}", content)
        yield PartFile(table=table, name=name, size=len(content), sha256=digest, rows=rows)


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
        for name in store.find(RECORD_NAME):
            if len(found) + len(problems) >= MOST_RECORDS:
                raise errors.InputError(f"{store.place}: more than {MOST_RECORDS:,} parts; merge fewer folders at once")
            folder = name.removesuffix(f"/{RECORD_NAME}") if "/" in name else ""
            try:
                record = read_record(part_stores.read_file(store, name, most=MOST_RECORD_BYTES))
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
            digest = part_stores.copy_file(store, name, path, most=min(file.size, MOST_OF_A_FILE))
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
