"""An entry of usher.yaml names a LocalQueue that does not exist: mutation and validation say the same."""

from collections.abc import Iterator
from typing import Any

import pytest

from builders import container, job, queues, template
from usher import model, paths
from usher.cluster.facts.store import Store
from usher.config import models
from usher.policy import assembly
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator

CONFIG = {"queues": [{"namespaces": ["ml-*"], "localQueue": "research"}]}
QUEUE = "kueue.x-k8s.io/queue-name"


@pytest.fixture
def evaluator() -> Iterator[Evaluator]:
    """One that knows a LocalQueue of another name."""
    facts = Store.of([queues.local_queue("nightly", namespace="ml-research", cluster_queue="gpus")])
    made = assembly.embedded(models.Config.model_validate(CONFIG), facts=facts)
    yield made
    made.engine.close()


def gpu_job(**metadata: Any) -> paths.Object:
    pods = template(container(gpus=1), restartPolicy="Never")
    return job(pods, name="train", namespace="ml-research", **metadata)


def found(decision: model.Decision) -> dict[str, model.Judgement]:
    return {each.name: each for each in decision.judgements}


def test_the_mutation_leaves_the_label_out_and_the_check_demands_no_label(evaluator: Evaluator) -> None:
    merged, decision = evaluator.admit(Request(value=gpu_job()))

    assert QUEUE not in str(merged.value)
    (skipped,) = [each for each in merged.skipped if each.intent.mutation == "queueing/queue_label"]
    assert "LocalQueue ml-research/research" in skipped.reason
    assert "does not exist" in skipped.reason
    finding = found(decision)["queue-label-missing"].finding
    assert finding.message.startswith("LocalQueue research, into which usher.yaml puts this workload, does not exist")
    assert QUEUE not in finding.message + finding.remedy


def test_the_quota_of_the_queue_still_holds(evaluator: Evaluator) -> None:
    """Whoever could delete the LocalQueue would otherwise get around its quota."""
    _, decision = evaluator.admit(Request(value=gpu_job()))

    assert found(decision)["queue-label-missing"].outcome is model.Outcome.DENY


def test_a_workload_that_names_another_queue_is_not_told_of_the_absent_one(evaluator: Evaluator) -> None:
    _, decision = evaluator.admit(Request(value=gpu_job(labels={QUEUE: "nightly"})))

    assert "queue-label-missing" not in found(decision)


def test_without_facts_of_queues_the_label_is_demanded_as_before() -> None:
    blind = assembly.embedded(models.Config.model_validate(CONFIG))

    finding = found(blind.decide(Request(value=gpu_job())))["queue-label-missing"].finding

    assert finding.remedy == f"set the label {QUEUE}: research"
