"""`usher audit` against an API server that fails, is busy, forgets, or is unreachable."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import builders
from integration import api_server, command
from integration.api_server import ApiServer, Response, status
from integration.audited import connected, gpu_pod, names, wrong_job
from usher import errors
from usher.check import cluster_objects

pytestmark = pytest.mark.costly


def test_a_kind_that_may_not_be_listed_is_named_in_the_text_report(api: ApiServer, kubeconfig: Path) -> None:
    api.serve_kind("batch/v1", "jobs")
    api.trouble("/apis/batch/v1/jobs", status(403, "jobs.batch is forbidden"))

    run = command.usher("audit", "--kubeconfig", kubeconfig)

    assert "left out: jobs.batch: not read: jobs.batch is forbidden; bind the ClusterRole" in run.out


def _forbidden(user: str, *, but: str, cause: str = "") -> api_server.Trouble:
    """Only one kind may be listed."""

    def refuse(path: str, query: Mapping[str, str]) -> Response | None:
        if path == but or "limit" not in query:
            return None
        plural, group = path.rpartition("/")[2], path.split("/")[2]
        said = f'User "{user}" cannot list resource "{plural}" in API group "{group}" at the cluster scope{cause}'
        return status(403, f"{plural} is forbidden: {said}")

    return refuse


def test_kinds_that_one_user_may_not_list_are_one_entry_with_the_role_that_is_missing(
    api: ApiServer, kubeconfig: Path
) -> None:
    cause = ': RBAC: clusterrole.rbac.authorization.k8s.io "usher-audit" not found'
    api.add(gpu_pod("train-0"))
    api.serve_kind("batch/v1", "jobs")
    api.troubles.append(_forbidden("ci", but="/api/v1/pods", cause=cause))

    run = command.usher("audit", "--kubeconfig", kubeconfig)

    assert run.code == 0
    (entry,) = [" ".join(each.split()) for each in run.out.split("\nleft out: ")[1:] if "not read" in each]
    assert " more: not read: user ci may not list them (RBAC: clusterrole.rbac" in entry
    assert "; bind the ClusterRole of `usher manifests audit-role`" in entry
    assert "jobs.batch" in {each["source"] for each in _document(kubeconfig)["completeness"]["leftOut"]}


def test_a_snapshot_names_the_kinds_that_one_user_may_not_list_in_one_line(
    api: ApiServer, kubeconfig: Path, tmp_path: Path
) -> None:
    api.troubles.append(_forbidden("ci", but=""))

    run = command.usher("snapshot", "--kubeconfig", kubeconfig, "--output", tmp_path / "x.json.gz")

    kinds, written = run.err.splitlines()
    assert run.code == 2
    assert kinds.endswith(
        " more: not read: user ci may not list them; bind the ClusterRole of `usher manifests audit-role`"
    )
    assert written.startswith(f"usher: {tmp_path}/x.json.gz is not written")


def test_facts_whose_list_fails_make_the_audit_incomplete(api: ApiServer, kubeconfig: Path) -> None:
    """A missing right is how the cluster is set up; a failure may hide anything."""
    api.add(gpu_pod("train-0"))
    api.troubles.append(lambda path, _: status(500, "leader changed") if path.endswith("/resourcequotas") else None)

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "json")

    assert run.code == 2
    assert {"source": "resourcequotas", "reason": "the list ended: leader changed; run the audit again", "read": 0} in (
        run.json["completeness"]["gaps"]
    )


def _document(kubeconfig: Path) -> Any:
    return command.usher("audit", "--kubeconfig", kubeconfig, "--format", "json").json


def test_without_the_right_to_list_pods_the_numbers_of_gpus_are_incomplete(api: ApiServer, kubeconfig: Path) -> None:
    api.serve_kind("batch/v1", "jobs")
    api.trouble("/api/v1/pods", status(403, "pods is forbidden"))

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "json")

    (gap,) = run.json["completeness"]["gaps"]
    assert gap["source"] == "pods"
    assert gap["reason"].endswith("so the numbers of allocated and waiting accelerators are not known")


def test_without_pods_it_is_not_known_what_can_never_run(api: ApiServer, kubeconfig: Path) -> None:
    """Not 0: a workload whose pods were not read may wait for ever."""
    node = builders.node("gpu-0", allocatable={builders.GPU: "8"}, taints=[])
    deployment = builders.deployment(builders.template(builders.container(gpus=16)), name="large")
    api.add(node, deployment)
    api.serve_kind("v1", "pods")
    api.troubles.append(lambda path, _: status(500, "etcd is away") if path == "/api/v1/pods" else None)

    document = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "json").json
    text = " ".join(command.usher("audit", "--kubeconfig", kubeconfig).out.split())
    page = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "html").out

    found = document["summary"]
    assert (found["gpus"], found["gpusAllocated"], found["gpusNever"], found["workloadsNever"]) == (8, None, None, None)
    assert "never not known: usher has read no pods, so it does not know which workloads wait" in text
    assert "The nodes have 8 GPUs." in page
    assert "The pods were not read, so it is not known which GPUs they hold" in page
    assert "Every workload could run" not in page


def test_a_cluster_in_which_nothing_may_be_listed_was_not_audited(api: ApiServer, kubeconfig: Path) -> None:
    api.trouble("/api/v1/pods", status(403, "pods is forbidden"))

    run = command.usher("audit", "--kubeconfig", kubeconfig)

    assert run.code == 2
    assert run.out == ""
    assert run.err.startswith(f"usher: cluster of context test ({api.url}): usher may list no kind of workload: pods ")


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
    assert names(cluster_objects.read(connected(api))) == ["pod-0", "pod-1", "pod-3"]


def test_an_expired_list_without_an_offer_begins_again_and_counts_nothing_twice(api: ApiServer) -> None:
    api.add(*(gpu_pod(f"pod-{number}") for number in range(5)))
    expired = iter([status(410, "too old")])
    api.troubles.append(
        lambda path, query: next(expired, None) if path == "/api/v1/pods" and query.get("continue") == "4" else None
    )

    assert names(cluster_objects.read(connected(api))) == [f"pod-{number}" for number in range(5)]


def test_a_list_that_expires_again_and_again_makes_the_audit_incomplete(api: ApiServer, kubeconfig: Path) -> None:
    api.add(*(gpu_pod(f"pod-{number}") for number in range(5)))
    api.troubles.append(
        lambda path, query: status(410, "too old") if path == "/api/v1/pods" and query.get("continue") == "2" else None
    )

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "findings")

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
    assert "INCOMPLETE: 1 source could not be read in full" in run.out


def test_a_server_that_goes_away_ends_the_audit_with_what_there_is(api: ApiServer, kubeconfig: Path) -> None:
    api.add(wrong_job(), gpu_pod("never-seen"))
    api.trouble("/api/v1/pods", Response(value=b"<html>gateway</html>"))

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "findings")

    assert run.code == 2
    assert [workload["name"] for workload in run.json["workloads"]] == ["wrong"]
    assert run.json["problems"][0]["reason"].startswith("the audit ended here: ")


def test_a_group_whose_discovery_fails_makes_the_audit_incomplete(api: ApiServer) -> None:
    api.trouble("/apis/ray.io/v1", status(502, "bad gateway"))

    problems = [problem for batch in cluster_objects.read(connected(api)) for problem in batch.problems]

    assert [(problem.source, problem.reason) for problem in problems] == [
        ("ray.io/v1", "the list ended: bad gateway; run the audit again")
    ]


def test_a_busy_server_is_given_the_time_that_it_asks_for(api: ApiServer) -> None:
    api.add(gpu_pod("patient"))
    busy = status(429, "too many requests", headers={"Retry-After": "7"})
    api.trouble("/api/v1/pods", busy, busy)
    waits: list[float] = []

    assert names(cluster_objects.read(connected(api, waits=waits))) == ["patient"]
    assert waits == [7.0, 7.0]


@pytest.mark.parametrize("asked", ["86400", "99999999999999999999"])
def test_no_server_makes_us_wait_for_hours(api: ApiServer, asked: str) -> None:
    api.trouble("/api/v1/pods", status(429, "too many requests", headers={"Retry-After": asked}))
    waits: list[float] = []

    list(cluster_objects.read(connected(api, waits=waits)))

    assert waits == [30.0]


def test_a_server_that_stays_busy_is_given_up_with_longer_and_longer_waits_between(api: ApiServer) -> None:
    api.troubles.append(lambda path, _: status(503, "overloaded") if path == "/api/v1/pods" else None)
    waits: list[float] = []

    problems = [each for batch in cluster_objects.read(connected(api, waits=waits)) for each in batch.problems]

    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert [problem.reason for problem in problems] == ["the list ended: overloaded; run the audit again"]


def test_audit_reports_rejected_credentials_in_one_plain_line(api: ApiServer, kubeconfig: Path) -> None:
    api.trouble("/api/v1", status(401, "Unauthorized"))

    run = command.usher("audit", "--kubeconfig", kubeconfig)

    assert run.code == 2
    assert run.err == (
        f"usher: cluster of context test ({api.url}) does not accept the credentials (401 Unauthorized); "
        "log in again, and see that `kubectl auth whoami` works\n"
    )


def test_audit_says_when_a_server_is_not_an_api_server(api: ApiServer, kubeconfig: Path) -> None:
    api.trouble("/api/v1", Response(value=b"<html>"))

    run = command.usher("audit", "--kubeconfig", kubeconfig)

    assert run.code == 2
    assert "the answer to /api/v1 is not a JSON object; is that an API server?" in run.err


def test_audit_reports_an_unreachable_server_without_a_traceback(tmp_path: Path) -> None:
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


def test_without_a_kubeconfig_audit_says_which_options_help() -> None:
    run = command.usher("audit")

    assert run.code == 2
    assert run.err.startswith("usher: there is no cluster to read: ")
    assert run.err.endswith("name a kubeconfig by --kubeconfig, or read files\n")


def test_a_report_that_cannot_be_written_is_refused_before_the_cluster_is_read(
    api: ApiServer, kubeconfig: Path, tmp_path: Path
) -> None:
    run = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "html=nodir/x.html", cwd=tmp_path)

    assert (run.code, run.out) == (2, "")
    assert run.err == ("usher: nodir/x.html: the report cannot be written: the folder nodir does not exist; make it\n")
    assert api.requests == []


def test_a_folder_of_tables_may_have_the_name_of_a_file(tmp_path: Path) -> None:
    run = command.usher("audit", "--demo", "--format", "csv=tables.csv/", cwd=tmp_path)

    assert run.code == 0
    assert tmp_path.joinpath("tables.csv/audits.csv").is_file()


def test_strange_numbers_and_texts_in_an_answer_are_read_all_the_same(api: ApiServer) -> None:
    page = b'{"metadata": {}, "items": [{"metadata": {"name": "odd", "n": 18446744073709551616, "t": "\\ud800"}}]}'
    api.trouble("/api/v1/pods", Response(value=page))

    assert names(cluster_objects.read(connected(api))) == ["odd"]


def test_an_unknown_cluster_error_is_an_usher_error(api: ApiServer) -> None:
    api.trouble("/api/v1", status(401, "Unauthorized"))

    with pytest.raises(errors.ClusterError):
        list(cluster_objects.read(connected(api)))
