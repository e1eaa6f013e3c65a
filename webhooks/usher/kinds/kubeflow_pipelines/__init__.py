"""pipelines.kubeflow.org: compiled pipelines and PipelineVersions."""

from usher.kinds.kubeflow_pipelines import pipeline_versions

KINDS = (*pipeline_versions.KINDS,)
