"""ConstraintTemplates: the Rego of a policy, the kind of its constraints, and the schema of their parameters.

The fields are those of templates.gatekeeper.sh v1, v1beta1 and v1alpha1 (open-policy-agent/frameworks,
constraint/pkg/apis/templates), which do not differ in what usher reads.
"""

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from usher import errors, memo, paths

NO_FIELDS: Final[Mapping[str, paths.Json]] = MappingProxyType({})


class Written(Struct, frozen=True, kw_only=True):
    """One object of a file, and the line of its start."""

    value: paths.Object
    source: str
    """File name as the user wrote it."""
    line: int = 0
    """First line of its document; 0 where unknown."""

    @property
    def place(self) -> str:
        return f"{self.source}:{self.line}" if self.line else self.source

    def wrong(self, field: str, reason: str) -> errors.InputError:
        return errors.InputError(f"{self.place}: {field}: {reason}")


class Fields(Struct, frozen=True, kw_only=True):
    """The fields of a mapping within an object. A missing field and null are the same."""

    written: Written
    path: str
    """Path of the mapping; empty for the object itself."""
    values: Mapping[str, paths.Json]

    def at(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def wrong(self, name: str, reason: str) -> errors.InputError:
        return self.written.wrong(self.at(name), reason)

    def get(self, name: str) -> paths.Json:
        return self.values.get(name)

    def text(self, name: str, default: str = "") -> str:
        value = self.values.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.wrong(name, f"must be a text, and is {kind_in_words(value)}")
        return value

    def required(self, name: str) -> str:
        """A text that is not empty."""
        value = self.text(name)
        if not value:
            raise self.wrong(name, "is missing")
        return value

    def mapping(self, name: str) -> "Fields":
        """The mapping in a field; without fields where it is missing."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, dict):
            raise self.wrong(name, f"must be a mapping, and is {kind_in_words(value)}")
        return Fields(written=self.written, path=self.at(name), values=NO_FIELDS if value is None else value)

    def items(self, name: str, *, most: int) -> "list[paths.Json]":
        """The list in a field; empty where it is missing."""
        value = self.values.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong(name, f"must be a list, and is {kind_in_words(value)}")
        if len(value) > most:
            raise self.wrong(name, f"has {len(value)} items; usher takes {most} at most")
        return value

    def mappings(self, name: str, *, most: int) -> "list[Fields]":
        found = []
        for index, value in enumerate(self.items(name, most=most)):
            if not isinstance(value, dict):
                raise self.wrong(f"{name}[{index}]", f"must be a mapping, and is {kind_in_words(value)}")
            found.append(Fields(written=self.written, path=self.at(f"{name}[{index}]"), values=value))
        return found

    def texts(self, name: str, *, most: int) -> tuple[str, ...]:
        """The texts of a list."""
        items = self.items(name, most=most)
        for index, value in enumerate(items):
            if not isinstance(value, str):
                raise self.wrong(f"{name}[{index}]", f"must be a text, and is {kind_in_words(value)}")
        return tuple(value for value in items if isinstance(value, str))


def top_fields(written: Written) -> Fields:
    """The fields of the object itself."""
    return Fields(written=written, path="", values=written.value)


def group_and_kind(value: paths.Object) -> tuple[str, str]:
    """API group and kind; each empty where it is missing or not a text."""
    group, slash, _ = paths.text(value.get("apiVersion")).rpartition("/")
    return (group if slash else ""), paths.text(value.get("kind"))


def kind_in_words(value: paths.Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case dict():
            return "a mapping"


GROUP: Final = "templates.gatekeeper.sh"
KIND: Final = "ConstraintTemplate"
TARGET: Final = "admission.k8s.gatekeeper.sh"
"""The one target that Gatekeeper has: objects that come to the API server."""

ENGINE: Final = "Rego"
CEL: Final = "K8sNativeValidation"

MOST_TEXT: Final = 2**20
"""Characters of the Rego of one template, with its libraries."""
_MOST_LIBRARIES: Final = 100
_MOST_ENGINES: Final = 16
MOST_KINDS: Final = 256
"""Kinds that one template compares with."""
_MOST_ANNOTATION: Final = 2**14
_SYNC: Final = "metadata.gatekeeper.sh/requires-sync-data"
"""The annotation with the kinds that a template compares with (open-policy-agent/gatekeeper, website/docs/sync.md)."""
_KIND_NAME: Final = memo.pattern(r"[A-Z][A-Za-z0-9]{0,62}", re.ASCII)


class Rego(Struct, frozen=True, kw_only=True):
    """The source of a policy."""

    text: str
    libraries: tuple[str, ...] = ()
    version: str = "v0"
    """The syntax: `v0` or `v1`, as in Gatekeeper."""

    @property
    def reads_inventory(self) -> bool:
        """Whether it may read other objects of the cluster."""
        return any("inventory" in text for text in (self.text, *self.libraries))


class Template(Struct, frozen=True, kw_only=True):
    """A ConstraintTemplate."""

    kind: str
    """The kind of its constraints."""
    rego: Rego | None
    """None if usher cannot evaluate it."""
    not_evaluated: str = ""
    """Why usher cannot evaluate it; empty if it can."""
    schema: paths.Json = None
    """The OpenAPI schema of `spec.parameters`; None without one."""
    place: str = ""
    compares_with: tuple[tuple[str, str], ...] = ()
    """Group and kind of the objects that it needs in `data.inventory`, from its annotation."""


def is_template(value: paths.Object) -> bool:
    return group_and_kind(value) == (GROUP, KIND)


def read_template(written: Written) -> Template:
    """The template in an object.

    Raises:
        InputError: Gatekeeper would refuse it, or it is larger than usher allows.
    """
    fields = top_fields(written)
    crd = fields.mapping("spec").mapping("crd").mapping("spec")
    kind = crd.mapping("names").required("kind")
    if not _KIND_NAME.fullmatch(kind):
        raise crd.mapping("names").wrong("kind", f"{kind!r:.80} is not a kind; write one like K8sRequiredLabels")
    name = fields.mapping("metadata").text("name")
    if name != kind.lower():
        raise fields.mapping("metadata").wrong("name", f"must be the kind in small letters: {kind.lower()}")
    targets = fields.mapping("spec").mappings("targets", most=_MOST_ENGINES)
    if len(targets) != 1:
        raise fields.mapping("spec").wrong("targets", f"must have one target, and has {len(targets)}")
    rego, reason = _source(targets[0])
    return Template(
        kind=kind,
        rego=rego,
        not_evaluated=reason,
        schema=crd.mapping("validation").get("openAPIV3Schema"),
        place=written.place,
        compares_with=_compared(fields.mapping("metadata").mapping("annotations").text(_SYNC)),
    )


def _compared(annotation: str) -> tuple[tuple[str, str], ...]:
    """The kinds of an annotation: a list of alternatives in JSON, each a list of groups, versions and kinds.

    Gatekeeper only warns of an annotation that it cannot read.
    """
    try:
        found = json.loads(annotation[:_MOST_ANNOTATION] or "[]")
    except (ValueError, RecursionError):
        return ()
    entries = [each for one in _listed(found) for each in _listed(one) if isinstance(each, dict)]
    pairs = {
        (group, kind)
        for each in entries
        for group in _listed(each.get("groups"))
        for kind in _listed(each.get("kinds"))
        if isinstance(group, str) and isinstance(kind, str)
    }
    return tuple(sorted(pairs)[:MOST_KINDS])


def _listed(value: paths.Json) -> list[paths.Json]:
    return value[:_MOST_ENGINES] if isinstance(value, list) else []


def _source(target: Fields) -> tuple[Rego | None, str]:
    """The Rego of a target, or why usher cannot evaluate it."""
    if target.text("target") != TARGET:
        return None, f"its target is {target.text('target')!r:.80}; usher evaluates {TARGET} only"
    engines = {each.text("engine"): each for each in target.mappings("code", most=_MOST_ENGINES)}
    if ENGINE in engines:
        found = engines[ENGINE].mapping("source")
    elif CEL in engines:
        return None, f"it is written in CEL ({CEL}) alone; usher evaluates Rego"
    elif engines:
        return None, f"its engines are {', '.join(sorted(engines))!r:.80}; usher evaluates Rego"
    else:
        found = target
    rego = Rego(
        text=found.required("rego"),
        libraries=found.texts("libs", most=_MOST_LIBRARIES),
        version="v1" if found.text("version") == "v1" else "v0",
    )
    if sum(map(len, (rego.text, *rego.libraries))) > MOST_TEXT:
        raise found.wrong("rego", f"is longer than {MOST_TEXT} characters with its libraries; divide the policy")
    return rego, ""
