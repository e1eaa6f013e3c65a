"""GPUQuotas: what a workload is charged and what a quota has left. Pure arithmetic."""
