"""Values of huge pages and of worker groups of Ray that are refused or have no effect."""

import pytest
import yaml

from usher.kinds.reading import value_forms


def _refused(kind: str, version: str, spec: str) -> list[tuple[str, str]]:
    value = {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, "spec": yaml.safe_load(spec)}
    key = version.rpartition("/")[0], kind
    return [(each.path, each.remedy) for each in value_forms.refused_forms(value, key, value_forms.pod_specs(value))]


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
    limits = "resources: {limits: {nvidia.com/gpu: 1}}"
    pod = f"template: {{spec: {{containers: [{{name: a, image: a, {limits}}}]}}}}"
    spec = f"{{{name}: {{{inner}headGroupSpec: {{}}, workerGroupSpecs: [{{groupName: g, {group}, {pod}}}]}}}}"

    assert [remedy for _, remedy in _refused(kind, "ray.io/v1", spec)] == remedies


@pytest.mark.parametrize(("policy", "count"), [("Always", 1), ("OnFailure", 1), ("Never", 0)])
def test_workers_that_the_autoscaler_of_ray_takes_away_do_not_restart(policy: str, count: int) -> None:
    pod = f"template: {{spec: {{restartPolicy: {policy}, containers: [{{name: a, image: a}}]}}}}"
    spec = f"{{enableInTreeAutoscaling: true, workerGroupSpecs: [{{groupName: g, replicas: 1, {pod}}}]}}"

    assert len(_refused("RayCluster", "ray.io/v1", spec)) == count
