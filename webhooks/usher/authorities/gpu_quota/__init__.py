"""GPU quotas: what a workload is charged and what a quota has left. All but `live` is pure arithmetic."""
