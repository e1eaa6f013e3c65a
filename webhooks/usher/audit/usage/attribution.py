"""Finds the top-level workload of a pod by its owners or its name, also for a pod that is gone."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from usher.audit import estate
from usher.audit.usage import labels
from usher.audit.usage.labels import PodName
from usher.audit.usage.series import Answer
from usher.dataclass import dataclass

_LONGEST_CHAIN: Final = 8

_ROLES: Final = (
    "master|worker|workers|launcher|chief|ps|evaluator|head|leader|driver|exec|executor|server|predictor|prefill|decode"
)
_RANDOM: Final = "[bcdfghjklmnpqrstvwxz2456789]"
"""The letters of generated names (k8s.io/apimachinery pkg/util/rand)."""
_TAIL: Final = re.compile(
    rf"(?:-(?:{_ROLES}|{_RANDOM}{{6,10}}|\d{{1,10}}|{_RANDOM}{{5}})){{0,4}}-(?:\d{{1,6}}|{_RANDOM}{{5}})"
)
"""The suffixes that controllers add to the name of a workload for its pods: roles, hashes, numbers, five random
letters.
"""


class Owner(NamedTuple):
    """The workload of a pod by its place in the estate; -1 if unknown: then the pod counts for its namespace."""

    workload: int
    namespace: str


class _Object(NamedTuple):
    namespace: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """Finds the owner of a pod."""

    pods: Mapping[PodName, int]
    objects: Mapping[_Object, int]
    owners: Mapping[_Object, _Object]
    names: Mapping[str, tuple[tuple[str, int], ...]]
    """The workloads of each namespace, the longest names first."""

    def owner(self, pod: PodName) -> Owner:
        """The owner of a pod: from the existing pods, else from the recorded owners, else from the name of the pod."""
        known = self.pods.get(pod)
        if known is None:
            known = self._by_owners(pod)
        if known is None:
            known = self._by_name(pod)
        return Owner(-1 if known is None else known, pod.namespace)

    def _by_owners(self, pod: PodName) -> int | None:
        at: _Object | None = _Object(pod.namespace, "Pod", pod.pod)
        for _ in range(_LONGEST_CHAIN):
            if at is None:
                return None
            if at in self.objects:
                return self.objects[at]
            at = self.owners.get(at)
        return None

    def _by_name(self, pod: PodName) -> int | None:
        for name, index in self.names.get(pod.namespace, ()):
            if pod.pod.startswith(name) and (pod.pod == name or _TAIL.fullmatch(pod.pod, len(name))):
                return index
        return None


def attribution(
    workloads: Iterable[estate.Workload], *, pods: Answer, replicasets: Answer, jobs: Answer
) -> Attribution:
    """An attribution that knows the pods of an estate, and the owners that kube-state-metrics recorded."""
    known: dict[PodName, int] = {}
    objects: dict[_Object, int] = {}
    names: dict[str, list[tuple[str, int]]] = {}
    for index, workload in enumerate(workloads):
        identity = workload.identity
        objects[_Object(identity.namespace, identity.kind, identity.name)] = index
        names.setdefault(identity.namespace, []).append((identity.name, index))
        known |= {PodName(pod.namespace, pod.name): index for pod in workload.pods}
    return Attribution(
        pods=known,
        objects=objects,
        owners={
            **_owners(pods, "Pod", labels.pod),
            **_owners(replicasets, "ReplicaSet", _named("replicaset")),
            **_owners(jobs, "Job", _named("job_name")),
        },
        names={namespace: tuple(sorted(found, key=lambda each: -len(each[0]))) for namespace, found in names.items()},
    )


def _owners(
    answer: Answer, kind: str, name_of: Callable[[Mapping[str, str]], PodName | None]
) -> dict[_Object, _Object]:
    found = {}
    for each in answer.series:
        name = name_of(each.labels)
        owner = each.labels.get("owner_kind", ""), each.labels.get("owner_name", "")
        if name is not None and all(owner) and each.labels.get("owner_is_controller") != "false":
            found[_Object(name.namespace, kind, name.pod)] = _Object(name.namespace, *owner)
    return found


def _named(label: str) -> Callable[[Mapping[str, str]], PodName | None]:
    def name(found: Mapping[str, str]) -> PodName | None:
        namespace = labels.value(found, "namespace")
        return PodName(namespace, found[label]) if namespace and found.get(label) else None

    return name
