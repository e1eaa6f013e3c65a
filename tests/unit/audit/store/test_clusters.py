"""The file of --clusters: one cluster for each shard, in its order."""

from pathlib import Path

import pytest

from usher import errors
from usher.audit.store import shards
from usher.audit.store.shards import FleetCluster


def written(folder: Path, text: str) -> Path:
    file = folder / "clusters.yaml"
    file.write_text(text)
    return file


def test_the_order_of_the_file_is_that_of_the_shards(tmp_path: Path) -> None:
    file = written(tmp_path, "- {name: b, context: prod-b}\n- {name: a, kubeconfig: keys/a.yaml}\n")

    assert shards.read_clusters(file) == (
        FleetCluster(name="b", context="prod-b", kubeconfig=None),
        FleetCluster(name="a", context=None, kubeconfig=tmp_path / "keys" / "a.yaml"),
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "write a list"),
        ("[]", "write a list"),
        ("name: a", "write a list"),
        ("- {name: a, context: x}\n- {name: a, context: z}", "two clusters have the name a"),
        ("- {name: a}", "entry 0: a names neither a context nor a kubeconfig"),
        ("- {name: a, context: x}\n- {name: b, contxt: y}", "entry 1: contxt"),
        ("- {context: x}", "entry 0: name"),
        ("- text", "entry 0: the entry"),
        ("- {name: 'a\\tb', context: ''}", "entry 0"),
        ("- [", "clusters.yaml"),
    ],
)
def test_a_wrong_entry_is_named_with_its_field(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(errors.InputError, match=says):
        shards.read_clusters(written(tmp_path, text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(errors.InputError, match=r"clusters\.yaml: No such file"):
        shards.read_clusters(tmp_path / "clusters.yaml")
