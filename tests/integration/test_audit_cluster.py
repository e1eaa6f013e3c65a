"""`usher audit` against an API server that behaves as real ones do on a bad day."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from kubernetes import client

import builders
from integration import api_server, command
from integration.api_server import ApiServer, Response, status
from usher import errors, paths
from usher.cluster import connection
from usher.kinds.registry import WORKLOADS
from usher.scan import batches, cluster


@pytest.fixture
def api() -> Iterator[ApiServer]:
    with api_server.running() as server:
        server.serve_kind("v1", "pods")
        yield server


@pytest.fixture
def kubeconfig(api: ApiServer, tmp_path: Path) -> Path:
    return api_server.kubeconfig(tmp_path / "kubeconfig", api.url)


def connected(api: ApiServer, *, waits: list[float] | None = None) -> connection.Api:
    configuration = client.Configuration()
    configuration.host = api.url
    return connection.Api(configuration, name="the test cluster", wait=(waits if waits is not None else []).append)


def names(found: Iterable[batches.Batch]) -> list[str]:
    return [str(paths.resolve(item.value, "/metadata/name")) for batch in found for item in batch.items]


def owned_by(value: paths.Object, owner: paths.Object) -> paths.Object:
    metadata = owner["metadata"]
    assert isinstance(metadata, dict)
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": metadata["name"]}
    return builders.replaced(
        value, "/metadata/ownerReferences", [{**reference, "uid": metadata["uid"], "controller": True}]
    )


def gpu_pod(name: str, *, namespace: str = "ml-research") -> paths.Object:
    return builders.pod(builders.container(gpus=1), name=name, namespace=namespace)


def wrong_job(name: str = "wrong") -> paths.Object:
    container = builders.container(requests={builders.GPU: 8}, limits={builders.GPU: 4})
    return builders.pytorch_job(builders.template(container), workers=2, name=name)


def test_what_no_api_server_serves_is_not_asked_for(api: ApiServer) -> None:
    assert not names(cluster.read(connected(api)))

    asked = {path for path, _ in api.requests}
    assert "/apis/pipelines.kubeflow.org/v2beta1" in asked
    assert "/apis/pipelines.kubeflow.org/2" not in asked


def test_all_kinds_that_are_served_are_judged_and_counted_in_gpus(api: ApiServer, kubeconfig: Path) -> None:
    api.add(wrong_job(), *(gpu_pod(f"pod-{number}") for number in range(5)))

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "json")

    assert run.code == 0, run.err
    assert run.json["summary"]["workloads"] == 6
    assert run.json["summary"]["gpus"] == {"number": 21, "unbounded": False}
    assert run.json["summary"]["gpusInWorkloadsWithErrors"] == {"number": 16, "unbounded": False}
    assert run.json["origin"] == f"cluster of context test ({api.url})"


def test_lists_are_asked_for_in_pages_that_follow_each_other(api: ApiServer) -> None:
    api.add(*(gpu_pod(f"pod-{number}") for number in range(5)))

    assert names(cluster.read(connected(api))) == [f"pod-{number}" for number in range(5)]
    pages = [query for path, query in api.requests if path == "/api/v1/pods"]
    assert pages == [{"limit": "500"}, {"limit": "500", "continue": "2"}, {"limit": "500", "continue": "4"}]


def test_a_page_is_asked_for_only_when_the_one_before_has_been_judged(api: ApiServer) -> None:
    api.add(*(gpu_pod(f"pod-{number}") for number in range(5)))
    pages = cluster.read(connected(api))

    next(pages)

    assert len([path for path, _ in api.requests if path == "/api/v1/pods"]) == 1


def test_the_credentials_of_the_kubeconfig_are_sent(api: ApiServer, kubeconfig: Path) -> None:
    command.usher("audit", "--kubeconfig", kubeconfig)

    assert api.headers[-1]["authorization"] == "Bearer secret"
    assert api.headers[-1]["user-agent"].startswith("gpu-usher/")


def test_the_kubeconfig_variable_is_honoured(api: ApiServer, kubeconfig: Path) -> None:
    api.add(gpu_pod("lonely"))

    run = command.usher_process("audit", "--format", "json", env={"KUBECONFIG": str(kubeconfig)})

    assert [workload["name"] for workload in run.json["workloads"]] == ["lonely"]


def test_what_belongs_to_a_listed_workload_counts_as_part_of_it(api: ApiServer, kubeconfig: Path) -> None:
    deployment = builders.deployment(builders.template(builders.container(gpus=1)), replicas=1, name="llm")
    api.add(deployment)
    replica_set = owned_by(builders.replica_set(name="llm-1"), deployment)
    api.add(replica_set)
    api.add(owned_by(gpu_pod("llm-1-a"), replica_set))

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "json")

    assert [workload["kind"] for workload in run.json["workloads"]] == ["Deployment"]
    assert run.json["summary"]["owned"] == 2
    assert run.json["summary"]["objects"] == 3


def test_a_pod_that_a_node_runs_by_itself_is_judged(api: ApiServer, kubeconfig: Path) -> None:
    """A mirror pod is owned by its Node, which is listed and wrote no template."""
    node = builders.custom("v1", "Node", {}, name="gpu-0", namespace=None)
    api.add(node)
    api.add(owned_by(gpu_pod("static-gpu-0"), node))

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "json")

    assert ("Pod", "static-gpu-0") in {(workload["kind"], workload["name"]) for workload in run.json["workloads"]}


@pytest.mark.parametrize(
    "chain",
    [
        ("appwrappers", "pytorchjobs", "pods"),
        ("trainjobs", "jobsets", "jobs", "pods"),
        ("raycronjobs", "rayjobs", "rayclusters", "pods"),
        ("rayservices", "rayclusters", "pods"),
        ("cronworkflows", "workflows", "pods"),
        ("pipelineruns", "taskruns", "pods"),
        ("scheduledsparkapplications", "sparkapplications", "pods"),
        ("disaggregatedsets", "leaderworkersets", "statefulsets", "pods"),
        ("llminferenceservices", "leaderworkersets", "statefulsets", "pods"),
        ("inferenceservices", "services", "configurations", "revisions", "deployments", "replicasets", "pods"),
        ("notebooks", "statefulsets", "pods"),
        ("scaledjobs", "jobs", "pods"),
        ("mpijobs", "jobs", "pods"),
    ],
    ids=lambda chain: chain[0],
)
def test_owners_are_listed_before_what_they_own(api: ApiServer, chain: tuple[str, ...]) -> None:
    for kind in WORKLOADS.values():
        # Volcano's Jobs share the plural of those of Kubernetes, and have other owners.
        if kind.plural in chain and kind.group != "batch.volcano.sh":
            api.serve_kind(f"{kind.group}/{kind.versions[0]}" if kind.group else kind.versions[0], kind.plural)

    list(cluster.read(connected(api)))

    asked = [path.rpartition("/")[2] for path, query in api.requests if "limit" in query]
    positions = [[place for place, plural in enumerate(asked) if plural == each] for each in chain]
    assert all(positions)
    assert all(max(before) < min(after) for before, after in pairwise(positions))


def test_what_stands_in_no_namespace_is_no_part_of_one(api: ApiServer) -> None:
    api.serve_kind("trainer.kubeflow.org/v1alpha1", "clustertrainingruntimes")
    api.serve_kind("v1", "pods")

    list(cluster.read(connected(api), namespace="team-a"))

    assert [path for path, query in api.requests if "limit" in query] == ["/api/v1/namespaces/team-a/pods"]


def test_naming_an_owner_that_is_not_there_hides_nothing(api: ApiServer) -> None:
    owner = builders.deployment(name="ghost")
    api.add(owned_by(gpu_pod("hidden"), builders.replaced(owner, "/metadata/uid", "uid-deployments-ghost")))

    assert names(cluster.read(connected(api))) == ["hidden"]


def test_pods_are_judged_themselves_when_their_owners_may_not_be_listed(api: ApiServer, kubeconfig: Path) -> None:
    job = builders.job(name="train")
    api.add(job)
    api.add(owned_by(gpu_pod("train-0"), job))
    api.trouble("/apis/batch/v1/jobs", status(403, 'jobs.batch is forbidden: User "auditor" cannot list'))

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "json")

    assert run.code == 0
    assert [workload["name"] for workload in run.json["workloads"]] == ["train-0"]
    assert run.json["notes"] == [
        {
            "source": "jobs.batch",
            "reason": "not evaluated, because it may not be listed: "
            'jobs.batch is forbidden: User "auditor" cannot list',
        }
    ]


def test_a_kind_that_may_not_be_listed_is_named_in_the_text_report(api: ApiServer, kubeconfig: Path) -> None:
    api.serve_kind("batch/v1", "jobs")
    api.trouble("/apis/batch/v1/jobs", status(403, "jobs.batch is forbidden"))

    run = command.usher("audit", "--kubeconfig", kubeconfig)

    assert "left out: jobs.batch: not evaluated, because it may not be listed: jobs.batch is forbidden" in run.out


def test_a_cluster_in_which_nothing_may_be_listed_was_not_audited(api: ApiServer, kubeconfig: Path) -> None:
    api.trouble("/api/v1/pods", status(403, "pods is forbidden"))

    run = command.usher("audit", "--kubeconfig", kubeconfig)

    assert run.code == 2
    assert run.out == ""
    assert run.err.startswith(f"usher: cluster of context test ({api.url}): usher may list no kind of workload; ")


def test_an_expired_list_goes_on_with_the_token_that_the_server_offers(api: ApiServer) -> None:
    api.add(*(gpu_pod(f"pod-{number}") for number in range(4)))
    api.troubles.append(
        lambda path, query: (
            status(410, "The provided continue parameter is too old", offered="3")
            if path == "/api/v1/pods" and query.get("continue") == "2"
            else None
        )
    )

    # What the offer skips was deleted meanwhile.
    assert names(cluster.read(connected(api))) == ["pod-0", "pod-1", "pod-3"]


def test_an_expired_list_without_an_offer_begins_again_and_counts_nothing_twice(api: ApiServer) -> None:
    api.add(*(gpu_pod(f"pod-{number}") for number in range(5)))
    expired = iter([status(410, "too old")])
    api.troubles.append(
        lambda path, query: next(expired, None) if path == "/api/v1/pods" and query.get("continue") == "4" else None
    )

    assert names(cluster.read(connected(api))) == [f"pod-{number}" for number in range(5)]


def test_a_list_that_expires_again_and_again_makes_the_audit_incomplete(api: ApiServer, kubeconfig: Path) -> None:
    api.add(*(gpu_pod(f"pod-{number}") for number in range(5)))
    api.troubles.append(
        lambda path, query: status(410, "too old") if path == "/api/v1/pods" and query.get("continue") == "2" else None
    )

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "json")

    assert run.code == 2
    assert run.json["complete"] is False
    assert run.json["problems"] == [
        {"source": "pods", "reason": "the list ended after 2 objects: too old; run the audit again"}
    ]
    assert run.json["summary"]["workloads"] == 2
    assert run.err == "usher: pods: the list ended after 2 objects: too old; run the audit again\n"


def test_a_failure_in_the_middle_of_a_list_makes_the_audit_incomplete(api: ApiServer, kubeconfig: Path) -> None:
    api.add(*(gpu_pod(f"pod-{number}") for number in range(3)))
    api.troubles.append(
        lambda path, query: (
            status(500, "etcdserver: leader changed") if path == "/api/v1/pods" and "continue" in query else None
        )
    )

    run = command.usher("audit", "--kubeconfig", kubeconfig)

    assert run.code == 2
    assert "the list ended after 2 objects: etcdserver: leader changed" in run.out
    assert "INCOMPLETE, 1 input could not be read" in run.out


def test_a_server_that_goes_away_ends_the_audit_with_what_there_is(api: ApiServer, kubeconfig: Path) -> None:
    api.add(wrong_job(), gpu_pod("never-seen"))
    api.trouble("/api/v1/pods", Response(value=b"<html>gateway</html>"))

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "json")

    assert run.code == 2
    assert [workload["name"] for workload in run.json["workloads"]] == ["wrong"]
    assert run.json["problems"][0]["reason"].startswith("the audit ended here: ")


def test_a_group_whose_discovery_fails_makes_the_audit_incomplete(api: ApiServer) -> None:
    api.trouble("/apis/ray.io/v1", status(502, "bad gateway"))

    problems = [problem for batch in cluster.read(connected(api)) for problem in batch.problems]

    assert [(problem.source, problem.reason) for problem in problems] == [
        ("ray.io/v1", "the list ended: bad gateway; run the audit again")
    ]


def test_a_busy_server_is_given_the_time_that_it_asks_for(api: ApiServer) -> None:
    api.add(gpu_pod("patient"))
    busy = status(429, "too many requests", headers={"Retry-After": "7"})
    api.trouble("/api/v1/pods", busy, busy)
    waits: list[float] = []

    assert names(cluster.read(connected(api, waits=waits))) == ["patient"]
    assert waits == [7.0, 7.0]


@pytest.mark.parametrize("asked", ["86400", "99999999999999999999"])
def test_no_server_makes_us_wait_for_hours(api: ApiServer, asked: str) -> None:
    api.trouble("/api/v1/pods", status(429, "too many requests", headers={"Retry-After": asked}))
    waits: list[float] = []

    list(cluster.read(connected(api, waits=waits)))

    assert waits == [30.0]


def test_a_server_that_stays_busy_is_given_up_with_longer_and_longer_waits_between(api: ApiServer) -> None:
    api.troubles.append(lambda path, _: status(503, "overloaded") if path == "/api/v1/pods" else None)
    waits: list[float] = []

    problems = [each for batch in cluster.read(connected(api, waits=waits)) for each in batch.problems]

    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert [problem.reason for problem in problems] == ["the list ended: overloaded; run the audit again"]


def test_only_the_namespace_that_was_asked_for_is_listed(api: ApiServer, kubeconfig: Path) -> None:
    api.add(gpu_pod("ours", namespace="team-a"), gpu_pod("theirs", namespace="team-b"))

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--namespace", "team-a", "--format", "json")

    assert [workload["name"] for workload in run.json["workloads"]] == ["ours"]
    assert "/api/v1/pods" not in [path for path, _ in api.requests]


@pytest.mark.parametrize(
    "value",
    [
        builders.replaced(gpu_pod("done"), "/status", {"phase": "Succeeded"}),
        builders.replaced(wrong_job("done"), "/status", {"conditions": [{"type": "Succeeded", "status": "True"}]}),
        builders.replaced(
            builders.job(name="done"), "/status", {"conditions": [{"type": "Complete", "status": "True"}]}
        ),
        builders.replaced(builders.volcano_job(name="done"), "/status", {"state": {"phase": "Completed"}}),
        builders.replaced(builders.ray_job(name="done"), "/status", {"jobDeploymentStatus": "Complete"}),
    ],
    ids=lambda value: str(value["kind"]),
)
def test_what_ran_to_its_end_holds_no_gpus(api: ApiServer, value: paths.Object) -> None:
    api.add(value)

    found = list(cluster.read(connected(api)))

    assert names(found) == []
    assert sum(batch.finished for batch in found) == 1


def test_a_job_that_is_not_done_yet_is_judged(api: ApiServer) -> None:
    api.add(builders.replaced(wrong_job(), "/status", {"conditions": [{"type": "Succeeded", "status": "False"}]}))

    assert names(cluster.read(connected(api))) == ["wrong"]


def test_fail_on_deny_ends_with_1(api: ApiServer, kubeconfig: Path) -> None:
    api.add(wrong_job())

    assert command.usher("audit", "--kubeconfig", kubeconfig).code == 0
    assert command.usher("audit", "--kubeconfig", kubeconfig, "--fail-on", "deny").code == 1


@pytest.mark.parametrize("form", ["text", "json"])
def test_an_audit_of_an_unchanged_cluster_is_byte_identical(api: ApiServer, kubeconfig: Path, form: str) -> None:
    api.add(wrong_job(), *(gpu_pod(f"pod-{number}") for number in range(3)))

    first = command.usher("audit", "--kubeconfig", kubeconfig, "--format", form)
    second = command.usher("audit", "--kubeconfig", kubeconfig, "--format", form)

    assert first.out
    assert first == second


def test_the_report_opens_with_gpus_then_says_whose_they_are(api: ApiServer, kubeconfig: Path) -> None:
    api.add(wrong_job(), gpu_pod("fine", namespace="team-b"))

    lines = command.usher("audit", "--kubeconfig", kubeconfig).out.splitlines()

    assert lines[0] == f"cluster of context test ({api.url})"
    assert lines[1] == "2 workloads with 3 pods ask for 17 GPUs."
    assert lines[2] == "1 workload has errors; it asks for 16 GPUs."
    assert lines[4].split() == ["namespace", "workloads", "errors", "warnings", "accelerators"]
    assert lines[5].split() == ["ml-research", "1", "1", "4", "16", "GPUs"]


def test_the_field_stands_where_there_is_no_line_to_show(api: ApiServer, kubeconfig: Path) -> None:
    api.add(wrong_job())

    out = command.usher("audit", "--kubeconfig", kubeconfig).out

    assert "16 GPUs  PyTorchJob ml-research/wrong, spec." in out
    assert "spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].resources.limits" in out.replace("\n", "")


def test_rejected_credentials_are_told_once_and_plainly(api: ApiServer, kubeconfig: Path) -> None:
    api.trouble("/api/v1", status(401, "Unauthorized"))

    run = command.usher("audit", "--kubeconfig", kubeconfig)

    assert run.code == 2
    assert run.err == (
        f"usher: cluster of context test ({api.url}) does not accept the credentials (401 Unauthorized); "
        "log in again, and see that `kubectl auth whoami` works\n"
    )


def test_what_is_no_api_server_is_told_apart(api: ApiServer, kubeconfig: Path) -> None:
    api.trouble("/api/v1", Response(value=b"<html>"))

    run = command.usher("audit", "--kubeconfig", kubeconfig)

    assert run.code == 2
    assert "the answer to /api/v1 is not a JSON object; is that an API server?" in run.err


def test_a_server_that_is_not_there_is_told_without_a_traceback(tmp_path: Path) -> None:
    file = api_server.kubeconfig(tmp_path / "kubeconfig", "http://127.0.0.1:1")

    run = command.usher("audit", "--kubeconfig", file)

    assert run.code == 2
    assert run.err.startswith("usher: cluster of context test (http://127.0.0.1:1) cannot be reached: ")
    assert "Connection refused; see that `kubectl cluster-info` works" in run.err
    assert len(run.err.splitlines()) == 1


def test_a_context_that_does_not_exist_is_named(kubeconfig: Path) -> None:
    run = command.usher("audit", "--kubeconfig", kubeconfig, "--context", "production")

    assert run.code == 2
    assert run.err.startswith(f"usher: {kubeconfig}: context production cannot be used: ")
    assert "kubectl config get-contexts" in run.err


def test_a_kubeconfig_that_does_not_exist_is_named(tmp_path: Path) -> None:
    run = command.usher("audit", "--kubeconfig", tmp_path / "nothing")

    assert run.code == 2
    assert run.err == f"usher: {tmp_path}/nothing: no such file; --kubeconfig names the file that kubectl would use\n"


def test_without_any_configuration_the_way_out_is_told() -> None:
    run = command.usher("audit")

    assert run.code == 2
    assert run.err.startswith("usher: there is no cluster to read: ")
    assert run.err.endswith("pass --kubeconfig, or a PATH to audit files\n")


def test_a_path_and_a_cluster_at_once_are_refused(kubeconfig: Path, tmp_path: Path) -> None:
    run = command.usher("audit", "--kubeconfig", kubeconfig, tmp_path)

    assert run.code == 2
    assert "with a PATH, usher reads no cluster" in run.err


def test_strange_numbers_and_texts_in_an_answer_are_read_all_the_same(api: ApiServer) -> None:
    page = b'{"metadata": {}, "items": [{"metadata": {"name": "odd", "n": 18446744073709551616, "t": "\\ud800"}}]}'
    api.trouble("/api/v1/pods", Response(value=page))

    assert names(cluster.read(connected(api))) == ["odd"]


def test_an_unknown_cluster_error_is_an_usher_error(api: ApiServer) -> None:
    api.trouble("/api/v1", status(401, "Unauthorized"))

    with pytest.raises(errors.ClusterError):
        list(cluster.read(connected(api)))
