"""Constraints: the template, the matched objects, the parameters, and the outcome of a violation.

The actions are those of Gatekeeper (pkg/util/enforcement_action.go). A constraint with `scoped` has actions for each
enforcement point: the webhook, the audit, the command line.
"""

from collections.abc import Collection
from typing import Final

from usher import model, paths
from usher.dataclass import dataclass
from usher.gatekeeper import matching
from usher.gatekeeper.fields import Fields, Written, group_and_kind, top

GROUP: Final = "constraints.gatekeeper.sh"

WEBHOOK: Final = "validation.gatekeeper.sh"
AUDIT: Final = "audit.gatekeeper.sh"
COMMAND: Final = "gator.gatekeeper.sh"
_POINTS: Final = (WEBHOOK, AUDIT, COMMAND, "vap.k8s.io", "*")

_OUTCOMES: Final = {"deny": model.Outcome.DENY, "warn": model.Outcome.WARN, "dryrun": model.Outcome.AUDIT}
_SCOPED: Final = "scoped"
_MOST: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """A constraint."""

    kind: str
    """The kind of the constraint, which its template defines."""
    name: str
    match: matching.Match
    parameters: paths.Object
    has_parameters: bool = True
    """Whether the constraint has the field; the schema of a template applies only to the field."""
    actions: tuple[tuple[str, model.Outcome], ...]
    """Enforcement points and the outcome of a violation there; `*` means every point."""
    place: str = ""
    value: paths.Object
    """The object, as written."""

    @property
    def key(self) -> str:
        return f"{self.kind}/{self.name}"

    def outcome(self, points: Collection[str]) -> model.Outcome | None:
        """The worst outcome of a violation at any of these points; None if the constraint does not apply there."""
        found = {outcome for point, outcome in self.actions if point == "*" or point in points}
        return next((outcome for outcome in model.Outcome if outcome in found), None)


def is_constraint(value: paths.Object) -> bool:
    return group_and_kind(value)[0] == GROUP


def read(written: Written) -> Constraint:
    """The constraint in an object.

    Raises:
        InputError: Gatekeeper would refuse it, or it has a criterion or an action that usher does not know.
    """
    fields = top(written)
    spec = fields.mapping("spec")
    parameters = spec.get("parameters")
    return Constraint(
        kind=fields.required("kind"),
        name=fields.mapping("metadata").required("name"),
        match=matching.read(spec.mapping("match")),
        has_parameters=parameters is not None,
        parameters=parameters if isinstance(parameters, dict) else dict(spec.mapping("parameters").values),
        actions=_actions(spec),
        place=written.place,
        value=written.value,
    )


def _actions(spec: Fields) -> tuple[tuple[str, model.Outcome], ...]:
    action = spec.text("enforcementAction", "deny") or "deny"
    if action != _SCOPED:
        return (("*", _outcome(spec, "enforcementAction", action, more=(_SCOPED,))),)
    scoped = spec.mappings("scopedEnforcementActions", most=_MOST)
    if not scoped:
        raise spec.wrong("scopedEnforcementActions", "is missing; enforcementAction: scoped needs it")
    found = []
    for each in scoped:
        outcome = _outcome(each, "action", each.required("action"))
        for point in each.mappings("enforcementPoints", most=_MOST):
            name = point.required("name")
            if name not in _POINTS:
                raise point.wrong("name", f"must be one of {', '.join(_POINTS)}")
            found.append((name, outcome))
    return tuple(found)


def _outcome(fields: Fields, name: str, action: str, *, more: tuple[str, ...] = ()) -> model.Outcome:
    if action not in _OUTCOMES:
        raise fields.wrong(name, f"{action!r:.40} is no action of Gatekeeper; use {', '.join((*_OUTCOMES, *more))}")
    return _OUTCOMES[action]
