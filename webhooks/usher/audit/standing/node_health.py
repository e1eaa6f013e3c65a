"""GPU nodes whose GPUs no pod can get, or that pods without accelerators may fill.

A node may be out of service, have unhealthy devices, lack a driver or a taint, keep the GPU stack itself away, or offer
MIG profiles that no workload asks for.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from usher import paths
from usher.accelerators import vocabulary
from usher.accelerators.mig import MIG_RESOURCE_PREFIX
from usher.audit.document import FindingEntry, Subject
from usher.audit.gather import accelerator_objects, gpus
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import Estate, Node
from usher.audit.gather.needed_inputs import DAEMON_SET, NODE, RESOURCE_SLICE
from usher.audit.standing import cluster_equipment
from usher.audit.standing.situation import (
    Situation,
    cluster_finding,
    cluster_subject,
    counted,
    named_subject,
    object_subject,
    span,
)
from usher.cluster.facts.nodes import Taint
from usher.model import placement

_MOMENTARY: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "ToBeDeletedByClusterAutoscaler")
"""Temporary taints of the control plane. The DaemonSet controller tolerates most of them."""


def taint_findings(situation: Situation) -> Iterator[FindingEntry]:
    """The findings about taints, one for each pool or DaemonSet; empty if the nodes are unknown."""
    nodes = situation.estate.nodes or ()
    yield from _untainted(nodes, situation)
    for daemon_set in fields.listed(situation.estate, *DAEMON_SET.key) or ():
        part = cluster_equipment.stack_part(daemon_set)
        if part:
            vendor = cluster_equipment.vendor_of(daemon_set)
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
    listed = fields.listed(estate, *NODE.key)
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
            by_pool[cluster_equipment.pool_of(node)].append(node)
    for pool, found in sorted(by_pool.items()):
        names = [node.name for node in found]
        yield cluster_finding(
            "USA030",
            cluster_subject(pool),
            f"{counted(len(found), 'node')} of {pool} {'has' if len(found) == 1 else 'have'} no taint that "
            "keeps other pods off",
            remedy=f"Taint the nodes with {_taint_key(found[0])}=present:NoSchedule, in their node pool so that new "
            "nodes get it too.",
            evidence=(f"nodes: {fields.listing(names)}",),
            gpus=sum(map(gpus.capacity_of, found)),
            prevention=situation.preventing_anywhere("USH1430"),
        )


def _taint_key(node: Node) -> str:
    """The usual taint key of a node: the resource of its devices, and `nvidia.com/gpu` for all NVIDIA devices."""
    names = sorted(node.capacity)
    # A driver of device claims offers devices by their device class.
    resource = (names[0] if "/" in names[0] else vocabulary.meaning_of_class(names[0]).resource) if names else ""
    return resource if resource and not resource.startswith("nvidia.com/") else "nvidia.com/gpu"


def _kept_away(
    daemon_set: paths.Object, part: str, nodes: Sequence[Node], situation: Situation
) -> Iterator[FindingEntry]:
    """The taints of nodes that the DaemonSet selects and does not tolerate, each with its nodes."""
    tolerations = fields.objects(daemon_set, f"{cluster_equipment.POD_SPEC}/tolerations")
    by_taint: defaultdict[Taint, list[Node]] = defaultdict(list)
    for node in nodes:
        if not cluster_equipment.selects_node(daemon_set, node):
            continue
        lasting = [Taint(*taint) for taint in node.taints if not taint[0].startswith(_MOMENTARY)]
        for taint in placement.untolerated(tolerations, lasting):
            by_taint[taint].append(node)
    for taint, found in sorted(by_taint.items()):
        yield cluster_finding(
            "USA031",
            object_subject(daemon_set),
            f"the {part} does not tolerate the taint {taint} of {counted(len(found), 'node')}",
            part=str(taint),
            path="spec.template.spec.tolerations",
            evidence=(f"nodes: {fields.listing([node.name for node in found])}",),
            gpus=sum(map(gpus.capacity_of, found)),
            prevention=situation.preventing_anywhere("USH1431"),
        )


def mig_profile_findings(situation: Situation) -> Iterator[FindingEntry]:
    """A finding for each MIG profile that workloads neither use nor wait for.

    It finds nothing if the nodes are unknown, or if usher could not read all workloads.
    """
    if situation.estate.nodes is None or not situation.complete:
        return
    asked = {resource for workload in situation.estate.workloads for resource in workload.asks}
    asked |= {resource for workload in situation.estate.workloads for pod in workload.pods for resource in pod.devices}
    offering: defaultdict[str, list[Node]] = defaultdict(list)
    for node in situation.estate.nodes:
        if node.partition:
            # Pods request its slices by the name of whole GPUs.
            continue
        for resource, amount in node.capacity.items():
            if resource.startswith(MIG_RESOURCE_PREFIX) and amount.number > 0 and resource not in asked:
                offering[resource].append(node)
    for resource, nodes in sorted(offering.items()):
        number = sum(node.capacity[resource].number for node in nodes)
        yield cluster_finding(
            "USA032",
            cluster_subject(resource),
            f"{counted(len(nodes), 'node')} {'offers' if len(nodes) == 1 else 'offer'} {number:,} {resource}, "
            "and no workload asks for it",
            gpus=sum(gpus.of_devices({resource: node.capacity[resource]}, node) for node in nodes),
            evidence=(
                f"nodes: {fields.listing([node.name for node in nodes])}",
                *sorted({f"configuration: {node.labels['nvidia.com/mig.config']}"
                         for node in nodes if node.labels.get("nvidia.com/mig.config")})[:3],
            ),
        )  # fmt: skip


_CORDON: Final = "node.kubernetes.io/unschedulable"
"""The taint that the control plane adds to a cordoned node, with the time."""

_PRESENT: Final = "nvidia.com/gpu.present"
_COUNT: Final = "nvidia.com/gpu.count"
_OF_SERVICES: Final = {
    "cloud.google.com/gke-accelerator": "cloud.google.com/gke-accelerator-count",
    "kubernetes.azure.com/accelerator": "",
    "karpenter.k8s.aws/instance-gpu-name": "karpenter.k8s.aws/instance-gpu-count",
    "karpenter.azure.com/sku-gpu-name": "karpenter.azure.com/sku-gpu-count",
}
"""Labels of services on nodes with GPUs, each with the label for their number (docs/domain/nodes.md#labels)."""

_ON_PURPOSE: Final = {
    "nvidia.com/gpu.workload.config": ("vm-passthrough", "vm-vgpu"),
    "nvidia.com/gpu.deploy.operands": ("false",),
    "nvidia.com/gpu.deploy.device-plugin": ("false",),
}
"""Labels with which an administrator gives the GPUs of a node to virtual machines, or keeps the GPU operator off it
(NVIDIA/gpu-operator controllers/state_manager.go).
"""

_UPDATE: Final = "nvidia.com/gpu-driver-upgrade-state"
_UPDATED: Final = ("", "upgrade-done")
_INSTALL: Final = (
    "Install the driver and the device plugin: as the documentation of the service says, or with the GPU operator."
)
_PLUGIN: Final = (
    "Look at the device plugin of this node first, then at its driver: where the plugin does not run, no device is "
    "offered. It offers them again when it starts."
)
_STATE: Final = "nvidia.com/mig.config.state"
_WANTED: Final = "nvidia.com/mig.config"


def node_findings(situation: Situation) -> Iterator[FindingEntry]:
    """The findings about each node; empty if the nodes are unknown."""
    listed = fields.listed(situation.estate, *NODE.key)
    objects = {fields.name(value): value for value in listed or ()}
    nodes = situation.estate.nodes
    lost = _lost(situation)
    pods = _pods_on({node.name for node in nodes or () if node.cordoned or not node.ready}, situation)
    for node in nodes or ():
        value = objects.get(node.name, {})
        yield from _out_of_service(node, value, pods.get(node.name, ()), lost.get(node.name), situation)
        yield from _unhealthy(node, lost.get(node.name), situation)
        if node.offered_twice:
            yield _offered_twice(node)
        if node.labels.get(_STATE) == "failed":
            offered = [f"{amount.number:,} {resource}" for resource, amount in sorted(node.allocatable.items())]
            yield _divided(node.name, node.labels, offered, gpus.capacity_of(node))
    if nodes is not None and not _may_claim_unseen(situation):
        there = {node.name for node in nodes}
        for name, value in sorted(objects.items()):
            if name not in there:
                yield from _offers_nothing(name, value, situation)


def _pods_on(names: set[str], situation: Situation) -> Mapping[str, list[str]]:
    """The pods with accelerators on some nodes, by node."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for workload in situation.estate.workloads if names else ():
        for pod in workload.pods:
            if pod.node in names and pod.holds:
                found[pod.node].append(f"{pod.namespace}/{pod.name}")
    return found


def _lost(situation: Situation) -> Mapping[str, float]:
    """The GPUs out of use, by node; empty if usher could not read all pods."""
    known = situation.estate.pods_known and situation.estate.scope.is_whole
    return {each.node.name: each.out_of_use for each in gpus.splits_of_nodes(situation.estate) or ()} if known else {}


def _state(node: Node, lasting: str) -> str:
    """`has not been ready for 2 days, and is cordoned`; the present state without a time if `lasting` is empty."""
    if node.ready:
        return f"has been cordoned{lasting}" if lasting else "is cordoned"
    return (f"has not been ready{lasting}" if lasting else "is not ready") + (
        ", and is cordoned" if node.cordoned else ""
    )


def _out_of_service(
    node: Node, value: paths.Object, pods: Sequence[str], lost: float | None, situation: Situation
) -> Iterator[FindingEntry]:
    """A finding about a node that is out of service for longer than the threshold, or for an unknown time."""
    if node.ready and not node.cordoned:
        return
    since = _not_ready_since(value) if not node.ready else _cordoned_since(value)
    if since is not None and not situation.is_old(since):
        return
    lasting = f" for {span(since, situation.now)}" if since is not None else ""
    reason = fields.conditions(value).get("Ready")
    yield cluster_finding(
        "USA034",
        _node_subject(node.name),
        f"it {_state(node, lasting)}; pods cannot get its {_amounts(node)}",
        evidence=(
            f"kubelet: {reason.message}" if reason is not None and not node.ready and reason.message else "",
            f"pods with accelerators on it: {fields.listing(pods)}" if pods else "no pod with accelerators is on it",
            "" if since is not None else "since when is not known",
            _update(node.labels),
            _cost_text(node, gpus.capacity_of(node), situation),
        ),
        gpus=gpus.capacity_of(node),
        gpus_lost=lost,
        cost_per_hour=_per_hour(node, lost, situation),
        since=since,
    )


def _offered_twice(node: Node) -> FindingEntry:
    resources = ", ".join(sorted(node.allocatable))
    return cluster_finding(
        "USA037",
        _node_subject(node.name),
        f"it offers its GPUs as {resources}, and again for claims as {', '.join(node.offered_twice)}",
        gpus=gpus.capacity_of(node),
    )


def _not_ready_since(value: paths.Object) -> datetime | None:
    ready = fields.conditions(value).get("Ready")
    return None if ready is None or ready.holds else ready.since


def _cordoned_since(value: paths.Object) -> datetime | None:
    for taint in fields.objects(value, "/spec/taints"):
        if fields.text(taint, "/key") == _CORDON:
            return fields.when(taint, "/timeAdded")
    return None


def _unhealthy(node: Node, out_of_use: float | None, situation: Situation) -> Iterator[FindingEntry]:
    """A finding for each resource with unhealthy devices. A node that takes no pods has another finding for its
    devices.
    """
    for resource, amount in sorted(node.capacity.items()):
        offered = node.allocatable.get(resource)
        number = offered.number if offered is not None else 0
        if number < amount.number and node.ready:
            sick = gpus.of_devices({resource: type(amount)(number=amount.number - number)}, node)
            lost = None if out_of_use is None or node.cordoned else min(sick, out_of_use)
            yield cluster_finding(
                "USA035",
                _node_subject(node.name),
                f"it offers {number:,} of its {amount.number:,} {resource}",
                part=resource,
                path=f'status.allocatable["{resource}"]',
                remedy="" if number else _PLUGIN,
                evidence=(
                    f"board: {node.product}" if node.product else "",
                    _update(node.labels),
                    _cost_text(node, sick, situation),
                ),
                gpus=sick,
                gpus_lost=lost,
                cost_per_hour=_per_hour(node, lost, situation),
            )


def _cost_text(node: Node, number: float, situation: Situation) -> str:
    """A sentence with the cost of GPUs of a node; empty without a price."""
    cost, currency = _per_hour(node, number, situation), situation.config.audit.prices.currency
    if not cost:
        return ""
    money = f"{cost:,.2f} {currency} an hour, {24 * cost:,.2f} {currency} a day"
    return f"{counted(number, 'GPU')} cost{'s' if number == 1 else ''} {money}, by audit.prices"


def _per_hour(node: Node, number: float | None, situation: Situation) -> float | None:
    price = situation.price(node.name)
    return None if number is None or price is None else number * price


def _update(labels: Mapping[str, str]) -> str:
    """The progress of the GPU operator's driver update; empty if there is no update."""
    state = labels.get(_UPDATE, "")
    return "" if state in _UPDATED else f"the GPU operator updates its driver: {fields.excerpt(state)}"


def _divided(name: str, labels: Mapping[str, str], offered: Sequence[str], number: float) -> FindingEntry:
    return cluster_finding(
        "USA033",
        _node_subject(name),
        f"the MIG manager could not apply {fields.excerpt(labels.get(_WANTED, '')) or 'its configuration'}",
        path=f'metadata.labels["{_STATE}"]',
        evidence=(f"it offers {fields.listing(offered)}" if offered else "it offers no accelerator",),
        gpus=number,
    )


def _may_claim_unseen(situation: Situation) -> bool:
    """Whether nodes may offer GPUs for claims that the audit did not read: the cluster has a device class for them."""
    classes = situation.known.facts.names("resource.k8s.io", "DeviceClass") or ()
    return fields.listed(situation.estate, *RESOURCE_SLICE.key) is None and any(
        vocabulary.meaning_of_class(name).accelerator for name in classes
    )


def _offers_nothing(name: str, value: paths.Object, situation: Situation) -> Iterator[FindingEntry]:
    """A finding about a node that has GPUs by its labels but offers no accelerator. A new node gets minutes to install
    the driver.
    """
    labels, created = fields.labels(value), fields.when(value, "/metadata/creationTimestamp")
    if any(labels.get(key) in found for key, found in _ON_PURPOSE.items()):
        return
    if created is not None and not situation.is_old(created):
        return
    if labels.get(_PRESENT) == "true":
        if labels.get(_STATE) == "failed":
            yield _divided(name, labels, (), _count(labels.get(_COUNT, "")))
        else:
            why = f"the GPU operator found GPUs on it (label {_PRESENT})"
            yield _without_plugin(name, labels, why, labels.get(_COUNT, ""))
        return
    for label, count in _OF_SERVICES.items():
        if labels.get(label):
            why = f"its service says that it has GPUs (label {label}: {fields.excerpt(labels[label])})"
            yield _without_plugin(name, labels, why, labels.get(count, ""), remedy=_INSTALL)
            return


def _without_plugin(name: str, labels: Mapping[str, str], why: str, count: str, *, remedy: str = "") -> FindingEntry:
    product = accelerator_objects.read_product(labels)
    return cluster_finding(
        "USA036",
        _node_subject(name),
        f"{why}, and it offers no accelerator",
        remedy=remedy,
        evidence=(
            f"board: {fields.excerpt(product)}" if product else "no label says the board",
            f"GPUs by its label: {fields.excerpt(count)}" if count else "",
            _update(labels),
        ),
        gpus=_count(count),
    )


def _count(text: str) -> float:
    return float(text) if text.isascii() and text.isdecimal() and len(text) < 5 else 0


def _amounts(node: Node) -> str:
    return ", ".join(f"{amount.number:,} {resource}" for resource, amount in sorted(node.capacity.items()))


def _node_subject(name: str) -> Subject:
    return named_subject("v1", "Node", name)
