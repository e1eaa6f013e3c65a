"""`usher audit` lists a cluster, judges its objects and reports on them."""

import re
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import builders
from integration import api_server, command
from integration.api_server import ApiServer, Response, status
from integration.audited import connected, gpu_pod, names, wrong_job
from usher import paths
from usher.check import cluster_objects
from usher.kinds.registry import WORKLOADS

pytestmark = pytest.mark.costly


def owned_by(value: paths.Object, owner: paths.Object) -> paths.Object:
    metadata = owner["metadata"]
    assert isinstance(metadata, dict)
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": metadata["name"]}
    return builders.replaced(
        value, "/metadata/ownerReferences", [{**reference, "uid": metadata["uid"], "controller": True}]
    )


def test_what_no_api_server_serves_is_not_asked_for(api: ApiServer) -> None:
    assert not names(cluster_objects.read(connected(api)))

    asked = {path for path, _ in api.requests}
    assert "/apis/pipelines.kubeflow.org/v2beta1" in asked
    assert "/apis/pipelines.kubeflow.org/2" not in asked


def without_time(report: str) -> str:
    return re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\dZ| UTC)", "then", report)


def test_all_kinds_that_are_served_are_judged_and_counted_in_gpus(api: ApiServer, kubeconfig: Path) -> None:
    api.add(wrong_job(), *(gpu_pod(f"pod-{number}") for number in range(5)))

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "findings")

    assert run.code == 0, run.err
    assert run.json["summary"]["workloads"] == 6
    assert run.json["summary"]["gpus"] == {"number": 21, "unbounded": False}
    assert run.json["summary"]["gpusInWorkloadsWithErrors"] == {"number": 16, "unbounded": False}
    assert run.json["origin"] == f"cluster of context test ({api.url})"


def test_lists_are_asked_for_in_pages_that_follow_each_other(api: ApiServer) -> None:
    api.add(*(gpu_pod(f"pod-{number}") for number in range(5)))

    assert names(cluster_objects.read(connected(api))) == [f"pod-{number}" for number in range(5)]
    pages = [query for path, query in api.requests if path == "/api/v1/pods"]
    assert pages == [{"limit": "250"}, {"limit": "250", "continue": "2"}, {"limit": "250", "continue": "4"}]


def test_a_page_is_asked_for_only_when_the_one_before_has_been_judged(api: ApiServer) -> None:
    api.add(*(gpu_pod(f"pod-{number}") for number in range(5)))
    pages = cluster_objects.read(connected(api))

    next(pages)

    assert len([path for path, _ in api.requests if path == "/api/v1/pods"]) == 1


def test_the_credentials_of_the_kubeconfig_are_sent(api: ApiServer, kubeconfig: Path) -> None:
    command.usher("audit", "--kubeconfig", kubeconfig)

    assert api.headers[-1]["authorization"] == "Bearer secret"
    assert api.headers[-1]["user-agent"].startswith("gpu-usher/")


def test_the_kubeconfig_variable_is_honoured(api: ApiServer, kubeconfig: Path) -> None:
    api.add(gpu_pod("lonely"))

    run = command.usher_process("audit", "--format", "findings", env={"KUBECONFIG": str(kubeconfig)})

    assert [workload["name"] for workload in run.json["workloads"]] == ["lonely"]


def test_what_belongs_to_a_listed_workload_counts_as_part_of_it(api: ApiServer, kubeconfig: Path) -> None:
    deployment = builders.deployment(builders.template(builders.container(gpus=1)), replicas=1, name="llm")
    api.add(deployment)
    replica_set = owned_by(builders.replica_set(name="llm-1"), deployment)
    api.add(replica_set)
    api.add(owned_by(gpu_pod("llm-1-a"), replica_set))

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "findings")

    assert [workload["kind"] for workload in run.json["workloads"]] == ["Deployment"]
    assert run.json["summary"]["owned"] == 2
    assert run.json["summary"]["objects"] == 3


def test_a_pod_that_a_node_runs_by_itself_is_judged(api: ApiServer, kubeconfig: Path) -> None:
    """A mirror pod is owned by its Node, which is listed and wrote no template."""
    node = builders.custom("v1", "Node", {}, name="gpu-0", namespace=None)
    api.add(node)
    api.add(owned_by(gpu_pod("static-gpu-0"), node))

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "findings")

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
        # Kinds of Volcano and OpenKruise share plurals with those of Kubernetes, and have other owners.
        if kind.plural in chain and kind.group not in ("batch.volcano.sh", "apps.kruise.io"):
            api.serve_kind(f"{kind.group}/{kind.versions[0]}" if kind.group else kind.versions[0], kind.plural)

    list(cluster_objects.read(connected(api)))

    asked = [path.rpartition("/")[2] for path, query in api.requests if "limit" in query]
    positions = [[place for place, plural in enumerate(asked) if plural == each] for each in chain]
    assert all(positions)
    assert all(max(before) < min(after) for before, after in pairwise(positions))


def test_a_cluster_scoped_object_is_not_part_of_a_namespace(api: ApiServer) -> None:
    api.serve_kind("trainer.kubeflow.org/v1alpha1", "clustertrainingruntimes")
    api.serve_kind("v1", "pods")

    list(cluster_objects.read(connected(api), namespace="team-a"))

    assert [path for path, query in api.requests if "limit" in query] == ["/api/v1/namespaces/team-a/pods"]


def test_an_owner_that_does_not_exist_hides_no_pod(api: ApiServer) -> None:
    owner = builders.deployment(name="ghost")
    api.add(owned_by(gpu_pod("hidden"), builders.replaced(owner, "/metadata/uid", "uid-deployments-ghost")))

    assert names(cluster_objects.read(connected(api))) == ["hidden"]


def test_pods_are_judged_themselves_when_their_owners_may_not_be_listed(api: ApiServer, kubeconfig: Path) -> None:
    job = builders.job(name="train")
    api.add(job)
    api.add(owned_by(gpu_pod("train-0"), job))
    api.trouble("/apis/batch/v1/jobs", status(403, 'jobs.batch is forbidden: User "auditor" cannot list'))

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "findings")

    assert run.code == 0
    assert [workload["name"] for workload in run.json["workloads"]] == ["train-0"]
    assert run.json["notes"] == [
        {
            "source": "jobs.batch",
            "reason": "not read: user auditor may not list them; bind the ClusterRole of `usher manifests audit-role`",
        }
    ]


def test_only_the_namespace_that_was_asked_for_is_listed(api: ApiServer, kubeconfig: Path) -> None:
    api.add(gpu_pod("ours", namespace="team-a"), gpu_pod("theirs", namespace="team-b"))

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--in-namespace", "team-a", "--format", "findings")

    assert [workload["name"] for workload in run.json["workloads"]] == ["ours"]
    assert "/api/v1/pods" not in [path for path, _ in api.requests]


@pytest.mark.parametrize("lists_namespaces", [True, False])
def test_a_report_of_one_namespace_says_so_everywhere(
    api: ApiServer, kubeconfig: Path, tmp_path: Path, lists_namespaces: bool
) -> None:
    """Also for a tenant, who may read this Namespace alone: its labels name the team."""
    ours = builders.custom("v1", "Namespace", {}, name="team-a", namespace=None)
    labelled = builders.replaced(ours, "/metadata/labels", {"team": "red"})
    node = builders.node("gpu-0", allocatable={builders.GPU: "8"}, taints=[])
    api.add(labelled, node, gpu_pod("ours", namespace="team-a"), gpu_pod("theirs", namespace="team-b"))
    if not lists_namespaces:
        api.troubles.append(lambda path, _: status(403, "no") if path == "/api/v1/namespaces" else None)
    api.troubles.append(lambda path, _: Response(value=labelled) if path == "/api/v1/namespaces/team-a" else None)
    config = tmp_path / "usher.yaml"
    command.config(config, audit={"teamLabels": ["team"]})
    given = (
        "audit",
        "--kubeconfig",
        kubeconfig,
        "--config",
        config,
        "--in-namespace",
        "team-a",
        "--cluster-name",
        "prod",
    )
    forms = {each: command.usher(*given, "--format", each).out for each in ("text", "markdown", "html", "prometheus")}
    document = command.usher(*given, "--format", "json").json

    assert forms["text"].startswith("Audit of namespace team-a of prod, ")
    assert "GPUs         those of nodes are not shown, because this audit is about a part" in forms["text"]
    assert forms["markdown"].startswith("## GPUs of namespace team-a of prod, ")
    assert "<title>namespace team-a of prod: audit of " in forms["html"]
    assert "<h1>namespace team-a of prod</h1>" in forms["html"]
    assert 'gpu_usher_audit_workloads{audited_namespace="team-a",cluster="prod"} 1.0' in forms["prometheus"]
    assert (document["cluster"]["name"], document["cluster"]["namespace"]) == ("prod", "team-a")
    assert [each["team"] for each in document["workloads"]] == ["red"]


def test_a_context_that_was_renamed_goes_on_with_the_history_of_its_cluster(api: ApiServer, tmp_path: Path) -> None:
    api.add(builders.custom("v1", "Namespace", {}, name="kube-system", namespace=None), wrong_job())

    def audit(context: str, *options: str) -> Any:
        file = api_server.kubeconfig(tmp_path / "kubeconfig", api.url, context=context)
        return command.usher(
            "audit", "--kubeconfig", file, "--history", tmp_path / "h.sqlite", "--format", "json", *options
        ).json

    with mock.patch("usher.cli.audit.datetime") as clock:
        clock.now.return_value = datetime(2026, 11, 16, 6, tzinfo=UTC)
        first = audit("e2e")
        clock.now.return_value = datetime(2026, 11, 23, 6, tzinfo=UTC)
        second = audit("renamed")

    assert first["cluster"]["name"] == "e2e"
    assert first["cluster"]["id"] == second["cluster"]["id"] == "uid-namespaces-kube-system"
    assert (second["cluster"]["name"], second["trend"]["previous"]) == ("renamed", "2026-11-16T06:00:00Z")
    assert second["trend"]["new"] == second["trend"]["fixed"] == []


def test_a_namespace_that_the_cluster_lacks_is_named(api: ApiServer, kubeconfig: Path) -> None:
    api.add(builders.custom("v1", "Namespace", {}, name="team-a", namespace=None), gpu_pod("ours", namespace="team-a"))

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--in-namespace", "team-b")

    assert (run.code, run.out) == (2, "")
    assert run.err == "usher: the cluster has no namespace team-b; did you mean team-a?\n"


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

    found = list(cluster_objects.read(connected(api)))

    assert names(found) == []
    assert sum(batch.finished for batch in found) == 1


def test_a_job_that_is_not_done_yet_is_judged(api: ApiServer) -> None:
    api.add(builders.replaced(wrong_job(), "/status", {"conditions": [{"type": "Succeeded", "status": "False"}]}))

    assert names(cluster_objects.read(connected(api))) == ["wrong"]


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
    assert without_time(first.out) == without_time(second.out)


def test_the_report_opens_with_gpus_then_says_whose_they_are(api: ApiServer, kubeconfig: Path) -> None:
    api.add(wrong_job(), gpu_pod("fine", namespace="team-b"))

    lines = command.usher("audit", "--kubeconfig", kubeconfig).out.splitlines()

    assert lines[0].startswith("Audit of test, 20")
    assert lines[2] == "The nodes were not read, so it is not known how many GPUs there are."
    assert lines[4] == "GPUs         not known: usher has read no nodes"
    assert lines[5] == "  asked for  17 GPUs, by 2 workloads with accelerators"
    assert lines[6] == "  allocated  0, held by pods on nodes"
    assert lines[7].startswith("  waiting    1, wanted by pods without a node")
    assert lines[12].split("  ")[-1] == "of them waiting"
    assert [line.split() for line in lines[13:15]] == [["ml-research", "0", "1", "0"], ["team-b", "0", "1", "1"]]


def test_the_field_stands_where_there_is_no_line_to_show(api: ApiServer, kubeconfig: Path) -> None:
    api.add(wrong_job())

    out = command.usher("audit", "--kubeconfig", kubeconfig).out

    assert "16 GPUs  PyTorchJob ml-research/wrong, spec." in out
    assert "spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].resources.limits" in out.replace("\n", "")
