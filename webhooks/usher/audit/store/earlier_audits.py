"""Compares an audit, or a fleet, with earlier ones, and keeps the report objects of a cluster.

An audit fixes no finding that it could not see.

Every write names the version of the object that was read, so two audits at once cannot overwrite each other unseen: the
object of the later audit stays.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from usher import errors, paths
from usher.audit.document import Audit, Cluster, Entry, FindingEntry, Point, Subject, Trend
from usher.audit.document.fleet_document import Fleet, FleetPoint, FleetRow, FleetTrend
from usher.cluster import api as cluster_api
from usher.cluster.api import Answer, Lists, group_path
from usher.kinds import registry


class Seen(Struct, frozen=True, kw_only=True):
    """A finding of earlier audits."""

    fingerprint: str
    code: str
    title: str
    category: str
    subject: Subject
    first_seen: str
    last_seen: str
    gone: str = ""
    """The first audit without it; empty while it is open."""


class Past(Struct, frozen=True, kw_only=True):
    """Earlier audits of a cluster, and their findings."""

    points: tuple[Point, ...] = ()
    """Oldest first."""
    left_out: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The sources that an audit left out, by the time of the audit; at least for the audits that saw an open finding
    last.
    """
    findings: tuple[Seen, ...] = ()


def past_of(audit: Audit) -> Past:
    """The past of a history that begins with this audit."""
    findings = tuple(newly_seen(each, at=audit.taken) for each in audit.findings)
    first_seen = audit.trend.first_seen
    return Past(
        points=(point_of(audit),),
        left_out={audit.taken: left_out_of(audit)},
        findings=tuple(replace(each, first_seen=first_seen.get(each.fingerprint, audit.taken)) for each in findings),
    )


def newly_seen(finding: FindingEntry, *, at: str) -> Seen:
    """A finding that an audit sees for the first time."""
    return Seen(
        fingerprint=finding.fingerprint,
        code=finding.code,
        title=finding.title,
        category=finding.category,
        subject=finding.subject,
        first_seen=at,
        last_seen=at,
    )


def left_out_of(audit: Audit) -> frozenset[str]:
    """The parts that an audit left out on purpose: sources, and checks without a verdict as `check CODE`."""
    sources = {each.source for each in audit.completeness.left_out}
    return frozenset(sources | {f"check {each.code}" for each in audit.not_evaluated})


def point_of(audit: Audit) -> Point:
    """The headline numbers of an audit."""
    found = audit.summary
    return Point(
        taken=audit.taken,
        complete=audit.completeness.complete,
        gpus=found.gpus,
        gpus_allocated=found.gpus_allocated,
        idle=found.idle,
        idle_cost=found.cost_idle,
        not_held=found.not_held,
        not_held_cost=found.cost_not_held,
        activity=found.activity,
        findings=len(audit.findings),
        never=found.workloads_never,
        readiness_failed=found.readiness.get("fail", 0),
    )


POINTS: Final = 104
"""The most points of a trend: two years of weekly audits."""

_NAMESPACE: Final = "namespace "
_CHECK: Final = "check "


class Change(Struct, frozen=True, kw_only=True):
    """The changes that an audit makes to a history."""

    trend: Trend
    written: tuple[Seen, ...]
    """Findings in their new state: those that are new, remain or are gone."""


def compare(known: Past, audit: Audit) -> Change:
    """The trend of an audit, compared with the known past.

    An audit that is older than the last known one adds its findings but does not mark any as fixed.
    """
    points = {each.taken: each for each in (*known.points, point_of(audit))}
    earlier = [taken for taken in points if taken < audit.taken]
    later = max(points) > audit.taken
    now = {each.fingerprint: newly_seen(each, at=audit.taken) for each in audit.findings}
    before = {each.fingerprint: each for each in known.findings}
    written = [_merge_sightings(before.get(key), each) for key, each in now.items()]
    unseen = [each for key, each in before.items() if key not in now and not each.gone]
    # Another audit in the same second may have seen the findings that this one leaves out.
    missing = [] if later else [each for each in unseen if each.last_seen < audit.taken]
    hiding = {each.fingerprint: _hiding(each, known, audit) for each in missing}
    gone = [replace(each, gone=audit.taken) for each in missing if not hiding[each.fingerprint]]
    recorded = [each for key, each in before.items() if each.gone == audit.taken and key not in now]
    trend = Trend(
        previous=max(earlier, default=""),
        new=tuple(sorted(each.fingerprint for each in written if each.first_seen == audit.taken)) if earlier else (),
        fixed=tuple(map(_fixed_entry, sorted([*gone, *recorded], key=lambda each: (each.code, each.fingerprint)))),
        first_seen={each.fingerprint: each.first_seen for each in sorted(written, key=lambda each: each.fingerprint)},
        points=_last_points(points.values()),
        problems=tuple(_problems(audit, hiding, later=max(points) if later else "")),
    )
    return Change(trend=trend, written=(*written, *gone))


def trend_since(earlier: Audit, audit: Audit, *, former: Collection[str] = ()) -> Trend:
    """The trend since an earlier audit that comes from a file.

    Args:
        earlier: the audit of the file.
        former: names that an earlier usher gave to the present cluster.
    """
    if reason := why_not_since(earlier, audit, former=former):
        return Trend(problems=(reason,))
    found = compare(past_of(earlier), audit).trend
    # The earlier report may know the audits before it.
    points = {each.taken: each for each in (*earlier.trend.points, *found.points)}
    return found.model_copy(update={"points": _last_points(points.values())})


def why_not_since(earlier: Audit, audit: Audit, *, former: Collection[str] = ()) -> str:
    """Why an earlier audit cannot be compared with this one; empty if it can."""
    if not _is_same(earlier.cluster, audit.cluster, former):
        return (
            f"the earlier report is of cluster {earlier.cluster.name}, so it is not compared with this one, of "
            f"{audit.cluster.name}{_remedy(earlier.cluster, audit.cluster)}"
        )
    if earlier.cluster.namespace != audit.cluster.namespace:
        seen, now = _scope_name(earlier.cluster.namespace), _scope_name(audit.cluster.namespace)
        return f"the earlier report is of {seen}, so it is not compared with this one, of {now}"
    if earlier.taken >= audit.taken:
        return f"the earlier report is of {earlier.taken}, which is not earlier than this one, of {audit.taken}"
    return ""


def _is_same(earlier: Cluster, now: Cluster, former: Collection[str]) -> bool:
    """Whether two clusters are the same: by their ids, or by name if an id is unknown."""
    if earlier.id and now.id:
        return earlier.id == now.id
    return earlier.name in (now.name, *former)


def _remedy(earlier: Cluster, now: Cluster) -> str:
    """The remedy that joins two names of one cluster; empty for two ids, which cannot be joined."""
    return "" if earlier.id and now.id else "; if they are the same cluster, give its name with --cluster-name"


def _scope_name(namespace: str) -> str:
    return f"namespace {namespace}" if namespace else "all namespaces"


def _merge_sightings(before: Seen | None, now: Seen) -> Seen:
    """The finding with its whole duration; a finding that was gone starts again."""
    if before is None or (before.gone and before.gone < now.last_seen):
        return now
    return replace(
        now,
        first_seen=min(before.first_seen, now.first_seen),
        last_seen=max(before.last_seen, now.last_seen),
        gone=before.gone,
    )


def _hiding(finding: Seen, known: Past, audit: Audit) -> list[str]:
    """The sources that could hold the finding, that this audit did not read, and that its last audit did."""
    gaps = {each.source for each in audit.completeness.gaps}
    if not audit.completeness.complete and not gaps:
        gaps = {"a part of the cluster"}
    unread = gaps | (left_out_of(audit) - known.left_out.get(finding.last_seen, frozenset()))
    return sorted(source for source in unread if _covers(source, finding))


def _covers(source: str, finding: Seen) -> bool:
    """Whether an unread source could hold a finding. A source that usher does not know could hold any."""
    if source.startswith(_CHECK):
        return finding.code == source.removeprefix(_CHECK)
    if source.startswith(_NAMESPACE):
        return finding.subject.namespace == source.removeprefix(_NAMESPACE)
    group = finding.subject.api_version.rpartition("/")[0]
    kind = _workload_kinds().get(source)
    return kind is None or finding.category == "cluster" or (group, finding.subject.kind) == kind


@cache
def _workload_kinds() -> dict[str, tuple[str, str]]:
    """Group and kind of workloads by resource, without pods: a finding about any kind may rest on pods."""
    return {each.resource: (each.group, each.kind) for each in registry.WORKLOADS.values() if each.resource != "pods"}


def _problems(audit: Audit, hiding: Mapping[str, list[str]], *, later: str) -> Iterator[str]:
    if later:
        yield f"the history has a later audit, of {later}; this one, of {audit.taken}, fixes nothing"
    if kept := sum(1 for each in hiding.values() if each):
        sources = sorted({source for each in hiding.values() for source in each})
        shown = ", ".join(sources[:3]) + (f" and {len(sources) - 3} more" if len(sources) > 3 else "")
        what = "1 earlier finding is" if kept == 1 else f"{kept:,} earlier findings are"
        yield f"{what} neither seen nor counted as fixed, because this audit did not read {shown}"


def _fixed_entry(finding: Seen) -> Entry:
    subject = finding.subject
    return Entry(
        fingerprint=finding.fingerprint,
        code=finding.code,
        title=finding.title,
        subject=f"{subject.kind} {f'{subject.namespace}/' if subject.namespace else ''}{subject.name}",
        first_seen=finding.first_seen,
        last_seen=finding.last_seen,
    )


def _last_points(points: Iterable[Point]) -> tuple[Point, ...]:
    return tuple(sorted(points, key=lambda each: each.taken)[-POINTS:])


_MOST_FLEET_POINTS: Final = 400
"""The most points of a trend: a year of days, or eight years of weeks."""


def newest_fleet(earlier: Sequence[Fleet]) -> Fleet | None:
    """The newest of the earlier documents."""
    return max(earlier, key=lambda each: each.taken, default=None)


def compared_clusters(rows: Sequence[FleetRow], before: Fleet | None) -> tuple[FleetRow, ...]:
    """The clusters with their numbers in the earlier document, matched by id or name."""
    known = {} if before is None else {each.id or each.name: each for each in before.clusters}
    return tuple(
        each.model_copy(update={"findings_before": old.findings, "idle_before": old.usage.idle})
        if (old := known.get(each.id or each.name)) is not None
        else each
        for each in rows
    )


def fleet_trend(now: Fleet, there: Mapping[str, str], earlier: Sequence[Fleet]) -> FleetTrend:
    """The points of all documents, each moment once, and the clusters that came and went.

    `there` are the names of all clusters of now, by their ids or names.
    """
    points = {point.taken: point for each in earlier for point in (*each.trend.points, _fleet_point(each))}
    points |= {now.taken: _fleet_point(now)}
    before = newest_fleet(earlier)
    old = {} if before is None else {each.id or each.name: each.name for each in before.clusters}
    return FleetTrend(
        previous="" if before is None else before.taken,
        points=tuple(points[taken] for taken in sorted(points) if taken <= now.taken)[-_MOST_FLEET_POINTS:],
        clusters_new=()
        if before is None
        else tuple(sorted(there[key] for key in there.keys() - old.keys()))[:_MOST_FLEET_POINTS],
        # An earlier document may have summed its smallest clusters, so usher does not know that they are gone.
        clusters_gone=tuple(sorted(old[key] for key in old.keys() - there.keys()))[:_MOST_FLEET_POINTS],
    )


def _fleet_point(fleet: Fleet) -> FleetPoint:
    summary = fleet.summary
    return FleetPoint(
        taken=fleet.taken,
        complete=fleet.complete,
        clusters=summary.clusters,
        gpus=summary.gpus,
        gpus_allocated=summary.gpus_allocated,
        allocated=summary.usage.allocated,
        idle=summary.usage.idle,
        idle_costs={each.currency: each.idle for each in summary.usage.costs if each.idle is not None},
        activity=summary.usage.activity,
        findings=sum(summary.findings.values()),
        never=summary.workloads_never,
    )


_ATTEMPTS: Final = 5
"""Attempts for one object while other clients write it."""

_ENDING: Final = "because it is being terminated"
"""The end of the answer (403) to a creation in a namespace that is being deleted."""


class Api(Lists, Protocol):
    """An API that writes. Each method raises ClusterError without an answer."""

    def post(self, path: str, value: paths.Object) -> Answer: ...

    def put(self, path: str, value: paths.Object) -> Answer: ...

    def delete(self, path: str, value: paths.Object) -> Answer: ...


class Reports(Struct, frozen=True, kw_only=True):
    """The report objects of one API, and the marks of usher's own."""

    group: str
    version: str
    plurals: Mapping[str, str]
    """Plural by kind."""
    labels: Mapping[str, str]
    taken: str
    """The annotation with the time of an audit, as texts that sort by time."""

    def path(self, kind: str, namespace: str = "") -> str:
        within = f"namespaces/{namespace}/" if namespace else ""
        return f"{group_path(self.group, self.version)}/{within}{self.plurals[kind]}"


class Outcome(Struct, kw_only=True):
    """The results of all writes and deletions."""

    written: int = 0
    deleted: int = 0
    stale: int = 0
    """Kept, because the audit is not complete."""
    gone: int = 0
    """Not written, because their namespace was deleted since the audit began."""
    problems: dict[str, int] = field(default_factory=dict)
    """Why objects could not be written or deleted, with the number of them."""

    def add_problem(self, reason: str) -> None:
        self.problems[reason] = self.problems.get(reason, 0) + 1


class Run(Struct, frozen=True, kw_only=True):
    """The audit that writes."""

    taken: str
    """The time of the audit. Objects of a later audit stay."""
    only: frozenset[str] | None = None
    """The audited namespaces, with an empty name for cluster-scoped objects; None for everything."""
    complete: bool = True
    """Whether it read everything. If not, an unwanted object may still be true, so it stays."""


def keep(api: Api, reports: Reports, wanted: Iterable[paths.Object], *, run: Run) -> Outcome:
    """Writes the wanted objects, each with a kind of `reports`, and deletes usher's own stale objects.

    Raises:
        ClusterError: the API server does not answer, does not serve the kinds, or does not list them.
    """
    kinds = [kind for kind in reports.plurals if run.only is None or "" in run.only or not kind.startswith("Cluster")]
    within = next(iter(run.only)) if run.only is not None and len(run.only) == 1 else ""
    old = {_key(each, kind): each for kind in kinds for each in _stored_reports(api, reports, kind, within)}
    outcome, kept = Outcome(), set[tuple[str, str, str]]()
    for each in wanted:
        key = _key(each, paths.text(each.get("kind")))
        if run.only is None or key[1] in run.only:
            kept.add(key)
            _write(api, reports, each, old.get(key), run=run, outcome=outcome)
    for key, each in old.items():
        if key in kept or _report_time(each, reports) > run.taken or not (run.only is None or key[1] in run.only):
            continue
        if run.complete:
            _delete(api, reports, key, each, outcome=outcome)
        else:
            outcome.stale += 1
    return outcome


def _key(value: paths.Object, kind: str) -> tuple[str, str, str]:
    metadata = paths.metadata(value)
    return kind, paths.text(metadata.get("namespace")), paths.text(metadata.get("name"))


def _stored_reports(api: Api, reports: Reports, kind: str, namespace: str) -> Iterable[paths.Object]:
    """The metadata of usher's own objects of a kind; their contents stay at the API server."""
    query = {"labelSelector": ",".join(f"{key}={value}" for key, value in reports.labels.items())}
    path = reports.path(kind, namespace)
    for page in cluster_api.list_pages(
        api, path, size=cluster_api.PAGE_SIZE, query=query, accept=cluster_api.NAMES, resume=True
    ):
        if isinstance(page, cluster_api.Refused):
            resource = f"{reports.plurals[kind]}.{reports.group}"
            if page.status == 404:
                raise errors.ClusterError(
                    f"{api.name} does not serve {resource} in {reports.version}; install the definitions of that API"
                )
            raise errors.ClusterError(f"{resource} cannot be listed: {page.reason}")
        yield from page.items


def _write(  # noqa: PLR0913 - an object beside the one that exists
    api: Api, reports: Reports, wanted: paths.Object, old: paths.Object | None, *, run: Run, outcome: Outcome
) -> None:
    kind, namespace, name = _key(wanted, paths.text(wanted.get("kind")))
    if namespace and not paths.LABEL.fullmatch(namespace):
        outcome.add_problem("the name of a namespace is not valid")
        return
    path = reports.path(kind, namespace)
    for _ in range(_ATTEMPTS):
        if old is None:
            answer = api.post(path, wanted)
        elif not _is_ours(old, reports):
            outcome.add_problem(f"an object {name} is there that usher did not write, and stays as it is")
            return
        elif _report_time(old, reports) > run.taken:
            outcome.add_problem("a later audit has written its report, which stays")
            return
        else:
            metadata = {**paths.metadata(wanted), "resourceVersion": cluster_api.resource_version(old)}
            answer = api.put(f"{path}/{name}", {**wanted, "metadata": metadata})
        if answer.status in (200, 201):
            outcome.written += 1
            return
        if namespace and old is None and (answer.status == 404 or _ENDING in answer.message):
            outcome.gone += 1
            return
        if answer.status not in (404, 409):
            outcome.add_problem(_refusal(answer, reports, kind, "create" if old is None else "update"))
            return
        found = api.get(f"{path}/{name}")
        old = {**found.value} if found.status == 200 else None
    outcome.add_problem("other clients write the same report all the time")


def _delete(api: Api, reports: Reports, key: tuple[str, str, str], old: paths.Object, *, outcome: Outcome) -> None:
    kind, namespace, name = key
    metadata = paths.metadata(old)
    # If another audit wrote it since, it is not stale.
    preconditions = {"uid": metadata.get("uid"), "resourceVersion": metadata.get("resourceVersion")}
    options: paths.Object = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions}
    answer = api.delete(f"{reports.path(kind, namespace)}/{name}", options)
    if answer.status in (200, 202):
        outcome.deleted += 1
    elif answer.status not in (404, 409):
        outcome.add_problem(_refusal(answer, reports, kind, "delete"))


def _refusal(answer: Answer, reports: Reports, kind: str, verb: str) -> str:
    resource = f"{reports.plurals[kind]}.{reports.group}"
    if answer.status == 403:
        return f"usher may not {verb} {resource}; grant it, or leave out --report-objects"
    return f"{resource}: {answer.message}"


def _is_ours(value: paths.Object, reports: Reports) -> bool:
    labels = paths.mapping(paths.metadata(value).get("labels"))
    return all(labels.get(key) == each for key, each in reports.labels.items())


def _report_time(value: paths.Object, reports: Reports) -> str:
    return paths.text(paths.mapping(paths.metadata(value).get("annotations")).get(reports.taken))
