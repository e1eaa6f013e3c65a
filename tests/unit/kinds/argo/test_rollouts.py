"""Rollout of Argo: how many pods it runs while it replaces them."""

import pytest

import builders
from unit.workloads.normalised import pod_set, unknowns
from usher import paths
from usher.kinds.reading import values

API = "argoproj.io/v1alpha1"


def rollout(**spec: builders.JsonValue) -> paths.Object:
    template = builders.template(builders.container(gpus=1))
    return builders.custom(API, "Rollout", {"replicas": 8, "template": template, **spec})


def experiment(*replicas: int | None) -> dict[str, builders.JsonValue]:
    templates: list[builders.JsonValue] = [
        {"name": f"t{index}", "specRef": "stable", **({} if number is None else {"replicas": number})}
        for index, number in enumerate(replicas)
    ]
    return {"experiment": {"templates": templates}}


ROUTED: builders.JsonValue = {"nginx": {"stableIngress": "embed"}}


@pytest.mark.parametrize(
    ("strategy", "most"),
    [
        ({}, 10),
        ({"canary": {}}, 10),
        ({"canary": {"maxSurge": "50%"}}, 12),
        ({"canary": {"maxSurge": 0, "maxUnavailable": 1}}, 8),
        ({"canary": {"trafficRouting": {"nginx": {"stableIngress": "embed"}}}}, 16),
        ({"blueGreen": {"activeService": "embed", "previewReplicaCount": 1}}, 16),
        ({"blueGreen": {"activeService": "embed", "previewReplicaCount": 9}}, 17),
        # Pods of an experiment stay for a while after it, so those of two are there together.
        ({"canary": {"steps": [experiment(2, None), {"setWeight": 50}, experiment(3)]}}, 16),
        ({"canary": {"trafficRouting": ROUTED, "steps": [experiment(2)]}}, 18),
        ({"canary": {"trafficRouting": ROUTED, "steps": [{"setCanaryScale": {"replicas": 12}}]}}, 20),
        ({"canary": {"maxSurge": 1, "steps": [{"setCanaryScale": {"replicas": 12}}]}}, 9),
    ],
)
def test_the_strategy_says_how_many_pods_run_beside_the_old_ones(strategy: builders.JsonValue, most: int) -> None:
    count = pod_set(rollout(strategy=strategy)).count

    assert (count.minimum, count.maximum) == (8, most)


def test_without_replicas_it_has_one_pod() -> None:
    value = rollout(replicas=None, strategy={"blueGreen": {}})

    assert pod_set(value).count.maximum == 2


def test_it_may_take_the_template_of_a_deployment() -> None:
    deployment = builders.custom(
        "apps/v1", "Deployment", {"template": builders.template(builders.container(gpus=2))}, name="embed"
    )
    reference: builders.JsonValue = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "embed"}
    value = rollout(template=None, workloadRef=reference)

    found = pod_set(value, objects=values.Objects([deployment]))

    assert {name: str(amount) for name, amount in found.accelerators.items()} == {builders.GPU: "2"}
    assert not found.changeable
    assert [path for path, _ in unknowns(value)] == ["/spec/workloadRef"]
