"""The webhook configurations name the kinds of the registry."""

from collections.abc import Iterator, Sequence

import pytest

from usher import paths
from usher.check.site_policies import is_kubernetes_group
from usher.config import models
from usher.install.manifests import conditions, webhooks
from usher.install.manifests.webhooks import VALIDATE_TIMEOUT, Calls, Client
from usher.kinds.registry import BY_KEY, OBJECTS, SCALES, WORKLOADS
from usher.policy.checks import catalogue

OF_THEIR_OWN = {"Namespace", "Binding"}
"""Kinds with a webhook of their own."""

IN_FILES_ALONE = {"ConfigMap", "MutatingWebhookConfiguration", "NodePool", "ValidatingWebhookConfiguration"}


def rules(value: paths.Object) -> Iterator[paths.Object]:
    """The rules of the webhook about workloads, and of the one about other objects if it exists."""
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
    mutating, validating = webhooks.configurations(client=Client())

    assert asked_about(mutating) == served | {("", "pods/ephemeralcontainers")}
    objects = {
        (kind.group, kind.plural)
        for kind in OBJECTS.values()
        if kind.plural and kind.kind not in {*OF_THEIR_OWN, *IN_FILES_ALONE}
    }
    scaled = {(kind.group, kind.plural) for kind in map(BY_KEY.__getitem__, SCALES)}
    scales = {(group, f"{plural}/scale") for group, plural in scaled & served}
    assert len(scales) == len(SCALES) - 3, "roles of a DisaggregatedSet and adapters of Dynamo and of RBG have no pods"
    of_pods = {("", "pods/ephemeralcontainers"), ("", "pods/resize")}
    status = {(group, f"{plural}/status") for group, plural in served | objects if is_kubernetes_group(group)}
    assert asked_about(validating) == served | objects | scales | of_pods | status


def validating_webhook(name: str) -> paths.Object:
    _, validating = webhooks.configurations(client=Client())
    found = paths.resolve(validating, "/webhooks")
    assert isinstance(found, list)
    (webhook,) = [each for each in found if isinstance(each, dict) and each["name"] == f"{name}.gpu-usher.io"]
    return webhook


def rules_of(name: str) -> list[paths.Object]:
    found = validating_webhook(name)["rules"]
    assert isinstance(found, list)
    return [rule for rule in found if isinstance(rule, dict)]


@pytest.mark.parametrize("name", ["validate", "objects"])
def test_of_a_status_only_new_metadata_is_asked_about(name: str) -> None:
    """Kubelets and controllers write the status of their objects all the time."""
    condition = paths.resolve(validating_webhook(name), "/matchConditions/0")

    assert isinstance(condition, dict)
    assert condition["name"] == "no-status-of-the-same-metadata"
    assert str(condition["expression"]).startswith("request.?subResource.orValue('') != 'status' || ")


def test_an_update_is_asked_about_as_a_creation_is() -> None:
    for name in ("validate", "objects", "namespaces"):
        for rule in rules_of(name):
            assert rule["operations"] in (["CREATE", "UPDATE"], ["UPDATE"])


ALWAYS = {
    "validate": "Ignore",
    "objects": "Ignore",
    "namespaces": "Ignore",
    "exemptions": "Fail",
    "bindings": "Ignore",
    "configuration": "Ignore",
}


def policies_of(configuration: paths.Object) -> dict[str, paths.Json]:
    return {
        str(webhook["name"]).partition(".")[0]: webhook["failurePolicy"]
        for webhook in as_list(configuration["webhooks"])
        if isinstance(webhook, dict)
    }


def test_of_the_seven_webhooks_only_the_one_that_guards_exemptions_fails_closed() -> None:
    mutating, validating = webhooks.configurations(client=Client())

    assert policies_of(mutating) == {"mutate": "Ignore"}
    assert policies_of(validating) == ALWAYS


def closed() -> paths.Object:
    calls = Calls(validate_failure_policy="Fail")
    _, validating = webhooks.configurations(client=Client(), calls=calls, failing=failing())
    return validating


def failing() -> Sequence[paths.Object]:
    return conditions.fail_closed_conditions(models.Config(), catalogue.load().catalogue)


def test_mutations_fail_closed_for_the_same_objects() -> None:
    calls = Calls(mutate_failure_policy="Fail")
    mutating, validating = webhooks.configurations(client=Client(), calls=calls, failing=failing())

    assert policies_of(mutating) == {"mutate": "Ignore", "mutate-accelerators": "Fail"}
    assert policies_of(validating) == ALWAYS
    others, own = (as_list(paths.resolve(mutating, f"/webhooks/{number}/matchConditions"))[1:] for number in range(2))
    assert own == list(failing())
    assert others == [conditions.all_other_requests(failing())]
    assert paths.resolve(mutating, "/webhooks/1/rules") == paths.resolve(closed(), "/webhooks/5/rules")


def test_nothing_fails_closed_without_conditions() -> None:
    """It would refuse every object in the cluster."""
    for calls in (Calls(mutate_failure_policy="Fail"), Calls(validate_failure_policy="Fail")):
        with pytest.raises(ValueError, match="match conditions"):
            webhooks.configurations(client=Client(), calls=calls)


def test_a_site_chooses_what_happens_without_us_to_objects_with_accelerators_alone() -> None:
    assert policies_of(closed()) == {**ALWAYS, "accelerators": "Fail"}


def test_pods_and_kinds_with_readable_templates_fail_closed() -> None:
    asked = {
        (str(paths.resolve(rule, "/apiGroups/0")), str(resource))
        for rule in as_list(paths.resolve(closed(), "/webhooks/5/rules"))
        for resource in as_list(paths.resolve(rule, "/resources"))
    }

    kinds = {(kind.group, kind.plural) for kind in conditions.fail_closed_kinds()}
    assert asked == kinds | {("", "pods/ephemeralcontainers")}
    assert {("", "pods"), ("apps", "deployments"), ("batch", "jobs"), ("ray.io", "rayclusters")} <= kinds
    assert not {("argoproj.io", "workflows"), ("", "podtemplates"), ("serving.kserve.io", "inferenceservices")} & kinds


def test_the_variables_that_fail_closed_are_those_that_the_check_knows() -> None:
    written = (catalogue.find() / "usher" / "lib" / "isolation.rego").read_text()

    for values, start, end in (
        (conditions.VARIABLES, "device_variables := [", "]"),
        (conditions.VALUES_WITHOUT_DEVICES, "values_without_devices := [", "]"),
    ):
        found = written.partition(start)[2].partition(end)[0].split(",")
        assert sorted(each.strip().strip('"') for each in found if each.strip()) == sorted(values)


def selected(config: models.Config, *, namespace: str = "gpu-usher") -> list[paths.Json]:
    mutating, _ = webhooks.configurations(client=Client(namespace=namespace), config=config)
    return as_list(paths.resolve(mutating, "/webhooks/0/namespaceSelector/matchExpressions/0/values"))


def test_exempt_namespaces_come_from_the_site() -> None:
    assert selected(models.Config(exempt_namespaces=["kube-system", "lab", "lab-*"])) == [
        *models.DEFAULT_EXEMPT_NAMESPACES,
        "lab",
    ]


def test_the_namespace_of_the_server_is_always_exempt() -> None:
    """Otherwise its own pods could not start while it is away."""
    assert selected(models.Config(judged_namespaces=["gpu-*"]), namespace="policies") == [
        *("kube-system", "kube-public", "kube-node-lease"),
        "policies",
    ]


def test_of_all_config_maps_the_api_server_asks_only_about_the_one_with_usher_yaml() -> None:
    _, validating = webhooks.configurations(client=Client(namespace="gpus"))
    guard = paths.resolve(validating, "/webhooks/5")

    assert paths.resolve(guard, "/namespaceSelector/matchExpressions") == [
        {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["gpus"]}
    ]
    assert paths.resolve(guard, "/matchConditions/0/expression") == "object.metadata.name == 'gpu-usher'"
    assert paths.resolve(guard, "/rules/0/resources") == ["configmaps"]
    assert paths.resolve(guard, "/clientConfig/service/path") == "/configuration"


@pytest.mark.parametrize(("name", "policy"), [("namespaces", "Ignore"), ("exemptions", "Fail")])
def test_namespaces_are_asked_about_whatever_their_labels_say(name: str, policy: str) -> None:
    """Otherwise whoever sets the label that exempts a namespace would pass by the check that guards it."""
    webhook = validating_webhook(name)

    assert webhook["namespaceSelector"] == {}
    assert webhook["failurePolicy"] == policy
    assert paths.resolve(webhook, "/rules/0/resources") == ["namespaces", "namespaces/finalize", "namespaces/status"]


def test_a_new_namespace_with_a_trusted_name_is_asked_about_even_if_it_means_a_failure() -> None:
    condition = str(paths.resolve(validating_webhook("exemptions"), "/matchConditions/0/expression"))

    assert "request.operation == 'CREATE' && (object.metadata.?name.orValue('') in [" in condition
    assert all(f"'{name}'" in condition for name in ("gpu-operator", "volcano-system", "runai", "kubeflow"))
    assert "object.metadata.?name.orValue('').startsWith('openshift-')" in condition


def test_bindings_by_schedulers_are_not_asked_about() -> None:
    webhook = validating_webhook("bindings")

    assert paths.resolve(webhook, "/rules/0/resources") == ["pods/binding", "bindings"]
    condition = str(paths.resolve(webhook, "/matchConditions/0/expression"))
    assert ".orValue('') == 'system:kube-scheduler'" in condition
    assert ".orValue('').startsWith('system:serviceaccount:volcano-system:')" in condition


def test_namespaces_that_carry_the_label_are_left_out_by_both() -> None:
    for configuration in webhooks.configurations(client=Client()):
        selector = paths.resolve(configuration, "/webhooks/0/namespaceSelector/matchExpressions/1")
        assert selector == {"key": "gpu-usher.io/exempt", "operator": "NotIn", "values": ["true"]}


def test_a_kind_that_no_api_server_serves_is_not_asked_about() -> None:
    assert not all(kind.plural for kind in WORKLOADS.values())
    for configuration in webhooks.configurations(client=Client()):
        assert all(rule["resources"] and all(as_list(rule["resources"])) for rule in rules(configuration))
        assert "2" not in {version for rule in rules(configuration) for version in as_list(rule["apiVersions"])}


def test_the_calls_of_workload_webhooks_have_a_timeout_each() -> None:
    calls = Calls(mutate_timeout=2, validate_timeout=5)

    mutating, validating = webhooks.configurations(client=Client(), calls=calls)

    def of(configuration: paths.Object, field: str, *numbers: int) -> list[paths.Json]:
        return [paths.resolve(configuration, f"/webhooks/{number}/{field}") for number in numbers]

    assert of(mutating, "timeoutSeconds", 0) == [2]
    assert of(validating, "timeoutSeconds", 0, 1, 2, 3, 4) == [5, *[VALIDATE_TIMEOUT] * 4]
