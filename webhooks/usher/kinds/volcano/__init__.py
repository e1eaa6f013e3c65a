"""batch.volcano.sh and scheduling.volcano.sh: jobs, queues and pod groups."""
