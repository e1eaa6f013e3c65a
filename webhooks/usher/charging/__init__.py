"""Charging GPUQuotas in a live cluster: what exists, what is reserved, and who writes it down first."""
