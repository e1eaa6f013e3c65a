"""MultiKueue needs objects in the files: KQ:pkg/controller/admissionchecks/multikueue/admissioncheck.go."""

import pytest

from usher import paths
from usher.kinds.reading import inner_names, value_forms
from usher.kinds.reading.values import Objects

KUEUE = "kueue.x-k8s.io"


def of_kueue(kind: str, name: str, spec: paths.Object) -> paths.Object:
    return {"apiVersion": f"{KUEUE}/v1beta2", "kind": kind, "metadata": {"name": name}, "spec": spec}


def check(kind: str, name: str) -> paths.Object:
    return of_kueue("AdmissionCheck", "worldwide", {"parameters": {"apiGroup": KUEUE, "kind": kind, "name": name}})


CONFIGURATION = of_kueue("MultiKueueConfig", "elsewhere", {"clusters": ["asia", "europe"]})
CLUSTER = of_kueue("MultiKueueCluster", "asia", {"clusterSource": {"kubeConfig": {"location": "asia-secret"}}})
SECRET: paths.Object = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "asia-secrets", "namespace": "kueue-system"},
}


def missing(value: paths.Object, *others: paths.Object) -> list[tuple[str, str]]:
    objects = Objects([value, *others])
    files = inner_names.Files(namespace="", around=objects, beside=objects, of_facts=None)
    found = inner_names.names_of_nothing(value, (KUEUE, str(value["kind"])), value_forms.pod_specs(value), files)
    return [(each.path, each.remedy) for each in found]


def test_a_check_names_a_configuration_of_its_kind() -> None:
    assert missing(check("MultiKueueConfig", "everywhere"), CONFIGURATION) == [
        ("/spec/parameters/name", "name one that they have (elsewhere), or add it")
    ]
    assert missing(check("MultiKueueConfig", "elsewhere"), CONFIGURATION) == []
    assert missing(check("ProvisioningRequestConfig", "everywhere"), CONFIGURATION) == []


def test_a_configuration_names_clusters_and_a_cluster_its_secret() -> None:
    assert missing(CONFIGURATION, CLUSTER) == [("/spec/clusters/1", "name one that they have (asia), or add it")]
    assert missing(CONFIGURATION) == []
    assert missing(CLUSTER, SECRET) == [("/spec/clusterSource/kubeConfig/location", "did you mean asia-secrets?")]


def test_an_autoscaler_of_another_namespace_is_found() -> None:
    scaler: paths.Object = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "a", "namespace": "monitoring"},
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "triton"}},
    }
    target: paths.Object = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "triton", "namespace": "llm"},
    }

    assert missing(scaler, target) == [("/spec/scaleTargetRef/name", "move it to llm")]
    assert missing({**scaler, "metadata": {"name": "a", "namespace": "llm"}}, target) == []
    assert missing({**scaler, "metadata": {"name": "a"}}, target) == []


def sending(name: str, controller: str = f"{KUEUE}/multikueue", **more: paths.Json) -> paths.Object:
    parameters: paths.Json = {"apiGroup": KUEUE, "kind": "MultiKueueConfig", "name": "elsewhere"}
    return of_kueue("AdmissionCheck", name, {"controllerName": controller, "parameters": parameters, **more})


def queue(*checks: paths.Json) -> paths.Object:
    flavors: paths.Json = [{"name": "a100"}, {"name": "h100"}]
    return of_kueue(
        "ClusterQueue",
        "research",
        {"resourceGroups": [{"flavors": flavors}], "admissionChecksStrategy": {"admissionChecks": [*checks]}},
    )


@pytest.mark.parametrize(
    ("checks", "place"),
    [
        ([{"name": "far"}], ""),
        ([{"name": "far", "onFlavors": ["h100", "a100"]}], ""),
        ([{"name": "far", "onFlavors": ["h100"]}], "0/name"),
        ([{"name": "far"}, {"name": "further"}], "1/name"),
        ([{"name": "nodes"}, {"name": "far"}], "0/name"),
        ([{"name": "nodes", "onFlavors": ["h100"]}], ""),
        ([{"name": "unknown"}, {"name": "far"}, None, {"name": 3}], ""),
    ],
)
def test_checks_that_exclude_each_other_keep_their_queue_inactive(checks: list[paths.Json], place: str) -> None:
    others = [sending("far"), sending("further"), sending("nodes", f"{KUEUE}/provisioning-request"), CONFIGURATION]
    found = missing(queue(*checks), *others)

    beside = "/spec/admissionChecksStrategy/admissionChecks/"
    assert [path for path, remedy in found if remedy.startswith("leave")] == ([beside + place] if place else [])


@pytest.mark.parametrize("parameters", [None, {}, "text", {"apiGroup": KUEUE, "kind": "ProvisioningRequestConfig"}])
def test_a_check_of_multikueue_needs_a_configuration_of_multikueue(parameters: paths.Json) -> None:
    remedy = "write parameters: {apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, name: ...}"

    assert ("/spec/parameters", remedy) in missing(sending("far", parameters=parameters), CONFIGURATION)
    assert missing(sending("far", "example.com/other", parameters=parameters), CONFIGURATION) == []


def test_two_names_of_one_cluster_and_a_secret_without_its_key_are_found() -> None:
    twin: paths.Object = {**CLUSTER, "metadata": {"name": "europe"}}
    once = {"leave one of them out"}

    assert missing(CONFIGURATION, CLUSTER, twin) == [("/spec/clusters/1", *once)]
    assert missing(of_kueue("MultiKueueConfig", "e", {"clusters": ["asia", "asia"]}), CLUSTER) == [
        ("/spec/clusters/1", *once)
    ]
    secret: paths.Object = {**SECRET, "metadata": {"name": "asia-secret"}, "stringData": {"config": ""}}
    assert missing(CLUSTER, secret) == [
        ("/spec/clusterSource/kubeConfig/location", "rename its key config to kubeconfig")
    ]
    assert missing(CLUSTER, {**secret, "data": {"kubeconfig": ""}}) == []
