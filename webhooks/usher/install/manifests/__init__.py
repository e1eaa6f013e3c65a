"""Kubernetes manifests that usher generates. Pure."""
