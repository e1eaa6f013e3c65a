"""Findings about a cluster as a whole, for example waiting workloads, unused quotas and gaps in coverage."""
