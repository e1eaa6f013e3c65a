"""All authorities, in the order in which `usher queue` lists them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from usher.authorities import runtime_class
from usher.authorities.authority import Authority, Case
from usher.authorities.gpu_quota import object_slice as gpu_quota_object_slice
from usher.authorities.gpu_quota import outlook as gpu_quota_outlook
from usher.authorities.gpu_quota import slice as gpu_quota_slice
from usher.authorities.knowledge import Knowledge
from usher.authorities.kueue import outlook as kueue_outlook
from usher.authorities.kueue import slice as kueue_slice
from usher.authorities.limit_range import outlook as limit_range_outlook
from usher.authorities.nodes import outlook as nodes_outlook
from usher.authorities.nodes import slice as nodes_slice
from usher.authorities.outlook import Section
from usher.authorities.priority import outlook as priority_outlook
from usher.authorities.priority import slice as priority_slice
from usher.authorities.resource_quota import outlook as resource_quota_outlook
from usher.authorities.resource_quota import slice as resource_quota_slice
from usher.authorities.volcano import outlook as volcano_outlook
from usher.authorities.volcano import slice as volcano_slice

AUTHORITIES: Final = (
    Authority(slices={"kueue": kueue_slice.of}, outlook=kueue_outlook.of),
    Authority(
        slices={"volcano": volcano_slice.of},
        object_slices={"podGroupObject": volcano_slice.of_group},
        outlook=volcano_outlook.of,
    ),
    Authority(
        slices={"gpuQuota": gpu_quota_slice.of},
        object_slices={"quotaObject": gpu_quota_object_slice.of},
        outlook=gpu_quota_outlook.of,
        speaks_without_cluster=True,
    ),
    Authority(slices={"resourceQuotas": resource_quota_slice.of}, outlook=resource_quota_outlook.of),
    Authority(outlook=limit_range_outlook.of),
    Authority(
        slices={"priorities": priority_slice.of, "runtimeClasses": runtime_class.of}, outlook=priority_outlook.of
    ),
    Authority(
        slices={"nodes": nodes_slice.of},
        object_slices={"podGroupNodes": nodes_slice.of_group},
        outlook=nodes_outlook.of,
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
    for authority in AUTHORITIES:
        yield from authority.outlook(case, known)
