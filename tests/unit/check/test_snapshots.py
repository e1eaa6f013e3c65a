"""Facts come from snapshots, alone or beside files."""

from pathlib import Path

import pytest

from usher import errors, paths
from usher.check import sources
from usher.cluster.facts import store as facts_store
from usher.cluster.facts.store import Recorded, State
from usher.kinds.reading.values import Absence, Reference
from usher.kinds.registry import FACTS

CLASSES = FACTS["scheduling.k8s.io", "PriorityClass"]
QUEUES = FACTS["kueue.x-k8s.io", "LocalQueue"]
LIMITS = FACTS["", "LimitRange"]
NODES = FACTS["", "Node"]


def class_named(name: str) -> Reference:
    return Reference(group="scheduling.k8s.io", kind="PriorityClass", name=name)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A snapshot of a cluster with one class, no LimitRange, without Kueue, whose nodes nobody might list."""
    value: paths.Object = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "a"},
        "value": 7,
    }
    recorded = [
        Recorded(kind=CLASSES, state=State.KNOWN, values=[CLASSES.keep(value)]),
        Recorded(kind=LIMITS, state=State.KNOWN),
        Recorded(kind=QUEUES, state=State.MISSING),
        Recorded(kind=NODES, state=State.NOT_KNOWN, reason="forbidden"),
    ]
    path = tmp_path / "cluster.json.gz"
    path.write_bytes(facts_store.dumps(recorded))
    return path


def test_a_snapshot_distinguishes_existing_missing_and_unknown_objects(file: Path) -> None:
    store = sources.from_files([str(file)])

    assert not isinstance(store.find(class_named("a")), Absence)
    assert store.find(class_named("b")) is Absence.MISSING
    assert store.objects("", "LimitRange", "ml") == {}
    assert store.objects("kueue.x-k8s.io", "LocalQueue", "ml") is Absence.MISSING
    assert not store.knows("", "Node")
    assert not store.knows("", "ResourceQuota")


def test_files_add_to_a_snapshot(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "more.yaml"
    other.write_text("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: b}\nvalue: 8\n")

    store = sources.from_files([str(file), str(other)])

    assert set(store.names("scheduling.k8s.io", "PriorityClass") or ()) == {"a", "b"}


def test_a_damaged_snapshot_is_an_error_and_not_an_empty_cluster(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:40])

    with pytest.raises(errors.InputError, match="damaged"):
        sources.from_files([str(file)])


def test_an_empty_snapshot_is_one(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json.gz"
    path.write_bytes(facts_store.dumps([Recorded(kind=CLASSES, state=State.KNOWN)]))

    assert sources.from_files([str(path)]).find(class_named("a")) is Absence.MISSING
