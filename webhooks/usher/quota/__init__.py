"""Arithmetic of GPUQuotas: what a workload is charged, what a quota has left, what its ledger should say. No I/O."""
