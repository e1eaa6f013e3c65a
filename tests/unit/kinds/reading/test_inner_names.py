"""What MultiKueue needs in the files: KQ:pkg/controller/admissionchecks/multikueue/admissioncheck.go."""

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
