"""Workloads for the cluster of facts_site.py, each with a different result."""

from collections.abc import Iterator, Mapping
from typing import Final

import builders
from builders import GPU
from e2e.cluster import Object
from e2e.facts_site import DIVIDED, H100, NAMESPACE, SLICE

_QUEUE: Final = "kueue.x-k8s.io/queue-name"
_CLASS: Final = "kueue.x-k8s.io/priority-class"
_APP: Final = {"app": "example"}
_TOLERATED: Final = builders.toleration(GPU, operator="Exists", effect="NoSchedule")


def asked_about() -> Iterator[Object]:
    """Some fit, some can never fit, some wait for others, and one is unknown."""
    yield job("fits", template(GPU, 8), queue="research", queue_class="nightly")
    yield job("held", template(GPU, 1), queue="held")
    yield job("lost", template(GPU, 1), queue="nowhere")
    yield job("misspelt", template(GPU, 1), queue="reserch", queue_class="nigthly")
    yield job("with-runtime", template(GPU, 1, runtimeClassName="gvisor"))
    yield job("too-much-memory", template(GPU, 1, memory="600Gi"))
    yield job("claims", template(resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]))
    in_queue = {_QUEUE: "research"}
    worker = builders.replaced(template(GPU, 8), "/spec/containers/0/name", "pytorch")
    yield builders.pytorch_job(worker, workers=8, name="large", namespace=NAMESPACE, labels=in_queue)
    worker = builders.replicated_job(pod_template=template(GPU, 8), replicas=3, parallelism=1, completions=1)
    yield builders.job_set(worker, suspend=True, name="three-nodes", namespace=NAMESPACE, labels=in_queue)
    for name, queue, pods in (("gang", "gangs", 3), ("stray", "gone", 1)):
        task = builders.volcano_task(pod_template=template(GPU, 8), replicas=pods)
        yield builders.volcano_job(task, queue=queue, name=name, namespace=NAMESPACE)
    misnamed = template(GPU, 1, priorityClassName="urgent")
    yield _selecting(builders.deployment(misnamed, replicas=2, name="without-class", namespace=NAMESPACE))
    yield _selecting(builders.daemon_set(template(GPU, 1), name="everywhere", namespace=NAMESPACE))
    yield _selecting(builders.stateful_set(template(GPU, 9), replicas=3, name="nine", namespace=NAMESPACE))
    for name, slices in (("slices", 2), ("eight-slices", 8)):
        # A program in one process would use one slice alone.
        spec = builders.replaced(template(SLICE, slices), "/spec/containers/0/args", ["--parallel-workers"])["spec"]
        assert isinstance(spec, dict)
        yield builders.custom("v1", "Pod", spec, name=name, namespace=NAMESPACE)


def job(
    name: str, pod_template: Object, *, queue: str = "", queue_class: str = "", namespace: str = NAMESPACE
) -> Object:
    """A Job of one pod, suspended as Kueue would have it, so that no controller starts its pod."""
    labels = {key: value for key, value in ((_QUEUE, queue), (_CLASS, queue_class)) if value}
    once = builders.replaced(pod_template, "/spec/restartPolicy", "Never")
    return builders.job(once, suspend=True, name=name, namespace=namespace, labels=labels)


def template(resource: str = "", amount: int = 0, *, memory: str = "64Gi", **spec: builders.JsonValue) -> Object:
    """A template of a pod with accelerators that tolerates their taints, unless `spec` says otherwise."""
    amounts: Mapping[str, builders.JsonValue] = {"cpu": "8", "memory": memory, **({resource: amount} if amount else {})}
    pod: Mapping[str, builders.JsonValue] = {
        "nodeSelector": DIVIDED if resource == SLICE else H100,
        "tolerations": [_TOLERATED],
        "priorityClassName": "training",
        **spec,
    }
    filled = builders.pod_spec(builders.container(requests=amounts, limits=amounts), **pod)
    return {"metadata": {"labels": dict(_APP)}, "spec": filled}


def _selecting(value: Object) -> Object:
    return builders.replaced(value, "/spec/selector", {"matchLabels": dict(_APP)})
