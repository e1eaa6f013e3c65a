"""Measures merges: ten shards of a cluster of a million objects, and 500 small clusters, all synthetic.

A shard stands for 100,000 objects: 20,000 workloads, each with four other objects, and 12,000 findings. The time
and the memory are those of the whole process `usher report merge`, with the start of Python and its libraries.
"""

import dataclasses
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import commands
import sections
from builders import fleets
from usher.audit.document import Audit
from usher.audit.store import audit_parts, part_stores
from usher.audit.store.audit_parts import PartKey
from usher.audit.store.shards import Shard

SHARDS = 10
WORKLOADS = 20_000
OBJECTS = 100_000
"""The number in one shard."""

CLUSTERS = 500
ROUNDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    taken: commands.Taken
    document: int
    """Bytes of the JSON document."""
    parts: int
    """Bytes of the Parquet files."""


def main() -> None:
    sections.publish("fleet", lambda: "\n".join(report()), description=__doc__)


def report() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        writing = [written(folder / "shards", index) for index in range(SHARDS)]
        large = merged(folder / "shards")
        for seed in range(CLUSTERS):
            audit = fleets.cluster(seed, workloads=60)
            write(folder / "clusters", audit, PartKey(cluster=audit.cluster.name, cluster_id="", shard=Shard()))
        many = merged(folder / "clusters")
    yield f"Writing the part of a shard of {OBJECTS:,} objects: {median(writing):.1f} s.\n"
    yield "| merge | time | processor | memory | parts | document |"
    yield "| --- | --- | --- | --- | --- | --- |"
    yield row(f"{SHARDS} shards, {SHARDS * OBJECTS:,} objects, {SHARDS * WORKLOADS:,} workloads", large)
    yield row(f"{CLUSTERS} clusters of 60 workloads", many)


def row(name: str, found: Merge) -> str:
    taken = found.taken
    return (
        f"| {name} | {taken.seconds:.1f} s | {taken.processor:.1f} s | {taken.megabytes:.0f} MB "
        f"| {found.parts / 1e6:.1f} MB | {found.document / 1e6:.2f} MB |"
    )


def written(folder: Path, index: int) -> float:
    """Seconds to write the part of one shard, without the audit itself."""
    shard = Shard(index=index, of=SHARDS)
    audit = fleets.cluster(index, workloads=WORKLOADS, namespaces=400, name="large")
    audit = audit.model_copy(
        update={"completeness": audit.completeness.model_copy(update={"objects": OBJECTS, "workloads": WORKLOADS})}
    )
    begin = time.perf_counter()
    write(folder, audit, PartKey(cluster="large", cluster_id="id", shard=shard))
    return time.perf_counter() - begin


def write(folder: Path, audit: Audit, key: PartKey) -> None:
    audit_parts.write_part(
        part_stores.store_at(str(folder)), key, audit, audit_parts.tables_of(audit), version=fleets.VERSION
    )


def merged(folder: Path) -> Merge:
    """The middle one of some merges, by time; the memory is the largest."""
    found = sorted((_merged(folder) for _ in range(ROUNDS)), key=lambda each: each.taken.seconds)
    middle = found[ROUNDS // 2]
    most = max(each.taken.megabytes for each in found)
    return dataclasses.replace(middle, taken=dataclasses.replace(middle.taken, megabytes=most))


def _merged(folder: Path) -> Merge:
    target = folder.parent / "fleet.json"
    return Merge(
        taken=commands.timed([commands.USHER, "report", "merge", folder, "--output", target]),
        document=target.stat().st_size,
        parts=sum(each.stat().st_size for each in folder.rglob("*.parquet")),
    )


if __name__ == "__main__":
    main()
