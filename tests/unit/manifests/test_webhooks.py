"""The webhook configurations name the kinds of the registry."""

from collections.abc import Iterator
from typing import Literal

import pytest

from usher import paths
from usher.kinds.registry import BY_KEY, OBJECTS, SCALES, WORKLOADS
from usher.manifests import webhooks

OF_THEIR_OWN = {"Namespace", "Binding"}
"""Kinds with a webhook of their own."""

IN_FILES_ALONE = {"ConfigMap"}


def rules(value: paths.Object) -> Iterator[paths.Object]:
    """Of the webhook about workloads, and of the one about other objects where there is one."""
    webhooks_of = paths.resolve(value, "/webhooks")
    assert isinstance(webhooks_of, list)
    for webhook in webhooks_of[:2]:
        for rule in as_list(paths.resolve(webhook, "/rules")):
            assert isinstance(rule, dict)
            yield rule


def asked_about(value: paths.Object) -> set[tuple[str, str]]:
    """Group and resource of all rules."""
    return {
        (str(group), str(resource))
        for rule in rules(value)
        for group in as_list(rule["apiGroups"])
        for resource in as_list(rule["resources"])
    }


def as_list(value: paths.Json) -> list[paths.Json]:
    assert isinstance(value, list)
    return value


def test_both_webhooks_are_asked_about_every_kind_that_an_api_server_serves() -> None:
    served = {(kind.group, kind.plural) for kind in WORKLOADS.values() if kind.plural}
    mutating, validating = webhooks.configurations(client=webhooks.Client())

    assert asked_about(mutating) == served | {("", "pods/ephemeralcontainers")}
    objects = {
        (kind.group, kind.plural)
        for kind in OBJECTS.values()
        if kind.plural and kind.kind not in {*OF_THEIR_OWN, *IN_FILES_ALONE}
    }
    scaled = {(kind.group, kind.plural) for kind in map(BY_KEY.__getitem__, SCALES)}
    scales = {(group, f"{plural}/scale") for group, plural in scaled & served}
    assert len(scales) == len(SCALES) - 1, "a role of a DisaggregatedSet has no pods"
    of_pods = {("", "pods/ephemeralcontainers"), ("", "pods/resize")}
    assert asked_about(validating) == served | objects | scales | of_pods


def validating_webhook(name: str) -> paths.Object:
    _, validating = webhooks.configurations(client=webhooks.Client())
    found = paths.resolve(validating, "/webhooks")
    assert isinstance(found, list)
    (webhook,) = [each for each in found if isinstance(each, dict) and each["name"] == f"{name}.gpu-usher.io"]
    return webhook


def rules_of(name: str) -> list[paths.Object]:
    found = validating_webhook(name)["rules"]
    assert isinstance(found, list)
    return [rule for rule in found if isinstance(rule, dict)]


def test_an_update_is_asked_about_as_a_creation_is() -> None:
    for name in ("validate", "objects", "namespaces"):
        for rule in rules_of(name):
            assert rule["operations"] in (["CREATE", "UPDATE"], ["UPDATE"])


@pytest.mark.parametrize("policy", ["Ignore", "Fail"])
def test_a_site_chooses_what_happens_to_workloads_without_us(policy: Literal["Ignore", "Fail"]) -> None:
    _, validating = webhooks.configurations(
        client=webhooks.Client(), calls=webhooks.Calls(validate_failure_policy=policy)
    )
    policies = {
        str(paths.resolve(validating, f"/webhooks/{index}/name")).partition(".")[0]: paths.resolve(
            validating, f"/webhooks/{index}/failurePolicy"
        )
        for index in range(5)
    }

    assert policies == {
        "validate": policy,
        "objects": "Ignore",
        "namespaces": "Ignore",
        "exemptions": "Fail",
        "bindings": "Ignore",
    }


@pytest.mark.parametrize(("name", "policy"), [("namespaces", "Ignore"), ("exemptions", "Fail")])
def test_namespaces_are_asked_about_whatever_their_labels_say(name: str, policy: str) -> None:
    """Otherwise whoever sets the label that exempts a namespace would pass by the check that guards it."""
    webhook = validating_webhook(name)

    assert webhook["namespaceSelector"] == {}
    assert webhook["failurePolicy"] == policy
    assert paths.resolve(webhook, "/rules/0/resources") == ["namespaces"]


def test_bindings_by_schedulers_are_not_asked_about() -> None:
    webhook = validating_webhook("bindings")

    assert paths.resolve(webhook, "/rules/0/resources") == ["pods/binding", "bindings"]
    condition = str(paths.resolve(webhook, "/matchConditions/0/expression"))
    assert "request.userInfo.username == 'system:kube-scheduler'" in condition
    assert "request.userInfo.username.startsWith('system:serviceaccount:volcano-system:')" in condition


def test_namespaces_that_carry_the_label_are_left_out_by_both() -> None:
    for configuration in webhooks.configurations(client=webhooks.Client()):
        selector = paths.resolve(configuration, "/webhooks/0/namespaceSelector/matchExpressions/1")
        assert selector == {"key": "gpu-usher.io/exempt", "operator": "NotIn", "values": ["true"]}


def test_a_kind_that_no_api_server_serves_is_not_asked_about() -> None:
    assert not all(kind.plural for kind in WORKLOADS.values())
    for configuration in webhooks.configurations(client=webhooks.Client()):
        assert all(rule["resources"] and all(as_list(rule["resources"])) for rule in rules(configuration))
        assert "2" not in {version for rule in rules(configuration) for version in as_list(rule["apiVersions"])}


def test_the_calls_of_workload_webhooks_have_a_policy_and_a_timeout_each() -> None:
    calls = webhooks.Calls(mutate_failure_policy="Fail", mutate_timeout=2, validate_timeout=5)

    mutating, validating = webhooks.configurations(client=webhooks.Client(), calls=calls)

    def of(configuration: paths.Object, field: str, *numbers: int) -> list[paths.Json]:
        return [paths.resolve(configuration, f"/webhooks/{number}/{field}") for number in numbers]

    assert of(mutating, "failurePolicy", 0) + of(mutating, "timeoutSeconds", 0) == ["Fail", 2]
    assert of(validating, "timeoutSeconds", 0, 1, 2, 3, 4) == [5, *[webhooks.VALIDATE_TIMEOUT] * 4]
