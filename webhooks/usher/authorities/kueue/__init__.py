"""Kueue: whether a queue could ever admit a workload, and whether it could now."""
