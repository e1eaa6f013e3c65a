"""All authorities, in the order in which `usher queue` lists them, and what their slices were for workloads before.

Two workloads with the same digest have the same slices while the facts stay: they differ only in names, and in what
their containers run. So the slices of a workload are remembered for those that a sweep or a retry makes of it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from usher import memo as usher_memo
from usher.authorities import authority as authorities_authority
from usher.authorities import kai, limit_range, pod_groups, priority
from usher.authorities.authority import KAI, NODES, Authority, Case, Ground, Section
from usher.authorities.beside import NOTHING
from usher.authorities.gpu_quota import present as gpu_quota_present
from usher.authorities.knowledge import Knowledge
from usher.authorities.kueue import outlook as kueue_outlook
from usher.authorities.kueue import slice as kueue_slice
from usher.authorities.nodes import present as nodes_present
from usher.authorities.nodes import selected_pools, several
from usher.authorities.resource_quota import present as resource_quota_present
from usher.authorities.verdict import Answer
from usher.authorities.volcano import present as volcano_present
from usher.workloads import fingerprints

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


_REMEMBERED: Final = 512
"""The workloads whose slices are remembered."""

_Slices = Mapping[str, Mapping[str, Any]]

_Key = tuple[int, int, bytes]
"""Revisions of facts and nodes, digest of the workload."""


class _Kept(NamedTuple):
    slices: _Slices
    grounds: tuple[Ground, ...]
    """The facts that the slices rest on and that change without a new revision."""


def slices(case: Case, known: Knowledge) -> _Slices:
    """The slices of all authorities that have something to report, in order, by the field of `input.cluster`.

    The caller must not change them.
    """
    key = _key(case, known)
    if key is None:
        return _slices(case, known)

    def make() -> _Kept:
        own = replace(case, grounds=[])
        return _Kept(_slices(own, known), tuple(own.grounds))

    def holds(kept: _Kept) -> bool:
        return all(ground.still_holds(known) for ground in kept.grounds)

    remembered: usher_memo.Memo[_Key, _Kept] = known.derived("slices", (), lambda: usher_memo.Memo(_REMEMBERED))
    kept = remembered.get(key, make, holds=holds)
    case.grounds.extend(kept.grounds)
    return kept.slices


def _key(case: Case, known: Knowledge) -> _Key | None:
    """Everything that the slices depend on; None where they cost little, or look at objects that no revision shows.

    Callers read it before they compute anything: if the facts change in between, the answer is old but not wrong.
    """
    facts, workload = known.facts, case.workload
    if facts.empty or case.refusal is not None or case.beside is not NOTHING or not workload.asks_accelerators:
        return None
    revisions = facts.revision_without_claims, facts.nodes.revision
    digest = fingerprints.of_workload(workload)
    return None if digest is None else (*revisions, digest)


def _slices(case: Case, known: Knowledge) -> _Slices:
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
    if any(each.authority == KAI for each in found):
        found = [replace(each, placed_by=KAI) if each.is_of_nodes else each for each in found]
    if queue := kueue_slice.sends_away(case, known):
        reason = f"ClusterQueue {queue} sends its workloads to other clusters (MultiKueue), whose nodes decide"
        remedy = "ask these clusters too: --also NAME=FACTS, with a file of `usher snapshot` for each"
        of_nodes = Section(authority=NODES, answer=Answer.UNKNOWN, reasons=(reason,), remedies=(remedy,), sends=queue)
        found = [of_nodes if each.is_of_nodes else each for each in found]
    yield from several.in_flavors(found, case, known)
