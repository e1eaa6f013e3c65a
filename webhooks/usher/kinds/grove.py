"""grove.io: PodCliqueSet, and the PodCliques and PodCliqueScalingGroups that its operator makes of it.

Source: operator/api/core/v1alpha1/podcliqueset.go and operator/internal/ of ai-dynamo/grove at fcc3b3bb.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, NotRequired

from msgspec.structs import replace
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.kinds.kind import Kind, Kueue, KueueUnit, Pods, Starts, api, scheduled
from usher.kinds.reading.pod_templates import template_times
from usher.kinds.reading.templates import ONE, Place, Template, Traits
from usher.kinds.reading.values import Reading, Reference

Object = Mapping[str, paths.Json]

_GROUP: Final = "grove.io"
_SET: Final = "PodCliqueSet"
_CLIQUES: Final = "/spec/template/cliques"
_GROUPS: Final = "/spec/template/podCliqueScalingGroups"
_PRIORITY: Final = "/spec/template/priorityClassName"
_SET_LABEL: Final = "app.kubernetes.io/part-of"
"""The label with the name of the PodCliqueSet (operator/api/common/labels.go)."""

_GANGS: Final = frozenset({"kai-scheduler", "volcano"})
"""Schedulers for which Grove makes a PodGroup; not for the default scheduler
(operator/internal/scheduler/kube/backend.go)."""

_VARIABLES: Final = frozenset({"GROVE_*"})


class AutoScaling(TypedDict):
    minReplicas: NotRequired[int]
    maxReplicas: NotRequired[int]


class CliqueSpec(TypedDict):
    roleName: NotRequired[str]
    replicas: NotRequired[int]
    minAvailable: NotRequired[int]
    autoScalingConfig: NotRequired[AutoScaling]


class Clique(TypedDict):
    name: NotRequired[str]
    annotations: NotRequired[dict[str, str]]
    spec: NotRequired[CliqueSpec]


class ScalingGroup(TypedDict):
    name: NotRequired[str]
    cliqueNames: NotRequired[list[str]]
    annotations: NotRequired[dict[str, str]]
    replicas: NotRequired[int]
    minAvailable: NotRequired[int]
    scaleConfig: NotRequired[AutoScaling]


class SetTemplate(TypedDict):
    cliques: NotRequired[list[Clique]]
    podCliqueScalingGroups: NotRequired[list[ScalingGroup]]


class SetSpec(TypedDict):
    replicas: NotRequired[int]
    template: NotRequired[SetTemplate]


class PodCliqueSet(TypedDict):
    spec: NotRequired[SetSpec]


class _Scaled(NamedTuple):
    """Cliques that are scaled together: those of a scaling group, or one clique."""

    name: str
    made: model.Count
    replicas: int


def _pod_clique_set(clique_set: Object, reading: Reading) -> Iterator[Template]:
    """A template for each clique. A clique in a scaling group is made once for every replica of the group."""
    spec = reading.mapping(clique_set.get("spec"), "/spec")
    sets = reading.count(spec.get("replicas"), "/spec/replicas", default=0)
    template = reading.mapping(spec.get("template"), "/spec/template")
    units = _units(template.get("podCliqueScalingGroups"), reading)
    for path, clique in reading.items(template.get("cliques"), _CLIQUES):
        name = reading.text(clique.get("name"), path + "/name")
        unit = units.get(name) or _Scaled(name, ONE, 1)
        found = _clique(clique, path, name, reading)
        pods = model.Unit(unit.name, found.count.maximum or 0)
        found = template_times(template_times(found, unit.made), model.Count(minimum=sets, maximum=sets))
        yield replace(found, unit=pods, groups=max(sets * unit.replicas, 1))


def _units(value: object, reading: Reading) -> Mapping[str, _Scaled]:
    """The scaling groups by the names of their cliques."""
    found = {}
    for path, group in reading.items(value, _GROUPS):
        unit = _Scaled(
            reading.text(group.get("name"), path + "/name"),
            _count(group, path, "scaleConfig", reading),
            reading.count(group.get("replicas"), path + "/replicas", default=1),
        )
        found.update(dict.fromkeys(reading.texts(group.get("cliqueNames"), path + "/cliqueNames"), unit))
    return found


def _count(holder: Object, path: str, scaling: str, reading: Reading) -> model.Count:
    """The replicas of a clique or scaling group, which an autoscaler of Grove may change between its bounds."""
    replicas = reading.count(holder.get("replicas"), path + "/replicas", default=1)
    bounds = reading.mapping(holder.get(scaling), f"{path}/{scaling}")
    if not bounds:
        return model.Count(minimum=replicas, maximum=replicas)
    lowest = reading.count(bounds.get("minReplicas"), f"{path}/{scaling}/minReplicas", default=replicas)
    most = reading.count(bounds.get("maxReplicas"), f"{path}/{scaling}/maxReplicas", default=replicas)
    return model.Count(minimum=min(lowest, replicas), maximum=max(most, replicas), reason=f"{scaling} of Grove")


def _clique(clique: Object, path: str, name: str, reading: Reading) -> Template:
    """The pods of one clique. Its defaulting webhook takes 0 replicas for 1 (defaultPodCliqueTemplateSpecs)."""
    spec = reading.mapping(clique.get("spec"), path + "/spec")
    own = {**spec, "replicas": 1} if spec.get("replicas") == 0 else spec
    return Template(
        name=name,
        path=path,
        spec=Place(spec.get("podSpec"), path + "/spec/podSpec"),
        metadata=Place(clique, path),
        count=_count(own, path + "/spec", "autoScalingConfig", reading),
        traits=_traits(spec.get("podSpec")),
    )


def _traits(pod_spec: object) -> Traits:
    named = pod_spec.get("schedulerName") if isinstance(pod_spec, dict) else None
    group = named if isinstance(named, str) and named in _GANGS else ""
    return Traits(operator_environment=_VARIABLES, pod_group=group)


def _pod_clique(clique: Object, reading: Reading) -> Iterator[Template]:
    """The pods get the labels of the PodClique (buildResource in podclique/components/pod/pod.go)."""
    spec = reading.mapping(clique.get("spec"), "/spec")
    yield Template(
        name="",
        path="/spec",
        spec=Place(spec.get("podSpec"), "/spec/podSpec"),
        metadata=Place(clique.get("metadata"), "/metadata"),
        count=_count(spec, "/spec", "autoScalingConfig", reading),
        traits=_traits(spec.get("podSpec")),
    )


def _scaling_group(group: Object, reading: Reading) -> Iterator[Template]:
    """The pods of its cliques, which stand in the PodCliqueSet that its label names."""
    metadata = reading.mapping(group.get("metadata"), "/metadata")
    name = reading.strings(metadata.get("labels"), "/metadata/labels").get(_SET_LABEL, "")
    within = reading.text(metadata.get("namespace"), "/metadata/namespace") or reading.context.namespace
    path = "/spec/cliqueNames"
    spec = reading.mapping(group.get("spec"), "/spec")
    replicas = reading.count(spec.get("replicas"), "/spec/replicas", default=1)
    names = reading.texts(spec.get("cliqueNames"), path)
    if not name:
        # Grove finds no set for it and makes no pods (componentutils.GetPodCliqueSet).
        return
    reference = Reference(group=_GROUP, kind=_SET, name=name, namespace=within)
    found = reading.look_up(reference, path, consequence="its pods are not counted")
    if found is None:
        return
    reading.record_reference(path, reference)
    yield from _cliques_of_set(found, path, names, replicas, reading)


def _cliques_of_set(
    clique_set: Object, path: str, names: Sequence[str], replicas: int, reading: Reading
) -> Iterator[Template]:
    template = reading.descend(clique_set, "/spec/template")
    for clique_path, clique in reading.items(template.get("cliques"), path + _CLIQUES):
        name = reading.text(clique.get("name"), clique_path + "/name")
        if name in names:
            found = _clique(clique, clique_path, name, reading)
            found = template_times(found, model.Count(minimum=replicas, maximum=replicas))
            yield replace(found, traits=found.traits._replace(changeable=False))


_SOURCE: Final = "operator/api/core/v1alpha1/ and operator/internal/ of ai-dynamo/grove"
_STARTS: Final = scheduled(KueueUnit.POD, Starts.TOGETHER, shrinks=True, minimum_from="")

KINDS: list[Kind] = [
    Kind(
        **api(_GROUP, _SET, "podcliquesets", "v1alpha1"),
        key="podCliqueSet",
        shape=PodCliqueSet,
        scale="/spec/replicas",
        owned_by=(("nvidia.com", "DynamoGraphDeployment"),),
        pods=Pods(
            templates=_pod_clique_set,
            template_paths=("spec.template.cliques[].spec.podSpec",),
            counted="`replicas` of the set (0 if missing) times those of the clique (1 if missing), times those of the "
            "scaling group that names the clique (1 if missing); up to `maxReplicas` of `autoScalingConfig` and "
            "`scaleConfig`",
            source=_SOURCE,
            **_STARTS,
            template_can_change=True,
            role=model.Role.INFERENCE,
            runs_any_program=True,
            volcano="its operator's PodGroup, where its cliques name `schedulerName: volcano` or `kai-scheduler`; "
            "the default scheduler places the pods one by one",
            gang_places=model.GangPlaces(
                queue="/metadata/annotations/scheduling.grove.io~1volcano-queue",
                priority_class=_PRIORITY,
                on_templates=True,
            ),
            needs_gang=True,
        ),
    ),
    Kind(
        **api(_GROUP, "PodCliqueScalingGroup", "podcliquescalinggroups", "v1alpha1"),
        scale="/spec/replicas",
        owned_by=((_GROUP, _SET),),
        pods=Pods(
            templates=_scaling_group,
            template_paths=("those of the PodCliqueSet that its label app.kubernetes.io/part-of names",),
            counted="`replicas` (1 if missing) times those of each clique of `cliqueNames`",
            source=_SOURCE,
            **_STARTS,
            role=model.Role.INFERENCE,
            runs_any_program=True,
            changes="nothing: the PodCliqueSet holds the templates",
        ),
    ),
    Kind(
        **api(_GROUP, "PodClique", "podcliques", "v1alpha1"),
        scale="/spec/replicas",
        owned_by=((_GROUP, _SET), (_GROUP, "PodCliqueScalingGroup")),
        pods=Pods(
            templates=_pod_clique,
            template_paths=("spec.podSpec",),
            counted="`replicas`, up to `autoScalingConfig.maxReplicas`",
            source=_SOURCE,
            **_STARTS,
            role=model.Role.INFERENCE,
            runs_any_program=True,
            kueue=Kueue.NEVER,
        ),
    ),
]
