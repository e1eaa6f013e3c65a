"""Manifests in which any field may hold anything, and what merging needs beside them: a workload and intents."""

from typing import Any

import builders
from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.config import sections
from usher.kinds.reading.values import NO_OBJECTS, Lookup
from usher.policy.mutation import merge
from usher.workloads.normalise import normalise

CONTAINER = "/spec/containers/0"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
TERMS = f"/spec/affinity/nodeAffinity/{REQUIRED}/nodeSelectorTerms"
WORKER = "/spec/pytorchReplicaSpecs/Worker/template"
MUTATION = "test/mutation"
IN_THE_WAY = "something else is in its place: "


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


def train_job(**spec: Any) -> paths.Object:
    return builders.custom("trainer.kubeflow.org/v1alpha1", "TrainJob", {"runtimeRef": {"name": "torch"}, **spec})


def runtime(*, node: paths.Object | None = None, metadata: Any = None, **spec: Any) -> paths.Object:
    """The runtime of a TrainJob: for PyTorch, with one job whose pods have one container."""
    template: paths.Object = {"spec": {"containers": [node or container(name="node")], **spec}}
    if metadata is not None:
        template["metadata"] = metadata
    job: paths.Object = {
        "name": "node",
        "template": {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
            "spec": {"template": template},
        },
    }
    fields: paths.Object = {"mlPolicy": {"torch": {}}, "template": {"spec": {"replicatedJobs": [job]}}}
    return builders.custom(
        "trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", fields, name="torch", namespace=None
    )


def affinity(*terms: Any) -> paths.Object:
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}


def workload(value: paths.Object, *, objects: Lookup = NO_OBJECTS) -> model.Workload:
    found = normalise(value, vocabulary=Vocabulary(sections.Accelerators()), objects=objects)
    assert found is not None
    return found


def intent(
    field: str, value: Any, *, at: str = "", mutation: str = MUTATION, needs: tuple[model.Need, ...] = ()
) -> model.Intent:
    return model.Intent(mutation=mutation, at=at, field=field, value=value, reason="the test wants it", needs=needs)


def merged(value: paths.Object, *intents: model.Intent, objects: Lookup = NO_OBJECTS) -> merge.Merged:
    """The result of a merge; its patch is verified, as for an object that the webhook answers about."""
    result = merge.merge(
        value,
        workload(value, objects=objects),
        intents,
        name_of=lambda key: key.rpartition("/")[2],
        objects=objects,
    )
    return merge.verified(value, result)


def at(result: merge.Merged, pointer: str) -> Any:
    return paths.resolve(result.value, pointer)


def refusals(result: merge.Merged) -> list[str]:
    """Why nothing was changed; also proves that nothing was."""
    assert not result.applied
    assert not result.operations
    return [skipped.reason for skipped in result.skipped]
