"""Nodes and their devices as capacity: labels, taints, MIG, sharing, claims, autoscalers."""

from collections.abc import Mapping
from typing import Final

from usher import model, paths
from usher.accelerators.mig import MIG_RESOURCE_PREFIX
from usher.audit import fields
from usher.audit.building import claimable
from usher.audit.readiness import judgement
from usher.audit.readiness.judgement import Item, Judgement, failed, not_applicable, not_known, passed
from usher.audit.readiness.look import Look
from usher.audit.readiness.wanted import API_SERVICE
from usher.audit.standing import autoscalers, entries
from usher.audit.standing import taints as standing_taints
from usher.audit.standing.wanted import KARPENTER_POOL, NODE
from usher.kinds.reading.values import Absence

_AREA: Final = "capacity"
_CONFORMANCE: Final = "https://github.com/cncf/k8s-ai-conformance/blob/main/docs/AIConformance-1.37.yaml"
_WANTED: Final = "nvidia.com/mig.config"
_STATE: Final = "nvidia.com/mig.config.state"
_DISABLED: Final = ("", "all-disabled")
_CLASS: Final = ("resource.k8s.io", "DeviceClass")
_METRICS: Final = ("custom.metrics.k8s.io", "external.metrics.k8s.io")
_SERVICES: Final = frozenset({model.Role.INFERENCE, model.Role.SERVICE})


def _no_nodes(look: Look) -> Judgement | None:
    if look.nodes is None:
        return judgement.not_listed("nodes")
    return None if look.nodes else not_applicable("no node has accelerators")


def labels(look: Look) -> Judgement:
    """Whether labels name the board of each node."""
    without = [node.name for node in look.nodes or () if not node.product]
    early = _no_nodes(look)
    if early is not None:
        return early
    if without:
        return failed(f"no label says the board of {fields.listing(without)}")
    boards = sorted({node.product for node in look.nodes or ()})
    return passed(f"boards: {fields.listing(boards)}")


def taints(look: Look) -> Judgement:
    """Whether a taint keeps other pods off each node."""
    early = _no_nodes(look)
    if early is not None:
        return early
    nodes = look.nodes or ()
    without = [node.name for node in nodes if not standing_taints.keeps_off(node)]
    if without and not standing_taints.have_other_nodes(look.estate):
        return not_applicable("every node for other pods has accelerators, so a taint would leave those pods no node")
    if without:
        number = f"{len(without):,} of {entries.counted(len(nodes), 'node')}"
        return failed(f"without a taint: {number}, {fields.listing(without)}")
    return passed(f"nodes with a taint: {len(nodes):,}")


def mig(look: Look) -> Judgement:
    """Whether the MIG manager has divided the nodes as requested."""
    early = _no_nodes(look)
    if early is not None:
        return early
    # A node that could not be divided may offer nothing. Then it is not one of the nodes with accelerators.
    found: dict[str, Mapping[str, str]] = {node.name: node.labels for node in look.nodes or ()}
    for value in fields.listed(look.estate, *NODE) or ():
        found.setdefault(fields.name(value), fields.labels(value))
    states = {
        name: labels.get(_STATE, "") for name, labels in found.items() if labels.get(_WANTED, "") not in _DISABLED
    }
    if not states:
        return not_applicable("no node has a MIG configuration")
    bad = sorted(name for name, state in states.items() if state == "failed")
    if bad:
        return failed(f"the configuration failed on {fields.listing(bad)}")
    open_ones = sorted(f"{name}: {state or 'no state'}" for name, state in states.items() if state != "success")
    if open_ones:
        return not_known(f"not finished on {fields.listing(open_ones)}")
    return passed(f"divided as their labels want: {entries.counted(len(states), 'node')}")


def sharing(look: Look) -> Judgement:
    """Whether small workloads can get a part of a GPU."""
    early = _no_nodes(look)
    if early is not None:
        return early
    nodes = look.nodes or ()
    divided = sorted({name for node in nodes for name in node.capacity if name.startswith(MIG_RESOURCE_PREFIX)})
    shared = [node.name for node in nodes if node.shared_by > 1]
    if not divided and not shared:
        return not_applicable("no node divides or shares its GPUs")
    return passed(
        *([f"MIG: {fields.listing(divided)}"] if divided else []),
        *([f"shared by several pods: {fields.listing(shared)}"] if shared else []),
    )


def claims(look: Look) -> Judgement:
    """Whether the cluster serves device claims, and which drivers offer devices."""
    facts = look.known.facts
    classes = facts.objects(*_CLASS)
    if classes is Absence.NOT_KNOWN:
        return judgement.not_listed("deviceclasses.resource.k8s.io")
    if classes is Absence.MISSING:
        return failed("the API server does not serve resource.k8s.io/v1, which Kubernetes 1.34 and later do")
    slices = fields.listed(look.estate, *claimable.WANTED.key)
    drivers = sorted({fields.text(each, "/spec/driver") for each in slices or ()} - {""})
    return passed(
        "the API server serves resource.k8s.io",
        f"drivers with devices: {fields.listing(drivers)}" if drivers else "no driver offers devices for claims",
    )


def autoscaler(look: Look) -> Judgement:
    """Whether a node autoscaler runs and has a limit for GPUs."""
    pools = autoscalers.node_pools(look.estate, look.known.vocabulary)
    if pools:
        without = [fields.name(each) for each in pools if not fields.at(each, "/spec/limits")]
        if without:
            return failed(f"NodePools for GPUs without limits: {fields.listing(without)}")
        return passed(f"NodePools for GPUs with limits: {fields.listing([fields.name(each) for each in pools])}")
    if autoscalers.has_status(look.known.facts):
        return passed(f"Cluster Autoscaler writes the ConfigMap {autoscalers.STATUS}")
    if any(pool.scales for pool in look.config.pools):
        return passed("usher.yaml declares pools that an autoscaler fills")
    if fields.listed(look.estate, *KARPENTER_POOL):
        return not_applicable("no NodePool of Karpenter is for nodes with accelerators")
    return not_known("no NodePool of Karpenter and no status of Cluster Autoscaler is seen; a cloud may run its own")


def pod_autoscaling(look: Look) -> Judgement:
    """Whether services can scale by their own metrics."""
    listed = fields.listed(look.estate, *API_SERVICE.key)
    if listed is None:
        return judgement.not_wanted([API_SERVICE])
    found = [each for each in listed if fields.name(each).partition(".")[2] in _METRICS]
    broken = [fields.name(each) for each in found if not _is_available(each)]
    if broken:
        return failed(f"not available: {fields.listing(broken)}")
    if found:
        return passed(f"served: {fields.listing([fields.name(each) for each in found])}")
    if not any(each.role in _SERVICES for each in look.estate.workloads):
        return not_applicable("no workload with accelerators is a service")
    return failed("no API serves metrics of workloads (custom.metrics.k8s.io, external.metrics.k8s.io)")


def _is_available(value: paths.Object) -> bool:
    condition = fields.conditions(value).get("Available")
    return condition is not None and condition.holds is True


ITEMS: Final = (
    Item(
        id="node-labels",
        area=_AREA,
        title="Labels say the board of each node",
        how="Each node with accelerators has a label of its product.",
        remedy="Run GPU feature discovery, or label the node pool.",
        reference="docs/domain/nodes.md#labels",
        judge=labels,
    ),
    Item(
        id="node-taints",
        area=_AREA,
        title="A taint keeps other pods off GPU nodes",
        how="Each node with accelerators has a taint with NoSchedule or NoExecute. It does not apply where other pods "
        "have no other nodes.",
        remedy="Taint the node pools with nvidia.com/gpu=present:NoSchedule.",
        reference="docs/domain/nodes.md#taints",
        judge=taints,
    ),
    Item(
        id="mig",
        area=_AREA,
        title="Nodes are divided as their MIG configuration says",
        how="The label nvidia.com/mig.config.state is `success` on each node with a MIG configuration.",
        remedy="Read the log of the MIG manager on the node.",
        reference="docs/domain/mig.md",
        judge=mig,
    ),
    Item(
        id="gpu-sharing",
        area=_AREA,
        title="Small workloads can get a part of a GPU",
        how="A node offers slices of MIG, or replicas of a GPU.",
        remedy="Divide some nodes by MIG, or share them by time.",
        reference=_CONFORMANCE,
        conformance="gpu_sharing",
        judge=sharing,
    ),
    Item(
        id="device-claims",
        area=_AREA,
        title="Pods can claim devices (DRA)",
        how="The API server serves resource.k8s.io, as Kubernetes 1.34 and later do.",
        remedy="Let the API server serve it (--runtime-config), and install the DRA driver of the vendor.",
        reference="https://github.com/cncf/k8s-ai-conformance/blob/main/docs/AIConformance-1.35.md",
        conformance="dra_support",
        judge=claims,
    ),
    Item(
        id="node-autoscaling",
        area=_AREA,
        title="An autoscaler adds GPU nodes, up to a limit",
        how="Each NodePool of Karpenter for GPUs has limits, or Cluster Autoscaler writes its status.",
        remedy="Set spec.limits of the NodePool, for example nvidia.com/gpu: 64.",
        reference="https://karpenter.sh/docs/concepts/nodepools/",
        conformance="cluster_autoscaling",
        judge=autoscaler,
    ),
    Item(
        id="pod-autoscaling",
        area=_AREA,
        title="Services scale by metrics of their own",
        how="An API of custom or external metrics is available. It does not apply without services.",
        remedy="Install an adapter of metrics, for example KEDA or the Prometheus adapter.",
        reference=_CONFORMANCE,
        conformance="pod_autoscaling",
        judge=pod_autoscaling,
    ),
)
