"""Items about how pods get GPUs: gang schedulers, queues, priorities, topology."""

from typing import Final

from usher import model
from usher.audit import fields
from usher.audit.readiness import judgement
from usher.audit.readiness.judgement import Item, Judgement, failed, not_applicable, not_known, passed
from usher.audit.readiness.look import Look
from usher.audit.readiness.wanted import HYPER_NODE
from usher.audit.standing.wanted import KAI_QUEUE
from usher.authorities import priority as priority_read
from usher.authorities.kueue.queues import GROUP
from usher.authorities.volcano import read as volcano_read

_AREA: Final = "scheduling"
_CONFORMANCE: Final = "https://github.com/cncf/k8s-ai-conformance/blob/main/docs/AIConformance-1.37.yaml"
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
        return judgement.not_listed(_DEFINITIONS)
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
        listed = fields.listed(look.estate, *KAI_QUEUE)
        if listed is None:
            return judgement.not_listed(_KAI_QUEUES)
        names = [name for each in listed if (name := fields.name(each)) not in _OWN_OF_KAI]
        return (
            passed(f"queues of KAI: {fields.listing(names)}") if names else failed("KAI has its default queues alone")
        )
    if not facts.knows(GROUP, "LocalQueue"):
        return judgement.not_listed(_LOCAL_QUEUES)
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
    classes = priority_read.classes_of_kind(look.known.facts, priority_read.PRIORITY_CLASS)
    if classes is None:
        return judgement.not_listed("priorityclasses.scheduling.k8s.io")
    own = {name: each.value for name, each in sorted(classes.items()) if not name.startswith(_SYSTEM)}
    if len(set(own.values())) < 2:
        in_queue = priority_read.classes_of_kind(look.known.facts, priority_read.QUEUE_PRIORITY_CLASS) or {}
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
        return judgement.not_listed(*([] if facts.knows(GROUP, "Topology") else [f"topologies.{GROUP}"]),
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
        return judgement.not_listed(_DEFINITIONS)
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
        return judgement.not_listed(_DEFINITIONS)
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


ITEMS: Final = (
    Item(
        id="gang-scheduler",
        area=_AREA,
        title="A scheduler can start all pods of a job together",
        how="The kinds of Kueue, Volcano, KAI or the coscheduling plugin are installed.",
        remedy="Install Kueue or Volcano, and route distributed training to it.",
        reference=_CONFORMANCE,
        conformance="gang_scheduling",
        judge=gang_scheduler,
    ),
    Item(
        id="queues",
        area=_AREA,
        title="Workloads with accelerators have a queue",
        how="Each namespace of a tenant has a LocalQueue of Kueue; or Volcano has a queue of the site.",
        remedy="Install a queueing system, such as Kueue, and give each of these namespaces a queue.",
        reference="https://kueue.sigs.k8s.io/docs/concepts/local_queue/",
        judge=queues,
    ),
    Item(
        id="priorities",
        area=_AREA,
        title="Services come before training",
        how="At least two PriorityClasses exist, and those of services have higher values than those of training.",
        remedy="Create a PriorityClass for services above the one for training, and name both in usher.yaml "
        "(priorities.classes).",
        reference="docs/domain/priority.md",
        judge=priorities,
    ),
    Item(
        id="topology",
        area=_AREA,
        title="Schedulers know the network between nodes",
        how="A Topology of Kueue or a HyperNode of Volcano exists, where gangs have several pods.",
        remedy="Describe racks and blocks in a Topology, and name it in the ResourceFlavor.",
        reference="docs/domain/kueue.md#placement-by-topology",
        judge=topology,
    ),
    Item(
        id="topology-manager",
        area=_AREA,
        title="Kubelets give a container GPUs and CPUs of one NUMA node",
        how="It is never known: the configuration of a kubelet is not an object of the API.",
        remedy="Use the policy best-effort or restricted for nodes whose pods take all GPUs.",
        reference="https://kubernetes.io/docs/tasks/administer-cluster/topology-manager/",
        judge=topology_manager,
    ),
    Item(
        id="ai-operator",
        area=_AREA,
        title="An operator for AI workloads works",
        how="A workload of Ray, Kubeflow or KServe has pods on nodes.",
        remedy="Run one small job of the operator.",
        reference=_CONFORMANCE,
        conformance="robust_controller",
        judge=robust_controller,
    ),
    Item(
        id="inference-gateway",
        area=_AREA,
        title="The Gateway API routes requests to models",
        how="The kinds Gateway and HTTPRoute are installed. It does not apply without services.",
        remedy="Install the Gateway API with an implementation.",
        reference=_CONFORMANCE,
        conformance="ai_inference",
        judge=inference_gateway,
    ),
)
