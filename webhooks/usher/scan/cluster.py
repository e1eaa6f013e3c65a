"""Reads the objects of a live cluster: every kind that usher knows and the API server serves, a page at a time."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from usher import errors, paths
from usher.cluster import listing
from usher.cluster.api import Lists, root
from usher.cluster.listing import Refused
from usher.config.models import EXEMPTION_LABEL
from usher.kinds import registry
from usher.kinds.kind import Kind
from usher.scan import findings
from usher.scan.batches import Batch, Item

PAGE: Final = 500
"""Objects per request, and so in memory at a time; kubectl asks for as many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A kind in the version that the API server serves."""

    kind: Kind
    version: str

    @property
    def name(self) -> str:
        """As in `kubectl get`."""
        return self.kind.resource

    def path(self, namespace: str) -> str:
        within = f"namespaces/{namespace}/" if namespace else ""
        return f"{root(self.kind.group, self.version)}/{within}{self.kind.plural}"

    def completed(self, value: paths.Object) -> paths.Object:
        """An object of a list with its kind and version, which built-in kinds leave out there."""
        version = f"{self.kind.group}/{self.version}" if self.kind.group else self.version
        return {"apiVersion": version, "kind": self.kind.kind, **value}


def read(api: Lists, *, namespace: str = "") -> Iterator[Batch]:
    """The objects of a cluster, one batch per page.

    Objects that a controller made for a listed workload are left out: they count as part of it. An owner must have been
    listed itself, so that no object leaves an audit by naming a false one. Finished objects are left out as well,
    because they hold no GPUs.

    Raises:
        ClusterError: the API server does not answer, or usher may list no kind at all.
    """
    resources, refused = _served(api)
    yield from refused
    if namespace:
        # Cluster-scoped kinds belong to no namespace.
        resources = [resource for resource in resources if not resource.kind.cluster_scoped]
    uids: set[str] = set()
    exempt: set[str] = set()
    anything_allowed = False
    for resource in sorted(resources, key=_owners_first):
        try:
            for batch in _list(api, resource, namespace=namespace, uids=uids):
                anything_allowed |= not batch.notes
                if resource.kind.kind == "Namespace":
                    exempt.update(_exempt(batch.items))
                    yield batch
                else:
                    yield _without(batch, exempt)
        except errors.ClusterError as error:
            if not anything_allowed:
                raise
            # Report what was judged so far; requests for the other kinds would only take time.
            problem = findings.Problem(source=resource.name, reason=f"the audit ended here: {error}")
            yield Batch(source=resource.name, problems=(problem,), is_file=False)
            return
    for name in sorted(exempt):
        note = findings.Note(source=f"namespace {name}", reason=f"its label {EXEMPTION_LABEL} exempts it")
        yield Batch(source=note.source, notes=(note,), is_file=False)
    if not anything_allowed:
        where = f" in namespace {namespace}" if namespace else ""
        raise errors.ClusterError(
            f"{api.name}: usher may list no kind of workload{where}; the audit needs the verb list on them, "
            "see `kubectl auth can-i --list`"
        )


def _without(batch: Batch, exempt: Collection[str]) -> Batch:
    """The batch without the objects of exempt namespaces."""
    kept = [
        tuple(item for item in items if _namespace(item) not in exempt) for items in (batch.items, batch.for_policies)
    ]
    return replace(batch, items=kept[0], for_policies=kept[1])


def _exempt(namespaces: Iterable[Item]) -> Iterator[str]:
    for item in namespaces:
        metadata = paths.metadata(item.value)
        labels, name = metadata.get("labels"), metadata.get("name")
        if isinstance(labels, dict) and labels.get(EXEMPTION_LABEL) == "true" and isinstance(name, str):
            yield name


def _namespace(item: Item) -> object:
    return paths.metadata(item.value).get("namespace")


def _owners_first(resource: Resource) -> tuple[bool, int, str]:
    """Owners come before the objects that they own, so that a page knows which objects belong to a listed workload.

    Namespaces come first: their labels exempt objects.
    """
    key = resource.kind.group_and_kind
    return key != ("", "Namespace"), registry.owners_above(key), resource.name


def _served(api: Lists) -> tuple[list[Resource], list[Batch]]:
    """The served kinds, each in the first of our versions that is served, and the groups that cannot be discovered."""
    resources: dict[tuple[str, str], Resource] = {}
    refused = []
    served = registry.LISTED
    versions = dict.fromkeys((kind.group, version) for kind in served for version in kind.versions)
    for group, version in versions:
        answer = api.get(root(group, version))
        if answer.status == 404:
            continue
        if answer.status != 200:
            name = f"{group}/{version}" if group else version
            refused.append(not_listed(name, Refused(status=answer.status, reason=answer.message)))
            continue
        plurals = _plurals(answer.value)
        for kind in served:
            if kind.group == group and version in kind.versions and kind.plural in plurals:
                resources.setdefault((kind.group, kind.kind), Resource(kind=kind, version=version))
    return list(resources.values()), refused


def _list(api: Lists, resource: Resource, *, namespace: str, uids: set[str]) -> Iterator[Batch]:
    """All objects of one kind, one batch per page."""
    seen: set[str] = set()
    for page in listing.pages(api, resource.path(namespace), size=PAGE, resume=True):
        if isinstance(page, Refused):
            yield not_listed(resource.name, page, after=len(seen))
            return
        fresh = [resource.completed(item) for item in page.items if _uid(item) not in seen or not _uid(item)]
        seen.update(map(_uid, fresh))
        own = [item for item in fresh if not _owners(item) & uids]
        live = [item for item in own if not resource.kind.finished(item)]
        judged = {id(item) for item in live}
        yield Batch(
            source=resource.name,
            items=tuple(Item(value=item) for item in live),
            for_policies=tuple(Item(value=item) for item in fresh if id(item) not in judged),
            owned=len(fresh) - len(own),
            finished=len(own) - len(live),
            is_file=False,
        )
        if resource.kind.pods is not None and resource.kind.kind != "Pod":
            uids.update(map(_uid, fresh))


def not_listed(name: str, refused: Refused, *, after: int = 0) -> Batch:
    """Why a kind has no objects: a note for 403, as the cluster is set up so; else a problem, and so incomplete."""
    if refused.forbidden:
        reason = f"not evaluated, because it may not be listed: {refused.reason}"
        return Batch(source=name, notes=(findings.Note(source=name, reason=reason),), is_file=False)
    so_far = f" after {after:,} objects" if after else ""
    problem = findings.Problem(source=name, reason=f"the list ended{so_far}: {refused.reason}; run the audit again")
    return Batch(source=name, problems=(problem,), is_file=False)


def _plurals(value: paths.Object) -> set[str]:
    resources = value.get("resources")
    names = [each.get("name") for each in resources if isinstance(each, dict)] if isinstance(resources, list) else []
    return {name for name in names if isinstance(name, str)}


def _uid(value: paths.Object) -> str:
    return paths.text(paths.metadata(value).get("uid"))


def _owners(value: paths.Object) -> set[str]:
    """The uid of the controlling owner, if the object has one."""
    references = paths.metadata(value).get("ownerReferences")
    return set(_controllers(references if isinstance(references, list) else []))


def _controllers(references: Iterable[paths.Json]) -> Iterator[str]:
    for reference in references:
        if isinstance(reference, dict) and reference.get("controller") is True:
            uid = reference.get("uid")
            if isinstance(uid, str) and uid:
                yield uid
