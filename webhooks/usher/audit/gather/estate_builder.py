"""Builds an `Estate` from objects that come page by page, in any order. It keeps small values only.

It folds pods into the workloads at the top of their owners, so that each pod counts exactly once, with the decisions.
Anybody can write an owner into an object. So an owner counts only if it was listed itself, is in the same namespace (or
in no namespace), and is of a kind that makes other objects. An object whose owner does not count is at the top of its
own tree, so that no reference takes it out of an audit.

A decision has seen the objects that a workload names, the mutations of a manifest and the autoscalers of its files. So
it counts what the object alone does not say.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from sys import intern
from typing import Final

from msgspec import Struct, field, structs
from msgspec.structs import replace

from usher import model, paths
from usher.audit.gather import accelerator_objects
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import ENDED, WHOLE, Estate, Missing, Node, Pod, Scope, Workload
from usher.audit.gather.gpus import Claimable
from usher.audit.gather.needed_inputs import RESOURCE_SLICE, Wanted
from usher.audit.gather.object_fields import Manifests, Packed, PackedRows
from usher.authorities.knowledge import Knowledge
from usher.check import cluster_objects, devices
from usher.check.batches import comes_from_cluster
from usher.check.findings import Identity, Result
from usher.cluster.facts.store import Recorded, State
from usher.kinds import registry
from usher.kinds.kind import Key
from usher.kinds.reading.values import Absence
from usher.policy.mutation import merge


class Listed(Struct, frozen=True, gc=False):
    """An object that may own others. Repeated texts share memory."""

    api_version: str
    kind: str
    namespace: str
    name: str
    controller: str
    """The uid of its controlling owner; empty without one."""


def _listed(value: paths.Object) -> Listed:
    """An object by its name as written."""
    metadata = paths.metadata(value)
    return Listed(
        intern(paths.text(value.get("apiVersion"))),
        intern(paths.text(value.get("kind"))),
        intern(paths.text(metadata.get("namespace"))),
        paths.text(metadata.get("name")),
        intern(paths.text(paths.controller_reference(value).get("uid"))),
    )


class Trees:
    """The objects that may own others, by uid."""

    def __init__(self) -> None:
        self._listed: dict[str, Listed] = {}
        """All of them but pods, and the pods that own others."""
        self._pods = PackedRows()
        self._tops: dict[str, str] = {}
        """Remembered answers, valid until an object is added."""

    def add(self, value: paths.Object) -> None:
        """Takes an object. One without a uid, as in a manifest, owns nothing."""
        uid = paths.text(paths.metadata(value).get("uid"))
        key = cluster_objects.group_and_kind(value)
        # usher knows nothing about other kinds, and they may well make pods.
        # The first of several objects with one uid counts: a later one cannot take over what it owns.
        makes_objects = cluster_objects.makes_objects(key) or key not in registry.BY_KEY
        if uid and makes_objects and self._find(uid) is None:
            if key == _POD:
                self._pods.add([uid, *structs.astuple(_listed(value))])
            else:
                self._listed[intern(uid)] = _listed(value)
            self._tops.clear()

    def _find(self, uid: str) -> Listed | None:
        found = self._listed.get(uid)
        if found is None and (row := self._pods.get(uid)) is not None:
            found = self._listed[uid] = Listed(*row[1:])
        return found

    def owner(self, uid: str, namespace: str) -> str:
        """The uid itself if a listed object has it and may own objects of the namespace; else empty."""
        found = self._find(uid)
        return uid if found is not None and found.namespace in ("", namespace) else ""

    def top(self, uid: str, namespace: str) -> str:
        """The uid of the object at the top of the tree above an object of the namespace; empty without an owner.

        Args:
            uid: the controlling owner that the object names.
        """
        known = self._tops.get(uid)
        if known is not None and self.owner(known, namespace):
            return known
        way, current = list[str](), self.owner(uid, namespace)
        while current and current not in way:
            way.append(current)
            listed = self._listed[current]
            above = self.owner(listed.controller, listed.namespace or namespace)
            if not above:
                break
            current = above
        # Objects that own each other in a circle have no top: the smallest uid stands for all of them.
        found = min(way[way.index(current) :]) if way and current in way[:-1] else current
        if found:
            self._tops[uid] = found
        return found

    def root(self, uid: str) -> str:
        """The uid of the object at the top of the tree of a listed object: itself if it has no owner."""
        listed = self._find(uid)
        return uid if listed is None else self.top(listed.controller, listed.namespace) or uid

    def identity(self, uid: str) -> Identity:
        """The name of a listed object."""
        found = self._listed[uid]
        return Identity(api_version=found.api_version, kind=found.kind, namespace=found.namespace, name=found.name)


class Held(Struct, frozen=True, gc=False):
    """A pod with accelerators, and its owner."""

    pod: Pod
    owner: str
    """The uid of its controlling owner."""
    alone: Workload | None
    """The workload that a pod like it is on its own; None if its owner was listed before it."""
    owner_kind: str = ""
    group: str = ""
    group_size: int = 0

    @property
    def own(self) -> Workload | None:
        """The pod as a workload of its own; None if its owner was listed before it."""
        pod, like = self.pod, self.alone
        if like is None:
            return None
        identity = replace(like.identity, name=pod.name)
        return replace(like, identity=identity, uid=pod.uid, created=pod.created, asks=pod.devices, pods=(pod,))


class Gathered(Struct):
    """Everything read so far."""

    nodes: dict[str, Node] = field(default_factory=dict)
    """By name."""
    plain_nodes: Packed = field(default_factory=Packed)
    """Nodes without an accelerator as a resource; drivers may offer some for claims."""
    claimable: Claimable = field(default_factory=Claimable)
    nodes_known: bool = False
    trees: Trees = field(default_factory=Trees)
    tops: dict[str, Workload] = field(default_factory=dict)
    """Objects that make pods and that had no listed owner when they were read, by uid."""
    manifests: list[Workload] = field(default_factory=list)
    """Objects that make pods and have no uid, because they never were in a cluster."""
    texts: Manifests = field(default_factory=Manifests)
    """The objects of workloads with accelerators, by uid."""
    finished: set[str] = field(default_factory=set)
    """The uids of the workloads that have run to their end."""
    held: dict[str, Held] = field(default_factory=dict)
    """Pods with accelerators by uid, so that a pod that is read twice counts once."""
    claims: dict[str, str] = field(default_factory=dict)
    """The uid of the first pod of each claim, by which its devices count."""
    others: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Number of pods without accelerators, by the uid of the owner that they name and their namespace."""
    objects: dict[Key, Packed | Absence] = field(default_factory=dict)
    """Other objects that sections want."""
    recorded: set[Key] = field(default_factory=set)
    """The kinds whose objects were all read, in the whole cluster."""
    teams: dict[str, str] = field(default_factory=dict)
    """Teams by namespace."""
    cluster_id: str = ""
    pods: int = 0
    pods_known: bool = False
    missing: list[Missing] = field(default_factory=list)

    def kept(self, key: Key) -> Packed:
        """The kept objects of a wanted kind, for adding one."""
        found = self.objects.get(key)
        if not isinstance(found, Packed):
            found = self.objects[key] = Packed()
        return found


class Folded(Struct, frozen=True, kw_only=True):
    workloads: tuple[Workload, ...]
    """The workloads that hold or want accelerators, by namespace, kind and name."""
    unlisted_owners: tuple[Missing, ...]


def fold_workloads(gathered: Gathered) -> Folded:
    """The workloads with their pods."""
    trees = gathered.trees
    below, alone = defaultdict[str, list[Pod]](list), list[Held]()
    for each in gathered.held.values():
        top = trees.top(each.owner, each.pod.namespace)
        if top:
            below[top].append(each.pod)
        else:
            alone.append(each)
    others = Counter[str]()
    for (owner, namespace), number in gathered.others.items():
        others[trees.top(owner, namespace)] += number
    found = [*_of_tops(gathered, below, others), *_of_pods(alone, below), *_unread(trees, below)]
    unlisted = Counter(each.owner_kind for each in alone if each.owner_kind)
    return Folded(
        workloads=tuple(sorted(found, key=_name_order)),
        unlisted_owners=tuple(
            Missing(source=kind, reason="owns pods with accelerators and was not listed", read=number)
            for kind, number in sorted(unlisted.items())
        ),
    )


def _name_order(workload: Workload) -> tuple[str, str, str, str]:
    identity = workload.identity
    return identity.namespace, identity.kind, identity.name, identity.api_version


def _of_tops(gathered: Gathered, below: dict[str, list[Pod]], others: Counter[str]) -> Iterator[Workload]:
    """The workloads of objects that make pods. It removes their pods from `below`."""
    for uid, workload in gathered.tops.items():
        if gathered.trees.root(uid) != uid:
            continue  # its owner came later
        pods = below.pop(uid, [])
        wants = _may_want(workload) and uid not in gathered.finished
        if pods or wants:
            yield replace(workload, pods=_by_name(pods), other_pods=others[uid])
    yield from filter(_may_want, gathered.manifests)


def _may_want(workload: Workload) -> bool:
    return any(workload.asks.values()) or not workload.asks_known


def _of_pods(alone: Iterable[Held], below: dict[str, list[Pod]]) -> Iterator[Workload]:
    """The workloads of pods without a listed owner: each with the pods that it owns, or grouped as Kueue
    groups them.
    """
    groups = defaultdict[tuple[str, str], list[Held]](list)
    for each in alone:
        if each.group:
            groups[each.pod.namespace, each.group].append(each)
        elif (workload := each.own) is not None:
            yield replace(workload, pods=_by_name([each.pod, *below.pop(each.pod.uid, [])]))
    for (_, name), members in groups.items():
        members.sort(key=lambda each: (each.pod.name, each.pod.uid))
        own = [workload for each in members if (workload := each.own) is not None]
        group = accelerator_objects.grouped(own, name=name, size=max(each.group_size for each in members))
        owned = [pod for each in members for pod in below.pop(each.pod.uid, [])]
        yield replace(group, pods=_by_name([*(each.pod for each in members), *owned]))


def _unread(trees: Trees, below: dict[str, list[Pod]]) -> Iterator[Workload]:
    """The workloads of owners whose templates usher does not know, or that request nothing themselves."""
    for uid, pods in below.items():
        yield _from_pods(trees, uid, _by_name(pods))


def _from_pods(trees: Trees, uid: str, pods: Sequence[Pod]) -> Workload:
    return Workload(
        identity=trees.identity(uid),
        uid=uid,
        created=None,
        role=model.Role.UNKNOWN,
        wanted=model.Count(minimum=len(pods), maximum=len(pods)),
        asks=devices.added(pod.devices for pod in pods),
        pods=tuple(pods),
    )


def _by_name(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    return tuple(sorted(pods, key=lambda pod: (pod.name, pod.uid)))


class Decisions:
    """The decisions about workloads, by their names. Several manifests may have one name."""

    def __init__(self, results: Sequence[Result]) -> None:
        self._results = results
        self._places = defaultdict[tuple[Identity, bool], list[int]](list)
        for index, result in enumerate(results):
            if result.makes_pods:
                self._places[result.identity, result.exists].append(index)

    def apply(self, gathered: Gathered) -> None:
        """Adds the decisions to the workloads."""
        for uid, workload in gathered.tops.items():
            gathered.tops[uid] = self._decided(workload, self._last(workload))
        met = defaultdict[Identity, int](int)
        for number, workload in enumerate(gathered.manifests):
            # Both lists are in the order of the files.
            places = self._places.get((workload.identity, False), [])
            place = met[workload.identity]
            met[workload.identity] += 1
            gathered.manifests[number] = self._decided(workload, places[place] if place < len(places) else -1)

    def _last(self, workload: Workload) -> int:
        return self._places.get((workload.identity, workload.exists), [-1])[-1]

    def _decided(self, workload: Workload, place: int) -> Workload:
        if place < 0:
            return workload
        result = self._results[place]
        return replace(
            workload,
            wanted=result.pods,
            asks=result.accelerators,
            asks_known=result.accelerators_known,
            index=place,
        )

    def place(self, workload: Workload) -> int:
        """The place of a workload among the decisions; -1 if it was not judged."""
        return workload.index if workload.index >= 0 else self._last(workload)

    def admitted(
        self, workloads: Iterable[Workload], manifests: Mapping[str, paths.Object]
    ) -> Mapping[str, paths.Object]:
        """The objects of workloads by uid; for a manifest, the object after the mutating webhook."""
        changes = {
            each.uid: change.merged.operations
            for each in workloads
            if not each.exists and each.index >= 0 and (change := self._results[each.index].change) is not None
        }
        return {
            uid: merge.patched(value, changes[uid]) if changes.get(uid) else value for uid, value in manifests.items()
        }


_POD: Final[Key] = ("", "Pod")
_NODE: Final[Key] = ("", "Node")
_NAMESPACE: Final[Key] = ("", "Namespace")
_SLICE: Final = RESOURCE_SLICE.key
_SYSTEM: Final = "kube-system"


class EstateBuilder:
    """Collects objects and makes an estate of them."""

    def __init__(
        self, known: Knowledge, *, wanted: Iterable[Wanted] = (), namespace: str = "", scope: Scope = WHOLE
    ) -> None:
        """An empty estate.

        Args:
            known: reads workloads as admission does.
            wanted: the other kinds to keep.
            namespace: the namespace of objects without one.
            scope: the part of the cluster whose workloads and pods count.
        """
        self._known = known
        self._namespace = namespace
        self._scope = scope
        self._workloads = accelerator_objects.WorkloadReader(known.config)
        self._pods = accelerator_objects.PodReader(self._normalised, self._workloads)
        self._gathered = Gathered()
        self._wanted = {each.key: each for each in wanted}
        self._readers: Mapping[Key, Callable[[paths.Object], None]] = {
            _POD: self._pod,
            _NODE: self._node,
            _NAMESPACE: self._namespace_object,
            _SLICE: self._slice,
        }

    def add(self, value: paths.Object) -> None:
        """Takes an object of any kind; it may have any shape."""
        key, metadata = cluster_objects.group_and_kind(value), paths.metadata(value)
        if (wanted := self._wanted.get(key)) is not None and not self._is_recorded(key, value):
            self._gathered.kept(key).append(wanted.keep(value))
        reader = self._readers.get(key)
        if self._is_elsewhere(key, metadata):
            return
        if reader is not None:
            reader(value)
        elif key in registry.WORKLOADS or key not in registry.BY_KEY:
            self._object(value, key)

    def _is_elsewhere(self, key: Key, metadata: Mapping[str, paths.Json]) -> bool:
        """Whether an object is in a namespace that does not count. Nodes always count: they define the
        devices of pods.
        """
        if self._scope.is_whole or key in (_NODE, _NAMESPACE, _SLICE):
            return False
        namespace = paths.text(metadata.get("namespace") or self._namespace)
        return bool(namespace) and not self._scope.has(namespace)

    def knows_nodes(self) -> None:
        """Notes that all nodes were listed, even if there was no node."""
        self._gathered.nodes_known = True

    def knows_pods(self) -> None:
        """Notes that all pods were listed, even if there was no pod."""
        self._gathered.pods_known = True

    def misses_pods(self, reason: str) -> None:
        """Notes that usher may not list pods, so that the held accelerators are unknown."""
        text = f"{reason}; so the numbers of allocated and waiting accelerators are not known"
        self._gathered.missing.append(Missing(source="pods", reason=text))

    def record(self, recorded: Recorded) -> None:
        """Takes all objects of a wanted kind, or the fact that usher cannot read it."""
        key = recorded.kind.key
        if recorded.state is State.MISSING:
            self._gathered.objects[key] = Absence.MISSING
        if recorded.state is not State.KNOWN:
            return
        self._gathered.recorded.add(key)
        values = recorded.values
        self._gathered.objects[key] = values if isinstance(values, Packed) else Packed(values)
        for value in values if key == _SLICE else ():
            self._slice(value)
        for value in values if key == _NODE and not self._scope.is_whole else ():
            # Lists of one namespace have no nodes.
            self._node(value)

    def _is_recorded(self, key: Key, value: paths.Object) -> bool:
        """Whether an object of the cluster was already recorded with all objects of its kind."""
        return key in self._gathered.recorded and comes_from_cluster(value)

    def _slice(self, value: paths.Object) -> None:
        self._gathered.claimable.add(value)

    def _node(self, value: paths.Object) -> None:
        name = paths.text(paths.metadata(value).get("name"))
        self._gathered.nodes_known = True
        found = accelerator_objects.read_node(value, self._known.vocabulary_of_cluster)
        if found is not None:
            self._gathered.nodes[name] = found
        else:
            self._gathered.plain_nodes.append(accelerator_objects.trimmed_node(value))

    def _namespace_object(self, value: paths.Object) -> None:
        metadata = paths.metadata(value)
        team = self._workloads.team(fields.text_entries(metadata.get("labels")))
        if team:
            self._gathered.teams[paths.text(metadata.get("name"))] = team
        if metadata.get("name") == _SYSTEM:
            self._gathered.cluster_id = paths.text(metadata.get("uid"))

    def _object(self, value: paths.Object, key: Key) -> None:
        """Takes an object that makes pods, or whose kind usher does not know."""
        metadata = paths.metadata(value)
        uid, owner = paths.text(metadata.get("uid")), paths.text(paths.controller_reference(value).get("uid"))
        self._gathered.trees.add(value)
        if self._gathered.trees.owner(owner, paths.text(metadata.get("namespace"))):
            return
        read = self._normalised(value)
        if read is None or not read.makes_pods:
            return
        workload = self._workloads.of(value, read, with_labels=read.asks_accelerators or bool(read.unknowns))
        if not uid:
            # A manifest has its place as uid, so that usher finds its text.
            uid = f"manifest {len(self._gathered.manifests)}"
            self._gathered.manifests.append(replace(workload, uid=uid))
        else:
            self._gathered.tops[uid] = workload
        known = registry.BY_KEY.get(key)
        if known is not None and known.finished(value):
            self._gathered.finished.add(uid)
        elif read.asks_accelerators:
            self._gathered.texts.add(uid, value)

    def _pod(self, value: paths.Object) -> None:
        if not comes_from_cluster(value):
            self._object(value, _POD)  # a manifest, which neither runs nor waits
            return
        self._gathered.pods += 1
        self._gathered.pods_known = True
        self._gathered.trees.add(value)
        if accelerator_objects.phase_of(value) in ENDED:
            return
        reference = paths.controller_reference(value)
        owner = intern(paths.text(reference.get("uid")))
        asked = self._pods.asked(value)
        if not asked.devices:
            namespace = intern(paths.text(paths.metadata(value).get("namespace")))
            self._gathered.others.update([(owner, namespace)] if owner else [])
            return
        uid = paths.text(paths.metadata(value).get("uid"))
        taken = self._gathered.claims
        others = frozenset(each for each in asked.claims if taken.setdefault(each, uid) != uid)
        found = accelerator_objects.pod_of(value, asked.without(others))
        alone = None
        if not self._gathered.trees.owner(owner, found.namespace) and asked.alone is not None:
            alone = self._alone(value, asked.alone, found)
        self._gathered.held[found.uid] = Held(
            found,
            owner,
            alone,
            owner_kind=_kind(reference) if alone is not None and owner else "",
            group="" if alone is None else accelerator_objects.pod_group(value),
            group_size=0 if alone is None else accelerator_objects.group_size(value),
        )

    def _alone(self, value: paths.Object, like: Workload, found: Pod) -> Workload:
        """The workload that a pod like it is on its own, with what the pod itself reports."""
        if not found.holds:
            self._gathered.texts.add(found.uid, value)
        reported = accelerator_objects.read_report(value)
        return like if reported == like.reported else replace(like, reported=reported)

    def _normalised(self, value: paths.Object) -> model.Workload | None:
        return self._known.workload(value, namespace=self._namespace)

    def built(self, *, results: Sequence[Result] = (), missing: Iterable[Missing] = ()) -> Estate:
        """The estate of all objects so far. Afterwards the builder is empty again.

        Args:
            results: the decisions about them; workloads refer to them by index.
            missing: what could not be read.
        """
        # Frees the objects before the report is made.
        gathered, self._gathered = self._gathered, Gathered()
        decided = Decisions(results)
        decided.apply(gathered)
        folded = fold_workloads(gathered)
        found = tuple(
            replace(each, team=_team(each, gathered.teams), index=decided.place(each)) for each in folded.workloads
        )
        waiting = (each.uid for each in found if not any(pod.holds for pod in each.pods))
        return Estate(
            nodes=self._nodes(gathered),
            workloads=found,
            objects={key: gathered.objects.get(key, Absence.NOT_KNOWN) for key in sorted(self._wanted)},
            manifests=decided.admitted(found, gathered.texts.of(waiting)),
            pods_read=gathered.pods,
            pods_known=gathered.pods_known,
            # The names of namespaces do not affect where a workload could run.
            facts_known=any(self._known.facts.knows(*key) for key in registry.FACTS if key != _NAMESPACE),
            teams=gathered.teams,
            missing=(*gathered.missing, *missing),
            unlisted_owners=folded.unlisted_owners,
            cluster_id=gathered.cluster_id,
            scope=self._scope,
        )

    def _nodes(self, gathered: Gathered) -> tuple[Node, ...] | None:
        if not gathered.nodes_known:
            return None
        found = dict(gathered.nodes)
        if gathered.claimable:
            found = {
                name: replace(each, offered_twice=tuple(gathered.claimable.of(name))) for name, each in found.items()
            }
        for value in gathered.plain_nodes if gathered.claimable else ():
            name = paths.text(paths.metadata(value).get("name"))
            claimable, memory = gathered.claimable.of(name), gathered.claimable.memory(name)
            node = accelerator_objects.read_node(
                value, self._known.vocabulary_of_cluster, claimable=claimable, memory=memory
            )
            if node is not None:
                found[node.name] = node
        return tuple(found[name] for name in sorted(found))


def _team(workload: Workload, teams: Mapping[str, str]) -> str:
    namespace = workload.identity.namespace
    return workload.team or teams.get(namespace, namespace)


def _kind(reference: paths.Object) -> str:
    """The kind of an owner as in `kubectl get`, but singular; empty for a node, which owns its static pods."""
    if (reference.get("apiVersion"), reference.get("kind")) == ("v1", "Node"):
        return ""
    group = paths.text(reference.get("apiVersion")).rpartition("/")[0]
    return intern(".".join(filter(None, (paths.text(reference.get("kind")), group))))
