"""Interconnect profiles of usher.yaml: what they may say, and what becomes of one that is based on a shipped one."""

from typing import Any

import pydantic
import pytest

from usher.config import fabrics as fabrics_shipped
from usher.config import load, models
from usher.config.fabrics import Fabric, with_base

FAST_CARD = {"NCCL_IB_HCA": "=mlx5_0:1"}
TOPOLOGY = {"configMap": "nccl-topology"}


def profile(fabric: dict[str, Any], *, name: str = "rails") -> Fabric:
    """The profile of a configuration that has this one, with all that its base says."""
    return models.Config.model_validate({"fabrics": {name: fabric}}).fabric(name)


def refusals(fabric: dict[str, Any], *, name: str = "rails") -> list[tuple[str, str]]:
    """Place and reason of all that is wrong with a profile."""
    with pytest.raises(pydantic.ValidationError) as refusal:
        profile(fabric, name=name)
    return [
        (".".join(str(key) for key in detail["loc"]), detail["msg"].removeprefix("Value error, "))
        for detail in refusal.value.errors()
    ]


def mistakes(fabric: dict[str, Any], *, name: str = "rails") -> list[tuple[str, str]]:
    """Pointer and reason of all that is wrong with a profile in the file."""
    return load.find_mistakes({"apiVersion": models.API_VERSION, "kind": "Config", "fabrics": {name: fabric}})


def places(fabric: dict[str, Any]) -> list[str]:
    return [place for place, _ in refusals(fabric)]


def test_a_profile_has_only_the_settings_that_it_names() -> None:
    rails = profile({"env": FAST_CARD, "resources": {"rdma/ib": 1}})

    assert (rails.env, rails.resources) == (FAST_CARD, {"rdma/ib": 1})
    assert (rails.topology, rails.nccl_conf, rails.networks, rails.annotations) == (None, None, [], {})
    assert not rails.ipc_lock


def test_files_have_the_names_that_people_expect() -> None:
    rails = profile({"topology": TOPOLOGY, "ncclConf": {"configMap": "nccl"}})

    assert rails.topology is not None
    assert rails.nccl_conf is not None
    assert (rails.topology.key, rails.topology.path) == ("nccl-topo.xml", "/etc/nccl-topo.xml")
    assert rails.nccl_conf.key == "nccl.conf"


@pytest.mark.parametrize("fabric", [{}, {"env": {}}, {"env": {}, "networks": [], "ipcLock": False}, {"base": None}])
def test_a_profile_that_gives_nothing_is_refused(fabric: dict[str, Any]) -> None:
    assert refusals(fabric) == [("fabrics.rails", "the fabric is empty; set env, or base to a shipped fabric")]


@pytest.mark.parametrize("name", ["LD_LIBRARY_PATH", "LD_PRELOAD", "PATH"])
def test_a_profile_does_not_take_the_place_of_what_the_image_sets(name: str) -> None:
    reason = "it would replace the value of the image; set it in the image or the manifest"

    assert refusals({"env": {name: "/opt/lib"}}) == [("fabrics.rails.env", f"{name} cannot be set here: {reason}")]


@pytest.mark.parametrize(
    "key",
    [
        "cdi.k8s.io/gpu",
        "devices.gke.io/container.tcpxo-daemon",
        "gpu-usher.io/mutations",
        "k8s.v1.cni.cncf.io/networks",
        "kueue.x-k8s.io/podset-required-topology",
    ],
)
def test_annotations_that_hand_out_devices_or_belong_to_others_are_refused(key: str) -> None:
    assert refusals({"annotations": {key: "x", "networking.gke.io/interfaces": "[]"}}) == [
        (
            "fabrics.rails.annotations",
            f"{key} cannot be set here: it gives devices to pods, or belongs to a controller",
        )
    ]


@pytest.mark.parametrize(
    ("fabric", "place"),
    [
        ({"topology": {}}, "topology.configMap"),
        ({"topology": {**TOPOLOGY, "key": ".."}}, "topology.key"),
        ({"topology": {**TOPOLOGY, "key": "a/b"}}, "topology.key"),
        ({"topology": {**TOPOLOGY, "path": "etc/nccl-topo.xml"}}, "topology.path"),
        ({"topology": {**TOPOLOGY, "path": "/"}}, "topology.path"),
        ({"topology": {**TOPOLOGY, "path": "/etc/../dev/shm"}}, "topology.path"),
        ({"topology": {**TOPOLOGY, "path": "/etc/nccl topo.xml"}}, "topology.path"),
        ({"ncclConf": {"configMap": "NCCL"}}, "ncclConf.configMap"),
        ({"resources": {"rdma/ib": 0}}, "resources.rdma/ib"),
        ({"resources": {"rdma/ib": "many"}}, "resources.rdma/ib"),
        ({"resources": {"": 1}}, "resources..[key]"),
        ({"networks": ["rail 0"]}, "networks.0"),
        ({"networks": ["a/b/c"]}, "networks.0"),
        ({"networks": ["rail-0@"]}, "networks.0"),
        ({"networks": [f"rail-{index}" for index in range(33)]}, "networks"),
        ({"forbidden": {"*": "no"}}, "forbidden.*.[key]"),
        ({"excepted": ["NCCL_*"]}, "excepted.0"),
    ],
)
def test_what_cannot_be_meant_is_refused_where_it_stands(fabric: dict[str, Any], place: str) -> None:
    assert places(fabric) == [f"fabrics.rails.{place}"]


def test_a_network_is_listed_once_under_whatever_interface() -> None:
    networks = ["rail-0", "fabric/rail-0", "rail-0@net1"]

    assert refusals({"networks": networks}) == [
        ("fabrics.rails.networks", "rail-0 is listed twice; a pod attaches to a network once")
    ]
    assert profile({"networks": networks[:2]}).networks == networks[:2]


def test_the_variable_of_the_topology_comes_with_its_file_alone() -> None:
    assert refusals({"topology": TOPOLOGY, "env": {"NCCL_TOPO_FILE": "/opt/topo.xml"}}) == [
        ("fabrics.rails", "NCCL_TOPO_FILE is set together with the file of topology; leave it out of env")
    ]
    in_image = {"NCCL_TOPO_FILE": "/opt/topo.xml"}
    assert profile({"env": in_image}).env == in_image


def test_a_profile_cannot_set_what_it_forbids() -> None:
    assert refusals(
        {"env": {"NCCL_NET": "Socket", "FI_PROVIDER": "efa"}, "forbidden": {"FI_*": "old", "NCCL_NET": "slow"}}
    ) == [("fabrics.rails", "NCCL_NET cannot be set: slow; FI_PROVIDER cannot be set: old")]


def test_an_exception_lets_through_what_a_beginning_forbids_and_no_whole_name() -> None:
    fabric = Fabric(forbidden={"NCCL_*": "all of them", "NCCL_NET": "by name"}, excepted=["NCCL_DEBUG", "NCCL_NET"])

    assert fabric.refusal("NCCL_DEBUG") == ""
    assert fabric.refusal("NCCL_NET") == "by name"
    assert fabric.refusal("NCCL_DEBUG_SUBSYS") == "all of them"
    assert fabric.refusal("UCX_TLS") == ""


def test_a_name_that_is_shipped_cannot_be_taken_without_saying_so() -> None:
    assert mistakes({"env": FAST_CARD}, name="infiniband") == [
        (
            "/fabrics/infiniband",
            "infiniband is a shipped fabric; set base: infiniband to add to it, or choose another name",
        )
    ]
    assert profile({"base": "infiniband", "env": FAST_CARD}, name="infiniband").env["NCCL_IB_HCA"] == "=mlx5_0:1"


def test_a_base_must_be_shipped() -> None:
    shipped = ", ".join(fabrics_shipped.shipped_fabrics())

    assert mistakes({"base": "carrier-pigeons", "env": FAST_CARD}) == [
        ("/fabrics/rails/base", f"carrier-pigeons is not a shipped fabric; these are {shipped}")
    ]


def test_a_site_cannot_set_what_its_base_forbids_whatever_it_says_of_it() -> None:
    switch = {"NCCL_IB_DISABLE": "1"}
    reason = "NCCL_IB_DISABLE cannot be set: it switches off the fabric that the pool is there for"

    assert mistakes({"base": "infiniband", "env": switch}) == [("/fabrics/rails/env/NCCL_IB_DISABLE", reason)]
    excepted = mistakes({"base": "infiniband", "env": switch, "excepted": ["NCCL_IB_DISABLE"]})
    assert excepted == [("/fabrics/rails/env/NCCL_IB_DISABLE", reason)]
    (((place, _)),) = mistakes({"base": "gcp-tcpxo", "env": {"NCCL_ALGO": "Ring"}, "excepted": ["NCCL_ALGO"]})
    assert place == "/fabrics/rails/env/NCCL_ALGO"


def test_a_site_may_set_another_value_of_what_its_base_sets() -> None:
    assert profile({"base": "infiniband", "env": {"NCCL_DEBUG": "INFO"}}).env["NCCL_DEBUG"] == "INFO"
    directory = {"NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY": "/dev/apertures"}
    assert profile({"base": "gcp-tcpxo", "env": directory}).env == directory


def test_a_site_adds_to_its_base_by_key_and_replaces_lists() -> None:
    base = Fabric(
        env={"A": "1", "B": "2"},
        resources={"rdma/ib": 1},
        networks=["rail-0"],
        ipc_lock=True,
        needs=["a card"],
        forbidden={"C": "no"},
    )
    site = Fabric(base="any", env={"B": "3", "D": "4"}, networks=["rail-1"], forbidden={"E*": "no"})

    assert with_base(site, base) == Fabric(
        env={"A": "1", "B": "3", "D": "4"},
        resources={"rdma/ib": 1},
        networks=["rail-1"],
        ipc_lock=True,
        needs=["a card"],
        forbidden={"C": "no", "E*": "no"},
    )


def test_a_site_can_take_the_lock_of_its_base_away() -> None:
    assert not profile({"base": "infiniband", "ipcLock": False}).ipc_lock


def test_a_profile_can_supply_the_topology_that_its_base_lacks() -> None:
    fabric = profile({"base": "azure-nd", "topology": {**TOPOLOGY, "path": "/opt/microsoft/ndv5/topo.xml"}})

    assert fabric.topology is not None
    assert fabric.topology.path == "/opt/microsoft/ndv5/topo.xml"
    assert fabric.env["NCCL_IB_PCI_RELAXED_ORDERING"] == "1"
