"""Evaluates a library for one review after another, in the sandbox of the embedded engine.

As in Gatekeeper it has all fields of an AdmissionRequest; unknown ones are empty.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final

import orjson
from msgspec import Struct
from msgspec.structs import replace

from usher import errors, model, paths
from usher.extensions.gatekeeper import constraints
from usher.extensions.gatekeeper import library as gatekeeper_library
from usher.extensions.gatekeeper.constraint_templates import Fields, Written, group_and_kind, top_fields
from usher.extensions.gatekeeper.constraints import Constraint, Subject, is_namespace
from usher.extensions.gatekeeper.library import ENTRYPOINT, Library, MatchedKind
from usher.model.workload import GATEKEEPER
from usher.policy.engines.engine import DEFAULT_DEADLINE
from usher.policy.engines.host_functions import PURE
from usher.policy.engines.wasm import MEMORY_LIMIT, REBUILD_ABOVE, WasmEngine
from usher.policy.engines.wasm_runtime import Sandbox

LARGEST_INVENTORY: Final = 32 * 2**20
"""Bytes of all objects as JSON. The memory of a policy has 128 MiB, and an object takes about three times its text."""


def inventory_data(objects: Iterable[paths.Object]) -> bytes:
    """The base data of a policy: objects by namespace (or `cluster`), apiVersion, kind and name; the last one wins.

    Raises:
        InputError: together they are larger than LARGEST.
    """
    found: paths.Object = {"namespace": {}, "cluster": {}}
    for value in objects:
        metadata = paths.metadata(value)
        namespace = paths.text(metadata.get("namespace"))
        version, kind = paths.text(value.get("apiVersion")), paths.text(value.get("kind"))
        above = ("namespace", namespace) if namespace else ("cluster",)
        below = found
        for key in (*above, version, kind):
            inner = below.setdefault(key, {})
            assert isinstance(inner, dict)  # noqa: S101 - made here
            below = inner
        below[paths.text(metadata.get("name"))] = value
    text = orjson.dumps({"inventory": found})
    if len(text) > LARGEST_INVENTORY:
        raise errors.InputError(
            f"the objects that policies compare with have {len(text)} bytes, and usher takes {LARGEST_INVENTORY}; "
            "check fewer "
            "files at once"
        )
    return text


_REVIEW: Final = ("admission.k8s.io", "AdmissionReview")


class Review(Struct, frozen=True, kw_only=True):
    """The input of a policy for a request, and the objects that constraints are matched with."""

    document: paths.Object
    subjects: tuple[Subject, ...]
    """The object, and the old one of an UPDATE: a constraint matches the request if it matches either."""


def review_of_object(value: paths.Object, *, operation: str = "", namespace: paths.Object | None = None) -> Review:
    """The review of an object that is applied.

    Args:
        operation: `CREATE`, or empty as in gator.
        namespace: the object of its Namespace, if it is known.
    """
    api_version = paths.text(value.get("apiVersion"))
    group, kind = group_and_kind(value)
    metadata = paths.metadata(value)
    document: paths.Object = {
        "uid": "",
        "kind": {"group": group, "version": api_version.rpartition("/")[2], "kind": kind},
        "resource": {"group": "", "version": "", "resource": ""},
        "operation": operation,
        "userInfo": {},
        "object": value,
        "oldObject": None,
        "options": None,
        "namespaceObject": namespace,
    }
    for field in ("name", "namespace"):
        if text := paths.text(metadata.get(field)):
            document[field] = text
    return Review(document=document, subjects=(Subject(value=value, namespace=namespace),))


def is_admission_review(value: paths.Object) -> bool:
    return group_and_kind(value) == _REVIEW


def review_of_admission_review(written: Written) -> Review:
    """The review in an AdmissionReview. A DELETE has the old object as its object, as in Gatekeeper.

    Raises:
        InputError: it has no request, or neither an object nor an old one.
    """
    request = top_fields(written).mapping("request")
    if request.get("operation") == "DELETE" and request.get("oldObject") is None:
        raise request.wrong("oldObject", "is missing; a DELETE has its object there")
    objects = {name: _object(request, name) for name in ("object", "oldObject")}
    made = review_of_request({**request.values, **objects})
    if made is None:
        raise request.wrong("object", "is missing, and so is oldObject; one of them is judged")
    return made


def review_of_request(request: paths.Object, *, namespace: paths.Object | None = None) -> Review | None:
    """The review of an AdmissionRequest; None if it has no object. A DELETE has the old object as its object.

    Args:
        request: as the API server sends it; a value that is not a mapping counts as no object.
        namespace: the object of its Namespace, if it is known.
    """
    old, value = (each if isinstance(each := request.get(name), dict) else None for name in ("oldObject", "object"))
    if request.get("operation") == "DELETE":
        value = old
    subjects = tuple(Subject(value=each, namespace=namespace) for each in (value, old) if each is not None)
    if not subjects:
        return None
    document: paths.Object = {
        "uid": "",
        "operation": "",
        "userInfo": {},
        "options": None,
        "namespaceObject": namespace,
        **request,
        "object": value,
        "oldObject": old,
    }
    return Review(document=document, subjects=subjects)


def review_with_namespaces(review: Review, others: Iterable[paths.Object]) -> Review:
    """The same review; its objects are matched with their Namespace if this is among other objects."""
    name = paths.text(review.document.get("namespace"))
    found = [each for each in others if name and is_namespace(each) and paths.metadata(each).get("name") == name]
    if not found:
        return review
    return replace(review, subjects=tuple(replace(subject, namespace=found[-1]) for subject in review.subjects))


def _object(request: Fields, name: str) -> paths.Object | None:
    value = request.mapping(name)
    return dict(value.values) if request.get(name) is not None else None


LONGEST_MESSAGE: Final = 10_000
"""Characters of a message; the rest is cut."""


class Violation(Struct, frozen=True, kw_only=True):
    """A finding of a constraint in an object."""

    constraint: Constraint
    outcome: model.Outcome
    message: str


class NotJudged(Struct, frozen=True, kw_only=True):
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
                    blames_object=False,
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
            kinds = self._kinds[points] = gatekeeper_library.matched_kinds(self.library, points)
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
    found = [constraints.matches(constraint.match, subject) for subject in review.subjects]
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


_NO_MESSAGE: Final = "(no message)"


def judgement_of_violation(violation: Violation) -> model.Judgement:
    """A violation as a finding about the whole object, because a policy does not name the wrong field."""
    constraint = violation.constraint
    return model.Judgement(
        finding=model.Finding(
            check=f"{GATEKEEPER}{constraint.key}", path=paths.ROOT, message=violation.message or _NO_MESSAGE
        ),
        outcome=violation.outcome,
        code=constraint.kind,
        name=constraint.name,
    )


def unknown_of_not_judged(entry: NotJudged) -> model.Unknown:
    """An unknown part of the object, without a check, because usher.yaml knows no policies."""
    return model.Unknown(path=paths.ROOT, reason=f"{entry.constraint.key}: {entry.reason}")
