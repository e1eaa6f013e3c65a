"""Whoever can say "never" to a workload: queues, nodes, quotas, limits, priorities. Pure but for `gpu_quota.live`."""
