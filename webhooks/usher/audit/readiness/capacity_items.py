"""How pods come to GPUs, and nodes as capacity: schedulers, queues, labels, MIG, sharing, claims, autoscalers."""

from collections.abc import Mapping
from typing import Final

from usher import model, paths
from usher.accelerators.mig import MIG_RESOURCE_PREFIX
from usher.audit.gather import object_fields as fields
from usher.audit.gather.needed_inputs import API_SERVICE, HYPER_NODE, KAI_QUEUE, KARPENTER_POOL, NODE, RESOURCE_SLICE
from usher.audit.readiness import checklist
from usher.audit.readiness.checklist import Judge, Judgement, Look, failed, not_applicable, not_known, passed
from usher.audit.standing import cluster_equipment, node_health, situation
from usher.authorities import priority
from usher.authorities.kueue.queues import GROUP
from usher.authorities.volcano import read as volcano_read
from usher.kinds.reading.values import Absence

_DEFINITIONS: Final = "customresourcedefinitions.apiextensions.k8s.io"
_SYSTEM: Final = "system-"

_GANGS: Final = {
    "workloads.kueue.x-k8s.io": "Kueue",
    "podgroups.scheduling.volcano.sh": "Volcano",
    "podgroups.scheduling.run.ai": "KAI",
    "podgroups.scheduling.x-k8s.io": "the coscheduling plugin",
}
"""Definitions of schedulers that start all pods of a gang together."""

_PLAIN_SCHEDULERS: Final = ("", "default-scheduler", "gke.io/optimize-utilization-scheduler")
"""Schedulers that place pods one by one."""

_LOCAL_QUEUES: Final = f"localqueues.{GROUP}"
_KAI_QUEUES: Final = "queues.scheduling.run.ai"
_OWN: Final = ("default", "root")
"""Queues that Volcano makes itself."""
_OWN_OF_KAI: Final = ("default-queue", "default-parent-queue")
"""Queues that KAI's chart makes."""


def gang_scheduler(look: Look) -> Judgement:
    if look.definitions is None:
        return checklist.not_listed(_DEFINITIONS)
    found = [name for definition, name in _GANGS.items() if definition in look.definitions]
    if found:
        return passed(*(f"{name} is installed" for name in found))
    missing = "the kinds of Kueue, Volcano, KAI and the coscheduling plugin are not there"
    others = sorted({each.scheduler for each in look.estate.workloads}.difference(_PLAIN_SCHEDULERS))
    if others:
        return not_known(f"{missing}; workloads name {fields.listing(others)}, which may start gangs")
    return failed(missing)


def queues(look: Look) -> Judgement:
    """Whether the workloads with accelerators of each namespace have a queue."""
    facts = look.known.facts
    volcano = volcano_read.queues_of_cluster(facts)
    own = sorted(name for name in (volcano.by_name if volcano is not None else ()) if name not in _OWN)
    if own:
        return passed(f"queues of Volcano: {fields.listing(own)}")
    if look.definitions is not None and _KAI_QUEUES in look.definitions:
        listed = fields.listed(look.estate, *KAI_QUEUE.key)
        if listed is None:
            return checklist.not_listed(_KAI_QUEUES)
        names = [name for each in listed if (name := fields.name(each)) not in _OWN_OF_KAI]
        return (
            passed(f"queues of KAI: {fields.listing(names)}") if names else failed("KAI has its default queues alone")
        )
    if not facts.knows(GROUP, "LocalQueue"):
        return checklist.not_listed(_LOCAL_QUEUES)
    there = facts.namespaces(GROUP, "LocalQueue")
    spaces = look.tenants
    if not spaces:
        return not_applicable("no namespace of a tenant has workloads with accelerators")
    without = [name for name in spaces if name not in there]
    if without and look.definitions is not None and _LOCAL_QUEUES not in look.definitions:
        return failed("the kinds of Kueue, Volcano and KAI are not there, so no workload has a queue")
    if without:
        return failed(f"namespaces without a LocalQueue: {fields.listing(without)}")
    return passed(f"namespaces with a LocalQueue: {fields.listing(spaces)}")


def priorities(look: Look) -> Judgement:
    """Whether services have a higher priority than training, by the classes of the existing workloads."""
    classes = priority.classes_of_kind(look.known.facts, priority.PRIORITY_CLASS)
    if classes is None:
        return checklist.not_listed("priorityclasses.scheduling.k8s.io")
    own = {name: each.value for name, each in sorted(classes.items()) if not name.startswith(_SYSTEM)}
    if len(set(own.values())) < 2:
        in_queue = priority.classes_of_kind(look.known.facts, priority.QUEUE_PRIORITY_CLASS) or {}
        if len({each.value for each in in_queue.values()}) > 1:
            return not_known(
                f"pods have one priority; WorkloadPriorityClasses of Kueue order its queues: "
                f"{fields.listing(sorted(in_queue))}"
            )
        return failed(f"fewer than two priorities: {fields.listing(list(own)) or 'no PriorityClass of the site'}")
    services, training = _used(look, own, model.Role.INFERENCE), _used(look, own, model.Role.TRAINING)
    if not services or not training:
        return passed(f"PriorityClasses: {fields.listing([f'{name} ({value:,})' for name, value in own.items()])}")
    lowest, highest = min(services.values()), max(training.values())
    seen = (f"services use {fields.listing(sorted(services))}", f"training uses {fields.listing(sorted(training))}")
    return passed(*seen) if lowest > highest else failed(*seen)


def _used(look: Look, own: dict[str, int], role: model.Role) -> dict[str, int]:
    """The priority classes that workloads of a role name, with their values."""
    names = {each.priority for each in look.estate.workloads if each.role is role}
    return {name: own[name] for name in names if name in own}


def topology(look: Look) -> Judgement:
    """Whether the schedulers know the network between nodes, if gangs span nodes."""
    spans = [each for each in look.estate.workloads if each.gang and each.wanted.minimum > 1]
    if not spans:
        return not_applicable("no gang has several pods")
    facts = look.known.facts
    names = facts.names(GROUP, "Topology") or frozenset()
    if names:
        return passed(f"Topology of Kueue: {fields.listing(sorted(names))}")
    nodes = look.listed(HYPER_NODE)
    if nodes:
        return passed(f"HyperNodes of Volcano: {len(nodes):,}")
    if not facts.knows(GROUP, "Topology") or nodes is None:
        return checklist.not_listed(*([] if facts.knows(GROUP, "Topology") else [f"topologies.{GROUP}"]),
                                    *([] if nodes is not None else [HYPER_NODE.resource]))  # fmt: skip
    return failed(f"gangs with several pods: {len(spans):,}; no Topology and no HyperNode describes the network")


def topology_manager(look: Look) -> Judgement:
    """Always unknown: the configuration of a kubelet is not an object of the API."""
    if look.nodes is not None and not look.nodes:
        return not_applicable("no node has accelerators")
    return not_known(
        "the configuration of kubelets is not an object; kubectl get --raw /api/v1/nodes/NODE/proxy/configz shows "
        "topologyManagerPolicy, topologyManagerScope and cpuManagerPolicy",
        "single-numa-node refuses pods whose GPUs are on several NUMA nodes: 8 GPUs of one node often are",
    )


_OPERATORS: Final = {
    "rayclusters.ray.io": ("ray.io",),
    "trainjobs.trainer.kubeflow.org": ("trainer.kubeflow.org",),
    "pytorchjobs.kubeflow.org": ("kubeflow.org",),
    "inferenceservices.serving.kserve.io": ("serving.kserve.io",),
}


def robust_controller(look: Look) -> Judgement:
    """Whether an operator for AI workloads works. Only pods that it made prove it."""
    if look.definitions is None:
        return checklist.not_listed(_DEFINITIONS)
    there = [name for name in _OPERATORS if name in look.definitions]
    if not there:
        return not_applicable("no operator of Ray, Kubeflow or KServe is installed")
    groups = {group for name in there for group in _OPERATORS[name]}
    for each in look.estate.workloads:
        if each.identity.api_version.rpartition("/")[0] in groups and any(pod.holds for pod in each.pods):
            return passed(f"{each.identity} has pods on nodes")
    return not_known(f"installed: {fields.listing(there)}; no workload with accelerators shows whether it works")


def inference_gateway(look: Look) -> Judgement:
    """Whether the Gateway API is installed for services."""
    if look.definitions is None:
        return checklist.not_listed(_DEFINITIONS)
    names = ("gateways.gateway.networking.k8s.io", "httproutes.gateway.networking.k8s.io")
    if all(name in look.definitions for name in names):
        pools = sorted(name for name in look.definitions if name.startswith("inferencepools."))
        return passed("the Gateway API is installed", *(f"its extension for inference too: {name}" for name in pools))
    if not any(each.role is model.Role.INFERENCE for each in look.estate.workloads):
        return _without_models(look)
    return failed("the Gateway API (gateway.networking.k8s.io) is not installed")


def _without_models(look: Look) -> Judgement:
    services = sum(each.role is model.Role.SERVICE for each in look.estate.workloads)
    if services:
        return not_known(f"workloads with accelerators that serve something: {services:,}; whether models is not known")
    return not_applicable("no workload with accelerators is a service")


SCHEDULING_JUDGES: Final[Mapping[str, Judge]] = {
    "gang-scheduler": gang_scheduler,
    "queues": queues,
    "priorities": priorities,
    "topology": topology,
    "topology-manager": topology_manager,
    "ai-operator": robust_controller,
    "inference-gateway": inference_gateway,
}

_WANTED: Final = "nvidia.com/mig.config"
_STATE: Final = "nvidia.com/mig.config.state"
_DISABLED: Final = ("", "all-disabled")
_CLASS: Final = ("resource.k8s.io", "DeviceClass")
_METRICS: Final = ("custom.metrics.k8s.io", "external.metrics.k8s.io")
_SERVICES: Final = frozenset({model.Role.INFERENCE, model.Role.SERVICE})


def labels(look: Look) -> Judgement:
    """Whether labels name the board of each node."""
    without = [node.name for node in look.nodes or () if not node.product]
    if without:
        return failed(f"no label says the board of {fields.listing(without)}")
    boards = sorted({node.product for node in look.nodes or ()})
    return passed(f"boards: {fields.listing(boards)}")


def taints(look: Look) -> Judgement:
    """Whether a taint keeps other pods off each node."""
    nodes = look.nodes or ()
    without = [node.name for node in nodes if not node_health.keeps_off(node)]
    if without and not node_health.have_other_nodes(look.estate):
        return not_applicable("every node for other pods has accelerators, so a taint would leave those pods no node")
    if without:
        number = f"{len(without):,} of {situation.counted(len(nodes), 'node')}"
        return failed(f"without a taint: {number}, {fields.listing(without)}")
    return passed(f"nodes with a taint: {len(nodes):,}")


def mig(look: Look) -> Judgement:
    """Whether the MIG manager has divided the nodes as requested."""
    # A node that could not be divided may offer nothing. Then it is not one of the nodes with accelerators.
    found: dict[str, Mapping[str, str]] = {node.name: node.labels for node in look.nodes or ()}
    for value in fields.listed(look.estate, *NODE.key) or ():
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
    return passed(f"divided as their labels want: {situation.counted(len(states), 'node')}")


def sharing(look: Look) -> Judgement:
    """Whether small workloads can get a part of a GPU."""
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
        return checklist.not_listed("deviceclasses.resource.k8s.io")
    if classes is Absence.MISSING:
        return failed("the API server does not serve resource.k8s.io/v1, which Kubernetes 1.34 and later do")
    slices = fields.listed(look.estate, *RESOURCE_SLICE.key)
    drivers = sorted({fields.text(each, "/spec/driver") for each in slices or ()} - {""})
    return passed(
        "the API server serves resource.k8s.io",
        f"drivers with devices: {fields.listing(drivers)}" if drivers else "no driver offers devices for claims",
    )


def autoscaler(look: Look) -> Judgement:
    """Whether a node autoscaler runs and has a limit for GPUs."""
    pools = cluster_equipment.karpenter_pools(look.estate, look.known.vocabulary)
    if pools:
        without = [fields.name(each) for each in pools if not fields.at(each, "/spec/limits")]
        if without:
            return failed(f"NodePools for GPUs without limits: {fields.listing(without)}")
        return passed(f"NodePools for GPUs with limits: {fields.listing([fields.name(each) for each in pools])}")
    if cluster_equipment.has_autoscaler_status(look.known.facts):
        return passed(f"Cluster Autoscaler writes the ConfigMap {cluster_equipment.AUTOSCALER_STATUS}")
    if any(pool.scales for pool in look.config.pools):
        return passed("usher.yaml declares pools that an autoscaler fills")
    if fields.listed(look.estate, *KARPENTER_POOL.key):
        return not_applicable("no NodePool of Karpenter is for nodes with accelerators")
    return not_known("no NodePool of Karpenter and no status of Cluster Autoscaler is seen; a cloud may run its own")


def pod_autoscaling(look: Look) -> Judgement:
    """Whether services can scale by their own metrics."""
    listed = fields.listed(look.estate, *API_SERVICE.key)
    if listed is None:
        return checklist.not_wanted([API_SERVICE])
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


CAPACITY_JUDGES: Final[Mapping[str, Judge]] = {
    "node-labels": labels,
    "node-taints": taints,
    "mig": mig,
    "gpu-sharing": sharing,
    "device-claims": claims,
    "node-autoscaling": autoscaler,
    "pod-autoscaling": pod_autoscaling,
}
