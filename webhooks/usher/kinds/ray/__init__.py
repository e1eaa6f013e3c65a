"""ray.io: clusters, jobs, services and cron jobs."""
