"""Removes the names of an object and its user, for a record of reviews that leaves the site. Pure; it makes new values.

Names of namespaces, objects, users, groups and images become a keyed hash, so equal names stay equal within one key.
Kubernetes' own names stay: `system:` users and groups, and the namespace kube-system. The names of containers, queues,
classes, variables and resources stay too, and so do arguments of programs and labels with a domain.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from usher import paths
from usher.dataclass import dataclass
from usher.policy.decision import User
from usher.review.parsing import Review

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


@dataclass(frozen=True, slots=True)
class Names:
    """Replaces names by hashes with one key."""

    key: bytes

    def review(self, review: Review) -> Review:
        """The review without names."""
        names = self._known(review)
        return replace(
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
