"""Verdicts about ResourceQuotas and LimitRanges match the API server: pod by pod, in both directions."""

import random
from collections.abc import Iterator
from typing import Final

import pytest

import builders
from builders import GPU
from e2e.cluster import ApiError, Cluster, Object, wait_until
from unit.workloads.normalised import workload
from usher import paths
from usher.authorities import limit_range
from usher.authorities.resource_quota import judge as resource_quota_judge
from usher.authorities.resource_quota.judge import NamespaceLimits

PODS: Final = 60
"""For each namespace: enough that every outcome comes up."""

FORBIDDEN: Final = 403

AMOUNTS: Final = {"cpu": ["0", "500m", "1", "2", "4"], "memory": ["0", "64Mi", "1Gi", "1500M", "4Gi"]}


def limits(*items: Object) -> Object:
    return builders.custom("v1", "LimitRange", {"limits": list(items)}, name="limits")


def quota(name: str, hard: dict[str, str], **spec: builders.JsonValue) -> Object:
    return builders.custom("v1", "ResourceQuota", {"hard": hard, **spec}, name=name)


NAMESPACES: Final[dict[str, list[Object]]] = {
    "amounts": [quota("amounts", {f"requests.{GPU}": "2", "requests.cpu": "4", "limits.memory": "4Gi"})],
    "of-scopes": [
        quota("short", {f"requests.{GPU}": "1", "pods": "5"}, scopes=["Terminating"]),
        quota("long", {"requests.memory": "1Gi"}, scopes=["NotTerminating", "NotBestEffort"]),
        quota("light", {"pods": "0"}, scopes=["BestEffort", "NotTerminating"]),
    ],
    "containers": [
        limits(
            {
                "type": "Container",
                "default": {"cpu": "2"},
                "min": {"memory": "64Mi"},
                "max": {"cpu": "2", "memory": "2Gi"},
            }
        )
    ],
    "ratios": [limits({"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}, "defaultRequest": {"cpu": "1"}})],
    "whole-pods": [limits({"type": "Pod", "min": {"cpu": "1"}, "max": {"cpu": "4", GPU: "2"}})],
    "defaults-and-quota": [
        limits({"type": "Container", "max": {"memory": "1Gi"}, "defaultRequest": {"cpu": "500m"}}),
        quota("both", {"cpu": "3", "requests.memory": "2Gi", "limits.memory": "3Gi"}),
    ],
}


def pod(numbers: random.Random, namespace: str) -> Object:
    spec: dict[str, builders.JsonValue] = {}
    if numbers.random() < 0.3:
        spec["activeDeadlineSeconds"] = 60
    if numbers.random() < 0.3:
        spec["resources"] = {"limits": {"cpu": numbers.choice(["1", "4", "5"])}}
    if numbers.random() < 0.4:
        first = container(numbers, "first")
        if numbers.random() < 0.5:
            first["restartPolicy"] = "Always"
        spec["initContainers"] = [first]
    containers = [container(numbers, f"main-{index}") for index in range(numbers.choice([1, 1, 2]))]
    return builders.custom("v1", "Pod", {"containers": containers, **spec}, namespace=namespace)


def container(numbers: random.Random, name: str) -> Object:
    requests: dict[str, paths.Json] = {}
    limited: dict[str, paths.Json] = {}
    for resource, amounts in AMOUNTS.items():
        asked, most = sorted(numbers.choices(range(len(amounts)), k=2))
        if numbers.random() < 0.6:
            requests[resource] = amounts[asked]
        if numbers.random() < 0.6:
            limited[resource] = amounts[most]
    if numbers.random() < 0.5:
        limited[GPU] = str(numbers.randint(0, 3))
    return builders.container(name, requests=requests or None, limits=limited or None)


def accepted(cluster: Cluster, value: Object) -> bool | None:
    """Whether the API server takes a pod; None where it is no valid pod at all."""
    try:
        cluster.create(value, dry_run=True)
    except ApiError as error:
        return False if error.status == FORBIDDEN else None
    return True


def expected(value: Object, objects: list[Object]) -> bool:
    named = {str(paths.resolve(each, "/metadata/name")): each for each in objects}
    ranges = limit_range.read_ranges({name: each for name, each in named.items() if each["kind"] == "LimitRange"})
    quotas = resource_quota_judge.read({name: each for name, each in named.items() if each["kind"] == "ResourceQuota"})
    of = workload(value)
    limits = NamespaceLimits(quotas=quotas, ranges=ranges, default_class="")
    found = resource_quota_judge.judge(of, limits)
    assert found is not None
    return not (found.shortages or found.unstated or limit_range.find_violations(of, ranges))


def counted(cluster: Cluster, namespace: str) -> Iterator[bool]:
    for each in cluster.objects("ResourceQuota", namespace=namespace):
        yield each.get("status", {}).get("used", {}).keys() == each["spec"]["hard"].keys()


@pytest.mark.parametrize("name", NAMESPACES)
def test_the_api_server_refuses_exactly_the_pods_that_usher_says_it_refuses(
    cluster: Cluster, namespace: str, name: str
) -> None:
    objects = [builders.replaced(each, "/metadata/namespace", namespace) for each in NAMESPACES[name]]
    for each in objects:
        cluster.create(each)
    wait_until(lambda: all(counted(cluster, namespace)), description="the quota controller has counted")
    numbers = random.Random(name)
    pods = [pod(numbers, namespace) for _ in range(PODS)]

    answers = [(value, accepted(cluster, value)) for value in pods]
    valid = [(value, answer) for value, answer in answers if answer is not None]
    wrong = [value["spec"] for value, answer in valid if expected(value, objects) is not answer]
    assert wrong == []
    assert {answer for _, answer in valid} == {True, False}
