"""The remedies that `usher queue` names, carried out: on the workload, or on the ClusterQueue that decides."""

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from e2e.cluster import Object
from usher import quantities

_QUEUE: Final = "kueue.x-k8s.io/queue-name"
_VOLCANO_QUEUE: Final = "scheduling.volcano.sh/queue-name"


class Followed(NamedTuple):
    """A workload, its PodGroups and the ClusterQueues after a remedy is followed."""

    kind: str
    workload: Object
    groups: list[Object]
    queues: list[Object]


def followed(
    remedies: tuple[str, ...], workload: Object, groups: list[Object], queues: list[Object]
) -> Iterator[Followed]:
    """Each remedy that can be carried out and that promises a start, by itself."""
    for text in remedies:
        for kind, (pattern, follow) in _KINDS.items():
            if found := re.fullmatch(pattern, text):
                changed = copy.deepcopy(Followed(kind, workload, groups, queues))
                if follow(changed, *found.groups()):
                    yield changed


def _templates(workload: Object) -> dict[str, Object]:
    """The templates of pods by the name of their pod set."""
    spec: Any = workload["spec"]
    if "replicatedJobs" in spec:
        return {each["name"]: each["template"]["spec"]["template"] for each in spec["replicatedJobs"]}
    if "tasks" in spec:
        return {each["name"]: each["template"] for each in spec["tasks"]}
    return {"": spec["template"]}


def _of(changed: Followed, pods: str) -> Object:
    named = _templates(changed.workload)
    return named.get(pods) or next(iter(named.values()))


def _use_queue(changed: Followed, queue: str) -> bool:
    workload = changed.workload
    if _QUEUE in workload["metadata"].get("labels", {}):
        workload["metadata"]["labels"][_QUEUE] = queue
    elif "queue" in workload["spec"]:
        workload["spec"]["queue"] = queue
    else:
        _of(changed, "")["metadata"]["annotations"][_VOLCANO_QUEUE] = queue
    for each in changed.groups:
        each["spec"]["queue"] = queue
    return True


def _tolerate(changed: Followed, key: str, value: str, effect: str, pods: str) -> bool:
    spec = _of(changed, pods)["spec"]
    spec.setdefault("tolerations", []).append({"key": key, "value": value, "effect": effect})
    return True


def _raise_quota(changed: Followed, queue: str, flavor: str, more: str, resource: str) -> bool:
    for each in changed.queues:
        for group in each["spec"].get("resourceGroups", ()) if each["metadata"]["name"] == queue else ():
            for one in (one for of in group["flavors"] if of["name"] == flavor for one in of["resources"]):
                if one["name"] == resource:
                    one["nominalQuota"] = quantities.canonical_sum([one["nominalQuota"], more])
                    return True
    return False


def _ask_for_fewer(changed: Followed, pods: str, name: str | None) -> bool:
    number, spec = int(pods.replace(",", "")), changed.workload["spec"]
    for each in spec.get("replicatedJobs", ()):
        if each["name"] == name and number % each["replicas"] == 0:
            each["template"]["spec"] |= dict.fromkeys(("parallelism", "completions"), number // each["replicas"])
            return True
    for each in spec.get("tasks", ()):
        if each["name"] == name:
            spec["minAvailable"] = min(spec["minAvailable"], spec["minAvailable"] - each["replicas"] + number)
            each |= {"replicas": number, "minAvailable": min(each["minAvailable"], number)}
            return bool(spec["minAvailable"] > 0)
    if "template" in spec and not changed.groups:
        spec |= dict.fromkeys(("parallelism", "completions"), number)
        annotations = changed.workload["metadata"].get("annotations", {})
        return not annotations.keys() & {"kueue.x-k8s.io/job-min-parallelism", "scheduling.volcano.sh/group-min-member"}
    return False


def _fit(changed: Followed, pods: str, steps: str) -> bool:
    template = _of(changed, "" if pods == "the pod" else pods)
    spec = template["spec"]
    for step in steps.split(", "):
        if found := re.fullmatch(r"ask for at most (\S+) (\S+)", step):
            for container in spec["containers"]:
                container["resources"]["limits"][found[2]] = found[1]
        elif found := re.fullmatch(r"tolerate ([^=]+)=([^:]*):(\w+)", step):
            _tolerate(changed, found[1], found[2], found[3], pods)
        elif found := re.fullmatch(r"leave out (\S+)=(\S+)", step):
            if spec.get("nodeSelector", {}).pop(found[1], None) is None:
                return False
        else:
            return False
    return True


_KINDS: Final[dict[str, tuple[str, Callable[..., bool]]]] = {
    "another queue": (r"(?:Kueue|Volcano): use queue ([^ :]+).*: (?:it could admit it|it has room now)", _use_queue),
    "a toleration": (r"Kueue: tolerate ([^=]+)=([^:]*):(\w+) in (.+), so that flavor .*", _tolerate),
    "more quota": (r"Kueue: raise the nominalQuota of ClusterQueue (\S+) in flavor (\S+) by (\S+) (\S+)", _raise_quota),
    "fewer pods": (
        r"ask for at most ([\d,]+) pods?(?: in (\S+))?(?: \(.*\))?: (?:it could start|there is room now)",
        _ask_for_fewer,
    ),
    "other nodes": (r"nodes: to fit .*, in (.+?): (.+)", _fit),
}
