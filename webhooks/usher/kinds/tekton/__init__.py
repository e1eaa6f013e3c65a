"""tekton.dev: runs, pipelines and tasks."""
