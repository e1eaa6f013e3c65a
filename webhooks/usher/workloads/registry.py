"""The one registry of workload kinds. To teach usher a kind, add it to an adapter's KINDS."""

from usher.views import registry
from usher.views.kinds import View
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

OBJECTS: list[View] = [view for view in registry.VIEWS if (view.group, view.kind) not in BY_GROUP_AND_KIND]
"""Kinds that make no pods and that rules read."""

LISTED: list[Kind | View] = [
    *(kind for kind in KINDS if kind.plural),
    *(view for view in OBJECTS if view.plural and view.listed),
]
"""Every kind of which an API server lists the objects."""
