"""One strategy per field: adds an intended value, and never changes a value of the user.

A strategy edits the object if it lacks the value, and returns "". Otherwise it returns why it changed nothing.
So applying an intent twice does the same as applying it once.
"""

from collections.abc import Callable, Mapping
from typing import Final

from usher import model, paths
from usher.mutation import claims, containers, objects, pods, recipes
from usher.mutation.editing import Edit

ON_OBJECT: Final[Mapping[str, Callable[[Edit, model.Workload, paths.Object], str]]] = {
    "kueueLabel": objects.kueue_label,
    "label": objects.label,
    "gangSetting": objects.gang_setting,
    "lifetime": objects.lifetime,
    "managedBy": objects.managed_by,
}
ON_POD_SET: Final[Mapping[str, Callable[[Edit, model.PodSet, paths.Object], str]]] = {
    "toleration": pods.toleration,
    "nodeRequirement": pods.node_requirement,
    "schedulerName": pods.scheduler_name,
    "priorityClass": pods.priority_class,
    "annotation": pods.annotation,
    "ownLabel": pods.own_label,
    "network": pods.network,
    "recipe": recipes.recipe,
    "gracePeriod": pods.grace_period,
}
ON_CONTAINER: Final[Mapping[str, Callable[[Edit, model.Container, model.PodSet, paths.Object], str]]] = {
    "environment": containers.environment,
    "enforcedEnvironment": containers.enforced_environment,
    "mount": containers.mounted,
    "resource": containers.resource,
    "request": containers.request,
    "capability": containers.capability,
    "claim": claims.claim,
    "preStop": containers.pre_stop,
}

IN_METADATA: Final = frozenset({"annotation", "network", "recipe"})
"""Fields of intents that change the metadata of a pod template."""

IDENTITY: Final[Mapping[str, tuple[str, ...]]] = {
    "kueueLabel": ("key",),
    "label": ("key",),
    "gangSetting": ("setting",),
    "lifetime": ("setting",),
    "toleration": ("key", "operator", "value", "effect"),
    "nodeRequirement": ("key",),
    "annotation": ("key",),
    "ownLabel": ("key",),
    "network": ("name",),
    "recipe": (),
    "environment": ("name",),
    "enforcedEnvironment": ("name",),
    "mount": ("mountPath",),
    "resource": ("name",),
    "request": ("name",),
    "capability": ("name",),
    "claim": ("name",),
}
"""The keys that identify a value of a field; intents with the same place, field and identity must agree."""

NEEDED: Final[Mapping[str, set[str]]] = {
    "kueueLabel": {"key", "value"},
    "label": {"key", "value"},
    "gangSetting": {"setting", "value"},
    "lifetime": {"setting", "seconds"},
    "managedBy": {"name"},
    "toleration": {"key", "effect"},
    "nodeRequirement": {"key", "operator"},
    "schedulerName": {"name"},
    "priorityClass": {"name"},
    "annotation": {"key", "value"},
    "ownLabel": {"key", "value"},
    "network": {"name"},
    "recipe": {"recipe", "containers"},
    "gracePeriod": {"seconds"},
    "environment": {"name"},
    "enforcedEnvironment": {"name"},
    "mount": {"volume", "mountPath"},
    "resource": {"name", "amount"},
    "request": {"name", "amount"},
    "capability": {"name"},
    "claim": {"name", "template"},
    "preStop": {"command"},
}
"""The required keys of a value; other keys are passed on unchanged."""

WORDS: Final[Mapping[str, str]] = {
    "kueueLabel": "label for Kueue",
    "label": "label",
    "gangSetting": "gang",
    "lifetime": "time to live",
    "managedBy": "managedBy",
    "toleration": "toleration",
    "nodeRequirement": "required node affinity",
    "schedulerName": "schedulerName",
    "priorityClass": "priorityClassName",
    "annotation": "annotation",
    "ownLabel": "label of the template",
    "network": "network",
    "recipe": "recipe of the fabric",
    "gracePeriod": "terminationGracePeriodSeconds",
    "environment": "env",
    "enforcedEnvironment": "env",
    "mount": "volume",
    "resource": "resource limit",
    "request": "resource request",
    "capability": "capability",
    "claim": "device claim",
    "preStop": "preStop",
}
"""The names of the fields in messages."""
