"""The audit of a cluster: which GPUs are idle, stuck or at risk, whose they are, and what they cost."""
