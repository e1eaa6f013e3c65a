"""The lines of a review record, which `usher replay` judges again: one AdmissionReview as JSON in each line. Pure.

The field `recorded` beside `request` has the time, the version and the verdict. A file begins with a line of the kind
ReviewRecord. Further lines of this kind have the number of reviews that are missing at that place.
"""

from collections.abc import Mapping
from typing import Final

import orjson

from usher import errors, paths
from usher.dataclass import dataclass
from usher.policy.decision import Operation
from usher.review import redaction
from usher.review.parsing import API_VERSION, Review, parse

RECORD_VERSION: Final = "gpu-usher.io/v1alpha1"
RECORD_KIND: Final = "ReviewRecord"


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The content of a line of the kind ReviewRecord."""

    anonymised: bool
    missing: Mapping[str, int]
    """The number of reviews that were not recorded, by reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedReview:
    """A review and the answer of the server."""

    review: Review
    allowed: bool | None
    """None if the line does not have it."""


def head(*, version: str, anonymised: bool, missing: Mapping[str, int] | None = None) -> bytes:
    """The line that begins a file, or one with the number of missing reviews."""
    value: dict[str, object] = {
        "apiVersion": RECORD_VERSION,
        "kind": RECORD_KIND,
        "usher": version,
        "anonymised": anonymised,
    }
    if missing:
        value["missing"] = dict(missing)
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def line(request: Mapping[str, object], *, recorded: Mapping[str, object]) -> bytes:
    """The line of a review whose secrets are already removed."""
    value = {"apiVersion": API_VERSION, "kind": "AdmissionReview", "recorded": recorded, "request": request}
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def request_of(review: Review, *, value: paths.Json, old_value: paths.Json) -> dict[str, object]:
    """The request of a review as the API server writes it, with other objects."""
    resource = review.resource
    request: dict[str, object] = {
        "uid": review.uid,
        "kind": {"group": resource.group, "version": resource.version, "kind": review.kind},
        "resource": {"group": resource.group, "version": resource.version, "resource": resource.plural},
        "name": review.name,
        "namespace": review.namespace,
        "operation": review.operation.value,
        "object": value,
    }
    if review.sub_resource:
        request["subResource"] = review.sub_resource
    if review.user is not None:
        request["userInfo"] = {"username": review.user.name, "groups": list(review.user.groups)}
    if old_value is not None:
        request["oldObject"] = old_value
    return request


def of_object(value: paths.Object, *, number: int, version: str) -> bytes:
    """The line of an existing object, without secrets, as if it were created now.

    Args:
        value: the object from the API server.
        number: the number of the line, for the uid of the review.
        version: the version of usher.
    """
    kept, metadata = redaction.of(value), paths.metadata(value)
    group, _, api_version = paths.text(value.get("apiVersion")).rpartition("/")
    kind = {"group": group, "version": api_version, "kind": paths.text(value.get("kind"))}
    request = {
        "uid": f"object-{number}",
        "kind": kind,
        "resource": {"group": group, "version": api_version, "resource": ""},
        "name": paths.text(metadata.get("name")),
        "namespace": paths.text(metadata.get("namespace")),
        "operation": Operation.CREATE.value,
        "object": kept,
    }
    return line(request, recorded={"usher": version})


def read(data: bytes) -> RecordedReview | Head:
    """The content of a line.

    Raises:
        InputError: it is neither; the message has no place.
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise errors.InputError("not complete JSON; the line is cut off or damaged") from None
    if not isinstance(value, dict):
        raise errors.InputError("not an AdmissionReview")
    if value.get("kind") == RECORD_KIND:
        return _head(value)
    if "event" in value and "request" not in value:
        raise errors.InputError(
            "a line of the server's log, which holds no objects; `usher serve --record FILE` writes what replay needs"
        )
    recorded = value.get("recorded")
    allowed = recorded.get("allowed") if isinstance(recorded, dict) else None
    # The strict reader of the server: usher does not judge here what the server would refuse.
    return RecordedReview(review=parse(data), allowed=allowed if isinstance(allowed, bool) else None)


def _head(value: Mapping[str, object]) -> Head:
    if value.get("apiVersion") != RECORD_VERSION:
        version = str(value.get("apiVersion"))[:64]
        raise errors.InputError(f"a record of format {version}, but this usher reads {RECORD_VERSION}")
    missing = value.get("missing", {})
    if not isinstance(missing, dict) or not all(type(number) is int and number >= 0 for number in missing.values()):
        raise errors.InputError("missing: expected numbers by reason")
    return Head(
        anonymised=value.get("anonymised") is True,
        missing={str(reason)[:100]: min(number, 2**53) for reason, number in missing.items()},
    )
