"""ray.io: clusters, jobs, services and cron jobs."""

from usher.kinds.ray import workloads

KINDS = (*workloads.KINDS,)
