"""An audit in the cluster: a run by schedule or once, by one pod or by shards, with rights to read."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from integration import command
from usher import paths
from usher.install.manifests import audits, roles
from usher.install.manifests.audits import FLEET_IMAGE, IMAGE, NAME, Settings

MANIFESTS = Path(__file__).parents[4] / "manifests"


def of_kind(kind: str, settings: Settings) -> Any:
    (found,) = [each for each in audits.audit_objects(settings) if each["kind"] == kind]
    return found


def job_spec(settings: Settings) -> Any:
    found = audits.scheduled_job(settings)
    return paths.resolve(found, "/spec/jobTemplate/spec" if found["kind"] == "CronJob" else "/spec")


def arguments(settings: Settings) -> list[str]:
    found: list[str] = job_spec(settings)["template"]["spec"]["containers"][0]["args"]
    return found


def granted(settings: Settings) -> set[tuple[str, str]]:
    """Resource and verb of all roles."""
    found: list[Any] = [each for each in audits.audit_objects(settings) if each["kind"] == "ClusterRole"]
    rules = [rule for role in found for rule in role["rules"]]
    return {(resource, verb) for rule in rules for resource in rule["resources"] for verb in rule["verbs"]}


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(claim="audits", prometheus="http://prometheus.monitoring:9090"),
        Settings(shards=10, output="s3://audits/prod", credentials="store"),
        Settings(clusters="fleet", shards=3, output="s3://audits/fleet"),
    ],
)
def test_without_report_objects_it_may_list_and_nothing_else_and_no_secrets(settings: Settings) -> None:
    assert {verb for _, verb in granted(settings)} <= {"list"}
    assert "secrets" not in {resource for resource, _ in granted(settings)}


def test_report_objects_need_a_role_that_writes_reports_alone() -> None:
    found = granted(Settings(report_objects=True))

    written = {resource for resource, verb in found if verb not in {"get", "list"}}
    assert written == {"reports", "clusterreports", "policyreports", "clusterpolicyreports"}


def test_audits_of_other_clusters_have_no_rights_and_no_token_in_this_one() -> None:
    settings = Settings(clusters="fleet", shards=3, claim="audits")

    assert not granted(settings)
    assert not [each for each in audits.audit_objects(settings) if each["kind"] == "ClusterRoleBinding"]
    assert job_spec(settings)["template"]["spec"]["automountServiceAccountToken"] is False
    assert "--clusters=/etc/usher/clusters/clusters.yaml" in arguments(settings)


def test_one_pod_writes_its_reports_to_the_claim() -> None:
    given = arguments(Settings(claim="audits"))

    assert "--format=html=/audits/audit.html" in given
    assert "--history=/audits/history.db" in given


@pytest.mark.parametrize(
    ("settings", "image"),
    [
        (Settings(claim="audits"), IMAGE),
        (Settings(shards=2, claim="audits"), FLEET_IMAGE),
        (Settings(output="s3://audits/prod"), FLEET_IMAGE),
        (Settings(clusters="fleet", claim="audits"), FLEET_IMAGE),
        (Settings(shards=2, claim="audits", image="example.com/mine:1"), "example.com/mine:1"),
    ],
)
def test_what_writes_parts_has_the_image_with_duckdb(settings: Settings, image: str) -> None:
    assert job_spec(settings)["template"]["spec"]["containers"][0]["image"] == image


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--shards=2", "--claim=audits"], "scripts/image --fleet"),
        (["--output-dir=gs://audits/prod"], "it lacks gcsfs, which gs:// needs"),
    ],
)
def test_the_command_says_which_image_parts_need(options: list[str], says: str) -> None:
    assert says in command.usher("manifests", "audit", *options).err
    assert command.usher("manifests", "audit", *options, "--image=mine:1").err == ""


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--prometheus=nonsense"], "--prometheus"),
        (["--argument=--bogus"], "--argument is for the options of usher audit: No such option '--bogus'."),
        (
            ["--argument=--window"],
            "--argument is for the options of usher audit: Option '--window' requires an argument.",
        ),
        (
            ["--schedule=nonsense"],
            "--schedule: 'nonsense': it has 1 fields, and cron has 5; write for example '0 6 * * 1'",
        ),
        (["--schedule=0 25 * * *"], "'25' is not a value for the hour, from 0 to 23"),
        (["--schedule=0 6 * * 7"], "'7' is not a value for the day of the week, from 0 to 6"),
        (["--schedule=*/0 6 * * *"], "'*/0' is not a value for the minute, from 0 to 59"),
        (["--schedule=@never"], "this macro of cron is unknown"),
        (["--claim=x y"], "--claim: 'x y' is not a name of an object"),
        (["--audit-namespace=A_B"], "--audit-namespace: 'A_B' is not a name of a namespace"),
        (["--api-server=nonsense"], "--api-server: 'nonsense' is not a network: write a CIDR, for example 10.0.0.1/32"),
        (["--api-server=10.0.0.1"], "--api-server: '10.0.0.1' is not a network"),
    ],
)
def test_what_a_run_would_refuse_is_refused_before_it_is_applied(options: list[str], says: str) -> None:
    run = command.usher("manifests", "audit", *options)

    assert (run.code, run.out) == (2, "")
    assert says in " ".join(run.err.split())


def test_all_wrong_values_are_named_at_once() -> None:
    run = command.usher("manifests", "audit", "--claim=x y", "--audit-namespace=A_B", "--schedule=nonsense")

    assert [line.split(":")[1] for line in run.err.splitlines()] == [" --audit-namespace", " --claim", " --schedule"]


@pytest.mark.parametrize(
    "schedule", ["0 6 * * 1", "*/15 0-6/2 1,15 JAN-mar MON-FRI", "30 4 ? * sun", "@weekly", "5/10 * * * *"]
)
def test_schedules_of_cron_are_taken(schedule: str) -> None:
    assert list(audits.refused_settings(Settings(schedule=schedule))) == []


def test_further_arguments_may_be_all_options_of_an_audit() -> None:
    given = ("--argument=--window=2d", "--argument=--step", "--argument=5m", "--argument=--require-usage")

    run = command.usher("manifests", "audit", "--prometheus=http://p:9090", *given)

    assert (run.code, run.err) == (0, "")


def test_the_image_for_fleets_has_what_s3_needs() -> None:
    assert "it lacks" not in command.usher("manifests", "audit", "--output-dir=s3://audits/prod").err


def test_shards_are_an_indexed_job_whose_indexes_fail_alone() -> None:
    found = job_spec(Settings(shards=10, output="s3://audits/prod/"))

    assert found["completionMode"] == "Indexed"
    assert found["completions"] == 10
    assert found["parallelism"] == 4
    assert found["backoffLimitPerIndex"] == audits.RETRIES
    assert found["maxFailedIndexes"] == 5
    assert "backoffLimit" not in found
    assert [rule["action"] for rule in found["podFailurePolicy"]["rules"]] == ["Ignore", "FailIndex"]


def test_each_run_of_shards_has_a_folder_of_its_own() -> None:
    """Otherwise a run would find the shards of the week before, and leave its own out as done."""
    settings = Settings(shards=2, output="s3://audits/prod/")

    assert "--output-dir=s3://audits/prod/$(JOB_NAME)" in arguments(settings)
    (variable,) = job_spec(settings)["template"]["spec"]["containers"][0]["env"]
    assert variable["valueFrom"]["fieldRef"]["fieldPath"] == "metadata.labels['batch.kubernetes.io/job-name']"


def test_without_a_schedule_it_is_a_job() -> None:
    assert audits.scheduled_job(Settings(schedule=""))["kind"] == "Job"
    assert audits.scheduled_job(Settings())["kind"] == "CronJob"


def test_reviews_never_reach_the_pods_of_an_audit() -> None:
    """The Service of the server selects by the label that its own pods have."""
    service = next(iter(yaml.safe_load_all((MANIFESTS / "base" / "service.yaml").read_text())))
    labels = job_spec(Settings())["template"]["metadata"]["labels"]

    assert not service["spec"]["selector"].items() <= labels.items()


def test_the_policy_lets_nothing_in_and_out_only_to_named_peers() -> None:
    settings = Settings(
        prometheus="http://prometheus.observe:9090/prefix",
        prometheus_namespace="observe",
        api_servers=("192.0.2.0/24",),
        output="s3://audits",
    )
    spec = of_kind("NetworkPolicy", settings)["spec"]

    assert "ingress" not in spec
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    names, servers, prometheus, store = spec["egress"]
    assert {port["port"] for port in names["ports"]} == {53}
    assert servers["to"] == [{"ipBlock": {"cidr": "192.0.2.0/24"}}]
    assert prometheus["ports"] == [{"protocol": "TCP", "port": 9090}]
    assert prometheus["to"][0]["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "observe"}
    assert store == {"ports": [{"protocol": "TCP", "port": 443}]}


def test_pods_write_to_their_volumes_alone() -> None:
    pod = job_spec(Settings(claim="audits"))["template"]["spec"]
    container = pod["containers"][0]

    assert container["securityContext"]["readOnlyRootFilesystem"]
    written = {mount["name"] for mount in container["volumeMounts"] if not mount.get("readOnly")}
    assert written == {"tmp", "audits"}


def test_the_manifests_are_those_that_are_printed() -> None:
    found = list(yaml.safe_load_all((MANIFESTS / "audit" / "audit.yaml").read_text()))

    assert found == list(audits.audit_objects(Settings(), with_role=False))
    assert [each for each in audits.audit_objects(Settings()) if each not in found] == [roles.audit_role([])]


def test_all_objects_of_an_audit_have_one_name() -> None:
    assert {paths.resolve(each, "/metadata/name") for each in audits.audit_objects(Settings())} == {NAME}


def test_bundles_with_policies_come_from_a_config_map() -> None:
    settings = Settings(policies=("a.bundle", "b.bundle"), policies_config_map="ours")

    assert "--policies=/etc/usher/policies/a.bundle" in arguments(settings)
    spec = job_spec(settings)["template"]["spec"]
    assert {"name": "policies", "configMap": {"name": "ours"}} in spec["volumes"]
    assert arguments(Settings()) == [each for each in arguments(settings) if "policies" not in each]
