"""TrainJobs and their runtimes for tests."""

import builders
from usher import paths

API = "trainer.kubeflow.org/v1alpha1"


def step(
    name: str = "node", role: str | None = "trainer", *containers: paths.Object, **job: builders.JsonValue
) -> paths.Object:
    """A replicated job of a runtime, which the label makes one of the steps that the operator knows."""
    template = builders.template(*(containers or (builders.container("node"),)))
    replicas, parallelism = job.get("replicas"), job.get("parallelism")
    value = builders.replicated_job(name, template, replicas=replicas, parallelism=parallelism)
    labels: paths.Object = {} if role is None else {"trainer.kubeflow.org/trainjob-ancestor-step": role}
    return builders.replaced(value, "/template/metadata", {"labels": labels})


def runtime(
    *steps: paths.Object,
    kind: str = "ClusterTrainingRuntime",
    policy: dict[str, builders.JsonValue] | None = None,
    namespace: str | None = None,
) -> paths.Object:
    policy = {"torch": {}} if policy is None else policy
    spec: dict[str, builders.JsonValue] = {
        "mlPolicy": policy,
        "template": {"spec": {"replicatedJobs": list(steps) or [step()]}},
    }
    return builders.custom(API, kind, spec, name="torch", namespace=namespace)


def train_job(
    trainer: dict[str, builders.JsonValue] | None = None, *, kind: str = "", **spec: builders.JsonValue
) -> paths.Object:
    ref: dict[str, builders.JsonValue] = {"name": "torch", **({"kind": kind} if kind else {})}
    return builders.custom(
        API, "TrainJob", {"runtimeRef": ref, **({} if trainer is None else {"trainer": trainer}), **spec}
    )


PATCH: dict[str, builders.JsonValue] = {
    "nodeSelector": {"pool": "h100"},
    "tolerations": [{"key": "gpu"}],
    "affinity": builders.node_affinity(builders.term(builders.expression("pool", "In", "h100"))),
    "schedulingGates": [{"name": "example.com/quota"}],
    "containers": [{"name": "proxy", "env": [{"name": "NCCL_DEBUG", "value": "INFO"}]}],
}


def runtime_patch(
    spec: builders.JsonValue, *, job: str = "node", metadata: builders.JsonValue = None
) -> builders.JsonValue:
    template = {"metadata": metadata, "spec": spec}
    jobs: builders.JsonValue = [{"name": job, "template": {"spec": {"template": template}}}]
    return {"manager": "example.com/me", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": jobs}}}}
