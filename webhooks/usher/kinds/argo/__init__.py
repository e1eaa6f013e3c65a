"""argoproj.io: workflows and their templates."""
