"""Folds pods into the workloads at the top of their owners, so that each pod counts exactly once.

Anybody can write an owner into an object. So an owner counts only if it was listed itself, is in the same namespace
(or in no namespace), and is of a kind that makes other objects. An object whose owner does not count is at the top of
its own tree, so that no reference takes it out of an audit.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from sys import intern

from usher import model, paths
from usher.audit.gather import accelerator_workloads
from usher.audit.gather.accelerator_nodes import Claimable
from usher.audit.gather.compressed_objects import Manifests, Packed
from usher.audit.gather.estate import Missing, Node, Pod, Workload
from usher.dataclass import dataclass
from usher.kinds import registry
from usher.kinds.kept_fields import Key
from usher.reading.lookup import Absence
from usher.scan import devices, ownership
from usher.scan.findings import Identity


@dataclass(frozen=True, slots=True)
class Listed:
    """An object that may own others. A cluster has as many as pods, so texts that repeat are kept once."""

    api_version: str
    kind: str
    namespace: str
    name: str
    controller: str
    """The uid of the controlling owner that it names; empty without one."""


def _listed(value: paths.Object) -> Listed:
    """An object by its name as it is written."""
    metadata = paths.metadata(value)
    return Listed(
        intern(paths.text(value.get("apiVersion"))),
        intern(paths.text(value.get("kind"))),
        intern(paths.text(metadata.get("namespace"))),
        paths.text(metadata.get("name")),
        intern(paths.text(ownership.controller(value).get("uid"))),
    )


class Trees:
    """The objects that may own others, by uid."""

    def __init__(self) -> None:
        self._listed: dict[str, Listed] = {}
        self._tops: dict[str, str] = {}
        """Remembered answers, while nothing is added."""

    def add(self, value: paths.Object) -> None:
        """Takes an object; one without a uid, as in a manifest, owns nothing."""
        uid = paths.text(paths.metadata(value).get("uid"))
        key = ownership.key(value)
        # Usher knows nothing of other kinds, and they may well make pods.
        # The first of several objects with one uid counts: no later one takes away what it owns.
        if uid and uid not in self._listed and (ownership.makes_objects(key) or key not in registry.BY_KEY):
            self._listed[uid] = _listed(value)
            self._tops.clear()

    def owner(self, uid: str, namespace: str) -> str:
        """The uid, where it is that of a listed object that may own objects of the namespace; else empty."""
        found = self._listed.get(uid)
        return uid if found is not None and found.namespace in ("", namespace) else ""

    def top(self, uid: str, namespace: str) -> str:
        """The uid of the object at the top of the tree above an object of the namespace; empty without an owner.

        Args:
            uid: the controlling owner that the object names.
            namespace: that of the object.
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
        # Objects that own each other in a circle have no top: the least uid stands for all of them.
        found = min(way[way.index(current) :]) if way and current in way[:-1] else current
        if found:
            self._tops[uid] = found
        return found

    def root(self, uid: str) -> str:
        """The uid of the object at the top of the tree that holds a listed object: itself, where nothing owns it."""
        listed = self._listed.get(uid)
        return uid if listed is None else self.top(listed.controller, listed.namespace) or uid

    def identity(self, uid: str) -> Identity:
        """The name of a listed object."""
        found = self._listed[uid]
        return Identity(api_version=found.api_version, kind=found.kind, namespace=found.namespace, name=found.name)


@dataclass(frozen=True, slots=True)
class Held:
    """A pod with accelerators, and to whom it belongs."""

    pod: Pod
    owner: str
    """The uid of the controlling owner that it names."""
    own: Workload | None
    """The pod as a workload of its own; None where its owner was listed before it."""
    owner_kind: str = ""
    group: str = ""
    group_size: int = 0


@dataclass(slots=True)
class Gathered:
    """All that was read so far."""

    nodes: dict[str, Node] = field(default_factory=dict)
    """By name."""
    plain_nodes: Packed = field(default_factory=Packed)
    """Nodes without an accelerator by a resource; drivers may offer some for claims."""
    claimable: Claimable = field(default_factory=Claimable)
    nodes_known: bool = False
    trees: Trees = field(default_factory=Trees)
    tops: dict[str, Workload] = field(default_factory=dict)
    """Objects that make pods and that no listed object owned when they came, by uid."""
    manifests: list[Workload] = field(default_factory=list)
    """The same of objects without a uid, which never were in a cluster."""
    texts: Manifests = field(default_factory=Manifests)
    """The objects of workloads with accelerators, by uid."""
    finished: set[str] = field(default_factory=set)
    """The uids of those that have run to their end."""
    held: dict[str, Held] = field(default_factory=dict)
    """By uid, so that a pod that comes twice counts once."""
    others: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Pods without accelerators, by the uid of the owner that they name and their namespace."""
    objects: dict[Key, Packed | Absence] = field(default_factory=dict)
    """Other objects that sections want."""
    recorded: set[Key] = field(default_factory=set)
    """The kinds that were read in full: all objects that the cluster has."""
    teams: dict[str, str] = field(default_factory=dict)
    """By namespace."""
    cluster_id: str = ""
    pods: int = 0
    pods_known: bool = False
    missing: list[Missing] = field(default_factory=list)

    def kept(self, key: Key) -> Packed:
        """The objects of a kind that sections want, to add one."""
        found = self.objects.get(key)
        if not isinstance(found, Packed):
            found = self.objects[key] = Packed()
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    workloads: tuple[Workload, ...]
    """Those that hold or want accelerators, by namespace, kind and name."""
    unlisted_owners: tuple[Missing, ...]


def folded(gathered: Gathered) -> Folded:
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
    """Objects that make pods; what is taken from `below` is gone there."""
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
    """Pods that no listed object owns: each for itself, with the pods that it owns, or by the group of Kueue."""
    groups = defaultdict[tuple[str, str], list[Held]](list)
    for each in alone:
        if each.group:
            groups[each.pod.namespace, each.group].append(each)
        elif each.own is not None:
            yield replace(each.own, pods=_by_name([each.pod, *below.pop(each.pod.uid, [])]))
    for (_, name), members in groups.items():
        members.sort(key=lambda each: (each.pod.name, each.pod.uid))
        own = [each.own for each in members if each.own is not None]
        whole = accelerator_workloads.grouped(own, name=name, size=max(each.group_size for each in members))
        owned = [pod for each in members for pod in below.pop(each.pod.uid, [])]
        yield replace(whole, pods=_by_name([*(each.pod for each in members), *owned]))


def _unread(trees: Trees, below: dict[str, list[Pod]]) -> Iterator[Workload]:
    """Owners whose templates usher does not know, or that ask for nothing themselves."""
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
