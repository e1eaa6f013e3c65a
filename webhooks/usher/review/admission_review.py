"""Reads and answers AdmissionReviews, within the limits of the API server (docs/domain/webhooks.md#answers)."""

import base64
import dataclasses
import json
import re
from collections.abc import Iterable, Sequence
from typing import Final, Literal, NotRequired, cast

import orjson
from msgspec import Struct, field
from typing_extensions import TypedDict

from usher import errors, model, paths
from usher.kinds import registry
from usher.kinds.reading.counts import with_number_at
from usher.policy.checks import catalogue
from usher.policy.decision import Operation, Request, User
from usher.policy.mutation.editing import Operation as PatchOperation
from usher.workloads import identity

API_VERSION: Final = "admission.k8s.io/v1"

# Go writes these characters differently in strings. All other bytes from the API server are the same as orjson's.
_GO_ESCAPES: Final = ((b"\\u003c", b"<"), (b"\\u003e", b">"), (b"\\u0026", b"&"))
_TOO_DEEP: Final = "usher does not read values that are nested this deeply"
_STRINGS_AND_BRACKETS: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
_ENVELOPE: Final = 2
"""Levels of a review around its object."""
_SHOWN_LEVELS: Final = 9
"""Levels of the path that a message shows for a value that is nested too deeply."""

_INTEGERS: Final = range(-(2**63), 2**64)


class Resource(Struct, frozen=True, kw_only=True):
    """The resource of the request, in the version of the request; for a subresource, the object that has it."""

    group: str
    version: str
    plural: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The request of an AdmissionReview."""

    uid: str
    operation: Operation
    kind: str
    resource: Resource
    name: str
    namespace: str
    sub_resource: str
    dry_run: bool
    user: User | None
    """None if the review has no user; an API server always sends one."""
    value: paths.Object | None
    old_value: paths.Object | None
    excess: model.Excess | None = None
    """Set if a value is nested so deeply that usher has not read it."""
    small: paths.Object | None = dataclasses.field(default=None, compare=False, repr=False)
    """The object, if the text of the review proves that it is not too much to judge."""
    request: paths.Object = dataclasses.field(default_factory=dict, compare=False, repr=False)
    """The whole request as it was sent. Policies of Gatekeeper may read any of its fields."""


def parse(body: bytes) -> Review:
    """The request in a body.

    Raises:
        ReviewError: the body is not JSON, not an AdmissionReview of v1, or lacks what we need to answer.
    """
    review, complete = _read_json(body)
    if not isinstance(review, dict) or review.get("kind") != "AdmissionReview":
        raise errors.ReviewError("the body is not an AdmissionReview")
    if review.get("apiVersion") != API_VERSION:
        raise errors.ReviewError(
            f"apiVersion is {_quoted_value(review.get('apiVersion'))}; "
            f"list {API_VERSION} alone in admissionReviewVersions"
        )
    request = review.get("request")
    if not isinstance(request, dict):
        raise errors.ReviewError("request: expected an object")
    kind, resource = request.get("kind"), request.get("resource")
    operation = _operation(request)
    value = _object(request, "object")
    if value is None and operation in (Operation.CREATE, Operation.UPDATE):
        # Admitting the request would be a verdict on an object that usher has not seen.
        raise errors.ReviewError(f"request.object is missing: {operation} needs an object")
    return Review(
        uid=_required_text(request, "uid"),
        operation=operation,
        kind=_text(kind, "kind", at="request.kind") if isinstance(kind, dict) else "",
        resource=_resource(resource if isinstance(resource, dict) else {}),
        name=_text(request, "name"),
        namespace=_text(request, "namespace"),
        sub_resource=_text(request, "subResource"),
        dry_run=request.get("dryRun") is True,
        user=_user(request),
        value=value,
        old_value=_object(request, "oldObject"),
        excess=None if complete or value is None else _excess_of_levels(value),
        small=value if identity.is_small(body) else None,
        request=request,
    )


def request_of(review: Review) -> Request:
    """The request for the evaluator; its object is empty if the review has no object."""
    return Request(
        value=review.value or {},
        operation=review.operation,
        namespace=review.namespace,
        old_value=review.old_value if review.operation is Operation.UPDATE else None,
        sub_resource=review.sub_resource,
        user=review.user,
        excess=review.excess,
        small=review.small,
        scaled=review.request.get("subResource") == SCALE_SUB_RESOURCE,
    )


def _resource(value: paths.Object) -> Resource:
    group, version, plural = (_text(value, field, at="request.resource") for field in ("group", "version", "resource"))
    return Resource(group=group, version=version, plural=plural)


def _read_json(body: bytes) -> tuple[paths.Json, bool]:
    """The JSON of a body, and whether nothing is left out of it.

    An error would let in an object that is nested too deeply for a parser. So a value below the deepest level that
    usher reads is replaced by a text.
    """
    try:
        return _strict_json(body), True
    except errors.ReviewError:
        pruned = _without_deepest(body)
        if len(pruned) == len(body):
            raise
        return _strict_json(pruned), False


def _without_deepest(body: bytes) -> bytes:
    deepest = identity.MOST_LEVELS + _ENVELOPE
    parts: list[bytes] = []
    level = kept = 0
    for found in _STRINGS_AND_BRACKETS.finditer(body):
        token = body[found.start()]
        if token in b"{[":
            level += 1
            if level == deepest + 1:
                parts += (body[kept : found.start()], orjson.dumps(_TOO_DEEP))
                kept = len(body)
        elif token in b"}]":
            if level == deepest + 1:
                kept = found.end()
            level -= 1
    return b"".join((*parts, body[kept:]))


def _excess_of_levels(value: paths.Object) -> model.Excess | None:
    """The excess of an object that lost a value, unless only its status or its upkeep lost it."""
    waiting: list[tuple[str, paths.Json]] = [
        (paths.join(paths.ROOT, key), field) for key, field in value.items() if key != "status"
    ]
    while waiting:
        place, found = waiting.pop()
        if found == _TOO_DEEP:
            return identity.too_deep("/".join(place.split("/")[:_SHOWN_LEVELS]))
        if place == "/metadata/managedFields":
            continue
        if isinstance(found, dict):
            waiting.extend((paths.join(place, key), item) for key, item in found.items())
        elif isinstance(found, list):
            waiting.extend((f"{place}/{index}", item) for index, item in enumerate(found))
    return None


def _strict_json(body: bytes) -> paths.Json:
    """The JSON of a body, without constructs on which parsers disagree: duplicate keys, and integers beyond a double.

    orjson keeps the last of two equal keys and rounds large integers. If its result gives the same bytes again, nothing
    was lost. Otherwise a slower check decides.
    """
    try:
        value: paths.Json = orjson.loads(body)
        if orjson.dumps(value) != _without_go_escapes(body.rstrip(b"\n")):
            json.loads(body, object_pairs_hook=_without_repeated_keys, parse_int=_exact)
    except (TypeError, RecursionError):
        # orjson can write what it read, unless it is nested deeper than 254 levels.
        raise errors.ReviewError("the body is nested too deeply") from None
    except ValueError as error:
        raise errors.ReviewError(f"the body is not JSON that Kubernetes would send: {str(error)[:160]}") from None
    return value


def _without_go_escapes(body: bytes) -> bytes:
    if b"\\u00" not in body:
        return body
    for escaped, plain in _GO_ESCAPES:
        body = body.replace(escaped, plain)
    return body


def _without_repeated_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """The object of some keys and values. A key that stands twice is refused: readers choose different values."""
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value] # add returns None, which is false
        raise ValueError(f"key {_quoted_value(twice)} stands twice in one object")
    return result


def _exact(text: str) -> int:
    if len(text) > len("-18446744073709551616") or int(text) not in _INTEGERS:
        raise ValueError(f"the number {text[:24]} is beyond 64 bits")
    return int(text)


def _operation(request: paths.Object) -> Operation:
    text = _required_text(request, "operation")
    try:
        return Operation(text)
    except ValueError:
        raise errors.ReviewError(
            f"request.operation: {_quoted_value(text)} is not one of {', '.join(Operation)}"
        ) from None


def _required_text(request: paths.Object, field: str) -> str:
    value = request.get(field)
    if not isinstance(value, str) or not value:
        raise errors.ReviewError(f"request.{field}: expected a text, found {_quoted_value(value)}")
    return value


def _text(value: paths.Object, field: str, *, at: str = "request") -> str:
    text = value.get(field)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise errors.ReviewError(f"{at}.{field}: expected a text, found {_quoted_value(text)}")
    return text


def _user(request: paths.Object) -> User | None:
    info = request.get("userInfo")
    if info is None:
        return None
    if not isinstance(info, dict):
        raise errors.ReviewError("request.userInfo: expected an object")
    groups = info.get("groups")
    if groups is not None and not (isinstance(groups, list) and all(isinstance(group, str) for group in groups)):
        raise errors.ReviewError("request.userInfo.groups: expected a list of texts")
    names = cast(list[str], groups or [])
    return User(name=_text(info, "username", at="request.userInfo"), groups=tuple(names))


def _object(request: paths.Object, field: str) -> paths.Object | None:
    value = request.get(field)
    if value is not None and not isinstance(value, dict):
        raise errors.ReviewError(f"request.{field}: expected an object or null")
    return value


def _quoted_value(value: object) -> str:
    """A value of the sender for a message of ours: short, and on one line."""
    return repr(value)[:80]


MAX_MESSAGE: Final = 8 * 1024
"""The most bytes of a denial, so that people can read one with two hundred findings."""

MAX_REASON: Final = 1000
"""The most characters of one reason in a denial. A reason may quote a manifest, which holds texts of any length."""

MAX_WARNINGS: Final = 20
"""The most warnings of one answer."""

MAX_WARNING: Final = 256
"""The most characters of one warning. The API server cuts each to this length if all exceed 4096 characters."""

_LEAST_OF_THE_PROBLEM: Final = 48
"""The characters of the problem that a cut warning keeps, even with a long remedy."""

RETRY_AFTER: Final = 1
"""Seconds after which a client tries again."""

_OWN: Final = f"{catalogue.OWN_CATEGORY}/"

_ALL_WARNINGS: Final = 3600
"""The most characters of all warnings. The rest of the 4096 is for other webhooks."""


class Details(TypedDict):
    retryAfterSeconds: int


class Status(TypedDict):
    code: int
    reason: str
    message: str
    details: NotRequired[Details]


class Response(TypedDict):
    uid: str
    allowed: bool
    status: NotRequired[Status]
    warnings: NotRequired[list[str]]
    auditAnnotations: NotRequired[dict[str, str]]
    patchType: NotRequired[Literal["JSONPatch"]]
    patch: NotRequired[str]


class Answer(Struct, frozen=True, kw_only=True):
    """A response body, and data about it for logs and metrics. It never holds the reviewed object."""

    body: bytes
    review: Review
    allowed: bool
    outcomes: dict[str, str] = field(default_factory=dict)
    """The outcome of each check with a finding, by the name of the check."""
    denials: tuple[str, ...] = ()
    """Code and place of each denying finding, in the order of the message."""
    observed: dict[str, str] = field(default_factory=dict)
    """By name of a check: code and place of a finding that only the preset `observe` keeps from denying."""
    mutations: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    """Mutations that the object lacks and that would have mended a finding."""
    try_again: bool = False
    quota: str = ""
    """The name of the GPUQuota that refused the charge."""
    unknowns: int = 0


def encode(response: Response) -> bytes:
    return orjson.dumps({"apiVersion": API_VERSION, "kind": "AdmissionReview", "response": response})


def validation_response(uid: str, decision: model.Decision, *, display_name: str) -> Response:
    """The answer of the validating webhook to one decision. It never holds a patch."""
    denials = [judgement for judgement in decision.judgements if judgement.outcome is model.Outcome.DENY]
    response: Response = {"uid": uid, "allowed": decision.allowed}
    if denials:
        response["status"] = {"code": 403, "reason": "Forbidden", "message": denial_message(denials, display_name)}
    elif decision.try_again:
        response["status"] = _try_again(decision, display_name)
    warned = [judgement for judgement in decision.judgements if judgement.outcome is model.Outcome.WARN]
    warnings = [_warning(judgement, longest=room_for_warning(len(warned))) for judgement in warned]
    # usher counts and logs parts that a check could not evaluate. A user of kubectl can only mend the object itself.
    unread = [f"{unknown.path or 'object'}: {unknown.reason}" for unknown in decision.unknowns if not unknown.check]
    if decision.missed and decision.allowed:
        names = ", ".join(decision.missed)
        warnings.insert(0, f"delete this object and create it again, because it has missed its mutations: {names}")
    if warnings or unread:
        response["warnings"] = sanitised_warnings([*warnings, *(f"not judged: {text}" for text in unread)])
    annotations = audit_annotations(decision)
    if annotations:
        response["auditAnnotations"] = annotations
    return response


def mutation_response(
    uid: str, operations: Sequence[PatchOperation], *, names: Iterable[str], warnings: Iterable[str]
) -> Response:
    """The answer of the mutating webhook. It has a patch and a patch type only if there are operations."""
    response: Response = {"uid": uid, "allowed": True}
    if operations:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(orjson.dumps(operations)).decode()
        # On reinvocation the API server drops another value under the same key, so usher sets it only with a patch.
        response["auditAnnotations"] = {"mutations": ",".join(sorted(names))}
    texts = list(warnings)
    if texts:
        response["warnings"] = sanitised_warnings(texts)
    return response


def denial_message(denials: Sequence[model.Judgement], display_name: str) -> str:
    """The text that kubectl prints: each reason with its remedy, and the command that explains the first rule."""
    broken = len({judgement.rule for judgement in denials})
    rules = "1 rule" if broken == 1 else f"{broken} rules"
    places = f" in {len(denials)} places" if len(denials) > broken else ""
    lines = [f"{on_one_line(display_name, MAX_REASON)} breaks {rules}{places}:"]
    length = len(lines[0].encode())
    for number, judgement in enumerate(denials):
        reason = on_one_line("".join(_parts(judgement)), MAX_REASON)
        line = f"  {judgement.code} {judgement.name}: {reason}"
        length += len(line.encode()) + 1
        if length > MAX_MESSAGE - 200:
            lines.append(f"  ... and {len(denials) - number} more")
            break
        lines.append(line)
    explained = next((each.code for each in denials if _is_explained(each)), "")
    return "\n".join([*lines, f"More: usher explain {explained}"] if explained else lines)


def _try_again(decision: model.Decision, display_name: str) -> Status:
    """An answer that makes Kubernetes clients repeat the request themselves, up to ten times."""
    message = (
        f"the mutating webhook did not answer in time, and {on_one_line(display_name, MAX_REASON)} cannot come in "
        "without "
        f"its mutations: {', '.join(decision.missed)}. Nothing is wrong with it; try again."
    )
    details: Details = {"retryAfterSeconds": RETRY_AFTER}
    return {"code": 503, "reason": "ServiceUnavailable", "message": message, "details": details}


def room_for_warning(number: int) -> int:
    """The most characters of each warning, for this number of warnings."""
    return min(MAX_WARNING, _ALL_WARNINGS // max(1, min(number, MAX_WARNINGS)))


def sanitised_warnings(texts: Sequence[str]) -> list[str]:
    """The warnings in a form that the API server passes on: few, short and without control characters."""
    different = list(dict.fromkeys(texts))
    if len(different) > MAX_WARNINGS:
        different = [*different[: MAX_WARNINGS - 1], f"... and {len(different) - MAX_WARNINGS + 1} more"]
    return [on_one_line(text, room_for_warning(len(different))) for text in different]


def audit_annotations(decision: model.Decision) -> dict[str, str]:
    """The codes by outcome, for the audit log. Keys hold no slash, because the API server adds the webhook's name."""
    annotations = {}
    for outcome in model.Outcome:
        codes = dict.fromkeys(item.rule for item in decision.judgements if item.outcome is outcome)
        if codes:
            annotations[outcome.value] = ",".join(codes)
    checks = dict.fromkeys(unknown.check for unknown in decision.unknowns if unknown.check)
    if checks:
        annotations["not-evaluated"] = ",".join(checks)
    if decision.missed:
        annotations["missed-mutations"] = ",".join(decision.missed)
    return annotations


def on_one_line(text: str, longest: int) -> str:
    """The text, cut to the longest length, on one line. It replaces characters that could move a cursor."""
    short = text if len(text) <= longest else text[: longest - 3] + "..."
    if short.isprintable():
        return short
    return "".join(character if character.isprintable() else "\ufffd" for character in short)


def _warning(judgement: model.Judgement, *, longest: int) -> str:
    """The problem, the remedy, and why the finding does not deny, if they fit; else only what the reader can do.

    A cut warning keeps the start of the problem, which names the thing, the remedy, and a short reason why it does not
    deny; `usher explain` gives the rest.
    """
    message, remedy, because = _parts(judgement)
    start = f"{judgement.code} {judgement.name}: "
    for text in (message + remedy + because, message + remedy):
        if len(start + text) <= longest:
            return start + text
    more = f" More: usher explain {judgement.code}" if _is_explained(judgement) else ""
    if len(because) <= longest // 6:
        more = because + more
    free = longest - len(start) - len(more)
    thing = max(free - len(remedy), min(free, _LEAST_OF_THE_PROBLEM))
    return start + _cut(message, thing) + _cut(remedy, free - min(len(message), thing)) + more


def _is_explained(judgement: model.Judgement) -> bool:
    """Whether `usher explain` knows the code on every machine. It does not know the policies of a site."""
    return not judgement.of_gatekeeper and not judgement.finding.check.startswith(_OWN)


def _cut(text: str, longest: int) -> str:
    """The text, cut to the longest length, at the end of a word if one ends near."""
    if len(text) <= longest:
        return text
    whole_words = text[: max(0, longest - 2)].rpartition(" ")[0]
    kept = whole_words if len(whole_words) > longest // 2 else text[: max(0, longest - 3)]
    return (kept.rstrip(" ,;:") + "...")[: max(0, longest)]


def _parts(judgement: model.Judgement) -> tuple[str, str, str]:
    """The problem, the remedy, and why the finding does not deny."""
    finding = judgement.finding
    because = f" ({judgement.because})" if judgement.because else ""
    if not finding.remedy:
        return finding.message, "", because
    return finding.message + ".", f" {finding.remedy[:1].upper()}{finding.remedy[1:]}.", because


SCALE_SUB_RESOURCE: Final = "scale"


def scaled_field(review: Review) -> str:
    """JSON Pointer of the number that the request writes; empty if it does not scale a supported kind."""
    if review.sub_resource != SCALE_SUB_RESOURCE or review.value is None:
        return ""
    kind = registry.scaled(review.resource.group, review.resource.plural)
    return "" if kind is None else kind.scale


def as_update_of_scaled(review: Review, scaled: paths.Object) -> Review:
    """The review as an UPDATE of the scaled object.

    Args:
        review: the review of the Scale; `field` gives the place of its number.
        scaled: the object before the update.
    """
    value = with_number_at(scaled, scaled_field(review), _replicas(review.value))
    return dataclasses.replace(
        review, kind=paths.text(scaled.get("kind")), sub_resource="", value=value, old_value=scaled
    )


def _replicas(scale: paths.Object | None) -> int:
    """The number of replicas; 0 if absent, as in the API server."""
    spec = scale.get("spec") if scale is not None else None
    number = spec.get("replicas") if isinstance(spec, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else 0
