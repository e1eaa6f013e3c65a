"""The input of a policy: `input.review` as Gatekeeper makes it from an object or an AdmissionReview (pkg/target).

As in Gatekeeper it has all fields of an AdmissionRequest; unknown ones are empty.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from usher import paths
from usher.dataclass import dataclass
from usher.gatekeeper.fields import Fields, Written, group_and_kind, top
from usher.gatekeeper.matching import Subject, is_namespace

_REVIEW: Final = ("admission.k8s.io", "AdmissionReview")


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The input of a policy for a request, and the objects that constraints are matched with."""

    document: paths.Object
    subjects: tuple[Subject, ...]
    """The object, and the old one of an UPDATE: a constraint matches the request if it matches either."""


def of_object(value: paths.Object, *, operation: str = "", namespace: paths.Object | None = None) -> Review:
    """The review of an object that is applied.

    Args:
        value: the object.
        operation: `CREATE`, or empty as in gator.
        namespace: the object of its Namespace, if it is known.
    """
    api_version = paths.text(value.get("apiVersion"))
    group, kind = group_and_kind(value)
    metadata = paths.metadata(value)
    document: paths.Object = {
        "uid": "",
        "kind": {"group": group, "version": api_version.rpartition("/")[2], "kind": kind},
        "resource": {"group": "", "version": "", "resource": ""},
        "operation": operation,
        "userInfo": {},
        "object": value,
        "oldObject": None,
        "options": None,
        "namespaceObject": namespace,
    }
    for field in ("name", "namespace"):
        if text := paths.text(metadata.get(field)):
            document[field] = text
    return Review(document=document, subjects=(Subject(value=value, namespace=namespace),))


def is_admission_review(value: paths.Object) -> bool:
    return group_and_kind(value) == _REVIEW


def of_admission_review(written: Written) -> Review:
    """The review in an AdmissionReview. A DELETE has the old object as its object, as in Gatekeeper.

    Raises:
        InputError: it has no request, or neither an object nor an old one.
    """
    request = top(written).mapping("request")
    if request.get("operation") == "DELETE" and request.get("oldObject") is None:
        raise request.wrong("oldObject", "is missing; a DELETE has its object there")
    objects = {name: _object(request, name) for name in ("object", "oldObject")}
    made = of_request({**request.values, **objects})
    if made is None:
        raise request.wrong("object", "is missing, and so is oldObject; one of them is judged")
    return made


def of_request(request: paths.Object, *, namespace: paths.Object | None = None) -> Review | None:
    """The review of an AdmissionRequest; None if it has no object. A DELETE has the old object as its object.

    Args:
        request: as the API server sends it; a value that is not a mapping counts as no object.
        namespace: the object of its Namespace, if it is known.
    """
    old, value = (each if isinstance(each := request.get(name), dict) else None for name in ("oldObject", "object"))
    if request.get("operation") == "DELETE":
        value = old
    subjects = tuple(Subject(value=each, namespace=namespace) for each in (value, old) if each is not None)
    if not subjects:
        return None
    document: paths.Object = {
        "uid": "",
        "operation": "",
        "userInfo": {},
        "options": None,
        "namespaceObject": namespace,
        **request,
        "object": value,
        "oldObject": old,
    }
    return Review(document=document, subjects=subjects)


def within(review: Review, others: Iterable[paths.Object]) -> Review:
    """The same review; its objects are matched with their Namespace if this is among other objects."""
    name = paths.text(review.document.get("namespace"))
    found = [each for each in others if name and is_namespace(each) and paths.metadata(each).get("name") == name]
    if not found:
        return review
    return replace(review, subjects=tuple(replace(subject, namespace=found[-1]) for subject in review.subjects))


def _object(request: Fields, name: str) -> paths.Object | None:
    value = request.mapping(name)
    return dict(value.values) if request.get(name) is not None else None
