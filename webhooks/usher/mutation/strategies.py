"""One strategy per field: how an intended value joins what the user wrote, without ever changing that.

A strategy edits the object if the value is not there yet, and returns why it left it alone otherwise ("" when it
acted). Applying an intent twice therefore does the same as applying it once.
"""

from collections.abc import Callable, Mapping
from typing import Final

from usher import model, paths
from usher.config import models
from usher.mutation.editing import Edit
from usher.scheduling import taints

ALREADY_THERE: Final = "it is there already"
USER_DECIDES: Final = "the user set another value"
MATCHES_NOTHING: Final = "its node affinity matches no node at all"
NO_PLACE: Final = "the kind has no place for it"

_REQUIRED = "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution"


def toleration(edit: Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a toleration to a pod set, unless what it tolerates is tolerated already."""
    pointer = pod_set.spec_path + "/tolerations"
    existing = edit.get(pointer)
    taint = models.Taint.model_construct(key=value["key"], value=value.get("value", ""), effect=value["effect"])
    present = [item for item in existing if isinstance(item, dict)] if isinstance(existing, list) else []
    if value in present:
        return ALREADY_THERE
    if value.get("operator") == "Exists":
        # An Equal that fits the empty value does not cover what is for taints of every value.
        present = [item for item in present if item.get("operator") == "Exists"]
    if any(taints.tolerates(item, taint) for item in present):
        return ALREADY_THERE
    edit.append(pointer, value)
    return ""


def node_requirement(edit: Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a matchExpression to every OR-ed term of required node affinity: in one term only it would bind nothing.

    Terms without expressions match no node, and neither does an affinity without terms; they stay as they are, because
    an expression would turn them into ones that do.
    """
    required = pod_set.spec_path + _REQUIRED
    pointer = required + "/nodeSelectorTerms"
    if edit.get(required) is None:
        edit.add(pointer, [{"matchExpressions": [value]}])
        return ""
    # Everything is read before anything is written, so that what cannot be changed as a whole is not changed at all.
    places = {
        f"{pointer}/{index}/matchExpressions": _list_at(edit, f"{pointer}/{index}/matchExpressions")
        for index, term in enumerate(_list_at(edit, pointer))
        if isinstance(term, dict) and (term.get("matchExpressions") or term.get("matchFields"))
    }
    lacking = [place for place, expressions in places.items() if value not in expressions]
    for place in lacking:
        edit.append(place, value)
    if lacking:
        return ""
    return ALREADY_THERE if places else MATCHES_NOTHING


def environment(edit: Edit, container: model.Container, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a variable to a container, unless it has one of that name or its operator sets it.

    A second entry of a name would silently win over the user's, so it is never appended.
    """
    name = str(value["name"])
    pointer = container.path + "/env"
    existing = edit.get(pointer)
    for entry in existing if isinstance(existing, list) else []:
        if isinstance(entry, dict) and entry.get("name") == name:
            return ALREADY_THERE if entry == value else USER_DECIDES
    if is_operators(name, pod_set.operator_environment):
        return f"the operator sets {name} itself"
    edit.append(pointer, value)
    return ""


def is_operators(name: str, operator_environment: frozenset[str]) -> bool:
    """Whether a variable is one that the kind's operator owns; entries ending in * are prefixes."""
    return any(name.startswith(entry[:-1]) if entry.endswith("*") else name == entry for entry in operator_environment)


def queue_label(edit: Edit, workload: model.Workload, value: paths.Object) -> str:
    """Adds labels where Kueue reads them."""
    if workload.queue_label_path is None:
        return NO_PLACE
    return _entries_if_absent(edit, workload.queue_label_path + "/labels", value)


def gang_policy(edit: Edit, workload: model.Workload, value: paths.Object) -> str:
    """Adds settings to the kind's own gang policy."""
    if workload.gang_policy_path is None:
        return NO_PLACE
    return _entries_if_absent(edit, workload.gang_policy_path, value)


def scheduler_name(edit: Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Sets the scheduler of a pod set that names none."""
    return _entries_if_absent(edit, pod_set.spec_path, {"schedulerName": value["name"]})


def _list_at(edit: Edit, pointer: str) -> list[paths.Json]:
    """The list at a pointer; empty where nothing is.

    Raises:
        LookupError: there is something else than a list.
    """
    existing = edit.get(pointer)
    if existing is None:
        return []
    if not isinstance(existing, list):
        raise LookupError(pointer)
    return existing


def _entries_if_absent(edit: Edit, pointer: str, entries: Mapping[str, paths.Json]) -> str:
    existing = edit.get(pointer)
    present = existing if isinstance(existing, dict) else {}
    missing = {key: value for key, value in entries.items() if present.get(key) in (None, "")}
    for key, value in missing.items():
        edit.add(paths.join(pointer, key), value)
    if missing:
        return ""
    return ALREADY_THERE if all(present[key] == value for key, value in entries.items()) else USER_DECIDES


ON_OBJECT: Mapping[str, Callable[[Edit, model.Workload, paths.Object], str]] = {
    "queueLabel": queue_label,
    "gangPolicy": gang_policy,
}
ON_POD_SET: Mapping[str, Callable[[Edit, model.PodSet, paths.Object], str]] = {
    "toleration": toleration,
    "nodeRequirement": node_requirement,
    "schedulerName": scheduler_name,
}
ON_CONTAINER: Mapping[str, Callable[[Edit, model.Container, model.PodSet, paths.Object], str]] = {
    "environment": environment,
}

# What tells two values of one field apart; two intents for the same place, field and identity must agree.
IDENTITY: Mapping[str, tuple[str, ...]] = {
    "toleration": ("key", "operator", "value", "effect"),
    "nodeRequirement": ("key",),
    "environment": ("name",),
}

# What a value must say; the rest of it is handed on as it is.
NEEDED: Mapping[str, set[str]] = {
    "toleration": {"key", "effect"},
    "nodeRequirement": {"key", "operator"},
    "environment": {"name"},
    "schedulerName": {"name"},
}
