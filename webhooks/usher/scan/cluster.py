"""Reads the objects of a live cluster: every kind that usher knows and the API server serves, a page at a time."""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from usher import errors, paths
from usher.cluster import api as cluster_api
from usher.cluster import http_clients
from usher.cluster.api import ANONYMOUS, Lists, Refused, group_path
from usher.config.models import EXEMPTION_LABEL
from usher.dataclass import dataclass
from usher.kinds import registry
from usher.kinds.kind import Kind
from usher.scan import findings
from usher.scan.batches import Batch, Item
from usher.scan.ownership import Owners

PAGE: Final = 250
"""Objects per request, and so in memory at a time: 250 nodes of 14 kB take about 35 MB after parsing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A kind in the version that the API server serves."""

    kind: Kind
    version: str

    @property
    def name(self) -> str:
        """The name as in `kubectl get`."""
        return self.kind.resource

    def path(self, namespace: str) -> str:
        within = f"namespaces/{namespace}/" if namespace else ""
        return f"{group_path(self.kind.group, self.version)}/{within}{self.kind.plural}"

    def completed(self, value: paths.Object) -> paths.Object:
        """An object of a list with its kind and version, which lists of built-in kinds leave out."""
        version = f"{self.kind.group}/{self.version}" if self.kind.group else self.version
        return {"apiVersion": version, "kind": self.kind.kind, **value}


def read(api: Lists, *, namespace: str = "") -> Iterator[Batch]:
    """The objects of a cluster, one batch per page.

    Objects that a controller made for a listed workload are `aside`: they count as part of it. Finished objects, which
    hold no GPUs, and objects in exempt namespaces are `aside` too.

    Raises:
        ClusterError: the API server does not answer, or refuses to list any kind.
    """
    refusals: list[Refused] = []
    resources, refused = _served(api, refusals)
    yield from refused
    if namespace:
        # Cluster-scoped kinds belong to no namespace.
        resources = [resource for resource in resources if not resource.kind.cluster_scoped]
    owners = Owners()
    exempt: set[str] = set()
    anything_allowed = False
    for resource in sorted(resources, key=_owners_first):
        try:
            for batch in _list(api, resource, namespace=namespace, owners=owners, refusals=refusals):
                anything_allowed |= not batch.notes
                if resource.kind.kind == "Namespace":
                    exempt.update(_exempt(batch.items))
                    yield batch
                else:
                    yield _without_exempt(batch, exempt)
                del batch
        except errors.ClusterError as error:
            if not anything_allowed:
                raise
            # Reports the results so far: requests for the other kinds would only take time.
            problem = findings.Problem(source=resource.name, reason=f"the audit ended here: {error}")
            yield Batch(source=resource.name, problems=(problem,), is_file=False)
            return
    for name in sorted(exempt):
        note = findings.Note(source=f"namespace {name}", reason=f"its label {EXEMPTION_LABEL} exempts it")
        yield Batch(source=note.source, notes=(note,), is_file=False)
    if not anything_allowed:
        raise errors.ClusterError(f"{api.name}: {_nothing_listed(refusals, namespace)}")


def _nothing_listed(refusals: Sequence[Refused], namespace: str) -> str:
    """Why there is nothing to audit, with a remedy."""
    if not refusals:
        return "it serves no kind of workload that usher knows; is that an API server of Kubernetes?"
    first = refusals[0]
    where = f" in namespace {namespace}" if namespace else ""
    if not first.forbidden:
        return (
            f"no kind of workload can be listed{where}: HTTP {first.status}: {http_clients.plain_line(first.reason)}; see that "
            "`kubectl get pods` works"
        )
    if first.user == ANONYMOUS:
        return (
            f"it does not know you: {first.reason}; usher sent no credentials that it takes: log in again, and see "
            "that `kubectl auth whoami` works"
        )
    return (
        f"usher may list no kind of workload{where}: {first.reason}; bind the ClusterRole of "
        "`usher manifests audit-role` to this user"
    )


def _exempt(namespaces: Iterable[Item]) -> Iterator[str]:
    for item in namespaces:
        metadata = paths.metadata(item.value)
        labels, name = metadata.get("labels"), metadata.get("name")
        if isinstance(labels, dict) and labels.get(EXEMPTION_LABEL) == "true" and isinstance(name, str):
            yield name


def _namespace(item: Item) -> object:
    return paths.metadata(item.value).get("namespace")


def _without_exempt(batch: Batch, exempt: AbstractSet[str]) -> Batch:
    judged = tuple(item for item in batch.items if _namespace(item) not in exempt)
    if len(judged) == len(batch.items):
        return batch
    left_out = (item.value for item in batch.items if _namespace(item) in exempt)
    return replace(batch, items=judged, aside=(*batch.aside, *left_out))


def _owners_first(resource: Resource) -> tuple[bool, int, str]:
    """A sort key: owners come before the objects that they own, so that a page knows which objects belong to a listed
    workload.

    Namespaces come first: their labels exempt objects.
    """
    key = resource.kind.group_and_kind
    return key != ("", "Namespace"), registry.owners_above(key), resource.name


def _served(api: Lists, refusals: list[Refused]) -> tuple[list[Resource], list[Batch]]:
    """The served kinds, each in the first of our versions that the server has; and problems for groups without
    discovery.
    """
    resources: dict[tuple[str, str], Resource] = {}
    refused = []
    served = registry.LISTED
    versions = dict.fromkeys((kind.group, version) for kind in served for version in kind.versions)
    for group, version in versions:
        answer = api.get(group_path(group, version))
        if answer.status == 404:
            continue
        if answer.status != 200:
            name = f"{group}/{version}" if group else version
            refusals.append(Refused(status=answer.status, reason=answer.message))
            refused.append(not_listed(name, refusals[-1]))
            continue
        plurals = _plurals(answer.value)
        for kind in served:
            if kind.group == group and version in kind.versions and kind.plural in plurals:
                resources.setdefault((kind.group, kind.kind), Resource(kind=kind, version=version))
    return list(resources.values()), refused


def _list(
    api: Lists, resource: Resource, *, namespace: str, owners: Owners, refusals: list[Refused]
) -> Iterator[Batch]:
    """All objects of one kind, one batch per page. A refusal joins the refusals of other kinds."""
    seen: set[str] = set()
    for page in cluster_api.list_pages(api, resource.path(namespace), size=PAGE, resume=True):
        if isinstance(page, Refused):
            refusals.append(page)
            yield not_listed(resource.name, page, after=len(seen))
            return
        fresh = [resource.completed(item) for item in page.items if _uid(item) not in seen or not _uid(item)]
        seen.update(map(_uid, fresh))
        yield settled(fresh, resource, owners)
        del page, fresh  # at most one page is in memory


def settled(values: Sequence[paths.Object], resource: Resource, owners: Owners) -> Batch:
    """A page of a kind, divided into objects to judge and objects that are finished or count as part of others."""
    owned = [owners.own(value) for value in values]
    finished = [not is_owned and resource.kind.finished(value) for value, is_owned in zip(values, owned, strict=True)]
    aside = [is_owned or is_finished for is_owned, is_finished in zip(owned, finished, strict=True)]
    for value in values:
        owners.add(value)
    return Batch(
        source=resource.name,
        items=tuple(
            Item(value=value, existing=True) for value, left_out in zip(values, aside, strict=True) if not left_out
        ),
        aside=tuple(value for value, left_out in zip(values, aside, strict=True) if left_out),
        owned=sum(owned),
        finished=sum(finished),
        is_file=False,
    )


def not_listed(name: str, refused: Refused, *, after: int = 0) -> Batch:
    """Why a kind has no objects: a note for 403, which a site may intend; else a problem, which makes the run
    incomplete.
    """
    if refused.forbidden:
        reason = f"not read: {refused.explained}"
        note = findings.Note(source=name, reason=reason, hides_objects=True)
        return Batch(source=name, notes=(note,), is_file=False)
    so_far = f" after {after:,} objects" if after else ""
    problem = findings.Problem(source=name, reason=f"the list ended{so_far}: {refused.reason}; run the audit again")
    return Batch(source=name, problems=(problem,), is_file=False)


def _plurals(value: paths.Object) -> set[str]:
    resources = value.get("resources")
    names = [each.get("name") for each in resources if isinstance(each, dict)] if isinstance(resources, list) else []
    return {name for name in names if isinstance(name, str)}


def _uid(value: paths.Object) -> str:
    return paths.text(paths.metadata(value).get("uid"))
