"""Values of huge pages, worker groups of Ray and addresses of a JobSet that are refused or have no effect."""

from typing import Any

import pytest
import yaml

from usher.kinds.reading import controller_rules, value_forms


def _refused(kind: str, version: str, spec: str) -> list[tuple[str, str]]:
    value = {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, "spec": yaml.safe_load(spec)}
    key = version.rpartition("/")[0], kind
    specs = value_forms.pod_specs(value)
    found = [*value_forms.refused_forms(value, key, specs), *controller_rules.refused(value, key, specs)]
    return [(each.path, each.remedy) for each in found]


@pytest.mark.parametrize(("amount", "count"), [("256", 1), ("256Mi", 0), ("1Gi", 0), ("3Mi", 1)])
def test_huge_pages_are_whole_pages(amount: str, count: int) -> None:
    spec = f"{{containers: [{{name: a, image: a, resources: {{limits: {{memory: 1Gi, hugepages-2Mi: '{amount}'}}}}}}]}}"

    assert len(_refused("Pod", "v1", spec)) == count


@pytest.mark.parametrize(
    ("kind", "cluster", "group", "remedies"),
    [
        ("RayJob", "rayClusterSpec", "replicas: 0", ["set replicas, or enableInTreeAutoscaling to true"]),
        ("RayJob", "rayClusterSpec", "replicas: 1", []),
        ("RayJob", "enableInTreeAutoscaling: true, rayClusterSpec", "replicas: 0", []),
    ],
)
def test_workers_of_ray_that_nothing_makes_are_found(kind: str, cluster: str, group: str, remedies: list[str]) -> None:
    inner, name = ("enableInTreeAutoscaling: true, ", "rayClusterSpec") if "," in cluster else ("", cluster)
    limits = "resources: {limits: {cpu: 8, nvidia.com/gpu: 1}}"
    pod = f"template: {{spec: {{containers: [{{name: a, image: a, {limits}}}]}}}}"
    spec = f"{{{name}: {{{inner}headGroupSpec: {{}}, workerGroupSpecs: [{{groupName: g, {group}, {pod}}}]}}}}"

    assert [remedy for _, remedy in _refused(kind, "ray.io/v1", spec)] == remedies


@pytest.mark.parametrize(("policy", "count"), [("Always", 1), ("OnFailure", 1), ("Never", 0)])
def test_workers_that_the_autoscaler_of_ray_takes_away_do_not_restart(policy: str, count: int) -> None:
    container = "{name: a, image: a, resources: {limits: {cpu: 8}}}"
    pod = f"template: {{spec: {{restartPolicy: {policy}, containers: [{container}]}}}}"
    spec = f"{{enableInTreeAutoscaling: true, workerGroupSpecs: [{{groupName: g, replicas: 1, {pod}}}]}}"

    assert len(_refused("RayCluster", "ray.io/v1", spec)) == count


@pytest.mark.parametrize(
    ("address", "remedies"),
    [
        ("train-workers-0-0.train-workers", ["write train-workers-0-0.train"]),
        ("train-workers-0-0.train", []),
        ("train-workers-0-0", []),
    ],
)
def test_pods_of_a_job_set_have_their_names_in_its_service(address: str, remedies: list[str]) -> None:
    container = {"name": "main", "image": "a", "env": [{"name": "MASTER_ADDR", "value": address}]}
    job = {"template": {"spec": {"containers": [container]}}}
    value: dict[str, Any] = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "train"},
        "spec": {"replicatedJobs": [{"name": "workers", "template": {"spec": job}}]},
    }
    found = controller_rules.refused(value, ("jobset.x-k8s.io", "JobSet"), value_forms.pod_specs(value))

    assert [each.remedy for each in found] == remedies
