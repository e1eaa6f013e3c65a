"""Adds intended values to a pod template: tolerations, node affinity, scheduler, priority, labels, networks."""

from typing import Final

import orjson

from usher import model, paths
from usher.config.pools import Taint
from usher.model import placement
from usher.mutation.editing import Edit
from usher.mutation.skip_reasons import (
    ALREADY_THERE,
    MATCHES_NOTHING,
    NOT_CHANGEABLE,
    USER_DECIDES,
    list_at,
    set_if_absent,
    set_unless_chosen,
)

NETWORKS: Final = "k8s.v1.cni.cncf.io/networks"
"""Annotation by which Multus attaches a pod to networks: a JSON list, or names with commas between them."""

TAKEN_OVER: Final = "what another patch of the runtime says later takes its place"

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_BESIDE_CLASS: Final = ("priority", "preemptionPolicy")
"""Fields that the API server writes into a Pod for its class (docs/domain/priority.md#setting-a-class)."""


def toleration(edit: Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a toleration to a pod set, unless the pod set already tolerates the same taints."""
    existing = _effective_tolerations(edit, pod_set)
    if existing is None:
        return NOT_CHANGEABLE
    present = [item for item in existing if isinstance(item, dict)]
    taint = Taint.model_construct(key=value["key"], value=value.get("value", ""), effect=value["effect"])
    if value in present:
        return ALREADY_THERE
    if value.get("operator") == "Exists":
        # An Equal toleration of the empty value does not cover taints with other values.
        present = [item for item in present if item.get("operator") == "Exists"]
    if any(placement.tolerates(item, taint) for item in present):
        return ALREADY_THERE
    if pod_set.changeable:
        edit.append(place_of(pod_set, "tolerations"), value)
        return ""
    return _toleration_laid_over(edit, pod_set, existing, value)


def node_requirement(edit: Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a matchExpression to every term of required node affinity: terms are OR-ed, so all must require it.

    A term without expressions matches no node, nor does an affinity without terms. They stay unchanged, because an
    expression would make them match nodes.
    """
    if not pod_set.changeable:
        return _node_requirement_laid_over(edit, pod_set, value)
    required = f"{place_of(pod_set, 'affinity')}/nodeAffinity/{_REQUIRED}"
    pointer = required + "/nodeSelectorTerms"
    if edit.get(required) is None:
        edit.add(pointer, [{"matchExpressions": [value]}])
        return ""
    # Read every term before the first write: if one cannot be changed, no term is changed.
    places = {
        f"{pointer}/{index}/matchExpressions": list_at(edit, f"{pointer}/{index}/matchExpressions")
        for index, term in enumerate(list_at(edit, pointer))
        if isinstance(term, dict) and (term.get("matchExpressions") or term.get("matchFields"))
    }
    lacking = [place for place, expressions in places.items() if value not in expressions]
    for place in lacking:
        edit.append(place, value)
    if lacking:
        return ""
    return ALREADY_THERE if places else MATCHES_NOTHING


def scheduler_name(edit: Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Sets the scheduler of a pod set, unless the user chose one; the default of Kubernetes is not a choice."""
    if not pod_set.changeable:
        return NOT_CHANGEABLE
    return set_unless_chosen(edit, place_of(pod_set, "schedulerName"), value["name"], instead=value.get("instead"))


def priority_class(edit: Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Sets the priority class of a pod set, unless the user chose one; the default of Kubernetes is not a choice.

    In a Pod, also removes the fields that the API server wrote for the default class.
    """
    if not pod_set.changeable:
        return NOT_CHANGEABLE
    reason = set_unless_chosen(
        edit, place_of(pod_set, "priorityClassName"), value["name"], instead=value.get("instead")
    )
    if reason:
        return reason
    for field in _BESIDE_CLASS if pod_set.path == paths.ROOT else ():
        if edit.get(place_of(pod_set, field)) is not None:
            edit.remove(place_of(pod_set, field))
    return ""


def grace_period(edit: Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Sets the time that pods get to stop, instead of the default that the API server wrote (`instead`)."""
    if not pod_set.changeable:
        return NOT_CHANGEABLE
    place = place_of(pod_set, "terminationGracePeriodSeconds")
    return set_unless_chosen(edit, place, value["seconds"], instead=value.get("instead"))


def annotation(edit: Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds an annotation to a pod template."""
    key, text = str(value["key"]), value["value"]
    if pod_set.changeable:
        return set_if_absent(edit, pod_set.metadata_path + "/annotations", {key: text})
    if pod_set.overrides is None:
        return NOT_CHANGEABLE
    if pod_set.annotations.get(key):
        return ALREADY_THERE if pod_set.annotations[key] == text else USER_DECIDES
    return set_if_absent(edit, edit.make((*pod_set.overrides[:-1], "metadata", "annotations")), {key: text})


def own_label(edit: Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a label to the pods of one template, in a kind where other pods must not get it."""
    place = pod_set.own_metadata_path or (pod_set.metadata_path if pod_set.changeable else "")
    if not place:
        return NOT_CHANGEABLE
    return set_if_absent(edit, place + "/labels", {str(value["key"]): value["value"]})


def network(edit: Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a network to the networks of a pod template, in the notation that the template uses."""
    if not pod_set.changeable:
        return NOT_CHANGEABLE
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
        if _bare(wanted) in map(_bare, present):
            return ALREADY_THERE
        edit.add(pointer, f"{current.rstrip(', ')}, {wanted}")
        return ""
    try:
        listed = orjson.loads(current)
    except orjson.JSONDecodeError:
        raise LookupError(pointer) from None
    if any(_bare(wanted) == _joined(each) for each in listed):
        return ALREADY_THERE
    edit.add(pointer, orjson.dumps([*listed, _as_object(wanted)]).decode())
    return ""


def place_of(pod_set: model.PodSet, field: str) -> str:
    """The place of a field of the pod spec, whether it is set or not."""
    return pod_set.places.get(field) or paths.join(pod_set.spec_path, field)


def _node_requirement_laid_over(edit: Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Writes the terms of the template again, together with the new one, because the written list replaces them."""
    if pod_set.overrides is None:
        return NOT_CHANGEABLE
    terms = [dict(term) for term in pod_set.required_terms]
    if pod_set.has_required_affinity and not any(map(_matches_something, terms)):
        return MATCHES_NOTHING
    if terms and all(value in _expressions(term) for term in terms if _matches_something(term)):
        return ALREADY_THERE
    own = edit.make((*pod_set.overrides, "affinity", "nodeAffinity", _REQUIRED)) + "/nodeSelectorTerms"
    laid = [each for each in list_at(edit, own) if isinstance(each, dict)] or terms
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


def _effective_tolerations(edit: Edit, pod_set: model.PodSet) -> list[paths.Json] | None:
    """The tolerations that the pods have, as far as the object shows; None if usher cannot add to them."""
    if pod_set.changeable:
        return list_at(edit, place_of(pod_set, "tolerations"))
    return None if pod_set.overrides is None else [dict(each) for each in pod_set.tolerations]


def _toleration_laid_over(edit: Edit, pod_set: model.PodSet, effective: list[paths.Json], value: paths.Object) -> str:
    """Writes the tolerations of the template again, with the new one, because the written list replaces them."""
    pointer = paths.join(edit.make(pod_set.overrides or ()), "tolerations")
    own = list_at(edit, pointer)
    if value in own:
        return TAKEN_OVER
    if not own and effective:
        edit.add(pointer, effective)
    edit.append(pointer, value)
    return ""


def _bare(name: str) -> str:
    return name.partition("@")[0]


def _joined(element: paths.Json) -> str:
    if not isinstance(element, dict):
        return ""
    namespace = element.get("namespace")
    return f"{namespace}/{element.get('name')}" if namespace else str(element.get("name"))


def _as_object(name: str) -> paths.Object:
    bare, _, interface = name.partition("@")
    namespace, _, plain = bare.rpartition("/")
    fields = {"name": plain, "namespace": namespace, "interface": interface}
    return {key: value for key, value in fields.items() if value}
