"""Writes AdmissionReviews within the limits of the API server (docs/domain/webhooks.md#answers)."""

import base64
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Final, Literal, NotRequired

import orjson
from typing_extensions import TypedDict

from usher import model
from usher.dataclass import dataclass
from usher.policy.checks import catalogue
from usher.policy.mutation.editing import Operation
from usher.review.parsing import API_VERSION, Review

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
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


def validated(uid: str, decision: model.Decision, *, display_name: str) -> Response:
    """The answer of the validating webhook to one decision. It never holds a patch."""
    denials = [judgement for judgement in decision.judgements if judgement.outcome is model.Outcome.DENY]
    response: Response = {"uid": uid, "allowed": decision.allowed}
    if denials:
        response["status"] = {"code": 403, "reason": "Forbidden", "message": denial(denials, display_name)}
    elif decision.try_again:
        response["status"] = _try_again(decision, display_name)
    warned = [judgement for judgement in decision.judgements if judgement.outcome is model.Outcome.WARN]
    warnings = [_warning(judgement, longest=room(len(warned))) for judgement in warned]
    # usher counts and logs parts that a check could not evaluate. A user of kubectl can only mend the object itself.
    unread = [f"{unknown.path or 'object'}: {unknown.reason}" for unknown in decision.unknowns if not unknown.check]
    if decision.missed and decision.allowed:
        names = ", ".join(decision.missed)
        warnings.insert(0, f"delete this object and create it again, because it has missed its mutations: {names}")
    if warnings or unread:
        response["warnings"] = sanitised([*warnings, *(f"not judged: {text}" for text in unread)])
    annotations = audit_annotations(decision)
    if annotations:
        response["auditAnnotations"] = annotations
    return response


def mutated(uid: str, operations: Sequence[Operation], *, names: Iterable[str], warnings: Iterable[str]) -> Response:
    """The answer of the mutating webhook. It has a patch and a patch type only if there are operations."""
    response: Response = {"uid": uid, "allowed": True}
    if operations:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(orjson.dumps(operations)).decode()
        # On reinvocation the API server drops another value under the same key, so usher sets it only with a patch.
        response["auditAnnotations"] = {"mutations": ",".join(sorted(names))}
    texts = list(warnings)
    if texts:
        response["warnings"] = sanitised(texts)
    return response


def denial(denials: Sequence[model.Judgement], display_name: str) -> str:
    """The text that kubectl prints: each reason with its remedy, and the command that explains the first rule."""
    broken = len({judgement.rule for judgement in denials})
    rules = "1 rule" if broken == 1 else f"{broken} rules"
    places = f" in {len(denials)} places" if len(denials) > broken else ""
    lines = [f"{shown(display_name, MAX_REASON)} breaks {rules}{places}:"]
    length = len(lines[0].encode())
    for number, judgement in enumerate(denials):
        reason = shown("".join(_parts(judgement)), MAX_REASON)
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
        f"the mutating webhook did not answer in time, and {shown(display_name, MAX_REASON)} cannot come in without "
        f"its mutations: {', '.join(decision.missed)}. Nothing is wrong with it; try again."
    )
    details: Details = {"retryAfterSeconds": RETRY_AFTER}
    return {"code": 503, "reason": "ServiceUnavailable", "message": message, "details": details}


def room(number: int) -> int:
    """The most characters of each warning, for this number of warnings."""
    return min(MAX_WARNING, _ALL_WARNINGS // max(1, min(number, MAX_WARNINGS)))


def sanitised(texts: Sequence[str]) -> list[str]:
    """The warnings in a form that the API server passes on: few, short and without control characters."""
    different = list(dict.fromkeys(texts))
    if len(different) > MAX_WARNINGS:
        different = [*different[: MAX_WARNINGS - 1], f"... and {len(different) - MAX_WARNINGS + 1} more"]
    return [shown(text, room(len(different))) for text in different]


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


def shown(text: str, longest: int) -> str:
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
