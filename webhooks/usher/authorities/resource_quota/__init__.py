"""Judges whole workloads by the ResourceQuotas of their namespace."""
