"""The audit in the cluster: a CronJob or a Job, its account and rights, and its NetworkPolicy."""
