"""The lines of a review record: reviews without secrets, and without names where the record leaves the site. Pure.

The objects lose what no rule reads (`redaction`).

The field `recorded` beside `request` has the time, the version and the verdict. A file begins with a line of the kind
ReviewRecord. Further lines of this kind have the number of reviews that are missing at that place.

Names of namespaces, objects, users, groups and images become a keyed hash, so equal names stay equal within one key.
Kubernetes' own names stay: `system:` users and groups, and the namespace kube-system. The names of containers, queues,
classes, variables and resources stay too, and so do the arguments that rules read and labels with a domain.
"""

import dataclasses
import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Final

import orjson
from msgspec import Struct

from usher import errors, paths
from usher.policy.decision import Operation, User
from usher.review import redaction
from usher.review.admission_review import API_VERSION, Review, parse

RECORD_VERSION: Final = "gpu-usher.io/v1alpha1"
RECORD_KIND: Final = "ReviewRecord"


class Head(Struct, frozen=True, kw_only=True):
    """The content of a line of the kind ReviewRecord."""

    anonymised: bool
    missing: Mapping[str, int]
    """The number of reviews that were not recorded, by reason."""


class RecordedReview(Struct, frozen=True, kw_only=True):
    """A review and the answer of the server."""

    review: Review
    allowed: bool | None
    """None if the line does not have it."""


def head_line(*, version: str, anonymised: bool, missing: Mapping[str, int] | None = None) -> bytes:
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


def review_line(request: Mapping[str, object], *, recorded: Mapping[str, object]) -> bytes:
    """The line of a review whose secrets are already removed."""
    value = {"apiVersion": API_VERSION, "kind": "AdmissionReview", "recorded": recorded, "request": request}
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def recorded_request(review: Review, *, value: paths.Json, old_value: paths.Json) -> dict[str, object]:
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


def object_line(value: paths.Object, *, number: int, version: str) -> bytes:
    """The line of an existing object, without secrets, as if it were created now.

    Args:
        number: the number of the line, for the uid of the review.
    """
    kept, metadata = redaction.without_secrets(value), paths.metadata(value)
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
    return review_line(request, recorded={"usher": version})


def read_line(data: bytes) -> RecordedReview | Head:
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


_DIGITS: Final = 12
"""Hexadecimal digits of a hash: among a million names, two equal hashes occur in fewer than one case of a hundred."""

_KEPT: Final = frozenset({"", "kube-system"})
_IMAGES: Final = frozenset({"image", "imagename", "driverimage", "executorimage", "baseimage"})
"""Names of fields, in lower case, that hold images."""
_REFERENCES: Final = frozenset(
    {"serviceAccountName", "serviceAccount", "claimName", "secretName", "nodeName", "hostname"}
)
"""Fields that name an object."""
_REFERRING: Final = frozenset(
    {"configMapRef", "secretRef", "configMapKeyRef", "secretKeyRef", "configMap", "secret", "imagePullSecrets"}
)
"""Fields whose `name` is the name of an object."""
_METADATA_NAMES: Final = ("name", "generateName", "namespace")
_SERVICE_ACCOUNT: Final = "system:serviceaccount:"
_NODE: Final = "system:node:"
_COMMON_LABELS: Final = "app.kubernetes.io/"
_NUMBER: Final = re.compile(r"[0-9.]{1,12}|true|false")
"""Values like `gpu-fraction: "0.5"`, which are not names."""


class AnonymousNames(Struct, frozen=True):
    """Replaces names by hashes with one key."""

    key: bytes

    def review(self, review: Review) -> Review:
        """The review without names."""
        names = self._known(review)
        return dataclasses.replace(
            review,
            name=self.name(review.name),
            namespace=self.name(review.namespace),
            user=None if review.user is None else self._user(review.user),
            value=None if review.value is None else self._object(review.value, names),
            old_value=None if review.old_value is None else self._object(review.old_value, names),
        )

    def name(self, name: str, *, start: str = "n") -> str:
        """The hash of a name, itself a valid name."""
        if name in _KEPT:
            return name
        digest = hmac.new(self.key, name.encode(errors="surrogatepass"), hashlib.sha256).hexdigest()
        return f"{start}-{digest[:_DIGITS]}"

    def _known(self, review: Review) -> Mapping[str, str]:
        """The names that may occur anywhere in the object, each with its hash."""
        found = {review.name, review.namespace}
        for value in (review.value, review.old_value):
            metadata = paths.metadata(value or {})
            found.update(paths.text(metadata.get(field)) for field in (*_METADATA_NAMES, "uid"))
            found.update(paths.text(name) for each in _owners(metadata) for name in (each.get("name"), each.get("uid")))
        if review.user is not None:
            found.add(review.user.name)
        return {name: self.name(name) for name in found if name not in _KEPT}

    def _user(self, user: User) -> User:
        return User(name=self._account(user.name), groups=tuple(self._account(group) for group in user.groups))

    def _account(self, name: str) -> str:
        if name.startswith(_SERVICE_ACCOUNT):
            namespace, _, account = name.removeprefix(_SERVICE_ACCOUNT).partition(":")
            own = namespace in _KEPT
            return f"{_SERVICE_ACCOUNT}{self.name(namespace)}:{account if own else self.name(account)}"
        if name.startswith(_NODE):
            return _NODE + self.name(name.removeprefix(_NODE))
        if name.startswith("system:serviceaccounts:"):
            return "system:serviceaccounts:" + self.name(name.removeprefix("system:serviceaccounts:"))
        return name if name.startswith("system:") else self.name(name, start="u")

    def _object(self, value: paths.Object, names: Mapping[str, str]) -> paths.Object:
        return {key: self._value(each, key, names) for key, each in value.items()}

    def _value(self, value: paths.Json, key: str, names: Mapping[str, str]) -> paths.Json:
        if isinstance(value, str):
            return self._text(value, key, names)
        if isinstance(value, list):
            return [self._value(each, key, names) for each in value]
        if not isinstance(value, dict):
            return value
        if key in ("labels", "annotations", "matchLabels"):
            return {name: self._label(name, each, names) for name, each in value.items()}
        if key == "metadata":
            return {field: self._name_or_value(field, each, names) for field, each in value.items()}
        if key in _REFERRING and isinstance(named := value.get("name"), str):
            value = {**value, "name": self.name(named)}
        return {name: self._value(each, name, names) for name, each in value.items()}

    def _name_or_value(self, field: str, value: paths.Json, names: Mapping[str, str]) -> paths.Json:
        if field in _METADATA_NAMES and isinstance(value, str):
            return self.name(value)
        return self._value(value, field, names)

    def _label(self, name: str, value: paths.Json, names: Mapping[str, str]) -> paths.Json:
        """The value of a label. usher knows the meaning of labels with a domain; the values of others are words of the
        site.
        """
        plain = "/" not in name or name.startswith(_COMMON_LABELS)
        if isinstance(value, str) and plain and not _NUMBER.fullmatch(value):
            return self.name(value, start="l")
        return self._value(value, name, names)

    def _text(self, text: str, key: str, names: Mapping[str, str]) -> str:
        if text in names:
            return names[text]
        if key in _REFERENCES:
            return self.name(text)
        return self.name(text, start="image") if key.lower() in _IMAGES else text


def _owners(metadata: Mapping[str, paths.Json]) -> list[paths.Object]:
    references = metadata.get("ownerReferences")
    return [each for each in references if isinstance(each, dict)] if isinstance(references, list) else []
