"""Reads the objects of a live cluster, a page at a time, and tells which of them are part of an owner.

Any user can write an owner into an object. So an owner counts only if usher listed it, if it is in the same namespace
or in no namespace, and if its kind makes objects. So no object leaves an audit by naming a false owner.

It uses the kinds that the API server serves. The report names a kind that usher may not list. It lists Secrets, Events
and Leases only if a constraint names them, because of their contents and their number.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from sys import intern
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import errors, paths
from usher.check import findings
from usher.check.batches import Batch, Item
from usher.cluster import api as cluster_api
from usher.cluster import http_clients
from usher.cluster.api import ANONYMOUS, Lists, Refused, group_path
from usher.config.models import EXEMPTION_LABEL
from usher.extensions.gatekeeper.library import ANY_KIND, MatchedKind
from usher.kinds import registry
from usher.kinds.kind import Key, Kind


def group_and_kind(value: paths.Object) -> Key:
    return paths.text(value.get("apiVersion")).rpartition("/")[0], paths.text(value.get("kind"))


def makes_objects(kind: Key) -> bool:
    """Whether objects of a kind make others. Templates do not."""
    known = registry.WORKLOADS.get(kind)
    return known is not None and not known.is_template


class Owners:
    """The listed objects that may own others."""

    def __init__(self) -> None:
        self._namespaces: dict[str, str] = {}
        """Namespace of each owner by uid."""
        self._hidden = set[Key]()

    def hide(self, kinds: Iterable[Key]) -> None:
        """Takes kinds whose objects could not all be read, so that it is unknown which owners exist."""
        self._hidden.update(kinds)

    def add(self, value: paths.Object) -> None:
        """Takes an object. A Pod does not count as an owner: usher judges the objects that it makes separately."""
        uid, kind = paths.text(paths.metadata(value).get("uid")), group_and_kind(value)
        if uid and kind != ("", "Pod") and makes_objects(kind):
            self._namespaces.setdefault(intern(uid), intern(paths.text(paths.metadata(value).get("namespace"))))

    def own(self, value: paths.Object) -> bool:
        """Whether an object counts as part of one of the owners."""
        namespace = self._namespaces.get(paths.text(paths.controller_reference(value).get("uid")))
        return namespace is not None and namespace in ("", paths.text(paths.metadata(value).get("namespace")))

    def is_hidden(self, value: paths.Object) -> bool:
        """Whether an object names an owner of a kind that makes objects and that could not be read."""
        return group_and_kind(paths.controller_reference(value)) in self._hidden


PAGE: Final = 250
"""Objects per request, and so in memory at a time: 250 nodes of 14 kB take about 35 MB after parsing."""


class Resource(Struct, frozen=True, kw_only=True):
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
    owners = Owners()
    resources, refused = _served(api, refusals, owners)
    yield from refused
    if namespace:
        # Cluster-scoped kinds belong to no namespace.
        resources = [resource for resource in resources if not resource.kind.cluster_scoped]
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
            f"no kind of workload can be listed{where}: HTTP {first.status}: {http_clients.plain_line(first.reason)}; "
            "see that "
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


def _served(api: Lists, refusals: list[Refused], owners: Owners) -> tuple[list[Resource], list[Batch]]:
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
            owners.hide(_making_objects(kind for kind in served if kind.group == group))
            continue
        plurals = _plurals(answer.value)
        for kind in served:
            if kind.group == group and version in kind.versions and kind.plural in plurals:
                resources.setdefault((kind.group, kind.kind), Resource(kind=kind, version=version))
    return list(resources.values()), refused


def _making_objects(kinds: Iterable[Kind]) -> Iterator[Key]:
    return (kind.group_and_kind for kind in kinds if makes_objects(kind.group_and_kind))


def _list(
    api: Lists, resource: Resource, *, namespace: str, owners: Owners, refusals: list[Refused]
) -> Iterator[Batch]:
    """All objects of one kind, one batch per page. A refusal joins the refusals of other kinds."""
    seen: set[int] = set()  # hashes: there are as many as pods, and their texts need not stay
    for page in cluster_api.list_pages(api, resource.path(namespace), size=PAGE, resume=True):
        if isinstance(page, Refused):
            refusals.append(page)
            owners.hide(_making_objects([resource.kind]))
            yield not_listed(resource.name, page, after=len(seen))
            return
        fresh = [resource.completed(item) for item in page.items if hash(_uid(item)) not in seen or not _uid(item)]
        seen.update(hash(_uid(item)) for item in fresh)
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
            Item(value=value, existing=True, owner_is_hidden=owners.is_hidden(value))
            for value, left_out in zip(values, aside, strict=True)
            if not left_out
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


_NAMED_ALONE: Final = frozenset(
    {("", "Secret"), ("", "Event"), ("events.k8s.io", "Event"), ("coordination.k8s.io", "Lease")}
)


class _Resource(Struct, frozen=True, kw_only=True):
    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool

    @property
    def key(self) -> tuple[str, str]:
        return self.group, self.kind

    @property
    def name(self) -> str:
        """The name as in `kubectl get`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


def read_matched(api: Lists, kinds: Collection[MatchedKind], *, namespace: str = "") -> Iterator[Batch]:
    """The objects of those of these kinds that usher's own checks do not list, one batch per page.

    Raises:
        ClusterError: the API server does not answer.
    """
    listed_anyway = frozenset(kind.group_and_kind for kind in registry.LISTED)
    served = set[tuple[str, str]](listed_anyway)
    for group, version in sorted(_versions(api).items()):
        if not any(each.group in (ANY_KIND, group) for each in kinds):
            continue
        answer = api.get(group_path(group, version))
        if answer.status != 200:
            name = f"{group}/{version}" if group else version
            yield not_listed(name, Refused(status=answer.status, reason=answer.message))
            continue
        for resource in _resources(answer.value, group=group, version=version):
            served.add(resource.key)
            if resource.key not in listed_anyway and any(each.includes(*resource.key) for each in kinds):
                yield from _matched_objects(api, resource, kinds, namespace=namespace)
    for each in kinds:
        if ANY_KIND not in (each.group, each.kind) and (each.group, each.kind) not in served:
            yield _note(
                f"{each.kind}.{each.group}".rstrip("."),
                "policies read it, and the cluster does not serve this kind",
            )


def _matched_objects(
    api: Lists, resource: _Resource, kinds: Collection[MatchedKind], *, namespace: str
) -> Iterator[Batch]:
    group, kind = resource.key
    if resource.key in _NAMED_ALONE and MatchedKind(group=group, kind=kind) not in kinds:
        yield _note(resource.name, "not judged by constraints that match all kinds; one that names the kind judges it")
    elif resource.namespaced or not namespace:
        yield from _list_matched(api, resource, namespace=namespace)


def _versions(api: Lists) -> dict[str, str]:
    """The preferred version of each group on the API server."""
    found = {"": "v1"}
    groups = api.get("/apis").value.get("groups")
    for each in groups if isinstance(groups, list) else ():
        if isinstance(each, dict):
            preferred = each.get("preferredVersion")
            version = paths.text(preferred.get("version")) if isinstance(preferred, dict) else ""
            if version and (name := paths.text(each.get("name"))):
                found[name] = version
    return found


def _resources(value: paths.Object, *, group: str, version: str) -> Iterator[_Resource]:
    resources = value.get("resources")
    for each in resources if isinstance(resources, list) else ():
        if not isinstance(each, dict):
            continue
        verbs, plural, kind = each.get("verbs"), paths.text(each.get("name")), paths.text(each.get("kind"))
        if plural and kind and "/" not in plural and isinstance(verbs, list) and "list" in verbs:
            yield _Resource(
                group=group, version=version, kind=kind, plural=plural, namespaced=each.get("namespaced") is True
            )


def _list_matched(api: Lists, resource: _Resource, *, namespace: str) -> Iterator[Batch]:
    within = f"namespaces/{namespace}/" if namespace else ""
    seen = 0
    for page in cluster_api.list_pages(
        api, f"{group_path(resource.group, resource.version)}/{within}{resource.plural}", size=PAGE
    ):
        if isinstance(page, Refused):
            yield not_listed(resource.name, page, after=seen)
            return
        seen += len(page.items)
        values = ({"apiVersion": resource.api_version, "kind": resource.kind, **each} for each in page.items)
        items = tuple(Item(value=each) for each in values)
        yield Batch(source=resource.name, for_policies=items, is_file=False)


def _note(source: str, reason: str) -> Batch:
    return Batch(source=source, notes=(findings.Note(source=source, reason=reason),), is_file=False)
