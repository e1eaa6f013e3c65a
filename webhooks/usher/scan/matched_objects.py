"""Lists the objects of a cluster that only Gatekeeper policies judge, for `usher audit`.

It uses the kinds that the API server serves. The report names a kind that usher may not list. It lists Secrets, Events
and Leases only if a constraint names them, because of their contents and their number.
"""

from collections.abc import Collection, Iterator
from typing import Final

from usher import paths
from usher.cluster import api as cluster_api
from usher.cluster.api import Lists, Refused, group_path
from usher.dataclass import dataclass
from usher.gatekeeper.matched_kinds import ANY, MatchedKind
from usher.kinds import registry
from usher.scan import findings
from usher.scan.batches import Batch, Item
from usher.scan.cluster import PAGE, not_listed

_LISTED_ANYWAY: Final = frozenset(kind.group_and_kind for kind in registry.LISTED)

_NAMED_ALONE: Final = frozenset(
    {("", "Secret"), ("", "Event"), ("events.k8s.io", "Event"), ("coordination.k8s.io", "Lease")}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Resource:
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


def read(api: Lists, kinds: Collection[MatchedKind], *, namespace: str = "") -> Iterator[Batch]:
    """The objects of those of these kinds that usher's own checks do not list, one batch per page.

    Raises:
        ClusterError: the API server does not answer.
    """
    served = set[tuple[str, str]](_LISTED_ANYWAY)
    for group, version in sorted(_versions(api).items()):
        if not any(each.group in (ANY, group) for each in kinds):
            continue
        answer = api.get(group_path(group, version))
        if answer.status != 200:
            name = f"{group}/{version}" if group else version
            yield not_listed(name, Refused(status=answer.status, reason=answer.message))
            continue
        for resource in _resources(answer.value, group=group, version=version):
            served.add(resource.key)
            if resource.key not in _LISTED_ANYWAY and any(each.includes(*resource.key) for each in kinds):
                yield from _objects(api, resource, kinds, namespace=namespace)
    for each in kinds:
        if ANY not in (each.group, each.kind) and (each.group, each.kind) not in served:
            yield _note(
                f"{each.kind}.{each.group}".rstrip("."),
                "policies read it, and the cluster does not serve this kind",
            )


def _objects(api: Lists, resource: _Resource, kinds: Collection[MatchedKind], *, namespace: str) -> Iterator[Batch]:
    group, kind = resource.key
    if resource.key in _NAMED_ALONE and MatchedKind(group=group, kind=kind) not in kinds:
        yield _note(resource.name, "not judged by constraints that match all kinds; one that names the kind judges it")
    elif resource.namespaced or not namespace:
        yield from _list(api, resource, namespace=namespace)


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


def _list(api: Lists, resource: _Resource, *, namespace: str) -> Iterator[Batch]:
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
