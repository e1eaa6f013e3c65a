"""`usher workload show`: exit codes, and messages when there is nothing to show."""

from pathlib import Path

import pytest

import builders
from integration.command import bad, config, usher, write
from usher import paths

SECRET = builders.custom("v1", "Secret", {}, name="token")
CLAIM_TEMPLATE = builders.custom("resource.k8s.io/v1", "ResourceClaimTemplate", {"spec": {}}, name="gpus")


def test_workloads_are_shown_one_after_the_other_each_with_its_place(tmp_path: Path) -> None:
    file = write(tmp_path / "jobs.yaml", builders.job(name="one"), SECRET, builders.job(name="two"))
    line = next(number for number, text in enumerate(file.read_text().splitlines(), 1) if text == "kind: Job")

    run = usher("workload", "show", "jobs.yaml", cwd=tmp_path)

    assert (run.code, run.err) == (0, "")
    first, second = run.out.split("\n\n")
    assert first.splitlines()[:2] == [f"jobs.yaml:{line - 1}", "Job ml-research/one (batch/v1)"]
    assert second.splitlines()[1] == "Job ml-research/two (batch/v1)"


def test_a_workload_is_shown_with_all_that_places_it(tmp_path: Path) -> None:
    job = builders.pytorch_job(builders.template(builders.container(gpus=8), schedulerName="volcano"), workers=7)

    out = usher("workload", "show", write(tmp_path / "job.yaml", job), cwd=tmp_path).out

    assert "PyTorchJob ml-research/example (kubeflow.org/v1)\n  role " in out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "role training (its kind, PyTorchJob)" in lines
    assert "accelerators 56 nvidia.com/gpu (extended resource)" in lines
    assert "scheduler volcano" in lines
    assert "container main limits nvidia.com/gpu 8" in lines


def test_json_is_one_document_with_the_very_input_of_the_policies(tmp_path: Path) -> None:
    run = usher("workload", "show", write(tmp_path / "bad.yaml", bad()), "--format", "json", cwd=tmp_path)

    assert (run.code, run.err) == (0, "")
    assert (run.json["apiVersion"], run.json["kind"]) == ("gpu-usher.io/v1alpha1", "WorkloadList")
    (workload,) = run.json["workloads"]
    assert workload["name"] == "bad"
    (pod_set,) = workload["input"]["podSets"]
    assert pod_set["asksAccelerators"] is True


def test_unknown_values_are_shown_without_a_failure(tmp_path: Path) -> None:
    pod = builders.pod(builders.container(gpus="${GPUS}"))

    run = usher("workload", "show", write(tmp_path / "pod.yaml", pod), cwd=tmp_path)

    assert run.code == 0
    assert 'spec.containers[0].resources.limits["nvidia.com/gpu"]: ' in " ".join(run.out.split())


def test_objects_without_a_namespace_stand_in_the_one_that_is_given(tmp_path: Path) -> None:
    file = write(tmp_path / "pod.yaml", builders.pod(namespace=None))

    assert "Pod default/example" in usher("workload", "show", file).out
    assert "Pod staging/example" in usher("workload", "show", file, "-n", "staging").out


def test_what_usher_yaml_calls_an_accelerator_is_one(tmp_path: Path) -> None:
    file = write(tmp_path / "pod.yaml", builders.pod(builders.container(limits={"example.com/npu": 2})))
    config(tmp_path / "usher.yaml", accelerators={"names": ["example.com/npu"]})

    run = usher("workload", "show", file, cwd=tmp_path)

    assert "2 example.com/npu (extended resource)" in run.out


def test_a_directory_is_shown_file_by_file(tmp_path: Path) -> None:
    write(tmp_path / "jobs" / "a.yaml", builders.job(name="a"))
    write(tmp_path / "jobs" / "b.yaml", builders.job(name="b"))

    out = usher("workload", "show", "jobs", cwd=tmp_path).out

    assert [line for line in out.splitlines() if line.startswith("jobs/")] == ["jobs/a.yaml:1", "jobs/b.yaml:1"]


@pytest.mark.parametrize("form", ["text", "json"])
def test_what_could_be_read_is_shown_and_what_could_not_ends_it_with_2(tmp_path: Path, form: str) -> None:
    write(tmp_path / "good.yaml", builders.job(name="good"))
    (tmp_path / "broken.yaml").write_text("apiVersion: v1\nkind: [\n")

    run = usher("workload", "show", ".", "--format", form, cwd=tmp_path)

    assert run.code == 2
    assert "good" in run.out
    assert run.err.startswith("usher: broken.yaml:")


def test_show_reports_and_leaves_out_a_document_that_is_not_an_object(tmp_path: Path) -> None:
    (tmp_path / "mixed.yaml").write_text("a: 1\n---\napiVersion: v1\nkind: Pod\n")

    run = usher("workload", "show", "mixed.yaml", cwd=tmp_path)

    assert run.code == 0
    assert run.err == ("usher: left out: mixed.yaml:1: not a Kubernetes object: no apiVersion and no kind\n")


@pytest.mark.parametrize("form", ["text", "json"])
def test_show_names_the_kinds_of_a_file_whose_objects_make_no_pods(tmp_path: Path, form: str) -> None:
    write(tmp_path / "claims.yaml", CLAIM_TEMPLATE, SECRET, CLAIM_TEMPLATE)

    run = usher("workload", "show", "claims.yaml", "--format", form, cwd=tmp_path)

    assert (run.code, run.out) == (2, "")
    assert run.err == "usher: claims.yaml: no object in it makes pods (ResourceClaimTemplate, Secret)\n"


def test_of_many_kinds_that_make_no_pods_a_few_are_named(tmp_path: Path) -> None:
    file = write(tmp_path / "many.yaml", *(builders.custom("v1", f"Kind{number}", {}) for number in range(7)))

    run = usher("workload", "show", file.name, cwd=tmp_path)

    assert run.err == "usher: many.yaml: no object in it makes pods (Kind0, Kind1, Kind2, Kind3, Kind4 and 2 more)\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "usher: pods.yaml: cannot be read: no such file or directory\n"),
        ("", "usher: no manifests found in pods.yaml: "),
        ("a: 1\n", "usher: no manifests found in pods.yaml: pods.yaml:1: not a Kubernetes object: "),
        ("kind: [\n", "usher: pods.yaml:"),
    ],
    ids=["no file", "empty", "no object", "no YAML"],
)
def test_bad_input_ends_with_2_and_one_message(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "pods.yaml").write_text(content)

    run = usher("workload", "show", "pods.yaml", cwd=tmp_path)

    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(message)


def test_an_empty_directory_holds_no_manifests(tmp_path: Path) -> None:
    run = usher("workload", "show", ".", cwd=tmp_path)

    assert (run.code, run.out) == (2, "")
    assert (
        run.err
        == "usher: no manifests found in .: of a directory, usher reads the files that end in .yaml, .yml or .json\n"
    )


def test_hostile_names_reach_no_stream_raw(tmp_path: Path) -> None:
    hostile = "\x1b[31m\n::error::##vso[x]"
    note: paths.Object = {"kind": hostile}

    run = usher("workload", "show", write(tmp_path / "a.yaml", builders.pod(name=hostile), note), cwd=tmp_path)
    nothing = usher("workload", "show", write(tmp_path / "b.yaml", builders.custom("v1", hostile, {})), cwd=tmp_path)

    for text in (run.out, run.err, nothing.err):
        assert "\x1b" not in text
        assert "##vso[" not in text
        assert not any(line.startswith("::") for line in text.splitlines())
    assert "\\x1b[31m" in run.out
