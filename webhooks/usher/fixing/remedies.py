"""Remedies that follow from the object alone: for each check, the steps that remove its finding.

A remedy is safe if it leaves no choice: only one change is possible, or only one keeps what the pods get at run time.
`rounds` still judges the object with each remedy, and leaves out a remedy that keeps its finding or makes usher deny
something else.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final

from usher import model, paths
from usher.dataclass import dataclass
from usher.fixing import misspellings
from usher.fixing.steps import Action, Step

_QUEUE: Final = "kueue.x-k8s.io/queue-name"
_GROUP: Final = "scheduling.k8s.io/group-name"
_RESOURCES: Final = ("limits", "requests")
_WRITE_NAME: Final = re.compile(r"write (\S+)")
_WRITE_AMOUNT: Final = re.compile(r"write (\S+): \S+")
_REMOVE: Final = re.compile(r"remove (\w+)(?:;.*)?")
_RENAME: Final = re.compile(r"rename it to (\w+)")
_INSTEAD: Final = re.compile(r"write (\w+) instead")
_RAY_LABEL: Final = re.compile(r"set the label (\S+) of the \w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A finding and the object as its author wrote it."""

    finding: model.Finding
    value: paths.Object
    names: Collection[str]
    """The resource names of accelerators that nodes may offer."""

    @property
    def path(self) -> str:
        return self.finding.path

    @property
    def parent(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def key(self) -> str:
        return paths.split(self.path)[-1]

    def get(self, pointer: str) -> paths.Json:
        try:
            return paths.resolve(self.value, pointer)
        except (LookupError, ValueError):
            return None


Remedy = Callable[[Case], tuple[Step, ...]]
"""The steps of the remedy; empty if the finding leaves a choice."""


def steps(case: Case) -> tuple[Step, ...]:
    """The steps that remove a finding; empty without a safe remedy."""
    remedy = REMEDIES.get(case.finding.check)
    if remedy is None:
        return ()
    return remedy(case)


def _equal_amounts(case: Case) -> tuple[Step, ...]:
    """The request set to the limit, because Kubernetes counts the limit of a device. It adds a missing limit."""
    resources, _, kind = case.parent.rpartition("/")
    if kind not in _RESOURCES:
        return ()
    limit, request = (case.get(paths.join(resources, each, case.key)) for each in _RESOURCES)
    if limit is not None:
        return (_set(paths.join(resources, "requests", case.key), limit),)
    return (_set(paths.join(resources, "limits", case.key), request),) if request is not None else ()


def _right_profile(case: Case) -> tuple[Step, ...]:
    written = _WRITE_NAME.fullmatch(case.finding.remedy)
    return _resource_renamed(case, written[1]) if written else ()


def _right_name(case: Case) -> tuple[Step, ...]:
    meant = misspellings.meant(case.key, case.names)
    return _resource_renamed(case, meant) if meant else ()


def _resource_renamed(case: Case, name: str) -> tuple[Step, ...]:
    resources, _, kind = case.parent.rpartition("/")
    if kind not in _RESOURCES:
        return ()
    return tuple(step for each in _RESOURCES for step in _renamed(case, paths.join(resources, each, case.key), name))


def _variable_to_warn(case: Case) -> tuple[Step, ...]:
    variable = case.get(case.path)
    if not isinstance(variable, dict) or not isinstance(variable.get("value"), str):
        return ()
    return (_set(paths.join(case.path, "value"), "WARN"),)


def _variable_removed(case: Case) -> tuple[Step, ...]:
    """The removal of an entry that sets a value itself, if the operator or the device plugin sets the variable."""
    variable, written = case.get(case.path), _REMOVE.fullmatch(case.finding.remedy)
    if not isinstance(variable, dict) or not isinstance(variable.get("value"), str):
        return ()
    if written is None or variable.get("name") != written[1]:
        return ()
    return (_prune(case.path),)


def _same_variable_removed(case: Case) -> tuple[Step, ...]:
    """The removal of the earlier entry, if the last one is equal: the container gets the same as before."""
    variable, entries = case.get(case.path), case.get(case.parent)
    if not isinstance(variable, dict) or not isinstance(entries, list):
        return ()
    same = [each for each in entries if isinstance(each, dict) and each.get("name") == variable.get("name")]
    return (_remove(case.path),) if all(each == variable for each in same) else ()


def _label_from_annotation(case: Case) -> tuple[Step, ...]:
    if case.parent != "/metadata/annotations" or case.finding.remedy != "move it to metadata.labels":
        return ()
    return _moved(case, paths.join("/metadata/labels", _QUEUE))


def _label_from_template(case: Case) -> tuple[Step, ...]:
    """The label with the queue, if all templates name the same queue."""
    if case.finding.remedy != "move the label to metadata.labels" or len(set(_queues(case.value))) != 1:
        return ()
    return (_set(paths.join("/metadata/labels", _QUEUE), case.get(case.path)), _prune(case.path))


def _queues(value: paths.Json) -> Iterator[str]:
    if isinstance(value, dict):
        found = value.get(_QUEUE)
        if isinstance(found, str):
            yield found
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _queues(each)


def _cluster_shut_down(_case: Case) -> tuple[Step, ...]:
    return (_set("/spec/shutdownAfterJobFinishes", True),)


def _tolerating_all_values(case: Case) -> tuple[Step, ...]:
    return (_set(paths.join(case.path, "operator"), "Exists"),) if isinstance(case.get(case.path), dict) else ()


def _field_renamed(case: Case) -> tuple[Step, ...]:
    written = _RENAME.fullmatch(case.finding.remedy) or _INSTEAD.fullmatch(case.finding.remedy)
    return _renamed(case, case.path, written[1]) if written else ()


def _group_of_keda(_case: Case) -> tuple[Step, ...]:
    return (_set("/apiVersion", "keda.sh/v1alpha1"),)


def _value_at_the_top(case: Case) -> tuple[Step, ...]:
    return _moved(case, "/value") if case.get("/value") is None else ()


def _counted_amount(case: Case) -> tuple[Step, ...]:
    if case.finding.remedy.startswith("remove it; only "):
        return (_prune(case.path),)
    written = _WRITE_AMOUNT.fullmatch(case.finding.remedy)
    return _renamed(case, case.path, written[1]) if written else ()


def _unknown_field_removed(case: Case) -> tuple[Step, ...]:
    written = _REMOVE.fullmatch(case.finding.remedy)
    return (_prune(case.path),) if written and written[1] == case.key else ()


def _group_of_target(case: Case) -> tuple[Step, ...]:
    if case.finding.remedy != "set apiVersion of the target: apps/v1":
        return ()
    target = case.path if isinstance(case.get(case.path), dict) else case.parent
    return (_set(paths.join(target, "apiVersion"), "apps/v1"),)


def _queue_of_job(case: Case) -> tuple[Step, ...]:
    return _moved(case, "/spec/runPolicy/schedulingPolicy/queue")


def _label_of_ray(case: Case) -> tuple[Step, ...]:
    written = _RAY_LABEL.fullmatch(case.finding.remedy)
    return _moved(case, paths.join("/metadata/labels", written[1])) if written else ()


def _group_renamed(case: Case) -> tuple[Step, ...]:
    return _renamed(case, case.path, _GROUP)


REMEDIES: Final[Mapping[str, Remedy]] = {
    "resources/gpu_requests_equal_limits": _equal_amounts,
    "resources/unknown_accelerator_name": _right_name,
    "fabric/device_requests_equal_limits": _equal_amounts,
    "fabric/nccl_debug_left_on": _variable_to_warn,
    "fabric/variable_of_the_operator": _variable_removed,
    "fabric/variable_twice": _same_variable_removed,
    "isolation/visible_devices_set_by_hand": _variable_removed,
    "mig/profile_misspelt": _right_profile,
    "placement/tekton_resources_of_another_version": _field_renamed,
    "placement/toleration_without_operator": _tolerating_all_values,
    "queueing/queue_label_on_pod_template": _label_from_template,
    "queueing/queue_name_as_annotation": _label_from_annotation,
    "queueing/ray_job_keeps_its_cluster": _cluster_shut_down,
    "gang/group_name_that_nobody_reads": _group_renamed,
    "gang/kubeflow_queue_in_the_wrong_place": _queue_of_job,
    "gang/ray_keys_that_nobody_reads": _label_of_ray,
    "objects/cluster_queue_field_of_another_version": _field_renamed,
    "objects/keda_group_misspelt": _group_of_keda,
    "objects/quota_on_limits_of_accelerators": _counted_amount,
    "objects/quota_without_requests_prefix": _counted_amount,
    "objects/scale_target_without_group": _group_of_target,
    "objects/volcano_queue_unknown_fields": _unknown_field_removed,
    "objects/workload_priority_value_misplaced": _value_at_the_top,
}


def _set(pointer: str, value: paths.Json) -> Step:
    return Step(action=Action.SET, pointer=pointer, value=value)


def _remove(pointer: str) -> Step:
    return Step(action=Action.REMOVE, pointer=pointer)


def _prune(pointer: str) -> Step:
    return Step(action=Action.PRUNE, pointer=pointer)


def _renamed(case: Case, pointer: str, name: str) -> tuple[Step, ...]:
    value, target = case.get(pointer), paths.join(pointer.rpartition("/")[0], name)
    if value is None or case.get(target) is not None:
        return ()
    return (_remove(pointer), _set(target, value))


def _moved(case: Case, target: str) -> tuple[Step, ...]:
    value = case.get(case.path)
    if value is None or case.get(target) not in {None, ""}:
        return ()
    return (_prune(case.path), _set(target, value))
