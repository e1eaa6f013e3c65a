"""GPU quotas in a live cluster: what exists, what is reserved, and which replica writes an account."""
