"""The one registry of workload kinds. To teach usher a kind, add it to an adapter's KINDS."""

from usher.workloads.adapters import (
    apps,
    appwrapper,
    argo,
    batch,
    core,
    hyperpod,
    jobset,
    keda,
    knative,
    kserve,
    kserve_llm,
    kubeflow,
    lws,
    notebooks,
    pipelines,
    ray,
    serving_operators,
    spark,
    tekton,
    trainer,
    volcano,
)
from usher.workloads.kinds import Kind

KINDS: list[Kind] = [
    *core.KINDS,
    *apps.KINDS,
    *batch.KINDS,
    *kubeflow.KINDS,
    *trainer.KINDS,
    *jobset.KINDS,
    *lws.KINDS,
    *ray.KINDS,
    *kserve.KINDS,
    *kserve_llm.KINDS,
    *serving_operators.KINDS,
    *knative.KINDS,
    *volcano.KINDS,
    *argo.KINDS,
    *tekton.KINDS,
    *spark.KINDS,
    *appwrapper.KINDS,
    *notebooks.KINDS,
    *keda.KINDS,
    *hyperpod.KINDS,
    *pipelines.KINDS,
]

BY_GROUP_AND_KIND: dict[tuple[str, str], Kind] = {(kind.group, kind.kind): kind for kind in KINDS}
