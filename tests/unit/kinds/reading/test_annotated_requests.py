"""Accelerators by annotation alone: fractions of KAI-Scheduler, devices of GKE."""

import pytest

import builders
from unit.workloads.normalised import pod_set, readable_workload, totals, unknowns, workload
from usher import model, paths, quantities

DEVICES = "gpu-fraction-num-devices"
CONTAINER = "gpu-fraction-container-name"
GKE = "devices.gke.io/container."


def pod(*containers: paths.Object, init: paths.Object | None = None, **annotations: str) -> paths.Object:
    """A pod with annotations, whose names are written with underscores for hyphens."""
    by_key = {key.replace("_", "-"): value for key, value in annotations.items()}
    return builders.pod(*containers, annotations=by_key, initContainers=None if init is None else [init])


def asking(value: paths.Object) -> list[str]:
    """Names of the containers that get accelerators."""
    return [container.name for container in pod_set(value).containers if container.asks_accelerators]


def mounting(*paths_of_devices: str) -> str:
    return "".join(f"- path: {path}\n" for path in paths_of_devices)


# KAI-Scheduler


@pytest.mark.parametrize(
    ("text", "share"), [("0.5", "500m"), (".25", "250m"), ("5e-1", "500m"), ("+0.1", "100m"), ("0.999", "999m")]
)
def test_a_fraction_of_a_gpu_is_taken_without_any_resource(text: str, share: str) -> None:
    value = pod(gpu_fraction=text)

    assert totals(value) == {"gpu-fraction": (share, share)}
    (request,) = pod_set(value).requests
    assert (request.route, request.path) == (model.Route.FRACTION, "/metadata/annotations/gpu-fraction")
    assert pod_set(value).accelerators == {}


def test_memory_is_in_mib() -> None:
    assert totals(pod(gpu_memory="4096")) == {"gpu-memory": ("4096", "4096")}


def test_a_fraction_is_taken_from_each_of_several_gpus() -> None:
    assert totals(pod(gpu_fraction="0.5", gpu_fraction_num_devices="4")) == {"gpu-fraction": ("2", "2")}
    assert totals(pod(gpu_memory="1000", gpu_fraction_num_devices="2")) == {"gpu-memory": ("2000", "2000")}


def test_the_annotations_of_a_template_count_for_each_of_its_pods() -> None:
    job = builders.job(builders.template(annotations={"gpu-fraction": "0.5"}), parallelism=3)

    assert totals(job) == {"gpu-fraction": ("1500m", "1500m")}
    assert totals(builders.job(annotations={"gpu-fraction": "0.5"}, parallelism=3)) == {}


def test_the_first_container_gets_the_fraction_if_no_container_is_named() -> None:
    containers = builders.container("a"), builders.container("b")

    assert asking(pod(*containers, init=builders.container("i"), gpu_fraction="0.5")) == ["a"]
    assert asking(pod(*containers, gpu_fraction="0.5", gpu_fraction_container_name="b")) == ["b"]
    assert asking(pod(*containers, gpu_fraction="0.5", gpu_fraction_container_name="c")) == []


def test_an_init_container_without_resources_may_get_the_fraction() -> None:
    value = pod(init=builders.container("load"), gpu_fraction="0.5", gpu_fraction_container_name="load")

    assert asking(value) == ["load"]
    assert totals(value) == {"gpu-fraction": ("500m", "500m")}


def test_the_container_that_gets_the_fraction_does_the_work() -> None:
    found = pod_set(pod(builders.container("a"), builders.container("b"), gpu_fraction="0.5"))

    assert [container.trains for container in found.containers] == [True, False]


@pytest.mark.parametrize("text", ["", "0", "-0.5", "1", "1.5", "half", "500m", " 0.5", "0.5 ", "0x1p-1", "nan", "0.5E"])
def test_what_kai_refuses_as_a_fraction_is_unknown(text: str) -> None:
    value = pod(gpu_fraction=text)

    assert unknowns(value) == [
        (
            "/metadata/annotations/gpu-fraction",
            f"{text!r} is not a part of a GPU; write a number between 0 and 1, for example 0.5",
        )
    ]
    assert not workload(value).asks_accelerators


@pytest.mark.parametrize("text", ["", "0", "-1", "+1", "1.5", "4Gi", "4e3", " 1", "٤", "9" * 19])
def test_what_kai_refuses_as_memory_is_unknown(text: str) -> None:
    assert unknowns(pod(gpu_memory=text)) == [
        ("/metadata/annotations/gpu-memory", f"{text!r} is not a number of MiB; write a whole number, for example 4096")
    ]


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "two"])
def test_what_kai_refuses_as_a_number_of_gpus_is_unknown(text: str) -> None:
    assert unknowns(pod(gpu_fraction="0.5", gpu_fraction_num_devices=text)) == [
        (f"/metadata/annotations/{DEVICES}", f"{text!r} is not a number of GPUs; write a whole number, 1 or more")
    ]


def test_of_a_fraction_and_memory_kai_refuses_both_and_the_fraction_counts() -> None:
    value = pod(gpu_fraction="0.5", gpu_memory="4096")

    assert unknowns(value) == [
        ("/metadata/annotations/gpu-memory", "KAI-Scheduler refuses it beside gpu-fraction; remove one")
    ]
    assert [total.name for total in workload(value).totals] == ["gpu-fraction"]


def test_a_fraction_beside_whole_gpus_counts_as_well_though_kai_refuses_it() -> None:
    value = pod(builders.container(gpus=1), gpu_fraction="0.5")

    assert totals(value) == {"gpu-fraction": ("500m", "500m"), builders.GPU: ("1", "1")}


@pytest.mark.parametrize("key", [DEVICES, CONTAINER, "gpu-fractions", "example.com/gpu-fraction"])
def test_other_annotations_request_no_accelerators(key: str) -> None:
    assert not readable_workload(builders.pod(annotations={key: "2"})).asks_accelerators


def test_a_text_of_any_length_is_read_at_once_and_shown_in_part() -> None:
    ((_, reason),) = unknowns(pod(gpu_fraction="1" * 1_000_000 + "x"))

    assert len(reason) < 120


# GKE


def test_gpus_that_gke_mounts_are_counted_under_a_name_of_their_own() -> None:
    daemon = builders.container("tcpx-daemon")
    value = builders.pod(
        builders.container(gpus=2),
        daemon,
        annotations={GKE + "tcpx-daemon": mounting("/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl")},
    )

    assert totals(value) == {"devices.gke.io/container": ("2", "2"), builders.GPU: ("2", "2")}
    assert asking(value) == ["main", "tcpx-daemon"]
    (request,) = (each for each in pod_set(value).requests if each.route is model.Route.DEVICE_ANNOTATION)
    assert request.path == "/metadata/annotations/devices.gke.io~1container.tcpx-daemon"


@pytest.mark.parametrize(
    "devices",
    [
        mounting("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-caps/nvidia-cap1", "/dev/dmabuf_import_helper"),
        mounting("/dev/vfio/12"),
        "",
        "junk",
    ],
)
def test_other_devices_are_not_gpus(devices: str) -> None:
    assert not readable_workload(builders.pod(annotations={GKE + "main": devices})).asks_accelerators


def test_a_device_that_two_containers_get_is_one_device() -> None:
    annotations = {
        GKE + "a": mounting("/dev/nvidia0", "/dev/nvidia1", "/dev/nvidia0"),
        GKE + "b": mounting("/dev/nvidia1", "/dev/nvidia12"),
    }
    value = builders.pod(builders.container("a"), builders.container("b"), annotations=annotations)

    assert totals(value) == {"devices.gke.io/container": ("3", "3")}
    assert asking(value) == ["a", "b"]


def test_a_fraction_and_mounted_devices_go_to_their_own_containers() -> None:
    value = builders.pod(
        builders.container("a"),
        builders.container("b"),
        builders.container("c"),
        annotations={"gpu-fraction": "0.5", CONTAINER: "b", GKE + "c": mounting("/dev/nvidia0")},
    )

    assert asking(value) == ["b", "c"]
    assert {request.name: request.minimum for request in pod_set(value).requests} == {
        "gpu-fraction": quantities.parse("0.5"),
        "devices.gke.io/container": quantities.parse(1),
    }
