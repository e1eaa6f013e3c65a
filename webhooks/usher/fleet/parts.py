"""Writes the part of a shard: its tables as Parquet, and last its record, so that a part with a record is whole."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Final

from usher import errors
from usher.audit.document import Audit
from usher.audit.reports import data_tables, parquet_tables
from usher.dataclass import dataclass
from usher.fleet import records, stores
from usher.fleet.records import File, Record
from usher.fleet.shards import Shard

MOST_OF_A_FILE: Final = 1 << 30
"""Bytes of one table of one shard; a merge refuses more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartKey:
    """A part of a run, by what is known before the audit."""

    cluster: str
    cluster_id: str
    shard: Shard

    @property
    def folder(self) -> str:
        return records.folder(self.cluster, self.cluster_id, self.shard)


def is_done(store: stores.Store, key: PartKey) -> bool:
    """Whether the part is there and complete: its record, and each of its files with the digest of the record.

    Raises:
        InputError: the store cannot be used at all, so that no part could be written either.
    """
    try:
        record = records.read(stores.read(store, f"{key.folder}/{records.NAME}", most=records.MOST_BYTES))
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


def _is_intact(store: stores.Store, folder: str, file: File) -> bool:
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
    for table, (_, content) in zip(data_tables.TABLES, parquet_tables.files(audit), strict=True):
        yield table.name, content, sum(1 for _ in table.parts(audit))


def write(
    store: stores.Store, key: PartKey, audit: Audit, tables: Iterable[tuple[str, bytes, int]], *, version: str
) -> Record:
    """Writes the files and then the record. A part that ends before its record is written again as a whole.

    The names of files hold their digests, so two writers of one part never mix: the record that is written last names
    files that are there.

    Args:
        store: the folder of the run.
        key: which part it is.
        audit: the document of the shard.
        tables: each table's name, its Parquet file and the number of its rows.
        version: of usher.

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
            records.Gap(source=_text(each.source), reason=_text(each.reason), read=max(each.read, 0))
            for each in gaps[: records.MOST_GAPS]
        ),
        files=files,
    )
    store.write(f"{key.folder}/{records.NAME}", records.written(record))
    return record


def _text(text: str) -> str:
    return _whole_characters(text[: records.LONGEST])


def _whole_characters(text: str) -> str:
    """Half of a surrogate pair becomes a question mark, because JSON files hold only whole characters."""
    return text.encode(errors="replace").decode()


def _files(store: stores.Store, folder: str, tables: Iterable[tuple[str, bytes, int]]) -> Iterator[File]:
    for table, content, rows in tables:
        if len(content) > MOST_OF_A_FILE:
            raise errors.InputError(f"{folder}: the table {table} has {len(content):,} bytes; use more shards")
        digest = hashlib.sha256(content).hexdigest()
        name = f"{table}-{digest[:16]}.parquet"
        store.write(f"{folder}/{name}", content)
        yield File(table=table, name=name, size=len(content), sha256=digest, rows=rows)
