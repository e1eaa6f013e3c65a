"""batch.volcano.sh and scheduling.volcano.sh: jobs, queues and pod groups."""

from usher.kinds.volcano import jobs, queues

KINDS = (*jobs.KINDS, *queues.KINDS)
