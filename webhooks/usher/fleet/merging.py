"""Merges the parts of audits to the document of a fleet."""

import contextlib
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from usher import errors
from usher.audit.document.fleet import Fleet, FleetProblem, FleetRow, ProblemKind
from usher.dataclass import dataclass
from usher.fleet import cluster_lists, gathering, rankings, selection, stores, tables, totals, trends
from usher.fleet.database import KEPT, Database
from usher.fleet.selection import ChosenCluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How large the document and the merge may become."""

    clusters: int = 1000
    groups: int = 200
    """Rows of each table of groups."""
    objects: int = 100
    """Idle workloads, and savings."""
    problems: int = 500
    memory: str = "512MB"
    """Of the database; it uses the disk beyond that."""


def merge(
    folders: Sequence[str], *, version: str, earlier: Sequence[Fleet] = (), limits: Limits | None = None
) -> Fleet:
    """The document of all parts below some folders.

    Args:
        folders: paths, or URLs that fsspec knows.
        version: of this usher.
        earlier: documents of earlier merges, for the trend.
        limits: the bounds of the document.

    Raises:
        InputError: a folder cannot be read, has no parts, or not one part is usable; or a library is not installed.
    """
    bounds = limits or Limits()
    opened = [stores.of(each) for each in folders]
    records = gathering.records_of(opened)
    chosen = selection.select(records.found, version=version)
    absent = cluster_lists.missing(cluster_lists.read(opened), chosen.clusters)
    with (
        tempfile.TemporaryDirectory(prefix="gpu-usher-") as name,
        contextlib.closing(Database(Path(name).resolve(), memory=bounds.memory)) as database,
    ):
        clusters, damaged = _loaded(database, chosen.clusters, opened, Path(name).resolve())
        problems = [*absent, *records.problems, *damaged, *chosen.problems]
        if not any(each.parts for each in clusters):
            first = f"; the first: {problems[0].reason}" if problems else ""
            raise errors.InputError(f"{', '.join(each.place for each in opened)}: no usable part of an audit{first}")
        return _document(database, clusters, problems, version=version, earlier=earlier, bounds=bounds)


def _loaded(
    database: Database, clusters: Sequence[ChosenCluster], folders: Sequence[stores.Store], folder: Path
) -> tuple[list[ChosenCluster], list[FleetProblem]]:
    """The clusters with the parts that could be loaded."""
    usable, problems, numbers = [], list[FleetProblem](), count()
    for number, cluster in enumerate(clusters):
        kept = []
        for part in cluster.parts:
            store = folders[part.store]
            try:
                copied = list(gathering.copied(part, store, folder, numbers, wanted=KEPT))
                database.load(copied, cluster=number, shard=part.record.shard)
            except ValueError as error:
                place = "/".join(filter(None, (store.place, part.folder)))
                problems.append(gathering.damaged(cluster.name, place, str(error)))
            else:
                kept.append(part)
        usable.append(replace(cluster, parts=tuple(kept)))
    return usable, problems


def _document(  # noqa: PLR0913 - the parts of the document, all named
    database: Database,
    clusters: Sequence[ChosenCluster],
    problems: Sequence[FleetProblem],
    *,
    version: str,
    earlier: Sequence[Fleet],
    bounds: Limits,
) -> Fleet:
    tables.prepare(database)
    rows = totals.cluster_rows(database, clusters)
    before = trends.newest(earlier)
    codes = {} if before is None else {each.code: each.findings for each in before.findings}
    largest, rest = _bounded(trends.compared(rows, before), bounds.clusters)
    taken = [part.record.taken for each in clusters for part in each.parts]
    absent = sum(each.kind is ProblemKind.ABSENT for each in problems)
    document = Fleet(
        version=version,
        taken=max(taken),
        oldest=min(taken),
        complete=all(each.complete for each in rows) and len(rows) == len(clusters) and not absent,
        problems=tuple(problems[: bounds.problems]),
        problems_left_out=max(0, len(problems) - bounds.problems),
        summary=totals.summary(database, rows, totals.exceptions_ending(database), missing=absent),
        clusters=largest,
        clusters_rest=rest,
        tables=tables.group_tables(database, most=bounds.groups),
        other_accelerators=rankings.accelerators(database, most=bounds.groups),
        findings=rankings.codes(database, clusters, codes),
        idle_workloads=rankings.idle_workloads(database, clusters, most=bounds.objects),
        savings=rankings.savings(database, clusters, most=bounds.objects),
        readiness=rankings.readiness(database, clusters),
    )
    return document.model_copy(update={"trend": trends.trend(document, rows, earlier)})


def _bounded(rows: Sequence[FleetRow], most: int) -> tuple[tuple[FleetRow, ...], FleetRow | None]:
    """The clusters with the most idle hours, then GPUs; and the sum of the others."""

    def size(row: FleetRow) -> tuple[float, float, float, str]:
        return -(row.usage.idle or 0), -(row.gpus_allocated or 0), -(row.gpus or 0), row.name

    ordered = sorted(rows, key=size)
    largest, rest = ordered[:most], ordered[most:]
    return tuple(largest), totals.summed(rest, name=f"{len(rest):,} more") if rest else None
