"""Kubernetes manifests that are derived from what usher knows. Pure."""
