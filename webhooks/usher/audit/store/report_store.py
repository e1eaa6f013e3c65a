"""Writes and deletes report objects in a cluster, as an audit needs them. Objects of others stay unchanged.

Every write names the version of the object that was read, so two audits at once cannot overwrite each other unseen: the
object of the later audit stays.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final, Protocol

from msgspec import Struct, field

from usher import errors, paths
from usher.cluster import api as cluster_api
from usher.cluster.api import Answer, Lists, group_path

_ATTEMPTS: Final = 5
"""Attempts for one object while other clients write it."""
_NAMESPACE: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
"""Namespaces that may be part of a request's path."""

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
    if namespace and not _NAMESPACE.fullmatch(namespace):
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
    labels = paths.metadata(value).get("labels")
    return isinstance(labels, dict) and all(labels.get(key) == each for key, each in reports.labels.items())


def _report_time(value: paths.Object, reports: Reports) -> str:
    annotations = paths.metadata(value).get("annotations")
    return paths.text(annotations.get(reports.taken)) if isinstance(annotations, dict) else ""
