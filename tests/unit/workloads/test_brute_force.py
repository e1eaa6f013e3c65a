"""An independent, simple-minded walk over the raw corpus finds no accelerator that the normaliser has not seen."""

import re
from collections.abc import Iterator

import pytest

import indexed_manifests
import shared_files
from shared_files import Corpus
from usher import model, paths

every_corpus = pytest.mark.parametrize("corpus", shared_files.thorough_corpora)

# Written without the vocabulary on purpose.
RESOURCE = re.compile(
    r"^(nvidia\.com/(gpu|mig-|pgpu)|amd\.com/(gpu|cpx|dpx|spx)|gpu\.intel\.com/|habana\.ai/|google\.com/tpu|cloud-tpus\.google"
    r"|aws\.amazon\.com/neuron|deviceclass\.resource\.kubernetes\.io/|volcano\.sh/v?gpu|huawei\.com/|cambricon\.com/)"
)
ANNOTATION = re.compile(r"gpu-fraction|gpu-memory|serving\.kserve\.io/exp-dra-device-class")
CLAIM = frozenset({"resourceClaimName", "resourceClaimTemplateName"})
AMOUNT = re.compile(r"[0-9.]+|.*\$.*|.*\{\{.*|[A-Z_ ]{4,}")

NOT_WORKLOADS = {
    "/ConfigMap": "holds texts of others",
    "/LimitRange": "bounds what others ask for",
    "/Node": "offers devices",
    "/ResourceQuota": "bounds what others ask for",
    "/PersistentVolumeClaim": "asks for storage",
    "autoscaling/HorizontalPodAutoscaler": "watches what others use",
    "kueue.x-k8s.io/ClusterQueue": "a quota",
    "kueue.x-k8s.io/Cohort": "a quota",
    "kueue.x-k8s.io/ResourceFlavor": "describes nodes",
    "nvidia.com/GPUCluster": "configures the operator",
    "resource.k8s.io/DeviceClass": "describes devices",
    "resource.k8s.io/ResourceClaim": "counted where pods name it",
    "resource.k8s.io/ResourceClaimTemplate": "counted where pods name it",
    "resource.nvidia.com/ComputeDomain": "makes the templates of claims for channels",
    "scheduling.k8s.io/PodGroup": "counted where its pods name its claims",
    "scheduling.run.ai/Queue": "a quota",
    "scheduling.volcano.sh/Queue": "a quota",
    "admissionregistration.k8s.io/ValidatingAdmissionPolicy": "a rule about others",
}
"""Kinds in which such names do not stand for what pods ask, and why."""

_GMS = "ai-dynamo+dynamo/examples/backends/vllm/deploy/agg_gms.yaml: vllm-agg-gms"

NOT_SEEN: dict[Corpus, dict[str, str]] = {
    shared_files.OWN: {},
    shared_files.PUBLISHED: {
        f"{_GMS}: /spec/components/1/podTemplate/spec/containers/0/resources/limits/nvidia.com~1gpu": "the memory "
        "service of Dynamo gets these GPUs by a claim, which usher reads instead"
    },
}
"""Places, as `file: name: pointer`, that the normaliser does not see, and why."""


def mentions(value: paths.Json, pointer: str = paths.ROOT) -> Iterator[tuple[str, str]]:
    """Every place that seems to ask for an accelerator, with its name; `status` is not what anybody asks for."""
    if isinstance(value, dict):
        for key, child in value.items():
            here = paths.join(pointer, key)
            if key in CLAIM and isinstance(child, str):
                yield here, "claim"
            elif RESOURCE.search(key) and isinstance(child, str | int | float) and AMOUNT.fullmatch(str(child)):
                if str(child) != "0":
                    yield here, key
            elif ANNOTATION.fullmatch(key):
                yield here, key
            elif pointer or key != "status":
                yield from mentions(child, here)
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from mentions(child, paths.join(pointer, index))


def is_seen(pointer: str, name: str, found: model.Workload) -> bool:
    """Whether the normaliser read the place: a request under that name, or something unknown there, above or below."""
    if any(near(pointer, unknown.path) for unknown in found.unknowns):
        return True
    if any(name in container.lookalikes for pod_set in found.pod_sets for container in pod_set.containers):
        return True
    if name == "claim":
        return any(pod_set.device_claims for pod_set in found.pod_sets)
    read = [container for pod_set in found.pod_sets for container in pod_set.containers]
    if any(name in container.requests or name in container.limits for container in read):
        return True
    return any(name == request.name for pod_set in found.pod_sets for request in pod_set.requests)


def near(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def test_the_walk_finds_what_it_is_meant_to() -> None:
    value: paths.Object = {
        "metadata": {"annotations": {"gpu-fraction": "0.5"}},
        "spec": {"a": [{"nvidia.com/gpu": "8", "resourceClaimName": "x", "nvidia.com/gpu.product": "A100"}]},
        "status": {"nvidia.com/gpu": 1},
    }

    assert list(mentions(value)) == [
        ("/metadata/annotations/gpu-fraction", "gpu-fraction"),
        ("/spec/a/0/nvidia.com~1gpu", "nvidia.com/gpu"),
        ("/spec/a/0/resourceClaimName", "claim"),
    ]


@every_corpus
def test_nothing_that_the_walk_finds_was_missed(corpus: Corpus) -> None:
    missed = set()
    for document in indexed_manifests.documents(corpus):
        if document.kind in NOT_WORKLOADS:
            continue
        found = indexed_manifests.workload(document)
        for pointer, name in mentions(document.value):
            if found is None or not is_seen(pointer, name, found):
                missed.add(f"{document.place}: {pointer}")

    assert missed == set(NOT_SEEN[corpus])


@every_corpus
@pytest.mark.parametrize("kind", sorted(NOT_WORKLOADS))
def test_kinds_that_are_listed_as_no_workload_make_no_pods(corpus: Corpus, kind: str) -> None:
    documents = (each for each in indexed_manifests.documents(corpus) if each.kind == kind)
    found = [indexed_manifests.workload(document) for document in documents]

    assert all(workload is None or not workload.makes_pods for workload in found)
