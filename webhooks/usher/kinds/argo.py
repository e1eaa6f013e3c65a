"""argoproj.io: Workflow, CronWorkflow, WorkflowTemplate and ClusterWorkflowTemplate.

A workflow makes one pod for every run of a template of a type that makes pods. `http` and `plugin` templates run in an
agent of Argo, which asks for no accelerators and is not counted. `suspend`, `steps` and `dag` make no pods.

Sources: AR:workflow/controller/workflowpod.go (build, addSchedulingConstraints, addMetadata) and
AR:workflow/controller/operator.go (mergedTemplateDefaultsInto).
"""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import model, paths
from usher.kinds import argo_templates
from usher.kinds.argo_templates import Graph, Holder, ReachedTemplate
from usher.kinds.kind import Code
from usher.kinds.reading import counts as reading_counts
from usher.kinds.reading import pod_templates as layers
from usher.kinds.reading.counts import Times
from usher.kinds.reading.pod_templates import template_times
from usher.kinds.reading.templates import ContainerPlace, Place, Traits
from usher.kinds.reading.templates import Template as PodTemplate
from usher.kinds.reading.values import MAX_PODS, Reading

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


class WorkflowDefaults(Struct, frozen=True, kw_only=True):
    """The fields that pods get from the workflow that runs them."""

    specs: tuple[Place, ...]
    """The WorkflowSpec, and below it that of the template it refers to as a whole."""
    defaults: tuple[Place, ...]
    """The `templateDefaults` of these specs, as far as they are objects."""

    def field(self, name: str) -> tuple[Place, ...]:
        return layers.field(self.specs, name)


def workflow_defaults(specs: tuple[Place, ...], reading: Reading) -> WorkflowDefaults:
    defaults = layers.field(specs, "templateDefaults")
    for place in defaults:
        reading.mapping(*place)
    return WorkflowDefaults(specs=specs, defaults=tuple(place for place in defaults if isinstance(place.value, dict)))


def template_type(template: Mapping[str, paths.Json]) -> str:
    """The field that gives a template its type; empty for a template without a type."""
    return next((name for name in _TYPES if template.get(name) is not None), "")


def pod_of_template(  # noqa: PLR0913 - all that a pod gets something from
    template: Place,
    of: WorkflowDefaults,
    *,
    name: str,
    callers: tuple[Place, ...],
    pod_metadata: tuple[Place, ...],
    reading: Reading,
) -> PodTemplate:
    """The template of the pods that an Argo template makes.

    Args:
        template: the Argo template, of a type that makes pods.
        of: the workflow that runs it.
        name: of the pod set.
        callers: the templates with the steps and tasks that run it.
        pod_metadata: the `podMetadata` of the WorkflowTemplate that it was taken from, if it was.
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
    patched = _is_opaque(layers.nearest(layers.field(own, "podSpecPatch")), reading)
    patched = patched or bool(layers.nearest(of.field("podSpecPatch")).value)
    # A field in the template replaces the same field elsewhere, and does not add to it.
    changeable = all(
        not layers.is_set(fields[each]) or fields[each].path == f"{template.path}/{each}"
        for each in _CHANGED_BY_MUTATIONS
    )
    return PodTemplate(
        name=name,
        path=template.path,
        spec=Place({}, template.path),
        metadata=_metadata(own, pod_metadata, of, reading),
        traits=Traits(changeable=changeable, fully_known=not patched),
        containers=tuple(_containers(own, reading)),
        fields=fields,
    )


def _field(
    name: str, own: tuple[Place, ...], callers: tuple[Place, ...], of: WorkflowDefaults, reading: Reading
) -> Place:
    """A field as the template sets it, else its caller, else the workflow."""
    merged = {
        "nodeSelector": layers.strings,
        "affinity": layers.affinity,
        "tolerations": layers.tolerations,
    }[name]
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


def _metadata(own: tuple[Place, ...], pod_metadata: tuple[Place, ...], of: WorkflowDefaults, reading: Reading) -> Place:
    """Labels and annotations of the template count over those of the workflow."""
    found = [*layers.field(own[:1], "metadata"), *pod_metadata, *layers.field(own[1:], "metadata")]
    found = [place for place in (*found, *of.field("podMetadata")) if place.value is not None]
    if not found:
        return Place(None, own[0].path + "/metadata")
    if len(found) == 1:
        return found[0]
    return Place(layers.metadata(found, reading), found[0].path)


def _is_opaque(patch: Place, reading: Reading) -> bool:
    """A patch of the whole pod spec: its effect is unknown until its parameters are filled in."""
    is_there = bool(reading.text(*patch))
    if is_there:
        reading.unknown(patch.path, "podSpecPatch may change anything in the pods: what it changes is not judged")
    return is_there


def record_opaque_patch(of: WorkflowDefaults, reading: Reading) -> None:
    """Records the patch that a workflow applies to all its pods."""
    _is_opaque(layers.nearest(of.field("podSpecPatch")), reading)


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
    kind = template_type(own[0].value) if isinstance(own[0].value, dict) else ""
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
            _record_manifest(of_kind[0], reading)


def _record_manifest(resource: Place, reading: Reading) -> None:
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


_NOT_REACHED: Final = Times(0, 0, ("nothing that the workflow runs leads to it",))
_USED_BY_OTHERS: Final = Times(0, 1, ("only what refers to it by name runs it",))
_PARALLELISM: Final = "no more at one time than spec.parallelism"
_TOO_LARGE: Final = "too many templates share too large a workflow: not all of them are judged"

_SHARED: Final = (
    "nodeSelector",
    "affinity",
    "tolerations",
    "podMetadata",
    "podResources",
    "resourceClaims",
    "templateDefaults",
)
_OF_CALLERS: Final = ("nodeSelector", "affinity", "tolerations")

_ONE_RUN: Final = model.Count(minimum=0, maximum=1, reason="one run at a time")
_OVERLAPPING: Final = model.Count(minimum=0, maximum=None, reason="concurrencyPolicy Allow lets runs overlap")


def _templates(spec: Place, reading: Reading, *, used_by_others: bool = False) -> Iterator[PodTemplate]:
    """The pods of one run of a WorkflowSpec.

    Args:
        used_by_others: whether other workflows may run its templates by their names.
    """
    reading.mapping(*spec)
    specs = _specs(spec, reading)
    workflow = workflow_defaults(specs, reading)
    record_opaque_patch(workflow, reading)
    templates = argo_templates.templates_by_name(workflow.field("templates"), reading)
    # The workflow that runs a template may give its parameters other values.
    known = argo_templates.UNKNOWN_PARAMETERS if used_by_others else argo_templates.workflow_parameters(specs)
    graph = Graph(Holder(templates=templates), workflow.defaults, known, reading)
    starts = graph.start(argo_templates.calls_of_workflow(specs, reading))
    if used_by_others:
        for name, template in templates.items():
            graph.include(template, _name(name, template))
    counts = argo_templates.times_of_templates(
        starts, [node.runs for node in graph.nodes], [node.skipped for node in graph.nodes]
    )
    reached = {node.template.path for node in graph.nodes}
    nodes = [*zip(graph.nodes, counts, strict=True)]
    nodes += [
        (ReachedTemplate(name=_name(name, template), template=template, holder=graph.own), reading_counts.NEVER)
        for name, template in templates.items()
        if template.path not in reached
    ]
    makers = [(node, found) for node, found in nodes if template_type(node.value) in POD_TYPES]
    run = [(node, found) for node, found in makers if found.high != 0]
    unused = _USED_BY_OTHERS if used_by_others else _NOT_REACHED
    idle = [(node, unused) for node, found in makers if found.high == 0]
    limit = layers.nearest(workflow.field("parallelism"))
    yield from _pods([*_capped(run, limit, reading), *idle], workflow, reading)


def _name(key: str, template: Place) -> str:
    return "" if key == template.path else key


def _mapping(place: Place) -> Mapping[str, paths.Json]:
    return place.value if isinstance(place.value, dict) else {}


def _specs(spec: Place, reading: Reading) -> tuple[Place, ...]:
    """The spec, and below it that of the WorkflowTemplate which it refers to as a whole (AR:workflow/util/merge.go)."""
    ref = Place(_mapping(spec).get("workflowTemplateRef"), spec.path + "/workflowTemplateRef")
    wanted = argo_templates.read_reference(ref, reading)
    found = None if wanted is None else argo_templates.spec_of(wanted, ref.path + "/name", reading)
    return (spec,) if found is None else (spec, found)


def _capped(
    makers: list[tuple[ReachedTemplate, Times]], limit: Place, reading: Reading
) -> list[tuple[ReachedTemplate, Times]]:
    if limit.value is None:
        return makers
    number = reading.count(limit.value, limit.path, default=MAX_PODS)
    found = reading_counts.cap_times([each for _, each in makers], number, _PARALLELISM)
    return [(node, each) for (node, _), each in zip(makers, found, strict=True)]


def _pods(
    makers: list[tuple[ReachedTemplate, Times]], workflow: WorkflowDefaults, reading: Reading
) -> Iterator[PodTemplate]:
    budget = layers.Budget()
    shared = [place.value for name in _SHARED for place in workflow.field(name)]
    for node, found in makers:
        callers = tuple(node.callers.values())
        of_callers = [place.value for name in _OF_CALLERS for place in layers.field(callers, name)]
        if not budget.spend(*shared, *of_callers, *(place.value for place in node.holder.pod_metadata)):
            reading.unknown(workflow.specs[0].path, _TOO_LARGE)
            return
        template = pod_of_template(
            node.template,
            workflow,
            name=node.name,
            callers=callers,
            pod_metadata=node.holder.pod_metadata,
            reading=reading,
        )
        if _is_elsewhere(node, workflow):
            template = replace(template, traits=template.traits._replace(changeable=False))
        else:
            template = replace(template, own_metadata_path=node.template.path + "/metadata")
        yield replace(template, count=found.of_pods())


def _is_elsewhere(node: ReachedTemplate, workflow: WorkflowDefaults) -> bool:
    """Whether a template stands in another object than the workflow."""
    return not node.holder.is_own or any(node.template.path.startswith(spec.path + "/") for spec in workflow.specs[1:])


def _workflow(workflow: Mapping[str, paths.Json], reading: Reading) -> Iterator[PodTemplate]:
    yield from _templates(Place(workflow.get("spec"), "/spec"), reading)


def _workflow_template(template: Mapping[str, paths.Json], reading: Reading) -> Iterator[PodTemplate]:
    yield from _templates(Place(template.get("spec"), "/spec"), reading, used_by_others=True)


def _cron_workflow(cron_workflow: Mapping[str, paths.Json], reading: Reading) -> Iterator[PodTemplate]:
    """The pods of a CronWorkflow. Only Forbid and Replace keep runs apart (AR:workflow/cron/operator.go)."""
    spec = reading.mapping(cron_workflow.get("spec"), "/spec")
    policy = reading.text(spec.get("concurrencyPolicy"), "/spec/concurrencyPolicy")
    runs = _ONE_RUN if policy in ("Forbid", "Replace") else _OVERLAPPING
    for template in _templates(Place(spec.get("workflowSpec"), "/spec/workflowSpec"), reading):
        yield template_times(template, runs)


CODE: Final[Mapping[str, Code]] = {
    "Workflow.argoproj.io": {"templates": _workflow},
    "CronWorkflow.argoproj.io": {"templates": _cron_workflow},
    "WorkflowTemplate.argoproj.io": {"templates": _workflow_template},
    "ClusterWorkflowTemplate.argoproj.io": {"templates": _workflow_template},
}
