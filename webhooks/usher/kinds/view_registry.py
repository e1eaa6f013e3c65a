"""All shapes of kinds, by group and kind. To let rules read another kind, add it to the VIEWS of a module."""

from usher.kinds import gpu_usher, kueue
from usher.kinds.argo import shapes as argo_shapes
from usher.kinds.autoscaling import shapes as autoscaling_shapes
from usher.kinds.kserve import shapes as kserve_shapes
from usher.kinds.kubeflow import shapes as kubeflow_shapes
from usher.kinds.kubernetes import apps as kubernetes_apps
from usher.kinds.kubernetes import batch as kubernetes_batch
from usher.kinds.kubernetes import devices as kubernetes_devices
from usher.kinds.kubernetes import namespaces as kubernetes_namespaces
from usher.kinds.kubernetes import nodes as kubernetes_nodes
from usher.kinds.kubernetes import priorities as kubernetes_priorities
from usher.kinds.kubernetes import quotas as kubernetes_quotas
from usher.kinds.nvidia import gpu_operator
from usher.kinds.ray import workloads as ray_workloads
from usher.kinds.view import View
from usher.kinds.volcano import shapes as volcano_shapes

VIEWS: list[View] = [
    *autoscaling_shapes.VIEWS,
    *kubernetes_batch.VIEWS,
    *kubernetes_devices.VIEWS,
    *gpu_usher.VIEWS,
    *kubeflow_shapes.VIEWS,
    *kueue.VIEWS,
    *kubernetes_namespaces.VIEWS,
    *kubernetes_nodes.VIEWS,
    *gpu_operator.VIEWS,
    *argo_shapes.VIEWS,
    *kubernetes_priorities.VIEWS,
    *kubernetes_quotas.VIEWS,
    *ray_workloads.VIEWS,
    *kubernetes_apps.VIEWS,
    *kserve_shapes.VIEWS,
    *volcano_shapes.VIEWS,
]

BY_GROUP_AND_KIND: dict[tuple[str, str], View] = {(view.group, view.kind): view for view in VIEWS}


class Objects(
    autoscaling_shapes.Objects,
    kubernetes_batch.Objects,
    kubernetes_devices.Objects,
    gpu_usher.Objects,
    kubeflow_shapes.Objects,
    kueue.Objects,
    kubernetes_namespaces.Objects,
    kubernetes_nodes.Objects,
    gpu_operator.Objects,
    argo_shapes.Objects,
    kubernetes_priorities.Objects,
    kubernetes_quotas.Objects,
    ray_workloads.Objects,
    kubernetes_apps.Objects,
    kserve_shapes.Objects,
    volcano_shapes.Objects,
):
    """`input.object` of the policies: one of these fields."""
