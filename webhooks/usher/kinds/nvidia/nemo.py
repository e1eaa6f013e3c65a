"""apps.nvidia.com: the NeMo services of the NIM operator, and NIMBuild, which builds an engine for a model.

Sources: api/apps/v1alpha1/nemo_*_types.go, manifests/deployment.yaml and internal/controller/nimbuild_controller.go of
NVIDIA/k8s-nim-operator at f63f74d7.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from usher import model, paths
from usher.kinds.kind import Kind, Kueue, KueueUnit, Pods, Starts
from usher.kinds.nvidia import nim_gpus
from usher.reading.templates import NOWHERE, ContainerPlace, Place, Template, Traits
from usher.reading.values import Reading

Object = Mapping[str, paths.Json]

# The operator copies only some fields of a pod.
_TRAITS: Final = Traits(changeable=False)
_BUILDER: Final = "nim-build-ctr"


def _service(service: Object, reading: Reading) -> Iterator[Template]:
    """One Deployment, whose rollouts add no pods; the operator sets neither scheduler nor priority."""
    metadata = reading.mapping(service.get("metadata"), "/metadata")
    name = reading.text(metadata.get("name"), "/metadata/name")
    spec = reading.mapping(service.get("spec"), "/spec")
    yield Template(
        name="",
        path="/spec",
        spec=Place(spec, "/spec"),
        metadata=Place(spec, "/spec"),
        count=_replicas(spec, reading),
        traits=_TRAITS,
        containers=(ContainerPlace(value=spec, path="/spec", name=f"{name}-ctr"),) if spec else (),
        fields={
            # `spec.resources` belongs to the container, not to the pod as a whole.
            "resources": NOWHERE,
            "schedulerName": NOWHERE,
            "priorityClassName": NOWHERE,
            "runtimeClassName": Place(spec.get("runtimeClass"), "/spec/runtimeClass"),
        },
    )


def _replicas(spec: Object, reading: Reading) -> model.Count:
    replicas = reading.count(spec.get("replicas"), "/spec/replicas", default=1)
    scale = reading.mapping(spec.get("scale"), "/spec/scale")
    hpa = reading.mapping(scale.get("hpa"), "/spec/scale/hpa")
    lowest = reading.count(hpa.get("minReplicas"), "/spec/scale/hpa/minReplicas", default=1)
    most = reading.count(hpa.get("maxReplicas"), "/spec/scale/hpa/maxReplicas", default=lowest)
    if not reading.flag(scale.get("enabled"), "/spec/scale/enabled"):
        return model.Count(minimum=replicas, maximum=replicas)
    if hpa.get("maxReplicas") is None:
        return model.Count(minimum=lowest, maximum=None, reason="autoscaling without maxReplicas")
    return model.Count(minimum=lowest, maximum=max(most, lowest), reason="autoscaling")


def _nim_build(build: Object, reading: Reading) -> Iterator[Template]:
    """The pod that builds an engine. The pod that reads the result afterwards requests no accelerators."""
    spec = reading.mapping(build.get("spec"), "/spec")
    added = nim_gpus.of_build(spec, "/spec", reading)
    main = ContainerPlace(
        value=spec, path="/spec", name=_BUILDER, requests=added.get("requests"), limits=added.get("limits")
    )
    yield Template(
        name="",
        path="/spec",
        spec=Place(spec, "/spec"),
        metadata=Place(spec, "/spec"),
        traits=_TRAITS._replace(trains=_BUILDER, operator_environment=frozenset({"NIM_*", "NGC_API_KEY"})),
        containers=(main,) if spec else (),
        fields={"resources": NOWHERE, "affinity": NOWHERE, "schedulerName": NOWHERE, "priorityClassName": NOWHERE},
    )


_CHANGES: Final = "labels of the object; only some fields are those of a pod"
_COUNTED: Final = "`replicas` (1 if missing), or `scale.hpa` where `scale.enabled`"


def _nemo(kind: str, *, counted: str = _COUNTED) -> Kind:
    return Kind(
        group=nim_gpus.GROUP,
        kind=kind,
        versions=("v1alpha1",),
        plural=f"{kind.lower()}s",
        pods=Pods(
            templates=_service,
            template_paths=("spec",),
            counted=counted,
            source="api/apps/v1alpha1/nemo_*_types.go of NVIDIA/k8s-nim-operator",
            role=model.Role.SERVICE,
            kueue=Kueue.CHILDREN,
            # `spec.labels` are the labels of the Deployment and of its pods.
            queue_label_path="/spec",
            changes=_CHANGES,
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
        ),
    )


KINDS: list[Kind] = [
    _nemo("NemoCustomizer", counted=_COUNTED + "; without the training jobs that its users start"),
    _nemo("NemoDatastore"),
    _nemo("NemoEntitystore"),
    _nemo("NemoEvaluator", counted=_COUNTED + "; without the evaluations that its users start"),
    _nemo("NemoGuardrail"),
    Kind(
        group=nim_gpus.GROUP,
        kind="NIMBuild",
        versions=("v1alpha1",),
        plural="nimbuilds",
        pods=Pods(
            templates=_nim_build,
            template_paths=("spec",),
            counted="1, until the engine is built",
            source="internal/controller/nimbuild_controller.go of NVIDIA/k8s-nim-operator",
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
            role=model.Role.BATCH,
            kueue=Kueue.CHILDREN,
            # `spec.labels` are the labels of the pod.
            queue_label_path="/spec",
            changes=_CHANGES,
        ),
    ),
]
