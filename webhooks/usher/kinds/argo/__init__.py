"""argoproj.io: workflows and their templates."""

from usher.kinds.argo import workflows

KINDS = (*workflows.KINDS,)
