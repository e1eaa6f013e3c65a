"""All authorities, in the order in which `usher queue` lists them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from usher import model, paths
from usher.authorities import authority as authorities_authority
from usher.authorities import kai, limit_range, pod_groups, priority
from usher.authorities.authority import NODES, Authority, Case, Section
from usher.authorities.gpu_quota import present as gpu_quota_present
from usher.authorities.knowledge import Knowledge
from usher.authorities.kueue import outlook as kueue_outlook
from usher.authorities.kueue import slice as kueue_slice
from usher.authorities.nodes import present as nodes_present
from usher.authorities.nodes import selected_pools, several
from usher.authorities.resource_quota import present as resource_quota_present
from usher.authorities.verdict import Answer
from usher.authorities.volcano import present as volcano_present
from usher.cluster.facts.store import Store
from usher.kinds.kind import FactKind, api, keeping
from usher.kinds.reading.values import Absence, Reference

AUTHORITIES: Final = (
    Authority(slices={"kueue": kueue_slice.input_slice}, outlook=kueue_outlook.outlook_sections),
    Authority(
        slices={"volcano": volcano_present.input_slice},
        object_slices={"podGroupObject": volcano_present.pod_group_slice},
        outlook=volcano_present.outlook_sections,
    ),
    Authority(slices={"kai": kai.input_slice}, object_slices={"kaiTree": kai.tree_slice}, outlook=kai.outlook_sections),
    Authority(
        slices={"gpuQuota": gpu_quota_present.input_slice},
        object_slices={"quotaObject": gpu_quota_present.quota_object_slice},
        outlook=gpu_quota_present.outlook_sections,
        speaks_without_cluster=True,
    ),
    Authority(
        slices={"resourceQuotas": resource_quota_present.input_slice}, outlook=resource_quota_present.outlook_sections
    ),
    Authority(
        slices={
            "podGroups": pod_groups.input_slice,
            "nodePools": selected_pools.node_pools_slice,
            "hami": pod_groups.hami_slice,
            "fractions": pod_groups.fractions_slice,
            "unmeasured": pod_groups.unmeasured_slice,
        },
        object_slices={"stored": authorities_authority.stored_input},
        outlook=pod_groups.outlook_sections,
    ),
    Authority(outlook=limit_range.outlook_sections),
    Authority(
        slices={
            "priorities": priority.input_slice,
            "runtimeClasses": authorities_authority.runtime_classes_input,
            "deviceClasses": authorities_authority.device_classes_input,
        },
        outlook=priority.outlook_sections,
    ),
    Authority(
        slices={"nodes": nodes_present.input_slice},
        object_slices={"podGroupNodes": nodes_present.pod_group_slice},
        outlook=nodes_present.outlook_sections,
    ),
)


def slices(case: Case, known: Knowledge) -> Mapping[str, Mapping[str, Any]]:
    """The slices of all authorities that have something to report, in order, by the field of `input.cluster`."""
    makes_pods = bool(case.workload.pod_sets)
    found = {
        field: value
        for authority in AUTHORITIES
        if not known.facts.empty or (makes_pods and authority.speaks_without_cluster)
        for field, slice_of in (authority.slices if makes_pods else authority.object_slices).items()
        if (value := slice_of(case, known)) is not None
    }
    return dict(sorted(found.items()))


def sections(case: Case, known: Knowledge) -> Iterator[Section]:
    """The sections of `usher queue`, from all authorities."""
    yield from several.in_flavors([each for one in AUTHORITIES for each in one.outlook(case, known)], case, known)


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
    "JobSet": "jobset.sigs.k8s.io/jobset-name",
    "LeaderWorkerSet": "leaderworkerset.sigs.k8s.io/name",
    "RayCluster": "ray.io/cluster",
}
"""Labels by which pods name the object at the top of their owners."""

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
        said = Counter(
            text for value in listed.values() if _is_about(value, case.workload, facts) for text in _told(value, live)
        )
        if not said:
            continue
        says = tuple(f"{number} times: {text}" if number > 1 else text for text, number in said.most_common(_MOST_SAID))
        own = [index for index, each in enumerate(sections) if each.authority == live.authority]
        if own:
            sections[own[0]] = replace(sections[own[0]], says=says)
        else:
            sections.append(Section(authority=live.authority, answer=Answer.COULD, says=says))
    return tuple(sections)


def _told(value: paths.Object, live: _Live) -> Iterator[str]:
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
    label = _OWNER_LABELS.get(workload.kind)
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
