"""argoproj.io: Workflow, CronWorkflow, WorkflowTemplate and ClusterWorkflowTemplate.

A workflow makes one pod for every run of a template of a type that makes pods. `http` and `plugin` templates run in an
agent of Argo, which asks for no accelerators and is not counted. `suspend`, `steps` and `dag` make no pods.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from usher import model, paths
from usher.kinds import completion
from usher.kinds.argo import calls, parameters, pods, shapes
from usher.kinds.argo import graph as argo_graph
from usher.kinds.argo.graph import GROUP, Graph, Holder, Node
from usher.kinds.kind import Kind, Kueue, KueueUnit, Pods, Starts
from usher.reading import counts as reading_counts
from usher.reading import layers
from usher.reading.counts import Times
from usher.reading.embedded import times
from usher.reading.templates import Place, Template
from usher.reading.values import MAX_PODS, Reading

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


def _templates(spec: Place, reading: Reading, *, used_by_others: bool = False) -> Iterator[Template]:
    """The pods of one run of a WorkflowSpec.

    Args:
        spec: the WorkflowSpec.
        reading: looks up what it refers to.
        used_by_others: whether other workflows may run its templates by their names.
    """
    reading.mapping(*spec)
    specs = _specs(spec, reading)
    workflow = pods.workflow(specs, reading)
    pods.opaque_patch(workflow, reading)
    templates = argo_graph.named(workflow.field("templates"), reading)
    # The workflow that runs a template may give its parameters other values.
    known = parameters.NOT_KNOWN if used_by_others else parameters.of_workflow(specs)
    graph = Graph(Holder(templates=templates), workflow.defaults, known, reading)
    starts = graph.start(calls.of_workflow(specs, reading))
    if used_by_others:
        for name, template in templates.items():
            graph.include(template, _name(name, template))
    counts = argo_graph.of_graph(starts, [node.runs for node in graph.nodes], [node.skipped for node in graph.nodes])
    reached = {node.template.path for node in graph.nodes}
    nodes = [*zip(graph.nodes, counts, strict=True)]
    nodes += [
        (Node(name=_name(name, template), template=template, holder=graph.own), reading_counts.NEVER)
        for name, template in templates.items()
        if template.path not in reached
    ]
    makers = [(node, found) for node, found in nodes if pods.type_of(node.value) in pods.POD_TYPES]
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
    wanted = argo_graph.reference(ref, reading)
    found = None if wanted is None else argo_graph.spec_of(wanted, ref.path + "/name", reading)
    return (spec,) if found is None else (spec, found)


def _capped(makers: list[tuple[Node, Times]], limit: Place, reading: Reading) -> list[tuple[Node, Times]]:
    if limit.value is None:
        return makers
    number = reading.count(limit.value, limit.path, default=MAX_PODS)
    found = reading_counts.capped([each for _, each in makers], number, _PARALLELISM)
    return [(node, each) for (node, _), each in zip(makers, found, strict=True)]


def _pods(makers: list[tuple[Node, Times]], workflow: pods.Workflow, reading: Reading) -> Iterator[Template]:
    budget = layers.Budget()
    shared = [place.value for name in _SHARED for place in workflow.field(name)]
    for node, found in makers:
        callers = tuple(node.callers.values())
        of_callers = [place.value for name in _OF_CALLERS for place in layers.field(callers, name)]
        if not budget.spend(*shared, *of_callers, *(place.value for place in node.holder.pod_metadata)):
            reading.unknown(workflow.specs[0].path, _TOO_LARGE)
            return
        template = pods.pod(
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


def _is_elsewhere(node: Node, workflow: pods.Workflow) -> bool:
    """Whether a template stands in another object than the workflow."""
    return not node.holder.is_own or any(node.template.path.startswith(spec.path + "/") for spec in workflow.specs[1:])


def _workflow(workflow: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    yield from _templates(Place(workflow.get("spec"), "/spec"), reading)


def _workflow_template(template: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    yield from _templates(Place(template.get("spec"), "/spec"), reading, used_by_others=True)


def _cron_workflow(cron_workflow: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The pods of a CronWorkflow. Only Forbid and Replace keep runs apart (AR:workflow/cron/operator.go)."""
    spec = reading.mapping(cron_workflow.get("spec"), "/spec")
    policy = reading.text(spec.get("concurrencyPolicy"), "/spec/concurrencyPolicy")
    runs = _ONE_RUN if policy in ("Forbid", "Replace") else _OVERLAPPING
    for template in _templates(Place(spec.get("workflowSpec"), "/spec/workflowSpec"), reading):
        yield times(template, runs)


_COUNTED: Final = (
    "every pod of one run, from the entrypoint, the exit handler and the hooks through steps, tasks and references: "
    "once for each item of `withItems` or `withSequence`, or of a list that `withParam` or a parameter of the workflow "
    "holds; without bound for other parameters and recursion, perhaps not at all under `when`; at most `parallelism`"
)
_SOURCE: Final = (
    "AR:workflow/controller/{operator,steps,dag,workflowpod}.go, AR:pkg/apis/workflow/v1alpha1/workflow_types.go"
)
_CHANGES: Final = (
    "templates that are written in the object; not where tolerations, affinity, scheduler or priority class come from "
    "elsewhere, because the change would replace those"
)


def _paths(prefix: str) -> tuple[str, ...]:
    fields = "container,script,containerSet.containers[],resource,data,initContainers[],sidecars[]"
    return (
        f"{prefix}.templates[].{{{fields}}}",
        f"the same below `{prefix}.templates[].steps[][].inline` and `{prefix}.templates[].dag.tasks[].inline`",
        f"those that `{prefix}.workflowTemplateRef` and `templateRef` name",
    )


def _template_kind(kind: str, plural: str, *, key: str, cluster_scoped: bool) -> Kind:
    return Kind(
        group=GROUP,
        kind=kind,
        versions=("v1alpha1",),
        plural=plural,
        cluster_scoped=cluster_scoped,
        key=key,
        shape=shapes.Workflow,
        pods=Pods(
            templates=_workflow_template,
            template_paths=_paths("spec"),
            counted=_COUNTED + "; from 0 to 1 for what only others run",
            source=_SOURCE,
            role=model.Role.BATCH,
            is_template=True,
            kueue=Kueue.CHILDREN,
            queue_label_path="/spec/podMetadata",
            changes=_CHANGES,
            kueue_unit=KueueUnit.POD,
            starts=Starts.IN_STEPS,
            shrinks=True,
            minimum_from="",
        ),
    )


KINDS = [
    Kind(
        group=GROUP,
        kind="Workflow",
        versions=("v1alpha1",),
        plural="workflows",
        key="workflow",
        shape=shapes.Workflow,
        owned_by=(("argoproj.io", "CronWorkflow"),),
        finished=completion.by_field("/phase", "Succeeded", "Failed", "Error"),
        pods=Pods(
            templates=_workflow,
            template_paths=_paths("spec"),
            counted=_COUNTED,
            source=_SOURCE,
            kueue_unit=KueueUnit.POD,
            starts=Starts.IN_STEPS,
            shrinks=False,
            minimum_from="",
            role=model.Role.BATCH,
            suspend_path="/spec/suspend",
            kueue=Kueue.CHILDREN,
            # Kueue knows no Workflow, but its pods carry the labels of podMetadata.
            queue_label_path="/spec/podMetadata",
            lifecycle_places=model.LifecyclePlaces(
                ttl="/spec/ttlStrategy/secondsAfterCompletion",
                # usher does not know this field of a template that stands in another object.
                ttl_rivals=("/spec/ttlStrategy", "/spec/workflowTemplateRef"),
                deadline="/spec/activeDeadlineSeconds",
                deadline_rivals=("/spec/workflowTemplateRef",),
            ),
            changes=_CHANGES,
        ),
    ),
    Kind(
        group=GROUP,
        kind="CronWorkflow",
        versions=("v1alpha1",),
        plural="cronworkflows",
        key="cronWorkflow",
        shape=shapes.CronWorkflow,
        pods=Pods(
            templates=_cron_workflow,
            template_paths=_paths("spec.workflowSpec"),
            counted="as a Workflow for each run; without bound under `concurrencyPolicy: Allow`, which is the default",
            source=_SOURCE + ", AR:workflow/cron/operator.go",
            kueue_unit=KueueUnit.POD,
            starts=Starts.IN_STEPS,
            shrinks=True,
            minimum_from="",
            role=model.Role.BATCH,
            suspend_path="/spec/suspend",
            kueue=Kueue.CHILDREN,
            queue_label_path="/spec/workflowSpec/podMetadata",
            changes=_CHANGES,
        ),
    ),
    _template_kind("WorkflowTemplate", "workflowtemplates", key="workflowTemplate", cluster_scoped=False),
    _template_kind(
        "ClusterWorkflowTemplate", "clusterworkflowtemplates", key="clusterWorkflowTemplate", cluster_scoped=True
    ),
]
