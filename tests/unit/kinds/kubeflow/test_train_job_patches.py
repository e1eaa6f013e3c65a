"""Patches of a TrainJob for the templates of its runtime (docs/domain/kinds.md#trainjob; kubeflow/trainer 2.3)."""

import pytest

import builders
from unit.kinds.kubeflow.train_jobs import PATCH, runtime, runtime_patch, step, train_job
from unit.workloads.normalised import pod_set, readable_workload, workload
from usher import paths
from usher.kinds.kubeflow_trainer import MAX_PATCHES
from usher.kinds.reading.values import Objects


@pytest.mark.parametrize(
    ("field", "value", "path"),
    [
        ("podSpecOverrides", {"targetJobs": [{"name": "node"}], **PATCH}, "/spec/podSpecOverrides/0"),
        (
            "podTemplateOverrides",
            {"targetJobs": [{"name": "node"}], "metadata": {"labels": {"team": "a"}}, "spec": PATCH},
            "/spec/podTemplateOverrides/0/spec",
        ),
        (
            "runtimePatches",
            runtime_patch(PATCH, metadata={"labels": {"team": "a"}}),
            "/spec/runtimePatches/0/trainingRuntimeSpec/template/spec/replicatedJobs/0/template/spec/template/spec",
        ),
    ],
)
def test_patches_of_all_versions_are_merged_into_the_template(field: str, value: paths.Json, path: str) -> None:
    known = runtime(step("node", "trainer", builders.container("node"), builders.container("proxy")))
    pod_spec = "/spec/template/spec/replicatedJobs/0/template/spec/template/spec"
    known = builders.replaced(known, f"{pod_spec}/nodeSelector", {"zone": "a"})
    known = builders.replaced(known, f"{pod_spec}/tolerations", [{"key": "zone"}])
    known = builders.replaced(known, f"{pod_spec}/schedulingGates", [{"name": "example.com/first"}])
    job = builders.replaced(train_job(), f"/spec/{field}", [value])
    found = pod_set(job, objects=Objects([known]))

    assert found.node_selector == {"zone": "a", "pool": "h100"}
    assert found.tolerations == ({"key": "gpu"},)
    assert found.has_required_affinity
    assert found.scheduling_gates == ("example.com/quota", "example.com/first")
    assert [variable.path for variable in found.containers[1].environment] == [f"{path}/containers/0/env/0"]
    assert found.labels == ({} if field == "podSpecOverrides" else {"team": "a"})


def test_a_patch_of_another_job_changes_nothing() -> None:
    known = runtime(step("initialise", None), step())
    found = readable_workload(
        train_job(runtimePatches=[runtime_patch(PATCH, job="initialise")]), objects=Objects([known])
    )

    assert [bool(each.tolerations) for each in found.pod_sets] == [True, False]


def test_a_patch_says_nothing_where_it_is_null() -> None:
    affinity = builders.node_affinity(builders.term(builders.expression("pool", "In", "h100")))
    patches = [runtime_patch({"affinity": affinity}), runtime_patch({"affinity": {"nodeAffinity": None}})]

    assert pod_set(train_job(runtimePatches=patches), objects=Objects([runtime()])).has_required_affinity


def test_more_patches_than_anybody_means_are_not_read() -> None:
    patches = [runtime_patch({"nodeSelector": {"pool": str(index)}}) for index in range(MAX_PATCHES + 5)]
    job = train_job(runtimePatches=patches)
    found = workload(job, objects=Objects([runtime()]))

    assert found.pod_sets[0].node_selector == {"pool": str(MAX_PATCHES - 1)}
    assert [unknown.reason for unknown in found.unknowns] == [f"more than {MAX_PATCHES} patches of one job: not read"]
