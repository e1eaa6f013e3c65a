"""`usher init` and `usher config check` with facts, as users run them."""

from pathlib import Path

import pytest
import yaml

from integration.command import EXAMPLES, usher, write
from unit.install.discovery.site_clusters import CLUSTERS


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    return write(tmp_path / "facts" / "cluster.yaml", *CLUSTERS["on-premises"]())


def test_the_file_of_a_cluster_is_good_and_the_same_as_the_cluster(cluster: Path, tmp_path: Path) -> None:
    done = usher("init", "--facts", cluster, cwd=tmp_path)

    assert (done.code, done.err) == (0, "")
    assert done.out == "usher.yaml: written. Read it, then try: usher config check usher.yaml\n"
    checked = usher("config", "check", "usher.yaml", "--facts", cluster, cwd=tmp_path)
    assert (checked.code, checked.out) == (0, "usher.yaml: good, and the cluster has what it declares\n")


def test_without_a_cluster_the_file_has_the_defaults(tmp_path: Path) -> None:
    assert usher("init", cwd=tmp_path).code == 0
    assert usher("config", "check", "usher.yaml", cwd=tmp_path).out == "usher.yaml: good\n"


def test_it_prints_the_file_and_nothing_else(cluster: Path, tmp_path: Path) -> None:
    done = usher("init", "--facts", cluster, "-o", "-", cwd=tmp_path)

    assert done.code == 0
    assert yaml.safe_load(done.out)["kind"] == "Config"
    assert not (tmp_path / "usher.yaml").exists()


def test_a_file_that_exists_is_replaced_only_by_force(tmp_path: Path) -> None:
    file = tmp_path / "usher.yaml"
    file.write_text("mine")

    refused = usher("init", cwd=tmp_path)

    assert (refused.code, file.read_text()) == (2, "mine")
    assert refused.err == "usher: usher.yaml exists already; choose another file with -o, or replace it with --force\n"
    assert usher("init", "--force", cwd=tmp_path).code == 0
    assert file.read_text() != "mine"


def test_a_link_that_leads_nowhere_is_not_followed_silently(tmp_path: Path) -> None:
    (tmp_path / "usher.yaml").symlink_to(tmp_path / "gone")

    assert usher("init", cwd=tmp_path).code == 2
    assert not (tmp_path / "gone").exists()


def test_files_without_objects_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    done = usher("init", "--facts", tmp_path / "empty", cwd=tmp_path)

    assert done.code == 2
    assert not (tmp_path / "usher.yaml").exists()


def test_a_difference_is_named_with_its_line_and_ends_with_code_1(cluster: Path, tmp_path: Path) -> None:
    usher("init", "--facts", cluster, cwd=tmp_path)
    file = tmp_path / "usher.yaml"
    file.write_text(file.read_text().replace("perNode: 8}\n", "perNode: 4}\n"))
    line = next(number for number, text in enumerate(file.read_text().splitlines(), 1) if "perNode: 4}" in text)

    done = usher("config", "check", "usher.yaml", "--facts", cluster, cwd=tmp_path)

    assert done.code == 1
    assert done.out == f"usher.yaml:{line}: pools[1].gpu.perNode: a node has 8 GPUs, and usher.yaml says 4\n"


def test_facts_that_miss_what_the_file_needs_end_with_code_2(tmp_path: Path) -> None:
    only_nodes = [value for value in CLUSTERS["on-premises"]() if value["kind"] == "Node"]
    facts = write(tmp_path / "nodes.yaml", *only_nodes)
    config = tmp_path / "usher.yaml"
    usher("init", "--facts", facts, "-o", config)
    config.write_text(config.read_text() + "queues: [{namespaces: [research], localQueue: gpus}]\n")

    done = usher("config", "check", config, "--facts", facts)

    assert done.code == 2
    assert "the objects of kind LocalQueue are unknown" in done.err


def test_facts_and_a_live_cluster_exclude_each_other(cluster: Path) -> None:
    for command in (["init"], ["config", "check", str(EXAMPLES / "usher.yaml")]):
        done = usher(*command, "--facts", cluster, "--facts", "live")

        assert done.code == 2
        assert "leave out the files, or `live`" in done.err


def test_config_check_takes_the_file_of_the_folder(tmp_path: Path) -> None:
    missing = usher("config", "check", cwd=tmp_path)
    (tmp_path / "usher.yaml").write_text("apiVersion: gpu-usher.io/v1alpha1\nkind: Config\n")

    assert (missing.code, missing.out) == (2, "")
    assert "this folder has no usher.yaml: name a file, or write one with `usher init`" in missing.err
    assert usher("config", "check", cwd=tmp_path).out == "usher.yaml: good\n"
