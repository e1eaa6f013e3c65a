"""The API server asks usher about the ConfigMap with usher.yaml, so that every new server can load it."""

import json
from collections.abc import Iterator

import pytest

from e2e.cluster import Cluster, KubectlError, Object

pytestmark = pytest.mark.usefixtures("webhooks")

GOOD = "apiVersion: gpu-usher.io/v1alpha1\nkind: Config\n"
BROKEN = GOOD + "poools: []\nenforcement:\n  rules:\n    - {check: no-such-check, action: warn}\n"


@pytest.fixture(autouse=True)
def own_namespace(cluster: Cluster) -> Iterator[None]:
    cluster.ensure_namespace("gpu-usher")
    yield
    for name in ("gpu-usher", "other"):
        if cluster.exists("ConfigMap", name, namespace="gpu-usher"):
            cluster.delete("ConfigMap", name, namespace="gpu-usher")


def config_map(text: str, *, name: str = "gpu-usher") -> Object:
    metadata = {"name": name, "namespace": "gpu-usher"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"usher.yaml": text}}


def test_a_broken_file_never_reaches_the_cluster(cluster: Cluster) -> None:
    cluster.create(config_map(GOOD))

    with pytest.raises(KubectlError) as refused:
        cluster.kubectl("apply", "--filename=-", stdin=json.dumps(config_map(BROKEN)))

    printed = refused.value.stderr
    assert "configuration.gpu-usher.io" in printed
    assert "usher.yaml:3: poools: unknown key" in printed
    assert "usher.yaml:6: enforcement.rules[0].check: " in printed
    assert cluster.get("ConfigMap", "gpu-usher", namespace="gpu-usher")["data"]["usher.yaml"] == GOOD


def test_an_empty_file_or_a_huge_one_never_reaches_the_cluster(cluster: Cluster) -> None:
    """An empty one would stand for defaults that deny. A huge one would slow every review down."""
    cluster.create(config_map(GOOD))
    rule = "    - {check: gpu-requests-equal-limits, action: warn, namespaces: [team-%d-*]}\n"
    huge = GOOD + "enforcement:\n  rules:\n" + "".join(rule % number for number in range(12_500))

    for text, reason in (("", "the file is empty"), ("enforcement: {}\n", "this key is required"), (huge, "bytes")):
        with pytest.raises(KubectlError, match=reason):
            cluster.kubectl("replace", "--filename=-", stdin=json.dumps(config_map(text)))

    assert cluster.get("ConfigMap", "gpu-usher", namespace="gpu-usher")["data"]["usher.yaml"] == GOOD


def test_a_good_file_and_other_config_maps_get_in(cluster: Cluster) -> None:
    cluster.create(config_map(GOOD))
    cluster.create(config_map(BROKEN, name="other"))
    changed = config_map(GOOD + "queues:\n  - {localQueue: research, namespaces: [ml-*]}\n")

    cluster.kubectl("apply", "--filename=-", stdin=json.dumps(changed))

    assert "research" in cluster.get("ConfigMap", "gpu-usher", namespace="gpu-usher")["data"]["usher.yaml"]
