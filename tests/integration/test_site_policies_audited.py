"""`usher audit` with policies of a site: what they judge of a cluster, and what the audit says it could not judge."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import builders
import opa_server
import site_bundles
from builders import policies
from integration import command
from integration.api_server import ApiServer, status
from integration.audited import gpu_pod
from integration.command import Run, write
from usher.check import runner

pytestmark = [*opa_server.needs_opa, pytest.mark.costly]

TEAM: Any = {"parameters": {"labels": ["team"]}}


def object_of(kind: str, name: str = "web", *, namespace: str = "shop", api_version: str = "v1", **fields: Any) -> Any:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **fields}


def kinds(*names: str, group: str = "") -> Any:
    return {"kinds": [{"apiGroups": [group], "kinds": list(names)}]}


def audit(kubeconfig: Path, *given: Any, more: tuple[str, ...] = ("--format", "findings")) -> Run:
    bundle = site_bundles.gatekeeper(kubeconfig.parent, *given)
    return command.usher("audit", "--kubeconfig", kubeconfig, "--policies", bundle, *more)


def found(run: Run) -> set[tuple[str, str, str, str]]:
    """Kind and name of each object, with the constraint and the outcome of each finding of a policy."""
    return {
        (each["kind"], each["name"], finding["name"], finding["outcome"])
        for each in run.json["workloads"]
        for finding in each["findings"]
        if finding["check"].startswith("gatekeeper/")
    }


def test_kinds_that_only_constraints_are_about_are_listed_and_judged(api: ApiServer, kubeconfig: Path) -> None:
    api.add(gpu_pod("train", namespace="shop"))
    api.add_other("services", *(object_of("Service", f"web-{number}") for number in range(5)))
    api.add_other("gateways", object_of("Gateway", api_version="example.com/v1"))

    run = audit(
        kubeconfig,
        policies.template(),
        policies.constraint(name="team", match=kinds("Service", "Pod"), **TEAM),
        policies.constraint(name="gateway", match=kinds("Gateway", group="example.com"), **TEAM),
    )

    assert found(run) == {
        ("Pod", "train", "team", "deny"),
        *(("Service", f"web-{number}", "team", "deny") for number in range(5)),
        ("Gateway", "web", "gateway", "deny"),
    }


def test_objects_that_usher_counts_as_part_of_a_workload_are_judged_by_policies(
    api: ApiServer, kubeconfig: Path
) -> None:
    owner = builders.deployment(builders.template(builders.container(gpus=1)), name="train", namespace="shop")
    api.add(owner)
    pod: Any = gpu_pod("train-0", namespace="shop")
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "train", "controller": True}
    pod["metadata"]["ownerReferences"] = [{**reference, "uid": owner["metadata"]["uid"]}]  # type: ignore[index, call-overload]  # made by builders
    api.add(pod)

    run = audit(kubeconfig, policies.template(), policies.constraint(name="team", match=kinds("Pod"), **TEAM))

    assert found(run) == {("Pod", "train-0", "team", "deny")}


def test_constraints_of_the_audit_count_and_those_of_the_webhook_alone_do_not(api: ApiServer, kubeconfig: Path) -> None:
    api.add_other("services", object_of("Service"))

    def scoped(name: str, point: str) -> Any:
        actions = [{"action": "warn", "enforcementPoints": [{"name": point}]}]
        return policies.constraint(name=name, enforcementAction="scoped", scopedEnforcementActions=actions, **TEAM)

    run = audit(
        kubeconfig,
        policies.template(),
        scoped("audited", "audit.gatekeeper.sh"),
        scoped("admitted", "validation.gatekeeper.sh"),
    )

    assert found(run) == {("Service", "web", "audited", "warn")}


def test_a_kind_that_may_not_be_listed_or_does_not_exist_is_named(api: ApiServer, kubeconfig: Path) -> None:
    api.add(gpu_pod("train"))
    api.add_other("services", object_of("Service"))
    # The checklist of an audit lists Services as well.
    api.trouble("/api/v1/services", *[status(403, "services is forbidden")] * 2)

    run = audit(
        kubeconfig,
        policies.template(),
        policies.constraint(name="team", match=kinds("Service", "Gadget"), **TEAM),
        more=(),
    )

    assert "services: not read: services is forbidden" in run.out
    assert "Gadget: policies read it, and the cluster does not serve this kind" in run.out


def test_secrets_are_listed_only_where_a_constraint_names_them(api: ApiServer, kubeconfig: Path) -> None:
    api.add(gpu_pod("train"))
    api.add_other("secrets", object_of("Secret"))

    everything = audit(kubeconfig, policies.template(), policies.constraint(name="all", **TEAM))
    asked = [path for path, _ in api.requests]
    named = audit(kubeconfig, policies.template(), policies.constraint(name="named", match=kinds("Secret"), **TEAM))

    assert "/api/v1/secrets" not in asked
    assert "one that names the kind judges it" in str(everything.json)
    assert found(named) == {("Secret", "web", "named", "deny")}


UNIQUE = (
    policies.template("UniqueName", policies.UNIQUE_NAME, libs=(policies.UNIQUE_NAME_LIBRARY,)),
    policies.constraint("UniqueName", name="unique", match=kinds("Service")),
)


def test_policies_compare_with_all_objects_of_the_audit(api: ApiServer, kubeconfig: Path) -> None:
    api.add_other("services", *(object_of("Service", namespace=each) for each in ("shop", "bank")))

    assert found(audit(kubeconfig, *UNIQUE)) == {("Service", "web", "unique", "deny")}


def test_objects_that_are_too_large_to_compare_leave_the_policy_not_evaluated(
    api: ApiServer, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_MOST_COMPARED", 100)
    api.add_other("services", *(object_of("Service", namespace=each) for each in ("shop", "bank")))

    run = audit(kubeconfig, *UNIQUE, *(policies.template(), policies.constraint(name="team", **TEAM)))

    assert {each[2] for each in found(run)} == {"team"}
    assert [each["code"] for each in run.json["notEvaluated"]] == ["UniqueName"]
    assert "audit one namespace at a time" in run.json["notEvaluated"][0]["reason"]


def test_own_checks_judge_a_cluster(api: ApiServer, kubeconfig: Path) -> None:
    api.add(builders.pod(builders.container(gpus=9), name="big", namespace="research"))
    bundle = site_bundles.own_checks(kubeconfig.parent)

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--policies", bundle, "--format", "findings")

    assert "ACME101" in {finding["code"] for each in run.json["workloads"] for finding in each["findings"]}


def test_manifests_of_a_dump_are_judged_and_other_namespaces_left_out(tmp_path: Path) -> None:
    bundle = site_bundles.gatekeeper(tmp_path, policies.template(), policies.constraint(name="team", **TEAM))
    file = write(tmp_path / "dump.yaml", object_of("Service", "a"), object_of("Service", "b", namespace="bank"))

    run = command.usher("audit", file, "--policies", bundle, "-n", "shop", "--format", "findings")

    assert found(run) == {("Service", "a", "team", "deny")}


def unique_name() -> Any:
    return policies.template("UniqueName", policies.UNIQUE_NAME, libs=(policies.UNIQUE_NAME_LIBRARY,))


def synced(*names: str) -> Any:
    """A template whose rules compare with objects of other kinds, as its annotation says."""
    made = unique_name()
    wanted = [[{"groups": [""], "versions": ["v1"], "kinds": list(names)}]]
    made["metadata"]["annotations"] = {"metadata.gatekeeper.sh/requires-sync-data": json.dumps(wanted)}
    return made


def test_objects_that_a_policy_compares_with_are_listed_though_no_constraint_matches_them(
    api: ApiServer, kubeconfig: Path
) -> None:
    api.add(gpu_pod("web", namespace="ml-research"))
    api.add_other("services", object_of("Service"))
    pods = policies.constraint("UniqueName", name="unique", match=kinds("Pod"))

    assert found(audit(kubeconfig, unique_name(), pods)) == set()
    assert found(audit(kubeconfig, synced("Service"), pods)) == {("Pod", "web", "unique", "deny")}


def rules(run: Run) -> set[tuple[str, str]]:
    assert run.code == 0, run.err
    roles = [each for each in yaml.safe_load_all(run.out) if each["kind"] == "ClusterRole"]
    return {
        (group, plural)
        for role in roles
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for plural in rule["resources"]
    }


def test_the_role_of_an_audit_names_what_its_policies_read(tmp_path: Path) -> None:
    bundle = site_bundles.gatekeeper(
        tmp_path,
        synced("PersistentVolume"),
        policies.constraint("UniqueName", name="unique", match=kinds("Endpoints", "Secret")),
    )
    without = rules(command.usher("manifests", "audit-role"))

    run = command.usher("manifests", "audit-role", "--policies", bundle)
    assert rules(run) - without == {("", "endpoints")}
    assert run.err.startswith("usher: a policy is about Secrets: the role leaves them out")

    run = command.usher("manifests", "audit", "--policies", bundle)
    assert {("", "endpoints"), ("", "persistentvolumes")} <= rules(run)
    assert f"--policies=/etc/usher/policies/{bundle.name}" in run.out


def test_what_policies_read_is_a_role_of_its_own_which_manifests_base_does_not_take_back(tmp_path: Path) -> None:
    endpoints = policies.constraint(name="team", match=kinds("Endpoints", "Pod"), **TEAM)
    bundle = site_bundles.gatekeeper(tmp_path, policies.template(), endpoints)

    printed = list(yaml.safe_load_all(command.usher("manifests", "audit", "--no-role", "--policies", bundle).out))
    names = [each["metadata"]["name"] for each in printed if each["kind"] == "ClusterRole"]
    bound = [each["roleRef"]["name"] for each in printed if each["kind"] == "ClusterRoleBinding"]

    assert names == ["gpu-usher-audit-policies"]
    assert bound == ["gpu-usher-audit", "gpu-usher-audit-policies"]
    values = yaml.safe_load(command.usher("manifests", "audit-role", "--policies", bundle, "--helm-values").out)
    assert values == {"policies": {"auditRules": [{"apiGroups": [""], "resources": ["endpoints"], "verbs": ["list"]}]}}
    refused = command.usher("manifests", "audit-role", "--helm-values")
    assert (refused.code, "name them by --policies" in refused.err) == (2, True)


def test_policies_about_what_audits_list_anyway_need_no_role(tmp_path: Path) -> None:
    pods = policies.constraint(name="team", match=kinds("Pod"), **TEAM)
    bundle = site_bundles.gatekeeper(tmp_path, policies.template(), pods)

    assert "gpu-usher-audit-policies" not in command.usher("manifests", "audit", "--policies", bundle).out


def test_pods_of_an_audit_verify_bundles_with_the_key_beside_usher_yaml(tmp_path: Path) -> None:
    private, public = site_bundles.keys(tmp_path)
    given = policies.template(), policies.constraint(**TEAM)
    signed = site_bundles.gatekeeper(tmp_path, *given, options=("--sign-key", str(private)))
    unsigned = site_bundles.gatekeeper(tmp_path, *given, name="unsigned.bundle")

    run = command.usher("manifests", "audit", "--policies", signed, "--verify-key", public)
    assert run.code == 0, run.err
    assert "- --verify-key=/etc/usher/config/policies.pub" in run.out
    for options, message in (
        (("--policies", unsigned), "is not signed"),
        (("--policies", signed, "--configuration="), "--verify-key needs --configuration NAME"),
        ((), "--verify-key is about the bundles of --policies"),
    ):
        refused = command.usher("manifests", "audit", "--verify-key", public, *options)
        assert (refused.code, message in refused.err) == (2, True), refused.err


def test_a_pod_of_an_audit_compiles_nothing(tmp_path: Path) -> None:
    write(tmp_path / "policies.yaml", policies.template(), policies.constraint(**TEAM))

    run = command.usher("manifests", "audit", "--policies", tmp_path / "policies.yaml")
    assert run.code == 2
    assert "is not a bundle; `usher policies build" in run.err
