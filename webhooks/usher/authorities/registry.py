"""All authorities, in the order in which `usher queue` lists them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

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

_OF_PODS_HERE: Final = frozenset({"nodes", "nodePools", "runtimeClasses", "deviceClasses"})
"""Slices about pods, which do not say anything about pods in other clusters."""

_WITHOUT_CLUSTER: Final = tuple(each for each in AUTHORITIES if each.speaks_without_cluster)


def slices(case: Case, known: Knowledge) -> Mapping[str, Mapping[str, Any]]:
    """The slices of all authorities that have something to report, in order, by the field of `input.cluster`."""
    makes_pods = bool(case.workload.pod_sets)
    speaking = AUTHORITIES if not known.facts.empty else _WITHOUT_CLUSTER if makes_pods else ()
    left_out = _OF_PODS_HERE if makes_pods and kueue_slice.sends_away(case, known) else frozenset()
    found = {
        field: value
        for authority in speaking
        for field, slice_of in (authority.slices if makes_pods else authority.object_slices).items()
        if field not in left_out and (value := slice_of(case, known)) is not None
    }
    return dict(sorted(found.items()))


def sections(case: Case, known: Knowledge) -> Iterator[Section]:
    """The sections of `usher queue`, from all authorities."""
    found = [each for one in AUTHORITIES for each in one.outlook(case, known)]
    if queue := kueue_slice.sends_away(case, known):
        reason = f"ClusterQueue {queue} sends its workloads to other clusters (MultiKueue), whose nodes decide"
        remedy = "ask these clusters too: --also NAME=FACTS, with a file of `usher snapshot` for each"
        of_nodes = Section(authority=NODES, answer=Answer.UNKNOWN, reasons=(reason,), remedies=(remedy,), sends=queue)
        found = [of_nodes if each.is_of_nodes else each for each in found]
    yield from several.in_flavors(found, case, known)
