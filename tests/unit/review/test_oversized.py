"""Objects with more parts than usher judges: a pod is denied by name, other objects wait for their pods."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest

import engines
from builders import container, job, pod, template
from reviews import body
from usher import errors, paths
from usher.config import models
from usher.policy import assembly
from usher.policy.engines.engine import Entrypoint
from usher.policy.evaluator import Evaluator
from usher.review import webhooks
from usher.review.webhooks import mutate, validate

MOST = webhooks.MOST_ENTRIES_OF_POD["containers"]


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    made = assembly.embedded(models.Config(exempt_namespaces=["kube-system"]))
    yield made
    made.engine.close()


def with_containers(number: int) -> paths.Object:
    return job(template(*(container(f"c{index}", gpus=1) for index in range(number))))


def answered(by: Callable[..., Any], value: paths.Object, evaluator: Evaluator, **request: Any) -> Any:
    return orjson.loads(by(body(value, **request), evaluator).body)["response"]


def unused(_: Entrypoint) -> paths.Object:
    raise errors.EngineError("asked")


def test_a_pod_with_too_many_containers_is_denied_by_name_before_any_rule_is_asked() -> None:
    response = answered(validate, with_containers(3000), engines.evaluator(engines.ScriptedEngine(unused)))

    assert response["allowed"] is False
    assert response["status"]["code"] == 413
    assert "3000 containers, and usher judges at most 250 in a pod" in response["status"]["message"]


def test_the_largest_pod_that_is_judged_is_judged(evaluator: Evaluator) -> None:
    response = answered(validate, with_containers(MOST), evaluator)

    assert any("USH" in warning for warning in response["warnings"])


def test_a_mutation_leaves_it_as_it_is_and_says_so() -> None:
    response = answered(mutate, with_containers(MOST + 1), engines.evaluator(engines.ScriptedEngine(unused)))

    assert response["allowed"] is True
    assert "patch" not in response
    assert "251 containers" in response["warnings"][0]


def test_what_was_as_large_before_may_change_and_be_deleted(evaluator: Evaluator) -> None:
    large = with_containers(MOST + 1)
    small = with_containers(1)
    ending = with_containers(MOST + 1)
    metadata: Any = ending["metadata"]
    metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"

    for value, old, allowed in ((large, large, True), (ending, small, True), (large, small, False)):
        assert answered(validate, value, evaluator, operation="UPDATE", old_value=old)["allowed"] is allowed


def test_an_exempt_namespace_is_let_alone(evaluator: Evaluator) -> None:
    assert answered(validate, with_containers(MOST + 1), evaluator, namespace="kube-system")["allowed"] is True


def test_an_object_with_too_many_templates_is_let_in_because_its_pods_are_judged(evaluator: Evaluator) -> None:
    spec: Any = {"entrypoint": "a", "templates": [{"name": f"t{n}", "container": {"image": "a"}} for n in range(501)]}
    workflow: Any = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "a"}, "spec": spec}

    response = answered(validate, workflow, evaluator)

    assert response["allowed"] is True
    assert response["warnings"][0] == "not judged: 501 templates, and usher judges at most 500 in an object"


@pytest.mark.parametrize("field", ["env", "volumeMounts"])
def test_each_list_of_a_container_has_its_limit(field: str) -> None:
    value = pod({**container(), field: [{"name": f"n{n}"} for n in range(webhooks.MOST_ENTRIES_OF_POD[field] + 1)]})

    found = webhooks.excess(value)

    assert found is not None
    assert f"{field}, and usher judges at most {webhooks.MOST_ENTRIES_OF_POD[field]}" in found.text
    assert found.of_a_pod


def test_very_many_values_end_the_count() -> None:
    found = webhooks.excess({"spec": {"any": [[index] for index in range(webhooks.MOST_VALUES)]}})

    assert found is not None
    assert not found.of_a_pod


def test_python_calls_grow_no_faster_than_containers() -> None:
    """Counted, not timed: twice the containers take about twice the calls of Python."""

    def calls(number: int) -> int:
        request = body(with_containers(number))
        scripted = engines.evaluator(engines.ScriptedEngine(lambda _: {"version": 1, "findings": [], "unknown": []}))
        count = 0

        def counted(*_: object) -> None:
            nonlocal count
            count += 1

        sys.setprofile(counted)
        try:
            validate(request, scripted)
        finally:
            sys.setprofile(None)
        return count

    calls(10)
    one, two = calls(100), calls(200)
    assert two < 2.3 * one
