"""tekton.dev: runs, pipelines and tasks."""

from usher.kinds.tekton import runs

KINDS = (*runs.KINDS,)
