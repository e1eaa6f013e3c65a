"""Groups of pods that serve a model together: Grove (grove.io), RoleBasedGroups (workloads.x-k8s.io), VLLMRuntimes.

The operator of Grove makes PodCliques and PodCliqueScalingGroups of a set. Source: operator/api/core/v1alpha1/
podcliqueset.go and operator/internal/ of ai-dynamo/grove at fcc3b3bb.

A role of a RoleBasedGroup makes single pods, groups of a leader and workers, or groups of several components. v1alpha1
has other fields for the same. Sources: api/workloads/v1alpha2/rolebasedgroup_types.go and helper.go, pkg/reconciler/
roleinstanceset_reconciler.go and pkg/scheduler of sgl-project/rbg at 993491fb.

A VLLMRuntime (production-stack.vllm.ai) makes one Deployment.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from usher import model, paths
from usher.kinds.kind import Code
from usher.kinds.reading import counts
from usher.kinds.reading import pod_templates as layers
from usher.kinds.reading.pod_templates import pod_template, template_times
from usher.kinds.reading.templates import AS_CONFIGURED, ONE, TERMS, ContainerPlace, Place, Template, Traits
from usher.kinds.reading.values import Reading, Reference

Object = Mapping[str, paths.Json]

_GROUP: Final = "grove.io"
_SET: Final = "PodCliqueSet"
_CLIQUES: Final = "/spec/template/cliques"
_GROUPS: Final = "/spec/template/podCliqueScalingGroups"
_SET_LABEL: Final = "app.kubernetes.io/part-of"
"""The label with the name of the PodCliqueSet (operator/api/common/labels.go)."""

_GANGS: Final = frozenset({"kai-scheduler", "volcano"})
"""Schedulers for which Grove makes a PodGroup; for the default scheduler it makes no PodGroup
(operator/internal/scheduler/kube/backend.go)."""

_VARIABLES: Final = frozenset({"GROVE_*"})


class _Scaled(NamedTuple):
    """Cliques that are scaled together: those of a scaling group, or one clique."""

    name: str
    made: model.Count
    replicas: int
    least: int
    """How many of them the gang waits for."""


def _pod_clique_set(clique_set: Object, reading: Reading) -> Iterator[Template]:
    """A template for each clique. A clique in a scaling group is made once for every replica of the group."""
    spec = reading.mapping(clique_set.get("spec"), "/spec")
    sets = reading.count(spec.get("replicas"), "/spec/replicas", default=0)
    template = reading.mapping(spec.get("template"), "/spec/template")
    units = _units(template.get("podCliqueScalingGroups"), reading)
    for path, clique in reading.items(template.get("cliques"), _CLIQUES):
        name = reading.text(clique.get("name"), path + "/name")
        unit = units.get(name) or _Scaled(name, ONE, 1, 1)
        found = _clique(clique, path, name, reading)
        pods = model.Unit(unit.name, found.count.maximum or 0)
        own, at = reading.mapping(clique.get("spec"), path + "/spec"), path + "/spec/minAvailable"
        least = unit.least * reading.count(own.get("minAvailable"), at, default=found.count.minimum)
        found = template_times(template_times(found, unit.made), model.Count(minimum=sets, maximum=sets))
        yield replace(found, unit=pods, groups=max(sets * unit.replicas, 1), together=least)


def _units(value: object, reading: Reading) -> Mapping[str, _Scaled]:
    """The scaling groups by the names of their cliques."""
    found = {}
    for path, group in reading.items(value, _GROUPS):
        unit = _Scaled(
            reading.text(group.get("name"), path + "/name"),
            _count(group, path, "scaleConfig", reading),
            reading.count(group.get("replicas"), path + "/replicas", default=1),
            reading.count(group.get("minAvailable"), path + "/minAvailable", default=1),
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
        serves_as=paths.text(spec.get("roleName")),
    )


def _traits(pod_spec: object) -> Traits:
    named = pod_spec.get("schedulerName") if isinstance(pod_spec, dict) else None
    group = named if isinstance(named, str) and named in _GANGS else ""
    return Traits(operator_environment=_VARIABLES, pod_group=group)


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


_ROLE_GROUPS: Final = "workloads.x-k8s.io"
_GANG: Final = "rbg.workloads.x-k8s.io/group-gang-scheduling"
_ROLE_VARIABLES: Final = frozenset({"RBG_*"})
_TOO_LARGE: Final = "too many roles share large templates: not judged"


class _Holder(NamedTuple):
    """The parts that all roles of one object share."""

    role_templates: Mapping[str, Place]
    are_readable: bool
    """Whether each of these has a name."""
    budget: layers.Budget
    gang: bool
    scheduler: str
    """The scheduler for which the operator makes a PodGroup, where the object says so."""


def _group(group: Object, reading: Reading) -> Iterator[Template]:
    metadata = reading.mapping(group.get("metadata"), "/metadata")
    annotations = reading.strings(metadata.get("annotations"), "/metadata/annotations")
    spec = reading.mapping(group.get("spec"), "/spec")
    yield from _roles(spec, "/spec", annotations, reading)


def _group_set(group_set: Object, reading: Reading) -> Iterator[Template]:
    """The groups of a set: v1alpha1 has the spec of a group in `template`, v1alpha2 in `groupTemplate.spec`."""
    spec = reading.mapping(group_set.get("spec"), "/spec")
    replicas = reading.count(spec.get("replicas"), "/spec/replicas", default=1)
    path = "/spec/groupTemplate" if spec.get("groupTemplate") is not None else "/spec/template"
    template = reading.mapping(spec.get(path.rpartition("/")[2]), path)
    annotations = reading.strings(template.get("annotations"), path + "/annotations")
    inner, inner_path = (template, path) if path == "/spec/template" else (template.get("spec"), path + "/spec")
    for each in _roles(reading.mapping(inner, inner_path), inner_path, annotations, reading):
        yield template_times(each, model.Count(minimum=replicas, maximum=replicas))


def _roles(spec: Object, path: str, annotations: Mapping[str, str], reading: Reading) -> Iterator[Template]:
    policy = reading.mapping(spec.get("podGroupPolicy"), path + "/podGroupPolicy")
    named = {"volcanoScheduling": "volcano", "kubeScheduling": "coscheduling"}
    scheduler = next((each for field, each in named.items() if policy.get(field) is not None), "")
    templates = {
        reading.text(each.get("name"), at + "/name"): Place(each.get("template"), at + "/template")
        for at, each in reading.items(spec.get("roleTemplates"), path + "/roleTemplates")
    }
    listed = spec.get("roleTemplates")
    are_readable = len(templates) == len(listed if isinstance(listed, list) else ()) and "" not in templates
    is_gang = annotations.get(_GANG) == "true" or bool(scheduler)
    holder = _Holder(templates, are_readable, layers.Budget(), is_gang, scheduler)
    for at, role in reading.items(spec.get("roles"), path + "/roles"):
        name = reading.text(role.get("name"), at + "/name")
        replicas = reading.count(role.get("replicas"), at + "/replicas", default=1)
        made = _times(role, replicas, at, reading)
        for each in _pods_of_role(role, at, name, holder, reading):
            least = replicas * (each.count.minimum if each.together is None else each.together)
            yield replace(template_times(each, made), groups=max(replicas, 1), together=least)


def _times(role: Object, replicas: int, path: str, reading: Reading) -> model.Count:
    """How often a role is made: a rollout adds `maxSurge`, and autoscalers set the replicas by an adapter."""
    adapter = reading.mapping(role.get("scalingAdapter"), path + "/scalingAdapter")
    if reading.flag(adapter.get("enable"), path + "/scalingAdapter/enable"):
        return model.Count(minimum=replicas, maximum=None, reason="a scaling adapter lets autoscalers set its replicas")
    at = path + "/rolloutStrategy"
    strategy = reading.mapping(role.get("rolloutStrategy"), at)
    rolling = reading.mapping(strategy.get("rollingUpdate"), at + "/rollingUpdate")
    surge = counts.share_of_replicas(
        replicas, rolling.get("maxSurge"), at + "/rollingUpdate/maxSurge", reading, default=0
    )
    return model.Count(
        minimum=replicas, maximum=replicas + surge, reason=f"{surge} more during a rollout" if surge else ""
    )


def _pods_of_role(role: Object, path: str, name: str, holder: _Holder, reading: Reading) -> Iterator[Template]:
    """The pods of one replica of a role."""
    for field in ("customComponentsPattern", "components"):
        if role.get(field) is not None:
            at = path + ("/customComponentsPattern/components" if field != "components" else "/components")
            of_pattern = reading.mapping(role[field], f"{path}/{field}") if field != "components" else role
            yield from _components(of_pattern.get("components"), at, name, holder, reading)
            return
    groups = next((each for each in ("leaderWorkerPattern", "leaderWorkerSet") if role.get(each) is not None), "")
    pattern, at = role, path
    for field in (groups, "standalonePattern"):
        if field in role and at == path:
            pattern, at = reading.mapping(role[field], f"{path}/{field}"), f"{path}/{field}"
    # v1alpha1 keeps the template of a leader and its workers beside their settings.
    source = Place(role, path) if groups == "leaderWorkerSet" else Place(pattern, at)
    base = _resolved(source, holder, reading)
    if base is None:
        return
    if not groups:
        yield _role_template(base, name, ONE, holder, reading)
        return
    size = max(reading.count(pattern.get("size"), at + "/size", default=1), 1)
    yield from _leader_and_workers(base, Place(pattern, at), name=name, size=size, holder=holder, reading=reading)


class _Base(NamedTuple):
    place: Place
    path: str
    """The path by which findings name it."""
    is_own: bool
    """Whether the template stands in the role itself, so that changes reach only its pods."""


def _resolved(source: Place, holder: _Holder, reading: Reading) -> _Base | None:
    """The template of a role, or the one of `roleTemplates` that it names, with its patch (`GetResolvedTemplate`)."""
    value, path = reading.mapping(*source), source.path
    if value.get("templateRef") is None:
        return _Base(Place(value.get("template"), path + "/template"), path + "/template", is_own=True)
    at = path + "/templateRef"
    reference = reading.mapping(value["templateRef"], at)
    name = reading.text(reference.get("name"), at + "/name")
    found = holder.role_templates.get(name)
    if found is None:
        if (
            holder.are_readable
            and isinstance(value["templateRef"], dict)
            and isinstance(reference.get("name"), str | None)
        ):
            reading.unknown(at + "/name", "no roleTemplate has this name: its pods are not judged")
        return None
    if not holder.budget.spend(found.value, times=3):
        reading.unknown(at, _TOO_LARGE)
        return None
    patch = Place(reference.get("patch"), at + "/patch")
    if patch.value is None and value.get("templatePatch") is not None:
        patch = Place(value["templatePatch"], path + "/templatePatch")
    merged = found.value if patch.value is None else layers.patched(found.value, patch, reading)
    return _Base(Place(merged, found.path), at, is_own=False)


def _leader_and_workers(  # noqa: PLR0913 - a base, its patches and what all roles share
    base: _Base, pattern: Place, *, name: str, size: int, holder: _Holder, reading: Reading
) -> Iterator[Template]:
    """One leader and `size` - 1 workers: one template serves all unless a patch changes the spec of some."""
    value = reading.mapping(*pattern)
    patches = {
        part: next(
            (Place(value[each], f"{pattern.path}/{each}") for each in fields if value.get(each) is not None), None
        )
        for part, fields in {
            "leader": ("leaderTemplatePatch", "patchLeaderTemplate"),
            "worker": ("workerTemplatePatch", "patchWorkerTemplate"),
        }.items()
    }
    unit = model.Unit(name, size)
    if all(each is None or "spec" not in reading.mapping(*each) for each in patches.values()):
        found = _role_template(base, name, model.Count(minimum=size, maximum=size), holder, reading)
        yield replace(found, waits=size > 1, unit=unit)
        return
    if not holder.budget.spend(base.place.value, times=2):
        reading.unknown(pattern.path, _TOO_LARGE)
        return
    for part, patch in patches.items():
        number = 1 if part == "leader" else size - 1
        place = (
            base.place if patch is None else Place(layers.patched(base.place.value, patch, reading), base.place.path)
        )
        of_part = _Base(place, base.path if patch is None else patch.path, is_own=False)
        found = _role_template(of_part, f"{name}-{part}", model.Count(minimum=number, maximum=number), holder, reading)
        yield replace(found, waits=size > 1, unit=unit)


def _components(value: object, path: str, name: str, holder: _Holder, reading: Reading) -> Iterator[Template]:
    """The pods of each component. The operator counts one pod of them all for its PodGroup (GetGroupSize)."""
    for index, (at, each) in enumerate(reading.items(value, path)):
        size = reading.count(each.get("size"), at + "/size", default=1)
        own = reading.text(each.get("name"), at + "/name")
        base = _Base(Place(each.get("template"), at + "/template"), at + "/template", is_own=True)
        full = "-".join(filter(None, (name, own)))
        found = _role_template(base, full, model.Count(minimum=size, maximum=size), holder, reading)
        yield replace(found, together=min(size, 1) if index == 0 else 0)


def _role_template(base: _Base, name: str, count: model.Count, holder: _Holder, reading: Reading) -> Template:
    found = pod_template(base.place, reading, name=name, count=count)
    named = found.spec.value.get("schedulerName") if isinstance(found.spec.value, dict) else None
    group = ""
    if holder.gang:
        group = holder.scheduler or ("volcano" if named == "volcano" else AS_CONFIGURED)
    traits = Traits(operator_environment=_ROLE_VARIABLES, pod_group=group, changeable=base.is_own)
    return replace(found, path=base.path, traits=traits)


def _adapter(value: paths.Object, growth: counts.Growth, reading: Reading) -> counts.Growth:
    """The growth of the adapter of one role."""
    path = "/spec/scaleTargetRef"
    reference = reading.mapping(reading.mapping(value.get("spec"), "/spec").get("scaleTargetRef"), path)
    name, role = (reading.text(reference.get(key), f"{path}/{key}") for key in ("name", "role"))
    target = Reference(group=_ROLE_GROUPS, kind="RoleBasedGroup", name=name, namespace=growth.source.namespace)
    at = counts.nearest_pointer(value, path + "/name")
    return counts.growth_to_number(value, replace(growth, target=target, target_path=at, role=role), reading)


_DEPLOYMENT: Final = "/spec/deploymentConfig"
_DEFAULT_GPU: Final = "nvidia.com/gpu"
_DEFAULT_RUNTIME_CLASS: Final = "nvidia"

# The fields differ from those of a pod: the API server would refuse or drop fields of a pod.
_VLLM_TRAITS: Final = Traits(trains="vllm", changeable=False)


def _vllm_runtime(runtime: Object, reading: Reading) -> Iterator[Template]:
    """The template of one Deployment, read from fields with other names.

    operator/internal/controller/vllmruntime_controller.go of vllm-project/production-stack, deploymentForVLLMRuntime.
    """
    spec = reading.mapping(runtime.get("spec"), "/spec")
    deployment = reading.mapping(spec.get("deploymentConfig"), _DEPLOYMENT)
    runtime_class = deployment.get("runtimeClass")
    fields = {
        "tolerations": Place(deployment.get("toleration"), _DEPLOYMENT + "/toleration"),
        "runtimeClassName": Place(
            _DEFAULT_RUNTIME_CLASS if runtime_class is None else runtime_class, _DEPLOYMENT + "/runtimeClass"
        ),
    }
    if deployment.get(TERMS) is not None:
        fields[TERMS] = Place(deployment[TERMS], f"{_DEPLOYMENT}/{TERMS}")
    yield Template(
        name="",
        path=_DEPLOYMENT,
        spec=Place(None, _DEPLOYMENT),
        metadata=_vllm_metadata(runtime, deployment, reading),
        count=_vllm_count(spec, deployment, reading),
        traits=_VLLM_TRAITS,
        containers=tuple(_vllm_containers(spec, deployment, reading)) if deployment else (),
        fields=fields,
    )


def _vllm_metadata(runtime: Object, deployment: Object, reading: Reading) -> Place:
    """Labels and annotations of the pods: labels come from the object, annotations from another place."""
    metadata = reading.mapping(runtime.get("metadata"), "/metadata")
    labels = reading.strings(metadata.get("labels"), "/metadata/labels")
    annotations = reading.strings(deployment.get("podAnnotations"), _DEPLOYMENT + "/podAnnotations")
    return Place({"labels": dict(labels), "annotations": dict(annotations)}, _DEPLOYMENT)


def _vllm_containers(spec: Object, deployment: Object, reading: Reading) -> Iterator[ContainerPlace]:
    vllm = reading.mapping(spec.get("vllmConfig"), "/spec/vllmConfig")
    asked = _resources(deployment, _DEPLOYMENT, reading)
    yield ContainerPlace(
        value={},
        path=_DEPLOYMENT,
        name="vllm",
        requests=asked,
        limits=asked,
        environment=(Place(vllm.get("env"), "/spec/vllmConfig/env"),),
    )
    path = _DEPLOYMENT + "/sidecarConfig"
    sidecar = reading.mapping(deployment.get("sidecarConfig"), path)
    if reading.flag(sidecar.get("enabled"), path + "/enabled"):
        asked = _resources(sidecar, path, reading, cpu="0.5", memory="128Mi")
        yield ContainerPlace(
            value={},
            path=path,
            name=reading.text(sidecar.get("name"), path + "/name") or "sidecar",
            requests=asked,
            limits=asked,
            environment=(Place(sidecar.get("env"), path + "/env"),),
        )


def _resources(holder: Object, path: str, reading: Reading, **defaults: str) -> Place:
    """The requests, which are also the limits; the name of the GPU resource is a value."""
    path += "/resources"
    resources = reading.mapping(holder.get("resources"), path)
    # The operator takes an empty text for a missing one.
    given = {name: resources.get(name) for name in ("cpu", "memory", "gpu") if resources.get(name) not in (None, "")}
    found = {**defaults, **{name: str(quantity) for name, quantity in reading.resources(given, path).items()}}
    gpu = found.pop("gpu", None)
    gpu_type = resources.get("gpuType")
    name = reading.text(gpu_type, path + "/gpuType") or ("" if gpu_type else _DEFAULT_GPU)
    if gpu is not None and name:
        found[name] = gpu
    return Place(found, path)


def _vllm_count(spec: Object, deployment: Object, reading: Reading) -> model.Count:
    """The replicas of the Deployment or of its autoscaler; a rollout makes more of them, but not with Recreate."""
    path = "/spec/autoscalingConfig"
    autoscaling = reading.mapping(spec.get("autoscalingConfig"), path)
    replicas = reading.count(deployment.get("replicas"), _DEPLOYMENT + "/replicas", default=1)
    lowest, most = replicas, replicas
    reasons = []
    if reading.flag(autoscaling.get("enabled"), path + "/enabled"):
        lowest = min(reading.count(autoscaling.get("minReplicas"), path + "/minReplicas", default=1), replicas)
        most = max(reading.count(autoscaling.get("maxReplicas"), path + "/maxReplicas", default=replicas), replicas)
        if autoscaling.get("maxReplicas") is None:
            return model.Count(minimum=lowest, maximum=None, reason="autoscaling without maxReplicas")
        reasons.append("autoscaling")
    strategy = reading.text(deployment.get("deploymentStrategy"), _DEPLOYMENT + "/deploymentStrategy")
    surge = 0 if strategy == "Recreate" else counts.share_of_replicas(most, counts.DEFAULT_SURGE, _DEPLOYMENT, reading)
    if surge:
        reasons.append(f"{surge} more during a rollout")
    grown = most if most > replicas else 0
    return model.Count(minimum=lowest, maximum=most + surge, reason=", ".join(reasons), grown=grown)


CODE: Final[Mapping[str, Code]] = {
    "PodCliqueSet.grove.io": {"templates": _pod_clique_set},
    "PodCliqueScalingGroup.grove.io": {"templates": _scaling_group},
    "RoleBasedGroup.workloads.x-k8s.io": {"templates": _group},
    "RoleBasedGroupSet.workloads.x-k8s.io": {"templates": _group_set},
    "RoleBasedGroupScalingAdapter.workloads.x-k8s.io": {"autoscaler": _adapter},
    "VLLMRuntime.production-stack.vllm.ai": {"templates": _vllm_runtime},
}
