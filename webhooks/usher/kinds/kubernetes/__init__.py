"""Kubernetes' own kinds."""

from usher.kinds.kubernetes import config_maps, namespaced_policies, nodes, pod_controllers

KINDS = (
    *pod_controllers.PODS,
    *pod_controllers.APPS,
    *pod_controllers.JOBS,
    *namespaced_policies.NAMESPACES,
    *nodes.NODES,
    *namespaced_policies.QUOTAS,
    *config_maps.KINDS,
    *namespaced_policies.PRIORITY_CLASSES,
    *nodes.DEVICES,
    *namespaced_policies.DEFINITIONS,
    *namespaced_policies.DISRUPTION_BUDGETS,
)
