"""Objects of kinds that usher does not read: it names those that ask for accelerators, and no others."""

import pytest

import builders
from unit.authorities.knowing import knowing
from unit.workloads.normalised import VOCABULARY
from usher import paths
from usher.cluster.facts.store import Store
from usher.kinds.reading.values import Objects
from usher.workloads.normalise import normalise
from usher.workloads.unread_keys import with_unread_keys
from usher.workloads.unrecognised import kinds_of_maps


def not_judged(value: paths.Object) -> list[tuple[str, str]] | None:
    """Places and reasons of what usher does not judge in an object; None where it has nothing to judge."""
    found = normalise(value, vocabulary=VOCABULARY)
    return None if found is None else [(unknown.path, unknown.reason) for unknown in found.unknowns]


@pytest.mark.parametrize("name", ["gpu", "gpus", "nvidia.com/gpu"])
def test_an_operator_may_name_the_resource_of_its_gpus_itself(name: str) -> None:
    limits: paths.Json = {"limits": {"cpu": "8", name: "4"}}
    graph = builders.custom("example.com/v1", "Graph", {"services": {"decode": {"resources": limits}}})

    assert not_judged(graph) == [
        (
            "/spec/services/decode/resources",
            "unrecognised kind Graph (example.com/v1) asks for accelerators, which is not judged",
        )
    ]


@pytest.mark.parametrize(
    ("api_version", "kind", "spec", "path"),
    [
        ("inference.sagemaker.aws.amazon.com/v1", "JumpStartModel", {"model": {"modelId": "llama"}}, "/spec"),
        ("nvidia.com/v1beta1", "DynamoGraphDeploymentRequest", {"model": "Qwen/Qwen3-0.6B"}, "/spec"),
        ("kubeai.org/v1", "Model", {"resourceProfile": "nvidia-gpu-l4:1"}, "/spec/resourceProfile"),
        ("inference.llmaz.io/v1alpha1", "Playground", {"modelClaim": {"modelName": "a"}}, "/spec/modelClaim"),
        ("run.ai/v2alpha1", "TrainingWorkload", {"gpu": {"value": "0.5"}}, "/spec/gpu"),
    ],
)
def test_a_kind_whose_pods_are_hidden_elsewhere_does_not_pass_unseen(
    api_version: str, kind: str, spec: paths.Object, path: str
) -> None:
    found = not_judged(builders.custom(api_version, kind, spec))

    assert found is not None
    assert [each[0] for each in found] == [path]


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
        ("argoproj.io/v1alpha1", "Application"),
        ("argoproj.io/v1alpha1", "ApplicationSet"),
    ],
)
def test_values_of_a_chart_are_judged_once_it_is_rendered(api_version: str, kind: str) -> None:
    values: paths.Json = {"resources": {"limits": {"nvidia.com/gpu": 1}}}
    reason = (
        f"{kind} ({api_version}) has values for a chart that asks for accelerators: render the chart, "
        "e.g. helm template | usher check -"
    )

    assert not_judged(builders.custom(api_version, kind, {"values": values})) == [("/spec/values/resources", reason)]
    assert not_judged(builders.custom(api_version, kind, {"values": {"replicas": 1}})) is None


@pytest.mark.parametrize(
    ("version", "unknown"),
    [
        ("v1", []),
        ("v1beta1", []),
        ("v2", [("/apiVersion", "NodePool is known in v1 and v1beta1, not in v2: not judged")]),
    ],
)
def test_a_pool_of_karpenter_is_judged_though_it_makes_no_pods(version: str, unknown: list[tuple[str, str]]) -> None:
    pool = builders.custom(f"karpenter.sh/{version}", "NodePool", {"limits": {"cpu": 100, "nvidia.com/gpu": 8}})

    assert not_judged(pool) == unknown


def workload_map(kind: str = "TrainingRun", group: str = "ml.acme.dev", **component: paths.Json) -> paths.Object:
    role: paths.Json = {
        "name": "role",
        "instanceIdPath": ".spec.roles[] | .name",
        "specDefinition": {"podTemplateSpecPath": ".spec.roles[] | .template"},
        "scaleDefinition": {"replicasPath": ".spec.roles[] | (.replicas // 1)"},
        **component,
    }
    root: paths.Json = {"name": "run", "kind": {"group": group, "version": "v1", "kind": kind}}
    spec: paths.Json = {"structureDefinition": {"rootComponent": root, "childComponents": [role]}}
    return {"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "metadata": {"name": kind.lower()}, "spec": spec}


def training_run(version: str = "v1") -> paths.Object:
    template = builders.template(builders.container(gpus=8))
    roles: paths.Json = [{"name": "worker", "replicas": 3, "template": template}]
    return builders.custom(f"ml.acme.dev/{version}", "TrainingRun", {"roles": roles}, namespace="ml")


@pytest.mark.parametrize("place", ["files", "facts"])
def test_a_workload_map_document_says_how_many_pods_there_are_at_least(place: str) -> None:
    documents = [workload_map()]
    known = knowing(Store.of(documents if place == "facts" else ()))
    objects = Objects(() if place == "facts" else documents)
    found = known.workload(training_run(), objects=objects)

    assert found is not None
    assert [(each.name, each.count.minimum, each.count.maximum) for each in found.pod_sets] == [("worker", 3, None)]
    assert not found.pod_sets[0].changeable
    assert found.unknowns == ()
    other = known.workload(training_run("v2"), objects=objects)
    assert other is not None
    assert other.pod_sets[0].count.minimum == 1


def test_a_component_that_usher_cannot_read_is_said() -> None:
    unread: paths.Json = {"fragmentedPodSpecDefinition": {"containerPath": ".spec.head"}}
    head = workload_map(name="head", specDefinition=unread)
    place = "/spec/structureDefinition/childComponents"
    components = [each for one in (workload_map(), head) for each in paths.elements(paths.resolve(one, place))]
    both = builders.replaced(workload_map(), place, components)
    found = knowing(Store()).workload(training_run(), objects=Objects([both]))

    assert found is not None
    (reason,) = (each.reason for each in found.unknowns)
    assert reason.endswith("a component that usher cannot read: head: usher does not read the place of its pods")


@pytest.mark.parametrize(
    "documents",
    [
        [workload_map("Job", "batch")],
        [workload_map(), workload_map() | {"metadata": {"name": "other"}}],
        [workload_map(specDefinition={"podTemplateSpecPath": "[.." * 10_000})],
        [workload_map(specDefinition=7)],
        [workload_map(scaleDefinition={"replicasPath": ["x"]}, instanceIdPath={}, name={"a": 1})],
        [{"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "metadata": {"name": "empty"}, "spec": []}],
    ],
)
def test_a_document_that_is_unusable_or_about_a_known_kind_does_not_count(documents: list[paths.Object]) -> None:
    found = knowing(Store()).workload(training_run(), objects=Objects(documents))

    assert found is not None
    assert found.pod_sets[0].count.minimum in (1, 3)
    assert ("batch", "Job") not in kinds_of_maps(documents)
    assert ("ml.acme.dev", "TrainingRun") not in kinds_of_maps(documents) or len(documents) == 1


@pytest.mark.parametrize(("replicas", "number"), [(0, 0), (1, 1)])
def test_a_template_that_no_pod_has_may_lack_containers(replicas: int, number: int) -> None:
    template: paths.Json = {"spec": {"containers": [{"name": "engine", "image": "vllm"}]}}
    role: paths.Json = {
        "name": "prefill",
        "replicas": 1,
        "entryTemplate": template,
        "workerReplicas": replicas,
        "workerTemplate": {"spec": {"containers": []}},
    }
    serving: paths.Object = {
        "apiVersion": "workload.serving.volcano.sh/v1alpha1",
        "kind": "ModelServing",
        "metadata": {"name": "s"},
        "spec": {"replicas": 1, "template": {"roles": [role]}},
    }

    found = with_unread_keys(normalise(serving, vocabulary=VOCABULARY), serving)
    assert found is not None
    assert len(found.unread_keys) == number


@pytest.mark.parametrize("value", ["${TOLERATIONS}", "HW_TOLERATIONS"])
def test_a_text_of_a_template_stands_for_a_whole_list(value: str) -> None:
    pod: paths.Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}], "tolerations": value},
    }

    found = with_unread_keys(normalise(pod, vocabulary=VOCABULARY), pod)
    assert found is not None
    assert found.unread_keys == ()


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        (
            "workload.serving.volcano.sh/v1alpha1 ModelBooster",
            {"backend": {"name": "b", "type": "vLLM", "minReplicas": 1, "maxReplicas": 2, "workers": []}},
        ),
        ("orchestration.aibrix.ai/v1alpha1 KVCache", {"replicas": 1, "cacheSpec": {}, "service": {"port": 1}}),
        ("batch/v1 Job", {"scheduling": {}, "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}),
        (
            "nvidia.com/v1beta1 DynamoGraphDeploymentRequest",
            {"model": "m", "overrides": {"profilingJob": {"template": {"spec": {"containers": []}}}}},
        ),
    ],
)
def test_fields_of_other_releases_and_parts_of_pods_are_read(kind: str, spec: paths.Object) -> None:
    version, _, name = kind.partition(" ")
    value: paths.Object = {"apiVersion": version, "kind": name, "metadata": {"name": "n"}, "spec": spec}

    found = with_unread_keys(None, value)
    assert found is None or not [
        each.text for each in found.unread_keys if "has the field" in each.text or "no pods" in each.text
    ]
