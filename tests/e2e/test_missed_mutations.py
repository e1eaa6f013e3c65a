"""The mutating webhook is too late, and the API server goes on without it: that is never held against the user.

The API server calls a port that accepts connections and answers nothing, until the timeout of one second.
"""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator

import pytest

import builders
from e2e import processes
from e2e.cluster import ApiError, Cluster, Object, wait_until
from e2e.registration import MUTATING, decisions, repointed
from server_process import ServerProcess

pytestmark = pytest.mark.usefixtures("webhooks")

MISSED = 'usher_missed_mutations_total{kind="Pod",mutation="gpu-toleration"}'


@contextlib.contextmanager
def silent_port() -> Iterator[int]:
    """A port that takes connections and never says a word."""
    with socket.create_server((processes.LOOPBACK, 0), backlog=64) as listener:
        yield listener.getsockname()[1]


@contextlib.contextmanager
def late_mutations(cluster: Cluster) -> Iterator[None]:
    """While the context lasts, no mutation comes in time."""
    with silent_port() as port, repointed(cluster, f"https://{processes.LOOPBACK}:{port}/mutate"):
        wait_until(lambda: not is_mutated(cluster), description="the API server calls the port that answers nothing")
        yield
    wait_until(lambda: is_mutated(cluster), description="the API server calls usher again")


def is_mutated(cluster: Cluster) -> bool:
    probe = builders.pod(name="probe", namespace="default")
    try:
        return "gpu-usher.io/mutations" in cluster.create(probe, dry_run=True)["metadata"].get("annotations", {})
    except ApiError as error:
        if error.status != 503:
            raise
        return False


def gpu_pod(namespace: str, *more: Object, name: str = "train") -> Object:
    return builders.pod(builders.container(gpus=1), *more, name=name, namespace=namespace)


def test_a_valid_pod_comes_in_with_a_warning_and_is_counted(
    cluster: Cluster, namespace: str, webhooks: ServerProcess
) -> None:
    before = webhooks.metrics().get(MISSED, 0)

    with late_mutations(cluster):
        answer = cluster.answer_to_creation(gpu_pod(namespace))

    assert any("create it again, because it has missed its mutations: " in text for text in answer.warnings)
    assert any(text.startswith("USH301 gpu-toleration-present: ") for text in answer.warnings)
    assert "gpu-usher.io/mutations" not in answer.body["metadata"].get("annotations", {})
    assert webhooks.metrics()[MISSED] == before + 1
    (entry,) = decisions(webhooks, namespace, count=1)
    assert "gpu-toleration" in entry["missedMutations"]
    assert entry["allowed"]


def test_a_bad_pod_is_denied_for_its_own_mistake_alone(cluster: Cluster, namespace: str) -> None:
    greedy = builders.container("greedy", env={"NVIDIA_VISIBLE_DEVICES": "all"})

    with late_mutations(cluster), pytest.raises(ApiError) as refused:
        cluster.create(gpu_pod(namespace, greedy))

    assert refused.value.status == 403
    assert "USH201 visible-devices-set-by-hand" in refused.value.message
    assert "USH301" not in refused.value.message


def test_a_pod_beside_whose_gpu_a_container_sees_all_devices_has_to_come_again(
    cluster: Cluster, namespace: str
) -> None:
    with late_mutations(cluster), pytest.raises(ApiError) as refused:
        cluster.create(gpu_pod(namespace, builders.container("beside")))

    assert (refused.value.status, refused.value.reason) == (503, "ServiceUnavailable")
    assert "visible-devices-void" in refused.value.message
    assert not cluster.exists("Pod", "train", namespace=namespace)


def test_a_pod_without_gpus_that_sees_all_devices_has_to_come_again_whatever_its_record_says(
    cluster: Cluster, namespace: str
) -> None:
    record = {"gpu-usher.io/mutations": "visible-devices-void"}
    pod = builders.pod(builders.container(), name="web", namespace=namespace, annotations=record)

    with late_mutations(cluster), pytest.raises(ApiError) as refused:
        cluster.create(pod)

    assert (refused.value.status, refused.value.reason) == (503, "ServiceUnavailable")
    assert "visible-devices-void" in refused.value.message
    cluster.create(pod)


@pytest.mark.parametrize("namespace", ["queued-"], indirect=True)
def test_kubectl_comes_again_by_itself_until_the_job_gets_its_queue(
    cluster: Cluster, namespace: str, webhooks: ServerProcess
) -> None:
    """No Job gets around its queue by coming while usher is slow, and nobody has to do anything."""
    template = builders.template(builders.container(gpus=1), restartPolicy="Never")
    job = builders.job(template, name="train", namespace=namespace)

    def refused() -> bool:
        return any(not entry["allowed"] for entry in decisions(webhooks, namespace))

    with contextlib.ExitStack() as late:
        late.enter_context(late_mutations(cluster))
        creating = threading.Thread(
            target=cluster.kubectl, args=("create", "--filename=-"), kwargs={"stdin": json.dumps(job)}
        )
        creating.start()
        wait_until(refused, description="the job was refused once")
    creating.join(timeout=60)

    created = cluster.get("Job", "train", namespace=namespace, api_version="batch/v1")
    assert created["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "research"


def test_the_configuration_that_usher_prints_lets_objects_in_without_mutations(cluster: Cluster) -> None:
    """Otherwise the tests above would prove nothing."""
    configuration = cluster.get(MUTATING, "gpu-usher", api_version="admissionregistration.k8s.io/v1")

    assert [each["failurePolicy"] for each in configuration["webhooks"]] == ["Ignore"]
