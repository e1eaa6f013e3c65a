"""AdmissionReviews as an API server sends them."""

from typing import Any

import orjson

from usher import paths

UID = "8f1c2e3a-0000-4000-8000-000000000001"


def review(
    value: paths.Object | None,
    *,
    operation: str = "CREATE",
    old_value: paths.Object | None = None,
    **request: paths.Json,
) -> paths.Object:
    """A review of an object, whose kind, name and namespace the request takes over.

    Further fields of the request go in as keywords spelt as in reviews: `review(pod, dryRun=True)`.
    """
    subject = value or old_value or {}
    metadata: Any = subject.get("metadata", {})
    group, _, version = str(subject.get("apiVersion", "")).rpartition("/")
    return {
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1",
        "request": {
            "uid": UID,
            "kind": {"group": group, "version": version, "kind": subject.get("kind", "")},
            "name": metadata.get("name", ""),
            "namespace": metadata.get("namespace", ""),
            "operation": operation,
            "userInfo": {"username": "alice", "groups": ["system:authenticated"]},
            "object": value,
            "oldObject": old_value,
            "dryRun": False,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
            **request,
        },
    }


def body(value: paths.Object | None, **request: Any) -> bytes:
    """A review as bytes; takes what `review` takes."""
    return as_go_writes(review(value, **request))


def as_go_writes(value: paths.Json) -> bytes:
    """JSON as Go's encoder writes it, down to the characters that it escapes for the sake of HTML."""
    text = orjson.dumps(value)
    for character, escape in (
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("&", "\\u0026"),
        ("\u2028", "\\u2028"),
        ("\u2029", "\\u2029"),
    ):
        text = text.replace(character.encode(), escape.encode())
    return text
