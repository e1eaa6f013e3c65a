"""Answers as JSON: the same documents as from the commands `usher check`, `queue` and `explain`.

All functions are pure: they use the server's data and the body of one request.
"""

import io
from collections.abc import Callable, Sequence
from typing import Any, Final

from pydantic import BaseModel, Field

from usher import errors, paths
from usher.authorities.gpu_quota import definitions, entries, status
from usher.authorities.gpu_quota.amounts import Amounts as UnitAmounts
from usher.check import findings, judging, runner, sources
from usher.check.batches import Batch
from usher.check.formats import json_report, queue, rule_pages, wording
from usher.check.formats.queue import ShownOutlook
from usher.kinds.reading.values import Absence
from usher.policy.evaluator import Evaluator

MOST_BYTES: Final = 1 << 20
MOST_OBJECTS: Final = 50
"""The most objects of one question, and so also the most namespaces."""

SOURCE: Final = "<request>"
"""The place of objects in answers."""


Amounts = dict[str, int | str]
"""Amounts by unit: a whole number, or a fraction as Kubernetes writes it."""


class Limit(BaseModel):
    """One entry of the limits of a quota."""

    priority_classes: list[str] = Field(serialization_alias="priorityClasses")
    hard: Amounts
    used: Amounts


class Quota(BaseModel):
    """A GPUQuota with what is used of it."""

    name: str
    limits: list[Limit]
    problems: list[str]
    """Why the account cannot be read; empty if it can."""


def read(body: bytes) -> Sequence[Batch]:
    """The objects of a body in YAML or JSON.

    Raises:
        InputError: it cannot be read, has too many objects, or has no object.
    """
    batches = list(sources.read(["-"], stdin=io.BytesIO(body)))
    problems = [problem for batch in batches for problem in batch.problems]
    if problems:
        raise errors.InputError("\n".join(wording.located(problem) for problem in problems))
    count = sum(len(batch.items) for batch in batches)
    if not count:
        raise errors.InputError("the body has no Kubernetes object; send manifests in YAML or JSON")
    if count > MOST_OBJECTS:
        raise errors.InputError(f"the body has {count} objects, and a question may have {MOST_OBJECTS}; send fewer")
    return batches


def namespaces(batches: Sequence[Batch], *, namespace: str) -> set[str]:
    """The namespaces of the objects; `namespace` for objects without one."""
    found = set()
    for batch in batches:
        for item in batch.items:
            metadata = item.value.get("metadata")
            named = metadata.get("namespace") if isinstance(metadata, dict) else None
            found.add(named if isinstance(named, str) and named else namespace)
    return found


def evaluation(batches: Sequence[Batch], evaluator: Evaluator, *, namespace: str) -> bytes:
    """The output of `usher check --format json` for these objects."""
    settings = judging.Settings(command=findings.Command.CHECK, namespace=namespace, mutated=True)
    found = runner.run(batches, evaluator=evaluator, settings=settings)
    return _written(lambda stream: json_report.write(found, stream))


def outlook(batches: Sequence[Batch], evaluator: Evaluator, *, namespace: str) -> bytes:
    """The output of `usher queue --format json` for these objects."""
    found = [ShownOutlook(place, each) for place, each in queue.outlooks_of(batches, evaluator, namespace=namespace)]
    return _written(lambda stream: queue.write_json(found, stream, as_written=False))


def explanation(code_or_name: str, evaluator: Evaluator) -> dict[str, object] | None:
    """The output of `usher explain CODE --format json`; None for an unknown code or name."""
    entry = evaluator.catalogue.find(code_or_name)
    return None if entry is None else rule_pages.described(entry, evaluator.config)


def quotas(evaluator: Evaluator, *, name: str = "") -> list[Quota] | None:
    """All GPUQuotas of the cluster, or the one with a name; None if the server does not know them."""
    found = evaluator.facts.objects(definitions.GROUP, definitions.KIND)
    if isinstance(found, Absence):
        return None
    return [_quota(each, value) for each, value in sorted(found.items()) if name in ("", each)]


def _quota(name: str, value: paths.Object) -> Quota:
    quota = definitions.of_object(value)
    if isinstance(quota, definitions.Malformed):
        return Quota(name=name, limits=[], problems=[f"{pointer}: {reason}" for pointer, reason in quota.problems])
    head: Any = value.get("status")
    decoded = status.decode(head)
    used: Any = head.get("used") if isinstance(head, dict) else None
    # The API server validates the status by the definition. An account that was never charged has no sums.
    amounts: list[Amounts] = used if isinstance(used, list) else []
    limits = [
        Limit(
            priority_classes=sorted(limit.classes),
            hard=_amounts(limit.hard),
            used={unit: amounts[number].get(unit, 0) if number < len(amounts) else 0 for unit in sorted(limit.hard)},
        )
        for number, limit in enumerate(quota.limits)
    ]
    return Quota(name=name, limits=limits, problems=[reason for _, reason in decoded.problems])


def _amounts(of_units: UnitAmounts) -> Amounts:
    encoded = entries.encode_amounts(of_units)
    return {unit: amount for unit, amount in encoded.items() if isinstance(amount, int | str)}


def _written(write: Callable[[io.StringIO], None]) -> bytes:
    stream = io.StringIO()
    write(stream)
    return stream.getvalue().encode()
