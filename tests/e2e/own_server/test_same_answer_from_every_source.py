"""The webhook, a snapshot, the manifests of a cluster and an audit say the same about one workload."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import reviews
from builders import GPU
from e2e import accounts, facts_site, facts_workloads, quota_site
from e2e.cluster import ApiError, Cluster, Object, wait_until
from e2e.facts_site import CONFIG, FULL
from e2e.facts_workloads import job, template
from e2e.verdicts import Said, expected, identity, reported
from integration import command
from server_process import JSON, ServerProcess
from usher.cluster.facts import store
from usher.cluster.facts.store import State

WORKLOADS = list(facts_workloads.asked_about())

NEVER = {"eight-slices", "gang", "large", "nine", "three-nodes", "too-much-memory"}
"""Names of those that are denied."""

WAITING = {"held", "lost", "misspelt", "stray", "with-runtime", "without-class"}
"""Names of those for which somebody has to do something first."""

BY_FACTS = {f"USH{number}" for number in (330, 331, 430, 431, 432, 435, 520, 523, 620, 621)} | {
    f"USH{number}" for number in (1220, 1221, 1222, 1224, 1226, 1230, 1231)
}
"""Codes of what is found in nothing but facts of the cluster."""

OF_NEW_WORKLOADS_ALONE = "USH1222"
"""A check that audits skip: existing objects have their part of the ResourceQuota already."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with facts_site.prepared(tmp_path_factory.mktemp("facts-site")) as running:
        running.create(job("holder", template(GPU, 8), namespace=FULL))
        yield running


@pytest.fixture(scope="module")
def account(site: Cluster) -> Path:
    """The kubeconfig of the server's account."""
    return accounts.kubeconfig(site)


@pytest.fixture(scope="module")
def server(account: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that watches the cluster."""
    with quota_site.replica(tmp_path_factory.mktemp("server"), 0, account, config=CONFIG) as running:
        yield running


@pytest.fixture(scope="module")
def answered(server: ServerProcess) -> Said:
    """The webhook's responses while none of the workloads exists."""
    body = reviews.body(WORKLOADS[0], dryRun=True)
    wait_until(
        lambda: server.ask("POST", "/validate", body=body, headers=JSON).status == 200,
        description="usher has counted what exists in the namespaces of the quotas",
    )
    return {identity(each): server.review("validate", reviews.body(each, dryRun=True)) for each in WORKLOADS}


@pytest.fixture(scope="module")
def shown(site: Cluster, server: ServerProcess, answered: Said) -> Said:
    """The denial and the warnings that users read who create the workloads; a dry run, before any exists."""
    assert answered
    with quota_site.asked(site, [server]):
        large = next(each for each in WORKLOADS if each["metadata"]["name"] == "large")
        wait_until(
            lambda: "denied the request" in _shown(site, large)[0], description="the API server asks the webhook"
        )
        return {identity(each): _shown(site, each) for each in WORKLOADS}


@pytest.fixture(scope="module")
def taken(site: Cluster, account: Path) -> Path:
    """A snapshot of the cluster."""
    file = site.directory / "cluster.json.gz"
    done = command.usher("snapshot", "--output", file, "--kubeconfig", account)
    assert done.code == 0, done.err
    return file


@pytest.fixture(scope="module")
def written(site: Cluster) -> Path:
    """The workloads as their users write them."""
    return command.write(site.directory / "workloads.yaml", *WORKLOADS)


@pytest.fixture(scope="module")
def outlooks(site: Cluster, taken: Path, written: Path) -> list[command.Run]:
    """The output of `usher queue` by the snapshot, and by the cluster itself."""
    return [
        command.usher("queue", written, "--config", CONFIG, "--format", "json", *cluster)
        for cluster in (("--facts", taken), ("--kubeconfig", site.kubeconfig))
    ]


@pytest.fixture(scope="module")
def by_cluster(site: Cluster, account: Path, written: Path) -> Said:
    """The report of `usher check` that reads the facts from the cluster of the current context."""
    home = site.directory / "home"
    (home / ".kube").mkdir(parents=True)
    shutil.copy(account, home / ".kube" / "config")
    return checked(written, facts="live", HOME=str(home))


@pytest.fixture(scope="module")
def existing(site: Cluster, shown: Said, outlooks: list[command.Run], by_cluster: Said) -> Cluster:
    """The cluster with the workloads in it, which nobody has denied. From then on they use up quotas themselves."""
    assert shown
    assert by_cluster
    assert outlooks
    for each in WORKLOADS:
        site.create(each)
    return site


@pytest.fixture(scope="module")
def by_snapshot(taken: Path, written: Path) -> Said:
    return checked(written, facts=taken)


@pytest.fixture(scope="module")
def manifests(site: Cluster, taken: Path) -> Path:
    """A directory with what kubectl prints of all objects that a snapshot is made of."""
    recorded = store.loads(taken.read_bytes(), source="snapshot")
    there = ",".join(each.kind.resource for each in recorded if each.state is State.KNOWN)
    directory = site.directory / "manifests"
    directory.mkdir()
    (directory / "cluster.json").write_text(site.kubectl("get", there, "--all-namespaces", "--output=json"))
    return directory


@pytest.fixture(scope="module")
def audited(existing: Cluster) -> command.Run:
    """An audit of the cluster."""
    done = command.usher("audit", "--kubeconfig", existing.kubeconfig, "--config", CONFIG, "--format", "findings")
    assert done.code == 0, done.err
    return done


def test_the_webhook_answers_what_check_reports_by_a_snapshot(answered: Said, by_snapshot: Said) -> None:
    """Verdict, denial, warnings and what goes to the audit log, of every workload."""
    assert answered == {identity(each): expected(each, by_snapshot[identity(each)]) for each in WORKLOADS}


def test_a_user_reads_it_at_the_creation_of_the_workload(shown: Said, by_snapshot: Said) -> None:
    for each in WORKLOADS:
        denial, warnings = shown[identity(each)]
        told = expected(each, by_snapshot[identity(each)])

        assert denial.partition(" denied the request: ")[2] == told.get("status", {}).get("message", "")
        assert warnings == told.get("warnings", [])


def test_the_manifests_of_a_cluster_say_what_its_snapshot_says(
    manifests: Path, written: Path, by_snapshot: Said
) -> None:
    assert checked(written, facts=manifests) == by_snapshot


def test_the_cluster_itself_says_what_its_snapshot_says(by_cluster: Said, by_snapshot: Said) -> None:
    assert by_cluster == by_snapshot


def test_an_audit_finds_it_in_what_exists(audited: command.Run, by_snapshot: Said) -> None:
    """But for room in a ResourceQuota: what exists has taken its part already."""
    assert reported(audited, WORKLOADS) == {
        name: {**said, "findings": [each for each in said["findings"] if each["code"] != OF_NEW_WORKLOADS_ALONE]}
        for name, said in by_snapshot.items()
    }


def test_an_audit_finds_nothing_wrong_with_queues_and_quotas_that_are_right(audited: command.Run) -> None:
    kinds = {"ClusterQueue", "Cohort", "GPUQuota", "LocalQueue", "PodGroup", "Queue", "ResourceQuota", "Topology"}
    found = {
        f"{entry['kind']} {entry['name']}": [each["code"] for each in entry["findings"] if each["outcome"] != "audit"]
        for entry in audited.json["workloads"]
        if entry["kind"] in kinds
    }

    assert {"ClusterQueue production", "GPUQuota research", "ResourceQuota gpus"} <= found.keys()
    assert {name: codes for name, codes in found.items() if codes} == {}


def test_the_workloads_are_of_all_sorts(by_snapshot: Said) -> None:
    """Or agreement would prove little: denied, warned of, unknown, and nothing at all."""
    outcomes = {name: {each["outcome"] for each in said["findings"]} for (_, name), said in by_snapshot.items()}
    found = {each["code"] for said in by_snapshot.values() for each in said["findings"]}

    assert {name for name, each in outcomes.items() if "deny" in each} == NEVER
    assert not outcomes["fits"] & {"deny", "warn"}
    assert not outcomes["slices"] & {"deny", "warn"}
    assert [name for (_, name), said in by_snapshot.items() if said["unknowns"]] == ["claims"]
    assert found >= BY_FACTS


def test_the_outlook_says_never_for_exactly_the_denied_workloads(outlooks: list[command.Run]) -> None:
    for done in outlooks:
        answers = {entry["name"]: entry["answer"] for entry in done.json["workloads"]}

        assert {name for name, answer in answers.items() if answer == "never"} == NEVER
        assert {name for name, answer in answers.items() if answer == "not now"} == WAITING
        assert {name for name, answer in answers.items() if answer == "unknown"} == {"claims", "everywhere"}


def test_only_the_webhook_that_charges_a_quota_knows_that_it_is_full(
    site: Cluster, server: ServerProcess, taken: Path, tmp_path: Path
) -> None:
    """A decision by files rests on what is configured; `usher queue` tells what is left."""
    late = job("late", template(GPU, 1), namespace=FULL)
    file = command.write(tmp_path / "late.yaml", late)
    wait_until(lambda: quota_site.used(site, FULL) == 8, description="what was there is charged", timeout=60)

    answer = server.review("validate", reviews.body(late, dryRun=True))
    by_files = command.usher("check", file, "--facts", taken, "--config", CONFIG)

    assert "asks for 1 GPU; GPUQuota language has 0 of 8 free (8 used)" in answer["status"]["message"]
    assert (by_files.code, "USH1230" in by_files.out) == (0, False)
    assert [charge["object"] for charge in quota_site.status(site, FULL)["charges"]] == ["Job.batch/language/holder"]


def test_files_cannot_prove_that_a_kind_has_no_objects(
    manifests: Path, written: Path, by_snapshot: Said, tmp_path: Path
) -> None:
    """A snapshot can. What is not known is no finding."""
    listed = json.loads((manifests / "cluster.json").read_text())
    listed["items"] = [each for each in listed["items"] if each["kind"] != "WorkloadPriorityClass"]
    files = tmp_path / "cluster.json"
    files.write_text(json.dumps(listed))

    misspelt = "batch/v1 Job", "misspelt"
    assert "USH621" in codes(by_snapshot[misspelt])
    assert "USH621" not in codes(checked(written, facts=files)[misspelt])


def codes(said: Any) -> set[str]:
    return {each["code"] for each in said["findings"]}


def checked(written: Path, *, facts: Path | str, **environment: str) -> Said:
    arguments = ("--as-written", "--facts", facts, "--config", CONFIG, "--format", "json")
    done = command.usher("check", written, *arguments, env=environment)
    assert done.code == 1, done.err
    return reported(done, WORKLOADS)


def _shown(site: Cluster, value: Object) -> tuple[str, list[str]]:
    """The denial and the warnings at the creation of an object, which is not created."""
    try:
        return "", list(site.answer_to_creation(value, dry_run=True).warnings)
    except ApiError as error:
        return error.message, list(error.warnings)
