"""`usher queue`: where a job would go, and what would make it fit."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import builders
from builders import queues
from integration import api_server
from integration.api_server import ApiServer, status
from integration.command import manifest, usher, write
from usher import paths
from usher.kinds.registry import FACTS

QUEUE = Path(__file__).parents[1] / "data" / "queue"
SITE = ("--facts", QUEUE / "cluster.yaml", "--config", QUEUE / "usher.yaml")


@pytest.mark.parametrize(("name", "code"), [("never", 1), ("not-now", 0), ("given", 0), ("hostile", 0)])
def test_the_exit_code_says_whether_it_could_start_some_day(name: str, code: int) -> None:
    done = usher("queue", QUEUE / f"{name}.yaml", *SITE)

    assert (done.code, done.err) == (code, "")


def test_the_text_tells_of_queues_quotas_and_nodes_and_what_would_make_it_fit() -> None:
    done = usher("queue", QUEUE / "never.yaml", *SITE)

    assert f"{QUEUE / 'never.yaml'}:1\nPyTorchJob research/bert" in done.out
    for heading in ("  Kueue: never", "  GPUQuota: never", "  ResourceQuota: not now", "  nodes: never"):
        assert f"\n{heading}\n" in done.out
    assert "    - ask for at most 4 pods in Worker (32 nvidia.com/gpu instead of 64): there is room now\n" in done.out


def test_the_json_has_the_numbers() -> None:
    (workload,) = usher("queue", QUEUE / "not-now.yaml", *SITE, "--format", "json").json["workloads"]

    kueue = next(each for each in workload["authorities"] if each["authority"] == "Kueue")
    balance = next(each for each in kueue["balances"] if each["resource"] == builders.GPU)
    assert workload["answer"] == "not now"
    assert balance == {
        "of": "flavor a100",
        "resource": builders.GPU,
        "asks": "40",
        "most": "48",
        "own": "16",
        "reserved": "16",
        "free": "32",
    }


def test_what_the_webhook_would_add_can_be_left_out() -> None:
    given = usher("queue", QUEUE / "given.yaml", *SITE)
    written = usher("queue", QUEUE / "given.yaml", *SITE, "--as-written")

    assert "LocalQueue research-local (set by gpu-usher, not by the file)" in given.out
    assert "  Kueue: " not in written.out
    assert "gpu-usher adds" not in written.out


def test_a_chart_may_come_from_standard_input() -> None:
    job = (QUEUE / "not-now.yaml").read_text()

    done = usher("queue", "-", *SITE, stdin=job)

    assert done.code == 0
    assert done.out.startswith("<stdin>:1\n")


def test_without_facts_there_is_nothing_to_tell(tmp_path: Path) -> None:
    done = usher("queue", write(tmp_path / "job.yaml", builders.job()))

    assert (done.code, done.out) == (2, "")
    assert "no cluster is given: use --facts live to read one, --facts" in done.err


def test_without_facts_the_queues_in_the_folder_count(tmp_path: Path) -> None:
    facts = [queues.cluster_queue("research", queues.gpu_group(4)), queues.local_queue("team", "research")]
    write(tmp_path / "queues.yaml", *facts)
    job, lost = (
        write(
            tmp_path / f"{queue}.yaml",
            builders.gpu_job(
                8,
                pods=1,
                name=queue,
                namespace=queues.NAMESPACE,
                labels={"kueue.x-k8s.io/queue-name": queue},
            ),
        )
        for queue in ("team", "other")
    )

    done = usher("queue", job)

    assert done.code == 1
    assert "the queue can ever give 4" in done.out
    assert f"usher: the queues and quotas are those of the files in {tmp_path}; --facts reads others" in done.err
    assert usher("queue", job, "--facts", "none").code == 2
    assert "the LocalQueues are not known" in usher("queue", lost).out


def test_an_unknown_answer_fails_unless_allow_unknown_accepts_it(tmp_path: Path) -> None:
    classes = write(tmp_path / "facts.yaml", builders.custom("v1", "Namespace", {}, name="ml-research", namespace=None))
    job = write(tmp_path / "job.yaml", builders.job(builders.template(builders.container(gpus=1))))

    done = usher("queue", job, "--facts", classes)
    accepted = usher("queue", job, "--facts", classes, "--allow-unknown")

    assert (done.code, accepted.code) == (2, 0)
    assert "  nodes: unknown\n    the nodes are not known\n" in done.out
    assert "--allow-unknown accepts that" in done.err


def test_a_cluster_and_facts_contradict_each_other() -> None:
    done = usher("queue", QUEUE / "never.yaml", *SITE, "--facts", "live")

    assert done.code == 2
    assert "leave out the files, or `live`" in done.err


def test_a_file_without_workloads_is_said_to_be_one() -> None:
    done = usher("queue", "-", *SITE, stdin=manifest(builders.custom("v1", "Secret", {})))

    assert done.code == 2
    assert "no object makes pods" in done.err


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    done = usher("queue", tmp_path / "nope.yaml", *SITE)

    assert done.code == 2
    assert "nope.yaml" in done.err


@pytest.fixture
def api() -> Iterator[ApiServer]:
    """A cluster as in tests/data/queue."""
    with api_server.running() as server:
        for value in yaml.safe_load_all((QUEUE / "cluster.yaml").read_text()):
            kind = FACTS[value["apiVersion"].rpartition("/")[0], value["kind"]]
            root = "/apis/" if "/" in value["apiVersion"] else "/api/"
            server.objects.setdefault((root + value["apiVersion"], kind.plural), []).append(value)
        yield server


def test_a_live_cluster_and_its_snapshot_say_the_same_as_its_manifests(api: ApiServer, tmp_path: Path) -> None:
    kubeconfig = api_server.kubeconfig(tmp_path / "kubeconfig", api.url)
    snapshot = tmp_path / "cluster.json.gz"
    taken = usher("snapshot", "-o", snapshot, "--kubeconfig", kubeconfig)
    assert taken.code == 0, taken.err

    live = usher("queue", QUEUE / "not-now.yaml", "--kubeconfig", kubeconfig, "--config", QUEUE / "usher.yaml")
    by_snapshot = usher("queue", QUEUE / "not-now.yaml", "--facts", snapshot, "--config", QUEUE / "usher.yaml")

    assert (live.code, live.err) == (0, "")
    assert live.out == by_snapshot.out == usher("queue", QUEUE / "not-now.yaml", *SITE).out


def test_what_may_not_be_listed_is_named_and_not_taken_for_missing(api: ApiServer, tmp_path: Path) -> None:
    kubeconfig = api_server.kubeconfig(tmp_path / "kubeconfig", api.url)
    api.trouble("/api/v1/nodes", *[status(403, "Forbidden")] * 10)

    done = usher("queue", QUEUE / "given.yaml", "--kubeconfig", kubeconfig, "--config", QUEUE / "usher.yaml")

    assert done.code == 2
    assert "nodes: not read: " in done.err
    assert "  nodes: unknown\n    the nodes are not known\n" in done.out


def test_other_clusters_answer_for_the_same_workload(tmp_path: Path) -> None:
    small = write(
        tmp_path / "small.yaml",
        queues.flavor("a100"),
        queues.cluster_queue("production-queue", queues.gpu_group(8)),
        queues.local_queue("big", "production-queue", namespace="research"),
    )
    asked = ("queue", QUEUE / "not-now.yaml", *SITE, "--also", f"same={QUEUE / 'cluster.yaml'}")
    (workload,) = usher(*asked, "--format", "json").json["workloads"]
    done = usher(*asked, "--also", f"small={small}")

    assert done.code == 0
    text = done.out.partition("\n  other clusters\n")[2]
    assert text.startswith("  same   not now: 40 nvidia.com/gpu asked for")
    assert "\n  small  " in text
    assert [(each["name"], each["answer"]) for each in workload["clusters"]] == [("same", workload["answer"])]
    assert "asked for" in workload["clusters"][0]["reason"]


def with_queue(path: Path, *more: paths.Object, name: str = "big", **spec: Any) -> Path:
    """The snapshot of a cluster with one queue for 64 GPUs."""
    return write(
        path,
        queues.flavor("a100"),
        queues.cluster_queue("production-queue", queues.gpu_group(64), **spec),
        queues.local_queue(name, "production-queue", namespace="research"),
        *more,
    )


def sending(target: str) -> tuple[paths.Object, ...]:
    """A check that sends workloads to one cluster."""
    kueue = "kueue.x-k8s.io/v1beta2"
    parameters: paths.Json = {"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": "workers"}
    check: dict[str, Any] = {"controllerName": "kueue.x-k8s.io/multikueue", "parameters": parameters}
    return (
        builders.custom(kueue, "AdmissionCheck", check, name="elsewhere", namespace=None),
        builders.custom(kueue, "MultiKueueConfig", {"clusters": [target]}, name="workers", namespace=None),
    )


SENDS: dict[str, Any] = {"admissionChecksStrategy": {"admissionChecks": [{"name": "elsewhere"}]}}


def job(tmp_path: Path) -> Path:
    template = builders.template(builders.container(limits={builders.GPU: 8}))
    labels: paths.Json = {"kueue.x-k8s.io/queue-name": "big"}
    value = builders.job(template, name="bert", namespace="research", parallelism=1, completions=1)
    return write(tmp_path / "job.yaml", {**value, "metadata": {**paths.metadata(value), "labels": labels}})


def test_clusters_that_send_a_workload_to_each_other_are_named(tmp_path: Path) -> None:
    manager = with_queue(tmp_path / "manager.yaml", *sending("asia"), **SENDS)
    asia = with_queue(tmp_path / "asia.yaml", *sending("manager"), **SENDS)
    europe = with_queue(tmp_path / "europe.yaml")
    asked = ("queue", job(tmp_path), "--facts", manager, "--also", f"asia={asia}", "--also", f"europe={europe}")
    done = usher(*asked, "--allow-unknown")
    (workload,) = usher(*asked, "--format", "json", "--allow-unknown").json["workloads"]

    asia_says, europe_says = workload["clusters"]
    assert asia_says["answer"] == "never"
    assert asia_says["reason"].startswith(
        "ClusterQueue production-queue there sends its workloads on to other clusters"
    )
    assert "Leave the AdmissionCheck of MultiKueue out of that queue" in " ".join(done.out.split())
    assert europe_says["answer"] != "never"
    assert "MultiKueue cannot send it" not in " ".join(done.out.split())


def test_the_best_of_the_other_clusters_decides_where_multikueue_sends_a_workload(tmp_path: Path) -> None:
    """The nodes of the first cluster are unknown for it, so its own answer alone would be unknown."""
    manager = with_queue(tmp_path / "manager.yaml", *sending("asia"), **SENDS)
    asia = QUEUE / "cluster.yaml"
    europe = write(
        tmp_path / "europe.yaml",
        queues.flavor("a100"),
        queues.cluster_queue("production-queue", queues.gpu_group(4)),
        queues.local_queue("big", "production-queue", namespace="research"),
    )
    known = write(tmp_path / "quotas.yaml", *others_of_asia())
    asked = ("queue", job(tmp_path), "--facts", manager, "--facts", known)
    alone = usher(*asked)
    found = usher(*asked, "--also", f"asia={asia}", "--also", f"europe={europe}")

    assert (alone.code, found.code) == (2, 0)
    assert "MultiKueue could run it in asia asks for" in " ".join(found.out.split())
    assert "--also NAME=FACTS" in alone.out
    assert "--also NAME=FACTS" not in found.out
    (workload,) = usher(*asked, "--also", f"asia={asia}", "--format", "json").json["workloads"]
    assert (workload["answer"], workload["clusters"][0]["answer"]) == ("could", "fits now")


def others_of_asia() -> list[paths.Object]:
    """One object of each kind that an answer needs to be known, in another namespace."""
    facts = yaml.safe_load_all((QUEUE / "cluster.yaml").read_text())
    kinds = {"ResourceQuota", "LimitRange", "GPUQuota", "PriorityClass", "RuntimeClass"}
    return [each for each in facts if each["kind"] in kinds]


def test_a_queue_that_all_clusters_lack_is_named(tmp_path: Path) -> None:
    manager = with_queue(tmp_path / "manager.yaml", *sending("asia"), **SENDS)
    asia = with_queue(tmp_path / "asia.yaml", name="other")
    dangling = write(
        tmp_path / "europe.yaml",
        queues.flavor("a100"),
        queues.cluster_queue("other", queues.gpu_group(64)),
        queues.local_queue("big", "production-queue", namespace="research"),
    )
    done = usher(
        "queue", job(tmp_path), "--facts", manager, "--also", f"a={asia}", "--also", f"b={dangling}", "--allow-unknown"
    )
    text = " ".join(done.out.partition("\n  other clusters\n")[2].split())

    assert "namespace research has no LocalQueue big" in text
    assert "there is no ClusterQueue production-queue" in text
    assert (
        "MultiKueue cannot send it to any of these clusters: each of them needs a LocalQueue of the same name" in text
    )


@pytest.mark.parametrize("also", ["small", "=facts.yaml", "small="])
def test_another_cluster_needs_a_name_and_facts(also: str) -> None:
    done = usher("queue", QUEUE / "not-now.yaml", *SITE, "--also", also)

    assert (done.code, f"--also {also}: expected NAME=FACTS" in done.err) == (2, True)
