"""Judges whether pods fit the nodes of the cluster."""
