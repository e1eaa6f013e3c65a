"""The files that `usher init` writes: tests/data/discovery holds one for each cluster.

After an intended change, `USHER_UPDATE_GOLDEN=1 pytest tests/unit/install/discovery` writes them again; read the diff.
"""

import os
from pathlib import Path

import pytest
import yaml

import builders
from unit.install.discovery import site_clusters
from unit.install.discovery.site_clusters import CLUSTERS, HOSTILE
from usher.cluster.facts.store import Store
from usher.config import load, models
from usher.install import discovered_file, discovery
from usher.policy import assembly

GOLDEN = Path(__file__).parents[3] / "data" / "discovery"


def text(name: str) -> str:
    return (
        discovered_file.minimal_file()
        if name == "minimal"
        else discovered_file.file_of_cluster(site_clusters.facts(name), source=name)
    )


def config(name: str) -> models.Config:
    return load.parse(text(name).encode(), source=name)


@pytest.mark.parametrize("name", [*CLUSTERS, "minimal"])
def test_the_file_reads_as_its_golden_file(name: str) -> None:
    file = GOLDEN / f"{name}.yaml"
    found = text(name)
    if os.environ.get("USHER_UPDATE_GOLDEN"):
        file.write_text(found)

    assert found == file.read_text()
    assert max(map(len, found.splitlines())) <= 200


def test_every_golden_file_belongs_to_a_cluster() -> None:
    assert {file.stem for file in GOLDEN.iterdir()} == {*CLUSTERS, "minimal"}


@pytest.mark.parametrize("name", [*CLUSTERS, "minimal"])
def test_usher_takes_the_file_and_finds_no_difference_from_its_cluster(name: str) -> None:
    loaded = config(name)

    assembly.embedded(loaded).engine.close()
    if name != "minimal":
        assert discovery.compare(loaded, site_clusters.facts(name)).differences == ()


def test_the_minimal_file_says_what_the_defaults_say() -> None:
    assert config("minimal") == models.Config()


def test_every_example_of_the_minimal_file_can_be_uncommented() -> None:
    lines = [
        line.removeprefix("# ") if line.startswith(("# -", "#  ", "# priorities")) else line
        for line in discovered_file.minimal_file().splitlines()
    ]
    opened = "\n".join(line.replace(": []", ":") for line in lines)

    found = load.parse(opened.encode(), source="opened")

    assert (len(found.pools), len(found.queues), len(found.routing), len(found.priorities.classes)) == (1, 1, 1, 1)


def test_suggestions_can_be_uncommented() -> None:
    opened = text("on-premises").replace("queues: []\n# -", "queues:\n-").replace("  # fabric:", "  fabric:")

    found = load.parse(opened.encode(), source="opened")

    assert [queue.local_queue for queue in found.queues] == ["gpus"]
    assert [pool.fabric for pool in found.pools] == [None, "infiniband"]


def test_hostile_names_stay_names() -> None:
    found = text("hostile")

    assert all(line.isascii() and line.isprintable() for line in found.splitlines())
    assert "evil" not in yaml.safe_load(found)
    assert [pool.node_selector for pool in config("hostile").pools] == [
        {"pool": "0x1F"},
        {"nvidia.com/gpu.product": "null"},
    ]
    assert HOSTILE not in found


def test_a_cluster_without_accelerators_gets_no_pools() -> None:
    found = discovered_file.file_of_cluster(Store.of([builders.node("cpu")]), source="cpus")

    assert load.parse(found.encode(), source="cpus").pools == []


def test_what_usher_does_not_know_is_said() -> None:
    found = discovered_file.file_of_cluster(Store.of([site_clusters.namespace("research")]), source="half")

    assert "usher does not know the objects of kind Node, so `pools` is missing here." in found
    assert "usher does not know the objects of kind LocalQueue, so `queues` is missing here." in found


def test_lists_of_suggestions_end() -> None:
    many = [site_clusters.priority_class(f"class-{number:03}", number) for number in range(100)]
    found = discovered_file.file_of_cluster(Store.of(many), source="many")

    assert found.count("# class-") == discovered_file.MOST_SUGGESTIONS
    assert "# ... and 80 more." in found
