"""GPU quotas: the charge of a workload, and the room that a quota has left. Only `live` does I/O."""
