"""Facts that are wrong, from the command line: usher names each, and draws no verdict from it."""

import gzip
from pathlib import Path

import pytest

import builders
from builders.queues import cluster_queue, cohort, flavor, gpu_group, local_queue
from integration import command
from usher import paths
from usher.cluster.facts import store

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
NEVER = "USH435"
ABOVE_QUOTA = "USH1230"


def research_queue(nominal: paths.Json, *, cohort: str | None = None) -> paths.Object:
    return cluster_queue("research-queue", gpu_group(nominal), cohort=cohort)


def queued_job(gpus: int = 8) -> paths.Object:
    """A Job of one pod in the queue research of namespace ml."""
    return builders.gpu_job(gpus, namespace="ml", labels={QUEUE_LABEL: "research"})


def gpu_quota(name: str, gpus: paths.Json = 4) -> paths.Object:
    return builders.gpu_quota(name, gpus, namespaces=["ml"])


QUEUES: tuple[paths.Object, ...] = (
    local_queue("research", "research-queue", namespace="ml"),
    flavor("a100"),
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}},
)
CYCLE = (
    cohort("east", parent="west"),
    cohort("west", parent="east"),
)


def judged(tmp_path: Path, value: paths.Object, *facts: paths.Object) -> tuple[command.Run, set[str], str]:
    """The run, the codes of what it found, and all that it says it does not know."""
    manifest = command.write(tmp_path / "job.yaml", value)
    cluster = command.write(tmp_path / "cluster.yaml", *facts)
    run = command.usher("check", manifest, "--facts", cluster, "--format=json")
    (workload,) = run.json["workloads"]
    reasons = [each["reason"] for each in (*workload["unknowns"], *run.json["notEvaluated"])]
    return run, {each["code"] for each in workload["findings"]}, "\n".join(reasons)


def test_what_can_be_read_is_judged(tmp_path: Path) -> None:
    """So that what follows is not silent for another reason."""
    queues = (*QUEUES, research_queue(4, cohort="east"), cohort("east"))

    _, found, reasons = judged(tmp_path, queued_job(), *queues, gpu_quota("one"))

    assert {NEVER, ABOVE_QUOTA} <= found
    assert reasons == ""


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ((research_queue("7 apples"),), "ClusterQueue research-queue, spec.resourceGroups[0].flavors[0].resources[0]"),
        ((builders.replaced(research_queue(4), "/spec", 7),), "ClusterQueue research-queue, spec: expected an object"),
        ((research_queue(4, cohort="east"), *CYCLE), "cohort east is its own ancestor (east -> west -> east)"),
    ],
    ids=["a quota with an unknown unit", "a malformed ClusterQueue", "a cycle of cohorts"],
)
def test_of_a_queue_that_cannot_be_read_nothing_is_concluded(
    facts: tuple[paths.Object, ...], reason: str, tmp_path: Path
) -> None:
    _, found, reasons = judged(tmp_path, queued_job(), *QUEUES, *facts)

    assert NEVER not in found
    assert reason in reasons


@pytest.mark.parametrize(
    ("quotas", "reason"),
    [
        ((gpu_quota("one"), gpu_quota("two")), "GPUQuota one and GPUQuota two hold for namespace ml"),
        ((gpu_quota("one", "4 apples"),), "GPUQuota one cannot be read: /spec/limits/0/hard/gpus"),
    ],
    ids=["two quotas over one namespace", "a quota with an unknown unit"],
)
def test_a_quota_whose_bounds_are_unclear_refuses_nothing(
    quotas: tuple[paths.Object, ...], reason: str, tmp_path: Path
) -> None:
    _, found, reasons = judged(tmp_path, queued_job(), *quotas)

    assert ABOVE_QUOTA not in found
    assert reason in reasons


def test_a_configuration_with_two_quotas_over_one_namespace_is_refused(tmp_path: Path) -> None:
    entry = {"namespaces": ["ml"], "limits": [{"hard": {"gpus": 4}}]}
    file = command.config(tmp_path / "usher.yaml", quotas=[{"name": "one", **entry}, {"name": "two", **entry}])

    run = command.usher("check", command.write(tmp_path / "job.yaml", queued_job()), "--config", file)

    assert run.code == 2
    assert f"{file}:" in run.err
    assert "quota one (entry 0) can select the same namespace, but only one quota may hold for it" in run.err
    assert "quotas" in run.err


def snapshot_bytes(version: str) -> bytes:
    return gzip.compress(f'{{"apiVersion": "{version}", "kind": "{store.KIND}", "facts": []}}'.encode())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (snapshot_bytes("gpu-usher.io/v9"), "a snapshot of version gpu-usher.io/v9"),
        (snapshot_bytes(store.API_VERSION)[:-9], "damaged, or not a snapshot"),
        (b"kind: [unclosed\n", "cluster.facts:"),
        (b"\x00\x01\x02 no text", "cluster.facts"),
    ],
    ids=["another version", "truncated", "no YAML", "no text"],
)
def test_a_file_without_valid_facts_is_refused_by_name(data: bytes, message: str, tmp_path: Path) -> None:
    assert_refused(data, message, tmp_path)


@pytest.mark.costly
def test_a_snapshot_that_unpacks_to_more_than_any_cluster_is_refused(tmp_path: Path) -> None:
    bomb = gzip.compress(bytes(store.LARGEST_CONTENT + 2**20), compresslevel=1)

    assert_refused(bomb, "unpacks to more than 512 MiB", tmp_path)


def assert_refused(data: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "cluster.facts"
    file.write_bytes(data)

    run = command.usher("check", command.write(tmp_path / "job.yaml", queued_job()), "--facts", file)

    assert run.code == 2
    assert str(file) in run.err
    assert message in run.err
    assert "Traceback" not in run.err
    assert run.out == ""
