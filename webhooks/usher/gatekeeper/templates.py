"""ConstraintTemplates: the Rego of a policy, the kind of its constraints, and the schema of their parameters.

The fields are those of templates.gatekeeper.sh v1, v1beta1 and v1alpha1 (open-policy-agent/frameworks,
constraint/pkg/apis/templates), which do not differ in what usher reads.
"""

import json
import re
from typing import Final

from usher import paths
from usher.dataclass import dataclass
from usher.gatekeeper.fields import Fields, Written, group_and_kind, top

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
_KIND_NAME: Final = re.compile(r"[A-Z][A-Za-z0-9]{0,62}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rego:
    """The source of a policy."""

    text: str
    libraries: tuple[str, ...] = ()
    version: str = "v0"
    """The syntax: `v0` or `v1`, as in Gatekeeper."""

    @property
    def reads_inventory(self) -> bool:
        """Whether it may read other objects of the cluster."""
        return any("inventory" in text for text in (self.text, *self.libraries))


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
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


def read(written: Written) -> Template:
    """The template in an object.

    Raises:
        InputError: Gatekeeper would refuse it, or it is larger than usher allows.
    """
    fields = top(written)
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
