"""The pods of Argo templates: which fields of the template, of its caller and of the workflow a pod gets.

Sources: AR:workflow/controller/workflowpod.go (build, addSchedulingConstraints, addMetadata) and
AR:workflow/controller/operator.go (mergedTemplateDefaultsInto).
"""

from collections.abc import Iterator, Mapping
from typing import Final

from usher import model, paths
from usher.dataclass import dataclass
from usher.reading import layers
from usher.reading.templates import ContainerPlace, Place, Template, Traits
from usher.reading.values import Reading

# The order in which Argo looks for what a template is: AR:pkg/apis/workflow/v1alpha1/workflow_types.go, GetType.
_TYPES: Final = (
    "container",
    "containerSet",
    "steps",
    "dag",
    "script",
    "resource",
    "data",
    "suspend",
    "http",
    "plugin",
)
POD_TYPES: Final = frozenset({"container", "containerSet", "script", "resource", "data"})

_MAIN: Final = "main"
_CHANGED_BY_MUTATIONS: Final = ("tolerations", "affinity", "schedulerName", "priorityClassName")
_ACTIONS_WITH_AN_OBJECT: Final = frozenset({"create", "apply", "replace", "patch"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """The fields that pods get from the workflow that runs them."""

    specs: tuple[Place, ...]
    """The WorkflowSpec, and below it that of the template it refers to as a whole."""
    defaults: tuple[Place, ...]
    """The `templateDefaults` of these specs, as far as they are objects."""

    def field(self, name: str) -> tuple[Place, ...]:
        return layers.field(self.specs, name)


def workflow(specs: tuple[Place, ...], reading: Reading) -> Workflow:
    defaults = layers.field(specs, "templateDefaults")
    for place in defaults:
        reading.mapping(*place)
    return Workflow(specs=specs, defaults=tuple(place for place in defaults if isinstance(place.value, dict)))


def type_of(template: Mapping[str, paths.Json]) -> str:
    """The field that gives a template its type; empty for a template without a type."""
    return next((name for name in _TYPES if template.get(name) is not None), "")


def pod(  # noqa: PLR0913 - all that a pod gets something from
    template: Place,
    of: Workflow,
    *,
    name: str,
    callers: tuple[Place, ...],
    pod_metadata: tuple[Place, ...],
    reading: Reading,
) -> Template:
    """The template of the pods that an Argo template makes.

    Args:
        template: the Argo template, of a type that makes pods.
        of: the workflow that runs it.
        name: of the pod set.
        callers: the templates with the steps and tasks that run it.
        pod_metadata: the `podMetadata` of the WorkflowTemplate that it was taken from, if it was.
        reading: records what cannot be read.
    """
    own = (template, *of.defaults)
    fields = {
        "nodeSelector": _field("nodeSelector", own, callers, of, reading),
        "affinity": _field("affinity", own, callers, of, reading),
        "tolerations": _field("tolerations", own, callers, of, reading),
        "schedulerName": layers.nearest((*layers.field(own, "schedulerName"), *of.field("schedulerName"))),
        "priorityClassName": layers.nearest(
            (*layers.field(own, "priorityClassName"), *of.field("podPriorityClassName"))
        ),
        "resources": layers.nearest((*layers.field(own, "podResources"), *of.field("podResources"))),
        "resourceClaims": layers.nearest((*layers.field(own, "resourceClaims"), *of.field("resourceClaims"))),
    }
    patched = _opaque(layers.nearest(layers.field(own, "podSpecPatch")), reading)
    patched = patched or bool(layers.nearest(of.field("podSpecPatch")).value)
    # A field in the template replaces the same field elsewhere, and does not add to it.
    changeable = all(
        not layers.is_set(fields[each]) or fields[each].path == f"{template.path}/{each}"
        for each in _CHANGED_BY_MUTATIONS
    )
    return Template(
        name=name,
        path=template.path,
        spec=Place({}, template.path),
        metadata=_metadata(own, pod_metadata, of, reading),
        traits=Traits(changeable=changeable, whole=not patched),
        containers=tuple(_containers(own, reading)),
        fields=fields,
    )


def _field(name: str, own: tuple[Place, ...], callers: tuple[Place, ...], of: Workflow, reading: Reading) -> Place:
    """A field as the template sets it, else its caller, else the workflow."""
    merged = {"nodeSelector": layers.strings, "affinity": layers.affinity, "tolerations": layers.tolerations}[name]
    found = merged(layers.field(own, name), reading)
    if layers.is_set(found):
        return found
    of_workflow = merged(of.field(name), reading)
    of_callers = [layers.nearest(layers.field((caller,), name)) for caller in callers]
    counting = [place if layers.is_set(place) else of_workflow for place in of_callers] or [of_workflow]
    first, *others = {place.path: place for place in counting}.values()
    if any(place.value != first.value for place in others):
        reason = f"the templates that run it give its pods different values of {name}: judged with those of the first"
        reading.unknown(own[0].path, reason)
    return first if layers.is_set(first) else found


def _metadata(own: tuple[Place, ...], pod_metadata: tuple[Place, ...], of: Workflow, reading: Reading) -> Place:
    """Labels and annotations of the template count over those of the workflow."""
    found = [*layers.field(own[:1], "metadata"), *pod_metadata, *layers.field(own[1:], "metadata")]
    found = [place for place in (*found, *of.field("podMetadata")) if place.value is not None]
    if not found:
        return Place(None, own[0].path + "/metadata")
    if len(found) == 1:
        return found[0]
    return Place(layers.metadata(found, reading), found[0].path)


def _opaque(patch: Place, reading: Reading) -> bool:
    """A patch of the whole pod spec: its effect is unknown until its parameters are filled in."""
    is_there = bool(reading.text(*patch))
    if is_there:
        reading.unknown(patch.path, "podSpecPatch may change anything in the pods: what it changes is not judged")
    return is_there


def opaque_patch(of: Workflow, reading: Reading) -> None:
    """Records the patch that a workflow applies to all its pods."""
    _opaque(layers.nearest(of.field("podSpecPatch")), reading)


def _containers(own: tuple[Place, ...], reading: Reading) -> Iterator[ContainerPlace]:
    """Init containers, then the main ones, then the sidecars, which are containers like the main ones to Kubernetes.

    What Argo adds itself asks for no accelerators.
    """
    for init in layers.by_name(layers.field(own, "initContainers"), reading):
        policy = reading.text(*layers.nearest(layers.field(init, "restartPolicy")))
        kind = model.ContainerType.SIDECAR if policy == "Always" else model.ContainerType.INIT
        yield _container(init, kind, reading)
    yield from _main(own, reading)
    for sidecar in layers.by_name(layers.field(own, "sidecars"), reading):
        yield _container(sidecar, model.ContainerType.SIDECAR, reading)


def _main(own: tuple[Place, ...], reading: Reading) -> Iterator[ContainerPlace]:
    kind = type_of(own[0].value) if isinstance(own[0].value, dict) else ""
    of_kind = tuple(place for place in layers.field(own, kind) if place.value is not None)
    for place in of_kind:
        reading.mapping(*place)
    if not isinstance(of_kind[0].value, dict):
        return
    if kind in ("container", "script"):
        yield _container(of_kind, model.ContainerType.APP, reading)._replace(name=_MAIN)
    elif kind == "containerSet":
        for path, value in reading.items(*layers.nearest(layers.field(of_kind, "containers"))):
            name = reading.text(value.get("name"), path + "/name")
            yield ContainerPlace(value=value, path=path, name=name or _MAIN)
    else:
        # Argo's own executor, which makes an object or lists files.
        yield ContainerPlace(value={}, path=of_kind[0].path, name=_MAIN)
        if kind == "resource":
            _manifest(of_kind[0], reading)


def _manifest(resource: Place, reading: Reading) -> None:
    """Records the object that a template makes: it is judged on its own when it is created."""
    (action,) = layers.field((resource,), "action")
    if reading.text(*action) not in _ACTIONS_WITH_AN_OBJECT:
        return
    for place in (*layers.field((resource,), "manifest"), *layers.field((resource,), "manifestFrom")):
        if layers.is_set(place):
            reading.unknown(place.path, "the object that this makes is not judged here, but when it is made")


def _container(of: tuple[Place, ...], kind: model.ContainerType, reading: Reading) -> ContainerPlace:
    """A container with the defaults below it."""
    nearest = of[0]
    value = nearest.value if isinstance(nearest.value, dict) else {}
    found = ContainerPlace(value=value, path=nearest.path, type=kind)
    if len(of) == 1:
        return found
    for place in layers.field(of, "resources"):
        reading.mapping(*place)
    return found._replace(
        requests=_resources(of, "requests", reading),
        limits=_resources(of, "limits", reading),
        environment=tuple(reversed(layers.field(of, "env"))),
    )


def _resources(of: tuple[Place, ...], name: str, reading: Reading) -> Place:
    found = layers.resources(layers.field(layers.field(of, "resources"), name), reading)
    return found if found.path else Place(None, f"{of[0].path}/resources/{name}")
