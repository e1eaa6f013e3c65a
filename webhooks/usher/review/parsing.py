"""Reads an AdmissionReview strictly, because a wrong reading leads to a wrong decision."""

import json
from dataclasses import field
from typing import Final, cast

import orjson

from usher import errors, paths
from usher.dataclass import dataclass
from usher.policy.decision import Operation, Request, User

API_VERSION: Final = "admission.k8s.io/v1"

# Go writes these characters differently in strings. All other bytes from the API server are the same as orjson's.
_GO_ESCAPES: Final = ((b"\\u003c", b"<"), (b"\\u003e", b">"), (b"\\u0026", b"&"))
MANY_OBJECTS: Final = 200
MANY_KEYS: Final = 500
"""From these counts in a body on, an object may have more parts than usher judges (`review.sizes`)."""

_INTEGERS: Final = range(-(2**63), 2**64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """The resource of the request, in the version of the request; for a subresource, the object that has it."""

    group: str
    version: str
    plural: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The request of an AdmissionReview."""

    uid: str
    operation: Operation
    kind: str
    resource: Resource
    name: str
    namespace: str
    sub_resource: str
    dry_run: bool
    user: User | None
    """None if the review has no user; an API server always sends one."""
    value: paths.Object | None
    old_value: paths.Object | None
    many: bool = False
    """Whether the object may have more parts than usher judges. Counting bytes costs less than looking at each part."""
    request: paths.Object = field(default_factory=dict, compare=False, repr=False)
    """The whole request as it was sent. Policies of Gatekeeper may read any of its fields."""


def parse(body: bytes) -> Review:
    """The request in a body.

    Raises:
        ReviewError: the body is not JSON, not an AdmissionReview of v1, or lacks what we need to answer.
    """
    review = _strict_json(body)
    if not isinstance(review, dict) or review.get("kind") != "AdmissionReview":
        raise errors.ReviewError("the body is not an AdmissionReview")
    if review.get("apiVersion") != API_VERSION:
        raise errors.ReviewError(
            f"apiVersion is {_shown(review.get('apiVersion'))}; list {API_VERSION} alone in admissionReviewVersions"
        )
    request = review.get("request")
    if not isinstance(request, dict):
        raise errors.ReviewError("request: expected an object")
    kind, resource = request.get("kind"), request.get("resource")
    operation = _operation(request)
    value = _object(request, "object")
    if value is None and operation in (Operation.CREATE, Operation.UPDATE):
        # Admitting the request would be a verdict on an object that usher has not seen.
        raise errors.ReviewError(f"request.object is missing: {operation} needs an object")
    return Review(
        uid=_required_text(request, "uid"),
        operation=operation,
        kind=_text(kind, "kind", at="request.kind") if isinstance(kind, dict) else "",
        resource=_resource(resource if isinstance(resource, dict) else {}),
        name=_text(request, "name"),
        namespace=_text(request, "namespace"),
        sub_resource=_text(request, "subResource"),
        dry_run=request.get("dryRun") is True,
        user=_user(request),
        value=value,
        old_value=_object(request, "oldObject"),
        many=body.count(b"{") > MANY_OBJECTS or body.count(b'":') > MANY_KEYS,
        request=request,
    )


def request_of(review: Review) -> Request:
    """The request for the evaluator; its object is empty if the review has no object."""
    return Request(
        value=review.value or {},
        operation=review.operation,
        namespace=review.namespace,
        old_value=review.old_value if review.operation is Operation.UPDATE else None,
        sub_resource=review.sub_resource,
        user=review.user,
    )


def _resource(value: paths.Object) -> Resource:
    group, version, plural = (_text(value, field, at="request.resource") for field in ("group", "version", "resource"))
    return Resource(group=group, version=version, plural=plural)


def _strict_json(body: bytes) -> paths.Json:
    """The JSON of a body, without constructs on which parsers disagree: duplicate keys, and integers beyond a double.

    orjson keeps the last of two equal keys and rounds large integers. If its result gives the same bytes again, nothing
    was lost. Otherwise a slower check decides.
    """
    try:
        value: paths.Json = orjson.loads(body)
        if orjson.dumps(value) != _without_go_escapes(body.rstrip(b"\n")):
            json.loads(body, object_pairs_hook=_unique, parse_int=_exact)
    except TypeError:
        # orjson can write what it read, unless it is nested deeper than 254 levels.
        raise errors.ReviewError("the body is nested too deeply") from None
    except ValueError as error:
        raise errors.ReviewError(f"the body is not JSON that Kubernetes would send: {str(error)[:160]}") from None
    return value


def _without_go_escapes(body: bytes) -> bytes:
    if b"\\u00" not in body:
        return body
    for escaped, plain in _GO_ESCAPES:
        body = body.replace(escaped, plain)
    return body


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value] # add returns None, which is false
        raise ValueError(f"key {_shown(twice)} stands twice in one object")
    return result


def _exact(text: str) -> int:
    if len(text) > len("-18446744073709551616") or int(text) not in _INTEGERS:
        raise ValueError(f"the number {text[:24]} is beyond 64 bits")
    return int(text)


def _operation(request: paths.Object) -> Operation:
    text = _required_text(request, "operation")
    try:
        return Operation(text)
    except ValueError:
        raise errors.ReviewError(f"request.operation: {_shown(text)} is not one of {', '.join(Operation)}") from None


def _required_text(request: paths.Object, field: str) -> str:
    value = request.get(field)
    if not isinstance(value, str) or not value:
        raise errors.ReviewError(f"request.{field}: expected a text, found {_shown(value)}")
    return value


def _text(value: paths.Object, field: str, *, at: str = "request") -> str:
    text = value.get(field)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise errors.ReviewError(f"{at}.{field}: expected a text, found {_shown(text)}")
    return text


def _user(request: paths.Object) -> User | None:
    info = request.get("userInfo")
    if info is None:
        return None
    if not isinstance(info, dict):
        raise errors.ReviewError("request.userInfo: expected an object")
    groups = info.get("groups")
    if groups is not None and not (isinstance(groups, list) and all(isinstance(group, str) for group in groups)):
        raise errors.ReviewError("request.userInfo.groups: expected a list of texts")
    names = cast(list[str], groups or [])
    return User(name=_text(info, "username", at="request.userInfo"), groups=tuple(names))


def _object(request: paths.Object, field: str) -> paths.Object | None:
    value = request.get(field)
    if value is not None and not isinstance(value, dict):
        raise errors.ReviewError(f"request.{field}: expected an object or null")
    return value


def _shown(value: object) -> str:
    """A value of the sender for a message of ours: short, and on one line."""
    return repr(value)[:80]
