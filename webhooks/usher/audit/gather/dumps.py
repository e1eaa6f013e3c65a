"""The objects of a cluster that were saved in files: what `kubectl get ... -o yaml` prints, a file at a time.

Only the API server gives an object a uid, so an object with one comes from a cluster. usher treats it as in a cluster:
objects of a listed workload count as part of it, and finished ones hold no accelerators.

`kubectl get deployments,pods` leaves out ReplicaSets. Without them, each pod would count in addition to its Deployment,
and not as part of it, so usher makes them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import BinaryIO, ClassVar, Final

import orjson
from msgspec import Struct
from msgspec.structs import replace

from usher import errors, paths
from usher.check import cluster_objects, findings, sources
from usher.check.batches import Batch, Item, comes_from_cluster
from usher.check.cluster_objects import Owners
from usher.check.findings import Note, Problem
from usher.check.sources import File, FileOrBatch, path_text
from usher.cluster.facts.store import Store
from usher.documents import chunks
from usher.kinds import registry
from usher.kinds.kind import Keep, Key
from usher.kinds.reading import pod_templates

_POD_KIND: Final[Key] = ("", "Pod")
_NODE_KIND: Final[Key] = ("", "Node")
_SLICE_KIND: Final[Key] = ("resource.k8s.io", "ResourceSlice")

_SYSTEM: Final = ("kube-system", "openshift-")
"""Nearly every cluster has pods in namespaces with these names."""

_SHOWN_NAMESPACES: Final = 3


class Gaps:
    """Compares the kinds and namespaces of the files."""

    def __init__(self) -> None:
        self._namespaces = set[str]()
        """The namespaces of pods."""
        self._claiming = 0

    def add(self, value: paths.Object, key: Key) -> None:
        """Takes an object that comes from a cluster."""
        if key != _POD_KIND:
            return
        self._namespaces.add(paths.text(paths.metadata(value).get("namespace")))
        spec = value.get("spec")
        self._claiming += isinstance(spec, dict) and bool(spec.get("resourceClaims"))

    def notes(self, kinds: AbstractSet[Key]) -> Iterator[Note]:
        """The gaps.

        Args:
            kinds: the kinds in the files.
        """
        if _NODE_KIND in kinds and self._namespaces and not any(each.startswith(_SYSTEM) for each in self._namespaces):
            names = sorted(self._namespaces)
            more = f" and {len(names) - _SHOWN_NAMESPACES:,} more" if len(names) > _SHOWN_NAMESPACES else ""
            yield Note(
                source="pods",
                reason=f"the files have those of {', '.join(names[:_SHOWN_NAMESPACES])}{more}, "
                "and not one of kube-system; if the cluster has other namespaces (kubectl get -A), more GPUs are "
                "allocated and fewer are free",
            )
        if self._claiming and _SLICE_KIND not in kinds:
            pods = "1 pod claims" if self._claiming == 1 else f"{self._claiming:,} pods claim"
            yield Note(
                source="resourceslices.resource.k8s.io",
                reason=f"{pods} devices, and the devices of nodes are not in the files: they count in no number; add "
                "deviceclasses,resourceslices,resourceclaims,resourceclaimtemplates to the dump",
            )


_NAMESPACE: Final[Key] = ("", "Namespace")

_REMEDY: Final = "dump one cluster, once, into a folder of its own"


class Repeated:
    """Counts each object of a cluster once: the first with its kind, namespace and name.

    There are as many objects as pods, so it keeps hashes and not texts.
    """

    def __init__(self) -> None:
        self._uids: dict[int, int] = {}
        """Uids by name."""
        self._states = set[int]()
        """Hashes of uids with their versions."""
        self._again = set[tuple[str, int, int]]()
        """Files with their parts, and the numbers of the objects in them to leave out."""
        self._changed = 0
        self._others = 0
        """Number of objects with the name of an earlier one and another uid."""
        self._other = Problem(source="", reason="")
        """The problem with the first of them."""
        self._manifests = dict[int, int]()
        """Number of objects without a uid, by name."""

    def add(self, batch: Batch) -> None:
        """Takes the objects of a file.

        Raises:
            InputError: a Node or a Namespace has two uids: the files hold two clusters, and no number would be right.
        """
        for number, item in enumerate(batch.items):
            metadata = paths.metadata(item.value)
            namespace, name = paths.text(metadata.get("namespace")), paths.text(metadata.get("name"))
            key, uid = cluster_objects.group_and_kind(item.value), paths.text(metadata.get("uid"))
            if not comes_from_cluster(item.value):
                manifest = hash((key, namespace or "default", name))
                self._manifests[manifest] = self._manifests.get(manifest, 0) + 1
                continue
            place, state = hash((key, namespace, name)), hash((uid, paths.text(metadata.get("resourceVersion"))))
            if place not in self._uids:
                self._uids[place] = hash(uid)
                self._states.add(state)
                continue
            self._again.add((batch.source, batch.part, number))
            if self._uids[place] != hash(uid):
                self._differs(key, "/".join(filter(None, (namespace, name))), batch.source)
            elif state not in self._states:
                self._changed += 1

    def _differs(self, key: Key, name: str, source: str) -> None:
        reason = (
            f"{key[1]} {name} has another uid than in a file before, so the files hold two clusters, or one cluster"
        )
        reason = f"{reason} at two times; {_REMEDY}"
        if key in (_NODE_KIND, _NAMESPACE):  # they keep their uid while a cluster is dumped
            raise errors.InputError(f"{source}: {reason}")
        if not self._others:
            self._other = Problem(source=source, reason=reason)
        self._others += 1

    def leaves_out(self, batch: Batch, number: int) -> bool:
        """Whether an object of a file, by its number there, occurs in an earlier file."""
        return (batch.source, batch.part, number) in self._again

    def problems(self) -> Iterator[Problem]:
        """Problems with objects that two clusters have, or that were created again between two dumps."""
        if self._others:
            more = f" ({self._others:,} objects)" if self._others > 1 else ""
            yield Problem(source=self._other.source, reason=f"{self._other.reason}{more}")

    def notes(self) -> Iterator[Note]:
        """Notes about objects that count once, and about manifests that count in addition to an object of
        the cluster. Afterwards the names are forgotten, before the objects are read again.
        """
        if number := len(self._again):
            reason = f"{number:,} {'stand' if number > 1 else 'stands'} in the files before, so each counts once"
            if self._changed:
                changed = "has changed" if self._changed == 1 else "have changed"
                reason += f"; {self._changed:,} of them {changed}, and the first state counts: {_REMEDY}"
            yield Note(source="repeated objects", reason=reason)
        if both := sum(number for name, number in self._manifests.items() if name in self._uids):
            have = "has" if both == 1 else "have"
            reason = f"{both:,} {have} the name of an object of the cluster; what both ask for is added up"
            yield Note(source="manifests", reason=reason)
        self._uids, self._states, self._manifests = {}, set(), {}


_HASH: Final = "pod-template-hash"
"""The label by which the Deployment controller distinguishes its ReplicaSets; their names end with its value."""


class ReplicaSets:
    """The ReplicaSets that pods name as their owner."""

    KEY: ClassVar[Key] = ("apps", "ReplicaSet")

    def __init__(self) -> None:
        self._deployments: dict[tuple[str, str], paths.Object] = {}
        """By namespace and name."""
        self._named: dict[str, tuple[str, str, str]] = {}
        """Namespace, name and Deployment of ReplicaSets, by uid."""

    def add(self, value: paths.Object, key: Key) -> None:
        """Takes an object of any kind."""
        metadata = paths.metadata(value)
        namespace, name = paths.text(metadata.get("namespace")), paths.text(metadata.get("name"))
        if key == ("apps", "Deployment"):
            identity = {each: value[each] for each in ("apiVersion", "kind")}
            self._deployments[namespace, name] = {**identity, "name": name, "uid": metadata["uid"], "controller": True}
        elif key == ("", "Pod"):
            owner, labels = paths.controller_reference(value), metadata.get("labels")
            suffix = paths.text(labels.get(_HASH)) if isinstance(labels, dict) else ""
            made, found = paths.text(owner.get("name")), cluster_objects.group_and_kind(owner)
            if found == self.KEY and suffix and made.endswith(f"-{suffix}"):
                self._named[paths.text(owner.get("uid"))] = (namespace, made, made.removesuffix(f"-{suffix}"))

    def made(self) -> Iterator[paths.Object]:
        """The ReplicaSets of Deployments in the files, without their templates."""
        for uid, (namespace, name, deployment) in self._named.items():
            owner = self._deployments.get((namespace, deployment))
            if owner is not None:
                metadata: paths.Object = {
                    "name": name,
                    "namespace": namespace,
                    "uid": uid,
                    "ownerReferences": [owner],
                }
                yield {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata}


_LIST: Final = "List"


class Survey:
    """Knowledge from all files together. It takes one file at a time, so that a whole cluster never has to fit in
    memory.
    """

    def __init__(self, keep: Mapping[Key, Keep]) -> None:
        """An empty survey.

        Args:
            keep: the kinds whose objects to keep, each with a function that reduces an object.
        """
        self._keep = keep
        self._owners = Owners()
        self._kinds = set[Key]()
        self._facts = list[paths.Object]()
        self._kept = defaultdict[Key, list[paths.Object]](list)
        self._repeated = Repeated()
        self._replica_sets = ReplicaSets()
        self._gaps = Gaps()

    def add(self, batch: Batch) -> None:
        """Takes the objects of a file.

        Raises:
            InputError: it comes from another cluster than an earlier file.
        """
        self._kinds.update(_without_objects(batch))
        self._repeated.add(batch)
        for number, item in enumerate(batch.items):
            value = item.value
            self._owners.add(value)
            if not comes_from_cluster(value) or self._repeated.leaves_out(batch, number):
                continue
            key = cluster_objects.group_and_kind(value)
            self._kinds.add(key)
            self._replica_sets.add(value, key)
            self._gaps.add(value, key)
            if key in registry.FACTS:
                self._facts.append(registry.FACTS[key].keep(value))
            if key in self._keep:
                self._kept[key].append(self._keep[key](value))

    def finished(self) -> Batch:
        """A batch for all files together: notes about missing objects, and objects that follow from others."""
        made = () if ReplicaSets.KEY in self._kinds else tuple(self._replica_sets.made())
        for value in made:
            self._owners.add(value)
        return Batch(
            source="the files together",
            aside=made,
            problems=tuple(self._repeated.problems()),
            notes=(*self._repeated.notes(), *self._gaps.notes(self._kinds)),
            is_file=False,
        )

    @property
    def kinds(self) -> AbstractSet[Key]:
        """The kinds for which the files hold all objects of the cluster, even if the cluster has zero objects."""
        return self._kinds

    @property
    def facts(self) -> Store:
        """The facts of the cluster behind the objects. The files have all objects of each kind in them.

        Manifests without a uid add no facts about a cluster.
        """
        return Store.of(self._facts)

    def kept(self, key: Key) -> Sequence[paths.Object]:
        """The kept objects of a kind. The survey forgets them."""
        return self._kept.pop(key, ())

    def settled(self, batch: Batch) -> Batch:
        """A file without the objects that are owned or finished in their cluster. Call it after all files were added.

        These objects are `aside`. It drops objects that an earlier file has too.
        """
        judged, aside, owned, again = list[Item](), list[paths.Object](), 0, 0
        for number, item in enumerate(batch.items):
            if not comes_from_cluster(item.value):
                judged.append(item)
            elif self._repeated.leaves_out(batch, number):
                again += 1
            elif self._owners.own(item.value) or self._is_judged_by_its_pods(item.value):
                aside.append(item.value)
                owned += 1
            elif registry.is_finished(item.value):
                aside.append(item.value)
            else:
                judged.append(replace(item, owner_is_hidden=True) if self._hides_owner_of(item.value) else item)
        if not aside and not again and not any(item.owner_is_hidden for item in judged):
            return batch
        return replace(batch, items=tuple(judged), aside=tuple(aside), owned=owned, finished=len(aside) - owned)

    def _hides_owner_of(self, value: paths.Object) -> bool:
        """Whether the files lack the kind of the owner that an object names, so that the owner may exist."""
        key = cluster_objects.group_and_kind(paths.controller_reference(value))
        return key not in self._kinds and cluster_objects.makes_objects(key)

    def _is_judged_by_its_pods(self, value: paths.Object) -> bool:
        """Whether an object has an unknown kind and makes pods without devices that are in the files: an object of an
        operator, for example a ClusterServiceVersion. An audit of the cluster does not list them either.
        """
        if (
            _POD_KIND not in self._kinds
            or cluster_objects.group_and_kind(value) in registry.BY_KEY
            or not pod_templates.find_pod_specs(value)
        ):
            return False
        return pod_templates.find_resource_requests(value, lambda resource: "/" in resource) == []


def is_dump(items: Iterable[Item]) -> bool:
    """Whether the objects of a file all come from a cluster."""
    return all(comes_from_cluster(item.value) for item in items)


def _without_objects(batch: Batch) -> Iterator[Key]:
    """The kinds that have no objects: from an empty list that names its kind, as `usher snapshot` writes.

    Other programs write one for each namespace. Their list counts if its `selfLink` covers all namespaces.
    """
    for document in batch.documents:
        value = document.value
        if not isinstance(value, dict) or value.get("items") != []:
            continue
        kind, link = paths.text(value.get("kind")), paths.text(paths.metadata(value).get("selfLink"))
        key = paths.text(value.get("apiVersion")).rpartition("/")[0], kind.removesuffix(_LIST)
        known = registry.BY_KEY.get(key)
        everywhere = (known is not None and known.cluster_scoped) or (link and "/namespaces/" not in link)
        if kind.endswith(_LIST) and key[1] and everywhere:
            yield key


LARGE_FILE: Final = chunks.MAX_DOCUMENT_BYTES
"""Bytes of a file that is read as a whole. A larger file cannot be one document."""

_BYTES_AT_ONCE: Final = 4 * 2**20
"""Bytes of lines to read at a time. Their objects take about ten times that in memory."""


class Lines(Struct, frozen=True, kw_only=True):
    """Some complete lines of a file."""

    path: Path
    explicit: bool
    start: int
    """The offset of the first byte."""
    size: int
    line: int
    """The number of the first line, from 1."""


def read_lines(lines: Lines) -> Batch:
    """The objects of some lines; a problem if they cannot be read, or are one line that is too long."""
    source = path_text(lines.path)
    if lines.size > chunks.MAX_DOCUMENT_BYTES:
        reason = f"the document is larger than {chunks.MAX_DOCUMENT_BYTES // 2**20} MiB; split it"
        return _problem(source, reason, line=lines.line)
    try:
        with lines.path.open("rb") as stream:
            stream.seek(lines.start)
            content = stream.read(lines.size)
    except OSError as error:
        return _problem(source, f"cannot be read: {error.strerror}", line=lines.line)
    found = sources.parse_content(content, source=source, explicit=lines.explicit, line=lines.line)
    return replace(found, part=lines.line)


def lines_of_file(file: File) -> Iterator[Lines] | Batch | None:
    """The lines of a large dump, a few at a time; None for a file that is read as a whole.

    A file without an object on each line is a problem if it is too large to be read as a whole.
    """
    if file.size <= LARGE_FILE or not file.is_regular:
        return None
    try:
        with file.path.open("rb") as stream:
            if _begins_with_object(stream):
                return _lines(file)
    except OSError:
        return None  # reading it as a whole reports the reason
    if file.size <= chunks.MAX_FILE_BYTES:
        return None
    reason = f"larger than {chunks.MAX_FILE_BYTES // 2**20} MiB; split it, or write a dump as a line for each object"
    return _problem(path_text(file.path), f"{reason}: of a List in JSON, jq -c '.items[]' does that")


def _begins_with_object(stream: BinaryIO) -> bool:
    """Whether the first line is an object of a cluster, so that others follow."""
    try:
        value = orjson.loads(stream.readline(chunks.MAX_DOCUMENT_BYTES + 1))
    except orjson.JSONDecodeError:
        return False
    return isinstance(value, dict) and "kind" in value and comes_from_cluster(value)


def _lines(file: File) -> Iterator[Lines]:
    with file.path.open("rb") as stream:
        start, line = 0, 1
        size = number = 0
        for length in _lengths(stream):
            if size and size + length > _BYTES_AT_ONCE:
                yield Lines(path=file.path, explicit=file.explicit, start=start, size=size, line=line)
                start, line, size, number = start + size, line + number, 0, 0
            size, number = size + length, number + 1
        if size:
            yield Lines(path=file.path, explicit=file.explicit, start=start, size=size, line=line)


def _lengths(stream: BinaryIO) -> Iterator[int]:
    """The bytes of each line with its end. It never holds a whole line."""
    length = 0
    while part := stream.readline(2**20):
        length += len(part)
        if part.endswith(b"\n"):
            yield length
            length = 0
    if length:
        yield length


def _problem(source: str, reason: str, *, line: int = 0) -> Batch:
    problem = findings.Problem(source=source, line=line, column=1 if line else 0, reason=reason)
    return Batch(source=source, problems=(problem,), part=line)


class DumpFiles(Struct, frozen=True, kw_only=True):
    """Files after the first reading."""

    survey: Survey
    """The knowledge about the cluster from all files."""
    together: Batch
    """The batch of objects and notes that follow from all files together."""
    found: Sequence[FileOrBatch | Lines]
    """The files in order: dumps as files or parts of large files, all others with their settled objects."""

    @property
    def manifests(self) -> Sequence[Batch]:
        """The files that are applied together, so that each may affect the verdicts about the others."""
        return [each for each in self.found if isinstance(each, Batch)]

    def batches(self) -> Iterator[Batch]:
        """All files in order, settled. It reads each dump again when its turn comes."""
        for each in self.found:
            yield each if isinstance(each, Batch) else self.survey.settled(_load(each))


def read_files(found: Iterable[FileOrBatch], *, survey: Survey) -> DumpFiles:
    """The files, after the survey has taken them.

    Raises:
        InputError: the files hold two clusters.
    """
    surveyed = [_surveyed(part, survey) for each in found for part in _file_parts(each)]
    together = survey.finished()
    settled = [survey.settled(each) if isinstance(each, Batch) else each for each in surveyed]
    return DumpFiles(survey=survey, together=together, found=settled)


def _file_parts(found: FileOrBatch) -> Iterator[FileOrBatch | Lines]:
    """A file unchanged, or the parts of a large dump."""
    parts = lines_of_file(found) if isinstance(found, File) else None
    if parts is None or isinstance(parts, Batch):
        yield parts or found
    else:
        yield from parts


def _load(found: FileOrBatch | Lines) -> Batch:
    return read_lines(found) if isinstance(found, Lines) else sources.load(found)


def _surveyed(found: FileOrBatch | Lines, survey: Survey) -> FileOrBatch | Lines:
    batch = _load(found)
    survey.add(batch)
    again = isinstance(found, Lines) or (isinstance(found, File) and found.is_regular)
    return found if again and is_dump(batch.items) else batch
