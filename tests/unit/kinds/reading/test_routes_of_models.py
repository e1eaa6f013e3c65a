"""HTTPRoutes to model servers, which Envoy ends after 15 s where nothing sets a timeout (envoyproxy/gateway)."""

import pytest
import yaml

from usher import paths
from usher.kinds.reading import inference_routes, refused_values
from usher.kinds.reading.values import Objects

_KEY = ("gateway.networking.k8s.io", "HTTPRoute")
_ENVOY = "gateway.envoyproxy.io/gatewayclass-controller"
_GATEWAY = "{gatewayClassName: c, listeners: [{allowedRoutes: {namespaces: {from: All}}}]}"
_SERVER = "{image: 'vllm/vllm-openai:v0.11.2', args: [--model=a/b]}"


def _route(rule: str = "", name: str = "llm") -> str:
    rules = f"[{{{rule}backendRefs: [{{name: {name}, port: 8000}}]}}]"
    return (
        "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r, namespace: ml}, "
        f"spec: {{parentRefs: [{{name: g, namespace: gateways}}], rules: {rules}}}}}"
    )


def _deployment(server: str) -> str:
    pods = f"{{metadata: {{labels: {{app: llm}}}}, spec: {{containers: [{server}]}}}}"
    return (
        f"{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: llm, namespace: ml}}, spec: {{template: {pods}}}}}"
    )


def _cluster(controller: str = _ENVOY, server: str = _SERVER) -> list[str]:
    group = "apiVersion: gateway.networking.k8s.io/v1"
    return [
        f"{{{group}, kind: GatewayClass, metadata: {{name: c}}, spec: {{controllerName: {controller}}}}}",
        f"{{{group}, kind: Gateway, metadata: {{name: g, namespace: gateways}}, spec: {_GATEWAY}}}",
        "{apiVersion: v1, kind: Service, metadata: {name: llm, namespace: ml}, spec: {selector: {app: llm}}}",
        _deployment(server),
    ]


def _found(*texts: str) -> list[tuple[str, str]]:
    values = [yaml.safe_load(each) for each in texts]
    return [(each.path, each.remedy) for each in refused_values.beside_others(values[0], _KEY, Objects(values))]


def test_a_route_to_a_model_server_behind_envoy_needs_a_timeout() -> None:
    ((path, remedy),) = _found(_route(), *_cluster())

    assert path == "/spec/rules/0"
    assert remedy.startswith("set timeouts.request of the rule to 0s")


@pytest.mark.parametrize("timeouts", ["request: 0s", "request: 600s", "backendRequest: 300s"])
def test_a_rule_with_a_timeout_is_right(timeouts: str) -> None:
    assert _found(_route(f"timeouts: {{{timeouts}}}, "), *_cluster()) == []


def test_a_policy_of_envoy_gateway_may_set_the_timeout() -> None:
    policy = "{apiVersion: gateway.envoyproxy.io/v1alpha1, kind: BackendTrafficPolicy, metadata: {name: p}, spec: {%s}}"

    assert _found(_route(), *_cluster(), policy % "timeout: {http: {requestTimeout: 0s}}") == []
    assert len(_found(_route(), *_cluster(), policy % "retry: {numRetries: 1}")) == 1


def test_gateways_of_others_end_no_response() -> None:
    assert _found(_route(), *_cluster("istio.io/gateway-controller")) == []
    assert _found(_route(), *_cluster()[1:]) == []


@pytest.mark.parametrize(
    "server",
    [
        "{image: 'vllm/vllm-openai:v0.11.2', args: [--model=a/b, --task=embed]}",
        "{image: 'ghcr.io/huggingface/text-embeddings-inference:1.8'}",
        "{image: nginx}",
    ],
)
def test_a_server_that_answers_at_once_needs_no_timeout(server: str) -> None:
    assert _found(_route(), *_cluster(server=server)) == []


def test_a_service_that_is_not_known_is_not_judged() -> None:
    assert _found(_route(name="other"), *_cluster()) == []


@pytest.mark.parametrize("damaged", [None, 7, "text", [], [None], {"a": None}])
def test_damaged_routes_are_taken(damaged: paths.Json) -> None:
    others = [yaml.safe_load(each) for each in _cluster()]
    for field in ("parentRefs", "rules"):
        route = yaml.safe_load(_route())
        route["spec"][field] = damaged
        assert list(refused_values.beside_others(route, _KEY, Objects([route, *others]))) == []
    for other in others:
        route, broken = yaml.safe_load(_route()), {**other, "spec": damaged}
        refused = refused_values.beside_others(route, _KEY, Objects([route, *others, broken]))
        assert [each.remedy for each in refused if "timeouts" in each.remedy] == []


_INGRESS = (
    "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i, namespace: ml, annotations: {%s}}, spec: "
    "{ingressClassName: %s, rules: [{http: {paths: [{backend: {service: {name: llm, port: {number: 80}}}}]}}]}}"
)


def _of_ingress(annotations: str, name: str, server: str = _SERVER) -> list[str]:
    values = [yaml.safe_load(each) for each in (_INGRESS % (annotations, name), *_cluster(server=server))]
    found = refused_values.beside_others(values[0], ("networking.k8s.io", "Ingress"), Objects(values))
    return [each.remedy for each in found]


@pytest.mark.parametrize(
    ("annotations", "name", "server", "remedies"),
    [
        ("", "alb", _SERVER, ["add the annotation alb.ingress.kubernetes.io/healthcheck-path: /health"]),
        ("alb.ingress.kubernetes.io/healthcheck-path: /health", "alb", _SERVER, []),
        (
            "alb.ingress.kubernetes.io/healthcheck-path: /",
            "alb",
            _SERVER,
            ["add the annotation alb.ingress.kubernetes.io/healthcheck-path: /health"],
        ),
        ("alb.ingress.kubernetes.io/success-codes: 200-404", "alb", _SERVER, []),
        ("", "alb", "{image: 'ollama/ollama:0.12.0'}", []),
        ("", "nginx", _SERVER, ["add the annotation nginx.ingress.kubernetes.io/proxy-read-timeout"]),
        ("nginx.ingress.kubernetes.io/proxy-read-timeout: '600'", "nginx", _SERVER, []),
        ("", "nginx", "{image: nginx}", []),
        ("", "traefik", _SERVER, []),
        (
            "",
            "gce",
            _SERVER,
            ["make a BackendConfig with timeoutSec, and name it in cloud.google.com/backend-config of the Service"],
        ),
    ],
)
def test_defaults_of_ingress_controllers_that_hurt_model_servers(
    annotations: str, name: str, server: str, remedies: list[str]
) -> None:
    assert _of_ingress(annotations, name, server) == remedies


_ROUTE = (
    "{apiVersion: route.openshift.io/v1, kind: Route, metadata: {name: r, namespace: ml%s}, spec: {to: {name: llm}}}"
)


@pytest.mark.parametrize(
    ("metadata", "server", "found"),
    [
        ("", _SERVER, 1),
        (", annotations: {haproxy.router.openshift.io/timeout: 10m}", _SERVER, 0),
        ("", "{image: nginx}", 0),
    ],
)
def test_a_route_of_openshift_needs_a_timeout(metadata: str, server: str, found: int) -> None:
    values = [yaml.safe_load(each) for each in (_ROUTE % metadata, *_cluster(server=server))]
    key = ("route.openshift.io", "Route")
    assert len(list(refused_values.beside_others(values[0], key, Objects(values)))) == found


_TIMED = (
    "{apiVersion: networking.gke.io/v1, kind: GCPBackendPolicy, metadata: {name: t, namespace: ml}, spec: "
    "{targetRef: {kind: Service, name: llm}, default: {timeoutSec: 600}}}"
)
_CHECKS = (
    "{apiVersion: networking.gke.io/v1, kind: HealthCheckPolicy, metadata: {name: h, namespace: ml}, spec: "
    "{targetRef: {kind: Service, name: %s}, default: {config: {httpHealthCheck: {requestPath: /health}}}}}"
)


@pytest.mark.parametrize(
    ("of_class", "policies", "found"),
    [
        ("gke-l7-rilb", [_CHECKS % "other"], 2),
        ("gke-l7-rilb", [_CHECKS % "llm"], 1),
        ("gke-l7-rilb", [_CHECKS % "llm", _TIMED], 0),
        ("istio", [], 0),
    ],
)
def test_a_gateway_of_gke_asks_servers_for_the_root_and_ends_answers(
    of_class: str, policies: list[str], found: int
) -> None:
    others = [each.replace("gatewayClassName: c", f"gatewayClassName: {of_class}") for each in _cluster("x/y")]

    assert len(_found(_route(), *others, *policies)) == found


_SERVICE = """
{apiVersion: v1, kind: Service, metadata: {name: llm, namespace: ml}, spec:
  {%sselector: {app: llm}, ports: [{port: 80}]}}
"""
_CLIENT = """
{apiVersion: apps/v1, kind: Deployment, metadata: {name: c, namespace: ml}, spec: {template: {spec: {containers:
  [{name: c, image: a/b, env: [{name: URL, value: '%s'}]}]}}}}
"""
_LITELLM = """
{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: ml}, data: {c: "model_list:\\n- litellm_params:
  {model: %s, api_base: 'http://llm/v1'}\\n"}}
"""


def _remedies(value: str, *others: str) -> list[str]:
    values = [yaml.safe_load(each) for each in (value, *others)]
    key = ("", "ConfigMap") if values[0]["kind"] == "ConfigMap" else ("apps", "Deployment")
    return [each.remedy for each in refused_values.beside_others(values[0], key, Objects(values))]


@pytest.mark.parametrize(
    ("url", "service", "remedy"),
    [
        ("http://llm:8000/v1", "", "write the port 80, or add 8000 to the Service"),
        ("see http://llm.ml.svc.cluster.local:8000", "", "write the port 80, or add 8000 to the Service"),
        ("https://llm/v1", "", "write the port 80, or add 443 to the Service"),
        ("http://llm/v1", "", ""),
        ("http://llm.ml:80", "", ""),
        ("http://llm.other:8000", "", ""),
        ("http://llm.ml.example.com:8000", "", ""),
        ("http://llm:${PORT}", "", ""),
        ("http://llm:8000", "clusterIP: None, ", ""),
    ],
)
def test_addresses_have_a_port_of_their_service(url: str, service: str, remedy: str) -> None:
    assert _remedies(_CLIENT % url, _SERVICE % service, _deployment(_SERVER)) == ([remedy] if remedy else [])


@pytest.mark.parametrize(
    ("model", "server", "remedy"),
    [
        ("openai/a/c", _SERVER, ["write openai/a/b"]),
        ("hosted_vllm/a/b", _SERVER, []),
        ("ollama/a/c", _SERVER, []),
        ("openai/chat", _SERVER.replace("a/b", "a/b, --served-model-name, chat, other"), []),
        ("openai/a/b", _SERVER.replace("a/b", "a/b, --served-model-name=chat"), ["write openai/chat"]),
        ("openai/mine", _SERVER.replace("a/b", "a/b, --enable-lora, --lora-modules, mine=/m"), []),
        ("openai/a/c", "{image: 'ollama/ollama:0.5.4'}", []),
    ],
)
def test_litellm_asks_a_server_for_a_model_that_it_has(model: str, server: str, remedy: list[str]) -> None:
    assert _remedies(_LITELLM % model, _SERVICE % "", _deployment(server)) == remedy


_POLICY = (
    "{apiVersion: networking.gke.io/v1, kind: HealthCheckPolicy, metadata: {name: h, namespace: ml}, spec: "
    "{targetRef: {kind: Service, name: llm}, default: {config: {httpHealthCheck: {requestPath: %s}}}}}"
)
_BACKEND = (
    "{apiVersion: cloud.google.com/v1, kind: BackendConfig, metadata: {name: h, namespace: ml}, spec: "
    "{healthCheck: {requestPath: %s}}}"
)
_NAMES = 'annotations: {cloud.google.com/backend-config: \'{"default": "%s"}\'}, name: llm'


@pytest.mark.parametrize(
    ("check", "named", "found"),
    [
        (_POLICY % "/", "name: llm", 1),
        (_POLICY % "/health", "name: llm", 0),
        (_BACKEND % "/", _NAMES % "h", 1),
        (_BACKEND % "/", _NAMES % "other", 0),
        (_BACKEND % "/health", _NAMES % "h", 0),
    ],
)
def test_health_checks_of_gke_at_the_root_of_a_server(check: str, named: str, found: int) -> None:
    others = [each.replace("{name: llm", f"{{{named}") if "kind: Service" in each else each for each in _cluster()]
    values = [yaml.safe_load(each) for each in (check, *others)]
    key = (values[0]["apiVersion"].rpartition("/")[0], values[0]["kind"])
    remedies = [each.remedy for each in refused_values.beside_others(values[0], key, Objects(values))]

    assert remedies == ["set requestPath to /health"] * found


_SERVERS = """
{apiVersion: inference.networking.k8s.io/v1, kind: InferencePool, metadata: {name: p, namespace: llm}, spec: {selector:
  {matchLabels: {%s}}, targetPorts: [{number: 8000}]}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: llm}, spec: {template:
  {metadata: {labels: {app: qwen}}, spec: {containers: [{image: 'vllm/vllm-openai:v0.11.0', args: [--model=a/b]}]}}}}
"""


@pytest.mark.parametrize(
    ("labels", "found"), [("app: llama", 1), ("app: qwen", 0), ("model: llama", 0), ("app: '{{ name }}'", 0)]
)
def test_a_pool_that_selects_no_server_of_the_files_has_no_endpoints(labels: str, found: int) -> None:
    values = [*yaml.safe_load_all(_SERVERS % labels)]
    wrong = inference_routes.endpoints_of_pool(values[0], "llm", Objects(values))

    assert len([each for each in wrong if "has no endpoints" in each.text]) == found
