"""Adds intended values to a pod template and its containers: tolerations, affinity, variables, resources."""

from typing import Final

import orjson

from usher import errors, model, paths, quantities
from usher.config.pools import Taint
from usher.kinds.reading.environment import is_operators
from usher.kinds.reading.shapes import clean_path
from usher.model import placement
from usher.policy.mutation import editing

NETWORKS: Final = "k8s.v1.cni.cncf.io/networks"
"""Annotation by which Multus attaches a pod to networks: a JSON list, or names with commas between them."""

TAKEN_OVER: Final = "what another patch of the runtime says later takes its place"

_BESIDE_CLASS: Final = ("priority", "preemptionPolicy")
"""Fields that the API server writes into a Pod for its class (docs/domain/priority.md#setting-a-class)."""


def add_toleration(edit: editing.Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a toleration to a pod set, unless the pod set already tolerates the same taints."""
    existing = _effective_tolerations(edit, pod_set)
    if existing is None:
        return editing.NOT_CHANGEABLE
    present = [item for item in existing if isinstance(item, dict)]
    taint = Taint.model_construct(key=value["key"], value=value.get("value", ""), effect=value["effect"])
    if value in present:
        return editing.ALREADY_THERE
    if value.get("operator") == "Exists":
        # An Equal toleration of the empty value does not cover taints with other values.
        present = [item for item in present if item.get("operator") == "Exists"]
    if any(placement.tolerates(item, taint) for item in present):
        return editing.ALREADY_THERE
    if pod_set.changeable:
        edit.append(place_of_field(pod_set, "tolerations"), value)
        return ""
    return _toleration_laid_over(edit, pod_set, existing, value)


def add_node_requirement(edit: editing.Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a matchExpression to every term of required node affinity: terms are OR-ed, so all must require it.

    A term without expressions matches no node, nor does an affinity without terms. They stay unchanged, because an
    expression would make them match nodes.
    """
    if not pod_set.changeable:
        return _node_requirement_laid_over(edit, pod_set, value)
    required = f"{place_of_field(pod_set, 'affinity')}/nodeAffinity/{placement.REQUIRED}"
    pointer = required + "/nodeSelectorTerms"
    if edit.get(required) is None:
        edit.add(pointer, [{"matchExpressions": [value]}])
        return ""
    # Read every term before the first write: if one cannot be changed, no term is changed.
    places = {
        f"{pointer}/{index}/matchExpressions": editing.list_at(edit, f"{pointer}/{index}/matchExpressions")
        for index, term in enumerate(editing.list_at(edit, pointer))
        if isinstance(term, dict) and (term.get("matchExpressions") or term.get("matchFields"))
    }
    lacking = [place for place, expressions in places.items() if value not in expressions]
    for place in lacking:
        edit.append(place, value)
    if lacking:
        return ""
    return editing.ALREADY_THERE if places else editing.MATCHES_NOTHING


def set_scheduler_name(edit: editing.Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Sets the scheduler of a pod set, unless the user chose one; the default of Kubernetes is not a choice."""
    if not pod_set.changeable:
        return editing.NOT_CHANGEABLE
    return editing.set_unless_chosen(
        edit, place_of_field(pod_set, "schedulerName"), value["name"], instead=value.get("instead")
    )


def set_priority_class(edit: editing.Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Sets the priority class of a pod set, unless the user chose one; the default of Kubernetes is not a choice.

    In a Pod, also removes the fields that the API server wrote for the default class.
    """
    if not pod_set.changeable:
        return editing.NOT_CHANGEABLE
    reason = editing.set_unless_chosen(
        edit, place_of_field(pod_set, "priorityClassName"), value["name"], instead=value.get("instead")
    )
    if reason:
        return reason
    for field in _BESIDE_CLASS if pod_set.path == paths.ROOT else ():
        if edit.get(place_of_field(pod_set, field)) is not None:
            edit.remove(place_of_field(pod_set, field))
    return ""


def set_grace_period(edit: editing.Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Sets the time that pods get to stop, instead of the default that the API server wrote (`instead`)."""
    if not pod_set.changeable:
        return editing.NOT_CHANGEABLE
    place = place_of_field(pod_set, "terminationGracePeriodSeconds")
    return editing.set_unless_chosen(edit, place, value["seconds"], instead=value.get("instead"))


def add_annotation(edit: editing.Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds an annotation to a pod template."""
    key, text = str(value["key"]), value["value"]
    if pod_set.changeable:
        return editing.set_if_absent(edit, pod_set.metadata_path + "/annotations", {key: text})
    if pod_set.overrides is None:
        return editing.NOT_CHANGEABLE
    if pod_set.annotations.get(key):
        return editing.ALREADY_THERE if pod_set.annotations[key] == text else editing.USER_DECIDES
    return editing.set_if_absent(edit, edit.make((*pod_set.overrides[:-1], "metadata", "annotations")), {key: text})


def add_own_label(edit: editing.Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a label to the pods of one template, in a kind where other pods must not get it."""
    place = pod_set.own_metadata_path or (pod_set.metadata_path if pod_set.changeable else "")
    if not place:
        return editing.NOT_CHANGEABLE
    return editing.set_if_absent(edit, place + "/labels", {str(value["key"]): value["value"]})


def add_network(edit: editing.Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a network to the networks of a pod template, in the notation that the template uses."""
    if not pod_set.changeable:
        return editing.NOT_CHANGEABLE
    pointer = paths.join(pod_set.metadata_path + "/annotations", NETWORKS)
    wanted = str(value["name"])
    current = edit.get(pointer)
    if current in (None, ""):
        edit.add(pointer, wanted)
        return ""
    if not isinstance(current, str):
        raise LookupError(pointer)
    if not current.lstrip().startswith("["):
        present = [each.strip() for each in current.split(",")]
        if _bare_name(wanted) in map(_bare_name, present):
            return editing.ALREADY_THERE
        edit.add(pointer, f"{current.rstrip(', ')}, {wanted}")
        return ""
    try:
        listed = orjson.loads(current)
    except orjson.JSONDecodeError:
        raise LookupError(pointer) from None
    if any(_bare_name(wanted) == _network_text(each) for each in listed):
        return editing.ALREADY_THERE
    edit.add(pointer, orjson.dumps([*listed, _network_object(wanted)]).decode())
    return ""


def place_of_field(pod_set: model.PodSet, field: str) -> str:
    """The place of a field of the pod spec, whether it is set or not."""
    return pod_set.places.get(field) or paths.join(pod_set.spec_path, field)


def _node_requirement_laid_over(edit: editing.Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Writes the terms of the template again, together with the new one, because the written list replaces them."""
    if pod_set.overrides is None:
        return editing.NOT_CHANGEABLE
    terms = [dict(term) for term in pod_set.required_terms]
    if pod_set.has_required_affinity and not any(map(_matches_something, terms)):
        return editing.MATCHES_NOTHING
    if terms and all(value in _expressions(term) for term in terms if _matches_something(term)):
        return editing.ALREADY_THERE
    own = edit.make((*pod_set.overrides, "affinity", "nodeAffinity", placement.REQUIRED)) + "/nodeSelectorTerms"
    laid = [each for each in editing.list_at(edit, own) if isinstance(each, dict)] or terms
    if laid and all(value in _expressions(term) for term in laid if _matches_something(term)):
        return TAKEN_OVER
    extended: list[paths.Json] = [
        {**term, "matchExpressions": [*_expressions(term), value]} if _matches_something(term) else term
        for term in laid
    ]
    edit.add(own, extended or [{"matchExpressions": [value]}])
    return ""


def _matches_something(term: paths.Object) -> bool:
    return bool(term.get("matchExpressions") or term.get("matchFields"))


def _expressions(term: paths.Object) -> list[paths.Json]:
    found = term.get("matchExpressions")
    return found if isinstance(found, list) else []


def _effective_tolerations(edit: editing.Edit, pod_set: model.PodSet) -> list[paths.Json] | None:
    """The tolerations that the pods have, as far as the object shows; None if usher cannot add to them."""
    if pod_set.changeable:
        return editing.list_at(edit, place_of_field(pod_set, "tolerations"))
    return None if pod_set.overrides is None else [dict(each) for each in pod_set.tolerations]


def _toleration_laid_over(
    edit: editing.Edit, pod_set: model.PodSet, effective: list[paths.Json], value: paths.Object
) -> str:
    """Writes the tolerations of the template again, with the new one, because the written list replaces them."""
    pointer = paths.join(edit.make(pod_set.overrides or ()), "tolerations")
    own = editing.list_at(edit, pointer)
    if value in own:
        return TAKEN_OVER
    if not own and effective:
        edit.add(pointer, effective)
    edit.append(pointer, value)
    return ""


def _bare_name(name: str) -> str:
    return name.partition("@")[0]


def _network_text(element: paths.Json) -> str:
    if not isinstance(element, dict):
        return ""
    namespace = element.get("namespace")
    return f"{namespace}/{element.get('name')}" if namespace else str(element.get("name"))


def _network_object(name: str) -> paths.Object:
    bare, _, interface = name.partition("@")
    namespace, _, plain = bare.rpartition("/")
    fields = {"name": plain, "namespace": namespace, "interface": interface}
    return {key: value for key, value in fields.items() if value}


OPAQUE: Final = "what its envFrom brings is not known here, and may set it; set it in env, or leave envFrom out"
PARTIAL: Final = (
    "the resources of the runtime are not known here or hold claims, and a block with the device alone would hide its "
    "GPUs; set spec.trainer.resourcesPerNode with all resources of a node"
)
INHERITED: Final = "the runtime sets its resources, and a block with some of them would hide the others"
MOUNTED: Final = "something else is mounted there, or above it"


def add_environment(edit: editing.Edit, container: model.Container, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a variable to a container, unless it has or may have one of that name, or its operator sets it.

    A second entry of a name would replace the user's without a warning, and so would one over a variable of `envFrom`.
    """
    return _add_variable(edit, container, pod_set, value, respecting_sources=True)


def enforce_environment(
    edit: editing.Edit, container: model.Container, pod_set: model.PodSet, value: paths.Object
) -> str:
    """Adds a variable even if `envFrom` may bring one of that name; the added one wins."""
    return _add_variable(edit, container, pod_set, value, respecting_sources=False)


def add_mount(edit: editing.Edit, container: model.Container, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a volume, its mount, and the variable that names it if the intent has one: all of it or nothing."""
    if not pod_set.changeable:
        return editing.NOT_CHANGEABLE
    volume, variable = value["volume"], value.get("variable")
    if not isinstance(volume, dict):
        raise errors.MutationError(f"a volume was expected for {container.path}")
    mount: paths.Object = {"name": volume["name"]}
    mount.update({key: value[key] for key in ("mountPath", "subPath", "readOnly") if key in value})
    volumes_place, mounts_place = place_of_field(pod_set, "volumes"), container.path + "/volumeMounts"
    has_volume = editing.entry_named(editing.list_at(edit, volumes_place), "name", volume["name"])
    if has_volume is not None and not editing.is_same(has_volume, volume):
        return f"the pod has another volume named {volume['name']}"
    there = mounts_over(edit, container, str(mount["mountPath"]))
    if any(not _is_same_mount(each, mount) for each in there):
        return MOUNTED
    # Read every place before the first write, so that an intent never applies in part. Equal entries stay as they are.
    lacking = [place for place, has in ((volumes_place, has_volume), (mounts_place, there)) if not has]
    if isinstance(variable, dict):
        reason = _reason_against_variable(edit, container, pod_set, variable, respecting_sources=True)
        if reason not in ("", editing.ALREADY_THERE):
            return reason
        lacking += [] if reason else [_environment_place(container)]
    for place, each in ((volumes_place, volume), (mounts_place, mount), (_environment_place(container), variable)):
        if place in lacking:
            edit.append(place, each)
    return "" if lacking else editing.ALREADY_THERE


def add_resource(edit: editing.Edit, container: model.Container, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a limit of a resource that the container does not name; Kubernetes also uses it as the request."""
    name, amount = str(value["name"]), str(value["amount"])
    if not pod_set.changeable and not _takes_resources(container):
        return editing.NOT_CHANGEABLE
    for held in (container.limits, container.requests):
        if name in held:
            return editing.ALREADY_THERE if held[name] == quantities.parse(amount) else editing.USER_DECIDES
    if _hides_resources(edit, container):
        return _write_with_inherited(edit, container, name, amount)
    return _set_at(edit, _resource_place(container, "limits", name), amount)


def add_request(edit: editing.Edit, container: model.Container, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a request of a resource for which the container sets only a limit."""
    if not pod_set.changeable and not _takes_resources(container):
        return editing.NOT_CHANGEABLE
    name, amount = str(value["name"]), str(value["amount"])
    if name in container.requests:
        return editing.ALREADY_THERE if container.requests[name] == quantities.parse(amount) else editing.USER_DECIDES
    if container.resources_path and not container.places:
        return INHERITED
    return _set_at(edit, _resource_place(container, "requests", name), amount)


def add_capability(edit: editing.Edit, container: model.Container, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a Linux capability, unless the container drops it by name or has all of them."""
    if not pod_set.changeable:
        return editing.NOT_CHANGEABLE
    context = container.path + "/securityContext"
    if edit.get(context + "/privileged") is True:
        return editing.ALREADY_THERE
    name = str(value["name"])
    if name in _capabilities(edit, context + "/capabilities/drop"):
        return editing.USER_DECIDES
    if {name, "ALL"} & _capabilities(edit, context + "/capabilities/add"):
        return editing.ALREADY_THERE
    edit.append(context + "/capabilities/add", name)
    return ""


def add_pre_stop(edit: editing.Edit, container: model.Container, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a preStop hook to a container without one."""
    if not pod_set.changeable:
        return editing.NOT_CHANGEABLE
    return editing.set_if_absent(
        edit, container.path + "/lifecycle", {"preStop": {"exec": {"command": value["command"]}}}
    )


def _add_variable(
    edit: editing.Edit,
    container: model.Container,
    pod_set: model.PodSet,
    value: paths.Object,
    *,
    respecting_sources: bool,
) -> str:
    reason = _reason_against_variable(edit, container, pod_set, value, respecting_sources=respecting_sources)
    if not reason:
        edit.append(_environment_place(container), value)
    return reason


def _reason_against_variable(
    edit: editing.Edit,
    container: model.Container,
    pod_set: model.PodSet,
    value: paths.Object,
    *,
    respecting_sources: bool,
) -> str:
    """Why a variable is not added to a container; empty if it is added."""
    if not pod_set.changeable and not container.environment_path:
        return editing.NOT_CHANGEABLE
    name = str(value["name"])
    present = editing.entry_named(editing.list_at(edit, _environment_place(container)), "name", name)
    if present is not None:
        return editing.ALREADY_THERE if editing.is_same(present, value) else editing.USER_DECIDES
    if name in container.environment_elsewhere or any(each.name == name for each in container.environment):
        return editing.USER_DECIDES
    if is_operators(name, pod_set.operator_environment | container.reserved_environment):
        return f"the operator sets {name} itself"
    if respecting_sources and any(_may_bring(each, name) for each in _sources(edit, container)):
        return OPAQUE
    return ""


def _sources(edit: editing.Edit, container: model.Container) -> list[paths.Json]:
    """The entries of `envFrom`; for a container in another object usher only knows that they exist."""
    found = edit.get(container.path + "/envFrom")
    if found is None:
        found = container.fields.get("envFrom")
    return found if isinstance(found, list) else []


def _may_bring(source: paths.Json, name: str) -> bool:
    """Whether an entry of `envFrom` may bring a variable. An entry with a prefix brings only names with this prefix."""
    if not isinstance(source, dict):
        return True
    prefix = source.get("prefix")
    return name.startswith(prefix) if isinstance(prefix, str) else True


def mounts_over(edit: editing.Edit, container: model.Container, path: str) -> list[paths.Object]:
    """The mounts of the container at a path, or above it: there its user has replaced the files of the image."""
    entries = [
        (each, clean_path(place))
        for field, name in (("volumeMounts", "mountPath"), ("volumeDevices", "devicePath"))
        for each in editing.list_at(edit, f"{container.path}/{field}")
        if isinstance(each, dict) and isinstance(place := each.get(name), str)
    ]
    return [each for each, place in entries if place and f"{clean_path(path)}/".startswith(f"{place.rstrip('/')}/")]


def _is_same_mount(present: paths.Object, wanted: paths.Object) -> bool:
    written = present.get("mountPath")
    return editing.is_same(
        {**present, "mountPath": clean_path(written) if isinstance(written, str) else written}, wanted
    )


def _capabilities(edit: editing.Edit, pointer: str) -> set[str]:
    """Capabilities as container runtimes read them: in upper case."""
    return {each.upper() for each in editing.list_at(edit, pointer) if isinstance(each, str)}


def _hides_resources(edit: editing.Edit, container: model.Container) -> bool:
    """Whether a new entry at the place for resources would hide those that another object gives the container.

    Trainer 2.3 counts the GPUs of a node, and so its processes, in `resourcesPerNode` alone (kubeflow/trainer#3974).
    Older versions replace all resources of the runtime by this block.
    """
    return bool(container.resources_path) and not edit.get(container.resources_path)


def _write_with_inherited(edit: editing.Edit, container: model.Container, name: str, amount: str) -> str:
    """Writes all resources that the container has, and the new limit."""
    inherited = container.inherited_resources
    if inherited is None:
        return PARTIAL
    limits = inherited.get("limits")
    resources = {**inherited, "limits": {**(limits if isinstance(limits, dict) else {}), name: amount}}
    edit.add(container.resources_path, editing.copied(resources))
    return ""


def _takes_resources(container: model.Container) -> bool:
    return bool(container.places or container.resources_path)


def _resource_place(container: model.Container, list_name: str, name: str) -> str:
    if container.resources_path:
        return paths.join(container.resources_path, list_name, name)
    return container.resource_path(list_name, name)


def _environment_place(container: model.Container) -> str:
    return container.environment_path or container.path + "/env"


def _set_at(edit: editing.Edit, pointer: str, value: paths.Json) -> str:
    return editing.set_if_absent(edit, pointer.rpartition("/")[0], {paths.split(pointer)[-1]: value})
