"""Kubernetes' LimitRanges."""
