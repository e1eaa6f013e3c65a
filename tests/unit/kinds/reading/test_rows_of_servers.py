"""Rows about model servers: options, images, and objects by which KServe, Knative, Ray and gateways reach them."""

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from usher import paths
from usher.kinds.reading import inference_routes, refused_values, started_programs, value_forms
from usher.kinds.reading.values import Objects


def _of_program(image: str, args: str, **more: object) -> list[str]:
    """The remedies of the findings about the arguments of one container."""
    container = {"name": "c", "image": image, "args": yaml.safe_load(f"[{args}]"), **more}
    value: dict[str, Any] = {"spec": {"template": {"spec": {"containers": [container]}}}}
    found = started_programs.needs_of_programs(("apps", "Deployment"), value, value_forms.pod_specs(value))
    return [each.remedy for each in found if each.topic == "argument"]


def _vllm(args: str, version: str = "v0.11.0") -> list[str]:
    return _of_program(f"vllm/vllm-openai:{version}", f"--model, Qwen/Qwen3-8B, {args}")


def _sglang(args: str, version: str = "v0.5.0") -> list[str]:
    more = {"command": ["python3", "-m", "sglang.launch_server"]}
    return _of_program(f"lmsysorg/sglang:{version}", f"--model-path, a/b, {args}", **more)


_TOOLS = "--enable-auto-tool-choice, --tool-call-parser"
_KV = '--kv-transfer-config, \'{"kv_connector": "NixlConnector"%s}\''
_SPECULATIVE = '--speculative-config, \'{"method": "ngram"%s}\''


@pytest.mark.parametrize(
    ("args", "version", "remedy"),
    [
        (f"{_TOOLS}, qwen", "v0.11.0", "use hermes"),
        (f"{_TOOLS}=llama3", "latest", "use llama3_json"),
        (f"{_TOOLS}, hermess", "latest", "use hermes"),
        ("--reasoning-parser, DeepSeek-R1", "v0.11.0", "use deepseek_r1"),
        ("--kv-cache-dtype, int8", "v0.11.0", "use fp8"),
        ("--quantization, nf4", "latest", "use bitsandbytes"),
        ("-q, bnb", "v0.9.0", "use bitsandbytes"),
        ("--enable-lora, --max-lora-rank, '48'", "v0.11.0", "use one of 1, 8, 16, 32, 64, 128, 256, 320, ..."),
        ("--tool-call-parser, hermes", "v0.11.0", "add --enable-auto-tool-choice"),
        ("--host=127.0.0.1", "v0.11.0", "write --host 0.0.0.0"),
        (_KV % "", "v0.11.0", 'add "kv_role", which is kv_producer, kv_consumer or kv_both'),
        (_KV % ', "kv_role": "both"', "v0.11.0", "write kv_producer, kv_consumer or kv_both"),
        (_SPECULATIVE % "", "v0.11.0", 'add "num_speculative_tokens" to --speculative-config, for example 3'),
        ("--enable-eplb", "v0.11.0", "add --enable-expert-parallel"),
        (
            "--enable-lora, --max-loras, '8', --max-cpu-loras, '4'",
            "v0.11.0",
            "raise --max-cpu-loras to at least --max-loras",
        ),
    ],
)
def test_an_option_of_vllm_with_a_value_that_it_refuses_is_found(args: str, version: str, remedy: str) -> None:
    assert _vllm(args, version) == [remedy]


@pytest.mark.parametrize(
    ("args", "version"),
    [
        (f"{_TOOLS}, hermes", "v0.11.0"),
        (f"{_TOOLS}, parser_of_tomorrow", "latest"),
        (f"{_TOOLS}, mine, --tool-parser-plugin, /plugins/mine.py", "v0.11.0"),
        ("--reasoning-parser=qwen3, --kv-cache-dtype=fp8, --quantization=fp8, --load-format=auto", "v0.11.0"),
        ("--enable-lora, --max-lora-rank=64, --max-loras=4, --max-cpu-loras=4", "v0.11.0"),
        (_KV % ', "kv_role": "kv_consumer"', "v0.11.0"),
        (_SPECULATIVE % ', "num_speculative_tokens": 3', "v0.11.0"),
        ("--enable-eplb, --enable-expert-parallel, --host=0.0.0.0", "v0.11.0"),
    ],
)
def test_values_that_vllm_takes_and_those_of_newer_versions_pass(args: str, version: str) -> None:
    assert _vllm(args, version) == []


def test_a_server_beside_a_proxy_may_listen_on_its_loopback() -> None:
    server = {"name": "c", "image": "vllm/vllm-openai:v0.11.0", "args": ["--model=a/b", "--host=127.0.0.1"]}
    for beside in ({"containers": [server, {"name": "proxy", "image": "envoy"}]}, _with_sidecar(server)):
        value: dict[str, Any] = {"spec": {"template": {"spec": beside}}}
        specs = value_forms.pod_specs(value)
        assert list(started_programs.needs_of_programs(("apps", "Deployment"), value, specs)) == []


def _with_sidecar(server: Mapping[str, object]) -> dict[str, Any]:
    return {"containers": [server], "initContainers": [{"name": "proxy", "restartPolicy": "Always"}]}


@pytest.mark.parametrize(
    ("args", "remedies"),
    [
        ("--mem-fraction-static, '88'", ["write for example 0.85"]),
        ("--mem-fraction-static=0.88, --tp=8", []),
        (
            "--tp, '8', --dp, '3', --enable-dp-attention",
            ["set --dp-size to a divisor of --tp-size, often the same number"],
        ),
        ("--tp-size=8, --dp-size=8, --enable-dp-attention", []),
        ("--tp=8, --nnodes=3", ["set --tp-size to a multiple of --nnodes"]),
        ("--tp=8, --nnodes=2", []),
        ("--tool-call-parser, llama3_json", ["use llama3"]),
        ("--tool-call-parser, qwen25", []),
    ],
)
def test_sizes_and_parsers_of_sglang_are_compared(args: str, remedies: list[str]) -> None:
    assert _sglang(args) == remedies


_OF_VLLM = "vllm/vllm-openai:v0.11.0"
_OF_TGI = "ghcr.io/huggingface/text-generation-inference:3.0.1"


@pytest.mark.parametrize(
    ("image", "args", "remedies"),
    [
        (
            "vllm/vllm-openai:v0.11.0",
            "--model, bartowski/Qwen2.5-7B-Instruct-GGUF",
            ["name the file, or the repository with safetensors"],
        ),
        (_OF_VLLM, "--model, mlx-community/Qwen3-8B-4bit", ["name the repository of the maker of the model"]),
        (_OF_VLLM, "--model, mlx-community/Qwen3-8B-bf16", []),
        ("vllm/vllm-openai:v0.14.0", "--model, 'unsloth/Qwen3-8B-GGUF:Q4_K_M'", []),
        (_OF_TGI, "--model-id, a/b-GGUF", ["name the repository with safetensors"]),
        (_OF_TGI, "--model-id, a/b, --quantize, bnb", ["use bitsandbytes"]),
    ],
)  # fmt: skip
def test_a_repository_in_the_form_of_another_server_is_found(image: str, args: str, remedies: list[str]) -> None:
    assert _of_program(image, args) == remedies


_TEI = "ghcr.io/huggingface/text-embeddings-inference:89-1.8"
_TRT = "nvcr.io/nvidia/tensorrt-llm/release:1.0.0"
_LITELLM = "ghcr.io/berriai/litellm:main-stable"
_NIXL = '--kv-transfer-config={"kv_connector":"NixlConnector","kv_role":"kv_consumer"}'
_FILE = "mount a ConfigMap or a volume with it there"
_OFFLINE = "mount a volume with the cache of models, or remove the variable that ends in OFFLINE"
_KV_LIBRARY = "use a newer image, or lmcache/vllm-openai"


@pytest.mark.parametrize(
    ("image", "args", "env", "mount", "remedies"),
    [
        (_OF_VLLM, ["--model=a/b", "--chat-template", "/t/a.jinja"], {}, "", [_FILE]),
        (_OF_VLLM, ["--model=a/b", "--chat-template", "/t/a.jinja"], {}, "/t", []),
        (_OF_VLLM, ["--model=a/b", "--chat-template=/t/a.jinja"], {}, "/t/a.jinja", []),
        (_OF_VLLM, ["--model=a/b", "--chat-template=/t/a.jinja"], {}, "/templates", [_FILE]),
        (_OF_VLLM, ["--model=a/b", "--chat-template=/vllm-workspace/examples/a.jinja"], {}, "", []),
        ("lab/vllm-openai:v0.11.0", ["--model=a/b", "--chat-template=/t/a.jinja"], {}, "", []),
        (_TRT, ["trtllm-serve", "a/b", "--extra_llm_api_options", "/c/x.yml"], {}, "", [_FILE]),
        (_LITELLM, ["--config", "/app/config.yaml"], {}, "", [_FILE]),
        (_LITELLM, ["--config", "/app/config.yaml"], {}, "/app/config.yaml", []),
        (_OF_VLLM, ["--model=a/b"], {"LMCACHE_CONFIG_FILE": "/c/l.yaml"}, "", [_FILE]),
        (_OF_VLLM, ["--model=a/b"], {"LMCACHE_CONFIG_FILE": "/c/l.yaml"}, "/c", []),
        (_OF_VLLM, ["--model=a/b"], {"HUGGINGFACE_TOKEN": "x"}, "", ["call the variable HF_TOKEN"]),
        (_OF_VLLM, ["--model=a/b"], {"HUGGINGFACE_TOKEN": "x", "HF_TOKEN": "x"}, "", []),
        (
            _TEI,
            ["--model-id=google/embeddinggemma-300m"],
            {},
            "",
            ["accept the licence, and set HF_TOKEN from a Secret"],
        ),
        (_TEI, ["--model-id=google/embeddinggemma-300m"], {"HF_TOKEN": "x"}, "", []),
        (_TEI, ["--model-id=BAAI/bge-m3"], {"HF_HUB_OFFLINE": "1"}, "", [_OFFLINE]),
        (_OF_TGI, [], {"MODEL_ID": "Qwen/Qwen3-8B", "HF_HUB_OFFLINE": "1"}, "", [_OFFLINE]),
        (_OF_TGI, [], {"MODEL_ID": "Qwen/Qwen3-8B", "HF_HUB_OFFLINE": "1"}, "/data", []),
        (_OF_TGI, [], {"MODEL_ID": "/data/m", "HF_HUB_OFFLINE": "1"}, "/data", []),
        ("vllm/vllm-openai:v0.9.2", ["--model=a/b", _NIXL], {}, "", [_KV_LIBRARY]),
        ("vllm/vllm-openai:v0.20.1", ["--model=a/b", _NIXL], {}, "", []),
        (_OF_VLLM, ["--model=a/b"], {"VLLM_USE_V1": "0"}, "", ["remove it, or use vLLM 0.10.2"]),
        ("vllm/vllm-openai:v0.10.2", ["--model=a/b"], {"VLLM_USE_V1": "0"}, "", []),
        (_OF_VLLM, ["--model=a/b"], {"VLLM_ATTENTION_BACKEND": "FLASH_ATTENTION"}, "", ["use FLASH_ATTN"]),
        (_OF_VLLM, ["--model=a/b"], {"VLLM_ATTENTION_BACKEND": "FLASHINFER"}, "", []),
        (_OF_TGI, ["--max-input-length=9"], {"MAX_INPUT_TOKENS": "9"}, "", ["keep --max-input-tokens"]),
        (
            _OF_TGI,
            [],
            {"MAX_INPUT_TOKENS": "99", "MAX_TOTAL_TOKENS": "99"},
            "",
            ["set --max-total-tokens above the input tokens"],
        ),
        (
            _OF_TGI,
            ["--max-total-tokens=99"],
            {"MAX_BATCH_TOTAL_TOKENS": "50"},
            "",
            ["raise --max-batch-total-tokens, or leave it out"],
        ),
        (_OF_TGI, [], {"QUANTIZE": "exl2", "NUM_SHARD": "2"}, "", ["use one GPU, or another quantization"]),
        (_OF_TGI, [], {"QUANTIZE": "exl2", "NUM_SHARD": "1"}, "", []),
        (
            _OF_VLLM,
            ["--model=hf://a/b"],
            {},
            "",
            ["write owner/name for a model of the hub, or the folder of a volume"],
        ),
        (_OF_VLLM, ["--model=s3://a/b", "--load-format=runai_streamer"], {}, "", []),
        (
            _OF_VLLM,
            ["--model=s3://a/b", "--load-format", "safetensors"],
            {},
            "",
            ["write --load-format runai_streamer"],
        ),
        (
            _OF_VLLM,
            ["--model=google/gemma-3-12b-it", "--dtype=half"],
            {"HF_TOKEN": "x"},
            "",
            ["set --dtype to bfloat16, which needs GPUs from Ampere on, or to float"],
        ),
        (_OF_VLLM, ["--model=google/gemma-3-12b-it", "--dtype=bfloat16"], {"HF_TOKEN": "x"}, "", []),
        (_OF_VLLM, ["--model=a/b", "--served-model-name=a,b"], {}, "", ["write each name as an argument of its own"]),
        (_OF_VLLM, ["--model=a/b", "--served-model-name", "a", "b"], {}, "", []),
        (
            "ollama/ollama:0.12.3",
            [],
            {"OLLAMA_NUM_GPU": "1"},
            "",
            ["use OLLAMA_CONTEXT_LENGTH for the context, and options of the request or of the Modelfile for others"],
        ),
        (
            "ghcr.io/ggml-org/llama.cpp:server-cuda",
            [],
            {"LLAMA_ARG_NGL": "99"},
            "",
            ["use LLAMA_ARG_N_GPU_LAYERS or LLAMA_ARG_CTX_SIZE"],
        ),
        (
            _OF_VLLM,
            ["--model=a/b", "--enable-lora", "--lora-modules", "x=a/c", "sql=/adapters/sql"],
            {},
            "",
            ["mount a volume with the adapter there"],
        ),
        (_OF_VLLM, ["--model=a/b", "--enable-lora", "--lora-modules", "sql=/adapters/sql"], {}, "/adapters", []),
    ],
)
def test_files_tokens_and_variables_of_servers(
    image: str, args: list[str], env: dict[str, str], mount: str, remedies: list[str]
) -> None:
    more = {
        "env": [{"name": name, "value": value} for name, value in env.items()],
        "volumeMounts": [{"name": "m", "mountPath": mount}] if mount else [],
    }
    assert _of_program(image, ", ".join(f"'{each}'" for each in args), **more) == remedies


def _of_pod(text: str, kind: str = "Deployment") -> list[str]:
    container: dict[str, Any] = {"name": "c", **yaml.safe_load(f"{{{text}}}")}
    key = {"Deployment": "apps/v1", "Pod": "v1"}[kind]
    template: dict[str, Any] = {"spec": {"containers": [container]}}
    value: dict[str, Any] = {
        "apiVersion": key,
        "kind": kind,
        **(template if kind == "Pod" else {"spec": {"template": template}}),
    }
    group = "apps" if kind == "Deployment" else ""
    found = [
        *refused_values.wrong_pods(value, value_forms.pod_specs(value)),
        *refused_values.wrong_values(value, (group, kind)),
    ]
    return [each.remedy for each in found]


_READ_ONLY = "image: 'vllm/vllm-openai:v0.11.0', securityContext: {readOnlyRootFilesystem: true}"
_KEYED = "image: 'vllm/vllm-openai:v0.11.0', args: [--api-key, x], readinessProbe: {httpGet: {port: 8000, %s}}"
_TLS = "image: x, args: [--ssl-certfile, /c/tls.crt], readinessProbe: {httpGet: {port: 8000%s}}"
_WORKER = "command: [sh, -c, 'ray start --address=$HEAD:6379 --block'], readinessProbe: {%s}"


@pytest.mark.parametrize(
    ("text", "remedies"),
    [
        ("image: 'vllm/vllm-openai:0.11.0'", ["write v before the number of the tag"]),
        ("image: 'vllm/vllm-openai:v0.11.0'", []),
        ("image: 'registry.corp/vllm/vllm-openai:0.11.0'", []),
        ("image: 'ollama/ollama:v0.9.0'", ["remove the v"]),
        ("image: 'nvcr.io/nvidia/tritonserver:24.05'", ["write for example nvcr.io/nvidia/tritonserver:24.05-py3"]),
        ("image: 'nvcr.io/nvidia/tritonserver:24.05-py3'", []),
        ("image: x, command: [--model, a/b]", ["write them as args"]),
        ("image: x, command: [serve, --model, a/b]", []),
        (_READ_ONLY, ["mount an emptyDir at /tmp, and others where it keeps caches"]),
        (f"{_READ_ONLY}, volumeMounts: [{{name: t, mountPath: /tmp}}]", []),
        (f"{_READ_ONLY}, env: [{{name: TMPDIR, value: /scratch}}]", []),
        (_KEYED % "path: /v1/models", ["ask /health, which needs no key"]),
        (_KEYED % "path: /health", []),
        (_KEYED % "path: /v1/models, httpHeaders: [{name: Authorization, value: Bearer x}]", []),
        ("command: [sh, -c, 'ray start --head --port=6379']", ["add --block to ray start"]),
        ("command: [sh, -c, 'ray start --head --port=6379 --block']", []),
        ("command: [sh, -c, 'ray start --head && vllm serve a/b -tp 16']", []),
        (_WORKER % "httpGet: {path: /health, port: 8000}", ["remove the probe, or let it run ray status"]),
        (_WORKER % "exec: {command: [ray, status]}", []),
        (
            "command: [sh, -c, 'ray start --head --port=6379 --block && vllm serve a/b -tp 16']",
            ["remove --block on the node that runs the server"],
        ),
        (
            "command: [sh, -c, 'if x; then ray start --address=h --block; else ray start --head; vllm serve a; fi']",
            [],
        ),
        (_TLS % "", ["set scheme: HTTPS in httpGet"]),
        (_TLS % ", scheme: HTTPS", []),
        (_WORKER % "httpGet: {path: /api/local_raylet_healthz, port: 52365}", []),
    ],
)  # fmt: skip
def test_a_pod_that_its_server_cannot_use_is_found(text: str, remedies: list[str]) -> None:
    assert _of_pod(text) == remedies


def _of_object(version: str, text: str) -> list[str]:
    group, _, kind = version.rpartition(" ")
    value = {"apiVersion": group, "kind": kind, **yaml.safe_load(text)}
    return [each.remedy for each in refused_values.wrong_values(value, (group.rpartition("/")[0], kind))]


_KNATIVE = "serving.knative.dev/v1 Service"
_LLM = "serving.kserve.io/v1alpha2 LLMInferenceService"
_SERVED = "serving.kserve.io/v1beta1 InferenceService"
_STEPS = "serving.kserve.io/v1alpha1 InferenceGraph"
_KAITO = "kaito.sh/v1beta1 Workspace"
_BOOSTER = "workload.serving.volcano.sh/v1alpha1 ModelBooster"
_SERVING = "workload.serving.volcano.sh/v1alpha1 ModelServing"
_BACKEND = "{spec: {backend: {type: %s, modelURI: '%s', %sworkers: [{type: %s}]}}}"
_AI_ROUTE = "aigateway.envoyproxy.io/v1alpha1 AIGatewayRoute"
_MODE = "{metadata: {name: a, annotations: {serving.kserve.io/deploymentMode: %s}}, spec: {}}"
_URI = "{metadata: {name: %s}, spec: {predictor: {model: {modelFormat: {name: vLLM}, storageUri: '%s'}%s}}}"
_TIMED = "{spec: {rules: [{%sbackendRefs: [{name: b}]}]}}"
_ANNOTATED = "{spec: {template: {metadata: {annotations: {%s}}}}}"
_GRAPH = "{spec: {services: {F: {componentType: frontend, dynamoNamespace: one}, W: {dynamoNamespace: %s}}}}"
_LOGIN = '{metadata: {name: n}, stringData: {.dockerconfigjson: \'{"auths": {"nvcr.io": {"username": "%s"}}}\'}}'
_NAMED = (
    "{spec: {template: {metadata: {labels: {model.aibrix.ai/name: qwen}}, "
    "spec: {containers: [{args: [--served-model-name=%s]}]}}}}"
)


def _ray(accelerator: str, selector: str) -> str:
    config = {"applications": [{"args": {"llm_configs": [{"accelerator_type": accelerator}]}}]}
    group = {"template": {"spec": {"containers": [{}], **yaml.safe_load(selector)}}}
    spec = {"serveConfigV2": yaml.safe_dump(config), "rayClusterConfig": {"workerGroupSpecs": [group]}}
    return yaml.safe_dump({"spec": spec})


@pytest.mark.parametrize(
    ("version", "text", "remedies"),
    [
        (
            _KNATIVE,
            "{metadata: {annotations: {autoscaling.knative.dev/min-scale: '1'}}}",
            ["write it in spec.template.metadata.annotations"],
        ),
        (
            _KNATIVE,
            _ANNOTATED % "autoscaling.knative.dev/initial-scale: '0'",
            ["write at least 1, or allow it in config-autoscaler"],
        ),
        (_KNATIVE, _ANNOTATED % "autoscaling.knative.dev/initial-scale: '2'", []),
        (
            _KNATIVE,
            _ANNOTATED % "autoscaling.knative.dev/metric: cpu",
            ["add autoscaling.knative.dev/class: hpa.autoscaling.knative.dev, or scale by concurrency or rps"],
        ),
        (_KNATIVE, _ANNOTATED % "autoscaling.knative.dev/metric: concurrency", []),
        (_LLM, "{spec: {parallelism: {data: 8}}}", ["set dataLocal to the ranks of one pod"]),
        (
            _LLM,
            "{spec: {baseRefs: [{name: a}], prefill: {parallelism: {dataLocal: 8}}}}",
            ["set data to the ranks of all pods"],
        ),
        (_LLM, "{spec: {parallelism: {data: 8, dataLocal: 4, pipeline: 2}}}", ["keep pipeline, or data and dataLocal"]),
        (_LLM, "{spec: {parallelism: {data: 8, dataLocal: 4}, worker: {}}}", []),
        (_LLM, "{spec: {worker: {}}}", ["set parallelism.pipeline, or parallelism.data and dataLocal"]),
        (_LLM, "{spec: {replicas: 1, scaling: {maxReplicas: 2, keda: {}}}}", ["remove replicas"]),
        (_LLM, "{spec: {scaling: {minReplicas: 3, maxReplicas: 2, keda: {}}}}", ["raise maxReplicas"]),
        (_LLM, "{spec: {scaling: {maxReplicas: 2}}}", ["add wva or keda"]),
        (
            "nvidia.com/v1alpha1 DynamoGraphDeployment",
            _GRAPH % "two",
            ["write one dynamoNamespace for all services, or leave it out"],
        ),
        ("nvidia.com/v1alpha1 DynamoGraphDeployment", _GRAPH % "one", []),
        ("v1 Secret", _LOGIN % "oauthtoken", ["write $oauthtoken as username, and the API key as password"]),
        ("v1 Secret", _LOGIN % "$oauthtoken", []),
        ("apps/v1 Deployment", _NAMED % "qwen-coder", ["write the same name in both"]),
        ("apps/v1 Deployment", _NAMED % "qwen", []),
        (
            "ray.io/v1 RayService",
            _ray("A10G", "{nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}}"),
            ["write the accelerator_type of these GPUs"],
        ),
        ("ray.io/v1 RayService", _ray("L4", "{nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}}"), []),
        ("ray.io/v1 RayService", _ray("A10G", "{}"), []),
        (_SERVED, _MODE % "Raw", ["write Standard (before 0.16 RawDeployment) or Knative (before 0.16 Serverless)"]),
        (_SERVED, _MODE % "Serverless", []),
        (_SERVED, _URI % ("a", "pvc:///c/m", ""), ["write two slashes before the name, as pvc://name/path"]),
        (_SERVED, _URI % ("a", "pvc://c/m", ""), []),
        (_SERVED, _URI % ("a" * 54, "pvc://c/m", ""), ["use a name of at most 53 letters"]),
        (
            _SERVED,
            _URI % ("a", "s3://c/m", ", workerSpec: {}"),
            [
                "put the model on a claim that all nodes mount, and write pvc://CLAIM/PATH",
                "add the annotation serving.kserve.io/autoscalerClass: none",
            ],
        ),
        (
            _SERVED,
            _URI % ("a, annotations: {serving.kserve.io/autoscalerClass: none}", "pvc://c/m", ", workerSpec: {}"),
            [],
        ),
        (_STEPS, "{spec: {nodes: {first: {steps: []}}}}", ["call the first node root"]),
        (_STEPS, "{spec: {nodes: {root: {steps: []}, b: {}}}}", []),
        (
            _KAITO,
            "{inference: {preset: {name: llama-3.1-8b-instruct}}}",
            ["add presetOptions.modelAccessSecret, a Secret with the key HF_TOKEN"],
        ),
        (
            _KAITO,
            "{inference: {preset: {name: llama-3.1-8b-instruct, presetOptions: {modelAccessSecret: s}}}}",
            [],
        ),
        (_KAITO, "{inference: {preset: {name: phi-4}, template: {}}}", ["keep one of them"]),
        (_KAITO, "{tuning: {}, inference: {preset: {name: phi-4}}}", ["make a workspace for each"]),
        (_KAITO, "{resource: {count: 2}, tuning: {method: qlora}}", ["set count to 1"]),
        (
            _BOOSTER,
            _BACKEND % ("vLLM", "pvc:///c/m", "cacheURI: 'pvc://c', ", "prefill"),
            ["write type: server, or the backend vLLMDisaggregated"],
        ),
        (_BOOSTER, _BACKEND % ("vLLM", "pvc:///c/m", "cacheURI: 'pvc://c', ", "server"), []),
        (
            _BOOSTER,
            _BACKEND % ("vLLMDisaggregated", "pvc:///c/m", "", "decode"),
            ["write cacheURI pvc://CLAIM and modelURI pvc:///CLAIM/PATH"],
        ),
        (
            _SERVING,
            "{spec: {rolloutStrategy: {type: RoleRollingUpdate, rollingUpdateConfiguration: {maxUnavailable: 1}}}}",
            ["set maxUnavailable and partition in the roles"],
        ),
        (
            _SERVING,
            "{spec: {template: {roles: [{name: a, workerReplicas: 1}]}}}",
            ["add workerTemplate, or set workerReplicas to 0"],
        ),
        (_SERVING, "{spec: {template: {roles: [{name: a, workerReplicas: 1, workerTemplate: {spec: {}}}]}}}", []),
        (_AI_ROUTE, _TIMED % "", ["set timeouts.request of the rule to what the longest answer takes"]),
        (_AI_ROUTE, _TIMED % "timeouts: {request: 10m}, ", []),
    ],
)
def test_an_object_that_its_controller_refuses_is_found(version: str, text: str, remedies: list[str]) -> None:
    assert _of_object(version, text) == remedies


def _objects(text: str) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all(text) if each]


def _beside(text: str) -> list[str]:
    """The remedies about the first of some objects beside the others."""
    values = _objects(text)
    first = values[0]
    key = (first["apiVersion"].rpartition("/")[0], first["kind"])
    return [each.remedy for each in refused_values.beside_others(first, key, Objects(values))]


_FORMAT = """
{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, metadata: {name: a}, spec: {predictor: {model:
  {runtime: r, modelFormat: {name: %s}}}}}
---
{apiVersion: serving.kserve.io/v1alpha1, kind: ServingRuntime, metadata: {name: r}, spec: {supportedModelFormats:
  [{name: vLLM}]}}
---
{apiVersion: serving.kserve.io/v1alpha1, kind: ServingRuntime, metadata: {name: other}, spec: {supportedModelFormats:
  [{name: x}]}}
"""
_RUNTIME = """
{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, metadata: {name: a, namespace: n}, spec: {predictor:
  {model: {%s}}}}
---
{apiVersion: serving.kserve.io/v1alpha1, kind: ServingRuntime, metadata: {name: r, namespace: n}, spec:
  {%s, supportedModelFormats: [{name: vLLM, version: '1'%s}]}}
"""
_OF_RUNTIME = "runtime: r, modelFormat: {name: vLLM%s}"
_CACHED = """
{apiVersion: serving.kserve.io/v1alpha1, kind: LocalModelCache, metadata: {name: a}, spec: {modelSize: 20Gi, nodeGroups:
  [g]}}
---
{apiVersion: serving.kserve.io/v1alpha1, kind: LocalModelNodeGroup, metadata: {name: g}, spec: {storageLimit: %s}}
"""
_MODELCAR = """
{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, metadata: {name: a}, spec: {predictor:
  {model: {storageUri: '%s'}}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: inferenceservice-config}, data: {storageInitializer:
  '{"enableModelcar": false}'}}
"""
_ROUTE = """
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: a, namespace: llm}, spec: {parentRefs:
  [{name: g, namespace: %s}]}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: g, namespace: %s}, spec: {listeners: [{%s}]}}
"""
_ACROSS = """
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: a, namespace: front}, spec: {rules:
  [{backendRefs: [{group: inference.networking.k8s.io, kind: InferencePool, name: p, namespace: llm}]}]}}
---
{apiVersion: inference.networking.k8s.io/v1, kind: InferencePool, metadata: {name: p, namespace: llm}}
"""
_GRANT = (
    "--- {apiVersion: gateway.networking.k8s.io/v1beta1, kind: ReferenceGrant, metadata: {name: g, namespace: llm}}"
)
_ISTIO = """
{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: g}, spec: {gatewayClassName: istio}}
---
{apiVersion: inference.networking.k8s.io/v1, kind: InferencePool, metadata: {name: p}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: epp}, spec: {template: {spec: {containers:
  [{args: [--pool-name, p%s]}]}}}}
"""
_RULE = "--- {apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: epp}}"
_PICKER = """
{apiVersion: apps/v1, kind: Deployment, metadata: {name: epp}, spec: {template: {spec: {containers: [{args: [%s]}]}}}}
---
{apiVersion: inference.networking.k8s.io/v1, kind: InferencePool, metadata: {name: p}}
"""
_OPEN = "set allowedRoutes.namespaces.from of a listener to All or Selector, or move the route"


@pytest.mark.parametrize(
    ("text", "remedies"),
    [
        (_FORMAT % "vllm", ["write a format of supportedModelFormats of the runtime, in the same letters"]),
        (_FORMAT % "vLLM", []),
        (_MODELCAR % "oci://quay.io/a/b:1", ["set enableModelcar to true"]),
        (_MODELCAR % "hf://a/b", []),
        (_ROUTE % ("infra", "infra", "name: h"), [_OPEN]),
        (_ROUTE % ("infra", "infra", "allowedRoutes: {namespaces: {from: All}}"), []),
        (_ROUTE % ("llm", "llm", "name: h"), []),
        (_ACROSS, ["add a ReferenceGrant in the namespace of the pool, or move the route"]),
        (_ACROSS + _GRANT, []),
        (
            _ISTIO % "",
            ["add a DestinationRule for the Service of the picker with tls.mode SIMPLE and insecureSkipVerify true"],
        ),
        (_ISTIO % "" + _RULE, []),
        (_ISTIO % ", --secure-serving=false", []),
        (_PICKER % "--pool-name, other", ["write the name of the pool as --pool-name"]),
        (_PICKER % "--pool-name=p", []),
        (_PICKER % "--pool-name=$(POOL)", []),
        (
            _PICKER % "--pool-name=p, --pool-group=inference.networking.x-k8s.io",
            ["write --pool-group inference.networking.k8s.io"],
        ),
        (
            _RUNTIME % (_OF_RUNTIME % "", "disabled: true", ""),
            ["remove disabled from the runtime, or name another one"],
        ),
        (
            _RUNTIME % (_OF_RUNTIME % "" + ", protocolVersion: v1", "protocolVersions: [v2]", ""),
            ["write one of protocolVersions of the runtime"],
        ),
        (_RUNTIME % (_OF_RUNTIME % "" + ", protocolVersion: v2", "protocolVersions: [v2]", ""), []),
        (
            _RUNTIME % (_OF_RUNTIME % ", version: '2'", "a: b", ""),
            ["remove the version, or write one of supportedModelFormats of the runtime"],
        ),
        (_RUNTIME % (_OF_RUNTIME % ", version: '1'", "a: b", ""), []),
        (
            _RUNTIME % ("modelFormat: {name: vLLM}", "a: b", ""),
            ["name the runtime, or set autoSelect to true at the format"],
        ),
        (_RUNTIME % ("modelFormat: {name: vLLM}", "a: b", ", autoSelect: true"), []),
        (_RUNTIME % ("modelFormat: {name: other}", "a: b", ""), []),
        (_CACHED % "10Gi", ["raise storageLimit of the group, or name another group"]),
        (_CACHED % "100Gi", []),
    ],
)
def test_an_object_that_another_one_contradicts_is_found(text: str, remedies: list[str]) -> None:
    assert _beside(text) == remedies


@pytest.mark.parametrize("damaged", [None, 7, "text", [], [None], {"a": None}, {"name": 10**400}])
def test_damaged_values_are_taken(damaged: paths.Json) -> None:
    for text in (_FORMAT % "a", _MODELCAR % "a", _ROUTE % ("a", "b", ""), _ISTIO % "", _PICKER % "x"):
        for index, value in enumerate(values := _objects(text)):
            for broken in ({**value, "spec": damaged}, {**value, "metadata": damaged}):
                others = Objects([*values[:index], broken, *values[index + 1 :]])
                key = (value["apiVersion"].rpartition("/")[0], value["kind"])
                list(refused_values.beside_others(broken, key, others))
                list(inference_routes.endpoints_of_pool(broken, "llm", others))
