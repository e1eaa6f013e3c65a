"""The audit in the cluster: its manifests on a real API server, and its account against that server's authorizer."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from e2e import accounts
from e2e.cluster import Cluster, Object
from integration import command
from usher.audit.gather.needed_inputs import WANTED
from usher.kinds.registry import FACTS, LISTED

AUDIT = accounts.MANIFESTS / "audit"
ACCOUNT = "gpu-usher-audit"


@pytest.fixture(scope="module")
def site(cluster: Cluster) -> Iterator[Cluster]:
    """The cluster with what `usher manifests audit` prints."""
    cluster.ensure_namespace(accounts.NAMESPACE)
    cluster.kubectl(
        *("label", "namespace", accounts.NAMESPACE, "--overwrite"), "pod-security.kubernetes.io/enforce=restricted"
    )
    printed = command.usher("manifests", "audit").out
    cluster.kubectl("apply", "--filename=-", stdin=printed)
    yield cluster
    cluster.kubectl("delete", "--filename=-", "--wait=false", stdin=printed)
    cluster.delete_namespace(accounts.NAMESPACE)


@pytest.fixture(scope="module")
def auditor(site: Cluster) -> Cluster:
    """The cluster, as the audit's own token sees it."""
    token = site.kubectl("create", "token", ACCOUNT, f"--namespace={accounts.NAMESPACE}").strip()
    return dataclasses.replace(site, token=token)


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--once", "--claim=audits", "--report-objects", "--prometheus=http://prometheus.monitoring:9090"],
        ["--shards=10", "--output-dir=s3://audits/prod", "--credentials=store", "--api-server=192.0.2.0/24"],
        ["--once", "--shards=300", "--clusters=fleet", "--claim=audits"],
    ],
)
def test_the_server_knows_every_field_and_pod_security_has_no_warning(site: Cluster, options: list[str]) -> None:
    printed = command.usher("manifests", "audit", *options)

    for each in yaml.safe_load_all(printed.out):
        name = {"metadata": {**each["metadata"], "name": f"dry-{each['metadata']['name']}"}}
        assert site.answer_to_creation({**each, **name}, dry_run=True, strict=True).warnings == ()


def test_the_pod_of_the_job_fits_a_restricted_namespace(site: Cluster) -> None:
    """A Job with a pod that does not fit is let in with a warning; the pod itself is refused."""
    printed = command.usher("manifests", "audit", "--once", "--claim=audits", "--shards=2").out
    (job,) = [each for each in yaml.safe_load_all(printed) if each["kind"] == "Job"]
    pod = {"apiVersion": "v1", "kind": "Pod", **job["spec"]["template"]}
    pod["metadata"] = {**pod["metadata"], "name": "audit-0", "namespace": accounts.NAMESPACE}

    assert site.create(pod, dry_run=True, strict=True)["spec"]["securityContext"]["runAsNonRoot"]


def may(cluster: Cluster, verb: str, resource: str, *, namespace: str = "") -> bool:
    """The answer of a SelfSubjectAccessReview."""
    group, _, plural = resource.rpartition("/")
    review: Object = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "metadata": {"name": ""},
        "spec": {"resourceAttributes": {"verb": verb, "group": group, "resource": plural, "namespace": namespace}},
    }
    answer = cluster.request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body=review)
    return bool(answer.body["status"]["allowed"])


def test_its_account_may_list_every_kind_that_an_audit_lists(auditor: Cluster) -> None:
    kinds = {(kind.group, kind.plural) for kind in LISTED} | {(kind.group, kind.plural) for kind in FACTS.values()}
    kinds |= {(kind.group, kind.plural) for kind in WANTED}

    assert [kind for kind in sorted(kinds) if not may(auditor, "list", "/".join(kind))] == []


@pytest.mark.parametrize(
    ("verb", "resource"),
    [
        *((verb, "secrets") for verb in ("get", "list", "watch", "create")),
        ("create", "pods"),
        ("get", "configmaps"),
        ("delete", "batch/jobs"),
        ("patch", "nodes"),
        ("create", "serviceaccounts"),
        ("create", "openreports.io/reports"),
        ("delete", "wgpolicyk8s.io/policyreports"),
        ("update", "rbac.authorization.k8s.io/clusterroles"),
        ("impersonate", "users"),
    ],
)
@pytest.mark.parametrize("namespace", ["", accounts.NAMESPACE])
def test_its_account_may_do_nothing_else(auditor: Cluster, verb: str, resource: str, namespace: str) -> None:
    assert not may(auditor, verb, resource, namespace=namespace)


def test_an_audit_with_its_token_is_complete(site: Cluster, auditor: Cluster, tmp_path: Path) -> None:
    kubeconfig = yaml.safe_load(site.kubeconfig.read_text())
    kubeconfig["users"][0]["user"] = {"token": auditor.token}
    file = tmp_path / "kubeconfig"
    file.write_text(json.dumps(kubeconfig))

    done = command.usher("audit", "--kubeconfig", file, "--format=json")

    assert done.code == 0, done.err
    assert done.json["completeness"]["complete"]
    refused = [each for each in done.json["completeness"]["leftOut"] if "may not" in each["reason"]]
    assert refused == []
