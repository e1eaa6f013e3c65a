"""Kubernetes' own kinds."""

from usher.kinds.kubernetes import (
    apps,
    batch,
    config_maps,
    definitions,
    devices,
    disruption_budgets,
    namespaces,
    nodes,
    pods,
    priorities,
    quotas,
)

KINDS = (
    *pods.KINDS,
    *apps.KINDS,
    *batch.KINDS,
    *namespaces.KINDS,
    *nodes.KINDS,
    *quotas.KINDS,
    *config_maps.KINDS,
    *priorities.KINDS,
    *devices.KINDS,
    *definitions.KINDS,
    *disruption_budgets.KINDS,
)
