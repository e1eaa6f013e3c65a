"""Objects of kinds that usher does not read: it names those that ask for accelerators, and no others."""

import pytest

import builders
from unit.workloads.normalised import VOCABULARY
from usher import paths
from usher.workloads.normalise import normalise


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
        (
            "workload.serving.volcano.sh/v1alpha1",
            "ModelBooster",
            {"backend": {"workers": [{"pods": 1}]}},
            "/spec/backend",
        ),
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
