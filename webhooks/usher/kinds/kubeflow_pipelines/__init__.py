"""pipelines.kubeflow.org: compiled pipelines and PipelineVersions."""
