"""Kubernetes' own kinds."""
