"""An audit of manifests: it says what they ask for and what admission would say, and nothing about a cluster."""

import csv
from pathlib import Path
from typing import Any

import pytest

import builders
from integration import command
from usher import paths

TPU = "google.com/tpu"


def job(name: str = "train", *, gpus: int = 3, **metadata: Any) -> paths.Object:
    return builders.job(builders.template(builders.container(gpus=gpus), restartPolicy="Never"), name=name, **metadata)


def with_limit(resource: str, amount: paths.Json) -> paths.Object:
    return builders.replaced(
        job(), "/spec/template/spec/containers/0/resources", {"limits": {resource: amount}, "requests": {}}
    )


def claiming(template: str = "one-gpu", *, replicas: int = 2) -> paths.Object:
    """A Deployment whose pods claim devices."""
    container = builders.replaced(builders.container(), "/resources", {"claims": [{"name": "gpu"}]})
    claims: list[paths.Json] = [{"name": "gpu", "resourceClaimTemplateName": template}]
    value = builders.deployment(builders.template(container, resourceClaims=claims), name="claims")
    return builders.replaced(value, "/spec/replicas", replicas)


def claim_template(number: int = 1) -> paths.Object:
    request: paths.Json = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": number}}
    spec: paths.Object = {"spec": {"devices": {"requests": [request]}}}
    return builders.custom("resource.k8s.io/v1", "ResourceClaimTemplate", spec, name="one-gpu")


def audited(folder: Path, *objects: paths.Object, options: tuple[str, ...] = ()) -> Any:
    command.write(folder / "app.yaml", *objects)
    return command.usher("audit", "--format=json", *options, folder).json


def text(folder: Path, *objects: paths.Object) -> str:
    command.write(folder / "app.yaml", *objects)
    return " ".join(command.usher("audit", folder).out.split())


def codes(found: list[Any]) -> list[tuple[str, str, str]]:
    return sorted((each["outcome"], each["code"], each["path"]) for each in found)


def test_an_audit_of_manifests_finds_what_check_finds(tmp_path: Path) -> None:
    """Admission changes a manifest before it judges it, so what the webhook mends is no finding."""
    file = command.write(tmp_path / "jobs.yaml", command.bad(), command.warned(), job(gpus=8))

    checked = command.usher("check", "--format=json", file).json["workloads"]
    found = command.usher("audit", "--format=findings", file).json["workloads"]

    assert [each["findings"] for each in found] == [each["findings"] for each in checked]
    assert "USH301" not in {each["code"] for workload in found for each in workload["findings"]}


def test_what_exists_is_judged_as_it_is(tmp_path: Path) -> None:
    exists = builders.replaced(job(), "/metadata/uid", "4b1f")

    found = audited(tmp_path, exists)["findings"]

    assert "USH301" in {each["code"] for each in found}
    assert "USA042" in {each["code"] for each in found}, "what admission would add today is beside it"


def test_the_report_says_what_usher_assumes(tmp_path: Path) -> None:
    exists = builders.replaced(job(), "/metadata/uid", "4b1f")

    shown = text(tmp_path, exists)

    assert "a warning only: usher assumes the usual taint nvidia.com/gpu" in shown


def test_claims_count_as_the_devices_that_they_ask_for(tmp_path: Path) -> None:
    """A rollout has one pod more."""
    document = audited(tmp_path, claim_template(2), claiming())

    (workload,) = document["workloads"]
    assert (workload["gpusLeast"], workload["gpus"]) == (4, 6)
    assert (document["summary"]["gpusAskedLeast"], document["summary"]["gpusAsked"]) == (4, 6)
    assert "asked for 4 to 6 GPUs, by 1 workload with accelerators" in text(tmp_path, claim_template(2), claiming())


def test_a_claim_that_no_file_has_is_not_0_gpus(tmp_path: Path) -> None:
    document = audited(tmp_path, claiming())

    (workload,) = document["workloads"]
    assert workload["gpus"] is None
    assert document["summary"]["workloadsNotKnown"] == 1
    assert "the accelerators of 1 workload cannot be read" in text(tmp_path, claiming())


@pytest.mark.parametrize("amount", [None, "${GPUS}", "eight"])
def test_an_amount_that_cannot_be_read_is_not_0_gpus(tmp_path: Path, amount: paths.Json) -> None:
    broken = with_limit(builders.GPU, amount)

    document = audited(tmp_path, broken)

    (workload,) = document["workloads"]
    assert workload["gpus"] is None
    assert workload["outcome"] == "unknown"
    (part,) = document["notJudged"]
    assert part["path"].endswith('limits["nvidia.com/gpu"]')
    assert part["place"].startswith(f"{tmp_path}/app.yaml:")
    assert document["completeness"]["notJudged"] == 1
    shown = text(tmp_path, broken)
    assert "1 part not judged" in shown
    assert "0 GPUs" not in shown


def test_a_fraction_that_is_not_a_number_is_found_and_holds_no_gpu(tmp_path: Path) -> None:
    """KAI-Scheduler refuses it or counts it nowhere."""
    pod = builders.pod(builders.container(), name="half", annotations={"gpu-fraction": "half"})

    report = audited(tmp_path, builders.replaced(pod, "/spec/schedulerName", "kai-scheduler"))

    assert report["workloads"] == []
    assert "USH814" in {each["code"] for each in report["findings"]}


def test_an_amount_of_anything_else_that_cannot_be_read_leaves_the_gpus_known(tmp_path: Path) -> None:
    resources: paths.Json = {"limits": {"cpu": "many", builders.GPU: 3}}
    broken = builders.replaced(job(), "/spec/template/spec/containers/0/resources", resources)

    (workload,) = audited(tmp_path, broken)["workloads"]

    assert workload["gpus"] == 3


@pytest.mark.parametrize(
    ("options", "code"),
    [((), 0), (("--fail-on=deny",), 2), (("--fail-on=deny", "--allow-unknown"), 0)],
    ids=["a report", "a gate", "a gate that accepts it"],
)
def test_a_gate_does_not_pass_what_was_not_judged(tmp_path: Path, options: tuple[str, ...], code: int) -> None:
    file = command.write(tmp_path / "app.yaml", with_limit(builders.GPU, None))

    assert command.usher("audit", *options, file).code == code


def test_the_report_says_nothing_about_a_cluster(tmp_path: Path) -> None:
    document, shown = audited(tmp_path, job()), text(tmp_path, job())

    for each in ("gpus", "gpusAllocated", "gpusFree", "gpusWaiting", "gpusNever", "gpusHalfStarted", "workloadsNever"):
        assert document["summary"][each] is None, each
    assert document["readiness"] == []
    assert "allocated, waiting and never are not known, because these are files" in shown
    assert "prometheus" not in shown
    assert "production checklist" not in shown


@pytest.mark.parametrize("format_name", ["html", "markdown"])
def test_pages_say_nothing_about_a_cluster_either(tmp_path: Path, format_name: str) -> None:
    command.write(tmp_path / "app.yaml", command.bad())

    shown = command.usher("audit", f"--format={format_name}", tmp_path).out

    assert "could run on this cluster" not in shown
    assert "--prometheus" not in shown
    assert "USH103" in shown
    assert f"{tmp_path}/app.yaml:" in shown


def test_errors_come_first(tmp_path: Path) -> None:
    lines = command.usher("audit", command.write(tmp_path / "app.yaml", command.bad())).out.splitlines()

    assert lines[2].split() == ["findings", "1", "error"]


def test_facts_say_what_can_never_run_of_manifests_as_admission_changes_them(tmp_path: Path) -> None:
    """The webhook adds the toleration that the node wants, so only the job that is too large is left."""
    taints: list[paths.Json] = [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]
    node = builders.replaced(builders.node("gpu-1", gpus=8), "/spec", {"taints": taints})
    facts = command.write(tmp_path / "facts.yaml", builders.replaced(node, "/metadata/uid", "77"))

    document = audited(tmp_path / "jobs", job("fits"), job("huge", gpus=16), options=(f"--facts={facts}",))

    assert document["summary"]["workloadsNever"] == 1
    assert [each["subject"]["name"] for each in document["findings"] if each["never"]] == ["huge"]


def test_a_suspended_manifest_does_not_wait(tmp_path: Path) -> None:
    document = audited(tmp_path, builders.replaced(job(), "/spec/suspend", True))

    assert document["workloads"][0]["state"] == "no pods"
    assert document["summary"]["gpusWaiting"] is None


def test_the_namespace_is_the_team_of_a_workload_without_the_label(tmp_path: Path) -> None:
    document = audited(tmp_path, job("one", namespace="nlp"), job("two", namespace=None))

    assert [each["team"] for each in document["workloads"]] == ["default", "nlp"]


def test_other_accelerators_have_their_own_name(tmp_path: Path) -> None:
    document, shown = audited(tmp_path, with_limit(TPU, 256)), text(tmp_path, with_limit(TPU, 256))

    assert document["summary"]["otherAsked"] == {TPU: 256}
    assert document["workloads"][0]["otherAccelerators"] == {TPU: 256}
    assert f"asked for 256 {TPU}, by 1 workload" in shown
    assert "0 GPUs" not in shown


def test_each_finding_has_its_file_and_line(tmp_path: Path) -> None:
    file = command.write(tmp_path / "app.yaml", command.bad())
    line = command.bad_line(file)

    command.usher("audit", "--format", f"csv={tmp_path / 'tables'}", file)

    (denied,) = [each for each in audited(tmp_path, command.bad())["findings"] if each["outcome"] == "deny"]
    rows = csv.DictReader((tmp_path / "tables" / "findings.csv").read_text().splitlines())
    assert denied["place"] == f"{file}:{line}"
    assert {each["place"] for each in rows if each["outcome"] == "deny"} == {f"{file}:{line}"}
    assert f"{file}:{line}" in text(tmp_path, command.bad()).replace("app.yaml :", "app.yaml:")


def test_one_object_in_two_files_is_two_workloads(tmp_path: Path) -> None:
    command.write(tmp_path / "other.yaml", job(gpus=5))

    document = audited(tmp_path, job(gpus=3))

    assert [each["gpus"] for each in document["workloads"]] == [3, 5]
    assert {each["place"] for each in document["workloads"]} == {f"{tmp_path}/app.yaml:1", f"{tmp_path}/other.yaml:1"}


def test_a_name_that_a_template_fills_in_is_not_judged(tmp_path: Path) -> None:
    document = audited(tmp_path, job("${JOB_NAME}"))

    (part,) = document["notJudged"]
    assert part["path"] == "metadata.name"
    assert document["workloads"][0]["gpus"] == 3


def test_the_list_of_what_could_not_be_read_says_how_many_it_leaves_out(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"broken-{number:02}.yaml").write_text("apiVersion: v1\nkind: Job\nkind: Pod\n")

    assert "and 2 more sources" in text(tmp_path, job())


def test_an_audit_without_facts_reads_no_file_of_facts(tmp_path: Path) -> None:
    command.write(tmp_path / "job.yaml", builders.gpu_job(1))

    done = command.usher("audit", tmp_path, "--facts", "none")

    assert "none" not in done.err
    assert done.code == 0
