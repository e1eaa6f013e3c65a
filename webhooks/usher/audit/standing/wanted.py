"""The kinds that findings about a cluster read in addition to workloads, nodes and facts, with the fields to keep."""

from typing import Final

from usher import paths
from usher.audit import fields
from usher.audit.building.wanted import Wanted
from usher.kinds.kind import keeping

MUTATING: Final = ("admissionregistration.k8s.io", "MutatingWebhookConfiguration")
VALIDATING: Final = ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration")
DAEMON_SET: Final = ("apps", "DaemonSet")
NODE: Final = ("", "Node")
KUEUE_WORKLOAD: Final = ("kueue.x-k8s.io", "Workload")
POD_GROUP: Final = ("scheduling.volcano.sh", "PodGroup")
KAI_POD_GROUP: Final = ("scheduling.run.ai", "PodGroup")
KAI_QUEUE: Final = ("scheduling.run.ai", "Queue")
KARPENTER_POOL: Final = ("karpenter.sh", "NodePool")

_DAEMON: Final = keeping(
    "/spec/template/spec/tolerations",
    "/spec/template/spec/nodeSelector",
    "/spec/template/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution",
    "/status/desiredNumberScheduled",
    "/status/numberReady",
)


_SCRAPE: Final = "prometheus.io/scrape"


def _daemon_set(value: paths.Object) -> paths.Object:
    """A DaemonSet with only the names and images of its containers and one annotation of its pods. Other fields may be
    secret.
    """
    kept = _DAEMON(value)
    template = fields.at(kept, "/spec/template")
    scrape = fields.strings(value, "/spec/template/metadata/annotations").get(_SCRAPE)
    if isinstance(template, dict) and scrape is not None:
        template["metadata"] = {"annotations": {_SCRAPE: scrape}}
    spec = fields.at(kept, "/spec/template/spec")
    if isinstance(spec, dict):
        spec["containers"] = [
            {"name": each.get("name"), "image": each.get("image")}
            for each in fields.objects(value, "/spec/template/spec/containers")
        ]
    return kept


_NODE: Final = keeping(
    "/metadata/creationTimestamp", "/spec/taints", "/spec/unschedulable", "/status/capacity", "/status/allocatable"
)


def _node(value: paths.Object) -> paths.Object:
    """A Node with only the condition that shows whether it is ready."""
    kept = _NODE(value)
    status = kept.setdefault("status", {})
    if isinstance(status, dict):
        found = fields.objects(value, "/status/conditions")
        status["conditions"] = [each for each in found if fields.text(each, "/type") == "Ready"]
    return kept


WANTED: Final = (
    Wanted(
        group=MUTATING[0],
        versions=("v1",),
        plural="mutatingwebhookconfigurations",
        kind=MUTATING[1],
        keep=keeping("/metadata/creationTimestamp", "/webhooks"),
    ),
    Wanted(
        group=VALIDATING[0],
        versions=("v1",),
        plural="validatingwebhookconfigurations",
        kind=VALIDATING[1],
        keep=keeping("/metadata/creationTimestamp", "/webhooks"),
    ),
    Wanted(group=DAEMON_SET[0], versions=("v1",), plural="daemonsets", kind=DAEMON_SET[1], keep=_daemon_set),
    Wanted(group=NODE[0], versions=("v1",), plural="nodes", kind=NODE[1], keep=_node),
    Wanted(
        group=KUEUE_WORKLOAD[0],
        versions=("v1beta2", "v1beta1"),
        plural="workloads",
        kind=KUEUE_WORKLOAD[1],
        keep=keeping(
            "/metadata/ownerReferences",
            "/spec/queueName",
            "/status/conditions",
            "/status/admissionChecks",
            "/status/admission/clusterQueue",
        ),
    ),
    Wanted(
        group=POD_GROUP[0],
        versions=("v1beta1",),
        plural="podgroups",
        kind=POD_GROUP[1],
        keep=keeping(
            "/metadata/ownerReferences", "/spec/queue", "/spec/minMember", "/status/phase", "/status/conditions"
        ),
    ),
    Wanted(
        group=KAI_POD_GROUP[0],
        versions=("v2alpha2",),
        plural="podgroups",
        kind=KAI_POD_GROUP[1],
        keep=keeping(
            "/metadata/ownerReferences",
            "/spec/queue",
            "/spec/minMember",
            "/spec/subGroups",
            "/status/schedulingConditions",
        ),
    ),
    Wanted(
        group=KAI_QUEUE[0],
        versions=("v2",),
        plural="queues",
        kind=KAI_QUEUE[1],
        keep=keeping("/spec/parentQueue", "/spec/resources/gpu"),
    ),
    Wanted(
        group=KARPENTER_POOL[0],
        versions=("v1", "v1beta1"),
        plural="nodepools",
        kind=KARPENTER_POOL[1],
        keep=keeping("/spec/limits", "/spec/template/spec/requirements", "/spec/template/spec/taints"),
    ),
)
"""All these kinds. Secrets and the contents of ConfigMaps are not among them."""
