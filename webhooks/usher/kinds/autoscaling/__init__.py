"""What changes the number of pods of a workload, or of nodes: autoscalers, KEDA and provisioning requests."""

from usher.kinds.autoscaling import autoscalers, misspelt, provisioning, scaled_jobs

KINDS = (*scaled_jobs.KINDS, *autoscalers.KINDS, *provisioning.KINDS, *misspelt.KINDS)
