"""Reviews the ConfigMap with usher.yaml: it denies a change that a server could not load.

Running servers keep the last good file, but a new one would not start. After the next node failure, no server would be
left.
"""

import base64
import binascii
from typing import Final

from usher import errors, paths
from usher.policy import config_problems
from usher.policy.decision import Operation
from usher.policy.evaluator import Evaluator
from usher.review import admission_review
from usher.review.admission_review import Answer, Review, parse

KEY: Final = "usher.yaml"
"""The key in the ConfigMap; the Deployment mounts it under this name."""

OUTCOME: Final = "configuration"
"""The name of this review in logs and metrics."""

_MAX_LINE: Final = 500


def judge(body: bytes, evaluator: Evaluator) -> Answer:
    """Denies a ConfigMap whose usher.yaml a server could not load, and names all mistakes.

    Raises:
        ReviewError: the body is not a review that we answer.
    """
    review = parse(body)
    if review.value is None or review.operation not in (Operation.CREATE, Operation.UPDATE):
        return _allowed(review)
    content = _content(review.value)
    # A finalizer or a label must be changeable even if the content was already broken.
    if review.operation is Operation.UPDATE and content == _content(review.old_value or {}):
        return _allowed(review)
    if content is None:
        return _denied(review, [f"data has no key {KEY}"])
    try:
        config = config_problems.checked(content, evaluator.catalogue)
    except errors.ConfigError as error:
        return _denied(review, str(error).splitlines())
    known = evaluator.facts.names("", "Namespace")
    doubts = [*config_problems.warnings(config, known), *config_problems.expired(config, evaluator.today())]
    return _allowed(review, *(reason for _, reason in doubts))


def _content(value: paths.Object) -> bytes | None:
    """The content of usher.yaml; None if it is missing or unreadable."""
    data, binary = value.get("data"), value.get("binaryData")
    text = data.get(KEY) if isinstance(data, dict) else None
    if isinstance(text, str):
        return text.encode(errors="replace")
    encoded = binary.get(KEY) if isinstance(binary, dict) else None
    try:
        return base64.b64decode(encoded, validate=True) if isinstance(encoded, str) else None
    except (binascii.Error, ValueError):
        return None


def _allowed(review: Review, *warnings: str) -> Answer:
    answer: admission_review.Response = {"uid": review.uid, "allowed": True}
    if warnings:
        answer["warnings"] = admission_review.sanitised_warnings(warnings)
    return Answer(body=admission_review.encode(answer), review=review, allowed=True)


def _denied(review: Review, mistakes: list[str]) -> Answer:
    lines = ["no server could start with this usher.yaml; the last good one stays in use. Correct it:"]
    length = len(lines[0])
    for number, mistake in enumerate(mistakes):
        line = f"  {admission_review.on_one_line(mistake, _MAX_LINE)}"
        length += len(line.encode()) + 1
        if length > admission_review.MAX_MESSAGE - 200:
            lines.append(f"  ... and {len(mistakes) - number} more")
            break
        lines.append(line)
    answer: admission_review.Response = {
        "uid": review.uid,
        "allowed": False,
        "status": {"code": 422, "reason": "Invalid", "message": "\n".join(lines)},
    }
    return Answer(body=admission_review.encode(answer), review=review, allowed=False, outcomes={OUTCOME: "deny"})
