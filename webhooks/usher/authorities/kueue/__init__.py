"""Judges whether a queue of Kueue could ever admit a workload, and whether it could now."""
