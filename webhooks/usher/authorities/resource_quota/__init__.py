"""Kubernetes' ResourceQuotas, judged for whole workloads."""
