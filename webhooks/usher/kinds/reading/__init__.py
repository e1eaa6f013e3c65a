"""Reads manifests that may hold anything: typed values, look-ups, pod templates and the shapes that rules read."""
