"""Law: a device fits only pools that offer it. No mutation sends a pod to a pool without its device."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

import builders
import indexed_manifests
import shared_files
from acceptance import decided, evaluator, mutated
from mutation_properties import Case, case
from shared_files import Corpus
from unit.workloads import device_claims
from usher import model, paths
from usher.accelerators import names as accelerators_names
from usher.accelerators import vocabulary
from usher.accelerators.names import CLAIM_PREFIX
from usher.accelerators.vocabulary import Vocabulary
from usher.kinds.reading import values
from usher.policy.decision import Request

FOREIGN: Final = ["gpu.amd.com", "gpu.intel.com", "tpu.google.com", "neuron.aws.com", "gpu.example.com"]
NVIDIA_KEYS: Final = ("nvidia.com/gpu", "nvidia.com/mig")


def pool(vendor: str, *resources: str, name: str = "", key: str = "") -> dict[str, Any]:
    """A pool whose name begins with the vendor, and whose labels and taints no other pool has."""
    label = name or vendor
    return {
        "name": label,
        "nodeSelector": {f"example.com/{label}": "true"},
        "taints": [{"key": key or resources[0], "value": "present"}],
        "resources": [*resources],
    }


OF_NVIDIA: Final = pool("nvidia", "nvidia.com/gpu")
OF_MIG: Final = pool("nvidia", "nvidia.com/mig-1g.10gb", name="nvidia-mig", key="nvidia.com/mig")
OF_AMD: Final = pool("amd", "amd.com/gpu")
OF_INTEL: Final = pool("intel", "gpu.intel.com/i915")
OF_TPU: Final = pool("google", "google.com/tpu")
OF_NEURON: Final = pool("aws", "aws.amazon.com/neuron")

SITES: Final[dict[str, dict[str, Any]]] = {
    "NVIDIA alone": {"pools": [OF_NVIDIA, OF_MIG]},
    "NVIDIA beside AMD": {"pools": [OF_NVIDIA, OF_AMD]},
    "clouds": {"pools": [OF_NVIDIA, OF_TPU, OF_NEURON, OF_INTEL]},
    "without NVIDIA": {"pools": [OF_AMD, OF_TPU]},
    "nothing declared": {},
}

sites = pytest.mark.parametrize("site", SITES.values(), ids=SITES.keys())


def vendor_of(name: str) -> str:
    found = accelerators_names.meaning_of(name)
    return found.vendor if found is not None else vocabulary.meaning_of_class(name).vendor


def vendors(pod_set: model.PodSet) -> set[str]:
    """The vendors of the devices that a pod set asks for; of annotations without a resource it is NVIDIA."""
    named = {request.like or request.name for request in pod_set.requests}
    annotated = {
        request.name
        for request in pod_set.requests
        if request.route in (model.Route.FRACTION, model.Route.DEVICE_ANNOTATION)
    }
    return {"nvidia" if name in annotated else vendor_of(name.removeprefix(CLAIM_PREFIX)) for name in named}


def sent_elsewhere(site: dict[str, Any], found: Case) -> Iterator[str]:
    """Tolerations and requirements that belong to pools of a vendor whose devices the pods do not ask for."""
    of_label = {label: each["name"] for each in site.get("pools", ()) for label in each["nodeSelector"]}
    of_taint = {taint["key"]: each["name"] for each in site.get("pools", ()) for taint in each["taints"]}
    for intent in found.merged.applied:
        if intent.field not in ("toleration", "nodeRequirement"):
            continue
        assert isinstance(intent.value, dict)
        key = str(intent.value["key"])
        belongs_to = of_label.get(key) or of_taint.get(key) or vendor_of(key)
        (pod_set,) = [each for each in found.workload.pod_sets if each.path == intent.at]
        asked = vendors(pod_set)
        if not any(vendor and belongs_to.startswith(vendor) for vendor in asked):
            yield f"{found.name}: {intent.field} of {belongs_to} for devices of {asked}"


def judged(name: str, value: paths.Object, site: dict[str, Any], *known: paths.Object) -> Case:
    objects = values.Objects(known)
    found = case(name, evaluator(site), Request(value=value, objects=objects))
    assert found is not None
    return found


def claiming(device_class: str) -> tuple[paths.Object, paths.Object]:
    claim = device_claims.claim_template(device_claims.request(device_class))
    job = builders.job(device_claims.template(device_claims.by_template()), namespace="ml-research")
    return job, claim


@sites
@pytest.mark.parametrize("device_class", FOREIGN)
def test_claims_of_other_vendors_get_nothing_of_nvidias_pools(device_class: str, site: dict[str, Any]) -> None:
    job, claim = claiming(device_class)
    merged = mutated(job, site, claim)

    given = [str(intent.value) for intent in merged.applied if intent.field in ("toleration", "nodeRequirement")]
    assert not [text for text in given if "nvidia" in text]


@sites
@pytest.mark.parametrize("device_class", [*FOREIGN, "somebody.example.org"])
def test_no_claim_is_said_never_to_run(device_class: str, site: dict[str, Any]) -> None:
    job, claim = claiming(device_class)

    names = {judgement.name for judgement in decided(job, site, claim).judgements}
    assert not names & {"no-pool-fits", "no-node-ever-fits", "more-than-a-node-holds"}
    if all(each["name"] != vendor_of(device_class) for each in site.get("pools", [{"name": vendor_of(device_class)}])):
        assert not names & {"gpu-toleration-present", "gpu-node-affinity-present"}


@pytest.mark.parametrize("device_class", ["gpu.example.com", "somebody.example.org"])
def test_pods_with_an_unknown_class_stay_unchanged_and_the_user_reads_why(device_class: str) -> None:
    job, claim = claiming(device_class)
    site = SITES["NVIDIA alone"]

    assert not [each for each in mutated(job, site, claim).applied if each.field in ("toleration", "nodeRequirement")]
    assert any(device_class in each.reason for each in decided(job, site, claim).unknowns)


@sites
@pytest.mark.parametrize("device_class", vocabulary.device_class_names())
def test_no_known_class_is_sent_to_a_pool_of_another_vendor(device_class: str, site: dict[str, Any]) -> None:
    job, claim = claiming(device_class)
    implicit = builders.pod(builders.container(limits={CLAIM_PREFIX + device_class: 1}), namespace="ml-research")

    assert not [*sent_elsewhere(site, judged("claim", job, site, claim))]
    assert not [*sent_elsewhere(site, judged("resource", implicit, site))]


@pytest.mark.costly
@pytest.mark.parametrize("corpus", shared_files.thorough_corpora)
@sites
def test_no_manifest_of_a_corpus_is_sent_to_a_pool_of_another_vendor(site: dict[str, Any], corpus: Corpus) -> None:
    found: list[str] = []
    seen = 0
    for document in indexed_manifests.documents(corpus):
        request = Request(value=document.value, objects=document.objects)
        judged_case = case(document.place, evaluator(site), request)
        if judged_case is not None:
            seen += judged_case.workload.asks_accelerators
            found += sent_elsewhere(site, judged_case)

    assert not found
    assert seen > 20


def test_a_class_that_usher_yaml_describes_goes_to_the_pools_with_its_resource() -> None:
    site = {
        "pools": [OF_NVIDIA, OF_AMD],
        "accelerators": {"deviceClasses": {"somebody.example.org": {"resource": "amd.com/gpu"}}},
    }
    job, claim = claiming("somebody.example.org")
    given = {str(each.value["key"]) for each in mutated(job, site, claim).applied if isinstance(each.value, dict)}

    assert Vocabulary(evaluator(site).config.accelerators).device_class("somebody.example.org")
    assert {"amd.com/gpu", "example.com/amd"} <= given
    assert not [key for key in given if key.startswith(NVIDIA_KEYS)]
