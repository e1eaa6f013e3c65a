"""Builds the `Estate` of an audit from the objects of a cluster, a snapshot or manifests, page by page."""
