"""The part of a shard: its document without what belongs to other shards, its tables as Parquet, and its record.

The record says which shard is done, what it lacks, and the digests of its files. It is written last, so a part with a
record is whole. A merge reads records of others, so each field has its bounds.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Final, Literal

import pydantic
from msgspec import Struct
from pydantic import Field, StringConstraints

from usher import errors
from usher.audit import partial
from usher.audit.document import Audit
from usher.audit.document.audit_entries import Part
from usher.audit.reports import data_tables
from usher.audit.store import part_stores
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
    found = partial.of_objects(audit, shard, keeping=_MADE_WHOLE_BY_MERGE)
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
