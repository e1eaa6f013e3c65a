"""Autoscalers in the files of a run bound the pods of what they scale."""

from collections.abc import Iterable

import pytest

import builders
from usher import paths
from usher.check import findings, judging, runner, surroundings
from usher.check.batches import Batch, Item
from usher.check.surroundings import Scalers
from usher.config import models
from usher.policy import assembly
from usher.policy.evaluator import Evaluator


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return assembly.embedded(models.Config())


def server(*, replicas: int | None = 1, name: str = "chat", gpus: int = 1) -> paths.Object:
    pod = builders.template(builders.container(gpus=gpus), labels={"app": name}, annotations=None)
    value = builders.deployment(pod, name=name)
    return value if replicas is None else builders.replaced(value, "/spec/replicas", replicas)


def horizontal(least: int, most: int, *, namespace: str = "ml-research") -> paths.Object:
    reference: paths.Object = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"}
    spec: paths.Object = {"scaleTargetRef": reference, "minReplicas": least, "maxReplicas": most}
    return builders.custom("autoscaling/v2", "HorizontalPodAutoscaler", spec, name="hpa", namespace=namespace)


def scaled(most: int, **annotations: str) -> paths.Object:
    spec: paths.Object = {"scaleTargetRef": {"name": "chat"}, "minReplicaCount": 2, "maxReplicaCount": most}
    value = builders.custom("keda.sh/v1alpha1", "ScaledObject", spec, name="keda")
    return builders.replaced(value, "/metadata/annotations", dict(annotations)) if annotations else value


def file(*values: paths.Object, source: str = "apps/chat.yaml") -> Batch:
    return Batch(source=source, items=tuple(Item(value=value) for value in values))


def run(evaluator: Evaluator, batches: Iterable[Batch]) -> findings.Report:
    settings = judging.Settings(command=findings.Command.CHECK, mutated=True)
    return runner.run(batches, evaluator=evaluator, settings=settings)


def bounds(found: findings.Report) -> list[tuple[int, int | None]]:
    """Pods of the Deployments, in the order of the files."""
    return [
        (result.pods.minimum, result.pods.maximum) for result in found.results if result.identity.kind == "Deployment"
    ]


def surge(maximum: int) -> int:
    """A rollout runs a quarter more pods."""
    return maximum + -(-maximum // 4)


def test_an_autoscaler_in_the_same_file_bounds_the_pods(evaluator: Evaluator) -> None:
    found = run(evaluator, [file(server(), horizontal(2, 8))])

    assert bounds(found) == [(2, surge(8))]
    assert found.totals.pods.number == surge(8)


def test_an_autoscaler_in_another_file_of_the_run_does_too(evaluator: Evaluator) -> None:
    batches = [file(server()), file(horizontal(2, 8), source="scaling/hpa.yaml")]

    assert bounds(run(evaluator, batches)) == [(2, surge(8))]


def test_the_maximum_counts_for_limits_of_accelerators(evaluator: Evaluator) -> None:
    codes = {
        finding.judgement.code
        for result in run(evaluator, [file(server(gpus=8), horizontal(1, 300))]).results
        for finding in result.findings
    }
    alone = {
        finding.judgement.code
        for result in run(evaluator, [file(server(gpus=8))]).results
        for finding in result.findings
    }

    assert codes - alone == {"USH1301", "USH1461"}


def test_keda_bounds_pods_as_a_horizontal_pod_autoscaler_does(evaluator: Evaluator) -> None:
    assert bounds(run(evaluator, [file(server(), scaled(4))])) == [(2, surge(4))]


def test_a_paused_autoscaler_changes_nothing(evaluator: Evaluator) -> None:
    paused = scaled(400, **{"autoscaling.keda.sh/paused": "true"})

    assert bounds(run(evaluator, [file(server(replicas=3), paused)])) == [(3, surge(3))]


def test_an_object_has_its_own_pods_until_a_scaler_acts(evaluator: Evaluator) -> None:
    assert bounds(run(evaluator, [file(server(replicas=20), horizontal(2, 8))])) == [(2, surge(20))]


def test_overlays_with_one_name_do_not_scale_each_other(evaluator: Evaluator) -> None:
    batches = [
        file(server(replicas=3), source="production/all.yaml"),
        file(server(replicas=1), horizontal(1, 2), source="development/all.yaml"),
    ]

    assert bounds(run(evaluator, batches)) == [(3, surge(3)), (1, surge(2))]


def test_two_autoscalers_of_one_name_count_in_their_own_files_alone(evaluator: Evaluator) -> None:
    batches = [
        file(server(replicas=3)),
        file(horizontal(1, 2), source="development/hpa.yaml"),
        file(horizontal(1, 9), source="production/hpa.yaml"),
    ]

    assert bounds(run(evaluator, batches)) == [(3, surge(3))]


def test_an_autoscaler_of_another_namespace_is_of_another_object(evaluator: Evaluator) -> None:
    batches = [file(server(replicas=3), horizontal(1, 9, namespace="elsewhere"))]

    assert bounds(run(evaluator, batches)) == [(3, surge(3))]


def test_an_audit_takes_the_numbers_that_exist(evaluator: Evaluator) -> None:
    """An object with a uid has the number of pods that its autoscaler chose; a manifest has not."""
    manifest = server(replicas=3)
    exists = builders.replaced(manifest, "/metadata/uid", "d6a1")
    settings = judging.Settings(command=findings.Command.AUDIT, mutated=True, drift=True)

    found = [
        bounds(runner.run([file(value, horizontal(1, 9))], evaluator=evaluator, settings=settings))
        for value in (exists, manifest)
    ]

    assert found == [[(3, surge(3))], [(1, surge(9))]]


def test_a_service_in_another_file_of_the_directory_sends_requests(evaluator: Evaluator) -> None:
    front = builders.custom("v1", "Service", {"selector": {"app": "chat"}, "ports": [{"port": 80}]}, name="front")

    def readiness(source: str) -> bool:
        found = run(evaluator, [file(server()), file(front, source=source)])
        return any(each.judgement.name == "readiness-missing" for result in found.results for each in result.findings)

    assert readiness("apps/service.yaml")
    assert not readiness("elsewhere/service.yaml")


def test_a_directory_of_alternatives_is_not_applied_together(evaluator: Evaluator) -> None:
    front = builders.custom("v1", "Service", {"selector": {"app": "chat"}, "ports": [{"port": 80}]}, name="front")
    found = run(evaluator, [file(server()), file(server(), front, source="apps/with-service.yaml")])
    alone, beside = (
        {each.judgement.name for each in result.findings}
        for result in found.results
        if result.identity.kind == "Deployment"
    )

    assert "readiness-missing" in beside - alone


def test_without_autoscalers_nothing_is_looked_up() -> None:
    scalers = Scalers([surroundings.outline_of(file(server()), namespace="default")], namespace="default")

    assert scalers.of(server(), "apps/chat.yaml") == ()
