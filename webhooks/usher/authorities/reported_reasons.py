"""The reasons that controllers and schedulers have written into objects for pods that wait."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from usher import model, paths
from usher.authorities.authority import NODES, Case, Section
from usher.authorities.verdict import Answer
from usher.cluster.facts.store import Store
from usher.kinds.kind import FactKind, api, keeping
from usher.kinds.reading.values import Absence, Reference


class _Live(NamedTuple):
    """A kind of object into which a controller writes why pods wait."""

    authority: str
    group: str
    kind: str
    conditions: str
    """The list of conditions in its status."""
    telling: frozenset[tuple[str, str]]
    """Type and status of the conditions that hold pods back."""


_LIVE: Final = (
    _Live(
        "Kueue",
        "kueue.x-k8s.io",
        "Workload",
        "conditions",
        frozenset({("QuotaReserved", "False"), ("Evicted", "True")}),
    ),
    _Live("Volcano", "scheduling.volcano.sh", "PodGroup", "conditions", frozenset({("Unschedulable", "True")})),
    _Live(
        "KAI-Scheduler",
        "scheduling.run.ai",
        "PodGroup",
        "schedulingConditions",
        frozenset({("UnschedulableOnNodePool", "True")}),
    ),
    _Live(
        "PodGroup",
        "scheduling.k8s.io",
        "PodGroup",
        "conditions",
        frozenset({("PodGroupScheduled", "False"), ("PodGroupInitiallyScheduled", "False")}),
    ),
    _Live(NODES, "", "Pod", "conditions", frozenset({("PodScheduled", "False")})),
)
"""Sources: those of `authority._CALLED`, and staging/src/k8s.io/api/scheduling/v1beta1/types.go of Kubernetes 1.37."""

REPORTED: Final = tuple(
    FactKind(**api(group, kind, plural, *versions), keep=keeping("/metadata/ownerReferences", f"/status/{conditions}"))
    for group, kind, plural, versions, conditions in (
        ("kueue.x-k8s.io", "Workload", "workloads", ("v1beta2", "v1beta1"), "conditions"),
        ("scheduling.run.ai", "PodGroup", "podgroups", ("v2alpha2",), "schedulingConditions"),
    )
)
"""Kinds that only `usher queue` reads of a cluster. It reads no pods, because a cluster has very many."""

_OWNER_LABELS: Final[Mapping[str, str]] = {
    "jobset.x-k8s.io": "jobset.sigs.k8s.io/jobset-name",
    "leaderworkerset.x-k8s.io": "leaderworkerset.sigs.k8s.io/name",
    "ray.io": "ray.io/cluster",
}
"""Labels by which pods name the object at the top of their owners, by the group of that object."""

_MOST_SAID: Final = 4
_LONGEST: Final = 600
_DEEPEST: Final = 3


def with_words(found: Sequence[Section], case: Case, facts: Store) -> tuple[Section, ...]:
    """The sections with what controllers have written about the workload; they may add one for nodes."""
    sections = list(found)
    for live in _LIVE:
        listed = facts.objects(live.group, live.kind, case.workload.namespace)
        if isinstance(listed, Absence):
            continue
        counts = Counter(
            text for value in listed.values() if _is_about(value, case.workload, facts) for text in _texts(value, live)
        )
        if not counts:
            continue
        says = tuple(
            f"{number} times: {text}" if number > 1 else text for text, number in counts.most_common(_MOST_SAID)
        )
        own = [index for index, each in enumerate(sections) if each.authority == live.authority]
        if own:
            sections[own[0]] = replace(sections[own[0]], says=says)
        else:
            sections.append(Section(authority=live.authority, answer=Answer.COULD, says=says))
    return tuple(sections)


def _texts(value: paths.Object, live: _Live) -> Iterator[str]:
    """`QuotaReserved=False, WaitingForQuota: couldn't assign flavors to pod set main: ...`"""
    for each in map(paths.mapping, paths.elements(paths.mapping(value.get("status")).get(live.conditions))):
        of, status = paths.text(each.get("type")), paths.text(each.get("status"))
        if (of, status) in live.telling:
            for reason in (*map(paths.mapping, paths.elements(each.get("reasons"))), each):
                words = ": ".join(filter(None, (paths.text(reason.get(key)) for key in ("reason", "message"))))
                if words:
                    yield f"{of}={status}, {words}"[:_LONGEST]
                    break


def _is_about(value: paths.Object, workload: model.Workload, facts: Store, depth: int = 0) -> bool:
    """Whether an object is the workload, or one that it owns."""
    metadata = paths.metadata(value)
    key = paths.text(value.get("apiVersion")).rpartition("/")[0], value.get("kind"), metadata.get("name")
    if key == (workload.group, workload.kind, workload.name):
        return True
    label = _OWNER_LABELS.get(workload.group)
    if label is not None and paths.mapping(metadata.get("labels")).get(label) == workload.name:
        return True
    for owner in map(paths.mapping, paths.elements(metadata.get("ownerReferences"))):
        group, kind, name = _named(owner)
        if (group, kind, name) == (workload.group, workload.kind, workload.name):
            return True
        above = facts.find(Reference(group=group, kind=kind, name=name, namespace=workload.namespace))
        if depth < _DEEPEST and not isinstance(above, Absence) and _is_about(above, workload, facts, depth + 1):
            return True
    return False


def _named(owner: paths.Object) -> tuple[str, str, str]:
    group = paths.text(owner.get("apiVersion")).rpartition("/")[0]
    return group, paths.text(owner.get("kind")), paths.text(owner.get("name"))
