"""Evaluates a library for one review after another, in the sandbox of the embedded engine."""

from collections.abc import Callable, Collection, Iterator
from typing import Final

import orjson

from usher import errors, model, paths
from usher.dataclass import dataclass
from usher.gatekeeper import matched_kinds, matching
from usher.gatekeeper.compilation import ENTRYPOINT
from usher.gatekeeper.constraints import Constraint
from usher.gatekeeper.fields import group_and_kind
from usher.gatekeeper.library import Library
from usher.gatekeeper.matched_kinds import MatchedKind
from usher.gatekeeper.reviews import Review
from usher.policy.engines.engine import DEFAULT_DEADLINE
from usher.policy.engines.host_functions import PURE
from usher.policy.engines.wasm import MEMORY_LIMIT, REBUILD_ABOVE, WasmEngine
from usher.policy.engines.wasm_runtime import Sandbox

LONGEST_MESSAGE: Final = 10_000
"""Characters of a message; the rest is cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A finding of a constraint in an object."""

    constraint: Constraint
    outcome: model.Outcome
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotJudged:
    """A constraint that could not be evaluated for an object: neither a pass nor a violation."""

    constraint: Constraint
    reason: str
    namespace_unknown: bool = False
    """Whether labels of an unknown Namespace decide whether the constraint matches the object."""


class Policies:
    """A library that is ready to judge. Any thread may use it."""

    def __init__(
        self,
        library: Library,
        *,
        deadline: float = DEFAULT_DEADLINE,
        memory_limit: int = MEMORY_LIMIT,
        rebuild_above: int = REBUILD_ABOVE,
    ) -> None:
        """Starts every module; a module that cannot be started is left out, with a reason.

        Args:
            library: templates and constraints.
            deadline: seconds for one constraint and one object.
            memory_limit: bytes of each policy in each thread.
            rebuild_above: bytes of memory that a policy keeps for the next object.
        """
        self.library = library
        self._sandbox = Sandbox(deadline=deadline)
        self._engines: dict[str, WasmEngine] = {}
        self.not_evaluated: dict[str, str] = {}
        """Why templates are not evaluated, by kind."""
        self._kinds: dict[tuple[str, ...], tuple[MatchedKind, ...]] = {}
        for kind, each in library.templates.items():
            if each.module is None:
                self.not_evaluated[kind] = each.template.not_evaluated
                continue
            try:
                self._engines[kind] = WasmEngine(
                    each.module,
                    memory_limit=memory_limit,
                    rebuild_above=rebuild_above,
                    sandbox=self._sandbox,
                    entrypoints=(ENTRYPOINT,),
                    functions=PURE,
                )
            except errors.EngineError as error:
                self.not_evaluated[kind] = str(error)

    @property
    def reads_inventory(self) -> bool:
        """Whether a policy may compare with other objects."""
        return any(self._reads_inventory(kind) for kind in self._engines)

    def may_match(self, value: paths.Object, points: tuple[str, ...]) -> bool:
        """Whether a constraint for these enforcement points may match an object, by its kind alone."""
        kinds = self._kinds.get(points)
        if kinds is None:
            kinds = self._kinds[points] = matched_kinds.of(self.library, points)
        group, kind = group_and_kind(value)
        return any(each.includes(group, kind) for each in kinds)

    def compare_with(self, data: Callable[[], bytes]) -> None:
        """Sets the objects that policies compare with, as `inventory.data` makes them, if a policy does so.

        Raises:
            EngineError: they do not fit into the memory of a policy.
        """
        if not self.reads_inventory:
            return
        made = data()
        for kind, engine in self._engines.items():
            if self._reads_inventory(kind):
                self._engines[kind] = engine.with_data(made)

    def leave_out_inventory(self, reason: str) -> None:
        """Leaves out every policy that may compare with other objects, for this reason."""
        for kind in [kind for kind in self._engines if self._reads_inventory(kind)]:
            del self._engines[kind]
            self.not_evaluated[kind] = reason

    def unevaluated(self, review: Review, points: Collection[str]) -> Iterator[str]:
        """The kinds of constraints that match an object and whose templates are not evaluated, each once."""
        found = set[str]()
        for constraint in self.library.constraints:
            kind = constraint.kind
            if kind in self.not_evaluated and kind not in found and constraint.outcome(points) is not None:
                if _matches(constraint, review) is False:
                    continue
                found.add(kind)
                yield kind

    def judged(self, review: Review, points: Collection[str]) -> Iterator[Violation | NotJudged]:
        """The violations of the constraints for these enforcement points, in their order."""
        text: orjson.Fragment | None = None
        for constraint in self.library.constraints:
            outcome = constraint.outcome(points)
            engine = self._engines.get(constraint.kind)
            if outcome is None or engine is None:
                continue
            matched = _matches(constraint, review)
            if matched is None:
                yield _namespace_unknown(constraint, review)
            if not matched:
                continue
            if text is None:
                text = orjson.Fragment(orjson.dumps(review.document))
            document = orjson.dumps({"review": text, "parameters": constraint.parameters})
            try:
                messages = _messages(engine.evaluate(ENTRYPOINT, document))
            except errors.EngineError as error:
                yield NotJudged(constraint=constraint, reason=str(error))
                continue
            for message in messages:
                yield Violation(constraint=constraint, outcome=outcome, message=message)

    def close(self) -> None:
        self._sandbox.close()

    def _reads_inventory(self, kind: str) -> bool:
        return self.library.templates[kind].reads_inventory


def _namespace_unknown(constraint: Constraint, review: Review) -> NotJudged:
    name = paths.text(review.document.get("namespace"))
    reason = f"its namespaceSelector asks for labels of the Namespace {name:.63}, which is not known; give its manifest"
    return NotJudged(constraint=constraint, reason=reason, namespace_unknown=True)


def _matches(constraint: Constraint, review: Review) -> bool | None:
    """Whether a constraint matches one of the objects of a review; None if this is unknown."""
    found = [matching.matches(constraint.match, subject) for subject in review.subjects]
    return True if any(found) else None if None in found else False


def _messages(result: paths.Object) -> list[str]:
    """The message of each violation.

    Raises:
        EngineError: the module is not one that usher compiled.
    """
    violations = result.get("violations")
    if not isinstance(violations, list):
        raise errors.EngineError("the compiled template gave no list of violations")
    messages = []
    for violation in violations:
        message = violation.get("msg") if isinstance(violation, dict) else None
        if not isinstance(message, str):
            # Gatekeeper takes only a text: constraint/pkg/client/drivers, ToResult.
            raise errors.EngineError("the message of a violation is not a text")
        messages.append(message[:LONGEST_MESSAGE])
    return messages
