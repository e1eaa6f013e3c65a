"""Report objects of audits on a real API server: their definitions accept them, and stale ones go."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

import builders
from builders import audit_documents as audits
from e2e import crds
from e2e.cluster import Cluster
from integration import command
from usher.audit.document import Audit, FindingEntry
from usher.audit.reports import json_document
from usher.audit.reports.json_document import FAMILIES, Family
from usher.cli import audit as cli_audit
from usher.cluster import connection

FIRST, SECOND = "2026-11-16T06:00:00Z", "2026-11-23T06:00:00Z"


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest, cluster: Cluster) -> Iterator[Family]:
    found = FAMILIES[request.param]
    crds.install(cluster, [f"{found.group}/{found.plural}", f"{found.group}/{found.cluster_plural}"])
    yield found
    if cluster.exists(found.cluster_kind, json_document.NAME, api_version=api_version(found)):
        cluster.delete(found.cluster_kind, json_document.NAME, api_version=api_version(found))


def api_version(family: Family) -> str:
    return f"{family.group}/{family.version}"


def write(cluster: Cluster, family: Family, audit: Audit) -> int:
    api = connection.connect(kubeconfig=cluster.kubeconfig)
    (name,) = (name for name, each in FAMILIES.items() if each == family)
    return cli_audit.write_report_objects(name, audit, api)


def of(namespace: str, at: str, *findings: FindingEntry) -> Audit:
    subject = audits.subject(namespace=namespace)
    return audits.audit(taken=at, findings=tuple(each.model_copy(update={"subject": subject}) for each in findings))


def reports(cluster: Cluster, family: Family, namespace: str) -> list[Any]:
    return cluster.objects(family.kind, namespace=namespace, api_version=api_version(family))


def test_findings_become_reports_and_are_gone_with_them(cluster: Cluster, family: Family, namespace: str) -> None:
    audit = of(namespace, FIRST, audits.finding("a"), audits.finding("b", code="USH201", outcome="warn"))
    completeness = audits.incomplete(("rayjobs.ray.io", "usher may not list them"))

    assert write(cluster, family, audit.model_copy(update={"completeness": completeness})) == 0
    (report,) = reports(cluster, family, namespace)
    assert report["results"] == next(iter(json_document.objects(audit, family)))["results"]
    assert report["summary"] == {"pass": 0, "fail": 1, "warn": 1, "error": 0, "skip": 0}
    of_cluster = cluster.get(family.cluster_kind, json_document.NAME, api_version=api_version(family))
    assert of_cluster["results"][0]["result"] == "error"

    assert write(cluster, family, of(namespace, SECOND)) == 0
    assert reports(cluster, family, namespace) == []


def test_the_largest_reports_are_accepted(cluster: Cluster, family: Family, namespace: str) -> None:
    many = [audits.finding(f"{number}", message="x" * 900, remedy="y" * 300) for number in range(2_000)]

    assert write(cluster, family, of(namespace, FIRST, *many)) == 0
    found = reports(cluster, family, namespace)
    assert len(found) > 1
    assert 500_000 < max(len(orjson.dumps(each)) for each in found) < 1_000_000

    assert write(cluster, family, of(namespace, SECOND, audits.finding("a"))) == 0
    assert [each["metadata"]["name"] for each in reports(cluster, family, namespace)] == [json_document.NAME]


def test_an_audit_of_a_namespace_writes_its_report(cluster: Cluster, namespace: str) -> None:
    open_reports = FAMILIES["openreports"]
    crds.install(cluster, [f"{open_reports.group}/{open_reports.plural}"])
    cluster.create(builders.pod(builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"}), namespace=namespace))

    run = command.usher("audit", "--kubeconfig", cluster.kubeconfig, "--in-namespace", namespace, "--report-objects")

    assert (run.code, run.err) == (0, "usher: reports.openreports.io: 1 written, 0 stale ones deleted\n")
    (report,) = reports(cluster, open_reports, namespace)
    assert {each["rule"] for each in report["results"]} >= {"USH201"}


def test_a_report_of_another_tool_stays(
    cluster: Cluster, family: Family, namespace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    other = {"apiVersion": api_version(family), "kind": family.kind, "summary": {"pass": 1}}
    cluster.create(other | {"metadata": {"name": json_document.NAME, "namespace": namespace}})

    assert write(cluster, family, of(namespace, FIRST, audits.finding("a"))) == 2
    (report,) = reports(cluster, family, namespace)
    assert report["summary"] == {"pass": 1}
    assert "an object gpu-usher-audit is there that usher did not write" in capsys.readouterr().err
