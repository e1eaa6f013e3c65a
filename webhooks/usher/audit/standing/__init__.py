"""Findings about a cluster as a whole, beside the checks on single objects: workloads that wait, objects without effect, and gaps in protection."""
