"""Folds pods into the workloads at the top of their owners, so that each pod counts exactly once, with the decisions.

Anybody can write an owner into an object. So an owner counts only if it was listed itself, is in the same namespace
(or in no namespace), and is of a kind that makes other objects. An object whose owner does not count is at the top of
its own tree, so that no reference takes it out of an audit.

A decision has seen the objects that a workload names, the mutations of a manifest and the autoscalers of its files. So
it counts what the object alone does not say. Pods may refute it: GKE and other clusters add tolerations at admission
(k8s.io/kubernetes plugin/pkg/admission/extendedresourcetoleration), and so do webhooks of others. The template of
these pods does not change. An audit sees both.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from sys import intern
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from usher import model, paths
from usher.audit.gather import accelerator_objects
from usher.audit.gather.accelerator_objects import Claimable
from usher.audit.gather.estate import Estate, Missing, Node, Pod, Workload
from usher.audit.gather.object_fields import Manifests, Packed
from usher.check import cluster_objects, devices, findings, runner
from usher.check.findings import Identity, Result
from usher.cluster.facts.nodes import Taint
from usher.kinds import registry
from usher.kinds.kind import Key
from usher.kinds.reading.values import Absence
from usher.model import placement
from usher.policy.mutation import merge


class Listed(Struct, frozen=True):
    """An object that may own others. A cluster has as many as pods, so repeated texts share memory."""

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
        self._tops: dict[str, str] = {}
        """Remembered answers, valid until an object is added."""

    def add(self, value: paths.Object) -> None:
        """Takes an object. One without a uid, as in a manifest, owns nothing."""
        uid = paths.text(paths.metadata(value).get("uid"))
        key = cluster_objects.group_and_kind(value)
        # usher knows nothing about other kinds, and they may well make pods.
        # The first of several objects with one uid counts: a later one cannot take over what it owns.
        if uid and uid not in self._listed and (cluster_objects.makes_objects(key) or key not in registry.BY_KEY):
            self._listed[uid] = _listed(value)
            self._tops.clear()

    def owner(self, uid: str, namespace: str) -> str:
        """The uid itself if a listed object has it and may own objects of the namespace; else empty."""
        found = self._listed.get(uid)
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
        listed = self._listed.get(uid)
        return uid if listed is None else self.top(listed.controller, listed.namespace) or uid

    def identity(self, uid: str) -> Identity:
        """The name of a listed object."""
        found = self._listed[uid]
        return Identity(api_version=found.api_version, kind=found.kind, namespace=found.namespace, name=found.name)


class Held(Struct, frozen=True):
    """A pod with accelerators, and its owner."""

    pod: Pod
    owner: str
    """The uid of its controlling owner."""
    own: Workload | None
    """The pod as a workload of its own; None if its owner was listed before it."""
    owner_kind: str = ""
    group: str = ""
    group_size: int = 0


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
        elif each.own is not None:
            yield replace(each.own, pods=_by_name([each.pod, *below.pop(each.pod.uid, [])]))
    for (_, name), members in groups.items():
        members.sort(key=lambda each: (each.pod.name, each.pod.uid))
        own = [each.own for each in members if each.own is not None]
        whole = accelerator_objects.grouped(own, name=name, size=max(each.group_size for each in members))
        owned = [pod for each in members for pod in below.pop(each.pod.uid, [])]
        yield replace(whole, pods=_by_name([*(each.pod for each in members), *owned]))


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


TOLERATION_CHECK: Final = "placement/gpu_toleration_present"

BECAUSE_OF_PODS: Final = "its pods have the toleration, because the cluster or a webhook adds it when they are made"


def settled_by_pods(report: findings.Report, estate: Estate) -> findings.Report:
    """The report, with a missing toleration as a mere note if the pods have it.

    Args:
        estate: the workloads with their pods and the nodes of these pods.
    """
    nodes = {node.name: node for node in estate.nodes or ()}
    refuted = frozenset(
        each.index
        for each in estate.workloads
        if each.index >= 0 and _concerned(report.results[each.index]) and _pods_tolerate(each, nodes)
    )
    if not refuted:
        return report
    results = tuple(
        replace(result, findings=tuple(_noted_findings(result))) if index in refuted else result
        for index, result in enumerate(report.results)
    )
    return replace(report, results=results, totals=runner.recounted(report.totals, results))


def _pods_tolerate(workload: Workload, nodes: Mapping[str, Node]) -> bool:
    """Whether its pods run on nodes whose taints keep pods off, and tolerate all of these taints.

    A running pod alone proves nothing: it may stay on a node that was tainted later.
    """
    places = [(pod, _guards(nodes[pod.node])) for pod in workload.pods if pod.holds and pod.node in nodes]
    tolerated = all(not placement.untolerated(pod.tolerations, guards) for pod, guards in places)
    return tolerated and any(guards for _, guards in places)


def _guards(node: Node) -> list[Taint]:
    found = (Taint(key=key, value=value, effect=effect) for key, value, effect in node.taints)
    return [taint for taint in found if taint.effect in placement.GUARDING]


def _concerned(result: findings.Result) -> bool:
    return any(each.judgement.finding.check == TOLERATION_CHECK for each in result.findings)


def _noted_findings(result: findings.Result) -> Iterator[findings.Finding]:
    """The findings with those notes, worst first."""
    noted = [
        _milder_finding(each) if each.judgement.finding.check == TOLERATION_CHECK else each for each in result.findings
    ]
    yield from sorted(noted, key=lambda each: list(model.Outcome).index(each.judgement.outcome))


def _milder_finding(found: findings.Finding) -> findings.Finding:
    if found.judgement.outcome is model.Outcome.AUDIT:
        return found
    return replace(found, judgement=replace(found.judgement, outcome=model.Outcome.AUDIT, because=BECAUSE_OF_PODS))
