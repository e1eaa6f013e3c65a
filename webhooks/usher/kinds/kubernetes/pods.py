"""The core group: Pod, ReplicationController and PodTemplate."""

from collections.abc import Iterator, Mapping

from usher import model, paths
from usher.kinds import completion
from usher.kinds.kind import Kind, Kueue, KueueUnit, Pods, Starts
from usher.reading.pod_templates import pod_template
from usher.reading.templates import Place, Template
from usher.reading.values import Reading


def _pod(pod: Mapping[str, paths.Json], _reading: Reading) -> Iterator[Template]:
    status = pod.get("status")
    yield Template(
        name="",
        path=paths.ROOT,
        spec=Place(pod.get("spec"), "/spec"),
        metadata=Place(pod.get("metadata"), "/metadata"),
        # Pods of a cluster have conditions; on CREATE the API server drops whatever a user writes here.
        placed=isinstance(status, dict) and bool(status.get("conditions")),
    )


def _replication_controller(controller: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(controller.get("spec"), "/spec")
    replicas = reading.count(spec.get("replicas"), "/spec/replicas", default=1)
    yield pod_template(
        Place(spec.get("template"), "/spec/template"), reading, count=model.Count(minimum=replicas, maximum=replicas)
    )


def _pod_template(value: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    yield pod_template(Place(value.get("template"), "/template"), reading)


KINDS = [
    Kind(
        group="",
        kind="Pod",
        versions=("v1",),
        plural="pods",
        owned_by=(
            ("apps", "ReplicaSet"),
            ("apps", "StatefulSet"),
            ("apps", "DaemonSet"),
            ("batch", "Job"),
            ("", "ReplicationController"),
        ),
        named_by_others=False,
        finished=completion.by_field("/phase", "Succeeded", "Failed"),
        pods=Pods(
            templates=_pod,
            template_paths=("the object itself",),
            counted="1",
            source="API:core/v1/types.go",
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=False,
            minimum_from="",
            role=model.Role.UNKNOWN,
            runs_any_program=True,
            kueue=Kueue.DEFAULT,
            queue_label_path="/metadata",
            volcano="annotation `scheduling.k8s.io/group-name`, which its operator sets",
        ),
    ),
    Kind(
        group="",
        kind="ReplicationController",
        versions=("v1",),
        plural="replicationcontrollers",
        scale="/spec/replicas",
        pods=Pods(
            templates=_replication_controller,
            template_paths=("spec.template",),
            counted="`replicas` (1 if missing)",
            source="API:core/v1/types.go",
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
            role=model.Role.SERVICE,
            runs_any_program=True,
        ),
    ),
    Kind(
        group="",
        kind="PodTemplate",
        versions=("v1",),
        plural="podtemplates",
        pods=Pods(
            templates=_pod_template,
            template_paths=("template",),
            counted="1 for each pod that is made from it",
            source="API:core/v1/types.go",
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
            runs_any_program=True,
            is_template=True,
        ),
    ),
]
