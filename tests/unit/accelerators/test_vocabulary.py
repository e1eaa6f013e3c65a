"""Names mean on a cluster what its usher.yaml adds to the tables."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher.accelerators import names
from usher.accelerators.names import Meaning, Unit
from usher.accelerators.vocabulary import Vocabulary
from usher.config import sections

PLAIN = Vocabulary(sections.Accelerators())


def vocabulary(**section: Any) -> Vocabulary:
    return Vocabulary(sections.Accelerators.model_validate(section))


@pytest.mark.parametrize(
    "name",
    [
        *("nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.10gb", "nvidia.com/mig-1g.10gb.shared"),
        *("nvidia.com/mig-1g.10gb.me.all", "amd.com/gpu", "amd.com/cpx_nps4", "amd.com/dpx_nps1", "amd.com/spx_nps1"),
        *("gpu.intel.com/dxg", "gpu.intel.com/i915", "gpu.intel.com/xe", "intel.com/gpu", "habana.ai/gaudi"),
        *("gpu.intel.com/monitoring", "gpu.intel.com/i915_monitoring", "gpu.intel.com/xe_monitoring"),
        *("google.com/tpu", "aws.amazon.com/neuron", "aws.amazon.com/neuroncore", "aws.amazon.com/neurondevice"),
        *("volcano.sh/vgpu-number", "huawei.com/Ascend910", "cambricon.com/vmlu", "nvidia.com/GA102GL_A10"),
    ],
)
def test_a_device_or_a_part_of_one_or_access_to_all_is_an_accelerator(name: str) -> None:
    assert PLAIN.contains(name)


@pytest.mark.parametrize(
    "name", ["aliyun.com/gpu-mem", "tencent.com/vcuda-core", "nvidia.com/gpumem", "volcano.sh/vgpu-cores"]
)
def test_a_pod_that_asks_only_for_memory_or_cores_of_a_share_gets_an_accelerator(name: str) -> None:
    assert PLAIN.contains(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", "cpu", "memory", "nvidia.com/hostdev", "nvidia.com/nvswitch", "nvidia.com/priority"),
        *("NVIDIA.com/gpu", "nvidia.com/GPU", "xnvidia.com/gpu", "nvidia.com/gpu ", "requests.nvidia.com/gpu"),
        *("vpc.amazonaws.com/efa", "rdma/ib", "example.com/gpu", "x" * 1_000_000),
    ],
    ids=lambda name: name[:20],
)
def test_a_name_that_only_resembles_an_accelerator_does_not_count(name: str) -> None:
    assert not PLAIN.contains(name)


@pytest.mark.parametrize(
    ("device_class", "contained"),
    [
        ("gpu.nvidia.com", True),
        ("compute-domain-default-channel.nvidia.com", False),
        ("dranet", False),
        ("my-class", True),  # nobody knows; `device_class` says so
    ],
)
def test_a_claim_is_an_accelerator_unless_its_class_is_known_to_be_another_device(
    device_class: str, contained: bool
) -> None:
    assert PLAIN.contains(names.CLAIM_PREFIX + device_class) is contained


def test_a_site_adds_names_and_prefixes_of_its_own() -> None:
    found = vocabulary(names=["example.com/gpu"], prefixes=["example.com/slice-"])

    assert found.contains("example.com/gpu")
    assert found.contains("example.com/slice-4")
    assert found.contains("nvidia.com/gpu")
    assert not found.contains("example.com/other")
    assert found.meaning("example.com/slice-4") == Meaning(unit=Unit.DEVICE)


def test_a_site_says_what_its_resources_are() -> None:
    found = vocabulary(
        prefixes=["example.com/slice-", "example.com/slice-big-"],
        resources={
            "nvidia.com/a100": {"vendor": "nvidia"},
            "example.com/vram": {"unit": "memory", "size": 1048576},
            "example.com/slice-": {"unit": "partition"},
            "example.com/switch": {"unit": "fabric"},
        },
    )

    assert found.meaning("nvidia.com/a100") == Meaning(unit=Unit.DEVICE, vendor="nvidia")
    assert found.meaning("example.com/vram") == Meaning(unit=Unit.MEMORY, size=names.MIB)
    assert found.meaning("example.com/slice-4") == Meaning(unit=Unit.PARTITION)
    assert found.meaning("example.com/slice-big-4") == Meaning(unit=Unit.DEVICE)
    assert found.contains("nvidia.com/a100")
    assert not found.contains("example.com/switch")
    assert not found.looks_like("nvidia.com/a100")


def test_a_site_whose_gpus_are_time_sliced_says_so_and_only_of_that_name() -> None:
    found = vocabulary(resources={"nvidia.com/gpu": {"unit": "share"}})

    assert found.meaning("nvidia.com/gpu") == Meaning(unit=Unit.SHARE, vendor="nvidia")
    assert found.meaning("nvidia.com/gpumem") == names.meaning_of("nvidia.com/gpumem")


def test_what_a_site_leaves_out_of_a_known_resource_stays_known() -> None:
    found = vocabulary(
        resources={"nvidia.com/gpumem": {"unit": "memory", "size": 1024}, "volcano.sh/vgpu-memory": {"unit": "memory"}}
    )

    assert found.meaning("nvidia.com/gpumem") == Meaning(
        unit=Unit.MEMORY, vendor="nvidia", size=1024, divides="nvidia.com/gpu"
    )
    assert found.meaning("volcano.sh/vgpu-memory") == names.meaning_of("volcano.sh/vgpu-memory")


def test_a_known_name_wins_over_a_prefix_but_not_over_an_entry_for_that_name() -> None:
    by_prefix = vocabulary(prefixes=["nvidia.com/"], resources={"nvidia.com/": {"unit": "share"}})
    by_name = vocabulary(names=["nvidia.com/hostdev", "nvidia.com/mig-1g.10gb"])

    assert by_prefix.meaning("nvidia.com/hostdev") == Meaning(unit=Unit.FABRIC, vendor="nvidia")
    assert by_prefix.meaning("nvidia.com/mig-1g.10gb") == Meaning(unit=Unit.PARTITION, vendor="nvidia")
    assert by_prefix.meaning("nvidia.com/a100") == Meaning(unit=Unit.SHARE)
    assert by_name.meaning("nvidia.com/hostdev") == Meaning(unit=Unit.DEVICE)
    assert by_name.meaning("nvidia.com/mig-1g.10gb") == Meaning(unit=Unit.PARTITION, vendor="nvidia")


def test_what_a_site_ignores_is_nothing_and_looks_like_nothing() -> None:
    found = vocabulary(prefixes=["example.com/"], ignored=["example.com/gpu-licence", "gpu.intel.com/monitoring"])

    for name in ("example.com/gpu-licence", "gpu.intel.com/monitoring"):
        assert not found.contains(name)
        assert not found.looks_like(name)
        assert found.meaning(name) is None
    assert found.contains("example.com/gpu")


def test_what_looks_like_an_accelerator_does_so_until_the_site_names_it() -> None:
    assert PLAIN.looks_like("example.com/gpu")
    assert not vocabulary(names=["example.com/gpu"]).looks_like("example.com/gpu")
    assert not PLAIN.looks_like("nvidia.com/gpu")
    assert not PLAIN.looks_like("cpu")


def test_a_site_says_what_its_device_classes_are() -> None:
    found = vocabulary(
        deviceClasses={
            "team-gpus": {"resource": "nvidia.com/gpu"},
            "slices": {"resource": "nvidia.com/mig-1g.10gb"},
            "boards": {},
            "cards": {"accelerator": False},
            "gpu.example.com": {"accelerator": False},
        }
    )

    assert found.device_class("team-gpus") is True
    meaning = found.device_class_meaning("team-gpus")
    assert (meaning.vendor, meaning.unit, meaning.resource) == ("nvidia", Unit.DEVICE, "nvidia.com/gpu")
    assert found.device_class_meaning("slices").unit is Unit.PARTITION
    assert found.device_class_meaning("boards").unit is Unit.DEVICE
    assert found.device_class("cards") is False
    assert found.device_class("gpu.example.com") is False
    assert found.device_class("gpu.nvidia.com") is True
    assert found.device_class("unheard-of") is None
    assert not found.contains(names.CLAIM_PREFIX + "cards")


def test_drivers_are_known_to_the_vocabulary() -> None:
    assert PLAIN.driver("gpu.nvidia.com") is True
    assert PLAIN.driver("compute-domain.nvidia.com") is False
    assert PLAIN.driver("driver.example.org") is None


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("nvidia.com/gpu", "nvidia.com/gpu"),
        ("nvidia.com/mig-1g.10gb", "nvidia.com/gpu"),
        ("google.com/tpu", "google.com/tpu"),
        ("amd.com/cpx_nps4", "amd.com/gpu"),
        ("habana.ai/gaudi", None),
    ],
)
def test_the_usual_taint_of_nodes_with_a_resource_is_known_where_there_is_one(name: str, key: str | None) -> None:
    assert PLAIN.taint_key(name) == key


def test_the_longest_prefix_knows_best_which_taint_nodes_carry() -> None:
    found = vocabulary(taints={"nvidia.com/mig-": "mig-enabled", "nvidia.com/mig-7g": "whole", "habana.ai/": "gaudi"})

    assert found.taint_key("nvidia.com/gpu") == "nvidia.com/gpu"
    assert found.taint_key("nvidia.com/mig-1g.10gb") == "mig-enabled"
    assert found.taint_key("nvidia.com/mig-7g.80gb") == "whole"
    assert found.taint_key("habana.ai/gaudi") == "gaudi"


def test_usher_yaml_can_name_every_unit_except_claim() -> None:
    units = get_args(sections.Resource.model_fields["unit"].annotation)

    assert set(units) == {unit.value for unit in Unit} - {"claim"}


@given(st.text())
def test_what_has_a_meaning_never_looks_like_something_else(name: str) -> None:
    assert not (PLAIN.contains(name) and PLAIN.looks_like(name))
    assert PLAIN.meaning(name) is not None or not PLAIN.contains(name)


@pytest.mark.costly
def test_the_cache_of_names_is_bounded_and_skips_names_that_are_too_long() -> None:
    found = Vocabulary(sections.Accelerators())
    for index in range(3000):
        found.contains(f"example.com/{index}")
        found.looks_like(f"example.com/{index}")
        found.looks_like("x" * (400 + index))

    for kept in (found._meaning, found._looks_like):
        info = kept.cache_info()
        assert info.maxsize is not None
        assert info.currsize <= info.maxsize
