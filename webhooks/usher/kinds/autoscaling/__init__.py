"""Kinds that change the number of pods or nodes: autoscalers, KEDA, node pools, provisioning requests."""

from usher.kinds.autoscaling import autoscalers, misspelt, node_pools, provisioning, scaled_jobs

KINDS = (*scaled_jobs.KINDS, *autoscalers.KINDS, *node_pools.KINDS, *provisioning.KINDS, *misspelt.KINDS)
