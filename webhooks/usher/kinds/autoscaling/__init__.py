"""What changes the number of pods of a workload: autoscalers, and KEDA."""

from usher.kinds.autoscaling import autoscalers, misspelt, scaled_jobs

KINDS = (*scaled_jobs.KINDS, *autoscalers.KINDS, *misspelt.KINDS)
