"""Webhooks of others that keep a cluster from coming back, and timeouts that add up."""

from typing import Any

import pytest

from usher import paths
from usher.install import installed_objects, preflight
from usher.install.installed_objects import Webhook, read_webhooks
from usher.install.preflight import Point, PointState

NAMESPACES = {"kyverno": {"kubernetes.io/metadata.name": "kyverno"}, "kube-node-lease": {}}
PODS: paths.Object = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}


def rule(group: str, resource: str) -> paths.Object:
    return {**PODS, "apiGroups": [group], "resources": [resource]}


def webhook(*, mutating: bool = False, **fields: Any) -> Webhook:
    value: paths.Object = {
        "name": "validate.kyverno.svc",
        "failurePolicy": "Fail",
        "timeoutSeconds": 10,
        "clientConfig": {"service": {"namespace": "kyverno", "name": "kyverno-svc"}},
        "rules": [PODS],
        **fields,
    }
    (found,) = read_webhooks([{"metadata": {"name": "kyverno"}, "webhooks": [value]}], mutating=mutating)
    return found


def judged(*webhooks: Webhook, ready: int = 3) -> list[Point]:
    services = {("kyverno", "kyverno-svc"): ready}
    return list(preflight.points_of_other_webhooks(webhooks, own=[], namespaces=NAMESPACES, ready=services))


def problems(*webhooks: Webhook, ready: int = 3) -> list[str]:
    return [each.text for each in judged(*webhooks, ready=ready) if each.state is PointState.ATTENTION]


NAMED = {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["kyverno", "web"]}]}


def test_one_that_fails_closed_on_its_own_pods_is_named_with_the_remedy() -> None:
    (found,) = [each for each in judged(webhook(namespaceSelector=NAMED)) if each.state is PointState.ATTENTION]

    assert found.text == (
        "validate.kyverno.svc (ValidatingWebhookConfiguration kyverno) fails closed on the pods of its own server in "
        "namespace kyverno"
    )
    assert found.remedy == "exclude the namespace kyverno by its namespaceSelector"


@pytest.mark.parametrize(
    "spared",
    [
        {"failurePolicy": "Ignore"},
        {"namespaceSelector": {"matchExpressions": [
            {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["web"]}
        ]}},
        {"rules": [rule("apps", "deployments")]},
        {"objectSelector": {"matchLabels": {"team": "nlp"}}},
        {"matchConditions": [{"name": "not-own", "expression": "request.namespace != 'kyverno'"}]},
        {"clientConfig": {"url": "https://example.com"}, "namespaceSelector": NAMED},
    ],
    ids=["fails open", "excludes it", "no pods", "labels choose", "conditions choose", "a URL"],
)  # fmt: skip
def test_others_come_back(spared: dict[str, Any]) -> None:
    assert problems(webhook(**spared)) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "fails closed on pods of every namespace: while its server is away, no pod is made there"),
        (
            {"namespaceSelector": {"matchExpressions": [
                {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kyverno", "kube-system"]}
            ]}},
            "fails closed on pods of every namespace but kyverno and kube-system: while its server is away, no pod is",
        ),
        ({"rules": [rule("", "pods/binding")]}, "fails closed on pods/binding of every namespace: while its server is"),
    ],
    ids=["all", "its own and the system's are left out", "bindings"],
)  # fmt: skip
def test_one_that_fails_closed_on_pods_of_namespaces_to_come_is_named(changes: dict[str, Any], said: str) -> None:
    (found,) = problems(webhook(**changes))

    assert said in found


def test_one_whose_service_has_no_endpoint_refuses_requests_now() -> None:
    excluded = {"matchExpressions": [{"key": "team", "operator": "Exists"}]}

    (found,) = problems(webhook(namespaceSelector=excluded), ready=0)
    assert "its Service kyverno/kyverno-svc has no ready endpoint" in found


@pytest.mark.parametrize(("group", "resource"), [("", "nodes"), ("coordination.k8s.io", "leases"), ("*", "*/*")])
def test_one_that_fails_closed_on_what_nodes_need_is_named(group: str, resource: str) -> None:
    elsewhere = {"service": {"namespace": "absent", "name": "absent"}}

    assert any(
        "which nodes need" in text for text in problems(webhook(rules=[rule(group, resource)], clientConfig=elsewhere))
    )


def test_a_selector_that_cannot_be_read_is_not_known() -> None:
    strange = {"matchExpressions": [{"key": "team", "operator": "Like", "values": ["x"]}]}

    states = [each.state for each in judged(webhook(namespaceSelector=strange))]
    assert PointState.NOT_KNOWN in states


def test_timeouts_of_mutating_webhooks_add_up() -> None:
    several = [webhook(mutating=True, timeoutSeconds=20, failurePolicy="Ignore") for _ in range(3)]

    (slow, *_) = judged(*several, webhook(failurePolicy="Ignore", timeoutSeconds=5))
    assert (slow.state, "65 s of the 60 s" in slow.text) == (PointState.ATTENTION, True)
    (quick, *_) = judged(several[0], webhook(failurePolicy="Ignore", timeoutSeconds=5))
    assert (quick.state, "25 s of the 60 s" in quick.text) == (PointState.GOOD, True)


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (None, True),
        ({}, True),
        ({"matchLabels": {"team": "nlp"}}, True),
        ({"matchLabels": {"team": "vision"}}, False),
        ({"matchExpressions": [{"key": "team", "operator": "In", "values": ["nlp"]}]}, True),
        ({"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["nlp"]}]}, False),
        ({"matchExpressions": [{"key": "other", "operator": "NotIn", "values": ["nlp"]}]}, True),
        ({"matchExpressions": [{"key": "team", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}, False),
        ({"matchLabels": []}, True),
        ({"matchLabels": "x"}, None),
        ({"matchExpressions": ["x"]}, None),
        ("x", None),
    ],
    ids=str,
)
def test_a_selector_selects_as_the_api_server_says(selector: paths.Json, expected: bool | None) -> None:
    assert installed_objects.selects(selector, {"team": "nlp"}) is expected
