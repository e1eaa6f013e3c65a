"""Tests of the rows of the tables about tokens, and about metrics by which autoscalers scale."""

import base64
from typing import Any

import pytest
import yaml

from unit.kinds.reading.rows_written import first_words, key_of, objects_of
from usher.kinds.reading import controller_rules, counts, inner_names, started_programs, value_forms
from usher.kinds.reading.values import Objects

_Json = dict[str, Any]


_TOKEN_OF = "{apiVersion: v1, kind: Secret, metadata: {name: s}, %s: {token: %s}}"
_PLAIN_TOKEN = "hf_Abcdefghijklmnopqrstuvwxyzabcdefgh"
_RULE = """
apiVersion: v1
kind: ConfigMap
metadata: {name: adapter, namespace: monitoring}
data:
  config.yaml: |
    rules:
    - {seriesQuery: 'vllm:num_requests_waiting{pod!=""}'%s, metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>}) by (x)'}
"""
_OVERRIDES = ", resources: {overrides: {pod: {resource: pod}}}"
_HPA = """
---
{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h, namespace: n}, spec: {metrics:
  [{type: Pods, pods: {metric: {name: '%s'}}}]}}
"""


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (_TOKEN_OF % ("data", _encoded(_PLAIN_TOKEN)), []),
        (_TOKEN_OF % ("data", _PLAIN_TOKEN), ["holds a token as it is below data"]),
        (_TOKEN_OF % ("stringData", _PLAIN_TOKEN), []),
        (_TOKEN_OF % ("stringData", _encoded(_PLAIN_TOKEN)), ["holds a token in base64 below stringData"]),
        (_RULE % "", ["has a rule of the Prometheus adapter without resources"]),
        (_RULE % _OVERRIDES, []),
        (
            _RULE % f"{_OVERRIDES}, name: {{as: waiting}}" + _HPA % "vllm_waiting",
            ["scales by vllm_waiting"],
        ),
        (_RULE % f"{_OVERRIDES}, name: {{as: waiting}}" + _HPA % "waiting", []),
        (_RULE % f"{_OVERRIDES}, name: {{matches: '(.*)', as: '${{1}}_x'}}" + _HPA % "vllm_waiting", []),
        (
            _RULE % f"{_OVERRIDES}, name: {{matches: 'vllm:(.*)', as: 'llm_$1'}}" + _HPA % "vllm:num_requests_waiting",
            ["scales by vllm:num_requests_waiting"],
        ),
        (_RULE % _OVERRIDES + _HPA % "vllm:num_requests_waiting", []),
    ],
)
def test_tokens_and_rules_of_an_adapter(text: str, found: list[str]) -> None:
    assert first_words(text) == found


_WATCHED = """
{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor, metadata: {name: m, namespace: n}, spec: {selector:
  {matchLabels: {app: a}}, endpoints: [{port: http}]%s}}
---
{apiVersion: v1, kind: Service, metadata: {name: s, namespace: %s, labels: {%s}}, spec: {selector: {app: a}, ports:
  [{port: 80, name: http}]}}
"""


@pytest.mark.parametrize(
    ("more", "home", "labels", "found"),
    [
        ("", "n", "", ["add them to metadata.labels of the Service"]),
        ("", "n", "app: a", []),
        (", namespaceSelector: {any: true}", "n", "", []),
        (", namespaceSelector: {matchNames: [o]}", "n", "", []),
        ("", "o", "app: a", ["add namespaceSelector with matchNames [o]"]),
        ("", "o", "", []),
        (", namespaceSelector: {any: true}", "o", "app: a", []),
    ],
)
def test_a_monitor_selects_services_by_their_own_labels(more: str, home: str, labels: str, found: list[str]) -> None:
    values = objects_of(_WATCHED % (more, home, labels))
    files = inner_names.Files("n", Objects(values), Objects(values), None)

    assert [
        each.remedy
        for each in inner_names.names_of_nothing(values[0], key_of(values[0]), [], files)
        if each.topic == "agent"
    ] == found


@pytest.mark.parametrize(
    ("query", "remedies"),
    [
        ("sum(rate(vllm:request_success_total[5m]))", []),
        ("sum(rate(vllm:request_success_total[5m]) by (model_name)", ["close each bracket of the query"]),
        ("count(up{job=~'a(b|c'})", []),
        ("vllm_num_requests_waiting > 5", ["write vllm:num_requests_waiting"]),
    ],
)
def test_queries_of_rules_are_whole_and_about_metrics_that_are_there(query: str, remedies: list[str]) -> None:
    text = "{apiVersion: monitoring.coreos.com/v1, kind: PrometheusRule, spec: {groups: [{name: g}]}}"
    value = objects_of(text)[0]
    value["spec"]["groups"][0]["rules"] = [{"alert": "A", "expr": query}]

    assert [each.remedy for each in controller_rules.refused(value, key_of(value), [])] == remedies


_ANY = "spec: {selector: {matchLabels: {app: a}}, podMetricsEndpoints: [{port: http}]"
_LISTENS = "spec: {containers: [{name: c, image: x, ports: [{name: http, containerPort: 80}]}]}"


@pytest.mark.parametrize(
    ("home", "more", "count"), [("o", "", 1), ("n", "", 0), ("o", ", namespaceSelector: {any: true}", 0)]
)
def test_a_monitor_of_pods_reads_its_own_namespace(home: str, more: str, count: int) -> None:
    kind = "apiVersion: monitoring.coreos.com/v1, kind: PodMonitor, metadata: {name: m, namespace: n}"
    monitor = f"{{{kind}, {_ANY}{more}}}}}"
    pod = f"{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: {home}, labels: {{app: a}}}}, {_LISTENS}}}"
    values = objects_of(f"{monitor}\n---\n{pod}")
    files = inner_names.Files("n", Objects(values), Objects(values), None)
    found = inner_names.names_of_nothing(values[0], key_of(values[0]), [], files)

    assert sum("namespaceSelector" in each.remedy for each in found) == count


_METRIC = """
{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h, namespace: n}, spec: {metrics:
  [{type: Pods, %s: {metric: {name: waiting}, target: {%s}}}]}}
"""
_KEY = """
{apiVersion: aigateway.envoyproxy.io/v1alpha1, kind: BackendSecurityPolicy, metadata: {name: b, namespace: n}, spec:
  {type: APIKey, apiKey: {secretRef: {name: s}}}}
---
{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: n}, stringData: {%s: x}}
"""
_GROUPED = """
{apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {name: d, namespace: n}, spec:
  {mtls: {mode: %s}%s}}
---
{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: v, namespace: n}, spec:
  {leaderWorkerTemplate: {size: %s, workerTemplate: {metadata: {labels: {%s}}}}}}
"""
_TRITON = """
{apiVersion: v1, kind: Pod, metadata: {name: t, namespace: n}, spec: {volumes: [{name: c, configMap: {name: c}}],
  containers: [{name: t, image: 'nvcr.io/nvidia/tritonserver:25.06-py3', resources: {limits: {nvidia.com/gpu: %s}}}]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: n}, data: {config.pbtxt: '%s'}}
"""
_TRIGGER = """
{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: a, namespace: %s}, spec: {scaleTargetRef: {name: a},
  triggers: [{type: prometheus, metadata: {threshold: '5', serverAddress: '%s', query: 'sum(a)'%s}}]}}
"""
_TENANCY = "https://thanos-querier.openshift-monitoring.svc.cluster.local:9092"
_MODEL = "{apiVersion: kubeai.org/v1, kind: Model, metadata: {name: m, namespace: k}, spec: {engine: %s, url: '%s'}}"
_OLLAMA = "takes its model from ollama:// with"
_FROM_CLAIM = """
{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, metadata: {name: q, namespace: n}, spec: {predictor:
  {model: {storageUri: 'pvc://m/qwen'}}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: m, namespace: %s}, spec: {accessModes: [ReadWriteMany]}}
"""
_KEYLESS = "takes the API key of a backend from Secret s"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            _METRIC % ("pods", "type: Utilization, averageUtilization: 70"),
            ["asks for an average utilisation of 70 of a metric that has no requests"],
        ),
        (_METRIC % ("pods", "type: Value, value: 5"), ["gives a metric of pods the value 5 without averageValue"]),
        (_METRIC % ("pods", "type: AverageValue, averageValue: 5"), []),
        (_METRIC % ("external", "type: Value, value: 5"), []),
        (_METRIC % ("resource", "type: Utilization, averageUtilization: 70"), []),
        (_TRIGGER % ("n", "http://prometheus:9090", ""), ["asks prometheus"]),
        (_TRIGGER % ("keda", "http://prometheus:9090", ""), []),
        (_TRIGGER % ("n", "http://prometheus.monitoring:9090/x", ""), []),
        (_TRIGGER % ("n", _TENANCY, ", unsafeSsl: 'true'"), [f"asks {_TENANCY.removeprefix('https://')}"]),
        (_TRIGGER % ("n", _TENANCY, ", unsafeSsl: 'true', namespace: n"), []),
        (_MODEL % ("VLLM", "ollama://gemma2:2b"), [f"{_OLLAMA} an engine that knows no registry of Ollama"]),
        (_MODEL % ("OLlama", "hf://a/b"), ["takes its model from hf:// with the engine OLlama"]),
        (_MODEL % ("OLlama", "ollama://gemma2:2b"), []),
        (_FROM_CLAIM % "o", ["takes its model from PersistentVolumeClaim m of another namespace"]),
        (_FROM_CLAIM % "n", []),
        (_KEY % "api-key", [_KEYLESS]),
        (_KEY % "apiKey", []),
        (_GROUPED % ("STRICT", "", 2, ""), ["asks mTLS of all pods"]),
        (_GROUPED % ("PERMISSIVE", "", 2, ""), []),
        (_GROUPED % ("STRICT", ", selector: {matchLabels: {a: b}}", 2, ""), []),
        (_GROUPED % ("STRICT", "", 1, ""), []),
        (_GROUPED % ("STRICT", "", 2, "sidecar.istio.io/inject: 'false'"), []),
        (_TRITON % (1, "instance_group [{ gpus: [ 0, 1 ] }]"), ["gives Triton one GPU"]),
        (_TRITON % (1, "instance_group [{ gpus: [ 0 ] }]"), []),
        (_TRITON % (2, "instance_group [{ gpus: [ 0, 1 ] }]"), []),
    ],
)
def test_metrics_keys_and_instances(text: str, found: list[str]) -> None:
    assert first_words(text) == found


_HF = "[{name: HF_HOME, value: %s}], volumeMounts: [{name: c, mountPath: %s}]"
_NOT_MOUNTED = "mount the volume there, or remove the variable"
_DIVISOR = "set it to a divisor of the tensor parallel size"
_TRT = "nvcr.io/nvidia/tensorrt-llm/release:1.0.0"


@pytest.mark.parametrize(
    ("image", "more", "remedies"),
    [
        ("vllm/vllm-openai:v0.11.0", f"env: {_HF % ('/data/hf', '/root/.cache/huggingface')}", [_NOT_MOUNTED]),
        ("vllm/vllm-openai:v0.11.0", f"env: {_HF % ('/data/hf', '/data')}", []),
        ("vllm/vllm-openai:v0.11.0", f"env: {_HF % ('/root/.cache/huggingface', '/root/.cache/huggingface')}", []),
        (
            "ollama/ollama:0.11.0",
            "env: [{name: OLLAMA_MODELS, value: /models}], volumeMounts: [{name: c, mountPath: /root/.ollama}]",
            [_NOT_MOUNTED],
        ),
        (
            "ollama/ollama:0.11.0",
            "env: [{name: OLLAMA_MODELS, value: /root/.ollama/m}], volumeMounts: [{name: c, mountPath: /root/.ollama}]",
            [],
        ),
        (_TRT, "command: [trtllm-serve, a/b, --tp_size, '2', --ep_size, '4']", [_DIVISOR]),
        (_TRT, "command: [trtllm-serve, a/b, --tp_size, '4', --ep_size, '2']", []),
    ],
)
def test_folders_and_sizes_of_servers(image: str, more: str, remedies: list[str]) -> None:
    container = yaml.safe_load(f"{{name: c, image: '{image}', {more}}}")
    value: _Json = {"spec": {"template": {"spec": {"containers": [container]}}}}
    found = started_programs.needs_of_programs(("apps", "Deployment"), value, value_forms.pod_specs(value))

    assert [each.remedy for each in found if each.remedy in {_NOT_MOUNTED, _DIVISOR}] == remedies


_PREDICTOR = """
{apiVersion: machinelearning.seldon.io/v1, kind: SeldonDeployment, metadata: {name: s}, spec: {predictors: [
  {graph: {name: a%s}, componentSpecs: [{spec: {containers: [{name: %s, image: i}]}}]}]}}
"""


@pytest.mark.parametrize(
    ("more", "name", "count"), [("", "b", 1), ("", "a", 0), (", implementation: SKLEARN_SERVER", "b", 0)]
)
def test_a_graph_of_seldon_names_containers(more: str, name: str, count: int) -> None:
    values = objects_of(_PREDICTOR % (more, name))
    files = inner_names.Files("n", Objects(values), Objects(values), None)

    assert len(list(inner_names.names_of_nothing(values[0], key_of(values[0]), [], files))) == count


_ON_A_DISK = """
{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: s, namespace: n}, spec:
  {scaleTargetRef: {name: a}%s}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: n}, spec: {template: {spec:
  {volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]%s}}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: n}, spec: {accessModes: [%s]}}
"""


@pytest.mark.parametrize(
    ("bounds", "spec", "modes", "count"),
    [
        (", maxReplicaCount: 4", "", "ReadWriteOnce", 1),
        ("", "", "ReadWriteOnce", 1),
        (", minReplicas: 1, maxReplicas: 4", "", "ReadWriteOnce", 1),
        (", minReplicaCount: 2", "", "ReadWriteOnce", 0),
        (", maxReplicaCount: 1", "", "ReadWriteOnce", 0),
        (", maxReplicaCount: []", "", "ReadWriteMany", 0),
        ("", "", "ReadWriteOnce, ReadOnlyMany", 0),
        ("", ", nodeSelector: {kubernetes.io/hostname: a}", "ReadWriteOnce", 0),
    ],
)
def test_pods_that_are_added_cannot_mount_the_disk_of_one_node(bounds: str, spec: str, modes: str, count: int) -> None:
    values = objects_of(_ON_A_DISK % (bounds, spec, modes))

    assert len(list(counts.scaled_beside_one_disk(values[0], Objects(values)))) == count


_FORMULA = """
{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: a, namespace: n}, spec: {triggers: [{name: waiting},
  {name: running}], advanced: {scalingModifiers: {target: '5', formula: %s}}}}
"""


@pytest.mark.parametrize(
    ("formula", "remedies"),
    [
        ("waiting + running", []),
        ("max([waiting, running]) > 2 ? float(waiting) : 0", []),
        ("waiting == nil or not (running in [1, 2]) ? 1.5 : 2", []),
        ("waiting + runing", ["did you mean running?"]),
    ],
)
def test_a_formula_of_keda_names_triggers(formula: str, remedies: list[str]) -> None:
    values = objects_of(_FORMULA % f'"{formula}"')
    files = inner_names.Files("n", Objects(values), Objects(values), None)

    assert [each.remedy for each in inner_names.names_of_nothing(values[0], key_of(values[0]), [], files)] == remedies
