"""GPU quotas in a live cluster: who holds what, what is reserved, and which replica writes an account."""
