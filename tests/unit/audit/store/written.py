"""Writes parts for tests of merges, and reads what a merge makes of them."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from builders import fleets
from usher.audit.document import Audit
from usher.audit.document.fleet import Fleet
from usher.audit.store import audit_parts, fleet_merge, part_stores
from usher.audit.store.audit_parts import PartKey, Record
from usher.audit.store.shards import Shard


def key(audit: Audit, shard: Shard | None = None, *, cluster_id: str = "") -> PartKey:
    return PartKey(cluster=audit.cluster.name, cluster_id=cluster_id, shard=shard or Shard())


def part(
    folder: Path | str,
    audit: Audit,
    shard: Shard | None = None,
    *,
    cluster_id: str = "",
    version: str = fleets.VERSION,
) -> Record:
    """Writes one part."""
    where = key(audit, shard, cluster_id=cluster_id)
    return audit_parts.write_part(
        part_stores.store_at(str(folder)), where, audit, _tables(audit.model_dump_json()), version=version
    )


@cache
def _tables(document: str) -> tuple[tuple[str, bytes, int], ...]:
    """Many tests write the same audits."""
    return tuple(audit_parts.tables_of(Audit.model_validate_json(document)))


def shards(folder: Path, whole: Audit, number: int, *, without: Iterable[int] = ()) -> None:
    """Writes the parts of all shards of a cluster but some."""
    for shard, audit in fleets.shares(whole, number):
        if shard.index not in set(without):
            part(folder, audit, shard)


def merged(*folders: Path | str, **options: Any) -> Fleet:
    return fleet_merge.merge([str(each) for each in folders], version=fleets.VERSION, **options)
