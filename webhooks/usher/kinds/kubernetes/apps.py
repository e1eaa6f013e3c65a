"""The apps group: Deployment, ReplicaSet, StatefulSet and DaemonSet, with the shapes that rules read of them."""

from collections.abc import Iterator, Mapping
from typing import NotRequired

from pydantic import with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.kinds.kind import MINIMUM_OF_OWNER, Kind, Kueue, KueueUnit, Pods, Starts
from usher.kinds.kubernetes.batch import OF_VOLCANO
from usher.reading.counts import share_of
from usher.reading.pod_shapes import Present
from usher.reading.pod_templates import pod_template
from usher.reading.shapes import STRICT, IntOrString
from usher.reading.templates import Place, Template
from usher.reading.values import Reading


@with_config(STRICT)
class Container(TypedDict):
    ports: NotRequired[list[Present]]
    """A container with ports is a server and not a job that never ends."""


@with_config(STRICT)
class PodSpec(TypedDict):
    containers: NotRequired[list[Container]]


@with_config(STRICT)
class PodTemplate(TypedDict):
    spec: NotRequired[PodSpec]


@with_config(STRICT)
class RollingUpdate(TypedDict):
    maxUnavailable: NotRequired[IntOrString]


@with_config(STRICT)
class Strategy(TypedDict):
    type: NotRequired[str]
    rollingUpdate: NotRequired[RollingUpdate]


@with_config(STRICT)
class DeploymentSpec(TypedDict):
    strategy: NotRequired[Strategy]
    template: NotRequired[PodTemplate]


@with_config(STRICT)
class Deployment(TypedDict):
    spec: NotRequired[DeploymentSpec]


@with_config(STRICT)
class StatefulSetSpec(TypedDict):
    podManagementPolicy: NotRequired[str]
    template: NotRequired[PodTemplate]


@with_config(STRICT)
class StatefulSet(TypedDict):
    spec: NotRequired[StatefulSetSpec]


def _replicated(workload: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(workload.get("spec"), "/spec")
    replicas = reading.count(spec.get("replicas"), "/spec/replicas", default=1)
    yield pod_template(
        Place(spec.get("template"), "/spec/template"), reading, count=model.Count(minimum=replicas, maximum=replicas)
    )


def _deployment(workload: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The template of a Deployment.

    A rollout runs `maxSurge` more pods, rounded up; not with Recreate or without pods.
    """
    spec = reading.mapping(workload.get("spec"), "/spec")
    replicas = reading.count(spec.get("replicas"), "/spec/replicas", default=1)
    strategy = reading.mapping(spec.get("strategy"), "/spec/strategy")
    rolling = reading.mapping(strategy.get("rollingUpdate"), "/spec/strategy/rollingUpdate")
    surge = share_of(replicas, rolling.get("maxSurge"), "/spec/strategy/rollingUpdate/maxSurge", reading)
    if reading.text(strategy.get("type"), "/spec/strategy/type") == "Recreate" or not replicas:
        surge = 0
    count = model.Count(
        minimum=replicas, maximum=replicas + surge, reason=f"{surge} more during a rollout" if surge else ""
    )
    yield pod_template(Place(spec.get("template"), "/spec/template"), reading, count=count)


def _daemon_set(workload: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(workload.get("spec"), "/spec")
    count = model.Count(minimum=0, maximum=None, reason="one pod on every node that fits")
    yield pod_template(Place(spec.get("template"), "/spec/template"), reading, count=count)


KINDS = [
    Kind(
        group="apps",
        kind="Deployment",
        versions=("v1",),
        plural="deployments",
        key="deployment",
        shape=Deployment,
        scale="/spec/replicas",
        owned_by=(
            ("serving.knative.dev", "Revision"),
            ("serving.kserve.io", "InferenceService"),
            ("serving.kserve.io", "LLMInferenceService"),
            ("apps.nvidia.com", "NIMService"),
            ("production-stack.vllm.ai", "VLLMRuntime"),
        ),
        pods=Pods(
            templates=_deployment,
            template_paths=("spec.template",),
            counted="`replicas` (1 if missing), and `maxSurge` (25 % if missing, rounded up) more during a rollout",
            source="API:apps/v1/types.go",
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from=MINIMUM_OF_OWNER,
            role=model.Role.SERVICE,
            runs_any_program=True,
            kueue=Kueue.DEFAULT,
            queue_label_path="/metadata",
            volcano="annotation `scheduling.volcano.sh/group-min-member` on the object, with `strategy.type: Recreate`",
            gang_places=OF_VOLCANO,
        ),
    ),
    Kind(
        group="apps",
        kind="StatefulSet",
        versions=("v1",),
        plural="statefulsets",
        key="statefulSet",
        shape=StatefulSet,
        scale="/spec/replicas",
        owned_by=(
            ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
            ("kubeflow.org", "Notebook"),
        ),
        pods=Pods(
            templates=_replicated,
            template_paths=("spec.template",),
            counted="`replicas` (1 if missing)",
            source="API:apps/v1/types.go",
            kueue_unit=KueueUnit.WHOLE,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from=MINIMUM_OF_OWNER,
            role=model.Role.SERVICE,
            runs_any_program=True,
            kueue=Kueue.DEFAULT,
            queue_label_path="/metadata",
            volcano="annotation `scheduling.volcano.sh/group-min-member` on the object, with "
            "`podManagementPolicy: Parallel`",
            gang_places=OF_VOLCANO,
        ),
    ),
    Kind(
        group="apps",
        kind="ReplicaSet",
        versions=("v1",),
        plural="replicasets",
        scale="/spec/replicas",
        owned_by=(("apps", "Deployment"),),
        pods=Pods(
            templates=_replicated,
            template_paths=("spec.template",),
            counted="`replicas` (1 if missing)",
            source="API:apps/v1/types.go",
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from=MINIMUM_OF_OWNER,
            role=model.Role.SERVICE,
            runs_any_program=True,
        ),
    ),
    Kind(
        group="apps",
        kind="DaemonSet",
        versions=("v1",),
        plural="daemonsets",
        pods=Pods(
            templates=_daemon_set,
            template_paths=("spec.template",),
            counted="one on every node that fits: without bound",
            source="API:apps/v1/types.go",
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=False,
            minimum_from="",
            role=model.Role.SYSTEM,
            runs_any_program=True,
        ),
    ),
]
