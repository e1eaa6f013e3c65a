"""Where the kinds that can be scaled keep the number that their `/scale` writes.

Sources: pkg/registry/apps/rest and pkg/registry/core/rest of Kubernetes 1.36 for its own kinds; for the others
`subresources.scale.specReplicasPath` of their CRDs. What the number counts differs: pods for most kinds, whole groups
for a LeaderWorkerSet, Workers alone for the jobs of kubeflow.org. The adapter of the kind knows it, so that setting the
number and normalising the object again gives its pods.

JobSet, TrainJob, MPIJob, TFJob, XGBoostJob, the kinds of ray.io, InferenceService and the Volcano Job have no scale: an
autoscaler that names one of them does nothing, and they grow by UPDATE alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The scale subresource of one kind."""

    group: str
    kind: str
    plural: str
    field: str = "/spec/replicas"
    """JSON Pointer of the number that it reads and writes."""


SCALES: list[Scale] = [
    Scale(group="", kind="ReplicationController", plural="replicationcontrollers"),
    Scale(group="apps", kind="Deployment", plural="deployments"),
    Scale(group="apps", kind="ReplicaSet", plural="replicasets"),
    Scale(group="apps", kind="StatefulSet", plural="statefulsets"),
    Scale(
        group="disaggregatedset.x-k8s.io",
        kind="DisaggregatedSetRoleScaler",
        plural="disaggregatedsetrolescalers",
    ),
    Scale(group="kubeflow.org", kind="JAXJob", plural="jaxjobs", field="/spec/jaxReplicaSpecs/Worker/replicas"),
    Scale(
        group="kubeflow.org", kind="PaddleJob", plural="paddlejobs", field="/spec/paddleReplicaSpecs/Worker/replicas"
    ),
    Scale(
        group="kubeflow.org",
        kind="PyTorchJob",
        plural="pytorchjobs",
        field="/spec/pytorchReplicaSpecs/Worker/replicas",
    ),
    Scale(group="leaderworkerset.x-k8s.io", kind="LeaderWorkerSet", plural="leaderworkersets"),
    Scale(
        group="production-stack.vllm.ai",
        kind="VLLMRuntime",
        plural="vllmruntimes",
        field="/spec/deploymentConfig/replicas",
    ),
]

FIELDS: Mapping[tuple[str, str], str] = {(scale.group, scale.kind): scale.field for scale in SCALES}
"""By group and kind."""

KINDS: Mapping[tuple[str, str], str] = {(scale.group, scale.plural): scale.kind for scale in SCALES}
"""By group and resource, which is all that a request to `/scale` tells of the kind."""
