"""Law: a device fits only pools that offer it, whatever resource or device class asks for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import builders
from unit.workloads import device_claims
from unit.workloads.normalised import VOCABULARY, workload
from usher import model, paths
from usher.accelerators import names as accelerators_names
from usher.accelerators import vocabulary as accelerators_vocabulary
from usher.accelerators.names import CLAIM_PREFIX, GIVING
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities import pool_fit
from usher.config import pools as config_pools
from usher.config import sections
from usher.kinds.reading.values import Objects

CLASSES = [
    name
    for name in accelerators_vocabulary.device_class_names()
    if accelerators_vocabulary.meaning_of_class(name).accelerator
]
RESOURCES = [
    *(
        known.name
        for entries in accelerators_names.VENDORS.values()
        for known in entries
        if known.name and known.unit in GIVING
    ),
    *("nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb", "amd.com/cpx_nps4", "huawei.com/Ascend910", "ibm.com/aiu_pf"),
]
POOLS = st.lists(
    st.lists(st.sampled_from([*RESOURCES, *(CLAIM_PREFIX + name for name in CLASSES)]), min_size=1, max_size=3),
    min_size=1,
    max_size=5,
)


def pool(name: str, *resources: str) -> config_pools.Pool:
    return config_pools.Pool(name=name, node_selector={"pool": name}, resources=list(resources))


NVIDIA = pool("h100", "nvidia.com/gpu")
MIG = pool("mig", "nvidia.com/mig-1g.10gb")
AMD = pool("mi300", "amd.com/gpu")
PARTITIONED = pool("mi300-cut", "amd.com/cpx_nps4")
INTEL = pool("max", "gpu.intel.com/i915")
GAUDI = pool("gaudi", "habana.ai/gaudi")
TPU = pool("v6e", "google.com/tpu")
NEURON = pool("trn2", "aws.amazon.com/neuroncore")
ALL = [NVIDIA, MIG, AMD, PARTITIONED, INTEL, GAUDI, TPU, NEURON]


def asking(*names: str) -> paths.Object:
    return builders.pod(builders.container(limits=dict.fromkeys(names, 1)))


def claiming(*requests: paths.Object, classes: tuple[paths.Object, ...] = ()) -> model.PodSet:
    objects = Objects([device_claims.claim(*requests), *classes])
    (found,) = workload(device_claims.pod(device_claims.by_name()), objects=objects).pod_sets
    return found


def of_class(name: str) -> model.PodSet:
    return claiming(device_claims.request(name))


def fitting(
    pod_set: model.PodSet, *pools: config_pools.Pool, vocabulary: Vocabulary = VOCABULARY
) -> tuple[list[str], tuple[str, ...]]:
    found = pool_fit.offering_pools(pod_set, pools or ALL, vocabulary)
    return [each.name for each in found.pools], found.unmatched


def of_pod(value: paths.Object) -> model.PodSet:
    (found,) = workload(value).pod_sets
    return found


POOLS_OF_CLASSES = [
    ("gpu.nvidia.com", ["h100"]),
    ("mig.nvidia.com", ["h100", "mig"]),
    ("vfio.gpu.nvidia.com", ["h100"]),
    ("hami-core-gpu.project-hami.io", ["h100"]),
    ("gpu.amd.com", ["mi300", "mi300-cut"]),
    ("gpu.intel.com", ["max"]),
    ("gpu-vfio.intel.com", ["max"]),
    ("gaudi.intel.com", ["gaudi"]),
    ("tpu.google.com", ["v6e"]),
    ("neuron.aws.com", ["trn2"]),
    ("npu.furiosa.ai", []),
]


@pytest.mark.parametrize(("device_class", "pools"), POOLS_OF_CLASSES)
def test_a_claim_fits_the_pools_with_devices_of_its_class(device_class: str, pools: list[str]) -> None:
    assert fitting(of_class(device_class)) == (pools, ())
    assert fitting(of_pod(asking(CLAIM_PREFIX + device_class))) == (pools, ())


def test_a_claim_for_slices_fits_no_pool_without_them() -> None:
    whole = pool("whole", "nvidia.com/gpu").model_copy(update={"gpu": config_pools.Gpus(per_node=8)})
    gpus = config_pools.Gpus(per_node=8, board="H100-80", mig_strategy="mixed")
    divided = pool("divided", "nvidia.com/gpu").model_copy(update={"gpu": gpus})
    dynamic = pool("dynamic", CLAIM_PREFIX + "mig.nvidia.com").model_copy(update={"gpu": config_pools.Gpus(per_node=8)})

    def of_profile(profile: str) -> model.PodSet:
        expression = f"device.attributes['gpu.nvidia.com'].profile == '{profile}'"
        return claiming(device_claims.request("mig.nvidia.com", selectors=[{"cel": {"expression": expression}}]))

    assert fitting(of_class("mig.nvidia.com"), whole, divided, dynamic) == (["divided", "dynamic"], ())
    assert fitting(of_profile("3g.40gb"), whole, divided) == (["divided"], ())
    # An H100 with 80 GB has no profile of this size.
    assert fitting(of_profile("3g.20gb"), whole, divided) == ([], ())


def test_every_known_class_of_accelerators_is_named_above() -> None:
    assert {*CLASSES} == {device_class for device_class, _ in POOLS_OF_CLASSES} | {"gpu.example.com"}


def test_a_class_that_no_resource_stands_for_fits_no_pool_until_a_pool_lists_it() -> None:
    example = pool("kind", CLAIM_PREFIX + "gpu.example.com")

    assert fitting(of_class("gpu.example.com")) == ([], ("gpu.example.com",))
    assert fitting(of_class("gpu.example.com"), NVIDIA, example) == (["kind"], ())


def test_a_class_of_the_site_fits_the_pools_with_its_resource() -> None:
    said = sections.Accelerators.model_validate({"deviceClasses": {"gpu.example.com": {"resource": "amd.com/gpu"}}})

    assert fitting(of_class("gpu.example.com"), vocabulary=Vocabulary(said)) == (["mi300"], ())


def test_a_renamed_class_fits_the_pools_of_what_it_selects() -> None:
    spec: paths.Object = {"selectors": [{"cel": {"expression": "device.driver == 'gpu.amd.com'"}}]}
    fast = builders.custom("resource.k8s.io/v1", "DeviceClass", spec, name="fast", namespace=None)
    served = builders.custom(
        "resource.k8s.io/v1", "DeviceClass", {"extendedResourceName": "google.com/tpu"}, name="v6", namespace=None
    )

    assert fitting(claiming(device_claims.request("fast"), classes=(fast,))) == (["mi300", "mi300-cut"], ())
    assert fitting(claiming(device_claims.request("v6"), classes=(served,))) == (["v6e"], ())


def test_a_class_without_a_description_fits_no_pool_by_itself() -> None:
    unknown = of_class("somebody.example.org")

    assert not unknown.requests, "usher records it as unknown, and takes it for no accelerator"


def test_all_devices_of_a_pod_must_be_in_one_pool() -> None:
    both = pool("both", "nvidia.com/gpu", "amd.com/gpu")
    claims = claiming(device_claims.request("gpu.nvidia.com"), device_claims.request("gpu.amd.com", name="other"))

    assert fitting(claims, *ALL, both) == (["both"], ())
    assert fitting(of_pod(asking("nvidia.com/gpu", "amd.com/gpu")), *ALL, both) == (["both"], ())


def test_one_of_several_alternatives_is_enough() -> None:
    def either(*classes: str) -> model.PodSet:
        alternatives = [{"name": f"a{index}", "deviceClassName": name} for index, name in enumerate(classes)]
        return claiming(device_claims.first_available(*alternatives))

    assert fitting(either("gpu.nvidia.com", "gpu.amd.com")) == (["h100", "mi300", "mi300-cut"], ())
    assert fitting(either("gpu.nvidia.com", "gpu.nvidia.com")) == (["h100"], ())
    # The pod may also run where no pool is known to have its device.
    assert fitting(either("gpu.nvidia.com", "gpu.example.com")) == ([], ("gpu.example.com",))
    assert fitting(either("gpu.nvidia.com", "dra.cpu")) == ([], ("dra.cpu",))


def test_access_to_all_devices_needs_a_node_that_has_some() -> None:
    watching = claiming(device_claims.request("gpu.nvidia.com", adminAccess=True))

    assert fitting(watching) == (["h100"], ())


def test_annotations_of_fractions_and_mounted_devices_are_for_gpus_of_nvidia() -> None:
    fraction = of_pod(builders.pod(annotations={"gpu-fraction": "0.5"}))
    mounted = of_pod(
        builders.pod(builders.container("main"), annotations={"devices.gke.io/container.main": "- path: /dev/nvidia0"})
    )

    assert fitting(fraction) == (["h100"], ())
    assert fitting(mounted) == (["h100", "mig"], ())


def vendor_of(name: str) -> str:
    if not name.startswith(CLAIM_PREFIX) and "/" in name:
        found = accelerators_names.meaning_of(name)
        return found.vendor if found is not None else ""
    return accelerators_vocabulary.meaning_of_class(name.removeprefix(CLAIM_PREFIX)).vendor


@given(name=st.sampled_from([*RESOURCES, *CLASSES, *(CLAIM_PREFIX + each for each in CLASSES)]), resources=POOLS)
def test_a_device_fits_only_pools_with_devices_of_its_vendor(name: str, resources: list[list[str]]) -> None:
    pools = [pool(f"pool-{index}", *each) for index, each in enumerate(resources)]
    pod_set = of_pod(asking(name)) if "/" in name else of_class(name)

    for found in pool_fit.offering_pools(pod_set, pools, VOCABULARY).pools:
        assert vendor_of(name) in {vendor_of(resource) for resource in found.resources}, found.resources
        assert vendor_of(name) or {name, CLAIM_PREFIX + name} & {*found.resources}


@given(resources=POOLS)
def test_a_pod_without_accelerators_fits_every_pool(resources: list[list[str]]) -> None:
    pools = [pool(f"pool-{index}", *each) for index, each in enumerate(resources)]

    assert pool_fit.offering_pools(of_pod(builders.pod()), pools, VOCABULARY) == pool_fit.Offers(tuple(pools))
