"""Shards of a cluster: together they list each object once, and `usher report merge` adds up what they write."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import builders
from integration import audited, command
from integration.api_server import ApiServer, Trouble, kubeconfig, running, status
from usher.audit.store.shards import PartialLists, home_shard, list_namespaces
from usher.cluster import api as cluster_api

pytestmark = pytest.mark.costly

SPACES = [f"team-{number}" for number in range(7)]
NUMBER = 3


@pytest.fixture
def api() -> Iterator[ApiServer]:
    """Seven namespaces with pods, several pages of them; kube-system gives the cluster its id."""
    with running() as server:
        for name in [*SPACES, "kube-system"]:
            server.add({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        for number, space in enumerate(SPACES):
            server.add(*(audited.gpu_pod(f"pod-{each}", namespace=space) for each in range(number)))
        for space in SPACES:
            for each in server.objects["/api/v1", "pods"]:
                metadata: Any = each["metadata"]
                if metadata["namespace"] == space:
                    metadata["uid"] = f"uid-{space}-{metadata['name']}"
        yield server


def listed(api: ApiServer, names: list[str], *, size: int = 2) -> list[str]:
    part = PartialLists(audited.connected(api), names=names)
    found = []
    for page in cluster_api.list_pages(part, "/api/v1/pods", size=size, resume=True):
        assert isinstance(page, cluster_api.Page), page
        for each in page.items:
            metadata: Any = each["metadata"]
            found.append(f"{metadata['namespace']}/{metadata['name']}")
    return found


def test_all_shards_together_list_each_object_once(api: ApiServer) -> None:
    found = [
        each
        for index in range(NUMBER)
        for each in listed(api, [name for name in SPACES if home_shard(name, NUMBER) == index])
    ]

    assert sorted(found) == sorted(f"{name}/pod-{each}" for number, name in enumerate(SPACES) for each in range(number))


def test_a_shard_never_lists_namespaces_of_others(api: ApiServer) -> None:
    """After the first page, which says whether the whole list is short."""
    listed(api, ["team-5"])

    asked = [path for path, query in api.requests if path.endswith("/pods") and query.get("continue")]
    assert asked == ["/api/v1/namespaces/team-5/pods"] * 2


def test_a_short_list_is_asked_for_once_and_filtered(api: ApiServer) -> None:
    api.page = 500

    assert listed(api, ["team-1"], size=500) == ["team-1/pod-0"]
    assert len([path for path, _ in api.requests if path.endswith("/pods")]) == 1


def test_a_shard_without_namespaces_lists_nothing(api: ApiServer) -> None:
    assert listed(api, []) == []


def test_a_list_that_expired_goes_on_where_the_server_offers(api: ApiServer) -> None:
    api.troubles.append(expired_once(lambda path, query: "team-6" in path and query.get("continue") == "2"))

    assert len(listed(api, ["team-6"])) == 6


def expired_once(matches: Callable[[str, Mapping[str, str]], bool]) -> Trouble:
    waiting = [status(410, "the list expired", offered="2")]
    return lambda path, query: waiting.pop() if waiting and matches(path, query) else None


def test_a_refusal_in_a_later_namespace_ends_the_list(api: ApiServer) -> None:
    api.trouble("/api/v1/namespaces/team-6/pods", *[status(403, "forbidden")] * 3)
    part = PartialLists(audited.connected(api), names=["team-5", "team-6"])

    *pages, last = cluster_api.list_pages(part, "/api/v1/pods", size=2, resume=True)

    assert sum(len(page.items) for page in pages if isinstance(page, cluster_api.Page)) == 5
    assert isinstance(last, cluster_api.Refused)
    assert last.forbidden


def test_the_id_of_a_cluster_is_that_of_kube_system(api: ApiServer) -> None:
    found = list_namespaces(audited.connected(api))

    assert set(found.names) == {*SPACES, "kube-system"}
    assert found.cluster_id == "uid-namespaces-kube-system"


def test_shards_write_parts_that_add_up(api: ApiServer, tmp_path: Path) -> None:
    file, parts = kubeconfig(tmp_path / "kubeconfig", api.url), tmp_path / "parts"
    for index in range(NUMBER):
        done = command.usher(
            *("audit", "--kubeconfig", file, "--shards", str(NUMBER), "--output-dir", parts, "--cluster-name", "prod"),
            env={"JOB_COMPLETION_INDEX": str(index)},
        )
        assert done.code == 0, done.err
        assert done.out == ""
        assert f"shard {index}/{NUMBER} of prod: " in done.err

    merged = command.usher("report", "merge", parts, "--format", "json", "--require-complete")

    assert merged.code == 0, merged.err
    assert merged.json["summary"]["workloads"] == sum(range(7))
    assert merged.json["summary"]["clusters"] == 1


def test_a_finished_shard_is_left_out_of_the_next_run(api: ApiServer, tmp_path: Path) -> None:
    file = kubeconfig(tmp_path / "kubeconfig", api.url)
    arguments = ("audit", "--kubeconfig", file, "--shard", "1/3", "--output-dir", tmp_path / "parts")

    assert "shard 1/3" in command.usher(*arguments).err
    seen = len(api.requests)
    again = command.usher(*arguments)

    assert again.code == 0
    assert "is complete in" in again.err
    assert not [path for path, _ in api.requests[seen:] if path.endswith("/pods")]
    assert "workload" in command.usher(*arguments, "--again").err


def test_a_fleet_is_a_file_of_clusters(api: ApiServer, tmp_path: Path) -> None:
    kubeconfig(tmp_path / "a.yaml", api.url)
    (tmp_path / "clusters.yaml").write_text(json.dumps([{"name": "a", "kubeconfig": "a.yaml"}]))
    given = ("audit", "--clusters", tmp_path / "clusters.yaml", "--output-dir", tmp_path / "parts")

    done = command.usher(*given)
    assert done.code == 0, done.err
    assert "usher: a: 21 workloads" in done.err

    (tmp_path / "clusters.yaml").write_text(
        json.dumps([{"name": "a", "kubeconfig": "a.yaml"}, {"name": "b", "kubeconfig": "a.yaml", "context": "nowhere"}])
    )
    refused = command.usher(*given, "--shard", "0/3")
    assert refused.code == 2
    assert "has 2 clusters" in refused.err


def test_a_cluster_that_could_not_be_audited_is_missing_in_the_fleet(api: ApiServer, tmp_path: Path) -> None:
    kubeconfig(tmp_path / "a.yaml", api.url)
    listed = [{"name": "a", "kubeconfig": "a.yaml"}, {"name": "b", "kubeconfig": "a.yaml", "context": "nowhere"}]
    (tmp_path / "clusters.yaml").write_text(json.dumps(listed))
    given = ("audit", "--clusters", tmp_path / "clusters.yaml", "--output-dir", tmp_path / "parts", "--shard")
    assert [command.usher(*given, f"{index}/2").code for index in range(2)] == [0, 2]

    merge = ("report", "merge", tmp_path / "parts", "--require-complete")
    text, document = command.usher(*merge), command.usher(*merge, "--format", "json")

    assert (text.code, document.code) == (2, 2)
    shown = " ".join(text.out.split())
    assert shown.startswith("Audit of 1 of 2 clusters, ")
    assert "b: missing cluster: --clusters names it, and it has no part: look at the run of --shard 1/2" in shown
    assert (document.json["summary"]["clusters"], document.json["summary"]["clustersMissing"]) == (1, 1)
    assert [(each["kind"], each["cluster"]) for each in document.json["problems"]] == [("missing cluster", "b")]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--shard", "0/2"], "--shard needs --output-dir"),
        (["--shards", "2", "--output-dir", "x"], "$JOB_COMPLETION_INDEX"),
        (["--shard", "2/2", "--output-dir", "x"], "shards count from 0 to 1"),
        (["--shard", "0/2", "--shards", "2", "--output-dir", "x"], "leave out --shards"),
        (["--shard", "0/2", "--output-dir", "x", "manifests"], "leave out PATH"),
        (["--in-namespace", "a", "--output-dir", "x"], "leave out --in-namespace"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: list[str], says: str) -> None:
    done = command.usher("audit", *options)

    assert done.code == 2
    assert says in done.err


def test_a_dump_is_a_part_of_a_fleet(tmp_path: Path) -> None:
    (tmp_path / "dump.json").write_text(json.dumps(builders.pod(builders.container(gpus=2), name="a")))

    done = command.usher("audit", tmp_path / "dump.json", "--cluster-name", "lab", "--output-dir", tmp_path / "parts")
    merged = command.usher("report", "merge", tmp_path / "parts")

    assert done.code == 0, done.err
    assert "  lab  " in merged.out


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--output", "x.pdf"], "no format has the ending .pdf; write .txt, .json, .csv, .html, or name a format with"),
        (["--output", "gone/x.json"], "gone/x.json: the report cannot be written: there is no folder gone; make it"),
    ],
)
def test_a_merge_that_cannot_be_written_is_refused_before_it_reads(tmp_path: Path, given: list[str], says: str) -> None:
    done = command.usher("report", "merge", tmp_path / "parts", *given, cwd=tmp_path)

    assert (done.code, done.out) == (2, "")
    assert says in " ".join(done.err.split())
