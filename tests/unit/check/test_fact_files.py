"""Facts of a cluster from files."""

from pathlib import Path

import pytest
import yaml

import builders
from usher import errors, paths
from usher.check.sources import from_files
from usher.cluster.facts.store import Store
from usher.kinds.reading.values import Absence, Lookup, LookupsInTurn, Objects, Reference

QUEUE = builders.custom("kueue.x-k8s.io/v1beta2", "LocalQueue", {}, name="research", namespace="ml")


def reference(name: str, *, namespace: str = "ml") -> Reference:
    return Reference(group="kueue.x-k8s.io", kind="LocalQueue", name=name, namespace=namespace)


@pytest.fixture
def known(tmp_path: Path) -> Lookup:
    listed: paths.Object = {"apiVersion": "v1", "kind": "List", "items": [QUEUE]}
    (tmp_path / "queues.yaml").write_text(yaml.safe_dump(listed))
    return from_files([str(tmp_path)])


def test_an_object_of_the_files_exists(known: Lookup) -> None:
    assert known.find(reference("research")) == QUEUE


def test_an_object_that_the_files_lack_is_missing_if_they_hold_its_kind(known: Lookup) -> None:
    assert known.find(reference("reserch")) is Absence.MISSING
    assert known.find(reference("research", namespace="web")) is Absence.MISSING


def test_of_a_kind_that_no_object_is_of_nothing_is_known(known: Lookup) -> None:
    assert known.find(Reference(group="", kind="ConfigMap", name="nccl", namespace="ml")) is Absence.NOT_KNOWN


def test_without_files_nothing_is_known() -> None:
    assert from_files([]).empty


def test_names_of_a_kind_are_known_only_where_the_kind_is() -> None:
    cluster = Store.of([builders.custom("v1", "Namespace", {}, name="web")])

    assert cluster.names("", "Namespace") == frozenset({"web"})
    assert cluster.names("", "ConfigMap") is None


@pytest.mark.parametrize("text", ["a: [", ""])
def test_files_that_tell_nothing_are_refused(tmp_path: Path, text: str) -> None:
    """With half of the objects, what is there would be taken for missing."""
    (tmp_path / "queues.yaml").write_text(text)

    with pytest.raises(errors.InputError, match=r"queues\.yaml|no objects found"):
        from_files([str(tmp_path)])


def test_of_several_who_may_know_the_first_that_has_it_answers() -> None:
    other = builders.custom("kueue.x-k8s.io/v1beta2", "LocalQueue", {"own": True}, name="research", namespace="ml")
    in_turn = LookupsInTurn(Objects([other]), Store.of([QUEUE]))

    assert in_turn.find(reference("research")) == other
    assert in_turn.find(reference("reserch")) is Absence.MISSING
    assert LookupsInTurn().find(reference("research")) is Absence.NOT_KNOWN


def test_a_quota_of_ours_is_an_object_of_the_cluster_and_no_file_of_ours(tmp_path: Path) -> None:
    """A configuration in the same directory is none."""
    file = tmp_path / "facts.yaml"
    file.write_text(
        "apiVersion: gpu-usher.io/v1alpha1\nkind: GPUQuota\nmetadata: {name: research}\n---\n"
        "apiVersion: gpu-usher.io/v1alpha1\nkind: Config\n"
    )

    store = from_files([str(file)])

    assert store.names("gpu-usher.io", "GPUQuota") == frozenset({"research"})
    assert not store.knows("gpu-usher.io", "Config")
