"""Ports that Services, routes, webhooks and pools name, and those that exist."""

from typing import Any

import pytest
import yaml

from usher.kinds.reading import controller_rules, definition_limits, inner_names, value_forms
from usher.kinds.reading.values import Objects

_Json = dict[str, Any]

_SERVER = """
{apiVersion: apps/v1, kind: Deployment, metadata: {name: llm}, spec: {template: {metadata: {labels: {app: llm}}, spec: {
 containers: [{name: main, image: 'vllm/vllm-openai:v0.11.0', args: [--model, a/b]}]}}}}
"""


def _missing(*texts: str) -> list[tuple[str, str]]:
    """The paths and remedies of the findings about the first of some objects."""
    values: list[_Json] = [yaml.safe_load(text) for text in texts]
    objects = Objects(values)
    files = inner_names.Files(namespace="", around=objects, beside=objects, of_facts=None)
    key = str(values[0]["apiVersion"]).rpartition("/")[0], str(values[0]["kind"])
    found = inner_names.names_of_nothing(values[0], key, value_forms.pod_specs(values[0]), files)
    return [(each.path, each.remedy) for each in found]


def _service(ports: str, more: str = "") -> str:
    spec = f"{{selector: {{app: llm}}, ports: {ports}{more}}}"
    return f"{{apiVersion: v1, kind: Service, metadata: {{name: llm}}, spec: {spec}}}"


@pytest.mark.parametrize(
    ("ports", "more", "found"),
    [
        ("[{port: 80, targetPort: 8080}]", "", [("/spec/ports/0/targetPort", "name the port 8000")]),
        ("[{port: 80}]", "", [("/spec/ports/0", "name the port 8000")]),
        ("[{port: 80, targetPort: 8000}]", "", []),
        ("[{port: 80}]", ", clusterIP: None", []),
    ],
)
def test_a_service_asks_a_port_of_the_server_that_it_selects(
    ports: str, more: str, found: list[tuple[str, str]]
) -> None:
    assert _missing(_service(ports, more), _SERVER) == found
    assert _missing(_service(ports, more)) == []


def _object(version: str, kind: str, spec: str, name: str = "a") -> str:
    return f"{{apiVersion: {version}, kind: {kind}, metadata: {{name: {name}}}, {spec}}}"


def test_a_pool_asks_a_port_of_its_servers() -> None:
    spec = "spec: {selector: {matchLabels: {app: llm}}, targetPorts: [{number: 9000}]}"
    pool = _object("inference.networking.k8s.io/v1", "InferencePool", spec)

    assert _missing(pool, _SERVER) == [("/spec/targetPorts/0/number", "name the port 8000")]
    assert _missing(pool.replace("9000", "8000"), _SERVER) == []


_ROLES = """
{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {template: {
 metadata: {labels: {app: llm, role: %s}}, spec: {%s containers: [
 {name: main, image: 'vllm/vllm-openai:v0.11.0', args: [--port=%d], ports: [%s],
 env: [{name: VLLM_NIXL_SIDE_CHANNEL_PORT, value: '5601'}]}]}}}}
"""
_PROXY = "initContainers: [{name: proxy, restartPolicy: Always, args: [--port=8000], ports: [{containerPort: 8000}]}],"


def test_a_pool_of_two_roles_needs_one_port_for_both() -> None:
    spec = "spec: {selector: {matchLabels: {app: llm}}, targetPorts: [{number: 8000}]}"
    pool = _object("inference.networking.k8s.io/v1", "InferencePool", spec)
    decode = _ROLES % ("decode", "decode", _PROXY, 8200, "{containerPort: 8200}")
    prefill = _ROLES % ("prefill", "prefill", "", 8300, "{containerPort: 8300}, {containerPort: 5601}")

    remedy = "let it listen on 8000 too, or give it a pool"
    assert _missing(pool, decode, prefill) == [("/spec/selector/matchLabels", remedy)]
    assert _missing(pool, decode, prefill.replace("8300", "8000")) == []
    assert _missing(pool, prefill) == [("/spec/targetPorts/0/number", "name the port 8300")]


_HOOKS = "admissionregistration.k8s.io/v1"


@pytest.mark.parametrize(
    ("version", "kind", "spec"),
    [
        ("gateway.networking.k8s.io/v1", "HTTPRoute", "spec: {rules: [{backendRefs: [{name: llm, port: 8000}]}]}"),
        (
            "networking.k8s.io/v1",
            "Ingress",
            "spec: {rules: [{http: {paths: [{backend: {service: {name: llm, port: {number: 8000}}}}]}}]}",
        ),
        (_HOOKS, "ValidatingWebhookConfiguration", "webhooks: [{clientConfig: {service: {name: llm, port: 8000}}}]"),
    ],
)
def test_others_name_a_port_of_a_service(version: str, kind: str, spec: str) -> None:
    service, text = _service("[{name: http, port: 80, targetPort: 8000}]"), _object(version, kind, spec)

    assert [remedy for _, remedy in _missing(text, service)] == ["name the port 80"]
    assert _missing(text.replace("8000", "80"), service) == []
    assert _missing(text) == []


def test_a_webhook_without_a_port_asks_443() -> None:
    spec = "webhooks: [{clientConfig: {service: {name: llm}}}]"
    webhook = _object(_HOOKS, "ValidatingWebhookConfiguration", spec)

    assert _missing(webhook, _service("[{port: 8443}]")) == [("/webhooks/0/clientConfig/service", "name the port 8443")]
    assert _missing(webhook, _service("[{port: 443}]")) == []


def _mutating(name: str, seconds: int) -> str:
    rule = "{apiGroups: [''], resources: [pods], operations: [CREATE]}"
    spec = f"webhooks: [{{timeoutSeconds: {seconds}, rules: [{rule}]}}]"
    return _object(_HOOKS, "MutatingWebhookConfiguration", spec, name)


def test_mutating_webhooks_share_the_time_of_a_request() -> None:
    found = _refused_together(_mutating("a", 30), _mutating("b", 30))

    assert found == ["shorten timeoutSeconds, for example to 5, or narrow the rules"]
    assert _refused_together(_mutating("b", 30), _mutating("a", 30)) == []
    assert _refused_together(_mutating("a", 30), _mutating("b", 29)) == []


@pytest.mark.parametrize(
    ("ingress", "count"),
    [
        ("", 1),
        (", ingress: [{from: [{podSelector: {}}]}]", 1),
        (", ingress: [{ports: [{port: 9443}]}]", 0),
        (", ingress: [{from: [{namespaceSelector: {}}]}]", 0),
        (", ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8}}]}]", 0),
        (", policyTypes: [Egress]", 0),
    ],
)
def test_the_api_server_reaches_a_webhook(ingress: str, count: int) -> None:
    spec = "webhooks: [{clientConfig: {service: {name: llm, namespace: a}}}]"
    selected = f"spec: {{podSelector: {{}}{ingress}}}"
    policy = _object("networking.k8s.io/v1", "NetworkPolicy", selected, "deny, namespace: a")
    webhook = _object(_HOOKS, "MutatingWebhookConfiguration", spec, "w")

    assert len(_refused_together(webhook, policy)) == count
    assert _refused_together(webhook.replace("namespace: a", "namespace: b"), policy) == []


def _refused_together(*texts: str) -> list[str]:
    values: list[_Json] = [yaml.safe_load(each) for each in texts]
    key = ("admissionregistration.k8s.io", "MutatingWebhookConfiguration")
    return [each.remedy for each in definition_limits.beside_webhooks(values[0], key, Objects(values))]


def _refused(text: str) -> list[str]:
    value: _Json = yaml.safe_load(text)
    key = str(value["apiVersion"]).rpartition("/")[0], str(value["kind"])
    return [each.remedy for each in controller_rules.refused(value, key, value_forms.pod_specs(value))]


@pytest.mark.parametrize(
    ("kind", "outside", "inside", "remedies"),
    [
        ("batch/v1, kind: Job", "", "", ["set subdomain of the pods to t, and add a headless Service of this name"]),
        ("batch/v1, kind: Job", "", "subdomain: t, ", []),
        ("apps/v1, kind: StatefulSet", "", "", ["set serviceName to t, and add a headless Service of this name"]),
        ("apps/v1, kind: StatefulSet", "serviceName: t, ", "", []),
    ],
)
def test_pods_have_names_in_dns_by_a_service(kind: str, outside: str, inside: str, remedies: list[str]) -> None:
    pod = f"{{{inside}containers: [{{name: m, image: a, env: [{{name: A, value: 'run-0.t:1234'}}]}}]}}"

    assert (
        _refused(f"{{apiVersion: {kind}, metadata: {{name: run}}, spec: {{{outside}template: {{spec: {pod}}}}}}}")
        == remedies
    )


@pytest.mark.parametrize(
    ("mode", "command", "number"),
    [
        ("", "/s/a.sh", 1),
        (", defaultMode: 493", "/s/a.sh", 0),
        ("", "/bin/sh", 0),
        (", items: [{mode: 511}]", "/s/a.sh", 0),
    ],
)
def test_a_script_of_a_config_map_needs_the_right_to_be_executed(mode: str, command: str, number: int) -> None:
    container = f"{{name: m, image: a, command: [{command}], volumeMounts: [{{name: s, mountPath: /s}}]}}"
    pod = f"{{containers: [{container}], volumes: [{{name: s, configMap: {{name: c{mode}}}}}]}}"

    assert len(_refused(f"{{apiVersion: apps/v1, kind: Deployment, spec: {{template: {{spec: {pod}}}}}}}")) == number


def test_a_service_selects_the_pods_of_the_object_with_its_name() -> None:
    service = yaml.safe_load(_service("[{port: 8000}]").replace("app: llm", "app: other"))
    beside = Objects([service, yaml.safe_load(_SERVER)])

    found = value_forms.refused_parts(service, ("", "Service"), beside)

    assert [(each.path, each.remedy) for each in found] == [("/spec/selector/app", "did you mean llm?")]


@pytest.mark.parametrize(
    ("command", "path", "remedies"),
    [
        ("tritonserver --model-control-mode=explicit", "/v2/health/ready", ["ask /v2/health/live"]),
        ("tritonserver --model-control-mode poll", "/v2/models/a/versions/1/ready", ["ask /v2/health/live"]),
        ("tritonserver --model-control-mode=explicit", "/v2/health/live", []),
        ("tritonserver --model-repository=/m", "/v2/health/ready", []),
        ("llama-server -m /m", "/health?fail_on_no_slot=1", ["ask /health"]),
        ("llama-server -m /m", "/health", []),
    ],
)
def test_a_liveness_probe_does_not_ask_whether_the_server_is_ready(
    command: str, path: str, remedies: list[str]
) -> None:
    get = {"path": path, "port": 8080 if "llama" in command else 8000}
    container = {"name": "main", "command": command.split(), "livenessProbe": {"httpGet": get}}
    value: _Json = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "spec": {"template": {"spec": {"containers": [{**container, "readinessProbe": {"httpGet": get}}]}}},
    }
    found = controller_rules.refused(value, ("apps", "Deployment"), value_forms.pod_specs(value))

    assert [each.remedy for each in found if each.topic == "probe"] == remedies


_TWO = """
[{name: a, command: [vllm, serve, m, '--port=%s'], ports: [{containerPort: 8000}]},
 {name: b, ports: [{containerPort: %s%s}]}]
"""
_LOCAL = "add --host 0.0.0.0"


@pytest.mark.parametrize(
    ("kind", "containers", "remedies"),
    [
        ("apps/v1 Deployment", _TWO % (8000, 8000, ""), ["give one of them another port"]),
        ("apps/v1 Deployment", _TWO % (8200, 8000, ""), []),
        ("apps/v1 Deployment", _TWO % (8000, 8000, ", protocol: UDP"), []),
        ("apps/v1 Deployment", "[{name: a, command: [uvicorn, 'app:x'], ports: [{containerPort: 8000}]}]", [_LOCAL]),
        (
            "apps/v1 Deployment",
            "[{name: a, command: [sh, -c, 'pip install uvicorn && python app.py'], ports: [{containerPort: 8000}]}]",
            [],
        ),
        ("apps/v1 Deployment", "[{name: a, command: [xinference-local], ports: [{containerPort: 9997}]}]", [_LOCAL]),
        (
            "apps/v1 Deployment",
            "[{name: a, command: [xinference-local, -H, 0.0.0.0], ports: [{containerPort: 9997}]}]",
            [],
        ),
        (
            "serving.knative.dev/v1 Service",
            "[{image: 'vllm/vllm-openai:v0.11.0', args: [--model=a/b]}]",
            ["declare containerPort 8000"],
        ),
        (
            "serving.knative.dev/v1 Service",
            "[{image: 'vllm/vllm-openai:v0.11.0', args: [--model=a/b, --port=8080]}]",
            [],
        ),
        ("apps/v1 Deployment", "[{image: 'vllm/vllm-openai:v0.11.0', args: [--model=a/b]}]", []),
    ],
)
def test_containers_listen_where_others_ask(kind: str, containers: str, remedies: list[str]) -> None:
    version, _, name = kind.rpartition(" ")
    spec = {"template": {"spec": {"containers": yaml.safe_load(containers)}}}
    value: _Json = {"apiVersion": version, "kind": name, "spec": spec}
    key = (version.rpartition("/")[0], name)
    found = controller_rules.refused(value, key, value_forms.pod_specs(value))

    assert [each.remedy for each in found if each.topic == "probe"] == remedies
