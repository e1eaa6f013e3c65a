"""Judges the objects of a run by Gatekeeper policies, in addition to usher's own checks."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from usher import errors, model, paths
from usher.cluster.facts.store import Store
from usher.config.models import EXEMPTION_LABEL
from usher.dataclass import dataclass
from usher.gatekeeper import constraints, inventory, judgements, matching, reviews
from usher.gatekeeper.evaluation import NotJudged, Policies, Violation
from usher.kinds.reading.values import Reference
from usher.model.decisions import GATEKEEPER
from usher.scan import findings, objects, scopes
from usher.scan.batches import Item
from usher.scan.positions import Pointer

CHECK: Final = (constraints.WEBHOOK, constraints.COMMAND)
"""The points of `usher check`: those of the cluster, and actions that only apply to a command line."""

AUDIT: Final = (constraints.AUDIT,)

_ORDER: Final = {outcome: number for number, outcome in enumerate(model.Outcome)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The findings of policies in one object."""

    violations: tuple[findings.Finding, ...] = ()
    not_judged: tuple[findings.NotJudged, ...] = ()

    def combined(self, result: findings.Result) -> findings.Result:
        """The result of an object with the findings of policies added, the worst finding first."""
        if not (self.violations or self.not_judged):
            return result
        both = sorted((*result.findings, *self.violations), key=lambda each: _ORDER[each.judgement.outcome])
        return replace(result, findings=tuple(both), not_judged=(*result.not_judged, *self.not_judged))

    def result(self, item: Item, source: str, identity: findings.Identity) -> findings.Result | None:
        """The result of an object that is not a workload; None if policies found nothing."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a command uses policies."""

    points: tuple[str, ...]
    """The enforcement points whose constraints count."""
    operation: str = ""
    namespace: str = ""
    """The namespace of objects without one."""
    only_namespace: str = ""
    """Only judge objects of this namespace; empty for all namespaces."""
    too_large: str = ""
    """Why usher does not evaluate policies that compare objects when the objects are too large; empty to raise an
    error.
    """


class SitePolicies:
    """The policies of one run, and the objects with which they compare: all objects of the run."""

    def __init__(
        self,
        policies: Policies,
        items: Iterable[Item],
        *,
        way: Way,
        facts: Store,
        is_exempt: Callable[[str], bool],
    ) -> None:
        """Prepares a run; `is_exempt` is true for namespaces that usher.yaml exempts, which the webhook skips.

        Raises:
            InputError: the policies compare objects, and the objects of the run are too large for that.
            EngineError: they do not fit into the memory of a policy.
        """
        self._policies = policies
        self._way = way
        self._facts = facts
        self._is_exempt = is_exempt
        self._unevaluated = Counter[str]()
        values = [scopes.placed(item.value, namespace=way.namespace) for item in items if _is_object(item.value)]
        self._namespaces = {_name(value): value for value in values if matching.is_namespace(value)}
        try:
            policies.compare_with(lambda: inventory.data(values))
        except (errors.EngineError, errors.InputError):
            if not way.too_large:
                raise
            policies.leave_out_inventory(way.too_large)

    def judged(self, item: Item, value: paths.Object) -> Found:
        """The findings of the policies for an object, in the form that the API server sends; findings are
        worst first.
        """
        if not _is_object(value):
            return Found()
        points = self._way.points
        placed = scopes.placed(value, namespace=self._way.namespace)
        name = paths.text(paths.metadata(placed).get("namespace"))
        if matching.is_namespace(placed):
            self._namespaces.setdefault(_name(placed), placed)
        known = self._namespaces.get(name) or (self._known_namespace(name) if name else None)
        if self._is_left_out(placed, name, known):
            return Found()
        review = reviews.of_object(placed, operation=self._way.operation, namespace=self._namespaces.get(name))
        review = replace(review, subjects=tuple(replace(each, namespace=known) for each in review.subjects))
        self._unevaluated.update(self._policies.unevaluated(review, points))
        place = Pointer(item).place(paths.ROOT)
        found = list(self._policies.judged(review, points))
        violations = sorted(
            (each for each in found if isinstance(each, Violation)), key=lambda each: _ORDER[each.outcome]
        )
        return Found(
            violations=tuple(_finding(each, place) for each in violations),
            not_judged=tuple(_not_judged(each, place) for each in found if isinstance(each, NotJudged)),
        )

    def not_evaluated(self) -> tuple[findings.NotEvaluated, ...]:
        """The templates that were not evaluated, each with the number of objects that its constraints match."""
        return tuple(
            findings.NotEvaluated(
                check=f"{GATEKEEPER}{kind}",
                code=kind,
                name="",
                reason=self._policies.not_evaluated[kind],
                workloads=number,
                required=True,
            )
            for kind, number in sorted(self._unevaluated.items())
        )

    def _is_left_out(self, value: paths.Object, namespace: str, known: paths.Object | None) -> bool:
        """Whether the API server sends the object to no webhook, or the run covers another namespace."""
        if self._way.only_namespace and namespace != self._way.only_namespace:
            return True
        exempt = known is not None and matching.labels(known).get(EXEMPTION_LABEL) == "true"
        return exempt or self._is_exempt(namespace or (_name(value) if matching.is_namespace(value) else ""))

    def _known_namespace(self, name: str) -> paths.Object | None:
        """A Namespace from the facts, which know its labels but not its other fields."""
        found = self._facts.find(Reference(group="", kind="Namespace", name=name))
        return found if isinstance(found, dict) else None


def _name(value: paths.Object) -> str:
    return paths.text(paths.metadata(value).get("name"))


def _is_object(value: paths.Object) -> bool:
    return bool(value.get("apiVersion")) and not objects.why_not_object(value)


def _finding(violation: Violation, place: findings.Place | None) -> findings.Finding:
    return findings.Finding(judgement=judgements.of_violation(violation), place=place, pod_set=None)


def _not_judged(entry: NotJudged, place: findings.Place | None) -> findings.NotJudged:
    return findings.NotJudged(unknown=judgements.of_not_judged(entry), place=place)
