"""Properties of every field that a mutation can set, with any values of the user around it."""

from typing import Any

import jsonpatch
import orjson
import pytest

from builders import replaced
from unit.policy.mutation.manifests import CONTAINER, WORKER, container, intent, merged, pod, pytorch_job
from usher import errors, paths
from usher.policy.mutation import strategies
from usher.policy.mutation.editing import copied

pytestmark = pytest.mark.thorough

VALUES: dict[str, tuple[str, paths.Object]] = {
    "kueueLabel": ("", {"key": "kueue.x-k8s.io/queue-name", "value": "research"}),
    "label": ("", {"key": "team", "value": "vision"}),
    "gangSetting": ("", {"setting": "queue", "value": "research"}),
    "lifetime": ("", {"setting": "ttl", "seconds": 3600}),
    "managedBy": ("", {"name": "kueue.x-k8s.io/multikueue"}),
    "gracePeriod": (WORKER, {"seconds": 600}),
    "toleration": (WORKER, {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}),
    "nodeRequirement": (WORKER, {"key": "product", "operator": "In", "values": ["H100"]}),
    "schedulerName": (WORKER, {"name": "volcano"}),
    "priorityClass": (WORKER, {"name": "training"}),
    "annotation": (WORKER, {"key": "karpenter.sh/do-not-disrupt", "value": "true"}),
    "ownLabel": (WORKER, {"key": "kueue.x-k8s.io/queue-name", "value": "research"}),
    "network": (WORKER, {"name": "rdma/rail@net1"}),
    "recipe": (
        WORKER,
        {
            "recipe": {
                "initContainers": [{"name": "daemon", "image": "daemon", "restartPolicy": "Always"}],
                "volumes": [{"name": "socket", "emptyDir": {}}],
                "volumeMounts": [{"name": "socket", "mountPath": "/run/daemon"}],
                "annotations": {"devices.gke.io/container.daemon": "- path: /dev/nvidia0"},
            },
            "containers": [WORKER + CONTAINER],
        },
    ),
    "environment": (WORKER + CONTAINER, {"name": "NCCL_DEBUG", "value": "WARN"}),
    "enforcedEnvironment": (WORKER + CONTAINER, {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}),
    "mount": (
        WORKER + CONTAINER,
        {
            "volume": {"name": "usher-topology", "configMap": {"name": "topology"}},
            "mountPath": "/etc/nccl-topo.xml",
            "variable": {"name": "NCCL_TOPO_FILE", "value": "/etc/nccl-topo.xml"},
        },
    ),
    "resource": (WORKER + CONTAINER, {"name": "rdma/hca", "amount": 8}),
    "request": (WORKER + CONTAINER, {"name": "nvidia.com/gpu", "amount": "8"}),
    "claim": (WORKER + CONTAINER, {"name": "imex-channel", "template": "training-channel"}),
    "capability": (WORKER + CONTAINER, {"name": "IPC_LOCK"}),
    "preStop": (WORKER + CONTAINER, {"command": ["/save"]}),
}

FIELDS = sorted(VALUES)

GARBAGE: list[Any] = [None, "", "text", 7, True, [], {}, [None], ["text"], {"a/b~c": {}}, [[{}]]]

PLACES = [
    "/metadata",
    "/metadata/labels",
    "/metadata/annotations",
    "/spec/runPolicy",
    "/spec/runPolicy/schedulingPolicy",
    *(
        WORKER + place
        for place in (
            "/metadata",
            "/metadata/annotations",
            "/metadata/annotations/k8s.v1.cni.cncf.io~1networks",
            "/spec/tolerations",
            "/spec/affinity",
            "/spec/affinity/nodeAffinity",
            "/spec/schedulerName",
            "/spec/priorityClassName",
            "/spec/volumes",
            "/spec/initContainers",
            "/spec/resourceClaims",
            "/spec/containers/0/resources/claims",
            "/spec/containers/0/env",
            "/spec/containers/0/envFrom",
            "/spec/containers/0/resources",
            "/spec/containers/0/resources/limits",
            "/spec/containers/0/resources/requests",
            "/spec/containers/0/securityContext",
            "/spec/containers/0/securityContext/capabilities",
            "/spec/containers/0/lifecycle",
            "/spec/containers/0/volumeMounts",
            "/spec/containers/0/volumeDevices",
        )
    ),
]


def job() -> paths.Object:
    """With something of everything, so that whatever is put in its place has one."""
    worker = container(
        resources={"requests": {"cpu": "4"}, "limits": {"cpu": "4"}},
        securityContext={"capabilities": {"drop": ["ALL"]}},
        env=[{"name": "HOME", "value": "/"}],
    )
    template: paths.Object = {
        "metadata": {"annotations": {"team": "vision"}},
        "spec": {"containers": [worker], "affinity": {"nodeAffinity": {}}},
    }
    value = pytorch_job(run_policy={"schedulingPolicy": {}}, replicas={"Worker": {"replicas": 4, "template": template}})
    return replaced(replaced(value, "/metadata/labels", {}), "/metadata/annotations", {})


def test_every_field_has_its_values_here() -> None:
    assert VALUES.keys() == strategies.STRATEGIES.keys()


@pytest.mark.parametrize("field", FIELDS)
def test_applied_twice_is_applied_once(field: str) -> None:
    at, value = VALUES[field]
    once = merged(job(), intent(field, value, at=at))
    twice = merged(once.value, intent(field, value, at=at))

    assert once.operations
    assert twice.value == once.value
    assert twice.operations == ()
    assert [skipped.reason for skipped in twice.skipped] == ["it is there already"]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("place", PLACES)
def test_whatever_stands_in_the_way_the_patch_gives_the_value_or_nothing_is_done(field: str, place: str) -> None:
    at, value = VALUES[field]
    for garbage in GARBAGE:
        before = replaced(job(), place, garbage)
        result = merged(before, intent(field, value, at=at))
        operations = orjson.loads(orjson.dumps(result.operations))

        assert jsonpatch.JsonPatch(operations).apply(copied(before)) == result.value
        assert bool(result.operations) is bool(result.applied)
        assert all(skipped.reason for skipped in result.skipped)
        assert merged(result.value, intent(field, value, at=at)).value == result.value


@pytest.mark.parametrize("field", FIELDS)
def test_a_value_that_lacks_something_is_an_error_of_the_policies(field: str) -> None:
    at, value = VALUES[field]
    for name in strategies.STRATEGIES[field].needs:
        lacking = {key: each for key, each in value.items() if key != name}
        with pytest.raises(errors.MutationError, match=f"test/mutation wants {field}"):
            merged(job(), intent(field, lacking, at=at))


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_has_its_own_places_and_no_others(field: str) -> None:
    _, value = VALUES[field]
    elsewhere = {"on_object": CONTAINER, "on_pod_set": CONTAINER, "on_container": ""}
    (where,) = (name for name in elsewhere if getattr(strategies.STRATEGIES[field], name) is not None)

    for at in (elsewhere[where], "/nowhere"):
        with pytest.raises(errors.MutationError, match="where it cannot be set"):
            merged(pod(), intent(field, value, at=at))
