"""Findings about taints of GPU nodes: missing taints, and taints that keep the GPU stack itself away."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from usher import paths
from usher.accelerators import vocabulary
from usher.audit import fields, gpus
from usher.audit.document import FindingEntry
from usher.audit.estate import Estate, Node
from usher.audit.standing import capacity, entries, gpu_stack
from usher.audit.standing.situation import Situation
from usher.audit.standing.wanted import DAEMON_SET, NODE
from usher.cluster.facts.nodes import Taint
from usher.model import placement

_MOMENTARY: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "ToBeDeletedByClusterAutoscaler")
"""Temporary taints of the control plane. The DaemonSet controller tolerates most of them."""


def findings(situation: Situation) -> Iterator[FindingEntry]:
    """The findings about taints, one for each pool or DaemonSet; empty if the nodes are unknown."""
    nodes = situation.estate.nodes or ()
    yield from _untainted(nodes, situation)
    for daemon_set in fields.listed(situation.estate, *DAEMON_SET) or ():
        part = gpu_stack.part(daemon_set)
        if part:
            vendor = gpu_stack.vendor(daemon_set)
            of_vendor = [node for node in nodes if any(name.startswith(vendor) for name in node.capacity)]
            yield from _kept_away(daemon_set, part, of_vendor, situation)


def keeps_off(node: Node) -> bool:
    """Whether a lasting taint keeps pods without accelerators off a node."""
    return any(_keeps_off(*taint) for taint in node.taints)


def _keeps_off(key: str, _: str, effect: str) -> bool:
    return effect in placement.GUARDING and not key.startswith(_MOMENTARY)


def have_other_nodes(estate: Estate) -> bool:
    """Whether pods without accelerators have other nodes. If not, a taint would leave them without any node.

    True if the other nodes are unknown.
    """
    listed = fields.listed(estate, *NODE)
    with_accelerators = {node.name for node in estate.nodes or ()}
    others = [value for value in listed or () if fields.name(value) not in with_accelerators]
    return listed is None or not all(map(_is_kept_for_others, others))


def _is_kept_for_others(node: paths.Object) -> bool:
    """Whether a node without accelerators takes no ordinary pods, like a node of the control plane."""
    found = fields.objects(node, "/spec/taints")
    return any(_keeps_off(fields.text(each, "/key"), "", fields.text(each, "/effect")) for each in found)


def _untainted(nodes: Sequence[Node], situation: Situation) -> Iterator[FindingEntry]:
    if not have_other_nodes(situation.estate):
        return
    by_pool: defaultdict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        if not keeps_off(node):
            by_pool[capacity.pool(node)].append(node)
    for pool, found in sorted(by_pool.items()):
        names = [node.name for node in found]
        yield entries.finding(
            "USA030",
            entries.of_cluster(pool),
            f"{entries.counted(len(found), 'node')} of {pool} {'has' if len(found) == 1 else 'have'} no taint that "
            "keeps other pods off",
            remedy=f"Taint the nodes with {_key(found[0])}=present:NoSchedule, in their node pool so that new nodes "
            "get it too.",
            evidence=(f"nodes: {fields.listing(names)}",),
            gpus=sum(map(gpus.capacity, found)),
            prevention=situation.preventing_anywhere("USH1430"),
        )


def _key(node: Node) -> str:
    """The usual taint key of a node: the resource of its devices, and `nvidia.com/gpu` for all NVIDIA devices."""
    names = sorted(node.capacity)
    # A driver of device claims offers devices by their device class.
    resource = (names[0] if "/" in names[0] else vocabulary.meaning_of_class(names[0]).resource) if names else ""
    return resource if resource and not resource.startswith("nvidia.com/") else "nvidia.com/gpu"


def _kept_away(
    daemon_set: paths.Object, part: str, nodes: Sequence[Node], situation: Situation
) -> Iterator[FindingEntry]:
    """The taints of nodes that the DaemonSet selects and does not tolerate, each with its nodes."""
    tolerations = fields.objects(daemon_set, f"{gpu_stack.TEMPLATE}/tolerations")
    by_taint: defaultdict[Taint, list[Node]] = defaultdict(list)
    for node in nodes:
        if not gpu_stack.selects(daemon_set, node):
            continue
        lasting = [Taint(*taint) for taint in node.taints if not taint[0].startswith(_MOMENTARY)]
        for taint in placement.untolerated(tolerations, lasting):
            by_taint[taint].append(node)
    for taint, found in sorted(by_taint.items()):
        yield entries.finding(
            "USA031",
            entries.of_object(daemon_set),
            f"the {part} does not tolerate the taint {taint} of {entries.counted(len(found), 'node')}",
            part=str(taint),
            path="spec.template.spec.tolerations",
            evidence=(f"nodes: {fields.listing([node.name for node in found])}",),
            gpus=sum(map(gpus.capacity, found)),
            prevention=situation.preventing_anywhere("USH1431"),
        )
