"""All shapes of kinds, by group and kind. To let rules read another kind, add it to the VIEWS of a module."""

from usher.views import (
    autoscalers,
    batch,
    devices,
    gpu_quotas,
    kubeflow,
    kueue,
    namespaces,
    nodes,
    operators,
    pipelines,
    priorities,
    quotas,
    ray,
    rollouts,
    serving,
    volcano,
)
from usher.views.kinds import View

VIEWS: list[View] = [
    *autoscalers.VIEWS,
    *batch.VIEWS,
    *devices.VIEWS,
    *gpu_quotas.VIEWS,
    *kubeflow.VIEWS,
    *kueue.VIEWS,
    *namespaces.VIEWS,
    *nodes.VIEWS,
    *operators.VIEWS,
    *pipelines.VIEWS,
    *priorities.VIEWS,
    *quotas.VIEWS,
    *ray.VIEWS,
    *rollouts.VIEWS,
    *serving.VIEWS,
    *volcano.VIEWS,
]

BY_GROUP_AND_KIND: dict[tuple[str, str], View] = {(view.group, view.kind): view for view in VIEWS}


class Objects(
    autoscalers.Objects,
    batch.Objects,
    devices.Objects,
    gpu_quotas.Objects,
    kubeflow.Objects,
    kueue.Objects,
    namespaces.Objects,
    nodes.Objects,
    operators.Objects,
    pipelines.Objects,
    priorities.Objects,
    quotas.Objects,
    ray.Objects,
    rollouts.Objects,
    serving.Objects,
    volcano.Objects,
):
    """`input.object` of the policies: one of these fields."""
