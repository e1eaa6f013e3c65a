"""Rows about platforms that serve and scale models: KServe, Knative, KEDA, KubeAI, KAITO, gateways and Dynamo."""

from typing import Any

import pytest

from unit.kinds.reading.rows_written import first_words, objects_of
from usher.kinds import ray
from usher.kinds.reading import refused_values, started_programs, value_forms
from usher.kinds.reading.values import Objects

_Json = dict[str, Any]


_TOKEN = "env: [{name: HF_TOKEN, value: x}]"
_SERVED = """
{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, metadata: {name: a, namespace: n%s}, spec:
  {predictor: {%s model: {modelFormat: {name: huggingface}, storageUri: '%s', %s}}}}
"""
_ACCOUNT = "\n---\n{apiVersion: v1, kind: ServiceAccount, metadata: {name: hub, namespace: n}%s}"
_SECRET = "\n---\n{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: n}, stringData: {%s: x}}"
_LLM = """
{apiVersion: serving.kserve.io/v1alpha1, kind: LLMInferenceService, metadata: {name: a, namespace: n}, spec:
  {model: {uri: '%s'}, %s}}
"""
_ITS_OWN = "sets HF_TOKEN for its server alone; its gated model is downloaded before by the storage-initializer"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (_SERVED % ("", "", "hf://meta-llama/a", _TOKEN), [_ITS_OWN]),
        (_SERVED % ("", "", "s3://a/b", _TOKEN), []),
        (_SERVED % ("", "", "hf://Qwen/b", _TOKEN), []),
        (_SERVED % ("", "", "hf://google/gemma-2-9b-it", ""), ["takes google/gemma-2-9b-it from the hub"]),
        (_LLM % ("hf://meta-llama/b", "template: {containers: [{name: main}]}"), ["takes meta-llama/b from the hub"]),
        (_SERVED % ("", "", "hf://meta-llama/a", "env: [{name: A, value: x}]"), ["takes meta-llama/a from the hub"]),
        (_SERVED % (", annotations: {serving.kserve.io/storageSecretName: s}", "", "hf://meta-llama/b", _TOKEN), []),
        (_SERVED % ("", "serviceAccountName: hub,", "hf://meta-llama/b", _TOKEN), []),
        (
            _SERVED % ("", "serviceAccountName: hub,", "hf://meta-llama/b", _TOKEN) + _ACCOUNT % "",
            ["sets HF_TOKEN for its server"],
        ),
        (
            _SERVED % ("", "serviceAccountName: hub,", "hf://meta-llama/b", _TOKEN)
            + _ACCOUNT % ", secrets: [{name: s}]",
            [],
        ),
        (
            _SERVED % ("", "serviceAccountName: hub,", "hf://meta-llama/b", "")
            + _ACCOUNT % ", secrets: [{name: s}]"
            + _SECRET % "hf_token",
            ["lists Secret s"],
        ),
        (
            _SERVED % ("", "serviceAccountName: hub,", "hf://meta-llama/b", "")
            + _ACCOUNT % ", secrets: [{name: s}]"
            + _SECRET % "HF_TOKEN",
            [],
        ),
        (_ACCOUNT % ", secrets: [{name: s}]" + _SECRET % "token", []),
        (_LLM % ("hf://meta-llama/b", f"template: {{containers: [{{name: main, {_TOKEN}}}]}}"), [_ITS_OWN]),
        (_LLM % ("pvc://a/b", f"template: {{containers: [{{name: main, {_TOKEN}}}]}}"), []),
        (
            _LLM
            % ("hf://meta-llama/b", f"template: {{serviceAccountName: hub, containers: [{{name: main, {_TOKEN}}}]}}"),
            [],
        ),
        (
            _LLM
            % ("hf://meta-llama/b", f"template: {{serviceAccountName: hub, containers: [{{name: main, {_TOKEN}}}]}}")
            + _ACCOUNT % "",
            ["sets HF_TOKEN for its server"],
        ),
        (
            _LLM % ("hf://c/b", "worker: {containers: []}, parallelism: {pipeline: 2, tensor: 4}"),
            [
                "sets parallelism.pipeline with worker",
            ],
        ),
        (_LLM % ("hf://c/b", "worker: {containers: []}, parallelism: {data: 2, dataLocal: 1}"), []),
        (
            _LLM
            % (
                "hf://meta-llama/b",
                "worker: {containers: []}, parallelism: {pipeline: 2}, baseRefs: [{name: my-pipeline}]",
            ),
            [],
        ),
    ],
)
def test_the_token_of_a_download_and_the_stages_of_kserve(text: str, found: list[str]) -> None:
    assert first_words(text) == found


_SCALED = """
{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: a, namespace: n}, spec: {scaleTargetRef: {name: a},
  triggers: [{type: prometheus, metadata: {threshold: '5', serverAddress: '%s', query: '%s'%s}%s}]}}
"""
_PLAIN = "http://prometheus.monitoring.svc:9090"
_TLS = "https://thanos-querier.openshift-monitoring.svc.cluster.local:9091"
_AUTH = """
---
{apiVersion: keda.sh/v1alpha1, kind: %s, metadata: {name: p, namespace: n}, spec:
  {secretTargetRef: [{parameter: %s, name: s, key: k}]}}
"""
_ADAPTER = """
apiVersion: v1
kind: ConfigMap
metadata: {name: adapter, namespace: monitoring}
data:
  config.yaml: |
    rules:
    - {seriesQuery: '%s{pod!=""}', resources: {overrides: {pod: {resource: pod}}}, name: {as: x}, metricsQuery: '%s'}
"""
_SUM = "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"
_RATE = "sum(rate(<<.Series>>{<<.LabelMatchers>>}[2m])) by (<<.GroupBy>>)"
_HELM = """
{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: a}, spec: {values: {rules: {custom: [
  {seriesQuery: 'vllm:generation_tokens_total', resources: {template: '<<.Resource>>'}, metricsQuery: '%s'}]}}}}
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (_SCALED % (_PLAIN, "sum(vllm:request_success_total)", "", ""), ["scales by vllm:request_success_total"]),
        (_SCALED % (_PLAIN, "sum(rate(vllm:request_success_total[2m]))", "", ""), []),
        (_SCALED % (_PLAIN, "sum(increase(http_requests_total[5m]))", "", ""), []),
        (_SCALED % (_PLAIN, "sum(vllm:num_requests_waiting)", "", ""), []),
        (_SCALED % (_PLAIN, "sum(job:requests_total:rate5m)", "", ""), []),
        (
            _ADAPTER % ("vllm:request_success_total", _SUM),
            ["offers vllm:request_success_total to autoscalers without rate or increase"],
        ),
        (
            _ADAPTER % ("nv_inference_queue_duration_us", _SUM),
            ["offers nv_inference_queue_duration_us to autoscalers without rate or increase"],
        ),
        (_ADAPTER % ("vllm:request_success_total", _RATE), []),
        (_ADAPTER % ("vllm:num_requests_waiting", _SUM), []),
        (_HELM % _SUM, ["offers vllm:generation_tokens_total to autoscalers without rate or increase"]),
        (_HELM % _RATE, []),
        (_SCALED % (_TLS, "sum(a)", "", ""), [f"asks {_TLS}"]),
        (_SCALED % (_TLS, "sum(a)", ", unsafeSsl: 'true'", ""), []),
        (_SCALED % ("https://prometheus.example.com", "sum(a)", "", ""), []),
        (_SCALED % (_TLS, "sum(a)", "", ", authenticationRef: {name: p}"), []),
        (
            _SCALED % (_TLS, "sum(a)", "", ", authenticationRef: {name: p}")
            + _AUTH % ("TriggerAuthentication", "bearerToken"),
            ["asks a Prometheus within the cluster over https"],
        ),
        (
            _SCALED % (_TLS, "sum(a)", "", ", authenticationRef: {name: p, kind: ClusterTriggerAuthentication}")
            + _AUTH % ("ClusterTriggerAuthentication", "bearerToken"),
            ["asks a Prometheus within the cluster over https"],
        ),
        (
            _SCALED % (_TLS, "sum(a)", "", ", authenticationRef: {name: p}") + _AUTH % ("TriggerAuthentication", "ca"),
            [],
        ),
    ],
)
def test_queries_and_certificates_of_autoscalers(text: str, found: list[str]) -> None:
    assert first_words(text) == found


_KNATIVE = """
{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: a, namespace: n}, spec: {template: {metadata:
  {annotations: {autoscaling.knative.dev/max-scale: '%s'%s}}, spec: {containers: [{image: a}]}}}}
"""
_INITIAL = """
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: config-autoscaler, namespace: knative-serving},
  data: {initial-scale: '%s'}}
"""
_KUBEAI = """
{apiVersion: kubeai.org/v1, kind: Model, metadata: {name: %s, namespace: k}, spec: {engine: VLLM, %s}}
"""
_PROFILES = """
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kubeai-config, namespace: k}
data:
  system.yaml: |
    resourceProfiles: {nvidia-gpu-l4: {limits: {nvidia.com/gpu: 1}}}
    cacheProfiles: {efs: {sharedFilesystem: {storageClassName: efs}}}
"""
_KAITO = """
{apiVersion: kaito.sh/v1beta1, kind: Workspace, metadata: {name: a, namespace: n},
 resource: {count: %s, instanceType: %s},
 inference: {preset: {name: b}, config: c}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: n}
data:
  inference_config.yaml: |
    vllm: {gpu-memory-utilization: 0.9%s}
"""
_BACKEND = "{apiVersion: gateway.envoyproxy.io/v1alpha1, kind: Backend, metadata: {name: b, namespace: n}, spec: {}}"
_ENVOY = """
---
apiVersion: v1
kind: ConfigMap
metadata: {name: envoy-gateway-config, namespace: envoy-gateway-system}
data:
  envoy-gateway.yaml: |
    {apiVersion: gateway.envoyproxy.io/v1alpha1, kind: EnvoyGateway%s}
"""
_AI = """
{apiVersion: aigateway.envoyproxy.io/v1alpha1, kind: AIServiceBackend, metadata: {name: a}, spec:
  {backendRef: {name: b%s}}}
"""
_MONITOR = """
{apiVersion: monitoring.coreos.com/v1, kind: PodMonitor, metadata: {name: a, namespace: n}, spec: {selector:
  {matchLabels: {nvidia.com/dynamo-component-type: %s}}}}
---
{apiVersion: nvidia.com/v1alpha1, kind: DynamoGraphDeployment, metadata: {name: g, namespace: n}, spec: {services:
  {A: {componentType: %s}, B: {componentType: %s}}}}
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (_KNATIVE % ("2", ", autoscaling.knative.dev/initial-scale: '4'"), ["starts each revision with 4 pods"]),
        (_KNATIVE % ("2", ", autoscaling.knative.dev/initial-scale: '2'"), []),
        (_KNATIVE % ("0", ", autoscaling.knative.dev/initial-scale: '4'"), []),
        (_KNATIVE % ("1", "") + _INITIAL % "3", ["starts each revision with 3 pods"]),
        (_KNATIVE % ("1", "") + _INITIAL % "1", []),
        (_KNATIVE % ("3", "") + _INITIAL % "3", []),
        (_KUBEAI % ("m", "resourceProfile: 'nvidia-gpu-l4:0'"), ["asks for 0 of its resource profile"]),
        (
            _KUBEAI % ("m", "resourceProfile: nvidia-gpu-l4"),
            ["names the resource profile nvidia-gpu-l4 without a number"],
        ),
        (_KUBEAI % ("m", "resourceProfile: 'nvidia-gpu-l4:1'") + _PROFILES, []),
        (
            _KUBEAI % ("m", "resourceProfile: 'nvidia-gpu-l40:1'") + _PROFILES,
            ["names the resource profile nvidia-gpu-l40"],
        ),
        (_KUBEAI % ("m", "cacheProfile: efs, url: 'hf://a/b'") + _PROFILES, []),
        (_KUBEAI % ("m", "cacheProfile: nfs, url: 'hf://a/b'") + _PROFILES, ["names the cache profile nfs"]),
        (
            _KUBEAI % ("m", "cacheProfile: efs, url: 'pvc://a/b'"),
            ["has the cacheProfile efs beside a model that is not downloaded from hf"],
        ),
        (_KUBEAI % ("m", "url: 'gs://a/b'"), ["takes its model from gs://a/b without a cacheProfile"]),
        (_KUBEAI % ("m" * 41, "url: 'hf://a/b'"), [f"has the name {'m' * 41}"]),
        (_KUBEAI % ("m", "minReplicas: 3, maxReplicas: 1"), ["has minReplicas 3 above maxReplicas 1"]),
        (_KUBEAI % ("m", "minReplicas: 1, maxReplicas: 3, adapters: [{name: x}]"), []),
        (_KAITO % (2, "Standard_NC24ads_A100_v4", ""), ["runs on several nodes"]),
        (_KAITO % (1, "Standard_NC64as_T4_v3", ""), ["runs on machines with several GPUs below 20 GB"]),
        (_KAITO % (2, "Standard_NC64as_T4_v3", ", max-model-len: 4096"), []),
        (_KAITO % (1, "Standard_NC24ads_A100_v4", ""), []),
        (_BACKEND + _ENVOY % "", ["needs extensionApis.enableBackend in the configuration of Envoy Gateway"]),
        (_BACKEND + _ENVOY % ", extensionApis: {enableBackend: true}", []),
        (_AI % "", ["leads to a Service b"]),
        (_AI % ", kind: Backend, group: gateway.envoyproxy.io", []),
        (_MONITOR % ("worker", "prefill", "decode"), ["selects pods of the component type worker"]),
        (_MONITOR % ("worker", "worker", "decode"), []),
        (_MONITOR % ("decode", "worker", "frontend"), ["selects pods of the component type decode"]),
        (_MONITOR % ("frontend", "prefill", "decode"), []),
    ],
)
def test_an_object_that_its_platform_cannot_use_is_found(text: str, found: list[str]) -> None:
    assert first_words(text) == found


def _idle(config: str, group: str, cluster: str = "") -> list[str]:
    value = objects_of(
        "{apiVersion: ray.io/v1, kind: RayService, metadata: {name: a}, spec: {rayClusterConfig: {workerGroupSpecs: [{"
        f"{group}, template: {{spec: {{containers: [{{resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}}}}}]"
        f"{cluster}}}}}}}"
    )[0]
    value["spec"]["serveConfigV2"] = f"applications: [{{deployments: [{config}]}}]"
    return [each.text for each in ray.CODE["RayService.ray.io"]["unmet"](value, Objects([value]))]


_USES = "keeps %s GPUs in its workers, and the deployments of serveConfigV2 use at most %s of them"


@pytest.mark.parametrize(
    ("config", "group", "found"),
    [
        ("{num_replicas: 1, ray_actor_options: {num_gpus: 1}}", "replicas: 4, minReplicas: 4", [_USES % (4, 1)]),
        ("{num_replicas: 4, ray_actor_options: {num_gpus: 1}}", "replicas: 4, minReplicas: 4", []),
        ("{num_replicas: auto, ray_actor_options: {num_gpus: 1}}", "replicas: 4", []),
        (
            "{autoscaling_config: {min_replicas: 1, max_replicas: 2}, ray_actor_options: {num_gpus: 1}}",
            "replicas: 4",
            [_USES % (4, 2)],
        ),
        ("{num_replicas: 1}", "replicas: 4", []),
        ("{num_replicas: 1, placement_group_bundles: [{GPU: 4}]}", "replicas: 4", []),
        ("{num_replicas: 1, ray_actor_options: {num_gpus: 1}}", "replicas: 4, rayStartParams: {num-gpus: '0'}", []),
        ("{num_replicas: 1, ray_actor_options: {num_gpus: 1}}", "replicas: x", []),
    ],
)
def test_workers_of_ray_above_their_deployments_idle(config: str, group: str, found: list[str]) -> None:
    assert _idle(config, group) == found


def test_an_autoscaler_of_ray_keeps_only_the_minimum() -> None:
    served = "{num_replicas: 1, ray_actor_options: {num_gpus: 1}}"

    assert _idle(served, "replicas: 4, minReplicas: 1", ", enableInTreeAutoscaling: true") == []
    assert _idle(served, "replicas: 4, minReplicas: 2", ", enableInTreeAutoscaling: true") == [_USES % (2, 1)]


_ANNOTATED = "{apiVersion: v1, kind: Secret, metadata: {name: s, annotations: {serving.kserve.io/%s: '%s'}}}"
_NIM = "{apiVersion: apps.nvidia.com/v1alpha1, kind: NIMService, metadata: {name: a, namespace: n}, spec: {%s}}"
_CACHE = "{apiVersion: apps.nvidia.com/v1alpha1, kind: NIMCache, metadata: {name: c, namespace: n}, spec: {%s}}"
_PARALLEL = "source: {ngc: {model: {tensorParallelism: '%s'}}}"
_AIBRIX = """
{apiVersion: autoscaling.aibrix.ai/v1alpha1, kind: PodAutoscaler, metadata: {name: a, %s: {autoscaling.aibrix.ai/x: y}},
 spec: {scaleTargetRef: {kind: %s, name: b}, subTargetSelector: {roleName: r}}}
"""
_CANARY = """
{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, metadata: {name: a, namespace: n, annotations:
  {serving.kserve.io/deploymentMode: %s}}, spec: {predictor: {canaryTrafficPercent: 10, minReplicas: %s,
  model: {storageUri: 'pvc://m/a'}}}}
"""
_CLAIM = (
    "\n---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: m, namespace: n}, spec: {accessModes: [%s]}}"
)
_POOL = """
{apiVersion: inference.networking.k8s.io/v1, kind: InferencePool, metadata: {name: %s}, spec:
  {endpointPickerRef: {name: %s}}}
"""
_PICKER = "has the endpoint picker e"
_OF_ONE_NODE = "serves a model of PersistentVolumeClaim m with several replicas"
_REFUSED = " which the webhook of the NIM operator refuses"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (_ANNOTATED % ("s3-endpoint", "http://minio:9000"), ["begins s3-endpoint with http"]),
        (_ANNOTATED % ("s3-endpoint", "minio:9000"), []),
        (_ANNOTATED % ("s3-usehttps", "false"), ["sets s3-usehttps to false"]),
        (_ANNOTATED % ("s3-usehttps", "0"), []),
        (_CANARY % ("Standard", 1), ["sets canaryTrafficPercent"]),
        (_CANARY % ("Knative", 1), []),
        (_CANARY % ("Knative", 2) + _CLAIM % "ReadWriteOnce", [_OF_ONE_NODE]),
        (_CANARY % ("Knative", 2) + _CLAIM % "ReadWriteMany", []),
        (_CANARY % ("Knative", 1) + _CLAIM % "ReadWriteOnce", []),
        (_LLM % ("pvc://m/a", "replicas: 2") + _CLAIM % "ReadWriteOnce", [_OF_ONE_NODE]),
        (_AIBRIX % ("annotations", "StormService"), []),
        (
            _AIBRIX % ("labels", "Deployment"),
            ["has autoscaling.aibrix.ai/x as a label", "selects the role r of an object without roles"],
        ),
        (_NIM % "replicas: 1, scale: {enabled: true, hpa: {maxReplicas: 2}}", ["sets replicas beside scale.enabled"]),
        (_NIM % "scale: {enabled: true}", ["enables scale without scale.hpa"]),
        (_NIM % "replicas: 1, scale: {enabled: false, hpa: {maxReplicas: 0}}", []),
        (_NIM % "metrics: {enabled: true}", ["enables metrics without a serviceMonitor"]),
        (_NIM % "metrics: {enabled: true, serviceMonitor: {additionalLabels: {a: b}}}", []),
        (_NIM % "storage: {nimCache: {name: c}, pvc: {}}", []),
        (_NIM % "storage: {nimCache: {name: c}, pvc: {create: true}}", ["has nimCache and pvc as its storage"]),
        (_NIM % "storage: {nimCache: {name: c}, emptyDir: {}}", ["has emptyDir beside another storage"]),
        (_NIM % "storage: {pvc: {size: 5Gi}}", ["has a pvc without create and without a name"]),
        (_NIM % "storage: {pvc: {create: true, volumeAccessMode: RWX}}", ["has the volumeAccessMode RWX"]),
        (_NIM % "storage: {pvc: {create: true, volumeAccessMode: ReadWriteMany}}", []),
        (
            _NIM % "expose: {router: {ingress: {}, gateway: {}}}",
            [
                "has ingress and gateway in expose.router",
                "has ingress in expose.router without hostDomainName",
                "has gateway in expose.router without hostDomainName",
            ],
        ),
        (_NIM % "expose: {router: {gateway: {}, hostDomainName: a.b}}", []),
        (_NIM % "inferencePlatform: kserve, multiNode: {workers: 2}", ["sets multiNode with the platform kserve"]),
        (
            _NIM % "inferencePlatform: kserve, scale: {enabled: true, hpa: {maxReplicas: 2}}",
            ["enables scale with the platform kserve in the mode Knative"],
        ),
        (
            _NIM % "inferencePlatform: kserve, scale: {enabled: true, hpa: {maxReplicas: 2}}, "
            "annotations: {serving.kserve.io/deploymentMode: Standard}",
            [],
        ),
        (
            _NIM % "replicas: 2, draResources: [{resourceClaimName: g}]",
            ["names the ResourceClaim g for several replicas"],
        ),
        (_NIM % "replicas: 1, draResources: [{resourceClaimName: g}]", []),
        (_CACHE % "source: {ngc: {model: {profiles: [a], engine: vllm}}}", ["has engine beside profiles of its model"]),
        (_CACHE % "source: {ngc: {model: {profiles: [all, a]}}}", ["lists a beside the profile all"]),
        (_CACHE % "source: {ngc: {model: {qosProfile: fast}}}", ["has the qosProfile fast"]),
        (_CACHE % "source: {ngc: {model: {qosProfile: latency, engine: vllm}}}", []),
        (
            _NIM % "storage: {nimCache: {name: c}}, resources: {limits: {nvidia.com/gpu: 2}}"
            + "\n---\n"
            + _CACHE % _PARALLEL % 4,
            ["gives its NIM fewer GPUs (2) than the profiles of NIMCache c run on (tensorParallelism)"],
        ),
        (
            _NIM % "storage: {nimCache: {name: c}}, resources: {limits: {nvidia.com/gpu: 4}}"
            + "\n---\n"
            + _CACHE % _PARALLEL % 4,
            [],
        ),
        (_POOL % ("a", "e") + "\n---\n" + _POOL % ("b", "e"), [_PICKER, _PICKER]),
        (_POOL % ("a", "e") + "\n---\n" + _POOL % ("b", "f"), []),
    ],
)
def test_more_objects_that_their_platforms_cannot_use(text: str, found: list[str]) -> None:
    assert first_words(text) == found


def _of_pods(image: str, container: str, spec: str = "") -> list[str]:
    pod = f"{{{spec}containers: [{{image: '{image}', {container}}}]}}"
    text = f"{{apiVersion: apps/v1, kind: Deployment, spec: {{template: {{spec: {pod}}}}}}}"
    value = objects_of(text)[0]
    specs = value_forms.pod_specs(value)
    found = [
        *refused_values.wrong_pods(value, specs),
        *started_programs.needs_of_programs(("apps", "Deployment"), value, specs),
    ]
    return [each.text.partition(",")[0] for each in found]


_ROUTER = "args: [--service-discovery, --selector, a=b]"
_DISCOVERS = "finds its servers by --service-discovery with the ServiceAccount called default"
_ONCE = "ends its model server at the first liveness probe without an answer in time"
_ON_CPUS = "starts a release of llama.cpp that keeps all layers on CPUs without --n-gpu-layers"
_LLAMA = "ghcr.io/ggml-org/llama.cpp:server-cuda"


@pytest.mark.parametrize(
    ("image", "container", "spec", "found"),
    [
        ("lmsysorg/sgl-model-gateway:v0.3.2", _ROUTER, "", [_DISCOVERS]),
        ("lmsysorg/sgl-model-gateway:v0.3.2", _ROUTER, "serviceAccountName: router, ", []),
        ("lmcache/lmstack-router:1", "args: [--service-discovery, static, --static-backends, a]", "", []),
        ("example.com/web:1", _ROUTER, "", []),
        ("vllm/vllm-openai:v0.11.0", "args: [--model=a/b], livenessProbe: {failureThreshold: 1}", "", [_ONCE]),
        ("vllm/vllm-openai:v0.11.0", "args: [--model=a/b], livenessProbe: {failureThreshold: 3}", "", []),
        (f"{_LLAMA}-b4719", "args: [-m, /models/a.gguf], volumeMounts: [{mountPath: /models}]", "", [_ON_CPUS]),
        (f"{_LLAMA}-b4719", "args: [-m, /models/a.gguf, -ngl, '99'], volumeMounts: [{mountPath: /models}]", "", []),
        (f"{_LLAMA}-b6710", "args: [-m, /models/a.gguf], volumeMounts: [{mountPath: /models}]", "", []),
    ],
)
def test_pods_of_routers_and_servers(image: str, container: str, spec: str, found: list[str]) -> None:
    assert _of_pods(image, container, spec) == found


def test_two_applications_of_one_route_are_found() -> None:
    served = "]}, {name: b, deployments: [{num_replicas: 1, ray_actor_options: {num_gpus: 1}}"

    assert _idle(served, "replicas: 1") == [
        "has two applications with the route_prefix / in serveConfigV2, and Ray Serve refuses that"
    ]
    assert _idle(f"]}}, {{route_prefix: /b{served[3:]}", "replicas: 1") == []


_STAGES = "prefill: {replicas: 1, template: {containers: [{name: main%s}]}}"
_ADDED = ", env: [{name: VLLM_ADDITIONAL_ARGS, value: '--kv-transfer-config x'}]"
_QUERY = """
{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: q, namespace: n}, spec: {scaleTargetRef: {name: a},
  triggers: [{type: prometheus%s, metadata: {threshold: '5', serverAddress: 'http://p.m:9090', query: '%s'}}]}}
"""
_SERVES = """
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s, namespace: n}, spec: {template: {spec:
  {containers: [{image: '%s', %s}]}}}}
"""
_KEYED = "env: [{name: VLLM_API_KEY, value: x}]"
_MINE = """
---
{apiVersion: v1, kind: Namespace, metadata: {name: n, labels: {%s: a}}}
"""
_SGLANG = "command: [python3, -m, sglang.launch_server%s]"
_AVERAGE = "scales by avg over pods with the metricType AverageValue"
_NAMED_PORT = (
    "{apiVersion: serving.knative.dev/v1, kind: Service, spec: {template: {spec: {containers: [{ports: [%s]}]}}}}"
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (_LLM % ("hf://c/b", _STAGES % ""), ["has prefill without --kv-transfer-config"]),
        (_LLM % ("hf://c/b", _STAGES % _ADDED), []),
        (_LLM % ("hf://c/b", f"baseRefs: [{{name: mine}}], {_STAGES % ''}"), []),
        (_QUERY % ("", "avg(DCGM_FI_DEV_GPU_UTIL)"), [_AVERAGE]),
        (_QUERY % ("", "avg by (namespace) (vllm:num_requests_waiting)"), [_AVERAGE]),
        (_QUERY % (", metricType: AverageValue", "avg(vllm:kv_cache_usage_perc)"), [_AVERAGE]),
        (_QUERY % (", metricType: Value", "avg(DCGM_FI_DEV_GPU_UTIL)"), []),
        (_QUERY % ("", "sum(vllm:num_requests_waiting)"), []),
        (_QUERY % ("", "sum(avg_over_time(vllm:num_requests_waiting[1m]))"), []),
        (
            _QUERY % ("", "sum(sglang:num_queue_reqs)") + _SERVES % ("a", "lmsysorg/sglang:v0.5.3", _SGLANG % ""),
            ["starts SGLang without --enable-metrics"],
        ),
        (
            _QUERY % ("", "sum(sglang:num_queue_reqs)")
            + _SERVES % ("a", "lmsysorg/sglang:v0.5.3", _SGLANG % ", --enable-metrics"),
            [],
        ),
        (_QUERY % ("", "sum(a)") + _SERVES % ("a", "lmsysorg/sglang:v0.5.3", _SGLANG % ""), []),
        (
            _QUERY % ("", "sum(llamacpp:requests_deferred)") + _SERVES % ("a", _LLAMA, "args: [-m, a]"),
            ["starts llama.cpp without --metrics"],
        ),
        (_QUERY % ("", "sum(llamacpp:requests_deferred)") + _SERVES % ("a", _LLAMA, "args: [-m, a, --metrics]"), []),
        (
            _QUERY % ("", "sum(vllm:num_requests_waiting)")
            + _SERVES % ("a", "vllm/vllm-openai:v0.11.0", "args: [--disable-log-stats]"),
            ["starts vLLM with --disable-log-stats"],
        ),
        (
            _SERVES % ("r", "lmcache/lmstack-router:1", "args: []") + _SERVES % ("a", "vllm/vllm-openai:v1", _KEYED),
            ["is lmstack-router without VLLM_API_KEY"],
        ),
        (_SERVES % ("r", "lmcache/lmstack-router:1", _KEYED) + _SERVES % ("a", "vllm/vllm-openai:v1", _KEYED), []),
        (
            _SERVES % ("r", "lmcache/lmstack-router:1", "args: []")
            + _SERVES % ("a", "vllm/vllm-openai:v1", "args: []"),
            [],
        ),
        (
            _SERVED % ("", "", "gs://a/b", "") + _MINE % "control-plane",
            ["is in a namespace with the label control-plane (Namespace n)"],
        ),
        (_SERVED % ("", "", "gs://a/b", "") + _MINE % "team", []),
        (_NAMED_PORT % "{containerPort: 8000, name: http}", ["names a port http"]),
        (_NAMED_PORT % "{containerPort: 8000, name: http1}", []),
        (_NAMED_PORT % "{containerPort: 8000}", []),
    ],
)
def test_stages_queries_and_metrics_of_servers(text: str, found: list[str]) -> None:
    values = objects_of(text)
    pods = [each for value in values for each in refused_values.wrong_pods(value, value_forms.pod_specs(value))]

    assert [*first_words(text), *(each.text.partition(",")[0] for each in pods)] == found


def test_a_server_tells_others_where_its_cache_is() -> None:
    transfer = '--kv-transfer-config, \'{"kv_connector":"NixlConnector","kv_role":"%s"}\''
    told = "env: [{name: VLLM_NIXL_SIDE_CHANNEL_HOST, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]"

    assert _of_pods("vllm/vllm-openai:v0.11.0", f"args: [--model=a/b, {transfer % 'kv_both'}]") == [
        "passes its cache on by NixlConnector without VLLM_NIXL_SIDE_CHANNEL_HOST"
    ]
    assert _of_pods("vllm/vllm-openai:v0.11.0", f"{told}, args: [--model=a/b, {transfer % 'kv_both'}]") == []
    assert _of_pods("vllm/vllm-openai:v0.11.0", f"args: [--model=a/b, {transfer % 'kv_consumer'}]") == []
