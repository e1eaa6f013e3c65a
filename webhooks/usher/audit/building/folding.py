"""Folds pods into the workloads at the top of their owners, so that each pod counts exactly once."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from usher import model
from usher.audit.building import workloads
from usher.audit.building.gathered import Gathered, Held
from usher.audit.building.owners import Trees
from usher.audit.estate import Missing, Pod, Workload
from usher.check import devices
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
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
        workloads=tuple(sorted(found, key=_order)),
        unlisted_owners=tuple(
            Missing(source=kind, reason="owns pods with accelerators and was not listed", read=number)
            for kind, number in sorted(unlisted.items())
        ),
    )


def _order(workload: Workload) -> tuple[str, str, str, str]:
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
        whole = workloads.grouped(own, name=name, size=max(each.group_size for each in members))
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
