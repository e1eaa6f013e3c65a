"""A snapshot says what was known of a cluster, and what was not; nothing in it is secret."""

import gzip
import hashlib
import json
import random
import tracemalloc
import zlib

import pytest

from usher import errors, paths
from usher.cluster.facts import store
from usher.cluster.facts.store import Recorded, State
from usher.kinds.kind import KUEUE_CONFIGURATION, KUEUE_CONFIGURATION_KEY, FactKind
from usher.kinds.registry import FACTS

CLASSES = FACTS["scheduling.k8s.io", "PriorityClass"]
QUEUES = FACTS["kueue.x-k8s.io", "LocalQueue"]

SECRET = "hunter2-was-here"


def priority_class(name: str) -> paths.Object:
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": 7}


def known(*values: paths.Object) -> Recorded:
    return Recorded(kind=CLASSES, state=State.KNOWN, values=values)


def packed(value: object) -> bytes:
    return gzip.compress(json.dumps(value).encode(), mtime=0)


def document(*entries: object, version: str = store.API_VERSION) -> bytes:
    return packed({"apiVersion": version, "kind": store.KIND, "facts": list(entries)})


def test_a_written_snapshot_is_read_back() -> None:
    written = [
        known(priority_class("a"), priority_class("b")),
        Recorded(kind=QUEUES, state=State.MISSING),
        Recorded(kind=FACTS["", "Node"], state=State.NOT_KNOWN, reason="forbidden"),
    ]

    read = {each.kind.key: each for each in store.loads(store.dumps(written), source="cluster.json.gz")}

    assert read == {
        each.kind.key: each
        for each in [
            Recorded(kind=CLASSES, state=State.KNOWN, values=[priority_class("a"), priority_class("b")]),
            *written[1:],
        ]
    }


def test_equal_clusters_give_equal_bytes() -> None:
    """Whatever the order in which an API server lists, and whenever."""
    values = [priority_class(f"class-{number}") for number in range(50)]
    recorded = [known(*values), Recorded(kind=QUEUES, state=State.MISSING)]
    shuffled = random.Random(7).sample(values, k=len(values))

    assert store.dumps(recorded) == store.dumps([recorded[1], known(*shuffled)])


WITH_PODS = {"trainer.kubeflow.org", "serving.kserve.io"}
"""Groups whose kinds hold templates of pods; the API server takes no container in any other kind of ours."""


def hostile(kind: FactKind, place: tuple[str, str]) -> paths.Object:
    """An object with a secret wherever nobody should look."""
    container: paths.Object = {
        "name": "main",
        "env": [{"name": "API_TOKEN", "value": SECRET}, {"name": "NCCL_DEBUG", "value": "INFO"}],
    }
    pod: paths.Object = {"spec": {"containers": [container], "initContainers": [container]}}
    spec: paths.Object = {"template": pod, "containers": [container]} if kind.group in WITH_PODS else {}
    return {
        "apiVersion": f"{kind.group}/{kind.versions[0]}" if kind.group else kind.versions[0],
        "kind": kind.kind,
        "metadata": {
            "name": place[1],
            "namespace": place[0],
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": SECRET},
            "managedFields": [{"manager": SECRET}],
        },
        "data": {KUEUE_CONFIGURATION_KEY: "kind: Configuration", "password": SECRET},
        "binaryData": {"password": SECRET},
        "stringData": {"password": SECRET},
        "spec": spec,
        "value": 7,
    }


def test_nothing_secret_is_kept_of_any_kind() -> None:
    recorded = []
    for kind in FACTS.values():
        values = [kind.keep(hostile(kind, place)) for place in (KUEUE_CONFIGURATION, ("ml", "x"))]
        recorded.append(Recorded(kind=kind, state=State.KNOWN, values=values))

    content = gzip.decompress(store.dumps(recorded)).decode()

    assert SECRET not in content
    assert "kind: Configuration" in content
    assert '"Secret"' not in content
    for each in recorded:
        is_config_map = each.kind.key == ("", "ConfigMap")
        assert [("data" in value) for value in each.values] == [is_config_map, False]


def test_there_is_no_secret_among_the_kinds() -> None:
    assert ("", "Secret") not in FACTS


def test_a_snapshot_from_anywhere_is_trimmed_when_it_is_read() -> None:
    value = {**priority_class("a"), "data": SECRET}
    (read,) = store.loads(
        document({"group": "scheduling.k8s.io", "kind": "PriorityClass", "state": "known", "objects": [value]}),
        source="x",
    )

    assert read.values == [priority_class("a")]


def test_a_kind_that_this_version_does_not_know_is_left_out() -> None:
    entry = {"group": "example.com", "kind": "Future", "state": "known", "objects": [{}]}

    assert store.loads(document(entry), source="x") == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (document(version="gpu-usher.io/v9"), "version gpu-usher.io/v9, but this usher reads gpu-usher.io/v1; take it"),
        (packed({"kind": "List", "apiVersion": "v1"}), "not a snapshot"),
        (packed([]), "not a snapshot"),
        (store.dumps([known(priority_class("a"))])[:-12], "damaged"),
        (b"\x1f\x8b" + b"rubbish", "damaged"),
        (gzip.compress(b"rubbish", mtime=0), "damaged"),
        (gzip.compress(b'{"a":' * 100_000, mtime=0), "damaged"),
        (packed({"apiVersion": store.API_VERSION, "kind": store.KIND, "facts": {}}), "damaged"),
        (document(7), "damaged"),
        (document({"group": 1, "kind": "Node", "state": "known"}), "damaged"),
        (document({"group": "", "kind": "Node", "state": "who knows"}), "damaged"),
        (document({"group": "", "kind": "Node", "state": "known"}), "damaged"),
        (document({"group": "", "kind": "Node", "state": "known", "objects": [{}]}), "damaged"),
        (document({"group": "", "kind": "Node", "state": "known", "objects": [priority_class("a")]}), "damaged"),
    ],
    ids=lambda value: value if isinstance(value, str) else hashlib.sha256(value).hexdigest()[:8],
)
def test_the_refusal_names_a_file_that_is_not_a_snapshot(data: bytes, message: str) -> None:
    with pytest.raises(errors.InputError, match=message) as raised:
        store.loads(data, source="cluster.json.gz")

    assert str(raised.value).startswith("cluster.json.gz: ")


@pytest.mark.costly
def test_what_unpacks_to_more_than_a_cluster_is_refused_without_unpacking_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "LARGEST_CONTENT", 2**20)
    bomb = gzip.compress(bytes(256 * 2**20))

    tracemalloc.start()
    try:
        with pytest.raises(errors.InputError, match="unpacks to more than 1 MiB"):
            store.loads(bomb, source="x")
        assert tracemalloc.get_traced_memory()[1] < 8 * 2**20
    finally:
        tracemalloc.stop()


def test_a_file_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "LARGEST_FILE", 10)

    with pytest.raises(errors.InputError, match="larger than"):
        store.loads(zlib.compress(bytes(100)) + bytes(20), source="x")
