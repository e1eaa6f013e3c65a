"""Merges the parts of audits to the document of a fleet, with the largest things of each kind."""

import contextlib
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from usher import errors
from usher.audit.document import Severity, fleet_document
from usher.audit.store import audit_parts, earlier_audits, fleet_totals, part_stores
from usher.audit.store.audit_parts import ChosenCluster
from usher.audit.store.fleet_totals import KEPT, Database, rounded_numbers

_MOST_CODES: Final = 500
_MOST_PLACES: Final = 5
_SEVERITIES: Final = {each.value: place for place, each in enumerate(Severity)}


def finding_codes(
    database: Database, chosen: Sequence[ChosenCluster], before: Mapping[str, int]
) -> tuple[fleet_document.CodeRow, ...]:
    """Findings by code, the worst first; `before` has the numbers of an earlier document."""
    places = defaultdict[str, list[tuple[str, int]]](list)
    for row in database.rows("places", [_MOST_PLACES]):
        places[row["code"]].append((chosen[row["cluster"]].name, row["findings"]))
    severities = list(_SEVERITIES)
    return tuple(
        fleet_document.CodeRow(
            **rounded_numbers(row),
            severity=Severity(severities[row["worst"] - 1]) if row["worst"] else Severity.LOW,
            before=before.get(row["code"]),
            where=tuple(places[row["code"]]),
        )
        for row in database.rows("codes", [severities, _MOST_CODES])
    )


def idle_workloads(
    database: Database, chosen: Sequence[ChosenCluster], *, most: int
) -> tuple[fleet_document.IdleWorkload, ...]:
    """The workloads with the most idle GPU-hours."""
    return tuple(
        fleet_document.IdleWorkload(**_with_cluster(row, chosen)) for row in database.rows("idle_workloads", [most])
    )


def accelerator_rows(database: Database, *, most: int) -> tuple[fleet_document.AcceleratorRow, ...]:
    """Accelerators other than GPUs, the largest number first."""
    return tuple(fleet_document.AcceleratorRow(**rounded_numbers(row)) for row in database.rows("accelerators", [most]))


def largest_savings(
    database: Database, chosen: Sequence[ChosenCluster], *, most: int
) -> tuple[fleet_document.FleetSaving, ...]:
    """The largest savings that count in the sum."""
    return tuple(
        fleet_document.FleetSaving(**_with_cluster(row, chosen)) for row in database.rows("largest_savings", [most])
    )


def _with_cluster(row: Mapping[str, Any], chosen: Sequence[ChosenCluster]) -> dict[str, Any]:
    """The fields of a row, with the name of its cluster."""
    return {**rounded_numbers(row), "cluster": chosen[row["cluster"]].name}


def readiness_rows(database: Database, chosen: Sequence[ChosenCluster]) -> tuple[fleet_document.ReadinessRow, ...]:
    """The items of the checklist; first those that fail in the most clusters."""
    standings = defaultdict[str, dict[str, int]](dict)
    failing, titles = dict[str, tuple[str, ...]](), dict[str, tuple[str, str]]()
    for row in database.rows("readiness"):
        standings[row["id"]][row["standing"]] = row["clusters"]
        titles.setdefault(row["id"], (row["area"], row["title"]))
        if row["standing"] == "fail":
            failing[row["id"]] = tuple(chosen[each].name for each in row["some"])
    order = sorted(standings, key=lambda each: (-standings[each].get("fail", 0), each))
    return tuple(
        fleet_document.ReadinessRow(
            id=each,
            area=titles[each][0],
            title=titles[each][1],
            standings=dict(sorted(standings[each].items())),
            failing=failing.get(each, ()),
        )
        for each in order
    )


class Limits(Struct, frozen=True, kw_only=True):
    """How large the document and the merge may become."""

    clusters: int = 1000
    groups: int = 200
    """The most rows of each table of groups."""
    objects: int = 100
    """The most idle workloads, and the most savings."""
    problems: int = 500
    memory: str = "512MB"
    """Memory of the database; it uses the disk beyond that."""


def merge(
    folders: Sequence[str], *, version: str, earlier: Sequence[fleet_document.Fleet] = (), limits: Limits | None = None
) -> fleet_document.Fleet:
    """The document of all parts below some folders.

    Args:
        folders: paths, or URLs that fsspec knows.
        earlier: documents of earlier merges, for the trend.
        limits: the bounds of the document.

    Raises:
        InputError: a folder cannot be read or has no parts, no part is usable, or a library is not installed.
    """
    bounds = limits or Limits()
    opened = [part_stores.store_at(each) for each in folders]
    records = audit_parts.gathered_records(opened)
    chosen = audit_parts.select_parts(records.found, version=version)
    absent = audit_parts.missing_clusters(audit_parts.read_cluster_lists(opened), chosen.clusters)
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
    database: Database, clusters: Sequence[ChosenCluster], folders: Sequence[part_stores.Store], folder: Path
) -> tuple[list[ChosenCluster], list[fleet_document.FleetProblem]]:
    """The clusters with the parts that could be loaded."""
    usable, problems, numbers = [], list[fleet_document.FleetProblem](), count()
    for number, cluster in enumerate(clusters):
        kept = []
        for part in cluster.parts:
            store = folders[part.store]
            try:
                copied = list(audit_parts.copied_tables(part, store, folder, numbers, wanted=KEPT))
                database.load(copied, cluster=number, shard=part.record.shard)
            except ValueError as error:
                place = "/".join(filter(None, (store.place, part.folder)))
                problems.append(audit_parts.damaged_part(cluster.name, place, str(error)))
            else:
                kept.append(part)
        usable.append(replace(cluster, parts=tuple(kept)))
    return usable, problems


def _document(  # noqa: PLR0913 - all parts of the document by name
    database: Database,
    clusters: Sequence[ChosenCluster],
    problems: Sequence[fleet_document.FleetProblem],
    *,
    version: str,
    earlier: Sequence[fleet_document.Fleet],
    bounds: Limits,
) -> fleet_document.Fleet:
    fleet_totals.prepare(database)
    before = earlier_audits.newest_fleet(earlier)
    codes = {} if before is None else {each.code: each.findings for each in before.findings}
    taken = [part.record.taken for each in clusters for part in each.parts]
    absent = sum(each.kind is fleet_document.ProblemKind.ABSENT for each in problems)
    totals = fleet_totals.totals(database, clusters, most=bounds.clusters, missing=absent)
    document = fleet_document.Fleet(
        version=version,
        taken=max(taken),
        oldest=min(taken),
        complete=totals.complete and totals.clusters == len(clusters) and not absent,
        problems=tuple(problems[: bounds.problems]),
        problems_left_out=max(0, len(problems) - bounds.problems),
        summary=totals.summary,
        clusters=earlier_audits.compared_clusters(totals.rows, before),
        clusters_rest=totals.rest,
        tables=fleet_totals.group_tables(database, most=bounds.groups),
        other_accelerators=accelerator_rows(database, most=bounds.groups),
        findings=finding_codes(database, clusters, codes),
        idle_workloads=idle_workloads(database, clusters, most=bounds.objects),
        savings=largest_savings(database, clusters, most=bounds.objects),
        readiness=readiness_rows(database, clusters),
    )
    there = {each.id or each.name: each.name for each in clusters if each.parts}
    return document.model_copy(update={"trend": earlier_audits.fleet_trend(document, there, earlier)})
