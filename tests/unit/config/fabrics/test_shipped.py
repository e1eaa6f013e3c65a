"""The interconnect profiles that come with gpu-usher set only safe values."""

from pathlib import Path

import pytest

from usher.config import fabrics
from usher.config.fabrics import RESERVED_VARIABLES, shipped_fabrics
from usher.documents import plain


def test_every_fabric_that_people_asked_for_is_shipped() -> None:
    assert set(shipped_fabrics()) == {
        "aws-efa",
        "azure-nd",
        "ethernet",
        "gcp-gib",
        "gcp-tcpx",
        "gcp-tcpxo",
        "infiniband",
        "infiniband-mlx5",
        "mnnvl",
        "roce",
    }


@pytest.mark.parametrize("name", shipped_fabrics())
def test_a_shipped_profile_sets_nothing_that_is_forbidden_or_reserved(name: str) -> None:
    profile = shipped_fabrics()[name].profile

    assert {variable: profile.refusal(variable) for variable in profile.env} == dict.fromkeys(profile.env, "")
    assert RESERVED_VARIABLES.keys().isdisjoint(profile.env)


def test_the_file_of_profiles_is_read_without_the_exact_reader() -> None:
    text = Path(fabrics.__file__).with_name("fabrics.yaml").read_text()

    assert plain.read(text) is not None  # importing PyYAML would take longer than all else about fabrics


@pytest.mark.parametrize("name", shipped_fabrics())
def test_a_shipped_profile_says_what_it_is_and_where_that_is_written(name: str) -> None:
    shipped = shipped_fabrics()[name]

    assert shipped.about.endswith(".")
    assert shipped.sources
    assert all(source.startswith("https://") for source in shipped.sources)
    assert shipped.add


@pytest.mark.parametrize("name", shipped_fabrics())
def test_a_shipped_profile_names_nothing_that_differs_from_cluster_to_cluster(name: str) -> None:
    profile = shipped_fabrics()[name].profile

    assert (profile.resources, profile.networks, profile.annotations) == ({}, [], {})
    assert (profile.topology, profile.nccl_conf) == (None, None)


@pytest.mark.parametrize("name", shipped_fabrics())
def test_no_shipped_profile_leaves_debugging_on(name: str) -> None:
    assert shipped_fabrics()[name].profile.env.get("NCCL_DEBUG", "WARN") == "WARN"
    assert "NCCL_DEBUG_SUBSYS" not in shipped_fabrics()[name].profile.env


@pytest.mark.parametrize("name", shipped_fabrics())
def test_every_exception_is_one_from_something_forbidden(name: str) -> None:
    profile = shipped_fabrics()[name].profile
    without = profile.model_copy(update={"excepted": []})

    assert all(without.refusal(variable) for variable in profile.excepted)


def test_tcpxo_fixes_nothing_that_its_checker_looks_at() -> None:
    profile = shipped_fabrics()["gcp-tcpxo"].profile

    assert profile.env == {"NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY": "/dev/aperture_devices"}
    assert profile.refusal("NCCL_NVLSTREE_MAX_CHUNKSIZE")
    assert profile.refusal("NCCL_DEBUG")


@pytest.mark.parametrize("variable", ["RDMAV_FORK_SAFE", "FI_PROVIDER", "FI_EFA_USE_DEVICE_RDMA", "NCCL_BUFFSIZE"])
def test_the_efa_profile_refuses_the_variables_of_old_stacks(variable: str) -> None:
    assert shipped_fabrics()["aws-efa"].profile.refusal(variable)


@pytest.mark.parametrize("name", ["infiniband", "infiniband-mlx5", "roce", "azure-nd"])
def test_a_shipped_profile_refuses_to_switch_off_its_fabric(name: str) -> None:
    assert shipped_fabrics()[name].profile.refusal("NCCL_IB_DISABLE")
