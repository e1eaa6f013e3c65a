"""Turns objects into Workloads. Pure, without I/O: one adapter per family of kinds, one registry by group and kind."""
