"""Judges whether Volcano could ever start a workload in its queue."""
