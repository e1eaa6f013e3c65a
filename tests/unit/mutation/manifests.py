"""Manifests, and what merging needs beside them: the normalised workload and intents."""

from typing import Any

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.config import models
from usher.mutation import merge
from usher.workloads.normalise import normalise

CONTAINER = "/spec/containers/0"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
TERMS = f"/spec/affinity/nodeAffinity/{REQUIRED}/nodeSelectorTerms"
MUTATION = "test/mutation"


def container(**fields: Any) -> paths.Object:
    return {"name": "main", "image": "registry.example.com/train:1", **fields}


def pod(*, metadata: paths.Object | None = None, containers: Any = None, **spec: Any) -> paths.Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata or {"name": "notebook"},
        "spec": {"containers": containers or [container()], **spec},
    }


def pytorch_job(*, run_policy: Any = None, replicas: paths.Object | None = None) -> paths.Object:
    """A job; `replicas` are its replica specs by type, by default four workers."""
    spec: paths.Object = {"pytorchReplicaSpecs": replicas or {"Worker": replica(4)}}
    if run_policy is not None:
        spec["runPolicy"] = run_policy
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "bert"}, "spec": spec}


def replica(count: int, **spec: Any) -> paths.Object:
    return {"replicas": count, "template": {"spec": {"containers": [container()], **spec}}}


def affinity(*terms: Any) -> paths.Object:
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}


def workload(value: paths.Object) -> model.Workload:
    found = normalise(value, vocabulary=Vocabulary(models.Accelerators()))
    assert found is not None
    return found


def intent(field: str, value: Any, *, at: str = "", mutation: str = MUTATION) -> model.Intent:
    return model.Intent(mutation=mutation, at=at, field=field, value=value, reason="the test wants it")


def merged(value: paths.Object, *intents: model.Intent) -> merge.Merged:
    return merge.merge(value, workload(value), intents, name_of=lambda key: key.rpartition("/")[2])
