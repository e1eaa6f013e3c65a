"""What a workload is for, whose it is, and whether its pods must start together."""

from collections.abc import Mapping
from typing import Final

from usher import model, paths
from usher.kinds.kind import MINIMUM_OF_OWNER, Pods
from usher.reading.values import Reading

ROLE_LABEL: Final = "gpu-usher.io/role"

_NOTEBOOK_LABELS: Final[Mapping[str, str | None]] = {
    "notebook-name": None,
    "component": "singleuser-server",
}
"""Labels of notebooks' pods, with their value where it matters: Kubeflow's notebook-controller
(controllers/notebook_controller.go) and JupyterHub's kubespawner (docs, "common labels")."""

_GANG_ANNOTATIONS: Final[Mapping[str, str]] = {
    "scheduling.k8s.io/group-name": "a PodGroup of Volcano",
    MINIMUM_OF_OWNER: "a PodGroup that Volcano makes for the owner",
    "kueue.x-k8s.io/pod-group-name": "a pod group of Kueue",
    "pod-group-name": "a pod group of KAI-Scheduler",
}
_OF_OPERATORS: Final[Mapping[str, str]] = {
    "volcano": "a PodGroup of Volcano that its operator makes",
    "coscheduling": "a PodGroup of the coscheduling plugin that its operator makes",
}
_GANG_LABELS: Final[Mapping[str, str]] = {
    "kueue.x-k8s.io/pod-group-name": "a pod group of Kueue",
    "scheduling.x-k8s.io/pod-group": "a PodGroup of the coscheduling plugin",
}


def owner(metadata: Mapping[str, paths.Json], reading: Reading) -> model.Owner | None:
    """The controlling owner. It is not verified: anybody can write an owner reference."""
    found = None
    for path, reference in reading.items(metadata.get("ownerReferences"), "/metadata/ownerReferences"):
        kind = reading.text(reference.get("kind"), path + "/kind")
        if reading.flag(reference.get("controller"), path + "/controller") and found is None:
            group = reading.text(reference.get("apiVersion"), path + "/apiVersion").rpartition("/")[0]
            found = model.Owner(group=group, kind=kind, name=reading.text(reference.get("name"), path + "/name"))
    return found


def role(labels: Mapping[str, str], own: Pods, owning: Pods | None, reading: Reading) -> model.Role:
    """The role by label, else by the labels of notebooks, by kind, or for pods by the kind of their owner.

    Users can write all of these, owners as well as labels. So a role states an intention, and is never a reason to
    trust a workload.
    """
    label = labels.get(ROLE_LABEL)
    if label:
        try:
            return model.Role(label)
        except ValueError:
            roles = ", ".join(model.Role)
            reading.unknown(paths.join("/metadata/labels", ROLE_LABEL), f"unknown role; usher has {roles}")
    if any(key in labels and value in (None, labels[key]) for key, value in _NOTEBOOK_LABELS.items()):
        return model.Role.INTERACTIVE
    if own.role is model.Role.UNKNOWN and owning is not None:
        return owning.role
    return own.role


def gang(  # noqa: PLR0913 - all that can make a gang
    kind: str,
    *,
    own: Pods,
    role: model.Role,
    pod_sets: tuple[model.PodSet, ...],
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
    minimum: int | None,
    priority_class: str,
) -> model.Gang:
    """The gang of a workload. It is wanted if several pods wait for each other, or if anything forms it."""
    formed_by = f"its kind, {kind}" if own.gang_native else _formed_by(pod_sets, labels, annotations)
    if not formed_by and minimum is not None:
        formed_by = "its operator, if it is configured to"
    several = sum(2 if pod_set.count.maximum is None else pod_set.count.maximum for pod_set in pod_sets) > 1
    waiting = own.needs_gang or role is model.Role.TRAINING
    return model.Gang(
        wanted=bool(formed_by) or (several and waiting),
        formed_by=formed_by,
        minimum=minimum,
        scheduler=_made_for(pod_sets),
        priority_class=priority_class,
    )


def _formed_by(pod_sets: tuple[model.PodSet, ...], labels: Mapping[str, str], annotations: Mapping[str, str]) -> str:
    for holder in ((labels, annotations), *((each.labels, each.annotations) for each in pod_sets)):
        for known, present in zip((_GANG_LABELS, _GANG_ANNOTATIONS), holder, strict=True):
            if known.keys().isdisjoint(present):
                continue
            for key, what in known.items():
                value = present.get(key)
                if value and (key != MINIMUM_OF_OWNER or value not in {"0", "1"}):
                    return what
    if any(pod_set.scheduling_group for pod_set in pod_sets):
        return "an in-tree PodGroup"
    return _OF_OPERATORS.get(_made_for(pod_sets), "")


def _made_for(pod_sets: tuple[model.PodSet, ...]) -> str:
    return next((pod_set.pod_group for pod_set in pod_sets if pod_set.pod_group), "")
