"""Builds an `Estate` from objects that come page by page, in any order. It keeps small values only."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from sys import intern
from typing import Final

from msgspec.structs import replace

from usher import model, paths
from usher.audit.gather import accelerator_objects, folded_workloads
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import ENDED, WHOLE, Estate, Missing, Node, Pod, Scope, Workload
from usher.audit.gather.folded_workloads import Gathered, Held
from usher.audit.gather.needed_inputs import RESOURCE_SLICE, Wanted
from usher.audit.gather.object_fields import Packed
from usher.authorities.knowledge import Knowledge
from usher.check import cluster_objects
from usher.check.batches import comes_from_cluster
from usher.check.findings import Result
from usher.cluster.facts.store import Recorded, State
from usher.kinds import registry
from usher.kinds.kind import Key
from usher.kinds.reading.values import Absence

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
        self._pods = accelerator_objects.PodReader(self._normalised)
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
        found = accelerator_objects.pod_of(value, asked)
        own = None
        if not self._gathered.trees.owner(owner, found.namespace) and asked.workload is not None:
            own = self._own(value, asked.workload, found)
        self._gathered.held[found.uid] = Held(
            found,
            owner,
            own,
            owner_kind=_kind(reference) if own is not None and owner else "",
            group="" if own is None else accelerator_objects.pod_group(value),
            group_size=0 if own is None else accelerator_objects.group_size(value),
        )

    def _own(self, value: paths.Object, read: model.Workload, found: Pod) -> Workload:
        """A pod as a workload of its own."""
        workload = self._workloads.of(value, read)
        if not found.holds:
            self._gathered.texts.add(found.uid, value)
        identity = replace(workload.identity, name=found.name)
        return replace(workload, identity=identity, asks=found.devices, pods=(found,))

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
        decided = folded_workloads.Decisions(results)
        decided.apply(gathered)
        folded = folded_workloads.folded(gathered)
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
            claimable = gathered.claimable.of(paths.text(paths.metadata(value).get("name")))
            node = accelerator_objects.read_node(value, self._known.vocabulary_of_cluster, claimable=claimable)
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
    return ".".join(filter(None, (paths.text(reference.get("kind")), group)))
