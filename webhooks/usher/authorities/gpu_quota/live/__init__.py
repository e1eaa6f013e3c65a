"""GPU quotas in a live cluster: observes workloads, charges them, and corrects the accounts of quotas."""
