"""Judges the objects of a run by policies of Gatekeeper, beside usher's own checks, and says what they found."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from usher import model, paths
from usher.dataclass import dataclass
from usher.facts.store import Store
from usher.gatekeeper import constraints, inventory, matching, reviews
from usher.gatekeeper.evaluation import NotJudged, Policies, Violation
from usher.reading.lookup import Reference
from usher.scan import findings, objects, scopes
from usher.scan.batches import Item
from usher.scan.positions import Pointer

POINTS: Final = (constraints.WEBHOOK, constraints.COMMAND)
"""`usher check` says what the cluster will say, and also has the actions that are for a command line alone."""

PREFIX: Final = "gatekeeper/"
"""What the key of a policy begins with, in place of the category of a check."""

_ORDER: Final = {outcome: number for number, outcome in enumerate(model.Outcome)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What policies found in one object."""

    violations: tuple[findings.Finding, ...] = ()
    not_judged: tuple[findings.NotJudged, ...] = ()

    def combined(self, result: findings.Result) -> findings.Result:
        """The result of an object with what policies found as well, the worst finding first."""
        if not (self.violations or self.not_judged):
            return result
        both = sorted((*result.findings, *self.violations), key=lambda each: _ORDER[each.judgement.outcome])
        return replace(result, findings=tuple(both), not_judged=(*result.not_judged, *self.not_judged))

    def result(self, item: Item, source: str, identity: findings.Identity) -> findings.Result | None:
        """The result of an object that is not a workload; None where policies found nothing."""
        if not (self.violations or self.not_judged):
            return None
        return findings.Result(
            source=source,
            line=item.document.line if item.document is not None else 0,
            identity=identity,
            role=model.Role.UNKNOWN,
            pods=model.Count(minimum=0, maximum=0),
            accelerators={},
            findings=self.violations,
            not_judged=self.not_judged,
            makes_pods=False,
        )


class SitePolicies:
    """The policies of one run, and the objects that they compare with: all objects of the run."""

    def __init__(self, policies: Policies, items: Iterable[Item], *, namespace: str, facts: Store) -> None:
        """Prepares a run.

        Raises:
            InputError: the policies compare objects, and the objects of the run are too large for that.
            EngineError: they do not fit into the memory of a policy.
        """
        self._policies = policies
        self._namespace = namespace
        self._facts = facts
        self._unevaluated = Counter[str]()
        values = [scopes.placed(item.value, namespace=namespace) for item in items if _is_object(item.value)]
        self._namespaces = {
            paths.text(paths.metadata(value).get("name")): value for value in values if matching.is_namespace(value)
        }
        policies.compare_with(lambda: inventory.data(values))

    def judged(self, item: Item, value: paths.Object) -> Found:
        """What the policies find in an object, as the API server would show it to them; findings are worst first."""
        if not _is_object(value):
            return Found()
        placed = scopes.placed(value, namespace=self._namespace)
        name = paths.text(paths.metadata(placed).get("namespace"))
        review = reviews.of_object(placed, operation="CREATE", namespace=self._namespaces.get(name))
        known = self._namespaces.get(name) or (self._known_namespace(name) if name else None)
        review = replace(review, subjects=tuple(replace(each, namespace=known) for each in review.subjects))
        self._unevaluated.update(self._policies.unevaluated(review, POINTS))
        place = Pointer(item).place(paths.ROOT)
        found = list(self._policies.judged(review, POINTS))
        violations = sorted(
            (each for each in found if isinstance(each, Violation)), key=lambda each: _ORDER[each.outcome]
        )
        return Found(
            violations=tuple(_finding(each, place) for each in violations),
            not_judged=tuple(_not_judged(each, place) for each in found if isinstance(each, NotJudged)),
        )

    def not_evaluated(self) -> tuple[findings.NotEvaluated, ...]:
        """The templates that were not evaluated, with the number of objects that their constraints are about."""
        return tuple(
            findings.NotEvaluated(
                check=f"{PREFIX}{kind}",
                code=kind,
                name="",
                reason=self._policies.not_evaluated[kind],
                workloads=number,
                required=True,
            )
            for kind, number in sorted(self._unevaluated.items())
        )

    def _known_namespace(self, name: str) -> paths.Object | None:
        """A Namespace among the facts: its labels are known, its other fields are not."""
        found = self._facts.find(Reference(group="", kind="Namespace", name=name))
        return found if isinstance(found, dict) else None


def _is_object(value: paths.Object) -> bool:
    return bool(value.get("apiVersion")) and not objects.why_not_object(value)


def _finding(violation: Violation, place: findings.Place | None) -> findings.Finding:
    constraint = violation.constraint
    return findings.Finding(
        judgement=model.Judgement(
            finding=model.Finding(
                check=f"{PREFIX}{constraint.key}", path=paths.ROOT, message=violation.message or "(no message)"
            ),
            outcome=violation.outcome,
            code=constraint.kind,
            name=constraint.name,
        ),
        place=place,
        pod_set=None,
    )


def _not_judged(entry: NotJudged, place: findings.Place | None) -> findings.NotJudged:
    reason = f"{entry.constraint.key}: {entry.reason}"
    return findings.NotJudged(unknown=model.Unknown(path=paths.ROOT, reason=reason), place=place)
