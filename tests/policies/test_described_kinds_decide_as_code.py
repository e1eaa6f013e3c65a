"""PyTorchJob, JobSet and Deployment by description give the decisions that the code gave which read them before.

The code is kept here as it was. Everything that follows the templates of an object, and the record of its kind, is the
same for both.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pytest
from msgspec.structs import replace

from e2e import corpus
from usher import model, paths
from usher.config import models
from usher.kinds import registry
from usher.kinds.kind import Key
from usher.kinds.reading.counts import concurrent_pods, in_turns, share_of_replicas
from usher.kinds.reading.pod_templates import pod_template
from usher.kinds.reading.templates import Place, Template, Traits
from usher.kinds.reading.values import Reading
from usher.policy import assembly
from usher.policy.decision import Request

Object = Mapping[str, paths.Json]
Code = Callable[[Object, Reading], Iterator[Template]]

_PYTORCH: Final = Traits(
    trains="pytorch",
    operator_environment=frozenset({"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PYTHONUNBUFFERED", "PET_*"}),
)


def pytorch_job(job: Object, reading: Reading) -> Iterator[Template]:
    """TR19:pkg/controller.v1/pytorch/hpa.go and pytorch_defaults.go: bounds count where the policy has metrics."""
    spec = reading.mapping(job.get("spec"), "/spec")
    elastic = reading.mapping(spec.get("elasticPolicy"), "/spec/elasticPolicy")
    for path, name, replica in reading.entries(spec.get("pytorchReplicaSpecs"), "/spec/pytorchReplicaSpecs"):
        replicas = reading.count(replica.get("replicas"), path + "/replicas", default=1)
        count = model.Count(minimum=replicas, maximum=replicas)
        if name.lower() == "worker" and elastic:
            count = _elastic(elastic, "/spec/elasticPolicy", replicas, reading)
        template = Place(replica.get("template"), path + "/template")
        yield pod_template(template, reading, name=name, count=count, traits=_PYTORCH)


def _elastic(elastic: Object, path: str, replicas: int, reading: Reading) -> model.Count:
    highest = reading.count(elastic.get("maxReplicas"), path + "/maxReplicas", default=replicas)
    lowest = reading.count(elastic.get("minReplicas"), path + "/minReplicas", default=highest)
    if elastic.get("maxReplicas") is None:
        highest = lowest
    if elastic.get("metrics") is None:
        return model.Count(minimum=replicas, maximum=replicas)
    return model.Count(minimum=min(lowest, replicas), maximum=max(highest, replicas), reason="elasticPolicy")


def job_set(value: Object, reading: Reading) -> Iterator[Template]:
    """A job with `dependsOn`, or one behind the first in order, waits (JS:pkg/controllers/jobset_controller.go)."""
    spec = reading.mapping(value.get("spec"), "/spec")
    policy = reading.mapping(spec.get("startupPolicy"), "/spec/startupPolicy")
    in_order = policy.get("startupPolicyOrder") == "InOrder"
    for path, job in reading.items(spec.get("replicatedJobs"), "/spec/replicatedJobs"):
        replicas = reading.count(job.get("replicas"), path + "/replicas", default=1)
        job_template = reading.mapping(job.get("template"), path + "/template")
        job_path = path + "/template/spec"
        job_spec = reading.mapping(job_template.get("spec"), job_path)
        pods = replicas * concurrent_pods(job_spec, job_path, reading)
        found = pod_template(
            Place(job_spec.get("template"), job_path + "/template"),
            reading,
            name=reading.text(job.get("name"), path + "/name"),
            count=model.Count(minimum=pods, maximum=pods),
        )
        waits = bool(job.get("dependsOn")) or (in_order and not path.endswith("/0"))
        yield replace(found, in_turns=in_turns(job_spec), later=waits, groups=replicas)


def deployment(value: Object, reading: Reading) -> Iterator[Template]:
    """A rollout runs `maxSurge` more pods, rounded up; not with Recreate or without pods."""
    spec = reading.mapping(value.get("spec"), "/spec")
    replicas = reading.count(spec.get("replicas"), "/spec/replicas", default=1)
    strategy = reading.mapping(spec.get("strategy"), "/spec/strategy")
    rolling = reading.mapping(strategy.get("rollingUpdate"), "/spec/strategy/rollingUpdate")
    surge = share_of_replicas(replicas, rolling.get("maxSurge"), "/spec/strategy/rollingUpdate/maxSurge", reading)
    if reading.text(strategy.get("type"), "/spec/strategy/type") == "Recreate" or not replicas:
        surge = 0
    reason = f"{surge} more during a rollout" if surge else ""
    count = model.Count(minimum=replicas, maximum=replicas + surge, reason=reason)
    yield pod_template(Place(spec.get("template"), "/spec/template"), reading, count=count)


BY_CODE: Final[Mapping[Key, Code]] = {
    ("kubeflow.org", "PyTorchJob"): pytorch_job,
    ("jobset.x-k8s.io", "JobSet"): job_set,
    ("apps", "Deployment"): deployment,
}


def answers() -> list[tuple[str, Any]]:
    """For every object of these kinds: what `usher check` says of it, and what it writes into it."""
    evaluator = assembly.embedded(models.Config())
    found = []
    for key in BY_CODE:
        for index, value in enumerate(corpus.manifests()[key]):
            merged, decision = evaluator.admit(Request(value=value, namespace="ml", place="check"))
            found.append((f"{key[1]} {index}", (merged.operations, decision)))
    return found


def test_descriptions_decide_about_the_corpus_as_the_code_did(monkeypatch: pytest.MonkeyPatch) -> None:
    described = answers()
    for key, code in BY_CODE.items():
        kind = registry.WORKLOADS[key]
        assert kind.pods is not None
        by_code = replace(kind, pods=replace(kind.pods, templates=code))
        monkeypatch.setitem(registry.WORKLOADS, key, by_code)
        monkeypatch.setitem(registry.PODS, key, by_code.pods)
    coded = answers()

    assert len(coded) >= 14
    assert [name for (name, one), (_, other) in zip(described, coded, strict=True) if one != other] == []
