"""Authorities that can refuse a workload: queues, nodes, quotas, limits, priorities. Only `gpu_quota.live` does I/O."""
