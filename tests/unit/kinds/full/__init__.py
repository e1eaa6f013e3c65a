"""One object of every kind in which every field stands that the normaliser reads, and hardly any other."""

from unit.kinds.full import (
    appwrapper,
    argo,
    core,
    first,
    hyperpod,
    keda,
    knative,
    kserve,
    kserve_llm,
    kubeflow,
    lws,
    notebooks,
    parts,
    pipelines,
    ray,
    serving_operators,
    spark,
    tekton,
    trainer,
    volcano,
)
from unit.kinds.full.parts import Known, places

__all__ = ["FULL_OBJECTS", "KNOWN", "places"]

FULL_OBJECTS = {
    **first.OBJECTS,
    **appwrapper.OBJECTS,
    **argo.OBJECTS,
    **core.OBJECTS,
    **hyperpod.OBJECTS,
    **keda.OBJECTS,
    **knative.OBJECTS,
    **kserve.OBJECTS,
    **kserve_llm.OBJECTS,
    **kubeflow.OBJECTS,
    **lws.OBJECTS,
    **notebooks.OBJECTS,
    **pipelines.OBJECTS,
    **ray.OBJECTS,
    **serving_operators.OBJECTS,
    **spark.OBJECTS,
    **tekton.OBJECTS,
    **trainer.OBJECTS,
    **volcano.OBJECTS,
}

KNOWN = Known(
    *parts.REFERENCED,
    *appwrapper.REFERENCED,
    *argo.REFERENCED,
    *core.REFERENCED,
    *hyperpod.REFERENCED,
    *keda.REFERENCED,
    *knative.REFERENCED,
    *kserve.REFERENCED,
    *kserve_llm.REFERENCED,
    *kubeflow.REFERENCED,
    *lws.REFERENCED,
    *notebooks.REFERENCED,
    *pipelines.REFERENCED,
    *ray.REFERENCED,
    *serving_operators.REFERENCED,
    *spark.REFERENCED,
    *tekton.REFERENCED,
    *trainer.REFERENCED,
    *volcano.REFERENCED,
)
"""Knows what the objects refer to."""
