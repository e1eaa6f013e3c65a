"""Pods need things of their cluster that known nodes, Pods and configurations do not give."""

from typing import Any

import pytest
import yaml

from unit.workloads.normalised import workload
from usher.cluster.facts.store import Store
from usher.kinds.reading import chosen_boards, inner_names, value_forms
from usher.kinds.reading.values import OF_FACTS, Objects
from usher.workloads import model_servers

_Json = dict[str, Any]
_GPU = "nvidia.com/gpu: '8'"


def _texts(given: str, facts: str = "", others: str = "") -> list[str]:
    """The findings about an object beside others of its file and the facts of a cluster."""
    value: _Json = yaml.safe_load(given)
    beside = [*filter(None, yaml.safe_load_all(others))]
    objects, store = Objects([*beside, value], namespace="team"), Store.of(filter(None, yaml.safe_load_all(facts)))
    objects.once(OF_FACTS, lambda: store.manifests)
    key = str(value["apiVersion"]).rpartition("/")[0], str(value["kind"])
    specs = value_forms.pod_specs(value)
    found = list(inner_names.names_of_nothing(value, key, specs, inner_names.Files("team", objects, objects, None)))
    if specs or key[0].startswith("serving."):
        made = workload(value, namespace="team", objects=objects)
        found += chosen_boards.beside_others(value, key, objects, made, specs)
        found += model_servers.needs_of_cluster(made, value, specs, (objects, objects))
    return [each.text for each in found]


def _node(name: str, version: str = "v1.33.1", labels: str = "", amounts: str = _GPU) -> str:
    status = f"{{allocatable: {{{amounts}}}, nodeInfo: {{kubeletVersion: {version}}}}}"
    return f"{{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: {{{labels}}}}}, status: {status}}}"


def _pod(container: str = "", spec: str = "", name: str = "p") -> str:
    containers = f"containers: [{{name: c{container}}}]"
    return f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: team}}, spec: {{{containers}{spec}}}}}"


_OLD, _NEW = _node("old"), _node("new", "v1.36.0")


@pytest.mark.parametrize(
    ("spec", "facts", "found"),
    [
        (", hostUsers: false", f"{_node('old', 'v1.32.9')}\n---\n{_NEW}", "sets hostUsers to false"),
        (", hostUsers: true", f"{_node('old', 'v1.32.9')}\n---\n{_NEW}", ""),
        (", hostUsers: false", f"{_OLD}\n---\n{_NEW}", ""),
        (", volumes: [{name: v, image: {reference: a/b}}]", f"{_OLD}\n---\n{_NEW}", "mounts an image as a volume"),
        (", volumes: [{name: v, image: {reference: a/b}}]", _OLD, ""),
        (", resourceClaims: [{name: g, resourceClaimName: g}]", f"{_OLD}\n---\n{_NEW}", "claims devices"),
        (", nodeSelector: {new: 'true'}, resourceClaims: [{name: g}]", f"{_OLD}\n---\n{_NEW}", ""),
    ],
)
def test_a_field_needs_a_kubelet_that_knows_it(spec: str, facts: str, found: str) -> None:
    texts = _texts(_pod(spec=spec), facts)

    assert len(texts) == bool(found)
    assert all(each.startswith(found) and "node old" in each for each in texts)


def test_the_kubelet_of_the_control_plane_runs_no_pods_of_users() -> None:
    control = _node("control", "v1.30.1", "node-role.kubernetes.io/control-plane: ''")

    assert _texts(_pod(spec=", hostUsers: false"), f"{control}\n---\n{_NEW}") == []


_CLAIM = """
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: g, namespace: team}, spec: {devices: {config: [
 {opaque: {driver: gpu.nvidia.com, parameters: {sharing: {strategy: %s}}}}]}}}
"""


@pytest.mark.parametrize(
    ("strategy", "users", "found"),
    [
        ("MPS", (1000, 2000), 1),
        ("MPS", (1000, 1000), 0),
        ("TimeSlicing", (1000, 2000), 0),
        ("MPS, mpsConfig: {multiUserMode: true}", (1000, 2000), 0),
    ],
)
def test_one_user_at_a_time_shares_by_mps(strategy: str, users: tuple[int, int], found: int) -> None:
    use = ", resources: {claims: [{name: g}]}"
    rest = ", resourceClaims: [{name: g, resourceClaimName: g}], securityContext: {runAsUser: %d}"
    first, second = _pod(use, rest % users[0], "one"), _pod(use, rest % users[1], "two")

    assert len(_texts(second, others=f"{_CLAIM % strategy}\n---\n{first}")) == found


_NEURON = "aws.amazon.com/neuron"
_EXTENDED = "urlPrefix: http://k8s-neuron-scheduler:32700\n  profiles:\n  - schedulerName: own"


@pytest.mark.parametrize(
    ("asked", "scheduler", "found"), [("4", "", 1), ("1", "", 0), ("12", "", 0), ("4", ", schedulerName: own", 0)]
)
def test_several_devices_of_neuron_have_to_be_neighbours(asked: str, scheduler: str, found: int) -> None:
    config = yaml.safe_dump(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"config.yaml": _EXTENDED}}
    )
    node = _node("n", amounts=f"{_NEURON}: '12'")
    pod = _pod(f", resources: {{limits: {{{_NEURON}: '{asked}'}}}}", scheduler)

    assert len(_texts(pod, f"{node}\n---\n{config}")) == found
    assert len(_texts(pod, node)) == found


_TGI = "us-docker.pkg.dev/deeplearning-platform-release/gcr.io/huggingface-text-generation-inference-cu124.3-0.py311"


@pytest.mark.parametrize(
    ("more", "disk", "found"),
    [
        ("", "47Gi", 1),
        ("", "400Gi", 0),
        (", volumeMounts: [{name: v, mountPath: /tmp}]", "47Gi", 0),
        (", env: [{name: MODEL_ID, value: a/b-70b}, {name: HF_HOME, value: /data}]", "47Gi", 0),
    ],
)
def test_weights_have_room_among_the_files_of_a_node(more: str, disk: str, found: int) -> None:
    env = "" if "env:" in more else ", env: [{name: MODEL_ID, value: a/b-70b}]"
    pod = _pod(f", image: {_TGI}{env}{more}, resources: {{limits: {{nvidia.com/gpu: '2'}}}}")

    texts = _texts(pod, _node("n", amounts=f"{_GPU}, ephemeral-storage: {disk}"))

    assert len([each for each in texts if each.startswith("downloads")]) == found


def _setting(name: str, key: str, text: str) -> str:
    return yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {key: text}})


def _service(uri: str, annotations: str = "") -> str:
    metadata = f"{{name: s, namespace: team, annotations: {{{annotations}}}}}"
    asks = "limits: {nvidia.com/gpu: '4'}"
    spec = f"{{predictor: {{model: {{modelFormat: {{name: v}}, storageUri: '{uri}', resources: {{{asks}}}}}}}}}"
    return f"{{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, metadata: {metadata}, spec: {spec}}}"


@pytest.mark.parametrize(
    ("uri", "limit", "found"),
    [
        ("hf://a/b-72b", "1Gi", 1),
        ("hf://a/b-72b", "32Gi", 0),
        ("hf://a/b-7b", "1Gi", 0),
        ("s3://a/b-72b", "1Gi", 0),
        ("hf://a/b-72b", "lots", 0),
    ],
)
def test_the_storage_initializer_needs_memory(uri: str, limit: str, found: int) -> None:
    facts = _setting("inferenceservice-config", "storageInitializer", f'{{"memoryLimit": "{limit}"}}')
    own = """
    {apiVersion: serving.kserve.io/v1alpha1, kind: ClusterStorageContainer, metadata: {name: own}, spec: {
     container: {resources: {limits: {memory: 64Gi}}}, supportedUriFormats: [{prefix: 'hf://'}]}}
    """

    assert len(_texts(_service(uri), facts)) == found
    assert _texts(_service(uri), f"{facts}\n---\n{own}") == []


_SERVERLESS = _setting("inferenceservice-config", "deploy", '{"defaultDeploymentMode": "Serverless"}')


@pytest.mark.parametrize(
    ("uri", "annotations", "facts", "found"),
    [
        ("s3://a/b-34b", "", f"{_SERVERLESS}\n---\n{_node('cpu', amounts='cpu: 8')}", 1),
        ("s3://a/b-34b", "", f"{_SERVERLESS}\n---\n{_node('gpu')}", 0),
        ("s3://a/b-70b", "", _SERVERLESS, 1),
        ("s3://a/b-70b", "", "", 0),
        ("s3://a/b-70b", "serving.kserve.io/deploymentMode: Serverless", "", 1),
        ("s3://a/b-70b", "serving.knative.dev/progress-deadline: 30m", _SERVERLESS, 0),
        (
            "s3://a/b-70b",
            "",
            f"{_SERVERLESS}\n---\n{_setting('config-deployment', 'progress-deadline', '20m')}",
            0,
        ),
    ],
)
def test_knative_waits_for_a_node_and_its_model(uri: str, annotations: str, facts: str, found: int) -> None:
    assert len(_texts(_service(uri, annotations), facts)) == found


def _labelled(name: str, port: str, labels: str) -> str:
    container = f"{{name: {name}, ports: [{{containerPort: {port}}}]}}"
    metadata = f"{{name: {name}, namespace: team, labels: {{{labels}}}}}"
    return f"{{apiVersion: v1, kind: Pod, metadata: {metadata}, spec: {{containers: [{container}]}}}}"


_ENGINE = _labelled("engine", "8000", "app: llm, part: engine")
_HOLDER = _labelled("holder", "8080", "app: llm, part: holder")


@pytest.mark.parametrize(
    ("selector", "port", "found"),
    [
        ("app: llm", "8000", 1),
        ("app: llm", "http", 0),
        ("app: llm, part: engine", "8000", 0),
        ("app: llm", "9000", 0),
    ],
)
def test_a_selector_takes_only_pods_that_listen(selector: str, port: str, found: int) -> None:
    spec = f"{{selector: {{{selector}}}, ports: [{{port: 80, targetPort: {port}}}]}}"
    service = f"{{apiVersion: v1, kind: Service, metadata: {{name: llm, namespace: team}}, spec: {spec}}}"

    texts = [each for each in _texts(service, _ENGINE, _HOLDER) if "refused" in each]

    assert len(texts) == found


@pytest.mark.parametrize("damaged", ["null", "[]", "7", "{a: [1]}", "'x'"])
def test_damaged_facts_find_nothing(damaged: str) -> None:
    maps = [f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {damaged}}}" for name in _NAMES]
    node = (
        f"{{apiVersion: v1, kind: Node, metadata: {{name: n, labels: {damaged}}}, status: {damaged}, spec: {damaged}}}"
    )
    others = f"{{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {{name: g}}, spec: {damaged}}}"
    pod = _pod(f", image: {_TGI}, resources: {{limits: {{nvidia.com/gpu: 1}}}}", f", resourceClaims: {damaged}")

    for given in (pod, _service("hf://a/b-72b")):
        _texts(given, "\n---\n".join([*maps, node]), others)


_NAMES = ("inferenceservice-config", "config-deployment", "cilium-config")
