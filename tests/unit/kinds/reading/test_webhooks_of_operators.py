"""Fields that the webhook of an operator does not write, and those that the one of Knative refuses."""

import pytest
import yaml

from usher.kinds.reading import definition_limits
from usher.kinds.reading.values import Objects

_SERVICE = (
    "{{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, metadata: {{name: a, namespace: ml}}, "
    "spec: {{predictor: {{{0}}}}}}}"
)
_MODEL = _SERVICE.format("model: {storageUri: 's3://a/b'}")


def _webhook(selector: str, name: str = "inferenceservice.kserve-webhook-server.pod-mutator") -> str:
    return (
        "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: w}, "
        f"webhooks: [{{name: {name}, namespaceSelector: {selector}}}]}}"
    )


def _namespace(labels: str) -> str:
    return f"{{apiVersion: v1, kind: Namespace, metadata: {{name: ml, labels: {{{labels}}}}}}}"


def _config(name: str, data: str) -> str:
    return f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, namespace: serving}}, data: {{{data}}}}}"


@pytest.mark.parametrize(
    ("labels", "webhook", "is_found"),
    [
        ("control-plane: mlops", _webhook("{matchExpressions: [{key: control-plane, operator: DoesNotExist}]}"), True),
        ("team: mlops", _webhook("{matchExpressions: [{key: control-plane, operator: DoesNotExist}]}"), False),
        ("team: mlops", _webhook("{matchLabels: {team: other}}"), True),
        ("team: mlops", _webhook("{}"), False),
        ("team: mlops", _webhook("{matchLabels: {team: other}}", name="another"), False),
        ("team: mlops", _webhook("[7]"), False),
    ],
)
def test_a_field_needs_a_webhook_that_selects_the_namespace(labels: str, webhook: str, is_found: bool) -> None:
    values = [yaml.safe_load(each) for each in (_MODEL, webhook, _namespace(labels))]

    found = list(
        definition_limits.beside_webhooks(values[0], ("serving.kserve.io", "InferenceService"), Objects(values))
    )

    assert [each.path for each in found] == ["/spec/predictor/model/storageUri"] * is_found


def test_a_namespace_that_is_not_known_is_not_judged() -> None:
    values = [yaml.safe_load(each) for each in (_MODEL, _webhook("{matchLabels: {team: other}}"))]

    assert not list(
        definition_limits.beside_webhooks(values[0], ("serving.kserve.io", "InferenceService"), Objects(values))
    )


_ENABLED = "kubernetes.podspec-nodeselector: Enabled"
_OPERATOR = (
    "{apiVersion: operator.knative.dev/v1beta1, kind: KnativeServing, metadata: {name: k}, "
    f"spec: {{config: {{features: {{{_ENABLED}}}}}}}}}"
)
_PLACED = "nodeSelector: {a: b}, volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]"


@pytest.mark.parametrize(
    ("pod", "others", "refused"),
    [
        (_PLACED, [_config("config-features", "")], "nodeSelector and volumes[].persistentVolumeClaim"),
        (_PLACED, [_config("config-features", _ENABLED)], "volumes[].persistentVolumeClaim"),
        (_PLACED, [], ""),
        ("tolerations: []", [_config("config-features", "")], ""),
        ("volumes: [{name: v, emptyDir: {}}]", [_config("config-features", "")], ""),
        (
            _PLACED,
            [_OPERATOR],
            "volumes[].persistentVolumeClaim",
        ),
    ],
)
def test_knative_refuses_fields_that_its_configuration_does_not_enable(
    pod: str, others: list[str], refused: str
) -> None:
    values = [yaml.safe_load(each) for each in (_SERVICE.format(pod), *others)]

    found = list(definition_limits.refused_by_knative(values[0], Objects(values)))

    assert [each.text.partition(",")[0] for each in found] == ([f"sets {refused}"] if refused else [])


@pytest.mark.parametrize(
    ("mode", "deploy", "is_by_knative"),
    [
        ("", "", False),
        ("", "Serverless", True),
        ("RawDeployment", "Serverless", False),
        ("Knative", "Standard", True),
    ],
)
def test_an_annotation_chooses_the_mode_before_the_configuration(mode: str, deploy: str, is_by_knative: bool) -> None:
    value = yaml.safe_load(_MODEL)
    value["metadata"]["annotations"] = {"serving.kserve.io/deploymentMode": mode} if mode else {}
    configured = yaml.safe_load(_config("inferenceservice-config", "deploy: ''"))
    configured["data"]["deploy"] = f'{{"defaultDeploymentMode": "{deploy}"}}'

    assert definition_limits.is_by_knative(value, Objects([value, configured])) is is_by_knative
