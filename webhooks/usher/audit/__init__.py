"""The audit of a cluster: which GPUs are idle, stuck or at risk, who uses them, and their cost."""
