"""Labels of exporters are read as the scrapers of the field change them."""

import pytest

from builders import usage as build
from usher.audit.usage import series
from usher.audit.usage.series import Device, PodName, Series

EXPORTER = {"namespace": "gpu-operator", "pod": "nvidia-dcgm-exporter-4x7zq", "container": "nvidia-dcgm-exporter"}
HELD = PodName("red", "train-0")


def holder(*all_labels: dict[str, str]) -> PodName | None:
    found = [Series(labels=each, first=0, values=[1.0]) for each in all_labels]
    return series.holder_of(all_labels[0], series.renamed_labels(found))


@pytest.mark.parametrize(
    "given",
    [
        {"namespace": "red", "pod": "train-0", "container": "main"},
        {**EXPORTER, "exported_namespace": "red", "exported_pod": "train-0", "exported_container": "main"},
        {"namespace": "gmp-system", "exported_namespace": "red", "pod": "train-0", "container": "main"},
        {"namespace": "red", "pod": "dcgm-exporter-4x7zq", "exported_pod": "train-0"},
        {"pod_namespace": "red", "pod_name": "train-0", "container_name": "main"},
    ],
    ids=[
        *("honor_labels", "labels of the exporter renamed", "only its namespace renamed", "only its pod renamed"),
        "old names of dcgm-exporter",
    ],
)
def test_the_pod_that_holds_a_gpu(given: dict[str, str]) -> None:
    assert holder({"job": "dcgm", **given}) == HELD


@pytest.mark.parametrize(
    "given",
    [
        {"gpu": "0"},
        {"pod": "", "namespace": "", "container": ""},
        EXPORTER,
        {"namespace": "monitoring", "pod": "gpu-metrics-x2k4p", "Hostname": "gpu-metrics-x2k4p"},
        {"namespace": "kube-amd-gpu", "pod": "default-metrics-exporter-7kq2z"},
    ],
    ids=["no labels", "empty labels", "the exporter itself", "an exporter by its host name", "the exporter of AMD"],
)
def test_a_gpu_without_a_pod(given: dict[str, str]) -> None:
    assert holder(given) is None


def test_where_a_scraper_renames_labels_the_pod_is_never_the_holder() -> None:
    free = {"job": "dcgm", "namespace": "ops", "pod": "gpu-watch-abc12"}
    other = {
        "job": "dcgm",
        "namespace": "ops",
        "pod": "gpu-watch-abc12",
        "exported_pod": "a",
        "exported_namespace": "b",
    }

    assert holder(free, other) is None
    assert holder({**free, "job": "another"}, other) == PodName("ops", "gpu-watch-abc12")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"Hostname": "n1.example.com"}, "n1.example.com"),
        ({"Hostname": "n1"}, "n1.example.com"),
        ({"Hostname": "dcgm-exporter-6ldbb", "node": "n2"}, "n2"),
        ({"Hostname": "dcgm-exporter-6ldbb", "instance": "n2:9400"}, "n2"),
        ({"hostname": "n2"}, "n2"),
        ({"Hostname": "dcgm-exporter-6ldbb", "NodeName": "n2"}, "n2"),
        ({"instance": "federate:9090", "exported_instance": "n2:9400"}, "n2"),
        ({"Hostname": "unknown"}, ""),
        ({"Hostname": "same"}, ""),
    ],
)
def test_a_node_is_a_label_that_names_a_node_of_the_cluster(given: dict[str, str], name: str) -> None:
    known = series.known_nodes(["n1.example.com", "n2", "same.a", "same.b"])

    assert series.node_of(given, known) == name


@pytest.mark.parametrize(
    ("given", "device"),
    [
        ({"gpu": "3", "UUID": "GPU-a", "Hostname": "n1"}, Device("GPU-a", "")),
        ({"gpu": "3", "UUID": "GPU-a", "GPU_I_ID": "7", "GPU_I_PROFILE": "1g.10gb"}, Device("GPU-a", "7")),
        ({"gpu": "3", "Hostname": "n1"}, Device("n1//3", "")),
        ({"gpu": "3", "Hostname": "dcgm-exporter-6ldbb", "instance": "n1:9400"}, Device("n1//3", "")),
        ({"gpu": "3", "uuid": "GPU-a"}, Device("GPU-a", "")),
        (
            {
                "gpu_id": "2",
                "serial_number": "S1",
                "hostname": "n9",
                "gpu_partition_id": "0",
                "gpu_compute_partition_type": "spx",
            },
            Device("n9/S1/2", ""),
        ),
        (
            {"gpu_id": "2", "gpu_uuid": "u", "gpu_partition_id": "1", "gpu_compute_partition_type": "cpx"},
            Device("u", "cpx 2.1"),
        ),
    ],
)
def test_the_device_of_a_series(given: dict[str, str], device: Device) -> None:
    assert series.device_of(given, series.known_nodes(["n1"])) == device


def test_where_only_the_namespace_is_renamed_a_free_gpu_has_no_holder() -> None:
    held = {"job": "dcgm", "namespace": "gmp-system", "exported_namespace": "red", "pod": "train-0"}

    assert holder({"job": "dcgm", "namespace": "gmp-system"}, held) is None
    assert holder({"job": "dcgm", "namespace": "gmp-system", "pod": "gpu-watch-abc12"}, held) is None


def test_the_clusters_of_series_are_those_of_the_first_label_that_names_some() -> None:
    found = [Series(labels={"cluster": name}, first=0, values=[1.0]) for name in ("b", "a", "b", "")]

    assert series.clusters_of(found) == ("cluster", ["a", "b"])
    assert series.clusters_of(found[3:]) == ("", [])


def test_labels_of_kube_state_metrics_may_be_renamed() -> None:
    given = {"namespace": "ops", "pod": "ksm-0", "exported_namespace": "red", "exported_pod": "train-0", "node": "n1"}

    assert series.pod_of(given) == HELD
    assert series.pod_of({"namespace": "ops", "exported_namespace": "red", "pod": "train-0"}) == HELD
    assert series.label_value({**given, "exported_node": "n2"}, "node") == "n2"
    assert build.dcgm(1.0, 1).labels["UUID"] == "GPU-n1-0"
