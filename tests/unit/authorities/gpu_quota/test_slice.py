"""The policies see the GPUQuota of a workload."""

from typing import Any

import orjson

import builders
from builders import gpu_job, gpu_quota
from usher import paths
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.authority import Case, QuotaRefusal
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota.definitions import Limit, Quota
from usher.authorities.gpu_quota.ledger import Excess
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts.store import Store
from usher.config import models
from usher.policy.input import document as input_document
from usher.quantities import NANO
from usher.workloads.normalise import normalise


def quota(**spec: Any) -> Quota:
    found = gpu_quota_definitions.of_object(gpu_quota(**spec))
    assert isinstance(found, Quota)
    return found


def seen(
    value: paths.Object, *facts: paths.Object, config: models.Config | None = None, refusal: QuotaRefusal | None = None
) -> Any:
    """The quota in the document of an object."""
    config = config or models.Config()
    vocabulary = Vocabulary(config.accelerators)
    workload = normalise(value, vocabulary=vocabulary)
    assert workload is not None
    known = Knowledge(facts=Store.of(facts), config=config, vocabulary=vocabulary)
    documents = input_document.Documents(known)
    cluster = input_document.cluster_input(Case(workload=workload, refusal=refusal), known)
    return orjson.loads(documents.build(workload, cluster=cluster)).get("cluster", {}).get("gpuQuota")


def test_workloads_that_fit_or_have_no_quota_have_no_slice() -> None:
    assert seen(gpu_job(8, pods=2), gpu_quota()) is None
    assert seen(gpu_job(8, pods=9), gpu_quota(namespaces=["web"])) is None
    assert seen(gpu_job(8, pods=9)) is None
    assert seen(builders.deployment(replicas=100, namespace="ml-research"), gpu_quota()) is None


def test_a_class_that_cannot_be_resolved_does_not_pass_in_silence() -> None:
    limits = {"deviceclass.resource.kubernetes.io/fast": 1}
    job = builders.job(builders.template(builders.container(limits=limits)), namespace="ml-research")

    (unclear,) = seen(job, gpu_quota())["unclear"]
    assert unclear["path"].startswith("/spec/template/spec/containers/0/resources/limits/deviceclass")
    assert unclear["reason"].startswith("DeviceClass fast is not known here")
    assert seen(job) is None


def test_an_amount_beyond_the_hard_limit_is_never_without_asking_for_free_amounts() -> None:
    assert seen(gpu_job(8, pods=3), gpu_quota()) == {
        "name": "GPUQuota research",
        "excesses": [{"asks": "24 GPUs", "hard": "16", "classes": [], "never": True}],
        "unclear": [],
    }


def test_a_quota_of_usher_yaml_holds_without_a_cluster() -> None:
    config = models.Config.model_validate(
        {"quotas": [{"name": "ci", "namespaces": ["*"], "limits": [{"hard": {"slices": 14}}]}]}
    )

    found = seen(gpu_job(8), config=config)

    assert found["name"] == "quota ci of usher.yaml"
    assert found["excesses"] == [{"asks": "56 slices", "hard": "14", "classes": [], "never": True}]


def test_a_limit_for_a_class_holds_for_pods_of_the_default_class() -> None:
    limits = [{"hard": {"gpus": 4}, "priorityClasses": ["normal"]}]
    default: paths.Object = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "normal"},
        "value": 0,
        "globalDefault": True,
    }

    assert seen(gpu_job(8), gpu_quota(limits=limits)) is None
    assert seen(gpu_job(8), gpu_quota(limits=limits), default)["excesses"][0]["classes"] == ["normal"]


def test_a_refusal_says_how_much_is_free() -> None:
    limit = Limit(hard={"gpus": 100 * NANO})
    excess = Excess(
        limit=limit, unit="gpus", asks=24 * NANO, held=8 * NANO, added=16 * NANO, used=96 * NANO, hard=100 * NANO
    )

    found = seen(gpu_job(24), gpu_quota(), refusal=QuotaRefusal(quota=quota(), excesses=(excess,)))

    assert found["excesses"] == [
        {"asks": "24 GPUs", "hard": "100", "classes": [], "never": False, "free": "4", "used": "96", "more": "16"}
    ]


def test_a_refusal_says_what_pods_of_an_earlier_workload_of_this_name_hold() -> None:
    excess = Excess(
        limit=Limit(hard={"gpus": 100 * NANO}),
        unit="gpus",
        asks=24 * NANO,
        held=16 * NANO,
        added=24 * NANO,
        used=96 * NANO,
        hard=100 * NANO,
        ending=16 * NANO,
    )

    found = seen(gpu_job(24), gpu_quota(), refusal=QuotaRefusal(quota=quota(), excesses=(excess,)))

    assert found["excesses"] == [
        {
            "asks": "24 GPUs",
            "hard": "100",
            "classes": [],
            "never": False,
            "free": "4",
            "used": "96",
            "ending": "16 GPUs",
        }
    ]


def test_only_what_a_limit_looks_at_is_unclear() -> None:
    assert seen(gpu_job(8), gpu_quota()) is None

    found = seen(gpu_job(8), gpu_quota(limits=[{"hard": {"memoryGiB": 1000}}]))
    assert [each["path"] for each in found["unclear"]] == [
        "/spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu"
    ]
    assert seen(gpu_job(8), gpu_quota(limits=[{"hard": {"memoryGiB": 1}, "priorityClasses": ["high"]}])) is None
    assert seen(gpu_job(8), gpu_quota(limits=[{"hard": {"memoryGiB": 640}}], assumes={"board": "H100-80"})) is None


def test_several_quotas_that_may_hold_are_undecided() -> None:
    found = seen(gpu_job(8), gpu_quota("a"), gpu_quota("b"))

    assert found["undecided"] == "GPUQuota a and GPUQuota b hold for namespace ml-research, but only one quota may"
    broken = seen(gpu_job(8), gpu_quota(limits=[{"hard": {"gpu": 1}}]))
    assert broken["undecided"].startswith("GPUQuota research cannot be read: /spec/limits/0/hard/gpu: ")


def test_templates_for_pods_of_other_objects_have_no_slice() -> None:
    value = builders.custom("v1", "PodTemplate", {})
    value["template"] = builders.template(builders.container(gpus=64))

    assert seen(value, gpu_quota(namespaces=["*"])) is None
