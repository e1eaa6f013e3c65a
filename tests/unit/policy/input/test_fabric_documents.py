"""Interconnect profiles as rules see them."""

from unittest import mock

import orjson

import builders
from unit.workloads.normalised import VOCABULARY, workload
from usher import paths
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import declared_pools
from usher.cluster.facts.store import Store
from usher.config import models
from usher.policy.input import document as input_document
from usher.policy.input import site as input_site

POOLS = [
    {"name": "h100", "nodeSelector": {"product": "h100"}, "fabric": "rails"},
    {"name": "h200", "nodeSelector": {"product": "h200"}, "fabric": "infiniband"},
    {"name": "l4", "nodeSelector": {"product": "l4"}},
]
RAILS = {
    "base": "infiniband",
    "env": {"NCCL_IB_HCA": "=mlx5_0:1"},
    "topology": {"configMap": "nccl-topology", "key": "ndv5.xml"},
    "ncclConf": {"configMap": "nccl"},
    "resources": {"rdma/ib": 1},
    "networks": ["rail-0"],
    "annotations": {"networking.gke.io/default-interface": "eth0"},
}
CONFIG = models.Config.model_validate(
    {"pools": POOLS, "fabrics": {"rails": RAILS, "spare": {"env": {"NCCL_DEBUG": "WARN"}}}}
)


def fabrics_of(product: str | None) -> paths.Json:
    """The profiles in the document of a pod that selects nodes of a product."""
    pod = builders.pod(builders.container(gpus=8), nodeSelector=None if product is None else {"product": product})
    known = Knowledge(facts=Store(), config=CONFIG, vocabulary=VOCABULARY)
    found: paths.Object = orjson.loads(input_document.Documents(known).build(workload(pod)))
    return found.get("fabrics")


def test_a_profile_includes_all_settings_of_its_base() -> None:
    assert input_site.fabrics(CONFIG)["rails"] == {
        "env": {"NCCL_DEBUG": "WARN", "NCCL_SOCKET_IFNAME": "=eth0", "NCCL_IB_HCA": "=mlx5_0:1"},
        "resources": {"rdma/ib": 1},
        "networks": ["rail-0"],
        "annotations": {"networking.gke.io/default-interface": "eth0"},
        "ipcLock": True,
        "wholeNodes": False,
        "forbidden": ["NCCL_IB_DISABLE"],
        "needs": [
            "a resource of an RDMA device plugin, for example rdma/ib: 1",
            "IPC_LOCK (isolation.ipcLock), or nodes whose memlock limit is unlimited",
        ],
        "topology": {"configMap": "nccl-topology", "key": "ndv5.xml", "path": "/etc/nccl-topo.xml"},
        "ncclConf": {"configMap": "nccl", "key": "nccl.conf", "path": "/etc/nccl.conf"},
    }


def test_only_profiles_of_pools_are_made() -> None:
    assert set(input_site.fabrics(CONFIG)) == {"rails", "infiniband"}
    assert input_site.fabrics(models.Config()) == {}


def test_a_document_holds_the_profiles_of_the_pools_on_which_the_pods_could_run() -> None:
    assert fabrics_of("h200") == {"infiniband": input_site.fabrics(CONFIG)["infiniband"]}
    assert fabrics_of(None) == input_site.fabrics(CONFIG)


def test_without_a_fabric_the_document_has_no_word_of_one() -> None:
    assert fabrics_of("l4") is None


def test_two_documents_of_one_workload_share_its_pod_sets_until_the_pools_change() -> None:
    facts = Store()
    known = Knowledge(facts=facts, config=CONFIG, vocabulary=VOCABULARY)
    documents = input_document.Documents(known)
    read = workload(builders.pod(builders.container(gpus=8), nodeSelector={"product": "h100"}))
    first, asked = documents.build(read), declared_pools.placements(known)

    with mock.patch.object(asked, "of", side_effect=AssertionError):
        assert documents.build(read) == first
    other = mock.Mock(of=lambda *_, **__: declared_pools.NO_POOLS_INPUT, hiding_variables=[])
    with mock.patch.object(declared_pools, "placements", return_value=other):
        assert orjson.loads(documents.build(read))["podSets"][0]["fits"] == []
