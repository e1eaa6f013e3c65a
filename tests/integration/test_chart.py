"""The Helm chart: the same objects as kustomize makes, and what its values change."""

import json
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

import helm
import opa_server
import site_bundles
from builders import policies
from e2e.control_plane import TOOLS
from integration import command

pytestmark = [pytest.mark.process, helm.needs_helm]

MANIFESTS: Final = helm.ROOT / "manifests"
SERVICES: Final[Any] = {"kinds": [{"apiGroups": [""], "kinds": ["Service"]}]}
Object = dict[str, Any]


def by_name(objects: list[Object]) -> dict[tuple[str, str, str], Object]:
    return {(each["kind"], each["metadata"]["name"], each["metadata"].get("namespace", "")): each for each in objects}


def kustomized(*folders: str) -> list[Object]:
    printed = [
        subprocess.run([TOOLS / "kubectl", "kustomize", MANIFESTS / folder], check=True, capture_output=True).stdout
        for folder in folders
    ]
    return [each for text in printed for each in yaml.safe_load_all(text)]


def of_kind(objects: list[Object], kind: str) -> Object:
    (found,) = [each for each in objects if each["kind"] == kind]
    return found


def test_with_its_own_values_it_is_what_kustomize_makes(tmp_path: Path) -> None:
    """But for the namespace of the release, which Helm makes itself."""
    expected = by_name(kustomized("base", "webhooks"))
    del expected["Namespace", "gpu-usher", ""]

    assert by_name(helm.rendered(home=tmp_path)) == expected


def test_it_has_no_fault_that_helm_knows(tmp_path: Path) -> None:
    printed = helm.run(["lint", "--strict", helm.CHART, f"--namespace={helm.NAMESPACE}"], home=tmp_path)

    assert "1 chart(s) linted, 0 chart(s) failed" in printed


@pytest.mark.parametrize("mutate", ["Ignore", "Fail"])
@pytest.mark.parametrize("validate", ["Ignore", "Fail"])
def test_the_webhooks_are_those_that_the_command_prints(mutate: str, validate: str, tmp_path: Path) -> None:
    calls = {"mutate": (mutate, 2), "validate": (validate, 5)}
    values = {name: {"failurePolicy": policy, "timeoutSeconds": time} for name, (policy, time) in calls.items()}
    options = [
        option
        for name, (policy, time) in calls.items()
        for option in (f"--{name}-failure-policy={policy}", f"--{name}-timeout={time}")
    ]
    printed = list(yaml.safe_load_all(command.usher("manifests", "webhooks", *options).out))

    found = helm.rendered(f"--set-json=webhooks={json.dumps(values)}", home=tmp_path)
    assert [each for each in found if each["kind"].endswith("WebhookConfiguration")] == printed


@pytest.mark.parametrize(("policy", "seconds"), [("Ignore", 1), ("Fail", 3)])
def test_a_mutation_that_fails_closed_has_more_time(policy: str, seconds: int, tmp_path: Path) -> None:
    printed = command.usher("manifests", "webhooks", f"--mutate-failure-policy={policy}").out
    found = helm.rendered(f"--set=webhooks.mutate.failurePolicy={policy}", home=tmp_path)

    for objects in (found, yaml.safe_load_all(printed)):
        (mutating,) = [each for each in objects if each["kind"] == "MutatingWebhookConfiguration"]
        assert {webhook["timeoutSeconds"] for webhook in mutating["webhooks"]} == {seconds}


def test_variables_of_the_container_are_values(tmp_path: Path) -> None:
    found = helm.rendered("--set=env.OTEL_TRACES_SAMPLER_ARG=0.1", "--set=env.OTEL_SDK_DISABLED=false", home=tmp_path)

    (container,) = by_name(found)["Deployment", "gpu-usher", "gpu-usher"]["spec"]["template"]["spec"]["containers"]
    assert container["env"] == [
        {"name": "OTEL_SDK_DISABLED", "value": "false"},
        {"name": "OTEL_TRACES_SAMPLER_ARG", "value": "0.1"},
    ]


def test_runbooks_are_those_of_the_mirror_that_a_value_names(tmp_path: Path) -> None:
    mirror = "https://git.corp.test/gpu-usher/alerts"
    found = helm.rendered("--set=monitoring.enabled=true", f"--set=monitoring.runbooks={mirror}", home=tmp_path)

    groups = [group for each in found if each["kind"] == "PrometheusRule" for group in each["spec"]["groups"]]
    alerts = [rule for group in groups for rule in group["rules"] if "alert" in rule]
    assert {rule["annotations"]["runbook_url"] for rule in alerts} == {
        f"{mirror}#{each['alert'].lower()}" for each in alerts
    }


def test_values_change_the_server(tmp_path: Path) -> None:
    found = helm.rendered(
        *("--set=image.repository=registry.example.com/gpu-usher", "--set=image.tag=1.2.3", "--set=replicas=3"),
        *("--set=priorityClassName=", "--set=extraArgs={--engine=wasm}", "--set=disruptionBudget.maxUnavailable=50%"),
        '--set-json=nodeSelector={"kubernetes.io/os": "linux"}',
        home=tmp_path,
    )  # fmt: skip
    spec = of_kind(found, "Deployment")["spec"]
    pod = spec["template"]["spec"]

    assert spec["replicas"] == 3
    assert pod["containers"][0]["image"] == "registry.example.com/gpu-usher:1.2.3"
    assert pod["containers"][0]["args"][-1] == "--engine=wasm"
    assert pod["nodeSelector"] == {"kubernetes.io/os": "linux"}
    assert "priorityClassName" not in pod
    assert of_kind(found, "PodDisruptionBudget")["spec"]["maxUnavailable"] == "50%"


def test_usher_yaml_is_a_value(tmp_path: Path) -> None:
    found = helm.rendered("--set=config.enforcement.preset=strict", home=tmp_path)
    text = next(each for each in found if each["kind"] == "ConfigMap")["data"]["usher.yaml"]
    (tmp_path / "usher.yaml").write_text(text)

    assert command.usher("config", "check", tmp_path / "usher.yaml").code == 0
    assert yaml.safe_load(text)["enforcement"] == {"preset": "strict"}


def test_the_chart_and_the_base_begin_with_the_preset_that_denies_nothing(tmp_path: Path) -> None:
    base = yaml.safe_load((MANIFESTS / "base/configuration.yaml").read_text())
    (chart,) = (each for each in helm.rendered(home=tmp_path) if each["kind"] == "ConfigMap")

    for each in (base, chart):
        assert yaml.safe_load(each["data"]["usher.yaml"])["enforcement"] == {"preset": "observe"}


def test_options_add_their_objects(tmp_path: Path) -> None:
    found = helm.rendered(
        *("--set=autoscaling.enabled=true", "--set=networkPolicy.enabled=true", "--set=monitoring.enabled=true"),
        "--set=networkPolicy.apiServers={192.0.2.0/24}",
        home=tmp_path,
    )
    policy = of_kind(found, "NetworkPolicy")["spec"]["ingress"]

    assert of_kind(found, "HorizontalPodAutoscaler")["spec"]["maxReplicas"] == 6
    assert "replicas" not in of_kind(found, "Deployment")["spec"]
    assert policy[0]["from"] == [{"ipBlock": {"cidr": "192.0.2.0/24"}}]
    assert {each["kind"] for each in found} >= {"ServiceMonitor", "PrometheusRule"}


def added(*options: str, home: Path) -> dict[tuple[str, str, str], Object]:
    """The objects that options add."""
    usual = by_name(helm.rendered(home=home))
    return {key: each for key, each in by_name(helm.rendered(*options, home=home)).items() if key not in usual}


def test_the_audit_is_what_kustomize_makes(tmp_path: Path) -> None:
    found = added("--set=audit.enabled=true", home=tmp_path)

    assert found == by_name(kustomized("audit"))


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ({"claim": "audits", "clusterName": "prod"}, ["--claim=audits", "--cluster-name=prod"]),
        (
            {"shards": 10, "outputDir": "s3://audits/prod/", "credentials": "store", "apiServers": ["192.0.2.0/24"]},
            ["--shards=10", "--output-dir=s3://audits/prod/", "--credentials=store", "--api-server=192.0.2.0/24"],
        ),
        (
            {"reportObjects": True, "prometheus": {"url": "http://prometheus.m:9090/x", "namespace": "m"}},
            ["--report-objects", "--prometheus=http://prometheus.m:9090/x", "--prometheus-namespace=m"],
        ),
        (
            {"shards": 3, "parallel": 2, "claim": "audits", "prometheus": {"url": "https://prometheus.m"}},
            ["--shards=3", "--parallel=2", "--claim=audits", "--prometheus=https://prometheus.m"],
        ),
        (
            {
                "credentials": "token",
                "prometheus": {
                    "url": "https://mimir.m/prometheus",
                    "secret": "mimir",
                    "headers": {"X-Scope-OrgID": "team-a"},
                    "labels": {"cluster": "prod-1"},
                },
            },
            [
                *("--credentials=token", "--prometheus=https://mimir.m/prometheus", "--prometheus-secret=mimir"),
                *("--prometheus-header=X-Scope-OrgID=team-a", "--prometheus-label=cluster=prod-1"),
            ],
        ),
    ],
)
def test_values_of_the_audit_are_options_of_the_command(values: Object, options: list[str], tmp_path: Path) -> None:
    printed = by_name(list(yaml.safe_load_all(command.usher("manifests", "audit", "--no-role", *options).out)))
    found = added(f"--set-json=audit={json.dumps({'enabled': True, **values})}", home=tmp_path)

    for each in found.values():
        del each["metadata"]["labels"]
    assert found == printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--prometheus-label=a=b"], "the options --prometheus-... need --prometheus URL"),
        (["--prometheus-secret=a"], "the options --prometheus-... need --prometheus URL"),
        (["--prometheus=http://p", "--prometheus-header=hush"], "header 1 is not NAME=VALUE"),
        (["--prometheus=http://p", "--prometheus-label=a={cluster}"], "give it with --cluster-name NAME"),
    ],
)
def test_headers_and_labels_that_cannot_be_used_are_refused(options: list[str], message: str) -> None:
    run = command.usher("manifests", "audit", *options)

    assert run.code == 2
    assert message in run.err
    assert "hush" not in run.err


def test_shards_without_a_place_for_their_parts_are_refused(tmp_path: Path) -> None:
    refused = helm.run(helm.arguments("--set=audit.enabled=true", "--set=audit.shards=3"), home=tmp_path, code=1)

    assert "audit.outputDir" in refused
    assert "--output-dir" in command.usher("manifests", "audit", "--shards=3").err


def test_a_history_of_several_clusters_needs_their_names() -> None:
    history = "--argument=--history=postgresql://usher@db.example.com/audits"

    assert "name each with --cluster-name" in command.usher("manifests", "audit", history).err
    assert command.usher("manifests", "audit", history, "--cluster-name=prod").err == ""


def test_the_floor_is_an_option_for_the_preset_recommended(tmp_path: Path) -> None:
    printed = list(yaml.safe_load_all(command.usher("manifests", "floor").out))
    enforced = ("--set=floor.enabled=true", "--set=config.enforcement.preset=recommended")
    found = by_name(helm.rendered(*enforced, home=tmp_path))
    specs = {key: each["spec"] for key, each in by_name(printed).items()}

    assert {key: found[key]["spec"] for key in specs} == specs
    for other in ((), (*enforced, "--set=config.mutations.missed=error")):
        refused = helm.run(helm.arguments("--set=floor.enabled=true", *other), home=tmp_path, code=1)
        assert "usher manifests floor --config usher.yaml" in refused


@opa_server.needs_opa[1]
def test_policies_of_a_site_are_mounted_and_their_kinds_are_asked_about(tmp_path: Path) -> None:
    bundle = site_bundles.gatekeeper(tmp_path, policies.template(), policies.constraint(match=SERVICES))
    values = command.usher("manifests", "webhooks", "--policies", bundle, "--helm-values").out
    (tmp_path / "values.yaml").write_text(values)
    printed = list(yaml.safe_load_all(command.usher("manifests", "webhooks", "--policies", bundle).out))

    found = helm.rendered(
        *(f"--values={tmp_path / 'values.yaml'}", "--set=policies.bundles={policies.bundle}"),
        *("--set=policies.volume.configMap.name=site", "--set=policies.publicKey=PEM"),
        home=tmp_path,
    )
    pod = of_kind(found, "Deployment")["spec"]["template"]["spec"]

    assert [each for each in found if each["kind"].endswith("WebhookConfiguration")] == printed
    assert printed[1]["webhooks"][-1]["name"] == "policies.gpu-usher.io"
    assert pod["containers"][0]["args"][-2:] == [
        "--policies=/etc/usher/policies/policies.bundle",
        "--verify-key=/etc/usher/config/policies.pub",
    ]
    assert {"name": "policies", "configMap": {"name": "site"}} in pod["volumes"]
    assert of_kind(found, "ConfigMap")["data"]["policies.pub"] == "PEM\n"


@opa_server.needs_opa[1]
@pytest.mark.parametrize(
    ("values", "options"),
    [
        ({}, []),
        ({"shards": 3, "outputDir": "s3://audits/prod"}, ["--shards=3", "--output-dir=s3://audits/prod"]),
        ({"prometheus": {"url": "https://p.m", "secret": "p"}}, ["--prometheus=https://p.m", "--prometheus-secret=p"]),
    ],
)
def test_the_audit_judges_by_the_policies_of_the_server(values: Object, options: list[str], tmp_path: Path) -> None:
    private, public = site_bundles.keys(tmp_path)
    endpoints: Any = {"kinds": [{"apiGroups": [""], "kinds": ["Endpoints"]}]}
    given = policies.template(), policies.constraint(match=endpoints)
    bundle = site_bundles.gatekeeper(tmp_path, *given, options=("--sign-key", str(private)))
    rules = command.usher("manifests", "audit-role", "--policies", bundle, "--helm-values").out
    (tmp_path / "values.yaml").write_text(rules)
    signed = ("--policies", bundle, "--verify-key", public)
    printed = by_name(list(yaml.safe_load_all(command.usher("manifests", "audit", "--no-role", *signed, *options).out)))

    found = helm.rendered(
        *(f"--set-json=audit={json.dumps({'enabled': True, **values})}", f"--values={tmp_path / 'values.yaml'}"),
        *("--set=policies.bundles={policies.bundle}", "--set=policies.volume.configMap.name=usher-policies"),
        f"--set-file=policies.publicKey={public}",
        home=tmp_path,
    )
    of_audit = {key: each for key, each in by_name(found).items() if key in printed}

    for each in of_audit.values():
        del each["metadata"]["labels"]
    assert of_audit == printed
    assert ("ClusterRole", "gpu-usher-audit-policies", "") in printed
    assert of_kind(found, "ConfigMap")["data"]["policies.pub"].strip() == public.read_text().strip()


def test_bundles_need_their_volume(tmp_path: Path) -> None:
    said = helm.run(helm.arguments("--set=policies.bundles={a.bundle}"), home=tmp_path, code=1)

    assert "name the volume that holds policies.bundles" in said


def test_reviews_are_recorded_in_a_volume_of_their_own(tmp_path: Path) -> None:
    found = helm.rendered("--set=record.enabled=true", "--set=record.mebibytes=10", home=tmp_path)
    pod = of_kind(found, "Deployment")["spec"]["template"]["spec"]

    assert pod["containers"][0]["args"][-3:] == [
        "--record=/var/lib/usher/reviews.jsonl",
        "--record-size=10",
        "--record-anonymised",
    ]
    assert {"name": "record", "emptyDir": {"sizeLimit": "36Mi"}} in pod["volumes"]
    assert {"name": "record", "mountPath": "/var/lib/usher"} in pod["containers"][0]["volumeMounts"]


def test_webhooks_can_be_left_to_others(tmp_path: Path) -> None:
    found = helm.rendered("--set=webhooks.create=false", home=tmp_path)

    assert not [each for each in found if each["kind"].endswith("WebhookConfiguration")]


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--set=replica=3", "replica"),
        ("--set=replicas=0", "replicas"),
        ("--set=webhooks.validate.failurePolicy=Deny", "failurePolicy"),
        ("--set=webhooks.mutate.timeoutSeconds=31", "timeoutSeconds"),
        ("--set=networkPolicy.apiServers={192.0.2.1}", "apiServers"),
        ("--set=config.kind=Configuration", "config"),
        ("--set=policies.bundles={../key}", "bundles"),
        ("--set=policies.webhooks[0].failurePolicy=Fail", "failurePolicy"),
        ('--set-json=policies.auditRules=[{"apiGroups": [""], "resources": ["a"], "verbs": ["get"]}]', "verbs"),
        ('--set-json=policies.auditRules=[{"apiGroups": [""], "resources": ["secrets"], "verbs": ["list"]}]', "resou"),
        ('--set-json=policies.auditRules=[{"apiGroups": ["*"], "resources": ["a"], "verbs": ["list"]}]', "apiGroups"),
    ],
)
def test_a_wrong_value_is_refused_by_its_name(option: str, says: str, tmp_path: Path) -> None:
    assert says in helm.run(helm.arguments(option), home=tmp_path, code=1)


def test_another_namespace_is_refused_with_the_remedy(tmp_path: Path) -> None:
    refused = helm.run(helm.arguments(namespace="default"), home=tmp_path, code=1)

    assert "--namespace gpu-usher --create-namespace" in refused
