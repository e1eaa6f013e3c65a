"""Manifests of GPU and AI workloads, as projects publish them and as we have written some."""

import pytest

import shared_files
from indexed_manifests import documents, workload
from shared_files import OWN, PUBLISHED, Corpus
from usher import model

every_corpus = pytest.mark.parametrize("corpus", shared_files.corpora)

WORKERS = "KServe writes GPUs into a runtime with a workerSpec, which the object itself does not show"

EXTENDED = "kubernetes-sigs+dra-example-driver/demo/examples/extended-resource-request"

DISAGREEING: dict[Corpus, dict[str, str]] = {
    OWN: {},
    PUBLISHED: {
        "GoogleCloudPlatform+container-engine-accelerators/demo/tpu-training/inception-v3-tpu.yaml: inception-v3-tpu": (
            "asks for cloud-tpus.google.com/v2, a resource that GKE gave up"
        ),
        "NVIDIA+k8s-dra-driver-gpu/demo/specs/quickstart/v1/gpu-test-vfio-config.yaml: pod1-full-vfioconfig": (
            "its template of claims stands in another namespace, where the pod will not find it"
        ),
        f"{EXTENDED}/extended-resource-request.yaml: pod1": (
            "asks for example.com/gpu, which only a DeviceClass of the cluster can make an accelerator"
        ),
        **{
            f"kserve+kserve/{file}.yaml: kserve-huggingfaceserver-multinode": WORKERS
            for file in (
                "config/runtimes/kserve-huggingfaceserver-multinode",
                "install/v0.18.0/kserve-cluster-resources",
                "install/v0.19.0-rc0/kserve-cluster-resources",
            )
        },
    },
}
"""Documents of known kinds in which we and the index see something else, and why."""

CLAIMS = {
    "resource.k8s.io/ResourceClaim": "makes no pods",
    "resource.k8s.io/ResourceClaimTemplate": "makes no pods",
}

NOT_SEEN: dict[Corpus, dict[str, str]] = {
    OWN: CLAIMS,
    PUBLISHED: {**CLAIMS, "scheduling.k8s.io/PodGroup": "makes no pods"},
}
"""Kinds that ask for accelerators without being workloads, and why."""

FILLED_IN_LATER = {
    OWN: "kubeflow/pytorch-placeholders.yaml: fsdp",
    PUBLISHED: "FSDP/kubernetes/llama3_1_8b-fsdp.yaml: llama3-1-8b-fsdp",
}
"""PyTorchJobs with variables of a shell for their numbers."""


def asks_accelerators(found: model.Workload) -> bool:
    return any(pod_set.asks_accelerators for pod_set in found.pod_sets)


@pytest.mark.costly
@every_corpus
def test_every_document_is_read_in_the_kind_that_the_index_names(corpus: Corpus) -> None:
    for document in documents(corpus):
        found = workload(document)
        if found is not None:
            assert f"{found.group}/{found.kind}" == document.kind


@every_corpus
def test_known_kinds_ask_for_accelerators_where_the_index_says_so(corpus: Corpus) -> None:
    disagreeing = set()
    for document in documents(corpus):
        found = workload(document)
        if found is None or not found.pod_sets or document.hint == "unknown":
            continue
        if asks_accelerators(found) != (document.hint == "yes"):
            disagreeing.add(document.place)

    assert disagreeing == set(DISAGREEING[corpus])


@every_corpus
def test_every_document_that_asks_for_accelerators_is_a_workload_unless_its_kind_is_listed(corpus: Corpus) -> None:
    passing = set()
    for document in documents(corpus):
        found = workload(document)
        if document.hint == "yes" and not (found and found.makes_pods):
            passing.add(document.kind)

    assert passing == set(NOT_SEEN[corpus])


@every_corpus
def test_a_placeholder_for_a_number_is_unknown(corpus: Corpus) -> None:
    (found,) = (workload(each) for each in documents(corpus) if each.place.endswith(FILLED_IN_LATER[corpus]))

    assert found is not None
    assert not asks_accelerators(found)
    worker = "/spec/pytorchReplicaSpecs/Worker"
    resources = worker + "/template/spec/containers/0/resources"
    assert {unknown.path for unknown in found.unknowns} == {
        worker + "/replicas",
        *(
            f"{resources}/{kind}/{name}"
            for kind in ("requests", "limits")
            for name in ("nvidia.com~1gpu", "vpc.amazonaws.com~1efa")
        ),
    }
